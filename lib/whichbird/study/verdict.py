"""What ships about significance: tests and intervals at the explorer's stops, and what they amount to.

**Three statements about two scorers between two balances**, and what each test rejects.

1. They *change places* (`places`): the one with the larger SPA at the first has the smaller at the second. Observed;
   nothing is tested.
2. *The lead moves* (`moves`): the lead at the second less that at the first lies more than t standard errors from 0,
   documents resampled. It rejects "the lead did not move". It does not say who leads at either.
3. *The order turns* (`turns`): they change places, and at *each* of the two the lead lies more than t standard errors
   from 0. It rejects, at each, "the two are equal, or the other is ahead". Both must be rejected, so the p-value is
   the larger of the two. `turns_swaps` says the same by PERM-BOTH, WMT's rule, `turns_swaps_documents` by PERM-BOTH
   with whole documents swapped.

Only where the order turns is a change of order more than noise. `trials.false_claims` measures how often each statement,
read as "the order changed", is false. Holm's adjustment is for all M(M−1)/2 pairs of scorers of a dataset: it bounds the
chance of one or more false statements *of its own kind*, "the lead moves" or "the order turns". With fewer than `FEWEST`
documents nothing is judged by documents.
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

from .._version import __version__
from ..core.balance import balance
from ..core.check import Array, DataError, near
from ..data.archive import DAMAGE, Archive
from ..data.digest import Digest, dataset_of
from ..data.files import read_bytes, write_whole
from ..data.manifest import folder, shipped, ships
from ..data.pool import Pool
from ..data.protocol import scorer_named
from ..data.registry import FIELDS, IN_TREE
from ..data.segments import pool_of
from ..solve.reweight import reliable_interval
from .contest import Scores, aspects, contest, named_scores
from .intervals import intervals, quantile, two_sided
from .ranking import spa_of
from .significance import (
    FEWEST,
    LEVEL,
    MORE,
    RESAMPLES,
    SEED,
    clusters,
    holm,
    significance,
    swapped_documents,
    weightings,
)
from .targets import beta_stops

TESTS_FORMAT = 2
FINE_STEP, COARSE = 1e-5, 1e-4  # SPA and standard errors are stored as whole numbers of these
COUNTS = ("places", "moved", "turns", "turns_swaps", "turns_swaps_documents", "moved_holm", "turns_holm")
Bools = NDArray[np.bool_]


class Changes(NamedTuple):
    """Pairs of scorers between two balances, (M, M) and symmetric: who changes places, whose lead moves, whose order turns.

    `judged` is False where documents are too few to judge by; `moves` and `turns` are False everywhere then.
    """

    places: Bools
    moves: Bools
    turns: Bools
    turns_swaps: Bools
    turns_swaps_documents: Bools
    moves_holm: Bools
    turns_holm: Bools
    judged: bool

    @property
    def moved(self) -> Bools:
        """Pairs that change places and whose lead moves."""
        return self.places & self.moves

    def counts(self) -> dict[str, int]:
        """Numbers of pairs: places, moved (places and moves), turns, the same by swaps, and what is left after Holm."""
        found = dict(zip(COUNTS, (self.places, self.moved, self.turns, self.turns_swaps, self.turns_swaps_documents,
                                  self.places & self.moves_holm, self.turns_holm), strict=True))  # fmt: skip
        return {what: int(x.sum()) // 2 for what, x in found.items()}


def changes(
    spa: tuple[Array, Array], lead_se: tuple[Array, Array], change_se: Array, documents: int,
    p: tuple[Array, Array], p_documents: tuple[Array, Array] | None = None, level: float = LEVEL
) -> Changes:  # fmt: skip
    """What may be said of every pair of scorers between two balances.

    For each of the two: `spa` (M,), `lead_se` (M, M) standard errors of leads, and `p` and `p_documents` (M, M) of
    PERM-BOTH by segments and by documents (None: `p`). `change_se` (M, M) are standard errors of the change of lead. All from
    so many documents.

    >>> spa, p = np.array([0.9, 0.8]), np.array([[1, 0.01], [0.99, 1]])
    >>> small, large = np.full((2, 2), 0.03), np.full((2, 2), 0.06)
    >>> changes((spa, spa[::-1]), (small, small), small, 50, (p, p.T)).counts()
    {'places': 1, 'moved': 1, 'turns': 1, 'turns_swaps': 1, 'turns_swaps_documents': 1, 'moved_holm': 1, 'turns_holm': 1}
    >>> found = changes((spa, spa[::-1]), (small, large), small, 50, (p, p.T))  # the second order could be luck
    >>> bool(found.moves[0, 1]), bool(found.turns[0, 1])
    (True, False)
    """
    lead, then = (x[:, None] - x for x in spa)
    places, judged = lead * then < 0, documents >= FEWEST
    moves = two_sided(then - lead, change_se, documents)
    turns = np.maximum(*(two_sided(x, se, documents) for x, se in zip((lead, then), lead_se, strict=True)))
    turns = np.where(places, turns, 1.0)
    i, j = np.triu_indices(len(lead), 1)

    def adjusted(claim: Array) -> Array:
        out = np.ones(lead.shape)
        out[i, j] = out[j, i] = holm(claim[i, j])
        return out

    def swapped(one: Array, two: Array) -> Bools:
        larger = np.where(lead > 0, np.maximum(one, two.T), np.maximum(one.T, two))  # i before j, then j before i
        return np.asarray(places & (larger <= level))

    def sure(claim: Array) -> Bools:
        return np.asarray(judged & (claim <= level))

    return Changes(
        places=places,
        moves=sure(moves),
        turns=sure(turns),
        turns_swaps=swapped(*p),
        turns_swaps_documents=swapped(*(p_documents or p)),
        moves_holm=sure(adjusted(moves)),
        turns_holm=sure(adjusted(turns)),
        judged=judged,
    )


@dataclass(frozen=True, eq=False)
class Verdict:
    """Tests and intervals of one dataset at B balances: first the natural one, unweighted (NaN), then stops.

    `spa` (B, M) as reported, from 1000 permutations; `se` its standard errors; `rank_low`, `rank_high` the best and
    the worst compatible rank; `p` (B, M, M) PERM-BOTH by segments, WMT's rule; `p_documents` (B, M, M) with whole
    documents swapped, NaN where those are too few; `lead_se` (B, M, M) standard errors of leads, `change_se` of their change since the
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
    p_documents: Array
    lead_se: Array
    change_se: Array
    ends_se: Array
    reached: NDArray[np.int64]
    resamples: int
    documents: int
    signature: str
    tests: str
    aliases: Mapping[str, str] = field(default_factory=dict)  # other names of scorers

    def __repr__(self) -> str:
        return f"<Verdict {len(self.scorers)} scorers at {len(self.betas)} balances|{self.tests}>"

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

    @property
    def judged(self) -> bool:
        """Whether there are documents enough to judge by."""
        return self.documents >= FEWEST

    def better(self, b: int = 0) -> Array:
        """PERM-BOTH at balance b by which we judge, (M, M): by documents where there are enough of them, else by segments."""
        return np.asarray((self.p_documents if self.judged else self.p)[b])

    def changes(self, b: int) -> Changes:
        """What may be said of every pair from the natural balance to stop b."""
        return self._between(0, b, self.change_se[b])

    def moved(self, b: int) -> Bools:
        """Which scorers change places with anyone so that the lead moves, from the natural balance to stop b: (M,)."""
        return np.asarray(self.changes(b).moved.any(axis=1))

    def turned(self, b: int) -> Bools:
        """Which scorers' order with anyone turns from the natural balance to stop b: (M,)."""
        return np.asarray(self.changes(b).turns.any(axis=1))

    def ends(self) -> Changes:
        """What may be said of every pair from the first stop to the last."""
        return self._between(1, len(self.betas) - 1, self.ends_se)

    def _between(self, a: int, b: int, se: Array) -> Changes:
        spa, lead_se, p, by_documents = ((x[a], x[b]) for x in (self.spa, self.lead_se, self.p, self.p_documents))
        return changes(spa, lead_se, se, self.documents, p, by_documents)


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
    at = stops if stops.size else None
    tests = {"": significance(pool, at, scores, resamples, seed, by="segments")}
    if swapped_documents(pool) is not None:
        tests["_documents"] = significance(pool, at, scores, resamples, seed, by="documents")
    found = intervals(pool, np.concatenate([[np.nan], stops]), scores, resamples, seed)
    c = contest(pool, scores)
    k = len(pool.systems)
    w = np.concatenate([np.full((1, k), 1 / k), weightings(pool, stops)[1] if stops.size else np.empty((0, k))])
    i, j = np.triu_indices(len(c.scorers), 1)
    rows = np.concatenate([[natural], np.arange(stops.size)]).astype(int)
    ranks = np.array([found.ranks(b) for b in range(found.betas.size)])
    ends = found.change_se(stops.size, 1) if stops.size else np.zeros((len(c.scorers), len(c.scorers)))
    info = {
        "format": TESTS_FORMAT,
        "name": pool.name,
        "resamples": resamples,
        "documents": found.documents,
        "test": tests[""].signature,
        "intervals": found.signature,
        "reported": c.signature,
        "version": __version__,
    } | ({"aliases": dict(sorted(pool.aliases.items()))} if pool.aliases else {})
    return {
        "info": np.frombuffer(json.dumps(info, sort_keys=True).encode(), dtype=np.uint8),
        "scorers": np.array(c.scorers),
        "betas": stops,
        "reached": found.reached.astype(np.int32),
        "spa": _pack(np.array([spa_of(c, row) for row in w]), FINE_STEP),
        "se": _pack(found.se, FINE_STEP),
        "rank_low": ranks[:, 0].astype(np.uint8),
        "rank_high": ranks[:, 1].astype(np.uint8),
        "lead_se": _pack(np.array([found.lead_se(b)[i, j] for b in range(rows.size)]), COARSE),
        "change_se": _pack(np.array([found.change_se(b, 0)[i, j] for b in range(rows.size)]), COARSE),
        "ends_se": _pack(ends[i, j][None], COARSE),
        **{
            what + by: _pack(x[rows], 1 / (MORE * resamples))
            for by, tested in tests.items()
            for what, x in (("p", tested.p[:, i, j]), ("ties", tested.p[:, i, j] + tested.p[:, j, i] - 1))
        },
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
    (30, array([  nan, 0.548, 0.55 ]), 'PERM-BOTH:1000-10000|documents:171|bootstrap:1000|testing seed:7')
    """
    name = IN_TREE.get(name, name)
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
    if info["format"] != TESTS_FORMAT:
        raise DataError(
            f"format {info['format']}; this version reads format {TESTS_FORMAT}: rebuild it with 'make data'"
        )
    scorers = tuple(str(s) for s in arrays["scorers"])
    i, j = np.triu_indices(len(scorers), 1)

    def square(upper: np.ndarray, lower: np.ndarray, diagonal: float) -> Array:
        out = np.full((len(upper), len(scorers), len(scorers)), diagonal)
        out[:, i, j], out[:, j, i] = upper, lower
        return out

    resamples, documents = int(info["resamples"]), int(info["documents"])

    def swaps(by: str) -> Array:
        (count, ties), size = (_unpack(arrays[what + by]) for what in ("p", "ties")), MORE * resamples
        return square(count / size, (size + ties - count) / size, 1.0)

    p = swaps("")
    if "p_documents" in arrays:
        by_documents = swaps("_documents")
    else:  # segments stood for documents, or documents are too few to be swapped
        by_documents = p if documents >= FEWEST else np.full(p.shape, np.nan)
    lead, change, ends = (_unpack(arrays[what], COARSE) for what in ("lead_se", "change_se", "ends_se"))
    tests = tests_line(resamples, documents, int(info["test"].rpartition("|seed:")[2].partition("|")[0]))
    return Verdict(
        name=info["name"],
        scorers=scorers,
        betas=np.concatenate([[np.nan], arrays["betas"]]),
        spa=_unpack(arrays["spa"], FINE_STEP),
        se=_unpack(arrays["se"], FINE_STEP),
        rank_low=arrays["rank_low"].astype(np.int64),
        rank_high=arrays["rank_high"].astype(np.int64),
        p=p,
        p_documents=by_documents,
        lead_se=square(lead, lead, 0.0),
        change_se=square(change, change, 0.0),
        ends_se=square(ends, ends, 0.0)[0],
        reached=arrays["reached"].astype(np.int64),
        resamples=resamples,
        documents=documents,
        # like a digest's: the version that reports; the file's own record keeps the one that made it
        signature=f"{re.sub(r'whichbird:[^|]*', f'whichbird:{__version__}', info['reported'])}|{tests}",
        tests=tests,
        aliases=info.get("aliases", {}),
    )


def judged(source: Digest | Pool | str, scorers: Iterable[str], scores: Scores | None = None) -> Verdict:
    """The verdict on some scorers, by name: what ships where all of them ship, else computed, on these scorers alone.

    Ranks then are those among the scorers compared.
    """
    source = dataset_of(source)
    own = named_scores(scores, source)
    names = [s if s in own else scorer_named(source, s) for s in scorers]
    v = None if own.keys() & {*names} else shipped_tests(source, names)
    if v is not None:
        return v
    pool = pool_of(source)
    kept = {name: x for name, x in pool.scorers.items() if name in names}
    return decode(
        build_significance(replace(pool, scorers=kept), scores={name: x for name, x in own.items() if name in names})
    )


def shipped_tests(source: Digest | Pool, scorers: Iterable[str]) -> Verdict | None:
    """The verdict that ships with a dataset if it holds these scorers; None for a pool of your own, or part of a dataset.

    >>> shipped_tests(dataset_of("ende24"), ["BLEU"]), shipped_tests(dataset_of("ende24").without("IKUN"), ["BLEU"])
    (<Verdict 30 scorers at 67 balances|PERM-BOTH:1000-10000|documents:171|bootstrap:1000|testing seed:7>, None)
    """
    if isinstance(source, Pool) or source.dropped or not ships(_file(source.name)):
        return None
    v = load_significance(source.name)
    return v if {*scorers} <= {*v.scorers} else None


class Standing(NamedTuple):
    """Where M scorers stand at one balance: cluster, compatible ranks, standard error of SPA, (M,) each, and PERM-BOTH.

    `stop` is the balance at which tests that ship were made, the one next to that asked for; None where all is
    computed. `p` (M, M) is NaN for pairs of scorers whose test no cluster needs, if there are many scorers.
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
    scores = named_scores(scores, pool)
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
    every = spa if v is None else None  # no test ships: clusters say which are needed
    tested = significance(pool, at, scores, resamples, seed, v is not None, "segments", every)
    p = tested.p[0]
    if v is not None:
        p[: len(v.scorers), : len(v.scorers)] = v.p[b]
    found = intervals(pool, [np.nan if beta is None else beta], scores, resamples, seed)
    return Standing(
        tested.scorers, clusters(spa, p), *found.ranks(0), found.se[0], found.t, p, stop,
        tests_line(resamples, found.documents, seed), found.covariance(0), found.documents,
    )  # fmt: skip


def tests_line(resamples: int, documents: int, seed: int) -> str:
    """How tests and intervals were made, as a part of a signature."""
    return f"PERM-BOTH:{resamples}-{MORE * resamples}|documents:{documents}|bootstrap:{resamples}|testing seed:{seed}"


def shipped_verdict(pool: Pool, beta: float | None = None) -> tuple[Verdict | None, int]:
    """The verdict that ships for a pool and the place of a balance in it; None where there is no such file or stop.

    A file that is damaged or of other scorers is refused: computing it anew takes long, and would hide that it is.
    """
    if not ships(_file(pool.name)):
        return None, 0
    v = load_significance(pool.name)
    if pool.name in FIELDS and {*v.scorers} < {*pool.scorers}:  # tests of one scorer of each kind ship
        return None, 0
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
    the first cluster at the low end, at the natural balance, at the high end), pairs, those of `Changes.counts` between
    the ends (0 where no balance is known), judged (whether documents suffice to judge by), reached (the share of resampled
    contests that reach the stop most of them miss).
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
                **(v.ends().counts() if known else dict.fromkeys(COUNTS, 0)),
                "judged": known and v.judged,
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
