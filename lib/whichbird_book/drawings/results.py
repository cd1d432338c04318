"""Figures of chapters 4.1 to 5."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from whichbird.show import figures

GRID = {  # of control dials: direction, then (length, what the dial is called in the table)
    "the dealt one": ("dealt", "quiet", "stretched"),
    "none, or random": ("noise", "random", None),
    "the pool's own": ("noisy", "shrunk", "fair"),
}
LENGTHS = "short, with noise", "short", "as long as the pool's own"


def pools_by_measure(table: pd.DataFrame, pools: pd.DataFrame) -> Figure:
    """A panel for each measure (down) and construction of the synthesised pools (across): the curve of the sweep, and each pool on a stem from it."""
    fig, axes = figures.grid(6, columns=2, cell=(3.2, 2.1), sharex=True, sharey=True)
    titles = {"published": "as published", "fair": "with a fair dial"}
    for row, (family, (name, *_)) in enumerate(figures.MEASURES.items()):
        for column, (construction, title) in enumerate(titles.items()):
            ax = axes[2 * row + column]
            figures.sweep_panel(ax, table, pools[pools["construction"] == construction], only=family)
            if not row:
                ax.set_title(title, fontsize=10.5)
            if not column:
                ax.set_ylabel(name, fontsize=9.5)
    fig.supxlabel("balance β", fontsize=11)
    fig.supylabel("share of steps won", fontsize=10)
    return fig


def control_grid(values: pd.DataFrame) -> Figure:
    """Dots of every pool, and their median, for eight dials: a row for each direction, a column for length and noise. `values` has a column for each dial."""
    colour = figures.MEASURES["explainability"][1]
    fig, axes = figures.grid(9, columns=3, cell=(2.1, 1.7), sharex=True, sharey=True)
    for row, (direction, dials) in enumerate(GRID.items()):
        for column, (length, dial) in enumerate(zip(LENGTHS, dials, strict=True)):
            ax = axes[3 * row + column]
            ax.set(xticks=[], ylim=(0, 1.03))
            if not row:
                ax.set_title(length, fontsize=9.5)
            if not column:
                ax.set_ylabel(direction, fontsize=9.5)
            if dial is None:
                ax.axis("off")
                continue
            ax.scatter(np.linspace(0, 1, len(values)), values[dial], s=12, color=colour, alpha=0.55, lw=0)
            ax.axhline(values[dial].median(), color=figures.INK, lw=2)
    fig.supylabel("direction: explainability by MQM", fontsize=10)
    return fig
