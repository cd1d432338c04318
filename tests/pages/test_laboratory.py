"""The explorer as a laboratory, in a browser and from disk: solver, your pool, axis, movement, comparison, address, files."""

import json
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from test_explorer import PRINTED, SHOWN, explorer, landing, noise  # noqa: F401

import whichbird as wb
from whichbird.solve.reweight import reliable_interval
from whichbird.study.targets import VANISHING

sys.path.insert(0, str(Path(__file__).parents[1]))
import solver_cases


def hash_of(explorer):  # noqa: F811
    return explorer.script("return location.hash")


def dot(explorer, name):  # noqa: F811
    """The mark of a system, brought into sight."""
    return explorer.browser.execute_script(
        """const found = [...document.querySelectorAll('.wb-plane circle[data-k]')].find(
               c => c.querySelector('title').textContent === arguments[0]);
           found.scrollIntoView({block: 'center', behavior: 'instant'});
           return found""",
        name,
    )


def press(explorer, text):  # noqa: F811
    explorer.script("[...root.querySelectorAll('button')].find(b => b.textContent === arguments[0]).click()", text)


def natural(explorer):  # noqa: F811
    return float(explorer.text(".wb-strip span").split("\u00a0")[1])


# --- the solver -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["shipped", "parts", "hard"])
def test_solver_in_the_page_answers_as_python_does(explorer, which):  # noqa: F811
    explorer.open()
    cases = getattr(solver_cases, which)()
    explorer.browser.set_script_timeout(300)
    answers = explorer.script(
        """return JSON.stringify(JSON.parse(arguments[0]).map(({a, f, targets}) => {
            const p = Whichbird.pool(a, f);
            return {natural: p.natural, range: [p.low, p.high], reliable: Whichbird.reliable(p),
                    results: targets.map(b => Whichbird.reweight(p, b))}}))""",
        json.dumps(cases),
    )
    count = solver_cases.compare(cases, json.loads(answers))
    assert count["pools"] == len(cases) and count["proven"] > 0.9 * count["targets"]


# --- the slider -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["explorer", "landing"])
def test_fluency_is_left_and_adequacy_right_wherever_one_looks(request, which):
    figure = request.getfixturevalue(which).open()
    ends = figure.script("""const box = s => root.querySelector(s).getBoundingClientRect();
        return [box('.wb-shares .wb-fluency').left, box('.wb-shares .wb-adequacy').left]""")
    assert ends[0] < ends[1]
    label = figure.one("input[type=range]").get_attribute("aria-label")
    assert re.search(r"fluency at the left.* adequacy at the right", label)
    track = figure.script(
        "return getComputedStyle(root.querySelector('input[type=range]')).getPropertyValue('--track')"
    )
    first, last = (float(x) for x in re.findall(r"calc\(([\d.]+) \* 100%\)", track))
    assert "to right" in track and first < last  # the share of blue grows to the right
    before = figure.state()["beta"]
    figure.one("input[type=range]").send_keys(Keys.ARROW_RIGHT)
    assert figure.state()["beta"] > before
    share = float(figure.text(".wb-shares .wb-adequacy").split()[1])
    assert share == pytest.approx(100 * figure.state()["beta"], abs=0.05)


def test_axis_of_charts_runs_the_same_way(explorer):  # noqa: F811
    explorer.open("#dataset=ende24").complete()
    for selector in (".wb-chart", ".wb-bump"):
        ticks = explorer.script(
            """const chart = root.querySelector(arguments[0]), floor = Math.max(...[...chart.querySelectorAll('text')]
               .filter(t => /^[.\\d]+$/.test(t.textContent)).map(t => +t.getAttribute('y')));
               return [...chart.querySelectorAll('text')].filter(t => +t.getAttribute('y') === floor)
               .map(t => [+t.getAttribute('x'), +t.textContent])""",
            selector,
        )
        assert len(ticks) >= 2 and sorted(ticks) == sorted(ticks, key=lambda tick: tick[1])


@pytest.mark.parametrize("name", ["ende24", "jazh24"])
def test_axis_shows_the_reliable_interval_and_the_whole_range_on_request(explorer, name):  # noqa: F811
    explorer.open(f"#dataset={name}")
    d = wb.load(name)
    ends = "const s = root.querySelector('input[type=range]'); return [+s.min, +s.max]"
    assert explorer.script(ends) == pytest.approx(list(reliable_interval(d.adequacy, d.fluency)), abs=SHOWN)
    press(explorer, "Whole range")
    assert explorer.script(ends) == [0, 1]
    explorer.wait(lambda: hash_of(explorer).endswith("&range=whole"))
    explorer.slide(0.5)  # outside: the axis follows from the place, and the address does not say it
    explorer.wait(lambda: hash_of(explorer) == f"#dataset={name}&beta=0.5")
    press(explorer, "Reliable interval")
    assert explorer.script(ends)[0] <= explorer.state()["beta"] <= explorer.script(ends)[1]
    explorer.open(f"#dataset={name}&beta=0.6&range=whole") if name == "ende24" else explorer.open(
        f"#dataset={name}&beta=0.6"
    )
    assert explorer.script(ends) == [0, 1]


def test_play_sweeps_the_axis_and_stops_at_its_end(explorer):  # noqa: F811
    explorer.open("#dataset=ende24&beta=0.56").complete()
    low, high = reliable_interval(wb.load("ende24").adequacy, wb.load("ende24").fluency)
    press(explorer, "Play")
    explorer.wait(lambda: explorer.state()["beta"] > 0.6)
    press(explorer, "Pause")
    rest = explorer.state()["beta"]
    assert rest < high
    press(explorer, "Play")
    explorer.wait(lambda: explorer.text(".wb-play") == "Play")
    assert explorer.state()["beta"] == pytest.approx(high, abs=SHOWN)


def test_rows_glide_unless_less_motion_is_asked_for(explorer):  # noqa: F811
    moving = "return [...root.querySelectorAll('.wb-ranking li')].some(li => li.getAnimations().length > 0)"
    for wish, glides in (("no-preference", True), ("reduce", False)):
        explorer.browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": wish}]}
        )
        explorer.open("#dataset=ende22&beta=0.9").complete()
        # within one task nothing can come between the step and the question
        found = explorer.script(
            """const s = root.querySelector('input[type=range]');
            s.dispatchEvent(new Event('pointerdown')); s.value = 0.95; s.dispatchEvent(new Event('input'));"""
            + moving
        )
        assert found is glides
        eased = explorer.script("return getComputedStyle(root.querySelector('.wb-system')).transitionDuration")
        assert eased == ("0.15s" if glides else "0s")
    explorer.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


# --- your pool --------------------------------------------------------------------------------------------------------------


def test_leaving_a_system_out_is_exact(explorer):  # noqa: F811
    explorer.open("#dataset=ende24&beta=0.7")
    dot(explorer, "IKUN-C").click()
    d = wb.load("ende24")
    k = d.systems.index("IKUN-C")
    keep = np.delete(np.arange(len(d.systems)), k)
    a, f = d.adequacy[keep], d.fluency[keep]
    r = wb.reweight(a, f, 0.7)
    assert explorer.state() == {"dataset": "ende24", "beta": 0.7, "ess": pytest.approx(r.ess, rel=SHOWN)}
    assert natural(explorer) == pytest.approx(wb.balance(a, f), abs=5e-4)
    w = np.zeros(len(d.systems))
    w[keep] = r.weights
    assert explorer.weights() == pytest.approx(dict(zip(d.systems, w, strict=True)), abs=SHOWN)
    spa = wb.spa_from_p(d.human_p, d.scorer_p, w)
    rows = explorer.ranking()
    assert {row["name"]: row["spa"] for row in rows} == pytest.approx(dict(zip(d.scorers, spa, strict=True)), abs=SHOWN)
    assert {row["ranks"] for row in rows} == {""} and not any(row["mark"] for row in rows)  # tests are of another pool
    ends = "const s = root.querySelector('input[type=range]'); return [+s.min, +s.max]"
    assert explorer.script(ends) == pytest.approx(list(reliable_interval(a, f)), abs=SHOWN)
    said = explorer.text(".wb-pool")
    reliable, reachable = ("{:.3f} to {:.3f}".format(*ends) for ends in (reliable_interval(a, f), wb.reachable(a, f)))
    assert said.startswith(
        f"Your pool: 15 systems (1 left out). β₀ {wb.balance(a, f):.3f}, reliable {reliable}, reachable {reachable}. "
        "Leaving out is exact"
    )
    assert said.endswith("are not shown.")
    assert "in your pool of ende24, all 15 systems" in explorer.text(".wb-summary")
    assert hash_of(explorer) == "#dataset=ende24&beta=0.7&out=IKUN-C"
    press(explorer, "Undo")
    assert explorer.text(".wb-pool") == "" and natural(explorer) == pytest.approx(
        wb.balance(d.adequacy, d.fluency), abs=5e-4
    )
    assert any(row["ranks"] for row in explorer.ranking())


def test_what_vanishes_is_marked_with_a_word(explorer):  # noqa: F811
    d = wb.load("ende22")
    low, _ = reliable_interval(d.adequacy, d.fluency)
    for beta in (low, 0.92, 0.5):
        explorer.open(f"#dataset=ende22&beta={beta:.6f}")
        w = wb.reweight(d.adequacy, d.fluency, explorer.state()["beta"]).weights
        gone = {name for name, x in zip(d.systems, w, strict=True) if x * len(w) < VANISHING}
        marked = explorer.script("""return [...root.querySelectorAll('.wb-bars li')].filter(li => {
            const mark = li.querySelector('em');
            return mark.offsetWidth > 0 && mark.textContent === 'vanishes'}).map(li => li.querySelector('.wb-system-name').title)""")
        assert set(marked) == gone and ("vanish" in explorer.text(".wb-summary")) == bool(gone)
    assert len(gone) > 2  # and at the end of the reliable interval one, below
    assert (wb.reweight(d.adequacy, d.fluency, low).weights * len(w) < VANISHING).sum() == 1


def test_the_carrier_can_be_left_out_where_it_stands(explorer):  # noqa: F811
    """Of all pairs, of a scorer, of a pair: the systems that `wb.carriers` names; without it the ranks are those it gives."""
    found = wb.carriers("ende22")
    places = found.places()
    kept = (found.kept() & places).sum(axis=(1, 2))
    shift = found.scorer("SEScore")
    one, two = ("COMET-22", "HWTSC-TLM") if found.pair("COMET-22", "HWTSC-TLM").places else ("COMET-22", "SEScore")
    carriers = {
        "": found.systems[kept.argmin()],
        "SEScore": shift.carrier,
        f"{one},{two}": found.pair(one, two).carrier,
    }
    at = "return [...root.querySelectorAll('.wb-without')].map(b => b.closest('li').querySelector('.wb-system-name').title)"
    for follow, system in carriers.items():
        explorer.open(f"#dataset=ende22&beta=0.9{'&follow=' * bool(follow)}{follow}")
        assert explorer.script(at) == [system] and system in explorer.text(".wb-carriers")
        press(explorer, "leave this one out")
        assert hash_of(explorer).endswith(f"&out={quote(system)}") and explorer.weights()[system] == 0
        assert explorer.script(at) == [] and explorer.text(".wb-carriers") == ""  # known of the pool as it ships
        assert explorer.script("return document.activeElement.title") == system
    explorer.open("#dataset=ende22&beta=0.9&follow=SEScore")
    press(explorer, "leave this one out")
    without = shift.without[found.systems.index(shift.carrier)].tolist()
    assert f"{without[0]} and {without[1]}" in explorer.open("#dataset=ende22&beta=0.9&follow=SEScore").text(
        ".wb-carriers"
    )
    explorer.open(f"#dataset=ende22&out={quote(shift.carrier)}&follow=SEScore")
    slider = explorer.one("input[type=range]")
    for key, rank in ((Keys.HOME, without[0]), (Keys.END, without[1])):
        slider.send_keys(key)
        assert [row["place"] for row in explorer.ranking() if row["name"] == "SEScore"] == [rank]


def test_bars_of_two_scorers_are_their_contributions(explorer):  # noqa: F811
    """Each system's part of the lead is the library's; a star where the lead turns without it; no bars for one scorer or three."""
    d = wb.load("ende22")
    for beta in (0.9, 0.95):
        explorer.open(f"#dataset=ende22&beta={beta}&follow=COMET-22,SEScore")
        w = wb.reweight(d.adequacy, d.fluency, explorer.state()["beta"]).weights
        c = wb.contributions(d, w)
        lead = c[d.scorers.index("SEScore")] - c[d.scorers.index("COMET-22")]
        lead *= np.sign(lead.sum())
        rows = explorer.script("""return [...root.querySelectorAll('.wb-parts li')].map(li =>
            [li.firstChild.title, +li.dataset.part, li.lastChild.textContent.endsWith('*')])""")
        assert {name for name, _, _ in rows} == set(d.systems)
        for name, part, star in rows:
            k = d.systems.index(name)
            assert part == pytest.approx(lead[k], abs=1e-6) and star == (lead[k] > lead.sum() / 2)
    for others in ("COMET-22", "COMET-22,SEScore,BLEU"):
        explorer.open(f"#dataset=ende22&beta=0.9&follow={others}")
        assert explorer.script("return root.querySelector('.wb-parts').offsetHeight") == 0


def test_at_the_natural_balance_one_stays_there(explorer):  # noqa: F811
    explorer.open("#dataset=ende24")
    explorer.script("root.querySelectorAll('.wb-bars .wb-system-name')[3].click()")
    name = explorer.script("return root.querySelectorAll('.wb-bars .wb-system-name')[3].title")
    d = wb.load("ende24")
    k = d.systems.index(name)
    assert explorer.state()["beta"] == pytest.approx(
        wb.balance(np.delete(d.adequacy, k), np.delete(d.fluency, k)), abs=SHOWN
    )
    assert explorer.state()["ess"] == pytest.approx(15)


def test_a_system_can_be_dragged_and_counts_for_the_balance_but_not_for_spa(explorer):  # noqa: F811
    explorer.open("#dataset=ende24&beta=0.7", height=1400)
    noise(explorer.browser)
    mark = dot(explorer, "IKUN-C")
    ActionChains(explorer.browser).click_and_hold(mark).move_by_offset(60, -40).move_by_offset(
        10, -10
    ).release().perform()
    explorer.complete()
    moved = re.search(r"move=IKUN-C:([-\d.]+):([-\d.]+)", hash_of(explorer))
    d = wb.load("ende24")
    k = d.systems.index("IKUN-C")
    a, f = d.adequacy.copy(), d.fluency.copy()
    assert float(moved[1]) > a[k] and float(moved[2]) > f[k]
    a[k], f[k] = float(moved[1]), float(moved[2])
    r = wb.reweight(a, f, 0.7)
    assert explorer.state()["ess"] == pytest.approx(r.ess, rel=SHOWN)
    assert natural(explorer) == pytest.approx(wb.balance(a, f), abs=5e-4)
    assert explorer.weights() == pytest.approx(dict(zip(d.systems, r.weights, strict=True)), abs=SHOWN)
    w = r.weights.copy()
    w[k] = 0  # scorers have no scores for it there
    spa = dict(zip(d.scorers, wb.spa_from_p(d.human_p, d.scorer_p, w), strict=True))
    assert {row["name"]: row["spa"] for row in explorer.ranking()} == pytest.approx(spa, abs=SHOWN)
    assert "wb-made" in mark.get_attribute("class") and "moved" in mark.get_attribute("aria-label")
    assert "it counts for β and the weights, not for SPA" in explorer.text(".wb-pool")
    press(explorer, "Undo")  # one drag is one step back
    assert explorer.text(".wb-pool") == ""
    assert noise(explorer.browser) == ([], [])


def test_a_system_can_be_added_moved_by_keys_and_taken_away(explorer):  # noqa: F811
    explorer.open("#dataset=ende24&beta=0.7")
    press(explorer, "Add a system")
    active = "const at = document.activeElement; return [at.getAttribute('aria-label'), at.getAttribute('role')]"
    label, role = explorer.script(active)
    assert label.startswith("invented 1, invented: adequacy ") and role == "button"
    before = [float(x) for x in re.search(r"add=([-\d.]+):([-\d.]+)", hash_of(explorer)).groups()]
    explorer.browser.switch_to.active_element.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_UP)
    after = [float(x) for x in re.search(r"add=([-\d.]+):([-\d.]+)", hash_of(explorer)).groups()]
    assert after[0] > before[0] and after[1] > before[1]
    d = wb.load("ende24")
    a, f = np.append(d.adequacy, after[0]), np.append(d.fluency, after[1])
    r = wb.reweight(a, f, 0.7)
    assert explorer.state()["ess"] == pytest.approx(r.ess, rel=SHOWN)
    shown = explorer.weights()
    assert shown["invented 1"] == pytest.approx(r.weights[-1], abs=SHOWN) and len(shown) == 17
    spa = dict(zip(d.scorers, wb.spa_from_p(d.human_p, d.scorer_p, r.weights[:-1]), strict=True))
    assert {row["name"]: row["spa"] for row in explorer.ranking()} == pytest.approx(spa, abs=SHOWN)
    explorer.browser.switch_to.active_element.send_keys(Keys.ENTER)
    assert "add=" not in hash_of(explorer) and len(explorer.weights()) == 16
    for _ in range(3):
        press(explorer, "Undo")
    assert re.search(r"add=([-\d.]+):", hash_of(explorer))[1] == f"{before[0]:g}"
    press(explorer, "Reset the pool")
    assert hash_of(explorer) == "#dataset=ende24&beta=0.7"


def test_a_pool_needs_two_systems(explorer):  # noqa: F811
    d = wb.load("ende24")
    out = ",".join(d.systems[:-2])
    explorer.open(f"#dataset=ende24&out={out}")
    assert explorer.state()["ess"] == pytest.approx(2)
    dot(explorer, d.systems[-1]).click()
    assert "needs two systems that differ" in explorer.text(".wb-pool") and explorer.state()["ess"] == pytest.approx(2)
    explorer.open(f"#dataset=ende24&out={','.join(d.systems)}")
    assert explorer.state()["ess"] == pytest.approx(16)  # such an address is not followed


def test_pool_of_an_address_is_that_of_python(explorer):  # noqa: F811
    rng = np.random.default_rng(5)
    for name in ("ende22", "zhen23", "jazh24"):
        d = wb.load(name)
        out = rng.choice(len(d.systems), 3, replace=False)
        keep = np.setdiff1d(np.arange(len(d.systems)), out)
        a, f = d.adequacy[keep], d.fluency[keep]
        low, high = wb.reachable(a, f)
        beta = round(low + 0.6 * (high - low), 4)
        explorer.open(f"#dataset={name}&beta={beta}&out={','.join(d.systems[k] for k in out)}")
        r = wb.reweight(a, f, beta)
        assert explorer.state() == {"dataset": name, "beta": beta, "ess": pytest.approx(r.ess, rel=SHOWN)}


# --- comparison --------------------------------------------------------------------------------------------------------------


def test_followed_scorers_cross_where_python_says_and_the_test_is_named(explorer):  # noqa: F811
    v = wb.load_significance("ende22")
    ends = v.ends()
    kinds = {
        "the order turns": ends.turns,
        "the lead moves, the order does not turn": ends.moved & ~ends.turns,
        "the lead does not move": ends.places & ~ends.moves & ~ends.turns,
    }
    for words, pairs in kinds.items():
        m, n = next((i, j) for i, j in np.argwhere(pairs) if i < j)
        names = v.scorers[m], v.scorers[n]
        explorer.open(f"#dataset=ende22&beta=0.92&follow={names[0]},{names[1]}").complete()
        text = explorer.text(".wb-meetings")
        told = wb.story(v, *names) if hasattr(wb, "story") else None
        assert text.startswith(f"{names[0]} and {names[1]} cross at β") and words in text
        first = float(re.search(r"at β\u00a0=\u00a0([\d.]+)", text)[1])
        d = wb.load("ende22")
        spa = wb.spa_from_p(
            d.human_p, d.scorer_p, wb.reweight_sweep(d.adequacy, d.fluency, [first - 0.004, first + 0.004]).weights
        )
        lead = spa[:, m] - spa[:, n]
        assert lead[0] * lead[1] < 0 or told is not None
        sure = explorer.script("return root.querySelectorAll('.wb-bump .wb-crossing.wb-sure').length")
        assert (sure > 0) == ends.turns[m, n]


def test_bump_chart_has_all_scorers_at_their_ranks(explorer):  # noqa: F811
    explorer.open("#dataset=ende24&beta=0.75&follow=XCOMET,chrF").complete()
    assert explorer.script("return root.querySelectorAll('.wb-bump path.wb-line').length") == 30
    ends = explorer.script("return [...root.querySelectorAll('.wb-bump .wb-tip')].map(t => t.textContent)")
    d = wb.load("ende24")
    ranks = {}
    for beta in reliable_interval(d.adequacy, d.fluency):
        spa = wb.spa_from_p(d.human_p, d.scorer_p, wb.reweight(d.adequacy, d.fluency, beta).weights)
        ranks[beta] = {s: 1 + int((spa > spa[d.scorers.index(s)] + 1e-9).sum()) for s in ("XCOMET", "chrF")}
    (first, last) = ranks.values()
    assert sorted(ends) == sorted(
        [f"{s} {first[s]}" for s in ("XCOMET", "chrF")] + [f"{last[s]} {s}" for s in ("XCOMET", "chrF")]
    )


# --- the address -----------------------------------------------------------------------------------------------------------


def test_back_button_leads_back(explorer):  # noqa: F811
    explorer.open("#dataset=ende24&beta=0.7")
    dot(explorer, "IKUN-C").click()
    explorer.script("root.querySelector('.wb-ranking li:nth-child(3) button').click()")
    explorer.choose("ende22")
    states = [hash_of(explorer)]
    for _ in range(3):
        explorer.browser.back()
        explorer.wait(lambda: hash_of(explorer) != states[-1])
        states.append(hash_of(explorer))
    assert "follow=" in states[1] and "out=IKUN-C" in states[1]
    assert states[2] == "#dataset=ende24&beta=0.7&out=IKUN-C" and states[3] == "#dataset=ende24&beta=0.7"
    explorer.wait(lambda: explorer.text(".wb-pool") == "")
    assert explorer.state()["dataset"] == "ende24" and explorer.state()["beta"] == 0.7
    explorer.browser.forward()
    explorer.wait(lambda: explorer.text(".wb-pool").startswith("Your pool: 15"))


def test_hostile_addresses_are_passed_over_in_silence(explorer):  # noqa: F811
    noise(explorer.browser)
    for fragment in (
        "#dataset=ende24&beta=<img src=x onerror=alert(1)>&follow=<script>alert(1)</script>",
        "#dataset=ende24&out=%E0%A4%A&move=GPT-4:1e999:NaN&add=;;&range=%00",
        "#dataset=__proto__&beta=0.5",
        "#dataset=ende24&move=" + ",".join(["GPT-4:-1:-1"] * 400),
        "#" + "a" * 20000,
        "#dataset=ende24&add=" + ",".join(["-1:-1"] * 300),
    ):
        explorer.open(fragment)
        assert explorer.state()["dataset"] == "ende24" and explorer.state()["ess"] > 1
        assert len(explorer.weights()) <= 40
    assert explorer.script("return document.querySelectorAll('.wb-live img, .wb-live script').length") == 0
    assert noise(explorer.browser) == ([], [])


def test_no_attribute_is_without_a_number(explorer):  # noqa: F811
    """Pools at the edge of sense: two systems, all on one line, as many as there may be in the corners of the plane."""
    noise(explorer.browser)
    for name in ("ende24", "zhen20"):
        d = wb.load(name)
        explorer.open(f"#dataset={name}")
        left, right, bottom, top = explorer.script(
            "return Whichbird.frame(JSON.parse(document.querySelector('script.wb-data').textContent).find(p => p.name === arguments[0]))",
            name,
        )
        corners = [f"{x}:{y}" for x in (left, right) for y in (bottom, top)]
        all_but = {n: f"&out={','.join(map(quote, d.systems[n:]))}" for n in (1, 2)}
        for edit in (
            all_but[2],
            f"{all_but[1]}&add={corners[0]}",
            f"{all_but[1]}&add={','.join([corners[3]] * 24)}",
            f"&add={','.join(corners * 6)}",
            f"&add={','.join([corners[1]] * 24)}",
            f"{all_but[2]}&add={','.join(corners * 6)}",
        ):
            explorer.open(f"#dataset={name}{edit}")
            explorer.complete()
            odd = explorer.script(
                """return [...root.querySelectorAll('*')].flatMap((node) => [...node.attributes].map((a) => `${node.tagName} ${a.name}=${a.value}`))
                    .filter((text) => /NaN|undefined|Infinity/.test(text))"""
            )
            assert odd == [], (edit, odd)
            assert not re.search(r"NaN|undefined|[.,;] ?[;,]", explorer.text(".wb-summary") + explorer.text(".wb-pool"))
    assert noise(explorer.browser) == ([], [])


def test_copy_link_brings_the_same_figure_back(explorer):  # noqa: F811
    explorer.open("#dataset=ende24&beta=0.7&out=GPT-4&follow=chrF,BLEU&add=-1.5:-1")
    explorer.script("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }")
    press(explorer, "Copy link")
    explorer.wait(lambda: "Copied the link" in explorer.text(".wb-take .wb-note"))
    link = explorer.script("return window.copied")
    before = explorer.state(), explorer.weights(), [row["name"] for row in explorer.ranking() if row["followed"]]
    assert link.startswith("file:") and link.endswith("#dataset=ende24&beta=0.7&follow=chrF,BLEU&out=GPT-4&add=-1.5:-1")
    explorer.open(link.partition("explorer.html")[2])
    assert before == (
        explorer.state(),
        explorer.weights(),
        [row["name"] for row in explorer.ranking() if row["followed"]],
    )


# --- files -----------------------------------------------------------------------------------------------------------------


def saved(explorer, button):  # noqa: F811
    """The file that a button makes: its name, its kind, and its content as text (a PNG: its first bytes and size)."""
    explorer.script("""window.made = null;
        URL.createObjectURL = (blob) => { blob.arrayBuffer().then(b => { window.made = [blob.type, [...new Uint8Array(b)]]; }); return '#'; };
        HTMLAnchorElement.prototype.click = function () { window.named = this.download; }""")
    press(explorer, button)
    explorer.wait(lambda: explorer.script("return window.made !== null"))
    kind, content = explorer.script("return window.made")
    return explorer.script("return window.named"), kind, bytes(content)


def test_files_to_take_away(explorer):  # noqa: F811
    explorer.open("#dataset=ende24&beta=0.75&follow=chrF,XCOMET&out=GPT-4&add=-1.5:-1").complete()
    name, kind, content = saved(explorer, "Save CSV")
    assert (name, kind) == ("whichbird-ende24-0.750.csv", "text/csv")
    lines = content.decode().splitlines()
    assert "|pool:1 left out and 1 invented|beta:0.75|" in lines[0]
    assert sum(line.startswith("system,") for line in lines) == 15 and any(
        line.startswith("invented system,invented 1,") for line in lines
    )
    name, kind, content = saved(explorer, "Save SVG")
    assert (name, kind) == ("whichbird-ende24-0.750.svg", "image/svg+xml")
    drawing = ET.fromstring(content)
    texts = ["".join(node.itertext()) for node in drawing.iter("{http://www.w3.org/2000/svg}text")]
    scorers = [row["shown"] for row in explorer.ranking()]
    assert [t for t in texts if t in scorers] == scorers
    assert any("your pool (1 left out, 1 invented)" in t for t in texts) and any(
        t.startswith("ende24|sys:16|") for t in texts
    )
    assert b"var(--" not in content  # no stylesheet is needed
    name, kind, content = saved(explorer, "Save PNG")
    assert name.endswith(".png") and kind == "image/png" and content.startswith(b"\x89PNG") and len(content) > 20_000


# --- reach -----------------------------------------------------------------------------------------------------------------


def test_everything_can_be_reached_and_has_a_name(explorer):  # noqa: F811
    explorer.open("#dataset=ende24&beta=0.7").complete()
    names = explorer.script("""return [...root.querySelectorAll('.wb-plane circle[data-k], .wb-ranking li button, .wb-bars button, button')].map(
        n => [n.tabIndex, n.getAttribute('aria-label') || n.textContent, n.disabled === true])""")
    assert len(names) > 16 + 30 + 16 and all(index >= 0 and name.strip() for index, name, _ in names)
    assert (
        explorer.script("return root.querySelector('.wb-plane').getAttribute('role')") == "group"
    )  # an img would hide its dots
    row = explorer.one(".wb-ranking li:nth-child(4) button")
    name = row.get_attribute("title")
    row.send_keys(Keys.ENTER)
    assert row.get_attribute("aria-pressed") == "true"
    assert [r["name"] for r in explorer.ranking() if r["followed"]] == [name]
    assert explorer.script("return document.activeElement.title") == name
    mark = dot(explorer, "GPT-4")
    mark.send_keys(Keys.SPACE)
    assert mark.get_attribute("aria-pressed") == "false" and "left out" in mark.get_attribute("aria-label")


def test_focus_stays_on_a_row_that_moves(explorer):  # noqa: F811
    explorer.open("#dataset=ende22&beta=0.9").complete()
    row = explorer.one(".wb-ranking li:nth-child(12) button")
    row.send_keys("")
    name = row.get_attribute("title")
    explorer.slide(0.95)
    explorer.script("arguments[0].focus()", row)
    explorer.slide(0.9)
    assert explorer.script("return document.activeElement.title") == name


def test_on_a_phone_the_ranking_comes_second(explorer):  # noqa: F811
    explorer.open("#dataset=ende24&beta=0.75", width=390)
    top = "return root.querySelector(arguments[0]).getBoundingClientRect().top - root.getBoundingClientRect().top"
    place = {
        s: explorer.script(top, s)
        for s in (".wb-planar", ".wb-rank", ".wb-weights", ".wb-curves", ".wb-beside", ".wb-bumps")
    }
    assert sorted(place, key=place.get)[:2] == [".wb-planar", ".wb-rank"]
    assert place[".wb-rank"] < 900
