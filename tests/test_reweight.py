"""`reweight` against enumeration, an independent lower bound, exact arithmetic, and what every optimum must obey."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from oracle_reweight import brute_force, lower_bound
from pools import ENDE24, KINDS, make

import whichbird as wb
from whichbird.core.balance import Standard, constraint_gradient, mean
from whichbird.data.registry import DATASETS
from whichbird.solve import cover
from whichbird.solve.cover import INTERVAL_GAP, Side

SOLVER = sys.modules["whichbird.solve.reweight"]  # the attribute of that name is the function
TED_ENDE = wb.load("ted_ende").adequacy, wb.load("ted_ende").fluency

GAP = 1e-9  # what a result may claim; every comparison of Σw² with another method uses it

DEGENERATE = {
    "two systems": ([0, 2], [0, 1]),
    "two and a copy": ([0, 2, 0], [0, 1, 0]),
    "one line": ([0, 1, 2, 5], [1, 3, 5, 11]),
    "equal adequacy": ([1, 1, 1], [0, 2, 5]),
    "equal fluency": ([3, 1, 4, 1, 5], [2, 2, 2, 2, 2]),
    "square": ([0, 0, 1, 1], [0, 1, 0, 1]),
    "cross": ([0, 1, -1, 0, 0], [0, 0, 0, 2, -2]),
    "grid": ([0, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1]),
    "every system twice": ([0, 3, 1, 0, 3, 1], [0, 1, 2, 0, 1, 2]),
    "four copies": ([5, 5, 5, 5, 0, 1, 7], [5, 5, 5, 5, 0, 3, 9]),
    "five copies off the line": ([0, 0, 0, 0, 0, 10, 11], [0, 0, 0, 0, 0, 10, 9.9]),
    "uniform on part of the pool": ([0, 2, 2, 3, 2], [2, 1, 1, 3, 1]),
    "two lines at an end": ([0, 1, 2, 0, 1, 2, 5], [0, 0, 0, 1, 1, 1, 7]),
    "tiny and huge": ([0, 1e-7, 1, 2], [0, 1, 1e-7, 3]),
}


def collision(w):
    return float(np.dot(w, w))


def targets(a, f):
    """Ends, next to the ends, the natural balance and next to it, pair balances, and points between."""
    low, high = wb.reachable(a, f)
    natural = wb.balance(a, f)
    near = [low, low + 1e-12, low + 1e-8, high, high - 1e-12, high - 1e-8, natural, natural + 1e-9, natural - 1e-9]
    pairs = wb.pair_balances(a, f)
    between = low + (high - low) * np.array([0.02, 0.3, 0.5, 0.77, 0.98])
    every = np.concatenate((near, np.unique(pairs[~np.isnan(pairs)])[:6], between))
    return np.unique(np.clip(every, low, high))


def check(result, a, f, beta):
    """What every result promises, judged by the public functions of the pool."""
    w = result.weights
    assert w.min() >= 0 and abs(w.sum() - 1) <= 1e-12
    assert not np.signbit(w).any()  # a system out of use has 0.0, never −0.0
    assert abs(wb.balance(a, f, w) - beta) <= 2e-12  # twice the solver's own tolerance: `balance` rounds its own way
    assert result.gap <= GAP and result.certificate in ("uniform", "dual", "interval", "pair")
    points = {(a[k], f[k]) for k in result.support}
    assert len(points) >= 2


# --- against enumeration of all supports ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_pools_agree_with_enumeration(name):
    a, f = DEGENERATE[name]
    betas = targets(a, f)
    for beta, result in zip(betas, wb.reweight_sweep(a, f, betas), strict=True):
        check(result, a, f, beta)
        assert collision(result.weights) == pytest.approx(brute_force(a, f, beta)[0], rel=GAP)


@pytest.mark.parametrize("kind", KINDS)
def test_random_pools_agree_with_enumeration(kind):
    """75 pools of each of seven kinds, 3 to 6 systems, some 7 to 9."""
    rng = np.random.default_rng(KINDS.index(kind))
    for n in range(75):
        size = int(rng.integers(3, 6)) if n < 72 else n - 65
        a, f = make(kind, size, rng)
        low, high = wb.reachable(a, f)
        near = 10 ** rng.uniform(-9, -1)
        beta = low + (high - low) * rng.choice([rng.uniform(), near, 1 - near])
        result = wb.reweight(a, f, beta)
        check(result, a, f, beta)
        assert collision(result.weights) == pytest.approx(brute_force(a, f, beta)[0], rel=GAP)


def test_the_published_fixture():
    a, f = [0.5574, 0.9883, 1.4687, 3.0894], [0.4012, 0.5353, 1.4986, 1.2467]
    result = wb.reweight(a, f, 0.9095)
    assert result.weights == pytest.approx([0.0088, 0.0861, 0.4245, 0.4806], abs=5e-5)
    assert collision(result.weights) / 2 == pytest.approx(0.2093, abs=5e-5)
    assert result.eta == pytest.approx(-0.878, abs=5e-4)


# --- the proofs -------------------------------------------------------------------------------------------------------


def test_the_optimum_of_a_parallelogram():
    """(3, 4, 4, 3)/14: a derivation by hand is in test_stationary."""
    r = wb.reweight([2, 2, 0, 0], [1, 2, 2, 3], 0.7)
    assert r.weights == pytest.approx(np.array([3, 4, 4, 3]) / 14, abs=1e-12) and r.ess == pytest.approx(
        3.92, rel=1e-12
    )
    assert r.eta == pytest.approx(-5 / 49, rel=1e-9)


@pytest.mark.parametrize("pool", [ENDE24, TED_ENDE], ids=["ende24", "ted_ende"])
@pytest.mark.parametrize("share", [0.2, 0.6, 0.9])
def test_gap_by_an_independent_lower_bound(pool, share):
    a, f = pool
    low, high = wb.reachable(a, f)
    beta = low + share * (high - low)
    p = collision(wb.reweight(a, f, beta).weights)
    assert lower_bound(a, f, beta, beta > wb.balance(a, f), p * (1 - GAP)) >= p * (1 - GAP)


@pytest.mark.parametrize("share", [0.03, 0.2, 0.93, 0.98])
def test_intervals_hold_in_exact_arithmetic(share):
    """Rational numbers, no rounding: the inequality of each saddle, and that the intervals leave no gap."""
    pool = Standard.of(*ENDE24)
    low, high = wb.reachable(*ENDE24)
    beta = low + share * (high - low)
    above = beta > wb.balance(*ENDE24)
    x, v, r = (pool.a, pool.f, (1 - beta) / beta) if above else (pool.f, pool.a, beta / (1 - beta))
    side = Side(x, v, np.sqrt([r]))
    side.start()
    assert not side.dual()[0]
    while (gaps := side.gaps(np.array([0]))).target.size:
        side.fill(gaps)
    level = Fraction(side.best[0].P) * (1 - Fraction(INTERVAL_GAP)) * (1 - Fraction(1, 10**15))  # P (1 − gap), rounded
    u_exact, v_exact = ([Fraction(t) for t in s] for s in (side.u[0], v))
    intervals = []
    for q, h, p, left, right in zip(side.q, side.h, side.p, *side._intervals(np.arange(side.q.size)), strict=True):
        if left < right:
            q, h, p, left, right = map(Fraction, (q, h, p, left, right))
            room = h - max(q - left, right - q) ** 2
            z = [h + (c - p) ** 2 - (d - q) ** 2 for c, d in zip(u_exact, v_exact, strict=True)]
            assert room >= 0 and room**2 >= level * sum(t * t for t in z if t > 0)
            intervals.append((left, right))
    covered = min(v_exact)
    for left, right in sorted(intervals):
        assert left <= covered
        covered = max(covered, right)
    assert covered >= max(v_exact)


def test_dual_certificate_means_a_convex_lagrangian():
    """Conditions (i)–(iii) of the exit certificate, built here from the whole K × K Hessian."""
    a, f = (np.array(x) for x in ENDE24)
    low, high = wb.reachable(a, f)
    results = wb.reweight_sweep(a, f, np.linspace(low, high, 50))
    dual = [r for r in results if r.certificate == "dual"]
    assert len(dual) == 19  # as many as the published search certifies on these targets
    plane = np.linalg.svd(np.ones((1, a.size)))[2][1:].T  # orthonormal, sums to zero
    for r in results:
        if r.certificate in ("pair", "uniform"):
            continue
        hess = np.eye(a.size) + 2 * r.eta * (r.target * np.outer(f, f) - (1 - r.target) * np.outer(a, a))
        convex = np.linalg.eigvalsh(plane.T @ hess @ plane).min() >= 0
        assert convex == (r.certificate == "dual")


@pytest.mark.parametrize("pool", [ENDE24, TED_ENDE], ids=["ende24", "ted_ende"])
def test_weights_are_a_clipped_saddle(pool):
    a, f = (np.array(x) for x in pool)
    low, high = wb.reachable(a, f)
    for r in wb.reweight_sweep(a, f, np.linspace(low, high, 30)[1:-1]):
        saddle = np.maximum(0, -r.lam - r.eta * constraint_gradient(r.weights, a, f, r.target))
        assert r.weights == pytest.approx(saddle, abs=1e-9)  # an optimum is flat: weights have half the digits of Σw²
        assert np.sign(r.eta) == (-1 if r.target > wb.balance(a, f) else 1)


@pytest.mark.parametrize("dataset", [name for name in DATASETS if name != "heen23"])  # heen23 has no aspects
def test_against_the_published_search(dataset):
    """Every third of 50 targets over the whole range."""
    d = wb.load(dataset)
    betas = np.linspace(*wb.reachable(d.adequacy, d.fluency), 50)[::3]
    for beta, result in zip(betas, wb.reweight_sweep(d.adequacy, d.fluency, betas), strict=True):
        assert result.ess == pytest.approx(wb.search(d.adequacy, d.fluency, beta).ess, rel=GAP)


# --- where the optimum jumps ------------------------------------------------------------------------------------------


def test_both_optima_are_given_at_a_jump():
    a, f = TED_ENDE
    left, right = 0.13, 0.145
    before = wb.reweight(a, f, left).weights
    for _ in range(60):
        r = wb.reweight(a, f, (left + right) / 2)
        if r.alternative is not None:
            break
        if np.abs(r.weights - before).sum() < 0.75:
            left, before = r.target, r.weights
        else:
            right = r.target
    assert r.alternative is not None
    assert wb.ess(r.alternative) == pytest.approx(r.ess, rel=GAP)
    assert wb.balance(a, f, r.alternative) == pytest.approx(r.target, abs=2e-12)
    assert np.abs(r.alternative - r.weights).sum() == pytest.approx(1.5, abs=0.05)
    assert r.ess == pytest.approx(7.2, abs=0.1)
    assert wb.reweight(a, f, 0.13).alternative is None


def test_both_optima_are_given_by_symmetry():
    a, f = [-1, 1, 0, 0, 0.2], [0, 0, -2, 2, 0]  # mirrored in fluency
    low, high = wb.reachable(a, f)
    ties = [r for r in wb.reweight_sweep(a, f, np.linspace(low, high, 20)) if r.alternative is not None]
    assert ties
    for r in ties:
        assert wb.ess(r.alternative) == pytest.approx(r.ess, rel=GAP)
        assert np.abs(r.alternative - r.weights).sum() > 1e-3


# --- properties -------------------------------------------------------------------------------------------------------


@st.composite
def problems(draw, most=7):
    size = draw(st.integers(2, most))
    scores = st.lists(st.integers(-20, 20), min_size=size, max_size=size)
    a, f = np.array(draw(scores), float), np.array(draw(scores), float)
    assume(np.ptp(a) > 0 or np.ptp(f) > 0)
    low, high = wb.reachable(a, f)
    return a, f, min(high, low + (high - low) * draw(st.floats(0, 1)))


@settings(max_examples=60, deadline=None)
@given(problems(), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.sampled_from([1e-6, 1, 1e6]))
def test_shift_and_scale_change_nothing(problem, shift_a, shift_f, scale):
    a, f, beta = problem
    low, high = wb.reachable(a, f)
    # a shift by 1e6 leaves ten digits of the scores, so targets keep away from the ends by more than that
    beta = np.clip(beta, low + 1e-6 * (high - low), high - 1e-6 * (high - low))
    base = collision(wb.reweight(a, f, beta).weights)
    scaled = wb.reweight(a * scale, f * scale, beta).weights
    assert collision(scaled) == pytest.approx(base, rel=GAP)
    moved_a, moved_f = a + shift_a, f + shift_f
    assert collision(wb.reweight(moved_a - shift_a, moved_f - shift_f, beta).weights) == pytest.approx(base, rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(problems())
def test_exchanging_the_aspects_mirrors_beta(problem):
    a, f, beta = problem
    other = wb.reweight(f, a, 1 - beta)  # 1 − β rounds to 1e-16, which only matters next to an end
    assert collision(other.weights) == pytest.approx(collision(wb.reweight(a, f, beta).weights), rel=GAP)


@settings(max_examples=60, deadline=None)
@given(problems(most=6))
def test_every_system_twice_doubles_the_sample_size(problem):
    a, f, beta = problem
    twice = wb.reweight(np.tile(a, 2), np.tile(f, 2), beta)
    assert twice.ess == pytest.approx(2 * wb.reweight(a, f, beta).ess, rel=GAP)


@settings(max_examples=60, deadline=None)
@given(problems(), st.randoms(use_true_random=False))
def test_results_are_feasible_and_the_order_of_systems_does_not_matter(problem, random):
    a, f, beta = problem
    result = wb.reweight(a, f, beta)
    check(result, a, f, beta)
    order = list(range(a.size))
    random.shuffle(order)
    assert collision(wb.reweight(a[order], f[order], beta).weights) == pytest.approx(collision(result.weights), rel=GAP)


@settings(max_examples=30, deadline=None)
@given(problems())
def test_sample_size_rises_to_the_natural_balance_and_falls_after(problem):
    a, f, _ = problem
    low, high = wb.reachable(a, f)
    betas = np.unique(np.append(np.linspace(low, high, 15), wb.balance(a, f)))
    sizes = np.array([r.ess for r in wb.reweight_sweep(a, f, np.clip(betas, low, high))])
    top = int(sizes.argmax())
    assert sizes[top] == pytest.approx(a.size, rel=GAP)
    assert (np.diff(sizes[: top + 1]) >= -GAP * a.size).all() and (np.diff(sizes[top:]) <= GAP * a.size).all()


def test_a_sweep_is_a_loop():
    a, f = ENDE24
    low, high = wb.reachable(a, f)
    betas = np.linspace(low, high, 12)
    for beta, one in zip(betas, wb.reweight_sweep(a, f, betas), strict=True):
        assert one.ess == pytest.approx(wb.reweight(a, f, beta).ess, rel=GAP)
        assert one.target == beta
    assert wb.reweight_sweep(a, f, []) == []


def test_shifted_and_scaled_real_scores_give_the_same_weights():
    a, f = (np.array(x) for x in ENDE24)
    for beta in (0.2, 0.5, 0.95):
        w = wb.reweight(a, f, beta).weights
        for scale in (1e-6, 1e6):
            assert wb.reweight(scale * a, scale * f, beta).weights == pytest.approx(w, abs=1e-9)
        # beside 1e6 the scores keep ten digits
        assert wb.reweight(a + 1e6, f - 1e6, beta).weights == pytest.approx(w, abs=1e-7)


def test_a_thousand_systems():
    rng = np.random.default_rng(3)
    a, f = rng.normal(size=(2, 1000))
    low, high = wb.reachable(a, f)
    for share in (0.02, 0.4, 0.9):
        beta = low + share * (high - low)
        r = wb.reweight(a, f, beta)
        check(r, a, f, beta)
        saddle = np.maximum(0, -r.lam - r.eta * constraint_gradient(r.weights, a, f, beta))
        assert r.weights == pytest.approx(saddle, abs=1e-9)


@pytest.mark.parametrize("seed", [320, 238311])
def test_mirrored_optima_are_proven(seed):
    """Centrally symmetric pools: around the mirror image of the best, the line closes slowly."""
    pools = {238311: ([0.0162, -0.0162, 1.5171, -1.5171, 0], [-0.2011, 0.2011, 0.4757, -0.4757, 0], 0.8325)}
    pools[320] = (0.82605, 1.38814, -0.82605, -1.38814), (-0.30399, -0.53486, 0.30399, 0.53486), 0.8717379
    r = wb.reweight(*pools[seed])
    assert r.gap <= GAP and len(r.alternatives) == 1


def test_uniform_at_the_natural_balance_and_pairs_at_the_ends():
    a, f = ENDE24
    r = wb.reweight(a, f, wb.balance(a, f))
    assert r.certificate == "uniform" and r.ess == pytest.approx(16, rel=1e-12)
    assert r.gap < 1e-25  # the target is the natural balance rounded, so next to nothing has to be moved
    for beta in wb.reachable(a, f):
        r = wb.reweight(a, f, beta)
        assert r.certificate == "pair" and len(r.support) == 2 and r.ess == 2 and np.isnan(r.eta)


# --- the interval of targets with enough systems ----------------------------------------------------------------------


@pytest.mark.parametrize("size", [2.5, 8, 15])
def test_beta_interval(size):
    a, f = ENDE24
    low, high = wb.beta_interval(a, f, size)
    assert low < wb.balance(a, f) < high
    edge = [r.ess for r in wb.reweight_sweep(a, f, [low, high])]
    assert edge == pytest.approx([size, size], rel=1e-9) and min(edge) >= size * (1 - 1e-12)
    beyond = [r.ess for r in wb.reweight_sweep(a, f, [low - 1e-6, high + 1e-6])]
    assert max(beyond) < size


def test_beta_interval_at_its_limits():
    a, f = ENDE24
    assert wb.beta_interval(a, f, 2) == wb.reachable(a, f)
    assert wb.beta_interval(a, f, 1) == wb.reachable(a, f)
    natural = wb.balance(a, f)
    assert wb.beta_interval(a, f, 16) == pytest.approx((natural, natural), abs=1e-15)
    for bad in (0.5, 17, np.nan, "many"):
        with pytest.raises(ValueError, match="ess"):
            wb.beta_interval(a, f, bad)


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "f", "beta", "words"),
    [
        ([0, 2, 0], [0, 1, 3], 0.9, "beta = 0.9.* cannot be reached; this pool reaches 0 to 0.8"),
        ([0, 2], [0, 1], 0.5, "cannot be reached"),
        ([0, 1], [0, 1], 1.5, "from 0 to 1"),
        ([0, 1], [0, 1], np.nan, "from 0 to 1"),
        ([0, 1], [0, 1], "half", "from 0 to 1"),
        ([0, np.nan], [0, 1], 0.5, r"adequacy\[1\] is nan"),
        ([0, 1], [0, np.inf], 0.5, r"fluency\[1\] is inf"),
        ([0, 1, 2], [0, 1], 0.5, "fluency has 2 values where 3"),
        ([[0, 1]], [0, 1], 0.5, "adequacy has shape"),
        ([1], [1], 0.5, "at least two"),
        ([1, 1], [2, 2], 0.5, "same adequacy and fluency"),
        ([], [], 0.5, "at least two"),
    ],
)
def test_refusals(a, f, beta, words):
    with pytest.raises(ValueError, match=words):
        wb.reweight(a, f, beta)


@pytest.fixture
def careless(monkeypatch):
    """No second search with care."""
    monkeypatch.setattr(SOLVER.careful, "solve", lambda *args: None)


def test_an_unfinished_proof_is_an_error(monkeypatch, careless):
    monkeypatch.setattr(SOLVER, "ROUNDS", 0)
    monkeypatch.setattr(SOLVER, "MENDS", 0)  # and none for a guess
    with pytest.raises(wb.NotProven, match="not proven at beta = 0.2"):
        wb.reweight(*ENDE24, 0.2)
    assert issubclass(wb.NotProven, RuntimeError)


def test_targets_without_any_weighting_are_named(monkeypatch, careless):
    """Both where the start brings no feasible weighting for either; the target that one saddle proves is returned."""
    monkeypatch.setattr(SOLVER.Side, "start", lambda self: None)
    sweep = wb.reweight_sweep(*ENDE24, [0.2, 0.6, 0.25])
    assert sweep.certificates == ["unproven", "dual", "unproven"] and sweep.unproven.tolist() == [0.2, 0.25]
    assert np.isnan(sweep.weights[[0, 2]]).all() and sweep[1].gap <= GAP and np.isnan(sweep[0].gap)
    with pytest.raises(wb.NotProven, match="not proven at beta = 0.2[0-9]*, 0.25;"):
        sweep.insist()


def test_too_many_saddles_are_an_error(monkeypatch, careless):
    """Only the target that needs intervals is named; the one proven by a single saddle is not in doubt."""
    betas = [0.2, wb.balance(*ENDE24) - 0.01]
    assert [r.certificate for r in wb.reweight_sweep(*ENDE24, betas)] == ["interval", "dual"]
    monkeypatch.setattr(cover, "ROWS", 1)
    with pytest.raises(wb.NotProven, match="not proven at beta = 0.2[0-9]*;"):
        wb.reweight_sweep(*ENDE24, betas).insist()


def test_what_ordinary_numbers_leave_open_is_solved_with_care(monkeypatch):
    expected = wb.reweight(*ENDE24, 0.2).ess
    monkeypatch.setattr(SOLVER, "ROUNDS", 0)
    r = wb.reweight(*ENDE24, 0.2)
    assert r.certificate == "interval" and r.gap <= GAP and r.ess == pytest.approx(expected, rel=GAP)


def test_infeasible_weights_are_never_returned_as_proven(monkeypatch, careless):
    monkeypatch.setattr(SOLVER, "weighted_share", lambda a, f, scale, w: np.full(w.shape[:-1], 0.5))
    with pytest.raises(wb.NotProven, match="not proven"):
        wb.reweight(*ENDE24, 0.2)


def test_scores_are_left_alone():
    a, f = (np.array(x) for x in ENDE24)
    before = a.copy(), f.copy()
    wb.reweight(a, f, 0.3)
    assert (a == before[0]).all() and (f == before[1]).all() and mean(a) == mean(before[0])


def test_a_fine_sweep_proves_what_single_targets_prove(monkeypatch):
    """The limit of work holds for the targets still open, however many were proven beside them."""
    d = wb.load("ende24")
    low, high = wb.reachable(d.adequacy, d.fluency)
    betas = np.linspace(low, high, 500)
    monkeypatch.setattr(cover, "ROWS", 400)
    solved = wb.reweight_sweep(d.adequacy, d.fluency, betas)
    for n in range(0, 500, 25):
        assert solved[n].ess == pytest.approx(wb.reweight(d.adequacy, d.fluency, betas[n]).ess, rel=1e-9)


def test_a_sweep_is_a_list_and_arrays():
    a, f = ENDE24
    betas = np.linspace(*wb.reachable(a, f), 7)
    sweep = wb.reweight_sweep(a, f, betas)
    assert isinstance(sweep, list) and len(sweep) == 7 and sweep[-1] is list(sweep)[6]
    assert (sweep.betas == [r.target for r in sweep]).all() and (sweep.betas == betas).all()
    assert sweep.weights.shape == (7, 16) and (sweep.weights[3] == sweep[3].weights).all()
    assert sweep.ess.tolist() == [r.ess for r in sweep] and sweep.certificates == [r.certificate for r in sweep]
    assert sweep[2:4].betas.tolist() == betas[2:4].tolist() and type(sweep[2:4]) is wb.Sweep
    assert wb.reweight_sweep(a, f, []).weights.shape == (0, 16) and wb.reweight_sweep(a, f, []).ess.shape == (0,)
