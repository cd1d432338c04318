"""One row a dataset: its size, its natural balance, and the balances it can be given."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from ..core.balance import balance, reachable
from ..core.check import DataError
from ..data.digest import Digest, datasets, folder, load
from ..data.pool import Pool
from ..data.protocol import HIDDEN
from ..solve.reweight import reliable_interval


def overview(sources=None) -> pd.DataFrame:
    """One row for each of `sources` (digests or pools; all datasets that ship if none are given).

    Columns name, systems, segments, scorers (counts), beta0, beta_min, beta_max (natural balance and reachable range),
    reliable_min, reliable_max (ESS ≥ 0.9 K), note. NaN and a note where no error ratings were obtained.

    >>> overview().set_index("name").loc["ende24", ["systems", "segments", "scorers"]].tolist()
    [16, 487, 30]
    """
    if sources is None and not datasets():
        raise DataError(f"{folder()}: no dataset is there; run 'make data'")
    sources = map(load, datasets()) if sources is None else sources
    return pd.DataFrame([_summary(source) for source in sources], columns=list(_Summary._fields))


class _Summary(NamedTuple):
    name: str
    systems: int
    segments: int
    scorers: int
    beta0: float = np.nan
    beta_min: float = np.nan
    beta_max: float = np.nan
    reliable_min: float = np.nan
    reliable_max: float = np.nan
    note: str = HIDDEN


def _summary(source: Digest | Pool) -> _Summary:
    size = source.name, len(source.systems), len(source.lines), len(source.scorers)
    if source.aspects is None:
        return _Summary(*size)
    a, f = source.aspects
    return _Summary(*size, balance(a, f), *reachable(a, f), *reliable_interval(a, f), "")
