"""Which system carries a change: every pool with one system left out, weighted anew.

A ranking of scorers changes from one balance to another. With each of the K systems left out in turn, does it still?
*Own* ends are those of the smaller pool's reliable interval; at the *same* balances the smaller pool is brought to the
two balances of the full one, where it reaches them.

For a pair of scorers the change is *kept* without a system if, where the two change places, both leads keep their signs;
where they do not, if the lead still moves in the same direction. The *carrier* is the system whose absence undoes the change
and leaves least of the lead's movement.

`natural_turns` asks the same of the natural order, without any weights: it turns when a system is left out if the two
scorers change places and both orders are significant by documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ..core import check
from ..core.check import Array, near
from ..core.closed import p_from_moments
from ..core.contributions import per_system, without_each
from ..core.leverage import leverage
from ..core.metametrics import pair_weights, soft_accuracy
from ..core.segmental import WORK_CELLS
from ..data.digest import Digest
from ..data.pool import Pool
from ..data.segments import pool_of
from ..solve.reweight import reliable_interval, reliable_intervals, reweight_many, reweight_sweep
from .components import FEWEST
from .contest import Contest, Scores, contest, need_aspects
from .intervals import draw, evidence, two_sided
from .ranking import TIE_DECIMALS, ranks, spa_of
from .significance import LEVEL, RESAMPLES, SEED, judges
from .verdict import Verdict

WAYS = ("own", "same")
Bools = NDArray[np.bool_]


class Carried(NamedTuple):
    """A pair's change from the first balance to the second, and what becomes of it without each of K systems.

    `leads` (2,) of the full pool and `without` (K, 2), NaN where a smaller pool does not reach a balance; `places`: the two
    change places; `kept` (K,), False where not reached; `carrier`, the name of the system whose absence undoes the change and
    leaves least of it, or None.
    """

    leads: Array
    without: Array
    places: bool
    kept: Bools
    carrier: str | None


class Shifted(NamedTuple):
    """A scorer's ranks at both balances, (2,), and without each of K systems, (K, 2); 0 where not reached.

    `carrier` is the system whose absence shrinks the difference of the two ranks most; None where none does.
    """

    ranks: NDArray[np.int64]
    without: NDArray[np.int64]
    carrier: str | None


@dataclass(frozen=True, eq=False)
class Carriers:
    """SPA of M scorers at two balances, (2, M), and without each of K systems: `own` and `same`, (K, 2, M).

    `betas` (2,) and `weights` (2, K) of the full pool; `own_betas` (K, 2), the ends of the smaller pools' reliable intervals.
    `own` and its balances are NaN where balances were named, `same` where a smaller pool does not reach a balance.

    >>> found = carriers("ende22")
    >>> changed = found.pair("COMET-22", "SEScore")
    >>> changed.places, changed.carrier, int(changed.kept.sum()), len(found.systems)
    (True, 'OpenNMT', 12, 13)
    >>> found.scorer("SEScore").ranks.tolist(), found.scorer("SEScore").carrier
    ([2, 26], 'OpenNMT')
    """

    name: str
    systems: tuple[str, ...]
    scorers: tuple[str, ...]
    betas: Array
    weights: Array
    spa: Array
    own: Array
    own_betas: Array
    same: Array
    signature: str

    def pair(self, i: int | str, j: int | str, way: str = "own") -> Carried:
        """What becomes of the change between two scorers, by name or number, without each system."""
        i, j = self._place(i), self._place(j)
        if i == j:
            raise ValueError(f"{self.scorers[i]} is given twice; a pair of scorers is expected")
        left = self._way(way)
        leads, without = self.spa[:, i] - self.spa[:, j], left[..., i] - left[..., j]
        kept = _kept(leads, without)
        undone = ~kept & ~np.isnan(without).any(axis=1)
        rest = (without[:, 1] - without[:, 0]) * np.sign(leads[1] - leads[0])
        least = int(np.where(undone, rest, np.inf).argmin())
        return Carried(
            leads, without, bool((_sign(leads).prod()) < 0), kept, self.systems[least] if undone.any() else None
        )

    def sentence(self, i: int | str, j: int | str, way: str = "own") -> str:
        """Say what becomes of the change between two scorers when one system is left out.

        >>> carriers("ende22").sentence("COMET-22", "SEScore")
        'Of 13 pools with one system left out 12 keep the change; without OpenNMT the lead moves the other way.'
        """
        found = self.pair(i, j, way)
        k, kept = len(self.systems), int(found.kept.sum())
        if found.carrier is None:
            reached = int((~np.isnan(found.without)).all(axis=1).sum())
            return f"All {reached} pools with one system left out keep the change."
        left = found.without[self.systems.index(found.carrier)]
        back = (left[1] - left[0]) * (found.leads[1] - found.leads[0]) < 0
        stays = "they do not change places" if found.places else "the lead stays"
        what = "the lead moves the other way" if back else stays
        return f"Of {k} pools with one system left out {kept} keep the change; without {found.carrier} {what}."

    def carrier(self, i: int | str, j: int | str, way: str = "own") -> str | None:
        """The system whose absence undoes the change between two scorers, and leaves least of it; None if none does."""
        return self.pair(i, j, way).carrier

    def kept(self, way: str = "own") -> Bools:
        """Whether each pair of scorers keeps its change without each system: (K, M, M)."""
        leads, left = _leads(self.spa), _leads(self._way(way))
        return _kept(leads, left)

    def places(self, way: str | None = None) -> Bools:
        """Which pairs change places: (M, M) in the full pool, or (K, M, M) without each system."""
        left = _sign(_leads(self.spa if way is None else self._way(way)))
        return np.asarray(left[..., 0, :, :] * left[..., 1, :, :] < 0)

    def scorer(self, i: int | str, way: str = "own") -> Shifted:
        """The ranks of a scorer, by name or number, at both balances, with all systems and without each."""
        i, left = self._place(i), self._way(way)
        full = np.array([ranks(s)[i] for s in self.spa])
        without = np.array([[0 if np.isnan(s).any() else ranks(s)[i] for s in two] for two in left])
        shift = np.where((without == 0).any(axis=1), np.inf, np.abs(np.diff(without)[:, 0]))
        least = int(shift.argmin())
        return Shifted(full, without, self.systems[least] if shift[least] < abs(full[1] - full[0]) else None)

    def _way(self, way: str) -> Array:
        if way not in WAYS:
            raise ValueError(f"unknown way {way!r}; one of {', '.join(WAYS)} is expected")
        return self.own if way == "own" else self.same

    def _place(self, scorer: int | str) -> int:
        if isinstance(scorer, str):
            if scorer not in self.scorers:
                raise ValueError(f"{self.name} has no scorer {scorer!r}" + near(scorer, self.scorers))
            return self.scorers.index(scorer)
        if not 0 <= scorer < len(self.scorers):
            raise ValueError(f"scorer {scorer}; a number from 0 to {len(self.scorers) - 1}, or a name, is expected")
        return int(scorer)


def carriers(
    source: Digest | Pool | Contest | str, betas: ArrayLike | None = None, scores: Scores | None = None
) -> Carriers:
    """Rank all scorers at two balances with each system left out in turn: which system carries a change?

    `betas`: two targets; None: the ends of the reliable interval, of the full pool and of each smaller one. `scores` as `rank`
    takes them. The smaller pools are weighted anew; p-values are those of the full pool, pair by pair.

    >>> found = carriers("ende22")
    >>> found.own.shape, found.betas.round(3), found.own_betas[found.systems.index("OpenNMT")].round(3)
    ((13, 2, 31), array([0.89 , 0.962]), array([0.865, 0.914]))
    """
    c = source if isinstance(source, Contest) else contest(source, scores)
    a, f = need_aspects(c)
    k = len(c.systems)
    if k < 4:
        raise ValueError(f"{c.name} has {k} systems; at least four are needed to leave one out and weight the others")
    ends = np.array(reliable_interval(a, f)) if betas is None else check.vector(betas, "betas", 2)
    weights = reweight_sweep(a, f, ends).insist().weights
    rest = np.array([np.delete(np.arange(k), out) for out in range(k)])
    own_betas = reliable_intervals(a[rest], f[rest]) if betas is None else np.full((k, 2), np.nan)
    far = np.abs(c.human - c.p)
    i, j = np.triu_indices(k, 1)

    def left_out(targets: Array) -> Array:
        solved = reweight_many(a[rest], f[rest], targets)
        solved.insist()
        found = np.full((k, 2, len(c.scorers)), np.nan)
        for out in range(k):
            reached = solved.proven[out]
            others = (i != out) & (j != out)
            found[out, reached] = soft_accuracy(far[:, others], pair_weights(solved.weights[out, reached]))
        return found

    return Carriers(
        c.name,
        c.systems,
        tuple(c.scorers),
        ends,
        weights,
        np.array([spa_of(c, w) for w in weights]),
        left_out(own_betas) if betas is None else np.full((k, 2, len(c.scorers)), np.nan),
        own_betas,
        left_out(ends[None]),
        c.signature,
    )


class NaturalTurns(NamedTuple):
    """Orders at the natural balance, of the full pool (first) and without each of K systems: (1 + K, M) and (1 + K, M, M).

    `turns` (K, M, M): two scorers change places when the system is left out, and both orders are significant by documents.

    >>> found = natural_turns("ende21", resamples=50)
    >>> found.spa.shape, found.lead_se.shape, found.documents, int(found.turns.sum())
    ((14, 27), (14, 27, 27), 32, 0)
    """

    systems: tuple[str, ...]
    scorers: tuple[str, ...]
    spa: Array
    lead_se: Array
    documents: int
    turns: Bools

    @property
    def t(self) -> Array:
        """Leads in standard errors: (1 + K, M, M); 0 where the two are one."""
        lead = self.spa[:, :, None] - self.spa[:, None]
        return np.asarray(lead / np.where(self.lead_se > 0, self.lead_se, np.inf))


def natural_turns(
    source: Pool | Digest | str, scores: Scores | None = None, resamples: int = RESAMPLES, seed: int = SEED
) -> NaturalTurns:
    """Whose natural order turns when one system is left out: no weights, documents resampled as `intervals` does.

    A resampled contest is tested once, pair by pair of systems; leaving one out drops its pairs. Nothing turns with fewer
    than eight documents.

    >>> found = natural_turns("ende22", resamples=100)
    >>> comet, sescore = (found.scorers.index(name) for name in ("COMET-22", "SEScore"))
    >>> lead = found.spa[:, comet] - found.spa[:, sescore]
    >>> float(lead[0].round(3)), float(lead[1 + found.systems.index("OpenNMT")].round(3))
    (0.053, -0.049)
    """
    pool = pool_of(source)
    shipped, own = judges(pool, scores, 2)
    c = contest(source, scores)
    e = evidence(pool, np.array([*shipped.values(), *own.values()]))
    k, documents = len(pool.systems), e.size.size
    counts, factor = draw("bootstrap", documents, resamples, seed)
    counts = counts * (e.size.sum() / (counts @ e.size))[:, None]
    block = max(1, WORK_CELLS // e.gap[0].size)
    drawn = np.empty((resamples, 1 + k, len(c.scorers)))
    for start in range(0, resamples, block):
        p = p_from_moments(*(np.tensordot(counts[start : start + block], x, axes=1) for x in (e.gap, e.square)))
        drawn[start : start + block] = _left_out(np.abs(p[:, :1] - p[:, 1:]))
    x = factor * (drawn - drawn.mean(axis=0))
    covariance = np.einsum("rdm,rdn->dmn", x, x, optimize=True) / resamples
    own_variance = np.einsum("dmm->dm", covariance)
    se = np.sqrt(np.maximum(own_variance[:, :, None] + own_variance[:, None] - 2 * covariance, 0.0))
    spa = _left_out(np.abs(c.human - c.p))
    lead = spa[:, :, None] - spa[:, None]
    sure = two_sided(lead, se, documents) <= LEVEL
    turns = (_sign(lead[1:]) * _sign(lead[0]) < 0) & sure[1:] & sure[0] & (documents >= FEWEST)
    return NaturalTurns(pool.systems, tuple(c.scorers), spa, se, documents, turns)


def carriers_table(d: Digest, pool: Pool, verdict: Verdict, resamples: int = RESAMPLES) -> pd.DataFrame:
    """One row per system left out: what it does to β₀, to changes between the ends, and to the natural order.

    Columns system, leverage, own (balance), beta0_without, weight_low, weight_high (times uniform, at the ends of the reliable
    interval), low, high (that interval without it), places (pairs that change places between its ends); kept_places,
    kept_moved, kept_turns: of the pairs of the full pool that change places, whose lead moves too, whose order turns, how many
    keep both signs at the smaller pool's own ends, and same_… at the full pool's ends; natural_turns: pairs whose natural
    order turns. NaN where too few documents allow no verdict.
    """
    found, alone = carriers(d), leverage(*need_aspects(d))
    ends, judged = verdict.ends(), verdict.judged
    kinds = {"places": ends.places, "moved": ends.moved, "turns": ends.turns}
    kept = {
        f"{name}_{kind}": _pairs(stays & pairs) if judged or kind == "places" else np.nan
        for name, stays in (("kept", found.kept()), ("same", found.kept("same")))
        for kind, pairs in kinds.items()
    }
    k = len(d.systems)
    turned = _pairs(natural_turns(pool, resamples=resamples).turns) if judged else np.nan
    return pd.DataFrame(
        {
            "system": d.systems,
            "leverage": alone.leverage,
            "own": alone.own,
            "beta0_without": alone.without,
            "weight_low": found.weights[0] * k,
            "weight_high": found.weights[1] * k,
            "low": found.own_betas[:, 0],
            "high": found.own_betas[:, 1],
            "places": _pairs(found.places("own")),
            **kept,
            "natural_turns": turned,
        }
    )


def _pairs(square: Bools) -> NDArray[np.int64]:
    """How many pairs are marked in symmetric tables (…, M, M)."""
    return np.asarray(square.sum(axis=(-2, -1)) // 2)


def _left_out(far: Array) -> Array:
    """SPA with all K systems, then without each, unweighted, from losses of pairs: (…, M, P) → (…, 1 + K, M)."""
    c = per_system(far)
    lost = np.concatenate([c.sum(axis=-1, keepdims=True), without_each(c)], axis=-1)
    return np.asarray(1 - lost.swapaxes(-1, -2))


def _leads(spa: Array) -> Array:
    return np.asarray(spa[..., :, None] - spa[..., None, :])


def _sign(x: Array) -> Array:
    """Signs of leads; what differs from 0 by no more than rounding is 0."""
    return np.asarray(np.sign(np.round(x, TIE_DECIMALS)))


def _kept(leads: Array, without: Array) -> Bools:
    """Whether a change stays: leads (2, …), without (K, 2, …) → (K, …)."""
    signs, then = _sign(leads), _sign(without)
    places = signs[0] * signs[1] < 0
    way = _sign(leads[1] - leads[0]) == _sign(without[:, 1] - without[:, 0])
    return np.asarray(np.where(places, (then == signs).all(axis=1), way))
