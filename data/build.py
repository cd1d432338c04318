"""Rebuild data/ from an mt-metrics-eval-v2 tree: python data/build.py --mtme DIR, or --download to fetch the public release first.

Everything that ships is made here: a digest and a file of segments for each dataset, and the tables beside them. --only takes some
datasets and leaves what ships of the others as it is, byte for byte; --tables makes some products only (digests, segments, or tables by
name). Tables that follow from the digests need no tree, nor does the manifest, which is written anew after every build. Same input, same
content. All is made in a temporary folder elsewhere and put in place at the end.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import gzip
import http.client
import io
import itertools
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from whichbird import DataError, ablation, balance, reachable, reliable_interval, reweight_sweep, search
from whichbird.core.augment import DIALS, PAPER_FAMILIES, offsets
from whichbird.core.check import near
from whichbird.core.permutation import p_counts, p_curve_counts
from whichbird.data import digest, humans, segments
from whichbird.data.files import tidy_end, write_whole
from whichbird.data.manifest import write_manifest
from whichbird.data.mqm import TAXONOMY, plain
from whichbird.data.mtme import find_tree, is_human, read_mtme, read_scores
from whichbird.data.pool import Exclusion, Pool, Rating
from whichbird.data.registry import DATASETS, PRIMARIES, TREE
from whichbird.data.taxonomies import PAPER, Grouping, load_taxonomy, regroup, taxonomies
from whichbird.solve import baseline
from whichbird.study import portrait, synthesis
from whichbird.study.carriers import carriers_table
from whichbird.study.ceiling import ceiling_table
from whichbird.study.components import FEWEST, components as natural
from whichbird.study.contest import need_aspects
from whichbird.study.domains import domain_agreement, domain_lean, domain_pools
from whichbird.study.meta import SWEPT as METAMETRICS
from whichbird.study.placebo import placebo
from whichbird.study.preference import preference, steps
from whichbird.study.sampling import cells as sampled
from whichbird.study.stability import at_balance
from whichbird.study.sweep import beta_grid, sweep
from whichbird.study.verdict import Verdict, build_significance, load_significance, save_significance
from whichbird_book import guest
from whichbird_book.choices import by_seed, by_taxonomy
from whichbird_book.interactions import interaction_table
from whichbird_book.leaning import table as leans_and_gains
from whichbird_book.raters import rater_coverage
from whichbird_book.trials import cluster_seeds as seeded, false_claims as tried, swap_sizes
from whichbird_book.worlds import beta_coverage as covered, coverage, drawn_from, made_worlds, text_world

ADDRESSES = (
    "https://data.statmt.org/wmt26/mt-metrics-eval-v2.tgz",
    "https://storage.googleapis.com/mt-metrics-eval/mt-metrics-eval-v2.tgz",
)
HERE = Path(__file__).resolve().parent
BLOCK = 1 << 20
SWEPT, SYSTEMS, TARGETS = "ende24", 16, 50  # appendix B of the paper: its dataset, its systems, targets per range
STARTS = {"SLSQP": (1, 5, 30), "interior point": (1, 5)}
REACHED = 1e-6  # how close to the target a numerical baseline must come
DRAWS = 4_000_000  # weightings per dataset in the cells of (ESS, β)
TEXTS = 2000  # pools drawn from each world of known natural balance
FEW = (8, 16, 32)  # documents in smaller worlds, drawn from those of some datasets
FEWER = ("zhen20", "ende22", "ende24", "enes24")
DEALS = range(
    synthesis.POOLS_SEED, synthesis.POOLS_SEED + 3
)  # seeds that break ties when pools are synthesised, the published one first
TURNS = 5000  # resamples that tell whether a natural order turns: with 1000 the count hangs on the seed
RISE = (0.5, 0.9)  # the balances between which chapter 3.3 ranks scorers
BALANCES, INSET = 21, 0.001  # where stability is looked at, and how far from the ends of the reachable range


def build(
    root: Path | None,
    out: Path,
    names: Sequence[str] = tuple(DATASETS),
    products: Sequence[str] | None = None,
    heen: Path | None = None,
    draws: int = DRAWS,
) -> list[str]:
    """Make the products of some datasets: all that are asked for or, if one fails, none. Returns the names of those made.

    `heen` is a table of errors for the dataset whose ratings the release lacks. Without `root` only tables that follow from digests
    can be made.
    """
    out.mkdir(parents=True, exist_ok=True)
    chosen = tuple(PRODUCTS if products is None else products)
    of_pool = tuple(p for p in chosen if _of_pool(p))
    with tempfile.TemporaryDirectory(prefix="whichbird-data-") as folder:
        scratch = Path(folder)
        rows: dict[str, dict[str, pd.DataFrame]] = {}
        if of_pool:
            if root is None:
                raise DataError(f"no tree, and {of_pool[0]} need one")
            jobs = [partial(_dataset, root, name, scratch, of_pool, _errors_file(name, heen)) for name in names]
            for name, made in zip(names, _parallel(jobs, "datasets"), strict=True):
                for table, part in made.items():
                    rows.setdefault(table, {})[name] = part
        if TESTS in chosen:
            there = [(name, _segments_of(name, scratch, out)) for name in names]
            _parallel([partial(_test, path, scratch / TESTS / f"{name}.npz") for name, path in there if path], TESTS)
        real = [_segments_of(name, scratch, out) for name in WORLDS]
        if COVERAGE in chosen and all(real):
            jobs = [partial(_covered, n) for n in range(len(made_worlds()))] + [
                partial(_covered, path) for path in real
            ]
            covered = pd.concat(_parallel(jobs, COVERAGE)).round(4)
            (scratch / f"{COVERAGE}.csv").write_text(
                covered.to_csv(index=False, lineterminator="\n"), "utf-8", newline=""
            )
        if SWAPS in chosen:
            jobs = [partial(_sizes, effect, shared) for shared in (False, True) for effect in EFFECTS]
            sizes = pd.concat(_parallel(jobs, SWAPS))
            _write(sizes.to_csv(index=False, lineterminator="\n", float_format="%.4g"), scratch, SWAPS)
        if RATERS in chosen:
            shared = [path for name in SHARED if (path := _segments_of(name, scratch, out))]
            if len(shared) == len(SHARED):
                covered = pd.concat(_parallel([partial(_covered_raters, path) for path in shared], RATERS)).round(4)
                (scratch / f"{RATERS}.csv").write_text(
                    covered.to_csv(index=False, lineterminator="\n"), "utf-8", newline=""
                )
        of_digest = [
            (t, name)
            for t in chosen
            if t in TABLES and TABLES[t].source in ("digest", "segments", "tests")
            for name in names
            if _digest_of(name, scratch, out) is not None and TABLES[t].takes(name)
            if TABLES[t].source == "digest" or _segments_of(name, scratch, out) is not None
            if TABLES[t].source != "tests" or _tests_of(name, scratch, out) is not None
        ]
        jobs = [
            partial(_of_digest, t, _digest_of(name, scratch, out), draws)
            if TABLES[t].source == "digest"
            else partial(
                _of_segments,
                t,
                _digest_of(name, scratch, out),
                _segments_of(name, scratch, out),
                _tests_of(name, scratch, out) if TABLES[t].source == "tests" else None,
            )
            for t, name in of_digest
        ]
        for (table, name), part in zip(of_digest, _parallel(jobs, "tables"), strict=True):
            if part is not None:
                rows.setdefault(table, {})[name] = part
        for table, parts in rows.items():
            _merge(parts, names, scratch, out, table)
        if SWEPT in names:
            for table in (t for t in chosen if t in TABLES and TABLES[t].source == "targets"):
                path = _digest_of(SWEPT, scratch, out)
                d = None if path is None else digest.read(path)
                if d is not None and d.aspects is not None and len(d.systems) == SYSTEMS:
                    _write(_text(_at_targets(table, *d.aspects), table), scratch, table)
        if HUMANS in chosen and root is not None:
            for name in (n for n in names if DATASETS[n].humans):
                humans.save_humans(humans.make_humans(root, name), scratch / HUMANS / f"{name}.npz")
        if GUESTS in chosen:
            missing = _guest(root, names, scratch, out)
            if missing and chosen == (GUESTS,):
                raise DataError(missing)
            print(missing, end="\n" if missing else "")
        if OTHERS in chosen:
            missing = _fields(root, scratch)
            print(missing, end="\n" if missing else "")
        made = _put(scratch, out)
        if REPORT in chosen:  # of what lies in data/ by now
            missing = _report(root, scratch, out)
            if missing and chosen == (REPORT,):
                raise DataError(missing)
            print(missing, end="\n" if missing else "")
            made |= {REPORT} if _put(scratch, out) else set()
        if chosen == (MANIFEST,):
            write_manifest(out)
        made |= {MANIFEST} if made or chosen == (MANIFEST,) else set()
        return [product for product in chosen if product in made]


def _put(scratch: Path, out: Path) -> set[str]:
    """Put what was made in place, each file in one step, and list it in the manifest; the products that the files belong to."""
    files = sorted(path for path in scratch.rglob("*") if path.is_file())
    for file in files:
        target = out / file.relative_to(scratch)
        target.parent.mkdir(exist_ok=True)
        write_whole(target, file.read_bytes(), force=True)  # the two may lie on different disks
        file.unlink()
    if files:
        write_manifest(out)
    return {_product(file.relative_to(scratch)) for file in files}


def _product(file: Path) -> str:
    """Which product a file belongs to, by its place below data/."""
    return file.parts[0] if len(file.parts) > 1 else "digests" if file.suffix == ".npz" else file.stem


def _parallel(jobs: Sequence[Callable[[], Any]], what: str) -> list[Any]:
    """The results of the jobs, in their order, from as many processes as there are processors."""
    if not jobs:
        return []
    with ProcessPoolExecutor(max_workers=min(len(jobs), os.cpu_count() or 1)) as workers:
        futures = [workers.submit(job) for job in jobs]
        try:
            for done in tqdm(as_completed(futures), total=len(jobs), desc=what, unit="job", disable=None):
                done.result()  # the first failure ends it all
        except BaseException:
            workers.shutdown(cancel_futures=True)
            raise
        return [future.result() for future in futures]


def _dataset(
    root: Path, name: str, out: Path, products: Sequence[str], errors_file: Path | None
) -> dict[str, pd.DataFrame]:
    """Write the digest and the segments of a dataset, if asked for, and return its rows of the tables."""
    pool = read_mtme(root, name, errors=errors_file)
    others = []
    if DATASETS[name].standard != pool.reference and {*FILES} & {*products}:
        others = [read_mtme(root, name, reference="standard", errors=errors_file)]
    if "digests" in products:
        digest.make(pool, *others).save(out / f"{name}.npz")
    if "segments" in products:
        segments.save(out / "segments" / f"{name}{segments.ENDING}", pool, *others)
    made = {
        t: TABLES[t].make(pool, *[root] * (t in ("references", "floating", "all_lines")))
        for t in products
        if _of_pool(t) and t not in FILES and TABLES[t].takes(name)
    }
    return {table: rows for table, rows in made.items() if rows is not None}


def _of_pool(product: str) -> bool:
    """Whether a product is made while a dataset is read."""
    return product in FILES or product in TABLES and TABLES[product].source == "pool"


def _segments_of(name: str, *folders: Path) -> Path | None:
    """The segments of a dataset in the first folder that has them."""
    paths = (folder / "segments" / f"{name}{segments.ENDING}" for folder in folders)
    return next((path for path in paths if path.exists()), None)


def _tests_of(name: str, *folders: Path) -> Path | None:
    """The tests of a dataset in the first folder that has them."""
    paths = (folder / TESTS / f"{name}.npz" for folder in folders)
    return next((path for path in paths if path.exists()), None)


def _test(source: Path, target: Path) -> None:
    """Write the tests and intervals of a dataset."""
    save_significance(build_significance(segments.read(source)), target)


def _covered(world: int | Path) -> pd.DataFrame:
    """What intervals cover in one world: a made one, by its number, or one drawn from the segments in a file."""
    if isinstance(world, int):
        return coverage(made_worlds()[world], contests=120, resamples=200, truth=1000)
    pool = segments.read(world)
    a, f = need_aspects(pool)
    low, high = reliable_interval(a, f)
    return coverage(drawn_from(pool, [low, balance(a, f), high]), contests=40, resamples=200, truth=300)


def _sizes(effect: float, shared: bool) -> pd.DataFrame:
    """How often swap tests find one of two equal scorers better, in made worlds of one design effect."""
    found = swap_sizes(effect, shared, worlds=SIZES)
    rows = [
        {"effect": effect, "shared": shared, "way": way, "size": size, "worlds": SIZES} for way, size in found.items()
    ]
    return pd.DataFrame(rows)


def _covered_raters(source: Path) -> pd.DataFrame:
    """What intervals over raters cover in the world of one dataset."""
    return rater_coverage(segments.read(source), contests=600, truth=2000)


def _guest(root: Path | None, names: Sequence[str], scratch: Path, out: Path) -> str:
    """Write the guest if its dataset is asked for and its authors' scores lie in the tree or beside it; else say what is missing."""
    path = _digest_of(guest.DATASET, scratch, out)
    if guest.DATASET not in names or path is None:
        return f"guests: {guest.NAME} is left as it is, since it needs {guest.DATASET}"
    raw = None if root is None else guest.find_raw(root)
    if raw is None:
        return f"guests: {guest.NAME} is left as it is, since no {guest.RAW} is in the tree or beside it"
    guest.save_guest(guest.make_guest(raw, digest.read(path)), scratch / guest.SHIPPED)
    return ""


def _fields(root: Path | None, scratch: Path) -> str:
    """Write the pools of other fields whose raw files lie in the tree or beside it; else say what is missing."""
    missing, jobs = [], []
    for raw, parts in {"biomqm": _biomqm, "hanna": lambda found: [partial(_hanna, found)]}.items():
        places = [] if root is None else [root / raw, root.parent / raw]
        found = next((place for place in places if place.is_dir()), None)
        if found is None:
            missing.append(raw)
        else:
            jobs += [partial(_field, part, scratch) for part in parts(found)]
    _parallel(jobs, OTHERS)
    return (
        f"fields: no {' and no '.join(missing)} is in the tree or beside it, so what ships stays as it is"
        if missing
        else ""
    )


def _field(reader: Callable[[], tuple[Pool, tuple[str, ...]]], scratch: Path) -> None:
    """Write segments and digest of a pool of another field, and the tests of the scorers that its reader names."""
    pool, tested = reader()
    segments.save(scratch / OTHERS / f"{pool.name}{segments.ENDING}", pool)
    digest.make(pool).save(scratch / OTHERS / f"{pool.name}.npz")
    few = replace(pool, scorers={s: x for s, x in pool.scorers.items() if s in tested})
    save_significance(build_significance(few), scratch / TESTS / f"{pool.name}.npz")


def _biomqm(raw: Path) -> list[Callable[[], tuple[Pool, tuple[str, ...]]]]:
    """The readers of BioMQM v2, one a pair."""
    folders = sorted((raw / "data/v2/target/main_phase/round_two").iterdir())
    return [partial(_bio, folder, raw / f"texts/{folder.name}.tsv") for folder in folders]


def _bio(folder: Path, texts_file: Path) -> tuple[Pool, tuple[str, ...]]:
    """A pair of BioMQM v2, and the scorers whose tests ship. Omissions stand in `source_errors`; faults of the source text
    (category Source) do not count.

    Scorers are computed here where the texts of all systems and the reference are known; total is missing elsewhere, since
    people and scorers are compared on the same segments. Adequacy, fluency and β rest on all.
    """
    try:
        from sacrebleu.metrics import BLEU, CHRF, TER
    except ImportError:
        raise DataError("the scorers of the biomedical pools need sacrebleu: pip install -r requirements.txt") from None
    prices = {"Neutral": 0.0, "Minor": 1.0, "Major": 5.0, "Critical": 5.0}
    cells: dict[tuple[str, str, str], dict[str, np.ndarray]] = {}  # points of each rater: adequacy, fluency, total
    faults: dict[
        tuple[str, str, str], list[tuple[tuple[str, str, str], float]]
    ] = {}  # what was marked, by system and label
    files = [f for f in sorted(folder.glob("*.json")) if not f.stem.startswith("reference")]
    for file in files:
        for row in json.loads(file.read_text("utf-8")):
            points, cell = np.zeros(3), (file.stem, row["DOC_ID"], row["SEG_ID"])
            for error in row["source_errors"] + row["target_errors"]:
                kind, sub, severity = error["error_category"], error["error_subcategory"] or "", error["severity"]
                if kind == "Source":
                    continue
                cost = 0.1 if (sub, severity) == ("Punctuation", "Minor") else prices[severity]
                points[2] -= cost
                if kind in ("Accuracy", "Unintelligible") or sub == "Wrong_term":
                    points[0] -= cost
                elif kind != "Other":  # conventions, style, locale, inconsistent terms
                    points[1] -= cost
                label = plain(f"{kind}/{sub}" if sub else kind)
                faults.setdefault((file.stem, label, severity.lower()), []).append((cell, cost))
            cells.setdefault(cell, {})[row["Annotator_ID"].strip()] = points
    keys = sorted({key[1:] for key in cells}, key=lambda key: (int(key[0].removeprefix("doc")), int(key[1])))
    systems = tuple(file.stem for file in files)
    people = sorted({rater for rated in cells.values() for rater in rated})
    layers = np.full((max(map(len, cells.values())), len(systems), len(keys), 3), np.nan)
    who = np.full(layers.shape[:3], -1)
    for (k, s), (n, key) in itertools.product(enumerate(systems), enumerate(keys)):
        for layer, (rater, points) in enumerate(sorted(cells[s, *key].items())):
            layers[layer, k, n], who[layer, k, n] = points, people.index(rater)
    a, f, t = np.moveaxis(np.nanmean(layers, axis=0), 2, 0)
    shared = (who >= 0).sum(axis=0) > 1
    texts = pd.read_csv(texts_file, sep="\t", dtype=str, na_filter=False, quoting=csv.QUOTE_NONE)
    texts = texts.set_index(["doc", "seg"]).loc[keys, [*systems, "reference"]].to_numpy(dtype=object).T
    whole = (texts != "").all(axis=0)
    compared = np.where(whole, t, np.nan)
    chinese = folder.name.endswith("zh")
    made = {
        "BLEU": BLEU(effective_order=True, tokenize="zh" if chinese else "13a").sentence_score,
        "chrF": CHRF().sentence_score,
        "chrF++": CHRF(word_order=2).sentence_score,
        **(
            {} if chinese else {"TER": TER(case_sensitive=True).sentence_score}
        ),  # of words, which Chinese does not part
    }
    scorers = {}
    for name, score in made.items():
        for kind, said in (("", texts), (" lower-cased", np.vectorize(str.lower, otypes=[object])(texts))):
            x = np.full(t.shape, np.nan)
            for n in np.flatnonzero(whole):
                known = {text: round(score(text, [said[-1, n]]).score, 4) for text in {*said[:-1, n]}}  # many are alike
                x[:, n] = [known[text] * (-1 if name == "TER" else 1) for text in said[:-1, n]]
            scorers[name + kind] = x
    counted = [
        (*label, len(marks), sum(cost / len(cells[cell]) for cell, cost in marks))
        for label, marks in sorted(faults.items())
    ]
    pool = Pool(
        "bio_" + folder.name.replace("2", ""), systems, np.arange(len(keys)), len(keys), compared, a, f, scorers,
        errors=pd.DataFrame(counted, columns=["system", "category", "severity", "count", "penalty"]),
        reference="reference", documents=tuple(key[0] for key in keys), raters=np.where(shared, -1, who[0]),
        rater_names=tuple(f"rater{n}" for n in range(1, len(people) + 1)),
        ratings=tuple(Rating(*np.moveaxis(x, 2, 0), w) for x, w in zip(layers, who, strict=True)),
        left_out=() if whole.all() else (Exclusion("segment", "", "a text is missing, so it counts for β alone", int((~whole).sum())),),
        notes=("scorers and total stand where the texts of all systems and the reference are known",),
    )  # fmt: skip
    return pool, tuple(scorers)


def _hanna(raw: Path) -> tuple[Pool, tuple[str, ...]]:
    """HANNA and the scorers whose tests ship, one of each kind. Relevance as adequacy, coherence as fluency, total their mean;
    human stories left out, distances negated."""
    table = pd.read_csv(raw / "hanna_metric_scores_llm.csv").set_index("Model").drop(index="Human")
    x = {c: np.array([json.loads(cell) for cell in table[c]], dtype=float) for c in table}
    a, f = x["Relevance"], x["Coherence"]
    six = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")
    scorers = {c.partition(" Ξ")[0].partition(" ¤")[0]: x[c] for c in x if c not in six and not c.startswith("Human")}
    scorers = {s: -v if s.startswith(("DepthScore", "BaryScore", "InfoLM")) else v for s, v in scorers.items()}
    kept = "InfoLM-FisherRao"
    twins = [s for s in scorers if s.startswith("InfoLM") and s != kept and np.array_equal(scorers[s], scorers[kept])]
    for twin in twins:
        del scorers[twin]
    short = ("RE", "CH", "EM", "SU", "EG", "CX")
    criteria = {
        c.lower(): np.array([x[f"Human {k} {mark}"] for k in (1, 2, 3)]) for c, mark in zip(six, short, strict=True)
    }
    ratings = zip(criteria["relevance"], criteria["coherence"], strict=True)
    likes = (
        "SUPERT-",
        "BLANC-",
        "BARTScore-",
        "BERTScore F1",
        "S3-Pyramid",
        "SummaQA",
        kept,
        "DepthScore",
        "BaryScore-W",
    )
    likes += ("BLEU", "METEOR", "chrF", "CIDEr", "ROUGE-L F", "ROUGE-WE-3", "MoverScore", "Text length", "Repetition-1")
    judges = tuple(s for s in scorers if s.endswith((" RE 1", " CH 1")))
    pool = Pool(
        "hanna", tuple(table.index), np.arange(a.shape[1]), a.shape[1], (a + f) / 2, a, f, scorers, reference="human story",
        ratings=tuple(Rating(r, c, (r + c) / 2, np.full(a.shape, -1)) for r, c in ratings),
        aspect_names=("relevance", "coherence"), criteria=criteria,
        left_out=(Exclusion("system", "Human", "human stories; metrics with a reference compare them with themselves"),),
        aliases=dict.fromkeys(twins, kept),
        notes=("adequacy is relevance to the prompt, fluency is coherence, total is their mean",),
    )  # fmt: skip
    return pool, (*(s for s in scorers if s.startswith(likes)), *judges)


def _report(root: Path | None, scratch: Path, out: Path) -> str:
    """Make the figures of a report on the guest, over all datasets that its authors scored; else say what is missing."""
    raw = None if root is None else guest.find_raw(root)
    if raw is None:
        return f"report: the one on {guest.NAME} is left as it is, since no {guest.RAW} is in the tree or beside it"
    folder = raw.parents[len(guest.RAW.parts) - 2]
    (scratch / portrait.SHIPPED).parent.mkdir(exist_ok=True)
    words = ["report", "--scores", f"{guest.NAME}={folder}", "--numbers", str(scratch / portrait.SHIPPED), "--force"]
    done = subprocess.run(
        [sys.executable, "-m", "whichbird", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"WHICHBIRD_DATA": str(out)},
    )
    if done.returncode:
        raise DataError(f"the report on {guest.NAME} failed: {done.stderr.strip()}")
    return ""


def _errors_file(name: str, heen: Path | None) -> Path | None:
    """A table of errors goes to the dataset whose ratings the release lacks."""
    return None if DATASETS[name].ratings else heen


def _of_digest(table: str, path: Path, draws: int) -> pd.DataFrame | None:
    d = digest.read(path)
    if d.aspects is None:
        return None
    rows = TABLES[table].make(d, draws) if table == "cells" else TABLES[table].make(d)
    return rows.assign(dataset=d.name)[["dataset", *rows.columns]]


def _of_segments(table: str, digest_path: Path, path: Path, tests: Path | None) -> pd.DataFrame | None:
    verdict = () if tests is None else (load_significance(path.stem, tests),)
    rows = TABLES[table].make(segments.read(path), digest.read(digest_path), *verdict)
    return None if rows is None else rows.assign(dataset=path.stem)[["dataset", *rows.columns]]


def _digest_of(name: str, *folders: Path) -> Path | None:
    """The digest of a dataset in the first folder that has one."""
    return next((path for path in (folder / f"{name}.npz" for folder in folders) if path.exists()), None)


def _text(rows: pd.DataFrame, table: str) -> str:
    rows = rows.assign(**{c: rows[c].map(repr) for c in TABLES[table].exact})
    return rows.to_csv(index=False, lineterminator="\n", float_format=f"%.{TABLES[table].digits}g")


def _merge(parts: dict[str, pd.DataFrame], names: Iterable[str], scratch: Path, out: Path, table: str) -> None:
    """Put the rows of the datasets built among those that ship of the others, which keep their bytes."""
    if TABLES[table].dataset is not None:  # a table of one dataset
        _write(_text(*parts.values(), table), scratch, table)
        return
    by_dataset: dict[str, list[str]] = {}
    header = None
    shipped = out / f"{table}.csv"
    if shipped.exists() and set(names) != set(DATASETS):
        header, *lines = shipped.read_text("utf-8").splitlines(keepends=True)
        for line in lines:
            by_dataset.setdefault(line.partition(",")[0], []).append(line)
    for name in names:
        by_dataset.pop(name, None)
    for name, part in parts.items():
        first, *lines = _text(part, table).splitlines(keepends=True)
        if header not in (None, first):
            raise DataError(
                f"{shipped}: its columns are {header.strip()}, the new ones {first.strip()}; build all datasets"
            )
        header, by_dataset[name] = first, lines
    order = [*(n for n in DATASETS if n in by_dataset), *(n for n in by_dataset if n not in DATASETS)]
    _write("".join([header or "", *(line for name in order for line in by_dataset[name])]), scratch, table)


def _write(text: str, folder: Path, table: str) -> None:
    (folder / f"{table}.csv").write_text(text, "utf-8", newline="")


# --- tables of a pool


def errors(pool: Pool) -> pd.DataFrame | None:
    """Every dataset's error counts, with its name."""
    if pool.errors is None:
        return None
    return pool.errors.assign(dataset=pool.name)[["dataset", "system", "category", "severity", "count", "penalty"]]


def synthesised(pool: Pool) -> pd.DataFrame | None:
    """The six synthesised pools of a dataset that has a split into adequacy and fluency."""
    return None if pool.adequacy is None else synthesis.evaluate(pool)


def references(pool: Pool, root: Path) -> pd.DataFrame | None:
    """The official MQM score of each reference that people rated, on the rated segments, and how many of them it has."""
    source = DATASETS.get(pool.name)
    if source is None or not source.official:
        return None
    scores = read_scores(find_tree(root) / source.set / "human-scores" / f"{source.pair}.mqm.seg.score")
    rows = [
        {"dataset": pool.name, "reference": system, "segments": int(seen.sum()), "total": x[seen].mean()}
        for system, x in zip(scores.systems, scores.values[:, pool.lines], strict=True)
        if is_human(system) and (seen := ~np.isnan(x)).any()
    ]
    return pd.DataFrame(rows) if rows else None


def all_lines(pool: Pool, root: Path) -> pd.DataFrame | None:
    """System means of WMT23's primaries over all source lines, rated or not, which are what its organisers ranked systems by."""
    source = DATASETS[pool.name]
    if source.set != ALL_LINES:
        return None
    systems, rows = (*pool.systems, *source.humans), []
    for scorer in sorted(PRIMARIES[source.set]):
        paths = [
            find_tree(root) / source.set / "metric-scores" / source.pair / f"{scorer}-{v}.seg.score"
            for v in (source.standard, "src")
        ]
        x = read_scores(next((path for path in paths if path.exists()), paths[0])).rows(systems)
        rows += [(pool.name, scorer, s, m) for s, m in zip(systems, np.nanmean(x, axis=1), strict=True)]
    return pd.DataFrame(rows, columns=["dataset", "scorer", "system", "mean"])


def floating(pool: Pool, root: Path) -> pd.DataFrame | None:
    """Explainability over β with cells grouped by exact sums of their errors, and by sums as floats in the order of the file.

    Released results grouped the latter: 1 + .1 + .1 and .1 + .1 + 1 are different floats, so equal cells fell apart.
    """
    if pool.aspects is None:
        return None
    a, f = _floating_sums(pool, root)
    weights = reweight_sweep(*pool.aspects, beta_grid(*pool.aspects)).insist()
    human, grid = p_counts(pool.total, exact=pool.exact), DIALS["explainability"]
    measure = {}
    for how, (x, y) in {"exact": (pool.adequacy, pool.fluency), "floating": (a, f)}.items():
        curves = [p_curve_counts(s, np.outer(grid, -offsets(s, x, y))) for s in pool.scorers.values()]
        measure[how] = preference(steps(human, np.array(curves)), weights.weights)
    rows = pd.DataFrame({"beta": weights.betas, "ess": weights.ess, **measure})
    return rows.assign(dataset=pool.name)[["dataset", *rows.columns]]


def _floating_sums(pool: Pool, root: Path) -> tuple[np.ndarray, np.ndarray]:
    """Adequacy and fluency of each cell (K, N), added up as floats from the first error of its line to the last."""
    source = DATASETS[pool.name]
    file = find_tree(root) / source.set / "human-scores" / f"{source.pair}.mqm.merged.seg.rating"
    place, at = {n: i for i, n in enumerate(pool.lines)}, dict.fromkeys(pool.systems, -1)
    out = {aspect: np.full(pool.total.shape, np.nan) for aspect in ("adequacy", "fluency")}
    for line in file.read_text("utf-8").splitlines():
        system, text, *_ = line.split("\t")
        if system not in at:
            continue
        at[system] += 1
        if at[system] in place and text != "None":
            cell = pool.systems.index(system), place[at[system]]
            for aspect, x in out.items():
                x[cell] = 0.0
                for error in json.loads(text)["errors"]:
                    if TAXONOMY.aspect(plain(error["category"])) == aspect:
                        x[cell] -= error["score"]
    return out["adequacy"], out["fluency"]


# --- tables of a digest


def sweeps(d: digest.Digest) -> pd.DataFrame:
    """The paper's three measures over the whole range of β, by SPA and by Pearson correlation."""
    parts = [sweep(d, meta=meta, families=PAPER_FAMILIES).assign(meta=meta) for meta in METAMETRICS]
    table = pd.concat(parts, ignore_index=True)
    return table[["meta", *table.columns.drop("meta")]]


def cells(d: digest.Digest, draws: int = DRAWS) -> pd.DataFrame:
    """The adequacy-over-fluency measure over many drawn weightings, by cells of (ESS, β)."""
    step = steps(d.counts("total"), d.curve_counts("adequacy-fluency"))
    return sampled(d.adequacy, d.fluency, step, draws, progress=False)


def stability(d: digest.Digest) -> pd.DataFrame:
    """Leave-one-out τ at fixed balances across the reachable range."""
    low, high = reachable(d.adequacy, d.fluency)
    inset = INSET * (high - low)
    betas = np.linspace(low + inset, high - inset, BALANCES)
    return at_balance(d.adequacy, d.fluency, d.counts("total"), d.counts("scorers"), betas)


def reliable(d: digest.Digest) -> pd.DataFrame | None:
    """The reliable interval, so that nobody has to load the solver to be told of it."""
    if d.aspects is None:
        return None
    low, high = reliable_interval(*d.aspects)
    return pd.DataFrame([{"low": low, "high": high}])


# --- tables of segments and their digest


def groupings(pool: Pool, d: digest.Digest) -> pd.DataFrame | None:
    """What a β means under each grouping of errors that changes adequacy or fluency here, the paper's first."""
    chosen = _apart(pool) if pool.adequacy is not None else []
    return by_taxonomy(pool, d, chosen) if chosen else None


def _apart(pool: Pool) -> list[Grouping]:
    seen, out = set(), []
    for name in taxonomies():
        g = load_taxonomy(name)
        with contextlib.suppress(DataError):  # one that leaves an aspect empty here
            found = np.concatenate(regroup(pool, g)).tobytes()
            if found not in seen:
                seen.add(found)
                out.append(g)
    return out if out and out[0].name == PAPER else []


def seeds(pool: Pool, d: digest.Digest) -> pd.DataFrame | None:
    """How far another seed of the permutation tests moves the ranking."""
    return by_seed(pool) if len(pool.scorers) > 1 else None


def components(pool: Pool, _: digest.Digest) -> pd.DataFrame | None:
    """How much of each variance is noise, and the natural balance with its interval, where noise can be seen."""
    try:
        found = natural(pool)
    except ValueError:  # totals only, or a single document
        return None
    row = {
        "documents": found.documents,
        "beta0": found.beta0,
        "corrected": found.beta,
        "low": found.low,
        "high": found.high,
    }
    row |= dict(zip(("noise_adequacy", "noise_fluency"), found.shares, strict=True))
    return pd.DataFrame([row | {"needed": found.needed()}]).astype({"needed": "Int64"})


def beta_coverage(pool: Pool, _: digest.Digest) -> pd.DataFrame | None:
    """How often the interval of the natural balance holds the truth, in worlds made of this dataset's documents."""
    try:
        there = natural(pool).documents
    except ValueError:
        return None
    if there < FEWEST:  # no interval, nothing to cover
        return None
    ways = [("drawn", there), ("normal", there), *(("drawn", n) for n in FEW if pool.name in FEWER)]
    rows = [
        {"way": way, "documents": n} | covered(text_world(pool, way, n), draws=TEXTS) | {"draws": TEXTS}
        for way, n in ways
    ]
    return pd.DataFrame(rows)


def false_claims(pool: Pool, _: digest.Digest) -> pd.DataFrame | None:
    """What is claimed of changes of order, and what of it is false, in contests drawn from this dataset's documents."""
    return tried(pool).drop(columns="dataset") if pool.name in TRIED else None


def cluster_seeds(pool: Pool, _: digest.Digest, verdict: Verdict) -> pd.DataFrame:
    """How many scorers the first cluster of a dataset has, by the seed of its swaps."""
    return seeded(pool, verdict=verdict)


def collapse(pool: Pool, _: digest.Digest) -> pd.DataFrame | None:
    """Explainability of fully synthetic pools under dials that differ in one thing at a time, for several seeds."""
    if pool.adequacy is None:
        return None
    return pd.concat([synthesis.controls(pool, seed) for seed in DEALS], ignore_index=True)


def difficulty(pool: Pool, _: digest.Digest) -> pd.DataFrame | None:
    """Both dials of fully synthetic pools where scorers keep a share of each segment's difficulty."""
    return None if pool.adequacy is None else synthesis.difficulty(pool)


def leaning(pool: Pool, d: digest.Digest) -> pd.DataFrame | None:
    """Whether scorers that lean to adequacy gain as β rises: over the range of chapter 3.3, and in the reliable interval."""
    return (
        None
        if d.aspects is None
        else leans_and_gains(pool, d, {"wide": RISE, "reliable": reliable_interval(*d.aspects)})
    )


def domains(pool: Pool, d: digest.Digest) -> pd.DataFrame | None:
    """How alike the kinds of text of a dataset rank its scorers, where it has two or more."""
    return domain_agreement(pool).drop(columns="name") if len(domain_pools(pool)) > 1 else None


def leans(pool: Pool, d: digest.Digest) -> pd.DataFrame | None:
    """Whether a kind of text leans to one aspect more than the rest of its dataset, where there is a rest."""
    return domain_lean(pool).drop(columns="name") if pool.aspects is not None and len(domain_pools(pool)) > 1 else None


def ceiling(pool: Pool, _: digest.Digest) -> pd.DataFrame | None:
    """Where other people's ratings rank among the scorers, where cells have several."""
    return ceiling_table(pool)


def carriers(pool: Pool, d: digest.Digest, verdict: Verdict) -> pd.DataFrame | None:
    """What each system does to the balance, to changes between the ends, and to the natural order, when it is left out."""
    return None if d.aspects is None else carriers_table(d, pool, verdict, TURNS)


def interaction(pool: Pool, d: digest.Digest, verdict: Verdict) -> pd.DataFrame | None:
    """What of the contributions of systems repeats on other documents, where there are enough to compare."""
    few = len(d.systems) < 4 or len(d.scorers) < 3 or verdict.documents < 4
    return None if few else interaction_table(pool, d, verdict)


# --- tables of targets


def targets(adequacy: np.ndarray, fluency: np.ndarray) -> dict[str, np.ndarray]:
    """The targets of appendix B: across the whole reachable range, and near the natural balance."""
    natural = balance(adequacy, fluency)
    return {
        "full": np.linspace(*reachable(adequacy, fluency), TARGETS),
        "narrow": np.linspace(natural - 0.05, natural + 0.05, TARGETS),
    }


def _at_targets(table: str, adequacy: np.ndarray, fluency: np.ndarray) -> pd.DataFrame:
    """The rows of one table for every target, in all processes there are."""
    places = [(name, n, beta) for name, betas in targets(adequacy, fluency).items() for n, beta in enumerate(betas)]
    with ProcessPoolExecutor() as workers:
        done = workers.map(partial(TABLES[table].make, adequacy, fluency), [beta for _, _, beta in places])
        parts = list(tqdm(done, desc=table, total=len(places), unit="target", disable=None))
    return pd.DataFrame(
        [
            {"range": name, "target": n, "beta": beta} | row
            for (name, n, beta), rows in zip(places, parts, strict=True)
            for row in rows
        ]
    )


def search_counts(adequacy: np.ndarray, fluency: np.ndarray, beta: float) -> list[dict[str, Any]]:
    """What Algorithm 1 does for one target in each of its eight settings."""
    with contextlib.redirect_stderr(io.StringIO()):  # its progress bar; there is one for all targets
        return [{name: int(count) for name, count in row.items()} for row in ablation(adequacy, fluency, [beta])]


def numerical_baseline(adequacy: np.ndarray, fluency: np.ndarray, beta: float) -> list[dict[str, Any]]:
    """The least Σw² that local optimisers find from one start, from five, …, among results that reach the target, and the true one."""
    optimum = 1 / search(adequacy, fluency, beta).ess
    rows = []
    for method, counts in STARTS.items():
        ends = [
            baseline.descend(adequacy, fluency, beta, w, method) for w in baseline.starts(adequacy.size, max(counts))
        ]
        found = [w @ w if abs(balance(adequacy, fluency, w) - beta) <= REACHED else np.inf for w in ends]
        rows += [{"method": method, "starts": n, "optimum": optimum, "found": min(found[:n])} for n in counts]
    return rows


class Table(NamedTuple):
    """A table that ships: what makes it, and of what.

    That is a "pool", a "digest", "segments" that ship (with their digest), these with "tests", or the "targets" of one digest.
    """

    make: Callable[..., Any]
    source: str
    digits: int = 10  # significant ones
    exact: tuple[str, ...] = ()  # columns written in full, so that the others follow from the number as written
    paper: bool = False  # of the paper's datasets alone: more would take minutes, and nobody asks for them
    dataset: str | None = None  # of this dataset alone

    def takes(self, name: str) -> bool:
        return self.dataset in (None, name) and (DATASETS[name].paper or not self.paper)


FILES = ("digests", "segments")  # made of a pool as it is read
TESTS = "significance"  # made of the segments
COVERAGE = "coverage"  # how often intervals hold the truth, in made worlds and in worlds drawn from the segments of some datasets
WORLDS = ("ende24", "ende21", "ted_ende")
SWAPS = "swap_sizes"  # how often PERM-BOTH finds one of two equal scorers better, in made worlds
EFFECTS, SIZES = (1.0, 1.4, 2.4), 1000  # design effects, and worlds of each
TRIED = ("ende22", "enru22", "ende24")  # whose documents are worlds, in which false claims are counted
RATERS = "raters"  # how often intervals over raters hold the truth, in worlds drawn from the segments of each dataset with several raters
SHARED = ("ende20", "zhen20", "ende22", "enzh22", "ende23", "zhen23")  # cells rated by several people
ALL_LINES = "wmt23"  # the set whose official table rests on means over all source lines
HUMANS = "humans"  # human translations among the systems, as WMT ranked them
GUESTS = "guests"  # made of other people's score files, beside the tree
REPORT = "report"  # on the guest, made of all that its authors scored
OTHERS = "fields"  # pools of other fields, made of raw files beside the tree
MANIFEST = "manifest"  # of all that lies in the folder; every build writes it
TABLES = {
    "errors": Table(errors, "pool"),
    "references": Table(references, "pool", 6),
    "all_lines": Table(all_lines, "pool"),
    "synthesised": Table(synthesised, "pool", paper=True),
    "floating": Table(floating, "pool", exact=("beta",), paper=True),
    "sweep": Table(sweeps, "digest", 12, ("beta",), paper=True),
    "cells": Table(cells, "digest", 8, paper=True),
    "stability": Table(stability, "digest", 8, paper=True),
    "groupings": Table(groupings, "segments", 5),
    "seeds": Table(seeds, "segments", 5),
    "components": Table(components, "segments", 6),
    "reliable": Table(reliable, "digest", exact=("low", "high")),
    "beta_coverage": Table(beta_coverage, "segments", 4),
    "false_claims": Table(false_claims, "segments", 5),
    "cluster_seeds": Table(cluster_seeds, "tests"),
    "collapse": Table(collapse, "segments", 6),
    "difficulty": Table(difficulty, "segments", 6),
    "leaning": Table(leaning, "segments", 6),
    "domains": Table(domains, "segments", 5),
    "leans": Table(leans, "segments", 5),
    "ceiling": Table(ceiling, "segments", 5),
    "carriers": Table(carriers, "tests", 6),
    "interaction": Table(interaction, "tests", 5),
    "placebo": Table(placebo, "digest", 5),
    "search_counts": Table(search_counts, "targets", dataset=SWEPT),
    "numerical_baseline": Table(numerical_baseline, "targets", dataset=SWEPT),
}
PRODUCTS = (*FILES, TESTS, *TABLES, COVERAGE, SWAPS, RATERS, HUMANS, GUESTS, REPORT, OTHERS, MANIFEST)


def download(folder: Path, addresses=ADDRESSES) -> Path:
    """Fetch the public release and unpack what is needed of it; returns the tree. An interrupted download goes on where it stopped."""
    tree = folder / TREE
    if tree.is_dir():
        return tree
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"{TREE}.tgz"
    troubles = []
    for address in addresses if not archive.exists() else ():
        try:
            _fetch(address, archive)
            break
        except (urllib.error.URLError, http.client.HTTPException, OSError, DataError) as error:
            troubles.append(f"{address} ({getattr(error, 'reason', error)})")
    if not archive.exists():
        raise DataError(
            f"the release could not be downloaded: {'; '.join(troubles)}. Are you online? Otherwise unpack a copy "
            "yourself and run 'make data MTME=<that folder>'."
        )
    try:
        _unpack(archive, tree)
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        archive.unlink()
        raise DataError(
            f"{archive.name} was damaged on the way ({error}) and has been deleted; run 'make data' again"
        ) from None
    archive.unlink()
    return tree


def _fetch(address: str, archive: Path) -> None:
    part = archive.with_name(archive.name + ".part")
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(address, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        answer = urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as error:
        if have and error.code == 416:  # nothing beyond the part: it is the whole file, or longer than that
            if error.headers.get("Content-Range") == f"bytes */{have}":
                os.replace(part, archive)
                return None
            part.unlink()
            return _fetch(address, archive)
        raise
    with answer:
        if answer.status != 206:
            have = 0
        length = answer.headers.get("Content-Length")
        size = have + int(length) if length else None
        with (
            open(part, "ab" if have else "wb") as out,
            tqdm(total=size, initial=have, unit="B", unit_scale=True, desc="download", disable=None) as bar,
        ):
            while block := answer.read(BLOCK):
                out.write(block)
                bar.update(len(block))
    if size is not None and part.stat().st_size != size:
        raise DataError(
            f"the connection ended after {part.stat().st_size} of {size} bytes; run 'make data' again to go on"
        )
    os.replace(part, archive)


def _unpack(archive: Path, tree: Path) -> None:
    """Unpack the files of our datasets, plain files below the tree only, and put the tree in place when it is complete."""
    prefixes = tuple(
        f"{TREE}/{s.set}/{kind}"
        for s in DATASETS.values()
        for kind in (
            f"human-scores/{s.pair}.mqm.",
            f"human-scores/{s.pair}.round",  # second and third ratings
            f"metric-scores/{s.pair}/",
            f"documents/{s.pair}.docs",
        )
    )
    endings = (".seg.score", ".seg.rating", ".docs")
    with tempfile.TemporaryDirectory(dir=tree.parent) as scratch:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tqdm(tar, desc="unpack", unit="file", disable=None):
                name = member.name.removeprefix("./")
                if (
                    member.isreg()
                    and name.startswith(prefixes)
                    and name.endswith(endings)
                    and ".." not in name.split("/")
                ):
                    target = Path(scratch, name)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with tar.extractfile(member) as source, open(target, "wb") as out:
                        shutil.copyfileobj(source, out, BLOCK)
            while tar.fileobj.read(BLOCK):  # to the very end, where gzip keeps the checksum of it all
                pass
        if not Path(scratch, TREE).is_dir():
            raise tarfile.TarError("it holds none of the files needed")
        os.replace(Path(scratch, TREE), tree)


def _several(known: Sequence[str], what: str) -> Callable[[str], tuple[str, ...]]:
    """A reader of names with commas between, in the order in which they are known; any other name is refused."""

    def read(text: str) -> tuple[str, ...]:
        asked = [name.strip() for name in text.split(",") if name.strip()]
        strange = [name for name in asked if name not in known]
        if strange or not asked:
            there = near(strange[0], known) if strange else ""
            said = repr(strange[0]) if strange else "empty"
            raise argparse.ArgumentTypeError(f"the {what} is {said}{there or '; there are ' + ', '.join(known)}")
        return tuple(name for name in known if name in asked)

    return read


def _published(name: str, out: Path) -> str:
    """A line that compares a digest with the paper's table, where both are there; else nothing."""
    path, table = out / f"{name}.npz", HERE / "published" / "core.csv"
    rows = pd.read_csv(table).set_index("dataset") if table.exists() else pd.DataFrame()
    d = digest.read(path)
    if d.aspects is None or name not in rows.index:
        return ""
    theirs = rows.loc[name]
    return f"{name}: β₀ {balance(*d.aspects):.4f}, published {float(theirs['beta0']):.4f}; {len(d.systems)} systems, {len(d.lines)} segments"


@tidy_end()
def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--mtme", type=Path, default=os.environ.get("MTME_ROOT") or None, help="an unpacked mt-metrics-eval-v2 tree"
    )
    parser.add_argument(
        "--download", action="store_true", help="fetch the public release (about 870 MB) if no tree is given"
    )
    parser.add_argument(
        "--only", type=_several(tuple(DATASETS), "dataset"), default=tuple(DATASETS), metavar="DATASET[,…]",
        help="these datasets; what ships of the others stays as it is (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--tables", type=_several(PRODUCTS, "table"), default=PRODUCTS, metavar="TABLE[,…]",
        help=f"make these only, of {', '.join(PRODUCTS)} (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--derived", action="store_true", help="only the tables that follow from the digests already there"
    )
    parser.add_argument("--heen", type=Path, help="the table of heen23's errors, mqm_generalMT2023_heen.tsv")
    parser.add_argument("--draws", type=int, default=DRAWS, help=f"weightings a dataset in cells (default {DRAWS:,})")
    parser.add_argument("--cache", type=Path, default=HERE.parent / ".cache", help="where a download is kept")
    parser.add_argument("--out", type=Path, default=HERE, help="where to write (default: data/)")
    args = parser.parse_args(argv)
    products = args.tables
    if args.derived:
        products = tuple(p for p in products if not _of_pool(p) and p not in (HUMANS, GUESTS, REPORT, OTHERS))
    try:
        if args.draws < 1:
            raise DataError(f"--draws is {args.draws}; at least 1 is needed")
        root = args.mtme
        if any(_of_pool(p) for p in products) and root is None:
            if not args.download:
                raise DataError("no tree: give --mtme DIR, or --download to fetch the public release")
            root = download(args.cache)
        made = build(root, args.out, args.only, products, args.heen, args.draws)
        if not made:
            raise DataError(f"nothing was found to make {' and '.join(products)} from; {args.out} stays as it is")
        print(f"built {', '.join(made)} of {len(args.only)} datasets in {args.out}")
        for name in args.only if args.heen else ():
            if not DATASETS[name].ratings and "digests" in made and (line := _published(name, args.out)):
                print(line)
    except (DataError, OSError) as error:  # a full disk or a folder that cannot be written says so itself
        print(f"build.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("build.py: stopped; nothing half-written is left", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
