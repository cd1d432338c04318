from itertools import combinations

import numpy as np
import oracle
import pytest
from pools import ENDE24, KINDS, UNCERTIFIABLE, make

from whichbird.core.balance import balance, constraint, constraint_gradient, reachable
from whichbird.solve.certificate import certificate
from whichbird.solve.search import search
from whichbird.solve.stationary import stationary_points

A, F = ENDE24
NATURAL = balance(A, F)


def best_on(support, beta):
    """The best positive stationary point of one support of ende24, as weights over all systems."""
    points = stationary_points(A, F, beta, [support])
    inside = points.weights[(points.weights > 0).all(axis=1)]
    w = np.zeros(16)
    w[support] = inside[np.argmin((inside**2).sum(axis=1))]
    return w


def test_uniform_weights_are_certified_at_the_natural_balance():
    proof = certificate(A, F, NATURAL, np.ones(16))
    assert proof and proof.failed is None
    assert (proof.eta, proof.curvature, proof.slack) == (0, 1, np.inf)
    assert proof.lam == pytest.approx(-1 / 16, rel=1e-14) and proof.gap < 1e-13


def test_a_certified_point_with_systems_left_out():
    r = search(A, F, 0.6)
    proof = certificate(A, F, 0.6, r.weights)
    assert proof and len(r.support) < 16 and proof.slack > 0 and 0 < proof.curvature < 1
    assert proof.gap < 1e-9


def test_the_multipliers_satisfy_the_conditions_as_stated():
    r = search(A, F, 0.6)
    proof = certificate(A, F, 0.6, r.weights)
    slope = r.weights + proof.eta * constraint_gradient(r.weights, A, F, 0.6) + proof.lam
    on = r.weights > 0
    assert np.abs(slope[on]).max() == pytest.approx(0, abs=1e-13)
    assert slope[~on].min() == pytest.approx(proof.slack, rel=1e-9)


def test_feasibility_is_tested_first():
    assert certificate(A, F, 0.6, np.ones(16)).failed == "feasibility"
    assert certificate([0, 0, 1], [0, 0, 2], 0.2, [1, 1, 0]).failed == "feasibility"  # no variance, no balance


def test_condition_i_fails_at_a_feasible_point_that_is_not_stationary():
    # between two weightings on either side of β̂ there is one at β̂
    v = np.random.default_rng(0).dirichlet(np.ones(16))
    beta = balance(A, F, v)
    proof = certificate(A, F, beta, v)
    assert proof.failed == "(i)" and not proof and proof.gap == np.inf


def test_condition_ii_fails_on_too_small_a_support():
    w = best_on(list(range(15)), 0.75)  # at 0.75 the optimum uses all sixteen systems
    proof = certificate(A, F, 0.75, w)
    assert proof.failed == "(ii)" and proof.slack < 0


def test_condition_iii_fails_at_an_optimum_that_cannot_be_certified():
    a, f, beta = UNCERTIFIABLE
    r = search(a, f, beta)
    proof = certificate(a, f, beta, r.weights)
    assert proof.failed == "(iii)" and proof.curvature < 0
    assert proof.eta == pytest.approx(-0.878, abs=5e-4)


@pytest.mark.parametrize("eta", [-0.5, -0.01, 0.02, 0.4])
@pytest.mark.parametrize("beta", [0.1, 0.6, 0.9])
def test_curvature_is_that_of_the_matrix_in_the_theorem(eta, beta):
    a, f = A - A.mean(), F - F.mean()
    aa, ff = a @ a, f @ f
    rho = a @ f / np.sqrt(aa * ff)
    off = -(1 - beta) * rho * np.sqrt(1 - rho**2) * aa
    matrix = np.array([[beta * ff - (1 - beta) * rho**2 * aa, off], [off, -(1 - beta) * (1 - rho**2) * aa]])
    lowest = np.linalg.eigvalsh(np.eye(2) + 2 * eta * matrix)[0]
    assert certificate(A, F, beta, np.ones(16), eta).curvature == pytest.approx(lowest, rel=1e-10)


def test_a_given_multiplier_is_used_as_it_is():
    right = certificate(A, F, 0.6, search(A, F, 0.6).weights)
    w = search(A, F, 0.6).weights
    assert certificate(A, F, 0.6, w, right.eta)
    assert certificate(A, F, 0.6, w, 1.01 * right.eta).failed == "(i)"


def test_a_pair_at_an_interior_balance_takes_the_smallest_multiplier_that_serves():
    a, f = [0.0, 2.0, 1.0], [0.0, 2.0, 1.5]
    proof = certificate(a, f, 0.5, [1, 1, 0])
    slope = np.array([0.5, 0.5, 0]) + proof.eta * constraint_gradient([1, 1, 0], a, f, 0.5) + proof.lam
    assert slope == pytest.approx([0, 0, 0], abs=1e-12)


def test_of_several_multipliers_the_one_that_serves_all_systems_left_out():
    """By hand: around (1, 1), h = ½(a² − f²) is 0 on the pair and −1/8, −1/2 off it, λ = −½. Condition (ii) is
    −η/8 ≥ ½ and −η/2 ≥ ½: η ≤ −4, where the slopes are 0 and 3/2."""
    a, f = [0.0, 2.0, 1.0, 1.0], [0.0, 2.0, 1.5, 2.0]
    proof = certificate(a, f, 0.5, [1, 1, 0, 0])
    assert proof.eta == pytest.approx(-4, rel=1e-14) and proof.lam == pytest.approx(-0.5, rel=1e-14)
    assert proof.residual < 1e-14 and proof.slack == pytest.approx(0, abs=1e-14)
    assert proof.failed in (None, "(iii)")
    swapped = certificate(f, a, 0.5, [1, 1, 0, 0])  # the aspects change places, b and η their sign
    assert swapped.eta == pytest.approx(4, rel=1e-14)


@pytest.mark.parametrize(
    "a, f", [([0, 2, 1, 2], [0, 2, 2, 1]), ([0, 2, 1, 3], [0, 2, 2, 3])], ids=["h of both signs", "h as on the pair"]
)
def test_where_no_multiplier_serves_there_is_none(a, f):
    proof = certificate(a, f, 0.5, [1, 1, 0, 0])
    assert (proof.eta, proof.lam, proof.slack, proof.failed) == (0, -0.5, -0.5, "(ii)")


def test_a_pair_with_nobody_left_out_needs_no_multiplier():
    proof = certificate([0, 2], [0, 1], 0.8, [1, 1])
    assert proof and (proof.eta, proof.slack, proof.curvature) == (0, np.inf, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_certified_point_is_never_beaten(kind):
    rng = np.random.default_rng(7)
    fired = 0
    for _ in range(12):
        a, f = make(kind, 5, rng)
        beta = 0.7 * balance(a, f) + 0.3 * reachable(a, f)[rng.integers(2)]
        best = None
        for size in range(2, 6):
            for support in map(list, combinations(range(5), size)):
                points = stationary_points(a, f, beta, [support])
                for part, eta in zip(points.weights, points.eta, strict=True):
                    w = np.zeros(5)
                    w[support] = part
                    if (part > 0).all() and (proof := certificate(a, f, beta, w, eta)):
                        best = best or oracle.brute_force(a, f, beta)[0]
                        fired += 1
                        # the oracle may be off its target by 1e-9, which moves Σw² by about as much
                        assert w @ w <= best * (1 + proof.gap + 1e-7)
    assert fired >= 5


def test_the_gap_pays_for_a_balance_that_is_slightly_off():
    near, best = search(A, F, 0.6 - 5e-10), 1 / search(A, F, 0.6).ess
    w = near.weights
    proof = certificate(A, F, 0.6, w, near.eta)
    assert proof and best >= w @ w * (1 - proof.gap)
    # twice the excess of ½Σw², relative to Σw²: what the slopes of L leave open, and what the constraint does
    slope = w + near.eta * constraint_gradient(w, A, F, 0.6) + proof.lam
    off = abs(near.eta * constraint(w, A, F, 0.6))
    assert off > 1e-13
    assert proof.gap == pytest.approx(2 * (w @ slope - slope.min() + off) / (w @ w), rel=1e-3)


@pytest.mark.parametrize("scale, shift", [(1e6, 0), (1e-6, 0), (1, 1e6)])
def test_units_do_not_matter(scale, shift):
    w = search(A, F, 0.6).weights
    base, moved = certificate(A, F, 0.6, w), certificate(scale * A + shift, scale * F - shift, 0.6, w)
    assert moved
    # shifted scores keep ten digits
    assert (moved.lam, moved.slack, moved.curvature) == pytest.approx((base.lam, base.slack, base.curvature), rel=1e-7)
    assert moved.eta * scale**2 == pytest.approx(base.eta, rel=1e-7)


def test_refusals():
    with pytest.raises(ValueError, match="weights has 2 values where 3 are expected"):
        certificate([0, 1, 2], [0, 2, 2], 0.5, [1, 1])
    with pytest.raises(ValueError, match="a weight cannot be negative"):
        certificate([0, 1], [0, 2], 0.5, [2, -1])
    with pytest.raises(ValueError, match="a number from 0 to 1"):
        certificate([0, 1], [0, 2], -1, [1, 1])
