"""Noise in the spread of system means: how much of a variance it is, and what that leaves open about β₀.

A pool is sums over G documents: `sums` (…, 2, G, K) of adequacy and of fluency, and `counts` (…, G, K) of the rated
cells they are sums of. A system's mean is its sum over its count. Documents are taken as independent draws from one
source of text; systems are fixed. Leading axes hold many pools at once.

**Noise.** What one document adds to the mean of system k is its residual, (sum − count · mean) / count in all. The
covariance C of the means is the sum over documents of residual × residual, each first divided by √(1 − share of the
document), which makes up for its own pull on the mean. What all systems share does not change how they spread, so
residuals are centred over systems. The variance of the means is then too large by tr(C) / K on average.

**Interval.** An observed variance has nearly the law of a noncentral chi-square; on the root scale, √(variance +
constant), that is nearly normal with a constant standard deviation. So the two roots lie in an ellipse, and the
balances of its points are the interval. Where the ellipse reaches a variance of zero, the interval reaches 0 or 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .check import Array

ANGLES = 1440  # points of an ellipse: between two of them β moves by far less than the last digit printed


class Spread(NamedTuple):
    """The spread of the means of K systems, for adequacy and fluency (last axis, 2), in squared units of the scores."""

    observed: Array  # (…, 2) variance of the means
    noise: Array  # (…, 2) how much of it is noise on average
    along: Array  # (…, 2) variance of √variance where the spread is large: noise in the direction of the spread
    square: Array  # (…, 2) variance of the observed variance if there were no true spread
    together: Array  # (…) correlation of the errors of the two
    documents: int

    @property
    def corrected(self) -> Array:
        """Unbiased variances (…, 2), without the noise. Negative at times, as an unbiased estimate of little must be."""
        out: Array = self.observed - self.noise
        return out

    def more(self, factor: float) -> Spread:
        """What to expect of so many times as many documents, if the corrected variances are the true ones."""
        return Spread(
            self.corrected + self.noise / factor,
            self.noise / factor,
            self.along / factor,
            self.square / factor**2,
            self.together,
            max(2, round(self.documents * factor)),
        )


def residuals(sums: Array, counts: Array) -> tuple[Array, Array]:
    """Means (…, 2, K) and what each document adds to them (…, 2, G, K), both centred over systems."""
    n = counts[..., None, :, :]
    total = n.sum(axis=-2, keepdims=True)
    mean = sums.sum(axis=-2, keepdims=True) / total
    out = (sums - n * mean) / total / np.sqrt(1 - n / total)
    return (mean - mean.mean(axis=-1, keepdims=True))[..., 0, :], out - out.mean(axis=-1, keepdims=True)


def spread(sums: Array, counts: Array) -> Spread:
    """Variances of system means and their noise, from sums (…, 2, G, K) and counts (…, G, K) over documents.

    >>> a, f = [[5.0, 1.0], [3.0, 3.0]], [[2.0, 0.0], [2.0, 0.0]]  # two documents of one segment, two systems
    >>> found = spread(np.array([a, f]), np.ones((2, 2)))
    >>> found.observed, found.noise.round(9)
    (array([1., 1.]), array([1., 0.]))
    """
    g, systems = sums.shape[-2:]
    mean, residual = residuals(sums, counts)
    observed = (mean**2).mean(axis=-1)
    noise = (residual**2).sum(axis=(-2, -1)) / systems
    # tr(C²), unbiased for normal documents, and never less than noise of this size has if it goes all ways alike
    covariance = np.swapaxes(residual, -1, -2) @ residual
    alike = (systems * noise) ** 2 / (systems - 1)
    free = (covariance**2).sum(axis=(-2, -1)) - (systems * noise) ** 2 / (g - 1)
    square = np.maximum(free * (g - 1) ** 2 / ((g - 2) * (g + 1)), alike) if g > 2 else alike
    square = square / systems**2
    pull = np.einsum("...gk,...k->...g", residual, mean) / systems  # of each document, in the direction of the spread
    along = (pull**2).sum(axis=-1)
    both = (pull[..., 0, :] * pull[..., 1, :]).sum(axis=-1)
    together = both / _or_one(np.sqrt(along[..., 0] * along[..., 1]))
    # per unit of variance, true pull and true variance: noise is taken off both, half of each at most
    along = np.maximum(along - square, along / 2) / _or_one(np.maximum(observed - noise, observed / 2))
    along = np.maximum(along, 0.01 * noise / (systems - 1))  # a spread without noise of its own has some neighbours'
    return Spread(observed, noise, along, 2 * g / (g - 1) * square, together, g)


def interval(s: Spread, quantile: float) -> tuple[Array, Array]:
    """The lowest and the highest balance (…) that go with a spread, `quantile` standard errors to each side.

    >>> s = Spread(np.array([1.0, 0.5]), np.array([0.1, 0.1]), np.array([0.01, 0.01]), np.zeros(2), np.array(0.0), 50)
    >>> [round(float(end), 3) for end in interval(s, 1.96)]
    [0.524, 0.836]
    """
    centre, floor, sd = roots(s)
    e = ellipse(s.together, quantile)
    a, f = np.moveaxis(np.maximum(centre[..., None] + sd[..., None] * e, floor[..., None]) ** 2, -2, 0)
    a, f = a - floor[..., 0, None] ** 2, f - floor[..., 1, None] ** 2
    some = a + f > 0
    beta = a / np.where(some, a + f, 1.0)
    low, high = np.where(some, beta, 1.0).min(axis=-1), np.where(some, beta, 0.0).max(axis=-1)
    open_ = _distance(s) <= quantile  # no spread at all goes with the data, so nothing is ruled out
    return np.where(open_, 0.0, low), np.where(open_, 1.0, high)


def ellipse(together: Array, quantile: float) -> Array:
    """Points (…, 2, ANGLES) whose distance from 0 is `quantile`, for two errors of variance 1 and this correlation (…)."""
    angle = np.linspace(0, 2 * np.pi, ANGLES, endpoint=False)
    r = np.asarray(together)[..., None]
    first = np.cos(angle) + 0 * r
    return quantile * np.stack([first, r * first + np.sqrt(np.maximum(1 - r**2, 0)) * np.sin(angle)], axis=-2)


def roots(s: Spread) -> tuple[Array, Array, Array]:
    """The variances on the root scale, where a true variance of zero would lie, and the standard deviation: (…, 2) each.

    The constants under the root are Sankaran's for a noncentral chi-square: they take the bias of a root away. An
    estimate below zero is taken as zero.
    """
    lift = s.square / (4 * _or_one(s.along))
    floor = np.sqrt(np.maximum(lift - s.along / 2, 0))
    root = np.sqrt(np.maximum(s.corrected + lift + s.along / 2, 0))
    return np.maximum(root, floor), floor, np.sqrt(s.along)


def _distance(s: Spread) -> Array:
    """How far no spread at all lies from the estimate, in standard errors: (…)."""
    centre, floor, sd = roots(s)
    z = np.where(sd > 0, (centre - floor) / _or_one(sd), np.where(centre > floor, np.inf, 0.0))
    r = np.clip(s.together, -0.999999, 0.999999)
    with np.errstate(invalid="ignore"):
        q = (z[..., 0] ** 2 + z[..., 1] ** 2 - 2 * r * z[..., 0] * z[..., 1]) / (1 - r**2)
    return np.sqrt(np.where(np.isnan(q), np.inf, q))


def _or_one(x: Array) -> Array:
    """x, with one in place of zero, to divide by."""
    return np.where(x > 0, x, 1.0)
