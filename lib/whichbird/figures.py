"""One look for every plot: two colours that mean adequacy and fluency everywhere, readable by colour-blind readers and in print."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap

ADEQUACY = "#0b62a4"  # blue
FLUENCY = "#d9680f"   # orange; the pair differs in lightness too, so it survives grey printing
INK = "#2b3036"
FAINT = "#8a929b"
PAPER = "#fdfdfb"     # a light card of its own, so that figures read the same on a dark page

UNREACHED = "#b4b9be"
BALANCE = LinearSegmentedColormap.from_list("balance", [FLUENCY, "#c9c9c4", ADEQUACY])  # β from 0 to 1
# Adequacy over fluency from 0 to 1: pale in the middle, so that a balanced cell is not taken for an unreached, grey one
PREFERENCE = LinearSegmentedColormap.from_list("preference", [FLUENCY, "#f8f4e6", ADEQUACY])
PREFERENCE = PREFERENCE.with_extremes(bad=UNREACHED)


def use() -> None:
    """Set the look for all figures that follow."""
    mpl.rcParams.update({
        "figure.facecolor": PAPER, "axes.facecolor": PAPER, "savefig.facecolor": PAPER,
        "figure.figsize": (6.4, 4.0), "figure.dpi": 100, "savefig.dpi": 200, "savefig.bbox": "tight", "savefig.pad_inches": 0.12,
        "figure.constrained_layout.use": True,
        "font.size": 11, "font.family": "DejaVu Sans", "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left",
        "axes.labelcolor": INK, "text.color": INK, "axes.edgecolor": FAINT, "xtick.color": INK, "ytick.color": INK,
        "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e4e4de", "grid.linewidth": 0.7,
        "axes.axisbelow": True, "lines.linewidth": 2.0, "legend.frameon": False,
        "axes.prop_cycle": mpl.cycler(color=[ADEQUACY, FLUENCY, INK, "#3f8f6b", "#8f5fa8", FAINT]),
    })


def grid(count: int, columns: int = 3, cell=(2.3, 2.1), **options) -> tuple[plt.Figure, list[plt.Axes]]:
    """Small multiples: a figure and its first `count` axes, row by row; spare ones are removed."""
    rows = -(-count // columns)
    fig, axes = plt.subplots(rows, columns, figsize=(cell[0] * columns, cell[1] * rows), squeeze=False, **options)
    axes = list(axes.flat)
    for spare in axes[count:]:
        spare.remove()
    return fig, axes[:count]


def plane(ax: plt.Axes, adequacy, fluency, w=None, equal: bool = True) -> None:
    """Systems as dots in the adequacy–fluency plane, centred on their mean; area grows with weight.

    Both axes share one scale (`equal`), so a pool that spreads along the horizontal leans to adequacy.
    """
    a, f = (np.asarray(x) - np.mean(x) for x in (adequacy, fluency))
    w = np.full(a.size, 1 / a.size) if w is None else np.asarray(w)
    ax.axhline(0, color=FAINT, lw=0.7)
    ax.axvline(0, color=FAINT, lw=0.7)
    ax.scatter(a, f, s=28 * w * a.size, color=INK, alpha=0.75, lw=0)
    if equal:
        reach = 1.12 * max(np.abs(a).max(), np.abs(f).max())
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")


def lean_bar(ax: plt.Axes, beta: float) -> None:
    """A thin bar along the top of the axes: the blue share is β."""
    box = ax.inset_axes((0, 1.0, 1, 0.035))
    box.barh(0, beta, color=ADEQUACY)
    box.barh(0, 1 - beta, left=beta, color=FLUENCY)
    box.set(xlim=(0, 1))
    box.axis("off")


def ramps(ax: plt.Axes, cells, limits=(0.0, 1.0), bins: int = 8, shades: int = 24) -> mpl.image.AxesImage:
    """Cells of (ESS, β), each a ramp from mean − std at its bottom to mean + std at its top; the others stay grey.

    `cells` is a table as `sampling.cells` gives it: bin numbers ess and beta, their lower edges ess_from and beta_from,
    mean, std. ESS runs to the right, β upwards.
    """
    ess, beta = (_edges(cells[name], cells[f"{name}_from"], bins) for name in ("ess", "beta"))
    image = np.full((bins, shades, bins), np.nan)
    mean, std = (cells[name].to_numpy()[:, None] for name in ("mean", "std"))
    image[cells["beta"], :, cells["ess"]] = mean + std * np.linspace(-1, 1, shades)
    shown = ax.imshow(image.reshape(bins * shades, bins), origin="lower", aspect="auto", interpolation="nearest",
                      cmap=PREFERENCE, vmin=limits[0], vmax=limits[1], extent=(ess[0], ess[-1], beta[0], beta[-1]))
    ax.vlines(ess[1:-1], beta[0], beta[-1], color=PAPER, lw=1.0)
    ax.hlines(beta[1:-1], ess[0], ess[-1], color=PAPER, lw=1.0)
    ax.grid(visible=False)
    return shown


def _edges(bin_, lower, bins: int) -> np.ndarray:
    """All edges of equal bins from the numbers and lower edges of some of them, at least two."""
    step = np.ptp(lower) / np.ptp(bin_)
    return lower.min() + step * (np.arange(bins + 1) - bin_.min())
