"""How sure β₀ is: the noise in both variances, β₀ without it, an interval, and the text it would take to know more.

**What the interval is about.** System means are means over some documents; with endless text of the same kind, rated in
the same way, they would be other numbers, and their β₀ another. That β₀ of *these systems* is what the interval is to
hold. Systems are not drawn, and what raters have in common on all documents is no noise here.

`core.noise` has the mathematics; `coverage` measures how often the interval holds the truth where that is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._version import __version__
from ..core import check
from ..core.balance import balance
from ..core.check import Array, DataError
from ..core.noise import Spread, interval, residuals, spread
from ..data.digest import Digest
from ..data.pool import Pool
from .intervals import membership, quantile
from .significance import LEVEL, _share, pool_of

ASPECTS = ("adequacy", "fluency")
FACTORS = 1e-3, 1e6  # how much less or more text `needed` looks at


@dataclass(frozen=True, eq=False)
class Components:
    """The variance components of K system means, and β₀ with an interval.

    `means` (2, K) are those of adequacy and fluency and `se` (2, K) their standard errors, of the means centred over
    systems, since what all share does not matter. `spread` holds the variances. `low` and `high` are the ends of the
    interval of β₀; 0 or 1 where the data do not bound it on that side.
    """

    name: str
    systems: tuple[str, ...]
    segments: int
    documents: int
    means: Array
    se: Array
    spread: Spread
    low: float
    high: float
    level: float

    @property
    def beta0(self) -> float:
        """β₀ as it is observed, noise included."""
        return balance(*self.means)

    @property
    def beta(self) -> float | None:
        """β₀ without the noise; None where a variance is not larger than its noise, and β₀ cannot be told."""
        a, f = (float(x) for x in self.spread.corrected)
        return a / (a + f) if min(a, f) > 0 else None

    @property
    def shares(self) -> tuple[float, float]:
        """How much of the variance of adequacy, and of fluency, is noise: 1 or more where it may be all."""
        noise, seen = self.spread.noise, self.spread.observed
        return float(noise[0] / seen[0]), float(noise[1] / seen[1])

    @property
    def bounded(self) -> bool:
        """Whether the data bound β₀ on both sides."""
        return self.low > 0 and self.high < 1

    @property
    def verdict(self) -> str:
        """What may be said of β₀, in a sentence."""
        ends = f"({100 * (1 - self.level):g} %: {self.low:.3f} to {self.high:.3f})"
        if self.beta is not None and (self.low > 0 or self.high < 1):
            return f"beta0 is {self.beta:.3f} without noise {ends}"
        if self.beta is not None:
            return f"beta0 cannot be told: {self.documents} documents rule out no balance {ends}"
        noisy = [x for x, v in zip(ASPECTS, self.spread.corrected, strict=True) if v <= 0]
        what = f"the systems' {' and '.join(noisy)} spread{'s' if len(noisy) == 1 else ''} no more than noise would"
        return f"beta0 cannot be told: {what} {ends}"

    @property
    def signature(self) -> str:
        """What the figures rest on."""
        return (
            f"{self.name}|sys:{len(self.systems)}|seg:{self.segments}|doc:{self.documents}|noise:documents"
            f"|level:{self.level:g}|whichbird:{__version__}"
        )

    def with_text(self, factor: float) -> tuple[float, float]:
        """The interval to expect from so many times as much text of the same kind."""
        more = self.spread.more(factor)
        low, high = interval(more, quantile(self.level, more.documents))
        return float(low), float(high)

    def needed(self, margin: float = 0.02) -> int | None:
        """How many segments it would take until the interval is at most ± `margin` wide; None where β₀ cannot be told.

        Rests on corrected variances that are estimates themselves: an order of magnitude, not a plan.
        """
        if not 0 < margin < 0.5:
            raise ValueError(f"margin is {margin}; a number between 0 and 0.5 is expected")
        if self.beta is None:
            return None
        few, many = np.log(FACTORS)
        for _ in range(40):  # the interval shrinks as text grows
            middle = (few + many) / 2
            low, high = self.with_text(float(np.exp(middle)))
            few, many = (few, middle) if high - low <= 2 * margin else (middle, many)
        return max(1, int(np.ceil(self.segments * np.exp(many))))


def components(source: Pool | Digest | str, level: float = LEVEL) -> Components:
    """The variance components of a pool or dataset, and β₀ with its interval; no scorers are needed.

    Without documents each segment counts as one. `level` is the chance of missing, .05 for an interval of 95 %.

    >>> found = components("ende24")
    >>> [round(x, 3) for x in (found.beta0, found.beta, found.low, found.high)]
    [0.782, 0.787, 0.688, 0.861]
    >>> components("ted_zhen").verdict[:84]
    "beta0 cannot be told: the systems' fluency spreads no more than noise would (95 %: 0"
    """
    pool = pool_of(source)
    if pool.adequacy is None or pool.fluency is None:
        raise DataError(f"{pool.name} has totals only; β₀ needs ratings of adequacy and fluency")
    return cell_components(pool.adequacy, pool.fluency, pool.documents, pool.systems, pool.name, level)


def cell_components(
    adequacy: ArrayLike,
    fluency: ArrayLike,
    documents: Sequence[object] | None = None,
    systems: Sequence[str] | None = None,
    name: str = "cells",
    level: float = LEVEL,
) -> Components:
    """`components` of two matrices of ratings, systems × segments (K, N), NaN where nobody rated.

    `documents` (N,) says which document each segment belongs to. Use it for a part of a pool: some segments, some raters.

    >>> rng = np.random.default_rng(0)
    >>> a, f = (rng.normal(size=(6, 1)) + rng.normal(size=(6, 400)) for _ in range(2))
    >>> found = cell_components(a, f)
    >>> found.documents, found.bounded, found.low < found.beta < found.high
    (400, True, True)
    """
    _share(level, "level")
    x = [
        check.matrix(v, f"{name}: {what}", allow_nan=True) for v, what in ((adequacy, "adequacy"), (fluency, "fluency"))
    ]
    k, n = x[0].shape
    if x[1].shape != (k, n):
        raise ValueError(f"{name}: fluency has shape {x[1].shape} where {(k, n)}, that of adequacy, is expected")
    if documents is not None and len(documents) != n:
        raise ValueError(f"{name}: {len(documents)} documents are named where {n}, one per segment, are expected")
    if k < 2:
        raise ValueError(f"{name} has {k} system; a balance needs at least two")
    names = tuple(str(s) for s in systems) if systems is not None else tuple(str(i) for i in range(k))
    rated = ~(np.isnan(x[0]) | np.isnan(x[1]))
    member = membership(documents, n)
    counts = (rated.astype(np.float64) @ member).T
    counts, kept = _checked(counts, names, name, documents is None)
    sums = np.array([(np.where(rated, v, 0.0) @ member).T[kept] for v in x])
    for what, v in zip(ASPECTS, x, strict=True):
        cells = v[rated]
        if np.ptp(cells) <= 1e-12 * np.abs(cells).max(initial=0.0):
            raise ValueError(
                f"{name}: {what} is {cells[0]:g} in every rated cell; a balance needs both aspects to vary"
            )
    mean = sums.sum(axis=1) / counts.sum(axis=0)
    found = spread(sums, counts)
    se = np.sqrt((residuals(sums, counts)[1] ** 2).sum(axis=1))
    low, high = interval(found, quantile(level, found.documents))
    return Components(name, names, n, found.documents, mean, se, found, float(low), float(high), level)


def _checked(counts: Array, systems: tuple[str, ...], name: str, alone: bool) -> tuple[Array, np.ndarray]:
    """The counts (G, K) of documents that have any rating, and which those are; refused where noise cannot be seen."""
    what = "segment" if alone else "document"
    kept = counts.sum(axis=1) > 0
    counts = counts[kept]
    if (counts.sum(axis=0) == 0).any():
        raise ValueError(f"{name}: system {systems[int(counts.sum(axis=0).argmin())]!r} has no rating at all")
    if len(counts) < 2:
        raise ValueError(f"{name} has one {what}; noise is seen by comparing {what}s, so at least two are needed")
    lone = (counts > 0).sum(axis=0) < 2
    if lone.any():
        raise ValueError(
            f"{name}: system {systems[int(lone.argmax())]!r} is rated in one {what} only; noise is seen by comparing two"
        )
    return counts, kept
