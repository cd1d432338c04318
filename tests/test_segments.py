"""Files of segments: what goes in comes out bit for bit, every damaged or foreign file is refused, and what ships is the release's."""

import re
import struct
import tracemalloc
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings, strategies as st
from hypothesis.extra.numpy import arrays

import whichbird as wb
from whichbird import DataError
from whichbird.core.permutation import p_counts
from whichbird.data import digest, segments
from whichbird.data.pool import Exclusion, Pool, Rating, system_means
from whichbird.data.registry import DATASETS
from whichbird.data.segments import Alike, decode, encode, pack, unpack

NAN = float("nan")
REPORTS = {"notes", "left_out"}


def bits(x):
    """What distinguishes two arrays, down to the sign of zero."""
    x = np.asarray(x)
    return x.dtype.kind, x.shape, np.ascontiguousarray(x).tobytes()


def differences(ours: Pool, theirs: Pool) -> list[str]:
    """The fields in which two pools differ in anything."""

    def same(x, y):
        if x is None or y is None:
            return x is y
        if isinstance(x, pd.DataFrame):
            return list(x) == list(y) and all(
                x[c].tolist() == y[c].tolist() if x[c].dtype.kind not in "fi" else bits(x[c]) == bits(y[c]) for c in x
            )
        if isinstance(x, dict):
            return list(x) == list(y) and all(bits(x[k]) == bits(y[k]) for k in x)
        if isinstance(x, np.ndarray):
            return bits(x) == bits(y)
        if isinstance(x, tuple) and x and isinstance(x[0], Rating):
            return len(x) == len(y) and all(
                bits(u) == bits(v) for a, b in zip(x, y, strict=True) for u, v in zip(a, b, strict=True)
            )
        return type(x) is type(y) and x == y

    return [f.name for f in fields(Pool) if not same(getattr(ours, f.name), getattr(theirs, f.name))]


def made(seed=3, **changes) -> Pool:
    """A pool with everything a pool can hold, in every form a score can have."""
    rng = np.random.default_rng(seed)
    k, n = 4, 60
    a, f = (-rng.integers(0, 50, (k, n)) / 10 for _ in "af")
    a[1, 3] = f[1, 3] = NAN
    a[0, 0] = -0.0
    noise = rng.normal(size=(k, n))
    noise[2] = noise[0]  # two systems that translate alike
    raters = rng.integers(-1, 2, (k, n)).astype(np.int16)
    given = {
        "name": "tiny",
        "systems": ("a", "b", "c", "ü"),
        "lines": np.arange(2, 2 * n + 1, 2),
        "source_lines": 200,
        "total": a + f,
        "adequacy": a,
        "fluency": f,
        "scorers": {
            "decimal": noise.round(4),
            "single": noise.astype(np.float32).astype(np.float64),
            "double": noise,
            "few": np.sqrt(rng.integers(0, 5, (k, n))),
            "shifted": np.nextafter(noise.round(4), np.inf),
        },
        "errors": pd.DataFrame(
            {
                "system": ["a", "ü"],
                "category": ["x/y", "z"],
                "severity": ["minor", "major"],
                "count": [3, 1],
                "penalty": [0.1 + 0.2, 5.0],
            }  # fmt: skip
        ),
        "notes": ("u: left out",),
        "left_out": (
            Exclusion("scorer", "u", "left out"),
            Exclusion("segment", "7 source lines", "rated by nobody", 7),
        ),
        "raters": raters,
        "rater_names": ("rater1", "rater2"),
        "documents": tuple(f"doc{n // 9}" for n in range(n)),
        "domains": tuple("news" if n < 30 else "social" for n in range(n)),
        "ratings": (Rating(a, f, a + f, raters), Rating(a - 1, f / 3, a + f - 1, raters)),
    }
    return Pool(**given | changes)


PLAIN = made(
    adequacy=None, fluency=None, errors=None, notes=(), left_out=(), raters=None, rater_names=(), documents=None,
    domains=None, ratings=(), scorers={}, segments=tuple(f"s{n}" for n in range(60)),
)  # fmt: skip


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "tiny.seg"
    segments.save(path, made())
    return path


# What goes in comes out


@pytest.mark.parametrize("pool", [made(), PLAIN, made(scorers={})], ids=["all", "plain", "no scorer"])
def test_round_trip(tmp_path, pool):
    segments.save(tmp_path / "new" / "x.seg", pool)  # the folder is made
    assert differences(segments.read(tmp_path / "new" / "x.seg"), pool) == []
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["x.seg"]


def test_the_comparison_sees_a_last_bit():
    pool = made()
    other = replace(pool, scorers=pool.scorers | {"double": np.nextafter(pool.scorers["double"], 9)})
    assert differences(pool, other) == ["scorers"]
    zero = pool.adequacy.copy()
    zero[0, 0] = 0.0
    assert differences(pool, replace(pool, adequacy=zero)) == ["adequacy"]
    assert differences(pool, replace(pool, domains=None, notes=())) == ["notes", "domains"]


def test_two_references_in_one_file(tmp_path):
    one = made()
    moved = {s: x + 1 if s == "double" else x for s, x in one.scorers.items()} | {"only here": one.scorers["few"]}
    other = replace(one, reference="refB", scorers=moved, notes=("v: left out",), left_out=())
    segments.save(tmp_path / "both.seg", one, other)
    segments.save(tmp_path / "one.seg", one)
    assert differences(segments.read(tmp_path / "both.seg"), one) == []
    assert differences(segments.read(tmp_path / "both.seg", "refB"), other) == []
    # what both share is kept once: the second costs one matrix of doubles and some names
    cost = (tmp_path / "both.seg").stat().st_size - (tmp_path / "one.seg").stat().st_size
    assert cost < one.total.size * 8 + 300
    with pytest.raises(DataError, match="refA.*refB.*'refC'"):
        segments.read(tmp_path / "both.seg", "refC")


def test_same_content_same_bytes(saved):
    assert segments.to_bytes(made()) == segments.to_bytes(segments.read(saved)) == saved.read_bytes()


def test_saving_replaces_only_with_a_whole_file(saved, monkeypatch):
    before = saved.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space left"):
        segments.save(saved, PLAIN)
    assert saved.read_bytes() == before and [p.name for p in saved.parent.iterdir()] == ["tiny.seg"]


# Numbers


@settings(deadline=None)
@given(arrays(np.int64, st.integers(0, 40), elements=st.integers(-(2**63), 2**63 - 1)))
@example(np.array([-(2**63), 2**63 - 1]))
@example(np.array([5]))
def test_any_whole_numbers(x):
    back, end = unpack(b"before" + pack(x) + b"behind", 6)
    assert back.tolist() == x.tolist() and end == 6 + len(pack(x))


cells = st.floats(width=64) | st.floats(-10, 10).map(lambda v: round(v, 3)) | st.floats(width=32)


@settings(deadline=None)
@given(st.data(), st.integers(2, 4), st.integers(1, 8))
def test_any_floats_bit_for_bit(data, systems, lines):
    x = data.draw(arrays(np.float64, systems * lines, elements=cells))
    first = np.array([[data.draw(st.integers(0, k)) for k in range(systems)] for _ in range(lines)])
    first = np.take_along_axis(first, first, axis=1)  # …of the one it points to,
    first = np.take_along_axis(first, first, axis=1)  # until nothing changes
    for alike in (None, Alike.of(np.minimum(first, np.take_along_axis(first, first, axis=1)))):
        form, digits, raw = encode(x, alike)
        assert bits(decode(form, digits, raw, alike)) == bits(x)


def form_of(x):
    return encode(np.asarray(x, dtype=np.float64))[0]


def test_each_kind_of_score_finds_its_form():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    assert form_of(x) == "double" and form_of(x.astype(np.float32)) == "single"
    assert [encode(x.round(d))[:2] for d in (3, 6, 9)] == [("decimal", d) for d in (3, 6, 9)]
    assert form_of(np.sqrt(rng.integers(0, 9, 500))) == "table"
    assert form_of(np.where(x > 1, NAN, x.round(1))) == "table"
    # a unit in the last place beside the decimal, as readers that round twice make it
    assert form_of(np.nextafter(x.round(6), 9)) == "decimal"
    assert form_of(np.where(x > 1, -0.0, x.round(6))) == "double"  # no whole number is minus zero


def test_cells_that_repeat_others_cost_nearly_nothing():
    x = np.random.default_rng(1).normal(size=(1000, 4))
    x[:, 2] = x[:, 0]
    alike = Alike.of(np.tile([0, 1, 0, 3], (1000, 1)))
    once, twice = (len(encode(v.ravel(), a)[2]) for v, a in ((x[:, [0, 1, 3]], None), (x, alike)))
    assert once <= twice < 1.01 * once


def test_systems_that_most_scorers_score_alike():
    x = np.random.default_rng(2).normal(size=(3, 30))
    y = x.copy()
    y[2, :10] = y[0, :10]
    first = segments._first_alike([x, y, y], 3, 30)
    assert first[:10].tolist() == [[0, 1, 0]] * 10 and first[10:].tolist() == [[0, 1, 2]] * 20
    few = np.zeros((3, 30))  # says nothing about who translates alike
    assert segments._first_alike([few, x], 3, 30).tolist() == [[0, 1, 2]] * 30


# Files that cannot be used

AGAIN = "restore it or rebuild it with 'make data ONLY=tiny'"


def refused(path, sentence):
    with pytest.raises(DataError) as error:
        segments.read(path)
    assert str(error.value) == f"{path}: {sentence}", error.value


def test_every_cut_is_noticed(saved):
    raw = saved.read_bytes()
    start = len(segments.MAGIC) + segments._PREFIX.size
    for n in [*range(0, start, 3), *range(start, len(raw), 13), len(raw) - 1]:
        saved.write_bytes(raw[:n])
        what = (
            "the file is cut or damaged, its checksum is another" if n >= start else "not a file of Whichbird segments"
        )
        refused(saved, f"{what}; {AGAIN}")
    saved.write_bytes(raw + b"\0")
    refused(saved, f"the file is cut or damaged, its checksum is another; {AGAIN}")


def test_every_flipped_bit_is_noticed(saved):
    raw = saved.read_bytes()
    for n in range(len(raw)):
        if n < 200 or n % 11 == 0:
            saved.write_bytes(raw[:n] + bytes([raw[n] ^ (1 << n % 8)]) + raw[n + 1 :])
            with pytest.raises(DataError, match=re.escape(str(saved)) + ": .*" + re.escape(AGAIN)):
                segments.read(saved)


@pytest.mark.parametrize("raw", [b"", b"PK\3\4", b"\x80\x04N.", b"whichbird segments\n"])
def test_other_files(saved, raw):
    saved.write_bytes(raw)
    refused(saved, f"not a file of Whichbird segments; {AGAIN}")


def test_another_version(saved):
    raw = saved.read_bytes()
    at = len(segments.MAGIC)
    saved.write_bytes(raw[:at] + struct.pack("<H", 9) + raw[at + 2 :])
    refused(saved, f"the file has format 9; this version reads format 1; {AGAIN}")


def test_a_header_that_makes_no_sense(saved):
    body = segments._squeeze(b"[1, 2]")
    head = segments._PREFIX.pack(segments.SEGMENTS_FORMAT, segments.hashlib.sha256(body).digest(), len(body))
    saved.write_bytes(segments.MAGIC + head + body)
    refused(saved, f"the file says nothing that this version understands; {AGAIN}")


def forged(header, block=b""):
    """A file with a right checksum."""
    packed = segments._squeeze(header)
    body = packed + block
    head = segments._PREFIX.pack(segments.SEGMENTS_FORMAT, segments.hashlib.sha256(body).digest(), len(packed))
    return segments.MAGIC + head + body


def block(size, width, high, content):
    squeezed = segments._squeeze(content)
    return segments._PART.pack(0, size, width, high, len(squeezed)) + squeezed


LINES = b'{"name": "tiny", "systems": ["a"], "lines": ["whole", 0, 0, 9, false], "alike": ["whole", 0, 0, 9, false]}'


@pytest.mark.parametrize(
    "raw",
    [
        forged(LINES, block(2**40, 0, 0, b"")),  # so many numbers, all the same
        forged(LINES, block(2**63, 8, 8, b"")),
        forged(LINES, block(10, 200, 200, b"")),
        forged(LINES, block(10, 1, 1, bytes(10**7))),  # packs to little
        forged(LINES + b" " * 10**8),
        forged(b"[" * 100_000),
    ],
    ids=["2^40 numbers", "2^63", "wide numbers", "a bomb", "a header like a bomb", "brackets inside brackets"],
)
def test_files_that_claim_too_much(saved, raw):
    """With a right checksum, refused before the memory is asked for, the file named."""
    saved.write_bytes(raw)
    tracemalloc.start()
    with pytest.raises(DataError, match=re.escape(str(saved)) + ": .*" + re.escape(AGAIN)):
        segments.read(saved)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e8


def test_no_file_or_a_folder(tmp_path):
    refused(tmp_path / "tiny.seg", "no such file; make it with 'make data ONLY=tiny'")
    (tmp_path / "dir.seg").mkdir()
    with pytest.raises(DataError, match="dir.seg: cannot be read"):
        segments.read(tmp_path / "dir.seg")


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A data folder with one dataset."""
    monkeypatch.setenv("WHICHBIRD_DATA", str(tmp_path))
    pool = made(name="ende24")
    digest.make(pool).save(tmp_path / "ende24.npz")
    segments.save(tmp_path / "segments" / "ende24.seg", pool)
    return tmp_path


def test_load_pool(shelf):
    pool = made(name="ende24")
    assert differences(wb.load_pool("ende24"), pool) == [] == differences(wb.load_pool("ende24", "refA"), pool)
    with pytest.raises(DataError, match="ende24 ships segment scores with refA, not with 'refB'"):
        wb.load_pool("ende24", "standard")
    with pytest.raises(DataError, match="unknown dataset 'ende42'; did you mean 'ende24'"):
        wb.load_pool("ende42")


def test_a_file_of_another_dataset(shelf):
    segments.save(shelf / "segments" / "ende24.seg", made(name="ende23"))
    sentence = "ende24.seg: it holds the segments of ende23, not of ende24; rebuild both with 'make data ONLY=ende24'"
    with pytest.raises(DataError, match=sentence):
        wb.load_pool("ende24")


@pytest.mark.parametrize(
    "change",
    [{"systems": ("a", "b", "c", "d")}, {"lines": np.arange(60)}, {"scorers": {"few": np.ones((4, 60))}}],
    ids=["systems", "lines", "scores"],
)
def test_a_file_that_does_not_belong_to_its_digest(shelf, change):
    other = made(name="ende24", **change | ({"errors": None} if "systems" in change else {}))
    segments.save(shelf / "segments" / "ende24.seg", other)
    with pytest.raises(DataError, match="ende24.seg.*ende24.npz.*ONLY=ende24"):
        wb.load_pool("ende24")


# What ships


def test_every_dataset_ships_its_segments_in_25_megabytes():
    files = {path.stem: path.stat().st_size for path in (digest.folder() / "segments").iterdir()}
    assert files.keys() == DATASETS.keys() == set(wb.datasets())
    assert sum(files.values()) <= 25e6


@pytest.mark.parametrize("name", wb.datasets())
def test_shipped_segments_belong_to_their_digest(name):
    d, pool = wb.load(name), wb.load_pool(name)
    assert (pool.name, pool.systems, tuple(pool.scorers), pool.reference) == (name, d.systems, d.scorers, d.reference)
    assert bits(pool.lines) == bits(d.lines.astype(np.int64)) and pool.source_lines == d.source_lines
    assert np.array_equal(pool.rated, d.rated) and list(pool.notes) == d.info["notes"]
    assert bits(pool.official) == bits(d.official) and bits(pool.annotated) == bits(d.annotated)
    assert pool.aliases == d.aliases == dict(wb.load_significance(name).aliases) and not pool.exact
    assert np.allclose(system_means(pool.total), d.total, rtol=1e-12, atol=0)  # sums in any order
    # a scorer's mean may be near zero: what rounds is its scores
    assert all(
        np.abs(system_means(x) - m).max() <= 1e-12 * np.abs(x).max()
        for x, m in zip(pool.scored.values(), d.means, strict=True)
    )
    if d.aspects is None:
        assert pool.aspects is None and pool.errors is None
    else:
        assert np.allclose(pool.aspects, d.aspects, rtol=1e-12, atol=0)
        errors = wb.load_errors(name)
        assert pool.errors["count"].tolist() == errors["count"].tolist()
        assert np.allclose(pool.errors["penalty"], errors["penalty"], rtol=1e-9)  # the table has ten digits
    # the convention of the published tables, bit for bit
    for human in ("total",) if d.aspects is None else ("total", "adequacy", "fluency"):
        assert np.array_equal(p_counts(getattr(pool, human), exact=False), d.counts(human))
    some = list(pool.scorers)[:2]
    for scorer in some:
        assert np.array_equal(p_counts(pool.scored[scorer], exact=False), d.counts("scorers")[d.scorers.index(scorer)])
    standard = wb.load_pool(name, "standard")
    assert standard.reference == DATASETS[name].standard and set(d.scorers) <= set(standard.scorers)
    for scorer in some:
        assert np.array_equal(
            p_counts(standard.scored[scorer], exact=False), d.counts("standard")[d.scorers.index(scorer)]
        )


@pytest.mark.parametrize("name", wb.datasets())
def test_names_and_no_text(name):
    """Documents, domains and raters are identifiers: no name has a blank in it, as any sentence would."""
    pool = wb.load_pool(name)
    assert pool.segments is None and pool.documents is not None and pool.domains is not None
    for label in {*pool.documents, *pool.domains, *pool.rater_names}:
        assert re.fullmatch(r"\S{1,100}", label), label
    said = {reason for _, _, reason, _ in pool.left_out} | set(pool.notes)
    assert all(len(sentence) < 250 for sentence in said), max(said, key=len)


@pytest.mark.parametrize("name", list(DATASETS))
def test_shipped_segments_are_the_release_bit_for_bit(mtme_root, each_file_once, name):
    for reference in (None, "standard"):
        assert differences(wb.load_pool(name, reference), wb.read_mtme(mtme_root, name, reference)) == []
