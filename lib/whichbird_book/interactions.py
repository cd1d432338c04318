"""Why a ranking changes with the pool: scorers misjudge particular systems, and do so again on other documents.

The *interaction* is what is left of contributions (M scorers × K systems) when the means of scorers and of systems are
taken off: who loses more than others on which system. Documents are dealt to two halves, p-values computed in each, and
the two interactions correlated over all cells; that is the correlation of the centred profiles of all pairs of scorers.
What documents do by chance is not shared by the halves, what scorers do to systems is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from whichbird.core.check import Array
from whichbird.core.closed import p_from_moments
from whichbird.core.contributions import contributions_from_p, interaction, per_system, without_each
from whichbird.core.metametrics import pair_weights
from whichbird.data.digest import Digest
from whichbird.data.pool import Pool
from whichbird.data.segments import pool_of
from whichbird.study.components import FEWEST
from whichbird.study.intervals import Documents, Evidence, draw, evidence, numbered, quantile
from whichbird.study.placebo import taus
from whichbird.study.significance import LEVEL, SEED, judges
from whichbird.study.stability import leave_one_out, pooled_tau
from whichbird.study.verdict import Verdict

HALVINGS, RESAMPLES, FEWER, DRAWS = 60, 200, 8, 400  # halvings of a resample are FEWER; DRAWS of made pools
PURE = 0.95  # share of a document's cells that one rater must have rated, for the document to be that rater's
SIZES = 8, 15, 30, 60  # systems in made pools
DEALS = 200  # permutations of scorers' errors over systems


def halves(documents: int, halvings: int, seed: int = SEED) -> Array:
    """Which documents are in the first half: (halvings, G) of ones and zeros.

    >>> halves(5, 3).sum(axis=1).tolist()
    [2.0, 2.0, 2.0]
    """
    order = np.random.default_rng(seed).random((halvings, documents)).argsort(axis=1)
    return np.asarray(order < documents // 2, dtype=np.float64)


def losses(e: Evidence, counts: Array) -> Array:
    """|p_human − p_scorer| of every pair in contests that hold each document so often: counts (R, G) → (R, M, P)."""
    p = p_from_moments(*(np.tensordot(counts, x, axes=1) for x in (e.gap, e.square)))
    return np.asarray(np.abs(p[:, :1] - p[:, 1:]))


def agreement(one: Array, two: Array) -> Array:
    """Correlation of two interactions over all scorers and systems: contributions (…, M, K) twice → (…).

    >>> c = np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 7.0], [0.0, 0.0, 1.0]])
    >>> [round(float(agreement(c, x)), 6) for x in (c + [[5], [6], [7]], -c)]  # what a scorer loses everywhere is no part of it
    [1.0, -1.0]
    """
    x, y = interaction(one), interaction(two)
    xy, xx, yy = ((a * b).sum(axis=(-2, -1)) for a, b in ((x, y), (x, x), (y, y)))
    if (np.minimum(xx, yy) <= 1e-24).any():
        raise ValueError("all scorers lose the same on every system; there is no interaction to compare")
    return np.asarray(xy / np.sqrt(xx * yy))


def split_half(source: Pool | Digest | str, halvings: int = HALVINGS, seed: int = SEED) -> Array:
    """How alike the interactions of two halves of the documents are, for each of so many halvings.

    >>> round(float(split_half("zhen23", 20).mean()), 2)
    0.88
    """
    e = _evidence(pool_of(source))
    return _between(e, halves(e.size.size, halvings, seed))


def repeats(r: float) -> float:
    """The share of the interaction of all documents that repeats, by Spearman and Brown, from the correlation of halves.

    >>> repeats(0.5)
    0.6666666666666666
    """
    return 2 * r / (1 + r)


def split_half_interval(e: Evidence, r: float, resamples: int = RESAMPLES, seed: int = SEED) -> tuple[float, float]:
    """An interval of 95 % of a split-half correlation r; NaN with fewer than eight documents.

    Documents are drawn with replacement, then dealt to halves, all copies of one to the same; the spread of Fisher's z of
    the means over some halvings, around that of r.
    """
    documents = e.size.size
    if documents < FEWEST:
        return np.nan, np.nan
    counts, factor = draw("bootstrap", documents, resamples, seed)
    z = np.empty(resamples)
    for n, drawn in enumerate(counts):
        first = halves(documents, FEWER, seed + n)
        z[n] = np.arctanh(_between(e, first, drawn).mean())
    reach = quantile(LEVEL, documents) * factor * z.std()
    return float(np.tanh(np.arctanh(r) - reach)), float(np.tanh(np.arctanh(r) + reach))


class Reversals(NamedTuple):
    """Of pairs of scorers in the same order in both halves: how often a deletion reverses it in the second half.

    `base`: over all pairs and systems; `again`: where it does in the first half.
    """

    base: float
    again: float


def reversals(one: Array, two: Array) -> Reversals:
    """Whether what a deletion reverses in one half it reverses in the other, from contributions (…, M, K) of both.

    >>> c = np.array([[0.3, 0.1, 0.0], [0.1, 0.1, 0.1]])  # the first system contributes all of a lead
    >>> reversals(c, c)
    Reversals(base=0.3333333333333333, again=1.0)
    """
    m, n = np.triu_indices(one.shape[-2], 1)
    parts = [c[..., m, :] - c[..., n, :] for c in (one, two)]
    leads = [p.sum(axis=-1, keepdims=True) for p in parts]
    same = np.broadcast_to(leads[0] * leads[1] > 0, parts[0].shape)
    first, second = (same & (p * np.sign(lead) > np.abs(lead) / 2) for p, lead in zip(parts, leads, strict=True))
    return Reversals(float(second.sum() / same.sum()), float((first & second).sum() / max(first.sum(), 1)))


class Parted(NamedTuple):
    """Mean split-half correlation where each kind of text (or rater) is on one side, and of random halves as large."""

    apart: float
    random: float


def parted(e: Evidence, labels: Sequence[object], seed: int = SEED) -> Parted:
    """Split documents (G labels) so that no label is on both sides and each has 30–70 % of the segments; NaN if none does."""
    number = numbered(labels, len(labels))
    share = np.bincount(number, e.size) / e.size.sum()
    rng = np.random.default_rng(seed)
    ways = range(1, 2 ** (share.size - 1))  # by their bits: which labels are in the first half
    sides = np.array([[way >> n & 1 for n in range(share.size)] for way in ways]).reshape(-1, share.size)
    sides = sides[np.abs(sides @ share - 0.5) <= 0.2]
    if len(sides) == 0:
        return Parted(np.nan, np.nan)
    sides = sides[rng.permutation(len(sides))[:HALVINGS]]
    even = []
    for side in np.tile(sides, (-(-HALVINGS // len(sides)), 1)):
        order = rng.permutation(len(number))
        even.append(np.where(e.size[order].cumsum()[order.argsort()] <= side @ share * e.size.sum(), 1.0, 0.0))
    return Parted(*(float(_between(e, x).mean()) for x in (sides[:, number].astype(np.float64), np.array(even))))


def loo_tau(c: Array) -> Array:
    """Pooled τ of the rankings without each system, from contributions (…, M, K): (…); exactly that of appendix C.

    >>> from whichbird import contributions, load
    >>> d = load("ende24")
    >>> round(float(loo_tau(contributions(d))), 6) == round(pooled_tau(leave_one_out(d.counts("total"), d.counts("scorers"), 16)), 6)
    True
    """
    left, k = without_each(c), c.shape[-1]
    m, n = np.triu_indices(c.shape[-2], 1)
    sign = np.sign(np.round(left[..., m, :] - left[..., n, :], 10))
    return np.asarray(((sign.sum(axis=-1) ** 2 - (sign**2).sum(axis=-1)) / (k * (k - 1))).mean(axis=-1))


def made_tau(c: Array, alike: bool = True, repeating: float = 1.0, seed: int = SEED) -> Array:
    """Leave-one-out τ of made pools that share only variance components with contributions c (M, K): (DRAWS,).

    Systems are exchangeable and normal: nothing says which of them is extreme. `alike`: scorers have their SPAs, and the
    covariance of their interactions over systems. Else SPAs and interactions are drawn independently, each with one variance:
    two numbers. `repeating` multiplies the interaction's variance.
    """
    rng, x, (m, k) = np.random.default_rng(seed), interaction(c), c.shape
    mean = c.mean(axis=1)[:, None]
    if alike:  # x times white noise has x's covariance on every machine; eigenvectors have any sign
        noise = x @ rng.normal(size=(DRAWS, k, k)) / np.sqrt(k - 1)
    else:
        noise = rng.normal(size=(DRAWS, m, k)) * np.sqrt((x**2).sum() / ((m - 1) * (k - 1)))
        mean = mean.std(ddof=1) * rng.normal(size=(DRAWS, m, 1))
    noise *= np.sqrt(repeating)
    return loo_tau(mean + noise - noise.mean(axis=-1, keepdims=True))


class Foretold(NamedTuple):
    """Mean distance of τ in one half of the documents from what pools made of the other half give, and from τ there."""

    made: float
    tau: float


def foretold(one: Array, two: Array) -> Foretold:
    """Does `made_tau` hold for documents it does not know? Contributions (R, M, K) of the two halves of some halvings.

    >>> c = np.random.default_rng(0).random((1, 9, 6))
    >>> foretold(c, c).tau
    0.0
    """
    here, there = loo_tau(one), loo_tau(two)
    made = np.array([made_tau(c).mean() for c in one])
    return Foretold(float(np.abs(made - there).mean()), float(np.abs(here - there).mean()))


def system_se(c: Array) -> Array:
    """Standard errors of leads over systems, (M, M): the jackknife, exactly, from contributions c (M, K).

    How far leads would scatter if other systems of the same kind had taken part.
    """
    k = c.shape[1]
    left = without_each(interaction(c))
    covariance = (k - 1) / k * left @ left.T
    v = np.diag(covariance)
    return np.asarray(np.sqrt(np.maximum(v[:, None] + v - 2 * covariance, 0.0)))


def shared_first(c: Array, first: int, systems: int, seed: int = SEED) -> float:
    """The share of the `first` best scorers that two made pools of so many systems have in common, on average.

    SPAs are drawn around those observed, shrunk by what the choice of systems adds to their spread, with the jackknife's
    covariance over systems, as `system_se` has it, for pools of that size.
    """
    k, left, rng = c.shape[1], without_each(interaction(c)), np.random.default_rng(seed)
    covariance = (k - 1) / k * left @ left.T
    spa = -c.sum(axis=1)
    spread = spa.var(ddof=1)
    true = np.sqrt(max(spread - np.trace(covariance) / (len(c) - 1), 0.0) / spread)
    noise = rng.normal(size=(2, DRAWS, k)) @ left.T * np.sqrt((k - 1) / systems)
    return in_common(true * spa + noise, first)


def in_common(scores: Array, first: int) -> float:
    """The share of the `first` best that two rankings have in common, on average: scores (2, D, M).

    >>> in_common(np.array([[[3.0, 2.0, 1.0]], [[3.0, 1.0, 2.0]]]), 2)
    0.5
    """
    best = (-scores).argsort(axis=-1).argsort(axis=-1) < first
    return float((best[0] & best[1]).sum(axis=-1).mean() / first)


def _plain(far: Array) -> Array:
    return np.asarray(-far.mean(axis=-1))


def _median(far: Array) -> Array:
    """The median SPA over pools with one system left out."""
    return np.asarray(-np.median(without_each(per_system(far)), axis=-1))


def _trimmed(far: Array) -> Array:
    """SPA without each scorer's largest and smallest contribution."""
    return np.asarray(-np.sort(per_system(far), axis=-1)[..., 1:-1].mean(axis=-1))


def _capped(far: Array) -> Array:
    """SPA weighted so that systems with more than 1.5 times their share of the interaction count less."""
    pi = pair_weights(np.minimum(1.0, np.sqrt(1.5 / np.maximum(shares(per_system(far)), 1e-9))))
    return np.asarray(-(far * pi[..., None, :]).sum(axis=-1))


ROBUST: dict[str, Callable[[Array], Array]] = {
    "plain": _plain,
    "median": _median,
    "trimmed": _trimmed,
    "capped": _capped,
}


def system_halves(far: Array, halvings: int = HALVINGS, seed: int = SEED) -> tuple[Array, Array]:
    """Losses (M, P) of the pairs inside two disjoint halves of the systems, for each halving: (halvings, M, P′) twice."""
    k = round((1 + np.sqrt(1 + 8 * far.shape[-1])) / 2)
    order = np.random.default_rng(seed).random((halvings, k)).argsort(axis=1)
    i, j = np.triu_indices(k, 1)
    out: list[list[Array]] = [[], []]
    for row in order:
        for part, members in zip(out, (row[: k // 2], row[k // 2 : 2 * (k // 2)]), strict=True):
            part.append(far[:, np.isin(i, members) & np.isin(j, members)])
    return np.array(out[0]), np.array(out[1])


def overrated(human_p: Array, scorer_p: Array, systems: int) -> Array:
    """How much more than people each scorer favours each system: (P,), (M, P) → (M, K), from −1 to 1.

    The mean over its pairs of p_human − p_scorer, signed so that small p-values speak for the system.

    >>> overrated(np.array([0.5, 0.5, 0.5]), np.array([[0.0, 0.5, 0.5]]), 3)  # surer than people that the first beats the second
    array([[ 0.25, -0.25,  0.  ]])
    """
    i, j = np.triu_indices(systems, 1)
    sides = (np.arange(systems) == i[:, None]).astype(float) - (np.arange(systems) == j[:, None])
    return np.asarray((human_p - scorer_p) @ sides / (systems - 1))


def shares(c: Array) -> Array:
    """Each system's share of the squared interaction of contributions (…, M, K), times K: (…, K); 1 where all are alike.

    >>> shares(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])).round(2)
    array([2. , 0.5, 0.5])
    """
    x = (interaction(c) ** 2).sum(axis=-2)
    return np.asarray(x / x.sum(axis=-1, keepdims=True) * x.shape[-1])


class Distance(NamedTuple):
    """Rank correlation over systems of their shares with how far from the mean people place them, and what chance gives.

    `placebo` (draws,): the same where all scorers' errors are dealt to other systems, one permutation for all of them.
    """

    observed: float
    placebo: Array


def distance(d: Digest, draws: int = DEALS, seed: int = SEED) -> Distance:
    """Do systems far from the others carry because scorers misjudge them, or because errors cost more there?

    Scorers' system means, standardised, are a slope times people's plus an error. Each scorer's p-values are rebuilt from
    means by a normal law with one standard error a scorer, the one that fits its p-values between .02 and .98.
    """
    rng, k = np.random.default_rng(seed), len(d.systems)
    i, j = np.triu_indices(k, 1)
    people, means = ((x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True) for x in (d.total, d.means))
    t = -ndtri(np.clip(d.scorer_p, 0.0005, 0.9995))
    told = np.where(
        (np.abs(t) > 0.1) & (np.abs(d.scorer_p - 0.5) < 0.48),
        (means[:, i] - means[:, j]) / np.where(t == 0, 1, t),
        np.nan,
    )
    scale = np.array([np.median(x[~np.isnan(x)]) if (~np.isnan(x)).any() else 0.1 for x in told])[:, None]
    expected = (means @ people / k)[:, None] * people
    far = rankdata(np.abs(people))

    def correlated(order: NDArray[np.int64]) -> float:
        x = expected + (means - expected)[:, order]
        p = ndtr(-(x[:, i] - x[:, j]) / scale)
        return float(np.corrcoef(far, rankdata(shares(contributions_from_p(d.human_p, p))))[0, 1])

    return Distance(correlated(np.arange(k)), np.array([correlated(rng.permutation(k)) for _ in range(draws)]))


def interaction_table(pool: Pool, d: Digest, verdict: Verdict) -> pd.DataFrame:
    """One row: what repeats, what is noise, what τ follows from it, and what robust meta-metrics gain.

    Columns documents; split_half, low, high: mean correlation of halves, and its interval; pearson: the same of contributions
    to Pearson's r; placebo: 97.5 % quantile over halvings, scorers' labels permuted within systems; reversed,
    reversed_again: `Reversals`; domain, domain_random, rater, rater_random: see `Parted`; tau, that of leave-one-out; made, made_low, made_high: `made_tau`, mean and 95 %
    range; two, two_low, two_high: the same from two numbers; endless: without what does not repeat; se_systems, se_documents:
    medians over pairs of scorers; first: size of the first cluster; shared_8 to shared_60: `shared_first`; shared_half, shared_made:
    what two halves of the systems share, and two made pools of that size; foretold, foretold_tau: `Foretold`; then Kendall's τ of a meta-metric with itself on
    the other half of the documents (doc_…) and of the systems (sys_…); distance, distance_placebo: `Distance`, the latter a
    mean.
    """
    e, c = _evidence(pool), contributions_from_p(d.human_p, d.scorer_p)
    documents, k = e.size.size, len(d.systems)
    first = halves(documents, HALVINGS)
    r = float(_between(e, first).mean())
    low, high = split_half_interval(e, r)
    rng = np.random.default_rng(SEED)
    sides = [losses(e, x) for x in (first, 1 - first)]
    one, two = (per_system(x) for x in sides)
    dealt = np.take_along_axis(two, rng.random(two.shape).argsort(axis=1), axis=1)
    i, j = np.triu_indices(len(d.scorers), 1)
    far = np.abs(d.human_p - d.scorer_p)
    some = system_halves(far) if k >= 10 else None  # fewer than five systems are no pool
    away = distance(d)
    firsts = int((verdict.clusters() == 1).sum())
    row = {
        "documents": documents,
        "split_half": r,
        "low": low,
        "high": high,
        "pearson": float(_between_pearson(pool, first).mean()),
        "placebo": float(np.quantile(agreement(one, dealt), 0.975)),
        **dict(zip(("reversed", "reversed_again"), reversals(one, two), strict=True)),
        **_parts(e, pool),
        "tau": pooled_tau(leave_one_out(d.counts("total"), d.counts("scorers"), k)),
        **_range("made", made_tau(c)),
        **_range("two", made_tau(c, alike=False)),
        **dict(zip(("foretold", "foretold_tau"), foretold(one[:FEWER], two[:FEWER]), strict=True)),
        "endless": float(made_tau(c, repeating=max(repeats(r), 0.0)).mean()),
        "se_systems": float(np.median(system_se(c)[i, j])),
        "se_documents": float(np.median(verdict.lead_se[0][i, j])),
        "first": firsts,
        **{f"shared_{size}": shared_first(c, firsts, size) for size in SIZES},
        "shared_half": np.nan if some is None else in_common(np.array([_plain(x) for x in some]), firsts),
        "shared_made": np.nan if some is None else shared_first(c, firsts, k // 2),
        **{f"doc_{name}": float(taus(*(f(x) for x in sides)).mean()) for name, f in ROBUST.items()},
        **{
            f"sys_{n}": np.nan if some is None else float(taus(*(f(x) for x in some)).mean()) for n, f in ROBUST.items()
        },
        "distance": away.observed,
        "distance_placebo": float(away.placebo.mean()),
    }
    return pd.DataFrame([row])


def _evidence(pool: Pool) -> Evidence:
    shipped, _ = judges(pool, None, 2)
    return evidence(pool, np.array([*shipped.values()]))


def _between(e: Evidence, first: Array, drawn: Array | None = None) -> Array:
    """Agreement of the halves that `first` (R, G) marks and leaves, of all documents or of a resample (G,)."""
    times = 1.0 if drawn is None else drawn
    return agreement(*(per_system(losses(e, x * times)) for x in (first, 1 - first)))


def _between_pearson(pool: Pool, first: Array) -> Array:
    """The same of what systems contribute to Pearson's r of system means, z_human z_scorer / K."""
    shipped, _ = judges(pool, None, 2)
    keep = pool.official
    docs = Documents.of(pool.documents, len(pool.lines)).only(keep)
    rated = ~np.isnan(pool.total[:, keep])
    count = docs.sums(rated.astype(np.float64))
    total = docs.sums(np.array([np.where(rated, x, 0.0) for x in (pool.total[:, keep], *shipped.values())]))
    out = []
    for x in (first, 1 - first):
        mean = np.einsum("mkg,rg->rmk", total, x) / np.maximum(np.einsum("kg,rg->rk", count, x), 1.0)[:, None]
        z = mean - mean.mean(axis=-1, keepdims=True)
        z /= np.maximum(z.std(axis=-1, keepdims=True), 1e-12)
        out.append(z[:, 1:] * z[:, :1] / z.shape[-1])
    return agreement(*out)


def _parts(e: Evidence, pool: Pool) -> dict[str, float]:
    """`Parted` by domain and by rater, where documents have one each; NaN elsewhere."""
    number = numbered(pool.documents, len(pool.lines))
    place = np.unique(number, return_index=True)[1]
    none = Parted(np.nan, np.nan)
    domain = none if pool.domains is None else parted(e, [pool.domains[n] for n in place])
    rater = none
    if pool.raters is not None and len(pool.rater_names or ()) > 1:
        cells = [pool.raters[:, number == g].ravel() for g in range(place.size)]
        main = [int(np.bincount(x[x >= 0]).argmax()) if (x >= 0).any() else -1 for x in cells]
        if np.mean([(x == who).mean() for x, who in zip(cells, main, strict=True)]) >= PURE:
            rater = parted(e, main)
    return {
        "domain": domain.apart, "domain_random": domain.random, "rater": rater.apart, "rater_random": rater.random,
    }  # fmt: skip


def _range(name: str, x: Array) -> dict[str, float]:
    low, high = np.quantile(x, [0.025, 0.975])
    return {name: float(x.mean()), f"{name}_low": float(low), f"{name}_high": float(high)}
