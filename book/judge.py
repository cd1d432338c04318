"""Judges what the paper claims by what the chapters record: the pure part of the page *The paper, claim by claim*.

A claim is a row of `data/published/claims.csv`. The status follows from its rule and the record:

- ``equal``        the figure as printed is our figure, rounded to the same digits;
- ``cells``        a table: every cell that was compared is equal;
- ``true``         a statement that is checked as it stands;
- ``<= 0.03``, ``>= 0.7``, ``== 1``, ``< 1``, ``> 0``, ``4.5 .. 5``    what a word like "negligible" is taken to mean, for a number.

After a bar there may be a weaker rule, ``== 1 | >= 0.8``: if only that one is met, the claim holds in part. A status is never typed; a
claim that is not met must say why, and one that is met must not.

A row of the kind ``set-up`` says how the study was laid out. That we did the same is no finding: where it is met it is counted by itself.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

COLUMNS = ("id", "place", "kind", "claim", "printed", "rule", "judged", "record", "reason")
# What a status is called, in the order of the page; the first is "equal" for a figure and "holds" for words
STATUSES = {
    "equal": "equal, or holds",
    "differs": "differs, because",
    "unobtainable": "not obtainable, because",
    "unsupported": "not supported, because",
    "setup": "set-up",
}
MET = ("equal", "setup")
KINDS = ("", "set-up")
SECTIONS = {
    "Abstract": "",
    "1": "Introduction",
    "2": "Background",
    "3": "Approach",
    "3.1": "Balance",
    "3.2": "Response",
    "3.3": "Weighted SPA",
    "3.4": "Optimisation",
    "3.5": "Algorithm",
    "4.1": "Augmentation",
    "4.2": "Setup",
    "4.3": "Main results",
    "4.4": "Analysis",
    "5": "Conclusion",
    "A": "Proofs",
    "B": "Efficiency",
    "C": "Stability",
    "D": "Datasets",
    "E": "All datasets",
    "F": "Pearson",
    "G": "Variance",
}
MINUS = "−"


class ClaimError(ValueError):
    """The claims and the records do not fit together."""


@dataclass(frozen=True)
class Claim:
    """One row of the file, as it stands there."""

    id: str
    place: str  # section first: "4.3, caption of Figure 3"
    kind: str  # one of `KINDS`
    claim: str
    printed: str
    rule: str
    judged: str
    record: str
    reason: str

    @property
    def section(self) -> str:
        """The row of the picture that it belongs to: a section of the paper, or a subsection where those are long.

        >>> [Claim("x", place, "", "", "", "true", "", "x", "").section for place in ("4.3, text", "A.2, text", "3, footnote")]
        ['4.3', 'A', '3']
        """
        first = self.place.split(",")[0]
        return first if first in SECTIONS else first.split(".")[0]


@dataclass(frozen=True)
class Verdict:
    """A claim with what was found: where, what, how far off, and what follows."""

    claim: Claim
    page: str
    ours: str
    beside: str
    difference: str
    status: str

    @property
    def word(self) -> str:
        """What the table says of the status."""
        if self.status == "equal":
            return "equal" if self.claim.rule in ("equal", "cells") else "holds"
        return STATUSES[self.status].removesuffix(", because")


def read(path: Path) -> list[Claim]:
    """The claims of a file. Refuses rows that cannot be judged."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        if tuple(rows.fieldnames or ()) != COLUMNS:
            raise ClaimError(f"{path.name} has the columns {rows.fieldnames}; {', '.join(COLUMNS)} are expected")
        claims = []
        for number, row in enumerate(rows, start=1):
            if None in row or None in row.values():
                raise ClaimError(f"row {number} of {path.name} has not as many cells as there are columns")
            claims.append(Claim(**row))
    seen: set[str] = set()
    for claim in claims:
        for column in ("id", "place", "claim", "rule", "judged", "record"):
            if not getattr(claim, column):
                raise ClaimError(f"claim {claim.id or claim!r} has no {column}")
        if claim.id in seen:
            raise ClaimError(f"two claims are called {claim.id}")
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", claim.id):
            raise ClaimError(f"{claim.id!r} cannot name a claim: small letters, digits and single hyphens, please")
        if claim.section not in SECTIONS:
            raise ClaimError(f"claim {claim.id} is placed in {claim.place!r}; a section of the paper comes first")
        if claim.kind not in KINDS:
            raise ClaimError(f"claim {claim.id} is of the kind {claim.kind!r}; it is 'set-up' or nothing")
        for rule in claim.rule.split(" | "):
            parse(rule)
        if claim.rule == "equal" and not digits(claim.printed):
            raise ClaimError(f"claim {claim.id} is to be equal to {claim.printed!r}, which is no figure")
        seen.add(claim.id)
    return claims


RULE = re.compile(r"(<=|>=|==|<|>) (-?\d+(?:\.\d+)?(?:e-?\d+)?)|(-?\d+(?:\.\d+)?) \.\. (-?\d+(?:\.\d+)?)")
COMPARE = {
    "<=": lambda x, y: x <= y,
    ">=": lambda x, y: x >= y,
    "==": lambda x, y: x == y,
    "<": lambda x, y: x < y,
    ">": lambda x, y: x > y,
}


def parse(rule: str) -> tuple[str, ...]:
    """The parts of one rule.

    >>> parse(">= 0.7"), parse("4.5 .. 5"), parse("true")
    (('>=', '0.7'), ('..', '4.5', '5'), ('true',))
    """
    if rule in ("equal", "cells", "true"):
        return (rule,)
    found = RULE.fullmatch(rule)
    if not found:
        raise ClaimError(f"{rule!r} is no rule")
    return (found[1], found[2]) if found[1] else ("..", found[3], found[4])


def digits(printed: str) -> str:
    """The figure in what is printed, without unit, percent sign and marks between thousands.

    >>> digits("99.1 %"), digits("65.5K"), digits("26{,}304.8M"), digits("much")
    ('99.1', '65.5', '26304.8', '')
    """
    found = re.match(r"-?\d[\d{},]*(?:\.\d+)?", printed.replace(MINUS, "-"))
    return re.sub(r"[{},]", "", found[0]) if found else ""


def like(value: float, figure: str, more: int = 0) -> str:
    """A number with as many decimals as a figure has.

    >>> like(65.522, "65.5"), like(-0.04, "0.0"), like(0.82416, "0.8241", 1)
    ('65.5', '0.0', '0.82416')
    """
    return f"{value:z.{len(figure.partition('.')[2]) + more}f}"


def holds(rule: str, value: object, printed: str = "") -> bool:
    """Whether a recorded value meets one rule."""
    kind, *bounds = parse(rule)
    if kind == "cells":
        if not (isinstance(value, list) and len(value) == 3):
            raise ClaimError(f"a table is judged by three counts, not by {value!r}")
        return value[0] > 0 and value[1] == value[2] == 0
    if kind == "true":
        if not isinstance(value, bool):
            raise ClaimError(f"a statement is true or false, not {value!r}")
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ClaimError(f"the rule {rule!r} needs a number, not {value!r}")
    if kind == "equal":
        return like(value, digits(printed)) == digits(printed)
    if kind == "..":
        return float(bounds[0]) <= value <= float(bounds[1])
    return bool(COMPARE[kind](value, float(bounds[0])))


def status(claim: Claim, value: object) -> str:
    """The status that follows from the rule and the recorded value: a key of `STATUSES`."""
    if value is None:
        return "unobtainable"
    strong, *weak = claim.rule.split(" | ")
    if holds(strong, value, claim.printed):
        return "setup" if claim.kind == "set-up" else "equal"
    if strong in ("equal", "cells") or any(holds(rule, value, claim.printed) for rule in weak):
        return "differs"
    return "unsupported"


def shown(claim: Claim, record: Mapping[str, object]) -> str:
    """Our value as the table writes it."""
    value = record["value"]
    if record["shown"] is not None:
        return str(record["shown"])
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return f"{value[0]} of {sum(value)} cells"
    if claim.rule == "equal":
        figure, unit = digits(claim.printed), re.sub(r"^-?\d[\d{},]*(?:\.\d+)?", "", claim.printed.replace(MINUS, "-"))
        same = holds("equal", value, claim.printed)
        return like(value, figure, 0 if same else "." in figure).replace("-", MINUS) + unit
    if isinstance(value, int):
        return str(value).replace("-", MINUS)
    return re.sub(r"e([-+])0*(\d+)", r"e\1\2", f"{value:.3g}").replace("-", MINUS)


def difference(claim: Claim, value: object) -> str:
    """How far our value is from the printed one, where both are figures; else how many cells differ."""
    if value is None or isinstance(value, bool):
        return "—"
    if isinstance(value, list):
        return f"{value[1]} differ" if value[1] else "0"
    if claim.rule == "equal":
        if holds("equal", value, claim.printed):
            return "0"
        figure = digits(claim.printed)
        return f"{value - float(figure):+.{len(figure.partition('.')[2]) + 1}f}".replace("-", MINUS)
    return "—"


def asked(claim: Claim) -> str:
    """What stands in the paper's column: the figure, or what its word was taken to mean.

    >>> asked(Claim("x", "1", "", "", "", "== 1 | >= 0.8", "", "x", ""))
    '= 1'
    """
    if claim.printed:
        return claim.printed
    kind, *bounds = parse(claim.rule.split(" | ")[0])
    if kind == "..":
        return f"{bounds[0]} to {bounds[1]}"
    sign = {"<=": "≤ ", ">=": "≥ ", "==": "= ", "<": "< ", ">": "> "}.get(kind, "")
    return (
        "yes" if kind == "true" else "equal" if kind in ("cells", "equal") else (sign + bounds[0]).replace("-", MINUS)
    )


def judge(claims: Iterable[Claim], records: Iterable[tuple[str, Mapping[str, object]]]) -> list[Verdict]:
    """Each claim with its record. `records` are (page, record) of all chapters.

    Refuses a claim without a record, a record without a claim, a record made twice, and reasons that are missing or not needed.
    """
    claims, where, found = list(claims), {}, {}
    for page, record in records:
        name = str(record["name"])
        if name in found:
            raise ClaimError(f"{name} is recorded twice, in {where[name]} and in {page}")
        where[name], found[name] = page, record
    missing = [c.id for c in claims if c.record not in found]
    if missing:
        raise ClaimError(f"no chapter records a value for {', '.join(missing)}")
    unused = sorted(set(found) - {c.record for c in claims})
    if unused:
        raise ClaimError(f"no claim asks for {', '.join(f'{name} (in {where[name]})' for name in unused)}")
    out = []
    for claim in claims:
        record = found[claim.record]
        try:
            result = status(claim, record["value"])
        except ClaimError as error:
            raise ClaimError(f"claim {claim.id}: {error}") from None
        if (result not in MET) != bool(claim.reason):
            lacks = "gives a reason for nothing" if result in MET else "says not why"
            raise ClaimError(f"claim {claim.id}: {STATUSES[result].removesuffix(', because')}, and it {lacks}")
        beside = record["beside"]
        second = f"{beside[0]}: {beside[1]}" if isinstance(beside, list | tuple) else ""
        value = record["value"]
        out.append(Verdict(claim, where[claim.record], shown(claim, record), second, difference(claim, value), result))
    return out


def as_csv(verdicts: Iterable[Verdict]) -> str:
    """All verdicts as a table to download."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(
        [
            "id",
            "place",
            "claim",
            "paper",
            "judged",
            "ours",
            "beside",
            "difference",
            "status",
            "reason",
            "page",
            "anchor",
        ]
    )
    for v in verdicts:
        c = v.claim
        table.writerow(
            [c.id, c.place, c.claim, asked(c), c.judged, v.ours, v.beside, v.difference, v.word, c.reason]
            + [v.page, f"record-{c.record}"]
        )
    return out.getvalue()
