"""Leave-one-out rankings and the pooled τ, by hand and in loops. The published values are in test_published.py."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import whichbird as wb
from whichbird.data.registry import DATASETS
from whichbird.study.stability import leave_one_out, pooled_tau


def slow_scores(human, scorers, systems):
    """Minus the mean of |p_human − p_scorer| over the pairs without the system left out, exactly: K lists of M."""
    pairs = list(combinations(range(systems), 2))
    out = []
    for left_out in range(systems):
        kept = [n for n, pair in enumerate(pairs) if left_out not in pair]
        out.append([-Fraction(sum(abs(int(human[n]) - int(s[n])) for n in kept), len(kept)) for s in scorers])
    return out


def slow_tau(scores):
    answers = []
    for one, other in combinations(scores, 2):
        for m, n in combinations(range(len(one)), 2):
            (a, b), (c, d) = (one[m], one[n]), (other[m], other[n])
            answers.append(0 if a == b or c == d else 1 if (a > b) == (c > d) else -1)
    return Fraction(sum(answers), len(answers))


def test_leave_one_out_by_hand():
    # K = 3, pairs 01, 02, 12: without system 0 the last pair is left, without 1 the middle one, without 2 the first
    human, scorers = [0, 500, 1000], [[0, 500, 900], [100, 400, 1000]]
    assert leave_one_out(human, scorers, 3).tolist() == [[-100, 0], [0, -100], [0, -100]]
    spa = np.array([[0.9, 1], [1, 0.9], [1, 0.9]])
    assert leave_one_out(human, scorers, 3, exact=False) == pytest.approx(spa, abs=1e-15)


def test_pooled_tau_by_hand():
    up, down = [3, 2, 1], [1, 2, 3]
    assert pooled_tau(np.array([up, up, up])) == 1
    assert pooled_tau(np.array([up, down])) == -1
    assert pooled_tau(np.array([up, [3, 2, 2]])) == 2 / 3  # a tie in one ranking counts 0, over all three pairs
    assert pooled_tau(np.array([[3, 2, 2], [3, 2, 2]])) == 2 / 3  # a tie in both is no agreement either
    assert pooled_tau(np.array([[1, 1, 1], up])) == 0
    # pairs of rankings: (up, up) +3, (up, tied) twice +2, over 3 × 3 comparisons
    assert pooled_tau(np.array([up, up, [3, 2, 2]])) == 7 / 9


@pytest.mark.parametrize("top", [1, 3, 1000])
def test_against_loops(top):
    rng = np.random.default_rng(top)
    for systems, scorers in ((3, 2), (4, 5), (6, 7)):
        pairs = systems * (systems - 1) // 2
        human, s = rng.integers(0, top + 1, size=pairs), rng.integers(0, top + 1, size=(scorers, pairs))
        scores, slow = leave_one_out(human, s, systems), slow_scores(human, s, systems)
        kept = (systems - 1) * (systems - 2) // 2
        assert scores.dtype == np.int64
        assert scores.tolist() == [[int(v * kept) for v in row] for row in slow]
        assert pooled_tau(scores) == pytest.approx(float(slow_tau(slow)), abs=1e-15)
        floating = leave_one_out(human, s, systems, exact=False)
        assert floating == pytest.approx(1 + np.array(slow, dtype=float) / 1000, abs=1e-14)


def test_floating_scores_order_as_exact_ones_but_for_ties():
    broken = 0
    for name in DATASETS:  # of the registry: a dataset that is not there fails
        d = wb.load(name)
        human, scorers, k = d.counts("total"), d.counts("scorers"), len(d.systems)
        m, n = np.triu_indices(len(d.scorers), 1)
        exact, floating = (s[:, m] - s[:, n] for s in (leave_one_out(human, scorers, k, e) for e in (True, False)))
        assert np.array_equal(np.sign(floating[exact != 0]), np.sign(exact[exact != 0])), name
        broken += np.count_nonzero(floating[exact == 0])
    assert broken > 0  # rounding does break exact ties: the reason to count in whole numbers


def test_any_whole_type_and_number_of_permutations():
    rng = np.random.default_rng(0)
    human, s = rng.integers(0, 101, size=6), rng.integers(0, 101, size=(3, 6))
    expected = leave_one_out(human, s, 4)
    for kind in (np.uint8, np.int8, np.uint16):
        assert np.array_equal(leave_one_out(human.astype(kind), s.astype(kind), 4), expected)
    assert leave_one_out(human, s, 4, exact=False, permutations=100) == pytest.approx(1 + expected / 300, abs=1e-14)


def test_names_do_not_matter():
    rng = np.random.default_rng(5)
    scores = rng.integers(0, 4, size=(6, 5))
    tau = pooled_tau(scores)
    assert pooled_tau(scores[rng.permutation(6)]) == pooled_tau(scores[:, rng.permutation(5)]) == tau
    assert pooled_tau(scores * 10 - 3) == pooled_tau(-scores) == tau  # only whether they agree is asked


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: leave_one_out([0.1] * 3, [[0.2] * 3], 3), "human holds float64; whole numbers of permutations"),
        (lambda: leave_one_out([1] * 3, [[0.2] * 3], 3), "scorers holds float64"),
        (lambda: leave_one_out([1] * 3, [[2] * 3], 4), r"human has shape \(3,\), scorers \(1, 3\); .* 4 systems"),
        (lambda: leave_one_out([1] * 3, [[2] * 6], 3), r"scorers \(1, 6\)"),
        (lambda: leave_one_out([1], [[2]], 2), "at least three systems"),
        (lambda: pooled_tau(np.ones((1, 3))), "1 rankings of 3 scorers; at least two"),
        (lambda: pooled_tau(np.ones((3, 1))), "3 rankings of 1 scorers"),
        (lambda: pooled_tau(np.array([[1, np.nan], [1, 2]])), "a score is nan"),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
