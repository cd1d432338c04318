"""The first page: short, and its figures say what the library says. tests/pages/test_live.py tries what all live figures share."""

import re
from pathlib import Path

import pytest
from test_live import Figure

import whichbird as wb
from whichbird.data.registry import display
from whichbird.study.carriers import natural_turns
from whichbird.study.placebo import permuted
from whichbird.study.preference import preference, steps
from whichbird_book import kit

SOURCE = Path(__file__).resolve().parents[2] / "book" / "index.md"


@pytest.fixture
def figure(browser, html):
    def opened(name, width=1280):
        return Figure(browser, html / "book" / "index.html", name).open(width)

    return opened


def test_it_is_short():
    text = re.sub(r"\A---.*?^---$", "", SOURCE.read_text("utf-8"), count=1, flags=re.S | re.M)
    assert len(re.sub(r"^```\{code-cell\}.*?^```$", "", text, flags=re.S | re.M).split()) <= 900


def test_the_paper_is_named_and_linked_on_the_first_screen(figure):
    top = figure("steer").script(
        """return [...document.querySelectorAll('article a')].filter(a => /Kazemi/.test(a.closest('p')?.textContent || '') && a.getAttribute('href'))
               .map(a => a.getBoundingClientRect().top)[0]"""
    )
    assert 0 < top < 800


def test_what_is_steered_is_what_the_measure_gives(figure):
    """One dataset at the high end: the line, and the band from placebos, computed here from the table of steps."""
    steer, d = figure("steer"), wb.load("ende22")
    steer.script(
        "const s = box.querySelector('select'); s.value = [...s.options].find(o => o.textContent === 'ende22').value; s.dispatchEvent(new Event('change'))"
    )
    steer.slide(8)
    table = steps(d.counts("total"), d.curve_counts("adequacy-fluency"))
    w = kit.weights(d, [wb.beta_interval(d.adequacy, d.fluency, 0.9 * len(d.systems))[1]])
    assert steer.told("share")[0] == pytest.approx(preference(table, w[0]), abs=1e-6)
    others = preference(table, permuted(w, 500)[:, 0])
    shown = next(one for one in steer.data()["sets"] if one["name"] == "ende22")
    assert shown["low"][-1] <= sorted(others)[20] and shown["high"][-1] >= sorted(others)[-21]
    assert "ende22" in steer.script("return box.querySelector('[role=status]').textContent")


def test_leads_without_each_system_are_those_of_the_library(figure):
    without = figure("without")
    for case in without.data()["cases"]:
        found = natural_turns(case["name"])
        i, j = ([display(s) for s in found.scorers].index(name) for name in case["pair"])
        assert case["lead"] == pytest.approx(list(found.spa[:, i] - found.spa[:, j]), abs=1e-6)
        low, high = ((case["lead"][r] + sign * case["half"][r]) for r, sign in ((0, -1), (case["turned"], 1)))
        assert low > 0 > high  # both orders beyond noise
    case = without.data()["cases"][0]
    without.slide(case["turned"])
    told = without.script("return box.querySelector('[role=status]').textContent")
    assert case["systems"][case["turned"] - 1] in told and f"{case['pair'][1]} is ahead" in told
