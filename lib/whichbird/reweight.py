"""The solver people call: the most even weighting of a pool at a target balance, with a proof that none is better.

**The problem.** Among the weightings of K systems with balance β̂ and at least two different systems in use, find one with the
smallest collision probability Σw² (the largest effective sample size). Balance is not a convex constraint, so a local optimum
proves nothing, and the published search visits supports by the thousand. Four remarks make the problem small.

1. *One side.* On the way from the uniform weighting to any other, Σw² grows. So if β̂ lies above the natural balance, asking for
   "at least β̂" changes nothing. Write v for the aspect whose share must shrink (fluency here) and u for the other, stretched by
   √((1−β̂)/β̂): the constraint becomes **var_u(w) ≥ var_v(w)**. Below the natural balance the aspects change places.
2. *The clipped saddle.* Every local optimum has weights in proportion to max(0, z_k), z_k = h + (u_k − p)² − (v_k − q)², with p
   and q its own weighted means: three numbers (h, p, q) instead of K.
3. *One inequality proves everything.* Take any three numbers (h, p, q), any weighting w that satisfies the constraint, and let q′
   be its mean of v. Expanding squares and then Cauchy–Schwarz give

       h − (q′ − q)²  ≤  h + var_u(w) + (p′ − p)² − var_v(w) − (q′ − q)²  =  Σ w z  ≤  ‖w‖ ‖z₊‖.

   So **a weighting with Σw² ≤ P has (q′ − q)² ≥ h − √P ‖z₊‖**: each saddle excludes an interval of means, centre q. Choosing h
   and p to make it widest is a concave maximisation in two unknowns (`_climb`). When intervals cover all of [min v, max v] for
   P just under the best collision found, that best is optimal: certificate "interval".
4. *Near the natural balance one saddle is enough.* Cauchy–Schwarz loses ½‖w − w*‖² relative to the saddle's own weights w*, which
   is at least a quadratic form in (p′, q′). Kept, it outgrows (q′ − q)² when the Lagrangian is convex: certificate "dual".

**The work.** Saddles on a grid of q (maximising h / ‖z₊‖ gives the least collision for that q) → the valleys of that curve,
descended to full precision → the dual test → intervals around the best valley, at distances in geometric progression, gaps split
until none is left. If a centre shows a better weighting on the way, that becomes the best. All targets of a sweep go through each
step together, as rows of one array.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from . import _check
from .balance import EPS, Standard, _gap_balance, _steps, _unit, balance, reachable
from .result import Reweighting

DUAL_GAP = 1e-11      # the relative gap one saddle proves, a few hundred times the rounding of a sum of a thousand terms
INTERVAL_GAP = 5e-10  # the relative gap the intervals prove; the narrowest is about √gap wide, so this is a price, not a limit
BETA_TOLERANCE = 1e-12
GRID = 8              # starting centres spread evenly over the range of v, and as many over its quantiles
SPREAD = 4.0          # ratio of successive distances of the intervals from the best mean
ROUNDS = 60           # rounds of gap splitting before giving up; sixty halvings exhaust double precision
CELLS = 1 << 18       # numbers per work array; sweeps are cut into blocks of about this size


class NotProven(RuntimeError):
    """No optimality proof was completed, so there is no answer to return."""


def reweight(adequacy, fluency, beta) -> Reweighting:
    """The weighting with the largest effective sample size among those with balance `beta`, proven to be so.

    `adequacy`, `fluency`: (K,) system scores, K ≥ 2, in any common unit. `beta`: from 0 to 1, inside `reachable(...)`.

    >>> r = reweight([.5574, .9883, 1.4687, 3.0894], [.4012, .5353, 1.4986, 1.2467], .9095)
    >>> r.weights.round(4), round(r.ess, 3), r.certificate
    (array([0.0088, 0.0861, 0.4245, 0.4806]), 2.389, 'interval')
    """
    return reweight_sweep(adequacy, fluency, [beta])[0]


def reweight_sweep(adequacy, fluency, betas) -> list[Reweighting]:
    """`reweight` for many targets at once, several times faster than a loop. `betas`: (n,); a list of n results.

    >>> [round(r.ess, 3) for r in reweight_sweep([0, 1, 2, 3], [0, 2, 1, 1], [.5, .7, .9])]
    [3.027, 3.998, 2.871]
    """
    pool = Standard.of(adequacy, fluency)
    low, high = reachable(adequacy, fluency)
    betas = _targets(betas, low, high)
    natural = balance(adequacy, fluency)
    out: list[Reweighting | None] = [None] * betas.size
    for n, beta in enumerate(betas):
        if abs(beta - natural) <= 4 * EPS:
            out[n] = _uniform(pool, beta)
        elif min(beta - low, high - beta) <= 4 * EPS:
            out[n] = _at_end(pool, beta, beta - low <= 4 * EPS)
    open_ = [n for n in range(betas.size) if out[n] is None]
    block = max(1, CELLS // (32 * pool.a.size))
    with tqdm(total=len(open_), desc="targets", disable=None if len(open_) > block else True, leave=False) as bar:
        for above in (False, True):
            side = [n for n in open_ if (betas[n] > natural) == above]
            for start in range(0, len(side), block):
                part = side[start : start + block]
                for n, task in zip(part, _solve(pool, betas[part], above)):
                    out[n] = _result(pool, betas[n], above, task)
                bar.update(len(part))
    return out


def beta_interval(adequacy, fluency, ess) -> tuple[float, float]:
    """The interval of targets whose best weighting keeps an effective sample size of at least `ess`, 1 ≤ ess ≤ K.

    It is an interval because ESS*(β) rises up to the natural balance and falls after it. Ends accurate to about 1e-12.

    >>> low, high = beta_interval([0, 1, 2, 3], [0, 2, 1, 1], 3)
    >>> round(low, 6), round(high, 6)
    (0.497059, 0.882953)
    """
    raise NotImplementedError


def _targets(betas, low: float, high: float) -> np.ndarray:
    betas = _check.vector(betas, "betas")
    for beta in betas:
        _unit(beta)
        if not low - 4 * EPS <= beta <= high + 4 * EPS:
            raise ValueError(f"beta = {beta:.17g} cannot be reached; this pool reaches {low:.17g} to {high:.17g}")
    return np.clip(betas, low, high)


def _uniform(pool: Standard, beta: float) -> Reweighting:
    w = np.full(pool.a.size, 1 / pool.a.size)
    return Reweighting(w, _balance(pool, w), beta, "uniform", 0.0, 0.0, -1 / pool.a.size)


def _at_end(pool: Standard, beta: float, low: bool) -> Reweighting:
    """At an end of the range every two systems in use attain it, so they lie on one line; the fullest such line wins, uniform.

    (Three points whose pairs share |slope| are collinear.) A line's points are neighbours in sorted order, by the argument of
    `reachable`. Systems that coincide all count.
    """
    lines = _end_line(*((pool.f, pool.a) if low else (pool.a, pool.f)))
    tie = lines[1] if len(lines) > 1 and lines[1] @ lines[1] <= lines[0] @ lines[0] * (1 + EPS) else None
    return Reweighting(lines[0], _balance(pool, lines[0]), beta, "pair", 0.0, np.nan, np.nan, tie)


def _end_line(x, y) -> list[np.ndarray]:
    """Uniform weights on each line of systems whose pairs have the largest share of x, the fullest line first."""
    first, dx, dy = _steps(x, y)
    share = _gap_balance(dx, dy)
    sign = np.where(share >= share.max() - 8 * EPS, np.where(dx * dy < 0, -1, 1), 0)
    run = np.cumsum(np.concatenate(([0], sign[1:] != sign[:-1])))
    lines = []
    for n in np.unique(run[sign != 0]):
        step = np.flatnonzero(run == n)
        points = first[np.append(step, step[-1] + 1)]
        on = ((x[:, None] == x[points]) & (y[:, None] == y[points])).any(1)
        lines.append(on / on.sum())
    return sorted(lines, key=lambda w: w @ w)


def _balance(pool: Standard, w: np.ndarray) -> float:
    s_a, s_f = (w @ (x - w @ x) ** 2 for x in (pool.a, pool.f))
    return float(s_a / (s_a + s_f))


def _result(pool: Standard, beta: float, above: bool, task: _Task) -> Reweighting:
    best, tie = task.best, task.tie
    for o in (best,) if tie is None else (best, tie):
        found = _balance(pool, o.w)
        if not (abs(found - beta) <= BETA_TOLERANCE and abs(o.w.sum() - 1) <= BETA_TOLERANCE and (o.w >= 0).all()):
            raise NotProven(f"the weights found for beta = {beta:.17g} have balance {found:.17g}; the pool is too ill-conditioned")
    slope = 1 / np.maximum(best.h + (task.u - best.p) ** 2 - (task.v - best.q) ** 2, 0).sum()
    eta = (-slope / beta if above else slope / (1 - beta)) / pool.scale**2
    return Reweighting(
        best.w, _balance(pool, best.w), float(beta), task.certificate, task.gap, float(eta), float(-best.h * slope),
        None if tie is None else tie.w,
    )


# --- one target ----------------------------------------------------------------------------------------------------------------


class _Optimum(NamedTuple):
    """A local optimum: its saddle (h, p, q), its weights, their collision probability."""

    h: float
    p: float
    q: float
    w: np.ndarray
    P: float


@dataclass
class _Task:
    """One target: the stretched pool, the local optima found so far, and the saddles whose intervals are to cover the line."""

    stretch: float
    u: np.ndarray
    v: np.ndarray
    point: np.ndarray  # for every system the number of its point: copies share one
    optima: list[_Optimum] = field(default_factory=list)
    q: np.ndarray = field(default_factory=lambda: np.empty(0))
    h: np.ndarray = field(default_factory=lambda: np.empty(0))
    p: np.ndarray = field(default_factory=lambda: np.empty(0))
    certificate: str = ""
    gap: float = np.nan

    @property
    def best(self) -> _Optimum:
        return min(self.optima, key=lambda o: o.P)

    @property
    def tie(self) -> _Optimum | None:
        best = self.best
        rivals = [o for o in self.optima if o.P <= best.P * (1 + INTERVAL_GAP) and np.abs(o.w - best.w).sum() > 1e-3]
        return min(rivals, key=lambda o: o.P, default=None)

    @property
    def level(self) -> float:
        """The collision probability below which nothing may remain."""
        return self.best.P * (1 - INTERVAL_GAP)

    def add(self, q, h, p) -> None:
        """Take note of saddles, one or many; each excludes an interval."""
        self.q, self.h, self.p = np.append(self.q, q), np.append(self.h, h), np.append(self.p, p)

    def offer(self, h, p, q, w) -> None:
        """Take note of a local optimum, if it is feasible."""
        off = _off_balance(self.u[None], self.v, w[None], self.stretch)[0]
        alone = np.bincount(self.point, w).max()  # all weight on copies of one system has no balance
        if off <= BETA_TOLERANCE / 2 and alone <= 1 - 1e-9:
            self.optima.append(_Optimum(float(h), float(p), float(q), w, float(w @ w)))
            self.add(q, h, p)

    def dual(self) -> bool:
        """Whether the best saddle alone excludes every mean (remark 4)."""
        o, (u, v) = self.best, (self.u, self.v)
        P = o.P * (1 - DUAL_GAP)
        square, s = (float(x[0]) for x in _excluded(u, v, *(np.array([x]) for x in (o.q, o.h, o.p)), P))
        z = np.maximum(o.h + (u - o.p) ** 2 - (v - o.q) ** 2, 0)
        own = z / s  # the weights Cauchy–Schwarz compares with
        off_u, off_v = own @ u - o.p, own @ v - o.q
        uu, vv, uv = u @ u, v @ v, u @ v
        den = 2 * (uu * vv - uv * uv) + s * vv
        # (y + off_v)² ≤ square + s[(uu + s/2) y² + 2 off_u uv y + off_u² vv] / den  has to hold for every y = q′ − own mean
        a = s * (uu + s / 2) / den - 1
        b = s * off_u * uv / den - off_v
        c = square + s * off_u**2 * vv / den - off_v**2
        return a > 0 and c > 0 and b * b < a * c

    def gaps(self) -> np.ndarray:
        """The parts of [min v, max v] not yet excluded, (G, 2)."""
        half = np.sqrt(np.maximum(_excluded(self.u, self.v, self.q, self.h, self.p, self.level)[0], 0))
        copies, around = self._copies()
        low = np.concatenate((self.q - half, copies - around))
        high = np.concatenate((self.q + half, copies + around))
        order = np.argsort(low)
        left = np.concatenate(([self.v.min()], np.maximum.accumulate(high[order])))
        right = np.concatenate((low[order], [self.v.max()]))
        left, right = np.maximum(left, self.v.min()), np.minimum(right, self.v.max())
        return np.column_stack((left, right))[left < right]

    def centres(self, gaps) -> np.ndarray:
        """New centres inside the gaps, (n, 3) with the gap each lies in: in geometric progression away from the best mean."""
        origin, out = self.best.q, []
        for left, right in gaps:
            near, far = sorted((left - origin, right - origin), key=abs)
            if near * far > 0:
                n = max(1, int(np.ceil(np.log(far / near) / np.log(SPREAD))))
                at = origin + near * (far / near) ** ((np.arange(n) + 0.5) / n)
            else:
                at = [0.5 * (left + right)]
            out += [(q, left, right) for q in at]
        return np.array(out)

    def _copies(self) -> tuple[np.ndarray, np.ndarray]:
        """Means at which all weight may lie on copies of one system, which has no balance though var_u = var_v; and how far around
        each no other weighting can have its mean.

        Only m copies with 1/m under the level matter. Such a point has v-gap² > u-gap² to every other system (else sharing the weight
        with that system would be feasible and better), and expanding the constraint about the point shows that a weighting with
        anything elsewhere has its mean of v at least min (v-gap² − u-gap²) / |v-gap| away.
        """
        first, count = np.unique(self.point, return_index=True, return_counts=True)[1:]
        first = first[count * self.best.P >= 1 - 1e-6]
        around = np.zeros(first.size)
        for n, k in enumerate(first):
            other = self.point != self.point[k]
            du, dv = np.abs(self.u[other] - self.u[k]), np.abs(self.v[other] - self.v[k])
            with np.errstate(divide="ignore"):
                around[n] = max(0, ((dv - du) * (1 + du / dv)).min() * (1 - 8 * EPS))
        return self.v[first], around


def _excluded(u, v, q, h, p, P):
    """h − √P ‖z₊‖ for each row, less a bound on its rounding error; and ‖z₊‖/√P."""
    du2, dv2 = (u - p[:, None]) ** 2, (v - q[:, None]) ** 2
    z = h[:, None] + du2 - dv2
    on = z > 0
    n = np.sqrt((np.where(on, z, 0) ** 2).sum(1))
    size = np.sqrt((np.where(on, np.abs(h)[:, None] + du2 + dv2, 0) ** 2).sum(1))
    slack = EPS * (4 * h + np.sqrt(P) * (8 * size + u.shape[-1] * n))
    return h - np.sqrt(P) * n - slack, n / np.sqrt(P)


# --- many targets, step by step ------------------------------------------------------------------------------------------------


def _solve(pool: Standard, betas: np.ndarray, above: bool) -> list[_Task]:
    """Certified tasks for targets on one side of the natural balance."""
    x, v = (pool.a, pool.f) if above else (pool.f, pool.a)
    stretch = np.sqrt((1 - betas) / betas if above else betas / (1 - betas))
    point = np.unique(np.column_stack((x, v)), axis=0, return_inverse=True)[1].ravel()
    tasks = [_Task(s, s * x, v, point) for s in stretch]
    _start(tasks, _end_line(x, v)[0])
    for task, beta in zip(tasks, betas):
        if not task.optima:
            raise NotProven(f"no feasible weighting was found for beta = {beta:.17g}; the pool is too ill-conditioned")
    work = []
    for task in tasks:
        if task.dual():
            task.certificate, task.gap = "dual", DUAL_GAP
        else:
            task.certificate, task.gap = "interval", INTERVAL_GAP
            work.append(task)
    for _ in range(ROUNDS):
        gaps = [task.gaps() for task in work]
        work, gaps = [t for t, g in zip(work, gaps) if len(g)], [g for g in gaps if len(g)]
        if not work:
            break
        _fill(work, [task.centres(g) for task, g in zip(work, gaps)])
    if work:
        raise NotProven(f"optimality was not proven for {len(work)} of {len(betas)} targets between {min(betas):.17g} and {max(betas):.17g}")
    return tasks


def _start(tasks, line) -> None:
    """Offer every task the bottoms of the valleys of its least-collision curve, seen on a grid; and the optimum at the range's end.

    The grid is spread evenly over [min v, max v], and as the systems are, and has the mean of the end's optimum.
    """
    n, v = len(tasks), tasks[0].v
    u = np.stack([t.u for t in tasks])
    for task, *optimum in zip(tasks, *_repair(u, v, np.tile(line, (n, 1)))):
        task.offer(*optimum)
    share = (np.arange(GRID) + 0.5) / GRID
    grid = np.unique(np.concatenate((v.min() + share * np.ptp(v), np.quantile(v, share), [line @ v])))
    who = np.repeat(np.arange(n), grid.size)
    u, q = u[who], np.tile(grid, n)
    start = 1.25 * ((v - q[:, None]) ** 2).max(1)  # high enough for every system to be in use
    h, p, height = _climb(u, v, q, start, np.zeros(q.size))
    for k, task in enumerate(tasks):
        task.add(*(x[who == k] for x in (q, h, p)))
    edged = np.pad(height.reshape(n, -1), ((0, 0), (1, 1)), constant_values=np.inf)
    mid = edged[:, 1:-1]
    low = ((mid <= edged[:, :-2]) & (mid <= edged[:, 2:]) & (mid < 0.75)).ravel()
    left, right = np.concatenate(([v.min()], grid[:-1])), np.concatenate((grid[1:], [v.max()]))
    at = np.flatnonzero(low)
    _offer(tasks, who[at], v, q[at], left[at % grid.size], right[at % grid.size], h[at], p[at])


def _fill(tasks, centres) -> None:
    """Widen the exclusion at the new centres; where a centre cannot be excluded, a better optimum is near: descend to it."""
    who = np.repeat(np.arange(len(tasks)), [len(c) for c in centres])
    q, left, right = np.concatenate(centres).T
    near = [np.abs(t.q - c[:, :1]).argmin(1) for t, c in zip(tasks, centres)]
    h, p = (np.concatenate([getattr(t, name)[k] for t, k in zip(tasks, near)]) for name in "hp")
    u, v = np.stack([t.u for t in tasks])[who], tasks[0].v
    h, p, height = _climb(u, v, q, h, p, np.array([t.level for t in tasks])[who])
    for n, task in enumerate(tasks):
        task.add(*(x[who == n] for x in (q, h, p)))
    at = np.flatnonzero(height <= 0)
    if at.size:
        _offer(tasks, who[at], v, q[at], left[at], right[at], h[at], p[at])


def _offer(tasks, who, v, q, left, right, h, p) -> None:
    found = _descend(np.stack([t.u for t in tasks])[who], v, np.array([t.stretch for t in tasks])[who], q, left, right, h, p)
    for n, optimum in zip(who, zip(*found)):
        tasks[n].offer(*optimum)


# --- the core: rows of saddles -------------------------------------------------------------------------------------------------


def _climb(u, v, q, h, p, P=None, steps=60):
    """For each row, move (h, p) uphill with the centre q fixed: Newton's method, drawn back towards the best point when it overshoots.

    With `P` (per row) the hill is h − √P ‖z₊‖, the square of the half-width excluded; without, it is h / ‖z₊‖, whose maximum is
    the square root of the least collision probability that this q allows. u: (R, K); v: (K,); the rest (R,).
    Returns h, p and the height reached.
    """
    v2 = (v - q[:, None]) ** 2
    far = v2.max(1)
    root = None if P is None else np.sqrt(P)
    top, best_h, best_p = np.full(q.size, -np.inf), h, p
    step_h = step_p = np.zeros(q.size)
    failed = np.zeros(q.size, int)
    done = np.zeros(q.size, bool)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for _ in range(steps):
            du = u - p[:, None]
            du2 = du * du
            z = du2 - v2
            z += h[:, None]
            on = (z > 0).astype(float)
            z *= on
            n = np.sqrt(_dot(z, z))
            height = h / n if P is None else h - root * n
            # gradient and Hessian of the hill, times s, in the local coordinates (change of z at u = p, change of p)
            s = n * n / h if P is None else n / root
            sum_z, sum_zu = z.sum(1), _dot(z, du)
            m, e_h, e_p = on.sum(1), sum_z / n, -2 * sum_zu / n
            hh, hp, pp = m - e_h * e_h, -2 * _dot(on, du) - e_h * e_p, 4 * _dot(on, du2) - e_p * e_p + 2 * s
            hh = hh + 1e-12 * m  # equal weights make the Hessian singular
            g_h, g_p = s - sum_z, 2 * sum_zu
            det = hh * pp - hp * hp
            d_h, d_p = (pp * g_h - hp * g_p) / det, (hh * g_p - hp * g_h) / det
            gain = (d_h * g_h + d_p * g_p) / s  # twice the rise Newton expects
            d_h = d_h - d_p * d_p
            if P is None:  # keep h positive
                cut = np.minimum(1, 0.8 * h / np.abs(d_h))
                d_h, d_p = cut * d_h, cut * d_p
            else:  # where z₊ vanished there is only one way to go
                d_h, d_p = np.where(n > 0, d_h, far), np.where(n > 0, d_p, 0)
            better = height > top
            top, best_h, best_p = np.where(better, height, top), np.where(better, h, best_h), np.where(better, p, best_p)
            failed = np.where(better, 0, failed + 1)
            step_h, step_p = np.where(better, d_h, step_h), np.where(better, d_p, step_p)
            done |= better & (n > 0) & (gain <= 1e-13 * np.abs(h))
            # above √½ no two systems reach the target with this mean; an interval this close to its widest is wide enough
            done |= (top > 0.75) if P is None else better & (gain < 0.02 * top)
            if done.all():
                break
            # beyond a kink the step from the failed point often lands right; if not, go back and try a shorter step
            on_from_here = better | (failed % 2 == 1) & np.isfinite(d_h + d_p)
            short = 0.25 ** ((failed + 1) // 2)
            h = np.where(done, best_h, np.where(on_from_here, h + d_h, best_h + short * step_h))
            p = np.where(done, best_p, np.where(on_from_here, p + d_p, best_p + short * step_p))
    return best_h, best_p, top


def _stationarity(u, v, h, p, q, margin=0.0):
    """For each row the weights of the saddle, how far it is from its own means and from the constraint, and Newton's step to mend it.

    Returns w (R, K); the residuals (R, 3): mean of u − p, mean of v − q, var_u − var_v to first order; and the step (R, 3). With a
    margin, systems are in use from z > −margin·h on, so that a step can bring one in.
    """
    du, dv = u - p[:, None], v - q[:, None]
    g = (du - dv) * (du + dv)
    z = h[:, None] + g
    on = (z > -margin * h[:, None]).astype(float)
    z = np.where(on > 0, z, 0.0)
    total = z.sum(1)
    f = np.stack([_dot(z, du), _dot(z, dv), _dot(z, g)], 1)
    on_u, on_v = on * du, on * dv
    uv = _dot(on_u, dv)
    jac = np.array(
        [
            [on_u.sum(1), -2 * _dot(on_u, du) - total, 2 * uv],
            [on_v.sum(1), -2 * uv, 2 * _dot(on_v, dv) - total],
            [_dot(on, g), -2 * _dot(on_u, g) - 2 * f[:, 0], 2 * _dot(on_v, g) + 2 * f[:, 1]],
        ]
    ).transpose(2, 0, 1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return z / total[:, None], f / total[:, None], _solve3(jac, -f)


def _solve3(m, b):
    """Solve R systems of three equations by cofactors; a singular one gives inf or nan, which the caller steps around."""
    c = np.cross(m[:, [1, 2, 0]], m[:, [2, 0, 1]])  # rows: cofactors of rows 0, 1, 2
    det = np.einsum("ij,ij->i", m[:, 0], c[:, 0])
    return np.einsum("ijk,ij->ik", c, b) / det[:, None]


def _descend(u, v, stretch, q, left, right, h, p):
    """For each row, from q down to the bottom of its valley of least collision, inside (left, right); then to full precision.

    Returns h, p, q and the weights (R, K).
    """
    h, p, height = _climb(u, v, q, h, p)
    w, miss, step = _stationarity(u, v, h, p, q)
    for _ in range(60):
        # the curve falls towards the weights' own mean of v, so that side of q brackets the bottom
        down = miss[:, 1]
        left, right = np.where(down > 0, q, left), np.where(down < 0, q, right)
        if (down**2 <= 1e-20 * h).all():
            break
        newton = q + step[:, 2]
        inside = (newton > left) & (newton < right)
        trial = np.where(inside, newton, 0.5 * (left + right))
        h2, p2, height2 = _climb(u, v, trial, h, p)
        w2, miss2, step2 = _stationarity(u, v, h2, p2, trial)
        lower = height2 <= height * (1 + 1e-14)
        left = np.where(~lower & (trial < q), trial, left)
        right = np.where(~lower & (trial > q), trial, right)
        q, h, p, height = (np.where(lower, new, old) for new, old in ((trial, q), (h2, h), (p2, p), (height2, height)))
        w, miss, step = (np.where(lower[:, None], new, old) for new, old in ((w2, w), (miss2, miss), (step2, step)))
    error = _error(u, v, w, miss, h, stretch)
    for margin in (0, 0, 1e-4, 1e-6, 0, 0):
        if (error <= 1e-15).all():
            break
        _, _, step = _stationarity(u, v, h, p, q, margin)
        h2, p2, q2 = (old + step[:, n] for n, old in enumerate((h, p, q)))
        w2, miss2, _ = _stationarity(u, v, h2, p2, q2)
        error2 = _error(u, v, w2, miss2, h2, stretch)
        better = error2 < error
        h, p, q, error = (np.where(better, new, old) for new, old in ((h2, h), (p2, p), (q2, q), (error2, error)))
        w = np.where(better[:, None], w2, w)
    rough = ~(_off_balance(u, v, w, stretch) <= 1e-13)
    if rough.any():
        h[rough], p[rough], q[rough], w[rough] = _repair(u[rough], v, w[rough])
    return h, p, q, w


def _repair(u, v, w):
    """Move a little weight of each row to one system so that var_u = var_v holds; the system that leaves the least collision.

    Very near an end of the range the optimum is a pair with next to nothing elsewhere, and Newton's method cannot see which system
    is about to enter. Moving a share s to system k changes var_u − var_v to (1 − s)(var_u − var_v + s·g_k).
    """
    p, q = (_dot(w, x) for x in (u, np.broadcast_to(v, u.shape)))
    g = (u - p[:, None]) ** 2 - (v - q[:, None]) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        share = -_dot(w, g)[:, None] / g
        collision = (1 - share) ** 2 * _dot(w, w)[:, None] + 2 * share * (1 - share) * w + share**2
    possible = (share >= 0) & (share < 1)
    k = np.where(possible, collision, np.inf).argmin(1)
    row = np.arange(k.size)
    share = np.where(possible[row, k], share[row, k], np.nan)
    w = w * (1 - share)[:, None]
    w[row, k] += share
    return -g[row, k], p, q, w


def _error(u, v, w, miss, h, stretch):
    """How far each row is from a local optimum: its means in units of √h, its balance as it is."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.maximum(np.abs(miss[:, :2]).max(1) / np.sqrt(h), _off_balance(u, v, w, stretch))


def _off_balance(u, v, w, stretch):
    """|β(w) − β̂| for each row; nan where all weight is in one place."""
    var_u, var_v = (_dot(w, (x - _dot(w, x)[:, None]) ** 2) for x in (u, np.broadcast_to(v, u.shape)))
    with np.errstate(invalid="ignore"):
        return np.abs(var_u - var_v) / ((1 / stretch**2 + 1) * (var_u + stretch**2 * var_v))


def _dot(a, b):
    return np.einsum("ij,ij->i", a, b)
