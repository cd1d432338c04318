"""Runs the tests of the library in a fresh environment with other packages than the pinned ones: the oldest that lib/pyproject.toml
promises to work with, or the newest there are.

python tests/floors.py [--newest] [--python python3.13] [words for pytest …]
"""

import argparse
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOOLS = [
    "pytest",
    "pytest-xdist",
    "hypothesis",
    "PyYAML",
    "sympy",
    "jupytext",
    "nbclient",
    "ipykernel",
    "setuptools",
    "sacrebleu",
]  # what tests import
BOOK = [
    "claims",
    "concordance",
    "course_kit",
    "night",
    "reading",
    "whole",
]  # tests of the book's pages: they need Sphinx, and the library is not their subject


def needs() -> list[tuple[str, str]]:
    """The library's requirements: name and lowest version."""
    project = tomllib.loads((ROOT / "lib/pyproject.toml").read_text("utf-8"))["project"]
    return [re.fullmatch(r"([\w-]+)>=([\d.]+)", need).groups() for need in project["dependencies"]]


def floors() -> list[str]:
    """The library's requirements at their lowest versions, and the pinned tools."""
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "requirements.txt").read_text("utf-8"), re.M))
    return [f"{name}=={version}" for name, version in needs()] + [f"{name}=={pinned[name]}" for name in TOOLS]


def newest() -> list[str]:
    """The same packages without a word on their versions."""
    return [name for name, _ in needs()] + TOOLS


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Runs the tests of the library with other packages than the pinned ones."
    )
    parser.add_argument("--newest", action="store_true", help="the newest packages instead of the oldest")
    parser.add_argument("--python", default=sys.executable, help="the Python to run them with")
    args, words = parser.parse_known_args()
    wanted = newest() if args.newest else floors()
    named = subprocess.run(
        [args.python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.strip()
    place = ROOT / "_build" / f"{'newest' if args.newest else 'floors'}-{named}"
    python = place / "bin/python"
    print(f"Python {named}: installing {', '.join(wanted)} into {place.relative_to(ROOT)} ...", flush=True)
    subprocess.run([args.python, "-m", "venv", "--clear", place], check=True)
    quiet = ["--quiet", "--disable-pip-version-check"]
    install = (
        ["uv", "pip", "install", "--quiet", "--python", python]
        if shutil.which("uv")
        else [python, "-m", "pip", "install", *quiet]
    )
    subprocess.run([*install, "--only-binary=:all:", *wanted], check=True)  # a version without a wheel is no promise
    subprocess.run([*install, "--no-deps", "-e", ROOT / "lib"], check=True)
    subprocess.run([python, "-m", "pip", "list", "--disable-pip-version-check", "--format=freeze"], check=True)
    words = words or [
        "lib/whichbird",
        "lib/whichbird_book",
        "tests",
        *(f"--ignore=tests/test_{name}.py" for name in BOOK),
    ]
    return subprocess.call([python, "-m", "pytest", *words], cwd=ROOT)


if __name__ == "__main__":
    sys.exit(main())
