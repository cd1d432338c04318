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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..core.check import DataError, near
from . import quick
from .aspects import PAPER, Two, check_known, columns_needed, two_aspects
from .digest import dataset_of
from .files import read_text
from .frames import DICTIONARY, FRAME, Frame, as_sheet, by_scorer, flat
from .mqm import TAXONOMY, WEIGHTS, Taxonomy, Weights
from .mtme import is_human
from .pool import Pool, refuse_constant
from .protocol import Dataset, scored_lines
from .ratings import Pricing, Scored
from .sheet import delimiter, first_line, header, number, read_means, short
from .tsv import mqm_pool

KEYS, LABELS = ("system", "segment"), ("total", "rater", "document", "domain")  # of ratings: needed, and known
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
    allow_uncounted: bool = False, aspects: str | Sequence[str] | None = None
) -> Pool:  # fmt: skip
    """Human ratings of every system and segment, as a `Pool` without scorers; higher is better.

    A table with columns system, segment, adequacy, fluency and, where it is not their sum, total; a (system, segment)
    without a row counts as not rated. `aspects` names two other columns, as "relevance,coherence"; sums of columns as
    "consistency+relevance,fluency", and "-x" where lower is better. A column rater says who gave a row: several raters
    may rate the same cell, which then has their mean, and `ratings` holds each. Columns document and domain, if there,
    say what a segment belongs to. Or MQM errors, one a row, told by the columns category and severity: see
    `read_mqm_tsv`; `taxonomy` and `weights` say how they are sorted and what they cost, the paper's way unless given,
    and `allow_uncounted` is there, too. References are left out, as everywhere. Segments keep the order in which the
    file first names them. A pandas or polars frame will do in place of a file; see `frames.flat` for its forms.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     print("system,segment,adequacy,fluency\\nx,s1,-1,0\\ny,s1,0,-2", file=file, flush=True)
    ...     pool = read_human(file.name)
    >>> pool.systems, pool.segments, pool.total.tolist()
    (('x', 'y'), ('s1',), [[-1.0], [-2.0]])
    """
    two = two_aspects(aspects)
    if not isinstance(path, Frame):
        text = read_text(path)
        if {"category", "severity"} <= header(text):
            if aspects is not None:
                raise DataError(
                    f"{path}: rows of MQM errors have adequacy and fluency; --taxonomy says what belongs to which"
                )
            if "\t" not in first_line(text):
                raise DataError(f"{path}: line 1 has no tabs; rows of MQM errors must be separated by tabs")
            return mqm_pool(Path(path), text, Pricing(taxonomy or TAXONOMY, weights or WEIGHTS), allow_uncounted)
    if taxonomy or weights:
        name = FRAME if isinstance(path, Frame) else path
        raise DataError(f"{name}: it holds scores, not errors; a taxonomy needs rows of MQM errors to sort")
    rated = columns_needed(two)

    def numeric(columns: list[str]) -> list[str]:
        return [c for c in (*rated, "total") if c in columns]

    if isinstance(path, Frame):
        frame = flat(path)
        path, table = (
            FRAME,
            quick.from_sheet(as_sheet(frame, _known_columns(map(str, frame.columns), two, FRAME), LABELS)),
        )
    else:
        path = Path(path)
        names = [name.strip(' "') for name in first_line(text).split(delimiter(text))]
        table = quick.table(path, text, _known_columns(names, two, path), LABELS, numeric)
    return _human(path, table, two)


def _known_columns(names: Iterable[str], two: Two, path: Path) -> tuple[str, ...]:
    """The columns that a table of ratings needs; aspects that somebody named and that are not there are refused."""
    there = list(names)
    if two is not PAPER:
        ours = {name.lower() for name in (*KEYS, *LABELS)}
        lower = {column.lower() for column in columns_needed(two)}
        check_known(two, [c.lower() if c.lower() in lower else c for c in there if c.lower() not in ours], str(path))
    return (*KEYS, *columns_needed(two))


def _human(path: Path, table: quick.Columns, two: Two) -> Pool:
    """A pool of a table of ratings."""
    system, segment = table.named("system"), table.named("segment")
    rater = table.named("rater") if "rater" in table.header else None
    what = "system {!r} on segment {!r}" + ("" if rater is None else " by rater {!r}")
    table.once(what, *(column for column in (system, segment, rater) if column is not None))
    systems = sorted(s for s in system.names if not is_human(s))
    if len(systems) < 2:
        raise DataError(f"{path}: {len(systems)} of its systems are machines; at least two are needed")
    row_of = np.array([-1 if is_human(s) else systems.index(s) for s in system.names])[system.codes]
    keep = row_of >= 0
    rated = {column: table.numbers(column, keep) for column in columns_needed(two)}
    a, f = (aspect.of(rated.__getitem__) for aspect in two)
    total = table.numbers("total", keep) if "total" in table.header else a + f
    cells = quick.Rated(row_of[keep], segment.codes[keep], a, f, total, None if rater is None else rater.rows(keep))
    made = quick.scored(cells, (len(systems), len(segment.names)), NO_ERRORS)
    documents, domains = (table.labels(c, segment) if c in table.header else None for c in ("document", "domain"))
    return replace(
        _pool(path, sorted(system.names), segment.names, made, documents, domains),
        aspect_names=(two[0].label, two[1].label),
    )


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
        table = quick.from_sheet(as_sheet(flat(path), *SCORERS))
        found, path = _table_scorers(FRAME, table, source, name or "yours", ignore_extra), FRAME
    else:
        path = Path(path)
        text = read_text(path)
        stem = ENDING.sub("", path.name) or path.name
        if path.suffix.lower() == ".csv" or {"system", "segment"} <= header(text):
            table = quick.table(path, text, *SCORERS, _score_columns)
            found = _table_scorers(path, table, source, stem, ignore_extra)
        else:
            found = {stem: _field_scorer(path, text, source)}
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


def _mapped_scorer(given: Mapping[str, Any], source: Dataset) -> np.ndarray:
    """Scores (K, N) from a dictionary {system: scores}, one for each rated or each source line."""
    texts = {system: [str(v) for v in row] for system, row in given.items() if system in source.systems}

    def place(system: str, n: int) -> str:
        return f"{DICTIONARY}: system {system!r}, place {n}"

    return _grid(DICTIONARY, given, texts, source, place)


def _field_scorer(path: Path, text: str, source: Dataset) -> np.ndarray:
    """Scores (K, N) from lines "system, tab, score"."""
    lines = text.split("\n")
    while not lines[-1].strip():  # an empty score in the last line is none of its blanks
        lines.pop()
    for line, row in enumerate(lines, start=1):
        if (tabs := row.count("\t")) != 1:
            columns = f"{tabs + 1} column{'s' if tabs else ''}"
            raise DataError(f"{path}: line {line} has {columns}; system, tab, score is expected")
    cells = "\t".join(lines).split("\t")
    codes, names = pd.factorize(np.array(cells[::2], dtype=object))
    at = {str(s): np.flatnonzero(codes == n) for n, s in enumerate(names) if s in source.systems}
    scores = np.array(cells[1::2], dtype=object)

    def place(system: str, n: int) -> str:
        return f"{path}: line {at[system][min(n, at[system].size - 1)] + 1}, column 2"

    return _grid(path, map(str, names), {s: scores[n].tolist() for s, n in at.items()}, source, place)


def _grid(
    path: Path, there: Iterable[str], texts: Mapping[str, list[str]], source: Dataset, place: Callable[[str, int], str]
) -> np.ndarray:  # fmt: skip
    """The scores (K, N) of each system's row of texts, one for each rated or each source line; `place` says where one stands."""
    _check_systems(path, there, source)
    chosen = scored_lines(source)
    rated, every = len(chosen), source.source_lines
    length = len(texts[source.systems[0]])
    out = []
    for system in source.systems:
        row = texts[system]
        if len(row) not in (rated, every) or len(row) != length:
            wanted = f"{every} (all source lines) or {rated} (the rated ones) in all" if rated < every else f"{rated}"
            if path is DICTIONARY:
                raise DataError(f"{path}: system {system!r} has {len(row)} scores; {wanted} are expected")
            where = place(system, len(row)).removesuffix(", column 2")
            raise DataError(f"{where}: system {system!r} ends after {len(row)} lines; {wanted} are expected")
        x = quick.numbers(row, may_lack=True)
        if x is None:
            found = [number(text, lambda: place(system, n), may_lack=True) for n, text in enumerate(row)]
            x = np.array([np.nan if v is None else v for v in found])
        at = np.arange(rated) if len(row) == rated else chosen
        if (lacking := np.isnan(x[at])).any():
            where = place(system, int(at[lacking.argmax()]))
            if path is DICTIONARY:
                n = int(at[lacking.argmax()])
                raise DataError(f"{path}: system {system!r} has no score on a rated segment, place {n}; one is needed")
            raise DataError(f"{where}: {system!r} has no score on a rated segment; one is needed")
        out.append(x[at])
    return np.array(out)


def _score_columns(columns: list[str]) -> list[str]:
    """The columns of a table that hold scores."""
    return [c for c in columns if (c == "score" if "scorer" in columns else c not in SCORERS[0])]


def _table_scorers(
    path: Path, table: quick.Columns, source: Dataset, name: str, ignore_extra: bool
) -> dict[str, np.ndarray]:
    """The scorers of a table, (K, N) each."""
    long, columns = "scorer" in table.header, _score_columns(table.header)
    if not columns:
        raise DataError(
            f"{path}: line 1 has no column of scores; system, segment and one column per scorer, or scorer, "
            "system, segment, score are expected"
        )
    system, segment = table.named("system"), table.named("segment")
    scorer = table.named("scorer") if long else None
    _check_systems(path, system.names, source)
    row_of = np.array([source.systems.index(s) if s in source.systems else -1 for s in system.names])[system.codes]
    names, known = _segment_names(source), _known(source)
    keep = row_of >= 0
    strange = np.array([n not in known for n in segment.names])[segment.codes] & keep
    if strange.any() and not ignore_extra:
        sheet = table.careful()
        line, cells = sheet.rows[int(strange.argmax())]
        wanted = "a segment that is rated" if _named(source) else f"a source line, 1 to {source.source_lines},"
        raise DataError(
            f"{sheet.place(line, 'segment')} has {short(cells['segment'])}; {wanted} is expected "
            "(--ignore-extra leaves others out)"
        )
    if scorer is None:
        called = name if columns == ["score"] else columns[0]
        table.once(f"the score of {short(called)} for {{!r}} on segment {{!r}}", system, segment, keep=keep)
    else:
        table.once("the score of {!r} for {!r} on segment {!r}", scorer, system, segment, keep=keep)
    place = {s: n for n, s in enumerate(names)}
    column_of = np.array([place.get(s, -1) for s in segment.names])[segment.codes]
    there = column_of[keep] >= 0
    if not there.any():
        raise DataError(f"{path}: no rated segment is there; the first one is {names[0]!r}")
    rows, cells_of = row_of[keep][there], column_of[keep][there]
    found: dict[str, np.ndarray] = {}
    for column in columns:
        x = table.numbers(column, keep)[there]
        which = np.zeros(rows.size, dtype=np.int64) if scorer is None else scorer.codes[keep][there]
        for n in dict.fromkeys(which.tolist()):
            one = scorer.names[n] if scorer is not None else name if columns == ["score"] else column
            mine = which == n
            grid = found[one] = np.full((len(source.systems), len(names)), np.nan)
            grid[rows[mine], cells_of[mine]] = x[mine]
            for k, s in np.argwhere(np.isnan(grid)):
                raise DataError(
                    f"{path}: {one!r} has no score for {source.systems[k]!r} on segment {names[s]!r}; "
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
    extra = [s for s in found if s not in (*source.systems, *source.dropped) and not is_human(s)]
    if missing:
        raise DataError(
            f"{path}: system {missing[0]!r} is missing; all {len(source.systems)} rated systems of "
            f"{source.name} are needed{near(missing[0], extra, 'is it called')}"
        )
    if extra:  # every rated system is there, so none of these is a misspelt one
        few = ", ".join(short(s) for s in extra[:3]) + (", …" if len(extra) > 3 else "")
        warnings.warn(f"{path}: left out, as nobody rated {'it' if len(extra) == 1 else 'them'}: {few}", stacklevel=4)
