"""A pool refuses what cannot be used; the input checks and the offsets of a scorer by hand."""

from dataclasses import replace

import numpy as np
import pytest

from whichbird import Pool, components, contest, load, load_pool, rank
from whichbird.core import check
from whichbird.core.augment import offsets
from whichbird.data.domains import in_domain
from whichbird.data.pool import Exclusion, Rating, system_means
from whichbird.data.segments import pool_of
from whichbird.data.taxonomies import regroup

NAN = float("nan")


def pool(**changes) -> Pool:
    """A valid pool of two systems and three segments, with changes."""
    given = {
        "name": "p",
        "systems": ("x", "y"),
        "lines": [0, 2, 5],
        "source_lines": 6,
        "total": [[0, -1, NAN], [0, 0, -6]],
        "adequacy": [[0, -1, NAN], [0, 0, -5]],
        "fluency": [[0, 0, NAN], [0, 0, -1]],
        "scorers": {"s": [[1, 2, 3], [4, 5, 6]]},
    }
    return Pool(**given | changes)


def test_a_pool_keeps_float_matrices():
    p = pool()
    for x in (p.total, p.adequacy, p.fluency, p.scorers["s"]):
        assert x.dtype == np.float64 and x.shape == (2, 3)
    assert p.lines.tolist() == [0, 2, 5]
    assert p.rated.tolist() == [2, 3]
    assert pool(adequacy=None, fluency=None).rated.tolist() == [2, 3]
    assert system_means(p.total).tolist() == [-0.5, -2]


RATERS, ZEROS = np.array([[0, 1, -1], [1, 0, 0]]), np.zeros((2, 3))


def test_a_pool_keeps_who_rated_what_and_every_rating():
    second = Rating([[0, NAN, NAN]] * 2, ZEROS, ZEROS, RATERS)
    p = pool(
        raters=RATERS, rater_names=("r1", "r2"), ratings=(second,), documents=("d", "d", "e"), domains=("news",) * 3
    )
    assert p.raters.dtype == np.int16 and p.raters.tolist() == RATERS.tolist()
    assert p.ratings[0].adequacy.dtype == np.float64 and np.isnan(p.ratings[0].adequacy[0, 1])
    assert p.ratings[0].raters.dtype == np.int16
    assert pool().left_out == () and pool().raters is None and pool().ratings == ()
    assert pool(left_out=(Exclusion("segment", "4 source lines", "why", 4),)).left_out[0].number == 4


@pytest.mark.parametrize(
    "changes, sentence",
    [
        ({"systems": ("x",)}, "1 system; at least two"),
        ({"systems": ("x", "x")}, "system 'x' is there twice"),
        ({"fluency": None}, "come together or not at all"),
        ({"lines": [], "total": [[], []], "adequacy": None, "fluency": None, "scorers": {}}, "no segment is rated"),
        ({"lines": [0, 2, 6]}, "lines must be different whole numbers below 6"),
        ({"lines": [0, 2, 2]}, "lines must be different"),
        ({"lines": [0, 2, -1]}, "lines must be different"),
        ({"lines": [0, 2, 2.5]}, "lines must be different"),
        ({"lines": [0, 2]}, r"total has shape \(2, 3\) where \(2, 2\)"),
        ({"total": [[0, 0, 0]]}, r"total has shape \(1, 3\) where \(2, 3\)"),
        ({"total": [[0, 0], [0]]}, "total holds something that is not a number, or rows of unequal length"),
        ({"total": [0, 0, 0]}, r"total has shape \(3,\); a matrix"),
        ({"total": [[0, 0, float("inf")], [0, 0, 0]]}, r"total\[0, 2\] is inf"),
        ({"total": [[NAN] * 3, [0, 0, 0]]}, "system 'x' has no total rating at all"),
        ({"fluency": [[0, 0, 0], [0, 0, -1]]}, "a cell has an adequacy and no fluency rating"),
        ({"scorers": {"s": [[1, 2, NAN], [4, 5, 6]]}}, r"scorer s\[0, 2\] is nan"),
        ({"scorers": {"s": [[1, 2], [4, 5]]}}, "scorer s has shape"),
        ({"scorers": {"s": [["a", "b", "c"]] * 2}}, "scorer s holds something that is not a number"),
        ({"documents": ("d", "e")}, "documents has 2 names where 3, one per segment, are expected"),
        ({"domains": ("d",) * 4}, "domains has 4 names where 3"),
        ({"raters": RATERS}, "raters must be 2 × 3 places in rater_names, of which there are 0, or −1"),
        ({"raters": RATERS, "rater_names": ("r1",)}, "of which there are 1"),
        ({"raters": [[0, 0, -2]] * 2, "rater_names": ("r1",)}, "raters must be"),
        ({"raters": [[0.0, 0, 0]] * 2, "rater_names": ("r1",)}, "raters must be"),
        (
            {"ratings": (Rating(ZEROS, ZEROS, ZEROS[:1], RATERS),), "rater_names": ("r1", "r2")},
            "total of rating 1 has shape",
        ),
        ({"ratings": (Rating(ZEROS, ZEROS, ZEROS, RATERS),)}, "raters must be"),
    ],
)
def test_a_pool_refuses(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        pool(**changes)


def test_vectors_and_weights_are_checked():
    assert check.vector((1, 2), "a").tolist() == [1, 2]
    assert check.weights(None, 4).tolist() == [0.25] * 4
    assert check.weights([2, 0, 6], 3).tolist() == [0.25, 0, 0.75]
    for bad, sentence in [
        ([[1]], r"a has shape \(1, 1\); one value per system"),
        ([1, None], r"a\[1\] is nan"),
        (["x"], "a holds something that is not a number"),
        ([1, 2, float("-inf")], r"a\[2\] is -inf"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            check.vector(bad, "a")
    for bad, sentence in [
        ([1, 2], "weights has 2 values where 3 are expected"),
        ([1, 2, NAN], r"weights\[2\] is nan"),
        ([1, -2, 3], r"weights\[1\] is -2; a weight cannot be negative"),
        ([0, 0, 0], "the weights sum to 0"),
        ([1e308, 1e308, 1e308], "the weights sum to inf"),
    ]:
        with pytest.raises(ValueError, match=sentence), np.errstate(over="ignore"):
            check.weights(bad, 3)


def test_offsets_by_hand():
    # cells with equal errors: x0, y0 and y2 (mean 2), x1 alone, y1 alone; the unrated x2 takes no part
    a, f = np.array([[0, -1, NAN], [0, -5, 0.0]]), np.array([[0, 0, NAN], [0, 0, -0.0]])
    x = np.array([[1.0, 7, 100], [3.0, 8, 2]])
    assert offsets(x, a, f).tolist() == [(1 - 2) / 2, ((3 - 2) + (2 - 2)) / 3]


def test_offsets_sum_to_nothing_and_ignore_a_shift():
    rng = np.random.default_rng(0)
    a, f = -rng.integers(0, 3, (4, 50)).astype(float), -rng.integers(0, 3, (4, 50)).astype(float)
    x = rng.normal(size=(4, 50))
    e = offsets(x, a, f)
    rounding = 1e-13 * np.abs(x + 3).max()  # of a mean over some tens of scores, a few hundred units in the last place
    assert abs(e.mean()) < rounding  # each group's deviations cancel
    assert np.allclose(offsets(x + 3.0, a, f), e, rtol=0, atol=rounding)
    assert offsets(a + 2 * f, a, f).tolist() == [0, 0, 0, 0]  # a scorer that follows the errors is explained exactly


def test_a_pool_and_a_digest_without_systems_agree():
    """P-values are of pairs of systems: those that stay are the same whether computed anew or taken from the digest."""
    d, pool = load("enes24"), load_pool("enes24")
    names = d.systems[3], d.systems[0]
    few, less = d.without(*names), pool.without(names[0]).without(names[1])
    assert few.name == less.name == f"enes24 without {names[0]}, {names[1]}" and few.dropped == less.dropped == names
    assert few.systems == less.systems == tuple(s for s in d.systems if s not in names)
    assert np.allclose(few.aspects, less.aspects) and few.signature.startswith(f"{few.name}|sys:{len(few.systems)}|")
    assert np.array_equal(few.tested().human, less.tested().human)
    one = next(iter(pool.scorers))
    mine = contest(replace(less, scorers={one: less.scorers[one]}))
    assert np.array_equal(few.scorer_p[0], mine.p[0])
    assert set(less.errors["system"]) == set(less.systems) and d.without() is d and pool.without() is pool
    assert np.array_equal(pool_of(few).total, less.total)
    assert rank(few).table["scorer"].tolist() == rank(contest(few)).table["scorer"].tolist()
    assert np.allclose(regroup(few, "paper"), few.aspects)
    with pytest.raises(ValueError, match="no augmented scorers.* take them of enes24"):
        few.curves("adherence")


def test_systems_that_cannot_be_left_out():
    for source in (load("ende24"), load_pool("ende24")):
        with pytest.raises(ValueError, match=r"ende24 has no system 'GPT4' to leave out; did you mean 'GPT-4'\?"):
            source.without("GPT4")
        with pytest.raises(ValueError, match="0 of its systems are left; two are needed"):
            source.without(*source.systems)


def test_names_of_aspects_are_carried():
    pool = replace(load_pool("ende24"), aspect_names=("relevance", "coherence"))
    assert "|aspects:relevance,coherence|" in pool.signature and "|aspects:" not in load("ende24").signature
    assert pool.without("GPT-4").aspect_names == pool.aspect_names == components(pool).aspect_names
    assert contest(replace(pool, scorers={"BLEU": pool.scorers["BLEU"]})).aspect_names == pool.aspect_names
    assert in_domain(pool, "news").aspect_names == pool.aspect_names
    assert load("ende24").aspect_names == ("adequacy", "fluency")
    for bad in ("relevance", ("x",), ("x", "x"), ("x", "")):
        with pytest.raises(ValueError, match="aspect"):
            replace(pool, aspect_names=bad)
