"""How sure β₀ is: the noise in both variances, β₀ without it, an interval, and the text it would take to know more.

**What the interval is about.** System means are means over some documents; with endless text of the same kind, rated in
the same way, they would be other numbers, and their β₀ another. That β₀ of *these systems* is what the interval is to
hold. Systems are not drawn, and what raters have in common on all documents is no noise here.

`core.noise` has the mathematics, `worlds.beta_coverage` measures how often the interval holds the truth where that is
known, and `redrawn` follows the noise into weights, their effective sample size and SPA.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._version import __version__
from ..core import check
from ..core.balance import balance, target
from ..core.check import Array, DataError, share, whole
from ..core.closed import closed_p
from ..core.metametrics import pair_weights, soft_accuracy
from ..core.noise import Spread, interval, residuals, spread
from ..data.digest import Digest
from ..data.pool import Pool, pick
from ..data.protocol import ASPECTS
from ..data.segments import pool_of
from ..solve.reweight import reweight_many
from .intervals import Documents, draw, quantile
from .significance import FEWEST as FEWEST, LEVEL, SEED

FACTORS = 1e-3, 1e18  # how much less or more text `needed` looks at


@dataclass(frozen=True, eq=False)
class Components:
    """The variance components of K system means, and β₀ with an interval.

    `means` (2, K) are those of adequacy and fluency and `se` (2, K) their standard errors, of the means centred over
    systems, since what all share does not matter. `spread` holds the variances. `low` and `high` are the ends of the
    interval of β₀; 0 or 1 where the data do not bound it on that side, and both with fewer than `FEWEST` documents.
    `unit` is what was taken as independent: "document", or "segment" where no documents are known. `aspect_names` says
    what the two aspects are called.

    >>> found = components("ende24")
    >>> found.means.shape, [round(share, 3) for share in found.shares], found.bounded
    ((2, 16), [0.068, 0.093], True)
    >>> found.verdict
    'beta0 is 0.787 without noise (95 %: 0.688 to 0.861)'
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
    unit: str = "document"
    aspect_names: tuple[str, str] = ASPECTS

    def __repr__(self) -> str:
        return f"<Components {self.name}: {self.verdict}>"

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
        a, f = (float(n / v) if v > 0 else 1.0 for n, v in zip(self.spread.noise, self.spread.observed, strict=True))
        return a, f

    @property
    def bounded(self) -> bool:
        """Whether the data bound β₀ on both sides."""
        return self.low > 0 and self.high < 1

    @property
    def verdict(self) -> str:
        """What may be said of β₀, in a sentence."""
        span = f"({100 * (1 - self.level):g} %: {self.low:.3f} to {self.high:.3f})"
        if self.beta is not None and (self.low > 0 or self.high < 1):
            return f"beta0 is {self.beta:.3f} without noise {span}"
        if self.documents < FEWEST:
            return (
                f"beta0 cannot be told: {self.documents} {self.unit}s are too few for an interval; {FEWEST} are needed"
            )
        if self.beta is not None:
            return f"beta0 cannot be told: {self.documents} {self.unit}s rule out no balance {span}"
        noisy = [x for x, v in zip(self.aspect_names, self.spread.corrected, strict=True) if v <= 0]
        what = f"the systems' {' and '.join(noisy)} spread{'s' if len(noisy) == 1 else ''} no more than noise would"
        return f"beta0 cannot be told: {what} {span}"

    @property
    def signature(self) -> str:
        """What the figures rest on."""
        return (
            f"{self.name}|sys:{len(self.systems)}|seg:{self.segments}"
            f"|{'segments as documents' if self.unit == 'segment' else f'doc:{self.documents}'}|interval:roots"
            f"|level:{self.level:g}|whichbird:{__version__}"
        )

    def with_text(self, factor: float) -> tuple[float, float]:
        """The interval to expect from so many times as much text of the same kind."""
        low, high = ends(self.spread.more(factor), self.level)
        return float(low), float(high)

    def needed(self, margin: float = 0.02) -> int | None:
        """How many segments it would take until the interval is at most 2 × `margin` wide; None where it has no two ends,
        or where even 10¹⁸ times as many would not do.

        Rests on corrected variances that are estimates themselves: an order of magnitude, not a plan.
        """
        if not 0 < margin < 0.5:
            raise ValueError(f"margin is {margin}; a number between 0 and 0.5 is expected")
        if self.beta is None or not self.bounded:
            return None
        if np.ptp(self.with_text(FACTORS[1])) > 2 * margin:
            return None
        few, many = np.log(FACTORS)
        for _ in range(50):  # the interval shrinks as text grows
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
    >>> components("ted_zhen").verdict
    'beta0 cannot be told: 5 documents are too few for an interval; 8 are needed'
    """
    pool = pool_of(source)
    if pool.adequacy is None or pool.fluency is None:
        raise DataError(f"{pool.name} has totals only; β₀ needs ratings of adequacy and fluency")
    pool = pick(pool, pool.annotated)
    a, f = (x for x in (pool.adequacy, pool.fluency) if x is not None)
    return cell_components(a, f, pool.documents, pool.systems, pool.name, level, pool.aspect_names)


def cell_components(
    adequacy: ArrayLike,
    fluency: ArrayLike,
    documents: Sequence[object] | None = None,
    systems: Sequence[str] | None = None,
    name: str = "cells",
    level: float = LEVEL,
    aspect_names: tuple[str, str] = ASPECTS,
) -> Components:
    """`components` of two matrices of ratings, systems × segments (K, N), NaN where nobody rated.

    `documents` (N,) says which document each segment belongs to. Use it for a part of a pool: some segments, some raters.

    >>> rng = np.random.default_rng(0)
    >>> a, f = (rng.normal(size=(6, 1)) + rng.normal(size=(6, 400)) for _ in range(2))
    >>> found = cell_components(a, f)
    >>> found.documents, found.bounded, found.low < found.beta < found.high
    (400, True, True)
    """
    share(level, "level")
    x = [
        check.matrix(v, f"{name}: {what}", allow_nan=True)
        for v, what in zip((adequacy, fluency), aspect_names, strict=True)
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
    sums, counts = document_sums(x, rated, documents)
    unit = "segment" if documents is None else "document"
    _check(counts, names, name, unit)
    for what, v in zip(aspect_names, x, strict=True):
        cells = v[rated]
        if np.ptp(cells) <= 1e-12 * np.abs(cells).max(initial=0.0):
            raise ValueError(
                f"{name}: {what} is {cells[0]:g} in every rated cell; a balance needs both aspects to vary"
            )
    mean = sums.sum(axis=1) / counts.sum(axis=0)
    found = spread(sums, counts)
    se = np.sqrt((residuals(sums, counts)[1] ** 2).sum(axis=1))
    low, high = ends(found, level)
    return Components(
        name, names, n, found.documents, mean, se, found, float(low), float(high), level, unit, aspect_names
    )


def ends(s: Spread, level: float = LEVEL) -> tuple[Array, Array]:
    """The ends (…) of the interval of β₀ that goes with a spread: Student's t for its documents, 0 and 1 if they are few."""
    low, high = interval(s, quantile(level, s.documents))
    few = s.documents < FEWEST
    return (0.0 * low, 0.0 * high + 1.0) if few else (low, high)


class Redrawn(NamedTuple):
    """What R draws of the documents make of a target β; NaN where a draw does not reach it."""

    beta0: Array  # (R,) natural balances
    weights: Array  # (R, K)
    ess: Array  # (R,)
    spa: Array  # (R, M): p-values as they are, weights redrawn
    observed: Array  # (M,): SPA with the weights of the means as they are


def redrawn(source: Pool | Digest | str, beta: float, resamples: int = 400, seed: int = SEED) -> Redrawn:
    """Draw the documents anew for adequacy and fluency alone, and solve for the weights of each draw.

    People's and scorers' p-values (closed form) stay as they are, so `spa` moves by the weights and by nothing else.

    >>> found = redrawn("ende24", 0.7, resamples=20)
    >>> found.weights.shape, found.spa.shape
    ((20, 16), (20, 30))
    """
    pool = pool_of(source)
    found = components(pool)
    whole(resamples, "resamples", 2)
    beta = target(found.means[0], found.means[1], beta)
    x = [v for v in (pool.adequacy, pool.fluency) if v is not None]
    sums, counts = document_sums(x, ~np.isnan(x[0]), pool.documents)
    times, _ = draw("bootstrap", len(counts), resamples, seed)
    rated = times @ counts
    blank = (rated == 0).any(axis=1)
    a, f = (
        np.where(blank[:, None], m, times @ s / np.where(rated == 0, 1.0, rated))
        for m, s in zip(found.means, sums, strict=True)
    )
    w = reweight_many(np.vstack([found.means[0], a]), np.vstack([found.means[1], f]), np.array([[beta]])).weights[:, 0]
    w[1:][blank] = np.nan
    far = np.abs(closed_p(pool.total) - np.array([closed_p(v) for v in pool.scored.values()]))
    lost = np.isnan(w).any(axis=1, keepdims=True)
    spa = np.where(lost, np.nan, soft_accuracy(far, pair_weights(np.where(lost, 1 / w.shape[1], w))))
    s_a, s_f = a.var(axis=1), f.var(axis=1)
    return Redrawn(s_a / (s_a + s_f), w[1:], 1 / (w[1:] ** 2).sum(axis=1), spa[1:], spa[0])


def document_sums(x: Sequence[Array], rated: np.ndarray, documents: Sequence[object] | None) -> tuple[Array, Array]:
    """Sums (2, G, K) and counts (G, K) over the documents that have any rating, of cells (K, N)."""
    found = Documents.of(documents, rated.shape[1])
    counts = found.sums(rated.astype(np.float64)).T
    kept = counts.sum(axis=1) > 0
    return np.array([found.sums(np.where(rated, v, 0.0)).T[kept] for v in x]), counts[kept]


def _check(counts: Array, systems: tuple[str, ...], name: str, unit: str) -> None:
    """Refuse counts (G, K) in which noise cannot be seen."""
    total = counts.sum(axis=0)
    if (total == 0).any():
        raise ValueError(f"{name}: system {systems[int(total.argmin())]!r} has no rating at all")
    if len(counts) < 2:
        raise ValueError(f"{name} has one {unit}; noise is seen by comparing {unit}s, so at least two are needed")
    lone = (counts > 0).sum(axis=0) < 2
    if lone.any():
        raise ValueError(
            f"{name}: system {systems[int(lone.argmax())]!r} is rated in one {unit} only; noise is seen by comparing two"
        )
