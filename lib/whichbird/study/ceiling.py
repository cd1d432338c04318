"""Where another person would rank: where cells have several ratings, one is the gold standard and the others are scorers.

Each rating of a cell is gold in turn, and never the official total, which may hold the others. Balances are those of the gold's own
adequacy and fluency. All of it rests on the lines whose every translation has all the ratings. The ceiling is the mean over golds and
over the other ratings: what one person's scores earn against another's.

People may take turns: then the first and the second rating of a cell are two people's, but over all cells both are the same people's, and
habits that they share with themselves look like agreement. `apart` deals raters into two groups instead. A line counts if both groups rated
all of it. There are many ways to deal, and what comes out differs between them; so several are tried, of those that keep most lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..core.balance import balance
from ..core.check import Array, DataError
from ..core.permutation import PERMUTATIONS, PUBLISHED_SEED
from ..data.digest import Digest, read_table
from ..data.pool import Pool, Rating, pick
from ..data.protocol import signature
from ..data.registry import FIELDS
from ..data.segments import pool_of
from ..solve.reweight import reliable_interval, reweight
from .average import ENDS
from .contest import contest, need_aspects
from .intervals import Intervals, intervals
from .meta import METAMETRICS, SPA, metametrics
from .ranking import ranks
from .significance import LEVEL, SEED, significance

PERSON = "rating {}"  # what a rating is called among the scorers, counted from 1
CEILING_RESAMPLES = 200  # for a standard error each
TABLE = "ceiling.csv"  # what ships, below data/
CEILING_COLUMNS = ("human_ceiling", "human_ceiling_low", "human_ceiling_high", "best_scorer")
DEALS = 10  # ways to deal raters into two groups that are tried
FULL = 0.9  # of the lines of the way that keeps most: others keep at least so many


class Ceiling(NamedTuple):
    """What another person's ratings earn as a scorer: `value`, and the interval `low` to `high` of 95 %, documents resampled.

    `table` has a row per deal, gold and other rating: deal (0 where raters are not dealt), gold, beta, scorer, value, low, high, rank
    (among the dataset's scorers and the other ratings), best (the dataset's best scorer against this gold), best_value, lead (over it),
    lead_low, lead_high. `best` is the mean over golds of what the best scorer earns.

    >>> found = human_ceiling("ende23", beta="low", resamples=50)
    >>> found.low < found.value < found.high, list(found.table["gold"])
    (True, ['rating 1', 'rating 1', 'rating 2', 'rating 2', 'rating 3', 'rating 3'])
    """

    value: float
    low: float
    high: float
    best: float
    table: pd.DataFrame
    signature: str


def human_ceiling(
    source: Pool | Digest | str, beta: float | str | None = None, meta: str = SPA.name, apart: bool = False,
    resamples: int = CEILING_RESAMPLES, seed: int = SEED
) -> Ceiling:  # fmt: skip
    """Rank people among scorers: each rating of a dataset with several a cell is gold in turn, the others are scorers.

    `beta` is a balance, "low" or "high" (the ends of each gold's own reliable interval) or None (systems unweighted), `meta` a
    meta-metric of the registry. With `apart` gold and scorer are of people who have no one in common.

    >>> found = human_ceiling("ende23", resamples=50)
    >>> round(found.value, 3), round(found.best, 3), found.table[["gold", "scorer", "rank", "best"]].values.tolist()[0]
    (0.978, 0.982, ['rating 1', 'rating 2', 3, 'GEMBA-MQM'])
    """
    metametrics([meta])
    pool = pool_of(source)
    bases = _dealt(pool, seed) if apart else [rated_alike(pool)]
    made = [_one(base, beta, meta, resamples, seed) for base in bases]
    table = pd.concat([t.assign(deal=n + apart) for n, (t, *_) in enumerate(made)], ignore_index=True)
    t, least = made[0][1], METAMETRICS[meta].least
    mean, reach = (
        float(table["value"].to_numpy().mean()),
        t * np.mean([se for *_, se in made]),
    )  # of a mean: at most the mean of errors
    return Ceiling(
        float(mean),
        max(float(mean - reach), float(least)),
        min(float(mean + reach), 1.0),
        float(table.groupby(["deal", "gold"])["best_value"].first().mean()),
        table[["deal", *table.columns.drop("deal")]],
        f"{signature(bases[0], PERMUTATIONS, PUBLISHED_SEED)}|gold:{len(bases[0].ratings)} ratings in turn"
        f"{f'|raters dealt:{len(bases)}' if apart else ''}|meta:{meta}|beta:"
        f"{'natural' if beta is None else beta if isinstance(beta, str) else format(float(beta), '.12g')}"
        f"|bootstrap:{resamples}|seed:{seed}",
    )


def _one(
    base: Pool, beta: float | str | None, meta: str, resamples: int, seed: int
) -> tuple[pd.DataFrame, float, float]:
    """The rows of one pool with several ratings, Student's t, and the standard error of the mean value."""
    record = METAMETRICS[meta]
    field = contest(_with_people(base))
    each: list[Intervals] = []
    rows = []
    for g in range(len(base.ratings)):
        pool = gold_pool(base, g)
        a, f = need_aspects(pool)
        at = reliable_interval(a, f)[ENDS.index(beta)] if isinstance(beta, str) else beta
        k = len(pool.systems)
        w = np.full(k, 1 / k) if at is None else reweight(a, f, at).weights
        names = list(pool.scorers)
        one = field._replace(
            name=pool.name, adequacy=a, fluency=f, human=field.p[field.scorers.index(PERSON.format(g + 1))], scorers=names,
            p=field.p[[field.scorers.index(s) for s in names]], own=np.zeros(len(names), dtype=bool), source=pool
        )  # fmt: skip
        value = dict(zip(names, record.at(one, w[None])[0].tolist(), strict=True))
        place = dict(zip(names, ranks(np.array(list(value.values()))), strict=True))
        people = names[len(base.scorers) :]
        best = max(base.scorers, key=lambda s: value[s], default=None)
        few = replace(pool, scorers={s: pool.scorers[s] for s in (*people, *([] if best is None else [best]))})
        spread = intervals(few, [np.nan if at is None else at], None, resamples, seed, meta=meta)
        each.append(spread)
        lead_se = spread.lead_se(0)[:, -1]
        for n, person in enumerate(people):
            x, top = value[person], np.nan if best is None else value[best]
            reach, margin = spread.t * spread.se[0, n], spread.t * lead_se[n]
            rows.append(
                {"gold": PERSON.format(g + 1), "beta": np.nan if at is None else at, "scorer": person, "value": x,
                 "low": max(x - reach, record.least), "high": min(x + reach, 1.0), "rank": int(place[person]), "best": best,
                 "best_value": top, "lead": x - top, "lead_low": x - top - margin, "lead_high": x - top + margin}
            )  # fmt: skip
    return pd.DataFrame(rows), each[0].t, _together(each, len(base.ratings) - 1)


def _together(each: list[Intervals], people: int) -> float:
    """The standard error of the mean over all golds' people: documents are drawn alike for every gold."""
    x = np.mean([spread.spread[:, 0, :people].mean(axis=1) for spread in each], axis=0)
    x = x[~np.isnan(x)]
    return float(x.std()) if 2 * len(x) >= len(each[0].spread) else np.nan


def rated_alike(pool: Pool) -> Pool:
    """The lines of a pool on which every translation has all its ratings.

    >>> from whichbird import load_pool
    >>> pool = load_pool("ende20")
    >>> len(pool.lines), len(rated_alike(pool).lines)
    (1418, 718)
    """
    if len(pool.ratings) < 2:
        raise DataError(f"{pool.name} has one rating a cell; a human ceiling needs two people on the same translations")
    full = np.all([~np.isnan(r.adequacy + r.total).any(axis=0) for r in pool.ratings], axis=0) & pool.official
    if not full.any():
        raise DataError(f"{pool.name} has no line on which every translation has {len(pool.ratings)} ratings")
    return pick(pool, full, pool.name)


def _dealt(pool: Pool, seed: int) -> list[Pool]:
    """Pools whose first rating of a line is by one group of people and the second by the others: some ways that keep most lines."""
    rated_alike(pool)  # refuses a single rating
    who = np.array([r.raters for r in pool.ratings])  # (R, K, N)
    people = len(pool.rater_names)
    if not 2 <= people <= 16:
        raise DataError(f"{pool.name} names {people} raters; 2 to 16 can be dealt into two groups")
    # Who rated a line in a round, as a set of bits; a round with a gap is of nobody's
    each = np.left_shift(1, np.maximum(who, 0).astype(np.int64))
    bits = np.where((who < 0).any(axis=1) | ~pool.official, 0, np.bitwise_or.reduce(each, axis=1))  # (R, N)

    def rounds(group: int) -> list[NDArray[np.bool_]]:
        """Which rounds of a line are of the one group's people alone, and which of the other's: (R, N) each."""
        return [(bits != 0) & (bits & other == 0) for other in (~group, group)]

    groups = range(1, 1 << (people - 1))  # the last person is in the other group
    kept = np.array([(mine.any(axis=0) & theirs.any(axis=0)).sum() for mine, theirs in map(rounds, groups)])
    if not kept.max():
        raise DataError(f"no way to deal the raters of {pool.name} into two groups leaves a line that both rated")
    good = np.flatnonzero(kept >= FULL * kept.max())
    chosen = np.sort(np.random.default_rng(seed).permutation(good)[:DEALS])
    scores = [np.array([getattr(r, what) for r in pool.ratings]) for what in ("adequacy", "fluency", "total")]
    at, out = np.arange(who.shape[2]), []
    for n in chosen:
        sides = rounds(groups[n])
        keep = np.all([side.any(axis=0) for side in sides], axis=0)
        made = []
        for side in sides:
            first = side.argmax(axis=0)
            a, f, t = (x[first, :, at].T for x in scores)
            made.append(Rating(a, f, t, who[first, :, at].T))
        out.append(pick(replace(pool, ratings=tuple(made)), keep, f"{pool.name}, raters apart"))
    return out


def gold_pool(pool: Pool, gold: int) -> Pool:
    """A pool with one of its ratings, counted from 0, as what people say, and the others behind its scorers."""
    r = pool.ratings[gold]
    people = {PERSON.format(n + 1): x.total for n, x in enumerate(pool.ratings) if n != gold}
    return replace(
        pool, name=f"{pool.name}, gold {PERSON.format(gold + 1)}", total=r.total, adequacy=r.adequacy, fluency=r.fluency,
        scorers=pool.scorers | people, raters=r.raters, ratings=(), errors=None
    )  # fmt: skip


def _with_people(pool: Pool) -> Pool:
    """A pool with all its ratings behind its scorers."""
    first = gold_pool(pool, 0)
    return replace(first, name=pool.name, scorers=first.scorers | {PERSON.format(1): pool.ratings[0].total})


def ceiling_table(pool: Pool, resamples: int = CEILING_RESAMPLES) -> pd.DataFrame | None:
    """What ships of a dataset, None without several ratings: SPA, acc_eq and PDP at β₀ and both ends, and SPA at β₀ with raters apart.

    For SPA PERM-BOTH says how many scorers are significantly `above` and `below` a person, documents swapped, and `p_best` how surely the
    person is better than the best of them; raters apart are not tested so.
    """
    if len(pool.ratings) < 2:
        return None
    base = rated_alike(pool)
    tests = {PERSON.format(g + 1): _tests(gold_pool(base, g), len(base.scorers)) for g in range(len(base.ratings))}
    segmental = [m.name for m in METAMETRICS.values() if m.needs == "segments"]
    parts = []
    for apart, meta, at in [
        (True, SPA.name, None),
        *((False, m, e) for m in (SPA.name, *segmental) for e in ("low", None, "high")),
    ]:
        found = human_ceiling(pool, at, meta, apart, resamples)
        rows = found.table.assign(
            meta=meta,
            at=at or "natural",
            mean=found.value,
            mean_low=found.low,
            mean_high=found.high,
            above=np.nan,
            below=np.nan,
            p_best=np.nan,
        )
        for n, row in rows.iterrows() if meta == SPA.name and not apart else ():
            above, below = tests[row["gold"]][("low", None, "high").index(at)][row["scorer"]]
            best = list(base.scorers).index(row["best"])
            rows.loc[n, ["above", "below", "p_best"]] = (above <= LEVEL).sum(), (below <= LEVEL).sum(), below[best]
        parts.append(rows)
    table = pd.concat(parts, ignore_index=True)
    return table[["meta", "at", *table.columns.drop(["meta", "at"])]].astype({"above": "Int64", "below": "Int64"})


def _tests(pool: Pool, scorers: int) -> list[dict[str, tuple[Array, Array]]]:
    """PERM-BOTH of people against scorers at the low end, β₀ and the high end: by person, that scorers are better, that the person is."""
    every = list(pool.scorers.items())
    people = dict(every[scorers:])
    a, f = need_aspects(pool)
    low, high = reliable_interval(a, f)
    found = significance(
        replace(pool, scorers=dict(every[:scorers])), [low, balance(a, f), high], people, only_own=True
    )
    return [{s: (p[:scorers, scorers + n], p[scorers + n, :scorers]) for n, s in enumerate(people)} for p in found.p]


def ceilings(
    source: Pool | Digest, beta: float | str | None, meta: str | Iterable[str]
) -> tuple[pd.DataFrame | None, str]:
    """The human ceiling of SPA and each other meta-metric named, a row each, or None; and why it is not known, if that is worth saying.

    Of a dataset that ships `ceiling.csv` says whether cells have several ratings, so that its segments are read only then.

    >>> from whichbird import load
    >>> ceilings(load("ende24"), None, "spa"), ceilings(load("ende23"), 0.95, "spa")[0].round(2).values.tolist()
    ((None, ''), [['spa', 0.98, 0.96, 0.99, 0.98]])
    """
    if not _several(source):
        return None, ""
    names = [m.name for m in dict.fromkeys((SPA, *metametrics(meta)))]
    try:
        found = [(name, *_value(source, beta, name)) for name in names]
    except ValueError as error:
        return None, f"no human ceiling: {error}"
    return pd.DataFrame(found, columns=["meta", *CEILING_COLUMNS]), ""


def ceiling_path(source: Pool | Digest) -> pd.DataFrame | None:
    """The human ceiling of SPA at the fluency end, β₀ and the adequacy end: beta, human_ceiling, human_ceiling_low, human_ceiling_high; None where it is not known.

    Each gold has ends of its own; `beta` are those of the source.

    >>> from whichbird import load
    >>> ceiling_path(load("ende23"))["human_ceiling"].round(2).tolist(), ceiling_path(load("ende24"))
    ([0.97, 0.98, 0.98], None)
    """
    if not _several(source):
        return None
    a, f = need_aspects(source)
    low, high = reliable_interval(a, f)
    try:
        rows = [
            (x, *_value(source, at, SPA.name)[:3]) for x, at in ((low, "low"), (balance(a, f), None), (high, "high"))
        ]
    except ValueError:
        return None
    return pd.DataFrame(rows, columns=["beta", *CEILING_COLUMNS[:3]])


def _several(source: Pool | Digest) -> bool:
    """Whether cells have several ratings. Of a dataset that ships the table says so, so that its segments are read only then."""
    if isinstance(source, Pool):
        return len(source.ratings) > 1
    name = source.info.get("of", source.name)
    return name in set(read_table(TABLE)["dataset"]) or name in FIELDS and len(pool_of(source).ratings) > 1


def _value(source: Pool | Digest, beta: float | str | None, meta: str) -> tuple[float, float, float, float]:
    """Ceiling, its interval and what the best scorer earns: those that ship where they do."""
    if isinstance(source, Digest) and not source.dropped and not isinstance(beta, int | float):
        t = read_table(TABLE).query("dataset == @source.name and meta == @meta and deal == 0")
        t = t[t["at"] == (beta or "natural")]
        if len(t):
            value, low, high = t[["mean", "mean_low", "mean_high"]].iloc[0]
            return float(value), float(low), float(high), float(t.groupby("gold")["best_value"].first().mean())
    x = human_ceiling(pool_of(source), beta, meta)
    return x.value, x.low, x.high, x.best
