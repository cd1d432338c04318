"""Opens the working copies of the chapters in JupyterLab: `make lab`.

    python book/lab.py [--fresh] [--into DIR] [-- options of JupyterLab]     first builds what is not built
    python book/lab.py --no-lab                                              the copies alone
    python book/lab.py --sources                                             the sources themselves, for those who write chapters

Copies are made by `book/copies.py` with the pages, and put into `lab/`, a folder of the reader's own. A copy that the reader has changed is kept, unless `--fresh`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import copies
import execute

ROOT = execute.ROOT
LAB = ROOT / "lab"
MADE = ".made.json"  # digest of each copy as it was put there
# No pop-up with news; a Markdown file opens as a notebook where it is one
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension:plugin": {
        "defaultViewers": {"markdown": "Jupytext Notebook", "myst": "Jupytext Notebook"}
    },
}


def put(made: Path, into: Path, fresh: bool = False) -> list[str]:
    """Put the copies of a folder into the reader's; returns the names of those that the reader has changed, and that are kept."""
    into.mkdir(parents=True, exist_ok=True)
    list_ = into / MADE
    known = json.loads(list_.read_text("utf-8") or "{}") if list_.is_file() else {}
    kept = []
    for file in sorted(made.rglob("*.ipynb")):
        name = file.relative_to(made).as_posix()
        target, data = into / name, file.read_bytes()
        new = hashlib.sha256(data).hexdigest()
        there = hashlib.sha256(target.read_bytes()).hexdigest() if target.is_file() else None
        if there not in (None, new, known.get(name)) and not fresh:
            kept.append(name)
            continue
        if there != new:
            target.parent.mkdir(parents=True, exist_ok=True)
            part = target.with_name(f".{target.name}.part")
            part.write_bytes(data)
            os.replace(part, target)
        known[name] = new
    list_.write_text(json.dumps(known, indent=0), "utf-8")
    return kept


def build() -> int:
    """Run the chapters and build the pages, if a copy is missing or old."""
    if not copies.stale():
        return 0
    print("Building the book first ...", flush=True)
    for program in ("execute.py", "build.py"):
        if code := subprocess.call([sys.executable, str(execute.BOOK / program)]):
            return code
    return 0


def settings() -> None:
    """Write our settings where JupyterLab looks for those of its environment; without them it works, too."""
    place = Path(sys.prefix, "share", "jupyter", "lab", "settings", "overrides.json")
    text = json.dumps(SETTINGS)
    if not (place.is_file() and place.read_text("utf-8") == text):
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")
        except OSError:
            pass


def command(root: Path, first: str, options: list[str]) -> list[str]:
    """JupyterLab in a folder, at a file of it. It refuses to run as root unless told to."""
    words = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={root}"]
    words += [f"--LabApp.default_url=/lab/tree/{first}", f"--ServerApp.preferred_dir={(root / first).parent}"]
    return [*words, *(["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []), *options]


def main() -> int:
    parser = argparse.ArgumentParser(description="Open the chapters as notebooks.")
    parser.add_argument("--fresh", action="store_true", help="copies that were changed are made anew, too")
    parser.add_argument("--into", type=Path, default=LAB, help="the folder for the copies (lab)")
    parser.add_argument("--no-lab", action="store_true", help="write the copies, and open nothing")
    parser.add_argument("--sources", action="store_true", help="open the sources of the chapters")
    parser.add_argument("options", nargs="*", help="options of JupyterLab, after --")
    asked = parser.parse_args()
    settings()
    if asked.sources:
        return subprocess.call(command(execute.BOOK, "index.md", asked.options))
    into = asked.into.expanduser().resolve()
    try:
        into.mkdir(parents=True, exist_ok=True)
        with (into / MADE).open("a"):
            pass
    except OSError as error:
        print(
            f"{into} cannot be written ({error.strerror}): name another folder with make lab DIR=<folder>.",
            file=sys.stderr,
        )
        return 2
    if code := build():
        return code
    kept = put(copies.HTML / copies.FOLDER, into, asked.fresh)
    if kept:
        print(f"Kept as you changed them: {', '.join(kept)}. (make lab FRESH=1 makes them anew.)")
    print(f"The chapters are in {os.path.relpath(into)}.", flush=True)
    if asked.no_lab:
        return 0
    inside = into.is_relative_to(ROOT)  # then links to the built pages work, too
    root = ROOT if inside else into
    try:
        return subprocess.call(
            command(
                root, f"{into.relative_to(root).as_posix()}/index.ipynb" if inside else "index.ipynb", asked.options
            )
        )
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
