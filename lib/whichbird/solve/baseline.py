"""Solvers that know nothing of the theorems, to compare `search` with: the paper's lattice, and two local optimisers.

A local optimiser walks downhill from a start, so it is started from many points and the best result counts. Neither can
tell whether that is the optimum.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from ..core.balance import Standard
from .distortion import COLLISION, Distortion

METHODS = ("SLSQP", "interior point")


def lattice(systems: int, resolution: int) -> np.ndarray:
    """All weightings of `systems` systems whose weights are multiples of 1/`resolution`: one a row.

    >>> lattice(2, 2)
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """
    shares = np.array(list(combinations_with_replacement(range(systems), resolution)))
    return np.asarray((shares[:, :, None] == np.arange(systems)).sum(axis=1) / resolution)


def starts(systems: int, count: int, seed: int = 0) -> np.ndarray:
    """`count` weightings to start from, one a row: the uniform one first, then draws that tend to favour a few systems.

    >>> starts(4, 3)[0]
    array([0.25, 0.25, 0.25, 0.25])
    """
    draws = np.random.default_rng(seed).dirichlet(np.full(systems, 0.5), count - 1)
    return np.concatenate([np.full((1, systems), 1 / systems), draws])


def descend(
    adequacy: ArrayLike, fluency: ArrayLike, beta: float, start: np.ndarray, method: str = "SLSQP"
) -> np.ndarray:
    """The weights (K,) where a local optimiser comes to rest from `start`; whether they reach `beta` is left to the caller.

    "SLSQP" solves a quadratic model at each step. "interior point" is scipy's trust-constr: it stays away from zero
    weights by a barrier that it lowers in turn, and SLSQP then brings its result to full precision.

    >>> descend([0, 2, 0], [0, 1, 3], 0.3, starts(3, 1)[0]).round(3)
    array([0.37 , 0.248, 0.382])
    """
    pool = Standard.of(adequacy, fluency)
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; one of {', '.join(METHODS)} is expected")
    w = _interior_point(pool, beta, start) if method == "interior point" else start
    return _slsqp(pool, beta, w)


def best_local(pool: Standard, beta: float, distortion: Distortion, guess: np.ndarray, count: int = 4) -> np.ndarray:
    """The best weights (K,) among where SLSQP comes to rest from `guess`, which has the balance, and from `starts`.

    >>> from .distortion import KL
    >>> best_local(Standard.of([0, 2, 0], [0, 1, 3]), 0.3, KL, descend([0, 2, 0], [0, 1, 3], 0.3, starts(3, 1)[0])).round(3)
    array([0.369, 0.248, 0.383])
    """
    ends = [guess, *(_slsqp(pool, beta, start, distortion) for start in (guess, *starts(guess.size, count)))]
    ends = [_onto(pool, beta, w) for w in ends]
    return min((w for w in ends if abs(_balance(pool, w)[0] - beta) <= 1e-13), key=distortion.value, default=guess)


def _onto(pool: Standard, beta: float, w: np.ndarray) -> np.ndarray:
    """The nearest weights with the balance, Newton's method on the systems in use."""
    for _ in range(8):
        on = w > 0
        found, gradient = _balance(pool, w)
        if not np.isfinite(gradient).all():
            break
        rows = np.array([np.ones(on.sum()), gradient[on]])
        w = w.copy()
        w[on] += np.linalg.pinv(rows) @ np.array([1 - w.sum(), beta - found])
        w = _simplex(w)
    return w


def _slsqp(pool: Standard, beta: float, start: np.ndarray, distortion: Distortion = COLLISION) -> np.ndarray:
    from scipy.optimize import Bounds, minimize  # takes longer to load than most pools take to solve

    ones = np.ones(start.size)
    met: list[Any] = [
        {"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda w: ones},
        {"type": "eq", "fun": lambda w: _balance(pool, w)[0] - beta, "jac": lambda w: _balance(pool, w)[1]},
    ]
    end = minimize(
        distortion.value,
        start,
        jac=distortion.gradient,
        method="SLSQP",
        bounds=Bounds(0.0, 1.0),
        constraints=met,
        options=cast(Any, {"ftol": 1e-14, "maxiter": 500}),
    )
    return _simplex(end.x)


def _interior_point(pool: Standard, beta: float, start: np.ndarray) -> np.ndarray:
    """On b, not on β: it is a quadratic, so its Hessian is a constant."""
    from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint, minimize

    linear = (1 - beta) * pool.a**2 - beta * pool.f**2
    hessian = 2 * (beta * np.outer(pool.f, pool.f) - (1 - beta) * np.outer(pool.a, pool.a))
    met: list[Any] = [
        LinearConstraint(np.ones((1, start.size)), 1, 1),
        NonlinearConstraint(
            lambda w: w @ linear + w @ hessian @ w / 2,
            0,
            0,
            jac=lambda w: (linear + hessian @ w)[None],
            hess=cast(Any, lambda w, v: v[0] * hessian),  # the stubs know of one argument only
        ),
    ]
    end = minimize(
        COLLISION.value,
        start,
        jac=COLLISION.gradient,
        hess=cast(Any, lambda w: 2 * np.eye(w.size)),
        bounds=Bounds(0.0, 1.0),
        method="trust-constr",
        constraints=met,
        options=cast(Any, {"maxiter": 1000}),
    )
    return _simplex(end.x)


def _balance(pool: Standard, w: np.ndarray) -> tuple[float, np.ndarray]:
    """β and its gradient on the plane Σw = 1; nan where an optimiser has put all weight in one place."""
    a, f = pool.a - w @ pool.a, pool.f - w @ pool.f
    s_a, s_f = w @ a**2, w @ f**2
    with np.errstate(all="ignore"):
        beta = s_a / (s_a + s_f)
        return float(beta), ((1 - beta) * a**2 - beta * f**2) / (s_a + s_f)


def _simplex(w: np.ndarray) -> np.ndarray:
    w = np.clip(w, 0, None)
    return np.asarray(w / w.sum())
