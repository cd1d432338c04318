"""What is said in more than one place is the same in all of them."""

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import execute
import fuzz
import housemap
import pytest
import skips
import yaml
from hypothesis import settings

import whichbird as wb

ROOT = Path(__file__).parents[1]


def test_one_version():
    """The version is typed in lib/whichbird/_version.py; where else it is shown it follows."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == wb.__version__
    shown = re.findall(r"whichbird:([^|\s]+)", (ROOT / "README.md").read_text("utf-8"))
    assert shown == [wb.__version__]
    latest = re.search(r"^## (?!Unreleased)(\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert latest and latest[1] == wb.__version__


def test_the_files_that_start_first_are_there():
    """conftest.py lists the longest files of tests by name; a file that is renamed takes its new name there."""
    listed = re.search(r"^LONG = \[(.*?)\]", (ROOT / "conftest.py").read_text("utf-8"), re.M | re.S)
    names = re.findall(r'"(\w+)"', listed[1])
    assert len(names) > 1 and all((ROOT / f"tests/{name}.py").exists() for name in names)


def test_reasons_to_skip_have_their_group():
    """As the tests word them: whoever changes a reason keeps the word by which .ci/run counts it."""
    reasons = []
    for path in execute.files(ROOT / "tests", ".py") + [ROOT / "conftest.py"]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("pytest.skip", "pytest.mark.skipif"):
                said = [k.value for k in node.keywords if k.arg == "reason"] or node.args
                reasons += map(ast.unparse, said)
    words = {"browser": "Chromium", "Coq": "coq", "raw data": "mtme", "Node.js": "node"}
    found = Counter(skips.wanting(reason) for reason in reasons)
    assert all(found[group] for group in words) and set(words) == set(skips.WANTING)
    for reason in reasons:
        named = [group for group, word in words.items() if word.lower() in reason.lower()]
        assert not named or skips.wanting(reason) in named, reason


def test_ci_prints_what_was_skipped_in_one_line(tmp_path):
    """The last line of .ci/run, here with a `make` that runs one file of tests where Coq is not installed."""
    (tmp_path / "make").write_text(
        f"#!/bin/sh\n[ $1 != test ] || PATH=/nowhere {sys.executable} -m pytest -q -p no:xdist -o addopts= tests/test_formal.py -k 'gap'\n"
    )
    for name in ("make", "chromium", "coqc"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o755)
    place = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "MTME_ROOT": "/nowhere"}
    done = subprocess.run([ROOT / ".ci/run"], env=place, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    ran, *skipped = map(int, re.findall(r"\d+", last))
    assert dict(zip([*skips.WANTING, "other"], skipped, strict=True))["Coq"] > 0 and sum(skipped) == skipped[1], last


def test_property_tests_try_the_same_examples_every_time():
    now = settings.default
    assert now.derandomize and now.deadline is None and now.database is None
    assert not settings.get_profile("random").derandomize


FUZZED = """
from hypothesis import given, settings, strategies as st
@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_true(x): pass
@given(st.integers(0, 10**6))
def test_false(x): assert x < 10**5
def test_plain(): assert False
"""


def test_fuzz_counts_what_it_tried_and_tells_what_failed(tmp_path, monkeypatch, capsys):
    """A test that holds and one that does not, in a folder of their own; after its time nothing starts, and that is no success."""
    (tmp_path / "conftest.py").write_text(
        "from hypothesis import settings\nsettings.register_profile('random', database=None)\n"
    )
    (tmp_path / "test_it.py").write_text(FUZZED)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")  # names of tests begin here, wherever the repository is
    monkeypatch.setenv(fuzz.UNTIL, "inf")
    tried, failed, said = fuzz.once(7, [str(tmp_path)])
    assert tried["test_it.py::test_true"] == 30 and len(tried) == 2
    assert [Path(name).name for name in failed] == ["test_it.py::test_false"] and "x=100000" in said.replace(" ", "")
    monkeypatch.setattr(sys, "argv", ["fuzz.py", "--minutes", "1e-3", "--seed", "3", str(tmp_path)])
    assert fuzz.main() == 1
    told = capsys.readouterr().out
    assert "seed 3" in told and "\n0 examples" in told


def test_the_map_of_the_library_is_true():
    page = housemap.PAGE.read_text("utf-8")
    assert not housemap.stale(page), "run make map"
    other = page.replace("| `whichbird/core/balance.py` | The", "| `whichbird/core/balance.py` | A")
    assert housemap.stale(other.replace("`whichbird/core/noise.py`", "`whichbird/core/quiet.py`")) == [
        "whichbird/core/balance.py", "whichbird/core/noise.py", "whichbird/core/quiet.py"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("end", "word"), [(-15, "SIGTERM"), (-9, "SIGKILL"), (2, "pytest stopped"), (KeyboardInterrupt, "was stopped")]
)
def test_fuzz_stopped_from_outside_says_so_and_what_it_has_so_far(monkeypatch, capsys, end, word):
    """pytest in two rounds: the first passes, the second does not come to its end."""
    rounds = iter([0, end])

    def pytest_once(command, **_):
        code = next(rounds)
        if code is KeyboardInterrupt:
            raise code
        return subprocess.CompletedProcess(command, code, "examples 5 test_x.py::test_x\n" if code == 0 else "", "")

    monkeypatch.setattr(fuzz.subprocess, "run", pytest_once)
    monkeypatch.setenv(fuzz.UNTIL, "inf")
    monkeypatch.setattr(sys, "argv", ["fuzz.py", "--minutes", "5", "--seed", "3"])
    assert fuzz.main() == 1
    out, err = capsys.readouterr()
    assert "\n5 examples of 1 tests, 1 rounds from seed 3" in out
    assert word in err and "seed 4" in err
