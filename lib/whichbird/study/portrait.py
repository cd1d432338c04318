"""What a report says about scorers of yours: several datasets, the ends of their reliable intervals, and averages.

Everything is in plain tables, so that a page, a card or another program can be made from them:

    profile    a row per dataset: title, sizes, beta0, the reliable interval, the extreme weights at its ends, signature
    standings  a row per dataset, balance and scorer: spa, se, rank, compatible ranks, cluster
    path       a row per dataset, balance of the reliable interval and scorer: spa and rank
    rivals     a row per dataset, scorer of yours and other scorer: who leads, whether surely, and what beta does to it
    domains    a row per dataset, kind of text and scorer of yours, at the natural balance
    average    a row per balance, campaign and scorer that takes part in all datasets of that year; see `by_campaign`
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..core.balance import balance, ess
from ..core.check import Array, DataError
from ..core.closed import closed_p
from ..core.metametrics import spa_from_p
from ..data.digest import Digest
from ..data.domains import in_domain
from ..data.manifest import folder, shipped_text
from ..data.pool import Pool
from ..data.protocol import scored_lines
from ..data.registry import title
from ..data.segments import pool_of
from ..solve.reweight import reliable_interval, reweight
from .average import Opened, Part, by_campaign, target
from .ceiling import CEILING_COLUMNS, ceilings
from .intervals import Intervals, intervals
from .meta import SPA, beside
from .ranking import Ranking, rank, rank_sweep, ranks
from .significance import RESAMPLES, SEED, clusters, significance, swapped_documents
from .targets import extremes
from .verdict import Standing, changes, shipped_verdict, tests_line

BALANCES = ("low", "natural", "high", "chosen")
STOPS = 13  # balances of a path
REPORT_FORMAT = 3
SHIPPED = Path("guests", "remedy-report.json")  # below data/
Tables = dict[str, pd.DataFrame]


class _Tested(NamedTuple):
    """One dataset at its balances: PERM-BOTH (B, M, M), rankings, and all that an average needs."""

    labels: list[str]
    parts: list[Part]
    tables: Tables


def portrait(
    found: Sequence[Opened], beta: float | None = None, resamples: int = RESAMPLES,
    watch: Callable[[Iterable[Opened]], Iterable[Opened]] = iter, meta: str | Iterable[str] = "spa"
) -> tuple[Tables, list[str]]:  # fmt: skip
    """All tables of a report on datasets with scorers of yours, at the low end, β₀, the high end, and `beta` where reliable.

    `meta` names meta-metrics beside SPA. Also returned: notes on what was left out. `watch` goes through the datasets and may show how far it is.

    >>> from whichbird.study.average import opened
    >>> import whichbird as wb
    >>> d = wb.load("ende24")
    >>> mine = d.total[:, None] + np.random.default_rng(1).normal(size=(16, len(d.lines)))
    >>> tables, notes = portrait([opened("ende24", {"mine": mine})], resamples=20)
    >>> list(tables), tables["standings"]["at"].unique().tolist(), notes
    (['profile', 'standings', 'path', 'rivals', 'domains', 'average'], ['low', 'natural', 'high'], [])
    """
    if not found:
        raise DataError("there is no dataset to report on")
    notes: list[str] = []
    each = [_one(one, beta, resamples, notes, meta) for one in watch(found)]
    out = {
        name: pd.concat(
            [e.tables[name] for e in each if len(e.tables[name])] or [each[0].tables[name]], ignore_index=True
        )
        for name in each[0].tables
    }
    means = []
    for label in BALANCES:
        parts = [p for e in each for where, p in zip(e.labels, e.parts, strict=True) if where == label]
        if parts:
            try:
                means.append(by_campaign(parts).assign(at=label))
            except DataError as error:
                notes.append(f"no average ({label}): {error}")
    table = pd.concat(means, ignore_index=True) if means else pd.DataFrame(columns=["at", "campaign", "own"])
    out["average"] = table[["at", *table.columns.drop("at")]]
    return out, notes


def pack(tables: Tables) -> str:
    """The tables as JSON, column by column, floats to six significant digits: small enough to keep.

    >>> tables = {"path": pd.DataFrame({"beta": [0.5, np.nan], "own": [True, False], "rank": [1, 2], "scorer": ["a", "b"]})}
    >>> again = unpack(pack(tables))
    >>> again["path"].equals(tables["path"])
    True
    """
    columns = {name: {str(c): [_short(v) for v in table[c].tolist()] for c in table} for name, table in tables.items()}
    return json.dumps({"format": REPORT_FORMAT, "tables": columns}, ensure_ascii=False, separators=(",", ":")) + "\n"


def unpack(text: str) -> Tables:
    """What `pack` packed; a gap is NaN."""
    try:
        content = json.loads(text)
        if content["format"] != REPORT_FORMAT:
            raise DataError(f"format {content['format']}; this version reads format {REPORT_FORMAT}")
        return {name: pd.DataFrame(columns).fillna(np.nan) for name, columns in content["tables"].items()}
    except (KeyError, TypeError, AttributeError, RecursionError, json.JSONDecodeError):
        raise DataError("no tables of a report") from None


def load_report() -> Tables:
    """The report on the guest, ReMedy-9B, over the nine datasets that its authors scored.

    >>> load_report()["profile"]["dataset"].tolist()[:3]
    ['ende22', 'zhen22', 'enru22']
    """
    text = shipped_text(SHIPPED, "restore it, or make it again as data/README.md says")
    try:
        return unpack(text)
    except DataError as error:
        raise DataError(f"{folder() / SHIPPED}: {error}") from None


def _short(value: object) -> object:
    if isinstance(value, float):
        return None if np.isnan(value) else float(f"{value:.6g}")
    return value


def _one(
    one: Opened, beta: float | None, resamples: int, notes: list[str], meta: str | Iterable[str] = "spa"
) -> _Tested:
    field, pool = one.field, pool_of(one.source)
    own = [s for s, mine in zip(field.scorers, field.own, strict=True) if mine]
    known = field.aspects is not None
    targets: dict[str, float] = {"natural": np.nan}
    if known:
        a, f = field.aspects or (np.empty(0), np.empty(0))
        low, high = reliable_interval(a, f)
        targets = {"low": low, "natural": np.nan, "high": high}
        if beta is not None:
            try:
                target(field, beta)
                targets["chosen"] = beta
            except DataError as error:
                notes.append(f"not at {beta:g}: {error}")
    labels = list(targets)
    spread = intervals(pool, list(targets.values()), one.scores, resamples)
    p = _permuted(one, pool, targets, resamples, "segments")
    judged = _permuted(one, pool, targets, resamples, "documents") if swapped_documents(pool) is not None else p
    rankings = [rank(field, None if np.isnan(t) else t, meta=meta) for t in targets.values()]
    by_scorer = [r.table.set_index("scorer") for r in rankings]
    spa = np.array([t["spa"].loc[field.scorers].to_numpy() for t in by_scorer])
    tests = tests_line(resamples, spread.documents, SEED)
    parts, rows = [], []
    for b, (label, t) in enumerate(targets.items()):
        best, worst = spread.ranks(b)
        s = Standing(tuple(field.scorers), clusters(spa[b], p[b]), best, worst, spread.se[b], spread.t, p[b], None, tests,
                     spread.covariance(b), spread.documents)  # fmt: skip
        table = pd.DataFrame(
            {"dataset": field.name, "at": label, "beta": balance(a, f) if known and np.isnan(t) else t, "scorer": field.scorers,
             "own": field.own, "spa": spa[b], "se": s.se, "rank": ranks(spa[b]), "rank_low": best, "rank_high": worst,
             "cluster": s.cluster,
             **{c: by_scorer[b].loc[field.scorers, c].to_numpy() for m in beside(meta) for c in (m.name, f"rank_{m.name}")}}
        )  # fmt: skip
        kept = 1.0 * len(field.systems) if np.isnan(t) else ess(reweight(a, f, t).weights)
        rows.append(table.assign(ess=kept))
        ranking = Ranking(table.drop(columns=["dataset", "at", "beta"]), rankings[b].weights, None, field.signature)
        parts.append(Part(field.name, None if np.isnan(t) else t, ranking, s, field.signature))
    path = pd.DataFrame({"dataset": [], "beta": [], "scorer": [], "spa": [], "rank": [], "own": []})
    if known:
        stops = np.unique(np.concatenate([np.linspace(low, high, STOPS), [balance(a, f)]]))
        path = rank_sweep(field, stops).assign(dataset=field.name)[list(path)]
    profile = {
        "dataset": field.name,
        "title": title(field.name),
        "aspects": ",".join(field.aspect_names),
        "systems": len(field.systems),
        "segments": int(pool.official.sum()),
        "documents": spread.documents,
        "scorers": len(field.scorers),
        "reference": pool.reference,
        "beta0": balance(a, f) if known else np.nan,
        "reliable_min": low if known else np.nan,
        "reliable_max": high if known else np.nan,
        **{f"weights_{end}": _extremes(rankings[labels.index(end)]) if known else "" for end in ("low", "high")},
        **_people(one.source),
        "signature": f"{field.signature}|{tests}",
    }
    tables = {
        "profile": pd.DataFrame([profile]),
        "standings": pd.concat(rows, ignore_index=True),
        "path": path,
        "rivals": _rivals(field.name, field.scorers, own, labels, spa, p, judged, spread),
        "domains": _domains(pool, one, own),
    }
    return _Tested(labels, parts, tables)


def _people(source: Pool | Digest) -> dict[str, float]:
    """What one person's ratings earn against another's at the natural balance, by SPA, and the best scorer; NaN where that is not known."""
    found, _ = ceilings(source, None, SPA.name)
    return {name: np.nan if found is None else float(found[name].iloc[0]) for name in CEILING_COLUMNS}


def _extremes(found: Ranking) -> str:
    return str(extremes(found.weights["system"], found.weights["weight"]))


def _permuted(one: Opened, pool: Pool, targets: dict[str, float], resamples: int, by: str) -> Array:
    """PERM-BOTH between all scorers at each target, (B, M, M); what ships is not tested again."""
    numbers = np.array(list(targets.values()))
    at = np.where(np.isnan(numbers), balance(*pool.aspects), numbers) if pool.aspects is not None else numbers
    v = None
    if not isinstance(one.source, Pool) and resamples == RESAMPLES:
        v, _ = shipped_verdict(pool)
    order = np.argsort(at)
    betas = None if pool.aspects is None else at[order]
    tested = significance(pool, betas, one.scores, resamples, only_own=v is not None and bool(one.scores), by=by)
    p = np.empty((numbers.size, *tested.p.shape[1:]))
    p[order] = tested.p
    if v is not None and one.scores:
        m = len(v.scorers)
        for b, t in enumerate(numbers):
            p[b, :m, :m] = (v.p if by == "segments" else v.p_documents)[0 if np.isnan(t) else v.nearest(t)]
    return p


def _rivals(
    name: str, scorers: list[str], own: list[str], labels: list[str], spa: Array, p: Array, judged: Array, spread: Intervals
) -> pd.DataFrame:  # fmt: skip
    """How each of yours stands to each other scorer, and what β does to it from one end to the other.

    `p` and `judged` (B, M, M) are PERM-BOTH by segments and as we judge. Columns p_better, p_worse (as we judge, at the natural
    balance), lead there and at the ends, change and margin, and between the ends: places, moves, turns, turns_swaps. NaN
    for moves and turns where documents are too few.
    """
    middle, t, se = labels.index("natural"), spread.t, None
    if "low" in labels:
        a, b = labels.index("low"), labels.index("high")
        se = spread.change_se(b, a)
        found = changes(
            (spa[a], spa[b]), (spread.lead_se(a), spread.lead_se(b)), se, spread.documents, (p[a], p[b]), (judged[a], judged[b])
        )  # fmt: skip
    rows = []
    for i in map(scorers.index, own):
        for j, other in enumerate(scorers):
            if j == i:
                continue
            row: dict[str, object] = {
                "dataset": name, "scorer": scorers[i], "rival": other, "lead": spa[middle, i] - spa[middle, j],
                "p_better": judged[middle, i, j], "p_worse": judged[middle, j, i],
            }  # fmt: skip
            if se is None:
                row |= dict.fromkeys(("lead_low", "lead_high", "change", "margin"), np.nan)
                row |= dict.fromkeys(("places", "moves", "turns", "turns_swaps"), False)
            else:
                low, high = (float(spa[n, i] - spa[n, j]) for n in (a, b))
                row |= {"lead_low": low, "lead_high": high, "change": high - low, "margin": t * se[i, j]}
                row |= {w: bool(getattr(found, w)[i, j]) for w in ("places", "moves", "turns", "turns_swaps")}
                if not found.judged:
                    row |= {"moves": None, "turns": None}
            rows.append(row)
    return pd.DataFrame(rows)


def _domains(pool: Pool, one: Opened, own: list[str]) -> pd.DataFrame:
    """Rank and SPA (p-values in closed form, systems unweighted) of each of yours on one kind of text alone."""
    columns = ["dataset", "domain", "segments", "scorer", "spa", "rank", "scorers"]
    if pool.domains is None or len(set(pool.domains)) < 2:
        return pd.DataFrame(columns=columns)
    x = np.array([*pool.scored.values(), *(np.asarray(one.scores[s]) for s in own)])
    names = [*pool.scorers, *own]
    rows = []
    for domain in sorted(set(pool.domains)):
        try:
            part = in_domain(pool, domain)
        except DataError:  # too little of it
            continue
        keep = np.isin(scored_lines(pool), part.lines)
        spa = np.atleast_1d(spa_from_p(closed_p(part.total), closed_p(x[:, :, keep])))
        place = ranks(spa)
        for s in own:
            i = names.index(s)
            rows.append((pool.name, domain, int(keep.sum()), s, spa[i], int(place[i]), len(names)))
    return pd.DataFrame(rows, columns=columns)
