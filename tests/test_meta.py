"""The registry of meta-metrics: a record is seen wherever scorers are ranked, and every column against the plain function."""

import json
from dataclasses import replace

import jsonschema
import numpy as np
import pytest
from owndata import human, run, wide

import whichbird as wb
from whichbird.cli.formats import schema
from whichbird.cli.program import parser
from whichbird.study.meta import METAMETRICS, MetaMetric, evidence, metametrics
from whichbird.study.sweep import sweep

PLAIN = {"pa": wb.pairwise_accuracy, "pearson": wb.pearson}  # what a column is to equal, from system means
ROUNDING = 1e-13  # some hundred additions of numbers below one


def squashed(x):
    """Numbers of any size between 0 and 1, in their order."""
    return 0.5 + x / (2 + 2 * np.abs(x))


def coin(human, y, w):
    """Scorers by their first system's mean, whatever people say."""
    return np.broadcast_to(squashed(y[..., 0]), (len(w), *y.shape[:-1]))


COIN = MetaMetric("coin", "Coin", "means", "a made one", coin)


def test_one_record_is_seen_everywhere(monkeypatch):
    """A record is all that a new meta-metric needs; no other one's numbers stand in for it."""
    monkeypatch.setitem(METAMETRICS, "coin", COIN)
    d = wb.load("ende24")
    worth = dict(zip(d.scorers, squashed(d.means[:, 0]), strict=True))
    table = wb.rank(d, 0.6, meta="coin").table
    assert table["coin"].tolist() == table["coin_natural"].tolist() == sorted(worth.values(), reverse=True)
    assert table["scorer"].map(worth).tolist() == table["coin"].tolist()
    assert table["rank_coin"].tolist() == table["coin"].rank(ascending=False, method="min").tolist()
    swept = wb.rank_sweep(d, [0.6, 0.7], meta=["spa", "coin"])
    assert swept["scorer"].map(worth).tolist() == swept["coin"].tolist()
    assert swept.drop(columns=["coin", "rank_coin"]).equals(wb.rank_sweep(d, [0.6, 0.7]))
    # a dial of adherence adds to a scorer's first system what its z-score is times the dial: one way for all
    assert set(sweep(d, [0.6], "coin", ["adherence"])["adherence"]) <= {0.0, 1.0}
    quantities = wb.placebo(d, draws=3, meta="coin").set_index("quantity")
    assert (quantities["observed"].drop("tau") == 0).all()  # it does not look at weights
    assert quantities.loc["tau", "observed"] == wb.rank_change([*worth.values()], [*worth.values()]).tau
    found = wb.intervals(d, [np.nan, 0.6], resamples=20, meta="coin")
    assert found.spa == pytest.approx(np.array([[*worth.values()]] * 2), abs=ROUNDING) and (found.se > 0).all()
    code, out, err = run("rank", "ende24", "--beta", "0.6", "--meta", "spa,coin", "--json")
    assert (code, err) == (0, "")
    printed = json.loads(out)
    jsonschema.validate(printed, schema())
    assert {"coin", "rank_coin", "coin_natural", "coin_se"} < set(printed["ranking"][0]) & set(schema()["$defs"])
    assert "coin" in parser("rank").parse_args(["rank", "ende24", "--meta", "coin"]).meta
    code, out, err = run("sweep", "ende24", "--step", "0.5", "--meta", "coin", "--bare", "--csv")
    assert code == 0 and "coin,rank_coin" in out.splitlines()[0]


@pytest.mark.parametrize("meta", PLAIN)
@pytest.mark.parametrize("name", ["ende24", "heen23"])
def test_means_against_the_plain_functions(name, meta):
    d = wb.load(name)
    known = d.aspects is not None
    people, k = sum(d.aspects) if known else d.total, len(d.systems)
    found = wb.rank(d, 0.7 if known else None, meta=meta)
    table = found.table.set_index("scorer").loc[list(d.scorers)]
    weights = {meta: found.weights["weight"].to_numpy(), f"{meta}_natural": np.ones(k)}
    for column, w in weights.items():
        expected = [PLAIN[meta](people, y, w) for y in d.means]
        assert table[column].to_numpy() == pytest.approx(expected, abs=ROUNDING)


@pytest.mark.parametrize("meta", [m for m in METAMETRICS if m != "spa"])
def test_resampled_as_if_the_drawn_documents_were_the_pool(meta):
    """A resample is the pool with its documents as often as they were drawn, brought to the target anew."""
    rng = np.random.default_rng(2)
    k, n = 5, 24
    aspects = -rng.poisson(2, size=(2, k, n)) + np.array([[[0], [1], [2], [3], [1]], [[1], [0], [2], [0], [3]]])
    total = aspects.sum(axis=0).astype(float)
    scorers = {s: total + rng.normal(size=(k, n)) * 2 for s in "xy"}
    documents = tuple(str(v) for v in np.repeat(np.arange(6), 4))
    pool = wb.Pool("made", tuple("abcde"), np.arange(n), n, total, *aspects.astype(float), scorers, documents=documents)
    low, high = wb.reliable_interval(*pool.aspects)
    targets = np.array([np.nan, (low + high) / 2])
    found = wb.intervals(pool, targets, resamples=8, meta=meta, seed=3)
    drawn = np.random.default_rng(3).multinomial(6, np.full(6, 1 / 6), size=8)
    made = np.full((8, 2, 2), np.nan)
    for r, times in enumerate(drawn):
        pick = np.concatenate([np.tile(np.arange(4 * g, 4 * g + 4), t) for g, t in enumerate(times)]).astype(int)
        again = replace(
            pool, lines=np.arange(n), total=total[:, pick], adequacy=pool.adequacy[:, pick], fluency=pool.fluency[:, pick],
            scorers={s: x[:, pick] for s, x in scorers.items()}, documents=None,
        )  # fmt: skip
        for b, target in enumerate(targets):
            try:
                table = wb.rank(again, None if np.isnan(target) else target, meta=meta).table
            except ValueError:  # not reached
                continue
            made[r, b] = table.set_index("scorer").loc[["x", "y"], meta]
    assert np.isnan(made[:, 0]).sum() == 0 and (~np.isnan(made[:, 1, 0])).sum() == found.reached[1] > 3
    expected = np.sqrt(6 / 5) * (made - np.nanmean(made, axis=0))
    assert found.spread == pytest.approx(expected, abs=1e-9, nan_ok=True)  # weights are solved to some 1e-12
    table = wb.rank(pool, targets[1], meta=meta).table.set_index("scorer").loc[["x", "y"], meta]
    assert found.spa[1] == pytest.approx(table.to_numpy(), abs=1e-9)


def test_your_own_scorers_and_another_reference():
    d, rng = wb.load("ende24"), np.random.default_rng(5)
    mine = rng.normal(size=(16, 487)) + d.total[:, None]
    for meta, plain in PLAIN.items():
        table = wb.rank(d, scores={"mine": mine}, meta=meta).table.set_index("scorer")
        assert table.loc["mine", meta] == pytest.approx(plain(d.adequacy + d.fluency, mine.mean(axis=1)), abs=ROUNDING)
    other = wb.load_pool("ende24", "refB")
    people, y = evidence(wb.contest(d, reference="refB"), "means")
    assert y == pytest.approx(np.array([x.mean(axis=1) for x in other.scorers.values()]), abs=1e-12)
    assert people == pytest.approx(d.adequacy + d.fluency, abs=0)


def test_own_data_on_the_command_line(tmp_path):
    (tmp_path / "human.csv").write_text(human())
    (tmp_path / "scores.csv").write_text(wide())
    words = [
        "evaluate",
        "--human",
        str(tmp_path / "human.csv"),
        "--scores",
        str(tmp_path / "scores.csv"),
        "--beta",
        "0.5",
    ]
    code, out, err = run(*words, "--meta", ",".join(METAMETRICS), "--json")
    assert (code, err) == (0, "")
    printed = json.loads(out)
    jsonschema.validate(printed, schema())
    assert set(METAMETRICS) < set(printed["ranking"][0])
    code, plain, _ = run(*words, "--json")
    assert [row["rank"] for row in json.loads(plain)["ranking"]] == [row["rank"] for row in printed["ranking"]]
    code, out, _ = run(*words, "--meta", ",".join(METAMETRICS))
    assert code == 0 and "#1" in out and "_se" not in out


def test_equal_scorers_share_a_rank():
    pool = wb.load_pool("zhen20")
    name = next(iter(pool.scorers))
    for meta in METAMETRICS:
        table = wb.rank("zhen20", scores={"twin": pool.scorers[name]}, meta=meta).table.set_index("scorer")
        column = "rank" if meta == "spa" else f"rank_{meta}"
        assert table.loc["twin", column] == table.loc[name, column]


@pytest.mark.parametrize("names", ["kendall", "spa,,pa", "", []])
def test_unknown_ones_are_refused(names):
    with pytest.raises(ValueError, match="meta-metric"):
        metametrics(names)
    if isinstance(names, str):
        code, out, err = run("rank", "ende24", "--meta", names)
        assert (code, out) == (2, "") and err.count("\n") == 1 and "meta-metric" in err


def test_what_cannot_be_computed_says_why():
    d = wb.load("ende24")
    for meta in METAMETRICS:
        if METAMETRICS[meta].needs != "p":
            with pytest.raises(wb.DataError, match="'mine' has p-values only"):
                wb.rank(d, scores={"mine": d.human_p}, meta=meta)
            with pytest.raises(wb.DataError, match="p-values only"):
                wb.rank(wb.contest(d)._replace(source=None), meta=meta)
        if not METAMETRICS[meta].dials:
            with pytest.raises(ValueError, match=meta):
                sweep(d, [0.6], meta)
    flat = wb.Pool(
        "flat", ("a", "b"), np.arange(3), 3, np.zeros((2, 3)), scorers={"x": np.array([[1, 2, 3], [4, 5, 6.0]])}
    )
    with pytest.raises(ValueError, match="people tie"):
        wb.rank(flat, meta="pa")
