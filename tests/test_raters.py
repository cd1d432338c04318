"""Raters: β₀ of each, components of variance, agreement, plans; on made ratings whose truth is known, and on what ships."""

from dataclasses import replace
from functools import lru_cache
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import whichbird as wb
from whichbird.data.pool import Rating
from whichbird.data.registry import DATASETS
from whichbird_book import facets, raters

TRUE = {  # variances of adequacy and fluency, and what the two share, in the order of facets.PARTS
    "system": (2.0, 0.5, 0.3), "rater": (1.0, 0.6, 0.2), "segment": (3.0, 1.0, 0.5), "system × rater": (0.5, 0.3, -0.1),
    "system × segment": (1.0, 0.4, 0.2), "rater × segment": (0.8, 0.5, 0.0), "residual": (2.0, 1.0, 0.1),
}  # fmt: skip
SHARES = {"system": "k", "rater": "r", "segment": "n", "system × rater": "kr", "system × segment": "kn",
          "rater × segment": "rn", "residual": "krn"}  # fmt: skip


def made(rng, systems=6, people=4, segments=30, length=2, ratings=None, gaps=0.0, parts=TRUE):
    """Ratings with the components `parts`: (R, 2, K, N), and documents of `length` segments.

    `ratings`: so many raters a document, drawn at random; None: all. `gaps`: the share of cells that are missing.
    """
    sizes = {"r": people, "k": systems, "n": segments}
    y = np.zeros((people, 2, systems, segments))
    for part, (a, f, both) in parts.items():
        root = np.linalg.cholesky(np.array([[a, both], [both, f]]))
        shape = [sizes[axis] if axis in SHARES[part] else 1 for axis in "rkn"]
        y += np.moveaxis(rng.normal(size=(*shape, 2)) @ root.T, -1, 1)
    documents = np.arange(segments) // length
    if ratings is not None:
        who = np.argsort(rng.random((documents.max() + 1, people)), axis=1)[:, :ratings]
        keep = (who[documents][:, :, None] == np.arange(people)).any(axis=1)  # (N, R)
        y = np.where(keep.T[:, None, None], y, np.nan)
    missing = rng.random((people, systems, segments)) < gaps
    return np.where(missing[:, None], np.nan, y), documents


def pool_from(y, documents, name="made"):
    """A pool whose ratings are y (R, 2, K, N): rating q is rater q's."""
    ratings = tuple(
        Rating(*x, x.sum(axis=0), np.where(np.isnan(x[0]), -1, r).astype(np.int16)) for r, x in enumerate(y)
    )
    with np.errstate(invalid="ignore"):
        mean = np.nansum(y, axis=0) / np.maximum((~np.isnan(y)).sum(axis=0), 1)
    mean[:, np.isnan(y[:, 0]).all(axis=0)] = np.nan
    n = y.shape[3]
    return wb.Pool(
        name, tuple(f"s{k:02}" for k in range(y.shape[2])), np.arange(n), n, mean.sum(axis=0), *mean,
        raters=np.full(y.shape[2:], -1), rater_names=tuple(f"rater{r}" for r in range(len(y))),
        documents=tuple(map(str, documents)), ratings=ratings,
    )  # fmt: skip


@lru_cache
def shipped(name):
    return wb.load_pool(name)


SEVERAL = sorted(name for name in DATASETS if name in ("ende20", "zhen20", "ende22", "enzh22", "ende23", "zhen23"))


# --- components


def anova(y):
    """The textbook's estimates in a complete design y (R, K, N), one observation a cell: mean squares, then their expectations."""
    R, K, N = y.shape
    m = {axes: y.mean(axis=tuple(i for i, axis in enumerate("rkn") if axis not in axes), keepdims=True)
         for axes in ("", "r", "k", "n", "rk", "kn", "rn")}  # fmt: skip
    size = {"r": R, "k": K, "n": N}

    def square(effect, axes):
        free = np.prod([size[a] - 1 for a in axes])
        rest = np.prod([size[a] for a in "rkn" if a not in axes])
        return float(rest * (effect**2).sum() / free)

    main = {a: square(m[a] - m[""], a) for a in "rkn"}
    pair = {ab: square(m[ab] - m[ab[0]] - m[ab[1]] + m[""], ab) for ab in ("rk", "kn", "rn")}
    rest = square(y - m["rk"] - m["kn"] - m["rn"] + m["r"] + m["k"] + m["n"] - m[""], "rkn")
    out = {"residual": rest}
    out["system × rater"] = (pair["rk"] - rest) / N
    out["system × segment"] = (pair["kn"] - rest) / R
    out["rater × segment"] = (pair["rn"] - rest) / K
    out["system"] = (main["k"] - pair["rk"] - pair["kn"] + rest) / (R * N)
    out["rater"] = (main["r"] - pair["rk"] - pair["rn"] + rest) / (K * N)
    out["segment"] = (main["n"] - pair["kn"] - pair["rn"] + rest) / (R * K)
    return out


@given(st.integers(2, 5), st.integers(2, 4), st.integers(2, 7), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_a_balanced_design_gives_the_textbooks_analysis_of_variance(systems, people, segments, seed):
    y, documents = made(np.random.default_rng(seed), systems, people, segments, length=1)
    parts = facets.generalise(pool_from(y, documents)).parts
    for aspect, column in enumerate(y.transpose(1, 0, 2, 3)):
        for part, value in anova(column).items():
            assert parts[part][aspect, aspect] == pytest.approx(value, rel=1e-8, abs=1e-8), part


def plain(y, documents, unit):
    """The four parts with "system", and what is theirs of two aspects, in loops over pairs of rows and of systems."""
    R, _, K, N = y.shape
    rows = list(product(range(R), range(N)))
    total, count = np.zeros((4, 2, 2)), np.zeros(4)
    for (r, n), (q, m) in product(rows, rows):
        if documents[n] != documents[m]:
            where = 1 if r == q else 0
        elif unit[n] == unit[m]:
            where = 3 if r == q else 2
        else:
            continue
        for k, l in combinations(range(K), 2):
            one, two = y[r, :, k, n] - y[r, :, l, n], y[q, :, k, m] - y[q, :, l, m]
            if not np.isnan(one).any() and not np.isnan(two).any():
                total[where] += np.outer(one, two) / 2
                count[where] += 1
    system, with_rater, with_segment, whole = total / count[:, None, None]
    return {"system": system, "system × rater": with_rater - system, "system × segment": with_segment - system,
            "residual": whole - with_rater - with_segment + system}  # fmt: skip


@pytest.mark.parametrize("document", [False, True])
def test_components_of_an_incomplete_design_against_plain_loops(document):
    y, documents = made(np.random.default_rng(3), 4, 3, 12, length=3, ratings=2, gaps=0.15)
    found = facets.generalise(pool_from(y, documents), document).parts
    unit = documents if document else np.arange(12)
    for part, value in plain(y, documents, unit).items():
        assert np.allclose(found[part], value, rtol=1e-9), part


def plain_severity(y, documents):
    """The three parts without "system", from complete rows, in loops."""
    R, _, K, N = y.shape
    level = y.mean(axis=2)
    far, same, change = [], [], []
    for r, q in combinations(range(R), 2):
        both = [n for n in range(N) if not np.isnan(level[[r, q], :, n]).any()]
        for n in both:
            gap = level[r, :, n] - level[q, :, n]
            same.append(np.outer(gap, gap) / 2)
            for m in both:
                if documents[n] != documents[m]:
                    far.append(np.outer(gap, level[r, :, m] - level[q, :, m]) / 2)
                    x, z = level[r, :, n] - level[r, :, m], level[q, :, n] - level[q, :, m]
                    change.append((np.outer(x, z) + np.outer(z, x)) / 4)
    return np.mean(far, axis=0), np.mean(same, axis=0), np.mean(change, axis=0)


def test_severity_and_difficulty_against_plain_loops():
    y, documents = made(np.random.default_rng(4), 4, 3, 12, length=3, ratings=2, gaps=0.05)
    parts = facets.generalise(pool_from(y, documents)).parts
    far, same, change = plain_severity(y, documents)
    K = y.shape[2]
    assert np.allclose(parts["rater"], far - parts["system × rater"] / K)
    assert np.allclose(parts["rater × segment"], same - far - parts["residual"] / K)
    assert np.allclose(parts["segment"], change - parts["system × segment"] / K)


@pytest.mark.parametrize("design", [{}, {"ratings": 2}, {"ratings": 2, "gaps": 0.05, "segments": 40}], ids=str)
def test_components_are_unbiased(design):
    """The mean over 400 made pools lies within four standard errors of the truth, for every part, variance and covariance."""
    rng = np.random.default_rng(5)
    found = [facets.generalise(pool_from(*made(rng, 5, 4, **({"segments": 16} | design)))).parts for _ in range(400)]
    for part, (a, f, both) in TRUE.items():
        x = np.array([parts[part] for parts in found])
        assert (np.abs(x.mean(axis=0) - [[a, both], [both, f]]) < 4 * x.std(axis=0) / np.sqrt(len(x))).all(), part


def test_one_rating_a_cell_leaves_the_segment_in_the_residual():
    rng = np.random.default_rng(6)
    found = [facets.generalise(pool_from(*made(rng, 5, 4, 24, ratings=1))).parts for _ in range(300)]
    for part in ("rater", "segment", "system × segment", "rater × segment"):
        assert np.isnan(found[0][part]).all()
    for part, true in (("system", TRUE["system"]), ("system × rater", TRUE["system × rater"]),
                       ("residual", np.add(TRUE["residual"], TRUE["system × segment"]))):  # fmt: skip
        x = np.array([parts[part][[0, 1, 0], [0, 1, 1]] for parts in found])
        assert (np.abs(x.mean(axis=0) - true) < 4 * x.std(axis=0) / np.sqrt(len(x))).all(), part


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100), st.floats(-50, 50))
@settings(max_examples=20, deadline=None)
def test_scale_severity_and_difficulty_do_not_touch_what_systems_share(seed, scale, shift):
    """A rater's severity and a segment's difficulty leave the parts with "system" alone; a scale multiplies all by its square."""
    rng = np.random.default_rng(seed)
    y, documents = made(rng, 4, 3, 10, ratings=2)
    other = scale * y + shift * rng.normal(size=(3, 1, 1, 1)) + shift * rng.normal(size=(1, 2, 1, 10))
    one, two = (facets.generalise(pool_from(x, documents)).parts for x in (y, other))
    for part in SHARES:
        if "k" in SHARES[part]:
            size = np.abs(one["residual"]).max() * scale**2 + (shift * 1e-6) ** 2
            assert np.allclose(two[part], one[part] * scale**2, rtol=1e-6, atol=1e-6 * size), part


def test_the_error_of_means_is_what_means_scatter_by():
    """Systems that do not differ, raters who take turns: all that means scatter by is what `error` says, to four standard errors."""
    rng = np.random.default_rng(7)
    parts = {part: x for part, x in TRUE.items() if part != "system"}
    known = facets.Facets({p: np.array([[a, c], [c, f]]) for p, (a, f, c) in TRUE.items()}, 12, 3, 5)
    for people, segments, ratings in ((3, 12, 1), (3, 12, 2), (6, 24, 2)):
        turn = (np.arange(people)[:, None] - np.arange(segments)) % people < ratings  # (R, N)
        means = []
        for _ in range(1500):
            y, _ = made(rng, 5, people, segments, parts=parts)
            mean = (y * turn[:, None, None]).sum(axis=(0, 3)) / turn.sum()
            means.append(mean - mean.mean(axis=1, keepdims=True))
        scatter = np.einsum("sxk,syk->xy", means, means) / (len(means) * 4)
        assert np.diag(scatter) == pytest.approx(
            np.diag(known.error(people, ratings, segments)), rel=4 * np.sqrt(2 / 6000)
        )
    assert np.array_equal(known.error(), known.error(3, 1, 12))


# --- β₀ of raters


def test_lean_is_the_log_odds_of_the_balance_and_its_error_the_jackknifes():
    """Against leaving out one document after the other with `wb.balance`."""
    y, documents = made(np.random.default_rng(8), 5, 2, 14, length=3)

    def odds(keep):
        return [np.log(b / (1 - b)) for x in y for b in [wb.balance(*x[:, :, keep].mean(axis=2))]]

    found = raters.lean(y, documents, np.array([1.0, -1.0]))
    one, two = odds(np.full(14, True))
    assert found.log_odds == pytest.approx(one - two)
    left = [np.subtract(*odds(documents != d)) for d in range(5)]
    assert found.se == pytest.approx(np.sqrt(4 / 5 * np.square(left - np.mean(left)).sum()))
    assert raters.lean(y, documents).log_odds == pytest.approx((one + two) / 2)
    assert found.documents == 5


@pytest.mark.parametrize("name", ["ende22", "zhen20"])
def test_raters_of_a_shipped_pool_against_their_definition(name):
    pool = shipped(name)
    table = raters.rater_balances(pool).set_index("rater")
    for k, rater in enumerate(pool.rater_names):
        mine = np.full((2, *pool.total.shape), np.nan)
        for r in pool.ratings:
            mine = np.where(r.raters == k, [r.adequacy, r.fluency], mine)
        whole = ~np.isnan(mine[0]).any(axis=0)
        assert table.loc[rater, "segments"] == whole.sum()
        assert table.loc[rater, "beta0"] == pytest.approx(wb.balance(*mine[:, :, whole].mean(axis=2)))
    assert (table["low"] < table["beta0"]).all() and (table["beta0"] < table["high"]).all()


def test_a_rater_like_the_others_has_no_effect():
    """Two raters who give the very same marks differ by nothing, with nothing to spare."""
    y, documents = made(np.random.default_rng(9), 5, 1, 60)
    table = raters.rater_balances(pool_from(np.concatenate([y, y]), documents))
    assert table[["rater_effect", "rater_low", "rater_high", "text_effect"]].to_numpy() == pytest.approx(0, abs=1e-9)
    habits = raters.rater_habits(pool_from(-np.abs(np.concatenate([y, 2 * y])), documents))
    assert habits["both"].tolist() == pytest.approx([0.5, 2]) and habits["cells"].tolist() == [300, 300]


def test_dealt_rounds_hold_the_same_ratings():
    for name in ("ende22", "zhen20"):
        pool = shipped(name)
        rounds = raters.dealt(pool, 1)
        for what in ("adequacy", "fluency", "total", "raters"):
            old, new = (np.sort(np.array([getattr(r, what) for r in x]), axis=0) for x in (pool.ratings, rounds))
            assert np.array_equal(old, new, equal_nan=True), what
        there = [~np.isnan(r.adequacy) for r in rounds]
        assert all((later <= sooner).all() for sooner, later in zip(there, there[1:], strict=False))
        documents = raters.document_numbers(pool)
        if name == "ende22":  # three raters a document, each in one round of it
            assert all(len(np.unique(r.raters[:, documents == 5])) == 1 for r in rounds)
    assert not np.array_equal(raters.dealt(pool, 1)[0].raters, raters.dealt(pool, 2)[0].raters)


# --- agreement


def krippendorff(cells):
    """α for kinds from a list of the ratings of each cell, by its definition: pairs of ratings within cells and of all."""
    cells = [c for c in cells if len(c) > 1]
    every = [x for c in cells for x in c]
    observed = sum(sum(x != y for x, y in product(c, c)) / (len(c) - 1) for c in cells) / len(every)
    expected = sum(x != y for i, x in enumerate(every) for j, y in enumerate(every) if i != j)
    return 1 - observed / (expected / (len(every) * (len(every) - 1)))


def test_agreement_against_krippendorffs_definition():
    rng = np.random.default_rng(10)
    y = -rng.integers(0, 2, size=(3, 2, 4, 10)).astype(float)
    missing = rng.random((3, 1, 4, 10)) < 0.2
    y = np.where(missing, np.nan, y)
    found = raters.aspect_agreement(pool_from(y, np.arange(10) // 2))
    kinds = [[tuple(x < 0) for x in y[:, :, k, n] if not np.isnan(x[0])] for k in range(4) for n in range(10)]
    assert found.alpha == pytest.approx(krippendorff(kinds))
    assert found.table.sum() == pytest.approx(1) and np.allclose(found.table, found.table.T)
    assert found.alpha_low < found.alpha < found.alpha_high


def test_agreement_on_the_aspect_of_two_raters():
    """Two raters, one aspect each in every cell: α of a table of two kinds; a third kind of cell does not count."""
    adequacy, fluency, nothing = (-1.0, 0.0), (0.0, -5.0), (0.0, 0.0)
    pairs = (
        [(adequacy, adequacy)] * 6 + [(fluency, fluency)] * 5 + [(adequacy, fluency)] * 3 + [(nothing, adequacy)] * 4
    )
    y = np.array(pairs).transpose(1, 2, 0)[:, :, None]  # (2, 2, 1, N)
    y = np.concatenate([y, np.roll(y, 1, axis=3)], axis=2)  # two systems
    found = raters.aspect_agreement(pool_from(y, np.arange(len(pairs)) % 6))
    assert found.same == pytest.approx(11 / 14)
    assert found.cells == 2 * 2 * 14
    assert found.aspect == pytest.approx(krippendorff([[x, z] for x, z in pairs if nothing not in (x, z)] * 2))


# --- plans


def test_a_plan_with_endless_raters_and_text_finds_the_truth():
    plan = facets.rater_plan("ende22", raters=[10**9], ratings=[1], text=[10**9])
    assert plan["beta0"][0] == pytest.approx(facets.generalise("ende22").beta, abs=1e-6)
    assert plan["sd"][0] < 1e-6
    many = facets.rater_plan("ende22", raters=[3, 30], ratings=[1, 3], text=[1, 4]).set_index(
        ["raters", "ratings", "text"]
    )["sd"]
    assert (many[30] < many[3]).all() and (many.xs(3, level=1) < many.xs(1, level=1)).all()
    assert (many.xs(4, level=2) < many.xs(1, level=2)).all()


def test_more_ratings_against_drawn_scorers():
    """Normal scorers, normal noise: τ between means of m and n ratings, over 200 000 pairs of scorers."""
    rng = np.random.default_rng(11)
    true, noise = rng.normal(size=(200_000, 2)), 0.5

    def draw(m):
        return true + noise / np.sqrt(m) * rng.normal(size=true.shape)

    def tau(m, n):
        return np.mean(np.sign(np.diff(draw(m), axis=1) * np.diff(draw(n), axis=1)))

    single = tau(1, 1)
    for m, n in ((1, 2), (3, 3), (2, 6)):
        assert facets.more_ratings(single, m, n) == pytest.approx(tau(m, n), abs=0.01)


# --- coverage, rankings, own tables, refusals


def test_intervals_cover():
    """A part of what ships in data/raters.csv, made again."""
    table = wb.data.digest.read_table("raters.csv").set_index(["dataset", "quantity"])
    again = raters.rater_coverage(shipped("ende23"), contests=60, truth=100).set_index(["dataset", "quantity"])
    for key, row in again.iterrows():
        assert row["covered"] == pytest.approx(table.loc[key, "covered"], abs=0.05), key


def test_an_own_table_may_name_raters(tmp_path):
    rng = np.random.default_rng(12)
    y, _ = made(rng, 4, 3, 12, ratings=2)
    lines = ["system,segment,adequacy,fluency,rater"]
    cells = np.argwhere(~np.isnan(y[:, 0]))
    for r, k, n in rng.permutation(cells):
        lines.append(
            f"s{k},g{n:02},{y[r, 0, k, n]!r},{y[r, 1, k, n]!r},rater{9 + r}".replace("np.float64(", "").replace(")", "")
        )
    path = tmp_path / "human.csv"
    path.write_text("\n".join(lines), "utf-8")
    pool = wb.read_human(path)
    order = [int(name[1:]) for name in pool.segments]
    assert pool.rater_names == ("rater9", "rater10", "rater11") and len(pool.ratings) == 2
    assert np.allclose(raters.by_rater(pool), y[..., order], equal_nan=True)
    assert np.allclose(pool.adequacy, np.nanmean(y[:, 0], axis=0)[:, order], rtol=1e-11)
    once = tmp_path / "once.csv"
    once.write_text(
        "\n".join([lines[0], *(f"s{k},g{n},{-k * n},{-n},ann" for k in range(3) for n in range(4))]), "utf-8"
    )
    with pytest.raises(wb.DataError, match="once.csv: one rater"):
        raters.rater_balances(wb.read_human(once))
    twice = tmp_path / "twice.csv"
    twice.write_text("\n".join([*lines, lines[1]]), "utf-8")
    with pytest.raises(wb.DataError, match=r"repeats system 's\d' on segment 'g\d\d' by rater 'rater\d+'"):
        wb.read_human(twice)
    empty = tmp_path / "empty.csv"
    empty.write_text("\n".join([*lines, "s0,g99,0,0,"]), "utf-8")
    with pytest.raises(wb.DataError, match=r"column 5 \(rater\) is empty"):
        wb.read_human(empty)


def test_refusals():
    with pytest.raises(wb.DataError, match="heen23"):
        raters.rater_balances("heen23")
    with pytest.raises(wb.DataError, match="ende21: no rater saw 40 segments from all systems"):
        raters.rater_balances("ende21")
    with pytest.raises(wb.DataError, match="ende24: no cell has two ratings"):
        raters.rater_habits("ende24")
    with pytest.raises(wb.DataError, match="ende24: no cell has two ratings"):
        raters.aspect_agreement("ende24")
    with pytest.raises(wb.DataError, match="ende24 has one rating a cell"):
        raters.dealt(shipped("ende24"))
    with pytest.raises(ValueError, match="raters are .0.; positive numbers"):
        facets.rater_plan("ende22", raters=[0])
    with pytest.raises(ValueError, match="tau is 0"):
        facets.more_ratings(0, 1, 1)
    y, documents = made(np.random.default_rng(13), 4, 2, 50)
    nameless = replace(pool_from(y, documents), ratings=(), raters=None, rater_names=())
    with pytest.raises(wb.DataError, match="made: its ratings name no rater"):
        facets.generalise(nameless)
    with pytest.raises(ValueError, match="1 document; at least two"):
        raters.lean(y, np.zeros(50, dtype=int))
    with pytest.raises(ValueError, match="made has 1 document; at least two"):
        raters.aspect_agreement(pool_from(-np.abs(y), np.zeros(50, dtype=int)))
    flat = y.copy()
    flat[:, 1] = 0
    with pytest.raises(wb.DataError, match="cannot be told from noise"):
        facets.rater_plan(pool_from(flat, documents))


def test_a_rater_who_never_marks_fluency_has_a_row():
    y, documents = made(np.random.default_rng(14), 5, 3, 60)
    y[0, 1] = 0
    table = raters.rater_balances(pool_from(y, documents))
    blind = table.iloc[0]
    assert blind["beta0"] == 1 and (blind["low"], blind["high"]) == (0, 1)
    assert blind[["beta", "rater_effect", "rater_low", "text_effect"]].isna().all()
    assert 0 < table["beta0"][1] < 1 and table["segments"].tolist() == [60] * 3


def test_what_cannot_be_compared_is_a_sentence_or_missing():
    y, documents = made(np.random.default_rng(15), 3, 3, 12)
    each = np.where(np.eye(3, dtype=bool)[:, None, :, None], y, np.nan)  # every rater rates one system
    with pytest.raises(wb.DataError, match="made: nobody rated two systems on one segment"):
        facets.generalise(pool_from(each, documents))
    for lone in (np.zeros(12, dtype=int), None):  # one document; every rater one document of his or her own
        x = y if lone is not None else np.where((np.arange(12) // 4 == np.arange(3)[:, None])[:, None, None], y, np.nan)
        with pytest.raises(wb.DataError, match="two raters, on different documents, and one of them on two"):
            facets.generalise(pool_from(x, np.arange(12) // 4 if lone is None else lone))
    for found in (raters.rater_habits, raters.aspect_agreement):
        with pytest.raises(wb.DataError, match="made.*up to 3"):
            found(pool_from(np.full((2, 2, 3, 12), 3.0), documents))
    nothing = np.zeros((2, 2, 3, 12))
    nothing[1, 0] = -1
    with np.errstate(all="raise"):
        habits, agreement = (
            found(pool_from(nothing, documents)) for found in (raters.rater_habits, raters.aspect_agreement)
        )
    assert habits["adequacy"].isna().tolist() == [False, True] and habits["fluency"].isna().all()
    assert np.isnan([agreement.same, agreement.aspect, agreement.aspect_low]).all() and agreement.alpha < 0


@pytest.mark.parametrize("name", SEVERAL)
def test_shipped_pools_with_several_ratings_have_all_parts(name):
    found = facets.generalise(shipped(name))
    assert list(found.parts) == list(facets.PARTS)
    assert not any(np.isnan(x).any() for x in found.parts.values())
    assert 0 < found.beta < 1
