"""What the live figures of the book show: a dataset along a fine grid of balances, small enough to sit in a page.

The page solves for weights by itself (book/assets/wb-solve.js), for any pool that its reader makes of a dataset's systems, and adds
up SPA from weights and p-values. Whatever needs a resample comes from here: tests, intervals, and the paper's measures, for the pool
as it ships.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from whichbird.core.augment import FAMILIES, PAPER_FAMILIES
from whichbird.core.balance import balance
from whichbird.core.check import Array, DataError
from whichbird.core.metametrics import spa_from_p
from whichbird.data.digest import Digest, make, read_table
from whichbird.data.registry import DATASETS, FIELDS, displays, title
from whichbird.data.segments import load_pool
from whichbird.solve.reweight import reliable_interval, reweight_sweep
from whichbird.study.carriers import Carriers, carriers
from whichbird.study.contest import contest, need_aspects
from whichbird.study.meta import METAMETRICS
from whichbird.study.overview import shipped_ends
from whichbird.study.significance import clusters
from whichbird.study.sweep import measures
from whichbird.study.targets import VANISHING, beta_stops as beta_stops
from whichbird.study.verdict import Verdict, load_significance

from .laboratory import generators, source_data
from .report import Shown

FINE = 1e4  # margins of SPA are written as whole numbers of 1/FINE: four digits, in fewer characters than decimals
# of book/assets, in the order in which a page loads them: each may use those before it
SCRIPTS = (
    "bump", "wb-core", "wb-solve", "wb-pool", "wb-rank", "wb-chart", "wb-plane", "wb-ranking", "wb-share",
    "wb-random", "wb-permutation", "wb-python", "wb-scorefile", "wb-verdict", "wb-own", "wb-desk", "explorer",
)  # fmt: skip
FULL = (
    "bump", "wb-share", "wb-random", "wb-permutation", "wb-python", "wb-scorefile", "wb-verdict", "wb-own", "wb-desk"
)  # fmt: skip  # of these, what a mini figure does without
SIGNS = "0123456789abcdefghijklmnopqrstuvwxyz"  # digits of base 36; no pool has more than 35 systems
STOPS = 13  # balances at which meta-metrics of segments are computed
DIGITS = 9  # SPA values that agree to so many decimals are one value, to the page's script as well


def page_data(d: Digest, step: float = 0.005) -> dict[str, Any]:
    """One dataset as the page's script reads it: plain lists and numbers, ready for JSON.

        P-values are whole numbers of permutations, as `digits`, and pairs run as in numpy.triu_indices. `stops` are the balances: those of
        `beta_stops`, and inside the reliable interval all at which tests ship, whatever `step` is. At each of them there are the
        paper's measures. `titles` says what those measures are called, `aspects` what the
        two aspects are, and `field` which field the pool is of, if not WMT's. `natural` and
        `reliable` are places in `stops`; `verdict` is what the tests say between the two of `reliable`. `beta0_low` and
        `beta0_high` are the ends of the interval of the natural balance; `vanishing` is the share of an equal weight below which a system is as good as
    <<<<<<< HEAD
        left out; `carriers` says whose absence undoes what; `segmental` and `ceiling` are what their functions say.
    =======
        left out; `carriers` says whose absence undoes what; `names` has what people read for a scorer, where that is not its name.
    >>>>>>> main

        >>> from whichbird import load
        >>> page = page_data(load("ende24"), step=0.1)
        >>> page["stops"][:3], page["stops"][page["natural"]]
        ([0.0073..., 0.1, 0.2], 0.78...)
    """
    a, f = need_aspects(d)
    v = load_significance(d.name)
    if v.scorers != tuple(d.scorers) and {*v.scorers} < {*d.scorers}:  # tests of some ship, and those are shown
        pool = load_pool(d.name)
        d = make(replace(pool, scorers={s: pool.scorers[s] for s in v.scorers}))
    ends = shipped_ends().get(d.name, (0.0, 1.0))
    low, high = reliable_interval(a, f)
    all_stops, tested = beta_stops(a, f, step), beta_stops(a, f)
    tested = tested[(low <= tested) & (tested <= high)]
    if v.scorers != tuple(d.scorers) or v.betas.size != 1 + tested.size or np.abs(v.betas[1:] - tested).max() > 1e-9:
        raise DataError(f"{d.name}: the tests that ship are of other scorers or stops; rebuild them with 'make data'")
    stops = np.concatenate([all_stops[all_stops < low], tested, all_stops[all_stops > high]])
    first, last = int((stops < low).sum()), int((stops <= high).sum()) - 1
    natural = int(np.abs(stops - balance(a, f)).argmin())
    solved = reweight_sweep(a, f, stops).insist()
    # at the natural balance all systems count the same: that is the verdict's own first row, as at the command line
    rows = [0 if n == natural else 1 + n - first for n in range(first, last + 1)]
    spa = spa_from_p(d.human_p, d.scorer_p, solved.weights[first : last + 1])
    return {
        "name": d.name,
        "title": title(d.name),
        "paper": d.name in DATASETS and DATASETS[d.name].paper,
        "field": FIELDS.get(d.name, ""),
        "aspects": list(d.aspect_names),
        "signature": d.signature,
        "permutations": d.info["permutations"],
        **source_data(d),
        "systems": list(d.systems),
        "adequacy": a.tolist(),
        "fluency": f.tolist(),
        "total": _short(d.total),
        "scorers": list(d.scorers),
        "names": {scorer: read for scorer, read in displays(d.scorers).items() if read != scorer},
        "reference": d.reference,
        "human": digits(d.counts("total")),
        "p": [digits(row) for row in d.counts("scorers")],
        "stops": stops.tolist(),
        "natural": natural,
        "beta0_low": ends[0],
        "beta0_high": ends[1],
        "reliable": [first, last],
        "vanishing": VANISHING,
        "carriers": carrier_data(carriers(d)),
        "titles": {family: FAMILIES[family].title for family in PAPER_FAMILIES},
        "measures": {
            family: [
                None if np.isnan(v) else round(float(v), 5) for v in y
            ]  # shares, of which three decimals are shown
            for family, y in measures(d, solved.weights, families=PAPER_FAMILIES).items()
        },
        "verdict": verdict_data(v, rows, spa),
        "segmental": segmental_data(d, low, high),
        "ceiling": ceiling_of(d.name),
    }


def segmental_data(d: Digest, low: float, high: float) -> dict[str, Any]:
    """acc_eq and PDP of every scorer at `STOPS` balances of the reliable interval and β₀, in thousandths; between them the page draws lines.

    >>> from whichbird import load
    >>> made = segmental_data(load("ende24"), 0.6, 0.8)
    >>> len(made["betas"]), made["thousandths"]["acc_eq"][0][:3]
    (6, [436, 443, 433])
    """
    a, f = need_aspects(d)
    betas = np.unique(np.append(np.linspace(low, high, STOPS), np.clip(balance(a, f), low, high)))
    w, field = reweight_sweep(a, f, betas).insist().weights, contest(d)
    found = {m.name: m.at(field, w) for m in METAMETRICS.values() if m.needs == "segments"}
    return {
        "betas": betas.tolist(),
        "thousandths": {name: np.rint(1000 * x).astype(np.int64).tolist() for name, x in found.items()},
    }


def ceiling_of(name: str) -> list[float] | None:
    """The human ceiling of SPA at β₀ with its interval, and what the best scorer earns against the same ratings; None where unknown.

    >>> ceiling_of("ende23"), ceiling_of("ende24")
    ([0.9776, 0.9597, 0.9956, 0.9821], None)
    """
    rows = read_table("ceiling.csv").query("dataset == @name and meta == 'spa' and at == 'natural' and deal == 0")
    if rows.empty:
        return None
    mean = rows.groupby("gold")["best_value"].first().mean()
    return [round(float(x), 4) for x in (*rows.iloc[0][["mean", "mean_low", "mean_high"]], mean)]


def verdict_data(v: Verdict, rows: Sequence[int], spa: Array) -> dict[str, Any]:
    """Some rows of a verdict, as the page's script reads them; `spa` (rows, M) is what the page ranks scorers by.

    `low` and `high` are compatible ranks and `margin` is half of SPA's interval (whole numbers of 1/FINE), as `sparse`. `opens` has the places in the
    ranking, counted from 0, at which a cluster starts, but for the first; `moved` the scorers that change places with anyone so
    that the lead moves since the natural balance, `turned` those whose order with anyone turns. `moves` and `turns` are the pairs i < j, as
    i·M + j, whose lead moves, and whose order turns, from the first stop of the verdict to the last; null where documents are too few.
    """
    scores = spa.round(DIGITS)
    found = [clusters(score, v.p[b]) for score, b in zip(scores, rows, strict=True)]
    ordered = [cluster[np.argsort(-score, kind="stable")] for cluster, score in zip(found, scores, strict=True)]
    return {
        "fine": FINE,
        "signature": v.tests,
        "low": sparse(v.rank_low[rows]),
        "high": sparse(v.rank_high[rows]),
        "margin": sparse(np.rint(v.t * v.se[rows] * FINE).astype(np.int64)),
        "opens": [(1 + np.flatnonzero(np.diff(cluster))).tolist() for cluster in ordered],
        "moved": [np.flatnonzero(v.moved(b)).tolist() for b in rows],
        "turned": [np.flatnonzero(v.turned(b)).tolist() for b in rows],
        "documents": v.documents,
        "moves": np.flatnonzero(np.triu(v.ends().moves)).tolist() if v.judged else None,
        "turns": np.flatnonzero(np.triu(v.ends().turns)).tolist() if v.judged else None,
    }


def carrier_data(found: Carriers) -> dict[str, Any]:
    """Whose absence undoes changes between the ends of the reliable interval, as the page's script reads it; systems by number.

    `pairs`: the carrier of each pair of scorers, counted from 1, a digit of base 36 each; 0 where there is none. `scorers`: for each its carrier and its
    ranks at both ends without it, or None. `pool`: the system without which fewest of the pairs that change places keep
    their change, how many do, and of how many; None where all do.

    >>> from whichbird import carriers
    >>> found = carriers("ende22")
    >>> found.systems[7], carrier_data(found)["pool"], carrier_data(found)["scorers"][found.scorers.index("SEScore")]
    ('OpenNMT', [7, 18, 98], [7, 3, 1])
    """
    i, j = np.triu_indices(len(found.scorers), 1)
    number = {name: k for k, name in enumerate(found.systems)}
    places = found.places()[i, j]
    kept = (found.kept()[:, i, j] & places).sum(axis=1)
    least, of = int(kept.argmin()), int(places.sum())
    shifts = [found.scorer(m) for m in range(len(found.scorers))]
    pairs = [found.carrier(int(m), int(o)) for m, o in zip(i, j, strict=True)]
    return {
        "pool": [least, int(kept[least]), of] if kept[least] < of else None,
        "scorers": [s.carrier and [number[s.carrier], *s.without[number[s.carrier]].tolist()] for s in shifts],
        "pairs": "".join(SIGNS[0 if c is None else 1 + number[c]] for c in pairs),
    }


def _steps(x: np.ndarray) -> list[list[int]]:
    """Rows of whole numbers as their first row and the steps between them.

    >>> _steps(np.array([[3, 4], [3, 5]]))
    [[3, 4], [0, 1]]
    """
    steps: list[list[int]] = np.diff(x, axis=0, prepend=0).tolist()
    return steps


def sparse(x: np.ndarray) -> list[list[int]]:
    """Rows of whole numbers, most of them as in the row before: the first row, then for each place that changes the place and the step.

    >>> sparse(np.array([[3, 4, 5], [3, 4, 5], [3, 6, 4]]))
    [[3, 4, 5], [], [1, 2, 2, -1]]
    """
    first, *steps = _steps(x)
    return [first, *([n for place, step in enumerate(row) if step for n in (place, step)] for row in steps)]


def digits(counts: np.ndarray) -> str:
    """Whole numbers from 0 to 1295 as two digits each, of base 36: no commas, half the size.

    >>> digits(np.array([0, 35, 36, 1000]))
    '000z10rs'
    """
    if counts.size and not 0 <= counts.min() <= counts.max() < 36 * 36:
        raise ValueError(f"counts from {counts.min()} to {counts.max()}; 0 to 1295 are expected")
    return "".join(SIGNS[n // 36] + SIGNS[n % 36] for n in counts.tolist())


def _short(values: Iterable[float], digits: int = 8) -> list[float | None]:
    """Some digits, and None for what is not a number: JSON has no word for it."""
    return [None if np.isnan(v) else float(f"{v:.{digits}g}") for v in values]


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
    full = mode == "full"
    names = [name for name in SCRIPTS if full or name not in FULL]
    scripts = "\n".join(f'<script src="{root}/_static/{name}.js"></script>' for name in names)
    # for scores of one's own: numpy's generators, and where the segments of other scorers lie
    states = f" data-generators='{json.dumps(generators())}' data-root=\"{root}/_static\"" if full else ""
    return Shown(
        f'<link rel="stylesheet" href="{root}/_static/bump.css">\n'
        f'<link rel="stylesheet" href="{root}/_static/explorer.css">\n'
        f'<div class="wb-live" data-mode="{mode}" data-stand-in="{stand_in}" data-more="{more}"{states}>'
        f'<p class="wb-until">Here the book has a live figure. It needs JavaScript and the built book.</p></div>\n'
        f'<script type="application/json" class="wb-data">{data}</script>\n{scripts}',
        "text/html",
    )
