"""Reading trees and tables: the rules on a tree checked by hand, and a sentence for every bad one."""

import re
import warnings
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import tinytree
from hypothesis import given, strategies as st
from tinytree import ADEQUACY, COMMA, FLUENCY, GOOD, KEPT, MAJOR, MINOR, OTHER, RATINGS, SCORERS, SOURCE, STYLE, TOTALS

from whichbird import DataError, Pool, balance, load, p_values, read_mqm_tsv, read_mtme, spa_from_p
from whichbird.data.mqm import TAXONOMY, Weights, aspect_means
from whichbird.data.mtme import find_source, is_human, read_scores
from whichbird.data.pool import Exclusion, pick, system_means
from whichbird.data.ratings import Mark, Pricing, mean, read_ratings, score
from whichbird.data.registry import DATASETS, PRIMARIES, TREE, Source

RATED = "tiny/human-scores/xx-yy.mqm.merged.seg.rating"
TOTAL = "tiny/human-scores/xx-yy.mqm.seg.score"
SCORER = "tiny/metric-scores/xx-yy/good-refA.seg.score"


@pytest.fixture
def tree(tmp_path):
    return tinytree.write(tmp_path)


def edit(path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


# The rules


def test_the_tiny_tree_by_hand(tree):
    pool = read_mtme(tree, SOURCE)
    assert isinstance(pool, Pool) and pool.name == "tiny/xx-yy" and pool.reference == "refA"
    assert pool.systems == ("alpha", "beta", "gamma")  # sorted; the reference is no system
    assert pool.lines.tolist() == [0, 1, 2] and pool.source_lines == 4
    assert pool.adequacy.tolist() == ADEQUACY and pool.fluency.tolist() == FLUENCY
    assert pool.total.tolist() == [[-5, 0, -0.1], [-1.1, -5, 0], [0, -1, -6]]
    assert tuple(pool.scorers) == KEPT
    for scorer in ("good", "cousin", "late"):
        assert pool.scorers[scorer].tolist() == [[1, 2, 3], [2, 3, 5], [0, 0, 1]]
    assert pool.scorers["qe"].tolist() == [[1.5, 2.5, 3.5], [2.5, 3.5, 5.5], [0.5, 0.5, 1.5]]
    assert pool.notes == (
        "flat: gives every system the same mean",
        "foreign: neither a refA nor a src variant",
        "gappy: does not score every rated segment",
        "partial: does not score every system",
        "twin: same scores as good",
    )
    assert not np.signbit(pool.adequacy[pool.adequacy == 0]).any()  # no error is 0, never −0
    assert pool.rater_names == ("rater1",) and not pool.raters.any() and pool.ratings == ()
    assert pool.documents is None and pool.domains is None


def test_what_was_left_out_by_name(tree):
    pool = read_mtme(tree, SOURCE)
    assert pool.left_out == (
        Exclusion("segment", "1 source line", "rated for fewer than half of 4 systems, the most on any line", 1),
        Exclusion("system", "refA", "a human translation"),
        Exclusion("scorer", "flat", "gives every system the same mean"),
        Exclusion("scorer", "foreign", "neither a refA nor a src variant"),
        Exclusion("scorer", "gappy", "does not score every rated segment"),
        Exclusion("scorer", "partial", "does not score every system"),
        Exclusion("scorer", "twin", "same scores as good"),
    )
    assert pool.notes == tuple(f"{x.name}: {x.reason}" for x in pool.left_out if x.kind == "scorer")
    flagged = read_mtme(tree, SOURCE._replace(drop=("beta",)))
    assert Exclusion("system", "beta", "flagged by the organisers") in flagged.left_out


def test_documents_and_domains_of_the_rated_lines(tree):
    path = tree / "tiny/documents/xx-yy.docs"
    path.parent.mkdir()
    path.write_text("news\tfirst\nnews\tfirst\nspeech\tsecond\nspeech\tthird\n")
    pool = read_mtme(tree, SOURCE)
    assert pool.documents == ("first", "first", "second") and pool.domains == ("news", "news", "speech")
    path.write_text("news\tfirst\n" * 3)
    with pytest.raises(DataError, match="xx-yy.docs: 3 lines where the human scores have 4"):
        read_mtme(tree, SOURCE)
    path.write_text("news\tfirst\nfirst\n" * 2)
    with pytest.raises(DataError, match="xx-yy.docs.*line 2.*has 1"):
        read_mtme(tree, SOURCE)


def test_the_error_table_counts_systems_and_rated_lines(tree):
    pool = read_mtme(tree, SOURCE)
    rows = {tuple(r) for r in pool.errors.itertuples(index=False)}
    assert rows == {
        ("alpha", "accuracy/omission", "major", 1, 5.0),
        ("alpha", "fluency/punctuation", "minor", 1, 0.1),
        ("beta", "accuracy/addition", "minor", 1, 1.0),
        ("beta", "fluency/punctuation", "minor", 1, 0.1),
        ("beta", "style/awkward", "major", 1, 5.0),
        ("gamma", "accuracy/addition", "minor", 1, 1.0),
        ("gamma", "accuracy/omission", "major", 1, 5.0),
        ("gamma", "other", "minor", 1, 1.0),
    }
    means = aspect_means(pool.errors, pool.rated, pool.systems)
    assert np.allclose(means["adequacy"], np.mean(ADEQUACY, axis=1), rtol=1e-15, atol=0)


def test_the_folder_above_the_tree_will_do(tree):
    assert read_mtme(tree.parent, SOURCE).systems == read_mtme(str(tree), SOURCE).systems


def test_the_standard_reference(tree):
    pool = read_mtme(tree, SOURCE, reference="standard")
    assert pool.reference == "refB"
    assert tuple(pool.scorers) == ("foreign", "good", "qe")  # the rest has neither refB nor src
    assert pool.scorers["good"].tolist() == [[-1, -2, -3], [-2, -3, -5], [0, 0, -1]]
    assert read_mtme(tree, SOURCE, reference="src").scorers["good"].tolist() == [[2, 4, 6], [4, 6, 10], [0, 0, 2]]
    with pytest.raises(DataError, match="no scorer has the reference 'refZ'; there are refA, refB$"):
        read_mtme(tree, SOURCE, reference="refZ")


def test_a_segment_needs_half_of_the_largest_count(tmp_path):
    # counts over systems and reference: 4, 4, 2, 1, so line 2 is just kept and line 3 not
    ratings = {s: [[], [], [] if s in ("alpha", "refA") else None, [] if s == "refA" else None] for s in RATINGS}
    pool = read_mtme(tinytree.write(tmp_path, ratings=ratings | {"alpha": [[MAJOR], [], [MINOR], None]}), SOURCE)
    assert pool.lines.tolist() == [0, 1, 2]
    assert pool.rated.tolist() == [3, 2, 2]
    assert np.isnan(pool.adequacy[1:, 2]).all() and pool.adequacy[0].tolist() == [-5, 0, -1]
    assert np.isnan(pool.fluency[1:, 2]).all()


def test_a_line_may_have_totals_only_or_errors_only(tmp_path):
    """Line 1 has no total, line 3 no errors but those of one system: each counts for what it has."""
    totals = {s: [row[0], None, row[2], -n] for n, (s, row) in enumerate(TOTALS.items())}
    ratings = RATINGS | {"alpha": [*RATINGS["alpha"][:3], [MAJOR]], "refA": [[], [], [], None]}
    pool = read_mtme(tinytree.write(tmp_path, ratings=ratings, totals=totals), SOURCE)
    assert pool.lines.tolist() == [0, 1, 2, 3]
    assert pool.official.tolist() == [True, False, True, True] and pool.annotated.tolist() == [True, True, True, False]
    assert np.isnan(pool.total[:, 1]).all() and pool.total[:, 3].tolist() == [0, -1, -2]
    assert pool.adequacy[:, :3].tolist() == ADEQUACY and np.isnan(pool.adequacy[:, 3]).all()  # one of four is too few
    assert pool.rated.tolist() == [3, 3, 3] and pool.errors["count"].sum() == 8
    assert not [x for x in pool.left_out if x.kind == "segment"]
    assert tuple(pool.scorers) == ("cousin", "good", "qe")  # late lacks a line that now counts
    assert {s: x.shape for s, x in pool.scored.items()} == dict.fromkeys(pool.scorers, (3, 3))
    assert pool.signature.startswith("tiny/xx-yy|sys:3|seg:3|errors:3|")
    here = pool.official
    tested = pool.tested()
    assert np.array_equal(tested.human, p_values(pool.total[:, here], exact=False))
    assert np.array_equal(tested.scorers[1], p_values(pool.scorers["good"][:, here], exact=False))
    old = read_mtme(tinytree.write(tmp_path / "errors alone"), SOURCE._replace(official=False))
    assert [x.tolist() for x in pool.aspects] == [x.tolist() for x in old.aspects]


def test_the_name_that_wmt_made_primary_is_shown(tmp_path, monkeypatch):
    tree = tinytree.write(tmp_path)
    assert read_mtme(tree, SOURCE).aliases == {"twin": "good"}
    monkeypatch.setitem(PRIMARIES, "tiny", frozenset({"twin", "qe"}))
    pool = read_mtme(tree, SOURCE)
    assert tuple(pool.scorers) == ("cousin", "twin", "late", "qe") and pool.aliases == {"good": "twin"}
    assert Exclusion("scorer", "good", "same scores as twin") in pool.left_out


def test_flagged_and_unrated_systems_are_dropped(tree):
    assert read_mtme(tree, SOURCE._replace(drop=("beta",))).systems == ("alpha", "gamma")
    path = tree / RATED
    rows = path.read_text().splitlines(keepends=True)
    path.write_text("".join("gamma\tNone\trater1\n" if r.startswith("gamma") else r for r in rows))
    assert read_mtme(tree, SOURCE).systems == ("alpha", "beta")
    with pytest.raises(DataError, match="1 rated system is left for xx-yy; at least two are needed"):
        read_mtme(tree, SOURCE._replace(drop=("beta",)))


def test_totals_alone(tmp_path):
    pool = read_mtme(tinytree.write(tmp_path, ratings=None), SOURCE._replace(ratings=False))
    assert pool.adequacy is None and pool.fluency is None and pool.errors is None
    assert pool.systems == ("alpha", "beta", "gamma")
    assert pool.lines.tolist() == [0, 1, 2] and pool.rated.tolist() == [3, 3, 3]


def test_cells_with_the_same_errors_are_equal_to_the_bit(tmp_path):
    tenths = [("fluency/punctuation", "minor", 0.1)] * 3
    word = ("fluency/grammar", "minor", 1)
    ratings = RATINGS | {"alpha": [[*tenths, word], [], [], None], "beta": [[word, *tenths], [], [], None]}
    pool = read_mtme(tinytree.write(tmp_path, ratings=ratings), SOURCE)
    assert 0.1 + 0.1 + 0.1 + 1 != 1 + 0.1 + 0.1 + 0.1  # what the order would do
    assert pool.fluency[0, 0] == pool.fluency[1, 0] == -1.3


def test_another_taxonomy_and_other_weights(tree):
    moved = read_mtme(tree, SOURCE, taxonomy=TAXONOMY.moved(adequacy=["style/awkward"], neither=["accuracy/addition"]))
    assert moved.adequacy.tolist() == [[-5, 0, 0], [0, -5, 0], [0, 0, -5]]
    assert moved.fluency.tolist() == [[0, 0, -0.1], [-0.1, 0, 0], [0, 0, 0]]
    priced = read_mtme(tree, SOURCE, weights=Weights({"major": 10, "minor": 2}))
    assert priced.adequacy.tolist() == [[-10, 0, 0], [-2, 0, 0], [0, 0, -12]]
    assert priced.fluency.tolist() == [[0, 0, -2], [-2, -10, 0], [0, 0, 0]]
    assert priced.total.tolist() == read_mtme(tree, SOURCE).total.tolist()  # the official total is what it is


def test_official_costs_are_taken_as_they_are(tree):
    edit(tree / RATED, '"score": 5}', '"score": 7}')  # gamma's omission on line 2
    assert read_mtme(tree, SOURCE).adequacy.tolist() == [[-5, 0, 0], [-1, 0, 0], [0, 0, -8]]


@pytest.mark.parametrize("weights", [None, Weights({"major": 5, "minor": 1})])
def test_unknown_labels_are_counted_and_reported(tree, weights):
    edit(tree / RATED, '"other"', '"gremlins"')
    edit(tree / RATED, '"severity": "major"', '"severity": "Dreadful"')
    said = "tiny/xx-yy: not in the tables: 1 × category 'gremlins' .*, 1 × severity 'dreadful'"
    with pytest.warns(UserWarning, match=said):
        pool = read_mtme(tree, SOURCE, weights=weights, allow_uncounted=True)
    assert "not in the tables: 1 × category 'gremlins'" in pool.notes[-1]
    if weights:  # two errors of which nothing is known; one where the release knows what the other costs
        with pytest.raises(DataError, match=r"tiny/xx-yy: \d+% of its errors.* 'gremlins'"):
            read_mtme(tree, SOURCE, weights=weights)
    assert pool.adequacy[2, 2] == (-6 if weights is None else -1)  # the release's own cost counts; a table's cannot
    assert ("gremlins", "minor") in set(zip(pool.errors["category"], pool.errors["severity"], strict=True))


def test_nothing_unknown_nothing_said(tree):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        read_mtme(tree, SOURCE)


def test_a_pool_without_any_error(tmp_path):
    pool = read_mtme(tinytree.write(tmp_path, ratings={s: [[]] * 4 for s in RATINGS}), SOURCE)
    assert not pool.adequacy.any() and len(pool.errors) == 0 and pool.lines.tolist() == [0, 1, 2, 3]
    assert list(pool.errors.columns) == ["system", "category", "severity", "count", "penalty"]


def test_references_by_name():
    human = ("ref", "refA", "refD", "refb", "refp", "ref.A", "ref-b", "synthetic_ref", "Human-A.0", "human", "HUMAN.B")
    assert [s for s in human if not is_human(s)] == []
    systems = ("Refract-MT", "reflex", "Humane", "NLLB_MBR_BLEU", "prefA", "synthetic_refs")
    assert [s for s in systems if is_human(s)] == []


# One file per rater


def raters(tree, **ratings):
    (tree / RATED).unlink()
    for rater, rows in ratings.items():
        path = tree / f"tiny/human-scores/xx-yy.mqm.{rater}.seg.rating"
        path.write_text(tinytree.rating_lines(rows, rater))


def part(keep):
    """The tiny ratings, only the cells (system, line) for which keep says so."""
    return {s: [c if keep(s, n) else None for n, c in enumerate(cells)] for s, cells in RATINGS.items()}


def test_rater_files_are_united(tree):
    merged = read_mtme(tree, SOURCE)
    raters(
        tree,
        rater1=part(lambda s, n: n == 0),
        rater2=part(lambda s, n: n > 0 and s != "beta"),
        rater3={"beta": part(lambda s, n: n > 0)["beta"]},
    )
    pool = read_mtme(tree, SOURCE)
    assert pool.adequacy.tolist() == merged.adequacy.tolist() and pool.fluency.tolist() == merged.fluency.tolist()
    assert pool.errors.equals(merged.errors)


def test_the_preferred_rater_counts_on_calibration_lines(tree):
    both_saw = part(lambda s, n: n in (1, 2))
    strict = {s: [None if c is None else [MAJOR] for c in cells] for s, cells in both_saw.items()}
    raters(tree, rater1=RATINGS, rater2=strict)
    with pytest.raises(DataError, match="rater2.seg.rating.*'alpha'.*source line 2.*rater1.seg.rating"):
        read_mtme(tree, SOURCE)
    with pytest.raises(DataError, match="rater2.seg.rating: system 'alpha', source line 3 is rated"):
        read_mtme(tree, SOURCE._replace(prefer=((1, 1, "rater2"),)))
    pool = read_mtme(tree, SOURCE._replace(prefer=((1, 1, "rater2"), (2, 2, "rater1"))))
    assert pool.adequacy.tolist() == [[-5, -5, 0], [-1, -5, 0], [0, -5, -6]]


def test_rater_files_of_unequal_length(tree):
    short = {"beta": RATINGS["beta"][:3]}
    raters(tree, rater1={s: c for s, c in RATINGS.items() if s != "beta"}, rater2=short)
    with pytest.raises(DataError, match="rater2.seg.rating.*'beta'.*has 3.*rater1.seg.rating.*has 4"):
        read_mtme(tree, SOURCE)


# Several ratings of a cell

STRICT = {"alpha": [[MAJOR], [STYLE], [COMMA]], "beta": [[MAJOR], [STYLE], []], "gamma": [[OTHER], [OTHER], [MAJOR]]}
FIRST = {s: RATINGS[s][:3] for s in STRICT}
THIRD = {"alpha": [[COMMA] * 3, [], None], "beta": [[], None, [OTHER]], "gamma": [[], [], []]}
SHORT = {s: row[:3] for s, row in TOTALS.items() if s in STRICT}
SHORT_GOOD = {"good-refA": {s: GOOD[s][:3] for s in STRICT}}


@pytest.fixture
def thrice(tmp_path):
    """Three lines, three systems; rater2 and rater10 rated everything, rater3 all but two cells."""
    tree = tinytree.write(tmp_path, ratings=None, totals=SHORT, scorers=SHORT_GOOD)
    for rater, rows in {"rater10": STRICT, "rater2": FIRST, "rater3": THIRD}.items():
        path = tree / f"tiny/human-scores/xx-yy.mqm.{rater}.seg.rating"
        path.write_text(tinytree.rating_lines(rows, rater))
    return tree


def test_the_mean_of_a_cells_ratings_by_hand(thrice):
    pool = read_mtme(thrice, SOURCE._replace(rating="mean"))
    a = [[-10 / 3, 0, 0], [-2, 0, 0], [0, 0, -11 / 3]]
    f = [[-0.3 / 3, -5 / 3, -0.1], [-0.1 / 3, -5, 0], [0, 0, 0]]
    assert np.allclose(pool.adequacy, a, rtol=1e-11, atol=0) and np.allclose(pool.fluency, f, rtol=1e-11, atol=0)
    assert pool.fluency[0, 0] == -0.1  # three commas of one rater in three: to the bit what one comma of one costs
    assert pool.total.tolist() == [SHORT[s] for s in pool.systems]  # the official one, as this is the dataset's own way
    assert pool.rater_names == ("rater2", "rater3", "rater10") and (pool.raters == -1).all()
    means = aspect_means(pool.errors, pool.rated, pool.systems)
    for aspect in ("adequacy", "fluency"):
        assert means[aspect].to_numpy() == pytest.approx(system_means(getattr(pool, aspect)), rel=1e-11)
    style = pool.errors.set_index(["system", "category"]).loc[("beta", "style/awkward")]
    assert style["count"].item() == 2 and style["penalty"].item() == 5  # two raters of two, so half the price each


def test_the_ratings_of_a_cell_are_in_the_order_of_raters(thrice):
    first, second, third = read_mtme(thrice, SOURCE._replace(rating="mean")).ratings
    assert first.adequacy.tolist() == ADEQUACY and first.fluency.tolist() == FLUENCY and not first.raters.any()
    assert second.raters.tolist() == [[1, 1, 2], [1, 2, 1], [1, 1, 1]]  # rater10 steps in where rater3 is missing
    assert third.raters.tolist() == [[2, 2, -1], [2, -1, 2], [2, 2, 2]]
    assert np.array_equal(third.total, [[-5, -5, np.nan], [-5, np.nan, 0], [-1, -1, -5]], equal_nan=True)
    assert second.total[1].tolist() == [0, -5, -1]  # an error of neither aspect is in the total


@pytest.mark.parametrize("given, place", [(1, 0), ("2", 1), ("round3", 2)])
def test_a_round_counts(thrice, given, place):
    rating = read_mtme(thrice, SOURCE._replace(rating="mean")).ratings[place]
    pool = read_mtme(thrice, SOURCE._replace(rating="mean"), rating=given)
    for what in ("adequacy", "fluency", "total"):
        assert np.array_equal(getattr(pool, what), getattr(rating, what), equal_nan=True)
    assert np.array_equal(pool.raters, rating.raters)


def test_one_rater_counts(thrice):
    source = SOURCE._replace(rating="mean")
    pool = read_mtme(thrice, source, rating="rater3")
    # lines of which two or three of three systems are rated: all are at least half of three
    assert np.allclose(pool.total, [[-0.3, 0, np.nan], [0, np.nan, -1], [0, 0, 0]], rtol=1e-15, atol=0, equal_nan=True)
    assert set(pool.raters.ravel()) == {1, -1} and pool.rated.tolist() == [2, 2, 3]
    with pytest.raises(DataError, match="'rater7'.*merged, mean, .*rater2, rater3, rater10"):
        read_mtme(thrice, source, rating="rater7")
    with pytest.raises(DataError, match="xx-yy: no cell has a rating 4; 1 to 3 are there"):
        read_mtme(thrice, source, rating=4)
    with pytest.raises(DataError, match="must be said whose rating counts: mean, a round"):
        read_mtme(thrice, source, rating="merged")


def test_totals_without_official_ones_are_the_sums(thrice):
    (thrice / TOTAL).unlink()
    source = SOURCE._replace(rating="mean", official=False)
    pool = read_mtme(thrice, source)
    sums = [[-10.3 / 3, -5 / 3, -0.1], [-6.1 / 3, -5, -1 / 3], [-1 / 3, -2 / 3, -11 / 3]]
    assert np.allclose(pool.total, sums, rtol=1e-11, atol=0)


def test_a_merged_file_beside_rater_files_counts(thrice):
    (thrice / RATED).write_text(tinytree.rating_lines(STRICT, "rater10"))
    pool = read_mtme(thrice, SOURCE)
    assert pool.adequacy.tolist() == [[-5, 0, 0], [-5, 0, 0], [0, 0, -5]] and (pool.raters == 2).all()
    assert len(pool.ratings) == 3 and pool.ratings[0].adequacy.tolist() == ADEQUACY
    assert pool.total.tolist() == [SHORT[s] for s in pool.systems]
    mean = read_mtme(thrice, SOURCE, rating="mean")
    assert mean.total[2].tolist() == pytest.approx([-1 / 3, -2 / 3, -11 / 3], rel=1e-11)  # not the dataset's own way


def test_rounds_come_before_raters(thrice):
    (thrice / RATED).write_text(tinytree.rating_lines(STRICT, "rater10"))
    for n, rows, rater in ((2, FIRST, "rater2"), (3, THIRD, "rater3")):
        path = thrice / f"tiny/human-scores/xx-yy.round{n}.mqm.merged.seg.rating"
        path.write_text(tinytree.rating_lines(rows, rater))
    pool = read_mtme(thrice, SOURCE)
    assert [set(r.raters.ravel()) - {-1} for r in pool.ratings] == [{2}, {0}, {1}]
    assert read_mtme(thrice, SOURCE, rating="rater2").adequacy.tolist() == ADEQUACY
    assert read_mtme(thrice, SOURCE, rating=2).adequacy.tolist() == ADEQUACY
    assert np.isnan(pool.ratings[2].adequacy[1, 1])


def test_no_rating_to_choose_where_there_is_none(tmp_path):
    tree = tinytree.write(tmp_path, ratings=None)
    with pytest.raises(DataError, match="xx-yy.*no error ratings.*'mean'"):
        read_mtme(tree, SOURCE._replace(ratings=False), rating="mean")


@given(st.lists(st.integers(0, 400), min_size=1, max_size=3), st.randoms())
def test_equal_means_are_equal_floats(tenths, random):
    """Ratings are tenths of points: the mean of any is the float next to the exact mean of twelve digits, in any order."""
    values = [t / 10 for t in tenths]
    shuffled = random.sample(values, len(values))
    exact = Fraction(sum(tenths), 10 * len(tenths))
    assert mean(values) == mean(shuffled) == float(f"{float(exact):.12g}")


# Sets never seen before


def test_single_raters_without_a_merged_file_are_averaged(thrice):
    source = find_source(thrice, "tiny", "xx-yy")
    assert source == Source("tiny", "xx-yy", rating="mean", paper=False)
    assert read_mtme(thrice, source).adequacy[2, 2] == pytest.approx(-11 / 3, rel=1e-11)


def test_sets_never_seen(tmp_path):
    scorers = {"good-refB": GOOD, "good-refC": GOOD, "qe-src": SCORERS["qe-src"]}
    tree = tinytree.write(tmp_path, SOURCE._replace(set="wmt99"), scorers=scorers)
    merged = find_source(tmp_path, "wmt99", "xx-yy")
    assert merged == Source("wmt99", "xx-yy", standard="refB", reference="refB", paper=False)
    pool = read_mtme(tmp_path, merged)
    assert pool.reference == "refB" and tuple(pool.scorers) == ("good", "qe") and pool.adequacy.tolist() == ADEQUACY
    human = tree / "wmt99/human-scores"
    (human / "xx-yy.mqm.seg.score").unlink()  # no totals
    (human / "xx-yy.mqm.merged.seg.rating").rename(human / "xx-yy.mqm.ann.seg.rating")  # one rater only
    bare = find_source(tmp_path, "wmt99", "xx-yy")
    assert (bare.rating, bare.official, bare.ratings, bare.drop) == ("mean", False, True, ())
    pool = read_mtme(tmp_path, bare)
    assert pool.adequacy.tolist() == ADEQUACY and pool.rater_names == ("ann",)
    assert pool.total.tolist() == [[-5, 0, -0.1], [-1.1, -5, 0], [0, -1, -6]]
    for path in (tree / "wmt99/metric-scores/xx-yy").glob("good*"):
        path.unlink()
    assert find_source(tmp_path, "wmt99", "xx-yy").reference == "src"
    with pytest.raises(DataError, match="no MQM scores of the pair 'yy-xx'; there is xx-yy"):
        find_source(tmp_path, "wmt99", "yy-xx")
    with pytest.raises(DataError, match="no set 'wmt98'; there is wmt99"):
        find_source(tmp_path, "wmt98", "xx-yy")


def test_a_known_pair_keeps_its_record(tmp_path):
    assert find_source(tmp_path, "wmt20", "en-de") == DATASETS["ende20"]


def test_a_space_separates_where_no_tab_does(tree):
    path = tree / TOTAL
    before = read_mtme(tree, SOURCE)
    path.write_text(path.read_text().replace("\t", " "))
    assert read_mtme(tree, SOURCE).total.tolist() == before.total.tolist()
    edit(path, "alpha -5\n", "alpha  -5\n")
    with pytest.raises(DataError, match="xx-yy.mqm.seg.score: line 1 has 1 columns"):
        read_mtme(tree, SOURCE)
    edit(path, "alpha  -5\n", "alpha five\n")
    with pytest.raises(DataError, match="line 1 has the score 'five'; a finite number or None"):
        read_mtme(tree, SOURCE)


# Bad trees


def test_unknown_dataset(tmp_path):
    with pytest.raises(DataError, match="unknown dataset 'ende42'; known are ende20, zhen20, ende21"):
        read_mtme(tmp_path, "ende42")
    with pytest.raises(DataError, match="wmt24/human-scores"):  # known by its place in the tree, and not there
        read_mtme(tmp_path, "wmt24/en-de")
    assert len(DATASETS) == 16


def test_missing_root(tmp_path):
    with pytest.raises(DataError, match="nowhere: no such folder"):
        read_mtme(tmp_path / "nowhere", SOURCE)


@pytest.mark.parametrize("file", [RATED, TOTAL])
def test_missing_file(tree, file):
    (tree / file).unlink()
    with pytest.raises(DataError, match=f"{file}: no such file"):
        read_mtme(tree, SOURCE)


def test_missing_scorer_folder(tree):
    folder = (tree / SCORER).parent
    folder.rename(folder.with_name("elsewhere"))
    with pytest.raises(DataError, match="metric-scores/xx-yy: no such folder; unpack"):
        read_mtme(tree, SOURCE)


def test_a_folder_in_place_of_a_file(tree):
    (tree / TOTAL).unlink()
    (tree / TOTAL).mkdir()
    with pytest.raises(DataError, match="xx-yy.mqm.seg.score: cannot be read"):
        read_mtme(tree, SOURCE)


@pytest.mark.parametrize("file", [RATED, TOTAL, SCORER])
def test_file_faults(tree, file):
    path = tree / file
    good = path.read_bytes()
    faults = {
        b"": "the file is empty",
        good[:-1]: "the last line has no line end, so the file is cut off; fetch it again",
        good[: good.rindex(b"\n", 0, -1) + 1]: "system 'refA' has 3 lines where others have 4; every system needs",
        good + b"\n": "line 17 ",
        good.replace(b"alpha", b"alph\xff", 1): "UTF-8",
        b"alpha\n" + good: "line 1 has 1 column",
    }
    for raw, sentence in faults.items():
        path.write_bytes(raw)
        with pytest.raises(DataError, match=f"{re.escape(file)}: .*{sentence}"):
            read_mtme(tree, SOURCE)
    path.write_bytes(b"\xef\xbb\xbf" + good.replace(b"\n", b"\r\n"))  # no fault: another editor's line ends and mark
    assert read_mtme(tree, SOURCE).adequacy.tolist() == ADEQUACY


@pytest.mark.parametrize("file", [TOTAL, SCORER])
@pytest.mark.parametrize("score", ["inf", "-inf", "nan", "NaN", "1e999", "good", "True", "", "none", "1,5", "0x1"])
def test_a_score_that_is_no_number(tree, file, score):
    path = tree / file
    rows = path.read_text().splitlines(keepends=True)
    rows[5] = rows[5].split("\t")[0] + f"\t{score}\n"
    path.write_text("".join(rows))
    with pytest.raises(DataError, match=f"{re.escape(file)}.*line 6.*'{score}'"):
        read_mtme(tree, SOURCE)


def test_columns_of_a_score_file(tree):
    path = tree / SCORER
    good = path.read_text()
    path.write_text(good.replace("alpha\t1\n", "alpha\t1\t7\n", 1))
    with pytest.raises(DataError, match="line 1 has 3 columns; system, tab, score is expected"):
        read_mtme(tree, SOURCE)
    path.write_text(good.replace("alpha\t1\nalpha\t2\n", "alpha\t1\t7\nalpha\n", 1))  # as many tabs as lines
    with pytest.raises(DataError, match="line 1 has 3 columns"):
        read_mtme(tree, SOURCE)


def test_scores_are_read_to_the_last_bit(tmp_path):
    values = [0.1, 1 / 3, 0.0005879603009204831, -2.5e-17, 123456789.12345678, 5e-324, 1.7976931348623157e308]
    path = tmp_path / "x-refA.seg.score"
    path.write_text("".join(f"2\t{v!r}\n" for v in values) + "".join(f"010\t{v!r}\n" for v in values))
    scores = read_scores(path)
    assert scores.systems == ("010", "2")  # names, also where they look like numbers
    assert scores.values.tolist() == [values, values]


@pytest.mark.parametrize(
    "text",
    [
        "{broken",
        "[]",
        "null",
        '{"errors": null}',
        '{"errors": [{"severity": "major", "score": 5}]}',
        '{"errors": [{"category": "other", "score": 5}]}',
        '{"errors": [{"category": "other", "severity": "major"}]}',
        '{"errors": [{"category": null, "severity": "major", "score": 5}]}',
        '{"errors": ["other"]}',
        '{"errors": [{"category": "other", "severity": "major", "score": "dear"}]}',
        '{"errors": [{"category": "other", "severity": "major", "score": NaN}]}',
        '{"errors": [{"category": "other", "severity": "major", "score": Infinity}]}',
        '{"errors": [{"category": "other", "severity": "major", "score": 1' + "0" * 400 + "}]}",
        '{"errors": ' + "[" * 3000 + "]" * 3000 + "}",
        "[" * 100_000,
    ],
)
def test_ratings_that_are_no_list_of_errors(tree, text):
    path = tree / RATED
    rows = path.read_text().splitlines(keepends=True)
    rows[2] = f"gamma\t{text}\trater1\n"
    path.write_text("".join(rows))
    with pytest.raises(DataError, match=f"{re.escape(RATED)}.*line 3"):
        read_mtme(tree, SOURCE)


def test_files_of_unequal_length(tmp_path):
    longer = {s: [*row, 0] for s, row in TOTALS.items()}
    with pytest.raises(DataError, match="4 lines.*xx-yy.mqm.seg.score.*has 5"):
        read_mtme(tinytree.write(tmp_path, totals=longer), SOURCE)
    tinytree.write(tmp_path, scorers={"good-refA": {s: row[:3] for s, row in GOOD.items()}})
    with pytest.raises(DataError, match="good-refA.seg.score: 3 lines.*have 4"):
        read_mtme(tmp_path, SOURCE)


def test_unknown_and_missing_systems(tmp_path):
    tree = tinytree.write(tmp_path, scorers=SCORERS | {"good-refA": GOOD | {"omega": [1, 2, 3, 4]}})
    with pytest.raises(DataError, match="good-refA.seg.score.*'omega'"):
        read_mtme(tree, SOURCE)
    tinytree.write(tmp_path, scorers={n: x | {"omega": [1, 2, 3, 4]} for n, x in SCORERS.items()})  # all score it
    assert Exclusion("system", "omega", "rated by nobody") in read_mtme(tree, SOURCE).left_out
    tinytree.write(tmp_path, scorers=SCORERS)
    tinytree.write(tmp_path, scorers={"good-refA": GOOD | {"refC": [1, 2, 3, 4]}})  # another reference is no stranger
    assert "good" in read_mtme(tree, SOURCE).scorers
    tinytree.write(tmp_path, totals={s: row for s, row in TOTALS.items() if s != "beta"})
    with pytest.raises(DataError, match="xx-yy.mqm.seg.score.*'beta' is missing"):
        read_mtme(tree, SOURCE)


# Raw tables of errors

HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"


def row(system, seg, rater, category, severity, target="t"):
    return f"{system}\td\t1\t{seg}\t{rater}\ts\t{target}\t{category}\t{severity}\n"


TABLE = HEADER + "".join(
    [
        row("y", 7, "r1", "Accuracy/Omission", "Major"),
        row("y", 7, "r1", "Fluency/Punctuation", "Minor"),
        row("y", 7, "r2", "No-error", "No-error"),
        row("x", 7, "r1", "No-error", "No-error"),
        row("x", 3, "r2", "Other", "Minor"),
        row("x", 3, "r2", "Style/Awkward", "Minor"),
        row("refA", 3, "r2", "Other", "Minor"),
    ]
)


def table(tmp_path, text, name="mqm.tsv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_raw_table_by_hand(tmp_path):
    pool = read_mqm_tsv(table(tmp_path, TABLE))
    assert pool.systems == ("x", "y") and pool.name == "mqm.tsv" and pool.scorers == {} and pool.notes == ()
    # segments 7 and 3 in the order of the file; y's segment 7 is the mean of two raters, its segment 3 nobody rated
    assert np.array_equal(pool.adequacy, [[0, 0], [-2.5, np.nan]], equal_nan=True)
    assert np.array_equal(pool.fluency, [[0, -1], [-0.05, np.nan]], equal_nan=True)
    assert np.array_equal(pool.total, [[0, -2], [-2.55, np.nan]], equal_nan=True)
    assert {tuple(r) for r in pool.errors.itertuples(index=False)} == {
        ("x", "other", "minor", 1, 1.0),
        ("x", "style/awkward", "minor", 1, 1.0),
        # one of two raters marked these, so they cost half
        ("y", "accuracy/omission", "major", 1, 2.5),
        ("y", "fluency/punctuation", "minor", 1, 0.05),
    }


def test_the_errors_of_several_raters_give_the_means(tmp_path):
    # three raters on y's segment 7, two of whom agree; one on its segment 3
    more = row("y", 7, "r3", "Accuracy/Omission", "Major") + row("y", 3, "r1", "Accuracy/Omission", "Major")
    pool = read_mqm_tsv(table(tmp_path, TABLE + more))
    omissions = pool.errors.set_index(["system", "category"]).loc[("y", "accuracy/omission")]
    assert omissions["count"].item() == 3 and omissions["penalty"].item() == pytest.approx(5 * (2 / 3 + 1), rel=1e-12)
    means = aspect_means(pool.errors, pool.rated, pool.systems)
    for aspect in ("adequacy", "fluency"):
        assert means[aspect].to_numpy() == pytest.approx(system_means(getattr(pool, aspect)), rel=1e-12)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.replace("\n", "\r\n"),
        lambda t: "\ufeff" + t,
        lambda t: t + "\n",
        lambda t: t.removesuffix("\n"),
        lambda t: t.replace("doc_id", "Doc_ID").replace("system", "System"),
        lambda t: "".join("extra\t" + r for r in t.splitlines(keepends=True)),
        # a quote means nothing, nor does a line separator that is not a line end
        lambda t: t.replace("\tt\t", '\t"not <v>closed\t').replace("\ts\t", "\t'\u2028\t"),
    ],
)
def test_spellings_of_a_raw_table(tmp_path, change):
    plain, changed = read_mqm_tsv(table(tmp_path, TABLE)), read_mqm_tsv(table(tmp_path, change(TABLE)))
    assert changed.systems == plain.systems
    assert np.array_equal(changed.total, plain.total, equal_nan=True)
    assert changed.errors.equals(plain.errors)


def test_other_tables_for_a_raw_table(tmp_path):
    path = table(tmp_path, TABLE)
    pool = read_mqm_tsv(path, TAXONOMY.moved(adequacy=["Other"]), Weights({"Major": 10, "Minor": 2}))
    assert np.array_equal(pool.adequacy, [[0, -2], [-5, np.nan]], equal_nan=True)
    assert np.array_equal(pool.fluency, [[0, -2], [-1, np.nan]], equal_nan=True)


def test_unknown_labels_of_a_raw_table(tmp_path):
    path = table(tmp_path, TABLE.replace("Style/Awkward\tMinor", "Gremlins\tDreadful"))
    said = "mqm.tsv: not in the tables: 1 × category 'gremlins' .*, 1 × severity 'dreadful'"
    with pytest.warns(UserWarning, match=said):
        pool = read_mqm_tsv(path, allow_uncounted=True)
    assert len(pool.notes) == 1 and pool.total[0, 1] == -1
    assert ("gremlins", "dreadful") in set(zip(pool.errors["category"], pool.errors["severity"], strict=True))


@pytest.mark.parametrize(
    "text, sentence",
    [
        (TABLE.replace("\trater\t", "\twho\t"), "line 1 has no column 'rater'; the header must name system, doc,"),
        (TABLE + "x\td\t1\n", "line 9 has 3 columns where the header has 9"),
        (HEADER, "no rating of a system below the header"),
        (HEADER + row("refA", 1, "r", "Other", "Minor"), "no rating of a system"),
        (b"", "the file is empty"),
        (b"\xff\xfe", "line 1: byte 0 is not UTF-8"),
    ],
)
def test_bad_raw_tables(tmp_path, text, sentence):
    with pytest.raises(DataError, match=f"mqm.tsv: {sentence}"):
        read_mqm_tsv(table(tmp_path, text))


def test_a_raw_table_that_is_missing_or_has_one_system(tmp_path):
    with pytest.raises(DataError, match="nothing.tsv: no such file"):
        read_mqm_tsv(tmp_path / "nothing.tsv")
    with pytest.raises(ValueError, match="mqm.tsv: 1 system; at least two are needed"):
        read_mqm_tsv(table(tmp_path, HEADER + row("x", 1, "r", "Other", "Minor")))


# The forms of a raw table over the years: the same ratings, our own sentences

YEARS = {
    "2020": "system doc doc_id seg_id rater source target category severity",
    "2023": "system doc docSegId globalSegId rater source target category severity metadata",
    "2023, a comment ends the header": "system doc docSegId globalSegId rater source target category severity metadata #",
    "2022 en-zh": "year source_lang target_lang document_id doc_segment_id system_id rater_id source reference candidate "
    "category severity",
}
ROWS = [  # system, doc, place in it, segment, rater, category, severity
    ("x", "boats", 1, 11, "r1", "Accuracy/Omission", "Major"),
    ("x", "boats", 1, 11, "r1", "Fluency/Punctuation", "Minor"),
    ("x", "boats", 2, 12, "r2", "No-error", "No-error"),
    ("y", "boats", 1, 11, "r1", "Non-translation!", "Major"),
    ("y", "boats", 2, 12, "r2", "Style/Awkward", "Minor"),
    ("refA", "boats", 1, 11, "r1", "Other", "Minor"),
]


def form(year: str, rows=ROWS) -> str:
    """The rows under the header of a year, with sentences of ours where it has text."""
    header = YEARS[year].split()
    out = ["\t".join(header)]
    for system, doc, place, segment, rater, category, severity in rows:
        cell = {
            **dict.fromkeys(("system", "system_id"), system),
            **dict.fromkeys(("doc", "document_id"), doc),
            **dict.fromkeys(("doc_id", "docSegId", "doc_segment_id"), str(place)),
            **dict.fromkeys(("seg_id", "globalSegId"), str(segment)),
            **dict.fromkeys(("rater", "rater_id"), rater),
            **dict.fromkeys(("target", "candidate"), "The <v>ferry</v> was late."),
            "source": "Die Fähre kam spät.",
            "reference": "The ferry came late.",
            "category": category,
            "severity": severity,
            "metadata": "{}",
        }
        out.append("\t".join(cell.get(h, "-") for h in header if h != "#"))
    return "\n".join(out) + "\n"


@pytest.mark.parametrize("year", YEARS)
def test_every_form_of_a_raw_table(tmp_path, year):
    pool = read_mqm_tsv(table(tmp_path, form(year)))
    assert pool.systems == ("x", "y") and pool.notes == () and pool.documents == ("boats", "boats")
    assert pool.adequacy.tolist() == [[-5, 0], [-25, 0]] and pool.fluency.tolist() == [[-0.1, 0], [0, -1]]
    assert pool.total.tolist() == [[-5.1, 0], [-25, -1]]
    assert pool.segments == (("1", "2") if "en-zh" in year else ("11", "12"))
    assert pool.rater_names == ("r1", "r2") and pool.raters.tolist() == [[0, 1], [0, 1]] and pool.ratings == ()
    assert pool.left_out == (Exclusion("system", "refA", "a human translation"),)


@pytest.mark.parametrize("category", ["non_translation", "Non-translation", "Non-translation!"])
def test_non_translations_by_any_name(tmp_path, category):
    rows = [r if r[5] != "Non-translation!" else (*r[:5], category, r[6]) for r in ROWS]
    pool = read_mqm_tsv(table(tmp_path, form("2023", rows)))
    assert pool.adequacy[1, 0] == -25 and pool.notes == ()


def test_probes_and_remarks_are_no_errors(tmp_path):
    more = [
        ("x", "boats", 2, 12, "r2", "Missed", "HOTW-test"),
        ("y", "boats", 2, 12, "r2", "Found", "HOTW-test"),
        ("x", "boats", 3, 13, "", "", ""),  # remarks on a segment nobody rated
    ]
    pool = read_mqm_tsv(table(tmp_path, form("2023", ROWS + more)))
    assert pool.total.tolist() == read_mqm_tsv(table(tmp_path, form("2023"))).total.tolist()
    assert pool.notes == ("2 rows of severity HOTW-test, probes of the raters, were dropped",)


def test_a_comment_in_the_header_is_one_cell_at_most(tmp_path):
    rows = form("2023, a comment ends the header").split("\n")
    rows[1] = rows[1].rpartition("\t")[0]  # no metadata either
    with pytest.raises(DataError, match="line 2 has 9 columns where the header has 11"):
        read_mqm_tsv(table(tmp_path, "\n".join(rows)))


def test_two_ratings_of_a_raw_table(tmp_path):
    more = [("x", "boats", 1, 11, "r10", "No-error", "No-error"), ("x", "boats", 1, 11, "r2", "Other", "Minor")]
    pool = read_mqm_tsv(table(tmp_path, form("2023", ROWS + more)))
    assert pool.rater_names == ("r1", "r2", "r10") and pool.raters[0].tolist() == [-1, 1]
    assert [r.total[0, 0] for r in pool.ratings] == [-5.1, -1, 0] and pool.total[0, 0] == pytest.approx(-6.1 / 3)


# A dataset whose errors come as a raw table beside the tree (heen23): the tiny ratings as such a table

DOCS = (("news", "one"), ("news", "one"), ("news", "two"), ("news", "two"))


@pytest.fixture
def bare(tmp_path):
    """The tiny tree without ratings."""
    tree = tinytree.write(tmp_path, ratings=None)
    path = tree / "tiny/documents/xx-yy.docs"
    path.parent.mkdir()
    path.write_text("".join(f"{domain}\t{document}\n" for domain, document in DOCS))
    return tree


def as_rows(number=lambda line: line + 1, place=lambda line: line % 2 + 1, name=str):
    """The tiny ratings as rows of a raw table."""
    return [
        (name(system), DOCS[line][1], place(line), number(line), "r1", category, severity)
        for system, cells in RATINGS.items()
        for line, errors in enumerate(cells)
        if errors is not None
        for category, severity, _ in errors or [("No-error", "No-error", 0)]
    ]


ALONE = SOURCE._replace(ratings=False)


@pytest.mark.parametrize(
    "rows",
    [
        as_rows(),
        as_rows(number=lambda line: line),  # counted from 0
        as_rows(number=lambda line: 0),  # not counted: the place in the document says which
        as_rows(number=lambda line: 7000 + line, place=lambda line: line % 2),
        as_rows(place=lambda line: 1),
        as_rows(name=str.upper),  # another spelling of the systems
    ],
)
def test_a_raw_table_gives_a_dataset_its_aspects(tmp_path, bare, rows):
    pool = read_mtme(bare, ALONE, errors=table(tmp_path, form("2023", rows)))
    assert pool.adequacy.tolist() == ADEQUACY and pool.fluency.tolist() == FLUENCY
    assert pool.total.tolist() == [[-5, 0, -0.1], [-1.1, -5, 0], [0, -1, -6]] and pool.lines.tolist() == [0, 1, 2]
    assert tuple(pool.scorers) == KEPT and pool.rater_names == ("r1",) and pool.documents == ("one", "one", "two")
    whole = read_mtme(tinytree.write(tmp_path), SOURCE)
    assert pool.errors.equals(whole.errors)


def test_a_raw_table_with_other_prices_is_compared_at_the_official_ones(tmp_path, bare):
    path = table(tmp_path, form("2023", as_rows()))
    pool = read_mtme(bare, ALONE, errors=path, weights=Weights({"major": 10, "minor": 2}))
    assert pool.adequacy.tolist() == [[-10, 0, 0], [-2, 0, 0], [0, 0, -12]]


def test_a_raw_table_that_differs_from_the_totals(tmp_path, bare, monkeypatch):
    rows = [r for r in as_rows() if r[5] != "other"] + [("gamma", "one", 2, 2, "r1", "No-error", "No-error")]
    path = table(tmp_path, form("2023", rows))
    said = "1 of 13 rated cells differ from the official totals, the first in system 'gamma' on source line 2: 0 here, -1 there"
    with pytest.raises(DataError, match=f"mqm.tsv: {said}; at most 2% may, so this is not the table"):
        read_mtme(bare, ALONE, errors=path)
    monkeypatch.setattr("whichbird.data.tsv.TOLERATED", 0.08)  # so that one cell of thirteen is few
    pool = read_mtme(bare, ALONE, errors=path)
    assert pool.notes[-1] == f"mqm.tsv: {said}" and pool.total[2, 1] == -1
    missing = table(tmp_path, form("2023", as_rows()[1:]))  # gamma's first line, which has no error
    with pytest.raises(DataError, match="'gamma' on source line 1: no rating here, 0 there"):
        monkeypatch.setattr("whichbird.data.tsv.TOLERATED", 0.02)
        read_mtme(bare, ALONE, errors=missing)


def test_raw_tables_that_cannot_be_joined(tmp_path, bare):
    lost = as_rows(number=lambda line: 7000 + line, place=lambda line: 9)
    with pytest.raises(DataError, match="segments.* 4 source lines"):
        read_mtme(bare, ALONE, errors=table(tmp_path, form("2023", lost)))
    strange = [*as_rows(), ("omega", "one", 1, 1, "r1", "No-error", "No-error")]
    with pytest.raises(DataError, match="'omega' is not one.*alpha, beta, gamma, refA"):
        read_mtme(bare, ALONE, errors=table(tmp_path, form("2023", strange)))
    with pytest.raises(DataError, match="tiny/xx-yy: its error ratings are in the tree"):
        read_mtme(tinytree.write(tmp_path), SOURCE, errors=table(tmp_path, form("2023", as_rows())))


# The real tree, where there is one. What ships of the paper's datasets is the reference for K, N, scorers and means; the
# numbers below were measured here once and say what a change of the reader would move.

FACTS = {  # rated systems, kept source lines with errors (with totals where no errors are known), scorers, β0
    "ende20": (7, 1417, 31, 0.9348),
    "zhen20": (8, 1944, 36, 0.7589),
    "ende21": (13, 527, 27, 0.2273),
    "zhen21": (13, 650, 28, 0.7054),
    "ted_ende": (13, 529, 27, 0.3802),
    "ted_zhen": (13, 529, 28, 0.4921),
    "ende22": (13, 1315, 31, 0.9338),
    "zhen22": (14, 1875, 31, 0.9767),
    "enru22": (15, 1215, 30, 0.9546),
    "enzh22": (12, 2037, 25, 0.9729),
    "ende23": (12, 460, 42, 0.9552),
    "heen23": (12, 820, 43, None),
    "zhen23": (15, 1177, 43, 0.9672),
    "ende24": (16, 487, 30, 0.7821),
    "enes24": (13, 623, 30, 0.9657),
    "jazh24": (13, 560, 31, 0.9954),
}
APART = {"ende20": (1418, 1418), "zhen20": (2000, 2000), "enru22": (1327, 1315)}  # all lines kept, those with totals
ROUNDS = {  # β0 when the first, second, third rating of each cell counts, and their mean
    "ende20": (0.9296, 0.9555, 0.9362, 0.9348),
    "zhen20": (0.7666, 0.6541, 0.5224, 0.7589),
    "ende22": (0.9338, 0.9307, 0.9492, 0.9403),
    "enzh22": (0.9678, 0.9717, 0.9395, 0.9729),
    "ende23": (0.9552, 0.9667, 0.9615, 0.9631),
    "zhen23": (0.9249, 0.9687, 0.9773, 0.9625),
}
DIFFERING = {  # cells whose errors do not sum up to the official total, of those that have both
    "ende20": (1917, 9894),
    "zhen20": (5223, 15076),
    "ende21": (7, 6851),
    "zhen21": (4, 8450),
    "ted_ende": (0, 6876),
    "ted_zhen": (38, 6877),
    "ende22": (10, 17095),
    "zhen22": (92, 26250),
    "enru22": (286, 17990),
    "ende23": (0, 5520),
    "zhen23": (269, 17655),
    "ende24": (0, 7792),
    "enes24": (0, 8099),
    "jazh24": (0, 7280),
}


@cache
def real(root, name) -> Pool:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # every label of all sixteen is in the tables
        return read_mtme(root, name)


def beta0(adequacy, fluency) -> float:
    return round(balance(system_means(adequacy), system_means(fluency)), 4)


@pytest.mark.parametrize("name", DATASETS)
def test_real_datasets(mtme_root, name):
    pool = real(mtme_root, name)
    b = None if pool.adequacy is None else beta0(pool.adequacy, pool.fluency)
    counts = len(pool.systems), int((pool.annotated if b else pool.official).sum()), len(pool.scorers)
    assert (*counts, b) == FACTS[name]
    assert (len(pool.lines), int(pool.official.sum())) == APART.get(name, (FACTS[name][1], FACTS[name][1]))
    assert pool.reference == DATASETS[name].reference
    assert pool.documents is not None and pool.domains is not None
    assert not [s for s in pool.systems if is_human(s)]
    if pool.adequacy is not None:
        assert (pool.raters[~np.isnan(pool.adequacy)] >= 0).all() == (DATASETS[name].rating == "merged")
        means = aspect_means(pool.errors, pool.rated, pool.systems)
        assert np.allclose(means["adequacy"], system_means(pool.adequacy), rtol=1e-10, atol=0)


@pytest.mark.parametrize("name", DATASETS)
def test_real_datasets_are_what_ships(mtme_root, name):
    pool, d = real(mtme_root, name), load(name)
    assert pool.systems == d.systems and tuple(pool.scorers) == d.scorers and np.array_equal(pool.lines, d.lines)
    for aspect in ("total",) if pool.adequacy is None else ("total", "adequacy", "fluency"):
        assert np.allclose(system_means(getattr(pool, aspect)), getattr(d, aspect), rtol=1e-12, atol=0)


def test_real_soft_pairwise_accuracy_from_the_files_alone(mtme_root):
    """enru22 as mt-metrics-eval has it: the 1315 lines that have official totals of all 15 systems, whoever rated errors."""
    folder = (Path(mtme_root, TREE) if Path(mtme_root, TREE).is_dir() else Path(mtme_root)) / "wmt22"

    def scores(path):
        rows = {}
        for line in path.read_text("utf-8").splitlines():
            system, value = line.split("\t")
            rows.setdefault(system, []).append(float("nan" if value == "None" else value))
        return np.array([rows[s] for s in d.systems])

    def p(x):
        i, j = np.triu_indices(len(x), 1)
        s = np.random.default_rng(4).integers(0, 2, size=(1000, x.shape[1])) * 2.0 - 1.0
        signed, plain = np.array([np.cumsum(s * row, axis=1)[:, -1] for row in x]), np.cumsum(x, axis=1)[:, -1]
        return (signed[i] - signed[j] >= (plain[i] - plain[j])[:, None]).mean(axis=1)

    d = load("enru22")
    human = scores(folder / "human-scores/en-ru.mqm.seg.score")
    rated = ~np.isnan(human).any(axis=0)
    assert rated.sum() == 1315 and np.array_equal(np.flatnonzero(rated), d.lines[d.official])
    assert np.array_equal(p(human[:, rated]), d.human_p)
    for scorer in ("BLEURT-20", "chrF", "COMETKiwi"):
        paths = [folder / f"metric-scores/en-ru/{scorer}-{variant}.seg.score" for variant in ("refA", "src")]
        mine = p(scores(next(path for path in paths if path.exists()))[:, rated])
        expected = 1 - np.abs(p(human[:, rated]) - mine).mean()
        assert spa_from_p(d.human_p, d.scorer_p[d.scorers.index(scorer)]) == pytest.approx(expected, abs=1e-12)


@pytest.fixture
def people_only(monkeypatch):
    """Leave the score files unread where a test is about ratings alone."""
    monkeypatch.setattr("whichbird.data.mtme._read_scorers", lambda *_: ({}, {}, []))


@pytest.mark.parametrize("name", ROUNDS)
def test_real_rounds(mtme_root, people_only, each_file_once, name):
    pool = read_mtme(mtme_root, name)
    assert len(pool.ratings) == 3
    for n, rating in enumerate(pool.ratings, start=1):
        one = read_mtme(mtme_root, name, rating=n)
        assert beta0(one.adequacy, one.fluency) == ROUNDS[name][n - 1]
        _, here, there = np.intersect1d(pool.lines, one.lines, return_indices=True)  # its own lines pass the half rule
        for what in ("adequacy", "fluency", "total", "raters"):
            mine, other = getattr(rating, what)[:, here], getattr(one, what)[:, there]
            assert np.array_equal(mine, other, equal_nan=what != "raters")
    every = read_mtme(mtme_root, name, rating="mean")
    assert beta0(every.adequacy, every.fluency) == ROUNDS[name][3]


@pytest.mark.parametrize("name", ["ende22", "ende23"])
def test_real_rounds_hold_what_the_rater_files_hold(mtme_root, name):
    source = DATASETS[name]
    human = Path(mtme_root)
    human = (human / TREE if (human / TREE).is_dir() else human) / source.set / "human-scores"
    rounds = read_ratings(human, source, "mean", Pricing())
    by_round = {
        (system, n, cell.rater): cell
        for system, row in zip(rounds.systems, rounds.every, strict=True)
        for n, cells in enumerate(row)
        for cell in cells
    }
    by_rater, pricing = {}, Pricing()
    for path in human.glob(f"{source.pair}.mqm.rater*.seg.rating"):
        who = path.name.removesuffix(".seg.rating").rpartition(".")[2]
        line: dict[str, int] = {}
        for row in path.read_text("utf-8").splitlines():
            system, text, *_ = row.split("\t")
            line[system] = line.get(system, -1) + 1
            if text != "None":
                by_rater[system, line[system], who] = pricing.read(text)._replace(rater=who)
    assert by_rater == by_round and len(by_rater) > 10_000


@pytest.mark.parametrize("name", DIFFERING)
def test_real_totals(mtme_root, people_only, each_file_once, name):
    """Official totals against the sums of our errors; in 2021 and 2022 the official ones charge source errors as well."""
    pool = read_mtme(mtme_root, name)
    pool = pick(pool, pool.annotated)
    sums = read_mtme(mtme_root, DATASETS[name]._replace(official=False)).total
    both = ~np.isnan(sums) & ~np.isnan(pool.total)
    differ = both & ~np.isclose(sums, pool.total, rtol=0, atol=1e-5)
    assert (differ.sum(), both.sum()) == DIFFERING[name]
    if (
        DATASETS[name].set == "wmt20"
    ):  # all three raters' errors are there, or some rater's are missing from the release
        complete = ~np.isnan(pool.ratings[2].total)
        assert not differ[complete].any() and complete.any()


def test_real_numbers_from_outside(mtme_root, people_only):
    """β0 measured elsewhere: enzh22 .9724 if non_translation is in no aspect; zhen20 .7504 if every rated line is kept."""
    moved = read_mtme(mtme_root, "enzh22", taxonomy=TAXONOMY.moved(neither=["non_translation"]))
    assert beta0(moved.adequacy, moved.fluency) == 0.9724
    source = DATASETS["zhen20"]
    human = Path(mtme_root)
    human = (human / TREE if (human / TREE).is_dir() else human) / source.set / "human-scores"
    ratings = read_ratings(human, source, "mean", Pricing())
    kept = [k for k, s in enumerate(ratings.systems) if not is_human(s) and ratings.present[k].any()]
    rows = [ratings.every[k] for k in kept]
    made = score([ratings.systems[k] for k in kept], rows, rows)
    assert beta0(made.adequacy, made.fluency) == 0.7504


@pytest.mark.parametrize("numbered", [True, False])
def test_real_ratings_as_a_raw_table(mtme_root, people_only, tmp_path, numbered):
    """The door of heen23 on a dataset whose ratings are there: ende23, written as such a table, gives the very same pool."""
    source = DATASETS["ende23"]
    folder = Path(mtme_root, TREE) if Path(mtme_root, TREE).is_dir() else Path(mtme_root)
    docs = [r.split("\t")[1] for r in (folder / source.set / "documents/en-de.docs").read_text("utf-8").splitlines()]
    place = [docs[:n].count(doc) + 1 for n, doc in enumerate(docs)]
    ratings = read_ratings(folder / source.set / "human-scores", source, "merged", Pricing())
    rows = [
        (system, docs[n], place[n], n + 1 if numbered else 0, cell.rater, mark.category, mark.severity)
        for system, line in zip(ratings.systems, ratings.counting, strict=True)
        for n, cells in enumerate(line)
        for cell in cells
        for mark in cell.marks or [Mark("no-error", "no-error", 0.0)]
    ]
    given = table(tmp_path, form("2023", rows))
    ours, direct = read_mtme(mtme_root, source._replace(ratings=False), errors=given), read_mtme(mtme_root, source)
    assert ours.systems == direct.systems and ours.lines.tolist() == direct.lines.tolist() and ours.notes == ()
    for what in ("adequacy", "fluency", "total", "raters"):
        assert np.array_equal(getattr(ours, what), getattr(direct, what))
    assert ours.errors.equals(direct.errors) and ours.rater_names == direct.rater_names
