"""Every command with every kind of source and every option of a source; and what bad input is told."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tinytree
from owndata import pairs, refused, run

import whichbird as wb
from whichbird.core.check import DataError
from whichbird_book.guest import write_guest

SYSTEMS = ("ant", "bee", "cow", "doe", "eel")


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """Ratings of five systems with four aspects and two raters, scores, and an example folder."""
    folder = tmp_path_factory.mktemp("sources")
    rng = np.random.default_rng(4)
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
    (folder / "pairs.csv").write_text(pairs(("mine", "other")), encoding="utf-8")
    assert run("example", folder / "files")[0] == 0
    tinytree.write(folder)
    return folder


COMMANDS = {
    "beta": ("", False),
    "rank": ("--bare", True),
    "sweep": ("--bare --step .2", True),
    "compare": ("", True),
    "template": ("", False),
    "segments": ("", False),
    "reweight": ("--beta .5", False),
    "report": ("--resamples 20", True),
    "calibrate": ("--resamples 20", True),
}
OPTIONS = ("", "--aspects fluency,adequacy", "--without S", "--domain news", "--raters each", "--raters R")
SHIPPED = {"S": "IKUN-C", "R": "rater2", "two": "XCOMET BLEU"}
OWN = {"S": "cow", "R": "r1", "two": "mine other"}


@pytest.mark.parametrize(("command", "option"), list(itertools.product(COMMANDS, OPTIONS)))
def test_own_ratings_with_every_option(here, command, option):
    more, scored = COMMANDS[command]
    words = shlex.split(option.replace("S", OWN["S"]).replace("R", OWN["R"]))
    given = [here / "pairs.csv"] if command == "calibrate" else []
    argv = [command, *given, "--human", here / "human.csv", *words, *more.split()]
    argv += ["--scores", here / "scores.csv"] if scored else []
    argv += OWN["two"].split() if command == "compare" else []
    code, out, err = run(*argv, "--json")
    assert code == 0, err
    found = json.loads(out)
    if command != "template":
        assert found["aspects"] == (["fluency", "adequacy"] if "aspects" in option else ["adequacy", "fluency"])
    if command == "report":
        assert found["profile"][0]["systems"] == (4 if "without" in option else 5)
    elif command not in ("reweight", "template", "segments"):
        assert found["systems"] == (4 if "without" in option else 5)


@pytest.mark.parametrize(("command", "option"), list(itertools.product(COMMANDS, OPTIONS)))
def test_a_tree_with_every_option(here, command, option):
    """A tree of three systems with its own scorers; it names no kinds of text, and says so."""
    words = shlex.split(option.replace("S", "alpha").replace("R", "rater1"))
    given = {"calibrate": [here / "tree-pairs.csv"], "compare": []}.get(command, [])
    (here / "tree-pairs.csv").write_text(pairs(("good", "cousin")), encoding="utf-8")
    argv = [command, *given, "--mtme", here / tinytree.TREE, "--set", "tiny", "--pair", "xx-yy", *words]
    argv += COMMANDS[command][0].split() + {"compare": ["good", "cousin"], "report": ["--show", "good"]}.get(
        command, []
    )
    code, out, err = run(*argv, "--json")
    if "domain" in option:
        assert "does not say which domain" in refused(code, out, err)
    elif command == "reweight" and "without" in option:
        assert code in (0, 2), err  # two systems have one balance
    else:
        assert code == 0, err
        assert (
            command == "template"
            or json.loads(out)["aspects"] == ["fluency", "adequacy"][:: 1 if "aspects" in option else -1]
        )


@pytest.mark.parametrize("option", OPTIONS[:4])
@pytest.mark.parametrize("command", COMMANDS)
def test_what_ships_with_every_option(here, command, option):
    words = shlex.split(option.replace("S", SHIPPED["S"]))
    given = {"calibrate": [here / "ship-pairs.csv", "--dataset", "ende24"], "report": ["--datasets", "ende24"]}
    if command == "report":
        if "aspects" in option:
            pytest.skip("a report on what ships is on its own aspects")
        words += ["--scores", here / "files" / "my" / "mine.ende24.seg.score"]
    (here / "ship-pairs.csv").write_text(pairs(), encoding="utf-8")
    more = COMMANDS[command][0].replace(".5", ".7").split()
    two = SHIPPED["two"].split() if command == "compare" else []
    code, out, err = run(command, *given.get(command, ["ende24"]), *two, *words, *more, "--json")
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


README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
LINES = re.findall(r"^(?:\$ )?whichbird (.*?)(?: +#.*)?$", README, re.MULTILINE)


@pytest.fixture(scope="module")
def visitor(tmp_path_factory):
    """A folder after `whichbird example`, with a tree of made texts and the guest's scores beside the files."""
    folder = tmp_path_factory.mktemp("visitor") / "here"
    assert run("example", folder)[0] == 0
    tinytree.write_texts(folder, "enes24")
    write_guest(folder / "ReMedy-9B.seg.score")
    return folder


@pytest.mark.parametrize("line", LINES)
def test_every_line_of_the_readme_runs_on_the_example(visitor, monkeypatch, line):
    monkeypatch.chdir(visitor)
    words = [w for word in shlex.split(line) for w in (sorted(map(str, Path().glob(word))) if "*" in word else [word])]
    code, out, err = run(*words, *(["--force"] if "--out" in words or "--plot" in words or "--proof" in words else []))
    assert code == 0 and out, err
    if words[0] == "reweight":
        assert run("verify", "proof.json")[0] == 0


def test_the_python_of_the_readme_runs(visitor, monkeypatch):
    monkeypatch.chdir(visitor)
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    found = {}
    exec(code, found)
    assert found["wb"] is wb and found["r"].weights.size == len(found["d"].systems)


def test_latex_takes_a_caption_a_label_and_a_number_of_rows():
    out = run("rank", "ende24", "--bare", "--format", "latex", "--caption", "Ours", "--label", "tab:x", "--top", "3")[1]
    assert r"\caption{Ours" in out and r"\label{tab:x}" in out and out.count("\\\\\n") == 4


def test_source_wants_one_kind():
    with pytest.raises(DataError, match="one source is expected"):
        wb.source()


@pytest.mark.parametrize("meta", ["acc_eq", "pdp"])
def test_segment_level_bad_input_is_a_number_or_a_sentence(tmp_path, meta):
    """No ties among people, gaps, one segment: a number by its definition; a constant scorer: one sentence."""
    rng = np.random.default_rng(8)
    rows = pd.DataFrame(
        [(s, n, *rng.normal(size=3) + i) for i, s in enumerate(SYSTEMS) for n in range(6)],
        columns=["system", "segment", "adequacy", "fluency", "mine"],
    )

    def ranked(ratings, scores):
        ratings[["system", "segment", "adequacy", "fluency"]].to_csv(tmp_path / "h.csv", index=False)
        scores[["system", "segment", "mine"]].to_csv(tmp_path / "s.csv", index=False)
        argv = ["--human", tmp_path / "h.csv", "--scores", tmp_path / "s.csv"]
        return run("rank", *argv, "--meta", meta, "--bare", "--json")

    def matrix(frame, column):
        wide = frame.pivot(index="system", columns="segment", values=column)
        return wide.loc[list(SYSTEMS)].to_numpy()

    for ratings in (rows, rows[(rows["system"] != "ant") | (rows["segment"] != 2)], rows[rows["segment"] == 1]):
        code, out, err = ranked(ratings, rows[rows["segment"].isin(ratings["segment"])])
        assert code == 0, err
        total = matrix(ratings, "adequacy") + matrix(ratings, "fluency")
        mine = matrix(rows[rows["segment"].isin(ratings["segment"])], "mine")
        expected = getattr(wb, meta)(total, mine)
        assert json.loads(out)["ranking"][0][meta] == pytest.approx(expected, abs=1e-12)
    assert "is constant" in refused(*ranked(rows, rows.assign(mine=0.7)))
