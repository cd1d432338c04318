"""A build of pages that was killed is not continued, and two builds do not write into one folder: on a book of three pages."""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

EXTENSIONS = Path(__file__).parents[1] / "book" / "_ext"
CONF = f"""
import os, signal, sys
sys.path.insert(0, {str(EXTENSIONS)!r})
extensions, html_theme = ["whole"], "basic"
def page(app, name, *_):
    if name == os.environ.get("DIE"):
        os.kill(os.getpid(), signal.SIGKILL)
def setup(app):
    app.connect("html-page-context", page)
"""


@pytest.fixture
def house(tmp_path):
    (tmp_path / "src").mkdir()
    for name in ("index", "one", "two"):
        (tmp_path / f"src/{name}.rst").write_text(f"{name}\n=====\n\nThe word {name}word.\n")
    with (tmp_path / "src/index.rst").open("a") as index:
        index.write("\n.. toctree::\n\n   one\n   two\n")
    (tmp_path / "src/conf.py").write_text(CONF)
    return tmp_path


def start(house, out="html", die="", **rest):
    words = ["-q", "-W", "--keep-going", "-d", house / f"trees-{out}", house / "src", house / f"{out}-build" / out]
    return subprocess.Popen(
        [sys.executable, "-m", "sphinx", *map(str, words)], env=os.environ | {"DIE": die}, stderr=subprocess.PIPE, text=True
    )  # fmt: skip


def build(house, out="html", die=""):
    process = start(house, out, die)
    _, said = process.communicate(timeout=120)
    return process.returncode, said


def files(house, out):
    folder = house / f"{out}-build" / out
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name != ".buildinfo"
    }


@pytest.mark.parametrize("die", ["one", "search"])
def test_a_build_that_was_killed_is_not_continued(house, die):
    """The next one ends with the same files, byte for byte, as one in a fresh folder; Sphinx alone would leave words out of the search."""
    assert build(house, die=die)[0] == -signal.SIGKILL
    code, said = build(house)
    assert code == 0 and "did not finish" in said
    assert build(house, "fresh") == (0, "") and files(house, "html") == files(house, "fresh")
    assert b"oneword" in files(house, "html")["searchindex.js"]
    assert build(house) == (0, "") and files(house, "html") == files(house, "fresh")  # and this one was whole


def test_a_folder_that_an_early_kill_left_as_a_file(house):
    static = house / "html-build/html/_static"
    static.parent.mkdir(parents=True)
    static.write_text("a stylesheet")
    assert build(house)[0] == 0 and static.is_dir()


def test_warnings_that_are_errors_come_again(house):
    page = house / "src/one.rst"
    page.write_text(page.read_text() + "\n:ref:`nowhere`\n")
    for _ in range(2):
        code, said = build(house)
        assert code == 1 and "nowhere" in said
    page.write_text("one\n===\n")
    assert build(house)[0] == 0 and build(house) == (0, "")


def test_a_second_build_waits_for_the_first(house):
    (house / "html-build").mkdir()
    with (house / "html-build/.lock").open("w") as first:
        fcntl.flock(first, fcntl.LOCK_EX)
        second = start(house)
        said = second.stderr.readline()
        assert "html-build" in said and second.poll() is None and not files(house, "html")
    assert second.communicate(timeout=120)[1] == "" and second.returncode == 0 and files(house, "html")


def test_two_builds_at_once_end_as_one_does(house):
    both = [start(house), start(house)]
    for process in both:
        process.communicate(timeout=120)
    assert [process.returncode for process in both] == [0, 0]
    assert build(house, "fresh")[0] == 0 and files(house, "html") == files(house, "fresh")
