"""Resampled contests against contests put together document by document; what intervals cover; what may be said of a change."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import whichbird as wb
from whichbird.core.closed import closed_p
from whichbird.data.pool import Pool, pick
from whichbird.study import verdict
from whichbird.study.intervals import (
    METHODS,
    Documents,
    draw,
    draws,
    evidence,
    intervals,
    quantile,
    rank_sets,
    resample,
    two_sided,
)
from whichbird_book.worlds import coverage, drawn_from, simulated


def made(seed=0, systems=6, documents=12, length=5, scorers=4, gaps=0) -> Pool:
    """A pool with documents of `length` segments and scorers of growing noise; `gaps` cells nobody rated."""
    rng = np.random.default_rng(seed)
    shape = systems, documents * length
    aspect = rng.normal(size=(2, *shape)) + 0.5 * rng.normal(size=(2, systems, 1))
    total = aspect.sum(axis=0)
    x = {f"s{n}": total + (1 + n) * rng.normal(size=shape) + rng.normal(size=(systems, 1)) / 3 for n in range(scorers)}
    for k, n in rng.integers(0, shape, size=(gaps, 2)):
        aspect[:, k, n] = total[k, n] = np.nan
    names = tuple(f"d{n // length}" for n in range(shape[1]))
    return Pool("made", tuple("abcdefgh"[:systems]), np.arange(shape[1]), shape[1], total, *aspect, x, documents=names)


def without(pool: Pool, **other) -> Pool:
    kept = {"name": pool.name, "systems": pool.systems, "lines": pool.lines, "source_lines": pool.source_lines,
            "total": pool.total, "adequacy": pool.adequacy, "fluency": pool.fluency, "scorers": pool.scorers,
            "documents": pool.documents}  # fmt: skip
    return Pool(**(kept | other))


@pytest.mark.parametrize("gaps", [0, 20])
def test_a_resample_is_the_contest_of_its_documents(gaps):
    """Put the drawn documents side by side, and compute everything from the segments."""
    pool = made(3, gaps=gaps)
    a, f = np.nanmean(pool.adequacy, axis=1), np.nanmean(pool.fluency, axis=1)
    betas = np.array([np.nan, 0.4, float(wb.balance(a, f)), 0.6])
    counts, _ = draw("bootstrap", 12, 7, 5)
    got = resample(evidence(pool, np.array(list(pool.scorers.values()))), counts, betas)
    for row, spa in zip(counts.astype(int), got, strict=True):
        columns = np.concatenate(
            [np.flatnonzero(np.array(pool.documents) == f"d{d}") for d in np.repeat(np.arange(12), row)]
        )
        human = closed_p(pool.total[:, columns])
        a, f = (np.nanmean(x[:, columns], axis=1) for x in (pool.adequacy, pool.fluency))
        for b, beta in enumerate(betas):
            low, high = wb.reachable(a, f)
            if low <= beta <= high or np.isnan(beta):
                w = None if np.isnan(beta) else wb.reweight(a, f, beta).weights
                want = [wb.spa_from_p(human, closed_p(x[:, columns]), w) for x in pool.scorers.values()]
                assert spa[b] == pytest.approx(want, abs=1e-6)
            else:
                assert np.isnan(spa[b]).all()


def test_lines_with_totals_only_and_lines_with_errors_only():
    """SPA, its tests and intervals rest on the former, balances on the latter; what has both gives both."""
    whole = made(3)
    n = np.arange(60)
    total = np.where(n % 7 == 1, np.nan, whole.total)
    a, f = (np.where(n % 5 == 2, np.nan, x) for x in (whole.adequacy, whole.fluency))
    pool = without(whole, total=total, adequacy=a, fluency=f)
    with_totals, with_errors = pick(pool, pool.official), pick(pool, pool.annotated)
    assert (len(with_totals.lines), len(with_errors.lines)) == (51, 48)
    assert [x.tolist() for x in pool.aspects] == [x.tolist() for x in with_errors.aspects]
    c, part = wb.contest(pool), wb.contest(with_totals)
    assert np.array_equal(c.human, part.human) and np.array_equal(c.p, part.p)
    assert "|seg:51|errors:48|" in c.signature
    own = {"mine": whole.scorers["s0"] + 1e-3 * np.arange(60)}  # scores of all source lines: the others are left out
    mine = wb.contest(pool, own).p[-1]
    assert np.array_equal(mine, wb.p_values(own["mine"][:, pool.official]))
    assert np.array_equal(mine, wb.contest(pool, {"mine": own["mine"][:, pool.official]}).p[-1])
    e = evidence(pool, np.array(list(pool.scored.values())))
    people, errors = (evidence(x, np.array(list(x.scored.values()))) for x in (with_totals, with_errors))
    assert np.array_equal(e.gap, people.gap) and np.array_equal(e.size, people.size)
    assert np.array_equal(e.adequacy, errors.adequacy) and np.array_equal(e.rated, errors.rated)
    spa = wb.significance(pool, [0.5], resamples=20).spa[0]
    w = wb.reweight(*with_errors.aspects, 0.5).weights
    assert spa == pytest.approx([wb.spa_from_p(closed_p(total), closed_p(x), w) for x in with_totals.scorers.values()])
    assert wb.components(pool).low == wb.components(with_errors).low
    assert wb.load_pool("heen23").annotated.sum() == 0


@pytest.mark.parametrize("method", METHODS)
def test_draws_are_the_same_in_blocks_of_any_size(method):
    whole, factor = draw(method, 50, 30, 1)
    for block in (1, 7, 1000):
        parts, same = draws(method, 50, 30, 1, block)
        assert np.array_equal(np.concatenate(list(parts)), whole) and same == factor


@given(st.lists(st.sampled_from("abcde"), min_size=1, max_size=12))
def test_sums_over_documents(names):
    """Documents in the order of their first segments, whatever lies between two segments of one."""
    x = np.random.default_rng(len(names)).normal(size=(2, 3, len(names)))
    d, order = Documents.of(names, len(names)), list(dict.fromkeys(names))
    assert d.size.tolist() == [names.count(name) for name in order] and [order[n] for n in d.number] == names
    want = np.stack([x[..., [m == name for m in names]].sum(axis=-1) for name in order], axis=-1)
    assert d.sums(x) == pytest.approx(want, abs=1e-14)


@given(st.sampled_from(METHODS), st.integers(2, 90), st.integers(2, 60), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_draws(method, documents, resamples, seed):
    """Counts of documents; and the jackknife's answer for a mean, which is known."""
    counts, factor = draw(method, documents, resamples, seed)
    assert counts.min() >= 0 and counts.shape[1] == documents and (counts.sum(axis=1) > 0).all()
    if method == "jackknife" and documents <= 40:  # the plain leave-one-out jackknife, whose answer for a mean is exact
        x = np.random.default_rng(seed).normal(size=documents)
        means = counts @ x / counts.sum(axis=1)
        assert factor * means.std() == pytest.approx(x.std(ddof=1) / np.sqrt(documents))


@pytest.mark.parametrize("method", METHODS)
def test_the_factor_makes_spread_a_standard_error(method):
    """Of a mean over 30 documents; from 4000 draws the spread itself errs by about 1 %."""
    x = np.random.default_rng(2).exponential(size=30)
    counts, factor = draw(method, 30, 4000, 3)
    means = counts @ x / counts.sum(axis=1)
    assert factor * means.std() == pytest.approx(x.std(ddof=1) / np.sqrt(30), rel=0.06)


def test_deterministic_and_blocks_change_nothing(monkeypatch):
    pool = made(1)
    one = intervals(pool, [0.5], resamples=30)
    monkeypatch.setattr("whichbird.study.intervals.WORK_CELLS", 1)
    two = intervals(pool, [0.5], resamples=30)
    assert np.allclose(one.spread, two.spread, atol=1e-9) and one.signature == two.signature
    assert not np.allclose(one.spread, intervals(pool, [0.5], resamples=30, seed=1).spread)
    assert "doc:12|bootstrap:30" in one.signature and "seed:7" in one.signature


def test_standard_errors_by_hand():
    """From the spread itself: of SPA, of a lead, of a change of lead."""
    found = intervals(made(1), [np.nan, 0.4, 0.6], resamples=50)
    x = found.spread
    assert found.se == pytest.approx(x.std(axis=0))
    assert found.lead_se(1)[0, 2] == pytest.approx((x[:, 1, 0] - x[:, 1, 2]).std())
    change = (x[:, 2, 0] - x[:, 2, 1]) - (x[:, 1, 0] - x[:, 1, 1])
    assert found.change_se(2, 1)[0, 1] == pytest.approx(change.std())
    assert (
        found.t == pytest.approx(quantile(0.05, 12))
        and (found.low <= found.spa).all()
        and (found.spa <= found.high).all()
    )


def test_targets_that_resamples_miss_are_counted():
    pool = made(1, documents=4)
    a, f = pool.adequacy.mean(axis=1), pool.fluency.mean(axis=1)
    low, high = wb.reachable(a, f)
    found = intervals(pool, [low + 1e-6, 0.5, high - 1e-6], resamples=60)
    assert found.reached[1] == 60 and found.reached.min() < 60
    few = found.reached * 2 < 60
    assert np.isnan(found.se[few]).all() and np.isfinite(found.se[~few]).all()
    for b in np.flatnonzero(few):
        assert found.ranks(b)[0].tolist() == [1] * 4 and found.ranks(b)[1].tolist() == [4] * 4


def test_segments_stand_for_documents_where_there_are_none():
    found = intervals(without(made(1), documents=None), resamples=20)
    assert found.documents == 60 and "segments as documents" in found.signature and np.isnan(found.betas).all()


def test_refusals():
    pool = made(1)
    with pytest.raises(ValueError, match="1 document; at least two"):
        intervals(without(pool, documents=("one",) * 60))
    for resamples in (0, 1, 1.5):
        with pytest.raises(ValueError, match="at least 2"):
            intervals(pool, resamples=resamples)
    with pytest.raises(ValueError, match="unknown method 'guess'"):
        intervals(pool, method="guess")
    with pytest.raises(ValueError, match="level"):
        intervals(pool, level=95)
    with pytest.raises(ValueError, match="reach"):
        intervals(pool, [0.0])
    with pytest.raises(ValueError, match="constant"):
        intervals(pool, scores={"flat": np.ones(pool.total.shape)})
    with pytest.raises(wb.DataError, match="natural balance only"):
        intervals(without(pool, adequacy=None, fluency=None), [0.5])


def test_rank_sets_by_hand():
    """Far apart: one rank each. All alike: any rank. One clearly last: it alone is fixed."""
    tiny = 1e-8 * np.eye(3)
    assert [x.tolist() for x in rank_sets(np.array([0.5, 0.9, 0.7]), tiny)] == [[3, 1, 2], [3, 1, 2]]
    assert [x.tolist() for x in rank_sets(np.full(3, 0.5), tiny)] == [[1, 1, 1], [3, 3, 3]]
    assert [x.tolist() for x in rank_sets(np.array([0.9, 0.9, 0.1]), tiny)] == [[1, 1, 3], [2, 2, 3]]


def test_two_scorers_that_are_one_are_never_told_apart():
    covariance = 0.01 * np.ones((2, 2))
    assert [x.tolist() for x in rank_sets(np.array([0.5, 0.5]), covariance)] == [[1, 1], [2, 2]]


def test_two_sided_p():
    """Student's t from a table: 2.776 with 4 degrees of freedom leaves 5 % outside."""
    p = two_sided(np.array([2.776, -2.776, 0.0, 0.0, 1.0]), np.array([1.0, 1.0, 1.0, 0.0, np.nan]), 5)
    assert p[:4] == pytest.approx([0.05, 0.05, 1, 1], abs=1e-4) and np.isnan(p[4])


def test_coverage_in_a_made_world():
    """The shipped way holds the truth about as often as it says; percentiles reflected at the estimate far too seldom.

    In 50 contests the share over five scorers and three targets, which go together, errs by about 2 %.
    """
    table = coverage(simulated("made"), contests=50, resamples=60, truth=300).set_index(["way", "quantity"])["covered"]
    for quantity in ("spa", "lead", "change", "rank"):
        assert table["bootstrap, spread", quantity] > 0.89
    assert table["bootstrap, spread", "spa"] < 0.99 and table["bootstrap, reflected", "spa"] < 0.88


def test_worlds_of_real_documents_have_contests_of_their_size():
    pool = made(1)
    contest = drawn_from(pool, [0.5]).contest(np.random.default_rng(0))
    assert contest.size.shape == (12,) and contest.size.sum() == 60


# --- verdicts --------------------------------------------------------------------------------------------------------


def plain_changes(spa, lead_se, change_se, p, documents, level=0.05):
    """The three statements in words, pair by pair, and the third by swaps."""
    places, moves, turns, swaps = set(), set(), set(), set()
    t = quantile(level, documents)
    for i in range(len(change_se)):
        for j in range(len(change_se)):
            lead, then = (s[i] - s[j] for s in spa)
            if i != j and abs(then - lead) > t * change_se[i, j]:
                moves.add((i, j))
            if lead > 0 > then:
                places |= {(i, j), (j, i)}
                if lead > t * lead_se[0][i, j] and -then > t * lead_se[1][i, j]:
                    turns |= {(i, j), (j, i)}
                if p[0][i, j] <= level and p[1][j, i] <= level:
                    swaps |= {(i, j), (j, i)}
    return places, moves, turns, swaps


def plain_holm(p, level=0.05):
    """Which of a list of p-values are rejected: step by step, until one is too large."""
    out = [False] * len(p)
    for step, n in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if p[n] > level / (len(p) - step):
            break
        out[n] = True
    return out


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_changes_follow_the_rules(seed):
    rng = np.random.default_rng(seed)
    spa, p, whole = rng.random((2, 5)), *(rng.random((2, 2, 5, 5)) ** 3)
    first, second, se = (x + x.T for x in 0.02 + 0.2 * rng.random((3, 5, 5)) ** 3)
    found = verdict.changes(tuple(spa), (first, second), se, 20, tuple(p), tuple(whole))
    places, moves, turns, swaps = plain_changes(spa, (first, second), se, p, 20)
    by_documents = plain_changes(spa, (first, second), se, whole, 20)[3]
    told = (found.places, found.moves, found.turns, found.turns_swaps, found.turns_swaps_documents)
    for x, want in zip(told, (places, moves, turns, swaps, by_documents), strict=True):
        assert {tuple(map(int, pair)) for pair in np.argwhere(x)} == want
    pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    leads = [[s[i] - s[j] for i, j in pairs] for s in spa]
    error = [[x[i, j] for i, j in pairs] for x in (first, second, se)]
    one, two, change = (two_sided(np.array(x), np.array(e), 20) for x, e in zip(
        (*leads, np.subtract(*leads)), error, strict=True))  # fmt: skip
    turn = [max(a, b) if pair in places else 1.0 for pair, a, b in zip(pairs, one, two, strict=True)]
    for x, claims in ((found.moves_holm, list(change)), (found.turns_holm, turn)):
        assert [bool(x[i, j]) for i, j in pairs] == plain_holm(claims)
    counts = found.counts()
    assert counts["places"] == len(places) // 2 and counts["turns"] == len(turns) // 2
    assert counts["moved"] == len(places & moves) // 2 >= counts["moved_holm"]


def test_a_moved_lead_is_no_turned_order():
    """Twenty standard errors of a change, and neither order beyond one: the old rule called that a real change of order."""
    spa, p = np.array([0.8, 0.79]), np.full((2, 2), 0.5)
    wide, narrow = np.full((2, 2), 0.02), np.full((2, 2), 0.001)
    found = verdict.changes((spa, spa[::-1]), (wide, wide), narrow, 50, (p, p))
    assert found.places[0, 1] and found.moves[0, 1] and found.moves_holm[0, 1]
    assert not found.turns.any() and not found.turns_swaps.any() and not found.turns_holm.any()


def test_too_few_documents_get_no_verdict():
    spa, p, se = np.array([0.9, 0.1]), np.full((2, 2), 0.5), np.full((2, 2), 0.001)
    sure, few = (verdict.changes((spa, spa[::-1]), (se, se), se, n, (p, p)) for n in (8, 7))
    assert sure.judged and sure.turns[0, 1] and sure.moves[0, 1]
    assert not few.judged and few.places[0, 1]
    assert not (few.turns | few.moves | few.turns_holm | few.moves_holm).any()
    v = verdict.load_significance("ted_ende")  # five documents
    assert v.documents == 5 and not v.judged and np.isnan(v.p_documents).all()
    counts = v.ends().counts()
    assert counts["places"] > 0 and counts["moved"] == counts["turns"] == 0


def test_few_orders_turn_in_what_ships():
    """All datasets, all pairs, from one end of the reliable interval to the other; the counts of issue after issue, recomputed here from
    leads and standard errors alone."""
    total = dict.fromkeys(verdict.COUNTS, 0)
    for name in wb.datasets(aspects=True):
        v = verdict.load_significance(name)
        t, (low, high) = quantile(0.05, v.documents), ([x[:, None] - x for x in v.spa[[1, -1]]])
        sure = (np.abs(low) > t * v.lead_se[1]) & (np.abs(high) > t * v.lead_se[-1]) & (low * high < 0)
        counts = v.ends().counts()
        assert counts["places"] == (low * high < 0).sum() // 2
        assert counts["turns"] == (sure.sum() // 2 if v.documents >= 8 else 0)
        total = {what: n + counts[what] for what, n in total.items()}
    assert total["turns"] <= 5 < total["turns_swaps"] < total["moved"] < 0.4 * total["places"]
    assert total["turns_holm"] == 0


@pytest.fixture(scope="module")
def built():
    pool = made(5, scorers=5)
    return pool, verdict.build_significance(pool, resamples=60)


def test_what_is_stored_is_what_was_computed(built, tmp_path):
    pool, arrays = built
    verdict.save_significance(arrays, tmp_path / "made.npz")
    v = verdict.load_significance("made", tmp_path / "made.npz")
    stops = v.betas[1:]
    tested, whole = (wb.significance(pool, stops, resamples=60, by=by) for by in ("segments", "documents"))
    found = intervals(pool, v.betas, resamples=60)
    a, f = pool.adequacy.mean(axis=1), pool.fluency.mean(axis=1)
    low, high = wb.reliable_interval(a, f)
    natural = int(np.abs(stops - wb.balance(a, f)).argmin())
    assert (stops[0], stops[-1]) == (low, high) and stops[natural] == wb.balance(a, f)
    for kept, test in ((v.p, tested), (v.p_documents, whole)):
        assert kept[1:] == pytest.approx(test.p, abs=1e-12) and kept[0] == pytest.approx(test.p[natural], abs=1e-12)
    assert not np.array_equal(v.p, v.p_documents) and np.array_equal(v.better(1), v.p_documents[1])
    assert v.se == pytest.approx(found.se, abs=1e-5) and np.array_equal(v.reached, found.reached)
    for b in (0, 1, len(v.betas) - 1):
        assert v.lead_se[b] == pytest.approx(found.lead_se(b), abs=1e-4)
        assert v.change_se[b] == pytest.approx(found.change_se(b, 0), abs=1e-4)
        assert (v.rank_low[b] == found.ranks(b)[0]).all() and (v.rank_high[b] == found.ranks(b)[1]).all()
    assert v.ends_se == pytest.approx(found.change_se(len(stops), 1), abs=1e-4)
    reported = wb.rank(pool).table.set_index("scorer")["spa"]
    assert v.spa[0] == pytest.approx([reported[s] for s in v.scorers], abs=1e-5)
    assert v.nearest(low) == 1 and v.nearest(high) == len(stops)
    with pytest.raises(ValueError, match="is expected"):
        v.nearest(0.0)
    assert v.clusters().min() == 1 and v.moved(1).shape == v.turned(1).shape == (5,)
    (row,) = verdict.summary([v]).to_dict("records")
    assert row["first"] == (v.clusters() == 1).sum() and row["pairs"] == 10
    assert max(row["moved"], row["turns"], row["turns_swaps"]) <= row["places"] <= 10 and row["judged"]


def test_without_aspects_there_is_one_balance():
    pool = without(made(5), adequacy=None, fluency=None)
    v = verdict.decode(verdict.build_significance(pool, resamples=20))
    assert v.p.shape == (1, 4, 4) and verdict.summary([v])["places"].item() == 0


def test_standing_is_what_its_parts_say(built, tmp_path, monkeypatch):
    """Computed where nothing ships; taken from the file where it does, and only your own pairs tested then."""
    pool, _ = built
    beta, own = 0.5, {"mine": 2 * pool.scorers["s1"] + pool.scorers["s0"]}
    spa = [0.9, 0.8, 0.7, 0.6, 0.5, 0.85]
    live = verdict.standing(pool, spa, beta, own, resamples=60)
    tested, found = wb.significance(pool, [beta], own, 60, by="segments"), intervals(pool, [beta], own, 60)
    assert live.scorers == (*pool.scorers, "mine") and live.stop is None
    assert np.array_equal(live.p, tested.p[0]) and np.array_equal(live.cluster, wb.clusters(spa, tested.p[0]))
    assert np.array_equal(live.rank_low, found.ranks(0)[0]) and np.array_equal(live.se, found.se[0])

    arrays = verdict.build_significance(pool)
    (tmp_path / "significance").mkdir()
    verdict.save_significance(arrays, tmp_path / "significance" / "made.npz")
    monkeypatch.setenv("WHICHBIRD_DATA", str(tmp_path))
    monkeypatch.setattr(verdict, "pool_of", lambda source: pool)
    v = verdict.load_significance("made")
    for at in (None, v.betas[1]):
        b = 0 if at is None else 1
        stored = verdict.standing("made", spa[:5], at)
        assert (
            np.array_equal(stored.p, v.p[b]) and np.array_equal(stored.rank_high, v.rank_high[b]) and stored.stop == at
        )
        mixed, whole = (verdict.standing(s, spa, at, own) for s in ("made", pool))
        assert np.array_equal(mixed.p, whole.p) and np.array_equal(mixed.cluster, whole.cluster)
    outside = verdict.standing(
        "made", spa[:5], wb.reachable(pool.adequacy.mean(axis=1), pool.fluency.mean(axis=1))[1] - 0.01
    )
    assert outside.stop is None and outside.p.shape == (5, 5)


def test_damaged_files(built, tmp_path):
    with pytest.raises(wb.DataError, match="no such file"):
        verdict.load_significance("nothing")
    (tmp_path / "bad.npz").write_bytes(b"PK")
    with pytest.raises(wb.DataError, match="not a readable"):
        verdict.load_significance("bad", tmp_path / "bad.npz")
    arrays = dict(built[1]) | {"info": np.frombuffer(b'{"format": 99}', dtype=np.uint8)}
    verdict.save_significance(arrays, tmp_path / "later.npz")
    with pytest.raises(wb.DataError, match="format 99"):
        verdict.load_significance("later", tmp_path / "later.npz")
    verdict.save_significance({k: x for k, x in built[1].items() if k != "p"}, tmp_path / "less.npz")
    with pytest.raises(wb.DataError, match="not a readable"):
        verdict.load_significance("less", tmp_path / "less.npz")
