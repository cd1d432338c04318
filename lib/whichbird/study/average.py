"""One table over several datasets, as WMT's task averages are made.

Every dataset has the same weight, and only scorers that take part in all of them are averaged; `by_campaign` does so for the
datasets of each year, since few scorers take part in several years. `average_spa` is the mean of
a scorer's SPAs; `average_rank` the mean of its ranks by SPA, each among all scorers of that dataset; `average_cluster` the
mean of its significance clusters, which is what mt-metrics-eval calls the average rank. The interval takes datasets as
independent draws of documents: variances add. Where datasets share source documents (the same English text translated into
two languages, say) their errors go together, and the interval is somewhat too narrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..core.balance import reachable
from ..core.check import Array, DataError
from ..data.digest import Digest, load
from ..data.pool import Pool
from ..data.registry import campaign_of
from ..data.segments import load_pool
from ..solve.reweight import reliable_interval
from .contest import Contest, One, Scores, contest, named_scores
from .intervals import quantile, rank_sets
from .meta import METAMETRICS
from .ranking import Ranking, rank, ranks
from .significance import LEVEL, RESAMPLES
from .tested import with_tests
from .verdict import Standing

ENDS = ("low", "high")  # of the reliable interval


class Part(NamedTuple):
    """One dataset at one balance (None: the natural one): its ranking with tests, and what they rest on."""

    name: str
    beta: float | None
    ranking: Ranking
    standing: Standing
    signature: str


class Opened(NamedTuple):
    """A dataset with scorers of yours among its own: what tests are made on, and all that a ranking needs."""

    source: Digest | Pool
    scores: Mapping[str, One]
    field: Contest


def opened(name: str, scores: Scores | None = None, reference: str | None = None) -> Opened:
    """A dataset that ships, with your own `scores`; its scorers with another `reference`, if one is named."""
    d = load(name)
    own = named_scores(scores, d)
    field = contest(d, own, reference)
    return Opened(d if reference in (None, d.reference) else load_pool(name, reference), own, field)


def target(field: Contest | Pool, beta: float | str | None) -> float | None:
    """The balance meant: a number, "low" or "high" end of the reliable interval, None (natural); refused where unreliable.

    >>> from whichbird import contest, load
    >>> round(target(contest(load("ende24")), "low"), 4)
    0.5484
    """
    if beta is None:
        return None
    if field.aspects is None:
        raise DataError(f"{field.name} has no known balance")
    low, high = reliable_interval(*field.aspects)
    if isinstance(beta, str):
        return (low, high)[ENDS.index(beta)]
    least, most = reachable(*field.aspects)
    if not least <= beta <= most:
        raise DataError(f"{field.name} reaches {least:.4f} to {most:.4f} only")
    if not low - 1e-9 <= beta <= high + 1e-9:
        raise DataError(f"{field.name} is reliable from {low:.4f} to {high:.4f} only")
    return beta


def part(
    found: Opened, beta: float | None = None, resamples: int = RESAMPLES, meta: str | Iterable[str] = "spa"
) -> Part:
    """A dataset ranked at a balance, with clusters and rank intervals, and other meta-metrics beside SPA."""
    ranked = rank(found.field, beta, meta=meta)
    tested, standing = with_tests(ranked, found.field, found.source, beta, found.scores, resamples)
    if standing is None:
        raise DataError(f"{found.field.name} has one scorer; at least two are needed")
    return Part(found.field.name, beta, tested, standing, f"{tested.signature}|{standing.signature}")


def average(parts: Sequence[Part]) -> pd.DataFrame:
    """The scorers that take part in all of `parts`, best average SPA first.

    Columns rank, scorer, average_spa, average_low, average_high (its interval of 95 %), rank_low, rank_high (ranks of the
    average that go with the data), average_rank, average_cluster, own; average_NAME for each meta-metric beside SPA.

    >>> parts = [part(opened(name)) for name in ("ende24", "enes24", "jazh24")]
    >>> average(parts).loc[:1, ["rank", "scorer", "average_rank"]].round(2)
       rank      scorer  average_rank
    0     1  MetricX-24           6.0
    1     2      XCOMET           6.0
    """
    if not parts:
        raise DataError("no dataset is left to average over")
    tables = [p.ranking.table.set_index("scorer") for p in parts]
    names = [s for s in parts[0].standing.scorers if all(s in t.index for t in tables)]
    if not names:
        raise DataError(f"no scorer takes part in all of {', '.join(p.name for p in parts)}")
    spa, places, groups = (
        np.array([t.loc[names, column].to_numpy(dtype=np.float64) for t in tables])
        for column in ("spa", "rank", "cluster")
    )
    own = [any(bool(t.loc[s, "own"]) for t in tables) for s in names]
    covariances = [_among(p.standing, names) for p in parts]
    covariance = np.sum(covariances, axis=0) / len(parts) ** 2
    t = quantile(LEVEL, freedom(covariances, [p.standing.documents for p in parts]) + 1)
    mean = spa.mean(axis=0)
    reach = t * np.sqrt(np.diag(covariance))
    best, worst = rank_sets(mean, covariance, t / quantile(LEVEL, None)) if len(names) > 1 else (np.ones(1), np.ones(1))
    out = pd.DataFrame(
        {
            "rank": ranks(mean),
            "scorer": names,
            "average_spa": mean,
            "average_low": np.clip(mean - reach, 0, 1),
            "average_high": np.clip(mean + reach, 0, 1),
            "rank_low": best.astype(np.int64),
            "rank_high": worst.astype(np.int64),
            "average_rank": places.mean(axis=0),
            "average_cluster": groups.mean(axis=0),
            "own": own,
            **{
                f"average_{m}": np.mean([t.loc[names, m] for t in tables], axis=0)
                for m in METAMETRICS
                if m != "spa" and m in tables[0]
            },
        }
    )
    return out.sort_values(["rank", "scorer"], ignore_index=True)


def by_campaign(parts: Sequence[Part]) -> pd.DataFrame:
    """`average` of the datasets of each campaign, its scorers alone; columns campaign, datasets, of (how many are averaged) before the others.

    >>> found = by_campaign([part(opened(name)) for name in ("enes24", "jazh24", "zhen23")])
    >>> found.groupby("campaign")[["datasets", "of"]].first().to_numpy().tolist()
    [[1, 43], [2, 29]]
    """
    out = []
    for year in dict.fromkeys(campaign_of(p.name) for p in parts):
        some = [p for p in parts if campaign_of(p.name) == year]
        found = average(some)
        out.append(found.assign(campaign=year, datasets=len(some), of=len(found)))
    table = pd.concat(out, ignore_index=True).sort_values("campaign", kind="stable", ignore_index=True)
    first = ["campaign", "datasets", "rank", "of"]
    return table[[*first, *table.columns.drop(first)]]


def freedom(covariances: Sequence[Array], documents: Sequence[int]) -> int:
    """Degrees of freedom of a sum of independent variances (Welch and Satterthwaite), by their traces, rounded down.

    >>> freedom([np.eye(2), np.eye(2)], [11, 11]), freedom([np.eye(2), 0 * np.eye(2)], [11, 90])
    (20, 10)
    """
    traces = np.array([np.trace(c) for c in covariances])
    if not traces.sum() > 0:
        return int(min(documents)) - 1
    return int(traces.sum() ** 2 / (traces**2 / (np.asarray(documents) - 1)).sum() + 1e-9)


def _among(s: Standing, names: Sequence[str]) -> Array:
    """The covariance of some of the scorers: (S, S)."""
    place = [s.scorers.index(name) for name in names]
    return s.covariance[np.ix_(place, place)]


def long_table(parts: Sequence[Part]) -> pd.DataFrame:
    """The rankings of all datasets below each other: dataset, beta (NaN where natural) and the columns of a tested ranking."""
    rows = [p.ranking.table.assign(dataset=p.name, beta=np.nan if p.beta is None else p.beta) for p in parts]
    table = pd.concat(rows, ignore_index=True)
    return table[["dataset", "beta", *table.columns.drop(["dataset", "beta"])]]
