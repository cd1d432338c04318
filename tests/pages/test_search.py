"""What people type, and the page that should stand first: the book's own index, searched as the page of results does."""

import json

import pytest
from nodejs import node

FIRST = {
    "metric": "book/use/glossary.html#term-scorer",
    "scorer": "book/use/glossary.html#term-scorer",
    "install": "book/index.html",
    "significance": "book/beyond/which-differences.html",
    "significant": "book/beyond/which-differences.html",
    "beta": "book/paper/3-1-balance.html",
    "β": "book/paper/3-1-balance.html",
    "rank my metric": "book/use/your-own-scores.html",
    "my metric": "book/use/your-own-scores.html",
    "which metric is best": "book/use/explorer.html",
    "best metric": "book/use/explorer.html",
    "reproduce": "book/claims.html",
    "datasets": "book/appendix/d-datasets.html",
    "mqm": "book/paper/2-background.html",
    "spa": "book/use/glossary.html#term-soft-pairwise-accuracy",
    "soft pairwise accuracy": "book/use/glossary.html#term-soft-pairwise-accuracy",
    "ess": "book/use/glossary.html#term-effective-sample-size",
    "effective sample size": "book/use/glossary.html#term-effective-sample-size",
    "adequacy": "book/use/glossary.html#term-adequacy",
    "fluency": "book/use/glossary.html#term-fluency",
    "p-value": "book/use/glossary.html#term-p-value",
    "choose beta": "book/use/calibration.html",
    "slides": "book/use/teaching.html",
    "command line": "book/use/command-line.html",
    "python": "book/use/api.html",
    "how sure is beta": "book/sure/noise.html",
}


@pytest.fixture(scope="module")
def index(html):
    text = (html / "_static" / "found-index.js").read_text("utf-8")
    return json.loads(text.removeprefix("window.whichbirdIndex = ").rstrip(";\n").replace("<\\/", "</"))


@pytest.mark.parametrize("query", FIRST)
def test_the_page_that_answers_stands_first(index, query):
    found = node(
        "return load('found').best(data.query, data.index).slice(0, 5).map((h) => h.entry[2]);",
        {"query": query, "index": index},
    )
    assert found[0] == FIRST[query], found
