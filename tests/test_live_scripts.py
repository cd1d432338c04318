"""Small live figures: their scripts are there, load in order without a page, and are small. tests/pages/test_live.py tries them in a browser."""

import re
from pathlib import Path

import pytest
from nodejs import ASSETS, node

from whichbird.show import live

BOOK = Path(__file__).parents[1] / "book"


@pytest.mark.parametrize("name", live.FIGURES)
def test_scripts_load_in_order_without_a_page(name):
    assert node("load(...data); return typeof Whichbird.figure", list(live.scripts(name))) == "function"
    assert (ASSETS / f"live-{name}.js").stat().st_size < 10_000


def test_registry_chapters_and_scripts_name_the_same_figures():
    used = {
        name for page in BOOK.rglob("*.md") for name in re.findall(r'live\.embed\(\s*"(\w+)"', page.read_text("utf-8"))
    }
    files = {path.stem.removeprefix("live-") for path in ASSETS.glob("live-*.js")}
    assert used == files == set(live.FIGURES)


def test_unknown_figure_is_refused_and_data_cannot_end_the_script():
    with pytest.raises(ValueError, match="no live figure is called 'crss'; there are cross"):
        live.embed("crss", {})
    assert "</script><b>" not in repr(live.embed("cross", {"x": "</script><b>"}))
