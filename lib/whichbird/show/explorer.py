"""What the live figures of the book show: a dataset along a fine grid of balances, small enough to sit in a page.

The page computes nothing that needs a solver. Weights come from here, proven optimal; a scorer's SPA is a sum over
pairs, which the page's script does by itself from weights and p-values.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core.augment import FAMILIES
from ..core.balance import balance
from ..data.digest import Digest
from ..data.registry import title
from ..solve.reweight import reweight_sweep
from ..study.sweep import measures, need_aspects
from ..study.targets import beta_stops as beta_stops, is_reliable
from .report import Shown

UNIT = 1e8  # weights are written as whole numbers of 1/UNIT: eight digits, in fewer characters than decimals


def page_data(d: Digest, step: float = 0.005) -> dict[str, Any]:
    """One dataset as the page's script reads it: plain lists and numbers, ready for JSON.

    P-values are whole numbers of permutations and pairs run as in numpy.triu_indices. `stops` are the balances; at each
    of them there are weights (K whole numbers of 1/UNIT), the multipliers η and λ of the hyperbola that cuts the support
    (None at the ends of the range, which have none), and the measures of every family that the digest holds. `titles`
    says what those measures are called. `natural` and `reliable` are places in `stops`.

    >>> from whichbird import load
    >>> page = page_data(load("ende24"), step=0.1)
    >>> page["stops"][:3], page["weights"][page["natural"]][:2]
    ([0.0073..., 0.1, 0.2], [6250000, 6250000])
    """
    a, f = need_aspects(d)
    stops = beta_stops(a, f, step)
    solved = reweight_sweep(a, f, stops)
    inner = np.flatnonzero([is_reliable(r) for r in solved])
    return {
        "name": d.name,
        "title": title(d.name),
        "signature": d.signature,
        "permutations": d.info["permutations"],
        "unit": UNIT,
        "systems": list(d.systems),
        "adequacy": a.tolist(),
        "fluency": f.tolist(),
        "total": _short(d.total),
        "scorers": list(d.scorers),
        "human": d.counts("total").tolist(),
        "p": d.counts("scorers").tolist(),
        "stops": stops.tolist(),
        "natural": int(np.searchsorted(stops, balance(a, f))),
        "reliable": [int(inner[0]), int(inner[-1])],
        "weights": np.round(solved.weights * UNIT).astype(int).tolist(),
        "eta": _short([r.eta for r in solved]),
        "lam": _short([r.lam for r in solved]),
        "titles": {name: FAMILIES[name].title if name in FAMILIES else name for name in d.families},
        "measures": {family: _short(y) for family, y in measures(d, solved.weights).items()},
    }


def _short(values: Iterable[float]) -> list[float | None]:
    """Eight digits, and None for what is not a number: JSON has no word for it."""
    return [None if np.isnan(v) else float(f"{v:.8g}") for v in values]


def embed(pages: list[dict[str, Any]], root: str, mode: str = "full", stand_in: str = "", more: str = "") -> Shown:
    """The live figure as HTML: data, stylesheet, script, and a sentence in its place until the script has run.

    `root` leads from the page to the book's top folder; `mode` is "full" or "mini". `stand_in` names a figure of the page
    that the live one replaces; `more` is the address of the page a mini figure leads to.

    >>> "explorer.js" in repr(embed([], "../.."))
    True
    """
    if mode not in ("full", "mini"):
        raise ValueError(f"unknown mode {mode!r}; 'full' or 'mini' is expected")
    data = json.dumps(pages, separators=(",", ":"), ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    return Shown(
        f'<link rel="stylesheet" href="{root}/_static/explorer.css">\n'
        f'<div class="wb-live" data-mode="{mode}" data-stand-in="{stand_in}" data-more="{more}">'
        f'<p class="wb-until">Here the book has a live figure. It needs JavaScript and the built book.</p></div>\n'
        f'<script type="application/json" class="wb-data">{data}</script>\n'
        f'<script src="{root}/_static/explorer.js"></script>',
        "text/html",
    )
