"""What the live figures of the book show: a dataset along a fine grid of balances, small enough to sit in a page.

The page computes nothing that needs a solver. Weights come from here, proven optimal; a scorer's SPA is a sum over
pairs, which the page's script does by itself from weights and p-values.
"""

from __future__ import annotations

import json

import numpy as np

from ..core.balance import balance
from ..data.digest import Digest
from ..data.registry import title
from ..solve.reweight import reliable_interval, reweight_sweep
from ..study.sweep import measures, need_aspects
from ..study.targets import is_reliable, multiples, steps
from .report import Shown

UNIT = 1e8  # weights are written as whole numbers of 1/UNIT: eight digits, in fewer characters than decimals


def beta_stops(adequacy, fluency, step: float = 0.005) -> np.ndarray:
    """Where the slider stops: multiples of `step`, β₀, and the ends of the range and of the reliable interval.

    A reliable interval narrower than twenty steps gets multiples of a fifth of the step.

    >>> beta_stops([0, 1, 2, 3], [0, 2, 1, 1], step=0.2)[:6].round(3)
    array([0.2  , 0.4  , 0.6  , 0.607, 0.64 , 0.68 ])
    """
    inner = reliable_interval(adequacy, fluency)
    finer = multiples(step / 5, *inner) if inner[1] - inner[0] < 20 * step else []
    return np.unique(np.concatenate([steps(adequacy, fluency, step), inner, finer]))


def page_data(d: Digest, step: float = 0.005) -> dict:
    """One dataset as the page's script reads it: plain lists and numbers, ready for JSON.

    P-values are whole numbers of permutations and pairs run as in numpy.triu_indices. `stops` are the balances; at each
    of them there are weights (K whole numbers of 1/UNIT), the multipliers η and λ of the hyperbola that cuts the support
    (None at the ends of the range, which have none), and the three measures. `natural` and `reliable` are places in
    `stops`.

    >>> from whichbird import load
    >>> page = page_data(load("ende24"), step=0.1)
    >>> page["stops"][:3], page["weights"][page["natural"]][:2]
    ([0.0073..., 0.1, 0.2], [6250000, 6250000])
    """
    need_aspects(d)
    a, f = d.adequacy, d.fluency
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
        "measures": {family: _short(y) for family, y in measures(d, solved.weights).items()},
    }


def _short(values) -> list[float | None]:
    """Eight digits, and None for what is not a number: JSON has no word for it."""
    return [None if np.isnan(v) else float(f"{v:.8g}") for v in values]


def embed(pages: list[dict], root: str, mode: str = "full", stand_in: str = "", more: str = "") -> Shown:
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
