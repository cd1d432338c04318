"""Arcs of the path of best weightings: one support each, followed by Newton's method and its tangent.

See `path`, which puts them together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from ..core.balance import EPS, Standard

TOUCH = 1e-10  # a weight or multiplier this small at an event takes part in it
ZERO = 1e-13  # a weight this small is rounding
NEWTON = 40  # steps; six are usual, next to a fork each only halves the error
SHORT = 1e-13  # a step of β this short is none
FOLD = 1e-11  # steps grow short before a fold or a fork, where a local optimum ends; the rest is left out
MEET = 1e-9  # chains that end this near to each other, or to an end of the range, meet there


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
        face = Face(self.pool, self.support)
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
            if away <= MEET and np.isnan(point.w[n]).any():
                point.w[n], point.eta[n] = self.nodes[near[0], face.on], self.etas[near[0]]
        w, dw = np.zeros((2, flat.size, self.pool.a.size))
        w[:, face.on], dw[:, face.on] = np.maximum(0, point.w), point.dw
        return w.reshape(*target.shape, -1), dw.reshape(*target.shape, -1), point.eta.reshape(target.shape)


# --- one arc: Newton's method and the tangent -------------------------------------------------------------------------


class Points(NamedTuple):
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


class Face:
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

    def newton(self, beta: np.ndarray, w: np.ndarray, eta: np.ndarray) -> Points:
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
        return Points(beta, w, eta, dw, deta, lam[:, None] + eta[:, None] * g, didle)

    def onward(self, points: Points, beta: np.ndarray) -> Points:
        """From solutions along their tangents to other targets."""
        by = beta - points.beta
        return self.newton(beta, points.w + by[:, None] * points.dw, points.eta + by * points.deta)

    def lowest(self, points: Points) -> bool:
        """Whether one solution is a strict local optimum on its support: just two eigenvalues are negative."""
        if not np.isfinite(points.w).all():
            return False
        values = np.linalg.eigvalsh(self._parts(points.beta, points.w, points.eta)[0][0])
        return bool(values[1] < 0 and values[2] > 1e-12 * values[-1])

    def margin(self, points: Points) -> float:
        """The smallest weight, or multiplier of an idle system, of one solution: negative beyond the arc's end."""
        value = min(points.w[0].min(), points.idle[0, self.off].min(initial=np.inf))
        return float(value) if np.isfinite(value) else -np.inf

    def dip(self, one: Points, other: Points) -> float | None:
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


def root(value: Callable[[float], float], one: float, other: float) -> float:
    """Where a function with values of two signs at two places is zero, to the last digit."""
    return float(brentq(value, one, other, xtol=1e-16, rtol=4 * EPS))


def _event(face: Face, here: Points, new: Points) -> Points:
    """The end of an arc between a point on it and one beyond: where the smallest weight or multiplier is zero."""

    def margin(beta: float) -> float:
        return face.margin(face.onward(here, np.array([beta])))

    inner, outer = float(here.beta[0]), float(new.beta[0])
    for _ in range(60):  # at the beginning of an arc a weight may be zero; step off it
        if margin(inner) > 0 or abs(outer - inner) <= SHORT:
            break
        middle = 0.5 * (inner + outer)
        inner, outer = (middle, outer) if margin(middle) >= -ZERO else (inner, middle)
    beta = root(margin, inner, outer) if margin(inner) > 0 > margin(outer) else inner
    return face.onward(here, np.array([beta]))


# --- a chain of arcs --------------------------------------------------------------------------------------------------


class Chain:
    """A local optimum followed from a target as far as it exists, at most to another: its arcs, in the order of β."""

    def __init__(self, face: Face, start: Points, stop: float) -> None:
        self.arcs: list[Arc] = []
        self.reached = float(start.beta[0])
        self._follow(face, start, stop, 1 if stop > start.beta[0] else -1)
        self.arcs = self.arcs[:: 1 if stop >= start.beta[0] else -1]

    def _follow(self, face: Face, here: Points, stop: float, way: int) -> None:
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

    def _close(self, face: Face, nodes: list[Points]) -> None:
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


def _after(face: Face, last: Points, way: int) -> tuple[Face, Points] | None:
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
        other = Face(face.pool, tuple(int(k) for k in on))
        start = other.newton(last.beta, np.nan_to_num(weight)[on][None], last.eta)
        if not (np.abs(start.w[0] - np.nan_to_num(weight)[on]).max() < 1e-6 and other.lowest(start)):
            continue
        ahead = other.onward(start, last.beta + way * 1e-9)  # weights and multipliers that are zero must not fall
        grown = np.where(np.isin(part, on), on_all(other, ahead.w)[0, part], ahead.idle[0, part])
        before = np.where(np.isin(part, on), on_all(other, start.w)[0, part], start.idle[0, part])
        if (grown - before).min() >= -1e-15:
            found.append((float((grown - before).min()), other, start))
    if not found:
        return None
    _, other, start = max(found, key=lambda x: x[0])
    return other, start


def on_all(face: Face, w: np.ndarray) -> np.ndarray:
    out = np.zeros((len(w), face.pool.a.size))
    out[:, face.on] = w
    return out
