"""Figures of the chapters beyond the paper."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes

from whichbird.show import figures


def coverage(
    ax: Axes, table: pd.DataFrame, worlds: list[str], looks: Mapping[str, tuple[str, str]], others: str
) -> None:
    """Dots of coverage, a row a world: the ways in `looks` with their own markers, all others as faint dots of one kind, called `others`."""
    ax.axvline(0.95, color=figures.FAINT, ls="--", lw=1.2)
    for way, part in table.groupby("way"):
        colour, marker = looks.get(str(way), (figures.PALE, "."))
        label = str(way) if way in looks else others
        part = part.set_index("world").reindex(worlds)
        ax.plot(
            part["covered"],
            range(len(worlds)),
            marker,
            color=colour,
            ms=5,
            ls="",
            label=label,
            zorder=2 + (way in looks),
        )
    ax.set_yticks(range(len(worlds)), worlds, fontsize=9)
