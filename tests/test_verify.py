"""Proofs that can be taken away: that true ones are accepted, that nothing false is, and that nothing else is needed.

Expected values: two optima by hand; the definitions written out in sympy's rationals; weightings that are exactly on the
target, none of which may lie below a verified bound; and the false certificates that floating point once gave.
"""

import ast
import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import oracle_reweight
import pytest
import sympy as sp
from hypothesis import example, given, settings, strategies as st
from owndata import refused, run
from pools import ENDE24, KINDS, UNCERTIFIABLE, make

import whichbird as wb
from whichbird.data.registry import DATASETS
from whichbird.solve import verify as module
from whichbird.solve.proof import Evidence, simplest
from whichbird.solve.verify import verify
from whichbird.study.targets import beta_stops, steps

GAP = 1e-9
# (5, 6, 2)/13 is optimal at ½. By hand: means 12/13 and 12/13, g = ½(a − 12/13)² − ½(f − 12/13)² is 0, 10/13·½… on
# the three systems, and 5/13 − w is proportional to −g with the factor 2/15 = (5/13) / (75/26)
SMALL = {
    "adequacy": [0, 2, 0],
    "fluency": [0, 1, 3],
    "beta": 0.5,
    "weights": [5, 6, 2],
    "saddles": [["75/26", "12/13", "12/13"]],
}
# uniform weights on four systems of a square at its end: pairs along the axes have β = 1 and 0
SQUARE = {"adequacy": [0, 0, 3, 3], "fluency": [0, 2, 0, 2], "beta": 1, "weights": [1, 0, 1, 0], "pair": [0, 2]}


def interval_proof():
    a, f, beta = UNCERTIFIABLE
    return wb.reweight(a, f, beta).proof


def dual_proof():
    return wb.reweight(*ENDE24, 0.6).proof


# --- true proofs ------------------------------------------------------------------------------------------------------


def test_an_optimum_by_hand_has_no_gap():
    assert verify(SMALL) == 0.0 and verify(SQUARE) == 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_proofs_of_random_pools_hold(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(8):
        a, f = make(kind, int(rng.integers(3, 9)), rng)
        low, high = wb.reachable(a, f)
        betas = np.clip([low, high, wb.balance(a, f), *rng.uniform(low, high, 4)], low, high)
        for r in wb.reweight_sweep(a, f, betas):
            assert r.gap == verify(json.loads(json.dumps(r.proof))) <= GAP, (kind, r.target, r.certificate)


@pytest.mark.parametrize("name", DATASETS)
def test_every_shipped_weighting_has_a_proof_that_holds(name):
    """All stops of the explorer, of the tests that ship and of the sweeps: these are among the stops."""
    d = wb.load(name)
    if d.adequacy is None:
        pytest.skip(f"{name} has no aspects")
    stops = beta_stops(d.adequacy, d.fluency)
    assert set(steps(d.adequacy, d.fluency)) <= set(stops)
    for r in wb.reweight_sweep(d.adequacy, d.fluency, stops):
        assert verify(r.proof) <= 5.01e-10
        given = zip((*r.proof["adequacy"], *r.proof["fluency"]), (*d.adequacy, *d.fluency), strict=True)
        assert all(x == y for x, y in given)  # scores as given


@pytest.mark.parametrize("scale, shift", [(1e9, 0), (1e-9, 0), (1, 1e6), (1e-3, -1e3)])
def test_units_and_origin_do_not_matter(scale, shift):
    a, f = ENDE24
    for r in wb.reweight_sweep(scale * a + shift, scale * f - shift, [0.2, 0.6, 0.95]):
        assert r.gap <= GAP


def test_the_gap_is_measured():
    """Three different proofs of one pool have three gaps, each that of `verify`, none a constant of the solver."""
    sweep = wb.reweight_sweep(*ENDE24, [0.2, 0.6, 0.93])
    assert len({r.gap for r in sweep}) == 3
    assert [r.gap for r in sweep] == [verify(r.proof) for r in sweep]
    assert sweep[1].gap < 1e-14 < sweep[0].gap <= 5.01e-10


def test_many_pools_at_once_have_proofs_too():
    rng = np.random.default_rng(0)
    many = wb.reweight_many(*rng.normal(size=(2, 3, 6)), [[0.3, 0.5, 1.0]])
    for at in np.ndindex(3, 3):
        proof = many.proof(*at)
        if many.certificate[at] == "out of reach":
            assert proof is None and np.isnan(many.gap[at])
        else:
            assert verify(proof) == many.gap[at] <= GAP


def test_other_distortions_and_the_search_claim_in_floating_point_only():
    kl, search = wb.reweight(*ENDE24, 0.6, "kl"), wb.search(*ENDE24, 0.6)
    assert kl.proof is None and search.proof is None
    assert kl.gap == kl.claimed and search.gap == search.claimed


def test_lines_are_read_as_the_numbers_meant():
    """Thirds and tenths are on a line, the binary fractions next to them are not; 0.8 is meant as 4/5."""
    a, f = np.array([0.1, 0.2, 0.3, 0.7, 0.1]), np.array([1.0, 1.3, 1.6, 2.8, 9.0])
    r = wb.reweight(a, f, wb.reachable(a, f)[1])
    assert r.ess == pytest.approx(4, rel=1e-12) and r.gap == 0 and r.proof["beta"] == "1/10"
    for x, y in zip((*r.proof["adequacy"], *r.proof["fluency"]), (*a, *f), strict=True):
        assert float(Fraction(x)) == y
    a, f = [0, 2, 4, 6, 8, 4, 4.3], [0, 1, 2, 3, 4, 10, 10.1]
    r = wb.reweight(a, f, 0.8)
    assert r.ess == pytest.approx(5, rel=1e-9) and r.gap <= GAP and r.proof["beta"] == "4/5"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_simplest_fraction_rounds_back_and_none_is_simpler(x):
    found = simplest(x)
    assert float(found) == x and found.denominator <= Fraction(x).denominator
    if 2 <= found.denominator < 1000 and abs(x) < 1e6:
        assert all(float(Fraction(round(Fraction(x) * d), d)) != x for d in range(1, found.denominator))


# --- nothing false ----------------------------------------------------------------------------------------------------


def on_target(a, f, beta, w):
    """Σw² of an exactly feasible weighting next to w, by bisection-free algebra of its own; None if there is none.

    Mixed with system k, w has b(t) = (1 − t)(b + t g): written out with the definitions, in fractions.
    """

    def b(v):
        mean = [sum(x * y for x, y in zip(s, v, strict=True)) for s in (a, f)]
        var = [sum(y * (x - m) ** 2 for x, y in zip(s, v, strict=True)) for s, m in zip((a, f), mean, strict=True)]
        return (1 - beta) * var[0] - beta * var[1], sum(var)

    total = sum(w)
    w = [v / total for v in w]
    for k in range(len(w)):
        ends = [b(w)[0], b([v / 2 + Fraction(n == k, 2) for n, v in enumerate(w)])[0]]
        if ends[0] == 0:
            return sum(v * v for v in w) if b(w)[1] else None
        g = 4 * ends[1] - 2 * ends[0]  # b(½) = ½(b + ½g)
        if g * ends[0] < 0 and (t := -ends[0] / g) < 1:
            mixed = [(1 - t) * v + t * (n == k) for n, v in enumerate(w)]
            assert b(mixed)[0] == 0
            return sum(v * v for v in mixed) if b(mixed)[1] else None
    return None


def exact(proof):
    a, f, w = ([Fraction(x) for x in proof[name]] for name in ("adequacy", "fluency", "weights"))
    return a, f, Fraction(proof["beta"]), w


def bound(proof):
    """What the verified gap says of Σw² of every weighting on the target."""
    a, f, beta, w = exact(proof)
    # the verifier moves weight to another system than `on_target` may: the two collisions differ by little
    return (1 - Fraction(verify(proof))) * on_target(a, f, beta, w) * (1 - Fraction(1, 10**9))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 6))
@example(238311, 5)  # centrally symmetric: 387 saddles
def test_no_weighting_on_the_target_lies_below_a_verified_bound(seed, size):
    rng = np.random.default_rng(seed)
    a, f = make(KINDS[seed % len(KINDS)], size, rng)
    low, high = wb.reachable(a, f)
    r = wb.reweight(a, f, float(np.clip(rng.uniform(low, high), low, high)))
    least, (x, y, beta, _) = bound(r.proof), exact(r.proof)
    around = [rng.dirichlet(np.full(size, c)) for c in (0.2, 1, 5)] + [
        r.weights + 1e-6 * rng.random(size) for _ in range(3)
    ]
    best = oracle_reweight.brute_force(a, f, r.target)[1]
    for other in [*around, *([best] if best is not None else [])]:
        collision = on_target(x, y, beta, [Fraction(float(max(v, 0))) for v in other])
        assert collision is None or collision >= least


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_whatever_is_accepted_is_true(data):
    """Any saddles and cuts at all: refused, or the bound lies below the optimum that enumeration finds."""
    number = st.floats(-4, 4).map(lambda x: round(x, 2))
    size = data.draw(st.integers(3, 4))
    a, f = ([data.draw(st.integers(-3, 3)) for _ in range(size)] for _ in range(2))
    if len(set(zip(a, f, strict=True))) < 2:
        return
    low, high = wb.reachable(a, f)
    beta = low + (high - low) * data.draw(st.floats(0.1, 0.9))
    least, w = oracle_reweight.brute_force(a, f, beta)
    if w is None:
        return
    cuts = sorted(data.draw(st.lists(number, max_size=2)))
    saddle = st.tuples(st.floats(0.1, 9), number, number).map(list)
    proof = {"adequacy": a, "fluency": f, "beta": beta, "weights": np.maximum(w, 0).tolist()}
    proof |= {"saddles": [data.draw(saddle) for _ in range(len(cuts) + 1)], "cuts": cuts}
    if len(cuts) == 0 and data.draw(st.booleans()):
        del proof["cuts"]
    if data.draw(st.booleans()):
        proof["tilt"] = data.draw(st.floats(-1.9, 1.9))
    try:
        gap = verify(proof)
    except ValueError as error:
        assert str(error).startswith("not a proof: ")
        return
    assert gap >= -1e-9 * least  # at the optimum no bound may exceed Σw²; enumeration has nine digits


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_whatever_is_accepted_is_true_of_covers_in_covers(data):
    """A true cover, one part of it cut again in another direction, all numbers of that at random: no bound is too good."""
    seed = data.draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    a, f = rng.integers(-3, 4, size=(2, 4))
    if len(set(zip(a, f, strict=True))) < 4:
        return
    low, high = wb.reachable(a, f)
    beta = float(low + (high - low) * rng.uniform(0.05, 0.95))
    least, w = oracle_reweight.brute_force(a, f, beta)
    if w is None:
        return
    proof = {"adequacy": a.tolist(), "fluency": f.tolist(), "beta": beta, "weights": np.maximum(w, 0).tolist()}

    def saddle():
        return [rng.uniform(0.1, 20), *rng.uniform(-4, 4, 2)]

    def cover(depth):
        cuts = sorted(rng.uniform(-3, 3, rng.integers(0, 3)).round(2).tolist())
        saddles = [saddle() if depth == 0 or rng.random() < 0.5 else cover(depth - 1) for _ in range(len(cuts) + 1)]
        return {"tilt": round(rng.uniform(-1.5, 1.5), 2), "saddles": saddles, "cuts": cuts}

    for _ in range(20):
        try:
            gap = verify({**proof, **cover(2)})
        except ValueError as error:
            assert str(error).startswith("not a proof: ")
            continue
        assert gap >= -1e-9 * least


def nested_proof():
    return wb.reweight([0, 2, 4, 6, 8, 4, 4.3], [0, 1, 2, 3, 4, 10, 10.1], 0.8 + 1e-9).proof


def inner(cover, path=()):
    """The places of all covers in a cover."""
    for n, s in enumerate(cover["saddles"]):
        if isinstance(s, dict):
            yield (*path, n)
            yield from inner(s, (*path, n))


def test_every_inner_cover_counts():
    """Without one of its saddles, with another tilt or with its cuts moved, a cover in a cover proves nothing or less."""
    proof = nested_proof()
    before, places = verify(proof), list(inner(proof))
    assert len(places) >= 3
    for place in places:
        for change in ("saddles", "tilt", "cuts", "empty"):
            changed = json.loads(json.dumps(proof))
            part = changed
            for n in place:
                part = part["saddles"][n]
            if change == "saddles":
                part["saddles"], part["cuts"] = part["saddles"][1:], part["cuts"][1:]
            elif change == "tilt":
                part["tilt"] = 0
            elif change == "cuts" and part["cuts"]:
                part["cuts"] = part["cuts"][:-1] + [float(Fraction(part["cuts"][-1])) + 1e3]
            elif change == "empty":
                part.clear()
            try:
                after = verify(changed)
            except ValueError as error:
                assert str(error).startswith("not a proof: ")
                continue
            assert after >= before * (1 - 1e-6), (place, change)


def test_regions_hold_exactly_the_means_they_should():
    """Random mixtures of the systems lie in the hull; clipped, it holds those between the limits, and no corner is beyond."""
    rng = np.random.default_rng(8)
    for _ in range(30):
        points = [(Fraction(int(x)), Fraction(int(y))) for x, y in rng.integers(-4, 5, size=(7, 2))]
        hull = module.hull(points)
        slope, (low, high) = (
            Fraction(int(rng.integers(-3, 4)), 2),
            sorted(Fraction(int(v), 3) for v in rng.integers(-15, 16, 2)),
        )
        clipped = module.clipped(hull, slope, low, high)
        assert all(low <= y + slope * x <= high for x, y in clipped)
        for _ in range(20):
            w = [Fraction(int(v)) for v in rng.integers(0, 5, 7) + (rng.integers(7) == np.arange(7))]
            x, y = (sum(v * p[n] for v, p in zip(w, points, strict=True)) / sum(w) for n in (0, 1))
            assert inside(hull, x, y)
            assert inside(clipped, x, y) == (low <= y + slope * x <= high)


def inside(region, x, y):
    """Whether a point is a mixture of the corners of a convex region: on no edge's right."""
    if len(region) < 3:
        return any((x, y) == p for p in region) or (
            len(region) == 2
            and (region[1][0] - region[0][0]) * (y - region[0][1]) == (region[1][1] - region[0][1]) * (x - region[0][0])
            and min(p[0] for p in region) <= x <= max(p[0] for p in region)
            and min(p[1] for p in region) <= y <= max(p[1] for p in region)
        )
    edges = zip(region, region[1:] + region[:1], strict=True)
    return all((q[0] - p[0]) * (y - p[1]) >= (q[1] - p[1]) * (x - p[0]) for p, q in edges)


def numbers(proof):
    """The places of all numbers in a proof."""
    for key, value in proof.items():
        if isinstance(value, list):
            for n, v in enumerate(value):
                yield from ((key, n, m) for m in range(len(v))) if isinstance(v, list) else ((key, n),)
        else:
            yield (key,)


@pytest.mark.parametrize("made", [interval_proof, dual_proof, lambda: SMALL, lambda: SQUARE])
@pytest.mark.parametrize("by", [1 + 1e-3, 1.5, -1])
def test_every_number_counts(made, by):
    """Changed anywhere, a proof is refused or proves less of what is then another statement; never more."""
    proof = made()
    before = verify(proof)
    places = list(numbers(proof))
    for place in places:
        changed = json.loads(json.dumps(proof))
        holder = changed
        for key in place[:-1]:
            holder = holder[key]
        holder[place[-1]] = by * float(Fraction(holder[place[-1]]))
        try:
            after = verify(changed)
        except ValueError as error:
            assert str(error).startswith("not a proof: ")
            continue
        assert after >= 0
        if place[0] in ("saddles", "cuts"):  # the same statement, by worse means
            assert after >= before * (1 - 1e-6)


FALSE = {  # what the solver called "dual" before its proofs were verified, for systems within 1e-10 of a line
    "adequacy": [14.0, 18.0, 9.0, 19.0, 5.0, 13.0],
    "fluency": [27.9999999992, 35.9999999993, 17.9999999991, 38.0000000008, 9.9999999997, 26.0000000001],
    "beta": 0.19999999986525735,
    "weights": [0.012432688258514922, 0.4937836558707425, 0.0, 0.4937836558707425, 0.0, 0.0],
    "saddles": [[1.0582690903986792e-08, 37.00000000005, 18.5]],
}


def test_false_certificates_next_to_a_line_are_refused():
    with pytest.raises(ValueError, match="not convex"):
        verify(FALSE)


@pytest.mark.parametrize("distance", [1e-6, 1e-8, 1e-10, 1e-12])
def test_next_to_a_line_the_gap_is_the_true_one_or_infinite(distance):
    """The rest of the issue's family: whatever the solver answers, no exactly feasible weighting beats its bound."""
    rng = np.random.default_rng(5)
    for _ in range(2):
        a = rng.integers(0, 20, 6).astype(float)
        a[:2] = 3, 11
        f = 2 * a + distance * rng.integers(-9, 10, 6)
        low, high = wb.reachable(a, f)
        try:
            r = wb.reweight(a, f, low + (high - low) * rng.random())
        except wb.NotProven:
            continue
        if not math.isinf(r.gap):
            least, (x, y, beta, _) = bound(r.proof), exact(r.proof)
            for w in rng.dirichlet(np.ones(6), 40):
                collision = on_target(x, y, beta, [Fraction(float(v)) for v in w])
                assert collision is None or collision >= least


# --- the same, in another's arithmetic ----------------------------------------------------------------------------------


def rational(x):
    return sp.Rational(*Fraction(x).as_integer_ratio())


def by_sympy(proof):
    """The gap from the definitions, with sympy's rationals, matrices and no shared line of code."""
    a, f, w = (sp.Matrix([rational(x) for x in proof[name]]) for name in ("adequacy", "fluency", "weights"))
    beta, n = rational(proof["beta"]), a.rows
    t = sp.symbols("t")

    def var(x, v):
        return (v.T * x.applyfunc(lambda i: i**2))[0] - (v.T * x)[0] ** 2

    def b(v):
        return (1 - beta) * var(a, v) - beta * var(f, v)

    even = sp.ones(n, 1) / n
    sign = -1 if b(even) > 0 else 1
    c, d = (1 - beta, beta) if sign == 1 else (beta, 1 - beta)
    x, y = (a, f) if sign == 1 else (f, a)
    w = w / sum(w)
    if b(w) != 0:
        shares = []
        for k in range(n):
            e = sp.Matrix([int(i == k) for i in range(n)])
            shares += [(s, k) for s in sp.roots(sp.Poly(sp.expand(b((1 - t) * w + t * e)), t), filter="Q") if 0 < s < 1]
        share, k = min(shares)
        w = (1 - share) * w + share * sp.Matrix([int(i == k) for i in range(n)])
    assert b(w) == 0 and sum(w) == 1
    saddles = [[rational(v) for v in s] for s in proof["saddles"]]

    def heights(h, p, q):
        return [max(sp.Integer(0), h + c * (i - p) ** 2 - d * (j - q) ** 2) for i, j in zip(x, y, strict=True)]

    if "cuts" in proof:
        line = [min(y), *(rational(v) for v in proof["cuts"]), max(y)]
        least = min(
            (h - d * max((l - q) ** 2, (r - q) ** 2)) ** 2 / sum(z**2 for z in heights(h, p, q))
            for (h, p, q), l, r in zip(saddles, line[:-1], line[1:], strict=True)
        )
    else:
        z = heights(*saddles[0])
        v = sp.Matrix(sp.symbols(f"v:{n}"))
        lagrangian = (v.T * v)[0] / 2 - sign * b(v) / sum(z)
        at = dict(zip(v, [i / sum(z) for i in z], strict=True))
        basis = sp.Matrix([[int(i == k) - int(i == n - 1) for k in range(n - 1)] for i in range(n)])
        assert (basis.T * sp.hessian(lagrangian, list(v)) * basis).is_positive_semidefinite
        slope = sp.Matrix([sp.diff(lagrangian, i).subs(at) for i in v])
        here = sp.Matrix([at[i] for i in v])
        least = 2 * (lagrangian.subs(at) + min(slope) - (slope.T * here)[0])
    return 1 - max(sp.Rational(1, n), least) / (w.T * w)[0]


@pytest.mark.parametrize(
    "made", [lambda: SMALL, interval_proof, lambda: wb.reweight([0, 1, 2, 3], [0, 2, 1, 1], 0.6).proof]
)
def test_sympy_finds_the_same_gap(made):
    proof = made()
    gap, found = by_sympy(proof), verify(proof)
    assert found >= gap >= 0 and found == pytest.approx(float(gap), rel=1e-15)


def test_sympy_confirms_the_identities_of_the_verifier():
    """The tilt, and what moving a share of the weight does to the balance: polynomials."""
    x, y, c, d, t = sp.symbols("x y c d t")
    X, Y = x + t * d * y, y + t * c * x
    assert sp.expand(c * X**2 - d * Y**2 - (1 - t**2 * c * d) * (c * x**2 - d * y**2)) == 0


# --- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"beta": 1.5}, "beta must lie between 0 and 1"),
        ({"beta": None}, "beta has None where a number is expected"),
        ({"beta": float("nan")}, "beta has nan where a number is expected"),
        ({"beta": "1e999999999"}, "beta has 1e999999999 where a number is expected"),
        ({"beta": "1/0"}, "beta has 1/0 where a number is expected"),
        ({"beta": True}, "beta has True where a number is expected"),
        ({"weights": [5, 6]}, "need one number for each of two systems or more"),
        ({"weights": [5, -6, 2]}, "no weight below 0"),
        ({"weights": [0, 0, 0]}, "no weight below 0"),
        ({"weights": [0, 0, 1]}, "has no balance"),
        ({"weights": [5, 6, 3]}, "miss the target"),
        ({"weights": "5,6,2"}, "weights must be a list of numbers"),
        ({"adequacy": [], "fluency": [], "weights": []}, "two systems or more"),
        ({"saddles": [[1, 2]]}, "a saddle is three numbers"),
        ({"saddles": 3}, "saddles must be a list"),
        ({"saddles": [[1, 2, 3], [1, 2, 3]]}, "without cuts, one saddle or none"),
        ({"saddles": [[-1, 0, 0]]}, "not convex"),
        ({"saddles": [[1, 0, 0]]}, "not convex"),
        ({"cuts": [3, 1], "saddles": [[1, 0, 0]] * 3}, "in order"),
        ({"cuts": [1]}, "one cut is expected"),
        ({"cuts": [], "saddles": [[1, 0, 0]]}, "a saddle is too low for its part of the line"),
        ({"cuts": [], "saddles": [0]}, "too near to copies"),
        ({"cuts": [], "saddles": [3]}, "systems have the numbers 0 to 2"),
        ({"pair": [0, 9]}, "systems have the numbers 0 to 2"),
        ({"pair": [0, 1]}, "another pair reaches beyond the target"),
        ({"pair": [0]}, "systems have the numbers 0 to 2"),
        ({"tilt": 2}, "the tilt is too large"),
        ({"saddles": [{"saddles": [[1, 0, 0]], "cuts": []}]}, "a cover inside another needs cuts"),
        ({"saddles": [{"saddles": [[1, 0, 0]]}], "cuts": []}, "a cover inside another needs cuts"),
        ({"saddles": [{"saddles": [[1, 0, 0]], "cuts": [], "tilt": 2}], "cuts": []}, "the tilt is too large"),
        ({"saddles": [{"saddles": [[1, 0]], "cuts": []}], "cuts": []}, "a saddle is three numbers"),
        ({"saddles": [{"saddles": [7], "cuts": []}], "cuts": []}, "systems have the numbers 0 to 2"),
        ({"saddles": [{"saddles": [[1, 0, 0]], "cuts": []}], "cuts": []}, "too low for its part"),
        ({"saddles": [{"saddles": [[9, 0, 0]] * 2, "cuts": [99]}], "cuts": []}, "between the ends of the line"),
    ],
)
def test_refusals(change, sentence):
    with pytest.raises(ValueError, match="not a proof: .*" + sentence):
        verify({**SMALL, **change})


def test_covers_too_deep_are_refused():
    cover = {"saddles": [[1, 0, 0]], "cuts": []}
    for _ in range(200):
        cover = {"saddles": [cover], "cuts": []}
    with pytest.raises(ValueError, match="deep"):
        verify({**SMALL, **cover})


@pytest.mark.parametrize("what", [None, [], 3, "proof", {}])
def test_what_is_no_object_is_no_proof(what):
    with pytest.raises(ValueError, match="not a proof: "):
        verify(what)


@pytest.mark.parametrize("adequacy, fluency", [([10, 9, 9], [12, 10, 14]), ([1, 0, -3], [0, -2, 8])])
def test_a_rising_and_a_falling_pair_are_two_lines(adequacy, fluency):
    """Both attain the end and share a system; together they are no line of three, so a half each is best."""
    proof = {"adequacy": adequacy, "fluency": fluency, "beta": "1/5", "weights": [1, 1, 0], "pair": [0, 1]}
    assert verify(proof) == 0 == verify(proof | {"weights": [1, 0, 1], "pair": [0, 2]})


@pytest.mark.parametrize("sign", [1, -1])
def test_a_line_of_three_is_one(sign):
    """Rising or falling: two of the three are not best."""
    proof = {"adequacy": [-2, 0, 2], "fluency": [-sign, 0, sign], "beta": "4/5", "weights": [1, 1, 1], "pair": [0, 2]}
    assert verify(proof) == 0 and verify(proof | {"weights": [1, 0, 1]}) == pytest.approx(1 / 3)


def test_scores_moved_by_more_than_rounding_prove_nothing():
    """Three systems a millionth beside a line: moved onto it they would be the best at the end; as they are, they are not."""
    a, f = np.array([0, 1, 2, 1.0]), np.array([0, 0.25, 0.5 + 1e-6, 4])
    for by, proven in ((0.0, True), (1e-6, False)):
        f[2] = 0.5 + by
        share = a[2] ** 2 / (a[2] ** 2 + f[2] ** 2)
        evidence = Evidence(a, f, (a, f, 1.0), share, np.array([1, 1, 1, 0]) / 3, "pair")
        assert (evidence.proof()[1] == 0) == proven


def test_a_pair_that_is_not_the_end_is_refused():
    with pytest.raises(ValueError, match="the pair misses the target"):
        verify({**SQUARE, "pair": [0, 1]})


def test_copies_do_not_make_a_pair():
    """Three copies and one system on the line of the end: four share the weight; the copies alone have no balance."""
    proof = {
        "adequacy": [0, 0, 0, 3, 1],
        "fluency": [0, 0, 0, 0, 9],
        "beta": 1,
        "weights": [1, 1, 1, 1, 0],
        "pair": [0, 3],
    }
    assert verify(proof) == 0.0
    assert verify({**proof, "weights": [1, 0, 0, 1, 0]}) == 0.5
    with pytest.raises(ValueError, match="has no balance"):
        verify({**proof, "weights": [1, 1, 1, 0, 0]})


def test_neighbours_decide_at_an_end():
    """Every pair tried, and every line counted, from small pools with copies: the same bound, or refused as well."""
    rng, accepted = np.random.default_rng(11), 0
    for _ in range(3000):
        size, reach = int(rng.integers(2, 7)), int(rng.integers(1, 4))
        x, y = rng.integers(-2, 3, size), rng.integers(-2, 3, size) * reach
        c, d = [(0, 1), (1, 0), (1, 1), (1, 4), (4, 1)][rng.integers(5)]
        pool = module._Pool(x.tolist(), y.tolist(), c, d)
        i, j = (int(v) for v in rng.choice(size, 2, replace=False))
        over = [
            [c * (s - u) ** 2 - d * (t - v) ** 2 for s, t in zip(x, y, strict=True)] for u, v in zip(x, y, strict=True)
        ]
        lines = [
            [k for k in range(size) if over[n][k] == 0 and sign * (x[k] - x[n]) * (y[k] - y[n]) >= 0]
            for n in range(size)
            for sign in (1, -1)
        ]
        fullest = max((len(line) for line in lines if len({(x[k], y[k]) for k in line}) > 1), default=0)
        true = max(map(max, over)) <= 0 and over[i][j] == 0 and (x[i], y[i]) != (x[j], y[j])
        try:
            assert module._end(pool, i, j) == Fraction(1, fullest) and true
            accepted += 1
        except ValueError:
            assert not true
    assert accepted > 100


# --- large numbers, long ones, and weights that miss ---------------------------------------------------------------------


def missed(share):
    """SMALL with a share of the third weight left out."""
    return {**SMALL, "weights": [5, 6, str(2 * (1 - Fraction(share)))]}


@pytest.mark.parametrize("share", ["1/2000", "1/1000000"])
def test_weights_beside_the_target_are_refused_with_their_balance(share):
    """β of the weights by its definition, in fractions."""
    proof = missed(share)
    own = exact_balance(proof)
    assert abs(own - Fraction(1, 2)) > 1e-7
    with pytest.raises(ValueError, match=f"not a proof.*0.5.*{float(own):.12g}"):
        verify(proof)


def exact_balance(proof):
    a, f, _, w = exact(proof)
    var = [
        sum(v * x * x for v, x in zip(w, s, strict=True)) / sum(w)
        - (sum(v * x for v, x in zip(w, s, strict=True)) / sum(w)) ** 2
        for s in (a, f)
    ]
    return var[0] / sum(var)


def test_what_is_measured_is_that_of_the_weights_given(tmp_path, monkeypatch):
    """Weights next to the target: their own balance and Σw², and the larger of the two gaps. At the optimum by hand, the
    least Σw² is 5/13; of these weights it is more, since they favour none."""
    monkeypatch.chdir(tmp_path)
    for share in ("1/10000000000", "-1/10000000000"):
        proof = missed(share)
        found, (_, _, _, w) = module.measured(proof), exact(proof)
        assert found.target == Fraction(1, 2) and found.beta == exact_balance(proof) != Fraction(1, 2)
        assert found.collision == sum(v * v for v in w) / sum(w) ** 2
        least = Fraction(5, 13)
        assert found.gap >= max(0, 1 - least / found.collision) and found.gap < 1e-9
        assert 0 < found.moved < 1e-9
        Path("proof.json").write_text(json.dumps(proof))
        code, out, err = run("verify", "proof.json", "--json")
        facts = json.loads(out)
        assert (code, err) == (0, "") and facts["target"] == 0.5 and facts["moved"] == float(found.moved)
        assert (facts["beta"], facts["ess"], facts["gap"]) == (float(found.beta), float(1 / found.collision), found.gap)
        assert [row["weight"] for row in facts["weights"]] == [float(v / sum(w)) for v in w]


def test_long_numbers_are_read_or_refused_at_once(tmp_path, monkeypatch):
    """Weights in a unit of 10⁴⁰⁰ are weights; scores beyond doubles are refused, and so is what would be long to compare."""
    monkeypatch.chdir(tmp_path)
    many = 10**400
    for weights in (
        [5 * many, 6 * many, 2 * many],
        [str(v * many) for v in (5, 6, 2)],
        [f"{v}/{many}" for v in (5, 6, 2)],
    ):
        Path("proof.json").write_text(json.dumps({**SMALL, "weights": weights}))
        code, out, err = run("verify", "proof.json", "--json")
        assert (code, err) == (0, "") and json.loads(out)["gap"] == 0
        assert [row["weight"] for row in json.loads(out)["weights"]] == [5 / 13, 6 / 13, 2 / 13]
    primes = [str(7 ** (3000 + n) + 2) for n in range(20)]
    for change, words in (
        ({"adequacy": [0, 2 * many, 0]}, "below 1e300"),
        ({"weights": [5, 6, 10**4000]}, "4000 digits"),
        ({"beta": many}, "between 0 and 1"),
        ({"saddles": [[10**4200, 0, 0]]}, "4000 digits"),
        ({"weights": [[5], 6, 2]}, "a list where a number is expected"),
        ({"adequacy": [f"1/{p}" for p in primes], "fluency": [0] * 20, "weights": [1] * 20}, "common denominator"),
        (
            {"adequacy": [0] * 19 + [1], "fluency": [0] * 20, "weights": [f"1/{p}" for p in primes]},
            "common denominator",
        ),
    ):
        proof = {**SMALL, **change}
        with pytest.raises(ValueError, match="not a proof: .*" + words):
            verify(proof)
        Path("proof.json").write_text(json.dumps(proof))
        assert words in refused(*run("verify", "proof.json"))
        done = subprocess.run([sys.executable, "-I", module.__file__, "proof.json"], capture_output=True, text=True)
        assert done.returncode == 1 and words in done.stderr and "Traceback" not in done.stderr


# --- alone ------------------------------------------------------------------------------------------------------------


def test_the_verifier_imports_the_standard_library_only():
    tree = ast.parse(Path(module.__file__).read_text("utf-8"))
    names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    names |= {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert names <= {"__future__", "collections.abc", "fractions", "json", "math", "re", "sys", "typing"}


def test_the_file_works_alone(tmp_path):
    proof = tmp_path / "proof.json"
    proof.write_text(json.dumps(SMALL))
    alone = [sys.executable, "-I", module.__file__]
    done = subprocess.run([*alone, proof], capture_output=True, text=True)
    assert done.returncode == 0 and "smaller by 0 of this one at most" in done.stdout
    proof.write_text(json.dumps({**SMALL, "beta": 2}))
    done = subprocess.run([*alone, proof], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("not a proof: ") and not done.stdout
    assert subprocess.run(alone, capture_output=True, text=True).stderr == "usage: python verify.py proof.json\n"


SYSTEMS = "system,adequacy,fluency\na,.5574,.4012\nb,.9883,.5353\nc,1.4687,1.4986\nd,3.0894,1.2467\n"


def test_the_command_line_writes_proofs_and_checks_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("systems.csv").write_text(SYSTEMS)
    code, out, err = run("reweight", "systems.csv", "--beta", "0.9095", "--proof", "proof.json", "--json")
    assert (code, err) == (0, "")
    code, checked, err = run("verify", "proof.json", "--json")
    assert (code, err) == (0, "")
    first, second = json.loads(out), json.loads(checked)
    assert second["gap"] == first["gap"] <= 5.01e-10
    assert (second["beta"], second["ess"]) == pytest.approx((0.9095, first["ess"]), rel=1e-12)
    proof = json.loads(Path("proof.json").read_text())
    proof["cuts"][0] += 0.1
    Path("proof.json").write_text(json.dumps(proof))
    assert "proof.json: not a proof of a gap of 1e-09 or less" in refused(*run("verify", "proof.json"))
    assert run("verify", "proof.json", "--gap", "1")[0] == 0
    Path("proof.json").write_text(json.dumps({**proof, "beta": 0.5}))
    assert "proof.json: not a proof: the weights miss the target" in refused(*run("verify", "proof.json"))
    Path("proof.json").write_text("[" * 100_000)
    assert "no JSON" in refused(*run("verify", "proof.json"))
    assert "no such file" in refused(*run("verify", "other.json"))
    assert "--beta is expected" in refused(*run("reweight", "systems.csv", "--sweep", "--proof", "p.json"))
    assert "is there already" in refused(*run("reweight", "systems.csv", "--beta", "0.9", "--proof", "proof.json"))
    both = ("--proof", "x.json", "--out", "x.json")
    assert "two names are needed" in refused(*run("reweight", "systems.csv", "--beta", "0.9", *both))
