"""Small live figures: their scripts load in order without a page, are small, and compute what the library computes. tests/pages/test_live.py tries them in a browser."""

import re

import execute
import numpy as np
import pandas as pd
import pytest
from nodejs import ASSETS, node

import whichbird as wb
from whichbird.core.balance import variance
from whichbird.core.permutation import permuted_gaps
from whichbird_book import live


@pytest.mark.parametrize("name", live.FIGURES)
def test_scripts_load_in_order_without_a_page(name):
    assert node("load(...data); return typeof Whichbird.figure", list(live.scripts(name))) == "function"
    assert (ASSETS / f"live-{name}.js").stat().st_size < 10_000


def test_registry_chapters_and_scripts_name_the_same_figures():
    used = {
        name for page in execute.pages() for name in re.findall(r'live\.embed\(\s*"(\w+)"', page.read_text("utf-8"))
    }
    files = {path.stem.removeprefix("live-") for path in ASSETS.glob("live-*.js")}
    assert used == files == set(live.FIGURES)


def test_unknown_figure_is_refused_and_data_cannot_end_the_script():
    with pytest.raises(ValueError, match="no live figure is called 'crss'; there are cross"):
        live.embed("crss", {})
    assert "</script><b>" not in repr(live.embed("cross", {"x": "</script><b>"}))


PATTERNS = [
    "111111111111",
    "000000000000",
    "101010101010",
    "010101010101",
    "110011001100",
    "111111000000",
    "000111000111",
    "100000000001",
]


def preferring(pairs, firsts):
    """The quiz's table with these choices: 1 for the first translation."""
    side = {n: "first" if c == "1" else "second" for n, c in enumerate(firsts, 1)}
    return pairs.assign(preferred=pairs["pair"].map(side))


@pytest.fixture(scope="module")
def made():
    """Twelve pairs whose scores lean to either side, with some ties; `quiz` of them."""
    d, rng = wb.load("ende24"), np.random.default_rng(20)
    lean = rng.normal(size=len(d.scorers))
    score = lambda n, m, sign: round(sign * lean[m] * (1 if n % 2 else -1) + rng.normal(), 0)  # noqa: E731
    rows = [(n, "first", s, score(n, m, 1), score(n, m, -1)) for n in range(1, 13) for m, s in enumerate(d.scorers)]
    pairs = pd.DataFrame(rows, columns=["pair", "preferred", "scorer", "first", "second"])
    assert (pairs["first"] == pairs["second"]).any()
    return pairs, live.quiz(pairs, [{"source": "", "first": "", "second": ""}] * 12, d)


def test_quiz_says_what_calibrate_says(made):
    pairs, data = made
    choices = PATTERNS + ["".join(row) for row in np.random.default_rng(7).choice(["0", "1"], (24, 12))]
    answers = node(
        """const W = load("wb-core", "live", "live-quiz");
           return data.choices.map(c => { const found = W.calibrateQuiz(data.quiz, [...c].map(Number));
                                          return {...found, verdict: W.quizVerdict(data.quiz, found)}; })""",
        {"quiz": data, "choices": choices},
    )
    kinds = set()
    for firsts, answer in zip(choices, answers, strict=True):
        c = wb.calibrate(preferring(pairs, firsts), "ende24")
        assert answer["verdict"] == c.verdict
        assert (answer["beta"], *answer["interval"], answer["above"]) == (c.beta, *c.interval, c.above)
        assert [answer["match"], answer["gain"]] == pytest.approx([c.match, c.gain], abs=1e-9)
        assert dict(zip(data["scorers"], answer["agreement"], strict=True)) == pytest.approx(c.agreement.to_dict())
        kinds.add(c.verdict.split(":")[0].split(" of ")[0])
    assert len(kinds) == 3  # towards adequacy, towards fluency, cannot tell


def test_quiz_has_a_word_for_scorers_that_all_agree_equally(made):
    pairs, _ = made
    same = pairs.assign(first=pairs["pair"] % 2, second=0.5)
    data = live.quiz(same, [{"source": "", "first": "", "second": ""}] * 12, wb.load("ende24"))
    said = node(
        'const W = load("wb-core", "live", "live-quiz"); return W.quizVerdict(data, W.calibrateQuiz(data, Array(12).fill(1)))',
        data,
    )
    assert said == wb.calibrate(preferring(same, "1" * 12), "ende24").verdict and "equally often" in said


def test_quiz_refuses_texts_that_do_not_fit(made):
    with pytest.raises(ValueError, match="there are scores of 12 pairs and texts of 3"):
        live.quiz(made[0], [{"source": ""}] * 3, wb.load("ende24"))


@pytest.mark.parametrize(("name", "pair"), [("ende24", (2, 11)), ("zhen23", (0, 1)), ("ende20", (3, 4))])
def test_coins_fall_as_in_the_library(name, pair):
    pool = wb.load_pool(name)
    views = {view: getattr(pool, view)[list(pair)] for view in ("total", "adequacy", "fluency")}
    views = {view: x for view, x in views.items() if np.isfinite(x).all()}
    data = live.flips(views, ["one", "other"])
    gaps, observed = node(
        """const test = load("wb-core", "wb-random", "live", "live-flips").flipper(data.scores, data.generator);
           const gaps = data.views.map(() => []);
           for (let n = 0; n < data.permutations; n++) {
             const signs = test.next();
             data.views.forEach((_, v) => gaps[v].push(test.gap(signs, v)));
           }
           return [gaps, test.observed];""",
        data,
    )
    for x, gap, seen in zip(views.values(), np.array(gaps), observed, strict=True):
        assert np.count_nonzero(gap >= seen) == wb.p_values(x, exact=False)[0] * data["permutations"]
        assert np.append(seen, gap) / x.shape[1] == pytest.approx(permuted_gaps(x), rel=1e-9, abs=1e-12)


def test_coins_need_complete_rows():
    with pytest.raises(wb.DataError, match="complete rows only"):
        live.flips({"total": np.array([[1.0, np.nan], [0.0, 1.0]])}, ["one", "other"])


def test_pair_gaps_add_up_to_the_variances():
    rng = np.random.default_rng(3)
    a, f, w = rng.normal(size=9), rng.normal(size=9), rng.dirichlet(np.ones(9))
    got = node(
        'const W = load("wb-core", "wb-solve", "live", "live-gaps"); return W.cloud(W.pairGaps(data.a, data.f), data.w)',
        {"a": a.tolist(), "f": f.tolist(), "w": w.tolist()},
    )
    assert [got["va"], got["vf"], got["beta"]] == pytest.approx([variance(a, w), variance(f, w), wb.balance(a, f, w)])
    i, j = np.triu_indices(9, 1)
    da, df = (a[i] - a[j]) * np.sign((a + f)[i] - (a + f)[j]), (f[i] - f[j]) * np.sign((a + f)[i] - (a + f)[j])
    share = w[i] * w[j] / (w[i] * w[j]).sum()
    assert [got["blue"], got["orange"]] == pytest.approx([share[df < 0].sum(), share[da < 0].sum()])
