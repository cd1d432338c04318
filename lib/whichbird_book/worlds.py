"""What intervals cover: contests and pools from worlds whose truth is known, and the share of intervals that hold it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from tqdm import tqdm

from whichbird.core.check import Array, whole
from whichbird.core.noise import spread
from whichbird.data.digest import Digest
from whichbird.data.pool import Pool, pick
from whichbird.data.segments import pool_of
from whichbird.study.components import components, document_sums, ends
from whichbird.study.intervals import METHODS, Evidence, draw, evidence, quantile, rank_sets, resample
from whichbird.study.significance import LEVEL


class World(NamedTuple):
    """Where contests come from: `contest`(rng) draws one as `Evidence`; `betas` (B,) are the targets looked at."""

    name: str
    contest: Callable[[np.random.Generator], Evidence]
    betas: Array


def simulated(
    name: str, systems: int = 8, documents: int = 40, segments: int = 6, scorers: int = 5, together: float = 0.0,
    heavy: bool = False, seed: int = 0
) -> World:  # fmt: skip
    """A made world: systems have fixed qualities, scorers fixed whims; all else is drawn anew for each contest."""
    rng = np.random.default_rng(seed)
    quality = 0.25 * rng.normal(size=(2, systems, 1))
    share = np.linspace(0.2, 0.8, scorers)
    whim = 0.15 * rng.normal(size=(scorers, systems, 1))
    noise = np.linspace(0.5, 2.0, scorers)
    size = systems, documents * segments

    def contest(rng: np.random.Generator) -> Evidence:
        own = rng.normal(size=(2, *size))
        if heavy:  # most segments have no error, a few have many
            own = (
                1
                - rng.exponential(size=own.shape) * rng.exponential(size=own.shape) * (rng.random(own.shape) < 0.5) * 2
            )
        shared = together * np.repeat(rng.normal(size=(2, systems, documents)), segments, axis=2)
        aspect = quality + own + shared
        drift = together * np.repeat(rng.normal(size=(scorers, systems, documents)), segments, axis=2)
        x = share[:, None, None] * aspect[0] + (1 - share[:, None, None]) * aspect[1] + whim + drift
        x += noise[:, None, None] * rng.normal(size=x.shape)
        names = tuple(str(d) for d in np.repeat(np.arange(documents), segments))
        pool = Pool(
            name,
            tuple(map(str, range(systems))),
            np.arange(size[1]),
            size[1],
            aspect.sum(axis=0),
            aspect[0],
            aspect[1],
            documents=names,
        )
        return evidence(pool, x)

    beta = float(np.var(quality[0]) / np.var(quality, axis=(1, 2)).sum())
    return World(name, contest, np.array([max(0.2, beta - 0.12), beta, min(0.8, beta + 0.12)]))


def made_worlds() -> list[World]:
    """Four made worlds: segments that stand alone, documents that hang together, heavy tails, few documents.

    >>> [world.name for world in made_worlds()]
    ['independent', 'documents', 'heavy tails', 'few documents']
    """
    return [
        simulated("independent"),
        simulated("documents", together=0.5),
        simulated("heavy tails", heavy=True),
        simulated("few documents", documents=6, segments=40, together=0.25),
    ]


def drawn_from(pool: Pool, betas: ArrayLike) -> World:
    """A world that consists of the documents of a real pool, each contest a draw of as many, with replacement."""
    whole = evidence(pool, np.array(list(pool.scored.values())))

    def contest(rng: np.random.Generator) -> Evidence:
        return whole.take(rng.integers(0, whole.size.size, size=whole.size.size))

    return World(pool.name, contest, np.asarray(betas, dtype=np.float64))


def coverage(world: World, contests: int = 100, resamples: int = 200, truth: int = 1000, seed: int = 1) -> pd.DataFrame:
    """How often intervals of 95 % hold the truth: one row per way of drawing and quantity.

    The truth is the mean over `truth` other contests of the same size. Quantities: SPA of every scorer at every
    target, lead of every scorer over every other, change of lead from the first target to the last, rank. Ways: the
    spread of each of `draw`'s methods around the observed value; and two that use the bootstrap's values as they are,
    its percentiles and the percentiles reflected at the observed value. Columns world, way, quantity, covered
    (share), width (mean standard error over the true one; NaN for percentiles and ranks), contests.

    >>> coverage(simulated("small", documents=10), 3, 20, 20)["quantity"].unique().tolist()
    ['spa', 'lead', 'change', 'rank']
    """
    rng = np.random.default_rng(seed)
    true = np.array([_observed(world.contest(rng), world.betas) for _ in range(truth)])
    scorers = true.shape[2]
    means = {what: np.nanmean(x, axis=0) for what, x in _quantities(true).items()}
    sd = {what: np.nanstd(x, axis=0) for what, x in _quantities(true).items()}
    place = 1 + (means["spa"][:, None, :] > means["spa"][:, :, None]).sum(axis=2)  # (B, M)
    rows: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for n in tqdm(range(contests), desc=world.name, leave=False, disable=None):
        e = world.contest(rng)
        seen = _observed(e, world.betas)
        documents = e.size.size
        for method in METHODS:
            counts, factor = draw(method, documents, resamples, n)
            drawn = resample(e, counts, world.betas)
            t = quantile(LEVEL, documents if method != "jackknife" else min(documents, len(counts)))
            for (what, x), observed in zip(_quantities(drawn).items(), _quantities(seen).values(), strict=True):
                se = factor * np.nanstd(x, axis=0)
                held = np.abs(observed - means[what]) <= t * se
                rows.setdefault((f"{method}, spread", what), []).append((held.mean(), (se / sd[what]).mean()))
                if method == "bootstrap":
                    low, high = np.nanquantile(x, [LEVEL / 2, 1 - LEVEL / 2], axis=0)
                    for way, ends in (
                        ("bootstrap, percentiles", (low, high)),
                        ("bootstrap, reflected", (2 * observed - high, 2 * observed - low)),
                    ):
                        held = (ends[0] <= means[what]) & (means[what] <= ends[1])
                        rows.setdefault((way, what), []).append((held.mean(), np.nan))
            held = []
            for b in range(world.betas.size):
                x = drawn[~np.isnan(drawn[:, b, 0]), b]
                covariance = factor**2 * np.cov(x.T, ddof=0).reshape(scorers, scorers)
                best, worst = rank_sets(seen[b], covariance, t / quantile(LEVEL, None))
                held.append((best <= place[b]) & (place[b] <= worst))
            rows.setdefault((f"{method}, spread", "rank"), []).append((np.mean(held), np.nan))
    table = pd.DataFrame(
        [(world.name, way, what, *np.mean(found, axis=0), contests) for (way, what), found in rows.items()],
        columns=["world", "way", "quantity", "covered", "width", "contests"],
    )
    order = {what: n for n, what in enumerate(("spa", "lead", "change", "rank"))}
    return table.sort_values("quantity", key=lambda column: column.map(order), kind="stable", ignore_index=True)


def _observed(e: Evidence, betas: Array) -> Array:
    """SPA of a contest as it is: (B, M)."""
    spa: Array = resample(e, np.ones((1, e.size.size)), betas)[0]
    return spa


def _quantities(spa: Array) -> dict[str, Array]:
    """SPA (…, B, M), the leads of all pairs (…, B, Q), and their change from the first target to the last (…, Q)."""
    i, j = np.triu_indices(spa.shape[-1], 1)
    lead = spa[..., i] - spa[..., j]
    return {"spa": spa, "lead": lead, "change": lead[..., -1, :] - lead[..., 0, :]}


# --- the interval of β₀


class TextWorld(NamedTuple):
    """Where pools come from whose truth is known: `draw`(rng, n) gives n of them, sums (n, 2, G, K), counts (n, G, K)."""

    draw: Callable[[np.random.Generator, int], tuple[Array, Array]]
    truth: Array  # (2,) the true variances
    documents: int


def text_world(source: Pool | Digest | str, way: str = "drawn", documents: int | None = None) -> TextWorld:
    """A world with the systems, documents and noise of a pool, and system means whose variances are the corrected ones.

    Means are drawn together until their variance is the corrected one (a twentieth of the observed one where that is not
    positive); what documents add to them stays as it is. "drawn": as many documents as the pool has, or `documents`,
    with replacement. "normal": documents of the same sizes whose residuals are normal with the same covariance.

    >>> world = text_world("ende24", documents=9)
    >>> sums, counts = world.draw(np.random.default_rng(0), 4)
    >>> sums.shape, counts.shape, round(float(world.truth[0] / world.truth.sum()), 3)
    ((4, 2, 9, 16), (4, 9, 16), 0.787)
    """
    if way not in ("drawn", "normal"):
        raise ValueError(f"unknown way {way!r}; 'drawn' or 'normal' is expected")
    pool = pool_of(source)
    found = components(pool)
    pool = pick(pool, pool.annotated)
    x = [v for v in (pool.adequacy, pool.fluency) if v is not None]
    sums, counts = document_sums(x, ~np.isnan(x[0]), pool.documents)
    there, size = len(counts), documents or len(counts)
    truth = np.maximum(found.spread.corrected, 0.05 * found.spread.observed)
    middle = found.means.mean(axis=1, keepdims=True)
    means = middle + (found.means - middle) * np.sqrt(truth / found.spread.observed)[:, None]
    residual = sums - counts * found.means[:, None]
    root = np.sqrt(counts.mean(axis=1, keepdims=True))
    per_root = residual / root
    per_root -= per_root.mean(axis=1, keepdims=True)

    def draw_(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        at = rng.integers(0, there, size=(n, size))
        if way == "drawn":
            noise = residual[:, at].swapaxes(0, 1)
        else:
            at = np.tile(np.arange(there), (n, 1)) if size == there else at
            mix = rng.normal(size=(n, 1, size, there)) / np.sqrt(there - 1)
            noise = (mix @ per_root) * root[at][:, None]
        return noise + counts[at][:, None] * means[:, None], counts[at]

    return TextWorld(draw_, truth, size)


def beta_coverage(world: TextWorld, draws: int = 2000, level: float = LEVEL, seed: int = 1) -> dict[str, float]:
    """How estimates and intervals do in a world.

    covered, above, below: shares of intervals that hold the true β₀, lie above it, lie below it; open: share that reach
    0 or 1; width: median width. observed, corrected: mean error of β₀ as observed, and without noise (where it can be
    told); adequacy, fluency: mean corrected variance over the true one.

    >>> found = beta_coverage(text_world("ende24", documents=20), draws=40)
    >>> list(found)[:5], 0.8 < found["covered"] <= 1
    (['truth', 'covered', 'above', 'below', 'open'], True)
    """
    whole(draws, "draws", 1)
    rng = np.random.default_rng(seed)
    truth = float(world.truth[0] / world.truth.sum())
    lows, highs, seen, fair, variances = [], [], [], [], []
    for start in range(0, draws, 50):
        sums, counts = world.draw(rng, min(50, draws - start))
        full = (counts > 0).sum(axis=1).min(axis=1) > 1  # every system is rated in two documents at least
        s = spread(sums[full], counts[full])
        low, high = ends(s, level)
        lows.append(low)
        highs.append(high)
        variances.append(s.corrected)
        seen.append(s.observed[:, 0] / s.observed.sum(axis=1))
        told = (s.corrected > 0).all(axis=1)
        fair.append((s.corrected[:, 0] / s.corrected.sum(axis=1))[told])
    low, high, variance = np.concatenate(lows), np.concatenate(highs), np.concatenate(variances)
    ratio = variance.mean(axis=0) / world.truth
    return {
        "truth": truth,
        "covered": float(((low <= truth) & (truth <= high)).mean()),
        "above": float((low > truth).mean()),
        "below": float((high < truth).mean()),
        "open": float(((low <= 0) | (high >= 1)).mean()),
        "width": float(np.median(high - low)),
        "observed": float(np.concatenate(seen).mean() - truth),
        "corrected": float(np.concatenate(fair).mean() - truth),
        "adequacy": float(ratio[0]),
        "fluency": float(ratio[1]),
    }
