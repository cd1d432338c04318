"""Rebuild data/cells.csv from the digests: what the adequacy-over-fluency measure does over four million weightings of each dataset.

python data/sample.py [--draws N]; some minutes on two cores, with a progress bar for each dataset.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import pandas as pd

import whichbird as wb
from whichbird.preference import steps
from whichbird.sampling import cells

DRAWS = 4_000_000


def sample(names, draws: int = DRAWS) -> pd.DataFrame:
    """The cells of every dataset, one below the other."""
    tables = []
    for name in names:
        d = wb.load(name)
        step = steps(d.counts("total"), d.curve_counts("adequacy-fluency"))
        print(name, file=sys.stderr)
        tables.append(cells(d.adequacy, d.fluency, step, draws).assign(dataset=name))
    table = pd.concat(tables, ignore_index=True)
    return table[["dataset", *table.columns.drop("dataset")]]


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=DRAWS, help=f"weightings per dataset (default {DRAWS:,})")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent / "cells.csv")
    args = parser.parse_args(argv)
    if args.draws < 1:
        print(f"sample.py: --draws is {args.draws}; at least 1 is needed", file=sys.stderr)
        return 2
    names = [n for n in wb.datasets() if n != "ende23" and wb.load(n).adequacy is not None]
    part = args.out.with_name(args.out.name + ".part")
    try:
        sample(names, args.draws).to_csv(part, index=False, lineterminator="\n", float_format="%.8g")
        os.replace(part, args.out)
    except KeyboardInterrupt:
        print("sample.py: stopped; nothing half-written is left", file=sys.stderr)
        return 1
    finally:
        part.unlink(missing_ok=True)
    print(f"wrote {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
