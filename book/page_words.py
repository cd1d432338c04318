"""Parts of a built page as Markdown that any program shows: for the working copies of `book/copies.py`.

Numbers that a cell gave to a sentence carry their key while the words are made, so that the sentences in which they stand are known.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from bs4 import BeautifulSoup, Comment, NavigableString, Tag

HEADS = ("h1", "h2", "h3", "h4")
MARK = re.compile(r"\ue000([^\ue001]*)\ue001([^\ue002]*)\ue002")  # a glued number: its key, its text


def one_line(text: str) -> str:
    return " ".join(text.split())


def escaped(text: str) -> str:
    r"""Text without what Markdown takes for marks.

    >>> escaped("2*3 [x] a_b $5 <b>")
    '2\\*3 \\[x\\] a\\_b \\$5 &lt;b>'
    """
    return re.sub(r"([\\*_`\[\]$])", r"\\\1", text).replace("<", "&lt;")


def formula(text: str) -> str:
    r"""What stands between the marks of a formula.

    >>> formula("\\(a\n< b\\)"), formula("\\[\\begin{split}\nx\n\\end{split}\\]")
    ('a < b', 'x')
    """
    text = one_line(text.strip().removeprefix("\\(").removesuffix("\\)").removeprefix("\\[").removesuffix("\\]"))
    return text.removeprefix("\\begin{split}").removesuffix("\\end{split}").strip()


def around(mark: str, text: str) -> str:
    """Text between marks, with the spaces outside.

    >>> around("**", " a ")
    ' **a** '
    """
    inner = text.strip()
    return text.replace(inner, f"{mark}{inner}{mark}", 1) if inner else text


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph in which a number is glued, with ⟦key⟧ in its place.

    >>> sentences("None. There are \ue000n\ue0013\ue002 of them. So (\ue000m\ue0014\ue002) it is.")
    ['There are ⟦n⟧ of them.', 'So (⟦m⟧) it is.']
    """
    parts = re.split(r"(?<=[.!?])(?<![A-Z]\.)(?<!e\.g\.)(?<!i\.e\.)[*)]*\s+(?=[*(]*[A-Z\ue000])", text)
    return [MARK.sub(r"⟦\1⟧", part.strip()) for part in parts if "\ue000" in part]


class Words:
    """Turns parts of a page into Markdown."""

    def __init__(self, page: Path, html: Path, keys: list[str]):
        self.page, self.html, self.keys = page, html, iter(keys)
        self.said: list[str] = []  # sentences with glued numbers

    # Inline

    def inline(self, node: Tag | NavigableString) -> str:
        if isinstance(node, NavigableString):
            return "" if isinstance(node, Comment) else escaped(re.sub(r"\s+", " ", node))
        return "".join(map(self._inline_child, node.children))

    def _inline_child(self, node: Any) -> str:
        if isinstance(node, NavigableString):
            return self.inline(node)
        classes = node.get("class", [])
        if "math" in classes:
            return f"${formula(node.get_text())}$"
        if "pasted-text" in classes:
            return f"\ue000{next(self.keys, '')}\ue001{escaped(node.get_text())}\ue002"
        if node.name in ("em", "i", "cite"):
            return around("*", self.inline(node))
        if node.name in ("strong", "b"):
            return around("**", self.inline(node))
        if node.name == "code":
            return f"`{one_line(node.get_text())}`"
        if node.name == "a":
            return self.link(node)
        if node.name == "img":
            return self.image(node)
        if node.name == "br":
            return "<br>"
        if node.name in ("sup", "sub"):
            return f"<{node.name}>{self.inline(node)}</{node.name}>"
        return self.inline(node)

    def link(self, node: Tag) -> str:
        words, address = self.inline(node), str(node.get("href", ""))
        if not words.strip() or not address:
            return words
        where = self.address(address)
        return f"[{words.strip()}]({where})" if where else words

    def address(self, address: str) -> str:
        """Where a link of the page leads from the copy: to another copy, at the section the anchor lies in."""
        if re.match(r"[a-z]+:", address):
            return address
        path, _, anchor = address.partition("#")
        target = Path(os.path.normpath(self.page.parent / path)) if path else self.page
        if not (target.suffix == ".html" and target.is_relative_to(self.html / "book") and target.is_file()):
            return ""  # a file of the site; the copy has none
        head = heading_of(target, anchor) if anchor else ""
        if target == self.page:
            return head and f"#{head}"
        file = os.path.relpath(target.with_suffix(".ipynb"), self.page.parent)
        return PurePosixPath(file).as_posix() + (f"#{head}" if head else "")

    def image(self, node: Tag) -> str:
        file = self.page.parent / str(node["src"]).partition("#")[0]
        kind = {"svg": "svg+xml"}.get(file.suffix[1:], file.suffix[1:])
        data = base64.b64encode(file.read_bytes()).decode()
        return f'<img alt="{node.get("alt", "")}" src="data:image/{kind};base64,{data}">'

    # Blocks

    def paragraph(self, node: Tag) -> str:
        text = one_line(self.inline(node)) if not node.find("img") else self.inline(node).strip()
        self.said += sentences(text)
        return re.sub(r"^([#+>-]|\d+[.)])(?=\s)", r"\\\1", MARK.sub(r"\2", text))

    def block(self, node: Tag) -> list[str]:
        """A block of the page, without cells, as blocks of Markdown."""
        classes = node.get("class", [])
        if node.name == "p":
            return [text] if (text := self.paragraph(node)) else []
        if "math" in classes:
            return [self.display(node)]
        if "highlight" in classes or node.name == "pre":
            outer = " ".join(
                c for parent in node.parents for c in parent.get("class", []) if c.startswith("highlight-")
            )
            language = re.sub(r"highlight-|ipython3|myst-ansi|default|notranslate", "", outer).strip()
            return [f"```{language}\n{node.get_text().rstrip()}\n```"]
        if node.name == "table":
            return [self.table(node)]
        if node.name in ("ul", "ol"):
            return [self.listing(node)]
        if node.name in ("dt", "summary"):
            return [around("**", one_line(MARK.sub(r"\2", self.inline(node))))]
        if node.name == "dd":
            return [indented(self.blocks(node), ": ")]
        if node.name == "details":
            return self.fold(node)
        if "admonition" in classes or "chapter-opening" in classes or node.name == "blockquote":
            return [quoted(self.boxed(node))]
        if node.name in HEADS:
            return [f"{'#' * int(node.name[1])} {one_line(self.inline(node))}"]
        if node.name == "figcaption":
            number = node.find(class_="caption-number")
            head = f"**{one_line(number.extract().get_text())}** " if number is not None else ""
            return [head + one_line(MARK.sub(r"\2", self._heard(self.inline(node))))]
        if node.name == "div" and "citation" in classes:
            return [one_line(self.inline(node))]
        return self.blocks(node)

    def _heard(self, text: str) -> str:
        self.said += sentences(one_line(text))
        return text

    def blocks(self, node: Tag) -> list[str]:
        """The content of a part of the page; loose text between blocks becomes a paragraph."""
        out: list[str] = []
        loose = ""
        for child in node.children:
            if isinstance(child, Comment):
                continue
            if isinstance(child, NavigableString) or child.name in (
                "a",
                "b",
                "em",
                "strong",
                "span",
                "code",
                "small",
                "i",
                "br",
                "img",
                "label",
                "input",
                "cite",
            ):
                loose += self.inline(child) if isinstance(child, NavigableString) else self._inline_child(child)
                continue
            if loose.strip():
                out.append(one_line(MARK.sub(r"\2", self._heard(loose))))
            loose = ""
            out += self.block(child)
        if loose.strip():
            out.append(one_line(MARK.sub(r"\2", self._heard(loose))))
        return out

    def boxed(self, node: Tag) -> list[str]:
        title = node.find("p", class_="admonition-title", recursive=False)
        head = [] if title is None else [around("**", one_line(self.inline(title.extract())))]
        return [*head, *self.blocks(node)]

    def fold(self, node: Tag) -> list[str]:
        summary = node.find("summary", recursive=False)
        words = one_line(summary.get_text()) if summary is not None else "more"
        if summary is not None:
            summary.extract()
        return [f"<details><summary>{words.replace('<', '&lt;')}</summary>", *self.blocks(node), "</details>"]

    def display(self, node: Tag) -> str:
        number = node.find(class_="eqno")
        tag = ""
        if number is not None:
            tag = rf" \tag{{{number.get_text().strip(' #()¶')}}}"
            number.extract()
        return f"$$ {formula(node.get_text())}{tag} $$"

    def table(self, node: Tag) -> str:
        rows = [
            [
                MARK.sub(r"\2", self._heard(one_line(" ".join(self.cell(c))))).replace("|", "\\|")
                for c in row.find_all(["th", "td"], recursive=False)
            ]
            for row in node.find_all("tr")
        ]
        rows = [row for row in rows if row]
        if not rows:
            return ""
        width = max(map(len, rows))
        rows = [row + [""] * (width - len(row)) for row in rows]
        lines = [rows[0], ["---"] * width, *rows[1:]]
        caption = node.find("caption")
        above = f"*{one_line(self.inline(caption))}*\n\n" if caption is not None else ""
        return above + "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def cell(self, node: Tag) -> Iterator[str]:
        """A cell of a table, on one line."""
        for child in node.children:
            if isinstance(child, NavigableString):
                yield self.inline(child)
            elif child.name in ("p", "div", "ul", "ol", "li", "dl", "dt", "dd", "details", "summary"):
                yield from self.cell(child)
            else:
                yield self._inline_child(child)

    def listing(self, node: Tag) -> str:
        items = []
        for n, item in enumerate(node.find_all("li", recursive=False), int(str(node.get("start", 1)))):
            items.append(indented(self.blocks(item), f"{n}. " if node.name == "ol" else "- "))
        return "\n".join(items)


def indented(blocks: list[str], mark: str) -> str:
    """Blocks as an item of a list.

    >>> indented(["a", "b"], "- ")
    '- a\\n\\n  b'
    """
    text = "\n\n".join(blocks)
    return mark + text.replace("\n", "\n" + " " * len(mark)).replace("\n" + " " * len(mark) + "\n", "\n\n")


def quoted(blocks: list[str]) -> str:
    """Blocks as a quoted box.

    >>> quoted(["**Definition**", "a"])
    '> **Definition**\\n>\\n> a'
    """
    return "\n".join(f"> {line}".rstrip() for line in "\n\n".join(blocks).split("\n"))


_HEADS: dict[Path, dict[str, str]] = {}


def heading_of(page: Path, anchor: str) -> str:
    """The heading of the section in which an anchor lies, as programs that show notebooks address it."""
    if page not in _HEADS:
        found: dict[str, str] = {}
        head = ""
        for node in soup(page).find_all(True):
            if node.name in HEADS:
                head = _address(node)
            if node.name == "section" and (first := node.find(HEADS)) is not None:
                found[str(node.get("id"))] = _address(first)
            elif node.get("id"):
                found.setdefault(str(node["id"]), head)
        _HEADS[page] = found
    return _HEADS[page].get(anchor, "")


def _address(heading: Tag) -> str:
    return "-".join(heading.get_text().removesuffix("#").split()).replace("(", "%28").replace(")", "%29")


def soup(page: Path) -> Tag:
    """The article of a page."""
    found = BeautifulSoup(page.read_text("utf-8"), "lxml").select_one("article.bd-article")
    if found is None:
        raise ValueError(f"{page}: no article in this page")
    return found
