"""Paired-permutation p-values: how surely one system outranks another on the same segments.

For systems i before j the observed gap is Σ (x_i − x_j) over the segments. A permutation swaps the two systems' scores
on a random half of the segments, which flips signs; the p-value is the share of permutations whose gap is at least the
observed one. Small p: i is surely better. All pairs, and people and scorers alike, share one matrix of signs, as in the
field's toolkit.

Ties make this delicate. MQM scores are multiples of 0.1, so a permuted gap can equal the observed one exactly in
decimal, while in binary either may come out larger, depending on the order of summation. We fix the order: each
system's signed sum runs over the segments from first to last in float64. That is bit-for-bit the same everywhere, and
it is the order under which the published values come out. Since only near-ties can tell orders apart, a fast matrix
product decides all other cases.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from . import check

PERMUTATIONS, SEED = 1000, 4
_EPS = np.finfo(np.float64).eps


def p_values(x, permutations: int = PERMUTATIONS, seed: int = SEED) -> np.ndarray:
    """p-values of all pairs i < j, in the order of numpy.triu_indices, from segment scores x (K, N): shape (K(K−1)/2,).

    A NaN marks a missing segment; a pair is compared where both systems have a score (p = 1 where they share none).

    >>> p_values([[1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0]])
    array([0.018])
    """
    return p_counts(x, permutations, seed) / permutations


def p_counts(x, permutations: int = PERMUTATIONS, seed: int = SEED) -> np.ndarray:
    """The same as whole numbers: how many permutations reach the observed gap, shape (K(K−1)/2,).

    >>> p_counts([[1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0]])
    array([18])
    """
    x, s = _checked(x, permutations, seed, allow_nan=True)
    missing = np.isnan(x)
    i, j = np.triu_indices(x.shape[0], 1)
    out = _counts(np.where(missing, 0.0, x), s, i, j)
    for p in np.flatnonzero(missing.any(axis=1)[i] | missing.any(axis=1)[j]):
        pair = [i[p], j[p]]
        both = ~missing[pair].any(axis=0)
        out[p] = _counts(x[pair][:, both], s[:, both], np.array([0]), np.array([1]))[0]
    return out


def permuted_gaps(x, permutations: int = PERMUTATIONS, seed: int = SEED) -> np.ndarray:
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


def p_curves(x, shifts, permutations: int = PERMUTATIONS, seed: int = SEED) -> np.ndarray:
    """P-values of x + shifts[d] for every dial d, from one permutation test: shape (D, K(K−1)/2).

    `x` (K, N) are segment scores without gaps, `shifts` (D, K) one constant per dial and system. Exactly equal to
    calling `p_values(x + shifts[d][:, None])` for each d.

    >>> p_curves([[1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0]], [[0, 0], [-1, 0], [-7, 0]])[:, 0]
    array([0.018, 0.032, 1.   ])
    """
    return p_curve_counts(x, shifts, permutations, seed) / permutations


def p_curve_counts(x, shifts, permutations: int = PERMUTATIONS, seed: int = SEED) -> np.ndarray:
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
    thresholds = np.sort(per_swap[i] - per_swap[j], axis=1)  # (P, B)
    gap = shifts.T[i] - shifts.T[j]  # (P, D)
    below = np.empty(gap.shape, dtype=np.int64)
    for row, (sorted_row, at) in enumerate(zip(thresholds, gap, strict=True)):
        below[row] = np.searchsorted(sorted_row, at)
    out = (permutations - below).T
    # Rounding of sums of N numbers puts thresholds and gaps in doubt by this much, with room for every operation.
    size = np.abs(x).sum(axis=1) + x.shape[1] * np.abs(shifts).max(axis=0, initial=0)
    slack = (4 * x.shape[1] + 16) * _EPS * (size[i] + size[j])[:, None] / swapped[some].min(initial=x.shape[1])
    last = len(some) - 1
    doubt = np.zeros(gap.shape, dtype=bool)
    for near in (below - 1, below) if some.size else ():
        doubt |= np.abs(np.take_along_axis(thresholds, np.clip(near, 0, last), axis=1) - gap) <= slack
    _settle(out, doubt, lambda k, dial: x[k] + shifts[dial, k][:, None], s)
    return out


def p_line_counts(x, direction, dials, permutations: int = PERMUTATIONS, seed: int = SEED) -> np.ndarray:
    """Counts for x + d·direction at every dial d, where `direction` (K, N) may differ from segment to segment: (D, P).

    Signed and plain gap are both linear in d, so a permutation reaches the observed gap on one side of a threshold;
    which side depends on the permutation. Exactly equal to calling `p_counts` on each augmented matrix.

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
    # (P, B): any other permutation reaches the observed gap where at_zero + d·slope ≥ 0
    at_zero, slope = (rise[i] - rise[j] for rise in (_rise(x, s[~stay]), _rise(v, s[~stay])))
    rising, falling = slope > 0, slope < 0
    flat = ~(rising | falling)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.searchsorted(grid, -at_zero / slope)  # the first dial at or past the threshold
    # A rising permutation counts from `first` on; a falling one up to there; a flat one everywhere or nowhere.
    base = stay.sum() + (falling | (flat & (at_zero > 0))).sum(axis=1)
    change = np.zeros((i.size, grid.size + 1), dtype=np.int64)
    for side, sign in ((rising, 1), (falling, -1)):
        pair, row = np.nonzero(side)
        at = pair * (grid.size + 1) + first[pair, row]
        change += sign * np.bincount(at, minlength=change.size).reshape(change.shape)
    out = (base[:, None] + np.cumsum(change, axis=1)[:, :-1]).T
    size = np.abs(x).sum(axis=1) + np.abs(grid).max() * np.abs(v).sum(axis=1)
    slack = (8 * x.shape[1] + 32) * _EPS * (size[i] + size[j])[:, None]
    doubt = np.zeros((i.size, grid.size), dtype=bool)
    doubt[(flat & (np.abs(at_zero) <= slack)).any(axis=1)] = True
    for near in (first - 1, first):  # if any dial is in doubt, then so is one of the two beside the threshold
        dial = np.clip(near, 0, grid.size - 1)
        for pair, row in np.argwhere((np.abs(at_zero + grid[dial] * slope) <= slack) & ~flat):
            doubt[pair] |= np.abs(at_zero[pair, row] + grid * slope[pair, row]) <= slack[pair]
    _settle(out, doubt, lambda k, dial: x[k] + grid[dial][:, None] * v[k], s)
    return out


def _settle(out: np.ndarray, doubt: np.ndarray, scores, s: np.ndarray) -> None:
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


def _checked(x, permutations, seed, allow_nan: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The scores as a matrix and the signs that go with it, or a refusal."""
    x = check.matrix(x, "x", allow_nan)
    if x.shape[0] < 2 or x.shape[1] < 1:
        raise ValueError(f"x has shape {x.shape}; at least two systems and one segment are needed")
    if not isinstance(permutations, int | np.integer) or permutations < 1:
        raise ValueError(f"permutations is {permutations}; a whole number of at least 1 is expected")
    return x, signs(x.shape[1], permutations, seed)


def _rise(x: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Signed sum minus plain sum of each system's scores x (K, N) under each permutation: (K, B)."""
    return (x @ s.T) - x.sum(axis=1, keepdims=True)


@lru_cache(maxsize=4)
def signs(segments: int, permutations: int = PERMUTATIONS, seed: int = SEED) -> np.ndarray:
    """The matrix of signs ±1, (permutations, segments); read-only, since all callers share it."""
    s = np.random.default_rng(seed).integers(0, 2, size=(permutations, segments)) * 2.0 - 1.0
    s.flags.writeable = False
    return s


def _counts(x: np.ndarray, s: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """How many rows of s give each pair (i, j) of rows of x (K, N) a signed gap of at least the plain gap."""
    permuted, observed = s @ x.T, x.sum(axis=1)
    excess = (permuted[:, i] - permuted[:, j]) - (observed[i] - observed[j])
    # Summing N numbers in any order errs by at most N·eps·Σ|x| / 2. Beyond this slack no order can change the sign.
    size = np.abs(x).sum(axis=1)
    slack = (2 * x.shape[1] + 8) * _EPS * (size[i] + size[j])
    out = (excess > slack).sum(axis=0)
    row, pair = np.nonzero(np.abs(excess) <= slack)
    if row.size:
        # in blocks, so that a pool of near-identical systems, where every row is in doubt, stays within memory
        rows, at = np.unique(row, return_inverse=True)
        blocks = np.array_split(rows, -(-rows.size // 64))
        settled = np.concatenate([_in_order(s[block][:, None, :] * x) for block in blocks])
        plain = _in_order(x)
        reached = settled[at, i[pair]] - settled[at, j[pair]] >= plain[i[pair]] - plain[j[pair]]
        out = out + np.bincount(pair[reached], minlength=out.size)
    return out


def _in_order(x: np.ndarray) -> np.ndarray:
    """Sums along the last axis, strictly from first to last (cumsum is sequential by definition; sum is not)."""
    return np.cumsum(x, axis=-1)[..., -1] if x.shape[-1] else np.zeros(x.shape[:-1])
