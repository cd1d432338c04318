"""The balance β of a weighted pool of systems, and the few moments it is made of.

A pool is two vectors over K systems: `adequacy` a and `fluency` f (system means, higher is better). Weights w are
non-negative and sum to one; None means uniform. Every moment is the population form (divide by the total weight).

Scores are centred before they are squared, so adding a constant to all of them changes nothing but the last bits; β is a
ratio, so a common scale changes nothing at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import check
from .check import Array

EPS = np.finfo(np.float64).eps
OUTSIDE = 8 * EPS  # a target that lies no farther outside the range means its end, whose 1 − β may be rounded
NOTHING = 1e-100  # a target below this is the end of a range that begins at 0: doubles hardly go farther
LARGEST = 1e300  # of a score: differences and sums must be doubles
SPREADS = 1e-100, 1e100  # of a pool that is solved: multipliers and proofs take its square, and the square of that
RATIO = 1e-50  # of the two aspects' spreads there, the root of NOTHING
TOLERANCE = 1e-9  # how exactly a target β must be reached: far above rounding, far below anything printed


def mean(x: ArrayLike, w: ArrayLike | None = None) -> float:
    """Weighted mean of x (K,).

    >>> mean([0, 1, 5], [1, 1, 0])
    0.5
    """
    x = check.vector(x, "x")
    centre = x.mean()
    return float(centre + check.weights(w, x.size) @ (x - centre))


def covariance(x: ArrayLike, y: ArrayLike, w: ArrayLike | None = None) -> float:
    """Weighted population covariance of x and y, both (K,).

    >>> covariance([0, 1], [0, 3])
    0.75
    """
    x = check.vector(x, "x")
    y = check.vector(y, "y", x.size)
    w = check.weights(w, x.size)
    return float(w @ (_centred(x, w) * _centred(y, w)))


def variance(x: ArrayLike, w: ArrayLike | None = None) -> float:
    """Weighted population variance of x (K,).

    >>> variance([0, 2])
    1.0
    """
    return covariance(x, x, w)


def balance(adequacy: ArrayLike, fluency: ArrayLike, w: ArrayLike | None = None) -> float:
    """β(w): adequacy's share of the two marginal variances, between 0 (all fluency) and 1 (all adequacy).

    >>> balance([0, 2], [0, 1])
    0.8
    >>> round(balance([0, 2, 9], [0, 1, 0], [1, 1, 0]), 12)
    0.8
    """
    p = Standard.of(adequacy, fluency)
    w = check.weights(w, p.a.size)
    if max(np.ptp(p.a[w > 0]), np.ptp(p.f[w > 0])) <= p.resolution:  # the computed variance would be rounding, not 0
        raise ValueError(
            "all the weight lies on systems with the same adequacy and fluency; their balance is not defined"
        )
    return float(weighted_share(p.given_a, p.given_f, p.scale, w))


def balances(adequacy: ArrayLike, fluency: ArrayLike, w: Array) -> Array:
    """β of many weightings at once, from the rows of w (n, K), each summing to one: shape (n,).

    Faster than `balance` row by row, and with fewer digits where nearly all weight lies on one point; NaN where all does.

    >>> balances([0, 2, 0], [0, 1, 3], np.array([[0.5, 0.5, 0], [0.5, 0, 0.5], [1, 0, 0]]))
    array([0.8, 0. , nan])
    """
    return standard_balances(Standard.of(adequacy, fluency), w)


def standard_balances(p: Standard, w: Array) -> Array:
    """`balances` of a pool that is standard already."""
    s_a, s_f = (w @ x**2 - (w @ x) ** 2 for x in (p.a, p.f))
    both = s_a + s_f
    return np.where(both > 1e-12, s_a / np.where(both > 1e-12, both, 1), np.nan)  # the spread of a standard pool is one


def std_balance(beta: float) -> float:
    """β read on standard deviations, σ(a; w) / (σ(a; w) + σ(f; w)), from β read on variances.

    >>> round(std_balance(0.8), 12)
    0.666666666667
    """
    beta = in_unit(beta)
    return float(np.sqrt(beta) / (np.sqrt(beta) + np.sqrt(1 - beta)))


def from_std_balance(beta_std: float) -> float:
    """The inverse of `std_balance`.

    >>> round(from_std_balance(2 / 3), 12)
    0.8
    """
    s = in_unit(beta_std)
    return float(s**2 / (s**2 + (1 - s) ** 2))


def pair_balances(adequacy: ArrayLike, fluency: ArrayLike) -> Array:
    """β of every pair of systems k < k′ weighted ½, ½, in the order of numpy.triu_indices(K, 1): shape (K(K−1)/2,).

    A pair with the same adequacy and the same fluency has no balance; NaN stands in its place.

    >>> pair_balances([0, 2, 0], [0, 1, 3])
    array([0.8, 0. , 0.5])
    """
    p = Standard.of(adequacy, fluency)
    i, j = np.triu_indices(p.a.size, 1)
    return gap_balance(p.given_a[i] - p.given_a[j], p.given_f[i] - p.given_f[j])


class Reach(NamedTuple):
    """The reachable range and, for each end, all the pairs (k, k′) that attain it."""

    low: float
    high: float
    low_pairs: tuple[tuple[int, int], ...]
    high_pairs: tuple[tuple[int, int], ...]


def reach(adequacy: ArrayLike, fluency: ArrayLike) -> Reach:
    """The smallest and largest balance any weighting of at least two systems can have, with the pairs that attain them.

    >>> reach([0, 2, 0], [0, 1, 3])
    Reach(low=0.0, high=0.8, low_pairs=((0, 2),), high_pairs=((0, 1),))
    """
    pairs = pair_balances(adequacy, fluency)
    i, j = np.triu_indices(np.size(adequacy), 1)
    low, high = reachable(adequacy, fluency)

    def attain(value: float) -> tuple[tuple[int, int], ...]:
        return tuple((int(i[n]), int(j[n])) for n in np.flatnonzero(np.abs(pairs - value) <= 8 * EPS))

    return Reach(low, high, attain(low), attain(high))


def reachable(adequacy: ArrayLike, fluency: ArrayLike) -> tuple[float, float]:
    """(βmin, βmax): the range of balances that reweighting can reach.

    The slope between two systems is a mean of the slopes of the steps between them in sorted order, so the steepest and
    the flattest are found among neighbours: K log K work, not K².

    >>> reachable([0, 2, 0], [0, 1, 3])
    (0.0, 0.8)
    """
    return _reachable(Standard.of(adequacy, fluency))


def target(adequacy: ArrayLike, fluency: ArrayLike, beta: float) -> float:
    """Return `beta` as a float if this pool can reach it, else raise ValueError naming the reachable range.

    >>> target([0, 2, 0], [0, 1, 3], 0.9)
    Traceback (most recent call last):
    ...
    ValueError: beta = 0.9 cannot be reached; this pool reaches 0 to 0.8
    """
    beta = in_unit(beta, "beta")
    low, high = reachable(adequacy, fluency)
    if not low - OUTSIDE <= beta <= high + OUTSIDE:
        raise out_of_reach(beta, low, high)
    return low if low == 0 and beta < NOTHING else min(max(beta, low), high)


def out_of_reach(beta: float, low: float, high: float) -> ValueError:
    """The refusal of a target, every number with as many digits as bring it back exactly."""
    asked, first, last = (np.format_float_positional(x, trim="-") for x in (beta, low, high))
    return ValueError(f"beta = {asked} cannot be reached; this pool reaches {first} to {last}")


def collision(w: ArrayLike) -> float:
    """Σ w_k², the chance that two systems drawn by w are the same one.

    >>> collision([1, 1])
    0.5
    """
    w = np.asarray(w)
    w = check.weights(w, w.size)
    return float(w @ w)


def ess(w: ArrayLike) -> float:
    """Effective sample size 1 / Σ w_k²: from 1 (all weight on one system) to K (uniform).

    >>> ess([1, 1, 0])
    2.0
    """
    return 1.0 / collision(w)


def constraint(w: ArrayLike | None, adequacy: ArrayLike, fluency: ArrayLike, beta: float) -> float:
    """b(w, β̂) = (1 − β̂) σ(a; w)² − β̂ σ(f; w)²: zero exactly where β(w) = β̂, positive where β(w) is larger.

    In squared units of the scores: judge a result by β(w), never by |b| alone.

    >>> constraint([1, 1], [0, 2], [0, 1], 0.5)
    0.375
    """
    a, f = pool(adequacy, fluency)
    solvable(a, f)
    w = check.weights(w, a.size)
    beta = in_unit(beta)
    return float((1 - beta) * (w @ _centred(a, w) ** 2) - beta * (w @ _centred(f, w) ** 2))


def constraint_gradient(w: ArrayLike | None, adequacy: ArrayLike, fluency: ArrayLike, beta: float) -> Array:
    """∂b/∂w on the plane Σw = 1, shape (K,): (1 − β̂)(a_k − μ_a)² − β̂ (f_k − μ_f)², up to a constant along 1.

    The unrestricted gradient differs from it by a multiple of the vector of ones, which the multiplier λ absorbs.

    >>> constraint_gradient([1, 1], [0, 2], [0, 1], 0.5)
    array([0.375, 0.375])
    """
    a, f = pool(adequacy, fluency)
    solvable(a, f)
    w = check.weights(w, a.size)
    beta = in_unit(beta)
    return (1 - beta) * _centred(a, w) ** 2 - beta * _centred(f, w) ** 2


def pool(adequacy: ArrayLike, fluency: ArrayLike) -> tuple[Array, Array]:
    """The two score vectors of a pool, checked: equal lengths, finite, at least two systems that differ.

    >>> pool([0, 2], [0, 1])
    (array([0., 2.]), array([0., 1.]))
    """
    check.same_labels(adequacy, fluency, "adequacy", "fluency")
    a = check.vector(adequacy, "adequacy")
    f = check.vector(fluency, "fluency", a.size)
    if a.size < 2:
        raise ValueError(f"the pool has {a.size} system; a balance needs at least two")
    not_too_large(a, f)
    if max(np.ptp(a), np.ptp(f)) <= max(resolution(a), resolution(f)):  # one unit for both: the coarser rounding counts
        raise ValueError(f"all {a.size} systems have the same adequacy and fluency; a balance needs two that differ")
    return a, f


def not_too_large(*scores: Array) -> None:
    """Refuse scores next to the largest double there is."""
    size = max(np.abs(x).max(initial=0) for x in scores)
    if size > LARGEST:
        raise ValueError(f"a score is of size {size:.3g}; at most {LARGEST:g} is expected, in a larger unit")


def solvable(a: Array, f: Array) -> None:
    """Refuse a pool, or the first of several (R, K), whose spreads have powers that are no doubles.

    >>> solvable(np.array([0, 1e155]), np.array([0, 2.0]))
    Traceback (most recent call last):
    ...
    ValueError: the adequacy of the pool differs by 1e+155, its fluency by 2; 1e-100 to 1e+100 is expected, and ...
    """
    both = np.array([np.ptp(np.atleast_2d(x), axis=1) for x in (a, f)])
    (low, high), large, small = SPREADS, both.max(0), both.min(0)
    for n in np.flatnonzero((large > 0) & ((large < low) | (large > high)) | (small > 0) & (small < RATIO * large)):
        name = "the pool" if a.ndim == 1 else f"pool {n}"
        raise ValueError(
            f"the adequacy of {name} differs by {both[0, n]:.3g}, its fluency by {both[1, n]:.3g}; {low:g} to {high:g} is "
            f"expected, and {RATIO:g} of the other at least"
        )


class Standard(NamedTuple):
    """A pool brought to the origin and to unit spread, by one common scale, so that β of any weighting is unchanged.

    Scores that differ by no more than their rounding come out exactly equal, so that later code may compare with ==.
    """

    a: Array
    f: Array
    scale: float
    resolution: float  # gaps up to this size are rounding of the scores given
    given_a: Array  # the scores as given but for that rounding: their differences have all digits
    given_f: Array

    @classmethod
    def of(cls, adequacy: ArrayLike, fluency: ArrayLike) -> Standard:
        a, f = pool(adequacy, fluency)
        scale = float(max(np.ptp(a), np.ptp(f)))
        noise = max(resolution(a), resolution(f)) / scale
        a, f = (snapped(x, resolution(x)) for x in (a, f))
        return cls((a - a.mean()) / scale, (f - f.mean()) / scale, scale, noise, a, f)


def resolution(x: Array) -> float:
    """How far apart two values of x may lie and still be the same number after rounding: a few units in the last place.

    >>> bool(resolution(np.array([0.0, 2.0])) < 1e-14)
    True
    """
    return 4 * EPS * float(np.abs(x).max())


def snapped(x: Array, noise: float | Array) -> Array:
    """The vector x, or each row of it, with values that differ by no more than `noise` made equal.

    The smallest value of a group stands for it, and no group is wider than `noise`: a chain of close values breaks.

    >>> snapped(np.array([3.0, 0.0, 0.25, 0.5]), 0.25)
    array([3. , 0. , 0. , 0.5])
    """
    order = np.argsort(x, axis=-1, kind="stable")
    sort = np.take_along_axis(x, order, -1)
    new = np.diff(sort, prepend=-np.inf) > noise
    first = np.maximum.accumulate(np.where(new, np.arange(x.shape[-1]), 0), axis=-1)  # one stands for a run of equals
    wide = sort - np.take_along_axis(sort, first, -1) > noise
    for at in np.argwhere(wide.any(axis=-1)):
        row, limit = tuple(at), float(np.broadcast_to(noise, (*x.shape[:-1], 1))[(*at, 0)])
        for k in range(1, x.shape[-1]):
            start = first[(*row, k - 1)]
            first[(*row, k)] = k if sort[(*row, k)] - sort[(*row, start)] > limit else start
    out = np.empty_like(x)
    np.put_along_axis(out, order, np.take_along_axis(sort, first, -1), -1)
    return out


def ends(a: Array, f: Array) -> tuple[Array, Array]:
    """βmin and βmax of snapped scores (K,), or of each row of (R, K), by the argument of `reachable`."""
    by_f, by_a = np.lexsort((a, f), axis=-1), np.lexsort((f, a), axis=-1)
    gaps = [[np.diff(np.take_along_axis(x, order, -1)) for x in (a, f)] for order in (by_a, by_f)]
    low, high = (gap_balance(*gap) for gap in gaps)  # NaN between copies, and there is one that is not
    return np.nanmin(low, axis=-1), np.nanmax(high, axis=-1)


def _reachable(p: Standard) -> tuple[float, float]:
    low, high = ends(p.given_a, p.given_f)
    return float(low), float(high)


def gap_balance(da: Array, df: Array) -> Array:
    """β of pairs with these gaps; NaN where both are zero."""
    with np.errstate(invalid="ignore"):
        # dividing by the larger gap first keeps tiny gaps from squaring to zero
        big = np.maximum(np.abs(da), np.abs(df))
        return (da / big) ** 2 / ((da / big) ** 2 + (df / big) ** 2)


def weighted_share(a: Array, f: Array, scale: float | Array, w: Array) -> Array:
    """The balance of weights (…, K) on scores (…, K) of a spread `scale` (…), with the same bits on every x86 processor.

    numpy adds up a row that lies in one piece in the same order everywhere. Products of vectors and matrices are summed in
    the order that suits the processor.
    """
    k, unit = w.argmax(-1)[..., None], np.asarray(scale)[..., None]
    s_a, s_f = (
        (w * (x - (w * x).sum(-1, keepdims=True)) ** 2).sum(-1)
        # around the heaviest system, so that close systems keep their differences
        for x in ((x - np.take_along_axis(x, k, -1)) / unit for x in (a, f))
    )
    return np.asarray(s_a / (s_a + s_f))


def distinct_steps(x: Array, y: Array) -> tuple[Array, Array, Array]:
    """Distinct points, sorted by (y, x): the number of every system's point, and the gaps in x and y to the next."""
    order = np.lexsort((x, y))
    dx, dy = np.diff(x[order]), np.diff(y[order])
    moved = (dx != 0) | (dy != 0)
    point = np.empty(x.size, int)
    point[order] = np.concatenate(([0], np.cumsum(moved)))
    return point, dx[moved], dy[moved]


def _centred(x: Array, w: Array) -> Array:
    x = x - x.mean()
    return x - w @ x


def in_unit(value: float, name: str = "beta") -> float:
    try:
        out = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}; a number from 0 to 1 is expected") from None
    if not 0 <= out <= 1:
        raise ValueError(f"{name} is {out!r}; a number from 0 to 1 is expected")
    return out
