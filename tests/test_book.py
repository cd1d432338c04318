"""The book's sources keep to the recipe of CONTRIBUTING.md, and its words and symbols are explained."""

import ast
import importlib
import re
import statistics
from pathlib import Path

import execute
import pytest
import yaml

import whichbird as wb

BOOK = Path(__file__).parents[1] / "book"
GLOSSARY = BOOK / "use/glossary.md"
# Pages that are no chapters: nothing is derived in them, so there is nothing to exercise and nothing to take away.
NO_CHAPTERS = {
    "index",
    "notes",
    "claims",
    "references",
    "appendix/a-theory",
    "appendix/h-formal",
    "appendix/h2-verifier",
    "use/glossary",
    "use/teaching",
    "use/four-weeks",
    "use/teaching-project",
    "use/teaching-handout",
    "use/questions",
    "use/course",
    "use/command-line",
    "use/api",
}
SECTIONS = {
    section["file"]
    for part in yaml.safe_load((BOOK.parent / "_toc.yml").read_text("utf-8"))["parts"]
    for chapter in part["chapters"]
    for section in chapter.get("sections", [])
}  # pages below another, as notes are
PAGES = execute.pages()
# Slides and handouts of the course kit are no chapters either; the rules for words hold in them, too.
CHAPTERS = [
    p
    for p in PAGES
    if str(p.relative_to(BOOK).with_suffix("")) not in NO_CHAPTERS and not p.is_relative_to(BOOK / "course")
]


def name(path):
    return str(path.relative_to(BOOK))


@pytest.mark.parametrize("path", CHAPTERS, ids=name)
def test_chapter_follows_the_recipe(path):
    text = path.read_text("utf-8")
    opening = re.search(r"^:::\{div\} chapter-opening\n(.*?)^:::$", text, re.M | re.S)
    assert opening, "no opening block"
    assert re.findall(r"^\*\*(.+?)\*\*", opening[1], re.M) == ["You will see", "You need", "Minutes"]
    assert text.count("\n## What to take away\n") == 1
    assert not re.search(r"^\*\*Next\*\*", text, re.M), "what comes next stands at the foot of the page already"
    exercises = re.findall(r"^`{3,}\{exercise-start\}[^\n]*\n:label: (\S+)", text, re.M)
    solutions = re.findall(r"^`{3,}\{solution-start\} (\S+)\n:class: dropdown$", text, re.M)
    assert len(exercises) >= (1 if f"book/{name(path)}".removesuffix(".md") in SECTIONS else 2)
    assert solutions == exercises


def test_labels_are_unique():
    """Sphinx warns of some double labels and silently prefers one of the others."""
    labels = [
        label for p in PAGES for label in re.findall(r"^(?::label:| {4}name:) (\S+)$", p.read_text("utf-8"), re.M)
    ]
    assert len(labels) > 150
    assert sorted(labels) == sorted(set(labels))


CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(?:---\n(?P<options>.*?)^---\n)?(?P<code>.*?)^```$", re.M | re.S)
NUMBER = r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen)"
COUNT = re.compile(rf"\b{NUMBER}(?:\s+[\w’'{{}}`-]+){{0,2}}?\s+(?:\{{term\}}`)?(?:datasets|families)\b", re.I)


@pytest.mark.parametrize(
    "text", ["ten datasets", "all 11 real datasets", "The ten {term}`datasets <dataset>`", "three families"]
)
def test_a_typed_count_is_seen(text):
    assert COUNT.search(text)


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_no_count_of_datasets_or_families_is_typed(path):
    """A dataset more must not make a sentence wrong: counts come from cells, through glue."""
    text = path.read_text("utf-8")
    prose = CELL.sub(lambda cell: cell["options"] or "", text)  # captions and descriptions of figures are prose too
    assert COUNT.findall(prose) == []
    assert re.findall(r"len\((?:pools|split|sets|names|wb\.datasets\(.*?\))\) == \d", text) == []


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_chapters_use_public_names_only(path):
    """What a chapter needs is public somewhere: it neither imports nor reaches for a name with a leading underscore."""
    for cell in CELL.finditer(path.read_text("utf-8")):
        code = re.sub(r"^[:%!].*$", "", cell["code"], flags=re.M)
        for node in ast.walk(ast.parse(code)):
            names = [node.attr] if isinstance(node, ast.Attribute) else []
            if isinstance(node, ast.ImportFrom | ast.Import):
                names = [part for alias in node.names for part in alias.name.split(".")]
            assert [n for n in names if n.startswith("_") and not n.endswith("__")] == []


def terms():
    block = re.search(r"^```\{glossary\}\n(.*?)^```$", GLOSSARY.read_text("utf-8"), re.M | re.S)[1]
    return re.findall(r"^(\S.*)$", block, re.M)


def used(path):
    """The glossary entries that a page links to, without the text shown for them."""
    links = re.findall(r"\{term\}`([^`]+)`", path.read_text("utf-8"))
    return {" ".join((re.search(r"<([^<>]+)>$", link) or [None, link])[1].split()) for link in links}


def test_terms_are_sorted_and_unique():
    assert terms() == sorted(set(terms()), key=str.lower)


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_linked_terms_exist(path):
    assert used(path) <= set(terms())


@pytest.mark.parametrize("term", terms())
def test_term_is_linked_from_a_chapter(term):
    assert any(term in used(path) for path in [BOOK / "index.md", *CHAPTERS])


def library_names():
    """What stands in backticks in the notation tables."""
    rows = re.findall(r"^\| (?!symbol)(?:[^|\n]+\|){3}([^|\n]*)\|[^|\n]*\|$", GLOSSARY.read_text("utf-8"), re.M)
    return [n for row in rows for n in re.findall(r"`([^`]+)`", row)]


def test_notation_names_the_library():
    names = library_names()
    assert len(names) > 35
    d = wb.load("ende24")
    known = {"wb": wb, "d": d, "len": len, "a": d.adequacy, "f": d.fluency, "beta": 0.6}
    known["r"] = wb.reweight(known["a"], known["f"], known["beta"])
    for n in names:
        module, _, attribute = n.rpartition(".")
        if re.fullmatch(r"[a-z]+\.[a-z]+", module) and module.partition(".")[0] not in known:
            assert hasattr(importlib.import_module(f"whichbird.{module}"), attribute), n
        else:
            eval(n, known)  # an expression in the names that the page's first paragraph introduces


SHOWN, EVERY = 6, 6  # median lines of code in a cell: of those that a notebook shows, and of all


def test_cells_are_small():
    """What draws or computes beyond a few lines belongs into a function that the page names (`whichbird_book.drawings`)."""
    shown, every = [], []
    for path in CHAPTERS:
        for cell in execute.code_cells(execute.read(path)):
            tags = set(cell.metadata.get("tags", []))
            if not {"remove-input", "remove-cell"} & tags:
                lines = sum(bool(line.strip()) for line in cell.source.splitlines())
                every.append(lines)
                shown += [lines] * ("hide-input" not in tags)
    assert len(shown) > 250
    assert (statistics.median(shown), statistics.median(every)) <= (SHOWN, EVERY)
    assert statistics.median(every) <= EVERY


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_captions_name_no_colour_that_dark_pages_change(path):
    """Ink is pale there and paper is dark: a caption says strong and faint, or ink."""
    captions = re.findall(r"^ {4}caption: (.*?)^ {2}image:", path.read_text("utf-8"), re.M | re.S)
    words = r"\b(?:pale[rst]?|dark(?:er|est)?|black|white|light(?:er|est)?)\b"
    assert [found for caption in captions for found in re.findall(words, caption, re.I)] == []
