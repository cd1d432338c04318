"""One word for one thing: the choice of the glossary, held in all prose of the book.

Prose is what is left of a page without its code; captions and descriptions of figures belong to it, addresses and
labels do not.
"""

import re
from pathlib import Path

import execute
import pytest

BOOK = Path(__file__).parents[1] / "book"
PAGES = execute.pages()
LISTING = re.compile(r"^```python\n.*?^```$", re.M | re.S)
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(?:---\n(?P<options>.*?)^---\n)?.*?^```$", re.M | re.S)
OTHER = [  # taken out one after the other
    re.compile(r"\A---\n.*?^---\n", re.M | re.S),  # front matter
    re.compile(r"^\s*(?::\w+:|name:) .*$|^(?:`{3,}|:{3,}).*$|^\([\w-]+\)=$", re.M),  # options, fences, labels
    re.compile(r"\$\$.*?\$\$", re.S),
    re.compile(r"\$[^$\n]*\$|`[^`\n]*`|</?[a-z][^>\n]*>|\]\([^)\s]*\)"),  # formulas, code and roles, tags, link targets
]

# What is not said, what is said instead; the metrics (shared) task and mt-metrics-eval are names
WORDS = {
    r"contests?|contestants?|tournaments?|exams?|examinations?": "meta-evaluation",
    r"tastes?|gauges?": "preference",
    r"(?<!meta-)(?<!mt-)metrics?(?! (?:shared )?tasks?)": "scorer",
    r"(?:(?<=\ba )|(?<=\bthe )|(?<=\bits )|(?<=\btheir )|(?<=\bin )|(?<=\bone )|(?<=\bown )|(?<=[’']s ))leans?": "balance",
}
# Where one of them may stand: the page, and the whole phrase
ALLOWED = [
    ("use/glossary.md", "contest, tournament, exam"),  # the list itself
    ("use/glossary.md", "taste, gauge"),
    ("use/glossary.md", "has no lean"),
    ("use/glossary.md", "and not | for |"),
    ("use/glossary.md", "| metric | a program that scores translations; *metric* only"),
    ("use/glossary.md", "The field says *metric*"),
    ("use/glossary.md", "Multidimensional Quality Metrics"),
    ("paper/1-introduction.md", "the field says *metric*"),  # explained once
    ("index.md", "are called metrics; here they are"),
    ("use/your-own-scores.md", "You have built a metric: here it is called a"),
]
LIMIT = 2300  # words of a chapter outside its code: what can be read at one sitting
NO_CHAPTERS = {"index.md", "references.md", "use/glossary.md", "claims.md"}  # to look things up in


def prose(text):
    """The sentences of a page."""
    text = CELL.sub(lambda cell: cell["options"] or "", text)
    # a role shows its own words: {term}`metrics <scorer>`
    text = re.sub(r"\{[\w:-]+\}`([^`<]*?)\s*(?:<[^`>]*>)?`", lambda m: m[1] if "<" in m[0] else "", text)
    for part in OTHER:
        text = part.sub(" ", text)
    return text


def broken(page, text):
    """What a page says and should not: the word, what to say instead, and where."""
    text = " ".join(prose(text).split())
    for where, phrase in ALLOWED:
        if where == page:
            text = text.replace(phrase, "")
    return [
        (found[0], word, text[max(0, found.start() - 40) : found.end() + 20])
        for pattern, word in WORDS.items()
        for found in re.finditer(rf"\b(?:{pattern})\b", text, re.I)
    ]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The contest is over.", 1),
        ("A matter of taste, and another gauge.", 2),
        ("This metric is a meta-metric of metrics.", 2),
        ("The metrics shared task, and mt-metrics-eval-v2.", 0),
        ("It leans to fluency; its lean is small.", 1),
        ("Pools that lean to adequacy differ in lean.", 1),
        ("See {term}`metrics <scorer>`, `contest`, $taste$, [here](exam.md) and {doc}`contest`.", 1),
        ('```{code-cell} ipython3\n---\nmystnb:\n  figure:\n    caption: a contest\n---\nexam = "taste"\n```', 1),
        ("A metrical exaMple, tasteful and contested.", 0),
    ],
)
def test_the_check_sees_prose_only(text, count):
    assert len(broken("x.md", text)) == count


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(BOOK)))
def test_one_word_for_one_thing(path):
    assert broken(str(path.relative_to(BOOK)), path.read_text("utf-8")) == []


def test_allowed_phrases_are_there():
    """An exception that nobody needs any longer is taken off the list."""
    for page, phrase in ALLOWED:
        assert phrase in " ".join(prose((BOOK / page).read_text("utf-8")).split()), (page, phrase)


def test_the_glossary_says_so():
    text = (BOOK / "use/glossary.md").read_text("utf-8")
    for said in {"meta-evaluation", "scorer", "balance", "preference"}:
        assert re.search(rf"^\| \{{term\}}`{said}`", text, re.M)


@pytest.mark.parametrize(
    "path", [p for p in PAGES if str(p.relative_to(BOOK)) not in NO_CHAPTERS], ids=lambda path: path.stem
)
def test_a_chapter_is_short(path):
    words = len(LISTING.sub("", CELL.sub("", path.read_text("utf-8"))).split())
    assert words <= LIMIT, f"{words} words"
