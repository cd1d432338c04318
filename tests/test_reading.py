"""How the book is read: numbers that are unique and in order, and code that is shown only where it is the lesson."""

import ast
import re
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import yaml

import whichbird as wb

sys.path.insert(0, str(Path(__file__).parents[1] / "book" / "_ext"))
sys.path.insert(0, str(Path(__file__).parents[1] / "book"))
import execute
import exercises
import found
import numbering
import pdf
import reading

ROOT = Path(__file__).parents[1]
BOOK = ROOT / "book"
CHAPTERS = execute.chapters()
LONGEST = 78  # columns of shown code
COMMENT = 60  # the last column in which a comment of shown code may begin
KEEPING = {"glue", "say", "record"}  # calls that keep the book, and teach nothing


def name(path):
    return str(path.relative_to(BOOK))


def cells(path, tag):
    return [c.source for c in execute.code_cells(execute.read(path)) if tag in c.metadata.get("tags", [])]


# Numbers


def in_order(number):
    """Sorts as a table of contents does: 3.1, 3.2, 3.10, 4.4, 4.4b, A."""
    return [(part.isalpha(), int(re.sub(r"\D", "", part) or 0), part) for part in number.split(".")]


def test_numbers_are_unique_and_in_order():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    numbers = numbering.chapters()
    assert len(set(numbers.values())) == len(numbers)
    for part in toc["parts"]:
        here = [numbers[p] for p in numbering.pages(part["chapters"]) if p in numbers]
        assert here == sorted(here, key=in_order), part["caption"]


def test_chapters_of_the_paper_have_the_numbers_of_its_sections():
    numbers, letters = numbering.chapters(), ""
    for page, number in numbers.items():
        text = (ROOT / f"{page}.md").read_text("utf-8")
        said = re.search(r"^\*(?:Sections? (\d(?:\.\d)?)|Appendix ([A-G]))\b", text, re.M)
        if page.startswith(("book/paper/", "book/appendix/")) and said:
            assert (number.rstrip("bcdefgh") == said[1]) if said[1] else (number.split(".")[0] == said[2]), page
        several = re.search(r"^\*Appendi(?:x|ces) ([A-G](?:(?:, | and )[A-G])*)\b", text, re.M)
        letters += several[1] if several and page.startswith("book/appendix/") else ""
    assert set(re.findall("[A-Z]", letters)) == set("ABCDEFG")  # one page may have several
    assert {"1", "2", "3.1", "3.5", "4.4", "5", "A", "A.1", "A.4", "E", "H", "N.1"} <= set(numbers.values())


def test_every_part_with_a_number_exists():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    assert set(numbering.PARTS) <= {part["caption"] for part in toc["parts"]}


BEHIND = {"Notes", "For teachers"}  # what is behind the book: one entry each
LOOKED_UP = {"book/use/command-line", "book/use/api"}


def test_the_sidebar_shows_a_book_that_one_finishes():
    """At first sight, which is what the contents have on their first level; the first page is an entry, too."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    shelf = [c["file"] for part in toc["parts"] if part["caption"] not in BEHIND for c in part["chapters"]]
    assert 1 + len(set(shelf) - LOOKED_UP) <= 32
    assert [len(part["chapters"]) for part in toc["parts"] if part["caption"] in BEHIND] == [1, 1]


def test_the_page_of_notes_lists_all_of_them_with_a_line_each():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    (notes,) = (part["chapters"][0] for part in toc["parts"] if part["caption"] == "Notes")
    text = (BOOK / "notes.md").read_text("utf-8")
    listed = re.findall(r"^\| \{doc\}`([^`]+)` \| \S[^|]+\. \|$", text, re.M)
    assert sorted(f"book/{page}" for page in listed) == sorted(numbering.pages(notes["sections"]))


def test_no_title_has_a_number_of_its_own():
    for path in execute.pages():
        if path.is_relative_to(BOOK / "course"):  # slides and handouts are no pages
            continue
        title = re.search(r"^# (.+)$", path.read_text("utf-8"), re.M)[1]
        assert not re.match(r"\d|[A-H]\b\.? ", title), name(path)


def test_a_split_or_moved_chapter_follows_its_name_and_its_place(tmp_path):
    toc = tmp_path / "_toc.yml"
    files = ["paper/4-4-analysis", "paper/4-4b-lines", "beyond/proofs", "use/b", "appendix/c1-x", "appendix/c12-y"]
    parts = [
        {"caption": "The paper", "chapters": [{"file": f"book/{f}"} for f in files[:2]]},
        {
            "caption": "Beyond the paper",
            "chapters": [{"file": "book/beyond/x", "sections": [{"file": f"book/{files[2]}"}]}],
        },
        {"caption": "Else", "chapters": [{"file": f"book/{f}"} for f in files[3:]]},
    ]
    toc.write_text(yaml.safe_dump({"root": "book/index", "parts": parts}), "utf-8")
    assert numbering.chapters(toc) == {
        "book/paper/4-4-analysis": "4.4",
        "book/paper/4-4b-lines": "4.4b",
        "book/beyond/x": "6.1",
        "book/beyond/proofs": "6.2",
        "book/appendix/c1-x": "C.1",
        "book/appendix/c12-y": "C.12",
    }


def test_no_exercise_is_numbered_by_hand():
    for path in execute.pages():
        prose = exercises.CELL.sub("", path.read_text("utf-8"))
        assert not re.search(r"\bexercise \d", prose, re.I), name(path)


# Shown code


@pytest.mark.parametrize("path", CHAPTERS, ids=name)
def test_shown_code_teaches_and_fits(path):
    shown = cells(path, "lesson")
    assert len(shown) <= 2, "one or two cells of a chapter are the lesson"
    for code in shown:
        calls = [n.func for n in ast.walk(reading.tree(code)) if isinstance(n, ast.Call)]
        called = {getattr(f, "id", getattr(f, "attr", "")) for f in calls}
        assert not called & KEEPING
        assert not re.search(r"^(?:import|from) ", code, re.M), "imports are no lesson"
        for line in code.splitlines():
            assert len(line) <= LONGEST, line
            comment = re.search(r"(?:^|\s)# ", line)
            assert not comment or comment.start() <= COMMENT, line


def test_some_chapters_show_their_lesson():
    assert sum(bool(cells(path, "lesson")) for path in CHAPTERS) >= 7


@pytest.mark.parametrize(
    "code, said",
    [
        ("x = 1", "code"),
        ("assert x", "✓ 1 check"),
        ("for x in range(9):\n    assert x\n    assert x < 9", "✓ 2 checks"),
        ("%time\ndef f():\n    assert 1\n!ls\nassert f", "✓ 2 checks"),
    ],
)
def test_a_fold_says_what_it_holds(code, said):
    assert reading.label(code) == said


def test_a_listing_is_known_by_its_names():
    assert reading.defined("def one(x):\n    return x\n\nclass Two:\n    def three(self): ...") == ["one", "Two"]
    assert reading.defined("    def method(self):\n        return 1\n") == ["method"]
    assert reading.defined("$ whichbird datasets") == []


# Algorithm 1 of 3.5 against the search of the library


def algorithm_1():
    (code,) = [c for c in cells(BOOK / "paper" / "3-5-algorithm.md", "lesson") if "def algorithm_1" in c]
    assert len(code.splitlines()) < 30
    names = {"np": np, "wb": wb, "combinations": combinations}
    exec(code, names)
    return names["algorithm_1"]


@pytest.mark.parametrize("systems", [3, 4, 5, 6])
def test_algorithm_1_finds_what_the_search_finds(systems):
    rng, slow = np.random.default_rng(systems), algorithm_1()
    for _ in range(6):
        a, f = rng.normal(size=(2, systems))
        for target in np.quantile(wb.reachable(a, f), (0.03, 0.4, 0.9)):
            assert np.allclose(slow(a, f, target), wb.search(a, f, target).weights, atol=1e-12)


def test_algorithm_1_on_subsets_of_a_pool():
    d, rng, slow = wb.load("ende24"), np.random.default_rng(24), algorithm_1()
    for _ in range(5):
        some = rng.choice(len(d.systems), 6, replace=False)
        a, f = d.adequacy[some], d.fluency[some]
        for target in np.quantile(wb.reachable(a, f), (0.05, 0.5, 0.95)):
            assert np.allclose(slow(a, f, target), wb.search(a, f, target).weights, atol=1e-12)


# What the search and the PDF are made of


def test_links_keep_their_place_in_the_one_file():
    pages = {"book/index", "book/use/glossary", "book/paper/1-introduction"}
    here = "book/paper/1-introduction"
    assert pdf.moved("#idea", here, pages) == "#paper-1-introduction--idea"
    assert pdf.moved("../index.html", here, pages) == "#index"
    assert pdf.moved("../use/glossary.html?x=1#term-pool", here, pages) == "#use-glossary--term-pool"
    assert pdf.moved("../../_downloads/x.ipynb", here, pages) is None
    assert pdf.moved("https://example.org/a", here, pages) == "https://example.org/a"
    assert len({pdf.key(page) for _, some in pdf.parts() for page in some}) == sum(len(some) for _, some in pdf.parts())


def test_what_is_no_pdf_is_refused():
    with pytest.raises(ValueError, match="no PDF"):
        pdf.Pdf(b"%PDF-1.4 nothing")


def test_no_browser_is_said_in_a_sentence(monkeypatch, capsys, tmp_path):
    (tmp_path / "book").mkdir()
    monkeypatch.setattr(sys, "argv", ["pdf.py"])
    monkeypatch.setattr(pdf, "HTML", tmp_path)
    monkeypatch.setattr(pdf, "OUT", tmp_path / "out")
    assert pdf.main() == 1 and "not built" in capsys.readouterr().err
    (tmp_path / "book" / "index.html").touch()
    monkeypatch.setattr(pdf.shutil, "which", lambda _: None)
    assert pdf.main() == 1
    said = capsys.readouterr().err
    assert "Chromium" in said and said.count("\n") == 1


def test_terms_and_sections_of_a_page_are_found():
    page = """<article class="bd-article"><section id="top"><h1>3.1 Balance<a class="headerlink">#</a></h1><p>It is \\(\\beta_0\\).</p>
    <pre>code</pre><section id="more"><h2>More</h2><p>Words.</p></section></section>
    <dl class="glossary"><dt id="term-x">effective size</dt><dd><p>ESS. How many.</p></dd></dl></article>"""
    assert found.entries(page, "book/x.html") == [
        ["term", "effective size", "book/x.html#term-x", "ESS. How many.", ["ESS"]],
        ["chapter", "3.1 Balance", "book/x.html", "It is β0.", []],
        ["section", "More", "book/x.html#more", "Words.", []],
    ]
