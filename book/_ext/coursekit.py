"""The pages of the course: concept questions with instant feedback, objectives with all that belongs to them, and counts, from the files of `book/course`.

- `{questions}` puts the questions of `questions.yml` into a page; numbers in them come from the page's own cells.
- `{coursetable}` with a word puts a table into a page: `objectives`, `timings`, `decks`, `handouts` or `weeks`.
- The role `{course}` puts a count into a sentence: `questions`, `slides`, `exercises`, `hours` and the others of `COUNTS`.

A page is read again when one of these files changed. What is missing stops the build with one sentence.
"""

import sys
from html import escape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.errors import ExtensionError

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import execute
from course import counts, questions, sources


def _depend(env):
    for file in execute.files(sources.HERE):
        env.note_dependency(str(file))
    for page in (*sources.PLANS, "use/teaching-project"):
        env.note_dependency(str(sources.BOOK / f"{page}.md"))


def _up(env):
    """From a page to the folder of the book's pages."""
    return "../" * (env.docname.count("/") - 1)


class Questions(Directive):
    def run(self):
        env = self.state.document.settings.env
        _depend(env)
        up = _up(env)
        try:
            body = questions.html(questions.ready(), lambda place: up + place.address)
        except sources.KitError as error:
            raise ExtensionError(f"Concept questions: {error}") from None
        root = "../" * env.docname.count("/")
        page = (
            f'<link rel="stylesheet" href="{root}_static/questions.css">\n{body}\n'
            f'<script src="{root}_static/questions.js"></script>'
        )
        return [nodes.raw("", page, format="html")]


class Table(Directive):
    required_arguments = 1

    def run(self):
        kind = self.arguments[0]
        if kind not in counts.TABLES:
            raise self.error(f"coursetable: {kind!r} is none of {', '.join(counts.TABLES)}")
        env = self.state.document.settings.env
        _depend(env)
        up = _up(env)
        try:
            head, rows = counts.TABLES[kind](lambda address: up + address)
        except sources.KitError as error:
            raise ExtensionError(f"The course kit: {error}") from None
        return [nodes.raw("", counts.html_table(head, rows, kind), format="html")]


def count(name, rawtext, text, lineno, inliner, options=None, content=None):
    _depend(inliner.document.settings.env)
    if text not in counts.COUNTS:
        message = inliner.reporter.error(f"course: {text!r} is none of {', '.join(counts.COUNTS)}", line=lineno)
        return [inliner.problematic(rawtext, rawtext, message)], [message]
    return [nodes.Text(escape(counts.COUNTS[text]()))], []


def setup(app):
    app.add_directive("questions", Questions)
    app.add_directive("coursetable", Table)
    app.add_role("course", count)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
