"""The dark colours of figures: book/_ext/night.py."""

import base64
import io
import re
import sys
import xml.etree.ElementTree as tree
from pathlib import Path

import numpy as np
import palette as paint
import pytest
from matplotlib.figure import Figure
from PIL import Image

from whichbird.show import figures, palette

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "book" / "_ext"))
import night

ROOT = Path(__file__).resolve().parents[1]


def luminance(colour):
    rgb = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    r, g, b = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in rgb)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one, two):
    low, high = sorted(map(luminance, (one, two)))
    return (high + 0.05) / (low + 0.05)


def test_colours_stand_in_one_place():
    """Style sheets and marks hold what the palette says, and no other style sheet has a colour of its own."""
    for path, text in paint.files().items():
        assert path.read_text("utf-8") == text, f"{path.name}: run make palette"
    sheets = [p for folder in ("book/assets", "book/course/look") for p in (ROOT / folder).glob("*.css")]
    for path in sheets:
        own = set(re.findall(r"#[0-9a-f]{6}\b", re.sub(r"@page \{.*", "", path.read_text("utf-8"))))
        assert path.name == paint.SHEET or own <= {palette.LIGHT["paper"]}, (
            f"{path.name}: {own}"
        )  # figures stay on light paper
    assert all(night.dark(palette.LIGHT[name]) == palette.DARK[name] for name in night.DRAWN_WITH)


def test_a_colour_changed_in_the_palette_is_noticed(monkeypatch):
    monkeypatch.setitem(paint.LIGHT, "adequacy", "#123456")
    assert {p.name for p, text in paint.files().items() if p.read_text("utf-8") != text} == {
        "palette.css",
        "mark.svg",
        "favicon.svg",
    }


@pytest.mark.parametrize("colour", [*figures.SERIES, figures.ADEQUACY, figures.FLUENCY])
def test_marks_stand_out_on_both_papers(colour):
    """WCAG: 3 to 1 for marks."""
    assert contrast(colour, figures.PAPER) > 3
    assert contrast(night.dark(colour), night.dark(figures.PAPER)) > 3


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 0.9])
def test_a_tint_lies_as_far_from_dark_paper_as_from_light(share):
    """What is fainter on light paper is fainter on dark paper."""
    tint, fainter = (
        "#"
        + "".join(
            f"{round(s * int(figures.INK[n : n + 2], 16) + (1 - s) * int(figures.PAPER[n : n + 2], 16)):02x}"
            for n in (1, 3, 5)
        )
        for s in (share, share / 2)
    )
    assert (
        contrast(night.dark(tint), night.dark(figures.PAPER))
        > contrast(night.dark(fainter), night.dark(figures.PAPER))
        > 1
    )


def drawing(**options):
    figures.use()
    fig = Figure(figsize=(3, 2))
    ax = fig.subplots()
    ax.plot([0, 1, 2], [0.123456, 1, 0], color=figures.ADEQUACY)
    ax.set(xlabel="adequacy", title="A & B < C")
    if options.get("picture") is not None:
        ax.imshow(options["picture"], interpolation="none")
    out = io.StringIO()
    fig.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def test_a_figure_is_drawn_the_same_twice():
    assert drawing() == drawing()


def test_a_short_figure_refers_to_what_it_has_and_says_what_is_written_in_it():
    svg = night.short(drawing())
    assert len(svg) < 0.75 * len(drawing())
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg)) == set(re.findall(r' id="([^"]+)"', svg))
    assert "<desc>" in svg and "adequacy" in svg and "A &amp; B &lt; C" in svg
    tree.fromstring(night.themed(svg))  # well formed


def test_colours_are_variables_with_both_values():
    svg = night.themed(night.short(drawing()))
    body = svg.split("</style>", 1)[1]
    assert not re.findall(r"#[0-9a-f]{6}\b", body)
    light, dark = (dict(re.findall(r"(--c\d+):(#[0-9a-f]{6})", part)) for part in svg.split(":root:target{", 1))
    assert figures.ADEQUACY in light.values() and light.keys() == dark.keys()
    assert all(dark[name] == night.dark(colour) for name, colour in light.items())
    assert set(re.findall(r"var\((--c\d+)\)", svg)) == set(light)


def pictures(svg):
    found = re.findall(r'<image (?:class="(\w)" )?[^>]*base64,([^"]+)"', svg)
    return {kind: np.array(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGBA")) for kind, data in found}


def test_pictures_get_a_dark_twin_and_scales_of_balance_do_not():
    ink = np.array([[[0x2B, 0x30, 0x36, 255], [0xFD, 0xFD, 0xFB, 255]]], dtype=np.uint8)
    twins = pictures(night.themed(night.short(drawing(picture=ink))))
    assert set(twins) == {"l", "d"}
    assert "#{:02x}{:02x}{:02x}".format(*twins["d"].reshape(-1, 4)[0, :3]) == night.dark(figures.INK)
    scale = (255 * figures.BALANCE(np.linspace(0, 1, 9)[None])).astype(np.uint8)
    assert set(pictures(night.themed(night.short(drawing(picture=scale))))) == {""}
