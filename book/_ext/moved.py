"""Addresses that the book once had: each leaves a page that points to where its content is now.

`moved_pages` of `_config.yml` maps the old page to the new one, after a # with the place on it. The page that points follows by itself where the browser lets it, and has a link
where it does not; it is in no contents and no index. The site's root leads to the book's first page in the same way.
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
<title>{title}</title>
</head>
<body><p>{title}: <a href="{link}">go there</a>.</p></body>
</html>
"""


def write(app, error):
    if error is not None or app.builder.format != "html":
        return
    root = app.config.root_doc
    Path(app.outdir, "index.html").write_text(PAGE.format(link=f"{root}.html", title="The first page"), "utf-8")
    if root != ROOT:  # one page, whose build knows no others
        return
    for old, new in app.config.moved_pages.items():
        page, _, spot = new.partition("#")
        if old in app.env.found_docs or page not in app.env.found_docs:
            raise ExtensionError(f"moved_pages: {old} must be gone, and {new} must be there")
        place = Path(app.outdir, f"{old}.html")
        place.parent.mkdir(parents=True, exist_ok=True)
        link = relpath(f"{page}.html", Path(old).parent.as_posix()) + spot.rjust(len(spot) + bool(spot), "#")
        place.write_text(PAGE.format(link=link, title="This page has moved"), "utf-8")


def setup(app):
    app.add_config_value("moved_pages", {}, "", [dict])
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
