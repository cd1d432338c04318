"""What each system contributes to a scorer's loss 1 − SPA, and what is left of it without that system.

A loss on a pair of systems is shared between the two, half each. So with pair weights π and losses d a system contributes
c_k = ½ Σ_l π_kl d_kl; the K contributions sum to 1 − SPA. With π_k = Σ_l π_kl the weight of all pairs of system k, which
is 2 / K with uniform weights, the loss of the pool without it, the others keeping their proportions, is

    (Σ c − 2 c_k) / (1 − π_k).

Both are linear in d, so they hold for the lead of one scorer over another: it changes sign without system k if, and only
if, k contributes more than half of it. The chapter on why the pool matters proves it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .check import Array
from .metametrics import distances, pair_weights


def contributions_from_p(human_p: ArrayLike, scorer_p: ArrayLike, w: ArrayLike | None = None) -> Array:
    """What each of K systems contributes to 1 − SPA: p-values (P,) and (…, P), weights (K,) or None → (…, K).

    >>> c = contributions_from_p([0.0, 1.0, 0.5], [0.5, 1.0, 0.5])  # wrong on the pair of the first two systems only
    >>> c.round(4), round(float(1 - c.sum()), 4)
    (array([0.0833, 0.0833, 0.    ]), 0.8333)
    """
    return per_system(distances(human_p, scorer_p), w)


def per_system(loss: Array, w: ArrayLike | None = None) -> Array:
    """Half of each pair's weighted loss to each of its two systems: (…, P) → (…, K); of losses, or of differences of them.

    >>> per_system(np.array([3.0, 0.0, 0.0]), [2, 1, 1])  # the first pair has 2 of 5 parts of the weight
    array([0.6, 0.6, 0. ])
    """
    pairs = loss.shape[-1]
    k = round((1 + np.sqrt(1 + 8 * pairs)) / 2)
    if k < 3 or k * (k - 1) != 2 * pairs:
        raise ValueError(f"{pairs} pairs; those of at least three systems are needed, 3, 6, 10, …")
    weights = np.ones(k) if w is None else np.asarray(w, dtype=np.float64)
    pi = pair_weights(weights)
    if pi.shape != (pairs,):
        raise ValueError(f"weights have shape {weights.shape}; one for each of {k} systems is needed")
    return np.asarray((loss * pi) @ _sides(k) / 2)


def without_each(c: Array, w: ArrayLike | None = None) -> Array:
    """The loss (or lead) of the pool without each system, from contributions (…, K): (…, K).

    >>> without_each(np.array([1.5, 1.0, 0.5]))  # a lead of 3, half of it from the first system
    array([0., 3., 6.])
    """
    k = c.shape[-1]
    share = pair_weights(np.ones(k) if w is None else w) @ _sides(k)
    if (share > 1 - 1e-12).any():
        raise ValueError("a pair of systems has all the weight; at least three need some, so that one can be left out")
    return np.asarray((c.sum(axis=-1, keepdims=True) - 2 * c) / (1 - share))


def interaction(c: Array) -> Array:
    """Contributions (…, M, K) less the means of scorers and of systems: which scorer loses more than others on which system.

    >>> interaction(np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 7.0]]))
    array([[ 0.5,  0.5, -1. ],
           [-0.5, -0.5,  1. ]])
    """
    c = c - c.mean(axis=-1, keepdims=True)
    return np.asarray(c - c.mean(axis=-2, keepdims=True))


def _sides(k: int) -> Array:
    """Which two systems each pair has: (P, K) of ones and zeros."""
    i, j = np.triu_indices(k, 1)
    return np.asarray((np.arange(k) == i[:, None]) | (np.arange(k) == j[:, None]), dtype=np.float64)
