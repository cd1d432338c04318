"""Runs chapters, two at a time, and no chapter twice for the same code.

What a run depends on is its key: the chapter's cells, the library, the data, Python and the pinned packages. An executed chapter is kept
in `_build/executed` under its key; the book and the tests take it from there, and the strict pass hands it to nbval, which runs it once more
and compares. So a page can never show the output of older code. Only a run in which every cell succeeded is kept.

    python book/execute.py                        run every chapter that has no run under its key
    python book/execute.py book/paper/2-background.md …    only these
"""

from __future__ import annotations

import argparse
import asyncio
import atexit
import contextlib
import fcntl
import functools
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Coroutine, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from traitlets.config import Config

BOOK = Path(__file__).resolve().parent
ROOT = BOOK.parent
STORE = ROOT / "_build" / "executed"
CLAIMS = ROOT / "data" / "published" / "claims.csv"  # judged when pages are built; no chapter may read it
KEY = ROOT / "lib" / "whichbird_book" / "teach" / "key.json"  # made from the chapters' solutions, so none may read it
WORKING = ROOT / "lib" / "whichbird_book" / "working.py"  # of the working copies; no chapter may import it
AT_ONCE = 2
TIMEOUT = 300  # seconds for one cell
# matplotlib remembers where fonts are; with a memory of its own each environment finds its own, and no chapter says that it looks for them
os.environ.setdefault("MPLCONFIGDIR", str(Path(sys.prefix) / "matplotlib"))


class CellFailed(Exception):
    """A chapter stopped: `cell` counts its code cells from 0, `reason` is what it said."""

    def __init__(self, path: Path, cell: int, source: str, reason: str):
        super().__init__(f"{path.relative_to(ROOT)}::Cell {cell}\n\n{source.strip()}\n\n{reason.strip()}")
        self.cell, self.reason = cell, reason


def files(folder: Path, ending: str = "") -> list[Path]:
    """The files below a folder, in order, without compiled ones and hidden ones: JupyterLab keeps copies of chapters in hidden folders."""
    return sorted(
        p
        for p in folder.rglob(f"*{ending}")
        if p.is_file() and not any(part[0] == "." or part == "__pycache__" for part in p.relative_to(folder).parts)
    )


def pages() -> list[Path]:
    """Every Markdown file of the book, slides and handouts included. Whoever goes through pages takes them from here."""
    return files(BOOK, ".md")


def chapters() -> list[Path]:
    """Every page of the book that has a code cell."""
    return [p for p in pages() if "{code-cell}" in p.read_text("utf-8")]


def read(path: Path) -> nbformat.NotebookNode:
    """A chapter as a notebook without outputs."""
    return jupytext.read(path, fmt="md:myst")


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def sources(notebook: nbformat.NotebookNode) -> list[str]:
    return [cell.source.strip("\n") for cell in code_cells(notebook)]


@functools.cache
def world(*without: Path) -> str:
    """A digest of all that a chapter can see besides itself: library, data but for files that are named, Python, pinned packages, and this program."""
    seen = hashlib.sha256(f"{platform.python_implementation()} {sys.version} {platform.machine()}".encode())
    for name in re.findall(r"^([A-Za-z0-9._-]+)==", (ROOT / "requirements.txt").read_text("utf-8"), re.M):
        try:
            seen.update(f"{name} {version(name)}\n".encode())
        except PackageNotFoundError:
            seen.update(f"{name} missing\n".encode())
    seen.update(Path(__file__).read_bytes())
    for file in [*files(ROOT / "data"), *files(ROOT / "lib" / "whichbird"), *files(ROOT / "lib" / "whichbird_book")]:
        if file in (CLAIMS, KEY, WORKING, *without):
            continue
        seen.update(f"{file.relative_to(ROOT).as_posix()}\0".encode())
        seen.update(hashlib.sha256(file.read_bytes()).digest())
    return seen.hexdigest()


def place(path: Path, notebook: nbformat.NotebookNode) -> Path:
    """Where the run of a chapter with these cells is kept, whether or not it is there."""
    cells = [[cell.source.strip("\n"), cell.metadata.get("tags", [])] for cell in code_cells(notebook)]
    name = path.relative_to(BOOK).with_suffix("").as_posix()
    key = hashlib.sha256(json.dumps([world(), name, cells]).encode()).hexdigest()
    return STORE / f"{name.replace('/', '--')}.{key[:32]}.ipynb"


def find(path: Path) -> nbformat.NotebookNode | None:
    """The kept run of a chapter as it stands now, or nothing."""
    try:
        return nbformat.read(place(path, read(path)), as_version=4)
    except FileNotFoundError:
        return None


def keep(path: Path, notebook: nbformat.NotebookNode) -> None:
    """Put a run into the store in one step, and remove those that it replaces. A run is not kept if the code changed under it."""
    if world.__wrapped__() != world():
        return
    target = place(path, notebook)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.{os.getpid()}.part")  # no notebook to whoever looks for some
    part.write_text(nbformat.writes(notebook), "utf-8")
    os.replace(part, target)
    for old in STORE.glob(f"{target.name.split('.')[0]}.*.ipynb"):
        if old != target:
            old.unlink(missing_ok=True)


@contextlib.contextmanager
def sockets_folder() -> Iterator[str]:
    """A temporary folder for the sockets of a kernel. Ports are picked free and bound later, so that two kernels that start at once,
    in two builds say, can pick the same ones; names never collide. The path is short: a socket's may have about a hundred characters.

    A process that is killed cannot remove its folder. So each holds a lock, which ends with its process, and the next one removes what is not locked.
    """
    base = tempfile.gettempdir()
    base = base if len(os.fsencode(base)) < 60 else "/tmp"
    for left in Path(base).glob("wb*/lock"):
        with contextlib.suppress(OSError), left.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left.parent, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="wb", dir=base) as folder, open(f"{folder}/new", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.rename(lock.name, f"{folder}/lock")  # under this name it was never free
        yield folder


def _stopped() -> bool:
    """Whether the task that runs now was told to end."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class _Client(NotebookClient):
    """nbclient lets a kernel end in peace, and watches it; if the run was stopped, both would only complain."""

    async def _async_cleanup_kernel(self) -> None:
        if _stopped():
            self.shutdown_kernel = "immediate"
            asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        await super()._async_cleanup_kernel()


async def run_notebook(notebook: nbformat.NotebookNode, folder: Path) -> None:
    """Execute a notebook in place."""
    with sockets_folder() as sockets:
        kernel = {"transport": "ipc", "ip": f"{sockets}/k", "connection_file": f"{sockets}/k.json"}
        client = _Client(
            notebook,
            timeout=TIMEOUT,
            record_timing=False,
            resources={"metadata": {"path": str(folder)}},
            config=Config(KernelManager=kernel),
        )
        try:
            await client.async_execute()
        finally:  # what a stopped run leaves out
            atexit.unregister(client._cleanup_kernel)


class _Loop(asyncio.SelectorEventLoop):
    """nbclient would take SIGINT and SIGTERM for itself, end one kernel and go on with the others."""

    def add_signal_handler(self, *_: object) -> None:
        raise RuntimeError("signals end the run")


def wait_for(work: Coroutine) -> Any:
    """Run a coroutine to its end. A signal to end, as Ctrl-C does, stops it in order: kernels end, and folders of sockets are removed."""
    with contextlib.ExitStack() as undo:
        if threading.current_thread() is threading.main_thread():
            before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
            undo.callback(signal.signal, signal.SIGTERM, before)
        with asyncio.Runner(loop_factory=_Loop) as runner:
            return runner.run(work)


@functools.cache
def find_fonts() -> None:
    """Make that memory before two chapters need it at once."""
    import matplotlib.font_manager  # noqa: F401


async def run(path: Path) -> nbformat.NotebookNode:
    """Run a chapter from its first cell to its last in a fresh kernel. Raises `CellFailed`."""
    find_fonts()
    notebook, start = read(path), time.perf_counter()
    cells = code_cells(notebook)
    try:
        await run_notebook(notebook, path.parent)
    except (
        CellExecutionError,
        CellTimeoutError,
        DeadKernelError,
        RuntimeError,
    ) as error:  # the last: a kernel that never answered
        if _stopped():  # the cell did not fail: its kernel was ended
            raise asyncio.CancelledError from None
        at = min(_reached(cells), len(cells) - 1)
        raise CellFailed(path, at, cells[at].source, _reason(cells[at], error)) from None
    for at, cell in enumerate(cells):
        said = [o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stderr"]
        if said:
            raise CellFailed(path, at, cell.source, f"wrote to standard error:\n{''.join(said)}")
    notebook.metadata["run_seconds"] = time.perf_counter() - start
    return notebook


def _reached(cells) -> int:
    """The cell that was running last: the one with an error, else the last one that was started."""
    for at, cell in enumerate(cells):
        if any(o.output_type == "error" for o in cell.outputs) and "raises-exception" not in cell.metadata.get(
            "tags", []
        ):
            return at
    return max((at for at, cell in enumerate(cells) if cell.get("execution_count")), default=-1) + 1


def _reason(cell, error) -> str:
    for output in cell.get("outputs", []):
        if output.output_type == "error":
            return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(output.traceback))
    return str(error)


def executed(path: Path) -> nbformat.NotebookNode:
    """A chapter with its outputs: those of the kept run if there is one, else of a run made now and kept."""
    found = find(path)
    if found is None:
        found = wait_for(run(path))
        keep(path, found)
    return found


def _cost(path: Path) -> float:
    """Chapters that took long last time, or have much code, start first."""
    last = next(
        iter(STORE.glob(f"{path.relative_to(BOOK).with_suffix('').as_posix().replace('/', '--')}.*.ipynb")), None
    )
    if last:
        return nbformat.read(last, as_version=4).metadata.get("run_seconds", 0)
    return len("".join(sources(read(path)))) / 1000


async def run_all(paths: list[Path], done) -> list[CellFailed]:
    """Run chapters, `AT_ONCE` at a time; `done(path, notebook)` for each that succeeds. Returns the failures."""
    failures, room = [], asyncio.Semaphore(AT_ONCE)

    async def one(path):
        async with room:
            try:
                notebook = await run(path)
            except CellFailed as failure:
                failures.append(failure)
                print(f"  failed  {path.relative_to(ROOT)}", flush=True)
            else:
                print(f"{notebook.metadata['run_seconds']:6.1f} s  {path.relative_to(ROOT)}", flush=True)
                done(path, notebook)

    async with asyncio.TaskGroup() as tasks:  # which waits for all of them, also when it is stopped
        for path in sorted(paths, key=_cost, reverse=True):
            tasks.create_task(one(path))
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the chapters of the book.")
    parser.add_argument("paths", nargs="*", type=Path, help="chapters (all, if none is named)")
    arguments = parser.parse_args()
    paths = [p.resolve() for p in arguments.paths] or chapters()
    for path in paths:
        if path not in chapters():
            parser.error(f"{path}: no page of the book with a code cell")
    missing = [path for path in paths if find(path) is None]
    if missing:
        print(f"Running {len(missing)} of {len(paths)} chapters, {AT_ONCE} at a time ...", flush=True)
    try:
        failures = [str(f) for f in wait_for(run_all(missing, keep))]
    except KeyboardInterrupt:
        print("Stopped; chapters that had ended are kept.", file=sys.stderr)
        return 130
    for failure in failures:
        print(f"\n{'-' * 100}\n{failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
