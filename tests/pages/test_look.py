"""The book as an object: its mark, what it says when shared, what can be taken away, and whether all of it can be read."""

import json
import re
from html import unescape
from pathlib import Path

import pytest
from test_pages import Tags

ROOT = Path(__file__).resolve().parents[2]


def source(page, html):
    return ROOT / page.relative_to(html).with_suffix(".md")


@pytest.fixture(scope="session")
def chapters(pages, html):
    """Pages with code that was run, but for those that have no opening block: the first page and the page of claims."""
    apart = {html / "book" / "index.html", html / "book" / "claims.html"}
    found = [p for p in pages if p not in apart and "{code-cell}" in source(p, html).read_text("utf-8")]
    assert found
    return found


def tags(page, name, **wanted):
    return [
        a
        for tag, a in Tags(page.read_text("utf-8")).found
        if tag == name and all(a.get(k) == v for k, v in wanted.items())
    ]


def test_every_page_has_the_favicon_and_the_mark(pages):
    for page in pages:
        icons = tags(page, "link", rel="icon")
        marks = [a for a in tags(page, "img") if "logo__image" in a.get("class", "")]
        assert len(icons) == 1 and len(marks) == 2, page.name  # one mark for the light page, one for the dark
        for address in [icons[0]["href"], *(a["src"] for a in marks)]:
            file = page.parent / address.partition("?")[0]
            assert "<svg" in file.read_text("utf-8"), f"{page.name}: {address}"


def test_every_page_says_what_it_is_when_shared(pages, html):
    seen = {}
    for page in pages:
        text = page.read_text("utf-8")
        said = {a.get("property") or a.get("name"): a.get("content", "") for a in tags(page, "meta")}
        title = unescape(re.search(r"<title>(.*?)</title>", text, re.DOTALL)[1].strip())
        home = page == html / "book" / "index.html"
        assert title == (said["og:title"] if home else f"{said['og:title']} — Whichbird"), page.name
        assert said["description"] == said["og:description"] and 20 < len(said["description"]) <= 200, page.name
        assert (
            said["og:type"] == ("website" if home else "article") and said["twitter:card"] == "summary_large_image"
        ), page.name
        assert not any("//" in said[k] for k in said if k and k.startswith(("og:", "twitter:"))), (
            f"{page.name} names a host"
        )
        assert said["og:title"] not in seen, f"{page.name} and {seen.get(said['og:title'])} have the same title"
        seen[said["og:title"]] = page.name


def test_every_chapter_can_be_taken_away(chapters, html):
    for page in chapters:
        files = {
            Path(a["href"]).suffix: page.parent / a["href"]
            for a in tags(page, "a")
            if "download" in a.get("class", "").split()
        }
        notebook = json.loads(files[".ipynb"].read_text("utf-8"))
        code = [
            c for c in notebook["cells"] if c["cell_type"] == "code" and "setup" not in c["metadata"].get("tags", [])
        ]
        assert code and all(cell["execution_count"] for cell in code), f"{page.name}: the notebook has not been run"
        assert files[".md"].read_bytes() == source(page, html).read_bytes(), page.name


def test_status_page_lists_every_page_that_ran(chapters, html):
    page = html / "book" / "claims.html"
    table = re.search(r'<table class="chapter-status.*?</table>', page.read_text("utf-8"), re.DOTALL)[0]
    rows = re.findall(r'<a [^>]*href="([^"]*)".*?<p>([\d.]+)</p>.*?<p>(\w+)</p>', table, re.DOTALL)
    ran = {
        (page.parent / address).resolve() if address != "#" else page for address, _, status in rows if status == "ran"
    }
    assert len(ran) == len(rows)
    assert ran == {html / "book" / "index.html", page, *chapters}
    assert all(0 < float(seconds) < 300 for _, seconds, _ in rows)  # 300 is where the build gives up


# Contrast of everything that is text, as WCAG 2.1 defines it, over the backgrounds that lie behind it.
CONTRAST = """
const pixel = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true}), known = {};
function rgba(colour) {
  if (!known[colour]) {
    pixel.clearRect(0, 0, 1, 1); pixel.fillStyle = colour; pixel.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data; known[colour] = [r, g, b, a / 255];
  }
  return known[colour];
}
const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
function behind(element) {
  const layers = [];
  for (let e = element; e; e = e.parentElement) layers.push(rgba(getComputedStyle(e).backgroundColor));
  return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1]);
}
function luminance(c) {
  const [r, g, b] = c.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function ratio(one, two) {
  const [low, high] = [luminance(one), luminance(two)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}
"""
WORDS = (
    CONTRAST
    + """
const out = [];
for (const e of document.querySelectorAll('body *')) {
  const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || e.matches('mjx-math');
  if (!own || e.closest('svg, script, style, noscript, mjx-assistive-mml') || !e.checkVisibility({visibilityProperty: true})) continue;
  const style = getComputedStyle(e), size = parseFloat(style.fontSize), ground = behind(e);
  const needed = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
  const got = ratio(over(rgba(style.color), ground), ground);
  out.push([got / needed, got, `${e.tagName}.${e.className}: ${e.textContent.trim().slice(0, 30)}`]);
}
return out.sort((x, y) => x[0] - y[0]).slice(0, 3).concat([[out.length, 0, '']]);
"""
)
MARKS = (
    CONTRAST
    + """
const style = getComputedStyle(document.documentElement), colour = name => rgba(style.getPropertyValue('--wb-' + name).trim());
return ['adequacy', 'fluency'].flatMap(c => ['paper', c + '-tint'].map(ground => [c + ' on ' + ground, ratio(colour(c), colour(ground))]));
"""
)


def opened(browser, page, width=1280, theme="light"):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    browser.get(page.as_uri())
    browser.set_script_timeout(30)
    browser.execute_async_script(
        """
        const done = arguments[1];
        document.head.insertAdjacentHTML('beforeend', '<style>*, *::before, *::after { transition: none !important }</style>');
        document.documentElement.dataset.theme = arguments[0];
        window.MathJax && MathJax.startup ? MathJax.startup.promise.then(() => done()) : done();""",
        theme,
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everything_can_be_read(browser, pages, theme):
    for page in pages:
        opened(browser, page, theme=theme)
        *worst, (count, _, _) = browser.execute_script(WORDS)
        assert count > 20, f"{page.name}: hardly any text was found"
        assert worst[0][0] >= 1, f"{page.name}, {theme}: {worst}"
    for name, ratio in browser.execute_script(MARKS):
        assert ratio >= 3, f"{theme}: {name} has a contrast of {ratio:.2f}"


TABLES = """
return [...document.querySelectorAll('.bd-article :is(.pst-scrollable-table-container, .output.text_html)')].filter(e => e.querySelector('table'))
  .map(e => [e.scrollWidth > e.clientWidth + 1, getComputedStyle(e).backgroundAttachment, [...e.querySelector('table').innerText].slice(0, 90).join('')]);
"""


def test_tables_fit_the_column_and_say_where_they_go_on(browser, pages):
    """No table is cut off on a laptop; on a phone, what is cut off has a shadow that stays while its cover moves with the table."""
    cut = 0
    for page in pages:
        opened(browser, page)
        assert not [t for wide, _, t in browser.execute_script(TABLES) if wide], page.name
        for theme in ("light", "dark"):
            opened(browser, page, width=400, theme=theme)
            for wide, attachment, text in browser.execute_script(TABLES):
                assert not wide or attachment == "local, scroll", f"{page.name}, {theme}: {text}"
                cut += wide
    assert cut > 0


PRINTED = """
const shown = {visibilityProperty: true, opacityProperty: true, contentVisibilityAuto: true};
const seen = e => e.checkVisibility(shown) && e.getBoundingClientRect().height > 0;
const article = document.querySelector('.bd-article'), edge = article.getBoundingClientRect().right + 1;
return {
  paper: getComputedStyle(document.body).backgroundColor,
  furniture: [...document.querySelectorAll('[class*=bd-sidebar], .bd-header-article, .prev-next-footer, #jb-print-docs-body')].filter(seen).length,
  title: seen(article.querySelector('h1')),
  solutions: document.querySelectorAll('.solution').length,
  folded: [...document.querySelectorAll('.solution > section, .solution > section > *, details.wb-code .cell_input')]
          .filter(e => (e.textContent.trim() || e.querySelector('img, svg')) && !seen(e))
          .map(e => e.outerHTML.slice(0, 90)),
  cut: [...article.querySelectorAll('table, pre, img, p, mjx-container, .output, .pst-scrollable-table-container')]
       .filter(e => seen(e) && (e.getBoundingClientRect().right > edge || (e.matches('pre, div') && e.scrollWidth > e.clientWidth + 1)))
       .map(e => e.outerHTML.slice(0, 90)),
};
"""


def test_nothing_is_lost_in_print(browser, pages, html):
    """On A4 less the margins, from a dark screen: white paper, no navigation, nothing over the edge; solutions and code open if they were asked for."""
    solutions = 0
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        for page in pages:
            opened(browser, page, width=650, theme="dark")  # 172 mm at 96 pixels an inch
            browser.execute_script(
                "document.documentElement.dataset.wbCode = 'shown'; document.querySelectorAll('details.wb-code').forEach(d => { d.open = true; })"
            )
            got = browser.execute_script(PRINTED)
            assert got["paper"] == "rgb(255, 255, 255)", page.name
            assert got["furniture"] == 0 and got["title"], page.name
            assert not got["folded"], f"{page.name}: {got['folded']}"
            assert not got["cut"], f"{page.name}: {got['cut']}"
            *worst, _ = browser.execute_script(WORDS)
            assert worst[0][0] >= 1, f"{page.name}, printed: {worst}"
            solutions += got["solutions"]
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert solutions > 0
