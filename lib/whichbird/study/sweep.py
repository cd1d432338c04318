"""The measures over the whole reachable range of β, each target at its most even weighting."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..core.augment import shifts
from ..core.balance import balance, pair_balances, reachable
from ..core.metametrics import pair_weights
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


def correlations(human: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Weighted Pearson correlations of human (K,) with many scorers y (…, K) at weightings w (W, K): shape (W, …).

    Zero where one side is constant on the systems that carry weight: it then says nothing about their order.
    Covariances are written on pairs, Σ w_k w_k′ (x_k − x_k′)(y_k − y_k′): no mean is subtracted, so no digits are lost
    where two neighbours carry nearly all weight.

    >>> scorers = np.array([[0.0, 1.0, 4.0], [5.0, 5.0, 5.0]])
    >>> correlations(np.array([0.0, 1.0, 2.0]), scorers, np.array([[1, 1, 1], [1, 1, 0]])).round(4)
    array([[0.9608, 0.    ],
           [1.    , 0.    ]])
    """
    i, j = np.triu_indices(human.size, 1)
    pi, flat = pair_weights(w), y.reshape(-1, human.size)
    h, gap = human[i] - human[j], flat[:, i] - flat[:, j]
    spread_h, spread_y = np.sqrt(pi @ h**2)[:, None], np.sqrt(pi @ (gap**2).T)
    # scores that ought to be equal differ by some 1e-16 of their size
    none = (spread_h <= 1e-14 * np.abs(human).max()) | (spread_y <= 1e-14 * np.abs(flat).max(axis=1))
    r = np.where(none, 0.0, (pi * h) @ gap.T / np.where(none, 1.0, spread_h * spread_y))
    return np.asarray(r.reshape(len(w), *y.shape[:-1]))
