"""Leave-one-out rankings at a fixed balance, against the definition written out slowly."""

import importlib.util
from itertools import combinations

import numpy as np
import pytest

import whichbird as wb
from whichbird.data.digest import folder, read_table
from whichbird.study.stability import at_balance, leave_one_out, leave_one_out_at, pooled_tau


def pool(seed=0, systems=6, scorers=5):
    rng = np.random.default_rng(seed)
    pairs = systems * (systems - 1) // 2
    return (
        rng.normal(size=systems),
        rng.normal(size=systems),
        rng.integers(0, 1001, size=pairs),
        rng.integers(0, 1001, size=(scorers, pairs)),
    )


def without(x, system, systems):
    """p-values of the pairs that do not hold a system."""
    return np.array([v for v, pair in zip(x, combinations(range(systems), 2), strict=True) if system not in pair])


def slow_tau(rankings):
    votes = [
        np.sign(r[m] - r[n]) * np.sign(s[m] - s[n])
        for r, s in combinations(rankings, 2)
        for m, n in combinations(range(len(r)), 2)
    ]
    return np.mean(votes)


def test_equals_the_definition_written_out():
    a, f, human, scorers = pool()
    beta = wb.balance(a, f)
    rankings, sizes = [], []
    for k in range(a.size):
        low, high = wb.reachable(np.delete(a, k), np.delete(f, k))
        if low <= beta <= high:
            r = wb.reweight(np.delete(a, k), np.delete(f, k), beta)
            h = without(human, k, a.size) / 1000
            rankings.append([wb.spa_from_p(h, without(s, k, a.size) / 1000, r.weights) for s in scorers])
            sizes.append(r.ess)
    row = at_balance(a, f, human, scorers, [beta]).iloc[0]
    assert row["subsets"] == len(rankings) >= 2
    assert row["tau"] == pytest.approx(slow_tau(rankings), abs=1e-12)  # whole numbers divided: rounding of a mean only
    assert row["ess"] == pytest.approx(np.mean(sizes), rel=1e-9)  # the solver's proven gap is below this


def test_a_pool_kept_at_its_own_balance_is_ranked_as_if_unweighted():
    a, f, human, scorers = pool(1)
    own = [wb.balance(np.delete(a, k), np.delete(f, k)) for k in range(a.size)]
    scores, ess = leave_one_out_at(a, f, human, scorers, own)
    pairs = (a.size - 1) * (a.size - 2) / 2
    for k in range(a.size):
        assert np.allclose(scores[k, k] * pairs, leave_one_out(human, scorers, a.size)[k], rtol=1e-9)
        assert ess[k, k] == pytest.approx(a.size - 1, rel=1e-9)


def test_pools_that_cannot_reach_a_target_are_dropped_and_counted():
    # only systems 0 and 1 differ in fluency, so a pool without either of them is all adequacy
    a, f = np.array([0.0, 0.0, 1.0, 2.5, 4.0]), np.array([0.0, 3.0, 0.0, 0.0, 0.0])
    _, _, human, scorers = pool(2, systems=5)
    low = [wb.reachable(np.delete(a, k), np.delete(f, k))[0] for k in range(5)]
    target = 0.05
    scores, ess = leave_one_out_at(a, f, human, scorers, [target, 1.0])
    reached = np.array(low) <= target
    assert 0 < reached.sum() < 5
    assert (np.isnan(ess[0]) == ~reached).all() and (np.isnan(scores[0]).all(axis=1) == ~reached).all()
    table = at_balance(a, f, human, scorers, [target, 1.0])
    assert list(table["subsets"]) == [reached.sum(), 5]
    kept = leave_one_out(human, scorers, 5)[reached]
    assert table["free"][0] == pytest.approx(slow_tau(kept), abs=1e-12)


def test_no_tau_without_two_pools():
    a, f = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.5])
    _, _, human, scorers = pool(3, systems=3)
    row = at_balance(a, f, human, scorers, [0.0]).iloc[0]  # systems 0 and 1 alone have balance zero
    assert row["subsets"] == 1 and np.isnan(row["tau"]) and np.isnan(row["free"]) and row["ess"] == pytest.approx(2)


def test_differences_up_to_the_tolerance_are_ties():
    scores = np.array([[3.0, 2.0, 1.0], [3.0, 2.0, 2.0 + 1e-12]])
    assert pooled_tau(scores) == pytest.approx(1 / 3)  # the last pair counts as turned round
    assert pooled_tau(scores, tie=1e-9) == pytest.approx(2 / 3)


def test_shift_and_scale_of_scores_change_nothing():
    a, f, human, scorers = pool(4)
    beta = [wb.balance(a, f)]
    one, other = at_balance(a, f, human, scorers, beta), at_balance(7 * a - 3, 7 * f + 100, human, scorers, beta)
    assert one["tau"][0] == other["tau"][0] and one["subsets"][0] == other["subsets"][0]


def test_the_shipped_table_is_what_the_command_makes():
    spec = importlib.util.spec_from_file_location("build", folder() / "build.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    shipped = read_table("stability.csv")
    made = script.stability(wb.load("zhen21"))
    kept = shipped[shipped["dataset"] == "zhen21"].drop(columns="dataset")
    assert list(made.columns) == list(kept.columns) and len(made) == len(kept) == script.BALANCES
    assert np.allclose(made, kept, rtol=1e-7)  # the file has eight digits
