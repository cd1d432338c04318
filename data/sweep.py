"""Rebuild data/sweep.csv from the digests: the three measures over the whole range of β, by SPA and by Pearson correlation.

python data/sweep.py; less than a minute, with a progress bar.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import pandas as pd
from tqdm import tqdm

import whichbird as wb
from whichbird.study.sweep import METAMETRICS, sweep


def sweeps(names) -> pd.DataFrame:
    """The sweeps of every dataset, one below the other."""
    jobs = [(name, meta) for name in names for meta in METAMETRICS]
    tables = [
        sweep(wb.load(name), meta=meta).assign(dataset=name, meta=meta) for name, meta in tqdm(jobs, disable=None)
    ]
    table = pd.concat(tables, ignore_index=True)
    return table[["dataset", "meta", *table.columns.drop(["dataset", "meta"])]]


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent / "sweep.csv")
    args = parser.parse_args(argv)
    names = [n for n in wb.datasets() if n != "ende23" and wb.load(n).adequacy is not None]
    part = args.out.with_name(args.out.name + ".part")
    try:
        sweeps(names).to_csv(part, index=False, lineterminator="\n", float_format="%.12g")
        os.replace(part, args.out)
    except KeyboardInterrupt:
        print("sweep.py: stopped; nothing half-written is left", file=sys.stderr)
        return 1
    finally:
        part.unlink(missing_ok=True)
    print(f"wrote {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
