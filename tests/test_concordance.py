"""The concordance and the references: every label exists, every number of the paper is there, every entry is cited and can be found."""

import re
import sys
from pathlib import Path

import execute
import pytest
from pybtex.database import parse_file

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT / "book"
SOURCES = {path: path.read_text("utf-8") for path in execute.pages()}
PAGE = (BOOK / "claims.md").read_text("utf-8").partition("(sec-concordance)=\n")[2].partition("(sec-status)=\n")[0]
PAPER = ROOT.parent / "shared" / "paper.tex"
COUNTS = {"Proposition": 1, "Theorem": 5, "Algorithm": 1, "Figure": 9, "Table": 7}
EQUATIONS = 60

sys.path.insert(0, str(BOOK / "_ext"))
import authoryear  # noqa: E402

ENTRIES = parse_file(BOOK / "references.bib").entries
# Neither a DOI nor an address could be verified for these.
WITHOUT = {"kish-1965-survey", "krippendorff-2004-content", "buck-1943-partition", "gnanadesikan-kettenring-1972-robust",
           "wu-2007-karush", "mariana-etal-2015-multidimensional"}  # fmt: skip
# Nor pages, for these.
PAGELESS = {"shayegh-etal-2025-feeding", "white-etal-1994-arpa", "riley-etal-2024-finding"}


def rows():
    return [
        [cell.strip() for cell in line.strip("|\n").split("|")] for line in PAGE.splitlines() if line.startswith("| ")
    ]


def test_every_label_of_the_concordance_is_in_the_book():
    book = "\n".join(SOURCES.values())
    found = re.findall(r"\{(prf:ref|numref|eq|ref)\}`([^`]+)`", PAGE)
    assert len(found) > 60
    patterns = {"prf:ref": ":label: {}\n", "numref": "name: {}\n", "eq": "({})", "ref": "({})=\n"}
    for role, label in found:
        assert patterns[role].format(label) in book, label


def test_every_number_of_the_paper_is_listed_once():
    first = [row[0] for row in rows()]
    for kind, count in COUNTS.items():
        assert [n for n in first if n.startswith(kind)] == [f"{kind} {n}" for n in range(1, count + 1)]
    listed = []
    for low, high in re.findall(r"\((\d+)\)(?:–\((\d+)\))?", " ".join(first)):
        listed += range(int(low), int(high or low) + 1)
    assert sorted(listed) == list(range(1, EQUATIONS + 1))


def test_titles_and_captions_name_the_number_of_the_concordance():
    """The block or figure behind a row says the same number."""
    book = "\n".join(SOURCES.values())
    for row in rows():
        kind, _, number = row[0].partition(" ")
        for label in (
            re.findall(r"\{prf:ref\}`([^`]+)`", " ".join(row[2:])) if kind in ("Proposition", "Theorem") else ()
        ):
            title = re.search(r"\{prf:\w+\} ([^\n]*)\n:label: " + label + "\n", book)[1]
            assert f"{kind} {number}" in title and "of the paper" in title, title
        for label in re.findall(r"\{numref\}`([^`]+)`", row[2]) if kind == "Figure" else ():
            caption = " ".join(re.search(rf"name: {label}\n\s+caption: (.*?)\n\s+image:", book, re.S)[1].split())
            assert f"{kind} {number} of the paper" in caption, caption


def numbered_lines(tex):
    """How many equations LaTeX numbers: each line of an align that has neither a tag nor a \\notag."""
    count = 0
    for body in re.findall(r"\\begin\{align\}(.*?)\\end\{align\}", tex, re.S):
        body = re.sub(r"\\begin\{pmatrix\}.*?\\end\{pmatrix\}", "", body, flags=re.S)
        lines = [line for line in re.split(r"\\\\(?:\[[^\]]*\])?", body) if line.strip()]
        count += sum(not re.search(r"\\(tag|notag|nonumber)\b", line) for line in lines)
    return count


@pytest.mark.skipif(not PAPER.exists(), reason="the paper's source is not beside the project")
def test_the_paper_has_these_numbers():
    tex = re.sub(r"(?<!\\)%.*", "", PAPER.read_text("utf-8"))
    assert numbered_lines(tex) == EQUATIONS
    floats = {
        kind: re.findall(rf"\\begin\{{{kind}\*?\}}(.*?)\\end\{{{kind}\*?\}}", tex, re.S) for kind in ("figure", "table")
    }
    labels = {
        kind: [re.search(r"\\label\{(.*?)\}", body)[1] for body in found if "\\caption" in body]
        for kind, found in floats.items()
    }
    assert labels["figure"] == ["fig:1", "fig:2", "fig:3", "fig:heatmap", "fig:metrics", "fig:instability_placeholder",
                                "fig:results_all", "fig:results_pearson", "fig:all_heatmaps"]  # fmt: skip
    assert labels["table"] == ["tab:solve-exact-operation-counts", "tab:solve-exact-theorem-invocations", "tab:dataset_tau",
                               "tab:dataset-core", "tab:dataset-betaij", "tab:dataset-mqm", "tab:dataset-scorers"]  # fmt: skip
    theorems = re.findall(r"\\begin\{restatable\}\[(.*?)\]\{theorem\}", tex)
    assert theorems == [
        "Reachable range",
        "Bounded candidate count",
        "Admissible supports",
        "Support size bound",
        "Exit certificate",
    ]
    assert len(re.findall(r"\\begin\{proposition\}", tex)) == len(re.findall(r"\\begin\{algorithm\}", tex)) == 1


# References


def test_every_entry_is_cited_and_every_citation_is_an_entry():
    cited = {
        key.strip()
        for text in SOURCES.values()
        for keys in re.findall(r"\{cite[^}]*\}`([^`]+)`", text)
        for key in keys.split(",")
    }
    assert cited == set(ENTRIES)


def test_every_entry_can_be_found():
    for key, entry in ENTRIES.items():
        assert {"title", "year"} <= set(entry.fields), key
        there = bool({"doi", "url"} & set(entry.fields)) or "https://" in entry.fields.get("note", "")
        assert there == (key not in WITHOUT), key
        if entry.type in ("article", "inproceedings"):
            assert ("pages" in entry.fields) == (key not in PAGELESS), key


def test_labels_tell_entries_apart():
    labels = [authoryear.label(entry) for entry in ENTRIES.values()]
    assert len(set(labels)) == len(labels)
    assert {"Shayegh and Kazemi, 2026", "Freitag et al., 2021a", "Kendall, 1938", "Soch et al., 2025"} <= set(labels)
