"""The same weights on other systems: what moves with the balance, beside what any weights of that strength move.

The weightings of two balances are dealt to the systems anew, both by the same permutation. A placebo has the same
effective sample sizes and the same distance between its two weightings as the real one; only the aim is gone. What the balance
itself does shows in what the real weightings do and placebos do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..core import check
from ..core.augment import PAPER_FAMILIES
from ..core.check import Array, whole
from ..core.metametrics import correlation, spa_from_p
from ..data.digest import Digest, dataset_of
from ..solve.reweight import reliable_interval, reweight_sweep
from .contest import contest, need_aspects
from .meta import SPA, SWEPT, MetaMetric, evidence, metametrics
from .ranking import TIE_DECIMALS
from .significance import SEED

DRAWS = 5000
BLOCK_DRAWS = 500  # draws at a time, so that memory stays small
QUANTILES = {"q025": 0.025, "q05": 0.05, "q50": 0.5, "q95": 0.95, "q975": 0.975}
AIM = {"tau": "below", "adequacy-fluency": "above", "lean": "above"}  # where a claim points; else either side


def permuted(weights: ArrayLike, draws: int = DRAWS, seed: int = SEED) -> Array:
    """Weightings (B, K) dealt to the systems anew, all of a draw by one permutation: (draws, B, K).

    More draws begin with the same ones.

    >>> permuted([[0.5, 0.3, 0.2]], 3)[:, 0].tolist()
    [[0.5, 0.2, 0.3], [0.5, 0.3, 0.2], [0.5, 0.2, 0.3]]
    """
    w = np.atleast_2d(np.asarray(weights, dtype=np.float64))
    whole(draws, "draws")
    order = np.random.default_rng(seed).random((draws, w.shape[1])).argsort(axis=1)
    return np.asarray(w[:, order].swapaxes(0, 1))


def placebo(
    d: Digest | str, betas: ArrayLike | None = None, draws: int = DRAWS, seed: int = SEED,
    meta: str | Iterable[str] = SWEPT
) -> pd.DataFrame:  # fmt: skip
    """What changes between two balances (None: the ends of the reliable interval), and what changes under placebos.

    One row per meta-metric (those of the paper unless you name others of the registry) and quantity: "tau", Kendall's τ of the
    two rankings of scorers; the paper's three measures, as their change from the first balance to the second, where the
    meta-metric has them; "lean" (SPA only), the correlation over scorers of
    what they gain in SPA with how much more they agree with people's adequacy than with their fluency, unweighted. Columns
    meta, quantity, observed, mean (of the placebos), quantiles q025 … q975, share (of placebos that are at least as extreme:
    τ as small, preference for adequacy and lean as large, else as far from 0), draws.

    >>> found = placebo("ende24", draws=200).set_index(["meta", "quantity"]).loc["spa"]
    >>> found.loc[["tau", "adequacy-fluency"], ["observed", "mean", "share"]].round(2)
                      observed  mean  share
    quantity
    tau                   0.74  0.81   0.13
    adequacy-fluency      0.24  0.00   0.00
    """
    d = dataset_of(d)
    a, f = need_aspects(d)
    ends = np.array(reliable_interval(a, f)) if betas is None else check.vector(betas, "betas", 2)
    real = reweight_sweep(a, f, ends).insist().weights
    every = np.concatenate([real[None], permuted(real, draws, seed)])
    rows = []
    for record in metametrics(meta):
        for quantity, x in _quantities(d, every, record).items():
            rows.append({"meta": record.name, "quantity": quantity, **_summary(x, AIM.get(quantity, "either"))})
    return pd.DataFrame(rows)


def _quantities(d: Digest, w: Array, meta: MetaMetric) -> dict[str, Array]:
    """What two weightings change between them, for each of D: (D, 2, K) → (D,) by name."""
    given = evidence(contest(d), meta.needs)
    families = PAPER_FAMILIES if meta.dials else ()
    assert d.adequacy_p is not None and d.fluency_p is not None  # as every digest with aspects
    lean = spa_from_p(d.adequacy_p, d.scorer_p) - spa_from_p(d.fluency_p, d.scorer_p)
    made: dict[str, list[Array]] = {}
    for start in range(0, len(w), BLOCK_DRAWS):
        part = w[start : start + BLOCK_DRAWS]
        flat = part.reshape(-1, part.shape[-1])
        values = meta.value(*given, flat).reshape(len(part), 2, -1)
        found = {"tau": taus(values[:, 0], values[:, 1])}
        for family in families:
            found[family] = np.diff(meta.measured(d, family, flat).reshape(-1, 2))[:, 0]
        if meta is SPA:
            found["lean"] = correlation(values[:, 1] - values[:, 0], lean)
        for name, x in found.items():
            made.setdefault(name, []).append(x)
    return {name: np.concatenate(parts) for name, parts in made.items()}


def taus(first: Array, second: Array) -> Array:
    """Kendall's τ between rankings, row by row: scores (D, M) twice → (D,); as `rank_change`, a tie counts 0.

    >>> taus(np.array([[3.0, 2, 1], [1, 1, 0]]), np.array([[3.0, 1, 2], [2, 1, 0]])).round(3)
    array([0.333, 0.667])
    """
    i, j = np.triu_indices(first.shape[1], 1)
    one, two = (np.sign((x[:, i] - x[:, j]).round(TIE_DECIMALS)) for x in (first, second))
    return np.asarray((one * two).mean(axis=1))


def _summary(x: Array, aim: str) -> dict[str, float]:
    """The first value beside the others."""
    reach: dict[str, Callable[[Array], Array]] = {"above": np.asarray, "below": np.negative, "either": np.abs}
    size = reach[aim](x)
    return {
        "observed": float(x[0]),
        "mean": float(x[1:].mean()),
        **{name: float(np.quantile(x[1:], q)) for name, q in QUANTILES.items()},
        "share": float((size[1:] >= size[0] - 1e-12).mean()),
        "draws": len(x) - 1,
    }
