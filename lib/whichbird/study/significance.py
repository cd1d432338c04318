"""Which leads are more than luck: PERM-BOTH between all scorers at every balance, and the clusters it makes.

What is resampled is SPA with p-values in closed form, and the observed lead it is compared with is of the same kind.
It is not the number that is reported: that stays the SPA of 1000 permutations. In the sixteen datasets, at their
natural balance, the two differ by .0004 to .002 on average over scorers, and by .007 at most.

Swaps are made cell by cell, WMT's rule, or document by document. Near the level, |p − .05| < .015, ten times as many are
made, so that a verdict seldom hangs on the seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from .._version import __version__
from ..core.check import Array, DataError, share, whole
from ..core.closed import closed_p
from ..core.metametrics import pair_weights, spa_from_p
from ..core.swap import SPA_TIE, standard_scores, swap_test
from ..data.digest import Digest
from ..data.pool import Pool, pick, refuse_constant
from ..data.protocol import refuse_taken, segments
from ..data.segments import pool_of
from ..solve.reweight import reweight_sweep
from .contest import Scores, named_scores, need_aspects, own_scores
from .targets import sorted_targets

RESAMPLES, SEED, LEVEL = 1000, 7, 0.05
MORE = 10  # times as many swaps where a p-value is near the level
FEWEST = 8  # documents that a verdict takes: with fewer, noise is a guess itself, and nothing is ruled out
UNITS = ("documents", "segments")  # what is swapped
WAVE = 32  # scorers that are given clusters at a time, where only the pairs are tested that clusters need


@dataclass(frozen=True, eq=False)
class Significance:
    """PERM-BOTH between M scorers at B balances.

    `p` (B, M, M): p[b, i, j] is the share of resamples in which SPA_i − SPA_j is at least the observed difference;
    small where i is surely better; 1 on the diagonal; NaN for pairs that were not tested. `z` (B, M, M) is the
    observed difference in standard deviations of the resampled ones: where no resample reaches it, Φ(−z) says how far
    out it lies. `spa` (B, M) is SPA in closed form. `betas` (B,) holds NaN in place of a natural balance nobody
    knows. `own` (M,) marks your scorers. `by` says what was swapped, "documents" or "segments".

    >>> rng = np.random.default_rng(0)
    >>> aspect = rng.normal(size=(2, 5, 200)) + rng.normal(size=(2, 5, 1))
    >>> total = aspect.sum(axis=0)
    >>> scorers = {name: total + noise * rng.normal(size=(5, 200)) for name, noise in {"close": 3, "far": 7}.items()}
    >>> pool = Pool("made", tuple("abcde"), np.arange(200), 200, total, *aspect, scorers)
    >>> found = significance(pool, [0.4, 0.5], resamples=200)
    >>> found.p.shape, found.spa.round(2), found.tail_p.shape
    ((2, 2, 2), array([[0.96, 0.79],
           [0.96, 0.82]]), (2, 2, 2))
    """

    scorers: tuple[str, ...]
    own: NDArray[np.bool_]
    betas: Array
    spa: Array
    p: Array
    z: Array
    resamples: int
    by: str
    signature: str

    def __repr__(self) -> str:
        return f"<Significance {len(self.scorers)} scorers>"

    def clusters(self, spa: ArrayLike | None = None, level: float = LEVEL) -> NDArray[np.int64]:
        """The cluster of every scorer at every balance, from 1: (B, M). `spa` (B, M) orders the scorers, or ours."""
        order = self.spa if spa is None else np.asarray(spa, dtype=np.float64)
        return np.array([clusters(s, p, level) for s, p in zip(order, self.p, strict=True)])

    @property
    def tail_p(self) -> Array:
        """Φ(−z), normal tails: (B, M, M), for adjustments that ask for less than 1 / resamples."""
        return np.asarray(ndtr(-self.z))


def significance(
    source: Pool | Digest | str,
    betas: ArrayLike | None = None,
    scores: Scores | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    only_own: bool = False,
    by: str | None = None,
    ranked_by: ArrayLike | None = None,
) -> Significance:
    """PERM-BOTH between all scorers of `source`, your own `scores` (as `rank` takes them) among them, at every balance.

    `betas` (B,): targets, in ascending order in the result; None: those of `targets.steps`, or the natural balance
    alone where adequacy and fluency are not known. `only_own` tests just the pairs with a scorer of yours in them, and
    `ranked_by` (M,) those that clusters at the first balance need, scorers in order of these SPAs. `by`
    says what is swapped: whole "documents", or "segments" one by one, WMT's rule; None: documents where `FEWEST` or more
    are known. The same seed gives the same answer, and a pair of scorers the same whoever else takes part.

    >>> rng = np.random.default_rng(0)
    >>> aspect = rng.normal(size=(2, 5, 200)) + rng.normal(size=(2, 5, 1))
    >>> close, far = (aspect.sum(axis=0) + noise * rng.normal(size=(5, 200)) for noise in (3, 7))
    >>> total, scorers = aspect.sum(axis=0), {"close": close, "far": far}
    >>> pool = Pool("made", tuple("abcde"), np.arange(200), 200, total, *aspect, scorers)
    >>> found = significance(pool, [0.5], resamples=200)
    >>> found.p[0].round(2), found.clusters()
    (array([[1.  , 0.04],
           [0.96, 1.  ]]), array([[1, 2]]))
    """
    pool = pool_of(source)
    whole(resamples, "resamples")
    shipped, own = judges(pool, scores, 2)
    names, x = [*shipped, *own], np.array([*shipped.values(), *own.values()])
    every = np.triu_indices(len(names), 1)
    if only_own:
        if not own:
            raise ValueError("only_own asks for the pairs of your own scorers, and scores holds none")
        every = every[0][every[1] >= len(shipped)], every[1][every[1] >= len(shipped)]
    documents = swapped_documents(pool, by)
    betas, w = weightings(pool, betas)
    pi, human = pair_weights(w), closed_p(pool.total)
    spa, standard = spa_from_p(human, closed_p(x), w), standard_scores(x)
    p, z = (np.full((len(pi), len(names), len(names)), np.nan) for _ in range(2))
    for i, j in [every] if ranked_by is None else waves(np.asarray(ranked_by), p[0]):
        found = swap_test(standard, i, j, human, pi, resamples, seed, documents, MORE * resamples)
        p[:, i, j], p[:, j, i] = found.at_least / found.resamples, found.at_most / found.resamples
        with np.errstate(divide="ignore", invalid="ignore"):  # scorers that are one up to scale have no spread
            z[:, i, j] = np.where(found.spread > SPA_TIE, (found.observed - found.mean) / found.spread, 0.0)
        z[:, j, i] = -z[:, i, j]
    diagonal = np.arange(len(names))
    p[:, diagonal, diagonal], z[:, diagonal, diagonal] = 1.0, 0.0
    return Significance(
        tuple(names),
        np.arange(len(names)) >= len(shipped),
        betas,
        np.asarray(spa),
        p,
        z,
        resamples,
        UNITS[documents is None],
        f"{pool.name}|sys:{len(pool.systems)}|{segments(pool)}|ref:{pool.reference}|test:PERM-BOTH"
        f"|by:{UNITS[documents is None]}|p:normal|resamples:{resamples}, {MORE * resamples} near {LEVEL:g}|seed:{seed}|whichbird:{__version__}",
    )


def waves(spa: Array, p: Array, level: float = LEVEL) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Pairs of scorers (Q,), (Q,) that clusters need, some at a time; who asks for the next has written the p-values of these to p (M, M).

    A scorer is compared with the members of the cluster that it could join alone, so of hundreds of scorers few pairs meet.

    >>> p = np.full((100, 100), np.nan)
    >>> tested = 0
    >>> for i, j in waves(-np.arange(100.0), p):  # each scorer is surely better than the one after it
    ...     p[i, j], tested = 0.0, tested + len(i)
    >>> tested, 100 * 99 // 2
    (1562, 4950)
    """
    order = np.argsort(-spa, kind="stable")
    first = tested = 0  # of the current cluster; how many scorers have been tested
    for place in range(len(order)):
        if place == tested:
            tested = min(place + WAVE, len(order))
            a, b = np.triu_indices(tested - first, 1)
            new = b + first >= place
            two = np.sort([order[a[new] + first], order[b[new] + first]], axis=0)
            if two.size:
                yield two[0], two[1]
        if (p[order[first:place], order[place]] <= level).any():
            first = place


def swapped_documents(pool: Pool, by: str | None = None) -> NDArray[np.int64] | None:
    """The number of the document of each line with a total, (n,), if documents are to be swapped, and None if segments are.

    >>> x = np.zeros((2, 9))
    >>> pool = Pool("made", ("a", "b"), np.arange(9), 9, x, documents=tuple("aabcdefgh"))
    >>> swapped_documents(pool), swapped_documents(pool, "segments")
    (array([0, 0, 1, 2, 3, 4, 5, 6, 7]), None)
    """
    if by not in (None, *UNITS):
        raise ValueError(f"by is {by!r}; one of {', '.join(UNITS)} is expected")
    if by == "segments" or by is None and pool.documents is None:
        return None
    if pool.documents is None:
        raise DataError(f"{pool.name} has no documents to swap; segments can be swapped")
    number = np.asarray(pd.factorize(np.array(pool.documents)[pool.official])[0], dtype=np.int64)
    if number.max() + 1 < FEWEST and by is not None:
        raise DataError(f"{pool.name} has {number.max() + 1} documents; at least {FEWEST} are needed to swap them")
    return number if number.max() + 1 >= FEWEST else None


def clusters(spa: ArrayLike, p: ArrayLike, level: float = LEVEL) -> NDArray[np.int64]:
    """The cluster of every scorer, from 1, by WMT's rule: (M,).

    Scorers are taken in order of `spa` (M,), best first. A scorer joins the current cluster unless any scorer in it is
    significantly better, `p` (M, M) ≤ `level`; then it opens the next.

    >>> clusters([0.9, 0.8, 0.7], [[1, 0.2, 0.01], [0.8, 1, 0.3], [0.99, 0.7, 1]])
    array([1, 1, 2])
    """
    score, pairs = np.asarray(spa, dtype=np.float64), np.asarray(p, dtype=np.float64)
    if score.ndim != 1 or pairs.shape != (score.size, score.size):
        raise ValueError(f"spa has shape {score.shape} and p {pairs.shape}; (M,) and (M, M) are expected")
    share(level, "level")
    out, members, number = np.empty(score.size, dtype=np.int64), np.empty(0, dtype=np.int64), 1
    for scorer in np.argsort(-score, kind="stable"):
        if (pairs[members, scorer] <= level).any():
            members, number = np.empty(0, dtype=np.int64), number + 1
        members = np.append(members, scorer)
        out[scorer] = number
    return out


def holm(p: ArrayLike) -> Array:
    """Holm's adjustment of the p-values of one family, of any shape; NaN stays out of it and stays NaN.

    Rejecting where the adjusted value is at most α keeps the chance of any false rejection below α, whatever the
    dependence.

    >>> holm([0.01, 0.04, 0.03, float("nan")])
    array([0.03, 0.06, 0.06,  nan])
    """
    values = np.asarray(p, dtype=np.float64)
    flat = values.ravel()
    order = np.argsort(flat)  # NaN last
    size = int((~np.isnan(flat)).sum())
    out = np.full(flat.size, np.nan)
    steps = flat[order[:size]] * np.arange(size, 0, -1)
    out[order[:size]] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return out.reshape(values.shape)


def weightings(pool: Pool, betas: ArrayLike | None) -> tuple[Array, Array]:
    """Targets (B,) and the weights (B, K) at them; the natural balance alone, NaN, where the aspects are not known."""
    if pool.aspects is None and betas is None:
        return np.array([np.nan]), np.full((1, len(pool.systems)), 1 / len(pool.systems))
    a, f = need_aspects(pool)
    targets = sorted_targets(a, f, betas)
    return targets, np.array([r.weights for r in reweight_sweep(a, f, targets).insist()])


def annotated_of(source: Pool | Digest | str) -> Pool:
    """The lines of a source that have ratings of errors; a source without any is refused."""
    pool = pool_of(source)
    need_aspects(pool)
    return pick(pool, pool.annotated)


def judges(pool: Pool, scores: Scores | None, least: int) -> tuple[dict[str, Array], dict[str, Array]]:
    """Scores of the pool's scorers and of your own on the segments that have a total, fit to be compared; so many at least."""
    own = {name: own_scores(pool, name, x) for name, x in named_scores(scores, pool).items()}
    for name, x in own.items():
        if x.ndim == 1:
            raise DataError(f"scorer {name!r} has p-values only; segment scores are needed to swap and to resample")
        refuse_taken(pool, name)
    for name, x in pool.scored.items():
        refuse_constant(x, name)
    count = len(pool.scorers) + len(own)
    if count < least:
        raise DataError(f"{pool.name}: {count} scorers to compare; at least {least} needed")
    return dict(pool.scored), own
