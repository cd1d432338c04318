"""From what the solver leaves behind to a proof that can be taken away: plain numbers, for `verify` to check.

The solver works in floating point and in its own units. Here its saddles are carried back to the units of the scores, the
fewest that cover the line are chosen, and the line is cut between them. Nothing here needs to be trusted: a mistake makes
a proof that `verify` refuses, or a larger gap.

A statement about a whole line of systems (at an end of the range, or wherever more than two lie on a line with the slope
of the target) is true of numbers like 1/3 and 4/5 and hardly ever of the binary fractions next to them. So a proof may
read a score or a target as another number within their rounding: first as the simplest fraction that rounds to it, and
if that does not help, moved onto the line. Such numbers stand in the proof as "p/q".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .verify import verify

LEVELS = (5.001e-10, 1e-9, 1e-8, 1e-6, 1e-4, 1e-2)  # relative gaps to try to cover the line at, the solver's own first
GOOD = 1e-9  # a proof of this gap is not improved by reading the numbers in another way
BITS = 128  # of the tilt, a quotient with a square root in it

Fractions = list[Fraction]


class Rows(NamedTuple):
    """Saddles z = h + (U − p)² − (V − q)² of one target in the solver's units: columns h, p, q (M, 3), and the frame.

    With x, v the standard scores and θ = log `frame`, U = stretch·x·cosh θ + v·sinh θ and V = v·cosh θ + stretch·x·sinh θ.
    """

    saddles: np.ndarray
    frame: float = 1.0


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
            proof: dict[str, Any] = {}
            try:
                proof = self._written(*reading)
                gap = verify(proof)
            except (ValueError, ZeroDivisionError, OverflowError):  # a target read as 0 or 1 has no stretch
                gap = math.inf
            if not best[0] or gap < best[1]:
                best = proof, gap
            if gap <= GOOD:
                break
        return best

    def _readings(self) -> Iterator[tuple[Fractions, Fractions, Fraction]]:
        """Scores and target as exact numbers: as they stand, as the simplest that round to them, moved onto a line."""
        a, f = ([Fraction(x) for x in map(float, s)] for s in (self.adequacy, self.fluency))
        beta, end = Fraction(self.beta), self.certificate == "pair"
        ends = self._line_ends()
        yield a, f, _share(a, f, *ends) if end else beta
        simple = [[simplest(x) for x in map(float, s)] for s in (self.adequacy, self.fluency)]
        yield simple[0], simple[1], _share(*simple, *ends) if end else simplest(self.beta)
        (a, f), (i, j) = ([x[int(np.flatnonzero(s == v)[0])] for v in s] for x, s in zip((a, f), self.standard)), ends
        for k in np.flatnonzero(self.weights):
            if a[i] != a[j]:
                f[k] = f[i] + (f[j] - f[i]) * (a[k] - a[i]) / (a[j] - a[i])
            else:
                a[k] = a[i]
        yield a, f, _share(a, f, i, j)

    def _line_ends(self) -> tuple[int, int]:
        """The two systems in use that lie farthest apart."""
        on = np.flatnonzero(self.weights)
        a, f, _ = self.standard
        longer = a if np.ptp(a[on]) >= np.ptp(f[on]) else f
        return int(on[longer[on].argmin()]), int(on[longer[on].argmax()])

    def _written(self, a: Fractions, f: Fractions, beta: Fraction) -> dict[str, Any]:
        proof: dict[str, Any] = {
            "adequacy": [_number(x) for x in a],
            "fluency": [_number(x) for x in f],
            "beta": _number(beta),
            "weights": [float(x) for x in self.weights],
        }
        if self.certificate == "pair":
            proof["pair"] = list(self._line_ends())
        elif self.rows is not None:
            proof |= self._carried(self.rows, a, f, beta)
        return proof

    def _carried(self, rows: Rows, a: Fractions, f: Fractions, beta: Fraction) -> dict[str, Any]:
        """The saddles in units of the scores, and for a cover the cuts between them."""
        above = sum(_parabolas(a, f, 1 - beta, beta)) <= 0
        x, y, c, d = (a, f, 1 - beta, beta) if above else (f, a, beta, 1 - beta)
        sx, sy = self.standard[:2] if above else self.standard[1::-1]
        unit = self.standard[2]
        mx, my = (_origin(s, t, unit) for s, t in ((x, sx), (y, sy)))
        tilt = _tilt(rows.frame, c, d)
        # the frame of the proof: X = x + t·d·y, Y = y + t·c·x, both around the solver's origin
        X, Y = [i - mx + tilt * d * (j - my) for i, j in zip(x, y)], [j - my + tilt * c * (i - mx) for i, j in zip(x, y)]
        origin = mx + tilt * d * my, my + tilt * c * mx
        length = unit / math.cosh(math.log(rows.frame))
        c_, d_ = float(c), float(d)
        h, p, q = rows.saddles.T * np.array([[d_ * length**2], [math.sqrt(d_ / c_) * length], [length]])
        out: dict[str, Any] = {"tilt": _number(tilt)} if tilt else {}
        kept: Sequence[int] = range(h.size)
        if self.certificate == "interval":
            u, v = np.array([float(i) for i in X]), np.array([float(j) for j in Y])
            cover = _cover(u, v, c_, d_, h, p, q, float(self.weights @ self.weights))
            if cover is None:
                return out
            kept, cuts, holes = cover
            out["cuts"] = [_shifted(t, origin[1], unit) for t in cuts]
        else:
            holes = {}
        out["saddles"] = [
            holes[n] if n in holes else [float(h[n]), _shifted(p[n], origin[0], unit), _shifted(q[n], origin[1], unit)]
            for n in kept
        ]
        return out


def _cover(
    u: np.ndarray, v: np.ndarray, c: float, d: float, h: np.ndarray, p: np.ndarray, q: np.ndarray, P: float
) -> tuple[list[int], list[float], dict[int, int]] | None:
    """Few saddles whose intervals cover [min v, max v], in order, and the cuts between them; None if they do not.

    Places that copies of one system keep free (`_holes`) are numbered after the saddles; the dict has their systems.
    """
    z = np.maximum(0, h[:, None] + c * (u - p[:, None]) ** 2 - d * (v - q[:, None]) ** 2)
    norm = np.sqrt((z**2).sum(axis=1))
    centre, width, system = _holes(u, v, c, d, P)
    for level in LEVELS:
        square = (h - math.sqrt(P * (1 - level)) * norm) / d
        half = np.concatenate([np.sqrt(np.maximum(0, square)), width])
        low, high = np.append(q, centre) - half, np.append(q, centre) + half
        kept, cuts, at = [], [], v.min()
        while True:
            reach = np.where((low < at) | (at == v.min()) & (low <= at), high, -np.inf)
            n = int(reach.argmax())
            if not reach[n] > at:
                break
            if kept:
                cuts.append(0.5 * (max(low[n], cuts[-1] if cuts else v.min()) + at))
            kept.append(n)
            at = reach[n]
            if at > v.max():
                return kept, cuts, {h.size + k: int(s) for k, s in enumerate(system)}
    return None


def _holes(u: np.ndarray, v: np.ndarray, c: float, d: float, P: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For systems with so many copies that 1/their number is below P: v, how far around it no mean lies, the system."""
    _, first, point, count = np.unique(np.column_stack((u, v)), axis=0, return_index=True, return_inverse=True, return_counts=True)
    out = []
    for k in first[count * P >= 1 - 1e-6]:
        other = point.ravel() != point.ravel()[k]
        du, dv = u[other] - u[k], np.abs(v[other] - v[k])
        with np.errstate(all="ignore"):
            away = ((d * dv * dv - c * du * du) / (d * dv)).min()
        if away > 0:
            out.append((v[k], away * (1 - 1e-12), k))
    table = np.array(out, float).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def _origin(x: Fractions, standard: np.ndarray, unit: float) -> Fraction:
    """What was subtracted from the scores x to make them standard."""
    k = int(np.abs(standard).argmin())
    return x[k] - Fraction(unit) * Fraction(float(standard[k]))


def _tilt(frame: float, c: Fraction, d: Fraction) -> Fraction:
    """tanh(log frame) / √(cd), to many more digits than a float: near one they count."""
    if frame == 1:
        return Fraction()
    square = Fraction(frame) ** 2
    product = c * d
    root = math.isqrt((product.numerator << 2 * BITS) // product.denominator) + 1  # rounded up, so the tilt is not too large
    return (square - 1) / (square + 1) * Fraction(1 << BITS, root)


def _parabolas(x: Fractions, y: Fractions, c: Fraction, d: Fraction) -> Fractions:
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return [c * (i - mx) ** 2 - d * (j - my) ** 2 for i, j in zip(x, y, strict=True)]


def _share(a: Fractions, f: Fractions, i: int, j: int) -> Fraction:
    """The exact balance of two systems."""
    da, df = (a[i] - a[j]) ** 2, (f[i] - f[j]) ** 2
    return da / (da + df) if da + df else Fraction(1, 2)


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
    low, high = ((Fraction(x) + Fraction(math.nextafter(x, side))) / 2 for side in (0.0, math.inf))
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
