"""The site carries what its pages ask for, and no more.

- sphinx-mathjax-offline copies all of MathJax, ten bundles, when the build ends. A page asks for one of them, its fonts, and the
  extensions that a formula or a reader's menu can call for; only these are copied here. Speech is in English, as the book is.
- Source maps of the theme serve those who debug the theme. Its icons come as WOFF2, which every browser of today reads, and once more as TTF.

The browser tests of `tests/pages` see that no page asks for a file that is not there.
"""

import importlib
import shutil
from pathlib import Path

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


def setup(app):
    listeners = app.events.listeners["build-finished"]
    listeners[:] = [entry for entry in listeners if entry.handler.__module__ != PACKAGE]
    app.connect("build-finished", trim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
