"""The registry of meta-metrics: one record each, and all that ranks, sweeps, deals placebos or resamples reads it here.

A record says what the meta-metric needs and how it is computed for M scorers at W weightings; what it needs decides where the
numbers come from, and how they are resampled over documents (`intervals`):

- "p": p-values of people (P,) and scorers (M, P). A resample tests anew, in closed form.
- "means": system means of people, adequacy plus fluency (the official total where errors are not known), (K,) and of scorers
  (M, K). A resample takes the means over the drawn documents.
- "segments": the official total (K, N) and scorers (M, K, N). A resample counts each segment as often as its document is drawn.

SPA ranks scorers; the others stand beside it where they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ..core.augment import shifts
from ..core.check import Array, DataError, near
from ..core.metametrics import accuracies, correlations, pair_weights, soft_accuracy
from ..core.segmental import difference_correlations, tie_accuracies
from ..data.digest import Digest
from ..data.pool import Pool, system_means
from ..data.segments import pool_of
from .contest import Contest, need_aspects
from .preference import preference, steps

SAME_VALUE = 1e-12  # values this close are one number: a sum over some hundred pairs errs by less than 1e-13


@dataclass(frozen=True)
class MetaMetric:
    """One meta-metric.

    `name` is its column and what --meta calls it, `title` what people call it, `says` its meaning in a few words. `value`
    maps people, scorers and weightings (W, K) to (W, M), with arrays as `needs` says, NaN where it is not defined; where it
    needs segments it also takes `times` (W, N), how often each counts, or None. `measure` maps a digest, a family of augmented scorers and weightings
    (W, K) to how often the larger of two neighbouring dials wins, (W,); None where `value` of moved means tells, or nobody
    has worked it out.
    """

    name: str
    title: str
    needs: str
    says: str
    value: Callable[..., Array]
    measure: Callable[[Digest, str, Array], Array] | None = None
    least: float = 0.0  # no value is below this, or above 1

    @property
    def dials(self) -> bool:
        """Whether it has a measure along the dials of augmented scorers."""
        return self.measure is not None or self.needs == "means"

    def at(self, c: Contest, w: Array) -> Array:
        """Its value for every scorer of a contest at weightings w (W, K): (W, M).

        >>> from whichbird import contest
        >>> METAMETRICS["spa"].at(contest("ende24"), np.ones((1, 16)))[0, :3].round(3)
        array([0.774, 0.702, 0.903])
        """
        found = self.value(*evidence(c, self.needs, self.title), w)
        if np.isnan(found).any():
            raise ValueError(
                f"{self.title} is not defined on {c.name}: people tie, or did not rate, every pair of systems that has weight"
            )
        return found

    def measured(self, d: Digest, family: str, w: Array) -> Array:
        """How often the larger of two neighbouring dials of a family wins at weightings w (W, K): (W,)."""
        if self.measure is not None:
            return self.measure(d, family, w)
        if not self.dials:
            known = ", ".join(m.name for m in METAMETRICS.values() if m.dials)
            raise ValueError(f"{self.name} has no measure along a dial; one of {known} is expected")
        a, f = need_aspects(d)
        moved = np.array(
            [y + shifts(family, y, d.total, a, f, offset) for y, offset in zip(d.means, d["offsets"], strict=True)]
        )
        change = np.diff(self.value(a + f, moved, w), axis=-1)  # (W, M, dials − 1)
        return np.asarray(((change > SAME_VALUE) / 2 + (change >= -SAME_VALUE) / 2).mean(axis=(1, 2)))


def evidence(c: Contest, needs: str, title: str = "this meta-metric") -> tuple[Array, Array]:
    """People and all scorers of a contest, as a meta-metric needs them.

    >>> from whichbird import contest
    >>> [[x.shape for x in evidence(contest("ende24"), needs)] for needs in ("p", "means", "segments")]
    [[(120,), (30, 120)], [(16,), (30, 16)], [(16, 487), (30, 16, 487)]]
    """
    if needs == "p":
        return c.human, c.p
    if c.source is None:
        raise DataError(f"{c.name} holds p-values only; {title} needs a dataset or a pool")
    for name, x in c.scores.items():
        if x.ndim == 1:
            raise DataError(f"scorer {name!r} has p-values only; {title} needs its segment scores")
    d = c.source
    shipped = isinstance(d, Digest) and c.reference in (None, d.reference)
    if needs == "means" and isinstance(d, Digest) and shipped:
        means, human = d.means, d.total
    else:
        pool = pool_of(d if isinstance(d, Pool | Digest) else d.name, c.reference)
        shown = [pool.scored[name] for name in d.scorers]
        if needs == "segments":
            size = len(pool.systems), int(pool.official.sum())
            return pool.total[:, pool.official], np.array([*shown, *c.scores.values()]).reshape(-1, *size)
        means, human = np.array([system_means(v) for v in shown]).reshape(-1, len(d.systems)), system_means(pool.total)
    own = np.array([system_means(v) for v in c.scores.values()]).reshape(-1, len(d.systems))
    return human if c.aspects is None else c.aspects[0] + c.aspects[1], np.concatenate([means, own])


def _spa(human: Array, p: Array, w: Array) -> Array:
    """One weighting at a time, so that equal p-values give the very same number: ranks rely on it."""
    far = np.abs(human - p)
    return np.array([soft_accuracy(far, pair_weights(v)) for v in w])


def _spa_measure(d: Digest, family: str, w: Array) -> Array:
    return np.asarray(preference(steps(d.counts("total"), d.curve_counts(family)), w))


SPA = MetaMetric("spa", "SPA", "p", "soft pairwise accuracy: 1 minus the mean distance of p-values", _spa, _spa_measure)
METAMETRICS = {
    m.name: m
    for m in (
        SPA,
        MetaMetric(
            "pa", "PA", "means", "pairwise accuracy: share of pairs of systems ordered as people do", accuracies
        ),
        MetaMetric("pearson", "Pearson", "means", "Pearson correlation of system means", correlations, least=-1.0),
        MetaMetric(
            "acc_eq",
            "acc_eq",
            "segments",
            "share of pairs within segments judged as people do, with calibrated ties",
            tie_accuracies,
        ),
        MetaMetric(
            "pdp",
            "PDP",
            "segments",
            "Pearson correlation of pairwise differences within segments",
            difference_correlations,
            least=-1.0,
        ),
    )
}
SWEPT = ("spa", "pearson")  # those the paper sweeps


def metametrics(names: str | Iterable[str]) -> tuple[MetaMetric, ...]:
    """The records of meta-metrics by name, or by names with commas between them; each once, in the order given.

    >>> [m.title for m in metametrics("spa,pearson")]
    ['SPA', 'Pearson']
    """
    asked = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    if not asked:
        raise ValueError(f"no meta-metric is named; {', '.join(METAMETRICS)} are there")
    for name in asked:
        if name not in METAMETRICS:
            hint = near(name, list(METAMETRICS)) or f"; one of {', '.join(METAMETRICS)} is expected"
            raise ValueError(f"unknown meta-metric {name!r}{hint}")
    return tuple(METAMETRICS[name] for name in dict.fromkeys(asked))


def beside(names: str | Iterable[str]) -> tuple[MetaMetric, ...]:
    """Those of the named ones that stand beside SPA.

    >>> [m.name for m in beside("spa,pa")]
    ['pa']
    """
    return tuple(m for m in metametrics(names) if m is not SPA)
