"""From files to a `Pool`: the mt-metrics-eval-v2 tree that WMT publishes, or a raw table of MQM errors.

A tree holds, for each set (wmt24) and language pair (en-de):

    <set>/human-scores/<pair>.mqm.merged.seg.rating   system, tab, errors as JSON or None, tab, rater (see `ratings`)
    <set>/human-scores/<pair>.mqm.seg.score           system, tab (or a space), official MQM total or None
    <set>/metric-scores/<pair>/<scorer>-<variant>.seg.score   system, tab, score
    <set>/documents/<pair>.docs                       domain, tab, document

one line per (system, source line), or per source line; the n-th line of a system is source line n. The rules below
(which segments, systems and scorers are kept) are those under which the published tables come out.
"""

from __future__ import annotations

import io
import warnings
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from ..core.check import DataError
from .files import read_bytes, read_text
from .mqm import TAXONOMY, Taxonomy, Weights
from .pool import CONSTANT, Exclusion, Pool, system_means
from .quick import EXACT
from .ratings import GET, Pricing, Ratings, Scored, is_human, rating_files, read_ratings, score
from .registry import DATASETS, IN_TREE, PRIMARIES, TREE, Source
from .tsv import join_tsv, read_mqm_tsv

__all__ = ["Scores", "find_source", "find_tree", "is_human", "read_mqm_tsv", "read_mtme", "read_scores"]


def read_mtme(
    root: str | Path,
    dataset: str | Source,
    reference: str | None = None,
    taxonomy: Taxonomy = TAXONOMY,
    weights: Weights | None = None,
    rating: str | int | None = None,
    errors: str | Path | None = None,
    allow_uncounted: bool = False,
    humans: bool = False,
) -> Pool:
    """Read one dataset of an unpacked mt-metrics-eval-v2 tree into a `Pool`.

    `root` is the tree or the folder that holds it. `reference` picks the variant of reference-based scorers
    ("standard": the one WMT used; by default the one this book uses, refA wherever there is one); scorers without it
    take part with their `src` variant, if they have one. Errors cost what the release says they cost unless `weights`
    are given.

    `rating` says whose rating of a cell counts: "merged" (the merged file, or the union of the rater files), "mean" (of
    all ratings of the cell), a round from 1 (the first rating of each cell, the second, …; the order is that of
    `Pool.ratings`) or a rater's name. By default it is what the dataset's record says: "mean" for ende20, zhen20 and
    enzh22, else "merged". The total is the official one with the default rating; it is what the organisers published
    and follows neither `taxonomy` nor `weights`. With any other rating, and where there is no official total, it is
    minus the cost of all errors of the ratings that count, those of neither aspect included.

    `errors` is a raw table of errors, as `read_mqm_tsv` takes it, for a dataset whose tree has totals but no ratings
    (heen23). It is put on the source lines of the tree and compared with the official totals, cell by cell. Errors that no
    table knows are treated, and many of them refused unless `allow_uncounted`, as by `read_mqm_tsv`.

    `humans` keeps the human translations that WMT ranked among the systems (refA of ende24 and heen23; score with the
    "standard" reference then).

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> human = Path(folder.name, "mt-metrics-eval-v2/made/human-scores")
    >>> for place in (human, human.parent / "metric-scores/en-xx"):
    ...     place.mkdir(parents=True)
    >>> lines = ["x\\t-1", "x\\t0", "x\\t-5", "y\\t0", "y\\t-2", "y\\t0"]  # two systems, three segments
    >>> _ = (human / "en-xx.mqm.seg.score").write_text("\\n".join([*lines, ""]), "utf-8")
    >>> pool = read_mtme(folder.name, find_source(folder.name, "made", "en-xx"))
    >>> pool.systems, pool.total.tolist()
    (('x', 'y'), [[-1.0, 0.0, -5.0], [0.0, -2.0, 0.0]])
    >>> folder.cleanup()
    """
    source = _source(dataset)
    name = IN_TREE.get(dataset, dataset) if isinstance(dataset, str) else f"{source.set}/{source.pair}"
    if reference is None:
        reference = source.reference
    reference = source.standard if reference == "standard" else reference
    folder = find_tree(root) / source.set
    human = folder / "human-scores"
    totals = read_scores(human / f"{source.pair}.mqm.seg.score") if source.official else None
    pricing = Pricing(taxonomy, weights)
    usual, rating = _rating(source, rating)
    notes: list[str] = []
    rated: Ratings | None = None
    documents = _documents(folder / "documents" / f"{source.pair}.docs")
    if errors is not None:
        if totals is None or source.ratings:
            raise DataError(
                f"{name}: its error ratings are in the tree; a table of errors is only read where they are not"
            )
        rated, notes = join_tsv(errors, totals.systems, totals.values, documents, pricing, rating)
    elif source.ratings:
        rated = read_ratings(human, source, rating, pricing)
    elif not usual:
        raise DataError(f"{name}: the tree has no error ratings of it, so there is no rating {rating!r} to choose")
    if rated is not None and totals is not None and rated.length != totals.values.shape[1]:
        raise DataError(
            f"{human}: the {source.pair} ratings have {rated.length} lines per system, {totals.path.name} "
            f"has {totals.values.shape[1]}; both must cover the same source lines"
        )
    sides = _Side(rated.systems, rated.present) if rated is not None else None, _Side.of(totals) if usual else None
    there = [side for side in sides if side is not None]
    if not there:
        raise DataError(f"{human}: neither ratings nor totals of {source.pair} are there; {GET}")
    names, length = there[0].systems, there[0].present.shape[1]
    if documents is not None and len(documents) != length:
        raise DataError(
            f"{folder / 'documents' / source.pair}.docs: {len(documents)} lines where the human scores have {length}"
        )

    lines = np.flatnonzero(np.any([side.kept for side in there], axis=0))
    out = _segments_out([side.per_segment for side in there], lines)
    kept = []
    for k, system in enumerate(names):
        why = _system_out(system, source, bool(there[0].present[k, there[0].kept].any()))
        why = None if humans and system in source.humans else why
        if why is None:
            kept.append(k)
        else:
            out.append(Exclusion("system", system, why))
    systems = tuple(names[k] for k in kept)
    if len(systems) < 2:
        raise DataError(f"{human}: {len(systems)} rated system is left for {source.pair}; at least two are needed")
    scorers, aliases, scorers_out = _read_scorers(
        folder / "metric-scores" / source.pair,
        set(names) | set(() if totals is None else totals.systems),
        systems,
        lines,
        length,
        reference,
        PRIMARIES.get(source.set, frozenset()),
    )
    out += scorers_out
    notes = [f"{x.name}: {x.reason}" for x in scorers_out if x.kind == "scorer"] + notes
    made: Scored | None = None
    if rated is not None:
        annotated = there[0].kept
        # errors of a line that too few systems have count for nothing, whoever rated its totals
        counting, every = (
            [[grid[k][n] if annotated[n] else () for n in lines] for k in kept]
            for grid in (rated.counting, rated.every)
        )
        made = score(systems, counting, every)
        for unknown in pricing.report(made.errors, name, allow_uncounted):
            warnings.warn(unknown, stacklevel=2)
            notes.append(unknown)
    if totals is not None and sides[1] is not None:
        total = np.where(sides[1].kept[lines], totals.rows(systems)[:, lines], np.nan)
    else:
        assert made is not None  # no totals and no ratings was refused above, as was a choice without ratings
        total = made.total
    return Pool(
        name=name,
        systems=systems,
        lines=lines,
        source_lines=length,
        total=total,
        adequacy=None if made is None else made.adequacy,
        fluency=None if made is None else made.fluency,
        scorers=scorers,
        errors=None if made is None else made.errors,
        reference=reference,
        notes=tuple(notes),
        left_out=tuple(out),
        raters=None if made is None else made.raters,
        rater_names=() if made is None else made.rater_names,
        documents=None if documents is None else tuple(documents[n][1] for n in lines),
        domains=None if documents is None else tuple(documents[n][0] for n in lines),
        ratings=() if made is None else made.ratings,
        aliases=aliases,
        exact=False,
    )


class _Side(NamedTuple):
    """What people did on the source lines: `present` (S, L) where they rated errors, or gave a total, of a system."""

    systems: tuple[str, ...]
    present: np.ndarray

    @classmethod
    def of(cls, totals: Scores | None) -> _Side | None:
        return None if totals is None else cls(totals.systems, ~np.isnan(totals.values))

    @property
    def per_segment(self) -> np.ndarray:
        """Of how many systems they did so on each line: (L,)."""
        return np.asarray(self.present.sum(axis=0))

    @property
    def kept(self) -> np.ndarray:
        """The lines that count: those with at least half as many systems as any line has: (L,)."""
        n = self.per_segment
        return np.asarray((n > 0) & (n >= n.max() / 2))


def _rating(source: Source, rating: str | int | None) -> tuple[bool, str | int]:
    """Whether this is the dataset's own way to count, and the way: rounds as numbers."""
    if rating is None:
        return True, source.rating
    if isinstance(rating, str) and rating.removeprefix("round").isdecimal():
        rating = int(rating.removeprefix("round"))
    return rating == source.rating, rating


def _system_out(system: str, source: Source, rated: bool) -> str | None:
    """Why a system takes no part, or None if it does."""
    if is_human(system):
        return "a human translation"
    if system in source.drop:
        return "flagged by the organisers"
    return None if rated else "rated by nobody"


def _segments_out(per_segment: list[np.ndarray], lines: np.ndarray) -> list[Exclusion]:
    """The source lines that are not kept, counted by reason; `per_segment` (L,) counts the systems rated on each, by errors
    and by totals."""
    never = int((np.max(per_segment, axis=0) == 0).sum())
    counts = {
        "rated for no system": never,
        f"rated for fewer than half of {np.max(per_segment)} systems, the most on any line": per_segment[0].size
        - len(lines)
        - never,
    }
    return [Exclusion("segment", f"{n} source line" + "s" * (n > 1), why, n) for why, n in counts.items() if n]


def _documents(path: Path) -> list[tuple[str, str]] | None:
    """Domain and document of each source line, or None where the release has no such file."""
    if not path.exists():
        return None
    out = []
    for n, row in enumerate(read_text(path).removesuffix("\n").split("\n"), start=1):
        fields = row.split("\t")
        if len(fields) != 2:
            raise DataError(f"{path}: line {n} has {len(fields)} columns; domain, tab, document is expected")
        out.append((fields[0], fields[1]))
    return out


def find_source(root: str | Path, set_: str, pair: str) -> Source:
    """The source of a set and language pair in a tree: what is known about it, or what its files say.

    A pair without per-error ratings is read for its totals alone; one with files of single raters and no merged file
    takes the mean over the raters of a cell; one without totals sums its errors. No system is flagged. The reference is
    refA where some scorer has it, else the first there is, in alphabetical order, else src.

    >>> find_source("a tree", "wmt24", "en-de").standard  # known, so no file is asked; `read_mtme` shows one that is not
    'refB'
    """
    for source in DATASETS.values():
        if (source.set, source.pair) == (set_, pair):
            return source
    tree = find_tree(root)
    sets = sorted(p.parent.name for p in tree.glob("*/human-scores"))
    if set_ not in sets:
        raise DataError(f"{tree}: no set {set_!r}; there {_are(sets)}")
    human = tree / set_ / "human-scores"
    found = [*human.glob("*.mqm.seg.score"), *human.glob("*.mqm.*.seg.rating")]
    pairs = sorted({p.name.partition(".")[0] for p in found})
    if pair not in pairs and any(human.glob(f"{pair}.esa*")):
        raise DataError(
            f"{human}: {pair} has ESA ratings, one number a segment: they rank scorers, but adequacy and fluency, and so β, "
            "cannot be had from them; a pair with MQM ratings is expected (the book's chapter 'After MQM' says what ESA gives)"
        )
    if pair not in pairs:
        raise DataError(f"{human}: no MQM scores of the pair {pair!r}; there {_are(pairs)}")
    files = rating_files(human, pair)
    variants = {v for scorer in _variants(tree / set_ / "metric-scores" / pair).values() for v in scorer} - {"src"}
    reference = "refA" if "refA" in variants else min(variants, default="src")
    return Source(
        set_,
        pair,
        standard=reference,
        reference=reference,
        ratings=files.any,
        rating="merged" if files.merged.exists() else "mean",
        official=(human / f"{pair}.mqm.seg.score").exists(),
        paper=False,
    )


def _are(names: list[str]) -> str:
    return ("is " if len(names) == 1 else "are ") + (", ".join(names) or "none")


class Scores(NamedTuple):
    """A score file: `values` (S, L), NaN where it says None, for S system names in alphabetical order."""

    path: Path
    systems: tuple[str, ...]
    values: np.ndarray

    def rows(self, systems: tuple[str, ...]) -> np.ndarray:
        """The rows of `systems`, in that order."""
        for s in systems:
            if s not in self.systems:
                raise DataError(f"{self.path}: system {s!r} is missing; the ratings name it")
        return self.values[[self.systems.index(s) for s in systems]]


def read_scores(path: str | Path) -> Scores:
    """Read a file of lines "system, tab, score or None"; in a file without any tab a space stands in its place."""
    path = Path(path)
    raw = _bytes(path).replace(b"\r\n", b"\n")
    if not raw.endswith(b"\n"):
        raise DataError(f"{path}: the last line has no line end, so the file is cut off; fetch it again")
    sep = b"\t" if b"\t" in raw or raw.count(b" ") != raw.count(b"\n") else b" "  # the people's files of 2020
    if raw.count(sep) != raw.count(b"\n"):
        raise _bad_line(path, raw, sep)
    try:
        table = pd.read_csv(
            io.BytesIO(raw),
            sep=sep.decode(),
            header=None,
            names=["system", "score"],
            quoting=3,
            dtype={"system": str, "score": float},
            keep_default_na=False,
            na_values={"score": ["None"]},
            **EXACT,
        )
        values = table["score"].to_numpy()
    except (ValueError, KeyError, pd.errors.ParserError):  # UnicodeDecodeError is a ValueError
        raise _bad_line(path, raw, sep) from None
    if np.isinf(values).any():
        raise _bad_line(path, raw, sep)
    codes, names = pd.factorize(table["system"], sort=True)
    systems = tuple(names)
    count = np.bincount(codes)
    if count.min() != count.max():
        short, most = int(count.argmin()), int(count.max())
        raise DataError(
            f"{path}: system {systems[short]!r} has {count[short]} lines where others have {most}; "
            "every system needs one line per source line"
        )
    return Scores(path, systems, values[np.argsort(codes, kind="stable")].reshape(len(systems), -1))


def _variants(folder: Path) -> dict[str, dict[str, Path]]:
    """The score files of a pair: scorer → variant (src or a reference) → file."""
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder; {GET}")
    out: dict[str, dict[str, Path]] = defaultdict(dict)
    for path in folder.glob("*.seg.score"):
        scorer, _, variant = path.name.removesuffix(".seg.score").rpartition("-")
        out[scorer][variant] = path
    return {scorer: out[scorer] for scorer in sorted(out)}


def _read_scorers(
    folder: Path, known: set[str], systems: tuple[str, ...], lines: np.ndarray, length: int, reference: str,
    primaries: frozenset[str],
) -> tuple[dict[str, np.ndarray], dict[str, str], list[Exclusion]]:  # fmt: skip
    """The scorers kept, other names of theirs, and which were left out, with the systems only score files name.

    Scorers are in alphabetical order. One that several names have stands in the place of the first, and has the name
    that WMT made primary where that is one of them, else the first.
    """
    variants = _variants(folder)
    references = {v for found in variants.values() for v in found} - {"src"}
    if references and reference not in references | {"src"}:
        there = ", ".join(sorted(references))
        raise DataError(f"{folder}: no scorer has the reference {reference!r}; there are {there}")
    kept: dict[str, np.ndarray] = {}
    out: list[Exclusion] = []
    alike: dict[bytes, list[str]] = defaultdict(list)
    strange: dict[str, list[Path]] = defaultdict(list)
    files = 0
    for scorer in tqdm(variants, desc="scorers", delay=1, leave=False, disable=None):
        path = variants[scorer].get(reference) or variants[scorer].get("src")
        if path is None:
            out.append(Exclusion("scorer", scorer, f"neither a {reference} nor a src variant"))
            continue
        scores = read_scores(path)
        files += 1
        for system in scores.systems:
            if system not in known and not is_human(system):
                strange[system].append(path)
        if scores.values.shape[1] != length:
            raise DataError(f"{path}: {scores.values.shape[1]} lines per system where the human scores have {length}")
        if not set(systems) <= set(scores.systems):
            out.append(Exclusion("scorer", scorer, "does not score every system"))
            continue
        every = scores.rows(systems)
        x = every[:, lines]
        if np.isnan(x).any():
            out.append(Exclusion("scorer", scorer, "does not score every rated segment"))
            continue
        means = system_means(x)
        if means.std() <= CONSTANT * np.abs(means).max():
            out.append(Exclusion("scorer", scorer, "gives every system the same mean"))
            continue
        names = alike[every.tobytes()]
        names.append(scorer)
        if len(names) == 1:
            kept[scorer] = x
    shown = {names[0]: next((n for n in names if n in primaries), names[0]) for names in alike.values()}
    kept = {shown[first]: x for first, x in kept.items()}
    aliases = {n: shown[names[0]] for names in alike.values() for n in names if n != shown[names[0]]}
    out += [Exclusion("scorer", name, f"same scores as {scorer}") for name, scorer in aliases.items()]
    out.sort(key=lambda one: one.name)
    for system, paths in strange.items():
        if len(paths) <= files / 2:  # most files would name a system that is there and that nobody rated
            raise DataError(f"{paths[0]}: system {system!r} is in no human score file of this pair")
        out.append(Exclusion("system", system, "rated by nobody"))
    return kept, aliases, out


def find_tree(root: str | Path) -> Path:
    """The tree itself, where `root` is it or holds it."""
    root = Path(root)
    if not root.is_dir():
        raise DataError(f"{root}: no such folder; {GET}")
    return root / TREE if (root / TREE).is_dir() else root


def _source(dataset: str | Source) -> Source:
    if isinstance(dataset, Source):
        return dataset
    dataset = IN_TREE.get(dataset, dataset)
    if dataset not in DATASETS:
        raise DataError(f"unknown dataset {dataset!r}; known are {', '.join(DATASETS)}")
    return DATASETS[dataset]


def _bytes(path: Path) -> bytes:
    raw = read_bytes(path, GET)
    if not raw:
        raise DataError(f"{path}: the file is empty")
    return raw


def _bad_line(path: Path, raw: bytes, sep: bytes) -> DataError:
    """Find the first line that is not "system, tab, number or None" and say so. Only called when there is one."""
    for n, row in enumerate(raw.decode("utf-8", errors="replace").split("\n")[:-1], start=1):
        fields = row.split(sep.decode())
        if len(fields) != 2:
            return DataError(f"{path}: line {n} has {len(fields)} columns; system, tab, score is expected")
        try:
            usable = fields[1] == "None" or abs(float(fields[1])) < float("inf")
        except ValueError:
            usable = False
        if not usable:
            return DataError(f"{path}: line {n} has the score {fields[1]!r}; a finite number or None is expected")
    return DataError(f"{path}: not a table of UTF-8 text lines 'system, tab, score'")
