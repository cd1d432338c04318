"""Small live figures inside chapters: one idea each, beside a still figure that shows the same without scripts and on paper.

`FIGURES` says which scripts of book/assets a figure needs, in order; no page loads more than that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from whichbird.core.balance import balance
from whichbird.core.check import Array, DataError
from whichbird.core.leverage import leverage
from whichbird.core.permutation import PERMUTATIONS
from whichbird.data.digest import Digest, load
from whichbird.data.pairs import agreements
from whichbird.data.protocol import scorer_named
from whichbird.data.registry import display
from whichbird.solve.result import OUT, UNPROVEN
from whichbird.solve.reweight import reliable_interval, reweight_sweep
from whichbird.solve.shares import Shared
from whichbird.study.calibrate import draws, outlook
from whichbird.study.carriers import NaturalTurns
from whichbird.study.contest import need_aspects
from whichbird.study.intervals import quantile
from whichbird.study.placebo import permuted
from whichbird.study.significance import LEVEL
from whichbird.study.sweep import measures

from .laboratory import generators
from .report import Shown

CORE = ("wb-core", "live")
SOLVER = ("wb-core", "wb-solve", "live")
FIGURES: dict[str, tuple[str, ...]] = {
    "cross": CORE,
    "triangle": SOLVER,
    "saddle": SOLVER,
    "flips": ("wb-core", "wb-random", "live"),
    "gaps": SOLVER,
    "dial": CORE,
    "quiz": CORE,
    "steer": CORE,
    "without": CORE,
    "shares": CORE,
}  # besides the script of its own name


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


def flips(views: Mapping[str, Array], systems: Sequence[str]) -> dict[str, Any]:
    """What "flips" shows: for each view, such as the total, scores (2, N) of the two `systems` on the same segments.

    >>> sorted(flips({"total": np.array([[1.0, 2.0], [0.0, 3.0]])}, ["A", "B"]))
    ['generator', 'permutations', 'scores', 'systems', 'views']
    """
    if not all(np.isfinite(x).all() for x in views.values()):
        raise DataError(f"{' and '.join(systems)} lack segments: the page tosses coins for complete rows only")
    return {
        "systems": list(systems),
        "views": list(views),
        "scores": [x.tolist() for x in views.values()],
        "generator": generators()["permutation"],
        "permutations": PERMUTATIONS,
    }


def quiz(
    pairs: pd.DataFrame, texts: Sequence[Mapping[str, str]], d: Digest, more: str = "explorer.html"
) -> dict[str, Any]:
    """What "quiz" shows: for `texts` (source, first and second translation of each pair), what `whichbird.calibrate` knows but for the choices.

    `pairs` is its table, with a row for each pair and each scorer of dataset d; the choices in it do not matter. `sides` has a character a scorer
    for each pair: 2 if the scorer prefers the first translation, 1 for a tie, 0 for the second. `drawn` has, for each resample, how often it
    holds each pair. `more` is the address of the explorer.

    >>> from whichbird import load
    >>> d = load("ende24")
    >>> rows = [(n, "second", s, n % 3, 1) for n in range(4) for s in d.scorers]
    >>> table = pd.DataFrame(rows, columns=["pair", "preferred", "scorer", "first", "second"])
    >>> data = quiz(table, [{"source": "x", "first": "y", "second": "z"}] * 4, d)
    >>> [side[:3] for side in data["sides"]], len(data["drawn"]), data["drawn"][0]
    (['000', '111', '222', '000'], 1000, '1300')
    """
    side = agreements(pairs.assign(preferred="first"))
    if len(side) != len(texts):
        raise ValueError(f"there are scores of {len(side)} pairs and texts of {len(texts)}")
    places = [d.scorers.index(scorer_named(d, str(name))) for name in side]
    o = outlook(d, d.scorer_p[places])
    return {
        "dataset": d.name,
        "texts": [dict(text) for text in texts],
        "scorers": [d.scorers[k] for k in places],
        "sides": ["".join(map(str, row)) for row in (2 * side.to_numpy()).astype(int).tolist()],
        "betas": o.betas[o.inner].tolist(),
        "ess": o.ess[o.inner].tolist(),
        "spa": [[float(f"{v:.12g}") for v in row] for row in o.spa[o.inner]],
        "natural": o.natural,
        "reliable": list(o.reliable),
        "drawn": ["".join(np.base_repr(n, 36) for n in row) for row in draws(len(texts)).tolist()],
        "more": more,
    }


STOPS = np.linspace(-1, 1, 9)  # places between the low end (−1), the natural balance (0) and the high end (1)
STEERED = "adequacy-fluency"


def steer(pools: Mapping[str, Digest], draws: int = 500) -> list[dict[str, Any]]:
    """What "steer" shows: the preference for adequacy over the reliable interval, beside placebos; first the mean of all.

    `line` at nine stops; `low`, `high` hold 95 % of the placebos, the same weights dealt to other systems; `beta` are the
    stops' balances; `placebo` is the mean rise of the placebos from end to end, `reached` their share that rise as far as the line.

    >>> from whichbird import load
    >>> every, one = steer({"ende24": load("ende24")}, 100)
    >>> one["name"], len(one["line"]), one["line"][4] == one["low"][4] == one["high"][4], every["line"] == one["line"]
    ('ende24', 9, True, True)
    """
    lines, placebos, betas = {}, {}, {}
    for name, d in pools.items():
        a, f = need_aspects(d)
        low, high = reliable_interval(a, f)
        natural = float(balance(a, f))
        betas[name] = np.where(STOPS < 0, natural + STOPS * (natural - low), natural + STOPS * (high - natural))
        w = reweight_sweep(a, f, betas[name]).insist().weights
        w[STOPS == 0] = 1 / len(a)
        every = np.concatenate([w[None], permuted(w, draws)])
        found = measures(d, every.reshape(-1, len(a)), families=[STEERED])[STEERED].reshape(-1, STOPS.size)
        lines[name], placebos[name] = found[0], found[1:]
    lines = {f"all {len(pools)} datasets": np.mean([*lines.values()], axis=0), **lines}
    placebos = {f"all {len(pools)} datasets": np.mean([*placebos.values()], axis=0), **placebos}
    out = []
    for name, line in lines.items():
        rise = placebos[name][:, -1] - placebos[name][:, 0]
        low, high = np.quantile(placebos[name], [LEVEL / 2, 1 - LEVEL / 2], axis=0)
        beta = {"beta": betas[name].round(6).tolist()} if name in betas else {}
        shown = {key: x.round(6).tolist() for key, x in (("line", line), ("low", low), ("high", high))}
        reached = float((rise >= line[-1] - line[0] - 1e-12).mean())
        out.append({"name": name, **beta, **shown, "placebo": float(rise.mean()), "reached": reached})
    return out


def without(turned: Mapping[str, NaturalTurns], pools: Mapping[str, Digest]) -> list[dict[str, Any]]:
    """What "without" shows: of each dataset where leaving one system out turns an order, the pair that is clearest.

    Clearest: the smaller of the two leads, in standard errors, is largest; datasets come in this order. `lead` and `half`, half the
    width of an interval of 95 %, have a value for the whole pool and one without each system; `turned` is the row that turns.
    """
    cases = []
    for name, found in turned.items():
        if not found.turns.any():
            continue
        clear = np.where(found.turns, np.minimum(np.abs(found.t[0]), np.abs(found.t[1:])), 0.0)
        out, i, j = (int(n) for n in np.unravel_index(clear.argmax(), clear.shape))
        lead = found.spa[:, i] - found.spa[:, j]
        if lead[0] < 0:
            i, j, lead = j, i, -lead
        a, f = need_aspects(pools[name])
        case = {
            "name": name,
            "pair": [display(found.scorers[i]), display(found.scorers[j])],
            "systems": list(found.systems),
            "beta0": [float(balance(a, f)), *leverage(a, f).without.tolist()],
            "lead": lead.round(6).tolist(),
            "half": (quantile(LEVEL, found.documents) * found.lead_se[:, i, j]).round(6).tolist(),
            "turned": 1 + out,
        }
        cases.append((float(clear.max()), case))
    return [case for _, case in sorted(cases, key=lambda pair: -pair[0])]


def three(name: str, aspects: Sequence[str], found: Sequence[Shared], natural: Array, spa: Array) -> dict[str, Any]:
    """What "shares" shows of one pool: for each target what the most even weights keep, and the three scorers that are first.

    `found` are the answers for the targets of `share_grid`, `natural` (3,) the shares without weights, `spa` (T, M) the SPA
    of all scorers under each answer's weights. `ess` is None where the target is out of reach, 0 where that was not decided.

    >>> from whichbird import reweight_shares_sweep, share_grid, shares
    >>> x = [[0, 1, 2, 3, 1], [0, 2, 1, 1, 3], [1, 0, 0, 2, 2]]
    >>> found = reweight_shares_sweep(x, share_grid(3, 3))
    >>> shown = three("ende24", ["a", "b", "c"], found, shares(x), np.zeros((10, 31)))
    >>> shown["steps"], shown["ess"][5], shown["ess"][0], shown["first"][5][0]
    (3, 4.745, None, [0, 0.0])
    """
    ess = [None if r.certificate == OUT else 0 if r.certificate == UNPROVEN else round(r.ess, 3) for r in found]
    best = np.argsort(-spa, axis=1, kind="stable")[:, :3]
    first = [[[int(m), round(float(spa[t, m]), 4)] for m in row] if ess[t] else [] for t, row in enumerate(best)]
    targets = np.array([r.asked for r in found])
    return {
        "name": name,
        "aspects": list(aspects),
        "steps": round(1 / targets[targets > 0].min()),
        "targets": targets.round(6).tolist(),
        "natural": natural.round(6).tolist(),
        "systems": len(found[0].weights),
        "scorers": [display(scorer) for scorer in load(name).scorers],
        "ess": ess,
        "first": first,
    }
