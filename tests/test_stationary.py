from itertools import combinations

import mpmath
import numpy as np
import oracle
import pytest
from pools import ENDE24, FIVE, KINDS, SYMMETRIC, UNCERTIFIABLE, make

from whichbird.core.balance import balance, constraint_gradient, pair_balances
from whichbird.solve.stationary import _Secular, stationary_points


def exact(a, f, beta):
    """The real roots η of Φ in 60 digits by the paper's formulas: an explicit M, eigenvectors, the quintic."""
    with mpmath.workdps(60):
        a, f, (beta,) = ([mpmath.mpf(float(x)) for x in part] for part in (a, f, [beta]))
        n = len(a)
        a, f = [x - sum(a) / n for x in a], [x - sum(f) / n for x in f]
        matrix = mpmath.matrix(n, n)  # H of centred scores; the vector of ones is one more eigenvector, eigenvalue 0
        for i in range(n):
            for j in range(n):
                matrix[i, j] = beta * f[i] * f[j] - (1 - beta) * a[i] * a[j]
        theta, vectors = mpmath.eigsy(matrix)
        g = [(1 - beta) * x * x - beta * y * y for x, y in zip(a, f, strict=True)]
        c = sum(g) / n
        r = [sum(vectors[i, j] * (g[i] - c) for i in range(n)) for j in range(n)]
        total = sum(x * x for x in r)
        r1, r2, (t1, t2) = r[n - 1] ** 2, r[0] ** 2, (theta[n - 1], theta[0])
        flat = total - r1 - r2 if n > 3 else mpmath.mpf(0)

        def times(*factors):
            out = [mpmath.mpf(1)]
            for factor in factors:
                out = [
                    sum(out[i] * factor[k - i] for i in range(len(out)) if 0 <= k - i < len(factor))
                    for k in range(len(out) + len(factor) - 1)
                ]
            return out + [mpmath.mpf(0)] * (6 - len(out))

        one, two = [1, 2 * t1], [1, 2 * t2]
        terms = [
            times([c, -flat], one, one, two, two),
            times([0, -r1, -r1 * t1], two, two),
            times([0, -r2, -r2 * t2], one, one),
        ]
        phi = [sum(x) for x in zip(*terms, strict=True)]
        while abs(phi[-1]) <= mpmath.mpf(10) ** -40 * max(map(abs, phi)):
            phi.pop()
        roots = mpmath.polyroots(phi[::-1], maxsteps=1000, extraprec=500)
        return sorted(float(x.real) for x in map(mpmath.mpc, roots) if abs(x.imag) <= mpmath.mpf(10) ** -25 * abs(x))


def assert_stationary(points, a, f, beta):
    """Each point sums to one, has b = 0 and w + ηb′ constant, all relative to the size of what is summed up."""
    a, f = np.asarray(a), np.asarray(f)
    for w, eta in zip(points.weights, points.eta, strict=True):
        size = np.abs(w).sum()
        assert w.sum() == pytest.approx(1, abs=1e-13 * size)
        x, y = a - w @ a, f - w @ f
        h = (1 - beta) * x**2 - beta * y**2
        assert w @ h == pytest.approx(0, abs=1e-12 * size**2 * max(np.ptp(a), np.ptp(f)) ** 2)
        lagrange = w + eta * h
        assert np.ptp(lagrange) <= 1e-8 * (np.abs(w).max() + abs(eta) * np.abs(h).max())


def test_the_bound_of_five_is_attained():
    a, f, beta = FIVE
    points = stationary_points(a, f, beta)
    assert points.eta.size == 5 and points.poles.tolist() == [2]
    assert points.eta == pytest.approx(exact(a, f, beta), rel=1e-10)
    assert_stationary(points, a, f, beta)


def test_the_fixture_whose_optimum_cannot_be_certified():
    a, f, beta = UNCERTIFIABLE
    points = stationary_points(a, f, beta)
    inside = (points.weights > 0).all(axis=1)
    assert points.weights[inside] == pytest.approx(np.array([[0.0088, 0.0861, 0.4245, 0.4806]]), abs=5e-5)
    assert points.eta[inside] == pytest.approx([-0.878], abs=5e-4)
    assert points.eta == pytest.approx(exact(a, f, beta), rel=1e-9)


@pytest.mark.parametrize("size", [3, 4, 5, 7, 9])
def test_every_root_of_the_polynomial_is_found(size):
    rng = np.random.default_rng(size)
    counts = []
    for _ in range(25):
        support = np.sort(rng.choice(16, size, replace=False))
        a, f = ENDE24[:, support]
        beta = rng.uniform(0.01, 0.99)
        points = stationary_points(a, f, beta)
        # relative error of a root: rounding (1e-16) times its condition, which grows next to a double root
        assert points.eta == pytest.approx(exact(a, f, beta), rel=1e-6)
        assert_stationary(points, a, f, beta)
        counts.append(points.eta.size)
    assert len(set(counts)) > 1


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6])
def test_almost_collinear_supports_keep_all_roots(gap):
    rng = np.random.default_rng(1)
    a = rng.normal(size=5)
    f = 0.5 * a + gap * rng.normal(size=5)
    pairs = [balance(a[[i, j]], f[[i, j]]) for i, j in combinations(range(5), 2)]
    for beta in np.linspace(min(pairs), max(pairs), 7)[1:-1]:
        points = stationary_points(a, f, beta)
        assert points.eta == pytest.approx(exact(a, f, beta), rel=1e-4)
        for w in points.weights[(points.weights > 0).all(axis=1)]:
            assert balance(a, f, w) == pytest.approx(beta, abs=1e-9)


def test_a_root_next_to_a_double_root():
    """Between three and five roots two of them meet; just before, both are there, and close."""
    a, f, beta = FIVE
    three, five = 0.5, beta
    for _ in range(45):
        middle = (three + five) / 2
        three, five = (three, middle) if stationary_points(a, f, middle).eta.size == 5 else (middle, five)
    before, after = stationary_points(a, f, five + 1e-10).eta, stationary_points(a, f, three - 1e-10).eta
    assert before.size == 5 and after.size == 3
    assert before == pytest.approx(exact(a, f, five + 1e-10), rel=1e-8)
    assert np.diff(before).min() < 1e-3 * np.abs(before).max()


def test_collinear_support_at_its_own_balance_is_uniform():
    points = stationary_points([0, 1, 3, 4], [0, 2, 6, 8], 0.2)
    assert points.weights.tolist() == [[0.25] * 4] and points.eta.tolist() == [0] and points.poles.tolist() == [0]


def test_collinear_support_at_another_balance_has_no_weighting_of_that_balance():
    a, f = np.array([0, 1, 3, 4.0]), np.array([0, 2, 6, 8.0])
    points = stationary_points(a, f, 0.5)
    assert points.poles.tolist() == [1]
    for w in points.weights:  # b = 0 there means that the (signed) variance vanishes
        assert w @ (a - w @ a) ** 2 == pytest.approx(0, abs=1e-12 * np.abs(w).sum() * 16)
        assert (w < 0).any() or np.isclose(w.max(), 1)


@pytest.mark.parametrize("off", [0.3, 1e-3, -1e-6, 1e-7])
def test_a_pair_has_only_its_two_ends_away_from_its_balance(off):
    points = stationary_points([0, 2, 7.1], [0, 1, 3.3], 0.8 - off, [[0, 1]])
    assert sorted(points.weights.round(8).tolist()) == [[0, 1], [1, 0]] and points.poles.tolist() == [1]


@pytest.mark.parametrize("shift", [0, 1e6])
def test_three_systems_never_have_more_than_four_points(shift):
    """Two directions fill their plane, so the polynomial has degree four; a fifth root would be made of rounding."""
    rng = np.random.default_rng(0)
    for gap in 10.0 ** -np.repeat(np.arange(10), 15):
        a = rng.normal(size=3)
        a, f = a + shift, 0.5 * a + gap * rng.normal(size=3) + shift
        pairs = pair_balances(a, f)
        for beta in pairs.min() + np.ptp(pairs) * np.array([0.1, 0.5, 0.9]):
            assert stationary_points(a, f, beta).eta.size <= 4


def test_pole_with_nothing_along_it_gives_two_points():
    """Mirrored in the fluency axis, r has no part along ã: the multiplier is the pole, a coordinate free (Case 2.2)."""
    a, f, beta = np.array([-2, 2, 0.0]), np.array([0, 0, 1.0]), 0.6
    points = stationary_points(a, f, beta)
    assert_stationary(points, a, f, beta)
    mirrored = points.weights[:, [1, 0, 2]]
    unsymmetric = np.abs(mirrored - points.weights).max(axis=1) > 1e-6
    assert unsymmetric.sum() == 2  # ±√ of the free coordinate
    assert mirrored[unsymmetric][::-1] == pytest.approx(points.weights[unsymmetric], abs=1e-12)
    on_pole = points.eta[unsymmetric]
    assert on_pole[0] == pytest.approx(on_pole[1], rel=1e-12)


def test_a_parallelogram_has_one_point_between_its_poles():
    """By hand: centred, a = (1, 1, −1, −1), f = (−1, 0, 0, 1), so g = 0.3 a² − 0.7 f² = (−0.4, 0.3, 0.3, −0.4), c = −0.05,
    r = 0.35 (−1, 1, 1, −1). It is even and a, f are odd: r₁ = r₂ = 0, R = 0.49, s(η) = c − ηR, η = −5/49, and
    w = ¼ − ηr = (3, 4, 4, 3)/14. The poles (θ = 0.1 ± √0.85) have nothing: −s(η₁)/θ₁ and −s(η₂)/θ₂ are negative."""
    points = stationary_points([2, 2, 0, 0], [1, 2, 2, 3], 0.7)
    assert points.weights == pytest.approx(np.array([[3, 4, 4, 3]]) / 14, abs=1e-15)
    assert points.eta == pytest.approx([-5 / 49], rel=1e-14) and points.poles.tolist() == [2]


@pytest.mark.parametrize("kind", ["central", "lattice", "rectangles"])
def test_a_point_symmetric_support_has_one_point_or_three(kind):
    """r₁ = r₂ = 0, so s(η) = c − ηR. Its root is the only point if it lies between the poles. If it lies beyond one,
    that pole carries two more, ±√(−s/θ) along its eigenvector. If r = 0, only those two are left."""
    rng, counts = np.random.default_rng(11), []
    for _ in range(40):
        a, f = make(kind, int(rng.integers(4, 9)), rng)
        if np.linalg.matrix_rank([a, f]) < 2:  # on a line
            continue
        low, high = np.nanmin(pair_balances(a, f)), np.nanmax(pair_balances(a, f))
        beta = low + rng.uniform(0.02, 0.98) * (high - low)
        g = (1 - beta) * a**2 - beta * f**2
        c, r = g.mean(), g - g.mean()
        theta, v = np.linalg.eigh(beta * np.outer(f, f) - (1 - beta) * np.outer(a, a))
        expected = []
        if r @ r > 1e-20 * (g @ g):
            expected.append((c / (r @ r), 1 / a.size - c / (r @ r) * r))
        for j in (0, -1):
            pole = -1 / (2 * theta[j])
            square = -(c - pole * (r @ r)) / theta[j]
            if square > 0:
                expected += [(pole, 1 / a.size - pole * r + x * v[:, j]) for x in (-np.sqrt(square), np.sqrt(square))]
        points = stationary_points(a, f, beta)
        assert points.eta == pytest.approx(sorted(eta for eta, _ in expected), rel=1e-9)
        for _, w in expected:
            assert np.abs(points.weights - w).max(axis=1).min() <= 1e-7 * np.abs(w).max()  # √ halves the digits
        counts.append(len(expected))
    assert set(counts) <= {1, 2, 3} and len(set(counts)) > 1


@pytest.mark.parametrize("kind", SYMMETRIC)
def test_points_of_symmetric_supports_are_finite_and_stationary(kind):
    rng = np.random.default_rng(2)
    for _ in range(60):
        a, f = make(kind, int(rng.integers(4, 9)), rng)
        beta = rng.uniform(0.02, 0.98)
        points = stationary_points(a, f, beta)
        assert points.eta.size and np.isfinite(points.weights).all() and np.isfinite(points.eta).all()
        assert_stationary(points, a, f, beta)


@pytest.mark.parametrize("near", [1e-2, 1e-20, 1e-34, 1e-60])
@pytest.mark.parametrize("root", [1e-12, 0.2, 0.5, 0.5 + 1e-12, 0.9, 1 - 1e-6])
def test_the_middle_root_is_found_however_weak_its_pole(near, root):
    """g(s) = c − s − near·(1/(1−s)² − 1), with c chosen such that it vanishes at `root`."""
    one, zero = np.ones(1), np.zeros(1)
    c = root + near * (1 / (1 - root) ** 2 - 1)
    s, tau = _Secular(c * one, near * one, zero, one, one).middle()
    assert s == pytest.approx([root], rel=1e-12) and tau == pytest.approx([1 - root], rel=1e-9)


def test_a_start_on_the_pole_is_an_error_and_not_a_root():
    one, zero = np.ones(1), np.zeros(1)
    with (
        pytest.raises(ArithmeticError, match="1 roots of the secular equation did not settle"),
        np.errstate(all="ignore"),
    ):
        _Secular(0.2 * one, 1e-60 * one, zero, one, one)._newton(one, zero, one)


def test_three_systems_on_a_line_keep_their_flat_part():
    """By hand, at β̂ = ½: a = (−1, 0, 1), f = 0. b = 0 says x = y² for x = w₁ + w₃, y = w₃ − w₁, where
    Σw² = 1 − 1.5x + 1.5x². Its derivative in y, (3x − 1.5)·2y, vanishes for y = 0 and for x = ½."""
    points = stationary_points([-1, 0, 1], [0, 0, 0], 0.5)
    root = np.sqrt(2)
    expected = [[(1 - root) / 4, 0.5, (1 + root) / 4], [0, 1, 0], [(1 + root) / 4, 0.5, (1 - root) / 4]]
    assert sorted(points.weights.tolist()) == [pytest.approx(w, abs=1e-12) for w in sorted(expected)]
    assert points.poles.tolist() == [1]


@pytest.mark.parametrize("off", [3e-15, 1e-15, -2e-15])
def test_a_flat_part_made_of_rounding_gives_no_fifth_root(off):
    """Four systems on the hyperbola x² − y² = 1 have R = 0 at β̂ = ½ and at most four points; a last digit adds none."""
    k = np.array([1, 2, 3, -4.0])
    a, f = (k + 1 / k) / 2, (k - 1 / k) / 2
    exactly = stationary_points(a, f, 0.5)
    a[1] += off
    nearly = stationary_points(a, f, 0.5)
    assert exactly.eta.size == nearly.eta.size <= 4
    assert nearly.eta == pytest.approx(exactly.eta, rel=1e-9)


def test_identically_zero_polynomial_gives_the_uniform_weighting():
    points = stationary_points([1, 1, -1, -1], [1, -1, 1, -1], 0.5)  # a square: r = 0 and c = 0, but M is not zero
    assert points.weights.tolist() == [[0.25] * 4]


def test_own_balance_gives_the_uniform_weighting_among_others():
    a, f = ENDE24[:, :5]
    points = stationary_points(a, f, balance(a, f))
    assert np.abs(points.eta).min() < 1e-12
    assert points.weights[np.argmin(np.abs(points.eta))] == pytest.approx(np.full(5, 0.2), abs=1e-14)


def test_repeated_systems_alone_have_no_point():
    points = stationary_points([1, 1, 2], [3, 3, 5], 0.2, [[0, 1], [0, 2]])
    assert points.owner.tolist() == [1]


def test_many_supports_at_once_are_each_as_alone():
    supports = np.array(list(combinations(range(8), 4)))
    batch = stationary_points(*ENDE24, 0.6, supports)
    assert (np.diff(batch.owner) >= 0).all()
    for row, support in enumerate(supports):
        alone = stationary_points(*ENDE24, 0.6, [support])
        assert np.array_equal(batch.weights[batch.owner == row], alone.weights)
        assert np.array_equal(batch.eta[batch.owner == row], alone.eta)
        assert batch.poles[row] == alone.poles[0]


@pytest.mark.parametrize("kind", KINDS)
def test_all_points_of_a_dense_scan_are_there(kind):
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(12):
        a, f = make(kind, int(rng.integers(3, 7)), rng)
        beta = rng.uniform(0.05, 0.95)
        ours = stationary_points(a, f, beta).weights
        for w in oracle.stationary(a, f, beta):
            if np.abs(w).max() < 1e3:  # beyond, the scan itself loses too many digits
                found += 1
                assert np.abs(ours - w).max(axis=1).min() <= 1e-6 * np.abs(w).max()
    assert found > 12


def test_scale_of_the_multiplier():
    a, f, beta = FIVE
    base = stationary_points(a, f, beta)
    big = stationary_points(1e6 * np.array(a), 1e6 * np.array(f), beta)
    assert big.eta * 1e12 == pytest.approx(base.eta, rel=1e-9)
    assert big.weights == pytest.approx(base.weights, rel=1e-9)


def test_multiplier_is_that_of_the_constraint_in_the_units_given():
    a, f, beta = UNCERTIFIABLE
    points = stationary_points(a, f, beta)
    w, eta = points.weights[1], points.eta[1]
    assert np.ptp(w + eta * constraint_gradient(w, a, f, beta)) < 1e-12


def test_refusals():
    with pytest.raises(ValueError, match="a number from 0 to 1"):
        stationary_points([0, 1], [0, 2], 2)
    with pytest.raises(ValueError, match="supports"):
        stationary_points([0, 1], [0, 2], 0.5, [[0, 2]])
    with pytest.raises(ValueError, match="supports"):
        stationary_points([0, 1], [0, 2], 0.5, [[0, 0]])
    with pytest.raises(ValueError, match="supports"):
        stationary_points([0, 1], [0, 2], 0.5, [0, 1])
