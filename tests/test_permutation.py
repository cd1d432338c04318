"""p-values against the definition, written out in loops."""

import math
import tracemalloc
from fractions import Fraction
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from whichbird import p_values
from whichbird.core import permutation
from whichbird.core.permutation import p_counts, p_curve_counts, p_line_counts, signs

NAN = float("nan")
as_floats = partial(p_counts, exact=False)  # the convention of the published tables


def signs_by_definition(n, permutations=1000, seed=4):
    return (np.random.default_rng(seed).integers(0, 2, size=(permutations, n)) * 2 - 1).tolist()


def in_order(values):
    total = 0.0
    for v in values:
        total += v
    return total


def whole_columns(x):
    """Without the segments that no system has: they have no signs either. All, if no system has any."""
    x = np.asarray(x, dtype=float)
    there = ~np.isnan(x).all(axis=0)
    return x[:, there] if there.any() else x


def loops(x, permutations=1000, seed=4, ties=False):
    """How many permutations reach the observed gap (or, with `ties`, equal it).

    Each system has one signed sum, which runs from the first segment to the last.
    """
    rows = whole_columns(x).tolist()
    s = signs_by_definition(len(rows[0]), permutations, seed)
    out = []
    for a, b in combinations(rows, 2):
        shared = [n for n, (u, v) in enumerate(zip(a, b, strict=True)) if u == u and v == v]
        observed = in_order(a[n] for n in shared) - in_order(b[n] for n in shared)
        gaps = [in_order(row[n] * a[n] for n in shared) - in_order(row[n] * b[n] for n in shared) for row in s]
        out.append(sum(g == observed if ties else g >= observed for g in gaps))
    return out


def pair_by_pair(x, permutations=1000, seed=4):
    """The same definition, for larger arrays: every pair by itself, on what it shares, every sum from first to last."""
    x = whole_columns(x)
    s = np.array(signs_by_definition(len(x[0]), permutations, seed))
    out = []
    for a, b in combinations(x, 2):
        shared = ~np.isnan(a) & ~np.isnan(b)
        if not shared.any():
            out.append(permutations)
            continue
        a, b = a[shared], b[shared]
        observed = np.cumsum(a)[-1] - np.cumsum(b)[-1]
        out.append(
            int(
                (
                    np.cumsum(s[:, shared] * a, axis=1)[:, -1] - np.cumsum(s[:, shared] * b, axis=1)[:, -1] >= observed
                ).sum()
            )
        )
    return out


def test_three_segments_by_hand():
    # the gap is 1 + 2 + 4 = 7; only (+ + +) reaches it; against a better system every sign vector reaches it
    share = sum(row == [1, 1, 1] for row in signs_by_definition(3))
    assert p_counts([[1, 2, 4], [0, 0, 0]]).tolist() == [share]
    assert p_values([[1, 2, 4], [0, 0, 0]]).tolist() == [share / 1000]
    assert p_values([[0, 0, 0], [1, 2, 4]]).tolist() == [1.0]


def test_against_exact_sums_where_nothing_ties():
    x = np.random.default_rng(7).normal(size=(5, 23))
    s = signs_by_definition(23)
    expected = []
    for a, b in combinations(x.tolist(), 2):
        gap = [u - v for u, v in zip(a, b, strict=True)]
        observed = math.fsum(gap)
        permuted = [math.fsum(q * g for q, g in zip(row, gap, strict=True)) for row in s]
        # far from a tie, so that no order of summation matters
        assert min(abs(p - observed) for p in permuted) > 1e-9
        expected.append(sum(p >= observed for p in permuted))
    assert p_counts(x).tolist() == expected


def test_pairs_come_in_the_order_of_triu_indices():
    x = np.random.default_rng(3).normal(size=(4, 12))
    expected = [as_floats(x[[i, j]])[0] for i, j in zip(*np.triu_indices(4, 1), strict=True)]
    assert as_floats(x).tolist() == expected == loops(x)


def test_one_segment():
    plus = sum(row == [1] for row in signs_by_definition(1))
    assert p_counts([[1], [0]]).tolist() == [plus]
    assert p_counts([[0], [1]]).tolist() == [1000]
    assert p_counts([[1], [1]]).tolist() == [1000]


def test_identical_and_constant_systems():
    x = np.random.default_rng(1).normal(size=40)
    assert p_counts([x, x, x]).tolist() == [1000] * 3
    constant = [[3.3] * 9, [1.1] * 9, [1.1] * 9]
    assert as_floats(constant).tolist() == loops(constant)
    assert p_counts(np.zeros((2, 5))).tolist() == [1000]


@pytest.mark.parametrize("step", [1.0, 0.1, 1 / 3])
def test_ties_among_many_segments(step):
    # MQM-like: mostly zeros, multiples of 0.1; the shares of rows in doubt are what a plain matrix product gets wrong
    x = -np.random.default_rng(5).choice([0, 0, 0, 1, 2, 5, 10, 50], size=(4, 300)) * step
    x[3] = x[2][::-1]  # the same errors on other segments: equal totals, up to the order of summation
    assert as_floats(x, permutations=200).tolist() == loops(x, permutations=200)


def test_integers_against_exact_arithmetic():
    x = np.random.default_rng(2).integers(-5, 6, size=(5, 30))
    s = np.array(signs_by_definition(30))
    gap = np.array([a - b for a, b in combinations(x, 2)])
    assert p_counts(x).tolist() == (s @ gap.T >= gap.sum(axis=1)).sum(axis=0).tolist()


def test_missing_segments_leave_a_pair_what_it_shares():
    x = np.array([[1, NAN, 3, 0.5, 2], [0, 1, NAN, 0, 1], [0.2, 2, 1, 1, 0]])
    counts = as_floats(x)
    assert counts.tolist() == loops(x)
    assert as_floats(x[:, [0, 3, 4]])[0] != counts[0]  # signs stay with their segments: dropping columns draws others
    apart = [[1, NAN, 3, NAN], [NAN, 1, NAN, 3]]
    assert p_counts(apart).tolist() == [1000]


def gaps(kind, systems, segments):
    """Where a score is missing, (K, N), in the ways contests leave gaps."""
    rng = np.random.default_rng(6)
    k, n = np.arange(systems)[:, None], np.arange(segments)
    return {
        "none": np.zeros((systems, segments), dtype=bool),
        "scattered": rng.random((systems, segments)) < 0.1,
        "mostly gaps": rng.random((systems, segments)) < 0.9,
        "two groups that share a third": (k % 2 == 0) & (n < segments / 3) | (k % 2 == 1) & (n >= 2 * segments / 3),
        "two groups that share nothing": (k % 2 == 0) ^ (n < segments / 2),
        "one system with a gap": (k == 1) & (n == 3),
        "a system without scores": (k == 2) & (n >= 0),
        "segments nobody has": (n % 3 == 1) & (k >= 0),
        "segments one system has": (n % 3 == 1) & (k > 0),
        "all": np.ones((systems, segments), dtype=bool),
    }[kind]


KINDS = [
    "none",
    "scattered",
    "mostly gaps",
    "two groups that share a third",
    "two groups that share nothing",
    "one system with a gap",
    "a system without scores",
    "segments nobody has",
    "segments one system has",
    "all",
]


@pytest.mark.parametrize("memory", ["as it is", "little", "next to none"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_gap(kind, memory, monkeypatch):
    if memory != "as it is":  # as with so many systems that not all sums fit in memory, and so long that no row does
        room, block = {"little": (2000, 500), "next to none": (1, 1)}[memory]
        monkeypatch.setattr(permutation, "_ROOM", room)
        monkeypatch.setattr(permutation, "_BLOCK", block)
    rng = np.random.default_rng(8)
    mqm = -rng.choice([0, 0, 0, 1, 2, 5, 10, 50], size=(7, 60)) * 0.1
    mqm[5] = mqm[6][::-1]
    for x in (mqm, rng.normal(size=(7, 60)), np.tile(rng.normal(size=60), (7, 1))):
        x = np.where(gaps(kind, 7, 60), NAN, x)
        assert as_floats(x, 100).tolist() == pair_by_pair(x, 100)


@pytest.mark.parametrize("block", [1, 700])
def test_curves_in_blocks(block, monkeypatch):
    rng = np.random.default_rng(8)
    x, shifts = -rng.choice([0, 0, 1, 2, 10], size=(6, 30)) * 0.1, rng.integers(-3, 4, size=(5, 6)) * 0.1
    v, dials = rng.integers(-1, 2, size=x.shape) * 0.1, [-2, -0.5, 0, 1]
    by_dial = [pair_by_pair(x + move[:, None], 100) for move in shifts], [pair_by_pair(x + d * v, 100) for d in dials]
    monkeypatch.setattr(permutation, "_BLOCK", block)
    assert p_curve_counts(x, shifts, 100).tolist() == by_dial[0]
    assert p_line_counts(x, v, dials, 100).tolist() == by_dial[1]


@pytest.mark.parametrize("share", [0, 0.1])
def test_memory_does_not_grow_with_the_pairs(share):
    """All pairs' gaps under all permutations would take 359 MB."""
    x = np.random.default_rng(3).normal(size=(300, 20))
    x[np.random.default_rng(4).random(x.shape) < share] = NAN
    signs(20)
    tracemalloc.start()
    p_counts(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6


def test_the_input_stays_and_the_answer_repeats():
    x = np.random.default_rng(9).normal(size=(3, 20))
    x[0, 0] = NAN
    before = x.copy()
    first = p_counts(x)
    assert np.array_equal(p_counts(x), first) and np.array_equal(x, before, equal_nan=True)
    assert p_counts(x.astype(object).tolist()).tolist() == first.tolist()
    assert p_counts(np.asfortranarray(x)).tolist() == first.tolist()
    with pytest.raises(ValueError, match="read-only"):
        signs(20)[0, 0] = 1


def test_seed_and_number_of_permutations():
    x = np.random.default_rng(11).normal(size=(3, 15))
    assert p_counts(x, 77, 5).tolist() == loops(x, 77, 5) != loops(x, 77, 6)
    assert p_values(x, 77, 5).tolist() == (p_counts(x, 77, 5) / 77).tolist()
    assert p_counts(x, np.int64(77), 5).tolist() == loops(x, 77, 5)


@pytest.mark.parametrize(
    "x, options, sentence",
    [
        ([[1, 2]], {}, r"x has shape \(1, 2\); at least two systems"),
        ([[], []], {}, r"x has shape \(2, 0\)"),
        ([1, 2], {}, r"x has shape \(2,\); a matrix"),
        ([[1, float("inf")], [0, 0]], {}, r"x\[0, 1\] is inf"),
        ([["a"], ["b"]], {}, "x holds something that is not a number"),
        ([[1], [2]], {"permutations": 0}, "permutations is 0; a whole number of at least 1"),
        ([[1], [2]], {"permutations": 10.5}, "permutations is 10.5"),
    ],
)
def test_refusals(x, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        p_counts(x, **options)


PERMUTATIONS = 64
shapes = st.tuples(st.integers(2, 4), st.integers(1, 9))


def matrices(elements):
    return shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=elements))


tenths = st.integers(-60, 0).map(lambda n: n * 0.1)
free = st.floats(-1e6, 1e6, allow_subnormal=False)


@settings(deadline=None, max_examples=60)
@given(matrices(st.one_of(tenths, free, st.just(NAN))))
def test_any_matrix_gives_what_the_loops_give(x):
    assert as_floats(x, PERMUTATIONS).tolist() == loops(x, PERMUTATIONS)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(2, 8),
    st.integers(1, 40),
    st.integers(1, 4),
    st.sampled_from([0.1, 1 / 3, 1e-9, 1e8]),
    st.integers(0, 2**32),
)
def test_few_patterns_of_gaps_among_many_systems(systems, segments, patterns, unit, seed):
    """Systems that share their gaps share sums; ties abound, so that most answers rest on sums in order."""
    rng = np.random.default_rng(seed)
    x = rng.choice([0, 0, 1, 5], size=(systems, segments)) * unit
    missing = rng.random((patterns, segments)) < rng.random()
    x[missing[rng.integers(0, patterns, systems)]] = NAN
    assert as_floats(x, PERMUTATIONS).tolist() == pair_by_pair(x, PERMUTATIONS)


def exactly(x, permutations=PERMUTATIONS):
    """How many permutations reach the observed gap, in fractions."""
    s = signs_by_definition(len(x[0]), permutations)
    gaps = [[u - v for u, v in zip(a, b, strict=True)] for a, b in combinations(x, 2)]
    return [sum(sum(e * g for e, g in zip(row, gap, strict=True)) >= sum(gap) for row in s) for gap in gaps]


@settings(deadline=None, max_examples=60)
@given(
    shapes.flatmap(lambda shape: arrays(np.int64, shape, elements=st.integers(-50, 50))),
    st.sampled_from([1, 2, 3, 7, 8, 30, 70, 100, 1000]),
)
@example(np.array([[0, -1, -1, -1], [-1, -1, -1, -1]]), 7)  # 1/7 in twelve digits is off by 1e-12 of itself
@example(np.array([[1, 5], [5, 5]]), 3)
def test_multiples_of_a_small_fraction_are_compared_exactly(whole, d):
    fractions = [[Fraction(n, d) for n in row] for row in whole.tolist()]
    x = np.array([[float(v) for v in row] for row in fractions])
    expected = exactly(fractions)
    assert p_counts(x, PERMUTATIONS).tolist() == p_counts(whole, PERMUTATIONS).tolist() == expected
    rounded = np.array([[float(f"{v:.12g}") for v in row] for row in x])  # as means of ratings are kept
    assert p_counts(rounded, PERMUTATIONS).tolist() == expected


def test_thirds_tie_where_floats_do_not():
    # means of three raters, as in story ratings: half of the pairs are judged by rounding else
    rng = np.random.default_rng(3)
    ratings = rng.integers(1, 6, size=(10, 96, 3))
    x = ratings.mean(axis=2)
    right = p_counts(ratings.sum(axis=2))
    assert np.array_equal(p_counts(x), right) and np.array_equal(permutation.counted(x), ratings.sum(axis=2))
    assert (as_floats(x) != right).sum() > 10 and np.abs(as_floats(x) - right).max() > 10


def test_scores_that_are_no_small_fractions_stay_floats():
    x = np.random.default_rng(3).normal(size=(4, 50))
    assert permutation.counted(x) is x and np.array_equal(p_counts(x), as_floats(x))
    large = np.array([[2.0**52, 1], [3, 0.5]])  # whole numbers of 1/2, but sums of them would be rounded
    assert np.array_equal(permutation.counted(large), large)
    assert np.array_equal(permutation.counted([[NAN, 0.5], [0.1, NAN]]), [[NAN, 5], [1, NAN]], equal_nan=True)


@settings(deadline=None, max_examples=40)
@given(matrices(tenths), st.randoms(use_true_random=False))
def test_renaming_systems(x, random):
    """A pair in the other order counts the permutations that do not exceed: the counts overlap in the ties alone."""
    order = list(range(len(x)))
    random.shuffle(order)
    pairs = list(combinations(range(len(x)), 2))
    counts, ties = as_floats(x, PERMUTATIONS), loops(x, PERMUTATIONS, ties=True)
    of = {}
    for (i, j), c, t in zip(pairs, counts.tolist(), ties, strict=True):
        of[i, j], of[j, i] = c, PERMUTATIONS - c + t
    assert as_floats(x[order], PERMUTATIONS).tolist() == [of[order[i], order[j]] for i, j in pairs]


@settings(deadline=None, max_examples=40)
@given(matrices(st.integers(-100, 100).map(float)), st.integers(-1000, 1000), st.sampled_from([0.125, 2.0, 1024.0]))
def test_shift_and_scale_change_nothing(x, shift, scale):
    """In whole numbers and powers of two every sum is exact, so the answer is the very same."""
    assert p_counts((x + shift) * scale, PERMUTATIONS).tolist() == p_counts(x, PERMUTATIONS).tolist()
