"""What neighbours in a sorted pool say of all its pairs: against all of them, looked at one by one."""

from fractions import Fraction
from itertools import combinations

import numpy as np

import whichbird as wb
from whichbird.solve import ends


def test_close_pairs_are_found_among_neighbours():
    """Against all differences; most pools of these sizes have no such pair, or one."""
    rng, found = np.random.default_rng(6), 0
    for _ in range(600):
        size = int(rng.integers(2, 40))
        x, y = rng.uniform(0, ends.CLOSE * size, size=(2, size)) * rng.choice([1, 3, 9])
        x, y = (v[rng.integers(0, size, size)] for v in (x, y))
        gap = np.maximum(np.abs(np.subtract.outer(x, x)), np.abs(np.subtract.outer(y, y)))
        expected = ((gap > 0) & (gap < ends.CLOSE)).any()
        found += expected
        assert ends.close_pair(x, y) == expected
    assert 100 < found < 500


def test_the_next_pairs_are_found_among_neighbours():
    rng = np.random.default_rng(7)
    for _ in range(200):
        a, f = rng.normal(size=(2, int(rng.integers(3, 12))))
        beta, pairs = rng.random(), wb.pair_balances(a, f)
        near = ends.next_pairs(a, f, beta)
        assert set(near) <= set(pairs)
        for side in (1, -1):
            there = [side * x for x in pairs if side * x > side * beta]
            assert not there or min(there) == min(side * x for x in near if side * x > side * beta)


def test_exact_lines_are_found_among_neighbours():
    """Against the slopes of all pairs, in fractions."""
    rng = np.random.default_rng(8)
    for _ in range(300):
        size = int(rng.integers(2, 8))
        x, y = rng.integers(-3, 4, size=(2, size)) / 10
        w = np.where(rng.random(size) < 0.8, 1.0, 0.0)
        on = np.flatnonzero(w).tolist()
        place = {k: (Fraction(x[k]), Fraction(y[k])) for k in on}
        slopes = {
            (i, j): (place[j][1] - place[i][1]) / (place[j][0] - place[i][0])
            for i, j in combinations(on, 2)
            if place[i][0] != place[j][0]
        }
        if not slopes:
            continue
        least = min(map(abs, slopes.values()))
        lines = {
            tuple(k for k in on if place[k][1] - place[i][1] == slope * (place[k][0] - place[i][0]))
            for (i, _), slope in slopes.items()
            if abs(slope) == least
        }
        most = max(map(len, lines))
        found = ends.exact_lines(x, y, w)
        assert [tuple(np.flatnonzero(v)) for v in found] == sorted(line for line in lines if len(line) == most)
