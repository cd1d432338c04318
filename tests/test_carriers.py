"""Leverage, who carries a change, and the placebo: each against a computation of its own, pool by pool."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import whichbird as wb
from whichbird.data.digest import read_table
from whichbird.study.carriers import _kept, carriers_table
from whichbird.study.components import FEWEST
from whichbird.study.placebo import DRAWS, taus
from whichbird.study.stability import pooled_tau

NAMES = wb.datasets(aspects=True)
TURNS = 5000  # resamples behind the column natural_turns; data/build.py says so


# --- leverage


def without(a, f, w, k):
    return wb.balance(np.delete(a, k), np.delete(f, k), None if w is None else np.delete(w, k))


@pytest.mark.parametrize("name", NAMES)
def test_the_identity_gives_the_balance_without_each_system(name):
    """Uniform weights, drawn ones and those of the ends; the balance without a system is computed from the others alone."""
    a, f = wb.load(name).aspects
    k = a.size
    rng = np.random.default_rng(0)
    ends = wb.reweight_sweep(a, f, wb.reliable_interval(a, f)).weights
    for w in (None, *rng.dirichlet(np.ones(k), 5), *ends):
        found, beta = wb.leverage(a, f, w), wb.balance(a, f, w)
        h = found.leverage
        expected = [without(a, f, w, n) for n in range(k)]
        np.testing.assert_allclose(found.without, expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(beta + h / (1 - h) * (beta - found.own), expected, rtol=0, atol=1e-12)
    assert wb.leverage(a, f).leverage.sum() == pytest.approx(k / (k - 1), rel=1e-12)


@given(st.integers(3, 9), st.integers(0, 2**32 - 1), st.floats(-6, 6))
def test_leverage_knows_no_unit_and_no_origin(k, seed, power):
    rng = np.random.default_rng(seed)
    a, f, w = rng.normal(size=k), rng.normal(size=k), rng.dirichlet(np.ones(k))
    for one, two in zip(wb.leverage(a, f, w), wb.leverage(a * 10**power + 3, f * 10**power - 1, w), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-9)


def test_what_has_no_balance_is_nan_and_nothing_else_is():
    two = wb.leverage([0, 1], [0, 1])
    assert np.isnan(two.without).all() and np.allclose(two.leverage, 1)
    copies = wb.leverage([0, 0, 0, 2], [1, 1, 1, 5])  # without the last nothing differs
    assert np.isnan(copies.without).tolist() == [False, False, False, True]
    middle = wb.leverage([0, 2, 1], [0, 1, 0.5])
    assert np.isnan(middle.own).tolist() == [False, False, True] and middle.leverage[2] == 0
    light = wb.leverage([0, 2, 9], [0, 1, 0], [1, 1, 0])  # a system without weight can go
    assert light.leverage[2] == 0 and light.without[2] == pytest.approx(0.8) and np.isnan(light.without[:2]).all()


def test_leverage_refuses_what_balance_refuses():
    for bad in (([1, 1], [2, 2]), ([1, np.nan, 2], [1, 2, 3])):
        with pytest.raises(ValueError):
            wb.leverage(*bad)
    with pytest.raises(ValueError, match="same adequacy and fluency"):
        wb.leverage([0, 0, 1], [0, 0, 1], [1, 1, 0])


# --- carriers


def spa(d, kept, w):
    """SPA of all scorers on some systems, from p-values of single pairs."""
    k, place = len(d.systems), {}
    for n, pair in enumerate(zip(*np.triu_indices(k, 1), strict=True)):
        place[pair] = n
    out = np.zeros(len(d.scorers))
    total = 0.0
    for i, x in enumerate(kept):
        for j, y in enumerate(kept[i + 1 :], i + 1):
            out += w[i] * w[j] * np.abs(d.human_p[place[x, y]] - d.scorer_p[:, place[x, y]])
            total += w[i] * w[j]
    return 1 - out / total


def test_carriers_are_rankings_of_the_smaller_pools():
    d = wb.load("ende22")
    a, f = d.aspects
    found = wb.carriers(d)
    for k in (0, 7, 12):
        kept = [n for n in range(13) if n != k]
        own = wb.reliable_interval(a[kept], f[kept])
        np.testing.assert_allclose(found.own_betas[k], own, atol=1e-10)
        for end in (0, 1):
            for there, beta in ((found.own, own[end]), (found.same, found.betas[end])):
                w = wb.reweight(a[kept], f[kept], beta).weights
                np.testing.assert_allclose(there[k, end], spa(d, kept, w), atol=1e-9)


def test_one_system_carries_the_fall_of_sescore():
    """Rank 2 at the low end of ende22, 26 at the high one; without OpenNMT 3 and 1, without any other still a fall."""
    found = wb.carriers("ende22")
    moved = found.scorer("SEScore")
    k = found.systems.index("OpenNMT")
    assert moved.ranks.tolist() == [2, 26] and moved.carrier == "OpenNMT"
    assert moved.without[k].tolist() == [3, 1]
    others = np.delete(moved.without, k, axis=0)
    assert others[:, 0].max() <= 12 and others[:, 1].min() >= 22
    pair = found.pair("COMET-22", "SEScore")
    assert pair.places and pair.carrier == "OpenNMT" and np.flatnonzero(~pair.kept).tolist() == [k]


def test_a_pair_is_the_same_by_name_number_and_order():
    found = wb.carriers("ende24")
    one, two = found.pair(3, 8), found.pair(found.scorers[8], found.scorers[3])
    assert np.array_equal(one.kept, two.kept) and one.carrier == two.carrier
    np.testing.assert_allclose(one.leads, -two.leads, rtol=0, atol=0)
    assert np.array_equal(found.kept()[:, 3, 8], one.kept) and found.places()[3, 8] == one.places
    assert np.array_equal(found.kept("same")[:, 3, 8], found.pair(3, 8, "same").kept)


def test_kept_is_both_signs_or_the_direction():
    leads = np.array([0.1, -0.1])  # they change places
    left = np.array([[0.2, -0.3], [0.2, 0.1], [-0.1, -0.3], [np.nan, -0.1], [0.0, -0.1]])
    assert _kept(leads, left).tolist() == [True, False, False, False, False]
    leads = np.array([0.1, 0.3])  # they do not, but the lead grows
    left = np.array([[0.1, 0.2], [-0.2, -0.1], [0.2, 0.1], [0.1, 0.1]])
    assert _kept(leads, left).tolist() == [True, True, False, False]


def test_named_balances_have_no_ends_of_their_own():
    d = wb.load("ende24")
    low, high = wb.reachable(*d.aspects)
    found = wb.carriers(d, [low, 0.7])
    assert np.isnan(found.own).all() and np.isnan(found.own_betas).all()
    lost = np.isnan(found.same[:, 0, 0])  # one of the two systems that make the end is gone
    assert 1 <= lost.sum() <= 2 and not np.isnan(found.same[:, 1]).any()
    assert not found.pair(0, 1, "same").kept[lost].any() and (found.scorer(0, "same").without[lost, 0] == 0).all()


def test_carriers_take_pools_contests_and_own_scores():
    pool = wb.load_pool("ende21")
    d = wb.load("ende21")
    reference = wb.carriers(d)
    np.testing.assert_array_equal(wb.carriers(pool).own, reference.own)
    own = wb.carriers(d, scores={"mine": pool.scorers[d.scorers[0]]})
    np.testing.assert_array_equal(own.own[..., -1], own.own[..., 0])
    assert own.pair(0, "mine").carrier is None  # a copy of a scorer never changes places with it


@pytest.mark.parametrize(
    "ask, said",
    [
        (lambda: wb.carriers("heen23"), "natural balance only"),
        (lambda: wb.carriers("ende24", [0.5]), "2 are expected"),
        (lambda: wb.carriers("ende24", [0.5, 2.0]), "beta"),
        (lambda: wb.carriers("ende24").pair("XCOMET", "XCOMET"), "twice"),
        (lambda: wb.carriers("ende24").pair("XCOMET", "XCOMMET"), "XCOMET"),
        (lambda: wb.carriers("ende24").pair(0, 99), "0 to 29"),
        (lambda: wb.carriers("ende24").pair(0, 1, "other"), "own, same"),
    ],
)
def test_carriers_refuse_in_one_sentence(ask, said):
    with pytest.raises(ValueError, match=said):
        ask()


def smaller(pool, k):
    """The pool without system k."""
    kept = [n for n in range(len(pool.systems)) if n != k]
    return replace(
        pool,
        systems=tuple(pool.systems[n] for n in kept),
        total=pool.total[kept],
        adequacy=pool.adequacy[kept],
        fluency=pool.fluency[kept],
        scorers={name: x[kept] for name, x in pool.scorers.items()},
        raters=None,
        errors=None,
        ratings=(),
    )


def test_natural_turns_are_intervals_of_the_smaller_pools():
    """The evidence of the full pool, restricted, gives what each smaller pool gives anew."""
    pool = wb.load_pool("ende22")
    pool = replace(pool, scorers={n: pool.scorers[n] for n in ("COMET-22", "SEScore", "BLEU", "UniTE")})
    found = wb.natural_turns(pool, resamples=60)
    k = pool.systems.index("OpenNMT")
    for row, one in ((0, pool), (1 + k, smaller(pool, k))):
        alone = wb.intervals(one, resamples=60)
        np.testing.assert_allclose(found.lead_se[row], alone.lead_se(0), rtol=0, atol=1e-9)
        np.testing.assert_allclose(
            found.spa[row], wb.rank(one).table.set_index("scorer").spa[list(pool.scorers)], atol=1e-12
        )
    assert found.turns[k, 0, 1] and found.turns[k, 1, 0] and not found.turns[:, 0, 2].any()
    assert np.abs(found.t[[0, 1 + k], 0, 1]).min() > 2


def test_few_documents_give_no_verdict():
    assert not wb.natural_turns("ted_ende", resamples=50).turns.any()


# --- the placebo


def test_permuted_weights_are_the_same_weights():
    w = wb.reweight_sweep(*wb.load("ende24").aspects, [0.6, 0.85]).weights
    drawn = wb.permuted(w, 40)
    assert drawn.shape == (40, 2, 16) and np.array_equal(drawn[:10], wb.permuted(w, 10))
    np.testing.assert_array_equal(np.sort(drawn, axis=2), np.broadcast_to(np.sort(w, axis=1), drawn.shape))
    for one in drawn:  # both rows by one permutation
        assert sorted(map(tuple, one.T)) == sorted(map(tuple, w.T))
    assert len({one.tobytes() for one in drawn}) == 40


def test_placebo_beside_its_own_draws():
    """Every quantity of two draws, one by one, through other functions."""
    d = wb.load("zhen20")
    a, f = d.aspects
    real = wb.reweight_sweep(a, f, wb.reliable_interval(a, f)).weights
    table = wb.placebo(d, draws=2).set_index(["meta", "quantity"])
    assert set(table.draws) == {2} and len(table) == 9
    drawn = [real, *wb.permuted(real, 2)]
    spa = [wb.spa_from_p(d.human_p, d.scorer_p, w) for w in drawn]
    lean = wb.spa_from_p(d.adequacy_p, d.scorer_p) - wb.spa_from_p(d.fluency_p, d.scorer_p)
    expected = {("spa", "tau"): [wb.rank_change(*s).tau for s in spa]}
    expected["spa", "lean"] = [np.corrcoef(s[1] - s[0], lean)[0, 1] for s in spa]
    expected["pearson", "tau"] = [
        wb.rank_change(*([wb.pearson(a + f, m, x) for m in d.means] for x in w)).tau for w in drawn
    ]
    for key, values in expected.items():
        row = table.loc[key]
        assert row.observed == pytest.approx(values[0], abs=1e-12) and row["mean"] == pytest.approx(np.mean(values[1:]))
        assert row.q50 == pytest.approx(np.median(values[1:]))
    share = np.mean([t <= expected["spa", "tau"][0] for t in expected["spa", "tau"][1:]])
    assert table.loc[("spa", "tau"), "share"] == share


def test_placebo_of_the_natural_balance_moves_nothing():
    """At one balance twice nothing changes, under any permutation."""
    d = wb.load("ende21")
    natural = wb.balance(*d.aspects)
    table = wb.placebo(d, [natural, natural], draws=3).set_index(["meta", "quantity"])
    assert (table.loc[("spa", "tau"), ["observed", "mean", "share"]] == 1).all()
    assert (table.drop(index=[("spa", "tau"), ("pearson", "tau")])["observed"] == 0).all()


def test_taus_are_the_pooled_ones():
    rng = np.random.default_rng(3)
    one, two = rng.integers(0, 5, size=(2, 6, 9)).astype(float)
    np.testing.assert_allclose(taus(one, two), [pooled_tau(np.array(pair)) for pair in zip(one, two, strict=True)])


def test_placebo_refuses():
    with pytest.raises(ValueError, match="draws is 0"):
        wb.placebo("ende24", draws=0)
    with pytest.raises(ValueError, match="natural balance only"):
        wb.placebo("heen23")


# --- the tables that ship


def test_carriers_table_is_what_the_library_finds():
    name = "ende20"
    table = read_table("carriers.csv").query("dataset == @name")
    d, v = wb.load(name), wb.load_significance(name)
    fresh = carriers_table(d, wb.load_pool(name), v, resamples=TURNS)
    assert table["system"].tolist() == list(d.systems)
    for column in fresh.columns.drop("system"):
        np.testing.assert_allclose(table[column], fresh[column], rtol=1e-5, atol=1e-9, err_msg=column)


def test_carriers_table_has_every_system_of_every_dataset():
    table = read_table("carriers.csv")
    for name in NAMES:
        d, rows = wb.load(name), table[table["dataset"] == name]
        assert rows["system"].tolist() == list(d.systems)
        np.testing.assert_allclose(rows["beta0_without"], wb.leverage(*d.aspects).without, rtol=1e-5)
        ends = wb.load_significance(name)
        assert rows["natural_turns"].notna().all() == (ends.documents >= FEWEST)
        assert (rows["kept_places"] <= ends.ends().counts()["places"]).all()
    assert set(table["dataset"]) == set(NAMES)


def test_placebo_table_is_what_the_library_finds():
    table = read_table("placebo.csv")
    assert set(table["dataset"]) == set(NAMES) and set(table["draws"]) == {DRAWS} and len(table) == 9 * len(NAMES)
    fresh = wb.placebo("zhen20")
    shipped = table[table["dataset"] == "zhen20"]
    for column in ("meta", "quantity"):
        assert shipped[column].tolist() == fresh[column].tolist()
    for column in fresh.columns.drop(["meta", "quantity"]):
        np.testing.assert_allclose(shipped[column], fresh[column], rtol=2e-4, atol=1e-9, err_msg=column)
