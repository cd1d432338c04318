"""What ships about significance: tests and intervals at the explorer's stops, and what they amount to.

**What counts as a real change**, fixed before the book's tables were made. Two scorers change order between two
balances if the one with the larger SPA at the first has the smaller at the second. The change is real if *both orders
are significant* (PERM-BOTH, p ≤ .05 each), or if *the difference of differences is*: the change of the lead lies more
than t standard errors from 0. Holm's adjustment is for all M(M−1)/2 pairs of scorers, each with twice the smaller of
the two p-values, since two ways lead to the claim; pairs that do not change order cannot claim anything, but count.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from .._version import __version__
from ..core.balance import balance
from ..core.check import Array, DataError, near
from ..data.archive import DAMAGE, Archive
from ..data.digest import Digest
from ..data.files import read_bytes, write_whole
from ..data.manifest import folder, shipped, ships
from ..data.pool import Pool
from ..data.protocol import scorer_named
from ..solve.reweight import reliable_interval
from .contest import Scores, aspects, contest
from .intervals import intervals, quantile, two_sided
from .ranking import spa_of
from .significance import LEVEL, RESAMPLES, SEED, clusters, holm, pool_of, significance, weightings
from .targets import beta_stops

FORMAT = 1
FINE, COARSE, ROUGH = 1e-5, 1e-4, 1e-2  # SPA, standard errors, z are stored as whole numbers of these
Bools = NDArray[np.bool_]


class Changes(NamedTuple):
    """Pairs of scorers between two balances, (M, M) and symmetric: who changes order, for real, and after Holm."""

    changed: Bools
    both: Bools  # both orders are significant
    difference: Bools  # the difference of differences is
    holm: Bools

    @property
    def real(self) -> Bools:
        """Either of the two."""
        return self.both | self.difference

    def counts(self) -> dict[str, int]:
        """Numbers of pairs: changed, real, both, difference, holm."""
        found = {
            "changed": self.changed,
            "real": self.real,
            "both": self.both,
            "difference": self.difference,
            "holm": self.holm,
        }
        return {what: int(x.sum()) // 2 for what, x in found.items()}


def changes(
    spa: tuple[Array, Array], p: tuple[Array, Array], tail: tuple[Array, Array], se: Array, documents: int,
    level: float = LEVEL
) -> Changes:  # fmt: skip
    """Which pairs change order between two balances, and which for real.

    For each of the two: `spa` (M,), `p` and `tail` (M, M), p-values of PERM-BOTH as shares and as normal tails. `se`
    (M, M) are standard errors of the change of lead, from so many documents.

    >>> spa, p = np.array([0.9, 0.8]), np.array([[1, 0.01], [0.99, 1]])
    >>> found = changes((spa, spa[::-1]), (p, p.T), (p, p.T), np.full((2, 2), 0.2), 50)
    >>> found.counts()
    {'changed': 1, 'real': 1, 'both': 1, 'difference': 0, 'holm': 1}
    """
    lead, then = (x[:, None] - x for x in spa)
    changed = lead * then < 0
    first = lead > 0  # whose order is i before j at the first balance, and so j before i at the second
    sure, sure_tail = (np.where(first, np.maximum(one, two.T), np.maximum(one.T, two)) for one, two in (p, tail))
    by_change = two_sided(then - lead, se, documents)
    claim = np.where(changed, np.minimum(1.0, 2 * np.fmin(sure_tail, by_change)), 1.0)
    i, j = np.triu_indices(len(lead), 1)
    adjusted = np.ones(lead.shape)
    adjusted[i, j] = adjusted[j, i] = holm(claim[i, j])
    both, difference = changed & (sure <= level), changed & (by_change <= level)
    return Changes(changed, both, difference, (both | difference) & (adjusted <= level))


@dataclass(frozen=True, eq=False)
class Verdict:
    """Tests and intervals of one dataset at B balances: first the natural one, unweighted (NaN), then stops.

    `spa` (B, M) as reported, from 1000 permutations; `se` its standard errors; `rank_low`, `rank_high` the best and
    the worst compatible rank; `p` (B, M, M) PERM-BOTH; `tail` (B, M, M) the same as normal tails, which can be
    smaller than 1 / resamples; `lead_se` (B, M, M) standard errors of leads, `change_se` of their change since the
    natural balance, `ends_se` (M, M) of that from the first stop to the last. `reached` (B,) of `resamples` contests
    reach a target. `tests` is the part of the signature that says how the tests were made.

    >>> v = load_significance("ende24")
    >>> v.spa.shape, v.p.shape, v.documents
    ((67, 30), (67, 30, 30), 171)
    >>> best = v.spa[0].argmax()
    >>> v.scorers[best], int(v.rank_low[0, best]), int(v.rank_high[0, best])
    ('XCOMET-QE', 1, 16)
    """

    name: str
    scorers: tuple[str, ...]
    betas: Array
    spa: Array
    se: Array
    rank_low: NDArray[np.int64]
    rank_high: NDArray[np.int64]
    p: Array
    tail: Array
    lead_se: Array
    change_se: Array
    ends_se: Array
    reached: NDArray[np.int64]
    resamples: int
    documents: int
    signature: str
    tests: str
    aliases: Mapping[str, str] = field(default_factory=dict)  # other names of scorers

    @property
    def t(self) -> float:
        """How many standard errors an interval reaches to each side."""
        return quantile(LEVEL, self.documents)

    def clusters(self, b: int = 0) -> NDArray[np.int64]:
        """Clusters by WMT's rule at balance b: (M,)."""
        return clusters(self.spa[b], self.p[b])

    def covariance(self, b: int = 0) -> Array:
        """Covariance of the scorers' SPAs at balance b, (M, M), from the standard errors of SPAs and of leads."""
        variance = self.se[b] ** 2
        return np.asarray((variance[:, None] + variance - self.lead_se[b] ** 2) / 2)

    def nearest(self, beta: float) -> int:
        """The place of the stop next to `beta`, or a refusal outside the stops.

        Stops run over the reliable interval; beyond it nothing is stored.
        """
        low, high = self.betas[1:].min(initial=np.inf), self.betas[1:].max(initial=-np.inf)
        if not low - 1e-9 <= beta <= high + 1e-9:
            raise ValueError(f"beta is {beta:g}; for {self.name} a value from {low:.4f} to {high:.4f} is expected")
        return 1 + int(np.abs(self.betas[1:] - beta).argmin())

    def changes(self, b: int) -> Changes:
        """Who changes order from the natural balance to stop b."""
        return self._between(0, b, self.change_se[b])

    def moved(self, b: int) -> Bools:
        """Which scorers are in a real change with anyone from the natural balance to stop b: (M,)."""
        return np.asarray(self.changes(b).real.any(axis=1))

    def ends(self) -> Changes:
        """Who changes order from the first stop to the last."""
        return self._between(1, len(self.betas) - 1, self.ends_se)

    def _between(self, a: int, b: int, se: Array) -> Changes:
        spa, p, tail = ((x[a], x[b]) for x in (self.spa, self.p, self.tail))
        return changes(spa, p, tail, se, self.documents)


def build_significance(
    source: Pool | Digest | str, resamples: int = RESAMPLES, seed: int = SEED, scores: Scores | None = None
) -> dict[str, np.ndarray]:
    """Everything a `Verdict` holds, as small arrays to be saved; steps along the balances, since they pack well.

    `scores`, as `rank` takes them, add scorers of your own.
    """
    pool = pool_of(source)
    a, f = aspects(pool)
    stops, natural = np.empty(0), 0  # where no balance is known the natural one is all there is; else it is a stop
    if a is not None and f is not None:
        low, high = reliable_interval(a, f)
        stops = beta_stops(a, f)
        stops = stops[(stops >= low) & (stops <= high)]
        natural = int(np.abs(stops - balance(a, f)).argmin())
    tested = significance(pool, stops if stops.size else None, scores, resamples, seed)
    found = intervals(pool, np.concatenate([[np.nan], stops]), scores, resamples, seed)
    c = contest(pool, scores)
    k = len(pool.systems)
    w = np.concatenate([np.full((1, k), 1 / k), weightings(pool, stops)[1] if stops.size else np.empty((0, k))])
    i, j = np.triu_indices(len(c.scorers), 1)
    rows = np.concatenate([[natural], np.arange(stops.size)]).astype(int)
    counts = np.rint(tested.p * resamples).astype(np.int64)
    ranks = np.array([found.ranks(b) for b in range(found.betas.size)])
    ends = found.change_se(stops.size, 1) if stops.size else np.zeros((len(c.scorers), len(c.scorers)))
    info = {
        "format": FORMAT,
        "name": pool.name,
        "resamples": resamples,
        "documents": found.documents,
        "test": tested.signature,
        "intervals": found.signature,
        "reported": c.signature,
        "version": __version__,
    } | ({"aliases": dict(sorted(pool.aliases.items()))} if pool.aliases else {})
    return {
        "info": np.frombuffer(json.dumps(info, sort_keys=True).encode(), dtype=np.uint8),
        "scorers": np.array(c.scorers),
        "betas": stops,
        "reached": found.reached.astype(np.int32),
        "spa": _pack(np.array([spa_of(c, row) for row in w]), FINE),
        "se": _pack(found.se, FINE),
        "rank_low": ranks[:, 0].astype(np.uint8),
        "rank_high": ranks[:, 1].astype(np.uint8),
        "p": _pack(counts[rows][:, i, j]),
        "ties": _pack((counts + counts.swapaxes(1, 2))[rows][:, i, j] - resamples),
        "z": _pack(tested.z[rows][:, i, j], ROUGH),
        "lead_se": _pack(np.array([found.lead_se(b)[i, j] for b in range(rows.size)]), COARSE),
        "change_se": _pack(np.array([found.change_se(b, 0)[i, j] for b in range(rows.size)]), COARSE),
        "ends_se": _pack(ends[i, j][None], COARSE),
    }


def save_significance(arrays: Mapping[str, np.ndarray], path: str | Path) -> None:
    """Write what `build_significance` made, whole or not at all."""
    out = io.BytesIO()
    np.savez_compressed(out, **dict(arrays))  # type: ignore[arg-type]
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, out.getvalue(), force=True)


def load_significance(name: str, path: str | Path | None = None) -> Verdict:
    """The verdict on a dataset that ships, or in a file.

    >>> v = load_significance("ende24")
    >>> len(v.scorers), v.betas[:3].round(3), v.tests
    (30, array([  nan, 0.548, 0.55 ]), 'PERM-BOTH:1000|documents:171|bootstrap:1000|testing seed:7')
    """
    file = folder() / _file(name) if path is None else Path(path)
    hint = "rebuild it with 'make data'"
    if not file.exists():
        hint += near(name, sorted(p.stem for p in file.parent.glob("*.npz")))
    raw = shipped(_file(name), hint) if path is None else read_bytes(file, hint)
    try:
        found = decode(Archive(raw))
    except DataError as error:
        raise DataError(f"{file}: {error}") from None
    except DAMAGE:
        raise DataError(f"{file}: not a readable file of tests and intervals; rebuild it with 'make data'") from None
    if found.name != name:
        raise DataError(f"{file}: it holds the tests of {found.name}, not of {name}; {hint}")
    return found


def _file(name: str) -> str:
    return f"significance/{name}.npz"


def decode(arrays: Mapping[str, np.ndarray]) -> Verdict:
    """A `Verdict` from the arrays of `build_significance`."""
    info: dict[str, Any] = json.loads(bytes(arrays["info"]).decode("utf-8"))
    if info["format"] != FORMAT:
        raise DataError(f"format {info['format']}; this version reads format {FORMAT}: rebuild it with 'make data'")
    scorers = tuple(str(s) for s in arrays["scorers"])
    i, j = np.triu_indices(len(scorers), 1)

    def square(upper: np.ndarray, lower: np.ndarray, diagonal: float) -> Array:
        out = np.full((len(upper), len(scorers), len(scorers)), diagonal)
        out[:, i, j], out[:, j, i] = upper, lower
        return out

    count, ties, resamples = _unpack(arrays["p"]), _unpack(arrays["ties"]), int(info["resamples"])
    lead, change, ends = (_unpack(arrays[what], COARSE) for what in ("lead_se", "change_se", "ends_se"))
    tail = _unpack(arrays["z"]) * ROUGH
    tests = _tests(resamples, int(info["documents"]), int(info["test"].rpartition("|seed:")[2].partition("|")[0]))
    return Verdict(
        name=info["name"],
        scorers=scorers,
        betas=np.concatenate([[np.nan], arrays["betas"]]),
        spa=_unpack(arrays["spa"], FINE),
        se=_unpack(arrays["se"], FINE),
        rank_low=arrays["rank_low"].astype(np.int64),
        rank_high=arrays["rank_high"].astype(np.int64),
        p=square(count / resamples, (resamples + ties - count) / resamples, 1.0),
        tail=square(ndtr(-tail), ndtr(tail), 0.5),
        lead_se=square(lead, lead, 0.0),
        change_se=square(change, change, 0.0),
        ends_se=square(ends, ends, 0.0)[0],
        reached=arrays["reached"].astype(np.int64),
        resamples=resamples,
        documents=int(info["documents"]),
        # like a digest's: the version that reports; the file's own record keeps the one that made it
        signature=f"{re.sub(r'whichbird:[^|]*', f'whichbird:{__version__}', info['reported'])}|{tests}",
        tests=tests,
        aliases=info.get("aliases", {}),
    )


def judged(source: Digest | Pool, scorers: Iterable[str], scores: Scores | None = None) -> Verdict:
    """The verdict on some scorers, by name: what ships where all of them ship, else computed, on these scorers alone.

    Ranks then are those among the scorers compared.
    """
    own = dict(scores or {})
    names = [s if s in own else scorer_named(source, s) for s in scorers]
    if not isinstance(source, Pool) and not set(names) & set(own):
        return load_significance(source.name)
    pool = pool_of(source)
    kept = {name: x for name, x in pool.scorers.items() if name in names}
    return decode(
        build_significance(replace(pool, scorers=kept), scores={name: x for name, x in own.items() if name in names})
    )


class Standing(NamedTuple):
    """Where M scorers stand at one balance: cluster, compatible ranks, standard error of SPA, (M,) each, and PERM-BOTH.

    `stop` is the balance at which tests that ship were made, the one next to that asked for; None where all is
    computed.
    """

    scorers: tuple[str, ...]
    cluster: NDArray[np.int64]
    rank_low: NDArray[np.int64]
    rank_high: NDArray[np.int64]
    se: Array
    t: float
    p: Array
    stop: float | None
    signature: str
    covariance: Array  # (M, M), of the SPAs, documents resampled
    documents: int


def standing(
    source: Pool | Digest | str, spa: ArrayLike, beta: float | None = None, scores: Scores | None = None,
    resamples: int = RESAMPLES, seed: int = SEED
) -> Standing:  # fmt: skip
    """Clusters and compatible ranks of all scorers, your own `scores` among them, at one balance (None: natural).

    `spa` (M,), the scorers of the source and then yours, is what they are ranked by. Where a dataset is named (or its
    digest given), tests of its own scorers that ship are used, if `beta` lies inside the reliable interval; pairs
    with a scorer of yours are tested at `beta` itself, and all is computed where nothing ships.
    """
    pool = pool_of(source)
    a, f = aspects(pool)
    at = None if a is None or f is None else [float(balance(a, f)) if beta is None else beta]
    default = not isinstance(source, Pool) and (resamples, seed) == (RESAMPLES, SEED)
    v, b = shipped_verdict(pool, beta) if default else (None, 0)
    stop = None if v is None or beta is None else float(v.betas[b])
    if v is not None and not scores:
        return Standing(
            v.scorers, clusters(spa, v.p[b]), v.rank_low[b], v.rank_high[b], v.se[b], v.t, v.p[b], stop, v.tests,
            v.covariance(b), v.documents,
        )  # fmt: skip
    tested = significance(pool, at, scores, resamples, seed, only_own=v is not None)
    p = tested.p[0]
    if v is not None:
        p[: len(v.scorers), : len(v.scorers)] = v.p[b]
    found = intervals(pool, [np.nan if beta is None else beta], scores, resamples, seed)
    return Standing(
        tested.scorers, clusters(spa, p), *found.ranks(0), found.se[0], found.t, p, stop,
        _tests(resamples, found.documents, seed), found.covariance(0), found.documents,
    )  # fmt: skip


def _tests(resamples: int, documents: int, seed: int) -> str:
    """How tests and intervals were made, as a part of a signature."""
    return f"PERM-BOTH:{resamples}|documents:{documents}|bootstrap:{resamples}|testing seed:{seed}"


def shipped_verdict(pool: Pool, beta: float | None = None) -> tuple[Verdict | None, int]:
    """The verdict that ships for a pool and the place of a balance in it; None where there is no such file or stop.

    A file that is damaged or of other scorers is refused: computing it anew takes long, and would hide that it is.
    """
    if not ships(_file(pool.name)):
        return None, 0
    v = load_significance(pool.name)
    if v.scorers != tuple(pool.scorers):
        again = f"rebuild it with 'make data TABLES=significance ONLY={pool.name}'"
        raise DataError(f"{folder() / _file(pool.name)}: its scorers are not those of {pool.name}; {again}")
    try:
        return v, 0 if beta is None else v.nearest(beta)
    except ValueError:
        return None, 0


def summary(verdicts: Iterable[Verdict]) -> pd.DataFrame:
    """One row a dataset: what the tests amount to.

    Columns name, scorers, documents, low, high (ends of the stops), first_low, first, first_high (scorers that share
    the first cluster at the low end, at the natural balance, at the high end), pairs, changed (pairs that change
    order between the ends), real, both, difference (of these, by either rule, by each), holm, reached (the share of
    resampled contests that reach the stop most of them miss). Zeros and NaN where no balance is known.
    """
    rows = []
    for v in verdicts:
        known = v.betas.size > 1
        first = [int((v.clusters(b) == 1).sum()) for b in ((1, 0, -1) if known else (0, 0, 0))]
        rows.append(
            {
                "name": v.name,
                "scorers": len(v.scorers),
                "documents": v.documents,
                "low": v.betas[1] if known else np.nan,
                "high": v.betas[-1] if known else np.nan,
                "first_low": first[0],
                "first": first[1],
                "first_high": first[2],
                "pairs": len(v.scorers) * (len(v.scorers) - 1) // 2,
                **(v.ends().counts() if known else dict.fromkeys(("changed", "real", "both", "difference", "holm"), 0)),
                "reached": v.reached.min() / v.resamples,
            }
        )
    return pd.DataFrame(rows)


def _pack(x: np.ndarray, unit: float = 1.0) -> np.ndarray:
    """Whole numbers of `unit`, as steps along the first axis, in the smallest type that holds them; −1 unit for NaN."""
    whole = np.rint(np.nan_to_num(np.asarray(x, dtype=np.float64) / unit, nan=-1.0)).astype(np.int64)
    step = np.diff(whole, axis=0, prepend=0)
    return step.astype(
        np.result_type(np.min_scalar_type(step.min(initial=-1)), np.min_scalar_type(-1 - step.max(initial=0)))
    )


def _unpack(step: np.ndarray, unit: float | None = None) -> Array:
    """What `_pack` packed."""
    whole = np.cumsum(step, axis=0, dtype=np.int64).astype(np.float64)
    return whole if unit is None else np.where(whole < 0, np.nan, whole * unit)
