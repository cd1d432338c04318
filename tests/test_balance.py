import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st
from pools import ENDE24

from whichbird import balance as beta_of, ess, pair_balances, reachable
from whichbird.core.balance import (
    balances,
    collision,
    constraint,
    constraint_gradient,
    covariance,
    from_std_balance,
    mean,
    reach,
    std_balance,
    target,
    variance,
)

RNG = np.random.default_rng(0)
A, F = RNG.normal(size=(2, 6))
W = RNG.dirichlet(np.ones(6))


def test_moments_are_the_weighted_population_moments():
    assert mean(A, W) == pytest.approx(np.average(A, weights=W), rel=1e-14)
    assert covariance(A, F, W) == pytest.approx(np.cov(A, F, aweights=W, ddof=0)[0, 1], rel=1e-13)
    assert variance(A, W) == pytest.approx(np.cov(A, aweights=W, ddof=0), rel=1e-13)
    assert variance(A) == pytest.approx(A.var(), rel=1e-14)


def test_balance_is_the_share_of_the_adequacy_variance():
    assert beta_of(A, F, W) == pytest.approx(variance(A, W) / (variance(A, W) + variance(F, W)), rel=1e-14)
    assert beta_of(A, F) == pytest.approx(A.var() / (A.var() + F.var()), rel=1e-14)
    assert beta_of(*ENDE24) == pytest.approx(0.782073, abs=5e-7)  # the published β0 of ende24


@pytest.mark.parametrize("kernel", ["Prescott", "Haswell"])
def test_the_natural_balance_has_the_same_bits_on_every_processor(kernel):
    """Tables hold it in full. The variable makes OpenBLAS, where numpy has that, multiply as it does on another processor."""
    words = "import whichbird as wb; print([wb.balance(*wb.load(n).aspects).hex() for n in wb.datasets(aspects=True)])"

    def printed(**more):
        run = [sys.executable, "-c", words]
        return subprocess.run(run, env=os.environ | more, stdout=subprocess.PIPE, check=True, text=True).stdout

    assert printed(OPENBLAS_CORETYPE=kernel) == printed()


def test_balance_is_the_ratio_of_mean_squared_gaps():
    i, j = np.triu_indices(6, 1)
    w = W[i] * W[j]
    gaps_a, gaps_f = w @ (A[i] - A[j]) ** 2, w @ (F[i] - F[j]) ** 2
    assert beta_of(A, F, W) == pytest.approx(gaps_a / (gaps_a + gaps_f), rel=1e-13)


@pytest.mark.parametrize("scale, shift", [(1e6, 0), (1e-6, 0), (1, 1e6), (1e-6, 1)])
def test_shift_and_scale_change_nothing(scale, shift):
    # what rounding of the shifted scores themselves can do: their last digit against their spread, in three moments
    rounding = 1e-15 + 100 * np.finfo(float).eps * shift / scale
    a, f = scale * A + shift, scale * F - 2 * shift
    assert beta_of(a, f, W) == pytest.approx(beta_of(A, F, W), abs=rounding)
    # a pair may be many times closer than the pool is wide
    assert pair_balances(a, f) == pytest.approx(pair_balances(A, F), abs=20 * rounding)
    assert variance(a, W) / scale**2 == pytest.approx(variance(A, W), abs=rounding)
    assert covariance(a, f, W) / scale**2 == pytest.approx(covariance(A, F, W), abs=rounding)


@given(st.floats(0, 1))
def test_the_two_readings_of_beta_are_inverse(beta):
    assert from_std_balance(std_balance(beta)) == pytest.approx(beta, rel=1e-13, abs=1e-300)


def test_std_balance_is_the_share_of_the_standard_deviation():
    share = np.sqrt(variance(A, W)) / (np.sqrt(variance(A, W)) + np.sqrt(variance(F, W)))
    assert std_balance(beta_of(A, F, W)) == pytest.approx(share, rel=1e-14)


def test_pairs_come_in_triu_order_and_repeated_systems_have_none():
    pairs = pair_balances([0, 0, 3], [0, 0, 4])
    assert np.isnan(pairs[0]) and pairs[1:] == pytest.approx([0.36, 0.36], rel=1e-15)
    assert pair_balances(A, F)[1] == pytest.approx(beta_of(A, F, [1, 0, 1, 0, 0, 0]), rel=1e-13)


def test_tiny_scores_do_not_vanish():  # though their squares do
    assert pair_balances([0, 2e-170], [0, 1e-170]) == pytest.approx([0.8], rel=1e-14)


def test_reach_names_all_pairs_that_attain_the_ends():
    ends = reach([0, 1, 0, 1], [0, 0, 2, 2])  # a rectangle: two pairs vary in adequacy alone, two in fluency alone
    assert ends.low == 0 and ends.high == 1
    assert ends.low_pairs == ((0, 2), (1, 3)) and ends.high_pairs == ((0, 1), (2, 3))
    assert reachable(*ENDE24) == pytest.approx((0.007356, 0.999999), abs=5e-7)  # as published


@given(st.lists(st.floats(0.001, 1), min_size=6, max_size=6))
def test_no_weighting_leaves_the_range(w):
    low, high = reachable(A, F)
    assert low <= beta_of(A, F, w) <= high


def test_target():
    low, high = reachable(A, F)
    assert target(A, F, high) == high and target(A, F, low) == low
    with pytest.raises(ValueError, match="cannot be reached; this pool reaches") as refusal:
        target(A, F, high + 1e-12)
    said = str(refusal.value).split()
    assert (float(said[2]), float(said[-3]), float(said[-1])) == (high + 1e-12, low, high)


def test_collision_and_ess():
    assert collision(W) == pytest.approx((W**2).sum(), rel=1e-15)
    assert ess(np.ones(7)) == pytest.approx(7, rel=1e-15) and ess([0, 1]) == 1


def test_constraint_vanishes_at_the_balance_and_has_its_sign():
    beta = beta_of(A, F, W)
    assert constraint(W, A, F, beta) == pytest.approx(0, abs=1e-15)
    assert constraint(W, A, F, beta - 0.01) > 0 > constraint(W, A, F, beta + 0.01)


def test_gradient_is_that_of_the_constraint_along_the_plane():
    step = RNG.normal(size=6)
    step -= step.mean()
    h = 1e-5  # b is quadratic in w, so a central difference has no error but rounding, 1e-16 / h
    difference = (constraint(W + h * step, A, F, 0.3) - constraint(W - h * step, A, F, 0.3)) / (2 * h)
    assert step @ constraint_gradient(W, A, F, 0.3) == pytest.approx(difference, abs=1e-9)


@pytest.mark.parametrize(
    "a, f, w, words",
    [
        ([1, 2], [1, 2, 3], None, "fluency has 3 values where 2 are expected"),
        ([1], [1], None, "the pool has 1 system; a balance needs at least two"),
        ([1, 1], [2, 2], None, "all 2 systems have the same adequacy and fluency"),
        (
            [1, 1],
            [0, 1e-200],
            None,
            "all 2 systems have the same adequacy and fluency",
        ),  # told apart by less than 1 is rounded by
        ([4503599627370.0, 4503599627370.0], [0, 2.2e-311], None, "all 2 systems have the same adequacy and fluency"),
        ([1, np.nan], [1, 2], None, r"adequacy\[1\] is nan"),
        ([1, 2], [np.inf, 2], None, r"fluency\[0\] is inf"),
        ([[1, 2]], [1, 2], None, r"adequacy has shape \(1, 2\)"),
        (["x", 2], [1, 2], None, "adequacy holds something that is not a number"),
        ([1, 2], [1, 3], [1, -1], r"weights\[1\] is -1; a weight cannot be negative"),
        ([1, 2], [1, 3], [0, 0], "the weights sum to 0"),
        ([1, 2], [1, 3], [1, 0], "all the weight lies on systems with the same adequacy and fluency"),
        ([0.1, 0.1, 0.1, 3], [0.7, 0.7, 0.7, 1], [1, 1, 1, 0], "all the weight lies on systems with the same adequacy"),
    ],
)
def test_refusals(a, f, w, words):
    with pytest.raises(ValueError, match=words):
        beta_of(a, f, w)


@pytest.mark.parametrize("beta", [-0.1, 1.1, np.nan, "much", None])
def test_beta_is_a_number_from_0_to_1(beta):
    with pytest.raises(ValueError, match="a number from 0 to 1 is expected"):
        target(A, F, beta)


def test_many_weightings_at_once():
    rng = np.random.default_rng(7)
    a, f = rng.normal(size=(2, 9)) + 50
    w = rng.dirichlet(np.ones(9), 200)
    assert np.allclose(
        balances(a, f, w), [beta_of(a, f, row) for row in w], rtol=1e-9
    )  # no weighting is nearly one system
    assert np.isnan(balances(a, f, np.eye(9))).all()
