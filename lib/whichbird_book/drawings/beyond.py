"""Figures of the chapters beyond the paper."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from numpy.typing import ArrayLike

from whichbird.core.balance import std_balance
from whichbird.core.check import Array
from whichbird.show import figures

BAND = "#d5dde3"
CERTIFICATES = {"dual": figures.GREEN, "interval": "#d3bfe0", "pair": figures.INK, "uniform": figures.GREEN}
ODDS = 0.3, 0.9996  # the ends of the axis of `leans`


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


def ranks(ax: Axes, names: Sequence[str], low: Array, high: Array, cluster: Array) -> None:
    """A row for each scorer, best on top: its rank as a dot, its rank interval as a bar, and a line after each cluster."""
    place = 1 + np.arange(len(names))
    ax.hlines(place, low, high, color="#c9d3da", lw=6)
    ax.plot(place, place, "o", color=figures.INK, ms=4.5)
    for row in np.flatnonzero(np.diff(cluster)):
        ax.axhline(row + 1.5, color=figures.ROSE, lw=1.2)
    ax.set_yticks(place, names, fontsize=8.5)
    ax.set(xlabel="rank", xlim=(0.2, len(names) + 0.8), ylim=(len(names) + 0.7, 0.3), xticks=[1, 10, 20, 30])
    ax.grid(False, axis="y")


def lead(ax: Axes, betas: Array, middle: Array, half: Array, natural: float) -> None:
    """The lead of one scorer over another along β, with a band of `half` on either side and a dotted line at the natural balance."""
    ax.axhline(0, color=figures.INK, lw=0.8)
    ax.fill_between(betas, middle - half, middle + half, color=BAND, lw=0)
    ax.plot(betas, middle, color=figures.INK)
    ax.axvline(natural, color=figures.FAINT, ls=":", lw=1.4)
    ax.set(xlabel="β", xlim=betas[[0, -1]])


def statements(ax: Axes, told: pd.DataFrame, rows: Sequence[str], column: str) -> None:
    """A row for each statement and a dot for each dataset: a column of `false_shares`, in per cent."""
    worlds = list(dict.fromkeys(told.index.get_level_values("dataset")))
    colours = figures.INK, figures.GREEN, figures.PURPLE, figures.ROSE, figures.FAINT
    ax.axvline(5, color=figures.FAINT, ls="--", lw=1.2)
    for name, marker, colour in zip(worlds, "os^Dv", colours, strict=False):
        shares = [100 * told.loc[(name, claim), column] for claim in rows]
        ax.plot(shares, range(len(rows)), marker, color=colour, ms=5.5, ls="", label=name)
    ax.set(xlim=(-3, 103))


def saddle(ax: Axes, w: Array, surface: Callable[[Array, Array], Array], a: Array, f: Array) -> None:
    """A surface in multiples of the uniform weight, its zero line, and the systems, whose area is their weight."""
    middle = (a.max() + a.min()) / 2, (f.max() + f.min()) / 2
    reach = 0.58 * max(np.ptp(a), np.ptp(f))
    x, y = np.meshgrid(*(np.linspace(m - reach, m + reach, 160) for m in middle))
    level = len(a) * surface(x, y)
    ax.contourf(x, y, level, levels=[0, 0.5, 1, 1.5, 2, 3, 4, 1e9], cmap="Greens", vmin=-0.6, vmax=7, alpha=0.9)
    ax.contour(x, y, level, levels=[0], colors=figures.INK, linewidths=1.6)
    on = w > 0
    ax.scatter(a[on], f[on], s=26 * len(a) * w[on], color=figures.INK, edgecolor=figures.PAPER, lw=0.7, zorder=3)
    ax.scatter(a[~on], f[~on], s=26, facecolor=figures.PAPER, edgecolor=figures.INK, lw=1.2, zorder=3)
    ax.set(aspect="equal", xlim=(x.min(), x.max()), ylim=(y.min(), y.max()))
    ax.locator_params(nbins=4)
    ax.grid(False)


def certificates(ax: Axes, row: int, targets: ArrayLike, proofs: Sequence[str], natural: float) -> None:
    """One strip: which proof closes which target, on the scale of standard deviations, and a line at the natural balance."""
    x = np.array([std_balance(float(target)) for target in np.asarray(targets)])
    half = (x[1] - x[0]) / 2
    for colour, run in itertools.groupby(range(len(x)), [CERTIFICATES[p] for p in proofs].__getitem__):
        first, *_, last = [*(places := list(run)), places[-1]]
        ax.barh(row, x[last] - x[first] + 2 * half, 0.7, x[first] - half, color=colour, lw=0)
    ax.vlines(std_balance(natural), row - 0.42, row + 0.42, color=figures.PAPER, lw=2.2)


def certificate_axes(ax: Axes, names: Sequence[str]) -> None:
    """Ticks of β on the scale of standard deviations, a row a name, and what the colours of `certificates` say."""
    ticks = [0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1]
    ax.set_xticks([std_balance(b) for b in ticks], [f"{b:g}" for b in ticks])
    ax.set_yticks(range(len(names)), names)
    ax.set(xlabel="target β", xlim=(-0.01, 1.01), ylim=(len(names) - 0.4, -0.6))
    ax.grid(False)
    kinds = {"one saddle": "dual", "intervals": "interval", "pair": "pair"}
    handles = [Patch(color=CERTIFICATES[c], label=n) for n, c in kinds.items()]
    ax.legend(handles=handles, ncols=3, loc="lower center", bbox_to_anchor=(0.45, 1.0), fontsize=9.5)


def region(ax: Axes, a: Array, f: Array, low: float, high: float) -> None:
    """A region of two standard deviations and the rays of the balances that enclose it."""
    ax.fill(a, f, color="#cfd8df")
    top = 1.14 * float(a.max()), 1.2 * float(f.max())
    for beta in (low, high):
        way = np.sqrt([beta, 1 - beta])
        end = way * min(np.array(top) / np.maximum(way, 1e-9))
        ax.plot([0, end[0]], [0, end[1]], color=figures.FAINT, lw=1.2)
        under = high == beta < 1  # beside the region, not on it
        shift, va = ((0, -10), "top") if under else ((-3, 3), "bottom")
        ax.annotate(f"{beta:.2f}", 0.99 * end, fontsize=9, xytext=shift, va=va, textcoords="offset points", ha="right")
    ax.set(xlabel="σ of adequacy", ylabel="σ of fluency", xlim=(0, top[0]), ylim=(-0.01, top[1]))


def beta_coverage(ax: Axes, table: pd.DataFrame, worlds: list[str]) -> None:
    """A row a world: how often intervals of β₀ hold the truth; faint where most are open, hollow for normal documents."""
    ax.axvspan(0.93, 0.97, color="#e8eef2")
    ax.axvline(0.95, color=figures.FAINT, ls="--", lw=1)
    for _, row in table.iterrows():
        colour = figures.INK if row["open"] < 0.5 else "#a9b3bb"
        face = colour if row["way"] == "drawn" else "none"
        ax.plot(row["covered"], worlds.index(row["world"]), "o", ms=6, mec=colour, mfc=face)
    ax.set_yticks(range(len(worlds)), worlds, fontsize=8.5)
    ax.set(xlabel="share of intervals that hold the truth", xlim=(0.9, 1.001), ylim=(len(worlds) - 0.5, -0.5))
    ax.grid(False, axis="y")


def log_odds(beta: ArrayLike) -> Array:
    """Log odds of a balance, cut at the ends of the axis of `leans`."""
    odds: Array = np.clip(np.asarray(beta, dtype=float), *ODDS)
    return np.asarray(np.log(odds / (1 - odds)))


def leans(ax: Axes, table: pd.DataFrame) -> None:
    """β₀ of each kind of text, by dataset, over where parts by chance fall; in colour where one is `sure` to lean to its `side`."""
    places: list[float] = []
    y, colours = 0.0, {"fluency": figures.FLUENCY, "adequacy": figures.ADEQUACY}
    for name, group in table.groupby("dataset", sort=False):
        ax.text(float(log_odds(ODDS[0])), y, f" {name}", fontsize=9.5, fontweight="bold", va="center")
        for _, row in group.iterrows():
            places.append(y := y + 1)
            ax.hlines(y, *log_odds(row[["low", "high"]]), color=BAND, lw=8)
            ax.hlines(y, *log_odds(row[["beta0_low", "beta0_high"]]), color=figures.INK, lw=1)
            ax.plot(log_odds(row["beta0"]), y, "o", color=colours[row["side"]] if row["sure"] else figures.INK, ms=6)
        y += 1.3
    ax.set_yticks(places, list(table["domain"]), fontsize=8.5)
    ticks = [0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999]
    ax.set_xticks(log_odds(ticks), [f"{t:g}" for t in ticks], fontsize=8.5)
    ax.set(xlabel="β₀ (log odds)", xlim=log_odds(ODDS), ylim=(y - 0.5, -0.8))
    ax.grid(False, axis="y")


def alike(ax: Axes, own: pd.DataFrame, common: pd.DataFrame) -> None:
    """How alike domains rank scorers, a row a dataset: at their own β₀, at a common β, by chance, and at the two ends of β."""
    y = pd.Series(range(len(own)), own.index)
    ax.hlines(y, own["low"], own["high"], color=BAND, lw=9, label="parts by chance")
    ax.plot(own["tau"], y, "o", color=figures.INK, ms=6.5, label="domains, natural")
    for unreliable, label in ((False, "domains, common β"), (True, None)):
        some = common[(common["share"] < 0.9) == unreliable]
        alpha = 0.4 if unreliable else 1.0
        ax.plot(some["tau"], y[some.index], "s", color=figures.GREEN, ms=6.5, alpha=alpha, label=label)
    ax.plot(own["ends"], y, "^", color=figures.ROSE, ms=6.5, label="ends of β")
    ax.set_yticks(y, own.index, fontsize=9)
    ax.set(xlabel="Kendall's τ between rankings", xlim=(0, 1), ylim=(len(y) - 0.5, -0.5))
    ax.grid(False, axis="y")
    ax.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=2, fontsize=9)


CORNERS = np.array([[0.5, np.sqrt(3) / 2], [0, 0], [1, 0]])  # of the triangle of three shares
LEVELS = (0.3, 0.5, 0.7, 0.9, 1.0001)  # of ESS as a share of the systems
MARKS = "os^DvPX"


def share_triangle(ax: Axes, aspects: Sequence[str], natural: Array) -> None:
    """The triangle of all shares of three aspects, a star at the natural ones."""
    ax.plot(*CORNERS[[0, 1, 2, 0]].T, color=figures.FAINT, lw=1)
    ax.plot(*(natural @ CORNERS), "*", color=figures.INK, mec=figures.PAPER, ms=13, zorder=5)
    for aspect, spot, up in zip(aspects, CORNERS, (5, -13, -13), strict=True):
        ax.annotate(aspect, spot, (0, up), textcoords="offset points", ha="center", fontsize=9)
    ax.set(aspect="equal", xlim=(-0.15, 1.15), ylim=(-0.12, 0.98))
    ax.axis("off")


def share_room(ax: Axes, targets: Array, kept: Array, certificates: Sequence[str]) -> None:
    """Contours of what the most even weights keep, `kept` (T,) as a share of the systems; crosses out of reach, question marks open."""
    kind, at = np.array(certificates), targets @ CORNERS
    ax.tricontourf(at[:, 0], at[:, 1], np.nan_to_num(kept), levels=LEVELS, cmap=figures.INKS, vmin=0.2, vmax=1.2)
    ax.tricontour(at[:, 0], at[:, 1], np.nan_to_num(kept), levels=LEVELS[:-1], colors=figures.INK, linewidths=0.6)
    ax.plot(*at[kind == "out of reach"].T, "x", color=figures.FAINT, ms=3, mew=0.7)
    for spot in at[kind == "unproven"]:
        ax.annotate("?", spot, ha="center", va="center", fontsize=8)


def share_winners(ax: Axes, targets: Array, winners: Sequence[str]) -> None:
    """The first scorer at each target, a colour and a marker each, most frequent first; empty names are left out."""
    names = np.array(winners)
    often = pd.Series(names[names != ""]).value_counts(sort=True)
    for n, name in enumerate(often.index):
        at = targets[names == name] @ CORNERS
        ax.plot(*at.T, MARKS[n % len(MARKS)], color=figures.SERIES[n % len(figures.SERIES)], ms=4.5, label=name)
    ax.legend(fontsize=7.5, loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=2, handletextpad=0.2, frameon=False)
