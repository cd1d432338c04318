"""The fast way to read a reader's files: whole columns at once.

It either reads a file just as the careful way does, or says nothing: None whenever anything is odd. `userfiles` then goes
through the file line by line, to name what is wrong, or to read what only looked odd.
"""

from __future__ import annotations

import io
from math import nan
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..core.check import Array
from .sheet import LARGEST, delimiter, first_line

Codes = NDArray[np.int64]
BLANKS = [chr(n) for n in range(0x3001) if chr(n).isspace() and chr(n) != "\n"]  # what str.strip takes off


class Named(NamedTuple):
    """A column of names: the place of each row's name among `names`, which are in the order of their first rows."""

    codes: Codes
    names: list[str]


NAMES = ("system", "segment", "scorer", "rater", "document", "domain")  # columns that hold names, few and often


class Columns(NamedTuple):
    """The cells of a table: texts, or categories where they are names."""

    header: list[str]
    cells: pd.DataFrame
    padded: bool  # there may be blanks around cells

    def texts(self, column: str) -> list[str]:
        found: list[str] = self.cells[column].to_list()
        return [cell.strip() for cell in found] if self.padded else found

    def named(self, column: str) -> Named | None:
        """None where a name is empty, or where two names differ in blanks alone."""
        found = self.cells[column].cat
        known = [str(name).strip() for name in found.categories]
        codes, order = pd.factorize(found.codes.to_numpy())
        if "" in known or len(set(known)) < len(known):
            return None
        return Named(codes.astype(np.int64), [known[n] for n in order])


def table(text: str, need: tuple[str, ...], may: tuple[str, ...] = ()) -> Columns | None:
    """The columns of a table without quotes and blank lines whose rows all have as many cells as its header."""
    if '"' in text or "\r" in text:
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
    kinds = {name: "category" if name in NAMES and name in need + may else object for name in header}
    cells = pd.read_csv(
        io.BytesIO(raw), sep=sep, header=None, names=header, index_col=False, dtype=kinds, na_filter=False, quoting=3
    )
    return Columns(header, cells, any(blank in text for blank in BLANKS if blank != sep))


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
    if there.size != len(texts) - lacking or not (np.abs(there) <= LARGEST).all() or "_" in "".join(texts):
        return None
    return np.asarray(found, dtype=np.float64)


def taken(texts: list[str], keep: NDArray[np.bool_]) -> list[str]:
    """The texts of the rows to keep."""
    return texts if keep.all() else np.array(texts, dtype=object)[keep].tolist()


def repeats(*codes: Codes) -> bool:
    """Whether two rows have the same place in all columns.

    >>> repeats(np.array([0, 0, 1]), np.array([0, 1, 0])), repeats(np.array([0, 0]), np.array([1, 1]))
    (False, True)
    """
    key = np.zeros(codes[0].size, dtype=np.int64)
    for column in codes:
        key = key * (int(column.max(initial=0)) + 1) + column
    if key.max(initial=0) <= 8 * key.size:
        return bool(np.bincount(key).max(initial=0) > 1)
    key.sort()
    return bool((key[1:] == key[:-1]).any())


def one_each(labels: Named, segments: Named) -> list[str] | None:
    """The label of each segment, in their order; None where two rows of one differ."""
    first = np.full(len(segments.names), -1)
    first[segments.codes[::-1]] = labels.codes[::-1]
    return [labels.names[n] for n in first] if (first[segments.codes] == labels.codes).all() else None
