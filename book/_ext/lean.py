"""The site carries what its pages ask for, and no more.

- sphinx-mathjax-offline copies all of MathJax, ten bundles, when the build ends. A page asks for one of them, its fonts, and the
  extensions that a formula or a reader's menu can call for; only these are copied here. Speech is in English, as the book is.
- Pictures have thousands of shades, most of them at the edges of letters. With a palette of 256 they look the same at half the size; one that
  a palette would change by more than `SHADES` levels anywhere stays as it is.
- Source maps of the theme serve those who debug the theme. Its icons come as WOFF2, which every browser of today reads, and once more as TTF.

The browser tests of `tests/pages` see that no page asks for a file that is not there.
"""

import importlib
import io
import shutil
from pathlib import Path

from PIL import Image, ImageChops
from sphinx.util.fileutil import copy_asset

PACKAGE = "sphinx-mathjax-offline"
MATHJAX = [
    "tex-chtml.js",
    "output/chtml/fonts",
    "input/tex/extensions",
    "a11y",
    "sre/mathmaps/base.json",
    "sre/mathmaps/en.json",
]

SHADES = 32  # of 256
WAYS = (
    Image.Quantize.MEDIANCUT,
    Image.Quantize.FASTOCTREE,
)  # the first is true to most pixels, the second to every one


def palette(picture):
    """A picture with a palette instead of shades, as the bytes of a PNG; None if no palette does it justice."""
    if "A" in picture.getbands() and picture.getchannel("A").getextrema()[0] < 255:
        return None
    picture = picture.convert("RGB")
    for way in WAYS:
        small = picture.quantize(256, method=way, dither=Image.Dither.NONE)
        change = ImageChops.difference(picture, small.convert("RGB"))
        if max(high for _, high in change.getextrema()) <= SHADES:
            out = io.BytesIO()
            small.save(out, "PNG", optimize=True)
            return out.getvalue()
    return None


def trim(app, error):
    if error is not None:
        return
    static = Path(app.outdir, "_static")
    source = Path(importlib.import_module(PACKAGE).__file__).parent / "static" / "mathjax"
    shutil.rmtree(static / "mathjax", ignore_errors=True)  # what an earlier build left
    for name in MATHJAX:
        place = static / "mathjax" / name
        copy_asset(str(source / name), str(place if (source / name).is_dir() else place.parent))
    for file in [*static.rglob("*.map"), *(static / "vendor" / "fontawesome").rglob("*.ttf")]:
        file.unlink()
    for file in Path(app.outdir, "_images").glob("*.png"):
        with Image.open(file) as picture:
            small = palette(picture) if picture.mode != "P" else None
        if small is not None and len(small) < file.stat().st_size:
            file.write_bytes(small)


def setup(app):
    listeners = app.events.listeners["build-finished"]
    listeners[:] = [entry for entry in listeners if entry.handler.__module__ != PACKAGE]
    app.connect("build-finished", trim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
