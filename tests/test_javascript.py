"""The scripts of the live figures, unit by unit, in Node; tests/pages tries the whole in a browser."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import solver_cases

from whichbird_book.explorer import SCRIPTS

ROOT = Path(__file__).parents[1]
TESTS = sorted((ROOT / "tests" / "js").glob("*.test.js"))


def run(*arguments, given=None):
    """What Node says, or a skip that says why it was not asked."""
    if shutil.which("node") is None:
        pytest.skip("no Node.js is installed: the unit tests of the page's scripts need it")
    return subprocess.run(["node", *arguments], cwd=ROOT, capture_output=True, text=True, input=given)


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_unit_tests_in_node(path):
    done = run("--test", str(path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_script_that_a_page_loads_is_there_and_loads_in_order_without_a_page():
    loads = "".join(f"require('./book/assets/{name}.js');" for name in SCRIPTS)
    done = run("-e", loads + "console.log(typeof Whichbird.Live)")
    assert (done.returncode, done.stdout) == (0, "function\n"), done.stderr


@pytest.mark.parametrize("which", ["shipped", "parts", "hard"])
def test_solver_answers_as_python_does(which):
    """Objective and balance to 1e-9; the browser tests ask the same of the built page."""
    cases = getattr(solver_cases, which)()
    done = run("tests/js/solve.js", given=json.dumps(cases))
    assert done.returncode == 0, done.stderr
    count = solver_cases.compare(cases, json.loads(done.stdout))
    print(which, count)
    least = {"shipped": (15, 3000), "parts": (300, 2000), "hard": (20, 100)}[which]
    assert count["pools"] >= least[0] and count["targets"] >= least[1]
    if which != "hard":
        assert count["found"] < 0.03 * count["targets"]  # what stays unproven lies next to an end, to 0 or to 1
