"""Refusals: every array that enters the library passes here once, and is refused with one sentence if it is not usable."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class DataError(ValueError):
    """A file that cannot be used: the sentence names the file, the place in it, and what would be accepted.

    >>> from whichbird import load
    >>> load("ende42")
    Traceback (most recent call last):
    ...
    whichbird.core.check.DataError: unknown dataset 'ende42'; did you mean 'ende24' or 'ende23' or 'ende22'?
    """


def near(name: str, others: Iterable[str], ask: str = "did you mean") -> str:
    """A question that names the closest of `others`, three at most, to end a refusal of `name` with; or nothing.

    >>> near("ende42", ["ende24", "jazh24", "BLEU"])
    "; did you mean 'ende24'?"
    >>> near("bleu", ["ende24", "jazh24", "BLEU"])
    "; did you mean 'BLEU'?"
    """
    small: dict[str, str] = {}
    for other in others:
        small.setdefault(str(other).casefold(), other)
    close = [small[key] for key in difflib.get_close_matches(str(name).casefold(), small, n=3, cutoff=0.5)]
    return f"; {ask} {' or '.join(map(repr, close))}?" if close else ""


def vector(x: ArrayLike, name: str, length: int | None = None) -> Array:
    """Return `x` as a float64 vector of finite numbers, or raise ValueError naming what is wrong.

    >>> vector([1, 2], "adequacy")
    array([1., 2.])
    >>> vector([1, float("nan")], "adequacy")
    Traceback (most recent call last):
    ...
    ValueError: adequacy[1] is nan; every value must be a finite number
    """
    out = _floats(x, name)
    if out.ndim != 1:
        raise ValueError(f"{name} has shape {out.shape}; one value per system is expected, a vector")
    if length is not None and out.size != length:
        raise ValueError(f"{name} has {out.size} values where {length} are expected")
    _finite(out, name)
    return out


def matrix(x: ArrayLike, name: str, allow_nan: bool = False) -> Array:
    """Return `x` as a float64 matrix, systems × segments; NaN marks a missing cell where `allow_nan`.

    >>> matrix([[1, 2], [3, 4]], "scores").shape
    (2, 2)
    """
    out = _floats(x, name)
    if out.ndim != 2:
        raise ValueError(f"{name} has shape {out.shape}; a matrix, systems × segments, is expected")
    _finite(out, name, allow_nan)
    return out


def same_labels(x: object, y: object, name: str, other: str) -> None:
    """Refuse two labelled tables or columns, as pandas has them, whose labels differ: by position they would be mixed up.

    Labels 0, 1, … in order are none.

    >>> import pandas as pd
    >>> same_labels(pd.Series([1.0, 2.0], ["x", "y"]), pd.Series([2.0, 1.0], ["y", "x"]), "human", "scorer")
    Traceback (most recent call last):
    ...
    ValueError: human and scorer have other labels, or in another order, the first 'x' and 'y'; bring them into one order
    """
    if not (hasattr(x, "to_numpy") and hasattr(y, "to_numpy")):
        return
    for axis in ("index", "columns"):
        mine, theirs = (list(getattr(table, axis, ())) for table in (x, y))
        plain = list(range(len(mine)))
        if len(mine) == len(theirs) and mine != theirs and (plain not in (mine, theirs) or set(mine) == set(theirs)):
            first = next(n for n, label in enumerate(mine) if label != theirs[n])
            raise ValueError(
                f"{name} and {other} have other labels, or in another order, the first {mine[first]!r} and "
                f"{theirs[first]!r}; bring them into one order"
            )


def counts(x: ArrayLike, name: str) -> np.ndarray:
    """Return `x` as an array of whole numbers, of whatever integer type it has.

    >>> counts([0.5], "human")
    Traceback (most recent call last):
    ...
    ValueError: human holds float64; whole numbers of permutations are expected
    """
    out = np.asarray(x)
    if out.dtype.kind not in "iu":
        raise ValueError(f"{name} holds {out.dtype}; whole numbers of permutations are expected")
    return out


def weights(w: ArrayLike | None, length: int) -> Array:
    """Return `w` normalised to sum one; uniform when `w` is None.

    >>> weights([1, 3], 2)
    array([0.25, 0.75])
    """
    if w is None:
        return np.full(length, 1.0 / length)
    out = vector(w, "weights", length)
    if (out < 0).any():
        k = int(np.argmin(out))
        raise ValueError(f"weights[{k}] is {out[k]:g}; a weight cannot be negative")
    total = out.sum()
    if not 0 < total < np.inf:
        raise ValueError(f"the weights sum to {total:g}; their sum must be positive and finite")
    shares: Array = out / total
    return shares


def _floats(x: ArrayLike, name: str) -> Array:
    try:
        return np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} holds something that is not a number, or rows of unequal length") from None


def _finite(out: Array, name: str, allow_nan: bool = False) -> None:
    bad = np.isinf(out) if allow_nan else ~np.isfinite(out)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        index = ", ".join(map(str, where))
        raise ValueError(f"{name}[{index}] is {out[where]}; every value must be a finite number")


def whole(value: int, name: str, least: int = 1) -> None:
    """Refuse what is no whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} is {value}; a whole number of at least {least} is expected")


def share(value: float, name: str) -> None:
    """Refuse what does not lie between 0 and 1."""
    if not 0 < value < 1:
        raise ValueError(f"{name} is {value}; a number between 0 and 1 is expected")
