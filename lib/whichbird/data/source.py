"""One way to name data: a dataset that ships, human ratings of your own, or a tree in the form of mt-metrics-eval.

`source` turns each into a `Digest` or a `Pool`, and applies what belongs to it: the two aspects, systems left out, the
taxonomy of errors, the scorers' reference, one kind of text, and what several ratings of a cell become.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..core.check import DataError, near
from .aspects import check_known, check_vary, two_aspects
from .digest import Digest, known, load
from .domains import in_domain
from .frames import Frame
from .mqm import TAXONOMY
from .pool import Pool, Rating, pick
from .protocol import ASPECTS, scored_lines
from .registry import IN_TREE, ships as ships
from .segments import pool_of
from .taxonomies import Grouping, load_taxonomy

MEAN, EACH = "mean", "each"  # what several ratings of a cell become; else the name of a rater


def source(
    given: str | os.PathLike[str] | Frame | Pool | Digest | None = None,
    *,
    human: str | os.PathLike[str] | Frame | None = None,
    mtme: str | os.PathLike[str] | None = None,
    set: str | None = None,
    pair: str | None = None,
    scores: str | os.PathLike[str] | Frame | Mapping[str, Any] | None = None,
    aspects: str | Sequence[str] | None = None,
    without: Iterable[str] = (),
    taxonomy: str | Path | Grouping | None = None,
    reference: str | None = None,
    domain: str | None = None,
    raters: str = MEAN,
    allow_uncounted: bool = False,
) -> Digest | Pool:
    """The data that are meant: a `Digest` where what ships is enough, else a `Pool`.

    `given` is the name of a dataset that ships (else a file: see `human`), a pool or a digest; `human` a file or frame of
    ratings, as `read_human` takes it; `mtme` an unpacked tree, with `set` and `pair`. `scores` are files, frames or
    arrays of scorers of your own ratings, as `contest` takes them.

    `aspects` names two columns of ratings, as "relevance,coherence": the first takes adequacy's place, β is its share;
    "a+b,c" adds columns up, "-x" is for a column where lower is better. `without` leaves out systems. `taxonomy`
    sorts MQM errors another way. `reference` is the scorers' ("standard": the one WMT used). `domain` takes one kind of
    text alone. `raters` says what several ratings of a cell become: their "mean"; "each" by itself, as if it were another
    segment of the same document; or those of one rater, by name.

    >>> source("ende24", without=["IKUN-C"]), source("ende24", aspects="fluency,adequacy").aspect_names
    (<Digest ende24 without IKUN-C|sys:15|...>, ('fluency', 'adequacy'))
    """
    if sum(x is not None for x in (given, human, mtme)) != 1:
        raise DataError("one source is expected: a dataset that ships, human ratings (--human), or a tree (--mtme)")
    if mtme is None and (set or pair):
        raise DataError("--set and --pair go with --mtme")
    found: Digest | Pool
    grouping = taxonomy if isinstance(taxonomy, Grouping) or taxonomy is None else load_taxonomy(taxonomy)
    sorts = None if grouping is None else grouping.taxonomy
    costs = None if grouping is None else grouping.weights
    if human is None and given is not None and not isinstance(given, Pool | Digest) and not ships(given):
        if isinstance(given, str) and near(given, IN_TREE) and not os.path.exists(given):
            known(given)  # refuses it as a dataset, with the name that may be meant
        given, human = None, given
    if human is not None:
        from .userfiles import read_human

        if reference is not None:
            raise DataError("--reference goes with a dataset or a tree: your scorers saw what you gave them")
        found = read_human(human, sorts, costs, allow_uncounted, aspects)
        aspects = None
    elif mtme is not None:
        from .mtme import find_source, read_mtme

        if not (set and pair):
            raise DataError("--set and --pair are needed with --mtme, as in --set wmt24 --pair en-de")
        root = Path(mtme)
        at = find_source(root, set, pair)
        found = read_mtme(root, at, reference, sorts or TAXONOMY, costs, allow_uncounted=allow_uncounted)
    else:
        assert isinstance(given, str | Pool | Digest)  # files were taken above
        found = given if not isinstance(given, str) else load(given)
        if grouping is not None:
            raise DataError(f"{found.name} ships without the errors of segments; --taxonomy needs MQM rows or a tree")
        if isinstance(found, Digest):
            found.check_reference(reference)
        if aspects is not None or raters != MEAN or domain is not None or reference not in (None, found.reference):
            found = pool_of(found, reference)
    if grouping is not None:
        pool = grouping.check(pool_of(found))
        found = replace(pool, notes=(*pool.notes, *_said(grouping, pool)))
    if aspects is not None:
        found = of_aspects(pool_of(found), aspects)
    found = found.without(*without)
    if found.aspect_names != ASPECTS:
        check_vary(found.aspects, found.aspect_names, found.name)
    if scores is not None:
        from .userfiles import read_scorers

        if human is None:
            raise DataError("scores go with ratings of your own; give them to rank, with a dataset or a tree")
        found = replace(pool_of(found), scorers=read_scorers(scores, found))
    return shaped(found, domain, raters)


def shaped(found: Digest | Pool, domain: str | None = None, raters: str = MEAN) -> Digest | Pool:
    """The same data on one kind of text alone, and with what several ratings of a cell become."""
    if domain is not None:
        found = in_domain(found, domain)
    return found if raters == MEAN else of_raters(pool_of(found), raters)


def places(before: Digest | Pool, after: Digest | Pool) -> np.ndarray:
    """Where the segments on which scorers are compared `after` shaping stood `before`: places in scores (K, N) of yours.

    >>> from whichbird.data.segments import load_pool
    >>> pool = load_pool("ende24")
    >>> places(pool, in_domain(pool, "news")).shape
    (90,)
    """
    at = {line: n for n, line in enumerate(scored_lines(before).tolist())}
    return np.array([at[line % before.source_lines] for line in scored_lines(after).tolist()], dtype=np.int64)


def _said(grouping: Grouping, pool: Pool) -> list[str]:
    return [] if pool.errors is None else grouping.notes(pool.errors["category"])


def of_aspects(pool: Pool, aspects: str | Sequence[str]) -> Pool:
    """The same pool with two others of the aspects that people rated; see `two_aspects`.

    The total stays where two columns of it make up the aspects, as official totals hold more than these; where people
    rated more than two aspects it is their mean.

    >>> from whichbird.data.segments import load_pool
    >>> of_aspects(load_pool("ende24"), "fluency,total").aspect_names
    ('fluency', 'total')
    """
    two = two_aspects(aspects)
    names = tuple(aspect.label for aspect in two)
    if names == pool.aspect_names:
        return pool
    rated = pool.criteria or _rated(pool)
    check_known(two, rated, pool.name)
    layers = [aspect.of(lambda name: rated[name]) for aspect in two]
    with np.errstate(invalid="ignore"):
        a, f = (_mean(x) for x in layers)
    total = (a + f) / 2 if pool.criteria else pool.total
    whose = [r.raters for r in pool.ratings] or [np.full(a.shape, -1)] * len(layers[0])
    totals = [(x + y) / 2 for x, y in zip(*layers, strict=True)] if pool.criteria else [r.total for r in pool.ratings]
    ratings = tuple(Rating(*x) for x in zip(*layers, totals, whose, strict=False)) if pool.ratings else ()
    return replace(
        pool, adequacy=a, fluency=f, total=total, ratings=ratings, errors=None, aspect_names=(names[0], names[1])
    )


def _rated(pool: Pool) -> dict[str, np.ndarray]:
    """The ratings of a pool by aspect, (R, K, N) each; one layer, that of the ratings that count, where there are no others."""
    if pool.adequacy is None or pool.fluency is None:
        raise DataError(f"{pool.name} has totals only; aspects cannot be chosen")
    three = [(pool.adequacy, pool.fluency, pool.total)]
    layers = [rating[:3] for rating in pool.ratings] or three
    return dict(zip((*pool.aspect_names, "total"), (np.array(x) for x in zip(*layers, strict=True)), strict=True))


def _mean(layers: np.ndarray) -> np.ndarray:
    """The mean of ratings (R, K, N) over those there are."""
    there = ~np.isnan(layers)
    count = there.sum(axis=0)
    summed = np.where(there, layers, 0.0).sum(axis=0)
    return np.asarray(np.where(count > 0, summed / np.maximum(count, 1), np.nan))


def of_raters(pool: Pool, raters: str) -> Pool:
    """The pool with each rating by itself ("each"), or with those of one rater alone.

    >>> from whichbird.data.segments import load_pool
    >>> pool = load_pool("ende20")
    >>> each, one = of_raters(pool, "each"), of_raters(pool, pool.rater_names[0])
    >>> len(pool.lines), len(each.lines), len(one.lines) < len(pool.lines)
    (1418, 4169, True)
    """
    if pool.adequacy is None or pool.fluency is None:
        raise DataError(f"{pool.name} has totals only; its raters are not known")
    own = np.full(pool.total.shape, -1) if pool.raters is None else pool.raters
    layers = pool.ratings or (Rating(pool.adequacy, pool.fluency, pool.total, own),)
    if raters != EACH:
        if raters not in pool.rater_names:
            there = near(raters, pool.rater_names) or f"; it has {', '.join(pool.rater_names) or 'none by name'}"
            raise DataError(f"{pool.name} has no rater {raters!r}{there} (or mean, or each)")
        who = pool.rater_names.index(raters)
        out = [np.full(pool.total.shape, np.nan) for _ in range(3)]
        for layer in layers:
            mine = layer.raters == who
            for x, values in zip(out, layer[:3], strict=True):
                x[mine] = values[mine]
        whose = np.where(np.isnan(out[0]), -1, who)
        kept = ~np.isnan(out[0]).all(axis=0)
        empty = np.isnan(out[0]).all(axis=1)
        if empty.any():
            raise DataError(
                f"{pool.name}: {raters} rated nothing of {pool.systems[int(empty.argmax())]}; all systems are needed"
            )
        found = replace(pool, adequacy=out[0], fluency=out[1], total=out[2], raters=whose, ratings=(), errors=None)
        return pick(found, kept, f"{pool.name} by {raters}")
    if len(layers) == 1:
        return pool
    a, f, t, who_rated = (np.concatenate(x, axis=1) for x in zip(*layers, strict=True))
    names = pool.segments or tuple(str(line + 1) for line in pool.lines)
    turns = range(len(layers))
    documents = pool.documents or names
    found = replace(
        pool,
        name=f"{pool.name} each rating",
        lines=np.concatenate([pool.lines + n * pool.source_lines for n in turns]),
        source_lines=pool.source_lines * len(layers),
        segments=tuple(f"{name} #{n + 1}" for n in turns for name in names),
        adequacy=a,
        fluency=f,
        total=t,
        raters=who_rated,
        ratings=(),
        errors=None,
        documents=tuple(documents) * len(layers),
        domains=None if pool.domains is None else tuple(pool.domains) * len(layers),
        scorers={name: np.tile(x, (1, len(layers))) for name, x in pool.scorers.items()},
    )
    return pick(found, ~np.isnan(t).all(axis=0), found.name)
