"""Chapters on other datasets: how parameters are changed, what is found, and the table of it that ships."""

import ast
import asyncio
import csv
import re
import sys

import copies
import execute
import nbformat
import pytest
import vary

from whichbird.data.digest import datasets
from whichbird_book import kit

VARIED = vary.chapters()
FRONT = "---\njupytext:\n  text_representation:\n    format_name: myst\nkernelspec:\n  name: python3\n  display_name: x\n  language: python\n---\n\n# T\n"
CELLS = """
```{code-cell} ipython3
:tags: [parameters]
DATASET = "ende24"
```

```{code-cell} ipython3
import whichbird as wb
K = len(wb.load(DATASET).systems)
assert K == 16 and K > 2
assert K > 3
```

```{prf:theorem} T
```

```{code-cell} ipython3
assert K != 15
```
"""


@pytest.fixture
def chapter(tmp_path, monkeypatch):
    monkeypatch.setattr(execute, "BOOK", tmp_path)
    (tmp_path / "part").mkdir()
    (tmp_path / "part/one.md").write_text(FRONT + CELLS, "utf-8")
    return tmp_path / "part/one.md"


def test_a_chapter_on_another_dataset_tells_which_checks_hold(chapter):
    assert vary.own(chapter) == "ende24" and vary.name_of(chapter) == "part/one"
    out = asyncio.run(vary.run(chapter, "zhen21"))
    many = len(kit.load("zhen21").systems)
    assert many not in (15, 16) and out["stopped"] is None
    assert out["checks"] == [[1, "K == 16 and K > 2", False], [1, "K > 3", True], [2, "K != 15", True]]


def test_a_theorem_that_fails_stops_the_chapter_and_is_told(chapter):
    text = chapter.read_text("utf-8").replace("K != 15", "K == 15")
    chapter.write_text(text, "utf-8")
    out = asyncio.run(vary.run(chapter, "zhen21"))
    assert out["stopped"][0] == 2 and "AssertionError" in out["stopped"][1]
    table = {"part/one": {"zhen21": out}}
    assert "0 of 1 to the end" in vary.summary(table) and "Cell 2" in vary.summary(table)


@pytest.mark.parametrize(
    "words", [["--only", "zhen99"], ["--only", "heen23"], ["--write", "--only", "zhen23"], ["book/index.md"]]
)
def test_bad_words_get_one_sentence(words, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["vary.py", *words])
    with pytest.raises(SystemExit) as ended:
        vary.main()
    assert ended.value.code == 2 and ("--only" if "--write" in words else words[-1]) in capsys.readouterr().err


@pytest.mark.parametrize("path", VARIED, ids=lambda path: path.stem)
def test_parameters_stand_first_and_are_plain_values(path):
    notebook = execute.read(path)
    first = execute.code_cells(notebook)[0]
    assert "parameters" in first.metadata["tags"] and copies.parameters([first])["DATASET"] in datasets(aspects=True)
    used = {
        n.id
        for c in execute.sources(notebook)[1:]
        for n in ast.walk(ast.parse(re.sub(r"^[%!].*$", "", c, flags=re.M)))
        if isinstance(n, ast.Name)
    }
    assert set(copies.parameters([first])) <= used, "a parameter that no cell reads"


# The table that ships


@pytest.fixture(scope="module")
def table():
    with vary.TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def asserts(path):
    code = "\n".join(re.sub(r"^[%!].*$", "", c, flags=re.M) for c in execute.sources(execute.read(path)))
    return {ast.unparse(node.test) for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Assert)}


def test_the_table_has_the_checks_of_the_chapters_on_all_datasets(table):
    """`make vary WRITE=1` makes it anew when a chapter's checks have changed."""
    asked = {row["chapter"] for row in table}
    assert asked <= {vary.name_of(path) for path in VARIED} and len(asked) >= 8
    for path in (p for p in VARIED if vary.name_of(p) in asked):
        rows = {row["check"]: row for row in table if row["chapter"] == vary.name_of(path)}
        assert set(rows) - {vary.WHOLE} <= asserts(path), f"{path.stem}: the table is older than the chapter"
        others = set(datasets(aspects=True)) - {vary.own(path)}
        for row in rows.values():
            assert sorted(f"{row['holds']} {row['fails']} {row['unasked']}".split()) == sorted(others)
        assert len(rows[vary.WHOLE]["holds"].split()) + 1 >= 14, f"{path.stem} runs on too few datasets"


def test_every_count_that_a_chapter_takes_from_the_table_is_there():
    found = 0
    for path in execute.chapters():
        for chapter, check in re.findall(r'kit\.holds\("([^"]+)", "((?:[^"\\]|\\.)+)"\)', path.read_text("utf-8")):
            assert (
                chapter == vary.name_of(path)
                and check in asserts(path)
                and re.fullmatch(r"\d+ of \d+", kit.holds(chapter, check))
            )
            found += 1
    assert found >= 2


def test_what_a_run_shows_is_read_from_its_outputs():
    code = nbformat.v4.new_code_cell
    cells = [code("begin"), code("D", metadata={"tags": ["parameters"]}), code("D = 2"), code("x")]
    cells[3].outputs = [nbformat.v4.new_output("error", ename="E", evalue="e", traceback=[])]
    assert vary.found(nbformat.v4.new_notebook(cells=cells)) == {"stopped": [1, "E: e"], "checks": []}
