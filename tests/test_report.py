"""Comparison tables: what counts as equal at the printed precision."""

import pandas as pd
import pytest

import whichbird as wb
from whichbird_book.report import compare, published


def marked(printed, value):
    theirs, ours = (pd.DataFrame({"c": [cell]}, index=["r"], dtype=object) for cell in (printed, value))
    table = compare(theirs, ours)
    return table.shown.loc["r", "c"], table.equal.loc["r", "c"]


@pytest.mark.parametrize(
    "printed, value, shown, equal",
    [
        ("0.7821", 0.782073, "0.7821 ✓", True),
        ("0.7821", 0.78204, "0.7820 ≠ 0.7821", False),
        ("16", 16, "16 ✓", True),
        ("16", 15, "15 ≠ 16", False),
        ("0.0000", -1e-9, "0.0000 ✓", True),
        ("-0.1", -0.14, "-0.1 ✓", True),
        ("0.7", None, "— (0.7)", None),
        ("0.7", float("nan"), "nan ≠ 0.7", False),
    ],
)
def test_a_cell(printed, value, shown, equal):
    assert marked(printed, value) == (shown, equal)


def test_counts_and_order():
    theirs = pd.DataFrame({"a": ["1", "2"], "b": ["3.0", "4.0"]}, index=["x", "y"])
    ours = pd.DataFrame({"b": [4.01, 3.0], "a": [None, 1]}, index=["y", "x"], dtype=object)  # another order of both
    table = compare(theirs, ours)
    assert list(table.shown.columns) == ["a", "b"] and list(table.shown.index) == ["x", "y"]
    assert table.count() == (3, 0, 1)


def test_published_tables_are_strings_as_printed():
    core = published("core")
    assert core.index.name == "dataset" and core.loc["ende24", "beta_max"] == "1.0000"
    assert "dataset" in published("scorers").columns  # many rows per dataset: no index
    with pytest.raises(wb.DataError, match="nonsense.csv: no such file; there is claims, core, "):
        published("nonsense")
