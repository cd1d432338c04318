"""Readers with a known preference: trade-offs against plain loops, and their tables through `agreements`."""

import numpy as np

import whichbird as wb
from whichbird.data.pairs import agreements
from whichbird_book.readers import MOST, RATIO, pairs_table, side_with, sided, trades


def test_trades_are_what_a_loop_finds():
    pool = wb.load_pool("ende24")
    found = trades(pool)
    got = set(zip(*(x.tolist() for x in found), strict=True))
    assert len(got) == found.segment.size
    a, f = pool.adequacy[:, :40], pool.fluency[:, :40]
    want = set()
    for n in range(40):
        for k in range(len(a)):
            for other in range(len(a)):
                gain, loss = a[k, n] - a[other, n], f[other, n] - f[k, n]
                if 0 < gain <= MOST and 0 < loss <= MOST and 1 / RATIO <= gain / loss <= RATIO:
                    want.add((k, other, n))
    assert want == {x for x in got if x[2] < 40} and want


def test_one_each_has_every_segment_once():
    found = trades(wb.load_pool("ende24"))
    one = found.one_each(np.random.default_rng(0))
    assert sorted(one.segment) == np.unique(found.segment).tolist()
    everything = set(zip(*found, strict=True))
    assert set(zip(*one, strict=True)) <= everything


def test_tables_say_what_scorers_chose():
    pool = wb.load_pool("ende24")
    one = trades(pool).take(np.arange(0, 1900, 100))
    scores = np.array(list(pool.scorers.values()))
    for side, chosen in (("first", sided(scores, one)), ("second", 1 - sided(scores, one))):
        table = agreements(pairs_table(pool, one, side))
        assert np.allclose(table[list(pool.scorers)].to_numpy().T, chosen)


def test_simulated_scorers_without_noise_follow_their_slopes():
    rng = np.random.default_rng(0)
    keen = np.array([[5.0, 1.0], [1.0, 5.0]])  # one for adequacy, one for fluency, whatever the pair
    assert (side_with(keen, 0.9, 3, 20, rng, noise=0) == [True, False]).all()
    assert (side_with(keen, 0.1, 3, 20, rng, noise=0) == [False, True]).all()
    coin = side_with(keen, None, 200, 20, rng, noise=0)
    assert abs(coin.mean() - 0.5) < 1e-12  # whoever the coin sides with, the other disagrees
    assert 0.45 < coin[..., 0].mean() < 0.55
