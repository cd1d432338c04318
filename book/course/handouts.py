"""Handouts: Markdown of `book/course/handouts` to sheets of one A4 page each, as HTML, and as PDF where there is a Chromium."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from html import escape

import yaml
from course import sources, text
from course.sources import KitError, Numbers

FOLDER = sources.HERE / "handouts"


@dataclass(frozen=True)
class Handout:
    name: str
    title: str
    use: str
    numbers: Numbers
    body: str


@functools.cache
def read() -> tuple[Handout, ...]:
    """All handouts; one that names a `sheet` takes its text from that page of the book."""
    out = []
    for path in sorted(FOLDER.glob("*.md")):
        _, head, body = path.read_text("utf-8").split("---\n", 2)
        about = yaml.safe_load(head)
        if about.get("sheet") == "use/teaching-handout":
            body = re.sub(r"\A\*\*.+?\*\*\n", "", sources.handout())  # its title stands above it already
        if not body.strip():
            raise KitError(f"the handout {path.name} is empty")
        out.append(Handout(path.stem, about["title"], about["use"], Numbers(*about["numbers"]), body))
    return tuple(out)


def figures(handout: Handout) -> set[str]:
    return set(re.findall(r"!\[\]\((fig-[\w-]+)\)", handout.body))


@functools.cache
def card(scorer: str) -> str:
    """The β-card of a scorer whose figures ship with the library."""
    from whichbird.show.page import card as drawn
    from whichbird.study.portrait import load_report

    return drawn(load_report(), scorer)


def picture(name: str) -> str:
    """A figure of a sheet: of a chapter, or a β-card."""
    kind, colon, scorer = name.partition(":")
    return f'<div class="card">{card(scorer)}</div>' if colon and kind == "card" else text.pictures(name)


def page(title: str, body: str, kind: str, foot: str) -> str:
    """A sheet as a page of HTML."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="../look/mark.svg"><link rel="stylesheet" href="../look/palette.css"><link rel="stylesheet" href="../look/sheet.css"></head>
<body class="{kind}"><main>
<h1>{escape(title)}</h1>
{body}
</main><footer>{escape(foot)}</footer></body></html>
"""


def html(handout: Handout, foot: str) -> str:
    """A handout as a page of HTML."""
    try:
        body = text.markdown(handout.body, handout.numbers, picture=picture)
    except KitError as error:
        raise KitError(f"the handout {handout.name}: {error}") from None
    return page(handout.title, blanks(body), handout.name, foot)


def blanks(html: str) -> str:
    """Lines to write on instead of underscores.

    >>> blanks("Name: ____")
    'Name: <span class="blank" style="width: 7mm"></span>'
    """
    return re.sub(r"_{4,}", lambda m: f'<span class="blank" style="width: {round(1.75 * len(m[0]))}mm"></span>', html)
