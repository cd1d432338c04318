import sys
from dataclasses import asdict
from itertools import combinations, product

import numpy as np
import oracle
import pytest
from hypothesis import assume, example, given, settings, strategies as st
from pools import ENDE24, KINDS, MOVES, UNCERTIFIABLE, make

from whichbird.core.balance import balance, pair_balances, reachable
from whichbird.solve.certificate import certificate
from whichbird.solve.result import Counts
from whichbird.solve.reweight import reweight_sweep
from whichbird.solve.search import Run, ablation, search, search_sweep

SWITCHES = list(product((True, False), repeat=3))
PLACES = [0.0, 1e-6, 1e-3, 0.3, 0.7, 1 - 1e-3, 1 - 1e-6, 1.0]  # along the reachable range
SIZES = [3, 4, 5, 6, 7, 4, 5, 6]


def cases():
    """Every kind of pool, in every unit, at every place of the range: 352 pools of 3 to 7 systems, and 11 of 8 or 9."""
    for k, kind in enumerate(KINDS):
        for m, move in enumerate(MOVES):
            for p, place in enumerate(PLACES):
                yield kind, move, place, SIZES[(k + 3 * m + p) % len(SIZES)], 1000 * k + 100 * m + p
        yield kind, "as is", [0.15, 0.85, 0.5][k % 3], 8 + (k % 3 == 0), 9000 + k


def moved(kind, move, size, seed):
    scale, plus_a, plus_f = MOVES[move]
    a, f = make(kind, size, np.random.default_rng(seed))
    return scale * a + plus_a, scale * f + plus_f


@pytest.mark.parametrize("kind, move, place, size, seed", list(cases()))
def test_equals_brute_force(kind, move, place, size, seed):
    a, f = moved(kind, move, size, seed)
    low, high = reachable(a, f)
    beta = low + place * (high - low)
    r = search(a, f, beta)
    best, _ = oracle.brute_force(a, f, beta)
    assert r.weights.min() >= 0 and r.weights.sum() == pytest.approx(1, abs=1e-14)
    assert balance(a, f, r.weights) == pytest.approx(beta, abs=1e-9)
    # both may be off the target by up to 1e-9, times the multiplier, which is largest near an end
    assert 1 / r.ess == pytest.approx(best, rel=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_no_local_optimiser_does_better(kind):
    rng = np.random.default_rng(3)
    reached = 0
    for size in (5, 7, 9):
        a, f = make(kind, size, rng)
        low, high = reachable(a, f)
        for place in (0.2, 0.55, 0.9):
            beta = low + place * (high - low)
            local = oracle.multistart(a, f, beta, starts=5)
            best = 1 / search(a, f, beta).ess
            assert best <= local * (1 + 1e-7)  # the local one may be off the target by 1e-9
            reached += local <= best * (1 + 1e-6)
    assert reached >= 3  # it does find the optimum now and then


@pytest.mark.parametrize("kind", KINDS)
def test_every_switch_setting_returns_the_same_optimum(kind):
    rng = np.random.default_rng(8)
    for size, place in [(5, 0.1), (6, 0.5), (7, 0.95), (4, 1.0), (6, 0.0)]:
        a, f = make(kind, size, rng)
        low, high = reachable(a, f)
        beta = low + place * (high - low)
        results = [search(a, f, beta, *switches) for switches in SWITCHES]
        # a certificate may stop at a point 1e-9 short of optimal
        assert [r.ess for r in results] == pytest.approx([results[0].ess] * 8, rel=2e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_search_and_reweight_agree(kind):
    """Two solvers with nothing in common but the problem: a sample of a comparison made once on thousands of pools."""
    rng, compared = np.random.default_rng(13), 0
    for size in (4, 5, 6, 7):
        for _ in range(3):
            a, f = make(kind, size, rng)
            low, high = reachable(a, f)
            if high - low < 1e-9:  # on a line
                continue
            betas = low + np.array([1e-3, 0.25, 0.5, 0.7, 0.95]) * (high - low)
            for r in reweight_sweep(a, f, betas):
                assert search(a, f, r.target).ess == pytest.approx(r.ess, rel=2e-9)  # 1e-9 of β, and the proven gap
                compared += 1
    assert compared >= 40


def test_the_optimum_of_a_parallelogram():
    """(3, 4, 4, 3)/14 by hand, in test_stationary: Σw² = 50/196. All weights are positive and η = −5/49 lies between the
    poles, so I + 2ηM is positive and the first support is certified."""
    r = search([2, 2, 0, 0], [1, 2, 2, 3], 0.7)
    assert r.weights == pytest.approx(np.array([3, 4, 4, 3]) / 14, abs=1e-15) and r.ess == pytest.approx(
        3.92, rel=1e-14
    )
    assert r.eta == pytest.approx(-5 / 49, rel=1e-13) and r.lam == pytest.approx(-50 / 196, rel=1e-13)  # λ = −Σw²
    assert r.certificate == "exit certificate" and r.gap < 1e-14
    assert r.counts == Counts(supports=1, candidates=1, certified=1, two_poles=1)


def test_a_search_that_found_nothing_says_so():
    with pytest.raises(ArithmeticError, match="no support has a weighting with beta = 0.5 .* use reweight"):
        Run(True, True, True, proof="all supports").result([0, 2, 0], [0, 1, 3], 0.5)


def test_weights_off_the_target_are_never_returned():
    pair = Run(True, True, True, weights=np.array([0.5, 0.5, 0]), proof="all supports")  # β = 4/5
    assert pair.result([0, 2, 0], [0, 1, 3], 0.8 - 5e-10).weights.tolist() == [0.5, 0.5, 0]
    with pytest.raises(ArithmeticError, match=r"0\.(8|79999999999)\d+ where 0\.79999999\d+"):
        pair.result([0, 2, 0], [0, 1, 3], 0.8 - 2e-9)


def test_optimum_that_cannot_be_certified():
    a, f, beta = UNCERTIFIABLE
    r = search(a, f, beta)
    assert r.weights == pytest.approx([0.0088, 0.0861, 0.4245, 0.4806], abs=5e-5)
    assert 0.5 / r.ess == pytest.approx(0.2093, abs=5e-5) and r.eta == pytest.approx(-0.878, abs=5e-4)
    assert r.support == (0, 1, 2, 3) and r.certificate == "support size" and r.counts.certified == 0


def test_published_counts_on_ende24():
    """The published counts of the whole range, all theorems on; candidates as the companion matrix has them too."""
    total = Counts()
    for r in search_sweep(*ENDE24, np.linspace(*reachable(*ENDE24), 50)):
        total += r.counts
    assert total == Counts(
        supports=951_432,
        skipped=65_522,
        candidates=2_116_416,
        size_stops=29,
        certified=19,
        ends=2,
        two_poles=951_432,
        one_pole=0,
    )
    assert total.candidates == pytest.approx(2_116_144, rel=1.34e-4)  # the published scan misses 0.013 % of the roots


def test_published_counts_on_ende24_near_its_own_balance():
    natural = balance(*ENDE24)
    total = Counts()
    for r in search_sweep(*ENDE24, np.linspace(natural - 0.05, natural + 0.05, 50)):
        total += r.counts
    assert total == Counts(supports=50, candidates=50, certified=50, two_poles=50)


def test_without_its_stops_the_search_sees_everything():
    a, f = ENDE24[:, :10]
    between = lambda s: np.nanmin(pair_balances(a[s], f[s])) < 0.6 < np.nanmax(pair_balances(a[s], f[s]))  # noqa: E731
    expected = sum(between(list(s)) for n in range(2, 11) for s in combinations(range(10), n))
    on, off = (search(a, f, 0.6, admissible, size=False, certificate=False).counts for admissible in (True, False))
    assert on.supports == expected < off.supports == on.supports + on.skipped == 2**10 - 11
    assert on.size_stops == on.certified == off.size_stops == off.certified == 0


def test_ablation_is_the_sum_of_the_searches():
    a, f = ENDE24[:, :9]
    betas = np.linspace(*reachable(a, f), 7)
    rows = ablation(a, f, betas)
    assert [(r["admissible"], r["size"], r["certificate"]) for r in rows] == SWITCHES
    for row, switches in zip(rows, SWITCHES, strict=True):
        total = sum((r.counts for r in search_sweep(a, f, betas, *switches)), Counts())
        assert {name: row[name] for name in asdict(total)} == asdict(total)
    assert len({r["supports"] for r in rows}) > 4  # the switches do something here


@pytest.mark.parametrize("chunk", [1, 7])
def test_counts_are_those_of_one_support_after_the_other(chunk, monkeypatch):
    a, f = ENDE24
    betas = [0.52, 0.59, 0.7, 0.87]
    whole = [search(a, f, b) for b in betas]
    monkeypatch.setattr(sys.modules["whichbird.solve.search"], "CHUNK", chunk)
    small = [search(a, f, b) for b in betas]
    assert [r.counts for r in whole] == [r.counts for r in small]
    assert all(np.array_equal(x.weights, y.weights) for x, y in zip(whole, small, strict=True))
    assert any(r.counts.certified and 1 < r.counts.supports % 16 for r in whole)  # stopped inside a size


def test_inadmissible_supports_are_skipped_and_carry_nothing():
    a, f = ENDE24[:, :8]
    for beta in np.linspace(*reachable(a, f), 6)[1:-1]:
        on, off = search(a, f, beta), search(a, f, beta, admissible=False)
        assert on.counts.supports + on.counts.skipped == off.counts.supports and off.counts.skipped == 0
        assert np.array_equal(on.weights, off.weights)


def test_an_end_of_the_range_is_one_pair():
    low, high = reachable(*ENDE24)
    for beta in (low, high):
        r = search(*ENDE24, beta)
        pair = np.argmin(np.abs(pair_balances(*ENDE24) - beta))
        assert r.support == tuple(int(k[pair]) for k in np.triu_indices(16, 1)) and r.ess == 2
        assert r.counts == Counts(ends=1) and r.certificate == "end of the range"


def test_an_end_that_several_pairs_attain_is_searched():
    r = search([0, 1, 2, 0, 5], [0, 0, 0, 2, 7], 1.0)  # the first three differ in adequacy only
    assert r.weights == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0, 0], abs=1e-15) and r.counts.ends == 0


def test_two_optima_of_a_mirrored_pool():
    a, f = np.array([-2, 2, 0.0]), np.array([0, 0, 1.0])
    r = search(a, f, 0.82)
    assert r.alternative is not None
    assert r.alternative == pytest.approx(r.weights[[1, 0, 2]], abs=1e-12)
    assert np.abs(r.alternative - r.weights).max() > 0.1
    assert balance(a, f, r.alternative) == pytest.approx(0.82, abs=1e-9)
    assert search(*ENDE24, 0.7).alternative is None


@pytest.mark.parametrize("beta", [0.05, 0.3, 0.5, 0.6, 0.75, 0.95])
def test_result_on_a_real_pool(beta):
    a, f = ENDE24[:, ::2]
    r = search(a, f, beta)
    assert r.target == beta and r.beta == pytest.approx(beta, abs=1e-9)
    proof = certificate(a, f, beta, r.weights, r.eta)
    assert proof.failed in (None, "(iii)")  # (i) and (ii) are necessary
    assert r.lam == pytest.approx(proof.lam, rel=1e-9)
    assert (r.gap < 1e-9) and (r.certificate == "exit certificate") == bool(r.counts.certified)


whole = st.integers(-30, 30)
scores = st.lists(st.tuples(whole, whole), min_size=2, max_size=6, unique=True)
places = st.floats(0, 1)


def pool_and_target(points, place):
    a, f = np.array(points, float).T
    low, high = reachable(a, f)
    return a, f, min(low + place * (high - low), high)


@settings(max_examples=100, deadline=None)
@example([(0, 0), (0, 1), (1, 0), (1, 1)], 5e-324)
@given(scores, places)
def test_result_is_feasible_and_reaches_the_target(points, place):
    a, f, beta = pool_and_target(points, place)
    r = search(a, f, beta)
    assert (r.weights >= 0).all() and r.weights.sum() == pytest.approx(1, abs=1e-14)
    assert abs(balance(a, f, r.weights) - beta) <= 1e-9
    assert 2 - 1e-9 <= r.ess <= a.size + 1e-9


@settings(max_examples=60, deadline=None)
@given(scores, places, st.randoms(use_true_random=False))
def test_relabelling_changes_nothing(points, place, random):
    a, f, beta = pool_and_target(points, place)
    order = list(range(a.size))
    random.shuffle(order)
    # the target is the same; at a place where the optimum jumps both labellings must have the same value
    assert search(a[order], f[order], beta).ess == pytest.approx(search(a, f, beta).ess, rel=1e-8)


@settings(max_examples=60, deadline=None)
@given(scores, places, st.sampled_from([1e-6, 0.5, 3.0, 1e6]), st.sampled_from([-1e6, -7.0, 0.0, 1e6]))
def test_shift_and_common_scale_change_nothing(points, place, scale, shift):
    a, f, beta = pool_and_target(points, place)
    low, high = reachable(a, f)
    assume(low + 1e-6 <= beta <= high - 1e-6)  # at an end rounding decides whether it is reachable
    x, y = scale * (a + shift), scale * (f - shift)
    # shifted scores keep ten digits, and near an end a digit of β costs up to 1e4 of ESS (its slope there)
    assert search(x, y, beta).ess == pytest.approx(search(a, f, beta).ess, rel=1e-5)


@settings(max_examples=60, deadline=None)
@given(scores, places)
def test_exchanging_the_aspects_mirrors_the_balance(points, place):
    a, f, beta = pool_and_target(points, place)
    low, high = reachable(f, a)
    assume(low <= 1 - beta <= high)
    assert search(f, a, 1 - beta).ess == pytest.approx(search(a, f, beta).ess, rel=1e-6)


@settings(max_examples=40, deadline=None)
@given(scores, places, places)
def test_ess_falls_away_from_the_natural_balance(points, one, two):
    a, f, near = pool_and_target(points, one)
    far = pool_and_target(points, two)[2]
    natural = balance(a, f)
    if abs(far - natural) < abs(near - natural):
        near, far = far, near
    assume((near - natural) * (far - natural) > 0)
    assert search(a, f, far).ess <= search(a, f, near).ess * (1 + 1e-8)


def test_repeated_systems_share_their_weight():
    a, f = ENDE24[:, :5]
    once = search(a, f, 0.6)
    twice = search(np.r_[a, a], np.r_[f, f], 0.6)
    assert twice.ess == pytest.approx(2 * once.ess, rel=1e-9)
    assert twice.weights[:5] == pytest.approx(twice.weights[5:], abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_weight_on_one_repeated_point_is_never_an_answer(seed):
    """There b vanishes with the variance, and Σw² is small: the most tempting wrong answer."""
    rng = np.random.default_rng(seed)
    a, f = make(KINDS[seed % len(KINDS)], 7, rng)
    a[1:3], f[1:3] = a[0], f[0]
    low, high = reachable(a, f)
    for place in (1e-3, 0.3, 0.7):
        beta = low + place * (high - low)
        assert search(a, f, beta, admissible=False).ess == pytest.approx(search(a, f, beta).ess, rel=2e-9)


def test_a_support_with_the_target_at_its_end_is_skipped():
    a, f = [0, 1, 5, 9], [0, 1, 2, -1]  # β = ½ is the pair (0, 1)'s own, the other pairs lie above
    r = search(a, f, 0.5)
    assert r.certificate == "end of the range" and r.support == (0, 1)
    a, f = np.array([*a, 0.2]), np.array([*f, 7])  # one more system, below
    pairs = [pair_balances(a[list(s)], f[list(s)]) for n in range(2, 6) for s in combinations(range(5), n)]
    inside = [p.min() < 0.5 - 1e-12 and 0.5 + 1e-12 < p.max() for p in pairs]  # ½ itself comes out with a last digit
    touching = [min(abs(p.min() - 0.5), abs(p.max() - 0.5)) < 1e-12 for p in pairs]
    counts = search(a, f, 0.5, size=False, certificate=False).counts
    assert sum(touching) > 1 and counts.supports == sum(inside) + 1  # and the pair itself


def test_same_input_same_output():
    one, two = search(*ENDE24[:, :10], 0.3), search(*ENDE24[:, :10], 0.3)
    assert np.array_equal(one.weights, two.weights) and one.counts == two.counts


@pytest.mark.parametrize(
    "a, f, beta, words",
    [
        ([0, 2, 0], [0, 1, 3], 0.9, r"beta = 0.9\d* cannot be reached; this pool reaches 0 to 0.8"),
        ([0, 2, 0], [0, 1, 3], 1.5, "beta is 1.5; a number from 0 to 1 is expected"),
        ([0, 2, 0], [0, 1, 3], np.nan, "beta is nan; a number from 0 to 1 is expected"),
        ([0], [1], 0.5, "the pool has 1 system; a balance needs at least two"),
        ([0, np.nan], [1, 2], 0.5, r"adequacy\[1\] is nan; every value must be a finite number"),
        ([0, 1], [1, np.inf], 0.5, r"fluency\[1\] is inf; every value must be a finite number"),
        ([1, 1, 1], [2, 2, 2], 0.5, "all 3 systems have the same adequacy and fluency"),
        ([0, 1, 2], [0, 1], 0.5, "fluency has 2 values where 3 are expected"),
        (np.arange(25), np.arange(25) ** 2, 0.5, "the pool has 25 systems; .* at most 24, reweight takes any number"),
    ],
)
def test_refusals(a, f, beta, words):
    with pytest.raises(ValueError, match=words):
        search(a, f, beta)


def test_betas_of_a_sweep_are_checked():
    with pytest.raises(ValueError, match=r"betas\[1\] is nan"):
        search_sweep([0, 2, 0], [0, 1, 3], [0.5, np.nan])
    with pytest.raises(ValueError, match="cannot be reached"):
        ablation([0, 2, 0], [0, 1, 3], [0.5, 0.9])


def test_results_can_be_compared_and_collected():
    one, two = (search([0, 2, 0], [0, 1, 3], 0.3) for _ in range(2))
    assert one == one and one != two and len({one, two}) == 2
