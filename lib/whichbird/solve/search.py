"""Algorithm 1 of the paper: the best of all stationary points of all supports, with one switch per theorem.

Supports are visited by decreasing size and lexicographically inside a size. Three theorems spare work, each behind a
switch: `admissible` passes over supports whose pair balances do not bracket the target, `size` stops before a size
whose best imaginable weighting is no better than the one in hand, `certificate` stops at a point proven optimal. None
of them changes the answer.

The work is done for thousands of supports at a time; the counts are those of a search that visits one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import chain, combinations, islice, product

import numpy as np
from numpy.typing import ArrayLike
from tqdm import tqdm

from ..core import check
from ..core.balance import TOLERANCE, Standard, balance, pair_balances, solvable, target
from .certificate import certificate as exit_certificate, holds
from .result import Counts, Reweighting
from .stationary import of_supports, rounding

LIMIT = 24  # systems; 2^24 supports already take the better part of an hour
CHUNK = 8192  # supports at a time: some tens of megabytes, and long enough for numpy
MIRROR_TIE = 1e-12  # relative: what rounding does to Σw² of two optima that mirror each other


def search(
    adequacy: ArrayLike,
    fluency: ArrayLike,
    beta: float,
    admissible: bool = True,
    size: bool = True,
    certificate: bool = True,
) -> Reweighting:
    """The weighting of largest effective sample size at balance `beta`, by Algorithm 1, with a count of what it did.

    A target at an end of the range that one pair alone attains is answered by that pair, and counted under `ends` only.

    >>> r = search([.5574, .9883, 1.4687, 3.0894], [.4012, .5353, 1.4986, 1.2467], .9095)
    >>> r.weights.round(4)
    array([0.0088, 0.0861, 0.4245, 0.4806])
    >>> r.certificate, r.counts.supports, r.counts.skipped, r.counts.candidates
    ('support size', 5, 0, 11)
    """
    pool, beta = _small(adequacy, fluency), target(adequacy, fluency, beta)
    run = Run(admissible, size, certificate)
    explore(pool, beta, [run])
    return run.result(adequacy, fluency, beta)


def search_sweep(
    adequacy: ArrayLike,
    fluency: ArrayLike,
    betas: ArrayLike,
    admissible: bool = True,
    size: bool = True,
    certificate: bool = True,
) -> list[Reweighting]:
    """`search` at each of `betas`, with a progress bar.

    >>> [round(r.ess, 3) for r in search_sweep([0, 2, 0], [0, 1, 3], [0, 0.3, 0.8])]
    [2.0, 2.905, 2.0]
    """
    betas = check.vector(betas, "betas")
    return [search(adequacy, fluency, b, admissible, size, certificate) for b in tqdm(betas, "search", disable=None)]


def ablation(adequacy: ArrayLike, fluency: ArrayLike, betas: ArrayLike) -> list[dict[str, int]]:
    """What `search` does over all `betas` with each of the eight settings of its switches: one row (a dict) a setting.

    Each target is explored once, as far as the laziest setting goes, and all settings keep their counts along the way.

    >>> rows = ablation([0, 2, 0, 1], [0, 1, 3, 1], [0.2, 0.5])
    >>> [(row["admissible"], row["size"], row["certificate"], row["supports"]) for row in rows][::7]
    [(True, True, True, 2), (False, False, False, 22)]
    """
    pool = _small(adequacy, fluency)
    rows = [Run(a, s, c) for a, s, c in product((True, False), repeat=3)]
    for beta in tqdm(check.vector(betas, "betas"), "ablation", disable=None):
        runs = [Run(row.admissible, row.size, row.certificate) for row in rows]
        explore(pool, target(adequacy, fluency, beta), runs)
        for row, run in zip(rows, runs, strict=True):
            row.counts += run.counts
    return [{"admissible": r.admissible, "size": r.size, "certificate": r.certificate} | asdict(r.counts) for r in rows]


def _small(adequacy: ArrayLike, fluency: ArrayLike) -> Standard:
    pool = Standard.of(adequacy, fluency)
    solvable(pool.given_a, pool.given_f)
    if pool.a.size > LIMIT:
        raise ValueError(
            f"the pool has {pool.a.size} systems; search goes through all supports and takes at most "
            f"{LIMIT}, reweight takes any number"
        )
    return pool


def explore(pool: Standard, beta: float, runs: list[Run]) -> None:
    """Visit supports in order, for all runs at once, until the last of them has stopped."""
    systems = pool.a.size
    relation = _relation(pool, beta)
    pairs = relation[np.triu_indices(systems, 1)]
    equal = np.argwhere(np.triu(relation == 0, 1))
    if len(equal) == 1 and not ((pairs < 0).any() and (pairs > 0).any()):
        for run in runs:
            run.end(systems, equal[0])
        return
    for size in range(systems, 1, -1):
        runs = [run for run in runs if not run.stops_before(size)]
        for supports in _supports(systems, size):
            runs = [run for run in runs if not run.proof]
            if not runs:
                return
            visit = _visit(
                pool,
                beta,
                relation,
                supports,
                skip=all(run.admissible for run in runs),
                certify=any(run.certificate for run in runs),
            )
            for run in runs:
                run.take(visit)
    for run in runs:
        run.proof = run.proof or "all supports"


def _supports(systems: int, size: int) -> Iterator[np.ndarray]:
    """All supports of one size in lexicographic order, at most CHUNK rows at a time."""
    everything = combinations(range(systems), size)
    while chunk := list(islice(everything, CHUNK)):
        yield np.fromiter(chain.from_iterable(chunk), np.intp, len(chunk) * size).reshape(-1, size)


def _relation(pool: Standard, beta: float) -> np.ndarray:
    """(K, K): −1, 0, 1 where a pair's balance is below, at or above `beta`; NaN where a pair has none."""
    systems = pool.a.size
    i, j = np.triu_indices(systems, 1)
    gap = np.hypot(pool.a[i] - pool.a[j], pool.f[i] - pool.f[j])
    difference = pair_balances(pool.a, pool.f) - beta
    with np.errstate(divide="ignore"):
        sign = np.where(np.abs(difference) <= rounding(pool, gap), 0.0, np.sign(difference))
    out = np.full((systems, systems), np.nan)
    out[i, j] = out[j, i] = sign
    return out


def _admissible(relation: np.ndarray, supports: np.ndarray) -> np.ndarray:
    """Which supports have pairs on both sides of the target, or all their pairs at it."""
    bit = 1 << np.arange(len(relation))  # a set of systems is an integer
    members = bit[supports].sum(axis=1, keepdims=True)

    def some(sign: int) -> np.ndarray:
        partners = ((relation == sign) * bit).sum(axis=1)
        found: np.ndarray = ((partners[supports] & members) != 0).any(axis=1)
        return found

    below, above = some(-1), some(1)
    return np.where(below | above, below & above, some(0))


@dataclass
class _Visit:
    """What was found on N supports: an entry each, and the M feasible stationary points among all of them, in order."""

    admissible: np.ndarray
    candidates: np.ndarray
    poles: np.ndarray
    owner: np.ndarray  # (M,) the support of each feasible point
    weights: np.ndarray  # (M, K)
    eta: np.ndarray  # (M,)
    collision: np.ndarray  # (M,)
    certified: np.ndarray  # (M,)


def _visit(
    pool: Standard, beta: float, relation: np.ndarray, supports: np.ndarray, skip: bool, certify: bool
) -> _Visit:
    admissible = _admissible(relation, supports)
    chosen = np.flatnonzero(admissible) if skip else np.arange(len(supports))
    points = of_supports(pool, beta, supports[chosen])
    candidates, poles = np.zeros(len(supports), int), np.zeros(len(supports), int)
    candidates[chosen] = np.bincount(points.owner, minlength=chosen.size)
    poles[chosen] = points.poles

    positive = (points.weights > 0).all(axis=1)
    owner, eta = chosen[points.owner[positive]], points.eta[positive]
    weights = np.zeros((owner.size, pool.a.size))
    np.put_along_axis(weights, supports[owner], points.weights[positive], axis=1)
    s_a, s_f = ((weights * (x - (weights @ x)[:, None]) ** 2).sum(axis=1) for x in (pool.a, pool.f))
    with np.errstate(invalid="ignore"):  # no variance at all: no balance, not feasible
        ok = np.abs(s_a / (s_a + s_f) - beta) <= TOLERANCE
    owner, eta, weights = owner[ok], eta[ok], weights[ok]
    certified = holds(pool, beta, weights, eta) if certify else np.zeros(owner.size, bool)
    return _Visit(admissible, candidates, poles, owner, weights, eta, (weights**2).sum(axis=1), certified)


@dataclass
class Run:
    """One search under way: its switches, its counts, the best weighting in hand and, once it has stopped, why."""

    admissible: bool
    size: bool
    certificate: bool
    counts: Counts = field(default_factory=Counts)
    collision: float = np.inf
    weights: np.ndarray | None = None
    eta: float = 0.0
    others: list[np.ndarray] = field(default_factory=list)  # of the same value
    proof: str = ""  # while there is none

    def end(self, systems: int, pair: np.ndarray) -> None:
        self.weights = np.zeros(systems)
        self.weights[pair] = 0.5
        self.counts.ends, self.proof = 1, "end of the range"

    def stops_before(self, size: int) -> bool:
        if not self.proof and self.size and size <= 1 / self.collision:
            self.counts.size_stops, self.proof = 1, "support size"
        return bool(self.proof)

    def take(self, visit: _Visit) -> None:
        """Go through the supports of a visit in order, up to the first certificate if that switch is on."""
        last = visit.admissible.size
        if self.certificate and visit.certified.any():
            first = int(np.argmax(visit.certified))
            last = visit.owner[first] + 1
            self.counts.certified, self.proof = 1, "exit certificate"
            self._keep(visit, first)
        elif visit.owner.size and (least := visit.collision.min()) < self.collision * (1 - MIRROR_TIE):
            self._keep(visit, int(np.argmax(visit.collision <= least * (1 + MIRROR_TIE))))
        self._look_for_twin(visit)
        seen = visit.admissible[:last] if self.admissible else np.ones(last, bool)
        poles = visit.poles[:last][seen]
        self.counts += Counts(
            supports=int(seen.sum()),
            skipped=int((~seen).sum()),
            two_poles=int((poles == 2).sum()),
            one_pole=int((poles == 1).sum()),
            candidates=int(visit.candidates[:last][seen].sum()),
        )

    def _keep(self, visit: _Visit, point: int) -> None:
        self.weights, self.eta = visit.weights[point], float(visit.eta[point])
        self.collision, self.others = float(visit.collision[point]), []

    def _look_for_twin(self, visit: _Visit) -> None:
        if self.weights is None:
            return
        for twin in visit.weights[visit.collision <= self.collision * (1 + MIRROR_TIE)]:
            if all(np.abs(twin - w).max() > np.sqrt(TOLERANCE) for w in (self.weights, *self.others)):
                self.others.append(twin)

    def result(self, adequacy: ArrayLike, fluency: ArrayLike, beta: float) -> Reweighting:
        if self.weights is None:
            raise ArithmeticError(
                f"no support has a weighting with beta = {beta:.17g} in double precision; the target "
                "is too close to an end of the range for search, use reweight"
            )
        w = self.weights / self.weights.sum()
        reached = balance(adequacy, fluency, w)
        if not abs(reached - beta) <= TOLERANCE:
            raise ArithmeticError(f"the weights found have balance {reached:.17g} where {beta:.17g} was asked for")
        proof = exit_certificate(adequacy, fluency, beta, w, self.eta or None)
        known = proof.failed in (None, "(iii)")  # (i) and (ii) hold at every optimum that has multipliers
        eta, lam = (proof.eta, proof.lam) if known else (np.nan, np.nan)
        gap = proof.gap if self.counts.certified else 0.0  # an enumeration leaves none beyond rounding
        return Reweighting(w, reached, beta, self.proof, gap, eta, lam, tuple(self.others), self.counts)
