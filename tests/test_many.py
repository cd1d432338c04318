"""`reweight_many` and `reliable_intervals` against the same done pool by pool, which other tests hold to the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from pools import ENDE24, KINDS, make

import whichbird as wb
from whichbird.core.balance import Standard
from whichbird.solve import cover, reweight as SOLVER
from whichbird.solve.saddle import alone, ascend, off_balance

GAP = 1e-9  # what two proven optima may differ by in Σw²


def resampled(name, count, rng):
    """Pools with the spread and the noise of a dataset: its scores, moved by a tenth of their spread."""
    d = wb.load(name)
    return (x + 0.1 * x.std() * rng.normal(size=(count, x.size)) for x in (d.adequacy, d.fluency))


def same(many, singles, at):
    """Results for one pool, equal to those of a loop."""
    for n, r in enumerate(singles):
        assert many.ess[at][n] == pytest.approx(r.ess, rel=GAP)
        assert many.beta[at][n] == pytest.approx(r.beta, abs=2e-12)
        assert many.target[at][n] == r.target
        assert many.certificate[at][n] == r.certificate and max(many.gap[at][n], r.gap) <= GAP
        if np.isfinite(r.eta) and r.alternative is None:  # of two optima either may come first
            assert many.weights[at][n] == pytest.approx(r.weights, abs=1e-7)


@pytest.mark.parametrize("name", ["ende24", "zhen23", "ted_ende"])
def test_a_batch_of_real_pools_is_a_loop(name):
    """Inside the reliable interval and far outside it."""
    rng = np.random.default_rng(0)
    a, f = resampled(name, 12, rng)
    low, high = wb.reliable_interval(*(getattr(wb.load(name), aspect) for aspect in ("adequacy", "fluency")))
    betas = np.concatenate((np.linspace(low, high, 7), [low / 2, (1 + high) / 2]))
    many = wb.reweight_many(a, f, betas[None])
    assert many.weights.shape == (12, 9, a.shape[1])
    for n in range(12):
        low, high = wb.reachable(a[n], f[n])
        reached = (betas >= low) & (betas <= high)
        assert (many.proven[n] == reached).all()
        assert (many.certificate[n][~reached] == "out of reach").all()
        assert np.isnan(many.weights[n][~reached]).all() and np.isnan(many.ess[n][~reached]).all()
        assert many.weights[n][reached].sum(axis=1) == pytest.approx(1, abs=1e-12)
        singles = iter(wb.reweight_sweep(a[n], f[n], betas[reached]))
        for t in np.flatnonzero(reached):
            same(many, [next(singles)], (n, [t]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_of_awkward_pools_is_a_loop(kind):
    """Ties, copies and lines, each pool with its own targets: ends, natural balance, and between."""
    rng = np.random.default_rng(KINDS.index(kind))
    pools = [make(kind, 6, rng) for _ in range(20)]
    a, f = (np.array([p[i] for p in pools]) for i in range(2))
    ends = np.array([wb.reachable(*p) for p in pools])
    natural = np.array([[wb.balance(*p)] for p in pools])
    betas = np.hstack([ends, natural, ends @ np.array([[0.9, 0.5, 0.1], [0.1, 0.5, 0.9]])])
    many = wb.reweight_many(a, f, betas)
    assert many.proven.all()
    for n, (x, y) in enumerate(pools):
        same(many, wb.reweight_sweep(x, y, betas[n]), n)


def test_shapes_of_targets():
    a, f = np.array([[0, 1, 2, 3], [0, 1, 2, 4.0]]), np.array([[0, 2, 1, 1], [0, 2, 1, 0.0]])
    one = wb.reweight_many(a, f, 0.6)
    each = wb.reweight_many(a, f, [0.6, 0.7])
    grid = wb.reweight_many(a, f, [[0.6, 0.7]])
    assert one.weights.shape == each.weights.shape == (2, 4) and grid.weights.shape == (2, 2, 4)
    assert one.ess.shape == one.proven.shape == (2,) and grid.ess.shape == (2, 2)
    assert (grid.weights[:, 0] == one.weights).all() and (each.weights == grid.weights[[0, 1], [0, 1]]).all()
    none = wb.reweight_many(np.empty((0, 3)), np.empty((0, 3)), [[0.5, 0.6]])
    assert none.weights.shape == (0, 2, 3) and none.proven.shape == (0, 2)
    assert wb.reweight_many(a, f, np.empty((1, 0))).weights.shape == (2, 0, 4)


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(1)
    a, f = resampled("ende24", 20, rng)
    betas = np.linspace(0.3, 0.9, 6)[None]
    whole = wb.reweight_many(a, f, betas)
    monkeypatch.setattr(cover, "SOLVE_CELLS", 3000)
    monkeypatch.setattr(SOLVER, "SOLVE_CELLS", 3000)  # blocks of 5 and 20 targets
    parts = wb.reweight_many(a, f, betas)
    assert (parts.certificate == whole.certificate).all()
    assert parts.ess == pytest.approx(whole.ess, rel=GAP, nan_ok=True)


def test_a_pool_without_a_balance_reaches_nothing():
    many = wb.reweight_many([[1, 1, 1], [0, 1, 3]], [[2, 2, 2], [1, 0, 1]], 0.5)
    assert many.certificate[0] == "out of reach"
    assert np.isnan(many.weights[0]).all() and many.proven.tolist() == [False, True]
    many.insist()  # out of reach is an answer


def test_one_unproven_target_does_not_stop_the_others(monkeypatch):
    a, f = np.array(ENDE24)[:, None].repeat(3, axis=1)
    monkeypatch.setattr(SOLVER.careful, "solve", lambda *args: None)
    monkeypatch.setattr(SOLVER, "ROUNDS", 0)  # no interval proof can be completed, so only one saddle can prove
    many = wb.reweight_many(a, f, [0.2, 0.6, 0.2])
    assert many.certificate.tolist() == ["unproven", "dual", "unproven"]
    assert np.isnan(many.weights[[0, 2]]).all() and np.isfinite(many.weights[1]).all()
    with pytest.raises(wb.NotProven, match="not proven at beta = 0.2.*, 0.2"):
        many.insist()


def test_targets_without_any_feasible_weighting_found_do_not_stop_the_others(monkeypatch):
    offer = SOLVER.Side.offer

    def second_is_lost(self, target, h, p, q, w):
        kept = self.stretch[target] ** 2 < 0.22 / 0.78  # the stretch of β̂ = 0.22, below the natural balance
        offer(self, target[kept], h[kept], p[kept], q[kept], w[kept])

    a, f = np.array(ENDE24)[:, None].repeat(2, axis=1)
    monkeypatch.setattr(SOLVER.Side, "offer", second_is_lost)
    monkeypatch.setattr(SOLVER.careful, "solve", lambda *args: None)
    many = wb.reweight_many(a, f, [0.2, 0.25])
    assert many.certificate.tolist() == ["interval", "unproven"]
    assert many.ess[0] == pytest.approx(wb.reweight(*ENDE24, 0.2).ess, rel=GAP)


@settings(max_examples=40, deadline=None)
@example(35568, 3)
@given(st.integers(0, 10**6), st.integers(2, 7))
def test_what_newton_finds_first_is_what_the_whole_way_finds(seed, size):
    """Every answer of the short cut passes the dual test, and is the optimum the long way proves."""
    rng = np.random.default_rng(seed)
    a, f = rng.normal(size=(2, size))
    low, high = wb.reachable(a, f)
    betas = np.linspace(low, high, 9)[1:-1]
    short = wb.reweight_sweep(a, f, betas)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SOLVER, "_near", lambda pools, which, betas, part, out: part)
        whole = wb.reweight_sweep(a, f, betas)
    hopeless = SOLVER.coarse(SOLVER.Pools.of(Standard.of(a, f)), np.zeros(1, int), betas[:1])[1].all()
    for r, s in zip(short, whole, strict=True):
        assert r.ess == pytest.approx(s.ess, rel=GAP)
        # next to a line, as in the example, the whole way is the careful one, which has no dual
        assert r.certificate == s.certificate or hopeless and (r.certificate, s.certificate) == ("dual", "interval")


def test_reliable_intervals_are_a_loop():
    rng = np.random.default_rng(2)
    a, f = resampled("ende24", 8, rng)
    for share in (0.9, 0.5):
        expected = [wb.reliable_interval(x, y, share) for x, y in zip(a, f, strict=True)]
        assert wb.reliable_intervals(a, f, share) == pytest.approx(np.array(expected), abs=1e-11)


def test_the_dual_test_by_sampling():
    """Where one saddle excludes everything at a level, no feasible weighting drawn at random lies below that level.

    The levels run past the collision of the saddle's own weights, which satisfy the constraint, so some must be refused.
    """
    rng = np.random.default_rng(3)
    w = rng.dirichlet(np.full(5, 3.0), 100_000)
    levels = np.linspace(0.2, 0.3, 101)
    proofs = 0
    for _ in range(20):
        u, v = rng.normal(size=(2, 1, 5))
        u, v = (u - u.mean()) / u.std(), (v - v.mean()) / v.std() * rng.uniform(1, 1.2)  # var_v has to shrink a little
        h, p, q, _ = (x.repeat(levels.size, axis=0) for x in ascend(u, v, np.ones(1)))
        proven = alone(u.repeat(levels.size, axis=0), v.repeat(levels.size, axis=0), q, h, p, levels)
        var_u, var_v = (w @ x[0] ** 2 - (w @ x[0]) ** 2 for x in (u, v))
        if proven.any():
            proofs += 1
            assert levels[proven].max() <= (w * w).sum(1)[var_u >= var_v].min() and not proven.all()
    assert proofs >= 10


def test_off_balance_is_the_distance_from_the_target():
    """Against β of the two aspects themselves, computed by `balance`."""
    rng = np.random.default_rng(4)
    a, f = rng.normal(size=(2, 6, 5))
    w, targets = rng.dirichlet(np.ones(5), 6), rng.uniform(0.1, 0.9, 6)
    stretch = np.sqrt((1 - targets) / targets)
    expected = [abs(wb.balance(*pool) - t) for *pool, t in zip(a, f, w, targets, strict=True)]
    assert off_balance(stretch[:, None] * a, f, w, stretch) == pytest.approx(expected, rel=1e-9)
    nowhere = off_balance(stretch[:1, None] * a[:1], f[:1], np.array([[1.0, 0, 0, 0, 0]]), stretch[:1])
    assert np.isnan(nowhere).all()


@pytest.mark.parametrize(
    ("a", "f", "beta", "words"),
    [
        ([[0, 1]], [[0, 1], [1, 2]], 0.5, r"adequacy has shape \(1, 2\), fluency \(2, 2\)"),
        ([0, 1], [0, 1], 0.5, "adequacy has shape"),
        ([[0, np.nan]], [[0, 1]], 0.5, r"adequacy\[0, 1\] is nan"),
        ([[0], [1]], [[0], [1]], 0.5, "at least two"),
        ([[0, 1]], [[0, 1]], 1.5, "beta is 1.5"),
        ([[0, 1]], [[0, 1]], np.nan, "beta is nan"),
        ([[0, 1]], [[0, 1]], "half", "beta has shape"),
        ([[0, 1]] * 3, [[0, 1]] * 3, [0.5, 0.6], r"beta has shape \(2,\); for 3 pools"),
        ([[0, 1]] * 3, [[0, 1]] * 3, [[[0.5]]], r"beta has shape \(1, 1, 1\)"),
    ],
)
def test_refusals(a, f, beta, words):
    with pytest.raises(ValueError, match=words):
        wb.reweight_many(a, f, beta)
    if "beta" not in words:
        with pytest.raises(ValueError, match=words):
            wb.reliable_intervals(a, f)


def test_reliable_intervals_need_a_balance():
    with pytest.raises(ValueError, match="pool 1 have the same"):
        wb.reliable_intervals([[0, 1], [1, 1]], [[0, 2], [3, 3]])
