"""Checks that teach: what a hash accepts, what an answer is, and which mistakes get which sentence. The key here is made up."""

import json
import math
import random
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from whichbird_book.teach import check as teach, forms
from whichbird_book.teach.forms import DIGITS, Form, Kept, NoForm, empty, form, kept, label, meets
from whichbird_book.teach.mistakes import ONE_BY_ONE

NOTHING = (..., None, math.nan, float("nan"), np.nan, [], {}, (), set(), "", "  ", np.array([]), pd.Series(dtype=float), [...], {"a": None}, [math.nan, None])  # fmt: skip


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    """Hashes that cost nothing: what they accept is the same. tests/test_course_marks.py holds the key to the real cost."""
    monkeypatch.setattr(forms, "COST", 2)
    forms.stretched.cache_clear()
    yield
    forms.stretched.cache_clear()


def hashed(value, name="x", digits=DIGITS):
    return asdict(Kept.of("saltex-made" + name, form(value), digits))


def made(right, slips=(), **more):
    """A key with one exercise, whose only answer is `x`."""
    answer = {"points": 2, "kind": form(right).kind, "right": {"": hashed(right)}, **more.pop("answer", {})}
    answer["slips"] = [{"say": say, "is": {"": hashed(value)}} for value, say in slips]
    entry = {
        "label": "ex-made",
        "title": "Made up",
        "points": 2,
        "say": "x is made up",
        "hints": ["one", "two"],
        "sizes": [16],
    }
    return {"salt": "salt", "exercises": {"9.1": {**entry, "answers": {"x": answer}, **more}}}


@pytest.fixture
def use(monkeypatch):
    """Puts a key in the place of the book's, and forgets what was checked."""
    monkeypatch.setattr(teach, "_memory", teach._Memory())

    def put(key):
        monkeypatch.setattr(teach, "_key", lambda: key)

    return put


@pytest.mark.parametrize("digits", [2, 3, 4, 6])
def test_a_number_is_accepted_within_its_step_and_no_further(digits):
    chance = random.Random(digits)
    for _ in range(400):
        value = chance.choice([-1, 1]) * 10 ** chance.uniform(-6, 6)
        step = 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)
        key = kept("s", value, digits)
        for shift in (0, 0.49, -0.49):
            assert key in meets("s", value + shift * step, digits)
        for shift in (1.51, -1.51, 30, -30):
            assert key not in meets("s", value + shift * step, digits)
        assert key not in meets("s", -value, digits)


def test_powers_of_ten_have_no_edge():
    for value in (0.99999999, 1.0, 1.00000001, 9.9996, 99.9996, 1e-5, 0.1):
        for x in (value * (1 - 1e-9), value * (1 + 1e-9)):
            assert kept("s", value, 4) in meets("s", x, 4)
    assert kept("s", 0.1 + 0.2, 4) in meets("s", 0.3, 4)


def test_what_is_small_beside_its_container_counts_as_nothing():
    key = Kept.of("s", form([0.5, 3e-17, 0.5]), 4)
    for near in (0, -2e-16, 1e-12):
        assert key.accepts("s", form([0.5, near, 0.5]), 4)
    assert not key.accepts("s", form([0.5, 0.01, 0.5]), 4)


def test_whole_numbers_and_words_are_exact():
    assert kept("s", 7, 2) in meets("s", np.int64(7), 2) and kept("s", 7, 2) not in meets("s", 7.02, 2)
    assert kept("s", 10**20 + 1, 4) not in meets("s", 10**20, 4)
    assert kept("s", "bleu", 4) in meets("s", form(" BLEU ").leaves[""], 4)
    assert kept("s", True, 4) not in meets("s", 1, 4)


@pytest.mark.parametrize(
    "one, other",
    [
        ({"a": 1.5, "b": 2}, pd.Series({"b": 2.0, "a": 1.5})),
        ({1: 0.5, 2: 0.25}, {1.0: 0.5, np.int64(2): 0.25}),
        ([1.5, 2.5], np.array([1.5, 2.5])),
        ([1.5, 2.5], pd.Series([1.5, 2.5])),
        ([[1, 2], [3, 4]], np.array([[1.0, 2], [3, 4]])),
        ({"x": {"r": 1.5}, "y": {"r": 2.5}}, pd.DataFrame({"x": [1.5], "y": [2.5]}, index=["r"])),
        ({"BLEU", "COMET"}, frozenset(["comet", "bleu"])),
        (0.25, np.float64(0.25)),
        (3.0, 3),
        (3, np.array(3)),
        ({(0, 1): 2.5}, {(0.0, np.int64(1)): 2.5}),
        ([("a", 1)], (("a", 1),)),
    ],
)
def test_the_same_answer_in_another_shape(one, other):
    for right, given in ((one, other), (other, one)):
        assert Kept.of("s", form(right), 4).accepts("s", form(given), 4)


def test_what_has_no_form():
    for thing in (len, object(), pytest, lambda: 1):
        with pytest.raises(NoForm, match="cannot be checked"):
            form(thing)
    with pytest.raises(NoForm, match="too many"):
        form(np.zeros(5000))
    assert label("β₀ ") == "β₀"


def test_sympy_numbers_are_numbers():
    sp = pytest.importorskip("sympy")
    assert form(sp.Rational(1, 2)).leaves[""] == 0.5 and form(sp.Integer(3)).leaves[""] == 3
    assert form({(sp.Integer(0), sp.Integer(1))}) == form({(0, 1)})
    assert form(sp.true).kind == "truth"
    with pytest.raises(NoForm):
        form(sp.Symbol("x"))


def test_nothing_never_passes(use, capsys):
    for right in (0.5, 7, "BLEU", True, False, [0.0, 0.0], [1, 2], {"a": 0.0}, {1, 2}, 0, 0.0):
        use(made(right))
        for nothing in NOTHING:
            assert empty(nothing)
            outcome = teach.check("9.1", nothing)
            assert not outcome and outcome.points == 0
            assert capsys.readouterr().out == "9.1: nothing yet. x is made up.\n"
        assert teach.check("9.1").points == 0
        assert teach.check("9.1", right).full
        capsys.readouterr()


@pytest.mark.parametrize("right", [0.2731, 12.5, -3.25, [0.2, 0.7, 0.9], {"a": 0.31, "b": 4.5}])
def test_generic_mistakes_get_their_sentences(use, capsys, right):
    def bent(change):
        if isinstance(right, dict):
            return {k: change(v) for k, v in right.items()}
        return [change(v) for v in right] if isinstance(right, list) else change(right)

    use(made(right))
    sample = np.sqrt(16 / 15)
    ways = {
        "sign": lambda x: -x,
        "one minus it": lambda x: 1 - x,
        "twice as much": lambda x: 2 * x,
        "half of it": lambda x: x / 2,
        "in per cent": lambda x: 100 * x,
        "share of one; per cent": lambda x: x / 100,
        "upside down": lambda x: 1 / x,
        "its square.": lambda x: x * x,
        "square root": lambda x: np.sqrt(x),
        "sample variance": lambda x: x * 16 / 15,
        "divide by K − 1 here": lambda x: x * 15 / 16,
        "sample standard deviation": lambda x: x * sample,
        "take K − 1 here": lambda x: x / sample,
        "do not round": lambda x: float(f"{x:.2g}"),
    }
    assert len(ways) == len(ONE_BY_ONE) + 5
    full = [right] if isinstance(right, float) else list(right.values() if isinstance(right, dict) else right)
    if all(float(f"{x:.2g}") == x for x in full):
        del ways["do not round"]
    for words, change in ways.items():
        negative = isinstance(right, float) and right < 0
        if negative and words in (
            "square root",
            "its square.",
        ):  # no root of it, or it cannot be told from that of its negative
            continue
        assert not teach.check("9.1", bent(change))
        assert words in capsys.readouterr().out, words


def test_nobody_who_did_not_round_is_said_to_have_rounded(use, capsys):
    """Another method's 0.9312 is no rounding of 0.9387; 0.94 is."""
    use(made(0.9387))
    teach.check("9.1", 0.9312)
    assert capsys.readouterr().out == "9.1 x: not yet.\n"
    teach.check("9.1", 0.94)
    assert "do not round" in capsys.readouterr().out
    use(made([0.9387, 0.5]))
    assert (
        not teach.check("9.1", [0.94, 0.6])
        and "1: " not in (said := capsys.readouterr().out)
        and "do not round" not in said
    )


def test_what_is_simulated_is_accepted_within_a_difference_and_no_further(use):
    key = made([0.7, 0.95], answer={"grain": 0.1})
    key["exercises"]["9.1"]["answers"]["x"]["right"] = {"": hashed([0.7, 0.95], digits=0.1)}
    use(key)
    assert teach.check("9.1", [0.78, 0.9]).full and teach.check("9.1", [0.62, 1.0]).full
    assert (
        not teach.check("9.1", [0.5, 0.95])
        and not teach.check("9.1", [0.7, 0.7])
        and not teach.check("9.1", [0.6, 0.6])
    )


def test_another_right_answer_is_accepted(use):
    key = made(0.5)
    key["exercises"]["9.1"]["answers"]["x"]["also"] = [{"": hashed(0.25)}]
    use(key)
    assert teach.check("9.1", 0.25).full and teach.check("9.1", 0.5).full and not teach.check("9.1", 0.3)


def test_an_error_that_follows_is_not_accused(use, capsys):
    key = made(0.5, [(0.1, "A slip of its own.")], answer={"after": ["y"]})
    answers = key["exercises"]["9.1"]["answers"]
    answers["y"] = {"points": 1, "kind": "number", "right": {"": hashed(3.5, "y")}, "slips": []}
    key["exercises"]["9.1"]["answers"] = {"y": answers["y"], "x": answers["x"]}
    use(key)
    teach.check("9.1", y=9.25, x=0.1)
    assert "9.1 x: not yet. It builds on y, so mend that first" in capsys.readouterr().out
    teach.check("9.1", y=3.5, x=0.1)
    assert "A slip of its own." in capsys.readouterr().out
    assert teach.check("9.1", y=9.25, x=0.5).right == {"x"}


def test_containers_say_what_fits_and_what_does_not(use, capsys):
    def said(answer):
        assert not teach.check("9.1", answer)
        return capsys.readouterr().out

    use(made([0.1, 0.3, 0.9]))
    assert "other way round" in said([0.9, 0.3, 0.1])
    assert "sorted upwards" in said([0.3, 0.1, 0.9])
    assert "2 of 3 are right; not yet: 1." in said([0.1, 0.4, 0.9])
    assert "3 values are wanted, and these are 2" in said([0.1, 0.3])
    assert "is wanted, and this is a number" in said(0.1)
    assert "is wanted, and this is a word" in said("no")
    assert teach.check("9.1", pd.Series([0.1, 0.3, 0.9], index=["x", "y", "z"])).full  # labels do no harm
    use(made([0.2, 0.3, 0.5]))
    assert "not divided by their sum" in said([2.0, 3, 5])
    use(made({"ende24": 0.31, "ende21": 0.7}))
    assert "1 of 2 are right; not yet: ende21" in said({"ende24": 0.31, "ende21": 0.2})
    assert "1 are unknown (ende22), and 1 are missing" in said({"ende24": 0.31, "ende22": 0.7})
    use(made({"BLEU", "COMET", "chrF"}))
    assert "2 of your 3 belong there, and 3 are wanted" in said(["BLEU", "COMET", "TER"])
    assert teach.check("9.1", ["chrf", "comet", "bleu"]).full
    use(made(True))
    assert "only two possible answers" in said(False)
    use(made(7))
    assert "one too many" in said(8) and "one too few" in said(6)
    assert "cannot be checked by its value" in said(len)


def test_a_slip_gets_its_sentence_before_a_generic_mistake_does(use, capsys):
    use(made(0.25, [(0.75, "The other bird."), (0.5, "Both birds.")]))
    teach.check("9.1", 0.75)
    assert capsys.readouterr().out == "9.1 x: The other bird.\n"
    teach.check("9.1", 0.5)
    assert capsys.readouterr().out == "9.1 x: Both birds.\n"


def test_functions_are_asked(use, capsys):
    def square(x):
        return x * x

    key = made([9, 16], answer={"calls": ["x(3)", "x(4)"]})
    use(key)
    assert teach.check("9.1", square).full
    capsys.readouterr()
    assert not teach.check("9.1", lambda x: None)
    assert capsys.readouterr().out == "9.1 x: nothing yet: x(3) gives None. Does x return something?\n"
    assert not teach.check("9.1", lambda x: ...)
    assert not teach.check("9.1", lambda: 1) and "x(3) stops (TypeError" in capsys.readouterr().out
    assert not teach.check("9.1", lambda x: -x * x) and "sign" in capsys.readouterr().out


def test_a_test_accepts_every_right_answer(use, capsys):
    key = made(0.5, answer={"test": "np.isclose(sum(x), 1) and len(x) > 1", "right": {}})
    del key["exercises"]["9.1"]["answers"]["x"]["kind"]
    use(key)
    assert teach.check("9.1", [0.5, 0.5]).full and teach.check("9.1", np.full(4, 0.25)).full
    assert not teach.check("9.1", [0.5, 0.6]) and "not yet" in capsys.readouterr().out
    assert not teach.check("9.1", 3) and "cannot be tried" in capsys.readouterr().out
    assert not teach.check("9.1", len)
    with pytest.raises(ValueError, match="not for top"):
        teach.check("9.1", x=[0.5, 0.5], top=1)  # no name besides the answers is handed over


def test_points_are_counted_and_kept(use):
    use(made(0.5))
    assert teach.points().empty is False and teach.points().loc["all", "of"] == 0
    teach.check("9.1", 0.4)
    assert list(teach.points().loc["9.1"]) == ["Made up", 0, 2, 0]
    assert repr(teach.check("ex-made", 0.5)) == "2 of 2 points" and teach.check("ex-made", 0.5).right == {"x"}
    teach.check("9.1", 0.4)
    teach.hint("9.1")
    assert list(teach.points().loc["9.1"]) == ["Made up", 2, 2, 1]
    assert list(teach.points().loc["all"]) == ["", 2, 2, 1]


def test_two_hints_and_no_more(use, capsys):
    use(made(0.5))
    for _ in range(3):
        teach.hint("Exercise 9.1")
    assert capsys.readouterr().out == "9.1, hint 1 of 2: one\n9.1, hint 2 of 2: two\n9.1, hint 2 of 2: two\n"
    assert teach.points().loc["9.1", "hints"] == 2


def test_a_key_older_than_the_library_is_said_in_a_sentence(use):
    key = made(0.5)
    right = key["exercises"]["9.1"]["answers"]["x"]["right"][""]
    right["items"] = {path: [h, h] for path, h in right["items"].items()}  # as it was before hashes were stretched
    use(key)
    with pytest.raises(ValueError, match="older than this library"):
        teach.check("9.1", 0.5)


def test_what_is_not_an_exercise_is_said_in_a_sentence(use):
    use(made(0.5))
    with pytest.raises(ValueError, match=r"'9.7'.*9.1"):
        teach.check("9.7", 1)
    with pytest.raises(ValueError, match="9.1 asks for x, not for y"):
        teach.check("9.1", y=1)
    with pytest.raises(ValueError, match="by its name"):
        teach.check("9.1", 1, 2)


def test_a_student_has_a_dataset_and_neighbours_another(use, capsys):
    key = made(0.5, yours={"dataset": "ende24", "among": ["a", "b", "c"]})
    key["exercises"]["9.1"]["answers"]["x"]["right"] = {
        n: hashed(v) for n, v in zip(("ende24", "a", "b", "c"), (0.5, 0.11, 0.22, 0.33), strict=True)
    }
    use(key)
    assert teach.student(...)["9.1"] == "ende24" and teach.check("9.1", 0.5).full
    got = [teach.student(n)["9.1"] for n in range(9)]
    assert set(got) == {"a", "b", "c"} and all(x != y for x, y in zip(got, got[1:], strict=False))
    assert teach.student("17") == teach.student(17) and dict(teach.student("ann")).keys() == {"9.1"}
    teach.student(got.index("b"))
    assert teach.check("9.1", 0.22).full
    capsys.readouterr()
    assert not teach.check("9.1", 0.5)
    assert "right for ende24, but your dataset is b" in capsys.readouterr().out
    for wrong in (True, 1.5, -3, "", "-1"):
        with pytest.raises(ValueError, match="a student's number"):
            teach.student(wrong)


def test_the_key_shows_no_value():
    right = {"a": 0.271828, "b": 31415, "c": "unbabel"}
    text = json.dumps(made(right))
    assert not any(word in text for word in ("27182", "31415", "unbabel", '"a"', '"b"'))


def test_a_form_knows_its_numbers():
    assert Form("list", {"0": 1, "1": 2.5}).numbers and not Form("list", {"0": True}).numbers
