"""One row a dataset: its size, its natural balance, and the balances it can be given; and who takes part in one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..core.balance import balance, reachable
from ..core.check import Array, DataError
from ..data.digest import Digest, datasets, folder, load
from ..data.pool import Pool
from ..data.protocol import HIDDEN
from ..data.registry import DATASETS
from ..solve.reweight import reliable_intervals


def overview(sources: Iterable[Digest | Pool] | None = None) -> pd.DataFrame:
    """One row for each of `sources` (digests or pools; all datasets that ship if none are given).

    Columns name, systems, segments, scorers (counts), beta0, beta_min, beta_max (natural balance and reachable range),
    reliable_min, reliable_max (ESS ≥ 0.9 K), paper (whether it is one of the paper's), note. NaN and a note where no error
    ratings were obtained.

    >>> overview().set_index("name").loc["ende24", ["systems", "segments", "scorers"]].tolist()
    [16, 487, 30]
    """
    if sources is None and not datasets():
        raise DataError(f"{folder()}: no dataset is there; run 'make data'")
    found = [load(name) for name in datasets()] if sources is None else list(sources)
    alike: defaultdict[int, dict[int, tuple[Array, Array]]] = defaultdict(dict)  # pools of one size: solved together
    for n, source in enumerate(found):
        if source.aspects is not None:
            alike[len(source.systems)][n] = source.aspects
    reliable: dict[int, Array] = {}
    for pools in alike.values():
        a, f = map(np.array, zip(*pools.values(), strict=True))
        reliable |= dict(zip(pools, reliable_intervals(a, f), strict=True))
    rows = [_summary(source, reliable.get(n)) for n, source in enumerate(found)]
    return pd.DataFrame(rows, columns=list(_Summary._fields))


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
    paper: bool = False
    note: str = HIDDEN


def _summary(source: Digest | Pool, reliable: Array | None) -> _Summary:
    paper = source.name in DATASETS and DATASETS[source.name].paper
    out = _Summary(source.name, len(source.systems), len(source.lines), len(source.scorers), paper=paper)
    if source.aspects is None or reliable is None:
        return out
    low, high = reachable(*source.aspects)
    first, last = (float(end) for end in reliable)
    return out._replace(
        beta0=balance(*source.aspects), beta_min=low, beta_max=high, reliable_min=first, reliable_max=last, note=""
    )


def members(pool: Pool) -> pd.DataFrame:
    """Who takes part in a pool and who does not: columns kind ("system" or "scorer"), name, kept, reason.

    Those that were kept come first, in the pool's order; `reason` says why another was left out.

    >>> from whichbird import load_pool
    >>> members(load_pool("ende24")).query("name == 'MSLC'").to_numpy().tolist()
    [['system', 'MSLC', False, 'flagged by the organisers']]
    """
    rows: list[tuple[str, str, bool, str]] = []
    for kind, kept in (("system", pool.systems), ("scorer", tuple(pool.scorers))):
        rows += [(kind, name, True, "") for name in kept]
        rows += [(kind, x.name, False, x.reason) for x in pool.left_out if x.kind == kind]
    return pd.DataFrame(rows, columns=["kind", "name", "kept", "reason"])
