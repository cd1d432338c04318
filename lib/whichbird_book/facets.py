"""Where the variance comes from: systems, raters, text and single ratings, and what other plans would buy.

A *row* is what one rater gave to all systems on one segment; a contrast, the score of one system minus that of another
in a row, is free of a rater's severity and of a segment's difficulty.

Two rows from different documents by different raters share nothing but the systems, so the mean product of their
contrasts is the systems' own variance, without noise; two by the same rater add what system and rater have between
them; two of the same segment, what system and segment have; a row with itself, everything. That is generalisability
theory by the method of moments: unbiased whoever rated what, as long as who rates is not chosen by what is to be
seen; and in balanced designs the analysis of variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whichbird.core.check import Array, DataError
from whichbird.data.digest import Digest
from whichbird.data.pool import Pool
from whichbird.study.contest import need_aspects
from whichbird.study.intervals import Documents
from whichbird.study.significance import annotated_of

from .raters import SEED, by_rater, document_numbers, whole_rows

PARTS = ("system", "rater", "segment", "system × rater", "system × segment", "rater × segment", "residual")
DRAWS = 4000


class Facets(NamedTuple):
    """Components of variance and covariance of (adequacy, fluency), a matrix (2, 2) each, by name; NaN if not known.

    A `segment` is a document if that was asked for. `units` is how many segments, or equally large documents, there
    are; `raters` how many equally busy raters; `systems` K.
    """

    parts: dict[str, Array]
    units: float
    raters: float
    systems: int

    @property
    def beta(self) -> float:
        """β₀ of the systems' own variances, free of raters and segments; NaN where one of them is not positive."""
        a, f = np.diag(self.parts["system"])
        return float(a / (a + f)) if min(a, f) > 0 else float("nan")

    def error(self, raters: float | None = None, ratings: float = 1, units: float | None = None) -> Array:
        """The error covariance (2, 2) of a system's mean against the others': so many raters, ratings a cell, units."""
        raters, units = self.raters if raters is None else raters, self.units if units is None else units
        p = {name: positive(x) for name, x in self.parts.items() if name in PARTS[3:] and not np.isnan(x).any()}
        shared = p.get("system × segment", np.zeros((2, 2)))
        return p["system × rater"] / raters + shared / units + p["residual"] / (units * ratings)


def generalise(source: Pool | Digest | str, document: bool = False) -> Facets:
    """Components of variance by the method of moments: unbiased for any assignment of raters to segments.

    Refused where raters did not rate several documents, and different ones. `document`: take documents, not segments, as what raters rate, each as heavy as it is long; segments of a document
    hang together, so errors of means follow from these. Only pairs from different documents count as apart in any
    case. Where no segment has two raters, "system × segment" is part of "residual", and the parts without "system" are
    NaN.

    >>> found = generalise("ende22")
    >>> {name: x.diagonal().round(3).tolist() for name, x in found.parts.items()}["system"], round(found.beta, 3)
    ([0.051, 0.003], 0.942)
    """
    pool = annotated_of(source)
    seen, documents = by_rater(pool), document_numbers(pool)
    k, l = np.triu_indices(len(pool.systems), 1)
    r, n = np.nonzero((~np.isnan(seen[:, 0])).sum(axis=1) > 1)
    rows = seen[r, :, :, n]  # (rows, 2, K)
    if not len(rows):
        raise DataError(
            f"{pool.name}: nobody rated two systems on one segment; components are told from such contrasts"
        )
    gap = rows[:, :, k] - rows[:, :, l]
    there = (~np.isnan(gap[:, 0])).astype(np.float64)
    gap = np.nan_to_num(gap)
    unit, d = (documents if document else np.arange(len(documents)))[n], documents[n]

    def within(*keys: NDArray[np.int64]) -> Array:
        """Σ products of contrasts over all ordered pairs of rows that share the keys, a row with itself among them."""
        order = np.lexsort(keys) if keys else np.arange(len(gap))
        new = np.zeros(len(gap), dtype=bool)
        new[0] = True
        for key in keys:
            new[1:] |= np.diff(key[order]) != 0
        sums, count = (np.add.reduceat(x[order], np.flatnonzero(new), axis=0) for x in (gap, there))
        return np.append(np.einsum("gxp,gyp->xy", sums, sums).ravel(), (count**2).sum())

    def mean(x: Array) -> Array:
        return x[:4].reshape(2, 2) / x[4] / 2 if x[4] > 0 else np.full((2, 2), np.nan)

    whole, of_document, of_rater, of_both = within(), within(d), within(r), within(r, d)
    of_unit, of_cell = (of_document, of_both) if document else (within(unit), within(r, unit))
    apart, alone = whole - of_document - of_rater + of_both, of_rater - of_both
    if min(apart[4], alone[4]) <= 0:
        raise DataError(
            f"{pool.name}: two raters, on different documents, and one of them on two, are needed to compare"
        )
    system = mean(apart)
    with_rater = mean(alone) - system
    with_segment = mean(of_unit - of_cell) - system
    residual = mean(of_cell) - system - with_rater - np.nan_to_num(with_segment)
    severity = _severity(seen, documents) if not document else np.full((3, 2, 2), np.nan)
    size = len(pool.systems)
    rater = severity[0] - with_rater / size
    with_both = severity[1] - severity[0] - residual / size
    segment = severity[2] - with_segment / size
    parts = dict(zip(PARTS, (system, rater, segment, with_rater, with_segment, with_both, residual), strict=True))
    load = np.bincount(r)
    length = np.bincount(pd.factorize(unit)[0], weights=1 / np.bincount(n)[n])  # segments of each unit
    return Facets(parts, length.sum() ** 2 / (length**2).sum(), load.sum() ** 2 / (load**2).sum(), size)


def _severity(seen: Array, documents: NDArray[np.int64]) -> Array:
    """Three mean products (3, 2, 2) of row means, from segments that two raters saw from all systems; NaN without any.

    Of the raters' differences on two segments apart, and on the same, halved; and of two raters' changes from one
    segment to another apart, halved. What they hold of parts with "system" is K times smaller, and left to the caller.
    """
    full = whole_rows(seen)
    level = seen.mean(axis=2)  # (R, 2, N), NaN where not all systems are there
    total, count = np.zeros((3, 2, 2)), np.zeros(3)
    for one, two in zip(*np.triu_indices(len(seen), 1), strict=True):
        both = full[one] & full[two]
        if not both.any():
            continue
        x, y, n = level[one][:, both], level[two][:, both], int(both.sum())
        found, gap = Documents.of(documents[both].tolist(), n), x - y
        size = found.size
        apart = n**2 - (size**2).sum()  # ordered pairs of segments in different documents
        by_document = found.sums(gap)
        total[0] += np.outer(gap.sum(axis=1), gap.sum(axis=1)) - by_document @ by_document.T
        total[1] += gap @ gap.T
        # Σ over pairs of (x_i − x_j)(y_i − y_j): n Σ x y − Σ x Σ y, of all minus of each document
        cross = n * x @ y.T - np.outer(x.sum(axis=1), y.sum(axis=1))
        cross -= (x * size[found.number]) @ y.T - found.sums(x) @ found.sums(y).T
        total[2] += cross + cross.T
        count += apart, n, apart
    return np.where(count > 0, 1.0, np.nan)[:, None, None] * total / np.maximum(count, 1)[:, None, None] / 2


def rater_plan(
    source: Pool | Digest | str,
    raters: Sequence[float] = (2, 4, 8, 16),
    ratings: Sequence[float] = (1, 2, 3),
    text: Sequence[float] = (1, 2),
) -> pd.DataFrame:
    """How well β₀ would be known by other plans: so many raters in all, ratings a cell, times as much text.

    From `generalise` on documents. Columns raters, ratings, text; beta0, the mean of what the plan would find, and sd:
    both over `DRAWS` draws of errors with the plan's covariance, on systems that are placed as here and differ as much
    as they do in truth. The systems stay; raters and documents are drawn. Refused where a variance of the systems is
    not positive.

    >>> rater_plan("ende22", raters=[7], text=[1])[["ratings", "sd"]].round(3)
       ratings     sd
    0        1  0.017
    1        2  0.014
    2        3  0.013
    """
    pool = annotated_of(source)
    found = generalise(pool, document=True)
    if np.isnan(found.beta):
        raise DataError(
            f"{pool.name}: what its systems differ by cannot be told from noise; no plan can be judged by it"
        )
    for name, asked in (("raters", raters), ("ratings", ratings), ("text", text)):
        if not all(value > 0 for value in asked):
            raise ValueError(f"{name} are {list(asked)}; positive numbers are expected")
    systems = np.array(need_aspects(pool))
    systems -= systems.mean(axis=1, keepdims=True)
    systems *= np.sqrt(np.diag(found.parts["system"]) / systems.var(axis=1, ddof=1))[:, None]
    noise = np.random.default_rng(SEED).normal(size=(DRAWS, systems.shape[1], 2))
    rows = []
    for r, m, longer in product(raters, ratings, text):
        values, vectors = np.linalg.eigh(found.error(r, m, longer * found.units))
        drawn = systems.T + noise @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
        a, f = drawn.var(axis=1).T
        beta = a / (a + f)
        rows.append((r, m, longer, beta.mean(), beta.std()))
    return pd.DataFrame(rows, columns=["raters", "ratings", "text", "beta0", "sd"])


def more_ratings(tau: float, before: float, after: float) -> float:
    """Kendall's τ between rankings that rest on `before` and on `after` ratings a cell, from `tau` between single ratings.

    If the SPAs that scorers would have with endless ratings are normal, and so is what single ratings add, then
    τ = 2/π · arcsin of a correlation (Greiner), and averaging m ratings divides what they add by m (Spearman, Brown).

    >>> round(more_ratings(0.8, 1, 1), 9), round(more_ratings(0.8, 3, 3), 3)
    (0.8, 0.883)
    """
    if not 0 < tau <= 1 or min(before, after) <= 0:
        raise ValueError(
            f"tau is {tau}, ratings are {before} and {after}; 0 < tau ≤ 1 and positive ratings are expected"
        )
    single = np.sin(np.pi * tau / 2)
    noise = 1 / single - 1  # of one rating, over the variance of what all of them would give
    return float(2 / np.pi * np.arcsin(1 / np.sqrt((1 + noise / before) * (1 + noise / after))))


def positive(x: Array) -> Array:
    """The nearest covariance matrix: what has a negative variance in some direction has none there.

    >>> positive(np.array([[2.0, 0.0], [0.0, -1.0]]))
    array([[2., 0.],
           [0., 0.]])
    """
    values, vectors = np.linalg.eigh((x + x.T) / 2)
    out: Array = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return out
