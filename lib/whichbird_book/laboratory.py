"""What the page needs to test scorers of your own: segment scores of a dataset in one small script, and numpy's generators.

The script is asked for when someone hands in a score file, and from disk too: it is a classic script that calls the page. It
holds numbers on rated segments only. Scorers are rounded to 4096 steps between their smallest and largest score, which moves
tests and intervals in the page by less than their own chance; the SPA that is shown does not rest on it.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np

from whichbird.core.check import DataError
from whichbird.core.permutation import PUBLISHED_SEED as PERMUTING
from whichbird.data.digest import Digest
from whichbird.data.pool import Pool
from whichbird.data.protocol import scored_lines
from whichbird.data.segments import load_pool
from whichbird.study.intervals import numbered, quantile
from whichbird.study.significance import LEVEL, SEED as TESTING
from whichbird.study.verdict import load_significance

STEPS = 4095  # between the smallest and the largest score: twelve bits
UNIT = 10_000  # people's scores are written as whole numbers of 1/UNIT
MISSING = -(1 << 31)
DRAWING = 8  # the seed of the page's own draws of documents


def generators() -> dict[str, dict[str, str]]:
    """The states of numpy's generators that the page goes on from, as hexadecimal text.

    >>> sorted(generators()), generators()["permutation"]["inc"][-1] in "13579bdf"  # PCG's increment is odd
    (['draw', 'permutation', 'swap'], True)
    """
    seeds = {"permutation": PERMUTING, "swap": TESTING, "draw": DRAWING}
    states = {use: np.random.default_rng(seed).bit_generator.state["state"] for use, seed in seeds.items()}
    return {use: {part: f"{state[part]:x}" for part in ("state", "inc")} for use, state in states.items()}


def source_data(d: Digest) -> dict[str, Any]:
    """What a reader of score files must know of a dataset besides systems and scorers: the lines to score, as runs [first, length].

    >>> from whichbird import load
    >>> source_data(load("ende24"))["source_lines"]
    998
    """
    lines = scored_lines(d)
    starts = np.flatnonzero(np.diff(lines, prepend=-2) != 1)
    length = np.diff(np.append(starts, len(lines)))
    return {"source_lines": int(d.source_lines), "runs": np.column_stack([lines[starts], length]).ravel().tolist()}


def segment_script(pool: Pool | str) -> str:
    """The script of a dataset: numbers packed by zlib, in base64.

    In order: for every scorer, system and segment the upper eight of twelve bits; the lower four, two to a byte, the first in the
    lower half; people's total, adequacy and fluency, system by system, as 32-bit numbers of 1/UNIT, the least one for a missing
    cell; the document of each segment, 16 bits; the same of segments that have errors and no total: adequacy, fluency, document;
    and for every stop at which tests ship a bit for each ordered pair of scorers: whether
    the first is significantly better.

    >>> segment_script("ende20")[:34]
    'Whichbird.receive("ende20",{"K":7,'
    """
    pool = load_pool(pool) if isinstance(pool, str) else pool
    if pool.adequacy is None or pool.fluency is None:
        raise DataError(f"{pool.name} has no balance to move, so the page has no use for its segments")
    v = load_significance(pool.name)
    x, official = np.array([pool.scored[s] for s in v.scorers]), pool.official
    low, high = x.min(axis=(1, 2)), x.max(axis=(1, 2))
    level = np.rint((x - low[:, None, None]) / (high - low)[:, None, None] * STEPS).astype(np.uint16).ravel()
    fine = (level & 15).astype(np.uint8)
    fine = np.append(fine, np.zeros(fine.size % 2, dtype=np.uint8)).reshape(-1, 2)
    people = np.array([pool.total, pool.adequacy, pool.fluency])
    whole = np.where(np.isnan(people), MISSING, np.rint(np.nan_to_num(people) * UNIT)).astype("<i4")
    document = numbered(pool.documents, len(pool.lines)).astype("<u2")
    parts = [
        (level >> 4).astype(np.uint8).tobytes(),
        (fine[:, 0] | fine[:, 1] << 4).astype(np.uint8).tobytes(),
        whole[:, :, official].tobytes(),
        document[official].tobytes(),
        whole[1:, :, ~official].tobytes(),
        document[~official].tobytes(),
        np.packbits(v.p <= LEVEL, bitorder="little").tobytes(),
    ]
    info = {
        "K": len(pool.systems),
        "N": int(official.sum()),
        "more": int((~official).sum()),
        "M": len(x),
        "unit": UNIT,
        "low": [float(f"{number:.9g}") for number in low],
        "high": [float(f"{number:.9g}") for number in high],
        "stops": len(v.betas),
        "wider": quantile(LEVEL, int(document.max()) + 1) / quantile(LEVEL, None),
    }
    text = base64.b64encode(zlib.compress(b"".join(parts), 9)).decode()
    return f"Whichbird.receive({json.dumps(pool.name)},{json.dumps(info, separators=(',', ':'))},{json.dumps(text)});\n"
