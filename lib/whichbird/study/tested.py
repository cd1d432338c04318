"""Rankings with their uncertainty: a ranking at one balance with its clusters and rank intervals, a sweep with its bands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from ..data.digest import Digest, dataset_of
from ..data.pool import Pool
from ..data.segments import pool_of
from .contest import Contest, Scores, named_scores
from .intervals import intervals
from .meta import beside
from .ranking import Ranking
from .significance import RESAMPLES
from .verdict import Standing, shipped_tests, standing

MARKS = ["cluster", "rank_low", "rank_high", "se"]
META_RESAMPLES = 200  # resamples of meta-metrics beside SPA, for a standard error each


def with_tests(
    found: Ranking, field: Contest, source: Digest | Pool | str, beta: float | None = None, scores: Scores | None = None,
    resamples: int = RESAMPLES
) -> tuple[Ranking, Standing | None]:  # fmt: skip
    """A ranking whose table has the columns cluster, rank_low, rank_high and se (of SPA) too, and what they rest on.

    `found` ranks the contest `field` at `beta`; `source` holds the segments, and `scores` those of your own scorers. A single
    scorer has nobody to be compared with: its rank is 1.

    >>> from whichbird import contest, load, rank
    >>> d = load("ende24")
    >>> field = contest(d)
    >>> with_tests(rank(field), field, d)[0].table.loc[:1, ["scorer", "cluster", "rank_low"]]
          scorer  cluster  rank_low
    0  XCOMET-QE        1         1
    1     XCOMET        1         1
    """
    if len(field.scorers) < 2:
        return replace(found, table=_ordered(found.table.assign(cluster=1, rank_low=1, rank_high=1, se=np.nan))), None
    spa = found.table.set_index("scorer")["spa"].loc[field.scorers].to_numpy()
    s = standing(source, spa, beta, scores, resamples)
    marks = pd.DataFrame({"cluster": s.cluster, "rank_low": s.rank_low, "rank_high": s.rank_high, "se": s.se})
    place = [field.scorers.index(scorer) for scorer in found.table["scorer"]]
    return replace(found, table=_ordered(found.table.join(marks.iloc[place].reset_index(drop=True)))), s


def with_errors(
    found: Ranking, source: Digest | Pool | str, meta: str | Iterable[str], beta: float | None = None,
    scores: Scores | None = None, resamples: int = META_RESAMPLES
) -> Ranking:  # fmt: skip
    """A ranking whose table has the column NAME_se too for each meta-metric beside SPA: standard errors, documents resampled.

    >>> from whichbird import rank
    >>> found = with_errors(rank("ende24", meta="spa,pearson"), "ende24", "spa,pearson", resamples=50)
    >>> found.table.loc[:1, ["scorer", "pearson", "pearson_se"]].round(2)
          scorer  pearson  pearson_se
    0  XCOMET-QE     0.91        0.02
    1     XCOMET     0.94        0.02
    """
    table = found.table.copy()
    for m in beside(meta):
        x = intervals(source, [np.nan if beta is None else beta], scores, resamples, meta=m.name)
        table[f"{m.name}_se"] = table["scorer"].map(dict(zip(x.scorers, x.se[0], strict=True)))
    return replace(found, table=table)


def _ordered(table: pd.DataFrame) -> pd.DataFrame:
    first = ["rank", "scorer", "spa", *MARKS]
    return table[[*first, *table.columns.drop(first)]]


def with_bands(table: pd.DataFrame, source: Digest | Pool | str, scores: Scores | None = None) -> pd.DataFrame:
    """A `rank_sweep` with the columns spa_low, spa_high, rank_low, rank_high: intervals of 95 % where ESS ≥ 0.9 K, else NaN.

    Those of the shipped scorers ship, at stops no further than .0025 apart from any reliable balance; with your own `scores`
    among them, or a `Pool`, documents are resampled on the spot.
    """
    source = dataset_of(source)
    scores = named_scores(scores, source)
    inner = np.sort(table.loc[table["reliable"], "beta"].unique())
    names = table["scorer"].unique().tolist()
    columns = ("spa_low", "spa_high", "rank_low", "rank_high")
    if not inner.size:
        return table.assign(**dict.fromkeys(columns, np.nan))
    v = None if scores else shipped_tests(source, names)
    if v is None:
        found = intervals(pool_of(source), inner, scores)
        scorers, t, se = found.scorers, found.t, found.se
        ranks = [found.ranks(b) for b in range(inner.size)]
    else:
        rows = [v.nearest(beta) for beta in inner]
        scorers, t, se = v.scorers, v.t, v.se[rows]
        ranks = [(v.rank_low[b], v.rank_high[b]) for b in rows]
    bands = pd.DataFrame(
        {
            "beta": np.repeat(inner, len(scorers)),
            "scorer": list(scorers) * inner.size,
            "se": np.ravel(se),
            "rank_low": np.concatenate([low for low, _ in ranks]),
            "rank_high": np.concatenate([high for _, high in ranks]),
        }
    )
    out = table.merge(bands[bands["scorer"].isin(names)], on=["beta", "scorer"], how="left")
    reach = t * out.pop("se")
    return out.assign(spa_low=(out["spa"] - reach).clip(0, 1), spa_high=(out["spa"] + reach).clip(0, 1))[
        [*table.columns, *columns]
    ]
