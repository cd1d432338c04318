"""What solvers return: weights with their proof; for one target, for a sweep of one pool, for many pools."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, SupportsIndex, overload

import numpy as np

from .proof import Evidence

OUT, UNPROVEN = "out of reach", "unproven"  # in place of a certificate, where `reweight_many` has no weights to give


class NotProven(RuntimeError):
    """No proof of optimality was completed, so there is no answer to return.

    A search for one stops after so many saddles. `tests/adversarial.py` makes pools that are meant to lead here, and counts
    those that do.

    >>> Sweep([Reweighting(np.array([0.5, 0.5]), 0.8, 0.8, UNPROVEN, 0.0, 0.0, -0.5)], systems=2).insist()
    Traceback (most recent call last):
    ...
    whichbird.solve.result.NotProven: optimality was not proven at beta = 0.80000000000000004; the search for a proof ended...
    """


def unproven(targets: np.ndarray) -> None:
    """Raise NotProven if there are any."""
    if targets.size:
        where = ", ".join(f"{beta:.17g}" for beta in targets)
        raise NotProven(f"optimality was not proven at beta = {where}; the search for a proof ended without one")


@dataclass
class Counts:
    """What the published search did for one target, in the paper's terms.

    >>> from whichbird import search
    >>> counts = search([.5574, .9883, 1.4687, 3.0894], [.4012, .5353, 1.4986, 1.2467], .9095).counts
    >>> counts.supports, counts.candidates, (counts + counts).supports
    (5, 11, 10)
    """

    supports: int = 0  # supports whose stationary points were computed
    skipped: int = 0  # supports passed over as inadmissible
    candidates: int = 0  # stationary points found
    size_stops: int = 0  # searches ended by the support-size bound
    certified: int = 0  # searches ended by the exit certificate
    ends: int = 0  # targets at an end of the range, answered by one pair without any search
    two_poles: int = 0  # of `supports`, those whose secular function has two poles,
    one_pole: int = 0  # one pole (systems on a line); the rest needs no root: its uniform weighting has the balance

    def __add__(self, other: Counts) -> Counts:
        return Counts(**{name: value + getattr(other, name) for name, value in asdict(self).items()})


@dataclass(frozen=True, eq=False)  # arrays have no single answer to ==; results are compared by their fields
class Reweighting:
    """A weighting of K systems that reaches a target balance at the largest effective sample size.

    `weights` (K,) sum to one; `beta` is the balance they have, `target` the one asked for; `support` the indices with
    positive weight. `distortion` names what was made least; `ess` is 1/Σw² whatever it was. `certificate` names the proof of
    optimality ("local" is none). `eta` and `lam` are the multipliers of the balance and of the budget, with ½Σw² or the
    divergence, in the units of the scores given (`nan` where none exist). `alternatives` are the other optima, where
    there are any: weightings with a Σw² equal to within the gap, and each 1e-3 or more from all others, summed over the
    systems. `claimed` is the gap that floating point claims; see `gap`.

    >>> from whichbird import reweight, verify
    >>> r = reweight([0, 1, 2, 3], [0, 2, 1, 1], .5)
    >>> r.weights.round(3), round(r.ess, 3), r.support, r.certificate
    (array([0.332, 0.386, 0.249, 0.034]), 3.106, (0, 1, 2, 3), 'dual')
    >>> verify(r.proof) == r.gap, r.gap < 1e-9
    (True, True)
    """

    weights: np.ndarray
    beta: float
    target: float
    certificate: str
    claimed: float
    eta: float
    lam: float
    alternatives: tuple[np.ndarray, ...] = ()
    counts: Counts | None = None
    distortion: str = "collision"
    evidence: Evidence | None = field(default=None, repr=False)

    @property
    def alternative(self) -> np.ndarray | None:
        """The first of the `alternatives`, None where there is none."""
        return self.alternatives[0] if self.alternatives else None

    @property
    def proof(self) -> dict[str, Any] | None:
        """A proof that anybody can check with `verify`, ready for JSON; None for a `search` or another distortion.

        It is written when first asked for. Scores and target stand in it as given, except where the statement is one about
        systems on a line and holds only for numbers that round to them: those are strings, "p/q".
        """
        return None if self._proven is None else self._proven[0]

    @property
    def gap(self) -> float:
        """How far Σw² is, at most, above the least possible, relative to itself: measured by `verify`, in exact arithmetic.

        Infinity if `verify` refuses the proof. Where there is none it is what floating point claims, for KL in nats: the
        divergence that might still be saved (`nan` if nothing is claimed).
        """
        return self.claimed if self._proven is None else self._proven[1]

    @cached_property
    def _proven(self) -> tuple[dict[str, Any], float] | None:
        return None if self.evidence is None else self.evidence.proof()

    @property
    def support(self) -> tuple[int, ...]:
        return tuple(int(k) for k in np.flatnonzero(self.weights))

    @property
    def ess(self) -> float:
        return float(1.0 / (self.weights @ self.weights))


class Sweep(list[Reweighting]):
    """The results for T targets of one pool: a list of them, and what they share as arrays.

    >>> sweep = Sweep([Reweighting(np.array([0.5, 0.5]), 0.8, 0.8, "uniform", 0.0, 0.0, -0.5)], systems=2)
    >>> sweep.betas, sweep.weights, sweep.ess, sweep.certificates
    (array([0.8]), array([[0.5, 0.5]]), array([2.]), ['uniform'])
    >>> len(sweep), sweep[0].ess, sweep[1:].weights.shape
    (1, 2.0, (0, 2))
    """

    def __init__(self, results: Iterable[Reweighting], systems: int) -> None:
        super().__init__(results)
        self.systems = systems

    @overload
    def __getitem__(self, at: SupportsIndex) -> Reweighting: ...
    @overload
    def __getitem__(self, at: slice) -> Sweep: ...
    def __getitem__(self, at: SupportsIndex | slice) -> Reweighting | Sweep:
        return Sweep(super().__getitem__(at), self.systems) if isinstance(at, slice) else super().__getitem__(at)

    @property
    def betas(self) -> np.ndarray:
        """The targets (T,)."""
        return np.array([r.target for r in self])

    @property
    def weights(self) -> np.ndarray:
        """(T, K), one weighting a row."""
        return np.array([r.weights for r in self]).reshape(-1, self.systems)

    @property
    def ess(self) -> np.ndarray:
        """Effective sample sizes (T,)."""
        return np.array([r.ess for r in self])

    @property
    def certificates(self) -> list[str]:
        """The names of the proofs."""
        return [r.certificate for r in self]

    @property
    def unproven(self) -> np.ndarray:
        """The targets without a proof; their weights are the best found, NaN if none were."""
        return np.array([r.target for r in self if r.certificate == UNPROVEN])

    def insist(self) -> Sweep:
        """The sweep itself; NotProven if a target is without proof."""
        unproven(self.unproven)
        return self


@dataclass(frozen=True, eq=False)
class Reweightings:
    """What `reweight_many` found, for R pools of K systems and T targets each (without the axis T for one target each).

    `weights` (R, T, K); `beta` the balances they have and `target` those asked for; `certificate` the names of the
    proofs, or "out of reach" or "unproven", where weights, `beta`, `gap` and `eta` are NaN. `eta` as in `Reweighting`.

    >>> from whichbird import reweight_many
    >>> many = reweight_many([[0, 1, 2, 3], [0, 1, 2, 4]], [[0, 2, 1, 1], [0, 2, 1, 0]], .7)
    >>> many.weights.shape, many.ess.round(3), many.proven
    ((2, 4), array([3.989, 3.782]), array([ True,  True]))
    """

    weights: np.ndarray
    beta: np.ndarray
    target: np.ndarray
    certificate: np.ndarray
    eta: np.ndarray
    evidence: Callable[[int], Evidence] = field(repr=False)

    def proof(self, *at: int) -> dict[str, Any] | None:
        """The proof of one result, as `Reweighting.proof`: `at` is the pool, and the target where there are several."""
        place = int(np.ravel_multi_index(at, self.target.shape))
        return self._proven(place)[0] if self.proven.flat[place] else None

    @cached_property
    def gap(self) -> np.ndarray:
        """The gaps, measured as `Reweighting.gap` is: some milliseconds for each, all when first asked for."""
        found = [self._proven(n)[1] if yes else np.nan for n, yes in enumerate(self.proven.flat)]
        return np.array(found, float).reshape(self.target.shape)

    def _proven(self, place: int) -> tuple[dict[str, Any], float]:
        return self.evidence(place).proof()

    @property
    def ess(self) -> np.ndarray:
        return np.asarray(1.0 / (self.weights**2).sum(axis=-1))

    @property
    def proven(self) -> np.ndarray:
        return np.asarray((self.certificate != OUT) & (self.certificate != UNPROVEN))

    def insist(self) -> None:
        """Raise NotProven if a target within reach is without proof."""
        unproven(self.target[self.certificate == UNPROVEN])
