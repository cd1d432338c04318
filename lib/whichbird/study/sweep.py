"""The measures over the whole reachable range of β, each target at its most even weighting."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..core.augment import shifts
from ..core.balance import balance, pair_balances, reachable
from ..core.metametrics import correlations
from ..data.digest import Digest, dataset_of
from ..solve.reweight import reweight_sweep
from .contest import need_aspects
from .preference import preference, steps

SAME = 1e-12  # correlations this close are one number: a sum over some hundred pairs errs by less than 1e-13


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
    """The measures under "spa" or "pearson" at each target (those of `beta_grid` if none are given).

    One row per target: beta, ess, certificate (the kind of proof that no weighting of this balance has a larger ESS),
    and one column per family: those named, or all that the digest holds.
    """
    _known(meta)
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
    measure = _known(meta)
    return {family: measure(d, family, w) for family in (d.families if families is None else families)}


def _spa_measure(d: Digest, family: str, w: np.ndarray) -> np.ndarray:
    return np.asarray(preference(steps(d.counts("total"), d.curve_counts(family)), w))


def _pearson_measure(d: Digest, family: str, w: np.ndarray) -> np.ndarray:
    adequacy, fluency = need_aspects(d)
    moved = np.array(
        [
            means + shifts(family, means, d.total, adequacy, fluency, offset)
            for means, offset in zip(d.means, d["offsets"], strict=True)
        ]
    )
    change = np.diff(correlations(adequacy + fluency, moved, w), axis=-1)  # (W, M, dials − 1)
    return np.asarray(((change > SAME) / 2 + (change >= -SAME) / 2).mean(axis=(1, 2)))


# Digest, family of augmented scorers, weightings (W, K) → the measure at each, (W,)
METAMETRICS: dict[str, Callable[[Digest, str, np.ndarray], np.ndarray]] = {
    "spa": _spa_measure,
    "pearson": _pearson_measure,
}


def _known(meta: str) -> Callable[[Digest, str, np.ndarray], np.ndarray]:
    if meta not in METAMETRICS:
        raise ValueError(f"unknown meta-metric {meta!r}; {' or '.join(map(repr, METAMETRICS))} is expected")
    return METAMETRICS[meta]
