"""Objectives of the course: their words, and which exercises, questions and rows of the rubric belong to each."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from course import sources
from course.sources import KitError

FILE = sources.HERE / "objectives.yml"
EXERCISES = sources.HERE / "exercises"
DIFFICULTIES = ("easy", "medium", "hard")


@dataclass(frozen=True)
class Objective:
    words: str
    rubric: tuple[str, ...]


@functools.cache
def read() -> Mapping[str, Objective]:
    """Id to objective, in the order of the course; rows of the rubric exist, and each is asked for.

    >>> list(read())[:3], read()["balance"].rubric
    (['meta-evaluation', 'chance', 'balance'], ('β',))
    """
    found = {
        name: Objective(row["words"], tuple(row["rubric"]))
        for name, row in yaml.safe_load(FILE.read_text("utf-8")).items()
    }
    rows, asked = {row[0] for row in sources.rubric()[1]}, {r for o in found.values() for r in o.rubric}
    if rows != asked:
        raise KitError(f"{FILE.name} and the table of marks differ in {', '.join(sorted(rows ^ asked))}")
    return found


@functools.cache
def exercises() -> Mapping[str, Mapping[str, Any]]:
    """Label to entry of every exercise that `book/course/exercises` describes, in the order of their numbers."""
    entries: dict[str, Mapping[str, Any]] = {}
    for file in sorted(EXERCISES.glob("*.yml")):
        for label, entry in (yaml.safe_load(file.read_text("utf-8")) or {}).items():
            if label not in sources.exercise_numbers() or entry.get("objective") not in read():
                raise KitError(f"{file.name}: {label} is no exercise of the book, or its objective does not exist")
            entries[label] = entry
    order = list(sources.exercise_numbers())
    return dict(sorted(entries.items(), key=lambda pair: order.index(pair[0])))


@dataclass(frozen=True)
class Row:
    """One line of the table: an objective with all that belongs to it, as words."""

    name: str
    words: str
    exercises: tuple[tuple[str, str, str], ...]  # label, number, page
    questions: tuple[tuple[str, int], ...]  # id, number
    rubric: tuple[str, ...]
    minutes: int


def table(questions: list[Any]) -> list[Row]:
    """Every objective with its exercises, questions and rows of the rubric."""
    numbers = sources.exercise_numbers()
    pages = sources.exercise_pages()
    out = []
    for name, about in read().items():
        own = {label: e for label, e in exercises().items() if e["objective"] == name}
        out.append(
            Row(
                name,
                about.words,
                tuple((label, numbers[label], pages[label]) for label in own),
                tuple((q.id, n) for n, q in enumerate(questions, 1) if q.objective == name),
                about.rubric,
                sum(e["minutes"] for e in own.values()),
            )
        )
    return out
