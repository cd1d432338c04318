"""Working copies in the reader's folder: what the reader changed is kept, what is old is renewed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import lab
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def made(tmp_path):
    (tmp_path / "made/part").mkdir(parents=True)
    (tmp_path / "made/part/one.ipynb").write_text("1")
    (tmp_path / "made/two.ipynb").write_text("2")
    return tmp_path / "made"


def test_a_copy_that_the_reader_changed_is_kept_unless_asked_for_anew(made, tmp_path):
    mine = tmp_path / "lab"
    assert lab.put(made, mine) == []
    assert (mine / "part/one.ipynb").read_text() == "1" and (mine / "two.ipynb").read_text() == "2"
    (mine / "part/one.ipynb").write_text("my work")
    (mine / "notes.ipynb").write_text("mine, too")
    (made / "part/one.ipynb").write_text("1, newer")
    (made / "two.ipynb").write_text("2, newer")
    for _ in range(2):  # and it stays so
        assert lab.put(made, mine) == ["part/one.ipynb"]
        assert (mine / "part/one.ipynb").read_text() == "my work" and (mine / "two.ipynb").read_text() == "2, newer"
    assert lab.put(made, mine, fresh=True) == []
    assert (mine / "part/one.ipynb").read_text() == "1, newer" and (mine / "notes.ipynb").read_text() == "mine, too"


def test_a_copy_that_was_there_before_the_list_is_the_reader_s(made, tmp_path):
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab/two.ipynb").write_text("whose?")
    assert lab.put(made, tmp_path / "lab") == ["two.ipynb"]


def test_a_folder_that_cannot_be_written_gets_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    done = subprocess.run(
        [sys.executable, str(ROOT / "book/lab.py"), "--no-lab", "--into", str(tmp_path / "file" / "lab")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1 and "DIR=" in done.stderr


def test_the_lab_opens_where_the_copies_are(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    words = lab.command(ROOT, "lab/index.ipynb", ["--no-browser", "--port", "8931"])
    assert "--allow-root" in words and words[-3:] == ["--no-browser", "--port", "8931"]
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "--allow-root" not in lab.command(ROOT, "lab/index.ipynb", [])
    assert "/lab/\n" in (ROOT / ".gitignore").read_text("utf-8")
    assert json.dumps(lab.SETTINGS)


@pytest.mark.parametrize("words", ["", "FRESH=1", "SOURCES=1", 'LAB="--no-browser --port 8931"'])
def test_make_passes_options_on(words):
    done = subprocess.run(f"make -n -o .venv/.lab lab {words}", shell=True, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and "book/lab.py" in done.stdout
    assert ("--fresh" in done.stdout) == ("FRESH" in words) and ("--sources" in done.stdout) == ("SOURCES" in words)
    assert ("--port 8931" in done.stdout) == ("8931" in words)
