"""acc_eq: one sort against trying every threshold, and many weightings at once against one after the other.

Run from the repository: python -m bench.segmental
"""

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
    start = time.perf_counter()
    out = run()
    return time.perf_counter() - start, out


def main():
    pool = wb.load_pool("ende24")
    few = slice(0, 40)  # segments: plain takes as many passes as there are cells
    human, x = pool.total[:, few], pool.scorers["XCOMET"][:, few]
    slow, one = seconds(lambda: plain(human, x))
    fast, two = seconds(lambda: wb.acc_eq(human, x))
    assert abs(one - two) < 1e-12
    print(f"acc_eq, {human.shape[1]} segments: one sort is {slow / fast:.0f} times as fast as every threshold")
    rng = np.random.default_rng(0)
    w, x = rng.dirichlet(np.full(len(pool.systems), 50.0), 200), np.array(list(pool.scorers.values())[:10])
    times = rng.poisson(1, (200, pool.total.shape[1])).astype(float)
    single, _ = seconds(lambda: tie_accuracies(pool.total, x, w[:1], times[:1]))
    many, _ = seconds(lambda: tie_accuracies(pool.total, x, w, times))
    print(f"200 weightings of 10 scorers cost {many / single:.0f} times as much as one")


if __name__ == "__main__":
    main()
