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
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

DEPTH = 100  # of covers inside covers
DIGITS = 4000  # of a number; what the solver writes has a few hundred
BITS = 1 << 14  # of a common denominator
MISSED = Fraction(1, 10**9)  # how far the weights' balance may be from the target,
MOVED = Fraction(1, 1000)  # and the share of the weight that may have to lie elsewhere
Point = tuple[Fraction, Fraction]
Region = list[Point]


def verify(proof: dict[str, Any]) -> float:
    """How far, at most, Σw² of the proof's weighting lies above the least possible, relative to itself; rounded up.

    What is not a proof is refused with a ValueError.

    >>> claim = {"adequacy": [0, 2, 0], "fluency": [0, 1, 3], "beta": 0.5, "weights": [5, 6, 2]}
    >>> verify({**claim, "saddles": [["75/26", "12/13", "12/13"]]})  # with the right saddle no weighting is better
    0.0
    >>> verify({**claim, "saddles": [[2.885, 0.923, 0.923]]}) < 0.001  # with one next to it not by much
    True
    >>> verify({**claim, "weights": [1, 0, 1], "saddles": [["75/26", "12/13", "12/13"]]})
    Traceback (most recent call last):
    ...
    ValueError: not a proof: the weights miss the target, 0.5: their balance is 0
    """
    return measured(proof).gap


class Measured(NamedTuple):
    """What a proof shows of its weighting: the target; the balance and Σw² of the weights as given; the gap of `verify`; and
    the share of the weight that lies elsewhere once they are on the target."""

    target: Fraction
    beta: Fraction
    collision: Fraction
    gap: float
    moved: Fraction


def measured(proof: dict[str, Any]) -> Measured:
    """All that `verify` finds.

    Rounded weights miss the target in their last digits; if by more than `MISSED`, they are refused. Then they are moved onto
    it, exactly: a share of all weight goes to one system, under 1e-12 on real pools (next to an end of the range it may be
    more; never more than `MOVED`). The gap is that of the weights given or of those moved, whichever is larger.

    >>> claim = {"adequacy": [0, 2, 0], "fluency": [0, 1, 3], "beta": 0.5, "saddles": [["75/26", "12/13", "12/13"]]}
    >>> found = measured({**claim, "weights": [5, 6, 2]})
    >>> float(found.beta), float(1 / found.collision), found.gap, float(found.moved)
    (0.5, 2.6, 0.0, 0.0)
    """
    read = _read(proof)
    near = abs(read.beta - read.target) <= MISSED
    _insist(near, f"the weights miss the target, {float(read.target):.12g}: their balance is {float(read.beta):.12g}")
    whole = _whole(read.scores, read.cover)
    pool, saddles, K = whole.pool, whole.saddles, len(read.w)
    w, moved = _on_target(pool, read.w)
    bounds = [Fraction(1, K)]  # no Σw² on the target is below these
    if read.pair:
        bounds.append(_end(pool, *read.pair))
    elif read.cover.cuts is not None:
        bounds.append(_covered(read.scores, whole, [min(pool.y), *whole.cuts, max(pool.y)]))
    elif saddles:
        bounds.append(_dual(pool, *saddles[0]))
    given = _collision(read.w)
    gap = 1 - max(bounds) / max(given, _collision(w))
    least = float(gap)
    return Measured(read.target, read.beta, given, least if least >= gap else math.nextafter(least, 1), moved)


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


def _on_target(pool: _Pool, w: list[int]) -> tuple[list[int], Fraction]:
    """Weights on the target: a share of w is moved to one system. And that share."""
    g, total, share = pool.around(w), sum(w), Fraction(0)
    if b := _dot(w, g):
        k = max(range(len(w)), key=lambda n: -b * g[n])
        whole, part = total * abs(g[k]), abs(b)
        _insist(
            b * g[k] < 0 and part <= MOVED * whole,
            "the weights miss the target, and no small share of them is at fault",
        )
        share = Fraction(part, whole)
        w = [(whole - part) * v + part * total * (n == k) for n, v in enumerate(w)]
    used = {(x, y) for x, y, v in zip(pool.x, pool.y, w, strict=True) if v}
    _insist(len(used) > 1, "weight on one system and its copies has no balance")
    return w, share


def _collision(w: list[int]) -> Fraction:
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
            inside = region or hull([*zip(scores.x, scores.y, strict=True)])
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


def hull(points: Region) -> Region:
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


def clipped(region: Region, slope: Fraction, low: Fraction, high: Fraction) -> Region:
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
    """The target is the end of the range that the pair i, j attains. Neighbours decide, in the order of y: between any two
    systems the steps of y add up, and those of x do so at most."""
    x, y, c, d = pool
    order = sorted(zip(y, x, strict=True))
    fullest, line, copies, way = (
        0,
        1,
        1,
        None,
    )  # systems on the line that ends here, at this place, and where it runs to
    for (v, u), (t, s) in zip(order, order[1:], strict=False):
        over, turn = c * (s - u) ** 2 - d * (t - v) ** 2, (s - u) * (t - v)
        _insist(over <= 0, "another pair reaches beyond the target")
        if (s, t) == (u, v):
            line, copies = line + 1, copies + 1
        else:
            on = (turn > 0) - (turn < 0) if over == 0 else None
            before = 0 if on is None else line if on == way else copies
            line, copies, way = before + 1, 1, on
        fullest = max(fullest, line if way is not None else 0)
    attained = c * (x[i] - x[j]) ** 2 == d * (y[i] - y[j]) ** 2
    _insist(attained and (x[i], y[i]) != (x[j], y[j]), "the pair misses the target")
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


class _Read(NamedTuple):
    """Scores and target; the weights, in whole numbers; the pair; the cover; and as aspects, the target and the balance."""

    scores: _Scores
    w: list[int]
    pair: list[int]
    cover: _Cover
    target: Fraction
    beta: Fraction


def _read(proof: Any) -> _Read:
    _insist(isinstance(proof, dict), "an object with adequacy, fluency, beta and weights is expected")
    a, f, w, pair = (_numbers(proof, name) for name in ("adequacy", "fluency", "weights", "pair"))
    beta, K = _number(proof, "beta"), len(a)
    _insist(K == len(f) == len(w) > 1, "adequacy, fluency and weights need one number for each of two systems or more")
    _insist(0 <= beta <= 1 and min(w) >= 0 < max(w), "beta must lie between 0 and 1, and no weight below 0")
    _insist(max(map(abs, [*a, *f])) < 10**300, "scores must lie below 1e300")
    _insist(all(k in range(K) for k in pair) and len(pair) in (0, 2), f"systems have the numbers 0 to {K - 1}")
    length, share = _common([*a, *f]), _common(w)
    x, y, v = [int(t * length) for t in a], [int(t * length) for t in f], [int(t * share) for t in w]
    scores = _Scores(a, f, 1 - beta, beta)
    if (1 - beta) * _spread(x) > beta * _spread(y):  # the target lies below the natural balance: aspects change places
        scores = _Scores(f, a, beta, 1 - beta)
    var_a, var_f = _spread(x, v), _spread(y, v)
    _insist(var_a + var_f > 0, "weight on one system and its copies has no balance")
    found = Fraction(var_a, var_a + var_f)
    return _Read(scores, v, [int(k) for k in pair], _read_cover(proof, scores), beta, found)


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
        return clipped(region, self.slope, Fraction(low) / self.unit, Fraction(high) / self.unit)


def _whole(scores: _Scores, cover: _Cover) -> _Whole:
    """The tilt multiplies c·x² − d·y² by 1 − t²·c·d, so the target stays."""
    (x, y, c, d), (t, saddles, cuts) = scores, cover
    x, y = [i + t * d * j for i, j in zip(x, y, strict=True)], [j + t * c * i for i, j in zip(x, y, strict=True)]
    rows = [s for s in saddles if isinstance(s, list)]
    length = _common([*x, *y, *(cuts or []), *(v for s in rows for v in s[1:])])
    height = _common([c, d, *(s[0] for s in rows)])
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
        whole = isinstance(v, int) and not isinstance(v, bool)
        _insist(not whole or abs(v) < 10**DIGITS, f"{name} has a number of more than {DIGITS} digits")
        binary = isinstance(v, float) and math.isfinite(v)
        written = isinstance(v, str) and _WRITTEN.fullmatch(v) is not None
        shown = f"a {type(v).__name__}" if isinstance(v, list | dict) else str(v)[:40]
        _insist(whole or binary or written, f"{name} has {shown} where a number is expected")
    return [Fraction(v) for v in values]


_WRITTEN = re.compile(rf"-?[0-9]{{1,{DIGITS}}}(/0*[1-9][0-9]{{0,{DIGITS - 1}}})?")


def _common(numbers: Iterable[Fraction]) -> int:
    """Their common denominator."""
    out = 1
    for v in numbers:
        out = math.lcm(out, v.denominator)
        _insist(out.bit_length() <= BITS, f"the common denominator of its numbers has more than {BITS} binary digits")
    return out


def _spread(x: list[int], w: list[int] | None = None) -> int:
    """The variance, times the square of the total weight."""
    w = w or [1] * len(x)
    return sum(w) * sum(i * v * v for i, v in zip(w, x, strict=True)) - _dot(w, x) ** 2


def _insist(condition: bool, sentence: str) -> None:
    if not condition:
        raise ValueError(f"not a proof: {sentence}")


if __name__ == "__main__":
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            found = measured(json.load(file))
        print(
            f"verified: the weights have balance {float(found.beta):.12g} and ESS {float(1 / found.collision):.12g}; with "
            f"{float(found.moved):.3g} of them elsewhere they are on the target, {float(found.target):.12g}, and the best Σw² "
            f"there is smaller by {found.gap:.3g} of this one at most"
        )
    except (IndexError, OSError, RecursionError, ValueError) as error:
        sys.exit(f"{error}" if len(sys.argv) > 1 else "usage: python verify.py proof.json")
