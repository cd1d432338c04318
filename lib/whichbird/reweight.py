"""The solver people call: the most even weighting of a pool at a target balance, with a proof that none is better.

**The problem.** Among the weightings of K systems with balance β̂ and at least two different systems in use, find one with the
smallest collision probability Σw² (the largest effective sample size). Balance is not a convex constraint, so a local optimum
proves nothing, and the published search visits supports by the thousand. Four remarks make the problem small.

1. *One side.* On the way from the uniform weighting to any other, Σw² grows. So if β̂ lies above the natural balance, asking for
   "at least β̂" changes nothing. Write v for the aspect whose share must shrink (fluency here) and u for the other, stretched by
   √((1−β̂)/β̂): the constraint becomes **var_u(w) ≥ var_v(w)**. Below the natural balance the aspects change places.
2. *The clipped saddle.* Every local optimum has weights in proportion to max(0, z_k), z_k = h + (u_k − p)² − (v_k − q)², with p
   and q its own weighted means: three numbers (h, p, q) instead of K.
3. *One inequality proves everything.* Take any three numbers (h, p, q), any weighting w that satisfies the constraint, and let p′
   and q′ be its means of u and v. Expanding squares and then Cauchy–Schwarz give

       h − (q′ − q)²  ≤  h + var_u(w) + (p′ − p)² − var_v(w) − (q′ − q)²  =  Σ w z  ≤  ‖w‖ ‖z₊‖.

   So **a weighting with Σw² ≤ P has (q′ − q)² ≥ h − √P ‖z₊‖**: each saddle excludes an interval of means, centre q. Choosing h
   and p to make it widest is a concave maximisation in two unknowns (`_climb`). When intervals cover all of [min v, max v] for
   P just under the best collision found, that best is optimal: certificate "interval".
4. *Near the natural balance one saddle is enough.* Cauchy–Schwarz loses a multiple of ‖w − w*‖², w* the saddle's own weights, and
   that is at least a quadratic form in (p′, q′). Kept, it outgrows (q′ − q)² when the Lagrangian is convex: certificate "dual".

**The work.** Saddles on a grid of q (maximising h / ‖z₊‖ gives the least collision for that q) → the valleys of that curve,
descended to full precision → the dual test → intervals around the best valley, at distances in geometric progression, gaps split
until none is left. If a centre cannot be excluded, a better weighting is near and becomes the best. All targets of a sweep go
through each step together, as rows of one array.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from . import _check
from .balance import EPS, Standard, _gap_balance, _reachable, _steps, _unit
from .result import Reweighting

DUAL_GAP = 1e-11      # the relative gap one saddle proves: well above the rounding of a sum of a thousand terms
INTERVAL_GAP = 5e-10  # the relative gap intervals prove; the narrowest is about √gap wide, so this is a price, not a limit
BETA_TOLERANCE = 1e-12
GRID = 8              # starting centres spread evenly over the range of v, and as many spread as the systems are
SPREAD = 4.0          # ratio of successive distances of the intervals from the best mean
ROUNDS = 60           # rounds of gap splitting before giving up; as many halvings exhaust double precision
ROWS = 20000          # saddles per target before giving up; twenty to forty are usual, a pool next to a line takes thousands
STEPS = 60            # of Newton's method before a climb is broken off; most take under ten
CELLS = 1 << 18       # numbers per work array; sweeps are cut into blocks of about this size


class NotProven(RuntimeError):
    """No proof of optimality was completed, so there is no answer to return."""


def reweight(adequacy, fluency, beta) -> Reweighting:
    """The weighting with the largest effective sample size among those with balance `beta`, proven to be so.

    `adequacy`, `fluency`: (K,) system scores, K ≥ 2, in any common unit. `beta`: from 0 to 1, inside `reachable(...)`.

    >>> r = reweight([.5574, .9883, 1.4687, 3.0894], [.4012, .5353, 1.4986, 1.2467], .9095)
    >>> r.weights.round(4), round(r.ess, 3), r.certificate
    (array([0.0088, 0.0861, 0.4245, 0.4806]), 2.389, 'interval')
    """
    return reweight_sweep(adequacy, fluency, [_unit(beta)])[0]


def reweight_sweep(adequacy, fluency, betas) -> list[Reweighting]:
    """`reweight` for many targets at once, several times faster than a loop. `betas`: (n,); a list of n results.

    >>> [round(r.ess, 3) for r in reweight_sweep([0, 1, 2, 3], [0, 2, 1, 1], [.5, .7, .9])]
    [3.106, 3.989, 2.385]
    """
    pool = Standard.of(adequacy, fluency)
    low, high = _reachable(pool)
    betas = _targets(betas, low, high)
    natural = _balance(pool, np.full(pool.a.size, 1 / pool.a.size))
    out: list[Reweighting | None] = [None] * betas.size
    for n, beta in enumerate(betas):
        if abs(beta - natural) <= 4 * EPS:
            out[n] = _uniform(pool, beta)
        elif min(beta - low, high - beta) <= 4 * EPS:
            out[n] = _at_end(pool, beta, beta - low <= 4 * EPS)
    left = [n for n in range(betas.size) if out[n] is None]
    block = max(1, CELLS // (32 * pool.a.size))
    with tqdm(total=len(left), desc="targets", leave=False, disable=None if len(left) > block else True) as bar:
        for above in (False, True):
            side = [n for n in left if (betas[n] > natural) == above]
            for start in range(0, len(side), block):
                part = side[start : start + block]
                for n, result in zip(part, _solve(pool, betas[part], above)):
                    out[n] = result
                bar.update(len(part))
    return out


def beta_interval(adequacy, fluency, ess) -> tuple[float, float]:
    """The interval of targets whose best weighting keeps an effective sample size of at least `ess`, 1 ≤ ess ≤ K.

    It is an interval because ESS*(β) rises up to the natural balance and falls after it. Ends to about 1e-12, rounded inwards.

    >>> low, high = beta_interval([0, 1, 2, 3], [0, 2, 1, 1], 3)
    >>> round(low, 6), round(high, 6)
    (0.471543, 0.876428)
    """
    pool = Standard.of(adequacy, fluency)
    size, ess = pool.a.size, _check.vector([ess], "ess")[0]
    if not 1 <= ess <= size:
        raise ValueError(f"ess is {ess:g}; a value from 1 to the number of systems, {size}, is expected")
    goal = np.sqrt(max(0, 1 / ess - 1 / size))
    natural = _balance(pool, np.full(size, 1 / size))
    return tuple(_edge(adequacy, fluency, natural, end, goal) for end in _reachable(pool))


def _edge(adequacy, fluency, inner, outer, goal) -> float:
    """The target between `inner` (uniform) and `outer` where √(Σw² − 1/K) reaches `goal`: Newton's method inside a bracket."""
    if goal == 0:
        return inner
    beta, at_end = outer, True
    while True:
        r = reweight(adequacy, fluency, beta)
        w = r.weights
        height = np.sqrt(max(0, w @ w - 1 / w.size))
        inner, outer = (beta, outer) if height <= goal else (inner, beta)
        if height <= goal and (at_end or height >= goal * (1 - 1e-12)) or abs(outer - inner) <= 1e-13:
            return float(inner)
        if at_end:
            step = (outer - inner) * (goal / height - 1)  # the curve is nearly straight from the natural balance on
        else:
            var = sum(w @ (x - w @ x) ** 2 for x in (np.asarray(adequacy, float), np.asarray(fluency, float)))
            step = (goal - height) * height / (-r.eta * var)  # d(½Σw²)/dβ̂ = −η (σ_a² + σ_f²), by the envelope theorem
        beta, at_end = beta + step * (1 + 1e-13), False
        if not min(inner, outer) < beta < max(inner, outer):
            beta = 0.5 * (inner + outer)


# --- targets that need no search -----------------------------------------------------------------------------------------------


def _targets(betas, low: float, high: float) -> np.ndarray:
    betas = _check.vector(betas, "betas")
    for beta in betas:
        if not low - 4 * EPS <= _unit(beta) <= high + 4 * EPS:
            raise ValueError(f"beta = {beta:.17g} cannot be reached; this pool reaches {low:.17g} to {high:.17g}")
    return np.clip(betas, low, high)


def _balance(pool: Standard, w: np.ndarray) -> float:
    s_a, s_f = (w @ (x - w @ x) ** 2 for x in (pool.a, pool.f))
    return float(s_a / (s_a + s_f))


def _uniform(pool: Standard, beta: float) -> Reweighting:
    w = np.full(pool.a.size, 1 / pool.a.size)
    return Reweighting(w, _balance(pool, w), float(beta), "uniform", 0.0, 0.0, -1 / w.size)


def _at_end(pool: Standard, beta: float, low: bool) -> Reweighting:
    """At an end of the range every two points in use attain it, so all lie on one line; the fullest such line wins, uniform."""
    best, tie = _end_lines(*((pool.f, pool.a) if low else (pool.a, pool.f)))
    return Reweighting(best, _balance(pool, best), float(beta), "pair", 0.0, np.nan, np.nan, tie)


def _end_lines(x, y) -> tuple[np.ndarray, np.ndarray | None]:
    """Uniform weights on the fullest line of points whose pairs have the largest share of x, and on a second as full, or None.

    Three points whose pairs share one |slope| are collinear, and the points of such a line are neighbours in sorted order, by the
    argument of `reachable`: a line is a run of steps of extreme slope and one sign.
    """
    point, dx, dy = _steps(x, y)
    share = _gap_balance(dx, dy)
    sign = np.where(share >= share.max() - 8 * EPS, np.where(dx * dy < 0, -1, 1), 0)
    starts = np.flatnonzero(np.diff(sign, prepend=0) * (sign != 0))
    stops = np.flatnonzero(np.diff(sign, append=0) * (sign != 0)) + 1
    total = np.concatenate(([0], np.cumsum(np.bincount(point))))  # systems at the points before
    full = total[stops + 1] - total[starts]
    order = np.argsort(-full, kind="stable")[:2]
    lines = [((point >= starts[n]) & (point <= stops[n])) / full[n] for n in order]
    return lines[0], lines[1] if len(lines) > 1 and full[order[1]] == full[order[0]] else None


# --- one side of the natural balance, all targets together ---------------------------------------------------------------------


class _Optimum(NamedTuple):
    """A feasible weighting at the bottom of a valley: its saddle (h, p, q), its weights, their collision probability."""

    h: float
    p: float
    q: float
    w: np.ndarray
    P: float


def _solve(pool: Standard, betas: np.ndarray, above: bool) -> list[Reweighting]:
    """Certified optima for targets on one side of the natural balance."""
    x, v = (pool.a, pool.f) if above else (pool.f, pool.a)
    side = _Side(x, v, np.sqrt((1 - betas) / betas if above else betas / (1 - betas)))
    side.start()
    dual = side.dual()
    left = np.flatnonzero(~dual)
    for _ in range(ROUNDS):
        gaps = side.gaps(left)
        left = np.unique(gaps.target)
        if not left.size:
            break
        if side.q.size > ROWS * left.size:
            raise NotProven(_unproven(betas[left]))
        side.fill(gaps)
    else:
        raise NotProven(_unproven(betas[left]))
    side.look_for_ties(np.flatnonzero(~dual))
    return [_result(pool, beta, above, side.u[n], v, side.optima[n], dual[n]) for n, beta in enumerate(betas)]


def _unproven(betas) -> str:
    return f"optimality was not proven at beta = {', '.join(f'{b:.17g}' for b in betas)}; the pool may be too ill-conditioned"


def _result(pool, beta, above, u, v, optima, dual) -> Reweighting:
    best, *others = sorted(optima, key=lambda o: o.P)
    ties = [o for o in others if o.P <= best.P * (1 + INTERVAL_GAP) and np.abs(o.w - best.w).sum() > 1e-3]
    for o in (best, *ties[:1]):
        found = _balance(pool, o.w)
        if not (abs(found - beta) <= BETA_TOLERANCE and abs(o.w.sum() - 1) <= BETA_TOLERANCE and o.w.min() >= 0):
            raise NotProven(f"the weights found for beta = {beta:.17g} have balance {found:.17g}")
    w, on = best.w, best.w > 0
    g = (u - w @ u) ** 2 - (v - w @ v) ** 2  # w = max(0, Σw² + slope·g); fitted, as repaired weights have left their saddle
    if np.abs(g[on]).max() > 1e-12 * np.abs(g).max():
        slope = g[on] @ (w[on] - best.P) / (g[on] @ g[on])
    else:  # uniform on systems of one line or of two that cross: every slope steep enough will do
        slope = best.P / -g[~on].max()
    eta = (-slope / beta if above else slope / (1 - beta)) / pool.scale**2
    return Reweighting(
        weights=best.w,
        beta=_balance(pool, best.w),
        target=float(beta),
        certificate="dual" if dual else "interval",
        gap=DUAL_GAP if dual else INTERVAL_GAP,
        eta=float(eta),
        lam=-best.P,  # Σw² = Σw(−λ − ηg) = −λ, as Σwg = 0
        alternative=ties[0].w if ties else None,
    )


class _Gaps(NamedTuple):
    """Parts of the line not yet excluded: whose target, from where to where, and a row that ends there."""

    target: np.ndarray
    left: np.ndarray
    right: np.ndarray
    row: np.ndarray


class _Side:
    """n targets on one side: the pool stretched for each, the optima found, and the rows (target, q, h, p) that are to cover the line."""

    def __init__(self, x, v, stretch):
        self.stretch, self.u, self.v = stretch, stretch[:, None] * x, v
        self.point = _steps(x, v)[0]
        self.line = _end_lines(x, v)[0]
        self.optima: list[list[_Optimum]] = [[] for _ in stretch]
        self.best: list[_Optimum | None] = [None] * stretch.size
        self.target = np.empty(0, int)
        self.q = self.h = self.p = np.empty(0)

    def add(self, target, q, h, p) -> None:
        self.target = np.append(self.target, target)
        self.q, self.h, self.p = np.append(self.q, q), np.append(self.h, h), np.append(self.p, p)

    def _rows(self, targets) -> np.ndarray:
        wanted = np.zeros(self.stretch.size, bool)
        wanted[targets] = True
        return np.flatnonzero(wanted[self.target])

    def start(self) -> None:
        """The optimum at the end of the range, and the valleys of the least-collision curve as a grid of q shows them."""
        n, v = self.stretch.size, self.v
        every = np.arange(n)
        self._offer(every, *_repair(self.u, v, np.tile(self.line, (n, 1))))
        self._offer_lines()
        share = (np.arange(GRID) + 0.5) / GRID
        spread = np.sort(v)[(share * v.size).astype(int)]
        grid = np.unique(np.concatenate((v.min() + share * np.ptp(v), spread, [self.line @ v])))
        target, q = np.repeat(every, grid.size), np.tile(grid, n)
        all_in = 0.5 * ((v - grid[:, None]) ** 2).max(1)  # high enough for most systems to be in use
        h, p, height = _climb(self.u[target], v, q, np.tile(all_in, n), np.zeros(q.size))
        self.add(target, q, h, p)
        edged = np.pad(height.reshape(n, -1), ((0, 0), (1, 1)), constant_values=np.inf)
        low = (edged[:, 1:-1] <= edged[:, :-2]) & (edged[:, 1:-1] <= edged[:, 2:]) & (edged[:, 1:-1] < 0.75)
        at = np.flatnonzero(low.ravel())
        left, right = np.concatenate(([v.min()], grid[:-1])), np.concatenate((grid[1:], [v.max()]))
        self._descend(target[at], q[at], left[at % grid.size], right[at % grid.size], h[at], p[at])
        if None in self.best:
            raise NotProven("no feasible weighting was found")

    def _offer_lines(self) -> None:
        """Uniform weights on systems that lie on one line with exactly the target's slope: every weighting of them has the balance.

        Such an optimum has no multiplier, so no saddle leads to it. In stretched scores the lines are u + v or u − v constant.
        """
        for e in (self.u + self.v, self.u - self.v):
            order = np.argsort(e, axis=1)
            same = np.diff(np.take_along_axis(e, order, 1), axis=1) <= 8 * EPS * np.abs(e).max(1)[:, None]
            more = self.point[order[:, 1:]] != self.point[order[:, :-1]]  # not only copies
            for n in np.flatnonzero((same & more).any(1)):
                run = np.cumsum(np.concatenate(([0], ~same[n])))
                full = np.bincount(run) * (np.bincount(run[1:], same[n] & more[n], run[-1] + 1) > 0)
                w = np.zeros((1, run.size))
                w[0, order[n][run == full.argmax()]] = 1 / full.max()
                self._offer(np.array([n]), np.zeros(1), w @ self.u[n], w @ self.v, w)

    def _descend(self, target, q, left, right, h, p) -> None:
        self._offer(target, *_descend(self.u[target], self.v, self.stretch[target], q, left, right, h, p))

    def _offer(self, target, h, p, q, w) -> None:
        """Take note of the feasible ones among these weightings."""
        off = _off_balance(self.u[target], self.v, w, self.stretch[target])
        for i in np.flatnonzero(off <= BETA_TOLERANCE / 2):
            if np.bincount(self.point, w[i]).max() > 1 - 1e-9:
                continue  # all weight on copies of one system has no balance, whatever rounding says
            o, n = _Optimum(float(h[i]), float(p[i]), float(q[i]), w[i], float(w[i] @ w[i])), target[i]
            self.optima[n].append(o)
            if self.best[n] is None or o.P < self.best[n].P:
                self.best[n] = o
            self.add(n, o.q, o.h, o.p)

    def _best(self, name) -> np.ndarray:
        return np.array([getattr(o, name) for o in self.best])

    def dual(self) -> np.ndarray:
        """For each target whether its best saddle alone excludes every mean (remark 4)."""
        h, p, q, P = (self._best(name) for name in "hpqP")
        u, v = self.u, self.v
        square, s = _excluded(u, v, q, h, p, P * (1 - DUAL_GAP))
        own = np.maximum(h[:, None] + (u - p[:, None]) ** 2 - (v - q[:, None]) ** 2, 0) / np.where(s > 0, s, 1)[:, None]
        off_u, off_v = _dot(own, u) - p, own @ v - q
        uu, uv, vv = _dot(u, u), u @ v, v @ v
        den = 2 * (uu * vv - uv * uv) + s * vv
        # with y = q′ − own mean of v:  (y + off_v)² < square + s [(uu + s/2) y² + 2 off_u uv y + off_u² vv] / den  for every y
        a = s * (uu + s / 2) / den - 1
        b = s * off_u * uv / den - off_v
        c = square + s * off_u**2 * vv / den - off_v**2
        return (a > 0) & (c > 0) & (b * b < a * c)

    def gaps(self, targets) -> _Gaps:
        """What no row of these targets excludes."""
        rows = self._rows(targets)
        owner, q, P = self.target[rows], self.q[rows], self._best("P") * (1 - INTERVAL_GAP)
        half = np.sqrt(np.maximum(_excluded(self.u[owner], self.v, q, self.h[rows], self.p[rows], P[owner])[0], 0))
        low, high = q - half, q + half
        out = []
        for n in targets:
            mine = np.flatnonzero(owner == n)
            copies, around = self._copies(n)
            mine = mine[np.argsort(low[mine])]
            ends = np.maximum.accumulate(np.concatenate(([self.v.min()], high[mine])))
            nexts = np.minimum(np.concatenate((low[mine], [np.inf])), self.v.max())
            row = rows[np.append(mine, mine[-1])]
            for k in np.flatnonzero(ends < nexts):
                pieces = [(ends[k], nexts[k])]
                for c, r in zip(copies, around):
                    pieces = [p for l, u in pieces for p in ((l, min(u, c - r)), (max(l, c + r), u)) if p[0] < p[1]]
                out += [(n, l, u, row[k]) for l, u in pieces]
        table = np.array(out).reshape(-1, 4)
        return _Gaps(table[:, 0].astype(int), table[:, 1], table[:, 2], table[:, 3].astype(int))

    def _copies(self, n) -> tuple[np.ndarray, np.ndarray]:
        """Means at which all weight may lie on copies of one system, which has no balance though var_u = var_v; and how far around
        each no other weighting can have its mean.

        Only m copies with 1/m under the level matter. Such a point has v-gap² > u-gap² to every other system (else sharing the weight
        with that system would be feasible and better), and expanding the constraint about the point shows that a weighting with
        anything elsewhere has its mean of v at least min (v-gap² − u-gap²) / |v-gap| away.
        """
        heavy = np.flatnonzero(np.bincount(self.point) * self.best[n].P >= 1 - 1e-6)
        centre, around = np.zeros((2, heavy.size))
        for i, point in enumerate(heavy):
            k, other = np.flatnonzero(self.point == point)[0], self.point != point
            du, dv = np.abs(self.u[n, other] - self.u[n, k]), np.abs(self.v[other] - self.v[k])
            with np.errstate(divide="ignore", invalid="ignore"):
                centre[i], around[i] = self.v[k], max(0, ((dv - du) * (1 + du / dv)).min() * (1 - 8 * EPS))
        return centre, around

    def fill(self, gaps: _Gaps) -> None:
        """Exclude what can be from new centres inside the gaps; where nothing can, a better optimum is near: descend to it."""
        origin = self._best("q")[gaps.target]
        a, b = gaps.left - origin, gaps.right - origin
        near, far = np.where(np.abs(a) < np.abs(b), (a, b), (b, a))
        apart = near * far > 0  # the gap lies on one side of the best mean: geometric steps; else its middle
        ratio = np.where(apart, far / np.where(apart, near, 1), 1)
        count = np.maximum(1, np.ceil(np.log(ratio) / np.log(SPREAD))).astype(int)
        k = np.repeat(np.arange(count.size), count)
        nth = np.arange(k.size) - np.repeat(np.cumsum(count) - count, count)
        q = np.where(apart[k], origin[k] + near[k] * ratio[k] ** ((nth + 0.5) / count[k]), 0.5 * (gaps.left + gaps.right)[k])
        target, row = gaps.target[k], gaps.row[k]
        level = (self._best("P") * (1 - INTERVAL_GAP))[target]
        h, p, _ = _climb(self.u[target], self.v, q, self.h[row], self.p[row], level)
        self.add(target, q, h, p)
        bad = np.flatnonzero(_excluded(self.u[target], self.v, q, h, p, level)[0] <= 0)
        if bad.size:
            self._descend(target[bad], q[bad], gaps.left[k][bad], gaps.right[k][bad], h[bad], p[bad])


    def look_for_ties(self, targets) -> None:
        """Descend into other valleys as deep as the best: only there have rows remained whose bound is next to the best's."""
        rows = self._rows(targets)
        owner, q, P = self.target[rows], self.q[rows], self._best("P")
        square, s = _excluded(self.u[owner], self.v, q, self.h[rows], self.p[rows], P[owner])
        with np.errstate(all="ignore"):
            deep = np.abs(square) <= 1e-7 * self.h[rows]
        starts = []
        for n in targets:
            mine = np.flatnonzero(owner == n)
            mine = mine[np.argsort(q[mine])]
            known = [o.q for o in self.optima[n] if o.P <= P[n] * (1 + 1e-7)]
            edge = np.flatnonzero(np.diff(deep[mine], prepend=False, append=False))
            for first, stop in zip(edge[::2], edge[1::2]):  # runs of deep rows
                left, right = q[mine[max(first - 1, 0)]], q[mine[min(stop, mine.size - 1)]]
                if not any(left <= k <= right for k in known):
                    starts.append((n, mine[first:stop][np.argmin(square[mine[first:stop]])], left, right))
        if starts:
            target, at, left, right = (np.array(x) for x in zip(*starts))
            at = rows[at]
            self._descend(target, self.q[at], left, right, self.h[at], self.p[at])


# --- rows of saddles: u is (R, K), v is (K,), all else (R,) --------------------------------------------------------------------


def _excluded(u, v, q, h, p, P):
    """h − √P ‖z₊‖ for each row, less a bound on its rounding error; and ‖z₊‖ / √P."""
    root = np.sqrt(P)
    du2, dv2 = (u - p[:, None]) ** 2, (v - q[:, None]) ** 2
    z = h[:, None] + du2 - dv2
    on = z > 0
    n = np.sqrt(_dot(z, z * on))
    terms = (np.abs(h)[:, None] + du2 + dv2) * on
    slack = EPS * (4 * np.abs(h) + root * (8 * np.sqrt(_dot(terms, terms)) + v.size * n))
    return h - root * n - slack, n / root


def _climb(u, v, q, h, p, P=None):
    """For each row, move (h, p) uphill with the centre q fixed. Returns h, p and the height reached.

    With `P` the hill is h − √P ‖z₊‖, the square of the half-width excluded; without, it is h / ‖z₊‖, whose maximum is the square root
    of the least collision probability that this q allows.

    A norm has a sharp tip, where Newton's method is lost. So climb h − ½ s P − ½ ‖z₊‖² / s, smooth, with s > 0 an unknown too: its
    best value ‖z₊‖ / √P gives the hill back. (Without `P`, the hill is climbed with P = (h / ‖z₊‖)², so that s = ‖z₊‖² / h.)
    """
    out = np.empty((3, q.size))
    row, v2, fixed = np.arange(q.size), (v - q[:, None]) ** 2, P is not None
    s, P = np.full(q.size, np.nan), P if fixed else np.ones(q.size)
    best, top = (s, h, p), np.full(q.size, -np.inf)
    step, failed = (np.zeros(q.size),) * 3, np.zeros(q.size)
    with np.errstate(all="ignore"):
        for n_step in range(STEPS):
            du = u - p[:, None]
            du2 = du * du
            z = du2 - v2
            z += h[:, None]
            on = (z > 0).astype(float)
            peak = z.max(1) if fixed else None
            z *= on
            nn = _dot(z, z)
            if not fixed:
                s, height = nn / h, h / np.sqrt(nn)
            else:
                if n_step == 0:
                    s = np.where(nn > 0, np.sqrt(nn / P), v2.max(1))
                height = h - 0.5 * (s * P + nn / s)
            # minus the second derivatives, times s, in (relative change of s, change of z at u = p, change of p)
            sz, szu, m, mu, muu = z.sum(1), _dot(z, du), on.sum(1), _dot(on, du), _dot(on, du2)
            hh, hp, pp = m, -2 * mu, 4 * muu + 2 * s
            sh, sp = -sz, 2 * szu
            g_s, g_h, g_p = 0.5 * (nn - P * s * s) if fixed else 0, s - sz, 2 * szu
            d_h, d_p = _solve2(hh - sh * sh / nn * (1 - 1e-12), hp - sh * sp / nn, pp - sp * sp / nn, g_h - sh * g_s / nn, g_p - sp * g_s / nn)
            d_s = (g_s - sh * d_h - sp * d_p) / nn
            gain = (g_s * d_s + g_h * d_h + g_p * d_p) / s  # twice the rise Newton expects
            if fixed:
                wild = ~(np.abs(d_s - 1) < 1.75)
                if wild.any():  # first the best (h, p) for this s, then another s, not too far away
                    c_h, c_p = _solve2(hh, hp, pp, g_h, g_p)
                    c_s = np.where(g_h * c_h + g_p * c_p > 0.1 * P * s * s, 0, np.where(d_s > 0, 2.75, -0.75))
                    c_h, c_p = (c + c_s * r for c, r in zip((c_h, c_p), _solve2(hh, hp, pp, -sh, -sp)))
                    c_s, c_h, c_p = _choose(nn > 0, (c_s, c_h, c_p), (0, s - peak, 0))  # or up to where a system is in use
                    d_s, d_h, d_p, gain = _choose(wild, (c_s, c_h, c_p, np.inf), (d_s, d_h, d_p, gain))
            d_h = d_h - d_p * d_p
            if not fixed:
                cut = np.minimum(1, 0.8 * h / np.abs(d_h))
                d_h, d_p = cut * d_h, cut * d_p
            d_s = d_s * s
            better = height > top
            done = better & (gain <= 1e-13 * np.abs(h))
            # an interval this close to its widest is wide enough; above √½ no two systems reach the target with this mean
            done |= better & (gain < 0.02 * height) if fixed else height > 0.75
            here, way = (s, h, p), (d_s, d_h, d_p)
            if better.all():
                top, best, step, failed = height, here, way, np.zeros(better.size)
                s, h, p = (x + d for x, d in zip(here, way))
            else:
                top, failed = _choose(better, (height, 0), (top, failed + 1))
                best, step = _choose(better, here, best), _choose(better, way, step)
                # beyond a kink the step from the failed point often lands right; if not, go back and try a shorter step
                onward = better | (failed % 2 == 1) & np.isfinite(d_h + d_p)
                short = 0.25 ** ((failed + 1) // 2)
                s, h, p = _choose(onward, [x + d for x, d in zip(here, way)], [x + short * d for x, d in zip(best, step)])
            if done.any():
                out[:, row[done]] = best[1][done], best[2][done], top[done]
                if done.all():
                    return out
                row, u, v2, P, top, failed, s, h, p = (x[~done] for x in (row, u, v2, P, top, failed, s, h, p))
                best, step = ([x[~done] for x in y] for y in (best, step))
    out[:, row] = best[1], best[2], top
    return out


def _solve2(aa, ab, bb, a, b):
    det = aa * bb - ab * ab
    return (bb * a - ab * b) / det, (aa * b - ab * a) / det


def _descend(u, v, stretch, q, left, right, h, p):
    """For each row, from q down to the bottom of its valley of least collision, inside (left, right); then to full precision.

    Returns h, p, q and the weights (R, K).
    """
    h, p, height = _climb(u, v, q, np.where(h > 0, h, 0.5 * ((v - q[:, None]) ** 2).max(1)), p)
    w, miss, step = _stationarity(u, v, h, p, q)
    for _ in range(60):
        if (np.minimum(miss[1] ** 2, step[2] ** 2) <= 1e-14 * h).all():  # near enough for Newton's last steps
            break
        # the curve falls towards the weights' own mean of v, so that side of q brackets the bottom
        left, right = np.where(miss[1] > 0, q, left), np.where(miss[1] < 0, q, right)
        inside = (q + step[2] > left) & (q + step[2] < right)
        trial = np.where(inside, q + step[2], 0.5 * (left + right))
        close = inside & (np.abs(step[0]) < 0.5 * h)
        h2, p2, height2 = _climb(u, v, trial, *_choose(close, (h + step[0], p + step[1]), (h, p)))
        w2, miss2, step2 = _stationarity(u, v, h2, p2, trial)
        lower = height2 <= height * (1 + 1e-14)
        left, right = np.where(~lower & (trial < q), trial, left), np.where(~lower & (trial > q), trial, right)
        q, h, p, height, miss, step = _choose(lower, (trial, h2, p2, height2, miss2, step2), (q, h, p, height, miss, step))
        w = np.where(lower[:, None], w2, w)
    error = _error(u, v, stretch, h, w, miss)
    for margin in (0, 0, 1e-4, 1e-6, 0, 0):
        if (error <= 1e-15).all():
            break
        step = _stationarity(u, v, h, p, q, margin)[2]
        h2, p2, q2 = h + step[0], p + step[1], q + step[2]
        w2, miss2, _ = _stationarity(u, v, h2, p2, q2)
        error2 = _error(u, v, stretch, h2, w2, miss2)
        better = error2 < error
        h, p, q, error = _choose(better, (h2, p2, q2, error2), (h, p, q, error))
        w = np.where(better[:, None], w2, w)
    rough = ~(_off_balance(u, v, w, stretch) <= 1e-13)
    if rough.any():
        h[rough], p[rough], q[rough], w[rough] = _repair(u[rough], v, w[rough])
    return h, p, q, w


def _stationarity(u, v, h, p, q, margin=0.0):
    """The weights of each saddle, how far it is from its own means and from the constraint, and Newton's step (h, p, q) to mend that.

    Returns w (R, K); the residuals (3, R): mean of u − p, mean of v − q, var_u − var_v to first order; and the step (3, R). With a
    margin, systems are in use from z > −margin·h on, so that a step can bring one in.
    """
    with np.errstate(all="ignore"):
        du, dv = u - p[:, None], v - q[:, None]
        g = (du - dv) * (du + dv)
        z = h[:, None] + g
        on = (z > -margin * h[:, None]).astype(float)
        z *= on
        total = z.sum(1)
        f = np.array([_dot(z, du), _dot(z, dv), _dot(z, g)])
        on_u, on_v = on * du, on * dv
        uv = _dot(on_u, dv)
        jac = (
            np.array([on_u.sum(1), -2 * _dot(on_u, du) - total, 2 * uv]),
            np.array([on_v.sum(1), -2 * uv, 2 * _dot(on_v, dv) - total]),
            np.array([_dot(on, g), -2 * _dot(on_u, g) - 2 * f[0], 2 * _dot(on_v, g) + 2 * f[1]]),
        )
        across = [_cross(jac[n - 2], jac[n - 1]) for n in range(3)]  # the cofactors, row by row
        step = -sum(x * c for x, c in zip(f, across)) / (jac[0] * across[0]).sum(0)
        return z / total[:, None], f / total, step


def _repair(u, v, w):
    """Move a little weight of each row to one system so that var_u = var_v holds; the system that leaves the least collision.

    Very near an end of the range the optimum is a pair with next to nothing elsewhere, and Newton's method cannot see which system
    is about to enter. Moving a share s to system k changes var_u − var_v to (1 − s)(var_u − var_v + s·g_k). Returns h, p, q, w;
    nan where no share will do.
    """
    p, q = _dot(w, u), w @ v
    g = (u - p[:, None]) ** 2 - (v - q[:, None]) ** 2
    with np.errstate(all="ignore"):
        share = -_dot(w, g)[:, None] / g
        collision = (1 - share) ** 2 * _dot(w, w)[:, None] + 2 * share * (1 - share) * w + share**2
        possible = (share >= 0) & (share < 1)
        row, k = np.arange(p.size), np.where(possible, collision, np.inf).argmin(1)
        share = np.where(possible[row, k], share[row, k], np.nan)
        w = w * (1 - share)[:, None]
        w[row, k] += share
    return np.maximum(0, -g[row, k]), p, q, w


def _error(u, v, stretch, h, w, miss):
    """How far each row is from a local optimum: its means in units of √h, its balance as it is."""
    with np.errstate(all="ignore"):
        return np.maximum(np.abs(miss[:2]).max(0) / np.sqrt(h), _off_balance(u, v, w, stretch))


def _off_balance(u, v, w, stretch):
    """|β(w) − β̂| for each row; nan where all weight is in one place."""
    with np.errstate(all="ignore"):
        var_u, var_v = _dot(w, (u - _dot(w, u)[:, None]) ** 2), _dot(w, (v - (w @ v)[:, None]) ** 2)
        return np.abs(var_u - var_v) / ((1 / stretch**2 + 1) * (var_u + stretch**2 * var_v))


def _choose(mask, new, old):
    return [np.where(mask, a, b) for a, b in zip(new, old)]


def _dot(a, b):
    return np.vecdot(a, b)


def _cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
