"""Reading in a browser, opened from disk: folded code and its switch, numbers, cards, search, print, tables on a phone."""

import json
import re
import sys
from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from test_look import opened, source, tags

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "book"))
import execute
import numbering

CHAPTER = "book/paper/3-1-balance"


@pytest.fixture
def chapter(browser, html):
    """A chapter as a first-time reader meets it; nothing is remembered afterwards."""
    page = html / f"{CHAPTER}.html"
    opened(browser, page)
    browser.execute_script("localStorage.clear()")
    opened(browser, page)
    yield page
    browser.execute_script("localStorage.clear()")
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def seen(browser, selector):
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility({contentVisibilityAuto: true})).length",
        selector,
    )


SHOWN = """
const cells = [...document.querySelectorAll('.bd-article .cell_input')].filter(e => !e.closest('.solution'));
return {shown: cells.filter(e => e.checkVisibility({contentVisibilityAuto: true})).map(e => e.querySelector('pre').textContent.trim()),
        own: document.querySelectorAll('details.hide, .bd-article .tag_hide-input > details:not(.wb-code)').length}
"""


def test_only_lessons_are_shown(browser, pages, html):
    lessons = 0
    for page in pages:
        opened(browser, page)
        got = browser.execute_script(SHOWN)
        assert got["own"] == 0, f"{page.name}: the theme folds, too"
        cells = execute.code_cells(execute.read(source(page, html)))
        told = [c.source.strip() for c in cells if "lesson" in c.metadata.get("tags", [])]
        assert got["shown"] == told, page.name
        lessons += len(told)
    assert lessons > 5


def test_folds_count_the_checks(pages, html):
    """All asserts of a page's shown cells are counted in one of its folds, or shown in a lesson or a solution."""
    total = 0
    for page in pages:
        text = page.read_text("utf-8")
        said = sum(int(n) for n in re.findall(r"<summary[^>]*>✓ (\d+) checks?</summary>", text))
        folds = re.findall(r'<details class="wb-code">.*?</details>', text, re.S)
        code = [re.sub(r"<[^>]+>", "", c) for f in folds for c in re.findall(r"<pre>(.*?)</pre>", f, re.S)]
        written = sum(len(re.findall(r"^\s*assert\b|; assert\b", c, re.M)) for c in code)
        assert said == written, page.name
        total += said
    assert total > 500


def test_one_switch_opens_all_code_and_is_remembered(browser, chapter):
    button = browser.find_element(By.CSS_SELECTOR, ".btn-wb-code")
    assert button.text == "Show all code" and button.get_attribute("aria-pressed") == "false"
    folds = browser.execute_script("return document.querySelectorAll('details.wb-code').length")
    assert folds > 10 and seen(browser, "details.wb-code .highlight") == 0
    button.send_keys(Keys.ENTER)  # by keyboard
    assert button.get_attribute("aria-pressed") == "true"
    assert browser.execute_script("return document.querySelectorAll('details.wb-code[open]').length") == folds
    opened(browser, chapter.parent / "3-2-response.html")  # another page
    assert seen(browser, "details.wb-code .highlight") > 0
    assert browser.execute_script("return document.querySelectorAll('details.wb-code:not([open])').length") == 0
    browser.find_element(By.CSS_SELECTOR, ".btn-wb-code").send_keys(Keys.SPACE)
    opened(browser, chapter)
    assert seen(browser, "details.wb-code .highlight") == 0


def test_folds_are_open_before_the_page_is_painted(browser, chapter):
    """What the reader asked for is done while the page is parsed: no fold is ever closed when the parser has passed it."""
    browser.execute_script("localStorage.setItem('wb-code', 'shown')")
    late = browser.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument",
        {
            "source": """window.closed = 0; document.addEventListener('readystatechange', () => {
            if (document.readyState === 'interactive') window.closed = document.querySelectorAll('details.wb-code:not([open])').length; });"""
        },
    )
    opened(browser, chapter)
    assert browser.execute_script("return window.closed") == 0
    assert seen(browser, "details.wb-code .highlight") > 0
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": late["identifier"]})


def test_without_javascript_folds_open_and_no_switch_is_offered(browser, chapter):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.get(chapter.as_uri())
    assert not browser.find_element(By.CSS_SELECTOR, ".btn-wb-code").is_displayed()
    fold = browser.find_element(By.CSS_SELECTOR, "details.wb-code")
    code = fold.find_element(By.CSS_SELECTOR, ".cell_input")
    assert not code.is_displayed()
    fold.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
    assert code.is_displayed()


CUT = """
document.querySelectorAll('details').forEach(d => { d.open = true; });
document.querySelectorAll('.toggle-hidden').forEach(d => d.classList.remove('toggle-hidden'));
const printed = e => e.closest('.output:is(.text_plain, .stream)') && getComputedStyle(e).overflowX === 'auto';
return [...document.querySelectorAll('.bd-article pre')].filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 && !printed(e))
  .map(e => e.textContent.slice(0, 80))
"""


def test_no_code_is_cut(browser, pages):
    """Code wraps; what a program printed keeps its columns and scrolls."""
    for page in pages:
        opened(browser, page, width=1280)
        assert browser.execute_script(CUT) == [], page.name


# Numbers


def test_numbers_stand_in_titles_sidebar_and_links(html):
    for page, number in numbering.chapters().items():
        text = (html / f"{page}.html").read_text("utf-8")
        title = re.search(r"<h1>(.*?)<a", text.partition("<article")[2], re.S)[1]
        words = re.sub(r"<[^>]+>", "", title)
        assert words.startswith(f"{number} "), page
        side = re.search(
            r'<li class="toctree-l\d current active(?: has-children)?"><a class="current[^>]*>(.*?)</a>', text, re.S
        )[1]
        assert re.sub(r"<[^>]+>", "", side).strip() == words.strip()
    text = (html / "book/paper/3-1-balance.html").read_text("utf-8")
    assert re.search(r'prev-next-title">\s*(?:<[^>]+>)?3\.2(?:</span>)? ', text)
    assert '<span class="doc">2 Background' in text


def test_exercises_have_one_number_everywhere(html, pages):
    numbers = numbering.chapters()
    known = {}
    for page in pages:
        name = page.relative_to(html).with_suffix("").as_posix()
        known |= numbering.exercises(source(page, html).read_text("utf-8"), numbers.get(name))
    assert len(known) > 60
    linked = 0
    for page in pages:
        text = page.read_text("utf-8")
        for label, title in re.findall(
            r'<div class="exercise admonition" id="([^"]+)">\s*<p class="admonition-title">(.*?)</p>', text, re.S
        ):
            assert re.sub(r"<[^>]+>", "", title).split() == ["Exercise", known[label]], page.name
        for place, words in re.findall(r'<a class="reference internal" href="[^"#]*#(ex-[^"]+)">(.*?)</a>', text, re.S):
            words = re.sub(r"<[^>]+>", "", words).strip()
            if re.search(r"exercise", words, re.I):
                assert words == f"Exercise {known[place]}", f"{page.name}: {words}"
                linked += 1
    assert linked > 60  # every solution names its exercise


def test_what_comes_next_is_said_once(pages):
    for page in pages:
        text = re.sub(r"<[^>]+>", " ", page.read_text("utf-8").partition("<article")[2].partition("</article>")[0])
        assert not re.search(r"^\s*Next\s*:", text, re.M), page.name


# Cards


def card(browser):
    return browser.execute_script("const c = document.querySelector('.wb-card.wb-shown'); return c && c.innerText")


def wait(browser, condition):
    return WebDriverWait(browser, 10).until(lambda _: condition())


def test_a_term_has_a_card(browser, chapter):
    link = browser.find_element(By.CSS_SELECTOR, '.bd-article a.wb-term[href$="#term-pool"]')
    described = link.get_attribute("aria-describedby")
    assert (
        browser.execute_script("return document.getElementById(arguments[0]).getAttribute('role')", described)
        == "tooltip"
    )
    here = browser.current_url
    ActionChains(browser).scroll_to_element(link).move_to_element(link).perform()
    assert wait(browser, lambda: card(browser)).startswith("pool\n")
    ActionChains(browser).send_keys(Keys.ESCAPE).perform()
    assert card(browser) is None and browser.current_url == here


def test_a_card_opens_on_focus_and_on_a_tap(browser, chapter):
    links = browser.find_elements(By.CSS_SELECTOR, ".bd-article a.wb-term")
    assert len(links) > 5
    browser.execute_script("arguments[0].focus({focusVisible: true})", links[2])
    assert wait(browser, lambda: card(browser))
    ActionChains(browser).send_keys(Keys.TAB).perform()
    wait(browser, lambda: not card(browser) or browser.switch_to.active_element == links[3])
    ActionChains(browser).send_keys(Keys.ESCAPE).perform()
    opened(browser, chapter, width=390)
    link = browser.find_elements(By.CSS_SELECTOR, ".bd-article a.wb-term")[0]
    here = browser.current_url
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", link)
    spot = browser.execute_script(
        "const r = arguments[0].getClientRects()[0]; return [r.x + r.width / 2, r.y + r.height / 2]", link
    )
    point = [{"x": spot[0], "y": spot[1]}]
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    try:
        browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": point})
        browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        assert wait(browser, lambda: card(browser))
    finally:
        browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
    assert browser.current_url == here
    box = browser.execute_script(
        "const r = document.querySelector('.wb-card.wb-shown').getBoundingClientRect(); return [r.left, r.right]"
    )
    assert 0 <= box[0] and box[1] <= 390


def test_cards_say_what_the_glossary_says(html, pages):
    glossary = (html / "book/use/glossary.html").read_text("utf-8")
    plain = lambda text: " ".join(re.sub(r"<[^>]+>", "", text).split())  # noqa: E731
    found = 0
    for page in pages:
        for place, body in re.findall(
            r'<div class="wb-card" id="card-([^"]+)" role="tooltip"><strong>.*?</strong>(.*?)</div>',
            page.read_text("utf-8"),
            re.S,
        ):
            told = re.search(rf'<dt id="{re.escape(place)}">.*?</dt><dd>(.*?)</dd>', glossary, re.S)[1]
            assert plain(body) == plain(told), f"{page.name}: {place}"
            found += 1
    assert found > 100


# Search


@pytest.mark.parametrize(
    "query, title, place",
    [
        ("β", "3.1 The balance parameter", "3-1-balance.html"),
        ("beta", "3.1 The balance parameter", "3-1-balance.html"),
        ("ESS", "effective sample size", "glossary.html#term-effective-sample-size"),
        ("exit certificate", "exit certificate", "glossary.html#term-exit-certificate"),
        ("support size bound", "Support size bound: Theorem 4 of the paper", "#thm-35-size"),
        ("XCOMET", "XCOMET", "2-background.html#"),
        ("wb.reweight", "wb.reweight", ".html"),
    ],
)
def test_search_leads_to_the_definition_first(browser, html, query, title, place):
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get((html / "search.html").as_uri() + f"?q={query}")
    first = wait(browser, lambda: browser.find_elements(By.CSS_SELECTOR, ".wb-found li"))[0]
    link = first.find_element(By.TAG_NAME, "a")
    assert link.text == title and place in link.get_attribute("href")
    assert len(first.find_element(By.TAG_NAME, "p").text) > 30  # an excerpt
    file = html / Path(link.get_attribute("href").partition("_build/html/")[2].partition("#")[0].partition("?")[0])
    assert file.is_file()
    assert not [e["message"] for e in browser.get_log("browser") if e["level"] == "SEVERE"]
    events = [json.loads(e["message"])["message"] for e in browser.get_log("performance")]
    asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    assert not [u for u in asked if not u.startswith(("file:", "data:", "blob:", "about:", "chrome"))]


def test_search_finds_words_of_the_text_and_says_so_if_there_are_none(browser, html):
    browser.get((html / "search.html").as_uri() + "?q=leaflet poem")
    assert wait(browser, lambda: browser.find_elements(By.CSS_SELECTOR, ".wb-found li"))
    browser.get((html / "search.html").as_uri() + "?q=xyzzyq")
    wait(browser, lambda: browser.execute_script("return Boolean(window.whichbirdIndex)"))
    assert not browser.find_elements(By.CSS_SELECTOR, ".wb-found li")


def test_every_address_of_the_index_exists(html):
    index = json.loads((html / "_static/found-index.js").read_text("utf-8").partition("= ")[2].rstrip(";\n"))
    pages = {}
    for _, title, address, _, _ in index:
        file, _, place = address.partition("#")
        file = file.partition("?")[0]
        pages.setdefault(file, (html / file).read_text("utf-8"))
        assert not place or f'id="{place}"' in pages[file], f"{title}: {address}"
    assert len(index) > 500


# Sharing and citing


def test_shared_links_have_a_picture_that_exists(pages, html):
    for page in pages:
        said = {a.get("property"): a.get("content", "") for a in tags(page, "meta")}
        assert (page.parent / said["og:image"]).is_file(), page.name
        assert said["og:image"].endswith(".png") and len(said["og:image:alt"]) > 20, page.name


def test_every_page_says_how_to_cite_it(pages, html):
    for page in pages:
        text = page.read_text("utf-8")
        (box,) = re.findall(r'<details class="wb-cite">.*?</details>', text, re.S)
        title = {a.get("property"): a.get("content", "") for a in tags(page, "meta")}["og:title"]
        assert title.replace("&", "&amp;") in box and "@article{shayegh-kazemi-2026-mind" in box, page.name
        assert box.count("{") == box.count("}")


# Print


PRINTED = """
const seen = e => e.checkVisibility({visibilityProperty: true, opacityProperty: true, contentVisibilityAuto: true}) && e.getBoundingClientRect().height > 0;
const all = s => [...document.querySelectorAll(s)];
return {code: all('details.wb-code .highlight').filter(seen).length, solutions: all('.solution').filter(seen).length,
        switch: all('.btn-wb-code, .wb-cite, .wb-card').filter(seen).length,
        questions: all('details.sd-dropdown').map(d => [seen(d.querySelector('summary')), seen(d.querySelector('.sd-summary-content'))]),
        words: all('.wb-go').filter(e => !seen(e)).length, links: all('.bd-article p a').filter(e => e.closest('p').checkVisibility() && e.textContent.trim() && !seen(e)
          && !e.closest('.solution, details.wb-code, .wb-cards, .chapter-downloads, .wb-live, details.wb-cite')).map(e => e.outerHTML.slice(0, 99))}
"""


def test_print_has_no_code_and_no_solutions_unless_asked_for(browser, chapter, html):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        opened(browser, chapter, width=650)
        got = browser.execute_script(PRINTED)
        assert got["code"] == got["solutions"] == got["switch"] == 0
        browser.execute_script("whichbirdCode()")
        got = browser.execute_script(PRINTED)
        assert got["code"] > 10 and got["solutions"] == 3
        browser.execute_script("whichbirdCode()")
        opened(browser, html / "book/use/teaching.html", width=650)
        questions = browser.execute_script(PRINTED)["questions"]
        assert len(questions) > 8 and all(q and a for q, a in questions)
        opened(browser, html / "book/use/explorer.html", width=650)
        got = browser.execute_script(PRINTED)
        assert got["words"] == 0 and got["links"] == []
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_print_does_not_open_solutions_behind_the_reader(html):
    assert "let toggleOpenOnPrint = 'false'" in (html / f"{CHAPTER}.html").read_text("utf-8")


# Phone


# row heads of two levels scroll along: the outer one, several rows high, would lie over the inner one
STICKY = """
return [...document.querySelectorAll('.bd-article :is(.pst-scrollable-table-container, .output.text_html)')].filter(e => e.scrollWidth > e.clientWidth + 1 && e.querySelector('table') && !e.querySelector('tbody th[rowspan]'))
  .map(box => { box.scrollLeft = 9999; const cell = box.querySelector('tbody tr > :first-child'), edge = box.getBoundingClientRect(), r = cell.getBoundingClientRect();
                return [Math.abs(r.left - edge.left) < 3, r.width / edge.width, cell.textContent.slice(0, 40)]; })
"""


def test_on_a_phone_the_first_column_of_a_wide_table_stays(browser, pages):
    tables = 0
    for page in pages:
        opened(browser, page, width=390)
        for stays, share, text in browser.execute_script(STICKY):
            assert stays and share < 0.6, f"{page.name}: {text} takes {share:.0%}"
            tables += 1
    assert tables > 10
