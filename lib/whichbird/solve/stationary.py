"""The stationary points of one support: at most five weightings, found without missing one.

On a support of n systems, problem (P_S) asks for the smallest ½‖w‖² with Σw = 1 and b(w, β̂) = 0, weights of either
sign. Two changes of variable make it well behaved.

**Two aspects become two directions.** With ã, f̃ the scores centred over the support, put p = √β̂ f̃ + √(1−β̂) ã and
m = √β̂ f̃ − √(1−β̂) ã. Then b(w, β̂) = −Cov_w(p, m): to reach β̂ is to make p and m uncorrelated. Their lengths do not
matter, so both are taken of length one, and with ρ = pᵀm everything is known in closed form: M = ½(pmᵀ + mpᵀ) has
eigenvectors along p ± m and eigenvalues θ₁ = (1+ρ)/2 > 0 > θ₂ = −(1−ρ)/2; r is −(p∘m) centred; c = −ρ/n.

**The quintic becomes a function of known shape.** Dividing Φ by its squared denominators gives the secular function

    g(η) = c − η R − Σⱼ rⱼ²/(4θⱼ) · (1 − 1/(1 + 2θⱼη)²),     j = 1, 2,  R = Σ_{j≥3} rⱼ².

Between its two poles it falls from +∞ to −∞: one root. Outside each pole it has one hump: no root, or one on the way up
and one on the way down. Its inflexions are known in closed form, so Newton's method, started on the right side of them,
moves to each root without ever passing it. Distances are kept from the pole, or from zero, so a root next to a pole is
as accurate as any other. The limit rⱼ → 0, where the root merges with the pole and stands for two points (Case 2.2 of
the paper), is then met by giving rⱼ a length far below rounding; but no distance from zero may then be that of the pole
less something in rⱼ, as it would round to the pole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..core.balance import EPS, TOLERANCE, Standard, in_unit, solvable

_TINY = 1e-30  # stands for r_j = 0: its square still is a normal number, and no sum in double precision can feel it
_STEPS = 500  # Newton doubles the digits, near a double root it halves the error, far away it grows by 3/2: 100 do


class Stationary(NamedTuple):
    """Stationary points of N supports of one size n, in the order of the supports and of η within each.

    `owner` (M,) is the support a point belongs to, `weights` (M, n) its weights in the order of that support's systems,
    `eta` (M,) the multiplier of b, in one over the squared unit of the scores. `poles` (N,) is the number of poles of
    each secular function: 2 in general, 1 where the systems lie on a line, 0 where uniform weights have the balance.
    """

    owner: np.ndarray
    weights: np.ndarray
    eta: np.ndarray
    poles: np.ndarray


def stationary_points(
    adequacy: ArrayLike, fluency: ArrayLike, beta: float, supports: ArrayLike | None = None
) -> Stationary:
    """All stationary points of (P_S) at balance `beta`, for each row of `supports` (N, n), system indices; by default
    for the support of all systems.

    Here the bound of five is attained:

    >>> s = stationary_points([2.1041, 1.8783, 1.1827, .9551], [2.7964, 2.7981, .8222, 3.8888], 0.6661)
    >>> s.eta.size
    5
    >>> bool(np.allclose(s.weights.sum(axis=1), 1))
    True
    """
    pool = Standard.of(adequacy, fluency)
    solvable(pool.given_a, pool.given_f)
    systems = pool.a.size
    supports = np.arange(systems)[None, :] if supports is None else np.asarray(supports)
    rows = np.sort(supports, axis=-1)
    if (
        rows.ndim != 2
        or rows.dtype.kind not in "iu"
        or rows.shape[1] < 2
        or rows.min() < 0
        or rows.max() >= systems
        or (np.diff(rows) == 0).any()
    ):
        raise ValueError(
            f"supports {supports.tolist()!r:.60} are not rows of two or more different indices from 0 to {systems - 1}"
        )
    return of_supports(pool, in_unit(beta), supports)


def of_supports(pool: Standard, beta: float, supports: np.ndarray) -> Stationary:
    """`stationary_points` for a pool that is already standardised: the form `search` calls many times.

    >>> of_supports(Standard.of([0, 2, 0], [0, 1, 3]), 0.8, np.array([[0, 1], [1, 2]])).weights[0]
    array([0.5, 0.5])
    """
    n = supports.shape[1]
    a, f = (x[supports] - x[supports].mean(axis=1, keepdims=True) for x in (pool.a, pool.f))
    spread = _length(a, f)
    p, m = np.sqrt(beta) * f + np.sqrt(1 - beta) * a, np.sqrt(beta) * f - np.sqrt(1 - beta) * a
    long_p, long_m = _length(p), _length(m)
    with np.errstate(divide="ignore", invalid="ignore"):  # a repeated point has no spread; it is left out below
        constant = ~(long_p * long_m > rounding(pool, spread) * spread**2)  # b vanishes for every weighting
        noise = rounding(pool, np.minimum(long_p, long_m))
        p, m = p / long_p[:, None], m / long_m[:, None]
        ends = np.stack([p + m, p - m])
        long = _length(ends)
        v = ends / long[..., None]
    theta = long**2 / 4  # |θ₁|, |θ₂|
    line = long <= noise  # systems on a line: one of the two directions is not there
    v[line] = 0

    c = -(p * m).sum(axis=1) / n
    r = -p * m - c[:, None]
    size = noise * _length(p * m)  # what rounding leaves of r where it should vanish
    r_pole = np.einsum("jnk,nk->jn", v, r)
    flat = r - np.einsum("jn,jnk->nk", r_pole, v)
    flat[(_length(flat) <= size) | (n == 3) & ~line.any(axis=0)] = 0  # two directions fill the plane of three systems
    r_pole = np.where(line, 0.0, np.copysign(np.maximum(np.abs(r_pole), _TINY), r_pole))

    uniform = constant | ((_length(r) <= size) & (np.abs(c) <= noise))  # or the polynomial is identically zero
    live = np.flatnonzero(~uniform)
    owner, side, s, tau = _roots(c[live], r_pole[:, live], theta[:, live], _length(flat[live]) ** 2, line[:, live])
    owner = live[owner]

    # back to weights: u_j = −η r_j / (1 + 2 η θ_j), where the near pole's denominator is tau
    near, far = theta[side, owner], theta[1 - side, owner]
    eta = np.where(side == 1, 1, -1) * s / (2 * near)
    u = flat[owner] + (r_pole[side, owner] / tau)[:, None] * v[side, owner]
    u += (r_pole[1 - side, owner] / (1 + far / near * s))[:, None] * v[1 - side, owner]
    w = 1 / n - eta[:, None] * u
    eta = eta / (long_p * long_m)[owner] / pool.scale**2

    same = np.flatnonzero(uniform & (spread > n * pool.resolution))
    owner, eta, w = np.r_[owner, same], np.r_[eta, np.zeros(same.size)], np.r_[w, np.full((same.size, n), 1 / n)]
    order = np.lexsort((eta, owner))
    poles = np.where(uniform | (np.abs(c) <= noise), 0, 2 - line.sum(axis=0))
    return Stationary(owner[order], w[order], eta[order], poles)


def rounding(pool: Standard, spread: np.ndarray | float) -> np.ndarray:
    """How far from zero a ratio of moments may come out on systems this far apart, from rounding of the scores given.

    >>> float(rounding(Standard.of([0, 2], [0, 1]), 1.0)) < 1e-13
    True
    """
    return np.minimum(16 * (EPS + pool.resolution / spread), TOLERANCE)  # a visible difference is never rounding


def _length(*vectors: np.ndarray) -> np.ndarray:
    length: np.ndarray = np.sqrt(sum((x * x).sum(axis=-1) for x in vectors))
    return length


def _roots(
    c: np.ndarray, r_pole: np.ndarray, theta: np.ndarray, flat2: np.ndarray, line: np.ndarray
) -> tuple[np.ndarray, ...]:
    """All roots of the secular function of each row: (row, side of the near pole, s = 2|θ||η|, tau = 1 − s).

    Side 1 looks at η > 0 and the pole of θ₂, side 0 at η < 0 and the pole of θ₁. Changing the signs of η and of g turns
    one into the other, so `_Secular` is written for side 1.
    """
    rows = np.arange(c.size)
    with np.errstate(divide="ignore", invalid="ignore"):
        strength = np.where(line, 0.0, r_pole**2 / (4 * theta))

    def secular(side: np.ndarray, rows: np.ndarray) -> _Secular:
        near = theta[side, rows]
        sign = np.where(side == 1, 1, -1)
        return _Secular(
            sign * c[rows],
            strength[side, rows],
            strength[1 - side, rows],
            theta[1 - side, rows] / near,
            flat2[rows] / (2 * near),
        )

    side = np.where((c > 0) | line[0], 1, 0)
    found = [(rows, side, *secular(side, rows).middle())]
    for k in (0, 1):
        open_rows = rows[~line[k]]
        g = secular(np.full(open_rows.size, k), open_rows)
        for kept, t in g.outer():
            found.append((open_rows[kept], np.full(kept.size, k), 1 + t, -t))
    return tuple(np.concatenate(part) for part in zip(*found, strict=True))


class _Secular(NamedTuple):
    """g(s) = c − flat·s − near·(1/(1−s)² − 1) − far·(1 − 1/(1+κs)²) row by row, s > 0, with one pole at s = 1."""

    c: np.ndarray
    near: np.ndarray
    far: np.ndarray
    kappa: np.ndarray
    flat: np.ndarray

    def take(self, rows: np.ndarray) -> _Secular:
        return _Secular(*(x[rows] for x in self))

    def value(self, s: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """g and dg/ds at s, with tau = 1 − s given so that neither loses digits."""
        x = 1 + self.kappa * s
        g = self.c - self.flat * s - self.near * s * (1 + tau) / tau**2 - self.far * self.kappa * s * (1 + x) / x**2
        return g, -self.flat - 2 * self.near / tau**3 - 2 * self.far * self.kappa / x**3

    def rounding(self, s: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """How far from zero g may be computed at a root."""
        x = 1 + self.kappa * s
        near, far = self.near * s * np.abs(1 + tau) / tau**2, self.far * self.kappa * s * (1 + x) / x**2
        bound: np.ndarray = 16 * EPS * (np.abs(self.c) + self.flat * s + near + far)
        return bound

    def middle(self) -> tuple[np.ndarray, np.ndarray]:
        """The root in 0 ≤ s < 1, where g falls from c ≥ 0 to −∞: (s, tau)."""
        c, half = np.maximum(self.c, 0), np.full_like(self.c, 0.5)
        with np.errstate(divide="ignore"):
            t_i = np.minimum((1 + self.kappa) / (self.kappa * (1 + self._bend())), 1.0)
        bent = (t_i < 1) & (self.value(1 - t_i, t_i)[0] < 0)  # the root lies before the inflexion: come from s = 0
        share = np.where(c > 0, c / (c + self.near), 0.0)
        t_0 = np.sqrt(self.near / (c + self.near))
        # without bend any start between root and pole will do: t_0, and ½ if the root lies before, as 1 − t_0 rounds to 1
        s, tau = np.where(bent, 0.0, np.minimum(share / (1 + t_0), half)), np.where(bent, 1.0, t_0)
        at_pole = self.value(half, half)[0] > 0  # measure from the nearer of pole and zero
        z, _ = self._newton(np.where(at_pole, tau, s), at_pole.astype(float), np.where(at_pole, -1.0, 1.0))
        return np.where(at_pole, 1 - z, z), np.where(at_pole, z, 1 - z)

    def outer(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The roots at s = 1 + t, t > 0, as pairs (rows, t): first those on the way up, then those on the way down."""
        limit = self.c + self.near - self.far  # of g at infinity, where flat = 0
        top = limit - self.flat + self.far / (1 + self.kappa) ** 2  # g ≤ top − flat·t − near/t²
        falls = (self.flat > 0) | (self._bend() > 1)
        rows = np.flatnonzero((top > 0) & (falls | (limit > 0)))
        g, top, limit = self.take(rows), top[rows], limit[rows]
        t, ok = g._newton(np.sqrt(g.near / top), rising=True)
        yield rows[ok], t[ok]

        ok &= (g.flat > 0) | (limit < 0)
        rows, g, top = rows[ok], g.take(ok), top[ok]
        with np.errstate(divide="ignore", invalid="ignore"):
            t_i = np.where(g._bend() > 1, (1 + g.kappa) / (g.kappa * (g._bend() - 1)), np.inf)
            t_end = top / g.flat
        finite = np.where(np.isfinite(t_i), t_i, 1.0)
        above = np.isfinite(t_i) & (g.value(1 + finite, -finite)[0] > 0)  # the root lies after the inflexion
        yield rows, g._newton(np.where(above, t_i, np.minimum(t_i, t_end)))[0]

    def _bend(self) -> np.ndarray:
        """The value of (1/κ + s) / |1 − s| where g has its inflexion, zero where it has none."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.far > 0, np.sqrt(np.sqrt(self.far / self.near) / self.kappa), 0.0)

    def _newton(
        self, z: np.ndarray, base: np.ndarray | float = 1.0, direction: np.ndarray | float = 1.0, rising: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Newton in z, s = base + direction·z, from a side where it cannot overshoot: z, and whether there is a root.

        With `rising`, g climbs towards its hump; a row that passes the top below zero has no root there.
        """
        z = z.copy()
        base, direction = np.broadcast_to(base, z.shape), np.broadcast_to(direction, z.shape)
        ok = np.ones(z.shape, bool)
        way = np.zeros(z.shape)
        live = np.arange(z.size)
        for _ in range(_STEPS):
            if not live.size:
                return z, ok
            g, b, d, x = self.take(live), base[live], direction[live], z[live]
            s, tau = b + d * x, (1 - b) - d * x
            value, slope = g.value(s, tau)
            slope = d * slope
            with np.errstate(divide="ignore", invalid="ignore"):
                step = -value / slope
            # steps all go one way; one that turns back is rounding, and so is one below the last digit
            go = ~((np.abs(step) <= 2 * EPS * x) | (step * way[live] < 0))  # a step that is no number never settles
            if rising:
                top = slope <= 0
                go &= ~top
                ok[live[top & (value < -g.rounding(s, tau))]] = False
            live = live[go]
            z[live] += step[go]
            way[live] = step[go]
        raise ArithmeticError(f"{live.size} roots of the secular equation did not settle in {_STEPS} Newton steps")
