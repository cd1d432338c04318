"""Check a proof about shares of several aspects in exact arithmetic, with nothing but Python's standard library.

A proof (`Shared.proof`) is plain numbers: "scores", A rows of K; "shares", the target; "weights", unless it shows that no
weighting has these shares; and "tree", which cuts the box of possible means into smaller ones. A cut is [aspect, at,
below, above]. A leaf has five numbers for each aspect, [a, b, c, p, q], all but c at least 0. They make one number for
each system, h = Σ a(x − l)(x − u) − b(x − c)² − p(x − l) − q(u − x), where l and u are the sides of the leaf's box. If
Σ s(a − b) ≤ 0, every weighting in the box with shares s has Σ w h ≤ 0, so that Σw² ≥ 1 / Σ max(0, 1 − h)².
In place of a tree, "hull" may have a direction in which all pairs of systems lie on one side.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

Numbers = list[Fraction]
MISSED = Fraction(1, 10**9)  # how far a share of the weights may be from the target


def verify_shares(proof: dict[str, Any]) -> float:
    """How far, at most, Σw² of the proof's weights lies above the least possible, relative to itself; rounded up.

    0 for a proof without weights that shows that no weighting has these shares. Weights are rounded: their shares, computed
    exactly, may miss the target by 1e-9, while the bound is for the target itself. What is not a proof is refused.

    >>> claim = {"scores": [[0, 1, 0], [0, 0, 1]], "shares": [1, 1]}
    >>> verify_shares({**claim, "weights": [1, 1, 1], "tree": [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]})
    0.0
    >>> verify_shares({"scores": [[0, 1, 2], [0, 1, 2]], "shares": [1, 3], "hull": [2, -1]})
    0.0
    >>> verify_shares({**claim, "weights": [1, 1, 0], "tree": [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]})
    Traceback (most recent call last):
    ...
    ValueError: not a proof: the weights miss the target
    """
    try:
        x = [_read(row) for row in proof["scores"]]
        s = _read(proof["shares"])
        _insist(len(x) == len(s) > 1 and all(len(row) == len(x[0]) for row in x), "the numbers have no common shape")
        _insist(min(s) >= 0 and sum(s) > 0, "shares cannot be negative, or all zero")
        known = _apart(x, s, _read(proof["hull"])) if "hull" in proof else _lowest(x, s, proof["tree"])
        if "weights" not in proof:
            _insist(known > 1, "the boxes leave room for a weighting")
            return 0.0
        w = _read(proof["weights"])
        _insist(len(w) == len(x[0]) and min(w) >= 0 and sum(w) > 0, "these are no weights")
    except (TypeError, KeyError, IndexError, AttributeError, OverflowError, ZeroDivisionError) as error:
        raise ValueError(f"not a proof: {error}") from None
    own = [_variance(row, w) for row in x]
    near = sum(own) > 0 and all(abs(v / sum(own) - t / sum(s)) <= MISSED for v, t in zip(own, s, strict=True))
    _insist(near, "the weights miss the target")
    gap = 1 - max(known, Fraction(1, len(w))) * sum(w) ** 2 / sum(v * v for v in w)
    return max(0.0, math.nextafter(float(gap), 1) if float(gap) < gap else float(gap))


def _lowest(x: list[Numbers], s: Numbers, tree: Any) -> Fraction:
    """The smallest bound of a leaf; 2, which no Σw² is, if all leaves are without weightings."""
    D = math.lcm(*(v.denominator for row in x for v in row))
    whole = [[int(v * D) for v in row] for row in x]
    todo, least = [(tree, [(min(row), max(row)) for row in x])], Fraction(2)
    while todo:
        node, box = todo.pop()
        if isinstance(node[0], list | tuple):
            least = min(least, _leaf(whole, D, s, box, [_read(row) for row in node]))
            continue
        j, at, below, above = node
        cut = Fraction(at)
        _insist(box[j][0] <= cut <= box[j][1], "a cut lies outside its box")
        todo.append((below, [(l, cut) if n == j else (l, u) for n, (l, u) in enumerate(box)]))
        todo.append((above, [(cut, u) if n == j else (l, u) for n, (l, u) in enumerate(box)]))
    return least


def _leaf(
    x: list[list[int]], D: int, s: Numbers, box: list[tuple[Fraction, Fraction]], rows: list[Numbers]
) -> Fraction:
    """What a leaf says of Σw² in its box: a bound, or 2 where it leaves no weighting."""
    _insist(len(rows) == len(x) and all(min(a, b, p, q) >= 0 for a, b, _, p, q in rows), "a leaf has a negative number")
    _insist(sum(t * (r[0] - r[1]) for t, r in zip(s, rows, strict=True)) <= 0, "a leaf depends on the total variance")
    square, line, rest = [], [], Fraction(0)  # h = Σ square x² + line x + rest
    for (a, b, c, p, q), (l, u) in zip(rows, box, strict=True):
        square.append(a - b)
        line.append(2 * b * c - a * (l + u) - p + q)
        rest += a * l * u - b * c * c + p * l - q * u
    M = math.lcm(*(v.denominator for v in (*square, *line, rest)))
    one = M * D * D
    terms = [(int(f * M), int(g * M) * D, row) for f, g, row in zip(square, line, x, strict=True)]
    h = [int(rest * M) * D * D + sum((f * row[k] + g) * row[k] for f, g, row in terms) for k in range(len(x[0]))]
    left = {tuple(row[k] for row in x) for k, v in enumerate(h) if v <= 0}
    if min(h) >= 0 and len(left) <= 1:  # all weight on one point, which has no shares
        return Fraction(2)
    size = sum(max(0, one - v) ** 2 for v in h)
    return Fraction(one * one, size) if size > one * one else Fraction(2 if size < one * one else 1)


def _apart(x: list[Numbers], s: Numbers, way: Numbers) -> Fraction:
    """2 if every pair of systems lies on the positive side of a direction, and the target does not."""
    _insist(_dot(way, s) <= 0, "the target lies on the side of the pairs")
    pairs = ([(row[k] - row[n]) ** 2 for row in x] for k in range(len(x[0])) for n in range(k))
    _insist(all(_dot(way, d) > 0 for d in pairs if any(d)), "a pair lies on the side of the target")
    return Fraction(2)


def _variance(x: Numbers, w: Numbers) -> Fraction:
    return _dot(w, [v * v for v in x]) / sum(w) - (_dot(w, x) / sum(w)) ** 2


def _dot(u: Numbers, v: Numbers) -> Fraction:
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


def _read(numbers: Iterable[Any]) -> Numbers:
    return [Fraction(v) for v in numbers]


def _insist(right: bool, sentence: str) -> None:
    if not right:
        raise ValueError(f"not a proof: {sentence}")
