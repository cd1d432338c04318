"""How far SPA, leads and ranks could move with other documents: a contest resampled, whole, at every balance.

**What the intervals are about.** A contest is a draw of documents from a world that could have given others. The SPA
of a scorer is a random number then; what an interval covers is its mean over contests of this size, and likewise the
mean lead of one scorer over another, the mean change of a lead between two balances, and the rank of the means. SPA
depends on the size of a contest, for p-values do; so nothing is said about a contest of another size.

**What is resampled.** Segments of a document hang together, so documents are drawn, not segments. A drawn contest
gets everything anew: p-values of people and scorers (in closed form), system means of adequacy and fluency, the most
even weighting at each target, SPA. All of it follows from sums over documents, so drawing is a product of matrices.
Evidence is scaled to that of the N segments there are.

**Why not plain percentiles.** p-values bend: a bootstrap adds to each of them as much noise as they have already,
people and scorers drift apart, and resampled SPAs lie too low as a whole. So only the spread of the resampled values
is used, around the observed value, with Student's t for the number of documents. `worlds.coverage` measures what this
and other ways of drawing cover in worlds whose truth is known; the bootstrap's spread is what comes out nominal, and
what is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtr, stdtrit
from tqdm import tqdm

from .._version import __version__
from ..core.check import Array, share, whole
from ..core.closed import p_from_moments
from ..core.metametrics import pair_weights, soft_accuracy
from ..core.segmental import WORK_CELLS
from ..data.digest import Digest
from ..data.pool import Pool
from ..data.protocol import segments
from ..data.segments import pool_of
from ..solve.reweight import reweight_many
from .contest import Scores
from .meta import METAMETRICS, SPA, MetaMetric, metametrics
from .significance import LEVEL, RESAMPLES, SEED, judges, weightings

METHODS = ("bootstrap", "subsample", "jackknife")
GROUPS = 40  # of documents, for the jackknife


class Evidence(NamedTuple):
    """A contest as sums over its G documents, people first among the 1 + M judges: all that a resample needs."""

    gap: Array  # (G, 1 + M, P): Σ(x_k − x_l) over the segments both systems have
    square: Array  # (G, 1 + M, P): Σ(x_k − x_l)²
    adequacy: Array  # (G, K) sums over rated segments
    fluency: Array  # (G, K)
    rated: Array  # (G, K) rated segments
    size: Array  # (G,) segments that have a total

    def take(self, documents: NDArray[np.int64]) -> Evidence:
        """The contest of these documents, each as often as it is named."""
        return Evidence(*(x[documents] for x in self))


def evidence(pool: Pool, x: Array) -> Evidence:
    """Sums over the documents of a pool, with scorers x (M, K, n) on its lines with totals. Without documents each segment is one.

    Gaps and sizes are those of lines that have a total, adequacy and fluency those of lines that have errors.
    """
    every = Documents.of(pool.documents, len(pool.lines))
    official = pool.official
    there = every.only(official)
    size = there.size
    if size.size < 2:
        raise ValueError(f"{pool.name} has {size.size} document; at least two are needed to resample them")
    k, l = np.triu_indices(len(pool.systems), 1)
    gap, square = (np.empty((size.size, 1 + len(x), k.size)) for _ in range(2))
    for n, judge in enumerate((pool.total[:, official], *x)):
        d = np.nan_to_num(judge[k] - judge[l])
        gap[:, n], square[:, n] = there.sums(d).T, there.sums(d**2).T
    a, f = (np.zeros(pool.total.shape) if v is None else v for v in (pool.adequacy, pool.fluency))
    counts = (~np.isnan(a)).astype(np.float64)
    adequacy, fluency, rated = (every.sums(np.nan_to_num(v)).T for v in (a, f, counts))
    return Evidence(gap, square, adequacy, fluency, rated, size)


def numbered(documents: Sequence[object] | None, segments: int) -> NDArray[np.int64]:
    """The number of each segment's document, (N,), in the order of their first segments; without documents each is one.

    >>> numbered(("b", "a", "b"), 3).tolist()
    [0, 1, 0]
    """
    if documents is None:
        return np.arange(segments)
    return np.asarray(pd.factorize(np.array(documents, dtype=object))[0], dtype=np.int64)


class Documents(NamedTuple):
    """The documents of N segments: the number of each segment's, (N,), and how many segments each of the G has, (G,).

    >>> d = Documents.of(("b", "a", "b"), 3)
    >>> d.number, d.size, d.sums(np.array([[1.0, 2.0, 4.0]]))
    (array([0, 1, 0]), array([2., 1.]), array([[5., 2.]]))
    """

    number: NDArray[np.int64]
    size: Array

    @classmethod
    def of(cls, documents: Sequence[object] | None, segments: int) -> Documents:
        """From what names each segment's document; without documents each segment is one."""
        number = numbered(documents, segments)
        return cls(number, np.bincount(number).astype(np.float64))

    def only(self, keep: NDArray[np.bool_]) -> Documents:
        """The same documents with some of their segments, `keep` (N,) true for each; one may have none."""
        number = self.number[keep]
        return Documents(number, np.bincount(number, minlength=self.size.size).astype(np.float64))

    def sums(self, x: Array) -> Array:
        """Sums over the segments of each document, in their order: x (…, N) → (…, G)."""
        if (self.size == 1).all():  # each segment is a document, and numbers are in order
            return x
        rows = [np.bincount(self.number, row, self.size.size) for row in x.reshape(-1, x.shape[-1])]
        return np.array(rows, dtype=np.float64).reshape(*x.shape[:-1], self.size.size)


def draw(method: str, documents: int, resamples: int, seed: int) -> tuple[Array, float]:
    """How often each resample holds each document, (R, G), and what the spread of results is to be multiplied with.

    "bootstrap": G documents with replacement. "subsample": half of them without, each counted twice. "jackknife": all
    but one group of documents, in `GROUPS` groups dealt at random, dealt again until there are about as many as
    `resamples` asks for.

    >>> [(c.shape, round(factor, 3)) for c, factor in (draw(m, 6, 4, 1) for m in METHODS)]
    [((4, 6), 1.095), ((4, 6), 1.0), ((6, 6), 2.236)]
    """
    blocks, factor = draws(method, documents, resamples, seed, resamples)
    return np.concatenate(list(blocks)), factor


def draws(method: str, documents: int, resamples: int, seed: int, block: int) -> tuple[Iterable[Array], float]:
    """What `draw` draws, at most `block` resamples at a time where they are many: the bootstrap's are made when asked for.

    >>> [part.shape for part in draws("bootstrap", 6, 4, 1, 3)[0]]
    [(3, 6), (1, 6)]
    """
    rng = np.random.default_rng(seed)
    if method == "bootstrap":
        share = np.full(documents, 1 / documents)
        sizes = (min(block, resamples - start) for start in range(0, resamples, block))
        counts = (rng.multinomial(documents, share, size=size).astype(np.float64) for size in sizes)
        return counts, float(np.sqrt(documents / (documents - 1)))
    order = rng.permuted(np.tile(np.arange(documents), (resamples, 1)), axis=1)
    if method == "subsample":
        kept = documents // 2
        out, factor = order < kept, np.sqrt(kept / (documents - kept))
    elif method == "jackknife":
        groups = min(GROUPS, documents)
        deals = 1 if groups == documents else max(1, round(resamples / groups))
        out = (order[:deals, None] % groups != np.arange(groups)[:, None]).reshape(-1, documents)
        factor = np.sqrt(groups - 1)
    else:
        raise ValueError(f"unknown method {method!r}; one of {', '.join(METHODS)} is expected")
    return (out[start : start + block].astype(np.float64) for start in range(0, len(out), block)), float(factor)


def resample(e: Evidence, counts: Array, betas: Array) -> Array:
    """SPA of every scorer at every target in resampled contests: counts (R, G), betas (B,) → (R, B, M).

    A target NaN is the natural balance, unweighted. NaN where a resampled contest does not reach a target.
    """
    counts = counts * (e.size.sum() / (counts @ e.size))[:, None]
    p = p_from_moments(*(np.tensordot(counts, x, axes=1) for x in (e.gap, e.square)))
    far = np.abs(p[:, :1] - p[:, 1:])  # (R, M, P)
    w, reached = resampled_weights(e, counts, betas)
    natural = np.isnan(betas)
    out = np.empty((*w.shape[:2], far.shape[1]))
    out[:, natural] = soft_accuracy(far)[:, None]
    if not natural.all():
        out[:, ~natural] = soft_accuracy(far, pair_weights(np.ascontiguousarray(w[:, ~natural])))
    return np.where(reached[..., None], out, np.nan)


def resampled_weights(e: Evidence, counts: Array, betas: Array) -> tuple[Array, NDArray[np.bool_]]:
    """The most even weights of resampled contests at every target, (R, B, K), and which of them are reached, (R, B).

    Uniform at a target NaN, and where a target is not reached.
    """
    k = e.rated.shape[1]
    weights, within = np.full((len(counts), betas.size, k), 1 / k), np.ones((len(counts), betas.size), dtype=bool)
    fixed = np.flatnonzero(~np.isnan(betas))
    if fixed.size:
        rated = counts @ e.rated
        blank = (rated == 0).any(axis=1)  # a system nobody rated here has no score, so no target is reached
        a, f = (
            np.where(blank[:, None], x.sum(axis=0) / e.rated.sum(axis=0), counts @ x / np.where(rated == 0, 1.0, rated))
            for x in (e.adequacy, e.fluency)
        )
        w = reweight_many(a, f, betas[None, fixed]).weights
        within[:, fixed] = ~np.isnan(w).any(axis=2) & ~blank[:, None]
        weights[:, fixed] = np.where(within[:, fixed, None], w, 1 / k)
    return weights, within


def redrawn(meta: MetaMetric, pool: Pool, x: Array, e: Evidence) -> Callable[[Array, Array], Array]:
    """What `resample` is for SPA, for any meta-metric and scorers x (M, K, n): a function of counts (R, G) and betas (B,) → (R, B, M)."""
    if meta is SPA:
        return lambda counts, betas: resample(e, counts, betas)
    official = pool.official
    documents = Documents.of(pool.documents, len(pool.lines)).only(official)
    total = pool.total[:, official]

    def given(counts: Array) -> Iterator[tuple[Array, Array]]:
        """People and scorers of each resampled contest."""
        if meta.needs == "p":
            counts = counts * (e.size.sum() / (counts @ e.size))[:, None]
            for p in p_from_moments(*(np.tensordot(counts, v, axes=1) for v in (e.gap, e.square))):
                yield p[0], p[1:]
            return
        sums = documents.sums(x)  # (M, K, G)
        people, rated = e.adequacy + e.fluency, e.rated
        if pool.aspects is None:
            people, rated = (documents.sums(v.astype(np.float64)).T for v in (np.nan_to_num(total), ~np.isnan(total)))
        for times in counts:
            there = times @ rated  # 0 where a system has no rating in these documents, and no mean
            yield times @ people / np.where(there == 0, np.nan, there), sums @ times / (documents.size @ times)

    def at(counts: Array, betas: Array) -> Array:
        w, reached = resampled_weights(e, counts, betas)
        if meta.needs == "segments":
            times = np.repeat(counts[:, documents.number], betas.size, axis=0)
            out = meta.value(total, x, w.reshape(-1, w.shape[2]), times).reshape(*w.shape[:2], len(x))
        else:
            out = np.full((*w.shape[:2], len(x)), np.nan)
            for n, (human, y) in enumerate(given(counts)):
                if not np.isnan(human).any():
                    out[n] = meta.value(human, y, w[n])
        return np.where(reached[..., None], out, np.nan)

    return at


@dataclass(frozen=True, eq=False)
class Intervals:
    """M scorers at B targets, and how far R resampled contests scatter around them.

    `spa` (B, M) is SPA in closed form, or the other meta-metric that `meta` names; `spread` (R, B, M) holds the resampled
    values minus their mean, scaled so that their standard deviation is the standard error; NaN where a resample does not reach a target. `reached` (B,)
    counts those that do; with fewer than half of them there is no interval, NaN. A target NaN is the natural balance,
    unweighted.

    >>> rng = np.random.default_rng(0)
    >>> aspect = rng.normal(size=(2, 5, 200)) + rng.normal(size=(2, 5, 1))
    >>> total = aspect.sum(axis=0)
    >>> scorers = {name: total + noise * rng.normal(size=(5, 200)) for name, noise in {"close": 3, "far": 7}.items()}
    >>> pool = Pool("made", tuple("abcde"), np.arange(200), 200, total, *aspect, scorers)
    >>> found = intervals(pool, [0.5], resamples=200)
    >>> found.spa.shape, found.spread.shape, found.lead_se(0).round(3)
    ((1, 2), (200, 1, 2), array([[0.   , 0.102],
           [0.102, 0.   ]]))
    """

    scorers: tuple[str, ...]
    own: NDArray[np.bool_]
    betas: Array
    spa: Array
    spread: Array
    reached: NDArray[np.int64]
    documents: int
    level: float
    signature: str
    meta: str = SPA.name

    def __repr__(self) -> str:
        return f"<Intervals {len(self.scorers)} scorers>"

    @property
    def t(self) -> float:
        """How many standard errors an interval reaches to each side."""
        return quantile(self.level, self.documents)

    @property
    def se(self) -> Array:
        """Standard errors of SPA: (B, M)."""
        return np.array([np.sqrt(np.diag(self.covariance(b))) for b in range(self.betas.size)])

    @property
    def low(self) -> Array:
        """Lower ends of the intervals: (B, M). No SPA is below 0, no correlation below −1."""
        return np.clip(self.spa - self.t * self.se, METAMETRICS[self.meta].least, 1.0)

    @property
    def high(self) -> Array:
        """Upper ends of the intervals: (B, M)."""
        return np.clip(self.spa + self.t * self.se, 0.0, 1.0)

    def lead_se(self, b: int) -> Array:
        """Standard errors of SPA_i − SPA_j at target b: (M, M)."""
        return _differences(self.covariance(b))

    def change_se(self, b: int, base: int) -> Array:
        """Standard errors of the change of SPA_i − SPA_j from target `base` to target b: (M, M)."""
        return _differences(self.covariance(b, base))

    def ranks(self, b: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The best and the worst rank of each scorer that are compatible with the data at target b: (M,) each.

        A rank is the place of a scorer's mean SPA among all means. Scorer i is surely behind j where its lead over j is
        negative by more than c_i standard errors, c_i such that with the level's chance no j at all is misjudged.
        """
        covariance = self.covariance(b)
        return rank_sets(self.spa[b], covariance, self.t / quantile(self.level, None), self.level)

    def covariance(self, b: int, base: int | None = None) -> Array:
        """Of the scorers' SPAs at target b, or of their changes from another: (M, M); NaN with too few resamples."""
        x = self.spread[:, b] - (0.0 if base is None else self.spread[:, base])
        x = x[~np.isnan(x).any(axis=1)]
        if 2 * len(x) < len(self.spread) or len(x) < 2:
            return np.full((x.shape[1], x.shape[1]), np.nan)
        x = x - x.mean(axis=0)
        return np.asarray(x.T @ x / len(x))


def intervals(
    source: Pool | Digest | str,
    betas: ArrayLike | None = None,
    scores: Scores | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
    method: str = "bootstrap",
    meta: str = SPA.name,
) -> Intervals:
    """Resample the documents of `source` and say how far SPA, leads and ranks could have come out elsewhere.

    `betas` (B,): targets, NaN for the natural balance without weights; None: that alone. `scores` as `rank` takes them;
    one scorer is enough here. `level` is the chance of missing, .05 for intervals of 95 %. `method`: see `draw`. `meta`
    names another meta-metric of the registry.

    >>> rng = np.random.default_rng(0)
    >>> aspect = rng.normal(size=(2, 5, 200)) + rng.normal(size=(2, 5, 1))
    >>> close, far = (aspect.sum(axis=0) + noise * rng.normal(size=(5, 200)) for noise in (3, 7))
    >>> documents = tuple(str(n // 4) for n in range(200))
    >>> total, scorers = aspect.sum(axis=0), {"close": close, "far": far}
    >>> pool = Pool("made", tuple("abcde"), np.arange(200), 200, total, *aspect, scorers, documents=documents)
    >>> found = intervals(pool, [0.5], resamples=200)
    >>> found.low.round(2), found.high.round(2), found.ranks(0)
    (array([[0.89, 0.61]]), array([[1., 1.]]), (array([1, 1]), array([2, 2])))
    """
    (record,) = metametrics([meta])
    pool = pool_of(source)
    whole(resamples, "resamples", 2)
    share(level, "level")
    shipped, own = judges(pool, scores, 1)
    names, x = [*shipped, *own], np.array([*shipped.values(), *own.values()])
    targets = np.array([np.nan]) if betas is None else np.atleast_1d(np.asarray(betas, dtype=np.float64))
    if not np.isnan(targets).all():
        weightings(pool, targets[~np.isnan(targets)])  # refuses what the pool itself does not reach
    e = evidence(pool, x if record.needs == "p" else x[:0])
    documents = e.size.size
    block = max(1, min(WORK_CELLS // e.gap[0].size, 16 * WORK_CELLS // documents))
    if record.needs == "segments":
        block = max(1, min(block, WORK_CELLS // (targets.size * x.shape[2])))
    again = redrawn(record, pool, x, e)
    blocks, factor = draws(method, documents, resamples, seed, block)
    parts = []
    with tqdm(total=resamples, desc="resamples", leave=False, disable=None if resamples > block else True) as bar:
        for times in blocks:
            parts.append(again(times, targets))
            bar.update(len(times))
    drawn = np.concatenate(parts)
    reached = (~np.isnan(drawn[..., 0])).sum(axis=0)
    mean = np.nansum(drawn, axis=0) / np.maximum(reached, 1)[:, None]
    return Intervals(
        tuple(names),
        np.arange(len(names)) >= len(shipped),
        targets,
        again(np.ones((1, documents)), targets)[0],
        factor * (drawn - mean),
        reached,
        documents,
        level,
        f"{pool.name}|sys:{len(pool.systems)}|{segments(pool)}|ref:{pool.reference}"
        f"|{'segments as documents' if pool.documents is None else f'doc:{documents}'}|{method}:{len(drawn)}"
        f"{'|p:normal' if record.needs == 'p' else f'|meta:{meta}'}|seed:{seed}|whichbird:{__version__}",
        meta,
    )


def quantile(level: float, documents: int | None) -> float:
    """Student's t for two-sided intervals from so many documents; the normal one if None.

    >>> round(quantile(0.05, 5), 3), round(quantile(0.05, None), 3)
    (2.776, 1.96)
    """
    return float(ndtri(1 - level / 2) if documents is None else stdtrit(float(documents - 1), 1 - level / 2))


def two_sided(value: Array, se: Array, documents: int) -> Array:
    """Two-sided p-values of values with standard errors, by Student's t: of any common shape; 1 where both are 0."""
    some = se > 0
    return np.where(
        some, 2 * stdtr(documents - 1, -np.abs(value) / np.where(some, se, 1.0)), np.where(np.isnan(se), np.nan, 1.0)
    )


def rank_sets(
    spa: Array, covariance: Array, wider: float = 1.0, level: float = LEVEL, draws: int = 1000
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Best and worst compatible rank of M scorers from estimates (M,) and their covariance (M, M).

    The critical value of scorer i is a quantile of the largest |error of lead over j| / its standard error, over all
    j, simulated from the normal law; times `wider`. Each set alone misses its scorer's rank with at most the level's
    chance.

    >>> rank_sets(np.array([0.9, 0.8, 0.5]), 0.01 * np.eye(3))
    (array([1, 1, 2]), array([2, 3, 3]))
    """
    size = len(spa)
    if np.isnan(covariance).any():
        return np.ones(size, dtype=np.int64), np.full(size, size)
    values, vectors = np.linalg.eigh(covariance)
    noise = np.random.default_rng(SEED).normal(size=(draws, size)) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    se = _differences(covariance)
    some = se > 1e-9
    error = np.abs(noise[:, :, None] - noise[:, None]) / np.where(some, se, np.inf)
    critical = wider * np.quantile(error.max(axis=2), 1 - level, axis=0)
    lead = np.where(some, (spa[:, None] - spa) / np.where(some, se, 1.0), 0.0)
    return 1 + (lead < -critical[:, None]).sum(axis=1), size - (lead > critical[:, None]).sum(axis=1)


def _differences(covariance: Array) -> Array:
    """Standard deviations of all differences of two: (M, M)."""
    variance = np.diag(covariance)
    out: Array = np.sqrt(np.maximum(variance[:, None] + variance - 2 * covariance, 0.0))
    return out
