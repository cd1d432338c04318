"""What every page gets without a word in its source.

- At the end of the opening block of an executed chapter: links to its working copy, which `book/copies.py` makes of the pages when they are all there, and to
  its MyST source. The nodes are put into the parsed page, so the sources stay as written.
- In the head of the first page: what the software and the data are, as JSON-LD, from `book/records.py`.
- In every page: what it may run and ask for, from `book/policy.py`.
- In the head of every page: a description, and the title and picture that other sites show when someone shares a link. They come from the page
  itself. Where the book will be served is not known, so the picture's address is relative, which not every site follows; with `site_address` in
  `_config.yml` it is a full one, as the protocol asks for.
- `{{ source }}` and `{{ clone }}` in a page: where this repository is, and how to get it, from `repository` in paper/authors.yml. While that is empty they say how
  to go on from a clone, and name no address.
- `{nb-exec-table}` lists chapters by title in the order of the book, with a total, and without the time of the build, which would make
  two builds of the same book differ for no reason.
"""

import sys
from html import escape
from os.path import relpath
from pathlib import Path
from textwrap import shorten

from docutils import nodes
from markupsafe import Markup
from myst_nb.ext.execution_tables import ExecutionStatsNode
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.addnodes import download_reference
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import copies
import execute
import policy
import records

CARD = "_static/card.png"
BOOK = "A book you can run: see, steer and trust which bird a machine-translation meta-evaluation favours."


def _opening(doctree):
    return next((box for box in doctree.findall(nodes.container) if "chapter-opening" in box["classes"]), None)


class Downloads(SphinxTransform):
    """Add the two links to the opening block of a chapter that was run."""

    default_priority = 500  # after the page is parsed, before Sphinx collects the files to copy

    def apply(self, **_):
        name, opening = self.env.docname, _opening(self.document)
        if opening is None or not NbMetadataCollector.get_exec_data(self.env, name):
            return
        copy = "../" * name.count("/") + f"{copies.FOLDER}/{name.partition('/')[2]}.ipynb"
        source = self.env.doc2path(name)
        line = nodes.paragraph(classes=["chapter-downloads"])
        line += nodes.strong(text="Take it with you")
        line += nodes.Text(": ")
        line += nodes.reference("", "the chapter as a notebook", refuri=copy, classes=["download"])
        line += nodes.Text(", or ")
        line += download_reference("", "its source", reftarget=self._from_root(source))
        line += nodes.Text(".")
        if names := list(copies.parameters(execute.code_cells(execute.read(Path(source))))):
            line += nodes.Text(" In the notebook you can change ")
            for n, each in enumerate(names):
                line += [nodes.Text(", " if n < len(names) - 1 else " or ")] * (n > 0) + [nodes.literal(text=each)]
            line += nodes.Text(" and run it again.")
        opening += line

    def _from_root(self, path):
        return "/" + Path(relpath(path, self.env.srcdir)).as_posix()


class Status(SphinxPostTransform):
    """Put our table in the place of `{nb-exec-table}`."""

    default_priority = 7  # myst-nb's own table comes at 8

    def run(self, **_):
        for node in list(self.document.findall(ExecutionStatsNode)):
            node.replace_self(self._table())

    def _table(self):
        data = NbMetadataCollector.get_doc_data(self.env)
        ran = {
            name: data[name]["exec_data"]
            for name in self._in_order(self.config.root_doc)
            if data.get(name, {}).get("exec_data")
        }
        rows = [
            (self._link(name), f"{run['runtime']:.1f}", "ran" if run["succeeded"] else "failed")
            for name, run in ran.items()
        ]
        total = ("all together", f"{sum(run['runtime'] for run in ran.values()):.1f}", f"{len(ran)} pages")
        body = nodes.tgroup("", *(nodes.colspec(colwidth=w) for w in (60, 20, 20)), cols=3)
        body += nodes.thead("", _row("page", "seconds", "status"))
        body += nodes.tbody("", *(_row(*cells) for cells in rows), _row(*total))
        return nodes.table("", body, classes=["chapter-status", "colwidths-auto"])

    def _in_order(self, name):
        yield name
        for child in self.env.toctree_includes.get(name, []):
            yield from self._in_order(child)

    def _link(self, name):
        address = self.app.builder.get_relative_uri(self.env.docname, name)
        return nodes.reference("", self.env.titles[name].astext(), refuri=address, internal=True)


def _row(*cells):
    cells = [nodes.Text(cell) if isinstance(cell, str) else cell for cell in cells]
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


def _description(doctree):
    """The line *You will see* of a chapter, else its first paragraph."""
    place = doctree and (_opening(doctree) or doctree)
    first = place and next(place.findall(nodes.paragraph), None)
    return shorten(first.astext(), 200, placeholder=" …") if first else BOOK


def _picture(app, pagename, doctree):
    """Address of the first figure of a page, else of the book's card, and what it shows."""
    alt = address = ""
    for image in doctree.findall(nodes.image) if doctree else ():
        name = app.builder.images.get(image["uri"], "")
        if name.endswith(".png"):  # sites show no vector graphics
            address, alt = f"_images/{name}", image.get("alt", "")
            break
    if not address:
        address, alt = CARD, "A blue and an orange bird on a balance: Whichbird."
    root = app.config.site_address.rstrip("/")
    if root:
        return f"{root}/{address}", alt
    return relpath(address, Path(pagename).parent.as_posix()), alt


def describe(app, pagename, templatename, context, doctree):
    home = pagename == app.config.root_doc
    title, description = Markup(context.get("title", "")).striptags(), _description(doctree)
    picture, shown = _picture(app, pagename, doctree)
    if home:
        context["docstitle"] = ""  # the book's name once, not twice
    tags = {
        "name": {"description": description, "twitter:card": "summary_large_image"},
        "property": {
            "og:title": title,
            "og:description": description,
            "og:type": "website" if home else "article",
            "og:site_name": app.config.html_title,
            "og:image": picture,
            "og:image:alt": shown,
        },
    }
    if app.config.site_address:
        tags["property"]["og:url"] = f"{app.config.site_address.rstrip('/')}/{pagename}.html"
    context["metatags"] = context.get("metatags", "") + "".join(
        f'\n    <meta {kind}="{key}" content="{escape(value)}">'
        for kind, pairs in tags.items()
        for key, value in pairs.items()
    )
    if home:
        context["metatags"] += f"\n    {records.linked()}"


def name_repository(_, config):
    address = records.known()[2]["repository"]
    config.myst_substitutions |= {
        "source": f"Its source, data and tests are at <{address}>."
        if address
        else "Its source, data and tests lie in one repository, from which it is built.",
        "clone": f"In a clone (`git clone {address}`)" if address else "In the folder of this repository",
    }


def write_copies(app, error):
    if error is None and app.builder.format == "html":
        policy.guard(Path(app.outdir))
        copies.write(Path(app.outdir))


def setup(app):
    app.connect("config-inited", name_repository)
    app.add_transform(Downloads)
    app.connect("build-finished", write_copies, priority=900)  # after others have written pages
    app.add_post_transform(Status)
    app.connect("html-page-context", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
