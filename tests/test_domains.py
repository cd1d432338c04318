"""One kind of text alone: pools of a domain, the balance common to all, and whether scorers rank alike in them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings, strategies as st
from owndata import ADEQUACY, FLUENCY, SCORERS, SEGMENTS, SYSTEMS, field, refused, run
from scipy.stats import kendalltau

import whichbird as wb
from whichbird.core.closed import closed_p
from whichbird.data.domains import pick, segment_domains
from whichbird.study import domains
from whichbird.study.intervals import evidence

DATA = Path(__file__).parents[1] / "data"
DOMAIN = ("a", "b", "a", "a", "b", "a")  # of the six segments of owndata


# ---- pools of a domain


@pytest.mark.parametrize("name", ["ende24", "enru22", "heen23"])
def test_domains_are_the_parts_of_a_pool(name):
    """Every segment is in one domain, with all that belongs to it; the order of segments stays."""
    whole = wb.load_pool(name)
    found = np.array(segment_domains(whole))
    parts = {d: pick(whole, found == d, d) for d in dict.fromkeys(found.tolist())}
    assert np.array_equal(np.sort(np.concatenate([p.lines for p in parts.values()])), whole.lines)
    for domain, part in parts.items():
        at = [n for n, label in enumerate(whole.domains) if label == domain]  # no name of these years is changed
        assert part.lines.tolist() == whole.lines[at].tolist() and part.systems == whole.systems
        assert part.documents == tuple(whole.documents[n] for n in at)
        for one, all_ in ((part.total, whole.total), (part.adequacy, whole.adequacy), (part.raters, whole.raters)):
            assert (one is None) == (all_ is None)
            assert one is None or np.array_equal(one, all_[:, at], equal_nan=True)
        assert list(part.scorers) == list(whole.scorers)
        assert all(np.array_equal(x, whole.scorers[s][:, at]) for s, x in part.scorers.items())
        assert part.errors is None  # counts of the whole would be wrong for a part


def test_a_domain_keeps_every_rating_and_no_count_of_segments():
    whole = wb.load_pool("ende22")
    part = wb.in_domain(whole, "news")
    at = np.array(whole.domains) == "news"
    assert len(part.ratings) == len(whole.ratings) > 1
    for one, other in zip(part.ratings, whole.ratings, strict=True):
        assert all(np.array_equal(x, y[:, at], equal_nan=True) for x, y in zip(one, other, strict=True))
    assert not any(x.kind == "segment" for x in part.left_out)


def test_names_of_test_sets_are_kinds_of_text():
    """2020 and 2021 name the test set; both names are taken. Nothing else is renamed."""
    pool = wb.load_pool("ende21")
    news, same = wb.in_domain(pool, "news"), wb.in_domain(pool, "newstest2021")
    assert news.name == same.name == "ende21/news" and np.array_equal(news.lines, pool.lines)
    assert {k for name in wb.datasets() for k in segment_domains(wb.load_pool(name))} == {
        "news", "ted", "conversation", "ecommerce", "social", "user_review", "speech", "manuals", "literary", "canary",
    }  # fmt: skip


def test_balance_of_a_domain_by_hand():
    pool = wb.load_pool("jazh24")
    rows = [n for n, label in enumerate(pool.domains) if label == "literary"]
    a, f = (np.array([np.mean([x[k, n] for n in rows]) for k in range(13)]) for x in (pool.adequacy, pool.fluency))
    beta0 = a.var() / (a.var() + f.var())
    table = wb.by_domain([pool]).set_index("domain")
    row = table.loc["literary"]
    assert row["beta0"] == pytest.approx(beta0, rel=1e-12)
    assert (row["segments"], row["documents"]) == (168, 15)
    c = wb.components(wb.in_domain(pool, "literary"))
    assert (row["beta0_low"], row["beta0_high"]) == (c.low, c.high) and c.low < c.beta < c.high and c.documents == 15
    assert (row["reliable_min"], row["reliable_max"]) == pytest.approx(wb.reliable_interval(a, f), abs=1e-9)
    assert table.loc["canary", "note"] == "one document only" and np.isnan(table.loc["canary", "beta0"])
    assert table.loc["canary", ["segments", "documents"]].tolist() == [1, 1]


def test_refusals():
    pool = wb.load_pool("ende24")
    with pytest.raises(wb.DataError, match="'litrary'.*literary"):
        wb.in_domain(pool, "litrary")
    with pytest.raises(wb.DataError, match="'canary' has one document"):
        wb.in_domain(pool, "canary")
    with pytest.raises(wb.DataError, match="does not say which domain a segment belongs to"):
        wb.in_domain(wb.Pool("p", ("x", "y"), np.arange(2), 2, np.zeros((2, 2))), "news")
    with pytest.raises(wb.DataError, match="ende21 has 1 domain"):
        wb.domain_agreement("ende21")
    with pytest.raises(wb.DataError, match="ende21 has 1 domain"):
        wb.domain_lean("ende21")
    for question in (wb.domain_agreement, wb.domain_lean):
        with pytest.raises(ValueError, match="shuffles is 0"):
            question("ende24", shuffles=0)
    with pytest.raises(wb.DataError, match="heen23 can be ranked at its natural balance only"):
        wb.domain_lean("heen23")
    with pytest.raises(wb.DataError, match="heen23/news can be ranked at its natural balance only"):
        wb.common_balance(domains.domain_pools("heen23").values())


# ---- one balance for all


@pytest.mark.parametrize("name", ["ende22", "zhen23", "ende24"])
def test_common_balance_costs_the_worst_off_least(name):
    """Against the certified solver on a grid of balances: nowhere does the domain that keeps least keep more."""
    parts = list(domains.domain_pools(name).values())
    found = wb.common_balance(parts)

    def least(beta):
        return min(wb.reweight(*p.aspects, beta).ess for p in parts) / len(parts[0].systems)

    assert least(found.beta) == pytest.approx(found.share, abs=1e-6)
    assert all(least(beta) <= found.share + 1e-9 for beta in found.beta + np.linspace(-0.05, 0.05, 21) if beta < 1)
    meet = np.array([wb.reliable_interval(*p.aspects) for p in parts])
    assert found.reliable == (meet[:, 0].max() <= meet[:, 1].min())
    if found.reliable:
        assert meet[:, 0].max() <= found.beta <= meet[:, 1].min()


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4))
@example(1586, 3)  # the second reaches .53 to 1, the third .01 to .25
def test_common_balance_of_made_pools(seed, count):
    rng = np.random.default_rng(seed)
    pools = []
    for _ in range(count):
        a, f = rng.normal(size=(2, 5, 3)) * rng.uniform(0.5, 2, (2, 1, 1))
        pools.append(wb.Pool("p", tuple("abcde"), np.arange(3), 3, a + f, a, f))
    low, high = np.transpose([wb.reachable(*p.aspects) for p in pools])
    if low.max() > high.min():
        with pytest.raises(wb.DataError, match="no balance can be reached by all"):
            wb.common_balance(pools)
        return
    found = wb.common_balance(pools)
    least = min(wb.reweight(*p.aspects, found.beta).ess for p in pools) / 5
    assert least == pytest.approx(found.share, abs=1e-6)
    if count == 1:  # a pool alone pays nothing
        assert found.share == pytest.approx(1, abs=1e-9)
        assert found.beta == pytest.approx(wb.balance(*pools[0].aspects), abs=1e-5)


def test_pools_that_share_no_balance():
    a, f = np.array([[0.0], [1], [3]]), np.array([[0.0], [0], [0]])
    one = wb.Pool("one", tuple("abc"), np.arange(1), 1, a, a, f)
    other = wb.Pool("other", tuple("abc"), np.arange(1), 1, a, f, a)
    with pytest.raises(wb.DataError, match="no balance can be reached by all"):
        wb.common_balance([one, other])


# ---- do scorers rank alike?


def test_rankings_of_parts_are_those_of_the_pools():
    """SPA from sums over documents is SPA from the segments of the domain, natural and at a target, and so is tau."""
    pool = wb.load_pool("ende23")
    parts = domains.domain_pools(pool)
    scorers = np.array(list(pool.scorers.values()))
    e = evidence(pool, scorers)
    document = pd.factorize(np.array(pool.documents))[0]
    member = np.zeros((1, len(parts), e.size.size))
    for n, part in enumerate(parts.values()):
        member[0, n, document[np.isin(pool.lines, part.lines)]] = 1
    for beta in (np.nan, wb.common_balance(parts.values()).beta):
        found = domains._spa(e, member, np.full((1, len(parts)), beta))[0]
        for spa, part in zip(found, parts.values(), strict=True):
            w = None if np.isnan(beta) else wb.reweight(*part.aspects, beta).weights
            p = closed_p(np.array(list(part.scorers.values())))
            assert spa == pytest.approx(wb.spa_from_p(closed_p(part.total), p, w), abs=1e-9)
        tau = domains._tau(found[None])[0]
        assert tau[0, 2] == pytest.approx(kendalltau(found[0], found[2], variant="b").statistic, abs=1e-9)  # no ties
        assert np.allclose(tau, tau.T) and np.allclose(np.diag(tau), 1)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_deals_use_every_document_once(seed):
    rng = np.random.default_rng(seed)
    domain = np.concatenate([[0, 1, 2, 0, 1, 2], rng.integers(-1, 3, 12)])
    size = rng.integers(1, 6, domain.size).astype(float)
    deals = domains._deals(domain, size, 3, 4, seed)
    halves = domains._halves(domain, size, 3, 4, seed)
    for made in (*deals, *halves):
        assert np.array_equal(made.sum(axis=0), domain >= 0)
        assert set(np.unique(made)) == {0.0, 1.0}
    assert all(np.array_equal(deals[0, d], domain == d) for d in range(3))
    wanted = np.cumsum(deals[0] @ size)
    assert all((np.abs(np.cumsum(deal @ size) - wanted) <= size.max() / 2 + 1e-9).all() for deal in deals[1:])
    for made in halves:
        assert all(np.array_equal(made[2 * d] + made[2 * d + 1], domain == d) for d in range(3))
        assert (made.sum(axis=1) > 0).all()


def world(seed, differ):
    """Two domains of 20 documents: scorers with whims, the same in both, or others in each."""
    rng = np.random.default_rng(seed)
    k, m, n = 5, 6, 120
    quality, whim = rng.normal(size=(2, k, 1)) / 3, rng.normal(size=(2, m, k, 1)) / 2
    aspect = quality + rng.normal(size=(2, k, n))
    total = aspect.sum(axis=0)
    first = np.arange(n) < n // 2
    scorers = total + np.where(first, whim[0], whim[1] if differ else whim[0]) + rng.normal(size=(m, k, n))
    documents = tuple(str(i // 3) for i in range(n))
    labels = tuple("one" if x else "two" for x in first)
    named = {str(i): x for i, x in enumerate(scorers)}
    return wb.Pool("w", tuple("abcde"), np.arange(n), n, total, None, None, named, documents=documents, domains=labels)


def test_chance_is_taken_for_chance_and_a_difference_for_one():
    """With labels that mean nothing p ≤ .1 in about a tenth of the worlds (14 of 60 or more has a chance of .2 %)."""
    null = [wb.domain_agreement(world(seed, False), 19).iloc[0]["p"] for seed in range(60)]
    assert np.sum(np.array(null) <= 0.1 + 1e-9) < 14
    real = [wb.domain_agreement(world(seed, True), 19).iloc[0] for seed in range(20)]
    assert np.mean([row["p"] <= 0.1 + 1e-9 for row in real]) > 0.5
    assert np.mean([row["within"] - row["between"] for row in real]) > 0.2


# ---- does a domain lean?


def test_lean_by_hand():
    """Balance of each domain and of the rest from plain means; documents that belong to no domain stay out of both."""
    pool = wb.load_pool("ende24")
    found = wb.domain_lean(pool, 20).set_index("domain")
    labels = np.array(pool.domains)
    for domain, row in found.iterrows():
        mine, rest = labels == domain, (labels != domain) & (labels != "canary")
        for keep, beta in ((mine, row["beta0"]), (rest, row["rest"])):
            va, vf = (x[:, keep].mean(axis=1).var() for x in (pool.adequacy, pool.fluency))
            assert beta == pytest.approx(va / (va + vf), rel=1e-9)
        assert row["segments"] == mine.sum() and 0 < row["low"] < row["high"] < 1 and 2 / 21 <= row["p"] <= 1


def leaning(seed, differ):
    """Two domains of 30 documents; systems differ in both aspects, and in the second domain less so in adequacy."""
    rng = np.random.default_rng(seed)
    n = 180
    first = np.arange(n) < n // 2
    quality = rng.normal(size=(2, 6, 1))
    a = quality[0] * np.where(first, 1, 0.2 if differ else 1) + rng.normal(size=(6, n))
    f = quality[1] + rng.normal(size=(6, n))
    documents, labels = tuple(str(i // 3) for i in range(n)), tuple("one" if x else "two" for x in first)
    return wb.Pool("w", tuple("abcdef"), np.arange(n), n, a + f, a, f, documents=documents, domains=labels)


def test_leans_are_found_and_not_made_up():
    """As above: labels that mean nothing are believed to in about a tenth of the worlds at p ≤ .1, not in 14 of 60."""
    null = np.array([wb.domain_lean(leaning(seed, False), 99)["p"][0] for seed in range(60)])
    assert (null <= 0.1).sum() < 14 and 0.3 < null.mean() < 0.7
    real = [wb.domain_lean(leaning(seed, True), 99).iloc[1] for seed in range(20)]
    assert sum(row["p"] <= 0.05 and row["beta0"] < row["rest"] for row in real) >= 18


# ---- what ships


def shipped(table):
    """The rows of a table in data/, by dataset."""
    return dict(iter(pd.read_csv(DATA / f"{table}.csv").groupby("dataset", sort=False)))


def test_what_ships_is_what_is_computed():
    """data/domains.csv and data/leans.csv: a dataset of each made again; all that have two domains are there."""
    agreement, leans = shipped("domains"), shipped("leans")
    for rows, again in (
        (agreement["heen23"], wb.domain_agreement("heen23")),
        (leans["jazh24"], wb.domain_lean("jazh24")),
    ):
        rows = rows.drop(columns="dataset").reset_index(drop=True)
        pd.testing.assert_frame_equal(rows, again.drop(columns="name"), rtol=1e-4, check_dtype=False)
    several = [name for name in wb.datasets() if len(domains.domain_pools(name)) > 1]
    assert list(agreement) == several and len(several) == 10
    assert [list(rows["at"]) for rows in agreement.values()] == [
        ["natural"] if name == "heen23" else ["natural", "common"] for name in several
    ]
    assert list(leans) == [name for name in several if name != "heen23"]
    for name, rows in leans.items():
        assert rows["domain"].tolist() == list(domains.domain_pools(name))


# ---- the command line


def by_hand(name, domain, scorers=()):
    """SPA at the natural balance on the segments of one domain, from the definition and the permutation test."""
    pool = wb.load_pool(name)
    at = np.array(pool.domains) == domain
    human = wb.p_values(pool.total[:, at], exact=False)
    return {
        s: 1 - np.abs(human - wb.p_values(pool.scorers[s][:, at], exact=False)).mean() for s in scorers or pool.scorers
    }


def test_rank_on_a_domain_by_hand():
    code, out, err = run("rank", "ende24", "--domain", "literary", "--json")
    found = json.loads(out)
    assert code == 0 and err == ""
    assert (found["data"], found["segments"], found["documents"]) == ("ende24/literary", 27, 8)
    spa = by_hand("ende24", "literary")
    assert {row["scorer"]: row["spa"] for row in found["ranking"]} == pytest.approx(spa, abs=1e-12)
    assert [row["spa"] for row in found["ranking"]] == pytest.approx(sorted(spa.values(), reverse=True), abs=1e-12)
    assert all(row["rank_low"] <= row["rank"] <= row["rank_high"] for row in found["ranking"])
    assert (
        "ende24/literary|sys:16|seg:27" in found["signature"] and "PERM-BOTH:250-2500|documents:8" in found["signature"]
    )


def test_rank_on_a_domain_at_a_balance_and_with_another_reference():
    words = ("rank", "ende24", "--domain", "speech", "--beta", "0.7", "--reference", "refB", "--bare", "--json")
    found = json.loads(run(*words)[1])
    part = wb.in_domain(wb.load_pool("ende24", "refB"), "speech")
    w = wb.reweight(*part.aspects, 0.7).weights
    human = wb.p_values(part.total, exact=False)
    for row in found["ranking"][::7]:
        assert row["spa"] == pytest.approx(
            wb.spa_from_p(human, wb.p_values(part.scorers[row["scorer"]], exact=False), w), abs=1e-10
        )
    assert found["beta"] == 0.7 and found["reliable"] and "refB" in found["signature"]


def test_own_scores_go_with_the_domain(tmp_path):
    """A file with the scores of a scorer that ships, for the whole dataset: the same figures on the domain."""
    d, pool = wb.load("ende24"), wb.load_pool("ende24")
    path = tmp_path / "mine.seg.score"
    path.write_text(field(pool.scorers["XCOMET"], d.systems))
    found = json.loads(run("rank", "ende24", "--domain", "news", "--scores", path, "--bare", "--json")[1])
    row = {row["scorer"]: row for row in found["ranking"]}
    assert row["mine"]["own"] and row["mine"]["spa"] == row["XCOMET"]["spa"]


def test_compare_and_sweep_on_a_domain():
    found = json.loads(run("compare", "ende24", "XCOMET", "MetricX-24", "--domain", "literary", "--json")[1])
    part = wb.in_domain(wb.load_pool("ende24"), "literary")
    low, high = wb.reliable_interval(*part.aspects)
    rows = found["comparison"]
    assert found["data"] == "ende24/literary"
    assert [rows[0]["beta"], rows[-1]["beta"]] == pytest.approx([low, high], abs=1e-9)
    words = ("sweep", "ende24", "--domain", "literary", "--step", "0.25", "--bare", "--json")
    sweep = pd.DataFrame(json.loads(run(*words)[1])["sweep"])
    natural = sweep[np.isclose(sweep["beta"], wb.balance(*part.aspects))].set_index("scorer")["spa"]
    spa = by_hand("ende24", "literary", ["XCOMET", "BLEU"])
    assert natural[list(spa)].to_dict() == pytest.approx(spa, abs=1e-9)


def test_datasets_by_domain():
    rows = json.loads(run("datasets", "--domains", "--json")[1])["domains"]
    assert list(dict.fromkeys(row["name"] for row in rows)) == wb.datasets()
    for name in wb.datasets():
        mine = [row for row in rows if row["name"] == name]
        assert sum(row["segments"] for row in mine) == wb.load(name).official.sum()
        assert sum(row["annotated"] for row in mine) == wb.load(name).annotated.sum()
    assert [row["beta0"] for row in rows if row["name"] == "ende21"] == pytest.approx(
        [wb.balance(*wb.load("ende21").aspects)]
    )
    assert all(row["note"] for row in rows if row["beta0"] is None)
    code, out, err = run("datasets", "ende24", "--domains")
    assert code == 0 and err == "" and len(out.splitlines()) == 6 and "nan" not in out.lower()


def test_beta_of_a_domain():
    found = json.loads(run("beta", "jazh24", "--domain", "news", "--json")[1])
    c = wb.components(wb.in_domain(wb.load_pool("jazh24"), "news"))
    assert (found["data"], found["segments"], found["documents"]) == ("jazh24/news", 255, 45)
    assert found["beta0_interval"] == [c.low, c.high] and found["beta0"] == pytest.approx(c.beta0, rel=1e-12)
    said = refused(*run("beta", "jazh24", "--domain", "news", "--taxonomy", "terminology"))
    assert said.endswith("ships without the errors of segments; --domain and --taxonomy exclude each other")
    assert "jazh24 has no domain 'ted'; it has" in refused(*run("beta", "jazh24", "--domain", "ted"))


def ratings(only=None):
    """The ratings of owndata as a table with columns document and domain; of one domain alone."""
    return "domain,document,system,segment,adequacy,fluency\n" + "".join(
        f"{DOMAIN[j]},d{j // 2},{s},{n},{ADEQUACY[i, j]},{FLUENCY[i, j]}\n"
        for i, s in enumerate(SYSTEMS)
        for j, n in enumerate(SEGMENTS)
        if only in (None, DOMAIN[j])
    )


def scores(only=None):
    return f"system,segment,{','.join(SCORERS)}\n" + "".join(
        f"{s},{n},{','.join(str(x[i, j]) for x in SCORERS.values())}\n"
        for i, s in enumerate(SYSTEMS)
        for j, n in enumerate(SEGMENTS)
        if only in (None, DOMAIN[j])
    )


def test_evaluate_on_a_domain_is_evaluate_on_its_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, only in (("all", None), ("a", "a")):
        Path(f"{name}.csv").write_text(ratings(only))
        Path(f"{name}-scores.csv").write_text(scores(only))
    some = run(
        "evaluate", "--human", "all.csv", "--scores", "all-scores.csv", "--domain", "a", "--beta", ".5", "--json"
    )
    alone = run("evaluate", "--human", "a.csv", "--scores", "a-scores.csv", "--beta", ".5", "--json")
    some, alone = json.loads(some[1]), json.loads(alone[1])
    assert (some["data"], some["segments"], some["documents"]) == ("all.csv/a", 4, 3)
    assert some["weights"] == alone["weights"] and some["ranking"] == alone["ranking"]
    pool = wb.read_human("all.csv")
    assert pool.domains == DOMAIN and pool.documents == ("d0", "d0", "d1", "d1", "d2", "d2")


def test_sentences_for_own_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("human.csv").write_text(ratings())
    Path("plain.csv").write_text(ratings().replace("domain,", "kind,"))
    Path("torn.csv").write_text(ratings() + "b,d9,emu,u,0,0\n")
    Path("blank.csv").write_text(ratings() + ",d0,emu,u,0,0\n")
    Path("scores.csv").write_text(scores())
    words = ("--scores", "scores.csv", "--domain")
    said = refused(*run("evaluate", "--human", "human.csv", *words, "c"))
    assert said == "whichbird evaluate: human.csv has no domain 'c'; it has a, b"
    said = refused(*run("evaluate", "--human", "plain.csv", *words, "a"))
    assert "plain.csv does not say which domain a segment belongs to" in said
    said = refused(*run("evaluate", "--human", "torn.csv", *words, "a"))
    assert "(document) has 'd9' for segment 'u', where line 2 has 'd0'; one is expected" in said
    assert "(domain) is empty; a name is expected" in refused(*run("evaluate", "--human", "blank.csv", *words, "a"))
    said = refused(*run("rank", "ende24", "--domain", "canary"))
    assert "'canary' has one document" in said
    said = refused(*run("sweep", "zhen23", "--domain", "manual"))
    assert said.endswith("zhen23 has no domain 'manual'; it has manuals, news, user_review; did you mean 'manuals'?")
