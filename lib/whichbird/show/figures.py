"""One look for every plot: two colours that mean adequacy and fluency everywhere, readable by colour-blind readers and in print."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path as _Path
from matplotlib.rcsetup import cycler
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import ScaledTranslation

from ..data.protocol import ASPECTS
from ..data.registry import display
from .palette import LIGHT

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from numpy.typing import ArrayLike

    from ..core.check import Array
    from ..study.calibrate import Calibration
    from ..study.story import Story

ADEQUACY, FLUENCY = LIGHT["adequacy"], LIGHT["fluency"]  # blue and orange
INK, FAINT, PAPER, GRID = LIGHT["drawn"], LIGHT["faint"], LIGHT["paper"], LIGHT["grid"]
GREEN, PURPLE, ROSE, OLIVE, TEAL = (LIGHT[name] for name in ("green", "purple", "rose", "olive", "teal"))
PALE, SHADE, UNREACHED = LIGHT["pale"], LIGHT["shade"], LIGHT["unreached"]

# What lines and dots get that ask for no colour. Blue and orange are not among them: they mean adequacy and fluency, and nothing else.
SERIES = (INK, GREEN, PURPLE, ROSE, OLIVE, TEAL, FAINT)

BALANCE = LinearSegmentedColormap.from_list("balance", [FLUENCY, "#c9c9c4", ADEQUACY])  # β from 0 to 1
# Adequacy over fluency from 0 to 1: pale in the middle, so that a balanced cell is not taken for an unreached, grey one
PREFERENCE = LinearSegmentedColormap.from_list("preference", [FLUENCY, "#f8f4e6", ADEQUACY]).with_extremes(
    bad=UNREACHED
)

INKS = LinearSegmentedColormap.from_list("inks", [PAPER, INK])  # how much, where it is neither adequacy's nor fluency's
ROSES = LinearSegmentedColormap.from_list("roses", [PAPER, ROSE])

# The paper's measures: name, colour, and dashes (drawn, left out; in units of the axes) for readers who do not see colour
MEASURES = {
    "adequacy-fluency": ("adequacy over fluency", INK, None),
    "adherence": ("MQM adherence", GREEN, (0.05, 0.018)),
    "explainability": ("explainability by MQM", PURPLE, (0.014, 0.014)),
}

POOLS = {
    "real+adequacy+fluency": "o",
    "real+adequacy": ">",
    "real+fluency": "<",
    "adequacy+fluency": "D",
    "adequacy": "^",
    "fluency": "v",
}
FILLED = {"published": False, "fair": True}
TINTS = 12  # steps of lightness along a shaded curve: more, and nobody sees them


def use() -> None:
    """Set the look for all figures that follow; in a notebook they are drawn as SVG, the same bytes each time.

    Letters are drawn as outlines, so that they look the same whatever fonts a reader has.
    """
    if "IPython" in sys.modules:
        from matplotlib_inline.config import InlineBackend

        cell = InlineBackend.instance()
        silent = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        how: dict[str, Any] = {"bbox_inches": "tight", "metadata": silent}
        cell.print_figure_kwargs = how
        cell.figure_formats = {"svg"}
    mpl.rcParams.update(
        {
            "figure.facecolor": PAPER,
            "axes.facecolor": PAPER,
            "savefig.facecolor": PAPER,
            "figure.figsize": (6.4, 4.0),
            "figure.dpi": 100,
            "savefig.dpi": 200,
            "savefig.bbox": "tight",
            "savefig.pad_inches": 0.12,
            "figure.constrained_layout.use": True,
            "svg.fonttype": "path",
            "svg.hashsalt": "whichbird",  # else names inside the file are random
            "font.size": 11,
            "font.family": "DejaVu Sans",
            "axes.titlesize": 11,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "axes.labelcolor": INK,
            "text.color": INK,
            "axes.edgecolor": FAINT,
            "xtick.color": INK,
            "ytick.color": INK,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": GRID,
            "grid.linewidth": 0.7,
            "axes.axisbelow": True,
            "lines.linewidth": 2.0,
            "legend.frameon": False,
            "axes.prop_cycle": cycler(color=SERIES),
        }
    )


def grid(
    count: int, columns: int = 3, cell: tuple[float, float] = (2.3, 2.1), **options: Any
) -> tuple[Figure, list[Axes]]:
    """Small multiples: a figure and its first `count` axes, row by row; spare ones are removed."""
    rows = -(-count // columns)
    fig, table = plt.subplots(rows, columns, figsize=(cell[0] * columns, cell[1] * rows), squeeze=False, **options)
    axes: list[Axes] = list(table.flat)
    for spare in axes[count:]:
        spare.remove()
    return fig, axes[:count]


def plane(ax: Axes, adequacy: ArrayLike, fluency: ArrayLike, w: ArrayLike | None = None, equal: bool = True) -> None:
    """Systems as dots in the adequacy–fluency plane, centred on their mean; area grows with weight.

    Both axes share one scale (`equal`), so a pool that spreads along the horizontal leans to adequacy.
    """
    a, f = (x - np.mean(x) for x in (np.asarray(adequacy), np.asarray(fluency)))
    w = np.full(a.size, 1 / a.size) if w is None else np.asarray(w)
    ax.axhline(0, color=FAINT, lw=0.7)
    ax.axvline(0, color=FAINT, lw=0.7)
    ax.scatter(a, f, s=28 * w * a.size, color=INK, alpha=0.75, lw=0)
    if equal:
        reach = 1.12 * max(np.abs(a).max(), np.abs(f).max())
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")


def lean_bar(ax: Axes, beta: float) -> None:
    """A thin bar along the top of the axes: the blue share is β."""
    box = ax.inset_axes((0, 1.0, 1, 0.035))
    box.barh(0, beta, color=ADEQUACY)
    box.barh(0, 1 - beta, left=beta, color=FLUENCY)
    box.set(xlim=(0, 1))
    box.axis("off")


def sweep_panel(
    ax: Axes, table: pd.DataFrame, pools: pd.DataFrame | None = None, size: float = 6, only: str | None = None
) -> None:
    """The three measures over β, paler where fewer systems carry the weight; β₀, where all do, as a dotted line.

    `table` is a sweep. `pools`, rows of the table of synthesised pools, adds a marker per pool and measure at the
    pool's own β: open as published, filled where the construction is fair. A stem joins it to the curve of its measure,
    so its length is what the pool gains or loses against reweighting. The measures of one pool stand side by side.
    `only` names the one measure to draw.
    """
    ax.axvline(table["beta"].iloc[table["ess"].argmax()], color=FAINT, ls=":", lw=1.4)
    for n, (family, (_, colour, dashes)) in enumerate(MEASURES.items()):
        if only not in (None, family):
            continue
        _shaded(ax, table["beta"], table[family], table["ess"] / table["ess"].max(), colour, dashes)
        aside = ax.transData + ScaledTranslation((0 if only else n - 1) * 0.9 * size / 72, 0, ax.figure.dpi_scale_trans)
        for _, pool in () if pools is None else pools.iterrows():
            fill = colour if FILLED[pool["construction"]] else PAPER
            curve = np.interp(pool["beta"], table["beta"], table[family])
            at = pool["beta"]
            ax.plot([at, at], [curve, pool[family]], color=colour, lw=1.1, transform=aside, clip_on=False, zorder=2.5)
            look: dict[str, Any] = {"ms": size, "mec": colour, "mfc": fill, "mew": 1.1}
            ax.plot(at, pool[family], POOLS[pool["pool"]], transform=aside, clip_on=False, zorder=3, **look)
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.02, 1.02))


def sweep_legend(fig: Figure, construction: str | None = None, **options: Any) -> None:
    """One legend above all panels, with the markers of a `construction` if one is named."""
    styles = "-", (0, (5, 2)), (0, (1.5, 1.2))
    entries: dict[str, Any] = {  # lines, or tuples of them: a legend takes both, whatever the types of Matplotlib say
        name: Line2D([], [], color=colour, ls=style)
        for (name, colour, _), style in zip(MEASURES.values(), styles, strict=True)
    }
    entries["ESS from K down to 2"] = tuple(Line2D([], [], color=_pale(INK, ess), lw=3) for ess in (1, 0.55, 0.1))
    entries["β₀"] = Line2D([], [], color=FAINT, ls=":", lw=1.4)
    if construction:
        fill = INK if FILLED[construction] else "none"
        entries |= {pool: Line2D([], [], color=INK, ls="", marker=marker, mfc=fill) for pool, marker in POOLS.items()}
    look: dict[str, Any] = {
        "loc": "outside upper left",
        "ncols": 2,
        "fontsize": 9.5,
        "columnspacing": 1,
        "handlelength": 2.6,
    }
    fig.legend(
        entries.values(), entries.keys(), handler_map={tuple: HandlerTuple(ndivide=None, pad=0)}, **look | options
    )


def _shaded(
    ax: Axes, x: ArrayLike, y: ArrayLike, ess: ArrayLike, colour: str, dashes: tuple[float, float] | None
) -> None:
    """A curve whose tint follows ess, from 0 to 1, in `TINTS` steps: one path for each; dashes are made by leaving pieces out."""
    x, y, ess = (np.asarray(v) for v in (x, y, ess))
    at = np.concatenate([[0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    fine = np.unique(np.concatenate([np.arange(0, at[-1], 0.006), at]))
    points = np.stack([np.interp(fine, at, v) for v in (x, y)], axis=1)
    drawn = np.ones(len(fine) - 1, dtype=bool) if dashes is None else fine[:-1] % sum(dashes) < dashes[0]
    tint = np.minimum(TINTS - 1, (np.interp(fine[:-1], at, ess) * TINTS).astype(int))
    for step in np.unique(tint[drawn]):
        on = drawn & (tint == step)
        ends = np.flatnonzero(np.diff(np.concatenate([[False], on, [False]])))  # where runs of pieces begin and end
        runs = [points[first : last + 1] for first, last in ends.reshape(-1, 2)]
        shape = _Path.make_compound_path(*(_Path(run) for run in runs))
        tone = _pale(colour, (step + 0.5) / TINTS)
        ax.add_patch(PathPatch(shape, fill=False, edgecolor=tone, lw=2.0, capstyle="butt"))


def _pale(colour: str, ess: float) -> tuple[float, float, float]:
    share = 0.12 + 0.88 * ess**1.5  # the eye takes equal steps of lightness for smaller ones at the dark end
    red, green, blue = (share * c + (1 - share) * paper for c, paper in zip(to_rgb(colour), to_rgb(PAPER), strict=True))
    return red, green, blue


def ramps(
    ax: Axes, cells: pd.DataFrame, limits: tuple[float, float] = (0.0, 1.0), bins: int = 8, shades: int = 24
) -> AxesImage:
    """Cells of (ESS, β), each a ramp from mean − std at its bottom to mean + std at its top; the others stay grey.

    `cells` is a table as `sampling.cells` gives it: bin numbers ess and beta, their lower edges ess_from and beta_from,
    mean, std. ESS runs to the right, β upwards.
    """
    ess, beta = (_edges(cells[name], cells[f"{name}_from"], bins) for name in ("ess", "beta"))
    image = np.full((bins, shades, bins), np.nan)
    mean, std = (cells[name].to_numpy()[:, None] for name in ("mean", "std"))
    image[cells["beta"], :, cells["ess"]] = mean + std * np.linspace(-1, 1, shades)
    shown = ax.imshow(
        image.reshape(bins * shades, bins),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
        cmap=PREFERENCE,
        vmin=limits[0],
        vmax=limits[1],
        extent=(ess[0], ess[-1], beta[0], beta[-1]),
    )
    ax.vlines(ess[1:-1], beta[0], beta[-1], color=PAPER, lw=1.0)
    ax.hlines(beta[1:-1], ess[0], ess[-1], color=PAPER, lw=1.0)
    ax.grid(visible=False)
    return shown


def _edges(bin_: pd.Series, lower: pd.Series, bins: int) -> Array:
    """All edges of equal bins from the numbers and lower edges of some of them, at least two."""
    step = np.ptp(lower) / np.ptp(bin_)
    edges: Array = lower.min() + step * (np.arange(bins + 1) - bin_.min())
    return edges


def ranks_over_beta(
    table: pd.DataFrame,
    interval: tuple[float, float],
    chosen: list[str],
    beta: float | None = None,
    crossings: Iterable[tuple[float, float, bool]] = (),
    aspects: tuple[str, str] = ASPECTS,
    ceiling: pd.DataFrame | None = None,
) -> Figure:
    """SPA of every scorer over β, and below it the rank of the `chosen` ones; the reliable interval is shaded.

    `table` is a `rank_sweep`, with bands if it has their columns; `interval` (low, high), `beta` a balance to mark. All others
    stay pale. `crossings` (β, SPA, whether the order turns) are marked by full and open dots. `ceiling`, a `ceiling_path`, is
    what one person's ratings earn against another's.
    """
    fig = Figure(figsize=(6.4, 6.4), layout="constrained")
    top, bottom = fig.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    colours = [INK, GREEN, PURPLE, ROSE, FAINT]  # a scorer is neither adequacy nor fluency
    styles = ["-", (0, (5, 2)), (0, (1.5, 1.2)), (0, (6, 2, 1.5, 2))]  # five and four: no look comes twice among twenty
    for ax in (top, bottom):
        _shade(ax, interval, beta)
    for scorer, rows in table.groupby("scorer", sort=False):
        if scorer not in chosen:
            top.plot(rows["beta"], rows["spa"], color=PALE, lw=0.8, zorder=1)
    for n, scorer in enumerate(chosen):
        rows = table[table["scorer"] == scorer]
        look = {"color": colours[n % len(colours)], "ls": styles[n % len(styles)]}
        top.plot(rows["beta"], rows["spa"], label=_fit(display(scorer)), **look)
        bottom.plot(rows["beta"], rows["rank"], drawstyle="steps-mid", **look)
        if "spa_low" in rows:
            ends = {
                "color": look["color"],
                "lw": 0.7,
                "alpha": 0.75,
                "zorder": 2,
            }  # lines: bands of several lie one on another
            for end in ("low", "high"):
                top.plot(rows["beta"], rows[f"spa_{end}"], **ends)
                bottom.plot(rows["beta"], rows[f"rank_{end}"], drawstyle="steps-mid", **ends)
            faint = {"color": look["color"], "alpha": 0.06, "lw": 0, "zorder": 1}
            top.fill_between(rows["beta"], rows["spa_low"], rows["spa_high"], **faint)
            bottom.fill_between(rows["beta"], rows["rank_low"], rows["rank_high"], step="mid", **faint)
    for x, y, turns in crossings:
        top.plot(x, y, "o", ms=5, mec=INK, mfc=INK if turns else PAPER, zorder=6 if turns else 5)  # full ones in front
    if ceiling is not None:
        at, *reach = (ceiling[name] for name in ("beta", "human_ceiling_low", "human_ceiling_high"))
        top.plot(at, ceiling["human_ceiling"], color=FAINT, ls=":", lw=1.6, label="another person", zorder=3)
        top.fill_between(at, *reach, color=FAINT, alpha=0.1, lw=0, zorder=1)
    top.set(ylabel="SPA at balance β")
    last = int(table["scorer"].nunique())
    bottom.set(xlabel=_towards(aspects), ylabel=f"rank among {last}", ylim=(last + 0.6, 0.4))
    _widen(bottom, float(table["beta"].min()), *interval, float(table["beta"].max()))
    bottom.yaxis.set_major_locator(MaxNLocator(integer=True))
    fig.legend(loc="outside upper left", ncols=2, fontsize=9.5, columnspacing=1)
    return fig


def _widen(ax: Axes, first: float, low: float, high: float, last: float) -> None:
    """Give two thirds of the width to what lies between low and high, and the rest to both sides, with ticks at the four."""
    at = np.array([first - 1e-6, low, high, last + 1e-6])
    share = np.array([0, low > first + 1e-6, 4, last > high + 1e-6], dtype=float).cumsum()
    ax.set_xscale("function", functions=(lambda x: np.interp(x, at, share), lambda s: np.interp(s, share, at)))
    ticks = [first, *np.linspace(low, high, 4), last]
    ax.set_xlim(first, last)
    ax.set_xticks(ticks, [f"{x:.2f}" for x in ticks])


def spread(y: ArrayLike, gap: float) -> Array:
    """Heights for labels, as near to y as can be and at least a gap apart, in the order of y.

    >>> spread([1, 1, 5], 1).tolist()
    [0.5, 1.5, 5.0]
    """
    from scipy.optimize import isotonic_regression

    y = np.asarray(y, dtype=float)
    order, up = np.argsort(y, kind="stable"), gap * np.arange(len(y))
    out = np.empty(len(y))
    out[order] = isotonic_regression(y[order] - up).x + up
    return out


def crossings(x: ArrayLike, y: ArrayLike) -> list[tuple[int, int, float, float]]:
    """Where lines cross that are straight between their points: for each (i, j, x, y), i below j to the left; from x (T,) and y (T, N).

    A touch is no crossing.

    >>> crossings([0, 1], [[0, 3], [2, 1]])
    [(0, 1, 0.75, 1.5)]
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    out = []
    for i in range(y.shape[1]):
        for j in range(i + 1, y.shape[1]):
            gap = y[:, i] - y[:, j]
            apart = np.flatnonzero(gap)
            for a, b in zip(apart[:-1], apart[1:], strict=True):
                if gap[a] * gap[b] < 0:
                    t = gap[a] / (gap[a] - gap[b]) if b == a + 1 else 1.0  # after a tie: where the tie began
                    b = a + 1
                    first, second = (i, j) if gap[a] < 0 else (j, i)
                    where = x[a] + t * (x[b] - x[a]), y[a, first] + t * (y[b, first] - y[a, first])
                    out.append((first, second, float(where[0]), float(where[1])))
    return sorted(out, key=lambda c: c[2:])


def named_lines(
    ax: Axes, x: ArrayLike, y: ArrayLike, names: list[str], looks: list[dict[str, Any]], gap: float, fontsize: float = 9,
    values: bool = False
) -> None:  # fmt: skip
    """Lines with their names at both ends, in the colour of the line: x (T,), y (T, N); labels at least `gap` apart, in units of y.

    With `values` a label has y beside the name, as a whole number.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    for n, look in enumerate(looks):
        ax.plot(x, y[:, n], **{"lw": 1.8, "zorder": 3} | look)
    for end, place, side in ((0, -0.03, "right"), (-1, 1.03, "left")):
        for n, height in enumerate(spread(y[end], gap)):
            words = [_fit(display(names[n])), *([f"{y[end, n]:.0f}"] if values else [])]
            ax.annotate(
                " ".join(words if end == 0 else words[::-1]), (x[end], y[end, n]), xytext=(place, height), textcoords=("axes fraction", "data"), ha=side, va="center",
                fontsize=fontsize, color=looks[n]["color"], arrowprops={"arrowstyle": "-", "color": PALE, "lw": 0.7, "shrinkA": 1, "shrinkB": 1},
            )  # fmt: skip
    ax.set_xlim(x[0], x[-1])


def mark_crossings(ax: Axes, found: Iterable[tuple[float, float, bool]]) -> None:
    """Dots where lines cross, (x, y, whether the order turns): full if so, else small and open."""
    for x, y, turns in found:
        ax.plot(
            x, y, "o", ms=5.5 if turns else 3.6, mec=INK, mfc=INK if turns else PAPER, mew=0.9, zorder=6 if turns else 5
        )


def lead_over_beta(found: Story, aspects: tuple[str, str] = ASPECTS) -> Figure:
    """The lead of one scorer over another over β, with its interval; full dots where one is significantly better."""
    fig = Figure(figsize=(6.4, 3.6), layout="constrained")
    ax = fig.subplots()
    t = found.table
    ax.axhline(0, color=FAINT, lw=1)
    ax.fill_between(t["beta"], t["lead_low"], t["lead_high"], color=GREEN, alpha=0.18, lw=0, label="95 % interval")
    ax.plot(t["beta"], t["lead"], color=INK, lw=1.2, zorder=2)
    for sure, fill, label in ((True, INK, "significantly better"), (False, PAPER, "not significantly")):
        rows = t[(t["better"] != "") == sure]
        ax.plot(rows["beta"], rows["lead"], "o", ms=4, mec=INK, mfc=fill, ls="", label=label, zorder=3)
    ax.set(
        xlabel=f"balance β: towards {aspects[0]} →",
        ylabel=f"SPA: {_fit(display(found.first))} − {_fit(display(found.second))}",
    )
    fig.legend(loc="outside upper left", ncols=3, fontsize=9.5, columnspacing=1)
    return fig


def weights_over_beta(
    table: pd.DataFrame, interval: tuple[float, float], beta: float | None = None, aspects: tuple[str, str] = ASPECTS
) -> Figure:
    """The effective sample size over β, and below it every system's weight; the reliable interval is shaded.

    `table` is a `weight_sweep`, `interval` (low, high), `beta` a balance to mark.
    """
    systems = table["system"].unique().tolist()
    below = max(1.2, 0.25 * min(len(systems), 40))  # inches
    fig = Figure(figsize=(6.4, 2.8 + below), layout="constrained")
    top, bottom = fig.subplots(2, 1, sharex=True, height_ratios=(2, below))
    each = table.drop_duplicates("beta")
    _shade(top, interval, beta)
    top.plot(each["beta"], each["ess"], color=INK, label="effective sample size")
    top.set(ylabel="ESS", ylim=(0, len(systems) * 1.05), xlim=(-0.01, 1.01))
    w = table["weight"].to_numpy().reshape(-1, len(systems)).T
    at = each["beta"].to_numpy()
    edges = np.concatenate([at[:1], (at[1:] + at[:-1]) / 2, at[-1:]])
    shown = bottom.pcolormesh(edges, np.arange(len(systems) + 1) - 0.5, w * len(systems), cmap=INKS, vmin=0, vmax=3)
    _shade(bottom, interval, beta, fill=False)
    bottom.grid(visible=False)
    bottom.set(xlabel=_towards(aspects))
    bottom.set_yticks(range(len(systems)), [_fit(s) for s in systems], fontsize=9.5)
    bottom.invert_yaxis()
    bar = fig.colorbar(shown, ax=bottom, extend="max", pad=0.01)
    bar.set_label("weight × K", fontsize=9.5)
    fig.legend(loc="outside upper left", ncols=3, fontsize=9.5, columnspacing=1)
    return fig


def match_over_beta(found: Calibration, aspects: tuple[str, str] = ASPECTS) -> Figure:
    """How well SPA matches a practitioner's agreement, over β: a `Calibration` drawn.

    The reliable interval is shaded, and the curve heavy in it. The bar at the foot holds 90 % of the answers on
    resampled pairs. The full dot is the answer, the open one the best of the whole range.
    """
    fig = Figure(figsize=(6.4, 4.6), layout="constrained")
    ax = fig.subplots()
    table, colour = found.table, ADEQUACY if found.beta > found.natural else FLUENCY
    inner = table[table["reliable"]]
    _shade(ax, found.reliable, None)
    ax.axvline(found.natural, color=FAINT, ls=":", lw=1.4, label=f"β₀ = {found.natural:.3f}")
    ax.plot(table["beta"], table[found.by], color=colour, lw=1, alpha=0.7)
    ax.plot(inner["beta"], inner[found.by], color=colour, lw=2.8)
    ax.plot(
        found.anywhere,
        table[found.by].max(),
        "o",
        mec=colour,
        mfc=PAPER,
        ms=8,
        mew=1.6,
        label=f"best anywhere: β = {found.anywhere:.3f}",
    )
    ax.plot(found.beta, found.match, "o", color=colour, ms=9, label=f"best reliable: β = {found.beta:.3f}")
    foot = ax.get_xaxis_transform()
    ax.plot(
        found.interval,
        (0.03, 0.03),
        color=INK,
        lw=3,
        marker="|",
        ms=12,
        mew=2,
        transform=foot,
        label="90 % of resamples: {:.3f} to {:.3f}".format(*found.interval),
    )
    ax.set(xlabel=_towards(aspects), ylabel=f"{found.by} of agreement and SPA")
    ax.set_xlim(-0.01, 1.01)
    ax.margins(y=0.12)
    fig.legend(loc="outside upper left", ncols=2, fontsize=9.5, columnspacing=1)
    return fig


def _shade(ax: Axes, interval: tuple[float, float], beta: float | None, fill: bool = True) -> None:
    """Mark the reliable interval, and a balance."""
    place = ax.get_subplotspec()
    first = place is None or place.is_first_row()  # one entry of each in the legend
    if fill:
        ax.axvspan(*interval, color=SHADE, lw=0, zorder=0, label="reliable interval" if first else None)
    else:
        for end in interval:
            ax.axvline(end, color=GREEN, lw=1, ls=":")
    if beta is not None:
        ax.axvline(beta, color=FAINT, ls="--", lw=1.4, label=f"β = {beta:g}" if first else None)


def _towards(aspects: tuple[str, str]) -> str:
    """The axis of β, its ends named."""
    return f"balance β: all {aspects[1]} 0, all {aspects[0]} 1"


def _fit(name: str) -> str:
    """A name as a plain label: not too long, and no dollar sign, which would start a formula."""
    name = "".join(c if c.isprintable() else " " for c in name).replace("$", r"\$")
    return name if len(name) <= 24 else name[:23] + "…"
