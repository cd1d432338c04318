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
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..core import check
from ..core.balance import Standard, balance, from_std_balance, in_unit, out_of_reach, reachable, solvable, std_balance
from .arcs import MEET, SHORT, ZERO, Arc as Arc, Chain, Face, Points, on_all, root
from .result import NotProven
from .reweight import TIE, reweight_many

START = 24  # targets from which arcs are followed at first
PATH_ROUNDS = 40  # of putting checks where they are missing


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
                return root(partial(_spare, arc, ess), near, far)
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
        for x in flat[(flat < starts[which] - 10 * MEET) | (flat > stops[which] + 10 * MEET)][:1]:
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
    for _ in range(PATH_ROUNDS):
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


# --- the whole range --------------------------------------------------------------------------------------------------


class _Anchor(NamedTuple):
    """A target whose optimum is proven, on its support."""

    beta: float
    face: Face
    point: Points


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
        for _ in range(PATH_ROUNDS):
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
            return self._to_end(here, high if y is None else low)
        if y.beta - x.beta <= MEET:
            one, two = (on_all(z.face, z.point.w)[0] for z in (x, y))
            return _Joined(
                _Part([], [Jump(x.beta, one, two, _lost(one, two))] if np.abs(one - two).sum() > 1e-2 else [], [])
            )
        right = Chain(x.face, x.point, y.beta)
        if abs(right.reached - y.beta) <= SHORT and right.arcs:
            w = right.at(y.beta)
            if np.abs(w[y.face.on] - y.point.w[0]).sum() < 1e-7:
                return _Joined(_Part(right.arcs, [], []))
            if w @ w <= y.point.P[0] * (1 + TIE):
                arc = right.arcs[-1]
                arrived = _settled(self.pool, y.beta, w, float(arc.eta(arc.high)) * self.pool.scale**2)
                if arrived is not None:
                    return _Joined(_Part(right.arcs, [], []), arrived=arrived)
        left = Chain(y.face, y.point, x.beta)
        if left.arcs and abs(left.reached - x.beta) <= SHORT:
            if np.abs(left.at(x.beta)[x.face.on] - x.point.w[0]).sum() < 1e-7:
                return _Joined(_Part(left.arcs, [], []))
        if not (left.arcs and right.arcs):
            return _Joined(none, self._fresh(0.5 * (x.beta + y.beta)))
        if left.reached - right.reached > MEET:
            return _Joined(none, self._fresh(0.5 * (left.reached + right.reached)))
        return self._meet(x, y, right, left)

    def _to_end(self, here: _Anchor, end: float) -> _Joined:
        """The arcs from an anchor to an end of the range."""
        chain = Chain(here.face, here.point, end)
        more = self._fresh(0.5 * (chain.reached + end)) if abs(chain.reached - end) > MEET else None
        return _Joined(_Part(chain.arcs, [], []), more)

    def _meet(self, x: _Anchor, y: _Anchor, right: Chain, left: Chain) -> _Joined:
        """Where the chains from two anchors, one to the right and one to the left, change places."""
        none = _Part([], [], [])
        start, stop = left.reached, right.reached  # where both exist
        if start > stop:
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
            if abs(other - tie) <= MEET:
                return _Joined(none, self._fresh(0.5 * (x.beta + y.beta)))
            if self.ask(beyond, lambda beta: np.array([float((chain.at(z) ** 2).sum()) for z in beta])):
                return _Joined(none, tie)
        else:
            tie = root(behind, start, stop)
        one, two = right.at(tie), left.at(tie)
        best = min(float(one @ one), float(two @ two))
        if self.ask(
            [tie], lambda beta: np.full(beta.size, best)
        ):  # a third is better than both; where systems drop out, so is the line itself
            return _Joined(none, tie)
        arcs = _cut(right.arcs, x.beta, tie) + _cut(left.arcs, tie, y.beta)
        ends = [z for z in (left.reached, right.reached) if x.beta + MEET < z < y.beta - MEET]
        forked = any(abs(tie - z) <= MEET for z in ends)  # a local optimum ends here
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
        for slack in (SHORT, MEET):
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
        face = Face(pool, tuple(int(k) for k in np.flatnonzero(on)))
        point = face.newton(np.array([beta]), w[None, on], np.array([eta]))
        if not (face.lowest(point) and np.abs(point.w[0] - w[on]).max() < 1e-4):
            return None
        if face.margin(point) >= -ZERO:
            return _Anchor(beta, face, point)
        w, eta = np.maximum(0, on_all(face, point.w)[0]), float(point.eta[0])
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
        near = last is not None and last.support == arc.support and abs(arc.low - last.high) <= MEET
        if last and near and not any(abs(x - arc.low) <= MEET for x in apart):
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
