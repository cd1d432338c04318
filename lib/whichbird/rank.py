"""Scorers ranked by soft pairwise accuracy at any balance: those of a dataset that ships, of a `Pool`, and your own.

A digest holds the p-values of people and of the shipped scorers, so ranking a new scorer needs nothing but its segment
scores. A pool holds segment scores; its p-values are computed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from . import _check
from ._check import DataError
from ._version import __version__
from .balance import balance, reachable
from .digest import Digest, datasets, folder, load
from .metametrics import pair_weights
from .mtme import CONSTANT
from .permutation import PERMUTATIONS, SEED, p_counts
from .pool import Pool, system_means
from .result import Reweighting
from .reweight import RELIABLE, reliable_interval, reweight, reweight_sweep

TIE = 12         # decimals: SPA is a sum over at most some thousand pairs, which errs by less
HIDDEN = "adequacy and fluency are not public"


class Contest(NamedTuple):
    """All that a ranking needs: K systems, M scorers, p-values of P pairs; `own` marks scorers passed as `scores`."""

    name: str
    systems: tuple[str, ...]
    adequacy: np.ndarray | None  # (K,)
    fluency: np.ndarray | None
    human: np.ndarray            # (P,) p-values
    scorers: list[str]           # M
    p: np.ndarray                # (M, P)
    own: np.ndarray              # (M,)
    signature: str


def contest(source: Digest | Pool, scores: Mapping | None = None, reference: str | None = None) -> Contest:
    """The scorers of `source` and your own `scores` (as `rank` takes them), every permutation test done.

    `rank` and `rank_sweep` make one themselves; make it first where both are wanted, or another `reference`: that of the
    paper, refA, unless you name the one WMT used, `source.info["standard"]`. Yours should have seen the same.

    >>> from whichbird import load
    >>> contest(load("ende24")).p.shape
    (30, 120)
    """
    scores = {name: _segment_scores(source, name, x) for name, x in (scores or {}).items()}
    for name in scores:
        if name in source.scorers:
            raise DataError(f"{source.name} has a scorer {name!r} already; give yours another name")
    if isinstance(source, Digest):
        permutations, seed = source.info["permutations"], source.info["seed"]
        human, (shipped, signature), new = source.human_p, _with_reference(source, reference), scores
    else:
        if reference not in (None, source.reference):
            raise DataError(f"{source.name} was read with {source.reference}; read it again for {reference}")
        permutations, seed = PERMUTATIONS, SEED
        human, shipped = p_counts(source.total, permutations, seed) / permutations, None
        signature = (f"{source.name}|sys:{len(source.systems)}|seg:{len(source.lines)}|ref:{source.reference}"
                     f"|perm:{permutations}|seed:{seed}|whichbird:{__version__}")
        new = source.scorers | scores
    names = [*source.scorers, *scores]
    if not names:
        raise DataError(f"{source.name} has no scorer to rank; at least one is needed")
    p = [p_counts(x, permutations, seed) / permutations
         for x in tqdm(new.values(), desc="permutation tests", delay=1, leave=False, disable=None)]
    p = np.array(p).reshape(-1, human.size)
    return Contest(source.name, source.systems, *aspects(source), human, names,
                    p if shipped is None else np.concatenate([shipped, p]),
                    np.array([name in scores for name in names]), signature)


def _with_reference(d: Digest, reference: str | None) -> tuple[np.ndarray, str]:
    """The shipped scorers' p-values with a reference, (M, P), and the signature that says so."""
    paper, standard = d.info["reference"], d.info["standard"]
    if reference not in (None, paper, standard):
        known = f"{paper} (the paper's) and {standard} (WMT's)" if standard != paper else paper
        raise DataError(f"{d.name} ships scorers with {known}, not with {reference!r}")
    shipped = d.scorer_p if reference in (None, paper) else d.standard_p
    return shipped, d.signature.replace(f"|ref:{paper}|", f"|ref:{reference or paper}|")


@dataclass(frozen=True, eq=False)
class Ranking:
    """Scorers ranked at one balance.

    `table`: rank, scorer, spa, rank_natural, spa_natural (both without reweighting), own (True for scorers passed as
    `scores`); best first, equal scorers share the better rank. `weights`: system, adequacy, fluency, weight.
    `reweighting` is the solver's answer, None at the natural balance. `signature` says what the figures rest on.
    """

    table: pd.DataFrame
    weights: pd.DataFrame
    reweighting: Reweighting | None
    signature: str


def rank(source: Digest | Pool | Contest, beta: float | None = None, scores: Mapping | None = None) -> Ranking:
    """Rank all scorers of `source` at balance `beta` (None: the natural balance), with your own `scores` among them.

    `scores` maps a name to segment scores (K, N), higher is better: rows in the order of `source.systems` (a DataFrame is
    sorted by its index), columns the N rated lines or all `source.source_lines`, of which `source.lines` are picked.

    >>> from whichbird import load
    >>> rank(load("ende24"), 0.6).table.head(3)[["rank", "scorer", "rank_natural"]]
       rank     scorer  rank_natural
    0     1  XCOMET-QE             1
    1     2     XCOMET             2
    2     3   COMET-22             3
    """
    c = source if isinstance(source, Contest) else contest(source, scores)
    solved = None if beta is None else reweight(*_needed(c), beta)
    k = len(c.systems)
    w = np.full(k, 1 / k) if solved is None else solved.weights
    now, natural = _spa(c, w), _spa(c, np.full(k, 1 / k))
    table = pd.DataFrame({"rank": _ranks(now), "scorer": c.scorers, "spa": now, "rank_natural": _ranks(natural),
                          "spa_natural": natural, "own": c.own})
    weights = weights_table(c.systems, c.adequacy, c.fluency, w)
    return Ranking(table.sort_values(["rank", "scorer"], ignore_index=True), weights, solved,
                   f"{c.signature}|beta:{'natural' if beta is None else format(float(beta), '.12g')}")


def rank_sweep(source: Digest | Pool | Contest, betas=None, scores: Mapping | None = None) -> pd.DataFrame:
    """`rank` at many balances (those of `steps` if none are given), as one long table.

    Columns beta, ess, reliable (ESS ≥ 0.9 K), certificate, scorer, spa, rank, own; targets ascending, scorers in order.

    >>> from whichbird import load
    >>> rank_sweep(load("ende24"), [0.5, 0.6]).groupby("beta")[["ess", "reliable"]].first().round(3)
             ess  reliable
    beta
    0.5   13.835     False
    0.6   14.880      True
    """
    c = source if isinstance(source, Contest) else contest(source, scores)
    a, f = _needed(c)
    betas = _sorted_targets(a, f, betas)
    rows = []
    for beta, r in zip(betas, reweight_sweep(a, f, betas), strict=True):
        spa = _spa(c, r.weights)
        rows.append(pd.DataFrame({"beta": beta, "ess": r.ess, "reliable": is_reliable(r), "certificate": r.certificate,
                                  "scorer": c.scorers, "spa": spa, "rank": _ranks(spa), "own": c.own}))
    return pd.concat(rows, ignore_index=True)


def weight_sweep(systems, adequacy, fluency, betas=None) -> pd.DataFrame:
    """The most even weighting at many balances (those of `steps` if none are given), as one long table.

    Columns beta, ess, reliable (ESS ≥ 0.9 K), certificate, gap, system, weight; targets ascending, systems in order.

    >>> weight_sweep(["x", "y", "z"], [0, 2, 0], [0, 1, 3], [0.5])[["beta", "ess", "system", "weight"]].round(3)
       beta  ess system  weight
    0   0.5  2.6      x   0.385
    1   0.5  2.6      y   0.462
    2   0.5  2.6      z   0.154
    """
    betas = _sorted_targets(adequacy, fluency, betas)
    solved = reweight_sweep(adequacy, fluency, betas)
    rows = [pd.DataFrame({"beta": beta, "ess": r.ess, "reliable": is_reliable(r), "certificate": r.certificate,
                          "gap": r.gap, "system": list(systems), "weight": r.weights})
            for beta, r in zip(betas, solved, strict=True)]
    return pd.concat(rows, ignore_index=True)


def weights_table(systems, adequacy, fluency, w) -> pd.DataFrame:
    """One row per system: system, adequacy, fluency (both left out where None), weight.

    >>> weights_table(["x", "y"], [0, 2], [0, 1], [0.5, 0.5])
      system  adequacy  fluency  weight
    0      x         0        0     0.5
    1      y         2        1     0.5
    """
    columns = {"system": list(systems), "adequacy": adequacy, "fluency": fluency, "weight": w}
    return pd.DataFrame({name: column for name, column in columns.items() if column is not None})


def steps(adequacy, fluency, step: float = 0.02) -> np.ndarray:
    """Round targets to sweep: the multiples of `step` that the pool reaches, with its ends and its natural balance.

    >>> steps([0, 2, 0], [0, 1, 3], 0.25).round(4)
    array([0.    , 0.25  , 0.3636, 0.5   , 0.75  , 0.8   ])
    """
    if not 1e-4 <= step <= 1:
        raise ValueError(f"step is {step:g}; a number from 0.0001 to 1 is expected")
    low, high = reachable(adequacy, fluency)
    return np.unique(np.concatenate([multiples(step, low, high), [balance(adequacy, fluency), low, high]]))


def multiples(step: float, low: float, high: float) -> np.ndarray:
    """The multiples of `step` between `low` and `high`, rounded so that 0.6 is the number that people type.

    >>> multiples(0.2, 0.2, 0.7).tolist()
    [0.4, 0.6]
    """
    even = (np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step).round(10)
    return even[(low < even) & (even < high)]


def is_reliable(r: Reweighting) -> bool:
    """Whether a weighting keeps an effective sample size of at least 0.9 K, give or take rounding."""
    return bool(r.ess >= RELIABLE * r.weights.size * (1 - 1e-12))


def overview(sources=None) -> pd.DataFrame:
    """One row for each of `sources` (digests or pools; all datasets that ship if none are given).

    Columns name, systems, segments, scorers (counts), beta0, beta_min, beta_max (natural balance and reachable range),
    reliable_min, reliable_max (ESS ≥ 0.9 K), note. NaN and a note where no adequacy and fluency are public.

    >>> overview().set_index("name").loc["ende24", ["systems", "segments", "scorers"]].tolist()
    [16, 487, 30]
    """
    if sources is None and not datasets():
        raise DataError(f"{folder()}: no dataset is there; run 'make data'")
    sources = map(load, datasets()) if sources is None else sources
    return pd.DataFrame([_summary(source) for source in sources], columns=list(_Summary._fields))


class _Summary(NamedTuple):
    name: str
    systems: int
    segments: int
    scorers: int
    beta0: float = np.nan
    beta_min: float = np.nan
    beta_max: float = np.nan
    reliable_min: float = np.nan
    reliable_max: float = np.nan
    note: str = HIDDEN


def _summary(source: Digest | Pool) -> _Summary:
    size = source.name, len(source.systems), len(source.lines), len(source.scorers)
    a, f = aspects(source)
    if a is None:
        return _Summary(*size)
    return _Summary(*size, balance(a, f), *reachable(a, f), *reliable_interval(a, f), "")


def aspects(source: Digest | Pool) -> tuple[np.ndarray, np.ndarray] | tuple[None, None]:
    """System means of adequacy and fluency, (K,) each; None twice where they are not known."""
    a, f = source.adequacy, source.fluency
    return (system_means(a), system_means(f)) if isinstance(source, Pool) and a is not None else (a, f)


def _segment_scores(source: Digest | Pool, name: str, x) -> np.ndarray:
    """Scores (K, N) on the rated lines, checked."""
    if isinstance(x, pd.DataFrame):
        missing = [s for s in source.systems if s not in x.index]
        if missing or not x.index.is_unique:
            raise ValueError(f"scorer {name!r}: the index must hold every system once" +
                             (f", and {missing[0]!r} is missing" if missing else ""))
        x = x.loc[list(source.systems)].to_numpy()
    x, k, n = np.asarray(x), len(source.systems), len(source.lines)
    if x.ndim == 2 and x.shape[1] == source.source_lines:
        x = x[:, source.lines]  # before the check: what stands on lines nobody rated does not matter
    x = _check.matrix(x, f"scorer {name!r}")
    if x.shape != (k, n):
        raise ValueError(f"scorer {name!r} has shape {x.shape}; {k} systems × {n} rated lines "
                         f"(or all {source.source_lines} lines) are expected")
    refuse_constant(x, name)
    return x


def refuse_constant(x: np.ndarray, name: str) -> None:
    """A scorer (K, N) whose system means are one number and its rounding ranks nothing: refuse it."""
    means = system_means(x)
    if np.ptp(means) <= CONSTANT * np.abs(x).max():
        raise DataError(f"scorer {name!r} is constant: every system has the mean score {means[0]:.6g}; "
                        "it cannot tell them apart")


def _needed(c: Contest) -> tuple[np.ndarray, np.ndarray]:
    if c.adequacy is None:
        raise DataError(f"{c.name} can be ranked at its natural balance only: {HIDDEN}, so no other can be set")
    return c.adequacy, c.fluency


def _sorted_targets(adequacy, fluency, betas) -> np.ndarray:
    betas = steps(adequacy, fluency) if betas is None else np.sort(_check.vector(betas, "betas"))
    if not betas.size:
        raise ValueError("betas is empty; at least one target is expected")
    return betas


def _spa(c: Contest, w: np.ndarray) -> np.ndarray:
    """SPA of every scorer: (M,). Row by row in one order, so that equal p-values give the very same number."""
    return 1 - (np.abs(c.human - c.p) * pair_weights(w)).sum(axis=1)


def _ranks(spa: np.ndarray) -> np.ndarray:
    """1 for the largest; equals share the better rank."""
    return pd.Series(spa.round(TIE)).rank(ascending=False, method="min").astype(int).to_numpy()
