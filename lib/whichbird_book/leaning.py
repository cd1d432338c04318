"""Do scorers that agree with people's adequacy more than with their fluency gain as β rises? A correlation and its error.

Over the scorers of a contest: *lean* is SPA against adequacy minus SPA against fluency, unweighted; *gain* is SPA against
the total at the second of two balances minus that at the first. Their correlation is 1 where gains follow leans exactly.

Its error comes from documents: contests are resampled whole, as in `intervals`, with p-values in closed form and weights
solved anew, and the spread of the correlation is taken on Fisher's scale, where it does not bend at its ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from whichbird.core import check
from whichbird.core.check import Array, DataError
from whichbird.core.closed import p_from_moments
from whichbird.core.metametrics import correlation, pair_weights, soft_accuracy, spa_from_p
from whichbird.data.digest import Digest
from whichbird.data.pool import Pool
from whichbird.solve.reweight import reweight_many, reweight_sweep
from whichbird.study.contest import need_aspects
from whichbird.study.intervals import Evidence, draw, evidence, quantile
from whichbird.study.significance import LEVEL, SEED

RESAMPLES = 300
WORLD = 100  # contests drawn from a dataset's own documents to see what the interval covers, and resamples of each


class Leaning(NamedTuple):
    """M scorers between two balances."""

    lean: Array  # (M,) SPA against adequacy minus SPA against fluency
    gain: Array  # (M,) SPA at the second balance minus SPA at the first

    @property
    def correlation(self) -> float:
        """Pearson's correlation of gain with lean."""
        return float(correlation(self.lean, self.gain))


def leaning(d: Digest, betas: ArrayLike) -> Leaning:
    """Lean and gain of every scorer of a dataset, from its shipped p-values, between two balances.

    >>> from whichbird import load
    >>> round(leaning(load("ende24"), [0.5, 0.9]).correlation, 2)
    0.79
    """
    low, high = reweight_sweep(*need_aspects(d), check.vector(betas, "betas", 2)).insist().weights
    to_a, to_f = (spa_from_p(p, d.scorer_p) for p in (d.adequacy_p, d.fluency_p) if p is not None)
    first, second = (spa_from_p(d.human_p, d.scorer_p, w) for w in (low, high))
    return Leaning(to_a - to_f, second - first)


def lean_error(pool: Pool, betas: ArrayLike, resamples: int = RESAMPLES, seed: int = SEED) -> float:
    """Standard error over documents of the correlation of gain with lean, on Fisher's scale (arctanh).

    An interval of 95 % is tanh(arctanh(correlation) ± t · error), t of Student for the documents there are.

    >>> from whichbird import load_pool
    >>> 0.1 < lean_error(load_pool("ende24"), [0.5, 0.9], resamples=60) < 0.6
    True
    """
    e = _evidence(pool)
    return _error(e, check.vector(betas, "betas", 2), resamples, seed)


def lean_coverage(
    pool: Pool, betas: ArrayLike, contests: int = WORLD, resamples: int = WORLD, seed: int = SEED
) -> float:
    """How often the interval of 95 % holds the mean correlation (Fisher's scale) in contests drawn from these documents."""
    e, ends = _evidence(pool), check.vector(betas, "betas", 2)
    size = e.size.size
    rng = np.random.default_rng(seed)
    drawn = [e.take(rng.integers(0, size, size)) for _ in range(contests)]
    seen = np.array([np.arctanh(_resampled(c, np.ones((1, size)), ends))[0] for c in drawn])
    error = np.array([_error(c, ends, resamples, seed) for c in drawn])
    return float(np.nanmean(np.abs(seen - np.nanmean(seen)) <= quantile(LEVEL, size) * error))


def table(pool: Pool, d: Digest, ranges: dict[str, tuple[float, float]]) -> pd.DataFrame:
    """One row per range of balances: correlation, its error over documents, and what the interval covers."""
    rows = []
    for name, ends in ranges.items():
        row = {"range": name, "from": ends[0], "to": ends[1], "correlation": leaning(d, ends).correlation}
        rows.append(row | {"error": lean_error(pool, ends), "covered": lean_coverage(pool, ends)})
    return pd.DataFrame(rows)


def _evidence(pool: Pool) -> Evidence:
    """Sums over documents, with people's adequacy and fluency as the first two scorers."""
    if pool.adequacy is None or pool.fluency is None:
        raise DataError(f"{pool.name} has totals only; what scorers lean to needs ratings of adequacy and fluency")
    return evidence(
        pool, np.array([x[:, pool.official] for x in (pool.adequacy, pool.fluency, *pool.scorers.values())])
    )


def _error(e: Evidence, ends: Array, resamples: int, seed: int) -> float:
    counts, factor = draw("bootstrap", e.size.size, resamples, seed)
    return float(factor * np.nanstd(np.arctanh(_resampled(e, counts, ends))))


def _resampled(e: Evidence, counts: Array, ends: Array) -> Array:
    """The correlation in resampled contests: counts (R, G) → (R,); NaN where one does not reach both balances."""
    counts = counts * (e.size.sum() / (counts @ e.size))[:, None]
    p = p_from_moments(*(np.tensordot(counts, x, axes=1) for x in (e.gap, e.square)))
    total, a, f, scorers = p[:, :1], p[:, 1:2], p[:, 2:3], p[:, 3:]
    lean = soft_accuracy(np.abs(a - scorers)) - soft_accuracy(np.abs(f - scorers))
    rated = counts @ e.rated
    blank = (rated == 0).any(axis=1)
    rated = np.where(rated == 0, 1.0, rated)
    a_means, f_means = (np.where(blank[:, None], x.mean(axis=0), counts @ x / rated) for x in (e.adequacy, e.fluency))
    w = reweight_many(a_means, f_means, ends[None]).weights
    reached = ~np.isnan(w).any(axis=(1, 2)) & ~blank
    out = np.full(len(counts), np.nan)
    spa = soft_accuracy(np.abs(total - scorers)[reached], pair_weights(w[reached]))
    out[reached] = correlation(lean[reached], spa[:, 1] - spa[:, 0])
    return out
