"""Translation pairs with a preferred side and scorers' scores: read from a file, checked, and turned into agreement.

The table has one row per pair and scorer: pair, preferred ("first" or "second"), scorer, and its scores of the first
and of the second translation, higher is better.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pandas as pd

from ._check import DataError, vector
from .balance import resolution

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
    empty = (first.isna() | second.isna()).stack()
    if empty.any():
        pair, scorer = empty.idxmax()
        raise ValueError(f"scorer {scorer!r} has no score of pair {pair!r}; every scorer must score every pair")
    sign = pairs.groupby("pair")["preferred"].first().map(SIDES).to_numpy()
    out = {}
    for scorer in first:
        x, y = (vector(z[scorer], f"a score of {scorer}") for z in (first, second))
        gap, noise = sign * (x - y), max(resolution(x), resolution(y))  # a shift of all scores makes or breaks no tie
        out[scorer] = (gap > noise) / 2 + (gap >= -noise) / 2
    return pd.DataFrame(out, index=first.index).rename_axis(columns="scorer")


def read_pairs(path) -> pd.DataFrame:
    """Read a table of pairs from a CSV file with the columns pair, preferred, scorer, first, second.

    Fields are separated by commas, semicolons or tabs, as in the header; other columns (the texts, say) are left out.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; a CSV file with the columns {', '.join(COLUMNS)} is expected") from None
    except UnicodeDecodeError as error:
        line = 1 + error.object[:error.start].count(b"\n")
        raise DataError(f"{path}: line {line} is not UTF-8 text") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=text.partition("\n")[0].count))
    header = [h.strip().lower() for h in next(rows, [])]
    lacking = [c for c in COLUMNS if c not in header]
    if lacking:
        raise DataError(f"{path}: line 1 has no column {lacking[0]!r}; the header must name {', '.join(COLUMNS)}")
    at, out = [header.index(c) for c in COLUMNS], []
    for row in rows:
        place = f"{path}: line {rows.line_num}"
        if any(map(str.strip, row)):
            if len(row) < len(header):
                raise DataError(f"{place} has {len(row)} columns where the header has {len(header)}")
            out.append(_fields(place, [row[k].strip() for k in at]))
    if not out:
        raise DataError(f"{path}: no pair below the header; one line per pair and scorer is expected")
    table = pd.DataFrame(out, columns=COLUMNS)
    try:
        agreements(table)
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None
    return table


def _fields(place: str, row: list[str]) -> tuple:
    pair, preferred, scorer, *scores = row
    for name, value in (("pair", pair), ("scorer", scorer)):
        if not value:
            raise DataError(f"{place} has nothing in column {name!r}; a name is expected")
    if preferred.lower() not in SIDES:
        raise DataError(f"{place} has {preferred!r} in column 'preferred'; first or second is expected")
    for name, value in zip(SIDES, scores, strict=True):
        try:
            usable = abs(float(value)) < float("inf")
        except ValueError:
            usable = False
        if not usable:
            raise DataError(f"{place} has {value!r} in column {name!r}; a finite number is expected")
    return pair, preferred.lower(), scorer, *map(float, scores)
