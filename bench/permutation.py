"""What p-value curves and weighted SPA cost, as ratios measured in one run: seconds say more about the machine.

Segment scores do not ship, so those here are made up: normal noise around the system means of ende24, in its shape.
"""

from __future__ import annotations

import time

import numpy as np

import whichbird as wb
from whichbird.core.augment import PAPER_FAMILIES as FAMILIES, shifts
from whichbird.core.metametrics import pair_weights
from whichbird.core.permutation import p_counts, p_curve_counts

DATASET, REPEATS, SAMPLE, WEIGHTINGS = "ende24", 7, 3, 100


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
        lambda: [p_counts(x[m] + move[m][n][:, None]) for m in range(SAMPLE) for n in some],
        lambda: [p_counts(v) for v in x],
        lambda: [p_curve_counts(v, c) for v, c in zip(x, move, strict=True)],
    )
    by_dial *= scorers * dials / SAMPLE**2
    for m in range(SAMPLE):  # what is compared is equal
        assert np.array_equal(p_curve_counts(x[m], move[m])[some], [p_counts(x[m] + move[m][n][:, None]) for n in some])

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
