"""The three families: grids, directions and offsets, against slow definitions."""

from collections import defaultdict
from fractions import Fraction
from statistics import fmean, pstdev

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

import whichbird as wb
from whichbird.core.augment import DIALS, FAMILIES, PAPER_FAMILIES, direction, offsets, shifts, z_scores
from whichbird.data.registry import DATASETS

NAN = float("nan")
RNG = np.random.default_rng(21)


def test_grids():
    assert PAPER_FAMILIES == ("adequacy-fluency", "adherence", "explainability")  # figure 3 of the paper
    assert list(FAMILIES) == list(DIALS) and tuple(FAMILIES)[:3] == PAPER_FAMILIES
    even, adherence, explainability = (DIALS[family] for family in PAPER_FAMILIES)
    assert all(DIALS[family] is adherence for family in ("adequacy-adherence", "fluency-adherence"))
    assert [g.size for g in (even, adherence, explainability)] == [51, 201, 201]
    # −0.5 … 0.5 in steps of 0.02: each dial is the double nearest to its decimal, zero in the middle
    assert even.tolist() == [float(Fraction(n - 25, 50)) for n in range(51)] and even[25] == 0
    assert (adherence[0], adherence[-1]) == (-0.5, 1.5) and (explainability[0], explainability[-1]) == (-2.5, 0.5)
    for grid, base, start in ((adherence, 3, -1.5), (explainability, 4, -3.5)):
        # the n-th dial is start + base^(n/200); one power and one sum are worth a few units in the last place of 4
        assert grid == pytest.approx([start + base ** (n / 200) for n in range(201)], rel=0, abs=4e-15)
        assert (np.diff(np.diff(grid)) > 0).all()  # steps widen
        assert not (grid == 0).any() and grid[0] < 0 < grid[-1]
        assert np.abs(grid).min() > 1e-3  # nor is any dial a rounded zero
    for grid in DIALS.values():
        assert (np.diff(grid) > 0).all()
        with pytest.raises(ValueError, match="read-only"):
            grid[0] = 0


# --- directions


def slow_z(x):
    return [(v - fmean(x)) / pstdev(x) for v in x]


def test_directions_as_defined():
    y, t, a, f, e = RNG.normal(size=(5, 9))
    sd = pstdev(y)  # the population form
    expected = {
        "adequacy-fluency": [sd * (u - v) for u, v in zip(slow_z(a), slow_z(f), strict=True)],
        "adherence": [sd * u for u in slow_z(t)],
        "explainability": [-v for v in e],
        "adequacy-adherence": [sd * u for u in slow_z(a)],
        "fluency-adherence": [sd * u for u in slow_z(f)],
    }
    assert expected.keys() == FAMILIES.keys(), "write out the direction of the new family here"
    for family, v in expected.items():
        assert direction(family, y, t, a, f, e) == pytest.approx(v, rel=1e-12, abs=1e-14)
        moved = shifts(family, y, t, a, f, e)
        assert moved.shape == (DIALS[family].size, 9)
        assert np.array_equal(moved, [d * direction(family, y, t, a, f, e) for d in DIALS[family]])


def test_what_a_direction_does_not_see():
    y, t, a, f, e = RNG.normal(size=(5, 6))
    for family in FAMILIES:
        base = direction(family, y, t, a, f, e)
        # people's scale and zero mean nothing; twice the scorer's scale is twice the direction (and offsets go with it)
        assert direction(family, y + 5, 3 * t - 1, 2 * a + 7, f / 9, e) == pytest.approx(base, rel=1e-12, abs=1e-14)
        assert direction(family, 2 * y, t, a, f, 2 * e) == pytest.approx(2 * base, rel=1e-12)
    order = RNG.permutation(6)
    moved = direction("adequacy-fluency", y[order], t[order], a[order], f[order], e[order])
    assert moved == pytest.approx(direction("adequacy-fluency", y, t, a, f, e)[order], rel=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_dial_leaves_differences_within_a_system(family):
    # in multiples of 2⁻¹⁰ sums are exact, so the differences are the very same
    x = RNG.integers(-512, 512, size=(4, 20)) / 1024
    y, t, a, f, e = RNG.normal(size=(5, 4))
    for moved in np.round(shifts(family, y, t, a, f, e)[::25] * 1024) / 1024:
        assert np.array_equal(np.diff(x + moved[:, None], axis=1), np.diff(x, axis=1))


def test_shipped_offsets_and_means_make_the_shipped_base():
    """The dial zero of adequacy–fluency is the scorer itself; the other grids do not hold zero."""
    for name in DATASETS:  # of the registry: a dataset that is not there fails
        d = wb.load(name)
        if d.adequacy is not None:
            assert np.array_equal(d.curve_counts("adequacy-fluency")[:, 25], d.counts("scorers")), name


def test_z_scores():
    x = RNG.normal(size=12)
    assert z_scores(x) == pytest.approx(slow_z(x), rel=1e-12, abs=1e-14)
    assert z_scores(x).std() == pytest.approx(1, abs=1e-14) and z_scores(x).mean() == pytest.approx(0, abs=1e-14)
    assert z_scores(1e-150 * x) == pytest.approx(slow_z(x), rel=1e-12, abs=1e-14)
    assert z_scores([5, 7]).tolist() == [-1, 1]


@pytest.mark.parametrize("constant", [0.0, 0.1, -3.3, 1e6 + 0.1])
@pytest.mark.parametrize("systems", [1, 2, 3, 7])
def test_constants_have_no_z_score(constant, systems):
    with pytest.raises(ValueError, match="all systems have the same score"):
        z_scores([constant] * systems)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: direction("fluency", [0, 1], [0, 1], [0, 1], [0, 1], [0, 1]), "unknown family 'fluency'; one of"),
        (lambda: shifts("fluency", [0, 1], [0, 1], [0, 1], [0, 1], [0, 1]), "unknown family 'fluency'"),
        (lambda: direction("adherence", [0, 1], [2, 2], [0, 1], [0, 1], [0, 1]), "all systems have the same score"),
        (lambda: direction("adequacy-fluency", [0, 1], [0, 1], [0, NAN], [0, 1], None), r"x\[1\] is nan"),
        (lambda: direction("explainability", [0, 1], [0, 1], [0, 1], [0, 1], None), r"offset has shape \(\)"),
        (lambda: direction("explainability", [0, NAN], [0, 1], [0, 1], [0, 1], [0, 1]), r"means\[1\] is nan"),
        (lambda: z_scores([]), "all systems have the same score"),
        (lambda: offsets(np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 1))), r"shapes \(2, 3\), \(2, 3\), \(2, 1\)"),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


# --- offsets


def slow_offsets(x, a, f):
    """Exact means over a dictionary of cells with the same (adequacy, fluency)."""
    groups = defaultdict(list)
    cells = [(k, n) for k in range(len(x)) for n in range(len(x[0])) if a[k][n] == a[k][n]]
    for k, n in cells:
        groups[a[k][n], f[k][n]].append(Fraction(x[k][n]))
    mean = {key: sum(v) / len(v) for key, v in groups.items()}
    rest = defaultdict(list)
    for k, n in cells:
        rest[k].append(Fraction(x[k][n]) - mean[a[k][n], f[k][n]])
    return [float(sum(rest[k]) / len(rest[k])) for k in range(len(x))]


ratings = st.integers(-3, 0).map(lambda n: n * 0.1)


@settings(deadline=None, max_examples=80)
@given(st.data(), st.integers(2, 4), st.integers(1, 6))
def test_offsets_as_defined(data, k, n):
    x = data.draw(arrays(np.float64, (k, n), elements=st.floats(-10, 10, allow_subnormal=False)))
    a, f = (data.draw(arrays(np.float64, (k, n), elements=ratings)) for _ in "af")
    missing = data.draw(arrays(bool, (k, n)))
    missing[:, 0] = False  # every system has a rating
    a[missing] = f[missing] = NAN
    # sums of at most 24 numbers up to 10, each rounded
    assert offsets(x, a, f) == pytest.approx(slow_offsets(x.tolist(), a.tolist(), f.tolist()), rel=0, abs=1e-13)


def test_minus_zero_is_zero():
    x = np.array([[1.0], [3.0]])
    assert offsets(x, np.array([[0.0], [-0.0]]), np.array([[-0.0], [0.0]])).tolist() == [-1, 1]


def test_cells_nobody_rated_take_no_part():
    x, a = np.array([[1.0, 50], [3, 4]]), np.array([[0, NAN], [0, -1]])
    assert offsets(x, a, a).tolist() == [-1, 0.5]
    x[0, 1] = -1e9
    assert offsets(x, a, a).tolist() == [-1, 0.5]


def test_shipped_offsets(mtme_root):
    pool, d = wb.read_mtme(mtme_root, "jazh24"), wb.load("jazh24")
    name = "BLEU"
    slow = slow_offsets(*(v.tolist() for v in (pool.scorers[name], pool.adequacy, pool.fluency)))
    # BLEU runs from 0 to 100; a mean of 560 such numbers errs by less than 1e-11
    assert d.offsets[d.scorers.index(name)] == pytest.approx(slow, rel=0, abs=1e-11)
