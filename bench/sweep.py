"""What Figure 3 costs: all ten sweeps as matrix products, beside one dataset done dial by dial."""

from __future__ import annotations

import time

import numpy as np

import whichbird as wb
from whichbird.core.augment import PAPER_FAMILIES as FAMILIES
from whichbird.study.sweep import beta_grid, sweep
from whichbird_book.report import published

DATASET, SAMPLE = "ende24", 3


def main() -> None:
    pools = {name: d for name in published("core").index if (d := wb.load(name)).adequacy is not None}
    start = time.perf_counter()
    tables = {name: sweep(d, families=FAMILIES) for name, d in pools.items()}
    products = time.perf_counter() - start

    # Dial by dial takes minutes, so a few targets are measured: each costs about the same. P-values are given to both.
    d, betas = pools[DATASET], beta_grid(pools[DATASET].adequacy, pools[DATASET].fluency)
    some = np.linspace(0, betas.size - 1, SAMPLE + 2).astype(int)[1:-1]
    curves = {family: d.curves(family) for family in FAMILIES}
    start = time.perf_counter()
    slow = [_one_by_one(d, curves, beta) for beta in betas[some]]
    by_dial = (time.perf_counter() - start) * betas.size / SAMPLE
    assert np.allclose(slow, tables[DATASET].loc[some, list(FAMILIES)], rtol=1e-12)  # what is compared is equal

    print(
        f"{len(tables)} datasets, {sum(map(len, tables.values()))} targets, three measures each: "
        f"{products:.1f} s   goal: under 60 s"
    )
    print(f"dial by dial, {DATASET} alone is extrapolated linearly from {SAMPLE} of its {betas.size} targets\n")
    print(f"{DATASET} dial by dial / all {len(tables)} datasets at once{by_dial / products:>8.1f} ×")


def _one_by_one(d: wb.Digest, curves: dict[str, np.ndarray], beta: float) -> list[float]:
    """The three measures at one target: one SPA for every scorer and dial."""
    w = wb.reweight(d.adequacy, d.fluency, beta).weights
    measures = []
    for family in FAMILIES:
        spa = np.array([[wb.spa_from_p(d.human_p, p, w) for p in dials] for dials in curves[family]])
        change = np.diff(spa, axis=1)
        measures.append(float(((change > 1e-12) / 2 + (change >= -1e-12) / 2).mean()))  # less is rounding
    return measures


if __name__ == "__main__":
    main()
