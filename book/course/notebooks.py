"""Notebooks for a course: for each chapter with exercises one for students and one for teachers.

    python book/course/notebooks.py [--check]        writes _build/exercises/student and _build/exercises/teacher

A student's notebook has only what the exercises need of their chapter (`slices.py`), no figure, and for each exercise its text, a blank and a
check. A teacher's has the book's work in the blank, its words, and hints, slips and marking from book/course/exercises. Where an exercise has a dataset
for each student, the code says `yours` in the place of the dataset's name, in both. `--check` runs every notebook, empty and with the book's work.

Each exercise stands by itself. Before it come the statements that it needs and that are not in effect: not yet run, or undone by an exercise before. For
this the names of a chapter have versions: the statement that made them, and the versions of what it read.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import entries
import execute
import exercises as ex
import key as keys
import made
import slices

HERE = Path(__file__).resolve().parent
OUT = HERE.parents[1] / "_build/exercises"
KINDS = ("student", "teacher")
EXTRA = "sympy"  # a package that some exercises need and whichbird does not bring
HOW_TO = """\
Each exercise has a cell for your answer and a cell that checks it. Replace each `...`, and add as many cells as you like. The check says what it sees, and a wrong answer costs
nothing. `book.hint("{number}")` gives a hint, and asked again a second one. `book.points()` at the end counts."""
NUMBER = """\
student = ...  # your number; exercises that say so have a dataset of your own"""
TEACHER = """\
**For teachers.** Every blank holds the book's own work, so every check passes. Give a student's number below to see what this student's datasets give."""

Given = list[tuple[slices.Statement, bool]]


def student(path: Path) -> nbformat.NotebookNode:
    """The student notebook of a chapter."""
    return _notebook(path, teacher=False)


def teacher(path: Path) -> nbformat.NotebookNode:
    """The same with the book's work and all that helps to mark it."""
    return _notebook(path, teacher=True)


def filled(path: Path) -> nbformat.NotebookNode:
    """The student notebook with the book's work in its blanks."""
    notebook, entry = student(path), entries.load()
    chapter = slices.chapter(path)
    for cell in notebook.cells:
        if "blank" in cell.metadata.get("tags", []):
            n = int(cell.metadata["tags"][1].rpartition("-")[2])
            cell.source = solution(chapter, n, entry[chapter.exercises[n].label], whole=False)
    return notebook


def write(folder: Path, report: Callable[[Path], None] = lambda _: None) -> list[Path]:
    """Write all notebooks below a folder, as student/<part>/<chapter>.ipynb and teacher/…, and return where they are. `report` hears of each."""
    written = []
    ready(*(folder / kind for kind in KINDS))
    for kind, make in zip(KINDS, (student, teacher), strict=True):
        with tempfile.TemporaryDirectory(dir=_there(folder), prefix=f".{kind}.") as part:
            for path in ex.chapters():
                target = Path(part, kind, path.relative_to(ex.BOOK).with_suffix(".ipynb"))
                target.parent.mkdir(parents=True, exist_ok=True)
                nbformat.write(make(path), target)
                written.append(folder / target.relative_to(part))
                report(written[-1])
            made.put(Path(part, kind), folder / kind)
    return written


def ready(*targets: Path) -> None:
    """Raise ValueError if notebooks would be checked by a key of other exercises, or would take the place of somebody's files."""
    if old := keys.stale(keys.read()):
        number, why = next(iter(old.items()))
        raise ValueError(f"the key is older than the book ({number}: {why}); make key makes a new one")
    for target in targets:
        made.refuse(target)


def _there(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


# --- what stands before an exercise -----------------------------------------------------------------------------------


class Versions:
    """Which version of each name is in effect."""

    def __init__(self, chapter: slices.Chapter):
        self.chapter = chapter
        self.now: dict[str, Any] = {}

    def inputs(self, s: slices.Statement) -> set[str]:
        return self.chapter.closure(s.needs) | (s.changes - s.binds)

    def run(self, s: slices.Statement, changed: bool) -> None:
        before = frozenset((n, self.now.get(n)) for n in self.inputs(s) | ({"yours"} if changed else set()))
        made = hash((id(s), changed, before))
        for name in s.changes:
            self.now[name] = made

    def missing(self, given: Given, needed: set[str], yours: object) -> Given:
        """Statements of `given` that must run now, so that the needed names are what they would be if all did."""
        alone, steps = Versions(self.chapter), []
        alone.now["yours"] = yours
        for s, changed in given:
            steps.append(dict(alone.now))
            alone.run(s, changed)
        want = {n: alone.now[n] for n in needed if n in alone.now and n != "yours"}
        need, picked = {n for n, v in want.items() if self.now.get(n) != v}, []
        for (s, changed), before in zip(reversed(given), reversed(steps), strict=True):
            if s.changes & need:
                picked.append((s, changed))
                need -= s.binds
                need |= {n for n in self.inputs(s) if n in before and self.now.get(n) != before[n]}
        picked.reverse()
        trial = Versions(self.chapter)
        trial.now = {**self.now, "yours": yours}
        for s, changed in picked:
            trial.run(s, changed)
        return picked if all(trial.now.get(n) == v for n, v in want.items()) else given


def solution(chapter: slices.Chapter, n: int, entry: dict[str, Any], whole: bool) -> str:
    """The book's work, whole or as far as it makes the answers: what it takes from earlier solutions, then its own.

    The book's own asserts are in the whole, unless the dataset can change: they are about the book's.
    """
    work, yours = entries.work(chapter, n, entry, whole), entry.get("yours")
    parts = work.solution(whole and yours is None)
    if taken := [s for s in work.carried if not isinstance(s.node, ast.Import | ast.ImportFrom)]:
        parts = ["# From the solutions of earlier exercises", *(s.source for s in taken), "", *parts]
    parts = [p for p in parts if not re.match(r"(import|from) ", p)]
    code = "\n".join(parts)
    return entries.replaced(code, yours["dataset"]) if yours else code


def blank(chapter: slices.Chapter, n: int, entry: dict[str, Any]) -> str:
    """What the student's cell begins with: each answer as `name = ...`, and a function by its arguments."""
    shapes: dict[str, str] = {}
    for s in chapter.exercises[n].statements:
        shapes |= ex.shape(s.node)
    lines = [shapes.get(name, f"{name} = ...") for name in entry["answers"]]
    return "\n".join(["# Your answer: replace each ...", *lines])


# --- cells ------------------------------------------------------------------------------------------------------------


def _notebook(path: Path, teacher: bool) -> nbformat.NotebookNode:
    chapter, known, words = slices.chapter(path), entries.load(), ex.Names(path)
    glued = _glued(path) if teacher else {}
    if lacking := [e.label for e in chapter.exercises if e.label not in known]:
        raise ValueError(f"{path.name}: no entry in book/course/exercises for {', '.join(lacking)}")
    todo = [
        (e, known[e.label], entries.work(chapter, n, known[e.label], teacher)) for n, e in enumerate(chapter.exercises)
    ]
    versions, cells = Versions(chapter), []
    imports = _imports(chapter, [w for _, _, w in todo], versions)
    cells.append(_markdown(_heading(chapter, todo, words.titles[path], imports, teacher)))
    cells += [_code(imports, "given"), _code(f"{NUMBER}\nbook.student(student)", "student")]
    for n, (e, entry, work) in enumerate(todo):
        cells.append(_markdown(_asked(e, entry, words)))
        if given := _given(versions, chapter, n, e, entry, work):
            cells.append(_code(given, "given"))
        if teacher:
            cells.append(_code(solution(chapter, n, entry, whole=True), "work", f"exercise-{n}"))
            if said := words.plain(_with_numbers(e.words, glued)):
                cells.append(_markdown(f"**In words.** {said}"))
        else:
            cells.append(_code(blank(chapter, n, entry), "blank", f"exercise-{n}"))
        helps = "" if teacher else f'  # book.hint("{e.number}") helps'
        cells.append(_code(call(e, entry) + helps, "check", f"exercise-{n}"))
        if teacher:
            cells.append(_markdown(_marking(e, entry)))
    cells.append(_code("book.points()", "points"))
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # the same source gives the same file
    return notebook


def _markdown(text: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_markdown_cell(text)


def _code(source: str, *tags: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)})


def _imports(chapter: slices.Chapter, works: list[entries.Work], versions: Versions) -> str:
    """All imports that are used, in the order of the chapter; each name once."""
    kinds = ast.Import | ast.ImportFrom
    every = [s for w in works for s in [*w.given, *w.carried, *w.own]]
    needed = {n for s in every if not isinstance(s.node, kinds) for n in s.needs} | {"wb"}
    lines = ["import numpy as np", "import whichbird as wb", "import whichbird_book as book"]
    for s in chapter.statements:
        if isinstance(s.node, kinds) and s in every and s.binds & needed:
            versions.run(s, False)
            lines.append(slices.used(s, needed))
    return "\n".join(sorted(set(lines), key=_import_order))


def _import_order(line: str) -> tuple[int, int, str]:
    """Python's own packages, others, and whichbird; `import` before `from`."""
    package = re.split(r"[ .]", line)[1]
    return (
        2 if package.startswith("whichbird") else package not in sys.stdlib_module_names,
        line.startswith("from"),
        line,
    )


def _given(
    versions: Versions, chapter: slices.Chapter, n: int, e: slices.Exercise, entry: dict[str, Any], work: entries.Work
) -> str:
    """The cell before an exercise, or nothing; what the exercise then changes is no longer in effect."""
    yours = entry.get("yours")
    given = []
    for s in work.given:
        given.append((s, yours is not None and entries.replaced(s.source, yours["dataset"]) != s.source))
    needed = chapter.closure(slices.reads([*work.carried, *work.own]) | chapter.mentioned(e))
    missing = versions.missing(given, needed, n)
    versions.now["yours"] = n
    lines, cell = [], None
    for s, changed in missing:
        versions.run(s, changed)
        if isinstance(s.node, ast.Import | ast.ImportFrom) and not lines:
            source = slices.used(s, needed)
        else:
            source = s.source
        if cell not in (None, s.cell):
            lines.append("")
        lines.append(entries.replaced(source, yours["dataset"]) if changed else source)
        cell = s.cell
    for s in [*work.carried, *work.own]:
        for name in s.changes:
            versions.now[name] = ("work", n)
    if yours:
        lines.insert(0, f'yours = book.student(student)["{e.number}"]  # your dataset')
        if lines[1:]:
            lines.insert(1, "")
        lines.append("print(yours)")
    return "\n".join(lines)


def _heading(chapter: slices.Chapter, todo: list[Any], title: str, imports: str, teacher: bool) -> str:
    minutes, points = (sum(entry[k] for _, entry, _ in todo) for k in ("minutes", "points"))
    many = f"{len(todo)} exercises" if len(todo) > 1 else "one exercise"
    needs = "whichbird[course]" if EXTRA in imports else "whichbird"
    lines = [
        f"# {title}: exercises",
        f"{many[0].upper()}{many[1:]}, about {minutes} minutes, {points} points. Needs `pip install {needs}`.",
    ]
    lines.append(TEACHER if teacher else HOW_TO.format(number=todo[0][0].number))
    return "\n\n".join(lines)


def _asked(e: slices.Exercise, entry: dict[str, Any], words: ex.Names) -> str:
    text = ex.CELL.sub("", e.text)
    asked = words.plain(text)
    parts = [f"## Exercise {e.number}: {entry['title']}", f"*{entries.facts(entry)}*", asked[:1].upper() + asked[1:]]
    if "here" in entry:
        parts.append(f"**Here:** {entry['here'].strip()}")
    parts += words.statements(text)
    if "yours" in entry:
        parts.append(f"Where this says {entry['yours']['dataset']}, take your dataset, `yours`.")
    parts.append(f"**Wanted:** {entry['say'].rstrip('.')}.")
    return "\n\n".join(parts)


def call(e: slices.Exercise, entry: dict[str, Any]) -> str:
    """The call that checks an exercise."""
    return f'book.check("{e.number}", {", ".join(f"{n}={n}" for n in entry["answers"])})'


def _marking(e: slices.Exercise, entry: dict[str, Any]) -> str:
    def cell(text: object) -> str:
        return " ".join(str(text).split()).replace("|", "\\|")

    points = ", ".join(f"`{name}` {a['points']}" for name, a in entry["answers"].items())
    lines = [
        f"**Points.** {points}; {entry['points']} in all. Objective: {entry['objective']}.",
        f"**Marking.** {cell(entry['marking'])}",
    ]
    lines.append("**Hints.**\n\n" + "\n".join(f"{n}. {cell(h)}" for n, h in enumerate(entry["hints"], 1)))
    rows = ["| answer | if it is | the check says |", "|---|---|---|"]
    rows += [
        f"| `{s.get('of', next(iter(entry['answers'])))}` | `{cell(s['is'])}` | {cell(s['say'])} |"
        for s in entry["slips"]
    ]
    return "\n\n".join([*lines, "**Slips.**\n\n" + "\n".join(rows)])


def _glued(path: Path) -> dict[str, str]:
    """Numbers that the chapter's cells give to its text, if it has been run as it is."""
    found = {}
    for cell in getattr(execute.find(path), "cells", []):
        for output in cell.get("outputs", []):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            if name and "text/plain" in output.get("data", {}):
                found[name] = output["data"]["text/plain"].strip("'\"")
    return found


def _with_numbers(text: str, glued: dict[str, str]) -> str:
    def number(match: re.Match[str]) -> str:
        return glued.get(match[1], match[0])

    return re.sub(r"\{glue:text\}`([^`]+)`", number, text)


# --- trying them out --------------------------------------------------------------------------------------------------


def outcome(notebook: nbformat.NotebookNode, number: int | str | None = None) -> dict[str, tuple[int, int]]:
    """Run a notebook, as the student with this number, and return points and possible points by exercise.

    The checks' sentences are left in the notebook's outputs. Raises if a cell stops.
    """
    for cell in notebook.cells:
        if number is not None and "student" in cell.metadata.get("tags", []):
            cell.source = cell.source.replace(NUMBER, f"student = {number!r}")
    last = 'import json; print(json.dumps({n: [int(r["points"]), int(r["of"])] for n, r in book.points().iterrows()}))'
    notebook.cells.append(_code(last))
    with tempfile.TemporaryDirectory() as folder:
        execute.wait_for(execute.run_notebook(notebook, Path(folder)))
    found = json.loads(notebook.cells.pop().outputs[0].text)
    return {n: (got, of) for n, (got, of) in found.items() if n != "all"}


def said(notebook: nbformat.NotebookNode) -> list[str]:
    """What the checks of a notebook that was run printed, one text for each exercise."""
    checks = [c for c in notebook.cells if "check" in c.metadata.get("tags", [])]
    return [
        "".join(o.get("text", "") for o in c.outputs if o.output_type == "stream" and o.name == "stdout")
        for c in checks
    ]


def slips(path: Path) -> list[tuple[str, str, str]]:
    """Give each slip of a chapter as an answer: exercise, what should be said, and what is said. In this Python, for the book's datasets."""
    from whichbird_book.teach import check as teach

    chapter, known, out = slices.chapter(path), entries.load(), []
    teach.student(None)
    for n, e in enumerate(chapter.exercises):
        entry = known[e.label]
        yours = entry.get("yours")
        code = entries.work(chapter, n, entry).source(yours["dataset"] if yours else None)
        space = entries.run(code, {"yours": yours["dataset"]} if yours else {})
        more = {name: space[name] for name in entry["answers"]}
        for slip in entry["slips"]:
            name = slip.get("of", next(iter(entry["answers"])))
            with contextlib.redirect_stdout(io.StringIO()):
                found = teach.check(e.number, **{**more, name: entries.evaluate(str(slip["is"]), space)})
            (got,) = (text.partition(": ")[2] for text in found.messages if text.startswith(f"{e.number} {name}: "))
            out.append((e.number, slip["say"], got))
    return out


def trial(path: Path, number: int | None = 1) -> None:
    """Run a chapter's notebooks. Raises if the empty one gets a point, if the filled or the teacher's one does not get all, or if a slip is not recognised."""
    empty = outcome(notebook := student(path))
    if any(got for got, _ in empty.values()):
        raise AssertionError(f"{path.name}: an empty notebook gets points: {empty}")
    if not all("nothing yet" in text for text in said(notebook)):
        raise AssertionError(f"{path.name}: a check does not say that nothing was answered: {said(notebook)}")
    for make, who in ((filled, None), (filled, number), (teacher, None)):
        found = outcome(notebook := make(path), who)
        if len(found) != len(slices.chapter(path).exercises) or any(got < of for got, of in found.values()):
            raise AssertionError(f"{path.name}, {make.__name__}, student {who}: {found}\n{''.join(said(notebook))}")
    for exercise, wanted, got in slips(path):
        if got != wanted:
            raise AssertionError(f"{exercise}: a slip should get {wanted!r}, and gets {got!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Make notebooks for students and teachers.")
    parser.add_argument("chapters", nargs="*", help="with --check, only these")
    parser.add_argument(
        "--check", action="store_true", help="also run every notebook, empty and filled in (some minutes)"
    )
    options = parser.parse_args()
    from tqdm import tqdm

    try:
        written = write(OUT)
    except ValueError as error:
        raise SystemExit(f"No notebooks were made: {error}.") from None
    if options.check:
        for path in tqdm(entries.chapters(options.chapters), unit="chapter", disable=None):
            trial(path)
        print("Empty notebooks get no point; with the book's work every exercise gets all.")
    print(
        f"{len(written)} notebooks are in {OUT.relative_to(HERE.parents[1])}; open them with .venv/bin/jupyter lab {OUT.relative_to(HERE.parents[1])}"
    )


if __name__ == "__main__":
    main()
