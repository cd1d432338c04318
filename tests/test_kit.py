"""What chapters share: expected values are worked out by hand, or in another way than the kit does it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy.stats import spearmanr

import whichbird as wb
from whichbird_book import kit
from whichbird_book.report import published

values = st.lists(st.integers(-50, 50), min_size=2, max_size=12)


def test_pools_are_those_with_a_balance():
    everything, paper, other = kit.pools(), kit.pools(paper=True), kit.pools(paper=False)
    assert set(everything) == {n for n in wb.datasets() if wb.load(n).adequacy is not None}
    assert set(paper) | set(other) == set(everything) and not set(paper) & set(other)
    assert list(paper) == [n for n in published("core").index if n in everything]  # in the order of the paper's tables
    assert "ende23" in other


def test_what_is_said_is_glued_under_the_prefix(monkeypatch):
    said = []
    monkeypatch.setattr(kit, "glue", lambda name, value: said.append((name, value)))
    kit.speaker("43")(low=1, high="x")
    kit.speaker("")(low=2)
    assert said == [("43_low", 1), ("43_high", "x"), ("low", 2)]


def test_a_record_is_glued_and_left_in_the_outputs(monkeypatch):
    pytest.importorskip("myst_nb", reason="MyST-NB belongs to the book, not to the library")
    import IPython.display
    from myst_nb.ext.glue import extract_glue_data_cell
    from nbformat.v4 import new_code_cell, new_output

    sent = []
    monkeypatch.setattr(IPython.display, "display", lambda data, raw, metadata: sent.append((data, metadata)))
    kit.record("tau-ende24", np.float64(1 / 3), beside=("exact", "0.3"))
    kit.record("heen23", None, shown="not obtained")
    cell = new_code_cell(outputs=[new_output("display_data", data, metadata=meta) for data, meta in sent])
    glued = dict(extract_glue_data_cell(cell))
    assert cell.outputs == []  # nothing is left for the page to show
    assert glued["tau-ende24"]["data"]["text/plain"] == "'0.333333333333'"
    assert glued["tau-ende24"]["data"][kit.RECORD] == {
        "name": "tau-ende24",
        "value": 0.333333333333,
        "shown": None,
        "beside": ["exact", "0.3"],
    }
    assert (
        glued["heen23"]["data"]["text/plain"] == "'not obtained'"
        and glued["heen23"]["data"][kit.RECORD]["value"] is None
    )


@pytest.mark.parametrize("value", [np.nan, np.inf, "0.5", [1, 2, 3], (1, 2), (1, -2, 3), (1.0, 2, 3), np.zeros(3)])
def test_a_record_refuses_what_cannot_be_judged(value):
    with pytest.raises(ValueError, match="record 'x' is"):
        kit.record_of("x", value)


@pytest.mark.parametrize("name", ["", "A", "a b", "a--b", "a_b", "-a"])
def test_a_record_refuses_what_is_no_anchor(name):
    with pytest.raises(ValueError, match="cannot name a record"):
        kit.record_of(name, 1)


@pytest.mark.parametrize("count, expected", [(0, "no"), (1, "one"), (20, "twenty"), (21, "21"), (1000, "1\u202f000")])
def test_counts_in_words(count, expected):
    assert kit.word(count) == expected


@given(values)
def test_hanging_is_the_largest_drop_over_all_pairs(y):
    drops = [max(y[i] - y[j] for i in range(j + 1)) for j in range(len(y))]
    assert kit.hanging(y).tolist() == drops


@given(values, st.randoms())
def test_rank_correlation_is_scipys(y, random):
    x = list(y)
    random.shuffle(x)
    if len(set(y)) > 1:
        assert kit.rank_correlation(x, y) == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)


def test_within_keeps_an_ess_that_is_the_share_but_for_rounding():
    table = pd.DataFrame({"ess": [10 * 0.9 * (1 - 1e-12), 10.0, 8.99]})
    assert kit.within(table, 0.9).index.tolist() == [0, 1]


def test_changes_counts_pairs_that_change_order():
    rng = np.random.default_rng(1)
    s = rng.uniform(size=(7, 6))
    turned = 0
    for m in range(6):
        for n in range(m):
            first = s[:, m] > s[:, n]
            turned += first.any() and not first.all()
    found = kit.changes(s)
    assert found.size == turned and (found > 0).all()
    assert kit.changes(np.array([[0.5, 0.5], [0.6, 0.5]])).size == 0  # a tie that becomes a lead is no change


def test_neighbours_join_within_a_dataset_only():
    cells = pd.DataFrame({"dataset": ["x", "x", "y"], "ess": [0, 1, 1], "beta": [0, 0, 0], "mean": [1.0, 2.0, 3.0]})
    assert kit.neighbours(cells, "ess")[["dataset", "mean", "mean_next"]].to_numpy().tolist() == [["x", 1.0, 2.0]]
    assert kit.neighbours(cells, "beta").empty


def test_shipped_keeps_the_order_asked_for_and_no_other_dataset():
    table = kit.shipped("sweep.csv", ["zhen23", "ende21"])
    assert table["dataset"].unique().tolist() == ["zhen23", "ende21"]
    assert table.index.tolist() == list(range(len(table)))


def test_weights_are_those_of_the_solver():
    d = wb.load("ende21")
    betas = [0.2, wb.balance(d.adequacy, d.fluency), 0.5]
    for w, beta in zip(kit.weights(d, betas), betas, strict=True):
        assert wb.balance(d.adequacy, d.fluency, w) == pytest.approx(beta, abs=1e-9)
        assert wb.ess(w) == pytest.approx(wb.reweight(d.adequacy, d.fluency, beta).ess, rel=1e-9)


def test_panels_carry_their_names():
    import matplotlib

    matplotlib.use("Agg")
    fig, axes = kit.beta_panels(["a", "b", "c"])
    assert [ax.get_title(loc="left") or ax.get_title() for ax in axes] == ["a", "b", "c"]
    matplotlib.pyplot.close(fig)
