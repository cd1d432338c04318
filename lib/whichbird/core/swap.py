"""PERM-BOTH, the test WMT compares two scorers with: is the lead of one over the other more than luck?

Both scorers are brought to mean 0 and variance 1 over all cells (system, segment). A resample swaps the two in each
cell with probability one half and computes both meta-scores again; the p-value is the share of resamples whose
difference is at least the observed one. Done plainly, every pair of scorers costs thousands of permutation tests. Three
remarks make it one stack of matrix products.

1. *One set of swaps.* With u = ½(z₁ + z₂), v = ½(z₁ − z₂) and signs ε, one sign a cell, the swapped scorers are u + εv
   and u − εv. All pairs of scorers share the signs.
2. *Closed-form p-values* (`closed`) need only two numbers of a pair of systems k, l: D = Σ(x_k − x_l) and
   S = Σ(x_k − x_l)². With d = u_k − u_l,

       D± = Σd ± Σ(ε_k v_k − ε_l v_l),
       S± = Σ(d² + v_k² + v_l²) − 2 Σ ε_k ε_l v_k v_l  ±  2 Σ(ε_k v_k d − ε_l v_l d).

   Each sum with a sign is a product of one matrix of signs (resamples × segments) with one column for each pair of
   scorers: exact, no approximation, and no Gram matrix of scorers that never meet.
3. *Weights enter last.* A resample leaves the distances |p_human − p_scorer| of the P pairs of systems; any number of
   weightings is one more product.

WMT swaps cell by cell, as if segments stood alone. Where the differences of two scorers hang together within documents
that rejects too often (`trials.swap_sizes`). So whole documents can be swapped, with one sign for each system and
document; every sum with a sign then runs over documents. One sign a document for all systems `together` is a third way.
The second is what this library uses. `trials.swap_sizes` measures all three on made scorers of equal quality.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr
from tqdm import tqdm

from .check import Array
from .closed import closed_p

TINY = np.finfo(np.float64).tiny
NOWHERE = 1e-12  # a pair's Σd² below this share of its systems' size is rounding: they differ nowhere
SPA_TIE = 1e-12  # differences of SPA closer than this are equal: sums over some hundred pairs err by less
EDGE, NEAR_LEVEL = 0.05, 0.015  # p-values this close to the level are made with more swaps
SWAP_CELLS = 1 << 21  # numbers in the largest work array: cache holds most of it
PAIRS = 128  # pairs of scorers at a time: so many that making the signs is cheap, so few that work arrays stay in cache


def standard_scores(x: ArrayLike) -> Array:
    """x (…, K, N) with mean 0 and variance 1 over the cells of each scorer.

    >>> standard_scores([[0.0, 2.0], [0.0, 2.0]])
    array([[-1.,  1.],
           [-1.,  1.]])
    """
    scores: Array = np.asarray(x, dtype=np.float64)
    centred = scores - scores.mean(axis=(-2, -1), keepdims=True)
    return np.asarray(centred / centred.std(axis=(-2, -1), keepdims=True))


class Swaps(NamedTuple):
    """What PERM-BOTH found for Q pairs of scorers at B weightings: arrays (B, Q).

    `at_least` and `at_most` count the resamples, of `resamples`, whose difference is at least, at most, the observed
    one; `observed` is that difference, `mean` and `spread` are mean and standard deviation of the first resampled ones.
    """

    at_least: NDArray[np.int64]
    at_most: NDArray[np.int64]
    resamples: NDArray[np.int64]
    observed: Array
    mean: Array
    spread: Array


def swap_test(
    z: Array, first: ArrayLike, second: ArrayLike, human: Array, pi: Array, resamples: int, seed: int,
    documents: NDArray[np.int64] | None = None, most: int = 0, together: bool = False
) -> Swaps:  # fmt: skip
    """PERM-BOTH of the scorers `first` (Q,) against `second` (Q,), places in z, with SPA in closed form.

    `z` (M, K, N) standard scores; `human` (P,) p-values of people; `pi` (B, P) pair weights. With `documents` (N,), the
    number of each segment's document, what is swapped is a system's scores of a whole document, or with `together` those
    of all systems. Where a p-value comes out within `NEAR_LEVEL` of `EDGE`, the swaps go on to `most`. Resample r swaps the
    same cells for every pair of scorers, whatever the others are, so an answer does not depend on who else takes part.

    >>> rng = np.random.default_rng(0)
    >>> z = standard_scores(rng.normal(size=(2, 3, 50)) + [[0], [1], [2]])
    >>> found = swap_test(z, [0], [1], closed_p(z[0]), np.full((1, 3), 1 / 3), 200, 1)
    >>> bool(found.observed[0, 0] > 0), int(found.at_least[0, 0] + found.at_most[0, 0])
    (True, 200)
    """
    i, j = np.asarray(first), np.asarray(second)
    distance = np.abs(human - closed_p(z))
    observed = pi @ (distance[j] - distance[i]).T
    rng = np.random.default_rng(seed)
    starts = None
    if documents is not None:
        order = np.argsort(documents, kind="stable")
        z, starts = z[..., order], np.unique(documents[order], return_index=True)[1]
    given = human, rng, starts, together
    counts, moments = _swapped(z, i, j, pi, observed, resamples, *given)
    mean, square = moments / resamples
    made = np.full(observed.shape, resamples)
    near: NDArray[np.bool_] = np.any(np.abs(counts / resamples - EDGE) < NEAR_LEVEL, axis=0)
    if most > resamples and near.any():
        rows, pairs = (np.flatnonzero(near.any(axis=axis)) for axis in (1, 0))
        at = np.ix_(rows, pairs)
        more, _ = _swapped(z, i[pairs], j[pairs], pi[rows], observed[at], most - resamples, *given)
        counts[:, at[0], at[1]] += np.where(near[at], more, 0)
        made[near] = most
    return Swaps(counts[0], counts[1], made, observed, mean, np.sqrt(np.maximum(square - mean**2, 0.0)))


def _swapped(
    z: Array, i: NDArray[np.int64], j: NDArray[np.int64], pi: Array, observed: Array, resamples: int, human: Array,
    rng: np.random.Generator, starts: NDArray[np.int64] | None, together: bool
) -> tuple[NDArray[np.int64], Array]:  # fmt: skip
    """Over the next swaps of `rng`: counts of leads at least and at most those observed, sums and squares, (2, B, Q)."""
    counts = np.zeros((2, *observed.shape), dtype=np.int64)
    moments = np.zeros((2, *observed.shape))
    systems, units = z.shape[1], z.shape[2] if starts is None else starts.size
    wide = min(i.size, PAIRS)
    block = max(1, min(resamples, SWAP_CELLS // max(human.size * wide, systems * units)))
    with tqdm(total=resamples * i.size, desc="swaps", leave=False, disable=None if resamples > block else True) as bar:
        for start in range(0, resamples, block):
            signs = _signs(rng, min(block, resamples - start), 1 if together else systems, units)
            signs = np.broadcast_to(signs, (systems, *signs.shape[1:]))
            for first in range(0, i.size, wide):
                part = slice(first, first + wide)
                lead = _leads(z[i[part]], z[j[part]], signs, human, starts)
                new = (pi @ lead.reshape(human.size, -1)).reshape(len(pi), *lead.shape[1:])
                was = observed[:, None, part]
                counts[0, :, part] += (new >= was - SPA_TIE).sum(axis=1)
                counts[1, :, part] += (new <= was + SPA_TIE).sum(axis=1)
                moments[0, :, part] += new.sum(axis=1)
                moments[1, :, part] += (new**2).sum(axis=1)
                bar.update(new.shape[1] * new.shape[2])
    return counts, moments


def _leads(one: Array, two: Array, signs: Array, human: Array, starts: NDArray[np.int64] | None = None) -> Array:
    """How much closer to people than u − εv the swapped u + εv comes, for each pair of systems: (P, R, Q).

    `one`, `two` (Q, K, N) standard scores, `signs` (K, R, N). Where documents are swapped `signs` are (K, R, G), and the
    segments of a document stand together, the first at `starts` (G,). Work arrays are kept: fresh memory costs more
    than arithmetic.
    """
    # (K, N, Q), one column for each pair of scorers, so that sums over segments are products of matrices
    u, v = (np.ascontiguousarray(np.moveaxis(x, 0, 2)) for x in ((one + two) / 2, (one - two) / 2))
    sum_u, uu, vv = u.sum(axis=1), (u**2).sum(axis=1), (v**2).sum(axis=1)  # (K, Q) each
    swing = signs @ _folded(v, starts)  # (K, R, Q): Σ ε v
    resamples, pairs = signs.shape[1], len(one)
    out = np.empty((human.size, resamples, pairs))
    even, odd, turn, work = (np.empty((resamples, pairs)) for _ in range(4))
    d, column, both = np.empty_like(u[0]), np.empty_like(u[0]), np.empty_like(signs[0])
    for n, (k, l) in enumerate(zip(*np.triu_indices(len(signs), 1), strict=True)):
        np.subtract(u[k], u[l], out=d)
        np.matmul(
            np.multiply(signs[k], signs[l], out=both), _folded(np.multiply(v[k], v[l], out=column), starts), out=even
        )
        even *= -2
        even += np.einsum("nq,nq->q", d, d) + vv[k] + vv[l]
        np.matmul(signs[k], _folded(np.multiply(v[k], d, out=column), starts), out=odd)
        odd -= np.matmul(signs[l], _folded(np.multiply(v[l], d, out=column), starts), out=work)
        odd *= 2
        np.subtract(swing[k], swing[l], out=turn)
        gap, least = sum_u[k] - sum_u[l], np.maximum(NOWHERE * (uu[k] + uu[l] + vv[k] + vv[l]), TINY)
        for sign, add in ((-1, np.subtract), (1, np.add)):
            square = add(even, odd, out=work)
            same = square <= least
            np.maximum(square, least, out=square)
            np.sqrt(square, out=square)
            np.divide(gap + sign * turn, square, out=square)
            p = ndtr(np.negative(square, out=square), out=square)
            p[same] = 1.0
            p -= human[n]
            np.abs(p, out=p)
            if sign < 0:
                out[n] = p
            else:
                out[n] -= p
    return out


def _folded(x: Array, starts: NDArray[np.int64] | None) -> Array:
    """Sums over documents along the axis of segments, the last but one; x itself where segments are swapped."""
    return x if starts is None else np.add.reduceat(x, starts, axis=-2)


def _signs(rng: np.random.Generator, resamples: int, systems: int, units: int) -> Array:
    """Signs ±1 of the next resamples, (K, R, N) or (K, R, G). How many are asked for at a time does not change them."""
    out = np.empty((systems, resamples, units))
    for r in range(resamples):
        out[:, r] = rng.integers(0, 2, size=(systems, units))
    out *= 2
    out -= 1
    return out
