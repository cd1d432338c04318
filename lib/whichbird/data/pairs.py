"""Translation pairs with a preferred side and scorers' scores: read from a file, checked, and turned into agreement.

The table has one row per pair and scorer: pair, preferred ("first" or "second"), scorer, and its scores of the first
and of the second translation, higher is better.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from ..core.balance import resolution
from ..core.check import DataError, near, vector
from .sheet import read_sheet, short, watched

COLUMNS = ("pair", "preferred", "scorer", "first", "second")
SIDES = {"first": 1, "second": -1}


def agreements(pairs: pd.DataFrame) -> pd.DataFrame:
    """Whether each scorer sides with you in each pair: 1, 0, or ½ for a tie; pairs down, scorers across.

    >>> rows = [(1, "first", "A", 9, 2), (1, "first", "B", 3, 3), (2, "second", "A", 1, 0), (2, "second", "B", 4, 5)]
    >>> agreements(pd.DataFrame(rows, columns=COLUMNS)).to_numpy()
    array([[1. , 0.5],
           [0. , 1. ]])
    """
    lacking = [c for c in COLUMNS if c not in pairs]
    if lacking:
        raise ValueError(f"the pairs have no column {lacking[0]!r}; {', '.join(COLUMNS)} are expected")
    odd = pairs.loc[~pairs["preferred"].isin(SIDES), "preferred"]
    if len(odd):
        raise ValueError(f"preferred is {odd.iloc[0]!r}; 'first' or 'second' is expected")
    if pairs[["pair", "scorer"]].isna().any(axis=None):
        raise ValueError("a row has no pair or no scorer; every row must name both")
    twice = pairs[pairs.duplicated(["pair", "scorer"])]
    if len(twice):
        pair, scorer = twice[["pair", "scorer"]].iloc[0]
        raise ValueError(f"scorer {scorer!r} has pair {pair!r} twice; one row is expected")
    torn = pairs.groupby("pair", sort=False)["preferred"].nunique().loc[lambda n: n > 1]
    if len(torn):
        raise ValueError(f"pair {torn.index[0]!r} has both first and second as the preferred one; only one can be")
    size = pairs["pair"].nunique(), pairs["scorer"].nunique()
    if min(size) < 2:
        raise ValueError(f"the pairs number {size[0]} and the scorers {size[1]}; at least two of each are needed")
    first, second = (pairs.pivot(index="pair", columns="scorer", values=side) for side in SIDES)
    empty = first.isna() | second.isna()
    for row, column in np.argwhere(empty.to_numpy()):
        pair, scorer = empty.index[row], empty.columns[column]
        raise ValueError(f"scorer {scorer!r} has no score of pair {pair!r}; every scorer must score every pair")
    sign = pairs.groupby("pair")["preferred"].first().map(SIDES).to_numpy()
    out = {}
    for scorer in first:
        x, y = (vector(z[scorer], f"a score of {scorer}") for z in (first, second))
        gap, noise = sign * (x - y), max(resolution(x), resolution(y))  # a shift of all scores makes or breaks no tie
        out[scorer] = (gap > noise) / 2 + (gap >= -noise) / 2
    return pd.DataFrame(out, index=first.index).rename_axis(columns="scorer")


def read_pairs(
    path: str | os.PathLike[str], scorers: Collection[str] | None = None, aliases: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Read a table of pairs from a file with the columns pair, preferred, scorer, first, second.

    Columns are separated by commas, semicolons or tabs, as in the header; others (the texts, say) are left out.
    `scorers`, if given, are the names that the file may use; where it uses one of `aliases`, the scorer gets its own name.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     print("pair,preferred,scorer,first,second\\n1,first,A,3,2\\n1,first,B,0,0", file=file)
    ...     print("2,second,A,1,4\\n2,second,B,1,0", file=file, flush=True)
    ...     read_pairs(file.name)
      pair preferred scorer  first  second
    0    1     first      A    3.0     2.0
    1    1     first      B    0.0     0.0
    2    2    second      A    1.0     4.0
    3    2    second      B    1.0     0.0
    """
    sheet = read_sheet(path, COLUMNS)
    seen: dict[tuple[str, str], int] = {}
    sides: dict[str, tuple[str, int]] = {}
    out = []
    for line, cells in watched(sheet.rows, sheet.path):
        pair, scorer = (sheet.name(line, cells, column) for column in ("pair", "scorer"))
        scorer = (aliases or {}).get(scorer, scorer)
        side = cells["preferred"].lower()
        if side not in SIDES:
            raise DataError(
                f"{sheet.place(line, 'preferred')} has {short(cells['preferred'])}; first or second is expected"
            )
        if scorers is not None and scorer not in scorers:
            raise DataError(
                f"{sheet.place(line, 'scorer')} has {short(scorer)}, which is none of the {len(scorers)} "
                f"scorers{near(scorer, scorers)}"
            )
        sheet.once(seen, (pair, scorer), line, "pair {!r} for scorer {!r}")
        chosen, where = sides.setdefault(pair, (side, line))
        if side != chosen:
            raise DataError(
                f"{sheet.place(line, 'preferred')} has {side!r} for pair {pair!r}, where line {where} has {chosen!r}"
            )
        out.append((pair, side, scorer, *(sheet.number(line, cells, column) for column in SIDES)))
    table = pd.DataFrame(out, columns=COLUMNS)
    try:
        agreements(table)
    except ValueError as error:
        raise DataError(f"{sheet.path}: {error}") from None
    return table
