"""Figures that are readable on dark pages: every SVG that a chapter drew carries its colours for light pages and for dark ones.

`name.svg` is the light one, `name.svg#dark` the dark one: inside the file colours are variables, and the rule `:root:target` sets them anew. A page has
an image of each kind, and the stylesheet shows the one that fits; paper always gets the light one. Colours are mapped, not inverted: those that
have a name in `whichbird.show.palette` become their partners there; any other keeps its hue and changes its lightness as paper and ink do. A picture
inside a figure is mapped pixel by pixel, but for those that show balances from orange to blue: these stay as they are.

Besides, files are made short, to about a third: names that nothing refers to, comments and the third decimal of a coordinate serve no reader.
"""

import base64
import io
import re
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
from docutils import nodes
from PIL import Image
from sphinx.writers.html5 import HTML5Translator

from whichbird.show import figures, palette

DRAWN_WITH = "paper drawn faint grid pale shade unreached adequacy fluency green purple rose olive teal".split()
DARK = {palette.LIGHT[name]: palette.DARK[name] for name in DRAWN_WITH}
DARK |= {"#ffffff": palette.DARK["paper"], "#000000": palette.DARK["ink"]}
DRAWN = re.compile(r"[0-9a-f]{64}\.svg")  # the name of an output of a cell
COLOUR = re.compile(r"#[0-9a-f]{6}\b")
IMAGE = re.compile(r'<image [^>]*?href="data:image/png;base64,([^"]+)"[^>]*/>')


def _rgb(colour):
    return tuple(int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5))


@cache
def dark(colour):
    """The partner of a colour, "#rrggbb", on a dark page.

    A tint, so much of a named colour on paper, becomes as much of its partner on dark paper. What is no tint of any keeps its colour and changes its
    lightness as paper and ink do.

    >>> dark(figures.INK)
    '#dcdedf'
    """
    if colour in DARK:
        return DARK[colour]
    paper, night = (np.array(_rgb(c)) for c in (figures.PAPER, DARK[figures.PAPER]))
    away = np.array(_rgb(colour)) - paper
    best, out = 0.03, None
    for name, partner in DARK.items():
        full = np.array(_rgb(name)) - paper
        share = min(1.0, max(0.0, away @ full / max(full @ full, 1e-9)))
        miss = np.abs(away - share * full).max()
        if miss < best:
            best, out = miss, night + share * (np.array(_rgb(partner)) - night)
    if out is None:
        ink, chalk = (np.array(_rgb(c)).mean() for c in (figures.INK, DARK[figures.INK]))
        light = (paper + away).mean()
        share = min(1.0, max(0.0, (paper.mean() - light) / (paper.mean() - ink)))  # 0 is paper, 1 ink
        out = (paper + away) - light + night.mean() + share * (chalk - night.mean())
    return "#" + "".join(f"{round(255 * min(1.0, max(0.0, c))):02x}" for c in out)


def short(svg):
    """The same figure in fewer bytes."""
    svg = svg[svg.index("<svg") :]
    words = dict.fromkeys(re.findall(r"<!-- (.*?) -->", svg, flags=re.S))  # what is written in it, once each
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.S)
    svg = re.sub(r"<metadata>.*?</metadata>|<defs>\s*</defs>", "", svg, flags=re.S)
    svg = svg.replace("xlink:href", "href").replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "")
    used = dict.fromkeys(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
    names = {name: f"i{n}" for n, name in enumerate(used)}
    svg = re.sub(r' id="([^"]*)"', lambda m: f' id="{names[m[1]]}"' if m[1] in names else "", svg)
    svg = re.sub(r'(href="#|url\(#)([^")]+)', lambda m: m[1] + names[m[2]], svg)
    svg = re.sub(r"(<use [^>]*?)transform=\"translate\(([-\d.]+) ([-\d.]+)\)\"", r'\1x="\2" y="\3"', svg).replace(
        ' y="0"', ""
    )
    svg = re.sub(r' (x|y|cx|cy|width|height)="([^"]*)"', lambda m: f' {m[1]}="{_rounded(m[2])}"', svg)
    # letters are drawn on a grid of 1/64 of a unit; an eighth of that is fine enough, and takes shorter numbers
    svg = re.sub(
        r' d="([^"]*)" transform="scale\(0\.015625\)"',
        lambda m: f' d="{_relative(m[1], 8, 0)}" transform="scale(.125)"',
        svg,
    )
    svg = re.sub(r' d="(M \S[^"]*)"', lambda m: f' d="{_relative(m[1], 1, 2)}"', svg)
    svg = re.sub(r"translate\([^)]*\)", lambda m: _rounded(m[0]), svg)
    svg = re.sub(r'style="([^"]*)"', lambda m: f'style="{m[1].replace(": ", ":").replace("; ", ";")}"', svg)
    at = svg.index(">") + 1
    svg = f"{svg[:at]}<desc>{'; '.join(words)}</desc>{svg[at:]}"
    return re.sub(r">\s+<", "><", svg).strip() + "\n"


def _rounded(text):
    """Numbers with at most two decimals."""
    return re.sub(r"-?\d+\.\d{3,}", lambda m: f"{float(m[0]):z.2f}".rstrip("0").rstrip("."), text)


def _relative(path, unit, digits):
    """A path of absolute M, L, Q, C and z, as Matplotlib writes them, from point to point, in multiples of `unit` with so many digits.

    Every point is rounded before steps are taken, so that errors do not add up.

    >>> _relative("M 8 16 L 24 16 Q 32 16 32 24 z", 8, 0)
    'M1 2l2 0q1 0 1 1z'
    """
    out, here, start = [], (0.0, 0.0), (0.0, 0.0)
    for command, numbers in re.findall(r"([MLQCz])([^MLQCz]*)", path):
        at = [round(float(v) / unit, digits) for v in numbers.split()]
        points = list(zip(at[::2], at[1::2], strict=True))
        if command == "M":
            here = start = points[0]
            out.append("M" + _words(points[0], digits))
        elif command == "z":
            here = start
            out.append("z")
        else:
            out.append(command.lower() + " ".join(_words((x - here[0], y - here[1]), digits) for x, y in points))
            here = points[-1]
    return "".join(out)


def _words(values, digits):
    return " ".join(f"{v:z.{digits}f}".rstrip("0").rstrip(".") if digits else f"{v:z.0f}" for v in values)


def themed(svg):
    """A figure whose colours are variables, with the values of light pages, and those of dark pages for whoever asks for #dark."""
    pictures = []

    def put_away(match):
        pictures.append(match)
        return f"\0{len(pictures) - 1}\0"

    svg = IMAGE.sub(put_away, svg)
    colours = {colour: f"--c{n}" for n, colour in enumerate(dict.fromkeys(COLOUR.findall(svg)))}
    svg = COLOUR.sub(lambda m: f"var({colours[m[0]]})", svg)
    often = [look for look, count in Counter(re.findall(r' style="([^"]*)"', svg)).items() if count > 1]
    classes = {look: f"s{n}" for n, look in enumerate(often)}
    svg = re.sub(r' style="([^"]*)"', lambda m: f' class="{classes[m[1]]}"' if m[1] in classes else m[0], svg)
    svg = re.sub(r"\0(\d+)\0", lambda m: _picture(pictures[int(m[1])]), svg)
    light = "".join(f"{name}:{colour};" for colour, name in colours.items())
    night = "".join(f"{name}:{dark(colour)};" for colour, name in colours.items())
    rules = (
        f"<style>:root{{{light}}}:root:target{{{night}fill:{DARK['#000000']}}}"
        ".d,:root:target .l{display:none}:root:target .d{display:inline}"
        + "".join(f".{name}{{{look}}}" for look, name in classes.items())
        + "</style>"
    )
    at = svg.index(">", svg.index("<svg")) + 1
    return f'<svg id="dark"{svg[4:at]}{rules}{svg[at:]}'


def _picture(match):
    """A picture inside a figure, and its twin for dark pages. One that covers its place and has both blue and orange is a scale of balance."""
    picture = Image.open(io.BytesIO(base64.b64decode(match[1]))).convert("RGBA")
    pixels = np.array(picture)
    seen, place = np.unique(pixels[..., :3].reshape(-1, 3), axis=0, return_inverse=True)
    if pixels[..., 3].min() == 255 and np.ptp(seen[:, 0].astype(int) - seen[:, 2]) > 250:
        return match[0]
    mapped = np.array([[round(255 * c) for c in _rgb(dark("#{:02x}{:02x}{:02x}".format(*rgb)))] for rgb in seen])
    pixels[..., :3] = mapped[place.ravel()].reshape(*pixels.shape[:2], 3)
    twins = {"l": picture, "d": Image.fromarray(pixels)}
    return "".join(
        match[0].replace(match[1], _png(one)).replace("<image ", f'<image class="{kind}" ', 1)
        for kind, one in twins.items()
    )


def _png(picture):
    """A picture as the text of a PNG; a large one with a palette, transparency included."""
    out = io.BytesIO()
    large = picture.width * picture.height > 20_000
    (picture.quantize(256, method=Image.Quantize.FASTOCTREE) if large else picture).save(out, "PNG", optimize=True)
    return base64.b64encode(out.getvalue()).decode()


def visit_image(self, node):
    """Write a figure twice, once for each kind of page."""
    name = self.builder.images.get(node["uri"], "")
    if not DRAWN.fullmatch(name):
        HTML5Translator.visit_image(self, node)
        return
    node["classes"] = [*node["classes"], "wb-on-light"]
    HTML5Translator.visit_image(self, node)
    light = self.body.pop()
    self.body.append(light + light.replace("wb-on-light", "wb-on-dark").replace(f'{name}"', f'{name}#dark"'))


def write(app, error):
    """Make the figures of the site short."""
    if error is not None or app.builder.format != "html":
        return
    for file in Path(app.outdir, "_images").glob("*.svg"):
        svg = file.read_text("utf-8")
        if DRAWN.fullmatch(file.name) and '<svg id="dark"' not in svg:  # not yet
            file.write_text(themed(short(svg)), "utf-8")


def setup(app):
    app.add_node(nodes.image, override=True, html=(visit_image, HTML5Translator.depart_image))
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
