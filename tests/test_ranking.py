"""Contests and rankings: on a made contest small enough to work out by hand, and on what ships against plain loops."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import whichbird as wb
from whichbird.study import contest as contests, overview as overviews, ranking, targets
from whichbird.study.verdict import judged

ENDE24 = wb.load("ende24")
# Three systems, pairs in the order 01, 02, 12. Half the variance of their aspects is adequacy's: by hand, both are 2/9·9.
ADEQUACY, FLUENCY = np.array([0.0, 3.0, 0.0]), np.array([0.0, 0.0, 3.0])
HUMAN = np.array([0.1, 0.5, 0.9])


def made(p, names=("x", "y"), adequacy=ADEQUACY, fluency=FLUENCY):
    return wb.Contest(
        "made",
        ("A", "B", "C"),
        adequacy,
        fluency,
        HUMAN,
        list(names),
        np.array(p),
        np.zeros(len(names), bool),
        "made|sig",
    )


# --- one balance -------------------------------------------------------------------------------------------------------


def test_spa_and_ranks_by_hand():
    """x misses people by .3, 0, 0 and y by 0, .2, .1: at equal weights SPA is 1 − their mean, .9 each, a tie."""
    found = wb.rank(made([[0.4, 0.5, 0.9], [0.1, 0.7, 1.0]]))
    assert found.table["spa"].to_numpy() == pytest.approx([0.9, 0.9], abs=1e-15)
    assert found.table["rank"].tolist() == [1, 1] and found.table["scorer"].tolist() == ["x", "y"]
    assert found.reweighting is None and found.signature == "made|sig|beta:natural"
    assert found.weights["weight"].to_numpy() == pytest.approx([1 / 3] * 3, abs=1e-15)


def test_natural_weights_sum_to_one():
    """A scorer that is wrong by one in every pair has SPA 0, by two thirds of the pairs 1/3: no other sum of weights says so."""
    p = [[1.0, 0.0, 0.0], [0.1, 0.5, 0.9]]
    wrong = made(p)._replace(human=np.array([0.0, 1.0, 0.0]))
    assert wb.rank(wrong).table.set_index("scorer").loc["x", "spa"] == pytest.approx(1 / 3, abs=1e-15)
    r = wb.rank(wrong, 0.8)
    assert r.table["spa_natural"].max() <= 1 and r.weights["weight"].sum() == pytest.approx(1, abs=1e-12)
    assert r.table.set_index("scorer").loc["x", "spa_natural"] == pytest.approx(1 / 3, abs=1e-15)


def test_a_weighting_counts_pairs_by_both_systems():
    """At β = .8 of this pool the solver's weights w give SPA = 1 − Σ w_i w_j |gap| / Σ w_i w_j, in a loop."""
    c = made([[0.4, 0.5, 0.9], [0.1, 0.7, 1.0]])
    found = wb.rank(c, 0.8)
    w = wb.reweight(ADEQUACY, FLUENCY, 0.8).weights
    assert found.weights["weight"].tolist() == w.tolist() and found.reweighting.target == 0.8
    pairs = [(0, 1), (0, 2), (1, 2)]
    total = sum(w[i] * w[j] for i, j in pairs)
    for row in found.table.itertuples():
        p = c.p[c.scorers.index(row.scorer)]
        loss = sum(w[i] * w[j] * abs(h - q) for (i, j), h, q in zip(pairs, HUMAN, p, strict=True)) / total
        assert row.spa == pytest.approx(1 - loss, abs=1e-14)
    assert found.table["rank"].tolist() == [1, 2] and found.table["spa"].is_monotonic_decreasing
    assert found.signature == "made|sig|beta:0.8"


def test_ranks_share_the_better_place():
    assert ranking.ranks(np.array([0.5, 0.9, 0.9, 0.1])).tolist() == [3, 1, 1, 4]
    assert ranking.ranks(np.array([0.5, 0.5 + 1e-13])).tolist() == [1, 1]  # rounding
    assert ranking.ranks(np.array([0.5, 0.5 + 1e-11])).tolist() == [2, 1]  # a difference


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_ranks_are_one_plus_the_number_of_better_ones(spa):
    spa = np.array(spa).round(6)
    assert ranking.ranks(spa).tolist() == [1 + sum(y > x for y in spa) for x in spa]


def test_every_row_of_a_table_belongs_to_its_scorer():
    found = wb.rank(ENDE24, 0.6).table.set_index("scorer")
    w = wb.reweight(ENDE24.adequacy, ENDE24.fluency, 0.6).weights
    for name, p in zip(ENDE24.scorers, ENDE24.scorer_p, strict=True):
        assert found.loc[name, "spa"] == pytest.approx(wb.spa_from_p(ENDE24.human_p, p, w), abs=1e-12)
        assert found.loc[name, "spa_natural"] == pytest.approx(wb.spa_from_p(ENDE24.human_p, p), abs=1e-12)
        assert found.loc[name, "rank"] == 1 + (found["spa"] > found.loc[name, "spa"] + 1e-12).sum()
        assert (
            found.loc[name, "rank_natural"] == 1 + (found["spa_natural"] > found.loc[name, "spa_natural"] + 1e-12).sum()
        )
    assert not found["own"].any()


# --- many balances -----------------------------------------------------------------------------------------------------


def test_a_sweep_is_a_ranking_at_each_balance():
    table = wb.rank_sweep(ENDE24, [0.7, 0.5])
    assert table["beta"].unique().tolist() == [0.5, 0.7]  # ascending, whatever the order asked for
    for beta, part in table.groupby("beta"):
        one = wb.rank(ENDE24, beta)
        wide = one.table.set_index("scorer")
        assert part["scorer"].tolist() == list(ENDE24.scorers)
        assert part["spa"].to_numpy() == pytest.approx(wide.loc[part["scorer"], "spa"].to_numpy(), abs=1e-12)
        assert part["rank"].tolist() == wide.loc[part["scorer"], "rank"].tolist()
        assert part["ess"].unique() == pytest.approx([one.reweighting.ess], rel=1e-9)
        assert part["reliable"].unique().tolist() == [one.reweighting.ess >= 0.9 * 16]


def test_targets_of_a_sweep():
    low, high = wb.reachable(ADEQUACY, FLUENCY)
    got = targets.steps(ADEQUACY, FLUENCY, 0.3)
    assert got.tolist() == pytest.approx(sorted({low, 0.3, 0.6, 0.9, 0.5, high}))
    assert 0.3 in got and 0.6 in got  # the numbers that people type, not 0.6000000000000001
    assert targets.steps(ADEQUACY, FLUENCY).size == 49 + 2  # .02 … .98, of which .5 is β₀, and the ends 0 and 1
    assert targets.multiples(0.1, 0.1, 0.3).tolist() == [0.2]  # the ends are no multiples between them
    for step in (0, 1.1, 9e-5, np.nan):
        with pytest.raises(ValueError, match="a number from 0.0001 to 1 is expected"):
            targets.steps(ADEQUACY, FLUENCY, step)
    assert targets.sorted_targets(ADEQUACY, FLUENCY, [0.7, 0.2]).tolist() == [0.2, 0.7]
    with pytest.raises(ValueError, match="betas is empty; at least one target is expected"):
        wb.rank_sweep(made([[0, 0, 0], [1, 1, 1]]), [])


def test_reliable_means_nine_tenths_of_the_systems():
    def weighted(ess):
        """Ten systems, weights whose Σw² is 1/ess."""
        spread = np.sqrt((1 / ess - 0.1) / 10)
        return wb.Reweighting(0.1 + spread * np.array([1, -1] * 5), 0.5, 0.5, "dual", 0.0, 0.0, 0.0)

    assert targets.is_reliable(weighted(9.0)) and targets.is_reliable(weighted(9.01))
    assert not targets.is_reliable(weighted(8.99))


def test_weights_as_tables():
    table = targets.weights_table(["x", "y"], None, None, [0.25, 0.75])
    assert table.columns.tolist() == ["system", "weight"] and table["weight"].tolist() == [0.25, 0.75]
    long = wb.weight_sweep(["x", "y", "z"], ADEQUACY, FLUENCY, [0.8, 0.5])
    assert long["beta"].tolist() == [0.5] * 3 + [0.8] * 3 and long["system"].tolist() == ["x", "y", "z"] * 2
    for beta, part in long.groupby("beta"):
        r = wb.reweight(ADEQUACY, FLUENCY, beta)
        assert part["weight"].to_numpy() == pytest.approx(r.weights, abs=1e-12)
        assert part["ess"].iloc[0] == pytest.approx(r.ess) and part["certificate"].iloc[0] == r.certificate
        assert part["gap"].iloc[0] == pytest.approx(r.gap) and part["reliable"].iloc[0] == (r.ess >= 2.7)


# --- what a contest is made of -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pool():
    rng = np.random.default_rng(3)
    a, f = rng.normal(size=(2, 4, 30)).round(1)
    scorers = {"near": a + f + rng.normal(size=(4, 30)), "far": rng.normal(size=(4, 30))}
    return wb.Pool("made", ("A", "B", "C", "D"), np.arange(0, 60, 2), 60, a + f, a, f, scorers)


def test_a_pool_gives_its_own_p_values(pool):
    c = wb.contest(pool)
    assert np.array_equal(c.human, wb.p_values(pool.total)) and c.scorers == ["near", "far"]
    assert np.array_equal(c.p, [wb.p_values(x) for x in pool.scorers.values()])
    assert np.array_equal(c.adequacy, pool.adequacy.mean(axis=1)) and np.array_equal(
        c.fluency, pool.fluency.mean(axis=1)
    )
    assert c.signature.startswith("made|sys:4|seg:30|ref:refA|perm:1000|seed:4|") and not c.own.any()


def test_own_scores_in_all_their_shapes(pool):
    """Rated lines, all lines, a table with the systems in another order, p-values: one scorer, four ways to give it."""
    x = np.random.default_rng(4).normal(size=(4, 30))
    every = np.full((4, 60), np.nan)
    every[:, pool.lines] = x
    table = pd.DataFrame(x, index=list(pool.systems)).iloc[::-1]
    ways = {"rated": x, "every": every, "table": table, "p": wb.p_values(x)}
    c = wb.contest(pool, ways)
    assert c.scorers == ["near", "far", *ways] and c.own.tolist() == [False, False, True, True, True, True]
    assert all(np.array_equal(p, wb.p_values(x)) for p in c.p[2:])
    ranks = wb.rank(pool, scores=ways).table.set_index("scorer")
    assert ranks.loc[list(ways), "rank"].nunique() == 1 and ranks["own"].sum() == 4
    assert wb.rank_sweep(pool, [0.5], ways).query("own")["spa"].nunique() == 1


def test_columns_of_a_frame_go_by_their_labels(pool):
    """Segments in another order, under any of their names: the same p-values, and never those of mixed-up segments."""
    rng = np.random.default_rng(4)
    x, order = rng.normal(size=(4, 30)), rng.permutation(30)
    assert not np.array_equal(wb.p_values(x[:, order]), wb.p_values(x))
    named = replace(pool, segments=tuple(f"s{n}" for n in range(30)))
    ways = [(pool, pool.lines), (pool, pool.lines + 1), (pool, [str(n + 1) for n in pool.lines]), (pool, range(30))]
    for source, labels in [*ways, (named, named.segments), (named, range(30))]:
        table = pd.DataFrame(x, index=list(pool.systems), columns=list(labels))
        for shuffled in (table, table.iloc[::-1, order]):
            assert np.array_equal(wb.contest(source, {"mine": shuffled}).p[-1], wb.p_values(x)), labels
    every = np.full((4, 60), np.nan)
    every[:, pool.lines] = x
    for first in (0, 1):
        table = pd.DataFrame(every, index=list(pool.systems), columns=range(first, 60 + first)).iloc[:, ::-1]
        assert np.array_equal(wb.contest(pool, {"mine": table}).p[-1], wb.p_values(x))


def test_columns_of_lines_without_a_total_are_left_out(pool):
    """Where some rated lines have no total, a frame may hold those that have one, all rated ones, or all there are."""
    total = pool.total.copy()
    total[:, ::4] = np.nan
    x, part = np.random.default_rng(4).normal(size=(4, 30)), replace(pool, total=total)
    want = wb.p_values(x[:, part.official])
    for source in (part, replace(part, segments=tuple(f"s{n}" for n in range(30)))):
        names = list(source.segments or part.lines + 1)
        table = pd.DataFrame(x, index=list(pool.systems), columns=names).iloc[:, ::-1]
        for some in (table, table[[n for n, kept in zip(names, part.official, strict=True) if kept]]):
            assert np.array_equal(wb.contest(source, {"mine": some}).p[-1], want)


def test_columns_that_say_nothing_or_two_things_are_refused(pool):
    x = np.random.default_rng(4).normal(size=(4, 30))
    swapped = replace(pool, segments=("1", "0", *(str(n) for n in range(2, 30))))  # to which a plain frame fits twice
    cases = [(pool, range(5, 35)), (pool, [*range(29), "x"]), (swapped, range(30)), (pool, [0, *range(29)])]
    for source, labels in cases:
        with pytest.raises(ValueError, match="scorer 'mine': .*column"):
            wb.contest(source, {"mine": pd.DataFrame(x, index=list(pool.systems), columns=list(labels))})


@pytest.mark.parametrize("call", [wb.spa, wb.pearson, wb.pairwise_accuracy, wb.balance, wb.reachable])
def test_two_frames_whose_labels_differ_are_refused(call):
    x = pd.DataFrame(np.random.default_rng(4).normal(size=(4, 6)), index=list("abcd"), columns=list("uvwxyz"))
    one, two = (x, 2 * x + 1) if call is wb.spa else (x["u"], 2 * x["u"] + x["v"])
    assert call(one, two) == call(one.to_numpy(), two.to_numpy()) == call(one, two.to_numpy())
    others = [two.iloc[::-1], two.rename({"a": "q"}), *([two.iloc[:, ::-1]] if call is wb.spa else [])]
    for other in others:
        with pytest.raises(ValueError, match="labels"):
            call(one, other)


def test_one_scorer_needs_no_name(pool, tmp_path):
    """An array, a frame, a dictionary by system, a file: one scorer, wherever scores are taken."""
    x = np.random.default_rng(4).normal(size=(4, 30))
    want = wb.rank(pool, 0.5, {"yours": x}).table
    ways = [x, x.tolist(), pd.DataFrame(x, index=list(pool.systems)), dict(zip(pool.systems, x.tolist(), strict=True))]
    for way in ways:
        assert wb.rank(pool, 0.5, way).table.equals(want)
    file = tmp_path / "mine.seg.score"
    file.write_text("".join(f"{s}\t{v!r}\n" for s, row in zip(pool.systems, x.tolist(), strict=True) for v in row))
    for way in (file, {"mine": file}, {"mine": str(file)}):
        assert wb.rank(pool, 0.5, way).table.replace("mine", "yours").equals(want)
    for call in (wb.significance, wb.intervals):
        assert call(pool, [0.5], x, resamples=20).scorers == ("near", "far", "yours")
    assert judged(pool, ["near", "yours"], x).scorers == ("near", "yours")
    with pytest.raises(ValueError, match="'yours' has shape"):
        wb.rank(pool, 0.5, x[:, :7])


@pytest.mark.parametrize(
    ("name", "x", "message"),
    [
        ("near", np.tri(4, 30), "made has a scorer 'near' already; give yours another name"),
        ("mine", np.zeros((4, 31)), r"'mine' has shape \(4, 31\); 4 systems × 30 rated lines \(or all 60 lines\)"),
        ("mine", np.ones((4, 30)), "'mine' is constant: every system has the mean score 1"),
        ("mine", np.full((4, 30), np.nan), "every value must be a finite number"),
        ("mine", pd.DataFrame(np.eye(3, 30), index=list("ABC")), "must hold every system once, and 'D' is missing"),
        ("mine", pd.DataFrame(np.eye(5, 30), index=list("ABCDA")), "must hold every system once$"),
        ("mine", np.zeros(5), "'mine' has 5 values where 6 are expected"),
        ("mine", [0, 0, 0, 0, 0, 1.5], "a p-value 1.5; numbers from 0 to 1 are expected"),
    ],
)
def test_own_scores_refused(pool, name, x, message):
    with pytest.raises(ValueError, match=message):
        wb.contest(pool, {name: x})


def test_references(pool):
    assert "|ref:refB|" in wb.contest(ENDE24, reference="refB").signature
    assert np.array_equal(wb.contest(ENDE24, reference="refB").p, ENDE24.standard_p)
    assert np.array_equal(wb.contest(ENDE24, reference="refA").p, ENDE24.scorer_p)
    assert not np.array_equal(ENDE24.standard_p, ENDE24.scorer_p)
    with pytest.raises(wb.DataError, match=r"refA.*refB"):
        wb.contest(ENDE24, reference="refC")
    with pytest.raises(wb.DataError, match="made was read with refA; read it again for refB"):
        wb.contest(pool, reference="refB")


def test_nobody_to_rank(pool):
    with pytest.raises(wb.DataError, match="made has no scorer to rank; at least one is needed"):
        wb.contest(wb.Pool("made", pool.systems, pool.lines, 60, pool.total))


def test_without_aspects_there_is_one_balance():
    c = made([[0.4, 0.5, 0.9], [0.1, 0.7, 1.0]], adequacy=None, fluency=None)
    assert wb.rank(c).weights.columns.tolist() == ["system", "weight"]
    for ask in (lambda: wb.rank(c, 0.5), lambda: wb.rank_sweep(c)):
        with pytest.raises(wb.DataError, match="made can be ranked at its natural balance only"):
            ask()


# --- the overview ------------------------------------------------------------------------------------------------------


def test_overview_of_a_pool_and_of_what_ships(pool):
    a, f = pool.adequacy.mean(axis=1), pool.fluency.mean(axis=1)
    bare = wb.Pool("bare", pool.systems, pool.lines, 60, pool.total)
    table = wb.overview([pool, bare, ENDE24]).set_index("name")
    row = table.loc["made"]
    assert row[["systems", "segments", "scorers"]].tolist() == [4, 30, 2] and row["note"] == ""
    assert row["beta0"] == wb.balance(a, f) and (row["beta_min"], row["beta_max"]) == wb.reachable(a, f)
    assert (row["reliable_min"], row["reliable_max"]) == pytest.approx(wb.reliable_interval(a, f), abs=1e-12)
    assert table.loc["bare", "beta0":"reliable_max"].isna().all() and table.loc["bare", "note"] == contests.HIDDEN
    assert table.loc["ende24", ["systems", "segments", "scorers"]].tolist() == [16, 487, 30]
    assert wb.overview()["name"].tolist() == wb.datasets()


def test_overview_without_data(monkeypatch, tmp_path):
    monkeypatch.setenv("WHICHBIRD_DATA", str(tmp_path))
    with pytest.raises(wb.DataError, match="no dataset is there; run 'make data'"):
        overviews.overview()
