"""Tables and dictionaries in memory, in place of files: pandas and polars frames, and dictionaries as mt-metrics-eval gives them.

No package of frames is imported: a frame is what has columns by name, a column what has a list of values.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..core.check import DataError
from .protocol import Dataset
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


def flat(frame: Frame) -> Frame:
    """A frame with columns system and segment, where a pandas frame has them in its index or over its columns.

    >>> import pandas as pd
    >>> cells = pd.MultiIndex.from_product([["x", "y"], ["s1"]], names=["system", "segment"])
    >>> list(flat(pd.DataFrame({"relevance": [1, 2], "coherence": [3, 4]}, index=cells)).columns)
    ['system', 'segment', 'relevance', 'coherence']
    """
    found: Any = frame
    if not hasattr(found, "index") or "system" in [str(name).lower() for name in found.columns]:
        return frame
    levels = getattr(found.columns, "names", [])
    if "segment" in levels or "system" in levels:  # pivoted: a column for each segment, below each aspect or scorer
        names = [name for name in levels if name in ("segment", "system")]
        found = found.stack(names)
        found = found.to_frame("score") if not hasattr(found, "columns") else found
    if {"system", "segment"} & set(getattr(found.index, "names", [])):
        found = found.reset_index()
    return found if "system" in [str(name).lower() for name in found.columns] else frame


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


def aligned(frame: Frame, source: Dataset, what: str) -> np.ndarray:
    """The scores of a frame, systems × segments, in the order of `source`: rows by the labels of its index, columns by their names.

    Columns are called as `source` names its segments; or by source lines, those rated or all, counted from 1 as in score
    files, or from 0 as in `source.lines`; or 0, 1, … as a frame numbers them itself. Which of these it is must follow
    from the labels, else the frame is refused: a guess could mix up segments.

    >>> import pandas as pd
    >>> from whichbird import Pool
    >>> pool = Pool("tiny", ("x", "y"), np.array([0, 2]), 3, total=np.zeros((2, 2)))  # lines 1 and 3 of 3 are rated
    >>> aligned(pd.DataFrame([[6, 5, 4], [3, 2, 1]], index=["y", "x"], columns=["3", "2", "1"]), pool, "mine")
    array([[1, 3],
           [4, 6]])
    """
    if not hasattr(frame, "index"):
        raise ValueError(f"{what}: a frame without a column system needs the systems as its index")
    rows, columns = list(frame.index), [_label(label) for label in frame.columns]
    missing = [s for s in source.systems if s not in rows]
    if missing or len(set(rows)) < len(rows):
        raise ValueError(
            f"{what}: the index must hold every system once" + (f", and {missing[0]!r} is missing" if missing else "")
        )
    place = {label: n for n, label in enumerate(columns)}
    if len(place) < len(columns):
        twice = next(label for label in columns if columns.count(label) > 1)
        raise ValueError(f"{what}: the column {twice!r} is there twice; names of segments must differ")
    found = {tuple(place[label] for label in wanted) for wanted in _columns(source, set(place))}
    if len(found) != 1:
        first = _ways(source)[0][0][0]
        raise ValueError(
            f"{what}: its {len(columns)} columns "
            + ("can be read as segments in two ways" if found else "are not the rated segments, nor all source lines")
            + f"; call them as {source.name} does (the first rated one is {first!r}), or give an array in its order"
        )
    values = np.asarray(frame)
    return np.asarray(values[[rows.index(s) for s in source.systems]][:, list(found.pop())])


def _columns(source: Dataset, labels: set[object]) -> list[list[object]]:
    """The labels of the segments that are compared, in order, by each way to name segments that has just these labels."""
    return [wanted for wanted, *more in _ways(source) if labels in ({*wanted}, *(set(x) for x in more))]


def _ways(source: Dataset) -> list[tuple[list[object], ...]]:
    """Ways to name segments: those on which scorers are compared, in their order; then larger sets that may be given."""
    official = np.flatnonzero(source.official)
    lines = [int(line) for line in source.lines]
    names = getattr(source, "segments", None)
    rated: list[object] = [line + 1 for line in lines] if names is None else [_label(name) for name in names]
    every = [] if names is not None else [*range(1, source.source_lines + 1)]
    own: list[object] = [*range(official.size)]
    return [
        ([rated[n] for n in official], rated, every),
        ([lines[n] for n in official], [*lines], [*range(source.source_lines)]),
        (own,),
    ]


def _label(label: object) -> object:
    """A label as it is compared: a whole number as such, however it is spelt; all else as text."""
    text = str(label).strip()
    return int(text) if len(text) < 19 and text.isascii() and text.isdecimal() and str(int(text)) == text else text
