"""Calibration against its definition, written out in loops; recovery of scorers' known identity; refusals."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

import whichbird as wb
from whichbird.core.augment import DIALS
from whichbird.data.pairs import COLUMNS, agreements
from whichbird.study.calibrate import MATCHES, SAME_MATCH, best, concordance, correlation, outlook

ENDE24 = wb.load("ende24")
ROUNDING = 1e-12  # some hundred additions of numbers below one


def table(first, second, preferred, scorers=None):
    """A long table from scores (n, M) of both sides and n preferred sides."""
    n, m = np.shape(first)
    names = scorers or [f"s{k}" for k in range(m)]
    rows = [(f"p{i}", preferred[i], names[k], first[i][k], second[i][k]) for i, k in product(range(n), range(m))]
    return pd.DataFrame(rows, columns=COLUMNS)


def real_pairs(n=12, seed=1, scorers=ENDE24.scorers, lean=1.0):
    """Pairs on which the scorers that gain with β tend to side with the practitioner (lean 1) or against (lean −1)."""
    rng = np.random.default_rng(seed)
    far = wb.spa_from_p(ENDE24.adequacy_p, ENDE24.scorer_p) - wb.spa_from_p(ENDE24.fluency_p, ENDE24.scorer_p)
    far = np.array([far[ENDE24.scorers.index(s)] for s in scorers])
    gap = rng.normal(8 * far * lean, 1, size=(n, far.size))
    return table(gap, np.zeros_like(gap), ["first"] * n, list(scorers))


def slow_agreement(pairs):
    out = {}
    for scorer, rows in pairs.groupby("scorer"):
        marks = []
        for row in rows.itertuples():
            mine, other = (row.first, row.second) if row.preferred == "first" else (row.second, row.first)
            marks.append(1 if mine > other else 0.5 if mine == other else 0)
        out[scorer] = sum(marks) / len(marks)
    return out


def slow_concordance(g, s):
    asked = [(x, y) for x, y in combinations(range(len(g)), 2) if abs(g[x] - g[y]) > 1e-9]
    if not asked:
        return 0.5
    return np.mean([0.5 if s[x] == s[y] else (s[x] > s[y]) == (g[x] > g[y]) for x, y in asked])


def test_agreement_by_hand():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 3, size=(2, 9, 5)).astype(float)  # many ties
    pairs = table(first, second, rng.choice(["first", "second"], 9)).sample(frac=1, random_state=2)  # order is nothing
    got = agreements(pairs)
    assert (got == 0.5).any(axis=None) and (got == 1).any(axis=None) and (got == 0).any(axis=None)
    assert got.mean().to_dict() == pytest.approx(slow_agreement(pairs), rel=ROUNDING)


@pytest.mark.parametrize(("shift", "scale"), [(1000.0, 1.0), (-3.3, 1e-6), (0.1, 1e6)])
def test_shift_and_scale_change_no_agreement(shift, scale):
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 4, size=(2, 12, 6)) / 10  # tenths: sums of them are rounded
    side = ["first", "second"] * 6
    moved = table(scale * first + shift, scale * second + shift, side)
    assert agreements(table(first, second, side)).equals(agreements(moved))


def test_matches_by_hand():
    rng = np.random.default_rng(4)
    g = rng.integers(0, 5, size=(6, 7)) / 4
    g[-1] = 0.3  # a constant row
    s = rng.integers(0, 6, size=(4, 7)) / 5
    for r, t in product(range(6), range(4)):
        assert concordance(g, s)[r, t] == pytest.approx(slow_concordance(g[r], s[t]), rel=ROUNDING)
        expected = np.corrcoef(g[r], s[t])[0, 1] if r < 5 else 0.0
        assert correlation(g, s)[r, t] == pytest.approx(expected, rel=ROUNDING, abs=ROUNDING)


@pytest.mark.parametrize("by", MATCHES)
def test_the_answer_is_the_best_of_an_own_sweep(by):
    pairs = real_pairs()
    got = wb.calibrate(pairs, "ende24", by=by, resamples=50)
    g = pd.Series(slow_agreement(pairs))
    low, high = wb.beta_interval(ENDE24.adequacy, ENDE24.fluency, 0.9 * 16)
    assert got.reliable == (low, high)
    tops = {}
    for row in got.table.itertuples():
        r = wb.reweight(ENDE24.adequacy, ENDE24.fluency, row.beta)
        assert row.ess == pytest.approx(r.ess, rel=1e-9)  # the solver's own tolerance
        assert row.reliable == (low <= row.beta <= high)
        if row.reliable:
            spa = [wb.spa_from_p(ENDE24.human_p, ENDE24.scorer_p[ENDE24.scorers.index(s)], r.weights) for s in g.index]
            tops[row.beta] = np.corrcoef(g, spa)[0, 1] if by == "correlation" else slow_concordance(g.to_numpy(), spa)
            assert getattr(row, by) == pytest.approx(tops[row.beta], abs=1e-9)
    most = max(tops.values())
    assert tops[got.beta] == pytest.approx(most, abs=1e-9) and got.match == pytest.approx(most, abs=1e-9)
    assert got.gain == pytest.approx(most - tops[got.natural], abs=1e-9)
    assert got.table[by].max() == got.table.loc[got.table["beta"] == got.anywhere, by].iloc[0]
    # ties: exactly the reliable targets that are as good, of which beta has the largest ESS
    tied = [b for b, v in tops.items() if any(x <= b <= y for x, y in got.ties)]
    assert set(tied) == {b for b, v in tops.items() if v >= most - SAME_MATCH}
    size = got.table.set_index("beta")["ess"]
    assert size[got.beta] == size[tied].max()


def test_order_of_rows_and_names_of_pairs_do_not_matter():
    pairs = real_pairs()
    mixed = pairs.sample(frac=1, random_state=0)
    one, two = (wb.calibrate(p, ENDE24, resamples=200) for p in (pairs, mixed))
    assert (one.beta, one.interval, one.above) == (two.beta, two.interval, two.above)


def test_swapping_both_sides_changes_nothing():
    pairs = real_pairs()
    other = pairs.rename(columns={"first": "second", "second": "first"}).assign(preferred="second")
    one, two = (wb.calibrate(p, ENDE24, resamples=200) for p in (pairs, other))
    assert (one.beta, one.interval, one.above) == (two.beta, two.interval, two.above)


def test_opposite_preferences_take_opposite_sides():
    pairs = real_pairs(n=40)
    ade = wb.calibrate(pairs, ENDE24)
    flu = wb.calibrate(pairs.assign(preferred="second"), ENDE24)
    assert flu.beta < flu.natural == ade.natural < ade.beta
    assert ade.above > 0.95 and flu.above < 0.05
    assert ade.verdict.startswith("Towards adequacy") and flu.verdict.startswith("Towards fluency")
    np.testing.assert_allclose(ade.agreement, 1 - flu.agreement, rtol=ROUNDING)


@pytest.mark.parametrize(("name", "toward"), list(product(["zhen21", "ted_ende", "ende24"], [1, -1])))
def test_scorers_of_known_identity_are_recovered(name, toward):
    """Every scorer at some dial; who sits at a higher dial agrees more often with one who wants adequacy."""
    d, rng = wb.load(name), np.random.default_rng(6)
    dial = rng.integers(0, 51, len(d.scorers))
    moved = d.curves("adequacy-fluency")[np.arange(dial.size), dial]
    extra = {f"{s} moved": p for s, p in zip(d.scorers, moved, strict=True)}
    gap = toward * DIALS["adequacy-fluency"][dial] + rng.normal(0, 0.3, size=(12, dial.size))
    got = wb.calibrate(table(gap, np.zeros_like(gap), ["first"] * 12, list(extra)), d, extra)
    assert (got.beta - got.natural) * toward > 0


def test_bootstrap_is_seeded_and_as_by_hand():
    pairs = real_pairs(n=6)
    got = wb.calibrate(pairs, ENDE24, resamples=300, seed=5)
    again = wb.calibrate(pairs, ENDE24, resamples=300, seed=5)
    assert (got.interval, got.above) == (again.interval, again.above)
    # the same draws, one by one: a resample is a table with pairs repeated under new names
    drawn = np.random.default_rng(5).multinomial(6, np.full(6, 1 / 6), size=300)
    names = sorted(pairs["pair"].unique())
    answers = []
    for count in drawn[:15]:
        many = [(name, copy) for name, n in zip(names, count, strict=True) for copy in range(n)]
        rows = [pairs[pairs["pair"] == name].assign(pair=f"{name} {copy}") for name, copy in many]
        answers.append(wb.calibrate(pd.concat(rows), ENDE24, resamples=1).beta)
    first = wb.calibrate(pairs, ENDE24, resamples=15, seed=5)
    assert first.interval == (min(answers), max(answers))  # 5 % of 15 is less than one
    assert first.above == np.mean([(b > got.natural) + (b == got.natural) / 2 for b in answers])


def test_more_pairs_are_sharper():
    widths = [np.ptp(wb.calibrate(real_pairs(n=n, seed=9, lean=0.3), ENDE24).interval) for n in (6, 400)]
    assert widths[1] < widths[0]


def test_it_says_when_it_cannot_tell():
    rng = np.random.default_rng(7)
    gap = rng.normal(size=(12, len(ENDE24.scorers)))
    side = ["first", "second"] * 6
    same = np.repeat(gap[:, :1], gap.shape[1], axis=1)  # all scorers are copies: nothing to rank
    flat = wb.calibrate(table(same, 0 * same, side, list(ENDE24.scorers)), ENDE24)
    assert flat.beta == flat.natural and len(flat.ties) == 1 and np.allclose(flat.ties[0], flat.reliable, rtol=1e-9)
    assert "cannot tell" in flat.verdict and "equally often" in flat.verdict
    # a mixed practitioner: half of the pairs one way, half the other
    both = pd.concat([real_pairs(n=6), real_pairs(n=6, seed=2, lean=-1).assign(pair=lambda t: t["pair"] + "x")])
    torn = wb.calibrate(both, ENDE24)
    assert 0.05 < torn.above < 0.95 and "cannot tell on which side" in torn.verdict
    # who prefers whatever the best scorers do not
    rank = wb.spa_from_p(ENDE24.human_p, ENDE24.scorer_p)
    against = rng.normal(-20 * (rank - rank.mean()), 0.5, size=(40, rank.size))
    lost = wb.calibrate(table(against, 0 * against, ["first"] * 40, list(ENDE24.scorers)), ENDE24)
    assert lost.match < 0 and lost.verdict.endswith("not the favoured ones.")


def test_the_verdict_does_not_contradict_itself():
    found = wb.calibrate(real_pairs(n=40), ENDE24)
    assert found.interval == (found.beta, found.beta) == (found.reliable[1], found.reliable[1])
    assert (
        f"β = {found.beta:.3f} (at least 90 % of resamples end there too)" in found.verdict
        and " to " not in found.verdict
    )
    wide = replace(found, interval=(0.7, found.beta))
    assert f"(90 % of resamples: 0.700 to {found.beta:.3f})" in wide.verdict
    elsewhere = replace(found, interval=(0.7, 0.7), above=0.0)
    assert "cannot tell" in elsewhere.verdict and "(at least 90 % of resamples end at 0.700)" in elsewhere.verdict
    # all stay at β₀: nothing lies above or below
    flat = wb.calibrate(real_pairs(), ENDE24, ess=1, resamples=100)
    assert flat.verdict.endswith("that is the best reliable β, and at least 90 % of resamples stay there.")
    assert "lie above" not in flat.verdict
    # the answer is β₀, so no side is claimed whatever the resamples do
    at_home = replace(found, beta=found.natural, interval=(0.6, found.natural), above=0.03)
    assert "cannot tell on which side" in at_home.verdict and "3 % of resamples lie above" in at_home.verdict


def test_the_verdict_has_a_true_minus_sign():
    found = wb.calibrate(real_pairs(n=40), ENDE24)
    for match, shown in ((-0.176, "correlation −0.18;"), (-0.001, "correlation 0.00;"), (0.4, "correlation 0.40;")):
        table = found.table.assign(correlation=match)
        assert shown in replace(found, table=table).verdict and "-" not in replace(found, table=table).verdict


def test_best_prefers_the_most_even_weighting():
    assert best(np.array([1.0, 1.0, 1.0]), np.array([2.0, 9.0, 3.0])) == 1
    assert best(np.array([-0.5, -0.4, -0.4]), np.array([9.0, 2.0, 3.0])) == 2  # also below zero


def test_whole_interval_down_to_one_point():
    got = wb.calibrate(real_pairs(), ENDE24, ess=1, resamples=100)
    assert got.beta == got.natural == got.interval[0] == got.interval[1] and got.above == 0.5


@pytest.mark.parametrize("name", wb.datasets(aspects=True))
def test_an_interval_of_one_point_is_the_natural_balance(name):
    """Equal weights are the only ones with an ESS of K: the one target is β₀, not β₀ and the number next to it."""
    d = wb.load(name)
    o = outlook(d, d.scorer_p, ess=1)
    assert o.betas[o.inner].tolist() == [o.natural] and o.reliable == (o.natural, o.natural)


def test_extra_scorers_by_p_values_or_segment_scores():
    rng = np.random.default_rng(8)
    x = rng.normal(size=(16, len(ENDE24.lines)))
    pairs = real_pairs(scorers=["chrF", "XCOMET", "CometKiwi"])
    mine = pairs[pairs["scorer"] == "chrF"].assign(scorer="mine")
    pairs = pd.concat([pairs, mine])
    one = wb.calibrate(pairs, ENDE24, {"mine": x}, resamples=20)
    two = wb.calibrate(pairs, ENDE24, {"mine": wb.p_values(x, exact=False), "not asked for": x}, resamples=20)
    pd.testing.assert_frame_equal(one.table, two.table)
    chrf = ENDE24.scorer_p[ENDE24.scorers.index("chrF")]
    other = wb.calibrate(pairs, ENDE24, {"mine": chrf}, resamples=20)
    assert not other.table.equals(one.table)  # its p-values are used


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="scorer"), "no column 'scorer'"),
        (lambda t: t.assign(preferred="left"), "preferred is 'left'; 'first' or 'second'"),
        (lambda t: t.assign(preferred=["second", *t["preferred"][1:]]), "'p0' has both"),
        (lambda t: pd.concat([t, t[:1]]), "has pair 'p0' twice"),
        (lambda t: t[1:], "has no score of pair 'p0'"),
        (lambda t: t.assign(first=[np.nan, *t["first"][1:]]), "has no score of pair 'p0'"),
        (lambda t: t.assign(first=[np.inf, *t["first"][1:]]), "is inf; every value must be a finite number"),
        (lambda t: t.assign(first="much"), "not a number"),
        (lambda t: t.assign(pair=[None, *t["pair"][1:]]), "no pair or no scorer"),
        (lambda t: t[t["pair"] == "p0"], "at least two of each"),
        (lambda t: t[t["scorer"] == "chrF"], "at least two of each"),
        (lambda t: t.replace("chrF", "chrf"), "no scorer 'chrf'; did you mean .*chrF"),
    ],
)
def test_pairs_refused(change, message):
    pairs = real_pairs(n=4, scorers=["chrF", "BLEU", "XCOMET"])
    with pytest.raises(ValueError, match=message):
        wb.calibrate(change(pairs), ENDE24, resamples=5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "luck"}, "by is 'luck'"),
        ({"resamples": 0}, "resamples is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"ess": 0}, "ess is 0"),
        ({"ess": 1.1}, "ess is 1.1"),
        ({"step": 0}, "step is 0"),
        ({"dataset": "ende42"}, "unknown dataset 'ende42'"),
        ({"dataset": "heen23"}, "natural balance only"),
        ({"extra": {"chrF": np.zeros(120)}}, "ende24 has a scorer 'chrF' already"),
    ],
)
def test_options_refused(options, message):
    pairs = real_pairs(n=4, scorers=["chrF", "BLEU", "XCOMET"])
    with pytest.raises(ValueError, match=message):
        wb.calibrate(pairs, **{"dataset": ENDE24, "resamples": 5} | options)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros(7), "'mine' has 7 values where 120 are expected"),
        (np.zeros((16, 3)), r"16 systems × 487 rated lines .* are expected, or p-values of all 120 pairs"),
        (np.full(120, 2.0), "a p-value 2; numbers from 0 to 1 are expected"),
        (np.full(120, -0.5), "a p-value -0.5; numbers from 0 to 1 are expected"),
        (np.full(120, np.nan), "every value must be a finite number"),
    ],
)
def test_extra_refused(values, message):
    pairs = real_pairs(n=4, scorers=["chrF", "BLEU", "XCOMET"]).replace("BLEU", "mine")
    with pytest.raises(ValueError, match=message):
        wb.calibrate(pairs, ENDE24, {"mine": values}, resamples=5)


HEADER = "pair,preferred,scorer,first,second\n"
GOOD = HEADER + "1,first,chrF,0.5,0.4\n1,first,BLEU,20,21\n2,second,chrF,0.1,0.3\n2,second,BLEU,11,11\n"


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("\n", "\r\n"),
        "\ufeff" + GOOD,
        GOOD.replace(",", ";"),
        GOOD.replace(",", "\t"),
        GOOD + "\n,,,,\n",
        GOOD.rstrip("\n"),
        GOOD.replace("second\n1", "Second \n1", 1).replace("1,first", " 1 , First"),
        GOOD.replace("chrF", '"chrF"'),
        GOOD.replace("second\n", "second,note\n", 1)
        .replace("0.4\n", '0.4,"a, b\nc"\n')
        .replace("1\n", "1,\n")
        .replace("3\n", "3,\n"),
    ],
)
def test_read(tmp_path, text):
    path = tmp_path / "pairs.csv"
    path.write_bytes(text.encode())
    got = wb.read_pairs(path)
    assert got.to_dict("list") == {
        "pair": ["1", "1", "2", "2"],
        "preferred": ["first", "first", "second", "second"],
        "scorer": ["chrF", "BLEU"] * 2,
        "first": [0.5, 20, 0.1, 11],
        "second": [0.4, 21, 0.3, 11],
    }
    assert wb.calibrate(got, ENDE24, resamples=5).agreement.to_dict() == {"BLEU": 0.25, "chrF": 1.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "the file is empty"),
        (b"a,b\n1,2\n", "line 1 has no column 'pair'; the header must name pair, preferred"),
        (HEADER.replace(",first", "").encode(), "line 1 has no column 'first'"),
        (HEADER.encode(), "no row follows the header"),
        (GOOD.replace("1,first,BLEU,20,21", "1,first,BLEU,20").encode(), "line 3 has 4 columns where the header has 5"),
        (GOOD.replace("20,21", "20,many").encode(), r"line 3, column 5 \(second\) has 'many'; a finite number"),
        (GOOD.replace("0.1", "nan").encode(), r"line 4, column 4 \(first\) has 'nan'; a finite number"),
        (GOOD.replace("0.1", "inf").encode(), r"line 4, column 4 \(first\) has 'inf'; a finite number"),
        (
            GOOD.replace("2,second,BLEU", "2,left,BLEU").encode(),
            r"line 5, column 2 \(preferred\) has 'left'; first or second",
        ),
        (
            GOOD.replace("2,second,BLEU", ",second,BLEU").encode(),
            r"line 5, column 1 \(pair\) is empty; a name is expected",
        ),
        (
            GOOD.replace("2,second,BLEU", "2,first,BLEU").encode(),
            r"line 5, column 2 \(preferred\) has 'first' for pair '2', where line 4 has 'second'",
        ),
        (
            GOOD.replace("2,second,BLEU", "1,first,BLEU").encode(),
            "line 5 repeats pair '1' for scorer 'BLEU', which line 3 has",
        ),
        (GOOD.encode().replace(b"chrF,0.1", b"chr\xff,0.1"), "line 4: byte 87 is not UTF-8"),
    ],
)
def test_files_refused(tmp_path, text, message):
    path = tmp_path / "pairs.csv"
    path.write_bytes(text)
    with pytest.raises(wb.DataError, match=message) as error:
        wb.read_pairs(path)
    assert str(error.value).startswith(str(path)) and "\n" not in str(error.value)


def test_no_file(tmp_path):
    with pytest.raises(wb.DataError, match="pairs.csv: no such file"):
        wb.read_pairs(tmp_path / "pairs.csv")
    with pytest.raises(wb.DataError, match="cannot be read"):
        wb.read_pairs(tmp_path)


def test_few_resamples_give_no_verdict():
    few, enough = (wb.calibrate(real_pairs(), ENDE24, resamples=n) for n in (99, 100))
    assert few.verdict.startswith("No verdict: it rests on resampling, and 99 of at least 100 resamples were drawn.")
    assert f"{few.beta:.3f}" in few.verdict and not enough.verdict.startswith("No verdict")
