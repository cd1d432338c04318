"""Writes the course kit: one folder, and the same as a zip, that a lecturer can use next week.

    python book/course/kit.py        writes _build/course/whichbird-course and _build/course/whichbird-course.zip (make course)

Notebooks for students and teachers, slides, handouts, concept questions, rubric, the explorer, the library as a wheel, a check of the installation,
and a read-me with timings. All of it is made from the chapters and from the files of this folder. The folder gets its name when it is complete; the same
book gives the same zip. PDFs need a Chromium; where there is none the kit says so, and has the HTML alone.
"""

from __future__ import annotations

import base64
import contextlib
import csv
import functools
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BOOK = Path(__file__).resolve().parents[1]
ROOT = BOOK.parent
sys.path[:0] = [str(BOOK), str(BOOK / "course")]
import pdf  # noqa: E402
import policy  # noqa: E402
import yaml  # noqa: E402
from course import counts, explorer, handouts, objectives, questions, slides, sources, text  # noqa: E402
from course.sources import KitError, Numbers  # noqa: E402

NAME = "whichbird-course"
OUT = ROOT / "_build" / "course"
EPOCH = 1767225600  # 1 January 2026: the time of all that is in the zip
PAPER = {"printBackground": True, "preferCSSPageSize": True, "generateTaggedPDF": True}


# --- parts --------------------------------------------------------------------------------------------------------------------------


def version() -> str:
    import whichbird

    return whichbird.__version__


def foot() -> str:
    return f"Whichbird {version()}, course kit. Apache License 2.0."


@functools.cache
def site() -> str:
    """Where the book is served, if that is known."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    return str(config["sphinx"]["config"].get("site_address", "")).rstrip("/")


def link(address: str) -> str | None:
    """The address of a page of the book, if it is known where the book is served."""
    return f"{site()}/book/{address}" if site() else None


def write_look(folder: Path) -> None:
    shutil.copytree(slides.LOOK, folder / "look", ignore=shutil.ignore_patterns(".*"))
    for name in ("mark.svg", "palette.css", "questions.css", "questions.js", "whichbird.css"):
        shutil.copyfile(BOOK / "assets" / name, folder / "look" / name)


def write_figures(folder: Path) -> None:
    names = {name for deck in counts.decks() for name in slides.figures(deck)}
    names |= {name for sheet in handouts.read() for name in handouts.figures(sheet)}
    (folder / "figures").mkdir()
    for name in sorted(names):
        (folder / "figures" / f"{name}.svg").write_text(sources.drawing(sources.figure(name)), "utf-8")


def write_slides(folder: Path) -> None:
    (folder / "slides").mkdir()
    for deck in counts.decks():
        (folder / "slides" / f"{deck.name}.html").write_text(slides.html(deck), "utf-8")


def write_handouts(folder: Path) -> None:
    (folder / "handouts").mkdir()
    for sheet in handouts.read():
        (folder / "handouts" / f"{sheet.name}.html").write_text(handouts.html(sheet, foot()), "utf-8")


QUIZ = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Concept questions</title>
<script>document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";</script>
<link rel="icon" href="../look/mark.svg"><link rel="stylesheet" href="../look/palette.css"><link rel="stylesheet" href="../look/whichbird.css"><link rel="stylesheet" href="../look/questions.css">
<style>body {{ margin: 0 auto; padding: 1.2rem; max-width: 46rem; background: var(--wb-paper); color: var(--wb-ink); font-family: var(--wb-serif); }}</style></head>
<body><main class="bd-article"><h1>Concept questions</h1>
<p>Choose an answer, and the page says what speaks for it and against it. Nothing is sent or kept.</p>
{body}
</main><script src="../look/questions.js"></script></body></html>
"""


def write_questions(folder: Path) -> None:
    place, found = folder / "questions", questions.ready()
    place.mkdir()
    body = questions.html(found, lambda where: link(where.address))
    (place / "questions.html").write_text(QUIZ.format(body=body), "utf-8")
    sheets = {
        "paper": ("Concept questions", questions.paper),
        "answers": ("Concept questions: answers", questions.answers),
    }
    for name, (title, make) in sheets.items():
        (place / f"{name}.html").write_text(handouts.page(title, make(found), name, foot()), "utf-8")
    (place / "whichbird.gift.txt").write_text(questions.gift(found), "utf-8")
    (place / "whichbird-qti21.zip").write_bytes(questions.qti(found))


def write_tables(folder: Path) -> None:
    """Rubric and objectives as tables that a spreadsheet reads."""
    head, rows = sources.rubric()
    _csv(folder / "rubric.csv", [["row", *head[1:]], *rows])
    table = objectives.table(list(counts.asked()))
    lines = [
        [
            row.name,
            row.words,
            " ".join(number for _, number, _ in row.exercises),
            " ".join(str(n) for _, n in row.questions),
        ]
        + ["; ".join(row.rubric), row.minutes]
        for row in table
    ]
    _csv(
        folder / "objectives.csv",
        [["objective", "students can", "exercises", "questions", "rubric", "minutes"], *lines],
    )


def _csv(file: Path, rows: Any) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    file.write_text("\ufeff" + out.getvalue(), "utf-8")  # the mark tells spreadsheets that this is UTF-8


def write_check(folder: Path) -> None:
    """The check of an installation, with what it must find, as a script and as a notebook."""
    import nbformat
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    import whichbird as wb

    wanted = {}
    for name in wb.datasets():
        d = wb.load(name)
        beta0 = None if d.adequacy is None else float(f"{wb.balance(d.adequacy, d.fluency):.9g}")
        wanted[name] = [len(d.systems), len(d.scorers), beta0]
    code = (sources.HERE / "templates" / "check.py.txt").read_text("utf-8")
    code = code.replace('"VERSION"', json.dumps(version())).replace(
        '"WANTED"', json.dumps(wanted, indent=4).replace("null", "None")
    )
    place = folder / "check"
    place.mkdir()
    (place / "check.py").write_text(code, "utf-8")
    cells = [
        new_markdown_cell("# Is everything there?\n\nRun the cell. Every line should begin with ✓."),
        new_code_cell(code),
    ]
    notebook = new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    )
    for n, cell in enumerate(notebook.cells):
        cell.id = f"check-{n}"  # else drawn at random
    (place / "check.ipynb").write_text(nbformat.writes(notebook) + "\n", "utf-8")


def write_wheel(folder: Path) -> None:
    """The library as a wheel, so that students can install it without a network of ours."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        skip = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
        shutil.copytree(ROOT / "lib", place / "lib", ignore=skip)
        (place / "data").symlink_to(ROOT / "data")
        for notice in ("LICENSE", "NOTICE"):
            shutil.copyfile(ROOT / notice, place / notice)
        words = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
        done = subprocess.run(
            [
                sys.executable,
                *words,
                "--disable-pip-version-check",
                "--wheel-dir",
                str(place / "out"),
                str(place / "lib"),
            ],
            capture_output=True,
            text=True,
            env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)},
        )
        made = list((place / "out").glob("whichbird-*.whl"))
        if done.returncode or len(made) != 1:
            raise KitError(
                f"the wheel of the library could not be built: {(done.stderr.strip().splitlines() or ['?'])[-1]}"
            )
        (folder / "software").mkdir()
        shutil.copyfile(made[0], folder / "software" / made[0].name)


def write_notebooks(folder: Path) -> None:
    """Notebooks for students and teachers, what nbgrader and otter read, and the chapters themselves as working copies."""
    import copies
    import export
    import notebooks

    try:
        notebooks.write(folder / "notebooks")
        export.write(folder / "notebooks")
        for note in (folder / "notebooks").glob(".*.made"):
            note.unlink()
        if not (copies.HTML / copies.FOLDER).is_dir():
            raise KitError("the pages are not built, and the chapters come from them: run make book first")
        shutil.copytree(
            copies.HTML / copies.FOLDER, folder / "notebooks" / "chapters", ignore=shutil.ignore_patterns("*.key", ".*")
        )
    except ValueError as error:
        raise KitError(str(error)) from None


def write_pdfs(folder: Path) -> None:
    """Slides with and without notes, handouts, questions: printed by Chromium. Raises `pdf.NoBrowser`."""
    with pdf.browser() as chrome:
        for file in sorted(
            [*(folder / "handouts").glob("*.html"), folder / "questions/paper.html", folder / "questions/answers.html"]
        ):
            chrome.get(file.as_uri())
            data = printed(chrome)
            if file.parent.name == "handouts" and len(pdf.Pdf(data).pages) != 1:
                raise KitError(f"the handout {file.stem} takes {len(pdf.Pdf(data).pages)} pages; it must fit on one")
            file.with_suffix(".pdf").write_bytes(data)
        for file in sorted((folder / "slides").glob("*.html")):
            chrome.get(file.as_uri())
            wait(chrome)
            many = len(chrome.find_elements("css selector", ".slide"))
            for notes in (False, True):
                chrome.execute_script("document.documentElement.classList.toggle('with-notes', arguments[0])", notes)
                data = printed(chrome)
                if not notes and len(pdf.Pdf(data).pages) != many:
                    raise KitError(
                        f"the slides {file.stem} take {len(pdf.Pdf(data).pages)} pages; there are {many} of them"
                    )
                file.with_name(f"{file.stem}{'-notes' * notes}.pdf").write_bytes(data)


def wait(chrome: Any) -> None:
    """Until all pictures are there."""
    chrome.set_script_timeout(60)
    chrome.execute_async_script(
        "const done = arguments[0]; Promise.all([...document.images].map((i) => i.decode().catch(() => 0))).then(() => done())"
    )


def printed(chrome: Any) -> bytes:
    """The open page as PDF."""
    return settled(base64.b64decode(chrome.execute_cdp_cmd("Page.printToPDF", PAPER)["data"]))


def settled(data: bytes) -> bytes:
    """A PDF without what differs from one print of a page to the next: the time, and the numbers that a browser gives to the heads of tables.

    >>> settled(b"(D:20261117063500Z) (node00003096) (node00003094) (node00003096)")
    b'(D:20260101000000Z) (node00000002) (node00000001) (node00000002)'
    """
    data = re.sub(rb"\(D:\d{14}([^)]*)\)", rb"(D:20260101000000\1)", data)
    seen = sorted(set(re.findall(rb"\(node(\d{8})\)", data)))
    short = {number: b"(node%08d)" % n for n, number in enumerate(seen, 1)}
    return re.sub(rb"\(node(\d{8})\)", lambda m: short[m[1]], data)


# --- the read-me --------------------------------------------------------------------------------------------------------------------


def _markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def readme(papers: bool) -> str:
    """The read-me, as Markdown: what is where, timings, a course next week, objectives."""
    n = {name: count() for name, count in counts.COUNTS.items()}
    tables = {kind: _markdown(*make(lambda address: link(address))) for kind, make in counts.TABLES.items()}
    without = (
        ""
        if papers
        else "\nThis kit was made on a machine without Chromium, so it has no PDFs: open the HTML files and print them.\n"
    )
    body = (sources.HERE / "templates" / "readme.md.txt").read_text("utf-8")
    for name, value in {
        **n,
        **{f"table-{k}": v for k, v in tables.items()},
        "version": version(),
        "papers": without,
    }.items():
        body = body.replace(f"<{name}>", value)
    left = re.search(r"<[a-z-]+>", body)
    if left:
        raise KitError(f"the read-me asks for {left[0]}, which nobody counts")
    return body


def write_readme(folder: Path, papers: bool) -> None:
    words = readme(papers)
    (folder / "README.md").write_text(words, "utf-8")
    body = text.markdown(words.partition("\n")[2], Numbers())
    page = handouts.page(words.partition("\n")[0].removeprefix("# "), body, "readme", foot())
    (folder / "README.html").write_text(policy.guarded(page.replace('"../look/', '"look/')), "utf-8")
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")


# --- all of it ----------------------------------------------------------------------------------------------------------------------


def zipped(folder: Path) -> bytes:
    """The folder as a zip with fixed times and order."""
    files = {f"{NAME}/{p.relative_to(folder).as_posix()}": p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    return questions.zipped(files)


@contextlib.contextmanager
def part(words: str) -> Iterator[None]:
    """Says what is being made, and how long it took."""
    start = time.monotonic()
    yield
    print(f"{time.monotonic() - start:6.1f} s  {words}", flush=True)


def make(out: Path = OUT, papers: bool = True, wheel: bool = True) -> tuple[Path, Path, str]:
    """Make the kit below a folder: the folder, the zip, and a sentence if PDFs are missing. Nothing is left half made."""
    import made

    try:
        out.mkdir(parents=True, exist_ok=True)
        made.refuse(out / NAME)
    except (OSError, ValueError) as error:
        raise KitError(str(error)) from None
    said = ""
    with tempfile.TemporaryDirectory(prefix=".part-", dir=out) as name:
        folder = Path(name) / NAME
        folder.mkdir()
        write_look(folder)
        with part("figures and slides"):
            write_figures(folder)
            write_slides(folder)
        with part("handouts and questions"):
            write_handouts(folder)
            write_questions(folder)
            write_tables(folder)
        with part("explorer"):
            explorer.write(folder / "explorer")
        policy.guard(folder)
        with part("notebooks"):
            write_notebooks(folder)
        with part("check and library"):
            write_check(folder)
            if wheel:
                write_wheel(folder)
        if papers:
            try:
                with part("PDFs"):
                    write_pdfs(folder)
            except pdf.NoBrowser:
                papers, said = (
                    False,
                    "There is no Chromium with its driver, so the kit has no PDFs; its HTML pages print the same.",
                )
        write_readme(folder, papers)
        pack = zipped(folder)
        target, file = out / NAME, out / f"{NAME}.zip"
        temporary = Path(name) / file.name
        temporary.write_bytes(pack)
        made.put(folder, target)
        os.replace(temporary, file)
    return target, file, said


def main() -> int:
    try:
        target, file, said = make()
    except KitError as error:
        print(f"The course kit was not made: {error}.", file=sys.stderr)
        return 1
    if said:
        print(said)
    files = [p for p in target.rglob("*") if p.is_file()]
    print(
        f"The course kit is at {file.relative_to(ROOT)}: {len(files)} files, {file.stat().st_size / 1e6:.0f} MB. Open {target.relative_to(ROOT)}/README.html."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
