"""Rating files of an mt-metrics-eval-v2 tree: who rated which cell, how often, and what each rating costs.

For a language pair a tree may hold, in `human-scores`:

    <pair>.mqm.merged.seg.rating          one rating of each cell
    <pair>.round2.mqm.merged.seg.rating   a second one of each, by another rater; likewise round3
    <pair>.mqm.<rater>.seg.rating         all that one rater rated

one line per (system, source line): system, tab, errors as JSON or None, tab, rater. A cell's ratings have an order: by
rounds where there are round files (the merged file is round 1), else by rater, rater2 before rater10.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from math import fsum, isfinite
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..core.check import DataError
from .files import read_text
from .mqm import TAXONOMY, UNCOUNTED, WEIGHTS, Tally, Taxonomy, Weights, coverage, plain
from .pool import Rating
from .registry import Source

GET = "unpack an mt-metrics-eval-v2 release there, or let 'make data' download it"


def is_human(system: str) -> bool:
    """References and human translations are no machine systems.

    >>> [is_human(s) for s in ("refA", "refb", "ref.B", "synthetic_ref", "Human-A.0", "Refract-MT", "reflex")]
    [True, True, True, True, True, False, False]
    """
    return re.fullmatch(r"synthetic_ref|ref[a-z]|(?i:ref|human)([A-Z\d]|[-._][A-Za-z\d])?(\.\d)?", system) is not None


def natural(name: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """A key that sorts numbers inside names as numbers; no two names have the same.

    >>> sorted(["rater10", "rater2", "rater1", "rater01"], key=natural)
    ['rater01', 'rater1', 'rater2', 'rater10']
    """
    return tuple((1, int(p), "") if p.isdecimal() else (0, 0, p) for p in re.split(r"(\d+)", name)), name


class Mark(NamedTuple):
    """One error, as the tables spell it, and its cost in MQM points."""

    category: str
    severity: str
    cost: float


class Cell(NamedTuple):
    """One rating of one cell: MQM points (at most 0), the errors behind them, and the rater ("" where the file names none).

    `total` also holds the errors of neither aspect.
    """

    adequacy: float
    fluency: float
    total: float
    marks: tuple[Mark, ...]
    rater: str = ""


class Pricing:
    """What a list of errors costs in each aspect: what the file says, unless `weights` are given."""

    def __init__(self, taxonomy: Taxonomy = TAXONOMY, weights: Weights | None = None):
        self.tally = Tally(taxonomy, weights or WEIGHTS)
        self.official = weights is None
        self._known: dict[str, Cell] = {}
        self._labels: dict[tuple[str, str], tuple[str, str]] = {}

    def read(self, text: str) -> Cell:
        """The cell that a file spells `text`. Files repeat each other, so each text is parsed once."""
        if text not in self._known:
            self._known[text] = self.cell([self._mark(error) for error in json.loads(text)["errors"]])
        return self._known[text]

    def _mark(self, error: dict[str, str]) -> Mark:
        written = error["category"], error["severity"]
        if written not in self._labels:
            self._labels[written] = plain(written[0]), plain(written[1])
        category, severity = self._labels[written]
        cost = float(error["score"])
        if not isfinite(cost):
            raise ValueError(cost)
        return Mark(category, severity, cost if self.official else self.tally.penalty(category, severity))

    def cell(self, marks: Sequence[Mark], rater: str = "") -> Cell:
        """The rating that these errors make."""
        costs: dict[str, list[float]] = {"adequacy": [], "fluency": [], "neither": []}
        for mark in marks:
            costs[self.tally.aspect(mark.category)].append(mark.cost)
        # fsum rounds once, so cells with the same errors in another order get the very same number
        a, f = fsum(costs["adequacy"]), fsum(costs["fluency"])
        return Cell(0.0 - a, 0.0 - f, 0.0 - fsum(mark.cost for mark in marks), tuple(marks), rater)

    def report(self, errors: pd.DataFrame, name: str, allow_uncounted: bool) -> list[str]:
        """A note on the labels of an error table that no table of ours knows, if any; too many are refused unless allowed."""
        self.tally.unknown.clear()
        self.tally.points.clear()
        for category, severity, n, cost in errors[["category", "severity", "count", "penalty"]].itertuples(index=False):
            self.tally.aspect(category, n, cost)
            self.tally.penalty(category, severity, n)
        if not self.tally.unknown:
            return []
        share = coverage(errors, self.tally.taxonomy, self.tally.weights)
        if not share.enough and not allow_uncounted:
            raise DataError(
                f"{name}: {share.unknown_errors:.0%} of its errors, with {share.unknown_penalties:.0%} of the penalties, are of "
                f"a category or severity that no table knows; at most {UNCOUNTED:.0%} may be left out (--allow-uncounted, "
                f"allow_uncounted=True), or a taxonomy can name them; {self.tally.report()}"
            )
        return [f"{name}: {self.tally.report()}"]


Grid = list[list[tuple[Cell, ...]]]  # S × L: some ratings of each cell, () where there are none
Layer = dict[str, list[Cell | None]]  # the cells of each system, in source order; None where nobody rated


class RatingFiles(NamedTuple):
    """The rating files of a pair that are there."""

    merged: Path
    rounds: tuple[Path, ...]  # round 2, round 3, …
    raters: dict[str, Path]  # by rater

    @property
    def any(self) -> bool:
        return self.merged.exists() or bool(self.raters)


def rating_files(folder: Path, pair: str) -> RatingFiles:
    """The rating files of a pair in a folder `human-scores`."""
    end = ".seg.rating"
    found = (p for p in folder.glob(f"{pair}.mqm.*{end}") if p.name != f"{pair}.mqm.merged{end}")
    raters = {p.name.removesuffix(end).rpartition(".")[2]: p for p in found}
    rounds = sorted(folder.glob(f"{pair}.round*.mqm.merged{end}"), key=lambda p: natural(p.name))
    return RatingFiles(
        folder / f"{pair}.mqm.merged{end}", tuple(rounds), {r: raters[r] for r in sorted(raters, key=natural)}
    )


class Ratings(NamedTuple):
    """The ratings of a pair, on S systems in alphabetical order and L source lines."""

    systems: tuple[str, ...]
    counting: Grid  # the ratings that count; the mean is taken over those of a cell
    every: Grid  # all ratings, those of a cell in their order

    @property
    def length(self) -> int:
        return len(self.counting[0])

    @property
    def present(self) -> np.ndarray:
        """Which cells have a rating that counts: (S, L)."""
        return np.array([[bool(cells) for cells in row] for row in self.counting])


def read_ratings(folder: Path, source: Source, rating: str | int, pricing: Pricing) -> Ratings:
    """All ratings of a pair, and those that count by `rating`: "merged", "mean", a round (from 1) or a rater's name."""
    files = rating_files(folder, source.pair)
    merged: Layer | None = None
    if files.merged.exists() or not files.raters:
        merged = _read_layer(files.merged, pricing)
    # the rounds hold what the rater files hold: where there are rounds, these are not read again
    if merged is not None and files.rounds:
        layers = [merged, *(_read_layer(path, pricing) for path in files.rounds)]
        paths = [files.merged, *files.rounds]
    elif files.raters:
        layers = [_read_layer(path, pricing, rater) for rater, path in files.raters.items()]
        paths = list(files.raters.values())
    else:
        layers, paths = [merged or {}], [files.merged]
    named = [*zip(layers, paths, strict=True), *([] if merged is None else [(merged, files.merged)])]
    length = len(next(iter(named[0][0].values())))
    for layer, path in named:
        for system, cells in layer.items():
            if len(cells) != length:
                raise DataError(
                    f"{path}: system {system!r} has {len(cells)} lines where {named[0][1].name} has {length}"
                )
    systems = tuple(sorted({system for layer, _ in named for system in layer}))
    nothing: list[Cell | None] = [None] * length
    every = [
        [
            tuple(cell for cell in cells if cell is not None)
            for cells in zip(*(layer.get(s, nothing) for layer in layers), strict=True)
        ]
        for s in systems
    ]
    if rating == "merged":
        counting = _united(systems, every, source, files) if merged is None else _single(merged, systems, nothing)
    else:
        counting = chosen(every, rating, f"{folder}: {source.pair}")
    return Ratings(systems, counting, every)


def _single(layer: Layer, systems: tuple[str, ...], nothing: list[Cell | None]) -> Grid:
    return [[() if cell is None else (cell,) for cell in layer.get(system, nothing)] for system in systems]


def chosen(every: Grid, rating: str | int, what: str) -> Grid:
    """The ratings that count, of all ratings of each cell: all ("mean"), the n-th (a number from 1), or one rater's."""
    if rating == "mean":
        return every
    if isinstance(rating, int):
        most = max((len(cells) for row in every for cells in row), default=0)
        if not 1 <= rating <= most:
            there = f"1 to {most} are there" if most > 1 else "each cell is rated once"
            raise DataError(f"{what}: no cell has a rating {rating}; {there}")
        return [[cells[rating - 1 : rating] for cells in row] for row in every]
    names = sorted({c.rater for row in every for cells in row for c in cells} - {""}, key=natural)
    if rating not in names:
        raise DataError(
            f"{what}: no rater is called {rating!r}; merged, mean, a round (1, 2, …) or a rater is expected: "
            + (", ".join(names) or "none is named")
        )
    return [[tuple(c for c in cells if c.rater == rating) for cells in row] for row in every]


def _united(systems: tuple[str, ...], every: Grid, source: Source, files: RatingFiles) -> Grid:
    """One rating a cell from per-rater files alone; where several rated a cell, the record must say whose counts."""
    out = []
    for system, row in zip(systems, every, strict=True):
        mine = []
        for line, cells in enumerate(row):
            chosen = next((who for first, last, who in source.prefer if first <= line <= last), None)
            cells = tuple(cell for cell in cells if chosen in (None, cell.rater))
            if len(cells) > 1:
                first, second = (files.raters[cell.rater] for cell in cells[:2])
                raise DataError(
                    f"{second}: system {system!r}, source line {line + 1} is rated in {first.name} too; it must be said "
                    f"whose rating counts: mean, a round (1, 2, …) or a rater's name"
                )
            mine.append(cells)
        out.append(mine)
    return out


def _read_layer(path: Path, pricing: Pricing, rater: str | None = None) -> Layer:
    """The cells of each system in one file, all by `rater` if that is given, else by whom its third column says."""
    text = read_text(path, GET)
    if not text.endswith("\n"):
        raise DataError(f"{path}: the last line has no line end, so the file is cut off; fetch it again")
    layer: Layer = defaultdict(list)
    for n, row in enumerate(text.split("\n")[:-1], start=1):
        fields = row.split("\t")
        if len(fields) < 2:
            raise DataError(f"{path}: line {n} has {len(fields)} column; system, tab, errors is expected")
        if fields[1] == "None":
            layer[fields[0]].append(None)
            continue
        try:
            cell = pricing.read(fields[1])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
            raise DataError(
                f"{path}: line {n} is not a list of errors in JSON with category, severity and score"
            ) from None
        layer[fields[0]].append(cell._replace(rater=rater or (fields[2] if len(fields) > 2 else "")))
    lengths = {system: len(cells) for system, cells in layer.items()}
    if len(set(lengths.values())) > 1:
        short = min(lengths, key=lengths.__getitem__)
        raise DataError(
            f"{path}: system {short!r} has {lengths[short]} lines where others have {max(lengths.values())}; "
            "every system needs one line per source line"
        )
    return dict(layer)


def mean(values: Sequence[float]) -> float:
    """The mean of a cell's ratings, to twelve significant digits; NaN where there is none.

    Rounded so that cells with equal means are equal to the bit, whatever ratings the mean is made of: cells are grouped
    by it.

    >>> mean([-0.3, -0.1, -0.2]) == mean([-0.2, -0.2]) == -0.2, mean([])
    (True, nan)
    """
    return float(f"{fsum(values) / len(values):.12g}") if values else float("nan")


class Scored(NamedTuple):
    """Ratings as arrays (K, N), and the errors behind those that count, as `Pool` holds them."""

    adequacy: np.ndarray
    fluency: np.ndarray
    total: np.ndarray
    raters: np.ndarray | None
    rater_names: tuple[str, ...]
    ratings: tuple[Rating, ...]
    errors: pd.DataFrame


def score(systems: Sequence[str], counting: Grid, every: Grid) -> Scored:
    """The mean over the ratings that count, and every rating by itself where some cell has more than one."""
    names = sorted({c.rater for row in every for cells in row for c in cells} - {""}, key=natural)
    place = {name: i for i, name in enumerate(names)} | {"": -1}
    most = max(len(cells) for row in every for cells in row)
    ratings = [_arrays([[cells[i : i + 1] for cells in row] for row in every], place) for i in range(most)]
    a, f, t, raters = _arrays(counting, place)
    return Scored(
        a, f, t, raters if names else None, tuple(names), tuple(ratings) if most > 1 else (), _errors(systems, counting)
    )


def _arrays(cells: Grid, place: dict[str, int]) -> Rating:
    """The mean over each cell's ratings, NaN where there are none; where no cell has several, each rating as it is."""
    several = any(len(some) > 1 for row in cells for some in row)

    def part(name: str) -> np.ndarray:
        one = attrgetter(name)
        if several:
            return np.array([[mean([one(c) for c in some]) for some in row] for row in cells])
        return np.array([[one(some[0]) if some else np.nan for some in row] for row in cells])

    who = [[place[some[0].rater] if len(some) == 1 else -1 for some in row] for row in cells]
    return Rating(part("adequacy"), part("fluency"), part("total"), np.array(who, dtype=np.int16))


def _errors(systems: Sequence[str], counting: Grid) -> pd.DataFrame:
    """How often each system has an error of a category and severity, and what they cost.

    Errors of several raters each count once, but cost their share: the price divided by the number of ratings of that
    cell. So `aspect_means` of the table gives the means of the pool.
    """
    costs: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for system, row in zip(systems, counting, strict=True):
        for cells in row:
            for cell in cells:
                for category, severity, cost in cell.marks:
                    costs[system, category, severity].append(cost / len(cells))
    rows = [(*key, len(found), fsum(found)) for key, found in sorted(costs.items())]
    return error_table(rows)


def error_table(rows: Sequence[tuple[str, str, str, int, float]]) -> pd.DataFrame:
    """Rows of system, category, severity, count and penalty as `Pool` holds them."""
    table = pd.DataFrame(rows, columns=["system", "category", "severity", "count", "penalty"])
    return table.astype({"count": int, "penalty": float})
