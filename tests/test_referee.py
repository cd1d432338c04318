"""The referee of the book's proofs, against the solvers people call and against a scan; none of the three shares code with another."""

import numpy as np
import pytest

import whichbird as wb
from whichbird_book import referee

POOLS = [np.random.default_rng(seed).normal(size=(2, 3 + seed % 4)) for seed in range(12)]
# mirrored in an axis, turned through the centre, three on a line: r_j = 0, Φ = 0, or no second eigenvalue
SPECIAL = [
    ([0, 0, 2], [1, -1, 0]),
    ([2, 2, 0, 0], [1, 2, 2, 3]),
    ([1, 1, -1, -1], [2, -2, 2, -2]),
    ([0, 1, 2, 0], [0, 1, 2, 3]),
]


@pytest.mark.parametrize("pool", [*POOLS, *SPECIAL], ids=str)
def test_the_optimum_is_the_solvers(pool):
    a, f = np.asarray(pool, float)
    low, high = wb.reachable(a, f)
    for target in low + (high - low) * np.array([0.1, 0.4, 0.7, 0.9]):
        _, w = referee.optimum(a, f, target)
        assert abs(wb.balance(a, f, w) - target) < 1e-9
        assert np.isclose(wb.ess(w), wb.reweight(a, f, target).ess, rtol=1e-8)


@pytest.mark.parametrize("pool", POOLS, ids=str)
def test_the_points_of_a_support_are_the_library_s(pool):
    a, f = pool
    found = sorted(eta for eta, _ in referee.stationary(a, f, 0.4))
    # the unit of η: one over the squared unit of the scores, in both
    assert np.allclose(found, np.sort(wb.stationary_points(a, f, 0.4).eta), rtol=1e-6)


def test_a_scan_finds_nothing_better():
    angle = np.linspace(0, np.pi, 4001)[:-1]
    circle = np.outer(np.cos(angle), [1, -1, 0]) / 2**0.5 + np.outer(np.sin(angle), [1, 1, -2]) / 6**0.5
    for pool in POOLS:
        if pool.shape[1] == 3:
            a, f = pool
            target = np.mean(wb.reachable(a, f))
            scan = referee.rays(a, f, target, circle)
            assert np.abs([wb.balance(a, f, w) - target for w in scan[::50]]).max() < 1e-9
            w = referee.optimum(a, f, target)[1]
            assert w @ w <= (scan**2).sum(axis=1).min() + 1e-12


def test_the_middle_is_a_bound():
    for a, f in POOLS:
        target = np.quantile(wb.reachable(a, f), 0.8)
        bound, w = referee.middle(a, f, target)[1], referee.optimum(a, f, target)[1]
        assert bound @ bound <= w @ w * (1 + 1e-9)


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="no weighting of these systems has the balance"):
        referee.optimum([0, 1, 2], [0, 1, 2], 0.9)
    with pytest.raises(ValueError, match="candidates between the poles"):
        referee.middle([1, 1, -1, -1], [2, -2, 2, -2], 0.2)
