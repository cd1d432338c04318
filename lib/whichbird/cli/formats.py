"""Renderers: a command's result as text for people, Markdown or LaTeX for papers, CSV or JSON for programs.

Each takes the command's name and its `Result` and gives a string. Text, Markdown and LaTeX show the same tables with the same
digits; CSV and JSON hold every figure in full precision.
"""

from __future__ import annotations

import csv as comma
import io
import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._version import __version__
from ..data.protocol import ASPECTS
from ..data.registry import displays
from ..data.sheet import guarded

if TYPE_CHECKING:
    import pandas as pd  # never loaded here: commands that need no frame do without it
    from matplotlib.figure import Figure

    Table = pd.DataFrame | dict[str, Any]

Columns = dict[str, Any]  # a table by columns: lists or arrays

JSON_ROWS = 1000  # of a table that are written as JSON at a time
SCHEMA = 2  # of JSON: a field that is renamed or dropped, or means something else, makes it 3; a new one does not
DECIMALS = {
    "adequacy": 4,
    "fluency": 4,
    "total": 4,
    "adequacy_se": 4,
    "fluency_se": 4,
    "weight": 4,
    "leverage": 3,
    "beta0_without": 4,
    "spa": 4,
    "spa_low": 4,
    "spa_high": 4,
    "spa_natural": 4,
    "ess": 2,
    "agreement": 3,
    "spa_first": 4,
    "spa_second": 4,
    "lead": 4,
    "lead_low": 4,
    "lead_high": 4,
    **dict.fromkeys(("human_ceiling", "human_ceiling_low", "human_ceiling_high", "best_scorer"), 4),
    "average": 4,
    **dict.fromkeys(("pa", "pearson", "cells", "acc_eq", "pdp"), 4),
    "average_spa": 4,
    "average_low": 4,
    "average_high": 4,
    "average_rank": 2,
    "average_cluster": 2,
}  # in tables for people
SCORERS = ("scorer", "rival")  # columns that name scorers
SIGNS = {  # what papers call a column or a fact, in LaTeX; in Markdown the same in Unicode
    "beta": (r"$\beta$", "β"),
    "beta0": (r"$\beta_0$", "β₀"),
    "beta0_low": (r"$\beta_0$ low", "β₀ low"),
    "beta0_high": (r"$\beta_0$ high", "β₀ high"),
    "beta0_interval": (r"$\beta_0$ interval", "β₀ interval"),
    "beta0_corrected": (r"$\beta_0$ corrected", "β₀ corrected"),
    "beta0_without": (r"$\beta_0$ without", "β₀ without"),
    "beta_min": (r"$\beta_{\min}$", "β min"),
    "beta_max": (r"$\beta_{\max}$", "β max"),
    "ess": ("ESS", "ESS"),
    "spa": ("SPA", "SPA"),
    "spa_low": ("SPA low", "SPA low"),
    "spa_high": ("SPA high", "SPA high"),
    "spa_natural": (r"SPA at $\beta_0$", "SPA at β₀"),
    "rank_natural": (r"rank at $\beta_0$", "rank at β₀"),
    "average_spa": ("average SPA", "average SPA"),
}
LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "β": r"$\beta$",
        "₀": r"$_0$",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "±": r"$\pm$",
        "−": r"$-$",
        "×": r"$\times$",
        "…": r"\dots{}",
    }
    | {c: "\\" + c for c in "&%$#_{}"}
)
MARKDOWN = str.maketrans({c: "\\" + c for c in "\\`*_|<>[]~$"})


class Result(NamedTuple):
    """What a command found. JSON holds facts and all tables, CSV the first table, what people read the facts and `shown`."""

    facts: dict[str, object]
    tables: Mapping[str, Table]
    shown: tuple[Table, ...] | None = None  # if not all tables as they are
    figure: Callable[[], Figure] | None = None  # draws what --plot writes
    notes: tuple[str, ...] = ()
    proof: object = None  # what --proof writes, as JSON
    files: dict[str, Callable[[], bytes]] | None = None  # what other options write, by their names
    plain: str | None = None  # what people read instead, as it is
    caption: str | None = None  # of LaTeX tables, before the facts
    label: str | None = None

    @property
    def printed(self) -> tuple[Table, ...]:
        """The tables that people see."""
        return tuple(self.tables.values()) if self.shown is None else self.shown

    @property
    def first(self) -> Table:
        """The table that CSV holds."""
        return next(iter(self.tables.values()), {})

    def called(self, name: str) -> str:
        """What people read for a column or a fact: the two aspects by their own names. JSON keeps the paper's.

        >>> Result({"aspects": ("relevance", "coherence")}, {}).called("noise_fluency")
        'noise_coherence'
        """
        for paper, label in zip(ASPECTS, self.facts.get("aspects", ASPECTS), strict=True):  # type: ignore[call-overload]
            if paper in name.split("_"):
                return "_".join(label if part == paper else part for part in name.split("_"))
        return name


class Told(NamedTuple):
    """The header and footer lines of a printed result."""

    about: dict[str, str]
    verdict: str
    signature: str


def told(result: Result) -> Told:
    """The facts as strings; verdict and signature, one line each, apart from the others."""
    ends = [one_line(str(result.facts.get(name, ""))) for name in ("verdict", "signature")]
    about = {k: v for k, v in result.facts.items() if k not in ("verdict", "signature", "aspects")}
    read = {result.called(k): cell(v, digits=6) for k, v in about.items()}
    aspects = result.facts.get("aspects", ASPECTS)
    if isinstance(aspects, tuple) and aspects != ASPECTS:
        read = {"aspects": f"{' and '.join(aspects)}; beta is the share of {aspects[0]}"} | read
    return Told(read, ends[0], ends[1])


def facts(result: Result) -> str:
    """A line for each fact."""
    return "".join(f"{name.replace('_', ' '):19} {value}\n" for name, value in told(result).about.items())


def ending(result: Result) -> str:
    """Verdict and signature, a line each where there is one."""
    return "".join(f"{line}\n" for line in told(result)[1:] if line)


def text(command: str, result: Result) -> str:
    """For a terminal: facts, aligned tables, signature."""
    if result.plain is not None:
        return result.plain
    tables = (_aligned(table, result.called) for table in result.printed)
    said = told(result)
    return "\n".join(
        filter(
            None,
            [said.verdict and f"{said.verdict}\n", facts(result), *tables, said.signature and f"{said.signature}\n"],
        )
    )


def markdown(command: str, result: Result) -> str:
    """For a README or an issue: pipe tables, the facts in a line above, verdict and signature below."""
    known = told(result)
    parts = [_joined(known.about, 1, MARKDOWN)]
    for table in result.printed:
        columns = spelled(table)
        head = [_head(result.called(name), 1, MARKDOWN) for name, _ in columns_of(table)]
        rule = ["---:" if right else "---" for right in map(_numeric, columns)]
        rows = ([c.translate(MARKDOWN) for c in row] for row in zip(*columns, strict=True))
        parts.append("".join(f"| {' | '.join(row)} |\n" for row in (head, rule, *rows)))
    parts += [f"{known.verdict.translate(MARKDOWN)}\n"] if known.verdict else []
    parts += [f"`{known.signature.replace('`', chr(39))}`\n"] if known.signature else []
    return "\n".join(filter(None, parts))


def latex(command: str, result: Result) -> str:
    r"""For a paper: one table a float, ruled by booktabs, with a caption of the facts and the signature in it.

    \usepackage{booktabs} is all that is needed.
    """
    known = told(result)
    caption = _joined(known.about, 0, LATEX).rstrip("\n")
    caption = (
        " ".join(filter(None, [(result.caption or "").translate(LATEX), caption, known.verdict.translate(LATEX)]))
        or f"whichbird {command}"
    )
    if known.signature:
        caption += (
            r" {\footnotesize\ttfamily " + known.signature.translate(LATEX).replace("{}", r"{}\allowbreak ") + "}"
        )
    parts = []
    for n, table in enumerate(result.printed, start=1):
        columns = spelled(table)
        align = "".join("r" if right else "l" for right in map(_numeric, columns))
        head = [_head(result.called(name), 0, LATEX) for name, _ in columns_of(table)]
        rows = [[_minus(c).translate(LATEX) for c in row] for row in zip(*columns, strict=True)]
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{{align}}}",
            r"\toprule",
            " & ".join(head) + r" \\",
        ]
        lines += [r"\midrule", *(" & ".join(row) + r" \\" for row in rows), r"\bottomrule", r"\end{tabular}"]
        lines += [
            rf"\caption{{{caption}}}",
            rf"\label{{{result.label or f'tab:whichbird-{command}'}{'' if n == 1 else f'-{n}'}}}",
            r"\end{table}",
        ]
        parts.append("\n".join(lines) + "\n")
    return f"% made by whichbird {__version__}; needs \\usepackage{{booktabs}}\n" + "\n".join(parts)


def csv(command: str, result: Result) -> str:
    """For a program: the first table, every figure in full precision; no name in it is a formula to a spreadsheet (see `guarded`)."""
    columns = columns_of(result.first)
    out = io.StringIO()
    write = comma.writer(out, lineterminator="\n").writerow
    write([guarded(result.called(name)) for name, _ in columns])
    for row in zip(*(column for _, column in columns), strict=True):
        write([_field(value) for value in row])
    return out.getvalue()


def _field(value: Any) -> Any:
    if isinstance(value, str):
        return guarded(value)
    return "" if value is None or value != value else value  # NaN is no figure


def as_json(command: str, result: Result) -> str:
    """For a program: all of it, as `schema` describes it."""
    return "".join(json_pieces(command, result))


def json_pieces(command: str, result: Result) -> Iterator[str]:
    """`as_json` piece by piece, `JSON_ROWS` of a table at a time: a table may have millions, which are many times as large as text."""
    content: dict[str, object] = {"command": command, "version": __version__, "schema": SCHEMA}
    content |= {name: _plain(value) for name, value in result.facts.items()} | dict(result.tables)
    for n, (name, value) in enumerate(content.items()):
        yield f"{',' if n else '{'}\n  {json.dumps(name)}: "
        if name not in result.tables:
            yield _indented(value, 2)
            continue
        end = "[]"
        for rows in _row_blocks(result.tables[name]):
            yield ("[" if end == "[]" else ",") + _indented(rows, 2)[1:-4]  # without its brackets
            end = "\n  ]"
        yield end
    yield "\n}\n"


def _indented(value: object, by: int) -> str:
    """JSON of a value, its lines after the first pushed in."""
    return json.dumps(value, indent=2, allow_nan=False).replace("\n", "\n" + by * " ")


def _row_blocks(table: Table) -> Iterator[list[dict[str, object]]]:
    """The rows of a table, by columns, some at a time."""
    length = len(next(iter(table.values()), ())) if isinstance(table, dict) else len(table)
    for start in range(0, length, JSON_ROWS):
        some = slice(start, start + JSON_ROWS)
        part = {name: column[some] for name, column in table.items()} if isinstance(table, dict) else table.iloc[some]
        columns = columns_of(part)
        rows = zip(*(column for _, column in columns), strict=True)
        yield [{head: _plain(v) for (head, _), v in zip(columns, row, strict=True)} for row in rows]


FORMATS = {"text": text, "markdown": markdown, "latex": latex, "csv": csv, "json": as_json}
ENDINGS = {".json": "json", ".md": "markdown", ".tex": "latex"}  # of files that --out writes; else CSV


def schema() -> dict[str, Any]:
    """What JSON output holds, as a JSON Schema (draft 2020-12): every field and column, with its meaning.

    >>> schema()["properties"]["beta0"]["description"]
    "natural balance: adequacy's share of the variance between systems"
    """
    said = tomllib.loads(files(__package__).joinpath("schema.toml").read_text("utf-8"))
    _add_metametrics(said)
    rows = {field: _rows(columns.split()) for field, columns in said["tables"].items()}
    fields: dict[str, Any] = {
        "command": {"description": "the command that was run", "enum": list(said["required"])},
        "version": {"description": "of whichbird", "type": "string"},
        "schema": {
            "description": "version of this layout; a new number where a field was renamed or dropped or means something else",
            "const": SCHEMA,
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:whichbird:output:{SCHEMA}",
        "title": "What whichbird prints with --json",
        "description": "A version of whichbird may add fields and columns; one that renames or drops a field, or changes "
        "its meaning, has another number in 'schema'.",
        "type": "object",
        "required": list(fields),
        "properties": fields | {name: _described(text) | rows.get(name, {}) for name, text in said["fields"].items()},
        "$defs": {name: _described(text) for name, text in said["columns"].items()},
        "allOf": [
            {
                "if": {"properties": {"command": {"const": command}}},
                "then": {"required": always.split()}
                | (
                    {"anyOf": [{"required": one.split()} for one in either]}
                    if (either := said["either"].get(command))
                    else {}
                ),
            }
            for command, always in said["required"].items()
        ],
    }


def _add_metametrics(said: dict[str, Any]) -> None:
    """Add to what schema.toml says the columns of every meta-metric that may stand beside SPA."""
    from ..study.meta import METAMETRICS, SPA

    for m in METAMETRICS.values():
        if m is SPA:
            continue
        columns = {
            m.name: f"number: {m.says}",
            f"rank_{m.name}": f"integer: rank by {m.title}; equals share the better one",
            f"{m.name}_natural": f"number: {m.title} without reweighting",
            f"{m.name}_se": f"number?: standard error of {m.title}, documents resampled",
        }
        said["columns"] |= columns
        said["tables"]["ranking"] += "".join(f" {name}?" for name in columns)
        for table in ("sweep", "standings"):
            said["tables"][table] += "".join(f" {name}?" for name in list(columns)[:2])
        said["columns"][f"average_{m.name}"] = f"number: mean of {m.title} over datasets"
        said["tables"]["average"] += f" average_{m.name}?"


def _described(text: str) -> dict[str, Any]:
    """One field of schema.toml: "number?: what it says".

    >>> _described("number?: of them")
    {'description': 'of them', 'type': ['number', 'null']}
    """
    kind, _, words = text.partition(": ")
    if kind in ("pair", "numbers", "strings", "rows"):
        items = {} if kind == "rows" else {"items": {"type": "string" if kind == "strings" else "number"}}
        return (
            {"description": words, "type": "array"} | items | ({"minItems": 2, "maxItems": 2} if kind == "pair" else {})
        )
    kinds = kind.replace("?", "|null").split("|")
    return {"description": words, "type": kinds[0] if len(kinds) == 1 else kinds}


def _rows(columns: list[str]) -> dict[str, Any]:
    """Rows of a table with these columns; one with a question mark may be missing."""
    names = [column.rstrip("?") for column in columns]
    items = {"type": "object", "required": [c for c in columns if c in names]}
    return {"items": items | {"properties": {name: {"$ref": f"#/$defs/{name}"} for name in names}}}


def columns_of(table: Table) -> list[tuple[str, list[Any]]]:
    """The columns of a table, each with its name (two may have the same): plain values of Python.

    >>> columns_of({"system": ["x"], "score": np.array([0.5])})
    [('system', ['x']), ('score', [0.5])]
    """
    if isinstance(table, dict):
        found = list(table.items())
    else:
        found = [(str(name), table.iloc[:, n]) for n, name in enumerate(table)]
    return [(name, column.tolist() if hasattr(column, "tolist") else list(column)) for name, column in found]


def first_rows(table: Table, most: int) -> Table:
    """The first rows of a table."""
    return {name: column[:most] for name, column in table.items()} if isinstance(table, dict) else table.head(most)


def spelled(table: Table) -> list[list[str]]:
    """The cells of each column as people read them."""
    out = []
    for name, column in columns_of(table):
        read = displays(column) if name in SCORERS else {}
        out.append([cell(read.get(v, v), _decimals(name, column)) for v in column])
    return out


def cell(value: object, decimals: int | None = None, digits: int = 4) -> str:
    """A value as people read it: with so many decimals, or else so many significant digits."""
    if isinstance(value, tuple):
        said = [cell(v, digits=digits) for v in value]
        return (" to " if all(isinstance(v, float) for v in value) else "; ").join(said)
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if value is None:
        return "cannot be told"
    if not isinstance(value, float):
        return one_line(str(value))
    if value != value:  # no figure
        return "-"
    return f"{value:z.{digits}g}" if decimals is None else f"{value:z.{decimals}f}"  # z: no −0


def one_line(text: str) -> str:
    """One line, whatever names and paths are in it."""
    return "".join(c if c.isprintable() else " " for c in " ".join(text.split()))


def _aligned(table: Table, called: Callable[[str], str]) -> str:
    """Columns two spaces apart, numbers to the right."""
    bodies = spelled(table)
    columns = [[one_line(called(name)), *body] for (name, _), body in zip(columns_of(table), bodies, strict=True)]
    width = [max(map(len, column)) for column in columns]
    padded = [
        [c.rjust(w) if right else c.ljust(w) for c in column]
        for column, w, right in zip(columns, width, map(_numeric, bodies), strict=True)
    ]
    return "".join("  ".join(row).rstrip() + "\n" for row in zip(*padded, strict=True))


def _minus(cell: str) -> str:
    """A negative number with a minus in place of its hyphen."""
    return "−" + cell[1:] if cell[:1] == "-" and cell[1:2].isdigit() else cell


def _numeric(cells: Iterable[str]) -> bool:
    """Whether more than half of the cells start like a number."""
    found = [c[:1].isdigit() or c[:1] == "-" for c in cells]
    return 2 * sum(found) > len(found)


def _decimals(name: str, column: list[Any]) -> int | None:
    """The decimals of a column of numbers of ordinary size; None, significant digits, for others."""
    if name not in DECIMALS or not all(isinstance(value, float) for value in column):
        return None
    largest = max((abs(value) for value in column if not np.isnan(value)), default=np.nan)
    return DECIMALS[name] if 0.01 <= largest < 1e7 else None


def _head(name: object, kind: int, escape: dict[int, str]) -> str:
    """What a column or a fact is called in a paper: in LaTeX (0) or Markdown (1)."""
    text = one_line(str(name))
    return SIGNS[text][kind] if text in SIGNS else text.replace("_", " ").translate(escape)


def _joined(about: dict[str, str], kind: int, escape: dict[int, str]) -> str:
    """The facts as one sentence."""
    parts = [f"{_head(name, kind, escape)} {value.translate(escape)}" for name, value in about.items()]
    return "; ".join(parts) + ".\n" if parts else ""


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not np.isfinite(value) else value
