"""What the kit holds, counted: for the page *The course kit* and for the kit's read-me."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from html import escape
from typing import Any

from course import handouts, objectives, questions, slides, sources

Link = Callable[[str], str | None]
PARTS = {
    "paper": "the paper",
    "beyond": "beyond the paper",
    "sure": "how sure is β",
    "use": "use it",
    "appendix": "the appendices",
}


@functools.cache
def decks() -> tuple[slides.Deck, ...]:
    return tuple(sorted((slides.read(path) for path in slides.decks()), key=lambda deck: deck.plan.minutes))


@functools.cache
def asked() -> tuple[questions.Question, ...]:
    return tuple(questions.read())


def _sum(key: str, entries: Any = None) -> int:
    return sum(e[key] for e in (objectives.exercises().values() if entries is None else entries))


def _hard(difficulty: str) -> int:
    return sum(e["difficulty"] == difficulty for e in objectives.exercises().values())


COUNTS: dict[str, Callable[[], str]] = {
    "questions": lambda: str(len(asked())),
    "slides": lambda: str(sum(len(deck.slides) for deck in decks())),
    "decks": lambda: str(len(decks())),
    "handouts": lambda: str(len(handouts.read())),
    "objectives": lambda: str(len(objectives.read())),
    "exercises": lambda: str(len(objectives.exercises())),
    "easy": lambda: str(_hard("easy")),
    "medium": lambda: str(_hard("medium")),
    "hard": lambda: str(_hard("hard")),
    "points": lambda: str(_sum("points")),
    "hours": lambda: f"{_sum('minutes') / 60:.0f}",
    "slips": lambda: str(sum(len(e["slips"]) for e in objectives.exercises().values())),
    "hints": lambda: str(sum(len(e["hints"]) for e in objectives.exercises().values())),
}


def _linked(words: str, address: str | None) -> str:
    return f'<a href="{escape(address)}">{escape(words)}</a>' if address else escape(words)


def objective_table(link: Link) -> tuple[list[str], list[list[str]]]:
    """Objectives with their exercises, questions and rows of the rubric."""
    rows = []
    for row in objectives.table(list(asked())):
        rows.append(
            [
                escape(row.words),
                ", ".join(_linked(number, link(f"{page}.html#{label}")) for label, number, page in row.exercises)
                or "–",
                ", ".join(_linked(str(n), link(f"use/questions.html#{name}")) for name, n in row.questions) or "–",
                escape(", ".join(row.rubric)),
                str(row.minutes),
            ]
        )
    return ["students can", "exercises", "questions", "rubric", "minutes of exercises"], rows


def timing_table(_: Link) -> tuple[list[str], list[list[str]]]:
    """Exercises, difficulties, minutes and points of each part of the book."""
    rows, pages = [], sources.exercise_pages()
    for part, name in PARTS.items():
        own = [e for label, e in objectives.exercises().items() if pages[label].startswith(f"{part}/")]
        many = [sum(e["difficulty"] == d for e in own) for d in objectives.DIFFICULTIES]
        rows.append([name, str(len(own)), *map(str, many), str(_sum("minutes", own)), str(_sum("points", own))])
    total = [str(sum(int(row[n]) for row in rows)) for n in range(1, 7)]
    return ["part", "exercises", *objectives.DIFFICULTIES, "minutes", "points"], [*rows, ["all together", *total]]


def deck_table(_: Link) -> tuple[list[str], list[list[str]]]:
    """Decks with their minutes and slides."""
    names = {"ten": "talk", "lecture": "lecture demo", "lab": "lab", "week1": "week 1", "week4": "week 4"}
    return ["deck", "plan", "minutes", "slides"], [
        [escape(d.title), names[d.plan.name], str(d.plan.minutes), str(len(d.slides))] for d in decks()
    ]


def handout_table(_: Link) -> tuple[list[str], list[list[str]]]:
    """Handouts and what they are for."""
    return ["sheet", "what for"], [[escape(h.title), escape(h.use)] for h in handouts.read()]


def week_table(_: Link) -> tuple[list[str], list[list[str]]]:
    """The eight sessions of the four weeks, as the page has them."""

    def words(cell: str) -> str:
        cell = re.sub(r"\{ref\}`(?:[^`<]*<)?(ex-[\w-]+)>?`", lambda m: sources.exercise(m[1]), cell.strip())
        cell = re.sub(r"\{doc\}`(?:\.\./)?([\w/-]+)`", lambda m: sources.title(_page(m[1])), cell)
        return escape(sources.plain(cell))

    head, _rule, *rows = re.findall(r"^\| .+ \|$|^\|---.*$", sources.source("use/four-weeks"), re.M)[:10]
    return [words(cell) for cell in head.split("|")[1:-1]], [[words(c) for c in row.split("|")[1:-1]] for row in rows]


def _page(name: str) -> str:
    return name if "/" in name else f"use/{name}"


TABLES: dict[str, Callable[[Link], tuple[list[str], list[list[str]]]]] = {
    "objectives": objective_table,
    "timings": timing_table,
    "decks": deck_table,
    "handouts": handout_table,
    "weeks": week_table,
}


def html_table(head: list[str], rows: list[list[str]], kind: str) -> str:
    """A table as HTML; cells are HTML already."""
    top = "".join(f'<th scope="col">{words}</th>' for words in head)
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>{"".join(f"<td>{cell}</td>" for cell in row[1:])}</tr>' for row in rows
    )
    return (
        f'<div class="pst-scrollable-table-container"><table class="table course-{kind}"><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
