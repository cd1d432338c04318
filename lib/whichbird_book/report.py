"""What pages are made of: tables that set our figures beside published ones, signature lines, and library code shown from its source.

`source` and `signed` return objects that a notebook displays.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from whichbird.data.digest import load, read_table


@dataclass(frozen=True, eq=False)
class Comparison:
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
    mine, shown, equal = ours.loc[theirs.index], {}, {}
    for column in theirs:
        cells = [_cell(printed, value) for printed, value in zip(theirs[column], mine[column], strict=True)]
        shown[column], equal[column] = zip(*cells, strict=True)
    return Comparison(
        pd.DataFrame(shown, index=theirs.index).rename_axis(None), pd.DataFrame(equal, index=theirs.index, dtype=object)
    )


def _cell(printed: str, value: float | None) -> tuple[str, bool | None]:
    if value is None:
        return f"— ({printed})", None
    digits = len(printed.partition(".")[2])
    rounded = f"{value:z.{digits}f}"  # z: no minus before a rounded zero
    return (f"{rounded} ✓", True) if rounded == printed else (f"{rounded} ≠ {printed}", False)


class Shown:
    """Text that a notebook displays as what it is."""

    def __init__(self, text: str, kind: str) -> None:
        self.text, self.kind = text, kind

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {self.kind: self.text, "text/plain": self.text}


def source(*objects: Callable[..., Any]) -> Shown:
    """The code of library functions, straight from the tested module, for a page to show.

    >>> print(source(signed))
    ```python
    def signed(...
    """
    return Shown("\n".join(f"```python\n{inspect.getsource(o)}```" for o in objects), "text/markdown")


def signed(*names: str, more: str = "") -> Shown:
    """The signature line under a results table: the datasets, all that their signatures share, and what `more` there is to say.

    >>> signed("ende24", "ende22")
    <p class="signature">ende24, ende22: ref:refA|perm:1000|seed:4|mt-metrics-eval-v2|whichbird:...</p>
    """
    parts = [load(name).signature.split("|") for name in names]
    shared = "|".join(p for p in parts[0][1:] if all(p in other for other in parts))
    return Shown(f'<p class="signature">{", ".join(names)}: {"|".join(filter(None, [shared, more]))}</p>', "text/html")
