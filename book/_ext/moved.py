"""Addresses that the book once had: each leaves a page that points to where its content is now.

`moved_pages` of `_config.yml` maps the old page to the new one, after a # with the place on it. The page that points follows by itself where the browser lets it, and has a link
where it does not; it is in no contents and no index.
"""

from os.path import relpath
from pathlib import Path

from sphinx.errors import ExtensionError

ROOT = "book/index"  # of the whole book
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="0; url={link}">
<title>This page has moved</title>
</head>
<body><p>This page has moved: <a href="{link}">go to its new address</a>.</p></body>
</html>
"""


def write(app, error):
    alone = app.config.root_doc != "book/index"  # one page, whose build knows no others
    if error is not None or app.builder.format != "html" or alone:
        return
    for old, new in app.config.moved_pages.items():
        page, _, spot = new.partition("#")
        if page not in app.env.found_docs and app.config.root_doc != ROOT:
            continue  # a single page was built
        if old in app.env.found_docs or page not in app.env.found_docs:
            raise ExtensionError(f"moved_pages: {old} must be gone, and {new} must be there")
        place = Path(app.outdir, f"{old}.html")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(
            PAGE.format(
                link=relpath(f"{page}.html", Path(old).parent.as_posix()) + spot.rjust(len(spot) + bool(spot), "#")
            ),
            "utf-8",
        )


def setup(app):
    app.add_config_value("moved_pages", {}, "", [dict])
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
