"""Descriptions that machines read, made from what the repository already says: `make records`.

- `codemeta.json`: the software, from CITATION.cff and lib/pyproject.toml;
- `data/croissant.json`: the data, in Croissant 1.1: every file of data/manifest.json with its hash, every table with its columns;
- `codecheck.yml`: the tables that `make data` makes and the figures that `make book` makes, each with its command, for whoever checks that they can be made again;
- `linked()`: JSON-LD for the heads of pages (`book/_ext/chapter.py`).

What only the authors know comes from paper/authors.yml. Same repository, same bytes; tests/test_records.py compares.
"""

import csv
import json
import re
import sys
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
LICENCES = {"code": "https://spdx.org/licenses/Apache-2.0", "text": "https://spdx.org/licenses/CC-BY-4.0"}
FORMS = {".csv": "text/csv", ".json": "application/json", ".toml": "application/toml"}
CONTEXT = {  # that of the specification
    "@language": "en", "@vocab": "https://schema.org/", "arrayShape": "cr:arrayShape", "citeAs": "cr:citeAs", "column": "cr:column",
    "conformsTo": "dct:conformsTo", "containedIn": "cr:containedIn", "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/", "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"}, "dct": "http://purl.org/dc/terms/", "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"}, "extract": "cr:extract", "field": "cr:field", "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty", "fileSet": "cr:fileSet", "format": "cr:format", "includes": "cr:includes", "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath", "key": "cr:key", "md5": "cr:md5", "parentField": "cr:parentField",
    "path": "cr:path", "recordSet": "cr:recordSet", "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated",
    "replace": "cr:replace", "samplingRate": "cr:samplingRate", "sc": "https://schema.org/", "separator": "cr:separator",
    "source": "cr:source", "subField": "cr:subField", "transform": "cr:transform",
}  # fmt: skip


def known():
    """Citation, project and the authors' own file."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    project = tomllib.loads((ROOT / "lib/pyproject.toml").read_text("utf-8"))["project"]
    return citation, project, yaml.safe_load((ROOT / "paper/authors.yml").read_text("utf-8"))


def released():
    """The date of the newest dated section of the changelog, or None."""
    found = re.search(r"^## \d\S* \((\d{4}-\d\d-\d\d)\)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    return found and found[1]


def people():
    citation, _, own = known()
    if not own["authors"]:
        return [{"@type": "Organization", "name": citation["authors"][0]["name"]}]
    keys = {"name": "name", "orcid": "@id", "affiliation": "affiliation"}
    return [{"@type": "Person"} | {keys[k]: v for k, v in one.items()} for one in own["authors"]]


def cite():
    """How to cite, as BibTeX: the paper."""
    paper = known()[0]["preferred-citation"]
    names = " and ".join(f"{a['family-names']}, {a['given-names']}" for a in paper["authors"])
    return f"@article{{whichbird{paper['year']}, title={{{paper['title']}}}, author={{{names}}}, year={{{paper['year']}}}}}"


def _told(record):
    return {key: value for key, value in record.items() if value not in (None, "", [])}


def software():
    citation, project, own = known()
    return _told({
        "@type": "SoftwareSourceCode", "name": project["name"], "description": project["description"], "version": str(citation["version"]),
        "license": LICENCES["code"], "author": people(), "keywords": project["keywords"], "programmingLanguage": "Python",
        "runtimePlatform": f"Python {project['requires-python']}", "codeRepository": own["repository"], "identifier": own["doi"],
        "datePublished": released(),
    })  # fmt: skip


def codemeta():
    _, project, _ = known()
    record = {"@context": "https://doi.org/10.5063/schema/codemeta-2.0"} | software()
    record["softwareRequirements"] = project["dependencies"]
    record["referencePublication"] = known()[0]["preferred-citation"]["title"]
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def dataset():
    citation, project, own = known()
    return _told({
        "@type": "Dataset", "name": f"{project['name']}-data", "version": str(citation["version"]), "license": LICENCES["code"],
        "description": "Numbers derived from the WMT metrics tasks 2020 to 2024 (mt-metrics-eval-v2): system and segment scores of people and of metrics, "
        "p-values, tests and the tables of a runnable book on the adequacy-fluency balance. No source text, translation or error span.",
        "creator": people(), "keywords": project["keywords"], "url": own["repository"], "datePublished": released(),
    })  # fmt: skip


def croissant():
    files = json.loads((ROOT / "data/manifest.json").read_text("utf-8"))["files"]
    record = {"@context": CONTEXT} | dataset()
    record |= {"@type": "sc:Dataset", "conformsTo": "http://mlcommons.org/croissant/1.1", "citeAs": cite()}
    record["distribution"] = [
        {
            "@type": "cr:FileObject", "@id": name, "name": name, "contentUrl": name, "contentSize": f"{size} B",
            "encodingFormat": FORMS.get(Path(name).suffix, "application/octet-stream"), "sha256": checksum,
        }
        for name, (size, checksum) in files.items()
    ]  # fmt: skip
    record["recordSet"] = [_table(name) for name in files if name.endswith(".csv")]
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


def _table(name):
    with (ROOT / "data" / name).open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    at = name.removesuffix(".csv")
    return {
        "@type": "cr:RecordSet", "@id": at, "name": at,
        "field": [
            {
                "@type": "cr:Field", "@id": f"{at}/{column}", "name": f"{at}/{column}", "dataType": _kind([row[n] for row in rows]),
                "source": {"fileObject": {"@id": name}, "extract": {"column": column}},
            }
            for n, column in enumerate(header)
        ],
    }  # fmt: skip


def _kind(cells):
    """The type of a column: whole numbers, numbers (an empty cell is none), or text."""
    for kind, pattern in (("sc:Integer", r"-?\d+"), ("sc:Float", r"(-?\d+(\.\d*)?(e[-+]?\d+)?|-?inf|nan)?")):
        if any(cells) and all(re.fullmatch(pattern, cell, re.I) for cell in cells):
            return kind
    return "sc:Text"


def codecheck():
    """Tables and figures, each with the command that makes it again; tables written by hand are not listed. A figure is
    named by its page and its id there, since the builder names pictures after what they show."""
    citation, _, own = known()
    readme = (ROOT / "data/README.md").read_text("utf-8")
    program = (ROOT / "data/build.py").read_text("utf-8")
    products = re.search(r"^TABLES = \{\n(.*?)^\}", program, re.M | re.S)[1]
    names = re.findall(r'^    "(\w+)":', products, re.M) + re.findall(r'^[A-Z]+ = "(\w+)"', program, re.M)
    made = {f"data/{name}.csv": f"make data TABLES={name}" for name in names if (ROOT / f"data/{name}.csv").exists()}
    if lacks := [file for file in made if f"`{Path(file).name}`" not in readme]:
        raise SystemExit(f"data/README.md says nothing of {', '.join(lacks)}")
    made["data/vary.csv"] = "make vary WRITE=1"
    record = {
        "version": "https://codecheck.org.uk/spec/config/1.0/",
        "paper": _told({"title": citation["title"], "authors": [{"name": one["name"]} for one in people()], "reference": own["doi"]}),
        "manifest": [{"file": file, "comment": command} for file, command in (made | figures()).items()],
        "codechecker": own["codechecker"],
        "repository": own["repository"],
    }  # fmt: skip
    head = "# Made by `make records`. Figures are named by the page that shows them and their ids there.\n"
    return head + yaml.safe_dump(_told(record), sort_keys=False, allow_unicode=True, width=120)


def figures():
    """For every page with captioned figures of its own: the built page, and what makes it."""
    pages = {
        path: re.findall(r"^    name: (fig-\S+)$", path.read_text("utf-8"), re.M)
        for path in sorted((ROOT / "book").rglob("*.md"))
    }
    return {
        f"_build/html/{path.relative_to(ROOT).with_suffix('.html')}": f"make book: {' '.join(names)}"
        for path, names in pages.items()
        if names
    }


def linked():
    """JSON-LD for a page: the software and the data, as schema.org has them."""
    content = json.dumps({"@context": "https://schema.org", "@graph": [software(), dataset()]}, ensure_ascii=False)
    content = content.replace("<", "\\u003c")
    return f'<script type="application/ld+json">{content}</script>'


MADE = {"codemeta.json": codemeta, "data/croissant.json": croissant, "codecheck.yml": codecheck}


def stale():
    """Files that are not what would be made of the repository now."""
    return [n for n, make in MADE.items() if not (ROOT / n).exists() or (ROOT / n).read_text("utf-8") != make()]


if __name__ == "__main__":
    for name in stale():
        (ROOT / name).write_text(MADE[name](), "utf-8")
        sys.stdout.write(f"{name}\n")
