"""Small live figures inside chapters: one idea each, beside a still figure that shows the same without scripts and on paper.

`FIGURES` says which scripts of book/assets a figure needs, in order; no page loads more than that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .report import Shown

CORE = ("wb-core", "live")
SOLVER = ("wb-core", "wb-solve", "live")
FIGURES: dict[str, tuple[str, ...]] = {"cross": CORE}  # besides the script of its own name


def scripts(name: str) -> tuple[str, ...]:
    """The scripts of a figure, each after those that it uses.

    >>> scripts("cross")
    ('wb-core', 'live', 'live-cross')
    """
    if name not in FIGURES:
        raise ValueError(f"no live figure is called {name!r}; there are {', '.join(FIGURES)}")
    return (*FIGURES[name], f"live-{name}")


def embed(name: str, data: Mapping[str, Any], root: str = "../..") -> Shown:
    """A live figure as HTML: stylesheet, an empty box, data, scripts. Until the scripts have run there is nothing to see.

    `root` leads from the page to the book's top folder.

    >>> print(embed("cross", {"adequacy": [0.0, 1.0]}, ".."))
    <link rel="stylesheet" href="../_static/live.css">
    <div><div class="wb-small" data-figure="cross"></div>
    <script type="application/json" class="wb-small-data">{"adequacy":[0.0,1.0]}</script></div>
    <script src="../_static/wb-core.js"></script>
    <script src="../_static/live.js"></script>
    <script src="../_static/live-cross.js"></script>
    """
    files = scripts(name)
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    tags = "\n".join(f'<script src="{root}/_static/{file}.js"></script>' for file in files)
    return Shown(
        f'<link rel="stylesheet" href="{root}/_static/live.css">\n'
        f'<div><div class="wb-small" data-figure="{name}"></div>\n'
        f'<script type="application/json" class="wb-small-data">{text}</script></div>\n{tags}',
        "text/html",
    )
