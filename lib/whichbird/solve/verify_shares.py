"""Check a proof about shares of several aspects in exact arithmetic, with nothing but Python's standard library.

A proof (`Shared.proof`) is plain numbers: "scores", A rows of K; "shares", the target; "weights", unless it shows that no
weighting has these shares; and one of three. "multipliers": a slope for each aspect that makes the Lagrange function convex.
"hull": a direction in which all pairs of systems lie on one side. "box", lowest and highest means, with a "tree" that cuts
it into smaller ones. A cut is [aspect, at, below, above]. A leaf has five numbers for each aspect, [a, b, c, p, q], all but
c at least 0. They make one number for each system, h = Σ a(x − l)(x − u) − b(x − c)² − p(x − l) − q(u − x), where l and u
are the sides of the leaf's box. If Σ s(a − b) ≤ 0, every weighting in the box with shares s has Σ w h ≤ 0, so that
Σw² ≥ 1 / Σ max(0, 1 − h)².
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

Numbers = list[Fraction]
Whole = list[list[int]]
MISSED = Fraction(1, 10**9)  # how far a share of the weights may be from the target


def verify_shares(proof: dict[str, Any]) -> float:
    """How far, at most, Σw² of the proof's weights lies above the least possible, relative to itself; rounded up.

    0 for a proof without weights that shows that no weighting has these shares. Weights are rounded: their shares, computed
    exactly, may miss the target by 1e-9, while the bound is for the target itself. What is not a proof is refused.

    >>> claim = {"scores": [[0, 1, 0], [0, 0, 1]], "shares": [1, 1], "multipliers": [0, 0]}
    >>> verify_shares({**claim, "weights": [1, 1, 1]})
    0.0
    >>> verify_shares({**claim, "weights": [1, 1, 0]})
    Traceback (most recent call last):
    ...
    ValueError: not a proof: the weights miss the target
    """
    try:
        x, s = [_read(row) for row in proof["scores"]], _read(proof["shares"])
        _insist(len(x) == len(s) > 1 and all(len(row) == len(x[0]) for row in x), "the numbers have no common shape")
        _insist(min(s) >= 0 and sum(s) > 0, "shares cannot be negative, or all zero")
        D = math.lcm(*(v.denominator for row in x for v in row))
        whole = [[int(v * D) for v in row] for row in x]
        given = _read(proof.get("weights", [1] + [0] * (len(x[0]) - 1)))  # Σw² = 1: no weighting is left out
        _insist(len(given) == len(x[0]) and min(given) >= 0 and sum(given) > 0, "these are no weights")
        unit = math.lcm(*(v.denominator for v in given))
        w = [int(v * unit) for v in given]
        even = Fraction(_dot(w, w), sum(w) ** 2)
        if "hull" in proof:
            known = _apart(whole, s, _read(proof["hull"]))
        elif "multipliers" in proof:
            known = _convex(whole, s, w, [v / D**2 for v in _read(proof["multipliers"])]) - even
        else:
            known = _lowest(whole, D, s, even, proof)
    except (TypeError, KeyError, IndexError, AttributeError, OverflowError, ZeroDivisionError) as error:
        raise ValueError(f"not a proof: {error}") from None
    if "weights" not in proof:
        _insist(known > 1, "the boxes leave room for a weighting")
        return 0.0
    own = [sum(w) * _dot(w, [v * v for v in row]) - _dot(w, row) ** 2 for row in whole]
    near = sum(own) > 0 and all(abs(v / sum(own) - t / sum(s)) <= MISSED for v, t in zip(_read(own), s, strict=True))
    _insist(near, "the weights miss the target")
    gap = 1 - max(known, Fraction(1, len(w))) / even
    return max(0.0, math.nextafter(float(gap), 1) if float(gap) < gap else float(gap))


def _convex(x: Whole, s: Numbers, w: list[int], slopes: Numbers) -> Fraction:
    """The bound of multipliers, and Σw²: Σw² + Σ slopes V is at most Σw² on the target; convex, it lies above its tangent."""
    _insist(len(slopes) == len(x) and _dot(slopes, s) <= 0, "the multipliers depend on the total variance")
    used, K, W = [(t, row) for t, row in sorted(zip(slopes, x, strict=True)) if t], len(w), sum(w)
    off = [[K * v - sum(row) for v in row] for _, row in used]
    S = [[-_dot(p, q) / Fraction(K * K) for q in off] for p in off]
    for n, (t, _) in enumerate(used):
        S[n][n] += 1 / t
    for n, (t, _) in enumerate(used):  # Sylvester: convex if S has as many negative pivots as there are negative slopes
        _insist(S[n][n] * t > 0, "the multipliers leave room for a better weighting")
        for i in range(n + 1, len(S)):
            S[i] = [v - S[i][n] / S[n][n] * top for v, top in zip(S[i], S[n], strict=True)]
    M = math.lcm(*(t.denominator for t, _ in used))
    rise = [2 * M * W * v for v in w]  # W² M times as much
    for t, row in used:
        m, each = _dot(row, w), int(t * M)
        rise = [r + each * (v * W - m) ** 2 for r, v in zip(rise, row, strict=True)]
    return Fraction(min(rise), W * W * M)


def _lowest(x: Whole, D: int, s: Numbers, even: Fraction, proof: dict[str, Any]) -> Fraction:
    """The smallest bound of a leaf; 2, which no Σw² is, if all leaves are without weightings.

    The sides of the box are outside the scores, or so far out that weightings with such a mean have Σw² of `even` or more.
    """
    low, high = ([v * D for v in _read(side)] for side in proof["box"])
    box = list(zip(low, high, strict=True))
    for row, (l, u) in zip(x, box, strict=True):
        m, K = Fraction(sum(row), len(row)), len(row)
        far = (K * even - 1) * (Fraction(_dot(row, row), K) - m * m)
        _insist(l <= min(row) or (l <= m and (m - l) ** 2 >= far), "a side of the box cuts off means")
        _insist(u >= max(row) or (u >= m and (u - m) ** 2 >= far), "a side of the box cuts off means")
    todo, least = [(proof["tree"], box)], Fraction(2)
    while todo:
        node, box = todo.pop()
        if isinstance(node[0], list | tuple):
            rows = [_read(row) for row in node]
            least = min(least, _leaf(x, D, s, box, [[a, b, c * D, p * D, q * D] for a, b, c, p, q in rows]))
            continue
        j, at, below, above = node
        (l, u), cut = box[j], Fraction(at) * D
        _insist(l <= cut <= u, "a cut lies outside its box")
        todo += [(below, [*box[:j], (l, cut), *box[j + 1 :]]), (above, [*box[:j], (cut, u), *box[j + 1 :]])]
    return least


def _leaf(x: Whole, D: int, s: Numbers, box: list[tuple[Fraction, Fraction]], rows: list[Numbers]) -> Fraction:
    """What a leaf says of Σw² in its box: a bound, or 2 where it leaves no weighting."""
    _insist(len(rows) == len(x) and all(min(a, b, p, q) >= 0 for a, b, _, p, q in rows), "a leaf has a negative number")
    _insist(_dot(s, [row[0] - row[1] for row in rows]) <= 0, "a leaf depends on the total variance")
    square = [a - b for a, b, _, _, _ in rows]
    line = [2 * b * c - a * (l + u) - p + q for (a, b, c, p, q), (l, u) in zip(rows, box, strict=True)]
    each = [a * l * u - b * c * c + p * l - q * u for (a, b, c, p, q), (l, u) in zip(rows, box, strict=True)]
    rest = sum(each, Fraction(0))
    M = math.lcm(*(v.denominator for v in (*square, *line, rest)))
    h = [int(rest * M)] * len(x[0])
    for f, g, row in zip((int(v * M) for v in square), (int(v * M) for v in line), x, strict=True):
        h = [v + (f * y + g) * y for v, y in zip(h, row, strict=True)]
    left = {tuple(row[k] for row in x) for k, v in enumerate(h) if v <= 0}
    if min(h) >= 0 and len(left) <= 1:  # all weight on one point, which has no shares
        return Fraction(2)
    one = M * D * D
    size = sum(max(0, one - v) ** 2 for v in h)
    return Fraction(one * one, size) if size >= one * one else Fraction(2)


def _apart(x: Whole, s: Numbers, way: Numbers) -> Fraction:
    """2 if every pair of systems lies on the positive side of a direction, and the target does not."""
    _insist(_dot(way, s) <= 0, "the target lies on the side of the pairs")
    pairs = ([(row[k] - row[n]) ** 2 for row in x] for k in range(len(x[0])) for n in range(k))
    _insist(all(_dot(way, d) > 0 for d in pairs if any(d)), "a pair lies on the side of the target")
    return Fraction(2)


def _dot(u: Any, v: Any) -> Any:
    return sum(a * b for a, b in zip(u, v, strict=True))


def _read(numbers: Iterable[Any]) -> Numbers:
    return [Fraction(v) for v in numbers]


def _insist(right: bool, sentence: str) -> None:
    if not right:
        raise ValueError(f"not a proof: {sentence}")
