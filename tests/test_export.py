"""Tables to take away, the empty score file, the texts a metric needs; frames and dictionaries in place of files."""

import io
import json
import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sacrebleu
import tinytree
from owndata import ADEQUACY, FLUENCY, SCORERS, SEGMENTS, SYSTEMS, human, long, refused, run, wide

import whichbird as wb
from whichbird.data.export import segment_table, template, write_dataset
from whichbird.data.userfiles import read_human, read_scorers


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "human.csv").write_text(human(), encoding="utf-8")
    return tmp_path


class Column(list):
    def to_list(self):
        return list(self)


class Polars:
    """A frame with what polars has in common with pandas, and no more."""

    def __init__(self, frame):
        self.data = {c: Column(frame[c].tolist()) for c in frame}

    @property
    def columns(self):
        return list(self.data)

    def __getitem__(self, name):
        return self.data[name]


# ---- segments


def test_ratings_come_out_as_they_went_in(here):
    code, out, err = run("segments", "human.csv", "--csv")
    assert code == 0
    table = pd.read_csv(io.StringIO(out))
    assert list(table) == ["system", "segment", "adequacy", "fluency", "total"] and len(table) == 24
    for row in table.itertuples():
        k, n = SYSTEMS.index(row.system), SEGMENTS.index(row.segment)
        assert (row.adequacy, row.fluency, row.total) == (ADEQUACY[k, n], FLUENCY[k, n], ADEQUACY[k, n] + FLUENCY[k, n])
    again = here / "again.csv"
    again.write_text(out)
    assert np.array_equal(read_human(again).adequacy, read_human(here / "human.csv").adequacy)


def test_every_rater_has_a_row(here):
    (here / "two.csv").write_text(
        "system,segment,adequacy,fluency,rater\nx,1,0,1,r10\nx,1,-1,0,r2\ny,1,-1,-1,r2\ny,2,-4,0,r2\nx,2,0,0,r10\n"
    )
    pool = read_human(here / "two.csv")
    rows = segment_table(pool)
    assert rows[["system", "segment", "rater", "adequacy"]].to_numpy().tolist() == [
        ["x", "1", "r2", -1.0], ["x", "1", "r10", 0.0], ["x", "2", "r10", 0.0], ["y", "1", "r2", -1.0], ["y", "2", "r2", -4.0],
    ]  # fmt: skip
    cells = segment_table(pool, cells=True)
    assert (
        cells[["system", "segment", "rater", "adequacy"]].to_numpy().tolist()[0] == ["x", "1", "", -0.5]
        and len(cells) == 4
    )


def test_shipped_segments_are_the_pool():
    pool = wb.load_pool("ende24")
    table = segment_table(pool, cells=True)
    assert len(table) == pool.total.size and table["segment"].iloc[0] == str(pool.lines[0] + 1)
    assert np.array_equal(table["adequacy"].to_numpy().reshape(pool.adequacy.shape), pool.adequacy)
    assert "adequacy" not in segment_table(wb.load_pool("heen23"))
    assert {"document", "domain", "rater"} < set(table)


def test_segments_of_a_tree(tmp_path):
    tree = tinytree.write(tmp_path)
    code, out, err = run("segments", "--mtme", tree, "--set", "tiny", "--pair", "xx-yy", "--json")
    assert code == 0, err
    rows = {(r["system"], r["segment"]): r["adequacy"] for r in json.loads(out)["ratings"]}
    assert rows["alpha", "1"] == -5 and rows["gamma", "3"] == -6 and len(rows) == 9


@pytest.mark.parametrize(
    "argv, sentence",
    [
        (["segments"], "no data: one source is expected: the name of a dataset that ships"),
        (["segments", "ende24", "--mtme", "."], "ende24 and --mtme .: one source is expected"),
        (["segments", "--mtme", "."], "--set and --pair are needed"),
        (["segments", "ende24", "--set", "x"], "go with --mtme"),
        (["segments", "ende24", "--taxonomy", "terminology"], "ships without the errors of segments"),
        (["segments", "nothing.csv"], "no such file"),
        (["inputs", "enes24", "--mtme", ".", "--to", "new"], "no such file; the tree lacks its texts"),
        (["inputs", "enes24", "--mtme", ".", "--to", "human.csv"], "is there already"),
        (["inputs", "enes24", "--mtme", ".", "--to", "no/new"], "there is no folder"),
        (["template", "edne24"], "did you mean"),
    ],
)
def test_refusals(here, argv, sentence):
    before = sorted(here.iterdir())
    assert sentence in refused(*run(*argv))
    assert sorted(here.iterdir()) == before


# ---- from nothing to a rank


def test_from_texts_to_a_rank(here):
    """The five lines of the chapter, with a scorer of our own, on made texts of a dataset that ships."""
    d = wb.load("jazh24")
    tree = tinytree.write_texts(here, "jazh24")
    assert run("inputs", "jazh24", "--mtme", tree, "--to", "texts")[0] == 0
    source, reference = ((here / "texts" / f"{n}.txt").read_text().splitlines() for n in ("source", "reference"))
    assert source == [f"source {n + 1}" for n in d.lines] and reference == [f"refA {n + 1}" for n in d.lines]
    with open("mine.seg.score", "w") as out:
        for file in sorted((here / "texts" / "systems").iterdir()):
            for line, other in zip(file.read_text().splitlines(), reference, strict=True):
                assert line.split()[-1] == other.split()[-1]  # the same line of the source
                print(
                    file.name.removesuffix(".txt"),
                    len(set(line) & set(other)) + hash(file.name) % 7 / 10,
                    sep="\t",
                    file=out,
                )
    code, out, err = run("rank", "jazh24", "--scores", "mine.seg.score", "--bare")
    assert code == 0 and "mine" in out and err == ""
    assert not [p for p in here.iterdir() if p.name.startswith(".")]
    assert "is there already" in refused(*run("inputs", "jazh24", "--mtme", tree, "--to", "texts"))
    short = tree / "wmt24" / "sources" / "ja-zh.txt"
    short.write_text("one\n")
    assert "1 lines; jazh24 has" in refused(*run("inputs", "jazh24", "--mtme", tree, "--to", "other"))
    assert not (here / "other").exists() and not [p for p in here.iterdir() if p.name.startswith(".")]


def test_a_filled_template_is_a_score_file(here):
    d = wb.load("jazh24")
    assert run("template", "jazh24", "--out", "my.csv")[0] == 0
    assert "column 3 (score) has ''; a finite number is expected" in refused(
        *run("rank", "jazh24", "--scores", "my.csv")
    )
    table = pd.read_csv("my.csv")
    x = np.random.default_rng(1).random(len(table)).round(4)
    table.assign(score=x).to_csv("my.csv", index=False)
    assert np.array_equal(read_scorers(here / "my.csv", d)["my"], x.reshape(len(d.systems), len(d.lines)))
    assert {len(column) for column in template(d).values()} == {len(table)}


def chrf(line, reference):
    """chrF2 from its definition: precision and recall of character n-grams, averaged over n where both sides have some; F with β = 2."""
    a, b = (text.replace(" ", "") for text in (line, reference))
    shares = []
    for n in range(1, 7):
        x, y = (Counter(text[i : i + n] for i in range(len(text) - n + 1)) for text in (a, b))
        if x and y:
            both = (x & y).total()
            shares.append((both / x.total(), both / y.total()))
    p, r = (sum(s) / len(shares) for s in zip(*shares, strict=True))
    return 100 * 5 * p * r / (4 * p + r) if p + r else 0.0


CHAPTER = Path(__file__).parents[1] / "book/use/your-own-scores.md"


def test_chrf_from_texts_to_a_rank(here):
    """The five lines of the chapter with its my_metric.py, chrF by sacreBLEU, on a tree with sentences of ours and a chrF file of its own."""
    d = wb.load("jazh24")
    tree = tinytree.write_texts(here, "jazh24", tinytree.sentence)
    rows = {
        s: [chrf(tinytree.sentence(s, n), tinytree.sentence("refA", n)) for n in range(1, d.source_lines + 1)]
        for s in d.systems
    }
    scores = tree / "wmt24" / "metric-scores" / "ja-zh" / "chrF-refA.seg.score"
    scores.parent.mkdir(parents=True)
    scores.write_text(tinytree.lines(rows, repr), encoding="utf-8")

    text = CHAPTER.read_text("utf-8")
    (code,) = re.findall(r"^```python\n(# my_metric\.py\n.*?)^```$", text, re.M | re.S)
    (five,) = re.findall(r"^```\n(pip install .*?)^```$", text, re.M | re.S)
    _, inputs, metric, rank, _ = (shlex.split(line)[1:] for line in five.splitlines())
    as_here = {"enes24": "jazh24", "mt-metrics-eval-v2": str(tree), "0.93": "0.995"}
    inputs, rank = ([as_here.get(word, word) for word in words] for words in (inputs, rank))
    (here / "my_metric.py").write_text(code, encoding="utf-8")
    assert run(*inputs)[0] == 0
    done = subprocess.run([sys.executable, *metric[:2]], capture_output=True, text=True, check=True, encoding="utf-8")
    (here / metric[-1]).write_text(done.stdout, encoding="utf-8")
    mine, theirs = (next(iter(read_scorers(path, d).values())) for path in (here / metric[-1], scores))
    assert mine.shape == theirs.shape == (len(d.systems), len(d.lines)) and np.ptp(mine) > 50
    assert np.allclose(mine, theirs, rtol=1e-12, atol=0)
    code, out, err = run(*rank, f"theirs={scores}", "--bare", "--json")
    assert (code, err) == (0, "")
    ranked = {row["scorer"]: (row["rank"], row["spa"]) for row in json.loads(out)["ranking"]}
    assert ranked["my"][1] == ranked["theirs"][1] and ranked["my"][1] != ranked["chrF"][1]


def test_chrf_of_real_outputs_is_the_shipped_chrf(mtme_root, tmp_path):
    """Where the tree holds texts: sacreBLEU's chrF on what `inputs` writes is the chrF that ships."""
    pool = wb.load_pool("enes24")
    code, _, err = run("inputs", "enes24", "--mtme", mtme_root, "--to", tmp_path / "texts")
    if "the tree lacks its texts" in err:
        pytest.skip("the tree has no texts")
    assert code == 0
    references = (tmp_path / "texts" / "reference.txt").read_text("utf-8").splitlines()
    for k, system in enumerate(pool.systems):
        lines = (tmp_path / "texts" / "systems" / f"{system}.txt").read_text("utf-8").splitlines()
        mine = [sacrebleu.sentence_chrf(a, [b]).score for a, b in zip(lines, references, strict=True)]
        assert np.allclose(mine, pool.scorers["chrF"][k], atol=1e-3)


# ---- frames and dictionaries


@pytest.mark.parametrize("kind", [lambda f: f, Polars])
def test_frames_are_read_as_files_are(here, kind):
    pool = read_human(here / "human.csv")
    same = read_human(kind(pd.read_csv(io.StringIO(human()))))
    assert same.systems == pool.systems and same.segments == pool.segments and np.array_equal(same.total, pool.total)
    for text in (wide(), long()):
        found = read_scorers(kind(pd.read_csv(io.StringIO(text))), pool)
        assert set(found) == set(SCORERS) and all(np.array_equal(found[s], SCORERS[s]) for s in SCORERS)
    frame = pd.read_csv(io.StringIO(human()))
    frame.loc[3, "fluency"] = np.nan
    with pytest.raises(wb.DataError, match=r"row 3.*column 4.*'nan'"):
        read_human(kind(frame))
    with pytest.raises(wb.DataError, match="row 24.*'ant'.*'u'.*row 0"):
        read_human(kind(pd.concat([frame.fillna(0), frame[:1]], ignore_index=True)))
    with pytest.raises(wb.DataError, match="data frame has no column 'segment'"):
        read_human(kind(frame.drop(columns="segment")))
    with pytest.raises(wb.DataError, match="it has no row"):
        read_human(kind(frame[:0]))


def test_dictionaries_as_an_evalset_gives_them():
    d = wb.load("jazh24")
    x = np.random.default_rng(1).random((len(d.systems), d.source_lines))
    rated = set(d.lines.tolist())
    scores = {
        s: [v if n in rated else None for n, v in enumerate(row)] for s, row in zip(d.systems, x.tolist(), strict=True)
    }
    expected = x[:, d.lines]
    assert np.array_equal(read_scorers(scores, d, "mine")["mine"], expected)
    assert np.array_equal(read_scorers({"a": scores, "b": scores}, d)["b"], expected)
    short = {s: [row[n] for n in d.lines] for s, row in scores.items()}
    for given in (scores, short, pd.DataFrame(expected, index=d.systems), expected):
        table = wb.rank(d, None, {"mine": given}).table.set_index("scorer")
        assert (
            table.loc["mine", "spa"]
            == wb.rank(d, None, {"mine": expected}).table.set_index("scorer").loc["mine", "spa"]
        )
    tidy = pd.DataFrame(
        [(s, n + 1, x[k, n]) for k, s in enumerate(d.systems) for n in d.lines], columns=["system", "segment", "score"]
    )
    assert wb.contest(d, {"mine": Polars(tidy)}).p.tolist() == wb.contest(d, {"mine": expected}).p.tolist()
    first = d.systems[0]
    for bad, sentence in (
        ({}, "dictionary: it is empty"),
        ({s: r for s, r in scores.items() if s != first}, f"dictionary: system {first!r} is missing"),
        (scores | {first: [1.0]}, "has 1 scores; "),
        (scores | {first: [None] * d.source_lines}, "has no score on a rated segment, place"),
        (scores | {first: [float("nan")] * d.source_lines}, "place .* has 'nan'; a finite number is expected"),
        ({"a": scores, "b": [1.0]}, "some values are dictionaries and some are not"),
        ({s: [1.0] * d.source_lines for s in d.systems}, "is constant"),
    ):
        with pytest.raises(wb.DataError, match=sentence):
            read_scorers(bad, d, "mine" if "a" not in bad else None)


# ---- every scorer, and a folder of tables


def test_scorers_stand_beside_the_ratings(here):
    pool = wb.load_pool("jazh24")
    code, out, _ = run("segments", "jazh24", "--cells", "--scorers", "--csv")
    table = pd.read_csv(io.StringIO(out), float_precision="round_trip")
    assert code == 0 and list(table)[-len(pool.scorers) :] == list(pool.scorers)
    name, scores = next(iter(pool.scorers.items()))
    k, s = table["system"].map(pool.systems.index), table["segment"].map((pool.lines + 1).tolist().index)
    assert (table[name] == scores[k, s]).all() and not re.search(r"(^|,)-0\.0(,|$)", out, re.M)
    assert name not in run("segments", "jazh24", "--cells", "--csv")[1].partition("\n")[0].split(",")


def test_a_folder_of_tables(here):
    pool = wb.load_pool("zhen20")  # cells with several ratings
    assert run("export", "zhen20", "tables")[0] == 0
    read = {p.stem: pd.read_csv(p, float_precision="round_trip") for p in (here / "tables").glob("*.csv")}
    assert set(read) == {"systems", "cells", "ratings"}
    assert read["systems"]["system"].tolist() == list(pool.systems)
    assert np.allclose(read["systems"]["adequacy"], pool.aspects[0], rtol=0, atol=0)
    assert len(read["ratings"]) == len(segment_table(pool)) > len(read["cells"])
    pd.testing.assert_frame_equal(
        read["cells"].drop(columns=["rater", "segment"]),
        segment_table(pool, True, True).drop(columns=["rater", "segment"]), check_dtype=False,
    )  # fmt: skip
    (here / "plain").mkdir()
    assert (here / "tables").stat().st_mode == (here / "plain").stat().st_mode
    (here / "plain").rmdir()
    card = (here / "tables/README.md").read_text("utf-8")
    assert all(f"`{name}`" in card for name in (*pool.scorers, "cells.csv", "adequacy")) and "Apache-2.0" in card
    assert "is there already" in refused(*run("export", "zhen20", "tables"))
    assert "there is no folder" in refused(*run("export", "zhen20", "no/tables"))
    assert sorted(p.name for p in here.iterdir()) == ["human.csv", "tables"]


def test_parquet_says_what_csv_says(here):
    pytest.importorskip("pyarrow")
    assert run("export", "zhen23", "tables")[0] == 0
    for name in ("systems", "cells", "ratings"):
        parquet = pd.read_parquet(here / f"tables/{name}.parquet")
        csv = pd.read_csv(here / f"tables/{name}.csv", dtype={"segment": str})
        pd.testing.assert_frame_equal(csv, parquet, check_dtype=False, rtol=1e-12)


def test_the_card_says_whose_numbers_these_are(here):
    for name, words in {
        "zhen23": ("mt-metrics-eval-v2 (Apache-2.0)", "at most 0", "for WMT"),
        "bio_enzh": ("BioMQM v2 (Apache-2.0)", "at most 0", "medical"),
        "hanna": ("HANNA (MIT)", "coherence, 1 to 5", "stories"),
    }.items():
        write_dataset(wb.load_pool(name), here / name)
        card = (here / name / "README.md").read_text("utf-8")
        assert all(word in card for word in words)
        assert name == "zhen23" or ("WMT" not in card and "mt-metrics-eval" not in card)
