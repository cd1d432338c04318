"""Where other people's ratings rank among the scorers: against the definition written out, and against what ships."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import whichbird as wb
from whichbird.data.digest import read_table
from whichbird.data.pool import Pool, Rating
from whichbird.study.ceiling import PERSON, _dealt, ceiling_table, ceilings, gold_pool, human_ceiling, rated_alike

SHIPPED = read_table("ceiling.csv")


def test_a_person_is_a_scorer_against_another_persons_rating():
    """ende23, written out: SPA of the second rating with the first as gold, and the rank among the dataset's scorers."""
    pool = wb.load_pool("ende23")
    first, second = (r.total for r in pool.ratings[:2])
    found = human_ceiling("ende23", resamples=20).table.set_index(["gold", "scorer"])
    spa = wb.spa(first, second, exact=pool.exact)
    assert found.loc[("rating 1", "rating 2"), "value"] == pytest.approx(spa, abs=1e-12)
    others = [wb.spa(first, x, exact=pool.exact) for x in (*pool.scorers.values(), pool.ratings[2].total)]
    assert found.loc[("rating 1", "rating 2"), "rank"] == 1 + sum(x > spa + 1e-12 for x in others)
    assert found.loc[("rating 1", "rating 2"), "best_value"] == pytest.approx(max(others[:-1]), abs=1e-12)


@pytest.mark.parametrize("meta, measure", [("acc_eq", wb.acc_eq), ("pdp", wb.pdp)])
def test_at_a_balance_weights_are_those_of_the_golds_own_aspects(meta, measure):
    pool = wb.load_pool("ende23")
    found = human_ceiling(pool, 0.93, meta, resamples=2).table
    for n, (gold, other) in enumerate([(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]):
        r = pool.ratings[gold]
        w = wb.reweight(r.adequacy.mean(axis=1), r.fluency.mean(axis=1), 0.93).weights
        assert found.loc[n, "value"] == pytest.approx(measure(r.total, pool.ratings[other].total, w), abs=1e-12)


def test_the_gold_is_never_among_the_scorers_nor_the_official_total():
    pool = wb.load_pool("ende22")
    for g in range(3):
        made = gold_pool(pool, g)
        assert PERSON.format(g + 1) not in made.scorers and len(made.scorers) == len(pool.scorers) + 2
        assert np.array_equal(made.total, pool.ratings[g].total) and not np.array_equal(made.total, pool.total)


@pytest.mark.parametrize("name", ["ende20", "ende22", "enzh22", "ende23", "zhen23"])
def test_raters_apart_have_nobody_in_common(name):
    pool = wb.load_pool(name)
    for dealt in _dealt(pool, 7):
        one, two = (set(np.unique(r.raters)) for r in dealt.ratings)
        assert not one & two and -1 not in one | two
        assert not any(np.isnan(r.total).any() for r in dealt.ratings)
        k = int(np.flatnonzero(pool.lines == dealt.lines[0])[0])  # each rating is one that people gave
        given = [tuple(r.total[:, k]) for r in pool.ratings]
        assert all(tuple(r.total[:, 0]) in given for r in dealt.ratings)


def test_a_sample_of_what_ships_is_made_again():
    shipped = SHIPPED.query("dataset == 'ende23' and meta == 'spa' and at == 'high'").reset_index(drop=True)
    found = human_ceiling("ende23", "high").table
    for column in ("value", "low", "high", "best_value", "lead", "lead_low", "lead_high", "beta", "rank"):
        assert np.allclose(found[column], shipped[column], rtol=1e-4, atol=1e-6), column
    apart = SHIPPED.query("dataset == 'ende20' and deal > 0").reset_index(drop=True)
    assert np.allclose(human_ceiling("ende20", apart=True).table["value"], apart["value"], rtol=1e-4)


def test_what_ships_says_what_the_chapter_says():
    spa = SHIPPED.query("meta == 'spa' and deal == 0")
    assert set(SHIPPED["dataset"]) == {"ende20", "zhen20", "ende22", "enzh22", "ende23", "zhen23"}
    assert (spa["above"] == 0).all()  # no scorer significantly better than a person
    first = spa.query("dataset == 'ende22'")
    assert (first["rank"] <= 2).all() and first["value"].between(0.91, 0.94).all() and (first["p_best"] < 0.05).all()


def test_a_table_has_a_row_per_gold_and_person_and_tests():
    rng = np.random.default_rng(3)
    truth = rng.integers(-5, 1, size=(2, 4, 60)) + np.array([0.0, 1, 2, 3])[:, None]
    ratings, raters = [], rng.permuted(np.tile(np.arange(3), (60, 1)), axis=1).T  # (3, 60)
    for who in raters:
        a, f = truth + rng.integers(-2, 3, size=truth.shape)
        ratings.append(Rating(a, f, a + f, np.tile(who, (4, 1))))
    mean = [np.mean([getattr(r, x) for r in ratings], axis=0) for x in ("total", "adequacy", "fluency")]
    pool = Pool("made", tuple("abcd"), np.arange(60), 60, *mean, {"bad": rng.normal(size=(4, 60))},
                documents=tuple(str(n // 3) for n in range(60)), ratings=tuple(ratings), rater_names=("x", "y", "z"))  # fmt: skip
    table = ceiling_table(pool, resamples=20)
    assert table.query("meta == 'spa' and deal == 0").groupby(["at", "gold"]).size().eq(2).all()
    assert table.query("meta == 'spa' and deal == 0 and at == 'natural'")["rank"].max() <= 2
    assert set(table["meta"]) == {"spa", "acc_eq", "pdp"} and table["above"].dropna().eq(0).all()
    assert ceilings(pool, None, "acc_eq")[0]["meta"].tolist() == ["spa", "acc_eq"]
    assert ceiling_table(replace(pool, ratings=())) is None


def test_what_cannot_be_known_is_said():
    with pytest.raises(wb.DataError, match="one rating a cell"):
        human_ceiling("ende24")
    with pytest.raises(ValueError, match="unknown meta-metric"):
        human_ceiling("ende23", meta="spam")
    assert ceilings(wb.load("ende24"), None, "spa") == (None, "")
    table, why = ceilings(wb.load_pool("ende23"), 1e-9, "spa")
    assert table is None and why.startswith("no human ceiling: ") and "\n" not in why
    pool = wb.load_pool("zhen23")
    gaps = tuple(
        r._replace(total=np.where(np.arange(15)[:, None] == n, np.nan, r.total)) for n, r in enumerate(pool.ratings)
    )
    with pytest.raises(wb.DataError, match="no line on which every translation"):
        rated_alike(replace(pool, ratings=gaps))


def test_the_mean_is_over_golds_and_people():
    found = human_ceiling("ende20", resamples=20)
    assert found.value == pytest.approx(found.table["value"].mean()) and found.low < found.value < found.high
    assert found.best == pytest.approx(found.table.groupby("gold")["best_value"].first().mean())
    assert isinstance(found.table, pd.DataFrame) and "gold:3 ratings in turn" in found.signature
