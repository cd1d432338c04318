"""The scripts of the live figures, unit by unit, in Node; tests/pages tries the whole in a browser."""

import shutil
import subprocess
from pathlib import Path

import pytest

from whichbird.show.explorer import SCRIPTS

ROOT = Path(__file__).parents[1]
TESTS = sorted((ROOT / "tests" / "js").glob("*.test.js"))


def run(*arguments):
    """What Node says, or a skip that says why it was not asked."""
    if shutil.which("node") is None:
        pytest.skip("no Node.js is installed: the unit tests of the page's scripts need it")
    return subprocess.run(["node", *arguments], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_unit_tests_in_node(path):
    done = run("--test", str(path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_script_that_a_page_loads_is_there_and_loads_in_order_without_a_page():
    loads = "".join(f"require('./book/assets/{name}.js');" for name in SCRIPTS)
    done = run("-e", loads + "console.log(typeof Whichbird.Live)")
    assert (done.returncode, done.stdout) == (0, "function\n"), done.stderr
