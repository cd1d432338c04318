"""Weightings drawn on the simplex: their importance weights, their cells, and Welch's test of what is in them."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logsumexp
from slow import preference as slow

import whichbird as wb
from whichbird.data.digest import read_table
from whichbird.study import sampling
from whichbird.study.preference import preference, steps
from whichbird.study.sampling import (
    BLOCK,
    CELLS,
    Draws,
    cells,
    concentrations,
    draws,
    edges,
    locate,
    log_importance,
    welch,
)

TED = wb.load("ted_zhen")
POOL = TED.adequacy, TED.fluency
STEP = steps(TED.counts("total"), TED.curve_counts("adequacy-fluency"))[:3]  # three scorers: cheap, and like all


def together(blocks) -> Draws:
    return Draws(*(np.concatenate(x) for x in zip(*blocks, strict=True)))


def made_pool(systems):
    return np.random.default_rng(systems).normal(size=(2, systems))


# --- draws and what they are worth


@pytest.mark.parametrize("systems", [3, 4, 12, 16])
def test_concentrations(systems):
    alpha = concentrations(systems)
    assert alpha.shape == (8,) and alpha[0] == 1
    e = np.linspace(systems / 2, 0.95 * systems, 7)
    assert alpha[1:] == pytest.approx((e * (systems - 1) / (systems - e) - 1) / systems, rel=1e-12)
    # E Σw² of a symmetric Dirichlet is (α + 1) / (Kα + 1): one over the typical ESS
    assert (systems * alpha[1:] + 1) / (alpha[1:] + 1) == pytest.approx(e, rel=1e-12)


@pytest.mark.parametrize("systems", [3, 13])
def test_log_importance_is_uniform_over_mixture(systems):
    rng, alpha = np.random.default_rng(1), concentrations(systems)
    w = np.concatenate([rng.dirichlet(np.full(systems, a), size=20) for a in alpha])
    w = np.vstack([w, np.full(systems, 1 / systems)])
    mixture = logsumexp([stats.dirichlet(np.full(systems, a)).logpdf(w.T) for a in alpha], axis=0) - np.log(8)
    expected = stats.dirichlet(np.ones(systems)).logpdf(w.T) - mixture
    assert log_importance(np.log(w).sum(axis=1), alpha, systems) == pytest.approx(expected, abs=1e-9)


def test_every_draw_is_a_weighting_with_its_ess_balance_and_worth():
    a, f = POOL
    d = together(draws(a, f, 3000, low=0))
    assert d.w.shape == (3000, len(a)) and (d.w >= 0).all()
    assert d.w.sum(axis=1) == pytest.approx(np.ones(3000), abs=1e-14)
    some = slice(None, None, 97)
    assert d.ess[some] == pytest.approx([wb.ess(w) for w in d.w[some]], rel=1e-12)
    assert d.beta[some] == pytest.approx([wb.balance(a, f, w) for w in d.w[some]], abs=1e-10)
    assert d.log_weight == pytest.approx(log_importance(np.log(d.w).sum(axis=1), concentrations(len(a)), len(a)))
    # one component in eight is uniform itself, so no draw is worth more than eight
    assert d.log_weight.max() <= np.log(8) + 1e-12


@pytest.mark.parametrize("systems", [3, 6, 13])
def test_importance_weights_integrate_moments_of_the_uniform_distribution(systems):
    d = together(draws(*made_pool(systems), 200_000, low=0))
    v = np.exp(d.log_weight)
    assert abs(v.mean() - 1) < 5 * v.std() / np.sqrt(v.size)
    moments = {
        "w": (d.w[:, 0], 1 / systems),
        "w²": (d.w[:, 1] ** 2, 2 / (systems * (systems + 1))),
        "w w′": (d.w[:, 0] * d.w[:, 2], 1 / (systems * (systems + 1))),
        "Σw²": (1 / d.ess, 2 / (systems + 1)),
        "w³": (d.w[:, 0] ** 3, 6 / (systems * (systems + 1) * (systems + 2))),
    }
    for name, (x, truth) in moments.items():
        # five standard errors of a self-normalised mean; the seed is fixed
        error = np.sqrt((v**2 * (x - truth) ** 2).sum()) / v.sum()
        assert abs((v * x).sum() / v.sum() - truth) < 5 * error, name
        if name == "Σw²":  # without the weights it is far off
            assert abs(x.mean() - truth) > 20 * x.std() / np.sqrt(x.size)


def test_low_keeps_what_is_even_enough():
    a, f = POOL
    everything, half = (together(draws(a, f, 20_000, low=low)) for low in (0, 0.5))
    kept = everything.ess >= len(a) / 2
    assert 0.5 < kept.mean() < 1
    for name, x, y in zip(Draws._fields, everything, half, strict=True):
        # β comes from a product with the kept rows alone, whose order of summation may differ
        assert np.allclose(x[kept], y, rtol=1e-12, atol=0) if name == "beta" else np.array_equal(x[kept], y)


def test_seeds_reproduce_and_more_draws_begin_with_the_same():
    n = 2 * BLOCK + 5  # no multiple of a block, nor of the eight components
    first, again = (together(draws(*POOL, n, low=0)) for _ in range(2))
    assert len(first.w) == n
    for x, y in zip(first, again, strict=True):
        assert np.array_equal(x, y)
    for fewer in (1, BLOCK - 3, BLOCK, BLOCK + 1):
        short = together(draws(*POOL, fewer, low=0))
        assert np.array_equal(short.w, first.w[:fewer]) and np.array_equal(short.log_weight, first.log_weight[:fewer])
    assert [len(b.w) for b in draws(*POOL, n, low=0)] == [BLOCK, BLOCK, 5]
    other = together(draws(*POOL, 50, seed=8, low=0))
    assert not np.isin(other.w, first.w).any()
    assert len(np.unique(first.w[:, 0])) == n  # no block repeats another


def test_the_components_take_turns():
    """Every eighth draw belongs to the same component: their mean Σw² is (α + 1) / (Kα + 1)."""
    k = len(TED.systems)
    d = together(draws(*POOL, BLOCK, low=0))
    for turn, alpha in enumerate(concentrations(k)):
        x = 1 / d.ess[turn::8]
        assert abs(x.mean() - (alpha + 1) / (k * alpha + 1)) < 5 * x.std() / np.sqrt(x.size)


def test_scale_and_shift_of_scores_change_no_balance():
    a, f = POOL
    d, moved = together(draws(a, f, 500)), together(draws(7e3 * a + 1, 7e3 * f - 5, 500))
    assert np.array_equal(d.w, moved.w) and moved.beta == pytest.approx(d.beta, abs=1e-9)


# --- cells


def test_locate_at_edges():
    grid = np.array([0.0, 0.25, 0.5, 1.0])
    values = [-1e-300, 0.0, 0.1, 0.25, np.nextafter(0.25, 0), 0.5, 1.0, np.nextafter(1, 2), -np.inf, np.inf, np.nan]
    assert locate(np.array(values), grid).tolist() == [-1, 0, 0, 1, 0, 2, 2, -1, -1, -1, -1]
    assert locate(np.array([]), grid).size == 0
    # numpy's histogram draws the same lines
    x = np.random.default_rng(0).integers(-2, 12, size=500) / 8
    bins = locate(x, grid)
    assert np.bincount(bins[bins >= 0], minlength=3).tolist() == np.histogram(x, grid)[0].tolist()


def test_edges():
    a, f = POOL
    k = len(a)
    ess, beta = edges(a, f, n=40_000)
    assert ess == pytest.approx(k / 2 + np.arange(CELLS + 1) * k / 2 / CELLS, rel=1e-14) and beta.shape == (CELLS + 1,)
    assert np.ptp(np.diff(beta)) < 1e-14
    drawn = together(draws(a, f, 40_000)).beta
    low, high = np.quantile(drawn, [0.01, 0.99])
    for end, inner, outward in ((beta[0], low, -1), (beta[-1], high, 1)):
        assert end == round(end, 2) and 0 <= outward * (end - inner) < 0.01 + 1e-12


BINS = edges(*POOL, n=40_000)


def test_cells_are_direct_sums_over_the_same_draws():
    n = BLOCK + 1000
    table = cells(*POOL, STEP, n, bins=BINS).set_index(["ess", "beta"])
    d = together(draws(*POOL, n))
    e, b = (
        np.array([np.flatnonzero(x >= grid[:-1])[-1] if grid[0] <= x <= grid[-1] else -1 for x in values])
        for values, grid in ((d.ess, BINS[0]), (d.beta, BINS[1]))
    )
    m = preference(STEP, d.w)
    v = np.exp(d.log_weight)
    filled = {(i, j) for i, j in zip(e.tolist(), b.tolist(), strict=True) if i >= 0 and j >= 0}
    assert filled == set(table.index) and len(filled) > 40
    for cell in filled:
        mask = (e == cell[0]) & (b == cell[1])
        row, x, u = table.loc[cell], m[mask], v[mask]
        mean = np.average(x, weights=u)
        assert row["n"] == mask.sum()
        assert (row["ess_from"], row["beta_from"]) == (BINS[0][cell[0]], BINS[1][cell[1]])
        assert row["kish"] == pytest.approx(u.sum() ** 2 / (u**2).sum(), rel=1e-9)
        # variances come from differences of sums near one: half the digits
        assert row["mean"] == pytest.approx(mean, rel=1e-9)
        assert row["std"] == pytest.approx(np.sqrt(np.average((x - mean) ** 2, weights=u)), abs=1e-7)
        assert row["plain_mean"] == pytest.approx(x.mean(), rel=1e-9)
        assert row["plain_std"] == pytest.approx(x.std(), abs=1e-7)
        assert 1 - 1e-9 <= row["kish"] <= row["n"] * (1 + 1e-9)


def test_draws_of_equal_worth_count_as_many_as_they_are(monkeypatch):
    for level in (0.0, -5000.0, 5000.0):  # beyond what a float holds, had it not been kept as a logarithm
        monkeypatch.setattr(sampling, "log_importance", lambda x, *_, level=level: np.full(x.shape, level))
        table = cells(*POOL, STEP, 5000, bins=BINS)
        assert table["kish"].to_numpy() == pytest.approx(table["n"].to_numpy(), rel=1e-12)
        assert table["mean"].to_numpy() == pytest.approx(table["plain_mean"].to_numpy(), rel=1e-12)


def test_weights_that_grow_from_block_to_block(monkeypatch):
    """The running scale: the same cells whether large weights come first or last."""
    blocks = list(draws(*POOL, 2 * BLOCK))
    heavy = [b._replace(log_weight=b.log_weight + 900 * k) for k, b in enumerate(blocks)]  # exp(900) is no float
    tables = []
    for order in (heavy, heavy[::-1]):
        monkeypatch.setattr(sampling, "draws", lambda *_, order=order: iter(order))
        tables.append(cells(*POOL, STEP, 2 * BLOCK, bins=BINS))
    pd.testing.assert_frame_equal(*tables, rtol=1e-10, atol=1e-7)
    monkeypatch.setattr(sampling, "draws", lambda *_: iter(blocks[1:]))
    alone = cells(*POOL, STEP, BLOCK, bins=BINS).set_index(["ess", "beta"])
    both = tables[0].set_index(["ess", "beta"]).loc[alone.index]
    assert both["mean"].to_numpy() == pytest.approx(alone["mean"].to_numpy(), rel=1e-10)  # the light block vanishes
    assert (both["n"] >= alone["n"]).all() and both["n"].sum() > alone["n"].sum()


def test_cells_reproduce_by_seed():
    one, again = (cells(*POOL, STEP, 4000, seed=5, bins=BINS) for _ in range(2))
    pd.testing.assert_frame_equal(one, again, check_exact=True)
    assert not one["n"].equals(cells(*POOL, STEP, 4000, seed=6, bins=BINS)["n"])


def test_cells_find_their_own_edges():
    table = cells(*POOL, STEP[:1, ::10], 2000)
    ess, beta = edges(*POOL)
    assert set(table["ess_from"]) <= set(ess) and set(table["beta_from"]) <= set(beta)


def test_a_sampled_preference_is_the_slow_definition():
    human, curves = TED.counts("total"), TED.curve_counts("adequacy-fluency")[:2, ::5]
    w = together(draws(*POOL, 3000)).w[::300]
    got = preference(steps(human, curves), w, single=True)
    assert got == pytest.approx([slow(human, curves, row) for row in w], abs=1e-14)
    assert len(set(got)) > 1


def test_shipped_cells_are_within_what_fewer_draws_can_tell():
    """data/cells.csv holds four million draws; a few thousand from another seed agree within their standard error."""
    full = steps(TED.counts("total"), TED.curve_counts("adequacy-fluency"))
    shipped = read_table("cells.csv").query("dataset == 'ted_zhen'").set_index(["ess", "beta"])
    bins = edges(*POOL)
    assert np.isin(shipped["beta_from"].round(6), bins[1].round(6)).all()
    ours = cells(*POOL, full, 6000, seed=99, bins=bins).set_index(["ess", "beta"]).query("n > 50")
    theirs = shipped.loc[ours.index]
    error = ours["plain_std"] / np.sqrt(ours["n"])
    z = ((ours["plain_mean"] - theirs["plain_mean"]) / error).abs()
    # of some twenty standard normal numbers, none is beyond five, and they are not all tiny
    assert len(z) > 15 and z.max() < 5 and z.max() > 0.5


# --- Welch


def test_welch_against_scipy():
    rng = np.random.default_rng(2)
    for n1, n2 in ((2, 3), (10, 50), (400, 7)):
        x, y = rng.normal(0, 1, n1), rng.normal(0.4, 3, n2)
        ours = welch(x.mean(), x.std(), n1, y.mean(), y.std(), n2)
        theirs = stats.ttest_ind_from_stats(
            x.mean(), x.std(ddof=1), n1, y.mean(), y.std(ddof=1), n2, equal_var=False, alternative="less"
        )
        direct = stats.ttest_ind(x, y, equal_var=False, alternative="less")
        assert ours.t == pytest.approx(-theirs.statistic, rel=1e-10)
        assert ours.p == pytest.approx(theirs.pvalue, rel=1e-9) and ours.p == pytest.approx(direct.pvalue, rel=1e-9)
        assert ours.df == pytest.approx(direct.df, rel=1e-9)
        assert ours.d == pytest.approx((y.mean() - x.mean()) / np.sqrt((x.var() + y.var()) / 2), rel=1e-12)


def test_welch_on_arrays_and_fractional_sizes():
    mean, std, n = np.array([0.1, 0.2, 0.3]), np.array([0.1, 0.2, 0.1]), np.array([12.5, 30.25, 8.0])
    ours = welch(mean[:-1], std[:-1], n[:-1], mean[1:], std[1:], n[1:])
    sample = std * np.sqrt(n / (n - 1))
    theirs = stats.ttest_ind_from_stats(
        mean[:-1], sample[:-1], n[:-1], mean[1:], sample[1:], n[1:], equal_var=False, alternative="less"
    )
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-9)
    assert (ours.p < 0.5).all() and (welch(mean[1:], 0.1, 9, mean[:-1], 0.1, 9).p > 0.5).all()


def test_welch_without_spread():
    apart, equal = welch(0.2, 0.0, 9, 0.3, 0.0, 9), welch(0.2, 0.0, 9, 0.2, 0.0, 9)
    assert (apart.t, apart.p, apart.d) == (np.inf, 0, np.inf) and welch(0.3, 0.0, 9, 0.2, 0.0, 9).p == 1
    assert np.isnan([equal.t, equal.p, equal.d]).all()
    assert np.isnan(welch(0.2, 0.0, 1, 0.3, 0.1, 9).p)  # a single draw says nothing about its spread


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: next(draws(*POOL, 0)), "n is 0; a whole number of draws"),
        (lambda: next(draws(*POOL, 1e3)), "n is 1000.0"),
        (lambda: next(draws([0, 1], [1, 0], 10)), "2 systems; draws of many weightings need at least three"),
        (lambda: next(draws([1, 1, 1], [2, 2, 2], 10)), "all 3 systems have the same adequacy and fluency"),
        (
            lambda: cells(*POOL, STEP, 10, bins=(np.arange(4), np.arange(9))),
            r"bins have shapes \(4,\) and \(9,\); 9 edges",
        ),
        (lambda: cells(*POOL, STEP[..., :3], 10, bins=BINS), "with 3 pairs is expected"),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
