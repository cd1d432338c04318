"""One row a dataset: its size, its natural balance, and the balances it can be given; and who takes part in one."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..core.balance import balance, reachable
from ..core.check import Array, DataError
from ..data.digest import Digest, datasets, folder, load, read_table
from ..data.pool import Pool
from ..data.protocol import HIDDEN
from ..data.registry import DATASETS
from ..solve.reweight import reliable_intervals
from .components import components

SHIPPED = "components.csv"  # intervals of the natural balances of what ships


def overview(sources: Iterable[Digest | Pool] | None = None) -> pd.DataFrame:
    """One row for each of `sources` (digests or pools; all datasets that ship if none are given).

    Columns name, systems, segments, scorers (counts), beta0 (natural balance), beta0_low, beta0_high (its interval of 95 %,
    see `components`), beta_min, beta_max (reachable range), reliable_min, reliable_max (ESS ≥ 0.9 K), paper (whether it is
    one of the paper's), note. NaN and a note where no error ratings were obtained; an interval of NaN where there are too
    few documents for one. Intervals of what ships are read from a table, others computed.

    >>> overview().set_index("name").loc["ende24", ["systems", "segments", "scorers"]].tolist()
    [16, 487, 30]
    """
    if sources is None and not datasets():
        raise DataError(f"{folder()}: no dataset is there; run 'make data'")
    found: list[Digest | Pool] = [load(name) for name in datasets()] if sources is None else list(sources)
    alike: defaultdict[int, dict[int, tuple[Array, Array]]] = defaultdict(dict)  # pools of one size: solved together
    for n, source in enumerate(found):
        if source.aspects is not None:
            alike[len(source.systems)][n] = source.aspects
    reliable: dict[int, Array] = {}
    for pools in alike.values():
        a, f = map(np.array, zip(*pools.values(), strict=True))
        reliable |= dict(zip(pools, reliable_intervals(a, f), strict=True))
    known = _intervals(found)
    rows = [_summary(source, reliable.get(n), known.get(source.name)) for n, source in enumerate(found)]
    return pd.DataFrame(rows, columns=list(_Summary._fields))


class _Summary(NamedTuple):
    name: str
    systems: int
    segments: int
    scorers: int
    beta0: float = np.nan
    beta0_low: float = np.nan
    beta0_high: float = np.nan
    beta_min: float = np.nan
    beta_max: float = np.nan
    reliable_min: float = np.nan
    reliable_max: float = np.nan
    paper: bool = False
    note: str = HIDDEN


def shipped_ends() -> dict[str, tuple[float, float]]:
    """The ends of the interval of β₀ of each dataset that ships with one.

    >>> [round(end, 2) for end in shipped_ends()["ende24"]]
    [0.69, 0.86]
    """
    if not (folder() / SHIPPED).exists():
        return {}
    table = read_table(SHIPPED)
    names, low, high = (table[column].tolist() for column in ("dataset", "low", "high"))
    return {name: (float(a), float(b)) for name, a, b in zip(names, low, high, strict=True)}


def _intervals(sources: list[Digest | Pool]) -> dict[str, tuple[float, float]]:
    """The ends of the interval of β₀, by name: those that ship for digests, computed for pools; none where there is none."""
    out = shipped_ends() if any(isinstance(source, Digest) for source in sources) else {}
    for source in sources:
        if isinstance(source, Pool):
            out.pop(source.name, None)
            with contextlib.suppress(ValueError):  # one document, or another reason why noise cannot be seen
                found = components(source)
                out[source.name] = found.low, found.high
    return out


def _summary(source: Digest | Pool, reliable: Array | None, ends: tuple[float, float] | None) -> _Summary:
    paper = source.name in DATASETS and DATASETS[source.name].paper
    out = _Summary(source.name, len(source.systems), len(source.lines), len(source.scorers), paper=paper)
    if source.aspects is None or reliable is None:
        return out
    low, high = reachable(*source.aspects)
    first, last = (float(end) for end in reliable)
    least, most = (np.nan, np.nan) if ends is None else ends
    return out._replace(
        beta0=balance(*source.aspects),
        beta0_low=least,
        beta0_high=most,
        beta_min=low,
        beta_max=high,
        reliable_min=first,
        reliable_max=last,
        note="",
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
