"""The bump chart: what the page is given, and the pure parts of its script, which Node runs."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import whichbird as wb
from whichbird.show.bump import bump_data, embed_bump, ranks

ROOT = Path(__file__).resolve().parents[1]


def test_ranks_agree_with_the_table_of_the_command_line():
    d = wb.load("ende22")
    v = wb.load_significance("ende22")
    for beta in (0.9, 0.95):
        table = wb.rank(d, beta).table.set_index("scorer")["rank"]
        assert ranks(v.spa[v.nearest(beta)]).tolist() == [table[name] for name in v.scorers]


def test_steps_add_up_to_ranks_and_pairs_are_those_of_the_verdict():
    d, v = wb.load("ende22"), wb.load_significance("ende22")
    natural = wb.balance(d.adequacy, d.fluency)
    page = bump_data(v, natural)
    rows = np.cumsum(page["ranks"], axis=0)
    assert (rows == ranks(v.spa[1:])).all()
    at = v.nearest(natural) - 1
    low = np.cumsum(page["low"], axis=0)
    assert (low[at] == v.rank_low[0]).all() and (np.delete(low, at, 0) == np.delete(v.rank_low[1:], at, 0)).all()
    for what, pairs in (("moved", v.ends().moved), ("turns", v.ends().turns)):
        assert len(page[what]) == v.ends().counts()[what] > 0
        for i, j in page[what]:
            assert i < j and pairs[i, j]
            assert (rows[0, i] - rows[0, j]) * (
                rows[-1, i] - rows[-1, j]
            ) < 0  # both are said of those that change places
    assert len(page["turns"]) < len(page["moved"])


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="no balance is known"):
        bump_data(wb.load_significance("heen23"), 0.5)
    with pytest.raises(ValueError, match="'nobody'"):
        embed_bump({"scorers": ["BLEU"]}, "..", ["nobody"])


def test_a_name_cannot_end_the_script():
    assert "</script><b>" not in embed_bump({"scorers": ["</script><b>"]}, "..", []).text


def test_the_scripts_of_the_pages_by_node():
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed: the tests in tests/js need it")
    files = sorted(map(str, (ROOT / "tests" / "js").glob("*.test.js")))
    assert files
    done = subprocess.run([node, "--test", *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
