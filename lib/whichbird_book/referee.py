"""A referee for small pools: every support, every stationary point, nothing pruned; and a scan that needs no theory at all.

Slow and short. It shares no code with the solvers it is held against, only the formulas of the paper's Appendix A; the scan
along rays shares not even those. The book's proofs and the tests use it.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike

from whichbird.core.check import Array

_LINE = 1e-9  # the second singular value over the first, below which the systems of a support lie on a line
_NOTHING = 1e-12  # a component of r over the length of r, below which it is zero


def constraint(w: Array, a: Array, f: Array, beta: float) -> Array:
    """(1 − β̂) σ(a; w)² − β̂ σ(f; w)², for weights (..., K) of either sign that sum to one.

    >>> float(constraint(np.array([0.5, 0.5]), np.array([0.0, 2]), np.array([0.0, 2]), 0.5))
    0.0
    """
    out: Array = (1 - beta) * (w @ a**2 - (w @ a) ** 2) - beta * (w @ f**2 - (w @ f) ** 2)
    return out


def centre(a: ArrayLike, f: ArrayLike, beta: float) -> tuple[Array, Array, Array, float]:
    """Centred scores ã and f̃, and the linear part r (K,) and constant part c of b around the uniform weighting.

    >>> centre([0, 2], [0, 2], 0.5)
    (array([-1.,  1.]), array([-1.,  1.]), array([0., 0.]), 0.0)
    """
    ca: Array = np.asarray(a, float) - np.mean(np.asarray(a, float))
    cf: Array = np.asarray(f, float) - np.mean(np.asarray(f, float))
    g: Array = (1 - beta) * ca**2 - beta * cf**2
    return ca, cf, g - g.mean(), float(g.mean())


def rays(a: Array, f: Array, beta: float, directions: Array) -> Array:
    """All w ≥ 0 with b = 0, single systems apart, on the rays from the uniform weighting along zero-sum unit vectors (n, K).

    >>> rays(np.array([0.0, 5, 4]), np.array([7.0, 6, 2]), 0.4, np.array([[-1.0, 1, 0]]) / 2**0.5).round(3)
    array([[0.655, 0.011, 0.333],
           [0.135, 0.532, 0.333]])
    """
    ca, cf, r, c = centre(a, f, beta)
    square = beta * (directions @ cf) ** 2 - (1 - beta) * (directions @ ca) ** 2
    linear = directions @ r
    with np.errstate(all="ignore"):  # rays that miss the curve give nan and are dropped below
        t = (-linear + np.array([[1], [-1]]) * np.sqrt(linear**2 - 4 * square * c)) / (2 * square)
        w: Array = (1 / a.size + t[..., None] * directions).reshape(-1, a.size)
        found: Array = w[np.isfinite(w).all(axis=1) & (w >= 0).all(axis=1) & (w.max(axis=1) < 1 - 1e-6)]
    return found


def spectrum(a: ArrayLike, f: ArrayLike, beta: float) -> tuple[Array, Array, Array, Array, float]:
    """θ₁ > 0 > θ₂, their eigenvectors (K, 2), r in that basis, the flat vector (K,), and c.

    >>> theta, *_ = spectrum([0, 5, 4], [7, 6, 2], 0.4)
    >>> theta.round(3)
    array([ 4.702, -7.502])
    """
    ca, cf, r, c = centre(a, f, beta)
    q, _ = np.linalg.qr(np.c_[cf, ca])
    whole = beta * np.outer(cf, cf) - (1 - beta) * np.outer(ca, ca)
    theta, v = np.linalg.eigh(q.T @ whole @ q)
    theta, v = theta[::-1], (q @ v)[:, ::-1]
    flat = r - v @ (v.T @ r) if len(r) > 3 else np.zeros(len(r))  # zero by structure on three systems
    return theta, v, v.T @ r, flat, c


def stationary(a: ArrayLike, f: ArrayLike, beta: float) -> list[tuple[float, Array]]:
    """All stationary points (η, w) of one support, poles included.

    >>> len(stationary([2.1041, 1.8783, 1.1827, 0.9551], [2.7964, 2.7981, 0.8222, 3.8888], 0.6661))
    5
    """
    a, f = np.asarray(a, float), np.asarray(f, float)
    size = len(a)
    ca, cf, _, c = centre(a, f, beta)
    spread = np.linalg.svd(np.c_[ca, cf], compute_uv=False)
    if spread[1] <= _LINE * spread[0]:  # on a line; on a point if the spread is zero, and then nothing counts
        right = 0 < spread[0] and abs(c) <= _NOTHING * spread[0] ** 2
        return [(0.0, np.full(size, 1 / size))] if right else []
    theta, v, r, flat, c = spectrum(a, f, beta)
    unit = 1 / np.abs(2 * theta).max()  # η in units of the nearer pole keeps coefficients of one size
    x, rest = Polynomial([0, unit]), flat @ flat
    d = [Polynomial([1, 2 * t * unit]) for t in theta]
    phi = c * d[0] ** 2 * d[1] ** 2
    for j in (0, 1):
        phi = phi - x * r[j] ** 2 * (1 + theta[j] * x) * d[1 - j] ** 2
    if rest > _NOTHING**2 * (r @ r + rest):
        phi = phi - x * rest * d[0] ** 2 * d[1] ** 2
    roots = phi.roots()
    etas = unit * roots[np.abs(roots.imag) <= 1e-7 * (1 + np.abs(roots))].real
    at_pole = np.abs(r) <= _NOTHING * np.sqrt(r @ r + rest)
    found = []
    for eta in etas:
        if not (at_pole & (np.abs(1 + 2 * eta * theta) < 1e-6)).any():
            found.append((float(eta), 1 / size - v @ (eta * r / (1 + 2 * eta * theta)) - eta * flat))
    for j in np.flatnonzero(at_pole).tolist():
        pole, other = -1 / (2 * theta[j]), 1 - j
        fixed = 1 / size - v[:, other] * pole * r[other] / (1 + 2 * pole * theta[other]) - pole * flat
        square = -constraint(fixed, a, f, beta) / theta[j]
        if square >= 0:
            found += [(float(pole), fixed + sign * np.sqrt(square) * v[:, j]) for sign in (1, -1)]
    return found


def optimum(a: ArrayLike, f: ArrayLike, beta: float) -> tuple[float, Array]:
    """The multiplier and the weights of least Σw² at the balance `beta`, by trying all 2^K supports.

    >>> eta, w = optimum([0, 0, 2], [1, -1, 0], 0.75)
    >>> round(eta, 4), sorted(w.round(3).tolist())
    (-0.3333, [0.046, 0.454, 0.5])
    """
    a, f = np.asarray(a, float), np.asarray(f, float)
    best: tuple[float, Array] | None = None
    least = np.inf
    for inside in product((False, True), repeat=len(a)):
        s = np.flatnonzero(inside)
        for eta, part in stationary(a[s], f[s], beta) if s.size > 1 else ():
            if part.min() >= -1e-12 and part.max() < 1 - 1e-9 and part @ part < least:
                w = np.zeros(len(a))
                w[s] = part.clip(0)
                best, least = (eta, w), float(part @ part)
    if best is None:
        raise ValueError(f"no weighting of these systems has the balance {beta:g}")
    return best


def middle(a: ArrayLike, f: ArrayLike, beta: float) -> tuple[float, Array]:
    """The candidate (η, w) of all systems whose multiplier lies between the poles; weights may be negative.

    >>> middle([0, 1, 0], [0, 0, 1], 0.5)[1].round(6)
    array([0.333333, 0.333333, 0.333333])
    """
    low, high = -1 / (2 * spectrum(a, f, beta)[0])
    between = [(eta, w) for eta, w in stationary(a, f, beta) if low < eta < high]
    if len(between) != 1:
        raise ValueError(f"{len(between)} candidates between the poles, and one was expected: is the pool symmetric?")
    return between[0]
