"""WMT's official table: scorers averaged over the language pairs and meta-metrics of a metrics task, at any balance.

A task is a pair of a dataset and a meta-metric. In 2024 all tasks have the same weight. In 2023 there were ten: pairwise accuracy over
the pairs of all datasets, which counts three times, and for each dataset two Pearson correlations, of system means and of all cells,
and acc_eq; correlations r enter the average as (1 + r) / 2. Only scorers that WMT made primary take part, baselines among them. Each
dataset is as WMT had it: its standard reference, and human translations among the systems. In 2023 scorers' system means were over all
source lines, rated or not; `all_lines.csv` has them.

Two primaries of 2024, sentinel-ref-mqm and sentinel-src-mqm, give all translations of a segment one score, the same to the last digit of
their files. They tie every pair of systems, and that is how they are counted here: acc_eq is then the share of ties among people,
and their official average .495. mt-metrics-eval is reported to print .540 for them, from
sums in 32 bits whose last digits put systems in an order; that was not recomputed here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..core.check import Array, DataError, near
from ..core.permutation import PERMUTATIONS, PUBLISHED_SEED, p_counts
from ..data.digest import read_table
from ..data.humans import load_official
from ..data.pool import Pool, system_means
from ..data.protocol import signature
from ..data.registry import PRIMARIES
from ..solve.reweight import reweight
from .average import freedom, target
from .contest import need_aspects
from .intervals import Documents, draws, intervals, quantile
from .meta import METAMETRICS
from .ranking import ranks
from .significance import LEVEL, SEED
from .tested import META_RESAMPLES


class Campaign(NamedTuple):
    """A metrics task of WMT: whose primaries, its datasets, the meta-metrics that are averaged, and primaries constant on a segment."""

    set: str
    datasets: tuple[str, ...]
    meta: tuple[str, ...]
    constant: tuple[str, ...] = ()


CAMPAIGNS = {
    "wmt24": Campaign(
        "wmt24", ("ende24", "enes24", "jazh24"), ("spa", "acc_eq"), ("sentinel-ref-mqm", "sentinel-src-mqm")
    ),
    "wmt23": Campaign("wmt23", ("ende23", "heen23", "zhen23"), ("pa", "pearson", "cells", "acc_eq")),
    "wmt23-as-24": Campaign("wmt23", ("ende23", "heen23", "zhen23"), ("spa", "acc_eq")),  # 2024's rule on 2023's data
}
SIGNED = ("pearson", "cells")  # correlations: in the average as (1 + r) / 2


class Official(NamedTuple):
    """`table`: rank, scorer, average, average_low, average_high, and one column DATASET_META a task, best first; `signature` says what it
    rests on. The interval of 95 % resamples the documents of each dataset, alike for all its tasks; NaN for constant scorers. In 2023
    scorers' means are over all lines; how far they scatter is told from the rated lines, whose documents are known, and so is a little wide.
    """

    table: pd.DataFrame
    signature: str


def campaign(name: str, beta: float | str | None = None, resamples: int = META_RESAMPLES) -> Official:
    """The official average of a metrics task ("wmt24", "wmt23", or the one's rule on the other's data, "wmt23-as-24"), at the natural balance as WMT has it, or at another.

    `beta` is a balance, or "low" or "high" for the end of each dataset's own reliable interval; with human translations
    among the systems both differ a little from those of the dataset without them.

    >>> campaign("wmt24", resamples=20).table.loc[:2, ["rank", "scorer", "average"]].round(3)
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
    signed, pairs = list[str](), list[int]()
    pools, targets = list[Pool](), list[float | None]()
    variance, documents = np.zeros((len(one.datasets), len(scorers))), []
    for dataset in one.datasets:
        pool = load_official(dataset)
        at = target(pool, beta)
        pools.append(pool)
        targets.append(at)
        w = _weights(pool, at)
        columns |= {f"{dataset}_{m}": x for m, x in tasks(pool, scorers, one, w).items()}
        pairs.append(_told_apart(pool))
        signed.append(
            f"{signature(pool, PERMUTATIONS, PUBLISHED_SEED)}|beta:{'natural' if at is None else format(at, '.12g')}"
        )
    shares = np.array(pairs) / sum(pairs)
    for n, pool in enumerate(pools):
        variance[n], t = _variances(pool, scorers, one, targets[n], shares[n], resamples)
        documents.append(t)
    average = np.mean([_mean(columns, one, m, np.array(pairs)) for m in one.meta], axis=0)
    every = [np.diag(v[~np.isnan(v)]) for v in variance]
    reach = quantile(LEVEL, freedom(every, documents) + 1) * np.sqrt(variance.sum(axis=0))
    signed.append(f"bootstrap:{resamples}|seed:{SEED}")
    table = pd.DataFrame(
        {"rank": ranks(average), "scorer": scorers, "average": average, "average_low": average - reach,
         "average_high": average + reach, **columns}
    )  # fmt: skip
    return Official(table.sort_values(["rank", "scorer"], ignore_index=True), " ".join(signed))


def _mean(columns: dict[str, Array], one: Campaign, meta: str, pairs: Array) -> Array:
    """One meta-metric over the datasets of a campaign, as it enters the average: (M,)."""
    x = np.array([columns[f"{d}_{meta}"] for d in one.datasets])
    if meta == "pa":
        return np.asarray(pairs @ x / pairs.sum())
    return np.asarray(((1 + x) / 2 if meta in SIGNED else x).mean(axis=0))


def _told_apart(pool: Pool) -> int:
    """How many pairs of systems people tell apart."""
    means = system_means(pool.total)
    i, j = np.triu_indices(means.size, 1)
    return int((means[i] != means[j]).sum())


def _weights(pool: Pool, at: float | None) -> Array:
    """Weights of systems at a balance: (K,)."""
    k = len(pool.systems)
    return np.full(k, 1 / k) if at is None else reweight(*need_aspects(pool), at).weights


def _variances(
    pool: Pool, scorers: list[str], one: Campaign, at: float | None, share: float, resamples: int
) -> tuple[Array, int]:
    """Variances of what a dataset adds to the average, documents drawn alike for all its tasks: (M,); and how many documents.

    `share` is its share of the pairs of systems, by which pairwise accuracy enters.
    """
    shown = {s: pool.scorers[pool.aliases.get(s, s)] for s in scorers if s not in one.constant}
    part = replace(pool, scorers=shown)
    each = {
        m: intervals(part, [np.nan if at is None else at], None, resamples, meta=m)
        for m in one.meta
        if m in METAMETRICS
    }
    spread = {m: x.spread[:, 0] for m, x in each.items()}
    documents = next(iter(each.values())).documents
    if "cells" in one.meta:
        spread["cells"] = _cells_drawn(part, _weights(pool, at), documents, resamples)
    equal = 1 / len(one.datasets)
    weight = {m: share if m == "pa" else equal / 2 if m in SIGNED else equal for m in one.meta}
    drawn = np.sum([weight[m] * spread[m] for m in one.meta], axis=0) / len(one.meta)
    found = dict(zip(shown, np.nanvar(drawn, axis=0), strict=True))
    return np.array([found.get(s, np.nan) for s in scorers]), documents


def _cells_drawn(pool: Pool, w: Array, documents: int, resamples: int) -> Array:
    """How far the correlations of `_cells` scatter over resampled documents, systems weighted as in the whole: (R, M)."""
    here = pool.official
    number = Documents.of(pool.documents, len(pool.lines)).only(here)
    people, x = pool.total[:, here], np.array([v[:, here] for v in pool.scorers.values()])
    share = w / w.sum()

    def sums(v: Array) -> Array:
        return number.sums(np.einsum("k,...kn->...n", share, v))

    parts = [sums(v) for v in (people, people**2, x, x**2, people * x)]  # (G,) or (M, G)
    blocks, factor = draws("bootstrap", documents, resamples, SEED, resamples)
    times = np.concatenate(list(blocks))
    size = times @ number.size
    h, hh, y, yy, hy = (times @ v.T / (size if v.ndim == 1 else size[:, None]) for v in parts)
    spread = np.sqrt((hh - h**2)[:, None] * (yy - y**2))
    drawn = (hy - h[:, None] * y) / np.where(spread > 0, spread, np.nan)
    return np.asarray(factor * (drawn - np.nanmean(drawn, axis=0)))


def tasks(pool: Pool, scorers: list[str], one: Campaign, w: Array) -> dict[str, Array]:
    """Every meta-metric of a campaign for some scorers of a pool, at weights w (K,): (M,) each."""
    here = pool.official
    people, flat = pool.total[:, here], np.zeros((len(pool.systems), int(here.sum())))
    x = np.array([flat if s in one.constant else pool.scored[pool.aliases.get(s, s)] for s in scorers])

    def p(values: Array) -> Array:
        return p_counts(values, exact=pool.exact) / PERMUTATIONS

    out = {}
    for m in one.meta:
        if m == "cells":
            out[m] = _cells(people, x, w)
            continue
        record = METAMETRICS[m]
        if record.needs == "p":
            found = p(people), np.array([p(v) for v in x])
        elif record.needs == "means":
            found = people.mean(axis=1), _all_lines(pool, scorers)
        else:
            found = people, x
        out[m] = record.value(*found, w[None])[0]
    return out


def _all_lines(pool: Pool, scorers: list[str]) -> Array:
    """System means of scorers over all source lines of a dataset: (M, K)."""
    table = read_table("all_lines.csv").query("dataset == @pool.name")
    return np.asarray(table.pivot(index="scorer", columns="system", values="mean").loc[scorers, list(pool.systems)])


def _cells(people: Array, x: Array, w: Array) -> Array:
    """Pearson's correlation of scorers x (M, K, N) with people (K, N) over all cells, those of a system weighted w (K,): (M,)."""
    share = w / w.sum() / people.shape[1]

    def centred(y: Array) -> Array:
        return np.asarray(y - (share @ y.sum(axis=-1, keepdims=True))[..., None, :])

    h, y = centred(people), centred(x)
    both, own, theirs = (np.einsum("k,mkn->m", share, z) for z in (h * y, y * y, (h * h)[None]))
    return np.asarray(both / np.sqrt(own * theirs))


def by_meta(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The table of a campaign with the mean of each meta-metric over its datasets: rank, scorer, average, average_low, average_high, META…

    Correlations are means of r itself; "pa" counts pairs of systems over all datasets.

    >>> by_meta(campaign("wmt24", resamples=20).table, "wmt24").columns.tolist()
    ['rank', 'scorer', 'average', 'average_low', 'average_high', 'spa', 'acc_eq']
    """
    one = CAMPAIGNS[name]
    pairs = np.array(
        [_told_apart(load_official(d)) for d in one.datasets] if "pa" in one.meta else [0] * len(one.datasets)
    )
    means = {
        m: np.average(table[[f"{d}_{m}" for d in one.datasets]], axis=1, weights=pairs if m == "pa" else None)
        for m in one.meta
    }
    return table[["rank", "scorer", "average", "average_low", "average_high"]].assign(**means)
