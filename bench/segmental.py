"""acc_eq: one sort against trying every threshold, many weightings at once against one, and resamples of whole contests.

mt-metrics-eval, which WMT uses, is not on PyPI (the package of that name is another), so the comparison is with the definition written
out in NumPy: quadratic, and so on few segments. Run from the repository: python -m bench.segmental
"""

import resource
import time

import numpy as np

import whichbird as wb
from whichbird.core.segmental import tie_accuracies


def plain(human, scorer):
    """The definition: every |Δ| tried as the threshold, all pairs of all segments looked at for each."""
    i, j = np.triu_indices(len(human), 1)
    dh, ds = human[i] - human[j], scorer[i] - scorer[j]
    return max(
        np.where(dh == 0, abs(ds) <= eps, (dh * ds > 0) & (abs(ds) > eps)).mean()
        for eps in np.unique(np.append(0, abs(ds)))
    )


def seconds(run):
    """Processor time of the second of two runs: the first loads what is needed. And what it gives."""
    run()
    start = time.process_time()
    out = run()
    return time.process_time() - start, out


def main():
    pool = wb.load_pool("ende24")
    few = slice(0, 40)  # segments: plain takes as many passes as there are cells
    human, x = pool.total[:, few], np.array([v[:, few] for v in pool.scorers.values()])
    slow, one = seconds(lambda: [plain(human, v) for v in x[:3]])
    fast, two = seconds(lambda: tie_accuracies(human, x[:3], np.ones((1, len(human))))[0])
    assert np.abs(two - one).max() < 1e-12
    print(f"acc_eq, {human.shape[1]} segments: one sort is {slow / fast:.0f} times as fast as every threshold")
    rng = np.random.default_rng(0)
    w, x = rng.dirichlet(np.full(len(pool.systems), 50.0), 200), np.array(list(pool.scorers.values()))
    times = rng.poisson(1, (200, pool.total.shape[1])).astype(float)
    single, _ = seconds(lambda: tie_accuracies(pool.total, x, w[:1], times[:1]))
    many, _ = seconds(lambda: tie_accuracies(pool.total, x, w, times))
    print(
        f"acc_eq, 200 weightings of {len(x)} scorers, {x.shape[2]} segments: {many / single:.0f} times as much as one"
    )
    low, high = wb.reliable_interval(*pool.aspects)
    metas = ("spa", "acc_eq", "pdp")
    every, _ = seconds(lambda: [wb.intervals(pool, [low, np.nan, high], None, 200, meta=m) for m in metas])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"200 resamples at 3 balances of {len(x)} scorers by {', '.join(metas)}: {every / single:.0f} times as much as acc_eq once "
        f"({every:.0f} s of processor time, at most {memory:.1f} GB)"
    )


if __name__ == "__main__":
    main()
