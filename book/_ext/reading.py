"""Reading mode: a chapter is prose, figures and tables; code waits in folds that say what they hold.

- Code of a cell is folded to one quiet line: "✓ 14 checks", the number of `assert` statements in it (one in a loop counts once), or "code". Cells that
  follow each other, with nothing to show between them, share a line. A cell tagged `lesson` is shown; so is the code of a solution, which is folded
  as a whole, unless it is tagged `hide-input`.
- Library code that `source(…)` prints is folded under its name, and leads to the page of the library's reference where there is one.
- A term of the glossary that a page links to brings its definition along; `reading.js` shows it as a card.
- At the end of a page: how to cite it, from `CITATION.cff`.

Folds are `details`, so all of this can be read without JavaScript. The line in the head that opens folds while the page is parsed, for readers
who asked for all code, keeps the page from jumping.
"""

import ast
import re
from html import escape
from pathlib import Path

import yaml
from docutils import nodes
from markupsafe import Markup
from sphinx.transforms.post_transforms import SphinxPostTransform

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = "book/use/glossary"
API = "book/use/api"
CHECKED = "Assertions that held when this page was built; one inside a loop is counted once."

EARLY = """<script>(function (html) {
  html.classList.add("wb-js");
  try { if (localStorage.getItem("wb-code") !== "shown") return; } catch (_) { return; }
  html.dataset.wbCode = "shown";
  var open = function () { document.querySelectorAll("details.wb-code").forEach(function (d) { d.open = true; }); };
  var watch = new MutationObserver(open);
  watch.observe(html, {childList: true, subtree: true});
  document.addEventListener("DOMContentLoaded", function () { watch.disconnect(); open(); });
})(document.documentElement);</script>"""


class Fold(nodes.General, nodes.Element):
    """A `details` with a line of text in `label`."""


def visit_fold(self, node):
    hint = f' title="{escape(node["hint"])}"' if node.get("hint") else ""
    self.body.append(self.starttag(node, "details"))
    self.body.append(f"<summary{hint}>{escape(node['label'])}</summary>\n")


def depart_fold(self, _):
    self.body.append("</details>\n")


def tree(code):
    """The code as Python, without what IPython alone understands."""
    return ast.parse(re.sub(r"^[%!].*$", "", code, flags=re.M))


def checks(code):
    """How many assert statements the code has.

    >>> checks("for x in y:\\n    assert x\\nassert y")
    2
    """
    return sum(isinstance(node, ast.Assert) for node in ast.walk(tree(code)))


def label(code):
    """What the line of a fold says.

    >>> label("x = 1"), label("assert x"), label("assert x; assert y")
    ('code', '✓ 1 check', '✓ 2 checks')
    """
    count = checks(code)
    return f"✓ {count} check{'s' * (count > 1)}" if count else "code"


def defined(code):
    """Names of the functions and classes at the top level of a listing; of methods that stand alone, their names."""
    try:
        body = ast.parse("\n".join(line[4:] for line in code.splitlines()) if code[:4] == "    " else code).body
    except SyntaxError:
        return []
    return [node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]


def _part(cell, kind):
    return next((child for child in cell.children if child.get("nb_element") == kind), None)


class Folds(SphinxPostTransform):
    """Fold code and library listings."""

    default_priority = 190  # when outputs are chosen; myst-nb's own folds come at 199
    formats = ("html",)

    def run(self, **_):
        cells = [c for c in self.document.findall(nodes.container) if c.get("nb_element") == "cell_code"]
        for cell in cells:
            self._fold(cell)
        for cell in cells:
            self._merge(cell)

    def _fold(self, cell):
        tags = cell["cell_metadata"].get("tags", [])
        hidden = cell.attributes.pop("hide_mode", None)
        source, output = _part(cell, "cell_code_source"), _part(cell, "cell_code_output")
        if output is not None and not any(
            isinstance(n, nodes.Text | nodes.raw | nodes.image) for n in output.findall()
        ):
            cell.remove(output)
            output = None
        if "lesson" in tags:
            return
        solution = any("solution" in a.get("classes", []) for a in _ancestors(cell))
        if source is not None and not (solution and hidden is None):
            code = source.astext()
            fold = Fold(label=label(code), hint=CHECKED if checks(code) else "", code=code, classes=["wb-code"])
            cell.replace(source, fold)
            fold += source
        if output is not None:
            self._fold_output(cell, output, hidden)

    def _fold_output(self, cell, output, hidden):
        blocks = list(output.findall(nodes.literal_block))
        text = "".join(output.astext().split())
        listing = blocks and text == "".join("".join(b.astext() for b in blocks).split())
        listing = listing and all(b.get("language") == "python" for b in blocks)
        names = [name for b in blocks for name in defined(b.astext())] if listing else []
        if not (names or (hidden and "output" in hidden)):
            return
        words = f"library source: {', '.join(names)}" if names else "code" if listing else "output"
        fold = Fold(label=words, classes=["wb-code", "wb-source"])
        cell.replace(output, fold)
        links = [link for link in map(self._link, names) if link is not None]
        if links:
            line = nodes.paragraph("", "Described in the reference: ", classes=["wb-described"])
            for n, link in enumerate(links):
                line += [nodes.Text(", ")] * (n > 0) + [link]
            fold += line
        fold += output

    def _link(self, name):
        """A link to the library's reference, if there is such a page and it knows the name."""
        objects = self.env.get_domain("py").objects.items()
        kinds = ("function", "class", "exception")
        found = [o for n, o in objects if n == f"whichbird.{name}" and o.docname == API and o.objtype in kinds]
        if not found:
            return None
        (at,) = found
        address = f"{self.app.builder.get_relative_uri(self.env.docname, at.docname)}#{at.node_id}"
        return nodes.reference("", "", nodes.literal(text=name), refuri=address, internal=True)

    def _merge(self, cell):
        """A cell of which only a fold is left gives its code to the fold that follows at once."""
        if not (len(cell.children) == 1 and isinstance(cell.children[0], Fold) and "code" in cell.children[0]):
            return
        here = cell.parent.index(cell)
        follower = cell.parent.children[here + 1] if here + 1 < len(cell.parent) else None
        if follower is None or follower.get("nb_element") != "cell_code" or not follower.children:
            return
        fold = follower.children[0]
        if not (isinstance(fold, Fold) and "code" in fold):
            return
        fold["code"] = f"{cell.children[0]['code']}\n{fold['code']}"
        fold["label"] = label(fold["code"])
        fold["hint"] = CHECKED if checks(fold["code"]) else ""
        fold.children = cell.children[0].children + fold.children
        for child in fold.children:
            child.parent = fold
        for ref in cell["ids"]:  # addresses stay
            follower["ids"].append(ref)
        cell.parent.remove(cell)


def _ancestors(node):
    while node.parent is not None:
        node = node.parent
        yield node


# Cards


def definitions(app):
    """Anchor of a term to the term and its definition as HTML, without links, which would lead astray from another page."""
    if not hasattr(app, "wb_definitions"):
        found = {}
        if GLOSSARY in app.env.found_docs:
            page = app.env.get_and_resolve_doctree(GLOSSARY, app.builder)
            for item in page.findall(nodes.definition_list_item):
                terms = [child for child in item.children if isinstance(child, nodes.term)]
                body = next(child for child in item.children if isinstance(child, nodes.definition)).deepcopy()
                for link in list(body.findall(nodes.reference)):
                    link.replace_self(nodes.inline("", link.astext()))
                html = "".join(app.builder.render_partial(child)["fragment"] for child in body.children)
                for term in terms:
                    name = "".join(c.astext() for c in term.children if isinstance(c, nodes.Text | nodes.inline))
                    found |= {anchor: (name, html.strip()) for anchor in term["ids"]}
        app.wb_definitions = found
    return app.wb_definitions


def cards(app, pagename, doctree):
    """Definitions of the terms that a page links to."""
    if pagename == GLOSSARY:
        return ""
    links = [n["refuri"] for n in doctree.findall(nodes.reference) if "glossary.html#term-" in n.get("refuri", "")]
    anchors = dict.fromkeys(link.partition("#")[2] for link in links)
    known = definitions(app)
    out = [
        f'<div class="wb-card" id="card-{a}" role="tooltip"><strong>{escape(known[a][0])}</strong>\n{known[a][1]}</div>'
        for a in anchors
        if a in known
    ]
    return '<div class="wb-cards" hidden>\n' + "\n".join(out) + "\n</div>\n" if out else ""


# To cite


def _people(authors):
    names = [a.get("name") or f"{a['family-names']}, {a['given-names']}" for a in authors]
    return " and ".join(names)


def cite(app, pagename, title):
    """Text and BibTeX for one page, and the paper it belongs to."""
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    paper, year, home = cff["preferred-citation"], app.config.copyright, pagename == app.config.root_doc
    authors = _people(cff["authors"])
    address = f"{app.config.site_address.rstrip('/')}/{pagename}.html" if app.config.site_address else ""
    part = "" if home else f"“{title}”. In "
    text = f"{authors} ({year}). {part}<cite>{escape(cff['title'])}</cite>, version {cff['version']}."
    text += f" {address}" if address else ""
    key = "whichbird" if home else f"whichbird-{re.sub(r'[^a-z0-9]+', '-', pagename.rpartition('/')[2].lower())}"
    fields = {"author": f"{{{authors}}}", "title": cff["title"] if home else title}
    if not home:
        fields["booktitle"] = cff["title"]
    fields |= {"note": f"Version {cff['version']}", "year": year} | ({"url": address} if address else {})
    entries = [
        (f"@{'book' if home else 'incollection'}{{{key}", fields),
        (
            "@article{shayegh-kazemi-2026-mind",
            {"author": _people(paper["authors"]), "title": paper["title"], "year": str(paper["year"])},
        ),
    ]
    bibtex = "\n\n".join(
        ",\n".join([head, *(f"  {name} = {{{value}}}" for name, value in each.items())]) + "\n}"
        for head, each in entries
    )
    people = " and ".join(a["family-names"] for a in paper["authors"])
    return (
        '<details class="wb-cite"><summary>Cite this page</summary>\n'
        f"<p>{text}</p>\n<p>The paper: {people} ({paper['year']}). <cite>{escape(paper['title'])}</cite>.</p>\n"
        f"<pre>{escape(bibtex)}</pre>\n</details>\n"
    )


def furnish(app, pagename, templatename, context, doctree):
    if doctree is None:
        return
    title = Markup(context.get("title", "")).striptags()
    context["metatags"] = EARLY + context.get("metatags", "")
    context["body"] += cite(app, pagename, str(title)) + cards(app, pagename, doctree)
    if 'class="wb-code' in context["body"] and "header_buttons" in context:
        switch = {
            "type": "javascript",
            "javascript": "whichbirdCode()",
            "text": "Show all code",
            "label": "wb-code",
            "tooltip": "Open every fold with code on every page; print them, too",
        }
        context["header_buttons"].insert(0, switch)


def outdated(app, env, added, changed, removed):
    """Cards hold what the glossary says: where it changed, every page is made anew."""
    return list(env.found_docs) if GLOSSARY in changed else []


def setup(app):
    app.add_node(Fold, html=(visit_fold, depart_fold))
    app.add_post_transform(Folds)
    app.add_config_value("site_address", "", "html", [str])
    app.add_js_file("reading.js")
    app.connect("env-get-outdated", outdated)
    app.connect("html-page-context", furnish, priority=700)  # after the theme has made its buttons
    return {"parallel_read_safe": True, "parallel_write_safe": True}
