"""What is said in more than one place is the same in all of them."""

import re
from pathlib import Path

import yaml

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
