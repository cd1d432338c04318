"""Rebuild data/cells.csv and data/stability.csv from the digests: what takes too long for a chapter.

python data/sample.py [cells] [stability] [--draws N]; both tables if none is named. On two cores cells takes some
minutes (four million weightings of each dataset), stability half a minute.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

import whichbird as wb
from whichbird.study.preference import steps
from whichbird.study.sampling import cells
from whichbird.study.stability import at_balance

DRAWS = 4_000_000
TARGETS, INSET = 21, 0.001  # balances at which stability is looked at, and how far from the ends of the reachable range


def sample(names, draws: int = DRAWS) -> pd.DataFrame:
    """The adequacy-over-fluency measure in the cells of every dataset, one below the other."""
    tables = []
    for name in names:
        d = wb.load(name)
        step = steps(d.counts("total"), d.curve_counts("adequacy-fluency"))
        print(name, file=sys.stderr)
        tables.append(cells(d.adequacy, d.fluency, step, draws).assign(dataset=name))
    return _stacked(tables)


def stability(names) -> pd.DataFrame:
    """Leave-one-out τ at fixed balances across the reachable range of every dataset, one below the other."""
    tables = []
    for name in tqdm(names, desc="stability", unit="dataset", disable=None):
        d = wb.load(name)
        low, high = wb.reachable(d.adequacy, d.fluency)
        inset = INSET * (high - low)
        betas = np.linspace(low + inset, high - inset, TARGETS)
        table = at_balance(d.adequacy, d.fluency, d.counts("total"), d.counts("scorers"), betas)
        tables.append(table.assign(dataset=name))
    return _stacked(tables)


def _stacked(tables) -> pd.DataFrame:
    table = pd.concat(tables, ignore_index=True)
    return table[["dataset", *table.columns.drop("dataset")]]


def _write(table: pd.DataFrame, path: Path) -> None:
    """Replace a file only once the new one is complete."""
    part = path.with_name(path.name + ".part")
    try:
        table.to_csv(part, index=False, lineterminator="\n", float_format="%.8g")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    print(f"wrote {path}")


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", nargs="*", metavar="table", help="cells, stability, or both (default)")
    parser.add_argument("--draws", type=int, default=DRAWS, help=f"weightings per dataset (default {DRAWS:,})")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent, help="folder (default: this one)")
    args = parser.parse_args(argv)
    names = [n for n in wb.datasets() if n != "ende23" and wb.load(n).adequacy is not None]
    make = {"cells": lambda: sample(names, args.draws), "stability": lambda: stability(names)}
    unknown = [t for t in args.tables if t not in make]
    if unknown or args.draws < 1:
        print(
            f"sample.py: the table is {unknown[0]!r}; cells or stability is expected"
            if unknown
            else f"sample.py: --draws is {args.draws}; at least 1 is needed",
            file=sys.stderr,
        )
        return 2
    try:
        for table in args.tables or make:
            _write(make[table](), args.out / f"{table}.csv")
    except KeyboardInterrupt:
        print("sample.py: stopped; nothing half-written is left", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
