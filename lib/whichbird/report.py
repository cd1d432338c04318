"""Tables that set our figures beside published ones, and say of each cell whether it agrees."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from .digest import read_table


class Comparison(NamedTuple):
    """`shown`: our figure in each cell with its mark; `equal`: True, False, or None where we have no figure."""

    shown: pd.DataFrame
    equal: pd.DataFrame

    def count(self) -> tuple[int, int, int]:
        """How many cells are equal, differ, and are not available."""
        flat = self.equal.to_numpy(dtype=object).ravel()
        return sum(c is True for c in flat), sum(c is False for c in flat), sum(c is None for c in flat)


def published(table: str) -> pd.DataFrame:
    """A table of the paper, every cell as printed, indexed by dataset where it has one.

    >>> published("tau").loc["ende24", "tau"]
    '0.8797'
    """
    out = read_table(f"published/{table}.csv", dtype=str, keep_default_na=False)
    return out.set_index("dataset") if "dataset" in out and out["dataset"].is_unique else out


def compare(theirs: pd.DataFrame, ours: pd.DataFrame) -> Comparison:
    """Round our figures to the digits printed and mark each cell: ✓ equal, ≠ with the published figure, or not available.

    Both tables carry the same index and columns; `theirs` holds strings as printed, `ours` numbers or None.

    >>> theirs = pd.DataFrame({"beta0": ["0.50", "0.7"]}, index=["x", "y"])
    >>> compare(theirs, pd.DataFrame({"beta0": [0.4999, None]}, index=["x", "y"], dtype=object)).shown
           beta0
    x     0.50 ✓
    y  — (0.7)
    """
    shown, equal = {}, {}
    for column in theirs:
        cells = [_cell(printed, ours.loc[row, column]) for row, printed in theirs[column].items()]
        shown[column], equal[column] = zip(*cells, strict=True)
    return Comparison(pd.DataFrame(shown, index=theirs.index).rename_axis(None), pd.DataFrame(equal, index=theirs.index, dtype=object))


def _cell(printed: str, value) -> tuple[str, bool | None]:
    if value is None:
        return f"— ({printed})", None
    digits = len(printed.partition(".")[2])
    rounded = f"{value:z.{digits}f}"  # z: no minus before a rounded zero
    return (f"{rounded} ✓", True) if rounded == printed else (f"{rounded} ≠ {printed}", False)
