"""Two slow, independent ways to the optimum, for tests: every support enumerated, and a partition of the line of means.

Neither shares code or ideas with `whichbird.solve.reweight`: the first solves the secular equation of each support, the
second maximises the Lagrangian dual of interval relaxations with a general-purpose optimiser.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.optimize import minimize


def brute_force(a, f, beta) -> tuple[float, np.ndarray]:
    """The least Σw² over all supports, and the weights, from the stationary points of each. K up to 9 or so."""
    a, f = (np.asarray(x, float) for x in (a, f))
    scale = max(np.ptp(a), np.ptp(f))
    a, f = (a - a.mean()) / scale, (f - f.mean()) / scale
    best, weights = np.inf, None
    for size in range(a.size, 1, -1):
        if 1 / size >= best:
            break
        for s in combinations(range(a.size), size):
            s = list(s)
            for w in _stationary(a[s], f[s], beta):
                if w.min() >= -1e-13 and w @ w < best:
                    best, weights = w @ w, np.zeros(a.size)
                    weights[s] = w
    return best, weights


def _stationary(a, f, beta) -> list[np.ndarray]:
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
    poly = c * _product(squares)
    for j in range(t.size):
        rest = _product(squares[:j] + squares[j + 1 :])
        poly = _add(poly, -(rc[j] ** 2) * np.convolve([0, 1, t[j]], rest))
    poly = _add(poly, -flat * np.convolve([0, 1], _product(squares)))
    if np.abs(poly).max() <= 1e-15:
        return _checked([np.full(m, 1 / m)], a, f, beta)
    roots = np.polynomial.polynomial.polyroots(np.trim_zeros(poly, "b"))
    etas = [_polish(x.real, t, rc, flat, c) for x in roots if abs(x.imag) <= 1e-5 * (1 + abs(x))]
    out, basis = [], vec[:, curved]
    for eta in etas + list(-0.5 / t):
        for j in range(t.size):
            # all coordinates but one from the multiplier, that one from the constraint: exact at a root, safe at a pole
            others = np.arange(t.size) != j
            with np.errstate(all="ignore"):
                u = -eta * (basis[:, others] @ (rc[others] / (1 + 2 * eta * t[others])) + flat_vec)
                b = u @ quad @ u + r @ u + c
                root = np.sqrt(rc[j] ** 2 - 4 * t[j] * b + 0j)
            if abs(root.imag) > 1e-9:
                continue
            s = -0.5 * (rc[j] + np.copysign(root.real, rc[j]))
            with np.errstate(all="ignore"):
                out += [_onto(1 / m + u + x * basis[:, j], basis[:, j], a, f, beta) for x in (s / t[j], b / s)]
    return _checked(out, a, f, beta)


def _onto(w, along, a, f, beta):
    """Move w along a direction onto the constraint, measured by the variances: the quadratic form has lost digits."""
    for _ in range(3):
        g = (1 - beta) * (a - w @ a) ** 2 - beta * (f - w @ f) ** 2
        step = (w @ g) / (along @ g)
        if not abs(step) < 1e-6:  # symmetric pools have no slope here, and need none
            break
        w = w - step * along
    return w


def _checked(ws, a, f, beta):
    keep = []
    point = np.unique(np.column_stack((a, f)), axis=0, return_inverse=True)[1].ravel()
    for w in ws:
        if not np.isfinite(w).all() or abs(w.sum() - 1) > 1e-12 or np.bincount(point, w).max() > 1 - 1e-9:
            continue  # the last: all weight on copies of one system
        s_a, s_f = (w @ (x - w @ x) ** 2 for x in (a, f))
        if s_a + s_f > 0 and abs(s_a / (s_a + s_f) - beta) <= 1e-12:
            keep.append(w)
    return keep


def _polish(eta, t, rc, flat, c):
    for _ in range(4):
        with np.errstate(all="ignore"):
            d = 1 + 2 * eta * t
            value = c - (rc**2 * (eta + eta**2 * t) / d**2).sum() - flat * eta
            slope = -(rc**2 / d**3).sum() - flat
            step = value / slope
        if not np.isfinite(step) or abs(step) > 1e-3 * (abs(eta) + 1e-300):
            break
        eta -= step
    return eta


def _product(factors):
    out = np.array([1.0])
    for x in factors:
        out = np.convolve(out, x)
    return out


def _add(p, q):
    n = max(p.size, q.size)
    return np.pad(p, (0, n - p.size)) + np.pad(q, (0, n - q.size))


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
