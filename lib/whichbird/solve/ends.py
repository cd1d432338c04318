"""What the pairs and lines of a pool say: its natural balance and its ends, exactly; systems on a line; systems nearly the same.

No pool is looked at pair by pair. Where the pairs of K systems are in question, they are sorted and neighbours compared.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..core.balance import EPS, distinct_steps, ends, gap_balance

CLOSE = 1e-5  # systems this near to each other, relative to the spread, make a proof be verified before it is used;
NEAR = 1e-6  # so do targets this near, relatively, to an end of the range or to the balance of two systems in use


def natural_balance(adequacy: np.ndarray, fluency: np.ndarray) -> Fraction:
    """The natural balance, exactly."""
    a, f = ([Fraction(float(t)) for t in x] for x in (adequacy, fluency))
    var_a, var_f = (adequacy.size * sum((t * t for t in x), Fraction()) - sum(x, Fraction()) ** 2 for x in (a, f))
    return var_a / (var_a + var_f)


def above_natural(adequacy: np.ndarray, fluency: np.ndarray, beta: Fraction) -> bool:
    """Whether a target lies above the natural balance, in exact arithmetic."""
    return beta > natural_balance(adequacy, fluency)


def ulps(x: np.ndarray | float) -> np.ndarray:
    """Eight units in the last place: how far a balance may be off by rounding."""
    return np.asarray(8 * np.spacing(np.abs(x)))


def at_end(adequacy: np.ndarray, fluency: np.ndarray, beta: float, bottom: bool) -> bool:
    """Whether a target is an end of the range or beyond it, in exact arithmetic; an end rounded is an end."""
    order = np.lexsort((fluency, adequacy)) if bottom else np.lexsort((adequacy, fluency))
    a, f = ([Fraction(float(x[k])) for k in order] for x in (adequacy, fluency))
    gaps = [((x - y) ** 2, (u - v) ** 2) for x, y, u, v in zip(a, a[1:], f, f[1:], strict=False) if (x, u) != (y, v)]
    shares = [x / (x + y) for x, y in gaps]
    exact = min(shares) if bottom else max(shares)
    computed = ends(adequacy, fluency)[0 if bottom else 1]
    return bool(beta in (float(exact), computed) or (beta <= exact if bottom else beta >= exact))


def end_lines(x: np.ndarray, y: np.ndarray, exact: bool = False) -> list[np.ndarray]:
    """Uniform weights on the fullest lines of points whose pairs have the largest share of x, one vector for each.

    Three points whose pairs share one |slope| are collinear, and the points of such a line are neighbours in sorted
    order, by the argument of `reachable`: a line is a run of steps of extreme slope and one sign.
    """
    point, dx, dy = distinct_steps(x, y)
    if exact:
        places = np.unique(point, return_index=True)[1]
        dx, dy = (np.diff(np.array([Fraction(t) for t in z[places].tolist()], object)) for z in (x, y))
        slope = np.array([abs(v / u) if u else np.inf for u, v in zip(dx, dy, strict=True)], object)
    else:
        with np.errstate(divide="ignore"):
            slope = np.abs(dy) / np.abs(dx)  # relative: a share of x near one has no digits left to compare
    extreme = slope <= slope.min() * (1 if exact else 1 + 16 * EPS)
    sign = np.where(extreme, np.where((dx < 0) != (dy < 0), -1, 1), 0)
    sign = np.where((sign != 0) & (dy == 0), 1, sign)
    starts = np.flatnonzero(np.diff(sign, prepend=0) * (sign != 0))
    stops = np.flatnonzero(np.diff(sign, append=0) * (sign != 0)) + 1
    total = np.concatenate(([0], np.cumsum(np.bincount(point))))  # systems at the points before
    full = total[stops + 1] - total[starts]
    return [((point >= starts[n]) & (point <= stops[n])) / full[n] for n in np.flatnonzero(full == full.max())]


def exact_lines(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> list[np.ndarray]:
    """`end_lines` in exact arithmetic, of the systems that w uses."""
    on = np.flatnonzero(w)
    out = np.zeros((0, w.size))
    if on.size > 1 and (np.ptp(x[on]) or np.ptp(y[on])):
        lines = np.array(end_lines(x[on], y[on], exact=True))
        out = np.zeros((len(lines), w.size))
        out[:, on] = lines
    return sorted(out, key=lambda line: np.flatnonzero(line).tolist()) or [w / w.sum()]


def close_steps(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether two neighbouring pairs of points have the largest share of x up to rounding of the scores."""
    _, dx, dy = distinct_steps(x, y)
    with np.errstate(divide="ignore"):
        slope = np.abs(dy) / np.abs(dx)
    return bool((slope <= slope.min() * (1 + NEAR)).sum() > 1)


def close_pair(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether two systems that are no copies lie within CLOSE of each other in x and in y.

    In strips of x, two CLOSE wide, sorted by y. Two points in one half of a strip with no more than CLOSE between their y are
    such a pair; of four in a row two are in one half, so a pair is there only if one is among neighbours or next but one.
    """
    places = np.unique(distinct_steps(x, y)[0], return_index=True)[1]
    x, y = x[places], y[places]
    for shift in (0, 1):  # a pair that one way of cutting into strips parts lies in a strip of the other
        strip = np.floor((x / CLOSE + shift) / 2)
        order = np.lexsort((y, strip))
        for by in (1, 2):
            here, there = order[:-by], order[by:]
            near = (np.abs(x[here] - x[there]) < CLOSE) & (np.abs(y[here] - y[there]) < CLOSE)
            if (near & (strip[here] == strip[there])).any():
                return True
    return False


def holes(u: np.ndarray, v: np.ndarray, points: np.ndarray, P: float) -> list[tuple[float, float, int]]:
    """Intervals around systems with many copies that hold no mean of v but that of all weight on the copies; and the system.

    `points` numbers the places of the systems. Such a weighting has no balance, but var_u = var_v, so no saddle excludes
    it. Only m copies with 1/m under the collision P matter. Then v-gap² > u-gap² to every other system (else sharing the
    weight with it would be feasible and better), and expanding the constraint about the copies shows that a weighting with
    anything elsewhere has its mean of v at least min (v-gap² − u-gap²) / |v-gap| away.
    """
    out = []
    for point in np.flatnonzero(np.bincount(points) * P >= 1 - 1e-6):
        k, other = int(np.flatnonzero(points == point)[0]), points != point
        du, dv = np.abs(u[other] - u[k]), np.abs(v[other] - v[k])
        with np.errstate(divide="ignore", invalid="ignore"):
            away = max(0, ((dv - du) * (1 + du / dv)).min() * (1 - 8 * EPS) - 4 * EPS)
        out.append((v[k] - away, v[k] + away, k))
    return out


def line_of(adequacy: np.ndarray, fluency: np.ndarray, beta: float, w: np.ndarray) -> Fraction | None:
    """The exact balance of three points or more in use, if all lie on one line and it rounds to about beta, else None."""
    on = np.flatnonzero(w)
    a, f = ([Fraction(float(x[k])) - Fraction(float(x[on[0]])) for k in on] for x in (adequacy, fluency))
    k = max(range(on.size), key=lambda k: abs(a[k]) + abs(f[k]))
    if (
        len(set(zip(a, f, strict=True))) < 3
        or any(a[k] * y != f[k] * x for x, y in zip(a, f, strict=True))
        or a[k] == f[k] == 0
    ):
        return None
    share = a[k] ** 2 / (a[k] ** 2 + f[k] ** 2)
    return share if abs(float(share) - beta) <= ulps(beta) else None


def next_pairs(adequacy: np.ndarray, fluency: np.ndarray, beta: float) -> np.ndarray:
    """Balances of 2K − 2 pairs of systems, among them the next ones to `beta` on both sides.

    A pair has the balance beta if it is level in √(1−β)a + √β f or in √(1−β)a − √β f. As beta changes, systems pass each
    other there, and the first to do so are neighbours.
    """
    a, f = np.sqrt(1 - beta) * adequacy, np.sqrt(beta) * fluency
    orders = np.argsort(a + f), np.argsort(a - f)
    return np.concatenate([gap_balance(np.diff(adequacy[k]), np.diff(fluency[k])) for k in orders])
