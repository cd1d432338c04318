"""Figures of appendices D to G, of the chapters about other fields, and of the one about what comes after MQM."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import whichbird as wb
from whichbird.core.check import Array
from whichbird.show import figures
from whichbird_book.kit import TASTE, within

Points = tuple[Array, Array]  # adequacy and fluency of the systems of a pool


def planes(pools: Mapping[str, Points]) -> Figure:
    """A small plane of adequacy and fluency for each pool, with β₀ in its title and as a bar."""
    fig, axes = figures.grid(len(pools), columns=3, cell=(2.1, 2.3))
    for ax, (name, points) in zip(axes, pools.items(), strict=True):
        beta = wb.balance(*points)
        figures.plane(ax, *points)
        figures.lean_bar(ax, beta)
        ax.set_title(f"{name}   β₀ = {beta:.3f}", fontsize=9.5, pad=9)
        ax.tick_params(labelsize=9.5)
        ax.locator_params(nbins=3)
    fig.supxlabel("adequacy, better →", fontsize=10, color=figures.ADEQUACY)
    fig.supylabel("fluency, better →", fontsize=10, color=figures.FLUENCY)
    return fig


def pair_ticks(pools: Mapping[str, Points]) -> Figure:
    """All pair balances of each pool as ticks with a histogram, and β₀ as a dot; the first pool is the lowest row."""
    fig, ax = plt.subplots(figsize=(6.4, 5.6))
    edges = np.linspace(0, 1, 26)
    for row, points in enumerate(pools.values()):
        pairs = wb.pair_balances(*points)
        height, _ = np.histogram(pairs, edges)
        base = row + 0.02
        ax.stairs(base + 0.72 * height / height.max(), edges, baseline=base, fill=True, color="#d5d8d6")
        ax.scatter(pairs, np.full(pairs.size, row - 0.12), marker="|", s=60, color=figures.BALANCE(pairs), lw=1.1)
        ax.plot(wb.balance(*points), base, "o", color=figures.INK, ms=6)
    ax.set_yticks(range(len(pools)), list(pools))
    ax.set(xlabel="pair balance   (0: differ in fluency only    1: differ in adequacy only)", xlim=(-0.02, 1.02))
    ax.grid(axis="y", visible=False)
    return fig


def two_measures(spa: Mapping[str, pd.DataFrame], pearson: Mapping[str, pd.DataFrame]) -> Figure:
    """The preference where ESS ≥ 0.9 K, by SPA and by Pearson correlation, a panel a dataset."""
    fig, axes = figures.grid(len(spa), columns=2, cell=(3.2, 1.9), sharey=True)
    for ax, n in zip(axes, spa, strict=True):
        for table, colour, style, name in ((spa[n], "#9aa1a8", "-", "SPA"), (pearson[n], figures.INK, "--", "Pearson")):
            part = within(table, 0.9)
            ax.plot(part["beta"], part[TASTE], color=colour, ls=style, label=name)
        ax.axvline(spa[n]["beta"].to_numpy()[spa[n]["ess"].argmax()], color=figures.FAINT, ls=":", lw=1.4)
        ax.axhline(0.5, color=figures.FAINT, lw=0.7)
        ax.set_title(n)
        ax.locator_params(axis="x", nbins=3)
        ax.set_yticks([0, 0.5, 1], ["0", "½", "1"])
    fig.supxlabel("balance β, where ESS ≥ 0.9 K", fontsize=11)
    fig.supylabel("adequacy over fluency", fontsize=11)
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=2, fontsize=10)
    return fig


def grids(tables: Mapping[str, pd.DataFrame], rings: Mapping[str, Collection[tuple[int, int]]], bins: int) -> Figure:
    """The preference across (ESS, β), a panel a dataset; `rings` numbers (ess, beta) the bins that are reachable though no draw fell there."""
    fig, axes = figures.grid(len(tables), columns=2, cell=(3.2, 2.6))
    for ax, (name, table) in zip(axes, tables.items(), strict=True):
        picture = figures.ramps(ax, table)
        x, y = (
            table[f"{c}_from"].min() + np.ptp(table[f"{c}_from"]) / np.ptp(table[c]) * (np.arange(bins) + 0.5)
            for c in ("ess", "beta")
        )
        across, up = np.reshape([(x[e], y[b]) for e, b in rings[name]], (-1, 2)).T
        ax.scatter(across, up, s=22, facecolors="none", edgecolors="white", linewidths=1.3)
        ax.set_title(name, fontsize=10.5)
        ax.tick_params(labelsize=9.5)
        ax.locator_params(nbins=5)
    fig.supxlabel("ESS", fontsize=11)
    fig.supylabel("β", fontsize=11)
    fig.colorbar(picture, ax=axes, location="top", shrink=0.6, aspect=30, label="adequacy over fluency")
    return fig


def balances_with_intervals(
    beta0: pd.Series, low: Sequence[float], high: Sequence[float], without: pd.Series
) -> Figure:
    """β₀ of pools with intervals (dots on bars), and without some systems (rings), a row a pool."""
    fig, ax = plt.subplots(figsize=(6.4, 3.6))
    at = np.arange(len(beta0))
    ax.hlines(at, low, high, color=figures.FAINT, lw=3)
    ax.scatter(beta0, at, color=figures.INK, s=34, zorder=3)
    ax.scatter(without, at, facecolors="none", edgecolors=figures.PURPLE, s=70, lw=1.6, zorder=4)
    ax.set_yticks(at, beta0.index)
    ax.set(xlabel="β₀", xlim=(-0.02, 1.02))
    return fig


def by_leverage(points: Points, names: Sequence[str], leverage: Array) -> Figure:
    """The systems of a pool as circles that grow with their leverage; those that stand out are named."""
    fig, ax = plt.subplots(figsize=(5.6, 3.2))
    a, f = points
    ax.scatter(a, f, s=60 + 900 * leverage, facecolors="none", edgecolors=figures.INK, lw=1.4)
    far = np.flatnonzero(leverage > 0.13)
    for n, k in enumerate(map(int, far[np.argsort(a[far])])):  # neighbours above and below, or their names collide
        place: dict[str, Any] = {"textcoords": "offset points", "xytext": (0, -25 if n % 2 else 15), "ha": "center"}
        ax.annotate(names[k], (a[k], f[k]), fontsize=9.5, **place)
    ax.margins(0.2)
    ax.set(xlabel="adequacy", ylabel="fluency")
    return fig


def table_of_balances(ways: pd.DataFrame) -> Figure:
    """A table of balances, shaded from fluency to adequacy."""
    fig, ax = plt.subplots(figsize=(6.4, 4.6))
    ax.imshow(ways, cmap=figures.BALANCE, vmin=0, vmax=1, aspect="auto")
    for (r, c), value in np.ndenumerate(ways.to_numpy()):
        ink = figures.PAPER if value > 0.7 else figures.INK
        ax.text(c, r, f"{value:.2f}", ha="center", va="center", fontsize=9.5, color=ink)
    ax.set_xticks(range(ways.shape[1]), ways.columns, rotation=35, ha="right")
    ax.set_yticks(range(len(ways)), ways.index)
    ax.grid(False)
    return fig


def pairs_of_aspects(pairs: pd.DataFrame) -> Figure:
    """β₀ of each pair of aspects (dots), and without the machine whose absence moves it most (rings)."""
    fig, ax = plt.subplots(figsize=(6.4, 4.4))
    at = np.arange(len(pairs))
    ax.hlines(at, pairs["β₀"].astype(float), pairs["without"].astype(float), color=figures.PALE, lw=2)
    ax.scatter(pairs["β₀"], at, color=figures.INK, s=30, zorder=3)
    ax.scatter(pairs["without"], at, facecolors=figures.PAPER, edgecolors=figures.PURPLE, s=46, lw=1.6, zorder=3)
    ax.set_yticks(at, pairs.index)
    ax.set(xlabel="share of the first aspect", xlim=(0, 1))
    ax.grid(axis="y", visible=False)
    return fig


def by_field(fields: Mapping[str, Mapping[str, float]]) -> Figure:
    """β₀ of every pool, a row a field."""
    fig, ax = plt.subplots(figsize=(6.4, 2.4))
    for row, found in enumerate(fields.values()):
        ax.scatter([*found.values()], [-row] * len(found), color=figures.INK, alpha=0.6, s=34)
    ax.axvline(0.5, color=figures.FAINT, ls="--", lw=1)
    ax.set_yticks([-r for r in range(len(fields))], list(fields))
    ax.set(xlabel="β₀", xlim=(-0.02, 1.02))
    return fig


def rises(spa: pd.DataFrame, families: Sequence[str], ends: tuple[float, float]) -> Figure:
    """SPA of three variants of each scorer at the two ends of an interval, a panel a scorer."""
    fig, axes = plt.subplots(1, len(families), figsize=(6.4, 2.6), sharey=True)
    looks = ("PS", figures.PURPLE, "-"), ("SS", figures.GREEN, "--"), ("Golden", figures.INK, ":")
    for ax, m in zip(axes, families, strict=True):
        for ending, colour, style in looks:
            name = f"{m.split('-')[0]}-Golden" if ending == "Golden" else f"{m}-{ending}"
            ax.plot([0, 1], spa.loc[name], color=colour, ls=style, lw=2, marker="o", ms=4, label=f"-{ending}")
        ax.set(title=m, xlim=(-0.15, 1.15))
        ax.set_xticks([0, 1], [f"β = {b:.2f}" for b in ends])
    axes[0].set_ylabel("SPA")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=3)
    return fig


def by_severity(table: pd.DataFrame) -> Figure:
    """β₀ by category and the balance by severity, a dot a dataset; datasets where the two lie far apart are named."""
    fig, ax = plt.subplots(figsize=(5.6, 3.6))
    ax.plot([0, 1], [0, 1], color=figures.FAINT, ls="--", lw=1)
    ax.scatter(table["category"], table["severity"], color=figures.INK, s=30)
    far = table[(table["severity"] - table["category"]).abs() > 0.25].sort_values("category")
    for n, (name, category, severity) in enumerate(zip(far.index, far["category"], far["severity"], strict=True)):
        below: dict[str, Any] = {"textcoords": "offset points", "xytext": (0, -26 if n % 2 else -13), "ha": "center"}
        ax.annotate(str(name), (category, severity), fontsize=9.5, **below)
    ax.set(xlim=(0, 1.02), ylim=(0, 1.05), xlabel="β₀ by category", ylabel="balance by severity")
    return fig


def newcomers(a: Array, f: Array) -> Figure:
    """The systems of a pool, and the two lines on which a newcomer leaves β₀ as it is."""
    beta = wb.balance(a, f)
    slope = np.sqrt((1 - beta) / beta)
    fig, ax = plt.subplots(figsize=(5.6, 3.4))
    x = np.linspace(a.min() - 0.3, a.max() + 0.3, 2)
    up, down = (f.mean() + s * slope * (x - a.mean()) for s in (1, -1))
    ax.fill_between(x, up, down, color=figures.ADEQUACY, alpha=0.15, lw=0)
    ax.plot(x, up, x, down, color=figures.INK, lw=1)
    ax.scatter(a, f, color=figures.INK, s=26, zorder=3)
    ax.set(xlim=(x[0], x[-1]), ylim=(f.min() - 0.15, f.max() + 0.15), xlabel="adequacy", ylabel="fluency")
    return fig
