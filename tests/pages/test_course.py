"""The course kit of the built book: PDFs by their text, pages from the course zip, and the page that describes it."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from test_explorer import noise

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "book"))
import pdf
from course import counts, handouts, objectives, questions, sources, text
from course.sources import Numbers


def words(file):
    """The words of each page of a PDF."""
    if not file.exists():
        pytest.skip("there is no Chromium, so the kit has no PDFs")
    if not shutil.which("pdftotext"):
        pytest.skip("pdftotext is not installed: the words of the PDF are not checked")
    done = subprocess.run(["pdftotext", str(file), "-"], capture_output=True, text=True, check=True)
    return [" ".join(page.split()) for page in done.stdout.split("\f")[:-1]]


SAID = {
    "lecture-sheet": ["natural balance", "Scorer I followed", "what does β tell you about a meta-evaluation"],
    "agreement": ["Four translations", "Two raters say"],
    "lab-sheet": ["Which weights give β = 0.8", "ende21", "and it costs"],
    "formulas": ["wb.reweight(a, f, 0.5)", "ESS", "SPA", "a population's variance", "natural balance"],
    "beta-card": ["ReMedy-9B", "fluency end", "Never compare heights"],
    "exit-ticket": ["In one sentence", "still unclear"],
    "pools": ["Find one pool that lies flat"],
    "ranks": ["First place is on top"],
    "your-pool": ["Before you are told", "Largest ESS in the room", "One sentence for a report"],
    "rubric": ["not yet (0)", "Reproducibility", "confuses level", "Exit ticket"],
}


@pytest.mark.parametrize("sheet", handouts.read(), ids=lambda h: h.name)
def test_a_handout_is_one_page_with_its_words(course, sheet):
    file = course / "handouts" / f"{sheet.name}.pdf"
    (found,) = words(file)
    assert len(pdf.Pdf(file.read_bytes()).pages) == 1
    for wanted in SAID[sheet.name]:
        assert wanted in found, wanted
    for number in re.findall(r"\{glue:text\}`(\w+)`", sheet.body):
        assert " ".join(sheet.numbers[number].split()) in found  # `words` made plain spaces of the no-break ones


def test_slides_on_paper_have_their_words(course):
    for deck in counts.decks():
        plain, noted = (words(course / "slides" / f"{deck.name}{end}.pdf") for end in ("", "-notes"))
        assert len(plain) == len(noted) == len(deck.slides)
        for slide, page, both in zip(deck.slides, plain, noted, strict=True):
            head = re.search(r"^#+ (.+)$", slide.body, re.M)[1]
            first = text.words(head, deck.numbers).split()[0]
            assert first in page and first in both
            note = text.words(slide.notes.split("\n\n")[-1], deck.numbers).split()
            assert note[0] in both and note[-1] in both and len(both) > len(page)


def test_questions_on_paper(course):
    asked = questions.ready()
    sheet, key = (" ".join(words(course / "questions" / f"{n}.pdf")) for n in ("paper", "answers"))
    assert sheet.count("☐") == 4 * len(asked)
    for q in asked:
        stem = text.words(q.stem, Numbers()).split()
        assert stem[-1] in sheet
        right = text.words(q.choices[q.right].text, Numbers()).split()[0]
        assert f"{questions.LETTERS[q.right]}: {right}" in key


def test_every_chapter_with_exercises_has_its_notebooks(course, html):
    chapters = sorted(set(sources.exercise_pages().values()))
    for kind in ("student", "teacher"):
        found = sorted(
            p.relative_to(course / "notebooks" / kind).with_suffix("").as_posix()
            for p in (course / "notebooks" / kind).rglob("*.ipynb")
        )
        assert found == chapters
    for place in ("nbgrader/source", "otter"):
        assert sorted(p.stem for p in (course / "notebooks" / place).rglob("*.ipynb")) == sorted(
            c.rpartition("/")[2] for c in chapters
        )
    chapters = course / "notebooks" / "chapters"
    assert (chapters / "paper/3-3-weighted-spa.ipynb").read_bytes() == (
        html / "notebooks/paper/3-3-weighted-spa.ipynb"
    ).read_bytes()
    assert not list(chapters.rglob("*.key"))
    for file in (course / "notebooks" / "student").rglob("*.ipynb"):
        cells = nbformat.read(file, as_version=4).cells
        assert not [c for c in cells if "work" in c.metadata.get("tags", [])] and any(
            "book.check(" in c.source for c in cells
        )


def test_pages_of_the_kit_work_from_disk(browser, course):
    for page in ["README.html", "questions/questions.html", "explorer/index.html", "handouts/formulas.html"]:
        browser.get("about:blank")
        noise(browser)
        browser.get((course / page).as_uri())
        assert noise(browser) == ([], []), page
    for page in course.rglob("*.html"):
        for address in re.findall(r'(?:src|href)="([^"#?]+)', page.read_text("utf-8")):
            if not address.startswith("software"):  # no wheel was made here
                assert (page.parent / address).exists(), f"{page.name}: {address}"


def test_the_quiz_of_the_kit_answers(browser, course):
    browser.get((course / "questions" / "questions.html").as_uri())
    says = browser.execute_script(
        "const q = document.getElementById('q-level'); q.querySelector('input[value=B]').click(); return q.querySelector('.wb-says').innerText"
    )
    assert says.startswith("✓ Right.")


@pytest.mark.parametrize("width", [1280, 390])
def test_the_read_me_fits(browser, course, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get((course / "README.html").as_uri())
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


def test_the_page_of_the_kit_counts_what_is_there(html):
    body = (html / "book" / "use" / "course.html").read_text("utf-8")
    for name in ("decks", "handouts", "questions", "slides"):
        assert counts.COUNTS[name]() in body
    plain = re.sub(r"<[^>]+>", " ", body)
    assert f"{counts.COUNTS['questions']()} concept questions" in " ".join(plain.split())
    for label in objectives.exercises():
        assert f'{sources.exercise_pages()[label]}.html#{label}"' in body
