"""All that a ranking needs, put together once: a dataset that ships or a `Pool`, and your own scorers among its own.

A digest holds the p-values of people and of the shipped scorers, so a new scorer needs nothing but its segment scores. A
pool holds segment scores; its p-values are computed here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tqdm import tqdm

from ..core import check
from ..core.check import Array, DataError
from ..core.permutation import p_counts
from ..data.digest import dataset_of
from ..data.frames import Frame, aligned
from ..data.pool import refuse_constant
from ..data.protocol import ASPECTS, HIDDEN as HIDDEN, Dataset, refuse_taken, scored_lines
from ..data.userfiles import read_scorers

One = ArrayLike | Frame | Mapping[str, Any] | str | os.PathLike[str]  # what `own_scores` takes
Scores = Mapping[str, One] | One  # one scorer, or several by name
YOURS = "yours"  # what one scorer without a name is called


class Contest(NamedTuple):
    """All that a ranking needs: K systems, M scorers, p-values of P pairs; `own` marks scorers passed as `scores`.

    >>> from whichbird import load
    >>> c = contest(load("ende24"))
    >>> len(c.systems), c.human.shape, c.p.shape, c.scorers[0], bool(c.own.any())
    (16, (120,), (30, 120), 'BERTScore', False)
    """

    name: str
    systems: tuple[str, ...]
    adequacy: Array | None  # (K,)
    fluency: Array | None
    human: Array  # (P,) p-values
    scorers: list[str]  # M
    p: Array  # (M, P)
    own: NDArray[np.bool_]  # (M,)
    signature: str
    aliases: Mapping[str, str] = MappingProxyType({})  # other names of scorers, and whose they are
    source: Dataset | None = None  # where means and segments are, for meta-metrics that need them
    scores: Mapping[str, Array] = MappingProxyType({})  # your own as checked: segments (K, N), or p-values (P,)
    reference: str | None = None  # what the scorers compare with, where it is not the source's own

    @property
    def aspects(self) -> tuple[Array, Array] | None:
        """System means of adequacy and fluency, (K,) each; None where errors are not known."""
        return None if self.adequacy is None or self.fluency is None else (self.adequacy, self.fluency)

    @property
    def aspect_names(self) -> tuple[str, str]:
        """What the two aspects are called."""
        return ASPECTS if self.source is None else self.source.aspect_names


def contest(source: Dataset | str, scores: Scores | None = None, reference: str | None = None) -> Contest:
    """The scorers of `source` and your own `scores` (as `rank` takes them), every permutation test done.

    `rank` and `rank_sweep` make one themselves; make it first where both are wanted, or another `reference`: that of the
    paper, refA, unless you name the one WMT used, `source.info["standard"]`. Yours should have seen the same.

    >>> contest("ende24").p.shape
    (30, 120)
    """
    source = dataset_of(source)
    own = {name: own_scores(source, name, x) for name, x in named_scores(scores, source).items()}
    for name in own:
        refuse_taken(source, name)
    names = [*source.scorers, *own]
    if not names:
        raise DataError(f"{source.name} has no scorer to rank; at least one is needed")
    tested = source.tested(reference)
    count = partial(p_counts, permutations=tested.permutations, seed=tested.seed, exact=tested.exact)
    p = [
        x if x.ndim == 1 else count(x) / tested.permutations
        for x in tqdm(own.values(), desc="permutation tests", delay=1, leave=False, disable=None)
    ]
    adequacy, fluency = aspects(source)
    return Contest(
        source.name,
        source.systems,
        adequacy,
        fluency,
        tested.human,
        names,
        np.concatenate([tested.scorers, np.array(p).reshape(-1, tested.human.size)]),
        np.array([name in own for name in names]),
        tested.signature,
        source.aliases,
        source,
        own,
        reference,
    )


def aspects(source: Dataset) -> tuple[Array, Array] | tuple[None, None]:
    """System means of adequacy and fluency, (K,) each; None twice where they are not known."""
    return source.aspects or (None, None)


def need_aspects(source: Dataset | Contest) -> tuple[Array, Array]:
    """System means of adequacy and fluency, (K,) each; a source that has no balance to move is refused.

    >>> from whichbird import load
    >>> [x.shape for x in need_aspects(load("ende24"))]
    [(16,), (16,)]
    """
    if source.aspects is None:
        raise DataError(f"{source.name} can be ranked at its natural balance only: {HIDDEN}, so no other can be set")
    return source.aspects


def named_scores(scores: Scores | None, source: Dataset) -> dict[str, One]:
    """Scorers by name, each as `own_scores` takes it: a mapping as it is; one scorer without a name is called yours.

    A file, a frame with a column system, or a dictionary {system: scores} is read as `read_scorers` does, and names its scorers.

    >>> from whichbird import load
    >>> list(named_scores(np.zeros((16, 487)), load("ende24"))), named_scores(None, load("ende24"))
    (['yours'], {})
    """
    if scores is None:
        return {}
    if isinstance(scores, Mapping):
        one = bool(scores) and set(source.systems) <= set(scores)  # by system, and not by scorer
        return dict(read_scorers(scores, source)) if one else dict(scores)
    if isinstance(scores, str | os.PathLike) or isinstance(scores, Frame) and "system" in list(scores.columns):
        return dict(read_scorers(scores, source))
    return {YOURS: scores}


def own_scores(source: Dataset, name: str, x: One) -> Array:
    """A scorer of one's own, checked: p-values of all pairs (P,) as they are, or segment scores (K, N) on the rated lines.

    Segment scores are rows in the order of `source.systems`, columns the N rated lines that have a total or all
    `source.source_lines`, of which those are picked. A DataFrame goes by its labels, see `frames.aligned`. A file, a frame of pandas or
    polars with columns system, segment and score, or a dictionary {system: scores}, is read as `read_scorers` does.
    """
    if isinstance(x, Mapping | str | os.PathLike) or isinstance(x, Frame) and "system" in list(x.columns):
        x = read_scorers(x, source, name)[name]
    elif isinstance(x, Frame):
        x = aligned(x, source, f"scorer {name!r}")
    lines = scored_lines(source)
    x, k, n = np.asarray(x), len(source.systems), len(lines)
    if x.ndim == 1:
        p = check.vector(x, f"scorer {name!r}", k * (k - 1) // 2)
        if p.min() < 0 or p.max() > 1:
            raise ValueError(
                f"scorer {name!r} has a p-value {p[(p < 0) | (p > 1)][0]:g}; numbers from 0 to 1 are expected"
            )
        return p
    if x.ndim == 2 and x.shape[1] == source.source_lines:
        x = x[:, lines]  # before the check: what stands on lines nobody rated does not matter
    x = check.matrix(x, f"scorer {name!r}")
    if x.shape != (k, n):
        raise ValueError(
            f"scorer {name!r} has shape {x.shape}; {k} systems × {n} rated lines "
            f"(or all {source.source_lines} lines) are expected, or p-values of all {k * (k - 1) // 2} pairs"
        )
    refuse_constant(x, name)
    return x
