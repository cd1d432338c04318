"""The first page: short, and its chart draws what the library says."""

import re
from pathlib import Path

import numpy as np
import pytest

import whichbird as wb
from whichbird.show.bump import ranks

SOURCE = Path(__file__).resolve().parents[2] / "book" / "index.md"
TIPS = (
    "return [...document.querySelectorAll('.wb-bump .wb-tip')].map(t => [t.getAttribute('text-anchor'), t.textContent])"
)


@pytest.fixture
def page(browser, html):
    """Opened where reduced motion is asked for, at a size that is given."""

    def opened(width=1280, height=800, **media):
        features = [{"name": "prefers-reduced-motion", "value": "reduce"}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features, **media})
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get((html / "book" / "index.html").as_uri())
        return browser

    yield opened
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def test_it_is_short():
    text = re.sub(r"\A---.*?^---$", "", SOURCE.read_text("utf-8"), count=1, flags=re.S | re.M)
    assert len(re.sub(r"^```\{code-cell\}.*?^```$", "", text, flags=re.S | re.M).split()) <= 700


@pytest.mark.parametrize("width", [1280, 390])
def test_labels_at_both_ends_are_the_ranks_of_the_library(page, width):
    v = wb.load_significance("ende22")
    places = ranks(v.spa[1:])
    hero = int(np.ptp(places, axis=0).argmax())
    tips = page(width).execute_script(TIPS)
    assert len(tips) >= 10
    for anchor, row in (("end", places[0]), ("start", places[-1])):
        said = [text for side, text in tips if side == anchor]
        assert any(v.scorers[hero] in text and str(row[hero]) in text.split() for text in said)
        for name in ("COMET-22", "BLEU", "chrF"):
            (text,) = [t for t in said if name in t.split()]
            assert str(row[v.scorers.index(name)]) in text.split()


def test_the_chart_is_on_the_first_screen_and_fluency_is_at_the_left(page):
    browser = page()
    box = browser.execute_script(
        "const b = document.querySelector('.wb-bump').getBoundingClientRect(); return [b.top, b.bottom]"
    )
    assert 0 < box[0] and box[1] <= 800
    left, right = (
        browser.execute_script(f"return document.querySelector('.wb-bump .wb-end.wb-{a}').getBoundingClientRect().left")
        for a in ("fluency", "adequacy")
    )
    assert left < right


def test_keys_move_the_balance_and_name_lines(page):
    browser = page()
    chart = browser.find_element("css selector", ".wb-bump")
    read = "return document.querySelector('.wb-bump-read').textContent"
    before = browser.execute_script(read)
    chart.send_keys("\ue012")  # Left
    assert browser.execute_script(read) != before
    chart.send_keys("\ue011")  # Home
    assert "β = 0.890" in browser.execute_script(read)
    chart.send_keys("\ue013")  # Up, to the line above the chosen one
    assert "COMET-20 is number 1 of 31" in browser.execute_script(read)


def test_nothing_moves_where_reduced_motion_is_asked_for(page):
    browser = page()
    stick = "return document.querySelector('.wb-bump .wb-cursor').getAttribute('x1')"
    first = browser.execute_script(stick)
    browser.execute_async_script(
        "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(arguments[0], 300)))"
    )
    assert browser.execute_script(stick) == first


def test_paper_and_readers_without_scripts_get_the_still_picture(page):
    seen = """const d = s => getComputedStyle(document.querySelector(s)).display !== 'none';
              return [d('.wb-bump-box'), d('figure#fig-bump')]"""
    assert page().execute_script(seen) == [True, False]
    assert page(media="print").execute_script(seen) == [False, True]
