"""Raw tables of MQM errors: tab-separated, one row per error, as Google publishes them.

Three headers are in use, told apart by the names of their columns; more columns may be there, in any order:

    2020-2022   system, doc, doc_id, seg_id, rater, source, target, category, severity
    since 2023  system, doc, docSegId, globalSegId, rater, source, target, category, severity, metadata
    enzh22      system_id, document_id, doc_segment_id, rater_id, …, category, severity
"""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..core.check import DataError
from . import quick
from .files import read_text
from .mqm import TAXONOMY, WEIGHTS, Tally, Taxonomy, Weights, plain
from .pool import Exclusion, Pool
from .ratings import Cell, Grid, Mark, Pricing, Ratings, Scored, chosen, error_table, is_human, natural

COLUMNS = {  # what is needed, and what it may be called
    "system": ("system", "system_id"),
    "doc": ("doc", "document_id"),
    "doc_id": ("doc_id", "docsegid", "doc_segment_id"),
    "seg_id": ("seg_id", "globalsegid", "doc_segment_id"),
    "rater": ("rater", "rater_id"),
    "category": ("category",),
    "severity": ("severity",),
}
PROBE = "hotw-test"  # the severity of rows that test whether a rater is awake: an error was put there on purpose
TOLERATED = 0.02  # share of cells whose sum may differ from the official total

Key = tuple[str, str, str]  # doc, place in it, segment


class Table(NamedTuple):
    """A raw table as columns: its R ratings in the order of their first rows, and E errors, each of a rating and of a kind."""

    system: quick.Named  # of each rating: (R,), and so on
    segment: quick.Codes
    segments: list[Key]
    rater: quick.Named
    rating: quick.Codes  # (E,) of each error
    mark: quick.Codes  # (E,)
    marks: list[Mark]  # the kinds of errors
    probes: int  # rows that were probes

    def cells(self) -> dict[tuple[str, Key], dict[str, list[Mark]]]:
        """For each (system, segment) its raters' errors."""
        found: list[list[Mark]] = [[] for _ in self.segment]
        for rating, mark in zip(self.rating.tolist(), self.mark.tolist(), strict=True):
            found[rating].append(self.marks[mark])
        out: dict[tuple[str, Key], dict[str, list[Mark]]] = defaultdict(dict)
        for n, (system, segment, rater) in enumerate(
            zip(self.system.codes.tolist(), self.segment.tolist(), self.rater.codes.tolist(), strict=True)
        ):
            out[self.system.names[system], self.segments[segment]][self.rater.names[rater]] = found[n]
        return out


def read_table(path: str | Path, text: str, pricing: Pricing) -> Table:
    """The rows of a raw table, at the prices of `pricing`."""
    first, _, body = text.partition("\n")
    header = [plain(h).replace(" ", "_") for h in first.split("\t")]
    at = []
    for column, names in COLUMNS.items():
        found = [name for name in names if name in header]
        if not found:
            raise DataError(f"{path}: line 1 has no column {column!r}; the header must name {', '.join(COLUMNS)}")
        at.append(header.index(found[0]))
    # a last cell that is no column of ours may be a comment, which the rows do not have
    width = len(header) if len(header) - 1 in at else len(header) - 1
    raw = body.encode()
    letters = np.frombuffer(raw, dtype=np.uint8)
    ends = np.append(np.flatnonzero(letters == ord("\n")), letters.size)  # of lines
    length = np.diff(ends, prepend=-1) - 1
    have = np.diff(np.searchsorted(np.flatnonzero(letters == ord("\t")), ends), prepend=0) + 1
    bad = np.flatnonzero((length > 0) & (have < width))
    if bad.size:
        n = int(bad[0])
        raise DataError(f"{path}: line {n + 2} has {have[n]} columns where the header has {len(header)}")
    if not length[:-1].all():
        raw = b"\n".join(line for line in raw.split(b"\n") if line)
    if not raw:
        nobody = quick.Named(np.zeros(0, dtype=np.int64), [])
        return Table(nobody, nobody.codes, [], nobody, nobody.codes, nobody.codes, [], 0)
    return _columns(quick.fields(raw, at, int(have.max())), pricing)


def _columns(found: list[quick.Named], pricing: Pricing) -> Table:
    """A table from its columns as they are spelt, in the order of `COLUMNS`."""
    *_, rater, category, severity = found
    category, severity = (labels.renamed([plain(name) for name in labels.names]) for labels in (category, severity))
    probe = severity.has(PROBE)
    # a row without rater, category and severity only carries remarks on the segment
    keep = ~probe & ~(rater.has("") & category.has("") & severity.has(""))
    system, doc, doc_id, seg_id, rater, category, severity = (
        column.rows(keep) for column in (*found[:5], category, severity)
    )
    segment, first = quick.distinct(doc.codes, doc_id.codes, seg_id.codes)
    segments = [
        (doc.names[a], doc_id.names[b], seg_id.names[c])
        for a, b, c in zip(*(x.codes[first].tolist() for x in (doc, doc_id, seg_id)), strict=True)
    ]
    rating, one = quick.distinct(system.codes, segment, rater.codes)
    error = ~category.has("no-error")
    mark, kind = quick.distinct(category.codes[error], severity.codes[error])
    marks = []
    for c, s in zip(category.codes[error][kind].tolist(), severity.codes[error][kind].tolist(), strict=True):
        label = category.names[c], severity.names[s]
        marks.append(Mark(*label, pricing.tally.penalty(*label)))
    return Table(
        system.rows(one), segment[one], segments, rater.rows(one),
        rating[error], mark, marks, int(probe.sum())
    )  # fmt: skip


def read_mqm_tsv(
    path: str | Path, taxonomy: Taxonomy = TAXONOMY, weights: Weights = WEIGHTS, allow_uncounted: bool = False
) -> Pool:
    """Read a raw MQM error table into a `Pool` without scorers.

    Tab-separated with a header naming at least system, doc, doc_id (or docSegId), seg_id (or globalSegId), rater,
    category, severity; one row per error, or one row of category "no-error" for a segment without any. Nothing is
    quoted. Rows of severity "HOTW-test" are probes of the raters' attention: they are dropped, and a note counts them.
    A segment rated by several raters gets their mean; in the error table each of their errors counts once, but costs
    its share. References are left out, as in `read_mtme`. Segments keep the order in which the file first names them,
    and are called by their seg_id where no two share one, else doc:doc_id:seg_id. The total is adequacy + fluency +
    errors of neither.

    Errors of a category that `taxonomy` does not know are in neither aspect, and one of a severity that `weights` does not know
    costs nothing: a warning lists them. Where they are more than a fifth of all errors, or of the penalties, what is
    left would tell another balance, and the table is refused unless `allow_uncounted`.

    >>> import tempfile
    >>> columns = ["system", "doc", "doc_id", "seg_id", "rater", "category", "severity"]
    >>> errors = [("x", 1, "Accuracy/Omission", "Major"), ("x", 2, "no-error", "no-error"), ("y", 1, "Style/Awkward", "Minor")]
    >>> rows = [(s, "d", n, n, "r", *error) for s, n, *error in [*errors, ("y", 2, "no-error", "no-error")]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "errors.tsv")
    ...     _ = file.write_text("\\n".join("\\t".join(map(str, row)) for row in [columns, *rows]), "utf-8")
    ...     pool = read_mqm_tsv(file)
    >>> pool.systems, pool.adequacy.tolist(), pool.fluency.tolist()
    (('x', 'y'), [[-5.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [-1.0, 0.0]])
    """
    return mqm_pool(Path(path), read_text(path), Pricing(taxonomy, weights), allow_uncounted)


def mqm_pool(path: Path, text: str, pricing: Pricing, allow_uncounted: bool) -> Pool:
    """What `read_mqm_tsv` makes of a file that holds `text`."""
    table = read_table(path, text, pricing)
    of = table.system
    named = sorted(of.used())
    systems = [system for system in named if not is_human(system)]
    if not systems:
        raise DataError(f"{path}: no rating of a system below the header")
    row = np.array([systems.index(s) if s in systems else -1 for s in of.names])[of.codes]
    kept = row >= 0
    column, first = quick.distinct(table.segment[kept])
    segments = [table.segments[n] for n in table.segment[kept][first].tolist()]
    made = _scored(table, kept, row[kept], column, (systems, len(segments)), pricing.tally)
    notes = _probe_note(table)
    for unknown in pricing.report(made.errors, str(path), allow_uncounted):
        warnings.warn(unknown, stacklevel=3)
        notes.append(unknown)
    return Pool(
        name=path.name,
        systems=tuple(systems),
        lines=np.arange(len(segments)),
        source_lines=len(segments),
        total=made.total,
        adequacy=made.adequacy,
        fluency=made.fluency,
        errors=made.errors,
        reference="none",
        notes=tuple(notes),
        segments=_segment_names(segments),
        raters=made.raters,
        rater_names=made.rater_names,
        documents=tuple(doc for doc, _, _ in segments),
        ratings=made.ratings,
        left_out=tuple(Exclusion("system", s, "a human translation") for s in named if is_human(s)),
    )


def _scored(
    table: Table, kept: np.ndarray, row: quick.Codes, column: quick.Codes, shape: tuple[list[str], int], tally: Tally
) -> Scored:
    """The ratings to keep of a table, at their places in a pool, and the table of their errors."""
    systems, length = shape
    ratings = row.size
    mine = kept[table.rating]
    rating, mark = (np.cumsum(kept) - 1)[table.rating[mine]], table.mark[mine]
    cost = np.array([m.cost for m in table.marks], dtype=np.float64)[mark]
    aspects = np.array([tally.aspect(m.category) for m in table.marks], dtype=object)[mark]
    a, f = (0.0 - quick.sums(cost[aspects == x], rating[aspects == x], ratings) for x in ("adequacy", "fluency"))
    rated = quick.Rated(row, column, a, f, 0.0 - quick.sums(cost, rating, ratings), table.rater.rows(kept))
    # errors of several raters each count once, but cost their share
    cell = row * length + column
    share = cost / np.bincount(cell)[cell][rating]
    group, one = quick.distinct(row[rating], mark)
    counts, costs = np.bincount(group, minlength=one.size), quick.sums(share, group, one.size)
    rows = [
        (systems[s], table.marks[m].category, table.marks[m].severity, n, c)
        for s, m, n, c in zip(
            row[rating][one].tolist(), mark[one].tolist(), counts.tolist(), costs.tolist(), strict=True
        )
    ]
    return quick.scored(rated, (len(systems), length), error_table(sorted(rows)))


def _probe_note(table: Table) -> list[str]:
    return [f"{table.probes} rows of severity HOTW-test, probes of the raters, were dropped"] if table.probes else []


def _segment_names(keys: list[Key]) -> tuple[str, ...]:
    """A name for each segment: the last part of its key alone where that is enough."""
    short = tuple(seg_id for _, _, seg_id in keys)
    return short if len(set(short)) == len(short) else tuple(":".join(key) for key in keys)


def join_tsv(
    path: str | Path,
    systems: tuple[str, ...],
    official: np.ndarray,
    documents: list[tuple[str, str]] | None,
    pricing: Pricing,
    rating: str | int,
) -> tuple[Ratings, list[str]]:
    """Put the errors of a raw table on the S systems and L source lines of a tree whose official totals (S, L) are known.

    A segment's line follows from its globalSegId, or from its document and docSegId by `documents` (domain, document of
    each line); both may count from 0 or 1. Taken is the way under which the most cells sum up to the official total. A
    share of at most 2 % of cells may differ, with a note; more is refused. "merged" counts every rating of a cell, as
    "mean" does.
    """
    table = read_table(path, read_text(path), pricing)
    renamed = _names(path, table.system.used(), systems)
    cell, first = quick.distinct(table.system.codes, table.segment)
    standard = Tally()  # official totals are at its prices, whatever ours are
    cost = np.array([standard.penalty(m.category, m.severity) for m in table.marks], dtype=np.float64)[table.mark]
    totals = quick.means(0.0 - quick.sums(cost, table.rating, cell.size), cell, first.size)
    row = np.array([systems.index(renamed[s]) if s in renamed else -1 for s in table.system.names])
    best: tuple[int, dict[Key, int], np.ndarray] | None = None
    for lines in _placings(table.segments, official.shape[1], documents):
        ours = np.full(official.shape, np.nan)
        line = np.array([lines[key] for key in table.segments])
        ours[row[table.system.codes[first]], line[table.segment[first]]] = totals
        differ = ~(np.isclose(ours, official, rtol=0, atol=1e-6) | (np.isnan(ours) & np.isnan(official)))
        if best is None or differ.sum() < best[0]:
            best = int(differ.sum()), lines, np.where(differ, ours, 0.0)
            worst = np.argwhere(differ)
    if best is None:
        raise DataError(
            f"{path}: its segments cannot be put on the {official.shape[1]} source lines of the tree; globalSegId must count "
            "them, or doc and docSegId must agree with the documents of the tree"
        )
    wrong, lines, ours = best
    rated = int((~np.isnan(official)).sum())
    notes = _probe_note(table)
    if wrong:
        k, n = worst[0]
        said = (
            f"{wrong} of {rated} rated cells differ from the official totals, the first in system {systems[k]!r} on source "
            f"line {n + 1}: {_said(ours[k, n])} here, {_said(official[k, n])} there"
        )
        if wrong > TOLERATED * rated:
            raise DataError(f"{path}: {said}; at most {TOLERATED:.0%} may, so this is not the table of these ratings")
        notes.append(f"{Path(path).name}: {said}")
    back = {system: name for name, system in renamed.items()}
    key_of = {line: key for key, line in lines.items()}
    cells = table.cells()

    def ratings(system: str, n: int) -> tuple[Cell, ...]:
        """All ratings of a cell, rater2 before rater10."""
        found = cells.get((back[system], key_of[n]), {}) if system in back and n in key_of else {}
        return tuple(pricing.cell(found[rater], rater) for rater in sorted(found, key=natural))

    every: Grid = [[ratings(system, n) for n in range(official.shape[1])] for system in systems]
    return Ratings(systems, chosen(every, "mean" if rating == "merged" else rating, str(path)), every), notes


def _said(value: float) -> str:
    return "no rating" if np.isnan(value) else f"{value:g}"


def _names(path: str | Path, found: list[str], systems: tuple[str, ...]) -> dict[str, str]:
    """The tree's name of each system of the table: the same, but for case and punctuation."""
    bare = {re.sub(r"[\W_]", "", system).lower(): system for system in systems}
    out: dict[str, str] = {}
    for system in found:
        meant = system if system in systems else bare.get(re.sub(r"[\W_]", "", system).lower())
        if meant is None or meant in out.values():
            raise DataError(f"{path}: system {system!r} is not one of the tree's: {', '.join(systems)}")
        out[system] = meant
    return out


def _placings(keys: list[Key], length: int, documents: list[tuple[str, str]] | None) -> list[dict[Key, int]]:
    """Every way to give the segments different source lines: by their number, or by their place in their document."""
    starts: dict[str, list[int]] = defaultdict(list)
    for n, (_, document) in enumerate(documents or ()):
        starts[document].append(n)
    ways = []
    for first in (1, 0):
        by_number, by_place = {}, {}
        for key in keys:
            doc, doc_id, seg_id = key
            mine = starts.get(doc) or starts.get(doc.partition(":")[0]) or []
            if seg_id.isdecimal() and 0 <= int(seg_id) - first < length:
                by_number[key] = int(seg_id) - first
            if doc_id.isdecimal() and 0 <= int(doc_id) - first < len(mine):
                by_place[key] = mine[int(doc_id) - first]
        ways += [way for way in (by_number, by_place) if len(way) == len(keys) == len(set(way.values()))]
    return ways
