"""What the bump chart of the first page shows: ranks of scorers over the reliable interval of a dataset, small enough to sit in a page.

`book/assets/bump.js` draws it; nothing is ranked or tested there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.check import Array, DataError
from ..study.verdict import Verdict
from .explorer import DIGITS, _steps
from .report import Shown


def ranks(spa: Array) -> NDArray[np.int64]:
    """Ranks along the last axis, 1 for the largest SPA; equal values share the better rank.

    >>> ranks(np.array([[0.7, 0.9, 0.8], [0.7, 0.7, 0.8]])).tolist()
    [[3, 1, 2], [2, 2, 1]]
    """
    s = np.asarray(spa).round(DIGITS)
    return 1 + np.asarray((s[..., None, :] > s[..., :, None]).sum(axis=-1), dtype=np.int64)


def bump_data(v: Verdict, natural: float) -> dict[str, Any]:
    """A dataset as `bump.js` reads it from a page: the stops of its reliable interval, ranks of all scorers, ranks that the data allow.

    `ranks`, `low` and `high` have M whole numbers in their first row and in each later one the steps from the row before. `moved` are the
    pairs of scorers, by place, that change places from the first stop to the last and whose lead moves; `turns` those whose order turns. `natural` is β₀; at the stop next to
    it all systems count the same, as in the explorer and at the command line.

    >>> from whichbird import load_significance
    >>> page = bump_data(load_significance("ende24"), 0.705)
    >>> len(page["betas"]), len(page["ranks"][0]), page["reliable"] == [page["betas"][0], page["betas"][-1]]
    (66, 30, True)
    """
    if v.betas.size < 2:
        raise DataError(f"{v.name}: no balance is known, so there is nothing to draw over it")
    stops = v.betas[1:]
    rows = np.arange(1, v.betas.size)
    rows[np.abs(stops - natural).argmin()] = 0  # the natural balance is the verdict's own first row
    ends = v.ends()
    return {
        "name": v.name,
        "betas": [float(f"{b:.7g}") for b in stops],
        "scorers": list(v.scorers),
        "ranks": _steps(ranks(v.spa[rows])),
        "low": _steps(v.rank_low[rows]),
        "high": _steps(v.rank_high[rows]),
        "natural": natural,
        "reliable": [float(f"{stops[0]:.7g}"), float(f"{stops[-1]:.7g}")],
        **{name: np.argwhere(np.triu(x)).tolist() for name, x in (("moved", ends.moved), ("turns", ends.turns))},
    }


def embed_bump(
    data: Mapping[str, Any], root: str, named: Iterable[str], labels: Mapping[str, str] | None = None, stand_in: str = "",
    animate: bool = True, height: int | None = None
) -> Shown:  # fmt: skip
    """A bump chart as HTML: stylesheet, box, data, script. The first of `named` is drawn heaviest, with its band.

    `root` leads from the page to the book's top folder; `stand_in` is the id of a figure that the live one replaces; `height` is in pixels.

    >>> "bump.js" in repr(embed_bump({"scorers": ["BLEU"]}, "..", ["BLEU"]))
    True
    """
    names = list(named)
    missing = [name for name in names if name not in data["scorers"]]
    if missing:
        raise ValueError(f"no scorer is called {missing[0]!r} here")
    options = {
        "named": names,
        "labels": dict(labels or {}),
        "animate": animate,
        **({"height": height} if height else {}),
    }
    page = {"data": data, "options": options}
    text = json.dumps(page, separators=(",", ":"), ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    return Shown(
        f'<link rel="stylesheet" href="{root}/_static/bump.css">\n'
        f'<div class="wb-bump-place"><div class="wb-bump-box" data-stand-in="{stand_in}"></div>\n'
        f'<script type="application/json" class="wb-bump-data">{text}</script></div>\n'
        f'<script src="{root}/_static/bump.js"></script>',
        "text/html",
    )
