"""Two aspects, as somebody names them: columns of ratings, added up and negated where the name says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..core.check import Array, DataError, near
from .protocol import ASPECTS


class Aspect(NamedTuple):
    """What an aspect is called, and the columns it is the sum of, each with its sign."""

    label: str
    terms: tuple[tuple[int, str], ...]

    def of(self, column: Callable[[str], Array]) -> Array:
        """The ratings of this aspect; `column` gives those of one column, in any shape."""
        (sign, name), *rest = self.terms
        total = column(name) if sign == 1 else 0.0 - column(name)
        for sign, name in rest:
            total = total + sign * column(name)
        return total


Two = tuple[Aspect, Aspect]
PAPER: Two = (Aspect("adequacy", ((1, "adequacy"),)), Aspect("fluency", ((1, "fluency"),)))


def two_aspects(given: str | Sequence[str] | None) -> Two:
    """Two aspects from "A,B" or from two texts; each is a column, a sum A+B of some, or -A where lower is better.

    >>> [aspect.terms for aspect in two_aspects("consistency+relevance,-errors")]
    [((1, 'consistency'), (1, 'relevance')), ((-1, 'errors'),)]
    """
    if given is None:
        return PAPER
    names = [name.strip() for name in (given.split(",") if isinstance(given, str) else given)]
    if len(names) != 2 or not all(names):
        raise DataError(f"aspects {given!r}: two columns are expected, as in relevance,coherence")
    first, second = map(_aspect, names)
    if first.terms == second.terms:
        raise DataError(f"aspects {given!r}: both are {first.label}; two different ones are expected")
    return first, second


def _aspect(text: str) -> Aspect:
    terms = []
    for part in text.split("+"):
        name = part.strip()
        sign, name = (-1, name[1:].strip()) if name[:1] == "-" else (1, name)
        if not name:
            raise DataError(f"aspect {text!r} names no column; a name is expected before and after +, and after -")
        terms.append((sign, name))
    if len({name for _, name in terms}) < len(terms):
        raise DataError(f"aspect {text!r} names a column twice; each can be added once")
    return Aspect(text, tuple(sorted(terms, key=lambda term: term[1])) if len(terms) > 1 else tuple(terms))


def columns_needed(aspects: Two) -> tuple[str, ...]:
    """The columns that two aspects are made of."""
    return tuple(dict.fromkeys(name for aspect in aspects for _, name in aspect.terms))


def check_known(aspects: Two, there: Iterable[str], name: str) -> None:
    """Refuse aspects whose columns are not there."""
    there = list(there)
    for column in columns_needed(aspects):
        if column not in there:
            raise DataError(f"{name} has no aspect {column!r}{near(column, there)}; it has {', '.join(there)}")


def check_vary(means: Iterable[Array] | None, aspects: Sequence[str] = ASPECTS, name: str = "") -> None:
    """Refuse an aspect in which all systems have one mean: it would have no part in any balance."""
    for x, label in zip(means or (), aspects, strict=True):
        if np.ptp(x) <= 1e-12 * np.abs(x).max(initial=0.0):
            raise DataError(
                f"{name}: all systems have the same {label}, {x[0]:g}; an aspect that tells them apart is expected"
            )
