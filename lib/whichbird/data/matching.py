"""Which dataset a score file belongs to: by its name, by its place in a tree, or by what is in it."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..core.check import DataError
from .digest import datasets, load
from .registry import DATASETS
from .userfiles import ENDING, read_scorers

VARIANT = re.compile(r"-(src|ref[A-Z]?)$")  # how score files of a tree end: what the scorer saw


class Match(NamedTuple):
    """A score file, the dataset it is for, what its scorer is called, and the reference it saw, where the name says so."""

    path: Path
    dataset: str
    scorer: str
    reference: str | None


def score_files(path: str | os.PathLike[str]) -> list[Path]:
    """A file as it is; of a folder all score files in it and below, sorted."""
    path = Path(path)
    if not path.is_dir():
        return [path]
    found = sorted(p for p in path.rglob("*") if p.is_file() and p.name.endswith((".seg.score", ".csv", ".tsv")))
    if not found:
        raise DataError(f"{path}: no file in it ends in .seg.score, .csv or .tsv")
    return found


def match(path: str | os.PathLike[str], among: Sequence[str] | None = None, name: str | None = None) -> Match:
    """The dataset of a score file.

    Its file name may hold the dataset's, as in my.ende24.seg.score; or it lies in folders as in a tree, as in
    wmt24/en-de/my-refA.seg.score; or exactly one dataset has systems and lines that fit. The scorer is called `name`, or as
    the file without these.

    >>> match("ende24-mine.seg.score")
    Match(path=PosixPath('ende24-mine.seg.score'), dataset='ende24', scorer='mine', reference=None)
    >>> match("all/wmt24/en-es/REMEDY-9b-refA.seg.score")[1:]
    ('enes24', 'REMEDY-9b', 'refA')
    """
    path, names = Path(path), list(datasets() if among is None else among)
    stem = ENDING.sub("", path.name) or path.name
    for dataset in names:
        word = re.compile(rf"(?<![A-Za-z0-9]){re.escape(dataset)}(?![A-Za-z0-9])")
        if word.search(stem):
            left, reference = _variant(word.sub(" ", stem))
            called = re.sub(r"\s*[-_. ]*\s+[-_. ]*\s*", "-", f" {left} ").strip("-_. ")
            return Match(path, dataset, name or called or _folder(path), reference)
    for dataset in names:
        source = DATASETS[dataset]
        if path.parts[-3:-1] == (source.set, source.pair):
            called, reference = _variant(stem)
            return Match(path, dataset, name or called, reference)
        if path.parent.name == dataset:
            called, reference = _variant(stem)
            return Match(path, dataset, name or called, reference)
    fit = []
    reasons = []
    for dataset in names:
        try:
            with warnings.catch_warnings(action="ignore"):
                read_scorers(path, load(dataset), ignore_extra=False)
            fit.append(dataset)
        except DataError as error:
            reasons.append(str(error))
    if len(fit) == 1:
        called, reference = _variant(stem)
        return Match(path, fit[0], name or called, reference)
    if len(names) == 1:
        raise DataError(reasons[0])
    what = f"{len(fit)} datasets fit it ({', '.join(fit)})" if fit else "no dataset has its systems and lines"
    raise DataError(f"{path}: {what}; say which is meant in the file name, as in NAME.{(fit or names)[0]}.seg.score")


def _variant(stem: str) -> tuple[str, str | None]:
    """The name without what the scorer saw, and the reference, where it saw one."""
    found = VARIANT.search(stem.strip())
    if not found:
        return stem, None
    return stem.strip()[: found.start()], found[1] if found[1] != "src" else None


def _folder(path: Path) -> str:
    """The name of the folder a file lies in."""
    return path.absolute().parent.name or "yours"


def one_reference(name: str, references: Iterable[str | None]) -> tuple[str | None, str | None]:
    """The reference that the shipped scorers of a dataset should be given, if yours say, and a note where that cannot be had."""
    said = {r for r in references if r is not None}
    d = load(name)
    known = {d.reference, str(d.info["standard"])}
    if len(said) == 1 and said <= known:
        return next(iter(said)), None
    if said - {d.reference}:
        return None, f"{name}: yours saw {', '.join(sorted(said))}; the shipped scorers are given {d.reference}"
    return None, None
