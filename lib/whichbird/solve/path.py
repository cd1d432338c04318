"""The whole path of best weightings: w*(β) from one end of the range to the other, arc by arc, from proven targets alone.

Along β the best weighting keeps a support for a while, and there it is the solution of as many equations as unknowns,

    w_k + η g_k + λ = 0 on the support,   Σ w = 1,   b(w, β) = 0,   g_k = (1−β)(a_k − A)² − β(f_k − F)²,

A and F the weighted means. Newton's method solves them to all digits from a start nearby, and one linear system with
the same matrix gives dw/dβ: that is an **arc**. It ends where a weight reaches zero, or where the multiplier λ + η
g_k of an idle system does; there the next arc begins with another support. So an arc is a local optimum. It may stop
being the best one, and then w* **jumps**: two arcs have the same Σw² there.

`reweight_many` proves the optimum at a few targets. Two neighbours are joined if they lie on one arc, if their arcs end
at one place, or if the two are equally good at one place between them; else a target between them is proven, too.

**What is proven, and what is not.** Every node of an arc is a proven optimum, so dense that between two of them the
effective sample size changes by at most the share `checks`. As ESS* falls away from the natural balance, this bounds
what a jump away and back between two nodes could hide: nowhere is ESS* more than this share above the path's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from ..core import check
from ..core.balance import (
    EPS,
    Standard,
    balance,
    from_std_balance,
    in_unit,
    out_of_reach,
    reachable,
    solvable,
    std_balance,
)
from .result import NotProven
from .reweight import TIE, reweight_many

START = 24  # targets that are proven first
PATH_ROUNDS = 80  # of proving more where neighbours do not join; halving a range forty times leaves MEET of it
INSIDE = (
    0.5,
    0.4,
    0.6,
    0.25,
    0.75,
)  # where a target is put between neighbours, one after the other if none becomes a node
ZERO = 1e-13  # a weight this small is rounding
NEWTON = 40  # steps; six are usual, next to a fork each only halves the error
SHORT = 1e-13  # a step of β this short is none
MEET = 1e-9  # arcs that end this near to each other, or to an end of the range, meet there
NEXT = 1e-6  # share of the range next to the end of an arc that is looked at before ESS* is said to drop there
DROP = 4e-9  # relative difference of Σw² above which it is no rounding


class Points(NamedTuple):
    """N solutions on one support of m systems: targets, weights (N, m), η, and their derivatives by β.

    `idle` (N, K) is λ + ηg: minus the weight on the support, the multiplier of a system off it. `bend` (N,) is negative
    where the solution is no local optimum on its support.
    """

    beta: np.ndarray
    w: np.ndarray
    eta: np.ndarray
    dw: np.ndarray
    deta: np.ndarray
    idle: np.ndarray
    bend: np.ndarray


class Face(NamedTuple):
    """The equations of one support, `on` (m,): for targets (N,) at a time, weights (N, m)."""

    pool: Standard
    on: np.ndarray

    def full(self, w: np.ndarray) -> np.ndarray:
        """Weights (N, K) from weights (N, m) on the support."""
        out = np.zeros((len(w), self.pool.a.size))
        out[:, self.on] = np.maximum(0, w)
        return out

    def _parts(self, beta: np.ndarray, w: np.ndarray, eta: np.ndarray) -> tuple[np.ndarray, ...]:
        """The matrix of the equations (N, m + 2, m + 2), g and its derivative by β (both (N, K)), the scale of g."""
        t, m = beta[:, None], self.on.size
        a, f = (x - (w @ x[self.on])[:, None] for x in (self.pool.a, self.pool.f))
        g, dg = (1 - t) * a * a - t * f * f, -(a * a + f * f)
        a, f = a[:, self.on], f[:, self.on]
        unit = np.maximum(np.abs(g[:, self.on]).max(1), 1e-300)  # rows of one size, whatever η is
        matrix = np.zeros((beta.size, m + 2, m + 2))
        curved = t[:, :, None] * f[:, :, None] * f[:, None, :] - (1 - t)[:, :, None] * a[:, :, None] * a[:, None, :]
        matrix[:, :m, :m] = np.eye(m) + 2 * eta[:, None, None] * curved
        matrix[:, :m, m] = matrix[:, m, :m] = g[:, self.on] / unit[:, None]
        matrix[:, :m, m + 1] = matrix[:, m + 1, :m] = 1
        return matrix, g, dg, unit

    def newton(self, beta: np.ndarray, w: np.ndarray, eta: np.ndarray) -> Points:
        """Solutions next to (w, η); NaN where the method does not settle."""
        m, w, eta = self.on.size, w.copy(), eta.copy()
        live, before = np.ones(beta.size, bool), np.full(beta.size, np.inf)
        with np.errstate(all="ignore"):
            for _ in range(NEWTON):
                matrix, g, _, unit = self._parts(beta, w, eta)
                here = g[:, self.on]
                rest = np.column_stack((w + eta[:, None] * here, (w * here).sum(1) / unit, w.sum(1) - 1))
                step = -_solve(matrix, rest)
                size = np.abs(step[:, :m]).max(1)
                live &= np.isfinite(size) & ~((size >= before) & (size < 1e-12))  # what does not shrink is rounding
                w[live] += step[live, :m]
                eta[live] += (step[:, m] / unit)[live]
                before = size
                if not (live & (size > 1e-13)).any():  # the digits double: what is left is less than rounding
                    break
            matrix, g, dg, unit = self._parts(beta, w, eta)
            here, dg = g[:, self.on], dg[:, self.on]
            lam = -(w + eta[:, None] * here).mean(1)
            rest = np.column_stack((w + eta[:, None] * here + lam[:, None], (w * here).sum(1) / unit, w.sum(1) - 1))
            w[~(np.abs(rest).max(1) < 1e-12 * (1 + np.abs(eta) * unit))] = np.nan
            slope = _solve(matrix, -np.column_stack((eta[:, None] * dg, (w * dg).sum(1) / unit, 0 * beta)))
        good = np.isfinite(w).all(1)
        bend = np.full(beta.size, -np.inf)
        values = np.linalg.eigvalsh(matrix[good])  # at a local optimum just two are negative
        bend[good] = np.where(values[:, 1] < 0, values[:, 2] / values[:, -1], -1)
        return Points(beta, w, eta, slope[:, :m], slope[:, m] / unit, lam[:, None] + eta[:, None] * g, bend)

    def onward(self, here: Points, beta: float) -> Points:
        """From one solution along its tangent to another target."""
        by = beta - here.beta
        return self.newton(here.beta + by, here.w + by[:, None] * here.dw, here.eta + by * here.deta)

    def margin(self, point: Points) -> float:
        """The smallest weight, multiplier of an idle system, or bend of one solution: negative beyond the arc's end."""
        off = np.delete(point.idle[0], self.on)
        value = min(point.w[0].min(), off.min(initial=np.inf), point.bend[0])
        return float(value) if np.isfinite(value) else -np.inf


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
        """Weights, their derivatives and η, from the chord between the two nodes around a target."""
        target = np.asarray(beta, float)
        flat = target.ravel()
        for x in flat[~((flat >= self.low - SHORT) & (flat <= self.high + SHORT))][:1]:
            raise ValueError(f"beta is {x:.10g}; this arc runs from {self.low:.10g} to {self.high:.10g}")
        face = Face(self.pool, np.array(self.support))
        at = np.clip(np.searchsorted(self.betas, flat), 1, self.betas.size - 1)
        share = (flat - self.betas[at - 1]) / (self.betas[at] - self.betas[at - 1])
        w, eta = (x[at - 1] + (share * (x[at] - x[at - 1]).T).T for x in (self.nodes[:, face.on], self.etas))
        point = face.newton(flat, w, eta)
        lost = np.isnan(point.w).any(1)  # at a fold or a fork the matrix is singular; the node itself is as good there
        point.w[lost], point.eta[lost] = w[lost], eta[lost]
        weights, slope = face.full(point.w), np.zeros((flat.size, self.pool.a.size))
        slope[:, face.on] = point.dw
        return weights.reshape(*target.shape, -1), slope.reshape(*target.shape, -1), point.eta.reshape(target.shape)


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
    relative difference from its Σw² there (next to an end Σw² is so steep that the last digits of β show). `hidden`: the
    share of ESS that a jump away and back between two checks could hide at most (next to a drop nothing is said).

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
        return self._ask(beta, Arc.at)

    def slope(self, beta: ArrayLike) -> np.ndarray:
        """dw/dβ at targets (T,) or at one. Where two arcs meet, that of the side of the natural balance."""
        return self._ask(beta, Arc.slope)

    def ess(self, beta: ArrayLike) -> np.ndarray:
        """ESS* at targets (T,) or at one."""
        return np.asarray(1 / (self.at(beta) ** 2).sum(-1))

    def interval(self, ess: float) -> tuple[float, float]:
        """The targets whose best weighting keeps an effective sample size of at least `ess`, as `beta_interval`."""
        size = self.arcs[0].pool.a.size
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
                return _root(lambda beta, arc=arc: float(arc.ess(beta)) - ess, near, far)  # type: ignore[misc]
            inner = far
        return inner

    def _ask(self, beta: ArrayLike, what: Callable[[Arc, np.ndarray], np.ndarray]) -> np.ndarray:
        target = np.asarray(beta, float)
        flat = np.array([in_unit(x) for x in target.ravel()])
        for x in flat[~((flat >= self.low - SHORT) & (flat <= self.high + SHORT))][:1]:
            raise out_of_reach(x, self.low, self.high)
        starts, stops = (np.array([getattr(arc, name) for arc in self.arcs]) for name in ("low", "high"))
        above = np.minimum(np.searchsorted(stops, flat, "left"), len(self.arcs) - 1)
        below = np.maximum(np.searchsorted(starts, flat, "right") - 1, 0)
        which = np.where(flat > self.natural, above, below)
        out = np.empty((flat.size, self.arcs[0].pool.a.size))
        for n in np.unique(which):
            mine = which == n
            out[mine] = what(self.arcs[n], np.clip(flat[mine], self.arcs[n].low, self.arcs[n].high))
        return out.reshape(*target.shape, -1)


def path(adequacy: ArrayLike, fluency: ArrayLike, checks: float = 0.02) -> Path:
    """The best weightings of a pool through its whole range: arcs of one support each, and jumps between them.

    `adequacy`, `fluency`: (K,) system scores, not all on one line. `checks`: an optimum is proven wherever the effective
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
    walk = _Walk(pool, a, f, low, high, natural)
    grid = np.array([from_std_balance(x) for x in np.linspace(std_balance(low), std_balance(high), START + 2)[1:-1]])
    wanted = np.concatenate(([low, high, natural], grid[(grid > low) & (grid < high)]))
    for _ in range(PATH_ROUNDS):
        if not walk.ask(wanted):
            break
        wanted = walk.wanted(checks)
    return walk.path()


# --- the whole range --------------------------------------------------------------------------------------------------


class _Node(NamedTuple):
    """A proven optimum, or a place on its arc."""

    face: Face
    point: Points

    @property
    def beta(self) -> float:
        return float(self.point.beta[0])

    @property
    def w(self) -> np.ndarray:
        return np.asarray(self.face.full(self.point.w)[0])

    @property
    def P(self) -> float:
        return float((self.point.w**2).sum())

    def at(self, beta: float) -> _Node:
        """The place on the same arc at another target, by the tangent alone where Newton's method does not settle."""
        new, by = self.face.onward(self.point, beta), beta - self.beta
        if np.isnan(new.w).any():
            new = self.point._replace(beta=np.array([beta]), w=self.point.w + by * self.point.dw)
        return _Node(self.face, new)

    def reach(self, stop: float) -> _Node | None:
        """How far the arc goes towards a target; None if that is too far to tell."""

        def margin(beta: float) -> float:
            return max(-1.0, self.face.margin(self.face.onward(self.point, beta)))

        old, new, by = self.point, self.face.onward(self.point, stop), stop - self.beta
        bent = np.abs(new.w - old.w - 0.5 * by * (old.dw + new.dw)).max()
        if not bent <= 1e-9 + 0.05 * abs(by) * max(np.abs(old.dw).max(), np.abs(new.dw).max()):
            return None
        if self.face.margin(new) >= -ZERO:
            return _Node(self.face, new)
        return self.at(_root(margin, self.beta, stop)) if self.face.margin(old) > 0 else self

    def same(self, other: _Node) -> bool:
        return bool(np.abs(self.w - other.w).sum() < 1e-7)


class _Joint(NamedTuple):
    """Where two arcs meet, each there, and at a fork more places of the one that begins; without `left` and `right` the two
    neighbours are on one arc, or a target from `low` to `high` should be proven first."""

    left: _Node | None = None
    right: _Node | None = None
    grown: tuple[_Node, ...] = ()
    low: float = 0.0
    high: float = 0.0


class _Walk:
    """The path as far as it is known: proven optima, and what joins neighbours."""

    def __init__(self, pool: Standard, a: np.ndarray, f: np.ndarray, low: float, high: float, natural: float) -> None:
        self.pool, self.a, self.f, self.low, self.high, self.natural = pool, a, f, low, high, natural
        self.proven: dict[float, float] = {}  # target: the least Σw²
        self.unproven: set[float] = set()
        self.nodes: dict[float, _Node] = {}
        self.joints: dict[tuple[float, float], _Joint] = {}

    def ask(self, betas: np.ndarray) -> bool:
        """Prove the optimum at targets not asked before; whether there are any. Where arcs meet it is none to start from,
        unless it is better than both."""
        ends = {z.beta: z.P for joint in self.joints.values() for z in joint[:2] if z is not None}
        new = np.array([x for x in np.unique(betas) if x not in self.proven and x not in self.unproven])
        if not new.size:
            return False
        found = reweight_many(self.a[None], self.f[None], new[None])
        for n, beta in enumerate(new.tolist()):
            if found.proven[0, n]:
                w = found.weights[0, n]
                self.proven[beta] = float(w @ w)
                node = _settled(self.pool, beta, w, float(found.eta[0, n]) * self.pool.scale**2)
                if node is not None and self.low < beta < self.high and w @ w < ends.get(beta, np.inf) * (1 - TIE):
                    self.nodes[beta] = node
            else:
                self.unproven.add(beta)
        return True

    def wanted(self, share: float) -> np.ndarray:
        """Targets to prove next: where neighbours do not join, and where ESS changes by more than a share."""
        out = [self.low]
        asked = np.array(sorted({*self.proven, *self.unproven}))
        for low, high in pairwise([self.low, *sorted(self.nodes), self.high]):
            if (low, high) not in self.joints:
                tried = int(((asked > low) & (asked < high)).sum())
                joint = self._join(low, high, high - low <= MEET or tried >= len(INSIDE))
                if joint.low < joint.high:
                    out.append(joint.low + INSIDE[tried] * (joint.high - joint.low))
                else:
                    self.joints[low, high] = joint
        known = np.array(sorted(self.proven))
        log = np.log([self.proven[x] for x in known.tolist()])
        count = np.ceil(np.abs(np.diff(log)) / (0.5 * np.log1p(share)))
        drops = [
            z.left.beta for z in self.joints.values() if z.left and z.right and abs(z.left.P / z.right.P - 1) > DROP
        ]
        count[[np.searchsorted(known, x, "right" if x > self.natural else "left") - 1 for x in drops]] = 0
        for n in np.flatnonzero(count > 1) if len(out) == 1 else ():
            out += np.linspace(known[n], known[n + 1], int(min(count[n], 8)) + 1)[1:-1].tolist()
        if len(out) == 1:
            out += [joint.left.beta for joint in self.joints.values() if joint.left is not None]
        return np.array(out)

    def _join(self, low: float, high: float, last: bool) -> _Joint:
        """How two neighbours join, or an end of the range and its neighbour; `last` if nothing more can be proven between."""
        x, y = self.nodes.get(low), self.nodes.get(high)
        if x is None or y is None:
            here, end = (y, low) if x is None else (x, high)
            if here is None:
                raise NotProven("no target of this pool could be solved, so there is no place to start a path from")
            there = here.reach(end)
            if last or there is not None and abs(there.beta - end) <= MEET:
                return _Joint()
            return _open(end, here.beta if there is None else there.beta)
        right, left = x.reach(high), y.reach(low)
        if right is not None and right.beta == high and right.P <= y.P * (1 + TIE) and self._clear(x, y):
            if not right.same(y):  # an optimum as good: go on from there
                self.joints = {key: joint for key, joint in self.joints.items() if key[0] != high}
                self.nodes[high] = right
            return _Joint()
        near, far = (right, y) if x.beta >= self.natural else (left, x)
        if near is not None and abs(near.point.bend[0]) < 1e-9 and (grown := _grown(near, far)):
            return _Joint(near, near, grown)
        if last:  # nothing can be proven between: the arc of the side of β₀ goes on as far as it can
            at = 0.5 * (low + high) if near is None else near.beta
            return _Joint(x.at(at), y.at(at))
        if right is None or left is None:
            return _open(low, high)
        start, stop = left.beta, right.beta  # where both exist
        if abs(start - stop) <= MEET and right.same(left):
            at = stop if stop >= self.natural else start
            return _Joint(right.at(at), left.at(at))
        if start >= stop:
            return _open(low, high) if start == stop else _open(stop, start)

        def behind(beta: float) -> float:
            """How much worse the arc from the left is."""
            return x.at(beta).P - y.at(beta).P

        drop, step = behind(start) > TIE or behind(stop) < -TIE, NEXT * (self.high - self.low)
        on = near.w > NEXT if near is not None and drop else np.zeros(0, bool)
        if near is not None and on.any() and np.ptp(near.w[on]) < NEXT and abs(far.beta - near.beta) <= step:
            place = balance(self.a[on], self.f[on])  # equal weights on a line: ESS* drops
            return _Joint(x.at(place), y.at(place))
        if drop:  # unless another arc begins there
            return _open(max(low, start - step), start) if behind(start) > 0 else _open(stop, min(high, stop + step))
        tie = (
            _root(behind, start, stop)
            if behind(start) < 0 < behind(stop)
            else min(start, stop, key=lambda z: abs(behind(z)))
        )
        return _Joint(x.at(tie), y.at(tie))

    @staticmethod
    def _clear(x: _Node, y: _Node) -> bool:
        """Whether no weight or multiplier is negative at places between."""
        inside = [x.at(x.beta + share * (y.beta - x.beta)) for share in (0.25, 0.5, 0.75)]
        return y.beta - x.beta <= MEET or all(z.face.margin(z.point) >= -ZERO for z in inside)

    def path(self) -> Path:
        arcs, jumps, forks = [], [], []
        betas = sorted(self.nodes)
        run, low = [self.nodes[betas[0]]], self.low
        run = [run[0].at(low), *run]
        for one, two in pairwise(betas):
            joint, y = self.joints.get((one, two), _Joint()), self.nodes[two]
            if joint.left is None or joint.right is None:
                run.append(y)
                continue
            at = joint.left.beta
            arcs.append(_arc([*run, *(z for z in joint.grown if z.beta < at), joint.left], low, at))
            run, low = [joint.right, *(z for z in joint.grown if z.beta > at), y], at
            if joint.grown:
                forks.append(at)
            elif not joint.left.same(joint.right):
                jumps.append(Jump(low, joint.left.w, joint.right.w, _lost(joint.left.w, joint.right.w)))
        arcs.append(_arc([*run, run[-1].at(self.high)], low, self.high))
        checked = np.array(sorted(self.proven))
        unproven = np.array(sorted(self.unproven))
        ends = self.low, self.high, self.natural
        out = Path(tuple(arcs), tuple(jumps), np.array(forks), *ends, checked, unproven, 0.0, 0.0)
        P, mine = np.array([self.proven[x] for x in checked]), 1 / out.ess(checked)
        rise = np.where(checked[:-1] >= self.natural, mine[1:] / P[:-1], mine[:-1] / P[1:])
        drops = [jump.beta for jump in jumps if jump.drop]
        smooth = ~np.array([any(x <= d <= y for d in drops) for x, y in pairwise(checked)])
        return replace(out, excess=float(np.abs(mine / P - 1).max()), hidden=float(rise[smooth].max(initial=1) - 1))


def _settled(pool: Standard, beta: float, w: np.ndarray, eta: float) -> _Node | None:
    """The solution of the equations next to a proven optimum, on the support that its multipliers confirm."""
    on = w > ZERO
    for _ in range(pool.a.size):
        if on.sum() < 3 or not np.isfinite(eta):
            return None
        face = Face(pool, np.flatnonzero(on))
        point = face.newton(np.array([beta]), w[None, on], np.array([eta]))
        if not (point.bend[0] > 1e-12 and np.abs(point.w[0] - w[on]).max() < 1e-4):
            return None
        if face.margin(point) >= -ZERO:
            return _Node(face, point)
        w, eta = face.full(point.w)[0], float(point.eta[0])
        on = np.where(on, w > 0, point.idle[0] < -ZERO)
    return None


def _open(one: float, other: float) -> _Joint:
    """Two arcs that are not joined: something is to be proven between two targets."""
    return _Joint(low=min(one, other), high=max(one, other))


def _grown(fork: _Node, far: _Node) -> tuple[_Node, ...]:
    """The arc that grows out of a fork like a square root, from a place on it back to the fork, in order; empty if none does."""
    out, here = [], far
    while abs(here.beta - fork.beta) > SHORT:
        beta, on = fork.beta + (here.beta - fork.beta) / 4, far.face.on
        w, eta = fork.w + (here.w - fork.w) / 2, fork.point.eta + (here.point.eta - fork.point.eta) / 4
        here = _Node(far.face, far.face.newton(np.array([beta]), w[None, on], eta))
        if not here.face.margin(here.point) >= -ZERO:
            break
        out.append(here)
    reached = out and np.abs(out[-1].w - fork.w).sum() < 1e-5
    return tuple(sorted(out, key=lambda z: z.beta)) if reached else ()


def _arc(run: list[_Node], low: float, high: float) -> Arc:
    run = [z for z, before in zip(run, [None, *run], strict=False) if before is None or z.beta > before.beta]
    nodes, etas = np.array([z.w for z in run]), np.array([z.point.eta[0] for z in run])
    face = run[0].face
    return Arc(face.pool, low, high, tuple(face.on.tolist()), np.array([z.beta for z in run]), nodes, etas)


def _lost(one: np.ndarray, two: np.ndarray) -> float:
    """The difference of two effective sample sizes, zero within what a proof tells apart."""
    x, y = float(1 / (one @ one)), float(1 / (two @ two))
    return abs(x - y) if abs(x - y) > DROP * x else 0.0
