"""Robust scatter: its identity, how it follows shifts and scales, what it estimates, and what cannot move it."""

import numpy as np
import pytest
import sympy as sp

import whichbird as wb
from whichbird.data.registry import DATASETS
from whichbird_book.robust import distance, scatter, spread


@pytest.fixture
def cloud():
    rng = np.random.default_rng(1972)
    a = rng.normal(size=15)
    return a, 0.6 * a + rng.normal(size=15)


def test_the_identity_behind_the_estimator():
    """For variances the numerator is 4 cov and the denominator 2 (var x + var y), which is 4 for standardised data."""
    x, y = (sp.Matrix(sp.symbols(f"{name}1:5", real=True)) for name in "xy")

    def cov(u, v):
        return sum(p * q for p, q in zip(u, v, strict=True)) / 4 - sum(u) * sum(v) / 16

    plus, minus = cov(x + y, x + y), cov(x - y, x - y)
    assert sp.expand(plus - minus - 4 * cov(x, y)) == 0
    assert sp.expand(plus + minus - 2 * cov(x, x) - 2 * cov(y, y)) == 0


def test_with_the_standard_deviation_as_spread_it_is_the_covariance(cloud, monkeypatch):
    monkeypatch.setattr("whichbird_book.robust.spread", np.std)
    assert np.allclose(scatter(*cloud).matrix, np.cov(*cloud, ddof=0), rtol=1e-12)


@pytest.mark.parametrize(("shift", "scale"), [((3, -7), (1, 1)), ((0, 0), (5, 1e-3)), ((1, 2), (-2, 30))])
def test_shift_and_scale_carry_over(cloud, shift, scale):
    (a, f), before = cloud, scatter(*cloud)
    after = scatter(shift[0] + scale[0] * a, shift[1] + scale[1] * f)
    assert np.allclose(after.centre, shift + np.multiply(scale, before.centre), rtol=1e-12)
    assert np.allclose(after.matrix, np.outer(scale, scale) * before.matrix, rtol=1e-11)  # digits lost to the shift
    there = distance(after, shift[0] + scale[0] * a, shift[1] + scale[1] * f)
    assert np.allclose(there, distance(before, a, f), rtol=1e-10)


def test_exchanging_the_aspects_transposes(cloud):
    a, f = cloud
    assert np.allclose(scatter(f, a).matrix, scatter(a, f).matrix[::-1, ::-1], rtol=1e-12)


def test_on_clean_normal_samples_it_estimates_the_covariance():
    """Mean of 400 estimates, within five of its standard errors and 1/401 for the bias of samples of that size."""
    true, rng = np.array([[4.0, -1.5], [-1.5, 1.0]]), np.random.default_rng(7)
    found = np.array([scatter(*rng.multivariate_normal([3, -2], true, size=401).T).matrix for _ in range(400)])
    error = 5 * found.std(axis=0) / np.sqrt(len(found)) + np.sqrt(np.outer(np.diag(true), np.diag(true))) / 401
    assert (np.abs(found.mean(axis=0) - true) < error).all()


def test_one_far_system_does_not_matter_how_far_it_is(cloud):
    a, f = cloud
    out = int(np.argmax(a + f))
    near, far = a.copy(), a.copy()
    near[out], far[out] = a.max() + 50, a.max() + 5e6
    assert np.allclose(scatter(near, f).matrix, scatter(far, f).matrix, rtol=1e-12)
    assert np.cov(far, f)[0, 0] > 1e9 * np.cov(near, f)[0, 0]
    assert distance(scatter(far, f), far, f)[out] > 1e5


def test_the_plain_form_would_not_be_positive_definite_but_this_one_is():
    """In some real pools (s₊² − s₋²) / 4 exceeds 1. The quotient never does."""
    plain = {}
    for name in DATASETS:  # of the registry: a dataset that is not there fails
        d = wb.load(name)
        if d.adequacy is not None:
            a, f = ((x - np.median(x)) / spread(x) for x in (d.adequacy, d.fluency))
            plain[name] = (spread(a + f) ** 2 - spread(a - f) ** 2) / 4
            assert np.linalg.eigvalsh(scatter(d.adequacy, d.fluency).matrix)[0] > 0
    assert max(plain.values()) > 1


def test_distance_is_the_length_of_the_whitened_point(cloud):
    a, f = cloud
    centre, matrix = scatter(a, f)
    whitened = np.linalg.solve(np.linalg.cholesky(matrix), np.array([a, f]) - centre[:, None])
    assert np.allclose(distance(scatter(a, f), a, f), np.linalg.norm(whitened, axis=0), rtol=1e-12)
    assert distance(scatter(a, f), a[:12].reshape(3, 4), f[:12].reshape(3, 4)).shape == (3, 4)


@pytest.mark.parametrize(
    ("a", "f", "says"),
    [
        ([1, 1, 1, 2], [1, 2, 3, 4], "value of adequacy"),
        ([1, 2, 3, 4], [5, 5, 5, 5], "value of fluency"),
        ([1, 2, 3, 4], [2, 4, 6, 8], "difference of both aspects"),
        ([1, 2, 3, 4], [8, 6, 4, 2], "sum of both aspects"),
        ([1, 2, 3], [1, 2], "fluency has 2 values where 3 are expected"),
        ([1, 2, np.nan], [1, 2, 3], r"adequacy\[2\] is nan"),
    ],
)
def test_what_has_no_scatter_is_refused(a, f, says):
    with pytest.raises(ValueError, match=says):
        scatter(a, f)
