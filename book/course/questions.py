"""Concept questions: `questions.yml`, read and checked, as a page with instant feedback, as paper, and as GIFT and QTI for learning platforms."""

from __future__ import annotations

import io
import re
import textwrap
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from xml.etree import ElementTree as ET

import yaml
from course import objectives, sources, text
from course.sources import KitError, Numbers, Place

FILE = sources.HERE / "questions.yml"
PAGE = "use/questions"  # its cells compute the numbers
LETTERS = "ABCD"
QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
MANIFEST = "http://www.imsglobal.org/xsd/imscp_v1p1"


@dataclass(frozen=True)
class Choice:
    """An answer to choose: why it is right, or why it is tempting and wrong; where to read."""

    text: str
    why: str
    read: Place
    right: bool = False


@dataclass(frozen=True)
class Question:
    id: str
    objective: str
    stem: str
    choices: tuple[Choice, ...]

    @property
    def right(self) -> int:
        """The place of the right choice."""
        return next(n for n, choice in enumerate(self.choices) if choice.right)

    def texts(self) -> list[str]:
        return [self.stem, *(words for c in self.choices for words in (c.text, c.why))]


def read(file: Path = FILE) -> list[Question]:
    """All questions, refused with one sentence if one of them is not as it must be."""
    try:
        rows = yaml.safe_load(file.read_text("utf-8"))
    except yaml.YAMLError as error:
        raise KitError(f"{file.name} is no YAML: {str(error).splitlines()[0]}") from None
    out: list[Question] = []
    for row in rows:
        name = str(row.get("id"))
        if not re.fullmatch(r"q-[a-z0-9-]+", name) or name in [q.id for q in out]:
            raise KitError(f"{file.name}: a question needs an id of its own that begins with q-, not {name}")
        where = f"{file.name}, {name}"
        if set(row) != {"id", "objective", "stem", "choices"} or row["objective"] not in objectives.read():
            raise KitError(f"{where}: id, objective, stem and choices are needed, with an objective that exists")
        choices = []
        for given in row["choices"]:
            if not {"text", "why", "read"} <= set(given) <= {"text", "why", "read", "right"}:
                raise KitError(f"{where}: a choice has text, why and read, and the right one says so")
            try:
                place = sources.place(given["read"])
            except KitError as error:
                raise KitError(f"{where}: {error}") from None
            choices.append(Choice(str(given["text"]), given["why"], place, given.get("right") is True))
        if len(choices) != len(LETTERS) or sum(c.right for c in choices) != 1:
            raise KitError(f"{where}: four choices are needed, and one of them must be right")
        out.append(Question(name, row["objective"], row["stem"], tuple(choices)))
    return out


def filled(questions: list[Question], numbers: Numbers) -> list[Question]:
    """The questions with their numbers put in, as Markdown; choices that then read the same are refused."""
    out = []
    for q in questions:
        try:
            choices = tuple(
                Choice(text.roles(c.text, numbers), text.roles(c.why, numbers), c.read, c.right) for c in q.choices
            )
            stem = text.roles(q.stem, numbers)
        except KitError as error:
            raise KitError(f"{FILE.name}, {q.id}: {error}") from None
        if len({c.text for c in choices}) < len(choices):
            raise KitError(f"{FILE.name}, {q.id}: two choices read the same once their numbers are known")
        out.append(Question(q.id, q.objective, stem, choices))
    return out


def ready() -> list[Question]:
    """The questions, with the numbers of their page."""
    return filled(read(), Numbers(PAGE))


def _inline(words: str) -> str:
    return text.markdown(words, Numbers(), inline=True)


def _plain(words: str) -> str:
    return text.words(words, Numbers())


# --- a page -------------------------------------------------------------------------------------------------------------------------


def html(questions: list[Question], link: Callable[[Place], str | None]) -> str:
    """The questions as HTML that reads well without scripts, the answers folded; `questions.js` makes it answer at once.

    `link` gives the address of a place in the book, or None where there is no book beside the page.
    """

    def more(place: Place) -> str:
        address = link(place)
        words = escape(place.words)
        return f'<a href="{escape(address)}">{words}</a>' if address else f"<cite>{words}</cite>"

    words = objectives.read()
    parts = []
    for n, q in enumerate(questions, 1):
        choices = "".join(f"<li>{_inline(c.text)}</li>" for c in q.choices)
        order = sorted(range(len(q.choices)), key=lambda m: not q.choices[m].right)
        answers = "".join(
            f'<li data-choice="{LETTERS[m]}"{" data-right" if q.choices[m].right else ""}><b>{LETTERS[m]}</b> '
            f"{'<em>is right.</em> ' if q.choices[m].right else ''}{_inline(q.choices[m].why)} "
            f'<span class="wb-read">Read: {more(q.choices[m].read)}.</span></li>'
            for m in order
        )
        parts.append(
            f'<article class="wb-question" id="{q.id}">'
            f'<p class="wb-stem"><b>{n}</b> {_inline(q.stem)}</p>'
            f'<ol class="wb-choices" type="A">{choices}</ol>'
            f'<details class="wb-answers"><summary>Answer</summary><ul>{answers}</ul>'
            f'<p class="wb-objective">Objective: {escape(words[q.objective].words)}</p></details></article>'
        )
    return f'<div class="wb-questions">{"".join(parts)}</div>'


# --- paper --------------------------------------------------------------------------------------------------------------------------


def paper(questions: list[Question]) -> str:
    """The questions to be answered on paper."""
    parts = []
    for n, q in enumerate(questions, 1):
        choices = "".join(
            f"<li><b>☐ {LETTERS[m]}</b><span>{_inline(c.text)}</span></li>" for m, c in enumerate(q.choices)
        )
        parts.append(f'<li class="question"><p><b>{n}</b> {_inline(q.stem)}</p><ul>{choices}</ul></li>')
    return f'<ol class="paper">{"".join(parts)}</ol>'


def answers(questions: list[Question]) -> str:
    """The answer sheet: the right letter with its reason, and what to say of each wrong one."""
    rows = []
    for n, q in enumerate(questions, 1):
        wrong = "".join(
            f"<p><b>{LETTERS[m]}</b> {_inline(c.why)} <cite>{escape(c.read.words)}</cite></p>"
            for m, c in enumerate(q.choices)
            if not c.right
        )
        right = q.choices[q.right]
        rows.append(
            f'<tr><th scope="row">{n}</th><td><p><b>{LETTERS[q.right]}</b>: {_inline(right.text)}</p>'
            f"<p>{_inline(right.why)} <cite>{escape(right.read.words)}</cite></p></td><td>{wrong}</td></tr>"
        )
    head = '<tr><th></th><th scope="col">right, because</th><th scope="col">wrong, though tempting</th></tr>'
    return f'<table class="answers"><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table>'


# --- files for learning platforms -----------------------------------------------------------------------------------------------------


def quoted(words: str) -> str:
    r"""Words that GIFT leaves as they are.

    >>> print(quoted("a = {b}: 50 ~ #1"))
    a \= \{b\}\: 50 \~ \#1
    """
    return re.sub(r"([\\~=#{}:])", r"\\\1", " ".join(words.split()))


def gift(questions: list[Question]) -> str:
    """All questions in Moodle's GIFT format, by objective, with feedback for each choice."""
    out = ["// Whichbird, concept questions. In Moodle: question bank, import, GIFT format."]
    for name in objectives.read():
        own = [q for q in questions if q.objective == name]
        if own:
            out.append(f"$CATEGORY: $course$/Whichbird/{name}")
        for q in own:
            lines = [
                f"\t{'=' if c.right else '~'}{quoted(_plain(c.text))}"
                f"#{quoted(f'{_plain(c.why)} (Read: {c.read.words})')}"
                for c in q.choices
            ]
            out.append("\n".join([f"::{quoted(q.id)}::[plain]{quoted(_plain(q.stem))} {{", *lines, "}"]))
    return "\n\n".join(out) + "\n"


def qti_item(q: Question) -> bytes:
    """One question as a QTI 2.1 item, with feedback for each choice."""
    ET.register_namespace("", QTI)

    def add(parent: ET.Element, tag: str, words: str = "", **attributes: str) -> ET.Element:
        node = ET.SubElement(parent, f"{{{QTI}}}{tag}", attributes)
        node.text = words or None
        return node

    item = ET.Element(
        f"{{{QTI}}}assessmentItem",
        {
            "identifier": q.id,
            "title": textwrap.shorten(_plain(q.stem), 72, placeholder=" …"),
            "adaptive": "false",
            "timeDependent": "false",
        },
    )
    response = add(item, "responseDeclaration", identifier="RESPONSE", cardinality="single", baseType="identifier")
    add(add(response, "correctResponse"), "value", LETTERS[q.right])
    score = add(item, "outcomeDeclaration", identifier="SCORE", cardinality="single", baseType="float")
    add(add(score, "defaultValue"), "value", "0")
    add(item, "outcomeDeclaration", identifier="FEEDBACK", cardinality="single", baseType="identifier")
    body = add(item, "itemBody")
    asked = add(body, "choiceInteraction", responseIdentifier="RESPONSE", shuffle="true", maxChoices="1")
    add(asked, "prompt", _plain(q.stem))
    for letter, choice in zip(LETTERS, q.choices, strict=True):
        add(asked, "simpleChoice", _plain(choice.text), identifier=letter)
    done = add(item, "responseProcessing")
    when = add(add(done, "responseCondition"), "responseIf")
    match = add(when, "match")
    add(match, "variable", identifier="RESPONSE")
    add(match, "correct", identifier="RESPONSE")
    add(add(when, "setOutcomeValue", identifier="SCORE"), "baseValue", "1", baseType="float")
    add(add(done, "setOutcomeValue", identifier="FEEDBACK"), "variable", identifier="RESPONSE")
    for letter, choice in zip(LETTERS, q.choices, strict=True):
        words = f"{_plain(choice.why)} (Read: {choice.read.words})"
        add(item, "modalFeedback", words, outcomeIdentifier="FEEDBACK", identifier=letter, showHide="show")
    return _xml(item)


def qti(questions: list[Question]) -> bytes:
    """All questions as a QTI 2.1 content package: the bytes of a zip, the same for the same questions."""
    files = {f"{q.id}.xml": qti_item(q) for q in questions}
    ET.register_namespace("", MANIFEST)
    top = ET.Element(f"{{{MANIFEST}}}manifest", {"identifier": "whichbird-questions"})
    about = ET.SubElement(top, f"{{{MANIFEST}}}metadata")
    ET.SubElement(about, f"{{{MANIFEST}}}schema").text = "QTIv2.1 Package"
    ET.SubElement(about, f"{{{MANIFEST}}}schemaversion").text = "1.0.0"
    ET.SubElement(top, f"{{{MANIFEST}}}organizations")
    listed = ET.SubElement(top, f"{{{MANIFEST}}}resources")
    for name in files:
        one = ET.SubElement(
            listed,
            f"{{{MANIFEST}}}resource",
            {"identifier": name.removesuffix(".xml"), "type": "imsqti_item_xmlv2p1", "href": name},
        )
        ET.SubElement(one, f"{{{MANIFEST}}}file", {"href": name})
    return zipped({"imsmanifest.xml": _xml(top), **files})


def _xml(top: ET.Element) -> bytes:
    ET.indent(top)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(top, encoding="utf-8") + b"\n"


def zipped(files: dict[str, bytes]) -> bytes:
    """A zip that is the same for the same files: their order and times are fixed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as pack:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            pack.writestr(entry, files[name])
    return out.getvalue()
