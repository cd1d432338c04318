"""The three measures over the whole reachable range of β, each target at its most even weighting."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .augment import FAMILIES, shifts
from .balance import balance, pair_balances, reachable
from .digest import Digest
from .preference import preference, steps
from .reweight import reweight_sweep

SAME = 1e-12  # correlations this close are one number and its rounding


def beta_grid(adequacy, fluency, step: float = 0.01) -> np.ndarray:
    """Targets from βmin to βmax in equal steps of about `step`, with every pair balance and β₀ among them.

    >>> beta_grid([0, 2, 0], [0, 1, 3], step=0.4)
    array([0.        , 0.33333333, 0.4       , 0.5       , 0.8       ])
    """
    low, high = reachable(adequacy, fluency)
    even = np.linspace(low, high, max(1, round((high - low) / step)) + 1)
    pairs = pair_balances(adequacy, fluency)
    return np.unique(np.concatenate([even, pairs[~np.isnan(pairs)], [balance(adequacy, fluency)]]).clip(low, high))


def sweep(d: Digest, betas=None, meta: str = "spa") -> pd.DataFrame:
    """One row per target: beta, ess, certificate, and the three measures under "spa" or "pearson"."""
    betas = beta_grid(d.adequacy, d.fluency) if betas is None else np.asarray(betas)
    solved = reweight_sweep(d.adequacy, d.fluency, betas)
    w = np.array([r.weights for r in solved])
    return pd.DataFrame({"beta": betas, "ess": [r.ess for r in solved], "certificate": [r.certificate for r in solved],
                         **measures(d, w, meta)})


def measures(d: Digest, w, meta: str = "spa") -> dict[str, np.ndarray]:
    """The three measures of a dataset at weightings w (W, K): a dict of arrays (W,)."""
    if meta == "spa":
        human = d.counts("total")
        return {family: preference(steps(human, d.curve_counts(family)), w) for family in FAMILIES}
    if meta == "pearson":
        return {family: _pearson_preference(d, family, np.atleast_2d(w)) for family in FAMILIES}
    raise ValueError(f"unknown meta-metric {meta!r}; 'spa' or 'pearson' is expected")


def _pearson_preference(d: Digest, family: str, w: np.ndarray) -> np.ndarray:
    """As `preference`, with weighted Pearson correlation of adequacy + fluency with the augmented system means."""
    moved = [means + shifts(family, means, d.total, d.adequacy, d.fluency, offset)
             for means, offset in zip(d.means, d.offsets, strict=True)]
    r = correlations(d.adequacy + d.fluency, np.array(moved), w)  # (W, M, dials)
    change = np.diff(r, axis=-1)
    return ((change > SAME) / 2 + (change >= -SAME) / 2).mean(axis=(1, 2))


def correlations(human: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Weighted Pearson correlations of human (K,) with y (…, K) at weightings w (W, K): shape (W, …).

    Zero where one side is constant on the systems that carry weight: it then says nothing about their order.

    >>> correlations(np.array([0.0, 1.0, 2.0]), np.array([[0.0, 1.0, 4.0], [5.0, 5.0, 5.0]]), np.array([[1, 1, 1.0], [1, 1, 0]])).round(4)
    array([[0.9608, 0.    ],
           [1.    , 0.    ]])
    """
    w = w / w.sum(axis=1, keepdims=True)
    h = human - human.mean()
    flat = (y - y.mean(axis=-1, keepdims=True)).reshape(-1, human.size)
    size = np.abs(flat).max(axis=1) + 1e-12 * np.abs(y).reshape(flat.shape).max(axis=1)
    flat = flat / np.where(size > 0, size, 1)[:, None]
    mean_h, mean_y = w @ h, w @ flat.T
    cov = (w * h) @ flat.T - mean_h[:, None] * mean_y
    var_h, var_y = w @ h**2 - mean_h**2, w @ (flat**2).T - mean_y**2
    spread = np.sqrt(np.maximum(var_h[:, None] * var_y, 0))
    flat_enough = spread <= SAME * np.abs(h).max()
    return np.where(flat_enough, 0.0, cov / np.where(flat_enough, 1.0, spread)).reshape(len(w), *y.shape[:-1])
