"""The exit certificate: three conditions that prove a weighting optimal without looking at any other.

With L(w) = ½‖w‖² + η b(w, β̂) + λ(Σw − 1), the conditions are (i) ∂L/∂w_k = 0 where w_k > 0, (ii) ∂L/∂w_k ≥ 0 where
w_k = 0, and (iii) L is convex on the plane Σw = 1, that is, I + 2ηM has no negative eigenvalue. Then w minimises L over
the simplex, and every feasible w′ has ½‖w′‖² = L(w′) ≥ L(w) = ½‖w‖².

Computed numbers meet equalities up to rounding only, so the certificate also says what its own imperfection can cost:
by convexity L(w′) ≥ L(w) + min_k ∂L/∂w_k − wᵀ∂L, which bounds how much smaller ½‖w′‖² can possibly be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..core import check
from ..core.balance import TOLERANCE, Standard, balance, in_unit, solvable


@dataclass(frozen=True)
class Certificate:
    """What each condition measured. It is true (`if certificate(...):`) when all hold; else `failed` names the first
    that does not: "feasibility", "(i)", "(ii)" or "(iii)".

    `residual` is the largest |∂L/∂w_k| on the support, `slack` the smallest ∂L/∂w_k off it (infinity where all systems
    have weight), both in units of weight; `curvature` is the smallest eigenvalue of I + 2ηM; `gap` bounds the relative
    excess of Σw² over the optimum and is infinite unless all conditions hold. `lam` goes with `constraint_gradient`.
    """

    failed: str | None
    eta: float
    lam: float
    residual: float
    slack: float
    curvature: float
    gap: float

    def __bool__(self) -> bool:
        return self.failed is None


def certificate(
    adequacy: ArrayLike, fluency: ArrayLike, beta: float, w: ArrayLike, eta: float | None = None
) -> Certificate:
    """Test whether weights `w` (K,) are a proven optimum at balance `beta`.

    `eta` is the multiplier of b, in one over the squared unit of the scores; by default the one that fits (i) best.

    >>> a, f = [0, 2, 0], [0, 1, 3]
    >>> bool(certificate(a, f, balance(a, f), [1, 1, 1]))
    True
    >>> certificate(a, f, 0.5, [0, 1, 1]).failed
    '(iii)'
    """
    pool, beta = Standard.of(adequacy, fluency), in_unit(beta)
    solvable(pool.given_a, pool.given_f)
    w = check.weights(w, pool.a.size)
    on, tolerance = w > 0, TOLERANCE * w.max()
    b, h = _constraint(pool, beta, w[None])
    eta = _fit(w, h[0], on) if eta is None else float(eta) * pool.scale**2
    lam, slope = (x[0] for x in _slopes(w[None], h, np.array([eta])))
    residual, slack = np.abs(slope[on]).max(), slope[~on].min(initial=np.inf)
    curvature = _curvature(pool, beta, eta)
    conditions = {
        "feasibility": abs(_balance(pool, w) - beta) <= TOLERANCE,
        "(i)": residual <= tolerance,
        "(ii)": slack >= -tolerance,
        "(iii)": curvature >= -TOLERANCE,
    }
    failed = next((name for name, met in conditions.items() if not met), None)
    loss = w @ slope - slope.min() + abs(eta * b[0]) + max(0.0, -curvature)  # the last because ‖w′ − w‖² ≤ 2
    gap = 2 * loss / (w @ w) if failed is None else np.inf
    return Certificate(failed, *(float(x) for x in (eta / pool.scale**2, lam, residual, slack, curvature, gap)))


def holds(pool: Standard, beta: float, w: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """Conditions (ii) and (iii) for many points w (M, K), each feasible and stationary on its support with `eta` (M,).

    >>> holds(Standard.of([0, 2, 0], [0, 1, 3]), 4 / 13, np.full((1, 3), 1 / 3), np.zeros(1))
    array([ True])
    """
    out = _curvature(pool, beta, eta * pool.scale**2) >= -TOLERANCE
    some = np.flatnonzero(out)
    _, slope = _slopes(w[some], _constraint(pool, beta, w[some])[1], eta[some] * pool.scale**2)
    out[some] = np.where(w[some] > 0, np.inf, slope).min(axis=1) >= -TOLERANCE * w[some].max(axis=1)
    return out


def _slopes(w: np.ndarray, h: np.ndarray, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """λ, and ∂L/∂w (M, K), with λ the mean that makes condition (i) hold on the support."""
    free = w + eta[:, None] * h
    on = w > 0
    lam = -(free * on).sum(axis=1) / on.sum(axis=1)
    return lam, free + lam[:, None]


def _constraint(pool: Standard, beta: float, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """b (M,) and its gradient on the plane (M, K), for weights (M, K), in standard units."""
    a, f = (x - (w @ x)[:, None] for x in (pool.a, pool.f))
    h = (1 - beta) * a * a - beta * f * f
    return (w * h).sum(axis=1), h


def _curvature(pool: Standard, beta: float, eta: np.ndarray | float) -> np.ndarray:
    """Smallest eigenvalue of I + 2ηM over the whole pool, where M = ½(pmᵀ + mpᵀ) in the notation of `stationary`."""
    a, f = np.sqrt(1 - beta) * (pool.a - pool.a.mean()), np.sqrt(beta) * (pool.f - pool.f.mean())
    p, m = f + a, f - a
    both, dot = np.linalg.norm(p) * np.linalg.norm(m), p @ m
    lowest: np.ndarray = 1 + np.minimum(eta * (dot - both), eta * (dot + both))
    return lowest


def _balance(pool: Standard, w: np.ndarray) -> float:
    try:
        return balance(pool.a, pool.f, w)
    except ValueError:
        return np.nan


def _fit(w: np.ndarray, h: np.ndarray, on: np.ndarray) -> float:
    """The η of (i): minus the slope of w against h over the support. Where h is constant, the smallest |η| for (ii)."""
    dw, dh = w[on] - w[on].mean(), h[on] - h[on].mean()
    if np.abs(dh).max() > TOLERANCE * np.abs(h).max():
        return float(-(dw @ dh) / (dh @ dh))
    with np.errstate(divide="ignore"):
        need = w[on].mean() / (h[~on] - h[on].mean())
    if not need.size or not np.isfinite(need).all() or not ((need > 0).all() or (need < 0).all()):
        return 0.0
    return float(need[np.argmax(np.abs(need))])
