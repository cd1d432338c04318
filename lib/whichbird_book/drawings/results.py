"""Figures of chapters 4.1 to 5."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whichbird.core.check import Array
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


def same_balance(ax: Axes, swept: pd.DataFrame, random: pd.DataFrame, family: str, natural: float, K: int) -> None:
    """A measure over ESS/K: random weightings at β₀ in grey; the sweep as triangles below β₀ and as squares above it."""
    name, colour, *_ = figures.MEASURES[family]
    ax.scatter(random["ess/K"], random[family], s=12, color="#b9bec4", label="random, β = β₀")
    below = swept["beta"] < natural
    for side, marker, label in ((below, "^", "sweep, β < β₀"), (~below, "s", "sweep, β > β₀")):
        face = colour if marker == "^" else "none"
        look: dict[str, Any] = {"s": 15, "marker": marker, "alpha": 0.8, "color": colour, "facecolors": face, "lw": 1}
        ax.scatter(swept["ess"][side] / K, swept[family][side], label=label, **look)
    ax.set_title(name)
    ax.set(ylabel="share of steps won")
    ax.legend(fontsize=9.5, loc="lower right")


def placebos(ax: Axes, rows: pd.DataFrame) -> None:
    """A row a dataset: the middle 95 % of placebos, a tick at their mean, and a dot for the weights that β asks for."""
    height = np.arange(len(rows))
    ax.hlines(height, rows["q025"], rows["q975"], color=figures.PALE, lw=7)
    ax.scatter(rows["mean"], height, marker="|", s=50, color=figures.FAINT, lw=1.5, zorder=2.5)
    ax.scatter(rows["observed"], height, s=26, color=figures.INK, zorder=3)
    ax.set_yticks(height, rows.index)
    ax.grid(axis="y", visible=False)


def two_drawn_out(ax: Axes, x: Array, lines: Array, names: list[str], two: list[int]) -> None:
    """Lines (T, N) over x with their names at both ends; two of them strong."""
    strong = dict(zip(two, (figures.INK, figures.ROSE), strict=True))
    looks = [
        {"color": strong.get(k, figures.FAINT), "lw": 2.4 if k in strong else 0.9, "zorder": 4 if k in strong else 3}
        for k in range(len(names))
    ]
    gap = 0.055 * float(np.ptp(lines)) * (1.4 if len(names) > 8 else 1.5)
    figures.named_lines(ax, x, lines, names, looks, gap=gap)
    ax.tick_params(axis="y", pad=-30, labelsize=9, length=0)  # spans: the names are outside
    ax.tick_params(axis="x", labelsize=9)
