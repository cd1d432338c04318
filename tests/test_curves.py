"""P-values along a dial against a new permutation test at every dial, and the signs against their other definition."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

import whichbird as wb
from whichbird.core.augment import DIALS, PAPER_FAMILIES, shifts
from whichbird.core.permutation import p_counts, p_curve_counts, p_curves, p_line_counts, p_values, permuted_gaps, signs

TENTHS = np.arange(-10, 11) / 10


def at_every_dial(x, moved, *options):
    """The definition: one test per dial, of x plus what the dial adds (each of `moved` (K,) or (K, N))."""
    x = np.asarray(x, dtype=float)
    return np.array([p_counts(x + np.reshape(m, (len(x), -1)), *options, exact=False) for m in moved])


def same(x, direction, dials, *options):
    """Both routes to a curve equal the definition where a dial moves whole systems; returns the counts."""
    x, direction, dials = (np.asarray(v, dtype=float) for v in (x, direction, dials))
    expected = at_every_dial(x, np.outer(dials, direction), *options)
    spread_out = np.repeat(direction[:, None], x.shape[1], axis=1)
    assert np.array_equal(p_curve_counts(x, np.outer(dials, direction), *options), expected)
    assert np.array_equal(p_line_counts(x, spread_out, dials, *options), expected)
    return expected


@pytest.mark.parametrize("segments", [1, 2, 3, 8, 63, 487, 1875])
def test_rounded_single_precision_uniforms_give_the_same_signs(segments):
    uniform = np.random.default_rng(4).random((1000, segments), dtype=np.float32)
    assert np.array_equal(np.round(uniform) * 2 - 1, signs(segments))


def test_p_values_as_the_field_s_toolkit_defines_them():
    # swap each segment where the rounded uniform is 0, then compare the difference of means: no tie within reach
    x = np.random.default_rng(8).normal(size=(4, 61)).cumsum(axis=0)
    keep = np.round(np.random.default_rng(4).random((1000, 61), dtype=np.float32)).astype(bool)
    expected = []
    for i in range(4):
        for j in range(i + 1, 4):
            gap = np.where(keep, x[i], x[j]).mean(axis=1) - np.where(keep, x[j], x[i]).mean(axis=1)
            observed = x[i].mean() - x[j].mean()
            assert np.abs(gap - observed).min() > 1e-9
            expected.append((gap >= observed).mean())
    assert p_values(x).tolist() == expected


def test_permuted_gaps_are_what_the_test_counts():
    x = np.random.default_rng(6).normal(size=(2, 50)) + [[0.1], [0]]
    gaps = permuted_gaps(x)
    assert gaps.shape == (1001,) and (gaps[1:] >= gaps[0]).sum() == p_counts(x)[0]
    swapped = np.where(signs(50)[:, None] > 0, x, x[::-1])  # the definition: exchange the scores of a segment
    # sums of 50 numbers near 1: their order is worth some 1e-15
    assert np.allclose(gaps[1:], swapped[:, 0].mean(axis=1) - swapped[:, 1].mean(axis=1), rtol=0, atol=1e-13)
    assert gaps[0] == pytest.approx(x[0].mean() - x[1].mean(), abs=1e-13)
    assert len(permuted_gaps(x, 10, 1)) == 11 and not np.array_equal(permuted_gaps(x, 10, 1), permuted_gaps(x, 10, 2))


def test_curves_on_scores_like_real_ones():
    rng = np.random.default_rng(12)
    x = 0.8 + 0.1 * rng.normal(size=(5, 80)) + 0.05 * rng.normal(size=(5, 1))
    for grid in (DIALS[family] for family in PAPER_FAMILIES):  # the three grids there are
        assert len(set(same(x, 0.03 * rng.normal(size=5), grid[::6])[:, 0])) > 5
    moved = rng.normal(size=(7, 5))  # dials need lie on no line
    assert np.array_equal(p_curve_counts(x, moved), at_every_dial(x, moved))
    assert np.array_equal(p_curves(x, moved), p_curve_counts(x, moved) / 1000)
    assert np.array_equal(p_curves(x, moved, 77, 5), [p_values(x + m[:, None], 77, 5) for m in moved])


ADVERSARIAL = {
    "integers": np.random.default_rng(1).integers(-3, 4, size=(4, 30)),
    "mqm": -np.random.default_rng(2).choice([0, 0, 0, 0, 1, 10, 50], size=(4, 60)) * 0.1,
    "thirds": np.random.default_rng(3).integers(0, 3, size=(3, 25)) / 3,
    "constants": np.array([[0.3], [0.1], [0.1], [0.2]]) + np.zeros(17),
    "identical": np.tile(np.random.default_rng(5).normal(size=40), (3, 1)),
    "the same sum, reversed": np.stack([np.arange(20) * 0.1, np.arange(20)[::-1] * 0.1]),
    "far from zero": 1e6 + np.random.default_rng(6).integers(0, 3, size=(3, 20)) * 0.1,
    "tiny": 1e-9 * np.random.default_rng(7).integers(-3, 4, size=(3, 20)),
    "one segment": np.array([[0.1], [0.2], [0.3]]),
    "two segments": np.array([[0.1, 0.3], [0.2, 0.2], [0.3, 0.1]]),
    "two systems": np.array([[1, 2, 3, 4.0], [4, 3, 2, 1]]),
    "zeros": np.zeros((3, 9)),
}


@pytest.mark.parametrize("x", ADVERSARIAL.values(), ids=ADVERSARIAL)
@pytest.mark.parametrize("move", ["unequal", "equal", "none"])
def test_curves_where_much_ties(x, move):
    k = len(x)
    unit = np.ptp(x) or 1.0
    direction = {"unequal": np.arange(k) * unit, "equal": np.full(k, 0.1), "none": np.zeros(k)}[move]
    same(x, direction, TENTHS, 200)


@pytest.mark.parametrize("x", ADVERSARIAL.values(), ids=ADVERSARIAL)
def test_lines_that_differ_from_segment_to_segment(x):
    rng = np.random.default_rng(9)
    unit = np.ptp(x) or 1.0
    mixed = rng.integers(-2, 3, size=x.shape) * unit  # many permutations see no slope at all
    one_cell = np.zeros(x.shape)
    one_cell[0, 0] = unit
    for direction in (mixed, one_cell, np.zeros(x.shape), rng.normal(size=x.shape), -x, np.flip(x)):
        expected = at_every_dial(x, TENTHS[:, None, None] * direction, 200)
        assert np.array_equal(p_line_counts(x, direction, TENTHS, 200), expected)


def test_flat_permutations_count_everywhere_or_nowhere():
    # the direction moves both systems alike, so every slope is zero and every dial gives the base answer
    x = np.random.default_rng(4).normal(size=(3, 30))
    alike = np.tile(np.random.default_rng(5).normal(size=30), (3, 1))
    assert np.array_equal(p_line_counts(x, alike, TENTHS), np.tile(p_counts(x), (TENTHS.size, 1)))


def test_a_dial_far_out_decides_everything():
    x = np.random.default_rng(4).normal(size=(2, 30))
    assert same(x, [1, 0], [-1e6, 0, 1e6])[:, 0].tolist() == [1000, p_counts(x)[0], 0]
    assert not (signs(30) > 0).all(axis=1).any()  # else a permutation that swaps nothing would count even there


def test_permutations_that_swap_nothing_always_count():
    stay = int((signs(2) > 0).all(axis=1).sum())
    assert 0 < stay < 1000
    assert same([[1, 2], [0, 0]], [1, 0], [1e6])[0, 0] == stay
    all_stay = next(seed for seed in range(50) if (np.random.default_rng(seed).integers(0, 2, size=(2, 1)) == 1).all())
    assert same([[1], [0]], [1, 0], TENTHS, 2, all_stay).tolist() == [[2]] * 21


def test_no_dial_one_dial_and_unsorted_shifts():
    x = np.random.default_rng(2).normal(size=(3, 12))
    assert p_curve_counts(x, np.empty((0, 3))).shape == (0, 3)
    assert np.array_equal(p_line_counts(x, x, [0.0]), [p_counts(x)])
    moved = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 0, 0], [1, 0, 0]])
    assert np.array_equal(p_curve_counts(x, moved), at_every_dial(x, moved))


def test_the_input_stays():
    x, moved = np.random.default_rng(2).normal(size=(3, 12)), np.random.default_rng(3).normal(size=(4, 3))
    before = x.copy(), moved.copy()
    p_curve_counts(x, moved)
    p_line_counts(x, x[::-1], TENTHS)
    assert np.array_equal(x, before[0]) and np.array_equal(moved, before[1])


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: p_curve_counts([[1, 2]], [[0]]), r"x has shape \(1, 2\); at least two systems"),
        (lambda: p_curve_counts([[], []], [[0, 0]]), r"x has shape \(2, 0\)"),
        (lambda: p_curve_counts([[1], [float("nan")]], [[0, 0]]), r"x\[1, 0\] is nan"),
        (lambda: p_curve_counts([[1], [2]], [[0, 0, 0]]), r"shifts has shape \(1, 3\); one column for each of the 2"),
        (lambda: p_curve_counts([[1], [2]], [[0, float("inf")]]), r"shifts\[0, 1\] is inf"),
        (lambda: p_curve_counts([[1], [2]], [[0, 0]], 2.5), "permutations is 2.5"),
        (
            lambda: p_line_counts([[1], [2]], [[1, 1], [2, 2]], [0]),
            r"direction has shape \(2, 2\); \(2, 1\), that of x",
        ),
        (lambda: p_line_counts([[1], [2]], [[1], [2]], []), r"dials are \[\]; at least one"),
        (lambda: p_line_counts([[1], [2]], [[1], [2]], [0, 0]), r"dials are \[0.0, 0.0\].* larger than the one before"),
        (lambda: p_line_counts([[1], [2]], [[1], [2]], [0], 0), "permutations is 0"),
        (lambda: p_line_counts([[1]], [[1]], [0]), r"x has shape \(1, 1\)"),
        (lambda: permuted_gaps([[1], [2], [3]]), r"x has shape \(3, 1\); two rows"),
        (lambda: permuted_gaps([[], []]), r"x has shape \(2, 0\)"),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


tenths = st.integers(-30, 30).map(lambda n: n * 0.1)
scores = st.one_of(tenths, st.floats(-1e6, 1e6, allow_subnormal=False))
shapes = st.tuples(st.integers(2, 4), st.integers(1, 8))


@settings(deadline=None, max_examples=60)
@given(st.data(), shapes)
def test_any_curve(data, shape):
    x = data.draw(arrays(np.float64, shape, elements=scores))
    moved = data.draw(arrays(np.float64, (5, shape[0]), elements=scores))
    assert np.array_equal(p_curve_counts(x, moved, 64), at_every_dial(x, moved, 64))


@settings(deadline=None, max_examples=60)
@given(st.data(), shapes, st.lists(scores, min_size=1, max_size=6, unique=True))
def test_any_line(data, shape, dials):
    x, v = (data.draw(arrays(np.float64, shape, elements=scores)) for _ in "xv")
    dials = np.sort(dials)
    assert np.array_equal(p_line_counts(x, v, dials, 64), at_every_dial(x, dials[:, None, None] * v, 64))


@pytest.mark.parametrize("scorer", ["BLEU", "MetricX-24-Hybrid"])
def test_shipped_curves_at_every_twentieth_dial(mtme_root, scorer):
    pool, d = wb.read_mtme(mtme_root, "jazh24"), wb.load("jazh24")
    x, k = pool.scorers[scorer], d.scorers.index(scorer)
    for family in d.families:
        moved = shifts(family, d.means[k], d.total, d.adequacy, d.fluency, d.offsets[k])[::20]
        assert np.array_equal(d.curve_counts(family)[k, ::20], at_every_dial(x, moved)), family
