"""The page of claims in a browser: everything is shown without its script, and filter, buttons, marks and links work with it."""

import csv
import re

import pytest

STATUSES = ["equal", "differs", "unobtainable", "unsupported", "setup"]


@pytest.fixture(scope="module")
def page(html):
    return html / "book" / "claims.html"


@pytest.fixture(scope="module")
def rows(page):
    return re.findall(r'<tr id="(claim-[^"]+)" data-status="(\w+)">(.*?)</tr>', page.read_text("utf-8"), re.S)


def test_it_is_the_second_page_of_the_book(html):
    assert 'rel="next" title="The paper, claim by claim"' in (html / "book" / "index.html").read_text("utf-8")


def test_counts_marks_rows_and_download_agree(page, rows):
    text = page.read_text("utf-8")
    assert len(rows) >= 138
    marks = re.findall(r'<a href="#(claim-[^"]+)" class="(\w+)"><title>(.*?)</title>', text)
    assert sorted((i, s) for i, s, _ in marks) == sorted((i, s) for i, s, _ in rows)
    assert all(len(title) > 15 for *_, title in marks)
    told = dict(re.findall(r'<span class="claim-mark (\w+)" aria-hidden="true">.</span> <b>(\d+)</b>', text))
    assert told == {status: str(sum(s == status for _, s, _ in rows)) for status in STATUSES}
    with page.with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert [f"claim-{line['id']}" for line in table] == [i for i, *_ in rows]
    assert all(line["reason"] for line in table if line["status"] not in ("equal", "holds", "set-up"))
    findings = sum(s != "setup" for _, s, _ in rows)
    assert f"<b>{findings}</b> claims" in text and 0 < len(rows) - findings < 20


def test_the_article_on_the_replication_counts_as_the_page_does(html, rows):
    """It is made without running a chapter, from the reasons alone; here from what the chapters recorded."""
    text = " ".join((html.parents[1] / "paper" / "replication.md").read_text("utf-8").split())
    many = {status: sum(s == status for _, s, _ in rows) for status in STATUSES}
    found = len(rows) - many["setup"]
    assert f"Of {len(rows)} rows, {many['setup']} say how the study was laid out and {found} claim something" in text
    assert f"**{many['equal']} of these {found} are met**" in text and f"and {found - many['equal']} are not" in text


def test_every_row_leads_to_the_cell_that_recorded_it(page, rows):
    """And the anchor stands just before a cell, or before the output of one."""
    pages = {}
    for name, _, row in rows:
        address, _, anchor = re.search(r'data-label="ours"><a href="([^"]+)"', row)[1].partition("#")
        target = (page.parent / address).resolve()
        text = pages.setdefault(target, target.read_text("utf-8"))
        at = re.search(rf'<span[^>]* id="{anchor}"[^>]*></span>', text)
        assert at, f"{name}: no {anchor} in {address}"
        following = re.sub(r'^(\s*<span[^>]*id="record-[^>]*></span>)+', "", text[at.end() :])
        assert re.match(r"\s*(</p>)?\s*<(div|figure|details)", following), f"{name}: {following[:80]}"


def test_without_a_script_everything_is_shown_and_no_control_is(browser, page, rows):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(page.as_uri())
        shown = [e.is_displayed() for e in browser.find_elements("css selector", "table.claims tbody tr")]
        controls = browser.find_elements("css selector", ".claims-counts button, #claims-find")
        assert len(shown) == len(rows) and all(shown) and not any(e.is_displayed() for e in controls)
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


SHOWN = "return [...document.querySelectorAll('table.claims tbody tr')].filter(r => r.getClientRects().length).map(r => r.id)"


@pytest.mark.parametrize("width", [1280, 390])
def test_filter_and_buttons(browser, page, rows, width):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    browser.get(page.as_uri())
    browser.execute_script("location.hash = ''")
    everything = [i for i, *_ in rows]
    assert browser.execute_script(SHOWN) == everything
    for status in STATUSES:
        button = browser.find_element("css selector", f'.claims-counts button[data-status="{status}"]')
        browser.execute_script("arguments[0].click()", button)
        assert browser.execute_script(SHOWN) == [i for i, s, _ in rows if s == status]
        assert button.get_attribute("aria-pressed") == "true"
        browser.execute_script("arguments[0].click()", button)
        assert browser.execute_script(SHOWN) == everything
    find = browser.find_element("id", "claims-find")
    find.send_keys("heen23 table 6")
    chosen = browser.execute_script(SHOWN)
    assert "claim-d-mqm-heen23" in chosen and "claim-d-mqm" not in chosen and len(chosen) < 6
    assert browser.find_element("id", "claims-told").text == f"{len(chosen)} of {len(rows)} shown"
    # a mark of the picture brings back a row that was filtered out
    browser.execute_script(
        "document.querySelector('.claims-strip a[href=\"#claim-d-mqm\"]').dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))"
    )
    browser.execute_script("location.hash = '#claim-d-mqm'")
    browser.set_script_timeout(10)
    browser.execute_async_script("setTimeout(arguments[0], 100)")
    assert browser.execute_script(SHOWN) == everything
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    assert wide <= width


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_status_is_blue_or_orange_and_all_can_be_told_apart(browser, page, theme):
    browser.get(page.as_uri())
    colours = browser.execute_script(
        """document.documentElement.dataset.theme = arguments[0];
        const of = name => getComputedStyle(document.documentElement).getPropertyValue('--wb-' + name).trim();
        return ['right', 'differs', 'unobtainable', 'wrong', 'setup', 'adequacy', 'fluency'].map(of);""",
        theme,
    )
    assert len(set(colours)) == 7 and all(re.fullmatch("#[0-9a-f]{6}", c) for c in colours)
    signs = browser.execute_script(
        "return [...new Set([...document.querySelectorAll('.claims-strip a')].map(a => a.getAttribute('class') + a.querySelector('text').textContent))]"
    )
    assert len(signs) == len({s[-1] for s in signs}) <= 5  # colour is not the only way to tell


def test_the_check_names_what_was_built(page):
    block = re.search(r'<dl class="claims-check">(.*?)</dl>', page.read_text("utf-8"), re.S)[1]
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", block))
    assert list(facts) == ["commit", "data", "library", "versions", "command", "machine", "chapters", "built"]
    assert (
        re.search(r"[0-9a-f]{64}", facts["data"])
        and "make book" in facts["command"]
        and "Python 3" in facts["versions"]
    )
    assert "/home" not in block and "/tmp" not in block and "/work" not in block
