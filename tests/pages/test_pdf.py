"""The whole book as one PDF: contents, page numbers, links, and no code."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "book"))
import numbering
import pdf


@pytest.fixture(scope="module")
def book(html):
    try:
        return pdf.book()
    except pdf.NoBrowser as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def text(book):
    """The words of each page."""
    if not shutil.which("pdftotext"):
        pytest.skip("pdftotext is not installed: the words of the PDF are not checked")
    out = subprocess.run(["pdftotext", "-layout", str(book), "-"], capture_output=True, check=True).stdout.decode(
        "utf-8"
    )
    return out.split("\f")[:-1]


def test_every_link_leads_to_a_place(book):
    read = pdf.Pdf(book.read_bytes())
    links = read.links()
    assert len(read.pages) > 100 and len(links) > 500
    assert set(links) <= set(read.places)


def test_contents_name_every_page_and_where_it_begins(book, text):
    read = pdf.Pdf(book.read_bytes())
    assert len(text) == len(read.pages)
    contents = "\n".join(text[1 : read.places["index"] - 1])
    entries = re.findall(r"^\s*(\S.*?)\s{2,}(\d+)$", contents, re.M)
    every = [page for _, some in pdf.parts() for page in some]
    assert len(entries) == len(every)
    numbers = numbering.chapters()
    for (title, number), page in zip(entries, every, strict=True):
        assert int(number) == read.places[pdf.key(page)]
        begin = text[int(number) - 1]
        assert " ".join(title.split()[:4]) in " ".join(begin.split()), f"{title} is not on page {number}"
        assert title.split()[0] == numbers.get(page, title.split()[0])
        assert begin.rstrip().splitlines()[-1].strip() == number  # the number at the foot


def test_title_page_and_no_code(text):
    assert text[0].split()[0] == "Whichbird" and "Shayegh" in text[0]
    whole = "\n".join(text)
    assert "Solution to" not in whole and not re.search(
        r"^\s*import numpy", whole, re.M
    )  # examples of the reference have a prompt
    assert "def algorithm_1" in whole  # a lesson is printed
    assert not re.search(r"^\s*Show all code\s*$", whole, re.M) and "Cite this page" not in whole
