"""Kinds of text: which there are in a pool, and the pool that is left if only one of them counts.

The releases name the domain of each segment. Names of one year are kept as they are, but for those that only say which
test set a line comes from: `KINDS` says what kind of text that is. Product pages of 2022 (ecommerce) and users' reviews
of 2023 (user_review) come from other sources and stay apart.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.check import DataError, near
from .digest import Digest
from .pool import Pool, pick
from .segments import pool_of

KINDS = {"newstest2020": "news", "newstest2021": "news", "tedtalks": "ted"}  # a release's name: the kind of text


def segment_domains(pool: Pool) -> tuple[str, ...]:
    """Return the domain (news, literary, …) of each of the N segments; a pool that names no domains is refused.

    >>> from whichbird import load_pool
    >>> sorted(set(segment_domains(load_pool("zhen23")))), set(segment_domains(load_pool("ende21")))
    (['manuals', 'news', 'user_review'], {'news'})
    """
    if pool.domains is None:
        raise DataError(f"{pool.name} does not say which domain a segment belongs to, so none can be picked")
    return tuple(KINDS.get(name, name) for name in pool.domains)


def in_domain(source: Pool | Digest | str, domain: str) -> Pool:
    """The pool of the segments of one domain: the same systems and scorers, called name/domain.

    Counts of errors are not kept by segment, so they are left out. A domain of a single document is refused: nothing
    could be said about another.

    >>> from whichbird import balance
    >>> news = in_domain("ende24", "news")
    >>> news.name, news.adequacy.shape, round(balance(*news.aspects), 3)
    ('ende24/news', (16, 90), 0.871)
    """
    pool = pool_of(source)
    found = segment_domains(pool)
    there = list(dict.fromkeys(found))
    wanted = KINDS.get(domain, domain)
    if wanted not in there:
        raise DataError(f"{pool.name} has no domain {domain!r}; it has {', '.join(sorted(there))}{near(domain, there)}")
    keep = np.array([kind == wanted for kind in found])
    documents = documents_in(pool, keep)
    if documents < 2:
        what = "segment" if pool.documents is None else "document"
        raise DataError(f"{pool.name}: domain {wanted!r} has one {what} only; at least two {what}s are needed")
    return pick(pool, keep, f"{pool.name}/{wanted}")


def documents_in(pool: Pool, keep: NDArray[np.bool_]) -> int:
    """How many documents the segments `keep` (N,) belong to; without documents each segment is one."""
    return int(keep.sum()) if pool.documents is None else len(set(np.array(pool.documents)[keep].tolist()))
