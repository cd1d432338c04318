"""Which β is yours? Some translation pairs, the one you prefer in each, and what scorers say of them.

A scorer *agrees* with you in a pair if it scores the translation you prefer higher; a tie is half an agreement. The
calibrated β is the one whose meta-evaluation, SPA under the most even weighting of that balance, favours the scorers
that agree with you.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..core.balance import balance
from ..core.check import Array, near
from ..core.metametrics import spa_from_p, unit
from ..data.digest import dataset_of
from ..data.pairs import agreements
from ..data.protocol import Dataset
from ..solve.reweight import RELIABLE, reliable_interval, reweight_sweep
from .contest import One, Scores, contest, named_scores, need_aspects
from .sweep import beta_grid

MOST_RESAMPLES = 100_000  # at most: all are drawn at once
ENOUGH = 100  # resamples below which 90 % of them say too little for a verdict
SAME_MATCH = 1e-9  # matches this close are one number: they are means of at most some thousand terms of size one


@dataclass(frozen=True, eq=False)  # tables have no single answer to ==
class Calibration:
    """A calibrated β and how sharp it is.

    `beta` is the best target in the `reliable` interval of a dataset, `ties` the stretches of it that are as good, and
    `anywhere` the best one of the whole reachable range. `interval` holds 90 % of the answers on resampled pairs;
    `above` is the share of them above the `natural` balance (one on it counts half). `agreement` has a value a scorer,
    `table` a row a target: beta, ess, reliable, correlation, concordance.

    >>> names, score = ["chrF", "BLEU", "CometKiwi", "XCOMET"], [1, 1, 2, -1]
    >>> rows = [(n, "first", s, y + n % 3, 1) for n in range(12) for s, y in zip(names, score)]
    >>> found = calibrate(pd.DataFrame(rows, columns=["pair", "preferred", "scorer", "first", "second"]), "ende24")
    >>> found.pairs, found.gain > 0, list(found.table)
    (12, True, ['beta', 'ess', 'reliable', 'correlation', 'concordance'])
    """

    dataset: str
    by: str
    pairs: int
    beta: float
    ties: tuple[tuple[float, float], ...]
    anywhere: float
    natural: float
    reliable: tuple[float, float]
    interval: tuple[float, float]
    above: float
    agreement: pd.Series
    table: pd.DataFrame
    resamples: int = 1000

    def __repr__(self) -> str:
        return f"<Calibration {self.verdict}>"

    @property
    def inside(self) -> bool:
        """Whether the best target of the whole range is a reliable one."""
        return self.reliable[0] <= self.anywhere <= self.reliable[1]

    @property
    def match(self) -> float:
        """How well the meta-evaluation at `beta` matches the agreement."""
        return self._match(self.beta)

    @property
    def gain(self) -> float:
        """How much better that is than at the natural balance."""
        return self.match - self._match(self.natural)

    def _match(self, beta: float) -> float:
        return float(self.table.loc[self.table["beta"] == beta, self.by].iloc[0])

    @property
    def verdict(self) -> str:
        """What may be concluded, in a sentence or two."""
        home = f"β₀ = {self.natural:.3f} of {self.dataset}"
        first, last = self.interval
        spread = (
            f"90 % of resamples: {first:.3f} to {last:.3f}"
            if first < last
            else f"at least 90 % of resamples end {'there too' if first == self.beta else f'at {first:.3f}'}"
        )
        if np.ptp(self.agreement) <= SAME_MATCH:
            return f"These {self.pairs} pairs cannot tell: all scorers agree with you equally often. Stay at {home}."
        if self.resamples < ENOUGH:
            return (
                f"No verdict: it rests on resampling, and {self.resamples} of at least {ENOUGH} resamples were drawn. "
                f"The best reliable β is {self.beta:.3f}, beside {home}."
            )
        unsure = f"These {self.pairs} pairs cannot tell on which side of {home} you are"
        if self.beta == self.natural == first == last:
            return f"{unsure}: that is the best reliable β, and at least 90 % of resamples stay there."
        if self.beta == self.natural or (self.above if self.beta > self.natural else 1 - self.above) < 0.95:
            return (
                f"{unsure}: {100 * self.above:.0f} % of resamples lie above. "
                f"The best reliable β is {self.beta:.3f} ({spread})."
            )
        out = [
            f"Towards {'adequacy' if self.beta > self.natural else 'fluency'}: β = {self.beta:.3f} ({spread}), "
            f"{self.by} {_signed(self.match)}; at {home} it is {_signed(self.match - self.gain)}."
        ]
        low, high = self.reliable
        if min(self.beta - low, high - self.beta) <= (high - low) / 20:
            out.append("That is an end of the reliable interval: a direction, not a value.")
        if self.match <= (0 if self.by == "correlation" else 0.5):
            out.append("Even there the scorers that agree with you are not the favoured ones.")
        return " ".join(out)


def calibrate(
    pairs: pd.DataFrame,
    dataset: str | Dataset,
    extra: Scores | None = None,
    *,
    by: str = "correlation",
    ess: float = RELIABLE,
    step: float = 0.01,
    resamples: int = 1000,
    seed: int = 8,
) -> Calibration:
    """Find the β of a dataset whose meta-evaluation favours the scorers that agree with you.

    `pairs` has a row per pair and scorer: pair, preferred ("first" or "second"), scorer, and its scores of the first
    and the second translation, higher is better. Scorers are those of the dataset, by name, or keys of `extra`, which takes
    what `rank` takes as `scores`. `by`, "correlation" or "concordance", is what β maximises;
    targets are reliable where ESS ≥ `ess` · K; `step` is that of their grid. `resamples` of the pairs, drawn with
    `seed`, show how sharp the answer is.

    >>> names, score = ["chrF", "BLEU", "CometKiwi", "XCOMET"], [1, 1, 2, -1]
    >>> rows = [(n, "first", s, y + n % 3, 1) for n in range(12) for s, y in zip(names, score)]
    >>> pairs = pd.DataFrame(rows, columns=["pair", "preferred", "scorer", "first", "second"])
    >>> found = calibrate(pairs, "ende24")
    >>> found.agreement.round(3).to_dict()
    {'BLEU': 0.833, 'CometKiwi': 1.0, 'XCOMET': 0.167, 'chrF': 0.833}
    >>> found.beta > found.natural, found.inside
    (True, False)
    """
    if by not in MATCHES:
        raise ValueError(f"by is {by!r}; {' or '.join(map(repr, MATCHES))} is expected")
    if not 1 <= resamples <= MOST_RESAMPLES:
        raise ValueError(f"resamples is {resamples}; a number from 1 to {MOST_RESAMPLES} is expected")
    if not seed >= 0:
        raise ValueError(f"seed is {seed}; a whole number from 0 is expected")
    if not 0 < ess <= 1:
        raise ValueError(f"ess is {ess}; a share of the number of systems, above 0 and at most 1, is expected")
    d = dataset_of(dataset)
    need_aspects(d)
    right = agreements(pairs.replace({"scorer": d.aliases}))
    p = _p_values(d, [str(s) for s in right], named_scores(extra, d))

    o = outlook(d, p, ess, step)
    betas, size, spa, inner, natural = o.betas, o.ess, o.spa, o.inner, o.natural

    agreement = right.mean()
    table = pd.DataFrame(
        {
            "beta": betas,
            "ess": size,
            "reliable": inner,
            **{name: m(agreement.to_numpy()[None], spa)[0] for name, m in MATCHES.items()},
        }
    )
    score = table[by].to_numpy()
    drawn = draws(len(right), resamples, seed)
    again = MATCHES[by](drawn @ right.to_numpy() / len(right), spa[inner])
    answers = betas[inner][best(again, size[inner])]
    first, last = np.quantile(answers, [0.05, 0.95], method="inverted_cdf")
    return Calibration(
        dataset=d.name,
        by=by,
        pairs=len(right),
        beta=float(betas[inner][best(score[inner], size[inner])]),
        ties=_stretches(betas[inner], score[inner] >= score[inner].max() - SAME_MATCH),
        anywhere=float(betas[best(score, size)]),
        natural=natural,
        reliable=o.reliable,
        interval=(float(first), float(last)),
        above=float(np.mean(answers > natural) + np.mean(answers == natural) / 2),
        agreement=agreement,
        table=table,
        resamples=int(resamples),
    )


@dataclass(frozen=True, eq=False)
class Outlook:
    """Where a calibration looks: T targets with their ESS, the SPA of M scorers (T, M), and which targets are reliable."""

    betas: Array
    ess: Array
    spa: Array
    inner: NDArray[np.bool_]
    natural: float
    reliable: tuple[float, float]


def outlook(d: Dataset, p: Array, ess: float = RELIABLE, step: float = 0.01) -> Outlook:
    """The targets of a calibration on a dataset, for scorers with p-values p (M, P).

    >>> from whichbird import load
    >>> d = load("ende24")
    >>> o = outlook(d, d.scorer_p)
    >>> o.spa.shape == (o.betas.size, 30), bool(o.inner[o.betas == o.natural].all())
    (True, True)
    """
    a, f = need_aspects(d)
    natural = balance(a, f)
    low, high = reliable = reliable_interval(a, f, ess)
    betas = np.union1d(beta_grid(a, f, step), np.linspace(low, high, 41))  # however short it is
    solved = reweight_sweep(a, f, betas).insist()
    inner = (betas >= low) & (betas <= high) | (betas == natural)  # the ends are rounded inwards
    return Outlook(betas, solved.ess, spa_from_p(d.tested().human, p, solved.weights), inner, natural, reliable)


def draws(pairs: int, resamples: int = 1000, seed: int = 8) -> NDArray[np.int64]:
    """How often each pair is in each resample of the pairs: (resamples, pairs).

    >>> draws(12, 5).sum(axis=1)
    array([12, 12, 12, 12, 12])
    """
    return np.random.default_rng(seed).multinomial(pairs, np.full(pairs, 1 / pairs), size=resamples)


def correlation(agreement: Array, spa: Array) -> Array:
    """Pearson correlation over M scorers of agreement (R, M) and SPA (T, M): shape (R, T); 0 where either is constant.

    >>> correlation(np.array([[0.2, 0.5, 0.8], [1, 1, 1]]), np.array([[0.7, 0.8, 0.9], [0.9, 0.8, 0.9]])).round(3)
    array([[1., 0.],
           [0., 0.]])
    """
    return np.asarray(unit(agreement, SAME_MATCH) @ unit(spa, SAME_MATCH).T)


def concordance(agreement: Array, spa: Array) -> Array:
    """Share of scorer pairs of different agreement (R, M) that SPA (T, M) puts in the same order: (R, T).

    A tie of SPA counts half. ½ where all agreements are equal: there is nothing to order.

    >>> concordance(np.array([[0.2, 0.5, 0.8], [1, 1, 1]]), np.array([[0.7, 0.9, 0.8], [0.9, 0.8, 0.9]])).round(3)
    array([[0.667, 0.5  ],
           [0.5  , 0.5  ]])
    """
    m, n = np.triu_indices(agreement.shape[1], 1)
    x, y = (np.where(np.abs(gap := z[:, m] - z[:, n]) > SAME_MATCH, np.sign(gap), 0.0) for z in (agreement, spa))
    out: Array = 0.5 + x @ y.T / (2 * np.maximum(1, np.abs(x).sum(axis=1, keepdims=True)))
    return out


MATCHES = {"correlation": correlation, "concordance": concordance}


def best(match: Array, ess: Array) -> NDArray[np.intp]:
    """Where along its last axis a match (…, T) is largest; of several such targets the one with the largest ESS (T,).

    >>> best(np.array([[0.5, 0.7, 0.7], [0.9, 0.7, 0.7]]), np.array([9.0, 11.0, 12.0]))
    array([2, 0])
    """
    at: NDArray[np.intp] = np.where(match >= match.max(axis=-1, keepdims=True) - SAME_MATCH, ess, 0).argmax(axis=-1)
    return at


def _p_values(d: Dataset, scorers: list[str], extra: dict[str, One]) -> Array:
    """P-values of the named scorers, (M, P), from the dataset or from `extra`."""
    known = [*d.scorers, *extra]
    for s in scorers:
        if s not in known:
            raise ValueError(f"{d.name} has no scorer {s!r}" + (near(s, known) or f"; there are {', '.join(known)}"))
    field = contest(d, {s: x for s, x in extra.items() if s in scorers or s in d.scorers})
    return field.p[[field.scorers.index(s) for s in scorers]]


def _signed(x: float) -> str:
    """A number with two decimals and a true minus sign; none before a rounded zero."""
    return f"{x:z.2f}".replace("-", "−")


def _stretches(betas: Array, chosen: NDArray[np.bool_]) -> tuple[tuple[float, float], ...]:
    """Runs of neighbouring chosen targets, each as (first, last)."""
    edge = np.diff(np.r_[0, chosen.astype(int), 0])
    return tuple(zip(betas[edge[:-1] > 0].tolist(), betas[edge[1:] < 0].tolist(), strict=True))
