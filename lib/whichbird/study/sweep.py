"""The measures over the whole reachable range of β, each target at its most even weighting."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..core.balance import balance, pair_balances, reachable
from ..data.digest import Digest, dataset_of
from ..solve.reweight import reweight_sweep
from .contest import need_aspects
from .meta import metametrics


def beta_grid(adequacy: ArrayLike, fluency: ArrayLike, step: float = 0.01) -> np.ndarray:
    """Targets from βmin to βmax in equal steps of about `step`, with every pair balance and β₀ among them.

    >>> beta_grid([0, 2, 0], [0, 1, 3], step=0.4)
    array([0.        , 0.36363636, 0.4       , 0.5       , 0.8       ])
    """
    if not step >= 1e-4:
        raise ValueError(f"step is {step}; a number of at least 0.0001 is expected")
    low, high = reachable(adequacy, fluency)
    even = np.linspace(low, high, max(1, round((high - low) / step)) + 1)
    pairs = pair_balances(adequacy, fluency)
    return np.unique(np.concatenate([even, pairs[~np.isnan(pairs)], [balance(adequacy, fluency)]]).clip(low, high))


def sweep(
    source: Digest | str, betas: ArrayLike | None = None, meta: str = "spa", families: Iterable[str] | None = None
) -> pd.DataFrame:
    """The measures under a meta-metric of the registry at each target (those of `beta_grid` if none are given).

    One row per target: beta, ess, certificate (the kind of proof that no weighting of this balance has a larger ESS),
    and one column per family: those named, or all that the digest holds.
    """
    metametrics([meta])  # an unknown one is refused before the work starts
    d = dataset_of(source)
    adequacy, fluency = need_aspects(d)
    betas = beta_grid(adequacy, fluency) if betas is None else np.asarray(betas)
    solved = reweight_sweep(adequacy, fluency, betas).insist()
    made = measures(d, solved.weights, meta, families)
    return pd.DataFrame({"beta": betas, "ess": solved.ess, "certificate": solved.certificates, **made})


def measures(
    d: Digest, w: np.ndarray, meta: str = "spa", families: Iterable[str] | None = None
) -> dict[str, np.ndarray]:
    """The measures, by family, at weightings w (W, K): shape (W,) each; of all families that the digest holds, or some."""
    (record,) = metametrics([meta])
    return {family: record.measured(d, family, w) for family in (d.families if families is None else families)}
