"""Augmented scorers: what has to be known of a scorer to move it along a known direction."""

from __future__ import annotations

import numpy as np


def offsets(x: np.ndarray, adequacy: np.ndarray, fluency: np.ndarray) -> np.ndarray:
    """Each system's mean of what its errors do not explain, in the scorer's units: shape (K,).

    `x` (K, N) are a scorer's segment scores; cells whose (adequacy, fluency) are exactly equal form a group, and a cell is
    explained by its group's mean score. Cells without a rating take no part.

    >>> offsets(np.array([[1.0, 3.0], [5.0, 7.0]]), np.zeros((2, 2)), np.array([[0, -1.0], [0, -1.0]]))
    array([-2.,  2.])
    """
    rated = ~np.isnan(adequacy)
    _, group = np.unique(np.stack([adequacy[rated], fluency[rated]], axis=1), axis=0, return_inverse=True)
    mean = np.bincount(group, x[rated]) / np.bincount(group)
    unexplained = np.zeros(x.shape)
    unexplained[rated] = x[rated] - mean[group]
    return unexplained.sum(axis=1) / rated.sum(axis=1)
