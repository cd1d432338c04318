"""One row a dataset: its size, its natural balance, and the balances it can be given; and who takes part in one."""

from __future__ import annotations

import contextlib
import csv
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.balance import balance, reachable
from ..core.check import Array, DataError
from ..data.digest import Digest, dataset_of, datasets
from ..data.manifest import folder, shipped_text, ships
from ..data.pool import Pool
from ..data.protocol import HIDDEN
from ..data.registry import DATASETS

if TYPE_CHECKING:
    import pandas as pd  # loaded where a frame is made

SHIPPED = "components.csv"  # intervals of the natural balances of what ships
RELIABLE = "reliable.csv"  # its reliable intervals


def overview(sources: Iterable[Digest | Pool | str] | None = None) -> pd.DataFrame:
    """One row for each of `sources` (digests, pools or names; all datasets that ship if none are given).

    Columns name, systems, segments (with totals), annotated (segments with errors), scorers (counts), beta0 (natural balance), beta0_low, beta0_high (its interval of 95 %,
    see `components`), beta_min, beta_max (reachable range), reliable_min, reliable_max (ESS ≥ 0.9 K), paper (whether it is
    one of the paper's), note. NaN and a note where no error ratings were obtained; an interval of NaN where there are too
    few documents for one. Intervals of what ships are read from tables, others computed.

    >>> overview().set_index("name").loc["ende24", ["systems", "segments", "scorers"]].tolist()
    [16, 487, 30]
    """
    import pandas as pd

    return pd.DataFrame(summaries(sources), columns=list(Summary._fields))


def summaries(sources: Iterable[Digest | Pool | str] | None = None) -> list[Summary]:
    """The rows of `overview`.

    >>> summaries()[0]._fields[:4]
    ('name', 'systems', 'segments', 'annotated')
    """
    if sources is None and not datasets():
        raise DataError(f"{folder()}: no dataset is there; run 'make data'")
    found: list[Digest | Pool] = [dataset_of(s) for s in (datasets() if sources is None else sources)]
    reliable: dict[int, tuple[float, float]] = {}
    if sources is None:  # what lies in the folder, and what lies beside it
        shipped = _ends(RELIABLE)
        reliable = {n: shipped[source.name] for n, source in enumerate(found) if source.name in shipped}
    alike: defaultdict[int, dict[int, tuple[Array, Array]]] = defaultdict(dict)  # pools of one size: solved together
    for n, source in enumerate(found):
        if source.aspects is not None and n not in reliable:
            alike[len(source.systems)][n] = source.aspects
    if alike:
        from ..solve.reweight import reliable_intervals
    for pools in alike.values():
        a, f = map(np.array, zip(*pools.values(), strict=True))
        ends = ((float(low), float(high)) for low, high in reliable_intervals(a, f))
        reliable |= dict(zip(pools, ends, strict=True))
    known = _intervals(found)
    return [_summary(source, reliable.get(n), known.get(source.name)) for n, source in enumerate(found)]


class Summary(NamedTuple):
    """A row of `overview`."""

    name: str
    systems: int
    segments: int
    annotated: int
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
    return _ends(SHIPPED)


def _ends(table: str) -> dict[str, tuple[float, float]]:
    """The columns low and high of a table that ships, by dataset; none where it is not there."""
    if not ships(table):
        return {}
    lines = shipped_text(table).splitlines()
    try:
        return {row["dataset"]: (float(row["low"]), float(row["high"])) for row in csv.DictReader(lines)}
    except (KeyError, TypeError, ValueError, csv.Error):
        raise DataError(
            f"{folder() / table}: not a table of dataset, low and high; rebuild it with 'make data'"
        ) from None


def _intervals(sources: list[Digest | Pool]) -> dict[str, tuple[float, float]]:
    """The ends of the interval of β₀, by name: those that ship for digests, computed for pools; none where there is none."""
    out = shipped_ends() if any(isinstance(source, Digest) for source in sources) else {}
    for source in sources:
        if isinstance(source, Pool):
            from .components import components

            out.pop(source.name, None)
            with contextlib.suppress(ValueError):  # one document, or another reason why noise cannot be seen
                found = components(source)
                out[source.name] = found.low, found.high
    return out


def _summary(source: Digest | Pool, reliable: tuple[float, float] | None, ends: tuple[float, float] | None) -> Summary:
    paper = source.name in DATASETS and DATASETS[source.name].paper
    lines = int(source.official.sum()), int(source.annotated.sum())
    out = Summary(source.name, len(source.systems), *lines, len(source.scorers), paper=paper)
    if source.aspects is None or reliable is None:
        return out
    low, high = reachable(*source.aspects)
    least, most = (np.nan, np.nan) if ends is None else ends
    return out._replace(
        beta0=balance(*source.aspects),
        beta0_low=least,
        beta0_high=most,
        beta_min=low,
        beta_max=high,
        reliable_min=reliable[0],
        reliable_max=reliable[1],
        note="",
    )


class Participant(NamedTuple):
    """A row of `members`."""

    kind: str
    name: str
    kept: bool
    reason: str


def members(pool: Pool) -> pd.DataFrame:
    """Who takes part in a pool and who does not: columns kind ("system" or "scorer"), name, kept, reason.

    Those that were kept come first, in the pool's order; `reason` says why another was left out.

    >>> from whichbird import load_pool
    >>> members(load_pool("ende24")).query("name == 'MSLC'").to_numpy().tolist()
    [['system', 'MSLC', False, 'flagged by the organisers']]
    """
    import pandas as pd

    return pd.DataFrame(participants(pool), columns=list(Participant._fields))


def participants(pool: Pool) -> list[Participant]:
    """The rows of `members`."""
    rows: list[Participant] = []
    for kind, kept in (("system", pool.systems), ("scorer", tuple(pool.scorers))):
        rows += [Participant(kind, name, True, "") for name in kept]
        rows += [Participant(kind, x.name, False, x.reason) for x in pool.left_out if x.kind == kind]
    return rows
