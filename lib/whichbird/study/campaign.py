"""WMT's official table: scorers averaged over the language pairs and meta-metrics of a metrics task, at any balance.

A task is a pair of a dataset and a meta-metric, and all tasks have the same weight. Only scorers that WMT made primary take part,
baselines among them. Each dataset is as WMT had it: its standard reference, and human translations among the systems.

Two primaries of 2024, sentinel-ref-mqm and sentinel-src-mqm, give all translations of a segment one score. They tie every pair of
systems, and that is how they are counted here: acc_eq is then the share of ties among people. (mt-metrics-eval has more, since it reads
their scores as 32-bit floats, whose rounding differs from file to file.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from ..core.check import Array, DataError, near
from ..core.permutation import PERMUTATIONS, PUBLISHED_SEED, p_counts
from ..data.humans import load_official
from ..data.pool import Pool
from ..data.protocol import signature
from ..data.registry import PRIMARIES
from ..solve.reweight import reweight
from .average import target
from .contest import need_aspects
from .meta import METAMETRICS
from .ranking import ranks


class Campaign(NamedTuple):
    """A metrics task of WMT: its datasets, the meta-metrics that are averaged, and primaries that are constant on a segment."""

    set: str
    datasets: tuple[str, ...]
    meta: tuple[str, ...]
    constant: tuple[str, ...] = ()


CAMPAIGNS = {
    "wmt24": Campaign(
        "wmt24", ("ende24", "enes24", "jazh24"), ("spa", "acc_eq"), ("sentinel-ref-mqm", "sentinel-src-mqm")
    )
}


class Official(NamedTuple):
    """`table`: rank, scorer, average, and one column NAME_META a task, best first; `signature` says what it rests on."""

    table: pd.DataFrame
    signature: str


def campaign(name: str, beta: float | str | None = None) -> Official:
    """The official average of a metrics task ("wmt24"), at the natural balance as WMT has it, or at another.

    `beta` is a balance, or "low" or "high" for the end of each dataset's own reliable interval; with human translations
    among the systems both differ a little from those of the dataset without them.

    >>> campaign("wmt24").table.loc[:2, ["rank", "scorer", "average"]].round(3)
       rank                             scorer  average
    0     1  metametrics_mt_mqm_hybrid_kendall    0.724
    1     2                  MetricX-24-Hybrid    0.721
    2     3                             XCOMET    0.719
    """
    if name not in CAMPAIGNS:
        hint = near(name, list(CAMPAIGNS)) or f"; one of {', '.join(CAMPAIGNS)} is expected"
        raise DataError(f"unknown campaign {name!r}{hint}")
    one = CAMPAIGNS[name]
    scorers = sorted(PRIMARIES[one.set])
    columns: dict[str, Array] = {}
    signed = []
    for dataset in one.datasets:
        pool = load_official(dataset)
        at = target(pool, beta)
        k = len(pool.systems)
        w = np.full(k, 1 / k) if at is None else reweight(*need_aspects(pool), at).weights
        columns |= {f"{dataset}_{m}": x for m, x in tasks(pool, scorers, one, w).items()}
        signed.append(
            f"{signature(pool, PERMUTATIONS, PUBLISHED_SEED)}|beta:{'natural' if at is None else format(at, '.12g')}"
        )
    average = np.mean(list(columns.values()), axis=0)
    table = pd.DataFrame({"rank": ranks(average), "scorer": scorers, "average": average, **columns})
    return Official(table.sort_values(["rank", "scorer"], ignore_index=True), " ".join(signed))


def tasks(pool: Pool, scorers: list[str], one: Campaign, w: Array) -> dict[str, Array]:
    """Every meta-metric of a campaign for some scorers of a pool, at weights w (K,): (M,) each."""
    here = pool.official
    people, flat = pool.total[:, here], np.zeros((len(pool.systems), int(here.sum())))
    x = np.array([flat if s in one.constant else pool.scored[pool.aliases.get(s, s)] for s in scorers])

    def p(values: Array) -> Array:
        return p_counts(values, exact=pool.exact) / PERMUTATIONS

    out = {}
    for m in one.meta:
        record = METAMETRICS[m]
        found = (p(people), np.array([p(v) for v in x])) if record.needs == "p" else (people, x)
        out[m] = record.value(*found, w[None])[0]
    return out


def by_meta(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The table of a campaign with the mean of each meta-metric over its datasets: rank, scorer, average, META…

    >>> by_meta(campaign("wmt24").table, "wmt24").columns.tolist()
    ['rank', 'scorer', 'average', 'spa', 'acc_eq']
    """
    one = CAMPAIGNS[name]
    means = {m: table[[f"{d}_{m}" for d in one.datasets]].mean(axis=1) for m in one.meta}
    return table[["rank", "scorer", "average"]].assign(**means)
