"""The command line end to end: what it prints, against independent computation; what it refuses; what it leaves on disk."""

import csv
import errno
import importlib
import io
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tinytree
from goldens import CASES, FIXTURE, GOLDEN, unversioned, write_files
from owndata import ADEQUACY, FLUENCY, SCORERS, SYSTEMS, field, pairs, refused, run, wide

import whichbird as wb
from whichbird.cli import program as cli
from whichbird.cli.program import COMMANDS, parser
from whichbird.data import files, mtme, registry
from whichbird.study.story import story


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a reader's files, as the current one."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    return tmp_path


SOLVER = importlib.import_module("whichbird.solve.reweight")  # the package has a function of this name


def made(d, seed=1):
    """A scorer for a dataset: its human totals and noise, on all source lines."""
    return d.total[:, None] + np.random.default_rng(seed).normal(size=(len(d.systems), d.source_lines)).round(3)


def brute_p(x):
    """P-values of all pairs, straight from the definition."""
    signs = np.random.default_rng(4).integers(0, 2, size=(1000, x.shape[1])) * 2.0 - 1.0
    gaps = [x[i] - x[j] for i, j in itertools.combinations(range(len(x)), 2)]
    return np.array(
        [np.mean([(s * g).sum() >= g.sum() for s in signs]) for g in gaps]
    )  # scores are eighths: sums are exact


def brute_spa(human_p, scorer_p, w):
    pairs = list(itertools.combinations(range(len(w)), 2))
    mass = sum(w[i] * w[j] for i, j in pairs)
    return 1 - sum(w[i] * w[j] * abs(h - s) for (i, j), h, s in zip(pairs, human_p, scorer_p, strict=True)) / mass


# ---- golden results


def same(found, kept):
    """Equal but for the last digits of numbers: the solver stops when β is met to 1e-12, and machines round differently."""
    if isinstance(kept, dict):
        assert list(found) == list(kept)
        return all(same(found[k], kept[k]) for k in kept)
    if isinstance(kept, list):
        assert len(found) == len(kept)
        return all(map(same, found, kept))
    if isinstance(kept, float):
        assert found == pytest.approx(kept, rel=1e-8, abs=1e-8)
        return True
    assert found == kept
    return True


@pytest.mark.parametrize("case", CASES)
def test_golden(here, case):
    code, out, err = run(*CASES[case], "--json")
    assert (code, err) == (0, "")
    assert same(json.loads(unversioned(out)), json.loads((GOLDEN / f"{case}.json").read_text("utf-8")))


def test_golden_reweighting_is_the_published_fixture():
    kept = json.loads((GOLDEN / "reweight.json").read_text())
    assert [round(row["weight"], 4) for row in kept["weights"]] == [0.0088, 0.0861, 0.4245, 0.4806]
    assert (
        kept["certificate"] == "interval"
        and kept["reliable"] is False
        and kept["ess"] == pytest.approx(1 / (2 * 0.2093), rel=1e-3)
    )


def test_golden_evaluation_by_hand():
    kept = json.loads((GOLDEN / "evaluate.json").read_text())
    a, f = ADEQUACY.mean(axis=1), FLUENCY.mean(axis=1)
    assert kept["beta0"] == pytest.approx(a.var() / (a.var() + f.var()), rel=1e-12)
    pairs = [
        (a[i] - a[j]) ** 2 / ((a[i] - a[j]) ** 2 + (f[i] - f[j]) ** 2) for i, j in itertools.combinations(range(4), 2)
    ]
    assert kept["reachable"] == pytest.approx([min(pairs), max(pairs)], rel=1e-9)
    w = np.array([row["weight"] for row in kept["weights"]])
    va, vf = (w @ (x - w @ x) ** 2 for x in (a, f))
    assert va / (va + vf) == pytest.approx(0.5, abs=1e-11) and kept["ess"] == pytest.approx(1 / (w @ w), rel=1e-12)
    people = brute_p(ADEQUACY + FLUENCY)
    for row in kept["ranking"]:
        mine = brute_p(SCORERS[row["scorer"]])
        assert row["spa"] == pytest.approx(brute_spa(people, mine, w), abs=1e-11)  # printed in full
        assert row["spa_natural"] == pytest.approx(brute_spa(people, mine, np.ones(4)), abs=1e-12)
    assert [row["rank"] for row in kept["ranking"]] == [1, 2] and kept["ranking"][0]["spa"] > kept["ranking"][1]["spa"]


def test_golden_ranking_by_hand():
    kept, d = json.loads((GOLDEN / "rank.json").read_text()), wb.load("ende24")
    w = np.array([row["weight"] for row in kept["weights"]])
    for row in kept["ranking"]:
        p = d.scorer_p[d.scorers.index(row["scorer"])]
        assert row["spa"] == pytest.approx(brute_spa(d.human_p, p, w), abs=1e-11)
        assert row["spa_natural"] == pytest.approx(wb.spa_from_p(d.human_p, p), abs=1e-12)
    spa = [row["spa"] for row in kept["ranking"]]
    assert spa == sorted(spa, reverse=True) and len(spa) == 30
    v = wb.load_significance("ende24")  # PERM-BOTH and documents resampled, at the stop of that balance
    b = v.nearest(0.6)
    assert v.betas[b] == pytest.approx(0.6, abs=1e-12) and "tested_at" not in kept
    row = {row["scorer"]: row for row in kept["ranking"]}
    for column, expected in {"cluster": v.clusters(b), "rank_low": v.rank_low[b], "rank_high": v.rank_high[b]}.items():
        assert [row[s][column] for s in v.scorers] == expected.tolist()
    assert [row[s]["se"] for s in v.scorers] == pytest.approx(v.se[b], rel=1e-12)
    assert kept["signature"] == unversioned(f"{d.signature}|beta:0.6|{v.tests}")


def test_each_name_of_a_scorer_will_do(tmp_path):
    """XLsimDA and XLsimMqm have the same scores in 2024; WMT made the latter primary, and it is shown."""
    d = wb.load("jazh24")
    assert "XLsimMqm" in d.scorers and d.aliases["XLsimDA"] == "XLsimMqm" and "XLsimDA" not in d.scorers
    assert wb.load("ende23").aliases == {"instructscore": "sescoreX"}
    assert wb.load("ende20").aliases == {"bleurt-combi": "Yisi-combi"}  # no primaries known: the first
    compared = [run("compare", "jazh24", name, "BLEU", "--json") for name in ("XLsimDA", "XLsimMqm")]
    assert compared[0] == compared[1] and json.loads(compared[0][1])["first"] == "XLsimMqm"
    assert "'XLsimMqm' is compared with itself" in refused(*run("compare", "jazh24", "XLsimDA", "XLsimMqm"))
    swept = [
        run("sweep", "jazh24", "--show", name, "BLEU", "--step", "0.2", "--bare") for name in ("XLsimDA", "XLsimMqm")
    ]
    assert swept[0] == swept[1] and swept[0][0] == 0
    v = wb.load_significance("jazh24")
    assert story(v, "XLsimDA", "BLEU").sentence == story(v, "XLsimMqm", "BLEU").sentence
    said = refused(*run("compare", "jazh24", "XLsimMQM", "BLEU"))
    assert "jazh24 has no scorer 'XLsimMQM'" in said and "XLsimMqm" in said
    x = np.random.default_rng(1).normal(size=(len(d.systems), len(d.lines)))
    for name in ("XLsimDA", "XLsimMqm"):
        with pytest.raises(wb.DataError, match=f"jazh24 has a scorer '{name}' already"):
            wb.contest(d, {name: x})
    rows = [(n, "first", s, n % 2, 0.5) for n in range(4) for s in ("BLEU", "XLsimDA")]
    pairs = pd.DataFrame(rows, columns=["pair", "preferred", "scorer", "first", "second"])
    found = wb.calibrate(pairs, "jazh24", resamples=10)
    assert sorted(found.agreement.index) == ["BLEU", "XLsimMqm"]
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    code, out, _ = run("calibrate", str(tmp_path / "pairs.csv"), "--dataset", "jazh24", "--resamples", "10", "--json")
    assert code == 0 and {row["scorer"] for row in json.loads(out)["agreement"]} == {"BLEU", "XLsimMqm"}


def test_both_kinds_of_lines_are_counted():
    found = json.loads(run("datasets", "enru22", "--json")[1])
    assert (found["segments"], found["annotated"]) == (1315, 1215) and "|seg:1315|errors:1215|" in found["signature"]
    assert (
        sum(line["has_total"] for line in found["lines"]) == 1315
        and sum(line["has_errors"] for line in found["lines"]) == 1215
    )
    assert (
        sum(line["has_total"] and line["has_errors"] for line in found["lines"]) == 1203 and len(found["lines"]) == 1327
    )
    assert found["segments_left_out"] == ["710: rated for no system"]
    assert len(json.loads(run("template", "enru22", "--json")[1])["template"]) == 15 * 1315
    assert json.loads(run("beta", "enru22", "--json")[1])["segments"] == 1215


def test_golden_datasets_by_hand():
    rows = {row["name"]: row for row in json.loads((GOLDEN / "datasets.json").read_text())["datasets"]}
    assert list(rows) == wb.datasets() and len(rows) == 16
    assert [name for name, row in rows.items() if not row["paper"]] == [
        "ende20",
        "zhen20",
        "enru22",
        "enzh22",
        "ende23",
    ]
    hidden = rows["heen23"]
    assert (
        hidden["note"] == "its error ratings were not obtained"
        and hidden["beta0"] is None
        and hidden["reliable_min"] is None
    )
    d, row = wb.load("ende24"), rows["ende24"]
    assert (row["systems"], row["segments"], row["scorers"], row["note"]) == (16, 487, 30, "")
    for end in ("reliable_min", "reliable_max"):  # exactly 0.9 K there, by the certified solver
        assert wb.reweight(d.adequacy, d.fluency, row[end]).ess == pytest.approx(0.9 * 16, rel=1e-9)
    assert row["beta0"] == pytest.approx(0.782073, abs=5e-7) and row["beta_min"] == pytest.approx(
        0.007356, abs=5e-7
    )  # as published


def test_golden_calibration_by_hand():
    kept, d = json.loads((GOLDEN / "calibrate.json").read_text()), wb.load("ende24")
    assert kept["reliable_interval"] == pytest.approx(wb.beta_interval(d.adequacy, d.fluency, 0.9 * 16), rel=1e-12)
    # agreement, from the file's text
    points = {}
    for row in csv.DictReader(io.StringIO(pairs())):
        gap = (float(row["first"]) - float(row["second"])) * (1 if row["preferred"] == "first" else -1)
        points.setdefault(row["scorer"], []).append((gap > 0) / 2 + (gap >= 0) / 2)
    mine = {scorer: sum(x) / 5 for scorer, x in points.items()}
    assert {row["scorer"]: row["agreement"] for row in kept["agreement"]} == pytest.approx(mine, rel=1e-12)
    assert [row["agreement"] for row in kept["agreement"]] == sorted(mine.values(), reverse=True)
    # the match at every reliable balance; the answer has the largest
    names = list(mine)
    p = np.array([d.scorer_p[d.scorers.index(s)] for s in names])
    best = -1
    for row in kept["sweep"]:
        assert row["reliable"] == (kept["reliable_interval"][0] <= row["beta"] <= kept["reliable_interval"][1])
        if row["reliable"]:
            w = wb.reweight(d.adequacy, d.fluency, row["beta"]).weights
            spa = [brute_spa(d.human_p, x, w) for x in p]
            assert row["correlation"] == pytest.approx(
                np.corrcoef(list(mine.values()), spa)[0, 1], abs=1e-9
            )  # weights hold to 1e-11
            best = max(best, row["correlation"])
    assert best == kept["match"] == next(row["correlation"] for row in kept["sweep"] if row["beta"] == kept["beta"])
    # ranks are those of 'whichbird rank' there
    ranks = wb.rank(d, kept["beta"]).table.set_index("scorer")
    assert all(row["rank"] == ranks.loc[row["scorer"], "rank"] for row in kept["agreement"])
    assert kept["signature"] == unversioned(
        d.signature + "|pairs:5|by:correlation|ess:0.9|step:0.25|resamples:200|resampling seed:8"
        f"|beta:{kept['beta']:.12g}"
    )
    assert kept["verdict"].startswith("These 5 pairs cannot tell") or "β₀ = 0.782 of ende24" in kept["verdict"]


# ---- forms of output


@pytest.mark.parametrize("case", CASES)
def test_csv_holds_the_first_table_and_nothing_else(here, case):
    code, out, err = run(*CASES[case], "--csv")
    table = next(
        v for v in json.loads(run(*CASES[case], "--json")[1]).values() if isinstance(v, list) and isinstance(v[0], dict)
    )
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0 and len(rows) == len(table) and list(rows[0]) == list(table[0])
    for row, kept in zip(rows, table, strict=True):
        for name, value in kept.items():
            assert (
                row[name] == ("" if value is None else str(value)) or float(row[name]) == value
            )  # every digit is there
    assert ("|beta:" in err) == (
        case.partition("-")[0] in ("rank", "all", "evaluate", "calibrate")
    )  # the signature goes with it, beside the table
    assert ("|PERM-BOTH:" in err) == (case in ("rank", "rank-domain", "all", "compare", "evaluate", "evaluate-meta"))


def test_tables_for_people(here):
    code, out, _ = run("datasets")
    heen = next(line for line in out.splitlines() if line.startswith("heen23"))
    assert code == 0 and heen.count("not obtained") == 7 and "nan" not in out.lower()
    out = run("rank", "ende24", "--beta", "0.6")[1]
    assert out.splitlines()[-1].startswith(
        f"{wb.load('ende24').signature}|beta:0.6|PERM-BOTH:1000-10000|documents:171|"
    )
    assert re.search(r"^   1  XCOMET-QE +0\.9117 +1 +1 +17 +1 +0\.9229$", out, re.M) and re.search(
        r"^reliable +yes$", out, re.M
    )
    out = run("rank", "heen23")[1]
    assert "its error ratings were not obtained" in out and "|beta:natural|PERM-BOTH:1000-10000|" in out
    starts = {
        line.index("#")
        for line in run("sweep", "ende24", "--show", "BLEU", "--step", "0.5")[1].splitlines()
        if "#" in line
    }
    assert len(starts) <= 2  # aligned to the right, so that the sign moves by the digits of the rank alone


def test_rankings_without_tests(here):
    tested, bare = (json.loads(run(*CASES["rank"], "--json", *more)[1]) for more in ([], ["--bare"]))
    marks = {"cluster", "rank_low", "rank_high", "se"}
    assert (
        bare["signature"] + "|PERM-BOTH:1000-10000|documents:171|bootstrap:1000|testing seed:7" == tested["signature"]
    )
    for row, other in zip(tested["ranking"], bare["ranking"], strict=True):
        assert {k: v for k, v in row.items() if k not in marks} == other and marks <= set(row)
        assert 1 <= row["rank_low"] <= row["rank_high"] <= 30 and row["se"] > 0
    ranked = [row["cluster"] for row in tested["ranking"]]
    assert ranked == sorted(ranked) and ranked[0] == 1


def test_sweeps_carry_intervals_where_they_are_reliable(here):
    argv = ["sweep", "jazh24", "--step", "0.2", "--csv"]
    table = pd.read_csv(io.StringIO(run(*argv)[1]))
    bands = ["spa_low", "spa_high", "rank_low", "rank_high"]
    assert list(table)[-4:] == bands and table["reliable"].any() and not table["reliable"].all()
    assert (table[bands].notna().all(axis=1) == table["reliable"]).all()
    inner, v = table[table["reliable"]], wb.load_significance("jazh24")
    assert ((inner["spa_low"] <= inner["spa"]) & (inner["spa"] <= inner["spa_high"])).all()
    for row in inner.itertuples():
        b, m = v.nearest(row.beta), v.scorers.index(row.scorer)
        assert (row.rank_low, row.rank_high) == (v.rank_low[b, m], v.rank_high[b, m])
        assert row.spa_low == pytest.approx(max(0, row.spa - v.t * v.se[b, m]), abs=1e-9)
    bare = pd.read_csv(io.StringIO(run(*argv, "--bare")[1]))
    assert bare.equals(table[list(bare)]) and not set(bands) & set(bare)
    shown = run("sweep", "jazh24", "--step", "0.2")[1]
    assert re.search(r"0\.\d{4} #\d+ \(\d+-\d+\)", shown) and "nan" not in shown.lower()


def test_own_scorer_is_ranked_among_the_shipped(here):
    d = wb.load("ende24")
    x = made(d)
    Path("mine.seg.score").write_text(field(x, d.systems))
    found = json.loads(run("rank", "ende24", "--beta", "0.7", "--scores", "mine.seg.score", "--json")[1])
    w = wb.reweight(d.adequacy, d.fluency, 0.7).weights
    row = next(row for row in found["ranking"] if row["own"])
    assert row["scorer"] == "mine" and len(found["ranking"]) == 31
    expected = wb.spa_from_p(d.human_p, wb.p_values(x[:, d.lines], exact=False), w)
    assert row["spa"] == pytest.approx(expected, abs=1e-13)  # sums of 120 numbers below 1, in another order
    assert row["rank"] == 1 + sum(other["spa"] > row["spa"] for other in found["ranking"])
    out = run("rank", "ende24", "--scores", "x=mine.seg.score")[1]
    assert re.search(r"^ *\d+  x +0\.\d{4} +\d+ +\d+ +\d+  yours$", out, re.M)
    assert refused(*run("rank", "ende24", "--scores", "BLEU=mine.seg.score")).endswith(
        "name yours with --scores NAME=FILE"
    )
    assert "already" in refused(*run("rank", "ende24", "--scores", "mine.seg.score", "mine.seg.score"))


def test_library_and_command_line_agree(here):
    d = wb.load("enes24")
    x = made(d)
    Path("mine.seg.score").write_text(field(x, d.systems))
    table = wb.rank(d, 0.95, {"mine": x}).table
    shuffled = pd.DataFrame(x, index=list(d.systems)).sample(frac=1, random_state=1)
    assert wb.rank(d, 0.95, {"mine": shuffled}).table.equals(table) and wb.rank(
        d, 0.95, {"mine": x[:, d.lines]}
    ).table.equals(table)
    out = run("rank", "enes24", "--beta", "0.95", "--scores", "mine.seg.score", "--bare", "--csv")[1]
    assert out == table.to_csv(index=False)
    swept = wb.rank_sweep(d, [0.95], {"mine": x})
    assert swept.sort_values(["rank", "scorer"])["spa"].tolist() == table["spa"].tolist()
    with pytest.raises(ValueError, match=r"'mine'.*13, 5.*13 systems.*623"):
        wb.rank(d, 0.95, {"mine": np.ones((13, 5))})
    with pytest.raises(ValueError, match="'AIST-AIRC'|every system once"):
        wb.rank(d, 0.95, {"mine": shuffled.iloc[1:]})
    with pytest.raises(wb.DataError, match="enes24 has a scorer 'BLEU' already"):
        wb.rank(d, 0.95, {"BLEU": x})


def test_equal_scorers_share_a_rank():
    d = wb.load("ende24")
    x = made(d)
    table = wb.rank(d, 0.5, {"one": x, "two": 3 * x + 7}).table.set_index(
        "scorer"
    )  # scale and origin of scores change nothing
    assert table.loc["one", "spa"] == table.loc["two", "spa"] and table.loc["one", "rank"] == table.loc["two", "rank"]
    assert (table["rank"] != table.loc["one", "rank"] + 1).all()


def test_evaluate_needs_no_aspects_for_the_natural_balance(tmp_path):
    tree = tinytree.write(tmp_path, ratings=None)
    argv = ["evaluate", "--mtme", tree, "--set", "tiny", "--pair", "xx-yy"]
    found = json.loads(run(*argv, "--json")[1])
    assert found["note"] == "its error ratings were not obtained" and {r["scorer"] for r in found["ranking"]} == set(
        tinytree.KEPT
    )
    assert refused(*run(*argv, "--beta", "0.5")).startswith(
        "whichbird evaluate: tiny/xx-yy can be ranked at its natural balance only"
    )
    assert refused(*run(*argv, "--sweep")).startswith(
        "whichbird evaluate: tiny/xx-yy can be ranked at its natural balance only"
    )


def test_evaluate_reads_a_tree(tmp_path):
    tree = tinytree.write(tmp_path)
    mine = tmp_path / "mine.seg.score"
    mine.write_text("".join(f"{s}\t{v}\n" for s in ("alpha", "beta", "gamma") for v in tinytree.GOOD[s]))
    code, out, err = run(
        "evaluate", "--mtme", tree, "--set", "tiny", "--pair", "xx-yy", "--beta", "0.5", "--scores", mine, "--json"
    )
    found = json.loads(out)
    spa = {row["scorer"]: row["spa"] for row in found["ranking"]}
    assert code == 0 and set(spa) == {*tinytree.KEPT, "mine"} and spa["mine"] == spa["good"]
    assert [row["own"] for row in found["ranking"] if row["scorer"] == "mine"] == [True]
    assert "note: twin: same scores as good\n" in err and found["signature"].startswith(
        "tiny/xx-yy|sys:3|seg:3|ref:refA|perm:1000|seed:4|"
    )
    for argv, sentence in {
        ("--set", "tiny", "--pair", "xx-zz"): "no MQM scores of the pair 'xx-zz'; there is xx-yy",
        ("--set", "huge", "--pair", "xx-yy"): "no set 'huge'; there is tiny",
        ("--set", "tiny"): "--set and --pair are needed with --mtme",
    }.items():
        assert sentence in refused(*run("evaluate", "--mtme", tree, *argv))
    assert "no such folder" in refused(*run("evaluate", "--mtme", tmp_path / "no", "--set", "tiny", "--pair", "xx-yy"))


def test_unknown_categories_are_noted(here):
    rows = ["system\tdoc\tdoc_id\tseg_id\trater\tcategory\tseverity"]
    rows += [
        f"{s}\td\t1\t{n}\tr\t{c}\tMinor"
        for s, n, c in (
            ("a", 1, "gremlins"),
            ("a", 2, "Style/Awkward"),
            ("b", 1, "Accuracy/Omission"),
            ("b", 2, "no-error"),
            ("c", 1, "no-error"),
            ("c", 2, "no-error"),
        )
    ]
    Path("mqm.tsv").write_text("\n".join(rows))
    Path("x.seg.score").write_text(field([[1, 2], [3, 5], [4, 4]], "abc"))
    evaluate = ["evaluate", "--human", "mqm.tsv", "--scores", "x.seg.score", "--beta", "0.5"]
    for argv in (
        evaluate,
        ["beta", "mqm.tsv"],
        ["beta", "mqm.tsv", "--taxonomy", "terminology"],
        ["segments", "mqm.tsv"],
    ):
        assert re.search(
            r"mqm.tsv: 33% of its errors.*at most 20%.*--allow-uncounted.*'gremlins'", refused(*run(*argv))
        )
        code, out, err = run(*argv, "--allow-uncounted", "--json")
        assert code == 0 and err.count("1 × category 'gremlins' (in no aspect)") == err.count("gremlins") == 1
        found = json.loads(out)
        assert found["errors_counted"] == found["penalties_counted"] == pytest.approx(2 / 3)
    assert "mqm.tsv|sys:3|seg:2|ref:none|perm:1000|seed:4" in run(*evaluate, "--allow-uncounted")[1]
    assert "penalties counted   0.666667\n" in run(*evaluate, "--allow-uncounted")[1]


def test_names_of_mqm_core_give_the_same_balance(here):
    """Errors under the names of MQM-Core, and under those that WMT's raters use."""
    names = {
        "Accuracy/Mistranslation": "Accuracy/Mistranslation", "Linguistic conventions/Grammar": "Fluency/Grammar",
        "Linguistic conventions/Punctuation": "Fluency/Punctuation", "Locale conventions/Date format": "Locale convention/Date",
        "Terminology/Wrong term": "Wrong term", "Unintelligible": "Fluency/Grammar",
    }  # fmt: skip
    rng = np.random.default_rng(3)
    drawn = [
        (s, n, rng.choice(list(names)), rng.choice(["Major", "Minor"]))
        for n in range(40)
        for s in "abc"
        for _ in range(2)
    ]
    seen = []
    for spell in (str, names.get):
        rows = [f"{s}\td{n // 4}\t{n}\t{n}\tr\t{spell(c)}\t{v}" for s, n, c, v in drawn]
        Path("mqm.tsv").write_text("\n".join(["system\tdoc\tdoc_id\tseg_id\trater\tcategory\tseverity", *rows]))
        seen.append(run("beta", "mqm.tsv", "--json"))
    assert seen[0] == seen[1] and json.loads(seen[0][1])["errors_counted"] == 1


def test_one_document_is_ranked_without_tests(here):
    """Documents are resampled, which needs two of them; a ranking does not."""
    rows = ["system\tdoc\tdoc_id\tseg_id\trater\tcategory\tseverity"]
    rows += [
        f"{s}\td\t1\t{n}\tr\t{c}\tMinor"
        for n in range(1, 7)
        for k, s in enumerate("abc")
        for c in ["Style/Awkward"] * (1 + (n * k) % 3) + ["Accuracy/Omission"] * (n % 2 + k)
    ]
    Path("one.tsv").write_text("\n".join(rows))
    Path("x.seg.score").write_text(field(np.arange(18).reshape(3, 6) % 7, "abc"))
    Path("y.seg.score").write_text(field(np.arange(18).reshape(3, 6) % 5, "abc"))
    argv = ["evaluate", "--human", "one.tsv", "--scores", "x.seg.score", "y.seg.score"]
    for more in ([], ["--sweep", "--step", "0.25", "--plot", "x.svg"]):
        code, out, err = run(*argv, *more, "--json")
        said = (
            "note: one.tsv has one document, so there are no clusters and rank intervals; they need two to resample\n"
        )
        assert code == 0 and said in err
        assert json.loads(out) == json.loads(run(*argv, *more, "--json", "--bare", "--force")[1])
    Path("two.tsv").write_text(
        "\n".join([rows[0], *(r.replace("\td\t", "\te\t") if "\t6\tr" in r else r for r in rows[1:])])
    )
    code, out, err = run(*argv[:2], "two.tsv", *argv[3:], "--json")
    assert code == 0 and "|documents:2|" in json.loads(out)["signature"] and "resample" not in err


# ---- who takes part


def test_names_of_mt_metrics_eval(here):
    """What mt-metrics-eval calls a dataset stands wherever its name does; a folder of that name is not looked at."""
    (here / "wmt24" / "en-de").mkdir(parents=True)
    for argv in ("rank {} --bare", "datasets {}", "beta {}", "segments {}", "all --datasets {}", "template {}"):
        ours, theirs = (run(*argv.format(name).split(), "--json") for name in ("ende24", "wmt24/en-de"))
        assert ours == theirs and ours[0] == 0, argv
    assert "did you mean 'wmt24/en-de'" in refused(*run("rank", "wmt24/en-dee"))


def test_members_of_a_dataset():
    found, pool = json.loads(run("datasets", "ende24", "--json")[1]), wb.load_pool("ende24")
    kept = [(row["kind"], row["name"]) for row in found["members"] if row["kept"]]
    assert kept == [("system", s) for s in pool.systems] + [("scorer", s) for s in pool.scorers]
    out = {(row["kind"], row["name"]): row["reason"] for row in found["members"] if not row["kept"]}
    assert out[("system", "MSLC")] == "flagged by the organisers" and out[("system", "refB")] == "a human translation"
    assert all(out.values()) and not any(row["reason"] for row in found["members"] if row["kept"])
    assert [row["line"] for row in found["lines"]] == (
        pool.lines + 1
    ).tolist()  # counted from 1, as in tables of scores
    assert (found["reference"], found["reference_of_wmt"], found["in_the_paper"]) == ("refA", "refB", True)
    assert (found["systems"], found["scorers"], found["segments"], found["source_lines"]) == (16, 30, 487, 998)
    assert found["documents"] == len(set(pool.documents)) and found["raters"] == len(pool.rater_names)
    text = run("datasets", "ende24")[1]
    assert re.search(r"^system +MSLC +left out +flagged by the organisers$", text, re.M)
    assert re.search(r"^scorer +XCOMET-QE +kept$", text, re.M) and text.rstrip().endswith(wb.load("ende24").signature)
    rows = list(csv.DictReader(io.StringIO(run("datasets", "ende24", "--csv")[1])))
    assert [(row["kind"], row["name"], row["reason"]) for row in rows] == [
        (row["kind"], row["name"], row["reason"]) for row in found["members"]
    ]
    assert json.loads(run("datasets", "ende20", "--json")[1])["in_the_paper"] is False


# ---- two scorers


def test_golden_comparison_by_hand():
    kept, v = json.loads((GOLDEN / "compare.json").read_text("utf-8")), wb.load_significance("jazh24")
    d = wb.load("jazh24")
    i, j = (v.scorers.index(s) for s in (kept["first"], kept["second"]))
    rows = kept["comparison"]
    assert [row["beta"] for row in rows] == v.betas[1:].tolist()
    for b, row in enumerate(rows, start=1):
        w = wb.reweight(d.adequacy, d.fluency, row["beta"]).weights
        spa = [brute_spa(d.human_p, d.scorer_p[d.scorers.index(s)], w) for s in (kept["first"], kept["second"])]
        assert [row["spa_first"], row["spa_second"]] == pytest.approx(spa, abs=6e-6)  # kept in steps of 1e-5
        assert row["lead"] == pytest.approx(row["spa_first"] - row["spa_second"], abs=1e-12)
        assert (row["p_first"], row["p_second"]) == (v.p_documents[b, i, j], v.p_documents[b, j, i])
        assert (row["p_first_segments"], row["p_second_segments"]) == (v.p[b, i, j], v.p[b, j, i])
        assert row["lead_high"] - row["lead"] == pytest.approx(v.t * v.lead_se[b, i, j], abs=1e-12)
        better = "first" if row["p_first"] <= 0.05 else "second" if row["p_second"] <= 0.05 else ""
        assert row["better"] == better
    lead = [row["lead"] for row in rows]
    assert lead[0] * lead[-1] < 0 and kept["places"] is True
    assert (
        abs(lead[-1] - lead[0]) > v.t * v.ends_se[i, j] and kept["moves"] is True
    )  # the change of the lead beyond its interval
    sure = [abs(lead[b]) > v.t * v.lead_se[1:][b, i, j] for b in (0, -1)]
    assert kept["turns"] is all(sure) is False  # not so at both ends
    assert "the lead moves; the order does not turn" in kept["verdict"]


def test_comparison_for_people(here):
    out = run(*CASES["compare"])[1]
    kept = json.loads((GOLDEN / "compare.json").read_text("utf-8"))
    assert out.splitlines()[:2] == [kept["verdict"], ""] and unversioned(out.splitlines()[-1]) == kept["signature"]
    header = "beta spa_first spa_second lead lead_low lead_high better moves turns".split()
    at = next(n for n, line in enumerate(out.splitlines()) if line.split() == header)
    assert len(out.splitlines()) == at + 1 + len(kept["comparison"]) + 2  # a blank line and the signature
    only = run("compare", "heen23", "BLEU", "chrF")[1]  # its natural balance is all there is
    assert re.search(r"^natural +0\.7683", only, re.M) and "nan" not in only.lower()
    swapped = json.loads(run("compare", "jazh24", "bright-qe", "XCOMET-QE", "--json")[1])
    for one, other in zip(swapped["comparison"], kept["comparison"], strict=True):
        assert (one["lead"], one["p_first"]) == (-other["lead"], other["p_second"])


def test_an_own_scorer_is_compared(here):
    """A file with the scores of one that ships is that scorer: never better, never worse, and compared as that one is."""
    d, pool = wb.load("jazh24"), wb.load_pool("jazh24")
    Path("mine.seg.score").write_text(field(pool.scorers["XCOMET-QE"], d.systems))
    same = json.loads(run("compare", "jazh24", "mine", "XCOMET-QE", "--scores", "mine.seg.score", "--json")[1])
    assert {row["lead"] for row in same["comparison"]} == {0.0} and not (
        same["places"] or same["moves"] or same["turns"]
    )
    assert same["verdict"].startswith("mine and XCOMET-QE have equal SPA at all 11 reliable balances tried")
    found = json.loads(run("compare", "jazh24", "mine", "bright-qe", "--scores", "mine.seg.score", "--json")[1])
    kept = json.loads((GOLDEN / "compare.json").read_text("utf-8"))
    assert [r["lead"] for r in found["comparison"]] == pytest.approx([r["lead"] for r in kept["comparison"]], abs=1e-9)
    assert [found[x] for x in ("places", "moves", "turns")] == [kept[x] for x in ("places", "moves", "turns")]


def test_five_documents_get_no_verdict(here):
    found = json.loads(run("compare", "ted_ende", "BERTScore", "chrF", "--json")[1])
    assert found["moves"] is None and found["turns"] is None and isinstance(found["places"], bool)
    assert {row["turns"] for row in found["comparison"]} == {None} and "5 documents are too few" in found["verdict"]
    assert "nan" not in run("compare", "ted_ende", "BERTScore", "chrF")[1].lower()


# ---- what hangs on one system


def test_each_system_has_its_leverage():
    """In both commands the balance without a system is that of the others; where there is none the columns are not there."""
    for words in (["beta", "ende22"], ["datasets", "ende22"]):
        d, rows = wb.load("ende22"), json.loads(run(*words, "--json")[1])["means"]
        assert [row["system"] for row in rows] == list(d.systems)
        for k, row in enumerate(rows):
            assert row["beta0_without"] == pytest.approx(wb.balance(*(np.delete(x, k) for x in d.aspects)), rel=1e-12)
        assert sum(row["leverage"] for row in rows) == pytest.approx(13 / 12)
    assert re.search(r"^OpenNMT .* 0\.341 +0\.9000$", run("datasets", "ende22")[1], re.M)
    assert "means" not in json.loads(run("datasets", "heen23", "--json")[1])


def test_two_systems_have_no_balance_without_one(tmp_path):
    (tmp_path / "two.csv").write_text("system,segment,adequacy,fluency\na,1,-1,0\na,2,0,-1\nb,1,-3,0\nb,2,-1,0\n")
    code, out, _ = run("beta", str(tmp_path / "two.csv"), "--json")
    assert code == 0 and [row["beta0_without"] for row in json.loads(out)["means"]] == [None, None]
    assert "nan" not in run("beta", str(tmp_path / "two.csv"))[1]


def test_extreme_weights_are_named():
    d = wb.load("ende22")
    found = json.loads(run("rank", "ende22", "--beta", "0.89", "--bare", "--json")[1])
    w = 13 * wb.reweight(*d.aspects, 0.89).weights
    assert (found["system_least"], found["system_most"]) == (d.systems[w.argmin()], d.systems[w.argmax()])
    assert (found["weight_least"], found["weight_most"]) == pytest.approx((w.min(), w.max()), abs=1e-12)
    assert found["system_least"] == "OpenNMT" and found["vanishing"] == (w < 0.02).sum() == 1
    assert "system_least" not in json.loads(run("rank", "ende22", "--bare", "--json")[1])  # all weigh the same
    table = pd.read_csv(io.StringIO(run("sweep", "ende22", "--bare", "--step", "0.5", "--csv")[1]))
    for beta, rows in table.groupby("beta"):
        w = 13 * wb.reweight(*d.aspects, beta).weights
        assert rows["weight_most"].iloc[0] == pytest.approx(w.max(), abs=1e-9) and rows["vanishing"].nunique() == 1
    assert "OpenNMT" in run("sweep", "ende22", "--bare", "--step", "0.445", "--show", "BLEU")[1]


def test_compare_names_the_carrier():
    found = json.loads(run("compare", "ende22", "COMET-22", "SEScore", "--json")[1])
    assert (found["kept_without"], found["carrier"]) == (12, "OpenNMT")
    assert "OpenNMT" in found["verdict"] and "12" in found["verdict"]
    made = wb.profile("ende22", "COMET-22", "SEScore")
    assert (found["most_from"], found["lead_without"]) == (made.most, pytest.approx(made.without.min(), abs=1e-12))
    steady = json.loads(run("compare", "ende24", "XCOMET", "BLEU", "--json")[1])  # never change places
    assert not {"carrier", "kept_without"} & set(steady) and steady["lead_without"] > 0  # nor does any system decide


# ---- refusals


@pytest.mark.parametrize(
    "argv, sentence",
    [
        (["rank", "edne24"], "rank: unknown dataset 'edne24'; did you mean 'enes24' or 'ende24' or 'ende23'?"),
        (["sweep", "nothing"], "sweep: unknown dataset 'nothing'; there are ende20, zhen20, ende21, "),
        (["rank", "ende24", "--beta", "1.5"], "rank: ende24: beta is 1.5; a number from 0 to 1 is expected"),
        (["rank", "ende24", "--beta", "nan"], "rank: ende24: beta is nan; a number from 0 to 1 is expected"),
        (
            ["rank", "ende24", "--beta", "0.001"],
            "rank: ende24: beta = 0.001 cannot be reached; this pool reaches 0.007355810784027361 to 0.9999991265620347",
        ),
        (
            ["rank", "ende24", "--beta", "half"],
            "rank: argument --beta: 'half' is no number; 'whichbird rank --help' shows how",
        ),
        (
            ["rank", "heen23", "--beta", "0.5"],
            "rank: heen23 can be ranked at its natural balance only: its error ratings were not obtained",
        ),
        (["sweep", "heen23"], "sweep: heen23 can be ranked at its natural balance only"),
        (["sweep", "ende24", "--step", "0"], "sweep: argument --step: 0 is no number from 0.0001 to 1"),
        (["sweep", "ende24", "--show", "BLUE"], "sweep: --show: ende24 has no scorer 'BLUE'; did you mean"),
        (["reweight", "systems.csv"], "reweight: one of the arguments --beta --sweep --shares is required"),
        (
            ["reweight", "systems.csv", "--beta", "0.1"],
            "reweight: systems.csv: beta = 0.1 cannot be reached; this pool reaches 0.199169",
        ),
        (["evaluate", "--human", "human.csv"], "evaluate: --scores is needed with --human"),
        (
            ["evaluate", "--human", "human.csv", "--scores", "scores.csv", "--set", "x"],
            "evaluate: --set and --pair go with --mtme",
        ),
        (
            ["evaluate", "--human", "human.csv", "--scores", "scores.csv", "--reference", "refB"],
            "evaluate: --reference goes with a dataset or a tree: your scorers saw what you gave them",
        ),
        (
            ["evaluate", "--human", "human.csv", "--scores", "scores.csv", "--show", "nar"],
            "evaluate: --show: human.csv has no scorer 'nar'; did you mean 'near'",
        ),
        (
            ["evaluate", "--human", "human.csv", "--scores", "scores.csv", "--step", "2"],
            "evaluate: argument --step: 2 is no number from 0.0001 to 1",
        ),
        (
            ["evaluate", "--human", "human.csv", "--scores", "x=scores.csv"],
            "evaluate: scores.csv: 2 scorers are there (near, Far-2), so 'x' cannot name one",
        ),
        (
            ["evaluate", "--human", "human.csv", "--scores", "scores.csv", "scores.csv"],
            "evaluate: scores.csv: there is a scorer 'near' already; rename yours in the file",
        ),
        (["rank", "ende24", "--scores", "=scores.csv"], "rank: --scores =scores.csv: NAME=FILE or FILE is expected"),
        (["rank", "ende24", "--scores", "x="], "rank: --scores x=: NAME=FILE or FILE is expected"),
        (["rank", "ende24", "--scores", "no/x=y.csv"], "rank: no/x=y.csv: no such file"),
        (["rank", "ende24", "--scores", ""], "rank: argument --scores: '' is no file name"),
        (["rank", "ende24", "--beta", "0,5"], "rank: argument --beta: '0,5' is no number"),
        (["rank", "ende24", "--out", ""], "rank: argument --out: '' is no file name"),
        (["reweight", "systems.csv", "--beta", "0.7", "--plot", ""], "reweight: argument --plot: '' is no file name"),
        (
            ["calibrate", "pairs.csv", "--dataset", "ende24", "--step", "inf"],
            "calibrate: argument --step: inf is no number from 0.0001 to 1",
        ),
        (["datasets", "ende24", "x\ny"], ": unrecognized arguments: x y"),
        (["datasets", "x\ny"], "datasets: unknown dataset 'x\\ny'; there are "),
        (["datasets", "ende42"], "datasets: unknown dataset 'ende42'; did you mean 'ende24'"),
        (["compare", "ende24", "XCOMET"], "compare: ende24 XCOMET: a dataset and two scorers are expected"),
        (["compare", "ende42", "XCOMET", "BLEU"], "compare: unknown dataset 'ende42'; did you mean 'ende24'"),
        (["compare", "ende24", "XCOMET", "BLUE"], "compare: ende24 has no scorer 'BLUE'; did you mean 'BLEU'"),
        (["compare", "ende24", "BLEU", "BLEU"], "compare: 'BLEU' is compared with itself; two scorers are needed"),
        (
            ["compare", "ende24", "BLEU", "chrF", "--reference", "refC"],
            "compare: ende24 ships scorers with refA (the paper's) and refB (WMT's), not with 'refC'",
        ),
        (["compare", "ende24", "mine", "chrF", "--scores", "mine=no.csv"], "compare: no.csv: no such file"),
        (["compare", "ende24", "BLEU", "chrF", "--plot", "x.txt"], "compare: --plot x.txt: a name that ends in"),
        (["evaluate", "--scores", "scores.csv"], "evaluate: no data: one source is expected: --human FILE, or --mtme"),
        (
            ["evaluate", "--human", "human.csv", "--scores", "scores.csv", "--beta", "0.0001"],
            "evaluate: human.csv: beta = 0.0001 cannot be reached",
        ),
        (
            ["calibrate", "pairs.csv"],
            "calibrate: no data: one source is expected: --dataset NAME, as 'whichbird datasets'",
        ),
        (
            ["calibrate", "pairs.csv", "--dataset", "ende42"],
            "calibrate: unknown dataset 'ende42'; did you mean 'ende24'",
        ),
        (
            ["calibrate", "pairs.csv", "--dataset", "heen23"],
            "calibrate: heen23 can be ranked at its natural balance only",
        ),
        (
            ["calibrate", "pairs.csv", "--dataset", "ende24", "--by", "luck"],
            "calibrate: argument --by: invalid choice: 'luck'",
        ),
        (
            ["calibrate", "pairs.csv", "--dataset", "ende24", "--ess", "90"],
            "calibrate: ess is 90.0; a share of the number of systems",
        ),
        (
            ["calibrate", "pairs.csv", "--dataset", "ende24", "--step", "1e-9"],
            "calibrate: argument --step: 1e-9 is no number from 0.0001 to 1",
        ),
        (
            ["calibrate", "pairs.csv", "--dataset", "ende24", "--resamples", "0"],
            "calibrate: resamples is 0; a number from 1 to 100000",
        ),
        (
            ["calibrate", "pairs.csv", "--dataset", "ende24", "--resamples", "2e3"],
            "calibrate: argument --resamples: '2e3' is no whole number",
        ),
        (
            ["calibrate", "pairs.csv", "--dataset", "ende24", "--seed", "-1"],
            "calibrate: seed is -1; a whole number from 0",
        ),
        (["datasets", "--json", "--csv"], "datasets: argument --csv: not allowed with argument --json"),
        (["rnak", "ende24"], ": argument command: invalid choice: 'rnak'"),
        ([], ": the following arguments are required: command"),
    ],
)
def test_refusals(here, argv, sentence):
    assert refused(*run(*argv)).startswith(f"whichbird{'' if sentence[0] == ':' else ' '}{sentence}")


PAIRS = pairs()
BAD_PAIRS = {  # what is wrong: (content, the sentence after the file's name)
    "empty": ("", "the file is empty"),
    "header only": (PAIRS.split("\n")[0], "no row follows the header"),
    "no column": (
        PAIRS.replace("scorer", "metric"),
        "line 1 has no column 'scorer'; the header must name pair, preferred, scorer, first, second",
    ),
    "column twice": (
        PAIRS.replace("second\n", "Second,second\n", 1),
        "line 1, column 5: the name 'second' is there twice",
    ),
    "wrong encoding": (
        PAIRS.replace("p1", "pä", 1).encode("latin-1"),
        "line 2: byte 36 is not UTF-8 text; save the file as UTF-8",
    ),
    "too few columns": (PAIRS + "p9,first,BLEU,1\n", "line 17 has 4 columns where the header has 5"),
    "too many columns": (PAIRS + "p9,first,BLEU,1,5,0\n", "line 17 has 6 columns where the header has 5"),
    "bad quotes": (PAIRS + '"p"9,first,BLEU,1,2\n', "line 17 is no row of a table"),
    "no pair": (PAIRS + ",first,BLEU,1,2\n", "line 17, column 1 (pair) is empty; a name is expected"),
    "no scorer": (PAIRS + "p9,first,,1,2\n", "line 17, column 3 (scorer) is empty; a name is expected"),
    "no side": (PAIRS + "p9,,BLEU,1,2\n", "line 17, column 2 (preferred) has ''; first or second is expected"),
    "another side": (
        PAIRS + "p9,left,BLEU,1,2\n",
        "line 17, column 2 (preferred) has 'left'; first or second is expected",
    ),
    "both sides": (
        PAIRS.replace("p1,first,chrF", "p1,second,chrF"),
        "line 3, column 2 (preferred) has 'second' for pair 'p1', where line 2 has 'first'",
    ),
    "no number": (
        PAIRS + "p9,first,BLEU,high,2\n",
        "line 17, column 4 (first) has 'high'; a finite number is expected",
    ),
    "no score": (PAIRS + "p9,first,BLEU,1,\n", "line 17, column 5 (second) has ''; a finite number is expected"),
    "NaN": (PAIRS + "p9,first,BLEU,1,nan\n", "line 17, column 5 (second) has 'nan'; a finite number is expected"),
    "infinity": (PAIRS + "p9,first,BLEU,-inf,1\n", "line 17, column 4 (first) has '-inf'; a finite number is expected"),
    "too large": (
        PAIRS + "p9,first,BLEU,1,1e200\n",
        "line 17, column 5 (second) has '1e200'; a score between -1e100 and 1e100",
    ),
    "unknown scorer": (
        PAIRS + "p1,first,CHRF2,1,2\n",
        "line 17, column 3 (scorer) has 'CHRF2', which is none of the 30 scorers",
    ),
    "misspelt scorer": (
        PAIRS.replace("chrF", "chrf"),
        "line 3, column 3 (scorer) has 'chrf', which is none of the 30 scorers; did you mean 'chrF' or 'chrfS'",
    ),
    "repeated row": (
        PAIRS + "p1,first,BLEU,1,2\n",
        "line 17 repeats pair 'p1' for scorer 'BLEU', which line 2 has already",
    ),
    "incomplete": (
        PAIRS + "p9,first,BLEU,1,2\n",
        "scorer 'COMET-22' has no score of pair 'p9'; every scorer must score every pair",
    ),
    "one pair": (
        "\n".join(PAIRS.split("\n")[:4]),
        "the pairs number 1 and the scorers 3; at least two of each are needed",
    ),
    "one scorer": (pairs(["BLEU"]), "the pairs number 5 and the scorers 1; at least two of each are needed"),
}


@pytest.mark.parametrize("flaw", BAD_PAIRS)
def test_bad_pairs(here, flaw):
    text, sentence = BAD_PAIRS[flaw]
    Path("bad.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    said = refused(*run("calibrate", "bad.csv", "--dataset", "ende24"))
    assert said.startswith(f"whichbird calibrate: bad.csv: {sentence}")


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n"),
        lambda raw: raw.rstrip(b"\n"),
        lambda raw: raw + b"\n,,,,\n",
        lambda raw: raw.replace(b",", b";"),
        lambda raw: raw.replace(b",", b"\t"),
        lambda raw: raw.replace(b"first,", b" First ,"),
    ],
    ids=["bom and crlf", "no last line end", "blank rows after", "semicolons", "tabs", "case and spaces"],
)
def test_harmless_differences_of_pairs(here, change):
    Path("other.csv").write_bytes(change(PAIRS.encode()))
    argv = ["--dataset", "ende24", "--step", "1", "--resamples", "20", "--json"]
    assert run("calibrate", "other.csv", *argv) == run("calibrate", "pairs.csv", *argv)


def test_calibration_with_an_own_scorer(here):
    d = wb.load("ende24")
    x = made(d)
    Path("mine.seg.score").write_text(field(x, d.systems))
    Path("own.csv").write_text(pairs(["BLEU", "chrF", "mine", "COMET-22"]))
    argv = ["calibrate", "own.csv", "--dataset", "ende24", "--resamples", "50"]
    found = json.loads(run(*argv, "--scores", "mine.seg.score", "--json")[1])
    expected = wb.calibrate(wb.read_pairs("own.csv"), d, {"mine": x[:, d.lines]}, resamples=50)
    assert (found["beta"], found["match"], found["resampled_interval"]) == (
        expected.beta,
        expected.match,
        list(expected.interval),
    )
    assert found["verdict"] == expected.verdict and [
        row["own"] for row in found["agreement"] if row["scorer"] == "mine"
    ] == [True]
    assert {row["scorer"]: row["agreement"] for row in found["agreement"]} == expected.agreement.to_dict()
    assert "(scorer) has 'mine', which is none of the 30 scorers" in refused(*run(*argv))


def test_a_scorer_that_no_pair_names_is_noted(here):
    d = wb.load("ende24")
    Path("mine.seg.score").write_text(field(made(d), d.systems))
    argv = [*CASES["calibrate"], "--json"]
    code, out, err = run(*argv, "--scores", "mine.seg.score")
    assert (code, err) == (0, "note: pairs.csv has no pair scored by 'mine', so that scorer's file is not used\n")
    used, unused = json.loads(out), json.loads(run(*argv)[1])
    ranks = [row.pop("rank") for row in used["agreement"]], [row.pop("rank") for row in unused["agreement"]]
    assert all(
        one >= two for one, two in zip(*ranks, strict=True)
    )  # it is ranked all the same, and may come before others
    assert used["beta"] == unused["beta"] and used["sweep"] == unused["sweep"]


def test_no_dataset_at_all(tmp_path, monkeypatch):
    monkeypatch.setenv("WHICHBIRD_DATA", str(tmp_path))
    assert refused(*run("datasets")) == f"whichbird datasets: {tmp_path}: no dataset is there; run 'make data'"


def test_numbers_of_any_size_are_legible(here):
    Path("wide.csv").write_text("system,adequacy,fluency\na,1e39,-0\nb,2e39,1e-7\nc,0,2e-7\n")
    out = run("reweight", "wide.csv", "--beta", "1")[1]
    assert (
        re.search(r"^a +1e\+39 +0 +\d", out, re.M)
        and re.search(r"^b +2e\+39 +1e-07 +\d", out, re.M)
        and "-0" not in out.replace("e-07", "")
    )


def test_the_step_of_a_plot_is_the_one_asked_for(here, monkeypatch):
    from whichbird.show import figures

    drawn = []
    draw = figures.ranks_over_beta
    monkeypatch.setattr(
        figures, "ranks_over_beta", lambda table, *rest, **more: drawn.append(table) or draw(table, *rest, **more)
    )
    assert run(*CASES["evaluate"], "--step", "0.25", "--plot", "x.svg")[0] == 0
    found = json.loads(run(*CASES["evaluate-sweep"], "--json")[1])["sweep"]
    assert drawn[0]["beta"].tolist() == [row["beta"] for row in found]


def test_names_with_equals_signs(here):
    Path("scores.csv").rename("a=b.csv")
    assert "scorer" in run("evaluate", "--human", "human.csv", "--scores", "a=b.csv")[1]
    one = "\n".join(",".join(row.split(",")[:3]) for row in wide().splitlines())
    Path("one.csv").write_text(one)
    found = json.loads(run("evaluate", "--human", "human.csv", "--scores", "x y=one.csv", "one.csv", "--json")[1])[
        "ranking"
    ]
    assert [row["scorer"] for row in found] == ["near", "x y"] and found[0]["spa"] == found[1][
        "spa"
    ]  # a column is renamed too


def test_calibration_for_people(here):
    out = run(*CASES["calibrate"])[1].splitlines()
    kept = json.loads((GOLDEN / "calibrate.json").read_text())
    assert out[:2] == [kept["verdict"], ""] and unversioned(out[-1]) == kept["signature"]
    at = next(n for n, line in enumerate(out) if line.startswith("scorer "))
    assert [line.split()[0] for line in out[at + 1 : at + 4]] == [row["scorer"] for row in kept["agreement"]]


def test_match_plot_shows_what_was_found():
    from whichbird.show import figures

    found = wb.calibrate(pd.read_csv(io.StringIO(PAIRS)), "ende24", resamples=50)
    (ax,) = figures.match_over_beta(found).axes
    box = ax.patches[0].get_path().get_extents(ax.patches[0].get_patch_transform())
    assert (box.x0, box.x1) == pytest.approx(found.reliable, rel=1e-12)
    drawn = {line.get_label(): line for line in ax.lines}
    low, high = found.interval
    assert list(drawn[f"90 % of resamples: {low:.3f} to {high:.3f}"].get_xdata()) == [low, high]
    assert (drawn[f"best reliable: β = {found.beta:.3f}"].get_xydata() == [[found.beta, found.match]]).all()
    assert any(len(line.get_xdata()) == len(found.table) for line in ax.lines)


def test_names_that_would_break_the_line_do_not(here):
    Path("two\nlines.csv").write_text("system,adequacy,fluency\n\x1b[31m,1,x\n")
    assert "\x1b" not in refused(*run("reweight", "two\nlines.csv", "--beta", "0.5"))
    Path("odd.csv").write_text('system,adequacy,fluency\n"\x1b[31m\nq",0,0\n$x$,2,1\nz,0,3\n')
    code, out, err = run("reweight", "odd.csv", "--beta", "0.5", "--plot", "odd.svg")
    assert (code, err) == (0, "") and "\x1b" not in out and out.count("\n") == 13


# ---- files


def test_a_dash_is_standard_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for form in ("--csv", "--json"):
        plain, dashed = run("rank", "ende24", form), run("rank", "ende24", form, "--out", "-")
        assert dashed == plain and plain[0] == 0
    assert run("rank", "ende24", "--out", "-") == run("rank", "ende24", "--csv")
    assert not list(tmp_path.iterdir())


def test_output_files(here):
    assert run("reweight", "systems.csv", "--beta", "0.7", "--out", "w.csv")[0] == 0
    kept = Path("w.csv").read_text()
    assert pd.read_csv("w.csv")["weight"].sum() == pytest.approx(1, abs=1e-12)
    assert refused(*run("reweight", "systems.csv", "--beta", "0.8", "--out", "w.csv")).endswith(
        "w.csv: is there already; --force replaces it"
    )
    assert Path("w.csv").read_text() == kept
    assert run("reweight", "systems.csv", "--beta", "0.8", "--out", "w.csv", "--force")[0] == 0
    assert Path("w.csv").read_text() != kept
    code, out, _ = run("rank", "ende24", "--json", "--out", "r.json")
    assert code == 0 and Path("r.json").read_text() == out
    assert sorted(p.name for p in Path().iterdir()) == [
        "human.csv",
        "pairs.csv",
        "r.json",
        "scores.csv",
        "systems.csv",
        "w.csv",
    ]


@pytest.mark.parametrize(
    "argv, sentence",
    [
        (["--plot", "x.jpeg"], "--plot x.jpeg: a name that ends in .svg, .png, .pdf is expected"),
        (["--plot", "no/x.svg"], "no/x.svg: there is no folder 'no'"),
        (["--out", "new/"], "new/: names a folder; a file name is expected"),
        (["--out", "."], ".: is there already and no file; name another"),
        (["--out", "x.svg", "--plot", "./x.svg"], "--plot and --out both name ./x.svg; two names are needed"),
    ],
)
def test_outputs_are_checked_before_any_work(here, monkeypatch, argv, sentence):
    monkeypatch.setattr(SOLVER, "reweight", None)  # would fail if it were reached
    assert refused(*run("reweight", "systems.csv", "--beta", "0.7", *argv)) == f"whichbird reweight: {sentence}"


def test_places_that_cannot_be_written(here, monkeypatch):
    monkeypatch.setattr(SOLVER, "reweight", None)  # would fail if it were reached
    Path("away.csv").symlink_to("no/where.csv")
    Path("loop.csv").symlink_to("loop.csv")
    argv = ["reweight", "systems.csv", "--beta", "0.7", "--out"]
    assert refused(*run(*argv, "away.csv")).endswith(f": away.csv: there is no folder {str(here.resolve() / 'no')!r}")
    loop = "whichbird reweight: loop.csv: cannot be written (Too many levels of symbolic links)"
    assert refused(*run(*argv, "loop.csv")) == loop
    with monkeypatch.context() as other:  # Python 3.13 follows a loop without complaint, 3.11 does not
        other.setattr(files.Path, "resolve", lambda self, strict=False: Path(os.path.abspath(self)))
        assert refused(*run(*argv, "loop.csv")) == loop
    assert refused(*run(*argv, "x" * 999)).endswith("x: cannot be written (File name too long)")
    monkeypatch.setattr(files.os, "access", lambda *_: False)
    assert (
        refused(*run(*argv, "w.csv"))
        == "whichbird reweight: w.csv: its folder cannot be written to (Permission denied)"
    )


def test_a_link_stays_one(here):
    Path("w.csv").write_text("old")
    Path("link.csv").symlink_to("w.csv")
    assert run(*CASES["reweight"], "--out", "link.csv")[0] == 2 and Path("w.csv").read_text() == "old"
    assert run(*CASES["reweight"], "--out", "link.csv", "--force")[0] == 0
    assert Path("link.csv").is_symlink() and Path("w.csv").read_text().startswith("system,")


@pytest.mark.parametrize("case", ["reweight", "reweight-sweep", "compare", "evaluate", "evaluate-sweep", "calibrate"])
def test_plots(here, case):
    for name in ("one.svg", "two.svg"):
        assert run(*CASES[case], "--plot", name)[0] == 0
    svg = Path("one.svg").read_bytes()
    assert (
        svg == Path("two.svg").read_bytes() and svg.startswith(b"<?xml") and b"<svg" in svg
    )  # the same data gives the same file


@pytest.mark.parametrize("name, start", [("x.png", b"\x89PNG"), ("x.PDF", b"%PDF")])
def test_kinds_of_figures(here, name, start):
    assert run(*CASES["reweight"], "--plot", name)[0] == 0 and Path(name).read_bytes().startswith(start)


def test_sweep_plot_shades_the_reliable_interval():
    from whichbird.show import figures

    d = wb.load("ende24")
    interval = wb.reliable_interval(d.adequacy, d.fluency)
    table = wb.rank_sweep(d, [0.3, 0.6, 0.9])
    top, bottom = figures.ranks_over_beta(table, interval, ["BLEU"], 0.6).axes
    for ax in (top, bottom):
        box = ax.patches[0].get_path().get_extents(ax.patches[0].get_patch_transform())
        assert (box.x0, box.x1) == pytest.approx(interval, rel=1e-12)
    rows = table[table["scorer"] == "BLEU"]
    drawn = next(line for line in top.lines if line.get_label() == "BLEU")
    assert drawn.get_ydata().tolist() == rows["spa"].tolist() and len(top.lines) == 31  # 30 scorers and the mark at 0.6
    assert bottom.lines[-1].get_ydata().tolist() == rows["rank"].tolist()
    assert rows["reliable"].tolist() == [False, True, False]


def test_interruption_leaves_nothing_half_written(here, monkeypatch):
    Path("w.csv").write_text("old")

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "replace", stop)
    code, out, err = run("reweight", "systems.csv", "--beta", "0.7", "--out", "w.csv", "--force")
    assert (code, err) == (130, "whichbird reweight: interrupted\n")
    assert Path("w.csv").read_text() == "old" and not list(Path().glob(".*"))


@pytest.mark.parametrize("code, number", [(2, n) for n in sorted(cli.NO_PLACE)] + [(1, errno.ENOSPC), (1, errno.EIO)])
def test_a_place_is_input_and_a_broken_disk_a_failure(here, monkeypatch, code, number):
    def fail(*_):
        raise OSError(number, os.strerror(number), "x")

    monkeypatch.setattr(SOLVER, "reweight", fail)
    assert run("reweight", "systems.csv", "--beta", "0.7") == (
        code,
        "",
        f"whichbird reweight: x: {os.strerror(number)}\n",
    )


def test_trees_with_names_too_long(here):
    argv = ["evaluate", "--set", "a", "--pair", "b", "--mtme"]
    said = refused(*run(*argv, "x" * 999))  # from Python 3.14 on such a folder is just not there
    assert said.endswith("x: File name too long") or "x: no such folder; " in said


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder in which nobody can make a file")
def test_a_folder_in_which_nobody_can_make_a_file(here):
    said = refused(*run("reweight", "systems.csv", "--beta", "0.7", "--csv", "--out", "/proc/w.csv"))
    assert said.startswith("whichbird reweight: /proc/w.csv: ")


def test_failures_are_one_sentence_and_exit_1(here, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", ".123.part")

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", full)
        assert run("reweight", "systems.csv", "--beta", "0.7", "--out", "w.csv")[::2] == (
            1,
            "whichbird reweight: w.csv: No space left on device\n",
        )
    assert not Path("w.csv").exists() and not list(Path().glob(".*"))
    for error, said in ((RuntimeError("odd\nthing"), "failed: odd thing"), (MemoryError(), "failed: MemoryError")):

        def fail(*_, error=error):
            raise error

        monkeypatch.setattr(SOLVER, "reweight", fail)
        assert run("reweight", "systems.csv", "--beta", "0.7") == (1, "", f"whichbird reweight: {said}\n")


# ---- as a program


def shell(*argv, **options):
    return subprocess.run(
        [sys.executable, "-m", "whichbird", *argv],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        **options,
    )


def test_as_a_program(here):
    done = shell("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"whichbird {wb.__version__}\n", "")
    done = shell("rank", "ende24", "--beta", "2")
    assert (
        done.returncode == 2
        and done.stdout == ""
        and done.stderr == "whichbird rank: ende24: beta is 2.0; a number from 0 to 1 is expected\n"
    )
    done = shell("evaluate", "--human", "human.csv", "--scores", "scores.csv", "--sweep", "--plot", "x.svg")
    assert done.returncode == 0 and done.stderr == "" and Path("x.svg").exists()  # no progress bar where nobody looks
    done = shell(
        "reweight", "systems.csv", "--beta", "0.7", env=os.environ | {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    )
    assert done.returncode == 0 and done.stderr == ""


def test_closed_and_full_streams(here):
    argv = [sys.executable, "-m", "whichbird", "reweight", "systems.csv", "--beta"]
    for redirection, beta, code, said in (
        (">&-", "0.7", 1, "whichbird reweight: output: standard output is closed\n"),
        ("2>&-", "2", 2, ""),
        ("2>/dev/full", "2", 2, ""),
        ("2>/dev/full", "much", 2, ""),
        ("--csv 2>/dev/full", "0.7", 0, ""),
        (">/dev/full", "0.7", 1, "whichbird reweight: output: No space left on device\n"),
        ("--help >/dev/full", "0.7", 1, "whichbird: output: No space left on device\n"),
    ):
        for unbuffered in ("", "1"):  # a buffer is written once more when Python ends
            done = subprocess.run(
                ["sh", "-c", f"{shlex.join([*argv, beta])} {redirection}"],
                capture_output=True,
                text=True,
                timeout=120,
                env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            )
            assert (done.returncode, done.stderr) == (code, said) and bool(done.stdout) == (code == 0)


@pytest.mark.parametrize("word", ["--version", "--help", "--schema"])
def test_what_is_asked_of_the_program_itself_must_be_written_too(word):
    for unbuffered in ("", "1"):
        command = f"{shlex.join([sys.executable, '-m', 'whichbird', word])} >/dev/full"
        env = os.environ | {"PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120, env=env)
        assert (done.returncode, done.stderr) == (1, "whichbird: output: No space left on device\n")


def test_csv_is_utf_8_whatever_the_terminal(here):
    Path("systems.csv").write_text(FIXTURE.replace("\na,", '\n"β, ""x""",'), encoding="utf-8")
    done = shell("reweight", "systems.csv", "--beta", "0.7", "--csv", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0 and next(csv.DictReader(io.StringIO(done.stdout)))["system"] == 'β, "x"'


def test_a_closed_pipe_is_no_news(here):
    program = subprocess.Popen(
        [sys.executable, "-m", "whichbird", "sweep", "ende24", "--csv", "--step", "0.005"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"},
    )  # unbuffered, Python itself stays silent
    assert program.stdout.readline().startswith(b"beta,ess,reliable")
    program.stdout.close()
    said = program.stderr.read().decode()
    program.stderr.close()
    assert program.wait(60) == 1 and "Traceback" not in said and "Broken" not in said


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_that_parse(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = run(command, "--help")
    assert (code, err) == (0, "") and max(map(len, out.splitlines())) <= 80
    examples = re.findall(r"^  whichbird (.+?)(?: > .*)?$", out.partition("examples:")[2].partition("\n\n")[0], re.M)
    assert examples and all(parser().parse_args(shlex.split(e)).command == command for e in examples)
    assert all(option in out for option in ("--json", "--csv", "--out", "--force"))


def test_readme_tells_the_truth(here):
    """Its transcript is what the program prints for the guest, its commands parse, and its Python runs."""
    readme = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
    write = re.search(r'`python -c "(.+?)"`', readme)[1]
    exec(write, {})
    assert Path("ReMedy-9B.seg.score").exists()
    command, transcript = re.search(r"^\$ whichbird ([^\n]+)\n(.*?)^```$", readme, re.M | re.S).groups()
    printed = iter(unversioned(run(*shlex.split(command))[1]).splitlines())
    lines = [line for line in unversioned(transcript).splitlines() if line != "…"]
    assert len(lines) > 8 and all(line in printed for line in lines)  # in this order
    row = next(line.split() for line in lines if line.endswith("yours"))
    assert f"Rank {row[0]}, against {row[6]} at the natural balance. But ranks {row[4]} to {row[5]} all go" in readme
    commands = re.findall(r"^whichbird (.+?) *#", readme, re.M)
    assert {parser().parse_args(shlex.split(c)).command for c in commands} == set(COMMANDS)
    assert all(f"`make {target}`" in readme for target in ("lab", "exercises", "strict", "data", "bench", "golden"))
    others = [len(wb.datasets(field=field)) for field in ("biomedical", "stories")]
    assert len(wb.datasets()) == 16 and sum(others) == 11
    assert "all sixteen datasets and eleven pools of two other fields" in readme
    code = re.search(r"^```python\n(.*?)^```$", readme, re.M | re.S)[1]
    with pytest.warns(UserWarning, match="nobody rated them"):
        exec(code, found := {})
    assert len(found["r"].weights) == len(found["pool"].systems) == 13 and list(found["scores"]) == ["ReMedy-9B"]


# ---- real score files

NAMES = [(name, n) for n, name in enumerate(registry.DATASETS)]


@pytest.mark.parametrize("name, n", NAMES)
def test_a_shipped_scorers_own_file_reproduces_its_spa_exactly(mtme_root, name, n):
    d, source = wb.load(name), registry.DATASETS[name]
    folder = (
        Path(mtme_root, "mt-metrics-eval-v2") if Path(mtme_root, "mt-metrics-eval-v2").is_dir() else Path(mtme_root)
    )
    folder = folder / source.set / "metric-scores" / source.pair
    betas = [None] if d.adequacy is None else [None, 0.5, 0.6, wb.balance(d.adequacy, d.fluency) * 0.9 + 0.05]
    for scorer in d.scorers[n % 3 :: 7]:
        file = next(f for f in (folder / f"{scorer}-{v}.seg.score" for v in (d.reference, "src")) if f.exists())
        for beta in betas:
            code, out, err = run(
                "rank",
                name,
                "--scores",
                f"mine={file}",
                "--bare",
                "--json",
                *([] if beta is None else ["--beta", beta]),
            )
            assert code == 0, err
            rows = {row["scorer"]: row for row in json.loads(out)["ranking"]}
            assert rows["mine"]["spa"] == rows[scorer]["spa"] and rows["mine"]["rank"] == rows[scorer]["rank"]


def test_the_reference_wmt_used_can_be_asked_for():
    d = wb.load("ende24")
    assert d.info["standard"] == "refB"
    found = json.loads(run("rank", "ende24", "--reference", "refB", "--json")[1])
    expected = dict(zip(d.scorers, wb.spa_from_p(d.human_p, d.standard_p), strict=True))
    assert {row["scorer"]: row["spa"] for row in found["ranking"]} == pytest.approx(expected, rel=1e-12)
    assert "|ref:refB|" in found["signature"]
    paper = json.loads(run("rank", "ende24", "--reference", "refA", "--json")[1])
    assert paper == json.loads(run("rank", "ende24", "--json")[1]) != found
    code, _, err = run("rank", "ende24", "--reference", "refC")
    assert code == 2 and "ende24 ships scorers with refA (the paper's) and refB (WMT's), not with 'refC'" in err
    code, _, err = run("sweep", "ende22", "--reference", "refB")
    assert code == 2 and "ende22 ships scorers with refA, not with 'refB'" in err


def test_a_scorers_file_with_the_other_reference_reproduces_its_spa_exactly(mtme_root):
    folder = (
        Path(mtme_root, "mt-metrics-eval-v2") if Path(mtme_root, "mt-metrics-eval-v2").is_dir() else Path(mtme_root)
    )
    file = folder / "wmt24/metric-scores/en-de/BLEU-refB.seg.score"
    code, out, err = run(
        "rank", "ende24", "--reference", "refB", "--beta", 0.6, "--scores", f"mine={file}", "--ignore-extra", "--json"
    )
    assert code == 0, err
    rows = {row["scorer"]: row for row in json.loads(out)["ranking"]}
    assert rows["mine"]["spa"] == rows["BLEU"]["spa"]


@pytest.mark.parametrize("name", ["ende24", "ted_ende", "heen23", "ende20", "enzh22"])
def test_a_tree_gives_what_ships(mtme_root, name):
    d, source = wb.load(name), registry.DATASETS[name]
    argv = ["--bare"] if d.adequacy is None else ["--bare", "--beta", str(0.9 * wb.balance(*d.aspects) + 0.05)]
    code, out, err = run("evaluate", "--mtme", mtme_root, "--set", source.set, "--pair", source.pair, "--json", *argv)
    assert code == 0, err
    tree, shipped = json.loads(out), json.loads(run("rank", name, "--json", *argv)[1])
    assert (tree["systems"], tree["segments"]) == (shipped["systems"], shipped["segments"])
    assert [(r["scorer"], r["rank"]) for r in tree["ranking"]] == [(r["scorer"], r["rank"]) for r in shipped["ranking"]]
    for mine, theirs in zip(tree["ranking"], shipped["ranking"], strict=True):
        assert mine["spa"] == pytest.approx(
            theirs["spa"], abs=1e-9
        )  # weights follow from means summed in another order
        assert mine["spa_natural"] == theirs["spa_natural"]


def test_round_trip_of_the_format(mtme_root, tmp_path):
    pool = wb.read_mtme(mtme_root, "ende24")
    for scorer in ("BLEU", "XCOMET", "gemba_esa"):
        file = tmp_path / f"{scorer}.seg.score"
        file.write_text(field(pool.scorers[scorer], pool.systems))
        assert np.array_equal(wb.read_scorers(file, wb.load("ende24"))[scorer], pool.scorers[scorer])
        assert np.array_equal(mtme.read_scores(file).rows(pool.systems), pool.scorers[scorer])


def test_own_systems_are_named_in_order(here):
    found = json.loads(run("evaluate", "--human", "human.csv", "--scores", "scores.csv", "--json")[1])
    assert [row["system"] for row in found["weights"]] == list(SYSTEMS)
