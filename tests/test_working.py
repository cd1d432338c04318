"""Working copies in a kernel: when checks stop, when they are listed, and which sentences are said again."""

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from whichbird_book import kit, working


@pytest.fixture
def cell():
    """Runs a cell in a copy with the parameter DATASET = "ende24": what it showed, and the error it ended with."""
    shell = InteractiveShell.instance()
    working.begin(
        working.__version__,
        {"DATASET": "ende24", "LOW": 0.5},
        {"n": "16", "b": "0.72"},
        ["There are ⟦n⟧ systems.", "With ⟦n⟧ systems β₀ is ⟦b⟧, which is high."],
    )

    def run(source):
        with capture_output() as seen:
            result = shell.run_cell(source, store_history=False)
        shown = [output.data for output in seen.outputs]
        words = "\n".join(data["text/markdown"] for data in shown if "text/markdown" in data)
        return words, result.error_before_exec or result.error_in_exec

    run('DATASET = "ende24"\nLOW = 0.5\nfrom whichbird_book import kit')
    yield run
    kit.LISTENERS.clear()
    InteractiveShell.clear_instance()


def test_with_the_book_s_parameters_an_assert_is_an_assert(cell):
    words, error = cell("assert 1 < 2\nassert 2 < 1, 'no'")
    assert isinstance(error, AssertionError) and str(error) == "no" and words == ""
    words, error = cell("assert {}['x']")
    assert isinstance(error, KeyError)


def test_with_another_parameter_a_failing_check_is_listed_and_the_cell_goes_on(cell):
    cell('DATASET = "zhen23"')
    words, error = cell("assert 1 < 2\nassert 2 < 1, 'no'\nfor x in range(4):\n    assert x < 3\ny = 5\nassert {}['x']")
    assert error is None and cell("z = y + 1\nassert z == 6") == ("", None)
    assert "3 of 4 checks" in words and "DATASET = 'zhen23'" in words and "`2 < 1`" in words and "1 < 2" not in words
    assert "`x < 3` (1 of 4 times)" in words and "KeyError" in words
    words, error = cell("assert 2 < 1")
    assert error is None and "check" in words  # one alone


def test_a_cell_that_changes_the_parameter_asks_softly_and_one_that_changes_it_back_stops(cell):
    words, error = cell('DATASET = "zhen23"\nassert 2 < 1')
    assert error is None and "2 < 1" in words
    words, error = cell('DATASET = "ende24"\nassert 2 < 1')
    assert isinstance(error, AssertionError)


def test_a_function_defined_while_checks_were_soft_is_strict_again(cell):
    cell('DATASET = "zhen23"')
    cell("def f():\n    assert 2 < 1\n    return 7")
    words, error = cell("seven = f()")
    assert error is None and "2 < 1" in words  # under the cell that called it
    cell('DATASET = "ende24"')
    assert isinstance(cell("f()")[1], AssertionError)


def test_a_check_of_a_theorem_always_stops(cell):
    cell('DATASET = "zhen23"')
    assert isinstance(cell(f"{working.THEOREM}\nassert 2 < 1")[1], AssertionError)
    cell(f"{working.THEOREM}\ndef g():\n    assert 2 < 1")
    assert isinstance(cell("g()")[1], AssertionError)
    assert cell("assert 2 < 1")[1] is None


def test_a_test_that_binds_a_name_still_binds_it(cell):
    cell('DATASET = "zhen23"')
    assert cell("assert (q := 3) > 4\nassert q == 3")[1] is None
    assert cell("assert q == 3") == ("", None)


def test_a_sentence_is_said_again_under_the_cell_that_gives_its_last_number(cell):
    assert cell("kit.glue('n', 16); kit.glue('b', '0.70')")[0] == ""  # parameters are the book's
    cell('DATASET = "zhen23"')
    words, _ = cell("kit.glue('n', 15)")
    assert "There are ~~16~~ **15** systems." in words
    words, _ = cell("kit.glue('b', '0.65')\nassert 2 < 1")
    assert "With ~~16~~ **15** systems β₀ is ~~0.72~~ **0.65**, which is high." in words
    assert "may be false" in words and words.index("may be false") > words.index("which is high")
    assert "There are" not in words


def test_what_did_not_change_is_not_said_again(cell):
    cell("LOW = 0.4")
    assert cell("kit.glue('n', 16); kit.glue('b', '0.72')") == ("", None)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('DATASET = "zhen99"', "zhen99"),
        ("DATASET = 3", "3"),
        ('DATASET = "heen23"', "heen23"),
        ("LOW = 1.5", "1.5"),
        ('LOW = "half"', "half"),
    ],
)
def test_a_parameter_that_cannot_be_used_gets_one_sentence(cell, line, said):
    _, error = cell(line)
    assert isinstance(error, working.ParameterError) and said in str(error)
    (shown,) = error._render_traceback_()
    assert shown == str(error) and shown.count("\n") == 0


def test_a_cell_still_shows_the_value_that_it_ends_with(cell):
    for source in ("x = LOW + 1\nx", "LOW = 0.25\nLOW + 1.25"):
        with capture_output() as seen:
            result = InteractiveShell.instance().run_cell(source, store_history=False)
        assert result.result == 1.5 and "1.5" in seen.stdout


def test_a_scorer_that_the_dataset_lacks_gets_one_sentence():
    assert "nobody" in working.wrong({"DATASET": "ende24", "SCORER": "nobody"})
    assert working.wrong({"DATASETS": ("ende24", "zhen23")}) == "" != working.wrong({"DATASETS": ("ende24", "heen23")})


def test_the_first_cell_may_run_twice(cell):
    cell("from whichbird_book import working")
    cell(f"working.begin({working.__version__!r}, {{'DATASET': 'ende24'}})")
    cell('DATASET = "zhen23"')
    words, error = cell("assert 2 < 1")
    assert error is None and words.count("2 < 1") == 1
