"""Chapters run under a key of all that they can see: what changes it, what is kept, and how a failure is told."""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import nbformat
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "book"))
import execute
import exercises
import jupytext
import layout

ROOT = execute.ROOT
PAGES = execute.pages()
FRONT = "---\njupytext:\n  text_representation:\n    format_name: myst\nkernelspec:\n  name: python3\n  display_name: x\n  language: python\n---\n\n# T\n"


def cell(code, tags=""):
    return f"\n```{{code-cell}} ipython3\n{f':tags: [{tags}]' if tags else ''}\n{code}\n```\n"


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A repository of one chapter, one module and one data file, in a folder with a space and an umlaut."""
    root = tmp_path / "größer als"
    for name, text in {
        "book/part/one.md": FRONT + cell("x = 1") + "\nSome prose.\n" + cell("x + 1"),
        "book/part/prose.md": "# No cells\n",
        "lib/whichbird/m.py": "a = 1\n",
        "data/d.csv": "1\n",
        "requirements.txt": "numpy==2.0\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    for name, place in {"ROOT": "", "BOOK": "book", "STORE": "_build/executed"}.items():
        monkeypatch.setattr(execute, name, root / place)
    execute.world.cache_clear()
    yield root
    execute.world.cache_clear()


def key(root):
    execute.world.cache_clear()
    path = root / "book/part/one.md"
    return execute.place(path, execute.read(path)).name


@pytest.mark.parametrize("name", ["lib/whichbird/m.py", "data/d.csv", "data/new.csv", "lib/whichbird/room/new.py"])
def test_the_key_follows_library_and_data(house, name):
    before = key(house)
    assert key(house) == before
    (house / name).parent.mkdir(exist_ok=True)
    (house / name).write_text("2\n", "utf-8")
    assert key(house) != before


def test_the_key_does_not_follow_the_claims(house, monkeypatch):
    """They are judged when pages are built. So no chapter may read them."""
    monkeypatch.setattr(execute, "CLAIMS", house / "data/published/claims.csv")
    before = key(house)
    execute.CLAIMS.parent.mkdir()
    execute.CLAIMS.write_text("id\n", "utf-8")
    assert key(house) == before
    for path in PAGES:
        code = "".join(execute.sources(execute.read(path)))
        assert not re.search(r"(?<!_)claims\.csv\"|published\(.claims.\)|whichbird_book.*\bworking\b", code), path


def test_the_key_follows_packages_and_cells_but_not_prose(house, monkeypatch):
    before, path = key(house), house / "book/part/one.md"
    path.write_text(path.read_text("utf-8").replace("Some prose", "Other prose"), "utf-8")
    assert key(house) == before
    monkeypatch.setattr(execute, "version", lambda name: "9.9")
    assert key(house) != before
    monkeypatch.undo()


def test_the_key_follows_cells(house):
    before, path = key(house), house / "book/part/one.md"
    path.write_text(path.read_text("utf-8").replace("x + 1", "x + 2"), "utf-8")
    assert key(house) != before


def test_copies_that_jupyterlab_keeps_are_no_chapters(house):
    """`make lab` leaves them in hidden folders beside what was opened: no chapter, no exercise, no other key."""
    before, path = key(house), house / "book/part/one.md"
    solved = path.read_text("utf-8") + "\n```{solution-start} x\n```\n\nSo.\n\n```{solution-end}\n```\n"
    path.write_text(solved, "utf-8")
    for name in ("book/part/.ipynb_checkpoints/one-checkpoint.md", "data/.ipynb_checkpoints/d-checkpoint.csv"):
        (house / name).parent.mkdir()
        (house / name).write_text(solved, "utf-8")
    assert execute.pages() == [path, house / "book/part/prose.md"]
    assert execute.chapters() == exercises.chapters() == [path] and key(house) == before


def test_a_run_is_kept_and_used(house, monkeypatch):
    path = house / "book/part/one.md"
    assert execute.chapters() == [path] and execute.find(path) is None
    first = execute.executed(path)
    assert first.cells[-1].outputs[0].data["text/plain"] == "2"
    monkeypatch.setattr(execute, "run", None)  # would fail if it were called
    assert execute.executed(path).cells == execute.find(path).cells
    assert [p.name for p in execute.STORE.iterdir()] == [key(house)]


def test_a_failing_chapter_is_told_and_never_kept(house):
    path = house / "book/part/one.md"
    path.write_text(
        FRONT + cell("1 / 0", "raises-exception") + cell("y = 3\nassert y == 4, 'not four'") + cell("y"), "utf-8"
    )
    with pytest.raises(execute.CellFailed) as caught:
        execute.executed(path)
    assert caught.value.cell == 1
    told = str(caught.value)
    assert (
        told.startswith("book/part/one.md::Cell 1\n") and "assert y == 4" in told and "AssertionError: not four" in told
    )
    assert execute.find(path) is None and not execute.STORE.exists()


def test_a_run_is_not_kept_if_the_library_changed_under_it(house):
    path = house / "book/part/one.md"
    assert execute.find(path) is None  # from here on the key is known
    (house / "lib/whichbird/m.py").write_text("a = 2\n", "utf-8")
    assert execute.executed(path).cells[-1].outputs and not execute.STORE.exists()


def test_standard_error_is_a_failure(house):
    path = house / "book/part/one.md"
    path.write_text(FRONT + cell("import sys") + cell("print('hm', file=sys.stderr)"), "utf-8")
    with pytest.raises(execute.CellFailed, match="wrote to standard error:\nhm"):
        asyncio.run(execute.run(path))


@pytest.fixture
def temporary(monkeypatch):
    """A folder for temporary ones that no other process uses; its path is short, as a socket's has to be."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


def test_a_folder_of_sockets_goes_with_its_process(temporary):
    """One that a killed process left is not locked, and the next one removes it; what is in use, or not ours, stays."""
    left, others = temporary / "wbkilled", temporary / "wbother"
    left.mkdir()
    others.mkdir()
    (left / "lock").touch()
    with execute.sockets_folder() as first:
        assert {p.name for p in temporary.iterdir()} == {Path(first).name, "wbother"}
        with execute.sockets_folder() as second:
            assert Path(first).is_dir() and first != second
    assert list(temporary.iterdir()) == [others]


def test_a_signal_ends_a_run_in_order(house, temporary, capfd):
    """Two chapters run when SIGTERM comes: both kernels end, no folder stays, and what comes out is what Ctrl-C does."""
    started = [house / f"book/{n}" for n in range(2)]
    code = "import os, pathlib, time\npathlib.Path('NAME').write_text(str(os.getpid()))\ntime.sleep(60)"
    for path in started:
        path.with_suffix(".md").write_text(FRONT + cell(code.replace("NAME", path.name)), "utf-8")

    def stop():
        while not all(path.exists() and path.read_text() for path in started):
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGTERM)

    before, stopper = signal.getsignal(signal.SIGTERM), threading.Thread(target=stop)
    stopper.start()
    with pytest.raises(KeyboardInterrupt):
        execute.wait_for(execute.run_all([path.with_suffix(".md") for path in started], None))
    stopper.join()
    assert capfd.readouterr() == ("", "")  # nothing is told to have failed
    assert signal.getsignal(signal.SIGTERM) is before and not list(temporary.iterdir())
    for path in started:
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.read_text()), 0)


def test_the_sockets_are_not_in_the_house(house, monkeypatch):
    """However long the folder's name, the sockets' are short."""
    long = house / ("x" * 120)
    long.mkdir()
    monkeypatch.setattr(execute.tempfile, "tempdir", str(long))
    notebook = execute.read(house / "book/part/one.md")
    asyncio.run(execute.run_notebook(notebook, house))
    assert notebook.cells[-1].outputs and not list(long.iterdir())


def test_nbval_runs_a_chapter_keeps_its_run_and_compares_the_next_with_it(tmp_path):
    """In a house of its own: a first run is kept for the book, a second must give the same, and what failed is named by chapter and cell."""
    for name in ("conftest.py", "book/execute.py", "tests/skips.py", "requirements.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    chapter = tmp_path / "book/part/one.md"
    chapter.parent.mkdir()

    def ask(*cells):
        chapter.write_text(FRONT + "".join(cell(c) for c in cells), "utf-8")
        words = [
            "-o",
            "addopts=-q -rA --nbval-current-env",
            "-p",
            "no:xdist",
            "-p",
            "no:cacheprovider",
            "book/part/one.md",
        ]
        done = subprocess.run([sys.executable, "-m", "pytest", *words], cwd=tmp_path, capture_output=True, text=True)
        return done.stdout, list((tmp_path / "_build/executed").glob("*.ipynb"))

    said, (kept,) = ask("x = 1", "x + 1")
    assert "2 passed" in said and "PASSED book/part/one.md::Cell 1" in said
    run = nbformat.read(kept, 4)
    assert run.cells[-1].outputs[0].data["text/plain"] == "2" and run.metadata["run_seconds"] > 0
    assert run.metadata["language_info"]["name"] == "python" and run.cells[-1].execution_count == 2
    assert "2 passed" in ask("x = 1", "x + 1")[0]
    kept.write_text(kept.read_text("utf-8").replace('"2"', '"3"'), "utf-8")
    said, _ = ask("x = 1", "x + 1")
    assert "FAILED book/part/one.md::Cell 1" in said and "outputs differ" in said
    said, files = ask("x = 1", "assert x == 2", "x")
    assert "FAILED book/part/one.md::Cell 1" in said and "1 skipped" in said and "AssertionError" in said
    assert files == [kept]  # a run that failed is not kept
    said, files = ask("import sys", "print('hm', file=sys.stderr)")
    assert "FAILED book/part/one.md::Cell 1" in said and "hm" in said and files == [kept]


@pytest.mark.parametrize("path", execute.chapters(), ids=lambda path: path.stem)
def test_saving_a_chapter_in_jupyterlab_changes_nothing(path):
    """`make format` lays chapters out as jupytext writes them."""
    notebook = jupytext.read(path, fmt="md:myst", config=layout.SETTINGS)
    assert jupytext.writes(notebook, fmt="md:myst", config=layout.SETTINGS) == path.read_text("utf-8")
