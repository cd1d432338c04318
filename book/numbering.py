"""Numbers of chapters and exercises, the same in titles, links, the sidebar, the index of the search and the student notebooks.

A chapter of the paper has the number of the paper's section, which its file name begins with: `3-1-balance` is 3.1, `4-3b-synthesised` 4.3b,
`b-efficiency` B, and parts of an appendix are `a1-quadratic`, A.1, and so on.
A chapter of a part that the paper does not have is counted in the order of `_toc.yml`, after the part's number in `PARTS`. A page with
neither has no number, nor has a page of `LISTS`, which only says what is behind it. Exercises are counted inside their chapter. So a chapter that moves, or is split, changes no number by hand.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
PARTS = {"Beyond the paper": "6", "Notes": "N"}
LISTS = {"book/notes"}
NAMED = re.compile(r"(?:\d+(?:-\d+)?[b-z]?|[a-z]\d*)(?=-)")  # how the name of a file with a number begins
EXERCISE = re.compile(r"^`{3,}\{exercise-start\}[^\n]*\n:label: (\S+)", re.M)


def named(page: str) -> str | None:
    """The number in a file name.

    >>> named("book/paper/3-1-balance"), named("book/paper/4-4b-jumps"), named("book/appendix/a2-candidates"), named("book/appendix/h-formal")
    ('3.1', '4.4b', 'A.2', 'H')
    >>> named("book/use/glossary") is None
    True
    """
    found = NAMED.match(page.rpartition("/")[2])
    if not found:
        return None
    if found[0][0].isalpha():
        return ".".join(filter(None, [found[0][0].upper(), found[0][1:]]))
    return found[0].replace("-", ".")


@functools.cache
def _parts(text: str) -> list[dict]:
    """The parts in the text of a table of contents. Every notebook asks for them, and parsing them takes long."""
    return yaml.safe_load(text)["parts"]


def parts(toc: Path = ROOT / "_toc.yml") -> list[dict]:
    """The parts of the book."""
    return _parts(toc.read_text("utf-8"))


def chapters(toc: Path = ROOT / "_toc.yml") -> dict[str, str]:
    """Page to number, in the order of the book; pages without a number are left out."""
    out: dict[str, str] = {}
    for part in parts(toc):
        first, count = PARTS.get(part.get("caption", "")), 0
        for page in pages(part["chapters"]):
            number = named(page)
            if number is None and first is not None and page not in LISTS:
                count += 1
                number = f"{first}.{count}"
            if number is not None:
                out[page] = number
    return out


def pages(entries: list[dict]) -> list[str]:
    """Pages of a part, those below another page included."""
    return [page for entry in entries for page in [entry["file"], *pages(entry.get("sections", []))]]


def exercises(text: str, chapter: str | None) -> dict[str, str]:
    """Label to number of the exercises in the source of a chapter.

    >>> exercises("```{exercise-start}\\n:label: ex-one\\n```", "3.1")
    {'ex-one': '3.1.1'}
    """
    return {label: ".".join(filter(None, [chapter, str(n)])) for n, label in enumerate(EXERCISE.findall(text), 1)}
