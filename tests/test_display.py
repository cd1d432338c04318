"""Names of scorers as people read them: one table, and no two scorers of a dataset called the same."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout

import pytest

import whichbird as wb
from whichbird.cli import main
from whichbird.data.protocol import scorer_named
from whichbird.data.registry import DISPLAY, FIELDS, display, displays


def printed(*words: str) -> str:
    out = io.StringIO()
    with redirect_stdout(out):
        assert main(list(words)) == 0
    return out.getvalue()


def test_each_name_reads_as_one_scorer_of_its_dataset():
    seen = set()
    for source in [*map(wb.load, wb.datasets()), *map(wb.load_pool, FIELDS)]:
        names = [*source.scorers, *source.aliases]
        assert len({display(name) for name in names}) == len(names)
        assert displays(names) == {name: display(name) for name in names}
        for name in names:  # read back
            assert scorer_named(source, display(name)) == scorer_named(source, name)
        seen |= set(names)
    assert set(DISPLAY) <= seen  # none is there in vain


def test_names_are_short_words_without_the_marks_of_files():
    for raw, read in DISPLAY.items():
        assert read != raw and len(read) <= 30 and "_" not in read and ".seg" not in read and " " not in read


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_tables_for_people_show_them_and_data_keep_the_releases(form):
    out = printed("rank", "ende24", "--bare", "--format", form)
    assert "MetaMetrics-MT-QE" in out and "kendall" not in out
    rows = json.loads(printed("rank", "ende24", "--bare", "--json"))["ranking"]
    assert "metametrics_mt_mqm_qe_kendall.seg.s" in {row["scorer"] for row in rows}


def test_commands_take_either_name():
    both = [printed("compare", "ende24", a, "XCOMET", "--json") for a in ("gemba_esa", "GEMBA-ESA")]
    assert both[0] == both[1] and "GEMBA-ESA" in json.loads(both[0])["verdict"]
    assert "GEMBA-ESA" in printed("sweep", "ende24", "--bare", "--step", ".1", "--show", "GEMBA-ESA")
