"""Segment-level meta-metrics: acc_eq, accuracy with calibrated ties, and PDP, the Pearson correlation of pairwise differences.

Both compare systems two by two within each segment. A weighting w of the systems gives the pair k < l of a segment the weight
w_k w_l over the sum of such products on the pairs that the segment has; every segment counts the same. Gaps, NaN, are left out.

**acc_eq** (Deutsch, Foster and Freitag, 2023; items as groups, as in WMT23 and WMT24). A scorer ties two translations if their scores
differ by at most ε, and is right where people tie and it ties, or where both have the same order and it does not tie. ε ≥ 0 is the one
that makes it right most often. All ε at once: let d be |score_k − score_l| of a cell (pair, segment) and c its weight. As ε passes d, a
cell that people tie becomes right (+c), one in the right order becomes wrong (−c), others stay wrong. So cells in order of d and running
sums of ±c give the accuracy at every ε. Where several have the same d those with −c come first, so that no partial sum inside a group of
equals is above both of its ends: the largest running sum is the answer. The order does not depend on weights: one sort a scorer serves
every weighting and every resample, and whether a cell counts + or − depends on people alone. What is left for a weighting is to add up
gains: in blocks, for many weightings at once, and cell by cell only in blocks that may hold the largest sum.

**PDP** is Pearson's correlation over all pairs in all segments of people's difference with the scorer's. Without pairs it is
Σ_n cov_w(h_n, s_n) / √(Σ_n var_w h_n · Σ_n var_w s_n), weights taken over the systems that a segment has.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import check
from .check import Array
from .metametrics import SAME

WORK_CELLS = 1 << 22  # numbers in the largest work array
GAIN_BLOCK, WIDE = 128, 16  # cells whose gains are added up together, and weightings for which that is done at once


def acc_eq(human: ArrayLike, scorer: ArrayLike, w: ArrayLike | None = None) -> float:
    """Pairwise accuracy with calibrated ties, from segment scores (K, N) of people and of a scorer, NaN where missing.

    People's ties are equal scores. A constant scorer ties everything: its accuracy is the share of pairs that people tie.

    >>> people = [[0, -1, 0], [0, -5, -1], [-1, 0, -1]]
    >>> acc_eq(people, people), round(acc_eq(people, [[1, 1, 1], [1, 1, 1], [1, 1, 1]]), 4)
    (1.0, 0.2222)
    """
    h, s, weights = _one(human, scorer, w)
    return float(tie_accuracies(h, s[None], weights[None])[0, 0])


def pdp(human: ArrayLike, scorer: ArrayLike, w: ArrayLike | None = None) -> float:
    """Pearson correlation of pairwise differences within segments, from segment scores (K, N) of people and of a scorer.

    >>> people = [[0, -1, 0], [0, -5, -1], [-1, 0, -1]]
    >>> round(pdp(people, [[1, 1, 2], [1, 0, 1], [0, 1, 1]]), 4)
    0.7825
    """
    h, s, weights = _one(human, scorer, w)
    there = ~(np.isnan(h) | np.isnan(s)) & (weights > 0)[:, None]
    for name, x in (("human", h), ("scorer", s)):
        low, high = (f(np.where(there, x, e), axis=0, initial=e) for f, e in ((np.min, np.inf), (np.max, -np.inf)))
        some = there.any(axis=0)
        if (high[some] - low[some]).max(initial=0.0) <= SAME * np.abs(x[there]).max(initial=0.0):
            raise ValueError(f"the {name} scores are the same within every segment; a correlation is not defined")
    return float(difference_correlations(h, s[None], weights[None])[0, 0])


def tie_accuracies(human: Array, x: Array, w: Array, times: Array | None = None) -> Array:
    """acc_eq of scorers x (M, K, N) with people (K, N) at weightings w (W, K): (W, M); NaN where no pair is left.

    `times` (W, N) says how often each segment counts at each weighting; None: once.

    >>> people = np.array([[0.0, -1, 0], [0, -5, -1], [-1, 0, -1]])
    >>> tie_accuracies(people, people[None], np.ones((2, 3)), np.array([[1, 1, 1], [2, 0, 1.0]])).tolist()
    [[1.0], [1.0]]
    """
    out = np.full((len(w), len(x)), np.nan)
    for there, members in _alike(human, x):
        cells = _Cells(human, there)
        orders = [_Order(cells, x[m]) for m in members]
        for start in range(0, len(w), WIDE):
            rows = np.arange(start, min(start + WIDE, len(w)))
            made = [(n, g) for n in rows if (g := cells.gains(w[n], None if times is None else times[n])) is not None]
            if not made:
                continue
            gains = np.zeros((len(made), cells.pair.size + 1))  # the last is of no cell: it fills up blocks
            for n, (_, gain) in enumerate(made):
                gains[n, :-1] = gain
            columns = np.ascontiguousarray(gains.T)
            for m, order in zip(members, orders, strict=True):
                out[[n for n, _ in made], m] = np.minimum(order.best(gains, columns), 1.0)
    return out


class _Cells:
    """The cells (pair, segment) that can be compared, those that people tie first: `ties` of them."""

    def __init__(self, human: Array, there: NDArray[np.bool_]) -> None:
        """`there` (K, N) marks the scores that are known on both sides."""
        self.i, self.j = np.triu_indices(len(human), 1)
        self.there = there
        known = there[self.i] & there[self.j]
        self.known = None if there.all() else known.astype(np.float64)  # (P, N)
        gap = np.where(known, human[self.i], 0.0) - np.where(known, human[self.j], 0.0)
        tied, apart = np.nonzero(known & (gap == 0)), np.nonzero(known & (gap != 0))
        self.pair, self.segment = (np.concatenate(v) for v in zip(tied, apart, strict=True))
        self.ties, self.sign = tied[0].size, np.sign(gap[apart])

    def gains(self, w: Array, times: Array | None) -> Array | None:
        """What each cell adds where people tie, or takes away elsewhere, once ε passes it, with weights w (K,); None where no pair has weight."""
        w = w / w.max()  # so that no product of small weights vanishes
        product = w[self.i] * w[self.j]
        inside = np.full(self.there.shape[1], product.sum()) if self.known is None else product @ self.known
        used = inside > 0
        often = used * (1.0 if times is None else times)
        count = often.sum()
        if count == 0:
            return None
        share = often / np.where(used, inside, 1.0)
        return np.asarray(product.take(self.pair) * (share / count).take(self.segment))


class _Order:
    """The cells on which a scorer x (K, N) can win or lose as ε grows, in the order of |Δ|, what it loses first among equals.

    They stand in blocks of `GAIN_BLOCK`. Of a block only two sums are needed, over what is won and what is lost, and they are made for many
    weightings at once. They bound what a running sum reaches inside; few blocks need to be looked into.
    """

    def __init__(self, cells: _Cells, x: Array) -> None:
        from scipy.sparse import csr_array

        gap = x[cells.i[cells.pair], cells.segment] - x[cells.j[cells.pair], cells.segment]
        right = cells.ties + np.flatnonzero(np.sign(gap[cells.ties :]) == cells.sign)
        every = np.concatenate([right, np.arange(cells.ties)])
        order = every[np.argsort(np.abs(gap[every]), kind="stable")].astype(np.int32)
        self.size, self.ties = order.size, cells.ties
        blocks = -(-order.size // GAIN_BLOCK)
        nothing = cells.pair.size
        self.blocks = np.full(blocks * GAIN_BLOCK, nothing, dtype=np.int32)
        self.blocks[: order.size] = order
        self.blocks = self.blocks.reshape(blocks, GAIN_BLOCK)
        ties = self.blocks < cells.ties
        lost = ~ties & (self.blocks < nothing)

        def sums(which: NDArray[np.bool_]) -> csr_array:
            """Sums over these cells of each block, as a sparse matrix."""
            ends = np.concatenate([[0], np.cumsum(which.sum(axis=1))])
            return csr_array((np.ones(ends[-1]), self.blocks[which], ends), shape=(blocks, nothing + 1))

        self.won, self.lost = sums(ties).tocsc(), sums(lost).tocsc()

    def best(self, gains: Array, columns: Array) -> Array:
        """The accuracy at the best ε with gains (R, cells + 1) of R weightings, `columns` the same transposed: (R,)."""
        if not self.size:
            return np.zeros(len(gains))
        won, lost = self.won @ columns, self.lost @ columns  # (blocks, R)
        after = np.cumsum(won - lost, axis=0)
        before = after - (won - lost)
        top = np.maximum(after.max(axis=0), 0.0)
        for r, block in zip(*self._open(before + won, top), strict=True):
            inside = gains[r].take(self.blocks[block])
            run = np.cumsum(np.where(self.blocks[block] < self.ties, inside, -inside), axis=1)
            top[r] = max(top[r], (before[block, r] + run.max(axis=1)).max())
        return np.asarray(lost.sum(axis=0) + top)  # where ε is below all d, only the right order counts

    @staticmethod
    def _open(bound: Array, top: Array) -> tuple[list[int], list[NDArray[np.int64]]]:
        """The weightings that have blocks in which the running sum may be above `top`, and these blocks."""
        found = [np.flatnonzero(bound[:, r] > top[r]) for r in range(top.size)]
        some = [r for r in range(top.size) if found[r].size]
        return some, [found[r] for r in some]


def difference_correlations(human: Array, x: Array, w: Array, times: Array | None = None) -> Array:
    """PDP of scorers x (M, K, N) with people (K, N) at weightings w (W, K): (W, M); 0 where a side is constant within segments.

    `times` (W, N) says how often each segment counts at each weighting; None: once. NaN where no pair is left.

    >>> people = np.array([[0.0, -1, 0], [0, -5, -1], [-1, 0, -1]])
    >>> difference_correlations(people, np.array([people, -people]), np.ones((1, 3))).round(12).tolist()
    [[1.0, -1.0]]
    """
    out = np.full((len(w), len(x)), np.nan)
    block = max(1, WORK_CELLS // max(1, human.shape[1]))
    for there, members in _alike(human, x):
        mask = there.astype(np.float64)
        h, size = _centred(human, there), np.abs(human[there]).max(initial=0.0)
        for start in range(0, len(w), block):
            rows = slice(start, start + block)
            v = w[rows] / w[rows].max(axis=1, keepdims=True)
            mass = v @ mask
            mass[mass == 0] = np.nan
            often = np.ones(mass.shape) if times is None else times[rows]
            some = ((v > 0).astype(np.float64) @ mask > 1) & (often > 0)

            def summed(y: Array, z: Array, v: Array = v, mass: Array = mass, often: Array = often) -> Array:
                """Σ_n cov_w(y_n, z_n): (W,)."""
                each = v @ (y * z) / mass - (v @ y / mass) * (v @ z / mass)
                return np.asarray(np.nansum(often * each, axis=1))

            people, least = summed(h, h), SAME * np.sqrt(often.sum(axis=1))  # of scores of size one
            for m in members:
                s = _centred(x[m], there)
                own = summed(s, s)
                flat = (people <= (least * size) ** 2) | (own <= (least * np.abs(x[m][there]).max(initial=0.0)) ** 2)
                r = np.where(flat, 0.0, summed(h, s) / np.sqrt(np.where(flat, 1.0, people * own)))
                out[rows, m] = np.where(some.any(axis=1), np.clip(r, -1, 1), np.nan)
    return out


def _centred(x: Array, there: NDArray[np.bool_]) -> Array:
    """x (K, N) around the mean of each segment, 0 where it is not there: moments then lose few digits."""
    count = np.maximum(there.sum(axis=0), 1)
    known = np.where(there, x, 0.0)
    return np.where(there, known - known.sum(axis=0) / count, 0.0)


def _alike(human: Array, x: Array) -> Iterator[tuple[NDArray[np.bool_], list[int]]]:
    """Scorers that have the same gaps together: which scores are known on both sides, (K, N), and the scorers' places."""
    groups: dict[bytes, tuple[NDArray[np.bool_], list[int]]] = {}
    known = ~np.isnan(human)
    for m, scores in enumerate(x):
        there = known & ~np.isnan(scores)
        groups.setdefault(there.tobytes(), (there, []))[1].append(m)
    yield from groups.values()


def _one(human: ArrayLike, scorer: ArrayLike, w: ArrayLike | None) -> tuple[Array, Array, Array]:
    """Segment scores of people and one scorer, checked, and the systems' weights."""
    check.same_labels(human, scorer, "human", "scorer")
    h, s = (check.matrix(x, name, allow_nan=True) for x, name in ((human, "human"), (scorer, "scorer")))
    if h.shape != s.shape:
        raise ValueError(f"human has shape {h.shape} and scorer {s.shape}; both need the same, (K, N)")
    weights = check.weights(w, len(h))
    there = ~(np.isnan(h) | np.isnan(s)) & (weights > 0)[:, None]
    if not (there.sum(axis=0) > 1).any():
        raise ValueError("no segment has scores of two systems with weight on both sides; there is no pair to compare")
    return h, s, weights
