"""PERM-BOTH against a plain implementation written here from its definition; clusters and Holm against their rules."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import whichbird as wb
from whichbird.core.closed import closed_p
from whichbird.core.swap import standard_scores, swap_test
from whichbird.data.pool import Pool
from whichbird.study.significance import clusters, holm, significance, swapped_documents, waves


def made(seed=0, systems=5, segments=60, noise=(1, 2, 4), gaps=0) -> Pool:
    """A pool with three scorers, noisier and noisier; `gaps` cells nobody rated."""
    rng = np.random.default_rng(seed)
    aspect = rng.normal(size=(2, systems, segments)) + 0.5 * rng.normal(size=(2, systems, 1))
    total = aspect.sum(axis=0)
    scorers = {f"noise {s}": total + s * rng.normal(size=total.shape) for s in noise}
    for k, n in rng.integers(0, [systems, segments], size=(gaps, 2)):
        aspect[:, k, n] = total[k, n] = np.nan
    return Pool("made", tuple("abcdefgh"[:systems]), np.arange(segments), segments, total, *aspect, scorers)


def plain_p(x, k, l) -> float:
    """Φ(−Σd / √Σd²) over the segments both systems have, number by number."""
    d = [a - b for a, b in zip(x[k], x[l], strict=True) if not (math.isnan(a) or math.isnan(b))]
    return 0.5 * math.erfc(sum(d) / math.sqrt(2 * sum(v * v for v in d)))


def plain_spa(human, x, w) -> float:
    """Soft pairwise accuracy pair by pair, weight w_k w_l."""
    pairs = list(itertools.combinations(range(len(x)), 2))
    far = sum(w[k] * w[l] * abs(plain_p(human, k, l) - plain_p(x, k, l)) for k, l in pairs)
    return 1 - far / sum(w[k] * w[l] for k, l in pairs)


def plain_perm_both(human, one, two, weights, resamples, rng) -> np.ndarray:
    """Share of resamples whose difference of SPAs is at least the observed, for each of several weightings."""
    one, two = ((x - x.mean()) / x.std() for x in (one, two))
    seen = np.array([plain_spa(human, one, w) - plain_spa(human, two, w) for w in weights])
    reached = np.zeros(len(weights))
    for _ in range(resamples):
        swap = rng.random(one.shape) < 0.5
        a, b = np.where(swap, two, one), np.where(swap, one, two)
        reached += [plain_spa(human, a, w) - plain_spa(human, b, w) >= s for w, s in zip(weights, seen, strict=True)]
    return reached / resamples


def agree(fast, slow, n_fast, n_slow) -> bool:
    """Two shares of independent resamples: within three standard errors of their difference."""
    both = (fast * n_fast + slow * n_slow) / (n_fast + n_slow)
    return np.all(np.abs(fast - slow) <= 3 * np.sqrt(both * (1 - both) * (1 / n_fast + 1 / n_slow)) + 1e-12)


@pytest.mark.parametrize("gaps", [0, 9])
def test_perm_both_is_the_plain_test(gaps):
    pool = made(4, gaps=gaps)
    a, f = np.nanmean(pool.adequacy, axis=1), np.nanmean(pool.fluency, axis=1)
    betas = [0.4, float(wb.balance(a, f)), 0.7]
    found = significance(pool, betas, resamples=2000)
    weights = [wb.reweight(a, f, beta).weights for beta in found.betas]
    rng = np.random.default_rng(8)
    x = list(pool.scorers.values())
    for i, j in ((0, 1), (1, 2), (2, 0)):
        assert agree(found.p[:, i, j], plain_perm_both(pool.total, x[i], x[j], weights, 300, rng), 2000, 300)


def quick_p(x):
    """`plain_p` of all pairs, with arrays."""
    k, l = np.triu_indices(len(x), 1)
    d = x[k] - x[l]
    return np.array([0.5 * math.erfc(z) for z in np.nansum(d, axis=1) / np.sqrt(2 * np.nansum(d**2, axis=1))])


@pytest.mark.parametrize("name", ["ende24", "zhen23", "ende22"])
def test_perm_both_on_real_scores(name, request):
    """Three pairs of scorers at three balances; the plain test swaps, and takes every p-value from its definition."""
    try:
        pool = wb.load_pool(name)
    except wb.DataError:  # segments are not built
        pool = wb.read_mtme(request.getfixturevalue("mtme_root"), name)
    a, f = np.nanmean(pool.adequacy, axis=1), np.nanmean(pool.fluency, axis=1)
    low, high = wb.reliable_interval(a, f)
    betas = np.array([low, wb.balance(a, f), high])
    natural = wb.rank(wb.load(name)).table["scorer"].tolist()
    chosen = [natural[n] for n in (0, 2, 5, 9)]
    few = Pool(pool.name, pool.systems, pool.lines, pool.source_lines, pool.total, pool.adequacy, pool.fluency,
               {s: pool.scorers[s] for s in chosen})  # fmt: skip
    found = significance(few, betas, resamples=1000)
    k, l = np.triu_indices(len(pool.systems), 1)
    w = np.array([wb.reweight(a, f, beta).weights for beta in betas])
    pi = w[:, k] * w[:, l]
    pi /= pi.sum(axis=1, keepdims=True)
    human, rng, resamples = quick_p(pool.total), np.random.default_rng(5), 300
    z = [(x - x.mean()) / x.std() for x in few.scorers.values()]
    for i, j in ((0, 1), (1, 2), (2, 3)):
        seen = pi @ (np.abs(human - quick_p(z[j])) - np.abs(human - quick_p(z[i])))
        reached = np.zeros(3)
        for _ in range(resamples):
            swap = rng.random(z[i].shape) < 0.5
            one, two = np.where(swap, z[j], z[i]), np.where(swap, z[i], z[j])
            reached += pi @ (np.abs(human - quick_p(two)) - np.abs(human - quick_p(one))) >= seen
        assert agree(found.p[:, i, j], reached / resamples, 1000, resamples)


def test_each_resample_is_the_swap_it_says():
    """Sign by sign: the expanded sums are the sums of the swapped scores, to rounding."""
    pool = made(2)
    z = standard_scores(np.array(list(pool.scorers.values())))
    human = closed_p(pool.total)
    pi = np.full((1, human.size), 1 / human.size)
    for seed in range(5):
        found = swap_test(z, [0, 1], [1, 2], human, pi, 1, seed)
        swap = np.random.default_rng(seed).integers(0, 2, size=z.shape[1:]) == 0  # sign −1
        for q, (i, j) in enumerate(((0, 1), (1, 2))):
            one, two = np.where(swap, z[j], z[i]), np.where(swap, z[i], z[j])
            lead = np.mean(np.abs(human - quick_p(two)) - np.abs(human - quick_p(one)))
            assert found.mean[0, q] == pytest.approx(lead, abs=1e-13)


@pytest.mark.parametrize("together", [False, True])
def test_each_resample_of_documents_is_the_swap_it_says(together):
    """Documents of several sizes, their segments scattered; one sign for each system and document, or one for all systems."""
    pool = made(2)
    number = np.random.default_rng(3).integers(0, 9, size=60)
    number = np.unique(number, return_inverse=True)[1]
    z = standard_scores(np.array(list(pool.scorers.values())))
    human = closed_p(pool.total)
    pi = np.full((1, human.size), 1 / human.size)
    for seed in range(5):
        found = swap_test(z, [0, 1], [1, 2], human, pi, 1, seed, number, together=together)
        shape = (1 if together else 5, number.max() + 1)
        swap = np.broadcast_to(np.random.default_rng(seed).integers(0, 2, size=shape)[:, number] == 0, z.shape[1:])
        for q, (i, j) in enumerate(((0, 1), (1, 2))):
            one, two = np.where(swap, z[j], z[i]), np.where(swap, z[i], z[j])
            lead = np.mean(np.abs(human - quick_p(two)) - np.abs(human - quick_p(one)))
            assert found.mean[0, q] == pytest.approx(lead, abs=1e-13)


def test_documents_of_one_segment_are_segments():
    pool = made(6)
    alone = replace(pool, documents=tuple(map(str, range(60))))
    by_segments, by_documents = (significance(alone, [0.5], resamples=50, by=by) for by in ("segments", "documents"))
    assert (
        np.array_equal(by_segments.p, by_documents.p) and by_documents.by == significance(alone, [0.5], resamples=5).by
    )
    assert "by:segments" in by_segments.signature and "by:documents" in by_documents.signature


def test_documents_are_those_of_lines_with_a_total():
    """Lines that have errors alone take no part in SPA, so none in swaps; a document of theirs alone is none."""
    pool = made(6)
    names = tuple(f"d{n % 12}" for n in range(60))
    more = {  # errors as they are on average, so that the balance stays
        what: np.concatenate([x, np.repeat(fill * x.mean(axis=1, keepdims=True), 3, axis=1)], axis=1)
        for what, x, fill in (
            ("total", pool.total, np.nan),
            ("adequacy", pool.adequacy, 1),
            ("fluency", pool.fluency, 1),
        )
    }
    scorers = {name: np.concatenate([x, np.ones((5, 3))], axis=1) for name, x in pool.scorers.items()}
    wide = replace(
        pool, lines=np.arange(63), source_lines=63, scorers=scorers, documents=(*names, "d0", "d5", "alone"), **more
    )
    found, plain = (
        significance(x, [0.5], resamples=30, by="documents") for x in (wide, replace(pool, documents=names))
    )
    assert swapped_documents(wide).tolist() == [n % 12 for n in range(60)]
    assert np.array_equal(found.p, plain.p)


def test_near_the_level_swaps_go_on():
    """Where the first swaps leave p near .05 it is the share of all of them, elsewhere of the first; company changes neither."""
    pool = made(11, noise=(1, 1.5, 2, 2.5, 3))
    z, human = standard_scores(np.array(list(pool.scorers.values()))), closed_p(pool.total)
    i, j = np.triu_indices(5, 1)
    pi = np.random.default_rng(1).dirichlet(np.ones(human.size), size=3)
    first, most = (swap_test(z, i, j, human, pi, n, 4) for n in (100, 1000))
    found = swap_test(z, i, j, human, pi, 100, 4, most=1000)
    near = (np.abs(first.at_least / 100 - 0.05) < 0.015) | (np.abs(first.at_most / 100 - 0.05) < 0.015)
    assert near.any() and not near.all() and np.array_equal(found.resamples, np.where(near, 1000, 100))
    for what in ("at_least", "at_most"):
        assert np.array_equal(getattr(found, what), np.where(near, getattr(most, what), getattr(first, what)))
    assert np.array_equal(found.mean, first.mean) and np.array_equal(found.spread, first.spread)
    alone = swap_test(z, i[3:4], j[3:4], human, pi, 100, 4, most=1000)
    assert np.array_equal(alone.at_least, found.at_least[:, 3:4])


def test_what_is_swapped_is_chosen_or_refused():
    pool = made(1)
    assert significance(pool, resamples=2).by == "segments"  # no documents are known
    few = replace(pool, documents=tuple(f"d{n % 7}" for n in range(60)))
    assert significance(few, resamples=2).by == "segments"
    assert significance(replace(pool, documents=tuple(f"d{n % 8}" for n in range(60))), resamples=2).by == "documents"
    with pytest.raises(wb.DataError, match="7 documents; at least 8"):
        significance(few, by="documents")
    with pytest.raises(wb.DataError, match="no documents"):
        significance(pool, by="documents")
    with pytest.raises(ValueError, match="'words'"):
        significance(pool, by="words")


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 100), st.floats(-50, 50), st.permutations(range(3)))
def test_properties(seed, stretch, shift, order):
    """p and its reverse share every resample; scale and level of a scorer, and the order of scorers, do not matter."""
    pool = made(seed, systems=4, segments=30)
    found = significance(pool, resamples=50)
    assert (found.p + found.p.swapaxes(1, 2) >= 1).all()
    names = [list(pool.scorers)[n] for n in order]
    moved = {s: stretch * pool.scorers[s] + shift if n == 1 else pool.scorers[s] for n, s in enumerate(names)}
    other = significance(
        Pool(pool.name, pool.systems, pool.lines, pool.source_lines, pool.total, pool.adequacy, pool.fluency, moved),
        resamples=50,
    )
    assert np.array_equal(other.p, found.p[:, order][:, :, order])
    assert other.spa == pytest.approx(found.spa[:, order], abs=1e-9)


def test_block_size_and_company_change_nothing(monkeypatch):
    pool = made(1)
    whole = significance(pool, [0.5], resamples=40)
    monkeypatch.setattr("whichbird.core.swap.SWAP_CELLS", 1)
    monkeypatch.setattr("whichbird.core.swap.PAIRS", 2)
    assert np.array_equal(significance(pool, [0.5], resamples=40).p, whole.p)
    assert not np.array_equal(significance(pool, [0.5], resamples=40, seed=1).p, whole.p)
    first, *rest = pool.scorers
    alone = Pool(pool.name, pool.systems, pool.lines, pool.source_lines, pool.total, pool.adequacy, pool.fluency,
                 {s: pool.scorers[s] for s in rest})  # fmt: skip
    own = significance(alone, [0.5], {first: pool.scorers[first]}, resamples=40, only_own=True)
    assert own.scorers == (*rest, first) and own.own.tolist() == [False, False, True]
    assert np.array_equal(own.p[:, 2, :2], whole.p[:, 0, 1:]) and np.array_equal(own.p[:, :2, 2], whole.p[:, 1:, 0])
    assert np.isnan(own.p[:, 0, 1]).all()


def test_a_scorer_against_its_copy():
    pool = made(3)
    x = next(iter(pool.scorers.values()))
    found = significance(pool, [0.5], {"copy": 3 * x - 2}, resamples=30)
    assert found.p[0, 0, 3] == found.p[0, 3, 0] == 1 and found.z[0, 0, 3] == 0


def test_systems_a_scorer_cannot_tell_apart():
    """Two systems with the same scores have p = 1 on both sides of a swap that leaves them the same."""
    pool = made(3)
    x = next(iter(pool.scorers.values())).copy()
    x[1] = x[0]
    found = significance(pool, [0.5], {"twin": x}, resamples=30)
    assert np.isfinite(found.p).all() and closed_p(x)[0] == 1


def test_without_aspects_only_the_natural_balance():
    pool = made(3)
    bare = Pool("bare", pool.systems, pool.lines, pool.source_lines, pool.total, scorers=pool.scorers)
    found = significance(bare, resamples=20)
    assert found.p.shape == (1, 3, 3) and np.isnan(found.betas).all()
    with pytest.raises(wb.DataError, match="natural balance only"):
        significance(bare, [0.5])


def test_refusals():
    pool = made(3)
    for resamples in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="at least 1"):
            significance(pool, resamples=resamples)
    with pytest.raises(ValueError, match="constant"):
        significance(pool, scores={"flat": np.ones(pool.total.shape)})
    with pytest.raises(ValueError, match="shape"):
        significance(pool, scores={"short": np.ones((5, 2))})
    with pytest.raises(ValueError, match="p-values only"):
        significance(pool, scores={"bare": np.full(10, 0.5)})
    with pytest.raises(ValueError, match="holds none"):
        significance(pool, only_own=True)
    with pytest.raises(ValueError, match="1 scorers to compare"):
        significance(made(3, noise=(1,)))
    with pytest.raises(ValueError, match="already"):
        significance(pool, scores={"noise 1": pool.scorers["noise 1"]})
    with pytest.raises(ValueError, match="reach"):
        significance(pool, [0.0])
    with pytest.raises(ValueError, match=r"\(M, M\)"):
        clusters([0.5, 0.4], [[1.0]])
    with pytest.raises(ValueError, match="level"):
        clusters([0.5], [[1.0]], level=5)


def plain_clusters(spa, p, level):
    """WMT's rule in words: walk down the ranking; a scorer that anyone of the current cluster beats opens a new one."""
    ranking = sorted(range(len(spa)), key=lambda m: -spa[m])
    groups = [[ranking[0]]]
    for m in ranking[1:]:
        if any(p[other][m] <= level for other in groups[-1]):
            groups.append([])
        groups[-1].append(m)
    return {m: number for number, group in enumerate(groups, start=1) for m in group}


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 9), st.integers(0, 10**6), st.sampled_from([0.05, 0.3]))
def test_clusters_follow_the_rule(size, seed, level):
    rng = np.random.default_rng(seed)
    spa, p = rng.random(size).round(1), rng.random((size, size)).round(2)
    assert dict(enumerate(clusters(spa, p, level).tolist())) == plain_clusters(spa, p, level)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_by_its_steps(p):
    """Step down by hand: the adjusted value is the smallest level at which the procedure rejects."""
    order = sorted(range(len(p)), key=p.__getitem__)
    largest, expected = 0.0, {}
    for rank, n in enumerate(order):
        largest = max(largest, (len(p) - rank) * p[n])
        expected[n] = min(1.0, largest)
    assert dict(enumerate(holm(p).tolist())) == pytest.approx(expected)


def test_clusters_need_the_tests_that_waves_ask_for():
    """Clusters from some of the tests are those from all of them, and with many scorers far fewer are made."""
    rng = np.random.default_rng(0)
    made, every = 0, 0
    for m in rng.integers(2, 120, size=60):
        spa = rng.random(m).round(2)
        full = np.clip((spa[None] - spa[:, None]) * rng.choice([0.5, 2, 20]) + 0.5 + rng.normal(size=(m, m)) / 20, 0, 1)
        p = np.full((m, m), np.nan)
        for i, j in waves(spa, p):
            assert (i < j).all() and np.isnan(p[i, j]).all()  # none is asked for twice
            p[i, j], p[j, i] = full[i, j], full[j, i]
            made += len(i)
        assert np.array_equal(wb.clusters(spa, p), wb.clusters(spa, full))
        every += m * (m - 1) // 2
    assert made < 0.8 * every
