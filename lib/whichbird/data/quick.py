"""A reader's table as whole columns at once.

What is wrong in it is named by `sheet`, which goes through it row by row: one list of refusals for both.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable, Sequence
from functools import cache
from math import fsum, nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..core.check import Array, DataError
from .pool import Rating
from .ratings import Scored, natural
from .sheet import LARGEST_SCORE, Sheet, delimiter, first_line, read_sheet, short

Codes = NDArray[np.int64]
BLANKS = [chr(n) for n in range(0x3001) if chr(n).isspace() and chr(n) != "\n"]  # what str.strip takes off

# The number next to what a text spells, as `float` finds it: pandas does so by itself since 3.1, and before when it is asked to.
EXACT: dict[str, Any] = (
    {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
)


class Named(NamedTuple):
    """A column of names: the place of each row's name among `names`, which are in the order of their first rows."""

    codes: Codes
    names: list[str]

    def used(self) -> list[str]:
        """The names that some row has, in the order of their first rows."""
        return [self.names[n] for n in dict.fromkeys(self.codes.tolist())]

    def has(self, name: str) -> NDArray[np.bool_]:
        """Which rows have this name."""
        return np.equal(self.codes, self.names.index(name) if name in self.names else -1, dtype=np.bool_)

    def renamed(self, names: list[str]) -> Named:
        """The same rows where each name is called another; two may be called the same.

        >>> Named(np.array([0, 1, 2]), ["A", "a", "B"]).renamed(["a", "a", "b"])
        Named(codes=array([0, 0, 1]), names=['a', 'b'])
        """
        place = {name: n for n, name in enumerate(dict.fromkeys(names))}
        return Named(np.array([place[name] for name in names], dtype=np.int64)[self.codes], list(place))

    def rows(self, which: NDArray[Any]) -> Named:
        """Some rows alone."""
        return Named(self.codes[which], self.names)


NAMES = ("system", "segment", "scorer", "rater", "document", "domain")  # columns that hold names, few and often


class Columns(NamedTuple):
    """A table of a reader's, column by column: names as texts, numbers as such or, where one is odd, as texts.

    `careful` reads the same table row by row: it knows the place of each row, and has the sentence for what is wrong there.
    """

    header: list[str]
    cells: pd.DataFrame
    padded: bool  # there may be blanks around cells
    careful: Callable[[], Sheet]

    def numbers(self, column: str, keep: NDArray[np.bool_] | None = None) -> Array:
        """The numbers of a column, of the rows to keep; anything else is refused."""
        found = self.cells[column]
        rows = np.arange(len(found)) if keep is None else np.flatnonzero(keep)
        if found.dtype.kind == "f":
            x = ordinary(found.to_numpy()[rows])
        else:
            texts = np.array(found, dtype=object)[rows].tolist()
            x = numbers([text.strip() for text in texts] if self.padded else texts)
        if x is not None:
            return x
        sheet = self.careful()
        return np.array([sheet.number(*sheet.rows[n], column) for n in rows])

    def named(self, column: str) -> Named:
        """The names in a column; an empty one is refused."""
        codes, known = in_order(self.cells[column])
        found = Named(codes, known).renamed([name.strip() for name in known])
        if "" in found.names:
            sheet = self.careful()
            sheet.name(*sheet.rows[int(found.has("").argmax())], column)
        return found

    def once(self, what: str, *columns: Named, keep: NDArray[np.bool_] | None = None) -> None:
        """Refuse a second row, of those to keep, with the same names in some columns; `what` has a place for each name."""
        rows = np.arange(len(self.cells)) if keep is None else np.flatnonzero(keep)
        if repeats(*(column.codes[rows] for column in columns)):
            sheet, seen = self.careful(), dict[tuple[str, ...], int]()
            for n in rows.tolist():
                sheet.once(seen, tuple(c.names[c.codes[n]] for c in columns), sheet.rows[n][0], what)

    def labels(self, column: str, segments: Named) -> tuple[str, ...]:
        """The label of each segment, in the order of its first row; two different ones of a segment are refused."""
        labels = self.named(column)
        first = np.full(len(segments.names), -1)
        first[segments.codes[::-1]] = labels.codes[::-1]
        odd = np.flatnonzero(first[segments.codes] != labels.codes)
        if odd.size:
            n = int(odd[0])
            one = int((segments.codes == segments.codes[n]).argmax())
            (line, cells), (before, known) = (self.careful().rows[row] for row in (n, one))
            raise DataError(
                f"{self.careful().place(line, column)} has {short(cells[column])} for segment {cells['segment']!r}, "
                f"where line {before} has {short(known[column])}; one is expected"
            )
        return tuple(labels.names[n] for n in first)


def in_order(column: pd.Series) -> Named:
    """A column of names as it is spelt. (Not as categories of pandas: to them 01 and 1 are one number.)"""
    codes, names = pd.factorize(column.to_numpy(dtype=object))
    return Named(codes.astype(np.int64), [str(name) for name in names])


def table(
    path: Path, text: str, need: tuple[str, ...], may: tuple[str, ...], numeric: Callable[[list[str]], list[str]]
) -> Columns:
    """The columns of a table. `numeric` says which of a header should hold numbers; what is neither a name of ours nor one of
    these is left out.

    A table without quotes, guarded cells and blank lines, whose rows all have as many cells as its header, is read at
    once, any other row by row.
    """
    found = _plain(text, need, may, numeric)
    if found is None:
        return from_sheet(read_sheet(path, need, may))
    return Columns(*found, cache(lambda: read_sheet(path, need, may)))


def from_sheet(sheet: Sheet) -> Columns:
    """A table that was read row by row."""
    cells = {name: [cells[name] for _, cells in sheet.rows] for name in sheet.columns}
    return Columns(sheet.columns, pd.DataFrame(cells, dtype=object), False, lambda: sheet)


def _plain(
    text: str, need: tuple[str, ...], may: tuple[str, ...], numeric: Callable[[list[str]], list[str]]
) -> tuple[list[str], pd.DataFrame, bool] | None:
    """Header and cells of a table with nothing odd about it, and whether there may be blanks around cells."""
    if '"' in text or "\r" in text or "'" in text and re.search("'[=+@-]", text):
        return None
    sep, body = delimiter(text), text.strip("\n").partition("\n")[2]
    header = [name.strip() for name in first_line(text).split(sep)]
    header = [name.lower() if name.lower() in need + may else name for name in header]
    width = len(header)
    if not set(need) <= set(header) or len(set(header)) < width or not all(header) or not body:
        return None
    raw = f"{body}\n".encode()
    letters = np.frombuffer(raw, dtype=np.uint8)
    marks = letters[(letters == ord(sep)) | (letters == ord("\n"))] == ord("\n")  # a cell ends; does its row?
    if marks.size % width or not (marks.reshape(-1, width) == (np.arange(1, width + 1) == width)).all():
        return None
    values = numeric(header)
    names = [name for name in NAMES if name in header and name in need + may and name not in values]
    try:
        cells = _read(raw, sep, header, dict.fromkeys(names, "object") | dict.fromkeys(values, "float64"))
    except ValueError:  # some cell is no number; it may stand in a row that is left out
        cells = _read(raw, sep, header, dict.fromkeys([*names, *values], "object"))
    return header, cells, any(blank in text for blank in BLANKS if blank != sep)


def _read(raw: bytes, sep: str, header: list[str], kinds: dict[str, str]) -> pd.DataFrame:
    """Those columns of rows without a header that have a kind; nothing is quoted, nothing stands for a missing value."""
    found: pd.DataFrame = pd.read_csv(
        io.BytesIO(raw), sep=sep, header=None, names=header, usecols=list(kinds), index_col=False, dtype=kinds, na_filter=False,
        quoting=3, lineterminator="\n", skip_blank_lines=False, **EXACT
    )  # fmt: skip
    return found


def fields(raw: bytes, at: Sequence[int], width: int) -> list[Named]:
    """The fields `at` some places of rows that tabs cut into at most `width`, each spelt as it is.

    >>> fields(b"a\\tx\\nb\\tx\\ty\\n", [1, 0], 3)
    [Named(codes=array([0, 0]), names=['x']), Named(codes=array([0, 1]), names=['a', 'b'])]
    """
    header = [str(n) for n in range(width)]
    use = [str(n) for n in dict.fromkeys(at)]  # a column may serve twice
    cells = _read(raw, "\t", header, dict.fromkeys(use, "object"))
    found = {name: in_order(cells[name]) for name in use}
    return [found[str(n)] for n in at]


def numbers(texts: list[str], may_lack: bool = False) -> Array | None:
    """Finite numbers of ordinary size, NaN for "None" where a score may lack; None where one is something else.

    >>> numbers(["1", "2.5"]), numbers(["1", "x"]), numbers(["1_0"])
    (array([1. , 2.5]), None, None)
    """
    try:
        if may_lack:
            lacking = texts.count("None")
            found = np.array([nan if t == "None" else float(t) for t in texts])
        else:
            lacking, found = 0, np.fromiter(map(float, texts), dtype=np.float64, count=len(texts))
    except ValueError:
        return None
    there = found[~np.isnan(found)] if lacking else found
    if there.size != len(texts) - lacking or ordinary(there) is None or "_" in "".join(texts):
        return None
    return np.asarray(found, dtype=np.float64)


def ordinary(x: Array) -> Array | None:
    """Finite numbers of ordinary size, or None."""
    return x if (np.abs(x) <= LARGEST_SCORE).all() else None


def repeats(*columns: Codes) -> bool:
    """Whether two rows have the same place in all columns.

    >>> repeats(np.array([0, 0, 1]), np.array([0, 1, 0])), repeats(np.array([0, 0]), np.array([1, 1]))
    (False, True)
    """
    key = _key(columns)
    if key.max(initial=0) <= 8 * key.size:
        return bool(np.bincount(key).max(initial=0) > 1)
    key = np.sort(key)
    return bool((key[1:] == key[:-1]).any())


def _key(columns: Sequence[Codes]) -> Codes:
    """A number for each row, the same where rows agree in all columns and only there."""
    key, span = columns[0], int(columns[0].max(initial=0)) + 1
    for column in columns[1:]:
        wide = int(column.max(initial=0)) + 1
        if span * wide >= 2**63:
            key = pd.factorize(key)[0].astype(np.int64)
            span = int(key.max(initial=0)) + 1
        key, span = key * wide + column, span * wide
    return key


def distinct(*columns: Codes) -> tuple[Codes, Codes]:
    """Rows that agree in all columns as groups, in the order of their first rows: the group of each row, the first row of each group.

    >>> distinct(np.array([5, 5, 1, 5]), np.array([0, 1, 0, 0]))
    (array([0, 1, 2, 0]), array([0, 1, 2]))
    """
    group = pd.factorize(_key(columns))[0].astype(np.int64)
    first = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.int64)
    first[group[::-1]] = np.arange(group.size)[::-1]
    return group, first


def sums(values: Array, group: Codes, groups: int) -> Array:
    """The sum over each group, rounded once, as `math.fsum` does: in any order the very same number.

    >>> sums(np.array([0.1, 0.2, 0.3, 1.0]), np.array([0, 0, 0, 2]), 4).tolist()
    [0.6, 0.0, 1.0, 0.0]
    """
    out = np.asarray(np.bincount(group, values, groups), dtype=np.float64)  # sums of one or two are right so
    size = np.bincount(group, minlength=groups)
    many = size[group] > 2
    order = np.argsort(group[many], kind="stable")
    inside, ends = values[many][order].tolist(), np.cumsum(size[size > 2]).tolist()
    out[size > 2] = [fsum(inside[a:b]) for a, b in itertools.pairwise([0, *ends])]
    return out


def means(values: Array, group: Codes, groups: int) -> Array:
    """The mean over each group, as `ratings.mean` rounds it; NaN where a group is empty.

    >>> means(np.array([0.1, 0.2, 0.3, 1.0]), np.array([0, 0, 0, 2]), 3).tolist()
    [0.2, nan, 1.0]
    """
    size = np.bincount(group, minlength=groups)
    exact, back = np.unique(sums(values, group, groups)[size > 0] / size[size > 0], return_inverse=True)
    out = np.full(groups, nan)
    out[size > 0] = np.array([float(f"{x:.12g}") for x in exact.tolist()])[back]
    return out


class Rated(NamedTuple):
    """Ratings as columns, one row each: whose and where (places in a pool of K × N cells), MQM points, and by whom."""

    row: Codes
    column: Codes
    adequacy: Array
    fluency: Array
    total: Array
    rater: Named | None = None


def scored(rated: Rated, shape: tuple[int, int], errors: pd.DataFrame) -> Scored:
    """What `ratings.score` makes of cells: the mean over the ratings of each, and every rating by itself where some cell has several."""
    cell = rated.row * shape[1] + rated.column
    names: tuple[str, ...] = ()
    who = np.full(cell.size, -1)
    if rated.rater is not None:
        seen = {rated.rater.names[n] for n in set(rated.rater.codes.tolist())}
        names = tuple(sorted(seen - {""}, key=natural))
        place = {name: n for n, name in enumerate(names)}
        who = np.array([place.get(name, -1) for name in rated.rater.names])[rated.rater.codes]
    size = np.bincount(cell, minlength=shape[0] * shape[1])
    order = np.lexsort((who, cell))
    turn = np.arange(cell.size) - (np.cumsum(size) - size)[cell[order]]
    values = (rated.adequacy, rated.fluency, rated.total)

    def grid(x: NDArray[Any], rows: Codes, kind: type, nothing: float) -> NDArray[Any]:
        out: NDArray[Any] = np.full(size.size, nothing, dtype=kind)
        out[cell[rows]] = x[rows]
        return out.reshape(shape)

    def layer(rows: Codes) -> Rating:
        a, f, t = (grid(x, rows, np.float64, nan) for x in values)
        return Rating(a, f, t, grid(who, rows, np.int16, -1))

    each = tuple(layer(order[turn == n]) for n in range(int(size.max())))
    if len(each) == 1:
        a, f, t, raters = each[0]
        each = ()
    else:
        a, f, t = (means(x, cell, size.size).reshape(shape) for x in values)
        raters = grid(who, np.flatnonzero(size[cell] == 1), np.int16, -1)
    return Scored(a, f, t, raters if names else None, names, each, errors)
