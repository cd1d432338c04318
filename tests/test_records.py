"""What machines and journals read is what the repository says: every made file is made again, byte for byte, and what it names is there."""

import hashlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "paper"))
import make
import records
import release

ROOT = Path(__file__).resolve().parents[1]
CROISSANT = json.loads((ROOT / "data/croissant.json").read_text("utf-8"))


def test_made_files_are_as_they_would_be_made():
    assert records.stale() == [] and make.stale() == [], "run 'make records'"


def test_codemeta_agrees_with_citation_and_project():
    made = json.loads((ROOT / "codemeta.json").read_text("utf-8"))
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    project = tomllib.loads((ROOT / "lib/pyproject.toml").read_text("utf-8"))["project"]
    assert (made["version"], made["author"][0]["name"]) == (citation["version"], citation["authors"][0]["name"])
    assert made["license"].endswith(citation["license"]) and citation["license"] == project["license"]
    assert (made["name"], made["softwareRequirements"]) == (project["name"], project["dependencies"])


def test_croissant_lists_every_file_with_its_hash_and_every_column():
    listed = {one["@id"]: one for one in CROISSANT["distribution"]}
    assert set(listed) == set(json.loads((ROOT / "data/manifest.json").read_text("utf-8"))["files"])
    for name, one in listed.items():
        assert one["sha256"] == hashlib.sha256((ROOT / "data" / name).read_bytes()).hexdigest()
    assert {f"{table['@id']}.csv" for table in CROISSANT["recordSet"]} == {
        name for name in listed if name.endswith(".csv")
    }
    for table in CROISSANT["recordSet"]:
        header = (ROOT / f"data/{table['@id']}.csv").read_text("utf-8").partition("\n")[0]
        assert [f["source"]["extract"]["column"] for f in table["field"]] == header.split(",")
    assert CROISSANT["license"] and CROISSANT["citeAs"].startswith("@article")


def test_croissant_is_valid():
    mlcroissant = pytest.importorskip("mlcroissant")
    mlcroissant.Dataset(jsonld=ROOT / "data/croissant.json")


def test_codecheck_lists_what_is_there():
    made = yaml.safe_load((ROOT / "codecheck.yml").read_text("utf-8"))
    files = {one["file"] for one in made["manifest"]}
    by_hand = {"data/tuned_systems.csv"}  # of the tables; those of `published/` and `taxonomies/` are, too
    tables = {f"data/{path.name}" for path in (ROOT / "data").glob("*.csv")} - by_hand
    assert files == tables | set(records.figures())  # that the figures are there is for tests/pages, after a build


def test_the_first_page_carries_both_records():
    content = re.fullmatch(r'<script type="application/ld\+json">(.*)</script>', records.linked())[1]
    assert [one["@type"] for one in json.loads(content)["@graph"]] == [
        "SoftwareSourceCode",
        "Dataset",
    ] and "<" not in content


def test_the_replication_counts_what_the_claims_say():
    text = (ROOT / "paper/replication.md").read_text("utf-8")
    claims = make.judge.read(ROOT / "data/published/claims.csv")
    rows = re.findall(r"^\| [^|]+ \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", text, re.M)
    setup, found, met, unmet = (sum(int(row[n]) for row in rows) for n in range(4))
    assert setup + found == len(claims) and met + unmet == found
    assert unmet == sum(bool(c.reason) for c in claims if c.kind != "set-up")


def test_articles_cite_what_the_bibliography_has():
    known = set(re.findall(r"^@\w+\{([^,]+),", (ROOT / "book/references.bib").read_text("utf-8"), re.M))
    for name in make.TITLES:
        cited = set(re.findall(r"@([a-z][\w-]+-\d{4}-\w+)", (ROOT / "paper" / name).read_text("utf-8")))
        assert cited and cited <= known, name


@pytest.mark.parametrize("name", ["jose.md", "joss.md"])
def test_articles_have_the_length_that_journals_ask_for(name):
    text = (ROOT / "paper" / name).read_text("utf-8").split("---\n", 2)[2].partition("\n# References")[0]
    assert 250 <= len(text.split()) <= 1000


def test_what_only_authors_know_stands_once():
    """Filled in, it reaches the papers; left empty, nobody guesses it."""
    own = yaml.safe_load((ROOT / "paper/authors.yml").read_text("utf-8"))
    assert {"repository", "doi", "contact", "authors", *make.STATEMENTS} <= set(own)
    for name in ("CODE_OF_CONDUCT.md", "SECURITY.md"):
        assert "paper/authors.yml" in (ROOT / name).read_text("utf-8")


def test_licences_are_told_apart():
    text = (ROOT / "LICENSE-text").read_text("utf-8")
    assert "CC-BY-4.0" in text and "Attribution 4.0 International Public License" in text
    footer = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["sphinx"]["config"]["html_theme_options"][
        "extra_footer"
    ]
    assert "CC BY 4.0" in footer and "Apache License 2.0" in footer and "To cite" in footer


def test_issue_templates_and_actions():
    for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml"):
        form = yaml.safe_load(path.read_text("utf-8"))
        assert form["name"] and form["description"] and form["body"]
    flow = (ROOT / ".github/workflows/pages.yml").read_text("utf-8")
    used = re.findall(r"uses: (\S+)", flow)
    assert used and all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", one) for one in used)


def test_a_release_refuses_what_is_not_committed(monkeypatch, tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    release.clean()
    (tmp_path / "new").write_text("x")
    with pytest.raises(SystemExit, match="new"):
        release.clean()
    with pytest.raises(SystemExit, match="failed"):
        release.call("false")
