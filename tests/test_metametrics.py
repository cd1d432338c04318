"""Meta-metrics against their definitions, written out in loops."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import whichbird as wb
from whichbird import p_values, pairwise_accuracy, pearson, spa, spa_from_p
from whichbird.core.metametrics import correlation, correlations, pair_weights, soft_accuracy
from whichbird.data.registry import DATASETS

RNG = np.random.default_rng(17)
ROUNDING = 1e-13  # a few hundred additions of numbers below one


def slow_p(x):
    """Share of 1000 sign vectors whose signed gap reaches the plain one, pair by pair."""
    s = np.random.default_rng(4).integers(0, 2, size=(1000, x.shape[1])) * 2 - 1
    return [np.mean([(row * (a - b)).sum() >= (a - b).sum() for row in s]) for a, b in combinations(x, 2)]


def slow_spa(p, q, w=None):
    k = round((1 + (1 + 8 * len(p)) ** 0.5) / 2)
    w = [1] * k if w is None else list(w)
    pairs = list(combinations(range(k), 2))
    total = sum(w[i] * w[j] for i, j in pairs)
    return 1 - sum(w[i] * w[j] * abs(a - b) for (i, j), a, b in zip(pairs, p, q, strict=True)) / total


def slow_accuracy(h, s, w=None):
    w = [Fraction(1)] * len(h) if w is None else [Fraction(v) for v in w]
    right = asked = Fraction(0)
    for i, j in combinations(range(len(h)), 2):
        if h[i] != h[j]:
            asked += w[i] * w[j]
            right += w[i] * w[j] * (s[i] != s[j] and (h[i] > h[j]) == (s[i] > s[j]))
    return right / asked


def slow_pearson(h, s, w=None):
    w = [Fraction(1)] * len(h) if w is None else [Fraction(v) for v in w]
    h, s = ([Fraction(v) for v in x] for x in (h, s))

    def mean(x):
        return sum(a * b for a, b in zip(w, x, strict=True)) / sum(w)

    h, s = ([v - mean(x) for v in x] for x in (h, s))

    def moment(x, y):
        return mean([a * b for a, b in zip(x, y, strict=True)])

    return float(moment(h, s)) / (float(moment(h, h)) * float(moment(s, s))) ** 0.5


weights = st.lists(st.integers(0, 20), min_size=5, max_size=5).filter(lambda w: sum(v > 0 for v in w) >= 2)
scores = st.lists(st.integers(-4, 4), min_size=5, max_size=5)


# --- pair weights


def test_pair_weights():
    assert pair_weights([1, 2, 3]) == pytest.approx(np.array([2, 3, 6]) / 11, abs=1e-15)
    assert pair_weights([1, 0, 3]).tolist() == [0, 1, 0]
    for k in (2, 3, 7, 16):
        assert pair_weights(np.full(k, 1 / k)).tolist() == [1 / (k * (k - 1) / 2)] * (k * (k - 1) // 2)
    many = RNG.dirichlet(np.ones(6), size=40)
    # the products are the same; their sum may run in another order
    assert pair_weights(many) == pytest.approx(np.array([pair_weights(w) for w in many]), rel=1e-14, abs=0)
    assert pair_weights(many).sum(axis=1) == pytest.approx(np.ones(40), abs=1e-14)
    assert pair_weights(np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("scale", [1e-200, 1e-320, 1e200])
def test_a_common_scale_of_the_weights_means_nothing(scale):
    w = np.array([1.0, 2.0, 4.0])
    # 1e-320 has few digits left, so the weights themselves are rounded there
    assert pair_weights(w * scale) == pytest.approx(pair_weights(w), rel=1e-3 if scale < 1e-300 else 1e-15)
    assert pair_weights([1, 1e-320]).tolist() == [1]


@pytest.mark.parametrize(
    "w, sentence",
    [
        ([1.0], r"weights have shape \(1,\); at least two"),
        (3.0, r"weights have shape \(\)"),
        ([1, -1, 2], "a weight is -1; every weight"),
        ([1, np.nan, 2], "a weight is nan"),
        ([[1, 1], [1, np.inf]], "a weight is inf"),
        ([1, 0, 0], "fewer than two systems carry weight"),
        ([0, 0, 0], "fewer than two systems carry weight"),
        ([1e300, 1e-300], "fewer than two systems carry weight"),
        ([[1, 1], [1, 0]], "fewer than two systems carry weight"),
    ],
)
def test_weights_refused(w, sentence):
    with pytest.raises(ValueError, match=sentence):
        pair_weights(w)
    with pytest.raises(ValueError, match=sentence):
        spa_from_p([0.5, 0.5, 0.5], [0.5, 0.5, 0.5], w)


# --- SPA


def test_spa_from_segments_against_the_definition():
    human, scorer = RNG.normal(size=(2, 5, 30)) + np.linspace(0, 0.5, 5)[:, None]
    p, q = slow_p(human), slow_p(scorer)
    assert p_values(human).tolist() == p and p_values(scorer).tolist() == q
    assert spa(human, scorer) == pytest.approx(slow_spa(p, q), abs=ROUNDING)
    w = [0.4, 0.1, 0, 0.3, 0.2]
    assert spa(human, scorer, w) == pytest.approx(slow_spa(p, q, w), abs=ROUNDING)
    assert spa(human, human) == spa(human, human, w) == 1
    assert spa(human, scorer, permutations=50, seed=9) == spa_from_p(p_values(human, 50, 9), p_values(scorer, 50, 9))


def test_spa_by_hand():
    # distances .5, 0, .25 on the pairs (0,1), (0,2), (1,2)
    p, q = [0.5, 1.0, 0.25], [0.0, 1.0, 0.5]
    assert spa_from_p(p, q) == 0.75
    assert spa_from_p(p, q, [1, 1, 0]) == 0.5
    assert spa_from_p(p, q, [1, 0, 1]) == 1
    assert spa_from_p(p, q, [1, 1, 2]) == 1 - (1 * 0.5 + 2 * 0 + 2 * 0.25) / 5


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 1000), min_size=20, max_size=20), weights)
def test_spa_of_counts(counts, w):
    p, q = np.array(counts[:10]) / 1000, np.array(counts[10:]) / 1000
    assert spa_from_p(p, q) == pytest.approx(slow_spa(p, q), abs=ROUNDING)
    assert spa_from_p(p, q, w) == pytest.approx(slow_spa(p, q, w), abs=ROUNDING)
    assert spa_from_p(p, q, w) == spa_from_p(q, p, w)
    assert spa_from_p(p, q, [7] * 5) == pytest.approx(spa_from_p(p, q), abs=ROUNDING)  # uniform is classical
    assert 0 <= spa_from_p(p, q, w) <= 1 and spa_from_p(p, p, w) == 1


def test_uniform_weights_give_the_classical_value_on_real_p_values():
    for name in DATASETS:  # of the registry: a dataset that is not there fails
        d = wb.load(name)
        classical = spa_from_p(d.human_p, d.scorer_p)
        k = len(d.systems)
        uniform = spa_from_p(d.human_p, d.scorer_p, np.full(k, 1 / k))
        # at most 120 additions of numbers below one, in another order
        assert np.abs(uniform - classical).max() < 1e-14
        exact = np.abs(d.counts("total") - d.counts("scorers")).sum(axis=1)
        assert classical == pytest.approx(1 - exact / (1000 * d.human_p.size), abs=1e-14)


def test_many_weightings_and_scorers_at_once_are_a_loop():
    p, q = RNG.random(15), RNG.random((4, 3, 15))
    w = RNG.dirichlet(np.ones(6), size=7)
    w[0, :4] = 0
    got = spa_from_p(p, q, w)
    assert got.shape == (7, 4, 3)
    for index in np.ndindex(7, 4, 3):
        assert got[index] == pytest.approx(slow_spa(p, q[index[1:]], w[index[0]]), abs=ROUNDING)
    assert spa_from_p(p, q, w[1]).shape == (4, 3) and spa_from_p(p, q).shape == (4, 3)
    assert spa_from_p(p, q[0, 0], w).shape == (7,) and np.ndim(spa_from_p(p, q[0, 0], w[1])) == 0
    assert spa_from_p(p, np.empty((0, 15))).shape == (0,)


def test_equal_p_values_give_the_very_same_spa_wherever_they_stand():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 1001, size=(9, 120)) / 1000
    far, pi = rows[rng.integers(0, 9, size=300)], rng.dirichlet(np.ones(120), size=4)
    one = soft_accuracy(far, pi[0])
    for row in rows:
        assert np.unique(one[(far == row).all(axis=1)]).size <= 1
    # a product of matrices may add in another order
    assert soft_accuracy(far, pi) == pytest.approx(np.array([soft_accuracy(far, v) for v in pi]), abs=ROUNDING)
    assert soft_accuracy(far) == pytest.approx(soft_accuracy(far, np.full(120, 1 / 120)), abs=ROUNDING)
    stack = soft_accuracy(far.reshape(2, 150, 120), pi.reshape(2, 2, 120))
    assert stack == pytest.approx(
        np.stack([soft_accuracy(far[:150], pi[:2]), soft_accuracy(far[150:], pi[2:])]), abs=ROUNDING
    )


def test_the_p_values_stay():
    p, q = RNG.random(3), RNG.random((2, 3))
    before = p.copy(), q.copy()
    spa_from_p(p, q, [1, 2, 3])
    assert np.array_equal(p, before[0]) and np.array_equal(q, before[1])


def test_a_constant_scorer_has_p_one_everywhere():
    human, constant = RNG.normal(size=(3, 20)), np.full((3, 20), 0.7)
    assert p_values(constant).tolist() == [1, 1, 1]
    assert spa(human, constant) == pytest.approx(p_values(human).mean(), abs=ROUNDING)


def test_a_constant_or_a_scale_changes_no_spa_and_a_name_changes_only_ties():
    # whole numbers and powers of two, so that every sum is exact
    human, scorer = RNG.integers(-9, 10, size=(2, 4, 25)).astype(float)
    value = spa(human, scorer)
    assert spa(human + 64, scorer * 8 - 3) == value
    w = np.array([4, 3, 2, 1])
    order = [2, 0, 3, 1]
    free = RNG.normal(size=(2, 4, 25))  # no ties: a pair the other way round has p′ = 1 − p in both
    assert spa(*free[:, order], w[order]) == pytest.approx(spa(*free, w), abs=ROUNDING)
    assert spa(human, -scorer) != value  # but the sign is not free


@pytest.mark.parametrize(
    "p, q, w, sentence",
    [
        ([0.5, 0.5, 0.5], [0.5, 0.5], None, r"human_p has shape \(3,\) and scorer_p \(2,\)"),
        ([0.5], [[0.5, 0.5, 0.5]], None, r"human_p has shape \(1,\) and scorer_p \(1, 3\)"),
        ([[0.5]], [[0.5]], None, r"human_p has shape \(1, 1\)"),
        ([], [], None, r"human_p has shape \(0,\); one p-value"),
        (0.5, 0.5, None, r"human_p has shape \(\); one p-value"),
        ([0.5], [np.nan], None, "scorer_p runs from nan to nan"),
        ([18, 20, 1000], [0.5] * 3, None, "human_p runs from 18 to 1000; a p-value lies between 0 and 1"),
        ([0.5], [-0.1], None, "scorer_p runs from -0.1"),
        ([0.5] * 3, [0.5] * 3, [1, 1, 1, 1], "4 weights make 6 pairs, but there are 3 p-values"),
    ],
)
def test_p_values_refused(p, q, w, sentence):
    with pytest.raises(ValueError, match=sentence):
        spa_from_p(p, q, w)


def test_segments_refused():
    with pytest.raises(ValueError, match=r"human has shape \(2, 2\) and scorer \(2, 1\)"):
        spa([[1, 2], [3, 4]], [[1], [2]])
    with pytest.raises(ValueError, match=r"human\[0, 0\] is inf"):
        spa([[np.inf], [1]], [[1], [2]])


# --- pairwise accuracy


@settings(deadline=None, max_examples=80)
@given(scores, scores, weights)
def test_pairwise_accuracy(h, s, w):
    if len(set(h)) > 1:
        # uniform weights count pairs, so the classical value is exact
        assert pairwise_accuracy(h, s) == pairwise_accuracy(h, s, [0.2] * 5) == float(slow_accuracy(h, s))
    if len({a for a, v in zip(h, w, strict=True) if v}) > 1:
        assert pairwise_accuracy(h, s, w) == pytest.approx(float(slow_accuracy(h, s, w)), abs=ROUNDING)
    else:
        with pytest.raises(ValueError, match="people tie every pair that has weight"):
            pairwise_accuracy(h, s, w)


def test_pairwise_accuracy_with_ties():
    assert pairwise_accuracy([3, 2, 1], [9, 9, 5]) == 2 / 3  # the scorer's tie is wrong
    assert pairwise_accuracy([3, 3, 1], [9, 8, 5]) == 1  # people's tie is left out
    assert pairwise_accuracy([3, 2, 1], [5, 5, 5]) == 0
    assert pairwise_accuracy([3, 2, 1], [9, 9, 5], [2, 1, 1]) == pytest.approx(3 / 5, abs=ROUNDING)


def test_pairwise_accuracy_sees_the_order_alone():
    h, s, w = RNG.normal(size=7), RNG.normal(size=7), RNG.random(7)
    value = pairwise_accuracy(h, s, w)
    assert pairwise_accuracy(100 + h, np.exp(s), w) == pairwise_accuracy(h / 1e9, s * 1e9, w) == value
    order = RNG.permutation(7)
    assert pairwise_accuracy(h[order], s[order], w[order]) == pytest.approx(value, abs=ROUNDING)
    assert pairwise_accuracy(h, -s, w) == pytest.approx(1 - value, abs=ROUNDING)


# --- Pearson


@settings(deadline=None, max_examples=80)
@given(scores, scores, weights)
def test_pearson(h, s, w):
    if len(set(h)) > 1 and len(set(s)) > 1:
        assert pearson(h, s) == pytest.approx(slow_pearson(h, s), abs=ROUNDING)
        assert pearson(h, s) == pytest.approx(np.corrcoef(h, s)[0, 1], abs=ROUNDING)
    varied = [len({a for a, v in zip(x, w, strict=True) if v}) > 1 for x in (h, s)]
    if all(varied):
        value = pearson(h, s, w)
        assert value == pytest.approx(slow_pearson(h, s, w), abs=ROUNDING)
        repeated = [np.repeat(x, w) for x in (h, s)]  # a weight of three is a system three times
        assert value == pytest.approx(np.corrcoef(*repeated)[0, 1], abs=ROUNDING)
        assert -1 <= value <= 1 and value == pytest.approx(pearson(s, h, w), abs=ROUNDING)
    else:
        which = "scorer" if varied[0] else "human"
        with pytest.raises(ValueError, match=f"the {which} scores are the same on all systems with weight"):
            pearson(h, s, w)


def test_pearson_under_shift_scale_and_names():
    h, s, w = RNG.normal(size=8), RNG.normal(size=8), RNG.random(8)
    value = pearson(h, s, w)
    for scale in (1e-200, 1e-6, 1e6, 1e150):
        assert pearson(h * scale, s / scale, w) == pytest.approx(value, abs=ROUNDING)
    assert pearson(h, -3 * s, w) == pytest.approx(-value, abs=ROUNDING)
    # 1e6 costs six of the sixteen digits
    assert pearson(h + 1e6, s - 1e6, w) == pytest.approx(value, abs=1e-9)
    order = RNG.permutation(8)
    assert pearson(h[order], s[order], w[order]) == pytest.approx(value, abs=ROUNDING)
    assert pearson(h, s, w * 1e-200) == pytest.approx(value, abs=ROUNDING)


def test_one_pearson_for_scorers_and_for_systems():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(5, 7)), rng.normal(size=(5, 7))
    expected = [pearson(a, b) for a, b in zip(x, y, strict=True)]
    assert correlation(x, y) == pytest.approx(expected, abs=ROUNDING)
    assert correlations(x[0], y, np.ones((1, 7)))[0] == pytest.approx([pearson(x[0], b) for b in y], abs=ROUNDING)
    assert correlation(np.ones((1, 3)), np.array([1.0, 2.0, 4.0])).tolist() == [0]


def test_perfect_correlation_is_one_and_never_more():
    for _ in range(200):
        h, w = RNG.normal(size=5), RNG.random(5)
        assert 1 - ROUNDING < pearson(h, 0.3 * h + 0.1, w) <= 1
        assert -1 <= pearson(h, -0.7 * h, w) < -1 + ROUNDING


def test_pearson_ignores_systems_without_weight():
    assert pearson([1, 2, 3, 1e30], [1, 3, 2, -1e30], [1, 1, 1, 0]) == pytest.approx(0.5, abs=ROUNDING)
    assert pearson([0, 1], [0, 5], [1, 1e-30]) == 1  # two systems lie on a line, however little one of them weighs


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e6 + 0.1, -3.3])
def test_constants_have_no_correlation(constant):
    with pytest.raises(ValueError, match="the scorer scores are the same"):
        pearson([1, 2, 4], [constant] * 3)
    with pytest.raises(ValueError, match="the human scores are the same"):
        pearson([constant] * 3, [1, 2, 4], [0.2, 0.3, 0.5])
    # the same mean, rounded another way
    with pytest.raises(ValueError, match="the scorer scores are the same"):
        pearson([1, 2], [0.1 + 0.2 + constant, 0.3 + constant])


@pytest.mark.parametrize("measure", [pairwise_accuracy, pearson])
@pytest.mark.parametrize(
    "h, s, w, sentence",
    [
        ([1], [2], None, "1 system; at least two"),
        ([1, 2], [1, 2, 3], None, "scorer has 3 values where 2 are expected"),
        ([1, np.nan], [1, 2], None, r"human\[1\] is nan"),
        ([1, 2], [1, 2], [1, -1], r"weights\[1\] is -1"),
        ([1, 2], [1, 2], [1, 1, 1], "weights has 3 values where 2"),
        ([1, 2], [1, 2], [0, 0], "the weights sum to 0"),
        ([[1, 2]], [1, 2], None, r"human has shape \(1, 2\)"),
    ],
)
def test_system_scores_refused(measure, h, s, w, sentence):
    with pytest.raises(ValueError, match=sentence):
        measure(h, s, w)
