"""Which balances to look at, whether a weighting there is reliable, and weightings as tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..core import check
from ..core.balance import balance, reachable
from ..core.check import Array
from ..solve.result import Reweighting
from ..solve.reweight import RELIABLE, reliable_interval, reweight_sweep

if TYPE_CHECKING:
    import pandas as pd

VANISHING = 0.02  # of a uniform weight: a system that counts for less is as good as left out


def steps(adequacy: ArrayLike, fluency: ArrayLike, step: float = 0.02) -> Array:
    """Round targets to sweep: the multiples of `step` that the pool reaches, with its ends and its natural balance.

    >>> steps([0, 2, 0], [0, 1, 3], 0.25).round(4)
    array([0.    , 0.25  , 0.3636, 0.5   , 0.75  , 0.8   ])
    """
    if not 1e-4 <= step <= 1:
        raise ValueError(f"step is {step:g}; a number from 0.0001 to 1 is expected")
    low, high = reachable(adequacy, fluency)
    return np.unique(np.concatenate([multiples(step, low, high), [balance(adequacy, fluency), low, high]]))


def multiples(step: float, low: float, high: float) -> Array:
    """The multiples of `step` between `low` and `high`, rounded so that 0.6 is the number that people type.

    >>> multiples(0.2, 0.2, 0.7).tolist()
    [0.4, 0.6]
    """
    even = (np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step).round(10)
    return even[(low < even) & (even < high)]


def beta_stops(adequacy: ArrayLike, fluency: ArrayLike, step: float = 0.005) -> Array:
    """Where the explorer's slider stops: multiples of `step`, β₀, and the ends of the range and of the reliable interval.

    A reliable interval narrower than twenty steps gets multiples of a fifth of the step.

    >>> beta_stops([0, 1, 2, 3], [0, 2, 1, 1], step=0.2)[:6].round(3)
    array([0.2  , 0.4  , 0.6  , 0.607, 0.64 , 0.68 ])
    """
    inner = reliable_interval(adequacy, fluency)
    finer = multiples(step / 5, *inner) if inner[1] - inner[0] < 20 * step else np.empty(0)
    return np.unique(np.concatenate([steps(adequacy, fluency, step), inner, finer]))


def is_reliable(r: Reweighting) -> bool:
    """Whether a weighting keeps an effective sample size of at least 0.9 K, give or take rounding."""
    return bool(r.ess >= RELIABLE * r.weights.size * (1 - 1e-12))


class Extremes(NamedTuple):
    """The smallest and the largest weight, as multiples of uniform, and the systems that have them.

    An effective sample size hides that a system may count for nothing.
    """

    weight_least: float
    system_least: str
    weight_most: float
    system_most: str
    vanishing: int  # systems with less than `VANISHING` of uniform

    def __str__(self) -> str:
        more = f" and {self.vanishing - 1} more" if self.vanishing > 1 else ""
        return f"{self.weight_least:.2f} ({self.system_least}{more}) to {self.weight_most:.2f} ({self.system_most})"


def extremes(systems: Iterable[str], w: ArrayLike) -> Extremes:
    """Who weighs least and who most in a weighting (K,).

    >>> print(extremes(["x", "y", "z"], [0.5, 0.4, 0.1]))
    0.30 (z) to 1.50 (x)
    """
    names = list(systems)
    w = check.weights(w, len(names))
    least, most = int(w.argmin()), int(w.argmax())
    few = int((w * w.size < VANISHING).sum())
    return Extremes(float(w[least] * w.size), names[least], float(w[most] * w.size), names[most], few)


def sorted_targets(adequacy: ArrayLike, fluency: ArrayLike, betas: ArrayLike | None) -> Array:
    betas = steps(adequacy, fluency) if betas is None else np.sort(check.vector(betas, "betas"))
    if not betas.size:
        raise ValueError("betas is empty; at least one target is expected")
    return betas


def weight_sweep(
    systems: Iterable[str], adequacy: ArrayLike, fluency: ArrayLike, betas: ArrayLike | None = None
) -> pd.DataFrame:
    """The most even weighting at many balances (those of `steps` if none are given), as one long table.

    Columns beta, ess, reliable (ESS ≥ 0.9 K), certificate, gap, system, weight; targets ascending, systems in order.

    >>> weight_sweep(["x", "y", "z"], [0, 2, 0], [0, 1, 3], [0.5])[["beta", "ess", "system", "weight"]].round(3)
       beta  ess system  weight
    0   0.5  2.6      x   0.385
    1   0.5  2.6      y   0.462
    2   0.5  2.6      z   0.154
    """
    import pandas as pd

    betas = sorted_targets(adequacy, fluency, betas)
    solved = reweight_sweep(adequacy, fluency, betas).insist()
    rows = [
        pd.DataFrame(
            {
                "beta": beta,
                "ess": r.ess,
                "reliable": is_reliable(r),
                "certificate": r.certificate,
                "gap": r.gap,
                "system": list(systems),
                "weight": r.weights,
            }
        )
        for beta, r in zip(betas, solved, strict=True)
    ]
    return pd.concat(rows, ignore_index=True)


def weights_table(
    systems: Iterable[str], adequacy: ArrayLike | None, fluency: ArrayLike | None, w: ArrayLike
) -> pd.DataFrame:
    """One row per system: system, adequacy, fluency (both left out where None), weight.

    >>> weights_table(["x", "y"], [0, 2], [0, 1], [0.5, 0.5])
      system  adequacy  fluency  weight
    0      x         0        0     0.5
    1      y         2        1     0.5
    """
    import pandas as pd

    columns = {"system": list(systems), "adequacy": adequacy, "fluency": fluency, "weight": w}
    return pd.DataFrame({name: column for name, column in columns.items() if column is not None})
