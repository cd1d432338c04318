"""The proof of an optimum on one line, the plain way: golden sections instead of Newton's method, and no care for rounding.

A witness for `saddle` and `reweight` that shares no line with them, short enough to be read: chapters draw its pictures.
u and v are the two aspects of K systems as `aspects` returns them, a saddle is z_k = h + (u_k − p)² − (v_k − q)², and a
weighting reaches its target if the variance of u is at least that of v.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from whichbird.core.balance import balance
from whichbird.core.check import Array

Goal = Callable[[Array, Array], Array]


def aspects(adequacy: ArrayLike, fluency: ArrayLike, target: float) -> tuple[Array, Array]:
    """The aspect that must grow, stretched for the target, and the one that must shrink, both centred: u and v, (K,).

    >>> aspects([0, 4], [0, 2], 0.2)  # below the pool's balance of 0.8: fluency must grow
    (array([-0.5,  0.5]), array([-2.,  2.]))
    """
    a, f = (x - x.mean() for x in (np.asarray(adequacy, float), np.asarray(fluency, float)))
    if target > balance(a, f):
        return np.sqrt((1 - target) / target) * a, f
    return np.sqrt(target / (1 - target)) * f, a


def heights(u: Array, v: Array, h: ArrayLike, p: ArrayLike, q: ArrayLike) -> Array:
    """z of many saddles h, p, q (…,) at all systems: (…, K).

    >>> heights(np.array([0.0, 1.0]), np.array([0.0, 2.0]), [1.0, 5.0], 0.0, 0.0)
    array([[ 1., -2.],
           [ 5.,  2.]])
    """
    h, p, q = (np.asarray(x)[..., None] for x in (h, p, q))
    z: Array = h + (u - p) ** 2 - (v - q) ** 2
    return z


def golden(height: Callable[[Array], Array], low: Array, high: Array, steps: int = 42) -> tuple[Array, Array]:
    """Maximise many one-hill functions at once on [low, high]: the arguments and the values.

    >>> x, y = golden(lambda x: -((x - np.array([1.0, 2.0])) ** 2), np.zeros(2), np.full(2, 5.0))
    >>> x.round(6)
    array([1., 2.])
    """
    r = (np.sqrt(5) - 1) / 2
    x = [high - r * (high - low), low + r * (high - low)]
    y = [height(x[0]), height(x[1])]
    for _ in range(steps):
        left = y[0] > y[1]
        low, high = np.where(left, low, x[0]), np.where(left, x[1], high)
        new = np.where(left, high - r * (high - low), low + r * (high - low))
        at = height(new)
        x = [np.where(left, new, x[1]), np.where(left, x[0], new)]
        y = [np.where(left, at, y[1]), np.where(left, y[0], at)]
    return x[0], y[0]


def climb(goal: Goal, u: Array, v: Array, q: Array) -> tuple[Array, Array, Array]:
    """For each centre q (R,) the saddle with the largest goal(h, ‖z₊‖): its h, its p, and the value, (R,) each.

    The goal must have one hill in (h + p², p); then golden sections find its top, one inside the other.

    >>> u, v = np.array([-0.3, 0.0, 0.3]), np.array([0.0, 0.8, 0.1])
    >>> climb(lambda h, norm: h - norm / np.sqrt(2.7), u, v, np.array([0.2]))[2].round(4)  # no ESS of 2.7 so near to 0.2
    array([0.0098])
    """
    scale = ((v - q[:, None]) ** 2).max(axis=1) + (u**2).max()

    def norm(h: Array, p: Array) -> Array:
        z: Array = np.sqrt((np.maximum(0, heights(u, v, h, p, q)) ** 2).sum(axis=1))
        return z

    def ridge(p: Array) -> tuple[Array, Array]:
        def height(x: Array) -> Array:
            h = scale * x / (1 - x)  # from 0 to infinity: the more even the weights, the higher the saddle
            return goal(h, norm(h, p))

        x, value = golden(height, np.zeros(q.size), np.ones(q.size))
        return scale * x / (1 - x), value

    p, value = golden(lambda p: ridge(p)[1], np.full(q.size, u.min()), np.full(q.size, u.max()))
    return ridge(p)[0], p, value


def least_collision(u: Array, v: Array, q: Array) -> tuple[Array, Array, Array]:
    """For each centre q (R,) the best saddle's h and p, and the least Σw² of weightings whose variance of u is at least
    their mean square of v about q; infinity where there is none.

    >>> u, v = np.array([-0.3, 0.0, 0.3]), np.array([0.0, 0.8, 0.1])
    >>> (1 / least_collision(u, v, np.array([0.2]))[2]).round(3)  # the largest effective sample size
    array([2.618])
    """
    with np.errstate(all="ignore"):
        h, p, root = climb(lambda h, norm: h / norm, u, v, q)
    return h, p, np.where(np.isfinite(root), root, np.inf) ** 2


def cover(u: Array, v: Array, ess: float, centres: Array) -> list[tuple[Array, Array]]:
    """Rounds of (centres, half-widths) until the excluded intervals cover the range of v: no weighting reaches the target
    with an effective sample size of `ess` or more. Raises ValueError where a centre excludes nothing.

    >>> u, v = np.array([-0.3, 0.0, 0.3]), np.array([0.0, 0.8, 0.1])
    >>> [q.size for q, _ in cover(u, v, 2.9, np.array([0.3]))]
    [1, 2]
    >>> cover(u, v, 2.5, np.array([0.2]))
    Traceback (most recent call last):
    ValueError: the saddles around 0.2 exclude nothing: a weighting with an ESS of 2.5 may exist
    """
    rounds: list[tuple[Array, Array]] = []
    while centres.size:
        square = climb(lambda h, norm: h - norm / np.sqrt(ess), u, v, centres)[2]
        if not (square > 0).all():
            where = centres[square.argmin()]
            raise ValueError(
                f"the saddles around {where:g} exclude nothing: a weighting with an ESS of {ess:g} may exist"
            )
        rounds.append((centres, np.sqrt(square)))
        q, half = (np.concatenate(x) for x in zip(*rounds, strict=True))
        order = np.argsort(q - half)
        reached = np.maximum.accumulate(np.append(v.min(), (q + half)[order]))
        next_low = np.minimum(np.append((q - half)[order], np.inf), v.max())
        gap = reached < next_low
        centres = (reached[gap] + next_low[gap]) / 2
    return rounds
