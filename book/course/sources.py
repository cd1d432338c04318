"""What the course kit is made from: numbers and figures of executed chapters, titles, and the plans, rubric and handout of the pages on teaching.

Nothing is typed twice: a slide names a figure or a glued number, and gets it from the kept run of the chapter that makes it. What is not
there stops the build with one sentence, a `KitError`.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import nbformat
import yaml

BOOK = Path(__file__).resolve().parents[1]
ROOT = BOOK.parent
if str(BOOK) not in sys.path:
    sys.path.insert(0, str(BOOK))
import execute  # noqa: E402
import numbering  # noqa: E402

HERE = BOOK / "course"
PLANS = ("use/teaching", "use/four-weeks")  # the pages with plans by minutes
FIGURE = re.compile(r"^ {4}name: (fig-\S+)$", re.M)
LABEL = r"(?:^:label: {0}$|^\({0}\)=$|^ {{4}}name: {0}$)"  # how a page gives something a label
STATEMENT = re.compile(r"^`{3,}\{prf:(\w+)\}(?: ([^\n]+))?\n:label: (\S+)$", re.M)


class KitError(ValueError):
    """The kit cannot be made; says what is missing, in one sentence."""


# --- pages ----------------------------------------------------------------------------------------------------------------------


def source(page: str) -> str:
    """The text of a page of the book, named from its folder."""
    path = BOOK / f"{page}.md"
    if not path.is_file():
        raise KitError(f"{page} is no page of the book; name one as paper/3-1-balance")
    return path.read_text("utf-8")


def title(page: str) -> str:
    """Number and title of a page.

    >>> title("paper/3-1-balance")
    '3.1 The balance parameter'
    """
    found = re.search(r"^# (.+)$", source(page), re.M)
    number = _chapters().get(f"book/{page}")
    return " ".join(filter(None, [number, plain(found[1]) if found else page]))


@functools.cache
def _chapters() -> dict[str, str]:
    return numbering.chapters()


@functools.cache
def _exercises() -> dict[str, tuple[str, str]]:
    """Label of every exercise to its number and page, in the order of the book; on a page without a number its name stands for it."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    pages = [page for part in toc["parts"] for page in numbering.pages(part["chapters"])]
    out = {}
    for page in pages:
        text = (ROOT / f"{page}.md").read_text("utf-8")
        for label, number in numbering.exercises(text, _chapters().get(page, page.rpartition("/")[2])).items():
            out[label] = (number, page.removeprefix("book/"))
    return out


def exercise_numbers() -> dict[str, str]:
    """Label to number of every exercise of the book."""
    return {label: number for label, (number, _) in _exercises().items()}


def exercise_pages() -> dict[str, str]:
    """Label of every exercise to its page."""
    return {label: page for label, (_, page) in _exercises().items()}


def exercise(label: str) -> str:
    """The number of an exercise.

    >>> exercise("ex-31-cross").startswith("3.1.")
    True
    """
    if label not in exercise_numbers():
        raise KitError(f"no chapter has an exercise {label!r}")
    return exercise_numbers()[label]


def plain(text: str) -> str:
    """A piece of a page without its roles and marks.

    >>> plain("**A** {term}`pool` of {term}`systems <system>`")
    'A pool of systems'
    """
    text = re.sub(r"\{[\w:-]+\}`([^`<]*?)\s*(?:<[^`>]*>)?`", r"\1", text)
    return re.sub(r"\*+|`", "", text)


@dataclass(frozen=True)
class Place:
    """Where to read on: a page of the book, and a label in it or nothing."""

    page: str
    label: str
    words: str

    @property
    def address(self) -> str:
        """From the folder of the book's pages."""
        return f"{self.page}.html" + (f"#{self.label}" if self.label else "")


@functools.cache
def place(read: str) -> Place:
    """A place of the book, with words for it; refuses one that is not there.

    >>> place("paper/3-1-balance#def-balance").words
    '3.1 The balance parameter, definition “Balance”'
    >>> place("paper/3-1-balance").address
    'paper/3-1-balance.html'
    """
    page, _, label = read.partition("#")
    text, words = source(page), title(page)
    if label:
        if not re.search(LABEL.format(re.escape(label)), text, re.M):
            raise KitError(f"{page} has no label {label!r}")
        statement = next((m for m in STATEMENT.finditer(text) if m[3] == label), None)
        heading = re.search(rf"^\({re.escape(label)}\)=\n#+ (.+)$", text, re.M)
        if statement:
            words += f", {statement[1]}" + (f" “{plain(statement[2])}”" if statement[2] else "")
        elif heading:
            words += f", “{plain(heading[1])}”"
        elif label.startswith("fig-"):
            words += ", the figure"
    return Place(page, label, words)


# --- numbers and figures ----------------------------------------------------------------------------------------------------------


@functools.cache
def run(page: str) -> nbformat.NotebookNode:
    """The kept run of a page; one that nobody has run yet is run now."""
    source(page)
    try:
        return execute.executed(BOOK / f"{page}.md")
    except execute.CellFailed as failure:
        raise KitError(f"{page} does not run: its cell {failure.cell} fails") from None


@functools.cache
def glued(page: str) -> dict[str, str]:
    """What the cells of a page glue, as its sentences show it."""
    out = {}
    for cell in execute.code_cells(run(page)):
        for found in cell.outputs:
            name = found.get("metadata", {}).get("scrapbook", {}).get("name")
            text = next((v for k, v in found.get("data", {}).items() if k.endswith("text/plain")), None)
            if name and text is not None:
                out[name] = str(ast.literal_eval(text)) if text[:1] in "'\"" else text
    return out


class Numbers:
    """Glued numbers of some pages: of the first that has the name."""

    def __init__(self, *pages: str):
        self.pages = pages

    def __getitem__(self, name: str) -> str:
        for page in self.pages:
            if name in glued(page):
                return glued(page)[name]
        raise KitError(f"no cell of {' or '.join(self.pages) or 'any page named'} glues the number {name!r}")


@dataclass(frozen=True)
class Figure:
    """A figure of a chapter: its drawing, and what it says to those who do not see it."""

    name: str
    page: str
    svg: str
    alt: str

    @property
    def size(self) -> tuple[float, float]:
        box = re.search(r'viewBox="\S+ \S+ (\S+) (\S+)"', self.svg)
        if box is None:
            raise KitError(f"the figure {self.name} has no size")
        return float(box[1]), float(box[2])


@functools.cache
def figure_pages() -> dict[str, str]:
    """Every figure that a cell draws, and the page it is on."""
    return {
        name: path.relative_to(BOOK).with_suffix("").as_posix()
        for path in execute.chapters()
        for name in FIGURE.findall(path.read_text("utf-8"))
    }


@functools.cache
def figure(name: str) -> Figure:
    """A figure of the book, by its name."""
    page = figure_pages().get(name)
    if page is None:
        raise KitError(f"no chapter draws a figure {name!r}")
    wanted = execute.code_cells(execute.read(BOOK / f"{page}.md"))
    for cell, ran in zip(wanted, execute.code_cells(run(page)), strict=True):
        about = cell.metadata.get("mystnb", {})
        if about.get("figure", {}).get("name") != name:
            continue
        svg = next((o["data"]["image/svg+xml"] for o in ran.outputs if "image/svg+xml" in o.get("data", {})), None)
        alt = about.get("image", {}).get("alt", "")
        if svg is None or not alt:
            raise KitError(f"the figure {name!r} of {page} has no {'drawing' if svg is None else 'alt text'}")
        return Figure(name, page, "".join(svg), " ".join(alt.split()))
    raise KitError(f"no cell of {page} draws {name!r}")


def drawing(figure: Figure) -> str:
    """The figure with its colours for light and for dark pages, as the book has it."""
    night = _extension("night")
    return str(night.themed(night.short(figure.svg)))


@functools.cache
def _extension(name: str) -> ModuleType:
    """An extension of the book as a module of its own: `book/_ext` has names that `book/course` has too, so it is not put on the path."""
    spec = importlib.util.spec_from_file_location(f"whichbird_book_{name}", BOOK / "_ext" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def output(page: str, words: str) -> str:
    """The HTML that a cell of a page shows: the only cell whose code contains these words."""
    found = [cell for cell in execute.code_cells(run(page)) if words in cell.source]
    shown = [o["data"]["text/html"] for cell in found for o in cell.outputs if "text/html" in o.get("data", {})]
    if len(found) != 1 or len(shown) != 1:
        raise KitError(f"{page} must have one cell with {words!r} that shows a table, and it has {len(shown)}")
    return "".join(shown[0])


# --- the pages on teaching ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """A lesson: its steps (first minute, last minute, what is done) and its questions with expected answers."""

    name: str
    minutes: int
    steps: tuple[tuple[int, int, str], ...]
    questions: dict[str, tuple[str, str]]


@functools.cache
def plan(name: str) -> Plan:
    """The lesson of a section of *Teaching with this book* or *Four weeks*: "lecture", "lab" or "week1".

    >>> plan("lecture").minutes, plan("lab").steps[0][:2], plan("lab").questions["Q4"][0]
    (45, (0, 10), 'What is the ESS when one of K systems is left out and the others weigh the same?')
    """
    text = "\n".join(map(source, PLANS))
    found = re.search(rf"^\(sec-use-{name}\)=\n## (.+?)$(.*?)(?=^\(sec-|\Z)", text, re.M | re.S)
    if not found:
        raise KitError(f"{' and '.join(PLANS)} have no plan {name!r}")
    rows = re.findall(r"^\| (\d+)–(\d+) \| ([^|]+?) \|", found[2], re.M)
    asked = re.findall(r"^:::\{dropdown\} (Q\d+)\. (.+?)\n(.*?)^:::$", found[2], re.M | re.S)
    steps = tuple((int(first), int(last), words) for first, last, words in rows)
    minutes = re.search(r"(\d+) minutes", found[1])
    if not steps or not minutes or steps[-1][1] != int(minutes[1]):
        raise KitError(f"the steps of the plan {name!r} do not add up to its minutes")
    return Plan(name, int(minutes[1]), steps, {q: (words, " ".join(answer.split())) for q, words, answer in asked})


@functools.cache
def rubric() -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The head and the rows of the table of marks.

    >>> rubric()[0][1:3], rubric()[1][0][:2]
    (('not yet (0)', 'getting there (1)'), ('β', 'confuses level and spread'))
    """
    found = re.search(r"^\(sec-use-marks\)=\n.*?^(\|.*?)\n\n", source("use/teaching-project"), re.M | re.S)
    if not found:
        raise KitError("use/teaching-project has no table of marks")
    head, _, *rows = ([plain(cell.strip()) for cell in line.split("|")[1:-1]] for line in found[1].splitlines())
    return tuple(head), tuple(tuple(row) for row in rows)


def handout() -> str:
    """The sheet of *One sheet to hand out*, as Markdown."""
    lines = [line[1:].removeprefix(" ") for line in source("use/teaching-handout").splitlines() if line.startswith(">")]
    if not lines:
        raise KitError("use/teaching-handout has no sheet")
    return "\n".join(lines)
