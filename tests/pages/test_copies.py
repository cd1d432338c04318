"""Working copies of the built book: each page has one, with its words, its code and its links."""

import re

import copies
import execute
import nbformat
import pytest
from page_words import one_line

LEFT = re.compile(r"\{(glue:text|numref|prf:ref|eq|doc|ref|term|cite:[tp])\}|[\ue000-\ue002]|^:::|^`{3,}\{", re.M)


@pytest.fixture(scope="module")
def made(html):
    return {
        p.relative_to(html / copies.FOLDER).with_suffix("").as_posix(): nbformat.read(p, 4)
        for p in sorted((html / copies.FOLDER).rglob("*.ipynb"))
    }


def test_every_page_has_a_copy_that_is_a_notebook(made, pages, html):
    assert set(made) == {copies.name_of(page, html) for page in pages}
    assert not copies.stale(html)
    for name, notebook in made.items():
        nbformat.validate(notebook)
        words = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
        words = re.sub(r"^```.*?^```$|`[^`]*`", "", words, flags=re.M | re.S)
        assert not (found := LEFT.search(words)), f"{name}: {found[0]} is left in the words"
        assert all("image/svg+xml" not in o.get("data", {}) for c in notebook.cells for o in c.get("outputs", []))


def test_a_copy_has_all_code_of_its_chapter_in_order(made):
    for path in execute.chapters():
        name = path.relative_to(execute.BOOK).with_suffix("").as_posix()
        if name not in made:
            continue  # a page of the course's files
        setup, *cells = [c for c in made[name].cells if c.cell_type == "code"]
        assert setup.metadata["tags"] == ["setup"] and setup.metadata["jupyter"] == {"source_hidden": True}
        wanted = execute.sources(execute.read(path))
        assert len(cells) == len(wanted), name
        for cell, code in zip(cells, wanted, strict=True):
            assert cell.source.endswith(code) and all(
                line.startswith("# ") for line in cell.source.removesuffix(code).splitlines()
            )
            if cell.metadata.get("jupyter", {}).get("source_hidden"):
                first = cell.source.partition("\n")[0]
                assert not re.match(r"(import|from) ", first), f"{name}: a folded cell shows {first}"


def test_numbers_of_sentences_are_in_the_words(made):
    notebook = made["paper/3-3-weighted-spa"]
    run = execute.find(execute.BOOK / "paper/3-3-weighted-spa.md")
    said = copies.glued(execute.code_cells(run))
    words = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    assert f"β₀ = {said['natural']}" in words and f"the {said['n_scorers']} scorers" in words


def test_links_between_copies_lead_somewhere(made, html):
    heads = {
        name: {
            "-".join(one_line(re.sub(r"[*\\`$]|\[([^]]*)\]\([^)]*\)", r"\1", line.lstrip("# "))).split())
            for c in notebook.cells
            if c.cell_type == "markdown"
            for line in c.source.splitlines()
            if line.startswith("#")
        }
        for name, notebook in made.items()
    }
    count = 0
    for name, notebook in made.items():
        here = (html / copies.FOLDER / name).parent
        for cell in notebook.cells:
            for address in re.findall(
                r"\]\(([^)]+?\.ipynb[^)]*)\)", cell.source if cell.cell_type == "markdown" else ""
            ):
                path, _, head = address.partition("#")
                assert (here / path).is_file(), f"{name}: {address}"
                count += 1
                if head and "math" not in head and not re.search(r"[*$`\\]", head):
                    there = (here / path).resolve().relative_to(html / copies.FOLDER).with_suffix("").as_posix()
                    assert head.replace("%28", "(").replace("%29", ")") in heads[there] or "β" in head or "_" in head, (
                        f"{name}: {address}"
                    )
    assert count > 1000


def test_solutions_are_folded_and_live_figures_are_a_line(made):
    for name, notebook in made.items():
        for cell in notebook.cells:
            if cell.cell_type == "markdown" and cell.source.startswith("<details><summary>Solution"):
                assert cell.source.rstrip().endswith("</details>"), name
            assert "wb-small" not in str(cell.get("outputs", "")), f"{name}: a live figure among the outputs"
