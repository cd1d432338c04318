"""Averages over datasets, by hand; which file belongs to which dataset; `whichbird all`."""

import json
from dataclasses import replace

import numpy as np
import pytest
from owndata import field, refused, run

import whichbird as wb
from whichbird.data.matching import match, one_reference, score_files
from whichbird.study.average import average, freedom, long_table, opened, part, target
from whichbird.study.intervals import intervals

NAMES = ("ende24", "jazh24")


def made(name, seed=1):
    d = wb.load(name)
    return d.total[:, None] + np.random.default_rng(seed).normal(size=(len(d.systems), len(d.lines))).round(3)


@pytest.fixture(scope="module")
def parts():
    return [part(opened(name)) for name in NAMES]


def test_average_by_hand(parts):
    found = average(parts).set_index("scorer")
    tables = [wb.rank(wb.load(name)).table.set_index("scorer") for name in NAMES]
    common = set(tables[0].index) & set(tables[1].index)
    assert set(found.index) == common and len(common) < max(map(len, tables))
    for s in common:
        assert found.loc[s, "average_spa"] == pytest.approx(np.mean([t.loc[s, "spa"] for t in tables]), abs=1e-12)
        assert found.loc[s, "average_rank"] == np.mean([t.loc[s, "rank"] for t in tables])
        both = [v.clusters(0)[v.scorers.index(s)] for v in map(wb.load_significance, NAMES)]
        assert found.loc[s, "average_cluster"] == np.mean(both)
        # documents of two datasets are independent: variances add
        se = [v.se[0, v.scorers.index(s)] for v in map(wb.load_significance, NAMES)]
        half = (found.loc[s, "average_high"] - found.loc[s, "average_low"]) / 2
        assert half == pytest.approx(1.97 * np.hypot(*se) / 2, rel=0.01)
    assert found["rank"].tolist() == sorted(found["rank"]) and not found["own"].any()
    assert ((found["rank_low"] <= found["rank"]) & (found["rank"] <= found["rank_high"])).all()


def test_covariance_that_ships_is_that_of_the_intervals():
    v, again = wb.load_significance("ende24"), intervals("ende24")
    assert np.allclose(v.covariance(0), again.covariance(0), atol=2e-5)


def test_degrees_of_freedom():
    assert freedom([np.eye(1)], [50]) == 49 and freedom([np.eye(1), np.eye(1)], [50, 50]) == 98
    assert freedom([0 * np.eye(1), 0 * np.eye(1)], [5, 9]) == 4


def test_interval_of_an_average_covers(parts):
    """Two datasets with known errors: the average of normal draws lies inside in about 95 of 100 cases."""
    rng = np.random.default_rng(3)
    place = parts[0].standing.scorers.index("BLEU"), parts[1].standing.scorers.index("BLEU")
    truth = average(parts).set_index("scorer").loc["BLEU"]
    reach = (truth["average_high"] - truth["average_low"]) / 2
    se = [p.standing.se[i] for p, i in zip(parts, place, strict=True)]
    error = rng.normal(size=(4000, 2)) * se
    hits = (np.abs(error.mean(axis=1)) <= reach).mean()
    assert 0.93 < hits < 0.97


@pytest.mark.parametrize(("se", "cut"), [(0.1, "high"), (0.6, "low")])
def test_an_interval_of_an_average_stays_between_zero_and_one(parts, se, cut):
    """Equal, independent standard errors: .1 carries some intervals beyond 1, .6 below 0, too."""
    wide = [p._replace(standing=p.standing._replace(covariance=se**2 * np.eye(len(p.standing.se)))) for p in parts]
    found = average(wide)
    reach = 1.97 * se / np.sqrt(2) * np.array([[-1], [1]])
    plain = found["average_spa"].to_numpy() + reach
    ends = found[["average_low", "average_high"]].to_numpy().T
    assert ends == pytest.approx(np.where(plain < 0, 0, np.where(plain > 1, 1, plain)), abs=0.01 * se)
    assert (ends[1] == 1).any() and (ends >= 0).all() and (ends <= 1).all() and (ends[0] == 0).any() == (cut == "low")


def test_targets_are_refused_where_they_are_not_reliable():
    c = wb.contest(wb.load("ende24"))
    low, high = wb.reliable_interval(*c.aspects)
    assert target(c, None) is None and target(c, "high") == high and target(c, (low + high) / 2) == (low + high) / 2
    for beta, sentence in ((0.3, "is reliable from"), (0.001, "reaches")):
        with pytest.raises(wb.DataError, match=sentence):
            target(c, beta)
    with pytest.raises(wb.DataError, match="heen23 has no known balance"):
        target(wb.contest(wb.load("heen23")), "low")


def test_nothing_in_common(parts):
    table = parts[1].ranking.table
    strange = parts[1]._replace(ranking=replace(parts[1].ranking, table=table.assign(scorer=table["scorer"] + "x")))
    with pytest.raises(wb.DataError, match="no scorer takes part in all of ende24, jazh24"):
        average([parts[0], strange])
    with pytest.raises(wb.DataError, match="no dataset is left"):
        average([])


@pytest.mark.parametrize(
    "path, expected",
    [
        ("my.ende24.seg.score", ("ende24", "my", None)),
        ("ende24.csv", ("ende24", None, None)),
        ("ende24-my_metric-refB.seg.score", ("ende24", "my_metric", "refB")),
        ("a/wmt24/en-es/REMEDY-9b-refA.seg.score", ("enes24", "REMEDY-9b", "refA")),
        ("wmt21.tedtalks/zh-en/x-src.seg.score", ("ted_zhen", "x", None)),
        ("jazh24/mine.seg.score", ("jazh24", "mine", None)),
    ],
)
def test_files_are_matched_by_their_names(tmp_path, monkeypatch, path, expected):
    monkeypatch.chdir(tmp_path)
    found = match(path)
    assert found[1:] == (expected[0], expected[1] or tmp_path.name, expected[2])
    assert match(path, name="given").scorer == "given"


def test_files_are_matched_by_what_is_in_them(tmp_path):
    d = wb.load("jazh24")
    path = tmp_path / "mine.seg.score"
    path.write_text(field(made("jazh24"), d.systems), encoding="utf-8")
    assert match(path)[1:] == ("jazh24", "mine", None)
    path.write_text("x\t1\n", encoding="utf-8")
    with pytest.raises(wb.DataError, match="no dataset has its systems"):
        match(path)
    with pytest.raises(wb.DataError, match="is missing; all 13 rated systems"):
        match(path, ["jazh24"])


def test_folders_stand_for_their_files(tmp_path):
    with pytest.raises(wb.DataError, match="no file in it ends in"):
        score_files(tmp_path)
    for name in ("b.seg.score", "a.csv", "note.md"):
        (tmp_path / name).write_text("x")
    assert [p.name for p in score_files(tmp_path)] == ["a.csv", "b.seg.score"]


def test_references_that_files_name():
    assert one_reference("ende24", ["refB"]) == ("refB", None) and one_reference("ende24", [None]) == (None, None)
    assert one_reference("enes24", ["refC"])[1].endswith("yours saw refC; the shipped scorers are given refA")


def test_all_with_an_own_scorer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("jazh24", "enes24"):
        (tmp_path / f"mine.{name}.seg.score").write_text(field(made(name), wb.load(name).systems), encoding="utf-8")
    code, out, err = run("all", "--scores", ".", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["averaged_over"] == ["enes24", "jazh24"]
    mine = next(row for row in found["average"] if row["scorer"] == "mine")
    spa = [
        wb.rank(wb.load(n), None, {"mine": made(n)}).table.set_index("scorer").loc["mine", "spa"]
        for n in ("enes24", "jazh24")
    ]
    assert mine["own"] and mine["average_spa"] == pytest.approx(np.mean(spa), abs=1e-12)
    assert len(long_table([part(opened("jazh24"))])) == 31
    code, out, err = run("all", "--scores", ".", "--beta", "0.93")
    assert code == 0 and "note: left out: jazh24 is reliable from 0.9891 to 0.9975 only" in err
    assert "averaged over       enes24" in out and "yours" in out
    assert "unknown dataset 'edne24'; did you mean" in refused(*run("all", "--datasets", "edne24"))
    assert "no dataset is left at this balance" in refused(*run("all", "--datasets", "heen23", "--beta", "0.5"))
    assert "'middle' is no number" in refused(*run("all", "--beta", "middle"))
    assert "jazh24 has a scorer 'chrF' already" in refused(*run("all", "--scores", "chrF=mine.jazh24.seg.score"))
