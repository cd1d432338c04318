"""The command line: parse, call the library, print.

A command is one function from parsed arguments to a `Result`, and its docstring is its help; `COMMANDS` lists them.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import pandas as pd
from tqdm import tqdm

from .._version import __version__
from ..core.balance import balance, ess, reachable
from ..core.check import DataError, near
from ..data import mtme, userfiles
from ..data.digest import Digest, datasets as datasets_, load
from ..data.domains import in_domain
from ..data.export import segment_table, template, write_inputs
from ..data.files import read_text
from ..data.matching import match, one_reference, score_files
from ..data.pairs import read_pairs
from ..data.pool import Pool
from ..data.registry import DATASETS
from ..data.segments import load_pool
from ..data.taxonomies import load_taxonomy, regroup
from ..solve.result import Reweighting
from ..solve.reweight import RELIABLE, NotProven, reliable_interval, reweight as solve
from ..solve.verify import verify
from ..study.average import ENDS, Opened, Part, average, long_table, opened, part, target
from ..study.calibrate import MATCHES, calibrate
from ..study.components import components
from ..study.contest import Contest, Scores, contest, need_aspects
from ..study.domains import by_domain
from ..study.overview import members, overview
from ..study.portrait import pack, portrait
from ..study.ranking import rank, rank_sweep
from ..study.significance import RESAMPLES
from ..study.story import crossings, story
from ..study.targets import is_reliable, steps, weight_sweep, weights_table
from ..study.tested import with_bands, with_tests
from ..study.verdict import judged
from .formats import FORMATS, Result, cell, one_line, schema
from .output import check_outputs, chosen_format, deliver, find_browser, print_pdf, say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What a system says of a name or a place, which is input; a full or a broken disk is a failure.
NO_PLACE = {
    errno.EACCES, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOENT, errno.ENOTDIR, errno.EPERM, errno.EROFS,
}  # fmt: skip
FEW = 30  # rows that a terminal shows of a table that has one for each rating
QUICK = 250  # resamples of tests that nobody has made beforehand: of all pairs of scorers on one domain
BETA = "balance from 0 (all fluency) to 1 (all adequacy)"


def datasets(args: argparse.Namespace) -> Result:
    """List the datasets that ship, or who takes part in one.

    For each: the number of systems, rated segments and scorers; the natural balance
    beta0, adequacy's share of the variance between systems, with its interval of
    95 % ('whichbird beta --help' says of what); the range of balances that
    reweighting can reach; the reliable interval, in which the effective sample size
    is at least 0.9 times the number of systems; and whether the paper has it.

    With a name: its systems and scorers, kept or left out and why; --json lists the
    rated source lines, counted from 1, too.

    With --domains: a line for each kind of text in each dataset, or in the one that
    is named, with its rated segments and documents, and its own beta0.

    examples:
      whichbird datasets
      whichbird datasets ende24
      whichbird datasets --domains
      whichbird datasets --json
    """
    if args.domains:
        table = by_domain(None if args.name is None else [load_pool(args.name)])
        shown = table.drop(columns="systems").astype(object)
        return Result({}, {"domains": table}, (shown.where(shown.notna(), "-"),))
    if args.name is None:
        table = overview()
        shown = table.drop(columns="note").astype(object)
        return Result({}, {"datasets": table}, (shown.where(shown.notna(), "not obtained"),))
    d = load(args.name)
    pool = load_pool(args.name)
    table = members(pool)
    about = overview([d])
    ends = tuple(float(about[end].iloc[0]) for end in ("beta0_low", "beta0_high"))
    facts = _facts(about) | ({} if np.isnan(ends).any() else {"beta0_interval": ends})
    facts |= {
        "scorers": len(d.scorers),
        "source_lines": d.source_lines,
        "reference": d.reference,
        "reference_of_wmt": d.info["standard"],
        "documents": 0 if pool.documents is None else len(set(pool.documents)),
        "raters": len(pool.rater_names),
        "segments_left_out": tuple(f"{x.number}: {x.reason}" for x in pool.left_out if x.kind == "segment"),
        "in_the_paper": DATASETS[args.name].paper,
        "signature": d.signature,
    }
    shown = table.assign(kept=table["kept"].map({True: "kept", False: "left out"}))
    lines = pd.DataFrame({"line": pool.lines + 1})
    return Result(facts, {"members": table, "lines": lines}, (shown,))


def beta(args: argparse.Namespace) -> Result:
    """Say what the natural balance of your ratings is, and how sure that is.

    No scorers are needed. beta0 is adequacy's share of the variance of system
    means. Those means are estimates, so each variance holds noise, which documents
    that differ show: noise_adequacy and noise_fluency are its shares.
    beta0_corrected is beta0 without it; "cannot be told" where a variance is no
    larger than its noise. beta0_interval is to hold, in 95 of 100 cases, the beta0
    that these systems would have on endless text of the same kind, rated in the
    same way; it ends at 0 or 1 where the data do not bound it. segments_needed is
    about how many segments would bring it down to the --margin to each side.

    Ratings are a file of one of the forms that 'whichbird evaluate --help' lists,
    or a name that 'whichbird datasets' lists (./NAME is a file in any case).
    Without documents each segment counts as one, which makes noise look smaller
    than it is where segments hang together.

    --taxonomy sorts and prices errors another way: a name that ships, or a file
    that ends in .toml. A file of ratings must hold MQM errors then. Of datasets
    that ship the errors of systems are known, but not those of segments: there is
    a beta0, but no interval. --domain takes one kind of text alone, where the
    ratings name it.

    examples:
      whichbird beta human.csv
      whichbird beta mqm.tsv --taxonomy mine.toml
      whichbird beta ende24 --json
      whichbird beta ende24 --domain news
    """
    grouping = None if args.taxonomy is None else load_taxonomy(args.taxonomy)
    ships = _ships(args.ratings)
    if ships:
        pool = load_pool(args.ratings)
    elif grouping is None:
        pool = userfiles.read_human(args.ratings)
    else:
        pool = grouping.check(userfiles.read_human(args.ratings, grouping.taxonomy, grouping.weights))
    notes = list(pool.notes if not ships else ())
    if grouping is not None and pool.errors is not None:
        notes += grouping.notes(pool.errors["category"])
    if args.domain is not None:
        if ships and grouping:
            raise DataError(
                f"{pool.name} ships without the errors of segments; --domain and --taxonomy exclude each other"
            )
        pool = in_domain(pool, args.domain)
    if len(pool.rater_names) == 1:
        notes.append(f"one rater gave all ratings of {pool.name}; how others would rate is not in the interval")
    means = pool.aspects if not (ships and grouping) else regroup(pool, grouping)
    if means is None:
        raise DataError(f"{pool.name} has totals only; a balance needs ratings of adequacy and fluency")
    facts: dict[str, object] = {"data": pool.name, "systems": len(pool.systems), "segments": len(pool.lines)}
    facts |= {} if grouping is None else {"taxonomy": grouping.name}
    table = pd.DataFrame({"system": pool.systems, "adequacy": means[0], "fluency": means[1]})
    with _about(pool.name):
        ranges = {"reachable": reachable(*means), "reliable_interval": reliable_interval(*means)}
        facts["beta0"] = balance(*means)
    try:
        if ships and grouping:
            raise DataError(
                f"{pool.name} ships without the errors of segments, so noise under {grouping.name} is not known"
            )
        found = components(pool)
    except ValueError as error:  # a balance all the same, but nothing to tell how sure it is
        return Result(facts | ranges, {"means": table}, None, None, (*notes, f"no interval: {error}"))
    a, f = found.shares
    facts |= {
        "beta0_corrected": found.beta,
        "beta0_interval": (found.low, found.high),
        "noise_adequacy": a,
        "noise_fluency": f,
        "documents": 0 if found.unit == "segment" else found.documents,
        **ranges,
        "segments_needed": found.needed(args.margin),
        "verdict": found.verdict,
        "signature": found.signature + ("" if grouping is None else f"|taxonomy:{grouping.name}"),
    }
    table = table.assign(adequacy_se=found.se[0], fluency_se=found.se[1])
    return Result(
        facts,
        {"means": table[["system", "adequacy", "adequacy_se", "fluency", "fluency_se"]]},
        None,
        None,
        tuple(notes),
    )


def reweight(args: argparse.Namespace) -> Result:
    """Weight systems so that they have a chosen balance.

    Finds the most even weights of that balance, with a proof that none are more
    even. systems.csv has a header with the columns system, adequacy, fluency (in
    any order; others are ignored) and one row per system: means, higher is better,
    both in the same unit.

    examples:
      whichbird reweight systems.csv --beta 0.5
      whichbird reweight systems.csv --beta 0.5 --out weights.csv --plot weights.svg
      whichbird reweight systems.csv --beta 0.5 --proof proof.json
      whichbird reweight systems.csv --sweep --step 0.05 --csv
    """
    if args.proof and args.sweep:
        raise ValueError("--proof writes the proof of one weighting; --beta is expected with it, not --sweep")
    table = userfiles.read_systems(args.systems)
    pool = table["system"].tolist(), table["adequacy"].to_numpy(), table["fluency"].to_numpy()
    with _about(args.systems):
        targets = steps(*pool[1:], args.step)
        interval = reliable_interval(*pool[1:])
        solved = None if args.sweep else solve(*pool[1:], args.beta)

    def figure() -> Figure:
        from ..show import figures

        return figures.weights_over_beta(weight_sweep(*pool, targets), interval, args.beta)

    facts = {"beta0": balance(*pool[1:]), "reachable": reachable(*pool[1:]), "reliable_interval": interval}
    if solved is not None:
        if args.proof and not np.isfinite(solved.gap):
            raise NotProven(f"at beta = {args.beta:g} the proof does not hold in exact arithmetic")
        weights = weights_table(*pool, solved.weights)
        return Result(facts | _proof(solved), {"weights": weights}, figure=figure, proof=solved.proof)
    long = weight_sweep(*pool, targets)
    wide = long.pivot(index="beta", columns="system", values="weight")[pool[0]]
    few = long.groupby("beta", sort=True)[["ess", "reliable", "certificate"]].first().reset_index()
    shown = pd.concat([few.map(cell), wide.reset_index(drop=True).map("{:.4f}".format)], axis=1)
    return Result(facts, {"weights": long}, (shown,), figure)


def verify_(args: argparse.Namespace) -> Result:
    """Check a proof that 'reweight --proof' wrote, in exact arithmetic.

    Nothing is taken from the solver: scores, target and weights are read from the
    file as exact fractions, the weights are moved onto the target exactly, and gap
    is by how much the sum of their squares could at most be improved, relatively.
    What proves nothing, or a larger gap than --gap, is refused with exit code 2.

    examples:
      whichbird verify proof.json
    """
    text = read_text(args.file, "'whichbird reweight --proof' writes one")
    try:
        proof = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{args.file}: not a proof: no JSON ({error})") from None
    with _about(args.file):
        gap = verify(proof)
        if gap > args.gap:
            raise ValueError(f"not a proof of a gap of {args.gap:g} or less (--gap), but of {gap:.3g}")
    try:
        a, f, w = (np.array([float(Fraction(v)) for v in proof[n]]) for n in ("adequacy", "fluency", "weights"))
    except OverflowError:
        raise DataError(f"{args.file}: verified, but with numbers too large to show") from None
    weights = weights_table([f"system {k}" for k in range(1, w.size + 1)], a, f, w / w.sum())
    return Result({"beta": float(Fraction(proof["beta"])), "ess": ess(w), "gap": gap}, {"weights": weights})


def rank_(args: argparse.Namespace) -> Result:
    """Rank all scorers of a dataset at a chosen balance, with yours among them.

    Nothing needs to be downloaded: the p-values of people and of the shipped
    scorers are in the package. Without --beta all systems have the same weight.

    cluster is WMT's: a scorer shares the cluster of those above it unless one of
    them is significantly better (PERM-BOTH, p <= .05). rank_low and rank_high are
    the best and the worst rank that go with the data (documents resampled, 95 %).
    With --beta every resampled contest is brought to that balance; without it each
    keeps its own, so the intervals at beta0 differ a little between the two.
    Tests of the shipped scorers ship for the reliable interval; others are made on
    the spot, some seconds. --bare leaves them out.

    Score files have one of three forms, higher is better:
      .seg.score    the field's: lines "system, tab, score" without header; the n-th
                    line of a system is source line n. All source lines, or only the
                    rated ones. None is allowed where nobody rated.
      wide table    header system,segment,NAME,...: one column per scorer. A single
                    column called score is named after the file.
      long table    header scorer,system,segment,score
    Columns are separated by commas, semicolons or tabs; segment is the source line,
    counted from 1. CRLF line ends and a byte-order mark do no harm.

    Scorers that compare with a reference translation were given refA, as in the
    paper. Where WMT used another, --reference names it (refB in ende24): choose
    what yours saw.

    Every rated system must be there. Others may be: references (refA, ...), and
    submissions that nobody rated, which are left out with a note. --ignore-extra
    leaves out segments of a table that the dataset does not know, too.

    --domain ranks on one kind of text alone; 'whichbird datasets --domains' lists
    them. People's and scorers' p-values, balance and tests then rest on its
    segments only; tests take 250 resamples, some seconds. Score files are those of
    the whole dataset.

    examples:
      whichbird rank ende24 --beta 0.6
      whichbird rank ende24 --domain literary
      whichbird rank ende24 --beta 0.6 --scores my.seg.score
      whichbird rank zhen23 --scores A=first.csv B=second.csv --json
    """
    return _ranking(args, *_opened(args))


def sweep(args: argparse.Namespace) -> Result:
    """Follow the scorers of a dataset, and yours, over all balances.

    The table shows your scorers, or those named with --show, or else the five best
    at the natural balance: SPA and rank. --csv and --json hold all scorers, one row
    for each balance and scorer, with intervals of 95 % where the balance is
    reliable; in brackets: the ranks that go with the data. --plot draws SPA and
    rank with their bands, the reliable interval shaded, and marks where lines
    cross: full if from one end of the interval to the other that change is more
    than noise. --bare leaves intervals and marks out. Score files are read, and
    --domain is taken, as 'whichbird rank --help' says.

    examples:
      whichbird sweep ende24 --scores my.seg.score --plot out.svg
      whichbird sweep ende24 --show BLEU COMET-22 --step 0.05
      whichbird sweep ende24 --csv > sweep.csv
    """
    return _sweep(args, *_opened(args))


def evaluate(args: argparse.Namespace) -> Result:
    """Do everything on your own data: balance, range, weights, ranking, sweep.

    Human ratings (--human) have one of two forms:
      table       header system,segment,adequacy,fluency: one row per system and
                  segment, higher is better. Scorers are compared with the column
                  total if there is one, else with adequacy + fluency. What has no
                  row is not rated. With a column rater a cell may have several
                  rows; their mean counts.
      MQM rows    tab-separated as in google/wmt-mqm-human-evaluation: header with
                  system, doc, doc_id, seg_id, rater, category, severity; one row
                  per error, or one of category no-error.
    Scorers (--scores) are read as 'whichbird rank --help' says. The segment of a
    table is what the ratings call it (with MQM rows: seg_id, or doc:doc_id:seg_id
    if two segments share a seg_id); a .seg.score file follows the order in which
    the ratings first name the segments.

    Or an unpacked mt-metrics-eval-v2 tree (--mtme, --set, --pair) with its own
    scorers; --scores adds yours, with the source line as segment.

    A column document of a table says what is to be resampled as one. --domain takes
    the segments of one kind of text alone, where the ratings name it: in a column
    domain of a table, or in the tree.

    examples:
      whichbird evaluate --human human.csv --scores scores.csv --beta 0.5
      whichbird evaluate --human mqm.tsv --scores a.seg.score --sweep --plot out.svg
      whichbird evaluate --mtme mt-metrics-eval-v2 --set wmt24 --pair en-de
    """
    if args.human:
        if args.set or args.pair or args.reference:
            raise DataError("--set, --pair and --reference go with --mtme, not with --human")
        if not args.scores:
            raise DataError("--scores is needed with --human: which scorers should be ranked?")
        pool = userfiles.read_human(args.human)
        pool, own = replace(pool, scorers=_scores(args, pool)), {}
    else:
        if not (args.set and args.pair):
            raise DataError("--set and --pair are needed with --mtme, as in --set wmt24 --pair en-de")
        pool = mtme.read_mtme(args.mtme, mtme.find_source(args.mtme, args.set, args.pair), args.reference)
        own = _scores(args, pool)
    if args.domain is not None:
        pool, own = _on_domain(pool, own, args.domain)
    with _about(pool.name):
        about = overview([pool]) if args.domain is None else by_domain([pool])
    field = contest(pool, own)
    _chosen(args, field)  # a misspelt name is refused in any case
    result = (_sweep if args.sweep else _ranking)(args, pool, own, field, about)
    shown = result.shown if args.sweep else (result.tables["weights"], *(result.shown or ()))
    return result._replace(shown=shown, notes=(*pool.notes, *result.notes))


def all_(args: argparse.Namespace) -> Result:
    """Rank scorers, and yours, on all datasets at once: one table of averages.

    Made as WMT's task averages are: every dataset has the same weight, and only
    scorers that take part in all of them are averaged. average_spa is the mean of
    their SPAs, and its interval of 95 % takes documents of different datasets as
    independent draws (where two share source texts it is somewhat too narrow).
    average_rank is the mean rank, each among all scorers of its dataset;
    average_cluster the mean cluster, which mt-metrics-eval calls average rank.
    rank_low and rank_high are the ranks of the average that go with the data. A
    second table has the rank in each dataset.

    --beta takes a balance, or low or high: the ends of each dataset's own reliable
    interval. Without it all systems have the same weight. A dataset in which the
    balance is not reliable, or not known, is left out with a note.

    With --scores only datasets that one of your files belongs to are taken. A file
    is matched by its name (my.ende24.seg.score), by its folders as in a tree
    (wmt24/en-de/my-refA.seg.score), or by its systems and lines where only one
    dataset fits; a folder stands for all score files below it. Where the name ends
    in a reference, -refB say, the shipped scorers get the same, if WMT had it.

    examples:
      whichbird all --scores my/*.seg.score --beta 0.6
      whichbird all --scores mine=my --beta low --format latex
      whichbird all --datasets ende24 enes24 jazh24
    """
    found, notes = _fields(args)
    parts: list[Part] = []
    for one in tqdm(found, desc="datasets", delay=1, leave=False, disable=None):
        try:
            parts.append(part(one, target(one.field, args.beta)))
        except DataError as error:
            notes.append(f"left out: {error}")
    if not parts:
        raise DataError(f"no dataset is left at this balance; {notes[-1]}")
    table = average(parts)
    rows = long_table(parts)
    wide = rows.pivot(index="scorer", columns="dataset", values="rank")[[p.name for p in parts]]
    wide = wide.loc[table["scorer"]].astype(int).reset_index()
    own = rows.loc[rows["own"], "scorer"].unique()
    notes += [f"{s} is not averaged, as it does not score every dataset" for s in own if s not in set(table["scorer"])]
    shown = table.assign(own=table["own"].map({True: "yours", False: ""}))
    facts = {
        "balance": "natural" if args.beta is None else str(args.beta),
        "averaged_over": tuple(p.name for p in parts),
        "scorers": len(table),
        "signature": " ".join(p.signature for p in parts),
    }
    return Result(
        facts,
        {"average": table, "ranking": rows},
        (shown if len(own) else shown.drop(columns="own"), wide),
        None,
        tuple(notes),
    )


def _fields(args: argparse.Namespace) -> tuple[list[Opened], list[str]]:
    """The datasets that are asked for, each with the scores of yours that belong to it, and what to say about them."""
    for name in args.datasets or ():
        load(name)  # a misspelt name is refused
    names = list(dict.fromkeys(args.datasets or datasets_()))
    if not args.scores:
        return [opened(name) for name in names], []
    mine: dict[str, dict[str, np.ndarray]] = {}
    seen: dict[str, list[str | None]] = {}
    for given in args.scores:
        called, place = _called(given)
        for path in score_files(place):
            m = match(path, names, called)
            d = load(m.dataset)
            got = userfiles.read_scorers(path, d, called, args.ignore_extra)
            if len(got) == 1 and next(iter(got)) == (userfiles.ENDING.sub("", path.name) or path.name):
                got = {m.scorer: next(iter(got.values()))}
            for scorer in got:
                if scorer in d.scorers or scorer in mine.get(d.name, {}):
                    raise DataError(
                        f"{path}: {d.name} has a scorer {scorer!r} already; name yours with --scores NAME=FILE"
                    )
            mine.setdefault(d.name, {}).update(got)
            seen.setdefault(d.name, []).append(m.reference)
    out, notes = [], []
    for name in (n for n in names if n in mine):
        reference, note = one_reference(name, seen[name])
        notes += [] if note is None else [note]
        out.append(opened(name, mine[name], reference))
    return out, notes


def report(args: argparse.Namespace) -> Result:
    """Write a report on scorers of yours over all datasets, as one HTML page.

    At the fluency end, the natural balance and the adequacy end of each reliable
    interval, and at --beta where that is reliable: SPA, rank with its interval,
    cluster; averages over datasets ('whichbird all --help' says how they are made);
    ranks over beta; where yours gain and lose, and against whom by more than noise;
    each kind of text. The page needs nothing else and no network. --card writes a
    small picture of the ranks of your first scorer over beta, for a paper or a
    README; --pdf prints the page, where Chromium or Chrome is installed. Files
    appear when they are complete. Some ten seconds or more for each dataset.

    Score files are matched with datasets as 'whichbird all --help' says. Or an
    mt-metrics-eval-v2 tree (--mtme, --set, --pair), for organisers: --show names
    the scorers of the tree to report on, and --scores adds others.

    examples:
      whichbird report --scores my/*.seg.score --html report.html --card card.svg
      whichbird report --scores my --datasets ende24 enes24 --beta 0.9 --pdf r.pdf
      whichbird report --mtme tree --set wmt25 --pair en-de --show X --html r.html
    """
    browser = find_browser() if args.pdf else ""
    found, notes = _tree_fields(args) if args.mtme else _fields(args)
    if not any(one.field.own.any() for one in found):
        raise DataError("--scores is needed: which scorers is the report about?")
    tables, more = portrait(
        found,
        args.beta,
        args.resamples,
        lambda x: tqdm(x, desc="datasets", total=len(found), leave=False, disable=None),
    )
    own = tables["standings"].loc[tables["standings"]["own"], "scorer"].unique().tolist()
    shown = tables["standings"].query("own").drop(columns=["own", "se", "ess"])
    mean = tables["average"].query("own")

    def html() -> bytes:
        from ..show.page import page

        return page(tables).encode()

    def card() -> bytes:
        from ..show.page import card

        return card(tables, own[0]).encode()

    return Result(
        {
            "own_scorers": tuple(own),
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


def _tree_fields(args: argparse.Namespace) -> tuple[list[Opened], list[str]]:
    """The pairs of a tree that are asked for, each with the scorers to report on taken out of its own."""
    if not (args.set and args.pair):
        raise DataError("--set and --pair are needed with --mtme, as in --set wmt24 --pair en-de")
    out = []
    for pair in args.pair:
        pool = mtme.read_mtme(args.mtme, mtme.find_source(args.mtme, args.set, pair), args.reference)
        mine: dict[str, np.ndarray] = {}
        for scorer in args.show or ():
            if scorer not in pool.scorers:
                raise DataError(f"--show: {pool.name} has no scorer {scorer!r}{near(scorer, pool.scorers)}")
            mine[scorer] = pool.scorers[scorer]
        rest = replace(pool, scorers={s: x for s, x in pool.scorers.items() if s not in mine})
        mine |= _scores(args, rest)
        out.append(Opened(rest, mine, contest(rest, mine)))
    return out, []


def template_(args: argparse.Namespace) -> Result:
    """Show the score file that a dataset needs, to be filled in.

    A table with the columns system, segment and score: every rated system and every
    rated source line, counted from 1. Fill in the last column and hand it to
    --scores. A terminal shows the first rows, --csv all.

    examples:
      whichbird template enes24 --out my.csv
    """
    d = load(args.dataset)
    table = template(d)
    facts = {"data": d.name, "systems": len(d.systems), "segments": len(d.lines), "rows": len(table)}
    return Result(facts, {"template": table}, (table.head(FEW),), None, _cut(args, table))


def inputs(args: argparse.Namespace) -> Result:
    """Write the texts that a metric needs to score a dataset.

    From your own unpacked copy of the public mt-metrics-eval-v2 release, since no
    text ships with whichbird. A new folder gets source.txt, reference.txt and
    systems/NAME.txt for every rated system: the rated lines alone, one each, all in
    the same order. Scores of these files in turn, as lines "system, tab, score",
    are a file that --scores takes. The folder appears when it is complete.

    examples:
      whichbird inputs enes24 --mtme mt-metrics-eval-v2 --to texts
    """
    d = load(args.dataset)
    reference = args.reference or d.reference
    table = write_inputs(d, args.mtme, args.to, reference)
    facts = {"data": d.name, "systems": len(d.systems), "segments": len(d.lines), "reference": reference}
    return Result(facts, {"files": table})


def segments(args: argparse.Namespace) -> Result:
    """Turn ratings into a table: adequacy, fluency and total of each segment.

    One row for each system, segment and rater; with --cells one for each system and
    segment, the rating that counts (the mean where several do). Ratings are a file
    as 'whichbird evaluate --help' says, MQM rows say; or a name that 'whichbird
    datasets' lists; or an mt-metrics-eval-v2 tree (--mtme, --set, --pair).
    Penalties are negative: higher is better. --taxonomy sorts and prices MQM rows
    another way. A terminal shows the first rows, --csv all.

    examples:
      whichbird segments mqm.tsv --out segments.csv
      whichbird segments ende24 --cells --csv
      whichbird segments --mtme mt-metrics-eval-v2 --set wmt24 --pair en-de --csv
    """
    if (args.ratings is None) == (args.mtme is None):
        raise DataError("a file or a dataset is needed, or --mtme with --set and --pair; one of the two")
    grouping = None if args.taxonomy is None else load_taxonomy(args.taxonomy)
    if args.mtme is not None:
        if not (args.set and args.pair):
            raise DataError("--set and --pair are needed with --mtme, as in --set wmt24 --pair en-de")
        sorting = () if grouping is None else (grouping.taxonomy, grouping.weights)
        pool = mtme.read_mtme(args.mtme, mtme.find_source(args.mtme, args.set, args.pair), None, *sorting)
    else:
        if args.set or args.pair:
            raise DataError("--set and --pair go with --mtme")
        if _ships(args.ratings):
            if grouping is not None:
                raise DataError(
                    f"{args.ratings} ships without the errors of segments; --taxonomy needs MQM rows or a tree"
                )
            pool = load_pool(args.ratings)
        elif grouping is None:
            pool = userfiles.read_human(args.ratings)
        else:
            pool = grouping.check(userfiles.read_human(args.ratings, grouping.taxonomy, grouping.weights))
    table = segment_table(pool, args.cells)
    facts = {
        "data": pool.name,
        "systems": len(pool.systems),
        "segments": len(pool.lines),
        "raters": len(pool.rater_names),
        "rows": len(table),
    }
    notes = () if args.ratings is not None and _ships(args.ratings) else pool.notes
    return Result(facts, {"ratings": table}, (table.head(FEW),), None, (*notes, *_cut(args, table)))


def _ships(given: str) -> bool:
    """Whether ratings are meant to be a dataset that ships, and no file."""
    return given in DATASETS or not (os.sep in given or "." in given or os.path.exists(given))


def _cut(args: argparse.Namespace, table: pd.DataFrame) -> tuple[str, ...]:
    """What to say where people see the first rows only."""
    whole = chosen_format(args) in ("csv", "json") or args.out
    return () if whole or len(table) <= FEW else (f"shown are {FEW} of {len(table)} rows; --csv has all",)


def calibrate_(args: argparse.Namespace) -> Result:
    """Find the balance whose ranking favours the scorers that agree with you.

    You prefer one translation in each of some pairs; scorers score both. The answer
    is the balance, within the reliable interval of a dataset, at which the scorers
    that side with you do best. Resampling your pairs shows how sharp it is. The
    verdict says what may be concluded, also if that is nothing.

    pairs.csv has a header with the columns pair, preferred, scorer, first, second
    (in any order; others, such as the texts, are ignored) and one row for each pair
    and scorer. preferred is first or second; the columns of these names hold the
    scores, higher is better. Scorers are named as in the dataset. For any other
    give its segment scores of the dataset too (--scores), read as 'whichbird rank
    --help' says.

    examples:
      whichbird calibrate pairs.csv --dataset ende24
      whichbird calibrate pairs.csv --dataset ende24 --by concordance --plot m.svg
      whichbird calibrate pairs.csv --dataset zhen23 --scores mine=m.seg.score
    """
    d = load(args.dataset)
    need_aspects(d)
    scores = _scores(args, d)
    pairs = read_pairs(args.pairs, [*d.scorers, *scores])
    field = contest(d, scores)
    own = {s: p for s, p, mine in zip(field.scorers, field.p, field.own, strict=True) if mine}
    found = calibrate(pairs, d, own, by=args.by, ess=args.ess, step=args.step, resamples=args.resamples, seed=args.seed)
    ranks = rank(field, found.beta)
    table = found.agreement.rename("agreement").reset_index().merge(ranks.table, on="scorer")
    table = table.sort_values(["agreement", "rank", "scorer"], ascending=[False, True, True], ignore_index=True)
    facts = _facts(overview([d])) | {
        "reliable_interval": found.reliable,
        "pairs": found.pairs,
        "scorers": len(found.agreement),
        "by": found.by,
        "beta": found.beta,
        "ess": ess(ranks.weights["weight"]),
        "match": found.match,
        "match_natural": found.match - found.gain,
        "resampled_interval": found.interval,
        "share_above_beta0": found.above,
        "best_anywhere": found.anywhere,
        "verdict": found.verdict,
        "signature": f"{d.signature}|pairs:{found.pairs}|by:{found.by}|ess:{args.ess:g}|step:{args.step:g}"
        f"|resamples:{args.resamples}|resampling seed:{args.seed}|beta:{found.beta:.12g}",
    }
    shown = table[["scorer", "agreement", "rank", "rank_natural"]]

    def figure() -> Figure:
        from ..show import figures

        return figures.match_over_beta(found)

    named = set(pairs["scorer"])
    notes = tuple(
        f"{args.pairs} has no pair scored by {s!r}, so that scorer's file is not used" for s in own if s not in named
    )
    return Result(facts, {"agreement": table, "sweep": found.table}, (shown,), figure, notes)


def _opened(args: argparse.Namespace) -> tuple[Digest | Pool, Scores, Contest, pd.DataFrame]:
    """A dataset that ships: what tests are made on, the reader's scores, the contest, and a row about it.

    Tests are made on the shipped segments, with another reference if one is asked for, and on one domain if one is.
    """
    d = load(args.dataset)
    scores = _scores(args, d)
    if args.domain is not None:
        pool, scores = _on_domain(load_pool(d.name, args.reference), scores, args.domain)
        return pool, scores, contest(pool, scores), by_domain([pool])
    field = contest(d, scores, args.reference)
    return (
        d if args.reference in (None, d.reference) else load_pool(d.name, args.reference),
        scores,
        field,
        overview([d]),
    )


def _on_domain(pool: Pool, scores: Scores, domain: str) -> tuple[Pool, dict[str, np.ndarray]]:
    """A pool and the reader's scores of it (K, N), both on the segments of one domain."""
    part = in_domain(pool, domain)
    keep = np.isin(pool.lines, part.lines)
    return part, {name: np.asarray(x)[:, keep] for name, x in scores.items()}


def _bare(args: argparse.Namespace, source: Digest | Pool) -> tuple[bool, tuple[str, ...]]:
    """Whether to leave out the tests, and what to say: they are not wanted, or your ratings are of a single document."""
    if args.bare or not isinstance(source, Pool):
        return args.bare, ()
    count = len(source.lines) if source.documents is None else len(set(source.documents))
    if count > 1:
        return False, ()
    what = "segment" if source.documents is None else "document"
    return True, (
        f"{source.name} has one {what}, so there are no clusters and rank intervals; they need two to resample",
    )


def _ranking(
    args: argparse.Namespace, source: Digest | Pool, scores: Scores, field: Contest, about: pd.DataFrame
) -> Result:
    with _about(field.name):
        found = rank(field, args.beta)
    facts: dict[str, object] = {}
    bare, notes = _bare(args, source)
    if not bare:
        quick = args.domain is not None and args.command == "rank"  # nothing ships for a domain
        found, tests = with_tests(found, field, source, args.beta, scores, QUICK if quick else RESAMPLES)
        if tests is not None:
            if tests.stop is not None and args.beta is not None and abs(tests.stop - args.beta) > 1e-9:
                facts["tested_at"] = tests.stop
            found = replace(found, signature=f"{found.signature}|{tests.signature}")
    table = found.table.drop(columns="se", errors="ignore")
    shown = table.assign(own=table["own"].map({True: "yours", False: ""}))
    shown = shown if field.own.any() else shown.drop(columns="own")
    shown = shown if args.beta is not None else shown.drop(columns=["rank_natural", "spa_natural"])

    def figure() -> Figure:
        from ..show import figures

        a, f = need_aspects(field)
        sweep = rank_sweep(field, steps(a, f, args.step))
        return figures.ranks_over_beta(sweep, reliable_interval(a, f), _chosen(args, field), args.beta)

    proof = {} if found.reweighting is None else _proof(found.reweighting)
    return Result(
        _facts(about) | proof | facts | {"signature": found.signature},
        {"ranking": found.table, "weights": found.weights},
        (shown,),
        figure,
        notes,
    )


def _sweep(
    args: argparse.Namespace, source: Digest | Pool, scores: Scores, field: Contest, about: pd.DataFrame
) -> Result:
    chosen = _chosen(args, field)
    with _about(field.name):
        a, f = need_aspects(field)
        table = rank_sweep(field, steps(a, f, args.step))
    bare, notes = _bare(args, source)
    if not bare:
        table = with_bands(table, source, scores)
    shown = table.groupby("beta", sort=True)[["ess", "reliable"]].first().reset_index().map(cell)
    for scorer in chosen:
        mine = table[table["scorer"] == scorer]
        shown[scorer] = [_place(row) for _, row in mine.iterrows()]

    def figure() -> Figure:
        from ..show import figures

        survive = () if bare or len(chosen) < 2 else crossings(judged(source, chosen, scores), chosen)
        return figures.ranks_over_beta(table, reliable_interval(a, f), chosen, crossings=survive)

    facts = _facts(about) | {"signature": f"{field.signature}|beta:sweep"}
    return Result(facts, {"sweep": table}, (shown,), figure, notes)


def _place(row: pd.Series) -> str:
    """SPA and rank of one scorer at one balance, and the ranks that go with the data where they are known."""
    low, high = row.get("rank_low", np.nan), row.get("rank_high", np.nan)
    return f"{row['spa']:.4f} #{row['rank']}" + ("" if np.isnan(low) else f" ({low:.0f}-{high:.0f})")


def compare(args: argparse.Namespace) -> Result:
    """Tell the story of two scorers over the reliable balances.

    Who has the larger SPA, at which balances one is significantly better
    (PERM-BOTH, p <= .05), and whether a change of order is more than noise: both
    orders are significant, or the change of the lead is (documents resampled,
    95 %). The table has a row for each balance of the reliable interval: both SPAs,
    the lead of the first over the second with its interval, p-values that the one
    or the other is better, and the change of the lead since the natural balance.

    A scorer of yours is named as --scores names it. With --domain all of it rests
    on one kind of text.

    examples:
      whichbird compare ende24 XCOMET MetricX-24
      whichbird compare ende24 XCOMET MetricX-24 --domain speech
      whichbird compare enes24 mine chrF --scores mine=my.seg.score --plot out.svg
    """
    source, scores, field, about = _opened(args)
    for name in (args.first, args.second):
        if name not in field.scorers:
            raise DataError(f"{field.name} has no scorer {name!r}{near(name, field.scorers)}")
    if args.first == args.second:
        raise DataError(f"{args.first!r} is compared with itself; two scorers are needed")
    v = judged(source, (args.first, args.second), scores)
    found = story(v, args.first, args.second)

    def figure() -> Figure:
        from ..show import figures

        return figures.lead_over_beta(found)

    facts = _facts(about) | {"first": args.first, "second": args.second, "real": found.between}
    facts |= {"verdict": found.sentence, "signature": v.signature}
    shown = found.table[["beta", "spa_first", "spa_second", "lead", "lead_low", "lead_high", "better", "real"]]
    if len(shown) == 1:  # no balance is known
        shown = shown.assign(beta="natural")
    return Result(facts, {"comparison": found.table}, (shown,), figure)


def _chosen(args: argparse.Namespace, field: Contest) -> list[str]:
    """The scorers to point out: those asked for, else the reader's own, else the five best."""
    for scorer in args.show or ():
        if scorer not in field.scorers:
            raise DataError(f"--show: {field.name} has no scorer {scorer!r}{near(scorer, field.scorers)}")
    own = [s for s, mine in zip(field.scorers, field.own, strict=True) if mine]
    return args.show or own or rank(field).table["scorer"].head(5).tolist()


def _scores(args: argparse.Namespace, source: Digest | Pool) -> dict[str, np.ndarray]:
    out: dict[str, np.ndarray] = {}
    for given in args.scores or ():
        name, path = _called(given)
        found = userfiles.read_scorers(path, source, name, args.ignore_extra)
        for scorer in found:
            if scorer in out or scorer in source.scorers:
                how = "rename yours in the file" if len(found) > 1 else "name yours with --scores NAME=FILE"
                raise DataError(f"{path}: there is a scorer {scorer!r} already; {how}")
        out |= found
    return out


def _called(given: str) -> tuple[str | None, str]:
    """What --scores names: NAME, where one is given, and the file or folder."""
    name, equals, path = given.partition("=")
    if not equals or os.sep in name or os.path.exists(given):  # a file whose name has an equals sign
        return None, given
    if not (name and path):
        raise DataError(f"--scores {given}: NAME=FILE or FILE is expected")
    return name, path


def _facts(about: pd.DataFrame) -> dict[str, object]:
    row = about.iloc[0]
    facts = {"data": row["name"], "systems": int(row["systems"]), "segments": int(row["segments"])}
    if "documents" in row:
        facts["documents"] = int(row["documents"])
    if row["note"]:
        return facts | {"note": row["note"]}
    return facts | {
        "beta0": row["beta0"],
        "reachable": (row["beta_min"], row["beta_max"]),
        "reliable_interval": (row["reliable_min"], row["reliable_max"]),
    }


def _proof(r: Reweighting) -> dict[str, object]:
    return {"beta": r.target, "ess": r.ess, "reliable": is_reliable(r), "certificate": r.certificate, "gap": r.gap}


class _about:
    """Say which file or dataset a refusal of the library is about."""

    def __init__(self, what: str):
        self.what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ValueError | NotProven) and not str(error).startswith(str(self.what)):
            refusal = NotProven if isinstance(error, NotProven) else DataError
            raise refusal(f"{self.what}: {error}") from None


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, one_line(f"{self.prog}: {message}; '{self.prog} --help' shows how") + "\n")


class _Schema(argparse.Action):
    """Print the schema and stop, as --version does."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        print(json.dumps(schema(), indent=2, ensure_ascii=False))
        parser.exit()


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None


def _target(text: str) -> float | str:
    return text if text in ENDS else _number(text)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None


def _step(text: str) -> float:
    step = _number(text)
    if not 1e-4 <= step <= 1:
        raise argparse.ArgumentTypeError(f"{text} is no number from 0.0001 to 1")
    return step


def _margin(text: str) -> float:
    margin = _number(text)
    if not 0 < margin < 0.5:
        raise argparse.ArgumentTypeError(f"{text} is no number between 0 and 0.5")
    return margin


def _file(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("'' is no file name")
    return text


def _datasets_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="a dataset, to see who takes part in it")
    parser.add_argument("--domains", action="store_true", help="a line for each kind of text instead")


def _natural_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ratings", type=_file, help="a file of human ratings, or the name of a dataset")
    parser.add_argument("--taxonomy", metavar="NAME|FILE", type=_file, help="another grouping of errors")
    _domain_argument(parser)
    parser.add_argument(
        "--margin", type=_margin, default=0.02, help="how closely beta0 should be known (default: %(default)s)"
    )


def _reweight_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "systems", metavar="systems.csv", type=_file, help="table with columns system, adequacy, fluency"
    )
    _beta_arguments(parser, required=True)
    _plot_argument(parser)
    parser.add_argument("--proof", metavar="FILE", type=_file, help="write the proof, JSON that 'verify' checks")


def _verify_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="proof.json", type=_file, help="what 'reweight --proof' wrote")
    parser.add_argument("--gap", type=_number, default=1e-9, help="the largest gap to accept (default: %(default)s)")


def _rank_arguments(parser: argparse.ArgumentParser) -> None:
    _dataset_arguments(parser)
    parser.add_argument("--beta", type=_number, help=BETA + "; without it, the natural one")
    _domain_argument(parser)
    _scores_arguments(parser)
    _bare_argument(parser)


def _dataset_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", help="a name that 'whichbird datasets' lists")
    parser.add_argument(
        "--reference", help="what the shipped scorers compare with: refA, or the one WMT used (default: refA)"
    )


def _sweep_arguments(parser: argparse.ArgumentParser) -> None:
    _dataset_arguments(parser)
    _domain_argument(parser)
    _step_argument(parser)
    _scores_arguments(parser)
    _bare_argument(parser)
    _show_argument(parser)
    _plot_argument(parser)


def _compare_arguments(parser: argparse.ArgumentParser) -> None:
    _dataset_arguments(parser)
    parser.add_argument("first", help="a scorer of the dataset, or yours")
    parser.add_argument("second", help="another")
    _domain_argument(parser)
    _scores_arguments(parser)
    _plot_argument(parser)


def _evaluate_arguments(parser: argparse.ArgumentParser) -> None:
    one = parser.add_mutually_exclusive_group(required=True)
    one.add_argument("--human", metavar="FILE", type=_file, help="human ratings: a table, or rows of MQM errors")
    one.add_argument("--mtme", metavar="DIR", type=_file, help="an unpacked mt-metrics-eval-v2 tree")
    parser.add_argument("--set", help="with --mtme: the set, as wmt24")
    parser.add_argument("--pair", help="with --mtme: the language pair, as en-de")
    parser.add_argument("--reference", help="with --mtme: the scorers' reference (default: refA, or the one there is)")
    _domain_argument(parser)
    _scores_arguments(parser)
    _beta_arguments(parser)
    _bare_argument(parser)
    _show_argument(parser)
    _plot_argument(parser)


def _all_arguments(parser: argparse.ArgumentParser) -> None:
    _many_arguments(parser)
    parser.add_argument(
        "--beta", type=_target, metavar="BETA|low|high", help=BETA + ", or an end of the reliable interval"
    )


def _many_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--datasets", nargs="+", action="extend", metavar="NAME", help="these alone, of those 'datasets' lists"
    )
    _scores_arguments(parser)


def _report_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--html", metavar="FILE", type=_file, help="write the report, one page")
    parser.add_argument("--card", metavar="FILE", type=_file, help="write the ranks of your first scorer, an SVG")
    parser.add_argument("--pdf", metavar="FILE", type=_file, help="print the report, where there is a browser")
    parser.add_argument("--numbers", metavar="FILE", type=_file, help="write the figures of the page, as compact JSON")
    _many_arguments(parser)
    parser.add_argument("--beta", type=_number, help=BETA + ", besides the three of each dataset")
    parser.add_argument("--mtme", metavar="DIR", type=_file, help="an unpacked mt-metrics-eval-v2 tree instead")
    parser.add_argument("--set", help="with --mtme: the set, as wmt24")
    parser.add_argument("--pair", nargs="+", help="with --mtme: language pairs, as en-de")
    parser.add_argument("--reference", help="with --mtme: the scorers' reference (default: refA, or the one there is)")
    parser.add_argument("--show", nargs="+", metavar="SCORER", help="with --mtme: scorers of the tree to report on")
    parser.add_argument("--resamples", type=_whole, default=RESAMPLES, help="of each test (default: %(default)s)")


def _template_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", help="a name that 'whichbird datasets' lists")


def _inputs_arguments(parser: argparse.ArgumentParser) -> None:
    _template_arguments(parser)
    parser.add_argument("--mtme", metavar="DIR", type=_file, required=True, help="an unpacked mt-metrics-eval-v2 tree")
    parser.add_argument("--to", metavar="DIR", type=_file, required=True, help="a new folder for the texts")
    parser.add_argument("--reference", help="the reference to write (default: refA, or the one there is)")


def _segments_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ratings", nargs="?", type=_file, help="a file of human ratings, or the name of a dataset")
    parser.add_argument("--mtme", metavar="DIR", type=_file, help="an unpacked mt-metrics-eval-v2 tree instead")
    parser.add_argument("--set", help="with --mtme: the set, as wmt24")
    parser.add_argument("--pair", help="with --mtme: the language pair, as en-de")
    parser.add_argument("--taxonomy", metavar="NAME|FILE", type=_file, help="another grouping of errors")
    parser.add_argument("--cells", action="store_true", help="one row for each system and segment")


def _calibrate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "pairs", metavar="pairs.csv", type=_file, help="table with columns pair, preferred, scorer, first, second"
    )
    parser.add_argument("--dataset", required=True, help="a name that 'whichbird datasets' lists")
    parser.add_argument(
        "--by",
        choices=list(MATCHES),
        default="correlation",
        help="what to maximise over scorers (default: %(default)s)",
    )
    parser.add_argument(
        "--ess",
        type=_number,
        default=RELIABLE,
        metavar="SHARE",
        help="share of the systems that a reliable balance keeps, as ESS / K (default: %(default)s)",
    )
    parser.add_argument("--resamples", type=_whole, default=1000, help="resamples of the pairs (default: %(default)s)")
    parser.add_argument("--seed", type=_whole, default=8, help="seed of the resampling (default: %(default)s)")
    _step_argument(parser, 0.01)
    _scores_arguments(parser)
    _plot_argument(parser)


def _beta_arguments(parser: argparse.ArgumentParser, required: bool = False) -> None:
    one = parser.add_mutually_exclusive_group(required=required)
    one.add_argument("--beta", type=_number, help=BETA + ("" if required else "; without it, the natural one"))
    one.add_argument("--sweep", action="store_true", help="all balances that can be reached instead of one")
    _step_argument(parser)


def _step_argument(parser: argparse.ArgumentParser, default: float = 0.02) -> None:
    parser.add_argument(
        "--step", type=_step, default=default, help="distance of balances in a sweep (default: %(default)s)"
    )


def _scores_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scores",
        nargs="+",
        action="extend",
        metavar="[NAME=]FILE",
        type=_file,
        help="segment scores of your scorers, called NAME or after the file",
    )
    parser.add_argument(
        "--ignore-extra", action="store_true", help="leave out segments of your tables that the dataset does not know"
    )


def _domain_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--domain", help="one kind of text alone, as 'whichbird datasets --domains' lists them")


def _bare_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bare", action="store_true", help="no tests: leave out clusters and rank intervals")


def _show_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--show", nargs="+", action="extend", metavar="SCORER", help="scorers to point out in a sweep")


def _plot_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plot", metavar="FILE", type=_file, help="draw a figure: .svg, .png or .pdf")


# name: (what runs, what adds its arguments). The docstring is the help.
COMMANDS: dict[str, tuple[Callable[[argparse.Namespace], Result], Callable[[argparse.ArgumentParser], None]]] = {
    "datasets": (datasets, _datasets_arguments),
    "beta": (beta, _natural_arguments),
    "reweight": (reweight, _reweight_arguments),
    "verify": (verify_, _verify_arguments),
    "rank": (rank_, _rank_arguments),
    "sweep": (sweep, _sweep_arguments),
    "compare": (compare, _compare_arguments),
    "all": (all_, _all_arguments),
    "evaluate": (evaluate, _evaluate_arguments),
    "template": (template_, _template_arguments),
    "inputs": (inputs, _inputs_arguments),
    "segments": (segments, _segments_arguments),
    "report": (report, _report_arguments),
    "calibrate": (calibrate_, _calibrate_arguments),
}


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    top = _Parser(
        prog="whichbird",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Steer the adequacy-fluency balance of machine-translation meta-evaluation.",
        epilog="examples:\n  whichbird datasets\n  whichbird rank ende24 --beta 0.6 --scores my.seg.score\n"
        "  whichbird rank --help\n\nexit codes: 0 done, 2 bad input, 1 failure, 130 interrupted",
    )
    top.add_argument("--version", action="version", version=f"whichbird {__version__}")
    top.add_argument("--schema", action=_Schema, nargs=0, help="show the JSON Schema of what --json prints, and exit")
    commands = top.add_subparsers(dest="command", metavar="command", required=True, parser_class=_Parser)
    for name, (run, add_arguments) in COMMANDS.items():
        lines = (run.__doc__ or "").split("\n")
        text = "\n".join([lines[0], *(line.removeprefix("    ") for line in lines[1:])]).strip()
        sub = commands.add_parser(
            name,
            help=lines[0],
            description=text,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.set_defaults(run=run)
        add_arguments(sub)
        form = sub.add_mutually_exclusive_group()
        form.add_argument(
            "--format",
            metavar="FORM",
            choices=list(FORMATS),
            help=f"print as {', '.join(list(FORMATS)[:-1])} or {list(FORMATS)[-1]} (default: text)",
        )
        form.add_argument("--json", action="store_true", help="print JSON: all figures in full precision")
        form.add_argument("--csv", action="store_true", help="print CSV: one table; the rest goes to standard error")
        sub.add_argument(
            "--out",
            metavar="FILE",
            type=_file,
            help="write the result to a file too: .json, .md and .tex as named, else CSV; - is standard output",
        )
        sub.add_argument("--force", action="store_true", help="replace files that are there already")
    return top


def run(argv: list[str]) -> int:
    """Run one command; return its exit code: 0 done, 2 bad input, 1 failure, 130 interrupted. An error is one sentence."""
    who = "whichbird"
    try:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # a letter the terminal lacks is no reason to fail
        args = parser().parse_args(argv)
        if args.out == "-":  # standard output gets what the file would
            args.out, args.csv = None, not (args.json or args.format)
        who = f"whichbird {args.command}"
        check_outputs(args)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = args.run(args)
        notes = dict.fromkeys([*(str(w.message) for w in caught if w.category is UserWarning), *result.notes])
        for note in notes:
            say(f"note: {one_line(note)}\n")
        if sys.stdout is None:
            raise OSError("standard output is closed")
        deliver(args, result)
        sys.stdout.flush()
        return 0
    except SystemExit as stop:  # argparse has said what it had to say
        return int(stop.code or 0)
    except KeyboardInterrupt:
        return _fail(130, who, "interrupted")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads: say nothing, even when closing
        return 1
    except ValueError as error:
        return _fail(2, who, str(error))
    except NotProven as error:
        return _fail(1, who, f"no proven answer: {error}")
    except OSError as error:
        return _fail(
            2 if error.errno in NO_PLACE else 1, who, f"{error.filename or 'output'}: {error.strerror or error}"
        )
    except Exception as error:
        return _fail(1, who, f"failed: {str(error) or type(error).__name__}")


def _fail(code: int, who: str, sentence: str) -> int:
    say(f"{who}: {one_line(sentence)}\n")
    return code
