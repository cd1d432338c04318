"""The whole path of best weightings: w*(β) from one end of the range to the other, arc by arc.

Along β the best weighting keeps a support for a while, and there it is the solution of as many equations as unknowns,

    w_k + η g_k + λ = 0 on the support,   Σ w = 1,   b(w, β) = 0,   g_k = (1−β)(a_k − A)² − β(f_k − F)²,

A and F the weighted means. Newton's method solves them to all digits from a start nearby, and one linear system with
the same matrix gives dw/dβ: that is an **arc**. It ends where a weight reaches zero, or where the multiplier λ + η
g_k of an idle system does; there the next arc begins with another support. So a local optimum is followed without a
grid. It may stop being the best one, and then w* **jumps**: to the left and to the right two chains of arcs are
followed, and they have the same Σw² at the jump.

**What is proven, and what is checked.** An arc is made of local optima. That they are global is checked with
`reweight`, which proves its answer, at targets so dense that between two of them the effective sample size changes by
at most the share `checks`. As ESS* falls away from the natural balance, this bounds what a jump away and back between
two checks could hide: nowhere is ESS* more than this share above the path's. Where the exit certificate holds, an
evaluation proves itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from ..core import check
from ..core.balance import (
    EPS,
    Standard,
    _unit,
    balance,
    from_std_balance,
    out_of_reach,
    reachable,
    solvable,
    std_balance,
)
from .result import NotProven
from .reweight import reweight_many

START = 24  # targets from which arcs are followed at first
TIE = 1e-9  # relative difference of Σw² up to which two weightings count as equally good: what intervals prove
TOUCH = 1e-10  # a weight or multiplier this small at an event takes part in it
ZERO = 1e-13  # rounding of a weight
ROUNDS = 40  # of putting checks where they are missing
NEWTON = 40  # steps; six are usual, next to a fork each only halves the error
SHORT = 1e-13  # a step of β this short is none
FOLD = 1e-11  # steps grow short before a fold or a fork, where a local optimum ends; the rest is left out
CLOSE = 1e-9  # chains that end this near to each other, or to an end of the range, meet there


@dataclass(frozen=True, eq=False)
class Arc:
    """Best weightings with one support, for targets from `low` to `high`. It can be asked anywhere in between.

    `support`: the indices of the systems in use. `betas` (N,), `nodes` (N, K), `etas` (N,): where Newton starts.
    """

    pool: Standard
    low: float
    high: float
    support: tuple[int, ...]
    betas: np.ndarray
    nodes: np.ndarray
    etas: np.ndarray

    def at(self, beta: ArrayLike) -> np.ndarray:
        """The weights at targets (T,) or at one: (T, K) or (K,)."""
        return self._solve(beta)[0]

    def slope(self, beta: ArrayLike) -> np.ndarray:
        """dw/dβ at targets (T,) or at one: (T, K) or (K,)."""
        return self._solve(beta)[1]

    def ess(self, beta: ArrayLike) -> np.ndarray:
        """Effective sample sizes at targets (T,)."""
        return np.asarray(1 / (self.at(beta) ** 2).sum(-1))

    def eta(self, beta: ArrayLike) -> np.ndarray:
        """The multiplier of the balance at targets (T,), in one over the squared unit of the scores."""
        return np.asarray(self._solve(beta)[2] / self.pool.scale**2)

    def _solve(self, beta: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights, their derivatives and η, from the nearest node."""
        target = np.asarray(beta, float)
        flat = target.ravel()
        for x in flat[~((flat >= self.low - SHORT) & (flat <= self.high + SHORT))][:1]:
            raise ValueError(f"beta is {x:.10g}; this arc runs from {self.low:.10g} to {self.high:.10g}")
        face = _Face(self.pool, self.support)
        # start on the chord between the two nodes around a target
        at = np.clip(np.searchsorted(self.betas, flat), 1, self.betas.size - 1)
        share = (flat - self.betas[at - 1]) / (self.betas[at] - self.betas[at - 1])
        chords = [x[at - 1] + (share * (x[at] - x[at - 1]).T).T for x in (self.nodes[:, face.on], self.etas)]
        point = face.newton(flat, *chords)
        for n in np.flatnonzero(np.isnan(point.w).any(1)):  # next to a fold or a fork only a start close by will do
            near = [int(np.abs(self.betas - flat[n]).argmin())]
            away = abs(self.betas[near[0]] - flat[n])
            again = face.newton(self.betas[near], self.nodes[near][:, face.on], self.etas[near])
            for share in (1 - np.linspace(1, 0, 9)[1:] ** 2) if away > SHORT else ():
                again = face.onward(again, self.betas[near] + share * (flat[n] - self.betas[near]))
            for old, new in zip(point, again, strict=True):
                old[n] = new[0]
            if away <= CLOSE and np.isnan(point.w[n]).any():
                point.w[n], point.eta[n] = self.nodes[near[0], face.on], self.etas[near[0]]
        w, dw = np.zeros((2, flat.size, self.pool.a.size))
        w[:, face.on], dw[:, face.on] = np.maximum(0, point.w), point.dw
        return w.reshape(*target.shape, -1), dw.reshape(*target.shape, -1), point.eta.reshape(target.shape)


def _spare(arc: Arc, ess: float, beta: float) -> float:
    return float(arc.ess(beta)) - ess


class Jump(NamedTuple):
    """A target where two weightings (K,), `before` and `after` it, are equally good; or where a line's systems drop out.

    `drop` is what is lost of the effective sample size: zero, unless ESS* itself is discontinuous here.
    """

    beta: float
    before: np.ndarray
    after: np.ndarray
    drop: float

    @property
    def distance(self) -> float:
        """Σ|Δw|, from 0 to 2."""
        return float(np.abs(self.after - self.before).sum())


@dataclass(frozen=True, eq=False)
class Path:
    """The best weighting at every balance a pool can reach.

    `arcs` in the order of β, each with its support; `jumps` between some of them; `forks` (F,), targets where w* is
    continuous but two mirrored optima begin. `low`, `high`: the range; `natural`: β₀. `checked` (N,): the targets where
    `reweight` proved that nothing is better, `unproven` (U,): those where it could not tell. `excess`: the largest
    relative difference from its Σw² there (next to an end Σw² is so steep that the last digits of β show; infinite if the path
    has a hole). `hidden`: the share of ESS that a jump away and back between two checks could hide at most (between a
    drop and the next check, 1e-6 of an arc, nothing is said).

    >>> p = path([0, 2, 0, 1], [0, 1, 3, 5])
    >>> len(p.arcs), len(p.jumps), round(p.low, 3), round(p.natural, 3), round(p.high, 3)
    (3, 0, 0.0, 0.157, 0.8)
    >>> p.ess([.1, .5]).round(3)
    array([3.604, 2.6  ])
    """

    arcs: tuple[Arc, ...]
    jumps: tuple[Jump, ...]
    forks: np.ndarray
    low: float
    high: float
    natural: float
    checked: np.ndarray
    unproven: np.ndarray
    excess: float
    hidden: float

    def at(self, beta: ArrayLike) -> np.ndarray:
        """The weights at targets (T,) or at one: (T, K) or (K,). At a jump, those on the side of β₀."""
        return self._ask(beta, lambda arc, x: arc.at(x))

    def slope(self, beta: ArrayLike) -> np.ndarray:
        """dw/dβ at targets (T,) or at one. Where two arcs meet, that of the side of the natural balance."""
        return self._ask(beta, lambda arc, x: arc.slope(x))

    def ess(self, beta: ArrayLike) -> np.ndarray:
        """ESS* at targets (T,) or at one."""
        return np.asarray(1 / (self.at(beta) ** 2).sum(-1))

    def interval(self, ess: float) -> tuple[float, float]:
        """The targets whose best weighting keeps an effective sample size of at least `ess`, as `beta_interval`."""
        size = self.arcs[0].nodes.shape[1] if self.arcs else 2
        if not 1 <= ess <= size:
            raise ValueError(f"ess is {ess:g}; a value from 1 to the number of systems, {size}, is expected")
        return self._edge(ess, -1), self._edge(ess, 1)

    def _edge(self, ess: float, side: int) -> float:
        inner = self.natural
        for arc in self.arcs[::side]:
            near, far = (arc.low, arc.high)[::side]
            if (far - self.natural) * side <= 0:
                continue
            near = max(near * side, self.natural * side) * side
            if arc.ess(near) < ess * (1 - 1e-12):  # lost in the drop before this arc
                return inner
            if arc.ess(far) < ess:
                return _root(partial(_spare, arc, ess), near, far)
            inner = far
        return inner

    def _ask(self, beta: ArrayLike, what: Callable[[Arc, np.ndarray], np.ndarray]) -> np.ndarray:
        target = np.asarray(beta, float)
        flat = np.array([_unit(x) for x in target.ravel()])
        for x in flat[~((flat >= self.low - SHORT) & (flat <= self.high + SHORT))][:1]:
            raise out_of_reach(x, self.low, self.high)
        starts, stops = (np.array([getattr(arc, name) for arc in self.arcs]) for name in ("low", "high"))
        above = np.minimum(np.searchsorted(stops, flat, "left"), len(self.arcs) - 1)
        below = np.maximum(np.searchsorted(starts, flat, "right") - 1, 0)
        which = np.where(flat > self.natural, above, below)
        for x in flat[(flat < starts[which] - 10 * CLOSE) | (flat > stops[which] + 10 * CLOSE)][:1]:
            raise NotProven(f"the path has a hole at beta = {x:.10g}, next to a fork it could not follow")
        out = np.empty((flat.size, self.arcs[0].nodes.shape[1]))
        for n in np.unique(which):
            mine = which == n
            out[mine] = what(self.arcs[n], np.clip(flat[mine], self.arcs[n].low, self.arcs[n].high))
        return out.reshape(*target.shape, -1)


def path(adequacy: ArrayLike, fluency: ArrayLike, checks: float = 0.02) -> Path:
    """Follow the best weighting of a pool through its whole range: arcs of one support each, and jumps between them.

    `adequacy`, `fluency`: (K,) system scores, not all on one line. `checks`: `reweight` is asked wherever the effective
    sample size has changed by this share, from 0.0001 to 1.

    >>> p = path([0, 2, 0, 1], [0, 1, 3, 5])
    >>> [(arc.support, round(arc.low, 4), round(arc.high, 4)) for arc in p.arcs]
    [((0, 2, 3), 0.0, 0.0476), ((0, 1, 2, 3), 0.0476, 0.4037), ((0, 1, 2), 0.4037, 0.8)]
    >>> p.at(0.3).round(4), p.slope(0.3).round(3), [round(x, 4) for x in p.interval(3)]
    (array([0.2857, 0.3673, 0.2888, 0.0582]), array([ 0.43 ,  0.34 ,  0.006, -0.776]), [0.0488, 0.3847])
    """
    if not 1e-4 <= checks <= 1:
        raise ValueError(f"checks is {checks:g}; a share from 0.0001 to 1 is expected")
    pool = Standard.of(adequacy, fluency)
    solvable(pool.given_a, pool.given_f)
    a, f = check.vector(adequacy, "adequacy"), check.vector(fluency, "fluency")
    low, high = reachable(a, f)
    natural = balance(a, f)
    if high - low <= 1e-9:
        raise ValueError(f"all systems lie on one line, so {natural:.10g} is the only balance; a path needs a range")
    walk = _Walk(pool, a, f, low, high)
    grid = np.array([from_std_balance(x) for x in np.linspace(std_balance(low), std_balance(high), START + 2)[1:-1]])
    walk.ask(np.append(grid[(grid > low) & (grid < high)], natural))
    for _ in range(ROUNDS):
        walk.assemble()
        if not walk.ask(walk.wanted(checks), walk.here):
            break
    excess, hidden = walk.quality(natural)
    return Path(
        arcs=tuple(_merged(walk.whole)),
        jumps=tuple(walk.whole.jumps),
        forks=np.array(walk.whole.forks),
        low=low,
        high=high,
        natural=natural,
        checked=np.array(sorted(walk.proven)),
        unproven=np.array(sorted(walk.unproven)),
        excess=excess,
        hidden=hidden,
    )


# --- one arc: Newton's method and the tangent -------------------------------------------------------------------------


class _Points(NamedTuple):
    """N solutions on one support of m systems: targets, weights (N, m), η, and their derivatives by β.

    `idle` (N, K) is λ + ηg: minus the weight on the support, the multiplier of a system off it; `didle` its derivative.
    """

    beta: np.ndarray
    w: np.ndarray
    eta: np.ndarray
    dw: np.ndarray
    deta: np.ndarray
    idle: np.ndarray
    didle: np.ndarray

    @property
    def P(self) -> np.ndarray:
        return np.asarray((self.w**2).sum(1))


class _Face:
    """The equations of one support: (N,) targets at a time, weights (N, m)."""

    def __init__(self, pool: Standard, support: tuple[int, ...]) -> None:
        self.pool, self.support, self.on = pool, support, np.array(support, int)
        self.off = np.setdiff1d(np.arange(pool.a.size), self.on)

    def _centred(self, w: np.ndarray) -> list[np.ndarray]:
        return [x - (w @ x[self.on])[:, None] for x in (self.pool.a, self.pool.f)]

    def _parts(
        self, beta: np.ndarray, w: np.ndarray, eta: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The matrix of the equations (N, m + 2, m + 2), g and its derivative by β (both (N, K)), the scale of g."""
        t = beta[:, None]
        a, f = self._centred(w)
        g, dg = (1 - t) * a * a - t * f * f, -(a * a + f * f)
        a, f = a[:, self.on], f[:, self.on]
        m, n = self.on.size, beta.size
        unit = np.maximum(np.abs(g[:, self.on]).max(1), 1e-300)  # rows of one size, whatever η is
        matrix = np.zeros((n, m + 2, m + 2))
        curved = t[:, :, None] * f[:, :, None] * f[:, None, :] - (1 - t)[:, :, None] * a[:, :, None] * a[:, None, :]
        matrix[:, :m, :m] = np.eye(m) + 2 * eta[:, None, None] * curved
        matrix[:, :m, m] = matrix[:, m, :m] = g[:, self.on] / unit[:, None]
        matrix[:, :m, m + 1] = matrix[:, m + 1, :m] = 1
        return matrix, g, dg, unit

    def newton(self, beta: np.ndarray, w: np.ndarray, eta: np.ndarray) -> _Points:
        """Solutions next to (w, η); NaN where the method does not settle."""
        m, live = self.on.size, np.ones(beta.size, bool)
        w, eta, before = w.copy(), eta.copy(), np.full(beta.size, np.inf)
        with np.errstate(all="ignore"):
            for _ in range(NEWTON):
                matrix, g, _, unit = self._parts(beta, w, eta)
                here = g[:, self.on]
                rest = np.column_stack((w + eta[:, None] * here, (w * here).sum(1) / unit, w.sum(1) - 1))
                step = -_solve(matrix, rest)
                size = np.abs(step[:, :m]).max(1)
                live &= np.isfinite(size) & ~(
                    (size >= before) & (size < 1e-12)
                )  # what does not shrink there is rounding
                w[live] += step[live, :m]
                eta[live] += (step[:, m] / unit)[live]
                before = size
                if not (live & (size > 1e-13)).any():  # the digits double: what is left is less than rounding
                    break
            matrix, g, dg, unit = self._parts(beta, w, eta)
            here = g[:, self.on]
            lam = -(w + eta[:, None] * here).mean(1)
            miss = np.abs(
                np.column_stack((w + eta[:, None] * here + lam[:, None], (w * here).sum(1) / unit, w.sum(1) - 1))
            )
            w[~(miss.max(1) < 1e-12 * (1 + np.abs(eta) * unit))] = np.nan
            slope = _solve(
                matrix, -np.column_stack((eta[:, None] * dg[:, self.on], (w * dg[:, self.on]).sum(1) / unit, 0 * beta))
            )
            dw, deta, t = slope[:, :m], slope[:, m] / unit, beta[:, None]
            a, f = self._centred(w)
            moved = t * f * (dw @ self.pool.f[self.on])[:, None] - (1 - t) * a * (dw @ self.pool.a[self.on])[:, None]
            didle = slope[:, m + 1 :] + deta[:, None] * g + eta[:, None] * (dg + 2 * moved)
        return _Points(beta, w, eta, dw, deta, lam[:, None] + eta[:, None] * g, didle)

    def onward(self, points: _Points, beta: np.ndarray) -> _Points:
        """From solutions along their tangents to other targets."""
        by = beta - points.beta
        return self.newton(beta, points.w + by[:, None] * points.dw, points.eta + by * points.deta)

    def lowest(self, points: _Points) -> bool:
        """Whether one solution is a strict local optimum on its support: just two eigenvalues are negative."""
        if not np.isfinite(points.w).all():
            return False
        values = np.linalg.eigvalsh(self._parts(points.beta, points.w, points.eta)[0][0])
        return bool(values[1] < 0 and values[2] > 1e-12 * values[-1])

    def margin(self, points: _Points) -> float:
        """The smallest weight, or multiplier of an idle system, of one solution: negative beyond the arc's end."""
        value = min(points.w[0].min(), points.idle[0, self.off].min(initial=np.inf))
        return float(value) if np.isfinite(value) else -np.inf

    def dip(self, one: _Points, other: _Points) -> float | None:
        """A target between two solutions where a weight or multiplier is least, near or below zero; or None."""
        sign = np.where(np.isin(np.arange(self.pool.a.size), self.on), -1, 1)
        width = float(other.beta[0] - one.beta[0])
        (y0, s0), (y1, s1) = ((sign * x.idle[0], sign * x.didle[0] * width) for x in (one, other))
        k = np.flatnonzero((s0 < 0) & (s1 > 0))
        t = np.linspace(0, 1, 33)[1:-1, None]  # the cubic with these values and slopes
        cubic = y0[k] + t * (s0[k] + t * (3 * (y1 - y0)[k] - 2 * s0[k] - s1[k] + t * (2 * (y0 - y1)[k] + (s0 + s1)[k])))
        deep = cubic.min(0) < 0.3 * np.minimum(y0[k], y1[k]) if k.size else np.zeros(0, bool)
        if not deep.any():
            return None
        return float(one.beta[0] + width * t[cubic[:, deep].min(1).argmin(), 0])


def _solve(matrix: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Stacked linear systems; NaN where one is singular."""
    try:
        return np.asarray(np.linalg.solve(matrix, rest[..., None])[..., 0])
    except np.linalg.LinAlgError:
        if len(matrix) == 1:
            return np.full_like(rest, np.nan)
        return np.concatenate([_solve(m[None], r[None]) for m, r in zip(matrix, rest, strict=True)])


def _root(value: Callable[[float], float], one: float, other: float) -> float:
    """Where a function with values of two signs at two places is zero, to the last digit."""
    return float(brentq(value, one, other, xtol=1e-16, rtol=4 * EPS))


def _event(face: _Face, here: _Points, new: _Points) -> _Points:
    """The end of an arc between a point on it and one beyond: where the smallest weight or multiplier is zero."""

    def margin(beta: float) -> float:
        return face.margin(face.onward(here, np.array([beta])))

    inner, outer = float(here.beta[0]), float(new.beta[0])
    for _ in range(60):  # at the beginning of an arc a weight may be zero; step off it
        if margin(inner) > 0 or abs(outer - inner) <= SHORT:
            break
        middle = 0.5 * (inner + outer)
        inner, outer = (middle, outer) if margin(middle) >= -ZERO else (inner, middle)
    beta = _root(margin, inner, outer) if margin(inner) > 0 > margin(outer) else inner
    return face.onward(here, np.array([beta]))


# --- a chain of arcs --------------------------------------------------------------------------------------------------


class _Chain:
    """A local optimum followed from a target as far as it exists, at most to another: its arcs, in the order of β."""

    def __init__(self, face: _Face, start: _Points, stop: float) -> None:
        self.arcs: list[Arc] = []
        self.reached = float(start.beta[0])
        self._follow(face, start, stop, 1 if stop > start.beta[0] else -1)
        self.arcs = self.arcs[:: 1 if stop >= start.beta[0] else -1]

    def _follow(self, face: _Face, here: _Points, stop: float, way: int) -> None:
        nodes, step = [here], abs(stop - here.beta[0]) / 8
        while True:
            beta = float(here.beta[0])
            left = abs(stop - beta)
            if left <= SHORT:
                return self._close(face, nodes)
            step = min(step, left)
            new = face.onward(here, np.array([stop if step == left else beta + way * step]))
            moved, by = new.w - here.w, way * step
            far = np.abs(moved - by * here.dw).max()
            bent = np.abs(moved - 0.5 * by * (here.dw + new.dw)).max()
            reach = step * max(np.abs(here.dw).max(), np.abs(new.dw).max())
            # a long way from where the tangents point there may be another optimum
            if not (far <= 1e-9 + 0.25 * reach and bent <= 1e-9 + 0.05 * reach and far <= 0.05 and face.lowest(new)):
                step /= 4
                if step < FOLD:
                    return self._close(face, nodes)
                continue
            between = face.dip(here, new) if face.margin(new) >= -ZERO and step > FOLD else None
            if between is not None:
                new = face.onward(here, np.array([between]))
            if face.margin(new) >= -ZERO:
                nodes.append(new)
                here, step = new, 2 * step
                continue
            last = _event(face, here, new)
            event = float(last.beta[0])
            nodes.append(last)
            self._close(face, nodes)
            follower = _after(face, last, way)
            if follower is None:
                return None
            face, here = follower
            nodes, step = [here], max(abs(stop - event) / 8, SHORT)

    def _close(self, face: _Face, nodes: list[_Points]) -> None:
        self.reached = float(nodes[-1].beta[0])
        betas = np.array([x.beta[0] for x in nodes])
        if abs(betas[-1] - betas[0]) <= SHORT:
            return
        order = np.argsort(betas)
        full = np.zeros((betas.size, face.pool.a.size))
        full[:, face.on] = [x.w[0] for x in nodes]
        etas = np.array([x.eta[0] for x in nodes])
        self.arcs.append(
            Arc(face.pool, float(betas.min()), float(betas.max()), face.support, betas[order], full[order], etas[order])
        )

    def at(self, beta: float) -> np.ndarray:
        """Weights (K,)."""
        for arc in self.arcs:
            if arc.low <= beta <= arc.high:
                return arc.at(beta)
        near = min(self.arcs, key=lambda arc: min(abs(arc.low - beta), abs(arc.high - beta)))
        return near.at(min(max(beta, near.low), near.high))


def _after(face: _Face, last: _Points, way: int) -> tuple[_Face, _Points] | None:
    """The support beyond an event: of the systems that take part, those whose weight would grow from zero."""
    weight = np.full(face.pool.a.size, np.nan)
    weight[face.on] = last.w[0]
    state = np.where(np.isnan(weight), last.idle[0], weight)
    part = np.flatnonzero(state <= TOUCH)
    sure = np.setdiff1d(face.on, part)
    found = []
    for chosen in product((False, True), repeat=part.size) if part.size <= 10 else ():
        on = np.sort(np.append(sure, part[list(chosen)])).astype(int)
        if on.size < 3 or tuple(on) == face.support:
            continue
        other = _Face(face.pool, tuple(int(k) for k in on))
        start = other.newton(last.beta, np.nan_to_num(weight)[on][None], last.eta)
        if not (np.abs(start.w[0] - np.nan_to_num(weight)[on]).max() < 1e-6 and other.lowest(start)):
            continue
        ahead = other.onward(start, last.beta + way * 1e-9)  # weights and multipliers that are zero must not fall
        grown = np.where(np.isin(part, on), _on_all(other, ahead.w)[0, part], ahead.idle[0, part])
        before = np.where(np.isin(part, on), _on_all(other, start.w)[0, part], start.idle[0, part])
        if (grown - before).min() >= -1e-15:
            found.append((float((grown - before).min()), other, start))
    if not found:
        return None
    _, other, start = max(found, key=lambda x: x[0])
    return other, start


def _on_all(face: _Face, w: np.ndarray) -> np.ndarray:
    out = np.zeros((len(w), face.pool.a.size))
    out[:, face.on] = w
    return out


# --- the whole range --------------------------------------------------------------------------------------------------


class _Anchor(NamedTuple):
    """A target whose optimum is proven, on its support."""

    beta: float
    face: _Face
    point: _Points


class _Part(NamedTuple):
    """What lies between two anchors, or between an anchor and an end."""

    arcs: list[Arc]
    jumps: list[Jump]
    forks: list[float]

    def and_(self, other: _Part) -> _Part:
        return _Part(self.arcs + other.arcs, self.jumps + other.jumps, self.forks + other.forks)


class _Joined(NamedTuple):
    """What joins two anchors; or a target to solve first; and where the arcs came out, if not at the second anchor."""

    part: _Part
    more: float | None = None
    arrived: _Anchor | None = None


class _Walk:
    """The path as far as it is known: proven optima, and what joins neighbours."""

    def __init__(self, pool: Standard, a: np.ndarray, f: np.ndarray, low: float, high: float) -> None:
        self.pool, self.a, self.f, self.low, self.high = pool, a, f, low, high
        self.proven: dict[float, float] = {}  # target: the least Σw²
        self.unproven: set[float] = set()
        self.anchors: dict[float, _Anchor] = {}
        self.known: dict[tuple[float, float], _Part] = {}
        self.whole = _Part([], [], [])

    def ask(self, betas: ArrayLike, known: Callable[[np.ndarray], np.ndarray] | None = None) -> bool:
        """Solve for targets not asked before. One whose Σw² is not what is known becomes an anchor; whether any did."""
        new = np.array([x for x in np.ravel(betas) if x not in self.proven and x not in self.unproven])
        if not new.size:
            return False
        found = reweight_many(self.a[None], self.f[None], new[None])
        before = np.full(new.size, np.inf) if known is None else known(new)
        news = False
        for n, beta in enumerate(new.tolist()):
            w = found.weights[0, n]
            if not found.proven[0, n]:
                self.unproven.add(beta)
                continue
            self.proven[beta] = float(w @ w)
            # better, or what is known is no weighting at all; next to an end digits of β count, hence not TIE
            if not 1 - TIE <= self.proven[beta] / before[n] <= 1 + 1e-6:
                anchor = _settled(self.pool, beta, w, float(found.eta[0, n]) * self.pool.scale**2)
                if anchor is not None:
                    self.anchors[beta] = anchor
                    news = True
        return news

    def assemble(self) -> None:
        """The path between all anchors, and on to the ends; more anchors where they are missing."""
        for _ in range(ROUNDS):
            if not self.anchors:
                raise NotProven("no target of this pool could be solved, so there is no place to start a path from")
            self.whole, open_, x = _Part([], [], []), 0, None
            for y in [*(self.anchors[beta] for beta in sorted(self.anchors)), None]:
                low, high = self.low if x is None else x.beta, self.high if y is None else y.beta
                if (low, high) in self.known:
                    part = self.known[low, high]
                else:
                    part, more, arrived = self._join(x, y, low, high)
                    if more is not None:
                        open_ += 1
                        self.ask([more])
                    else:
                        self.known[low, high] = part
                    if arrived is not None:  # another optimum as good as the anchor: go on from there
                        y = self.anchors[high] = arrived
                        self.known = {key: value for key, value in self.known.items() if key[0] != high}
                self.whole = self.whole.and_(part)
                x = y
            if not open_:
                return

    def _join(self, x: _Anchor | None, y: _Anchor | None, low: float, high: float) -> _Joined:
        """The arcs from one anchor to the next, or a target to look at first. None stands for an end of the range."""
        none = _Part([], [], [])
        if x is None or y is None:
            here = x or y
            assert here is not None
            end = high if y is None else low
            chain = _Chain(here.face, here.point, end)
            gap = abs(chain.reached - end)
            more = self._fresh(0.5 * (chain.reached + end)) if gap > CLOSE else None
            return _Joined(_Part(chain.arcs, [], []), more)
        if y.beta - x.beta <= CLOSE:
            one, two = (_on_all(z.face, z.point.w)[0] for z in (x, y))
            return _Joined(
                _Part([], [Jump(x.beta, one, two, _lost(one, two))] if np.abs(one - two).sum() > 1e-2 else [], [])
            )
        right = _Chain(x.face, x.point, y.beta)
        if abs(right.reached - y.beta) <= SHORT and right.arcs:
            w = right.at(y.beta)
            if np.abs(w[y.face.on] - y.point.w[0]).sum() < 1e-7:
                return _Joined(_Part(right.arcs, [], []))
            if w @ w <= y.point.P[0] * (1 + TIE):
                arc = right.arcs[-1]
                arrived = _settled(self.pool, y.beta, w, float(arc.eta(arc.high)) * self.pool.scale**2)
                if arrived is not None:
                    return _Joined(_Part(right.arcs, [], []), arrived=arrived)
        left = _Chain(y.face, y.point, x.beta)
        if left.arcs and abs(left.reached - x.beta) <= SHORT:
            if np.abs(left.at(x.beta)[x.face.on] - x.point.w[0]).sum() < 1e-7:
                return _Joined(_Part(left.arcs, [], []))
        if not (left.arcs and right.arcs):
            return _Joined(none, self._fresh(0.5 * (x.beta + y.beta)))
        start, stop = left.reached, right.reached  # where both exist
        if start > stop:
            if start - stop > CLOSE:
                return _Joined(none, self._fresh(0.5 * (start + stop)))
            one, two = right.at(stop), left.at(start)
            fork = np.abs(one - two).sum() < 1e-2
            jump = [] if fork else [Jump(stop, one, two, _lost(one, two))]
            return _Joined(_Part(right.arcs + left.arcs, jump, [stop] if fork else []))

        def behind(beta: float) -> float:
            """How much worse the chain from the left is."""
            return float((right.at(beta) ** 2).sum() - (left.at(beta) ** 2).sum())

        if behind(start) > 0 or behind(stop) < 0:  # the better chain ends before the other takes over: a drop,
            # unless the optimum goes on from there in a way that no chain has found: look a little beyond
            first = behind(start) > 0
            tie, other, chain = (start, x.beta, right) if first else (stop, y.beta, left)
            beyond = tie + np.array([0.3, 1e-2, 1e-4]) * (other - tie)
            if abs(other - tie) <= CLOSE:
                return _Joined(none, self._fresh(0.5 * (x.beta + y.beta)))
            if self.ask(beyond, lambda beta: np.array([float((chain.at(z) ** 2).sum()) for z in beta])):
                return _Joined(none, tie)
        else:
            tie = _root(behind, start, stop)
        one, two = right.at(tie), left.at(tie)
        best = min(float(one @ one), float(two @ two))
        if self.ask(
            [tie], lambda beta: np.full(beta.size, best)
        ):  # a third is better than both; where systems drop out, so is the line itself
            return _Joined(none, tie)
        arcs = _cut(right.arcs, x.beta, tie) + _cut(left.arcs, tie, y.beta)
        ends = [z for z in (left.reached, right.reached) if x.beta + CLOSE < z < y.beta - CLOSE]
        forked = any(abs(tie - z) <= CLOSE for z in ends)  # a local optimum ends here
        if np.abs(one - two).sum() < (1e-2 if forked else 1e-6):
            return _Joined(_Part(arcs, [], [tie] if forked else []))
        return _Joined(_Part(arcs, [Jump(tie, one, two, _lost(one, two))], []))

    def _fresh(self, beta: float) -> float | None:
        """A target near this one that has not been asked."""
        for by in (0, 1e-3, -1e-3, 0.1, -0.1):
            trial = beta + by * min(beta - self.low, self.high - beta)
            if trial not in self.proven and trial not in self.unproven:
                return trial
        return None

    def here(self, betas: np.ndarray) -> np.ndarray:
        """Σw² of the path as it is at targets (T,); infinite where there is none."""
        out = np.full(betas.size, np.inf)
        for slack in (SHORT, CLOSE):
            missing = np.isinf(out)
            for arc in self.whole.arcs:
                mine = missing & (betas >= arc.low - slack) & (betas <= arc.high + slack)
                if mine.any():
                    out[mine] = np.minimum(out[mine], 1 / arc.ess(np.clip(betas[mine], arc.low, arc.high)))
        return out

    def wanted(self, share: float) -> np.ndarray:
        """Targets so dense that between them, on each arc, ESS changes by at most this share."""
        out = [self.low, self.high]
        for arc in self.whole.arcs:
            edge = 1e-6 * (arc.high - arc.low)
            beta = np.linspace(arc.low + edge, arc.high - edge, 33)
            log = np.log(arc.ess(beta))
            count = 2 + int(np.ceil(abs(log[-1] - log[0]) / (0.9 * share)))
            order = np.argsort(log)
            out += np.interp(np.linspace(log[0], log[-1], count), log[order], beta[order]).tolist()
        return np.array(out)

    def quality(self, natural: float) -> tuple[float, float]:
        """The largest excess of Σw² at a check, and what could be hidden between two."""
        beta = np.array(sorted(self.proven))
        P, mine = np.array([self.proven[x] for x in beta]), self.here(beta)
        rise = np.where(beta[:-1] >= natural, mine[1:] / P[:-1], mine[:-1] / P[1:])
        drops = [jump.beta for jump in self.whole.jumps if jump.drop]
        smooth = ~np.array([any(x <= d <= y for d in drops) for x, y in pairwise(beta)])
        return float(np.abs(mine / P - 1).max()), float(rise[smooth].max(initial=1) - 1)


def _settled(pool: Standard, beta: float, w: np.ndarray, eta: float) -> _Anchor | None:
    """The solution of the equations next to a proven optimum, on the support that its multipliers confirm."""
    on = w > ZERO
    for _ in range(pool.a.size):
        if on.sum() < 3 or not np.isfinite(eta):
            return None
        face = _Face(pool, tuple(int(k) for k in np.flatnonzero(on)))
        point = face.newton(np.array([beta]), w[None, on], np.array([eta]))
        if not (face.lowest(point) and np.abs(point.w[0] - w[on]).max() < 1e-4):
            return None
        if face.margin(point) >= -ZERO:
            return _Anchor(beta, face, point)
        w, eta = np.maximum(0, _on_all(face, point.w)[0]), float(point.eta[0])
        on = np.where(on, w > 0, point.idle[0] < -ZERO)
    return None


def _cut(arcs: list[Arc], low: float, high: float) -> list[Arc]:
    """The arcs between two targets, the outer ones shortened."""
    return [
        replace(arc, low=max(arc.low, low), high=min(arc.high, high))
        for arc in arcs
        if min(arc.high, high) - max(arc.low, low) > SHORT
    ]


def _lost(one: np.ndarray, two: np.ndarray) -> float:
    """The difference of two effective sample sizes, zero within what a proof tells apart."""
    x, y = float(1 / (one @ one)), float(1 / (two @ two))
    return abs(x - y) if abs(x - y) > TIE * 4 * x else 0.0


def _merged(whole: _Part) -> list[Arc]:
    """Neighbours with one support that no jump or fork parts, made one."""
    out: list[Arc] = []
    apart = {*(jump.beta for jump in whole.jumps), *whole.forks}
    for arc in whole.arcs:
        last = out[-1] if out else None
        near = last is not None and last.support == arc.support and abs(arc.low - last.high) <= CLOSE
        if last and near and not any(abs(x - arc.low) <= CLOSE for x in apart):
            both = (np.concatenate(x) for x in zip(_inner(last), _inner(arc), strict=True))
            out[-1] = Arc(arc.pool, last.low, arc.high, arc.support, *both)
        else:
            out.append(arc)
    return out


def _inner(arc: Arc) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The nodes an arc still needs after it has been cut."""
    at = np.arange(arc.betas.size)
    keep = (at >= np.searchsorted(arc.betas, arc.low, "right") - 1) & (at <= np.searchsorted(arc.betas, arc.high))
    return arc.betas[keep], arc.nodes[keep], arc.etas[keep]
