"""Commands that answer without frames: what they do not need (pandas, the tests, figures) is not loaded.

A command is one function from parsed arguments to a `Result`, and its docstring is its help; `program.COMMANDS` lists them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.balance import balance, reachable
from ..core.check import DataError, near
from ..core.leverage import Leverage, leverage
from ..data.aspects import PAPER, check_vary, two_aspects
from ..data.digest import load
from ..data.export import template, write_dataset, write_inputs
from ..data.files import read_text
from ..data.protocol import Dataset
from ..data.registry import ships
from ..data.sheet import header, read_means
from ..solve.result import NotProven, Reweighting
from ..solve.verify import measured
from ..study.overview import participants, summaries
from .formats import Columns, Result, cell
from .output import chosen_format

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEW = 30  # rows that a terminal shows of a table that has one for each rating


def datasets(args: argparse.Namespace) -> Result:
    """List the datasets that ship, or who takes part in one.

    For each: the number of systems, rated segments and scorers; the natural balance
    beta0, adequacy's share of the variance between systems, with its interval of
    95 % ('whichbird beta --help' says of what); the range of balances that
    reweighting can reach; the reliable interval, in which the effective sample size
    is at least 0.9 times the number of systems; and whether the paper has it.

    With a name: its systems and scorers, kept or left out and why; for each system
    its means, its leverage, how hard it pulls beta0, and beta0_without, that of the
    others. segments are the lines with official totals, which p-values rest on,
    annotated those with ratings of errors, which beta0 rests on; --json lists them,
    counted from 1, too.

    With --domains: a line for each kind of text in each dataset, or in the one that
    is named, with its rated segments and documents, and its own beta0.

    examples:
      whichbird datasets
      whichbird datasets ende24
      whichbird datasets --domains
      whichbird datasets --json
    """
    from ..data.segments import load_pool

    if args.domains:
        from ..study.domains import by_domain

        found = by_domain(None if args.name is None else [load_pool(args.name)])
        few = found.drop(columns="systems").astype(object)
        return Result({}, {"domains": found}, (few.where(few.notna(), "-"),))
    if args.name is None:
        rows = summaries()
        hidden = ("annotated", "note")  # few differ in the former; the page of each says so
        seen = [{k: _obtained(v) for k, v in row._asdict().items() if k not in hidden} for row in rows]
        return Result({}, {"datasets": _columns([row._asdict() for row in rows])}, (_columns(seen),))
    d = load(args.name)
    pool = load_pool(args.name)
    (about,) = summaries([d])
    facts = pool_facts(about._asdict())
    facts = {what: facts[what] for what in ("data", "systems", "segments")} | {"annotated": about.annotated} | facts
    if not np.isnan([about.beta0_low, about.beta0_high]).any():
        facts["beta0_interval"] = about.beta0_low, about.beta0_high
    facts |= {
        "scorers": len(d.scorers),
        "source_lines": d.source_lines,
        "reference": d.reference,
        "reference_of_wmt": d.info["standard"],
        "documents": 0 if pool.documents is None else len(set(pool.documents)),
        "raters": len(pool.rater_names),
        "segments_left_out": tuple(f"{x.number}: {x.reason}" for x in pool.left_out if x.kind == "segment"),
        "in_the_paper": about.paper,
        "signature": d.signature,
    }
    table = _columns([row._asdict() for row in participants(pool)])
    shown = table | {"kept": ["kept" if kept else "left out" for kept in table["kept"]]}
    lines = {"line": pool.lines + 1, "has_total": pool.official, "has_errors": pool.annotated}
    if d.aspects is None:
        return Result(facts, {"members": table, "lines": lines}, (shown,))
    means = {"system": list(d.systems), "adequacy": d.aspects[0], "fluency": d.aspects[1]}
    means |= pull_of(leverage(*d.aspects))
    return Result(facts, {"members": table, "means": means, "lines": lines}, (shown, means))


def pull_of(found: Leverage) -> Columns:
    """What each system does to the natural balance, as columns."""
    return {"leverage": found.leverage, "beta0_without": found.without}


def _columns(rows: list[dict[str, Any]]) -> Columns:
    """Rows as a table."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def _obtained(value: object) -> object:
    return "not obtained" if isinstance(value, float) and np.isnan(value) else value


def reweight(args: argparse.Namespace) -> Result:
    """Weight systems so that they have a chosen balance.

    Finds the most even weights of that balance, with a proof that none are more
    even. The systems are those of a dataset, of --human or --mtme, or of a file
    systems.csv: a header with the columns system, adequacy, fluency (in any order;
    others are ignored; --aspects names two others) and one row per system: means,
    higher is better, both in the same unit.

    With --aspects and --shares: the most even weights with which the aspects have
    these shares of the variance, for any number of columns of the table, of rated
    aspects of a dataset, or of its kinds of error, as accuracy,fluency,style.

    examples:
      whichbird reweight ende24 --beta 0.7 --without IKUN-C
      whichbird reweight systems.csv --beta 0.5
      whichbird reweight systems.csv --beta 0.5 --out weights.csv --plot weights.svg
      whichbird reweight systems.csv --beta 0.5 --proof proof.json
      whichbird reweight systems.csv --sweep --step 0.05 --csv
      whichbird reweight ende24 --aspects accuracy,fluency,style --shares .6,.3,.1
    """
    if args.shares is not None or (args.aspects or "").count(",") > 1:
        from .shares import reweight as several

        return several(args)
    if args.proof and args.sweep:
        raise ValueError("--proof writes the proof of one weighting; --beta is expected with it, not --sweep")
    from ..solve.reweight import reliable_interval, reweight as solve
    from ..study.targets import steps, weight_sweep

    name, pool, aspects = _means(args)
    with naming(name):
        targets = steps(*pool[1:], args.step)
        interval = reliable_interval(*pool[1:])
        solved = None if args.sweep else solve(*pool[1:], args.beta)

    def figure() -> Figure:
        from ..show import figures

        return figures.weights_over_beta(weight_sweep(*pool, targets), interval, args.beta, aspects)

    facts: dict[str, object] = {"aspects": aspects, "beta0": balance(*pool[1:]), "reachable": reachable(*pool[1:])}
    facts["reliable_interval"] = interval
    if solved is not None:
        if args.proof and not np.isfinite(solved.gap):
            raise NotProven(f"at beta = {args.beta:g} the proof does not hold in exact arithmetic")
        weights = _weights(*pool, solved.weights)
        return Result(facts | proof_facts(solved), {"weights": weights}, figure=figure, proof=solved.proof)
    import pandas as pd

    long = weight_sweep(*pool, targets)
    wide = long.pivot(index="beta", columns="system", values="weight")[pool[0]]
    few = long.groupby("beta", sort=True)[["ess", "reliable", "certificate"]].first().reset_index()
    shown = pd.concat([few.map(cell), wide.reset_index(drop=True).map("{:.4f}".format)], axis=1)
    return Result(facts, {"weights": long}, (shown,), figure)


def _means(args: argparse.Namespace) -> tuple[str, tuple[list[str], np.ndarray, np.ndarray], tuple[str, str]]:
    """What the data are called, the means of systems, and what the two aspects are called."""
    file = args.source
    if file is not None and not ships(file):
        if header(read_text(file)).isdisjoint({"segment", "category"}):
            two = two_aspects(args.aspects)
            systems, a, f = read_means(file, two)
            label = two[0].label, two[1].label
            check_vary((a, f) if two is not PAPER else None, label, file)
            keep = np.array([s not in _left_out(args.without, systems, file) for s in systems])
            return file, ([s for s, k in zip(systems, keep, strict=True) if k], a[keep], f[keep]), label
    from .sources import open_source

    found = open_source(args).data
    if found.aspects is None:
        raise DataError(f"{found.name} has no ratings of two aspects, so no balance can be set")
    return found.name, (list(found.systems), *found.aspects), found.aspect_names


def verify_(args: argparse.Namespace) -> Result:
    """Check a proof that 'reweight --proof' wrote, in exact arithmetic.

    Nothing is taken from the solver: scores, target and weights are read from the
    file as exact fractions. beta and ess are those of the weights in the file, and
    gap is by how much the sum of their squares could at most be improved on the
    target, relatively. To be on it exactly, a share of the weight has to lie
    elsewhere; that is moved. What proves nothing, or a larger gap than --gap, is
    refused with exit code 2; so are weights whose beta is 1e-9 off the target.

    examples:
      whichbird verify proof.json
    """
    text = read_text(args.file, "'whichbird reweight --proof' writes one")
    try:
        proof = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{args.file}: not a proof: no JSON ({error})") from None
    if isinstance(proof, dict) and "shares" in proof:
        from .shares import verify as several

        return several(args, proof)
    with naming(args.file):
        found = measured(proof)
        if found.gap > args.gap:
            raise ValueError(f"not a proof of a gap of {args.gap:g} or less (--gap), but of {found.gap:.3g}")
    a, f, w = ([Fraction(v) for v in proof[name]] for name in ("adequacy", "fluency", "weights"))
    total = sum(w)
    columns = (np.array([float(v) for v in x]) for x in (a, f, [v / total for v in w]))
    weights = _weights([f"system {k}" for k in range(1, len(w) + 1)], *columns)
    facts: dict[str, object] = {
        "target": float(found.target),
        "beta": float(found.beta),
        "moved": float(found.moved),
        "ess": float(1 / found.collision),
        "gap": found.gap,
    }
    return Result(facts, {"weights": weights})


def _left_out(names: list[str] | None, systems: list[str], file: str) -> list[str]:
    for name in names or ():
        if name not in systems:
            raise DataError(f"{file} has no system {name!r} to leave out{near(name, systems)}")
    if names and len(systems) - len(set(names)) < 2:
        raise DataError(f"{file}: without {', '.join(names)} fewer than two systems are left; two are needed")
    return names or []


def _weights(systems: list[str], a: np.ndarray, f: np.ndarray, w: np.ndarray) -> Columns:
    return {"system": systems, "adequacy": a, "fluency": f, "weight": w}


def template_(args: argparse.Namespace) -> Result:
    """Show the score file that a dataset, or your ratings, need: to be filled in.

    A table with the columns system, segment and score: every rated system and every
    rated segment, as the ratings call it, or else as source line, counted from 1.
    Fill in the last column and hand it to --scores. A terminal shows the first
    rows, --csv all.

    examples:
      whichbird template enes24 --out my.csv
      whichbird template --human human.csv --out my.csv
    """
    if args.human or args.mtme or args.source and not ships(args.source):
        from .sources import open_source

        d: Dataset = open_source(args).data
    else:
        from ..data.source import source

        d = source(
            args.source, aspects=args.aspects, without=args.without or (), domain=args.domain, raters=args.raters
        )
    table = template(d)
    rows = len(table["score"])
    facts = {"data": d.name, "systems": len(d.systems), "segments": int(d.official.sum()), "rows": rows}
    shown = {name: column[:FEW] for name, column in table.items()}
    return Result(facts, {"template": table}, (shown,), None, cut(args, rows))


def taxonomies_(args: argparse.Namespace) -> Result:
    """List the groupings of MQM errors that ship, or print one as a file to edit.

    --taxonomy of other commands takes such a name, or a file of yours that ends in
    .toml, as in 'whichbird beta mqm.tsv --taxonomy mine.toml'. A file says what
    differs from the paper's grouping; the rest is inherited. All of its parts may
    be missing:

      title = "Terminology to adequacy"
      why = "a wrong term is a wrong meaning"
      [aspects]                      # categories of each aspect; a star at the end
      adequacy = ["terminology/*"]   # stands for whatever follows; also fluency,
                                     # and neither
      [severities]                   # what an error costs by its severity
      major = 10
      [categories]                   # a price whatever the severity
      "non-translation" = 25
      [pairs."fluency/punctuation"]  # the price of a category at a severity
      minor = 0.1

    examples:
      whichbird taxonomies
      whichbird taxonomies terminology --out mine.toml
    """
    from ..data.taxonomies import load_taxonomy, taxonomies, taxonomy_text

    if args.name is None:
        found = [load_taxonomy(name) for name in taxonomies()]
        table = {what: [getattr(g, what) for g in found] for what in ("name", "title", "why")}
        return Result({}, {"taxonomies": table}, ({"name": table["name"], "title": table["title"]},))
    text = taxonomy_text(args.name)
    return Result({"taxonomy": args.name, "toml": text}, {}, plain=text)


def example(args: argparse.Namespace) -> Result:
    """Write small real files of every form that the other commands read.

    From a dataset that ships: human.csv (ratings), mqm.tsv (MQM errors; made, since
    those of segments do not ship), systems.csv (means), scores.csv (two scorers),
    my.ende24.seg.score (one), pairs.csv (preferences). A new folder, which appears
    when it is complete. The examples of README run on these files.

    examples:
      whichbird example files
    """
    from ..data.example import write_example

    return Result({"data": args.dataset}, {"files": write_example(args.dataset, args.to)})


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
    facts = {"data": d.name, "systems": len(d.systems), "segments": int(d.official.sum()), "reference": reference}
    return Result(facts, {"files": table})


def export(args: argparse.Namespace) -> Result:
    """Write a dataset as plain tables with a card, for R, Julia or a spreadsheet.

    A new folder gets systems.csv (means), cells.csv (a row per system and segment:
    the rating that counts, and every scorer), ratings.csv (every rating, where
    cells have several) and README.md, which says what the columns are. Where
    pyarrow is installed, tables are there as Parquet, too. The folder appears when
    it is complete.

    examples:
      whichbird export ende24 tables
    """
    from ..data.segments import load_pool

    pool = load_pool(args.dataset)
    facts = {"data": pool.name, "systems": len(pool.systems), "segments": len(pool.lines)}
    return Result(facts, {"files": write_dataset(pool, args.to)})


def cut(args: argparse.Namespace, rows: int) -> tuple[str, ...]:
    """What to say where people see the first of many rows only."""
    whole = chosen_format(args) in ("csv", "json") or args.out
    return () if whole or rows <= FEW else (f"shown are {FEW} of {rows} rows; --csv has all",)


def pool_facts(row: Mapping[str, Any]) -> dict[str, object]:
    facts: dict[str, object] = {"data": row["name"], "systems": int(row["systems"]), "segments": int(row["segments"])}
    if "documents" in row:
        facts["documents"] = int(row["documents"])
    if row["note"]:
        return facts | {"note": row["note"]}
    return facts | {
        "beta0": row["beta0"],
        "reachable": (row["beta_min"], row["beta_max"]),
        "reliable_interval": (row["reliable_min"], row["reliable_max"]),
    }


def proof_facts(r: Reweighting) -> dict[str, object]:
    from ..study.targets import is_reliable

    return {"beta": r.target, "ess": r.ess, "reliable": is_reliable(r), "certificate": r.certificate, "gap": r.gap}


class naming:
    """Say which file or dataset a refusal of the library is about."""

    def __init__(self, what: str):
        self.what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ValueError | NotProven) and not str(error).startswith(str(self.what)):
            refusal = NotProven if isinstance(error, NotProven) else DataError
            raise refusal(f"{self.what}: {error}") from None
