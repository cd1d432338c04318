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
from .files import read_text
from .mqm import TAXONOMY, WEIGHTS, Taxonomy, Weights, plain
from .pool import Exclusion, Pool
from .ratings import Cell, Grid, Mark, Pricing, Ratings, chosen, is_human, mean, natural, score

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
    """A raw table: for each (system, segment) its raters' errors; how many rows were probes."""

    cells: dict[tuple[str, Key], dict[str, list[Mark]]]
    probes: int

    def ratings(self, system: str, segment: Key, pricing: Pricing) -> tuple[Cell, ...]:
        """All ratings of a cell, rater2 before rater10."""
        found = self.cells.get((system, segment), {})
        return tuple(pricing.cell(found[rater], rater) for rater in sorted(found, key=natural))


def read_table(path: str | Path, pricing: Pricing) -> Table:
    """The rows of a raw table, at the prices of `pricing`."""
    rows = read_text(path).split("\n")
    header = [plain(h).replace(" ", "_") for h in rows[0].split("\t")]
    at = []
    for column, names in COLUMNS.items():
        found = [name for name in names if name in header]
        if not found:
            raise DataError(f"{path}: line 1 has no column {column!r}; the header must name {', '.join(COLUMNS)}")
        at.append(header.index(found[0]))
    # a last cell that is no column of ours may be a comment, which the rows do not have
    width = len(header) if len(header) - 1 in at else len(header) - 1
    cells: dict[tuple[str, Key], dict[str, list[Mark]]] = defaultdict(lambda: defaultdict(list))
    probes = 0
    for n, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        fields = row.split("\t")
        if len(fields) < width:
            raise DataError(f"{path}: line {n} has {len(fields)} columns where the header has {len(header)}")
        system, doc, doc_id, seg_id, rater, category, severity = (fields[i] for i in at)
        category, severity = plain(category), plain(severity)
        if severity == PROBE:
            probes += 1
            continue
        if not (rater or category or severity):  # a row that only carries remarks on the segment
            continue
        found_here = cells[system, (doc, doc_id, seg_id)][rater]
        if category != "no-error":
            found_here.append(Mark(category, severity, pricing.tally.penalty(category, severity)))
    return Table({cell: dict(raters) for cell, raters in cells.items()}, probes)


def read_mqm_tsv(path: str | Path, taxonomy: Taxonomy = TAXONOMY, weights: Weights = WEIGHTS) -> Pool:
    """Read a raw MQM error table into a `Pool` without scorers.

    Tab-separated with a header naming at least system, doc, doc_id (or docSegId), seg_id (or globalSegId), rater,
    category, severity; one row per error, or one row of category "no-error" for a segment without any. Nothing is
    quoted. Rows of severity "HOTW-test" are probes of the raters' attention: they are dropped, and a note counts them.
    A segment rated by several raters gets their mean; in the error table each of their errors counts once, but costs
    its share. References are left out, as in `read_mtme`. Segments keep the order in which the file first names them,
    and are called by their seg_id where no two share one, else doc:doc_id:seg_id. The total is adequacy + fluency +
    errors of neither.

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
    path = Path(path)
    pricing = Pricing(taxonomy, weights)
    table = read_table(path, pricing)
    named = sorted({system for system, _ in table.cells})
    systems = [system for system in named if not is_human(system)]
    if not systems:
        raise DataError(f"{path}: no rating of a system below the header")
    segments = list(dict.fromkeys(segment for system, segment in table.cells if not is_human(system)))
    every = [[table.ratings(system, segment, pricing) for segment in segments] for system in systems]
    made = score(systems, every, every)
    notes = _probe_note(table)
    unknown = pricing.report(cell for row in every for cells in row for cell in cells)
    if unknown:
        warnings.warn(f"{path}: {unknown}", stacklevel=2)
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
    table = read_table(path, pricing)
    renamed = _names(path, table, systems)
    priced = table if pricing.official else read_table(path, standard := Pricing())
    sums: dict[tuple[str, Key], float] = {
        cell: mean([c.total for c in priced.ratings(*cell, pricing if pricing.official else standard)])
        for cell in priced.cells
    }
    row_of = {system: k for k, system in enumerate(systems)}
    best: tuple[int, dict[Key, int], np.ndarray] | None = None
    for lines in _placings(list(dict.fromkeys(key for _, key in table.cells)), official.shape[1], documents):
        ours = np.full(official.shape, np.nan)
        for (system, key), value in sums.items():
            ours[row_of[renamed[system]], lines[key]] = value
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
    every: Grid = [
        [
            table.ratings(back[system], key_of[n], pricing) if system in back and n in key_of else ()
            for n in range(official.shape[1])
        ]
        for system in systems
    ]
    return Ratings(systems, chosen(every, "mean" if rating == "merged" else rating, str(path)), every), notes


def _said(value: float) -> str:
    return "no rating" if np.isnan(value) else f"{value:g}"


def _names(path: str | Path, table: Table, systems: tuple[str, ...]) -> dict[str, str]:
    """The tree's name of each system of the table: the same, but for case and punctuation."""
    bare = {re.sub(r"[\W_]", "", system).lower(): system for system in systems}
    out: dict[str, str] = {}
    for system in {system for system, _ in table.cells}:
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
