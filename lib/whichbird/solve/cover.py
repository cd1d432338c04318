"""The line of means of many targets, covered by saddles: `Side`, the search of `reweight` beyond the natural balance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..core.balance import EPS, distinct_steps
from .careful import SPREAD
from .ends import end_lines, holes
from .saddle import alone, climb, descend, excluded, off_balance, repair

DUAL_GAP = 1e-11  # the relative gap one saddle proves: well above the rounding of a sum of a thousand terms
INTERVAL_GAP = 5e-10  # what intervals prove; the narrowest is about √gap wide, so this is a price, not a limit
BETA_TOLERANCE = 1e-12
GRID = 8  # starting centres spread evenly over the range of v, and as many spread as the systems are
TIE = 1e-9  # a weighting whose collision is this near to the best, relatively, may be as good;
APART = 1e-3  # it is another one if the two differ by more than this in total, Σ|w − w′|
ROWS = 2000  # saddles per target before it is done again with care; thirty are usual, mirrored optima took 1153
SOLVE_CELLS = 1 << 18  # numbers per work array; many targets are cut into blocks of about this size


class Optimum(NamedTuple):
    """A feasible weighting, most often the bottom of a valley: its saddle (h, p, q), its weights, their collision."""

    h: float
    p: float
    q: float
    w: np.ndarray
    P: float


def groups(targets: np.ndarray, owner: np.ndarray, key: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """For each target the positions in `owner` that are its own, sorted by `key`."""
    order = np.lexsort((key, owner))
    starts, stops = (np.searchsorted(owner[order], targets, side=side) for side in ("left", "right"))
    for n, start, stop in zip(targets, starts, stops, strict=True):
        yield n, order[start:stop]


def parts(x: np.ndarray, size: int) -> list[np.ndarray]:
    return [x[start : start + size] for start in range(0, x.size, size)]


class Gaps(NamedTuple):
    """Parts of the line not yet excluded: whose target, from where to where, and a row that ends there."""

    target: np.ndarray
    left: np.ndarray
    right: np.ndarray
    row: np.ndarray

    def of(self, targets: np.ndarray) -> Gaps:
        return Gaps(*(x[np.isin(self.target, targets)] for x in self))


class Side:
    """n targets: the pool stretched for each, the optima found, the saddles (target, q, h, p) that cover the line.

    x, v (M, K) are the scores of M pools, `kind` (n,) says which of them belongs to a target.
    """

    def __init__(self, x: np.ndarray, v: np.ndarray, stretch: np.ndarray, kind: np.ndarray | None = None) -> None:
        x, v = np.atleast_2d(x), np.atleast_2d(v)
        kind = np.zeros(stretch.size, int) if kind is None else kind
        self.stretch, self.kind, self.u, self.v = stretch, kind, stretch[:, None] * x[kind], v[kind]
        self.points = [distinct_steps(*pool)[0] for pool in zip(x, v, strict=True)]
        self.line = np.array([end_lines(*pool)[0] for pool in zip(x, v, strict=True)])
        self.optima: list[list[Optimum]] = [[] for _ in stretch]
        self.best: list[Optimum | None] = [None] * stretch.size
        self.target = np.empty(0, int)
        self.q = self.h = self.p = np.empty(0)
        self._block = max(1, SOLVE_CELLS // v.shape[1])  # rows at a time

    def add(self, target: np.ndarray, q: np.ndarray, h: np.ndarray, p: np.ndarray) -> None:
        self.target = np.append(self.target, target)
        self.q, self.h, self.p = np.append(self.q, q), np.append(self.h, h), np.append(self.p, p)

    def _rows(self, targets: np.ndarray) -> np.ndarray:
        wanted = np.zeros(self.stretch.size, bool)
        wanted[targets] = True
        return np.flatnonzero(wanted[self.target])

    def start(self) -> None:
        """The optimum at the end of the range, and the valleys of least collision as a grid of q shows them."""
        self.offer(np.arange(self.stretch.size), *repair(self.u, self.v, self.line[self.kind]))
        self.offer_lines()
        target, q = self._grid()
        v = self.v[target]
        all_in = 0.5 * ((v - q[:, None]) ** 2).max(1)  # high enough for most systems to be in use
        h, p, height = climb(self.u[target], v, q, all_in, np.zeros(q.size))
        self.add(target, q, h, p)
        last, first = (np.diff(target, **{side: -1}) != 0 for side in ("append", "prepend"))
        before, after = np.where(first, np.inf, np.roll(height, 1)), np.where(last, np.inf, np.roll(height, -1))
        least = np.minimum.reduceat(height, np.flatnonzero(first))[target]
        at = np.flatnonzero((height <= before) & (height <= after) & (height <= 1.1 * least))
        left = np.where(first, self.v.min(1)[target], np.roll(q, 1))
        right = np.where(last, self.v.max(1)[target], np.roll(q, -1))
        self._descend(target[at], *(x[at] for x in (q, left, right, h, p, height)))

    def _grid(self) -> tuple[np.ndarray, np.ndarray]:
        """Starting centres, target by target and sorted: whose, and where."""
        share = (np.arange(GRID) + 0.5) / GRID
        owner, q = [], []
        for kind, line in enumerate(self.line):
            mine = np.flatnonzero(self.kind == kind)
            v = self.v[mine[0]]
            spread = np.sort(v)[(share * v.size).astype(int)]
            centres = np.unique(np.concatenate((v.min() + share * np.ptp(v), spread, [line @ v])))
            owner.append(np.repeat(mine, centres.size))
            q.append(np.tile(centres, mine.size))
        target = np.concatenate(owner)
        order = np.argsort(target, kind="stable")
        return target[order], np.concatenate(q)[order]

    def offer_lines(self) -> None:
        """Uniform weights on systems on one line with exactly the target's slope: any weights on them have the balance.

        Such an optimum has no multiplier, so no saddle leads to it. In stretched scores u + v or u − v is constant.
        """
        for e in (self.u + self.v, self.u - self.v):
            order = np.argsort(e, axis=1)
            same = np.diff(np.take_along_axis(e, order, 1), axis=1) <= 8 * EPS * np.abs(e).max(1)[:, None]
            point = np.take_along_axis(np.array(self.points)[self.kind], order, 1)
            more = point[:, 1:] != point[:, :-1]  # not only copies
            for n in np.flatnonzero((same & more).any(1)):
                run = np.cumsum(np.concatenate(([0], ~same[n])))
                full = np.bincount(run) * (np.bincount(run[1:], same[n] & more[n], run[-1] + 1) > 0)
                for line in np.flatnonzero(full == full.max()):
                    w = np.zeros((1, run.size))
                    w[0, order[n][run == line]] = 1 / full.max()
                    self.offer(np.array([n]), np.zeros(1), w @ self.u[n], w @ self.v[n], w)

    def _descend(
        self,
        target: np.ndarray,
        q: np.ndarray,
        left: np.ndarray,
        right: np.ndarray,
        h: np.ndarray,
        p: np.ndarray,
        height: np.ndarray | None = None,
    ) -> None:
        u, v, stretch = self.u[target], self.v[target], self.stretch[target]
        self.offer(target, *descend(u, v, stretch, q, left, right, h, p, height))

    def offer(self, target: np.ndarray, h: np.ndarray, p: np.ndarray, q: np.ndarray, w: np.ndarray) -> None:
        """Take note of the feasible ones among these weightings."""
        off = off_balance(self.u[target], self.v[target], w, self.stretch[target])
        new = []
        for i in np.flatnonzero(off <= BETA_TOLERANCE / 2):
            n = target[i]
            if np.bincount(self.points[self.kind[n]], w[i]).max() > 1 - 1e-9:
                continue  # all weight on copies of one system has no balance, whatever rounding says
            share = w[i] + 0.0  # clipping leaves −0.0, and −0.0 + 0.0 is 0.0
            o = Optimum(float(h[i]), float(p[i]), float(q[i]), share, float(share @ share))
            self.optima[n].append(o)
            if self.best[n] is None or o.P < self.best[n].P:
                self.best[n] = o
            new.append((n, o.q, o.h, o.p))
        if new:
            self.add(*map(np.array, zip(*new, strict=True)))

    def _best(self, name: str) -> np.ndarray:
        return np.array([getattr(o, name) for o in self.best])

    def dual(self) -> np.ndarray:
        """For each target whether its best saddle alone excludes every mean (remark 4)."""
        h, p, q, P = (self._best(name) for name in "hpqP")
        return alone(self.u, self.v, q, h, p, P * (1 - DUAL_GAP))

    def cover(self, targets: np.ndarray, rounds: int) -> np.ndarray:
        """Split gaps for some rounds; those of the targets that have none left."""
        left, done = targets, [np.empty(0, int)]
        for _ in range(rounds):
            gaps = self.gaps(left)
            done.append(np.setdiff1d(left, gaps.target))
            left = np.unique(gaps.target)
            left = left[np.bincount(self.target, minlength=self.stretch.size)[left] <= ROWS]
            if not left.size:
                break
            self.fill(gaps.of(left))
        return np.sort(np.concatenate(done))

    def rivals(self, targets: np.ndarray) -> Gaps:
        """Where a weighting as good as the best, and not one of the optima found, may have its mean: pieces of the line that
        are not excluded slightly above the best, but for those with means too near to an optimum's.

        If w is the optimum of a saddle h, q, and w′ another weighting, with mean q′ of v, then w·w′ ≥ P(1 − (q′ − q)²/h):
        remark 3 before Cauchy–Schwarz, if w is z₊ P/h, as it is unless it was repaired. So ‖w′ − w‖² ≤ P′ − P + 2P(q′ − q)²/h.
        """
        gaps, size = self.gaps(targets, 1 + TIE), self.v.shape[1]
        near = np.zeros(gaps.target.size, bool)
        for k, (n, left, right, _) in enumerate(zip(*gaps, strict=True)):
            level = (1 + TIE) * min(o.P for o in self.optima[n])
            for o in self.optima[n]:
                if o.P <= level and o.h > 0 and self._own(n, o):
                    square = level - o.P + 2 * o.P * max(abs(left - o.q), abs(right - o.q)) ** 2 / o.h
                    near[k] |= size * square <= APART**2  # the sum of K numbers is at most √K times their norm
        return Gaps(*(x[~near] for x in gaps))

    def _own(self, n: int, o: Optimum) -> bool:
        """Whether the weights of an optimum are those of its saddle."""
        z = np.maximum(0, o.h + (self.u[n] - o.p) ** 2 - (self.v[n] - o.q) ** 2)
        return bool(np.abs(z * (o.P / o.h) - o.w).max() <= 1e-10)

    def gaps(self, targets: np.ndarray, level: float = 1 - INTERVAL_GAP) -> Gaps:
        """What no row of these targets excludes, for collisions below `level` times the best."""
        rows, bottom, top = self._rows(targets), self.v.min(1), self.v.max(1)
        owner = self.target[rows]
        low, high = self._intervals(rows, level)
        out = []
        for n, mine in groups(targets, owner, low):
            ends = np.maximum.accumulate(np.concatenate(([bottom[n]], high[mine])))
            nexts = np.minimum(np.concatenate((low[mine], [np.inf])), top[n])
            row = rows[np.append(mine, mine[-1])]
            best = self.best[n]
            assert best is not None  # targets without any weighting have been given up before
            copies = holes(self.u[n], self.v[n], self.points[self.kind[n]], best.P)
            for k in np.flatnonzero(ends < nexts):
                pieces = [(ends[k], nexts[k])]
                for left, right, _ in copies:
                    pieces = [x for a, b in pieces for x in ((a, min(b, left)), (max(a, right), b)) if x[0] < x[1]]
                out += [(n, a, b, row[k]) for a, b in pieces]
        table = np.array(out).reshape(-1, 4)
        return Gaps(table[:, 0].astype(int), table[:, 1], table[:, 2], table[:, 3].astype(int))

    def _intervals(self, rows: np.ndarray, level: float = 1 - INTERVAL_GAP) -> tuple[np.ndarray, np.ndarray]:
        """The means each row excludes, from where to where, rounded inwards."""
        q, square = self.q[rows], self._square(rows, self._best("P") * level)
        half = np.maximum(0, np.sqrt(np.maximum(0, square)) - 4 * EPS)
        return q - half, q + half

    def _square(self, rows: np.ndarray, P: np.ndarray) -> np.ndarray:
        """What `excluded` says of rows, at the level P of their targets (n,)."""
        out = np.empty(rows.size)
        for part in parts(np.arange(rows.size), self._block):
            some = rows[part]
            n = self.target[some]
            out[part] = excluded(self.u[n], self.v[n], self.q[some], self.h[some], self.p[some], P[n])[0]
        return out

    def _level(self) -> np.ndarray:
        """For each target the collision probability below which nothing may remain."""
        return self._best("P") * (1 - INTERVAL_GAP)

    def fill(self, gaps: Gaps) -> None:
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
        h, p = np.empty((2, q.size))
        for part in parts(np.arange(q.size), self._block):
            args = self.u[n[part]], self.v[n[part]], q[part], self.h[row[part]], self.p[row[part]], level[part]
            h[part], p[part], _ = climb(*args)
        self.add(n, q, h, p)
        bad = np.flatnonzero(self._square(np.arange(self.q.size - q.size, self.q.size), self._level()) <= 0)
        if bad.size:
            self._descend(n[bad], q[bad], gaps.left[k][bad], gaps.right[k][bad], h[bad], p[bad])

    def look_for_ties(self, targets: np.ndarray) -> None:
        """Descend into other valleys as deep as the best: there must be rows whose bound is next to the best's."""
        rows = self._rows(targets)
        owner, q, P = self.target[rows], self.q[rows], self._best("P")
        square = self._square(rows, P)
        deep = np.abs(square) <= 1e-7 * self.h[rows]
        starts = []
        for n, mine in groups(targets, owner, q):
            known = [o.q for o in self.optima[n] if o.P <= P[n] * (1 + 1e-7)]
            depth = np.where(deep[mine], square[mine], np.inf)
            around = np.pad(depth, 1, constant_values=np.inf)
            for k in np.flatnonzero(deep[mine] & (depth <= around[:-2]) & (depth <= around[2:])):
                left, right = q[mine[max(int(k) - 1, 0)]], q[mine[min(int(k) + 1, mine.size - 1)]]
                if not any(left <= x <= right for x in known):
                    starts.append((n, mine[k], left, right))
        if starts:
            target, at, left, right = (np.array(x) for x in zip(*starts, strict=True))
            at = rows[at]
            self._descend(target, self.q[at], left, right, self.h[at], self.p[at])
        open_ = self.rivals(targets)
        h, p = self.h[open_.row], self.p[open_.row]
        for share in (0.1, 0.9) if h.size else ():  # perhaps two valleys between the same two rows: from either end
            q = open_.left + share * (open_.right - open_.left)
            self._descend(open_.target, q, open_.left, open_.right, h, p)
