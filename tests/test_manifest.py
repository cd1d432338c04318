"""The manifest: what ships is what it lists, and whatever is damaged or another file under its name is refused, in a sentence that names it."""

import hashlib
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from owndata import run

import whichbird as wb
from whichbird.data import digest, manifest, segments
from whichbird.data.humans import load_official
from whichbird.study import portrait, verdict
from whichbird_book import guest
from whichbird_book.report import published

ROOT = Path(__file__).resolve().parents[1]
LISTED = manifest.entries()


def reader(name):
    """What reads a file that ships: a function without arguments."""
    path = Path(name)
    return {
        ("", ".npz"): lambda: wb.load(path.stem),
        ("", ".csv"): lambda: digest.read_table(name),
        ("significance", ".npz"): lambda: wb.load_significance(path.stem),
        ("segments", ".seg"): lambda: wb.load_pool(path.stem),
        ("fields", ".seg"): lambda: wb.load_pool(path.stem),
        ("fields", ".npz"): lambda: wb.load(path.stem),
        ("guests", ".npz"): guest.load_guest,
        ("humans", ".npz"): lambda: load_official(path.stem),
        ("guests", ".json"): portrait.load_report,
        ("published", ".csv"): lambda: published(path.stem),
        ("taxonomies", ".toml"): lambda: wb.load_taxonomy(path.stem),
    }[path.parent.name, path.suffix]


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A data folder of links to what ships, and a copy of the manifest; `put` replaces a link. Writing through one would change data/."""
    for name in LISTED:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(manifest.folder() / name)
    shutil.copy(manifest.folder() / manifest.FILE, tmp_path)
    monkeypatch.setenv("WHICHBIRD_DATA", str(tmp_path))
    return tmp_path


def put(shelf, name, raw):
    (shelf / name).unlink()
    (shelf / name).write_bytes(raw)


def refused(name, call):
    with pytest.raises(wb.DataError) as error:
        call()
    assert name in str(error.value) and "\n" not in str(error.value), error.value
    return str(error.value)


# What ships


def test_the_manifest_is_that_of_the_data():
    assert manifest.differences() == [], f"data/ has changed since its manifest was written: run '{manifest.MAKE}'"


def test_it_is_written_again_byte_for_byte(shelf):
    before = (shelf / manifest.FILE).read_bytes()
    (shelf / manifest.FILE).write_bytes(b"{}")
    manifest.write_manifest(shelf)
    assert (shelf / manifest.FILE).read_bytes() == before


def test_it_lists_all_that_is_read_and_all_that_is_packed():
    here = ROOT / "data"
    there = {p.relative_to(here).as_posix() for p in here.rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    assert there - {"README.md", "build.py", "croissant.json", manifest.FILE, manifest.BY_HAND} == set(LISTED)
    source = (ROOT / "lib" / "setup.py").read_text("utf-8")
    packed = source.partition("PATTERNS = ")[2].partition("\n)\n")[0]
    assert all(f'"{pattern}"' in packed for pattern in (*manifest.PATTERNS, manifest.FILE))


# What is refused


@pytest.mark.parametrize("name", LISTED)
def test_every_file_damaged(shelf, name):
    """Cut, with one bit flipped, and gone: each reader names the file, and says what to do."""
    raw = (shelf / name).read_bytes()
    middle = len(raw) // 2
    for broken in (raw[:-1], raw[: len(raw) // 3], raw[:middle] + bytes([raw[middle] ^ 1]) + raw[middle + 1 :], b""):
        put(shelf, name, broken)
        assert manifest.MAKE in refused(name, reader(name))
    (shelf / name).unlink()
    if not name.startswith("taxonomies/"):  # one that is gone has no name
        assert "no such file" in refused(name, reader(name))


OTHERS = [
    ("ende20.npz", "ende21.npz", ["rank", "ende20", "--json"]),
    ("significance/ende22.npz", "significance/zhen22.npz", ["compare", "ende22", "BLEU", "chrF"]),
    ("significance/ende22.npz", "significance/zhen22.npz", ["rank", "ende22"]),
    ("significance/ende22.npz", "significance/zhen22.npz", ["sweep", "ende22"]),
    ("significance/ende22.npz", "significance/zhen22.npz", ["all", "--datasets", "jazh24", "ende22"]),
    ("segments/ende22.seg", "segments/zhen22.seg", ["rank", "ende22"]),
    ("reliable.csv", "components.csv", ["datasets"]),
    ("reliable.csv", "errors.csv", ["datasets"]),
    ("components.csv", "errors.csv", ["datasets", "ende20"]),
    ("significance/ende22.npz", "ende22.npz", ["rank", "ende22"]),
    ("taxonomies/terminology.toml", "taxonomies/creative.toml", ["beta", "ende20", "--taxonomy", "terminology"]),
]


@pytest.mark.parametrize("name, other, words", OTHERS)
def test_another_file_under_the_right_name(shelf, name, other, words):
    """Where the manifest was made anew, too, as far as a file says what it is: components has the columns of reliable."""
    put(shelf, name, (shelf / other).read_bytes())
    code, out, err = run(*words)
    assert (code, out, err.count("\n")) == (2, "", 1) and name in err
    if other in ("components.csv", "taxonomies/creative.toml"):
        return
    manifest.write_manifest(shelf)
    code, out, err = run(*words)
    assert (code, out, err.count("\n")) == (2, "", 1) and name in err


@pytest.mark.parametrize("listed", [True, False])
def test_a_table_that_is_cut(shelf, listed):
    """With the file, not a message from inside the program."""
    put(shelf, "reliable.csv", (shelf / "reliable.csv").read_bytes()[:438])
    if not listed:
        manifest.write_manifest(shelf)
    code, out, err = run("datasets")
    assert (code, out, err.count("\n")) == (2, "", 1) and str(shelf / "reliable.csv") in err


def test_tests_that_are_damaged_are_not_computed_anew(shelf, monkeypatch):
    """That took a quarter of a minute, without a word. Those that are not there, in a folder of one's own, still are."""
    name = "significance/jazh24.npz"
    put(shelf, name, (shelf / name).read_bytes()[:-1])
    monkeypatch.setattr(verdict, "significance", lambda *_, **__: pytest.fail("computed anew"))
    for words in (["rank", "jazh24"], ["compare", "jazh24", "BLEU", "chrF"], ["sweep", "jazh24"]):
        code, out, err = run(*words)
        assert (code, out, err.count("\n")) == (2, "", 1) and name in err
    (shelf / manifest.FILE).unlink()
    assert name in run("rank", "jazh24")[2]  # cut all the same
    (shelf / name).unlink()
    with pytest.raises(pytest.fail.Exception, match="computed anew"):
        verdict.standing("jazh24", [0.0] * len(wb.load("jazh24").scorers))


def test_tests_of_other_scorers(shelf):
    """A digest and segments that were rebuilt with another set of scorers, and tests that were not."""
    pool = wb.load_pool("jazh24")
    pool = replace(pool, scorers=dict(list(pool.scorers.items())[1:]))
    for name in ("jazh24.npz", "segments/jazh24.seg"):
        (shelf / name).unlink()
    digest.make(pool).save(shelf / "jazh24.npz")
    segments.save(shelf / "segments/jazh24.seg", pool)
    manifest.write_manifest(shelf)
    code, out, err = run("rank", "jazh24")
    assert (code, out, err.count("\n")) == (2, "", 1) and "significance/jazh24.npz" in err


def test_a_file_that_nobody_listed(shelf):
    (shelf / "taxonomies/mine.toml").write_bytes((shelf / "taxonomies/creative.toml").read_bytes())
    assert manifest.MAKE in refused("taxonomies/mine.toml", lambda: wb.load_taxonomy("mine"))
    manifest.write_manifest(shelf)
    assert wb.load_taxonomy("mine").title == wb.load_taxonomy("creative").title


# The manifest itself


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b'{"format": 1}',
        b'{"format": 1, "files": {"x": 1}}',
        b'{"format": 9, "files": {}}',
        b"[" * 9999,
    ],
)
def test_a_manifest_that_is_damaged(shelf, raw):
    put(shelf, manifest.FILE, raw)
    refused(manifest.FILE, lambda: wb.load("ende20"))


def test_a_folder_without_a_manifest(shelf, monkeypatch):
    """One of your own needs none; that of the library does."""
    (shelf / manifest.FILE).unlink()
    assert manifest.entries() is None and wb.load("ende20").name == "ende20"
    put(shelf, "ende20.npz", (shelf / "ende21.npz").read_bytes())
    refused("ende20.npz", lambda: wb.load("ende20"))  # it says whose it is
    monkeypatch.delenv("WHICHBIRD_DATA")
    monkeypatch.setattr(manifest, "_BESIDE", shelf)
    refused(manifest.FILE, lambda: wb.load("ende21"))
    monkeypatch.setattr(manifest, "_PACKED", shelf)
    assert "install whichbird again" in refused(manifest.FILE, lambda: wb.load("ende21"))


def test_hashes_are_computed_once_for_each_state_of_a_file(shelf, monkeypatch):
    hashed = []
    sha256 = hashlib.sha256
    monkeypatch.setattr(manifest.hashlib, "sha256", lambda raw: hashed.append(len(raw)) or sha256(raw))
    for _ in range(3):
        wb.load("ende20")
    assert hashed == [(shelf / "ende20.npz").stat().st_size]
    put(shelf, "ende20.npz", (shelf / "ende20.npz").read_bytes()[::-1])  # as long
    refused("ende20.npz", lambda: wb.load("ende20"))
    assert len(hashed) == 2


def test_importing_the_library_reads_nothing(tmp_path):
    code = "import sys, whichbird; print([m for m in sys.modules if m.startswith('whichbird.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['whichbird._version']\n"
