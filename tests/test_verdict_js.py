"""Scorers of one's own in the page: its worker, run in Node, gives the library's clusters, and its rank intervals but for the luck of the draw."""

import base64
import json
import re
import zlib

import numpy as np
import pytest
from nodejs import node
from scipy.special import ndtr

import whichbird as wb
from whichbird.study.intervals import evidence, numbered
from whichbird.study.verdict import load_significance, standing
from whichbird_book.laboratory import generators, segment_script, source_data

DESK = """
const W = load("wb-random", "wb-permutation", "wb-python", "wb-scorefile", "wb-solve", "wb-verdict", "wb-own");
const answers = [];
globalThis.postMessage = (message) => { if (!("progress" in message)) answers.push(message); };
W.installs.desk(W);
const ask = (job, what) => { globalThis.onmessage({data: {id: 1, job, what}}); const a = answers.pop(); if (a && a.failed) throw new Error(a.failed); return a && a.done; };
ask("generators", data.generators);
"""


def expand(runs):
    return [line for first, length in zip(runs[::2], runs[1::2], strict=True) for line in range(first, first + length)]


def parts(script):
    """What a script of segments hands over: its head, and its bytes in base64."""
    return re.fullmatch(r'Whichbird\.receive\("\w+",(\{.*?\}),"([^"]*)"\);\n', script).groups()


def test_rated_lines_survive_as_runs():
    for name in wb.datasets():
        d = wb.load(name)
        assert expand(source_data(d)["runs"]) == d.lines[d.official].tolist()


def test_the_normal_law():
    x = np.concatenate([np.linspace(-9.5, 9.5, 4001), np.random.default_rng(1).normal(size=500) * 3])
    page = np.array(node("const V = load('wb-verdict').verdict; return data.map(V.phi);", x.tolist()))
    assert np.abs(page - ndtr(x)).max() < 1e-13
    inner = np.abs(x) < 8
    assert np.abs(page[inner] / ndtr(x[inner]) - 1).max() < 1e-9


@pytest.mark.parametrize(("name", "own", "share"), [("jazh24", "XCOMET-QE", 0.0)])
def test_own_scorer_is_judged_as_by_the_library(name, own, share, monkeypatch):
    """A shipped scorer handed in as one's own, under another name, at the natural balance or inside the reliable interval.

    The page adds no swaps near the level, so the library does not here.
    """
    monkeypatch.setattr("whichbird.study.significance.MORE", 1)
    pool, d, v = wb.load_pool(name), wb.load(name), load_significance(name)
    mine = pool.scorers[own] + 0.05 * np.random.default_rng(1).normal(size=pool.total.shape) * pool.scorers[own].std()
    row = 0 if share is None else 1 + int(share * (len(v.betas) - 2))
    beta = None if share is None else float(v.betas[row])
    k = len(pool.systems)
    w = np.full(k, 1 / k) if beta is None else wb.reweight(d.adequacy, d.fluency, beta).weights
    text = "".join(f"{s}\t{x!r}\n" for s, line in zip(pool.systems, mine.tolist(), strict=True) for x in line)
    script = segment_script(pool)
    info, packed = parts(script)
    field = wb.contest(d, {"mine": mine})
    spa_natural = wb.spa_from_p(field.human, field.p)
    spa = wb.spa_from_p(field.human, field.p, w)
    page = {
        "name": name,
        "systems": list(d.systems),
        "scorers": list(d.scorers),
        "lines": d.lines.tolist(),
        "source_lines": int(d.source_lines),
        "permutations": 1000,
    }
    found = node(
        DESK
        + """const bytes = Uint8Array.from(require("zlib").inflateSync(Buffer.from(data.packed, "base64")));
        const [read] = ask("add", {page: data.page, files: [{name: "mine.seg.score", bytes: Buffer.from(data.text)}]});
        ask("segments", {page: data.page, values: {info: JSON.parse(data.info), bytes}});
        const judged = ask("judge", {page: data.page, beta: data.beta, weights: data.weights, spa: data.spa, row: data.row, spaNatural: data.spaNatural});
        return {counts: [...read.counts], judged};""",
        {
            "generators": generators(),
            "page": page,
            "text": text,
            "info": info,
            "packed": packed,
            "beta": beta,
            "weights": w.tolist(),
            "spa": spa.tolist(),
            "spaNatural": spa_natural.tolist(),
            "row": row,
        },
    )
    assert np.array_equal(found["counts"], np.rint(field.p[-1] * 1000))
    judged = found["judged"]
    ours = standing(d, spa, beta, {"mine": mine})
    assert judged["scorers"] == list(ours.scorers)
    mine_over, over_mine = judged["p"][0]
    assert np.abs(np.array(mine_over) - ours.p[-1]).max() <= 0.01  # twelve bits instead of all
    assert np.abs(np.array(over_mine) - ours.p[:, -1]).max() <= 0.01
    sure = (np.abs(ours.p - 0.05) > 0.01).all()
    assert not sure or judged["cluster"] == ours.cluster.tolist()
    assert (
        np.abs(np.array(judged["low"]) - ours.rank_low).max() <= 3
        and np.abs(np.array(judged["high"]) - ours.rank_high).max() <= 3
    )
    assert (
        np.mean(np.abs(np.array(judged["low"]) - ours.rank_low) + np.abs(np.array(judged["high"]) - ours.rank_high)) < 1
    )
    assert np.abs(np.array(judged["se"]) / ours.se - 1).max() < 0.2  # a thousand draws tell a spread to a few percent
    # whose lead moves and whose order turns against one's own, but for those within a tenth of the threshold
    found = wb.intervals(pool, [np.nan, beta], {"mine": mine})
    before, after = spa_natural[-1] - spa_natural[:-1], spa[-1] - spa[:-1]
    ways = {
        "moved": (np.abs(after - before) / found.change_se(1, 0)[-1, :-1],),
        "turned": tuple(np.abs(x) / found.lead_se(b)[-1, :-1] for b, x in enumerate((before, after))),
    }
    for what, sizes in ways.items():
        least = np.min(sizes, axis=0) / found.t
        there = np.where(before * after < 0, least, 0)
        assert all(judged[what][m] for m in np.flatnonzero(there > 1.1))
        assert not any(judged[what][m] for m in np.flatnonzero(there < 0.9))
    assert (ways["moved"][0][before * after < 0] > found.t).any()


def test_segments_of_a_dataset_without_aspects_are_refused():
    with pytest.raises(ValueError, match="heen23 has no balance to move"):
        segment_script("heen23")


def test_segments_with_errors_alone_count_for_balances():
    """enru22: 12 lines have no total. The page sums over documents what the library does, scorers on the others only."""
    pool = wb.load_pool("enru22")
    here = pool.official
    document = numbered(pool.documents, len(pool.lines))
    info, packed = parts(segment_script(pool))
    raw, info = zlib.decompress(base64.b64decode(packed)), json.loads(info)
    k, n, more = len(pool.systems), info["N"], info["more"]
    assert (n, more, info["M"]) == (1315, 12, len(pool.scorers))
    at = info["M"] * k * n + -(-info["M"] * k * n // 2)
    whole = np.frombuffer(raw, "<i4", 3 * k * n, at).reshape(3, k, n)
    at += 4 * whole.size
    assert np.array_equal(np.frombuffer(raw, "<u2", n, at), document[here])
    rest = np.frombuffer(raw, "<i4", 2 * k * more, at + 2 * n).reshape(2, k, more)
    at += 2 * n + 4 * rest.size
    assert np.array_equal(np.frombuffer(raw, "<u2", more, at), document[~here])
    for found, x in zip((*whole, *rest), (pool.total[:, here], pool.adequacy[:, here], pool.fluency[:, here],
                                          pool.adequacy[:, ~here], pool.fluency[:, ~here]), strict=True):  # fmt: skip
        assert np.array_equal(found == -(1 << 31), np.isnan(x))
        assert np.allclose(found[~np.isnan(x)] / info["unit"], x[~np.isnan(x)], atol=1e-4)
    flat = {what: np.nan_to_num(x, nan=1e9).ravel().tolist() for what, x in {
        "total": pool.total[:, here], "adequacy": pool.adequacy[:, here], "fluency": pool.fluency[:, here],
        "a": pool.adequacy[:, ~here], "f": pool.fluency[:, ~here]}.items()}  # fmt: skip
    found = node(
        """const V = load("wb-verdict").verdict, x = {};
        for (const what of Object.keys(data.flat)) x[what] = Float64Array.from(data.flat[what], (v) => (v === 1e9 ? NaN : v));
        const more = { N: data.more, adequacy: x.a, fluency: x.f, document: data.rest };
        const e = V.evidence([x.total], x.adequacy, x.fluency, data.document, data.K, data.N, more);
        return { G: e.G, size: [...e.size], gap: [...e.gap], adequacy: [...e.adequacy], rated: [...e.rated] };""",
        {"flat": flat, "K": k, "N": n, "more": more, "document": document[here].tolist(), "rest": document[~here].tolist()},
    )  # fmt: skip
    e = evidence(pool, np.empty((0, k, n)))
    assert found["G"] == e.size.size and found["size"] == e.size.tolist() and sum(found["size"]) == 1315
    assert np.allclose(found["gap"], e.gap.ravel()) and np.allclose(found["adequacy"], e.adequacy.ravel())
    assert found["rated"] == e.rated.ravel().tolist() and e.rated.sum(axis=0).max() == 1215


def test_scores_come_back_within_half_a_step():
    """The page's bytes, read by the rule in the docstring of `segment_script`."""
    pool = wb.load_pool("ende20")
    info, packed = parts(segment_script(pool))
    raw = zlib.decompress(base64.b64decode(packed))
    x = np.array(list(pool.scored.values()))
    high = np.frombuffer(raw[: x.size], dtype=np.uint8).astype(int)
    low = np.frombuffer(raw[x.size : x.size + (x.size + 1) // 2], dtype=np.uint8)
    level = 16 * high + np.column_stack([low & 15, low >> 4]).ravel()[: x.size]
    info = json.loads(info)
    first, last = (np.array(info[end])[:, None, None] for end in ("low", "high"))
    back = first + (last - first) * level.reshape(x.shape) / 4095
    assert (np.abs(back - x) <= (last - first) * (0.5 / 4095 + 1e-8)).all()
