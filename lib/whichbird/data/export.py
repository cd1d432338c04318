"""Ratings as a table for use elsewhere, and what a metric needs to score: texts from a tree, and the empty score file."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from ..core.check import DataError
from .digest import Digest
from .files import read_text
from .mtme import find_tree
from .pool import Pool, Rating
from .ratings import GET
from .registry import DATASETS


def segment_table(pool: Pool, cells: bool = False) -> pd.DataFrame:
    """Every rating of a pool in a row: system, segment, document, domain, rater, adequacy, fluency, total.

    `segment` is the source line, counted from 1, or the name that its file gives it. Columns that are not known are left out.
    With `cells` one row a system and segment: the rating that counts, the mean where several do; `rater` is empty for a mean.

    >>> from whichbird import load_pool
    >>> segment_table(load_pool("ende24")).iloc[0].to_dict()["adequacy"]
    0.0
    """
    layers = pool.ratings if pool.ratings and not cells else (_counting(pool),)
    names = pool.segments or tuple(str(line + 1) for line in pool.lines)
    frames = []
    for n, layer in enumerate(layers):
        k, s = np.nonzero(~np.isnan(layer.total))
        columns: dict[str, object] = {"_k": k, "_s": s, "_n": n}
        columns |= {"system": np.array(pool.systems, dtype=object)[k], "segment": np.array(names, dtype=object)[s]}
        for label, known in (("document", pool.documents), ("domain", pool.domains)):
            if known is not None:
                columns[label] = np.array(known, dtype=object)[s]
        if pool.rater_names:
            columns["rater"] = np.array([*pool.rater_names, ""], dtype=object)[layer.raters[k, s]]
        if pool.aspects is not None:
            columns |= {"adequacy": layer.adequacy[k, s], "fluency": layer.fluency[k, s]}
        frames.append(pd.DataFrame(columns | {"total": layer.total[k, s]}))
    table = pd.concat(frames, ignore_index=True).sort_values(["_k", "_s", "_n"], ignore_index=True)
    return table.drop(columns=["_k", "_s", "_n"])


def _counting(pool: Pool) -> Rating:
    """The rating of each cell that counts."""
    blank = np.full(pool.total.shape, np.nan)
    a, f = (blank if x is None else x for x in (pool.adequacy, pool.fluency))
    raters = np.full(pool.total.shape, -1, dtype=np.int16) if pool.raters is None else pool.raters
    return Rating(a, f, pool.total, raters)


def template(d: Digest) -> pd.DataFrame:
    """The score file that a dataset needs, as a table with an empty column: system, segment (the source line, from 1), score.

    >>> from whichbird import load
    >>> template(load("ende24")).head(2).to_numpy().tolist()
    [['Aya23', 1, ''], ['Aya23', 2, '']]
    """
    k, n = len(d.systems), len(d.lines)
    return pd.DataFrame(
        {"system": np.repeat(np.array(d.systems, dtype=object), n), "segment": np.tile(d.lines + 1, k), "score": ""}
    )


def write_inputs(
    d: Digest, root: str | os.PathLike[str], folder: str | os.PathLike[str], reference: str
) -> pd.DataFrame:
    """Write the texts that a metric needs for a dataset, from an unpacked tree, on the rated lines, a line each.

    Below `folder`: source.txt, reference.txt, and systems/NAME.txt for every rated system, all in the order of the rated lines:
    scores of each file in turn, systems in alphabetical order, are a score file. The folder appears when it is complete.
    Returned: the files, with what each holds. No text ships with whichbird.
    """
    target = Path(folder)
    if target.exists():
        raise DataError(f"{target}: is there already; name a folder that is not")
    if not target.absolute().parent.is_dir():
        raise DataError(f"{target}: there is no folder {str(target.absolute().parent)!r}")
    source = DATASETS[d.name]
    tree = find_tree(Path(root)) / source.set
    wanted = {
        Path("source.txt"): ("source", tree / "sources" / f"{source.pair}.txt"),
        Path("reference.txt"): (f"reference {reference}", tree / "references" / f"{source.pair}.{reference}.txt"),
    }
    for system in d.systems:
        wanted[Path("systems", f"{system}.txt")] = (
            f"output of {system}",
            tree / "system-outputs" / source.pair / f"{system}.txt",
        )
    part = Path(tempfile.mkdtemp(prefix=".whichbird", dir=target.absolute().parent))
    rows = []
    try:
        (part / "systems").mkdir()
        for name, (what, path) in wanted.items():
            lines = read_text(path, f"the tree lacks its texts; {GET}").removesuffix("\n").split("\n")
            if len(lines) != d.source_lines:
                raise DataError(f"{path}: {len(lines)} lines; {d.name} has {d.source_lines}")
            (part / name).write_text("".join(f"{lines[n]}\n" for n in d.lines), encoding="utf-8")
            rows.append((str(target / name), what, len(d.lines)))
        os.replace(part, target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return pd.DataFrame(rows, columns=["file", "holds", "lines"])
