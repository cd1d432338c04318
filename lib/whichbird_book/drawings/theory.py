"""Figures of chapters 3.4 and 3.5, and of appendices A and B."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from whichbird.core.check import Array
from whichbird.show import figures


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
