"""Figures of chapters that take more than a few lines to draw; what they show is computed in the chapters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, FancyBboxPatch, Polygon

from whichbird.core.check import Array
from whichbird.show import figures

LEFT, MIDDLE, RIGHT = 0.0, 0.5, 1.0  # columns of the map
SIDE = -0.27  # beside them
BOXES = {  # of the map: column, row, what stands in it
    "1": (MIDDLE, 0, "1  Two birds"),
    "2": (MIDDLE, 1, "2  How scorers are judged"),
    "3.1": (RIGHT, 2, "3.1  The balance β"),
    "D": (SIDE, 2, "D  The data"),
    "3.2": (RIGHT, 3, "3.2  Rankings follow β"),
    "3.3": (LEFT, 3, "3.3  Weighted SPA"),
    "3.4": (RIGHT, 4, "3.4  The problem"),
    "4.1": (LEFT, 4, "4.1  Scorers with a dial"),
    "3.5": (RIGHT, 5, "3.5  The algorithm  A, B"),
    "4.2": (LEFT, 5, "4.2  Three measures"),
    "certified": (RIGHT, 6, "Certified reweighting"),
    "4.3": (MIDDLE, 7, "4.3  Steering the balance  E, F"),
    "4.4": (LEFT, 8, "4.4  Is it really β?  G"),
    "C": (RIGHT, 8, "C  Stable rankings?"),
    "5": (MIDDLE, 9, "5  What was shown"),
    "real": (LEFT, 10, "Which differences are real"),
    "pool": (RIGHT, 10, "Why the pool matters"),
    "sure": (LEFT, 11, "How sure is β₀"),
    "calibrate": (RIGHT, 11, "Calibration"),
    "own": (MIDDLE, 12, "Your own scores, explorer"),
}
NEEDS = (  # of the map: what stands on what
    "1 2, 2 3.1, 2 D, 3.1 3.2, 3.1 3.3, D 3.3, 3.2 3.4, 3.3 4.1, 3.4 3.5, 4.1 4.2, 3.5 certified, 4.2 4.3, certified 4.3, "
    "4.3 4.4, 4.3 C, 4.4 5, C 5, 5 real, 5 pool, real sure, pool calibrate, sure own, calibrate own"
)
GRID = {  # of control dials: direction, then (length, what the dial is called in the table)
    "the dealt one": ("dealt", "quiet", "stretched"),
    "none, or random": ("noise", "random", None),
    "the pool's own": ("noisy", "shrunk", "fair"),
}
LENGTHS = "short, with noise", "short", "as long as the pool's own"


def bird(ax: Axes, at: tuple[float, float], colour: str, size: float = 0.1) -> None:
    """A small bird that looks right, in the coordinates of the axes."""
    x, y = at
    width, height = ax.get_window_extent().width, ax.get_window_extent().height
    s, t = size, size * width / height
    look: dict[str, Any] = {"color": colour, "transform": ax.transAxes, "clip_on": False, "lw": 0}
    ax.add_patch(
        Polygon([(x - 0.75 * s, y + 0.16 * t), (x - 0.72 * s, y - 0.12 * t), (x - 0.2 * s, y)], **look)
    )  # tail
    ax.add_patch(Ellipse((x, y), s, 0.55 * t, angle=12, **look))
    ax.add_patch(Ellipse((x + 0.42 * s, y + 0.3 * t), 0.4 * s, 0.4 * t, **look))
    ax.add_patch(
        Polygon([(x + 0.58 * s, y + 0.37 * t), (x + 0.58 * s, y + 0.22 * t), (x + 0.82 * s, y + 0.28 * t)], **look)
    )
    ax.add_patch(Ellipse((x + 0.46 * s, y + 0.34 * t), 0.07 * s, 0.07 * t, **look | {"color": figures.PAPER}))


def chapter_map() -> Figure:
    """The chapters as boxes, and arrows from each to what stands on it; every arrow points down."""
    from matplotlib import pyplot as plt

    colours = {LEFT: figures.GREEN, SIDE: figures.GREEN, RIGHT: figures.PURPLE, MIDDLE: figures.INK}
    half = {LEFT: 0.42, RIGHT: 0.42, MIDDLE: 0.5, SIDE: 0.17}
    fig, ax = plt.subplots(figsize=(5.6, 9.4))
    for pair in NEEDS.split(", "):
        (x0, y0, _), (x1, y1, _) = (BOXES[name] for name in pair.split())
        tail, head = (x0, x1) if x0 == x1 else (0.72, 0.28)  # straight down, or from strand to strand
        if MIDDLE in (x0, x1):
            tail = head = float(np.clip(x0 + x1 - MIDDLE, 0.1, 0.9))
        if SIDE in (x0, x1):
            tail, head = (x0, x0) if x0 == SIDE else (0.06, SIDE + half[SIDE] - 0.06)
        arrow = {"arrowstyle": "-|>", "color": figures.FAINT, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", (head, -y1 + 0.32), (tail, -y0 - 0.32), zorder=1, arrowprops=arrow)
    for x, y, text in BOXES.values():
        edge = colours[x] if y < 7 else figures.INK  # the strands end where they meet
        frame: dict[str, Any] = {"boxstyle": "round,pad=0.03", "lw": 1.6, "fc": figures.PAPER, "ec": edge, "zorder": 2}
        ax.add_patch(FancyBboxPatch((x - half[x], -y - 0.27), 2 * half[x], 0.54, **frame))
        ax.text(x, -y, text, ha="center", va="center", fontsize=10.5, zorder=3)
    ax.set(xlim=(-0.5, 1.46), ylim=(-12.5, 0.4))
    ax.axis("off")
    return fig


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


def search_tree(counts: Array, targets: tuple[float, ...]) -> Figure:
    """A funnel for each target: bars as wide as there are supports of a size, and what becomes of them. `counts` is (targets, 4, K + 1)."""
    names = (
        "searched",
        "skipped: cannot reach the target (3)",
        "skipped: too small (4)",
        "spared by the certificate (5)",
    )
    colours = figures.INK, figures.ROSE, figures.PURPLE, figures.PALE
    fig, axes = figures.grid(len(targets), columns=2, cell=(3.3, 3.6), sharey=True)
    sizes = np.arange(2, counts.shape[2])
    for ax, each, target in zip(axes, counts[:, :, 2:], targets, strict=True):
        start = -each.sum(axis=0) / 2.0
        for row, name, colour in zip(each, names, colours, strict=True):
            ax.barh(sizes, row, left=start, height=0.82, color=colour, label=name)
            start = start + row
        ax.set(title=f"target β = {target:g}", xticks=[])
        ax.margins(x=0.04)
        ax.grid(False)
    axes[0].set(ylabel="systems in the support", yticks=sizes)
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=2, fontsize=9)
    return fig
