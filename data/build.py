"""Rebuild data/ from an mt-metrics-eval-v2 tree: python data/build.py --mtme DIR, or --download to fetch the public release first.

With --derived only the tables that follow from the digests are computed again, and no tree is needed.

Everything that ships is derived here; nothing of the release itself is kept. Same input, same content.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import http.client
import io
import os
import shutil
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
import zlib
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from whichbird import DataError, ablation, balance, p_values, reachable, search, spa_from_p
from whichbird.core.permutation import permuted_gaps
from whichbird.data import digest
from whichbird.data.mtme import read_mtme
from whichbird.data.pool import Pool
from whichbird.data.registry import DATASETS, TREE
from whichbird.solve import baseline
from whichbird.study import synthesis

ADDRESSES = (
    "https://data.statmt.org/wmt26/mt-metrics-eval-v2.tgz",
    "https://storage.googleapis.com/mt-metrics-eval/mt-metrics-eval-v2.tgz",
)
HERE = Path(__file__).resolve().parent
BLOCK = 1 << 20
PAIR = ("ende24", "Dubformer", "ONLINE-B")  # people prefer the first for its fluency and the second for its adequacy
VIEWS = ("BLEU", "MetricX-24-Hybrid")
MIXES = np.arange(21) / 20
NOISE_SEEDS = range(1234, 1244)
SWEPT, SYSTEMS, TARGETS = (
    "ende24",
    16,
    50,
)  # appendix B of the paper: its dataset, with that many systems, and targets per range
STARTS = {"SLSQP": (1, 5, 30), "interior point": (1, 5)}
REACHED = 1e-6  # how close to the target a numerical baseline must come


def build(root: Path, out: Path, names=tuple(DATASETS), tables=None) -> None:
    """Write a digest for each dataset, and the tables made from them all: everything, or, if one fails, nothing."""
    out.mkdir(parents=True, exist_ok=True)
    tables = tuple(tables or (*TABLES, *DERIVED))
    with tempfile.TemporaryDirectory(dir=out) as scratch:
        with ProcessPoolExecutor(max_workers=min(len(names), os.cpu_count() or 1)) as workers:
            jobs = [
                workers.submit(_dataset, root, name, Path(scratch), tuple(t for t in tables if t in TABLES))
                for name in names
            ]
            try:
                made = [job.result() for job in tqdm(jobs, desc="datasets", unit="dataset", disable=None)]
            except BaseException:
                workers.shutdown(cancel_futures=True)
                raise
        for table in sorted(set().union(*made)):
            rows = pd.concat([part[table] for part in made if table in part], ignore_index=True)
            _write(rows, Path(scratch), table)
        derive(Path(scratch), [t for t in tables if t in DERIVED])
        for file in sorted(Path(scratch).iterdir()):
            os.replace(file, out / file.name)


def derive(folder: Path, tables=None) -> list[str]:
    """Write the tables that follow from the digest of appendix B, if it is in the folder; returns their names."""
    path = folder / f"{SWEPT}.npz"
    d = digest.read(path) if path.exists() else None
    if (
        d is None or d.adequacy is None or len(d.systems) != SYSTEMS
    ):  # a part of the datasets, or a tree made for a test
        return []
    tables = list(DERIVED if tables is None else tables)
    for table in tables:
        _write(_sweep(table, d.adequacy, d.fluency), folder, table)
    return tables


def _write(rows: pd.DataFrame, folder: Path, table: str) -> None:
    part = folder / f"{table}.csv.part"
    rows.to_csv(part, index=False, lineterminator="\n", float_format="%.10g")
    os.replace(part, folder / f"{table}.csv")


def _dataset(root: Path, name: str, out: Path, tables: tuple[str, ...]) -> dict[str, pd.DataFrame]:
    pool = read_mtme(root, name)
    differs = DATASETS[name].standard != pool.reference
    digest.make(pool, read_mtme(root, name, reference="standard") if differs else None).save(out / f"{name}.npz")
    made = {table: TABLES[table](pool) for table in tables}
    return {table: rows for table, rows in made.items() if rows is not None}


def errors(pool: Pool) -> pd.DataFrame | None:
    """Every dataset's error counts, with its name."""
    if pool.errors is None:
        return None
    return pool.errors.assign(dataset=pool.name)[["dataset", "system", "category", "severity", "count", "penalty"]]


def spa_plane(pool: Pool) -> pd.DataFrame | None:
    """Landmarks of the SPA plane: what mixtures of the two aspects, and of one aspect with noise, score against each aspect alone.

    "tradeoff" is λ·adequacy + (1 − λ)·fluency. "adequacy" and "fluency" keep a share `mix` of the aspect and fill up with uniform noise of
    the same spread; their figures are means over ten draws.
    """
    if pool.adequacy is None:
        return None
    aspects = {"adequacy": pool.adequacy, "fluency": pool.fluency}
    truth = {aspect: p_values(x) for aspect, x in aspects.items()}

    def row(curve, mix, xs):
        scores = {f"spa_{aspect}": np.mean([spa_from_p(p, p_values(x)) for x in xs]) for aspect, p in truth.items()}
        return {"dataset": pool.name, "curve": curve, "mix": mix, **scores}

    rows = [row("tradeoff", m, [m * pool.adequacy + (1 - m) * pool.fluency]) for m in MIXES]
    for aspect, x in aspects.items():
        spread = np.nanstd(x) * np.sqrt(
            12
        )  # a uniform variable on an interval of length L has the standard deviation L / √12
        noise = [np.random.default_rng(seed).uniform(-0.5, 0.5, x.shape) * spread for seed in NOISE_SEEDS]
        rows += [row(aspect, m, [m * x + (1 - m) * n for n in noise]) for m in MIXES]
    return pd.DataFrame(rows)


def synthesised(pool: Pool) -> pd.DataFrame | None:
    """The six synthesised pools of every dataset of the paper that has a split into adequacy and fluency."""
    return None if pool.adequacy is None or pool.name == "ende23" else synthesis.evaluate(pool)


def gaps_of_pair(pool: Pool) -> pd.DataFrame | None:
    """The observed (row 0) and the permuted mean gaps of one pair of systems, for people and for two scorers."""
    name, *systems = PAIR
    if pool.name != name or not {*systems, *VIEWS} <= {*pool.systems, *pool.scorers}:
        return None
    pair = [pool.systems.index(s) for s in systems]
    views = {
        "total": pool.total,
        "adequacy": pool.adequacy,
        "fluency": pool.fluency,
        **{s: pool.scorers[s] for s in VIEWS},
    }
    return pd.DataFrame({name: permuted_gaps(x[pair]) for name, x in views.items()}).round(6)


def targets(adequacy, fluency) -> dict[str, np.ndarray]:
    """The targets of appendix B: across the whole reachable range, and near the natural balance."""
    natural = balance(adequacy, fluency)
    return {
        "full": np.linspace(*reachable(adequacy, fluency), TARGETS),
        "narrow": np.linspace(natural - 0.05, natural + 0.05, TARGETS),
    }


def _sweep(table: str, adequacy, fluency) -> pd.DataFrame:
    """The rows of one table for every target, in all processes there are."""
    places = [(name, n, beta) for name, betas in targets(adequacy, fluency).items() for n, beta in enumerate(betas)]
    with ProcessPoolExecutor() as workers:
        done = workers.map(partial(DERIVED[table], adequacy, fluency), [beta for _, _, beta in places])
        parts = list(tqdm(done, desc=table, total=len(places), unit="target", disable=None))
    return pd.DataFrame(
        [
            {"range": name, "target": n, "beta": beta} | row
            for (name, n, beta), rows in zip(places, parts, strict=True)
            for row in rows
        ]
    )


def search_counts(adequacy, fluency, beta: float) -> list[dict]:
    """What Algorithm 1 does for one target in each of its eight settings."""
    with contextlib.redirect_stderr(io.StringIO()):  # its progress bar; there is one for all targets
        return [{name: int(count) for name, count in row.items()} for row in ablation(adequacy, fluency, [beta])]


def numerical_baseline(adequacy, fluency, beta: float) -> list[dict]:
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


TABLES = {
    "errors": errors,
    "spa_plane": spa_plane,
    "synthesised": synthesised,
    "permuted_gaps": gaps_of_pair,
}  # of a pool
DERIVED = {
    "search_counts": search_counts,
    "numerical_baseline": numerical_baseline,
}  # of a target, from a digest's aspects


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
        for kind in (f"human-scores/{s.pair}.mqm.", f"metric-scores/{s.pair}/")
    )
    endings = (".seg.score", ".seg.rating")
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


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--mtme", type=Path, default=os.environ.get("MTME_ROOT") or None, help="an unpacked mt-metrics-eval-v2 tree"
    )
    parser.add_argument(
        "--download", action="store_true", help="fetch the public release (about 870 MB) if no tree is given"
    )
    parser.add_argument(
        "--derived", action="store_true", help="only the tables that follow from the digests already there"
    )
    parser.add_argument("--cache", type=Path, default=HERE.parent / ".cache", help="where a download is kept")
    parser.add_argument("--out", type=Path, default=HERE, help="where to write (default: data/)")
    args = parser.parse_args(argv)
    try:
        if args.derived:
            if not (made := derive(args.out)):
                raise DataError(
                    f"{args.out}: it holds no digest of {SWEPT} with {SYSTEMS} systems to derive tables from"
                )
            print(f"built {' and '.join(made)} in {args.out}")
            return 0
        if args.mtme is None and not args.download:
            raise DataError("no tree: give --mtme DIR, or --download to fetch the public release")
        build(args.mtme or download(args.cache), args.out)
    except (DataError, OSError) as error:  # a full disk or a folder that cannot be written says so itself
        print(f"build.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("build.py: stopped; nothing half-written is left", file=sys.stderr)
        return 1
    print(f"built {len(DATASETS)} digests and the tables beside them in {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
