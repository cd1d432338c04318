"""Who rates decides: how far β₀ and rankings depend on the people who rated, and how many of them would settle it.

A *row* is what one rater gave to all systems on one segment: two vectors over K systems. Rows of the same rater share
habits, rows of the same segment share a text, rows of one document hang together. β₀ asks how far systems differ, so
everything here rests on contrasts within rows, the score of one system minus that of another: they are free of a
rater's severity and of a segment's difficulty. What severity and difficulty themselves amount to is told apart.

Two rows from different documents by different raters share nothing but the systems, so the mean product of their
contrasts is the systems' own variance, without noise; two by the same rater add what system and rater have between
them; two of the same segment, what system and segment have; a row with itself, everything. That is generalisability
theory by the method of moments: unbiased whoever rated what, as long as who rates is not chosen by what is to be
seen; and in balanced designs the analysis of variance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..core.balance import balance
from ..core.check import Array, DataError
from ..core.noise import interval, spread
from ..data.digest import Digest
from ..data.pool import Pool, Rating
from .components import cell_components
from .contest import need_aspects
from .intervals import quantile
from .significance import LEVEL, pool_of

LEAST = 40  # segments that a rater saw from all systems, for a balance of his or her own to mean something
PARTS = ("system", "rater", "segment", "system × rater", "system × segment", "rater × segment", "residual")
ASPECT = slice(1, 3)  # of the four kinds: adequacy alone, fluency alone
DRAWS, SEED = 4000, 16


def by_rater(pool: Pool) -> Array:
    """Adequacy and fluency as each of the R raters gave them: (R, 2, K, N), NaN where he or she gave none.

    A pool without raters, or with one, is refused: there is nobody to compare.

    >>> from whichbird import load_pool
    >>> by_rater(load_pool("ende22")).shape
    (7, 2, 13, 1315)
    """
    need_aspects(pool)
    out = np.full((len(pool.rater_names), 2, *pool.total.shape), np.nan)
    for rating in pool.ratings or (pool,):
        if rating.raters is None or rating.adequacy is None or rating.fluency is None:
            continue
        k, n = np.nonzero((rating.raters >= 0) & ~np.isnan(rating.adequacy))
        r = rating.raters[k, n]
        out[r, 0, k, n], out[r, 1, k, n] = rating.adequacy[k, n], rating.fluency[k, n]
    known = int((~np.isnan(out[:, 0])).any(axis=(1, 2)).sum())
    if known < 2:
        who = "its ratings name no rater" if known == 0 else "one rater gave all of its ratings"
        raise DataError(f"{pool.name}: {who}; at least two raters are needed to compare them")
    return out


def dealt(pool: Pool, seed: int = SEED) -> tuple[Rating, ...]:
    """The ratings of a pool dealt anew into rounds: the first rating of every cell, the second, …

    In each document the raters come in an order drawn at random, so that every round is as much everybody's as it can
    be. As files have them, rounds are often the first rater's, the second's, … A pool with one rating a cell is refused.

    >>> from whichbird import balance, load_pool
    >>> [balance(*(np.nanmean(x, axis=1) for x in r[:2])).__round__(3) for r in dealt(load_pool("ende22"))]
    [0.942, 0.949, 0.922]
    """
    if len(pool.ratings) < 2:
        raise DataError(f"{pool.name} has one rating a cell; at least two are needed to deal them into rounds")
    by_rater(pool)
    order = np.random.default_rng(seed).random((document_numbers(pool).max() + 1, len(pool.rater_names)))
    every = np.array([(r.adequacy, r.fluency, r.total) for r in pool.ratings])  # (Q, 3, K, N)
    raters = np.array([r.raters for r in pool.ratings])
    key = np.where(
        np.isnan(every[:, 0]), np.inf, order[document_numbers(pool), raters]
    )  # a rater nobody named: the last's
    place = np.argsort(key, axis=0, kind="stable")
    every = np.take_along_axis(every, place[:, None], axis=0)
    raters = np.take_along_axis(raters, place, axis=0)
    return tuple(Rating(a, f, t, r) for (a, f, t), r in zip(every, raters, strict=True))


# --- β₀ of raters


class Lean(NamedTuple):
    """log σ²(a) / σ²(f), the log-odds of β₀, or a difference of two; its standard error over so many documents."""

    log_odds: float
    se: float
    documents: int

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Around the log-odds, by Student's t. What it is to hold is their mean over as many other documents."""
        t = quantile(level, self.documents) * self.se
        return self.log_odds - t, self.log_odds + t


def document_sums(x: Array, documents: NDArray[np.int64]) -> Array:
    """Sums over the segments of each document: (…, n) and numbers (n,) → (…, G), documents in order of their numbers.

    >>> document_sums(np.array([[1.0, 2.0, 4.0]]), np.array([7, 3, 7]))
    array([[2., 5.]])
    """
    number = np.unique(documents, return_inverse=True)[1]
    member = np.zeros((number.size, number.max() + 1))
    member[np.arange(number.size), number] = 1.0
    sums: Array = x @ member
    return sums


def jackknife(values: Array) -> float:
    """The standard error of a quantity from its G values with one document left out each time."""
    return float(np.sqrt((values.size - 1) * values.var()))


def lean_of_sums(sums: Array, size: Array, weights: Array) -> Lean:
    """`lean` from sums over documents (L, 2, K, G) and their sizes (G,)."""
    if size.size < 2:
        raise ValueError(f"{size.size} document; at least two are needed to leave one out")
    whole = sums.sum(axis=-1, keepdims=True)
    means = np.concatenate([whole / size.sum(), (whole - sums) / (size.sum() - size)], axis=-1)
    spread = means.var(axis=2)  # (L, 2, 1 + G)
    if spread.min() <= 0:
        raise ValueError("all systems have the same adequacy, or the same fluency; their lean has no log-odds")
    odds = weights @ np.log(spread[:, 0] / spread[:, 1])
    return Lean(float(odds[0]), jackknife(odds[1:]), size.size)


def lean(layers: Array, documents: NDArray[np.int64], weights: Array | None = None) -> Lean:
    """The weighted sum of the log-odds of L layers (L, 2, K, n) of adequacy and fluency without gaps; their mean if None.

    `documents` (n,) numbers the document of each segment. The standard error is the jackknife's: each document is left
    out once, from all layers. Weights 1, −1 compare two layers, segment by segment.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(1, 2, 5, 60)) + np.arange(5)[:, None] * np.array([[[1.0]], [[0.5]]])
    >>> found = lean(x, np.arange(60) // 3)
    >>> round(found.log_odds, 2), [round(end, 2) for end in found.interval()]
    (1.26, [0.93, 1.59])
    """
    w = np.full(len(layers), 1 / len(layers)) if weights is None else weights
    return lean_of_sums(document_sums(layers, documents), document_sums(np.ones(len(documents)), documents), w)


def rater_balances(source: Pool | Digest | str, level: float = LEVEL) -> pd.DataFrame:
    """β₀ of each rater alone, and of the others on the very same segments.

    One row per rater with at least `LEAST` segments seen from all systems. Columns: rater; segments, documents; beta0;
    beta, low, high, without noise and its interval over documents, as `components` has them. Where others rated
    `LEAST` of these segments, too: others, β₀ of their ratings there, one a cell (the mean log-odds over second and
    third ones); rater_effect, the log-odds of the rater minus theirs, rater_low, rater_high; text_effect, the rest of
    the rater's distance from everybody on all segments. NaN elsewhere, and in `beta` where it cannot be told.

    >>> rater_balances("ende22")[["rater", "segments", "beta0", "others", "rater_effect"]].round(3).head(2)
        rater  segments  beta0  others  rater_effect
    0  rater1       563  0.930   0.924         0.079
    1  rater2       564  0.858   0.911        -0.525
    """
    pool = pool_of(source)
    seen, documents = by_rater(pool), document_numbers(pool)
    full = _full(seen)
    kept = [r for r in range(len(seen)) if enough(full[r], documents)]
    if not kept:
        raise DataError(
            f"{pool.name}: no rater saw {LEAST} segments from all systems; a rater's own balance needs that"
        )
    anybody = np.asarray(full.any(axis=0))
    everybody = lean(_layers(seen, full, anybody), documents[anybody])
    table = []
    for r in kept:
        mine, where = seen[r][..., full[r]], documents[full[r]]
        name = f"{pool.name}, {pool.rater_names[r]}"
        own = cell_components(mine[0], mine[1], where.tolist(), pool.systems, name, level)
        beta = np.nan if own.beta is None else own.beta
        row = {"rater": pool.rater_names[r], "segments": own.segments, "documents": own.documents}
        row |= {"beta0": own.beta0, "beta": beta, "low": own.low, "high": own.high}
        both, layers, weights = beside_others(seen, r)
        if enough(both, documents):
            others, apart = lean(layers[1:], documents[both]), lean(layers, documents[both], weights)
            low, high = apart.interval(level)
            row |= {
                "others": _beta(others.log_odds),
                "rater_effect": apart.log_odds,
                "rater_low": low,
                "rater_high": high,
            }
            row["text_effect"] = lean(mine[None], where).log_odds - everybody.log_odds - apart.log_odds
        table.append(row)
    return pd.DataFrame(table)


def beside_others(seen: Array, r: int) -> tuple[NDArray[np.bool_], Array, Array]:
    """Rater r beside the others: the segments that he or she and others saw from all systems (N,), layers, weights.

    The first of the 1 + L layers (1 + L, 2, K, n) is rater r's; the others hold ratings of the same segments by others,
    one a cell, taken in turn where a segment has fewer. Weights 1, −1/L, … compare.
    """
    full = _full(seen)
    rest = full & (np.arange(len(full)) != r)[:, None]
    both: NDArray[np.bool_] = full[r] & rest.any(axis=0)
    if not both.any():
        return both, seen[None, r][..., both], np.ones(1)
    layers = np.concatenate([seen[None, r][..., both], _layers(seen, rest, both)])
    return both, layers, np.array([1.0, *np.full(len(layers) - 1, -1 / (len(layers) - 1))])


def rater_habits(source: Pool | Digest | str) -> pd.DataFrame:
    """How much each rater takes off beside the others, on the very same cells.

    One row per rater who shares cells with others: rater; cells; adequacy, fluency: points taken off over those the
    others take off the same cells on average; both: the same of their sum, the rater's severity. 1 is like the others.

    >>> rater_habits("ende22").round(2).head(2)
        rater  cells  adequacy  fluency  both
    0  rater1   7319      0.96     0.67  0.86
    1  rater2   7332      0.65     0.70  0.66
    """
    pool = pool_of(source)
    seen = by_rater(pool)
    there = ~np.isnan(seen[:, 0])  # (R, K, N)
    whole, many = np.nansum(seen, axis=0), there.sum(axis=0)
    rows = []
    for r, mine in enumerate(there):
        shared = mine & (many > 1)
        if shared.any():
            own = seen[r][:, shared]
            others = (whole[:, shared] - own) / (many[shared] - 1)
            a, f = own.sum(axis=1) / others.sum(axis=1)
            rows.append((pool.rater_names[r], int(shared.sum()), a, f, own.sum() / others.sum()))
    if not rows:
        raise DataError(f"{pool.name}: no cell has two ratings; raters can be compared only on cells they share")
    return pd.DataFrame(rows, columns=["rater", "cells", "adequacy", "fluency", "both"])


# --- components of variance


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

    `document`: take documents, not segments, as what raters rate, each as heavy as it is long; segments of a document
    hang together, so errors of means follow from these. Only pairs from different documents count as apart in any
    case. Where no segment has two raters, "system × segment" is part of "residual", and the parts without "system" are
    NaN.

    >>> found = generalise("ende22")
    >>> {name: x.diagonal().round(3).tolist() for name, x in found.parts.items()}["system"], round(found.beta, 3)
    ([0.051, 0.003], 0.942)
    """
    pool = pool_of(source)
    seen, documents = by_rater(pool), document_numbers(pool)
    k, l = np.triu_indices(len(pool.systems), 1)
    r, n = np.nonzero((~np.isnan(seen[:, 0])).sum(axis=1) > 1)
    rows = seen[r, :, :, n]  # (rows, 2, K)
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
    system = mean(whole - of_document - of_rater + of_both)
    with_rater = mean(of_rater - of_both) - system
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
    full = _full(seen)
    level = seen.mean(axis=2)  # (R, 2, N), NaN where not all systems are there
    total, count = np.zeros((3, 2, 2)), np.zeros(3)
    for one, two in zip(*np.triu_indices(len(seen), 1), strict=True):
        both = full[one] & full[two]
        if not both.any():
            continue
        x, y, d = level[one][:, both], level[two][:, both], pd.factorize(documents[both])[0]
        member = np.zeros((d.size, d.max() + 1))
        member[np.arange(d.size), d] = 1.0
        size, gap = member.sum(axis=0), x - y
        apart = d.size**2 - (size**2).sum()  # ordered pairs of segments in different documents
        by_document = gap @ member
        total[0] += np.outer(gap.sum(axis=1), gap.sum(axis=1)) - by_document @ by_document.T
        total[1] += gap @ gap.T
        # Σ over pairs of (x_i − x_j)(y_i − y_j): n Σ x y − Σ x Σ y, of all minus of each document
        cross = d.size * x @ y.T - np.outer(x.sum(axis=1), y.sum(axis=1))
        cross -= (x * size[d]) @ y.T - (x @ member) @ (y @ member).T
        total[2] += cross + cross.T
        count += apart, d.size, apart
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
    pool = pool_of(source)
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


# --- which aspect an error belongs to


class Agreement(NamedTuple):
    """What two raters of the same cell see: nothing, adequacy alone, fluency alone, both.

    `table` (4, 4): the share of pairs of ratings of a cell, symmetric, in this order. `alpha`: Krippendorff's, for the
    four kinds; `aspect`: the same where each of the two took points off one aspect alone: 1 if it is always the same
    aspect, 0 if it is as often as by chance. Intervals over documents.
    """

    table: Array
    cells: float  # what `aspect` rests on: ratings of one aspect alone, beside others of that kind
    same: float  # the share of those that name the same aspect
    aspect: float
    aspect_low: float
    aspect_high: float
    alpha: float
    alpha_low: float
    alpha_high: float


def aspect_agreement(source: Pool | Digest | str, level: float = LEVEL) -> Agreement:
    """Do two raters of a cell see the same aspect hurt? Every pair of ratings of a cell counts; see `Agreement`.

    A cell with m ratings has m (m − 1) ordered pairs, and each weighs 1 / (m − 1). Intervals are the jackknife's.

    >>> found = aspect_agreement("ende22")
    >>> round(found.cells), round(found.same, 2), round(found.aspect, 2), round(found.alpha, 2)
    (11130, 0.75, 0.46, 0.3)
    """
    pool = pool_of(source)
    seen, documents = by_rater(pool), document_numbers(pool)
    many = (~np.isnan(seen[:, 0])).sum(axis=0)
    if many.max() < 2:
        raise DataError(f"{pool.name}: no cell has two ratings; agreement is about cells that two raters share")
    sums = coincidences(seen, documents)
    if len(sums) < 2:
        raise ValueError(f"{pool.name} has {len(sums)} document; at least two are needed to leave one out")
    ends: list[float] = []
    for part in ASPECT, slice(0, 4):
        value, se = agreement_of_sums(sums[:, part, part])
        reach = quantile(level, len(sums)) * se
        ends += [value, value - reach, value + reach]
    whole = sums.sum(axis=0)
    one = whole[ASPECT, ASPECT]
    return Agreement(whole / whole.sum(), float(one.sum()), float(np.trace(one) / one.sum()), *ends)


def coincidences(seen: Array, documents: NDArray[np.int64]) -> Array:
    """Pairs of ratings of a cell by what the two saw, in each document: (G, 4, 4), both orders, weights as said above."""
    there = ~np.isnan(seen[:, 0])
    kind = (seen[:, 0] < 0) + 2 * (seen[:, 1] < 0)  # (R, K, N)
    codes = np.array([(kind == c) & there for c in range(4)]).sum(axis=1).astype(np.float64)  # (4, K, N)
    many = there.sum(axis=0)
    weight = np.where(many > 1, 1 / np.maximum(many - 1, 1), 0.0)
    pairs = np.einsum("xkn,ykn->xyn", codes, codes * weight)
    pairs[np.arange(4), np.arange(4)] -= np.einsum("xkn,kn->xn", codes, weight)  # no rating is paired with itself
    return np.moveaxis(document_sums(pairs, documents), -1, 0)


def agreement_of_sums(sums: Array) -> tuple[float, float]:
    """`chance_corrected` of the sum of tables (G, C, C), and its standard error over documents."""
    whole = sums.sum(axis=0)
    return float(chance_corrected(whole)), jackknife(chance_corrected(whole - sums))


def chance_corrected(table: Array) -> Array:
    """Krippendorff's α for kinds, from symmetric tables (…, C, C) of pairs: 1 − observed over expected disagreement.

    Expected is what two ratings drawn from all ratings differ by. NaN where all ratings are of one kind.

    >>> float(chance_corrected(np.array([[4.0, 1.0], [1.0, 4.0]])).round(4))
    0.64
    """
    each = table.sum(axis=-1)
    count = each.sum(axis=-1)
    expected = 1 - (each * (each - 1)).sum(axis=-1) / (count * (count - 1))
    observed = 1 - np.trace(table, axis1=-2, axis2=-1) / count
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(expected > 0, 1 - observed / expected, np.nan))


def positive(x: Array) -> Array:
    """The nearest covariance matrix: what has a negative variance in some direction has none there.

    >>> positive(np.array([[2.0, 0.0], [0.0, -1.0]]))
    array([[2., 0.],
           [0., 0.]])
    """
    values, vectors = np.linalg.eigh((x + x.T) / 2)
    out: Array = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return out


# --- what intervals cover


def rater_coverage(pool: Pool, contests: int = 300, truth: int = 1000, seed: int = 1) -> pd.DataFrame:
    """How often the intervals of this module hold the truth, where the world consists of the documents of a real pool.

    Quantities: "balance", β₀ of each rater alone, whose truth is that of all the documents; "rater effect", beside the
    others on the same segments, and "agreement", on the aspect and on all four kinds, whose truth is the mean over
    `truth` other contests of this size. Columns dataset, quantity, covered (mean over raters), least, most, contests.

    >>> from whichbird import load_pool
    >>> rater_coverage(load_pool("ende22"), 2, 2)["quantity"].tolist()
    ['balance', 'rater effect', 'agreement']
    """
    rng = np.random.default_rng(seed)
    seen, number = by_rater(pool), document_numbers(pool)
    rows = []

    def draw_documents(size: int, times: int) -> NDArray[np.int64]:
        return rng.integers(0, size, size=(times, size))

    def covered(what: str, found: Callable[[NDArray[np.int64]], tuple[float, float]], size: int) -> None:
        true = np.mean([found(documents)[0] for documents in draw_documents(size, truth)])
        value, se = np.array([found(documents) for documents in draw_documents(size, contests)]).T
        rows.append((what, (np.abs(value - true) <= quantile(LEVEL, size) * se).mean()))

    for r in range(len(seen)):
        own = ~np.isnan(seen[r, 0]).any(axis=0)
        if enough(own, number):
            size = document_sums(np.ones(int(own.sum())), number[own])
            sums = document_sums(seen[r][..., own], number[own]).swapaxes(1, 2)  # (2, G, K)
            counts = np.repeat(size[:, None], sums.shape[2], axis=1)
            drawn = draw_documents(size.size, contests)
            low, high = interval(spread(sums[:, drawn].swapaxes(0, 1), counts[drawn]), quantile(LEVEL, size.size))
            true = balance(*(sums.sum(axis=1) / size.sum()))
            rows.append(("balance", ((low <= true) & (true <= high)).mean()))
        both, layers, weights = beside_others(seen, r)
        if enough(both, number):
            size = document_sums(np.ones(int(both.sum())), number[both])
            covered("rater effect", partial(_lean, document_sums(layers, number[both]), size, weights), size.size)
    if pool.ratings:
        tables = coincidences(seen, number)
        for part in ASPECT, slice(0, 4):
            covered("agreement", partial(_agreement, tables[:, part, part]), len(tables))
    table = pd.DataFrame(rows, columns=["quantity", "covered"]).groupby("quantity", sort=False)["covered"]
    out = table.agg(["mean", "min", "max"]).set_axis(["covered", "least", "most"], axis=1).reset_index()
    out.insert(0, "dataset", pool.name)
    return out.assign(contests=contests)


def _lean(sums: Array, size: Array, weights: Array, documents: NDArray[np.int64]) -> tuple[float, float]:
    found = lean_of_sums(sums[..., documents], size[documents], weights)
    return found.log_odds, found.se


def _agreement(sums: Array, documents: NDArray[np.int64]) -> tuple[float, float]:
    return agreement_of_sums(sums[documents])


# --- helpers


def document_numbers(pool: Pool) -> NDArray[np.int64]:
    """The number of each segment's document; without documents each segment is one."""
    if pool.documents is None:
        return np.arange(len(pool.lines))
    return np.asarray(pd.factorize(np.array(pool.documents))[0], dtype=np.int64)


def _full(seen: Array) -> NDArray[np.bool_]:
    """Which segments each rater saw from all systems: (R, N)."""
    return np.asarray(~np.isnan(seen[:, 0]).any(axis=1))


def enough(segments: NDArray[np.bool_], documents: NDArray[np.int64]) -> bool:
    """Whether these segments (N,) are enough for a balance: `LEAST` of them, from two documents."""
    return int(segments.sum()) >= LEAST and np.unique(documents[segments]).size > 1


def _layers(seen: Array, full: NDArray[np.bool_], segments: NDArray[np.bool_]) -> Array:
    """Ratings of these segments, one a cell in each layer, by the raters of `full` (R, N) in turn: (L, 2, K, n)."""
    at = np.flatnonzero(segments)
    many = full[:, at].sum(axis=0)
    order = np.argsort(~full[:, at], axis=0, kind="stable")  # the raters of each segment first
    return np.array([seen[order[q % many, np.arange(at.size)], :, :, at].transpose(1, 2, 0) for q in range(many.max())])


def _beta(log_odds: float) -> float:
    return float(1 / (1 + np.exp(-log_odds)))
