"""Builds the pages of the book from chapters that `book/execute.py` has run.

python book/build.py                              the book, in _build/html; a warning is an error
python book/build.py book/paper/2-background.md   one page alone, in _build/page; what it says of other pages leads nowhere there
"""

import argparse
import sys
from pathlib import Path

import execute
from jupyter_book.sphinx import build_sphinx

ROOT = Path(__file__).resolve().parents[1]
OTHER_PAGES = ["ref.*", "myst.xref_missing", "toc.*", "bibtex.*"]  # what Sphinx cannot find when it reads one page only


def book() -> int:
    """All pages. 0 if they were built without a warning."""
    settings = {"external_toc_path": str(ROOT / "_toc.yml"), "nitpicky": True, "latex_individualpages": False}
    result = build_sphinx(
        ROOT,
        ROOT / "_build" / "html",
        noconfig=True,
        path_config=ROOT / "_config.yml",
        confoverrides=settings,
        warningiserror=True,
        keep_going=True,
        quiet=True,
    )
    return 0 if result == 0 else 1


def page(path: Path) -> int:
    """One page alone."""
    name = path.relative_to(ROOT).with_suffix("").as_posix()
    others = [p.relative_to(ROOT).as_posix() for p in execute.pages() if p != path]
    settings = {
        "master_doc": name,
        "exclude_patterns": ["_build", ".*", "**/.*", "*.md", "lib/**", "tests/**", "data/**", "bench/**", *others],
        "suppress_warnings": OTHER_PAGES,
        "latex_individualpages": False,
    }
    result = build_sphinx(
        ROOT,
        ROOT / "_build" / "page" / "html",
        use_external_toc=False,
        noconfig=True,
        path_config=ROOT / "_config.yml",
        confoverrides=settings,
        freshenv=True,
        quiet=True,
    )
    if result == 0:
        print(f"The page is at _build/page/html/{name}.html")
    return 0 if result == 0 else 1


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the pages of the book.")
    parser.add_argument("page", nargs="?", type=Path, help="one page alone (else all)")
    path = parser.parse_args().page
    if path is None:
        return book()
    if not (path.suffix == ".md" and path.is_file() and path.resolve().is_relative_to(ROOT / "book")):
        parser.error(f"{path}: no page of the book; name one as book/paper/2-background.md")
    return page(path.resolve())


if __name__ == "__main__":
    sys.exit(main())
