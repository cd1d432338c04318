"""`whichbird all --campaign`: WMT's official table."""

from __future__ import annotations

import argparse

import pandas as pd

from ..core.check import DataError
from ..study.campaign import CAMPAIGNS, by_meta, campaign
from .formats import Result


def official(args: argparse.Namespace) -> Result:
    """The official average of a metrics task at a balance, and each dataset's share of it."""
    if args.scores or args.datasets:
        raise DataError("--campaign has scorers and datasets of its own; leave out --scores and --datasets")
    table, signature = campaign(args.campaign, args.beta)
    one = CAMPAIGNS[args.campaign]
    short = by_meta(table, args.campaign)
    parts = [
        table[["scorer"]].assign(dataset=d, **{m: table[f"{d}_{m}"] for m in one.meta})[
            ["dataset", "scorer", *one.meta]
        ]
        for d in one.datasets
    ]
    facts = {
        "balance": "natural" if args.beta is None else str(args.beta),
        "averaged_over": one.datasets,
        "scorers": len(table),
        "signature": signature,
    }
    return Result(facts, {"official": short, "tasks": pd.concat(parts, ignore_index=True)}, (short,), None, ())
