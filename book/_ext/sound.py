"""Pages whose structure says what it is, for readers who do not see it.

- What sphinx-proof and sphinx-exercise put into every box has one id on all of a page; an id that nothing leads to goes.
- The theme's search has no button: one that screens do not show.
- Empty cells in the head of a table are no headings.

The pages are changed when they are all written; a page that was changed before stays as it is.
"""

import re
from pathlib import Path

BOXES = re.compile(r' id="(?:proof|exercise|solution)-content"|(?<=<div class="proof admonition") id="proof"')
EMPTY = re.compile(r"<th(?: [^>]*)?>\s*(?:<p>\s*</p>\s*)?</th>")
SEARCH = re.compile(r'(<form class="bd-search[^>]*>(?:(?!</form>|type="submit").)*)(</form>)', re.S)
BUTTON = '<button type="submit" class="visually-hidden">Search</button>'


def sound(page):
    """The page with these mended.

    >>> sound('<section id="proof-content"></section><tr><th></th><th class="head"><p></p></th><th>β</th></tr>')
    '<section></section><tr><td></td><td></td><th>β</th></tr>'
    >>> sound('<div class="proof admonition" id="proof"><p>Proof. '), sound('<section id="proof">')
    ('<div class="proof admonition"><p>Proof. ', '<section id="proof">')
    >>> sound('<form class="bd-search"><input></form>').count("submit"), sound(sound('<form class="bd-search"></form>')).count("submit")
    (1, 1)
    """
    return SEARCH.sub(rf"\1{BUTTON}\2", EMPTY.sub("<td></td>", BOXES.sub("", page)))


def write(app, error):
    if error is not None or app.builder.format != "html":
        return
    for file in [*Path(app.outdir).glob("*.html"), *Path(app.outdir, "book").rglob("*.html")]:
        text = file.read_text("utf-8")
        if (mended := sound(text)) != text:
            file.write_text(mended, "utf-8")


def setup(app):
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
