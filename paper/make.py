"""Makes the articles of this folder: `make records`.

joss.md and jose.md are written by hand; their front matter is made here from paper/authors.yml, CITATION.cff and the date of the release.
replication.md is made from data/published/claims.csv: what was judged, what was not met, and why. A claim has a reason exactly where it is not met;
the build of the book stops otherwise, so the counts here are those of the page *The paper, claim by claim*.
"""

import re
import sys
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "book"))
import judge
import records

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "paper"
TITLES = {
    "joss.md": "Whichbird: measuring and steering the adequacy–fluency balance of machine-translation meta-evaluation",
    "jose.md": "Whichbird: a runnable book and course on meta-evaluation of machine translation",
    "replication.md": "[Re] Mind Which Bird You Favour: Parameterizing Adequacy–Fluency Balance in Meta-Evaluation of Machine Translation",
}
STATEMENTS = {
    "funding": "Funding",
    "competing_interests": "Competing interests",
    "generative_tools": "Use of generative tools",
    "acknowledgements": "Acknowledgements",
}


def front(name):
    """Front matter as the journals ask for it; what is not known is left out."""
    _, project, own = records.known()
    people = own["authors"] or [{"name": records.people()[0]["name"]}]
    places = list(dict.fromkeys(one["affiliation"] for one in people if one.get("affiliation")))
    authors = [
        {k: one[k] for k in ("name", "orcid") if one.get(k)}
        | ({"affiliation": places.index(one["affiliation"]) + 1} if one.get("affiliation") else {})
        for one in people
    ]
    record = {"title": TITLES[name], "tags": ["Python", *project["keywords"]], "authors": authors}
    record["affiliations"] = [{"name": place, "index": n} for n, place in enumerate(places, 1)]
    record |= {"date": records.released(), "bibliography": "../book/references.bib"}
    told = {key: value for key, value in record.items() if value}
    return f"---\n{yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=120)}---\n"


def statements():
    own = records.known()[2]
    return "".join(f"\n## {title}\n\n{own[key]}\n" for key, title in STATEMENTS.items() if own[key])


def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def replication():
    claims = judge.read(ROOT / "data/published/claims.csv")
    findings = [c for c in claims if c.kind != "set-up"]
    rows, unmet = [], []
    for section, title in judge.SECTIONS.items():
        some = [c for c in claims if c.section == section]
        if some:
            found = [c for c in some if c.kind != "set-up"]
            met = sum(not c.reason for c in found)
            rows.append(
                f"| {f'{section} {title}'.strip()} | {len(some) - len(found)} | {len(found)} | {met} | {len(found) - met} |"
            )
            unmet += [
                f"| {cell(c.place)} | {cell(c.claim)} | {cell(c.printed)} | {cell(c.reason)} |"
                for c in some
                if c.reason
            ]
    met = sum(not c.reason for c in findings)
    return f"""{front("replication.md")}
<!-- Made by paper/make.py from data/published/claims.csv; change those. -->

# What was done

The paper by Shayegh and Kazemi [@shayegh-kazemi-2026-mind] measures how much a meta-evaluation of machine-translation metrics rewards adequacy, and reweights systems so that
it rewards as much of it as one wants. We wrote its method anew, from the paper, and applied it to the public release of the WMT metrics tasks. Each claim that we could find was written down in our words, with
a rule that says when it is met, and a chapter of the book leaves a record that the rule is applied to. Most results were known when the rules were chosen; the page of the book says so, and which rules were changed later.

# What came out

Of {len(claims)} rows, {len(claims) - len(findings)} say how the study was laid out and {len(findings)} claim something. **{met} of these {len(findings)} are met** (the figure is ours to the printed digit, or
the statement holds by its rule), and {len(findings) - met} are not, or only in part, or could not be tried.

| section | set-up | claims | met | not met |
|---|---|---|---|---|
{chr(10).join(rows)}

# What is not met, and why

| place | claim | printed | reason |
|---|---|---|---|
{chr(10).join(unmet)}

# How to do it again

`make book` runs every chapter, judges every claim and stops if one has another status than this file says; `make test` runs them as tests; `make data` makes the tables anew from the public release. The data
are described in `data/README.md`, the tables that one command makes in `codecheck.yml`.
{statements()}"""


def written(name):
    """An article as it should be: the replication made, the others with today's front matter and statements."""
    if name == "replication.md":
        return replication()
    body = re.sub(r"\A---\n.*?^---\n", "", (HERE / name).read_text("utf-8"), count=1, flags=re.M | re.S)
    return front(name) + body.partition("<!-- statements -->")[0] + "<!-- statements -->\n" + statements()


def stale():
    return [n for n in TITLES if not (HERE / n).exists() or (HERE / n).read_text("utf-8") != written(n)]


if __name__ == "__main__":
    for name in stale():
        (HERE / name).write_text(written(name), "utf-8")
        print(f"paper/{name}")
