"""Commands over several datasets: averages, and the report.

A command is one function from parsed arguments to a `Result`, and its docstring is its help; `program.COMMANDS` lists them.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from tqdm import tqdm

from ..core.check import DataError, near
from ..data import userfiles
from ..data.digest import Digest, datasets as datasets_, known, load
from ..data.matching import match, one_reference, score_files
from ..data.protocol import scorer_named
from ..data.registry import campaign_of
from ..data.source import MEAN, places, source
from ..study.average import Opened, Part, by_campaign, long_table, opened, part, target
from ..study.contest import contest
from ..study.portrait import pack, portrait
from .formats import Result
from .light import naming
from .output import find_browser, print_pdf
from .sources import as_pool, called, open_source


def all_(args: argparse.Namespace) -> Result:
    """Rank scorers, and yours, on all datasets at once: one table of averages.

    Made as WMT's task averages are, for each campaign by itself: every dataset has
    the same weight, and only scorers that take part in all datasets of that year
    are averaged; rank is among them, of says how many they are. average_spa is the
    mean of their SPAs, and its interval of 95 % takes documents of different
    datasets as independent draws (where two share source texts it is somewhat too
    narrow). average_rank is the mean rank, each among all scorers of its dataset;
    average_cluster the mean cluster, which mt-metrics-eval calls average rank.
    rank_low and rank_high are the ranks of the average that go with the data. A
    second table has the ranks of your scorers in each dataset. A mean over language
    pairs hides that a scorer may be first in one and last in another, and SPA lies
    higher where systems differ more: look at both tables. --reference standard
    gives scorers the references that WMT used; --meta averages other meta-metrics
    beside SPA.

    --beta takes a balance, or low or high: the ends of each dataset's own reliable
    interval. Without it all systems have the same weight. A dataset in which the
    balance is not reliable, or not known, is left out with a note.

    With --scores only datasets that one of your files belongs to are taken. A file
    is matched by its name (my.ende24.seg.score), by its folders as in a tree
    (wmt24/en-de/my-refA.seg.score), or by its systems and lines where only one
    dataset fits; a folder stands for all score files below it. Where the name ends
    in a reference, -refB say, the shipped scorers get the same, if WMT had it.

    --campaign wmt24 prints WMT's official table: the mean of SPA and acc_eq over
    three language pairs, for primary scorers, with the references of WMT and its
    human translation among the systems of ende24. wmt23 is that of 2023: pairwise
    accuracy over all pairs of systems (pa), Pearson of system means (pearson) and
    of all translations (cells), acc_eq; wmt23-as-24 is 2024's rule on 2023's data.
    Intervals are of 95 %, documents resampled. Two sentinels of 2024 give all
    translations of a segment one score, tie all systems and have .495.
    Where people rated translations several times a second table has the human
    ceiling ('whichbird rank --help').

    examples:
      whichbird all --scores my/*.seg.score --beta 0.6
      whichbird all --scores mine=my --beta low --format latex
      whichbird all --datasets ende24 enes24 jazh24 --reference standard
      whichbird all --campaign wmt24
    """
    if args.campaign:
        from .official import official

        return official(args)
    found, notes = _fields(args)
    parts: list[Part] = []
    for one in tqdm(found, desc="datasets", delay=1, leave=False, disable=None):
        try:
            at = target(one.field, args.beta)
        except DataError as error:
            notes.append(f"left out: {error}")
            continue
        parts.append(part(one, at, meta=args.meta))
    if not parts:
        raise DataError(f"no dataset is left at this balance; {notes[-1]}")
    table = by_campaign(parts)
    rows = long_table(parts)
    own = rows.loc[rows["own"], "scorer"].unique()
    notes += [
        f"{s} is not averaged over {year}, as it does not score every dataset of it that is here"
        for year, some in table.groupby("campaign")
        for s in own
        if s not in set(some["scorer"]) and any(campaign_of(p.name) == year for p in parts if s in p.standing.scorers)
    ]
    shown = table.assign(own=table["own"].map({True: "yours", False: ""}))
    mine = rows.loc[rows["own"], ["dataset", "scorer", "spa", "rank", "rank_low", "rank_high", "cluster"]]
    of = rows.groupby("dataset")["scorer"].count()
    mine.insert(4, "of", mine["dataset"].map(of))
    facts = {
        "balance": "natural" if args.beta is None else str(args.beta),
        "averaged_over": tuple(p.name for p in parts),
        "scorers": table["scorer"].nunique(),
        "signature": " ".join(p.signature for p in parts),
    }
    return Result(
        facts,
        {"average": table, "ranking": rows},
        (shown, mine) if len(own) else (shown.drop(columns="own"),),
        None,
        tuple(notes),
    )


def _fields(args: argparse.Namespace) -> tuple[list[Opened], list[str]]:
    """The datasets that are asked for, each with the scores of yours that belong to it, and what to say about them."""
    names = list(dict.fromkeys(map(known, args.datasets or ()))) or datasets_()  # a misspelt name is refused
    mine: dict[str, dict[str, np.ndarray]] = {}
    seen: dict[str, list[str | None]] = {}
    for given in args.scores or ():
        name, place = called(given)
        for path in score_files(place):
            m = match(path, names, name)
            d = load(m.dataset)
            got = userfiles.read_scorers(path, d, name, args.ignore_extra)
            if len(got) == 1 and next(iter(got)) == (userfiles.ENDING.sub("", path.name) or path.name):
                got = {m.scorer: next(iter(got.values()))}
            for scorer in got:
                if scorer in d.scorers or scorer in mine.get(d.name, {}):
                    raise DataError(
                        f"{path}: {d.name} has a scorer {scorer!r} already; name yours with --scores NAME=FILE"
                    )
            mine.setdefault(d.name, {}).update(got)
            seen.setdefault(d.name, []).append(m.reference)
    chosen = [n for n in names if n in mine or not args.scores]
    left = dict.fromkeys(args.without or ())
    for system in left:  # a dataset may lack it, but not all
        if not any(system in load(n).systems for n in chosen):
            raise DataError(f"no dataset has a system {system!r} to leave out{near(system, load(chosen[0]).systems)}")
    out, notes = [], []
    for name in chosen:
        reference, note = one_reference(name, seen.get(name, ()))
        notes += [] if note is None else [note]
        try:
            out.append(_part(args, name, mine.get(name, {}), args.reference or reference, list(left)))
        except DataError as error:
            if args.domain is None:
                raise
            notes.append(f"left out: {error}")
    if not out:
        raise DataError(f"no dataset is left; {notes[-1].removeprefix('left out: ')}")
    return out, notes


def _part(
    args: argparse.Namespace, name: str, mine: dict[str, np.ndarray], reference: str | None, without: list[str]
) -> Opened:
    """One dataset, or the part of it that is asked for."""
    d = load(name)
    reference = str(d.info["standard"]) if reference == "standard" else reference
    gone = [s for s in without if s in d.systems]
    aspects, raters = getattr(args, "aspects", None), getattr(args, "raters", MEAN)
    if not gone and (args.domain, aspects, raters) == (None, None, MEAN):
        return opened(name, mine, reference)
    keep = np.array([s not in gone for s in d.systems])
    base = d.without(*gone)
    final = source(name, without=gone, reference=reference, domain=args.domain, aspects=aspects, raters=raters)
    own = {s: (x if isinstance(final, Digest) else x[:, places(base, final)])[keep] for s, x in mine.items()}
    return Opened(final, own, contest(final, own))


def report(args: argparse.Namespace) -> Result:
    """Write a report on scorers of yours over all datasets, as one HTML page.

    At the fluency end, the natural balance and the adequacy end of each reliable
    interval, and at --beta where that is reliable: SPA, rank with its interval,
    cluster; averages by campaign ('whichbird all --help' says how they are made);
    ranks over beta; with whom yours change places, whose lead moves, whose order
    turns ('whichbird compare --help' says what that means); each kind of text; the
    human ceiling, where it is known; what --meta names, beside SPA. The page needs
    nothing else and no network. --card writes a small picture of the ranks of your
    first scorer over beta, for a paper or a README; --pdf prints the page, where
    Chromium or Chrome is installed. Files appear when they are complete. Some
    seconds for each dataset.

    Score files are matched with datasets as 'whichbird all --help' says. Or ratings
    of yours (--human, as 'whichbird rank --help' says) with your scorers, of which
    --show names those to report on; or an mt-metrics-eval-v2 tree (--mtme, --set,
    --pair): --show names the scorers of the tree to report on, and --scores adds
    others.

    examples:
      whichbird report --scores my/*.seg.score --html report.html --card card.svg
      whichbird report --scores my --datasets ende24 enes24 --beta 0.9 --pdf r.pdf
      whichbird report --human human.csv --scores scores.csv --html report.html
      whichbird report --mtme tree --set wmt25 --pair en-de --show X --html r.html
    """
    browser = find_browser() if args.pdf or (args.card or "").lower().endswith(".pdf") else ""
    found, notes = _own_fields(args) if args.mtme or args.human else _fields(args)
    if not any(one.field.own.any() for one in found):
        raise DataError("--scores is needed: which scorers is the report about?")
    tables, more = portrait(
        found,
        args.beta,
        args.resamples,
        lambda x: tqdm(x, desc="datasets", total=len(found), leave=False, disable=None),
        args.meta,
    )
    own = tables["standings"].loc[tables["standings"]["own"], "scorer"].unique().tolist()
    shown = tables["standings"].query("own").drop(columns=["own", "se", "ess"])
    mean = tables["average"].query("own")

    def html() -> bytes:
        from ..show.page import page

        return page(tables).encode()

    def card() -> bytes:
        from ..show.page import card, card_page

        drawn = card(tables, own[0])
        if not args.card.lower().endswith(".pdf"):
            return drawn.encode()
        return print_pdf(browser, card_page(drawn).encode())

    return Result(
        {
            "own_scorers": tuple(own),
            "aspects": found[0].source.aspect_names,
            "averaged_over": tuple(tables["profile"]["dataset"]),
            "signature": " ".join(tables["profile"]["signature"]),
        },
        {"standings": tables["standings"], **{k: v for k, v in tables.items() if k != "standings"}},
        (shown, *([mean.drop(columns="own")] if len(mean) and len(found) > 1 else [])),
        None,
        (*notes, *more),
        files={
            "html": html,
            "card": card,
            "pdf": lambda: print_pdf(browser, html()),
            "numbers": lambda: pack(tables).encode(),
        },
    )


def _own_fields(args: argparse.Namespace) -> tuple[list[Opened], list[str]]:
    """Ratings of yours, or the pairs of a tree, each with the scorers to report on taken out of its own."""
    out, notes = [], list[str]()
    for pair in args.pair or [None]:
        one = open_source(argparse.Namespace(**{**vars(args), "pair": pair, "source": None}), mine=True)
        pool, mine = as_pool(one.data), dict(one.scores)
        for scorer in args.show or ():
            with naming("--show"):
                if scorer in mine:
                    continue
                scorer = scorer_named(pool, scorer)
            mine[scorer] = pool.scored[scorer]
        if args.human and args.show:  # of yours, these alone; the others are rivals
            rest = {s: x for s, x in mine.items() if s not in args.show}
            pool, mine = replace(pool, scorers=pool.scorers | rest), {s: x for s, x in mine.items() if s in args.show}
        rest_of = replace(pool, scorers={s: x for s, x in pool.scorers.items() if s not in mine})
        out.append(Opened(rest_of, mine, contest(rest_of, mine)))
        notes += one.notes
    return out, notes
