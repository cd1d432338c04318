"""A pool: the segment-level scores of K systems, by people and by scorers, on the same N segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tqdm import tqdm

from ..core import check
from ..core.check import DataError
from ..core.permutation import PERMUTATIONS, PUBLISHED_SEED, p_counts
from .protocol import ASPECTS, Tested, remaining, renamed, signature

if TYPE_CHECKING:
    import pandas as pd

CONSTANT = 1e-12  # system means that spread less than this, relative to their size, are one number and its rounding


class Rating(NamedTuple):
    """One more rating of the cells of a pool: arrays (K, N), NaN (and rater −1) where there is none."""

    adequacy: np.ndarray
    fluency: np.ndarray
    total: np.ndarray
    raters: np.ndarray


class Exclusion(NamedTuple):
    """What a reader left out: a "system" or a "scorer" by its name, or a `number` of one kind of "segment"; and why."""

    kind: str
    name: str
    reason: str
    number: int = 1


@dataclass(frozen=True)
class Pool:
    """Systems × segments, checked on construction.

    All score arrays are (K, N), higher is better, rows in the order of `systems`. In `adequacy`, `fluency` and `total`
    NaN marks a cell nobody rated; `adequacy` and `fluency` are None where no per-error ratings exist. `lines` (N,) are
    the source lines (from 0) of `source_lines` in all. A line may have totals only or errors only: `official` and
    `annotated` (N,) say which. P-values rest on the former, `adequacy`, `fluency` and β on the latter, and what needs
    both takes the lines that have both. `scorers` maps a name to its scores, which have no gaps on official lines (NaN
    elsewhere: nobody asks for them there); `aliases` maps other names of the same scores to it. `exact` says how ties of permutation tests are told (see `p_values`).
    `errors` counts the errors behind the two aspects: columns system, category, severity, count, penalty. `left_out`
    lists systems, scorers and segments of the files that take no part, and why; `notes` says in sentences which scorers
    were left out and what else a reader should know. `segments` names the N segments where their file does; else they
    go by their source lines.

    `raters` (K, N) says who rated each cell, as places in `rater_names`, −1 where nobody did or where it is a mean over
    several. `documents` and `domains` name, for each of the N segments, the document and the kind of text it belongs
    to. `ratings` holds every rating of a cell where cells were rated more than once: the first rating of each cell, the
    second, …

    `aspect_names` labels the two aspects where they are others than adequacy and fluency: relevance and coherence of
    stories, say. The arrays keep the paper's names. `criteria` maps the name of each aspect that people rated, where there
    are more than two, to its ratings (R, K, N); `of_aspects` takes two of them. `dropped` names the systems that
    `without` left out.

    >>> cells = np.array([[0, -5, 0], [-1, 0, -1]])  # two systems, three segments
    >>> style = np.array([[0, 0, 0], [0, -1, 0]])
    >>> pool = Pool("made", ("x", "y"), np.arange(3), 3, cells + style, cells, style, {"mine": cells + 0.5})
    >>> pool.rated.tolist(), [means.round(3).tolist() for means in pool.aspects]
    ([3, 3], [[-1.667, -0.667], [0.0, -0.333]])
    """

    name: str
    systems: tuple[str, ...]
    lines: np.ndarray
    source_lines: int
    total: np.ndarray
    adequacy: np.ndarray | None = None
    fluency: np.ndarray | None = None
    scorers: dict[str, np.ndarray] = field(default_factory=dict)
    errors: pd.DataFrame | None = None
    reference: str = "refA"
    notes: tuple[str, ...] = ()
    segments: tuple[str, ...] | None = None
    raters: np.ndarray | None = None
    rater_names: tuple[str, ...] = ()
    documents: tuple[str, ...] | None = None
    domains: tuple[str, ...] | None = None
    ratings: tuple[Rating, ...] = ()
    left_out: tuple[Exclusion, ...] = ()
    aliases: dict[str, str] = field(default_factory=dict)
    exact: bool = True
    aspect_names: tuple[str, str] = ASPECTS
    criteria: dict[str, np.ndarray] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.systems) < 2:
            raise ValueError(f"pool {self.name}: {len(self.systems)} system; at least two are needed")
        for what, names in (("system", self.systems), ("scorer", tuple(self.scorers))):
            for name in names:
                if names.count(name) > 1:
                    raise ValueError(f"pool {self.name}: {what} {name!r} is there twice; names must differ")
        object.__setattr__(self, "aspect_names", two_names(self.aspect_names))
        if (self.adequacy is None) != (self.fluency is None):
            raise ValueError(f"pool {self.name}: adequacy and fluency come together or not at all")
        shape = (len(self.systems), len(self.lines))
        if shape[1] == 0:
            raise ValueError(f"pool {self.name}: no segment is rated")
        lines = np.asarray(self.lines)
        inside = lines.dtype.kind in "iu" and 0 <= lines.min() and lines.max() < self.source_lines
        if not inside or len(np.unique(lines)) < lines.size:
            raise ValueError(f"pool {self.name}: lines must be different whole numbers below {self.source_lines}")
        object.__setattr__(self, "lines", lines)
        if self.segments is not None and (
            len(set(self.segments)) != len(self.segments) or len(self.segments) != shape[1]
        ):
            raise ValueError(f"pool {self.name}: segments must be {shape[1]} different names, one per segment")
        for what in ("total", "adequacy", "fluency"):
            if getattr(self, what) is not None:
                x = self._matrix(getattr(self, what), what, shape, allow_nan=True)
                object.__setattr__(self, what, x)
                empty = np.isnan(x).all(axis=1)
                if empty.any():
                    raise ValueError(
                        f"pool {self.name}: system {self.systems[empty.argmax()]!r} has no {what} rating at all"
                    )
        if (
            self.adequacy is not None
            and self.fluency is not None
            and (np.isnan(self.adequacy) != np.isnan(self.fluency)).any()
        ):
            raise ValueError(f"pool {self.name}: a cell has an adequacy and no fluency rating, or the reverse")
        for what in ("documents", "domains"):
            names = getattr(self, what)
            if names is not None and len(names) != shape[1]:
                raise ValueError(
                    f"pool {self.name}: {what} has {len(names)} names where {shape[1]}, one per segment, are expected"
                )
        if self.raters is not None:
            object.__setattr__(self, "raters", self._raters(self.raters, shape))
        ratings = []
        for n, rating in enumerate(self.ratings, start=1):
            a, f, t = (
                self._matrix(getattr(rating, what), f"{what} of rating {n}", shape, allow_nan=True)
                for what in ("adequacy", "fluency", "total")
            )
            ratings.append(Rating(a, f, t, self._raters(rating.raters, shape)))
        object.__setattr__(self, "ratings", tuple(ratings))
        compared = self.official
        scorers = {s: self._matrix(x, f"scorer {s}", shape, not compared.all()) for s, x in self.scorers.items()}
        for scorer, x in scorers.items() if not compared.all() else ():
            check.matrix(x[:, compared], f"pool {self.name}: scorer {scorer}")
        object.__setattr__(self, "scorers", scorers)
        # of scorers that are there: a pool with some of them has no use for the names of others
        object.__setattr__(
            self, "aliases", {a: s for a, s in self.aliases.items() if s in scorers and a not in scorers}
        )

    def _matrix(self, given: ArrayLike, what: str, shape: tuple[int, int], allow_nan: bool = False) -> np.ndarray:
        # row by row in memory, wherever it came from: the last bit of a mean depends on the order of its sum
        x: np.ndarray = np.ascontiguousarray(check.matrix(given, f"pool {self.name}: {what}", allow_nan))
        if x.shape != shape:
            raise ValueError(
                f"pool {self.name}: {what} has shape {x.shape} where {shape} (systems × segments) is expected"
            )
        return x

    def _raters(self, given: ArrayLike, shape: tuple[int, int]) -> np.ndarray:
        x: np.ndarray = np.asarray(given)
        if x.shape != shape or x.dtype.kind not in "iu" or x.min() < -1 or x.max() >= len(self.rater_names):
            raise ValueError(
                f"pool {self.name}: raters must be {shape[0]} × {shape[1]} places in rater_names, of which there are "
                f"{len(self.rater_names)}, or −1"
            )
        places: np.ndarray = x.astype(np.int16)
        return places

    @property
    def rated(self) -> np.ndarray:
        """How many segments of each system carry a rating of errors (or, without those, a total): shape (K,)."""
        counts: np.ndarray = (~np.isnan(self.total if self.adequacy is None else self.adequacy)).sum(axis=1)
        return counts

    @property
    def official(self) -> NDArray[np.bool_]:
        """Which lines have a total, of any system: shape (N,). P-values of people and scorers rest on these."""
        there: NDArray[np.bool_] = ~np.isnan(self.total).all(axis=0)
        return there

    @property
    def annotated(self) -> NDArray[np.bool_]:
        """Which lines have ratings of errors, of any system: shape (N,). Adequacy, fluency and β rest on these."""
        if self.adequacy is None:
            return np.zeros(len(self.lines), dtype=bool)
        there: NDArray[np.bool_] = ~np.isnan(self.adequacy).all(axis=0)
        return there

    @property
    def scored(self) -> dict[str, np.ndarray]:
        """The scorers on the lines that have a total, where they are compared with people: (K, lines) each."""
        keep = self.official
        return self.scorers if keep.all() else {scorer: columns(x, keep) for scorer, x in self.scorers.items()}

    @property
    def aspects(self) -> tuple[np.ndarray, np.ndarray] | None:
        """System means of adequacy and fluency, (K,) each; None where no per-error ratings exist."""
        if self.adequacy is None or self.fluency is None:
            return None
        return system_means(self.adequacy), system_means(self.fluency)

    @property
    def signature(self) -> str:
        """One line that says what a number rests on."""
        return signature(self, PERMUTATIONS, PUBLISHED_SEED)

    def __repr__(self) -> str:
        return f"<Pool {self.signature}>"

    def of_aspects(self, first: str, second: str) -> Pool:
        """The same pool with two others of the aspects that people rated; see `source.of_aspects`.

        >>> from whichbird import balance, load_pool
        >>> pool = load_pool("hanna").of_aspects("empathy", "complexity")
        >>> pool.aspect_names, round(balance(*pool.aspects), 3)
        (('empathy', 'complexity'), 0.255)
        """
        from .source import of_aspects

        return of_aspects(self, (first, second))

    def without(self, *names: str) -> Pool:
        """The same pool with some systems left out, by name; its name and signature say so.

        >>> from whichbird import balance, load_pool
        >>> pool = load_pool("ende24").without("IKUN-C")
        >>> pool.name, len(pool.systems), round(balance(*pool.aspects), 3)
        ('ende24 without IKUN-C', 15, 0.635)
        """
        if not names:
            return self
        keep = remaining(self, names)

        def rows(x: np.ndarray | None) -> np.ndarray | None:
            return None if x is None else x[keep]

        errors = self.errors
        return replace(
            self,
            name=renamed(self, names),
            systems=tuple(s for s, kept in zip(self.systems, keep, strict=True) if kept),
            total=self.total[keep],
            adequacy=rows(self.adequacy),
            fluency=rows(self.fluency),
            scorers={scorer: x[keep] for scorer, x in self.scorers.items()},
            errors=None if errors is None else errors[~errors["system"].isin(names)].reset_index(drop=True),
            raters=rows(self.raters),
            ratings=tuple(Rating(*(x[keep] for x in rating)) for rating in self.ratings),
            criteria={name: x[:, keep] for name, x in self.criteria.items()},
            left_out=(*self.left_out, *(Exclusion("system", name, "left out on request") for name in names)),
            dropped=(*self.dropped, *names),
        )

    def tested(self, reference: str | None = None) -> Tested:
        """The p-values of people's total and of every scorer, computed here, and what they rest on."""
        if reference not in (None, self.reference):
            raise DataError(f"{self.name} was read with {self.reference}; read it again for {reference}")
        human = p_counts(self.total, exact=self.exact) / PERMUTATIONS
        bar = tqdm(self.scored.values(), desc="permutation tests", delay=1, leave=False, disable=None)
        p = np.array([p_counts(x, exact=self.exact) / PERMUTATIONS for x in bar]).reshape(-1, human.size)
        return Tested(human, p, PERMUTATIONS, PUBLISHED_SEED, self.signature, self.exact)


def pick(pool: Pool, keep: NDArray[np.bool_], name: str | None = None) -> Pool:
    """Return the pool of the segments where `keep` (N,) is true; without counts of errors, which are of all segments.

    >>> pool = Pool("made", ("x", "y"), np.arange(3), 3, [[1, 2, np.nan], [0, 3, np.nan]])
    >>> pick(pool, pool.official).lines.tolist()
    [0, 1]
    """
    if keep.all() and name is None:
        return pool

    def some(x: np.ndarray | None) -> np.ndarray | None:
        return None if x is None else x[:, keep]

    def named(names: Sequence[str] | None) -> tuple[str, ...] | None:
        return None if names is None else tuple(n for n, kept in zip(names, keep, strict=True) if kept)

    return replace(
        pool,
        name=name or pool.name,
        lines=pool.lines[keep],
        total=pool.total[:, keep],
        adequacy=some(pool.adequacy),
        fluency=some(pool.fluency),
        scorers={scorer: x[:, keep] for scorer, x in pool.scorers.items()},
        errors=None,
        segments=named(pool.segments),
        raters=some(pool.raters),
        documents=named(pool.documents),
        domains=named(pool.domains),
        ratings=tuple(Rating(*(x[:, keep] for x in rating)) for rating in pool.ratings),
        criteria={name: x[..., keep] for name, x in pool.criteria.items()},
        left_out=tuple(x for x in pool.left_out if x.kind != "segment"),
    )


def two_names(given: Sequence[str]) -> tuple[str, str]:
    """The names of two aspects, checked: texts that are not empty and differ.

    >>> two_names(["relevance", "coherence"])
    ('relevance', 'coherence')
    """
    names = tuple(given)
    if isinstance(given, str) or len(names) != 2 or not all(isinstance(n, str) and n.strip() for n in names):
        raise ValueError(f"aspect_names is {given!r}; two names are expected")
    if names[0] == names[1]:
        raise ValueError(f"both aspects are called {names[0]!r}; two different names are expected")
    return names


def system_means(x: np.ndarray) -> np.ndarray:
    """Mean of each row of x (K, N) over its rated cells. Columns without any change nothing, not even the last bit.

    >>> system_means(np.array([[1.0, np.nan, 3.0], [2.0, np.nan, np.nan]]))
    array([2., 2.])
    """
    empty = np.isnan(x).all(axis=0)
    means: np.ndarray = np.nanmean(columns(x, ~empty) if empty.any() and not empty.all() else x, axis=1)
    return means


def columns(x: np.ndarray, keep: NDArray[np.bool_]) -> np.ndarray:
    """Some columns of x (K, N), row by row in memory, since the last bit of a mean depends on the order of its sum."""
    out: np.ndarray = np.ascontiguousarray(x[:, keep])
    return out


def refuse_constant(x: np.ndarray, name: str) -> None:
    """A scorer (K, N) whose system means are one number and its rounding ranks nothing: refuse it."""
    means = system_means(x)
    if np.ptp(means) <= CONSTANT * np.abs(x).max():
        raise DataError(
            f"scorer {name!r} is constant: every system has the mean score {means[0]:.6g}; it cannot tell them apart"
        )
