"""Pools on which ordinary numbers end: each finding of a review, and a sample of `adversarial`."""

from __future__ import annotations

from fractions import Fraction

import adversarial
import numpy as np
import pytest

import whichbird as wb
from whichbird.core.balance import Standard, snapped
from whichbird.solve.careful import Cone, Cover
from whichbird.solve.verify import verify

GAP = 1e-9
# five systems on a line with balance 4/5, two beside it
LINE = np.array([0, 2, 4, 6, 8, 4, 4.3]), np.array([0, 1, 2, 3, 4, 10, 10.1])


def test_the_sample_size_jumps_down_next_to_a_line():
    """Five systems on the line have exactly 4/5, so ESS is 5 there; a hair beyond they have to be given up. The value there
    is that of enumeration a little farther away, where that works."""
    r = wb.reweight(*LINE, 0.8)
    assert r.ess == pytest.approx(5, rel=GAP) and r.gap <= GAP and r.proof["beta"] == "4/5"
    beyond = adversarial.brute_force(*LINE, 0.8 + 1e-6)[0]
    for near in (1e-15, 1e-14, 1e-13, 1e-12, 1e-9, 1e-6):
        r = wb.reweight(*LINE, 0.8 + near)
        assert 1 / r.ess == pytest.approx(beyond, rel=1e-6) and r.gap <= GAP
    assert 1 / beyond == pytest.approx(2.0004, abs=5e-5)


def test_beta_interval_ends_at_the_jump():
    low, high = wb.beta_interval(*LINE, 4)
    assert high == 0.8
    assert wb.reweight(*LINE, low).ess == pytest.approx(4, rel=1e-9)


def test_nearly_collinear_pools_have_true_proofs():
    """One of them had a "dual" certificate of 1e-11 where the true excess was 1.4e-8."""
    a = np.array([14, 18, 9, 19, 5, 13.0])
    f = 2 * a + np.array([-8, -7, -9, 8, -3, 1]) * 1e-10
    r = wb.reweight(a, f, 0.19999999986525735)
    assert r.gap <= GAP and verify(r.proof) == r.gap
    assert r.ess > 2.0500239910979574 * (1 + 1e-8)  # what was returned then


@pytest.mark.parametrize("size", [1e-7, 1e-5, 1e7, 1e10])
def test_stretching_an_aspect_moves_the_odds_and_nothing_else(size):
    """β̂ / (1 − β̂) times the square of the stretch: a target next to 0 or 1 has the weights of one in the middle."""
    rng = np.random.default_rng(5)
    a, f = rng.normal(size=(2, 6))
    for beta in (0.3, 0.55, 0.7):
        odds = beta / (1 - beta) / size**2
        far = odds / (1 + odds)
        r = wb.reweight(a, size * f, far)
        exact = Fraction(far) / (1 - Fraction(far)) * Fraction(size) ** 2  # 1 − β̂ next to one has few digits
        expected = wb.reweight(a, f, float(exact / (1 + exact)))
        assert r.ess == pytest.approx(expected.ess, rel=1e-8) and r.gap <= GAP


def test_near_copies_have_the_balance_of_their_differences():
    """The pair (1, 1), (1 + 1e-10, 1 + 2e-10) has β = 1/5 up to the rounding of its scores, 1e-6 here."""
    a, f = [1, 1 + 1e-10, 3, 0], [1, 1 + 2e-10, 1, 4]
    assert wb.pair_balances(a, f)[0] == pytest.approx(0.2, abs=1e-5)
    da, df = Fraction(a[1]) - 1, Fraction(f[1]) - 1
    assert wb.pair_balances(a, f)[0] == pytest.approx(float(da**2 / (da**2 + df**2)), rel=1e-14)
    assert wb.balance(a, f, [1, 1, 0, 0]) == pytest.approx(wb.pair_balances(a, f)[0], rel=1e-14)


def test_chains_of_close_values_are_not_merged():
    """Steps below the rounding allowance, a range far above it: the natural balance is that of the differences."""
    eps = np.finfo(float).eps
    a = 1 + eps * np.arange(0, 60, 3)
    pool = Standard.of(a, a[::-1].copy())
    assert np.unique(pool.given_a).size > 5
    assert wb.balance(a, a[::-1].copy()) == pytest.approx(0.5, abs=1e-12)
    rows = snapped(np.array([[0, 1, 2, 3, 9.0], [0, 1, 5, 6, 7]]), np.array([[1.0], [1.0]]))
    assert rows.tolist() == [[0, 0, 2, 2, 9], [0, 0, 5, 5, 7]]


FOUND = [
    4,
    5,
    6,
    8,
    10,
    31,
    187,
    222,
    224,
    385,
    432,
    1384,
    3490,
    4385,
    4270,
    4749,
    5498,
    5879,
    7539,
    7725,
]  # each failed once


@pytest.mark.parametrize("number", [*FOUND, *range(1000, 1039)])
def test_a_sample_of_adversarial_pools(number):
    kind, where, x, _ = adversarial.make(number)
    outcome, about = adversarial.judge(number, against=x.shape[1] <= 8)
    assert outcome == "proven", about


def layers(cover):
    return 1 + max((layers(s) for s in cover["saddles"] if isinstance(s, dict)), default=0)


def test_next_to_a_drop_a_cover_is_cut_again_and_stays_small():
    """In one frame 1e-11 took 1829 saddles, and 1e-15 more than anybody has time for."""
    r = wb.reweight(*LINE, 0.8 + 1e-15)
    assert layers(r.proof) > 5 and str(r.proof).count("[") < 1000


def test_an_end_that_two_pairs_attain_up_to_rounding_has_a_proof():
    """All systems on a line but for the rounding of 2x + 1, so every pair has nearly the balance of the end."""
    x = np.random.default_rng(3).normal(size=9)
    for beta in wb.reachable(x, 2 * x + 1):
        r = wb.reweight(x, 2 * x + 1, beta)
        assert r.gap == 0 and r.certificate in ("pair", "uniform"), r


def test_a_boost_leaves_the_constraint_alone():
    """e is stretched and d shrunk, so their product between any two systems stays: in floats, to the last bits."""
    rng = np.random.default_rng(1)
    a, f = rng.normal(size=(2, 5))
    cone = Cone.of(a, f, Fraction(0.3), False)
    x, y = np.sqrt(0.7) * np.subtract.outer(a, a), np.sqrt(0.3) * np.subtract.outer(f, f)
    unit = float(cone.unit) * 2.0**220
    for boost in (-30, 0, 7):
        cover = Cover(cone, boost, np.arange(5))
        _, _, e, d = cover.seen(np.arange(5))
        assert e * d * unit**2 == pytest.approx((y**2 - x**2).T, rel=1e-9, abs=1e-14)


# --- all optima -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_mirrored_pools_have_mirrored_optima(seed):
    """The mirror image of an optimum is an optimum: it is the weighting itself, or among the alternatives."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(2, 4))
    a, f = np.concatenate([half, half * [[1], [-1]]], axis=1)
    low, high = wb.reachable(a, f)
    for r in wb.reweight_sweep(a, f, np.linspace(low, high, 12)):
        every = [r.weights, *r.alternatives]
        for w in every:
            image = np.concatenate([w[4:], w[:4]])
            assert min(np.abs(image - x).sum() for x in every) < 2e-3
            assert w @ w == pytest.approx(1 / r.ess, rel=GAP)
            assert wb.balance(a, f, w) == pytest.approx(r.target, abs=2e-12)


def test_all_lines_at_an_end_are_given():
    """Three pairs of systems one above the other: β = 0 for each, and nothing with more systems."""
    r = wb.reweight([0, 0, 1, 1, 5, 5], [0, 1, 3, 7, 2, 9], 0)
    every = np.array([r.weights, *r.alternatives])
    assert sorted(map(tuple, every > 0)) == sorted(map(tuple, np.kron(np.eye(3), [1, 1]) > 0))
    assert r.alternative is r.alternatives[0]
