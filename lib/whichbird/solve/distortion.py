"""How uneven a weighting is, and how to say so in numbers: the seam at which `reweight` takes another measure.

A distortion is a function of the weights that is convex, the same for any order of the systems, and least where all
weights are equal. Nothing else is asked of it, and these three are what the solvers rest on: on the way from the uniform
weighting to any other it grows, so a target above the natural balance may be read as "at least"; and on a given number
of systems it is least where they share the weight equally.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Distortion:
    """A measure of unevenness by name: its `value` at weights (K,), its `gradient` (K,), and its `size`.

    `size` is the effective number of systems: K for equal weights, and m where m systems share the weight equally.

    >>> third = Distortion("cubes", lambda w: float((w**3).sum()), lambda w: 3 * w**2, lambda w: float((w**3).sum() ** -0.5))
    >>> round(third.size(np.array([0.5, 0.5, 0.0])), 12)
    2.0
    """

    name: str
    value: Callable[[np.ndarray], float]
    gradient: Callable[[np.ndarray], np.ndarray]
    size: Callable[[np.ndarray], float]


def kl(w: np.ndarray) -> float:
    """Σ w log(K w), the divergence of weights (K,) from uniform, in nats; a weight of zero adds nothing.

    >>> round(kl(np.array([0.5, 0.5, 0, 0])), 6)  # log 2
    0.693147
    """
    on = w[w > 0]
    return float(on @ np.log(on * w.size))


def _kl_gradient(w: np.ndarray) -> np.ndarray:
    return np.asarray(1 + np.log(np.maximum(w, 1e-300) * w.size))


COLLISION = Distortion("collision", lambda w: float(w @ w), lambda w: 2 * w, lambda w: float(1 / (w @ w)))
KL = Distortion("kl", kl, _kl_gradient, lambda w: float(w.size * np.exp(-kl(w))))
DISTORTIONS = {d.name: d for d in (COLLISION, KL)}


def distortion(which: str | Distortion) -> Distortion:
    """The record of a name, or the record itself.

    >>> distortion("kl").name
    'kl'
    >>> distortion("entropy")
    Traceback (most recent call last):
    ...
    ValueError: distortion is 'entropy'; one of 'collision', 'kl'... is expected
    """
    if isinstance(which, Distortion):
        return which
    if which not in DISTORTIONS:
        names = ", ".join(map(repr, DISTORTIONS))
        raise ValueError(f"distortion is {which!r}; one of {names} or a Distortion is expected")
    return DISTORTIONS[which]
