"""Sources on the command line: the options that name data, the same for every command, and what opens them."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..core.check import DataError
from ..data import userfiles
from ..data.digest import Digest, datasets, load
from ..data.pool import Pool
from ..data.registry import ships
from ..data.segments import pool_of
from ..data.source import MEAN, places, shaped, source

Scored = dict[str, np.ndarray]  # scorers of the reader, by name: (K, N) each


class Opened(NamedTuple):
    """A source that was named: what tests are made on, the reader's scores beside its own, and what to say."""

    data: Digest | Pool
    scores: Scored
    ships: bool  # whether it is a dataset that ships
    notes: tuple[str, ...]
    counted: dict[str, object]  # taxonomy, and shares of MQM errors that count
    base: Digest | Pool  # what p-values that ship are of, where they may be used
    reference: str | None  # what its scorers are given, where that is not their own


def open_source(args: argparse.Namespace, mine: bool = False) -> Opened:
    """The data that the options of `program.source_arguments` name.

    Scorers given with ratings of one's own become the pool's, unless they are to be reported on as `mine`.
    """
    if not (args.source or args.human or args.mtme) and args.scores and args.scores[-1] in datasets():
        args.source, args.scores = args.scores[-1], args.scores[:-1]  # --scores takes all that follows it
    given = args.source
    named = {"": given, "--human ": args.human, "--mtme ": args.mtme}
    there = [option + value for option, value in named.items() if value is not None]
    if len(there) != 1:
        ships_or = {
            "source": "the name of a dataset that ships ('whichbird datasets' lists them), ",
            "dataset": "--dataset NAME, as 'whichbird datasets' lists them, ",
        }
        raise DataError(
            f"{' and '.join(there) if there else 'no data'}: one source is expected: {ships_or.get(args.place or '', '')}"
            "--human FILE, or --mtme DIR with --set and --pair"
        )
    what = {"human": args.human, "mtme": args.mtme, "set": args.set, "pair": args.pair, "aspects": args.aspects}
    what |= {"without": args.without or (), "taxonomy": args.taxonomy, "allow_uncounted": args.allow_uncounted}
    shipped = given is not None and ships(given)
    base = source(given, reference=None if shipped else args.reference, **what)
    shape = args.domain, args.raters
    if not shipped:
        own = scores_given(args, base)
        if args.mtme is None and not mine:
            base, own = replace(as_pool(base), scorers=own), {}
        final = shaped(base, *shape)
        return Opened(final, moved(own, base, final), False, as_pool(final).notes, counted(args, base), final, None)
    own = scores_given(args, base)
    reference = str(load(base.name).info["standard"]) if args.reference == "standard" else args.reference
    plain = isinstance(base, Digest) and shape == (None, MEAN)
    if plain and reference in (None, base.reference):
        return Opened(base, own, True, (), {}, base, None)
    final = source(given, reference=reference, domain=args.domain, raters=args.raters, **what)
    own = moved(own, base, final)
    return Opened(as_pool(final), own, True, (), {}, base if plain else final, reference if plain else None)


def as_pool(found: Digest | Pool) -> Pool:
    return pool_of(found)


def moved(scores: Scored, before: Digest | Pool, after: Digest | Pool) -> Scored:
    """Scores of the reader on the segments that are left."""
    if before is after or not scores:
        return scores
    at = places(before, after)
    return {name: x[:, at] for name, x in scores.items()}


def counted(args: argparse.Namespace, data: Digest | Pool) -> dict[str, object]:
    """The taxonomy, and the shares of errors and of penalties that count, where errors are known."""
    from ..data.mqm import coverage
    from ..data.taxonomies import load_taxonomy

    grouping = None if args.taxonomy is None else load_taxonomy(args.taxonomy)
    facts: dict[str, object] = {} if grouping is None else {"taxonomy": grouping.name}
    errors = data.errors if isinstance(data, Pool) else None
    if errors is None or not len(errors):
        return facts
    found = coverage(errors, *(() if grouping is None else (grouping.taxonomy, grouping.weights)))
    return facts | {"errors_counted": found.errors, "penalties_counted": found.penalties}


def scores_given(args: argparse.Namespace, data: Digest | Pool) -> Scored:
    """The scorers of all --scores, by name, each as segment scores on the lines of `data`."""
    out: Scored = {}
    for given in args.scores or ():
        name, path = called(given)
        found = userfiles.read_scorers(path, data, name, args.ignore_extra)
        for scorer in found:
            if scorer in out or scorer in data.scorers or scorer in data.aliases:
                how = "rename yours in the file" if len(found) > 1 else "name yours with --scores NAME=FILE"
                raise DataError(f"{path}: there is a scorer {scorer!r} already; {how}")
        out |= found
    return out


def called(given: str) -> tuple[str | None, str]:
    """What --scores names: NAME, where one is given, and the file or folder."""
    name, equals, path = given.partition("=")
    if not equals or os.sep in name or os.path.exists(given):  # a file whose name has an equals sign
        return None, given
    if not (name and path):
        raise DataError(f"--scores {given}: NAME=FILE or FILE is expected")
    return name, path
