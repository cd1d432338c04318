"""Figures of chapters 3.1 to 4.2, but for the search tree of 3.5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, PowerNorm
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from matplotlib.patheffects import withStroke

from whichbird.core.augment import DIALS, PAPER_FAMILIES
from whichbird.core.balance import balance, mean
from whichbird.core.check import Array
from whichbird.show import figures

GREY, SHARED, CALM = (
    "#a9afac",
    "#c3c7c5",
    "#c9cdd1",
)  # pairs without conflict; what both aspects share; curves behind dots
ENDED = {"exit certificate": "#d5d8d6", "support size": figures.FAINT, "end of the range": figures.INK}
CORNERS = np.array([[0, 0], [1, 0], [0.5, np.sqrt(3) / 2]])  # of the triangle of all weightings of three systems


# 3.1


def cross(adequacy: Array, fluency: Array, weightings: Mapping[str, Array]) -> Figure:
    """A panel for each weighting of the same systems: dots as large as their weights, and β as a bar on top."""
    fig, axes = figures.grid(len(weightings), columns=3, cell=(2.1, 2.5))
    for ax, (title, w) in zip(axes, weightings.items(), strict=True):
        figures.plane(ax, adequacy, fluency, 3 * w)
        ax.scatter(adequacy, fluency, s=28, facecolors="none", edgecolors=figures.FAINT, lw=0.9)
        b = balance(adequacy, fluency, w)
        figures.lean_bar(ax, b)
        ax.set_title(f"{title}\nβ = {b:.2f}", fontsize=10, pad=9)
        ax.set_xticks([-2, 0, 2])
        ax.set_yticks([-2, 0, 2])
    fig.supxlabel("adequacy, better →", fontsize=10, color=figures.ADEQUACY)
    fig.supylabel("fluency, better →", fontsize=10, color=figures.FLUENCY)
    return fig


def variance_parts(shares: pd.DataFrame) -> Figure:
    """A bar for each dataset (rows), divided into the parts of a variance (columns: adequacy, fluency, the covariance)."""
    fig, ax = plt.subplots(figsize=(6.4, 4.0))
    left = np.zeros(len(shares))
    for part, colour in zip(shares, [figures.ADEQUACY, figures.FLUENCY, SHARED], strict=True):
        ax.barh(shares.index, shares[part], left=left, color=colour, height=0.72, label=part)
        left += shares[part].to_numpy()
    ax.set(xlim=(0, 1), xlabel="share of the variance of the total")
    ax.grid(False)
    ax.legend(ncols=3, loc="lower left", bbox_to_anchor=(-0.02, 1.0), fontsize=10, handlelength=1.0, columnspacing=1.2)
    return fig


def resampled(sure: pd.DataFrame) -> Figure:
    """β₀ of each dataset (rows) as a dot, its range from `5 %` to `95 %` as a line, and β₀ with the `noise taken out` as a ring."""
    fig, ax = plt.subplots(figsize=(6.4, 4.0))
    height = np.arange(len(sure))
    ax.axvline(0.5, color=figures.FAINT, ls="--", lw=1)
    ax.hlines(height, sure["5 %"], sure["95 %"], color=figures.BALANCE(sure["β₀"]), lw=5, alpha=0.75)
    ax.scatter(sure["noise taken out"], height, s=75, facecolors="none", edgecolors=figures.INK, lw=1.2)
    ax.scatter(sure["β₀"], height, s=26, color=figures.INK, zorder=3)
    ax.set_yticks(height, sure.index)
    ax.set(xlim=(0, 1.01), xlabel="natural balance β₀")
    ax.grid(axis="y", visible=False)
    return fig


def leverages(pulls: pd.DataFrame) -> Figure:
    """Every system by its own balance, seen from β₀ (`apart`), and its leverage `h`, over curves of equal shift; the largest `shift` of a dataset is named."""
    fig, ax = plt.subplots(figsize=(6.4, 4.6))
    for side, end, at in ((-1, 0.97, 0.92), (1, 0.79, 0.35)):
        reach = np.linspace(0.002, end, 400)
        for shift in (0.01, 0.05, 0.1):
            ax.plot(side * reach, shift / (shift + reach), color=figures.FAINT, lw=0.9, zorder=1)
            words = f"{-side * shift:+.2f}".replace("-", "−")
            ax.text(side * at, shift / (shift + at) + 0.012, words, fontsize=9, color=figures.FAINT, ha="center")
    ax.axvline(0, color=figures.FAINT, ls="--", lw=1)
    tint = figures.BALANCE(pulls["own"])
    ax.scatter(pulls["apart"], pulls["h"], s=24, color=tint, edgecolors=figures.INK, lw=0.4, zorder=3)
    far = pulls.loc[pulls["shift"].abs().groupby(pulls["dataset"]).idxmax()]
    for _, row in far[far["shift"].abs() > 0.03].sort_values("shift").iterrows():
        right = row["apart"] > 0 and row["system"] != "OpenNMT"  # whose right-hand side is taken
        ax.annotate(
            f"{row['system']}\n{row['dataset']}",
            (row["apart"], row["h"]),
            xytext=(6 if right else -6, 0),
            linespacing=0.95,
            textcoords="offset points",
            fontsize=8.5,
            ha="left" if right else "right",
            va="center",
            zorder=4,
        )
    ax.set(xlim=(-1, 0.82), ylim=(0, 0.95), xlabel="own balance − β₀", ylabel="leverage $h$")
    return fig


# 3.2


def gap_clouds(clouds: Mapping[str, tuple[Array, Array]], natural: Mapping[str, float] | pd.Series) -> Figure:
    """A panel for each dataset: its pairs by their gaps in adequacy and fluency, coloured by the aspect that decides, and β₀ as a bar on top."""
    fig, axes = figures.grid(len(clouds), columns=3, cell=(2.13, 2.75))
    for ax, (name, (da, df)) in zip(axes, clouds.items(), strict=True):
        reach = 1.06 * max(da.max(), df.max())
        ax.plot([-reach, reach], [reach, -reach], color=figures.FAINT, lw=1)
        ax.axhline(0, color=figures.FAINT, lw=0.7)
        ax.axvline(0, color=figures.FAINT, lw=0.7)
        colour = np.where(df < 0, figures.ADEQUACY, np.where(da < 0, figures.FLUENCY, GREY))
        ax.scatter(da, df, s=15, c=colour, lw=0)
        ax.set(xlim=(-0.55 * reach, reach), ylim=(-0.55 * reach, reach), aspect="equal")
        ax.locator_params(nbins=4)
        ax.tick_params(labelsize=9.5)
        figures.lean_bar(ax, natural[name])
        told = f"{(df < 0).sum()} blue, {(da < 0).sum()} orange"
        ax.set_title(f"{name}, β₀ = {natural[name]:.3f}\n{told}", fontsize=9.5, pad=9)
    fig.supxlabel("gap in adequacy", fontsize=10, color=figures.ADEQUACY)
    fig.supylabel("gap in fluency", fontsize=10, color=figures.FLUENCY)
    return fig


def agreements(agree: pd.DataFrame, labels: Sequence[str]) -> Figure:
    """Two dots for each dataset (rows): how far people's p-values agree with those of `adequacy alone` and of `fluency alone`."""
    fig, ax = plt.subplots(figsize=(6.4, 1 + 0.3 * len(agree)))
    height = np.arange(len(agree))
    ax.hlines(height, agree.min(axis=1), agree.max(axis=1), color=SHARED, lw=3)
    ax.scatter(agree["adequacy alone"], height, s=55, color=figures.ADEQUACY, zorder=3)
    ax.scatter(agree["fluency alone"], height, s=55, color=figures.FLUENCY, zorder=3)
    ax.set_yticks(height, labels)
    ax.set(xlabel="agreement with the official human p-values", xlim=(0.67, 1))
    ax.text(-0.02, 1.02, "β₀", transform=ax.transAxes, ha="right", fontsize=11)
    ax.set_title("adequacy alone", color=figures.ADEQUACY, loc="right")
    ax.set_title("fluency alone", color=figures.FLUENCY, loc="left")
    ax.grid(axis="y", visible=False)
    return fig


def lead_over_odds(natural: pd.Series, lead: pd.Series) -> Figure:
    """The lead of adequacy over β₀, with equal steps across for equal steps in the odds of β₀; a named dot for each dataset."""
    fig, ax = plt.subplots(figsize=(6.4, 3.9))
    across = np.log(natural / (1 - natural))
    ax.axhline(0, color=figures.FAINT, lw=1)
    ax.scatter(across, lead, s=50, c=figures.BALANCE(natural), edgecolors=figures.INK, lw=0.6, zorder=3)
    for n in natural.index:
        left = n in {"zhen23", "ende22", "ende23", "enru22"}
        place: dict[str, Any] = {"xytext": (-7 if left else 7, -3), "ha": "right" if left else "left"}
        ax.annotate(n, (across[n], lead[n]), textcoords="offset points", fontsize=9.5, **place)
    ticks = np.array([0.2, 0.5, 0.8, 0.95, 0.99])
    ax.set_xticks(np.log(ticks / (1 - ticks)), [f"{t:g}" for t in ticks])
    ax.set(xlim=(-1.7, 6.4), xlabel="natural balance β₀", ylabel="lead of adequacy")
    return fig


def dealt_leads(leads: Array, real: float, pairs: int) -> Figure:
    """How often dealt pools have which lead of adequacy, a share of so many pairs, and a line at that of the real pool."""
    fig, ax = plt.subplots(figsize=(6.4, 2.9))
    step = 1 / pairs
    bins = np.arange(leads.min() - step / 2, leads.max() + 3 * step, 3 * step)  # three possible values a bin
    ax.hist(leads, bins=list(bins), color=figures.ADEQUACY, alpha=0.75)
    ax.axvline(real, color=figures.INK, lw=2)
    ax.text(real - 0.006, ax.get_ylim()[1] * 0.93, "real pool", ha="right", va="top", fontsize=10)
    ax.set(xlabel="lead of adequacy, share of pairs", ylabel="pools")
    return fig


# 3.3


def triangles(panels: Mapping[str, Array], systems: Sequence[str], order: Array, top: float) -> Figure:
    """Losses on all pairs above, two sets of pair weights below, as triangles whose systems stand in `order`; `panels` has them by title, `top` is the weight in full ink."""
    count = len(systems)
    place = np.argsort(order)
    i, j = (place[k] for k in np.triu_indices(count, 1))
    titles = list(panels)
    mosaic: list[Any] = [titles[:1] * 2, titles[1:]]
    fig: Figure
    fig, places = plt.subplot_mosaic(mosaic, figsize=(7.2, 8.4), height_ratios=(1.15, 1))
    for title, ax in places.items():
        losses, last = title == titles[0], title == titles[-1]
        square = np.full((count, count), np.nan)
        square[np.maximum(i, j), np.minimum(i, j)] = panels[title] * (1 if losses else 100)
        colours = figures.ROSES if losses else figures.INKS
        shown = ax.imshow(square, cmap=colours, vmin=0, vmax=1 if losses else 100 * top, interpolation="none")
        ax.set_xticks([])
        ax.set_yticks(range(count), ["" if last else systems[k] for k in order], fontsize=8.5)
        ax.tick_params(length=0)
        ax.set_title(title, fontsize=10)
        ax.grid(False)
        ax.spines[:].set_visible(False)
        bar = fig.colorbar(shown, ax=ax, location="right", shrink=0.62, pad=0.02)
        bar.set_label("distance of p-values" if losses else "% of all weight", fontsize=8.5)
        bar.ax.tick_params(labelsize=8)
        bar.outline.set_visible(False)
    return fig


def rank_columns(
    ranks: pd.DataFrame, heads: Sequence[str], named: Mapping[str, str], colours: Mapping[str, str], band: pd.DataFrame
) -> Figure:
    """Ranks of scorers in three columns, joined by lines; those in `named` have their name beside them. `band` is (columns, lowest and highest), of the scorer it is named after."""
    fig, ax = plt.subplots(figsize=(5.8, 7.4))
    columns = np.arange(3)
    whose = str(band.columns.name)
    rows = dict(zip(ranks.index, ranks.to_numpy().tolist(), strict=True))
    ax.fill_between(columns, band["lowest"], band["highest"], color=colours[whose], alpha=0.09, lw=0, zorder=0)
    for s in ranks.index:
        if s not in named:
            ax.plot(columns, rows[s], color=figures.PALE, lw=1.0, zorder=1)
    for s, label in named.items():
        ax.plot(columns, rows[s], "o-", color=colours[s], lw=2, ms=5, zorder=2)
        one, _, three = rows[s]
        ax.text(-0.08, one, f"{label}  {one}", ha="right", va="center", fontsize=10, color=colours[s])
        ax.text(2.08, three, f"{three}  {label}", ha="left", va="center", fontsize=10, color=colours[s])
    ax.set_xticks(columns, heads)
    ax.tick_params(length=0)
    ax.xaxis.tick_top()
    ax.set(xlim=(-1.35, 3.35), ylim=(len(ranks) + 0.7, 0.3), yticks=[])
    ax.grid(False)
    ax.spines[["left", "bottom"]].set_visible(False)
    return fig


def gain_over_lean(
    lean: Array, won: pd.Series, colours: Mapping[str, str], named: Sequence[str], ylabel: str
) -> Figure:
    """A dot for each scorer: how far it leans to adequacy, and what it wins as β rises."""
    beside = {"sentinel-cand-mqm": (-6, -15), "CometKiwi": (-70, 4), "monmonli": (-66, 0)}
    fig, ax = plt.subplots(figsize=(5.4, 4.2))
    ax.axhline(0, color=figures.FAINT, lw=0.8)
    ax.axvline(0, color=figures.FAINT, lw=0.8)
    ax.scatter(lean, won, s=36, color=[colours[s] for s in won.index], lw=0)
    for s, x, y in zip(won.index, lean, won, strict=True):
        if s in named:
            ax.annotate(s, (x, y), xytext=beside.get(s, (7, -4)), textcoords="offset points", fontsize=9.5)
    ax.set(xlabel="SPA against adequacy − SPA against fluency", ylabel=ylabel)
    return fig


def leans_with_placebos(leans: pd.DataFrame, sham: Array) -> Figure:
    """Two panels, a row for each dataset: the correlation, its interval, and the band of placebos (`sham`: rows of `leans`, draws)."""
    names = leans["dataset"].drop_duplicates().tolist()
    y = np.arange(len(names))
    fig, axes = plt.subplots(1, 2, figsize=(6.8, 0.3 * len(names) + 1), sharey=True)
    panels = {"wide": "β from 0.5 to 0.9", "reliable": "inside the reliable interval"}
    for ax, (which, title) in zip(axes, panels.items(), strict=True):
        mine = leans["range"] == which
        some = leans[mine].set_index("dataset").loc[names]
        low, high = np.quantile(sham[mine], [0.05, 0.95], axis=1)
        ax.hlines(y, low, high, color="#dfe5ea", lw=8)
        ax.hlines(y, some["low"], some["high"], color=figures.INK, lw=1)
        full = np.where(some["share"] <= 0.05, figures.INK, "white")
        ax.scatter(some["correlation"], y, s=34, c=full, edgecolors=figures.INK, zorder=3)
        ax.axvline(0, color=figures.FAINT, lw=1)
        ax.set(title=title, xlabel="correlation", xlim=(-1, 1), xticks=[-0.5, 0, 0.5])
        ax.grid(False, axis="y")
    axes[0].set_yticks(y, names, fontsize=9)
    axes[0].set_ylim(len(names) - 0.5, -0.5)
    return fig


# 3.4


def cloud(beta: Array, size: Array, best: Array, uniform: float, systems: int) -> Figure:
    """Weightings by balance and effective sample size, a line through the best of them, and the uniform one with its balance."""
    fig, ax = plt.subplots(figsize=(6.4, 4.0))
    ax.scatter(beta, size, s=2, c=figures.BALANCE(beta), alpha=0.5, lw=0, rasterized=True)
    ax.plot(beta[best], size[best], color=figures.INK, lw=1.5)
    ax.plot(uniform, systems, "o", color=figures.INK, ms=8)
    words, shift = f"uniform, β₀ = {uniform:.2f}", (-10, -1)
    ax.annotate(words, (uniform, systems), xytext=shift, textcoords="offset points", ha="right", fontsize=10)
    ax.set(xlim=(0, 1), ylim=(0, systems + 0.9), xlabel="balance β", ylabel="effective sample size")
    return fig


def straight_walk(a: Array, f: Array, pairs: Sequence[Sequence[int]], along: Array, target: float) -> Figure:
    """Left, systems and the pairs with the least and the most balance; right, the balance on equal steps from one pair to the other, and where it is `target`."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.1))
    x, y = a - mean(a), f - mean(f)
    left.scatter(x, y, s=20, color=figures.FAINT, lw=0)
    for ends, colour in zip(pairs, (figures.FLUENCY, figures.ADEQUACY), strict=True):
        left.plot(x[list(ends)], y[list(ends)], "o-", color=colour, ms=6, lw=2.5)
    left.set(xlabel="adequacy", ylabel="fluency", aspect="equal", xlim=(-0.6, 1.0), ylim=(-0.8, 0.8))
    left.locator_params(nbins=4)
    steps = np.linspace(0, 1, along.size)
    here = float(np.interp(target, along, steps))
    right.plot(steps, along, color=figures.INK)
    right.plot(here, target, "x", color=figures.INK, ms=11, mew=2.5)
    right.hlines(target, 0, here, color=figures.FAINT, ls="--", lw=1)
    right.set(xlabel="s, from orange to blue", ylabel="balance β", ylim=(-0.02, 1.02), xlim=(0, 1))
    return fig


# 3.5


def _triangle(ax: Axes, names: Sequence[str]) -> None:
    """The triangle of all weightings of three systems, its centre, and the systems at its corners."""
    ax.plot(*CORNERS[[0, 1, 2, 0]].T, color=figures.FAINT, lw=1)
    ax.plot(*CORNERS.mean(axis=0), "+", color=figures.INK, ms=9, mew=1.4)
    shifts, sides = ((-4, -19), (4, -19), (-10, 2)), ("left", "right", "right")
    for name, spot, shift, side in zip(names, CORNERS, shifts, sides, strict=True):
        place: dict[str, Any] = {"xytext": shift, "ha": side}
        ax.annotate(name, spot, textcoords="offset points", fontsize=9.5, **place)
    ax.set(aspect="equal", xlim=(-0.06, 1.06), ylim=(-0.13, 0.98))
    ax.axis("off")


def simplex(
    a: Array,
    f: Array,
    names: Sequence[str],
    target: float,
    points: Array,
    best: Array,
    family: Mapping[float, Array],
    ends: tuple[float, float],
) -> Figure:
    """Weightings of three systems. Left, where `target` is met, with its stationary points and the best of them; right, several targets, each with its best weighting, coloured by their place between the `ends` of the range."""
    x, y = np.meshgrid(np.linspace(-0.05, 1.05, 600), np.linspace(-0.05, 0.92, 540))
    third = y / CORNERS[2, 1]
    second = x - third / 2
    w = np.stack([1 - second - third, second, third], axis=-1)
    v_a, v_f = (w @ z**2 - (w @ z) ** 2 for z in (a, f))  # also where a weight is negative
    inside = (w >= 0).all(axis=-1)

    fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.1))
    level = (1 - target) * v_a - target * v_f
    sides = [figures.FLUENCY, figures.ADEQUACY]
    left.contourf(x, y, np.where(inside, level, np.nan), levels=[-9e9, 0, 9e9], alpha=0.18, colors=sides)
    left.contour(x, y, level, levels=[0], colors=figures.INK, linewidths=1.8)
    for point in points:
        radius = np.sqrt((point @ point - 1 / 3) / 2)
        left.add_patch(Circle(CORNERS.mean(axis=0), radius, fill=False, color=figures.FAINT, ls=":"))
        star = np.allclose(point, best)
        look: dict[str, Any] = {"marker": "*", "ms": 14} if star else {"marker": "o", "ms": 6, "mfc": figures.PAPER}
        left.plot(*(point @ CORNERS), color=figures.INK, **look)
    low, high = ends
    for beta, point in family.items():
        colour = figures.BALANCE((beta - low) / (high - low))
        level = np.where(inside, (1 - beta) * v_a - beta * v_f, np.nan)
        right.contour(x, y, level, levels=[0], colors=[colour], linewidths=1.3)
        right.plot(*(point @ CORNERS), "*", color=colour, mec=figures.INK, mew=0.6, ms=12)
    for ax in (left, right):
        _triangle(ax, names)
    return fig


def weight_strip(
    grid: Array, weights: Array, order: Array, systems: Sequence[str], ended: Sequence[str], natural: float
) -> Figure:
    """A row for each system, in `order`, as strong as its weight at each balance of `grid`; the band above says what `ended` the search there. `weights` is (grid, systems)."""
    count = len(systems)
    edges = np.append(grid, 2 * grid[-1] - grid[-2]) - (grid[1] - grid[0]) / 2
    shade = LinearSegmentedColormap.from_list("shade", ["#e3e6ea", figures.INK])
    fig, (top, ax) = plt.subplots(2, 1, figsize=(6.4, 5.2), sharex=True, height_ratios=(1, 22))
    for left, right, why in zip(edges, edges[1:], ended, strict=False):
        top.axvspan(left, right, color=ENDED[why], lw=0)
    top.set(yticks=[])
    top.grid(False)
    top.tick_params(bottom=False)
    shown = np.where(weights > 0, weights, np.nan)[:, order].T
    strip = ax.pcolormesh(edges, np.arange(count + 1), shown, cmap=shade, norm=PowerNorm(0.5, 0, 0.5))
    ax.axvline(natural, color=figures.PAPER, lw=1.6, ls=":")
    ax.set_yticks(np.arange(count) + 0.5, [systems[k] for k in order], fontsize=9.5)
    ax.invert_yaxis()
    ax.set(xlabel="balance β (dotted: β₀)")
    ax.grid(False)
    bar = fig.colorbar(strip, ax=ax, label="weight", shrink=0.7, pad=0.02, ticks=[0.01, 1 / count, 0.2, 0.5])
    bar.ax.yaxis.set_major_formatter(lambda v, _: f"{v:.2g}")
    return fig


def weight_layers(grid: Array, weights: Array, stand_out: Array, size: Array, jumps: Sequence[int]) -> Figure:
    """Weights stacked over the balance, from systems that stand out in fluency to those in adequacy; the ESS as a line, and the steps in which they jump."""
    order = np.argsort(stand_out)
    fig, ax = plt.subplots(figsize=(6.4, 3.9))
    colours = figures.BALANCE(stand_out[order])
    ax.stackplot(grid, weights[:, order].T, colors=colours, edgecolor=figures.PAPER, lw=0.5, step="mid")
    for n in jumps:
        ax.axvline((grid[n] + grid[n + 1]) / 2, color=figures.INK, ls=":", lw=1.2)
    ax.set(xlim=(grid[0], grid[-1]), ylim=(0, 1), xlabel="balance β", ylabel="weight, stacked")
    ax.grid(False)
    twin = ax.twinx()
    twin.plot(grid, size, color=figures.INK, lw=1.8)
    twin.set(ylim=(0, weights.shape[1] + 0.5), ylabel="effective sample size")
    twin.grid(False)
    twin.spines["right"].set_visible(True)
    return fig


# 4.1

LANDMARKS = {  # of the SPA plane: colour; where on its curve it is named, the words, their side and place
    "adequacy": (figures.ADEQUACY, 0.85, "knows adequacy only", "right", (-7, 2)),
    "fluency": (figures.FLUENCY, 0.4, "knows fluency only", "left", (8, -13)),
    "tradeoff": (figures.FAINT, 0.75, "trade-off of the two", "left", (7, 2)),
}


def spa_plane(
    landmarks: Mapping[str, Mapping[str, Array]], place: Mapping[str, Mapping[str, Array]], star: Mapping[str, Array]
) -> Figure:
    """A panel for each title: curves of landmarks, an arrow for each family of augmented scorers, and a star at the base scorer. Places are (fluency and adequacy, points)."""
    tones = {f: figures.INK if f == "adequacy-fluency" else figures.MEASURES[f][1] for f in PAPER_FAMILIES}
    fig, axes = plt.subplots(len(star), 1, figsize=(5.6, 5.2 * len(star)), squeeze=False)
    for ax, title in zip(axes.flat, star, strict=True):
        for name, (colour, share, words, side, away) in LANDMARKS.items():
            x, y = landmarks[title][name]
            ax.plot(x, y, color=colour, lw=1.6)
            n = int(share * (len(x) - 1))
            ax.annotate(words, (x[n], y[n]), away, textcoords="offset points", ha=side, color=colour, fontsize=9.5)
        for family, tone in tones.items():
            x, y = place[title][family]
            ax.plot(x, y, color=tone, lw=2.4, zorder=2)
            ax.plot(x[0], y[0], "o", ms=4, color=tone, zorder=2)  # where the dial starts
            arrow = {"arrowstyle": "-|>", "color": tone, "lw": 2.4, "mutation_scale": 15, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", (x[-1], y[-1]), (x[-3], y[-3]), zorder=3, arrowprops=arrow)
            away, side = ((-9, 5), "right") if family == "adequacy-fluency" else ((0, 9), "center")
            look = {"color": tone, "fontsize": 9.5, "fontweight": "bold", "zorder": 5}
            label = ax.annotate(family, (x[-1], y[-1]), away, textcoords="offset points", ha=side, **look)
            label.set_path_effects([withStroke(linewidth=3, foreground=figures.PAPER)])
        ax.plot(*star[title], "*", ms=15, color=figures.INK, mec=figures.PAPER, mew=1.0, zorder=4)
        ax.set_title(title)
        ax.set(xlabel="SPA against fluency, better →", ylabel="SPA against adequacy, better →", aspect="equal")
        ax.set(xlim=(0.62, 1.01), ylim=(0.62, 1.01))  # both knowledge curves go on to the lower left
    return fig


def fans(lines: Mapping[str, Array], shades: Mapping[str, tuple[Array, Any]]) -> Figure:
    """A panel for each family: the mean score of every system along the dial. `shades` has what colours the lines, and the colour map."""
    fig, axes = plt.subplots(1, len(lines), figsize=(6.4, 3.7), sharey=True)
    for ax, (family, each) in zip(axes, lines.items(), strict=True):
        value, colours = shades[family]
        tint = np.interp(value, [value.min(), value.max()], [0, 1] if family == "adequacy-fluency" else [0.3, 1])
        for k in np.argsort(value):
            ax.plot(DIALS[family], each[:, k], color=colours(tint[k]), lw=1.6)
        ax.axvline(0, color=figures.FAINT, ls="--", lw=1)
        ax.set_title(family, fontsize=10)
        ax.locator_params(axis="x", nbins=4)
    axes[0].set_ylabel("mean score of a system")
    axes[1].set_xlabel("dial d")
    return fig


def grids() -> Figure:
    """A row of ticks for each family: its dials."""
    rows = PAPER_FAMILIES[::-1]
    fig, ax = plt.subplots(figsize=(6.4, 2.3))
    for row, family in enumerate(rows):
        at = DIALS[family]
        colour = figures.MEASURES[family][1]
        ax.scatter(at, np.full(at.size, row), marker="|", s=320, lw=0.8, color=colour)
    ax.axvline(0, color=figures.FAINT, ls="--", lw=1)
    ax.set_yticks(range(len(rows)), rows)
    ax.set(xlabel="dial d", ylim=(-0.6, len(rows) - 0.4))
    ax.grid(axis="y", visible=False)
    return fig


# 4.2


def dial_walks(spa: Mapping[str, Array], up: Mapping[str, Array]) -> Figure:
    """SPA of some scorers along the adequacy–fluency dial, coloured by whether each step goes up; the share of those is written beside the name."""
    dial = DIALS["adequacy-fluency"]
    fig, ax = plt.subplots(figsize=(6.4, 4.2))
    for name, curve in spa.items():
        ax.plot(dial, curve, color=CALM, lw=1.2, zorder=1)
        colour = np.where(up[name] == 0, figures.FLUENCY, figures.ADEQUACY)
        ax.scatter(dial[1:], curve[1:], c=colour, s=17, zorder=2)
        words = f"{name}: {up[name].mean():.2f}"
        ax.annotate(words, (dial[0], curve[0]), xytext=(0, -18), textcoords="offset points", fontsize=10)
    ax.axvline(0, color=figures.FAINT, ls="--", lw=1)
    ax.set(xlabel="dial d: more adequacy, less fluency →", ylabel="SPA")
    ax.margins(y=0.12)
    return fig


def three_measures(measure: pd.DataFrame, labels: dict[str, str], hollow: Sequence[str]) -> Figure:
    """A row for each dataset in `labels` and a mark for each measure; those in `hollow` have open marks."""
    fig, ax = plt.subplots(figsize=(6.4, 1.1 + 0.3 * len(labels)))
    for row, name in enumerate(reversed(labels)):
        for family, marker in zip(PAPER_FAMILIES, "osD", strict=True):
            words, colour, *_ = figures.MEASURES[family]
            value = measure[family].to_dict()[name]
            look: dict[str, Any] = {"mfc": "none" if name in hollow else colour}
            label = words if row == len(hollow) else None
            ax.plot(value, row, marker, color=colour, ms=7, alpha=0.9, mew=1.4, label=label, **look)
    ax.axvline(0.5, color=figures.FAINT, ls="--", lw=1)
    ax.set_yticks(range(len(labels)), list(reversed(labels.values())))
    ax.set(xlim=(0.25, 1.02), xlabel="share of steps at which SPA sides with the dial")
    fig.legend(loc="outside upper left", ncols=3, fontsize=9.5, handletextpad=0.2, columnspacing=1)
    return fig


def scorer_by_scorer(each: Mapping[str, Array], place: Mapping[str, Array], labels: dict[str, str]) -> Figure:
    """A row for each dataset: the measure of every base scorer, coloured by its `place` from 0 to 1, and their mean as a bar."""
    fig, ax = plt.subplots(figsize=(6.4, 1 + 0.4 * len(labels)))
    for row, name in enumerate(reversed(labels)):
        x = each[name]
        height = row + np.random.default_rng(row).uniform(-0.22, 0.22, x.size)
        ax.scatter(x, height, c=place[name], cmap=figures.BALANCE, s=26, lw=0.4, edgecolors=figures.INK)
        ax.plot([x.mean()] * 2, [row - 0.36, row + 0.36], color=figures.INK, lw=2.4)
    ax.set_yticks(range(len(labels)), list(reversed(labels.values())))
    ax.set(xlim=(-0.03, 1.03), xlabel="adequacy-over-fluency measure of one base scorer")
    return fig
