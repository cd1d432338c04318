"""Text of slides, handouts and questions as HTML: Markdown with formulas, and some of the book's roles.

- `` {glue:text}`t_K` ``: a number that a cell of the book glued.
- `` {a}`adequacy` `` and `` {f}`fluency` ``: words in the colour of their aspect, and nothing else is in that colour.
- `` {term}`pool` ``, `` {doc}`paper/3-1-balance` ``, `` {ex}`ex-31-price` ``: the words alone, a page's title, an exercise's number.
- `![](fig-cross)`: a figure of a chapter; `![](<paper/2-background: def marked>)`: the table that a cell shows, named by words in its code;
  `![](rubric:3)`: the first rows of the table of marks.
- A list with `+` appears point by point on a slide.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from course import sources
from course.mathml import mathml
from course.sources import KitError, Numbers
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

ROLE = re.compile(r"\{([\w:-]+)\}`([^`]+)`")


def roles(text: str, numbers: Numbers) -> str:
    """The text with its roles put into words, still Markdown.

    >>> roles("{a}`Adequacy` and {term}`pools <pool>`", Numbers())
    '<span class="adequacy">Adequacy</span> and pools'
    >>> roles("{eq}`x`", Numbers())
    Traceback (most recent call last):
    course.sources.KitError: the role {eq} of 'x' has no words in the kit
    """

    def put(match: re.Match[str]) -> str:
        kind, value = match[1], match[2]
        if kind == "glue:text":
            return quoted(numbers[value])
        if kind in ("a", "f"):
            return f'<span class="{"adequacy" if kind == "a" else "fluency"}">{escape(value)}</span>'
        if kind == "term":
            return re.sub(r"\s*<[^>]*>$", "", value)
        if kind == "doc":
            return sources.title(value)
        if kind == "ex":
            return sources.exercise(value)
        raise KitError(f"the role {{{kind}}} of {value!r} has no words in the kit")

    return ROLE.sub(put, text)


def quoted(words: str) -> str:
    """Words that Markdown leaves as they are.

    >>> quoted("metametrics_mt *")
    'metametrics\\\\_mt \\\\*'
    """
    return re.sub(r"([\\`*_{}\[\]<>#|$~])", r"\\\1", words)


def words(text: str, numbers: Numbers) -> str:
    """One paragraph without any mark: numbers filled in, colours and emphasis left out.

    >>> words("*The* {a}`adequacy`", Numbers())
    'The adequacy'
    """
    html = markdown(text, numbers, inline=True)
    html = re.sub(r"<[^>]+>", "", html)
    for entity, sign in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        html = html.replace(entity, sign)
    return html


def pictures(name: str, folder: str = "../figures") -> str:
    """A figure of the book as two images, one for light pages and one for dark ones."""
    about = sources.figure(name)
    width, height = about.size
    shared = f'alt="{escape(about.alt)}" width="{width:.0f}" height="{height:.0f}"'
    return (
        f'<span class="figure" data-figure="{name}"><img class="on-light" src="{folder}/{name}.svg" {shared}>'
        f'<img class="on-dark" src="{folder}/{name}.svg#dark" {shared}></span>'
    )


def rubric(rows: int | None = None) -> str:
    """The table of marks, or its first rows, as HTML."""
    head, body = sources.rubric()
    cells = "".join(f'<th scope="col">{escape(words)}</th>' for words in head)
    lines = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(words)}</td>" for words in row[1:])
        + "</tr>"
        for row in body[:rows]
    )
    return f'<table class="plain rubric"><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>'


def markdown(text: str, numbers: Numbers, inline: bool = False, picture: Callable[[str], str] = pictures) -> str:
    """Text as HTML; `inline` for one paragraph without its tag. `picture` makes a figure of its name."""
    md = MarkdownIt("commonmark", {"html": True, "typographer": False}).enable("table")

    def formula(content: str, options: dict[str, bool]) -> str:
        try:
            return mathml(content, options["display_mode"])
        except ValueError as error:
            raise KitError(str(error)) from None

    def image(tokens, at, options, env):
        name = re.sub(r"%20", " ", tokens[at].attrs["src"])
        if name.startswith("rubric:"):
            return rubric(int(name.partition(":")[2]))
        page, colon, code = name.partition(": ")
        return f'<div class="table">{sources.output(page, code)}</div>' if colon else picture(name)

    md.use(dollarmath_plugin, renderer=formula, allow_space=False, double_inline=True)
    md.add_render_rule("image", lambda self, *rest: image(*rest[:3], rest[3]))
    text = roles(text, numbers)
    if inline:
        return md.renderInline(text)
    tokens = md.parse(text)
    for n, token in enumerate(tokens):
        if token.type == "inline" and [child.type for child in token.children or ()] == ["image"]:
            tokens[n - 1].hidden = tokens[n + 1].hidden = True  # a figure is no paragraph
        if token.type == "bullet_list_open" and token.markup == "+":
            token.attrSet("class", "steps")
        if token.type == "table_open":
            token.attrSet("class", "plain")
    return md.renderer.render(tokens, md.options, {})
