"""Reading trees and tables: the rules on a tree checked by hand, and a sentence for every bad one."""

import re
import warnings

import numpy as np
import pytest
import tinytree
from tinytree import ADEQUACY, FLUENCY, GOOD, KEPT, MAJOR, MINOR, RATINGS, SCORERS, SOURCE, TOTALS

from whichbird import DataError, Pool, read_mqm_tsv, read_mtme
from whichbird.data.mqm import TAXONOMY, Weights, aspect_means
from whichbird.data.mtme import is_human, read_scores
from whichbird.data.pool import system_means
from whichbird.data.registry import DATASETS

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
        pool = read_mtme(tree, SOURCE, weights=weights)
    assert pool.notes[-1].startswith("not in the tables: 1 × category 'gremlins'")
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
    human = ("ref", "refA", "refD", "ref.A", "ref-b", "synthetic_ref", "Human-A.0", "human", "HUMAN.B")
    assert [s for s in human if not is_human(s)] == []
    systems = ("Refract-MT", "reflex", "Humane", "NLLB_MBR_BLEU", "prefA", "synthetic_refs")
    assert [s for s in systems if is_human(s)] == []


# One file per rater


def raters(tree, **ratings):
    (tree / RATED).unlink()
    for rater, rows in ratings.items():
        path = tree / f"tiny/human-scores/xx-yy.mqm.{rater}.seg.rating"
        path.write_text(tinytree.lines(rows, lambda c, r=rater: f"{tinytree.rating(c)}\t{r}"))


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
    with pytest.raises(DataError, match="rater2.seg.rating: system 'alpha', source line 2 is rated in .*rater1.seg.rating too"):
        read_mtme(tree, SOURCE)
    with pytest.raises(DataError, match="rater2.seg.rating: system 'alpha', source line 3 is rated"):
        read_mtme(tree, SOURCE._replace(prefer=((1, 1, "rater2"),)))
    pool = read_mtme(tree, SOURCE._replace(prefer=((1, 1, "rater2"), (2, 2, "rater1"))))
    assert pool.adequacy.tolist() == [[-5, -5, 0], [-1, -5, 0], [0, -5, -6]]


def test_rater_files_of_unequal_length(tree):
    short = {"beta": RATINGS["beta"][:3]}
    raters(tree, rater1={s: c for s, c in RATINGS.items() if s != "beta"}, rater2=short)
    with pytest.raises(DataError, match="rater2.seg.rating: system 'beta' has 3 lines where .*rater1.seg.rating has 4"):
        read_mtme(tree, SOURCE)


# Bad trees


def test_unknown_dataset(tmp_path):
    with pytest.raises(DataError, match="unknown dataset 'ende42'; known are ende20, zhen20, ende21"):
        read_mtme(tmp_path, "ende42")
    assert len(DATASETS) == 16


def test_missing_root(tmp_path):
    with pytest.raises(DataError, match="nowhere: no such folder; unpack an mt-metrics-eval-v2 release there, or let"):
        read_mtme(tmp_path / "nowhere", SOURCE)


@pytest.mark.parametrize("file", [RATED, TOTAL])
def test_missing_file(tree, file):
    (tree / file).unlink()
    with pytest.raises(DataError, match=f"{file}: no such file; unpack an mt-metrics-eval-v2 release there, or let"):
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
    with pytest.raises(DataError, match=f"{re.escape(file)}: line 6 has the score '{score}'; a finite number or None"):
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
    values = [0.1, 1 / 3, -2.5e-17, 123456789.12345678, 5e-324, 1.7976931348623157e308]
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
    ],
)
def test_ratings_that_are_no_list_of_errors(tree, text):
    path = tree / RATED
    rows = path.read_text().splitlines(keepends=True)
    rows[2] = f"gamma\t{text}\trater1\n"
    path.write_text("".join(rows))
    with pytest.raises(DataError, match=f"{re.escape(RATED)}: line 3 is not a list of errors in JSON with category,"):
        read_mtme(tree, SOURCE)


def test_files_of_unequal_length(tmp_path):
    longer = {s: [*row, 0] for s, row in TOTALS.items()}
    with pytest.raises(DataError, match="ratings have 4 lines per system, xx-yy.mqm.seg.score has 5; both must cover"):
        read_mtme(tinytree.write(tmp_path, totals=longer), SOURCE)
    tinytree.write(tmp_path, scorers={"good-refA": {s: row[:3] for s, row in GOOD.items()}})
    with pytest.raises(DataError, match="good-refA.seg.score: 3 lines per system where the human scores have 4"):
        read_mtme(tmp_path, SOURCE)


def test_unknown_and_missing_systems(tmp_path):
    tree = tinytree.write(tmp_path, scorers=SCORERS | {"good-refA": GOOD | {"omega": [1, 2, 3, 4]}})
    with pytest.raises(DataError, match="good-refA.seg.score: system 'omega' is in no human score file of this pair"):
        read_mtme(tree, SOURCE)
    tinytree.write(tmp_path, scorers={"good-refA": GOOD | {"refC": [1, 2, 3, 4]}})  # another reference is no stranger
    assert "good" in read_mtme(tree, SOURCE).scorers
    tinytree.write(tmp_path, totals={s: row for s, row in TOTALS.items() if s != "beta"})
    with pytest.raises(DataError, match="xx-yy.mqm.seg.score: system 'beta' is missing; the ratings name it"):
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
        pool = read_mqm_tsv(path)
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
