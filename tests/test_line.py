"""The plain proof on one line, against the solver, which shares no code with it, and against sampled weightings."""

import numpy as np
import pytest

import whichbird as wb
from whichbird_book.line import aspects, cover, heights, least_collision


def drawn(seed, systems=6):
    """A random pool and a target that needs some reweighting."""
    rng = np.random.default_rng(seed)
    a, f = rng.normal(size=(2, systems))
    end = wb.reachable(a, f)[seed % 2]
    return a, f, 0.4 * wb.balance(a, f) + 0.6 * end


@pytest.mark.parametrize("seed", range(6))
def test_the_least_of_the_line_is_the_optimum(seed):
    a, f, target = drawn(seed)
    r = wb.reweight(a, f, target)
    u, v = aspects(a, f, target)
    line = np.append(np.linspace(v.min(), v.max(), 60), r.weights @ v)
    least = least_collision(u, v, line)[2]
    assert np.isclose(least.min(), 1 / r.ess, rtol=1e-7)  # attained at the optimum's own mean
    assert (least >= (1 - 1e-7) / r.ess).all()  # and nowhere undercut


@pytest.mark.parametrize("seed", range(6))
def test_a_cover_closes_just_above_the_optimum_and_not_below(seed):
    a, f, target = drawn(seed)
    r = wb.reweight(a, f, target)
    u, v = aspects(a, f, target)
    rounds = cover(u, v, r.ess * (1 + 1e-6), np.array([r.weights @ v]))
    q, half = (np.concatenate(x) for x in zip(*rounds, strict=True))
    for mean in np.linspace(v.min(), v.max(), 999):
        assert (np.abs(mean - q) <= half * (1 + 1e-9)).any()
    with pytest.raises(ValueError, match="exclude nothing"):
        cover(u, v, r.ess * 0.99, np.array([r.weights @ v]))


def test_aspects_turn_the_target_into_equal_variances():
    a, f, target = drawn(1)
    r = wb.reweight(a, f, target)
    u, v = aspects(a, f, target)
    w = r.weights
    assert np.isclose(w @ u**2 - (w @ u) ** 2, w @ v**2 - (w @ v) ** 2, rtol=1e-9)
    z = heights(u, v, [0.3, 1.0], [0.1, 0.0], [0.2, -0.5])
    by_hand = [
        [h + (x - p) ** 2 - (y - q) ** 2 for x, y in zip(u, v, strict=True)]
        for h, p, q in ((0.3, 0.1, 0.2), (1, 0, -0.5))
    ]
    assert np.allclose(z, by_hand)
