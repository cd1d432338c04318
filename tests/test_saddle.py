"""What has to be trusted in `saddle`: `off_balance` and `excluded`, against rational arithmetic; and `repair`."""

from fractions import Fraction

import numpy as np
import pytest

from whichbird.core.balance import balance
from whichbird.solve.saddle import excluded, off_balance, repair


def variance(x, w):
    """In fractions; w sums to one."""
    middle = sum(k * y for k, y in zip(w, x, strict=True))
    return sum(k * (y - middle) ** 2 for k, y in zip(w, x, strict=True))


def test_off_balance_by_hand():
    """x = (0, 2, 0), v = (0, 1, 3), stretch 2, that is, β̂ = 1/(1 + 2²) = 1/5. The three pairs have the balances 4/5, 0
    and 4/8; weights (2, 1, 1)/4 have var x = 3/4, var v = 3/2, β = 1/3."""
    x, v = np.array([0.0, 2, 0]), np.array([0.0, 1, 3])
    w = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 0.5, 0.5]]) / 2
    off = off_balance(np.tile(2 * x, (4, 1)), v, w, np.full(4, 2.0))
    assert off == pytest.approx([4 / 5 - 1 / 5, 1 / 5, 1 / 2 - 1 / 5, 1 / 3 - 1 / 5], rel=1e-15)


def test_off_balance_in_fractions():
    """Each row with a stretch and weights of its own; the same rational numbers go into both."""
    rng = np.random.default_rng(0)
    x, v = rng.integers(-64, 64, size=(2, 6)) / 16
    stretch = rng.integers(1, 64, size=50) / 16
    whole = rng.integers(0, 9, size=(50, 6))
    whole[:, 0] += 64 - whole.sum(axis=1)  # sixty-fourths: exact in binary
    w = whole / 64
    exact = []
    for s, row in zip(map(Fraction, stretch), w, strict=True):
        parts = [variance([Fraction(y) for y in z], [Fraction(k) for k in row]) for z in (x, v)]
        exact.append(float(abs(parts[0] / sum(parts) - 1 / (1 + s**2))))
    assert min(exact) < 0.02 and max(exact) > 0.5
    assert off_balance(stretch[:, None] * x, v, w, stretch) == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("beta", [1e-6, 0.2, 0.5, 0.9, 1 - 1e-6])
def test_off_balance_is_the_distance_of_the_balance_from_the_target(beta):
    rng = np.random.default_rng(1)
    x, v = rng.normal(size=(2, 7))
    w = rng.dirichlet(np.ones(7), size=20)
    stretch = np.full(20, np.sqrt((1 - beta) / beta))
    expected = [abs(balance(x, v, row) - beta) for row in w]
    assert off_balance(stretch[:, None] * x, v, w, stretch) == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_off_balance_is_zero_at_the_target_and_no_number_on_one_point():
    x, v = np.array([0.0, 2, 0]), np.array([0.0, 1, 3])
    off = off_balance(np.tile(0.5 * x, (2, 1)), v, np.array([[0.5, 0.5, 0], [0, 0, 1]]), np.full(2, 0.5))
    assert off[0] == 0 and np.isnan(off[1])  # stretch ½: β̂ = 4/5


def test_excluded_is_a_lower_bound_in_fractions():
    """h − √P ‖z₊‖ ≥ the square returned, without rounding: (h − square)² ≥ P ‖z₊‖², where it is not vacuous; and the
    bound is not idle, it gives away less than 1e-13."""
    rng = np.random.default_rng(2)
    u, v = rng.normal(size=(40, 6)), rng.normal(size=6)
    q, p, h, P = rng.normal(size=40), 0.3 * rng.normal(size=40), rng.uniform(0.1, 3, 40), rng.uniform(0.2, 0.9, 40)
    square, ratio = excluded(u, v, q, h, p, P)
    used = 0
    for n in range(40):
        H, Q, M, C, S = (Fraction(x) for x in (h[n], q[n], p[n], P[n], square[n]))
        z = [H + (Fraction(x) - M) ** 2 - (Fraction(y) - Q) ** 2 for x, y in zip(u[n], v, strict=True)]
        norm2 = sum(max(x, 0) ** 2 for x in z)
        assert H - S > 0 and (H - S) ** 2 >= C * norm2
        assert float(H - S) == pytest.approx(float(C * norm2) ** 0.5, rel=1e-13, abs=1e-13)
        assert ratio[n] ** 2 == pytest.approx(float(norm2 / C), rel=1e-13, abs=1e-300)
        used += any(x > 0 for x in z) and any(x < 0 for x in z)
    assert used > 20


def test_repair_moves_weight_to_the_system_that_leaves_the_least_collision():
    """By hand, u = (0, 2, 1, 1), v = (0, 1, ½, 2½) and half the weight on each of the first two: var_u − var_v is
    1 − ¼ = ¾, and around the means (1, ½) g = (¾, ¾, 0, −4). Only the last system brings it down: the share that does is
    ¾/4 = 3/16, which leaves (13, 13, 0, 6)/32."""
    u, v = np.array([[0.0, 2, 1, 1]]), np.array([0.0, 1, 0.5, 2.5])
    h, p, q, w = repair(u, v, np.array([[0.5, 0.5, 0, 0]]))
    assert w == pytest.approx(np.array([[13, 13, 0, 6]]) / 32, rel=1e-15)
    assert (h, p, q) == ([4], [1], [0.5])
    assert off_balance(u, v, w, np.ones(1)) == pytest.approx([0], abs=1e-15)


def test_repair_gives_no_number_where_no_share_will_do():
    u, v = np.array([[0.0, 2, 1]]), np.array([0.0, 1, 0.5])  # the third lies between the two
    assert np.isnan(repair(u, v, np.array([[0.5, 0.5, 0]]))[3]).any()
