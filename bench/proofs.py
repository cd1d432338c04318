"""The proofs of all weightings that the book's live figures show, verified in exact arithmetic: how many, and what they cost."""

from __future__ import annotations

import time

import numpy as np
from tqdm import tqdm

import whichbird as wb
from whichbird.data.registry import DATASETS
from whichbird.study.targets import beta_stops


def main() -> None:
    print(
        f"{'':10}{'K':>4}{'proofs':>8}{'worst gap':>12}{'ms to write':>13}{'ms to verify':>14}{'worst':>8}{'× solving':>11}"
    )
    total = 0
    for name in tqdm(DATASETS, leave=False, disable=None):
        d = wb.load(name)
        if d.adequacy is None:
            continue
        began = time.process_time()
        solved = wb.reweight_sweep(d.adequacy, d.fluency, beta_stops(d.adequacy, d.fluency))
        solving = time.process_time() - began
        began = time.process_time()
        gaps = [r.gap for r in solved]
        both = time.process_time() - began
        spent = []
        for r in solved:
            began = time.process_time()  # the slowest counts, so others on the machine must not
            assert wb.verify(r.proof) == r.gap
            spent.append(1e3 * (time.process_time() - began))
        assert max(gaps) <= 1e-9, f"{name}: a proof of a gap of {max(gaps):.1e} only"
        total += len(gaps)
        write = 1e3 * both / len(gaps) - np.mean(spent)
        print(
            f"{name:10}{len(d.adequacy):4}{len(gaps):8}{max(gaps):12.1e}{write:13.1f}{np.mean(spent):14.1f}{max(spent):8.1f}"
            f"{both / solving:11.1f}"
        )
    print(f"All {total} proofs hold.")
