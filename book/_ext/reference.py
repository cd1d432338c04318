"""The library's reference: `{library}` prints it from the docstrings, as `book/library.py` reads them.

Each name is an object of Sphinx's Python domain, with its full name as its address, so that listings of library code (`reading.py`), the index of the
search (`found.py`) and the tables of notation lead to it. Our docstrings are sentences with `names` between backticks and examples after `>>>`; a
backticked public name becomes a link.
"""

import re
import sys
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import library

GLOSSARY = "book/use/glossary"
KNOWN = {e.name.partition(".")[2] for e in library.public()}
WIDE = 78  # letters of a signature that fit on one line


def inline(text, here=""):
    """Words with `code` between backticks, as nodes; public names other than `here` are links."""
    out = []
    for n, part in enumerate(text.split("`")):
        if not part:
            continue
        if n % 2 == 0:
            out.append(nodes.Text(part))
            continue
        code = nodes.literal(text=part)
        name = re.match(r"(?:wb\.)?(\w+)(?=$|\()", part)
        out.append(link(f"whichbird.{name[1]}", code) if name and name[1] in KNOWN and name[1] != here else code)
    return out


def link(target, content):
    ref = addnodes.pending_xref(
        "", content, refdomain="py", reftype="obj", reftarget=target, refexplicit=True, refwarn=True
    )
    ref["py:module"] = ref["py:class"] = None
    return ref


def prose(blocks, here=""):
    """The blocks of a docstring."""
    for kind, text in blocks:
        if kind == "example":
            yield nodes.literal_block(text, text, language="pycon")
        else:
            yield nodes.paragraph("", "", *inline(text, here))


class Library(SphinxDirective):
    """Sections, one a room; in each a table of names with their first sentences, then the names."""

    def run(self):
        entries = library.public()
        for file in library.sources():
            self.env.note_dependency(str(file))
        return [self._room(room, entries) for room in library.ROOMS if any(e.room == room for e in entries)]

    def _room(self, room, entries):
        mine = [e for e in entries if e.room == room]
        section = nodes.section(ids=[f"public-{room}"], names=[])
        section += nodes.title("", "", nodes.literal(text=room))
        doc = sys.modules[f"whichbird.{room}"].__doc__
        section += nodes.paragraph("", "", *inline(library.blocks(doc)[0][1]))
        section += self._table(mine)
        section += [self._entry(e) for e in mine]
        self.state.document.note_implicit_target(section, section)
        return section

    def _table(self, entries):
        group = nodes.tgroup("", nodes.colspec(colwidth=30), nodes.colspec(colwidth=70), cols=2)
        body = nodes.tbody()
        for e in entries:
            name = e.name.rpartition(".")[2]
            first = nodes.entry("", nodes.paragraph("", "", link(e.name, nodes.literal(text=name))))
            body += nodes.row("", first, nodes.entry("", nodes.paragraph("", "", *inline(e.summary, name))))
        group += body
        return nodes.table("", group, classes=["wb-names"])

    def _entry(self, e):
        prefix, _, name = e.name.rpartition(".")
        head = addnodes.desc_signature("", "", class_="", fullname=name, module=prefix, ids=[e.name])
        if e.kind != "function":
            head += addnodes.desc_annotation("", e.kind, addnodes.desc_sig_space())
        head += [addnodes.desc_addname(prefix + ".", prefix + "."), addnodes.desc_name(name, name)]
        if e.kind == "function":
            head += self._parameters(e.parameters)
            if e.returns:
                head += addnodes.desc_returns("", e.returns)
        content = addnodes.desc_content("", *prose(e.blocks, name))
        if e.fields:
            content += self._fields(e.fields)
        content += [self._member(e, *member) for member in e.members]
        return self._desc(e.kind, head, content, e.name)

    def _parameters(self, parameters):
        letters = sum(map(len, (word for p in parameters for word in p)))
        out = addnodes.desc_parameterlist("", "", multi_line_parameter_list=letters > WIDE)
        for name, kind, default in parameters:
            words = [addnodes.desc_sig_name(name, name)]
            if kind:
                words += [addnodes.desc_sig_punctuation("", ":"), addnodes.desc_sig_space(), nodes.Text(kind)]
            if default:
                words += [nodes.Text(" = " if kind else "="), nodes.inline(default, default, classes=["default_value"])]
            out += addnodes.desc_parameter("", "", *words)
        return out

    def _fields(self, fields):
        line = nodes.paragraph("", "Has ", classes=["wb-fields"])
        for n, (name, kind) in enumerate(fields):
            line += [nodes.Text(", ")] * (n > 0) + [nodes.literal(text=name), nodes.Text(f" {kind}")]
        line += nodes.Text(".")
        return line

    def _member(self, e, name, words, blocks):
        head = addnodes.desc_signature("", "", class_="", fullname=name, module=e.name, ids=[f"{e.name}.{name}"])
        head += [addnodes.desc_name(name, name), nodes.Text(words if words.startswith("(") else f" → {words}")]
        kind = "method" if words.startswith("(") else "property"
        return self._desc(kind, head, addnodes.desc_content("", *prose(blocks)), f"{e.name}.{name}")

    def _desc(self, kind, head, content, name):
        self.env.get_domain("py").note_object(name, kind, name, location=head)
        self.state.document.note_explicit_target(head)
        return addnodes.desc(
            "", head, content, domain="py", objtype=kind, desctype=kind, no_index=True, classes=["py", kind]
        )


class Notation(SphinxPostTransform):
    """Names of the library in the glossary's tables lead to the reference, where it has them."""

    default_priority = 20
    formats = ("html",)

    def run(self, **_):
        if self.env.docname != GLOSSARY:
            return
        objects = self.env.get_domain("py").objects
        for table in self.document.findall(nodes.table):
            for code in list(table.findall(nodes.literal)):
                name = re.match(r"wb\.\w+|(?:core|solve|data|study|show)(?:\.\w+)+", code.astext())
                at = name and objects.get("whichbird." + name[0].removeprefix("wb."))
                if at and not isinstance(code.parent, nodes.reference):
                    code.replace_self(make_refnode(self.app.builder, GLOSSARY, at.docname, at.node_id, code.deepcopy()))


def setup(app):
    app.add_directive("library", Library)
    app.add_post_transform(Notation)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
