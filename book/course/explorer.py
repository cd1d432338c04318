"""The explorer of the book as a page of its own: data from the kept run of its chapter, scripts and styles from the book, nothing from elsewhere."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from course import sources

PAGE = "use/explorer"
HEAD = """<!DOCTYPE html>
<html lang="en" data-theme="light">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Move the balance yourself</title>
<script>(function () {
  // a slide that holds this page names its window after its theme
  var dark = window.name === "dark" || (window.name !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();</script>
<link rel="icon" href="mark.svg"><link rel="stylesheet" href="palette.css"><link rel="stylesheet" href="whichbird.css">
<style>body { margin: 0; padding: 0.4rem 1rem 1rem; background: var(--wb-paper); color: var(--wb-ink); font-family: var(--wb-sans); }
.wb-live { margin: 0 auto; max-width: 66rem; }</style>
</head>
<body><main class="bd-article bd-content"><h1 style="position: absolute; clip-path: inset(50%); margin: 0">Move the balance yourself</h1>
"""


def html() -> str:
    """The page."""
    body = sources.output(PAGE, "explorer.embed(list(pages.values())")
    return f"{HEAD}{body.replace('../../_static', '.').replace('./', '')}\n</main></body></html>\n"


def write(folder: Path) -> None:
    """The page with all that it asks for; segment scores too, for a score file that a student drops on it."""
    from whichbird.data.digest import datasets
    from whichbird_book.laboratory import segment_script

    page = html()
    (folder / "segments").mkdir(parents=True)
    (folder / "index.html").write_text(page, "utf-8")
    for name in [*re.findall(r'(?:src|href)="([\w.-]+\.(?:js|css))"', page), "mark.svg"]:
        shutil.copyfile(sources.BOOK / "assets" / name, folder / name)
    for name in datasets(aspects=True):
        (folder / "segments" / f"{name}.js").write_text(segment_script(name), "utf-8")
