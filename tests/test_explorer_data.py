"""The data of the live figures against the library, at stops that the builder did not choose by itself."""

import json
from dataclasses import replace

import numpy as np
import pytest

import whichbird as wb
from whichbird import DataError
from whichbird.core.augment import PAPER_FAMILIES
from whichbird.data.digest import read_table
from whichbird.study.carriers import Carriers
from whichbird.study.meta import METAMETRICS
from whichbird.study.sweep import sweep
from whichbird.study.targets import VANISHING
from whichbird.study.verdict import Changes
from whichbird_book import explorer
from whichbird_book.explorer import beta_stops, embed, page_data, verdict_data

DATASET = "ted_ende"


@pytest.fixture(scope="module")
def d():
    return wb.load(DATASET)


@pytest.fixture(scope="module")
def page(d):
    return page_data(d, step=0.05)


@pytest.fixture(scope="module")
def v():
    return wb.load_significance(DATASET)


def whole(rows):
    """All rows from the first and the steps of the others."""
    out = [list(rows[0])]
    for steps in rows[1:]:
        out.append(list(out[-1]))
        for place, step in zip(steps[::2], steps[1::2], strict=True):
            out[-1][place] += step
    return np.array(out)


def counts(digits):
    return [int(digits[n : n + 2], 36) for n in range(0, len(digits), 2)]


def inner_stops(page):
    """Stops inside the reliable interval: their place, their place among those tested, and β."""
    first, last = page["reliable"]
    return [(n, n - first, page["stops"][n]) for n in range(first, last + 1)]


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


def test_places_of_the_natural_balance_and_the_reliable_interval(d, page):
    assert page["stops"][page["natural"]] == wb.balance(d.adequacy, d.fluency)
    size = wb.reweight_sweep(d.adequacy, d.fluency, page["stops"]).ess / len(d.systems)
    first, last = page["reliable"]
    assert [n for n, share in enumerate(size) if share >= 0.9 - 1e-6] == list(range(first, last + 1))


def test_stops_of_the_reliable_interval_are_those_at_which_tests_ship(d, page, v):
    """Whatever the step: β inside is tested at β itself, never beside it."""
    inside = [beta for _, _, beta in inner_stops(page)]
    assert inside == pytest.approx(v.betas[1:].tolist(), abs=1e-12)
    outside = set(page["stops"]) - set(inside)
    assert outside == {b for b in beta_stops(d.adequacy, d.fluency, 0.05) if not inside[0] <= b <= inside[-1]}
    assert page["stops"] == sorted(page["stops"])


def test_intervals_and_changes_are_those_of_the_verdict(page, v):
    told = page["verdict"]
    low, high, margin = (whole(told[what]) for what in ("low", "high", "margin"))
    for n, at, beta in inner_stops(page):
        b = 0 if n == page["natural"] else int(np.abs(v.betas[1:] - beta).argmin()) + 1
        assert low[at].tolist() == v.rank_low[b].tolist() and high[at].tolist() == v.rank_high[b].tolist()
        assert np.abs(margin[at] / told["fine"] - v.t * v.se[b]).max() <= 0.5 / told["fine"] + 1e-12
        for what, scorers in (("moved", v.moved(b)), ("turned", v.turned(b))):
            assert told[what][at] == [m for m, yes in enumerate(scorers) if yes]
    assert told["moved"][page["natural"] - page["reliable"][0]] == []
    assert told["signature"] == v.tests


def test_leads_that_move_and_orders_that_turn_are_those_of_the_verdict():
    told, ends = page_data(wb.load("ende22"), step=0.1)["verdict"], wb.load_significance("ende22").ends()
    for what, pairs in (("moves", ends.moves), ("turns", ends.turns)):
        assert [divmod(code, len(pairs)) for code in told[what]] == [(i, j) for i, j in np.argwhere(pairs) if i < j]
    assert len(told["moves"]) > 5 * len(told["turns"]) > 0
    few = page_data(wb.load("ted_ende"), step=0.1)["verdict"]  # five documents
    assert few["moves"] is None and few["turns"] is None and few["documents"] == 5


def test_carriers_are_those_of_the_library_and_of_the_table_that_ships():
    d, v = wb.load("ende22"), wb.load_significance("ende22")
    page, found = page_data(d, step=0.1), wb.carriers(d)
    told, of = page["carriers"], {name: k for k, name in enumerate(d.systems)}
    i, j = np.triu_indices(len(d.scorers), 1)
    for code, m, o in zip(told["pairs"], i.tolist(), j.tolist(), strict=True):
        assert (None if code == "0" else d.systems[int(code, 36) - 1]) == found.pair(m, o).carrier
    for m, said in enumerate(told["scorers"]):
        carrier = found.scorer(m).carrier
        assert said == (None if carrier is None else [of[carrier], *found.scorer(m).without[of[carrier]].tolist()])
    kept = read_table("carriers.csv").query("dataset == 'ende22'").set_index("system")["kept_places"]
    assert told["pool"] == [of[kept.idxmin()], kept.min(), v.ends().counts()["places"]]
    assert page["vanishing"] == VANISHING and None in told["scorers"] and "0" in told["pairs"]


def test_where_every_change_is_kept_nobody_carries():
    """Two scorers over four systems, made up: they change places, and do so without each of them; then without C they do not."""
    spa, ends = np.array([[0.8, 0.7], [0.6, 0.7]]), np.array([0.4, 0.6])
    left = np.array([spa] * 4)
    made = Carriers(
        "made", tuple("ABCD"), ("one", "two"), ends, np.ones((2, 4)) / 4, spa, left, np.tile(ends, (4, 1)), left, ""
    )
    assert explorer.carrier_data(made) == {"pool": None, "scorers": [None, None], "pairs": "0"}
    left = left.copy()
    left[2, 1, 0] = 0.75
    carried = explorer.carrier_data(replace(made, own=left))
    assert carried == {"pool": [2, 0, 1], "scorers": [[2, 1, 1], [2, 2, 2]], "pairs": "3"}


def test_rules_part_the_clusters(d, page, v):
    """WMT's rule once more, row by row down the ranking that the page shows."""
    told = page["verdict"]
    some = 0
    for n, at, beta in inner_stops(page):
        b = 0 if n == page["natural"] else v.nearest(beta)
        spa = wb.spa_from_p(d.human_p, d.scorer_p, wb.reweight(d.adequacy, d.fluency, beta).weights)
        assert np.abs(spa - v.spa[b]).max() < 2e-5  # stored to five digits
        order = sorted(range(len(spa)), key=lambda m: (-round(spa[m], 9), m))
        opens, above = [], []
        for place, m in enumerate(order):
            if any(v.p[b, other, m] <= 0.05 for other in above):
                opens.append(place)
                above = []
            above.append(m)
        assert told["opens"][at] == opens
        some += len(opens)
    assert some > 10


def test_places_by_hand():
    """Three scorers at two balances, the last two tied and swapped; figures made up."""
    sure = np.array([[1, 0.01, 0.3], [0.99, 1, 0.6], [0.7, 0.5, 1]])

    class Made:
        p, t, tests, documents, judged = np.array([sure, sure]), 2.0, "made", 20, True
        se = np.array([[0.01, 0.02, 0.03], [0.01, 0.025, 0.03]])
        rank_low, rank_high = np.array([[1, 2, 1], [1, 1, 1]]), np.array([[1, 3, 3], [2, 3, 3]])

        def moved(self, b):
            return np.array([False, b == 1, b == 1])

        def turned(self, b):
            return np.array([False, False, b == 1])

        def ends(self):
            moves, turns = np.zeros((2, 3, 3), bool)
            moves[1, 2] = moves[2, 1] = moves[0, 1] = moves[1, 0] = turns[1, 2] = turns[2, 1] = True
            return Changes(turns, moves, turns, *[turns] * 4, True)

    spa = np.array([[0.9, 0.8, 0.8 + 1e-12], [0.9, 0.8, 0.85]])
    assert verdict_data(Made(), [0, 1], spa) == {
        "fine": 1e4,
        "signature": "made",
        "low": [[1, 2, 1], [1, -1]],
        "high": [[1, 3, 3], [0, 1]],
        "margin": [[200, 400, 600], [1, 100]],
        "opens": [[1], [2]],  # a tie goes by the order of names; then the third is above, and joins the first
        "moved": [[], [1, 2]],
        "turned": [[], [2]],
        "documents": 20,
        "moves": [1, 5],  # scorers 0 and 1, 1 and 2 of three
        "turns": [5],
    }


def test_tests_of_other_scorers_are_refused(d, monkeypatch):
    """Of ende24 are other scorers; of ende21 the same ones, at other stops."""
    for other in ("ende24", "ende21"):
        monkeypatch.setattr(explorer, "load_significance", lambda name, other=other: wb.load_significance(other))
        with pytest.raises(DataError, match="ted_ende: the tests that ship are of other scorers or stops"):
            page_data(d)


def test_menu_knows_what_the_paper_has(page):
    assert page["paper"] is True and page_data(wb.load("ende20"), step=0.5)["paper"] is False


def test_measures_are_those_of_the_sweep(d, page):
    some = [0, 5, page["natural"], len(page["stops"]) - 1]
    table = sweep(d, [page["stops"][n] for n in some])
    assert tuple(page["measures"]) == tuple(page["titles"]) == PAPER_FAMILIES
    for family in PAPER_FAMILIES:
        assert [page["measures"][family][n] for n in some] == pytest.approx(table[family].tolist(), rel=0, abs=5.1e-6)


def test_p_values_are_the_counts(d, page):
    assert np.array_equal(np.array([counts(row) for row in page["p"]]) / page["permutations"], d.scorer_p)
    assert np.array_equal(np.array(counts(page["human"])) / page["permutations"], d.human_p)
    with pytest.raises(ValueError, match="counts from 0 to 1296; 0 to 1295 are expected"):
        explorer.digits(np.array([0, 1296]))


def test_json_is_standard_and_cannot_end_its_script(page):
    text = repr(embed([page | {"title": "</script><b>"}], "../.."))
    data = text.split('class="wb-data">')[1].split("</script>")[0]
    back = json.loads(data, parse_constant=lambda word: pytest.fail(f"JSON has no {word}"))
    assert back[0]["title"] == "</script><b>" and back[0]["p"] == page["p"]


def test_unknown_mode_is_refused():
    with pytest.raises(ValueError, match="unknown mode 'tiny'"):
        embed([], "..", mode="tiny")


def test_the_interval_of_the_natural_balance():
    page, found = page_data(wb.load("ende20"), step=0.1), wb.components("ende20")
    assert (page["beta0_low"], page["beta0_high"]) == pytest.approx((found.low, found.high), rel=5e-6)  # six digits
    assert 0 < page["beta0_low"] < page["stops"][page["natural"]] < page["beta0_high"] < 1


def test_values_of_segment_metrics_between_stops_are_within_a_thousandth():
    """The page draws straight lines between them; half a thousandth is rounding."""
    d = wb.load("ende23")
    made = page_data(d, step=0.1)["segmental"]
    betas = np.linspace(*wb.reliable_interval(*d.aspects), 8)
    w = wb.reweight_sweep(*d.aspects, betas).insist().weights
    for name, rows in made["thousandths"].items():
        shown = np.array([np.interp(betas, made["betas"], x) for x in np.transpose(rows)]).T / 1000
        assert np.abs(shown - METAMETRICS[name].at(wb.contest(d), w)).max() < 1.5e-3, name


def test_the_human_ceiling_is_the_one_that_ships():
    assert page_data(wb.load("ende24"), step=0.5)["ceiling"] is None
    found = wb.human_ceiling("ende23")
    assert page_data(wb.load("ende23"), step=0.5)["ceiling"] == pytest.approx(
        [found.value, found.low, found.high, found.best], abs=1e-4
    )
