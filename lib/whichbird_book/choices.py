"""How far a choice moves the ranking of scorers: a grouping of errors, a seed, a total, a reference; and β, to compare.

Whatever is chosen, two rankings of the same scorers are compared in the same way, by `rank_change`. SPA's human side is
the official total throughout, but for `by_total`: a grouping of errors decides about adequacy and fluency, and so about weights.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from whichbird.core.augment import PAPER_FAMILIES, shifts
from whichbird.core.balance import balance, reachable
from whichbird.core.check import Array
from whichbird.core.metametrics import pair_weights, soft_accuracy
from whichbird.core.permutation import PERMUTATIONS, PUBLISHED_SEED as PUBLISHED, p_counts, p_curve_counts
from whichbird.data.digest import Digest, dataset_of, load, make
from whichbird.data.pool import Pool, system_means
from whichbird.data.segments import pool_of
from whichbird.data.taxonomies import PAPER, Grouping, load_taxonomy, regroup, taxonomies
from whichbird.solve.reweight import reliable_interval, reweight_sweep
from whichbird.study.contest import need_aspects
from whichbird.study.preference import preference, steps
from whichbird.study.ranking import RankChange, rank_change

TASTE, *SOUND = PAPER_FAMILIES
SEEDS = tuple(range(5, 25))  # the published one is 4
TARGETS = 21  # across a reliable interval, its ends included


def by_beta(source: Digest | Pool | str) -> dict[str, RankChange]:
    """From the natural balance to the ends of the reliable interval: "low", "high".

    >>> round(by_beta("ende24")["low"].tau, 3)
    0.88
    """
    d = _digest(source)
    a, f = need_aspects(d)
    spa = _spa(d, reweight_sweep(a, f, [*reliable_interval(a, f)]).weights)
    return {end: rank_change(natural_spa(d), s) for end, s in zip(("low", "high"), spa, strict=True)}


def by_reference(source: Digest | str) -> RankChange:
    """From the paper's reference to the one that WMT used, at the natural balance.

    >>> by_reference("ende24")
    RankChange(tau=0.885..., largest=7, winner=False)
    """
    d = dataset_of(source)
    human = d.counts("total")
    return rank_change(*(_plain(human, d.counts(which)) for which in ("scorers", "standard")))


def by_total(source: Pool | str, d: Digest | None = None) -> RankChange:
    """From the official total to adequacy plus fluency as SPA's human side, at the natural balance.

    `d` is the pool's digest, here and in `by_taxonomy`: it is made where none is given, which takes some seconds, unless a name
    leads to both.

    >>> by_total("ted_zhen")
    RankChange(tau=0.994..., largest=1, winner=False)
    """
    pool, d = _both(source, d)
    if pool.adequacy is None or pool.fluency is None:
        need_aspects(pool)  # refuses, and says why
        raise AssertionError
    count, ours = partial(p_counts, exact=pool.exact), pool.adequacy + pool.fluency
    both = pool.official & pool.annotated
    if both.all():
        d = _digest(pool, d)
        return rank_change(natural_spa(d), _plain(count(ours), d.counts("scorers")))
    if d is not None:
        _refuse_foreign(pool, d)
    p = np.array([count(x[:, both]) for x in pool.scorers.values()])  # on the lines that both human sides have
    return rank_change(_plain(count(pool.total[:, both]), p), _plain(count(ours[:, both]), p))


def by_seed(source: Pool | Digest | str, seeds: Iterable[int] = SEEDS) -> pd.DataFrame:
    """From the published seed of the permutation tests to others: seed, tau, largest, winner, spa (the largest change of one).

    >>> by_seed("ted_zhen", [1]).round(3)
       seed    tau  largest  winner    spa
    0     1  0.989        1       0  0.007
    """
    if not (seeds := list(seeds)):
        raise ValueError("no seed is given; at least one is expected")
    pool = pool_of(source)
    first = _seeded(pool)
    rows = []
    for seed in seeds:
        other = _seeded(pool, seed)
        rows.append({"seed": seed, **rank_change(first, other)._asdict(), "spa": np.abs(first - other).max()})
    return pd.DataFrame(rows).astype({"winner": int})


def by_taxonomy(
    source: Pool | str, d: Digest | None = None, names: Iterable[str | Grouping] | None = None
) -> pd.DataFrame:
    """What a β means under other groupings of errors (all that ship if none are named): one row each.

    beta0, beta_min, beta_max, low, high: natural balance, reachable range, reliable interval under the grouping. Then its ranking
    against that under the paper's grouping, in two ways. At the same target, the paper's β₀ and ends of its reliable
    interval: `natural_…`, `low_…`, `high_…`; `…_ess` is the share of K that the weighting keeps there, and all are missing where
    the target cannot be reached. At the same place, the grouping's own ends: `low_end_…`, `high_end_…`. Each has tau,
    largest, winner of `rank_change`. Last the claims about the paper's Figure 3 inside the grouping's own reliable
    interval: the preference for adequacy at low, β₀ and high (`taste_…`), how far it ever falls (`drop`), how much
    adherence and explainability lose (`loss_…`). Augmented scorers of the preference follow the grouping; those of
    explainability are the paper's, since they need (a, f) of every cell.

    >>> found = by_taxonomy("ende21", names=["paper", "terminology"])
    >>> found[["taxonomy", "beta0", "low", "high", "natural_tau"]].round(3)
          taxonomy  beta0    low   high  natural_tau
    0        paper  0.227  0.146  0.380        1.000
    1  terminology  0.289  0.181  0.489        0.926
    """
    chosen = [load_taxonomy(g) if isinstance(g, str) else g for g in (taxonomies() if names is None else names)]
    pool, d = _both(source, d)
    d = _digest(pool, d)
    human = d.counts("total")
    table = {family: steps(human, d.curve_counts(family)) for family in SOUND}
    papers = regroup(pool, PAPER)
    goals = {"natural": balance(*papers), **dict(zip(("low", "high"), reliable_interval(*papers), strict=True))}
    mine = dict(zip(goals, _spa(d, reweight_sweep(*papers, [*goals.values()]).weights), strict=True))
    return pd.DataFrame([_under(g, pool, d, table, goals, mine) for g in chosen])


def _under(
    g: Grouping, pool: Pool, d: Digest, sound: dict[str, np.ndarray], goals: dict[str, float], papers: dict[str, Array]
) -> dict[str, object]:
    a, f = regroup(pool, g)
    beta0, (least, most), (low, high) = balance(a, f), reachable(a, f), reliable_interval(a, f)
    row: dict[str, object] = {
        "taxonomy": g.name, "beta0": beta0, "beta_min": least, "beta_max": most, "low": low, "high": high
    }  # fmt: skip
    for place, beta in goals.items():
        found: RankChange | None = None
        ess = np.nan
        if least <= beta <= most:
            (solved,) = reweight_sweep(a, f, [beta])
            ess = solved.ess / len(d.systems)
            found = rank_change(papers[place], *_spa(d, solved.weights[None]))
        row |= {f"{place}_ess": ess, **_named(place, found)}
    betas = np.unique(np.concatenate([np.linspace(low, high, TARGETS), [beta0]]))
    w = reweight_sweep(a, f, betas).weights
    for place, spa in zip(("low", "high"), _spa(d, w[[0, -1]]), strict=True):
        row |= _named(f"{place}_end", rank_change(papers[place], spa))
    taste = np.asarray(preference(steps(d.counts("total"), taste_curves(pool, a, f)), w))
    at = int(np.searchsorted(betas, beta0))
    row |= {"taste_low": taste[0], "taste_natural": taste[at], "taste_high": taste[-1]}
    row["drop"] = (np.maximum.accumulate(taste) - taste).max()
    for family, table in sound.items():
        y = np.asarray(preference(table, w))
        row[f"loss_{family}"] = y[at] - y.min()
    return row


def taste_curves(pool: Pool, adequacy: ArrayLike, fluency: ArrayLike) -> np.ndarray:
    """P-values, as whole numbers of permutations, along the adequacy-fluency dial made of any system means (K,): (M, dials, P)."""
    return np.array(
        [
            p_curve_counts(x, shifts(TASTE, system_means(x), system_means(pool.total), adequacy, fluency, None))
            for x in pool.scored.values()
        ]
    )


def natural_spa(d: Digest) -> Array:
    """SPA of every scorer with all systems counting the same: (M,)."""
    return _plain(d.counts("total"), d.counts("scorers"))


def _both(source: Pool | str, d: Digest | None) -> tuple[Pool, Digest | None]:
    """A pool and its digest; both of a dataset that is named."""
    return (pool_of(source), d or load(source)) if isinstance(source, str) else (source, d)


def _digest(source: Digest | Pool | str, d: Digest | None = None) -> Digest:
    source = dataset_of(source)
    if d is not None:
        _refuse_foreign(source, d)
        return d
    return source if isinstance(source, Digest) else make(source)


def _refuse_foreign(source: Digest | Pool, d: Digest) -> None:
    if (d.systems, d.scorers) != (source.systems, tuple(source.scorers)):
        raise ValueError(
            f"the digest of {d.name} has not the systems and scorers of {source.name}; its own is expected"
        )


def _plain(human: np.ndarray, scorers: np.ndarray) -> Array:
    """Unweighted SPA from p-values as whole numbers: sums are exact, so ties are."""
    spa: Array = 1 - np.abs(human - scorers).sum(axis=1) / (PERMUTATIONS * human.size)
    return spa


def _spa(d: Digest, w: Array) -> Array:
    """SPA of every scorer at weightings w (W, K): (W, M)."""
    far = np.abs(d.counts("total") - d.counts("scorers")) / PERMUTATIONS
    return np.array([soft_accuracy(far, pair_weights(v)) for v in w])


def _seeded(pool: Pool, seed: int | None = None) -> Array:
    count = partial(p_counts, seed=PUBLISHED if seed is None else seed, exact=pool.exact)
    return _plain(count(pool.total), np.array([count(x) for x in pool.scored.values()]))


def _named(place: str, change: RankChange | None) -> dict[str, float]:
    """The columns of a comparison; missing where there is none."""
    return {
        f"{place}_{what}": np.nan if change is None else float(getattr(change, what)) for what in RankChange._fields
    }
