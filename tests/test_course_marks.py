"""Marks: what is handed in runs in a kernel, and its values are judged in an interpreter that none of its code reaches.

Four kinds of submission go through each marker: empty, solved, cheating, and with an error that others follow from. nbgrader and Otter live in an environment of
their own (`make .venv-course/.ready`); without it their tests are skipped, and those of `whichbird_book.teach.mark`, to which both come, run all the same.
"""

import csv
import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "book"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "book" / "course"))
import entries
import exercises as ex
import export
import notebooks
import slices

from whichbird_book.teach import check, forms, mark, values

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ROOT / ".venv-course" / "bin"
PAGES = {"balance": ex.BOOK / "paper" / "3-1-balance.md", "noise": ex.BOOK / "sure" / "noise.md"}
graders = pytest.mark.skipif(
    not (TOOLS / "nbgrader").exists(), reason="nbgrader and Otter are not there; make .venv-course/.ready installs them"
)

CHEATS = {
    "rebinds the check": "import whichbird_book as book\nbook.check = lambda *a, **k: type('O', (), {'points': 99, 'right': {*k}})()",
    "patches the key": "from whichbird_book.teach import check\ncheck.judge = lambda number, given, s: check.Outcome(number, 9, 9, ('right.',), frozenset(given))",
    "patches the forms": "from whichbird_book.teach import forms\nforms.Kept.accepts = lambda *a: True\nforms.empty = lambda v: False",
    "equals everything": "class Yes(float):\n    __eq__ = __lt__ = __gt__ = lambda s, o: True\n    __hash__ = float.__hash__\nprice = u = size = u_long = Yes(1)",
    "shows what it likes": "from whichbird_book.teach import values\nvalues.answers = lambda e, s: {'exercise': e, 'student': None, 'answers': {n: {'points': 9} for n in 'abc'}}",
    "ends": "import os\nos._exit(0)",
}


def known(page):
    return [entries.load()[e.label] for e in slices.chapter(PAGES[page]).exercises]


def cheating(page, code):
    """An empty notebook with one more cell, before its first exercise."""
    notebook = notebooks.student(PAGES[page])
    first = next(n for n, c in enumerate(notebook.cells) if "blank" in c.metadata.get("tags", []))
    notebook.cells[first].source += "\n" + code
    return notebook


@pytest.fixture(scope="module")
def solved():
    return mark.mark(notebooks.filled(PAGES["balance"]))


def test_solved_gets_all_and_says_so(solved):
    done, marks = solved
    assert (
        [m["points"] for m in marks.values()]
        == [e["points"] for e in known("balance")]
        == [m["of"] for m in marks.values()]
    )
    assert all("right." in text for m in marks.values() for text in m["messages"])
    assert not any("whichbird_reads" in c.metadata for c in done.cells)


def test_empty_gets_none():
    _, marks = mark.mark(notebooks.student(PAGES["balance"]))
    assert sum(m["points"] for m in marks.values()) == 0 and sum(m["of"] for m in marks.values()) == sum(
        e["points"] for e in known("balance")
    )
    assert all("nothing yet" in text for m in marks.values() for text in m["messages"])


@pytest.mark.parametrize("cheat", CHEATS)
def test_cheating_gets_none(cheat):
    _, marks = mark.mark(cheating("balance", CHEATS[cheat]))
    assert sum(m["points"] for m in marks.values()) == 0, marks
    assert len(marks) == len(known("balance"))


def test_what_follows_from_an_error_is_not_accused_of_another():
    """7.1.1 of old: one wrong variance, and what is subtracted from it."""
    notebook = notebooks.filled(PAGES["noise"])
    for cell in notebook.cells:
        if cell.metadata.get("tags", [""])[-1] == "exercise-0" and "blank" in cell.metadata.tags:
            cell.source += "\nobserved = 2 * observed\ncorrected = observed - noise"
    _, marks = mark.mark(notebook)
    first = next(iter(marks.values()))
    said = {text.split(": ")[0].split()[1]: text for text in first["messages"]}
    assert first["points"] == 1 and "right." in said["noise"] and "K − 1" in said["observed"]
    assert said["corrected"].endswith("not yet. It builds on observed, so mend that first, and work this out again.")
    assert all(m["points"] == m["of"] for n, m in marks.items() if n != next(iter(marks)))


def test_an_exercise_whose_check_was_taken_out_is_read_at_the_end():
    notebook = notebooks.filled(PAGES["balance"])
    notebook.cells = [c for c in notebook.cells if "3.1.2" not in c.source or c.cell_type == "markdown"]
    _, marks = mark.mark(notebook)
    assert marks["3.1.2"]["points"] == marks["3.1.2"]["of"]


def test_a_notebook_of_something_else_is_refused():
    with pytest.raises(ValueError, match="no exercise of the book"):
        mark.mark(nbformat.v4.new_notebook(cells=[new_code_cell("1 + 1")]))


def test_a_folder_is_marked_and_nothing_is_overwritten(tmp_path, capsys):
    place = tmp_path / "in"
    (place / "ann").mkdir(parents=True)
    nbformat.write(notebooks.student(PAGES["balance"]), place / "ann" / "empty.ipynb")
    (place / "broken.ipynb").write_text("{")
    out = tmp_path / "marks.csv"
    assert mark.main([str(place), "--out", str(out)]) == 1  # one could not be marked
    assert "Not marked: broken.ipynb" in capsys.readouterr().err
    rows = list(csv.DictReader(out.open(encoding="utf-8")))
    assert {row["notebook"] for row in rows} == {str(Path("ann", "empty.ipynb"))} and {
        row["points"] for row in rows
    } == {"0"}
    was = out.read_text("utf-8")
    for wrong, words in (
        ([str(place), "--out", str(out)], "exists already"),
        ([str(tmp_path / "nowhere"), "--out", str(tmp_path / "b.csv")], "there is no"),
        ([str(tmp_path / "in" / "ann" / ".."), "--out", str(out)], "exists already"),
    ):
        assert mark.main(wrong) == 1 and words in capsys.readouterr().err
    (tmp_path / "none").mkdir()
    assert mark.main([str(tmp_path / "none"), "--out", str(tmp_path / "c.csv")]) == 1
    assert "no notebook" in capsys.readouterr().err and out.read_text("utf-8") == was


# --- the judge, and what travels to it --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        None, True, 7, -2.5, float("inf"), "BLEU", [1, [2.5, "x"]], {"a": {"b": 1}}, {(0, 1): 2}, {1, 2}, np.arange(6.0).reshape(2, 3),
        np.array(["a", "b"]), pd.Series([1.5, 2.5]), pd.Series({"a": 1, "b": 2}), pd.DataFrame({"x": [1.5], "y": ["z"]}, index=["r"]), np.float64(2.5),
    ],
    ids=str,
)  # fmt: skip
def test_values_arrive_as_they_were(value):
    back = values.unpack(json.loads(json.dumps(values.pack(value), allow_nan=False)))
    if value is None:
        assert back is None
    else:
        assert forms.form(back) == forms.form(value)


def test_what_cannot_travel_is_said():
    for thing in (len, object(), lambda: 1, np.zeros(300_000)):
        with pytest.raises(forms.NoForm):
            values.pack(thing)
    loop = []
    loop.append(loop)
    with pytest.raises(forms.NoForm, match="too many"):
        values.pack(loop)
    with pytest.raises(ValueError, match="kind 'code'"):
        values.unpack({"code": "1"})


def test_the_judge_takes_nothing_but_values():
    with mark.Judge() as judge:
        for strange in (
            {"value": {"code": "boom"}},
            {"value": {"list": 3}},
            {"points": 9},
            {"value": {"a": 1, "b": 2}},
            {"problem": ["x"]},
        ):
            found = judge({"3.1.1": {"student": None, "answers": {"price": strange}}})["3.1.1"]
            assert found["points"] == 0 and len(found["messages"]) == 1
        assert judge({"3.1.1": {"student": {"list": []}, "answers": {"price": {"value": 1.0}}}})["3.1.1"]["points"] == 0


def test_an_old_key_marks_nobody(tmp_path, monkeypatch, capsys):
    """It gave everybody no point, with 'it cannot be judged'."""
    key = json.loads(check.KEY.read_text("utf-8"))
    first = key["exercises"]["3.1.1"]
    right = next(iter(next(iter(first["answers"].values()))["right"].values()))
    right["items"] = {path: [h, h] for path, h in right["items"].items()}
    monkeypatch.setattr(mark, "_key", lambda: key)
    monkeypatch.setattr(sys, "stdin", io.StringIO("{}\n"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", sys.stdout)  # `_serve` turns it away
        mark._serve()
    said = f"the key of {first['label']} is older than this library; make key makes a new one"
    assert capsys.readouterr().out == said + "\n"

    popen = subprocess.Popen
    monkeypatch.setattr(
        mark.subprocess, "Popen", lambda command, **more: popen([sys.executable, "-c", f"print({said!r})"], **more)
    )
    nbformat.write(notebooks.student(PAGES["balance"]), tmp_path / "one.ipynb")
    assert mark.main([str(tmp_path), "--out", str(tmp_path / "marks.csv")]) == 1
    assert capsys.readouterr().err == f"Nothing was marked: {said}.\n" and not (tmp_path / "marks.csv").exists()


def test_the_key_is_slow_to_try():
    """Every number is hashed at full cost: a hundred thousand candidates (four digits, ten powers of ten) take minutes, not the hundredth of a second of SHA-256."""
    assert forms.COST >= 2**10
    made = hashlib.scrypt(
        "\x1f".join(("number", "4", "-1", "1234")).encode(), salt=b"s", n=forms.COST, r=8, p=1, dklen=5
    ).hex()
    assert forms.kept("s", 0.1234, 4) == made
    key = json.loads(check.KEY.read_text("utf-8"))
    for entry in key["exercises"].values():
        for answer in entry["answers"].values():
            assert all(isinstance(h, str) for right in answer["right"].values() for h in right["items"].values()), (
                "one hash a value, no coarse one"
            )


# --- nbgrader and Otter -----------------------------------------------------------------------------------------------


def run(*command, cwd):
    path = os.pathsep.join([str(TOOLS), os.environ["PATH"]])
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=os.environ | {"PATH": path})
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ex, "chapters", lambda: list(PAGES.values()))
        export.write(folder)
    return folder


def handed_in(release, solution, page):
    """What four students hand in, of a released notebook: kind → notebook, and the points it should get."""
    import copy

    most, out = sum(e["points"] for e in known(page)), {}
    blanks = [
        n
        for n, c in enumerate(release.cells)
        if c.cell_type == "code" and "= ..." in c.source and "student = ..." not in c.source
    ]
    full = copy.deepcopy(release)
    for n, source in zip(blanks, solution, strict=True):
        full.cells[n].source = source
    out["empty"], out["full"] = (release, 0), (full, most)
    cheat = copy.deepcopy(release)
    cheat.cells[blanks[0]].source += "\n" + CHEATS["rebinds the check"] + "\n" + CHEATS["patches the key"]
    out["cheat"] = (cheat, 0)
    if page == "noise":
        follows = copy.deepcopy(full)
        follows.cells[blanks[0]].source += "\nobserved = 2 * observed\ncorrected = observed - noise"
        out["follows"] = (follows, most - 2)
    return out


def work(page):
    chapter = slices.chapter(PAGES[page])
    return [notebooks.solution(chapter, n, e, whole=False) for n, e in enumerate(known(page))]


@graders
@pytest.mark.parametrize("page", PAGES)
def test_nbgrader_marks_them(exported, page):
    course, name = exported / "nbgrader", PAGES[page].stem
    run(TOOLS / "nbgrader", "generate_assignment", name, cwd=course)
    release = nbformat.read(course / "release" / name / f"{name}.ipynb", 4)
    assert not any("SOLUTION" in c.source for c in release.cells)
    wanted = {}
    for student, (notebook, points) in handed_in(release, work(page), page).items():
        target = course / "submitted" / student / name / f"{name}.ipynb"
        target.parent.mkdir(parents=True)
        nbformat.write(notebook, target)
        wanted[student] = points
    run(TOOLS / "nbgrader", "autograde", name, cwd=course)
    run(TOOLS / "nbgrader", "export", cwd=course)
    with open(course / "grades.csv", encoding="utf-8") as file:
        scores = {
            row["student_id"]: float(row["score"])
            for row in csv.DictReader(file)
            if row["assignment"] == name and row["student_id"] in wanted
        }
    assert scores == wanted
    done = nbformat.read(course / "autograded" / "cheat" / name / f"{name}.ipynb", 4)
    assert "nothing yet" in "".join(o.get("text", "") for c in done.cells for o in c.get("outputs", []))


@graders
@pytest.mark.parametrize("page", PAGES)
def test_otter_marks_them(exported, page):
    folder, name = exported / "otter" / PAGES[page].stem, PAGES[page].stem
    run(TOOLS / "otter", "assign", f"{name}.ipynb", "dist", cwd=folder)  # this runs the tests on the solutions, too
    (grader,) = (folder / "dist" / "autograder").glob("*.zip")
    release = nbformat.read(folder / "dist" / "student" / f"{name}.ipynb", 4)
    for kind, (notebook, points) in handed_in(release, work(page), page).items():
        nbformat.write(notebook, folder / f"{kind}.ipynb")
        (folder / f"out-{kind}").mkdir()
        run(TOOLS / "otter", "run", "-a", grader, "-o", f"out-{kind}", f"{kind}.ipynb", cwd=folder)
        tests = json.loads((folder / f"out-{kind}" / "results.json").read_text())["tests"]
        assert sum(t["score"] for t in tests if t["name"].startswith("q")) == points, kind
