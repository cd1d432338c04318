"""What permutation tests, p-value curves and weighted SPA cost, as ratios of one run: seconds say more about the machine.

Segment scores do not ship, so those here are made up: normal noise around the system means of ende24, in its shape.
"""

from __future__ import annotations

import time
import tracemalloc

import numpy as np

import whichbird as wb
from whichbird.core.augment import PAPER_FAMILIES as FAMILIES, shifts
from whichbird.core.metametrics import pair_weights
from whichbird.core.permutation import p_counts, p_curve_counts, signs

DATASET, REPEATS, SAMPLE, WEIGHTINGS, TURNS = "ende24", 7, 3, 100, 3
GAPS = 0.05  # share of scores that are missing, where some are
MQM = -np.array([0, 0, 0, 0, 0, 1, 5, 10, 50]) / 10  # as many permuted gaps equal the observed one as with real errors


def main() -> None:
    d = wb.load(DATASET)
    rng = np.random.default_rng(1)
    noise = 6 * d.means.std(axis=1)[:, None, None]  # segments differ more than systems do
    x = d.means[:, :, None] + noise * rng.normal(size=(*d.means.shape, len(d.lines)))
    move = [
        np.concatenate([shifts(f, v.mean(axis=1), d.total, d.adequacy, d.fluency, o) for f in FAMILIES])
        for v, o in zip(x, d.offsets, strict=True)
    ]
    scorers, dials = len(x), len(move[0])

    # Dial by dial takes minutes, so a few scorers and dials are measured: each costs the same, and the whole is linear.
    some = np.linspace(0, dials - 1, SAMPLE).astype(int)
    by_dial, plain, curves = _best(
        lambda: [p_counts(x[m] + move[m][n][:, None], exact=False) for m in range(SAMPLE) for n in some],
        lambda: [p_counts(v) for v in x],
        lambda: [p_curve_counts(v, c) for v, c in zip(x, move, strict=True)],
    )
    by_dial *= scorers * dials / SAMPLE**2
    for m in range(SAMPLE):  # what is compared is equal
        assert np.array_equal(
            p_curve_counts(x[m], move[m])[some], [p_counts(x[m] + move[m][n][:, None], exact=False) for n in some]
        )

    scorer_p = np.concatenate([d.curves(f) for f in FAMILIES], axis=1)
    # one weighting stands for one β: what it costs does not depend on its values
    w = rng.dirichlet(np.ones(len(d.systems)), size=WEIGHTINGS)
    distance, pi = np.abs(scorer_p - d.human_p).reshape(-1, d.human_p.size), pair_weights(w)
    weighted, product = _best(lambda: wb.spa_from_p(d.human_p, scorer_p, w), lambda: pi @ distance.T)

    print(
        f"{DATASET}: {len(d.systems)} systems, {len(d.lines)} segments, {scorers} scorers, {dials} dials, "
        f"{WEIGHTINGS} weightings"
    )
    print(f"best of {REPEATS}; dial by dial is extrapolated linearly from {SAMPLE} scorers at {SAMPLE} dials each\n")
    for what, value, goal in (
        ("dial by dial / all curves from one test", by_dial / curves, "at least 50"),
        ("all curves / one plain test per scorer", curves / plain, "at most 5"),
        ("weighted SPA of all augmented / bare product", weighted / product, "at most 3"),
    ):
        print(f"{what:<46}{value:>8.1f} ×   goal: {goal}")
    plain_tests()


def plain_tests() -> None:
    """The test itself where it used to be slow: missing scores, near-ties, many systems."""
    rng = np.random.default_rng(2)
    print(
        f"\nplain tests, processor time, best of {TURNS}; the plain way is extrapolated linearly from a few pairs or permutations\n"
    )
    print(f"{'':<46}{'plain way / now':>15}{'MB':>8}")
    for what, shape, gaps, tie, plain_way in (
        ("16 systems, 500 segments, gaps", (16, 500), GAPS, False, pair_by_pair),
        ("60 systems, 5000 segments, gaps", (60, 5000), GAPS, False, pair_by_pair),
        ("60 systems, 5000 segments, gaps, MQM", (60, 5000), GAPS, True, pair_by_pair),
        ("16 systems, 500 segments, MQM", (16, 500), 0, True, all_systems),
        ("100 systems, 10 000 segments, MQM", (100, 10_000), 0, True, all_systems),
        ("1000 systems, 500 segments", (1000, 500), 0, False, None),
    ):
        x = rng.choice(MQM, size=shape) if tie else rng.normal(size=shape)
        x[rng.random(shape) < gaps] = np.nan
        signs(shape[1])  # drawn once for all tests of this length
        now, plain = [], []
        for _ in range(TURNS):
            start = time.process_time()
            counts = p_counts(x)
            now.append(time.process_time() - start)
            plain.append(plain_way(x, counts) if plain_way else np.nan)
        ratio = f"{min(plain) / min(now):.0f} ×" if plain_way else "–"
        tracemalloc.start()  # in a run of its own: it slows every allocation
        p_counts(x)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        print(f"{what:<46}{ratio:>15}{peak:>8.0f}")


def pair_by_pair(x: np.ndarray, counts: np.ndarray) -> float:
    """Processor seconds of one test for each pair on the segments it shares, from the pairs of a few systems; the counts agree."""
    s, (i, j) = signs(x.shape[1]), np.triu_indices(len(x), 1)
    some = np.flatnonzero(j < SAMPLE)
    start = time.process_time()
    for p in some:
        both = ~np.isnan(x[[i[p], j[p]]]).any(axis=0)
        gap, shared = (x[i[p]] - x[j[p]])[both], s[:, both]
        excess = shared @ gap - gap.sum()
        reached, near = excess > 0, np.abs(excess) <= 1e-9 * np.abs(gap).sum()
        reached[near] = _reach(x[[i[p], j[p]]][:, both], shared[near])
        assert reached.sum() == counts[p]
    return (time.process_time() - start) * i.size / some.size


def all_systems(x: np.ndarray, counts: np.ndarray) -> float:
    """Processor seconds of summing every system in order in each permutation where some pair nearly ties, from 64 of these."""
    s, (i, j) = signs(x.shape[1]), np.triu_indices(len(x), 1)
    start = time.process_time()
    permuted, observed, size = x @ s.T, x.sum(axis=1), 1e-9 * np.abs(x).sum(axis=1)
    excess = permuted[i] - permuted[j] - (observed[i] - observed[j])[:, None]
    rows = np.flatnonzero((np.abs(excess) <= (size[i] + size[j])[:, None]).any(axis=0))
    product = time.process_time() - start
    some = rows[:64]
    start = time.process_time()
    np.cumsum(s[some][:, None, :] * x, axis=-1)
    in_order = (time.process_time() - start) * len(rows) / len(some)
    few = np.flatnonzero(j < SAMPLE)  # what is compared is equal
    assert [_reach(x[[i[p], j[p]]], s).sum() for p in few] == counts[few].tolist()
    return product + in_order


def _reach(pair: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Whether each row of s gives a pair of systems (2, N) at least its observed gap, summed from first to last."""
    first, second = (np.cumsum(s * v, axis=1)[:, -1] for v in pair)
    return first - second >= np.cumsum(pair[0])[-1] - np.cumsum(pair[1])[-1]


def _best(*jobs) -> list[float]:
    """Seconds of the fastest run of each job; they take turns after a first round, so other load hits all alike."""
    times = [[] for _ in jobs]
    for _ in range(1 + REPEATS):
        for job, seconds in zip(jobs, times, strict=True):
            start = time.perf_counter()
            job()
            seconds.append(time.perf_counter() - start)
    return [min(seconds[1:]) for seconds in times]


if __name__ == "__main__":
    main()
