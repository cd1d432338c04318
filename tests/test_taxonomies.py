"""Other groupings of errors: those that ship, those of a reader, and what follows from counts of errors alone."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import whichbird as wb
from whichbird.data.mqm import ASPECTS, TAXONOMY, WEIGHTS, aspect_means
from whichbird.data.registry import DATASETS
from whichbird.data.taxonomies import PAPER, Grouping

RATED = wb.datasets(aspects=True)
CATEGORIES = sorted(wb.load_errors()["category"].unique())


def written(tmp_path, text, name="mine.toml"):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


# --- those that ship


def test_the_papers_file_is_the_papers_tables():
    g = wb.load_taxonomy(PAPER)
    assert wb.taxonomies()[0] == PAPER
    assert (g.taxonomy, g.weights, g.said) == (TAXONOMY, WEIGHTS, frozenset())
    assert g.notes(CATEGORIES) == []


@pytest.mark.parametrize("name", wb.taxonomies())
def test_a_shipped_grouping_says_what_it_is_and_changes_only_what_it_says(name):
    g = wb.load_taxonomy(name)
    assert g.name == name and g.title != name and g.why
    for category in CATEGORIES:
        inherited = not any(category.startswith(s[:-1]) if s[-1] == "*" else category == s for s in g.said)
        assert g.taxonomy.aspect(category) in ASPECTS
        assert not inherited or g.taxonomy.aspect(category) == TAXONOMY.aspect(category)


def test_every_shipped_grouping_moves_some_dataset():
    """A file whose categories no dataset has would do nothing, and nobody would notice."""
    for name in wb.taxonomies()[1:]:
        moved = [wb.balance(*wb.regroup(wb.load(d), name)) - wb.balance(*wb.load(d).aspects) for d in RATED]
        assert np.abs(moved).max() > 1e-4, name


@pytest.mark.parametrize("name", RATED)
def test_the_papers_grouping_gives_the_shipped_means(name):
    d = wb.load(name)
    a, f = wb.regroup(d, PAPER)
    near = (
        1e-9 if DATASETS[name].rating == "mean" else 1e-12
    )  # shares of a price are no decimals; the table prints ten digits
    assert np.allclose(a, d.adequacy, rtol=near, atol=0) and np.allclose(f, d.fluency, rtol=near, atol=0)


def test_a_pool_and_its_digest_regroup_alike():
    for name in ("ende21", "zhen20"):  # one rating a cell; a mean over raters
        for g in ("terminology", "severity-equal"):
            pair = zip(wb.regroup(wb.load_pool(name), g), wb.regroup(wb.load(name), g), strict=True)
            assert all(np.allclose(x, y, rtol=1e-9, atol=0) for x, y in pair)


def test_what_a_grouping_does_by_hand():
    """Two systems, counts and prices small enough to add up."""
    rows = [
        ("x", "accuracy/omission", "major", 1, 5.0),
        ("x", "terminology/inconsistent", "minor", 3, 3.0),
        ("y", "fluency/punctuation", "minor", 4, 0.4),
        ("y", "non-translation!", "major", 1, 25.0),
        ("y", "source error", "minor", 2, 0.0),
        ("y", "style/awkward", "major", 1, 5.0),
    ]
    pool = pool_of(pd.DataFrame(rows, columns=["system", "category", "severity", "count", "penalty"]))
    expected = {  # sums of points over two segments; adequacy of x and y, fluency of x and y
        "paper": [5, 25, 3, 5.4],
        "terminology": [8, 25, 0, 5.4],
        "style-apart": [5, 25, 3, 0.4],
        "non-translation-5": [5, 5, 3, 5.4],
        "source-in": [5, 27, 3, 5.4],
        "severity-1-5": [5, 5, 3, 9],
        "severity-1-10": [10, 25, 3, 10.4],
        "severity-equal": [1, 1, 3, 5],
    }
    for name, points in expected.items():
        assert np.allclose(np.concatenate(wb.regroup(pool, name)), -np.array(points) / 2, rtol=1e-12, atol=0), name


def pool_of(errors, systems=("x", "y")):
    """A pool of two segments whose error table is given; its segment scores are made up."""
    made = -np.arange(1.0, 5.0).reshape(2, 2)
    return wb.Pool("mine", systems, np.arange(2), 2, made, made, made, errors=errors)


@pytest.mark.parametrize(
    "name, grouping", [("ende21", "source-in"), ("zhen20", "severity-equal"), ("enes24", "agreement-fluency")]
)
def test_counts_give_what_the_release_gives(mtme_root, monkeypatch, name, grouping):
    """Differential: the counts that ship, against the release's ratings read by the grouping (all pairs were compared once)."""
    monkeypatch.setattr("whichbird.data.mtme._read_scorers", lambda *_: ({}, {}, []))  # people only, for speed
    g = wb.load_taxonomy(grouping)
    read = wb.read_mtme(mtme_root, name, taxonomy=g.taxonomy, weights=g.weights).aspects
    assert all(np.allclose(x, y, rtol=1e-8, atol=0) for x, y in zip(wb.regroup(wb.load(name), g), read, strict=True))


# --- a reader's own


def test_a_star_reaches_all_that_begins_so_and_the_longer_label_wins(tmp_path):
    text = '[aspects]\nadequacy = ["*", "Style/Bad_Sentence Structure"]\nfluency = ["style/*"]\nneither = ["Omission"]'
    g = wb.load_taxonomy(written(tmp_path, text))
    found = [g.taxonomy.aspect(c) for c in ("grammar", "fluency/spelling", "brand-new", "style/awkward", "omission")]
    assert found == ["adequacy", "adequacy", "adequacy", "fluency", "neither"]
    assert g.taxonomy.aspect("style/bad sentence structure") == "adequacy"
    assert (g.name, g.title, g.why) == ("mine", "mine", "")


def test_what_is_inherited_unknown_or_in_vain_is_said(tmp_path):
    g = wb.load_taxonomy(written(tmp_path, '[aspects]\nfluency = ["tone", "acuracy/*"]'))
    assert g.notes(["Tone", "Grammar", "gremlins"]) == [
        "mine does not mention 'grammar': as in the paper's taxonomy",
        "mine mentions 'acuracy/*', which the data do not have",
    ]
    priced = wb.load_taxonomy(written(tmp_path, '[categories]\n"style/akward" = 2\n"style/awkward" = 3'))
    assert priced.notes(["style/awkward"]) == ["mine mentions 'style/akward', which the data do not have"]
    assert (
        wb.load_taxonomy("locale-apart")
        .notes(["Locale conventions/Date format"])[0]
        .startswith("locale-apart mentions 'culture-specific reference'")
    )  # found under the name that MQM-Core gives it
    many = g.notes(["tone", *CATEGORIES])[0]
    assert many.endswith(f" and {len(CATEGORIES) - 4} more: as in the paper's taxonomy")


HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"


def table(tmp_path, *errors):
    """A raw table: (system, segment, category, severity) each."""
    rows = "".join(f"{s}\td\t{n}\t{n}\tr1\t\t\t{c}\t{v}\n" for s, n, c, v in errors)
    return written(tmp_path, HEADER + rows, "mqm.tsv")


def test_own_ratings_are_read_by_a_grouping(tmp_path):
    path = table(
        tmp_path,
        ("x", 1, "terminology/inconsistent", "major"),
        ("x", 2, "style/awkward", "minor"),
        ("y", 1, "accuracy/omission", "minor"),
        ("y", 2, "other", "major"),
    )
    g = wb.load_taxonomy("terminology")
    pool = g.check(wb.read_mqm_tsv(path, g.taxonomy, g.weights))
    assert pool.adequacy.tolist() == [[-5, 0], [-1, 0]] and pool.fluency.tolist() == [[0, -1], [0, 0]]
    regrouped = wb.regroup(wb.read_mqm_tsv(path), g)
    assert all(np.array_equal(x, y) for x, y in zip(regrouped, pool.aspects, strict=True))


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(wb.taxonomies()),
    st.lists(
        st.tuples(
            st.sampled_from("xyz"), st.integers(1, 4), st.integers(1, 3), st.sampled_from(CATEGORIES),
            st.sampled_from(["major", "minor", "neutral"]),
        ),
        min_size=1, max_size=25,
    ),
)  # fmt: skip
def test_counts_give_what_the_ratings_give(tmp_path_factory, name, errors):
    """Differential: reading by a grouping, against regrouping the counts of what was read by the paper's."""
    raters = {r for *_, r, _, _ in errors}
    every = [
        (s, n, r, "no-error", "no-error") for s in "xyz" for n in range(1, 5) for r in raters
    ]  # equally many ratings
    rows = "".join(f"{s}\td\t{n}\t{n}\tr{r}\t\t\t{c}\t{v}\n" for s, n, r, c, v in [*errors, *every])
    path = written(tmp_path_factory.mktemp("t"), HEADER + rows, "mqm.tsv")
    g = wb.load_taxonomy(name)
    read = wb.read_mqm_tsv(path, g.taxonomy, g.weights).aspects
    try:
        made = wb.regroup(wb.read_mqm_tsv(path), g)
    except wb.DataError:
        # an aspect without a point, or free errors in a table in which nothing else says what share of a price they cost
        assert not (read[0].any() and read[1].any()) or not wb.read_mqm_tsv(path).errors["penalty"].any()
        return
    assert all(np.allclose(x, y, rtol=1e-9, atol=1e-12) for x, y in zip(made, read, strict=True))


# --- refusals


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("aspect = 3", "unknown key 'aspect'; did you mean 'aspects'?"),
        ('[aspects]\nadequcy = ["other"]', "unknown aspect 'adequcy'; did you mean 'adequacy'?"),
        ('[aspects]\nqqq = ["other"]', "unknown aspect 'qqq'; there are adequacy, fluency, neither"),
        ('[aspects]\nadequacy = "other"', "adequacy is 'other'; a list of categories is expected"),
        ("[aspects]\nadequacy = [1]", r"adequacy is \[1\]; a list of categories is expected"),
        ('[aspects]\nadequacy = ["a*b"]', "'a\\*b' has a star inside; it can only stand at the end"),
        (
            '[aspects]\nadequacy = ["Other"]\nfluency = ["other"]',
            "'other' is given to adequacy and to fluency; one aspect is expected",
        ),
        ('[aspects]\nneither = ["*"]', "it leaves adequacy empty; some category that costs points must belong there"),
        ('[aspects]\nadequacy = ["*"]', "it leaves fluency empty; some category that costs points must belong there"),
        ("severities = 5", r"severities is 5; a table \[severities\] is expected"),
        ("[severities]\nmajor = true", "'major' is given the cost True; a number of at least 0 is expected"),
        ("[severities]\nmajor = -1", "'major' is given the cost -1.0; a finite number of at least 0 is expected"),
        ("[severities]\nmajor = nan", "'major' is given the cost nan; a finite number of at least 0 is expected"),
        ('[categories]\nother = "free"', "'other' is given the cost 'free'; a number of at least 0 is expected"),
        ("[pairs]\nother = 1", "pairs.other is 1; a table of severities and costs is expected"),
        ('[categories]\n"style/*" = 0', r"'style/\*' in categories has a star; prices go by whole names"),
        ('[pairs."style/*"]\nminor = 0', r"'style/\*' in pairs has a star; prices go by whole names"),
        ('[pairs."style/awkward"]\nmnor = 0', "unknown severity 'mnor'; did you mean 'minor'"),
        ('[pairs."source error"]\nminor = 1', "'source error' costs 0 at every severity, so no pair can price it"),
        ("[severities]\nMajor = 7\nmajor = 8", "'major' is twice in severities; one price is expected"),
        (
            '[categories]\nsource_error = 3\n"source error" = 4',
            "'source error' is twice in categories; one price is expected",
        ),
        (f"[severities]\nmajor = 1{'0' * 400}", "'major' is given a cost too large for a number"),
        (f"title = {'[' * 5000}{']' * 5000}", "brackets inside brackets, too deep to be read"),
        ("title = 1", "title is 1; text is expected"),
        ("title = ", "not TOML: "),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(tmp_path, text, sentence):
    with pytest.raises(wb.DataError, match=f"mine.toml: {sentence}"):
        wb.load_taxonomy(written(tmp_path, text))


def test_an_unknown_name_is_one_sentence(tmp_path):
    with pytest.raises(wb.DataError, match="^unknown taxonomy 'terminolgy'; did you mean 'terminology'"):
        wb.load_taxonomy("terminolgy")
    with pytest.raises(wb.DataError, match="nowhere.toml: no such file"):
        wb.load_taxonomy(tmp_path / "nowhere.toml")
    with pytest.raises(ValueError, match="^None is no taxonomy.*paper"):
        wb.regroup(wb.load("ende21"), None)
    with pytest.raises(ValueError, match="^None is no dataset"):
        wb.regroup(None, PAPER)


def test_data_that_leave_an_aspect_empty_are_refused(tmp_path):
    path = table(tmp_path, ("x", 1, "style/awkward", "major"), ("y", 1, "accuracy/omission", "minor"))
    g = wb.load_taxonomy("style-apart")
    with pytest.raises(wb.DataError, match="mqm.tsv: style-apart leaves fluency empty"):
        g.check(wb.read_mqm_tsv(path, g.taxonomy, g.weights))
    with pytest.raises(wb.DataError, match="mqm.tsv: style-apart leaves fluency empty"):
        wb.regroup(wb.read_mqm_tsv(path), g)


def test_prices_that_counts_do_not_tell_are_refused(tmp_path):
    """In 2020 some cells have three ratings and some have fewer: what share of a mean a neutral error would cost is not known."""
    g = wb.load_taxonomy(written(tmp_path, "[severities]\nneutral = 1"))
    with pytest.raises(wb.DataError, match="zhen20: mine.*'neutral'"):
        wb.regroup(wb.load("zhen20"), g)
    a, f = wb.regroup(wb.load("enzh22"), "source-in")  # three ratings of every cell
    shipped = wb.load("enzh22")
    some = wb.load_errors("enzh22").query("category == 'source error'")
    points = (some["count"] * some["severity"].map({"major": 5, "minor": 1}) / 3).groupby(some["system"]).sum()
    extra = points.reindex(list(shipped.systems), fill_value=0).to_numpy() / shipped.rated
    assert np.allclose(a, shipped.adequacy - extra, rtol=1e-9) and np.allclose(f, shipped.fluency, rtol=1e-9)


def test_a_pool_at_other_prices_is_refused():
    errors = pd.DataFrame(
        [("x", "style/awkward", "minor", 1, 7.0)], columns=["system", "category", "severity", "count", "penalty"]
    )
    with pytest.raises(wb.DataError, match="mine was not read at the paper's prices"):
        wb.regroup(pool_of(errors), PAPER)


def test_a_pool_at_lower_prices_is_refused_and_its_own_prices_are_not(tmp_path):
    """With one rating a cell an error costs its whole price; with two, at least half of it."""
    path = table(tmp_path, ("x", 1, "accuracy/omission", "major"), ("y", 1, "style/awkward", "minor"))
    cheap = wb.load_taxonomy(written(tmp_path, "[severities]\nmajor = 2"))
    with pytest.raises(wb.DataError, match="mqm.tsv was not read at the paper's prices"):
        wb.regroup(wb.read_mqm_tsv(path, cheap.taxonomy, cheap.weights), PAPER)
    assert wb.regroup(wb.read_mqm_tsv(path), cheap)[0].tolist() == [-2, 0]
    path.write_text(path.read_text("utf-8") + "x\td\t1\t1\tr2\t\t\tno-error\tno-error\n", "utf-8")
    assert wb.regroup(wb.read_mqm_tsv(path), cheap)[0].tolist() == [-1, 0]


def test_without_ratings_there_is_nothing_to_group():
    for source in (wb.load("heen23"), wb.load_pool("heen23")):
        with pytest.raises(wb.DataError, match="heen23 has no ratings of errors to group"):
            wb.regroup(source, PAPER)
    with pytest.raises(wb.DataError, match="heen23 has no ratings of errors to group"):
        wb.load_taxonomy(PAPER).check(wb.load_pool("heen23"))


def test_a_grouping_is_two_tables():
    g = wb.load_taxonomy("other-fluency")
    assert isinstance(g, Grouping)
    d = wb.load("ende23")
    means = aspect_means(wb.load_errors("ende23"), d.rated, d.systems, TAXONOMY.moved(fluency=["other"]))
    a, f = wb.regroup(d, g)
    assert np.array_equal(a, means["adequacy"]) and np.array_equal(f, means["fluency"])
