"""Slides: Markdown of `book/course/slides` to pages of HTML that need no server and no network.

A deck begins with its title, the plan of *Teaching with this book* that it follows, and the pages whose numbers it shows. A line `---` ends a slide. A
slide may begin with options, `:minutes: 5-10` (the step of the plan), `:kind: figure`, `:ask: Q2` (a question of the plan: its words go on the slide, its
expected answer into the notes), `:explorer: dataset=ende24&beta=0.5` with `:still: fig-33-slope` (what paper shows instead). After a line `???` come
the speaker's notes. `text.py` says what the text may hold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import yaml
from course import sources, text
from course.sources import KitError, Numbers

FOLDER = sources.HERE / "slides"
LOOK = sources.HERE / "look"
KINDS = ("title", "words", "figure", "side", "ask", "explorer", "code")
OPTIONS = {"minutes", "kind", "ask", "explorer", "still"}


@dataclass
class Slide:
    """One slide, as written."""

    body: str
    notes: str
    options: dict[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        fallback = "explorer" if "explorer" in self.options else "ask" if "ask" in self.options else "words"
        return self.options.get("kind", fallback)

    @property
    def minutes(self) -> tuple[int, int] | None:
        if "minutes" not in self.options:
            return None
        first, _, last = self.options["minutes"].partition("-")
        return int(first), int(last)


@dataclass
class Deck:
    """Slides in order."""

    name: str
    title: str
    plan: sources.Plan
    numbers: Numbers
    slides: list[Slide]


def decks() -> list[Path]:
    return sorted(FOLDER.glob("*.md"))


def read(path: Path) -> Deck:
    """A deck, checked: options that exist, minutes of the plan in order with none left out, a heading and notes on every slide."""
    _, head, rest = path.read_text("utf-8").split("---\n", 2)
    about = yaml.safe_load(head)
    plan = sources.plan(about["plan"])
    slides = []
    for part in re.split(r"^---\n", rest, flags=re.M):
        body, _, notes = part.partition("\n???\n")
        options = dict(re.findall(r"^:(\w+): (.+)$", body, re.M))
        body = re.sub(r"^:\w+: .+\n", "", body, flags=re.M).strip()
        slide = Slide(body, notes.strip(), options)
        where = f"{path.name}, slide {len(slides) + 1}"
        if set(options) - OPTIONS or slide.kind not in KINDS:
            raise KitError(f"{where}: unknown option or kind in {options}")
        if not re.search(r"^#+ ", body, re.M) or not slide.notes:
            raise KitError(f"{where}: a heading and notes are needed")
        if "ask" in options and options["ask"] not in plan.questions:
            raise KitError(f"{where}: the plan {plan.name!r} has no question {options['ask']}")
        slides.append(slide)
    steps = [s.minutes for s in slides if s.minutes]
    if list(dict.fromkeys(steps)) != [step[:2] for step in plan.steps] or steps != sorted(steps):
        raise KitError(f"{path.name}: its minutes are not the steps of the plan {plan.name!r}, in order")
    if plan.questions and {s.options["ask"] for s in slides if "ask" in s.options} != set(plan.questions):
        raise KitError(f"{path.name}: it does not ask every question of the plan {plan.name!r} ")
    return Deck(path.stem, about["title"], plan, Numbers(*about["numbers"]), slides)


def figures(deck: Deck) -> set[str]:
    """Names of the figures that a deck shows."""
    named = {m for s in deck.slides for m in re.findall(r"!\[\]\((fig-[\w-]+)\)", s.body)}
    return named | {s.options["still"] for s in deck.slides if "still" in s.options}


def heading(slide: Slide, numbers: Numbers) -> str:
    """The words of a slide's heading."""
    found = re.search(r"^#+ (.+)$", slide.body, re.M)
    assert found  # `read` has seen it
    return text.words(found[1], numbers)


def slide_html(slide: Slide, deck: Deck, n: int) -> str:
    """One slide as a section: the stage that is shown, and the notes."""
    where = f"{deck.name}.md, slide {n}"
    try:
        body = text.markdown(slide.body, deck.numbers)
        notes = text.markdown(slide.notes, deck.numbers)
        if "ask" in slide.options:
            question, answer = deck.plan.questions[slide.options["ask"]]
            asked = text.markdown(question, deck.numbers, inline=True)
            body = re.sub(r"(</h\d>)", rf'\1\n<p class="question">{asked}</p>', body, count=1)
            notes = f'<p class="expect"><b>Expect:</b> {text.markdown(answer, deck.numbers, inline=True)}</p>\n{notes}'
        if "explorer" in slide.options:
            still = text.pictures(slide.options["still"])
            address = escape(f"../explorer/index.html?{slide.options['explorer']}")
            body += (
                f'\n<div class="explorer" data-src="{address}"><div class="still">{still}</div>'
                f'<p class="open"><a href="{address}" target="_blank">Open the explorer in a window of its own</a></p></div>'
            )
    except KitError as error:
        raise KitError(f"{where}: {error}") from None
    minutes, time, after = slide.minutes, "", ""
    if minutes:
        after = f' data-from="{minutes[0]}" data-to="{minutes[1]}"'
        time = f'<span class="minutes">{minutes[0]}–{minutes[1]} min</span>'
    head = escape(heading(slide, deck.numbers), quote=True)
    return (
        f'<section class="slide {slide.kind}" id="slide-{n}" aria-label="{n} of {len(deck.slides)}: {head}"{after}>\n'
        f'<div class="stage"><div class="page">\n{body}\n</div>'
        f'<p class="foot"><span>{escape(deck.title)}</span>{time}<span>{n}</span></p></div>\n'
        f'<aside class="notes" aria-label="Speaker’s notes">\n{notes}\n</aside>\n</section>'
    )


def html(deck: Deck) -> str:
    """A deck as one page."""
    body = "\n".join(slide_html(slide, deck, n) for n, slide in enumerate(deck.slides, 1))
    return f"""<!DOCTYPE html>
<html lang="en" data-minutes="{deck.plan.minutes}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(deck.title)} ({deck.plan.minutes} minutes)</title>
<link rel="icon" href="../look/mark.svg"><link rel="stylesheet" href="../look/palette.css"><link rel="stylesheet" href="../look/slides.css">
<script src="../look/slides.js" defer></script></head>
<body><main>
{body}
</main></body></html>
"""
