"""Small files of every form that the program reads, with the numbers of a dataset that ships."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..core.check import DataError
from .export import files_table, new_folder
from .pool import Pool, pick
from .segments import load_pool

SEGMENTS, PREFERRED, SCORERS = 40, 40, 6  # how much of a dataset
Rows = Iterator[tuple[object, ...]]


def write_example(name: str, folder: str | os.PathLike[str]) -> dict[str, list[object]]:
    """Write the example files of a dataset into a new folder; returned: the files, what each holds, and its rows."""
    pool = load_pool(name)
    if pool.adequacy is None or pool.fluency is None or len(pool.scorers) < SCORERS:
        raise DataError(f"{name} has too few ratings or scorers for an example; ende24 has enough")
    both = pool.official & pool.annotated & ~np.isnan(pool.adequacy + pool.total).any(axis=0)
    part = pick(pool, both & (np.cumsum(both) <= SEGMENTS))
    scorers = list(pool.scorers)[:SCORERS]
    mine, other = scorers[:2]
    target, rows = Path(folder), []
    tables: dict[str, tuple[str, tuple[str, ...], Rows]] = {
        "human.csv": (
            "human ratings of 40 segments", ("system", "segment", "adequacy", "fluency", "document"), _human(part),
        ),
        "mqm.tsv": (
            "the same as MQM errors, categories made up", ("system", "doc", "doc_id", "seg_id", "rater", "category", "severity"),
            _errors(part),
        ),
        "scores.csv": (f"their scores by {mine} and {other}", ("system", "segment", mine, other), _scores(part, mine, other)),
        "systems.csv": ("means of systems", ("system", "adequacy", "fluency"), _means(pool)),
        "pairs.csv": (
            f"preferred translations, and their scores by {SCORERS} scorers", ("pair", "preferred", "scorer", "first", "second"),
            _pairs(part, scorers),
        ),
    }  # fmt: skip
    with new_folder(target) as made:
        for file, (what, header, content) in tables.items():
            lines = [header, *content]
            with (made / file).open("w", encoding="utf-8", newline="") as out:
                csv.writer(out, delimiter="\t" if file.endswith("tsv") else ",", lineterminator="\n").writerows(lines)
            rows.append((str(target / file), what, len(lines) - 1))
        (made / "my").mkdir()
        for file in ("my.seg.score", f"my/mine.{name}.seg.score"):
            x = pool.scored[mine]
            lines = [(s, v) for s, row in zip(pool.systems, x.tolist(), strict=True) for v in row]
            (made / file).write_text("".join(f"{s}\t{v!r}\n" for s, v in lines), encoding="utf-8")
            rows.append(
                (str(target / file), f"all scores of {name} by {mine}, as those of a scorer of yours", len(lines))
            )
    return files_table(rows)


def _cells(pool: Pool) -> Iterator[tuple[int, int, str, str]]:
    """Places of the cells, with their systems and segments."""
    for k, system in enumerate(pool.systems):
        for n, line in enumerate(pool.lines.tolist()):
            yield k, n, system, str(line + 1)


def _documents(pool: Pool) -> tuple[str, ...]:
    return pool.documents or tuple(str(line + 1) for line in pool.lines)


def _human(pool: Pool) -> Rows:
    assert pool.adequacy is not None and pool.fluency is not None
    where = _documents(pool)
    for k, n, system, segment in _cells(pool):
        yield system, segment, pool.adequacy[k, n] + 0.0, pool.fluency[k, n] + 0.0, where[n]


def _errors(pool: Pool) -> Rows:
    """Rows whose prices sum up to the points of each cell, to a tenth of a point."""
    assert pool.adequacy is not None and pool.fluency is not None
    where = _documents(pool)
    for k, n, system, segment in _cells(pool):
        place = (system, where[n], segment, segment, "rater1")
        found = 0
        for x, kind in ((pool.adequacy, "accuracy/mistranslation"), (pool.fluency, "fluency/grammar")):
            tenths = round(-10 * float(x[k, n]))
            for count, category, severity in (
                (tenths // 50, kind, "major"),
                (tenths % 50 // 10, kind, "minor"),
                (tenths % 10 if kind.startswith("fluency") else 0, "fluency/punctuation", "minor"),
            ):
                found += count
                yield from [(*place, category, severity)] * count
        if not found:
            yield *place, "no-error", "no-error"


def _scores(pool: Pool, *scorers: str) -> Rows:
    for k, n, system, segment in _cells(pool):
        yield system, segment, *(pool.scorers[s][k, n] for s in scorers)


def _means(pool: Pool) -> Rows:
    a, f = pool.aspects or ((), ())
    yield from zip(pool.systems, (float(x) for x in a), (float(x) for x in f), strict=True)


def _pairs(pool: Pool, scorers: list[str]) -> Rows:
    """Pairs of systems on one segment each, the better total preferred."""
    count = 0
    for n in range(len(pool.lines)):
        best, worst = int(pool.total[:, n].argmax()), int(pool.total[:, n].argmin())
        if pool.total[best, n] == pool.total[worst, n] or count == PREFERRED:
            continue
        count += 1
        first, second = (best, worst) if n % 2 else (worst, best)
        for s in scorers:
            x = pool.scorers[s][:, n]
            yield f"p{count}", "first" if n % 2 else "second", s, x[first], x[second]
