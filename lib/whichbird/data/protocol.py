"""What a `Digest` and a `Pool` have in common. Code that needs only these attributes accepts both types.

A digest holds p-values and no segments; a pool holds segments, and computes its p-values when asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from ..core.check import DataError, near
from .registry import display

if TYPE_CHECKING:
    from .pool import Pool

ASPECTS = ("adequacy", "fluency")  # what the two aspects are called unless a source says otherwise
HIDDEN = "its error ratings were not obtained"  # heen23's; see data/README.md


class Tested(NamedTuple):
    """The permutation tests of a dataset: p-values of P = K(K−1)/2 pairs k < k′, and what they rest on."""

    human: np.ndarray  # (P,) people's official total
    scorers: np.ndarray  # (M, P), in the order of the dataset's scorers
    permutations: int
    seed: int
    signature: str
    exact: bool = False  # how ties were told: see `p_values`


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
        """The rated source lines, from 0: shape (N,). Not each of them need have both kinds of rating."""

    @property
    def official(self) -> NDArray[np.bool_]:
        """Which of these lines have an official total: shape (N,). P-values rest on them."""

    @property
    def annotated(self) -> NDArray[np.bool_]:
        """Which have ratings of errors: shape (N,). Adequacy, fluency and β rest on them."""

    @property
    def aliases(self) -> Mapping[str, str]:
        """Other names of scorers, for the same scores: the name that is shown by each."""

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
    def aspect_names(self) -> tuple[str, str]:
        """What the two aspects are called: adequacy and fluency, unless the source says otherwise."""

    @property
    def dropped(self) -> tuple[str, ...]:
        """The systems that `without` left out."""

    @property
    def signature(self) -> str:
        """One line that says what a number rests on."""

    def tested(self, reference: str | None = None) -> Tested:
        """Its p-values, with the scorers' reference named, or its own."""


def scored_lines(d: Dataset) -> np.ndarray:
    """The source lines on which scorers are compared with people, from 0: those that have an official total."""
    lines: np.ndarray = d.lines[d.official]
    return lines


def remaining(d: Dataset, names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which systems are left when some, by name, are left out: shape (K,). An unknown name is refused, as are too many.

    >>> from whichbird import load
    >>> remaining(load("ende24"), ("IKUN-C",)).sum()
    np.int64(15)
    """
    for name in names:
        if name not in d.systems:
            said = near(name, d.systems) or f"; it has {', '.join(d.systems)}"
            raise DataError(f"{d.name} has no system {name!r} to leave out{said}")
    keep: NDArray[np.bool_] = np.array([system not in names for system in d.systems])
    if keep.sum() < 2:
        raise DataError(f"{d.name}: without {', '.join(names)} {keep.sum()} of its systems are left; two are needed")
    return keep


def renamed(d: Dataset, names: tuple[str, ...]) -> str:
    """What a dataset is called once systems are left out, so that headers and signatures say so."""
    base = d.name.partition(" without ")[0]
    return f"{base} without {', '.join([*d.dropped, *names])}"


class Named(Protocol):
    """Scorers by name: a dataset, a contest, a verdict."""

    @property
    def name(self) -> str: ...

    @property
    def scorers(self) -> Collection[str]: ...

    @property
    def aliases(self) -> Mapping[str, str]: ...


def scorer_named(source: Named, name: str) -> str:
    """The name that a scorer has in data, where `name` is that, what people read for it, or an alias; else a refusal.

    >>> from whichbird import load
    >>> scorer_named(load("ende24"), "XLsimDA"), scorer_named(load("ende24"), "GEMBA-ESA")
    ('XLsimMqm', 'gemba_esa')
    """
    if name in source.scorers:
        return name
    if name in source.aliases:
        return source.aliases[name]
    known = [*source.scorers, *source.aliases]
    read = {display(scorer): scorer for scorer in reversed(known)}
    if name in read:
        return scorer_named(source, read[name])
    raise DataError(f"{source.name} has no scorer {name!r}{near(name, [*known, *read])}")


def refuse_taken(source: Named, name: str, how: str = "give yours another name") -> None:
    """Refuse a name for a scorer of one's own that a scorer of the source has."""
    if name in source.scorers or name in source.aliases:
        raise DataError(f"{source.name} has a scorer {name!r} already; {how}")


def segments(d: Dataset) -> str:
    """How many lines a dataset rests on, for a signature: those with totals, and those with errors where it is not the same.

    >>> from whichbird import load
    >>> segments(load("ende24")), segments(load("enru22"))
    ('seg:487', 'seg:1315|errors:1215')
    """
    apart = d.aspects is not None and not (d.official & d.annotated).all()
    return f"seg:{int(d.official.sum())}" + (f"|errors:{int(d.annotated.sum())}" if apart else "")


def signature(d: Dataset, permutations: int, seed: int, release: str = "") -> str:
    """One line that says what a number rests on; see `Digest.signature` for an example."""
    aspects = "" if d.aspect_names == ASPECTS else f"|aspects:{','.join(d.aspect_names)}"
    return (
        f"{d.name}|sys:{len(d.systems)}|{segments(d)}{aspects}|ref:{d.reference}|perm:{permutations}"
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
