"""How far SPA, leads and ranks could move with other documents: a contest resampled, whole, at every balance.

**What the intervals are about.** A contest is a draw of documents from a world that could have given others. The SPA of a
scorer is a random number then; what an interval covers is its mean over contests of this size, and likewise the mean lead
of one scorer over another, the mean change of a lead between two balances, and the rank of the means. SPA depends on the
size of a contest, for p-values do; so nothing is said about a contest of another size.

**What is resampled.** Segments of a document hang together, so documents are drawn, not segments. A drawn contest gets
everything anew: p-values of people and scorers (in closed form), system means of adequacy and fluency, the most even
weighting at each target, SPA. All of it follows from sums over documents, so drawing is a product of matrices. Evidence is
scaled to that of the N segments there are.

**Why not plain percentiles.** p-values bend: a bootstrap adds to each of them as much noise as they have already, people
and scorers drift apart, and resampled SPAs lie too low as a whole. So only the spread of the resampled values is used,
around the observed value; `coverage` measures what each way of drawing covers in worlds whose truth is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtr, stdtrit

from .._version import __version__
from ..core.metametrics import pair_weights
from ..core.swap import Floats, p_from_moments
from ..data.digest import Digest
from ..data.pool import Pool
from ..solve.reweight import reweight_many
from .significance import LEVEL, SEED, _scorers, _share, _whole, aspects, pool_of

RESAMPLES = 1000
METHODS = ("bootstrap", "half", "jackknife")
GROUPS = 40  # of documents, for the jackknife


class Evidence(NamedTuple):
    """A contest as sums over its G documents, people first among the 1 + M judges: all that a resample needs."""

    gap: Floats  # (G, 1 + M, P): Σ(x_k − x_l) over the segments both systems have
    square: Floats  # (G, 1 + M, P): Σ(x_k − x_l)²
    adequacy: Floats  # (G, K) sums over rated segments
    fluency: Floats  # (G, K)
    rated: Floats  # (G, K) rated segments
    size: Floats  # (G,) segments

    def take(self, documents: NDArray[np.int64]) -> Evidence:
        """The contest of these documents, each as often as it is named."""
        return Evidence(*(x[documents] for x in self))


def evidence(pool: Pool, x: Floats) -> Evidence:
    """Sums over the documents of a pool, with scorers x (M, K, N). Without documents every segment is one of its own."""
    names = np.arange(len(pool.lines)) if pool.documents is None else np.unique(pool.documents, return_inverse=True)[1]
    size = np.bincount(names).astype(np.float64)
    if size.size < 2:
        raise ValueError(f"{pool.name} has {size.size} document; at least two are needed to resample them")
    member = np.zeros((names.size, size.size))
    member[np.arange(names.size), names] = 1.0
    k, l = np.triu_indices(len(pool.systems), 1)
    gap, square = (np.empty((size.size, 1 + len(x), k.size)) for _ in range(2))
    for n, judge in enumerate((pool.total, *x)):
        d = np.nan_to_num(judge[k] - judge[l])
        gap[:, n], square[:, n] = (d @ member).T, (d**2 @ member).T
    a, f = (np.zeros(pool.total.shape) if v is None else v for v in (pool.adequacy, pool.fluency))
    there = (~np.isnan(a)).astype(np.float64)
    sums = ((np.nan_to_num(v) @ member).T for v in (a, f, there))
    return Evidence(gap, square, *sums, size)


def draw(method: str, documents: int, resamples: int, seed: int) -> tuple[Floats, float]:
    """How often each resample holds each document, (R, G), and what the spread of results is to be multiplied with.

    "bootstrap": G documents with replacement. "half": half of them without, each counted twice. "jackknife": all but one
    group of documents, in `GROUPS` groups dealt at random, as many deals as `resamples` asks for (one at least).

    >>> [(c.shape, round(factor, 3)) for c, factor in (draw(m, 6, 4, 1) for m in METHODS)]
    [((4, 6), 1.0), ((4, 6), 1.0), ((6, 6), 2.236)]
    """
    rng = np.random.default_rng(seed)
    if method == "bootstrap":
        return rng.multinomial(documents, np.full(documents, 1 / documents), size=resamples).astype(np.float64), 1.0
    order = rng.permuted(np.tile(np.arange(documents), (resamples, 1)), axis=1)
    if method == "half":
        kept = documents // 2
        return (order < kept).astype(np.float64), float(np.sqrt(kept / (documents - kept)))
    if method == "jackknife":
        groups = min(GROUPS, documents)
        deals = max(1, round(resamples / groups))
        out = (order[:deals, None] % groups != np.arange(groups)[:, None]).reshape(-1, documents)
        return out.astype(np.float64), float(np.sqrt(groups - 1))
    raise ValueError(f"unknown method {method!r}; one of {', '.join(METHODS)} is expected")


def resample(e: Evidence, counts: Floats, betas: Floats) -> Floats:
    """SPA of every scorer at every target in resampled contests: counts (R, G), betas (B,) → (R, B, M).

    A target NaN is the natural balance, unweighted. NaN where a resampled contest does not reach a target.
    """
    counts = counts * (e.size.sum() / (counts @ e.size))[:, None]
    judges, pairs = e.gap.shape[1:]
    gap, square = (np.tensordot(counts, x, axes=1) for x in (e.gap, e.square))
    p = p_from_moments(gap, square)
    far = np.abs(p[:, :1] - p[:, 1:])
    rated = counts @ e.rated
    systems = rated.shape[1]
    out = np.full((len(counts), betas.size, judges - 1), np.nan)
    fixed = np.flatnonzero(~np.isnan(betas))
    out[:, np.isnan(betas)] = 1 - far.mean(axis=2)[:, None]
    if fixed.size:
        rated = np.maximum(rated, 1e-300)  # a system without any rating gets no score, and the pool is refused below
        w = reweight_many(counts @ e.adequacy / rated, counts @ e.fluency / rated, betas[None, fixed]).weights
        reached = ~np.isnan(w).any(axis=2)
        pi = pair_weights(np.where(reached[..., None], w, 1 / systems))
        spa = 1 - pi @ far.swapaxes(1, 2)
        spa[~reached] = np.nan
        out[:, fixed] = spa
    return out


class World(NamedTuple):
    """Where contests come from: `contest`(rng) draws one as `Evidence`; `betas` (B,) are the targets looked at."""

    name: str
    contest: Any
    betas: Floats


def simulated(
    name: str, systems: int = 8, documents: int = 40, segments: int = 6, scorers: int = 5, together: float = 0.0,
    heavy: bool = False, seed: int = 0
) -> World:  # fmt: skip
    """A made world: systems with fixed qualities, scorers with fixed whims, everything else drawn anew for each contest."""
    rng = np.random.default_rng(seed)
    quality = 0.25 * rng.normal(size=(2, systems, 1))
    share = np.linspace(0.2, 0.8, scorers)
    whim = 0.15 * rng.normal(size=(scorers, systems, 1))
    noise = np.linspace(0.5, 2.0, scorers)
    size = systems, documents * segments

    def contest(rng: np.random.Generator) -> Evidence:
        own = rng.normal(size=(2, *size))
        if heavy:  # most segments have no error, a few have many
            own = 1 - rng.exponential(size=own.shape) * rng.exponential(size=own.shape) * (rng.random(own.shape) < 0.5) * 2
        shared = together * np.repeat(rng.normal(size=(2, systems, documents)), segments, axis=2)
        aspect = quality + own + shared
        drift = together * np.repeat(rng.normal(size=(scorers, systems, documents)), segments, axis=2)
        x = share[:, None, None] * aspect[0] + (1 - share[:, None, None]) * aspect[1] + whim + drift
        x += noise[:, None, None] * rng.normal(size=x.shape)
        names = tuple(str(d) for d in np.repeat(np.arange(documents), segments))
        pool = Pool(name, tuple(map(str, range(systems))), np.arange(size[1]), size[1], aspect.sum(axis=0), *aspect, documents=names)
        return evidence(pool, x)

    beta = float(np.var(quality[0]) / np.var(quality, axis=(1, 2)).sum())
    return World(name, contest, np.array([max(0.2, beta - 0.12), beta, min(0.8, beta + 0.12)]))


def drawn_from(pool: Pool, betas: ArrayLike) -> World:
    """A world that consists of the documents of a real pool, each contest a draw of as many, with replacement."""
    whole = evidence(pool, np.array(list(pool.scorers.values())))

    def contest(rng: np.random.Generator) -> Evidence:
        return whole.take(rng.integers(0, whole.size.size, size=whole.size.size))

    return World(pool.name, contest, np.asarray(betas, dtype=np.float64))
