"""Blue is adequacy and orange is fluency, in every figure of the built book, and every figure has its colours for dark pages."""

import colorsys
import re
from html import unescape

import pytest

from whichbird.show import figures

FIGURE = re.compile(r'<figure[^>]*id="([^"]+)"[^>]*>(.*?)</figure>', re.S)
MEANT = {"adequacy": figures.ADEQUACY, "fluency": figures.FLUENCY}


def hue(colour):
    """Hue in degrees, lightness and saturation of "#rrggbb"."""
    h, light, full = colorsys.rgb_to_hls(*(int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)))
    return 360 * h, light, full


def aspects_shown(svg):
    """Which of the two colours a figure uses, or one that nobody could tell from it: a full colour of nearly its hue."""
    found = set()
    for colour in set(re.findall(r"#[0-9a-f]{6}\b", svg)):
        h, light, full = hue(colour)
        for aspect, meant in MEANT.items():
            if abs(h - hue(meant)[0]) < 9 and full > 0.4 and 0.2 < light < 0.75:
                found.add(aspect)
    return found


def unexplained(svg, words):
    """The aspects whose colour is used in a figure, but whose name is neither written in it nor said in its caption."""
    written = (" ".join(re.findall(r"<desc>(.*?)</desc>", svg, re.S)) + " " + words).lower()
    return {aspect for aspect in aspects_shown(svg) if aspect not in written}


@pytest.fixture(scope="session")
def drawn(pages):
    """Page, name, caption and light colours of every figure that a chapter drew."""
    out = []
    for page in pages:
        for name, inside in FIGURE.findall(page.read_text("utf-8")):
            image = re.search(r'<img[^>]*class="[^"]*wb-on-light[^"]*"[^>]*src="([^"]+\.svg)"', inside)
            if image:
                caption = re.search(r"<figcaption>(.*?)</figcaption>", inside, re.S)
                words = unescape(re.sub(r"<[^>]+>", " ", caption[1])) if caption else ""
                svg = (page.parent / image[1]).read_text("utf-8")
                out.append((page.name, name, words, re.sub(r":root:target\{.*?\}", "", svg, count=1)))
    assert len(out) > 60
    return out


def test_blue_is_adequacy_and_orange_is_fluency(drawn):
    broken = {
        f"{page}#{name}": sorted(unexplained(svg, words)) for page, name, words, svg in drawn if unexplained(svg, words)
    }
    assert not broken, f"colours that are never explained: {broken}"


def test_the_rule_can_be_broken():
    svg = '<svg><desc>{}</desc><path style="fill:{}"/></svg>'
    assert unexplained(svg.format("SLSQP; ESS", figures.FLUENCY), "what two methods lose") == {"fluency"}
    assert unexplained(svg.format("SLSQP", "#1f77b4"), "") == {"adequacy"}  # the blue of matplotlib
    assert unexplained(svg.format("SLSQP", "#ff7f0e"), "") == {"fluency"}  # and its orange
    assert not unexplained(svg.format("adequacy, better", figures.ADEQUACY), "")
    assert not unexplained(svg.format("", figures.FLUENCY), "Orange: fluency")
    for colour in (*figures.SERIES, figures.PALE, figures.GRID, figures.SHADE, figures.PAPER):
        assert not aspects_shown(colour)


def test_a_figure_is_one_file_for_both_kinds_of_page(drawn, pages):
    for page, name, _, svg in drawn:
        assert svg.startswith('<svg id="dark"'), f"{page}#{name}"
    for page in pages:
        text = page.read_text("utf-8")
        light = re.findall(r'wb-on-light[^>]*src="([^"]+)"', text)
        assert re.findall(r'wb-on-dark[^>]*src="([^"]+)"', text) == [f"{address}#dark" for address in light], page.name


def test_one_of_the_two_is_shown_in_each_theme_and_the_light_one_on_paper(browser, html):
    browser.get((html / "book" / "paper" / "4-2-setup.html").as_uri())
    shown = """const shown = kind => [...document.querySelectorAll('img.wb-on-' + kind)].filter(i => getComputedStyle(i).display !== 'none').length;
               return [shown('light') > 0, shown('dark') > 0]"""
    for theme, wanted in (("light", [True, False]), ("dark", [False, True])):
        browser.execute_script(f"document.documentElement.dataset.theme = '{theme}'")
        assert browser.execute_script(shown) == wanted, theme
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert browser.execute_script(shown) == [True, False]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_tables_are_whole(pages):
    for page in pages:
        for cell in re.findall(r"<t[dh][^>]*>([^<]*)</t[dh]>", page.read_text("utf-8")):
            assert not cell.endswith("..."), f"{page.name}: {cell}"
