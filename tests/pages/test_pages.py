"""The built pages work from disk, ask no other host for anything, and say what their pictures show."""

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import policy
import yaml
from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parents[2]
LOADS = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("link", "href")}


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_every_chapter_of_the_contents_is_built(html):
    chapters = [
        c["file"] for part in yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))["parts"] for c in part["chapters"]
    ]
    assert chapters
    for chapter in chapters:
        assert (html / f"{chapter}.html").exists(), chapter


def test_figures_of_the_manifest_are_where_it_says(html):
    manifest = yaml.safe_load((ROOT / "codecheck.yml").read_text("utf-8"))["manifest"]
    pages = {one["file"]: one["comment"].split(": ")[1].split() for one in manifest if one["file"].endswith(".html")}
    assert pages
    for page, names in pages.items():
        found = BeautifulSoup((html / page.removeprefix("_build/html/")).read_text("utf-8"), "html.parser")
        assert all(found.select(f"figure#{name} img, figure#{name} svg") for name in names), page


def test_pages_load_nothing_from_another_host(html):
    for page in html.rglob("*.html"):
        for tag, attrs in Tags(page.read_text("utf-8")).found:
            for name, value in attrs.items():
                if (tag, name) in LOADS and attrs.get("rel") not in ("canonical", "next", "prev"):
                    assert not re.match(r"(https?:)?//", value or ""), (
                        f"{page.relative_to(html)}: <{tag} {name}={value}>"
                    )


def test_every_page_says_what_it_may_run(html, course):
    """Scripts of its own alone, and no handler in an attribute; the browser tests see that nothing a page does is refused."""
    for folder in (html, course):
        for page in folder.rglob("*.html"):
            if "_static" in page.relative_to(folder).parts:
                continue
            text = page.read_text("utf-8")
            tags = Tags(text).found
            (content,) = (attrs["content"] for _, attrs in tags if attrs.get("http-equiv") == "Content-Security-Policy")
            assert content == policy.policy(text) and "'unsafe-inline'" not in content.partition("style-src")[0], (
                page.name
            )
            assert not [(tag, name) for tag, attrs in tags for name in attrs if name.startswith("on")], page.name


def test_stylesheets_load_nothing_from_another_host(html):
    for sheet in html.rglob("*.css"):
        for address in re.findall(
            r"(?:url\(|@import)\s*['\"]?(https?:)?//", sheet.read_text("utf-8", errors="replace")
        ):
            raise AssertionError(f"{sheet.relative_to(html)} loads {address}")


def test_the_site_carries_little_that_no_page_asks_for(html):
    """One bundle of MathJax, no source maps. The limits leave some megabytes for chapters to come.

    Scripts of segment scores and working copies are counted apart: a reader loads one of them, and only to test a scorer of
    his own or to take a chapter along.
    """
    assert [p.name for p in (html / "_static/mathjax").glob("*.js")] == ["tex-chtml.js"]
    assert not list(html.rglob("*.map"))
    size = {p: p.stat().st_size for p in html.rglob("*") if p.is_file()}
    asked_for = sum(n for p, n in size.items() if p.parent.name == "segments")
    copies = sum(n for p, n in size.items() if p.suffix == ".ipynb")
    assert 0 < asked_for < 12e6 and 0 < copies < 16e6 and sum(size.values()) - asked_for - copies < 30e6


def test_every_figure_has_alt_text(pages):
    for page in pages:
        for tag, attrs in Tags(page.read_text("utf-8")).found:
            if tag == "img" and "_images" in attrs.get("src", ""):
                alt = attrs.get("alt", "")
                assert len(alt) > 20 and not alt.startswith("../"), (
                    f"{page.name}: {attrs.get('src')} has the alt text {alt!r}"
                )


def test_pages_are_sound(pages):
    """No id twice, no form without a button, no empty heading of a column, and lists of terms that hold terms and meanings alone."""
    for page in pages:
        soup = BeautifulSoup(page.read_text("utf-8"), "html.parser")
        ids = Counter(node["id"] for node in soup.select("[id]"))
        assert [name for name, times in ids.items() if times > 1] == [], page.name
        assert all(form.select("[type=submit]") for form in soup.select("form")), page.name
        assert not [
            cell for cell in soup.select("th") if not cell.get_text(strip=True) and not cell.select("img, svg")
        ], page.name
        for terms in soup.select("dl"):
            assert {child.name for child in terms.find_all(recursive=False)} <= {"dt", "dd", "div"}, page.name


def test_no_launch_button_leads_nowhere(pages):
    for page in pages:
        text = page.read_text("utf-8")
        assert "mybinder" not in text and "colab.research" not in text, page.name


def test_pages_in_a_browser(browser, pages, html):
    """Opened from disk: no console error, no request to a host, formulas set, nothing wider than a phone."""
    for page in [html / "index.html", *pages]:
        for width in (1280, 390):
            browser.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride",
                {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
            )
            browser.get(page.as_uri())
            browser.set_script_timeout(30)
            browser.execute_async_script("""
                const done = arguments[0];
                window.MathJax && MathJax.startup ? MathJax.startup.promise.then(() => done()) : done();""")
            errors = [e["message"] for e in browser.get_log("browser") if e["level"] == "SEVERE"]
            assert not errors, f"{page.name} at {width}: {errors}"
            events = [json.loads(e["message"])["message"] for e in browser.get_log("performance")]
            asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
            outside = [u for u in asked if not u.startswith(("file:", "data:", "blob:", "about:", "chrome"))]
            assert not outside, f"{page.name} at {width}: {outside}"
            wide = browser.execute_script(
                "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert wide <= 1, f"{page.name} at {width} pixels is {wide} pixels too wide"
            raw = browser.execute_script(
                "return document.querySelectorAll('.math').length && !document.querySelector('mjx-container')"
            )
            assert not raw, f"{page.name}: the formulas are not set"


def test_an_address_that_moved_leads_to_the_page(html):
    """Without scripts and from disk: a refresh and a link, both relative, to a page that is there."""
    moved = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["sphinx"]["config"]["moved_pages"]
    assert moved
    for old, new in moved.items():
        text = (html / f"{old}.html").read_text("utf-8")
        (link,) = set(re.findall(r'(?:url=|href=")([^"]+)"', text))
        (link, _, spot), (page, _, wanted) = link.partition("#"), new.partition("#")
        target = (html / f"{old}.html").parent.joinpath(link).resolve()
        assert target == (html / f"{page}.html").resolve() and spot == wanted
        assert not spot or f'id="{spot}"' in target.read_text("utf-8")
