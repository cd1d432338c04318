"""The solver people call: the most even weighting of a pool at a target balance, with a proof that none is better.

**The problem.** Among the weightings of K systems with balance β̂ and at least two different systems in use, find one
with the smallest collision probability Σw² (the largest effective sample size). Balance is not a convex constraint, so
a local optimum proves nothing, and the published search visits supports by the thousand. Four remarks make the problem
small.

1. *One side.* On the way from the uniform weighting to any other, Σw² grows. So if β̂ lies above the natural balance,
   asking for "at least β̂" changes nothing. Write v for the aspect whose share must shrink (fluency here) and u for the
   other, stretched by √((1−β̂)/β̂): the constraint becomes **var_u(w) ≥ var_v(w)**. Below the natural balance the
   aspects change places.
2. *The clipped saddle.* Local optima have weights in proportion to max(0, z_k), z_k = h + (u_k − p)² − (v_k − q)², with
   p and q their own weighted means: three numbers (h, p, q) instead of K.
3. *One inequality proves everything.* Take any three numbers (h, p, q), any weighting w that satisfies the constraint,
   and let p′ and q′ be its means of u and v. Expanding squares and then Cauchy–Schwarz give

       h − (q′ − q)²  ≤  h + var_u(w) + (p′ − p)² − var_v(w) − (q′ − q)²  =  Σ w z  ≤  ‖w‖ ‖z₊‖.

   So **a weighting with Σw² ≤ P has (q′ − q)² ≥ h − √P ‖z₊‖**: each saddle excludes an interval of means, centre q.
   Choosing h and p to make it widest is a concave maximisation in two unknowns. When intervals cover all of
   [min v, max v] for P just under the best collision found, that best is optimal: certificate "interval".
4. *Near the natural balance one saddle is enough.* Cauchy–Schwarz loses a multiple of ‖w − w*‖², w* the saddle's own
   weights, and that is at least a quadratic form in (p′, q′). Kept, it outgrows (q′ − q)² when the Lagrangian is
   convex: certificate "dual".

**The work.** Saddles on a grid of q (maximising h / ‖z₊‖ gives the least collision for that q) → the valleys of that
curve, descended to full precision → the dual test → intervals around the best valley, at distances in geometric
progression, gaps split until none is left. If a centre cannot be excluded, a better weighting is near and becomes the
best. All targets of a sweep go through each step together, as rows of one array (`saddle`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from ..core import check
from ..core.balance import EPS, Standard, _gap_balance, _reachable, _steps, _unit, out_of_reach
from .result import Reweighting
from .saddle import climb, descend, dot, excluded, off_balance, repair

DUAL_GAP = 1e-11  # the relative gap one saddle proves: well above the rounding of a sum of a thousand terms
INTERVAL_GAP = 5e-10  # what intervals prove; the narrowest is about √gap wide, so this is a price, not a limit
BETA_TOLERANCE = 1e-12
GRID = 8  # starting centres spread evenly over the range of v, and as many spread as the systems are
SPREAD = 4.0  # ratio of successive distances of the intervals from the best mean
ROUNDS = 60  # rounds of gap splitting before giving up; as many halvings exhaust double precision
ROWS = 20_000  # saddles per target before giving up; thirty are usual, a pool next to a line takes thousands
RELIABLE = 0.9  # a weighting is called reliable while its effective sample size is at least this share of K
CELLS = 1 << 18  # numbers per work array; sweeps are cut into blocks of about this size


class NotProven(RuntimeError):
    """No proof of optimality was completed, so there is no answer to return.

    Seen only where systems that are not copies lie within 1e-5 of the pool's spread of each other.
    """


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
                for n, result in zip(part, _solve(pool, betas[part], above), strict=True):
                    out[n] = result
                bar.update(len(part))
    return out


def beta_interval(adequacy, fluency, ess) -> tuple[float, float]:
    """The interval of targets whose best weighting keeps an effective sample size of at least `ess`, 1 ≤ ess ≤ K.

    It is an interval because ESS*(β) rises up to the natural balance and falls after it. Ends to about 1e-12, rounded
    inwards.

    >>> low, high = beta_interval([0, 1, 2, 3], [0, 2, 1, 1], 3)
    >>> round(low, 6), round(high, 6)
    (0.471543, 0.876428)
    """
    pool = Standard.of(adequacy, fluency)
    size, ess = pool.a.size, check.vector([ess], "ess")[0]
    if not 1 <= ess <= size:
        raise ValueError(f"ess is {ess:g}; a value from 1 to the number of systems, {size}, is expected")
    goal = np.sqrt(max(0, 1 / ess - 1 / size))
    natural = _balance(pool, np.full(size, 1 / size))
    return tuple(_edge(adequacy, fluency, natural, end, goal) for end in _reachable(pool))


def reliable_interval(adequacy, fluency, share: float = RELIABLE) -> tuple[float, float]:
    """The balances at which the best weighting keeps an effective sample size of at least `share` of the K systems.

    >>> low, high = reliable_interval([0, 1, 2, 3], [0, 2, 1, 1])
    >>> round(low, 3), round(high, 3)
    (0.607, 0.8)
    """
    return beta_interval(adequacy, fluency, max(1.0, share * len(adequacy)))  # no weighting has less than 1


def _edge(adequacy, fluency, inner, outer, goal) -> float:
    """The target from `inner` (uniform) to `outer` where √(Σw² − 1/K) reaches `goal`: Newton's method in a bracket."""
    if goal == 0:
        return inner
    beta, first = outer, True
    while True:
        r = reweight(adequacy, fluency, beta)
        w = r.weights
        height = np.sqrt(max(0, w @ w - 1 / w.size))
        inner, outer = (beta, outer) if height <= goal else (inner, beta)
        if height <= goal and (first or height >= goal * (1 - 1e-12)) or abs(outer - inner) <= 1e-13:
            return float(inner)
        aim = goal * (1 - 5e-13) - height
        if first:
            step = (outer - inner) * aim / height  # the curve is nearly straight from the natural balance on
        else:
            var = sum(w @ (x - w @ x) ** 2 for x in (np.asarray(adequacy, float), np.asarray(fluency, float)))
            with np.errstate(all="ignore"):
                step = aim * height / (-r.eta * var)  # d(½Σw²)/dβ̂ = −η (σ(a; w)² + σ(f; w)²), by the envelope theorem
        beta, first = beta + step, False
        if not min(inner, outer) < beta < max(inner, outer):
            beta = 0.5 * (inner + outer)


# --- targets that need no search -------------------------------------------------------------------------------------


def _targets(betas, low: float, high: float) -> np.ndarray:
    betas = check.vector(betas, "betas")
    for beta in betas:
        if not low - 4 * EPS <= _unit(beta) <= high + 4 * EPS:
            raise out_of_reach(beta, low, high)
    return np.clip(betas, low, high)


def _balance(pool: Standard, w: np.ndarray) -> float:
    s_a, s_f = (w @ (x - w @ x) ** 2 for x in (pool.a, pool.f))
    return float(s_a / (s_a + s_f))


def _uniform(pool: Standard, beta: float) -> Reweighting:
    w = np.full(pool.a.size, 1 / pool.a.size)
    return Reweighting(w, _balance(pool, w), float(beta), "uniform", 0.0, 0.0, -1 / w.size)


def _at_end(pool: Standard, beta: float, low: bool) -> Reweighting:
    """Every two points in use attain the end, so all lie on one line; the fullest such line wins."""
    best, tie = _end_lines(*((pool.f, pool.a) if low else (pool.a, pool.f)))
    return Reweighting(best, _balance(pool, best), float(beta), "pair", 0.0, np.nan, np.nan, tie)


def _end_lines(x, y) -> tuple[np.ndarray, np.ndarray | None]:
    """Uniform weights on the fullest line of points whose pairs have the largest share of x; a second as full, or None.

    Three points whose pairs share one |slope| are collinear, and the points of such a line are neighbours in sorted
    order, by the argument of `reachable`: a line is a run of steps of extreme slope and one sign.
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


# --- one side of the natural balance, all targets together -----------------------------------------------------------


class _Optimum(NamedTuple):
    """A feasible weighting, most often the bottom of a valley: its saddle (h, p, q), its weights, their collision."""

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
    if None in side.best:
        raise NotProven(_unproven(betas[[o is None for o in side.best]]))
    dual = side.dual()
    left = np.flatnonzero(~dual)
    for _ in range(ROUNDS):
        gaps = side.gaps(left)
        left = np.unique(gaps.target)
        if not left.size:
            break
        if side._rows(left).size > ROWS * left.size:
            raise NotProven(_unproven(betas[left]))
        side.fill(gaps)
    else:
        raise NotProven(_unproven(betas[left]))
    side.look_for_ties(np.flatnonzero(~dual))
    return [_result(pool, beta, above, side.u[n], v, side.optima[n], dual[n]) for n, beta in enumerate(betas)]


def _unproven(betas) -> str:
    where = ", ".join(f"{beta:.17g}" for beta in betas)
    return f"optimality was not proven at beta = {where}; systems may be too close together, or the target to an end"


def _result(pool, beta, above, u, v, optima, dual) -> Reweighting:
    best, *others = sorted(optima, key=lambda o: o.P)
    ties = [o for o in others if o.P <= best.P * (1 + INTERVAL_GAP) and np.abs(o.w - best.w).sum() > 1e-3]
    for o in (best, *ties[:1]):
        found = _balance(pool, o.w)
        if not (abs(found - beta) <= BETA_TOLERANCE and abs(o.w.sum() - 1) <= BETA_TOLERANCE and o.w.min() >= 0):
            raise NotProven(f"the weights found for beta = {beta:.17g} have balance {found:.17g}")
    w, on = best.w, best.w > 0
    g = (u - w @ u) ** 2 - (
        v - w @ v
    ) ** 2  # w = max(0, Σw² + slope·g); fitted, as repaired weights have left their saddle
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
    """n targets: the pool stretched for each, the optima found, the saddles (target, q, h, p) that cover the line."""

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
        """The optimum at the end of the range, and the valleys of least collision as a grid of q shows them."""
        n, v = self.stretch.size, self.v
        every = np.arange(n)
        self._offer(every, *repair(self.u, v, np.tile(self.line, (n, 1))))
        self._offer_lines()
        share = (np.arange(GRID) + 0.5) / GRID
        spread = np.sort(v)[(share * v.size).astype(int)]
        grid = np.unique(np.concatenate((v.min() + share * np.ptp(v), spread, [self.line @ v])))
        target, q = np.repeat(every, grid.size), np.tile(grid, n)
        all_in = 0.5 * ((v - grid[:, None]) ** 2).max(1)  # high enough for most systems to be in use
        h, p, height = climb(self.u[target], v, q, np.tile(all_in, n), np.zeros(q.size))
        self.add(target, q, h, p)
        edged = np.pad(height.reshape(n, -1), ((0, 0), (1, 1)), constant_values=np.inf)
        mid = edged[:, 1:-1]
        low = (mid <= edged[:, :-2]) & (mid <= edged[:, 2:]) & (mid <= 1.1 * mid.min(1)[:, None])
        at = np.flatnonzero(low.ravel())
        left, right = np.concatenate(([v.min()], grid[:-1])), np.concatenate((grid[1:], [v.max()]))
        self._descend(target[at], q[at], left[at % grid.size], right[at % grid.size], h[at], p[at], height[at])

    def _offer_lines(self) -> None:
        """Uniform weights on systems on one line with exactly the target's slope: any weights on them have the balance.

        Such an optimum has no multiplier, so no saddle leads to it. In stretched scores u + v or u − v is constant.
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

    def _descend(self, target, *rows) -> None:
        self._offer(target, *descend(self.u[target], self.v, self.stretch[target], *rows))

    def _offer(self, target, h, p, q, w) -> None:
        """Take note of the feasible ones among these weightings."""
        off = off_balance(self.u[target], self.v, w, self.stretch[target])
        for i in np.flatnonzero(off <= BETA_TOLERANCE / 2):
            if np.bincount(self.point, w[i]).max() > 1 - 1e-9:
                continue  # all weight on copies of one system has no balance, whatever rounding says
            share = w[i] + 0.0  # clipping leaves −0.0, and −0.0 + 0.0 is 0.0
            o, n = _Optimum(float(h[i]), float(p[i]), float(q[i]), share, float(share @ share)), target[i]
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
        square, s = excluded(u, v, q, h, p, P * (1 - DUAL_GAP))
        z = np.maximum(h[:, None] + (u - p[:, None]) ** 2 - (v - q[:, None]) ** 2, 0)
        own = z / np.where(s > 0, s, 1)[:, None]
        off_u, off_v = dot(own, u) - p, own @ v - q
        uu, uv, vv = dot(u, u), u @ v, v @ v
        den = 2 * (uu * vv - uv * uv) + s * vv
        # for every y = q′ − own mean of v:  (y + off_v)² < square + s [(uu + s/2) y² + 2 off_u uv y + off_u² vv] / den
        a = s * (uu + s / 2) / den - 1
        b = s * off_u * uv / den - off_v
        c = square + s * off_u**2 * vv / den - off_v**2
        return (a > 1e-9) & (c > 0) & (b * b < a * c)  # a is known to fewer digits where the pool is nearly a line

    def gaps(self, targets) -> _Gaps:
        """What no row of these targets excludes."""
        rows, bottom, top = self._rows(targets), self.v.min(), self.v.max()
        owner = self.target[rows]
        low, high = self._intervals(rows)
        out = []
        for n in targets:
            mine = np.flatnonzero(owner == n)
            mine = mine[np.argsort(low[mine])]
            ends = np.maximum.accumulate(np.concatenate(([bottom], high[mine])))
            nexts = np.minimum(np.concatenate((low[mine], [np.inf])), top)
            row = rows[np.append(mine, mine[-1])]
            copies = self._copies(n)
            for k in np.flatnonzero(ends < nexts):
                pieces = [(ends[k], nexts[k])]
                for left, right in copies:
                    pieces = [x for a, b in pieces for x in ((a, min(b, left)), (max(a, right), b)) if x[0] < x[1]]
                out += [(n, a, b, row[k]) for a, b in pieces]
        table = np.array(out).reshape(-1, 4)
        return _Gaps(table[:, 0].astype(int), table[:, 1], table[:, 2], table[:, 3].astype(int))

    def _intervals(self, rows) -> tuple[np.ndarray, np.ndarray]:
        """The means each row excludes, from where to where, rounded inwards."""
        n, q = self.target[rows], self.q[rows]
        square = excluded(self.u[n], self.v, q, self.h[rows], self.p[rows], self._level()[n])[0]
        half = np.maximum(0, np.sqrt(np.maximum(0, square)) - 4 * EPS)
        return q - half, q + half

    def _level(self) -> np.ndarray:
        """For each target the collision probability below which nothing may remain."""
        return self._best("P") * (1 - INTERVAL_GAP)

    def _copies(self, n) -> list[tuple[float, float]]:
        """Intervals around systems with many copies that hold no mean but that of all weight on the copies.

        Such a weighting has no balance, but var_u = var_v, so no saddle excludes it. Only m copies with 1/m under the
        level matter. Then v-gap² > u-gap² to every other system (else sharing the weight with it would be feasible and
        better), and expanding the constraint about the copies shows that a weighting with anything elsewhere has its
        mean of v at least min (v-gap² − u-gap²) / |v-gap| away.
        """
        out = []
        for point in np.flatnonzero(np.bincount(self.point) * self.best[n].P >= 1 - 1e-6):
            k, other = np.flatnonzero(self.point == point)[0], self.point != point
            du, dv = np.abs(self.u[n, other] - self.u[n, k]), np.abs(self.v[other] - self.v[k])
            with np.errstate(divide="ignore", invalid="ignore"):
                away = max(0, ((dv - du) * (1 + du / dv)).min() * (1 - 8 * EPS) - 4 * EPS)
            out.append((self.v[k] - away, self.v[k] + away))
        return out

    def fill(self, gaps: _Gaps) -> None:
        """Exclude what can be from new centres in the gaps; where nothing can, descend: a better optimum is near."""
        origin = self._best("q")[gaps.target]
        a, b = gaps.left - origin, gaps.right - origin
        near, far = np.where(np.abs(a) < np.abs(b), (a, b), (b, a))
        apart = near * far > 0  # the gap lies on one side of the best mean: geometric steps; else its middle
        ratio = np.where(apart, far / np.where(apart, near, 1), 1)
        count = np.maximum(1, np.ceil(np.log(ratio) / np.log(SPREAD))).astype(int)
        k = np.repeat(np.arange(count.size), count)
        nth = np.arange(k.size) - np.repeat(np.cumsum(count) - count, count)
        geometric = origin[k] + near[k] * ratio[k] ** ((nth + 0.5) / count[k])
        q = np.where(apart[k], geometric, 0.5 * (gaps.left + gaps.right)[k])
        n, row, level = gaps.target[k], gaps.row[k], self._level()[gaps.target[k]]
        h, p, _ = climb(self.u[n], self.v, q, self.h[row], self.p[row], level)
        self.add(n, q, h, p)
        bad = np.flatnonzero(excluded(self.u[n], self.v, q, h, p, level)[0] <= 0)
        if bad.size:
            self._descend(n[bad], q[bad], gaps.left[k][bad], gaps.right[k][bad], h[bad], p[bad])

    def look_for_ties(self, targets) -> None:
        """Descend into other valleys as deep as the best: there must be rows whose bound is next to the best's."""
        rows = self._rows(targets)
        owner, q, P = self.target[rows], self.q[rows], self._best("P")
        square = excluded(self.u[owner], self.v, q, self.h[rows], self.p[rows], P[owner])[0]
        deep = np.abs(square) <= 1e-7 * self.h[rows]
        starts = []
        for n in targets:
            mine = np.flatnonzero(owner == n)
            mine = mine[np.argsort(q[mine])]
            known = [o.q for o in self.optima[n] if o.P <= P[n] * (1 + 1e-7)]
            edge = np.flatnonzero(np.diff(deep[mine], prepend=False, append=False))
            for first, stop in zip(edge[::2], edge[1::2], strict=True):  # runs of deep rows
                left, right = q[mine[max(first - 1, 0)]], q[mine[min(stop, mine.size - 1)]]
                if not any(left <= k <= right for k in known):
                    starts.append((n, mine[first:stop][np.argmin(square[mine[first:stop]])], left, right))
        if starts:
            target, at, left, right = (np.array(x) for x in zip(*starts, strict=True))
            at = rows[at]
            self._descend(target, self.q[at], left, right, self.h[at], self.p[at])
