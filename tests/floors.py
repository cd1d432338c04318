"""Runs the tests of the library with the oldest packages that lib/pyproject.toml promises to work with, in a fresh environment.

python tests/floors.py [words for pytest …]
"""

import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "_build" / "floors"
TOOLS = [
    "pytest",
    "pytest-xdist",
    "hypothesis",
    "PyYAML",
    "sympy",
    "jupytext",
    "nbclient",
    "ipykernel",
]  # what tests import
BOOK = [
    "claims",
    "concordance",
    "night",
    "reading",
]  # tests of the book's pages: they need Sphinx, and the library is not their subject


def floors() -> list[str]:
    """The library's requirements at their lowest versions."""
    project = tomllib.loads((ROOT / "lib/pyproject.toml").read_text("utf-8"))["project"]
    return [re.fullmatch(r"([\w-]+)>=([\d.]+)", need).expand(r"\1==\2") for need in project["dependencies"]]


def tools() -> list[str]:
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "requirements.txt").read_text("utf-8"), re.M))
    return [f"{name}=={pinned[name]}" for name in TOOLS]


def main() -> int:
    python = PLACE / "bin/python"
    print(f"Installing {', '.join(floors())} into {PLACE.relative_to(ROOT)} ...", flush=True)
    venv.create(PLACE, clear=True, with_pip=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *floors(), *tools()]
    subprocess.run([*install, "-e", str(ROOT / "lib")], check=True)
    words = sys.argv[1:] or ["lib/whichbird", "tests", *(f"--ignore=tests/test_{name}.py" for name in BOOK)]
    return subprocess.call([python, "-m", "pytest", *words], cwd=ROOT)


if __name__ == "__main__":
    sys.exit(main())
