"""The solver people call: the most even weighting of a pool at a target balance, with a proof that none is better.

**The problem.** Among the weightings of K systems with balance β̂ and at least two different systems in use, find one
with the smallest collision probability Σw² (the largest effective sample size). Balance is not a convex constraint, so
a local optimum proves nothing, and the published search visits supports by the thousand. Four remarks make the problem
small.

1. *One side.* On the way from the uniform weighting to any other, Σw² grows. So if β̂ lies above the natural balance,
   asking for "at least β̂" changes nothing. Write v for the aspect whose share must shrink (fluency here) and u for the
   other, stretched by √((1−β̂)/β̂): the constraint becomes **var_u(w) ≥ var_v(w)**. Below the natural balance the
   aspects change places.
2. *The clipped saddle.* Local optima have weights in proportion to max(0, z_k), z_k = h + (u_k − p)² − (v_k − q)², with
   p and q their own weighted means: three numbers (h, p, q) instead of K.
3. *One inequality proves everything.* Take any three numbers (h, p, q), any weighting w that satisfies the constraint,
   and let p′ and q′ be its means of u and v. Expanding squares and then Cauchy–Schwarz give

       h − (q′ − q)²  ≤  h + var_u(w) + (p′ − p)² − var_v(w) − (q′ − q)²  =  Σ w z  ≤  ‖w‖ ‖z₊‖.

   So **a weighting with Σw² ≤ P has (q′ − q)² ≥ h − √P ‖z₊‖**: each saddle excludes an interval of means, centre q.
   Choosing h and p to make it widest is a concave maximisation in two unknowns. When intervals cover all of
   [min v, max v] for P just under the best collision found, that best is optimal: certificate "interval".
4. *Near the natural balance one saddle is enough.* Cauchy–Schwarz loses a multiple of ‖w − w*‖², w* the saddle's own
   weights, and that is at least a quadratic form in (p′, q′). Kept, it outgrows (q′ − q)² when the Lagrangian is
   convex: certificate "dual".

**The work.** Newton's method from the uniform weighting, and the dual test: most targets near the natural balance are
done. For the others, saddles on a grid of q (maximising h / ‖z₊‖ gives the least collision for that q) → the valleys of that
curve, descended to full precision → the dual test → intervals around the best valley, at distances in geometric
progression, gaps split until none is left. If a centre cannot be excluded, a better weighting is near and becomes the
best. All targets of a sweep, and all pools of a batch, go through each step together, as rows of one array (`saddle`, `cover`).
A single target of a small pool begins instead with a guess in plain numbers (`guess`): an optimum, and saddles for the
whole line. It is tested like what the grid finds, and taken only if one saddle proves it, or if the line closes and leaves
no room for a second optimum (`rivals`): else the grid is used.

Where doubles may not be enough (`coarse`, `thin`), a proof is verified in exact arithmetic before it is returned, and
what does not pass, or was left open, is solved again with more digits and in another frame (`careful`).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from tqdm import tqdm

from ..core import check
from ..core.balance import EPS, NOTHING, OUTSIDE, Standard, in_unit, weighted_share
from . import careful, guess
from .baseline import best_local
from .cover import APART as APART, BETA_TOLERANCE, DUAL_GAP, INTERVAL_GAP, SOLVE_CELLS, TIE as TIE, Side, parts
from .distortion import COLLISION, KL, Distortion, distortion as distortion_of
from .ends import (
    NEAR,
    above_natural,
    at_end,
    close_steps,
    end_lines,
    exact_lines,
    line_of,
    natural_balance,
    next_pairs,
    ulps,
)
from .pools import EXTREME, Pools, coarse, grid, sides, targets_within, thin
from .proof import Evidence, Rows
from .result import OUT, UNPROVEN, NotProven as NotProven, Reweighting, Reweightings, Sweep, unproven
from .saddle import alone, ascend, dot, off_balance
from .tilt import solve as tilted
from .verify import verify

SMALL = 80  # a single target of at most so many systems is first tried number by number,
MENDS = 3  # with so many rounds of gap splitting
ROUNDS = 60  # rounds of gap splitting before giving up; as many halvings exhaust double precision
RELIABLE = 0.9  # a weighting is called reliable while its effective sample size is at least this share of K


def reweight(
    adequacy: ArrayLike, fluency: ArrayLike, beta: float, distortion: str | Distortion = "collision"
) -> Reweighting:
    """The weighting with the largest effective sample size among those with balance `beta`, proven to be so.

    `adequacy`, `fluency`: (K,) system scores, K ≥ 2, in any common unit. `beta`: from 0 to 1, inside `reachable(...)`.
    `distortion`: what is made least, "collision" for Σw², "kl" for the divergence from uniform (proven where its
    certificate is not "local"), or a `Distortion` of your own (never proven, beyond the natural balance and the ends).

    >>> r = reweight([.5574, .9883, 1.4687, 3.0894], [.4012, .5353, 1.4986, 1.2467], .9095)
    >>> r.weights.round(4), round(r.ess, 3), r.certificate
    (array([0.0088, 0.0861, 0.4245, 0.4806]), 2.389, 'interval')
    """
    return reweight_sweep(adequacy, fluency, [in_unit(beta)], distortion).insist()[0]


def reweight_sweep(
    adequacy: ArrayLike, fluency: ArrayLike, betas: ArrayLike, distortion: str | Distortion = "collision"
) -> Sweep:
    """`reweight` for many targets at once, several times faster than a loop. `betas`: (T,); a list of T results.

    The list also has them as arrays: `.weights` (T, K), `.ess` (T,), `.betas` (T,), and `.certificates`. A target whose
    proof was not completed does not stop the others: its certificate is "unproven", and `.unproven` names it.

    >>> reweight_sweep([0, 1, 2, 3], [0, 2, 1, 1], [.5, .7, .9]).ess.round(3)
    array([3.106, 3.989, 2.385])
    """
    measure, pool = distortion_of(distortion), Standard.of(adequacy, fluency)
    pools = Pools.of(pool)
    given = np.asarray(adequacy, float), np.asarray(fluency, float)
    betas = targets_within(betas, pools.low[0], pools.high[0])
    solved = _solve(pools, np.zeros(betas.size, int), betas)
    if measure is not COLLISION:
        solved.insist(betas)
        return Sweep(_other(measure, pool, pools, betas, solved), pool.a.size)
    results = [
        Reweighting(
            weights=solved.w[n],
            beta=float(solved.beta[n]),
            target=float(beta),
            certificate=str(solved.certificate[n]),
            claimed=GAP.get(solved.certificate[n], np.nan),
            eta=float(solved.eta[n] / pools.scale[0] ** 2),
            lam=float(solved.lam[n]),
            alternatives=tuple(solved.others.get(n, ())),
            evidence=solved.evidence(n, float(beta), given, pools, 0),
        )
        for n, beta in enumerate(betas)
    ]
    return Sweep(results, pools.a.shape[1])


def reweight_many(adequacy: ArrayLike, fluency: ArrayLike, beta: ArrayLike) -> Reweightings:
    """`reweight` for many pools of the same size at once: resampled scores, or a pool with each system left out in turn.

    `adequacy`, `fluency`: (R, K), one pool a row. `beta`: one target for all; (R,), one for each pool; (R, T), several
    for each; or (1, T), the same several for all. A target that a pool does not reach gets NaN for weights and the
    certificate "out of reach" (so do all targets of a pool whose systems do not differ), and one where the proof was
    not completed gets NaN and "unproven"; neither stops the others.

    >>> many = reweight_many([[0, 1, 2, 3], [0, 1, 2, 4]], [[0, 2, 1, 1], [0, 2, 1, 0]], [[.1, .5, .7]])
    >>> many.weights.shape, many.ess.round(3).tolist()
    ((2, 3, 4), [[nan, 3.106, 3.989], [nan, 3.03, 3.782]])
    >>> many.certificate[0].tolist()
    ['out of reach', 'dual', 'dual']
    """
    pools = Pools.many(adequacy, fluency)
    count, size = pools.a.shape
    targets = grid(beta, count)
    which = np.repeat(np.arange(count), targets.size // max(1, count))
    flat = targets.ravel()
    inside = (flat >= pools.low[which] - OUTSIDE) & (flat <= pools.high[which] + OUTSIDE)
    w = np.full((flat.size, size), np.nan)
    found, eta, certificate = np.full(flat.size, np.nan), np.full(flat.size, np.nan), np.full(flat.size, OUT, object)
    which, at = which[inside], np.flatnonzero(inside)
    solved = _solve(pools, which, np.clip(flat[at], pools.low[which], pools.high[which]))
    proven = solved.certificate != UNPROVEN
    w[at[proven]], found[at[proven]] = solved.w[proven], solved.beta[proven]
    eta[at[proven]] = (solved.eta / pools.scale[which] ** 2)[proven]
    certificate[at] = solved.certificate
    shape = targets.shape

    def evidence(place: int) -> Evidence:
        n = int(np.searchsorted(at, place))
        row = int(which[n])
        given = np.asarray(adequacy, float)[row], np.asarray(fluency, float)[row]
        out = solved.evidence(n, float(flat[place]), given, pools, row)
        assert out is not None  # only what is proven is asked for
        return out

    names = certificate.astype(str).reshape(shape)
    return Reweightings(w.reshape(*shape, size), found.reshape(shape), targets, names, eta.reshape(shape), evidence)


def beta_interval(adequacy: ArrayLike, fluency: ArrayLike, ess: float) -> tuple[float, float]:
    """The interval of targets whose best weighting keeps an effective sample size of at least `ess`, 1 ≤ ess ≤ K.

    It is an interval because ESS*(β) rises up to the natural balance and falls after it. Ends to about 1e-12, rounded
    inwards. Where ESS* jumps it can jump at the balance of two systems only, and that end is the balance itself: next to
    a jump, where a proof may not be completed, the best weighting found is taken for the optimum.

    >>> low, high = beta_interval([0, 1, 2, 3], [0, 2, 1, 1], 3)
    >>> round(low, 6), round(high, 6)
    (0.471543, 0.876428)
    """
    low, high = _intervals(Pools.of(Standard.of(adequacy, fluency)), ess)[0]
    return float(low), float(high)


def reliable_interval(adequacy: ArrayLike, fluency: ArrayLike, share: float = RELIABLE) -> tuple[float, float]:
    """The balances at which the best weighting keeps an effective sample size of at least `share` of the K systems.

    >>> low, high = reliable_interval([0, 1, 2, 3], [0, 2, 1, 1])
    >>> round(low, 3), round(high, 3)
    (0.607, 0.8)
    """
    return beta_interval(adequacy, fluency, max(1.0, share * np.size(adequacy)))  # no weighting has less than 1


def reliable_intervals(adequacy: ArrayLike, fluency: ArrayLike, share: float = RELIABLE) -> np.ndarray:
    """`reliable_interval` of many pools of the same size at once: from (R, K) scores each, (R, 2).

    >>> reliable_intervals([[0, 1, 2, 3], [0, 1, 2, 4]], [[0, 2, 1, 1], [0, 2, 1, 0]]).round(3)
    array([[0.607, 0.8  ],
           [0.667, 0.847]])
    """
    pools = Pools.many(adequacy, fluency)
    same = np.flatnonzero(pools.scale == 0)
    if same.size:
        raise ValueError(
            f"all systems of pool {same[0]} have the same adequacy and fluency; a balance needs two that differ"
        )
    return _intervals(pools, max(1.0, share * pools.a.shape[1]))


def _intervals(pools: Pools, ess: float) -> np.ndarray:
    """Both ends for each pool, all in step: (R, 2)."""
    count, size = pools.a.shape
    ess = check.vector([ess], "ess")[0]
    if not 1 <= ess <= size:
        raise ValueError(f"ess is {ess:g}; a value from 1 to the number of systems, {size}, is expected")
    goal = np.sqrt(max(0, 1 / ess - 1 / size))
    ends = _edges(pools, np.repeat(np.arange(count), 2), np.ravel([pools.low, pools.high], order="F"), goal)
    return ends.reshape(-1, 2)


def _edges(pools: Pools, which: np.ndarray, end: np.ndarray, goal: float) -> np.ndarray:
    """Targets from the natural balance to `end` where √(Σw² − 1/K) reaches `goal`: Newton's method in a bracket."""
    out: np.ndarray = pools.natural[which].copy()
    live = np.arange(which.size if goal else 0)
    inner, outer, beta, first = out, end, end, True
    slow = np.zeros(live.size, int)
    while live.size:
        solved = _solve(pools, which[live], beta)
        w = solved.w
        unproven(beta[~np.isfinite(w).all(1)])
        height = np.sqrt(np.maximum(0, dot(w, w) - 1 / w.shape[1]))
        short = height <= goal
        inner, outer = np.where(short, beta, inner), np.where(short, outer, beta)
        done = short & (first | (height >= goal * (1 - 1e-12))) | (np.abs(outer - inner) <= 1e-13)
        out[live[done]] = inner[done]
        aim = goal * (1 - 5e-13) - height
        with np.errstate(all="ignore"):
            if first:
                step = (outer - inner) * aim / height  # the curve is nearly straight from the natural balance on
            else:
                var = sum(dot(w, (x - dot(w, x)[:, None]) ** 2) for x in (pools.a[which[live]], pools.f[which[live]]))
                step = aim * height / (-solved.eta * var)  # d(½Σw²)/dβ̂ = −η (σ(a; w)² + σ(f; w)²): envelope theorem
        beta, first = beta + step, False
        astray = ~((np.minimum(inner, outer) < beta) & (beta < np.maximum(inner, outer)))
        beta = np.where(astray, 0.5 * (inner + outer), beta)
        slow = slow + 1
        for n in np.flatnonzero((slow > 6) & ~done):  # Newton's method takes four or five: this may be a jump
            row, between = which[live[n]], sorted((inner[n], outer[n]))
            pairs = next_pairs(pools.given_a[row], pools.given_f[row], beta[n])
            jumps = pairs[(pairs > between[0]) & (pairs < between[1])]
            if jumps.size:
                beta[n] = jumps[np.abs(jumps - beta[n]).argmin()]
            elif np.abs(outer[n] - inner[n]) < 1e-6:
                pairs = next_pairs(pools.given_a[row], pools.given_f[row], inner[n])
                if (np.abs(pairs - inner[n]) <= ulps(inner[n])).any():
                    out[live[n]], done[n] = inner[n], True
        live, inner, outer, beta, slow = (x[~done] for x in (live, inner, outer, beta, slow))
    return out


def _other(
    measure: Distortion, pool: Standard, pools: Pools, betas: np.ndarray, even: _Solved
) -> Iterator[Reweighting]:
    """Results for another distortion, each found from the weighting of least collision."""
    above, x, v, stretch = sides(pools, np.zeros(betas.size, int), betas)
    for n, beta in enumerate(tqdm(betas, measure.name, leave=False, disable=None if betas.size > 20 else True)):
        w, name, gap, eta, lam = even.w[n], str(even.certificate[n]), 0.0, np.nan, np.nan
        others = tuple(even.others.get(n, ())) if name == "pair" else ()
        if name == "uniform":
            eta, lam = 0.0, -float(measure.gradient(w)[0])
        elif name != "pair":  # at an end the fullest line is best by any distortion
            tilt = tilted(stretch[n] * x[n], v[n], stretch[n], w) if measure is KL else None
            if tilt is None:
                w, name, gap = best_local(pool, float(beta), measure, w), "local", np.nan
            else:
                w, name, gap = tilt.w, tilt.certificate, tilt.gap
                eta = (-tilt.t / beta if above[n] else tilt.t / (1 - beta)) / pool.scale**2
                lam = tilt.shift - 1  # 1 + log(K w) + ηg + λ = 0
        found = float(weighted_share(pool.given_a, pool.given_f, pool.scale, w))
        if not (name == "pair" or abs(found - beta) <= BETA_TOLERANCE):
            raise NotProven(f"the weights found for beta = {beta:.17g} have balance {found:.17g}")
        yield Reweighting(w, found, float(beta), name, gap, float(eta), float(lam), others, distortion=measure.name)


# --- pools and targets ------------------------------------------------------------------------------------------------

GAP = {"uniform": 0.0, "pair": 0.0, "dual": DUAL_GAP, "interval": INTERVAL_GAP}  # what each certificate proves


# --- many targets of many pools together ------------------------------------------------------------------------------


class _Solved(NamedTuple):
    """N targets: weights (N, K), the balance they have, their certificate, multipliers in standard units, second optima."""

    w: np.ndarray
    beta: np.ndarray
    certificate: np.ndarray
    eta: np.ndarray
    lam: np.ndarray
    others: dict[int, list[np.ndarray]]  # of the same value
    rows: dict[int, Rows]  # the saddles that prove it, where it took some
    ready: dict[int, tuple[dict[str, Any], float]]  # proofs that are written already

    def evidence(
        self, n: int, beta: float, given: tuple[np.ndarray, np.ndarray], pools: Pools, row: int
    ) -> Evidence | None:
        standard = pools.a[row], pools.f[row], float(pools.scale[row])
        if self.certificate[n] == UNPROVEN:
            return None
        return Evidence(
            *given, standard, beta, self.w[n], str(self.certificate[n]), self.rows.get(n), self.ready.get(n)
        )

    def insist(self, targets: np.ndarray) -> None:
        """Refuse to go on without a proof for every target."""
        open_ = self.certificate == UNPROVEN
        wrong = np.flatnonzero(open_ & np.isfinite(self.beta))
        if wrong.size:
            target, found = targets[wrong[0]], self.beta[wrong[0]]
            raise NotProven(f"the weights found for beta = {target:.17g} have balance {found:.17g}")
        unproven(targets[open_])


def _solve(pools: Pools, which: np.ndarray, betas: np.ndarray) -> _Solved:
    """Certified optima for reachable targets (N,), each of pool `which` (N,)."""
    n, size = betas.size, pools.a.shape[1]
    beta, eta, lam = np.full((3, n), np.nan)
    out = _Solved(np.full((n, size), np.nan), beta, np.full(n, UNPROVEN, object), eta, lam, {}, {}, {})
    even = np.abs(betas - pools.natural[which]) <= ulps(pools.natural[which])
    bottom = betas - pools.low[which] <= ulps(pools.low[which])
    bottom |= (pools.low[which] == 0) & (betas < NOTHING)
    end = bottom | (pools.high[which] - betas <= ulps(pools.high[which]))
    for i in np.flatnonzero(end & (1 - betas < NEAR)):  # to the odds eight units are no small thing here
        pool = pools.given_a[which[i]], pools.given_f[which[i]]
        end[i] = at_end(*pool, float(betas[i]), bool(bottom[i]))
        even[i] &= not end[i] or natural_balance(*pool) == Fraction(betas[i])
    end &= ~even
    out.w[even], out.eta[even], out.lam[even], out.certificate[even] = 1 / size, 0.0, -1 / size, "uniform"
    for i in np.flatnonzero(end):
        a, f = pools.given_a[which[i]], pools.given_f[which[i]]
        # every two points in use attain the end, so all lie on one line; the fullest such line wins
        out.w[i], *ties = end_lines(*((f, a) if bottom[i] else (a, f)))
        out.certificate[i] = "pair"
        if (out.w[i] > 0).sum() > 2 or close_steps(*((f, a) if bottom[i] else (a, f))):
            for some in (out.w[i], np.ones_like(out.w[i])):
                evidence = out.evidence(int(i), float(betas[i]), (a, f), pools, int(which[i]))
                if evidence is not None and evidence.proof()[1] == 0:
                    break
                # a line, or the steepest pair, by rounding only
                out.w[i], *ties = exact_lines(*((f, a) if bottom[i] else (a, f)), some)
        if ties:
            out.others[int(i)] = ties
    left, (delicate, hopeless) = np.flatnonzero(~even & ~end), coarse(pools, which, betas)
    if left.size == 1 and size <= SMALL and not delicate[left].any():
        left = left[:0] if _guessed(pools, which[left], betas[left], left, out) else left
    block = max(1, SOLVE_CELLS // (32 * size))
    with tqdm(total=left.size, desc="targets", leave=False, disable=None if left.size > block else True) as bar:
        hard = []
        for part in parts(left, 4 * block):
            open_ = _near(pools, which[part], betas[part], part, out)
            bar.update(part.size - open_.size)
            hard.append(open_)
        rest = np.concatenate([np.empty(0, int), *hard])
        rest = rest[~hopeless[rest]]  # those are left for `_mend`
        for part in parts(rest, block):
            _far(pools, which[part], betas[part], part, out)
            bar.update(part.size)
    with np.errstate(all="ignore"):
        out.beta[:] = weighted_share(pools.given_a[which], pools.given_f[which], pools.scale[which], out.w)
    unit = (np.abs(out.w.sum(1) - 1) <= BETA_TOLERANCE) & (out.w.min(1, initial=0) >= 0)
    off = ~((np.abs(out.beta - betas) <= BETA_TOLERANCE) & unit)
    off[even | end] = False
    out.certificate[off] = UNPROVEN
    for i in np.flatnonzero((delicate | thin(pools, which, betas, out.w) | off) & ~end):
        _mend(pools, int(which[i]), float(betas[i]), int(i), out)
    return out


def _mend(pools: Pools, row: int, beta: float, n: int, out: _Solved) -> None:
    """Keep what was found for target n if its proof verifies; else search again with care."""
    a, f = pools.given_a[row], pools.given_f[row]
    evidence = out.evidence(n, beta, (a, f), pools, row)
    if evidence is not None and evidence.proof()[1] <= 2 * INTERVAL_GAP:
        return
    if out.certificate[n] == "uniform" and min(beta, 1 - beta) >= EXTREME:
        # equal weights have a balance that rounds to about beta, and may be the only ones that do
        exact = natural_balance(a, f)
        proof = {"adequacy": a.tolist(), "fluency": f.tolist(), "beta": str(exact), "weights": [1] * a.size}
        out.ready[n] = proof, verify(proof)
        return
    hints, found = [out.w[n]] if np.isfinite(out.w[n]).all() else [], None
    if hints and (line := line_of(a, f, beta, hints[0])) is not None:
        found = careful.solve(a, f, line, above_natural(a, f, line), hints, INTERVAL_GAP)
    if found is None or not found.proof:
        above = above_natural(a, f, Fraction(beta))
        hints += end_lines(*((a, f) if above else (f, a)))
        found = careful.solve(a, f, Fraction(beta), above, hints, INTERVAL_GAP)
    out.certificate[n] = UNPROVEN
    if found is None:
        return
    w = out.w[n] = found.weights
    out.others.pop(n, None)
    if found.proof:
        out.certificate[n], out.ready[n] = "interval", (found.proof, found.gap)
    if found.others:
        out.others[n] = found.others
    x, y = ((z - z[w.argmax()]) / pools.scale[row] for z in (a, f))
    out.beta[n] = weighted_share(a, f, pools.scale[row], w)
    g = (1 - beta) * (x - w @ x) ** 2 - beta * (y - w @ y) ** 2
    P, fits = w @ w, []
    with np.errstate(all="ignore"):
        for on in (
            w > 0,
            w > EPS * w.max(),
        ):  # a trace that only meets the target in its last digit is not the saddle's
            eta = -(g[on] @ (w[on] - P)) / (g[on] @ g[on])
            fits.append((np.abs(np.maximum(0, P - eta * g) - w).max(), eta))
    out.eta[n] = min(fits)[1]
    out.lam[n] = -P


def _near(pools: Pools, which: np.ndarray, betas: np.ndarray, part: np.ndarray, out: _Solved) -> np.ndarray:
    """Newton's method from the uniform weighting, and the dual test. Returns those of `part` that it does not settle."""
    above, x, v, stretch = sides(pools, which, betas)
    u = stretch[:, None] * x
    good = _dual(u, v, stretch, above, betas, part, out, *ascend(u, v, stretch))
    return np.asarray(part[~good])


def _dual(
    u: np.ndarray,
    v: np.ndarray,
    stretch: np.ndarray,
    above: np.ndarray,
    betas: np.ndarray,
    part: np.ndarray,
    out: _Solved,
    h: np.ndarray,
    p: np.ndarray,
    q: np.ndarray,
    w: np.ndarray,
) -> np.ndarray:
    """Note the weightings that their own saddle proves optimal; which these are."""
    P = dot(w, w)
    with np.errstate(all="ignore"):
        # next to no variance left: all weight on copies of one system, whose balance is rounding
        apart = dot(w, (u - p[:, None]) ** 2 + (v - q[:, None]) ** 2) > 1e-6 * dot(v, v) / v.shape[1]
        good = apart & (off_balance(u, v, w, stretch) <= BETA_TOLERANCE / 2)
        good[good] = alone(*(y[good] for y in (u, v, q, h, p, P * (1 - DUAL_GAP))))
    if good.any():
        _write(out, part[good], "dual", betas[good], above[good], u[good], v[good], w[good] + 0.0)
        for n, saddle in zip(part[good], np.column_stack((h, p, q))[good], strict=True):
            out.rows[int(n)] = Rows(saddle[None])
    return np.asarray(good)


def _guessed(pools: Pools, which: np.ndarray, betas: np.ndarray, part: np.ndarray, out: _Solved) -> bool:
    """One target from a guess in plain numbers (`guess`), noted if it is proven, by one saddle or without a rival; whether
    it is."""
    above, x, v, stretch = sides(pools, which, betas)
    u = stretch[:, None] * x
    plain = u[0].tolist(), v[0].tolist()
    first = guess.newton(*plain, *guess.start(*plain, [1 / x.size] * x.size))
    if first is not None and _dual(u, v, stretch, above, betas, part, out, *_saddle(u, v, first)).all():
        return True
    side, only = Side(x, v, stretch), np.zeros(1, int)
    points, rows = guess.cover(*plain, first or guess.optimum(*plain, side.line[0].tolist()), INTERVAL_GAP)
    side.offer_lines()
    if not points or side.best[0] is not None:  # a line is in need of more than a guess
        return False
    if points[-1] is not first and _dual(u, v, stretch, above, betas, part, out, *_saddle(u, v, points[-1])).all():
        return True
    for point in points:
        side.offer(only, *_saddle(u, v, point))
    if side.best[0] is None or thin(pools, which, betas, side.best[0].w[None]).any():
        return False
    table = np.array(rows)
    h, p, q = table[np.isfinite(table).all(1)].T
    side.add(np.zeros(h.size, int), q, h, p)
    if not side.cover(only, MENDS).size or side.rivals(only).target.size:
        return False
    _note(side, np.zeros(1, bool), only, betas, above, part, out)
    return True


def _saddle(u: np.ndarray, v: np.ndarray, point: guess.Point) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """h, p, q, each (1,), and the weights (1, K) of a point."""
    h, p, q = (np.array([x]) for x in point[:3])
    z = np.maximum(0, h + (u - p) ** 2 - (v - q) ** 2)
    return h, p, q, z / z.sum()


def _far(pools: Pools, which: np.ndarray, betas: np.ndarray, part: np.ndarray, out: _Solved) -> None:
    """The whole way: grid, valleys, dual test, intervals."""
    above, x, v, stretch = sides(pools, which, betas)
    _, first, kind = np.unique(2 * which + above, return_index=True, return_inverse=True)
    side = Side(x[first], v[first], stretch, kind)
    side.start()
    found = np.array([o is not None for o in side.best])
    if not found.all():
        if found.any():
            _far(pools, which[found], betas[found], part[found], out)
        return
    dual = side.dual()
    covered = side.cover(np.flatnonzero(~dual), ROUNDS)
    side.look_for_ties(covered)
    _note(side, dual, np.sort(np.append(np.flatnonzero(dual), covered)), betas, above, part, out)


def _note(
    side: Side,
    dual: np.ndarray,
    proven: np.ndarray,
    betas: np.ndarray,
    above: np.ndarray,
    part: np.ndarray,
    out: _Solved,
) -> None:
    """Write down the best of the `proven` targets, the saddles that prove it, and others as good."""
    best = np.empty_like(side.u)
    for n in proven:
        o, *others = sorted(side.optima[n], key=lambda o: o.P)
        best[n] = o.w
        saddles = [(o.h, o.p, o.q)] if dual[n] else np.column_stack((side.h, side.p, side.q))[side.target == n]
        out.rows[int(part[n])] = Rows(np.array(saddles))
        for other in others:
            known = [o.w, *out.others.get(int(part[n]), [])]
            if other.P <= o.P * (1 + INTERVAL_GAP) and all(np.abs(other.w - w).sum() > APART for w in known):
                out.others.setdefault(int(part[n]), []).append(other.w)
    names = np.where(dual, "dual", "interval").astype(object)
    _write(out, part[proven], names[proven], *(y[proven] for y in (betas, above, side.u, side.v, best)))


def _write(
    out: _Solved,
    at: np.ndarray,
    names: str | np.ndarray,
    betas: np.ndarray,
    above: np.ndarray,
    u: np.ndarray,
    v: np.ndarray,
    w: np.ndarray,
) -> None:
    """Note proven optima, with the multipliers that belong to them."""
    on, P = w > 0, dot(w, w)
    # w = max(0, Σw² + slope·g); fitted, as repaired weights have left their saddle
    g = (u - dot(w, u)[:, None]) ** 2 - (v - dot(w, v)[:, None]) ** 2
    used = np.where(on, g, 0)
    # where no g is left: uniform on systems of one line or of two that cross; every slope steep enough will do
    flat = np.abs(used).max(1, initial=0) <= 1e-12 * np.abs(g).max(1, initial=0)
    with np.errstate(all="ignore"):
        steep = P / -np.where(on, -np.inf, g).max(1, initial=-np.inf)
        slope = np.where(flat, steep, dot(used, w - P[:, None]) / dot(used, used))
    out.w[at], out.certificate[at] = w, names
    out.eta[at] = np.where(above, -slope / betas, slope / (1 - betas))
    out.lam[at] = -P  # Σw² = Σw(−λ − ηg) = −λ, as Σwg = 0
