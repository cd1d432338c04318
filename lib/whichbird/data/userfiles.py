"""Files of people with own data: scores of a scorer, system means, human ratings.

Score files come in two forms. The field's own: lines "system, tab, score", the n-th line of a system belonging to its
n-th segment. Or a table with a header: system, segment and one column per scorer, or scorer, system, segment, score.
Human ratings: a table system, segment, adequacy, fluency (and total, if there are errors of neither aspect; who gave the
rating, and document and domain of each segment), or rows of MQM errors as `read_mqm_tsv` takes them. Each refusal names file, line and column.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..core.check import DataError, near
from . import quick
from .digest import dataset_of
from .files import read_text
from .frames import DICTIONARY, FRAME, Frame, as_sheet, by_scorer
from .mqm import TAXONOMY, WEIGHTS, Taxonomy, Weights
from .mtme import is_human
from .pool import Pool, refuse_constant
from .protocol import Dataset, scored_lines
from .ratings import Cell, Pricing, Scored, natural, score
from .sheet import Sheet, first_line, header, number, read_means, read_sheet, short, watched
from .tsv import mqm_pool

HUMAN = ("system", "segment", "adequacy", "fluency"), ("total", "rater", "document", "domain")  # needed, and known
SCORERS = ("system", "segment"), ("scorer", "score")
NO_ERRORS = pd.DataFrame(columns=["system", "category", "severity", "count", "penalty"])


ENDING = re.compile(r"(\.seg\.score|\.csv|\.tsv|\.txt)$")  # of score files: not a part of the scorer's name


def read_systems(path: str | os.PathLike[str]) -> pd.DataFrame:
    """System means: a table with columns system, adequacy, fluency (others are ignored), one row per system.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     print("fluency,system,adequacy\\n1.5,x,2", file=file, flush=True)
    ...     read_systems(file.name)
      system  adequacy  fluency
    0      x       2.0      1.5
    """
    return pd.DataFrame(dict(zip(("system", "adequacy", "fluency"), read_means(path), strict=True)))


def read_human(
    path: str | os.PathLike[str] | Frame, taxonomy: Taxonomy | None = None, weights: Weights | None = None,
    allow_uncounted: bool = False
) -> Pool:  # fmt: skip
    """Human ratings of every system and segment, as a `Pool` without scorers; higher is better.

    A table with columns system, segment, adequacy, fluency and, where it is not their sum, total; a (system, segment)
    without a row counts as not rated. A column rater says who gave a row: several raters may rate the same cell, which
    then has their mean, and `ratings` holds each. Columns document and domain, if there, say what a segment belongs to.
    Or MQM errors, one a row, told by the columns category and severity: see `read_mqm_tsv`; `taxonomy` and `weights` say
    how they are sorted and what they cost, the paper's way unless given, and `allow_uncounted` is there, too. References are left out, as everywhere. Segments
    keep the order in which the file first names them. A pandas or polars frame with such columns will do in place of a file.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     print("system,segment,adequacy,fluency\\nx,s1,-1,0\\ny,s1,0,-2", file=file, flush=True)
    ...     pool = read_human(file.name)
    >>> pool.systems, pool.segments, pool.total.tolist()
    (('x', 'y'), ('s1',), [[-1.0], [-2.0]])
    """
    if isinstance(path, Frame):
        if taxonomy or weights:
            raise DataError(f"{FRAME}: it holds scores, not errors; a taxonomy needs rows of MQM errors to sort")
        return _careful_human(as_sheet(path, *HUMAN))
    text = read_text(path)
    if {"category", "severity"} <= header(text):
        if "\t" not in first_line(text):
            raise DataError(f"{path}: line 1 has no tabs; rows of MQM errors must be separated by tabs")
        return mqm_pool(Path(path), text, Pricing(taxonomy or TAXONOMY, weights or WEIGHTS), allow_uncounted)
    if taxonomy or weights:
        raise DataError(f"{path}: it holds scores, not errors; a taxonomy needs rows of MQM errors to sort")
    return _quick_human(Path(path), text) or _careful_human(read_sheet(path, *HUMAN))


def _quick_human(path: Path, text: str) -> Pool | None:
    """What `_careful_human` makes of a table; None where anything is odd."""
    table = quick.table(text, *HUMAN, lambda header: [c for c in ("adequacy", "fluency", "total") if c in header])
    if table is None:
        return None
    names = {
        column: table.named(column)
        for column in quick.NAMES
        if column in HUMAN[0] + HUMAN[1] and column in table.header
    }
    keys = [names[column] for column in ("system", "segment", "rater") if column in names]
    if None in names.values() or quick.repeats(*(key.codes for key in keys if key is not None)):
        return None
    system, segment, *_ = keys
    assert system is not None and segment is not None
    labels: dict[str, tuple[str, ...] | None] = {"document": None, "domain": None}
    for column in labels:
        found = names.get(column)
        if found is not None:
            labels[column] = quick.segment_labels(found, segment)
            if labels[column] is None:
                return None
    systems = sorted(s for s in system.names if not is_human(s))
    if len(systems) < 2:
        return None
    row_of = np.array([-1 if is_human(s) else systems.index(s) for s in system.names])[system.codes]
    keep = row_of >= 0
    a, f = table.numbers("adequacy", keep), table.numbers("fluency", keep)
    if a is None or f is None:
        return None
    total = table.numbers("total", keep) if "total" in table.header else a + f
    if total is None:
        return None
    rater = names.get("rater")
    rated = quick.Rated(row_of[keep], segment.codes[keep], a, f, total, None if rater is None else rater.rows(keep))
    made = quick.scored(rated, (len(systems), len(segment.names)), NO_ERRORS)
    return _pool(path, sorted(system.names), segment.names, made, labels["document"], labels["domain"])


def _careful_human(sheet: Sheet) -> Pool:
    """Ratings line by line, each refusal with its place."""
    path = sheet.path
    named_raters, have_total = "rater" in sheet.columns, "total" in sheet.columns
    first: dict[tuple[str, ...], int] = {}
    segments: dict[str, int] = {}
    for line, cells in watched(sheet.rows, sheet.path):
        system, segment = (sheet.name(line, cells, column) for column in ("system", "segment"))
        segments.setdefault(segment, len(segments))
        if named_raters:
            rater = sheet.name(line, cells, "rater")
            sheet.once(first, (system, segment, rater), line, "system {!r} on segment {!r} by rater {!r}")
        else:
            sheet.once(first, (system, segment), line, "system {!r} on segment {!r}")
    named = sorted({key[0] for key in first})
    systems = [s for s in named if not is_human(s)]
    if len(systems) < 2:
        raise DataError(f"{path}: {len(systems)} of its systems are machines; at least two are needed")
    found: dict[tuple[str, str], list[Cell]] = {}
    for line, cells in watched(sheet.rows, sheet.path):
        if is_human(cells["system"]):
            continue
        a, f = (sheet.number(line, cells, aspect) for aspect in ("adequacy", "fluency"))
        total = sheet.number(line, cells, "total") if have_total else a + f
        here = Cell(a, f, total, (), cells["rater"] if named_raters else "")
        found.setdefault((cells["system"], cells["segment"]), []).append(here)
    every = [
        [tuple(sorted(found.get((system, n), ()), key=lambda cell: natural(cell.rater))) for n in segments]
        for system in systems
    ]
    made = score(systems, every, every)
    labels = (_labels(sheet, "document", segments), _labels(sheet, "domain", segments))
    return _pool(path, named, list(segments), made, *labels)


def _pool(
    path: Path, named: list[str], segments: list[str], made: Scored, documents: tuple[str, ...] | None,
    domains: tuple[str, ...] | None
) -> Pool:  # fmt: skip
    """A pool of ratings; `named` are all systems of the file, people among them."""
    unrated = int(np.isnan(made.adequacy).sum())
    notes = [f"{s}: left out, since it is no machine system" for s in named if is_human(s)]
    notes += [f"{unrated} of {made.adequacy.size} cells are not rated"] if unrated else []
    return Pool(
        name=path.name,
        systems=tuple(s for s in named if not is_human(s)),
        lines=np.arange(len(segments)),
        source_lines=len(segments),
        total=made.total,
        adequacy=made.adequacy,
        fluency=made.fluency,
        reference="none",
        segments=tuple(segments),
        notes=tuple(notes),
        documents=documents,
        domains=domains,
        raters=made.raters,
        rater_names=made.rater_names,
        ratings=made.ratings,
    )


def _labels(sheet: Sheet, column: str, segments: Iterable[str]) -> tuple[str, ...] | None:
    """What a column calls each segment, in their order; every row of a segment must say the same. None without it."""
    if column not in sheet.columns:
        return None
    first: dict[str, tuple[int, str]] = {}
    for line, cells in watched(sheet.rows, sheet.path):
        before, label = first.setdefault(cells["segment"], (line, sheet.name(line, cells, column)))
        if cells[column] != label:
            raise DataError(
                f"{sheet.place(line, column)} has {short(cells[column])} for segment {cells['segment']!r}, "
                f"where line {before} has {short(label)}; one is expected"
            )
    return tuple(first[segment][1] for segment in segments)


def read_scorers(
    path: str | os.PathLike[str] | Frame | Mapping[str, Any], source: Dataset | str, name: str | None = None,
    ignore_extra: bool = False
) -> dict[str, np.ndarray]:  # fmt: skip
    """The scorers in a file, by name: scores (K, N) of the systems of `source` and its segments with totals, in their order.

    The field's form has, for each system, one line per rated segment or one per source line; None is allowed where
    nobody rated. In a table, `segment` is the source line counted from 1, or the name that the human ratings give it.
    Every system of `source` must be there. Others may be there too, such as references and submissions that nobody rated:
    they are left out, with a warning for the latter. A segment that `source` does not know is refused unless
    `ignore_extra`. `name` renames the one scorer of a file; if not given, it is called
    as its column, or as the file without its ending.

    In place of a file: a pandas or polars frame that holds such a table; or a dictionary, {system: scores} as mt-metrics-eval's
    EvalSet gives them (None where there is none), or {scorer: {system: scores}}.

    >>> import tempfile
    >>> pool = Pool("tiny", ("x", "y"), np.array([0, 2]), 3, total=np.zeros((2, 2)))  # lines 0 and 2 of 3 are rated
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     print("y\\t1\\ny\\tNone\\ny\\t3\\nx\\t4\\nx\\t5\\nx\\t6", file=file, flush=True)
    ...     read_scorers(file.name, pool, "mine")["mine"].tolist()
    [[4.0, 6.0], [1.0, 3.0]]
    """
    source = dataset_of(source)
    if isinstance(path, Mapping):
        found = {n: _mapped_scorer(x, source) for n, x in by_scorer(path, name or "yours").items()}
        path = DICTIONARY
    elif isinstance(path, Frame):
        found, path = _table_scorers(as_sheet(path, *SCORERS), source, name or "yours", ignore_extra), FRAME
    else:
        path = Path(path)
        text = read_text(path)
        stem = ENDING.sub("", path.name) or path.name
        if path.suffix.lower() == ".csv" or {"system", "segment"} <= header(text):
            found = _quick_table(path, text, source, stem, ignore_extra) or _table_scorers(
                read_sheet(path, *SCORERS), source, stem, ignore_extra
            )
        else:
            x = _quick_field(path, text, source)
            found = {stem: _field_scorer(path, source) if x is None else x}
    if name is not None:
        if len(found) > 1:
            raise DataError(f"{path}: {len(found)} scorers are there ({', '.join(found)}), so {name!r} cannot name one")
        found = {name: next(iter(found.values()))}
    for scorer, x in found.items():
        try:
            refuse_constant(x, scorer)
        except DataError as error:
            raise DataError(f"{path}: {error}") from None
    return found


def _quick_field(path: Path, text: str, source: Dataset) -> np.ndarray | None:
    """What `_field_scorer` makes of a file; None where anything is odd."""
    lines = text.rstrip().split("\n")
    if any(line.count("\t") != 1 for line in lines):
        return None
    cells = "\t".join(lines).split("\t")
    codes, names = pd.factorize(np.array(cells[::2], dtype=object))
    places = {str(s): n for n, s in enumerate(names)}
    if not set(source.systems) <= set(places):
        return None
    scores = np.array(cells[1::2], dtype=object)
    chosen = scored_lines(source)
    rated, every = len(chosen), source.source_lines
    grid: list[np.ndarray] = []
    for system in source.systems:
        mine = scores[codes == places[system]].tolist()
        x = quick.numbers(mine, may_lack=True)
        if len(mine) not in (rated, every) or x is None or (grid and x.size != grid[0].size):
            return None
        grid.append(x)
    out = np.array(grid)
    out = out if out.shape[1] == rated else out[:, chosen]
    if np.isnan(out).any():
        return None
    _check_systems(path, places, source)
    return out


def _mapped_scorer(given: Mapping[str, Any], source: Dataset) -> np.ndarray:
    """Scores (K, N) from a dictionary {system: scores}, one for each rated or each source line."""
    _check_systems(DICTIONARY, given, source)
    chosen = scored_lines(source)
    rated, every = len(chosen), source.source_lines
    out = np.empty((len(source.systems), rated))
    for k, system in enumerate(source.systems):
        row = list(given[system])
        if len(row) not in (rated, every):
            raise DataError(
                f"{DICTIONARY}: system {system!r} has {len(row)} scores; {every} (all source lines) or {rated} (the rated ones) "
                "are expected"
            )
        for n, at in enumerate(range(rated) if len(row) == rated else chosen):
            if row[at] is None:
                raise DataError(f"{DICTIONARY}: {system!r} has no score on a rated segment, place {at}; one is needed")
            out[k, n] = number(str(row[at]), lambda: f"{DICTIONARY}: system {system!r}, place {at}")
    return out


def _field_scorer(path: Path, source: Dataset) -> np.ndarray:
    rows: dict[str, list[tuple[int, str]]] = {}
    lines = read_text(path).split("\n")
    while not lines[-1].strip():
        lines.pop()
    for line, row in enumerate(watched(lines, path), start=1):
        fields = row.split("\t")
        if len(fields) != 2:
            raise DataError(
                f"{path}: line {line} has {len(fields)} {'column' if len(fields) == 1 else 'columns'}; "
                "system, tab, score is expected"
            )
        rows.setdefault(fields[0], []).append((line, fields[1]))
    _check_systems(path, rows, source)
    chosen = scored_lines(source)
    rated, every = len(chosen), source.source_lines
    out = np.empty((len(source.systems), rated))
    for k, system in enumerate(source.systems):
        cells = rows[system]
        if len(cells) not in (rated, every) or len(cells) != len(rows[source.systems[0]]):
            wanted = (
                f"{rated} are"
                if rated == every
                else f"{every} (all source lines) or {rated} (the rated ones) in all are"
            )
            raise DataError(
                f"{path}: line {cells[-1][0]}: system {system!r} ends after {len(cells)} lines; {wanted} expected"
            )
        places = range(rated) if len(cells) == rated else chosen
        values = [number(text, lambda: f"{path}: line {line}, column 2", may_lack=True) for line, text in cells]
        for n, at in enumerate(places):
            if values[at] is None:
                raise DataError(
                    f"{path}: line {cells[at][0]}, column 2: {system!r} has no score on a rated segment; one is needed"
                )
            out[k, n] = values[at]
    return out


def _quick_table(path: Path, text: str, source: Dataset, name: str, ignore_extra: bool) -> dict[str, np.ndarray] | None:
    """What `_table_scorers` makes of a table; None where anything is odd."""
    table = quick.table(text, *SCORERS, _score_columns)
    if table is None:
        return None
    long, columns = "scorer" in table.header, _score_columns(table.header)
    system, segment = table.named("system"), table.named("segment")
    scorer = table.named("scorer") if long else None
    if not columns or system is None or segment is None or (long and scorer is None):
        return None
    if not set(source.systems) <= set(system.names):
        return None
    row_of = np.array([source.systems.index(s) if s in source.systems else -1 for s in system.names])[system.codes]
    keep = row_of >= 0
    names = _segment_names(source)
    place, known = {s: n for n, s in enumerate(names)}, _known(source)
    if not ignore_extra and any(
        segment.names[n] not in known for n in np.flatnonzero(np.bincount(segment.codes[keep]))
    ):
        return None
    column_of = np.array([place.get(s, -1) for s in segment.names])[segment.codes]
    scorers = [scorer.codes[keep]] if scorer is not None else []
    if quick.repeats(*scorers, row_of[keep], segment.codes[keep]):
        return None
    there = column_of[keep] >= 0
    at = row_of[keep][there], column_of[keep][there]
    found: dict[str, np.ndarray] = {}
    for column in columns:
        x = table.numbers(column, keep)
        if x is None or not there.any():
            return None
        if scorer is None:
            called = [(name if columns == ["score"] else column, np.arange(at[0].size))]
        else:
            which = scorers[0][there]
            called = [(scorer.names[n], np.flatnonzero(which == n)) for n in dict.fromkeys(which.tolist())]
        for one, rows in called:
            found[one] = np.full((len(source.systems), len(names)), np.nan)
            found[one][at[0][rows], at[1][rows]] = x[there][rows]
            if np.isnan(found[one]).any():
                return None
    _check_systems(path, system.names, source)
    return found


def _score_columns(columns: list[str]) -> list[str]:
    """The columns of a table that hold scores."""
    return [c for c in columns if (c == "score" if "scorer" in columns else c not in SCORERS[0])]


def _table_scorers(sheet: Sheet, source: Dataset, name: str, ignore_extra: bool) -> dict[str, np.ndarray]:
    """A table line by line, each refusal with its place."""
    path = sheet.path
    long = "scorer" in sheet.columns
    columns = _score_columns(sheet.columns)
    if not columns:
        raise DataError(
            f"{path}: line 1 has no column of scores; system, segment and one column per scorer, or scorer, "
            "system, segment, score are expected"
        )
    _check_systems(path, dict.fromkeys(sheet.name(line, cells, "system") for line, cells in sheet.rows), source)
    row_of = {system: k for k, system in enumerate(source.systems)}
    names = _segment_names(source)
    column_of = {segment: n for n, segment in enumerate(names)}
    known = _known(source)
    found: dict[str, np.ndarray] = {}
    seen: dict[tuple[str, ...], int] = {}
    for line, cells in watched(sheet.rows, sheet.path):
        system, segment = cells["system"], sheet.name(line, cells, "segment")
        if system not in row_of:
            continue
        if segment not in known and not ignore_extra:
            wanted = "a segment that is rated" if _named(source) else f"a source line, 1 to {source.source_lines},"
            raise DataError(
                f"{sheet.place(line, 'segment')} has {short(segment)}; {wanted} is expected "
                "(--ignore-extra leaves others out)"
            )
        for column in columns:
            scorer = sheet.name(line, cells, "scorer") if long else name if columns == ["score"] else column
            sheet.once(seen, (scorer, system, segment), line, "the score of {!r} for {!r} on segment {!r}")
            value = sheet.number(line, cells, column)
            if segment in column_of:
                if scorer not in found:
                    found[scorer] = np.full((len(row_of), len(names)), np.nan)
                found[scorer][row_of[system], column_of[segment]] = value
    if not found:
        raise DataError(f"{path}: no rated segment is there; the first one is {names[0]!r}")
    for scorer, grid in found.items():
        for k, n in np.argwhere(np.isnan(grid)):
            raise DataError(
                f"{path}: {scorer!r} has no score for {source.systems[k]!r} on segment {names[n]!r}; "
                "every system needs one on every rated segment"
            )
    return found


def _named(source: Dataset) -> tuple[str, ...] | None:
    """The names of the rated segments, where their file gives them some."""
    if not isinstance(source, Pool) or source.segments is None:
        return None
    return tuple(name for name, counts in zip(source.segments, source.official, strict=True) if counts)


def _segment_names(source: Dataset) -> list[str]:
    """What a table calls the rated segments."""
    return list(_named(source) or (str(line + 1) for line in scored_lines(source)))


def _known(source: Dataset) -> set[str]:
    """All segments that a table may name, rated or not."""
    return set(_named(source) or (str(n) for n in range(1, source.source_lines + 1)))


def _check_systems(path: Path, found: Iterable[str], source: Dataset) -> None:
    """Every rated system must be among those `found` in the file; what else is there is left out, and said."""
    found = list(found)
    missing = [s for s in source.systems if s not in found]
    extra = [s for s in found if s not in source.systems and not is_human(s)]
    if missing:
        raise DataError(
            f"{path}: system {missing[0]!r} is missing; all {len(source.systems)} rated systems of "
            f"{source.name} are needed{near(missing[0], extra, 'is it called')}"
        )
    if extra:  # every rated system is there, so none of these is a misspelt one
        few = ", ".join(short(s) for s in extra[:3]) + (", …" if len(extra) > 3 else "")
        warnings.warn(f"{path}: left out, as nobody rated {'it' if len(extra) == 1 else 'them'}: {few}", stacklevel=4)
