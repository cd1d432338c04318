"""The course kit: plans and slides agree, questions are complete and can be read by others, nothing is left half made.

Chapters are not run for these tests: numbers and figures are stand-ins. `tests/pages` makes the kit of the built book.
"""

import functools
import io
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import gift
import pytest
import test_words
import yaml
from lxml import etree

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "book"))
from course import counts, explorer, handouts, kit, mathml, objectives, questions, slides, sources, text  # noqa: E402
from course.sources import KitError, Numbers  # noqa: E402

DECKS = slides.decks()
SVG = (
    '<svg viewBox="0 0 400 300" xmlns="http://www.w3.org/2000/svg"><path d="M 1 1 L 2 2" style="fill: #0b62a4"/></svg>'
)


class Everything(dict):
    """A stand-in for what a page glues: another number for each name."""

    def __contains__(self, name):
        return True

    def __missing__(self, name):
        return f"0.{sum(map(ord, name)) % 997:03d}{len(name)}"


@pytest.fixture
def stand_ins(monkeypatch):
    monkeypatch.setattr(sources, "glued", lambda page: Everything())
    monkeypatch.setattr(sources, "output", lambda page, words: "<table><tr><td>a table</td></tr></table>")
    monkeypatch.setattr(
        sources, "figure", lambda name: sources.Figure(name, sources.figure_pages()[name], SVG, "what it shows")
    )
    monkeypatch.setattr(explorer, "write", lambda folder: folder.mkdir())


# --- slides -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", DECKS, ids=lambda p: p.stem)
def test_a_deck_follows_its_plan(path):
    """`read` holds the minutes of the slides to the plan's steps, in order, and asks for every question of it."""
    deck = slides.read(path)
    assert len(deck.slides) >= 5 and deck.plan.minutes == deck.plan.steps[-1][1]
    assert all(deck.plan.steps[n][1] == deck.plan.steps[n + 1][0] for n in range(len(deck.plan.steps) - 1))


def test_the_minutes_of_the_four_weeks_are_those_of_their_exercises():
    rows = [row for row in sources.source("use/four-weeks").splitlines() if re.match(r"\| \d[ab], ", row)]
    assert len(rows) == 8
    for row in rows:
        labels = re.findall(r"\{ref\}`[^`]*?\b(ex-[\w-]+)>?`", row)
        assert labels and int(row.split("|")[-2]) == sum(objectives.exercises()[label]["minutes"] for label in labels)


def test_there_is_a_deck_for_each_plan():
    assert sorted(deck.plan.minutes for deck in counts.decks()) == [10, 45, 45, 45, 90]


@pytest.mark.parametrize("path", DECKS, ids=lambda p: p.stem)
def test_figures_of_a_deck_are_drawn_by_a_chapter_and_have_alt_text(path):
    deck = slides.read(path)
    assert slides.figures(deck)
    for name in slides.figures(deck):
        source = sources.source(sources.figure_pages()[name])
        cell = next(part for part in source.split("```{code-cell}") if f"name: {name}\n" in part)
        assert re.search(r"^    alt: .{30}", cell, re.M)


@pytest.mark.parametrize("path", DECKS, ids=lambda p: p.stem)
def test_a_slide_has_few_words(path):
    deck = slides.read(path)
    for slide in deck.slides:
        shown = sources.plain(re.sub(r"```.*?```|!\[.*?\]\(.*?\)|<[^>]+>", "", slide.body, flags=re.S))
        assert len(shown.split()) <= 45, slide.body


def test_the_two_translations_are_those_of_the_chapter():
    chapter = sources.source("paper/2-background")
    for path in DECKS:
        body = "\n".join(s.body for s in slides.read(path).slides)
        for found in re.findall(r"^\*\*[BD]\*\* (.+)$|<span lang=\"de\">(.+?)</span>", body, re.M):
            assert f'"{"".join(found)}"' in chapter


@pytest.mark.parametrize("path", DECKS, ids=lambda p: p.stem)
def test_a_deck_as_a_page(path, stand_ins):
    deck = slides.read(path)
    page = slides.html(deck)
    assert page.count('<section class="slide') == page.count('<aside class="notes"') == len(deck.slides)
    assert "{glue" not in page and "`" not in page and "http://" not in page.replace("http://www.w3.org", "")
    assert page.count("data-figure=") == len(re.findall(r"!\[\]\(fig-", path.read_text("utf-8"))) + page.count(
        "data-src="
    )
    for image in re.findall(r"<img [^>]+>", page):
        assert 'alt="what it shows"' in image
    asked = [s.options["ask"] for s in deck.slides if "ask" in s.options]
    assert page.count('class="question"') == page.count('class="expect"') == len(asked) == len(deck.plan.questions)


DECK = """---
title: A deck
plan: ten
numbers: [use/teaching]
---
"""
STEPS = [":minutes: 0-2", ":minutes: 2-4", ":minutes: 4-6", ":minutes: 6-8", ":minutes: 8-10"]


def deck(*slides_):
    return DECK + "---\n".join(slides_ or [f"{step}\n\n## A\n\n???\nnotes\n" for step in STEPS])


def changed(n, old, new):
    some = [f"{step}\n\n## A\n\n???\nnotes\n" for step in STEPS]
    some[n] = some[n].replace(old, new)
    return deck(*some)


def test_a_plain_deck_is_read(tmp_path):
    (tmp_path / "x.md").write_text(deck(), "utf-8")
    assert len(slides.read(tmp_path / "x.md").slides) == 5


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (changed(1, "## A", "A"), "slide 2: a heading and notes"),
        (changed(1, "notes", " "), "slide 2: a heading and notes"),
        (changed(2, ":minutes: 4-6", ":minutes: 4-6\n:colour: red"), "slide 3: unknown option"),
        (changed(2, ":minutes: 4-6", ":minutes: 4-6\n:kind: film"), "slide 3: unknown option or kind"),
        (changed(2, ":minutes: 4-6", ":minutes: 4-6\n:ask: Q9"), "slide 3: the plan 'ten' has no question Q9"),
        (changed(2, ":minutes: 4-6", ":minutes: 4-7"), "not the steps of the plan"),
        (changed(2, ":minutes: 4-6", ""), "not the steps of the plan"),
        (changed(0, ":minutes: 0-2", ":minutes: 2-4"), "not the steps of the plan"),
        (deck().replace("plan: ten", "plan: week"), "no plan 'week'"),
    ],
)
def test_what_is_no_deck_is_refused(tmp_path, written, why):
    (tmp_path / "x.md").write_text(written, "utf-8")
    with pytest.raises(KitError, match=why):
        slides.read(tmp_path / "x.md")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("{glue:text}`nobody_glues_this`", "slide 1: no cell of use/teaching glues the number 'nobody_glues_this'"),
        ("![](fig-nobody-draws)", "slide 1: no chapter draws a figure 'fig-nobody-draws'"),
        ("{eq}`x`", "slide 1: the role {eq}"),
        ("$\\oint$", "has \\oint, which the kit's formulas do not know"),
        ("{ex}`ex-none`", "slide 1: no chapter has an exercise 'ex-none'"),
        ("{doc}`paper/9-none`", "slide 1: paper/9-none is no page"),
    ],
)
def test_what_is_missing_stops_the_build_with_a_sentence(tmp_path, monkeypatch, words, why):
    monkeypatch.setattr(sources, "glued", lambda page: {"t_K": "16"})
    (tmp_path / "x.md").write_text(changed(0, "## A", f"## A\n\n{words}"), "utf-8")
    with pytest.raises(KitError, match=re.escape(why)):
        slides.html(slides.read(tmp_path / "x.md"))


def test_a_figure_without_alt_text_is_refused(monkeypatch):
    bare = {name: page for name, page in sources.figure_pages().items() if name == "fig-cross"}
    cells = sources.execute.code_cells(sources.execute.read(sources.BOOK / f"{bare['fig-cross']}.md"))
    for cell in cells:
        cell.metadata.get("mystnb", {}).pop("image", None)
        cell["outputs"] = [{"data": {"image/svg+xml": SVG}}]
    monkeypatch.setattr(sources.execute, "code_cells", lambda notebook: cells)
    monkeypatch.setattr(sources, "run", lambda page: None)
    with pytest.raises(KitError, match="has no alt text"):
        sources.figure.__wrapped__("fig-cross")


# --- formulas and text --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*DECKS, *sorted(handouts.FOLDER.glob("*.md"))], ids=lambda p: p.stem)
def test_formulas_are_well_formed(path):
    for display, inline in re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", path.read_text("utf-8"), re.S):
        top = ET.fromstring(mathml.mathml(display or inline, bool(display)))
        assert top.tag == "math" and len(list(top.iter())) > 1


def test_scripts_and_fractions_are_where_they_belong():
    assert "<msubsup><mi>p</mi><mi>k</mi><mi>H</mi></msubsup>" in mathml.mathml("p^H_k")
    assert "<munder><mo>∑</mo><mi>k</mi></munder>" in mathml.mathml(r"\sum_k", display=True)
    assert "<msub><mo>∑</mo><mi>k</mi></msub>" in mathml.mathml(r"\sum_k")
    for bad in ("{a", "a}", "x^1^2", r"\frac1", "a^"):
        with pytest.raises(ValueError, match="which the kit's formulas do not know"):
            mathml.mathml(bad)


def test_names_of_scorers_stay_as_they_are():
    assert (
        text.markdown(text.quoted("a_b_c *x* <i> [y](z) $q$"), Numbers(), inline=True)
        == "a_b_c *x* &lt;i&gt; [y](z) $q$"
    )


# --- questions ----------------------------------------------------------------------------------------------------------------------

QUESTIONS = questions.read()


def test_there_are_questions_for_every_objective():
    assert len(QUESTIONS) >= 16
    assert {q.objective for q in QUESTIONS} == set(objectives.read())


def test_the_right_answer_is_not_always_at_the_same_place():
    places = [q.right for q in QUESTIONS]
    assert {places.count(n) for n in range(4)} <= set(range(len(places) // 6, len(places) // 3 + 1))
    longest = [max(q.choices, key=lambda c: len(c.text)).right for q in QUESTIONS]
    assert sum(longest) <= len(longest) * 0.6  # the longest choice does not give it away


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.id)
def test_a_question_says_why_and_where_to_read(question):
    assert question.stem.rstrip().endswith("?")
    for choice in question.choices:
        assert len(choice.why.split()) >= 6 and choice.read.words
        assert choice.text.strip() != choice.why.strip()
    assert len({choice.text for choice in question.choices}) == 4
    assert len({choice.why for choice in question.choices}) == 4


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.id)
def test_numbers_of_a_question_come_from_cells(question):
    """Typed are only the numbers that a question gives, and those that are wrong on purpose."""
    given = {"0.2", "0.3", "0.4", "0.5", "0.50", "0.6", "0.8", "0.9"}
    for words in question.texts():
        assert set(re.findall(r"\d+\.\d+", text.ROLE.sub("", words))) <= given
        assert not re.search(r"\d\s*%", text.ROLE.sub("", words))


def test_every_number_that_is_asked_for_is_glued_by_the_page_of_the_questions():
    source = sources.source(questions.PAGE)
    wanted = {name for q in QUESTIONS for words in q.texts() for name in re.findall(r"\{glue:text\}`q_(\w+)`", words)}
    stems = {*re.findall(r'show\(f?"(\w+)', source), *re.findall(r"say\((\w+)=", source)}
    assert len(wanted) > 25
    assert {name for name in wanted if not any(name.startswith(stem) for stem in stems)} == set()


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.id)
def test_questions_use_the_words_of_the_glossary(question):
    assert test_words.broken("course/questions.yml", "\n\n".join(question.texts())) == []


GOOD = {
    "id": "q-one",
    "objective": "balance",
    "stem": "Which?",
    "choices": [{"text": str(n), "why": f"because of {n}", "read": "paper/3-1-balance"} for n in range(4)],
}
GOOD["choices"][2]["right"] = True


def written(tmp_path, *rows):
    file = tmp_path / "questions.yml"
    file.write_text(yaml.safe_dump(list(rows), allow_unicode=True), "utf-8")
    return file


def with_choice(n, **changes):
    choices = [dict(c) for c in GOOD["choices"]]
    choices[n] = {k: v for k, v in {**choices[n], **changes}.items() if v is not None}
    return {**GOOD, "choices": choices}


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([with_choice(1, right=True)], "q-one: four choices are needed, and one of them must be right"),
        ([with_choice(2, right=None)], "q-one: four choices are needed, and one of them must be right"),
        ([{**GOOD, "choices": GOOD["choices"][:3]}], "q-one: four choices"),
        ([with_choice(0, why=None)], "q-one: a choice has text, why and read"),
        ([with_choice(0, read=None)], "q-one: a choice has text, why and read"),
        ([with_choice(0, hint="x")], "q-one: a choice has text, why and read"),
        ([with_choice(0, read="paper/9-none")], "q-one: paper/9-none is no page of the book"),
        ([with_choice(0, read="paper/3-1-balance#def-none")], "q-one: paper/3-1-balance has no label 'def-none'"),
        ([{**GOOD, "objective": "fun"}], "q-one: id, objective, stem and choices"),
        ([GOOD, GOOD], "a question needs an id of its own"),
        ([{**GOOD, "id": "Q 1"}], "a question needs an id of its own"),
    ],
)
def test_what_is_no_question_is_refused(tmp_path, rows, why):
    assert len(questions.read(written(tmp_path, GOOD))) == 1
    with pytest.raises(KitError, match=why):
        questions.read(written(tmp_path, *rows))


def test_choices_that_become_the_same_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "glued", lambda page: {"q_x": "1"})
    found = questions.read(written(tmp_path, with_choice(0, text="{glue:text}`q_x`")))
    with pytest.raises(KitError, match="q-one: two choices read the same"):
        questions.filled(found, Numbers("use/questions"))


@pytest.fixture
def ready(stand_ins):
    return questions.ready()


NASTY = r"a = b ~ c # d {e} f: g \ h → β₀ “q” <i> & 5 % **x"


def nasty(tmp_path):
    row = with_choice(1, text=text.quoted(NASTY), why=text.quoted(f"why {NASTY}"))
    return questions.read(written(tmp_path, {**row, "stem": text.quoted(f"{NASTY}?")}))


def test_gift_is_read_back_as_it_was_written(ready):
    found = {q.name: q for q in gift.read(questions.gift(ready))}
    assert list(found) == [q.id for name in objectives.read() for q in ready if q.objective == name]
    for q in ready:
        read = found[q.id]
        assert read.category == f"$course$/Whichbird/{q.objective}" and read.format == "plain"
        assert read.stem == " ".join(text.words(q.stem, Numbers()).split())
        assert [c[0] for c in read.choices] == [c.right for c in q.choices]
        for (_, words, feedback), choice in zip(read.choices, q.choices, strict=True):
            assert words == " ".join(text.words(choice.text, Numbers()).split())
            assert (
                feedback.startswith(" ".join(text.words(choice.why, Numbers()).split()))
                and choice.read.words in feedback
            )


def test_gift_survives_every_special_sign(tmp_path):
    (read,) = gift.read(questions.gift(nasty(tmp_path)))
    assert read.stem == f"{NASTY}?" and read.choices[1][1] == NASTY and read.choices[1][2].startswith(f"why {NASTY}")


@pytest.mark.parametrize(
    "bad",
    [
        "::a::[plain]b {\n=c\n}",
        "::a::[plain]b = {\n=c#d\n}",
        "a {=b#c}",
        "::a::[plain]b {\n=c#d\n",
        r"::a::[plain]\x {" + "\n=c#d\n}",
    ],
)
def test_the_reader_of_gift_is_strict(bad):
    with pytest.raises(ValueError):
        gift.read(bad)


def test_qti_package_is_whole(ready, tmp_path):
    data = questions.qti(ready)
    assert data == questions.qti(ready)
    space = {"q": questions.QTI, "m": questions.MANIFEST}
    with zipfile.ZipFile(io.BytesIO(data)) as pack:
        assert pack.testzip() is None
        top = ET.fromstring(pack.read("imsmanifest.xml"))
        listed = [
            (r.get("identifier"), r.get("href"), r.find("m:file", space).get("href"))
            for r in top.iter(f"{{{questions.MANIFEST}}}resource")
        ]
        assert sorted(href for _, href, _ in listed) == sorted(n for n in pack.namelist() if n != "imsmanifest.xml")
        assert len(listed) == len(ready) and all(href == f"{name}.xml" == file for name, href, file in listed)
        for q in ready:
            item = ET.fromstring(pack.read(f"{q.id}.xml"))
            parts = [child.tag.rpartition("}")[2] for child in item]
            assert parts == [
                "responseDeclaration",
                "outcomeDeclaration",
                "outcomeDeclaration",
                "itemBody",
                "responseProcessing",
                *["modalFeedback"] * 4,
            ]
            choices = item.findall(".//q:simpleChoice", space)
            assert [c.get("identifier") for c in choices] == list("ABCD")
            assert [c.text for c in choices] == [text.words(c.text, Numbers()) for c in q.choices]
            assert item.find("q:responseDeclaration/q:correctResponse/q:value", space).text == "ABCD"[q.right]
            assert [f.get("identifier") for f in item.findall("q:modalFeedback", space)] == list("ABCD")
    one = ET.fromstring(questions.qti_item(nasty(tmp_path)[0]))
    assert one.find(".//q:prompt", space).text == f"{NASTY}?"


@functools.cache
def schema():
    return etree.XMLSchema(etree.parse(Path(__file__).with_name("qti21.xsd")))


def test_qti_items_have_the_form_of_the_standard(ready):
    """The standard's own schema may not be redistributed; tests/qti21.xsd is the part that our items need, and stricter."""
    items = [etree.fromstring(questions.qti_item(q)) for q in ready]
    for item in items:
        schema().assertValid(item)
    titles = [item.get("title") for item in items]  # what a lecturer sees in a list
    assert len(set(titles)) == len(titles) and all(len(title.split()) > 2 and len(title) <= 72 for title in titles)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (' timeDependent="false"', ""),
        (' identifier="q-', ' identifier="4-'),
        (' title="', ' name="'),
        ('showHide="show"', 'showHide="never"'),
        ('maxChoices="1"', 'maxChoices="-1"'),
        ('baseType="float"', 'baseType="number"'),
        ('<simpleChoice identifier="B">', '<simpleChoice identifier="A">'),
        ("responseIf>", "responseElse>"),
        ('<correct identifier="RESPONSE" />', ""),
        ("<itemBody>", "<itemBody><p>Which?</p>"),
        ("<defaultValue>", "<defaultValue><value>1</value>"),
    ],
)
def test_the_check_of_qti_items_can_fail(ready, old, new):
    item = questions.qti_item(ready[0]).decode()
    assert old in item
    assert not schema().validate(etree.fromstring(item.replace(old, new).encode()))


def test_the_page_of_questions_reads_without_scripts(ready):
    page = questions.html(ready, lambda place: f"../{place.address}")
    assert page.count("<article") == page.count("<details") == len(ready)
    for q in ready:
        part = page.partition(f'id="{q.id}"')[2].partition("</article>")[0]
        first = re.search(r"<ul><li data-choice=\"(.)\" data-right>", part)
        assert (
            first
            and first[1] == "ABCD"[q.right]
            and part.count("data-right") == 1
            and part.count('class="wb-read"') == 4
        )
    assert "<input" not in page and "{glue" not in page
    without = questions.html(ready, lambda place: None)
    assert "href" not in without and without.count("<cite>") == 4 * len(ready)


def test_paper_gives_nothing_away(ready):
    sheet, key = questions.paper(ready), questions.answers(ready)
    for q in ready:
        right = text.markdown(q.choices[q.right].why, Numbers(), inline=True)
        assert right not in sheet and right in key
    assert sheet.count("☐") == 4 * len(ready)


# --- objectives, handouts, the whole ------------------------------------------------------------------------------------------------


def test_every_objective_has_questions_rows_and_exercises():
    table = objectives.table(QUESTIONS)
    assert sum(len(row.questions) for row in table) == len(QUESTIONS)
    assert all(row.questions and row.exercises and row.rubric for row in table)
    assert sum(len(row.exercises) for row in table) == len(sources.exercise_numbers()) > 100
    *parts, total = counts.timing_table(lambda address: None)[1]
    assert int(total[1]) == len(sources.exercise_numbers()) and int(total[5]) == sum(row.minutes for row in table)
    assert {r for row in table for r in row.rubric} == {row[0] for row in sources.rubric()[1]}


def test_an_objective_for_a_row_that_is_gone_is_refused(monkeypatch):
    monkeypatch.setattr(sources, "rubric", lambda: (("",), (("β",), ("Style",))))
    with pytest.raises(KitError, match="the table of marks differ in"):
        objectives.read.__wrapped__()


@pytest.mark.parametrize("sheet", handouts.read(), ids=lambda h: h.name)
def test_a_handout_as_a_page(sheet, quick):
    page = handouts.html(sheet, "foot")
    assert "{glue" not in page and "____" not in page and page.count("<h1>") == 1
    assert all('alt="what it shows"' in image for image in re.findall(r"<img [^>]+>", page))


def test_calls_of_the_formula_sheet_exist():
    import whichbird as wb

    (sheet,) = (h for h in handouts.read() if h.name == "formulas")
    code = re.search(r"```python\n(.*?)```", sheet.body, re.S)[1]
    space = {"w": None}
    for line in code.splitlines():
        if "book.check" in line or "book.hint" in line:
            continue
        line = line.partition("#")[0].strip()
        if line.endswith("(w)") or "w)" in line.replace("r.weights)", ""):
            space["w"] = [1] * len(space["a"]) / wb.load("ende24").adequacy.dtype.type(len(space["a"]))
        exec(line, space)
    assert space["r"].ess < 14


@pytest.fixture
def quick(stand_ins, monkeypatch):
    """What takes long has tests of its own: the notebooks, the check and the card."""
    monkeypatch.setattr(kit, "write_check", lambda folder: (folder / "check").mkdir())
    monkeypatch.setattr(kit, "write_notebooks", lambda folder: (folder / "notebooks").mkdir())
    monkeypatch.setattr(handouts, "card", lambda scorer: SVG)
    monkeypatch.setattr(kit.pdf.shutil, "which", lambda name: None)


def test_the_kit_is_whole_and_the_same_each_time(tmp_path, quick, monkeypatch, capsys):
    folder, file, said = kit.make(tmp_path, wheel=False)
    before = file.read_bytes()
    assert said == "There is no Chromium with its driver, so the kit has no PDFs; its HTML pages print the same."
    assert not list(folder.rglob("*.pdf")) and "no PDFs" in (folder / "README.md").read_text("utf-8")
    with zipfile.ZipFile(file) as pack:
        names = pack.namelist()
        assert names == sorted(names) and all(n.startswith("whichbird-course/") for n in names)
        assert {info.date_time for info in pack.infolist()} == {(2026, 1, 1, 0, 0, 0)}
    inside = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert inside == {n.removeprefix("whichbird-course/") for n in names}
    for page in folder.rglob("*.html"):
        for address in re.findall(r'(?:src|href)="([^"#?]+)', page.read_text("utf-8")):
            if not re.search("explorer/index|^software", address):  # no stand-in for these
                assert (page.parent / address).exists(), f"{page.name}: {address}"
    assert f"{len(QUESTIONS)} concept questions" in (folder / "README.md").read_text("utf-8")

    _, again, _ = kit.make(tmp_path, wheel=False)
    assert again.read_bytes() == before
    (folder / "notes.md").write_text("of the lecturer")
    with pytest.raises(KitError, match="whichbird-course holds notes.md, which was not made here"):
        kit.make(tmp_path, wheel=False)
    assert (folder / "notes.md").read_text() == "of the lecturer" and again.read_bytes() == before
    (folder / "notes.md").unlink()

    def stop(*_):
        raise KitError("something is missing")

    monkeypatch.setattr(kit, "write_slides", stop)
    with pytest.raises(KitError):
        kit.make(tmp_path, wheel=False)
    assert file.read_bytes() == before and (folder / "README.md").exists()  # the last one stays
    assert sorted(p.name for p in tmp_path.iterdir() if p.name[0] != ".") == [
        "whichbird-course",
        "whichbird-course.zip",
    ]


def test_what_is_missing_is_said_in_one_sentence(monkeypatch, capsys):
    def stop(*_, **__):
        raise KitError("no chapter draws a figure 'fig-x'")

    monkeypatch.setattr(kit, "make", stop)
    assert kit.main() == 1
    assert capsys.readouterr().err == "The course kit was not made: no chapter draws a figure 'fig-x'.\n"


def test_the_check_of_an_installation(tmp_path):
    kit.write_check(tmp_path)
    file = tmp_path / "check" / "check.py"
    code = file.read_text("utf-8")
    run = lambda: subprocess.run([sys.executable, str(file)], capture_output=True, text=True)  # noqa: E731
    done = run()
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert done.stdout.endswith("All is well.\n") and "✗" not in done.stdout
    code = re.sub(r'BOOK = "[^"]+"', 'BOOK = "9.9"', code)
    code = re.sub(r'("ende24": \[\s*\d+,\s*\d+,\s*)0\.\d+', r'"ende99": [1, 2, 0.5],\n    \g<1>0.5', code)
    file.write_text(code, "utf-8")
    done = run()
    assert (done.returncode, done.stderr) == (1, ""), done.stdout + done.stderr
    for words in (
        "✗ whichbird",
        "this kit was made with 9.9",
        "ende99 missing",
        "✗ ende24: not the data",
        "Something is missing",
    ):
        assert words in done.stdout
