"""Puts a script of segment scores for each dataset beside the pages, for the tests of scorers of one's own in the explorer.

They are written when the explorer's page is part of the build, and again only when the library or the data changed (`executed` knows).
A reader loads one of them, and only after handing in a score file.
"""

import hashlib
from pathlib import Path

import execute

from whichbird.data.digest import datasets
from whichbird.data.manifest import ships
from whichbird.data.registry import FIELDS
from whichbird_book.laboratory import segment_script

PAGE = "book/use/explorer"


def write(app, error):
    if error is not None or app.builder.format != "html" or PAGE not in app.env.found_docs:
        return
    folder = Path(app.outdir, "_static", "segments")
    key, mark = hashlib.sha256(execute.world().encode()).hexdigest(), folder / ".key"
    if mark.is_file() and mark.read_text("utf-8") == key:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*datasets(aspects=True), *(n for n in FIELDS if ships(f"significance/{n}.npz"))):
        (folder / f"{name}.js").write_text(segment_script(name), "utf-8")
    mark.write_text(key, "utf-8")


def setup(app):
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
