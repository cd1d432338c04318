"""How much a ranking of scorers depends on which systems are in the pool: leave one out, and compare."""

from __future__ import annotations

import numpy as np

from . import _check
from .permutation import PERMUTATIONS


def leave_one_out(human, scorers, systems: int, exact: bool = True, permutations: int = PERMUTATIONS) -> np.ndarray:
    """A score of every scorer on every pool with one system left out: (K, M), higher is better; only its order matters.

    `human` (P,), `scorers` (M, P) are p-values as whole numbers of permutations. Exact scores are negated integer sums
    of |p_human − p_scorer|; otherwise each is SPA as a floating mean, whose rounding breaks exact ties.
    """
    human, scorers = (_check.counts(x, name).astype(np.int64) for x, name in ((human, "human"), (scorers, "scorers")))
    i, j = np.triu_indices(systems, 1)
    if systems < 3 or human.shape != i.shape or scorers.shape[1:] != i.shape:
        raise ValueError(f"human has shape {human.shape}, scorers {scorers.shape}; (P,) and (M, P) are expected, P the "
                         f"pairs of {systems} systems, and at least three systems")
    out = np.empty((systems, len(scorers)), dtype=np.int64 if exact else np.float64)
    for left_out in range(systems):
        kept = (i != left_out) & (j != left_out)
        if exact:
            out[left_out] = -np.abs(human - scorers)[:, kept].sum(axis=1)
        else:
            out[left_out] = [1 - np.abs(human[kept] / permutations - s[kept] / permutations).mean() for s in scorers]
    return out


def pooled_tau(scores: np.ndarray) -> float:
    """Kendall's τ pooled over all pairs of rankings: scores (R, M), one ranking of M scorers per row.

    For each pair of rankings and pair of scorers: +1 if both put them in the same strict order, −1 if in opposite ones,
    0 if either ties them; the mean of all.

    >>> pooled_tau(np.array([[3, 2, 1], [3, 1, 2]]))
    0.3333333333333333
    """
    rankings, scorers = scores.shape
    if rankings < 2 or scorers < 2:
        raise ValueError(f"{rankings} rankings of {scorers} scorers; at least two of each are needed")
    if np.isnan(scores).any():
        raise ValueError("a score is nan; a ranking needs a number for every scorer")
    m, n = np.triu_indices(scorers, 1)
    sign = np.sign(scores[:, m] - scores[:, n]).astype(np.int64)
    # Σ over pairs of rankings of s·s′ is ((Σ s)² − Σ s²) / 2, scorer pair by scorer pair
    agreement = (sign.sum(axis=0) ** 2 - (sign**2).sum(axis=0)).sum() / 2
    return float(agreement / (rankings * (rankings - 1) / 2) / m.size)
