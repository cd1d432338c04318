"""Pools of other fields: they load like the others, and their balances are those of a script that reads the raw files without the library."""

import csv
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import whichbird as wb
from whichbird.study import verdict
from whichbird_book import explorer, laboratory

# computed from the raw JSON and CSV files with plain Python
BALANCES = {
    "bio_deen": 0.8970, "bio_ende": 0.0003, "bio_enes": 0.6203, "bio_enfr": 0.6825, "bio_enru": 0.9711, "bio_enzh": 0.7441,
    "bio_esen": 0.9641, "bio_fren": 0.9766, "bio_ruen": 0.9924, "bio_zhen": 0.6682, "hanna": 0.3292,
}  # fmt: skip
LOWER_CASED = [f"Huawei_AGI_run{n}" for n in (1, 2, 3)]
WITHOUT = {
    ("bio_deen", *LOWER_CASED): 0.9891, ("bio_zhen", *LOWER_CASED): 0.9253, ("bio_ende", *LOWER_CASED): 0.0015,
    ("bio_ende", *LOWER_CASED, "TMT_run1"): 0.7134, ("bio_enes", "TMT_run1"): 0.9875, ("bio_enes", "talp_upc_run1"): 0.4195,
    ("hanna", "HINT"): 0.5505,
}  # fmt: skip
COMPLETE = {
    "bio_ende": (471, 516),
    "bio_enes": (351, 486),
    "bio_enru": (354, 354),
}  # segments with all texts, and in all


def test_other_fields_are_listed_apart():
    assert len(wb.datasets()) == 16 and not set(wb.datasets()) & set(BALANCES)
    assert wb.datasets(field="biomedical") + wb.datasets(field="stories") == list(BALANCES)
    assert wb.datasets(field="stories", paper=True) == wb.datasets(field="stories", aspects=False) == []
    with pytest.raises(ValueError, match="unknown field 'law'; one of biomedical, stories"):
        wb.datasets(field="law")


@pytest.mark.parametrize("name", BALANCES)
def test_digest_and_segments_agree(name):
    d, pool = wb.load(name), wb.load_pool(name)
    assert wb.balance(*pool.aspects) == pytest.approx(BALANCES[name], abs=6e-5)
    assert all(np.allclose(x, y) for x, y in zip(d.aspects, pool.aspects, strict=True))
    assert d.aspect_names == pool.aspect_names and list(d.scorers) == list(pool.scorers)
    tested, stored = pool.tested(), d.tested()
    assert np.array_equal(tested.human, stored.human) and np.array_equal(tested.scorers, stored.scorers)
    assert tested.exact == stored.exact and wb.rank(name).table["spa"].between(0, 1).all()


@pytest.mark.parametrize("away", WITHOUT)
def test_without_some_systems(away):
    name, *systems = away
    assert wb.balance(*wb.load(name).without(*systems).aspects) == pytest.approx(WITHOUT[away], abs=6e-5)


@pytest.mark.parametrize("name", COMPLETE)
def test_scorers_stand_where_all_texts_are_known(name):
    pool, (complete, every) = wb.load_pool(name), COMPLETE[name]
    assert (pool.official.sum(), pool.annotated.sum()) == (complete, every)
    assert len(pool.scorers) == 8 and all(np.isnan(x[:, ~pool.official]).all() for x in pool.scorers.values())
    assert not any(np.isnan(x).any() for x in pool.scored.values())
    assert (pool.scorers["TER"] < 1e-9)[:, pool.official].all()  # higher is better
    assert [s for s in pool.scorers if s not in wb.load("bio_enzh").scorers] == ["TER", "TER lower-cased"]


@pytest.mark.parametrize("name", [n for n in BALANCES if n.startswith("bio")])
def test_counts_of_errors_give_the_aspects(name):
    pool = wb.load_pool(name)
    meaning = ("accuracy", "unintelligible", "terminology/wrong term")
    aspect = pool.errors["category"].map(lambda c: "a" if c.startswith(meaning) else "o" if c == "other" else "f")
    sums = pool.errors["penalty"].groupby([pool.errors["system"], aspect]).sum().unstack(fill_value=0)
    for found, mean in zip((sums["a"], sums["f"]), pool.aspects, strict=True):
        assert np.allclose(found.reindex(pool.systems) / len(pool.lines), -mean)


@pytest.mark.parametrize(
    ("name", "one", "two", "most"),
    [("bio_ende", "HuaweiTSC_run1", "HuaweiTSC_run3", 1), ("bio_enfr", "LISN_run2", "LISN_run3", 0), ("bio_esen", "talp_upc_run1", "talp_upc_run2", 0)],
)  # fmt: skip
def test_identical_submissions_have_identical_scores(name, one, two, most):
    """In all segments but so many their texts are the same."""
    pool = wb.load_pool(name)
    i, j = pool.systems.index(one), pool.systems.index(two)
    assert np.any([x[i] != x[j] for x in pool.scored.values()], axis=0).sum() <= most


def test_hanna():
    pool = wb.load_pool("hanna")
    assert pool.adequacy.shape == (10, 96) and len(pool.scorers) == 210 and len(pool.aliases) == 2
    assert np.allclose(np.mean([r.adequacy for r in pool.ratings], axis=0), pool.adequacy)
    assert np.allclose(np.mean([r.fluency for r in pool.ratings], axis=0), pool.fluency)
    assert list(pool.criteria) == ["relevance", "coherence", "empathy", "surprise", "engagement", "complexity"]
    assert pool.of_aspects("relevance", "coherence") is pool
    other = pool.without("HINT").of_aspects("coherence", "relevance")
    assert wb.balance(*other.aspects) == pytest.approx(1 - WITHOUT["hanna", "HINT"], abs=6e-5)
    with pytest.raises(ValueError, match="hanna has no aspect 'humour'; it has relevance, coherence"):
        pool.of_aspects("relevance", "humour")
    with pytest.raises(ValueError, match="has no aspect 'empathy'; it has adequacy, fluency, total"):
        wb.load_pool("ende20").of_aspects("empathy", "fluency")


def test_gaps_of_scorers_only_where_nobody_is_compared():
    total = np.array([[0.0, 1, np.nan], [1, 1, np.nan]])
    x = np.array([[1.0, 2, np.nan], [2, 2, np.nan]])
    pool = wb.Pool("made", ("x", "y"), np.arange(3), 3, total, scorers={"mine": x})
    assert pool.scored["mine"].shape == (2, 2)
    with pytest.raises(ValueError, match="scorer mine"):
        wb.Pool("made", ("x", "y"), np.arange(3), 3, total, scorers={"mine": x[:, [2, 1, 0]]})


@pytest.mark.parametrize("name", ["bio_ende", "bio_esen", "bio_enzh", "hanna"])
def test_the_explorer_shows_them(name):
    page = explorer.page_data(wb.load(name), step=0.1)
    v = wb.load_significance(name)
    assert tuple(page["scorers"]) == v.scorers and len(page["p"]) == len(v.scorers) and page["field"]
    assert page["aspects"] == list(wb.load(name).aspect_names)
    assert laboratory.segment_script(name).startswith(f'Whichbird.receive("{name}"')


def test_tests_of_some_scorers_ship_and_those_of_others_are_computed():
    v, known, others = wb.load_significance("hanna"), ("SUPERT-PS", "ROUGE-WE-3 Precision"), ("Coverage", "Density")
    assert len(v.scorers) == 39 and verdict.judged("hanna", known).scorers == v.scorers
    assert verdict.judged("hanna", others).scorers == others
    assert verdict.shipped_tests(wb.load("hanna"), (*known, *others)) is None
    assert verdict.shipped_verdict(wb.load_pool("hanna")) == (None, 0)
    few = replace(wb.load_pool("hanna"), scorers={s: wb.load_pool("hanna").scorers[s] for s in known})
    alone = wb.significance(few, [0.3], by="segments")  # a pair's test is the same whoever else takes part
    i, j = (v.scorers.index(s) for s in known)
    stop = v.nearest(0.3)
    assert v.betas[stop] == pytest.approx(0.3) and v.p[stop][i, j] == alone.p[0, 0, 1]


@pytest.mark.skipif(
    not os.environ.get("MTME_ROOT"), reason="needs MTME_ROOT, with folders biomqm and hanna in it or beside it"
)
def test_against_the_raw_files():
    places = [Path(os.environ["MTME_ROOT"]), Path(os.environ["MTME_ROOT"]).parent]
    raw = next((p for p in places if (p / "biomqm").is_dir() and (p / "hanna").is_dir()), None)
    if raw is None:
        pytest.skip("no folders biomqm and hanna in MTME_ROOT or beside it")
    from sacrebleu.metrics import CHRF, TER

    pool = wb.load_pool("bio_enes")
    with open(raw / "biomqm/texts/en2es.tsv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    rows.sort(key=lambda r: (int(r["doc"].removeprefix("doc")), int(r["seg"])))
    assert [r["doc"] for r in rows] == list(pool.documents)
    for n in np.flatnonzero(pool.official)[::60]:
        for k, system in enumerate(pool.systems):
            said, reference = rows[n][system], rows[n]["reference"]
            assert pool.scorers["chrF"][k, n] == pytest.approx(CHRF().sentence_score(said, [reference]).score, abs=1e-4)
            ter = TER(case_sensitive=True).sentence_score(said.lower(), [reference.lower()]).score
            assert pool.scorers["TER lower-cased"][k, n] == pytest.approx(-ter, abs=1e-4)
    stories = wb.load_pool("hanna")
    with open(raw / "hanna/hanna_metric_scores_llm.csv", encoding="utf-8") as file:
        table = {r["Model"]: r for r in csv.DictReader(file)}
    for k, system in enumerate(stories.systems):
        assert stories.scorers["BaryScore-W"][k].tolist() == [-v for v in json.loads(table[system]["BaryScore-W Ξε"])]
        assert stories.criteria["empathy"][2, k].tolist() == json.loads(table[system]["Human 3 EM"])
