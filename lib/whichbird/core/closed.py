"""P-values without permutations: what the permutation test converges to, nearly in closed form or exactly.

A pair's signed sum Σ ±d over its segment differences d has mean 0, variance Σ d² and fourth cumulant −2 Σ d⁴. With many
segments it is nearly normal, so its p-value is close to Φ(−z), z = Σ d / √Σ d², and closer still with the next term of
Edgeworth's series. For all pairs of K systems these sums follow from products of K × K, and they are additive over
segments: sums per document, weighted by how often a resample draws each document, give the p-values of the resample.

No seed, no ties to settle, and cheap enough for thousands of resamples. The numbers that are reported stay those of
`permutation`. Scores that are multiples of a unit, as errors' costs are, have an exact p-value too: `exact_p`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from . import check

_CLOSE = 1e-6  # of two systems' size: differences that small are summed one by one, since products would cancel
# Where fewer segments than the first number carry a pair, so many of its differences are tried with both signs.
_FEW, _LARGEST = 10, 6
_EPS = float(np.finfo(np.float64).eps)


def closed_p(x: ArrayLike, corrected: bool = False) -> np.ndarray:
    """P-values of all pairs i < j, in the order of numpy.triu_indices, from segment scores: (…, K, N) → (…, P).

    `corrected` adds the fourth-cumulant term; and where a few segments outweigh all others, (Σ d²)² < 10 Σ d⁴, it goes
    through all signs of the six largest differences and takes the closed form for the rest alone (so that six segments or
    fewer are exact, ties included). A NaN marks a missing segment, as in `p_values`; p = 1 where two systems share none,
    or differ nowhere.

    >>> closed_p([[1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0]]).round(4)
    array([0.0139])
    >>> closed_p([[1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0]], corrected=True)  # 1/64
    array([0.015625])
    >>> closed_p([[[1, 2, 4], [1, 2, 4]], [[1, 2, 4], [0, 1, 6]]]).round(4)
    array([[1. ],
           [0.5]])
    """
    if not corrected:
        return p_from_moments(*moments(x))
    raw = _stack(x)
    gap, square, fourth = moments(raw, 4)
    out = p_from_moments(gap, square, fourth)
    signs = np.array(list(product((1.0, -1.0), repeat=min(_LARGEST, raw.shape[-1]))))
    # the margin: ten equal differences are ten, however they round
    few = (square > 0) & (square * square < (1 - 1e-9) * _FEW * fourth)
    for at, d, rounding in _differences(raw, few):
        order = np.argpartition(-np.abs(d), signs.shape[1] - 1, axis=1)[:, : signs.shape[1]]
        large, rest = np.take_along_axis(d, order, axis=1), d.copy()
        np.put_along_axis(rest, order, 0.0, axis=1)
        # what the rest must reach under each choice of signs, (Q, 2⁶)
        need = large @ (1 - signs).T + rest.sum(axis=1, keepdims=True)
        need[np.abs(need) <= 16 * rounding] = 0.0  # where there is no rest, this decides
        left, fourth_left = ((rest**power).sum(axis=1, keepdims=True) + 0 * need for power in (2, 4))
        out[at] = np.where(left > 0, p_from_moments(need, left, fourth_left), need <= 0).mean(axis=1)
    return out


def moments(x: ArrayLike, order: int = 2) -> tuple[np.ndarray, ...]:
    """Sums over the segments of every pair's differences d, d² and, with order 4, d⁴: (…, K, N) → each (…, P).

    They add up over segments, so those of a resample are a weighted sum of those of its parts.

    >>> moments([[1, 2, 3], [0, 0, float("nan")]], order=4)
    (array([3.]), array([5.]), array([17.]))
    """
    if order not in (2, 4):
        raise ValueError(f"order is {order}; 2 or 4 is expected")
    raw = _stack(x)
    there = ~np.isnan(raw)
    # Differences are the same around any reference; around the segment's mean the products below cancel least.
    have = there.sum(axis=-2, keepdims=True)
    filled = np.where(there, raw, 0.0)
    y = np.where(there, filled - filled.sum(axis=-2, keepdims=True) / np.maximum(have, 1), 0.0)
    mask = there.astype(np.float64)
    i, j = np.triu_indices(y.shape[-2], 1)

    def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        out: np.ndarray = a @ np.swapaxes(b, -1, -2)
        return out

    def both(a: np.ndarray, b: np.ndarray, sign: int = 1) -> np.ndarray:
        """Σ a_i b_j and Σ a_j b_i of every pair, added or subtracted."""
        g = cross(a, b)
        out: np.ndarray = g[..., i, j] + sign * g[..., j, i]
        return out

    y2 = y * y
    gap, size = both(y, mask, -1), both(y2, mask)
    sums = [gap, size - 2 * cross(y, y)[..., i, j]]
    if order == 4:
        sums.append(both(y2 * y2, mask) - 4 * both(y2 * y, y) + 6 * cross(y2, y2)[..., i, j])
    # Where two systems differ little, their differences are taken one by one; none larger than rounding is no difference.
    rounding = (8 * _EPS) ** 2 * y.shape[-1] * np.square(filled).sum(axis=-1)
    for at, d, _ in _differences(raw, (sums[1] <= _CLOSE * size) | (sums[1] <= rounding[..., i] + rounding[..., j])):
        for total, power in zip(sums, (1, 2, 4), strict=False):
            total[at] = (d**power).sum(axis=-1)
    return tuple(sums)


def p_from_moments(gap: ArrayLike, square: ArrayLike, fourth: ArrayLike | None = None) -> np.ndarray:
    """P-values from Σ d, Σ d² and, for the corrected ones, Σ d⁴, of any common shape.

    >>> p_from_moments([0.0, 3.0, 0.0], [4.0, 9.0, 0.0]).round(4)
    array([0.5   , 0.1587, 1.    ])
    >>> p_from_moments([0.0, 3.0, 0.0], [4.0, 9.0, 0.0], [4.0, 9.0, 0.0]).round(4)
    array([0.5   , 0.1631, 1.    ])
    """
    g, v = np.asarray(gap, dtype=np.float64), np.asarray(square, dtype=np.float64)
    some = v > 0
    v = np.where(some, v, 1.0)
    z = g / np.sqrt(v)
    p = ndtr(-z)
    if fourth is not None:
        density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
        p = np.clip(p - density * np.asarray(fourth, dtype=np.float64) / (12 * v * v) * (z**3 - 3 * z), 0, 1)
    return np.where(some, p, 1.0)


def p_from_gram(gram: ArrayLike, sums: ArrayLike) -> np.ndarray:
    """P-values from the systems' Gram matrix, the sums over segments of x_i x_j, and sums: (…, K, K), (…, K) → (…, P).

    For scores without gaps that come as products only. Take scores around each segment's mean if you can: a pair is taken
    to differ nowhere where its Σ d² is less than 1e-12 of its systems' size, and what is near that has few digits.

    >>> x = np.array([[1.0, 2, 3, 4], [0, 1, 5, 0], [0, 1, 5, 0]])
    >>> p_from_gram(x @ x.T, x.sum(axis=1)).round(4)
    array([0.1969, 0.1969, 1.    ])
    """
    g, total = np.asarray(gram, dtype=np.float64), np.asarray(sums, dtype=np.float64)
    if g.ndim < 2 or g.shape[-1] != g.shape[-2] or g.shape[:-1] != total.shape or g.shape[-1] < 2:
        raise ValueError(
            f"gram has shape {g.shape} and sums {total.shape}; (…, K, K) and (…, K) are expected, K at least 2"
        )
    i, j = np.triu_indices(g.shape[-1], 1)
    size = g[..., i, i] + g[..., j, j]
    square = size - 2 * g[..., i, j]
    return p_from_moments(total[..., i] - total[..., j], np.where(square > 1e-12 * size, square, 0.0))


def exact_p(x: ArrayLike, unit: float) -> np.ndarray:
    """Exact p-values of all pairs for scores (K, N) whose differences are multiples of `unit`: (P,), to about 1e-15.

    Half of the signed sum's distance from its minimum is a sum of independent numbers, each 0 or |d| with equal odds. Its
    Fourier transform is a product of cosines; one inverse transform gives the probability of every value.

    >>> exact_p([[1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0]], 1)  # 1/64
    array([0.015625])
    >>> exact_p([[0.3, 0.1, 0], [0.1, 0.1, 0.2]], 0.1)
    array([0.75])
    """
    scores = check.matrix(x, "x", allow_nan=True)
    if scores.shape[0] < 2:
        raise ValueError(f"x has shape {scores.shape}; at least two systems are needed")
    if not 0 < unit < np.inf:
        raise ValueError(f"unit is {unit}; a positive number is expected")
    i, j = np.triu_indices(scores.shape[0], 1)
    return np.array([_exact(scores[a] - scores[b], unit) for a, b in zip(i, j, strict=True)])


def _exact(difference: np.ndarray, unit: float) -> float:
    """The exact p-value of one pair from its differences (N,), with NaN where one of the two has no score."""
    d = difference[~np.isnan(difference)] / unit
    whole = np.rint(d)
    off = np.abs(d - whole)
    if off.max(initial=0) > 1e-6:
        worst = d[np.argmax(off)] * unit
        raise ValueError(f"two scores differ by {worst:g}, which is no multiple of {unit:g}; give the scores' unit")
    size, times = np.unique(np.abs(whole[whole != 0]), return_counts=True)
    largest = int(size @ times)  # of the sum of all |d|; the sum of those kept lies between 0 and this
    k = np.arange((largest + 1) // 2 + 1)
    transform = np.exp(-1j * np.pi * largest / (largest + 1) * k)
    for a, n in zip(size, times, strict=True):
        transform *= np.cos(np.pi * a / (largest + 1) * k) ** n
    chance = np.fft.irfft(transform, n=largest + 1)
    at = (largest + int(whole.sum())) // 2  # where the observed gap lies
    return float(np.clip(chance[at:].sum(), 0, 1))


def _differences(x: np.ndarray, where: np.ndarray) -> Iterator[tuple[tuple[np.ndarray, ...], np.ndarray, np.ndarray]]:
    """The pairs of x (…, K, N) that `where` (…, P) marks, some at a time: indices, differences (Q, N), rounding (Q, 1).

    A difference is zero where a score is missing, and where it is no larger than the rounding of the scores.
    """
    i, j = np.triu_indices(x.shape[-2], 1)
    marked = np.argwhere(where)
    step = max((1 << 20) // x.shape[-1], 1)
    for start in range(0, len(marked), step):
        *lead, pair = marked[start : start + step].T
        a, b = x[(*lead, i[pair])], x[(*lead, j[pair])]
        d = np.where(np.isnan(a + b), 0.0, a - b)
        size = np.fmax(np.abs(a), np.abs(b)).max(axis=-1, initial=0, where=d != 0, keepdims=True)
        rounding = 4 * _EPS * size
        d[np.abs(d) <= rounding] = 0.0
        yield (*lead, pair), d, rounding


def _stack(x: ArrayLike) -> np.ndarray:
    """Scores as a stack of matrices (…, K, N), or a refusal."""
    try:
        out = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("x holds something that is not a number, or rows of unequal length") from None
    if out.ndim < 2 or out.shape[-2] < 2 or out.shape[-1] < 1:
        raise ValueError(f"x has shape {out.shape}; at least two systems and one segment are needed, (…, K, N)")
    if np.isinf(out).any():
        raise ValueError("x holds an infinite score; every score must be a finite number, or NaN where it is missing")
    return out
