"""Figures of chapters 1 to 3.3."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, FancyBboxPatch, Polygon

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
