"""From files to a `Pool`: the mt-metrics-eval-v2 tree that WMT publishes, or a raw table of MQM errors.

A tree holds, for each set (wmt24) and language pair (en-de):

    <set>/human-scores/<pair>.mqm.merged.seg.rating   system, tab, errors as JSON or None (or one such file per rater)
    <set>/human-scores/<pair>.mqm.seg.score           system, tab, official MQM total or None
    <set>/metric-scores/<pair>/<scorer>-<variant>.seg.score   system, tab, score

one line per (system, source line); the n-th line of a system is source line n. The rules below (which segments, systems and
scorers are kept) are those under which the published tables come out.
"""

from __future__ import annotations

import io
import json
import re
import warnings
from collections import defaultdict
from math import fsum, isfinite
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from ..core.check import DataError
from .files import read_text
from .mqm import TAXONOMY, WEIGHTS, Tally, Taxonomy, Weights, plain
from .pool import CONSTANT, Pool, system_means
from .registry import DATASETS, TREE, Source


def read_mtme(
    root, dataset: str | Source, reference: str = "refA", taxonomy: Taxonomy = TAXONOMY, weights: Weights | None = None
) -> Pool:
    """Read one dataset of an unpacked mt-metrics-eval-v2 tree into a `Pool`.

    `root` is the tree or the folder that holds it. `reference` picks the variant of reference-based scorers ("standard": the
    one WMT used); scorers without it take part with their `src` variant, if they have one. Errors cost what the release says
    they cost unless `weights` are given.
    """
    source = _source(dataset)
    name = dataset if isinstance(dataset, str) else f"{source.set}/{source.pair}"
    reference = source.standard if reference == "standard" else reference
    folder = _tree(root) / source.set
    human = folder / "human-scores"
    totals = read_scores(human / f"{source.pair}.mqm.seg.score")
    tally = Tally(taxonomy, weights or WEIGHTS)
    if source.ratings:
        rated = _score_ratings(_merged_ratings(human, source), tally, official=weights is None)
        if rated.adequacy.shape[1] != totals.values.shape[1]:
            raise DataError(
                f"{human}: the {source.pair} ratings have {rated.adequacy.shape[1]} lines per system, {totals.path.name} "
                f"has {totals.values.shape[1]}; both must cover the same source lines"
            )
        names, present = rated.systems, ~np.isnan(rated.adequacy)
    else:
        rated, names, present = None, totals.systems, ~np.isnan(totals.values)

    per_segment = present.sum(axis=0)
    lines = np.flatnonzero((per_segment > 0) & (per_segment >= per_segment.max() / 2))
    kept = [
        k
        for k, system in enumerate(names)
        if not is_human(system) and system not in source.drop and present[k, lines].any()
    ]
    systems = tuple(names[k] for k in kept)
    if len(systems) < 2:
        raise DataError(f"{human}: {len(systems)} rated system is left for {source.pair}; at least two are needed")
    scorers, notes = _read_scorers(
        folder / "metric-scores" / source.pair,
        set(names) | set(totals.systems),
        systems,
        lines,
        totals.values.shape[1],
        reference,
    )
    if tally.unknown:
        warnings.warn(f"{name}: {tally.report()}", stacklevel=2)
        notes.append(tally.report())
    cells = np.ix_(kept, lines)
    return Pool(
        name=name,
        systems=systems,
        lines=lines,
        source_lines=totals.values.shape[1],
        total=totals.rows(systems)[:, lines],
        adequacy=None if rated is None else rated.adequacy[cells],
        fluency=None if rated is None else rated.fluency[cells],
        scorers=scorers,
        errors=None if rated is None else _error_table(rated.errors, systems, lines),
        reference=reference,
        notes=tuple(notes),
    )


def find_source(root, set_: str, pair: str) -> Source:
    """The source of a set and language pair in a tree: what is known about it, or what its files say.

    A pair without per-error ratings is read for its totals alone.
    """
    for source in DATASETS.values():
        if (source.set, source.pair) == (set_, pair):
            return source
    tree = _tree(root)
    sets = sorted(p.parent.name for p in tree.glob("*/human-scores"))
    if set_ not in sets:
        raise DataError(f"{tree}: no set {set_!r}; there {_are(sets)}")
    human = tree / set_ / "human-scores"
    pairs = sorted(p.name.removesuffix(".mqm.seg.score") for p in human.glob("*.mqm.seg.score"))
    if pair not in pairs:
        raise DataError(f"{human}: no MQM scores of the pair {pair!r}; there {_are(pairs)}")
    return Source(set_, pair, ratings=any(human.glob(f"{pair}.mqm.*.seg.rating")))


def _are(names: list[str]) -> str:
    return ("is " if len(names) == 1 else "are ") + (", ".join(names) or "none")


def read_mqm_tsv(path, taxonomy: Taxonomy = TAXONOMY, weights: Weights = WEIGHTS) -> Pool:
    """Read a raw MQM error table into a `Pool` without scorers.

    Marks of several raters: each counts once in the error table, but costs its share, the price divided by the number of raters
    of that cell. So `aspect_means` of the table gives the means of the pool.

    Tab-separated with a header naming at least system, doc, doc_id, seg_id, rater, category, severity; one row per error, or one
    row of category "no-error" for a segment without any. Nothing is quoted. A segment rated by several raters gets their
    mean. References are left out, as in `read_mtme`. Segments keep the order in which the file first names them, and are called
    by their seg_id where no two share one, else doc:doc_id:seg_id. The total is adequacy + fluency + errors of neither.
    """
    path = Path(path)
    need = ("system", "doc", "doc_id", "seg_id", "rater", "category", "severity")
    rows = read_text(path).split("\n")
    header = [plain(h).replace(" ", "_") for h in rows[0].split("\t")]
    missing = [n for n in need if n not in header]
    if missing:
        raise DataError(f"{path}: line 1 has no column {missing[0]!r}; the header must name {', '.join(need)}")
    at = [header.index(n) for n in need]
    tally = Tally(taxonomy, weights)
    cells: dict[tuple, list] = defaultdict(list)
    errors, segments = [], {}
    for n, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        fields = row.split("\t")
        if len(fields) < len(header):
            raise DataError(f"{path}: line {n} has {len(fields)} columns where the header has {len(header)}")
        system, doc, doc_id, seg_id, rater, category, severity = (fields[i] for i in at)
        if is_human(system):
            continue
        segment = segments.setdefault((doc, doc_id, seg_id), len(segments))
        found = cells[system, segment, rater]
        if plain(category) != "no-error":
            cost = tally.penalty(category, severity)
            found.append((tally.aspect(category), cost))
            errors.append((system, segment, plain(category), plain(severity), cost))
    systems = tuple(sorted({s for s, _, _ in cells}))
    if not systems:
        raise DataError(f"{path}: no rating of a system below the header")
    shape = (len(systems), len(segments))
    sums = {aspect: np.zeros(shape) for aspect in ("adequacy", "fluency", "neither")}
    raters = np.zeros(shape)
    row_of = {s: k for k, s in enumerate(systems)}
    for (system, segment, _), found in cells.items():
        raters[row_of[system], segment] += 1
        for aspect, grid in sums.items():
            grid[row_of[system], segment] -= fsum(cost for where, cost in found if where == aspect)
    with np.errstate(invalid="ignore"):  # 0/0 where nobody rated: NaN is what the pool expects there
        a, f, rest = (grid / raters for grid in sums.values())
    errors = [(*where, cost / raters[row_of[where[0]], where[1]]) for *where, cost in errors]
    if tally.unknown:
        warnings.warn(f"{path}: {tally.report()}", stacklevel=2)
    return Pool(
        name=path.name,
        systems=systems,
        lines=np.arange(shape[1]),
        source_lines=shape[1],
        total=a + f + rest,
        adequacy=a,
        fluency=f,
        errors=_error_table(errors, systems, range(shape[1])),
        reference="none",
        notes=(tally.report(),) if tally.unknown else (),
        segments=_segment_names(segments),
    )


def _segment_names(keys) -> tuple[str, ...]:
    """A name for each (doc, doc_id, seg_id): the last part alone where that is enough."""
    short = tuple(seg_id for _, _, seg_id in keys)
    return short if len(set(short)) == len(short) else tuple(":".join(key) for key in keys)


class Scores(NamedTuple):
    """A score file: `values` (S, L), NaN where it says None, for S system names in alphabetical order."""

    path: Path
    systems: tuple[str, ...]
    values: np.ndarray

    def rows(self, systems) -> np.ndarray:
        """The rows of `systems`, in that order."""
        for s in systems:
            if s not in self.systems:
                raise DataError(f"{self.path}: system {s!r} is missing; the ratings name it")
        return self.values[[self.systems.index(s) for s in systems]]


def read_scores(path) -> Scores:
    """Read a file of lines "system, tab, score or None"."""
    path = Path(path)
    raw = _bytes(path).replace(b"\r\n", b"\n")
    if not raw.endswith(b"\n"):
        raise DataError(f"{path}: the last line has no line end, so the file is cut off; fetch it again")
    if raw.count(b"\t") != raw.count(b"\n"):
        raise _bad_line(path, raw)
    try:
        table = pd.read_csv(
            io.BytesIO(raw),
            sep="\t",
            header=None,
            quoting=3,
            dtype={0: str, 1: np.float64},
            keep_default_na=False,
            na_values={1: ["None"]},
        )
        values = table[1].to_numpy()
    except (ValueError, KeyError, pd.errors.ParserError):  # UnicodeDecodeError is a ValueError
        raise _bad_line(path, raw) from None
    if np.isinf(values).any():
        raise _bad_line(path, raw)
    codes, names = pd.factorize(table[0], sort=True)
    systems = tuple(names)
    count = np.bincount(codes)
    if count.min() != count.max():
        short, most = int(count.argmin()), int(count.max())
        raise DataError(
            f"{path}: system {systems[short]!r} has {count[short]} lines where others have {most}; "
            "every system needs one line per source line"
        )
    return Scores(path, systems, values[np.argsort(codes, kind="stable")].reshape(len(systems), -1))


def is_human(system: str) -> bool:
    """References and human translations are no machine systems.

    >>> [is_human(s) for s in ("refA", "ref.B", "synthetic_ref", "Human-A.0", "Refract-MT", "reflex")]
    [True, True, True, True, False, False]
    """
    return re.fullmatch(r"synthetic_ref|(?i:ref|human)([A-Z\d]|[-._][A-Za-z\d])?(\.\d)?", system) is not None


class _Cell(NamedTuple):
    """One rated cell as it stands in its file: where, and the errors in JSON."""

    path: Path
    line: int
    text: str


class _Ratings(NamedTuple):
    systems: tuple[str, ...]
    adequacy: np.ndarray  # (S, L), NaN where unrated
    fluency: np.ndarray
    errors: list  # (system, line, category, severity, penalty)


def _rating_file(path: Path) -> dict[str, list[_Cell | None]]:
    """The cells of each system, in source order; None where it says None."""
    text = read_text(path, _GET)
    if not text.endswith("\n"):
        raise DataError(f"{path}: the last line has no line end, so the file is cut off; fetch it again")
    cells: dict[str, list] = defaultdict(list)
    for n, row in enumerate(text.split("\n")[:-1], start=1):
        fields = row.split("\t")
        if len(fields) < 2:
            raise DataError(f"{path}: line {n} has {len(fields)} column; system, tab, errors is expected")
        cells[fields[0]].append(None if fields[1] == "None" else _Cell(path, n, fields[1]))
    lengths = {s: len(c) for s, c in cells.items()}
    if len(set(lengths.values())) > 1:
        short = min(lengths, key=lengths.get)
        raise DataError(
            f"{path}: system {short!r} has {lengths[short]} lines where others have {max(lengths.values())}; "
            "every system needs one line per source line"
        )
    return cells


def _merged_ratings(folder: Path, source: Source) -> dict[str, list[_Cell | None]]:
    """The merged rating file of a pair, or the union of its per-rater files where the release has only those."""
    merged = folder / f"{source.pair}.mqm.merged.seg.rating"
    raters = sorted(folder.glob(f"{source.pair}.mqm.*.seg.rating"))
    if merged.exists() or not raters:
        return _rating_file(merged)
    out: dict[str, list] = {}
    length = None
    for path in raters:
        rater = path.name.removesuffix(".seg.rating").rpartition(".")[2]
        for system, cells in _rating_file(path).items():
            length = length or len(cells)
            if len(cells) != length:
                raise DataError(f"{path}: system {system!r} has {len(cells)} lines where {raters[0].name} has {length}")
            mine = out.setdefault(system, [None] * length)
            for line, cell in enumerate(cells):
                chosen = next((who for first, last, who in source.prefer if first <= line <= last), None)
                if cell is None or chosen not in (None, rater):
                    continue
                if mine[line] is not None:
                    raise DataError(
                        f"{path}: line {cell.line} rates a cell that {mine[line].path.name} rates too; "
                        "it must be said whose rating counts"
                    )
                mine[line] = cell
    return out


def _score_ratings(cells: dict[str, list[_Cell | None]], tally: Tally, official: bool) -> _Ratings:
    systems = tuple(sorted(cells))
    both = np.full((2, len(systems), len(cells[systems[0]])), np.nan)
    errors = []
    for k, system in enumerate(systems):
        for line, cell in enumerate(cells[system]):
            if cell is None:
                continue
            sums: dict[str, list] = {"adequacy": [], "fluency": [], "neither": []}
            try:
                for error in json.loads(cell.text)["errors"]:
                    category, severity = plain(error["category"]), plain(error["severity"])
                    priced = tally.penalty(category, severity)  # asked in any case: an unknown severity is counted
                    cost = float(error["score"]) if official else priced
                    if not isfinite(cost):
                        raise ValueError(cost)
                    sums[tally.aspect(category)].append(cost)
                    errors.append((system, line, category, severity, cost))
            except (ValueError, TypeError, KeyError, AttributeError):
                raise DataError(
                    f"{cell.path}: line {cell.line} is not a list of errors in JSON with category, severity and score"
                ) from None
            # fsum rounds once, so cells with the same errors in another order get the very same number
            both[:, k, line] = 0.0 - fsum(sums["adequacy"]), 0.0 - fsum(sums["fluency"])
    return _Ratings(systems, both[0], both[1], errors)


def _read_scorers(
    folder: Path, known: set[str], systems: tuple[str, ...], lines: np.ndarray, length: int, reference: str
) -> tuple[dict[str, np.ndarray], list[str]]:
    """The scorers kept, in alphabetical order, and a note for each one left out."""
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder; {_GET}")
    variants: dict[str, dict[str, Path]] = defaultdict(dict)
    for path in folder.glob("*.seg.score"):
        scorer, _, variant = path.name.removesuffix(".seg.score").rpartition("-")
        variants[scorer][variant] = path
    references = {v for found in variants.values() for v in found} - {"src"}
    if references and reference not in references | {"src"}:
        there = ", ".join(sorted(references))
        raise DataError(f"{folder}: no scorer has the reference {reference!r}; there are {there}")
    kept: dict[str, np.ndarray] = {}
    notes, seen = [], {}
    for scorer in tqdm(sorted(variants), desc="scorers", delay=1, leave=False, disable=None):
        path = variants[scorer].get(reference) or variants[scorer].get("src")
        if path is None:
            notes.append(f"{scorer}: neither a {reference} nor a src variant")
            continue
        scores = read_scores(path)
        strange = [s for s in scores.systems if s not in known and not is_human(s)]
        if strange:
            raise DataError(f"{path}: system {strange[0]!r} is in no human score file of this pair")
        if scores.values.shape[1] != length:
            raise DataError(f"{path}: {scores.values.shape[1]} lines per system where the human scores have {length}")
        if not set(systems) <= set(scores.systems):
            notes.append(f"{scorer}: does not score every system")
            continue
        every = scores.rows(systems)
        x = every[:, lines]
        if np.isnan(x).any():
            notes.append(f"{scorer}: does not score every rated segment")
            continue
        means = system_means(x)
        if means.std() <= CONSTANT * np.abs(means).max():
            notes.append(f"{scorer}: gives every system the same mean")
            continue
        twin = seen.setdefault(every.tobytes(), scorer)
        if twin != scorer:
            notes.append(f"{scorer}: same scores as {twin}")
            continue
        kept[scorer] = x
    return kept, notes


def _error_table(errors, systems, lines) -> pd.DataFrame:
    table = pd.DataFrame(errors, columns=["system", "line", "category", "severity", "penalty"])
    table = table[table["system"].isin(systems) & table["line"].isin(np.asarray(lines))]
    by = table.groupby(["system", "category", "severity"])["penalty"]
    out = by.agg(count="size", penalty=fsum).reset_index()
    return out.astype({"count": int, "penalty": float})


_GET = "unpack an mt-metrics-eval-v2 release there, or let 'make data' download it"


def _tree(root) -> Path:
    root = Path(root)
    if not root.is_dir():
        raise DataError(f"{root}: no such folder; {_GET}")
    return root / TREE if (root / TREE).is_dir() else root


def _source(dataset) -> Source:
    if isinstance(dataset, Source):
        return dataset
    if dataset not in DATASETS:
        raise DataError(f"unknown dataset {dataset!r}; known are {', '.join(DATASETS)}")
    return DATASETS[dataset]


def _bytes(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; {_GET}") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    if not raw:
        raise DataError(f"{path}: the file is empty")
    return raw


def _bad_line(path: Path, raw: bytes) -> DataError:
    """Find the first line that is not "system, tab, number or None" and say so. Only called when there is one."""
    for n, row in enumerate(raw.decode("utf-8", errors="replace").split("\n")[:-1], start=1):
        fields = row.split("\t")
        if len(fields) != 2:
            return DataError(f"{path}: line {n} has {len(fields)} columns; system, tab, score is expected")
        try:
            usable = fields[1] == "None" or abs(float(fields[1])) < float("inf")
        except ValueError:
            usable = False
        if not usable:
            return DataError(f"{path}: line {n} has the score {fields[1]!r}; a finite number or None is expected")
    return DataError(f"{path}: not a table of UTF-8 text lines 'system, tab, score'")
