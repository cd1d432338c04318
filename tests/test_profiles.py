"""Contributions of systems: the identity pair by pair, plain and weighted, and the effect of a deletion."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from owndata import refused, run

import whichbird as wb
from whichbird.core.contributions import interaction, per_system, without_each


def drawn(k, seed, scorers=4):
    rng = np.random.default_rng(seed)
    pairs = k * (k - 1) // 2
    return rng.random(pairs), rng.random((scorers, pairs)), rng.dirichlet(np.ones(k))


def by_hand(human, scorer, w):
    """Half of each pair's weighted loss to each of its systems, with loops."""
    k, out, total, n = len(w), np.zeros(len(w)), 0.0, 0
    for i in range(k):
        for j in range(i + 1, k):
            loss = w[i] * w[j] * abs(human[n] - scorer[n])
            out[i] += loss / 2
            out[j] += loss / 2
            total += w[i] * w[j]
            n += 1
    return out / total


@given(st.integers(3, 9), st.integers(0, 2**32 - 1))
def test_contributions_are_halves_of_pairs_and_sum_to_the_loss(k, seed):
    human, scorers, w = drawn(k, seed)
    for weights in (None, w):
        found = wb.contributions_from_p(human, scorers, weights)
        full = np.ones(k) if weights is None else weights
        np.testing.assert_allclose(found, [by_hand(human, s, full) for s in scorers], rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(1 - found.sum(axis=1), wb.spa_from_p(human, scorers, weights), rtol=1e-12)


@given(st.integers(3, 9), st.integers(0, 2**32 - 1))
def test_a_deletion_acts_through_contributions(k, seed):
    """SPA without a system, computed from the other systems' pairs alone; the lead changes sign at one half."""
    human, scorers, w = drawn(k, seed)
    i, j = np.triu_indices(k, 1)
    for weights in (None, w):
        c = wb.contributions_from_p(human, scorers, weights)
        left = without_each(c, weights)
        for out in range(k):
            rest = (i != out) & (j != out)
            kept = None if weights is None else np.delete(weights, out)
            np.testing.assert_allclose(1 - left[:, out], wb.spa_from_p(human[rest], scorers[:, rest], kept), atol=1e-9)
        part = c[1] - c[0]
        clear = np.abs(2 * part - part.sum()) > 1e-9
        turned = (left[1] - left[0]) * part.sum() < 0
        assert (turned == (part / part.sum() > 0.5))[clear].all()


@pytest.mark.parametrize("name", ["ende22", "heen23", "zhen20"])
def test_contributions_of_a_dataset_are_those_of_its_p_values(name):
    d = wb.load(name)
    c = wb.contributions(name)
    assert c.shape == (len(d.scorers), len(d.systems))
    expected = [by_hand(d.human_p, p, np.ones(len(d.systems))) for p in d.scorer_p]
    np.testing.assert_allclose(c, expected, rtol=1e-9, atol=1e-15)
    w = np.arange(1, len(d.systems) + 1)
    np.testing.assert_allclose(wb.contributions(d, w)[0], by_hand(d.human_p, d.scorer_p[0], w), rtol=1e-9)


def test_a_profile_is_the_lead_taken_apart():
    d = wb.load("ende22")
    spa = wb.spa_from_p(d.human_p, d.scorer_p)
    found = wb.profile(d, "COMET-22", "SEScore")
    assert found.lead == pytest.approx(spa[d.scorers.index("COMET-22")] - spa[d.scorers.index("SEScore")], abs=1e-12)
    assert found.parts.sum() == pytest.approx(found.lead, abs=1e-12) and found.most == "OpenNMT"
    natural = wb.natural_turns(d, resamples=10)
    comet, sescore = (natural.scorers.index(name) for name in ("COMET-22", "SEScore"))
    np.testing.assert_allclose(found.without, (natural.spa[:, comet] - natural.spa[:, sescore])[1:], atol=1e-12)
    back = wb.profile(d, "SEScore", "COMET-22")
    np.testing.assert_allclose(back.parts, -found.parts, atol=1e-15)
    assert (back.most, back.sentence) == (found.most, found.sentence) and back.effective == found.effective
    assert 1 <= found.effective <= len(d.systems)


def test_the_effective_number_counts_equal_parts():
    """Two scorers that differ on one pair: its two systems share the lead, half each, and without either nothing is left."""
    d = wb.load("ende24")
    other = d.human_p.copy()
    other[0] = abs(other[0] - 0.5)
    found = wb.profile(d, "same", "other", scores={"same": d.human_p, "other": other})
    assert found.effective == pytest.approx(2) and np.flatnonzero(found.parts).tolist() == [0, 1]
    np.testing.assert_allclose(found.without[:2], 0, atol=1e-15)


def test_interaction_has_no_row_and_no_column_mean():
    x = interaction(np.random.default_rng(0).normal(size=(2, 5, 4)))
    np.testing.assert_allclose(x.mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(x.mean(axis=2), 0, atol=1e-12)


def two_systems():
    pool = wb.load_pool("ende24")
    kept = {name: x[:2] for name, x in pool.scorers.items()}
    cut = {what: getattr(pool, what)[:2] for what in ("total", "adequacy", "fluency", "raters")}
    return replace(pool, systems=pool.systems[:2], scorers=kept, errors=None, ratings=(), **cut)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: wb.contributions(two_systems()), "at least three"),
        (lambda: wb.contributions_from_p([0.5], [0.5]), "at least three"),
        (lambda: wb.contributions_from_p([0.5] * 4, [0.5] * 4), "4 pairs"),
        (lambda: wb.contributions_from_p([0.5] * 3, [0.5] * 6), "one value per pair"),
        (lambda: wb.contributions_from_p([0.5] * 3, [1.5] * 3), "between 0 and 1"),
        (lambda: per_system(np.zeros(3), [1, 1]), "3 systems"),
        (lambda: without_each(np.ones(3), [1, 1, 0]), "at least three"),
        (lambda: wb.contributions("ende24", [1, 2]), "16"),
        (lambda: wb.contributions("ende24", scores=np.ones((16, 487))), "constant|same"),
        (lambda: wb.profile("ende24", "XCOMET", "XCOMET"), "twice"),
        (lambda: wb.profile("ende24", "XCOMMET", "BLEU"), "XCOMET"),
        (lambda: wb.profile("ende24", "a", "b", scores=dict.fromkeys("ab", wb.load("ende24").human_p)), "no lead"),
    ],
)
def test_profiles_refuse_in_one_sentence(ask, said):
    with pytest.raises(ValueError, match=said) as error:
        ask()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("systems", "said"), [(2, "told from three systems on; there are two."), (3, "contributes most to the lead")]
)
def test_the_command_says_in_a_sentence_what_it_cannot_tell(tmp_path, systems, said):
    rng = np.random.default_rng(1)
    rows = [(f"s{k}", n) for k in range(systems) for n in range(30)]
    for name, columns in (("human", ("adequacy", "fluency")), ("scores", ("A", "B")), ("flat", ("A", "B"))):
        table = pd.DataFrame(rows, columns=["system", "segment"])
        table = table.assign(**{c: 1.0 if (name, c) == ("flat", "B") else rng.normal(size=len(rows)) for c in columns})
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    words = ["compare", "--human", tmp_path / "human.csv", "A", "B", "--scores"]
    code, out, _ = run(*words, tmp_path / "scores.csv")
    assert code == 0 and said in out.split("\n\n")[0] and "\n" not in out.split("\n\n")[0]
    assert "'B' is constant" in refused(*run(*words, tmp_path / "flat.csv"))
