"""One target with care: the cover of `reweight` where ordinary numbers end, in whole numbers where they must not.

Near-copies, systems next to a line of the target's slope, outliers: there two scales meet in one pool, and a double that
holds the large one has no digits left for the small one. Four measures help.

1. *Exact places.* e = u + v and d = u − v of every system are kept as whole numbers of a tiny unit (`cone`). A saddle is
   computed around the system nearest to its centre, from differences that are rounded only once.
2. *A frame.* The constraint var_u ≥ var_v is cov(e, d) ≥ 0. It does not notice if e is stretched by s and d shrunk by s:
   a Lorentz boost. An interval's width depends on s very much: it is wide where the systems are round.
3. *Anchors.* Gaps are split in geometric progression away from the nearest system, or from the best mean.
4. *Frames in frames.* What one frame leaves open is covered in another (`Dissection`): next to a line of systems that all
   but have the target's balance, for one.

What is returned as proven has passed `verify`, in exact arithmetic.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import ceil, floor, frexp, log, log2
from typing import Any, NamedTuple

import numpy as np

from ..core.balance import EPS, distinct_steps
from .cone import PLACE_BITS, Cone, Row
from .proof import chain
from .saddle import climb, descend, excluded, repair
from .verify import DEPTH, Region, clipped, hull, verify

FINE_BITS = 100  # more bits for places in a frame, so that boosts by up to 2^±FINE_BITS are exact
CARE_ROWS = 10_000  # saddles in all, where each part has a frame of its own
LAST = 2000  # saddles for one frame where nothing else has closed the line
WORK = 1 << 24  # in large pools, limits so many saddles times systems
TURNS = 4  # rounds of gap splitting before what is left is cut in another frame,
PIECES = 2  # so many new centres at a time next to an anchor,
EIGHTHS = (1, 4, 7)  # besides some where no anchor is near;
POOR = 16  # and nothing more next to an interval so many times narrower than its surroundings
STUCK = 3  # covers inside each other that leave nearly everything open before it is given up
SPREAD = 4.0  # ratio of successive distances of the intervals from the best mean
CARE_CELLS = 1 << 20  # numbers per work array
ODDS_TOLERANCE = 1e-12  # of the odds of a weighting's balance, relative


class Found(NamedTuple):
    """The best weighting (K,), others as good, the proof for `verify`, and the gap it has there: infinite without one."""

    weights: np.ndarray
    others: list[np.ndarray]
    proof: dict[str, Any]
    gap: float


Part = tuple[int, int, Row | int | None]  # of a line: from where to where; a saddle, a system with copies, or left open
Deeper = Callable[[Fraction | None, Fraction | None], dict[str, Any] | None]


class Frame(NamedTuple):
    """A tilt for `verify`; what a place of zero is in X and Y there, and one of one; and the unit of heights."""

    tilt: Fraction
    origin: tuple[Fraction, Fraction]
    unit: tuple[Fraction, Fraction]
    height: Fraction


class Task(NamedTuple):
    """One target: the scores (K,) and what belongs to them, x and y as in `verify`, where c·var x = d·var y."""

    adequacy: np.ndarray
    fluency: np.ndarray
    beta: Fraction
    above: bool
    gap: float
    cone: Cone
    points: np.ndarray
    x: list[Fraction]
    y: list[Fraction]
    c: Fraction
    d: Fraction

    @classmethod
    def of(cls, adequacy: np.ndarray, fluency: np.ndarray, beta: Fraction, above: bool, gap: float) -> Task:
        cone, points = Cone.of(adequacy, fluency, beta, above), distinct_steps(adequacy, fluency)[0]
        x, y = ([Fraction(float(t)) for t in z] for z in ((adequacy, fluency) if above else (fluency, adequacy)))
        c, d = (1 - beta, beta) if above else (beta, 1 - beta)
        return cls(adequacy, fluency, beta, above, gap, cone, points, x, y, c, d)

    def found(self, w: np.ndarray, others: list[np.ndarray], cover: dict[str, Any] | None) -> Found | None:
        """The weights with their proof, if it verifies."""
        if cover is None:
            return None
        proof = {
            "adequacy": [float(t) for t in self.adequacy],
            "fluency": [float(t) for t in self.fluency],
            "beta": float(self.beta) if Fraction(float(self.beta)) == self.beta else str(self.beta),
            "weights": [float(t) for t in w],
            **cover,
        }
        try:
            measured = verify(proof)
        except ValueError:
            return None
        return Found(w, others, proof, measured) if measured <= 2 * self.gap else None


class Cover:
    """The line of means of one target in one frame: places, saddles, optima. `low` and `high` are its ends, where only the
    means in a part of the plane are in question."""

    def __init__(self, cone: Cone, boost: int, points: np.ndarray) -> None:
        self.cone, self.boost, self.points = cone, boost, points
        up, down = FINE_BITS + boost, FINE_BITS - boost
        self.at_u = np.array([((e << up) + (d << down)) >> 1 for e, d in zip(cone.e, cone.d, strict=True)], object)
        self.at_v = np.array([((e << up) - (d << down)) >> 1 for e, d in zip(cone.e, cone.d, strict=True)], object)
        self.rows: list[Row] = []
        self.optima: list[tuple[float, np.ndarray, Row]] = []
        self.used: set[int] = set()
        self._middle: list[int] = []
        self._known: tuple[float, list[tuple[int, int]]] = (-1.0, [])
        self.low, self.high = min(self.at_v), max(self.at_v)

    # --- places ---

    def seen(self, origin: int | np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """u, v, e and d of all systems as seen from one, or from several; the unit is 2^(PLACE_BITS + FINE_BITS) fine units."""
        s = 2.0**self.boost
        e, d = s * self.cone.differences[0][origin], self.cone.differences[1][origin] / s
        return (e + d) / 2, (e - d) / 2, e, d

    def nearest(self, p: int, q: int) -> int:
        """The system nearest to a place."""
        far = np.maximum(np.abs(self.at_u - p), np.abs(self.at_v - q))
        return int(np.argmin(far))

    def place(self, row: Row) -> tuple[int, int]:
        return self.at_u[row.origin] + _fine(row.p), self.at_v[row.origin] + _fine(row.q)

    def around(self, p: int, q: int, h: float) -> Row:
        o = self.nearest(p, q)
        return Row(o, h, _coarse(p - self.at_u[o]), _coarse(q - self.at_v[o]))

    def parts(self, rows: list[Any]) -> Iterator[list[Any]]:
        """Rows, or their numbers, as many at a time as arrays may hold."""
        block = max(1, CARE_CELLS // self.points.size)
        return (rows[n : n + block] for n in range(0, len(rows), block))

    def squares(self, rows: list[Row], level: float) -> np.ndarray:
        """What `excluded` says of rows."""
        out = [np.empty(0)]
        for part in self.parts(rows):
            u, v, q, h, p, cone = self.arrays(part)
            out.append(excluded(u, v, q, h, p, np.full(q.size, level), cone)[0])
        return np.concatenate(out)

    def arrays(self, rows: list[Row]) -> tuple[Any, ...]:
        """u and v of each row, its q, h, p, and e and d: as `saddle` wants them."""
        o, h, p, q = (np.array(x) for x in zip(*rows, strict=True))
        u, v, e, d = self.seen(o)
        return u, v, q, h, p, (e, d)

    # --- optima ---

    @property
    def best(self) -> tuple[float, np.ndarray, Row]:
        return min(self.optima, key=lambda x: x[0])

    def level(self, gap: float) -> float:
        """The collision below which nothing may remain."""
        return self.best[0] * (1 - gap)

    def off(self, w: np.ndarray, origin: int) -> float:
        """How far w is from the target: the correlation of e and d, which no boost changes.

        Half of it bounds the relative distance of the odds of w from the target's.
        """
        e, d = (x - w @ x for x in self.seen(origin)[2:])
        var_e, var_d = float(w @ (e * e)), float(w @ (d * d))
        if min(var_e * 4.0**-self.boost, var_d * 4.0**self.boost) < 1e-110:  # rounding of the roots: exactly on a line
            return 0.0 if max(var_e, var_d) > 1e-90 else np.inf
        return float(abs(w @ (e * d)) / np.sqrt(var_e * var_d))

    def offer(self, w: np.ndarray) -> bool:
        """Take a weighting (K,) if it is feasible; whether it is better than all before."""
        if not np.isfinite(w).all() or w.min() < 0 or np.bincount(self.points, w).max() > 1 - 1e-300 - EPS:
            return False
        w = w / w.sum() + 0.0
        o = int(w.argmax())
        u, v, _, _ = self.seen(o)
        o = self.around(self.at_u[o] + _fine(w @ u), self.at_v[o] + _fine(w @ v), 0.0).origin
        u, v, e, d = self.seen(o)
        for _ in range(3):
            if self.off(w, o) <= ODDS_TOLERANCE / 32:
                break
            *_, mended = repair(u[None], v[None], w[None], (e[None], d[None]))
            if not np.isfinite(mended).all() or self.off(mended[0], o) >= self.off(w, o):
                break
            w = mended[0]
        if self.off(w, o) > ODDS_TOLERANCE:
            return False
        g = (e - w @ e) * (d - w @ d)
        on = w > 0
        P = float(w @ w)
        with np.errstate(all="ignore"):
            slope = (g[on] @ (w[on] - P)) / (g[on] @ g[on])
            steep = P / -g[~on].max(initial=-np.inf)
        height = P / slope if slope > 0 and np.isfinite(slope) else (P / steep if steep > 0 else 0.0)
        row = Row(o, float(height), float(w @ u), float(w @ v))
        better = not self.optima or P < self.best[0]
        self.optima.append((P, w, row))
        self.rows.append(row)
        return better

    def down(self, rows: list[Row], brackets: list[tuple[int, int]]) -> bool:
        """Descend from rows inside brackets of places; whether one found a better weighting."""
        better = False
        for _ in range(2):  # once more from the system nearest to where it ended
            u, v, q, h, p, cone = self.arrays(rows)
            ends = np.array(
                [[_coarse(x - self.at_v[r.origin]) for x in b] for r, b in zip(rows, brackets, strict=True)]
            )
            with np.errstate(all="ignore"):
                h, p, q, w = descend(u, v, np.ones(q.size), q, ends[:, 0], ends[:, 1], h, p, cone=cone)
            again, keep = [], []
            for n, r in enumerate(rows):
                better |= self.offer(np.maximum(w[n], 0) if np.isfinite(w[n]).all() else w[n])
                if np.isfinite([h[n], p[n], q[n]]).all():
                    new = self.around(*self.place(Row(r.origin, h[n], p[n], q[n])), h[n])
                    if new.origin != r.origin and h[n] > 0:
                        again.append(new)
                        keep.append(brackets[n])
            rows, brackets = again, keep
            if not rows:
                break
        return better

    # --- the cover ---

    def climbed(self, rows: list[Row], level: float | None) -> tuple[list[Row], np.ndarray]:
        """Rows moved uphill, each around the system nearest to where it went, and the heights."""
        for _ in range(3):
            found = []
            for part in self.parts(rows):
                u, v, q, h, p, cone = self.arrays(part)
                with np.errstate(all="ignore"):
                    found.append(climb(u, v, q, h, p, None if level is None else np.full(q.size, level), cone))
            h2, p2, height = np.concatenate(found, axis=1)
            moved = []
            for n, r in enumerate(rows):
                ok = np.isfinite(h2[n]) and np.isfinite(p2[n])
                new = Row(r.origin, float(h2[n]), float(p2[n]), r.q) if ok else r
                moved.append(self.around(*self.place(new), new.h))
            same = all(a.origin == b.origin for a, b in zip(rows, moved, strict=True))
            rows = moved
            if same:
                break
        return rows, height

    def _middles(self) -> list[int]:
        """The place of each row's q."""
        self._middle += [self.at_v[r.origin] + _fine(r.q) for r in self.rows[len(self._middle) :]]
        return self._middle

    def _every(self, level: float) -> list[tuple[int, int]]:
        """What each row excludes, from where to where."""
        if level != self._known[0]:
            self._known = level, []
        done = self._known[1]
        if fresh := self.rows[len(done) :]:
            half = [_fine(x) for x in np.sqrt(np.maximum(0, self.squares(fresh, level))) * (1 - 16 * EPS)]
            done += [(m - x, m + x) for m, x in zip(self._middles()[len(done) :], half, strict=True)]
        return done

    def _holes(self, level: float) -> list[tuple[int, int, int]]:
        """Around systems with many copies, from where to where, and the system: see `holes` of `ends`."""
        out = []
        for point in np.flatnonzero(np.bincount(self.points) * level >= 1 - 1e-6):
            k, other = int(np.flatnonzero(self.points == point)[0]), self.points != point
            _, v, e, d = self.seen(k)
            with np.errstate(all="ignore"):
                away = float((-e[other] * d[other] / np.abs(v[other])).min()) * (1 - 64 * EPS)
            if np.isfinite(away) and away > 0:
                out.append((self.at_v[k] - _fine(away), self.at_v[k] + _fine(away), k))
        return out

    def gaps(self, level: float) -> list[tuple[int, int]]:
        covered, top, out = self.low, self.high, list[tuple[int, int]]()
        places = [x for x in self._every(level) if x[0] < x[1]] + [x[:2] for x in self._holes(level)]
        for left, right in sorted(x for x in places if x[1] > self.low):
            if left >= covered:
                out.append((covered, min(left, top)))
            covered = max(covered, right)
            if covered >= top:
                break
        if covered < top:
            out.append((covered, top))
        return [g for g in out if g[0] < g[1]]

    def centres(self, gap: tuple[int, int], anchors: list[int]) -> list[int]:
        left, right = gap
        inside = [x for x in anchors if left <= x <= right and x not in self.used]
        if inside:
            return inside[:8]
        near, anchor = min((min(abs(left - x), abs(right - x)), x) for x in anchors)
        if left < anchor < right:
            return [(left + anchor) >> 1, (right + anchor) >> 1]
        far = max(abs(left - anchor), abs(right - anchor))
        if near <= 0 or far <= near:
            return [(left + right) >> 1]
        ratio = far / near if far.bit_length() - near.bit_length() < 900 else 2.0**900
        count = min(PIECES, max(1, ceil(log(ratio) / log(SPREAD))))
        sign = 1 if left >= anchor else -1
        return [anchor + sign * int(near * Fraction(ratio ** ((n + 0.5) / count))) for n in range(count)]

    def others(self, gap: float) -> list[np.ndarray]:
        """Optima as good as the best, each different from all before."""
        P, best, _ = self.best
        out = [best]
        for collision, w, _ in self.optima:
            if collision <= P * (1 + gap) and all(np.abs(w - x).sum() > 1e-3 for x in out):
                out.append(w)
        return out[1:]

    def frame(self, task: Task) -> Frame:
        """How places of this frame are written in the units of the scores."""
        root_x, root_y = (self.cone.root_a, self.cone.root_f)[:: 1 if task.above else -1]
        s = Fraction(2) ** self.boost
        cosh, tanh = (s + 1 / s) / 2, (s * s - 1) / (s * s + 1)
        tilt = Fraction(round(tanh / (root_x * root_y) * (1 << PLACE_BITS)), 1 << PLACE_BITS)
        first = task.x[0] + tilt * task.d * task.y[0], task.y[0] + tilt * task.c * task.x[0]
        fine = self.cone.unit / (1 << FINE_BITS)
        height = (self.cone.unit * (1 << PLACE_BITS) / cosh) ** 2
        return Frame(tilt, first, (fine / (cosh * root_x), fine / (cosh * root_y)), height)

    def chain(self, level: float, open_: list[tuple[int, int]]) -> tuple[list[Part], list[int]] | None:
        """Few parts that cover the line in order, those left open among them, and cuts between; None if they do not."""
        parts: list[Part] = [
            (left, right, row) for (left, right), row in zip(self._every(level), self.rows, strict=True) if left < right
        ]
        parts += self._holes(level)
        parts += [(left, right, None) for left, right in open_]
        return chain(parts, self.low, self.high)

    def written(self, task: Task, level: float, deeper: Deeper) -> dict[str, Any] | None:
        """The cover in the units of the scores, as `verify` reads it; None if the line is not covered.

        `deeper` makes the cover of a part that no saddle of this frame excludes, from its ends.
        """
        covered = self.chain(level, self.merged(level))
        if covered is None:
            return None
        (kept, places), frame = covered, self.frame(task)
        cuts = [_plain(frame.origin[1] + t * frame.unit[1], frame.unit[1] * (1 << 8)) for t in places]
        ends = [None, *(Fraction(t) for t in cuts), None]
        out: list[Any] = []
        for n, (left, right, what) in enumerate(kept):
            if isinstance(what, int):
                out.append(what)
            elif what is None:
                inner = deeper(ends[n], ends[n + 1])
                if inner is None:
                    return None
                out.append(inner)
            else:
                near = max((right - left) >> 70, 1)
                both = zip(frame.origin, self.place(what), frame.unit, strict=True)
                h = Fraction(what.h) * frame.height
                out.append(
                    [float(h) if 1e-290 < h < 1e290 else str(h), *(_plain(o + z * by, near * by) for o, z, by in both)]
                )
        return {"tilt": str(frame.tilt), "saddles": out, "cuts": cuts}

    def merged(self, level: float) -> list[tuple[int, int]]:
        """The gaps, those with little between them as one, each a little wider than it is."""
        out: list[tuple[int, int]] = []
        for left, right in self.gaps(level):
            while out and left - out[-1][1] <= max(right - left, out[-1][1] - out[-1][0]):
                left = out.pop()[0]
            out.append((left, right))
        ends = [self.low, *(x for g in out for x in g), self.high]
        free = [right - left for left, right in zip(ends[::2], ends[1::2], strict=True)]
        return [(left - (free[n] >> 4), right + (free[n + 1] >> 4)) for n, (left, right) in enumerate(out)]

    def start(self, hints: list[np.ndarray]) -> None:
        """Valleys as centres at all systems and a few between show them; and the hints."""
        for w in hints:
            self.offer(w)
        places = sorted(set(self.at_v))
        low, high = places[0], places[-1]
        some = sorted({*places, *(low + (high - low) * (2 * n + 1) // 16 for n in range(8))})
        if len(some) > 80:
            some = some[:: len(some) // 40]
        rows = []
        for q in some:
            k = int(np.argmin(np.abs(self.at_v - q)))
            reach = max(abs(high - q), abs(q - low))
            rows.append(Row(k, 0.5 * _coarse(reach) ** 2, 0.0, _coarse(q - self.at_v[k])))
        rows, height = self.climbed(rows, None)
        self.rows += rows
        order = range(len(rows))
        valley = [
            n
            for n in order
            if height[n] <= min(height[max(n - 1, 0)], height[min(n + 1, len(rows) - 1)]) and height[n] < 0.75
        ]
        valley = sorted(valley, key=lambda n: height[n])[:6]
        if valley:
            brackets = [(some[max(n - 1, 0)], some[min(n + 1, len(rows) - 1)]) for n in valley]
            self.down([rows[n] for n in valley], brackets)

    def hopeful(self, level: float) -> list[tuple[int, int]]:
        """Drop gaps that further bisection cannot close: those next to an interval that is narrow for its distance from an anchor."""
        anchors = sorted({*self.at_v, self.place(self.best[2])[1]})
        lefts, rights = set(), set()
        for (left, right), middle in zip(self._every(level), self._middles(), strict=True):
            i = bisect(anchors, middle)
            away = min(abs(x - middle) for x in anchors[max(0, i - 1) : i + 1])
            if min(away, self.high - self.low) > POOR * (right - left):
                lefts.add(left)
                rights.add(right)
        return [g for g in self.gaps(level) if not (g[0] in rights or g[1] in lefts)]

    def fill(self, gaps: list[tuple[int, int]], level: float, deep: bool) -> None:
        """Exclude what can be from new centres in the gaps; where nothing can, descend: a better optimum is near."""
        best_q = self.place(self.best[2])[1]
        anchors = sorted({*self.at_v, best_q})
        fresh, where = [], []
        known = sorted(zip(self._middles(), self.rows, strict=True), key=lambda x: x[0])
        keys = [x[0] for x in known]
        for g in gaps:
            for q in [*self.centres(g, anchors), *(g[0] + (g[1] - g[0]) * n // 8 for n in EIGHTHS)]:
                self.used.add(q)
                i = bisect(keys, q)
                near = known[min(range(max(0, i - 1), min(len(keys), i + 1)), key=lambda k: abs(keys[k] - q))][1]
                fresh.append(self.around(self.place(near)[0], q, max(near.h, 0.0)))
                where.append(g)
        rows, _ = self.climbed(fresh, level)
        self.rows += rows
        bad = np.flatnonzero(self.squares(rows, level) <= 0)
        for part in self.parts(bad.tolist() if deep else []):
            self.down([rows[n]._replace(h=max(rows[n].h, 0.0)) for n in part], [where[n] for n in part])


def _coarse(x: int) -> float:
    return x / (1 << (PLACE_BITS + FINE_BITS))


def _plain(x: Fraction, tolerance: Fraction) -> float | str:
    """x to within a tolerance, as a float or as a short fraction."""
    if abs(Fraction(float(x)) - x) <= tolerance:
        return float(x)
    bits = max(0, tolerance.denominator.bit_length() - tolerance.numerator.bit_length() + 1)
    return str(Fraction(round(x * (1 << bits)), 1 << bits))


def _fine(x: float) -> int:
    mantissa, exponent = frexp(x)
    shift = exponent - 53 + PLACE_BITS + FINE_BITS
    whole = int(mantissa * (1 << 53))
    return whole << shift if shift >= 0 else whole >> -shift


def solve(
    adequacy: np.ndarray, fluency: np.ndarray, beta: Fraction, above: bool, hints: list[np.ndarray], gap: float
) -> Found | None:
    """The best weighting at one target inside the range and its proof, verified; None if no weighting was found.

    `hints` are weightings to start from.

    >>> a, f = np.array([0, 1, 1 + 1e-9, 3.0]), np.array([0, 2, 2 + 1e-10, 1.0])
    >>> found = solve(a, f, Fraction(0.5), False, [np.array([0, 0.5, 0.5, 0])], 5e-10)
    >>> round(1 / float(found.weights @ found.weights), 6), found.gap <= 1e-9
    (3.692933, True)
    """
    task = Task.of(adequacy, fluency, beta, above, gap)
    whole = hull([*zip(task.x, task.y, strict=True)])
    best, frames = list(hints), [_round(task, whole)]
    if best:  # first where the best weights are round: there an optimum next to a pair is found to all digits
        frames.insert(0, _round_for(task.cone, min(best, key=lambda w: float(w @ w))))
    covers = [Cover(task.cone, boost, task.points) for boost in dict.fromkeys(frames)]
    for cover in covers:
        cover.start(best)
        best = [cover.best[1], *cover.others(gap)] if cover.optima else best  # mirror images are equally good
    if not best:
        return None
    dissection = Dissection(task, best, whole)
    found = dissection.found()
    for cover in () if found.proof else covers:  # a line that needs many saddles, but no other frame
        for w in dissection.optima:  # all of them: this frame may not have seen a mirror image
            cover.offer(w)
        while (
            cover.optima
            and (gaps := cover.gaps(cover.level(gap)))
            and len(cover.rows) < min(LAST, WORK // adequacy.size)
        ):
            cover.fill(gaps, cover.level(gap), True)
        if cover.optima and (
            more := task.found(cover.best[1], cover.others(gap), cover.written(task, cover.level(gap), lambda *_: None))
        ):
            return more
    return found


class Dissection:
    """The plane of means cut again and again, each part in a frame of its own: where several scales meet in one pool.

    A saddle excludes what lies between the branches of a hyperbola; in each frame, another strip of it. Strips of the frame
    in which all systems are round cut off most of the plane. What they leave, next to a line or a cluster of systems, is
    flatter, so it is round in another frame, and there strips are as wide as it needs. Each step takes a constant share, so
    their number grows with the logarithm of the smallest scale; in one frame it grows with its fourth root at best.
    """

    def __init__(self, task: Task, optima: list[np.ndarray], whole: Region) -> None:
        self.task, self.optima, self.whole = task, optima, whole
        self.left = min(CARE_ROWS, WORK // task.points.size)

    def found(self) -> Found:
        """The best weighting, with its proof if there is one."""
        cover = self._cover(self.whole)
        best, *others = self.optima  # better ones may have been found on the way
        return self.task.found(best, others, cover) or Found(best, [], {}, np.inf)

    def _cover(self, region: Region, depth: int = 0, trend: int = 0, stuck: int = 0) -> dict[str, Any] | None:
        """A region covered, as `verify` reads it; `trend` is by how much flatter frames were the right ones before."""
        if self.left < 0 or depth >= DEPTH or not region:
            return None
        even, tries = _round(self.task, region), dict[int, tuple[float, Cover, Region]]()
        for way in (trend, 0, -trend) if trend else (0, 2, -2):
            boost = max(4 - FINE_BITS, min(FINE_BITS - 4, even + way))
            tries[way] = self._tried(region, Cover(self.task.cone, boost, self.task.points))
            if tries[way][0] <= 0.5:
                break
        trend = min(tries, key=lambda way: tries[way][0])
        share, here, region = tries[trend]
        stuck = stuck + 1 if share > 0.95 else 0
        if stuck > STUCK or not here.optima:
            return None
        slope = here.frame(self.task).tilt * self.task.c

        def deeper(low: Fraction | None, high: Fraction | None) -> dict[str, Any] | None:
            along = [y + slope * x for x, y in region]
            part = clipped(region, slope, min(along) if low is None else low, max(along) if high is None else high)
            return self._cover(part, depth + 1, trend, stuck)

        return here.written(self.task, here.level(self.task.gap), deeper)

    def _tried(self, region: Region, here: Cover) -> tuple[float, Cover, Region]:
        """A few saddles of this frame: which share of the line they leave open, and the region as `verify` has it."""
        task, frame = self.task, here.frame(self.task)
        slope = frame.tilt * task.c
        systems = [y + slope * x for x, y in zip(task.x, task.y, strict=True)]
        region = clipped(region, slope, min(systems), max(systems))
        line = [(y + slope * x - frame.origin[1]) / frame.unit[1] for x, y in region]
        if not line:
            return 1.0, here, region
        here.low = floor(min(line))
        here.high = max(ceil(max(line)), here.low + 1)
        for w in self.optima:
            here.offer(w)
        if not here.optima:
            return 1.0, here, region
        for turn in range(TURNS):
            level, before = here.level(task.gap), len(here.rows)
            gaps = here.hopeful(level)
            if not gaps:
                break
            here.fill(gaps, level, turn == 0)
            self.left -= len(here.rows) - before
        self.optima = [here.best[1], *here.others(task.gap)]
        open_ = sum(right - left for left, right in here.merged(here.level(task.gap)))
        return open_ / (here.high - here.low), here, region


def _round(task: Task, region: Region) -> int:
    """The frame in which a region is as long as it is wide."""
    root_x, root_y = (task.cone.root_a, task.cone.root_f)[:: 1 if task.above else -1]
    long, short = (
        float(max(t) - min(t)) for t in ([root_x * x + sign * root_y * y for x, y in region] for sign in (1, -1))
    )
    return _exponent(long, short)


def _round_for(cone: Cone, w: np.ndarray) -> int:
    """The frame in which weights are as long as they are wide."""
    o = int(w.argmax())
    x, y = (z[o] for z in cone.differences)
    long, short = (float(np.sqrt(w @ (z - w @ z) ** 2)) for z in (x, y))
    return _exponent(long, short)


def _exponent(long: float, short: float) -> int:
    """The boost that makes two lengths equal, as far as frames go."""
    if long <= 0 or short <= 0:
        return 0 if long == short else (FINE_BITS - 4) * (1 if short > long else -1)
    return int(np.clip(round(0.5 * log2(short / long)), 4 - FINE_BITS, FINE_BITS - 4))
