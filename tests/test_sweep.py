"""The sweep against the same thing done dial by dial, in loops."""

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest

import whichbird as wb
from whichbird.core.augment import DIALS, PAPER_FAMILIES, shifts
from whichbird.core.metametrics import correlations
from whichbird.data.digest import read_table
from whichbird.study.meta import SWEPT
from whichbird.study.sweep import beta_grid, measures, sweep

DATASET = "ted_ende"
TIE = Fraction(
    1, 10**13
)  # of the sum of sizes; the library's own bound, with some 90 pairs, is half of (90 + 8) · 2e-16
SHIPPED = read_table("sweep.csv")


@pytest.fixture(scope="module")
def d():
    return wb.load(DATASET)


@pytest.fixture(scope="module")
def betas(d):
    low, high = wb.reachable(d.adequacy, d.fluency)
    return [low, 0.12, wb.balance(d.adequacy, d.fluency), 0.7, high]


def answers(scores, same):
    """Mean answer over the neighbours of one scorer."""
    up = [1.0 if b > a + same else 0.5 if abs(b - a) <= same else 0.0 for a, b in pairwise(scores)]
    return sum(up) / len(up)


# The sweep


@pytest.mark.parametrize("family", wb.load(DATASET).families)
def test_spa_equals_loops(d, betas, family):
    few = _first(d, 3)
    table = sweep(few, betas)
    human = d.counts("total").tolist()
    for n, beta in enumerate(betas):
        solved = wb.reweight(d.adequacy, d.fluency, beta)
        w = [Fraction(float(x)) for x in solved.weights]
        pi = [u * v for u, v in combinations(w, 2)]
        assert table["beta"][n] == beta and table["certificate"][n] == solved.certificate
        assert table["ess"][n] == pytest.approx(float(1 / sum(x * x for x in w)), rel=1e-14)
        per_scorer = []
        for dials in few.curve_counts(family).tolist():
            up = []
            for before, after in pairwise(dials):
                terms = [q * (abs(h - p) - abs(h - r)) for q, h, p, r in zip(pi, human, before, after, strict=True)]
                # exact sums, and the rule of chapter 4.2: zero up to the rounding of its own terms is a tie
                rounding = TIE * sum(map(abs, terms))
                up.append(0.5 if abs(sum(terms)) <= rounding else float(sum(terms) > 0))
            per_scorer.append(np.mean(up))
        assert table[family][n] == pytest.approx(np.mean(per_scorer), rel=1e-12)  # a mean of some hundred answers


def test_pearson_equals_loops(d, betas):
    few = _first(d, 4)
    table = sweep(few, betas[1:-1], "pearson")
    for n, beta in enumerate(betas[1:-1]):
        w = wb.reweight(d.adequacy, d.fluency, beta).weights
        for family in d.families:
            per_scorer = []
            for means, offset in zip(few.means, few.offsets, strict=True):
                moved = means + shifts(family, means, d.total, d.adequacy, d.fluency, offset)
                # both sides err by some 1e-15; a difference of that size would have to be a tie
                per_scorer.append(answers([wb.pearson(d.adequacy + d.fluency, y, w) for y in moved], 1e-12))
            assert table[family][n] == pytest.approx(np.mean(per_scorer), rel=1e-12)


def test_at_an_end_two_systems_are_left_and_pearson_only_knows_their_order(d, betas):
    """r is −1 or 1: a dial that does not swap the two makes ties only, one that does adds or loses half a step."""
    for beta in (betas[0], betas[-1]):
        row = sweep(d, [beta], "pearson").iloc[0]
        assert row["ess"] == 2
        for family in d.families:
            assert abs(row[family] - 0.5) <= 0.5 / (DIALS[family].size - 1)


def test_all_targets_by_default(d):
    table = sweep(d)
    assert table["beta"].tolist() == beta_grid(d.adequacy, d.fluency).tolist()
    natural = table["ess"].idxmax()
    assert table["beta"][natural] == wb.balance(d.adequacy, d.fluency)
    assert table["ess"][natural] == pytest.approx(len(d.systems), rel=1e-12)


@pytest.mark.parametrize("name", wb.datasets(paper=True, aspects=True))
def test_every_shipped_row_follows_from_its_own_beta(name):
    """All rows of the table, from the β that stands in it and the digest: the weighting, its proof, and every answer."""
    q, rows = wb.load(name), SHIPPED[SHIPPED["dataset"] == name]
    targets = rows["beta"].unique()
    assert targets.tolist() == beta_grid(q.adequacy, q.fluency).tolist()  # written in full: the very numbers
    solved = wb.reweight_sweep(q.adequacy, q.fluency, targets)
    for meta in SWEPT:
        part = rows[rows["meta"] == meta]
        assert part["beta"].tolist() == targets.tolist()
        assert part["certificate"].tolist() == list(solved.certificates)
        assert part["ess"].to_numpy() == pytest.approx(solved.ess, rel=1e-9)  # proven to within 5e-10
        for family, ours in measures(q, solved.weights, meta, PAPER_FAMILIES).items():
            # twelve digits are written; one answer that came out differently would move a measure by 1e-5 or more
            assert part[family].to_numpy() == pytest.approx(ours, abs=1e-11), (meta, family)


def test_refusals(d):
    with pytest.raises(ValueError, match="'kendall'.*spa"):
        sweep(d, meta="kendall")
    with pytest.raises(ValueError, match="'kendall'"):  # and not Pearson's numbers
        measures(d, np.ones((1, len(d.systems))), "kendall")
    with pytest.raises(wb.DataError, match="heen23 can be ranked at its natural balance only"):
        sweep(wb.load("heen23"))
    with pytest.raises(ValueError, match="cannot be reached; this pool reaches"):
        sweep(d, [0.5, 1.0])
    with pytest.raises(ValueError, match="step is 0; a number of at least 0.0001"):
        beta_grid(d.adequacy, d.fluency, step=0)
    with pytest.raises(ValueError, match="step is nan"):
        beta_grid(d.adequacy, d.fluency, step=float("nan"))


# The grid


@pytest.mark.parametrize("name", ["ende24", "jazh24", "ted_zhen"])
def test_grid(name):
    q = wb.load(name)
    grid = beta_grid(q.adequacy, q.fluency)
    low, high = wb.reachable(q.adequacy, q.fluency)
    assert (np.diff(grid) > 0).all() and grid[0] == low and grid[-1] == high
    assert wb.balance(q.adequacy, q.fluency) in grid
    assert set(wb.pair_balances(q.adequacy, q.fluency)) <= set(grid)
    assert np.diff(grid).max() <= 0.0101  # equal steps of about 0.01: the range need not be a whole number of them


def test_grid_of_coinciding_and_collinear_systems():
    assert beta_grid([0, 0, 1], [0, 0, 1]).tolist() == [0.5]
    assert beta_grid([0, 0, 1, 1], [0, 0, 0, 2], step=2).tolist() == [0.0, 0.2, 0.25, 1.0]


# Many correlations at once


def test_correlations_equal_numpy_and_the_plain_function():
    rng = np.random.default_rng(6)
    h, y, w = rng.normal(size=7), rng.normal(size=(3, 5, 7)), rng.dirichlet(np.ones(7), size=4)
    r = correlations(h, y, w)
    assert r.shape == (4, 3, 5)
    assert correlations(h, y, np.ones((1, 7)))[0] == pytest.approx(
        np.array([[np.corrcoef(h, v)[0, 1] for v in rows] for rows in y]), abs=1e-14
    )  # both sums of products below one
    for n, a, b in np.ndindex(r.shape):
        assert r[n, a, b] == pytest.approx(wb.pearson(h, y[a, b], w[n]), abs=1e-14)


@pytest.mark.parametrize("scale, shift", [(1e-9, 0), (1e9, 0), (1, 1e3)])
def test_correlations_have_no_unit(scale, shift):
    rng = np.random.default_rng(7)
    h, y, w = rng.normal(size=6), rng.normal(size=(8, 6)), rng.dirichlet(np.ones(6), size=3)
    # adding 1000 to scores of size one leaves 13 of their digits
    assert correlations(h, scale * y + shift, w) == pytest.approx(correlations(h, y, w), abs=1e-12)
    assert correlations(scale * h + shift, y, w) == pytest.approx(correlations(h, y, w), abs=1e-12)


def test_a_side_without_spread_correlates_with_nothing():
    h = np.array([0.1, 0.1, 0.3, 0.4])
    y = np.array([[0.7, 0.7 + 1e-16, 0.7, 0.7], [1.0, 2.0, 3.0, 5.0], [0.7, 0.9, 0.9, 0.9]])
    r = correlations(h, y, np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]]))
    assert (r[:, 0] == 0).all()  # the scorer is constant, up to rounding
    assert (r[1] == 0).all()  # people tie the two systems that count
    assert r[2, 2] == 0 and r[0, 2] > 0  # the scorer ties the two that count, but not all
    assert r[2, 1] == pytest.approx(1, abs=1e-15)


def test_nearly_all_weight_on_two_near_neighbours():
    """Exact arithmetic as the judge: subtracting means would lose ten of sixteen digits here."""
    h, y = np.array([0.0, 1e-5, 1.0, -1.0]), np.array([[0.0, 1e-5, -1.0, 3.0]])
    w = np.array([[0.5, 0.5, 1e-13, 1e-13]])
    hx, yx, wx = ([Fraction(float(v)) for v in x] for x in (h, y[0], w[0]))
    pairs = list(combinations(range(4), 2))

    def moment(u, v):
        return sum(wx[i] * wx[j] * (u[i] - u[j]) * (v[i] - v[j]) for i, j in pairs)

    exact = float(moment(hx, yx)) / (float(moment(hx, hx)) * float(moment(yx, yx))) ** 0.5
    assert abs(exact) < 0.999
    assert correlations(h, y, w)[0, 0] == pytest.approx(exact, rel=1e-14)


def _first(d, scorers: int):
    """The dataset with its first scorers only."""
    cut = {"scorers", "means", "offsets", "p_scorers", "p_standard", *(f"curves_{family}" for family in d.families)}
    return wb.Digest({m: d[m][:scorers] if m in cut else d[m] for m in d._arrays})
