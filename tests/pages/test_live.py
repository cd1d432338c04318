"""Small live figures of the chapters, in a browser and from disk: numbers as in Python, keyboard, names, less motion, no scripts, paper."""

import numpy as np
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from test_explorer import noise

import whichbird as wb
from whichbird.core.balance import variance
from whichbird.show import live

SHOWN = 1e-9  # how closely numbers in a page are those of Python
PLACES = [  # figure, page, the still figure beside it
    ("cross", "paper/3-1-balance", "fig-cross")
]


class Figure:
    """One live figure, as its reader meets it."""

    def __init__(self, browser, page, name):
        self.browser, self.page, self.box = browser, page, f'.wb-small[data-figure="{name}"]'

    def open(self, width=1280):
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        self.browser.get(self.page.as_uri())
        WebDriverWait(self.browser, 20).until(
            lambda b: b.find_elements(By.CSS_SELECTOR, f"{self.box}[data-drawn] :is(svg, form)")
        )
        return self

    def script(self, body, *arguments):
        return self.browser.execute_script(f"const box = document.querySelector('{self.box}'); {body}", *arguments)

    def data(self):
        return self.script("return JSON.parse(box.parentNode.querySelector('script.wb-small-data').textContent)")

    def told(self, *names):
        """Numbers that the figure keeps at its box, in full."""
        return self.script("return arguments[0].map(name => +box.dataset[name])", names)

    def weights(self):
        return np.array(self.script("return [...box.querySelectorAll('[data-w]')].map(dot => +dot.dataset.w)"))

    def slide(self, value):
        self.script(
            "const s = box.querySelector('input[type=range]'); s.value = arguments[0]; s.dispatchEvent(new Event('input')); ",
            value,
        )

    def press(self, text):
        self.script("[...box.querySelectorAll('button')].find(b => b.textContent === arguments[0]).click()", text)

    def keys(self, selector, *keys):
        node = self.browser.find_element(By.CSS_SELECTOR, f"{self.box} {selector}")
        self.script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'}); arguments[0].focus()", node)
        node.send_keys(*keys)


@pytest.fixture
def of(browser, html):
    def make(name):
        page = next(page for figure, page, _ in PLACES if figure == name)
        return Figure(browser, html / "book" / f"{page}.html", name)

    return make


# --- all of them ------------------------------------------------------------------------------------------------------------


def test_every_figure_has_a_place():
    assert {name for name, _, _ in PLACES} == set(live.FIGURES)


@pytest.mark.parametrize(("name", "page", "still"), PLACES)
def test_from_disk_without_a_request_or_an_error(browser, html, name, page, still):
    noise(browser)
    figure = Figure(browser, html / "book" / f"{page}.html", name).open()
    assert noise(browser) == ([], [])
    loaded = figure.script("return [...document.scripts].map(s => s.getAttribute('src') || '')")
    ours = [file.rpartition("/")[2][:-3] for file in loaded if "/wb-" in file or "/live" in file]
    assert ours == list(live.scripts(name))


@pytest.mark.parametrize(("name", "page", "still"), PLACES)
def test_controls_are_reached_by_key_and_have_names(browser, html, name, page, still):
    figure = Figure(browser, html / "book" / f"{page}.html", name).open()
    controls = figure.script("""
        return [...box.querySelectorAll('button, input, select, a, [tabindex]')].filter(c => c.getClientRects().length)
            .map(c => [c.tabIndex, c.getAttribute('aria-label') || c.textContent || (c.labels || [])[0]?.textContent || ''])""")
    assert controls and all(tab >= 0 and name.strip() for tab, name in controls)
    for picture in figure.script(
        "return [...box.querySelectorAll('svg')].map(s => [s.getAttribute('role'), s.getAttribute('aria-label')])"
    ):
        assert picture[0] in ("img", "group") and picture[1]
    assert figure.script("return box.querySelectorAll('[role=status]').length") == 1


@pytest.mark.parametrize(("name", "page", "still"), PLACES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_fits_a_phone_in_both_themes(browser, html, name, page, still, theme):
    figure = Figure(browser, html / "book" / f"{page}.html", name).open(width=390)
    figure.script("document.documentElement.dataset.theme = arguments[0]", theme)
    assert figure.script("return document.documentElement.scrollWidth") <= 390
    over = figure.script("""const edge = box.getBoundingClientRect();
        return [...box.querySelectorAll('svg, p, button, input')].map(n => n.getBoundingClientRect())
            .filter(r => r.left < edge.left - 1 || r.right > edge.right + 1).length""")
    assert over == 0
    ink, paper = figure.script("""return [getComputedStyle(box).color, getComputedStyle(document.body).backgroundColor]
        .map(c => c.match(/\\d+/g).slice(0, 3).reduce((s, v) => s + +v, 0))""")
    assert (ink > paper) == (theme == "dark")


@pytest.mark.parametrize(("name", "page", "still"), PLACES)
def test_nothing_moves_by_itself(browser, html, name, page, still):
    """Less motion was asked for: no animation and no transition runs in the figure, at rest or after a control was used."""
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
    )
    try:
        figure = Figure(browser, html / "book" / f"{page}.html", name).open()
        running = "return box.getAnimations({subtree: true}).length"
        assert figure.script(running) == 0
        figure.script("(box.querySelector('button:not(:disabled)') || box.querySelector('input')).click()")
        before = figure.script("return box.innerHTML")
        assert figure.script(running) == 0 and figure.script("return box.innerHTML") == before
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize(("name", "page", "still"), PLACES)
def test_still_figure_is_there_on_paper_and_without_scripts(browser, html, name, page, still):
    figure = Figure(browser, html / "book" / f"{page}.html", name).open()
    seen = "return [box, document.getElementById(arguments[0])].map(n => n.getClientRects().length > 0)"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert figure.script(seen, still) == [False, True]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert figure.script(seen, still) == [True, True]
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get("about:blank")
        browser.get(figure.page.as_uri())
        root = browser.execute_cdp_cmd("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
        find = lambda selector: browser.execute_cdp_cmd("DOM.querySelector", {"nodeId": root, "selector": selector})  # noqa: E731
        image = browser.execute_cdp_cmd("DOM.getBoxModel", find(f"#{still} img"))["model"]
        assert image["width"] > 200 and image["height"] > 100
        inner = browser.execute_cdp_cmd("DOM.getOuterHTML", find(figure.box))["outerHTML"]
        assert inner == f'<div class="wb-small" data-figure="{name}"></div>'
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


# --- one by one -------------------------------------------------------------------------------------------------------------


def test_cross_answers_as_python_does(of):
    figure = of("cross").open()
    data = figure.data()
    a, f = np.array(data["adequacy"]), np.array(data["fluency"])

    def compare():
        w = figure.weights()
        assert w.sum() == pytest.approx(1, rel=SHOWN) and w.min() > 0
        wanted = wb.balance(a, f, w), variance(a, w) ** 0.5, variance(f, w) ** 0.5
        assert figure.told("beta", "flat", "upright") == pytest.approx(wanted, rel=SHOWN)
        assert f"β = {wanted[0]:.2f}" in figure.script("return box.querySelector('.wb-reading').textContent")
        return w

    assert compare() == pytest.approx(np.full(6, 1 / 6))
    for share in (0.01, 0.3, 0.99):
        figure.slide(share)
        w = compare()
        assert w[np.array(data["arm"])].sum() == pytest.approx(share, rel=SHOWN)
    figure.press("Equal weights")
    for k, key in [(0, Keys.ARROW_UP), (4, Keys.PAGE_UP), (5, Keys.ARROW_DOWN)]:
        before = compare()
        figure.keys(f".wb-weight:nth-of-type({1 + k + 6})", key)
        after = compare()
        assert (after[k] > before[k]) == (key != Keys.ARROW_DOWN) and np.count_nonzero(after != before) == 6
    before = compare()
    figure.script("""const dot = box.querySelectorAll('.wb-weight')[1]; dot.setPointerCapture = () => {};
        for (const [kind, y] of [['pointerdown', 100], ['pointermove', 60], ['pointerup', 60]])
            dot.dispatchEvent(new PointerEvent(kind, {clientY: y, pointerId: 1}))""")
    assert compare()[1] == pytest.approx(before[1] + 40 / 200, rel=SHOWN)
