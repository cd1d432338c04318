"""A reader's table: a header and rows, separated by tabs, commas or semicolons. Refusals name file, line and column."""

from __future__ import annotations

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable
from math import isfinite
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from tqdm import tqdm

from ..core.check import Array, DataError
from .aspects import PAPER, Two, check_known, columns_needed
from .files import read_text

T = TypeVar("T")
K = TypeVar("K", bound=tuple[str, ...])
LARGEST_SCORE = 1e100  # sums of squares of larger scores would overflow
_RUN = re.compile(r"'*[=+\-@]")  # how a text begins that a spreadsheet runs as a formula, or such a one behind quotes
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class Sheet(NamedTuple):
    """The names of the columns, and for each row its line and its cells by column."""

    path: Path
    columns: list[str]
    rows: list[tuple[int, dict[str, str]]]
    unit: str = "line"  # what rows are counted in: lines of a file, or rows of a frame

    def place(self, line: int, column: str) -> str:
        return f"{self.path}: {self.unit} {line}, column {self.columns.index(column) + 1} ({column})"

    def name(self, line: int, cells: dict[str, str], column: str) -> str:
        """The cell's text, which must not be empty."""
        if not cells[column]:
            raise DataError(f"{self.place(line, column)} is empty; a name is expected")
        return cells[column]

    def number(self, line: int, cells: dict[str, str], column: str) -> float:
        value = number(cells[column], lambda: self.place(line, column))
        assert value is not None  # only where a score may lack
        return value

    def once(self, seen: dict[K, int], key: K, line: int, what: str) -> None:
        """Remember where `key` stands; refuse a second row of it. `what` has a place for each part of the key."""
        if seen.setdefault(key, line) != line:
            raise DataError(
                f"{self.path}: {self.unit} {line} repeats {what.format(*key)}, which {self.unit} {seen[key]} has already"
            )


def read_sheet(path: str | os.PathLike[str], need: tuple[str, ...], may: tuple[str, ...] = ()) -> Sheet:
    """Read a table whose header names at least the columns `need`; they and those of `may` are known in any case.

    Spaces around cells do not count, nor do rows without any text. Quotes may hold separators and line ends. Cells that
    `guarded` changed are changed back.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     print("Score;system\\n1.5;x", file=file, flush=True)
    ...     read_sheet(file.name, ("system", "score")).rows
    [(2, {'score': '1.5', 'system': 'x'})]
    """
    path, text = Path(path), read_text(path)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter(text), strict=True)
    columns: list[str] = []
    rows = []
    line = 1  # where a row starts: cells in quotes may hold line ends
    try:
        for row in watched(reader, path, total=text.count("\n")):
            row = [unguarded(cell.strip()) for cell in row]
            if any(row) and not columns:
                columns = columns_of(f"{path}: line {line}", row, need, may)
            elif any(row):
                if len(row) != len(columns):
                    raise DataError(f"{path}: line {line} has {len(row)} columns where the header has {len(columns)}")
                rows.append((line, dict(zip(columns, row, strict=True))))
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{path}: line {line} is no row of a table: {error}") from None
    if not rows:
        raise DataError(f"{path}: no row follows the header")
    return Sheet(path, columns, rows)


def guarded(text: str) -> str:
    """A cell of a table to be written, with a quote in front where a spreadsheet would run it as a formula.

    >>> [guarded(text) for text in ("BLEU", "=1+1", "-0.5", "-x", "'=y")]
    ['BLEU', "'=1+1", '-0.5', "'-x", "''=y"]
    """
    return f"'{text}" if _RUN.match(text) and not _NUMBER.fullmatch(text) else text


def unguarded(text: str) -> str:
    """What `guarded` was given; any other text stays as it is.

    >>> [unguarded(guarded(text)) for text in ("=1+1", "'=y", "-0.5")], unguarded("'tis")
    (['=1+1', "'=y", '-0.5'], "'tis")
    """
    return text[1:] if text[:1] == "'" and guarded(text[1:]) == text else text


def read_means(path: str | os.PathLike[str], aspects: Two = PAPER) -> tuple[list[str], Array, Array]:
    """The systems of a table, one a row, their adequacy and their fluency; see `userfiles.read_systems`."""
    if aspects is not PAPER:
        check_known(aspects, header(read_text(path)) - {"system"}, str(path))
    sheet = read_sheet(path, ("system", *columns_needed(aspects)))
    first: dict[tuple[str], int] = {}
    for line, cells in watched(sheet.rows, sheet.path):
        system = sheet.name(line, cells, "system")
        sheet.once(first, (system,), line, "system {!r}")
    a, f = (
        aspect.of(lambda column: np.array([sheet.number(line, cells, column) for line, cells in sheet.rows]))
        for aspect in aspects
    )
    return [system for (system,) in first], a, f


def watched(rows: Iterable[T], path: Path, total: int | None = None) -> Iterable[T]:
    """The same rows; a bar shows how far their reading is once it takes longer than two seconds.

    >>> list(watched([1, 2], Path("my.csv")))
    [1, 2]
    """
    return tqdm(rows, desc=path.name, total=total, unit=" rows", delay=2, leave=False, disable=None)


def header(text: str) -> set[str]:
    """The words of the first line, in lower case: enough to tell what kind of file it is.

    >>> sorted(header("System,segment,BLEU\\nx,1,30"))
    ['bleu', 'segment', 'system']
    """
    return {cell.strip(' "').lower() for cell in first_line(text).split(delimiter(text))}


def number(text: str, place: Callable[[], str], may_lack: bool = False) -> float | None:
    """The finite number that `text` spells; None for "None" where a score may lack. `place` is asked for a refusal only.

    >>> number("1,5", lambda: "my.csv: line 2, column 3")
    Traceback (most recent call last):
    ...
    whichbird.core.check.DataError: my.csv: line 2, column 3 has '1,5'; a finite number is expected
    """
    if may_lack and text == "None":
        return None
    try:
        value = float(text)
        usable = isfinite(value) and "_" not in text
    except ValueError:
        usable = False
    if not usable:
        raise DataError(f"{place()} has {short(text)}; a finite number is expected")
    if abs(value) > LARGEST_SCORE:
        raise DataError(f"{place()} has {short(text)}; a score between -1e100 and 1e100 is expected")
    return value


def short(text: str) -> str:
    """A text in quotes, cut where it is long."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def first_line(text: str) -> str:
    """The first line with anything on it."""
    text = text.lstrip("\n")
    end = text.find("\n")  # a split would copy the rest, which may be long
    return text if end < 0 else text[:end]


def delimiter(text: str) -> str:
    line = first_line(text)
    return "\t" if "\t" in line else max(",;", key=line.count)


def columns_of(place: str, row: list[str], need: tuple[str, ...], may: tuple[str, ...]) -> list[str]:
    """The header's names: ours in lower case, others as they are."""
    columns = [name.lower() if name.lower() in need + may else name for name in row]
    for column in need:
        if column not in columns:
            raise DataError(f"{place} has no column {column!r}; the header must name {', '.join(need)}")
    times = Counter(columns)
    for n, column in enumerate(columns, start=1):
        if not column:
            raise DataError(f"{place}, column {n} has no name; every column needs one")
        if times[column] > 1:
            raise DataError(f"{place}, column {n}: the name {short(column)} is there twice; names must differ")
    return columns
