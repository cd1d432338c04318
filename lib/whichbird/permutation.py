"""Paired-permutation p-values: how surely one system outranks another on the same segments.

For systems i before j the observed gap is Σ (x_i − x_j) over the segments. A permutation swaps the two systems' scores on a
random half of the segments, which flips signs; the p-value is the share of permutations whose gap is at least the observed one.
Small p: i is surely better. All pairs, and people and scorers alike, share one matrix of signs, as in the field's toolkit.

Ties make this delicate. MQM scores are multiples of 0.1, so a permuted gap can equal the observed one exactly in decimal, while
in binary either may come out larger, depending on the order of summation. We fix the order: each system's signed sum runs over
the segments from first to last in float64. That is bit-for-bit the same everywhere, and it is the order under which the
published values come out. Since only near-ties can tell orders apart, a fast matrix product decides all other cases.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from . import _check

PERMUTATIONS, SEED = 1000, 4
_EPS = np.finfo(np.float64).eps


def p_values(x, permutations: int = PERMUTATIONS, seed: int = SEED) -> np.ndarray:
    """p-values of all pairs i < j, in the order of numpy.triu_indices, from segment scores x (K, N): shape (K(K−1)/2,).

    A NaN marks a missing segment; a pair is compared where both systems have a score (p = 1 where they share no segment).

    >>> p_values([[1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0]])
    array([0.018])
    """
    return p_counts(x, permutations, seed) / permutations


def p_counts(x, permutations: int = PERMUTATIONS, seed: int = SEED) -> np.ndarray:
    """The same as whole numbers: how many permutations reach the observed gap, shape (K(K−1)/2,).

    >>> p_counts([[1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0]])
    array([18])
    """
    x = _check.matrix(x, "x", allow_nan=True)
    if x.shape[0] < 2 or x.shape[1] < 1:
        raise ValueError(f"x has shape {x.shape}; at least two systems and one segment are needed")
    if not isinstance(permutations, int | np.integer) or permutations < 1:
        raise ValueError(f"permutations is {permutations}; a whole number of at least 1 is expected")
    s = signs(x.shape[1], permutations, seed)
    missing = np.isnan(x)
    out = _counts(np.where(missing, 0.0, x), s)
    i, j = np.triu_indices(x.shape[0], 1)
    for p in np.flatnonzero(missing.any(axis=1)[i] | missing.any(axis=1)[j]):
        pair = [i[p], j[p]]
        both = ~missing[pair].any(axis=0)
        out[p] = _counts(x[pair][:, both], s[:, both])[0]
    return out


@lru_cache(maxsize=4)
def signs(segments: int, permutations: int = PERMUTATIONS, seed: int = SEED) -> np.ndarray:
    """The matrix of signs ±1, (permutations, segments); read-only, since all callers share it."""
    s = np.random.default_rng(seed).integers(0, 2, size=(permutations, segments)) * 2.0 - 1.0
    s.flags.writeable = False
    return s


def _counts(x: np.ndarray, s: np.ndarray) -> np.ndarray:
    """How many rows of s give each pair a signed gap of at least the plain gap; x (K, N) without gaps."""
    i, j = np.triu_indices(x.shape[0], 1)
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
        settled = np.concatenate([_in_order(s[block][:, None, :] * x) for block in np.array_split(rows, -(-rows.size // 64))])
        plain = _in_order(x)
        reached = settled[at, i[pair]] - settled[at, j[pair]] >= plain[i[pair]] - plain[j[pair]]
        out = out + np.bincount(pair[reached], minlength=out.size)
    return out


def _in_order(x: np.ndarray) -> np.ndarray:
    """Sums along the last axis, strictly from first to last (cumsum is sequential by definition; sum is not)."""
    return np.cumsum(x, axis=-1)[..., -1] if x.shape[-1] else np.zeros(x.shape[:-1])
