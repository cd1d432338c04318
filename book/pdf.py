"""One PDF of the whole book, from the pages that `make book` has built: title page, contents with page numbers, every page in order, working links.

    python book/pdf.py [--code]        writes _build/pdf/whichbird.pdf; --code prints code and solutions too

The pages are put into one file, with addresses and links made unique, and a headless Chromium prints it with the book's own rules for print. It prints
twice: the page numbers in the contents are where links of the first PDF lead to. Dates in the file are set to a fixed day, so that
the same pages, browser and fonts give the same text on the same pages.
"""

from __future__ import annotations

import argparse
import base64
import os
import re
import shutil
import sys
from html import escape
from pathlib import Path
from typing import Any

import numbering
import yaml
from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parents[1]
HTML = ROOT / "_build" / "html"
OUT = ROOT / "_build" / "pdf"
PATIENCE = 1800  # seconds; a busy machine takes minutes for some hundred pages
FURNITURE = "a.headerlink, .wb-cite, .wb-cards, .chapter-downloads, script, style, button:not(.wb-go)"
CODE = "details.wb-code, div.solution"
SKIN = """
html, body { background: #fff; }
.book-page { break-before: page; }
.book-title { height: 240mm; display: flex; flex-direction: column; justify-content: center; }
.book-title img { height: 42mm; width: auto; align-self: flex-start; background: none !important; }
.book-title h1 { font-size: 3.4rem; margin: 10mm 0 2mm; }
.book-contents { break-before: page; line-height: 1.36 !important; }
.book-contents h2 { font-size: 1.05rem; margin: 0.7rem 0 0.1rem; break-after: avoid; }
.book-contents a { display: flex; text-decoration: none !important; color: inherit !important; gap: 0.5em; break-inside: avoid; }
.book-contents a b { font-weight: normal; }
.book-contents a i { flex: 1; border-bottom: 1px dotted var(--wb-faint); margin-bottom: 0.35em; }
@page :first { @bottom-center { content: ""; } }
"""


class NoBrowser(Exception):
    """There is no Chromium, or no driver for it."""


def parts() -> list[tuple[str, list[str]]]:
    """Captions and pages in the order of the book."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    return [("", [toc["root"]]), *((p["caption"], numbering.pages(p["chapters"])) for p in toc["parts"])]


def key(page: str) -> str:
    """What the addresses of a page begin with in the one file.

    >>> key("book/paper/3-1-balance")
    'paper-3-1-balance'
    """
    return re.sub(r"[^a-z0-9]+", "-", page.removeprefix("book/").lower())


def moved(link: str, page: str, pages: set[str]) -> str | None:
    """A link of a page in the one file; None if it leads to a file that is not in the book.

    >>> moved("../use/glossary.html#term-pool", "book/paper/1-introduction", {"book/use/glossary"})
    '#use-glossary--term-pool'
    """
    if re.match(r"[a-z]+:", link):
        return link
    file, _, place = link.partition("#")
    target = os.path.normpath(f"{Path(page).parent}/{file.partition('?')[0]}").removesuffix(".html") if file else page
    if target not in pages:
        return None
    return f"#{key(target)}--{place}" if place else f"#{key(target)}"


def article(page: str, pages: set[str], code: bool) -> tuple[str, str]:
    """Title and body of a built page, ready for the one file."""
    text = (HTML / f"{page}.html").read_text("utf-8")
    body = text.partition("<article")[2].partition("</article>")[0]
    soup = BeautifulSoup(f"<article{body}</article>", "html.parser").article
    for gone in soup.select(FURNITURE if code else f"{FURNITURE}, {CODE}"):
        gone.decompose()
    for details in soup.select("details"):
        details["open"] = ""
    for node in soup.select("[id]"):
        node["id"] = f"{key(page)}--{node['id']}"
    for image in soup.select("img[src]"):
        image["src"] = os.path.relpath(HTML / Path(page).parent / image["src"], OUT)
    for link in soup.select("a[href]"):
        target = moved(link["href"], page, pages)
        if target is None:
            link.unwrap()
        else:
            link["href"] = target
    title = soup.find("h1").get_text().strip()
    soup["id"] = key(page)
    soup["class"] = [*soup.get("class", []), "book-page"]
    return title, str(soup)


def one_file(code: bool = False) -> str:
    """The book as one page of HTML, with room for the page numbers in its contents."""
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    paper = cff["preferred-citation"]
    people = " and ".join(f"{a['given-names']} {a['family-names']}" for a in paper["authors"])
    every = parts()
    pages = {page for _, some in every for page in some}
    head = (HTML / f"{every[0][1][0]}.html").read_text("utf-8").partition("</head>")[0]
    base = f"{os.path.relpath(HTML / 'book', OUT)}/"
    sheets = [base + a for a in re.findall(r'<link[^>]*href="([^"?]*\.css)[^"]*"', head)]
    math = re.search(r"<script>(window\.MathJax = .*?)</script>", head)
    contents, bodies = [], []
    for caption, some in every:
        contents += [f"<h2>{escape(caption)}</h2>"] if caption else []
        for page in some:
            title, body = article(page, pages, code)
            contents.append(f'<a href="#{key(page)}"><span>{escape(title)}</span><i></i><b>000</b></a>')
            bodies.append(body)
    about = cff["title"].partition(": ")[2]
    return f"""<!DOCTYPE html>
<html lang="en" data-theme="light"{' data-wb-code="shown"' * code}><head><meta charset="utf-8"><title>{escape(cff["title"])}</title>
{"".join(f'<link rel="stylesheet" href="{sheet}">' for sheet in sheets)}
<style>{SKIN}</style>
<script>{math[1] if math else ""}</script>
<script defer src="{base}../_static/mathjax/tex-chtml.js"></script></head>
<body><main class="bd-main"><div class="bd-content"><div class="bd-article-container">
<section class="bd-article book-title"><img src="{base}../_static/mark.svg" alt="">
<h1>Whichbird</h1><p>{escape(about[:1].upper() + about[1:])}</p>
<p>{escape(" and ".join(a["name"] for a in cff["authors"]))}. Version {cff["version"]}. {escape(cff["license"])}.</p>
<p>It implements {escape(people)} ({paper["year"]}), <cite>{escape(paper["title"])}</cite>.</p></section>
<nav class="bd-article book-contents"><h1>Contents</h1>{"".join(contents)}</nav>
{"".join(bodies)}
</div></div></main></body></html>"""


class Pdf:
    """What a test or a table of contents asks of a PDF as Chromium writes it: pages, named places, links."""

    def __init__(self, data: bytes):
        found = re.finditer(rb"(?:^|\n)(\d+) 0 obj\s(.*?)\sendobj", data, re.S)
        self.objects = {int(m[1]): m[2] for m in found}
        tops = [o for o in self.objects.values() if re.search(rb"/Type\s*/Catalog\b", o)]
        if not tops:
            raise ValueError("this is no PDF that Chromium wrote")
        self.pages = list(self._leaves(self._ref(tops[0], b"Pages")))
        place = {number: n for n, number in enumerate(self.pages, 1)}
        names = re.search(rb"/Dests (\d+) 0 R", tops[0])
        told = self.objects[int(names[1])] if names else b""
        self.places = {self._name(m[1]): place[int(m[2])] for m in re.finditer(rb"/(\S+?)\s*\[(\d+) 0 R\s*/XYZ", told)}

    def _ref(self, text: bytes, name: bytes) -> int:
        return int(re.search(rb"/" + name + rb" (\d+) 0 R", text)[1])

    def _leaves(self, number: int):
        kids = re.search(rb"/Kids\s*\[(.*?)\]", self.objects[number], re.S)
        if kids is None:
            yield number
            return
        for kid in re.findall(rb"(\d+) 0 R", kids[1]):
            yield from self._leaves(int(kid))

    @staticmethod
    def _name(raw: bytes) -> str:
        return re.sub(rb"#([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), raw).decode("utf-8", "replace")

    def links(self) -> list[str]:
        """Names of the places that links inside the file lead to."""
        return [self._name(m) for o in self.objects.values() for m in re.findall(rb"/Dest /([^\s/>\]]+)", o)]


def browser() -> Any:
    """A headless Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not (chromium and driver):
        raise NoBrowser("The PDF needs Chromium and its driver (chromium, chromedriver), and they were not found.")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"):
        options.add_argument(flag)
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    chrome.command_executor.client_config.timeout = PATIENCE
    return chrome


def printed(chrome: Any, numbers: dict[str, int]) -> bytes:
    """The open file as PDF, with these page numbers in its contents."""
    fill = "for (const [k, n] of Object.entries(arguments[0])) document.querySelector(`.book-contents a[href='#${k}'] b`).textContent = n"
    chrome.execute_script(fill, numbers)
    asked = {
        "printBackground": True,
        "preferCSSPageSize": True,
        "generateTaggedPDF": True,
        "generateDocumentOutline": True,
    }
    return base64.b64decode(chrome.execute_cdp_cmd("Page.printToPDF", asked)["data"])


def book(code: bool = False) -> Path:
    """Write the PDF. Raises `NoBrowser`, and `RuntimeError` if page numbers do not settle."""
    OUT.mkdir(parents=True, exist_ok=True)
    file, target = OUT / "whichbird.html", OUT / "whichbird.pdf"
    numbers: dict[str, int] = {}
    with browser() as chrome:
        file.write_text(one_file(code), "utf-8")
        chrome.get(file.as_uri())
        chrome.set_script_timeout(PATIENCE)
        chrome.execute_async_script("const done = arguments[0]; MathJax.startup.promise.then(() => done())")
        for _ in range(3):
            data = printed(chrome, numbers)
            places = Pdf(data).places
            now = {key(page): places[key(page)] for _, some in parts() for page in some}
            if now == numbers:
                break
            numbers = now
        else:
            raise RuntimeError("The page numbers of the contents do not settle.")
    data = re.sub(rb"\(D:\d{14}([^)]*)\)", rb"(D:20260101000000\1)", data)
    part = target.with_suffix(".part")
    part.write_bytes(data)
    os.replace(part, target)
    return target


def main() -> int:
    parser = argparse.ArgumentParser(description="Make one PDF of the book.")
    parser.add_argument("--code", action="store_true", help="print code and solutions, too")
    code = parser.parse_args().code
    if not (HTML / "book" / "index.html").exists():
        print("The book is not built: run 'make book' first.", file=sys.stderr)
        return 1
    try:
        target = book(code)
    except NoBrowser as reason:
        print(reason, file=sys.stderr)
        return 1
    print(f"The book is at {target.relative_to(ROOT)}, {len(Pdf(target.read_bytes()).pages)} pages.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
