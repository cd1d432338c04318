"""Check a proof of optimality in exact arithmetic, with nothing but Python's standard library.

A proof (`Reweighting.proof`) is plain numbers: the scores of K systems, a target balance, a weighting, and what shows that
no weighting with this balance has a smaller Σw². Each number is read as the binary fraction it is, or as "p/q". Nothing
is rounded, and nothing is taken from the solver. *Proofs you can take away* explains every line. The file also works
alone: `python verify.py proof.json`.
"""

from __future__ import annotations

import json
import math
import re
import sys
from fractions import Fraction
from typing import Any, NamedTuple

DEPTH = 100  # of covers inside covers
Point = tuple[Fraction, Fraction]
Region = list[Point]


def verify(proof: dict[str, Any]) -> float:
    """How far, at most, Σw² of the proof's weighting lies above the least possible, relative to itself; rounded up.

    The weighting is first moved onto the target, exactly: a share of its weight goes to one system, under 1e-12 on real
    pools and never more than 1/1000. What is not a proof is refused with a ValueError.

    >>> claim = {"adequacy": [0, 2, 0], "fluency": [0, 1, 3], "beta": 0.5, "weights": [5, 6, 2]}
    >>> verify({**claim, "saddles": [["75/26", "12/13", "12/13"]]})  # with the right saddle no weighting is better
    0.0
    >>> verify({**claim, "saddles": [[2.885, 0.923, 0.923]]}) < 0.001  # with one next to it not by much
    True
    >>> verify({**claim, "weights": [1, 0, 1], "saddles": [["75/26", "12/13", "12/13"]]})
    Traceback (most recent call last):
    ...
    ValueError: not a proof: the weights miss the target
    """
    scores, w, pair, cover = _read(proof)
    whole = _whole(scores, cover)
    pool, saddles = whole.pool, whole.saddles
    collision = _on_target(pool, w)
    bounds = [Fraction(1, len(w))]  # no Σw² on the target is below these
    if pair:
        bounds.append(_end(pool, *pair))
    elif cover.cuts is not None:
        bounds.append(_covered(scores, whole, [min(pool.y), *whole.cuts, max(pool.y)]))
    elif saddles:
        bounds.append(_dual(pool, *saddles[0]))
    gap = 1 - max(bounds) / collision
    near = float(gap)
    return near if near >= gap else math.nextafter(near, 1)


class _Pool(NamedTuple):
    """Scores and target, c·var x = d·var y, in whole numbers."""

    x: list[int]
    y: list[int]
    c: int
    d: int

    def saddle(self, h: int, p: int, q: int, s: int = 1) -> list[int]:
        both = zip(self.x, self.y, strict=True)
        return [h + self.c * (s * x - p) ** 2 - self.d * (s * y - q) ** 2 for x, y in both]

    def around(self, w: list[int]) -> list[int]:
        """The saddle with h = 0 around the means of w, times (Σw)²."""
        return self.saddle(0, _dot(w, self.x), _dot(w, self.y), sum(w))


def _on_target(pool: _Pool, w: list[int]) -> Fraction:
    """Σw² on the target: a share of w is moved to one system."""
    g, total = pool.around(w), sum(w)
    if b := _dot(w, g):
        k = max(range(len(w)), key=lambda n: -b * g[n])
        whole, part = total * abs(g[k]), abs(b)
        _insist(b * g[k] < 0 and 1000 * part < whole, "the weights miss the target")
        w = [(whole - part) * v + part * total * (n == k) for n, v in enumerate(w)]
    used = {(x, y) for x, y, v in zip(pool.x, pool.y, w, strict=True) if v}
    _insist(len(used) > 1, "weight on one system and its copies has no balance")
    return Fraction(_dot(w, w), sum(w) ** 2)


def _dual(pool: _Pool, h: int, p: int, q: int) -> Fraction:
    """One saddle for all weightings, where the Lagrangian is convex."""
    x, y, c, d = pool
    z = [max(0, v) for v in pool.saddle(h, p, q)]
    Z, K = sum(z), len(z)
    pairs = (x, x), (x, y), (y, y)
    xx, xy, yy = (K * _dot(s, t) - sum(s) * sum(t) for s, t in pairs)
    convex = (K * Z + 2 * c * xx) * (K * Z - 2 * d * yy) + 4 * c * d * xy**2 >= 0
    _insist(Z > 0 and convex, "with this saddle the Lagrangian is not convex")
    lowest = min(v * Z**2 - g for v, g in zip(z, pool.around(z), strict=True))
    return Fraction(2 * lowest, Z**3) - Fraction(_dot(z, z), Z**2)


def _covered(scores: _Scores, whole: _Whole, line: list[Any], region: Region | None = None) -> Fraction:
    """A line cut into parts, for the weightings whose means of x and y lie in a region, if there is one."""
    _insist(line == sorted(line), "the cuts must be in order, between the ends of the line")
    bounds = []
    for saddle, left, right in zip(whole.saddles, line[:-1], line[1:], strict=True):
        if isinstance(saddle, _Cover):
            inside = region or _hull([*zip(scores.x, scores.y, strict=True)])
            bounds.append(_inner(scores, saddle, whole.clipped(inside, left, right)))
        else:
            bounds.append(_cell(whole.pool, saddle, left, right))
    return min(bounds)


def _inner(scores: _Scores, cover: _Cover, region: Region) -> Fraction:
    """A part of a line cut once more, in another direction: the means lie in a region, so on a part of the new line."""
    whole = _whole(scores, cover)
    region = whole.clipped(region, min(whole.pool.y), max(whole.pool.y))
    line = [whole.along(*corner) for corner in region]
    return _covered(scores, whole, [min(line), *whole.cuts, max(line)], region) if region else Fraction(1)


def _hull(points: Region) -> Region:
    """The corners, in turn, of the smallest convex region around all systems, and so around all means."""
    out: Region = []
    for way in (sorted(set(points)), sorted(set(points), reverse=True)):
        half: Region = []
        for x, y in way:
            while len(half) > 1 and not _turns_left(half[-2], half[-1], (x, y)):
                half.pop()
            half.append((x, y))
        out += half[:-1]
    return out


def _turns_left(p: Point, q: Point, r: Point) -> bool:
    return (q[0] - p[0]) * (r[1] - p[1]) > (q[1] - p[1]) * (r[0] - p[0])


def _clipped(region: Region, slope: Fraction, low: Fraction, high: Fraction) -> Region:
    """The part of a convex region, given by its corners in turn, where y + slope·x lies between low and high."""
    for sign, limit in ((1, low), (-1, -high)):
        corners = [(x, y, sign * (y + slope * x) - limit) for x, y in region]
        region = []
        for (x, y, here), (u, v, there) in zip(corners, corners[1:] + corners[:1], strict=True):
            if here >= 0:
                region.append((x, y))
            if here * there < 0:
                t = here / (here - there)
                region.append((x + t * (u - x), y + t * (v - y)))
    return region


def _cell(pool: _Pool, saddle: list[int], left: Any, right: Any) -> Fraction:
    """One saddle for the weightings whose mean of y lies between left and right."""
    if len(saddle) == 1:
        return _copies(pool, saddle[0], left, right)
    h, p, q = saddle
    height = h - pool.d * max(right - q, q - left) ** 2
    _insist(height > 0, "a saddle is too low for its part of the line")
    norm = sum(v * v for v in pool.saddle(h, p, q) if v > 0)
    return Fraction(height**2, norm) if norm else Fraction(1)


def _copies(pool: _Pool, k: int, left: Any, right: Any) -> Fraction:
    """There no mean is possible, unless all weight is on copies of k."""
    x, y, c, d = pool
    away = max(right - y[k], y[k] - left)
    for i, j in set(zip(x, y, strict=True)) - {(x[k], y[k])}:
        free = d * (j - y[k]) ** 2 - c * (i - x[k]) ** 2 > d * abs(j - y[k]) * away
        _insist(free, "a system lies too near to copies of another")
    return Fraction(1)


def _end(pool: _Pool, i: int, j: int) -> Fraction:
    """The target is the end of the range that the pair i, j attains."""
    x, y, c, d = pool
    fullest, systems = 0, list(zip(x, y, strict=True))
    for u, v in systems:
        rising, falling = [], []
        for s, t in systems:
            over = c * (s - u) ** 2 - d * (t - v) ** 2
            _insist(over <= 0, "another pair reaches beyond the target")
            rising += [(s, t)] * (over == 0 <= (s - u) * (t - v))
            falling += [(s, t)] * (over == 0 >= (s - u) * (t - v))
        lines = [line for line in (rising, falling) if len(set(line)) > 1]
        fullest = max([fullest, *map(len, lines)])
    attained = c * (x[i] - x[j]) ** 2 == d * (y[i] - y[j]) ** 2
    _insist(attained and systems[i] != systems[j], "the pair misses the target")
    return Fraction(1, fullest)


def _dot(x: list[int], y: list[int]) -> int:
    return sum(i * j for i, j in zip(x, y, strict=True))


# --- reading ----------------------------------------------------------------------------------------------------------


class _Scores(NamedTuple):
    """Scores and target, c·var x = d·var y, as fractions."""

    x: list[Fraction]
    y: list[Fraction]
    c: Fraction
    d: Fraction


class _Cover(NamedTuple):
    """Saddles (three numbers, or a system with copies, or a cover of its own), and the cuts between them, if any."""

    tilt: Fraction
    saddles: list[list[Fraction] | _Cover]
    cuts: list[Fraction] | None


def _read(proof: Any) -> tuple[_Scores, list[int], list[int], _Cover]:
    """Scores and target; the weights, in whole numbers; the pair; and the cover."""
    _insist(isinstance(proof, dict), "an object with adequacy, fluency, beta and weights is expected")
    a, f, w, pair = (_numbers(proof, name) for name in ("adequacy", "fluency", "weights", "pair"))
    beta, K = _number(proof, "beta"), len(a)
    _insist(K == len(f) == len(w) > 1, "adequacy, fluency and weights need one number for each of two systems or more")
    _insist(0 <= beta <= 1 and min(w) >= 0 < max(w), "beta must lie between 0 and 1, and no weight below 0")
    scores = _Scores(a, f, 1 - beta, beta)
    if scores.c * _spread(a) > scores.d * _spread(
        f
    ):  # the target lies below the natural balance: aspects change places
        scores = _Scores(f, a, beta, 1 - beta)
    _insist(all(k in range(K) for k in pair) and len(pair) in (0, 2), f"systems have the numbers 0 to {K - 1}")
    whole = math.lcm(*(v.denominator for v in w))
    return scores, [int(v * whole) for v in w], [int(k) for k in pair], _read_cover(proof, scores)


def _read_cover(part: dict[str, Any], scores: _Scores, depth: int = 0) -> _Cover:
    tilt = _number(part, "tilt", 0)
    _insist(tilt * tilt * scores.c * scores.d < 1, "the tilt is too large")
    rows, saddles = part.get("saddles", []), list[list[Fraction] | _Cover]()
    _insist(isinstance(rows, list), "saddles must be a list")
    _insist(depth < DEPTH, f"covers lie in each other more than {DEPTH} deep")
    for row in rows:
        if isinstance(row, dict):
            _insist("cuts" in part and "cuts" in row, "a cover inside another needs cuts, and so does the other")
            saddles.append(_read_cover(row, scores, depth + 1))
            continue
        saddle = _numbers({"saddles": row if isinstance(row, list) else [row]}, "saddles")
        _insist(len(saddle) in (1, 3), "a saddle is three numbers, h, p and q, or the number of a system")
        size = len(scores.x)
        _insist(len(saddle) == 3 or saddle[0] in range(size), f"systems have the numbers 0 to {size - 1}")
        saddles.append(saddle)
    cuts = _numbers(part, "cuts") if "cuts" in part else None
    fits = [len(s) for s in saddles] in ([], [3]) if cuts is None else len(cuts) + 1 == len(saddles)
    _insist(fits, "between two neighbouring saddles one cut is expected, in order; without cuts, one saddle or none")
    return _Cover(tilt, saddles, cuts)


class _Whole(NamedTuple):
    """A cover in whole numbers: the pool as tilted, saddles and cuts. Y of a place is (y + slope·x)·unit."""

    pool: _Pool
    saddles: list[Any]
    cuts: list[int]
    slope: Fraction
    unit: int

    def along(self, x: Fraction, y: Fraction) -> Fraction:
        return self.unit * (y + self.slope * x)

    def clipped(self, region: Region, low: Any, high: Any) -> Region:
        return _clipped(region, self.slope, Fraction(low) / self.unit, Fraction(high) / self.unit)


def _whole(scores: _Scores, cover: _Cover) -> _Whole:
    """The tilt multiplies c·x² − d·y² by 1 − t²·c·d, so the target stays."""
    (x, y, c, d), (t, saddles, cuts) = scores, cover
    x, y = [i + t * d * j for i, j in zip(x, y, strict=True)], [j + t * c * i for i, j in zip(x, y, strict=True)]
    rows = [s for s in saddles if isinstance(s, list)]
    length = math.lcm(*(v.denominator for v in [*x, *y, *(cuts or []), *(v for s in rows for v in s[1:])]))
    height = math.lcm(*(v.denominator for v in [c, d, *(s[0] for s in rows)]))
    units = [height * length**2, length, length]

    def numbers(s: list[Fraction] | _Cover) -> Any:
        if isinstance(s, _Cover):
            return s
        return [int(v * u) for v, u in zip(s, units, strict=True)] if len(s) == 3 else [int(s[0])]

    pool = _Pool([int(v * length) for v in x], [int(v * length) for v in y], int(c * height), int(d * height))
    return _Whole(pool, [numbers(s) for s in saddles], [int(v * length) for v in cuts or []], t * c, length)


def _number(part: dict[str, Any], name: str, otherwise: Any = None) -> Fraction:
    return _numbers({name: [part.get(name, otherwise)]}, name)[0]


def _numbers(proof: dict[str, Any], name: str) -> list[Fraction]:
    """A list of numbers, each as the binary fraction it is, or as a string like "4/5" says."""
    values = proof.get(name, [])
    _insist(isinstance(values, list), f"{name} must be a list of numbers")
    for v in values:
        binary = isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v)
        written = isinstance(v, str) and re.fullmatch(r"-?[0-9]{1,4000}(/0*[1-9][0-9]{0,3999})?", v) is not None
        _insist(binary or written, f"{name} has {str(v)[:40]} where a number is expected")
    return [Fraction(v) for v in values]


def _spread(x: list[Fraction]) -> Fraction:
    """K² times the variance."""
    return len(x) * sum((v * v for v in x), Fraction(0)) - sum(x) ** 2


def _insist(condition: bool, sentence: str) -> None:
    if not condition:
        raise ValueError(f"not a proof: {sentence}")


if __name__ == "__main__":
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            print(
                f"verified: the best Σw² on the target is smaller by {verify(json.load(file)):.3g} of this one at most"
            )
    except (IndexError, OSError, RecursionError, ValueError) as error:
        sys.exit(f"{error}" if len(sys.argv) > 1 else "usage: python verify.py proof.json")
