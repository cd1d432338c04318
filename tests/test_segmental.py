"""acc_eq and PDP against their definitions, written out pair by pair and threshold by threshold, and against mt-metrics-eval."""

import json
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import whichbird as wb
from whichbird.core.segmental import difference_correlations, tie_accuracies

ROUNDING = 1e-12  # running sums of some ten thousand numbers whose sizes add up to one
NAN = float("nan")
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "mtme-values.json"
# Printed by google-research/mt-metrics-eval (commit 68a481a) on the mt-metrics-eval-v2 tree, nine decimals: acc_eq is
# KendallWithTiesOpt acc23 by item with all pairs, PDP is pearsonr with pdp=True by item; systems and segments of load_pool.
PRINTED = {
    ("ende24", "XCOMET"): (0.541991786, 0.473841555),
    ("ende24", "BLEU"): (0.431861739, 0.148075432),
    ("ende24", "gemba_esa"): (0.515434634, 0.339298596),
    ("ende23", "GEMBA-MQM"): (0.572068511, 0.398884738),
    ("ende23", "chrF"): (0.519235837, 0.300158360),
}


def cells(human, scorer, w):
    """(Δhuman, Δscorer, weight) of every pair in every segment, as the definition says."""
    segments = []
    for h, s in zip(np.transpose(human), np.transpose(scorer), strict=True):
        there = [k for k in range(len(h)) if h[k] == h[k] and s[k] == s[k]]
        pairs = [(h[i] - h[j], s[i] - s[j], Fraction(w[i]) * Fraction(w[j])) for i, j in combinations(there, 2)]
        if sum(p[2] for p in pairs):
            segments.append(pairs)
    return [(a, b, c / sum(p[2] for p in pairs) / len(segments)) for pairs in segments for a, b, c in pairs]


def slow_acc_eq(human, scorer, w):
    """The share that is right, at the best threshold of all that tell two cells apart: zero and every |Δscore|."""
    found = cells(human, scorer, w)

    def right(a, b, at):
        return abs(b) <= at if a == 0 else abs(b) > at and (a > 0) == (b > 0)

    return max(sum(c for a, b, c in found if right(a, b, at)) for at in {0.0, *(abs(b) for _, b, _ in found)})


def slow_pdp(human, scorer, w):
    """Pearson's r of differences, a pair counting as its systems weigh among those of its segment; None where a side is constant."""
    sums = [Fraction(0)] * 3
    for h, s in zip(np.transpose(human), np.transpose(scorer), strict=True):
        there = [k for k in range(len(h)) if h[k] == h[k] and s[k] == s[k]]
        mass = sum(Fraction(w[k]) for k in there)
        for i, j in combinations(there, 2):
            if mass:
                c, a, b = Fraction(w[i]) * Fraction(w[j]) / mass**2, Fraction(h[i] - h[j]), Fraction(s[i] - s[j])
                sums = [t + c * v for t, v in zip(sums, (a * b, a * a, b * b), strict=True)]
    return float(sums[0]) / float(sums[1] * sums[2]) ** 0.5 if sums[1] and sums[2] else None


whole = st.integers(-3, 3).map(float)
gappy = st.one_of(whole, whole, whole, st.just(NAN))
weight = st.integers(0, 4)


@given(st.data(), st.integers(2, 5), st.integers(1, 4))
def test_against_the_definitions(data, k, n):
    human, scorer = (np.array(data.draw(st.lists(gappy, min_size=k * n, max_size=k * n))).reshape(k, n) for _ in "hs")
    w = data.draw(st.lists(weight, min_size=k, max_size=k))
    if not cells(human, scorer, w):
        for measure in (wb.acc_eq, wb.pdp):
            with pytest.raises(ValueError, match="no pair to compare|weights sum to 0"):
                measure(human, scorer, w)
        return
    assert wb.acc_eq(human, scorer, w) == pytest.approx(float(slow_acc_eq(human, scorer, w)), abs=ROUNDING)
    expected = slow_pdp(human, scorer, w)
    if expected is None:
        with pytest.raises(ValueError, match="same within every segment"):
            wb.pdp(human, scorer, w)
        assert difference_correlations(human, scorer[None], np.array([w], dtype=float))[0, 0] == 0
    else:
        assert wb.pdp(human, scorer, w) == pytest.approx(expected, abs=ROUNDING)


def test_by_hand():
    """Two systems, three segments. People: tie, first, first. The scorer differs by .2, .1, −.3."""
    human, scorer = [[0, 1, 1], [0, 0, 0]], [[0.7, 0.6, 0.2], [0.5, 0.5, 0.5]]
    # ε < .1: the second is right. .1 ≤ ε < .2: none is. .2 ≤ ε: the tie is. One of three at best.
    assert wb.acc_eq(human, scorer) == pytest.approx(1 / 3)
    # Σ ΔhΔs = .1 − .3, Σ Δh² = 2, Σ Δs² = .04 + .01 + .09
    assert wb.pdp(human, scorer) == pytest.approx(-0.2 / (2 * 0.14) ** 0.5)
    # equal differences pass together: no ε ties the first cell and not the second
    assert wb.acc_eq([[0, 1], [0, 0]], [[2, 2], [1, 1]]) == 0.5


def test_a_constant_scorer_is_right_where_people_tie():
    human = np.array([[0, -1, 0], [0, -5, -1], [-1, 0, -1.0]])
    assert wb.acc_eq(human, np.ones((3, 3))) == pytest.approx(2 / 9)
    with pytest.raises(ValueError, match="scorer scores are the same within every segment"):
        wb.pdp(human, np.tile([0.1, 0.7, 0.3], (3, 1)) * np.array([[1], [1 + 2e-16], [1]]))
    with pytest.raises(ValueError, match="human scores are the same within every segment"):
        wb.pdp(np.ones((3, 3)), human)


@pytest.mark.parametrize("measure", [wb.acc_eq, wb.pdp])
def test_bad_input_is_refused_in_a_sentence(measure):
    x = np.array([[1.0, 2.0], [0.0, 1.0]])
    for human, scorer, w, word in [
        (x, x[:, :1], None, "shape"), (x, [[1, NAN], [NAN, 2]], None, "no pair"), (x[:1], x[:1], None, "no pair"),
        (x, x, [1, 0], "no pair"), (x, x, [1, -1], "negative"), (x, x, [1, 1, 1], "weights"),
        (x, [[1, np.inf], [0, 1]], None, "finite"), ([1, 2], [1, 2], None, "matrix"), (x, [["a", "b"]] * 2, None, "number"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=word):
            measure(human, scorer, w)


@pytest.mark.parametrize("many", [tie_accuracies, difference_correlations])
def test_many_weightings_and_resamples_are_loops(many):
    """A segment that counts twice is there twice; one that counts 0 times is not there. Gaps differ between scorers."""
    rng = np.random.default_rng(0)
    human, x = rng.integers(-2, 1, size=(5, 9)).astype(float), rng.integers(0, 4, size=(4, 5, 9)) / 4
    human[1, 3], x[0, 2, 5], x[1, 2, 5], x[1, 4, 0] = NAN, NAN, NAN, NAN
    w, times = rng.dirichlet(np.ones(5), size=6), rng.integers(0, 3, size=(6, 9)).astype(float)
    w[0, :2] = 0
    found, plain = many(human, x, w, times), many(human, x, w)
    one = wb.acc_eq if many is tie_accuracies else wb.pdp
    for n, m in np.ndindex(found.shape):
        again = np.repeat(np.arange(9), times[n].astype(int))
        assert found[n, m] == pytest.approx(one(human[:, again], x[m][:, again], w[n]), abs=ROUNDING)
        assert plain[n, m] == pytest.approx(one(human, x[m], w[n]), abs=ROUNDING)
    assert np.isnan(many(human, x, w[:1], np.zeros((1, 9)))).all()  # nothing is left


def test_names_scales_and_shifts_change_nothing():
    rng = np.random.default_rng(1)
    human, x = (rng.integers(low, low + 5, size=(6, 40)).astype(float) for low in (-4, 0))
    w, order = rng.random(6), rng.permutation(6)
    for one in (wb.acc_eq, wb.pdp):
        value = one(human, x, w)
        assert one(human[order], x[order], w[order]) == pytest.approx(value, abs=ROUNDING)
        assert one(human, 4 * x + 3, 7 * w) == pytest.approx(value, abs=ROUNDING)
        assert one(human + rng.integers(0, 9, size=40), x, w) == pytest.approx(
            value, abs=ROUNDING
        )  # segment by segment
    assert wb.pdp(human, -x, w) == pytest.approx(-wb.pdp(human, x, w), abs=ROUNDING)


@pytest.mark.parametrize("name, scorer", PRINTED)
def test_typed_values_of_mt_metrics_eval(name, scorer):
    pool = wb.load_pool(name)
    found = [measure(pool.total, pool.scorers[scorer]) for measure in (wb.acc_eq, wb.pdp)]
    assert found == pytest.approx(PRINTED[name, scorer], abs=1e-9)


@pytest.mark.parametrize("meta", ["acc_eq", "pdp"])
def test_all_values_of_mt_metrics_eval(meta):
    if not BESIDE.exists():
        pytest.skip("mtme-values.json, mt-metrics-eval's values, is not in a folder shared or beside it")
    for name, printed in json.loads(BESIDE.read_text("utf-8"))[meta]["values"].items():
        scorers = list(wb.load(name).scorers)
        assert set(scorers) <= set(printed)  # all of ours; what it lists besides are duplicates and constants
        table = wb.rank(name, meta=meta).table.set_index("scorer")
        assert table.loc[scorers, meta].to_numpy() == pytest.approx([printed[s] for s in scorers], abs=1e-9)


def test_columns_of_a_ranking_are_what_the_functions_say():
    pool = wb.load_pool("enes24")
    w = wb.reweight(*pool.aspects, 0.8).weights
    table = wb.rank("enes24", 0.8, meta="acc_eq,pdp").table.set_index("scorer")
    for name in list(pool.scorers)[:4]:
        for meta, measure in (("acc_eq", wb.acc_eq), ("pdp", wb.pdp)):
            found = [measure(pool.total, pool.scorers[name], v) for v in (w, None)]
            assert table.loc[name, [meta, f"{meta}_natural"]].tolist() == pytest.approx(found, abs=ROUNDING)
