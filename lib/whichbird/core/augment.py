"""Augmented scorers: move a real scorer along a direction whose meaning is known, by a dial d.

Every family adds one constant per system, so the differences within a system, and with them SPA's sense of confidence,
stay what they were. Written on system means ȳ with spread SD(ȳ):

- adequacy-fluency: add d · SD · (z(adequacy) − z(fluency));
- adherence:        add d · SD · z(official human total);
- explainability:   subtract d · (what adequacy and fluency do not explain of ȳ).
"""

from __future__ import annotations

import numpy as np

from . import check
from .balance import resolution

DIALS = {
    "adequacy-fluency": np.arange(-25, 26) / 50,  # 51 equal steps, zero among them
    "adherence": -1.5 + 3.0 ** (np.arange(201) / 200),  # −0.5 … 1.5, wider steps further out; never zero
    "explainability": -3.5 + 4.0 ** (np.arange(201) / 200),  # −2.5 … 0.5, likewise
}
FAMILIES = tuple(DIALS)
for _grid in DIALS.values():
    _grid.flags.writeable = False


def offsets(x: np.ndarray, adequacy: np.ndarray, fluency: np.ndarray) -> np.ndarray:
    """Each system's mean of what its errors do not explain, in the scorer's units: shape (K,).

    `x` (K, N) are a scorer's segment scores; cells whose (adequacy, fluency) are exactly equal form a group, and a cell
    is explained by its group's mean score. Cells without a rating take no part.

    >>> offsets(np.array([[1.0, 3.0], [5.0, 7.0]]), np.zeros((2, 2)), np.array([[0, -1.0], [0, -1.0]]))
    array([-2.,  2.])
    """
    if not x.shape == adequacy.shape == fluency.shape:
        raise ValueError(f"x, adequacy, fluency have shapes {x.shape}, {adequacy.shape}, {fluency.shape}, not one")
    rated = ~np.isnan(adequacy)
    _, group = np.unique(np.stack([adequacy[rated], fluency[rated]], axis=1), axis=0, return_inverse=True)
    mean = np.bincount(group, x[rated]) / np.bincount(group)
    unexplained = np.zeros(x.shape)
    unexplained[rated] = x[rated] - mean[group]
    return unexplained.sum(axis=1) / rated.sum(axis=1)


def direction(family: str, means, total, adequacy, fluency, offset) -> np.ndarray:
    """What one unit of the dial adds to each system: shape (K,), in the scorer's units.

    `means`, `offset` (K,) are the scorer's system means and offsets; `total`, `adequacy`, `fluency` (K,) people's.

    >>> direction("adequacy-fluency", [0, 2], [-3, -1], [-2, 0], [-1, -1.5], None)
    array([-2.,  2.])
    """
    spread = np.std(check.vector(means, "means"))
    if family == "adequacy-fluency":
        return spread * (z_scores(adequacy) - z_scores(fluency))
    if family == "adherence":
        return spread * z_scores(total)
    if family == "explainability":
        return 0.0 - check.vector(offset, "offset")
    raise ValueError(f"unknown family {family!r}; one of {', '.join(FAMILIES)} is expected")


def shifts(family: str, means, total, adequacy, fluency, offset) -> np.ndarray:
    """What every dial of a family adds to each system: shape (dials, K).

    >>> shifts("adequacy-fluency", [0, 2], [-3, -1], [-2, 0], [-1, -1.5], None)[[0, 25, 50]] + 0
    array([[ 1., -1.],
           [ 0.,  0.],
           [-1.,  1.]])
    """
    step = direction(family, means, total, adequacy, fluency, offset)  # first: it refuses an unknown family
    return np.outer(DIALS[family], step)


def z_scores(x) -> np.ndarray:
    """(x − mean) / population standard deviation.

    >>> z_scores([1, 3])
    array([-1.,  1.])
    """
    x = check.vector(x, "x")
    if x.size == 0 or np.ptp(x) <= resolution(x):  # the computed spread of a constant is rounding, not 0
        raise ValueError("all systems have the same score; a z-score needs some spread")
    return (x - x.mean()) / x.std()
