"""The paper, claim by claim: the file of claims, the rules, the refusals, and that no number of the paper is left out."""

import csv
import dataclasses
import re
import sys
from collections import Counter
from pathlib import Path

import papertext
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from whichbird_book.kit import RECORD, record_of
from whichbird_book.report import published

ROOT = Path(__file__).parents[1]
PAPER = ROOT.parent / "shared" / "paper.tex"
sys.path[:0] = [str(ROOT / "book"), str(ROOT / "book" / "_ext")]
import claims as extension  # noqa: E402
import execute  # noqa: E402
import judge  # noqa: E402

CLAIMS = judge.read(execute.CLAIMS)


def written(file, *rows):
    """A file of claims with these rows."""
    with file.open("w", encoding="utf-8", newline="") as out:
        table = csv.DictWriter(out, judge.COLUMNS)
        table.writeheader()
        table.writerows(rows)
    return file


def claim(rule="true", printed="", reason="", **rest):
    return judge.Claim(
        **{
            "id": "x",
            "place": "4.3, text",
            "kind": "",
            "claim": "c",
            "judged": "j",
            "record": "r",
            **rest,
            "rule": rule,
            "printed": printed,
            "reason": reason,
        }
    )


@pytest.mark.parametrize(
    "rule, printed, value, expected",
    [
        ("equal", "0.8241", 0.82414, "equal"),
        ("equal", "0.8241", 0.82416, "differs"),
        ("equal", "99.1 %", 99.05000001, "equal"),
        ("equal", "65.5K", 65.522, "equal"),
        ("equal", "26{,}304.8M", 26304.84, "equal"),
        ("equal", "−1.37", -1.374, "equal"),
        ("equal", "11", 11, "equal"),
        ("equal", "11", 12, "differs"),
        ("equal", "0.0", -0.01, "equal"),
        ("cells", "", [3, 0, 0], "equal"),
        ("cells", "", [3, 1, 0], "differs"),
        ("cells", "", [3, 0, 1], "differs"),
        ("cells", "", [0, 0, 0], "differs"),
        ("true", "", True, "equal"),
        ("true", "", False, "unsupported"),
        ("<= 0.03", "", 0.03, "equal"),
        ("<= 0.03", "", 0.0301, "unsupported"),
        ("< 1", "", 1, "unsupported"),
        ("> 0", "", 0, "unsupported"),
        ("== 1 | >= 0.8", "", 1, "equal"),
        ("== 1 | >= 0.8", "", 0.8, "differs"),
        ("== 1 | >= 0.8", "", 0.79, "unsupported"),
        ("4.5 .. 5", "", 5, "equal"),
        ("4.5 .. 5", "", 5.1, "unsupported"),
        (">= 3.2e6", "", 50, "unsupported"),
    ]
    + [(rule, "1", None, "unobtainable") for rule in ("equal", "cells", "true", "<= 1")],
)
def test_the_status_follows_from_rule_and_value(rule, printed, value, expected):
    assert judge.status(claim(rule, printed), value) == expected


@pytest.mark.parametrize("value, expected", [(11, "setup"), (12, "differs"), (None, "unobtainable")])
def test_only_a_set_up_that_is_met_is_no_finding(value, expected):
    c = claim("equal", "11", "" if expected == "setup" else "b", kind="set-up")
    (v,) = judge.judge([c], found(("r", value)))
    assert v.status == expected
    counted = extension.counts([v], None)
    assert (
        f"<b>{int(expected != 'setup')}</b> claims" in counted
        and f"<b>{int(expected == 'setup')}</b> lines of set-up" in counted
    )


@pytest.mark.parametrize(
    "rule, value",
    [("true", 1), ("true", [1, 0, 0]), ("<= 1", True), ("<= 1", [1, 0, 0]), ("cells", 3), ("equal", True)],
)
def test_a_value_of_the_wrong_kind_is_refused(rule, value):
    with pytest.raises(judge.ClaimError):
        judge.status(claim(rule, "1"), value)


@pytest.mark.parametrize("rule", ["", "about 3", "<=3", "=< 3", "3 .. ", ">= x", "equal | ", "true or false"])
def test_what_is_no_rule_is_refused(rule):
    with pytest.raises(judge.ClaimError):
        [judge.parse(part) for part in rule.split(" | ")]


def found(*records):
    return [("book/a", record_of(*r) if isinstance(r, tuple) else r) for r in records]


def test_every_refusal_of_the_page():
    good = [claim("<= 1")]
    assert judge.judge(good, found(("r", 0.5)))[0].status == "equal"
    with pytest.raises(judge.ClaimError, match="no chapter records a value for x"):
        judge.judge(good, [])
    with pytest.raises(judge.ClaimError, match=r"no claim asks for other \(in book/a\)"):
        judge.judge(good, found(("r", 0.5), ("other", 1)))
    with pytest.raises(judge.ClaimError, match="r is recorded twice, in book/a and in book/a"):
        judge.judge(good, found(("r", 0.5), ("r", 0.5)))
    with pytest.raises(judge.ClaimError, match="claim x: not supported, and it says not why"):
        judge.judge(good, found(("r", 2)))
    with pytest.raises(judge.ClaimError, match="gives a reason for nothing"):
        judge.judge([claim("<= 1", reason="because")], found(("r", 0.5)))
    with pytest.raises(judge.ClaimError, match="claim x: a statement is true or false"):
        judge.judge([claim("true")], found(("r", 2)))
    assert judge.judge([claim("<= 1", reason="because")], found(("r", None)))[0].word == "not obtainable"


def test_several_claims_may_share_a_record():
    both = [claim("<= 1"), claim("<= 0.1", id="y", reason="larger")]
    assert [v.status for v in judge.judge(both, found(("r", 0.5)))] == ["equal", "unsupported"]


def test_what_the_table_writes():
    def row(c, *record):
        (v,) = judge.judge([c], found(record))
        return judge.asked(c), v.ours, v.difference, v.word

    assert row(claim("equal", "0.8241"), "r", 0.82412) == ("0.8241", "0.8241", "0", "equal")
    assert row(claim("equal", "554", "one less"), "r", 505) == ("554", "505", "−49.0", "differs")
    assert row(claim("equal", "99.1 %", "near"), "r", 98.94) == ("99.1 %", "98.94 %", "−0.16", "differs")
    assert row(claim("cells"), "r", (16, 0, 0)) == ("equal", "16 of 16 cells", "0", "equal")
    assert row(claim("cells", reason="b"), "r", (8, 8, 0)) == ("equal", "8 of 16 cells", "8 differ", "differs")
    assert row(claim("true"), "r", True) == ("yes", "yes", "—", "holds")
    assert row(claim("<= 1e-9"), "r", 2.5e-13) == ("≤ 1e−9", "2.5e−13", "—", "holds")
    assert row(claim("== 1 | >= 0.8", reason="b"), "r", 0.9, "9 of 10") == ("= 1", "9 of 10", "—", "differs")
    assert row(claim("true", reason="b"), "r", None) == ("yes", "none", "—", "not obtainable")


def test_the_download_has_a_line_for_each_claim():
    (v,) = judge.judge([claim("<= 1")], found(("r", 0.5)))
    head, line = judge.as_csv([v]).splitlines()
    assert head.split(",")[:3] == ["id", "place", "claim"] and line.endswith("book/a,record-r")


@pytest.mark.parametrize(
    "change, told",
    [
        ({"id": ""}, "has no id"),
        ({"id": "A b"}, "cannot name a claim"),
        ({"judged": ""}, "has no judged"),
        ({"place": "Z, text"}, "a section of the paper comes first"),
        ({"rule": "roughly"}, "is no rule"),
        ({"kind": "finding"}, "is of the kind 'finding'"),
        ({"rule": "equal", "printed": "many"}, "which is no figure"),
    ],
)
def test_a_row_that_cannot_be_judged_is_refused(tmp_path, change, told):
    file = written(tmp_path / "claims.csv", dataclasses.asdict(claim()) | change)
    with pytest.raises(judge.ClaimError, match=told):
        judge.read(file)


def test_files_that_are_no_table_of_claims_are_refused(tmp_path):
    file = written(tmp_path / "claims.csv", *[dataclasses.asdict(claim())] * 2)
    with pytest.raises(judge.ClaimError, match="two claims are called x"):
        judge.read(file)
    file.write_text(",".join(judge.COLUMNS) + "\nx,1\n", "utf-8")
    with pytest.raises(judge.ClaimError, match="row 1 of claims.csv has not as many cells"):
        judge.read(file)
    file.write_text("id,claim\nx,c\n", "utf-8")
    with pytest.raises(judge.ClaimError, match="has the columns"):
        judge.read(file)


def chapter(*records):
    """An executed notebook whose only cell left these records."""
    data = [{f"application/papermill.record/{RECORD}": record_of(*r)} for r in records]
    outputs = [new_output("display_data", d) for d in data]
    return new_notebook(cells=[new_code_cell("1", execution_count=1, outputs=outputs)], metadata={"run_seconds": 1.0})


@pytest.fixture
def house(tmp_path, monkeypatch):
    """One claim and one chapter, whose kept run is what a test puts into the list."""
    runs = [chapter(("r", 0.5))]
    file = written(tmp_path / "claims.csv", dataclasses.asdict(claim("<= 1")))
    monkeypatch.setattr(execute, "ROOT", tmp_path)
    monkeypatch.setattr(execute, "CLAIMS", file)
    monkeypatch.setattr(execute, "chapters", lambda: [tmp_path / "book" / "a.md"])
    monkeypatch.setattr(execute, "find", lambda path: runs[0])
    monkeypatch.setattr(extension, "records_something", lambda path: True)
    return runs


def test_the_extension_takes_records_from_the_kept_runs(house):
    (v,) = extension.verdicts()
    assert (v.page, v.ours, v.status) == ("book/a", "0.5", "equal")


@pytest.mark.parametrize(
    "run, told",
    [
        (None, "book/a has not been run"),
        (chapter(), "no chapter records a value for x"),
        (chapter(("r", 1), ("more", 1)), "no claim asks for more"),
        (chapter(("r", 1), ("r", 1)), "recorded twice"),
        (chapter(("r", 3)), "says not why"),
    ],
)
def test_the_extension_stops_the_build(house, run, told):
    house[0] = run
    with pytest.raises(extension.ExtensionError, match=told):
        extension.verdicts()


def test_the_parts_of_the_page_are_escaped_and_complete(house):
    house[0] = chapter(("r", 0.5, "<b> & co"))
    all_of = extension.verdicts()
    made = {name: part(all_of, lambda v: "page.html#record-r") for name, part in extension.PARTS.items()}
    assert "&lt;b&gt; &amp; co" in made["table"] and "<b> & co" not in made["table"]
    assert 'href="#claim-x"' in made["strip"] and 'id="claim-x"' in made["table"]
    assert "<b>1</b> claims" in made["counts"]
    assert str(ROOT) not in "".join(made.values())


def test_a_claim_of_the_file_is_stated_in_full():
    assert len(CLAIMS) >= 138  # as many as an outside audit counted
    assert {c.section for c in CLAIMS} == set(judge.SECTIONS)
    assert sum(c.kind == "" for c in CLAIMS) >= 138
    for c in CLAIMS:
        assert c.claim.endswith("."), c.id
        assert not c.reason or c.reason.endswith("."), c.id
        if c.rule not in ("equal", "cells", "true"):
            assert not c.printed, c.id


RECORDED = re.compile(r"""\brecord\(\s*f?"([^"]+)\"""")


def test_the_chapters_record_what_the_claims_ask_for():
    """Without running anything: the names in the sources, of which some are made in a loop, and the names in the file."""
    made = {
        name
        for path in execute.chapters()
        for cell in execute.sources(execute.read(path))
        for name in RECORDED.findall(cell)
    }
    asked = {c.record for c in CLAIMS}
    patterns = [re.compile(re.sub(r"\\\{.*?\\\}", "[a-z0-9-]+", re.escape(name))) for name in made]
    assert [name for name in sorted(asked) if not any(p.fullmatch(name) for p in patterns)] == []
    assert [name for name in sorted(made) if "{" not in name and name not in asked] == []


# Numbers of the text that claim nothing, by section: how often, and why.
EXCEPTIONS = {
    ("1", "1"): (2, "marks a point of an enumeration"),
    ("1", "2"): (2, "marks a point of an enumeration"),
    ("1", "3"): (2, "marks a point of an enumeration"),
    ("3", "2"): (1, "a step of a proof divides by it"),
    ("4", "2021"): (1, "the year from which data are used"),
    ("A", "1"): (2, "names a case of a proof"),
    ("A", "2"): (3, "names a case of a proof"),
    ("A", "2.1"): (1, "names a case of a proof"),
    ("A", "2.2"): (4, "names a case of a proof"),
    ("A", "2.3"): (3, "names a case of a proof"),
}
# Tables, cell by cell: the file that holds them, and numbers that stand in the table and are no cell.
TABLES = {
    "tab:solve-exact-operation-counts": ("operation_counts", ["50"]),
    "tab:solve-exact-theorem-invocations": ("theorem_invocations", []),
    "tab:dataset_tau": ("tau", []),
    "tab:dataset-core": ("core", []),
    "tab:dataset-betaij": ("pair_balances", []),
    "tab:dataset-mqm": ("mqm", []),
    "tab:dataset-scorers": ("scorers", []),
}


def bare(token):
    return re.sub(r"[{},\s\\%]", "", token).replace("−", "-")


@pytest.fixture(scope="module")
def paper():
    if not PAPER.exists():
        pytest.skip(
            "the source of the paper is not beside the repository (../shared/paper.tex), so its numbers cannot be looked up"
        )
    return papertext.parts(PAPER.read_text("utf-8"))


def test_every_number_of_the_text_belongs_to_a_claim(paper):
    claimed = {
        (c.section.split(".")[0], bare(t))
        for c in CLAIMS
        for t in papertext.tokens(c.printed.replace(" %", r"\%")) + papertext.tokens(c.claim)
    }
    left = Counter((section, bare(t)) for section, label, text in paper if not label for t in papertext.tokens(text))
    assert sum(left.values()) > 40  # the paper was read
    for token in list(left):
        if token in claimed:
            del left[token]
    assert left == {token: many for token, (many, _) in EXCEPTIONS.items()}


def test_every_number_of_the_tables_is_compared(paper):
    seen = {label: Counter(map(bare, papertext.tokens(text))) for _, label, text in paper if label}
    assert set(seen) == set(TABLES)
    for label, (name, extra) in TABLES.items():
        table = published(name)
        cells = [] if name == "scorers" else [bare(str(v)) for c in table for v in table[c]]
        numbers = Counter(v for v in cells if re.fullmatch(r"-?\d+(\.\d+)?[KMB]?", v)) + Counter(extra)
        if (
            name == "operation_counts"
        ):  # which theorems are on is a tick in print; one resolution is printed for two ranges
            table = table.drop(columns=["admissible", "size", "certificate", "resolution"])
            cells = [bare(str(v)) for c in table for v in table[c]]
            numbers = Counter(v for v in cells if re.fullmatch(r"-?\d+(\.\d+)?[KMB]?", v)) + Counter([*extra, *"2345"])
        assert seen[label] == numbers, label
        if name != "scorers":
            assert sum(numbers.values()) > 5
    figures = sum(sum(count.values()) for count in seen.values())
    assert figures > 300


def runs_of_words(text, length=8):
    """All runs of so many words in a row; a formula, a citation or a reference ends a run."""
    text = re.sub(r"```\{code-cell\}.*?\n```", "¦", text, flags=re.S)
    text = re.sub(r"\$\$.*?\$\$|\$[^$]*\$|FORMULA|\{[a-z:]+\}`[^`]*`|https?://\S+", "¦", text, flags=re.S)
    found = set()
    for piece in re.sub(r"\\[a-zA-Z]+|[{}~*_`]", " ", text).split("¦"):
        words = re.findall(r"[a-zA-Zβ\d]+(?:['’-][a-zA-Z]+)*", piece.lower())
        found |= {" ".join(words[i : i + length]) for i in range(len(words) - length + 1)}
    return found


def test_no_eight_words_in_a_row_are_the_papers():
    """The book is in our own words: pages, claims and README against the paper's prose."""
    if not PAPER.exists():
        pytest.skip("the source of the paper is not beside the repository (../shared/paper.tex)")
    theirs = runs_of_words(papertext.plain(PAPER.read_text("utf-8").replace("--", " ")))
    assert len(theirs) > 3000  # the paper was read
    pages = [*execute.pages(), execute.CLAIMS, ROOT / "README.md", ROOT / "CHANGELOG.md"]
    copied = {str(p.relative_to(ROOT)): runs_of_words(p.read_text("utf-8").replace("–", " ")) & theirs for p in pages}
    title = runs_of_words("Adequacy Fluency Balance in Meta-Evaluation of Machine Translation")
    assert {page: sorted(runs - title) for page, runs in copied.items() if runs - title} == {}


def test_a_copied_sentence_would_be_noticed():
    one = runs_of_words(r"So \emph{the systems} in this pool $x$ are real, and none of them was ever~made up by us.")
    two = runs_of_words("It is known that systems are *real*, and none of them was ever made up.")
    assert one & two == {
        "real and none of them was ever made",
        "and none of them was ever made up",
        "are real and none of them was ever",
    }


def test_a_number_that_no_claim_has_would_be_noticed():
    text = r"\begin{document}\section{One} It rises in $97.3\%$ of 41 pairs~\citep[p.~3]{a1}, see Table~\ref{tab:4}; $x^2$ in ende24."
    ((_, _, first), (section, _, prose)) = papertext.parts(text)
    assert (papertext.tokens(first), section, papertext.tokens(prose)) == ([], "1", [r"97.3\%", "41"])
