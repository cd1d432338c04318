"""Shares of several aspects: against `reweight` for two, lattices and starts for few systems, and by symmetry."""

import copy

import numpy as np
import pytest

import whichbird as wb

POOL = np.array([[0, 1, 2, 3, 1.0], [0, 2, 1, 1, 3], [1, 0, 0, 2, 2]])


@pytest.mark.parametrize("name", [n for n in wb.datasets() if wb.load(n).adequacy is not None])
def test_two_aspects_are_reweight(name):
    x = np.array(wb.load(name).aspects)
    low, high = wb.reliable_interval(*x)
    for beta in (low, (low + high) / 2, high):
        found, known = wb.reweight_shares(x, [beta, 1 - beta]), wb.reweight(*x, beta)
        assert abs(found.weights @ found.weights - known.weights @ known.weights) < 1e-9
        assert np.abs(found.weights - known.weights).max() < 1e-6 and found.gap <= 1e-6


def random_pool(rng):
    size = int(rng.integers(4, 31))
    x = rng.normal(size=(3, size)) * rng.uniform(0.3, 2, (3, 1))
    near = wb.shares(x, rng.dirichlet(np.full(size, rng.choice([0.2, 0.5, 1]))))
    return x, near if rng.random() < 0.6 else rng.dirichlet([1, 1, 1])


def test_random_pools_are_proven_or_refused():
    rng, proven = np.random.default_rng(37), 0
    for _ in range(100):
        x, target = random_pool(rng)
        try:
            r = wb.reweight_shares(x, target)
        except wb.NotReachable as error:
            assert wb.verify_shares(error.proof) == 0
            continue
        except wb.NotProven:
            continue
        proven += 1
        assert wb.verify_shares(r.proof) == r.gap <= 1e-6
        assert np.abs(wb.shares(x, r.weights) - target).max() < 1e-9
    assert proven > 70


def test_no_weighting_tried_is_more_even():
    """Draws of weights are targets themselves: none has a smaller Σw² than the answer for its own shares."""
    rng = np.random.default_rng(2)
    for size in (4, 5, 6):
        x = rng.normal(size=(3, size))
        for w in rng.dirichlet(np.ones(size), 8):
            r = wb.reweight_shares(x, wb.shares(x, w))
            assert r.weights @ r.weights <= (w @ w) * (1 + 1e-9)


def test_symmetries():
    target = np.array([0.4, 0.3, 0.3])
    known = wb.reweight_shares(POOL, target).weights
    order, turn = [3, 0, 4, 2, 1], [2, 0, 1]
    assert np.allclose(wb.reweight_shares(POOL[:, order], target).weights, known[order], atol=1e-8)
    assert np.allclose(wb.reweight_shares(POOL[turn], target[turn]).weights, known, atol=1e-8)
    assert np.allclose(wb.reweight_shares(1000 * POOL + 7, target).weights, known, atol=1e-8)
    twice = wb.reweight_shares(np.hstack([POOL, POOL]), target)
    assert np.allclose(twice.weights[:5] + twice.weights[5:], known, atol=1e-8)


def test_equal_aspects():
    x = np.array([POOL[0], POOL[0], POOL[1]])
    with pytest.raises(wb.NotReachable, match="no weighting") as caught:
        wb.reweight_shares(x, [0.5, 0.3, 0.2])
    assert wb.verify_shares(caught.value.proof) == 0
    uniform = wb.reweight_shares(x, wb.shares(x))
    assert np.allclose(uniform.weights, 1 / 5)


def test_sweep_over_a_grid():
    found = wb.reweight_shares_sweep(POOL, wb.share_grid(3, 6))
    assert {r.certificate for r in found} <= {"boxes", "out of reach", "unproven"} and len(found) == 28
    for r in found:
        assert np.isnan(r.weights).all() == (r.certificate != "boxes")
        assert (r.proof is None) == (r.certificate == "unproven")


def test_forged_proofs_are_refused():
    proof = wb.reweight_shares(POOL, [0.4, 0.3, 0.3]).proof
    with pytest.raises(ValueError, match="miss the target"):
        wb.verify_shares({**proof, "weights": [1, 1, 1, 1, 1]})
    with pytest.raises(ValueError, match="leave room"):
        wb.verify_shares({k: v for k, v in proof.items() if k != "weights"})
    outside = copy.deepcopy(proof)
    outside["tree"] = [0, 99.0, outside["tree"], outside["tree"]]
    with pytest.raises(ValueError, match="outside"):
        wb.verify_shares(outside)
    with pytest.raises(ValueError, match="not a proof"):
        wb.verify_shares({})
    for row in ([1, 0, 0, 0, 0], [-1, 0, 0, 0, 0]):
        with pytest.raises(ValueError, match="a leaf"):
            wb.verify_shares({**proof, "tree": [row] * 3})


@pytest.mark.parametrize(
    ("x", "target", "sentence"),
    [
        (POOL, [0.4, 0.3, 0.2], "sum to 0.9"),
        (POOL, [0.4, 0.8, -0.2], "cannot be negative"),
        (POOL, [0.4, 0.6], "2 values where 3"),
        ([[1, 1, 1], [0, 1, 2]], [0.5, 0.5], "aspect 0 is the same"),
        ([[0, 1], [0, 2], [1, 0]], [0.4, 0.3, 0.3], "at least as many systems"),
        (POOL[:1], [1.0], "at least two aspects"),
        (POOL * np.nan, [0.4, 0.3, 0.3], "finite"),
    ],
)
def test_bad_input(x, target, sentence):
    with pytest.raises(ValueError, match=sentence):
        wb.reweight_shares(x, target)
