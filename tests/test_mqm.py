"""An error's price and aspect, on the tables that ship and on a reader's own."""

import numpy as np
import pandas as pd
import pytest

import whichbird as wb
from whichbird.data import mqm
from whichbird.data.mqm import ASPECTS, TAXONOMY, WEIGHTS, Tally, Taxonomy, Weights, aspect_means, coverage, plain
from whichbird.data.ratings import error_table
from whichbird.data.registry import DATASETS


def test_every_shipped_category_and_severity_is_known():
    errors = wb.load_errors()
    assert len(errors) > 3000
    assert {c for c in errors["category"].unique() if TAXONOMY.aspect(c) is None} == set()
    assert {s for s in errors["severity"].unique() if s not in WEIGHTS.severities} == set()
    assert all(c == plain(c) for c in errors["category"].unique())


def test_every_shipped_penalty_is_the_count_times_the_price():
    errors = wb.load_errors()
    errors = errors[
        ~errors["dataset"].map(lambda name: DATASETS[name].rating == "mean")
    ]  # there a mark costs its share
    price = [WEIGHTS.penalty(c, s) for c, s in zip(errors["category"], errors["severity"], strict=True)]
    # the table prints ten significant digits, so a product such as 3 × 0.1 agrees to that precision
    assert np.allclose(errors["penalty"], errors["count"] * np.array(price), rtol=1e-9, atol=0)
    free = errors["category"].isin(["source error", "source issue", "accuracy/creative reinterpretation"])
    assert free.any() and (errors.loc[free, "penalty"] == 0).all()


@pytest.mark.parametrize("name", [d for d in DATASETS if d != "heen23"])
def test_shipped_errors_give_the_shipped_means(name):
    d = wb.load(name)
    means = aspect_means(wb.load_errors(name), d.rated, d.systems)
    # both are sums of some hundred prices in another order; shares of a price are no decimals, and the table prints ten digits
    near = 1e-9 if DATASETS[name].rating == "mean" else 1e-12
    assert np.allclose(means["adequacy"], d.adequacy, rtol=near, atol=0)
    assert np.allclose(means["fluency"], d.fluency, rtol=near, atol=0)


@pytest.mark.parametrize(
    "category, severity, cost, aspect",
    [
        ("Accuracy/Mistranslation", "Major", 5, "adequacy"),
        ("Accuracy/Mistranslation", "critical", 5, "adequacy"),
        ("Fluency/Punctuation", "Minor", 0.1, "fluency"),
        ("Fluency/Punctuation", "Major", 5, "fluency"),
        ("Punctuation", "minor", 0.1, "fluency"),
        ("Fluency/Grammar", "Neutral", 0, "fluency"),
        ("Non-translation!", "Major", 25, "adequacy"),
        ("Non-translation", "Major", 25, "adequacy"),
        ("non_translation", "major", 25, "adequacy"),
        ("Source issue", "Major", 0, "neither"),
        ("Source_Error", "minor", 0, "neither"),
        ("Accuracy/Creative Reinterpretation", "Major", 0, "adequacy"),
        ("Other", "Minor", 1, "neither"),
        ("Terminology/Inappropriate for context", "minor", 1, "fluency"),
        ("wrong_term", "minor", 1, "adequacy"),
        ("Locale convention/Currency format", "minor", 1, "fluency"),
        ("No-error", "No-error", 0, "neither"),
    ],
)
def test_prices_and_aspects(category, severity, cost, aspect):
    assert WEIGHTS.penalty(category, severity) == cost
    assert TAXONOMY.aspect(category) == aspect


@pytest.mark.parametrize(
    ("core", "wmt"),
    [
        ("Terminology/Inconsistent with terminology resource", "terminology/inconsistent"),
        ("Terminology/Wrong term", "wrong term"),
        ("Accuracy/Over-translation", "accuracy/mistranslation"),
        ("Under-translation", "mistranslation"),
        ("Accuracy", "accuracy/mistranslation"),
        ("Linguistic conventions/Grammar", "fluency/grammar"),
        ("Linguistic_Conventions/Punctuation", "fluency/punctuation"),
        ("Linguistic conventions/Unintelligible", "fluency/grammar"),
        ("Unintelligible", "fluency/grammar"),
        ("Style/Unidiomatic style", "style/awkward"),
        ("Locale conventions/Date format", "locale convention/date format"),
        ("Locale conventions", "locale convention/date format"),
        ("Audience appropriateness/Culture-specific reference", "culture-specific reference"),
        ("Audience appropriateness/Offensive", "style/awkward"),
        ("Design and markup/Truncation/text expansion", "markup tag"),
    ],
)
def test_mqm_core_names(core, wmt):
    """The names of MQM-Core are sorted and priced as the same errors are under WMT's names, by every grouping that ships."""
    for grouping in map(wb.load_taxonomy, wb.taxonomies()):
        if (grouping.name, core) != ("terminology", "Terminology/Wrong term"):
            assert grouping.taxonomy.aspect(core) == grouping.taxonomy.aspect(wmt) is not None
        for severity in ("Major", "Minor", "Neutral"):
            assert grouping.weights.penalty(core, severity) == grouping.weights.penalty(wmt, severity)


def test_what_ships_is_sorted_and_priced_by_its_own_names(monkeypatch):
    """MQM-Core names came later: no category of the datasets is looked up by one."""
    errors = wb.load_errors()
    asked = [
        (TAXONOMY.aspect(c), WEIGHTS.penalty(c, s)) for c, s in zip(errors["category"], errors["severity"], strict=True)
    ]
    monkeypatch.setattr(mqm, "CORE", {})
    own = [
        (TAXONOMY.aspect(c), WEIGHTS.penalty(c, s)) for c, s in zip(errors["category"], errors["severity"], strict=True)
    ]
    assert asked == own and all(aspect is not None for aspect, _ in own)


def test_shares_that_count():
    """Errors of neither aspect do not count, but are known; those that cost nothing only because nobody knows a cost are not."""

    def table(*rows):
        return error_table([("x", *row) for row in rows])

    plain = table(("accuracy/omission", "major", 3, 15.0), ("other", "major", 1, 5.0))
    assert coverage(plain) == (0.75, 0.75, 0.0, 0.0) and coverage(plain).enough
    for lost in (("gremlins", "major", 1, 5.0), ("other", "dreadful", 1, 0.0)):
        assert coverage(table(("accuracy/omission", "major", 4, 20.0), lost)).enough  # a fifth of either
        assert not coverage(table(("accuracy/omission", "major", 3, 15.0), lost)).enough
    assert not coverage(
        table(("style/awkward", "minor", 9, 9.0), ("gremlins", "major", 1, 5.0))
    ).enough  # by weight alone
    assert coverage(table(("accuracy/omission", "dreadful", 1, 5.0))) == (1.0, 1.0, 0.0, 0.0)  # its file has a cost
    assert coverage(table()) == coverage(table(("style/awkward", "neutral", 2, 0.0))) == (1.0, 1.0, 0.0, 0.0)


def test_the_heaviest_unknown_label_comes_first():
    tally = Tally()
    for category, times, points in (("aardvark", 9, 9.0), ("gremlins", 2, 10.0), ("zebra", 30, 3.0)):
        tally.aspect(category, times, points)
    said = tally.report()
    assert said.index("gremlins") < said.index("aardvark") < said.index("zebra")


def test_unknown_is_none_for_the_tables_and_counted_by_the_tally():
    assert TAXONOMY.aspect("Accurate") is None  # a prefix ends with its slash
    assert TAXONOMY.aspect("terminology/other") is None
    assert WEIGHTS.penalty("other", "dreadful") is None
    tally = Tally()
    for _ in range(3):
        assert tally.aspect("gremlins") == "neither"
    assert tally.penalty("other", "dreadful") == 0
    assert tally.unknown == {"category 'gremlins'": 3, "severity 'dreadful'": 1}
    assert "3 × category 'gremlins'" in tally.report() and "1 × severity 'dreadful'" in tally.report()
    tally.aspect("gremlins", times=4)
    tally.penalty("other", "dreadful", times=2)
    assert tally.unknown == {"category 'gremlins'": 7, "severity 'dreadful'": 3}
    assert Tally().report() == ""


def test_a_reader_may_spell_tables_as_the_files_do():
    own = Taxonomy({"Wrong_Term": "fluency"}, {"Accuracy/": "adequacy", "accuracy/Omission": "fluency"})
    assert own.aspect("wrong term") == "fluency"
    assert own.aspect("Accuracy/Addition") == "adequacy"
    assert own.aspect("Accuracy/Omission of verb") == "fluency"  # the longest prefix
    prices = Weights({"Major": 10, "Minor": 2}, {"Non-Translation!": 50}, {("Fluency/Punctuation", "Minor"): 0.5})
    assert prices.penalty("other", "major") == 10
    assert prices.penalty("non-translation!", "minor") == 50
    assert prices.penalty("fluency/punctuation", "minor") == 0.5


def test_moved_leaves_the_rest():
    moved = TAXONOMY.moved(neither=["Style/Awkward"], adequacy=["grammar"])
    assert [moved.aspect(c) for c in ("style/awkward", "style/other", "grammar")] == ["neither", "fluency", "adequacy"]
    assert TAXONOMY.aspect("grammar") == "fluency"


def test_tables_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="'grammar'.*'beauty'"):
        Taxonomy({"grammar": "beauty"}, {})
    for cost in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="'major' is given the cost"):
            Weights({"major": cost})


def test_aspect_means_by_hand():
    errors = pd.DataFrame(
        {
            "system": ["x", "x", "x", "y"],
            "category": ["accuracy/omission", "other", "gremlins", "grammar"],
            "penalty": [5.0, 1.0, 2.0, 0.5],
        }
    )
    out = aspect_means(errors, [2, 4], ["y", "x"])
    assert list(out.columns) == list(ASPECTS) and list(out.index) == ["y", "x"]
    assert out.to_numpy().tolist() == [[0, -0.25, 0], [-1.25, 0, -0.75]]
    swapped = aspect_means(errors, [2, 4], ["y", "x"], TAXONOMY.moved(fluency=["other"], adequacy=["grammar"]))
    assert swapped.to_numpy().tolist() == [[-0.25, 0, 0], [-1.25, -0.25, -0.5]]
    nothing = aspect_means(errors.iloc[:0], [2, 4], ["y", "x"])
    assert nothing.to_numpy().tolist() == [[0, 0, 0]] * 2
