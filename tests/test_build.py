"""data/build.py: downloads that break, archives that lie, builds that fail, and the shipped figures from raw data."""

import gzip
import http.server
import importlib.util
import io
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tinytree

import whichbird as wb
from whichbird import DataError
from whichbird.data import digest, manifest, segments
from whichbird.data.mtme import read_mtme
from whichbird.data.registry import DATASETS, TREE
from whichbird.study import portrait
from whichbird.study.verdict import load_significance
from whichbird_book import guest
from whichbird_book.report import published

HERE = Path(__file__).resolve().parents[1] / "data"
DATA = digest.folder()
SCORERS = {f"good-{v}": tinytree.GOOD for v in ("ref", "refA", "refB", "refC")} | {"qe-src": tinytree.SCORERS["qe-src"]}


def load_build():
    """The script as a module that worker processes can import too, however they are started."""
    spec = importlib.util.spec_from_file_location("build", HERE / "build.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["build"] = module
    spec.loader.exec_module(module)
    return module


build = load_build()


@pytest.fixture(autouse=True)
def first_on_the_path(monkeypatch):
    """Worker processes that are not forked, as from Python 3.14 on, import the script by its name; the book has one of that name, too."""
    monkeypatch.syspath_prepend(HERE)


def write_all(root, names=tuple(DATASETS)):
    for name in names:
        source = DATASETS[name]
        tinytree.write(root, source, tinytree.RATINGS if source.ratings else None, scorers=SCORERS)
    return root / TREE


def everything(folder) -> dict:
    """Every file below a folder, with its content."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


# A server that can misbehave


class Server(http.server.ThreadingHTTPServer):
    def __init__(self, body: bytes, ranges=True, cut=None, length=True, garbage=False):
        super().__init__(("127.0.0.1", 0), Handler)
        self.body, self.ranges, self.cut, self.length, self.garbage = body, ranges, cut, length, garbage
        self.asked = []
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}/release.tgz"

    def __exit__(self, *_):
        self.shutdown()
        self.thread.join()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        server, wanted = self.server, self.headers.get("Range")
        server.asked.append(wanted)
        if server.garbage:
            self.wfile.write(b"hello there\r\n\r\n")
            return
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and server.ranges else 0
        if start >= len(server.body):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(server.body)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = server.body[start:]
        self.send_response(206 if start else 200)
        if server.length:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: server.cut])  # then the connection closes

    def log_message(self, *_):
        pass


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("MTME_ROOT", raising=False)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A release of one dataset, unpacked, with files that nobody needs."""
    root = tmp_path_factory.mktemp("release")
    write_all(root, ["ende23"])
    return root


def pack(files: dict) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


@pytest.fixture(scope="module")
def release(tiny):
    unneeded = {
        f"{TREE}/wmt23/documents/de-en.docs": b"x",
        f"{TREE}/wmt23/human-scores/en-de.mqm.sys.score": b"x",
        f"{TREE}/wmt23/metric-scores/de-en/good-refA.seg.score": b"x",
        "README": b"x",
    }
    return pack(unneeded | everything(tiny))


def closed_address():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{s.getsockname()[1]}/release.tgz"


# Downloads


def test_download_unpacks_what_is_needed(tmp_path, tiny, release):
    with Server(release) as server:
        tree = build.download(tmp_path / "cache", [server.address])
        assert tree == tmp_path / "cache" / TREE and server.asked == [None]
        assert everything(tmp_path / "cache") == everything(tiny)  # no archive, no part, no scratch
        assert read_mtme(tree, "ende23").systems == ("alpha", "beta", "gamma")
        assert build.download(tmp_path / "cache", [server.address]) == tree and len(server.asked) == 1  # already there


def test_a_name_that_begins_with_a_dot_and_a_slash(tmp_path, tiny):
    (tmp_path / f"{TREE}.tgz").write_bytes(pack({f"./{n}": c for n, c in everything(tiny).items()}))
    build.download(tmp_path, [])
    assert everything(tmp_path) == everything(tiny)


@pytest.mark.parametrize("ranges", [True, False])
def test_a_part_is_continued_or_replaced(tmp_path, tiny, release, ranges):
    part = tmp_path / f"{TREE}.tgz.part"
    part.write_bytes(release[:100])
    with Server(release, ranges=ranges) as server:
        build.download(tmp_path, [server.address])
        assert server.asked == ["bytes=100-"]
    assert everything(tmp_path) == everything(tiny)


@pytest.mark.parametrize("extra, asked", [(b"", ["bytes={n}-"]), (b"more", ["bytes={m}-", None])])
def test_a_part_as_long_as_the_file_or_longer(tmp_path, tiny, release, extra, asked):
    (tmp_path / f"{TREE}.tgz.part").write_bytes(release + extra)
    with Server(release) as server:
        build.download(tmp_path, [server.address])
        expected = [a and a.format(n=len(release), m=len(release) + 4) for a in asked]
        assert server.asked == expected  # a whole file is not fetched again
    assert everything(tmp_path) == everything(tiny)


def test_a_cut_connection_keeps_the_part(tmp_path, tiny, release):
    ended = rf"\(the connection ended after 200 of {len(release)} bytes; run 'make data' again to go on\)"
    with Server(release, cut=200) as server, pytest.raises(DataError, match=f"{server.address} {ended}"):
        build.download(tmp_path, [server.address])
    assert everything(tmp_path) == {f"{TREE}.tgz.part": release[:200]}
    with Server(release, cut=100) as server, pytest.raises(DataError, match=f"after 300 of {len(release)} bytes"):
        build.download(tmp_path, [server.address])
    with Server(release) as server:
        build.download(tmp_path, [server.address])
        assert server.asked == ["bytes=300-"]
    assert everything(tmp_path) == everything(tiny)


def test_the_second_address_goes_on_where_the_first_stopped(tmp_path, tiny, release):
    with Server(release, cut=150) as first, Server(release) as second:
        build.download(tmp_path, [first.address, second.address])
        assert first.asked == [None] and second.asked == ["bytes=150-"]
    assert everything(tmp_path) == everything(tiny)


def test_offline_names_both_addresses(tmp_path):
    addresses = [closed_address(), closed_address()]
    with pytest.raises(DataError) as error:
        build.download(tmp_path, addresses)
    sentence = str(error.value)
    assert all(a in sentence for a in addresses) and "Are you online?" in sentence and "make data MTME=" in sentence
    assert "\n" not in sentence and everything(tmp_path) == {}


def test_a_server_that_speaks_something_else(tmp_path, tiny, release):
    with Server(release, garbage=True) as server:
        with pytest.raises(DataError, match="could not be downloaded: .*hello there"):
            build.download(tmp_path, [server.address])
        with Server(release) as good:
            build.download(tmp_path, [server.address, good.address])
    assert everything(tmp_path) == everything(tiny)


def test_an_address_without_the_file(tmp_path):
    class Nothing(Handler):
        def do_GET(self):
            self.send_error(404)

    with Server(b"") as server:
        server.RequestHandlerClass = Nothing
        with pytest.raises(DataError, match=rf"{server.address} \(Not Found\)"):
            build.download(tmp_path, [server.address])
    assert everything(tmp_path) == {}


def test_no_length_given(tmp_path, tiny, release):
    with Server(release, length=False) as server:
        build.download(tmp_path / "whole", [server.address])
    assert everything(tmp_path / "whole") == everything(tiny)
    half = len(release) // 2
    with Server(release, length=False, cut=half) as server, pytest.raises(DataError, match="damaged on the way"):
        build.download(tmp_path / "cut", [server.address])
    assert everything(tmp_path / "cut") == {}


# Archives


def test_damaged_archives_are_deleted(tmp_path, tiny, release):
    archive = tmp_path / f"{TREE}.tgz"
    harmless = 0
    for n in range(0, len(release), 5):
        archive.write_bytes(release[:n] + bytes([release[n] ^ 255]) + release[n + 1 :])
        try:
            build.download(tmp_path, [])
        except DataError as error:
            sentence = str(error)
            assert "was damaged on the way" in sentence and "run 'make data' again" in sentence and "\n" not in sentence
            assert everything(tmp_path) == {} and list(tmp_path.iterdir()) == []
        else:
            harmless += 1  # a date in the header of the archive
            assert everything(tmp_path) == everything(tiny)
            for file in sorted((tmp_path / TREE).rglob("*"), reverse=True):
                file.rmdir() if file.is_dir() else file.unlink()
            (tmp_path / TREE).rmdir()
    assert harmless <= 2


@pytest.mark.parametrize(
    "raw",
    [b"", b"no archive", gzip.compress(b"no tar"), pack({"README": b"x"})],
    ids=["empty", "no gzip", "no tar", "another release"],
)
def test_archives_of_something_else(tmp_path, raw):
    (tmp_path / f"{TREE}.tgz").write_bytes(raw)
    with pytest.raises(DataError, match="was damaged on the way .* and has been deleted"):
        build.download(tmp_path, [])
    assert list(tmp_path.iterdir()) == []


def test_a_hostile_archive_writes_nothing_outside(tmp_path, tiny):
    outside, cache = tmp_path / "outside", tmp_path / "cache"
    outside.mkdir(), cache.mkdir()
    (outside / "precious").write_text("mine")
    scores = f"{TREE}/wmt23/metric-scores/en-de"
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:

        def add(name, content=b"evil", kind=tarfile.REGTYPE, target=""):
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.size = kind, target, len(content)
            tar.addfile(member, io.BytesIO(content))

        add(f"{outside}/evil.seg.score")
        add("../../outside/evil.seg.score")
        add(f"{scores}/../../../../../outside/evil.seg.score")
        add(f"{scores}/..", b"")
        add(f"{TREE}/wmt23/human-scores/en-de.mqm./../../../../../outside/evil.seg.score")
        add(f"{scores}/link-src.seg.score", b"", tarfile.SYMTYPE, f"{outside}/precious")
        add(f"{scores}/hard-src.seg.score", b"", tarfile.LNKTYPE, f"{outside}/precious")
        add(f"{TREE}/wmt23/metric-scores/zh-en", b"", tarfile.SYMTYPE, str(outside))
        add(f"{TREE}/wmt23/metric-scores/zh-en/evil-src.seg.score")
        add(f"{scores}/pipe-src.seg.score", b"", tarfile.FIFOTYPE)
        for name, content in everything(tiny).items():
            add(name, content)
    (cache / f"{TREE}.tgz").write_bytes(out.getvalue())
    tree = build.download(cache, [])
    assert everything(outside) == {"precious": b"mine"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cache", "outside"]
    assert not any(p.is_symlink() for p in tree.rglob("*"))
    inside = f"{TREE}/wmt23/metric-scores/zh-en/evil-src.seg.score"  # its name is innocent, and so is where it went
    assert everything(cache) == everything(tiny) | {inside: b"evil"}


def test_a_full_disk_keeps_the_download(tmp_path, release, monkeypatch, capsys):
    (tmp_path / f"{TREE}.tgz").write_bytes(release)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(build.shutil, "copyfileobj", full)
    assert build.main(["--download", "--cache", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert everything(tmp_path) == {f"{TREE}.tgz": release}


# Builds


FILES = [f"{d}.npz" for d in DATASETS] + [f"segments/{d}.seg" for d in DATASETS]
POOLS = ("digests", "segments", "errors")  # what takes seconds


def test_build_writes_digests_segments_and_errors(tmp_path, capsys):
    root, out = write_all(tmp_path / "in"), tmp_path / "out"
    tables = ",".join(POOLS)
    assert build.main(["--mtme", str(root), "--out", str(out), "--tables", tables]) == 0
    made = f"built digests, segments, errors of {len(DATASETS)} datasets in {out}\n"
    assert capsys.readouterr().out == made
    assert set(everything(out)) == {*FILES, "errors.csv", "manifest.json"}
    d = digest.read(out / "ende24.npz")
    assert d.systems == ("alpha", "beta", "gamma") and d.scorers == ("good", "qe") and d.info["standard"] == "refB"
    assert "p_standard" in d and "p_standard" not in digest.read(out / "ende23.npz")
    pool = segments.read(out / "segments/ende24.seg", "refB")
    assert (pool.reference, tuple(pool.scorers)) == ("refB", ("good", "qe")) and pool.systems == d.systems
    errors = pd.read_csv(out / "errors.csv")
    assert list(errors.columns) == ["dataset", "system", "category", "severity", "count", "penalty"]
    rated = [n for n in DATASETS if DATASETS[n].ratings]
    assert list(errors["dataset"].unique()) == rated and len(errors) == len(rated) * 8
    again = tmp_path / "again"
    build.build(root, again, products=POOLS)
    assert everything(again) == {name: everything(out)[name] for name in everything(again)}  # same input, same bytes


def test_some_datasets_leave_the_others_as_they_are(tmp_path, capsys):
    """Building one dataset once cost the errors of all others: what is not built keeps its bytes, whatever they are."""
    root, out = write_all(tmp_path / "in"), tmp_path / "out"
    build.build(root, out, products=POOLS)
    before = everything(out)
    odd = (
        before["errors.csv"].decode().replace("ende21,alpha,accuracy/omission,major,1,5", "ende21,alpha,  kept ,,1,5.0")
    )
    (out / "errors.csv").write_text(odd.replace("jazh24,alpha", "jazh24,old"))
    (out / "ende21.npz").write_bytes(b"mine")
    assert (
        build.main(["--mtme", str(root), "--out", str(out), "--only", "jazh24, ende24", "--tables", ",".join(POOLS)])
        == 0
    )
    assert capsys.readouterr().out == f"built digests, segments, errors of 2 datasets in {out}\n"
    after = everything(out)
    assert after.pop("errors.csv").decode() == odd and after.pop("ende21.npz") == b"mine"  # jazh24 is as it was built
    assert manifest.differences(out) == [] and after.pop("manifest.json") != before["manifest.json"]
    assert all(before[name] == content for name, content in after.items())


def test_the_order_of_datasets_is_that_of_a_whole_build(tmp_path):
    root, out, parts = write_all(tmp_path / "in"), tmp_path / "out", tmp_path / "parts"
    build.build(root, out, products=["errors"])
    for names in (["jazh24"], ["ende21", "ende23"], [n for n in DATASETS if n not in ("jazh24", "ende21", "ende23")]):
        build.build(root, parts, names, products=["errors"])
    assert everything(parts) == everything(out)


def test_other_columns_are_not_mixed(tmp_path, capsys):
    root, out = write_all(tmp_path / "in", ["ende23"]), tmp_path / "out"
    out.mkdir()
    (out / "errors.csv").write_text("dataset,old\nende21,1\n")
    assert build.main(["--mtme", str(root), "--out", str(out), "--only", "ende23", "--tables", "errors"]) == 2
    assert "errors.csv: its columns are dataset,old, the new ones dataset,system," in capsys.readouterr().err
    assert everything(out) == {"errors.csv": b"dataset,old\nende21,1\n"}


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--only", "ende42"], "argument --only: the dataset is 'ende42'; did you mean 'ende24'"),
        (["--only", ","], "argument --only: the dataset is empty; there are ende20, zhen20"),
        (["--tables", "errors,stabilty"], "argument --tables: the table is 'stabilty'; did you mean 'stability'?"),
    ],
)
def test_names_that_are_none(words, sentence, capsys, tmp_path):
    with pytest.raises(SystemExit) as stop:
        build.main([*words, "--out", str(tmp_path)])
    assert stop.value.code == 2 and sentence in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


def test_draws_are_counted(capsys, tmp_path):
    assert build.main(["--tables", "cells", "--draws", "0", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "build.py: --draws is 0; at least 1 is needed\n"


def test_tables_of_the_paper_keep_to_its_datasets(tmp_path):
    for name in ("ende23", "jazh24"):
        shutil.copy(DATA / f"{name}.npz", tmp_path)
    made = build.build(None, tmp_path, ["ende23", "jazh24"], ["cells"], draws=1000)
    table = pd.read_csv(tmp_path / "cells.csv")
    assert made == ["cells"] and set(table["dataset"]) == {"jazh24"} and table["n"].sum() <= 1000
    shipped = pd.read_csv(DATA / "cells.csv")
    assert list(table.columns) == list(shipped.columns)
    assert set(shipped["dataset"]) == {n for n in DATASETS if DATASETS[n].paper and DATASETS[n].ratings}


def test_the_shipped_sweep_is_what_the_command_makes(tmp_path):
    shutil.copy(DATA / "jazh24.npz", tmp_path)
    shutil.copy(DATA / "sweep.csv", tmp_path)
    build.build(None, tmp_path, ["jazh24"], ["sweep"])
    made, shipped = (folder / "sweep.csv" for folder in (tmp_path, DATA))
    keep = [line for line in shipped.read_text().splitlines() if not line.startswith("jazh24,")]
    assert [line for line in made.read_text().splitlines() if not line.startswith("jazh24,")] == keep
    a, b = (pd.read_csv(path).query("dataset == 'jazh24'").reset_index(drop=True) for path in (made, shipped))
    pd.testing.assert_frame_equal(a, b, rtol=1e-6)  # a solver's ESS may move in its last digits


def test_a_table_of_errors_for_the_dataset_that_lacks_them(tmp_path, capsys):
    """The door of heen23: its errors come from a table, and its digest then has a balance."""
    name = next(n for n in DATASETS if not DATASETS[n].ratings)
    root, out = write_all(tmp_path / "in", [name]), tmp_path / "out"
    header = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
    rows = [header]
    for system, cells in tinytree.RATINGS.items():
        for n, errors in enumerate(cells, start=1):
            for category, severity, _ in errors or ([] if errors is None else [("No-error", "no-error", 0)]):
                rows.append(f"{system}\tdoc\t{n}\t{n}\trater1\tx\ty\t{category}\t{severity}")
    table = tmp_path / "errors.tsv"
    table.write_text("\n".join(rows) + "\n")
    words = ["--mtme", str(root), "--out", str(out), "--only", name, "--tables", ",".join(POOLS)]
    assert build.main([*words, "--heen", str(table)]) == 0
    said = capsys.readouterr().out
    d = digest.read(out / f"{name}.npz")
    assert d.adequacy.tolist() == [sum(row) / 3 for row in tinytree.ADEQUACY]
    assert f"{name}: β₀ {wb.balance(*d.aspects):.4f}, published 0.9868; 3 systems, 3 segments" in said
    assert build.main(words) == 0
    assert digest.read(out / f"{name}.npz").aspects is None


def test_a_build_that_fails_changes_nothing(tmp_path, capsys):
    root, out = write_all(tmp_path / "in", ["ende23", "heen23", "jazh24"]), tmp_path / "out"
    out.mkdir()
    (out / "ende23.npz").write_bytes(b"old")
    (root / "wmt24/human-scores/ja-zh.mqm.seg.score").write_text("alpha\tx\n")
    with pytest.raises(DataError, match="ja-zh.mqm.seg.score: line 1 has the score 'x'"):
        build.build(root, out, ["ende23", "heen23", "jazh24"], POOLS)
    assert everything(out) == {"ende23.npz": b"old"} and len(list(out.iterdir())) == 1
    assert build.main(["--mtme", str(root), "--out", str(out)]) == 2  # other datasets are not there at all
    error = capsys.readouterr().err
    assert error.startswith("build.py: ") and "no such file; unpack" in error and error.count("\n") == 1
    assert everything(out) == {"ende23.npz": b"old"}


@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM"])
def test_a_build_that_is_killed_changes_nothing(tmp_path, how):
    """Stopped when most is made: nothing new is in the folder, and what was made lies elsewhere, or nowhere if there was time."""
    root, out, elsewhere = write_all(tmp_path / "in", ["ende23"]), tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir(), elsewhere.mkdir()
    code = (
        f"import os, signal, sys; sys.path.insert(0, {str(DATA)!r}); import build\n"
        f"build._merge = lambda *_: os.kill(os.getpid(), signal.{how})\n"
        f"build.main(['--mtme', {str(root)!r}, '--out', {str(out)!r}, '--only', 'ende23', '--tables', 'digests,errors'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"TMPDIR": str(elsewhere)}, capture_output=True
    )
    assert done.returncode == (-9 if how == "SIGKILL" else 143) and list(out.iterdir()) == []
    assert {Path(name).name for name in everything(elsewhere)} == ({"ende23.npz"} if how == "SIGKILL" else set())


def test_the_manifest_alone(tmp_path, capsys):
    """Without a tree, of whatever lies there; what another build leaves is listed by itself."""
    argv = ["--tables", "manifest", "--out", str(tmp_path)]
    (tmp_path / "taxonomies").mkdir()
    for name in ("ende20.npz", "taxonomies/paper.toml", "README.md"):
        shutil.copy(DATA / name, tmp_path / name)
    assert build.main(argv) == 0 and capsys.readouterr().out.startswith("built manifest")
    listed = manifest.entries(tmp_path)
    assert list(listed) == ["ende20.npz", "taxonomies/paper.toml"] and manifest.differences(tmp_path) == []
    (tmp_path / "ende20.npz").write_bytes(b"other")
    assert manifest.differences(tmp_path) == ["ende20.npz"]
    assert build.main(argv) == 0 and manifest.differences(tmp_path) == []


def test_main_says_what_it_lacks(tmp_path, monkeypatch, capsys):
    for root in (None, ""):
        if root is not None:
            monkeypatch.setenv("MTME_ROOT", root)
        assert build.main(["--out", str(tmp_path)]) == 2
        sentence = "build.py: no tree: give --mtme DIR, or --download to fetch the public release\n"
        assert capsys.readouterr().err == sentence
    monkeypatch.setenv("MTME_ROOT", str(tmp_path / "nowhere"))
    assert build.main(["--out", str(tmp_path)]) == 2
    assert "nowhere: no such folder" in capsys.readouterr().err
    (tmp_path / "file").write_text("in the way")
    assert build.main(["--out", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert list(everything(tmp_path)) == ["file"]


def test_derived_tables_need_digests(tmp_path, capsys):
    assert build.main(["--derived", "--tables", "search_counts,errors", "--out", str(tmp_path)]) == 2
    assert (
        capsys.readouterr().err
        == f"build.py: nothing was found to make search_counts from; {tmp_path} stays as it is\n"
    )


def test_pools_of_other_fields_without_their_archives_get_two_sentences(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("MTME_ROOT", raising=False)
    for tree in ([], ["--mtme", str(tmp_path)]):
        assert build.main([*tree, "--tables", "fields", "--out", str(tmp_path)]) == 2
        told = capsys.readouterr()
        assert told.out + told.err == (
            "fields: no biomqm and no hanna is in the tree or beside it, so what ships stays as it is\n"
            f"build.py: nothing was found to make fields from; {tmp_path} stays as it is\n"
        )
    assert not list(tmp_path.iterdir())
    assert everything(tmp_path) == {}


def test_derived_tables_from_the_digest_alone(tmp_path, monkeypatch, capsys):
    shutil.copy(DATA / "ende24.npz", tmp_path)
    monkeypatch.setattr(build, "TARGETS", 2)  # the ends of either range
    assert build.main(["--tables", "search_counts", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"built search_counts of {len(DATASETS)} datasets in {tmp_path}\n"
    made = pd.read_csv(tmp_path / "search_counts.csv")
    shipped = pd.read_csv(DATA / "search_counts.csv").query("target in (0, 49)")
    pd.testing.assert_frame_equal(made.drop(columns="target"), shipped.drop(columns="target").reset_index(drop=True))
    assert {p.name for p in tmp_path.iterdir()} == {"ende24.npz", "search_counts.csv", "manifest.json"}


def test_an_interrupted_build(tmp_path, monkeypatch, capsys):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "build", stop)
    assert build.main(["--mtme", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "build.py: stopped; nothing half-written is left\n"


def test_help_and_addresses():
    with pytest.raises(SystemExit) as stop:
        build.main(["--help"])
    assert stop.value.code == 0
    assert len(build.ADDRESSES) == 2 and all(a.startswith("https://") for a in build.ADDRESSES)


# The real thing


def test_raw_data_give_what_ships(mtme_root, tmp_path):
    build.build(Path(mtme_root), tmp_path, products=POOLS)
    assert set(everything(tmp_path)) == {*FILES, "errors.csv", "manifest.json"}
    rebuilt = {name: digest.read(tmp_path / f"{name}.npz") for name in DATASETS}
    differences = {name: d.differences(digest.read(DATA / f"{name}.npz")) for name, d in rebuilt.items()}
    assert differences == {name: [] for name in DATASETS}
    for name in DATASETS:
        assert (tmp_path / f"segments/{name}.seg").read_bytes() == (DATA / f"segments/{name}.seg").read_bytes()
    assert (tmp_path / "errors.csv").read_text() == (DATA / "errors.csv").read_text()
    lists = published("scorers").groupby("dataset")["scorer"].agg(set)
    assert len(lists) == 11
    for name, scorers in lists.items():  # the paper has the first of a scorer's names
        assert set(rebuilt[name].scorers) == {rebuilt[name].aliases.get(s, s) for s in scorers}, name


def test_the_guest_is_made_where_its_scores_lie(tmp_path, capsys):
    tree, out, d = tmp_path / "tree", tmp_path / "out", wb.load(guest.DATASET)
    tree.mkdir(), out.mkdir()
    argv = ["--mtme", str(tree), "--tables", "guests", "--out", str(out)]
    assert build.main(argv) == 2 and "since it needs enes24" in capsys.readouterr().err
    shutil.copy(DATA / "enes24.npz", out)
    assert build.main(argv) == 2 and f"since no {guest.RAW} is in the tree or beside it" in capsys.readouterr().err
    assert not (out / guest.SHIPPED).exists()
    raw = tmp_path / guest.RAW  # beside the tree
    raw.parent.mkdir(parents=True)
    raw.write_text(
        "".join(f"{s}\t{(n * k) % 7 / 8}\n" for k, s in enumerate(d.systems, 1) for n in range(d.source_lines))
    )
    assert build.main(argv) == 0 and "built guests" in capsys.readouterr().out
    assert guest.load_guest(out / guest.SHIPPED).systems == d.systems
    kept = everything(out)
    assert build.main([*argv, "--only", "ende24"]) == 2 and everything(out) == kept  # what ships stays


def test_the_report_on_the_guest_is_made_where_its_scores_lie(tmp_path, monkeypatch, capsys):
    """The command that data/README.md names is called on all that the authors scored, with what lies in the folder that is built."""
    tree, out, asked = tmp_path / "tree", tmp_path / "out", []
    tree.mkdir(), out.mkdir()
    argv = ["--mtme", str(tree), "--tables", "report", "--out", str(out)]
    assert build.main(argv) == 2 and "since no remedy" in capsys.readouterr().err
    (tmp_path / guest.RAW).parent.mkdir(parents=True)
    (tmp_path / guest.RAW).write_text("x\t1\n")

    def run(command, env, **_):
        asked.append((command, env["WHICHBIRD_DATA"]))
        Path(command[-2]).write_text("figures")
        return subprocess.CompletedProcess(command, len(asked) - 1, "", "whichbird report: it is raining\n")

    monkeypatch.setattr(build.subprocess, "run", run)
    assert build.main(argv) == 0 and "built report" in capsys.readouterr().out
    ((command, place),) = asked
    assert command[-1] == "--force" and place == str(out)
    assert command[2:-1] == [
        "whichbird",
        "report",
        "--scores",
        f"{guest.NAME}={tmp_path / 'remedy'}",
        "--numbers",
        command[-2],
    ]
    assert not Path(command[-2]).is_relative_to(out) and (out / portrait.SHIPPED).read_text() == "figures"
    assert list(manifest.entries(out)) == [portrait.SHIPPED.as_posix()]
    assert build.main(argv) == 2 and "it is raining" in capsys.readouterr().err


def test_the_tests_that_ship_are_made_of_the_segments_that_ship(tmp_path):
    """For the dataset with the fewest stops. Sums in another order may turn a resample that is all but a tie: one in a hundred."""
    made = build.build(None, tmp_path, ["jazh24"], ["significance"])
    assert made == []  # no segments there to make them of
    (tmp_path / "segments").mkdir()
    (tmp_path / "segments/jazh24.seg").write_bytes((DATA / "segments/jazh24.seg").read_bytes())
    assert build.build(None, tmp_path, ["jazh24"], ["significance"]) == ["significance"]
    new, old = (load_significance("jazh24", path / "significance/jazh24.npz") for path in (tmp_path, DATA))
    assert (
        new.scorers == old.scorers and new.signature == old.signature and np.array_equal(new.betas[1:], old.betas[1:])
    )
    assert max(np.abs(new.p - old.p).max(), np.abs(new.p_documents - old.p_documents).max()) <= 0.01
    assert np.abs(new.spa - old.spa).max() <= 1e-5
    assert np.abs(new.lead_se - old.lead_se).max() <= 2e-4 and np.abs(new.se - old.se).max() <= 2e-5
    assert (
        np.abs(new.rank_high - old.rank_high).max() <= 1
        and new.ends().counts()["places"] == old.ends().counts()["places"]
    )


def test_tables_of_segments_are_made_for_one_dataset_and_leave_the_others(tmp_path):
    """From its digest and segments alone, without a tree: the bytes that ship, and nobody else's rows are touched."""
    (tmp_path / "segments").mkdir()
    for name in ("ende20.npz", "segments/ende20.seg", "groupings.csv"):
        shutil.copy(DATA / name, tmp_path / name)
    assert build.main(["--only", "ende20", "--tables", "groupings", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "groupings.csv").read_bytes() == (DATA / "groupings.csv").read_bytes()


def test_floating_sums_from_the_public_files(mtme_root):
    """One dataset again from its rating file: 14 cells of 6851 differ from the exact sums, by rounding alone."""
    pool = read_mtme(mtme_root, "ende21")
    a, f = build._floating_sums(pool, mtme_root)
    assert np.array_equal(a, pool.adequacy, equal_nan=True)
    assert np.nanmax(np.abs(f - pool.fluency)) < 1e-14 and (f != pool.fluency)[~np.isnan(f)].sum() == 14
    shipped = pd.read_csv(DATA / "floating.csv").query("dataset == 'ende21'").reset_index(drop=True)
    pd.testing.assert_frame_equal(build.floating(pool, mtme_root), shipped, rtol=1e-8)
