"""What significance at every balance costs: PERM-BOTH beside the plain way, document resamples, memory.

Segment scores of a shipped dataset where they are there; else made ones of the same shape.
"""

from __future__ import annotations

import resource
import time

import numpy as np

import whichbird as wb
from whichbird.core.metametrics import pair_weights
from whichbird.core.permutation import p_counts
from whichbird.data.pool import Pool
from whichbird.study.intervals import intervals
from whichbird.study.significance import significance

DATASET, BALANCES, RESAMPLES, PLAIN = "ende24", 41, 1000, (2, 10)  # the plain way: so many pairs, so many resamples


def main() -> None:
    pool = _pool()
    a, f = (np.nanmean(x, axis=1) for x in (pool.adequacy, pool.fluency))
    betas = np.linspace(*wb.reliable_interval(a, f), BALANCES)
    first, *rest = pool.scorers
    others = Pool(
        pool.name, pool.systems, pool.lines, pool.source_lines, pool.total, pool.adequacy, pool.fluency,
        {name: pool.scorers[name] for name in rest}, documents=pool.documents,
    )  # fmt: skip
    fast, found = _time(lambda: significance(pool, betas, resamples=RESAMPLES))
    own, _ = _time(lambda: significance(others, betas, {first: pool.scorers[first]}, RESAMPLES, only_own=True))
    drawn, _ = _time(lambda: intervals(pool, betas, resamples=RESAMPLES))
    pairs, few = PLAIN
    w = np.array([r.weights for r in wb.reweight_sweep(a, f, betas)])
    plain, _ = _time(lambda: [_plain(pool, n, n + 1, w, few) for n in range(pairs)])
    scorers = len(pool.scorers)
    plain *= scorers * (scorers - 1) / 2 / pairs * RESAMPLES / few

    size = "{} systems, {} segments".format(*pool.total.shape)
    print(f"{DATASET}: {size}, {scorers} scorers, {BALANCES} balances, {RESAMPLES} resamples")
    print(f"the plain way is extrapolated linearly from {pairs} pairs of scorers and {few} resamples each\n")
    print(f"{'PERM-BOTH of all pairs, plain / one set of swaps':<56}{plain / fast:>8.0f} ×   goal: at least 50")
    for what, seconds, goal in (
        ("PERM-BOTH of all pairs", fast, ""),
        ("own scorer against all others", own, "under 5 s on two cores"),
        ("document resamples of the whole contest", drawn, "under 10 s"),
    ):
        print(f"{what:<56}{seconds:>8.1f} s" + (f"   goal: {goal}" if goal else ""))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{'memory at most':<56}{most:>8.2f} GB  goal: under 1 GB")
    assert found.p.shape == (BALANCES, scorers, scorers)


def _plain(pool: Pool, one: int, two: int, w: np.ndarray, resamples: int) -> np.ndarray:
    """PERM-BOTH of one pair of scorers as its definition says, every p-value by 1000 permutations."""
    rng = np.random.default_rng(0)
    x, y = ((v - v.mean()) / v.std() for v in (list(pool.scorers.values())[n] for n in (one, two)))
    human, pi = p_counts(pool.total, exact=False) / 1000, pair_weights(w)

    def lead(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return pi @ (np.abs(human - p_counts(y, exact=False) / 1000) - np.abs(human - p_counts(x, exact=False) / 1000))

    seen, reached = lead(x, y), np.zeros(len(pi))
    for _ in range(resamples):
        swap = rng.random(x.shape) < 0.5
        reached += lead(np.where(swap, y, x), np.where(swap, x, y)) >= seen
    return reached / resamples


def _pool() -> Pool:
    try:
        return wb.load_pool(DATASET)
    except (AttributeError, wb.DataError):
        d = wb.load(DATASET)
        rng = np.random.default_rng(1)
        shape = len(d.systems), len(d.lines)
        x = d.means[:, :, None] + 6 * d.means.std(axis=1)[:, None, None] * rng.normal(size=(len(d.means), *shape))
        aspects = [v[:, None] - v.mean() + rng.normal(size=shape) for v in (d.adequacy, d.fluency)]
        return Pool(
            d.name, d.systems, d.lines, d.source_lines, sum(aspects), *aspects, dict(zip(d.scorers, x, strict=True)),
            documents=tuple(str(n // 3) for n in range(shape[1])),
        )  # fmt: skip


def _time(job):
    start = time.perf_counter()
    out = job()
    return time.perf_counter() - start, out


if __name__ == "__main__":
    main()
