"""Figures of chapters 3.4 and 3.5, and of appendices A to C."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from numpy.typing import ArrayLike

from whichbird.core.check import Array
from whichbird.show import figures
from whichbird_book.referee import constraint


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


def triangle(a: Array, f: Array, beta: float, minima: list[Array]) -> Figure:
    """The weightings of three systems as a triangle: both sides of the constraint, its curve, and two local minima, the better one first."""
    corners = np.array([[0, 0], [1, 0], [0.5, np.sqrt(3) / 2]])
    x, y = np.meshgrid(np.linspace(0, 1, 500), np.linspace(0, corners[2, 1], 450))
    third = y / corners[2, 1]
    second = x - third / 2
    weights = np.stack([1 - second - third, second, third], axis=-1)
    level = np.where((weights >= 0).all(axis=-1), constraint(weights, a, f, beta), np.nan)
    fig, ax = plt.subplots(figsize=(6, 5))
    ax.contourf(x, y, level, levels=[-99, 0, 99], colors=[figures.FLUENCY, figures.ADEQUACY], alpha=0.18)
    ax.contour(x, y, level, levels=[0], colors=figures.INK, linewidths=2.2)
    centre = corners.mean(axis=0)
    for w in minima:
        radius = float(np.sqrt((w @ w - 1 / 3) / 2))
        ax.add_patch(Circle((centre[0], centre[1]), radius, fill=False, color=figures.FAINT, ls=":"))
    ax.plot(*corners[[0, 1, 2, 0]].T, color=figures.FAINT, lw=1)
    ax.plot(*centre, "+", color=figures.INK, ms=11, mew=1.5)
    ax.plot(*(minima[0] @ corners), "*", color=figures.INK, ms=16)
    ax.plot(*(minima[1] @ corners), "o", mfc=figures.PAPER, mec=figures.INK, ms=8, mew=1.6)
    for k, (spot, lift) in enumerate(zip(corners, (-13, -13, 6), strict=True)):
        text = f"all on ({a[k]:g}, {f[k]:g})"
        ax.annotate(text, spot, (0, lift), textcoords="offset points", ha="center", fontsize=9.5)
    ax.annotate("β too low", (0.5, 0.62), ha="center", color=figures.FLUENCY, fontsize=10)
    ax.annotate("β too high", (0.5, 0.06), ha="center", color=figures.ADEQUACY, fontsize=10)
    ax.annotate("uniform", centre, (8, 3), textcoords="offset points", fontsize=9.5)
    ax.set(aspect="equal", xlim=(-0.1, 1.1), ylim=(-0.08, 0.95))
    ax.axis("off")
    return fig


def secular(value: Callable[[Array], Array], poles: Array, roots: Array) -> Figure:
    """A secular function on stretched axes, with its two poles, the band between them, and its roots."""

    def stretch(v: ArrayLike, unit: float) -> Array:
        return np.arcsinh(np.asarray(v, dtype=float) / unit)

    fig, ax = plt.subplots(figsize=(6.4, 4))
    unit_x, unit_y = 0.1, 0.02
    left, right = stretch(poles, unit_x)
    ax.axvspan(left, right, color=figures.GRID, alpha=0.7, lw=0)
    ax.axhline(0, color=figures.FAINT, lw=1)
    ends = [-3, *poles, 60]
    for low, high in pairwise(ends):
        z = np.linspace(stretch(low, unit_x), stretch(high, unit_x), 1202)[1:-1]
        ax.plot(z, stretch(value(unit_x * np.sinh(z)), unit_y), color=figures.INK)
    for at, colour in zip((left, right), (figures.GREEN, figures.PURPLE), strict=True):
        ax.axvline(at, color=colour, ls="--", lw=1.4)
    ax.plot(stretch(roots, unit_x), np.zeros(len(roots)), "o", color=figures.INK, ms=7)
    across, up = [-2, -0.5, -0.1, 0, 0.1, 0.5, 2, 10, 50], [-10, -1, -0.1, 0, 0.1, 1, 10]
    ax.set_xticks(stretch(across, unit_x), [f"{v:g}" for v in across])
    ax.set_yticks(stretch(up, unit_y), [f"{v:g}" for v in up])
    ax.set(xlabel="multiplier η", xlim=stretch([-3, 60], unit_x))
    ax.set(ylabel="s(η)", ylim=stretch([-30, 30], unit_y))
    return fig


def one_peak(grid: Array, best: Array, natural: float, trails: list[tuple[bool, Array, Array]]) -> Figure:
    """The best ESS over β, and straight walks from optima to uniform weights: whether each starts above β₀, the balances on it, their ESS."""
    fig, ax = plt.subplots()
    for above, reached, kept in trails:
        ax.plot(reached, kept, lw=1, color=figures.ADEQUACY if above else figures.FLUENCY)
    ax.plot(grid, best, color=figures.INK, lw=2.4)
    ax.axvline(natural, color=figures.FAINT, lw=0.9, ls=":")
    ax.annotate("β₀", (natural, 2.1), (5, 0), textcoords="offset points")
    ax.set(xlabel="balance β", ylabel="effective sample size", ylim=(1.9, 6.2))
    return fig


def work(on: pd.DataFrame, supports: int, natural: float) -> Figure:
    """What happens to the supports of a pool, as shares of all, target by target, and what ended the search. `on` has a row a target, evenly spaced."""
    fig, (top, ax) = plt.subplots(2, 1, figsize=(6.4, 3.8), sharex=True, height_ratios=(1, 15))
    low, high = on["beta"].min(), on["beta"].max()
    step = (high - low) / (len(on) - 1)
    for column, colour in (("certified", "#d5d8d6"), ("size_stops", figures.FAINT), ("ends", figures.INK)):
        for beta in on.loc[on[column] == 1, "beta"]:
            top.axvspan(beta - step / 2, beta + step / 2, color=colour, lw=0)
    top.set(yticks=[])
    top.grid(False)
    top.tick_params(bottom=False)
    visited, skipped = (on[column] / supports for column in ("supports", "skipped"))
    ax.bar(on["beta"], 1, step, color="#e7e8e3")
    ax.bar(on["beta"], visited, step, color="#59626b")
    ax.bar(on["beta"], skipped, step, bottom=visited, color=figures.ROSE)
    ax.axvline(natural, color=figures.INK, ls=":", lw=1.2)
    ax.set(xlabel="target balance (dotted: β₀)", xlim=(low - step / 2, high + step / 2))
    ax.set(ylabel="share of all supports", ylim=(0, 1))
    ax.grid(False)
    return fig


def ablation(total: pd.DataFrame) -> Figure:
    """Supports visited in each of the eight settings of the theorems, a panel a range. `total` is indexed by range, admissible, size, certificate."""
    settings = sorted(product((1, 0), repeat=3), key=lambda s: (-s[1], -s[2], -s[0]))
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.6), sharey=True)
    for ax, name in zip(axes, ("full", "narrow"), strict=True):
        value = [total["supports"].to_dict()[name, *s] / 1e6 for s in settings]
        ax.barh(range(8), value, color=[figures.INK if s[1] else figures.FAINT for s in settings])
        ax.set(title=name, xlabel="million supports")
        ax.grid(axis="y", visible=False)
    names = "admissible", "size", "cert."
    labels = [" + ".join(n for n, on in zip(names, s, strict=True) if on) or "none" for s in settings]
    axes[0].set_yticks(range(8), labels, fontsize=9.5)
    axes[0].invert_yaxis()
    return fig


def lattices(targets: Array, optimum: Array, best: Mapping[int, Array], systems: int) -> Figure:
    """The ESS of the optimum at each target, and of the best lattice point. `best` maps a resolution to one value a target."""
    fig, ax = plt.subplots(figsize=(6.4, 3.4))
    ax.plot(targets, optimum, color=figures.INK)
    for (n, found), shape, colour in zip(best.items(), "so", (figures.GREEN, figures.PURPLE), strict=True):
        ax.plot(targets, found, shape, ms=4.5, color=colour, label=f"lattice, N = {n}")
    ax.annotate("optimum", (0.45, 12.6), (-6, 4), textcoords="offset points", ha="right")
    ax.set(xlabel="target balance", ylabel="effective sample size", ylim=(0, systems + 0.9), xlim=(-0.01, 1.01))
    ax.legend(loc="upper left")
    return fig


def wrong_valleys(targets: Array, lost: Mapping[str, Array], starts: Mapping[str, int]) -> Figure:
    """The per cent of ESS that local methods lose at each target; where `lost` is not below 99, nothing was found."""
    fig, ax = plt.subplots(figsize=(6.4, 3.2))
    looks = ("o", figures.PURPLE, "none"), ("D", figures.GREEN, figures.GREEN)
    for (method, loss), (shape, colour, fill) in zip(lost.items(), looks, strict=True):
        shown = np.where(loss < 99, loss, 35)
        ax.plot(targets, shown, shape, ms=5, color=colour, mfc=fill, label=f"{method}, {starts[method]} starts")
    ax.axhline(35, color=figures.FAINT, ls="--", lw=1)
    ax.set(xlabel="target balance", ylabel="ESS lost, %", xlim=(-0.02, 1.02), ylim=(-2, 37))
    ax.legend(loc="center", bbox_to_anchor=(0.6, 0.62))
    return fig


def ranks_without_one(ranks: Array, names: Sequence[str]) -> Figure:
    """Ranks of scorers on the whole pool and with each system left out. `ranks` is (1 + K, scorers); lines that move most are strong."""
    fig, ax = plt.subplots(figsize=(6.4, 4.4))
    moved = np.ptp(ranks, axis=0)
    for line, name, far in zip(ranks.T, names, moved, strict=True):
        ax.plot(line, color=figures.INK if far >= np.median(moved) else "#b9bec4", lw=1.6, marker="o", ms=3)
        at: dict[str, Any] = {"xytext": (-6, 0), "textcoords": "offset points", "ha": "right", "va": "center"}
        ax.annotate(name, (0, line[0]), fontsize=9.5, **at)
    ax.set(xlabel="all systems, then one left out at a time", ylabel="rank")
    ax.set(xlim=(-5.6, len(ranks) - 0.7), ylim=(ranks.max() + 0.7, 0.3))
    ax.set_xticks(range(len(ranks)), ["all", *map(str, range(1, len(ranks)))])
    ax.grid(axis="x", visible=False)
    return fig


def stability(ax: Axes, table: pd.DataFrame, systems: int, free: float, natural: float) -> LineCollection:
    """Pooled τ over β, stronger where more systems are effectively in use; the line is returned for a colour bar."""
    even = LinearSegmentedColormap.from_list("even", [figures.PALE, figures.INK])
    points = table[["beta", "tau"]].to_numpy()
    shade = table["ess"].to_numpy() / (systems - 1)
    pieces = [*np.stack([points[:-1], points[1:]], axis=1)]
    line = LineCollection(pieces, cmap=even, norm=Normalize(0, 1), lw=2.4, zorder=2)
    line.set_array((shade[:-1] + shade[1:]) / 2)
    ax.add_collection(line)
    ax.scatter(points[:, 0], points[:, 1], color=even(shade), s=16, zorder=3)
    ax.axhline(free, color=figures.ROSE, ls="--", lw=1.5)
    ax.axvline(natural, color=figures.FAINT, ls=":", lw=1.3)
    for side in (table.index < 10, table.index >= 10):  # one figure for the points at each end
        for reach, some in table[(table["subsets"] < systems) & side].groupby("subsets"):
            at = (some["beta"].mean(), 0.03)
            ax.annotate(f"{reach}", at, xycoords=("data", "axes fraction"), ha="center", fontsize=9.5)
    ax.set_ylim(0.2, 1.03)
    return line


def fixed_balance(change: pd.Series, shuffled: pd.Series) -> Figure:
    """The change of τ when β is fixed (dots), and that of the same weights on other systems (rings), a row a dataset."""
    fig, ax = plt.subplots(figsize=(6.4, 4.0))
    rows = np.arange(len(change))
    ring: dict[str, Any] = {"facecolors": "none", "edgecolors": figures.FAINT, "linewidths": 1.6}
    ax.axvline(0, color=figures.FAINT, lw=1)
    ax.scatter(shuffled, rows, s=60, label="same weights, shuffled", **ring)
    ax.scatter(change, rows, s=46, color=figures.INK, label="β fixed at β₀", zorder=3)
    ax.set_yticks(rows, change.index)
    ax.invert_yaxis()
    ax.set(xlabel="change of pooled τ against no reweighting")
    ax.legend(loc="lower left", fontsize=9.5)
    return fig
