"""The weighting with the least KL divergence from uniform at a target balance, and proofs that none has less.

In the notation of `reweight` the constraint is var_u(w) ≥ var_v(w). Set the derivative of the Lagrangian to zero, and the
weights are an *exponential* of a saddle, w_k ∝ exp(t g_k) with g_k = (u_k − p)² − (v_k − q)², p and q their own means: three
numbers (t, p, q), t > 0, as for Σw², and every system keeps some weight.

**One inequality.** For any numbers (t, p, q) and A = log mean exp(t g), every weighting w has

    KL(w) = t Σ w g − A + KL(w ‖ w°),    w° ∝ exp(t g).

If w satisfies the constraint and has means p′ and q′, then Σ w g = var_u − var_v + (p′ − p)² − (q′ − q)² ≥ −(q′ − q)², so

    KL(w) ≥ −A − t (q′ − q)² + KL(w ‖ w°).

*Certificate "dual".* KL(w ‖ w°) is at least Λ*(q′ − q), the conjugate of Λ(s) = log Σ w° exp(s (v − q)). If
Λ(s) ≤ s²/4t for every s (v is sub-Gaussian under w°), then Λ*(y) ≥ t y², what is lost comes back, and KL(w) ≥ −A: the
value at w° itself, if its means are p and q and it meets the constraint.

*Certificate "interval".* For means q′ in [l, r], replace (v − q)² by (v − l)(v − r): q′² lies below its chord there. The
last term is dropped, and KL(w) ≥ −log mean exp(t [(u − p)² − (v − l)(v − r)]) for every t ≥ 0 and p; the best t and p are
a concave maximisation. Split intervals until each has a bound above the best value found, less the gap.

Where neither is completed the certificate is "local". Exponentials and logarithms are no fractions: these proofs are checked
in floating point only, and `verify` has no part in them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.balance import EPS
from .distortion import kl
from .saddle import dot, off_balance

TILT_DUAL_GAP = 1e-10
TILT_INTERVAL_GAP = 1e-9
STEPS = 60  # of Newton's method
ROUNDS = 60  # of splitting intervals
TILT_CELLS = 4000  # intervals at one time before giving up; forty are usual


class Tilt(NamedTuple):
    """A solution: weights (K,), t, A = log mean exp(t g), the certificate and the gap it proves, in nats."""

    w: np.ndarray
    t: float
    shift: float
    certificate: str
    gap: float


def solve(u: np.ndarray, v: np.ndarray, stretch: float, guess: np.ndarray) -> Tilt | None:
    """The least divergence for one target, scores (K,) in standard units; `guess` (K,) is a weighting that has the balance.

    None where no weighting was found.
    """
    best = _better(u, v, stretch, None, *_newton(u, v, *_starts(u, v, guess)))
    if best is not None and (gap := _dual_gap(u, v, best)) <= TILT_DUAL_GAP:
        return best._replace(certificate="dual", gap=gap)
    best, proven = _intervals(u, v, stretch, best)
    if best is None or not proven:
        return best
    if (gap := _dual_gap(u, v, best)) <= TILT_DUAL_GAP:  # a better optimum may have been found on the way
        return best._replace(certificate="dual", gap=gap)
    return best._replace(certificate="interval", gap=TILT_INTERVAL_GAP)


def _starts(u: np.ndarray, v: np.ndarray, guess: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(t, p, q) to start from: at the means of the uniform weighting and of a guess, t by the change that is needed."""
    w = np.array([np.full(u.size, 1 / u.size), guess])
    p, q = w @ u, w @ v
    g = (u - p[:, None]) ** 2 - (v - q[:, None]) ** 2
    centred = g - g.mean(1)[:, None]
    with np.errstate(all="ignore"):  # on a rectangle g is constant; then only intervals lead to a start
        fit = np.maximum(0, dot(centred, guess - 1 / u.size)) * u.size / dot(centred, centred)
        first = -g.mean(1) / (centred**2).mean(1)
    return np.array([first[0], fit[1]]), p, q


def _newton(u: np.ndarray, v: np.ndarray, t: np.ndarray, p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, ...]:
    """Newton's method on the three equations from many starts: t, p, q where each ends, the weights (R, K), A (R,)."""
    with np.errstate(all="ignore"):
        for _ in range(STEPS):
            w, _, du, dv, g = _weights(u, v, t, p, q)
            mu, mv, mg = dot(w, du), dot(w, dv), dot(w, g)
            cu, cv, cg = du - mu[:, None], dv - mv[:, None], g - mg[:, None]
            uu, vv, uv, ug, vg, gg = (dot(w, x) for x in (cu * cu, cv * cv, cu * cv, cu * cg, cv * cg, cg * cg))
            jac = np.array(
                [
                    [ug, -2 * t * uu - 1, 2 * t * uv],
                    [vg, -2 * t * uv, 2 * t * vv - 1],
                    [gg, -2 * t * ug - 2 * mu, 2 * t * vg + 2 * mv],
                ]
            ).transpose(2, 0, 1)
            bad = ~np.isfinite(jac).all((1, 2)) | (np.abs(np.linalg.det(np.nan_to_num(jac))) < 1e-300)
            jac[bad] = np.eye(3)
            step = -np.linalg.solve(jac, np.stack([mu, mv, mg], 1)[..., None])[..., 0]
            step[bad] = np.nan
            cut = np.minimum(1, 0.5 * t / np.abs(step[:, 0]))
            new = t + cut * step[:, 0], p + cut * step[:, 1], q + cut * step[:, 2]
            still = (np.abs(step) <= 4 * EPS * np.abs([t, p, q]).T + 1e-17).all(1)
            t, p, q = new
            if (still | ~np.isfinite(t)).all():
                break
        w, shift, *_ = _weights(u, v, t, p, q)
    return t, p, q, w, shift


def _weights(u: np.ndarray, v: np.ndarray, t: np.ndarray, p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, ...]:
    """The weights of each tilt (R, K), A (R,), and what they are made of: u − p, v − q, g."""
    du, dv = u - p[:, None], v - q[:, None]
    g = (du - dv) * (du + dv)
    x = t[:, None] * g
    top = x.max(1)
    e = np.exp(x - top[:, None])
    total = e.sum(1)
    return e / total[:, None], top + np.log(total / u.size), du, dv, g


def _better(u: np.ndarray, v: np.ndarray, stretch: float, best: Tilt | None, *found: np.ndarray) -> Tilt | None:
    """The best of what was known and of these (t, p, q, w, A), those that miss the balance left out."""
    t, _, _, w, shift = found
    off = off_balance(np.tile(u, (len(w), 1)), np.tile(v, (len(w), 1)), w, np.full(len(w), stretch))
    for n in np.flatnonzero((off <= 5e-13) & (t > 0)):
        if w[n].max() <= 1 - 1e-9 and (best is None or kl(w[n]) < kl(best.w) - 1e-14):
            best = Tilt(w[n], float(t[n]), float(shift[n]), "local", np.nan)
    return best


def _dual_gap(u: np.ndarray, v: np.ndarray, tilt: Tilt) -> float:
    """A bound on how much less than KL(w) any feasible weighting can have, if one tilt proves it; else infinity.

    With p and q the means of w, exp(t g) at these gives w° anew; the proof holds for it, whatever w is.
    """
    (w,), (shift,), _, (y,), (g,) = _weights(u, v, np.array([tilt.t]), np.array([tilt.w @ u]), np.array([tilt.w @ v]))
    t, spread = tilt.t, np.ptp(v)
    log_w = t * g - shift - np.log(v.size)  # finite where w underflows
    mean, curve = (
        w @ y,
        1 / (2 * t) - w @ (y - w @ y) ** 2,
    )  # φ(s) = s²/4t − Λ(s) has φ(0) = 0, φ′(0) = −mean, φ″(0) = curve
    if curve * 2 * t < 1e-6:
        return np.inf
    near = 15 * curve / spread**3  # |Λ‴| ≤ spread³/10 (a third central moment), so up to here φ ≥ curve s²/4 − mean·s
    for sign in (-1, 1):
        far = 4 * t * (sign * y).max() * (1 + 1e-9)  # Λ(s) ≤ s max y, so from here on φ ≥ 0
        if far > near:
            s = np.geomspace(near, far, 2000)
            x = np.multiply.outer(s, sign * y) + log_w
            top = x.max(1)
            phi = s * s / (4 * t) - top - np.log(np.exp(x - top[:, None]).sum(1))
            # φ″ ≤ 1/2t, so between two points φ is above the lower of them less this
            floor = np.minimum(phi[1:], phi[:-1]) - np.diff(s) ** 2 / (16 * t)
            if floor.min() <= 16 * EPS * (1 + np.abs(x).max()):
                return np.inf
    rounding = 8 * EPS * (v.size + t * (u @ u + v @ v) + abs(shift))
    return float(max(0.0, kl(tilt.w) + shift) + mean**2 / curve + rounding)


def _intervals(u: np.ndarray, v: np.ndarray, stretch: float, best: Tilt | None) -> tuple[Tilt | None, bool]:
    """Split the line of means until every part is excluded, descending from parts that are not; and whether that is done."""
    edges = np.linspace(v.min(), v.max(), 17)
    left, right = edges[:-1], edges[1:]
    for turn in range(ROUNDS):
        t, p, bound = _climb(u, v, left, right, _level(best))
        # look for other optima where the bound is lowest; later rounds only close in on the best
        low = np.argsort(bound)[: 8 if turn < 4 else 2 * (best is not None and turn % 4 == 0)]
        if low.size:
            best = _better(u, v, stretch, best, *_newton(u, v, t[low], p[low], 0.5 * (left + right)[low]))
        open_ = bound < _level(best)
        left, right = left[open_], right[open_]
        if not left.size:
            return best, True
        if left.size > TILT_CELLS:
            break
        middle = 0.5 * (left + right)
        left, right = np.concatenate((left, middle)), np.concatenate((middle, right))
    return best, False


def _level(best: Tilt | None) -> float:
    """The divergence below which nothing may remain."""
    return np.inf if best is None else kl(best.w) - TILT_INTERVAL_GAP


def _climb(u: np.ndarray, v: np.ndarray, left: np.ndarray, right: np.ndarray, enough: float) -> list[np.ndarray]:
    """For each interval the best t and p found, and the bound they prove, rounded down; a bound over `enough` will do."""
    m = (v - left[:, None]) * (v - right[:, None])
    a = u * u - m
    count = left.size
    t, p = np.full(count, 1.0), np.zeros(count)
    best = [t, p, np.full(count, -np.inf)]
    step, short = np.zeros((2, count)), np.zeros(count)
    with np.errstate(all="ignore"):
        for _ in range(STEPS):
            x = t[:, None] * ((u - p[:, None]) ** 2 - m)
            top = x.max(1)
            e = np.exp(x - top[:, None])
            total = e.sum(1)
            w = e / total[:, None]
            slack = 4 * EPS * (u.size + t * ((u - p[:, None]) ** 2 + np.abs(m)).max(1))
            bound = -top - np.log(total / u.size) - slack
            better = bound > best[2]
            best = [np.where(better, new, old) for new, old in zip((t, p, bound), best, strict=True)]
            # derivatives of log mean exp in (t, π = t p); each x_k is convex in them
            d_t, d_p = a - (p * p)[:, None], 2 * (p[:, None] - u)
            g_t, g_p = dot(w, d_t), dot(w, d_p)
            c_t, c_p = d_t - g_t[:, None], d_p - g_p[:, None]
            h_tt, h_tp, h_pp = (
                dot(w, c_t * c_t) + 2 * p * p / t,
                dot(w, c_t * c_p) - 2 * p / t,
                dot(w, c_p * c_p) + 2 / t,
            )
            det = h_tt * h_pp - h_tp * h_tp
            s_t, s_p = -(h_pp * g_t - h_tp * g_p) / det, -(h_tt * g_p - h_tp * g_t) / det
            gain = -(g_t * s_t + g_p * s_p)
            done = (best[2] > enough) | (better & (gain < 1e-12)) | ~np.isfinite(gain)
            if done.all():
                break
            # after a failure go back and step shorter
            step = np.where(better, (s_t, s_p), step)
            short = np.where(better, 0, short + 1)
            cut = 0.3**short * np.minimum(1, 0.8 * best[0] / np.maximum(-step[0], 1e-300))
            cut = np.minimum(cut, 20 * best[0] / np.maximum(np.abs(step[0]), 1e-300))
            new = best[0] + cut * step[0]
            p = (best[0] * best[1] + cut * step[1]) / new
            t = new
    return best
