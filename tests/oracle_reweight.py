"""Two slow, independent ways to the optimum, for tests: every support enumerated, and a partition of the line of means.

Neither shares code or ideas with `whichbird.solve.reweight`: the first solves the secular equation of each support, the
second maximises the Lagrangian dual of interval relaxations with a general-purpose optimiser.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from scipy.optimize import minimize


def brute_force(a, f, beta) -> tuple[float, np.ndarray]:
    """The least Σw² over all supports, and the weights, from the stationary points of each. K up to 9 or so."""
    best, weights = np.inf, None
    for size, w in stationary(a, f, beta):
        if 1 / size >= best:
            break
        if w @ w < best:
            best, weights = w @ w, w
    return best, weights


def stationary(a, f, beta) -> Iterator[tuple[int, np.ndarray]]:
    """The stationary points (K,) of every support, and its size: large supports first."""
    a, f = (np.asarray(x, float) for x in (a, f))
    scale = max(np.ptp(a), np.ptp(f))
    a, f = (a - a.mean()) / scale, (f - f.mean()) / scale
    for size in range(a.size, 1, -1):
        for s in combinations(range(a.size), size):
            s = list(s)
            for w in _stationary(a[s], f[s], beta):
                if w.min() >= -1e-13:
                    out = np.zeros(a.size)
                    out[s] = w
                    yield size, out


def _stationary(a, f, beta) -> np.ndarray:
    """Rows of weights on a support, those below zero too."""
    m = a.size
    a, f = a - a.mean(), f - f.mean()
    g = (1 - beta) * a**2 - beta * f**2
    c = g.mean()
    r = g - c
    quad = beta * np.outer(f, f) - (1 - beta) * np.outer(a, a)
    theta, vec = np.linalg.eigh(quad)
    curved = np.abs(theta) > 1e-13  # of standardised scores
    rj = vec.T @ r
    t, rc = theta[curved], rj[curved]
    flat = float(r @ r - rc @ rc) if m - 1 > curved.sum() else 0.0
    if flat < 1e-26:
        flat = 0.0
    flat_vec = r - vec[:, curved] @ rc if flat else np.zeros(m)
    squares = [np.array([1, 4 * x, 4 * x * x]) for x in t]  # (1 + 2ηθ)², rising powers
    whole = _product(squares)
    poly = np.zeros(2 * t.size + 2)
    poly[:-1] += c * whole
    for j in range(t.size):
        rest = np.convolve([0, 1, t[j]], _product(squares[:j] + squares[j + 1 :]))
        poly[: rest.size] -= rc[j] ** 2 * rest
    poly[1:] -= flat * whole
    if np.abs(poly).max() <= 1e-15:
        return _checked(np.full((1, m), 1 / m), a, f, beta)
    roots = np.polynomial.polynomial.polyroots(np.trim_zeros(poly, "b"))
    roots = roots[np.abs(roots.imag) <= 1e-5 * (1 + np.abs(roots))].real
    eta = np.concatenate((_polish(roots, t, rc, flat, c), -0.5 / t))
    out, basis = [np.zeros((0, m))], vec[:, curved]
    for j in range(t.size):
        # all coordinates but one from the multiplier, that one from the constraint: exact at a root, safe at a pole
        others = np.arange(t.size) != j
        with np.errstate(all="ignore"):
            u = -eta[:, None] * ((rc[others] / (1 + 2 * eta[:, None] * t[others])) @ basis[:, others].T + flat_vec)
            b = ((u @ quad) * u).sum(1) + u @ r + c
            root = np.sqrt(rc[j] ** 2 - 4 * t[j] * b + 0j)
            real = np.abs(root.imag) <= 1e-9
            u, b, root = u[real], b[real], root[real].real
            s = -0.5 * (rc[j] + np.copysign(root, rc[j]))
            for x in (s / t[j], b / s):
                out.append(_onto(1 / m + u + x[:, None] * basis[:, j], basis[:, j], a, f, beta))
    return _checked(np.concatenate(out), a, f, beta)


def _onto(w, along, a, f, beta):
    """Move each w along a direction onto the constraint, measured by the variances: the quadratic form has lost digits."""
    going = np.full(len(w), True)
    for _ in range(3):
        g = (1 - beta) * (a - w @ a[:, None]) ** 2 - beta * (f - w @ f[:, None]) ** 2
        step = (w * g).sum(1) / (g @ along)
        going &= np.abs(step) < 1e-6  # symmetric pools have no slope here, and need none
        w = np.where(going[:, None], w - step[:, None] * along, w)
    return w


def _checked(w, a, f, beta):
    alike = ((a[:, None] == a) & (f[:, None] == f)).astype(float)
    w = w[np.isfinite(w).all(1)]
    w = w[(np.abs(w.sum(1) - 1) <= 1e-12) & ((w @ alike).max(1) <= 1 - 1e-9)]  # else all on copies of one system
    s_a, s_f = ((w * (x - w @ x[:, None]) ** 2).sum(1) for x in (a, f))
    spread = s_a + s_f > 0
    w, s_a, s_f = w[spread], s_a[spread], s_f[spread]
    return w[np.abs(s_a / (s_a + s_f) - beta) <= 1e-12]


def _polish(eta, t, rc, flat, c):
    going = np.full(eta.size, True)
    for _ in range(4):
        with np.errstate(all="ignore"):
            d = 1 + 2 * eta[:, None] * t
            value = c - (rc**2 * (eta[:, None] + eta[:, None] ** 2 * t) / d**2).sum(1) - flat * eta
            step = value / (-(rc**2 / d**3).sum(1) - flat)
        going &= np.abs(step) <= 1e-3 * (np.abs(eta) + 1e-300)
        eta = np.where(going, eta - step, eta)
    return eta


def _product(factors):
    out = np.array([1.0])
    for x in factors:
        out = np.convolve(out, x)
    return out


def lower_bound(a, f, beta, above: bool, goal: float, most: int = 2000) -> float:
    """A proven lower bound on Σw², from interval relaxations refined until it exceeds `goal` or `most` were tried.

    On [l, u] the squares (v − mean)² are replaced by (v − l)(v − u); the dual of what remains, a convex programme, has
    three unknowns.
    """
    a, f = (np.asarray(x, float) for x in (a, f))
    scale = max(np.ptp(a), np.ptp(f))
    a, f = (a - a.mean()) / scale, (f - f.mean()) / scale
    x, v, c, d = (a, f, 1 - beta, beta) if above else (f, a, beta, 1 - beta)
    todo, worst = [(v.min(), v.max())], np.inf
    for _ in range(most):
        if not todo:
            return worst
        low, high = todo.pop()
        const = c * x**2 - d * (v - low) * (v - high)

        def negative(y):
            tau, t, mean = y[0], np.exp(y[1]), y[2]
            z = np.maximum(tau + t * const - 2 * c * t * mean * x, 0)
            grad = [1 - z.sum(), t * (2 * c * mean * (z @ x) - c * mean**2 - z @ const), 2 * c * t * (z @ x - mean)]
            return -(tau - c * t * mean**2 - 0.5 * z @ z), -np.array(grad)

        bounds = [(None, None), (-2, 16), (x.min(), x.max())]  # any point gives a bound, so a short climb is safe
        start = [1 / a.size, 1.0, 0.0]
        fit = minimize(negative, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-15})
        bound = -2 * fit.fun
        if bound >= goal:
            worst = min(worst, bound)
        else:
            todo += [(low, 0.5 * (low + high)), (0.5 * (low + high), high)]
    return -np.inf
