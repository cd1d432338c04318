"""Reports: figures equal those of the single commands; pages ask nobody for anything and escape names; files appear whole."""

import json
import os
import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import numpy as np
import pytest
import tinytree
from owndata import field, refused, run

import whichbird as wb
from whichbird.cli import output
from whichbird.show.page import card, page
from whichbird.study.average import opened
from whichbird.study.portrait import load_report, pack, portrait, unpack

NASTY = 'a<b>&"c"'


def made(name, seed=1):
    d = wb.load(name)
    return d.total[:, None] + 3 * np.random.default_rng(seed).normal(size=(len(d.systems), len(d.lines))).round(3)


def like(name, scorer):
    """Nearly the scores of one that ships."""
    x = wb.load_pool(name).scored[scorer]
    return x + 0.01 * x.std() * np.random.default_rng(1).normal(size=x.shape)


@pytest.fixture(scope="module")
def tables():
    found = [opened(n, {NASTY: made(n), "plain": made(n, 2)}) for n in ("jazh24", "ende24")] + [
        opened("heen23", {NASTY: made("heen23")})
    ]
    return portrait(found, 0.7, resamples=30)


def test_figures_are_those_of_the_commands(tables):
    found, notes = tables
    assert len(notes) == 1 and re.fullmatch(
        r"not at 0\.7: jazh24 is reliable from 0\.98\d\d to 0\.99\d\d only", notes[0]
    )
    standings = found["standings"].set_index(["dataset", "at", "scorer"])
    for name in ("jazh24", "ende24"):
        scores = {NASTY: made(name), "plain": made(name, 2)}
        d = wb.load(name)
        ends = dict(zip(("low", "high"), wb.reliable_interval(*d.aspects), strict=True))
        for at in ("low", "natural", "high"):
            table = wb.rank(d, ends.get(at), scores).table.set_index("scorer")
            for s in table.index:
                assert standings.loc[(name, at, s), "spa"] == pytest.approx(table.loc[s, "spa"], abs=1e-12)
                assert standings.loc[(name, at, s), "rank"] == table.loc[s, "rank"]
    assert standings.loc["ende24"].index.get_level_values("at").unique().tolist() == [
        "low",
        "natural",
        "high",
        "chosen",
    ]
    assert standings.loc["heen23"].index.get_level_values("at").unique().tolist() == ["natural"]
    low, high = standings["rank_low"], standings["rank_high"]
    assert (low <= standings["rank"]).mean() > 0.95 and (standings["rank"] <= high).mean() > 0.95


def test_tests_are_those_of_the_library():
    d, scores = wb.load("jazh24"), {"mine": like("jazh24", "XCOMET-QE")}  # which changes places with several
    found = portrait([opened("jazh24", scores)])[0]
    low, high = wb.reliable_interval(*d.aspects)
    tested, by_segments = (
        wb.significance(d, [low, wb.balance(*d.aspects), high], scores, only_own=True, by=by)
        for by in ("documents", "segments")
    )
    spread = wb.intervals(d, [low, np.nan, high], scores)
    mine = found["standings"].query("scorer == 'mine'").set_index("at")
    i = spread.scorers.index("mine")
    for b, at in enumerate(("low", "natural", "high")):
        assert mine.loc[at, "se"] == pytest.approx(spread.se[b, i], rel=1e-12)
        assert (mine.loc[at, "rank_low"], mine.loc[at, "rank_high"]) == tuple(x[i] for x in spread.ranks(b))
    rivals = found["rivals"].set_index("rival")
    for j, other in enumerate(tested.scorers[:-1]):
        assert rivals.loc[other, "p_better"] == tested.p[1, i, j] and rivals.loc[other, "p_worse"] == tested.p[1, j, i]
        assert rivals.loc[other, "margin"] == pytest.approx(spread.t * spread.change_se(2, 0)[i, j], rel=1e-12)
        leads = rivals.loc[other, ["lead_low", "lead_high"]].to_numpy(float)
        places = leads[0] * leads[1] < 0
        sure = [abs(lead) > spread.t * spread.lead_se(b)[i, j] for lead, b in zip(leads, (0, 2), strict=True)]
        assert rivals.loc[other, "places"] == places and rivals.loc[other, "turns"] == (places and all(sure))
        assert rivals.loc[other, "moves"] == (abs(leads[1] - leads[0]) > spread.t * spread.change_se(2, 0)[i, j])
        orders = [by_segments.p[b][(i, j) if lead > 0 else (j, i)] for lead, b in zip(leads, (0, 2), strict=True)]
        assert rivals.loc[other, "turns_swaps"] == (places and max(orders) <= 0.05)
    assert rivals["places"].any() and rivals["moves"].any() and not rivals["moves"].all()
    table = json.loads(json.dumps(found["average"].query("at == 'natural'").to_dict("list")))
    assert table["average_spa"] == pytest.approx(
        sorted(found["standings"].query("at == 'natural'")["spa"], reverse=True)
    )


def test_five_documents_get_no_verdict():
    found = portrait([opened("ted_ende", {"mine": like("ted_ende", "BERTScore")})], resamples=20)[0]
    assert (
        found["rivals"]["turns"].isna().all()
        and found["rivals"]["moves"].isna().all()
        and found["rivals"]["places"].any()
    )
    text = page(found)
    assert "too few to judge" in text and "order turns with" not in text
    again = unpack(pack(found))
    assert again["rivals"]["turns"].isna().all() and page(again) == text


def test_the_page_stands_alone(tables):
    text = page(tables[0])
    assert "a&lt;b&gt;&amp;" in text and NASTY not in text and "nan" not in text.lower().replace("finan", "")
    assert not re.search(r"https?:|src=|@import|url\(|<script|<link", text)
    body = (
        text[text.index("<main>") : text.index("</main>") + 7]
        .replace("<br>", "<br/>")
        .replace(" class=own", ' class="own"')
    )
    root = ElementTree.fromstring(body)  # every tag is closed
    assert all(svg.get("aria-label") for svg in root.iter("svg")) and len(list(root.iter("svg"))) == 4
    assert all(len(row) == len(table.find("thead/tr")) for table in root.iter("table") for row in table.find("tbody"))
    assert text.count('class="signature"') == 3 and "prefers-color-scheme:dark" in text and "@media print" in text


def test_the_card_is_an_svg(tables):
    root = ElementTree.fromstring(card(tables[0], NASTY))
    assert root.tag == "{http://www.w3.org/2000/svg}svg" and NASTY in root.get("aria-label")
    assert len(list(root.iter("{http://www.w3.org/2000/svg}polyline"))) == 2  # heen23 has no balance to move
    other = ElementTree.fromstring(card(tables[0], "plain"))
    assert "Hebrew" not in other.get("aria-label") and "German" in other.get("aria-label")


def test_numbers_are_kept_to_six_digits(tables):
    again = unpack(pack(tables[0]))
    for name, table in tables[0].items():
        assert list(again[name]) == list(table) and len(again[name]) == len(table)
        for column in table:
            if table[column].dtype.kind == "f":
                assert np.allclose(again[name][column].astype(float), table[column], rtol=1e-5, equal_nan=True)
            else:
                assert again[name][column].tolist() == table[column].tolist()
    for bad in ("", "{}", "[]", '{"format": 9, "tables": {}}', '{"format": 1}'):
        with pytest.raises(wb.DataError):
            unpack(bad)


def test_the_report_that_ships():
    found = load_report()
    names = found["profile"]["dataset"].tolist()
    assert len(names) == 9 and set(names) < set(wb.datasets()) and "heen23" in names
    for name in names:  # the other scorers' SPA is what the package says, with the reference that the guest saw
        about = found["profile"].set_index("dataset").loc[name]
        field_ = wb.contest(wb.load(name), None, about["reference"])
        table = wb.rank(field_).table.set_index("scorer")["spa"]
        mine = found["standings"].query("dataset == @name and at == 'natural' and not own").set_index("scorer")["spa"]
        assert np.allclose(mine.loc[table.index], table, atol=1e-5)
    text = page(found)
    assert "ReMedy-9B" in text and len(text) < 300_000


def test_labels_of_a_chart_do_not_run_into_each_other():
    """β₀ is next to an end in some datasets. A letter of size 11 is about six wide."""
    charts = re.findall(r"<svg.*?</svg>", page(load_report()), re.S)
    charts = [found for found in charts if "β₀</text>" in found]
    assert len(charts) == 8  # all but heen23, which has no β
    for chart in charts:
        labels = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" font-size="11" text-anchor="(\w+)"[^>]*>([^<]+)<', chart)
        assert len(labels) == 3
        spans = []
        for x, y, anchor, text in labels:
            left = float(x) - 6 * len(text) * {"start": 0, "middle": 0.5, "end": 1}[anchor]
            spans.append((float(y), left, left + 6 * len(text)))
        for (y, _, right), (z, left, _) in pairwise(sorted(spans)):
            assert y != z or right <= left


def test_the_command_writes_all_or_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.jazh24.seg.score").write_text(field(made("jazh24"), wb.load("jazh24").systems), encoding="utf-8")
    argv = ["report", "--scores", "mine.jazh24.seg.score", "--resamples", "20"]
    code, out, err = run(*argv, "--html", "r.html", "--card", "c.svg", "--numbers", "n.json")
    assert code == 0 and "mine" in out and "whichbird:" in out, err
    assert page(unpack((tmp_path / "n.json").read_text("utf-8"))).count("<table") == (tmp_path / "r.html").read_text(
        "utf-8"
    ).count("<table")
    ElementTree.parse(tmp_path / "c.svg")
    assert "r.html: is there already; --force replaces it" in refused(*run(*argv, "--html", "r.html"))
    before = (tmp_path / "r.html").read_bytes()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    assert run(*argv, "--html", "r.html", "--force")[0] == 130
    assert (tmp_path / "r.html").read_bytes() == before and len(list(tmp_path.iterdir())) == 4


def test_refusals(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(output.shutil, "which", lambda _: None)
    assert "--pdf needs Chromium or Chrome" in refused(*run("report", "--scores", "x", "--pdf", "r.pdf"))
    assert "--scores is needed" in refused(*run("report", "--datasets", "jazh24"))
    assert "--set and --pair are needed" in refused(*run("report", "--mtme", "."))
    assert "both name r.html" in refused(*run("report", "--scores", "x", "--html", "r.html", "--card", "r.html"))


def test_a_tree_of_organisers(tmp_path):
    tree = tinytree.write(tmp_path)
    argv = ["report", "--mtme", tree, "--set", "tiny", "--pair", "xx-yy", "--resamples", "20"]
    code, out, err = run(*argv, "--show", "good", "--html", tmp_path / "r.html")
    assert code == 0, err
    assert "good" in (tmp_path / "r.html").read_text("utf-8")
    assert "has no scorer 'god'; did you mean 'good'" in refused(*run(*argv, "--show", "god"))


@pytest.mark.skipif(output.shutil.which("chromium") is None, reason="no Chromium to print with")
def test_a_page_is_printed():
    assert output.print_pdf(output.find_browser(), b"<!DOCTYPE html><p>one page").startswith(b"%PDF")
