"""Working copies: each page of the built book as a notebook that reads as the page does, in any program that shows notebooks.

    python book/copies.py            writes _build/html/notebooks/<part>/<page>.ipynb (the build of the pages does it)

Words come from the built page, where numbers, references, citations and the numbers of figures are resolved; code and outputs come from the kept run. They are
matched by code: a page joins folded cells, and leaves some out. The page's *Take it with you*, `make lab`, `.binder` and the course kit all use these files.
The first cell with code installs what is missing and begins a `whichbird_book.working` copy, in which checks become questions when the reader changes a parameter.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import os
import pprint
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import shorten
from typing import Any

import execute
import nbformat
import numbering
import page_words
from bs4 import Tag
from page_words import HEADS, Words, one_line, soup

sys.path.insert(0, str(Path(__file__).resolve().parent / "_ext"))
import night

from whichbird import __version__
from whichbird_book import kit, working

HTML = execute.ROOT / "_build" / "html"
FOLDER = "notebooks"  # in the site
COMES = {
    "IPython",
    "matplotlib",
    "numpy",
    "pandas",
    "scipy",
    "tqdm",
    "whichbird",
    "whichbird_book",
}  # with the library, or with a kernel
SKIP = "script, style, svg, button, link, .headerlink, .chapter-downloads, .wb-cards, .wb-cite, .toctree-wrapper, .record.target, .wb-on-dark, .wb-small, .wb-until, .sd-summary-state-marker"
LIVE = ".wb-small, .wb-live, iframe"
STATED = ("theorem", "proposition", "lemma", "corollary")
WIDE = 84  # columns of the first line of a folded cell
CHANGE = """**Change** {} two cells below, and run all cells. Checks that then fail are listed under their cell, and sentences whose numbers changed are said again."""
SETUP = """\
# Run this cell first. The chapter needs {needs}; what is missing is installed.
import importlib.util
from pathlib import Path
missing = [name for name in {packages!r} if importlib.util.find_spec(name) is None]
wheels = sorted(Path().glob("whichbird-*.whl"))  # beside this notebook, perhaps
if wheels and "whichbird" in missing:
    missing[0] = str(wheels[-1])
if missing:
    %pip install --quiet {{" ".join(missing)}}
from whichbird_book import working
working.begin({arguments})"""


def pages(html: Path = HTML) -> list[Path]:
    """Every page of the book that was built; those that only point to a new address (`_ext/moved.py`) have no source."""
    return sorted(p for p in (html / "book").rglob("*.html") if (execute.BOOK / f"{name_of(p, html)}.md").exists())


def name_of(page: Path, html: Path = HTML) -> str:
    """`paper/3-1-balance`."""
    return page.relative_to(html / "book").with_suffix("").as_posix()


def outputs(cell: nbformat.NotebookNode, live: bool) -> list[nbformat.NotebookNode]:
    """Outputs as every program shows them: without what is glued, and drawings as images, which need no trust."""
    out = []
    for output in cell.outputs:
        data = output.get("data")
        if data is None:
            out.append(output)
            continue
        kept = {kind: value for kind, value in data.items() if not kind.startswith("application/papermill.record")}
        if live or not kept:
            continue
        if "image/svg+xml" in kept:
            svg = "".join(kept.pop("image/svg+xml"))
            coded = base64.b64encode(night.short(svg).encode()).decode()
            kept = {"text/html": f'<img alt="figure" src="data:image/svg+xml;base64,{coded}">', "text/plain": "figure"}
        out.append(nbformat.from_dict({**output, "data": kept, "metadata": {}}))
    return out


def stated(cells: list[nbformat.NotebookNode]) -> set[int]:
    """Numbers of the code cells that check a statement: the first with an assert after a block of `STATED`, in its section.

    >>> cells = [nbformat.v4.new_markdown_cell("```{prf:theorem} T\\n```"), nbformat.v4.new_code_cell("assert 1"), nbformat.v4.new_code_cell("assert 2")]
    >>> stated(cells)
    {0}
    """
    found, open_, number = set(), False, -1
    for cell in cells:
        if cell.cell_type == "markdown":
            for line in cell.source.splitlines():
                if line.startswith("#"):
                    open_ = False
                if re.match(rf"[`:]{{3,}}\{{prf:({'|'.join(STATED)})\}}", line):
                    open_ = True
        elif cell.cell_type == "code":
            number += 1
            if open_ and re.search(r"^\s*assert\b", cell.source, re.M):
                found.add(number)
                open_ = False
    return found


def parameters(cells: list[nbformat.NotebookNode]) -> dict[str, Any]:
    """What the cell tagged `parameters` sets."""
    out: dict[str, Any] = {}
    for cell in cells:
        if "parameters" in cell.metadata.get("tags", []):
            for node in ast.parse(cell.source).body:
                if not (isinstance(node, ast.Assign) and len(node.targets) == 1):
                    raise ValueError(f"a cell of parameters sets one name a line: {ast.unparse(node)}")
                names, value = node.targets[0], ast.literal_eval(node.value)
                pairs = zip(names.elts, value, strict=True) if isinstance(names, ast.Tuple) else [(names, value)]
                out |= {ast.unparse(name): each for name, each in pairs}
    return out


def needs(cells: list[nbformat.NotebookNode]) -> list[str]:
    """Packages that the code imports and neither Python nor the library brings."""
    found = set()
    for cell in cells:
        for node in ast.walk(ast.parse(re.sub(r"^[%!].*$", "", cell.source, flags=re.M))):
            if isinstance(node, ast.Import):
                found |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    return sorted(found - COMES - set(sys.stdlib_module_names))


def setup(cells: list[nbformat.NotebookNode], said: dict[str, str], told: list[str]) -> nbformat.NotebookNode:
    """The first cell with code."""
    packages, varied = ["whichbird", *needs(cells)], parameters(cells)
    arguments = [repr(__version__), repr(varied)]
    if varied:
        used = {key for sentence in told for key in working.KEY.findall(sentence)}
        arguments.append(pprint.pformat({k: said[k] for k in sorted(used & set(said))}, width=160, sort_dicts=False))
        arguments.append(pprint.pformat(list(dict.fromkeys(told)), width=160))
    source = SETUP.format(needs=" and ".join(packages), packages=packages, arguments=", ".join(arguments))
    return nbformat.v4.new_code_cell(source, metadata={"tags": ["setup"], "jupyter": {"source_hidden": True}})


def glued(cells: list[nbformat.NotebookNode]) -> dict[str, str]:
    """What the cells of a run gave to sentences."""
    found = {}
    for cell in cells:
        for output in cell.outputs:
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            if name:
                text = next((v for k, v in output.data.items() if k.endswith("text/plain")), "")
                found[name] = ast.literal_eval(text) if text[:1] in "'\"" else text
    return found


class Maker:
    """Goes through a page and makes the cells of its copy."""

    def __init__(self, page: Path, html: Path, source: nbformat.NotebookNode, run: nbformat.NotebookNode | None):
        self.page, self.html = page, html
        self.code = execute.code_cells(run) if run is not None else []
        self.stated = stated(source.cells)
        keys = re.findall(r"\{glue:text\}`([^`]+)`", "\n".join(_shown(c) for c in source.cells))
        article = soup(page)
        many = len(article.select(".pasted-text"))
        if many != len(keys):
            raise ValueError(f"{page}: {many} glued numbers in the page, {len(keys)} in its source")
        self.words = Words(page, html, keys)
        self.next, self.text, self.cells = 0, [], []
        self.solution = False
        self.walk(article)
        self.flush()
        while self.next < len(self.code):
            self.put(hidden=True)

    def flush(self) -> None:
        if self.text:
            self.cells.append(nbformat.v4.new_markdown_cell("\n\n".join(self.text)))
        self.text = []

    def walk(self, node: Tag) -> None:
        for child in node.find_all(True, recursive=False):
            classes = child.get("class", [])
            if "cell" in classes and "docutils" in classes:
                self.flush()
                self.take(child)
            elif "solution" in classes:
                self.solve(child)
            elif child.select_one(LIVE) is not None and "exercise" not in classes or child.css.match(LIVE):
                self.live(child)
            elif child.css.match(SKIP):
                continue
            elif child.name in HEADS:
                self.flush()
                self.strip(child)
                self.text += self.words.block(child)
            elif (
                child.select_one(".cell, section") is not None
                and "proof" not in classes
                and "admonition" not in classes
            ):
                self.walk(child)
            else:
                self.strip(child)
                self.text += self.words.block(child)

    def strip(self, node: Tag) -> None:
        for part in node.select(SKIP):
            part.extract()

    def live(self, node: Tag) -> None:
        if node.name == "section" or node.select_one(".cell") is not None:
            self.walk(node)
            return
        self.text.append(f"*Here the book has a live figure: [{name_of(self.page, self.html)}]({self.home()}).*")

    def home(self) -> str:
        """The page, seen from lab/<part>/."""
        depth = len(self.page.relative_to(self.html / "book").parts)
        return "../" * depth + f"_build/html/book/{name_of(self.page, self.html)}.html"

    def solve(self, node: Tag) -> None:
        title = node.select_one(".admonition-title")
        words = one_line(title.get_text()) if title is not None else "Solution"
        if title is not None:
            title.extract()
        self.flush()
        first = len(self.cells)
        self.solution = True
        self.walk(node)
        self.flush()
        self.solution = False
        for n, cell in enumerate(self.cells[first:]):
            if cell.cell_type == "markdown":
                cell.source = (
                    f"<details><summary>{words}{', in words' if n else ''}</summary>\n\n{cell.source}\n\n</details>"
                )
        if first < len(self.cells) and self.cells[first].cell_type == "code":
            self.cells.insert(first, nbformat.v4.new_markdown_cell(f"*{words}: open the folded cells below.*"))

    def take(self, node: Tag) -> None:
        """A cell of the page: one or several of the run."""
        codes = [part.get_text().strip("\n") for part in node.select(".cell_input pre")]
        live = node.select_one(LIVE) is not None
        caption = node.select_one("figcaption")
        label = ""
        if caption is not None:
            self.strip(caption)
            number = caption.select_one(".caption-number")
            label = one_line(number.get_text()).rstrip(":") if number is not None else ""
            first = one_line(caption.get_text()).removeprefix(label).strip()
            label = shorten(f"{label}: {first}".replace("Fig.", "Figure"), WIDE, placeholder=" …")
        folded = node.select_one("details.wb-code:not(.wb-source)") is not None
        listing = node.select_one("details.wb-source") is not None
        if not codes:
            self.put(hidden=True, live=live, label=label, listing=listing)
        for n, code in enumerate(codes):
            while self.next < len(self.code) and self.code[self.next].source.strip("\n") != code:
                self.put(hidden=True)
            if self.next == len(self.code):
                raise ValueError(f"{self.page}: no cell of the run has this code:\n{code}")
            last = n == len(codes) - 1
            self.put(hidden=folded, live=live and last, label=label if last else "", listing=listing and last)
        if live:
            self.live(node.select_one(LIVE))
        if caption is not None:
            self.text += self.words.block(caption)

    def put(self, hidden: bool, live: bool = False, label: str = "", listing: bool = False) -> None:
        """The next cell of the run."""
        self.flush()
        ran, tags = self.code[self.next], self.code[self.next].metadata.get("tags", [])
        source = ran.source.strip("\n")
        metadata: dict[str, Any] = {}
        if keep := [t for t in tags if t in ("parameters", "raises-exception")]:
            metadata["tags"], hidden = keep, False
        if hidden or self.solution:
            metadata["jupyter"] = {"source_hidden": True} | (
                {"outputs_hidden": True} if listing or self.solution else {}
            )
        if self.next in self.stated:
            source = f"{working.THEOREM}\n{source}"
        elif (hidden or self.solution) and not source.startswith(("#", "%%")) and (line := first_line(source, label)):
            source = f"# {line}\n{source}"
        cell = nbformat.v4.new_code_cell(source, metadata=metadata, outputs=outputs(ran, live))
        cell.execution_count = ran.execution_count
        self.cells.append(cell)
        self.next += 1


def first_line(source: str, label: str) -> str:
    """What a folded cell is to say, if its own first line would say little."""
    if label:
        return label
    if re.match(r"(import|from) ", source):
        return "Imports and what the chapter begins with"
    count = len(re.findall(r"^\s*assert\b", source, re.M))
    if count:
        return f"{count} check{'s' * (count > 1)}"
    return "" if len(source.partition("\n")[0]) <= WIDE else "Code"


def _shown(cell: nbformat.NotebookNode) -> str:
    """Where a cell of the source glues numbers into the page: its words, or the caption of its figure."""
    return (
        cell.source if cell.cell_type == "markdown" else json.dumps(cell.metadata.get("mystnb", {}), ensure_ascii=False)
    )


def copy(page: Path, html: Path = HTML) -> nbformat.NotebookNode:
    """The working copy of a built page."""
    file = execute.BOOK / f"{name_of(page, html)}.md"
    source = execute.read(file)
    run = execute.executed(file) if execute.code_cells(source) else None
    made = Maker(page, html, source, run)
    cells = made.cells
    if made.code:
        at = 1 if cells and cells[0].cell_type == "markdown" else 0
        if names := [f"`{name}`" for name in parameters(made.code)]:
            cells[0].source += f"\n\n{CHANGE.format(kit.listed(names))}"
        cells.insert(at, setup(made.code, glued(made.code), made.words.said))
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    }
    if run is not None:  # else JupyterLab adds it, and asks to save a file that nobody changed
        notebook.metadata["language_info"] = run.metadata["language_info"]
    for n, cell in enumerate(cells):
        cell["id"] = f"cell-{n}"  # the same page gives the same file
    return notebook


def _stale(html: Path) -> Iterator[tuple[Path, Path, str]]:
    """Pages whose copy is missing or older than page, source, run or this program: the page, where its copy lies, and the key of the new one."""
    for page in pages(html):
        target, source = html / FOLDER / f"{name_of(page, html)}.ipynb", execute.BOOK / f"{name_of(page, html)}.md"
        seen = [
            page.read_bytes(),
            source.read_bytes(),
            *(Path(file).read_bytes() for file in (__file__, page_words.__file__, working.__file__)),
            execute.world().encode(),
        ]
        key, mark = hashlib.sha256(b"\0".join(seen)).hexdigest(), target.with_suffix(".key")
        if not (target.is_file() and mark.is_file() and mark.read_text("utf-8") == key):
            yield page, target, key


def stale(html: Path = HTML) -> bool:
    """Whether the copies are not those of the present book."""
    made = {name_of(page, html) for page in pages(html)}
    listed = {
        "index",
        *(p.removeprefix("book/") for part in numbering.parts() for p in numbering.pages(part["chapters"])),
    }
    return made != listed or next(_stale(html), None) is not None


def write(html: Path = HTML) -> int:
    """Write the copies of all pages beside them; those of pages that did not change stay. Returns how many were written."""
    count = 0
    for page, target, key in _stale(html):
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(f".{os.getpid()}.part")
        part.write_text(nbformat.writes(copy(page, html)) + "\n", "utf-8")
        os.replace(part, target)
        target.with_suffix(".key").write_text(key, "utf-8")
        count += 1
    return count


if __name__ == "__main__":
    print(f"{write()} working copies written to {HTML / FOLDER}")
