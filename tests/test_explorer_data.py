"""The data of the live figures against the library, at stops that the builder did not choose by itself."""

import json

import numpy as np
import pytest

import whichbird as wb
from whichbird import DataError
from whichbird.show.explorer import beta_stops, embed, page_data
from whichbird.study.sweep import sweep

DATASET = "ted_ende"
HALF_UNIT = 0.5e-8  # weights are whole numbers of 1e-8


@pytest.fixture(scope="module")
def d():
    return wb.load(DATASET)


@pytest.fixture(scope="module")
def page(d):
    return page_data(d, step=0.05)


def test_datasets_without_public_ratings_are_left_out():
    assert set(wb.datasets()) - set(wb.datasets(aspects=True)) == {"heen23"}
    with pytest.raises(DataError, match="heen23 can be ranked at its natural balance only"):
        page_data(wb.load("heen23"))


@pytest.mark.parametrize("name", wb.datasets(aspects=True))
def test_stops(name):
    pool = wb.load(name)
    a, f = pool.adequacy, pool.fluency
    stops = beta_stops(a, f)
    low, high = wb.reachable(a, f)
    inner = wb.beta_interval(a, f, 0.9 * a.size)
    assert (np.diff(stops) > 0).all() and stops[0] == low and stops[-1] == high
    assert {wb.balance(a, f), *inner} <= set(stops)
    assert np.diff(stops).max() <= 0.005 + 1e-12  # multiples carry rounding in the last digits
    typed = [b for b in (0.41, 0.5, 0.6, 0.75, 0.9) if low < b < high]
    assert typed and set(typed) <= set(stops)
    assert ((stops >= inner[0]) & (stops <= inner[1])).sum() >= 10


def test_weights_are_the_certified_ones(d, page):
    for beta, weights in zip(page["stops"], page["weights"], strict=True):
        exact = wb.reweight(d.adequacy, d.fluency, beta).weights
        # one target alone and many together give the same but for the last bits
        assert np.abs(np.array(weights) / page["unit"] - exact).max() <= HALF_UNIT + 1e-12
        assert (np.array(weights) > 0).tolist() == (exact > 0).tolist()


def test_places_of_the_natural_balance_and_the_reliable_interval(d, page):
    k = len(d.systems)
    assert page["weights"][page["natural"]] == [round(page["unit"] / k)] * k
    size = [wb.ess(w) / k for w in page["weights"]]
    first, last = page["reliable"]
    assert [n for n, share in enumerate(size) if share >= 0.9 - 1e-6] == list(range(first, last + 1))


def test_measures_are_those_of_the_sweep(d, page):
    some = [0, 5, page["natural"], len(page["stops"]) - 1]
    table = sweep(d, [page["stops"][n] for n in some])
    for family in d.families:
        assert [page["measures"][family][n] for n in some] == pytest.approx(table[family].tolist(), rel=1e-7)


def test_hyperbola_parts_the_support_from_the_rest(d, page):
    cut = 0
    for beta, weights, eta, lam in zip(page["stops"], page["weights"], page["eta"], page["lam"], strict=True):
        if eta is None:
            assert beta in wb.reachable(d.adequacy, d.fluency)
            continue
        w = np.array(weights) / sum(weights)
        height = -lam - eta * (
            (1 - beta) * (d.adequacy - w @ d.adequacy) ** 2 - beta * (d.fluency - w @ d.fluency) ** 2
        )
        assert ((height > 0) == (w > 0)).all()
        assert np.abs(np.maximum(height, 0) - w).max() < 1e-6  # all that went in has eight digits
        cut += (w == 0).any()
    assert cut > 5


def test_p_values_are_the_counts(d, page):
    assert np.array_equal(np.array(page["p"]) / page["permutations"], d.scorer_p)
    assert np.array_equal(np.array(page["human"]) / page["permutations"], d.human_p)


def test_json_is_standard_and_cannot_end_its_script(page):
    text = repr(embed([page | {"title": "</script><b>"}], "../.."))
    data = text.split('class="wb-data">')[1].split("</script>")[0]
    back = json.loads(data, parse_constant=lambda word: pytest.fail(f"JSON has no {word}"))
    assert back[0]["title"] == "</script><b>" and back[0]["weights"] == page["weights"]


def test_unknown_mode_is_refused():
    with pytest.raises(ValueError, match="unknown mode 'tiny'"):
        embed([], "..", mode="tiny")
