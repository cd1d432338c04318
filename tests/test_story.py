"""The story of two scorers, rankings with their tests, sweeps with their bands: on made verdicts worked out by hand, on a made
pool, and on what ships."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import whichbird as wb
from whichbird.study import tested, verdict
from whichbird.study.intervals import quantile
from whichbird.study.story import crossings, story


def made(spa, p, se=0.01, change_se=0.01, betas=(0.4, 0.5, 0.6), documents=40, segments=False):
    """A verdict on scorers A, B and C: the natural balance first, then stops; `spa` and the p-values of A over B a row each, by
    documents; by segments the same, or turned round."""
    spa = np.array(spa, float)
    b, m = spa.shape
    pairs = np.full((b, m, m), 0.5)
    pairs[:, 0, 1], pairs[:, 1, 0] = p, 1 - np.array(p)
    full = np.full((b, m, m), change_se)
    return wb.Verdict(
        "made", tuple("ABC"[:m]), np.array([np.nan, *betas]), spa, np.full((b, m), se), np.ones((b, m), int),
        np.full((b, m), m), 1 - pairs if segments else pairs, pairs, np.full((b, m, m), se), full, full[0], np.full(b, 100), 100, documents, "made|sig",
        "tests",
    )  # fmt: skip


def test_covariance_from_standard_errors_by_hand():
    """Standard errors .03 and .04: a lead with .05 is that of independent scorers, one with .01 leaves (9 + 16 − 1) / 2."""
    v = made([[0.8, 0.7]] * 2, [0.5] * 2, betas=(0.5,))
    lead = np.array([[[0, 0.05], [0.05, 0]], [[0, 0.01], [0.01, 0]]])
    v = dataclasses.replace(v, se=np.array([[0.03, 0.04]] * 2), lead_se=lead)
    assert 1e4 * v.covariance(0) == pytest.approx(np.array([[9, 0], [0, 16]]))
    assert 1e4 * v.covariance(1) == pytest.approx(np.array([[9, 12], [12, 16]]))


CROSSING = [[0.80, 0.81], [0.70, 0.80], [0.80, 0.81], [0.90, 0.80]]  # A behind B, behind, ahead


def test_an_order_that_turns():
    v = made(CROSSING, [0.6, 0.98, 0.6, 0.01], change_se=1.0)  # ten standard errors at each end
    found = story(v, "A", "B")
    assert found.table["lead"].to_numpy() == pytest.approx([-0.1, -0.01, 0.1])
    assert found.crossings == ((0.5, 0.6),) and found.ends == (True, False, True, True)
    assert found.table["better"].tolist() == ["second", "", "first"]  # p of B over A at the first stop is .02
    assert found.table["places"].tolist() == [False, False, True]
    assert not found.table["turns"].any()  # at the natural balance the lead is one standard error
    t = quantile(0.05, 40)
    assert found.table["lead_low"].to_numpy() == pytest.approx(found.table["lead"] - 0.01 * t)
    assert found.table["change"].to_numpy() == pytest.approx([-0.09, 0.0, 0.11])
    assert found.table["change_high"].to_numpy() == pytest.approx(found.table["change"] + 1.0 * t)
    for part in ("between 0.500 and 0.600", "A is significantly better at 1 of 3", "at 0.600", "the order turns"):
        assert part in found.sentence


def test_a_lead_that_moves_turns_no_order():
    """A change of .2 is twenty standard errors of its own, but each lead is one of its own: the order does not turn."""
    found = story(made(CROSSING, [0.6, 0.8, 0.6, 0.3], se=0.1), "A", "B")
    assert found.ends == (True, True, False, False)
    assert found.table["moves"].tolist() == [True, False, True] and not found.table["turns"].any()
    assert "the lead moves; the order does not turn" in found.sentence
    assert "Neither is significantly better at any of them" in found.sentence and "order turns" not in found.sentence


def test_a_change_of_places_alone():
    found = story(made(CROSSING, [0.6, 0.8, 0.6, 0.3], se=0.1, change_se=1.0), "A", "B")
    assert found.ends == (True, False, False, False) and not found.table["moves"].any()
    assert "the lead does not move significantly; the order does not turn" in found.sentence


def test_an_order_that_turns_from_the_natural_balance_to_the_middle():
    spa = [[0.9, 0.8], [0.9, 0.8], [0.7, 0.8], [0.9, 0.8]]
    found = story(made(spa, [0.5] * 4), "A", "B")
    assert found.table["turns"].tolist() == [False, True, False] and found.ends == (False, False, False, False)
    assert "From the natural balance to 1 of 3 others the order turns." in found.sentence


def test_too_few_documents_get_no_verdict():
    """Whoever is better is said by WMT's rule then, and the sentence says so."""
    found = story(made(CROSSING, [0.6, 0.98, 0.6, 0.01], documents=5, segments=True), "A", "B")
    assert (
        found.ends == (True, None, None, False)
        and found.table["turns"].isna().all()
        and found.table["moves"].isna().all()
    )
    assert found.table["better"].tolist() == ["first", "", "second"] and "by segments" in found.sentence
    assert "5 documents are too few" in found.sentence and "turns" not in found.sentence


def test_no_change_of_order():
    ahead = [[0.9, 0.8], [0.9, 0.8], [0.91, 0.8], [0.92, 0.8]]
    found = story(made(ahead, [0.01] * 4), "A", "B")
    assert found.sentence == (
        "A has a larger SPA than B at all 3 reliable balances tried, 0.400 to 0.600. "
        "A is significantly better at all of them (PERM-BOTH by documents, p ≤ 0.05). "
        "From one end to the other the lead does not move significantly; the two keep their places."
    )
    back = story(made(ahead, [0.01] * 4), "B", "A")  # the same, told from the other side
    assert back.sentence == found.sentence and (back.table["lead"] == -found.table["lead"]).all()
    assert (back.table["better"] == "second").all() and not back.crossings


def test_ties_are_no_order():
    even = story(made([[0.8, 0.8]] * 4, [0.5] * 4), "A", "B")
    assert not even.crossings and even.sentence.startswith("A and B have equal SPA at all 3 reliable balances")
    touch = story(made([[0.9, 0.8], [0.9, 0.8], [0.8, 0.8], [0.9, 0.8]], [0.5] * 4), "A", "B")
    assert not touch.crossings and "A has a larger SPA than B, or the same, at all" in touch.sentence
    through = story(made([[0.9, 0.8], [0.9, 0.8], [0.8, 0.8], [0.7, 0.8]], [0.5] * 4), "A", "B")
    assert through.crossings == ((0.4, 0.6),)  # from the last order to the next, over the tie


def test_crossings_lie_on_both_lines():
    v = made(CROSSING, [0.6, 0.98, 0.6, 0.01], change_se=1.0)
    ((beta, spa, turns),) = crossings(v, ["A", "B", "A"])
    # the lead goes from −.01 to .1 between .5 and .6: zero after one eleventh of the way
    assert beta == pytest.approx(0.5 + 0.1 / 11) and spa == pytest.approx(0.8 + 0.1 / 11) and turns


def test_story_refused():
    v = made(CROSSING, [0.6] * 4)
    with pytest.raises(wb.DataError, match="made has no scorer 'D'"):
        story(v, "A", "D")
    with pytest.raises(wb.DataError, match="'A' is compared with itself; two scorers are needed"):
        story(v, "A", "A")


def test_a_dataset_without_balances():
    v = wb.load_significance("heen23")
    first, second = np.array(v.scorers)[np.argsort(-v.spa[0])[:2]]
    found = story(v, first, second)
    assert (
        len(found.table) == 1 and np.isnan(found.table["beta"].iloc[0]) and found.ends == (False, False, False, False)
    )
    assert f"{first} has a larger SPA than {second} at the natural balance." in found.sentence


# --- a made pool -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pool():
    rng = np.random.default_rng(5)
    a, f = rng.normal(size=(2, 6, 80)) + rng.normal(size=(2, 6, 1))
    scorers = {f"s{n}": a + f + (1 + n) * rng.normal(size=(6, 80)) for n in range(3)}
    documents = tuple(f"d{n // 4}" for n in range(80))
    return wb.Pool("made", tuple("ABCDEF"), np.arange(80), 80, a + f, a, f, scorers, documents=documents)


@pytest.fixture(scope="module")
def own(pool):
    rng = np.random.default_rng(6)
    return {"mine": pool.total + 2 * rng.normal(size=pool.total.shape)}


def test_a_ranking_with_tests(pool, own):
    field = wb.contest(pool, own)
    plain = wb.rank(field, 0.5)
    found, s = tested.with_tests(plain, field, pool, 0.5, own)
    assert found.table.columns[:7].tolist() == ["rank", "scorer", "spa", "cluster", "rank_low", "rank_high", "se"]
    pd.testing.assert_frame_equal(found.table[plain.table.columns], plain.table)
    p = wb.significance(pool, [0.5], own, by="segments").p[0]
    spa = plain.table.set_index("scorer")["spa"].loc[field.scorers]
    groups = wb.clusters(spa, p)
    around = wb.intervals(pool, [0.5], own)
    low, high = around.ranks(0)
    for row in found.table.itertuples():
        m = field.scorers.index(row.scorer)
        assert (row.cluster, row.rank_low, row.rank_high) == (groups[m], low[m], high[m])
        assert row.se == pytest.approx(around.se[0, m])
    assert (found.table["cluster"].diff().dropna() >= 0).all() and s.signature.startswith(
        "PERM-BOTH:1000-10000|documents:20|"
    )


def test_one_scorer_is_first(pool):
    lone = dataclasses.replace(pool, scorers={"s0": pool.scorers["s0"]})
    field = wb.contest(lone)
    found, s = tested.with_tests(wb.rank(field), field, lone)
    assert s is None and found.table[["rank", "cluster", "rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1, 1, 1]]


def test_a_sweep_with_bands(pool, own):
    table = wb.rank_sweep(pool, scores=own)
    out = tested.with_bands(table, pool, own)
    pd.testing.assert_frame_equal(out[table.columns], table)
    assert (out["spa_low"].notna() == out["reliable"]).all() and out["reliable"].any() and not out["reliable"].all()
    beta = out.loc[out["reliable"], "beta"].iloc[0]
    around = wb.intervals(pool, [beta], own)
    rows = out[out["beta"] == beta].set_index("scorer").loc[list(around.scorers)]
    reach = around.t * around.se[0]
    assert rows["spa_high"].to_numpy() == pytest.approx((rows["spa"] + reach).clip(0, 1).to_numpy())
    assert rows["rank_low"].tolist() == around.ranks(0)[0].tolist()
    bare = tested.with_bands(table[~table["reliable"]], pool, own)
    assert bare[["spa_low", "spa_high", "rank_low", "rank_high"]].isna().all(axis=None)


def test_a_verdict_on_a_few_scorers(pool, own):
    v = verdict.judged(pool, ["mine", "s1"], own)
    assert v.scorers == ("s1", "mine") and v.name == "made"
    whole = verdict.decode(verdict.build_significance(pool, scores=own))
    i, j = (whole.scorers.index(s) for s in v.scorers)
    assert v.p[:, 0, 1] == pytest.approx(whole.p[:, i, j])  # a pair is tested the same whoever else takes part
    assert v.spa[:, 0] == pytest.approx(whole.spa[:, i], abs=1e-5)


# --- what ships --------------------------------------------------------------------------------------------------------


def test_shipped_tests_are_used_where_they_are():
    d = wb.load("ende24")
    v, field = wb.load_significance("ende24"), wb.contest(d)
    found, s = tested.with_tests(wb.rank(field, 0.6), field, d, 0.6)
    b = v.nearest(0.6)
    assert s.stop == pytest.approx(0.6) and found.table["cluster"].max() == v.clusters(b).max()
    assert verdict.judged(d, ["XCOMET", "BLEU"]).signature == v.signature
    bands = tested.with_bands(wb.rank_sweep(field, [0.6, 0.95]), d)
    m = v.scorers.index("XCOMET")
    row = bands[(bands["scorer"] == "XCOMET") & (bands["beta"] == 0.6)].iloc[0]
    assert (row["rank_low"], row["rank_high"]) == (v.rank_low[b, m], v.rank_high[b, m])
    assert bands[bands["beta"] == 0.95]["spa_low"].isna().all()
