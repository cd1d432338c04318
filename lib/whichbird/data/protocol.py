"""What a `Digest` and a `Pool` have in common: whoever needs no more takes either, and asks no questions.

A digest holds p-values and no segments; a pool holds segments, and computes its p-values when asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from .._version import __version__

if TYPE_CHECKING:
    from .pool import Pool

HIDDEN = "its error ratings were not obtained"  # heen23's; see data/README.md


class Tested(NamedTuple):
    """The permutation tests of a dataset: p-values of P = K(K−1)/2 pairs k < k′, and what they rest on."""

    human: np.ndarray  # (P,) people's official total
    scorers: np.ndarray  # (M, P), in the order of the dataset's scorers
    permutations: int
    seed: int
    signature: str


class Dataset(Protocol):
    """K systems, M scorers, N rated segments."""

    @property
    def name(self) -> str: ...

    @property
    def systems(self) -> tuple[str, ...]:
        """K names, sorted."""

    @property
    def scorers(self) -> Collection[str]:
        """M names: going through it gives them in order."""

    @property
    def lines(self) -> np.ndarray:
        """The rated source lines, from 0: shape (N,)."""

    @property
    def source_lines(self) -> int:
        """How many source lines there are, rated or not."""

    @property
    def reference(self) -> str:
        """The reference that the scorers saw."""

    @property
    def rated(self) -> np.ndarray:
        """How many segments of each system are rated: shape (K,)."""

    @property
    def aspects(self) -> tuple[np.ndarray, np.ndarray] | None:
        """System means of adequacy and fluency, (K,) each; None where errors are not known."""

    @property
    def signature(self) -> str:
        """One line that says what a number rests on."""

    def tested(self, reference: str | None = None) -> Tested:
        """Its p-values, with the scorers' reference named, or its own."""


def signature(d: Dataset, permutations: int, seed: int, release: str = "") -> str:
    """One line that says what a number rests on; see `Digest.signature` for an example."""
    return (
        f"{d.name}|sys:{len(d.systems)}|seg:{len(d.lines)}|ref:{d.reference}|perm:{permutations}"
        f"|seed:{seed}|{f'{release}|' if release else ''}whichbird:{__version__}"
    )


def fingerprint(pool: Pool) -> str:
    """A checksum of a pool's names and numbers; a digest keeps that of the pool it was made from.

    So a file of segments and a digest can tell whether they belong together.
    """
    out = hashlib.sha256("\0".join([pool.name, pool.reference, *pool.systems, *pool.scorers]).encode())
    for x in (pool.lines, pool.total, pool.adequacy, pool.fluency, *pool.scorers.values()):
        if x is not None:
            out.update(np.ascontiguousarray(x, dtype="<f8").tobytes())
    return out.hexdigest()
