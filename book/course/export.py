"""The student notebooks for two graders, nbgrader and Otter: same cells, same checks, same points, in the form that each of them reads.

    python book/course/export.py [folder]        writes <folder>/nbgrader and <folder>/otter (_build/exercises if none is named)

Both mark in a process that no student's code shares (`whichbird_book.teach.mark`): nbgrader through a preprocessor that `nbgrader_config.py` names, Otter through a plug-in.

nbgrader: `nbgrader/source/<chapter>/<chapter>.ipynb` and `nbgrader_config.py`; in `nbgrader/`, `nbgrader generate_assignment 3-1-balance` makes the students' version, `nbgrader
autograde` marks what comes back. It starts other programs of its own environment, so that one must be active (on PATH).
Otter: `otter/<chapter>/<chapter>.ipynb`; `otter assign <chapter>.ipynb dist` makes the students' version and an autograder, `otter run` marks. Each answer is a test of its own.

Neither is needed to write the files. tests/test_course_marks.py runs both, where `make .venv-course/.ready` has installed them.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import entries
import exercises as ex
import made
import notebooks
import slices

CONFIG = '''\
"""Settings of nbgrader for the exercises of Whichbird."""

c = get_config()
c.CourseDirectory.course_id = "whichbird"
c.ClearSolutions.code_stub = {"python": ""}  # cells begin with the names to fill in
c.IncludeHeaderFooter.header = ""
# Submissions are run and marked by Whichbird, where no student's code reaches: what nbgrader does by default, with Mark in the place of Execute
c.Autograde.autograde_preprocessors = [
    "whichbird_book.teach.with_nbgrader.Mark",
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
'''
ASSIGNMENT = """\
# ASSIGNMENT CONFIG
name: {name}
init_cell: true
export_cell: false
check_all_cell: false
solutions_pdf: false
generate: true
requirements: requirements.txt
overwrite_requirements: false
plugins:
    - whichbird_book.teach.with_otter.Marks: {questions}
tests:
    files: false
    ok_format: false"""
PACKAGES = "whichbird[course]\n"


def nbgrader(path: Path) -> nbformat.NotebookNode:
    """The notebook of a chapter as nbgrader's source: solutions between marks, checks with points."""
    chapter, known = slices.chapter(path), entries.load()
    notebook = notebooks.student(path)
    for number, cell in enumerate(notebook.cells):
        tags = cell.metadata.pop("tags", [])
        mark = {
            "grade": False,
            "grade_id": f"cell-{number}",
            "locked": False,
            "schema_version": 3,
            "solution": False,
            "task": False,
        }
        if "blank" in tags:
            e, entry, n = _exercise(chapter, known, tags)
            work = notebooks.solution(chapter, n, entry, whole=False)
            cell.source = f"{cell.source}\n### BEGIN SOLUTION\n{work}\n### END SOLUTION"
            mark |= {"solution": True, "grade_id": f"answer-{_id(e)}"}
        elif "check" in tags:
            e, entry, n = _exercise(chapter, known, tags)
            cell.source = f"{notebooks.call(e, entry)}.points"
            mark |= {"grade": True, "locked": True, "points": entry["points"], "grade_id": f"check-{_id(e)}"}
        elif "given" in tags:
            mark |= {"locked": True}
        else:
            continue
        cell.metadata["nbgrader"] = mark
    return notebook


def otter(path: Path) -> nbformat.NotebookNode:
    """The notebook of a chapter as Otter's master: raw cells mark questions, solutions and tests."""
    chapter, known = slices.chapter(path), entries.load()
    questions = {f"q{_id(e)}": e.number for e in chapter.exercises}
    cells = [_raw(ASSIGNMENT.format(name=path.stem, questions=json.dumps(questions)))]
    for cell in notebooks.student(path).cells:
        tags = cell.metadata.pop("tags", [])
        if "blank" in tags:
            e, entry, n = _exercise(chapter, known, tags)
            work = notebooks.solution(chapter, n, entry, whole=False)
            prompt = f'""" # BEGIN PROMPT\n{cell.source}\n""" # END PROMPT'
            cell.source = f"# BEGIN SOLUTION NO PROMPT\n{work}\n# END SOLUTION\n{prompt}"
            question = _raw(
                f"# BEGIN QUESTION\nname: q{_id(e)}\npoints: {json.dumps([a['points'] for a in entry['answers'].values()])}"
            )
            cells += [question, _raw("# BEGIN SOLUTION"), cell, _raw("# END SOLUTION")]
        elif "check" in tags:
            e, entry, n = _exercise(chapter, known, tags)
            cells += [
                _raw("# BEGIN TESTS"),
                *(_test(e, entry, name) for name in entry["answers"]),
                _raw("# END TESTS"),
                _raw("# END QUESTION"),
            ]
            cells.append(cell)  # Otter counts, this one says what it sees
        else:
            cells.append(cell)
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return notebook


def _test(e: slices.Exercise, entry: dict[str, Any], name: str) -> nbformat.NotebookNode:
    """One answer is asked for, but all are handed over: the test of one may read another."""
    names = ", ".join(entry["answers"])
    asked = f'assert "{name}" in {notebooks.call(e, entry)}.right'
    return nbformat.v4.new_code_cell(f"def test_{name}({names}):\n    import whichbird_book as book\n    {asked}")


def _raw(source: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_raw_cell(source)


def _exercise(
    chapter: slices.Chapter, known: dict[str, Any], tags: list[str]
) -> tuple[slices.Exercise, dict[str, Any], int]:
    n = int(tags[1].rpartition("-")[2])
    e = chapter.exercises[n]
    return e, known[e.label], n


def _id(e: slices.Exercise) -> str:
    return e.number.replace(".", "-").replace("your-own-scores", "own")


def write(folder: Path) -> list[Path]:
    """Write both forms below a folder, and return where the notebooks are."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    notebooks.ready(folder / "nbgrader", folder / "otter")
    with tempfile.TemporaryDirectory(dir=folder, prefix=".export.") as part:
        for path in ex.chapters():
            for target, notebook in (
                (Path(part, "nbgrader/source", path.stem, f"{path.stem}.ipynb"), nbgrader(path)),
                (Path(part, "otter", path.stem, f"{path.stem}.ipynb"), otter(path)),
            ):
                target.parent.mkdir(parents=True)
                nbformat.write(notebook, target)
                written.append(folder / target.relative_to(part))
            Path(part, "otter", path.stem, "requirements.txt").write_text(PACKAGES, "utf-8")
        Path(part, "nbgrader/nbgrader_config.py").write_text(CONFIG, "utf-8")
        for name in ("nbgrader", "otter"):
            made.put(Path(part, name), folder / name)
    return written


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else notebooks.OUT
    try:
        print(f"{len(write(folder))} notebooks for nbgrader and Otter are in {folder}")
    except ValueError as error:
        raise SystemExit(f"Nothing was exported: {error}.") from None


if __name__ == "__main__":
    main()
