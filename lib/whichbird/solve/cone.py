"""The places of systems in exact numbers, along the two directions in which the constraint of one target is zero."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import NamedTuple

import numpy as np

PLACE_BITS = 220  # of a place, relative to the largest; near-copies and their squares need a hundred
CARE_KEPT = 1 << 23  # numbers that are kept since they may be needed again


class Differences:
    """The differences of K places as floats, the largest about one: [origin] is (K,), [origins] (R, K). Each is made when it is
    asked for, since few are and all would be K × K; the last ones are kept."""

    def __init__(self, places: np.ndarray) -> None:
        self.places, self.known = places, dict[int, np.ndarray]()

    def __getitem__(self, origin: int | np.ndarray) -> np.ndarray:
        if isinstance(origin, np.ndarray):
            return np.array([self[int(o)] for o in origin])
        if origin not in self.known:
            if len(self.known) * self.places.size > CARE_KEPT:
                self.known.clear()
            self.known[origin] = np.array([(t - self.places[origin]) / (1 << PLACE_BITS) for t in self.places])
        return self.known[origin]


class Cone(NamedTuple):
    """The places of K systems for one target along the two directions in which the constraint is zero.

    `e` and `d` (K,), whole numbers of `unit`: √(1−β̂)a + √β̂f and their difference, its sign turned below the natural
    balance, relative to the first system. `root_a` and `root_f` are the two square roots as used.
    """

    e: np.ndarray
    d: np.ndarray
    unit: Fraction
    root_a: Fraction
    root_f: Fraction
    differences: tuple[Differences, Differences]  # of e and of d

    @classmethod
    def of(cls, adequacy: np.ndarray, fluency: np.ndarray, beta: Fraction, above: bool) -> Cone:
        """
        >>> cone = Cone.of(np.array([0.0, 2.0]), np.array([0.0, 1.0]), Fraction(4, 5), True)
        >>> round(float(cone.e[1] * cone.unit) ** 2, 12), abs(float(cone.d[1] * cone.unit)) < 1e-60
        (3.2, True)
        """
        root_a, root_f = _root(1 - beta), _root(beta)
        x, y = (
            [root * (Fraction(float(t)) - Fraction(float(z[0]))) for t in z]
            for root, z in ((root_a, adequacy), (root_f, fluency))
        )
        unit = max(map(abs, x + y)) / (1 << PLACE_BITS)
        u, v = (np.array([round(t / unit) for t in z], object) for z in ((x, y) if above else (y, x)))
        e, d = u + v, u - v
        return cls(e, d, unit, root_a, root_f, (Differences(e), Differences(d)))


class Row(NamedTuple):
    """A saddle around system `origin`: h, and its centre p, q relative to that system, in a frame."""

    origin: int
    h: float
    p: float
    q: float


def _root(x: Fraction) -> Fraction:
    """√x to PLACE_BITS bits at least."""
    more = PLACE_BITS + max(0, x.denominator.bit_length() - x.numerator.bit_length())
    return Fraction(isqrt((x.numerator << 2 * more) // x.denominator), 1 << more)
