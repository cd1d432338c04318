"""Scorers ranked by soft pairwise accuracy, at one balance or along many, with other meta-metrics beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ..core import check
from ..core.check import Array, DataError
from ..data.digest import Digest
from ..data.pool import Pool
from ..data.segments import pool_of
from ..solve.result import Reweighting
from ..solve.reweight import reweight, reweight_sweep
from .contest import Contest, Scores, contest, need_aspects
from .meta import SPA, MetaMetric, metametrics
from .stability import pooled_tau
from .targets import extremes, is_reliable, sorted_targets, weights_table

TIE_DECIMALS = 12  # decimals: SPA is a sum over at most some thousand pairs, which errs by less


@dataclass(frozen=True, eq=False)
class Ranking:
    """Scorers ranked at one balance.

    `table`: rank, scorer, spa, rank_natural, spa_natural (both without reweighting), own (True for scorers passed as
    `scores`), and for each other meta-metric NAME that was asked for NAME, rank_NAME, NAME_natural; best first, equal scorers
    share the better rank. `weights`: system, adequacy, fluency, weight.
    `reweighting` is the solver's answer, None at the natural balance. `signature` says what the figures rest on.

    >>> from whichbird import load
    >>> found = rank(load("ende24"), 0.6)
    >>> found.weights.head(2).round(3)
           system  adequacy  fluency  weight
    0       Aya23    -1.587   -1.487   0.069
    1  Claude-3.5    -1.232   -1.004   0.067
    >>> round(found.reweighting.ess, 2), found.signature.split("|")[-1]
    (14.88, 'beta:0.6')
    """

    table: pd.DataFrame
    weights: pd.DataFrame
    reweighting: Reweighting | None
    signature: str

    def __repr__(self) -> str:
        return f"<Ranking {len(self.table)} scorers, best {self.table['scorer'].iloc[0]}|{self.signature}>"


def rank(
    source: Digest | Pool | Contest | str, beta: float | None = None, scores: Scores | None = None,
    meta: str | Iterable[str] = "spa", tests: bool = False
) -> Ranking:  # fmt: skip
    """Rank all scorers of `source` at balance `beta` (None: the natural balance), with your own `scores` among them.

    `source` is a dataset's name, or what `load`, `load_pool` or `contest` gives. `scores` maps a name to segment scores (K, N),
    higher is better: rows in the order of `source.systems`, columns the N rated lines that have a total, or all
    `source.source_lines`, of which those are picked; a DataFrame goes by its labels: systems, and segments as `source` names
    them or source lines counted from 1. Or to p-values (P,) of all pairs, where those are known already. One array alone is a
    scorer called yours. `meta` names meta-metrics of the registry, as "spa,acc_eq" or one by one: `rank` is SPA's always, the
    others stand beside it, and rows are in the order of the first. With `tests` the table has cluster, rank_low, rank_high and
    se too, as the command's: they ship for datasets, and take seconds for scorers or ratings of yours.

    >>> rank("ende24", 0.6).table.head(3)[["rank", "scorer", "rank_natural"]]
       rank     scorer  rank_natural
    0     1  XCOMET-QE             1
    1     2     XCOMET             2
    2     3   COMET-22             3
    >>> rank("ende24", 0.6, meta="pearson").table.loc[:1, ["rank", "scorer", "pearson", "rank_pearson"]].round(3)
       rank      scorer  pearson  rank_pearson
    0     4     BLCOM_1    0.954             1
    1    10  MetricX-24    0.941             2
    >>> rank("ende24", 0.6, tests=True).table.loc[:1, ["scorer", "cluster", "rank_low", "rank_high"]]
          scorer  cluster  rank_low  rank_high
    0  XCOMET-QE        1         1         17
    1     XCOMET        1         1         17
    """
    chosen = metametrics(meta)
    c = source if isinstance(source, Contest) else contest(source, scores)
    solved = None if beta is None else reweight(*need_aspects(c), beta)
    k = len(c.systems)
    w = np.full(k, 1 / k) if solved is None else solved.weights
    at = {m.name: m.at(c, np.array([w, np.full(k, 1 / k)])) for m in (SPA, *chosen)}
    now, natural = at.pop(SPA.name)
    table = pd.DataFrame(
        {
            "rank": ranks(now),
            "scorer": c.scorers,
            "spa": now,
            "rank_natural": ranks(natural),
            "spa_natural": natural,
            "own": c.own,
        }
    )
    for name, (x, before) in at.items():
        table[name], table[f"rank_{name}"], table[f"{name}_natural"] = x, ranks(x), before
    found = Ranking(
        table.sort_values([rank_column(chosen[0]), "scorer"], ignore_index=True),
        weights_table(c.systems, c.adequacy, c.fluency, w),
        solved,
        f"{c.signature}|beta:{'natural' if beta is None else format(float(beta), '.12g')}",
    )
    if not tests:
        return found
    from .tested import with_tests

    if not isinstance(c.source, Pool | Digest):
        raise DataError(f"{c.name} holds p-values only; tests need a dataset or a pool")
    data = c.source if c.reference in (None, c.source.reference) else pool_of(c.source, c.reference)
    return with_tests(found, c, data, beta, c.scores)[0]


def rank_sweep(
    source: Digest | Pool | Contest | str, betas: ArrayLike | None = None, scores: Scores | None = None,
    meta: str | Iterable[str] = "spa"
) -> pd.DataFrame:  # fmt: skip
    """`rank` at many balances (those of `steps` if none are given), as one long table.

    Columns beta, ess, reliable (ESS ≥ 0.9 K), certificate, weight_least, system_least, weight_most, system_most (who weighs
    least and most there, times uniform), vanishing (systems with less than .02 of that), scorer, spa, rank, own, and NAME and rank_NAME
    for each other meta-metric of `meta`; targets ascending, scorers in order.

    >>> rank_sweep("ende24", [0.5, 0.6]).groupby("beta")[["ess", "reliable"]].first().round(3)
             ess  reliable
    beta
    0.5   13.835     False
    0.6   14.880      True
    """
    c = source if isinstance(source, Contest) else contest(source, scores)
    a, f = need_aspects(c)
    betas = sorted_targets(a, f, betas)
    rows = []
    solved = reweight_sweep(a, f, betas).insist()
    at = {m.name: m.at(c, solved.weights) for m in (SPA, *metametrics(meta))}
    every = at.pop(SPA.name)
    for n, (beta, r, spa) in enumerate(zip(betas, solved, every, strict=True)):
        rows.append(
            pd.DataFrame(
                {
                    "beta": beta,
                    "ess": r.ess,
                    "reliable": is_reliable(r),
                    "certificate": r.certificate,
                    **extremes(c.systems, r.weights)._asdict(),
                    "scorer": c.scorers,
                    "spa": spa,
                    "rank": ranks(spa),
                    "own": c.own,
                    **{column: v for m, x in at.items() for column, v in ((m, x[n]), (f"rank_{m}", ranks(x[n])))},
                }
            )
        )
    return pd.concat(rows, ignore_index=True)


def spa_of(c: Contest, w: Array) -> Array:
    """SPA of every scorer: (M,)."""
    return np.asarray(SPA.at(c, w[None])[0])


def rank_column(meta: MetaMetric) -> str:
    """The column of a table in which a meta-metric ranks."""
    return "rank" if meta is SPA else f"rank_{meta.name}"


def ranks(spa: Array) -> NDArray[np.int64]:
    """1 for the largest; equals share the better rank."""
    return pd.Series(spa.round(TIE_DECIMALS)).rank(ascending=False, method="min").to_numpy().astype(np.int64)


class RankChange(NamedTuple):
    """What became of a ranking: Kendall's τ with the other, the most places a scorer moved, whether no winner of one wins the other.

    >>> rank_change([0.9, 0.8, 0.7], [0.8, 0.9, 0.7])
    RankChange(tau=0.333..., largest=1, winner=True)
    """

    tau: float
    largest: int
    winner: bool


def rank_change(first: ArrayLike, second: ArrayLike) -> RankChange:
    """Compare two rankings of the same M scorers by their scores (M,), higher is better; equal scores share the better rank.

    >>> rank_change([0.9, 0.8, 0.7, 0.6], [0.8, 0.9, 0.7, 0.6])
    RankChange(tau=0.6666666666666666, largest=1, winner=True)
    """
    scores = np.array([check.vector(first, "first"), check.vector(second, "second", np.size(first))])
    before, after = (ranks(s) for s in scores)
    return RankChange(
        pooled_tau(scores, 10.0**-TIE_DECIMALS),
        int(np.abs(before - after).max()),
        not ((before == 1) & (after == 1)).any(),
    )
