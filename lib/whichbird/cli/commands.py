"""Commands that rank, test and compare, on one dataset or on files of yours.

A command is one function from parsed arguments to a `Result`, and its docstring is its help; `program.COMMANDS` lists them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..core.balance import balance, reachable
from ..core.check import DataError
from ..core.leverage import leverage
from ..data.digest import Digest
from ..data.export import segment_table
from ..data.pool import Pool
from ..data.protocol import scorer_named
from ..data.registry import displays, ships
from ..data.taxonomies import load_taxonomy, regroup
from ..solve.reweight import reliable_interval
from ..study.carriers import carriers
from ..study.ceiling import ceiling_path, ceilings
from ..study.components import components
from ..study.contest import Contest, contest, need_aspects
from ..study.domains import by_domain
from ..study.meta import beside
from ..study.overview import overview
from ..study.profiles import profile
from ..study.ranking import rank, rank_sweep
from ..study.significance import RESAMPLES
from ..study.story import crossings, story
from ..study.targets import Extremes, extremes, steps
from ..study.tested import with_bands, with_errors, with_tests
from ..study.verdict import judged
from .formats import Result, cell
from .light import FEW, cut, naming, pool_facts, proof_facts, pull_of
from .sources import Opened, as_pool, counted, open_source

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUICK = 250  # resamples of tests that nobody has made beforehand: of all pairs of scorers on one domain


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

    For each system: its leverage, how hard it pulls beta0 towards its own balance,
    and beta0_without, the natural balance of the others.

    Ratings are a file of one of the forms that 'whichbird rank --help' lists,
    or a name that 'whichbird datasets' lists (./NAME is a file in any case).
    Without documents each segment counts as one, which makes noise look smaller
    than it is where segments hang together.

    errors_counted and penalties_counted are the shares of MQM errors, and of what
    they cost, that are in one of the two aspects. Where no table knows more than a
    fifth of either, ratings are refused; --allow-uncounted takes them all the same.

    --taxonomy sorts and prices errors another way: a name that ships, or a file
    that ends in .toml. A file of ratings must hold MQM errors then. Of datasets
    that ship the errors of systems are known, but not those of segments: there is
    a beta0, but no interval. --domain takes one kind of text alone, where the
    ratings name it.

    --aspects names two or more columns of a table of system means, rated aspects
    of a dataset, or kinds of error, as accuracy,fluency,style: the share of each in
    their variance, and the lowest and highest without one system.

    examples:
      whichbird beta human.csv
      whichbird beta mqm.tsv --taxonomy mine.toml
      whichbird beta ende24 --json
      whichbird beta ende24 --domain news
      whichbird beta ende24 --aspects accuracy,fluency,style
    """
    if (args.aspects or "").count(",") > 1:
        from .shares import beta as several

        return several(args)
    grouping, named = None, args.taxonomy
    if args.taxonomy is not None and args.source is not None and ships(args.source):
        if args.domain is not None:
            raise DataError(
                f"{args.source} ships without the errors of segments; --domain and --taxonomy exclude each other"
            )
        grouping, args.taxonomy = load_taxonomy(args.taxonomy), None
    opened = open_source(args)
    pool, notes = as_pool(opened.data), list(opened.notes)
    if grouping is not None and pool.errors is not None:
        notes += grouping.notes(pool.errors["category"])
    if len(pool.rater_names) == 1:
        notes.append(f"one rater gave all ratings of {pool.name}; how others would rate is not in the interval")
    means = pool.aspects if grouping is None else regroup(pool, grouping)
    if means is None:
        raise DataError(f"{pool.name} has totals only; a balance needs ratings of adequacy and fluency")
    facts: dict[str, object] = {"data": pool.name, "systems": len(pool.systems), "segments": int(pool.annotated.sum())}
    args.taxonomy = named
    facts |= {"aspects": pool.aspect_names} | (opened.counted or counted(args, pool))
    with naming(pool.name):
        alone = leverage(*means)
        table = pd.DataFrame({"system": pool.systems, "adequacy": means[0], "fluency": means[1], **pull_of(alone)})
        ranges = {"reachable": reachable(*means), "reliable_interval": reliable_interval(*means)}
        facts["beta0"] = balance(*means)
    try:
        if grouping is not None:
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
        "signature": found.signature + (f"|taxonomy:{facts['taxonomy']}" if "taxonomy" in facts else ""),
    }
    table = table.assign(adequacy_se=found.se[0], fluency_se=found.se[1])
    return Result(
        facts,
        {"means": table[["system", "adequacy", "adequacy_se", "fluency", "fluency_se", *pull_of(alone)]]},
        None,
        None,
        tuple(notes),
    )


def rank_(args: argparse.Namespace) -> Result:
    """Rank all scorers of a dataset at a chosen balance, with yours among them.

    Nothing needs to be downloaded: the p-values of people and of the shipped
    scorers are in the package. Without --beta all systems have the same weight.

    cluster is WMT's: a scorer shares the cluster of those above it unless one of
    them is significantly better (PERM-BOTH, p <= .05). rank_low and rank_high are
    the best and the worst rank that go with the data (documents resampled, 95 %).
    With --beta every resampled contest is brought to that balance; without it each
    keeps its own, so the intervals at beta0 differ a little between the two.
    weight_least and weight_most, times uniform, say whom the weights nearly leave
    out and who counts most, vanishing how many have less than .02 of uniform;
    'whichbird compare' says what hangs on one system.
    Tests of the shipped scorers ship for the reliable interval; others are made on
    the spot, some seconds. --bare leaves them out.

    --meta sets other meta-metrics beside SPA: value and rank of each, in --json and
    --csv also its value at the natural balance and its standard error (documents
    resampled). Rows are in the order of the first that is named; rank, cluster and
    intervals are SPA's always.

    Where people rated each translation several times, a second table has the human
    ceiling: what one rating earns against another, with its interval (95 %), and
    best_scorer, what the best scorer earns against the same ratings. The ranking's
    own gold scores may be a mean of several ratings; the two tables differ in that.

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

    Human ratings (--human) have one of two forms:
      table       header system,segment,adequacy,fluency: one row per system and
                  segment, higher is better. Scorers are compared with the column
                  total if there is one, else with adequacy + fluency. What has no
                  row is not rated. With a column rater a cell may have several
                  rows; their mean counts, or what --raters says. Any two columns
                  are aspects: --aspects relevance,coherence. A column document
                  says what is resampled as one, a column domain what --domain
                  takes.
      MQM rows    tab-separated as in google/wmt-mqm-human-evaluation: header with
                  system, doc, doc_id, seg_id, rater, category, severity; one row
                  per error, or one of category no-error.
    With them the segment of a score table is what the ratings call it (MQM rows:
    seg_id, or doc:doc_id:seg_id if two segments share a seg_id); a .seg.score file
    follows the order in which the ratings first name the segments. Or an unpacked
    mt-metrics-eval-v2 tree (--mtme, --set, --pair) with its own scorers; --scores
    adds yours, with the source line as segment.

    --domain ranks on one kind of text alone; 'whichbird datasets --domains' lists
    them. People's and scorers' p-values, balance and tests then rest on its
    segments only; tests take 250 resamples, some seconds. Score files are those of
    the whole dataset.

    examples:
      whichbird rank ende24 --beta 0.6
      whichbird rank ende24 --domain literary
      whichbird rank ende24 --beta 0.6 --meta spa,acc_eq,pdp
      whichbird rank ende24 --beta 0.6 --scores my.seg.score
      whichbird rank zhen23 --scores A=first.csv B=second.csv --json
      whichbird rank --human human.csv --scores scores.csv --beta 0.5
      whichbird rank --human h.csv --scores s.csv --aspects relevance,coherence
    """
    return _ranked(args, _ranking)


def sweep(args: argparse.Namespace) -> Result:
    """Follow the scorers of a dataset, and yours, over all balances.

    The table shows your scorers, or those named with --show, or else the five best
    at the natural balance: SPA and rank. --csv and --json hold all scorers, one row
    for each balance and scorer, with intervals of 95 % where the balance is
    reliable; in brackets: the ranks that go with the data. weights: the smallest
    and the largest, times uniform, and whose they are. --plot draws SPA and rank
    with their bands, the reliable interval shaded, and marks where lines cross:
    full if from one end of the interval to the other the order turns, that is, if
    each order is significant by documents; a dotted line is the human ceiling,
    where it is known. --bare leaves intervals, marks and ceiling out.
    --meta sets other meta-metrics beside SPA, value and rank, in --csv and --json.
    Score files are read, and --domain is taken, as 'whichbird rank --help' says.

    examples:
      whichbird sweep ende24 --scores my.seg.score --plot out.svg
      whichbird sweep ende24 --show BLEU COMET-22 --step 0.05
      whichbird sweep ende24 --csv > sweep.csv
    """
    return _ranked(args, _sweep)


def evaluate(args: argparse.Namespace) -> Result:
    """Do everything on your own data: balance, range, weights, ranking, sweep.

    The same as 'whichbird rank', and with --sweep as 'whichbird sweep', on ratings
    of yours (--human) or a tree (--mtme); 'whichbird rank --help' says what the
    files look like.

    examples:
      whichbird evaluate --human human.csv --scores scores.csv --beta 0.5
      whichbird evaluate --human mqm.tsv --scores a.seg.score --sweep --plot out.svg
      whichbird evaluate --mtme mt-metrics-eval-v2 --set wmt24 --pair en-de
    """
    return _ranked(args, _sweep if args.sweep else _ranking)


def _ranked(args: argparse.Namespace, how: Callable[..., Result]) -> Result:
    """Open a source and rank its scorers, at one balance or at many."""
    opened = open_source(args)
    if args.human is not None and not as_pool(opened.data).scorers:
        raise DataError("--scores is needed with --human: which scorers should be ranked?")
    field = _field(opened)
    _chosen(args, field)  # a misspelt name is refused in any case
    result = how(args, opened, field)
    shown = result.shown or ()
    if not opened.ships and how is _ranking:
        shown = (result.tables["weights"], *shown)
    return result._replace(facts=result.facts | opened.counted, shown=shown, notes=(*opened.notes, *result.notes))


def _field(opened: Opened) -> Contest:
    return contest(opened.base, opened.scores, opened.reference)


def segments(args: argparse.Namespace) -> Result:
    """Turn ratings into a table: adequacy, fluency and total of each segment.

    One row for each system, segment and rater; with --cells one for each system and
    segment, the rating that counts (the mean where several do). Ratings are a file
    as 'whichbird rank --help' says; or a name that 'whichbird
    datasets' lists; or an mt-metrics-eval-v2 tree (--mtme, --set, --pair).
    Penalties are negative: higher is better. --taxonomy sorts and prices MQM rows
    another way. --scorers adds the score of every scorer that a dataset or tree
    has, a column each. A terminal shows the first rows, --csv all.

    examples:
      whichbird segments mqm.tsv --out segments.csv
      whichbird segments ende24 --cells --scorers --csv
      whichbird segments --mtme mt-metrics-eval-v2 --set wmt24 --pair en-de --csv
    """
    opened = open_source(args)
    pool = as_pool(opened.data)
    table = segment_table(pool, args.cells, args.scorers)
    facts = {
        "data": pool.name,
        "systems": len(pool.systems),
        "segments": len(pool.lines),
        "raters": len(pool.rater_names),
        "rows": len(table),
        "aspects": pool.aspect_names,
        **(opened.counted or counted(args, pool)),
    }
    return Result(facts, {"ratings": table}, (table.head(FEW),), None, (*opened.notes, *cut(args, len(table))))


def facts_of(opened: Opened, domain: str | None = None) -> dict[str, object]:
    """What is said of a source, from its row of an overview."""
    with naming(opened.data.name):
        about = overview([opened.data]) if domain is None else by_domain([as_pool(opened.data)])
    facts = pool_facts({str(name): value for name, value in about.iloc[0].items()})
    first = ("data", "systems", "segments")
    return {k: facts[k] for k in first} | {"aspects": opened.data.aspect_names} | facts


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


def _ranking(args: argparse.Namespace, opened: Opened, field: Contest) -> Result:
    source, scores = opened.data, opened.scores
    with naming(field.name):
        found = rank(field, args.beta, meta=args.meta)
    facts: dict[str, object] = {}
    bare, notes = _bare(args, source)
    if not bare:
        quick = opened.ships and (isinstance(opened.base, Pool) or source.dropped)  # nothing ships for a part of it
        found, tests = with_tests(found, field, source, args.beta, scores, QUICK if quick else RESAMPLES)
        if tests is not None:
            if tests.stop is not None and args.beta is not None and abs(tests.stop - args.beta) > 1e-9:
                facts["tested_at"] = tests.stop
            found = replace(found, signature=f"{found.signature}|{tests.signature}")
        found = with_errors(found, source, args.meta, args.beta, scores)
    people, why = (None, "") if bare else ceilings(source, args.beta, args.meta)
    table = found.table.drop(columns="se", errors="ignore")
    shown = table.assign(own=table["own"].map({True: "yours", False: ""}))
    shown = shown if field.own.any() else shown.drop(columns="own")
    others = beside(args.meta)
    if args.beta is None or others:
        shown = shown.drop(columns=["rank_natural", "spa_natural"])
    for m in others:  # one column each, so that the table stays on a screen
        shown[m.name] = [f"{x:.4f} #{n}" for x, n in zip(table[m.name], table[f"rank_{m.name}"], strict=True)]
        shown = shown.drop(columns=[f"rank_{m.name}", f"{m.name}_natural", f"{m.name}_se"], errors="ignore")

    def figure() -> Figure:
        from ..show import figures

        a, f = need_aspects(field)
        sweep = rank_sweep(field, steps(a, f, args.step))
        return figures.ranks_over_beta(
            sweep,
            reliable_interval(a, f),
            _chosen(args, field),
            args.beta,
            (),
            field.aspect_names,
            ceiling_path(source),
        )

    proof: dict[str, object] = {}
    if found.reweighting is not None:
        proof = proof_facts(found.reweighting) | extremes(field.systems, found.reweighting.weights)._asdict()
    return Result(
        facts_of(opened, args.domain) | proof | facts | {"signature": found.signature},
        {"ranking": found.table, "weights": found.weights} | ({} if people is None else {"ceiling": people}),
        (shown,) if people is None else (shown, people),
        figure,
        notes,
    )


def _sweep(args: argparse.Namespace, opened: Opened, field: Contest) -> Result:
    source, scores = opened.data, opened.scores
    chosen = _chosen(args, field)
    with naming(field.name):
        a, f = need_aspects(field)
        table = rank_sweep(field, steps(a, f, args.step), meta=args.meta)
    bare, notes = _bare(args, source)
    if not bare:
        table = with_bands(table, source, scores)
    first = table.groupby("beta", sort=True).first().reset_index()
    shown = first[["beta", "ess", "reliable"]].map(cell)
    names = list(Extremes._fields)
    shown["weights"] = [str(Extremes(*row)) for row in first[names].itertuples(index=False)]
    for scorer, read in displays(chosen).items():
        mine = table[table["scorer"] == scorer]
        shown[read] = [_place(row) for _, row in mine.iterrows()]

    def figure() -> Figure:
        from ..show import figures

        survive = () if bare or len(chosen) < 2 else crossings(judged(source, chosen, scores), chosen)
        return figures.ranks_over_beta(
            table,
            reliable_interval(a, f),
            chosen,
            None,
            survive,
            field.aspect_names,
            None if bare else ceiling_path(source),
        )

    facts = facts_of(opened, args.domain) | {"signature": f"{field.signature}|beta:sweep"}
    return Result(facts, {"sweep": table}, (shown,), figure, notes)


def _place(row: pd.Series) -> str:
    """SPA and rank of one scorer at one balance, and the ranks that go with the data where they are known."""
    low, high = row.get("rank_low", np.nan), row.get("rank_high", np.nan)
    return f"{row['spa']:.4f} #{row['rank']}" + ("" if np.isnan(low) else f" ({low:.0f}-{high:.0f})")


def compare(args: argparse.Namespace) -> Result:
    """Tell the story of two scorers over the reliable balances.

    Who has the larger SPA, at which balances one is significantly better
    (PERM-BOTH, p <= .05, whole documents swapped where there are 8 or more), and
    three statements from one end of the reliable interval to the other. They change
    places: observed, not tested. The lead moves: its change is beyond its interval
    (documents resampled, 95 %); that is no statement about who leads. The order
    turns: they change places, and at each end the lead is beyond its interval; only
    this is a change of order beyond noise. turns_swaps: each order is significant
    by WMT's PERM-BOTH, segments swapped. The table has a row for each balance: both
    SPAs, the lead of the first over the second with its interval, p-values that the
    one or the other is better, and the same statements since the natural balance.
    Where they change places or the lead moves, kept_without says in how many of the
    pools with one system left out they still do, in the same direction, and carrier
    without which one they do not, and least of the change is left. most_from is the
    system that contributes most to the unweighted lead, lead_without that lead
    without it: of the other sign if it contributes more than half.

    A scorer of yours is named as --scores names it. With --domain all of it rests
    on one kind of text.

    examples:
      whichbird compare ende24 XCOMET MetricX-24
      whichbird compare ende24 XCOMET MetricX-24 --domain speech
      whichbird compare enes24 mine chrF --scores mine=my.seg.score --plot out.svg
      whichbird compare --human human.csv --scores scores.csv BLEU mine
    """
    need = 3 if args.human is None and args.mtme is None else 2
    lacking = max(0, need - len(args.names))
    if lacking and len(args.scores or ()) > lacking:  # --scores takes all that follows it
        args.scores, args.names = args.scores[:-lacking], args.names + args.scores[-lacking:]
    if len(args.names) != need:
        what = "a dataset and two scorers" if need == 3 else "two scorers"
        raise DataError(f"{' '.join(args.names) or 'no name'}: {what} are expected, as in compare ende24 XCOMET BLEU")
    args.source = args.names[0] if need == 3 else None
    args.first, args.second = args.names[-2:]
    opened = open_source(args)
    source, scores, field = opened.data, opened.scores, _field(opened)
    first, second = (scorer_named(field, name) for name in (args.first, args.second))
    if first == second:
        raise DataError(f"{first!r} is compared with itself; two scorers are needed")
    v = judged(source, (first, second), scores)
    found = story(v, first, second)

    def figure() -> Figure:
        from ..show import figures

        return figures.lead_over_beta(found, field.aspect_names)

    facts = facts_of(opened, args.domain) | {"first": first, "second": second, **found.ends._asdict()}
    said = found.sentence
    if field.aspects is not None and len(field.systems) > 3:
        carried = carriers(field)
        pair = carried.pair(first, second)
        if pair.places or found.ends.moves:
            facts |= {"kept_without": int(pair.kept.sum())} | ({"carrier": pair.carrier} if pair.carrier else {})
            said = f"{said} {carried.sentence(first, second)}"
    two = [field.p[field.scorers.index(name)] for name in (first, second)]
    if len(field.systems) > 2 and (two[0] != two[1]).any():
        made = profile(field, first, second)
        facts |= {"most_from": made.most, "lead_without": float(made.without[made.systems.index(made.most)])}
        said = f"{said} {made.sentence}"
    elif len(field.systems) == 2:
        said = f"{said} Which system contributes most can be told from three systems on; there are two."
    facts |= {"verdict": f"{said}{_apart(found.table)}", "signature": v.signature}
    shown = found.table[
        ["beta", "spa_first", "spa_second", "lead", "lead_low", "lead_high", "better", "moves", "turns"]
    ]
    shown = shown.iloc[
        _few(shown["beta"].to_numpy(), float(np.nan if field.aspects is None else balance(*field.aspects)), args.step)
    ]
    if len(shown) == 1:  # no balance is known
        shown = shown.assign(beta="natural")
    return Result(facts | opened.counted, {"comparison": found.table}, (shown,), figure, opened.notes)


def _few(betas: np.ndarray, natural: float, step: float | None) -> list[int]:
    """Which balances a reader sees: both ends, the natural one, and multiples of `step`, or a dozen in all."""
    last = len(betas) - 1
    middle = {int(np.abs(betas - natural).argmin())} if last and not np.isnan(natural) else set()
    if step is None:
        between = np.linspace(0, last, 11).round().astype(int).tolist()
    else:
        between = [n for n, beta in enumerate(betas) if abs(beta / step - round(beta / step)) < 1e-6]
    return sorted({0, last, *between} | middle)


def _apart(table: pd.DataFrame) -> str:
    """What to say where PERM-BOTH and the interval of the lead do not agree; nothing where they do."""
    sure = (table["lead_low"] > 0) | (table["lead_high"] < 0)
    odd = int((sure != (table["better"] != "")).sum())
    if not odd or table["lead_low"].isna().all():
        return ""
    return (
        f" At {odd} of {len(table)} balances PERM-BOTH and the interval of the lead disagree: the test keeps people's ratings "
        "as they are and asks about these documents, the interval draws both anew with the documents."
    )


def _chosen(args: argparse.Namespace, field: Contest) -> list[str]:
    """The scorers to point out: those asked for, else the reader's own, else the five best."""
    with naming("--show"):
        shown = [scorer_named(field, scorer) for scorer in args.show or ()]
    own = [s for s, mine in zip(field.scorers, field.own, strict=True) if mine]
    return shown or own or rank(field).table["scorer"].head(5).tolist()
