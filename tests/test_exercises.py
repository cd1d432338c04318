"""Student notebooks: nothing of the solutions is in them, every check is, and the solutions fill the blanks."""

import ast
import builtins
import re
import sys
from pathlib import Path

import nbformat
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "book"))
import exercises as ex

CHAPTERS = ex.chapters()
chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)


def bodies(path):
    return [m["body"] for m in ex.SOLUTION.finditer(path.read_text("utf-8"))]


def codes(text):
    return [m["code"] for m in ex.CELL.finditer(text)]


def test_every_chapter_with_exercises_has_a_notebook():
    marked = [p for p in ex.BOOK.rglob("*.md") if "{exercise-start}" in p.read_text("utf-8")]
    assert len(CHAPTERS) >= 18
    assert sorted(marked) == CHAPTERS


@chapter
def test_no_solution_is_left(path):
    notebook = ex.student(path)
    prose = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    names = ex.Names(path)
    for body in bodies(path):
        for line in ex.CELL.sub("", body).splitlines():
            if len(line) > 30:  # shorter ones might stand elsewhere by accident
                assert names.plain(line) not in prose
    cells = [c for c in notebook.cells if {"blank", "check"} & set(c.metadata.get("tags", []))]
    sources = [
        text
        for stages in ex.solutions(path.read_text("utf-8"))
        for s in stages
        for text in (s.blank(), "\n".join(s.checks))
        if text
    ]
    assert [c.source for c in cells] == sources
    before = codes(ex.SOLUTION.sub("", path.read_text("utf-8")))
    assert [c.source.strip("\n") for c in notebook.cells if c.cell_type == "code" and c not in cells] == [
        c.strip("\n") for c in before
    ]


@chapter
def test_every_check_is_kept_or_part_of_a_loop(path):
    for body, stages in zip(bodies(path), ex.solutions(path.read_text("utf-8")), strict=True):
        top = [ast.unparse(n) for code in codes(body) for n in ast.parse(code).body if isinstance(n, ast.Assert)]
        checks = [n for s in stages for n in ex._parse(s.checks)]
        assert [ast.unparse(n) for n in checks if isinstance(n, ast.Assert)] == top
        assert checks and all(ex._asserts(n) for n in checks)
        assert not any(isinstance(n, ast.Assert) for s in stages for n in ex._parse(s.work))


@chapter
def test_work_and_checks_are_the_solution(path):
    """Every statement of a solution is given, work or a check, and none moved past one that it depends on."""
    for body, stages in zip(bodies(path), ex.solutions(path.read_text("utf-8")), strict=True):
        nodes = [n for code in codes(body) for n in ast.parse(code).body]
        plain = [ast.unparse(n) for n in nodes if not ex._asserts(n)]
        assert [t for t in plain if not t.startswith(("import", "from"))] == [
            ast.unparse(n) for s in stages for n in ex._parse(s.work) if ast.unparse(n) in plain
        ]
        place = {ast.unparse(n): at for at, n in enumerate(nodes)}  # the last one, where two are the same
        for s in stages:
            work = [n for n in ex._parse(s.work) if ast.unparse(n) in place]
            for check in (n for n in ex._parse(s.checks) if isinstance(n, ast.Assert)):
                later = [n for n in work if place[ast.unparse(n)] > place[ast.unparse(check)]]
                assert not any(ex.changes(n) & set(ex.reads(check)) for n in later)


@chapter
def test_students_can_know_every_name(path):
    text = path.read_text("utf-8")
    known = {n for code in codes(ex.SOLUTION.sub("", text)) for node in ast.parse(code).body for n in ex.changes(node)}
    assigned = {
        n.id
        for code in codes(ex.SOLUTION.sub("", text))
        for n in ast.walk(ast.parse(code))
        if isinstance(n, ast.NamedExpr)
        for n in [n.target]
    }
    known |= assigned | set(dir(builtins))
    for stages in ex.solutions(text):
        for s in stages:
            known |= set(s.names) | {n for node in ex._parse(s.given) for n in ex.changes(node)}
            assert set(ex.reads("\n".join(s.checks))) <= known
            ast.parse(s.blank())


@chapter
def test_text_is_plain_markdown(path):
    notebook = ex.student(path)
    nbformat.validate(notebook)
    prose = "\n".join(
        re.sub(r"^```.*?^```$", "", c.source, flags=re.M | re.S) for c in notebook.cells if c.cell_type == "markdown"
    )
    assert not re.search(r"\{[\w:-]+\}`|^(:::|```+\{)|^\([\w-]+\)=$", prose, re.M)
    assert prose.startswith("# ") and "**Student notebook.**" in prose
    numbers = re.findall(r"^\*\*Exercise (\S+)\*\*$", prose, re.M)
    chapter = ex.numbering.chapters().get(path.relative_to(ex.BOOK.parent).with_suffix("").as_posix())
    assert numbers == [f"{chapter}.{n}" if chapter else str(n) for n in range(1, len(bodies(path)) + 1)]
    assert ex.student(path) == notebook


@pytest.mark.parametrize("name", ["paper/3-1-balance", "appendix/d-datasets", "appendix/g-variance"])
def test_runs_empty_and_filled(name):
    """The cells before the blanks run, checks fail on an empty blank, and pass with the book's work put back."""
    ex.run(ex.BOOK / f"{name}.md")


def divided(code, elsewhere=()):
    return [(s.names, s.work, s.checks) for s in ex.stages(code, set(elsewhere))]


def test_plain_solution():
    assert divided("x = 1\nassert x == 1  # why\ny = 2\nassert y > x\nx + y") == [
        (["x", "y"], ["x = 1", "y = 2", "x + y"], ["assert x == 1  # why", "assert y > x"])
    ]


def test_a_name_that_changes_begins_a_stage():
    for change in ("x = 2", "x += 1", "x[0] = 2", "x.append(2)", "for x in y: pass", "(x, z) = 1, 2", "def x(): pass"):
        assert [n for n, _, _ in divided(f"x = y = []\nassert x == y\n{change}\nassert x")] == [["x", "y"], ["x"]]
    assert len(divided("x = []\nassert not x\nx.copy()\nx")) == 1


def test_loops_keep_what_their_asserts_need():
    code = "out = {}\nfor k in K:\n    a = k + 1\n    b = 2\n    out[k] = a\n    print(b)\n    assert out[k] == a\nassert out"
    [(names, work, checks)] = divided(code)
    assert names == ["out"]
    assert checks == ["for k in K:\n    a = k + 1\n    assert out[k] == a", "assert out"]
    assert work[1] == "for k in K:\n    a = k + 1\n    b = 2\n    out[k] = a\n    print(b)"


def test_loops_with_more_are_work():
    for inner in (
        "for _ in range(9):\n        a = a / 2",
        "a += 1",
        "while a:\n        a = 0",
        "with q:\n        a = 0",
    ):
        [(names, work, checks)] = divided(f"for k in K:\n    a = k\n    {inner}\n    assert a < 1\nz = a\nassert z")
        assert checks == ["assert z"] and names == ["z"]


def test_functions_show_their_arguments():
    [s] = ex.stages("def f(x, *, y=1):\n    return x\ng = lambda z: z\nassert f(1) == g(1)")
    assert s.blank() == "# Your answer: replace each ...\ndef f(x, *, y=1):\n    ...\ng = lambda z: ..."


def test_imports_are_given_and_names_of_earlier_solutions_listed():
    [s] = ex.stages("import math\nassert math.pi > h", {"h"})
    assert s.given == ["import math"] and s.names == ["h"]
