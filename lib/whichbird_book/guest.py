"""A guest: a scorer by other people that no dataset has, kept as numbers on the rated lines, to show how a new one is ranked.

It is ReMedy-9B (Tan and Monz, 2025), scored by its authors; `data/build.py` makes the file from theirs. `write_guest` writes the
score file that they would hand you: all the systems they scored, also those that nobody rated.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whichbird.core.check import DataError
from whichbird.data.archive import DAMAGE, Archive
from whichbird.data.digest import Digest
from whichbird.data.files import read_bytes, write_whole
from whichbird.data.manifest import folder, shipped
from whichbird.data.mtme import read_scores

FORMAT = 1
NAME, DATASET, REFERENCE = "ReMedy-9B", "enes24", "refA"
SHIPPED = Path("guests", "remedy.npz")  # below data/
RAW = Path("remedy", "wmt24", "en-es", f"REMEDY-9b-{REFERENCE}.seg.score")  # beside a tree
NOTICE = (
    "ReMedy, https://github.com/Smu-Tan/Remedy, by Shaomu Tan and Christof Monz, Apache License, Version 2.0. "
    "Changed here: the scores of enes24 alone, on its rated segments, in another format."
)


class Guest(NamedTuple):
    """Scores (S, N) of S systems on the N rated `lines` (source lines, from 0) of a dataset, by a scorer that saw `reference`."""

    name: str
    dataset: str
    reference: str
    systems: tuple[str, ...]
    lines: NDArray[np.int64]
    scores: NDArray[np.float32]
    notice: str


def find_raw(root: str | os.PathLike[str]) -> Path | None:
    """The authors' score file in, or beside, an unpacked tree; None where there is none."""
    root = Path(root).absolute()
    return next((path for path in (root / RAW, root.parent / RAW) if path.is_file()), None)


def make_guest(path: str | os.PathLike[str], d: Digest) -> dict[str, np.ndarray]:
    """The guest in a file of the authors, on the rated lines of the digest: small arrays to be saved. Nothing is rounded."""
    found = read_scores(Path(path))
    if found.values.shape[1] != d.source_lines:
        raise DataError(f"{path}: {found.values.shape[1]} lines a system; {d.name} has {d.source_lines}")
    exact = found.values[:, d.lines]
    scores = exact.astype(np.float32)
    if not np.array_equal(scores, exact):  # a missing score is unequal too
        raise DataError(f"{path}: not every score on a rated line of {d.name} is a 32-bit float")
    info = {"format": FORMAT, "name": NAME, "dataset": d.name, "reference": REFERENCE, "notice": NOTICE}
    return {
        "info": np.frombuffer(json.dumps(info, sort_keys=True).encode(), dtype=np.uint8),
        "systems": np.array(found.systems),
        "lines": d.lines.astype(np.int32),
        "scores": scores,
    }


def save_guest(arrays: Mapping[str, np.ndarray], path: str | os.PathLike[str]) -> None:
    """Write what `make_guest` made, whole or not at all."""
    out = io.BytesIO()
    np.savez_compressed(out, **dict(arrays))  # type: ignore[arg-type]
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, out.getvalue(), force=True)


def load_guest(path: str | os.PathLike[str] | None = None) -> Guest:
    """The guest that ships, or the one in a file.

    >>> guest = load_guest()
    >>> guest.name, guest.dataset, guest.scores.shape
    ('ReMedy-9B', 'enes24', (22, 623))
    """
    file = folder() / SHIPPED if path is None else Path(path)
    hint = "restore it or rebuild it with 'make data TABLES=guests'"
    raw = shipped(SHIPPED, hint) if path is None else read_bytes(file, hint)
    try:
        arrays = Archive(raw)
        info = json.loads(bytes(arrays["info"]).decode("utf-8"))
        form = info["format"]
        guest = Guest(
            str(info["name"]),
            str(info["dataset"]),
            str(info["reference"]),
            tuple(str(s) for s in arrays["systems"]),
            arrays["lines"].astype(np.int64),
            arrays["scores"],
            str(info["notice"]),
        )
        if guest.scores.shape != (len(guest.systems), len(guest.lines)):
            raise ValueError("shape")
    except DAMAGE:
        raise DataError(f"{file}: not a readable guest; {hint}") from None
    if form != FORMAT:
        raise DataError(
            f"{file}: format {form}; this version reads format {FORMAT}: rebuild it with 'make data TABLES=guests'"
        )
    return guest


def write_guest(path: str | os.PathLike[str], force: bool = False) -> Guest:
    """Write the guest's score file in the field's form, lines "system, tab, score"; return the guest.

    The n-th line of a system is the n-th rated line. All systems are there, so some that nobody rated.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as here:
    ...     guest = write_guest(Path(here, "ReMedy-9B.seg.score"))
    ...     Path(here, "ReMedy-9B.seg.score").read_text().splitlines()[0]
    'Aya23\\t0.74609375'
    """
    guest = load_guest()
    rows = (f"{s}\t{float(x)!r}\n" for s, row in zip(guest.systems, guest.scores, strict=True) for x in row)
    write_whole(path, "".join(rows).encode(), force)
    return guest
