"""Small live figures of the chapters, in a browser and from disk: numbers as in Python, keyboard, names, less motion, no scripts, paper."""

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from test_explorer import noise

import whichbird as wb
from whichbird.core.augment import DIALS
from whichbird.core.balance import variance
from whichbird.data.criteria import criterion_means
from whichbird_book import live

SHOWN = 1e-9  # how closely numbers in a page are those of Python
PLACES = [  # figure, page, the still figure beside it
    ("cross", "paper/3-1-balance", "fig-cross"),
    ("triangle", "paper/3-5-algorithm", "fig-35-simplex"),
    ("triangle", "appendix/a1-quadratic", "fig-a-triangle"),
    ("saddle", "beyond/certified-reweighting", "fig-cr-surface"),
    ("flips", "paper/2-background", "fig-2-permutation"),
    ("gaps", "paper/3-2-response", "fig-gaps"),
    ("dial", "paper/4-1-augmentation", "fig-41-plane"),
    ("quiz", "use/calibration-desks", "fig-cal-sweep"),
    ("steer", "index", "fig-steer"),
    ("without", "index", "fig-without"),
    ("shares", "beyond/three-aspects", "fig-three-region"),
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
    assert [file for file in dict.fromkeys(ours) if file in live.scripts(name)] == list(live.scripts(name))
    assert page == "index" or ours == list(live.scripts(name))  # the first page has several figures


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


def test_triangle_shows_the_optimum_and_the_curve_that_python_has(of):
    figure = of("triangle").open()
    data = figure.data()
    a, f = np.array(data["adequacy"]), np.array(data["fluency"])
    low, high = wb.reachable(a, f)
    for beta in (data["beta"], 0.25, 0.5, 0.8, round(low + 0.002, 3), round(high - 0.002, 3)):
        figure.slide(beta)
        best = wb.reweight(a, f, beta)
        assert figure.told("beta", "p") == pytest.approx([beta, best.weights @ best.weights], rel=SHOWN)
        w = np.array(figure.script("return box.dataset.weights").split(), float)
        assert w == pytest.approx(
            best.weights, abs=1e-7
        )  # where the optimum is flat, weights are known to half the digits
        curve = figure.script(
            "return Whichbird.triangleMet(...arguments).flat()", data["adequacy"], data["fluency"], beta, 180
        )
        assert len(curve) > 20
        for v in np.maximum(0, curve):
            assert (v**2).sum() >= best.weights @ best.weights - 1e-9  # nothing on the curve is inside the circle
            assert v.max() > 1 - 1e-9 or wb.balance(a, f, v) == pytest.approx(beta, abs=1e-7)
    figure.press("β₀, equal weights")
    assert figure.told("beta", "p") == pytest.approx([wb.balance(a, f), 1 / 3], rel=SHOWN)
    figure.keys("input", Keys.ARROW_RIGHT)
    assert figure.told("beta")[0] > wb.balance(a, f)


def test_saddle_gives_weight_as_python_does(of):
    figure = of("saddle").open()
    data = figure.data()
    a, f = np.array(data["adequacy"]), np.array(data["fluency"])
    for beta in (data["low"], 0.25, 0.5, 0.8, 0.95, data["high"]):
        figure.slide(beta)
        best = wb.reweight(a, f, beta)
        assert figure.told("beta", "ess") == pytest.approx([beta, best.ess], rel=SHOWN)
        assert figure.weights() == pytest.approx(best.weights, abs=1e-7)
        held = np.count_nonzero(best.weights)
        assert figure.script("return box.querySelectorAll('.wb-none').length") == a.size - held
        # the line that is drawn: on its points the library's surface is zero
        drawn = figure.script(
            """const r = Whichbird.reweight(Whichbird.pool(arguments[0], arguments[1]), arguments[2]);
               const mean = [arguments[0], arguments[1]].map(x => Whichbird.moments(x, r.weights)[0]);
               const range = [arguments[0], arguments[1]].flatMap(x => [Math.min(...x), Math.max(...x)]);
               return Whichbird.saddleBranches(arguments[2], -r.lam / r.eta, mean, range).flatMap(b => b.slice(0, -2))""",
            data["adequacy"],
            data["fluency"],
            beta,
        )
        x, y = np.array(drawn).T
        bend = (1 - beta) * (x - best.weights @ a) ** 2 - beta * (y - best.weights @ f) ** 2
        assert np.abs(-best.lam - best.eta * bend).max() < 1e-6  # weights are below one
    figure.press("β₀, equal weights")
    assert figure.weights() == pytest.approx(np.full(a.size, 1 / a.size), rel=SHOWN)
    figure.keys("input", Keys.ARROW_LEFT)
    assert figure.told("beta")[0] < wb.balance(a, f)


def test_coin_flips_end_at_the_p_values_of_the_library(of):
    figure = of("flips").open()
    d = wb.load("ende24")
    pair = [(i, j) for i in range(len(d.systems)) for j in range(i + 1, len(d.systems))].index(
        tuple(d.systems.index(name) for name in ("Dubformer", "ONLINE-B"))
    )
    wanted = [int(d.counts(view)[pair]) for view in ("total", "adequacy", "fluency")]
    for coins in range(1, 4):
        figure.press("Flip one coin")
        assert figure.told("done", "tossed") == [0, coins]
    figure.press("Flip all segments")
    assert figure.told("done") == [1]
    figure.keys("button:nth-of-type(2)", Keys.ENTER)  # a view, by key
    assert figure.script("return box.querySelector('[aria-pressed=true]').textContent") == "adequacy"
    figure.press("Do it 1000 times")
    WebDriverWait(figure.browser, 60).until(lambda _: figure.told("done") == [1000])
    assert figure.script("return box.dataset.reached.split(' ').map(Number)") == wanted
    text = figure.script("return box.querySelector('.wb-reading').textContent")
    assert text == f"{wanted[1]} of 1000 random gaps reach the observed one: p\u00a0=\u00a0{wanted[1] / 1000:.3f}."
    assert figure.script("return [...box.querySelectorAll('button')].slice(3).every(b => b.disabled)")


def test_coins_fall_at_once_where_less_motion_is_asked_for(of, browser):
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
    )
    try:
        figure = of("flips").open()
        figure.press("Do it 1000 times")
        assert figure.told("done") == [1000]
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_cloud_of_gaps_answers_as_python_does(of):
    figure = of("gaps").open()
    for pool in figure.data()["pools"]:
        a, f = np.array(pool["adequacy"]), np.array(pool["fluency"])
        figure.press(pool["name"])
        assert figure.told("beta") == pytest.approx([wb.balance(a, f)], rel=SHOWN)
        i, j = np.triu_indices(a.size, 1)
        side = np.sign((a + f)[i] - (a + f)[j])
        da, df = side * (a[i] - a[j]), side * (f[i] - f[j])
        ends = figure.script("const s = box.querySelector('input'); return [+s.min, +s.max]")
        for beta in (ends[0], ends[1]):
            figure.slide(beta)
            w = wb.reweight(a, f, beta).weights
            share = w[i] * w[j] / (w[i] * w[j]).sum()
            told = figure.told("beta", "va", "vf", "blue", "orange")
            wanted = [beta, variance(a, w), variance(f, w), share[df < 0].sum(), share[da < 0].sum()]
            assert told == pytest.approx(wanted, abs=1e-7)
            assert wb.ess(w) >= 0.8 * a.size
        figure.press("As collected")
        assert figure.told("beta") == pytest.approx([wb.balance(a, f)], rel=SHOWN)
        blue, orange = ((df < 0).sum(), (da < 0).sum())
        assert figure.told("blue", "orange") == pytest.approx([blue / i.size, orange / i.size], rel=SHOWN)
    figure.keys("input", Keys.ARROW_RIGHT)
    assert figure.told("beta")[0] > wb.balance(a, f)


def test_dial_moves_a_scorer_where_python_puts_it(of):
    figure = of("dial").open()
    for title, families in [(s["title"], s["families"]) for s in figure.data()["scorers"]]:
        scorer, name = title.split(" in ")
        q = wb.load(name)
        figure.press(title)
        for family in families:
            figure.press(family["name"])
            p = q.curves(family["name"])[q.scorers.index(scorer)]
            fluency, adequacy = wb.spa_from_p(q.fluency_p, p), wb.spa_from_p(q.adequacy_p, p)
            dials = list(DIALS[family["name"]])
            home = int(np.abs(dials).argmin())
            assert figure.told("dial", "fluency", "adequacy") == pytest.approx(
                [dials[home], fluency[home], adequacy[home]]
            )
            for n in (0, len(dials) - 1):
                figure.slide(n)
                assert figure.told("dial", "fluency", "adequacy") == pytest.approx([dials[n], fluency[n], adequacy[n]])
    figure.keys("input", Keys.HOME)
    assert figure.told("dial") == pytest.approx([dials[0]])


def test_quiz_says_what_python_says_and_leads_on(of):
    figure = of("quiz").open()
    data = figure.data()
    rows = [
        (n, "", scorer, int(side), 1)
        for n, sides in enumerate(data["sides"], 1)
        for scorer, side in zip(data["scorers"], sides, strict=True)
    ]
    table = pd.DataFrame(rows, columns=["pair", "preferred", "scorer", "first", "second"])
    radios = figure.script("return box.querySelectorAll('input').length")
    assert radios == 24 and figure.script("return box.querySelector('a').hidden")
    for pattern in ("101010101010", "010101010101", "110100101101", "111111111111"):
        for n, first in enumerate(pattern):
            figure.script("box.querySelectorAll('input')[arguments[0]].click()", 2 * n + (first == "0"))
        side = {n: "first" if c == "1" else "second" for n, c in enumerate(pattern, 1)}
        c = wb.calibrate(table.assign(preferred=table["pair"].map(side)), data["dataset"])
        assert figure.script("return box.querySelector('.wb-reading').textContent") == c.verdict
        assert figure.told("beta", "above") == [c.beta, c.above]
        first = figure.script("return box.querySelector('.wb-told p:nth-of-type(2)').textContent")
        agree = c.agreement[first.split(": ")[1].split(" (")[0]]
        assert agree == c.agreement.max()
        link = figure.script("return box.querySelector('a').getAttribute('href')")
        assert link == f"explorer.html#dataset={data['dataset']}&beta={c.beta:.3f}"
    figure.press("Start again")
    assert figure.script("return box.querySelector('a').hidden && !box.querySelector('input:checked')")
    figure.keys("input", Keys.SPACE)
    assert "11 more" in figure.script("return box.querySelector('.wb-reading').textContent")


def test_shares_says_what_python_finds(of):
    figure = of("shares").open()
    pool = figure.data()["pools"][0]
    x = criterion_means(pool["name"], pool["aspects"])[1]
    assert pool["natural"] == pytest.approx(wb.shares(x), abs=1e-6)
    before = figure.script("return box.dataset.target.split(' ').map(Number)")
    figure.keys("input", Keys.ARROW_RIGHT)
    after = figure.script("return box.dataset.target.split(' ').map(Number)")
    assert after[0] == pytest.approx(before[0] + 1 / pool["steps"]) and sum(after) == pytest.approx(1)
    found = wb.reweight_shares(x, after)
    assert figure.told("ess")[0] == pytest.approx(found.ess, abs=1e-3)
    assert f"{found.ess:.1f} of {x.shape[1]}" in figure.script("return box.querySelector('.wb-reading').textContent")
    out = pool["targets"][pool["ess"].index(None)]
    with pytest.raises(wb.NotReachable):
        wb.reweight_shares(x, out)
    figure.script("""const svg = box.querySelector('svg'), dot = box.querySelector('.wb-out').getBoundingClientRect();
        svg.dispatchEvent(new PointerEvent('pointerdown', {clientX: dot.x + dot.width / 2, clientY: dot.y + dot.height / 2}))""")
    assert figure.script("return box.dataset.target.split(' ').map(Number)") == out
    assert "out of reach" in figure.script("return box.querySelector('.wb-reading').textContent")
