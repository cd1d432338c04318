"""What one system does to the balance of its pool: leverage, own balance, and β without it.

With (ā, f̄) the weighted means, a system lies at the squared distance d_k² = (a_k − ā)² + (f_k − f̄)² from the middle of
its pool. Its *own balance* b_k = (a_k − ā)² / d_k² is adequacy's share of that, its *leverage*
h_k = w_k / (1 − w_k) · d_k² / (σ(a; w)² + σ(f; w)²). Without it, the others keeping their proportions,

    β₋ₖ = β + h_k / (1 − h_k) · (β − b_k).

The chapter on the balance proves it. With uniform weights w_k / (1 − w_k) is 1 / (K − 1), and leverages sum to K / (K − 1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import check
from .balance import Standard, balance, weighted_share
from .check import Array


class Leverage(NamedTuple):
    """For each of K systems, (K,) each: its leverage, its own balance, and the balance `without` it.

    `own` is NaN for a system in the very middle of the pool, `without` where the others with weight all coincide.

    >>> leverage([0, 2, 1], [0, 1, 0.5]).own
    array([0.8, 0.8, nan])
    """

    leverage: Array
    own: Array
    without: Array


def leverage(adequacy: ArrayLike, fluency: ArrayLike, w: ArrayLike | None = None) -> Leverage:
    """What each system does to the balance of its pool, from scores (K,) and weights (None: uniform).

    `without` is computed from the other systems, not by the identity, which has no digits left where h is next to one.

    >>> found = leverage([0, 2, 0, 2], [0, 1, 3, 2])
    >>> found.leverage.round(3), found.own.round(3), found.without.round(3)
    (array([0.481, 0.185, 0.481, 0.185]), array([0.308, 0.8  , 0.308, 0.8  ]), array([0.571, 0.364, 0.571, 0.364]))
    >>> h, own = found.leverage, found.own
    >>> bool(np.allclose(found.without, balance([0, 2, 0, 2], [0, 1, 3, 2]) * (1 + h / (1 - h)) - own * h / (1 - h)))
    True
    """
    balance(adequacy, fluency, w)  # refuses weights whose pool has none
    p = Standard.of(adequacy, fluency)
    a, f, k = p.given_a, p.given_f, p.a.size
    w = check.weights(w, k)
    da, df = (((x - x[0]) - w @ (x - x[0])) / p.scale for x in (a, f))
    far = da**2 + df**2
    middle = far <= p.resolution**2
    h = w / (1 - w) * np.where(middle, 0.0, far) / (w @ far)
    own = np.where(middle, np.nan, da**2 / np.where(middle, 1.0, far))
    rest = np.where(np.eye(k, dtype=bool), 0.0, w)
    there = rest > 0
    spread = [np.where(there, x, -np.inf).max(axis=1) - np.where(there, x, np.inf).min(axis=1) for x in (a, f)]
    some = np.maximum(*spread) > p.resolution * p.scale
    rest = np.where(some[:, None], rest, w)
    without = weighted_share(
        np.broadcast_to(a, rest.shape), np.broadcast_to(f, rest.shape), p.scale, rest / rest.sum(1)[:, None]
    )
    return Leverage(h, own, np.where(some, without, np.nan))
