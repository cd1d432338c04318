"""Paired-permutation p-values: how surely one system outranks another on the same segments.

For systems i before j the observed gap is Σ (x_i − x_j) over the segments. A permutation swaps the two systems' scores
on a random half of the segments, which flips signs; the p-value is the share of permutations whose gap is at least the
observed one. Small p: i is surely better. All pairs, and people and scorers alike, share one matrix of signs, as in the
field's toolkit.

Ties make this delicate. MQM scores are multiples of 0.1, and means of three raters are thirds, so a permuted gap can
equal the observed one exactly, while in binary either may come out larger, depending on the order of summation. There
are two rules. *Exactly* (the default): scores that are multiples of a small fraction are counted in it first
(`counted`), and sums of whole numbers are exact. *As floats* (`exact=False`): each system's signed sum runs over the
segments from first to last in float64. That is bit-for-bit the same everywhere, and it is the order under which the
published values come out, so it is the rule for datasets of WMT's release. Since only near-ties can tell orders apart,
a fast matrix product decides all other cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from . import check

PERMUTATIONS, PUBLISHED_SEED = 1000, 4
_EPS = np.finfo(np.float64).eps
_ROOM, _BLOCK = 1 << 23, 1 << 16  # numbers in memory at a time: of all the sums, and in one step with them
# Fractions that scores are looked for in: 1/d with d = m·10^k, for means of up to 100 raters of decimals.
_PARTS = np.array(sorted({float(m * 10**k) for m in range(1, 101) for k in range(7)}))
_SURE = (
    5e-12 + 8 * _EPS
)  # of the largest score: what rounding to twelve digits, which ratings are kept in, may be off by
_SAMPLE = 64  # different scores that most fractions are ruled out by


def p_values(
    x: ArrayLike, permutations: int = PERMUTATIONS, seed: int = PUBLISHED_SEED, exact: bool = True
) -> np.ndarray:
    """p-values of all pairs i < j, in the order of numpy.triu_indices, from segment scores x (K, N): shape (K(K−1)/2,).

    A NaN marks a missing segment; a pair is compared where both systems have a score (p = 1 where they share none). A
    segment that no system has does not count, and has no signs.

    `exact` says how a permuted gap is compared with the observed one. True: where all scores are multiples of some 1/d,
    d = m·10^k with m ≤ 100 and k ≤ 6 (whole numbers, decimals, means of a few raters), in whole numbers of 1/d, so that
    what is equal is found equal; other scores as floats. False: as floats in any case, the convention of the published
    tables. Datasets that ship, and trees of mt-metrics-eval, are compared so throughout; call it so to get their p-values.

    >>> p_values([[1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0]])
    array([0.018])
    >>> thirds = np.array([[7, 5, 6, 5, 8, 4, 7, 5], [5, 6, 5, 4, 7, 5, 6, 4]]) / 3
    >>> p_values(thirds), p_values(thirds, exact=False), p_values(3 * thirds)
    (array([0.13]), array([0.047]), array([0.13]))
    """
    return p_counts(x, permutations, seed, exact) / permutations


def p_counts(
    x: ArrayLike, permutations: int = PERMUTATIONS, seed: int = PUBLISHED_SEED, exact: bool = True
) -> np.ndarray:
    """The same as whole numbers: how many permutations reach the observed gap, shape (K(K−1)/2,).

    >>> p_counts([[1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0]])
    array([18])
    """
    x = check.matrix(x, "x", allow_nan=True)
    empty = np.isnan(x).all(axis=0)
    if empty.any() and not empty.all():
        x = x[:, ~empty]
    x, s = _checked(x, permutations, seed, allow_nan=True)
    if exact:
        x = counted(x)
    there = ~np.isnan(x)
    used = there.sum(axis=0) > 1  # a segment that fewer than two systems have belongs to no pair
    if not used.all():
        x, s, there = x[:, used], s[:, used], there[:, used]
    x = np.where(there, x, 0.0)
    i, j = np.triu_indices(x.shape[0], 1)
    out = np.full(i.size, permutations)
    # Adding zero changes no sum in order. So system k, compared with one that has the segments v, sums k's scores with
    # zeros outside v: one row for each k and v, however many pairs need it.
    _, some, of = np.unique(np.packbits(there, axis=1), axis=0, return_index=True, return_inverse=True)
    patterns, of = there[some], of.ravel()
    count = there.astype(np.float64)
    todo = np.flatnonzero((count @ count.T)[i, j])
    room, step = max(_ROOM // (x.shape[1] + permutations), 2 * len(x)), i.size  # rows that fit; pairs in one go
    if len(x) * len(patterns) > room:  # then a few pairs at a time, side by side where they share rows
        todo, step = todo[np.lexsort((of[j[todo]], of[i[todo]]))], room // 2
    for start in range(0, todo.size, step):
        part = todo[start : start + step]
        rows = np.concatenate([i[part] * len(patterns) + of[j[part]], j[part] * len(patterns) + of[i[part]]])
        rows, at = np.unique(rows, return_inverse=True)
        k, v = np.divmod(rows, len(patterns))
        first, second = at.reshape(2, -1)
        out[part] = _counts(np.where(patterns[v], x[k], 0.0), s, first, second)
    return out


def counted(x: ArrayLike) -> np.ndarray:
    """Scores x (K, N) in whole numbers of the largest 1/d they are multiples of, to within rounding; else as they are.

    Which d are tried says `p_values`. Whole numbers are left alone where sums of them are not exact in float64.

    >>> counted([[1 / 3, 2.5], [np.nan, -1.0]])
    array([[ 2., 15.],
           [nan, -6.]])
    >>> counted([[0.1234567891, 0.5]])
    array([[0.12345679, 0.5       ]])
    """
    x = check.matrix(x, "x", allow_nan=True)
    values = np.unique(x[~np.isnan(x)])
    off = _SURE * np.abs(values).max(initial=0.0)
    some = values[np.linspace(0, values.size - 1, min(values.size, _SAMPLE)).astype(np.int64)]
    likely = (np.abs(np.rint(some[:, None] * _PARTS) / _PARTS - some[:, None]) <= off).all(axis=0)
    for d in _PARTS[likely]:
        whole = np.rint(values * d)
        if (np.abs(whole / d - values) <= off).all():
            fits = np.abs(whole).max(initial=0.0) * x.shape[1] < 2**52
            return np.rint(x * d) if fits else x
    return x


def permuted_gaps(x: ArrayLike, permutations: int = PERMUTATIONS, seed: int = PUBLISHED_SEED) -> np.ndarray:
    """What the test compares, for one pair x (2, N): the observed mean gap, then the permuted: (1 + permutations,).

    >>> gaps = permuted_gaps([[1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0]])
    >>> float(gaps[0]), int((gaps[1:] >= gaps[0]).sum())
    (3.5, 18)
    """
    x, s = _checked(x, permutations, seed)
    if x.shape[0] != 2:
        raise ValueError(f"x has shape {x.shape}; two rows, one pair of systems, are expected")
    gap = x[0] - x[1]
    return np.concatenate([[gap.mean()], s @ gap / x.shape[1]])


def p_curves(
    x: ArrayLike, shifts: ArrayLike, permutations: int = PERMUTATIONS, seed: int = PUBLISHED_SEED
) -> np.ndarray:
    """P-values of x + shifts[d] for every dial d, from one permutation test: shape (D, K(K−1)/2).

    `x` (K, N) are segment scores without gaps, `shifts` (D, K) one constant per dial and system. Exactly equal to
    calling `p_values(x + shifts[d][:, None], exact=False)` for each d.

    >>> p_curves([[1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0]], [[0, 0], [-1, 0], [-7, 0]])[:, 0]
    array([0.018, 0.032, 1.   ])
    """
    return p_curve_counts(x, shifts, permutations, seed) / permutations


def p_curve_counts(
    x: ArrayLike, shifts: ArrayLike, permutations: int = PERMUTATIONS, seed: int = PUBLISHED_SEED
) -> np.ndarray:
    """The same as whole numbers of permutations.

    Moving one system of a pair up by c adds N·c to the plain gap and less to the signed one: each swapped segment costs
    2c. So a permutation reaches the observed gap exactly while c is at most a threshold of its own. Sort the thresholds
    once, and every dial is a look-up. Where a dial falls on a threshold to within rounding, the test itself settles it.

    >>> p_curve_counts([[1, 2, 3], [1, 2, 3]], [[-1, 0], [0, 0], [1, 0]])[:, 0]
    array([1000, 1000,  122])
    """
    x, s = _checked(x, permutations, seed)
    shifts = check.matrix(shifts, "shifts")
    if shifts.shape[1] != x.shape[0]:
        raise ValueError(f"shifts has shape {shifts.shape}; one column for each of the {x.shape[0]} systems is needed")
    swapped = np.count_nonzero(s < 0, axis=1)
    some = np.flatnonzero(swapped)  # a permutation that swaps nothing reaches the observed gap at any dial
    i, j = np.triu_indices(x.shape[0], 1)
    per_swap = _rise(x, s[some]) / (2 * swapped[some])
    gap = shifts.T[i] - shifts.T[j]  # (P, D)
    below = np.empty(gap.shape, dtype=np.int64)
    doubt = np.zeros(gap.shape, dtype=bool)
    # Rounding of sums of N numbers puts thresholds and gaps in doubt by this much, with room for every operation.
    size = np.abs(x).sum(axis=1) + x.shape[1] * np.abs(shifts).max(axis=0, initial=0)
    slack = (4 * x.shape[1] + 16) * _EPS * (size[i] + size[j])[:, None] / swapped[some].min(initial=x.shape[1])
    last = len(some) - 1
    for part in _blocks(i.size, permutations):
        thresholds = np.sort(per_swap[i[part]] - per_swap[j[part]], axis=1)
        for row, sorted_row in enumerate(thresholds, part.start):
            below[row] = np.searchsorted(sorted_row, gap[row])
        for near in (below[part] - 1, below[part]) if some.size else ():
            beside = np.take_along_axis(thresholds, np.clip(near, 0, last), axis=1)
            doubt[part] |= np.abs(beside - gap[part]) <= slack[part]
    out = (permutations - below).T
    _settle(out, doubt, lambda k, dial: x[k] + shifts[dial, k][:, None], s)
    return out


def p_line_counts(
    x: ArrayLike, direction: ArrayLike, dials: ArrayLike, permutations: int = PERMUTATIONS, seed: int = PUBLISHED_SEED
) -> np.ndarray:
    """Counts for x + d·direction at every dial d, where `direction` (K, N) may differ from segment to segment: (D, P).

    Signed and plain gap are both linear in d, so a permutation reaches the observed gap on one side of a threshold;
    which side depends on the permutation. Exactly equal to calling `p_counts` as floats on each augmented matrix.

    >>> p_line_counts([[1, 2, 3], [1, 2, 3]], [[1, 1, 1], [0, 0, 0]], [-1, 0, 1])[:, 0]
    array([1000, 1000,  122])
    """
    x, s = _checked(x, permutations, seed)
    v, grid = check.matrix(direction, "direction"), check.vector(dials, "dials")
    if v.shape != x.shape:
        raise ValueError(f"direction has shape {v.shape}; {x.shape}, that of x, is expected")
    if grid.size == 0 or (np.diff(grid) <= 0).any():
        raise ValueError(f"dials are {grid.tolist()}; at least one is expected, each larger than the one before")
    i, j = np.triu_indices(x.shape[0], 1)
    stay = (s > 0).all(axis=1)  # these permutations swap nothing, so they reach the observed gap at any dial
    rise_x, rise_v = _rise(x, s[~stay]), _rise(v, s[~stay])
    size = np.abs(x).sum(axis=1) + np.abs(grid).max() * np.abs(v).sum(axis=1)
    out = np.empty((grid.size, i.size), dtype=np.int64)
    doubt = np.zeros((i.size, grid.size), dtype=bool)
    for part in _blocks(i.size, permutations):
        # (Q, B): any other permutation reaches the observed gap where at_zero + d·slope ≥ 0
        at_zero, slope = (rise[i[part]] - rise[j[part]] for rise in (rise_x, rise_v))
        rising, falling = slope > 0, slope < 0
        flat = ~(rising | falling)
        with np.errstate(divide="ignore", invalid="ignore"):
            first = np.searchsorted(grid, -at_zero / slope)  # the first dial at or past the threshold
        # A rising permutation counts from `first` on; a falling one up to there; a flat one everywhere or nowhere.
        base = stay.sum() + (falling | (flat & (at_zero > 0))).sum(axis=1)
        change = np.zeros((len(base), grid.size + 1), dtype=np.int64)
        for side, sign in ((rising, 1), (falling, -1)):
            pair, row = np.nonzero(side)
            at = pair * (grid.size + 1) + first[pair, row]
            change += sign * np.bincount(at, minlength=change.size).reshape(change.shape)
        out[:, part] = (base[:, None] + np.cumsum(change, axis=1)[:, :-1]).T
        slack = (8 * x.shape[1] + 32) * _EPS * (size[i[part]] + size[j[part]])[:, None]
        unsure = doubt[part]  # a view: what is marked here is marked there
        unsure[(flat & (np.abs(at_zero) <= slack)).any(axis=1)] = True
        for near in (first - 1, first):  # if any dial is in doubt, then so is one of the two beside the threshold
            dial = np.clip(near, 0, grid.size - 1)
            for pair, row in np.argwhere((np.abs(at_zero + grid[dial] * slope) <= slack) & ~flat):
                unsure[pair] |= np.abs(at_zero[pair, row] + grid * slope[pair, row]) <= slack[pair]
    _settle(out, doubt, lambda k, dial: x[k] + grid[dial][:, None] * v[k], s)
    return out


def _settle(
    out: np.ndarray, doubt: np.ndarray, scores: Callable[[np.ndarray, np.ndarray], np.ndarray], s: np.ndarray
) -> None:
    """Put the test's own answer in `out` (D, P) where `doubt` (P, D) says so.

    `scores`(k, dial), for systems and dials (Q,), gives the systems' scores at these dials, (Q, N).
    """
    i, j = np.triu_indices(round((1 + np.sqrt(1 + 8 * len(doubt))) / 2), 1)
    todo = np.argwhere(doubt)
    for start in range(0, len(todo), 16):  # so few at a time that memory stays small
        pair, dial = todo[start : start + 16].T
        first = np.arange(pair.size)
        x = np.concatenate([scores(i[pair], dial), scores(j[pair], dial)])
        out[dial, pair] = _counts(x, s, first, first + pair.size)


def _checked(x: ArrayLike, permutations: int, seed: int, allow_nan: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The scores as a matrix and the signs that go with it, or a refusal."""
    x = check.matrix(x, "x", allow_nan)
    if x.shape[0] < 2 or x.shape[1] < 1:
        raise ValueError(f"x has shape {x.shape}; at least two systems and one segment are needed")
    if not isinstance(permutations, int | np.integer) or permutations < 1:
        raise ValueError(f"permutations is {permutations}; a whole number of at least 1 is expected")
    return x, signs(x.shape[1], permutations, seed)


def _rise(x: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Signed sum minus plain sum of each system's scores x (K, N) under each permutation: (K, B)."""
    out: np.ndarray = (x @ s.T) - x.sum(axis=1, keepdims=True)
    return out


@lru_cache(maxsize=4)
def signs(segments: int, permutations: int = PERMUTATIONS, seed: int = PUBLISHED_SEED) -> np.ndarray:
    """The matrix of signs ±1, (permutations, segments); read-only, since all callers share it."""
    s = np.random.default_rng(seed).integers(0, 2, size=(permutations, segments)) * 2.0 - 1.0
    s.flags.writeable = False
    return s


def _counts(x: np.ndarray, s: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """How many rows of s give each pair (i, j) of rows of x (K, N) a signed gap of at least the plain gap."""
    rise = _rise(x, s)
    # Summing N numbers in any order errs by at most N·eps·Σ|x| / 2. Beyond this slack no order can change the sign.
    slack = (2 * x.shape[1] + 8) * _EPS * np.abs(x).sum(axis=1)
    out = np.empty(i.size, dtype=np.int64)
    plain, settled = np.empty(0), np.empty(0)  # sums in order; the second is filled where a near-tie asks for it
    for part in _blocks(i.size, len(s)):
        a, b = i[part], j[part]
        excess = rise[a]
        excess -= rise[b]
        limit = (slack[a] + slack[b])[:, None]
        above = excess > limit
        out[part] = above.sum(axis=1)
        sure = above | (excess < -limit)
        if not sure.all():
            pair, row = np.nonzero(~sure)
            if not plain.size:
                plain, settled = _in_order(x, np.arange(len(x))), np.full(rise.size, np.nan)
            a, b = a[pair], b[pair]
            at = np.concatenate([a, b]) * len(s) + np.concatenate([row, row])
            todo = np.unique(at[np.isnan(settled[at])])
            settled[todo] = _in_order(x, todo // len(s), s, todo % len(s))
            first, second = settled[at].reshape(2, -1)
            out[part] += np.bincount(pair[first - second >= plain[a] - plain[b]], minlength=len(out[part]))
    return out


def _in_order(x: np.ndarray, k: np.ndarray, s: np.ndarray | None = None, b: np.ndarray | None = None) -> np.ndarray:
    """Sums of the rows k of x, with the signs of the rows b of s where given, strictly from first to last: (Q,).

    cumsum is sequential by definition; sum is not.
    """
    out = np.empty(k.size)
    for part in _blocks(k.size, x.shape[1]):
        terms = x[k[part]]
        if s is not None and b is not None:
            terms *= s[b[part]]
        out[part] = np.cumsum(terms, axis=1, out=terms)[:, -1]
    return out


def _blocks(rows: int, width: int) -> Iterator[slice]:
    """Slices that cover `rows` rows of this width, so few in each that what is made of them stays in the cache."""
    step = max(_BLOCK // width, 1)
    return (slice(start, start + step) for start in range(0, rows, step))
