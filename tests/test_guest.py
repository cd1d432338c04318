"""The guest: equal to its authors' file where that is there; made, saved, refused on made files."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from owndata import run

import whichbird as wb
from whichbird.data.mtme import read_scores
from whichbird.data.registry import DATASETS
from whichbird.data.userfiles import is_human
from whichbird_book import guest


@pytest.fixture(scope="module")
def raw(mtme_root):
    """The authors' file, in the tree or beside it."""
    path = guest.find_raw(mtme_root)
    if path is None:
        pytest.skip(f"no {guest.RAW} in {mtme_root} or beside it")
    return path


def test_what_ships_is_a_file_as_its_authors_would_hand_over(tmp_path):
    d, file = wb.load("enes24"), tmp_path / "ReMedy-9B.seg.score"
    g = guest.write_guest(file)
    assert (g.name, g.dataset, g.reference) == ("ReMedy-9B", "enes24", d.reference)
    assert np.array_equal(g.lines, d.lines) and "Apache License, Version 2.0" in g.notice
    unrated = [s for s in g.systems if s not in d.systems]
    assert len(g.systems) == 22 and len(unrated) == 9 and not any(map(is_human, unrated))
    assert file.read_text().count("\n") == 22 * 623
    with pytest.warns(UserWarning, match="'CycleL'.*'IKUN-C'.*'NVIDIA-NeMo'"):
        x = wb.read_scorers(file, d)["ReMedy-9B"]
    assert np.array_equal(x, g.scores[[g.systems.index(s) for s in d.systems]])
    with pytest.raises(wb.DataError, match="is there already"):
        guest.write_guest(file)


def test_it_equals_the_authors_file(raw, tmp_path):
    g = guest.write_guest(tmp_path / "x.seg.score")
    theirs = read_scores(raw)
    assert theirs.systems == g.systems and np.array_equal(theirs.values[:, g.lines], g.scores)
    written = (tmp_path / "x.seg.score").read_text().splitlines()
    lines = raw.read_text().splitlines()  # 998 a system, in the order of the source: character by character the same
    assert written == [lines[998 * s + line] for s in range(22) for line in g.lines]
    made = guest.make_guest(raw, wb.load("enes24"))
    guest.save_guest(made, tmp_path / "x.npz")
    assert (tmp_path / "x.npz").read_bytes() == (wb.data.digest.folder() / guest.SHIPPED).read_bytes()


def test_its_rank_moves_most_where_the_book_shows_it(raw):
    """Over the reliable interval, of all datasets with a balance that its authors scored; the chapter says so."""
    moved = {}
    for name, source in DATASETS.items():
        for file in sorted((raw.parents[2] / source.set / source.pair).glob("*.seg.score")):
            d, reference = wb.load(name), file.name.removesuffix(".seg.score").rpartition("-")[2]
            if d.aspects is not None:
                with warnings.catch_warnings(action="ignore"):
                    field = wb.contest(d, wb.read_scorers(file, d, guest.NAME), reference)
                table = wb.rank_sweep(field, np.linspace(*wb.reliable_interval(*d.aspects), 41))
                moved[name] = np.ptp(table[table["scorer"] == guest.NAME]["rank"])
    assert len(moved) == 8 and max(moved, key=moved.get) == "enes24" and sorted(moved.values())[-2] < moved["enes24"]


def made_file(path, change=lambda x: x):
    d = wb.load("enes24")
    x = change(np.round(np.random.default_rng(1).random((13, d.source_lines)) * 256) / 256)
    path.write_text("".join(f"{s}\t{v!r}\n" for s, row in zip(d.systems, x.tolist(), strict=True) for v in row))
    return path


def test_made_and_read_again(tmp_path):
    d, path = wb.load("enes24"), made_file(tmp_path / "raw.seg.score")
    guest.save_guest(guest.make_guest(path, d), tmp_path / "deep" / "g.npz")
    g = guest.load_guest(tmp_path / "deep" / "g.npz")
    assert g.systems == d.systems and np.array_equal(g.scores, read_scores(path).values[:, d.lines])


@pytest.mark.parametrize(
    "change, sentence",
    [
        (lambda x: x[:, 1:], "997 lines a system; enes24 has 998"),
        (lambda x: x + 0.1, "not every score on a rated line of enes24 is a 32-bit float"),
    ],
)
def test_scores_that_cannot_be_kept(tmp_path, change, sentence):
    with pytest.raises(wb.DataError, match=sentence):
        guest.make_guest(made_file(tmp_path / "raw.seg.score", change), wb.load("enes24"))


def test_damaged_files(tmp_path, monkeypatch):
    d = wb.load("enes24")
    arrays = guest.make_guest(made_file(tmp_path / "raw.seg.score"), d)
    good = tmp_path / "good.npz"
    guest.save_guest(arrays, good)
    body = good.read_bytes()
    flipped = bytearray(body)
    flipped[len(body) // 2] ^= 1
    info = np.frombuffer(bytes(arrays["info"]).replace(b'"format": 1', b'"format": 9'), dtype=np.uint8)
    for name, content, sentence in (
        ("cut", body[:-99], "not a readable guest"),
        ("flipped", bytes(flipped), "not a readable guest"),
        ("empty", b"", "not a readable guest"),
        ("shape", {**arrays, "lines": arrays["lines"][1:]}, "not a readable guest"),
        ("future", {**arrays, "info": info}, "format 9; this version reads format 1"),
    ):
        path = tmp_path / f"{name}.npz"
        if isinstance(content, dict):
            guest.save_guest(content, path)
        else:
            path.write_bytes(content)
        with pytest.raises(wb.DataError, match=rf"{name}\.npz: {sentence}.*'make data"):
            guest.load_guest(path)
    monkeypatch.setenv("WHICHBIRD_DATA", str(tmp_path))
    with pytest.raises(wb.DataError, match=r"remedy\.npz: no such file; .*'make data"):
        guest.write_guest(tmp_path / "x.seg.score")
    assert not Path(tmp_path, "x.seg.score").exists()


def test_found_in_a_tree_or_beside_it(tmp_path):
    tree = tmp_path / "release" / "mt-metrics-eval-v2"
    tree.mkdir(parents=True)
    assert guest.find_raw(tree) is None
    for folder in (tree.parent, tree):
        file = folder / guest.RAW
        file.parent.mkdir(parents=True)
        file.write_text("x\t1\n")
        assert guest.find_raw(tree) == file


def test_misspelt_systems_are_missing_ones(tmp_path):
    file = tmp_path / "ReMedy-9B.seg.score"
    guest.write_guest(file)
    file.write_text(file.read_text().replace("Claude-3.5\t", "Claude-35\t"))
    code, _, err = run("rank", "enes24", "--bare", "--scores", file)
    assert code == 2 and "system 'Claude-3.5' is missing" in err and "is it called 'Claude-35'" in err
