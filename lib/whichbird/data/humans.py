"""Human translations that WMT ranked among the systems, as numbers: one small file a dataset that has some.

Each is one more row of a dataset: its totals, adequacy and fluency on the rated segments, and what every scorer gave it with WMT's
standard reference, since a translation cannot be compared with itself. `data/build.py` makes the files; rankings leave these rows out
unless somebody asks for them.
"""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..core.check import DataError
from .archive import DAMAGE, Archive
from .files import write_whole
from .manifest import folder, shipped
from .mtme import read_mtme
from .pool import Pool
from .registry import DATASETS
from .segments import load_pool

FORMAT = 1
NOTICE = (
    "mt-metrics-eval-v2, Apache License, Version 2.0. Changed here: scores of rated segments alone, in another format."
)


def make_humans(root: str | Path, name: str) -> dict[str, np.ndarray]:
    """The rows of H human translations of a dataset in a tree, as small arrays to be saved; nothing is rounded."""
    with_, without = (read_mtme(root, name, "standard", humans=humans) for humans in (True, False))
    rows = [with_.systems.index(h) for h in DATASETS[name].humans]
    if not rows or not np.array_equal(with_.lines, without.lines):
        raise DataError(f"{name}: no human translation can be added to its systems")
    scores = with_.scorers | {alias: with_.scorers[scorer] for alias, scorer in with_.aliases.items()}
    missing = [s for s in without.scorers if s not in scores]
    if missing:
        raise DataError(f"{name}: scorer {missing[0]!r} does not score the human translation")
    gap = np.full(with_.total.shape, np.nan)  # heen23 has totals only
    info = {"format": FORMAT, "dataset": name, "reference": with_.reference, "notice": NOTICE}
    return {
        "info": np.frombuffer(json.dumps(info, sort_keys=True).encode(), dtype=np.uint8),
        "systems": np.array([with_.systems[k] for k in rows]),
        "lines": with_.lines.astype(np.int32),
        "people": np.array([(gap if x is None else x)[rows] for x in (with_.adequacy, with_.fluency, with_.total)]),
        "scorers": np.array(list(without.scorers)),
        "scores": np.array([scores[s][rows] for s in without.scorers]),
    }


def save_humans(arrays: dict[str, np.ndarray], path: str | Path) -> None:
    """Write what `make_humans` made, whole or not at all."""
    out = io.BytesIO()
    np.savez_compressed(out, **dict[str, Any](arrays))
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, out.getvalue(), force=True)


def load_official(name: str) -> Pool:
    """The pool of a dataset as WMT ranked on it: scorers with the standard reference, human translations among the systems.

    Where WMT had no human translation among the systems this is `load_pool(name, "standard")`. Who rated a cell, single
    ratings and counts of errors are not known for human translations and left out.

    >>> pool = load_official("ende24")
    >>> len(pool.systems), pool.systems[-1], pool.reference
    (17, 'refA', 'refB')
    """
    pool = load_pool(name, "standard")
    if pool.name not in DATASETS or not DATASETS[pool.name].humans:
        return pool
    file, hint = Path("humans", f"{pool.name}.npz"), f"make it with 'make data TABLES=humans ONLY={pool.name}'"
    path = folder() / file
    raw = shipped(file, hint)
    try:
        arrays = Archive(raw)
        info = json.loads(bytes(arrays["info"]).decode("utf-8"))
        form, reference = info["format"], str(info["reference"])
        systems, scorers = (tuple(str(x) for x in arrays[key]) for key in ("systems", "scorers"))
        lines, people, scores = arrays["lines"], arrays["people"], arrays["scores"]
        right = people.shape == (3, len(systems), lines.size) and scores.shape == (len(scorers), *people.shape[1:])
    except DAMAGE:
        raise DataError(f"{path}: not a readable file of human translations; {hint}") from None
    if form != FORMAT or not right:
        raise DataError(f"{path}: format {form}; this version reads format {FORMAT}: {hint}")
    if not np.array_equal(lines, pool.lines) or reference != pool.reference or scorers != tuple(pool.scorers):
        raise DataError(f"{path}: it does not belong to the segments of {pool.name}; {hint}")
    adequacy, fluency, total = people

    def joined(x: np.ndarray | None, row: np.ndarray) -> np.ndarray | None:
        return None if x is None else np.concatenate([x, row])

    return replace(
        pool,
        systems=(*pool.systems, *systems),
        total=np.concatenate([pool.total, total]),
        adequacy=joined(pool.adequacy, adequacy),
        fluency=joined(pool.fluency, fluency),
        scorers={s: np.concatenate([pool.scorers[s], x]) for s, x in zip(scorers, scores, strict=True)},
        errors=None,
        raters=None,
        ratings=(),
        left_out=tuple(x for x in pool.left_out if x.name not in systems),
    )
