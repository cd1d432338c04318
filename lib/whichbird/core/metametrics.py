"""Meta-metrics: how well a scorer agrees with people about a pool of systems, plain or weighted.

A weighting w of the systems gives the pair k < k′ the weight w_k w_k′, normalised over pairs. Uniform weights are the
classical case.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from . import check
from .check import Array
from .permutation import PERMUTATIONS, PUBLISHED_SEED, p_values

SAME = 1e-14  # scores whose spread is a smaller share of their size are one number and its rounding


def pair_weights(w: ArrayLike) -> Array:
    """Normalised pair weights, in the order of numpy.triu_indices: w (K,) → (P,), or (W, K) → (W, P).

    >>> pair_weights([0.5, 0.25, 0.25])
    array([0.4, 0.4, 0.2])
    """
    pairs = _products(w)
    shares: Array = pairs / pairs.sum(axis=-1, keepdims=True)
    return shares


def _products(w: ArrayLike) -> Array:
    """Pair weights up to a common factor, in such units that uniform weights give ones: w (…, K) → (…, P)."""
    w = np.asarray(w, dtype=np.float64)
    if w.ndim == 0 or w.shape[-1] < 2:
        raise ValueError(f"weights have shape {w.shape}; at least two systems are needed")
    bad = ~(np.isfinite(w) & (w >= 0))
    if bad.any():
        raise ValueError(f"a weight is {w[bad][0]:g}; every weight must be a finite number, not negative")
    top = w.max(axis=-1, keepdims=True)
    w = w / np.where(top > 0, top, 1)  # so that no product of small weights vanishes
    if (np.count_nonzero(w, axis=-1) < 2).any():
        raise ValueError("fewer than two systems carry weight; at least two need a positive weight to make a pair")
    i, j = np.triu_indices(w.shape[-1], 1)
    return w[..., i] * w[..., j]


def spa_from_p(human_p: ArrayLike, scorer_p: ArrayLike, w: ArrayLike | None = None) -> Array:
    """Soft pairwise accuracy 1 − Σ π |p_human − p_scorer| from p-values.

    `human_p` (P,), `scorer_p` (…, P); `w` None (uniform), (K,) or (W, K). Returns shape (…), with W in front where
    given. A constant scorer has p = 1 on every pair: it is scored like any other.

    >>> float(spa_from_p([0.0, 1.0, 0.5], [0.5, 1.0, 0.5]))
    0.8333333333333334
    >>> round(float(spa_from_p([0.0, 1.0, 0.5], [0.5, 1.0, 0.5], [2, 1, 1])), 4)
    0.8
    >>> spa_from_p([0.0, 1.0, 0.5], [[0.5, 1.0, 0.5], [0.0, 1.0, 0.5]], [[1, 1, 1], [2, 1, 1]]).round(4)
    array([[0.8333, 1.    ],
           [0.8   , 1.    ]])
    """
    distance = distances(human_p, scorer_p)
    pairs = distance.shape[-1]
    if w is None:
        return soft_accuracy(distance)
    pi = pair_weights(w)
    if pi.shape[-1] != pairs:
        raise ValueError(f"{np.shape(w)[-1]} weights make {pi.shape[-1]} pairs, but there are {pairs} p-values")
    if pi.ndim == 1:
        return soft_accuracy(distance, pi)
    found = soft_accuracy(distance.reshape(-1, pairs), pi)
    return found.reshape(pi.shape[:-1] + distance.shape[:-1])


def distances(human_p: ArrayLike, scorer_p: ArrayLike) -> Array:
    """Check p-values of people (P,) and scorers (…, P); return |p_human − p_scorer|, (…, P).

    >>> distances([0.0, 1.0, 0.5], [0.5, 1.0, 0.5]).tolist()
    [0.5, 0.0, 0.0]
    """
    h, s = _p(human_p, "human_p"), _p(scorer_p, "scorer_p")
    if h.ndim != 1 or s.shape[-1:] != h.shape:
        raise ValueError(f"human_p has shape {h.shape} and scorer_p {s.shape}; one value per pair is needed in each")
    distance: Array = h - s
    return np.abs(distance, out=distance)  # in place: for thousands of scorers fresh memory costs more than arithmetic


def soft_accuracy(distance: Array, pi: Array | None = None) -> Array:
    """SPA, 1 − Σ π · distance, from distances |p_human − p_scorer| (…, P); every SPA from p-values is made here.

    `pi` None: all pairs count the same, (…, P) → (…). One weighting (P,): the same shapes, each row summed in one order, so
    that equal p-values give the very same number. Many, (…, W, P): distances (…, M, P) → (…, W, M), a product of matrices.

    >>> far = np.array([[0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> soft_accuracy(far).round(3), soft_accuracy(far, np.array([0.4, 0.4, 0.2]))
    (array([0.833, 1.   ]), array([0.8, 1. ]))
    >>> soft_accuracy(far, np.array([[0.4, 0.4, 0.2]]))
    array([[0.8, 1. ]])
    """
    if pi is None:
        far = distance.mean(axis=-1)
    else:
        far = (distance * pi).sum(axis=-1) if pi.ndim == 1 else pi @ distance.swapaxes(-1, -2)
    spa: Array = 1 - far
    return spa


def spa(
    human: ArrayLike, scorer: ArrayLike, w: ArrayLike | None = None, permutations: int = PERMUTATIONS, seed: int = PUBLISHED_SEED,
    exact: bool = True,
) -> float:  # fmt: skip
    """Soft pairwise accuracy from segment scores (K, N) of people and of a scorer; `exact` as in `p_values`.

    >>> human = [[1, 2, 3, 4], [0, 1, 2, 3], [0, 0, 0, 0]]
    >>> spa(human, human), spa(human, human, [2, 1, 1])
    (1.0, 1.0)
    """
    check.same_labels(human, scorer, "human", "scorer")
    human, scorer = check.matrix(human, "human", allow_nan=True), check.matrix(scorer, "scorer", allow_nan=True)
    if human.shape != scorer.shape:
        raise ValueError(f"human has shape {human.shape} and scorer {scorer.shape}; both need the same, (K, N)")
    p, q = (p_values(x, permutations, seed, exact) for x in (human, scorer))
    return float(spa_from_p(p, q, w))


def pairwise_accuracy(human: ArrayLike, scorer: ArrayLike, w: ArrayLike | None = None) -> float:
    """Share of pairs that a scorer orders as people do, from system scores (K,).

    Pairs that people tie are left out; pairs that only the scorer ties count as wrong.

    >>> round(pairwise_accuracy([3, 2, 1], [9, 9, 5]), 4)
    0.6667
    """
    h, s, w = _systems(human, scorer, w)
    found = float(accuracies(h, s, w[None])[0])
    if np.isnan(found):
        raise ValueError("people tie every pair that has weight; pairwise accuracy is not defined")
    return found


def accuracies(human: Array, y: Array, w: Array) -> Array:
    """Pairwise accuracies of many scorers y (…, K) with people (K,) at weightings w (W, K): shape (W, …).

    NaN where people tie every pair that has weight.

    >>> accuracies(np.array([3.0, 2, 1]), np.array([[9.0, 9, 5], [3.0, 2, 1]]), np.array([[1, 1, 1], [1, 1, 0]])).round(4)
    array([[0.6667, 1.    ],
           [0.    , 1.    ]])
    """
    i, j = np.triu_indices(human.size, 1)
    truth, flat = np.sign(human[i] - human[j]), y.reshape(-1, human.size)
    pi = _products(w) * (truth != 0)
    asked = pi.sum(axis=1, keepdims=True)
    asked[asked == 0] = np.nan
    right = pi @ (np.sign(flat[:, i] - flat[:, j]) == truth).T
    return np.asarray(np.minimum(right / asked, 1.0).reshape(len(w), *y.shape[:-1]))  # rounding can carry it past one


def pearson(human: ArrayLike, scorer: ArrayLike, w: ArrayLike | None = None) -> float:
    """Weighted Pearson correlation (population form) of system scores (K,).

    >>> round(pearson([1, 2, 3], [2, 4, 7]), 4)
    0.9934
    """
    h, s, w = _systems(human, scorer, w)
    h, s = _unscaled(h, w, "human"), _unscaled(s, w, "scorer")
    return float(correlations(h, s, w[None])[0])


def correlations(human: Array, y: Array, w: Array) -> Array:
    """Weighted Pearson correlations of human (K,) with many scorers y (…, K) at weightings w (W, K): shape (W, …).

    Zero where one side is constant on the systems that carry weight: it then says nothing about their order.
    Covariances are written on pairs, Σ w_k w_k′ (x_k − x_k′)(y_k − y_k′): no mean is subtracted, so no digits are lost
    where two neighbours carry nearly all weight.

    >>> scorers = np.array([[0.0, 1.0, 4.0], [5.0, 5.0, 5.0]])
    >>> correlations(np.array([0.0, 1.0, 2.0]), scorers, np.array([[1, 1, 1], [1, 1, 0]])).round(4)
    array([[0.9608, 0.    ],
           [1.    , 0.    ]])
    """
    i, j = np.triu_indices(human.size, 1)
    pi, flat = pair_weights(w), y.reshape(-1, human.size)
    h, gap = human[i] - human[j], flat[:, i] - flat[:, j]
    spread_h, spread_y = np.sqrt(pi @ h**2)[:, None], np.sqrt(pi @ (gap**2).T)
    # scores that ought to be equal differ by some 1e-16 of their size
    none = (spread_h <= SAME * np.abs(human).max()) | (spread_y <= SAME * np.abs(flat).max(axis=1))
    r = np.where(none, 0.0, (pi * h) @ gap.T / np.where(none, 1.0, spread_h * spread_y))
    return np.asarray(np.clip(r, -1, 1).reshape(len(w), *y.shape[:-1]))  # rounding can carry it past one


def correlation(x: Array, y: Array) -> Array:
    """Pearson's correlation along the last axis: (…, M) twice → (…); 0 where one of the two is constant.

    >>> correlation(np.array([[1.0, 2, 3], [3.0, 2, 1]]), np.array([2.0, 4, 6])).round(12).tolist()
    [1.0, -1.0]
    """
    return np.asarray((unit(x) * unit(y)).sum(axis=-1))


def unit(x: Array, least: float = 0.0) -> Array:
    """Rows (…, M) around their means at length one, so that the product of two is their correlation; 0 where no longer than `least`.

    >>> unit(np.array([[3.0, 4.0], [5.0, 5.0]])).round(3).tolist()
    [[-0.707, 0.707], [0.0, 0.0]]
    """
    x = x - x.mean(axis=-1, keepdims=True)
    length = np.sqrt((x**2).sum(axis=-1, keepdims=True))
    out: Array = np.divide(x, length, out=np.zeros_like(x), where=length > least)
    return out


def _unscaled(x: Array, w: Array, name: str) -> Array:
    """x on a scale on which its systems with weight lie 1 apart at most, the first of them at 0; refused if they are one."""
    used = x[w > 0]
    if np.ptp(used) <= SAME * np.abs(used).max():  # means of the same scores differ by rounding
        raise ValueError(f"the {name} scores are the same on all systems with weight; a correlation is not defined")
    out: Array = np.where(w > 0, x - used[0], 0.0) / np.ptp(used)
    return out


def _p(p: ArrayLike, name: str) -> Array:
    p = np.asarray(p, dtype=np.float64)
    if p.ndim == 0 or p.shape[-1] == 0:
        raise ValueError(f"{name} has shape {p.shape}; one p-value per pair of systems is needed")
    if p.size and not (p.min() >= 0 and p.max() <= 1):
        raise ValueError(f"{name} runs from {p.min():g} to {p.max():g}; a p-value lies between 0 and 1")
    return p


def _systems(human: ArrayLike, scorer: ArrayLike, w: ArrayLike | None) -> tuple[Array, Array, Array]:
    check.same_labels(human, scorer, "human", "scorer")
    h = check.vector(human, "human")
    if h.size < 2:
        raise ValueError(f"{h.size} system; at least two are needed")
    return h, check.vector(scorer, "scorer", h.size), check.weights(w, h.size)
