"""From what the solver leaves behind to a proof that can be taken away: plain numbers, for `verify` to check.

The solver works in floating point and in its own units. Here its saddles are carried back to the units of the scores, the
fewest that cover the line are chosen, and the line is cut between them. Nothing here needs to be trusted: a mistake makes
a proof that `verify` refuses, or a larger gap.

A statement about a whole line of systems (at an end of the range, or wherever more than two lie on a line with the slope
of the target) is true of numbers like 1/3 and 4/5 and hardly ever of the binary fractions next to them. So a proof may
read a score or a target as another number within their rounding (`NEAR`): the target as the balance that the weights
have; both as the simplest fractions that round to them; and if that does not help, moved onto the line. Such numbers
stand in the proof as "p/q".
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..core.balance import distinct_steps
from .ends import holes
from .saddle import stationarity
from .verify import verify

LEVELS = (5.001e-10, 1e-9, 1e-8, 1e-6, 1e-4, 1e-2)  # relative gaps to try to cover the line at, the solver's own first
GOOD = 1e-9  # a proof of this gap is not improved by reading the numbers in another way
NEAR = Fraction(1, 1 << 50)  # how far a number may be moved, relative to the largest score; for the target as it is

Fractions = list[Fraction]


class Rows(NamedTuple):
    """Saddles z = h + (u − p)² − (v − q)² of one target in the solver's units: columns h, p, q (M, 3)."""

    saddles: np.ndarray


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that a proof is made from: scores (K,) as given and in standard units, target, weights, and the solver's rows."""

    adequacy: np.ndarray
    fluency: np.ndarray
    standard: tuple[np.ndarray, np.ndarray, float]  # adequacy, fluency, and their unit
    beta: float
    weights: np.ndarray
    certificate: str
    rows: Rows | None = None
    ready: tuple[dict[str, Any], float] | None = None  # a proof that is written and measured already

    def proof(self) -> tuple[dict[str, Any], float]:
        """The proof with the smallest gap, and that gap; infinity where none holds."""
        if self.ready is not None:
            return self.ready
        best: tuple[dict[str, Any], float] = {}, math.inf
        for reading in self._readings():
            if best[0] and not self._near(*reading):
                continue
            for rows in (self.rows, self._fitted) if self.certificate == "dual" else (self.rows,):
                proof: dict[str, Any] = {}
                try:
                    proof = self._written(*reading, rows() if callable(rows) else rows)
                    gap = verify(proof)
                except (
                    ValueError,
                    ArithmeticError,
                ):  # no proof, or no number: what was not found to all digits may overflow
                    gap = math.inf
                if not best[0] or gap < best[1]:
                    best = proof, gap
                if gap <= GOOD:
                    return best
        return best

    def _fitted(self) -> Rows:
        """The saddle through the weights, and Newton's method from there: where the solver's own lacks digits."""
        (a, f, _), w = self.standard, self.weights
        x, v, odds = a, f, (1 - self.beta) / self.beta
        if odds * np.var(a) > np.var(f):
            x, v, odds = f, a, 1 / odds
        u, on = math.sqrt(odds) * x, w > 0

        def around(w: np.ndarray) -> np.ndarray:
            return np.asarray((u - w @ u) ** 2 - (v - w @ v) ** 2)

        level = on / on.sum()
        g = around(level)
        if np.abs(g[on]).max() <= 1e-9 * np.abs(g).max():  # a line of the target's slope: a saddle that is level on it
            return Rows(np.array([[-g[~on].max(initial=-np.abs(g).max()), level @ u, level @ v]]))
        g, P = around(w), w @ w
        with np.errstate(all="ignore"):
            saddle = np.array([P * (g[on] @ g[on]) / (g[on] @ (w[on] - P)), w @ u, w @ v])
        for _ in range(3):
            saddle += stationarity(u[None], v[None], *saddle[:, None])[2][:, 0]
        return Rows(np.where(np.isfinite(saddle), saddle, 0.0)[None])

    def _readings(self) -> Iterator[tuple[Fractions, Fractions, Fraction]]:
        """Scores and target as exact numbers: as they stand; the balance that the weights have; the simplest that round
        to them; moved onto a line."""
        a, f = ([Fraction(x) for x in map(float, s)] for s in (self.adequacy, self.fluency))
        beta, end = Fraction(self.beta), self.certificate == "pair"
        ends = self._line_ends()
        yield a, f, _fraction(a, f, *ends) if end else beta
        if not end:
            yield a, f, _balance(a, f, [Fraction(w) for w in map(float, self.weights)])
        simple_a, simple_f = ([simplest(x) for x in map(float, s)] for s in (self.adequacy, self.fluency))
        yield simple_a, simple_f, _fraction(simple_a, simple_f, *ends) if end else simplest(self.beta)
        for x, s in zip((a, f), self.standard[:2], strict=True):  # what is one number after rounding, as one
            _, first, which = np.unique(s, return_index=True, return_inverse=True)
            x[:] = [x[int(first[n])] for n in which]
        i, j = ends
        for k in np.flatnonzero(self.weights):
            if abs(a[i] - a[j]) >= abs(f[i] - f[j]):
                f[k] = f[i] + (f[j] - f[i]) * (a[k] - a[i]) / (a[j] - a[i])
            else:
                a[k] = a[i] + (a[j] - a[i]) * (f[k] - f[i]) / (f[j] - f[i])
        yield a, f, _fraction(a, f, i, j)

    def _near(self, a: Fractions, f: Fractions, beta: Fraction) -> bool:
        """Whether these are the numbers given, give or take their rounding."""
        moves = ((a, self.adequacy), (f, self.fluency), ([beta], [self.beta]))
        return all(
            abs(x - Fraction(float(y))) <= NEAR * Fraction(float(max(map(abs, given))))
            for read, given in moves
            for x, y in zip(read, given, strict=True)
        )

    def _line_ends(self) -> tuple[int, int]:
        """The two systems in use that lie farthest apart."""
        on = np.flatnonzero(self.weights)
        a, f, _ = self.standard
        longer = a if np.ptp(a[on]) >= np.ptp(f[on]) else f
        return int(on[longer[on].argmin()]), int(on[longer[on].argmax()])

    def _written(self, a: Fractions, f: Fractions, beta: Fraction, rows: Rows | None) -> dict[str, Any]:
        proof: dict[str, Any] = {
            "adequacy": [_number(x) for x in a],
            "fluency": [_number(x) for x in f],
            "beta": _number(beta),
            "weights": [float(x) for x in self.weights],
        }
        if self.certificate == "pair":
            proof["pair"] = list(self._line_ends())
        elif rows is not None:
            proof |= self._carried(rows, a, f, beta)
        return proof

    def _carried(self, rows: Rows, a: Fractions, f: Fractions, beta: Fraction) -> dict[str, Any]:
        """The saddles in units of the scores, and for a cover the cuts between them."""
        even = [Fraction(1)] * len(a)
        above = (1 - beta) * _spread(a, even) <= beta * _spread(f, even)
        x, y, c, d = (a, f, 1 - beta, beta) if above else (f, a, beta, 1 - beta)
        if not c * d:
            return {}
        (sx, sy), unit = (self.standard[:2] if above else self.standard[1::-1]), self.standard[2]
        mx, my = _origin(x, sx, unit), _origin(y, sy, unit)
        c_, d_ = float(c), float(d)
        h, p, q = rows.saddles.T * np.array([[d_ * unit**2], [math.sqrt(d_ / c_) * unit], [unit]])

        def saddle(n: int) -> list[float | str]:
            return [float(h[n]), _shifted(p[n], mx, unit), _shifted(q[n], my, unit)]

        if self.certificate == "dual":
            return {"saddles": [saddle(0)]}
        # rounded once only, and around the solver's origin
        u, v = (np.array([float(t - m) for t in z]) for z, m in ((x, mx), (y, my)))
        # a power of two next to the unit's square, since that of a height may be no double
        square, P = 4.0 ** math.frexp(unit)[1], float(self.weights @ self.weights)

        def norm_of(n: int) -> float:
            z = np.maximum(0, h[n] + c_ * (u - p[n]) ** 2 - d_ * (v - q[n]) ** 2) / square
            return float(np.sqrt((z**2).sum())) * square

        norm = np.array([norm_of(n) for n in range(h.size)])
        around = holes(math.sqrt(c_ / d_) * u, v, distinct_steps(u, v)[0], P)
        for level in LEVELS:
            half = np.sqrt(np.maximum(0, (h - math.sqrt(P * (1 - level)) * norm) / d_))
            parts = [(at - by, at + by, n) for n, (at, by) in enumerate(zip(q, half, strict=True))]
            parts += [(left, right, h.size + k) for left, right, k in around]
            if covered := chain(parts, v.min(), np.nextafter(v.max(), np.inf)):
                saddles = [saddle(n) if n < h.size else n - h.size for _, _, n in covered[0]]
                return {"cuts": [_shifted(t, my, unit) for t in covered[1]], "saddles": saddles}
        return {}


def chain(parts: list[Any], start: Any, stop: Any) -> tuple[list[Any], list[Any]] | None:
    """Few of the parts (from, to, what) that cover a line from `start` to `stop`, in order, and cuts between; None if none do.

    >>> chain([(0, 3, "a"), (1, 2, "b"), (2, 9, "c")], 0, 8)
    ([(0, 3, 'a'), (2, 9, 'c')], [2])
    """
    kept: list[Any] = []
    cuts: list[Any] = []
    at, n, todo = start, 0, sorted(parts, key=lambda x: x[:2])
    while at < stop or not kept:
        reach = None
        while n < len(todo) and (todo[n][0] < at or not kept and todo[n][0] <= at):
            reach = todo[n] if reach is None or todo[n][1] > reach[1] else reach
            n += 1
        if reach is None or reach[1] <= at:
            return None
        if kept:
            both = max(reach[0], cuts[-1] if cuts else start) + at
            cuts.append(both >> 1 if isinstance(both, int) else both / 2)
        kept.append(reach)
        at = reach[1]
    return kept, cuts


def _origin(x: Fractions, standard: np.ndarray, unit: float) -> Fraction:
    """What was subtracted from the scores x to make them standard."""
    k = int(np.abs(standard).argmin())
    return x[k] - Fraction(unit) * Fraction(float(standard[k]))


def _spread(x: Fractions, w: Fractions) -> Fraction:
    """The variance of x under w, times (Σw)²."""
    first, second = (sum((i * v**n for i, v in zip(w, x, strict=True)), Fraction(0)) for n in (1, 2))
    return sum(w) * second - first**2


def _balance(a: Fractions, f: Fractions, w: Fractions) -> Fraction:
    """The exact balance of weights; ½ where there is none."""

    va, vf = _spread(a, w), _spread(f, w)
    return va / (va + vf) if va + vf else Fraction(1, 2)


def _fraction(a: Fractions, f: Fractions, i: int, j: int) -> Fraction:
    """The exact balance of two systems."""
    return _balance([a[i], a[j]], [f[i], f[j]], [Fraction(1)] * 2)


def _shifted(x: float, origin: Fraction, unit: float) -> float | str:
    """origin + x: as a float where that is exact enough, in the unit of the scores."""
    exact = origin + Fraction(float(x))
    short = float(exact)
    return short if abs(Fraction(short) - exact) <= Fraction(unit) / (1 << 51) else str(exact)


def _number(x: Fraction) -> float | str:
    return float(x) if Fraction(float(x)) == x else str(x)


def simplest(x: float) -> Fraction:
    """The fraction with the smallest denominator that rounds to x.

    >>> simplest(0.8), simplest(1 / 3), simplest(-773 / 487)
    (Fraction(4, 5), Fraction(1, 3), Fraction(-773, 487))
    """
    if x < 0:
        return -simplest(-x)
    if not math.isfinite(above := math.nextafter(x, math.inf)):
        return Fraction(x)
    low, high = ((Fraction(x) + Fraction(next_)) / 2 for next_ in (math.nextafter(x, 0.0), above))
    # the first continued fraction that both ends share, then one more step between them
    terms, a, b = [], low, high
    while True:
        whole = a.numerator // a.denominator
        if whole == a or whole + 1 < b:
            terms.append(whole if whole == a else whole + 1)
            break
        terms.append(whole)
        a, b = 1 / (b - whole), 1 / (a - whole)
    out = Fraction(terms.pop())
    while terms:
        out = terms.pop() + 1 / out
    return out if float(out) == x else Fraction(x)
