"""How much a ranking of scorers depends on which systems are in the pool: leave one out, and compare."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..core import check
from ..core.check import Array
from ..core.metametrics import pair_weights, soft_accuracy, spa_from_p
from ..core.permutation import PERMUTATIONS
from ..solve.reweight import reweight_many

TIE = 1e-9  # in permutations: means of whole numbers up to 1000 over all pairs err by less


def leave_one_out(
    human: ArrayLike, scorers: ArrayLike, systems: int, exact: bool = True, permutations: int = PERMUTATIONS
) -> np.ndarray:
    """A score of every scorer on every pool with one system left out: (K, M), higher is better; only its order matters.

    `human` (P,), `scorers` (M, P) are p-values as whole numbers of permutations. Exact scores are negated integer sums
    of |p_human − p_scorer|; otherwise each is SPA as a floating mean, whose rounding breaks exact ties.
    """
    human, scorers = (check.counts(x, name).astype(np.int64) for x, name in ((human, "human"), (scorers, "scorers")))
    i, j = np.triu_indices(systems, 1)
    if systems < 3 or human.shape != i.shape or scorers.shape[1:] != i.shape:
        raise ValueError(
            f"human has shape {human.shape}, scorers {scorers.shape}; (P,) and (M, P) are expected, P the "
            f"pairs of {systems} systems, and at least three systems"
        )
    out = np.empty((systems, len(scorers)), dtype=np.int64 if exact else np.float64)
    for left_out in range(systems):
        kept = (i != left_out) & (j != left_out)
        if exact:
            out[left_out] = -np.abs(human - scorers)[:, kept].sum(axis=1)
        else:
            out[left_out] = [spa_from_p(human[kept] / permutations, s[kept] / permutations) for s in scorers]
    return out


def leave_one_out_at(
    adequacy: ArrayLike, fluency: ArrayLike, human: np.ndarray, scorers: np.ndarray, betas: ArrayLike
) -> tuple[Array, Array]:
    """`leave_one_out` with every reduced pool reweighted to each of `betas` (B,): scores (B, K, M) and ESS (B, K).

    Scores are negated weighted means of |p_human − p_scorer|, in permutations. Both are NaN where a reduced pool cannot
    reach a target.
    """
    adequacy, fluency, betas = (np.asarray(x, dtype=np.float64) for x in (adequacy, fluency, betas))
    systems = adequacy.size
    i, j = np.triu_indices(systems, 1)
    far = np.abs(human - scorers)
    scores, ess = np.full((betas.size, systems, len(scorers)), np.nan), np.full((betas.size, systems), np.nan)
    kept = np.array([np.delete(np.arange(systems), left_out) for left_out in range(systems)])
    solved = reweight_many(adequacy[kept], fluency[kept], betas[None])
    solved.insist()
    for left_out in range(systems):
        reached = solved.proven[left_out]
        others = (i != left_out) & (j != left_out)
        scores[reached, left_out] = soft_accuracy(far[:, others], pair_weights(solved.weights[left_out, reached])) - 1
        ess[reached, left_out] = solved.ess[left_out, reached]
    return scores, ess


def at_balance(
    adequacy: ArrayLike, fluency: ArrayLike, human: np.ndarray, scorers: np.ndarray, betas: ArrayLike
) -> pd.DataFrame:
    """The pooled τ of leave-one-out rankings at fixed balances: one row per target.

    Columns: beta; tau; subsets, how many reduced pools reach beta, the others being dropped; free, the τ of just those
    pools unweighted; ess, their mean after reweighting. τ is NaN where fewer than two pools are left.
    """
    scores, ess = leave_one_out_at(adequacy, fluency, human, scorers, betas)
    plain = leave_one_out(human, scorers, np.size(adequacy))
    rows = []
    for beta, score, size in zip(np.asarray(betas), scores, ess, strict=True):
        kept = ~np.isnan(size)
        tau, free = (pooled_tau(score[kept], TIE), pooled_tau(plain[kept])) if kept.sum() > 1 else (np.nan, np.nan)
        mean = size[kept].mean() if kept.any() else np.nan
        rows.append({"beta": float(beta), "tau": tau, "subsets": int(kept.sum()), "free": free, "ess": mean})
    return pd.DataFrame(rows)


def pooled_tau(scores: np.ndarray, tie: float = 0) -> float:
    """Kendall's τ pooled over all pairs of rankings: scores (R, M), one ranking of M scorers per row.

    For each pair of rankings and pair of scorers: +1 if both put them in the same strict order, −1 if in opposite ones,
    0 if either ties them; the mean of all. Scores that differ by no more than `tie` are tied.

    >>> pooled_tau(np.array([[3, 2, 1], [3, 1, 2]]))
    0.3333333333333333
    """
    rankings, scorers = scores.shape
    if rankings < 2 or scorers < 2:
        raise ValueError(f"{rankings} rankings of {scorers} scorers; at least two of each are needed")
    if np.isnan(scores).any():
        raise ValueError("a score is nan; a ranking needs a number for every scorer")
    m, n = np.triu_indices(scorers, 1)
    gap = scores[:, m] - scores[:, n]
    sign = np.where(np.abs(gap) > tie, np.sign(gap), 0).astype(np.int64)
    # Σ over pairs of rankings of s·s′ is ((Σ s)² − Σ s²) / 2, scorer pair by scorer pair
    agreement = (sign.sum(axis=0) ** 2 - (sign**2).sum(axis=0)).sum() / 2
    return float(agreement / (rankings * (rankings - 1) / 2) / m.size)
