"""`whichbird all --campaign`: WMT's official table."""

from __future__ import annotations

import argparse

import pandas as pd

from ..core.check import DataError
from ..data.digest import load
from ..study.campaign import CAMPAIGNS, by_meta, campaign
from ..study.ceiling import ceilings
from ..study.meta import METAMETRICS
from .formats import Result


def official(args: argparse.Namespace) -> Result:
    """The official average of a metrics task at a balance, and each dataset's share of it."""
    if args.scores or args.datasets:
        raise DataError("--campaign has scorers and datasets of its own; leave out --scores and --datasets")
    table, signature = campaign(args.campaign, args.beta)
    short = by_meta(table, args.campaign)
    one = CAMPAIGNS[args.campaign]
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
    people, once = [], []
    for d in one.datasets:
        found, why = ceilings(load(d), args.beta, [m for m in one.meta if m in METAMETRICS])
        if found is None:
            once.append(why or d)
        else:
            people.append(found[found["meta"].isin(one.meta)].assign(dataset=d)[["dataset", *found.columns]])
    if not people:
        return Result(facts, {"official": short, "tasks": pd.concat(parts, ignore_index=True)}, (short,))
    notes = (f"no human ceiling of {', '.join(once)}: people rated each translation once",) if once else ()
    ceiling = pd.concat(people, ignore_index=True)
    tables = {"official": short, "tasks": pd.concat(parts, ignore_index=True), "ceiling": ceiling}
    return Result(facts, tables, (short, ceiling), None, notes)
