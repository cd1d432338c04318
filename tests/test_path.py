"""The path w*(β): against `reweight` where that proves its answer, a fine grid, and derivatives by differences."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import whichbird as wb
from whichbird.solve.path import Arc, Path

LINE = np.array((0, 2, 4, 6, 8, 4, 4.3)), np.array((0, 1, 2, 3, 4, 10, 10.1))  # five systems on one line, two far away


@pytest.fixture(scope="module")
def paths() -> dict[str, tuple[np.ndarray, np.ndarray, Path]]:
    pools = {name: wb.load(name) for name in ("ende24", "ted_ende")}
    out = {name: (d.adequacy, d.fluency) for name, d in pools.items()} | {"line": LINE}
    return {name: (a, f, wb.path(a, f, checks=0.1)) for name, (a, f) in out.items()}


def agrees(a: np.ndarray, f: np.ndarray, p: Path, betas: np.ndarray) -> None:
    """Same Σw² as proven by reweight, and the balance asked for."""
    many = wb.reweight_many(a[None], f[None], betas[None])
    proven = many.proven[0]
    assert proven.mean() > 0.8
    np.testing.assert_allclose(p.ess(betas)[proven], many.ess[0][proven], rtol=1e-9)
    for beta, w in zip(betas, p.at(betas), strict=True):
        assert w.min() >= 0 and abs(w.sum() - 1) < 1e-12
        assert abs(wb.balance(a, f, w) - beta) < 1e-11


@pytest.mark.parametrize("name", ["ende24", "ted_ende", "line"])
def test_the_path_is_what_reweight_proves(paths, name):
    a, f, p = paths[name]
    agrees(a, f, p, np.random.default_rng(1).uniform(p.low, p.high, 60))
    assert p.excess < 1e-9 and p.hidden <= 0.1 and not p.unproven.size


@pytest.mark.parametrize("name", ["ende24", "ted_ende", "line"])
def test_arcs_join_from_end_to_end_and_differ(paths, name):
    """No hole; neighbours share their weights, or a jump lies between them; each has one support."""
    _, _, p = paths[name]
    assert (p.arcs[0].low, p.arcs[-1].high) == (p.low, p.high) == (pytest.approx(p.low), pytest.approx(p.high))
    jumps = {jump.beta: jump for jump in p.jumps}
    for one, two in zip(p.arcs, p.arcs[1:], strict=False):
        assert one.high == two.low
        before, after = one.at(one.high), two.at(two.low)
        if one.high in jumps:
            jump = jumps.pop(one.high)
            assert jump.distance > 1e-6
            np.testing.assert_allclose(before, jump.before, atol=1e-12)
            np.testing.assert_allclose(after, jump.after, atol=1e-12)
        else:
            np.testing.assert_allclose(before, after, atol=1e-9)
            assert one.support != two.support
    assert not jumps
    for arc in p.arcs:
        inside = arc.at(np.linspace(arc.low, arc.high, 7)[1:-1])
        assert all(tuple(np.flatnonzero(w)) == arc.support for w in inside)


@pytest.mark.parametrize("name", ["ende24", "ted_ende"])
def test_slopes_are_derivatives(paths, name):
    """dw/dβ against central differences inside each arc; their error is of the order of the step squared."""
    _, _, p = paths[name]
    for arc in p.arcs:
        h = 1e-4 * (arc.high - arc.low)
        beta = arc.low + np.array([0.3, 0.6]) * (arc.high - arc.low)
        difference = (arc.at(beta + h) - arc.at(beta - h)) / (2 * h)
        slope = arc.slope(beta)
        assert np.abs(slope - difference).max() < 1e-5 * np.abs(slope).max()
        # d(½Σw²)/dβ = −η (σ(a)² + σ(f)²), the envelope theorem
        w, a, f = arc.at(beta), *paths[name][:2]
        var = [sum(v @ (x - v @ x) ** 2 for x in (a, f)) for v in w]
        np.testing.assert_allclose((w * slope).sum(1), -arc.eta(beta) * var, rtol=1e-8)


def test_jumps_are_those_of_a_fine_grid(paths):
    """On a grid of 4000 targets the weights move by more than 0.4 where the path jumps, and only there."""
    a, f, p = paths["ende24"]
    grid = np.linspace(p.low, p.high, 4002)[1:-1]
    w = wb.reweight_sweep(a, f, grid).weights
    moved = np.abs(np.diff(w, axis=0)).sum(1)
    cell = np.searchsorted(grid, [jump.beta for jump in p.jumps]) - 1
    inside = (cell >= 0) & (cell < moved.size)
    assert inside.sum() >= 6
    big = np.flatnonzero(moved > 0.4)
    assert set(big) == set(cell[inside])  # the smallest jump of ende24 moves 0.9 of the weight
    for jump in p.jumps:
        assert jump.drop == 0 and wb.ess(jump.before) == pytest.approx(wb.ess(jump.after), rel=1e-9)


def test_the_jump_of_ted_ende(paths):
    """A tie with weights 1.5 apart below .14, as facts about this pool have it."""
    a, f, p = paths["ted_ende"]
    jump = max((j for j in p.jumps if 0.13 < j.beta < 0.14), key=lambda j: j.distance)
    assert jump.distance == pytest.approx(1.5, abs=0.05)
    for side, w in ((-1e-7, jump.before), (1e-7, jump.after)):
        assert np.abs(wb.reweight(a, f, jump.beta + side).weights - w).sum() < 1e-4


def test_a_line_of_systems_drops_out(paths):
    """ESS* is not continuous: five systems on a line have β = .8 whatever their weights."""
    a, f, p = paths["line"]
    (jump,) = p.jumps
    assert jump.beta == pytest.approx(0.8, abs=1e-12) and jump.drop == pytest.approx(5 - 2.00038, abs=1e-5)
    assert p.ess(0.8) == pytest.approx(5) and p.ess(0.8 + 1e-12) == pytest.approx(2.00038, abs=1e-5)
    assert wb.reweight(a, f, 0.8).ess == pytest.approx(5)
    assert wb.reweight(a, f, 0.8 + 1e-6).ess == pytest.approx(float(p.ess(0.8 + 1e-6)), rel=1e-9)
    assert p.interval(4)[1] == jump.beta  # found without a solve beside the drop


@pytest.mark.parametrize("share", [0.95, 0.8, 0.5])
def test_intervals_are_those_of_the_bracketing(paths, share):
    for name in ("ende24", "ted_ende"):
        a, f, p = paths[name]
        np.testing.assert_allclose(p.interval(share * a.size), wb.beta_interval(a, f, share * a.size), atol=1e-11)


def test_a_fork_is_no_jump():
    """(0, 1), (0, −1), (2, 0): from β = 2/3 on two mirrored optima grow out of the symmetric one."""
    p = wb.path([0, 0, 2], [1, -1, 0])
    assert p.forks == pytest.approx([2 / 3], abs=1e-8) and not p.jumps
    agrees(np.array([0.0, 0, 2]), np.array([1.0, -1, 0]), p, np.linspace(p.low, p.high, 22)[1:-1])


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 9), st.booleans())
def test_random_pools(seed, size, whole):
    """Against reweight; half of the pools have integer scores: copies, lines, mirrored optima."""
    rng = np.random.default_rng(seed)
    a, f = rng.integers(0, 5, (2, size)).astype(float) if whole else rng.normal(size=(2, size))
    if len(np.unique(np.c_[a, f], axis=0)) < 2 or np.ptp(wb.reachable(a, f)) < 1e-9:
        return
    p = wb.path(a, f, checks=0.2)
    betas = rng.uniform(p.low, p.high, 12)
    many = wb.reweight_many(a[None], f[None], betas[None])
    ok = many.proven[0]
    mine = p.ess(betas)
    assert np.isfinite(mine).all()
    assert (mine[ok] <= many.ess[0][ok] * (1 + 1e-9)).all()  # nothing is better than what is proven
    assert (mine[ok] >= many.ess[0][ok] / (1 + p.hidden + 1e-9)).all()  # nor worse than the path says


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_do_not_matter(scale):
    a, f = np.random.default_rng(2).normal(size=(2, 6))
    one, two = wb.path(a, f, checks=0.5), wb.path(scale * a + 3 * scale, scale * f - scale, checks=0.5)
    assert [arc.support for arc in one.arcs] == [arc.support for arc in two.arcs]
    np.testing.assert_allclose([arc.high for arc in one.arcs], [arc.high for arc in two.arcs], atol=1e-9)
    beta = 0.5 * (one.low + one.natural)
    arc, brc = (next(x for x in p.arcs if x.low < beta < x.high) for p in (one, two))
    assert arc.eta(beta) == pytest.approx(brc.eta(beta) * scale**2, rel=1e-8)


def test_what_is_refused(paths):
    with pytest.raises(ValueError, match="one line, so 0.5 is the only balance"):
        wb.path([0, 1, 2], [0, 1, 2])
    with pytest.raises(ValueError, match="checks is 0; a share from"):
        wb.path([0, 1, 2], [0, 1, 3], checks=0)
    _, _, p = paths["ende24"]
    with pytest.raises(ValueError, match="reach"):
        p.at(0.001)
    with pytest.raises(ValueError, match="this arc runs from"):
        p.arcs[0].at(0.5)
    with pytest.raises(ValueError, match="from 1 to the number of systems, 16"):
        p.interval(17)
    assert isinstance(p.arcs[0], Arc)
