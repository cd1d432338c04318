"""Many weightings at once: draws on the simplex, what they are worth, and cells of (ESS, β).

Drawn uniformly, weightings of a dozen systems hardly ever have a large effective sample size. So draws come from a
mixture of symmetric Dirichlet distributions that covers ESS from K/2 to nearly K, and every draw carries an importance
weight back to the uniform distribution. That weight depends on the draw only through Σ log w, and is kept as a
logarithm.

Draws are made in blocks of fixed size with seeds of their own, so how they are processed changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import gammaln, logsumexp, stdtr
from tqdm import tqdm

from ..core.balance import Standard, standard_balances
from .preference import preference

BLOCK = 32_768  # draws per block; a multiple of the eight components
CELLS = 8
SEED = 7


def concentrations(systems: int) -> np.ndarray:
    """The eight concentrations: 1 (uniform on the simplex) and seven whose typical ESS runs from K/2 to nearly K.

    >>> concentrations(12).round(2)
    array([ 1.  ,  0.83,  1.16,  1.62,  2.33,  3.58,  6.33, 17.33])
    """
    if systems < 3:
        raise ValueError(f"{systems} systems; draws of many weightings need at least three")
    typical = systems * np.linspace(0.5, 0.95, 7)
    return np.concatenate([[1.0], (typical - 1) / (systems - typical)])


class Draws(NamedTuple):
    """Weightings (n, K), their ESS and β, and the logarithm of their importance weight to uniform, each (n,)."""

    w: np.ndarray
    ess: np.ndarray
    beta: np.ndarray
    log_weight: np.ndarray


def draws(adequacy: ArrayLike, fluency: ArrayLike, n: int, seed: int = SEED, low: float = 0.5) -> Iterator[Draws]:
    """n draws in blocks, of which those with ESS ≥ low·K are passed on. More draws begin with the same ones."""
    if not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"n is {n}; a whole number of draws, at least 1, is expected")
    pool = Standard.of(adequacy, fluency)
    alpha = concentrations(pool.a.size)
    blocks = -(-n // BLOCK)
    for number, source in enumerate(np.random.SeedSequence(seed).spawn(blocks)):
        w = _dirichlet(np.random.default_rng(source), alpha, pool.a.size)[: n - number * BLOCK]
        with np.errstate(divide="ignore"):
            log_weight = log_importance(np.log(w).sum(axis=1), alpha, pool.a.size)
        size = 1 / np.einsum("nk,nk->n", w, w)
        keep = (size >= low * pool.a.size) & np.isfinite(log_weight)
        w = w[keep]
        yield Draws(w, size[keep], standard_balances(pool, w), log_weight[keep])


def log_importance(sum_log: np.ndarray, alpha: np.ndarray, systems: int) -> np.ndarray:
    """log of (uniform density / mixture density) at weightings whose Σ log w is `sum_log` (n,)."""
    constant = gammaln(systems * alpha) - systems * gammaln(alpha)
    with np.errstate(invalid="ignore"):
        mixture = logsumexp(constant + np.outer(sum_log, alpha - 1), axis=1) - np.log(alpha.size)
    log_ratio: np.ndarray = gammaln(systems) - mixture
    return log_ratio


def edges(adequacy: ArrayLike, fluency: ArrayLike, n: int = 200_000, seed: int = SEED) -> tuple[np.ndarray, np.ndarray]:
    """The edges of the cells: ESS in equal bins on [K/2, K], β in equal bins over the central 98 % of the draws.

    β's ends are rounded outward to 0.01.
    """
    beta = np.concatenate([d.beta for d in draws(adequacy, fluency, n, seed)])
    low, high = 100 * np.quantile(beta, [0.01, 0.99])
    k = np.size(adequacy)
    return np.linspace(k / 2, k, CELLS + 1), np.linspace(np.floor(low) / 100, np.ceil(high) / 100, CELLS + 1)


def locate(values: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """The bin of each value, −1 outside; an inner edge belongs to the bin above it, the last edge to the last bin.

    >>> locate(np.array([0.0, 1.0, 1.5, 2.0, 2.1]), np.array([0.0, 1.0, 2.0]))
    array([ 0,  1,  1,  1, -1])
    """
    bin_ = np.minimum(np.searchsorted(grid, values, side="right") - 1, grid.size - 2)
    return np.where((values >= grid[0]) & (values <= grid[-1]), bin_, -1)


def cells(
    adequacy: ArrayLike,
    fluency: ArrayLike,
    step: np.ndarray,
    n: int,
    seed: int = SEED,
    bins: tuple[ArrayLike, ArrayLike] | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Mean and spread of a measure within each cell of (ESS, β): one row per cell that any draw fell into.

    `step` is the measure's table (see `preference.steps`). Columns: ess and beta (bin numbers), their lower edges, n
    (draws), kish (what they are worth after weighting), mean and std (importance-weighted to uniform), plain_mean and
    plain_std (unweighted).
    """
    ess_edges, beta_edges = edges(adequacy, fluency, seed=seed) if bins is None else map(np.asarray, bins)
    if ess_edges.shape != (CELLS + 1,) or beta_edges.shape != (CELLS + 1,):
        raise ValueError(f"bins have shapes {ess_edges.shape} and {beta_edges.shape}; {CELLS + 1} edges are needed")
    # Seven sums per cell: 1, m, m² of the draws, then v, v², vm, vm² with v their weight over the largest seen so far.
    plain = np.zeros((CELLS * CELLS, 3))
    weighted = np.zeros((CELLS * CELLS, 4))
    top = np.full(CELLS * CELLS, -1e300)  # below any logarithm of a weight, yet finite, so that differences are defined
    blocks = draws(adequacy, fluency, n, seed)
    silent = None if progress else True  # None: a bar on a terminal only
    for block in tqdm(blocks, total=-(-n // BLOCK), desc="weightings", unit="block", disable=silent):
        e, b = locate(block.ess, ess_edges), locate(block.beta, beta_edges)
        inside = (e >= 0) & (b >= 0)
        if not inside.any():
            continue
        cell = (e * CELLS + b)[inside]
        m = np.asarray(preference(step, block.w[inside], single=True))
        log_v = block.log_weight[inside]
        raised = top.copy()
        np.maximum.at(raised, cell, log_v)
        fade = np.exp(top - raised)
        weighted *= np.stack([fade, fade**2, fade, fade], axis=1)
        top = raised
        v = np.exp(log_v - top[cell])
        plain += _by_cell(cell, np.ones_like(m), m, m**2)
        weighted += _by_cell(cell, v, v**2, v * m, v * m**2)
    return _summary(plain, weighted, ess_edges, beta_edges)


def _by_cell(cell: np.ndarray, *values: np.ndarray) -> np.ndarray:
    return np.stack([np.bincount(cell, v, minlength=CELLS * CELLS) for v in values], axis=1)


def _summary(plain: np.ndarray, weighted: np.ndarray, ess_edges: np.ndarray, beta_edges: np.ndarray) -> pd.DataFrame:
    used = np.flatnonzero(plain[:, 0] > 0)
    n, total, squares = plain[used].T
    v, v2, vm, vm2 = weighted[used].T
    mean = vm / v
    return pd.DataFrame(
        {
            "ess": used // CELLS,
            "beta": used % CELLS,
            "ess_from": ess_edges[used // CELLS],
            "beta_from": beta_edges[used % CELLS],
            "n": n.astype(int),
            "kish": v**2 / v2,
            "mean": mean,
            "std": np.sqrt(np.maximum(vm2 / v - mean**2, 0)),
            "plain_mean": total / n,
            "plain_std": np.sqrt(np.maximum(squares / n - (total / n) ** 2, 0)),
        }
    )


class Welch(NamedTuple):
    """t, degrees of freedom, one-sided p that the second mean is larger, and Cohen's d (difference over spread)."""

    t: np.ndarray
    df: np.ndarray
    p: np.ndarray
    d: np.ndarray


def welch(mean1: ArrayLike, std1: ArrayLike, n1: ArrayLike, mean2: ArrayLike, std2: ArrayLike, n2: ArrayLike) -> Welch:
    """Welch's test of mean2 > mean1 from population standard deviations and (effective) sizes; arrays broadcast.

    NaN where a sample of one has no spread to estimate.

    >>> result = welch(0.0, 1.0, 50, 1.0, 1.0, 50)
    >>> round(float(result.t), 3), round(float(result.d), 3), bool(result.p < 1e-4)
    (4.95, 1.0, True)
    """
    mean1, std1, n1, mean2, std2, n2 = (np.asarray(x, dtype=np.float64) for x in (mean1, std1, n1, mean2, std2, n2))
    with np.errstate(divide="ignore", invalid="ignore"):
        v1, v2 = std1**2 / (n1 - 1), std2**2 / (n2 - 1)  # population variance over n − 1 is the squared standard error
        t = (mean2 - mean1) / np.sqrt(v1 + v2)
        df = (v1 + v2) ** 2 / (v1**2 / (n1 - 1) + v2**2 / (n2 - 1))
        d = (mean2 - mean1) / np.sqrt((std1**2 + std2**2) / 2)
    # without any spread df is undefined, and immaterial: t is infinite, or undefined itself
    return Welch(t, df, stdtr(np.where(np.isnan(df), 1.0, df), -t), d)


def _dirichlet(rng: np.random.Generator, alpha: np.ndarray, systems: int) -> np.ndarray:
    """One block: equally many draws from each component, the components taking turns."""
    g = np.stack([rng.standard_gamma(a, size=(BLOCK // alpha.size, systems)) for a in alpha], axis=1)
    g = g.reshape(-1, systems)
    w: np.ndarray = g / g.sum(axis=1, keepdims=True)
    return w
