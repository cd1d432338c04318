"""Noise in β₀: against plain loops, on data whose truth is known, under change of units; and `whichbird beta`."""

import csv
import io
import json
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from goldens import GOLDEN, write_files
from hypothesis import given, settings, strategies as st
from owndata import ADEQUACY, FLUENCY, SYSTEMS, human, refused, run

import whichbird as wb
from whichbird.core.noise import Spread, interval, residuals, roots, spread
from whichbird.data.digest import read_table
from whichbird.data.pool import Pool
from whichbird.study.components import FEWEST, cell_components, document_sums, ends, redrawn
from whichbird.study.intervals import draw, quantile
from whichbird.study.overview import overview
from whichbird.study.ranking import rank_change
from whichbird_book.worlds import beta_coverage, text_world


def made(seed=0, systems=6, documents=14, length=4, gaps=0, noise=1.0, together=0.5):
    """Ratings (2, K, N) and the name of each segment's document; `gaps` cells nobody rated."""
    rng = np.random.default_rng(seed)
    size = documents * length
    x = 0.4 * rng.normal(size=(2, systems, 1)) + noise * rng.normal(size=(2, systems, size))
    x += together * np.repeat(rng.normal(size=(2, systems, documents)), length, axis=2)
    for k, n in rng.integers(0, (systems, size), size=(gaps, 2)):
        x[:, k, n] = np.nan
    return x, tuple(f"d{n // length}" for n in range(size))


def plainly(x, documents):
    """Observed variances and noise, from their definition: one document and one pair of systems after the other."""
    systems, names = len(x[0]), sorted(set(documents))
    seen, noise, both = [], [], []
    for aspect in x:
        rated = ~np.isnan(aspect)
        mean = [aspect[k][rated[k]].mean() for k in range(systems)]
        add = np.zeros((len(names), systems))
        for g, name in enumerate(names):
            mine = np.array([d == name for d in documents])
            for k in range(systems):
                cells = aspect[k][rated[k] & mine]
                share = cells.size / rated[k].sum()
                add[g, k] = (cells.sum() - cells.size * mean[k]) / rated[k].sum() / np.sqrt(1 - share)
        covariance = [[sum(add[:, k] * add[:, l]) for l in range(systems)] for k in range(systems)]
        seen.append(np.mean((mean - np.mean(mean)) ** 2))
        noise.append(np.trace(covariance) / systems - np.mean(covariance))
        both.append(np.array(covariance))
    return np.array(seen), np.array(noise), both


# ---- the estimates


@pytest.mark.parametrize("gaps", [0, 60])
def test_variances_and_noise_by_a_plain_loop(gaps):
    x, documents = made(3, gaps=gaps)
    found = cell_components(*x, documents)
    seen, noise, covariance = plainly(x, documents)
    assert found.spread.observed == pytest.approx(seen, rel=1e-12)
    assert found.spread.noise == pytest.approx(noise, rel=1e-10)
    assert found.shares == pytest.approx(noise / seen, rel=1e-10)
    assert found.beta0 == pytest.approx(seen[0] / seen.sum(), rel=1e-12)
    true = seen - noise
    assert found.beta == (pytest.approx(true[0] / true.sum(), rel=1e-9) if (true > 0).all() else None)
    centre = np.eye(6) - 1 / 6
    for se, c in zip(found.se, covariance, strict=True):
        assert se**2 == pytest.approx(np.diag(centre @ c @ centre), rel=1e-9)


@pytest.mark.parametrize("noise", [0.3, 3.0])
def test_what_the_interval_rests_on_by_matrices(noise):
    """The moments of a noncentral chi-square, from the covariance matrices of the plain loop: little noise, and much."""
    x, documents = made(11, noise=noise)
    s, (_, _, (c_a, c_f)) = cell_components(*x, documents).spread, plainly(x, documents)
    centre, g, k = np.eye(6) - 1 / 6, 14, 6
    m = [centre @ aspect.mean(axis=1) for aspect in x]
    for n, c in enumerate((centre @ c_a @ centre, centre @ c_f @ centre)):
        trace, seen = np.trace(c), m[n] @ m[n] / k
        square = (g - 1) ** 2 / ((g - 2) * (g + 1)) * (np.trace(c @ c) - trace**2 / (g - 1))  # unbiased for tr C²
        square = max(square, trace**2 / (k - 1)) / k**2
        assert s.square[n] == pytest.approx(2 * g / (g - 1) * square, rel=1e-9)
        top = m[n] @ c @ m[n] / k**2
        want = max(top - square, top / 2) / max(seen - trace / k, seen / 2)
        assert s.along[n] == pytest.approx(max(want, 0.01 * trace / k / (k - 1)), rel=1e-9)
    residual = residuals(*document_sums(list(x), ~np.isnan(x[0]), documents))[1]
    pull = [r @ v for r, v in zip(residual, m, strict=True)]
    assert s.together == pytest.approx(pull[0] @ pull[1] / np.sqrt((pull[0] @ pull[0]) * (pull[1] @ pull[1])), rel=1e-9)
    lift = s.square / (4 * s.along)
    root, floor, sd = roots(s)
    assert floor == pytest.approx(np.sqrt(np.maximum(lift - s.along / 2, 0)), rel=1e-12)
    assert root == pytest.approx(np.maximum(np.sqrt(np.maximum(s.corrected + lift + s.along / 2, 0)), floor), rel=1e-12)
    assert sd**2 == pytest.approx(s.along, rel=1e-12)


def test_more_text_divides_the_noise():
    s = wb.components("ende22").spread
    more = s.more(4)
    assert more.corrected == pytest.approx(s.corrected, rel=1e-12) and more.noise == pytest.approx(
        s.noise / 4, rel=1e-12
    )
    assert more.along == pytest.approx(s.along / 4) and more.square == pytest.approx(s.square / 16)
    assert more.documents == 4 * s.documents


def test_noise_of_equal_documents_is_the_textbook_one():
    """Documents of one length, all rated: the mean over documents, whose variance everybody knows."""
    x, documents = made(5, systems=2, documents=30, length=3)
    gap = (x[:, 0] - x[:, 1]).reshape(2, 30, 3).mean(axis=2)
    want = gap.var(axis=1, ddof=1) / 30 / 4  # two systems: the variance is a quarter of the squared gap
    assert cell_components(*x, documents).spread.noise == pytest.approx(want, rel=1e-12)


def test_corrected_variances_are_unbiased_and_observed_ones_are_not():
    """Six fixed systems, many texts. The truth is the variance of the true means."""
    rng = np.random.default_rng(1)
    true = 0.3 * np.random.default_rng(2).normal(size=(2, 6))
    sizes = np.tile([2, 3, 8, 4], 6).astype(float)
    drift = rng.normal(size=(1500, 2, 24, 6)) * np.sqrt(sizes)[:, None] + 0.2 * rng.normal(size=(1500, 2, 24, 1))
    sums = sizes[:, None] * true[:, None] + drift
    s = spread(sums, np.broadcast_to(sizes[:, None], (1500, 24, 6)))
    want = true.var(axis=1)
    error = s.corrected.std(axis=0) / np.sqrt(1500)
    assert (np.abs(s.corrected.mean(axis=0) - want) < 4 * error).all()
    assert (s.observed.mean(axis=0) - want > 6 * error).all()


@given(st.integers(0, 10**6), st.floats(1e-4, 1e4), st.floats(-1e3, 1e3))
@settings(max_examples=25, deadline=None)
def test_units_and_what_all_systems_share_change_nothing(seed, scale, shift):
    """A common factor, a constant per aspect, and a document that is hard for all systems alike."""
    x, documents = made(seed, documents=10, length=2)
    hard = np.random.default_rng(seed).normal(size=(2, 1, 20))
    base = cell_components(*x, documents)
    other = cell_components(*(scale * (x + shift + hard)), documents)
    assert other.beta0 == pytest.approx(base.beta0, rel=1e-6)
    assert other.shares == pytest.approx(base.shares, rel=1e-6)
    assert (other.low, other.high) == pytest.approx((base.low, base.high), abs=1e-6)
    assert (other.beta is None) == (base.beta is None)


def test_order_and_names_change_nothing():
    x, documents = made(8, gaps=30)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(6), rng.permutation(len(documents))
    base, other = cell_components(*x, documents), cell_components(
        *x[:, rows][:, :, columns], [f"name {documents[n]}" for n in columns], [f"s{k}" for k in rows]
    )  # fmt: skip
    assert (other.low, other.high, other.beta0) == pytest.approx((base.low, base.high, base.beta0), rel=1e-9)
    assert other.se[:, 2] == pytest.approx(base.se[:, rows[2]], rel=1e-9)


def test_aspects_swap():
    x, documents = made(4)
    one, two = cell_components(*x, documents), cell_components(*x[::-1], documents)
    assert (1 - two.high, 1 - two.low) == pytest.approx((one.low, one.high), abs=1e-5)


# ---- the interval


def test_many_pools_at_once_are_each_alone():
    world = text_world("ende21")
    sums, counts = world.draw(np.random.default_rng(3), 5)
    low, high = interval(spread(sums, counts), 2.0)
    for n in range(5):
        alone = interval(spread(sums[n], counts[n]), 2.0)
        assert (float(alone[0]), float(alone[1])) == pytest.approx((low[n], high[n]), abs=1e-12)


def test_the_interval_is_the_range_of_balances_in_the_ellipse():
    """Points inside the ellipse by rejection, none of which may lie beyond its ends; and some come close to both."""
    x, documents = made(2, noise=0.4, documents=40)
    s = cell_components(*x, documents).spread
    low, high = interval(s, 2.0)
    centre, floor, sd = roots(s)
    z = np.random.default_rng(0).uniform(-4, 4, size=(400_000, 2))
    r = float(s.together)
    z = z[(z[:, 0] ** 2 + z[:, 1] ** 2 - 2 * r * z[:, 0] * z[:, 1]) / (1 - r**2) <= 4]
    variance = np.maximum(centre + sd * z, floor) ** 2 - floor**2
    beta = variance[:, 0] / variance.sum(axis=1)
    assert low - 1e-6 <= beta.min() < low + 0.01 and high - 0.01 < beta.max() <= high + 1e-6


def test_an_aspect_without_true_spread_leaves_the_interval_open():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(8, 1)) + rng.normal(size=(8, 300))
    shut = [cell_components(a, rng.normal(size=(8, 300))) for _ in range(40)]
    assert np.mean([c.high == 1 for c in shut]) > 0.9 and np.mean([c.low > 0.8 for c in shut]) > 0.9
    untold = [c for c in shut if c.beta is None]
    assert 8 <= len(untold) <= 32  # the corrected variance of nothing is negative about half of the time
    assert all("fluency spreads no more than noise would" in c.verdict for c in untold)
    nothing = cell_components(rng.normal(size=(8, 300)), rng.normal(size=(8, 300)))
    assert (nothing.low, nothing.high) == (0, 1) and "cannot be told" in nothing.verdict


def test_equal_means_of_one_aspect():
    """Fluency varies, but not between systems: all that is seen of it is noise."""
    f = np.tile(np.arange(12.0), (3, 1))
    found = cell_components(np.arange(36.0).reshape(3, 12) % 7, np.array([f[0], f[0][::-1], np.roll(f[0], 5)]))
    assert found.shares[1] == 1 and found.beta is None and found.high == 1 and found.beta0 == 1


def test_no_noise_no_width():
    """Every document says the same of every system."""
    a, f = np.repeat([[1.0], [2], [4]], 12, axis=1), np.repeat([[0.0], [2], [1]], 12, axis=1)
    found = cell_components(a, f)
    assert found.spread.noise == pytest.approx([0, 0], abs=1e-15)
    assert found.low == pytest.approx(found.beta0, abs=1e-6) and found.high == pytest.approx(found.beta0, abs=1e-6)


def test_few_documents_rule_out_nothing():
    x, documents = made(1, documents=FEWEST - 1, noise=0.1, together=0.0)
    found = cell_components(*x, documents)
    assert (found.low, found.high, found.bounded, found.needed()) == (0, 1, False, None)
    assert f"{FEWEST - 1} documents are too few" in found.verdict
    x, documents = made(1, documents=FEWEST, noise=0.1, together=0.0)
    assert cell_components(*x, documents).bounded


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_intervals_hold_the_estimate_and_shrink(seed):
    x, documents = made(seed, documents=20, noise=0.5)
    found = cell_components(*x, documents)
    wider = cell_components(*x, documents, level=0.01)
    assert 0 <= wider.low <= found.low <= found.high <= wider.high <= 1
    if found.beta is not None:
        assert found.low <= found.beta <= found.high
        widths = [np.diff(found.with_text(factor))[0] for factor in (1, 4, 64)]
        assert widths[0] >= widths[1] >= widths[2]


def test_coverage_in_a_made_world():
    """Fixed systems, new text each time: the interval must hold their true balance 95 times of 100, give or take chance."""
    true = 0.4 * np.random.default_rng(5).normal(size=(2, 9))
    rng = np.random.default_rng(6)
    sizes = rng.integers(1, 9, size=60).astype(float)
    n = 1200
    drift = rng.normal(size=(n, 2, 60, 9)) * np.sqrt(sizes)[:, None] * np.array([1.0, 1.5])[:, None, None]
    drift[:, 1] += 0.5 * drift[:, 0]  # an error of one aspect often is one of the other
    s = spread(sizes[:, None] * true[:, None] + drift, np.broadcast_to(sizes[:, None], (n, 60, 9)))
    low, high = ends(s)
    beta = true[0].var() / true.var(axis=1).sum()
    assert abs(((low <= beta) & (beta <= high)).mean() - 0.95) < 0.02 + 2 * np.sqrt(0.95 * 0.05 / n)


@pytest.mark.parametrize("name", ["ende21", "enes24"])
def test_a_sample_of_the_coverage_that_ships(name):
    """Fresh draws of a few hundred texts against the 2000 of the table."""
    table = read_table("beta_coverage.csv").set_index(["dataset", "way", "documents"])
    documents = wb.components(name).documents
    kept = table.loc[(name, "drawn", documents)]
    found = beta_coverage(text_world(name), draws=300, seed=99)
    assert found["truth"] == pytest.approx(kept["truth"], abs=1e-4)
    assert abs(found["covered"] - kept["covered"]) < 4 * np.sqrt(0.05 * 0.95 / 300)
    assert abs(found["open"] - kept["open"]) < 4 * np.sqrt(0.25 / 300)


def test_the_coverage_that_ships_keeps_what_the_book_promises():
    """Within two points of 95 % where the interval has two ends; on the safe side where it mostly has not."""
    table = read_table("beta_coverage.csv")
    closed = table[(table["way"] == "drawn") & (table["open"] < 0.5)]
    assert len(closed) == 12 and closed["covered"].between(0.93, 0.97).all()
    rest = table[(table["way"] == "drawn") & (table["open"] >= 0.5)]
    assert (rest["covered"] >= 0.95).all()
    normal = table[table["way"] == "normal"]
    assert normal.loc[normal["open"] < 0.5, "covered"].between(0.93, 0.97).all()
    assert set(table["dataset"]) == set(wb.datasets(aspects=True)) - {"ted_ende", "ted_zhen"}


# ---- how much text


def test_needed_is_what_it_takes():
    """With as much text as it says, intervals of that width come out, in a world of this spread and noise."""
    found = wb.components("ende22")
    need = found.needed(0.03)
    factor = need / found.segments
    assert np.diff(found.with_text(factor))[0] <= 0.06 < np.diff(found.with_text(0.98 * factor))[0]
    world = text_world("ende22", documents=round(found.documents * factor))
    s = spread(*world.draw(np.random.default_rng(0), 150))
    low, high = ends(s)
    assert np.median(high - low) == pytest.approx(0.06, rel=0.1)
    assert found.needed(0.01) > found.needed(0.02) > need
    with pytest.raises(ValueError, match="margin is 0; a number between"):
        found.needed(0)


def test_needed_has_no_ceiling_that_it_keeps_quiet_about():
    """A width that text does buy is reached, however much text; one below the last digits of a float is refused."""
    found = wb.components("zhen20")
    need = found.needed(1e-5)
    assert np.diff(found.with_text(need / found.segments))[0] == pytest.approx(2e-5, rel=1e-3)
    assert need == pytest.approx(1e4 * found.needed(1e-3), rel=0.01)  # a hundredth of the width
    assert found.needed(1e-16) is None


# ---- what ships


def test_what_ships_is_what_comes_out():
    table = read_table("components.csv").set_index("dataset")
    assert list(table.index) == wb.datasets(aspects=True)
    for name in ("zhen20", "zhen21", "ted_zhen", "jazh24"):
        found, row = wb.components(name), table.loc[name]
        want = [found.beta0, np.nan if found.beta is None else found.beta, found.low, found.high, *found.shares]
        kept = row[["beta0", "corrected", "low", "high", "noise_adequacy", "noise_fluency"]].to_numpy(float)
        assert kept == pytest.approx(want, rel=5e-6, nan_ok=True)  # six digits
        need = found.needed()
        assert np.isnan(row["needed"]) if need is None else row["needed"] == need


def test_reliable_intervals_that_ship_are_those_that_come_out():
    table = read_table("reliable.csv").set_index("dataset")
    assert list(table.index) == wb.datasets(aspects=True)
    solved = overview([wb.load(name) for name in table.index]).set_index("name")[["reliable_min", "reliable_max"]]
    assert table.to_numpy() == pytest.approx(solved.to_numpy(), rel=1e-12)
    read = overview().set_index("name").loc[table.index, ["reliable_min", "reliable_max"]]
    assert (read.to_numpy() == table.to_numpy()).all()


def test_overviews_have_the_interval():
    table = overview().set_index("name")
    shipped = read_table("components.csv").set_index("dataset")
    both = table.join(shipped.drop(columns="beta0"), how="inner")
    assert (both["beta0_low"] == both["low"]).all() and (both["beta0_high"] == both["high"]).all()
    assert np.isnan(table.loc["heen23", "beta0_low"])
    x, documents = made(0)
    size = len(documents)
    pool = Pool("mine", tuple("abcdef"), np.arange(size), size, x.sum(axis=0), *x, documents=documents)
    row, found = overview([pool]).iloc[0], wb.components(pool)
    assert (row["beta0_low"], row["beta0_high"]) == (found.low, found.high)
    single = Pool("mine", tuple("abcdef"), np.arange(size), size, x.sum(axis=0), *x, documents=("d",) * size)
    assert np.isnan(overview([single]).iloc[0]["beta0_low"])


# ---- what noise does to weights


def test_redrawn_weights_are_those_of_the_drawn_documents():
    pool, beta = wb.load_pool("ende21"), 0.3
    found = redrawn(pool, beta, resamples=6, seed=2)
    names = list(dict.fromkeys(pool.documents))
    counts, _ = draw("bootstrap", len(names), 6, 2)
    for n, row in enumerate(counts.astype(int)):
        lines = [k for name, times in zip(names, row, strict=True) for _ in range(times)
                 for k, d in enumerate(pool.documents) if d == name]  # fmt: skip
        a, f = pool.adequacy[:, lines].mean(axis=1), pool.fluency[:, lines].mean(axis=1)
        assert found.beta0[n] == pytest.approx(wb.balance(a, f), rel=1e-9)
        w = wb.reweight(a, f, beta)
        assert found.weights[n] == pytest.approx(w.weights, abs=1e-6)
        assert found.ess[n] == pytest.approx(w.ess, rel=1e-6)
    w = wb.reweight(*pool.aspects, beta).weights
    same = redrawn(pool, beta, resamples=2)
    assert rank_change(same.observed, same.observed).tau == 1
    assert wb.balance(*pool.aspects, w) == pytest.approx(beta)


# ---- refusals


def test_refusals():
    x, documents = made(0)
    flat = np.zeros_like(x[0])
    for args, sentence in (
        ((*x, ("d",) * 56), "cells has one document; noise is seen by comparing documents, so at least two are needed"),
        ((x[0][:, :1], x[1][:, :1]), "cells has one segment; noise"),
        ((x[0], flat, documents), "cells: fluency is 0 in every rated cell; a balance needs both aspects to vary"),
        ((x[0], x[1][:, :-1]), "cells: fluency has shape"),
        ((*x, documents[:-1]), "55 documents are named where 56"),
        ((x[0][:1], x[1][:1]), "cells has 1 system"),
    ):
        with pytest.raises(ValueError, match=sentence):
            cell_components(*args)
    lone = x.copy()
    lone[:, 2, 4:] = np.nan
    with pytest.raises(ValueError, match="system 'c' is rated in one document only"):
        cell_components(*lone, documents, tuple("abcdef"))
    lone[:, 2] = np.nan
    with pytest.raises(ValueError, match="system 'c' has no rating at all"):
        cell_components(*lone, documents, tuple("abcdef"))
    with pytest.raises(wb.DataError, match="heen23 has totals only"):
        wb.components("heen23")
    with pytest.raises(ValueError, match="level is 2"):
        wb.components("ende24", level=2)
    with pytest.raises(ValueError, match="unknown way 'bent'"):
        text_world("ende24", "bent")


def test_documents_without_a_rating_do_not_count():
    x, documents = made(6)
    x[:, :, :4] = np.nan
    base = cell_components(*x[:, :, 4:], documents[4:])
    assert cell_components(*x, documents).spread.noise == pytest.approx(base.spread.noise, rel=1e-12)
    sums, counts = document_sums(list(x), ~np.isnan(x[0]), documents)
    assert len(counts) == 13 and residuals(sums, counts)[1].shape == (2, 13, 6)


def test_two_documents_have_a_spread():
    s = spread(*text_world("ende21", documents=2).draw(np.random.default_rng(0), 3))
    assert isinstance(s, Spread) and np.isfinite(np.concatenate([*s[:4], s.together[:, None]], axis=1)).all()
    assert quantile(0.05, 2) > 12


# ---- the command


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    return tmp_path


def mqm(rows) -> str:
    head = "system\tdoc\tdoc_id\tseg_id\trater\tcategory\tseverity\n"
    return head + "".join("\t".join(map(str, row)) + "\n" for row in rows)


def errors(documents=9, raters=2):
    """Three systems, two segments a document, errors of both aspects and of terminology."""
    rng = np.random.default_rng(4)
    kinds = ["Accuracy/Omission", "Style/Awkward", "Terminology/Inconsistent", "no-error"]
    return [
        (
            s,
            f"d{d}",
            n,
            2 * d + n,
            f"r{d % raters}",
            kinds[rng.choice(4, p=p)],
            "Major" if rng.random() < 0.3 else "Minor",
        )
        for d in range(documents)
        for n in range(2)
        for s, p in zip("abc", ([0.5, 0.2, 0.2, 0.1], [0.1, 0.5, 0.1, 0.3], [0.1, 0.2, 0.3, 0.4]), strict=True)
    ]


def test_golden_beta_by_hand():
    kept = json.loads((GOLDEN / "beta.json").read_text())
    pool = wb.load_pool("ende24")
    found = cell_components(pool.adequacy, pool.fluency, pool.documents)
    assert kept["beta0_interval"] == pytest.approx([found.low, found.high])
    assert [kept["noise_adequacy"], kept["noise_fluency"]] == pytest.approx(list(found.shares))
    assert kept["reliable_interval"] == pytest.approx(list(wb.reliable_interval(*pool.aspects)))
    assert [row["adequacy_se"] for row in kept["means"]] == pytest.approx(found.se[0].tolist())
    own = json.loads((GOLDEN / "beta-own.json").read_text())
    assert own["beta0"] == pytest.approx(wb.balance(ADEQUACY.mean(axis=1), FLUENCY.mean(axis=1)))
    noise = (ADEQUACY - ADEQUACY.mean(axis=0)).var(axis=1, ddof=1).mean() / 6  # equal documents: the textbook's
    assert own["noise_adequacy"] == pytest.approx(noise / ADEQUACY.mean(axis=1).var())
    assert own["beta0_interval"] == [0, 1] and own["segments_needed"] is None and "too few" in own["verdict"]


def test_beta_of_own_tables(here):
    code, out, err = run("beta", "human.csv")
    assert (code, err) == (0, "") and "segments needed     cannot be told" in out and "nan" not in out.lower()
    rows = list(csv.DictReader(io.StringIO(run("beta", "human.csv", "--csv")[1])))
    assert [row["system"] for row in rows] == list(SYSTEMS) and float(rows[0]["adequacy"]) == ADEQUACY[0].mean()
    Path("tabs.tsv").write_text(human().replace(",", "\t"))
    a, b = (json.loads(run("beta", name, "--json")[1]) for name in ("human.csv", "tabs.tsv"))
    assert {**a, "data": "", "signature": ""} == {**b, "data": "", "signature": ""}


def test_beta_of_mqm_errors_under_two_taxonomies(here):
    Path("mqm.tsv").write_text(mqm(errors()))
    Path("mine.toml").write_text('[aspects]\nadequacy = ["terminology/*"]\n')
    code, out, err = run("beta", "mqm.tsv", "--json")
    plain, pool = json.loads(out), wb.read_human("mqm.tsv")
    assert (
        (code, err) == (0, "")
        and plain["documents"] == 9
        and plain["beta0"] == pytest.approx(wb.balance(*pool.aspects))
    )
    code, out, err = run("beta", "mqm.tsv", "--taxonomy", "mine.toml", "--json")
    other, g = json.loads(out), wb.load_taxonomy("mine.toml")
    want = wb.components(wb.read_mqm_tsv("mqm.tsv", g.taxonomy, g.weights))
    assert code == 0 and other["beta0_interval"] == pytest.approx([want.low, want.high])
    assert other["beta0"] == pytest.approx(want.beta0) and other["beta0"] != pytest.approx(plain["beta0"])
    assert other["taxonomy"] == "mine" and other["signature"].endswith("|taxonomy:mine")
    assert "note: mine does not mention 'accuracy/omission'" in err


def test_beta_of_a_dataset_under_another_taxonomy():
    code, out, err = run("beta", "ende21", "--taxonomy", "terminology", "--json")
    found = json.loads(out)
    assert code == 0 and found["beta0"] == pytest.approx(wb.balance(*wb.regroup(wb.load("ende21"), "terminology")))
    assert "beta0_interval" not in found
    assert "no interval: ende21 ships without the errors of segments, so noise under terminology is not known" in err


def test_one_document_and_one_rater_are_a_sentence_each(here):
    Path("one.tsv").write_text(mqm((s, "d", n, 2 * int(d[1:]) + n, "r", *rest) for s, d, n, _, _, *rest in errors()))
    code, out, err = run("beta", "one.tsv", "--json")
    found = json.loads(out)
    assert code == 0 and found["beta0"] == pytest.approx(wb.balance(*wb.read_human("one.tsv").aspects))
    assert "beta0_interval" not in found and found["reachable"]
    assert "note: no interval: one.tsv has one document; noise is seen by comparing documents" in err
    assert "note: one rater gave all ratings of one.tsv; how others would rate is not in the interval" in err


@pytest.mark.parametrize(
    "argv, sentence",
    [
        (["ende42"], "beta: unknown dataset 'ende42'; did you mean 'ende24'"),
        (["no.csv"], "beta: no.csv: no such file"),
        (["heen23"], "beta: heen23 has totals only; a balance needs ratings of adequacy and fluency"),
        (["systems.csv"], "beta: systems.csv: line 1 has no column 'segment'"),
        (["human.csv", "--margin", "1"], "beta: argument --margin: 1 is no number between 0 and 0.5"),
        (
            ["human.csv", "--taxonomy", "terminology"],
            "beta: human.csv: it holds scores, not errors; a taxonomy needs rows",
        ),
        (["human.csv", "--taxonomy", "colours"], "beta: unknown taxonomy 'colours'; there are paper, "),
        (["mqm.tsv", "--taxonomy", "key.toml"], "beta: key.toml: unknown key 'aspect'; did you mean 'aspects'?"),
        (["mqm.tsv", "--taxonomy", "empty.toml"], "beta: mqm.tsv: empty leaves adequacy empty: no error of the data"),
        (["flat.csv"], "beta: flat.csv: all 2 systems have the same adequacy and fluency"),
        ([""], "beta: argument dataset: '' is no file name"),
    ],
)
def test_refusals_of_beta(here, argv, sentence):
    Path("mqm.tsv").write_text(mqm(errors()))
    Path("key.toml").write_text('[aspect]\nadequacy = ["accuracy/"]\n')
    Path("empty.toml").write_text('[aspects]\nneither = ["accuracy/*"]\nadequacy = ["addition"]\n')
    Path("flat.csv").write_text(
        "system,segment,adequacy,fluency\n" + "".join(f"{s},{n},1,1\n" for s in "ab" for n in "xyz")
    )
    assert refused(*run("beta", *argv)).startswith(f"whichbird {sentence}")


def test_an_aspect_that_never_varies_has_a_balance_and_no_interval(here):
    rows = "".join(f"{s},{n},{k + (n == 'x')},0\n" for k, s in enumerate("abc") for n in "xyz")
    Path("flat.csv").write_text("system,segment,adequacy,fluency\n" + rows)
    code, out, err = run("beta", "flat.csv", "--json")
    assert code == 0 and json.loads(out)["beta0"] == 1
    assert "no interval: flat.csv: fluency is 0 in every rated cell" in err


def test_a_file_called_like_a_dataset_needs_its_folder(here):
    Path("ende24").write_text(human())
    assert json.loads(run("beta", "ende24", "--json")[1])["systems"] == 16
    assert json.loads(run("beta", "./ende24", "--json")[1])["systems"] == 4


def test_datasets_show_the_interval():
    table = pd.DataFrame(json.loads(run("datasets", "--json")[1])["datasets"]).set_index("name")
    assert table.loc["ende24", "beta0_low"] < table.loc["ende24", "beta0"] < table.loc["ende24", "beta0_high"]
    one = json.loads(run("datasets", "ende24", "--json")[1])
    assert one["beta0_interval"] == [table.loc["ende24", "beta0_low"], table.loc["ende24", "beta0_high"]]
    assert "beta0_interval" not in json.loads(run("datasets", "heen23", "--json")[1])


@pytest.mark.parametrize("documents", [None, 1500])
def test_memory_does_not_grow_with_segments_times_documents(documents):
    """Some copies of the ratings, where a table of 3000 × 1500 zeros and ones alone would be some hundred."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 4, 3000)) + rng.normal(size=(2, 4, 1))
    names = None if documents is None else [f"d{n}" for n in rng.permutation(3000) % documents]
    cell_components(*x, names)  # what is loaded once is not counted
    tracemalloc.start()
    try:
        found = cell_components(*x, names)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.documents == (documents or 3000) and peak < 20 * x.nbytes
