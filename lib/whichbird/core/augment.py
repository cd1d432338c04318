"""Augmented scorers: move a real scorer along a direction whose meaning is known, by a dial d.

Every family adds one constant per system, so the differences within a system, and with them SPA's sense of confidence,
stay what they were. Written on system means ȳ with spread SD(ȳ):

- adequacy-fluency:   add d · SD · (z(adequacy) − z(fluency));
- adherence:          add d · SD · z(official human total);
- explainability:     subtract d · (what adequacy and fluency do not explain of ȳ);
- adequacy-adherence: add d · SD · z(adequacy), and
- fluency-adherence:  add d · SD · z(fluency), which the paper names and leaves out: the aspects correlate, so that
  a taste for one is in part a taste for the other.

A family is a record in `FAMILIES`; digests, sweeps, tables and the explorer follow from there.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import check
from .balance import resolution


class Family(NamedTuple):
    """Scorers made from one by a dial: the dials, what one unit of the dial adds, and what must be known for that.

    `direction` takes the spread of the scorer's system means and, by name, whatever `needs` lists of total, adequacy,
    fluency (people's system means) and offset (see `offsets`), each (K,). It returns (K,), in the scorer's units.
    """

    title: str  # what the measure made of it is called
    dials: np.ndarray  # increasing
    needs: tuple[str, ...]
    direction: Callable[..., np.ndarray]

    def possible(self, known: Container[str]) -> bool:
        """Whether everything it needs is among the names `known`; offsets follow from the aspects.

        >>> FAMILIES["adherence"].possible(["total"]), FAMILIES["explainability"].possible(["total"])
        (True, False)
        """
        return all(name in known for need in self.needs for name in _FROM.get(need, (need,)))


_FROM = {"offset": ("adequacy", "fluency")}
_STEPS = np.arange(201) / 200
_EVEN = np.arange(-25, 26) / 50  # 51 equal steps, zero among them
_OUTWARD = -1.5 + 3.0**_STEPS  # −0.5 … 1.5, wider steps further out; never zero
_INWARD = -3.5 + 4.0**_STEPS  # −2.5 … 0.5, likewise
for _grid in (_EVEN, _OUTWARD, _INWARD):
    _grid.flags.writeable = False


def _towards(scores: str) -> Callable[..., np.ndarray]:
    return lambda spread, **people: spread * z_scores(people[scores])


FAMILIES = {
    "adequacy-fluency": Family(
        "adequacy over fluency", _EVEN, ("adequacy", "fluency"),
        lambda spread, adequacy, fluency: spread * (z_scores(adequacy) - z_scores(fluency)),
    ),
    "adherence": Family("MQM adherence", _OUTWARD, ("total",), _towards("total")),
    "explainability": Family(
        "explainability by MQM", _INWARD, ("offset",), lambda spread, offset: 0.0 - check.vector(offset, "offset")
    ),
    "adequacy-adherence": Family("adequacy adherence", _OUTWARD, ("adequacy",), _towards("adequacy")),
    "fluency-adherence": Family("fluency adherence", _OUTWARD, ("fluency",), _towards("fluency")),
}  # fmt: skip
PAPER_FAMILIES = ("adequacy-fluency", "adherence", "explainability")  # what the paper's figures show, in its order
DIALS = {name: family.dials for name, family in FAMILIES.items()}


def offsets(x: np.ndarray, adequacy: np.ndarray, fluency: np.ndarray) -> np.ndarray:
    """Each system's mean of what its errors do not explain, in the scorer's units: shape (K,).

    `x` (K, N) are a scorer's segment scores; cells whose (adequacy, fluency) are exactly equal form a group, and a cell
    is explained by its group's mean score. Cells without a rating or a score take no part.

    >>> offsets(np.array([[1.0, 3.0], [5.0, 7.0]]), np.zeros((2, 2)), np.array([[0, -1.0], [0, -1.0]]))
    array([-2.,  2.])
    """
    if not x.shape == adequacy.shape == fluency.shape:
        raise ValueError(f"x, adequacy, fluency have shapes {x.shape}, {adequacy.shape}, {fluency.shape}, not one")
    rated = ~np.isnan(adequacy) & ~np.isnan(x)
    _, group = np.unique(np.stack([adequacy[rated], fluency[rated]], axis=1), axis=0, return_inverse=True)
    mean = np.bincount(group, x[rated]) / np.bincount(group)
    unexplained = np.zeros(x.shape)
    unexplained[rated] = x[rated] - mean[group]
    mean_left: np.ndarray = unexplained.sum(axis=1) / rated.sum(axis=1)
    return mean_left


def direction(
    family: str, means: ArrayLike, total: ArrayLike, adequacy: ArrayLike | None, fluency: ArrayLike | None,
    offset: ArrayLike | None,
) -> np.ndarray:  # fmt: skip
    """What one unit of the dial adds to each system: shape (K,), in the scorer's units.

    `means`, `offset` (K,) are the scorer's system means and offsets; `total`, `adequacy`, `fluency` (K,) people's. What a
    family does not need may be None.

    >>> direction("adequacy-fluency", [0, 2], [-3, -1], [-2, 0], [-1, -1.5], None)
    array([-2.,  2.])
    """
    if family not in FAMILIES:
        raise ValueError(f"unknown family {family!r}; one of {', '.join(FAMILIES)} is expected")
    known = {"total": total, "adequacy": adequacy, "fluency": fluency, "offset": offset}
    spread = np.std(check.vector(means, "means"))
    return FAMILIES[family].direction(spread, **{name: known[name] for name in FAMILIES[family].needs})


def shifts(
    family: str, means: ArrayLike, total: ArrayLike, adequacy: ArrayLike | None, fluency: ArrayLike | None,
    offset: ArrayLike | None,
) -> np.ndarray:  # fmt: skip
    """What every dial of a family adds to each system: shape (dials, K).

    >>> shifts("adequacy-fluency", [0, 2], [-3, -1], [-2, 0], [-1, -1.5], None)[[0, 25, 50]] + 0
    array([[ 1., -1.],
           [ 0.,  0.],
           [-1.,  1.]])
    """
    step = direction(family, means, total, adequacy, fluency, offset)  # first: it refuses an unknown family
    return np.outer(DIALS[family], step)


def z_scores(x: ArrayLike) -> np.ndarray:
    """(x − mean) / population standard deviation.

    >>> z_scores([1, 3])
    array([-1.,  1.])
    """
    x = check.vector(x, "x")
    if x.size == 0 or np.ptp(x) <= resolution(x):  # the computed spread of a constant is rounding, not 0
        raise ValueError("all systems have the same score; a z-score needs some spread")
    z: np.ndarray = (x - x.mean()) / x.std()
    return z
