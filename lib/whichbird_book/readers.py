"""Readers whose preference is known, to try a calibration on: pairs of real translations, and simulated ones.

A pair has a small trade-off: one translation is more adequate, the other more fluent, and neither gains much more than
twice what the other does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from whichbird.core.augment import z_scores
from whichbird.core.check import Array
from whichbird.data.digest import Digest
from whichbird.data.pairs import COLUMNS
from whichbird.data.pool import Pool
from whichbird.study.contest import need_aspects

MOST = 5.0  # MQM points that either translation of a pair may lose against the other: one major error
RATIO = 2.0  # how many times as much as the other one of them may lose


class Trades(NamedTuple):
    """Pairs of translations of one segment: the more adequate system, the more fluent one, the segment; (n,) each."""

    adequate: NDArray[np.intp]
    fluent: NDArray[np.intp]
    segment: NDArray[np.intp]

    def one_each(self, rng: np.random.Generator) -> Trades:
        """One pair of every segment that has some, drawn at random."""
        order = rng.permutation(self.segment.size)
        return self.take(order[np.unique(self.segment[order], return_index=True)[1]])

    def take(self, at: ArrayLike) -> Trades:
        """Some of the pairs."""
        return Trades(*(x[np.asarray(at)] for x in self))


def trades(pool: Pool, most: float = MOST, ratio: float = RATIO) -> Trades:
    """All pairs of a pool's translations with a small trade-off, by its ratings.

    >>> from whichbird.data.segments import load_pool
    >>> found = trades(load_pool("ende24"))
    >>> found.segment.size, np.unique(found.segment).size
    (1915, 256)
    """
    i, j = np.triu_indices(len(pool.systems), 1)
    more, less = (np.asarray(x)[i] - np.asarray(x)[j] for x in (pool.adequacy, pool.fluency))
    a, f = np.abs(more), np.abs(less)
    fits = (more * less < 0) & (np.maximum(a, f) <= most) & (a <= ratio * f) & (f <= ratio * a)
    pair, segment = np.nonzero(fits)
    up = more[pair, segment] > 0
    return Trades(np.where(up, i[pair], j[pair]), np.where(up, j[pair], i[pair]), segment)


def sided(scores: Array, pairs: Trades) -> Array:
    """Whether scorers with segment scores (M, K, N) take the more adequate one of each pair: 1, 0, or ½; (M, n).

    >>> sided(np.array([[[3.0], [2.0]], [[1.0], [1.0]]]), Trades(*np.array([[0], [1], [0]])))
    array([[1. ],
           [0.5]])
    """
    adequate, fluent, segment = pairs
    out: Array = (1 + np.sign(scores[:, adequate, segment] - scores[:, fluent, segment])) / 2
    return out


def pairs_table(pool: Pool, pairs: Trades, preferred: str) -> pd.DataFrame:
    """A table for `calibrate`: the pairs, a reader who always takes the "first" (adequate) or "second" (fluent) one, and the
    scores that the pool's scorers gave.

    >>> from whichbird.data.segments import load_pool
    >>> pool = load_pool("ende24")
    >>> pairs_table(pool, trades(pool).take([0, 1]), "first").shape[0] == 2 * len(pool.scorers)
    True
    """
    parts = [
        pd.DataFrame(
            {
                "pair": np.arange(pairs.segment.size),
                "preferred": preferred,
                "scorer": name,
                "first": x[pairs.adequate, pairs.segment],
                "second": x[pairs.fluent, pairs.segment],
            }
        )
        for name, x in ((name, np.asarray(scores)) for name, scores in pool.scorers.items())
    ]
    return pd.concat(parts, ignore_index=True)[list(COLUMNS)]


def slopes(d: Digest, dial: ArrayLike = 0.0) -> Array:
    """What one MQM point of adequacy and of fluency is worth to each scorer: (M, 2), in its own spreads.

    Least squares over the systems of the dataset. A dial, of the family from fluency to adequacy, adds its own share, exactly.

    >>> from whichbird.data.digest import load
    >>> d = load("ende24")
    >>> slopes(d).shape, bool((slopes(d, 1.0)[:, 0] > slopes(d)[:, 0]).all())
    ((30, 2), True)
    """
    a, f = need_aspects(d)
    points = np.stack([a - a.mean(), f - f.mean()], axis=1)
    standard = np.array([z_scores(y) for y in d.means])
    base: Array = np.linalg.lstsq(points, standard.T, rcond=None)[0].T
    return base + np.outer(np.broadcast_to(dial, len(base)), [1 / a.std(), -1 / f.std()])


def side_with(
    slope: Array,
    theta: float | None,
    runs: int,
    pairs: int,
    rng: np.random.Generator,
    noise: float = 1.0,
    shared: float = 0.0,
) -> NDArray[np.bool_]:
    """Whether scorers choose as you do in simulated pairs: (runs, pairs, M), true or false.

    One translation loses x points of adequacy, the other y of fluency, x / y between ½ and 2. To you a point
    of adequacy is worth theta and one of fluency 1 − theta; `theta` None throws a coin. To a scorer they are
    worth its slopes (M, 2); its view of a pair errs by `noise`. All scorers together misjudge x and y by `shared`.

    >>> rng = np.random.default_rng(0)
    >>> side_with(np.array([[1.0, 0.0], [0.0, 1.0]]), 0.9, 1, 3, rng, noise=0.0)[0].tolist()
    [[True, False], [True, False], [True, False]]
    """
    u = rng.uniform(-0.5, 0.5, (runs, pairs))
    x, y = 2**u, 2**-u  # the fluent one loses x, the adequate one y
    coin = rng.integers(0, 2, u.shape) == 1
    yours = coin if theta is None else theta * x > (1 - theta) * y
    x, y = (z + rng.normal(0, shared, z.shape) for z in (x, y))
    gap = x[..., None] * slope[:, 0] - y[..., None] * slope[:, 1]
    gap += rng.normal(0, noise, gap.shape)
    agrees: NDArray[np.bool_] = (gap > 0) == yours[..., None]
    return agrees
