"""Ratings as tables for use elsewhere, and what a metric needs to score: texts from a tree, and the empty score file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..core.check import DataError
from .digest import Digest
from .files import read_text
from .pool import Pool, Rating
from .protocol import Dataset, scored_lines
from .registry import DATASETS, FIELDS

if TYPE_CHECKING:
    import pandas as pd  # loaded where a frame is made


def segment_table(pool: Pool, cells: bool = False, scorers: bool = False) -> pd.DataFrame:
    """Every rating of a pool in a row: system, segment, document, domain, rater, adequacy, fluency, total.

    `segment` is the source line, counted from 1, or the name that its file gives it. Columns that are not known are left out.
    With `cells` one row a system and segment: the rating that counts, the mean where several do; `rater` is empty for a mean.
    `scorers` adds a column for each scorer, under its name: its score of that system on that segment.

    >>> from whichbird import load_pool
    >>> segment_table(load_pool("ende24")).iloc[0].to_dict()["adequacy"]
    0.0
    """
    import pandas as pd

    layers = pool.ratings if pool.ratings and not cells else (_counting(pool),)
    names = pool.segments or tuple(str(line + 1) for line in pool.lines)
    frames = []
    for n, layer in enumerate(layers):
        k, s = np.nonzero(~(np.isnan(layer.total) & np.isnan(layer.adequacy)))
        columns: dict[str, object] = {"_k": k, "_s": s, "_n": n}
        columns |= {"system": np.array(pool.systems, dtype=object)[k], "segment": np.array(names, dtype=object)[s]}
        for label, known in (("document", pool.documents), ("domain", pool.domains)):
            if known is not None:
                columns[label] = np.array(known, dtype=object)[s]
        if pool.rater_names:
            columns["rater"] = np.array([*pool.rater_names, ""], dtype=object)[layer.raters[k, s]]
        if pool.aspects is not None:
            columns |= {"adequacy": layer.adequacy[k, s] + 0.0, "fluency": layer.fluency[k, s] + 0.0}
        columns["total"] = layer.total[k, s] + 0.0  # no penalty is 0, not -0
        frames.append(pd.DataFrame(columns | {name: x[k, s] + 0.0 for name, x in pool.scorers.items() if scorers}))
    table = pd.concat(frames, ignore_index=True).sort_values(["_k", "_s", "_n"], ignore_index=True)
    return table.drop(columns=["_k", "_s", "_n"])


def _counting(pool: Pool) -> Rating:
    """The rating of each cell that counts."""
    blank = np.full(pool.total.shape, np.nan)
    a, f = (blank if x is None else x for x in (pool.adequacy, pool.fluency))
    raters = np.full(pool.total.shape, -1, dtype=np.int16) if pool.raters is None else pool.raters
    return Rating(a, f, pool.total, raters)


def template(d: Dataset) -> dict[str, NDArray[np.object_]]:
    """The score file that a dataset needs, as columns, the last one empty: system, segment (its name, or the source line, from 1), score.

    >>> from whichbird import load
    >>> [column[:2].tolist() for column in template(load("ende24")).values()]
    [['Aya23', 'Aya23'], [1, 2], ['', '']]
    """
    named = getattr(d, "segments", None)
    lines = scored_lines(d) + 1 if named is None else np.array(named, dtype=object)[d.official]
    k, n = len(d.systems), len(lines)
    systems = np.repeat(np.array(d.systems, dtype=object), n)
    return {"system": systems, "segment": np.tile(lines.astype(object), k), "score": np.full(k * n, "", dtype=object)}


def write_inputs(
    d: Digest, root: str | os.PathLike[str], folder: str | os.PathLike[str], reference: str
) -> dict[str, list[object]]:
    """Write the texts that a metric needs for a dataset, from an unpacked tree, on the rated lines, a line each.

    Below `folder`: source.txt, reference.txt, and systems/NAME.txt for every rated system, all in the order of the rated lines:
    scores of each file in turn, systems in alphabetical order, are a score file. The folder appears when it is complete.
    Returned: the files, with what each holds, as columns. No text ships with whichbird.
    """
    from .mtme import find_tree
    from .ratings import GET

    target = Path(folder)
    if d.name not in DATASETS:
        raise DataError(
            f"{d.name} is no part of mt-metrics-eval, whose texts this writes; one of {', '.join(DATASETS)} is"
        )
    source = DATASETS[d.name]
    tree = find_tree(Path(root)) / source.set
    wanted = {
        Path("source.txt"): ("source", tree / "sources" / f"{source.pair}.txt"),
        Path("reference.txt"): (f"reference {reference}", tree / "references" / f"{source.pair}.{reference}.txt"),
    }
    for system in d.systems:
        wanted[Path("systems", f"{system.replace(chr(47), chr(45))}.txt")] = (
            f"output of {system}",
            _variant(tree / "system-outputs" / source.pair, system),
        )
    rows, rated = [], scored_lines(d)
    with new_folder(target) as part:
        (part / "systems").mkdir()
        for name, (what, path) in wanted.items():
            lines = read_text(path, f"the tree lacks its texts; {GET}").removesuffix("\n").split("\n")
            if len(lines) != d.source_lines:
                raise DataError(f"{path}: {len(lines)} lines; {d.name} has {d.source_lines}")
            (part / name).write_text("".join(f"{lines[n]}\n" for n in rated), encoding="utf-8")
            rows.append((str(target / name), what, len(rated)))
    return files_table(rows)


def _variant(folder: Path, system: str) -> Path:
    """The file of a system, whose name releases spell with -, _ or / by turns; that of its own name if there is none."""
    bare = system.translate(str.maketrans("_/", "--"))
    alike = (p for p in sorted(folder.glob("*.txt")) if p.stem.translate(str.maketrans("_/", "--")) == bare)
    exact = folder / f"{system}.txt"
    return exact if exact.exists() else next(alike, exact)


def write_dataset(pool: Pool, folder: str | os.PathLike[str]) -> dict[str, list[object]]:
    """Write a pool as plain tables for other programs (R, Julia, a spreadsheet), with a card; the folder appears when it is complete.

    Below `folder`: cells.csv, a row a system and segment with the rating that counts and every scorer; ratings.csv, every
    rating, where cells have several; systems.csv, the means; README.md, the card. Where pyarrow is installed each table is there
    as Parquet, too. Numbers are written in full. Returned: the files, with what each holds and its rows, as columns.
    """
    import pandas as pd

    means = {"system": pool.systems, "rated": pool.rated}
    if pool.aspects is not None:
        means |= dict(zip(("adequacy", "fluency"), (x + 0.0 for x in pool.aspects), strict=True))
    means["total"] = np.nanmean(pool.total, axis=1) + 0.0
    tables = {
        "systems": ("a row per system: rated segments, mean adequacy, fluency and total", pd.DataFrame(means)),
        "cells": (
            "a row per system and segment: the rating that counts, and every scorer",
            segment_table(pool, True, True),
        ),
    }
    if pool.ratings:
        tables["ratings"] = ("a row per system, segment and rater: every rating", segment_table(pool))
    target, rows = Path(folder), []
    with new_folder(target) as part:
        for name, (what, table) in tables.items():
            table.to_csv(part / f"{name}.csv", index=False, lineterminator="\n")
            rows.append((str(target / f"{name}.csv"), what, len(table)))
            if find_spec("pyarrow"):
                table.to_parquet(part / f"{name}.parquet", index=False)
                rows.append((str(target / f"{name}.parquet"), what, len(table)))
        card = _card(pool, [(Path(str(file)).name, what, n) for file, what, n in rows], [*tables["cells"][1].columns])
        (part / "README.md").write_text(card, encoding="utf-8")
        rows.append((str(target / "README.md"), "this dataset's card", card.count("\n")))
    return files_table(rows)


_MQM = ("MQM points lost on meaning, at most 0", "MQM points lost on style, at most 0")
# By field: where the numbers come from and under which licence, what to cite, what people did, what the three scores are
_ORIGINS = {
    "": (
        "the public release mt-metrics-eval-v2 (Apache-2.0)", "the WMT metrics task of that year",
        "Raters annotated errors of these systems on these texts for WMT", (*_MQM, "official MQM score; higher is better"),
    ),
    "biomedical": (
        "BioMQM v2 (Apache-2.0)", "Zouhar et al. (2024), arXiv 2402.18747",
        "Raters annotated errors in translations of medical abstracts", (*_MQM, "minus the points of all errors; higher is better"),
    ),
    "stories": (
        "HANNA (MIT)", "Chhun et al. (2024), 10.1162/tacl_a_00689", "Raters read stories that machines wrote to a prompt",
        ("relevance to the prompt, 1 to 5", "coherence, 1 to 5", "the mean of the two"),
    ),
}  # fmt: skip


def _card(pool: Pool, rows: Sequence[tuple[str, str, int]], columns: list[str]) -> str:
    """The card of an exported dataset: what it is, where it comes from, what its columns mean, what to keep in mind."""
    source, cite, limit, aspects = _ORIGINS[FIELDS.get(pool.name, "")]
    meaning = {
        "segment": "source line, counted from 1", "document": "name in the release", "domain": "kind of text, as the release names it",
        "rater": "pseudonym in the release; empty where it is not known, or several ratings are averaged",
        **dict(zip(("adequacy", "fluency", "total"), aspects, strict=True)),
    }  # fmt: skip
    known = [f"- `{name}`: {meaning[name]}" for name in columns if name in meaning]
    others = [f"`{name}`" for name in columns if name in pool.scorers]
    files = [f"- `{name}`: {what}; {count} rows" for name, what, count in rows]
    return "\n".join([
        f"# {pool.name}", "", pool.signature, "",
        f"Numbers derived from {source}: no source text, translation or error span.", f"Cite {cite}, and Whichbird.", "", "## Files", "", *files, "", "## Columns", "", *known,
        f"- scorers, higher is better: {', '.join(others)}", "", "## Limits", "",
        f"{limit}; nothing here is a sample of all text or of all raters.",
        *[f"- {note}" for note in pool.notes], "",
    ])  # fmt: skip


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A temporary folder that takes the name `target` at the end, or goes if something fails."""
    if target.exists():
        raise DataError(f"{target}: is there already; name a folder that is not")
    if not target.absolute().parent.is_dir():
        raise DataError(f"{target}: there is no folder {str(target.absolute().parent)!r}")
    with tempfile.TemporaryDirectory(prefix=".whichbird", dir=target.absolute().parent) as private:
        part = Path(private) / "tables"
        part.mkdir()  # open to whom other new folders are open; the one around it is not
        yield part
        os.replace(part, target)


def files_table(rows: Sequence[tuple[object, ...]]) -> dict[str, list[object]]:
    return {name: [row[n] for row in rows] for n, name in enumerate(("file", "holds", "lines"))}
