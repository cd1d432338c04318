"""Mark what students hand in, in a process that none of their code shares.

    python -m whichbird_book.teach.mark FOLDER --out marks.csv        marks every notebook below a folder

A submission runs in a kernel of its own. After each exercise the values of the names asked for are read there, as data. Afterwards another interpreter, started
before the kernel with the library freshly imported, judges the values. So a submission that rebinds `book.check`, patches numpy or changes a library on disk
changes no mark. What it can still do is say values: `README` of the course kit and the page for teachers list what remains.

nbgrader and Otter come here, too: `with_nbgrader`, `with_otter`.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from .check import _key, judge, older
from .values import MIME, as_number, unpack

ASKS = re.compile(r"\bbook\.check\(\s*[\"']([^\"']+)[\"']")
READY = "ready"  # what the interpreter that judges says first
READS = "import whichbird_book.teach.values as _values\n_values.show({number!r}, globals())"
TIMEOUT = 600  # seconds a cell may take
Marks = dict[str, dict[str, Any]]  # exercise → points, of, messages


class Judge:
    """An interpreter that judges answers: started, with all that it imports, before a submission runs.

    >>> with Judge() as judge:
    ...     judge({"3.1.1": {"student": None, "answers": {}}})["3.1.1"]["points"]
    0
    """

    def __enter__(self) -> Judge:
        command = [sys.executable, "-I", "-c", "from whichbird_book.teach import mark; mark._serve()"]
        self._folder = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", cwd=self._folder.name
        )
        assert self._process.stdout is not None
        said = self._process.stdout.readline().strip()  # now everything is imported
        if said != READY:
            self.__exit__(None, None, None)
            raise ValueError(said or "the interpreter that judges did not start; look at what it says above")
        return self

    def __call__(self, read: Mapping[str, Any]) -> Marks:
        """Marks by exercise, of what `run` read."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(read) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise ValueError("the interpreter that judges has ended; look at what it says above")
        found: Marks = json.loads(answer)
        return found

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()


def _serve() -> None:
    """What the interpreter of a `Judge` does: a line of answers in, a line of marks out."""
    import pandas

    import whichbird
    import whichbird_book.raters  # noqa: F401

    whichbird.balance, pandas.DataFrame, _key()  # loaded before a submission runs
    out, sys.stdout = sys.stdout, sys.stderr  # what a check may print is no mark
    if old := [entry["label"] for entry in _key()["exercises"].values() if older(entry)]:
        print(f"the key of {old[0]} is older than this library; make key makes a new one", file=out, flush=True)
        return
    print(READY, file=out, flush=True)
    for line in sys.stdin:
        print(json.dumps(_marks(json.loads(line))), file=out, flush=True)


def _marks(read: Mapping[str, Any]) -> Marks:
    return {number: _mark(number, what) for number, what in read.items()}


def _mark(number: str, read: Mapping[str, Any]) -> dict[str, Any]:
    """Points and sentences of one exercise; an answer that nobody could read is none."""
    from .check import Problem

    wanted = _key()["exercises"][number]["answers"]
    given: dict[str, Any] = {}
    for name in wanted:
        found = read["answers"].get(name, {})
        try:
            given[name] = Problem(str(found["problem"])) if "problem" in found else unpack(found.get("value"))
        except Exception as error:  # whatever a submission may say
            given[name] = Problem(f"it is no value that could be read ({type(error).__name__}).")
    try:
        outcome = judge(number, given, as_number(read.get("student")))
    except Exception as error:
        most = sum(answer["points"] for answer in wanted.values())
        return {
            "points": 0,
            "of": most,
            "messages": [f"{number}: it cannot be judged ({type(error).__name__})."],
            "right": [],
        }
    return {
        "points": outcome.points,
        "of": outcome.most,
        "messages": list(outcome.messages),
        "right": sorted(outcome.right),
    }


# --- running a submission ---------------------------------------------------------------------------------------------


def exercises(notebook: Any) -> dict[str, list[str]]:
    """The exercises of the chapters that a notebook checks, by chapter, those included whose check somebody took out.

    >>> from nbformat.v4 import new_code_cell, new_notebook
    >>> exercises(new_notebook(cells=[new_code_cell('book.check("3.1.1", price=price)')]))["paper/3-1-balance"][:2]
    ['3.1.1', '3.1.2']
    """
    key = _key()["exercises"]
    seen = {key[n]["chapter"] for _, n in _checks(notebook)}
    return {chapter: [n for n, entry in key.items() if entry["chapter"] == chapter] for chapter in sorted(seen)}


def _checks(notebook: Any) -> list[tuple[int, str]]:
    """Which cells check which exercises."""
    found = [
        (n, match[1])
        for n, cell in enumerate(notebook.cells)
        if cell.cell_type == "code"
        for match in ASKS.finditer(cell.source)
    ]
    return [(n, number) for n, number in found if number in _key()["exercises"]]


def run(notebook: Any, timeout: int = TIMEOUT, cwd: str | os.PathLike[str] = ".") -> tuple[Any, dict[str, Any]]:
    """Run a notebook in a kernel; return a copy with what it printed, and what its exercises answer.

    Where a check stands, its exercise is read right after it; the others at the end. A cell that stops stops no other.
    """
    import copy

    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import DeadKernelError

    checks = _checks(notebook)
    if not checks:
        raise ValueError(
            "there is no exercise of the book in it: no cell calls book.check with a number that the book has"
        )
    done = copy.deepcopy(notebook)
    places = {number: n for n, number in checks}
    numbers = [n for chapter in exercises(notebook).values() for n in chapter]
    cells: list[Any] = []
    for n, cell in enumerate(done.cells):
        cells.append(cell)
        cells += [_reading(number) for number, place in places.items() if place == n]
    cells += [_reading(number) for number in numbers if number not in places]
    done.cells, read = cells, {}
    client = NotebookClient(
        done, timeout=timeout, allow_errors=True, kernel_name="python3", resources={"metadata": {"path": str(cwd)}}
    )
    try:
        client.execute()
    except DeadKernelError:
        pass  # the submission ended its process; what was read before stands
    for cell in done.cells:
        number = cell.metadata.get("whichbird_reads")
        if number:
            read[number] = _said(cell, number)
    done.cells = [cell for cell in done.cells if "whichbird_reads" not in cell.metadata]
    nbformat.validate(done)
    return done, read


def _reading(number: str) -> Any:
    from nbformat.v4 import new_code_cell

    return new_code_cell(READS.format(number=number), metadata={"whichbird_reads": number})


def _said(cell: Any, number: str) -> dict[str, Any]:
    """The answers that a reading cell displayed; none if it shows something else."""
    for output in cell.get("outputs", []):
        found = output.get("data", {}).get(MIME)
        if isinstance(found, dict) and isinstance(found.get("answers"), dict):
            return {
                "student": found.get("student"),
                "answers": {k: v for k, v in found["answers"].items() if isinstance(v, dict)},
            }
    return {"student": None, "answers": {}}


def mark(notebook: Any, timeout: int = TIMEOUT, cwd: str | os.PathLike[str] = ".") -> tuple[Any, Marks]:
    """Run and judge one notebook: the executed copy, and its marks by exercise."""
    with Judge() as decide:
        done, read = run(notebook, timeout, cwd)
        return done, decide(read)


# --- a folder of submissions ------------------------------------------------------------------------------------------


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m whichbird_book.teach.mark", description=__doc__.partition("\n")[0] if __doc__ else ""
    )
    parser.add_argument("folder", type=Path, help="notebooks that were handed in, or a folder with such, at any depth")
    parser.add_argument("--out", type=Path, default=Path("marks.csv"), help="the table of marks (marks.csv)")
    options = parser.parse_args(arguments)
    try:
        return _folder(options.folder, options.out)
    except ValueError as error:
        print(f"Nothing was marked: {error}.", file=sys.stderr)
        return 1


def _folder(folder: Path, out: Path) -> int:
    import nbformat
    from tqdm import tqdm

    if out.exists():
        raise ValueError(f"{out} exists already; name another file with --out")
    if not folder.exists():
        raise ValueError(f"there is no {folder}")
    files = (
        [folder]
        if folder.is_file()
        else sorted(p for p in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)
    )
    if not files:
        raise ValueError(f"no notebook (.ipynb) lies below {folder}")
    rows, failed = [], []
    with Judge():  # an old key is refused once, before a submission runs
        pass
    for file in tqdm(files, unit="notebook", disable=None):
        name = str(file.relative_to(folder)) if folder.is_dir() else file.name
        try:
            notebook = nbformat.read(file, 4)
            with tempfile.TemporaryDirectory() as place, Judge() as decide:
                _, read = run(notebook, cwd=place)
                marks = decide(read)
        except Exception as error:
            failed.append(f"{name}: {str(error).partition(chr(10))[0]}")
            continue
        for number, found in marks.items():
            student = read[number]["student"]
            rows.append([name, student, number, found["points"], found["of"], " ".join(found["messages"])])
    part = out.with_name(out.name + ".part")
    with part.open("w", encoding="utf-8", newline="") as target:
        table = csv.writer(target, lineterminator="\n")
        table.writerow(["notebook", "student", "exercise", "points", "of", "said"])
        table.writerows(rows)
    os.replace(part, out)
    for what in failed:
        print(f"Not marked: {what}", file=sys.stderr)
    print(f"{len(files) - len(failed)} of {len(files)} notebooks are marked in {out}.")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
