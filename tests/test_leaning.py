"""Gains and leans of scorers: the resampled correlation in loops, a world made to have it, and what ships."""

from dataclasses import replace

import numpy as np
import pytest

import whichbird as wb
from whichbird.core.closed import closed_p
from whichbird.data.digest import read_table
from whichbird.study.intervals import draw, quantile
from whichbird_book.leaning import lean_coverage, lean_error, leaning

TABLE = read_table("leaning.csv")
RANGE = [0.4, 0.6]
SIZE = 4  # segments a document: all equal, so that any draw of documents has as many segments


def made(documents=12, seed=1):
    """Five systems, five scorers from one that sees adequacy alone to one that sees fluency alone."""
    rng = np.random.default_rng(seed)
    n = SIZE * documents
    a, f = rng.normal(size=(2, 5, 1)) + rng.normal(size=(2, 5, n))
    scorers = {
        f"s{k}": x * a + (1 - x) * f + 0.5 * rng.normal(size=a.shape) for k, x in enumerate(np.linspace(0, 1, 5))
    }
    names = tuple(f"d{i // SIZE}" for i in range(n))
    return wb.Pool("made", tuple("abcde"), np.arange(n), n, a + f, a, f, scorers, documents=names)


def slow(pool, betas):
    """The correlation from p-values in closed form, one scorer and pair at a time."""
    pairs = [(k, m) for k in range(5) for m in range(k + 1, 5)]
    total, a, f = (closed_p(x) for x in (pool.total, pool.adequacy, pool.fluency))
    weights = [wb.reweight(pool.adequacy.mean(axis=1), pool.fluency.mean(axis=1), b).weights for b in betas]
    lean, gain = [], []
    for x in pool.scorers.values():
        p = closed_p(x)
        lean.append(np.mean([abs(f[n] - p[n]) - abs(a[n] - p[n]) for n in range(len(pairs))]))
        spa = []
        for w in weights:
            share = np.array([w[k] * w[m] for k, m in pairs])
            spa.append(1 - sum(share[n] * abs(total[n] - p[n]) for n in range(len(pairs))) / share.sum())
        gain.append(spa[1] - spa[0])
    return np.corrcoef(lean, gain)[0, 1]


def test_error_is_the_spread_of_resampled_correlations():
    pool = made()
    counts, factor = draw("bootstrap", 12, 8, 7)
    found = []
    for row in counts.astype(int):
        at = np.repeat(np.arange(12), row)[:, None] * SIZE + np.arange(SIZE)
        x = {s: v[:, at.ravel()] for s, v in pool.scorers.items()}
        found.append(slow(replace(pool, total=pool.total[:, at.ravel()], adequacy=pool.adequacy[:, at.ravel()],
                                  fluency=pool.fluency[:, at.ravel()], scorers=x), RANGE))  # fmt: skip
    assert lean_error(pool, RANGE, 8, 7) == pytest.approx(factor * np.std(np.arctanh(found)), rel=1e-6)


def test_scorers_made_to_lean_gain():
    assert slow(made(200, 2), RANGE) > 0.9


def test_totals_alone_have_no_lean():
    with pytest.raises(ValueError, match="heen23"):
        leaning(wb.load("heen23"), RANGE)


def test_what_ships():
    """Every dataset with aspects, both ranges; one row again, and an interval that covers what it should in most worlds."""
    assert set(TABLE["dataset"]) == set(wb.datasets(aspects=True)) and set(TABLE["range"]) == {"wide", "reliable"}
    for row in TABLE[TABLE["dataset"].isin(["zhen21", "zhen22"])].itertuples():
        ends = TABLE.loc[row.Index, ["from", "to"]].to_numpy(dtype=float)
        assert leaning(wb.load(row.dataset), ends).correlation == pytest.approx(row.correlation, abs=1e-4)
    row = TABLE[(TABLE["dataset"] == "zhen21") & (TABLE["range"] == "wide")].iloc[0]
    assert lean_error(wb.load_pool("zhen21"), [0.5, 0.9]) == pytest.approx(row["error"], rel=1e-4)
    known = TABLE[~TABLE["dataset"].str.startswith("ted_")]  # five documents are too few for an interval
    assert known["covered"].median() > 0.93 and known["covered"].min() > 0.85


def test_coverage_counts_intervals_that_hold_the_mean():
    pool = made(20)
    share = lean_coverage(pool, RANGE, contests=10, resamples=30)
    assert 0 <= share <= 1 and share * 10 == pytest.approx(round(share * 10)) and quantile(0.05, 20) > 2
