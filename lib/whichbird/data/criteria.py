"""System means of any number of aspects: columns of a table, aspects that people rated, or kinds of error."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from ..core.check import DataError, near
from .digest import load, load_errors
from .registry import FIELDS
from .segments import load_pool
from .sheet import read_sheet
from .source import ships


def criterion_means(given: str | os.PathLike[str], names: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Systems and their means (A, K) of the aspects `names`, higher is better.

    `given` is a table with a row a system and a column an aspect, or a dataset that ships. Of one rated for errors, an
    aspect is the first word of a category, as accuracy, fluency or style; its mean is what these errors cost a segment.

    >>> systems, x = criterion_means("ende24", ["accuracy", "fluency", "style"])
    >>> len(systems), x.shape, x.mean(axis=1).round(2)
    (16, (3, 16), array([-1.31, -0.58, -0.44]))
    """
    if len(set(names)) < len(names):
        raise DataError(f"aspects repeat: {', '.join(names)}")
    if not ships(given):
        sheet = read_sheet(given, ("system", *names))
        first: dict[tuple[str, ...], int] = {}
        for line, cells in sheet.rows:
            sheet.once(first, (sheet.name(line, cells, "system"),), line, "system {!r}")
        return [name for (name,) in first], np.array(
            [[sheet.number(line, cells, name) for line, cells in sheet.rows] for name in names]
        )
    if given in FIELDS and getattr(pool := load_pool(str(given)), "criteria", {}):
        known = {name: x.mean(axis=(0, 2)) for name, x in pool.criteria.items()}
        systems = pool.systems
    else:
        d = load(str(given))
        if d.adequacy is None or given in FIELDS:
            raise DataError(f"{d.name} does not ship with kinds of error; a dataset with ratings of errors is expected")
        errors = load_errors(d.name)
        kind = errors["category"].str.partition("/")[0].str.strip().str.lower()
        sums = errors.groupby([kind, errors["system"]])["penalty"].sum().unstack().fillna(0.0)
        known = {str(name): -row[list(d.systems)].to_numpy() / d.rated for name, row in sums.iterrows()}
        systems = d.systems
    for name in names:
        if name not in known:
            raise DataError(f"{given} has no aspect {name!r}{near(name, known) or '; it has ' + ', '.join(known)}")
    return list(systems), np.array([known[name] for name in names])
