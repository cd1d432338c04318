"""What repeats of contributions: worlds whose components are known, deletions done one by one, a shipped row recomputed."""

import numpy as np
import pytest

import whichbird as wb
from whichbird.data.digest import read_table
from whichbird.study.intervals import Evidence
from whichbird.study.stability import leave_one_out, pooled_tau
from whichbird_book import interactions as book

NAMES = wb.datasets()


def world(bias, noise, documents=60, scorers=40, systems=12, seed=0, labels=None):
    """A contest in which a scorer's p-values are nearly linear in what it adds to each system: `bias` always, `noise` by document.

    People are sure of every pair; scorers' p-values stay close to one half. With labels the bias has the label's sign.
    """
    rng = np.random.default_rng(seed)
    x = bias * rng.normal(size=(scorers, systems, 1)) * (np.ones(documents) if labels is None else np.array(labels))
    x = x + noise * rng.normal(size=(scorers, systems, documents))
    k, l = np.triu_indices(systems, 1)
    gap = np.concatenate([np.full((1, k.size, documents), 100.0), x[:, k] - x[:, l]]).transpose(2, 0, 1)
    square = np.full(gap.shape, 400.0)  # its root over all documents is large next to the scorers' gaps
    nothing = np.zeros((documents, systems))
    return Evidence(gap, square, nothing, nothing, nothing + 1, np.ones(documents))


@pytest.mark.parametrize(("bias", "noise"), [(0.0, 0.5), (0.05, 0.5), (0.1, 0.5), (0.1, 0.2), (0.1, 0.0)])
def test_the_correlation_of_halves_is_the_share_that_repeats(bias, noise):
    """Of a sum over n documents n² bias² repeats and n noise² does not."""
    documents = 60
    n = documents // 2
    e = world(bias, noise, documents)
    r = book._between(e, book.halves(documents, 40)).mean()
    expected = n * bias**2 / (n * bias**2 + noise**2)
    assert r == pytest.approx(expected, abs=0.08)
    assert book.repeats(expected) == pytest.approx(2 * n * bias**2 / (2 * n * bias**2 + noise**2))
    if noise and bias:
        low, high = book.split_half_interval(e, r, resamples=40)
        assert low < expected < high and -1 <= low and high <= 1


def test_kinds_of_text_are_kept_apart():
    """What a scorer does to a system has one sign in news and the other in talks: it repeats in random halves of either kind only."""
    labels = ["news"] * 30 + ["talks"] * 30
    e = world(0.1, 0.1, labels=[1 if x == "news" else -1 for x in labels])
    found = book.parted(e, labels)
    assert found.apart < -0.9
    same = book.parted(world(0.1, 0.1), labels)
    assert same.apart == pytest.approx(same.random, abs=0.05) and same.apart > 0.9
    assert np.isnan(book.parted(e, ["news"] * 55 + ["talks"] * 5).apart)  # too uneven to be halves


def test_few_documents_get_no_interval_and_equal_scorers_a_sentence():
    assert np.isnan(book.split_half_interval(world(0.1, 0.1, documents=6), 0.5)).all()
    with pytest.raises(ValueError, match="no interaction"):
        book.agreement(np.ones((3, 4)), np.ones((3, 4)))


@pytest.mark.parametrize("name", NAMES)
def test_leave_one_out_follows_from_contributions(name):
    d = wb.load(name)
    kept = pooled_tau(leave_one_out(d.counts("total"), d.counts("scorers"), len(d.systems)))
    assert book.loo_tau(wb.contributions(d)) == pytest.approx(kept, abs=1e-12)


def test_errors_over_systems_are_a_jackknife():
    d = wb.load("ende22")
    k = len(d.systems)
    i, j = np.triu_indices(k, 1)
    left = []
    for out in range(k):
        rest = (i != out) & (j != out)
        spa = wb.spa_from_p(d.human_p[rest], d.scorer_p[:, rest])
        left.append(spa[:, None] - spa)
    left = np.array(left)
    expected = np.sqrt((k - 1) / k * ((left - left.mean(axis=0)) ** 2).sum(axis=0))
    np.testing.assert_allclose(book.system_se(wb.contributions(d)), expected, atol=1e-9)


def test_halves_of_systems_share_none():
    far = np.arange(15.0)[None]  # six systems; each number names a pair
    i, j = np.triu_indices(6, 1)
    for one, two in zip(*book.system_halves(far, 20), strict=True):
        members = [set(i[x.astype(int).ravel()]) | set(j[x.astype(int).ravel()]) for x in (one, two)]
        assert [len(m) for m in members] == [3, 3] and not members[0] & members[1]


def test_robust_meta_metrics_are_what_they_say():
    d = wb.load("ende24")
    far = np.abs(d.human_p - d.scorer_p)
    c = wb.contributions(d)
    found = {name: f(far) for name, f in book.ROBUST.items()}
    np.testing.assert_allclose(1 + found["plain"], wb.spa_from_p(d.human_p, d.scorer_p), atol=1e-12)
    turns = wb.natural_turns(d, resamples=2)
    np.testing.assert_allclose(1 + found["median"], np.median(turns.spa[1:], axis=0), atol=1e-12)
    by_hand = [-np.mean(sorted(row)[1:-1]) for row in c]
    np.testing.assert_allclose(found["trimmed"], by_hand, atol=1e-12)
    carrier = int(book.shares(c).argmax())
    w = np.minimum(1, np.sqrt(1.5 / book.shares(c)))
    assert w[carrier] < 1
    np.testing.assert_allclose(1 + found["capped"], wb.spa_from_p(d.human_p, d.scorer_p, w), atol=1e-12)


def test_a_shipped_row_is_what_the_library_finds():
    name = "ende21"
    kept = read_table("interaction.csv").query("dataset == @name").drop(columns="dataset").reset_index(drop=True)
    fresh = book.interaction_table(wb.load_pool(name), wb.load(name), wb.load_significance(name))
    assert list(kept) == list(fresh)
    np.testing.assert_allclose(kept.to_numpy(float), fresh.to_numpy(float), rtol=1e-4)


def test_listed_systems_exist():
    table = read_table("tuned_systems.csv")
    assert not table.duplicated(["dataset", "system"]).any() and table.notna().all(axis=None)
    for name, rows in table.groupby("dataset"):
        assert set(rows["system"]) <= set(wb.load(name).systems)
