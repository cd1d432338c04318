"""Location and scatter of a cloud of systems that no single system can drag along, and distances measured by them.

The estimator is that of Gnanadesikan and Kettenring (1972), for two variables. It rests on an identity: the variance of
a sum minus that of the difference is four times the covariance. With a robust spread in the place of the standard
deviation, what comes out is robust.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from whichbird.core import check
from whichbird.core.check import Array

NORMAL = 0.6744897501960817  # half of a standard normal sample lies within this distance of its median


class Scatter(NamedTuple):
    """`centre` (2,) and `matrix` (2, 2), symmetric and positive definite, in the data's units and their squares."""

    centre: Array
    matrix: Array


def spread(x: ArrayLike) -> float:
    """The median distance of x (K,) from its median, scaled to be the standard deviation of a normal sample.

    >>> round(spread([1, 2, 3, 4, 900]), 4)
    1.4826
    """
    x = check.vector(x, "x")
    return float(np.median(np.abs(x - np.median(x))) / NORMAL)


def scatter(adequacy: ArrayLike, fluency: ArrayLike) -> Scatter:
    """Medians, robust spreads, and the correlation of the spreads of sum and difference; both vectors are (K,).

    With s₊ and s₋ the spreads of the sum and the difference of the standardised aspects, the correlation is
    (s₊² − s₋²) / (s₊² + s₋²). For variances the denominator is 4. For robust spreads it need not be, and then the
    plainer (s₊² − s₋²) / 4 can exceed 1. The quotient cannot, so the matrix is positive definite without repair.

    Shifting or rescaling either aspect shifts and rescales the result. Rotating the plane does not rotate it.

    >>> centre, matrix = scatter([1, 2, 3, 4, 9, 7], [2, 1, 4, 3, 5, 20])
    >>> centre, matrix.round(2)
    (array([3.5, 3.5]), array([[8.79, 5.36],
           [5.36, 4.95]]))
    """
    points = {"adequacy": check.vector(adequacy, "adequacy")}
    points["fluency"] = check.vector(fluency, "fluency", points["adequacy"].size)
    centre = np.array([np.median(x) for x in points.values()])
    scale = np.array([_differ(x, name) for name, x in points.items()])
    a, f = ((x - c) / s for x, c, s in zip(points.values(), centre, scale, strict=True))
    plus, minus = _differ(a + f, "the sum of both aspects") ** 2, _differ(a - f, "the difference of both aspects") ** 2
    rho = (plus - minus) / (plus + minus)
    return Scatter(centre, np.outer(scale, scale) * [[1, rho], [rho, 1]])


def distance(cloud: Scatter, adequacy: ArrayLike, fluency: ArrayLike) -> Array:
    """Mahalanobis distance from the centre of a cloud, of points given by two arrays of any one shape.

    >>> distance(Scatter(np.zeros(2), np.diag([4, 1])), [2, 0, 4], [0, 1, 0])
    array([1., 1., 2.])
    """
    away = np.stack([np.asarray(adequacy) - cloud.centre[0], np.asarray(fluency) - cloud.centre[1]], axis=-1)
    squared: Array = np.einsum("...i,ij,...j->...", away, np.linalg.inv(cloud.matrix), away)
    return np.sqrt(squared)


def _differ(x: Array, name: str) -> float:
    """The spread of x, refused where it is zero up to rounding: the matrix would be singular."""
    value = spread(x)
    if value <= 1e-12 * np.ptp(x):
        raise ValueError(f"half of the systems or more share one value of {name}; a scatter needs them to differ")
    return value
