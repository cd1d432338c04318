"""The guess for a single target: right where it can be, and harmless where it is not."""

import importlib

import numpy as np
import pytest
from oracle_reweight import stationary
from pools import ENDE24

import whichbird as wb
from whichbird.core.balance import Standard
from whichbird.solve import cover, guess, saddle

SOLVER = importlib.import_module("whichbird.solve.reweight")
GAP = 5e-10


def _stretched(a, f, beta):
    """u and v (K,) of one target."""
    pools = SOLVER.Pools.of(Standard.of(a, f))
    _, x, v, stretch = SOLVER.sides(pools, np.zeros(1, int), np.array([beta]))
    return stretch[0] * x[0], v[0]


def _weights(u, v, h, p, q):
    z = np.maximum(0, h + (u - p) ** 2 - (v - q) ** 2)
    return z / z.sum()


def _guess(u, v):
    even = [1 / len(u)] * len(u)
    return guess.newton(u, v, *guess.start(u, v, even))


@pytest.mark.parametrize("beta", [0.45, 0.5, 0.6, 0.65])
def test_newtons_method_ends_where_the_sweep_ends(beta):
    u, v = _stretched(*ENDE24, beta)
    point = _guess(u.tolist(), v.tolist())
    expected = wb.reweight_sweep(*ENDE24, [beta] * 3)[0]
    w = _weights(u, v, *point[:3])
    assert np.abs(w - expected.weights).max() < 1e-14
    assert point.P == pytest.approx(w @ w, rel=1e-14) and point.error <= guess.SETTLED


@pytest.mark.parametrize("size", [1e-200, 1e-80, 1e80, 1e160])
def test_numbers_out_of_range_raise_nothing(size):
    u, v = ((size * x).tolist() for x in _stretched(*ENDE24, 0.2))
    with np.errstate(all="ignore"):
        point = _guess(u, v) or guess.optimum(u, v, [0.5, 0.5] + [0.0] * (len(u) - 2))
        points, rows = guess.cover(u, v, point or guess.Point(1.0, 0.0, 0.0, 0.3, 0.0), GAP)
    assert len(points) >= 1 and len(rows) >= 1


def test_newtons_method_says_when_it_is_lost():
    u, v = (x.tolist() for x in _stretched(*ENDE24, 0.5))
    assert guess.newton(u, v, 1e-9, 5.0, 5.0) is None  # no system in use
    assert guess.newton(u, v, -1.0, 0.0, 0.0) is None


@pytest.mark.parametrize("root", [None, 0.4])
def test_a_climb_reaches_what_the_climb_in_arrays_reaches(root):
    u, v = _stretched(*ENDE24, 0.3)
    for q in np.linspace(v.min(), v.max(), 7)[1:-1]:
        h = 0.5 * ((v - q) ** 2).max()
        P = None if root is None else np.array([root**2])
        *_, (best,) = saddle.climb(u[None], v[None], np.array([q]), np.array([h]), np.zeros(1), P)
        found, p, height = guess.climb(u.tolist(), v.tolist(), q, h, 0.0, root)
        norm = np.linalg.norm(np.maximum(0, found + (u - p) ** 2 - (v - q) ** 2))
        assert height == pytest.approx(found / norm if root is None else found - root * norm, rel=1e-9)
        if root is None:  # beyond that no two systems reach the target, and the climb in arrays is broken off
            best, height = min(best, 0.75), min(height, 0.75)
        assert height == pytest.approx(best, rel=0.05)


@pytest.mark.parametrize("beta", [0.1, 0.2, 0.3, 0.8, 0.9])
def test_a_cover_leaves_no_gap(beta):
    u, v = _stretched(*ENDE24, beta)
    plain = u.tolist(), v.tolist()
    start = _guess(*plain) or guess.optimum(*plain, np.eye(u.size)[0].tolist())
    points, rows = guess.cover(*plain, start, GAP)
    best = points[-1]
    assert best.P == pytest.approx(1 / wb.reweight_sweep(*ENDE24, [beta] * 3)[0].ess, rel=1e-9)
    h, p, q = np.array(rows).T
    many = [np.tile(x, (h.size, 1)) for x in (u, v)]
    square = saddle.excluded(*many, q, h, p, np.full(h.size, best.P * (1 - GAP)))[0]
    half = np.sqrt(np.maximum(0, square))
    at = v.min()
    for low, high in sorted(zip(q - half, q + half, strict=True)):
        assert low <= at or at >= v.max()
        at = max(at, high)
    assert at >= v.max()


def test_a_better_point_on_the_way_is_taken():
    """Started from a local optimum that is not the best, the cover meets the best."""
    rng = np.random.default_rng(4)
    met = 0
    for _ in range(40):
        a, f = rng.normal(size=(2, 9))
        low, high = wb.reachable(a, f)
        u, v = (x.tolist() for x in _stretched(a, f, low + 0.2 * (high - low)))
        for q in v:
            point = guess.valley(u, v, 0.5 * max((y - q) ** 2 for y in v), 0.0, q)
            if point is None:
                continue
            points, _ = guess.cover(u, v, point, GAP)
            assert all(b.P < a.P for a, b in zip(points, points[1:], strict=False))
            met += len(points) > 1
    assert met > 0


@pytest.mark.parametrize("number", range(12))
def test_one_target_and_a_sweep_agree(number, monkeypatch):
    rng = np.random.default_rng(number)
    a, f = rng.normal(size=(2, int(rng.integers(2, 25))))
    betas = np.linspace(*wb.reachable(a, f), 9)
    alone = [wb.reweight(a, f, beta) for beta in betas]
    monkeypatch.setattr(SOLVER, "SMALL", 0)
    for one, many in zip(alone, wb.reweight_sweep(a, f, betas), strict=True):
        assert one.certificate == many.certificate and one.ess == pytest.approx(many.ess, rel=1e-9)
        assert one.gap <= 1e-9 and len(one.alternatives) == len(many.alternatives)
        if not one.alternatives:
            assert np.abs(one.weights - many.weights).max() < 1e-10


def test_no_guess_is_no_harm(monkeypatch):
    expected = [wb.reweight(*ENDE24, beta).ess for beta in (0.2, 0.6)]
    monkeypatch.setattr(guess, "newton", lambda *args: None)
    for beta, ess in zip((0.2, 0.6), expected, strict=True):
        r = wb.reweight(*ENDE24, beta)
        assert r.ess == pytest.approx(ess, rel=1e-12) and r.gap <= 1e-9


@pytest.mark.parametrize("beta", [0.2, 0.6])
def test_a_wrong_guess_is_no_harm(beta, monkeypatch):
    """A point off the target, and saddles that exclude nothing or are no numbers."""
    expected = wb.reweight(*ENDE24, beta).ess
    wrong = guess.Point(0.3, 0.1, -0.2, 0.05, 0.0)
    monkeypatch.setattr(guess, "newton", lambda *args: wrong)
    monkeypatch.setattr(
        guess,
        "cover",
        lambda *args: ([wrong], [wrong[:3], (-1.0, 0.0, 0.0), (np.nan, 0.0, 0.0), (1.0, np.nan, np.inf)]),
    )
    r = wb.reweight(*ENDE24, beta)
    assert r.ess == pytest.approx(expected, rel=1e-12) and r.gap <= 1e-9


def test_a_poor_guess_is_mended(monkeypatch):
    """A local optimum for the best, without a cover: the gaps lead to the best."""
    expected, real = wb.reweight(*ENDE24, 0.2).ess, guess.cover
    monkeypatch.setattr(
        guess, "cover", lambda u, v, best, gap: (real(u, v, best, gap)[0][:1], [(np.nan, 0.0, 0.0), best[:3]])
    )
    r = wb.reweight(*ENDE24, 0.2)
    assert r.ess == pytest.approx(expected, rel=1e-12) and r.gap <= 1e-9


def _guesses(monkeypatch):
    """A list that grows by one for every target: whether a guess was taken."""
    taken, real = [], SOLVER._guessed
    monkeypatch.setattr(SOLVER, "_guessed", lambda *args: (taken.append(real(*args)), taken[-1])[1])
    return taken


def test_most_targets_of_a_real_pool_are_guessed(monkeypatch):
    taken = _guesses(monkeypatch)
    for beta in np.linspace(*wb.reachable(*ENDE24), 22)[1:-1]:
        wb.reweight(*ENDE24, beta)
    assert len(taken) == 20 and sum(taken) >= 18


@pytest.mark.parametrize("name", ["ende24", "ted_ende", "zhen22"])
def test_at_a_jump_both_optima_are_found(name, monkeypatch):
    """A guess was once taken there, and lost a second optimum, or the proof."""
    a, f = wb.load(name).aspects
    low, high = wb.reachable(a, f)
    jumps = [jump.beta for jump in wb.path(a, f).jumps]
    assert len(jumps) >= 4
    for beta in (min(max(j + by, low), high) for j in jumps for by in (0, 1e-15, -1e-15, 1e-12, -1e-12, 1e-9, -1e-9)):
        one = wb.reweight(a, f, beta)
        with monkeypatch.context() as patch:
            patch.setattr(SOLVER, "SMALL", 0)
            other = wb.reweight(a, f, beta)
        assert len(one.alternatives) == len(other.alternatives) and one.ess == pytest.approx(other.ess, rel=1e-9)
        assert one.gap <= 1e-9
    assert any(wb.reweight(a, f, beta).alternatives for beta in jumps)


def test_a_guess_with_a_rival_is_not_taken(monkeypatch):
    """Mirrored pools, targets at which both sides are equally good: the second optimum has another mean of v."""
    taken, ties = _guesses(monkeypatch), 0
    rng = np.random.default_rng(7)
    for _ in range(30):
        half = rng.normal(size=(2, 3))
        a, f = np.hstack([half, half * [[1], [-1]]])
        low, high = wb.reachable(a, f)
        for beta in low + (high - low) * rng.random(4):
            r = wb.reweight(a, f, beta)
            mirrored = np.roll(r.weights, 3)
            if r.certificate != "interval" or np.abs(mirrored - r.weights).sum() < 1e-3:
                continue
            ties += 1
            assert not taken[-1] and any(np.abs(w - mirrored).max() < 1e-6 for w in r.alternatives)
    assert ties > 5


OUTLIER = [
    ([6, 4, 6, 4, -4], [3, 1, -3, -1, 1000], 0.19),
    ([1, 6, 1, 6, -2], [1, 3, -1, -3, 1000], 0.603),
    ([7, 6, 7, 6, -6], [5, 2, -5, -2, 500], 0.019),
    ([4, 3, 4, 3, -2], [5, 5, -5, -5, 500], 0.42),
    ([5, 7, 5, 7, -3], [5, 5, -5, -5, 500], 0.98),
    ([5, 4, 5, 4, -3], [6, 6, -6, -6, 1000], 0.78),
]


@pytest.mark.parametrize("a, f, beta", OUTLIER)
@pytest.mark.parametrize("small", [80, 0])
def test_an_outlier_hides_no_second_optimum(a, f, beta, small, monkeypatch):
    """Mirrored but for one far system: the two means lie next to each other, for the length of the line."""
    monkeypatch.setattr(SOLVER, "SMALL", small)
    for r in (wb.reweight(a, f, beta), wb.reweight_sweep(a, f, [beta] * 3)[1]):
        (other,) = r.alternatives
        assert np.abs(other - r.weights[[2, 3, 0, 1, 4]]).max() < 1e-6


def _side(a, f, beta):
    """One target with its cover, as the search in arrays finds it; None if it needs more."""
    pools = SOLVER.Pools.of(Standard.of(a, f))
    _, x, v, stretch = SOLVER.sides(pools, np.zeros(1, int), np.array([beta]))
    side = SOLVER.Side(x, v, stretch)
    side.start()
    return side if side.best[0] is not None and side.cover(np.zeros(1, int), 60).size else None


def test_without_a_rival_no_other_optimum_is_as_good():
    """Against all stationary points of all supports, in pools that are nearly mirrored."""
    rng, told = np.random.default_rng(3), []
    for _ in range(60):
        half = rng.normal(size=(2, 3))
        a, f = np.hstack([half, half * [[1], [-1]]]) + 10 ** rng.uniform(-12, -3) * rng.normal(size=(2, 6))
        low, high = wb.reachable(a, f)
        beta = low + (high - low) * rng.random()
        side = _side(a, f, beta)
        if side is None:
            continue
        best, found = side.best[0], [w for _, w in stationary(a, f, beta)]
        side.optima[0] = [best]  # as if the search had met no other
        assert min(w @ w for w in found) == pytest.approx(best.P, rel=1e-8)
        rival = side.rivals(np.zeros(1, int)).target.size > 0
        other = any(w @ w <= best.P * (1 + SOLVER.TIE / 2) and np.abs(w - best.w).sum() > SOLVER.APART for w in found)
        assert rival or not other
        told.append((rival, other))
    assert sum(other for _, other in told) > 2 and sum(not rival for rival, _ in told) > 20


@pytest.mark.parametrize("a, f, beta", [(*ENDE24, 0.2), ([0, 1, 2, 5], [0, 2, 1, 1], 0.6)])
def test_close_means_make_close_weights(a, f, beta):
    """The inequality that `rivals` rests on, for random weightings beyond the target."""
    rng, side = np.random.default_rng(1), _side(np.array(a, float), np.array(f, float), beta)
    o, u, v, tried = side.best[0], side.u[0], side.v[0], 0
    assert side._own(0, o)
    apart = np.flatnonzero((u - o.p) ** 2 > (v - o.q) ** 2)  # weight on these leads beyond the target
    towards = np.zeros((300, u.size))
    towards[:, apart] = rng.dirichlet(np.ones(apart.size), 300)
    for w in np.vstack([o.w + t * (towards - o.w) for t in (0.001, 0.01, 0.1, 0.5, 1)]):
        if w @ (u - w @ u) ** 2 >= w @ (v - w @ v) ** 2:
            tried += 1
            assert np.sum((w - o.w) ** 2) <= w @ w - o.P + 2 * o.P * (w @ v - o.q) ** 2 / o.h + 1e-12
    assert tried > 200


@pytest.mark.parametrize("left, right, rival", [(-1, 1, False), (0, 40, True), (-40, 0, True), (39, 40, True)])
def test_a_rival_may_be_at_the_far_end_of_an_open_piece(left, right, rival, monkeypatch):
    """Ends of the piece are relative to the best mean; at ±30 the weights can differ by as much as two optima must."""
    side, one = _side(*ENDE24, 0.2), np.zeros(1, int)
    o = side.best[0]
    unit = SOLVER.APART * np.sqrt(o.h / (2 * o.P * o.w.size)) / 30
    piece = cover.Gaps(one, np.array([o.q + left * unit]), np.array([o.q + right * unit]), one)
    monkeypatch.setattr(side, "gaps", lambda targets, level: piece)
    assert bool(side.rivals(one).target.size) == rival
