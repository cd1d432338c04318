"""Slides of the course kit in a browser, from disk: keys, touch, points, overview, speaker's window, both themes, a phone, paper, no scripts."""

import base64
import re
import sys
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from test_explorer import noise

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "book"))
import pdf
from course import counts, kit, slides

NAMES = [path.stem for path in slides.decks()]


class Show:
    """A deck, as its speaker meets it."""

    def __init__(self, browser, file):
        self.browser, self.file = browser, file

    def open(self, width=1280, height=720, at=1, theme="light"):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        feature = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
        self.browser.get("about:blank")
        self.browser.get(f"{self.file.as_uri()}#{at}")
        return self

    def script(self, body, *arguments):
        return self.browser.execute_script(body, *arguments)

    def press(self, *keys):
        for key in keys:
            self.browser.find_element(By.TAG_NAME, "body").send_keys(key)
        return self.at

    @property
    def at(self):
        """The number of the slide that is shown, and how many of its points are."""
        return tuple(
            self.script("""const now = [...document.querySelectorAll('.slide')].filter(s => s.classList.contains('now'));
            return [[...document.querySelectorAll('.slide')].indexOf(now[0]) + 1, now[0].querySelectorAll('.steps > .shown').length]""")
        )

    def printed(self, notes=False):
        self.script("document.documentElement.classList.toggle('with-notes', arguments[0])", notes)
        kit.wait(self.browser)
        return base64.b64decode(self.browser.execute_cdp_cmd("Page.printToPDF", kit.PAPER)["data"])


@pytest.fixture
def show(browser, course):
    yield lambda name: Show(browser, course / "slides" / f"{name}.html")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def deck(name):
    return next(d for d in counts.decks() if d.name == name)


@pytest.mark.parametrize("name", NAMES)
def test_from_disk_without_a_request_or_an_error(browser, show, name):
    noise(browser)
    shown = show(name).open()
    for _ in deck(name).slides:
        shown.press(Keys.ARROW_RIGHT)
    kit.wait(browser)
    assert noise(browser) == ([], [])
    broken = shown.script("return [...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)")
    assert broken == []


def test_arrows_go_through_slides_and_their_points(show):
    shown = show("lecture").open()
    points = [len(re.findall(r"^\+ ", s.body, re.M)) for s in deck("lecture").slides]
    wanted = [(n, k) for n, many in enumerate(points, 1) for k in range(many + 1)]
    seen = [shown.at] + [shown.press(Keys.ARROW_RIGHT) for _ in wanted[1:]]
    assert seen == wanted
    assert shown.press(Keys.SPACE) == wanted[-1]  # the end is the end
    assert [shown.press(Keys.ARROW_LEFT) for _ in wanted[1:6]] == wanted[-2:-7:-1]
    assert shown.press(Keys.HOME) == (1, 0) and shown.press(Keys.END)[0] == len(points)
    assert shown.press(Keys.PAGE_UP)[0] == len(points) - 1
    assert shown.script("return location.hash") == f"#{len(points) - 1}"
    assert shown.script("return document.querySelector('[role=status]').textContent").startswith(
        f"{len(points) - 1} of {len(points)}: "
    )


def test_a_point_is_not_seen_before_its_time(show):
    number = next(n for n, s in enumerate(deck("lecture").slides, 1) if s.body.count("\n+ ") >= 2)
    shown = show("lecture").open(at=number)
    seen = "return [...document.querySelectorAll('.now .steps > li')].map(li => getComputedStyle(li).visibility === 'visible')"
    assert not any(shown.script(seen))
    shown.press(Keys.ARROW_RIGHT)
    assert shown.script(seen)[:2] == [True, False]


def test_swipes(show):
    shown = show("lecture").open(width=390, height=780)
    swipe = """const [from, to] = arguments, touch = x => new Touch({identifier: 1, target: document.body, clientX: x, clientY: 300});
        document.body.dispatchEvent(new TouchEvent('touchstart', {touches: [touch(from)], bubbles: true}));
        document.body.dispatchEvent(new TouchEvent('touchend', {changedTouches: [touch(to)], bubbles: true}));"""
    for x, y, where in ((300, 100, 2), (300, 100, 3), (100, 300, 2), (100, 120, 2)):
        shown.script(swipe, x, y)
        assert shown.at[0] == where


def test_overview_shows_all_and_leads_to_each(show):
    shown = show("lab").open(at=3)
    shown.press("o")
    seen = "return [...document.querySelectorAll('.slide')].filter(s => s.getClientRects().length).length"
    assert shown.script(seen) == len(deck("lab").slides)
    assert shown.script("return document.activeElement.id") == "slide-3"
    shown.browser.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    shown.browser.switch_to.active_element.send_keys(Keys.ENTER)
    assert shown.at[0] == 4 and shown.script(seen) == 1
    shown.press(Keys.ESCAPE)
    shown.script("document.querySelectorAll('.slide')[8].click()")
    assert shown.at[0] == 9 and shown.script(seen) == 1
    over = "return [...document.querySelectorAll('.slide')].every(s => s.scrollWidth <= s.clientWidth + 1)"
    shown.press("o")
    assert shown.script(over)


def test_notes_below_the_slide_and_light_or_dark(show):
    shown = show("lecture").open(at=5)
    seen = "return document.querySelector('.now .notes').getClientRects().length > 0"
    assert not shown.script(seen)
    shown.press("n")
    assert shown.script(seen)
    light = shown.script("return getComputedStyle(document.querySelector('.now .stage')).backgroundColor")
    image = "return [...document.querySelectorAll('.now img')].filter(i => i.getClientRects().length).map(i => i.src.split('#')[1] || '')"
    assert shown.script(image) == [""]
    shown.press("d")
    assert shown.script("return getComputedStyle(document.querySelector('.now .stage')).backgroundColor") != light
    assert shown.script(image) == ["dark"]
    assert show("lecture").open(theme="dark").script("return document.documentElement.dataset.theme") == "dark"


def test_the_speaker_has_notes_a_clock_and_the_next_slide(browser, show):
    shown = show("lecture").open(at=5)
    first = browser.current_window_handle
    before = set(browser.window_handles)
    slides = shown.script("return document.querySelectorAll('.slide').length")
    shown.press("s")
    WebDriverWait(browser, 10).until(lambda b: len(b.window_handles) == len(before) + 1)
    (other,) = set(browser.window_handles) - before
    try:
        browser.switch_to.window(other)
        told = lambda css: browser.find_element(By.CSS_SELECTOR, css).text  # noqa: E731
        assert re.fullmatch(r"\d\d:\d\d", told(".elapsed")) and re.fullmatch(r"\d\d:\d\d", told(".wall"))
        assert told(".plan") == "planned: minutes 5 to 10 of 45"
        assert "Each dot is a translation system" in told(".notes")
        assert [e.text.partition("\n")[0] for e in browser.find_elements(By.CSS_SELECTOR, ".two > div")] == [
            f"now, 5 of {slides}",
            "next",
        ]
        heads = [e.text for e in browser.find_elements(By.CSS_SELECTOR, ".two .stage h2")]
        assert heads == ["Scorers are judged, too", "How sure is a judge of a pair?"]
        browser.find_element(By.TAG_NAME, "body").send_keys(Keys.ARROW_RIGHT)
        assert "Swap the two scores at random" in told(".notes")
        wide = browser.execute_script(
            "return [...document.images].filter(i => i.getClientRects().length && i.complete && !i.naturalWidth).length"
        )
        assert wide == 0
        browser.switch_to.window(first)
        assert shown.at[0] == 6
        shown.press("s")
        WebDriverWait(browser, 10).until(lambda b: other not in b.window_handles)
    finally:
        if other in browser.window_handles:
            browser.switch_to.window(other)
            browser.close()
        browser.switch_to.window(first)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_explorer_is_where_the_plan_has_it(browser, show, theme):
    places = [(n, s) for n, s in enumerate(deck("lecture").slides, 1) if "explorer" in s.options]
    assert len(places) >= 4
    number, slide = next((n, s) for n, s in places if "beta=0.9" in s.options["explorer"])
    shown = show("lecture").open(at=number, theme=theme)
    frame = WebDriverWait(browser, 20).until(lambda b: b.find_element(By.CSS_SELECTOR, ".now iframe"))
    box = frame.rect
    assert box["width"] > 1000 and box["height"] > 450
    browser.switch_to.frame(frame)
    try:
        WebDriverWait(browser, 60).until(lambda b: "β = 0.9" in b.find_element(By.TAG_NAME, "body").text)
        assert "ende24" in browser.find_element(By.TAG_NAME, "body").text
        assert browser.execute_script("return document.documentElement.dataset.theme") == theme
        assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    finally:
        browser.switch_to.default_content()
    assert shown.press(Keys.ARROW_RIGHT)[0] == number + 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1024, 768), (390, 780)])
def test_every_slide_fits(show, name, width, height):
    """Nothing sticks out to the side; on a wall nothing is cut off at the bottom either."""
    shown = show(name).open(width, height)
    for n in range(1, len(deck(name).slides) + 1):
        shown.script("location.hash = arguments[0]", str(n))
        WebDriverWait(shown.browser, 5).until(lambda _: shown.at[0] == n)
        over = shown.script("""const page = document.querySelector('.now .page');
            return [document.documentElement.scrollWidth - innerWidth, page.scrollWidth - page.clientWidth, page.scrollHeight - page.clientHeight]""")
        assert max(over[:2]) <= 1, f"slide {n} is too wide"
        assert width < 500 or over[2] <= 2, f"slide {n} is too long"


@pytest.mark.parametrize("name", NAMES)
def test_paper_has_a_slide_a_page(show, name):
    shown, many = show(name).open(), len(deck(name).slides)
    plain = pdf.Pdf(shown.printed())
    assert len(plain.pages) == many
    assert len(pdf.Pdf(shown.printed(notes=True)).pages) == many


def test_without_scripts_all_slides_and_notes_are_there(browser, show):
    shown = show("ten-minutes")
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        shown.open()
        root = browser.execute_cdp_cmd("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
        for css in (".slide", ".notes"):
            found = browser.execute_cdp_cmd("DOM.querySelectorAll", {"nodeId": root, "selector": css})["nodeIds"]
            heights = [browser.execute_cdp_cmd("DOM.getBoxModel", {"nodeId": n})["model"]["height"] for n in found]
            assert len(heights) == len(deck("ten-minutes").slides) and min(heights) > 30
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_names_for_those_who_do_not_see(show):
    shown = show("lecture").open()
    assert shown.script("return [...document.querySelectorAll('.bar button')].every(b => b.getAttribute('aria-label'))")
    assert shown.script("return [...document.images].every(i => i.alt.length > 30)")
    assert shown.script("return document.querySelectorAll('.slide h1, .slide h2').length") == len(
        deck("lecture").slides
    )
