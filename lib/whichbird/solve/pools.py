"""Pools in standard units, many at once; the side of a target; and where ordinary numbers may be too coarse for either."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..core import check
from ..core.balance import (
    EPS,
    OUTSIDE,
    Standard,
    ends,
    in_unit,
    not_too_large,
    out_of_reach,
    snapped,
    solvable,
    weighted_share,
)
from .cover import BETA_TOLERANCE
from .ends import CLOSE, NEAR, close_pair
from .saddle import dot

MANY = 1000  # in a pool of more systems some are close by chance, and hardly matter
EXTREME = 1e-3  # targets this near to 0 or 1 make a proof be verified before it is used, as CLOSE and NEAR of `ends` do


class Pools(NamedTuple):
    """R standard pools: scores (R, K), the unit of each, the range it reaches, its natural balance; NaN if it has none."""

    a: np.ndarray
    f: np.ndarray
    scale: np.ndarray
    low: np.ndarray
    high: np.ndarray
    natural: np.ndarray
    given_a: np.ndarray  # (R, K), as `Standard` has them
    given_f: np.ndarray

    @classmethod
    def of(cls, pool: Standard) -> Pools:
        solvable(pool.given_a, pool.given_f)
        return cls._of(pool.a[None], pool.f[None], np.array([pool.scale]), pool.given_a[None], pool.given_f[None])

    @classmethod
    def many(cls, adequacy: ArrayLike, fluency: ArrayLike) -> Pools:
        """What `Standard.of` does, for all rows of (R, K) at once; scale zero where the systems do not differ."""
        a, f = check.matrix(adequacy, "adequacy"), check.matrix(fluency, "fluency")
        if a.shape != f.shape:
            raise ValueError(f"adequacy has shape {a.shape}, fluency {f.shape}; the same is expected, pools × systems")
        if a.shape[1] < 2:
            raise ValueError(f"the pools have {a.shape[1]} systems; a balance needs at least two")
        not_too_large(a, f)
        noise = [4 * EPS * np.abs(x).max(axis=1, initial=0) for x in (a, f)]
        scale = np.maximum(np.ptp(a, axis=1), np.ptp(f, axis=1))
        scale = np.where(scale > np.maximum(*noise), scale, 0)
        given = [snapped(x, n[:, None]) for x, n in zip((a, f), noise, strict=True)]
        solvable(*given)
        with np.errstate(all="ignore"):
            a, f = ((x - x.mean(axis=1)[:, None]) / scale[:, None] for x in given)
        return cls._of(a, f, scale, *given)

    @classmethod
    def _of(cls, a: np.ndarray, f: np.ndarray, scale: np.ndarray, given_a: np.ndarray, given_f: np.ndarray) -> Pools:
        low, high, natural = np.full((3, scale.size), np.nan)
        real = scale > 0
        if real.any():
            low[real], high[real] = ends(given_a[real], given_f[real])
        even = np.full(a[real].shape, 1 / a.shape[1])
        natural[real] = weighted_share(given_a[real], given_f[real], scale[real], even)
        return cls(a, f, scale, low, high, natural, given_a, given_f)


def grid(beta: ArrayLike, pools: int) -> np.ndarray:
    """Targets as (R,) or (R, T)."""
    try:
        out = np.asarray(beta, dtype=np.float64)
        out = np.broadcast_to(out, (pools,) if out.ndim < 2 else (pools, out.shape[1]))
    except (TypeError, ValueError, IndexError):
        raise ValueError(
            f"beta has shape {np.shape(beta)}; for {pools} pools a number, ({pools},), ({pools}, T) or (1, T) is expected"
        ) from None
    for value in out[~((out >= 0) & (out <= 1))][:1]:
        in_unit(value)
    return out


def targets_within(betas: ArrayLike, low: float, high: float) -> np.ndarray:
    betas = check.vector(betas, "betas")
    for beta in betas:
        if not low - OUTSIDE <= in_unit(beta) <= high + OUTSIDE:
            raise out_of_reach(beta, low, high)
    return np.clip(betas, low, high)


def sides(pools: Pools, which: np.ndarray, betas: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For each target whether it lies above the natural balance; x, the aspect to stretch, and v, (N, K); the stretch."""
    above = betas > pools.natural[which]
    a, f = pools.a[which], pools.f[which]
    x, v = np.where(above[:, None], a, f), np.where(above[:, None], f, a)
    with np.errstate(divide="ignore"):  # the side not taken may be without a bound
        return above, x, v, np.sqrt(np.where(above, (1 - betas) / betas, betas / (1 - betas)))


def coarse(pools: Pools, which: np.ndarray, betas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each target whether ordinary numbers may be too coarse for its pool, or for a target so near to 0, 1 or an end; and
    whether they are not worth a search: in such a pool, or next to 0 or 1.

    A pool is one if systems lie very close together, all but a few of them do, or all next to a line.
    """
    near = np.minimum(betas, 1 - betas)
    with np.errstate(all="ignore"):
        out = np.minimum(betas - pools.low[which], pools.high[which] - betas) < NEAR * near
        out |= near < EXTREME
        aa, ff, af = (
            dot(x - x.mean(1)[:, None], y) for x, y in ((pools.a, pools.a), (pools.f, pools.f), (pools.a, pools.f))
        )
        hard = (1 - af**2 / (aa * ff) < EXTREME) | ~(aa * ff > 0)
    sort = [np.sort(x, axis=1) for x in (pools.a, pools.f)]
    quarter = pools.a.shape[1] // 4
    hard |= np.max([x[:, -1 - quarter] - x[:, quarter] for x in sort], axis=0) < EXTREME
    close = np.asarray((np.diff(sort[0], axis=1) < CLOSE).any(1) & (np.diff(sort[1], axis=1) < CLOSE).any(1))
    for n in np.flatnonzero(close):
        close[n] = close_pair(pools.a[n], pools.f[n])
    hopeless = (hard | close if pools.a.shape[1] <= MANY else hard)[which]
    return np.asarray(out | (hard | close)[which]), np.asarray(hopeless | (near < BETA_TOLERANCE))


def thin(pools: Pools, which: np.ndarray, betas: np.ndarray, w: np.ndarray) -> np.ndarray:
    """For each target whether the heaviest system and another in use have next to exactly the target's balance.

    Then a line of systems may only seem to have it.
    """
    k = np.where(np.isfinite(w), w, 0).argmax(1)[:, None]
    x, y = ((z[which] - np.take_along_axis(z[which], k, 1)) ** 2 for z in (pools.a, pools.f))
    x, y = (1 - betas[:, None]) * x, betas[:, None] * y
    return np.asarray(((np.abs(x - y) < NEAR * (x + y)) & (w > NEAR)).any(1))
