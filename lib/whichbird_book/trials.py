"""How often what is said of a change is false: statements tried in worlds whose truth is known, the sizes of swap tests,
and how far a first cluster hangs on the seed of its swaps.

**A world** is the documents of a dataset. A contest draws as many of them, with replacement, and everything is made anew:
p-values, system means, weights, SPA, standard errors, swaps. **The truth** is the mean lead over many contests, at each end of
the reliable interval. A claim "the order of i and j changed" is false unless the true leads have the two signs claimed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tqdm import tqdm

from whichbird.core.balance import balance
from whichbird.core.check import Array, DataError, whole
from whichbird.core.closed import closed_p
from whichbird.core.metametrics import pair_weights
from whichbird.core.swap import standard_scores, swap_test
from whichbird.data.digest import Digest
from whichbird.data.pool import Pool
from whichbird.data.segments import pool_of
from whichbird.solve.reweight import reliable_interval, reweight_many
from whichbird.study.contest import need_aspects
from whichbird.study.intervals import Evidence, draw, evidence, numbered, quantile, resample
from whichbird.study.significance import LEVEL, clusters, significance
from whichbird.study.verdict import COUNTS, Bools, Verdict, changes, load_significance

Indices = NDArray[np.int64]
BATCH = 20  # contests with a seed of their own, so that a part can be made again
CLAIMS = (*COUNTS, "turns_swaps_together", "moves")  # all but the last are read as "the order changed"
WAYS = ("segments", "documents", "together")  # of swapping; see `core.swap`


class Trials(NamedTuple):
    """A dataset as a world: its segments, its documents, the two ends, and the true leads at them, (2, M, M)."""

    pool: Pool
    scores: Array  # (M, K, n), on lines with a total
    documents: Indices  # (n,)
    whole: Evidence
    ends: Array
    leads: Array


def trials(source: Pool | Digest | str, truth: int = 2000, seed: int = 1) -> Trials:
    """The world of a dataset, the truth from so many contests.

    >>> trials("ende24", truth=20).leads.shape
    (2, 30, 30)
    """
    pool = pool_of(source)
    whole(truth, "truth", 2)
    if pool.documents is None:
        raise DataError(f"{pool.name} has no documents to draw contests from")
    x = np.array(list(pool.scored.values()))
    every = evidence(pool, x)
    size = every.size.size
    ends = np.array(reliable_interval(*need_aspects(pool)))
    counts = np.random.default_rng(seed).multinomial(size, np.full(size, 1 / size), size=truth).astype(np.float64)
    plain = every._replace(size=np.ones(size))  # a contest counts for the segments it has
    spa = np.nanmean(
        np.concatenate([resample(plain, part, ends) for part in np.array_split(counts, -(-truth // 200))]), axis=0
    )
    return Trials(
        pool, x, numbered(pool.documents, len(pool.lines))[pool.official], every, ends, spa[:, :, None] - spa[:, None]
    )


def false_claims(
    source: Trials | Pool | Digest | str, batches: Sequence[int] = range(10), resamples: int = 200, swaps: int = 400
) -> pd.DataFrame:
    """What is claimed and what of it is false, a row for each batch of contests and claim.

    Columns dataset, batch, claim, contests (of `BATCH`; those that reach both ends), claims (pairs, all contests together),
    false (of these), any_false (contests with a false one), covered (for "moves": the mean share of intervals of the change
    of lead that hold the true one). The claims are those of `Changes.counts` and turns_swaps_together (one swap for
    all systems of a document), each read as "the order changed", and "moves", read as "the lead moved this way". Without
    `swaps`, 0, those by PERM-BOTH are left out.

    >>> table = false_claims(trials("ende24", truth=40), [0], resamples=10, swaps=0)
    >>> table["claim"].tolist()
    ['places', 'moved', 'turns', 'moved_holm', 'turns_holm', 'moves']
    """
    world = source if isinstance(source, Trials) else trials(source)
    claims = [c for c in CLAIMS if swaps or "swaps" not in c]
    before, after = (np.sign(x) for x in world.leads)
    rows = []
    for batch in tqdm(batches, desc=world.pool.name, leave=False, disable=None):
        rng = np.random.default_rng([batch, len(world.leads[0])])
        made: dict[str, list[tuple[int, int]]] = {c: [] for c in claims}
        covered = []
        for _ in range(BATCH):
            tried = _contest(world, rng, resamples, swaps)
            if tried is None:
                continue
            told, leads, se, t = tried
            wrong = (np.sign(leads[0]) != before) | (np.sign(leads[1]) != after)
            change, true = leads[1] - leads[0], world.leads[1] - world.leads[0]
            for claim in claims:
                false = told[claim] & (np.sign(change) != np.sign(true) if claim == "moves" else wrong)
                made[claim].append((int(told[claim].sum()) // 2, int(false.sum()) // 2))
            i, j = np.triu_indices(len(se), 1)
            covered.append((np.abs(change - true) <= t * se)[i, j].mean())
        for claim, pairs in made.items():
            all_told, false = np.array(pairs).reshape(-1, 2).T
            share = float(np.mean(covered)) if claim == "moves" and covered else np.nan
            rows.append(
                (world.pool.name, batch, claim, len(pairs), all_told.sum(), false.sum(), (false > 0).sum(), share)
            )
    return pd.DataFrame(
        rows, columns=["dataset", "batch", "claim", "contests", "claims", "false", "any_false", "covered"]
    )


def false_shares(table: pd.DataFrame) -> pd.DataFrame:
    """All batches of `false_claims` together: a row for each dataset and claim.

    Columns contests, claims (a contest, on average), false (share of the claims), any_false (share of the contests), covered.

    >>> table = pd.DataFrame({"dataset": "x", "batch": [0, 1], "claim": "turns", "contests": [20, 20], "claims": [10, 6],
    ...     "false": [4, 0], "any_false": [3, 0], "covered": np.nan})
    >>> false_shares(table)[["claims", "false", "any_false"]].to_numpy()
    array([[0.4  , 0.25 , 0.075]])
    """
    sums = table.groupby(["dataset", "claim"], sort=False).agg(
        contests=("contests", "sum"), claims=("claims", "sum"), false=("false", "sum"), any_false=("any_false", "sum"),
        covered=("covered", "mean"),
    )  # fmt: skip
    return sums.assign(
        false=sums["false"] / sums["claims"], any_false=sums["any_false"] / sums["contests"], claims=sums["claims"] / sums["contests"]
    )  # fmt: skip


def _contest(
    world: Trials, rng: np.random.Generator, resamples: int, swaps: int
) -> tuple[dict[str, Bools], Array, Array, float] | None:
    """One contest judged: pairs by claim (M, M), leads at both ends (2, M, M), standard errors of their change, t; None out of reach."""
    size = world.whole.size.size
    drawn = rng.integers(0, size, size=size)
    e = world.whole.take(drawn)
    seed = int(rng.integers(1 << 31))
    spa = resample(e, np.ones((1, size)), world.ends)[0]
    if np.isnan(spa).any():
        return None
    counts, factor = draw("bootstrap", size, resamples, seed)
    spread = resample(e, counts, world.ends)
    spread = spread[~np.isnan(spread).any(axis=(1, 2))]
    if 2 * len(spread) < resamples:
        return None
    leads, scattered = spa[:, :, None] - spa[:, None], spread[..., :, None] - spread[..., None, :]
    lead_se, change_se = factor * scattered.std(axis=0), factor * (scattered[:, 1] - scattered[:, 0]).std(axis=0)
    i, j = np.nonzero(np.triu(leads[0] * leads[1] < 0))
    p = {way: _swapped(world, e, drawn, (i, j), swaps, seed, way) for way in WAYS}
    said = [
        changes((spa[0], spa[1]), (lead_se[0], lead_se[1]), change_se, size, tuple(p["segments"]), tuple(p[way]))
        for way in WAYS[1:]
    ]
    told = said[0]._asdict() | {
        "moved": said[0].moved,
        "moved_holm": said[0].places & said[0].moves_holm,
        "turns_swaps_together": said[1].turns_swaps_documents,
    }
    return told, leads, change_se, quantile(LEVEL, size)


def _swapped(
    world: Trials, e: Evidence, drawn: Indices, pairs: tuple[Indices, Indices], swaps: int, seed: int, way: str
) -> Array:
    """PERM-BOTH of some pairs of scorers of a contest at both ends, (2, M, M); each drawn copy of a document is one."""
    i, j = pairs
    p = np.ones((2, len(world.scores), len(world.scores)))
    if not swaps or not i.size:
        return p
    at = [np.flatnonzero(world.documents == g) for g in drawn]
    columns = np.concatenate(at)
    number = None if way == "segments" else np.repeat(np.arange(len(at)), [len(x) for x in at])
    a, f = (x.sum(axis=0) / e.rated.sum(axis=0) for x in (e.adequacy, e.fluency))
    w = reweight_many(a[None], f[None], world.ends[None]).weights[0]
    z, human = (
        standard_scores(world.scores[..., columns]),
        closed_p(world.pool.total[:, world.pool.official][:, columns]),
    )
    found = swap_test(z, i, j, human, pair_weights(w), swaps, seed, number, together=way == "together")
    p[:, i, j], p[:, j, i] = found.at_least / found.resamples, found.at_most / found.resamples
    return p


def swap_sizes(
    effect: float, shared: bool = False, worlds: int = 100, resamples: int = 200, documents: int = 40, seed: int = 1
) -> dict[str, float]:
    """How often PERM-BOTH finds one of two equal scorers better, p ≤ .05, by each of `WAYS`: .05 is right.

    Eight systems, documents of six segments. Both scorers are people's total and noise of the same law, so neither is better. A
    share of the noise belongs to the document, so that the difference of the two has the design effect `effect`: its mean over
    segments varies so many times as much as if segments stood alone. That share is drawn for each system, or is `shared`: one
    number a document, times a constant of the system, drawn anew for each world.

    >>> list(swap_sizes(1.4, worlds=2, resamples=20))
    ['segments', 'documents', 'together']
    """
    systems, length = 8, 6
    rng = np.random.default_rng(seed)
    share = (effect - 1) / (length - 1)
    if not 0 <= share < 1:
        raise ValueError(f"effect is {effect:g}; a number from 1 to below {length} is expected")
    quality, number = 0.25 * rng.normal(size=(systems, 1)), np.repeat(np.arange(documents), length)
    pi = np.full((1, systems * (systems - 1) // 2), 2 / (systems * (systems - 1)))
    reached = dict.fromkeys(WAYS, 0)
    for n in range(worlds):
        total = quality + rng.normal(size=(systems, number.size))
        fixed = rng.normal(size=(systems, 1))
        fixed = (fixed - fixed.mean()) / fixed.std()
        drift = fixed * rng.normal(size=(2, 1, documents)) if shared else rng.normal(size=(2, systems, documents))
        own = rng.normal(size=(2, *total.shape))
        z = standard_scores(total / 2 + np.sqrt(share) * drift[..., number] + np.sqrt(1 - share) * own)
        for way in WAYS:
            by = None if way == "segments" else number
            found = swap_test(z, [0], [1], closed_p(total), pi, resamples, n, by, together=way == "together")
            reached[way] += int(found.at_least[0, 0] <= LEVEL * resamples)
    return {way: count / worlds for way, count in reached.items()}


def cluster_seeds(
    source: Pool | Digest | str, seeds: Sequence[int] = range(10), spare: int = 4, verdict: Verdict | None = None
) -> pd.DataFrame:
    """How many scorers the first cluster has at the natural balance, by the seed of the swaps: columns seed, first.

    Swaps are made by segments, WMT's rule, and go on near the level as everywhere. Only the first scorers are tested, `spare` more than
    the cluster of the `verdict` has (None: the one that ships), and all if that is not enough: a pair's test does not depend on who else takes part.

    >>> cluster_seeds("jazh24", [7])["first"].tolist(), int((load_significance("jazh24").clusters() == 1).sum())
    ([3], 3)
    """
    pool = pool_of(source)
    v = verdict or load_significance(pool.name)
    order = np.argsort(-v.spa[0], kind="stable")
    betas = None if pool.aspects is None else [balance(*pool.aspects)]

    def first(seed: int, count: int) -> int:
        best = order[:count]
        few = replace(pool, scorers={v.scorers[m]: pool.scorers[v.scorers[m]] for m in best})
        found = clusters(v.spa[0][best], significance(few, betas, seed=seed, by="segments").p[0])
        size = int((found == 1).sum())
        return size if size < len(best) or size == len(order) else first(seed, len(order))

    count = int((v.clusters() == 1).sum()) + spare
    return pd.DataFrame({"seed": seeds, "first": [first(int(seed), count) for seed in seeds]})
