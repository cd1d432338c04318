"""Scores of one's own in the explorer, in a browser and from disk: read, refused, tested and ranked as by the library; nothing is sent."""

import csv
import json
import warnings

import numpy as np
import pytest
from selenium.webdriver.support.ui import WebDriverWait
from test_explorer import SHOWN, explorer  # noqa: F401

import whichbird as wb
from whichbird.study.tested import with_tests
from whichbird_book.guest import write_guest


@pytest.fixture(scope="module")
def remedy(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "ReMedy-9B.seg.score"
    write_guest(path)
    return path


def hand_in(explorer, *paths, wait):  # noqa: F811
    """Choose files, as a reader does, and wait until these scorers have joined."""
    explorer.one(".wb-files").send_keys("\n".join(map(str, paths)))
    patient(explorer, f"return root.dataset.own === {json.dumps(wait)}")


def patient(explorer, condition):  # noqa: F811
    return WebDriverWait(explorer.browser, 240).until(lambda _: explorer.script(condition))


def test_own_scorer_is_ranked_and_judged_as_at_the_command_line(explorer, remedy):  # noqa: F811
    explorer.open("#dataset=enes24&beta=0.93")
    explorer.browser.get_log("performance")
    hand_in(explorer, remedy, wait="ReMedy-9B")
    ranking = {row["name"]: row for row in explorer.ranking()}
    d = wb.load("enes24")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = wb.read_scorers(remedy, d)
    found = wb.rank(d, 0.93, scores)
    ours = found.table.set_index("scorer")
    assert set(ranking) == set(ours.index)
    for name, row in ranking.items():
        assert abs(row["spa"] - ours.loc[name, "spa"]) < SHOWN and row["place"] == ours.loc[name, "rank"]
    assert ranking["ReMedy-9B"]["followed"]
    # tests follow when the slider rests
    patient(explorer, "return Boolean(root.dataset.judged)")
    table = with_tests(found, wb.contest(d, scores), d, 0.93, scores)[0].table.set_index("scorer")
    judged = explorer.script(
        """const t = [...root.querySelectorAll('.wb-ranking li')];
        let cluster = 0;
        return t.map(li => { const rule = li.querySelector('.wb-rule'); if (!rule.hidden) cluster = +rule.textContent.match(/cluster (\\d+)/)[1];
            return [li.querySelector('.wb-scorer').title, cluster, li.querySelector('.wb-ranks').textContent.split('–').map(Number)]; })"""
    )
    for name, cluster, ranks in judged:
        assert cluster == table.loc[name, "cluster"], name
        ends = table.loc[name, ["rank_low", "rank_high"]].to_numpy()
        assert np.abs(np.array([ranks[0], ranks[-1]]) - ends).max() <= 3, name  # other draws of documents
    # nothing but files beside the page was asked for
    events = [json.loads(e["message"])["message"] for e in explorer.browser.get_log("performance")]
    asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    assert all(url.startswith(("file:", "blob:", "data:")) for url in asked)
    assert any("segments/enes24.js" in url for url in asked)
    assert "nothing leaves your machine" in explorer.text(".wb-desk")


def test_files_for_another_dataset_find_their_place(explorer, remedy):  # noqa: F811
    explorer.open("#dataset=ende24&beta=0.7")
    explorer.one(".wb-files").send_keys(str(remedy))
    patient(explorer, "return Boolean(root.querySelector('.wb-said li'))")
    with warnings.catch_warnings(), pytest.raises(wb.DataError) as refusal:
        warnings.simplefilter("ignore")
        wb.read_scorers(remedy, wb.load("ende24"))
    assert explorer.text(".wb-said li").startswith(str(refusal.value).replace(str(remedy), remedy.name))
    assert explorer.text(".wb-said li button") == "It fits enes24: put it there"
    explorer.script("root.querySelector('.wb-said li button').click()")
    patient(explorer, "return root.dataset.own === 'ReMedy-9B'")
    assert explorer.state()["dataset"] == "enes24"


def test_several_files_at_once_and_away_again(explorer, remedy, tmp_path):  # noqa: F811
    d = wb.load("ende21")
    x = wb.load_pool("ende21").scorers["chrF"]
    for name, shift in (("one", 0.0), ("two", 3.0)):
        text = "".join(
            f"{s}\t{v + shift * n!r}\n"
            for n, (s, row) in enumerate(zip(d.systems, x.tolist(), strict=True))
            for v in row
        )
        (tmp_path / f"{name}.seg.score").write_text(text, "utf-8")
    (tmp_path / "bad.seg.score").write_text("x\t1\n", "utf-8")
    explorer.open("#dataset=ende21&beta=0.3")
    before = explorer.ranking()
    hand_in(explorer, *(tmp_path / f"{name}.seg.score" for name in ("one", "bad", "two")), wait="one two")
    now = {row["name"]: row for row in explorer.ranking()}
    assert len(now) == len(before) + 2 and now["one"]["spa"] == now["chrF"]["spa"]  # the same scores, the same SPA
    assert "bad.seg.score: system" in explorer.text(".wb-said")
    w = wb.reweight(d.adequacy, d.fluency, 0.3).weights
    expected = wb.spa_from_p(d.human_p, wb.p_values(x + 3.0 * np.arange(len(d.systems))[:, None], exact=False), w)
    assert abs(now["two"]["spa"] - expected) < SHOWN
    explorer.script("[...root.querySelectorAll('button')].find(b => b.textContent === 'Copy as CSV').click()")
    text = explorer.script("return root.querySelector('.wb-text').value")
    kinds = {row["name"]: row["kind"] for row in csv.DictReader(text.splitlines()[1:])}
    assert kinds["one"] == kinds["two"] == "your scorer" and kinds["chrF"] == "scorer"
    for left in (1, 0):
        explorer.script("root.querySelector('.wb-own button').click()")
        explorer.wait(lambda: len(explorer.ranking()) == len(before) + left)
    explorer.script("root.querySelectorAll('.wb-ranking li.wb-followed button').forEach(b => b.click())")
    assert explorer.ranking() == before
