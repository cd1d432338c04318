"""Tables and dictionaries in memory, in place of files: pandas and polars frames, and dictionaries as mt-metrics-eval gives them.

Nothing is imported: a frame is what has columns by name, a column what has a list of values.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from ..core.check import DataError
from .sheet import Sheet, columns_of

FRAME = Path("data frame")  # what refusals call it
DICTIONARY = Path("dictionary")


@runtime_checkable
class Frame(Protocol):
    """A frame: of pandas, polars or anything alike.

    >>> import pandas as pd
    >>> isinstance(pd.DataFrame({"system": ["x"]}), Frame), isinstance({"system": ["x"]}, Frame)
    (True, False)
    """

    @property
    def columns(self) -> Any: ...

    def __getitem__(self, name: Any, /) -> Any: ...


def as_sheet(frame: Frame, need: tuple[str, ...], may: tuple[str, ...] = ()) -> Sheet:
    """A frame as the table that a file would hold; its rows are counted from 0, as frames do.

    >>> import pandas as pd
    >>> as_sheet(pd.DataFrame({"System": ["x"], "score": [0.1]}), ("system", "score")).rows
    [(0, {'system': 'x', 'score': '0.1'})]
    """
    names = [str(name) for name in frame.columns]
    columns = columns_of(str(FRAME), names, need, may)
    cells = [[_text(v) for v in _values(frame[name])] for name in frame.columns]
    rows = [(n, dict(zip(columns, row, strict=True))) for n, row in enumerate(zip(*cells, strict=True))]
    if not rows:
        raise DataError(f"{FRAME}: it has no row")
    return Sheet(FRAME, columns, rows, "row")


def _values(column: Any) -> list[object]:
    found = column.to_list() if hasattr(column, "to_list") else list(column)
    return list(found)


def _text(value: object) -> str:
    """A cell as a file would spell it; a float in full."""
    return "" if value is None else repr(float(value)) if isinstance(value, float) else str(value).strip()


def by_scorer(given: Mapping[str, Any], name: str) -> dict[str, Mapping[str, Any]]:
    """{system: scores} as one scorer called `name`, {scorer: {system: scores}} as it is.

    >>> by_scorer({"x": [1.0]}, "mine"), by_scorer({"BLEU": {"x": [1.0]}}, "mine")
    ({'mine': {'x': [1.0]}}, {'BLEU': {'x': [1.0]}})
    """
    if not given:
        raise DataError(f"{DICTIONARY}: it is empty; system: scores are expected")
    nested = [isinstance(v, Mapping) for v in given.values()]
    if any(nested) and not all(nested):
        raise DataError(f"{DICTIONARY}: some values are dictionaries and some are not; system: scores are expected")
    return {str(k): v for k, v in given.items()} if all(nested) else {name: given}
