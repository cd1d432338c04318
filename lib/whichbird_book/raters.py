"""Who rates decides: how far β₀ depends on the people who rated, what their habits are and where they agree.

β₀ asks how far systems differ, so raters are compared on segments that they saw from all systems: there a rater's
severity and a segment's difficulty are the same for each of them. What varies with the text is told from what varies
with the rater by the others' ratings of the same segments, and by leaving out documents, whose segments hang together.
`facets` splits the variance itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whichbird.core.balance import balance
from whichbird.core.check import Array, DataError
from whichbird.core.noise import interval, spread
from whichbird.data.digest import Digest
from whichbird.data.pool import Pool, Rating
from whichbird.study.components import cell_components
from whichbird.study.contest import need_aspects
from whichbird.study.intervals import Documents, numbered, quantile
from whichbird.study.significance import LEVEL, annotated_of

LEAST = 40  # segments that a rater saw from all systems, for a balance of his or her own to mean something
ASPECT = slice(1, 3)  # of the four kinds: adequacy alone, fluency alone
SEED = 16


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


def taken_off(pool: Pool) -> Array:
    """`by_rater` of ratings that take points off, 0 for nothing to blame; scores above 0 are refused."""
    seen = by_rater(pool)
    if np.nanmax(seen) > 0:
        raise DataError(f"{pool.name} has scores up to {np.nanmax(seen):g}; points taken off, at most 0, are expected")
    return seen


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


def jackknife(values: Array) -> float:
    """The standard error of a quantity from its G values with one document left out each time."""
    return float(np.sqrt((values.size - 1) * values.var()))


def lean_of_sums(sums: Array, size: Array, weights: Array) -> Lean:
    """`lean` from sums over documents (L, 2, K, G) and their sizes (G,); NaN where systems do not differ in an aspect."""
    if size.size < 2:
        raise ValueError(f"{size.size} document; at least two are needed to leave one out")
    whole = sums.sum(axis=-1, keepdims=True)
    means = np.concatenate([whole / size.sum(), (whole - sums) / (size.sum() - size)], axis=-1)
    spread = means.var(axis=2)  # (L, 2, 1 + G)
    if spread.min() <= 0:
        return Lean(np.nan, np.nan, size.size)
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
    found = Documents.of(documents.tolist(), len(documents))
    return lean_of_sums(found.sums(layers), found.size, w)


def rater_balances(source: Pool | Digest | str, level: float = LEVEL) -> pd.DataFrame:
    """β₀ of each rater alone, and of the others on the very same segments.

    One row per rater with at least `LEAST` segments seen from all systems. Columns: rater; segments, documents; beta0;
    beta, low, high, without noise and its interval over documents, as `components` has them. Where others rated
    `LEAST` of these segments, too: others, β₀ of their ratings there, one a cell (the mean log-odds over second and
    third ones); rater_effect, the log-odds of the rater minus theirs, rater_low, rater_high; text_effect, the rest of
    the rater's distance from everybody on all segments. NaN elsewhere, and where it cannot be told: a rater who never
    marks fluency has β₀ = 1, whose log-odds are endless, and an interval that rules out nothing.

    >>> rater_balances("ende22")[["rater", "segments", "beta0", "others", "rater_effect"]].round(3).head(2)
        rater  segments  beta0  others  rater_effect
    0  rater1       563  0.930   0.924         0.079
    1  rater2       564  0.858   0.911        -0.525
    """
    pool = annotated_of(source)
    seen, documents = by_rater(pool), document_numbers(pool)
    full = whole_rows(seen)
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
        row = {"rater": pool.rater_names[r], "segments": where.size, "documents": np.unique(where).size}
        if np.ptp(mine, axis=(1, 2)).min() > 0:
            own = cell_components(mine[0], mine[1], where.tolist(), pool.systems, pool.name, level)
            beta = np.nan if own.beta is None else own.beta
            row |= {"beta0": own.beta0, "beta": beta, "low": own.low, "high": own.high}
        else:
            a, f = mine.mean(axis=2).var(axis=1)
            row |= {"beta0": a / (a + f) if a + f > 0 else np.nan, "beta": np.nan, "low": 0.0, "high": 1.0}
        both, layers, weights = beside_others(seen, r)
        if enough(both, documents):
            others, apart = lean(layers[1:], documents[both]), lean(layers, documents[both], weights)
            low, high = apart.interval(level)
            row |= {
                "others": 1 / (1 + np.exp(-others.log_odds)),
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
    full = whole_rows(seen)
    rest = full & (np.arange(len(full)) != r)[:, None]
    both: NDArray[np.bool_] = full[r] & rest.any(axis=0)
    if not both.any():
        return both, seen[None, r][..., both], np.ones(1)
    layers = np.concatenate([seen[None, r][..., both], _layers(seen, rest, both)])
    return both, layers, np.array([1.0, *np.full(len(layers) - 1, -1 / (len(layers) - 1))])


def rater_habits(source: Pool | Digest | str) -> pd.DataFrame:
    """How much each rater takes off beside the others, on the very same cells.

    One row per rater who shares cells with others: rater; cells; adequacy, fluency: points taken off over those the
    others take off the same cells on average; both: the same of their sum, the rater's severity. 1 is like the others,
    NaN where the others take off nothing.

    >>> rater_habits("ende22").round(2).head(2)
        rater  cells  adequacy  fluency  both
    0  rater1   7319      0.96     0.67  0.86
    1  rater2   7332      0.65     0.70  0.66
    """
    pool = annotated_of(source)
    seen = taken_off(pool)
    there = ~np.isnan(seen[:, 0])  # (R, K, N)
    whole, many = np.nansum(seen, axis=0), there.sum(axis=0)
    rows = []
    for r, mine in enumerate(there):
        shared = mine & (many > 1)
        if shared.any():
            own = seen[r][:, shared]
            others = (whole[:, shared] - own) / (many[shared] - 1)
            points, theirs = (np.append(x.sum(axis=1), x.sum()) for x in (own, others))
            ratio = np.divide(points, theirs, out=np.full(3, np.nan), where=theirs < 0)
            rows.append((pool.rater_names[r], int(shared.sum()), *(ratio + 0.0)))
    if not rows:
        raise DataError(f"{pool.name}: no cell has two ratings; raters can be compared only on cells they share")
    return pd.DataFrame(rows, columns=["rater", "cells", "adequacy", "fluency", "both"])


# --- which aspect an error belongs to


class Agreement(NamedTuple):
    """What two raters of the same cell see: nothing, adequacy alone, fluency alone, both.

    `table` (4, 4): the share of pairs of ratings of a cell, symmetric, in this order. `alpha`: Krippendorff's, for the
    four kinds; `aspect`: the same where each of the two took points off one aspect alone: 1 if it is always the same
    aspect, 0 if it is as often as by chance. Intervals over documents. NaN where no pair is of that kind, or all are alike.
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
    pool = annotated_of(source)
    seen, documents = taken_off(pool), document_numbers(pool)
    many = (~np.isnan(seen[:, 0])).sum(axis=0)
    if many.max() < 2:
        raise DataError(f"{pool.name}: no cell has two ratings; agreement is about cells that two raters share")
    sums = coincidences(seen, documents)
    size = sums.shape[-1]
    if size < 2:
        raise ValueError(f"{pool.name} has {size} document; at least two are needed to leave one out")
    ends: list[float] = []
    for part in ASPECT, slice(0, 4):
        value, se = agreement_of_sums(sums[part, part])
        reach = quantile(level, size) * se
        ends += [value, value - reach, value + reach]
    whole = sums.sum(axis=-1)
    one = whole[ASPECT, ASPECT]
    same = float(np.trace(one) / one.sum()) if one.sum() > 0 else np.nan
    return Agreement(whole / whole.sum(), float(one.sum()), same, *ends)


def coincidences(seen: Array, documents: NDArray[np.int64]) -> Array:
    """Pairs of ratings of a cell by what the two saw, in each document: (4, 4, G), both orders, weights as said above."""
    there = ~np.isnan(seen[:, 0])
    kind = (seen[:, 0] < 0) + 2 * (seen[:, 1] < 0)  # (R, K, N)
    codes = np.array([(kind == c) & there for c in range(4)]).sum(axis=1).astype(np.float64)  # (4, K, N)
    many = there.sum(axis=0)
    weight = np.where(many > 1, 1 / np.maximum(many - 1, 1), 0.0)
    pairs = np.einsum("xkn,ykn->xyn", codes, codes * weight)
    pairs[np.arange(4), np.arange(4)] -= np.einsum("xkn,kn->xn", codes, weight)  # no rating is paired with itself
    return Documents.of(documents.tolist(), len(documents)).sums(pairs)


def agreement_of_sums(sums: Array) -> tuple[float, float]:
    """`chance_corrected` of the sum of tables (C, C, G), and its standard error over documents."""
    whole = sums.sum(axis=-1)
    return float(chance_corrected(whole)), jackknife(chance_corrected(np.moveaxis(whole[..., None] - sums, -1, 0)))


def chance_corrected(table: Array) -> Array:
    """Krippendorff's α for kinds, from symmetric tables (…, C, C) of pairs: 1 − observed over expected disagreement.

    Expected is what two ratings drawn from all ratings differ by. NaN where all ratings are of one kind.

    >>> float(chance_corrected(np.array([[4.0, 1.0], [1.0, 4.0]])).round(4))
    0.64
    """
    each = table.sum(axis=-1)
    count = each.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = 1 - (each * (each - 1)).sum(axis=-1) / (count * (count - 1))
        observed = 1 - np.trace(table, axis1=-2, axis2=-1) / count
        return np.asarray(np.where(expected > 0, 1 - observed / expected, np.nan))


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
    pool = annotated_of(pool)
    seen, number = by_rater(pool), document_numbers(pool)
    rows = []

    def draw_documents(size: int, times: int) -> NDArray[np.int64]:
        return rng.integers(0, size, size=(times, size))

    def covered(what: str, found: Callable[..., tuple[float, ...]], *sums: Array) -> None:
        """Apply `found` to resampled sums over documents (…, G); add how often its interval covers the true value to `rows`."""
        size = sums[0].shape[-1]
        true = np.mean([found(*(x[..., d] for x in sums))[0] for d in draw_documents(size, truth)])
        drawn = draw_documents(size, contests)
        value, se = np.array([found(*(x[..., d] for x in sums))[:2] for d in drawn]).T
        rows.append((what, (np.abs(value - true) <= quantile(LEVEL, size) * se).mean()))

    for r in range(len(seen)):
        own = ~np.isnan(seen[r, 0]).any(axis=0)
        if enough(own, number):
            mine = Documents.of(number[own].tolist(), int(own.sum()))
            size, sums = mine.size, mine.sums(seen[r][..., own]).swapaxes(1, 2)  # (2, G, K)
            counts = np.repeat(size[:, None], sums.shape[2], axis=1)
            drawn = draw_documents(size.size, contests)
            low, high = interval(spread(sums[:, drawn].swapaxes(0, 1), counts[drawn]), quantile(LEVEL, size.size))
            true = balance(*(sums.sum(axis=1) / size.sum()))
            rows.append(("balance", ((low <= true) & (true <= high)).mean()))
        both, layers, weights = beside_others(seen, r)
        if enough(both, number):
            shared = Documents.of(number[both].tolist(), int(both.sum()))
            covered("rater effect", partial(lean_of_sums, weights=weights), shared.sums(layers), shared.size)
    if pool.ratings:
        tables = coincidences(seen, number)
        for part in ASPECT, slice(0, 4):
            covered("agreement", agreement_of_sums, tables[part, part])
    table = pd.DataFrame(rows, columns=["quantity", "covered"]).groupby("quantity", sort=False)["covered"]
    out = table.agg(["mean", "min", "max"]).set_axis(["covered", "least", "most"], axis=1).reset_index()
    out.insert(0, "dataset", pool.name)
    return out.assign(contests=contests)


# --- helpers


def document_numbers(pool: Pool) -> NDArray[np.int64]:
    """The number of each segment's document; without documents each segment is one."""
    return numbered(pool.documents, len(pool.lines))


def whole_rows(seen: Array) -> NDArray[np.bool_]:
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
