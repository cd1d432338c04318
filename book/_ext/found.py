"""An index of what people look for: terms, statements, scorers, names of the library, chapters and sections, each with the words that stand there.

Sphinx's search splits words, drops β, and fetches pages to quote them, which a browser refuses from disk. This index is made from the built pages, as a
classic script that `book/assets/found.js` searches; what it finds stands above Sphinx's own results.

Entries are `[kind, title, address, text, other names]`; the address is relative to the root of the site.
"""

import json
import re
from pathlib import Path

from bs4 import BeautifulSoup, NavigableString

import whichbird as wb

GLOSSARY = "book/use/glossary"
SKIP = "details.wb-code, details.wb-cite, .wb-cards, pre, script, style, a.headerlink, .chapter-opening, .eqno, div.math, .wb-live"
# What newcomers type, and the page or the term that answers it; the words of titles and terms need no line here.
ASKED = {
    "book/index": ["install", "pip install", "how to run", "cite", "start"],
    "book/claims": ["reproduce", "replication", "claims", "concordance", "versions"],
    "book/use/explorer": ["which metric is best", "best metric", "ranking", "rank metrics", "interactive"],
    "book/use/your-own-scores": [
        "rank my metric",
        "my metric",
        "evaluate my metric",
        "own metric",
        "my own scores",
        "score file",
    ],
    "book/paper/2-background": ["mqm", "wmt", "meta-evaluation", "permutation"],
    "book/paper/3-1-balance": ["beta", "balance beta", "what is beta"],
    "book/paper/4-3-main-results": ["results", "main result"],
    "book/beyond/which-differences": [
        "significance",
        "significant",
        "confidence interval",
        "noise",
        "is it significant",
    ],
    "book/sure/noise": ["how sure is beta", "uncertainty", "error bars"],
    "book/use/calibration": ["choose beta", "which beta", "calibrate"],
    "book/use/teaching": ["slides", "course", "teaching", "exercises"],
    "book/appendix/d-datasets": ["datasets", "data", "add a dataset"],
    "book/use/command-line": ["command line", "cli"],
    "book/use/api": ["python", "api"],
    "term-scorer": ["metric", "metrics"],
}
GREEK = dict(
    zip(
        "alpha beta gamma delta epsilon eta theta kappa lambda mu rho sigma tau omega Sigma Omega".split(),
        "αβγδεηθκλμρστωΣΩ",
        strict=True,
    )
)


def plain(node):
    """The words of an element, formulas as they are read if they are short."""
    text = " ".join(node.get_text(" ").split())
    text = re.sub(r"\\\((.*?)\\\)", lambda m: _formula(m[1]), text)
    return re.sub(r"\s+([,.;:)’])", r"\1", text).replace("( ", "(")


def _formula(tex):
    """A short formula in plain letters; a long one as dots.

    >>> _formula(r"\\\\beta_0")
    'β0'
    """
    tex = re.sub(r"\\([A-Za-z]+)", lambda m: GREEK.get(m[1], " "), tex)
    tex = re.sub(r"[{}_\\ ]", "", tex)
    return tex if len(tex) <= 12 else "…"


def entries(page, address):
    """The index of one page: its terms, statements, names, and sections with their text."""
    body = page.partition("<article")[2].partition("</article>")[0]
    body = re.sub(
        r"<(pre|script|style|svg)\b.*?</\1>", "", body, flags=re.S
    )  # most of a page, and nothing to read in it
    article = BeautifulSoup(f"<article{body}</article>", "html.parser").select_one("article.bd-article")
    if article is None:
        return []
    for gone in article.select(SKIP):
        gone.decompose()
    out = []
    for dt in article.select("dl.glossary dt[id]"):
        meaning = plain(dt.find_next_sibling("dd"))
        short = re.match(r"([^\W\d_]{1,5})[,.] ", meaning)  # "β, adequacy's share …", "ESS. How many …"
        other = [short[1]] if short and (short[1].isupper() or not short[1].isascii()) else []
        out.append(["term", plain(dt), f"{address}#{dt['id']}", meaning, [*other, *ASKED.get(dt["id"], [])]])
    for dt in article.select("dl.py dt[id]"):
        meaning = plain(dt.find_next_sibling("dd") or dt)
        out.append(["name", dt["id"], f"{address}#{dt['id']}", meaning[:300], [dt["id"].rpartition(".")[2]]])
    for box in article.select("div.proof[id]:has(> .admonition-title)"):
        head = plain(box.select_one(".admonition-title"))
        kind, _, name = head.partition(" (")
        if name:
            words = plain(box.select_one("section") or box)
            out.append(["statement", name.removesuffix(")"), f"{address}#{box['id']}", words[:400], [kind]])
    if address.startswith(GLOSSARY):
        out += _notation(article, address)
    for section in article.select("section[id]"):
        heading = section.find(re.compile("h[1-4]"), recursive=False)
        if heading is None:
            continue
        title, kind = plain(heading), "chapter" if heading.name == "h1" else "section"
        words = " ".join(plain(child) for child in _own(section) if child is not heading)
        where = address if kind == "chapter" else f"{address}#{section['id']}"
        out.append(
            [
                kind,
                title,
                where,
                " ".join(words.split()),
                ASKED.get(address.removesuffix(".html"), []) if kind == "chapter" else [],
            ]
        )
    return out


def _own(section):
    """Elements of a section that are not in a section with a heading of its own."""
    for child in section.children:
        if isinstance(child, NavigableString):
            continue
        if child.name == "section" and child.find(re.compile("h[1-4]"), recursive=False):
            continue
        if child.name == "dl" and {"glossary", "py"} & set(child.get("class", [])):
            continue
        yield child


def _notation(article, address):
    """Public names that the tables of notation explain."""
    for row in article.select("table tr"):
        cells = row.select("td")
        names = [c.get_text() for c in cells[3].select("code")] if len(cells) == 5 else []
        for name in names:
            known = re.match(r"wb\.(\w+)", name)
            if known:
                link = cells[4].select_one("a[href]")
                where = _joined(address, link["href"]) if link else address
                yield ["name", f"wb.{known[1]}", where, plain(cells[1]), [known[1]]]


def _joined(address, link):
    parts = Path(address).parent.joinpath(link.partition("#")[0]).parts if link[0] != "#" else (address,)
    out = []
    for part in parts:
        out = out[:-1] if part == ".." else [*out, part]
    return "/".join(out) + ("#" + link.partition("#")[2] if "#" in link else "")


def scorers(index):
    """Every scorer that ships, where a sentence of the paper's chapters, or else of the book, first names it; else the explorer, which ranks it."""
    where = {}
    for name in wb.datasets():
        for scorer in wb.load(name).scorers:
            where.setdefault(scorer, []).append(name)
    texts = [e for e in index if e[0] in ("section", "chapter")]
    texts.sort(key=lambda e: not e[2].startswith("book/paper/"))  # where it is introduced, not where it is used
    for scorer, sets in sorted(where.items()):
        told = re.compile(rf"(?<![\w-]){re.escape(scorer)}(?![\w-])")
        found = next((e for e in texts if told.search(e[3])), None)
        judged = f"Scorer of {', '.join(sets)}."
        if found:
            at = told.search(found[3]).start()
            start = max(found[3].rfind(". ", 0, at) + 2, 0) if ". " in found[3][:at] else 0
            yield ["scorer", scorer, found[2], f"{found[3][start : start + 220].strip()} … {judged}", []]
        else:
            yield [
                "scorer",
                scorer,
                f"book/use/explorer.html?dataset={sets[-1]}",
                f"{judged} The explorer ranks it.",
                [],
            ]


def in_order(env, name):
    yield name
    for child in env.toctree_includes.get(name, []):
        yield from in_order(env, child)


def write(app, error):
    if error is not None or app.builder.format != "html":
        return
    index = []
    for name in in_order(app.env, app.config.root_doc):
        file = Path(app.outdir, f"{name}.html")
        if file.exists():
            index += entries(file.read_text("utf-8"), f"{name}.html")
    index += scorers(index)
    script = json.dumps(index, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    Path(app.outdir, "_static", "found-index.js").write_text(f"window.whichbirdIndex = {script};\n", "utf-8")


def ask(app, pagename, templatename, context, doctree):
    if pagename == "search":
        app.add_js_file("found.js", loading_method="defer")


def setup(app):
    app.connect("html-page-context", ask)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
