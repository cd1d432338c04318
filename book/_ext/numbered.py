"""Chapters carry the numbers of `book/numbering.py` in their titles, and with them in the sidebar, at the foot of pages and in links; exercises follow.
Under its title an exercise says how hard it is, how long it takes and what it is worth, from book/course/exercises.

The number is put into the title after the page is parsed, so that sources and the addresses of headings stay as they are. Exercises are counted by
Sphinx through the whole book; the count is replaced where Sphinx keeps it, so that titles, solutions and references all show the same number.
"""

import sys
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx_exercise.nodes import exercise_enumerable_node

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "course"))
import entries
import numbering


class Number(SphinxTransform):
    """Put the number before the title of a chapter."""

    default_priority = 500  # before Sphinx collects the titles

    def apply(self, **_):
        number = self.config.chapter_numbers.get(self.env.docname)
        title = next(self.document.findall(nodes.title), None)
        if number and title is not None:
            title.insert(0, nodes.inline(text=number, classes=["chapter-number"]))
            title.insert(1, nodes.Text(" "))


class Facts(SphinxTransform):
    """Put difficulty, time and points under the title of an exercise."""

    default_priority = 500  # after the parts of an exercise were joined

    def apply(self, **_):
        for node in self.document.findall(exercise_enumerable_node):
            facts = self.config.exercise_facts.get(node.get("label"))
            content = next(node.findall(nodes.section), None)
            if facts and content is not None:
                content.insert(0, nodes.paragraph("", facts, classes=["exercise-facts"]))


def count_exercises(app, env):
    for page, kinds in env.toc_fignumbers.items():
        chapter = app.config.chapter_numbers.get(page)
        for n, label in enumerate(kinds.get("exercise", {}), 1):
            kinds["exercise"][label] = (chapter, n) if chapter else (n,)
    return []


def read_facts(_, config):
    config.exercise_facts = {label: entries.facts(entry) for label, entry in entries.load().items()}


def setup(app):
    app.add_config_value("exercise_facts", {}, "env", [dict])
    app.connect("config-inited", read_facts)
    app.add_transform(Facts)
    app.add_config_value("chapter_numbers", {}, "env", [dict])  # other numbers, and every page is read anew
    app.connect("config-inited", lambda _, config: setattr(config, "chapter_numbers", numbering.chapters()))
    app.add_transform(Number)
    app.connect("env-get-updated", count_exercises, priority=900)  # after Sphinx has counted
    return {"parallel_read_safe": True, "parallel_write_safe": True}
