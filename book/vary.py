"""Runs every chapter that has parameters over all datasets, two at a time, and says what came of it: `make vary`.

    python book/vary.py [--only zhen23,enes24] [--write] [chapters …]

A run is the chapter from its source with `DATASET` changed, begun as a working copy is: a check that fails is noted, and the chapter goes on. What was found is kept in `_build/vary`
under a key, as runs of chapters are, so that a run that was stopped goes on where it was. `--write` puts the table of checks into data/vary.csv, from which chapters say in how
many datasets a finding holds (`kit.holds`).
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import hashlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import copies
import execute
import nbformat
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from whichbird import __version__
from whichbird.data.digest import datasets
from whichbird_book import working

STORE = execute.ROOT / "_build" / "vary"
TABLE = execute.ROOT / "data" / "vary.csv"
HEAD = ["chapter", "check", "holds", "fails", "unasked"]


def chapters() -> list[Path]:
    """Chapters that turn on one dataset, and say so in a cell of parameters."""
    return [p for p in execute.chapters() if "DATASET" in copies.parameters(execute.code_cells(execute.read(p)))]


def own(path: Path) -> str:
    """The dataset that the book shows in a chapter: there all checks hold, or the book would not be."""
    return str(copies.parameters(execute.code_cells(execute.read(path)))["DATASET"])


def name_of(path: Path) -> str:
    return path.relative_to(execute.BOOK).with_suffix("").as_posix()


def changed(path: Path, **values: Any) -> nbformat.NotebookNode:
    """A chapter as a working copy with other parameters: it begins with the copy's own first cell, and the values are set where papermill sets them."""
    notebook = execute.read(path)
    at = copies.stated(notebook.cells)
    for n, cell in enumerate(execute.code_cells(notebook)):
        if n in at:
            cell.source = f"{working.THEOREM}\n{cell.source}"
    begin = f"from whichbird_book import working\nworking.begin({__version__!r}, {copies.parameters(execute.code_cells(notebook))!r})"
    place = next(n for n, cell in enumerate(notebook.cells) if "parameters" in cell.metadata.get("tags", []))
    lines = "\n".join(f"{name} = {value!r}" for name, value in values.items())
    notebook.cells.insert(place + 1, nbformat.v4.new_code_cell(lines))
    notebook.cells.insert(0, nbformat.v4.new_code_cell(begin))
    return notebook


def found(notebook: nbformat.NotebookNode) -> dict[str, Any]:
    """What a run shows: where it stopped and why, and each check with whether it held. Cells are counted as in the chapter."""
    checks, stopped = [], None
    cells = execute.code_cells(notebook)
    place = next(n for n, cell in enumerate(cells) if "parameters" in cell.metadata.get("tags", []))
    for n, cell in enumerate(cells):
        number = n - 1 if n <= place + 1 else n - 2
        for output in cell.outputs:
            if (
                output.output_type == "error"
                and stopped is None
                and "raises-exception" not in cell.metadata.get("tags", [])
            ):
                stopped = [number, f"{output.ename}: {output.evalue}"[:300]]
            checks += [[number, text, held] for text, held in output.get("data", {}).get(working.FOUND, [])]
    return {"stopped": stopped, "checks": checks}


def place(path: Path, dataset: str) -> Path:
    """Where what was found is kept."""
    cells = [[c.source, c.metadata.get("tags", [])] for c in execute.code_cells(changed(path, DATASET=dataset))]
    seen = [execute.world(TABLE), execute.WORKING.read_text("utf-8"), cells, dataset]
    key = hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:24]
    return STORE / f"{name_of(path).replace('/', '--')}.{dataset}.{key}.json"


async def run(path: Path, dataset: str) -> dict[str, Any]:
    notebook, start = changed(path, DATASET=dataset), time.perf_counter()
    try:
        await execute.run_notebook(notebook, path.parent)
    except (CellExecutionError, CellTimeoutError, DeadKernelError, RuntimeError) as error:
        if execute._stopped():
            raise asyncio.CancelledError from None
        out = found(notebook)
        return out if out["stopped"] else {**out, "stopped": [-1, str(error)[:300]]}
    return {**found(notebook), "seconds": time.perf_counter() - start}


async def run_all(jobs: list[tuple[Path, str]]) -> None:
    """Run what is not kept, `execute.AT_ONCE` at a time."""
    missing = [(path, dataset) for path, dataset in jobs if not place(path, dataset).is_file()]
    STORE.mkdir(parents=True, exist_ok=True)
    room, done = asyncio.Semaphore(execute.AT_ONCE), 0

    async def one(path: Path, dataset: str) -> None:
        nonlocal done
        async with room:
            target = place(path, dataset)  # before it runs: nobody knows what is written meanwhile
            out = await run(path, dataset)
        for old in STORE.glob(f"{target.name.split('.')[0]}.{dataset}.*.json"):
            old.unlink(missing_ok=True)
        target.write_text(json.dumps(out), "utf-8")
        done += 1
        fails = sum(not held for *_, held in out["checks"])
        end = f"stopped at Cell {out['stopped'][0]}: {out['stopped'][1]}" if out["stopped"] else "to the end"
        print(
            f"{done:4d} of {len(missing)}  {name_of(path)} on {dataset}: {end}; {fails} of {len(out['checks'])} checks do not hold",
            flush=True,
        )

    async with asyncio.TaskGroup() as tasks:
        for path, dataset in missing:
            tasks.create_task(one(path, dataset))


def results(jobs: list[tuple[Path, str]]) -> dict[str, dict[str, dict[str, Any]]]:
    """Chapter to dataset to what was found, of all jobs that ran."""
    out: dict[str, dict[str, dict[str, Any]]] = {}
    for path, dataset in jobs:
        if (file := place(path, dataset)).is_file():
            out.setdefault(name_of(path), {})[dataset] = json.loads(file.read_text("utf-8"))
    return out


def summary(table: dict[str, dict[str, dict[str, Any]]]) -> str:
    """For each chapter: on how many datasets it ran to its last cell, where it stopped, and how many checks hold in all of them."""
    lines = []
    for chapter, runs in table.items():
        whole = [d for d, out in runs.items() if not out["stopped"]]
        every = rows(chapter, runs)[1:]
        always = sum(not row[3] and not row[4] for row in every)
        lines.append(f"{chapter}: {len(whole)} of {len(runs)} to the end; {always} of {len(every)} checks hold in all")
        lines += [
            f"    {d}: Cell {out['stopped'][0]}, {out['stopped'][1]}" for d, out in runs.items() if out["stopped"]
        ]
    return "\n".join(lines)


WHOLE = "(runs to its last cell)"


def rows(chapter: str, runs: dict[str, dict[str, Any]]) -> list[list[str]]:
    """A chapter and its checks, each with the datasets in which it holds, fails, and was not reached; first, where the chapter runs to its last cell.

    >>> rows("a", {"x": {"stopped": None, "checks": [[1, "p", True]]}, "y": {"stopped": [0, "?"], "checks": []}})
    [['a', '(runs to its last cell)', 'x', 'y', ''], ['a', 'p', 'x', '', 'y']]
    """
    checks: dict[tuple[int, str], dict[str, bool]] = {(-1, WHOLE): {d: not out["stopped"] for d, out in runs.items()}}
    for dataset, out in runs.items():
        for cell, text, held in out["checks"]:
            found = checks.setdefault((cell, text), {})
            found[dataset] = held and found.get(dataset, True)
    return [
        [chapter, text, *(" ".join(d for d in runs if held.get(d) is truth) for truth in (True, False, None))]
        for (_, text), held in sorted(checks.items(), key=lambda item: item[0][0])
    ]


def write(table: dict[str, dict[str, dict[str, Any]]]) -> None:
    """Renew the rows of these chapters; those of other chapters that have parameters stay."""
    known = {name_of(path): [] for path in chapters()} | {name: rows(name, runs) for name, runs in table.items()}
    if TABLE.is_file():
        with TABLE.open(encoding="utf-8", newline="") as file:
            for row in list(csv.reader(file))[1:]:
                if row[0] in known and row[0] not in table:
                    known[row[0]].append(row)
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(HEAD)
        for every in known.values():
            out.writerows(every)


def main() -> int:
    parser = argparse.ArgumentParser(description="Run chapters on other datasets.")
    parser.add_argument("paths", nargs="*", type=Path, help="chapters with parameters (all, if none is named)")
    parser.add_argument("--only", help="datasets, with commas between them (all, if not given)")
    parser.add_argument("--write", action="store_true", help="write data/vary.csv")
    asked = parser.parse_args()
    names = datasets(aspects=True)
    only = asked.only.split(",") if asked.only else names
    paths = [p.resolve() for p in asked.paths] or chapters()
    for path in paths:
        if path not in chapters():
            parser.error(f"{path}: no chapter with a cell of parameters that sets DATASET")
    if odd := [n for n in only if n not in names]:
        parser.error(f"{odd[0]}: no dataset with adequacy and fluency; they are {', '.join(names)}")
    if asked.write and asked.only:
        parser.error("data/vary.csv is written from runs on all datasets, so not with --only")
    jobs = [(path, dataset) for path in paths for dataset in only if dataset != own(path)]
    try:
        execute.wait_for(run_all(jobs))
    except KeyboardInterrupt:
        print("Stopped; what had ended is kept.", file=sys.stderr)
        return 130
    table = results(jobs)
    print(summary(table))
    if asked.write:
        write(table)
    return 1 if any(out["stopped"] for runs in table.values() for out in runs.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
