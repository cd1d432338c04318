"""data/search_counts.csv against the published counts of appendix B, and against the program of today."""

import numpy as np
import pandas as pd
import pytest

import whichbird as wb
from whichbird.data.digest import read_table
from whichbird.solve import baseline
from whichbird_book.report import published

SWITCHES = ["admissible", "size", "certificate"]
# The exact counts behind the printed ones (which read 951.4K, 1.8M, …), per range, by the three switches.
SUPPORTS = {
    "full": {
        (1, 1, 1): 951_432,
        (1, 1, 0): 951_748,
        (0, 1, 1): 1_016_954,
        (1, 0, 1): 1_771_170,
        (0, 1, 0): 1_017_270,
        (0, 0, 1): 1_900_122,
        (1, 0, 0): 2_999_023,
        (0, 0, 0): 3_144_912,
    },
    "narrow": {
        (1, 1, 1): 50,
        (1, 1, 0): 50,
        (0, 1, 1): 50,
        (1, 0, 1): 50,
        (0, 1, 0): 50,
        (0, 0, 1): 50,
        (1, 0, 0): 3_225_830,
        (0, 0, 0): 3_275_950,
    },
}
CANDIDATES = {  # a scan for changes of sign found these; it can only miss some
    "full": {
        (1, 1, 1): 2_116_144,
        (1, 1, 0): 2_116_460,
        (0, 1, 1): 2_303_079,
        (1, 0, 1): 3_862_176,
        (0, 1, 0): 2_303_395,
        (0, 0, 1): 4_253_661,
        (1, 0, 0): 5_759_754,
        (0, 0, 0): 6_206_212,
    },
    "narrow": {
        (1, 1, 1): 50,
        (1, 1, 0): 50,
        (0, 1, 1): 50,
        (1, 0, 1): 50,
        (0, 1, 0): 50,
        (0, 0, 1): 50,
        (1, 0, 0): 4_752_434,
        (0, 0, 0): 4_919_336,
    },
}


@pytest.fixture(scope="module")
def counts():
    return read_table("search_counts.csv")


@pytest.fixture(scope="module")
def total(counts):
    return counts.drop(columns=["target", "beta"]).groupby(["range", *SWITCHES]).sum()


def narrow_targets():
    d = wb.load("ende24")
    natural = wb.balance(d.adequacy, d.fluency)
    return d, np.linspace(natural - 0.05, natural + 0.05, 50)


def test_every_target_has_its_eight_settings(counts):
    assert len(counts) == 2 * 50 * 8 and not counts.duplicated(["range", "target", *SWITCHES]).any()
    assert set(counts["range"]) == {"full", "narrow"} and sorted(set(counts["target"])) == list(range(50))


@pytest.mark.parametrize("name", ["full", "narrow"])
def test_supports_are_the_published_ones(total, name):
    assert total.loc[name, "supports"].to_dict() == SUPPORTS[name]


@pytest.mark.parametrize("name", ["full", "narrow"])
def test_candidates_are_all_that_the_published_scan_saw_and_a_few_more(total, name):
    for switches, theirs in CANDIDATES[name].items():
        ours = total.loc[(name, *switches), "candidates"]
        assert theirs <= ours <= theirs * (1 + (1.5e-4 if switches[0] else 2.5e-3)), switches


def test_firings_are_the_published_ones(total):
    fired = ["skipped", "size_stops", "certified", "ends"]
    assert total.loc[("full", 1, 1, 1), fired].tolist() == [65_522, 29, 19, 2]
    assert total.loc[("narrow", 1, 1, 1), fired].tolist() == [0, 0, 50, 0]
    printed = published("theorem_invocations").set_index("range")[SWITCHES]
    assert printed.loc["full"].tolist() == ["65.5K", "29", "19"] and printed.loc["narrow"].tolist() == ["0", "0", "50"]


def test_a_narrow_sweep_today_gives_the_file(counts):
    d, betas = narrow_targets()
    stored = counts.query("range == 'narrow' and admissible == 1 and size == 1 and certificate == 1").set_index(
        "target"
    )
    for n, r in enumerate(wb.search_sweep(d.adequacy, d.fluency, betas)):
        today = pd.Series(vars(r.counts))
        assert (stored.loc[n, today.index] == today).all() and abs(
            stored.loc[n, "beta"] - r.target
        ) < 1e-9  # ten digits are stored


def test_one_target_in_all_settings_today_gives_the_file(counts):
    d = wb.load("ende24")
    beta = np.linspace(*wb.reachable(d.adequacy, d.fluency), 50)[2]
    stored = counts.query("range == 'full' and target == 2").set_index(SWITCHES)
    for row in wb.ablation(d.adequacy, d.fluency, [beta]):
        setting = tuple(int(row.pop(s)) for s in SWITCHES)
        assert stored.loc[setting, list(row)].tolist() == list(row.values())


def test_no_baseline_beats_the_optimum():
    rows = read_table("numerical_baseline.csv")
    assert len(rows) == 2 * 50 * 5 and not rows.duplicated(["range", "target", "method", "starts"]).any()
    assert (rows["found"] > rows["optimum"] * (1 - 1e-6)).all()  # 1e-6 is how far off the target a result may be
    assert np.isinf(rows["found"]).any() and (rows.query("range == 'narrow'")["found"] < rows["optimum"].max()).all()


@pytest.mark.parametrize("method", baseline.METHODS)
def test_baselines_solve_an_easy_target(method):
    d, betas = narrow_targets()
    w = baseline.descend(d.adequacy, d.fluency, betas[10], baseline.starts(16, 1)[0], method)
    exact = wb.search(d.adequacy, d.fluency, betas[10])
    assert np.isclose(w @ w, 1 / exact.ess, rtol=1e-9) and abs(wb.balance(d.adequacy, d.fluency, w) - betas[10]) < 1e-9


def test_a_method_nobody_knows_is_refused():
    with pytest.raises(ValueError, match="method is 'magic'; one of SLSQP, interior point is expected"):
        baseline.descend([0, 2, 0], [0, 1, 3], 0.3, baseline.starts(3, 1)[0], "magic")


def test_lattice_and_starts():
    W = baseline.lattice(16, 3)
    assert W.shape == (816, 16) and np.allclose(W.sum(axis=1), 1) and len(np.unique(W, axis=0)) == 816
    S = baseline.starts(16, 30)
    assert np.allclose(S.sum(axis=1), 1) and (S >= 0).all() and np.array_equal(S[:5], baseline.starts(16, 5))
