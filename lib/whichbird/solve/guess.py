"""A guess for one target of one small pool, number by number: a local optimum, and saddles that should cover the line.

Where a pool has a dozen systems, an array operation costs as much as a hundred products, and the rows of `saddle` are too
few to share it. So a single target is first tried here, in plain floats and one saddle after the other, each started from its
neighbour. Nothing here is trusted: `reweight` offers the weights like any others and tests what the saddles exclude with
`saddle.alone` and `saddle.excluded`; what is missing it finds in its own way. u, v, h, p, q and P are those of `saddle`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul
from typing import NamedTuple

from ..core.balance import EPS

GUESS_TRIES = 14  # of Newton's method, from each start
SETTLED = 1e-14  # error of an optimum found to all digits
MIXTURES = (0.6, 0.3, 0.9)  # shares of the weights at the end of the range in the starts after the uniform weighting
GUESS_STEPS = 25  # of a climb
GUESS_FALLS = 8  # of a descent
GUESS_ROWS = 90  # saddles before the guess is given up; twenty-five are usual


class Point(NamedTuple):
    """A saddle whose own weights are on the target, their collision, and how far it is from that as it stands."""

    h: float
    p: float
    q: float
    P: float
    error: float


def newton(u: Sequence[float], v: Sequence[float], h: float, p: float, q: float) -> Point | None:
    """From a saddle to one that is stationary and on the target, by Newton's method in all three numbers; None if lost."""
    before = math.inf
    best, found = SETTLED, None
    for _ in range(GUESS_TRIES):
        total = nn = zu = zv = zg = size = m = uu = uv = ug = u1 = vv = vg = v1 = g1 = 0.0
        for x, y in zip(u, v, strict=True):
            a, b = x - p, y - q
            g = (a - b) * (a + b)
            z = h + g
            if z > 0:
                total += z
                nn += z * z
                zu += z * a
                zv += z * b
                zg += z * g
                size += z * (a * a + b * b)
                m += 1
                u1 += a
                v1 += b
                g1 += g
                uu += a * a
                uv += a * b
                vv += b * b
                ug += a * g
                vg += b * g
        if m < 2 or not h > 0 or not size > 0:
            return found
        off = abs(zg - (zu * zu - zv * zv) / total) / size
        error = max(abs(zu), abs(zv)) / (total * math.sqrt(h)) + off
        if error <= best:
            best, found = error, Point(h, p, q, nn / (total * total), error)
        if error <= 1e-15 or not (error <= 0.5 * before or 1e-9 < error < math.inf):
            return found
        before = error
        half = 0.5 * total
        up, vq, gp, gq = -uu - half, vv - half, -ug - zu, vg + zv
        c_h, c_p, c_q = -uv * gq - vq * gp, vq * g1 - v1 * gq, v1 * gp + uv * g1
        whole = u1 * c_h + up * c_p + uv * c_q
        if not whole:
            return found
        d_h = zu * c_h + zv * (gp * uv - gq * up) + zg * (up * vq + uv * uv)
        d_p = zu * c_p + zv * (gq * u1 - g1 * uv) + zg * (uv * v1 - u1 * vq)
        d_q = zu * c_q + zv * (g1 * up - gp * u1) - zg * (u1 * uv + up * v1)
        scale = -1 / whole
        if (far := abs(d_h * scale)) > 0.5 * h:
            scale *= 0.5 * h / far
        h, p, q = h + scale * d_h, p + 0.5 * scale * d_p, q + 0.5 * scale * d_q
    return found


def start(u: Sequence[float], v: Sequence[float], w: Sequence[float]) -> tuple[float, float, float]:
    """A saddle around the means of a weighting, high enough for its constraint to be met to first order."""
    p, q = (sum(map(mul, w, x)) for x in (u, v))
    g = [_square(x - p) - _square(y - q) for x, y in zip(u, v, strict=True)]
    total = sum(g)
    h = -sum(map(mul, g, g)) / total if total else 0.0
    return (h if h > 0 else -min(g)), p, q


def climb(
    u: Sequence[float], v: Sequence[float], q: float, h: float, p: float, root: float | None = None
) -> tuple[float, float, float]:
    """(h, p) moved uphill with q fixed, until the height, returned with them, is within a few per cent of its largest.

    The height is h − √P ‖z₊‖, with `root` = √P; without, it is h / ‖z₊‖, the root of the least collision for this q.
    """
    v2 = [_square(y - q) for y in v]
    best, top, d_h, d_p, short = (h, p), -math.inf, 0.0, 0.0, 1.0
    for _ in range(GUESS_STEPS):
        nn = sz = szu = m = mu = muu = 0.0
        for x, y in zip(u, v2, strict=True):
            a = x - p
            aa = a * a
            z = h + aa - y
            if z > 0:
                nn += z * z
                sz += z
                szu += z * a
                m += 1
                mu += a
                muu += aa
        n = math.sqrt(nn)
        height = h - root * n if root is not None else h / n if n else -math.inf
        if height > top and h > 0:
            best, top, short = (h, p), height, 1.0
            if not nn:
                break
            k = (h / n if root is None else root) / n
            g_h, g_p = 1 - k * sz, 2 * k * szu
            hh = k * (m * (1 + 1e-12) - sz * sz / nn)
            hp = 2 * k * (sz * szu / nn - mu)
            pp = 2 + 4 * k * (muu - szu * szu / nn)
            det = hh * pp - hp * hp
            if not det > 0:
                break
            d_h, d_p = (pp * g_h - hp * g_p) / det, (hh * g_p - hp * g_h) / det
            gain = g_h * d_h + g_p * d_p
            if gain <= (1e-3 * h if root is None else max(0.05 * height, 1e-13 * abs(h))):
                break
            if abs(d_h) > 2 * abs(h):  # the hill has a sharp tip
                d_h, d_p = (x * 2 * abs(h / d_h) for x in (d_h, d_p))
        else:
            short *= 0.3
            if short < 1e-3:
                break
        by = short * d_p
        h, p = best[0] + short * d_h - by * by, best[1] + by
    return *best, top


def optimum(u: Sequence[float], v: Sequence[float], end: Sequence[float]) -> Point | None:
    """A local optimum, from mixtures of the uniform weighting with `end`, weights at the end of the range."""
    saddles = [start(u, v, [(1 - share) / len(u) + share * x for x in end]) for share in MIXTURES]
    for saddle in saddles:
        if point := newton(u, v, *saddle):
            return point
    for h, p, q in reversed(saddles):
        if point := valley(u, v, max(h, 0.5 * max(_square(y - q) for y in v)), p, q):
            return point
    return None


def valley(u: Sequence[float], v: Sequence[float], h: float, p: float, q: float) -> Point | None:
    """A local optimum below a saddle: a climb, and if Newton's method is lost there, once more from the weights' mean of v."""
    for _ in range(GUESS_FALLS):
        h, p, height = climb(u, v, q, h, p)
        point = newton(u, v, h, p, q)
        if point is not None and point.P <= height * height * (1 + 1e-9):
            return point
        z = [max(0.0, h + _square(x - p) - _square(y - q)) for x, y in zip(u, v, strict=True)]
        if not sum(z) > 0:
            break
        q = sum(map(mul, z, v)) / sum(z)
    return None


def cover(
    u: Sequence[float], v: Sequence[float], best: Point | None, gap: float
) -> tuple[list[Point], list[tuple[float, float, float]]]:
    """Points, the best last, and saddles (h, p, q) that exclude all means of v for collisions below (1 − gap) of the best.

    From the best point to both sides, at growing distances. Where a saddle excludes nothing, a better point is near: then
    once more, from that. The saddles may be too few, if there is none, or if it takes too many.
    """
    points: list[Point] = []
    rows: list[tuple[float, float, float]] = []
    size = _square(max(u) - min(u)) + _square(max(v) - min(v))
    while best is not None and len(rows) < GUESS_ROWS:
        points.append(best)
        rows.append(best[:3])
        root, better = math.sqrt(best.P * (1 - gap)), None
        # what `saddle.excluded` allows for rounding, or more
        noise = EPS * (4 * best.h + root * (8 * math.sqrt(len(u)) + len(u)) * (best.h + size))
        for side, limit in ((1, max(v)), (-1, min(v))):
            better = better or _march(u, v, best, root, gap, noise, side * (limit - best.q), side, rows)
        best = better
    return points, rows


def _march(
    u: Sequence[float],
    v: Sequence[float],
    best: Point,
    root: float,
    gap: float,
    noise: float,
    end: float,
    side: int,
    rows: list[tuple[float, float, float]],
) -> Point | None:
    """Add saddles to `rows` from the best point to the distance `end` to one side; a better point, if one is met."""
    edge = math.sqrt(max(0.0, 0.5 * gap * best.h - noise))
    h, p, share = best.h, best.p, 0.6  # the half-width that the last saddle excluded, as a share of its distance
    while 0 < edge <= end and len(rows) < GUESS_ROWS:
        away = min(edge * (1 + 0.9 * share / (1 - share)), 0.5 * (edge + end))
        h, p, height = climb(u, v, best.q + side * away, h, p, root)
        rows.append((h, p, best.q + side * away))
        if height <= noise:
            point = valley(u, v, h, p, best.q + side * away)
            return point if point is not None and point.P < best.P * (1 - 1e-12) else None
        half = math.sqrt(height - noise)
        share = min(half / away, 0.95)
        if away - half < edge:
            edge = max(edge, away + half)
    return None


def _square(x: float) -> float:
    return x * x  # a power may raise OverflowError, a product does not
