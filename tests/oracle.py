"""Two slow solvers to compare with. They share nothing with the library but `balance`.

`brute_force` goes through all supports, writes the constraint as the paper's reduced quadratic (an explicit basis of
the plane Σw = 0, a full eigendecomposition), and looks for sign changes of the residual on a dense grid around every
pole, refined by Brent's method. `multistart` is a general local optimiser started from many points; it knows nothing of
stationary points.
"""

from itertools import combinations

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import brentq, minimize, minimize_scalar

from whichbird.core.balance import balance, pool

# distances from a pole or from zero, in units of the smallest pole's distance from zero
GRID = np.geomspace(1e-9, 1e9, 361)


def brute_force(adequacy, fluency, beta, reach=1e-9):
    """Smallest Σw² over all weightings with |β(w) − beta| ≤ reach found on any support, and that weighting."""
    a, f = pool(adequacy, fluency)
    scale = max(np.ptp(a), np.ptp(f))
    a, f = (a - a.mean()) / scale, (f - f.mean()) / scale
    best, best_w = np.inf, None
    for size in range(2, a.size + 1):
        for support in map(list, combinations(range(a.size), size)):
            for part in stationary(a[support], f[support], beta):
                w = np.zeros(a.size)
                w[support] = np.clip(part, 0, None)
                if (part < -1e-11).any() or not (w @ w / w.sum() ** 2 < best):
                    continue
                try:
                    off = abs(balance(a, f, w) - beta)
                except ValueError:  # all the weight on one point
                    continue
                if off <= reach:
                    best, best_w = w @ w / w.sum() ** 2, w / w.sum()
    return best, best_w


def stationary(a, f, beta):
    """Stationary points (weights of either sign) of one support by dense scanning, with duplicates possible."""
    n = a.size
    a, f = a - a.mean(), f - f.mean()
    basis = null_space(np.ones((1, n)))
    theta, vectors = np.linalg.eigh(basis.T @ (beta * np.outer(f, f) - (1 - beta) * np.outer(a, a)) @ basis)
    g = (1 - beta) * a**2 - beta * f**2
    r, c = vectors.T @ basis.T @ g, g.mean()
    big = np.abs(theta).max()
    uniform = np.full(n, 1 / n)
    if abs(c) <= 1e-13 * (a @ a + f @ f):
        yield uniform
    if big <= 1e-13 * (a @ a + f @ f):
        return

    def at(eta):
        eta = np.atleast_1d(eta)[:, None]
        return -eta * r / (1 + 2 * eta * theta)

    def residual(eta):
        u = at(eta)
        return (theta * u**2 + r * u).sum(axis=1) + c

    def weights(u):
        return uniform + basis @ vectors @ u

    poles = [-1 / (2 * t) for t in theta if abs(t) > 1e-12 * big]
    for j, t in enumerate(theta):  # the coordinate of a pole is free where r has no part along it
        if abs(t) > 1e-12 * big and abs(r[j]) <= 1e-12 * (a @ a + f @ f):
            eta = -1 / (2 * t)
            u = np.array([0 if i == j else -eta * r[i] / (1 + 2 * eta * theta[i]) for i in range(n - 1)])
            square = -((theta * u**2 + r * u).sum() + c) / t
            if square >= 0:
                for sign in (-1, 1):
                    yield weights(u + sign * np.sqrt(square) * np.eye(n - 1)[j])

    unit = min(abs(p) for p in poles)
    grid = np.unique(np.concatenate([origin + sign * unit * GRID for origin in [0.0, *poles] for sign in (-1, 1)]))
    with np.errstate(all="ignore"):
        value = residual(grid)
    crossed = np.zeros(grid.size - 1, bool)  # cells with a pole inside hold no root
    for p in poles:
        crossed |= (grid[:-1] <= p) & (p <= grid[1:])
    cells = list(np.flatnonzero((np.sign(value[:-1]) != np.sign(value[1:])) & ~crossed))
    roots = [(grid[i], grid[i + 1]) for i in cells]
    # a hump that only just touches zero between two grid points: a parabola through a lowest point and its neighbours
    # goes below it by at most an eighth of the two rises, so a point higher than a quarter of them is left alone
    size = np.nan_to_num(np.abs(value), nan=np.inf, posinf=1e300)  # a grid point may fall on a pole
    rises = size[:-2] + size[2:] - 2 * size[1:-1]
    hump = (size[1:-1] < size[:-2]) & (size[1:-1] < size[2:]) & (size[1:-1] <= rises / 4) & ~crossed[:-1] & ~crossed[1:]
    hump &= (np.sign(value[:-2]) == np.sign(value[1:-1])) & (np.sign(value[1:-1]) == np.sign(value[2:]))
    for i in np.flatnonzero(hump) + 1:
        sign = np.sign(value[i])
        low = minimize_scalar(
            lambda x: sign * residual(x)[0],
            bounds=(grid[i - 1], grid[i + 1]),
            method="bounded",
            options={"xatol": 1e-12 * abs(grid[i])},
        ).x
        if sign * residual(low)[0] <= 0:
            roots += [(grid[i - 1], low), (low, grid[i + 1])]
    for low, high in roots:
        if residual(low)[0] * residual(high)[0] > 0:
            continue
        yield weights(at(brentq(lambda x: residual(x)[0], low, high, xtol=1e-300, rtol=1e-15, maxiter=500))[0])


def multistart(adequacy, fluency, beta, starts=8, seed=0):
    """Smallest Σw² that SLSQP finds from `starts` random points, among results with |β(w) − beta| ≤ 1e-9."""
    a, f = pool(adequacy, fluency)
    scale = max(np.ptp(a), np.ptp(f))
    a, f = (a - a.mean()) / scale, (f - f.mean()) / scale
    rng = np.random.default_rng(seed)

    def b(w):
        return (1 - beta) * (w @ a**2 - (w @ a) ** 2) - beta * (w @ f**2 - (w @ f) ** 2)

    def slope(w):
        return (1 - beta) * (a**2 - 2 * (w @ a) * a) - beta * (f**2 - 2 * (w @ f) * f)

    constraints = [
        {"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda w: np.ones(a.size)},
        {"type": "eq", "fun": b, "jac": slope},
    ]
    best = np.inf
    for _ in range(starts):
        w = minimize(
            lambda w: w @ w,
            rng.dirichlet(np.full(a.size, 0.5)),
            jac=lambda w: 2 * w,
            method="SLSQP",
            bounds=[(0, 1)] * a.size,
            constraints=constraints,
            options={"ftol": 1e-15, "maxiter": 300},
        ).x
        w = np.clip(w, 0, None)
        w /= w.sum()
        on = w > 0
        if max(np.ptp(a[on]), np.ptp(f[on])) > 1e-6 and abs(balance(a, f, w) - beta) <= 1e-9:  # not all on one point
            best = min(best, w @ w)
    return best
