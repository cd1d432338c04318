"""Kinds of text beside each other: the balance of each, one balance for all, and whether scorers rank alike in them.

**The common balance**, a rule fixed before rankings were compared: each domain has its own natural balance, and a target
that is cheap for one can be dear for another. Taken is the target at which the domain that pays most pays least: the
largest share s for which all domains have a weighting of ESS ≥ s K at one and the same balance. Where s is below 0.9,
no balance is reliable in all of them.

**Parts by chance.** Rankings on a part of the data differ from those on another part because either is small. So what
domains do is compared with what chance does: all documents are dealt anew into parts of as many segments as the
domains have, documents whole. And since documents of one domain may be fewer and larger than those of another, a second
look cuts each domain into two halves by chance: do halves of one domain agree more than halves of two?
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..core.balance import balance
from ..core.check import Array, DataError, whole
from ..core.closed import p_from_moments
from ..core.metametrics import pair_weights, soft_accuracy
from ..data.digest import Digest, dataset_of, datasets
from ..data.domains import documents_in, in_domain, segment_domains
from ..data.pool import Pool
from ..data.segments import pool_of
from ..solve.reweight import RELIABLE, reliable_interval, reweight_many
from .contest import need_aspects
from .intervals import Documents, Evidence, evidence, numbered
from .overview import overview
from .ranking import TIE_DECIMALS
from .significance import SEED, annotated_of, judges

SHUFFLES = 500
COLUMNS = [
    "name", "domain", "systems", "segments", "annotated", "documents", "beta0", "beta0_low", "beta0_high", "beta_min",
    "beta_max", "reliable_min", "reliable_max", "note",
]  # fmt: skip
BLOCK_DEALS = 100  # deals at a time


def domain_pools(source: Pool | Digest | str) -> dict[str, Pool]:
    """Return a pool for each domain of a source that has two documents or more, by name, in alphabetical order.

    >>> {domain: len(pool.lines) for domain, pool in domain_pools("ende24").items()}
    {'literary': 27, 'news': 90, 'social': 258, 'speech': 111}
    """
    pool = pool_of(source)
    found = np.array(segment_domains(pool))
    there = sorted(set(found.tolist()))
    return {d: in_domain(pool, d) for d in there if documents_in(pool, found == d) > 1}


def by_domain(sources: Iterable[Pool | Digest | str] | None = None) -> pd.DataFrame:
    """One row for each domain of each of `sources` (pools, digests or names; all datasets that ship if none are given).

    Columns name, domain, systems, segments (with totals), annotated (segments with errors), documents (counts), beta0 (the natural balance of these segments),
    beta0_low, beta0_high (its interval of 95 %: see `components`), beta_min, beta_max (reachable range), reliable_min,
    reliable_max (ESS ≥ 0.9 K), note. NaN and a note where a domain has one document only, or no error ratings were
    obtained.

    >>> by_domain(["ende24"])[["domain", "documents", "beta0", "beta0_low", "beta0_high"]].round(2)
         domain  documents  beta0  beta0_low  beta0_high
    0    canary          1    NaN        NaN         NaN
    1  literary          8   0.87       0.00        1.00
    2      news         17   0.87       0.59        1.00
    3    social         34   0.78       0.59        0.96
    4    speech        111   0.76       0.60        0.87
    """
    rows = []
    for pool in map(pool_of, datasets() if sources is None else sources):
        found, parts = np.array(segment_domains(pool)), domain_pools(pool)
        about = overview(parts.values()).drop(columns=["name", "scorers", "paper"])
        about.insert(0, "domain", list(parts))
        for domain in sorted(set(found.tolist())):
            keep = found == domain
            count = {"name": pool.name, "domain": domain, "systems": len(pool.systems)}
            count |= {"segments": int((keep & pool.official).sum()), "annotated": int((keep & pool.annotated).sum())}
            count["documents"] = documents_in(pool, keep)
            known = about[about["domain"] == domain].to_dict("records")
            rows.append(count | (known[0] if known else {"note": "one document only"}))
    return pd.DataFrame(rows).reindex(columns=COLUMNS)


class Common(NamedTuple):
    """A balance for several pools at once, and the smallest share of the K systems that any of them keeps there.

    >>> Common(0.8, 0.85).reliable, Common(0.8, 0.92).reliable
    (False, True)
    """

    beta: float
    share: float

    @property
    def reliable(self) -> bool:
        """Whether that share is at least 0.9."""
        return self.share >= RELIABLE


def common_balance(pools: Iterable[Pool | Digest | str]) -> Common:
    """The balance at which the pool that pays most pays least: the largest share of K that all of them keep.

    ESS*(β) falls to both sides of a pool's natural balance. So the best target lies between the natural balances, and
    any other can be improved by moving it towards that of the pool that keeps least: halving finds it.

    >>> found = common_balance(domain_pools("zhen23").values())
    >>> round(found.beta, 3), round(found.share, 3)
    (0.952, 0.92)
    """
    a, f = map(np.array, zip(*(need_aspects(dataset_of(pool)) for pool in pools), strict=True))
    natural = np.array([balance(*pool) for pool in zip(a, f, strict=True)])
    low, high = natural.min(), natural.max()
    for _ in range(50):
        beta = (low + high) / 2
        ess = np.nan_to_num(reweight_many(a, f, beta).ess)  # 0 where a pool does not reach the target
        low, high = (beta, high) if natural[ess.argmin()] > beta else (low, beta)
    if not ess.min():
        raise DataError("no balance can be reached by all of these pools")
    return Common(float(beta), float(ess.min() / a.shape[1]))


class _Parts(NamedTuple):
    """A pool whose G documents belong to D domains, and its scorers' evidence."""

    domains: dict[str, Pool]
    evidence: Evidence
    of: NDArray[np.int64]  # (G,) the place of each document's domain, −1 for one that has no other document


def _parts(pool: Pool, scorers: Array) -> _Parts:
    found, domains = np.array(segment_domains(pool)), domain_pools(pool)
    if len(domains) < 2:
        raise DataError(f"{pool.name} has {len(domains)} domain of two documents or more; at least two are needed")
    e = evidence(pool, scorers)
    document = numbered(pool.documents, found.size)
    of = np.full(e.size.size, -1)
    for n, name in enumerate(domains):
        of[document[found == name]] = n
    return _Parts(domains, e, of)


def domain_lean(source: Pool | Digest | str, shuffles: int = 10 * SHUFFLES, seed: int = SEED) -> pd.DataFrame:
    """Whether a domain leans to adequacy or to fluency more than the rest of its source: a row for each domain.

    `beta0` is the natural balance of the domain and `rest` that of all others together. Of parts of as many segments
    that are dealt by chance, 95 % have a balance between `low` and `high`. `p` is two-sided: twice the share of deals,
    the observed one included, that lie as far to that side as the domain does, by the log odds of `beta0` over those of
    `rest`. All of it with noise included, of which parts by chance have about as much if the documents of
    the domain are about as long as others.

    >>> domain_lean("enru22", shuffles=100)[["domain", "beta0", "rest", "low", "high", "p"]].round(2)
             domain  beta0  rest   low  high     p
    0  conversation   0.81  0.96  0.92  0.97  0.02
    1     ecommerce   0.92  0.96  0.89  0.97  0.16
    2          news   0.95  0.95  0.91  0.97  0.79
    3        social   0.97  0.94  0.92  0.97  0.02
    """
    whole(shuffles, "shuffles", 5)
    pool = annotated_of(source)
    domains, e, of = _parts(pool, np.empty((0, *pool.total.shape)))
    size = Documents.of(pool.documents, len(pool.lines)).size  # all of them, not only those with totals
    member = _deals(of, size, len(domains), shuffles, seed)
    beta, rest = (_balances(e, m) for m in (member, (of >= 0) - member))
    lean = np.log(beta / (1 - beta)) - np.log(rest / (1 - rest))
    side = np.stack([(s * lean[1:] >= s * lean[0] - 1e-12).sum(axis=0) for s in (1, -1)]).min(axis=0)
    low, high = np.quantile(beta[1:], [0.025, 0.975], axis=0)
    return pd.DataFrame(
        {
            "name": pool.name,
            "domain": list(domains),
            "segments": [len(part.lines) for part in domains.values()],
            "documents": np.bincount(of[of >= 0]),
            "beta0": beta[0],
            "rest": rest[0],
            "low": low,
            "high": high,
            "p": np.minimum(1.0, 2 * (1 + side) / (1 + shuffles)),
        }
    )


def _balances(e: Evidence, member: Array) -> Array:
    """The natural balance of parts of a contest: member (R, D, G) → (R, D)."""
    rated = member @ e.rated
    a, f = ((member @ x / rated).var(axis=2) for x in (e.adequacy, e.fluency))
    out: Array = a / (a + f)
    return out


def domain_agreement(source: Pool | Digest | str, shuffles: int = SHUFFLES, seed: int = SEED) -> pd.DataFrame:
    """How alike the domains of a source rank its scorers, beside parts dealt by chance: a row for each of two balances.

    `at`: "natural", each part unweighted; "common", each brought to the balance of `common_balance` (left out where
    errors are not known). `beta` and `share` say which that is and what share of K it keeps; `domains` how many there
    are. `tau` is the mean over pairs of domains of Kendall's τ between their rankings; `chance` the mean of the same
    over `shuffles` deals of the documents, `low` and `high` hold 95 % of them, and `p` is the share of deals, the
    observed one included, that agree as little as the domains do. `within` is the mean τ of two halves of one domain,
    `between` that of halves of two domains, over a fifth as many halvings. `ends` is τ between the ends of the reliable
    interval of the whole source. p-values are in closed form throughout.

    >>> found = domain_agreement("heen23", shuffles=50)
    >>> found[["at", "domains", "tau", "chance", "within", "between"]].round(2)
            at  domains   tau  chance  within  between
    0  natural        2  0.15    0.59    0.37     0.19
    """
    whole(shuffles, "shuffles", 5)
    pool = pool_of(source)
    shipped, _ = judges(pool, None, 2)
    parts, e, domain = _parts(pool, np.array(list(shipped.values())))
    member = _deals(domain, e.size, len(parts), shuffles, seed)  # (1 + shuffles, D, G), the domains first
    halves = _halves(domain, e.size, len(parts), shuffles // 5, seed)
    common = None if pool.aspects is None else common_balance(parts.values())
    ends = np.nan
    if pool.aspects is not None:
        targets = np.array(reliable_interval(*pool.aspects))
        ends = float(_mean_tau(_tau(_spa(e, np.ones((1, 2, e.size.size)), targets[None])))[0])
    rows = []
    for at, beta in (("natural", np.nan), *(() if common is None else (("common", common.beta),))):
        tau = _mean_tau(_taus(e, member, beta))
        half = _taus(e, halves, beta)
        dealt = tau[1:][~np.isnan(tau[1:])]
        low, high = np.quantile(dealt, [0.025, 0.975])
        less = (dealt <= tau[0] + 1e-12).sum()
        rows.append(
            {
                "name": pool.name,
                "at": at,
                "beta": beta,
                "share": np.nan if at == "natural" or common is None else common.share,
                "domains": len(parts),
                "tau": tau[0],
                "chance": dealt.mean(),
                "low": low,
                "high": high,
                "p": (1 + less) / (1 + dealt.size),
                "within": float(np.nanmean(half[:, 0::2, 1::2][:, np.eye(len(parts), dtype=bool)])),
                "between": float(np.nanmean(half[:, 0::2, 0::2][:, ~np.eye(len(parts), dtype=bool)])),
                "ends": ends,
            }
        )
    return pd.DataFrame(rows)


def _deals(domain: NDArray[np.int64], size: Array, count: int, shuffles: int, seed: int) -> Array:
    """Which documents (G,) each of `count` parts holds, first the domains, then parts by chance: (1 + shuffles, D, G).

    Documents are put into a random order and cut where the domains' numbers of segments are filled; a document on a
    cut goes to the side on which its middle lies. Documents of no domain (−1) take no part.
    """
    rng = np.random.default_rng(seed)
    some = np.flatnonzero(domain >= 0)
    cuts = np.cumsum(np.bincount(domain[some], size[some], minlength=count))[:-1]
    out = np.zeros((1 + shuffles, count, domain.size))
    out[0, domain[some], some] = 1.0
    for deal in out[1:]:
        order = rng.permutation(some)
        middle = np.cumsum(size[order]) - size[order] / 2
        deal[np.searchsorted(cuts, middle), order] = 1.0
    return out


def _halves(domain: NDArray[np.int64], size: Array, count: int, times: int, seed: int) -> Array:
    """Each domain's documents in two halves by chance, about as large in segments: (times, 2 D, G), halves in turn."""
    rng = np.random.default_rng(seed)
    out = np.zeros((times, 2 * count, domain.size))
    for part in out:
        for n in range(count):
            order = rng.permutation(np.flatnonzero(domain == n))
            second = np.cumsum(size[order]) - size[order] / 2 > size[order].sum() / 2
            second[0], second[-1] = False, True  # neither is empty
            part[2 * n + second, order] = 1.0
    return out


def _spa(e: Evidence, member: Array, betas: Array) -> Array:
    """SPA of every scorer on parts of a contest: member (R, D, G), targets (R, D), NaN for none → (R, D, M)."""
    flat, target = member.reshape(-1, member.shape[-1]), betas.ravel()
    p = p_from_moments(*(np.tensordot(flat, x, axes=1) for x in (e.gap, e.square)))
    far = np.abs(p[:, :1] - p[:, 1:])
    k = e.rated.shape[1]
    w = np.full((len(flat), k), 1 / k)
    moved = ~np.isnan(target)
    if moved.any():
        a, f = (flat[moved] @ x / (flat[moved] @ e.rated) for x in (e.adequacy, e.fluency))
        w[moved] = reweight_many(a, f, target[moved]).weights  # NaN where a part does not reach the target
    reached = ~np.isnan(w).any(axis=1)
    pi = pair_weights(np.where(reached[:, None], w, 1 / k))
    spa = soft_accuracy(far, pi[:, None])[:, 0]
    out: Array = np.where(reached[:, None], spa, np.nan).reshape(*member.shape[:2], -1)
    return out


def _taus(e: Evidence, member: Array, beta: float) -> Array:
    """Kendall's τ between the rankings on all parts at one balance: member (R, D, G) → (R, D, D)."""
    blocks = (member[start : start + BLOCK_DEALS] for start in range(0, len(member), BLOCK_DEALS))
    return np.concatenate([_tau(_spa(e, block, np.full(block.shape[:2], beta))) for block in blocks])


def _tau(spa: Array) -> Array:
    """Kendall's τ between D rankings of M scorers by their SPA: (R, D, M) → (R, D, D); NaN where one is.

    >>> _tau(np.array([[[3.0, 2, 1], [3, 1, 2], [1, 2, 3]]])).round(3)
    array([[[ 1.   ,  0.333, -1.   ],
            [ 0.333,  1.   , -0.333],
            [-1.   , -0.333,  1.   ]]])
    """
    i, j = np.triu_indices(spa.shape[2], 1)
    sign = np.sign((spa[..., i] - spa[..., j]).round(TIE_DECIMALS))
    out: Array = sign @ sign.swapaxes(1, 2) / i.size
    return out


def _mean_tau(tau: Array) -> Array:
    """The mean over pairs of rankings: (R, D, D) → (R,)."""
    one, two = np.triu_indices(tau.shape[1], 1)
    out: Array = tau[:, one, two].mean(axis=1)
    return out
