"""Shares of several aspects: against `reweight` for two, lattices and starts for few systems, and by symmetry."""

import copy
import os
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

import whichbird as wb
from whichbird.solve import shares

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


@pytest.mark.parametrize(
    ("count", "few"),
    [
        (60, 1),
        pytest.param(1000, 4, marks=pytest.mark.skipif("SLOW" not in os.environ, reason="minutes; SLOW=1 runs it")),
    ],
)
def test_random_pools_are_proven_or_refused(count, few):
    """Proven to 1e-6 or proven out of reach; `few` may stay undecided."""
    rng, undecided = np.random.default_rng(37), 0
    for _ in range(count):
        x, target = random_pool(rng)
        try:
            r = wb.reweight_shares(x, target)
        except wb.NotReachable as error:
            assert wb.verify_shares(error.proof) == 0
            continue
        except wb.NotProven:
            undecided += 1
            continue
        assert wb.verify_shares(r.proof) == r.gap <= 1e-6
        assert np.abs(wb.shares(x, r.weights) - target).max() < 1e-9
    assert undecided <= few


def test_both_kinds_of_proof_occur_and_agree():
    """Where the multipliers prove an optimum, boxes prove the same."""
    rng, kinds = np.random.default_rng(5), set()
    for _ in range(12):
        x, target = random_pool(rng)
        try:
            r = wb.reweight_shares(x, target)
        except wb.NotReachable:
            continue
        kinds.add(r.certificate)
        search = shares._Search(x, target, 1e-6, 2000)
        search._convex = lambda: False
        proof = {"scores": x.tolist(), "shares": target.tolist(), **search.run([], 1.0)}
        assert "tree" in proof and wb.verify_shares(proof) <= 1e-6
        assert abs(search.least * r.ess - 1) < 2e-6
    assert kinds == {"dual", "boxes"}


def test_a_target_in_the_hull_of_the_pairs_that_no_weighting_reaches():
    """For three aspects the hull of the shares of pairs is larger than what weightings reach; boxes prove it."""
    i, k = np.triu_indices(4, 1)
    wide = np.array([[0, 3, 1.0, 1], [0, 0, 1, 2], [1, 1, 0, 2]])
    inside = (wide[:, i] - wide[:, k]) ** 2
    inside = inside / inside.sum(axis=0)
    refused = []
    for target in wb.share_grid(3, 12):
        try:
            wb.reweight_shares(wide, target)
        except wb.NotReachable as error:
            refused.append((nnls(inside, target)[1] < 1e-9, "tree" in error.proof))
    assert (True, True) in refused and (True, False) not in refused


@pytest.mark.parametrize("size", [3, 4, 5, 6])
def test_brute_force_never_beats_the_bound(size):
    """Weightings of a lattice on their own shares, and local optimisers from many starts."""
    rng = np.random.default_rng(size)
    x = rng.normal(size=(3, size))
    lattice = np.array([c for c in product(range(7), repeat=size) if sum(c) == 6 and sum(v > 0 for v in c) > 2]) / 6
    for w in lattice[:: max(1, len(lattice) // 12)]:
        target = wb.shares(x, w)
        r = wb.reweight_shares(x, target)
        assert r.weights @ r.weights <= (w @ w) * (1 + 1e-9)

        def miss(v, target=target):
            spread = shares._variances(x, v)
            return np.r_[v.sum() - 1, (spread - target * spread.sum())[:2]]

        for start in rng.dirichlet(np.ones(size), 3):
            found = minimize(lambda v: v @ v, start, constraints={"type": "eq", "fun": miss}, bounds=[(0, 1)] * size)
            if found.success and np.abs(miss(found.x)).max() < 1e-12 and shares._variances(x, found.x).sum() > 1e-3:
                assert found.fun >= (r.weights @ r.weights) * (1 - 1e-6)


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
    found = wb.reweight_shares_sweep(POOL, wb.share_grid(3, 6), boxes=200)
    assert {r.certificate for r in found} <= {"dual", "boxes", "out of reach", "unproven"} and len(found) == 28
    for r in found:
        assert np.isnan(r.weights).all() == (r.certificate not in ("dual", "boxes"))
        assert (r.proof is None) == (r.certificate == "unproven")


def test_collinear_aspects():
    """Where one aspect is a multiple of another, their shares have a fixed ratio."""
    x = np.array([POOL[0], 2 * POOL[0], POOL[1]])
    r = wb.reweight_shares(x, [0.16, 0.64, 0.2])
    assert r.gap <= 1e-6 and np.allclose(r.shares, [0.16, 0.64, 0.2], atol=1e-9)
    assert np.allclose(r.weights, wb.reweight(2 * POOL[0], POOL[1], 0.64 / 0.84).weights, atol=1e-6)
    with pytest.raises(wb.NotReachable):
        wb.reweight_shares(x, [0.2, 0.6, 0.2])


def test_forged_proofs_are_refused():
    proof = wb.reweight_shares(POOL, [0.2, 0.3, 0.5]).proof
    with pytest.raises(ValueError, match="miss the target"):
        wb.verify_shares({**proof, "weights": [1, 1, 1, 1, 1]})
    with pytest.raises(ValueError, match="cuts off|leave room"):
        wb.verify_shares({k: v for k, v in proof.items() if k != "weights"})
    with pytest.raises(ValueError, match="cuts off"):
        wb.verify_shares({**proof, "box": [[v + 1e-6 for v in proof["box"][0]], proof["box"][1]]})
    dual = wb.reweight_shares(POOL, [0.4, 0.3, 0.3]).proof
    for slopes, sentence in (
        ([-v for v in dual["multipliers"]], "room|total"),
        ([1, 0, 0], "total variance"),
        ([-9, 0, 12], "room"),
    ):
        with pytest.raises(ValueError, match=sentence):
            wb.verify_shares({**dual, "multipliers": slopes})
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
