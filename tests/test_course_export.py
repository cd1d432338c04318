"""What is written for nbgrader and Otter, tried out with the two: the book's work gets all points, an empty notebook none.

Both live in an environment of their own (`make .venv-course/.ready`); without it these tests are skipped.
"""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "book"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "book" / "course"))
import entries
import exercises as ex
import export
import slices

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ROOT / ".venv-course" / "bin"
PAGE = ex.BOOK / "paper" / "3-1-balance.md"

pytestmark = pytest.mark.skipif(
    not (TOOLS / "nbgrader").exists(), reason="nbgrader and Otter are not there; make .venv-course/.ready installs them"
)


def run(*command, cwd):
    path = os.pathsep.join([str(TOOLS), os.environ["PATH"]])
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=os.environ | {"PATH": path})
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ex, "chapters", lambda: [PAGE])
        export.write(folder)
    return folder


def points():
    known = entries.load()
    return [known[e.label]["points"] for e in slices.chapter(PAGE).exercises]


def test_nbgrader_marks_them(exported):
    course, name = exported / "nbgrader", PAGE.stem
    run(TOOLS / "nbgrader", "generate_assignment", name, cwd=course)
    source, release = (nbformat.read(course / kind / name / f"{name}.ipynb", 4) for kind in ("source", "release"))
    assert not any("SOLUTION" in c.source for c in release.cells)
    for student in ("empty", "full"):
        for cell, solved in zip(release.cells, source.cells, strict=True):
            if student == "full" and cell.metadata.get("nbgrader", {}).get("solution"):
                cell.source = solved.source
        target = course / "submitted" / student / name / f"{name}.ipynb"
        target.parent.mkdir(parents=True)
        nbformat.write(release, target)
    run(TOOLS / "nbgrader", "autograde", name, cwd=course)
    run(TOOLS / "nbgrader", "export", cwd=course)
    with open(course / "grades.csv", encoding="utf-8") as file:
        scores = {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(file)}
    assert scores == {"empty": (0, sum(points())), "full": (sum(points()), sum(points()))}


def test_otter_marks_them(exported):
    folder, name = exported / "otter" / PAGE.stem, PAGE.stem
    run(TOOLS / "otter", "assign", f"{name}.ipynb", "dist", cwd=folder)  # this runs the tests on the solutions, too
    (grader,) = (folder / "dist" / "autograder").glob("*.zip")
    for kind, share in (("autograder", 1), ("student", 0)):
        (folder / f"out-{kind}").mkdir()
        run(TOOLS / "otter", "run", "-a", grader, "-o", f"out-{kind}", f"dist/{kind}/{name}.ipynb", cwd=folder)
        tests = json.loads((folder / f"out-{kind}" / "results.json").read_text())["tests"]
        scores = [(t["score"], t["max_score"]) for t in tests if t["name"].startswith("q")]
        assert scores == [(share * p, p) for p in points()]
