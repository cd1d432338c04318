"""Saddles z_k = h + (u_k − p)² − (v_k − q)², many at a time: what they exclude, and the way to the best of them.

The numerical half of `reweight`, which says what saddles are for. Throughout, a row is one saddle for one target of one
pool: u and v are (R, K), the scores of its pool, u stretched for its target; h, p, q and P, a collision probability,
are (R,). z₊ is max(0, z), and a saddle's own weights are z₊ / Σ z₊. Only `excluded`, `alone` and `off_balance` need to be
trusted: whatever else is computed here is checked by them.

`cone` is e = u + v and d = u − v (R, K), where these are known better than by adding u and v: then (u − p)² − (v − q)² is
computed as (e − p − q)(d − p + q), which keeps all digits next to the two lines where it is zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core.balance import EPS

STEPS = 60  # of Newton's method before a climb is broken off; most take under ten
Cone = tuple[np.ndarray, np.ndarray]
FALLS = 12  # steps of a descent, each with a climb
PATIENCE = 10  # steps of a descent after which a valley that is no optimum is left alone
LOOKS, HOPE = (2, 4, 7), 0.7  # after so many steps, targets this far from a dual proof are left to the whole search
TRIES = 15  # of Newton's method from the uniform weighting; what has not settled by then is searched for with care


def excluded(
    u: np.ndarray, v: np.ndarray, q: np.ndarray, h: np.ndarray, p: np.ndarray, P: np.ndarray, cone: Cone | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """h − √P ‖z₊‖, the square of the half-width a row excludes, less a bound on its rounding error; and ‖z₊‖ / √P.

    >>> u, v = np.array([[-0.1, 0.0, 0.1]]), np.array([[0.0, 0.8, 0.1]])
    >>> square, _ = excluded(u, v, np.array([0.6]), np.array([0.4]), np.zeros(1), np.array([0.5]))
    >>> np.round(np.sqrt(square), 3)  # no weighting with Σw² ≤ 0.5 and var_u ≥ var_v has a mean of v this near to 0.6
    array([0.345])
    """
    root = np.sqrt(P)
    if cone is None:
        du2, dv2 = (u - p[:, None]) ** 2, (v - q[:, None]) ** 2
        z, size = h[:, None] + du2 - dv2, du2 + dv2
    else:
        (e, d), p_e, p_d = cone, (p + q)[:, None], (p - q)[:, None]
        z = h[:, None] + (e - p_e) * (d - p_d)
        size = (np.abs(e) + np.abs(p_e)) * np.abs(d - p_d) + np.abs(e - p_e) * (np.abs(d) + np.abs(p_d))
    on = z > 0
    n = np.sqrt(dot(z, z * on))
    terms = (np.abs(h)[:, None] + size) * on
    slack = EPS * (4 * np.abs(h) + root * (8 * np.sqrt(dot(terms, terms)) + u.shape[1] * n))
    return h - root * n - slack, n / root


def alone(u: np.ndarray, v: np.ndarray, q: np.ndarray, h: np.ndarray, p: np.ndarray, P: np.ndarray) -> np.ndarray:
    """For each row whether its saddle alone excludes every mean at the level P: remark 4 of `reweight`.

    >>> u, v = np.array([[-0.5, 0.0, 0.5]]), np.array([[0.0, 0.3, 0.1]])
    >>> alone(u, v, np.array([0.13]), np.array([2.0]), np.zeros(1), np.array([0.2]))  # three systems have Σw² ≥ 1/3
    array([ True])
    """
    square, s = excluded(u, v, q, h, p, P)
    z = np.maximum(h[:, None] + (u - p[:, None]) ** 2 - (v - q[:, None]) ** 2, 0)
    own = z / np.where(s > 0, s, 1)[:, None]
    off_u, off_v = dot(own, u) - p, dot(own, v) - q
    uu, uv, vv = dot(u, u), dot(u, v), dot(v, v)
    den = 2 * (uu * vv - uv * uv) + s * vv
    # for every y = q′ − own mean of v:  (y + off_v)² < square + s [(uu + s/2) y² + 2 off_u uv y + off_u² vv] / den
    with np.errstate(all="ignore"):
        a = s * (uu + s / 2) / den - 1
        b = s * off_u * uv / den - off_v
        c = square + s * off_u**2 * vv / den - off_v**2
        # a is known to fewer digits where the pool is nearly a line
        return np.asarray((a > 1e-9) & (c > 0) & (b * b < a * c))


def ascend(u: np.ndarray, v: np.ndarray, stretch: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For each row, Newton's method from the uniform weighting towards a local optimum: h, p, q and the weights (R, K).

    Three numbers solve three equations; near the natural balance few systems drop out on the way, and five or six steps
    settle all digits. Further away it may end anywhere, or in nan: what it returns is a guess to be checked.
    """
    p, q = u.mean(1), v.mean(1)
    g = (u - p[:, None]) ** 2 - (v - q[:, None]) ** 2
    with np.errstate(all="ignore"):
        h = -dot(g, g) / g.sum(1)  # the constraint met to first order, were p and q to stay
    out, row = (h, p, q, np.full_like(u, np.nan)), np.arange(h.size)
    best, before = np.full(h.size, np.inf), np.full(h.size, np.inf)
    with np.errstate(all="ignore"):
        for n in range(TRIES):
            w, miss, step = stationarity(u, v, h, p, q)
            error = _error(u, v, stretch, h, w, miss)
            better = error < best[row]
            for x, new in zip(out, (h, p, q, w), strict=True):
                x[row[better]] = new[better]
            best[row[better]] = error[better]
            # far away an error may grow once in a while; one that does not halve near the end is rounding
            live = (error > 1e-15) & ((error <= 0.5 * before) | (error > 1e-9) & np.isfinite(error))
            if n in LOOKS:  # far from convex, so `alone` will not hold where this ends: s of `alone` is h / Σw² there
                s, uu, vv, uv = h / dot(w, w), dot(u, u), dot(v, v), dot(u, v)
                live &= s * (uu + s / 2) > HOPE * (2 * (uu * vv - uv * uv) + s * vv)
            if not live.any():
                break
            row, u, v, stretch, before = (x[live] for x in (row, u, v, stretch, error))
            h, p, q = (x + d for x, d in zip((h, p, q), np.minimum(1, 0.5 * h / np.abs(step[0])) * step, strict=True))
            h, p, q = (x[live] for x in (h, p, q))
    return out


def climb(
    u: np.ndarray,
    v: np.ndarray,
    q: np.ndarray,
    h: np.ndarray,
    p: np.ndarray,
    P: np.ndarray | None = None,
    cone: Cone | None = None,
) -> np.ndarray:
    """For each row, move (h, p) uphill with the centre q fixed. Returns h, p and the height reached.

    With `P` the hill is h − √P ‖z₊‖, the square of the half-width excluded; without, it is h / ‖z₊‖, whose maximum is
    the square root of the least collision probability that this q allows.

    A norm has a sharp tip, where Newton's method is lost. So climb h − ½ s P − ½ ‖z₊‖² / s, smooth, with s > 0 an
    unknown too: its best value ‖z₊‖ / √P gives the hill back. (Without `P`, take P = (h / ‖z₊‖)², so s = ‖z₊‖² / h.)

    >>> u, v = np.array([[-0.3, 0.0, 0.3]]), np.array([[0.0, 0.8, 0.1]])
    >>> h, p, height = climb(u, v, np.array([0.2]), np.ones(1), np.zeros(1))
    >>> np.round(1 / height**2, 3)  # the largest effective sample size with this q
    array([2.618])
    """
    out, ones = np.empty((3, q.size)), np.ones(u.shape[1])
    row, v2, fixed = np.arange(q.size), (v - q[:, None]) ** 2, P is not None
    s, P = np.full(q.size, np.nan), np.ones(q.size) if P is None else P
    best, top = [s, h, p], np.full(q.size, -np.inf)
    e, d = (None, None) if cone is None else cone
    step, failed = [np.zeros(q.size)] * 3, np.zeros(q.size)
    with np.errstate(all="ignore"):
        for n_step in range(STEPS):
            du = u - p[:, None]
            du2 = du * du
            z = du2 - v2 if e is None or d is None else (e - (p + q)[:, None]) * (d - (p - q)[:, None])
            z += h[:, None]
            on = (z > 0).astype(float)
            z *= on
            nn = dot(z, z)
            if not fixed:
                s, height = nn / h, h / np.sqrt(nn)
            else:
                if n_step == 0:
                    s = np.where(nn > 0, np.sqrt(nn / P), v2.max(1))
                height = h - 0.5 * (s * P + nn / s)
            # minus the second derivatives, times s, in (relative change of s, change of z at u = p, change of p)
            sz, szu, m, mu, muu = z @ ones, dot(z, du), on @ ones, dot(on, du), dot(on, du2)
            hh, hp, pp = m, -2 * mu, 4 * muu + 2 * s
            sh, sp = -sz, 2 * szu
            g_s, g_h, g_p = 0.5 * (nn - P * s * s) if fixed else 0, s - sz, 2 * szu
            t_h, t_p = sh / nn, sp / nn  # eliminate s; equal weights would make what remains singular
            d_h, d_p = _solve2(
                hh - sh * t_h * (1 - 1e-12), hp - sh * t_p, pp - sp * t_p, g_h - t_h * g_s, g_p - t_p * g_s
            )
            d_s = (g_s - sh * d_h - sp * d_p) / nn
            gain = (g_s * d_s + g_h * d_h + g_p * d_p) / s  # twice the rise Newton expects
            if fixed:
                wild = ~(np.abs(d_s - 1) < 1.75)
                if wild.any():  # first the best (h, p) for this s, then another s, not too far away
                    c_h, c_p = _solve2(hh, hp, pp, g_h, g_p)
                    c_s = np.where(g_h * c_h + g_p * c_p > 0.1 * P * s * s, 0, np.where(d_s > 0, 2.75, -0.75))
                    c_h, c_p = (c + c_s * r for c, r in zip((c_h, c_p), _solve2(hh, hp, pp, -sh, -sp), strict=True))
                    up = s - h - (du2 - v2).max(1)  # where z₊ has vanished, go up until a system is in use
                    c_s, c_h, c_p = _choose(nn > 0, (c_s, c_h, c_p), (0, up, 0))
                    d_s, d_h, d_p, gain = _choose(wild, (c_s, c_h, c_p, np.inf), (d_s, d_h, d_p, gain))
            d_h = d_h - d_p * d_p
            if not fixed:
                cut = np.minimum(1, 0.8 * h / np.abs(d_h))
                d_h, d_p = cut * d_h, cut * d_p
            d_s = d_s * s
            better = height > top
            done = better & (gain <= 1e-13 * np.abs(h))
            # this close to its widest an interval is wide enough; above √½ no two systems reach the target with this q
            done |= better & (gain < 0.02 * height) if fixed else height > 0.75
            here, way = [s, h, p], [d_s, d_h, d_p]
            if better.all():
                top, best, step, failed = height, here, way, np.zeros(better.size)
                s, h, p = (x + d for x, d in zip(here, way, strict=True))
            else:
                top, failed = _choose(better, (height, 0), (top, failed + 1))
                best, step = _choose(better, here, best), _choose(better, way, step)
                # beyond a kink the step from the failed point often lands right; if not, go back and step shorter
                onward = better | (failed % 2 == 1) & np.isfinite(d_h + d_p)
                short = 0.25 ** ((failed + 1) // 2)
                back = [x + short * d for x, d in zip(best, step, strict=True)]
                s, h, p = _choose(onward, [x + d for x, d in zip(here, way, strict=True)], back)
            if done.any():
                out[:, row[done]] = best[1][done], best[2][done], top[done]
                if done.all():
                    return out
                row, u, v2, P, top, failed, s, h, p = (x[~done] for x in (row, u, v2, P, top, failed, s, h, p))
                if e is not None and d is not None:
                    e, d, q = e[~done], d[~done], q[~done]
                best, step = ([x[~done] for x in y] for y in (best, step))
    out[:, row] = best[1], best[2], top
    return out


def _solve2(
    aa: np.ndarray, ab: np.ndarray, bb: np.ndarray, a: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    det = aa * bb - ab * ab
    return (bb * a - ab * b) / det, (aa * b - ab * a) / det


def descend(
    u: np.ndarray,
    v: np.ndarray,
    stretch: np.ndarray,
    q: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    h: np.ndarray,
    p: np.ndarray,
    height: np.ndarray | None = None,
    cone: Cone | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For each row, from q down to the bottom of its valley of least collision, inside (left, right), to all digits.

    A `height` says that the rows have been climbed already. Returns h, p, q and the weights (R, K).
    """
    if height is None:
        h, p, height = climb(u, v, q, np.where(h > 0, h, 0.5 * ((v - q[:, None]) ** 2).max(1)), p, cone=cone)
    w, miss, step = stationarity(u, v, h, p, q, cone=cone)
    for n in range(FALLS):
        settled = np.minimum(miss[1] ** 2, step[2] ** 2) <= 1e-14 * h  # near enough for Newton's last steps
        if n >= PATIENCE:  # at an end of the range two systems or more share the weight, so no optimum has Σw² > ½
            settled |= height > 0.7072
        if settled.all():
            break
        # the curve falls towards the weights' own mean of v, so that side of q brackets the bottom
        left, right = np.where(miss[1] > 0, q, left), np.where(miss[1] < 0, q, right)
        inside = (q + step[2] > left) & (q + step[2] < right)
        trial = np.where(inside, q + step[2], 0.5 * (left + right))
        close = inside & (np.abs(step[0]) < 0.5 * h)
        start_h, start_p = _choose(close, (h + step[0], p + step[1]), (h, p))
        h2, p2, height2 = climb(u, v, trial, start_h, start_p, cone=cone)
        w2, miss2, step2 = stationarity(u, v, h2, p2, trial, cone=cone)
        lower = height2 <= height * (1 + 1e-14)
        left, right = np.where(~lower & (trial < q), trial, left), np.where(~lower & (trial > q), trial, right)
        new, old = (trial, h2, p2, height2, miss2, step2), (q, h, p, height, miss, step)
        q, h, p, height, miss, step = _choose(lower, new, old)
        w = np.where(lower[:, None], w2, w)
    error = _error(u, v, stretch, h, w, miss, cone)
    for margin in (0, 0, 1e-4, 1e-6, 0, 0):
        if (error <= 1e-15).all():
            break
        by = stationarity(u, v, h, p, q, margin, cone)[2] if margin else step
        h2, p2, q2 = h + by[0], p + by[1], q + by[2]
        w2, miss2, step2 = stationarity(u, v, h2, p2, q2, cone=cone)
        error2 = _error(u, v, stretch, h2, w2, miss2, cone)
        better = error2 < error
        h, p, q, error, step = _choose(better, (h2, p2, q2, error2, step2), (h, p, q, error, step))
        w = np.where(better[:, None], w2, w)
    rough = ~(off_balance(u, v, w, stretch, cone) <= 1e-13)
    if rough.any():
        few = None if cone is None else (cone[0][rough], cone[1][rough])
        h[rough], p[rough], q[rough], w[rough] = repair(u[rough], v[rough], w[rough], few)
    return h, p, q, w


def stationarity(
    u: np.ndarray,
    v: np.ndarray,
    h: np.ndarray,
    p: np.ndarray,
    q: np.ndarray,
    margin: float = 0.0,
    cone: Cone | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The weights of each saddle, how far p, q are from their means and these from the constraint, and Newton's step.

    Returns w (R, K); the residuals (3, R): mean of u − p, mean of v − q, var_u − var_v to first order; and the step
    (3, R) in h, p, q. With a margin, systems are in use from z > −margin·h on, so that a step can bring one in.
    """
    with np.errstate(all="ignore"):
        right = np.ones(
            (4, *u.shape)
        )  # u − p, v − q, g, 1; below, each of z₊, on·(u − p), on·(v − q), on: all sums at once
        du, dv, g, _ = right
        np.subtract(u, p[:, None], out=du)
        np.subtract(v, q[:, None], out=dv)
        if cone is None:
            np.multiply(du - dv, du + dv, out=g)
        else:
            np.multiply(cone[0] - (p + q)[:, None], cone[1] - (p - q)[:, None], out=g)
        z = h[:, None] + g
        left = np.empty_like(right)
        left[3] = z > -margin * h[:, None]
        np.multiply(right[:2], left[3], out=left[1:3])
        np.multiply(z, left[3], out=left[0])
        sums = left.transpose(1, 0, 2) @ right.transpose(1, 2, 0)
        (zu, zv, zg, total), (uu, uv, ug, u1), (_, vv, vg, v1), (_, _, g1, _) = sums.transpose(1, 2, 0)
        jac = ((u1, -2 * uu - total, 2 * uv), (v1, -2 * uv, 2 * vv - total), (g1, -2 * ug - 2 * zu, 2 * vg + 2 * zv))
        across = [_cross(jac[n - 2], jac[n - 1]) for n in range(3)]  # the cofactors, row by row
        whole = jac[0][0] * across[0][0] + jac[0][1] * across[0][1] + jac[0][2] * across[0][2]
        step = np.array([-(zu * across[0][n] + zv * across[1][n] + zg * across[2][n]) / whole for n in range(3)])
        return left[0] / total[:, None], np.array([zu, zv, zg]) / total, step


def repair(
    u: np.ndarray, v: np.ndarray, w: np.ndarray, cone: Cone | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Move a little weight of each row to one system, the one that leaves the least collision, so that var_u = var_v.

    Very near an end of the range the optimum is a pair with next to nothing elsewhere, and Newton's method cannot see
    which system is about to enter. Moving a share s to system k changes var_u − var_v to
    (1 − s)(var_u − var_v + s·g_k). Returns h, p, q, w; nan where no share will do.
    """
    p, q = dot(w, u), dot(w, v)
    g = (u - p[:, None]) ** 2 - (v - q[:, None]) ** 2
    if cone is not None:
        g = (cone[0] - dot(w, cone[0])[:, None]) * (cone[1] - dot(w, cone[1])[:, None])
    with np.errstate(all="ignore"):
        share = -dot(w, g)[:, None] / g
        collision = (1 - share) ** 2 * dot(w, w)[:, None] + 2 * share * (1 - share) * w + share**2
        possible = (share >= 0) & (share < 1)
        row, k = np.arange(p.size), np.where(possible, collision, np.inf).argmin(1)
        share = np.where(possible[row, k], share[row, k], np.nan)
        w = w * (1 - share)[:, None]
        w[row, k] += share
    return np.maximum(0, -g[row, k]), p, q, w


def _error(
    u: np.ndarray,
    v: np.ndarray,
    stretch: np.ndarray,
    h: np.ndarray,
    w: np.ndarray,
    miss: np.ndarray,
    cone: Cone | None = None,
) -> np.ndarray:
    """How far each row is from a local optimum: its means in units of √h, its balance as it is."""
    with np.errstate(all="ignore"):
        return np.asarray(np.maximum(np.abs(miss[:2]).max(0) / np.sqrt(h), off_balance(u, v, w, stretch, cone)))


def off_balance(
    u: np.ndarray, v: np.ndarray, w: np.ndarray, stretch: np.ndarray, cone: Cone | None = None
) -> np.ndarray:
    """|β(w) − β̂| for each row; nan where all weight is in one place. With a cone, |cov(e, d)| over half of var_u + var_v."""
    with np.errstate(all="ignore"):
        var_u, var_v = dot(w, (u - dot(w, u)[:, None]) ** 2), dot(w, (v - dot(w, v)[:, None]) ** 2)
        if cone is not None:
            e, d = (x - dot(w, x)[:, None] for x in cone)
            return np.asarray(np.abs(dot(w, e * d)) / (0.5 * (var_u + var_v)))
        return np.asarray(np.abs(var_u - var_v) / ((1 / stretch**2 + 1) * (var_u + stretch**2 * var_v)))


def _choose(mask: np.ndarray, new: Iterable[Any], old: Iterable[Any]) -> list[np.ndarray]:
    return [np.where(mask, a, b) for a, b in zip(new, old, strict=True)]


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The products of the last axes, as numpy.vecdot gives them; numpy 1 has none."""
    out: np.ndarray = (a[..., None, :] @ b[..., None])[..., 0, 0]
    return out


Three = tuple[np.ndarray, np.ndarray, np.ndarray]


def _cross(a: Three, b: Three) -> Three:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
