"""WMT's official table against the published one (findings of the WMT24 metrics task), and human translations among the systems."""

import numpy as np
import pytest

import whichbird as wb
from whichbird.data.digest import read_table
from whichbird.data.humans import load_official
from whichbird.data.registry import DATASETS, PRIMARIES
from whichbird.study.campaign import by_meta, campaign

PUBLISHED = {  # averages as printed, three digits
    "metametrics_mt_mqm_hybrid_kendall": 0.725, "MetricX-24-Hybrid": 0.721, "XCOMET": 0.719, "MetricX-24-Hybrid-QE": 0.714,
    "gemba_esa": 0.711, "XCOMET-QE": 0.695, "BLEU": 0.589,
}  # fmt: skip


@pytest.fixture(scope="module")
def official():
    return campaign("wmt24").table.set_index("scorer")


def test_the_official_average_is_the_published_one(official):
    assert set(official.index) == PRIMARIES["wmt24"] and len(official) == 26
    assert official["average"].is_monotonic_decreasing
    assert list(official.index[:6]) == list(PUBLISHED)[:6]
    for scorer, printed in PUBLISHED.items():
        assert abs(official.loc[scorer, "average"] - printed) < 0.001, scorer


def test_spa_of_metricx_is_the_published_one(official):
    found = official.loc["MetricX-24-Hybrid", ["ende24_spa", "enes24_spa", "jazh24_spa"]].to_numpy(dtype=float)
    assert np.abs(found - [0.874, 0.798, 0.896]).max() < 0.001
    assert round(found.mean(), 3) == 0.856


def test_the_average_is_that_of_six_tasks(official):
    tasks = official.drop(columns=["rank", "average"])
    assert tasks.shape[1] == 6 and np.allclose(tasks.mean(axis=1), official["average"])
    means = by_meta(official.reset_index(), "wmt24")
    assert np.allclose(means[["spa", "acc_eq"]].mean(axis=1), means["average"])


def test_a_constant_scorer_has_the_share_of_ties(official):
    pool = load_official("enes24")
    i, j = np.triu_indices(len(pool.systems), 1)
    assert np.isclose(official.loc["sentinel-src-mqm", "enes24_acc_eq"], (pool.total[i] == pool.total[j]).mean())


def test_another_balance_moves_it_and_unknown_ones_are_refused(official):
    low = campaign("wmt24", "low").table.set_index("scorer")
    assert np.abs(low["average"] - official["average"]).max() > 0.001
    for name, beta in (("wmt99", None), ("wmt24", 0.01)):
        with pytest.raises(wb.DataError) as error:
            campaign(name, beta)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", [n for n, s in DATASETS.items() if s.humans])
def test_human_translations_stand_behind_the_systems(name):
    pool, rest = load_official(name), wb.load_pool(name, "standard")
    assert pool.systems == (*rest.systems, *DATASETS[name].humans)
    assert np.array_equal(pool.total[: len(rest.systems)], rest.total, equal_nan=True)
    printed = read_table("references.csv").set_index(["dataset", "reference"])["total"]
    assert np.isclose(np.nanmean(pool.total[-1]), printed[name, "refA"], atol=1e-4)


def test_without_a_human_translation_it_is_the_pool():
    assert load_official("enes24").systems == wb.load_pool("enes24").systems
