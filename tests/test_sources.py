"""Every command with every kind of source and every option of a source; and what bad input is told."""

from __future__ import annotations

import itertools
import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from owndata import refused, run

import whichbird as wb
from whichbird.core.check import DataError

SYSTEMS = ("ant", "bee", "cow", "doe", "eel")


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """Ratings of five systems with four aspects and two raters, scores, and an example folder."""
    folder = tmp_path_factory.mktemp("sources")
    rng = np.random.default_rng(4)
    k = np.arange(5)
    rows, scores = [], []
    for i, s in enumerate(SYSTEMS):
        for n in range(12):
            for r in ("r1", "r2"):
                x = rng.integers(0, 8, 4) / 8 + np.array([i, (i * 2) % 5, (i * 3) % 4, -i]) / 2
                rows.append((s, f"s{n}", r, f"d{n}", "news" if n % 6 < 3 else "talk", *x, *x[:2]))
            scores.append((s, f"s{n}", i + rng.normal(), -i + 3 * rng.normal()))
    names = ["relevance", "coherence", "surprise", "faults"]
    header = ["system", "segment", "rater", "document", "domain", *names, "adequacy", "fluency"]
    pd.DataFrame(rows, columns=header).to_csv(folder / "human.csv", index=False)
    pd.DataFrame(scores, columns=["system", "segment", "mine", "other"]).to_csv(folder / "scores.csv", index=False)
    assert run("example", folder / "files")[0] == 0
    assert k.size == 5
    return folder


COMMANDS = {
    "beta": ("", False),
    "rank": ("--bare", True),
    "sweep": ("--bare --step .2", True),
    "compare": ("", True),
    "template": ("", False),
    "segments": ("", False),
    "reweight": ("--beta .5", False),
}
OPTIONS = ("", "--aspects fluency,adequacy", "--without S", "--domain news", "--raters each", "--raters R")
SHIPPED = {"S": "IKUN-C", "R": "rater2", "two": "XCOMET BLEU"}
OWN = {"S": "cow", "R": "r1", "two": "mine other"}


@pytest.mark.parametrize(("command", "option"), itertools.product(COMMANDS, OPTIONS))
def test_own_ratings_with_every_option(here, command, option):
    more, scored = COMMANDS[command]
    words = shlex.split(option.replace("S", OWN["S"]).replace("R", OWN["R"]))
    argv = [command, "--human", here / "human.csv", *words, *more.split()]
    argv += ["--scores", here / "scores.csv"] if scored else []
    argv += OWN["two"].split() if command == "compare" else []
    code, out, err = run(*argv, "--json")
    assert code == 0, err
    found = json.loads(out)
    if command != "template":
        assert found["aspects"] == (["fluency", "adequacy"] if "aspects" in option else ["adequacy", "fluency"])
    if command not in ("reweight", "template", "segments"):
        assert found["systems"] == (4 if "without" in option else 5)


@pytest.mark.parametrize("option", OPTIONS[:4])
@pytest.mark.parametrize("command", ["beta", "rank", "template", "segments", "reweight"])
def test_what_ships_with_every_option(command, option):
    words = shlex.split(option.replace("S", SHIPPED["S"]))
    code, out, err = run(command, "ende24", *words, *COMMANDS[command][0].replace(".5", ".7").split(), "--json")
    assert code == 0, err
    assert "without" not in option or "IKUN-C" not in {row.get("system") for row in json.loads(out).get("means", [])}


def test_evaluate_is_rank_and_sweep(here):
    data = ["--human", here / "human.csv", "--scores", here / "scores.csv", "--aspects", "relevance,coherence"]
    for other, more in (("rank", ["--beta", ".5"]), ("sweep", ["--step", ".2"])):
        alias = ["evaluate", *data, *(["--sweep"] if other == "sweep" else []), *more, "--bare"]
        assert run(*alias)[1] == run(other, *data, *more, "--bare")[1]


def test_aspects_are_called_by_their_names_and_beta_is_the_share_of_the_first(here):
    sums = "--aspects=relevance+surprise,-faults"
    code, out, _ = run("beta", "--human", here / "human.csv", sums)
    assert code == 0 and "beta is the share of relevance+surprise" in out and "-faults" in out
    found = json.loads(run("beta", "--human", here / "human.csv", sums, "--json")[1])
    t = pd.read_csv(here / "human.csv").groupby(["system", "segment"]).mean(numeric_only=True).groupby("system").mean()
    assert found["beta0"] == pytest.approx(wb.balance(t["relevance"] + t["surprise"], -t["faults"]), rel=1e-9)


def test_a_frame_is_read_in_every_form(here):
    table = pd.read_csv(here / "human.csv").query("rater == 'r1'")
    long = table[["system", "segment", "relevance", "coherence"]]
    indexed = long.set_index(["system", "segment"])
    pivoted = indexed.unstack("segment")
    pools = [wb.source(human=frame, aspects="relevance,coherence") for frame in (long, indexed, pivoted)]
    for pool in pools[1:]:
        order = [pool.segments.index(s) for s in pools[0].segments]
        assert pool.systems == pools[0].systems and np.array_equal(pool.adequacy[:, order], pools[0].adequacy)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("beta --human H --aspects relevanse,coherence", "did you mean 'relevance'"),
        ("beta --human H --aspects relevance", "two columns are expected"),
        ("beta --human H --aspects relevance,relevance", "two different ones are expected"),
        ("beta --human H --aspects relevance+,coherence", "a name is expected"),
        ("beta --human H --without ant,bee,cow,doe,eel", "two are needed"),
        ("beta --human H --without cov", "did you mean 'cow'"),
        ("beta --human H --raters r9", "no rater 'r9'"),
        ("beta --human H --domain sport", "no domain 'sport'"),
        ("rank --human H", "--scores is needed with --human"),
        ("rank", "one source is expected"),
        ("rank ende24 --human H", "one source is expected"),
        ("rank ende24 --taxonomy terminology", "--taxonomy needs MQM rows or a tree"),
        ("compare --human H --scores X mine", "two scorers are expected"),
        ("beta --human H --set wmt24", "go with --mtme"),
        ("taxonomies none-such", "unknown taxonomy 'none-such'"),
    ],
)
def test_bad_input_gets_one_sentence_and_nothing_is_written(here, words, sentence):
    argv = [here / "human.csv" if w == "H" else here / "scores.csv" if w == "X" else w for w in words.split()]
    out = here / "never.csv"
    assert sentence in refused(*run(*argv, "--out", out)) and not out.exists()


def test_constant_aspects_and_missing_cells_are_refused(here, tmp_path):
    table = pd.read_csv(here / "human.csv")
    table.assign(flat=1.0).to_csv(tmp_path / "flat.csv", index=False)
    said = refused(*run("beta", "--human", tmp_path / "flat.csv", "--aspects", "flat,coherence"))
    assert "same flat" in said
    table.loc[3, "surprise"] = np.nan
    table.to_csv(tmp_path / "gap.csv", index=False)
    said = refused(*run("beta", "--human", tmp_path / "gap.csv", "--aspects", "relevance+surprise,coherence"))
    assert "line 5" in said and "surprise" in said and "a finite number is expected" in said


def test_a_taxonomy_that_places_nothing_is_refused(here, tmp_path):
    (tmp_path / "none.toml").write_text('[aspects]\nneither = ["fluency/*"]\n')
    assert "leaves fluency empty" in refused(
        *run("beta", here / "files" / "mqm.tsv", "--taxonomy", tmp_path / "none.toml")
    )


def test_examples_run(here, monkeypatch):
    """The commands of README that need no tree and no other download, on the files of `whichbird example`."""
    monkeypatch.chdir(here / "files")
    for line in (
        "beta human.csv",
        "rank ende24 --scores my.seg.score --bare",
        "segments mqm.tsv --out segments.csv",
        "evaluate --human human.csv --scores scores.csv --beta 0.9 --bare",
        "reweight systems.csv --beta 0.7 --proof proof.json",
        "verify proof.json",
        "calibrate pairs.csv --dataset ende24 --resamples 20",
        "template --human human.csv --out t.csv",
        "taxonomies terminology --out mine.toml",
        "beta mqm.tsv --taxonomy mine.toml",
    ):
        code, _, err = run(*line.split())
        assert code == 0, (line, err)
    assert Path("mine.toml").read_text().startswith("title")


def test_latex_takes_a_caption_a_label_and_a_number_of_rows():
    out = run("rank", "ende24", "--bare", "--format", "latex", "--caption", "Ours", "--label", "tab:x", "--top", "3")[1]
    assert r"\caption{Ours" in out and r"\label{tab:x}" in out and out.count("\\\\\n") == 4


def test_source_wants_one_kind():
    with pytest.raises(DataError, match="one source is expected"):
        wb.source()
