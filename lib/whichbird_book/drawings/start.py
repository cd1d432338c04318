"""Figures of chapters 1 to 3.3, and of the calibration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Ellipse, FancyBboxPatch, Polygon, Rectangle

from whichbird.core.check import Array
from whichbird.data.digest import Digest
from whichbird.data.registry import display
from whichbird.show import figures
from whichbird.study.contest import need_aspects
from whichbird_book import robust

if TYPE_CHECKING:
    from whichbird.study.calibrate import Calibration

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
    "other": (LEFT, 12, "Other fields, after MQM"),
    "own": (RIGHT, 12, "Your own scores, explorer"),
}
NEEDS = (  # of the map: what stands on what
    "1 2, 2 3.1, 2 D, 3.1 3.2, 3.1 3.3, D 3.3, 3.2 3.4, 3.3 4.1, 3.4 3.5, 4.1 4.2, 3.5 certified, 4.2 4.3, certified 4.3, "
    "4.3 4.4, 4.3 C, 4.4 5, C 5, 5 real, 5 pool, real sure, pool calibrate, sure other, calibrate own"
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


def toy_pools(pools: Mapping[str, tuple[Array, Array]], shares: pd.DataFrame) -> Figure:
    """Two toy pools in the plane, each under the bar of its β, with the share of pairs that each bird gets right; `shares` has a column a pool."""
    fig, axes = figures.grid(2, columns=2, cell=(2.9, 3.4), sharex=True, sharey=True)
    birds = (("blue bird", figures.ADEQUACY, -0.36), ("orange bird", figures.FLUENCY, -0.5))
    for ax, (name, (a, f)) in zip(axes, pools.items(), strict=True):
        beta = float(shares[name]["β"])
        figures.plane(ax, a, f)
        figures.lean_bar(ax, beta)
        ax.set_xlabel("adequacy, better →", color=figures.ADEQUACY)
        ax.set_title(f"{name}, β = {beta:.2f}", pad=9)
        for kind, colour, y in birds:
            bird(ax, (0.12, y), colour, 0.11)
            told = f"{kind} {100 * float(shares[name][kind]):.0f}\u00a0%"
            ax.text(0.28, y, told, color=colour, transform=ax.transAxes, fontsize=11, va="center")
    fig.supylabel("fluency, better →", fontsize=11, color=figures.FLUENCY)
    return fig


def pools_with_contours(upright: Digest, flat: Digest, betas: tuple[float, float]) -> Figure:
    """Two real pools, one above the other, with contours of the robust Mahalanobis distance and one of the ordinary covariance."""
    from matplotlib import pyplot as plt

    fig, axes = plt.subplots(2, 1, figsize=(6.2, 7.2), height_ratios=(1.55, 1))
    if isinstance(engine := fig.get_layout_engine(), ConstrainedLayoutEngine):
        engine.set(hspace=0.09)  # the lower title is clear of the ticks above
    for ax, d, beta, shape in zip(axes, (upright, flat), betas, (0.62, 0.4), strict=True):
        a, f = need_aspects(d)
        half = 0.62 * max(np.ptp(a), np.ptp(f) / shape)  # half the width of the panel
        across, up = (np.linspace(-h, h, 400) + (v.min() + v.max()) / 2 for v, h in ((a, half), (f, shape * half)))
        x, y = np.meshgrid(across, up)
        near, far = robust.scatter(a, f), ordinary(a, f)
        thin: dict[str, Any] = {"colors": figures.GREEN, "linewidths": 0.7, "alpha": 0.45}
        ax.contour(x, y, robust.distance(near, x, y), levels=range(1, 8), **thin)
        ax.contour(x, y, robust.distance(far, x, y), levels=[1], colors=figures.INK, linestyles="--")
        ax.scatter(a, f, s=58, color=figures.INK, edgecolors=figures.PAPER, zorder=3, lw=0.8)
        figures.lean_bar(ax, beta)
        ax.set_title(f"{d.name}, β₀ = {beta:.3f}", pad=9)
        ax.set(aspect="equal", xlim=across[[0, -1]], ylim=up[[0, -1]], ylabel="fluency, better →")
        ax.yaxis.label.set_color(figures.FLUENCY)
    axes[-1].set_xlabel("adequacy, better →", color=figures.ADEQUACY)
    return fig


def ordinary(adequacy: Array, fluency: Array) -> robust.Scatter:
    """Mean and population covariance of a cloud (K,), to measure distances by as with the robust ones."""
    centre = np.array([adequacy.mean(), fluency.mean()])
    return robust.Scatter(centre, np.cov(adequacy, fluency, ddof=0))


def contest(d: Digest, people: Array, scorers: tuple[str, str]) -> Figure:
    """A panel for each of two scorers: its score of every system against people's (K,)."""
    fig, axes = figures.grid(2, columns=2, cell=(2.8, 2.6))
    for ax, name in zip(axes, scorers, strict=True):
        ax.scatter(people, d.means[d.scorers.index(name)], s=34, color=figures.INK, alpha=0.8, lw=0)
        ax.set(title=name, ylabel="scorer, better →")
        ax.locator_params(nbins=5)
    fig.supxlabel("people, better →", fontsize=11)
    return fig


def two_systems(d: Digest, fluent: int, adequate: int) -> Figure:
    """The systems of a dataset in the plane, two of them named, and the line of totals equal to the adequate one's."""
    from matplotlib import pyplot as plt

    fig, ax = plt.subplots(figsize=(5.4, 4.2))
    a, f = (x - x.mean() for x in need_aspects(d))
    figures.plane(ax, a, f, equal=False)
    for k, colour, offset in ((fluent, figures.FLUENCY, (6, 9)), (adequate, figures.ADEQUACY, (14, -42))):
        ax.scatter(a[k], f[k], s=70, color=colour, zorder=3)
        look: dict[str, Any] = {"textcoords": "offset points", "color": colour, "ha": "center", "weight": "bold"}
        ax.annotate(d.systems[k], (a[k], f[k]), xytext=offset, **look)
    line = np.array([-0.9, 0.75])
    ax.plot(line, a[adequate] + f[adequate] - line, color=figures.FAINT, lw=1.2, zorder=0)
    ax.set(xlabel="adequacy, better →", ylabel="fluency, better →", ylim=(-0.8, 0.75))
    return fig


def outlier(people: Array, scorer: Array, out: int, name: str, shown: pd.DataFrame) -> Figure:
    """Top: a scorer against people (K,), with fits with and without system `out`. Bottom: the correlations of `shown`, "with" and "without" it."""
    from matplotlib import pyplot as plt

    fig, (top, bottom) = plt.subplots(2, 1, figsize=(5.6, 7.0), height_ratios=[1, 1.25])
    keep = np.arange(people.size) != out
    top.scatter(people[keep], scorer[keep], s=34, color=figures.INK, lw=0)
    top.scatter(people[out], scorer[out], s=60, color=figures.ROSE, lw=0)
    at = (people[out], scorer[out])
    top.annotate(name, at, xytext=(10, 2), textcoords="offset points", color=figures.ROSE)
    for subset, style in ((keep, "-"), (np.ones_like(keep), "--")):
        slope, height = np.polyfit(people[subset], scorer[subset], 1)
        ends = np.array([people[subset].min(), people.max()])
        top.plot(ends, height + slope * ends, style, color=figures.FAINT, lw=1.5)
    top.set(xlabel="people, better →", ylabel="chrF, better →")

    rows = np.arange(len(shown))
    bottom.hlines(rows, shown["without"], shown["with"], color=figures.FAINT, lw=2)
    bottom.scatter(shown["without"], rows, color=figures.INK, s=36, zorder=3, label=f"without {name}")
    ring: dict[str, Any] = {"facecolors": figures.PAPER, "edgecolors": figures.ROSE, "s": 44, "lw": 1.8, "zorder": 3}
    bottom.scatter(shown["with"], rows, label=f"with {name}", **ring)
    bottom.set_yticks(rows, shown.index.map(display))
    bottom.set(xlabel="Pearson correlation with people", xlim=(0.25, 1.02))
    bottom.legend(loc="upper left", fontsize=10)
    return fig


def permutation_gaps(gaps: pd.DataFrame, systems: tuple[str, str]) -> Figure:
    """A histogram of permuted gaps for people's total, adequacy and fluency; the first row of `gaps` is the observed one, coloured from there on."""
    from matplotlib import pyplot as plt

    fig, axes = plt.subplots(3, 1, figsize=(5.4, 6.2), sharex=True, sharey=True)
    colours = {"total": figures.INK, "adequacy": figures.ADEQUACY, "fluency": figures.FLUENCY}
    for ax, (name, colour) in zip(axes, colours.items(), strict=True):
        at, gap = gaps[name].iloc[0], gaps[name].iloc[1:]
        bins = at + 0.02 * np.arange(-60, 61)  # with an edge on the observed gap
        ax.hist(gap, bins, color="#d5d8d6")
        ax.hist(gap[gap >= at], bins, color=colour, alpha=0.75)
        ax.axvline(at, color=colour, lw=2.6)
        ax.set_title(f"{name}:  p = {(gap >= at).mean():.3f}", color=colour)
        ax.grid(axis="x", visible=False)
        ax.set(yticks=[], xlim=(-0.6, 0.6))
    label = f"← {systems[1]} better      gap, points      {systems[0]} better →"
    axes[-1].set_xlabel(label, fontsize=10)
    return fig


def p_against_p(d: Digest, scorers: tuple[int, int], spa: Array) -> Figure:
    """Two scorers' p-values against people's, a dot a pair of systems; the halves where they disagree are shaded."""
    fig, axes = figures.grid(2, columns=2, cell=(2.8, 3.2), sharex=True, sharey=True)
    for ax, s in zip(axes, scorers, strict=True):
        for corner in ((0, 0.5), (0.5, 0)):
            ax.add_patch(Rectangle(corner, 0.5, 0.5, color="#ecece8", lw=0, zorder=0))
        ax.plot([0, 1], [0, 1], color=figures.FAINT, lw=1.2)
        ax.scatter(d.human_p, d.scorer_p[s], s=30, color=figures.INK, alpha=0.55, lw=0, clip_on=False)
        ax.set(aspect="equal", xlim=(0, 1), ylim=(0, 1), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
        ax.set_title(f"{display(d.scorers[s])}\nSPA {spa[s]:.3f}", fontsize=10.5)
        ax.grid(False)
    axes[0].set_ylabel("scorer's p-value")
    fig.supxlabel("people's p-value", fontsize=11)
    return fig


def blind_scorers(samples: Mapping[str, Array], exact: Mapping[str, float], spa: Array) -> Figure:
    """A histogram of SPA for each kind of blind scorer, its exact expectation as a line, and real scorers' SPA below."""
    from matplotlib import pyplot as plt

    fig, axes = plt.subplots(3, 1, figsize=(5.4, 5.0), sharex=True, height_ratios=[1, 1, 0.5])
    for ax, (name, sample), colour in zip(axes, samples.items(), ("#b9bebc", "#9ab7a8"), strict=False):
        ax.hist(sample, np.arange(0.2, 0.96, 0.02), color=colour)
        ax.axvline(exact[name], color=figures.INK, lw=2.6)
        ax.set_title(name)
    axes[2].scatter(spa, np.zeros_like(spa), marker="|", s=500, color=figures.INK, lw=1.6)
    axes[2].set(xlabel="SPA", title="real scorers", xlim=(0.2, 0.96))
    for ax in axes:
        ax.set_yticks([])
        ax.grid(False)
    return fig


def two_readers(found: Mapping[str, Calibration]) -> Figure:
    """The match over the reliable interval for two readers, by what they are called, and their calibrated β as dots."""
    from matplotlib import pyplot as plt

    fig, ax = plt.subplots(figsize=(6.2, 3.6))
    one = next(iter(found.values()))
    ax.axvspan(*one.reliable, color="#e9ebe4", lw=0)
    ax.axvline(one.natural, color=figures.FAINT, ls=":", lw=1.4)
    ax.axhline(0, color=figures.FAINT, lw=0.8)
    styles = ((figures.ADEQUACY, "-"), (figures.FLUENCY, "--"))
    for (reader, c), (colour, style) in zip(found.items(), styles, strict=True):
        t = c.table[c.table["reliable"]]
        ax.plot(t["beta"], t["correlation"], style, color=colour, lw=2.4, label=reader)
        ax.plot(c.beta, c.match, "o", color=colour, ms=9)
    ax.set(xlabel="β", ylabel="correlation")
    ax.legend(loc="center left", fontsize=10)
    return fig
