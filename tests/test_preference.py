"""The three measures against their slow definition: SPA at every dial, neighbours compared, ties one half."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from slow import preference as slow

import whichbird as wb
from whichbird.study.preference import preference, steps

RNG = np.random.default_rng(31)


def in_whole_numbers(human, curves, w):
    """The same for whole weights, quick enough for a dataset; every sum is an exact int64."""
    i, j = np.triu_indices(len(w), 1)
    w = np.asarray(w, dtype=np.int64)
    spa = -(np.abs(curves.astype(np.int64) - human) @ (w[i] * w[j]))
    change = np.diff(spa, axis=1)
    return ((change > 0) + (change == 0) / 2).mean(axis=1).mean()


def made(scorers, dials, systems, top, seed=0):
    """Counts from 0 to `top`: the smaller, the more ties."""
    rng = np.random.default_rng(seed)
    pairs = systems * (systems - 1) // 2
    return rng.integers(0, top + 1, size=pairs), rng.integers(0, top + 1, size=(scorers, dials, pairs))


def test_by_hand():
    # one scorer, four dials, K = 3; distances to people per dial: (6, 0, 0), (3, 0, 0), (3, 0, 0), (4, 0, 2)
    human = np.array([10, 0, 5])
    curves = np.array([[[4, 0, 5], [7, 0, 5], [7, 0, 5], [14, 0, 7]]])
    step = steps(human, curves)
    assert step.tolist() == [[[3, 0, 0], [0, 0, 0], [-1, 0, -2]]]
    assert preference(step) == (1 + 0.5 + 0) / 3
    assert preference(step, [1, 0, 1]) == 0.5  # the one pair with weight never changes
    assert preference(step, [0, 1, 1]) == (0.5 + 0.5 + 0) / 3


def test_mean_over_dials_then_scorers():
    human, curves = np.zeros(1, dtype=int), np.array([[[9], [5], [1]], [[1], [5], [9]], [[1], [1], [2]]])
    assert preference(steps(human, curves)) == np.mean([1, 0, 0.25])


def test_steps_of_any_whole_type():
    human, curves = made(2, 5, 3, 100)
    expected = steps(human, curves)
    assert expected.shape == (2, 4, 3)
    for kind in (np.uint8, np.int8, np.uint16, np.int16, np.int32):
        assert np.array_equal(steps(human.astype(kind), curves.astype(kind)), expected)
    assert np.array_equal(steps(human.astype(np.uint16), curves.astype(np.int16)), expected)
    assert np.array_equal(steps(human.tolist(), curves.tolist()), expected)


@settings(deadline=None, max_examples=60)
@given(st.data(), st.integers(1, 3), st.integers(2, 5), st.integers(2, 5), st.sampled_from([1, 3, 1000]))
def test_any_table(data, scorers, dials, systems, top):
    pairs = systems * (systems - 1) // 2
    human = data.draw(arrays(np.int64, pairs, elements=st.integers(0, top)))
    curves = data.draw(arrays(np.int64, (scorers, dials, pairs), elements=st.integers(0, top)))
    heavy = st.lists(st.integers(0, 9), min_size=systems, max_size=systems).filter(lambda w: sum(map(bool, w)) > 1)
    w = data.draw(heavy)
    step = steps(human, curves)
    expected = slow(human, curves, w)
    # the answers are halves; a mean of them over another order of division is worth a few units in the last place
    assert preference(step, w) == preference(step, w, single=True) == pytest.approx(expected, abs=1e-14)
    uniform = slow(human, curves, [1] * systems)
    assert preference(step) == preference(step, [0.1] * systems) == pytest.approx(uniform, abs=1e-14)
    assert in_whole_numbers(human, curves, w) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("top", [1, 2, 1000])
def test_drawn_weightings_on_made_data(top):
    human, curves = made(3, 8, 5, top)
    step = steps(human, curves)
    w = RNG.dirichlet(np.ones(5), size=40)
    w[::4, :3] = 0  # one pair left
    w[1::4, 2] = w[1::4, 3]  # two systems that weigh the same: ties of sums, not only of zeros
    w[2::8] = 0.2
    assert preference(step, w) == pytest.approx([slow(human, curves, row) for row in w], abs=1e-14)
    assert preference(step, w, single=True).tolist() == preference(step, w).tolist()


@pytest.mark.parametrize(
    "name, family",
    [("ende24", "adequacy-fluency"), ("heen23", None), ("zhen22", "adherence"), ("ted_zhen", "explainability")],
)
def test_shipped_data(name, family):
    d = wb.load(name)
    if family is None:
        with pytest.raises(wb.DataError, match="no augmented scorers"):
            d.curve_counts("adequacy-fluency")
        return
    human, curves, k = d.counts("total"), d.curve_counts(family), len(d.systems)
    w = RNG.integers(0, 1000, size=(6, k))
    w[0] = 1
    w[1, 3:] = 0
    w[2, 2:] = 0
    expected = [in_whole_numbers(human, curves, row) for row in w]
    step = steps(human, curves)
    for single in (False, True):
        assert preference(step, w, single=single) == pytest.approx(expected, abs=1e-12)
    assert preference(step) == pytest.approx(expected[0], abs=1e-12)
    # SPA itself, as anyone would compute it, rises and falls with these steps
    change = np.diff(wb.spa_from_p(d.human_p, d.curves(family), w[3]), axis=1)
    clear = np.abs(change) > 1e-12
    share = ((change > 0) * clear + 0.5 * ~clear).mean()
    assert share == pytest.approx(expected[3], abs=1e-12)


def random_weightings(n, systems):
    """Smooth, peaked, sparse, equal and extreme ones."""
    w = np.concatenate([RNG.dirichlet(np.full(systems, a), size=n) for a in (20.0, 1.0, 0.1)])
    w[::5] *= RNG.random(w[::5].shape) < 0.3
    w[::7] = np.round(w[::7] * 8)
    w[::11] = 10.0 ** RNG.uniform(-12, 0, size=w[::11].shape)
    return w[(w > 0).sum(axis=1) > 1]


def test_single_precision_changes_nothing_on_thousands_of_weightings():
    d = wb.load("jazh24")
    step = steps(d.counts("total"), d.curve_counts("adequacy-fluency"))[:8]
    w = random_weightings(2000, len(d.systems))
    assert len(w) > 5000
    double = preference(step, w)
    assert preference(step, w, single=True).tolist() == double.tolist()
    assert len(set(double)) > 100


@pytest.mark.parametrize("top", [1, 3])
def test_single_precision_changes_nothing_where_everything_is_close(top):
    human, curves = made(6, 9, 6, top, seed=1)
    step = steps(human, curves)
    w = random_weightings(1000, 6)
    double = preference(step, w)
    assert preference(step, w, single=True).tolist() == double.tolist()
    few = w[::50]
    assert double[::50] == pytest.approx([slow(human, curves, row) for row in few], abs=1e-14)


@pytest.mark.parametrize("noise", [1e-9, 1e-7, 1e-6, 1e-5])
def test_single_precision_where_large_steps_nearly_cancel(noise):
    # each row sums to zero, so nearly uniform weightings leave of thousands what float32 cannot see
    step = RNG.integers(-1000, 1001, size=(1, 300, 78))
    step[..., -1] -= step.sum(axis=-1)
    w = 1 + noise * RNG.normal(size=(200, 13))
    w[0] = 1
    double = preference(step, w)
    assert double[0] == 0.5 and double[1:].min() < 0.5 < double[1:].max()
    assert preference(step, w, single=True).tolist() == double.tolist()


def test_a_step_counts_however_little_its_pair_weighs():
    step = np.array([[[0, 0, 3], [0, 0, -3], [0, 0, 0], [1000, -1000, 0], [1000, -1000, 1]]])
    for tiny in (1e-4, 1e-9, 1e-11):
        for single in (False, True):
            assert preference(step[:, :4], [1, tiny, tiny], single=single) == (1 + 0 + 0.5 + 0.5) / 4
    # 1 against 1000 at one 1e-15th of the weight is beyond the digits of a weight: a tie
    assert preference(step[:, 4:], [1, 1e-15, 1e-15]) == 0.5
    assert preference(step[:, 4:], [1, 1e-6, 1e-6]) == preference(step[:, 4:], [1, 1e-6, 1e-6], single=True) == 1


@pytest.mark.parametrize("single", [False, True])
def test_chunks_change_nothing(single):
    d = wb.load("ted_zhen")
    step = steps(d.counts("total"), d.curve_counts("adequacy-fluency"))[:5]
    w = random_weightings(100, len(d.systems))
    expected = preference(step, w, single=single).tolist()
    for chunk in (1, 7, len(w) - 1, len(w), 10**6):
        assert preference(step, w, chunk=chunk, single=single).tolist() == expected
    assert [preference(step, row, single=single) for row in w] == expected


def test_more_rows_than_a_byte_counts():
    # 255 rows make a block: gains and ties around its edge
    for rows in (254, 255, 256, 511, 700):
        step = np.zeros((1, rows, 3), dtype=int)
        step[0, :, 0] = 1
        assert preference(step) == 1 and preference(-step) == 0
        step[0, : rows // 2] = 0
        assert preference(step) == pytest.approx((rows - rows // 2 / 2) / rows, abs=1e-15)


def test_all_ties_and_no_weightings():
    step = np.zeros((2, 3, 3), dtype=int)
    for single in (False, True):
        assert preference(step, single=single) == 0.5
        assert preference(step, np.ones((4, 3)), single=single).tolist() == [0.5] * 4
        assert preference(step, np.empty((0, 3)), single=single).shape == (0,)


def test_scale_of_weights_and_names_of_systems():
    human, curves = made(3, 6, 4, 5)
    step, w = steps(human, curves), RNG.random(4)
    assert preference(step, w) == preference(step, w * 1e-200) == preference(step, w * 1e200)
    order = [2, 0, 3, 1]
    of = {frozenset(pair): n for n, pair in enumerate(combinations(range(4), 2))}
    moved = [of[frozenset((order[i], order[j]))] for i, j in combinations(range(4), 2)]
    assert preference(step[..., moved], w[order]) == preference(step, w)
    assert preference(-step, w) == pytest.approx(1 - preference(step, w), abs=1e-15)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: steps([0.1, 0.2, 0.3], [[[1, 2, 3], [1, 2, 3]]]), "human holds float64; whole numbers"),
        (lambda: steps([1, 2, 3], [[[0.1, 0.2, 0.3]] * 2]), "curves holds float64"),
        (lambda: steps([1, 2, 3], [[[1, 2], [1, 2]]]), r"human has shape \(3,\) and curves \(1, 2, 2\)"),
        (lambda: steps([1, 2, 3], [[[1, 2, 3]]]), r"curves \(1, 1, 3\)"),
        (lambda: steps([1, 2, 3], [[1, 2, 3], [1, 2, 3]]), r"curves \(2, 3\)"),
        (lambda: preference(np.ones((1, 2, 3)), [1, 1]), r"weights of shape \(2,\) make 1 pairs; .* with 3 pairs"),
        (lambda: preference(np.ones((1, 2, 2))), "weights of shape .* with 2 pairs is expected"),
        (lambda: preference(np.ones((1, 2, 3)), np.ones((1, 1, 3))), r"weights of shape \(1, 1, 3\)"),
        (lambda: preference(np.ones((1, 2, 3)), 1.0), r"weights of shape \(\)"),
        (lambda: preference(np.ones((1, 2, 3)), [1, 0, 0]), "fewer than two systems carry weight"),
        (lambda: preference(np.ones((1, 2, 3)), [1, -1, 1]), "a weight is -1"),
        (lambda: preference(np.ones((0, 2, 3))), r"the table has shape \(0, 2, 3\); at least one scorer"),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
