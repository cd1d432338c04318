"""What a solver returns: weights with their proof."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

OUT, UNPROVEN = "out of reach", "unproven"  # in place of a certificate, where `reweight_many` has no weights to give


class NotProven(RuntimeError):
    """No proof of optimality was completed, so there is no answer to return.

    Seen only where systems that are not copies lie within 1e-5 of the pool's spread of each other.
    """


def unproven(targets: np.ndarray) -> None:
    """Raise NotProven if there are any."""
    if targets.size:
        where = ", ".join(f"{beta:.17g}" for beta in targets)
        raise NotProven(
            f"optimality was not proven at beta = {where}; systems may be too close together, or the target to an end"
        )


@dataclass
class Counts:
    """What the published search did for one target, in the paper's terms."""

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
    positive weight. `certificate` names the proof of optimality and `gap` bounds the relative suboptimality of Σ w². `eta` and
    `lam` are the multipliers of the balance and of the budget, in the units of the scores given (`nan` where none exist).
    `alternative` is a second optimum of the same value where the optimum is not unique, else None.
    """

    weights: np.ndarray
    beta: float
    target: float
    certificate: str
    gap: float
    eta: float
    lam: float
    alternative: np.ndarray | None = None
    counts: Counts | None = None

    @property
    def support(self) -> tuple[int, ...]:
        return tuple(int(k) for k in np.flatnonzero(self.weights))

    @property
    def ess(self) -> float:
        return float(1.0 / (self.weights @ self.weights))


@dataclass(frozen=True, eq=False)
class Reweightings:
    """What `reweight_many` found, for R pools of K systems and T targets each (without the axis T for one target each).

    `weights` (R, T, K); `beta` the balances they have and `target` those asked for; `certificate` the names of the
    proofs, or "out of reach" or "unproven", where weights, `beta`, `gap` and `eta` are NaN. `gap` and `eta` as in `Reweighting`.
    """

    weights: np.ndarray
    beta: np.ndarray
    target: np.ndarray
    certificate: np.ndarray
    gap: np.ndarray
    eta: np.ndarray

    @property
    def ess(self) -> np.ndarray:
        return np.asarray(1.0 / (self.weights**2).sum(axis=-1))

    @property
    def proven(self) -> np.ndarray:
        return np.isfinite(self.gap)

    def insist(self) -> None:
        """Raise NotProven if a target within reach is without proof."""
        unproven(self.target[self.certificate == UNPROVEN])
