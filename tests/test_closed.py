"""P-values in closed form against the test they approximate, and exact ones against every sign vector written out."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from whichbird.core.closed import closed_p, exact_p, moments, p_from_gram, p_from_moments
from whichbird.core.permutation import p_values
from whichbird.data.mtme import read_mtme

NAN = float("nan")


def every_sign(x):
    """The definition, for whole numbers: the share of all sign vectors whose gap is at least the observed one."""
    out = []
    for a, b in combinations(np.asarray(x, dtype=float).tolist(), 2):
        d = [u - v for u, v in zip(a, b, strict=True) if u == u and v == v]
        reached = [
            sum(e * v for e, v in zip(signs, d, strict=True)) >= sum(d) for signs in product((1, -1), repeat=len(d))
        ]
        out.append(sum(reached) / len(reached))
    return np.array(out)


def by_hand(x, order):
    """The moments of every pair, differences taken one by one."""
    d = np.array([a - b for a, b in combinations(np.asarray(x, dtype=float), 2)])
    return [np.nansum(d**power, axis=1) for power in (1, 2, 4)[: order // 2 + 1]]


def many_permutations(x, permutations=200_000):
    """P-values from more permutations than memory holds at once, with signs of its own; ties count, to within rounding."""
    rng, (i, j) = np.random.default_rng(99), np.triu_indices(len(x), 1)
    size, reached = 1e-10 * np.abs(x).sum(axis=1), np.zeros(i.size)
    for _ in range(permutations // 2000):
        s = rng.integers(0, 2, size=(2000, x.shape[1]), dtype=np.int8) * 2.0 - 1
        rise = x @ s.T - x.sum(axis=1)[:, None]
        reached += (rise[i] - rise[j] >= -(size[i] + size[j])[:, None]).sum(axis=1)
    return reached / permutations


cells = st.integers(-9, 10).map(lambda v: NAN if v == 10 else float(v))
shapes = st.tuples(st.integers(2, 4), st.integers(1, 7))
whole = shapes.flatmap(
    lambda shape: arrays(np.float64, shape, elements=cells, fill=st.nothing())
)  # every cell is drawn


@settings(deadline=None, max_examples=80)
@given(whole, st.sampled_from([1.0, 0.1, 1 / 30, 25.0]))
def test_exact_p_values_are_those_of_every_sign_vector(x, unit):
    assert exact_p(x * unit, unit) == pytest.approx(every_sign(x), abs=1e-13)


def test_exact_p_values_of_many_segments():
    # of 400 equal differences at least as many must keep their sign as do: a binomial tail, here at its middle and its end
    d = np.ones((1, 400))
    d[0, :200] = -1
    assert exact_p(np.vstack([d, 0 * d]), 1)[0] == pytest.approx(0.5 + 0.5 * 0.0398693, abs=1e-6)  # C(400, 200) / 2^400
    assert exact_p(np.vstack([abs(d), 0 * d]), 1)[0] == pytest.approx(0, abs=1e-14)
    assert exact_p(np.vstack([0 * d, abs(d)]), 1)[0] == pytest.approx(1, abs=1e-14)
    assert exact_p([[1, 1, NAN], [1, 1, 3]], 1).tolist() == [1.0]


@settings(deadline=None, max_examples=80)
@given(whole)
def test_moments_are_sums_over_the_cells_a_pair_shares(x):
    for got, expected in zip(moments(x, 4), by_hand(x, 4), strict=True):
        assert got == pytest.approx(expected, rel=1e-9, abs=1e-9)  # whole numbers to 9: sums of d⁴ reach 7e5
    for got, expected in zip(moments(x), by_hand(x, 2), strict=True):
        assert got == pytest.approx(expected, rel=1e-9, abs=1e-9)
    same = [np.array_equal(d[~np.isnan(d)], 0 * d[~np.isnan(d)]) for d in (a - b for a, b in combinations(x, 2))]
    assert (closed_p(x) == 1).tolist() == same


@settings(deadline=None, max_examples=60)
@given(whole, st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.booleans())
def test_shift_and_scale_change_nothing(x, shift, scale, corrected):
    assert closed_p((x + shift) * scale, corrected) == pytest.approx(closed_p(x, corrected), abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(whole)
def test_a_pair_the_other_way_round(x):
    """What is above one way is below the other way; where nothing differs, both are one."""
    for (i, j), p in zip(combinations(range(len(x)), 2), closed_p(x), strict=True):
        turned = closed_p(x[[j, i]])[0]
        assert p == turned == 1 or p + turned == pytest.approx(1, abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(whole, st.sampled_from([1.0, 0.1, 1 / 3]))
def test_few_differences_are_exact_with_the_correction(x, unit):
    x = x[:, :6]  # so many are tried with both signs
    assert closed_p(x * unit, corrected=True) == pytest.approx(every_sign(x), abs=1e-13)


def test_one_difference_above_all_others():
    """Its sign alone decides most, so that no bell curve fits; with every sign of the largest, what is left has one."""
    d = np.append(np.random.default_rng(3).integers(-9, 10, size=300), [250])
    x = np.array([d, 0 * d])
    exact = exact_p(x, 1)
    assert abs(closed_p(x) - exact) > 0.02
    assert closed_p(x, corrected=True) == pytest.approx(exact, abs=0.003)


def test_the_correction_by_its_formula():
    # twelve differences 1 and two of −1: z = 10/√14, Σd⁴ = 14; Φ(−z) from tables, the term by hand
    d = [1] * 12 + [-1] * 2
    z = 10 / np.sqrt(14)
    term = np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * 14 / (12 * 14**2) * (z**3 - 3 * z)
    assert closed_p([d, [0] * 14])[0] == pytest.approx(0.0037631, abs=1e-6)
    assert closed_p([d, [0] * 14], corrected=True)[0] == pytest.approx(0.0037631 - term, abs=1e-6)


@pytest.mark.parametrize("shape", [(5,), (2, 3), (0,)])
@pytest.mark.parametrize("share", [0, 0.2])
def test_stacks(shape, share):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(*shape, 4, 30))
    x[rng.random(x.shape) < share] = NAN
    x[..., 1, :] = x[..., 0, :]
    for corrected in (False, True):
        got = closed_p(x, corrected)
        assert got.shape == (*shape, 6)
        for at in np.ndindex(*shape):
            assert np.allclose(got[at], closed_p(x[at], corrected), rtol=0, atol=1e-13)
            assert got[at][0] == 1


def test_gram_matrices():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(5, 4, 30)) + 3
    x[:, 2] = x[:, 3]
    gram, sums = x @ np.swapaxes(x, 1, 2), x.sum(axis=2)
    assert p_from_gram(gram, sums) == pytest.approx(closed_p(x), abs=1e-12)
    assert p_from_gram(gram[0], sums[0]) == pytest.approx(closed_p(x[0]), abs=1e-12)
    rounded = gram * (1 + 1e-14 * rng.random(gram.shape))  # as sums in another order would come out
    assert p_from_gram(rounded, sums) == pytest.approx(closed_p(x), abs=1e-9)
    # segments drawn again, as weights on the moments and as columns
    draw = rng.integers(0, 30, size=30)
    parts = moments(np.moveaxis(x[0], 1, 0)[:, :, None], 4)  # of one segment each
    weighted = [np.bincount(draw, minlength=30) @ part for part in parts]
    assert p_from_moments(*weighted[:2]) == pytest.approx(closed_p(x[0][:, draw]), abs=1e-12)
    assert weighted[2] == pytest.approx(moments(x[0][:, draw], 4)[2], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("level", [0, 1, 1e6])
def test_systems_that_hardly_differ(level):
    """One segment of a thousand, or every segment a little: found however far away the third system lies."""
    rng = np.random.default_rng(2)
    a = level + rng.integers(0, 1024, size=1000) / 1024  # sums of these with what is added below are exact
    b, c = a.copy(), a + rng.choice([-1, 1, 2], size=1000) / 2**20
    b[7] += 0.5
    x = np.array([a, b, c, a, level - 1e3 * rng.random(1000)])
    expected = by_hand(x[:4], 4)
    i, j = np.triu_indices(5, 1)
    for got, want in zip(moments(x, 4), expected, strict=True):
        assert got[(i < 4) & (j < 4)] == pytest.approx(want, rel=1e-6)
    assert closed_p(x)[2] == 1 and closed_p(x)[0] == pytest.approx(0.8413447, abs=1e-6)  # z = −1: one segment differs
    noise = np.array([a + 0.1, (a + 0.3) - 0.2])  # equal but for rounding
    assert not np.array_equal(*noise) and closed_p(noise).tolist() == [1]


def test_many_made_segments():
    """Skewed scores with heavy tails. The s.d. of a share of 200 000 permutations is at most .0011: five of these count."""
    x = -(np.random.default_rng(4).exponential(size=(5, 400)) ** 1.5) + np.array([[0.2], [0], [0.15], [0.05], [0.1]])
    truth = many_permutations(x)
    assert truth.min() < 0.3 and truth.max() > 0.7
    plain, corrected = np.abs(closed_p(x) - truth), np.abs(closed_p(x, corrected=True) - truth)
    assert corrected.max() < 0.0056
    assert plain.max() < 0.02
    assert np.abs(p_values(x) - truth).max() > corrected.max()


def test_many_made_errors_on_a_lattice():
    x = -np.random.default_rng(5).choice([0, 0, 0, 1, 10, 50], size=(4, 300)) * 0.1
    exact = exact_p(x, 0.1)
    assert np.abs(many_permutations(x) - exact).max() < 0.0056
    assert np.abs(closed_p(x, corrected=True) - exact).max() < 0.0056


def test_real_segments(mtme_root):
    """On raw data: exact p-values of people's totals, and of scorers those of 200 000 permutations."""
    pool = read_mtme(mtme_root, "ende24")
    exact = exact_p(pool.total, 1 / 10)
    assert np.abs(many_permutations(pool.total) - exact).max() < 0.0056
    assert np.abs(closed_p(pool.total, corrected=True) - exact).max() < 0.01
    for name in sorted(pool.scorers)[::10]:
        truth = many_permutations(pool.scorers[name])
        assert np.abs(closed_p(pool.scorers[name], corrected=True) - truth).max() < 0.01


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: closed_p([1, 2]), r"x has shape \(2,\); at least two systems"),
        (lambda: closed_p([[1, 2]]), r"x has shape \(1, 2\)"),
        (lambda: closed_p([[], []]), r"x has shape \(2, 0\)"),
        (lambda: closed_p([[1, float("inf")], [0, 0]]), "x holds an infinite score"),
        (lambda: closed_p([["a"], ["b"]]), "x holds something that is not a number"),
        (lambda: moments([[1], [2]], 3), "order is 3; 2 or 4"),
        (lambda: p_from_gram(np.eye(3), [1, 2]), r"gram has shape \(3, 3\) and sums \(2,\)"),
        (lambda: p_from_gram([1, 2], 1), r"gram has shape \(2,\) and sums \(\)"),
        (lambda: exact_p([[1, 2]], 1), r"x has shape \(1, 2\); at least two"),
        (lambda: exact_p([[1], [2]], 0), "unit is 0; a positive number"),
        (lambda: exact_p([[1], [2]], NAN), "unit is nan; a positive number"),
        (lambda: exact_p([[0.25, 1], [0, 0]], 0.1), "differ by 0.25, which is no multiple of 0.1"),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
