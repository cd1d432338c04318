"""The exercises of the course: entries, what notebooks hold of a chapter, and that the key belongs to the present book.

Every notebook runs empty and filled in with `make exercises CHECK=1`; here some do, in this Python, and one in a kernel.
"""

import ast
import builtins
import contextlib
import io
import math
import re
import sys
from pathlib import Path

import nbformat
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "book"))
sys.path.insert(0, str(Path(__file__).parents[1] / "book" / "course"))
import entries
import exercises as ex
import export
import key as keys
import notebooks
import slices

from whichbird_book.teach import check as teach

CHAPTERS = ex.chapters()
ENTRIES = entries.load()
KEY = keys.read()
QUICK = ["paper/3-1-balance", "paper/2-background", "appendix/d-datasets", "use/what-else"]
chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
quick = pytest.mark.parametrize("path", [ex.BOOK / f"{name}.md" for name in QUICK], ids=lambda p: p.stem)


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    monkeypatch.setattr(teach, "_memory", teach._Memory())


def play(notebook):
    """Run the code cells of a notebook in this Python; return what each check found."""
    space, found = {"__name__": "__main__"}, []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(cell.source, "<cell>", "exec"), space)
            if "check" in cell.metadata.get("tags", []):
                found.append(out.getvalue())
    table = teach.points()
    return table[["points", "of"]].drop("all"), found


# --- entries and key --------------------------------------------------------------------------------------------------


def test_every_exercise_has_an_entry_in_good_form():
    labels = [e.label for path in CHAPTERS for e in slices.chapter(path).exercises]
    assert len(labels) == len(set(labels)) >= 104
    assert set(labels) == set(ENTRIES)
    assert {label: problems for label in labels if (problems := list(entries.wrong(label, ENTRIES[label])))} == {}


def test_the_key_belongs_to_the_present_book():
    assert keys.stale(KEY) == {}, "python book/course/key.py makes a new key"
    assert len(KEY["exercises"]) == len(ENTRIES)


def test_a_changed_solution_makes_the_key_stale(monkeypatch):
    path = ex.BOOK / "paper/3-1-balance.md"
    page, exercise = slices.Chapter(path), slices.chapter(path).exercises[0]
    was = keys.source(page, 0, ENTRIES[exercise.label])
    page.exercises[0].statements[0].source += "  # changed"
    assert keys.source(page, 0, ENTRIES[exercise.label]) != was
    assert keys.source(page, 0, {**ENTRIES[exercise.label], "minutes": 99}) != was


@quick
def test_the_key_is_what_the_solutions_give(path):
    page = slices.chapter(path)
    for n, e in enumerate(page.exercises):
        assert keys.make(page, n, ENTRIES[e.label], KEY["salt"]) == KEY["exercises"][e.number]


@quick
def test_answers_can_be_read_nowhere(path):
    page = slices.chapter(path)
    shown = "\n".join(c.source for c in notebooks.student(path).cells)
    hashes = keys.KEY.read_text("utf-8")
    for n, e in enumerate(page.exercises):
        right = entries.attempt(page, n, ENTRIES[e.label]).right
        leaves = [v for form in right.values() for v in form.leaves.values()]
        for value in [
            v for v in leaves if isinstance(v, float) and v != float(f"{v:.3g}")
        ]:  # round ones stand everywhere
            digits = f"{abs(value):.4e}".partition("e")[0].replace(".", "")
            assert digits not in re.sub(r"\W", "", shown) and repr(value) not in hashes


NOTHING = (..., None, math.nan, [], {}, "", [...], {"a": None}, lambda *_, **__: None, lambda *_, **__: ...)


@pytest.mark.parametrize("number", list(KEY["exercises"]))
def test_nothing_never_passes(number, capsys):
    entry = KEY["exercises"][number]
    for nothing in NOTHING:
        outcome = teach.check(number, **dict.fromkeys(entry["answers"], nothing))
        assert outcome.points == 0 and not outcome.full
    assert teach.check(number).points == 0
    assert "nothing yet" in capsys.readouterr().out


INVENTED = [  # numbers of the right form that nobody worked out
    ("ex-43-made", {"reaches": dict.fromkeys(("published", "fair"), [0.5] * 3), "explained": dict.fromkeys(("published", "fair"), [1.0] * 3)}),
    *(("ex-cal-many", {"share": dict.fromkeys((12, 25, 50, 100, 200), v / 20)}) for v in range(8, 21)),
    *(("ex-ctr-shared", {"rows": dict.fromkeys((0, 1, 2, 4, 8), v / 20)}) for v in range(8, 21)),
    ("ex-a-noise", {"real_roots": [1, 2, 3, 4], "far_root": 1e6}),
    ("ex-1-newcomer", {"newcomer": (1, -5), "beta": 0.5}),
    ("ex-we-win", {"weights": [1 / 16] * 16, "ess": 16.0}),
    ("ex-we-win", {"weights": ..., "ess": 15.0}),
    ("ex-43-even", {"even": 0.93, "even_size": 12.0, "sound": {"adherence": 0.9, "explainability": 0.9}}),
    ("ex-choices-own", {"moved_by": 0.93, "share": 0.91}),
]  # fmt: skip


@pytest.mark.parametrize(("label", "given"), INVENTED, ids=lambda v: v if isinstance(v, str) else "")
def test_invented_numbers_get_nothing(label, given):
    (number,) = (n for n, e in KEY["exercises"].items() if e["label"] == label)
    outcome = teach.judge(number, given, None)
    assert outcome.points == 0
    assert not any("first digits" in text for text in outcome.messages), "a wrong method is not a rounded answer"


def test_bad_entries_are_found_out():
    good = ENTRIES["ex-31-price"]
    assert list(entries.wrong("x", good)) == []
    for change, words in (
        ({"title": "one two three four five six seven eight nine"}, "eight words"),
        ({"difficulty": "awful"}, "easy, medium or hard"),
        ({"points": 9}, "points"),
        ({"hints": ["one"]}, "two hints"),
        ({"objective": "fun"}, "none of"),
        ({"slips": []}, "at least one slip"),
        ({"slips": [{"is": "1 +", "say": "x", "of": "price"}]}, "no expression"),
        ({"slips": [{"is": "1", "say": "x", "of": "prize"}]}, "one of the answers"),
        ({"answers": {"f": {"points": 3, "calls": ["g(3)"]}}}, "does not ask"),
        ({"answers": {"price": {"points": 1}}}, "sum to 1"),
        ({"yours": {"dataset": "a", "among": ["a", "b"]}}, "own dataset"),
        ({"more": 1}, "no key"),
    ):
        assert any(words in what for what in entries.wrong("x", {**good, **change})), words
    assert list(entries.wrong("x", {k: v for k, v in good.items() if k != "say"})) == ["say is missing"]
    assert list(entries.wrong("x", "text")) == ["the entry is no mapping"]


def test_answers_and_slips_are_tried():
    page, entry = slices.chapter(ex.BOOK / "paper/3-1-balance.md"), ENTRIES["ex-31-price"]
    name = next(iter(entry["answers"]))

    def problems(**change):
        return " ".join(entries.attempt(page, 0, {**entry, **change}).problems)

    one = entry["answers"][name]
    assert problems() == ""
    assert "is the right answer" in problems(slips=[{"of": name, "is": name, "say": "x"}])
    assert "the same as slip 1" in problems(
        slips=2 * [{"of": name, "is": "{'ende21': 1.0, 'ende24': 9.0}", "say": "x"}]
    )
    assert "stops: NameError" in problems(slips=[{"of": name, "is": "nobody", "say": "x"}])
    assert "does not bind it" in problems(answers={"nobody": one}, slips=[])
    assert "passes the test" in problems(answers={name: {**one, "test": f"len([{name}]) == 1"}}, slips=[])
    assert "does not pass the test" in problems(answers={name: {**one, "test": f"{name} is None"}}, slips=[])
    assert "is a function" in problems(answers={"odds": one}, slips=[]) or "bind" in problems(
        answers={"odds": one}, slips=[]
    )


def test_a_key_twice_is_refused(tmp_path):
    (tmp_path / "a.yml").write_text("x: 1\nx: 2\n")
    with pytest.raises(ValueError, match="stands twice"):
        entries.load(tmp_path)
    (tmp_path / "a.yml").write_text("x: 1\n")
    (tmp_path / "b.yml").write_text("x: 2\n")
    with pytest.raises(ValueError, match="another file"):
        entries.load(tmp_path)


# --- notebooks --------------------------------------------------------------------------------------------------------


@chapter
def test_student_notebooks_hold_no_solution(path):
    """Nothing of the solutions, no figure, plain Markdown, and every name is known."""
    notebook, page = notebooks.student(path), slices.chapter(path)
    nbformat.validate(notebook)
    prose = "\n".join(re.sub(r"^```.*?^```$", "", c.source, flags=re.M | re.S) for c in notebook.cells if c.cell_type == "markdown")  # fmt: skip
    assert prose.startswith("# ") and not re.search(r"\{[\w:-]+\}`|^(:::|```+\{)|^\([\w-]+\)=$", prose, re.M)
    code = [c.source for c in notebook.cells if c.cell_type == "code"]
    given = {line.strip() for s in page.statements if s.exercise is None for line in s.source.splitlines()}
    names = ex.Names(path)
    for n, e in enumerate(page.exercises):
        assert f"## Exercise {e.number}: {ENTRIES[e.label]['title']}\n\n*{entries.facts(ENTRIES[e.label])}*" in prose
        for line in [line for line in e.words.splitlines() if len(line) > 30]:
            assert names.plain(line) not in prose
        hidden = {
            line.strip() for s in page.exercises[n].statements for line in s.source.splitlines() if len(line) > 20
        }
        for line in hidden - given:
            assert line.startswith(("import ", "from ", "def ")) or not any(line in source for source in code)
        for said in [entry["say"] for entry in ENTRIES[e.label]["slips"]] + ENTRIES[e.label]["hints"]:
            assert said not in prose
    known = set(dir(builtins))
    for source in code:
        assert not re.search(r"\bplt\.|\bax\.|\.plot\(|\bsay\(|glue\(", source), "a figure, or a number for the book"
        tree = ast.parse(source)
        assert slices.Flow(known).run(tree.body).free == set()
        known |= {n for node in tree.body for n in slices.Statement("", node, 0, None).changes}
    assert notebooks.student(path) == notebook


LABEL = re.compile(r"(?<![\w/])(?:fig|sec|prop|def|thm|lem|cor|rem|alg|eq|ex|tab)-[a-z0-9][\w-]*")
ELSEWHERE = re.compile(
    r"\bfigure \d|\b(?:figures?|tables?|pictures?|plots?|proofs?|found|cells?) (?:above|below)|\bpicture\b"
)


@chapter
def test_student_notebooks_have_no_holes(path):
    """No raw label; what an exercise takes from a figure or a table of its page is said in `here`; what it cites stands in the notebook."""
    page, names = slices.chapter(path), ex.Names(path)
    cells = [c.source for c in notebooks.student(path).cells if c.cell_type == "markdown"]
    assert not [m[0] for text in cells for m in LABEL.finditer(text)]
    assert not [m[0] for text in cells for m in re.finditer(r"\{[\w:-]+\}`", text)]
    for e in page.exercises:
        asked = " ".join(names.plain(ex.CELL.sub("", e.text)).split())
        if found := ELSEWHERE.search(asked):
            assert "here" in ENTRIES[e.label], (
                f"{e.number} {e.label} refers to {found[0]!r}, which its notebook does not show: say in `here` what it needs of it"
            )
        for quoted in names.statements(e.text):
            assert any(quoted in text for text in cells)
    code = "\n".join(c.source for c in notebooks.student(path).cells if c.cell_type == "code")
    assert not re.search(r"(?:#|\"\"\").*\b(?:theorem|definition|proposition|figure|table) (?:above|below)", code)


@chapter
def test_teacher_notebooks_hold_everything(path):
    notebook, page = notebooks.teacher(path), slices.chapter(path)
    nbformat.validate(notebook)
    text = "\n".join(c.source for c in notebook.cells)
    for n, e in enumerate(page.exercises):
        entry = ENTRIES[e.label]
        work = [c.source for c in notebook.cells if c.metadata.get("tags") == ["work", f"exercise-{n}"]]
        assert work == [notebooks.solution(page, n, entry, whole=True)]
        for words in [*entry["hints"], *(s["say"] for s in entry["slips"]), entry["marking"]]:
            assert " ".join(words.split()).replace("|", "\\|") in text


@quick
def test_runs_empty_and_filled(path):
    """Unfilled, every check says that nothing is there; with the book's work all points are got, with other datasets, too."""
    table, said = play(notebooks.student(path))
    assert (table["points"] == 0).all() and all("nothing yet" in text for text in said)
    for number in (None, 3):
        notebook = notebooks.filled(path)
        for cell in notebook.cells:
            cell.source = cell.source.replace(notebooks.NUMBER, f"student = {number}")
        table, said = play(notebook)
        assert len(table) == len(slices.chapter(path).exercises)
        assert (table["points"] == table["of"]).all(), said


@quick
def test_every_slip_gets_its_sentence(path):
    for number, wanted, got in notebooks.slips(path):
        assert got == wanted, number


def test_runs_in_a_kernel():
    path = ex.BOOK / "paper/3-1-balance.md"
    found = notebooks.outcome(notebook := notebooks.filled(path), 5)
    assert found and all(got == of for got, of in found.values())
    assert all("right." in text for text in notebooks.said(notebook))


def test_all_are_written_and_nothing_else_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(ex, "chapters", lambda: CHAPTERS[-2:])
    written = notebooks.write(tmp_path) + export.write(tmp_path)
    assert sorted(tmp_path.rglob("*.ipynb")) == sorted(written) and len(written) == 8
    assert {p.name for p in tmp_path.iterdir() if p.is_dir()} == {"student", "teacher", "nbgrader", "otter"}
    monkeypatch.setattr(ex, "chapters", lambda: CHAPTERS[-1:])
    assert len(notebooks.write(tmp_path) + export.write(tmp_path)) == 4 == len(list(tmp_path.rglob("*.ipynb")))


def folder_of(tmp_path):
    return {p.relative_to(tmp_path).as_posix(): p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    ("write", "name", "file"),
    [
        (notebooks.write, "student", "mine.ipynb"),
        (notebooks.write, "teacher", "paper/notes.txt"),
        (export.write, "nbgrader", "submitted/ann/x/x.ipynb"),
        (export.write, "otter", "x/dist/x.zip"),
    ],
)
def test_what_others_put_there_is_not_overwritten(tmp_path, monkeypatch, capsys, write, name, file):
    """Submissions lie where nbgrader was exported to: a second export leaves them alone, in a sentence. So with what was made and then changed."""
    monkeypatch.setattr(ex, "chapters", lambda: CHAPTERS[-1:])
    (one, *_) = [p for p in write(tmp_path) if name in p.relative_to(tmp_path).parts[:1]]
    (tmp_path / name / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name / file).write_text("work of hours")
    before = folder_of(tmp_path)
    with pytest.raises(ValueError, match=f"{name} holds {file}, which was not made here") as error:
        write(tmp_path)
    assert "\n" not in str(error.value) and folder_of(tmp_path) == before
    (tmp_path / name / file).unlink()
    one.write_text(one.read_text("utf-8") + " ")
    before = folder_of(tmp_path)
    with pytest.raises(ValueError, match="has been changed"):
        write(tmp_path)
    assert folder_of(tmp_path) == before


def test_a_file_where_a_folder_should_be_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(ex, "chapters", lambda: CHAPTERS[-1:])
    (tmp_path / "otter").write_text("x")
    with pytest.raises(ValueError, match="is a file"):
        export.write(tmp_path)
    assert folder_of(tmp_path) == {"otter": b"x"}


@pytest.mark.parametrize(
    ("program", "said"), [(notebooks.main, "No notebooks were made"), (export.main, "Nothing was exported")]
)
def test_bad_input_is_one_sentence(tmp_path, monkeypatch, program, said):
    """An exercise without an entry, an entry without answers, a key that is older than the book."""
    monkeypatch.setattr(ex, "chapters", lambda: CHAPTERS[-1:])
    monkeypatch.setattr(notebooks, "OUT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["program"])
    label = slices.chapter(CHAPTERS[-1]).exercises[0].label

    def refused(words):
        with pytest.raises(SystemExit) as error:
            program()
        text = str(error.value)
        assert text.startswith(said) and words in text and "\n" not in text and text.endswith(".")
        assert folder_of(tmp_path) == {}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entries, "load", lambda: {k: v for k, v in ENTRIES.items() if k != label})
        refused("has no entry in book/course/exercises")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entries, "load", lambda: {**ENTRIES, label: {**ENTRIES[label], "answers": {}}})
        refused("make key makes a new one")
    with pytest.MonkeyPatch.context() as patch:
        old = {n: {**e, "source": "0"} if e["label"] == label else e for n, e in KEY["exercises"].items()}
        patch.setattr(keys, "read", lambda: {**KEY, "exercises": old})
        refused("the key is older than the book")


@chapter
def test_exports_have_the_points_of_the_entries(path):
    page = slices.chapter(path)
    wanted = [ENTRIES[e.label]["points"] for e in page.exercises]
    marked = [c.metadata["nbgrader"] for c in export.nbgrader(path).cells if "nbgrader" in c.metadata]
    assert [m["points"] for m in marked if m["grade"]] == wanted
    assert len({m["grade_id"] for m in marked}) == len(marked)
    raw = [c.source for c in export.otter(path).cells if c.cell_type == "raw"]
    points = [ast.literal_eval(m[1]) for text in raw if (m := re.search(r"^points: (.+)$", text, re.M))]
    assert [sum(p) for p in points] == wanted
    assert raw.count("# BEGIN TESTS") == raw.count("# END QUESTION") == len(wanted)


# --- slices -----------------------------------------------------------------------------------------------------------


def page_of(tmp_path, monkeypatch, *cells, solution="answer = x"):
    text = "# Title\n\n" + "".join(f"```{{code-cell}} ipython3\n{c}\n```\n\n" for c in cells)
    text += "```{exercise-start}\n:label: ex-made\n```\nWhat?\n```{exercise-end}\n```\n"
    text += (
        "````{solution-start} ex-made\n:class: dropdown\n````\n```{code-cell} ipython3\n"
        + solution
        + "\n```\n````{solution-end}\n````\n"
    )
    monkeypatch.setattr(ex, "BOOK", tmp_path)
    (tmp_path / "made.md").write_text(text)
    monkeypatch.setattr(ex.numbering, "chapters", dict)
    monkeypatch.setattr(slices, "ex", ex)
    path = tmp_path / "made.md"
    monkeypatch.setattr(ex, "BOOK", tmp_path / "book")
    (tmp_path / "book").mkdir(exist_ok=True)
    return slices.Chapter(path)


@pytest.mark.parametrize(
    "cells, kept",
    [
        (["x = 1\ny = 2"], ["x = 1"]),
        (["x = 1", "x = 2"], ["x = 2"]),
        (["x = 1", "x += 1", "y = x"], ["x = 1", "x += 1"]),
        (["x = []", "y = 3", "x.append(y)", "print(x)"], ["x = []", "y = 3", "x.append(y)"]),
        (["x = {}", "for n in range(3):\n    x[n] = n", "for n in range(9):\n    print(n)"], ["x = {}", "for n in range(3):\n    x[n] = n"]),
        (["k = 2", "def g():\n    return k", "k = 3", "x = g()"], ["k = 2", "def g():\n    return k", "k = 3", "x = g()"]),
        (["try:\n    x = 1\nexcept E as k:\n    print(k)", "y = 1"], ["try:\n    x = 1\nexcept E as k:\n    print(k)"]),
        (["k = 2", "k = [k for k in range(3)]", "x = 1"], ["x = 1"]),
        (["a = 1", "if a:\n    x = 1\nelse:\n    x = 2", "x_ = 0"], ["a = 1", "if a:\n    x = 1\nelse:\n    x = 2"]),
        (["x = 0", "if 1:\n    x = 1"], ["x = 0", "if 1:\n    x = 1"]),
        (["fig, ax = plt.subplots()", "x = 1", "ax.plot(x)", "say(x=x)", "assert x"], ["x = 1"]),
        (["x = y = z = 0"], ["x = y = z = 0"]),
        (["(x := 3)"], ["(x := 3)"]),
        (["t = make()", 't.to_csv(folder / "a.csv")', 't.to_csv(folder / "b.csv")', 'x = read(folder / "a.csv")'],
         ["t = make()", 't.to_csv(folder / "a.csv")', 'x = read(folder / "a.csv")']),
        (["import numpy as np", "rng = np.random.default_rng(1)", "u = rng.normal()", "v = 3", "x = rng.normal()"],
         ["import numpy as np", "rng = np.random.default_rng(1)", "u = rng.normal()", "x = rng.normal()"]),
    ],
)  # fmt: skip
def test_only_what_is_needed_is_kept(tmp_path, monkeypatch, cells, kept):
    page = page_of(tmp_path, monkeypatch, *cells)
    assert [s.source for s in page.slice(0, {"x"})] == kept


def test_of_a_solution_only_what_makes_the_answers(tmp_path, monkeypatch):
    page = page_of(tmp_path, monkeypatch, "x, rng = 1, 2", solution="y = rng\nanswer = x + 1\nassert answer\nprint(y)")
    assert [s.source for s in page.core(0, {"answer"})] == ["answer = x + 1"]


def test_the_name_of_a_dataset_becomes_yours():
    assert entries.replaced("β = pools[\"ende24\"], 'ende24', 'ende2'", "ende24") == "β = pools[yours], yours, 'ende2'"
    assert entries.replaced('f"{d} ende24"', "ende24") == 'f"{d} ende24"'


def test_what_an_exercise_undoes_is_done_again(tmp_path, monkeypatch):
    page = page_of(tmp_path, monkeypatch, 'd = load("ende24")', "b = size(d)")
    given = [(s, False) for s in page.statements[:2]]
    versions = notebooks.Versions(page)
    assert versions.missing(given, {"b"}, None) == given
    for s, changed in given:
        versions.run(s, changed)
    assert versions.missing(given, {"b"}, None) == []
    versions.run(page.statements[0], True)  # with another dataset
    assert versions.missing(given, {"d"}, None) == given[:1]
    assert versions.missing(given, {"d", "b"}, None) == given[:1]  # b still is the book's
    versions.now["b"] = "work"
    assert versions.missing(given, {"b"}, None) == given
    assert versions.missing([(given[0][0], True), (given[1][0], True)], {"b"}, 1) == [
        (given[0][0], True),
        (given[1][0], True),
    ]


def test_an_import_is_cut_down():
    s = slices.Statement("", ast.parse("from a.b import c, d as e, f").body[0], 0, None)
    assert slices.used(s, {"e", "c"}) == "from a.b import c, d as e"


def test_blanks_show_what_a_function_takes(tmp_path, monkeypatch):
    page = page_of(tmp_path, monkeypatch, "x = 1", solution="def f(a, *, b=1):\n    return a\ng = lambda z: z\nh = 2")
    blank = notebooks.blank(page, 0, {"answers": {"f": {}, "g": {}, "h": {}}})
    assert blank == "# Your answer: replace each ...\ndef f(a, *, b=1):\n    ...\ng = lambda z: ...\nh = ..."
