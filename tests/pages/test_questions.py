"""The page of concept questions: every choice is answered at once, by mouse and by key; plain without scripts; phone, dark, paper."""

import base64
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from test_explorer import noise

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "book"))
from course import questions, text
from course.sources import Numbers

LETTERS = questions.LETTERS


@pytest.fixture(scope="module")
def asked(html):
    return questions.ready()


@pytest.fixture
def page(browser, html):
    def open_(width=1280, theme="light"):
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        )
        browser.get((html / "book" / "use" / "questions.html").as_uri())
        return browser

    yield open_
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


CHOOSE = """const [id, letter] = arguments, q = document.getElementById(id);
    q.querySelector(`input[value=${letter}]`).click();
    return [q.dataset.state, q.querySelector('.wb-says').innerText, q.querySelector('.wb-says a').getAttribute('href')]"""


def test_every_choice_is_answered(page, asked):
    browser = page()
    assert len(browser.find_elements(By.CSS_SELECTOR, ".wb-question fieldset")) == len(asked)
    for q in asked:
        for letter, choice in zip(LETTERS, q.choices, strict=True):
            state, says, link = browser.execute_script(CHOOSE, q.id, letter)
            assert state == ("right" if choice.right else "wrong")
            assert says.startswith("✓ Right." if choice.right else "✗ Not this one.")
            assert " ".join(text.words(choice.why, Numbers()).split()) in " ".join(says.split())
            assert link == f"../{choice.read.address}"
    first = sum(q.choices[0].right for q in asked)
    assert browser.find_element(By.CSS_SELECTOR, ".wb-tally").text == f"{first} of {len(asked)} right at the first try."


def test_every_place_to_read_is_there(html, asked):
    for place in {c.read for q in asked for c in q.choices}:
        body = (html / "book" / f"{place.page}.html").read_text("utf-8")
        assert not place.label or f'id="{place.label}"' in body, place


def test_keys_and_what_is_said_to_those_who_do_not_see(page, asked):
    browser = page()
    group = browser.find_element(By.CSS_SELECTOR, "#q-level")
    browser.execute_script("arguments[0].focus()", group.find_element(By.CSS_SELECTOR, "input"))
    browser.switch_to.active_element.send_keys(Keys.SPACE)
    assert group.get_attribute("data-state") == "wrong"
    browser.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert group.get_attribute("data-state") == "right"
    live = group.find_element(By.CSS_SELECTOR, "[aria-live=polite]")
    assert live.text.startswith("✓ Right.")
    legend = group.find_element(By.CSS_SELECTOR, "fieldset > legend").text
    assert legend.endswith("What happens to β₀?")
    assert "0 of 1 right at the first try" in browser.find_element(By.CSS_SELECTOR, ".wb-tally").text
    again = browser.find_element(By.CSS_SELECTOR, ".wb-foot button")
    browser.execute_script("arguments[0].click()", again)
    assert browser.execute_script("return document.activeElement.name") == asked[0].id
    assert (
        browser.execute_script(
            "return document.querySelectorAll('.wb-question[data-state], .wb-chosen, .wb-question input:checked').length"
        )
        == 0
    )


def test_from_disk_without_a_request_or_an_error(browser, page):
    noise(browser)
    page()
    assert noise(browser) == ([], [])


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_and_can_be_read(page, width, theme):
    browser = page(width, theme)
    for letter in "AB":
        browser.execute_script(CHOOSE, "q-level", letter)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        ink, paper = (
            browser.execute_script("""return [getComputedStyle(document.querySelector('#q-level .wb-says strong')).color,
            getComputedStyle(document.body).backgroundColor].map(c => c.match(/[\\d.]+/g).slice(0, 3).map(Number))""")
        )
        shine = [
            sum(w * ((v / 255 + 0.055) / 1.055) ** 2.4 for w, v in zip((0.2126, 0.7152, 0.0722), c, strict=True))
            for c in (ink, paper)
        ]
        assert (max(shine) + 0.05) / (min(shine) + 0.05) > 4.5
    high = browser.execute_script(
        "return Math.min(...[...document.querySelectorAll('.wb-question label')].map(l => l.getBoundingClientRect().height))"
    )
    assert high >= 24


def test_without_scripts_the_answers_are_folded(browser, page, asked):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page()
        root = browser.execute_cdp_cmd("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
        find = lambda css: browser.execute_cdp_cmd("DOM.querySelectorAll", {"nodeId": root, "selector": css})["nodeIds"]  # noqa: E731
        assert len(find(".wb-question .wb-choices li")) == 4 * len(asked)
        assert len(find(".wb-question details:not([open]) li[data-right]")) == len(asked)
        assert find(".wb-question input") == []
        box = browser.execute_cdp_cmd("DOM.getBoxModel", {"nodeId": find(".wb-choices li")[0]})["model"]
        assert box["height"] > 10
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_paper_has_questions_with_their_answers(browser, page, asked, tmp_path):
    if not shutil.which("pdftotext"):
        pytest.skip("pdftotext is not installed: the words of the PDF are not checked")
    page()
    browser.execute_script(CHOOSE, "q-level", "A")
    data = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True, "preferCSSPageSize": True})["data"]
    (tmp_path / "q.pdf").write_bytes(base64.b64decode(data))
    words = subprocess.run(
        ["pdftotext", str(tmp_path / "q.pdf"), "-"], capture_output=True, text=True, check=True
    ).stdout
    words = " ".join(words.split())
    assert "Not this one" not in words and "Start again" not in words
    assert words.count("is right.") == len(asked)
