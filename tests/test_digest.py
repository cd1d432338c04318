"""Digests: what a pool becomes, what a file keeps, and a sentence for every file that cannot be used."""

import csv
import importlib
import inspect
import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest

import whichbird as wb
from whichbird import DataError
from whichbird.core.augment import DIALS, FAMILIES, PAPER_FAMILIES, Family, offsets
from whichbird.core.permutation import p_counts
from whichbird.data import archive as archives, digest
from whichbird.data.pool import Pool
from whichbird.data.registry import DATASETS
from whichbird.study.sweep import measures
from whichbird_book import choices, facets, raters

RATINGLESS = {"adequacy": None, "fluency": None}


def pool(**changes):
    rng = np.random.default_rng(1)
    a, f = (-rng.integers(0, 6, (3, 8)).astype(float) for _ in range(2))
    a[1, 3] = f[1, 3] = np.nan
    given = {
        "name": "tiny",
        "systems": ("a", "b", "ü"),
        "lines": np.arange(1, 9),
        "source_lines": 12,
        "total": a + f - 1,
        "adequacy": a,
        "fluency": f,
        "notes": ("u: left out",),
        "scorers": {"s": rng.normal(size=(3, 8)), "t": rng.normal(size=(3, 8))},
    }
    return Pool(**given | changes)


def content(d) -> dict:
    return {m: d[m] for m in d._arrays}


def members(raw: bytes) -> dict:
    return dict(np.load(io.BytesIO(raw), allow_pickle=False))


def archive(arrays) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "tiny.npz"
    digest.make(pool()).save(path)
    return path


def use(path):
    """Read a digest and everything in it."""
    d = digest.read(path)
    content(d)
    return d, d.signature, d.human_p, d.scorer_p, d.standard_p, d.adequacy_p, d.fluency_p, d.offsets


# What is in it


def test_a_digest_holds_what_follows_from_the_pool():
    p = pool()
    d = digest.make(p)
    assert d.name == "tiny" and d.systems == p.systems and d.scorers == ("s", "t") and d.source_lines == 12
    assert d.lines.tolist() == list(range(1, 9)) and d.rated.tolist() == [8, 7, 8]
    assert d.total[1] == np.nansum(p.total[1]) / 7 and d.adequacy[1] == np.nansum(p.adequacy[1]) / 7
    assert d.means.tolist() == [p.scorers[s].mean(axis=1).tolist() for s in "st"]
    assert d.offsets.tolist() == [offsets(p.scorers[s], p.adequacy, p.fluency).tolist() for s in "st"]
    for which in ("total", "adequacy", "fluency"):
        assert d.counts(which).tolist() == p_counts(getattr(p, which)).tolist()
    assert d.counts("scorers").tolist() == [p_counts(p.scorers[s]).tolist() for s in "st"]
    assert d.human_p.tolist() == (p_counts(p.total) / 1000).tolist()
    assert d.scorer_p.shape == (2, 3) and d.standard_p.tolist() == d.scorer_p.tolist()
    assert d.info["notes"] == ["u: left out"]
    assert d.signature == f"tiny|sys:3|seg:8|ref:refA|perm:1000|seed:4|mt-metrics-eval-v2|whichbird:{wb.__version__}"
    assert "tiny|sys:3" in repr(d)


def test_covariance_of_the_means_by_hand():
    total = [[0, -2, -4], [-1, -1, np.nan]]  # means −2 and −1; deviations (2, 0, −2) and (0, 0)
    p = Pool("p", ("x", "y"), [0, 1, 2], 3, total)
    assert digest.make(p).covariance.tolist() == [[8 / 9, 0], [0, 0]]
    x = np.random.default_rng(0).normal(size=(2, 40))
    expected = np.cov(x, ddof=0) / 40
    got = digest.make(Pool("p", ("x", "y"), np.arange(40), 40, x)).covariance
    assert np.allclose(got, expected, rtol=1e-12, atol=1e-12 * expected.max())  # the same sums in another order


def test_without_ratings_or_scorers():
    d = digest.make(pool(**RATINGLESS, scorers={}))
    assert all(x is None for x in (d.adequacy, d.fluency, d.offsets, d.adequacy_p, d.fluency_p))
    assert d.scorers == () and d.means.shape == (0, 3) and d.scorer_p.shape == (0, 3) and d.covariance.shape == (3, 3)


def test_the_standard_reference_has_its_own_counts():
    p = pool()
    other = pool(scorers={s: -x for s, x in p.scorers.items()}, reference="refB")
    d = digest.make(p, other)
    assert d.counts("standard").tolist() == [p_counts(-p.scorers[s]).tolist() for s in "st"]
    assert d.counts("standard").tolist() != d.counts("scorers").tolist()
    with pytest.raises(DataError, match="tiny: read with refB, scorer 't' is left out"):
        digest.make(p, pool(scorers={"s": p.scorers["s"]}, reference="refB"))
    with pytest.raises(DataError, match="the systems are others"):
        digest.make(p, pool(systems=("a", "b", "c")))


@pytest.mark.parametrize("permutations", [200, 1000, 70_000])
def test_counts_are_stored_whole(permutations):
    same = np.zeros((2, 3))
    d = digest.make(Pool("p", ("x", "y"), [0, 1, 2], 3, same), permutations=permutations)
    assert d.counts("total").tolist() == [permutations] and d.human_p.tolist() == [1.0]


# Families


def relabelled(d, **entries):
    """The same digest with other entries in its record, as its arrays allow; None removes one."""
    info = {k: v for k, v in (d.info | entries).items() if v is not None}
    record = np.frombuffer(json.dumps(info).encode(), dtype=np.uint8)
    kept = info.get("families", FAMILIES)
    return digest.Digest(
        {m: x for m, x in content(d).items() if m[:7] != "curves_" or m[7:] in kept} | {"info": record}
    )


def test_a_digest_lists_its_families():
    d = digest.make(pool())
    assert d.families == tuple(FAMILIES)
    for family in FAMILIES:
        assert d.curve_counts(family).shape == (2, FAMILIES[family].dials.size, 3)
    # without errors there is the total alone, and what leads towards it
    blind = tuple(name for name, family in FAMILIES.items() if family.needs == ("total",))
    assert digest.make(pool(**RATINGLESS)).families == blind and "adherence" in blind


def test_a_digest_without_a_family_that_the_code_knows():
    """Adding a family to the code must not ask for new digests: an old one says what it has, and does all the rest."""
    old = relabelled(digest.make(pool()), families=["adherence"])
    assert old.families == ("adherence",) and old.curves("adherence").shape == (2, 201, 3)
    assert wb.rank(old).table["scorer"].tolist() == wb.rank(digest.make(pool())).table["scorer"].tolist()
    assert list(measures(old, np.ones((1, 3)))) == ["adherence"]
    with pytest.raises(DataError, match="'explainability'.*'make data ONLY=tiny'"):
        old.curve_counts("explainability")
    with pytest.raises(DataError, match="no augmented.*'explainability'"):
        digest.make(pool(**RATINGLESS)).curve_counts("explainability")
    with pytest.raises(ValueError, match="unknown family 'beauty'; one of adequacy-fluency, "):
        old.curve_counts("beauty")


def test_a_family_is_a_record(monkeypatch):
    """A new family is one entry of a dictionary: digests made after hold it, and the measures follow."""
    constant = Family("towards the first", np.array([0.0, 0.5, 2.0]), ("total",), lambda spread, total: total * 0 + 1.0)
    monkeypatch.setitem(FAMILIES, "made-up", constant)
    monkeypatch.setitem(DIALS, "made-up", constant.dials)
    d = digest.make(pool())
    assert d.families[-1] == "made-up" and d.curve_counts("made-up").shape == (2, 3, 3)
    assert list(measures(d, np.ones((1, 3)))) == list(d.families)
    # the same constant for every system changes no comparison: every step is a tie
    assert measures(d, np.ones((1, 3)))["made-up"].tolist() == [0.5]
    monkeypatch.undo()
    assert wb.rank(d).table.shape[0] == 2 and d.families[-1] == "made-up"  # nor does one that the code has forgotten


def test_format_1_held_the_families_of_the_paper():
    d = digest.make(pool())
    old = relabelled(d, format=1, families=None)
    turned = {m: np.ascontiguousarray(x.swapaxes(1, 2)) for m, x in content(old).items() if m.startswith("curves_")}
    old = digest.Digest(content(old) | turned)  # dials came before pairs
    assert old.families == PAPER_FAMILIES
    for family in PAPER_FAMILIES:
        assert np.array_equal(old.curve_counts(family), d.curve_counts(family))
    assert relabelled(digest.make(pool(**RATINGLESS)), format=1, families=None).families == ()


def test_the_families_listed_are_there():
    d = digest.make(pool())
    with pytest.raises(DataError, match="the digest of tiny has no 'curves_adherence'"):
        digest.Digest({m: x for m, x in content(d).items() if m != "curves_adherence"})


# What a file keeps


@pytest.mark.parametrize("p", [pool(), pool(**RATINGLESS), pool(scorers={})])
def test_round_trip(tmp_path, p):
    d = digest.make(p)
    d.save(tmp_path / "x.npz")
    back = digest.read(tmp_path / "x.npz")
    assert back.info == d.info and back.differences(d) == [] == d.differences(back)
    ours, theirs = content(d), content(back)
    assert ours.keys() == theirs.keys()
    for m in ours:
        assert ours[m].dtype == theirs[m].dtype and np.array_equal(ours[m], theirs[m])


def test_same_content_same_bytes(tmp_path, saved):
    digest.make(pool()).save(tmp_path / "again.npz")
    digest.read(saved).save(tmp_path / "copy.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "copy.npz").read_bytes() == saved.read_bytes()
    with zipfile.ZipFile(saved) as z:
        assert {i.date_time for i in z.infolist()} == {(1980, 1, 1, 0, 0, 0)}  # no clock in the file


@pytest.mark.parametrize("name", wb.datasets())
def test_no_shipped_digest_holds_a_pickle(name):
    with np.load(digest.folder() / f"{name}.npz", allow_pickle=False) as z:
        kinds = {m: z[m].dtype.kind for m in z.files}
    assert set(kinds.values()) <= set("bfiuU"), kinds


def test_differences_name_the_member(tmp_path):
    d = digest.make(pool())

    def changed(**members):
        return digest.Digest(content(d) | members)

    info = json.loads(bytes(d["info"]))

    def record(**entries):
        return np.frombuffer(json.dumps(info | entries).encode(), dtype=np.uint8)

    assert d.differences(changed(p_total=d["p_total"] ^ 1)) == ["p_total"]
    assert d.differences(changed(total=d.total * (1 + 1e-9))) == ["total"]
    assert d.differences(changed(total=d.total * (1 + 1e-15))) == []  # another order of summation
    assert d.differences(changed(systems=np.array(["a", "b", "c"]))) == ["systems"]
    assert d.differences(changed(p_standard=d["p_scorers"])) == ["p_standard"]
    assert d.differences(changed(info=record(seed=5))) == ["info"]
    assert d.differences(changed(info=record(version="99"))) == []


def test_saving_replaces_only_with_a_whole_file(saved, monkeypatch):
    before = saved.read_bytes()

    def fails(out, **arrays):
        out.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", fails)
    with pytest.raises(OSError, match="No space left"):
        digest.make(pool(scorers={})).save(saved)
    assert saved.read_bytes() == before and [p.name for p in saved.parent.iterdir()] == ["tiny.npz"]


def test_arrays_are_decoded_when_asked_for(saved):
    arrays = members(saved.read_bytes())
    raw = archive(arrays | {"p_scorers": np.zeros(3, dtype=np.uint16)})
    start = raw.index(b"p_scorers.npy")
    saved.write_bytes(raw[: start + 60] + bytes([raw[start + 60] ^ 255]) + raw[start + 61 :])
    d = digest.read(saved)  # the damage is in a member nobody has asked for
    assert d.human_p.shape == (3,)
    with pytest.raises(DataError, match="tiny.*'p_scorers'"):
        d.counts("scorers")


# Files that cannot be used


def test_every_cut_is_noticed(saved):
    raw = saved.read_bytes()
    for n in range(0, len(raw), 7):
        saved.write_bytes(raw[:n])
        with pytest.raises(DataError, match="tiny"):
            use(saved)


def test_every_flipped_byte_is_noticed_or_harmless(saved):
    raw, whole = saved.read_bytes(), digest.read(saved)
    noticed = 0
    for n in range(0, len(raw), 3):
        saved.write_bytes(raw[:n] + bytes([raw[n] ^ 255]) + raw[n + 1 :])
        try:
            assert use(saved)[0].differences(whole) == []
        except DataError as error:
            noticed += 1
            assert "\n" not in str(error)
    assert noticed > len(raw) / 9  # the archive's own names and dates are harmless; what it holds is not


@pytest.mark.parametrize("raw", [b"", b"PK", b"no archive at all", b"\x80\x04N."])
def test_not_an_archive(saved, raw):
    saved.write_bytes(raw)
    with pytest.raises(DataError, match="tiny.npz.*'make data'"):
        digest.read(saved)


def test_other_files_of_numpy(saved):
    with open(saved, "wb") as out:
        np.save(out, np.arange(3))
    with pytest.raises(DataError, match="tiny.npz: not a "):
        digest.read(saved)
    saved.write_bytes(archive({"x": np.arange(3)}))
    with pytest.raises(DataError, match="tiny.npz.*'info'"):
        digest.read(saved)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(DataError, match="gone.npz: no such file; rebuild it with 'make data'"):
        digest.read(tmp_path / "gone.npz")
    with pytest.raises(DataError, match="cannot be read"):
        digest.read(tmp_path)


# Files that claim too much


def forged(shape, raw=b""):
    """A member whose header says `shape`, whatever it holds."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return out.getvalue() + raw


@pytest.mark.parametrize(
    "shape", [(10**11,), (10**30, 10**30), (3, 1)], ids=["800 GB", "beyond 64 bits", "other sizes"]
)
def test_a_header_that_claims_more_than_there_is(saved, shape):
    """Read by its header first: numpy would ask for that memory, and so the program would fail, or the machine."""
    with zipfile.ZipFile(saved) as z:
        held = {name: z.read(name) for name in z.namelist()}
    with zipfile.ZipFile(saved, "w") as z:
        for name, raw in (held | {"total.npy": forged(shape)}).items():
            z.writestr(name, raw)
    with pytest.raises(DataError, match="tiny.npz: .*damaged at 'total'"):
        digest.read(saved)


def test_an_archive_that_unpacks_to_a_gigabyte(saved, monkeypatch):
    """Nothing is unpacked of it, not even what is small; here the bound is a megabyte, so that the test is quick."""
    assert max(sum(e.file_size for e in zipfile.ZipFile(p).infolist()) for p in digest.folder().glob("*.npz")) < 1e7
    assert 1e7 < archives.UNPACKED < 1e9
    monkeypatch.setattr(archives, "UNPACKED", 1_000_000)
    saved.write_bytes(archive(members(saved.read_bytes()) | {"curves_adherence": np.zeros((125, 1000))}))
    assert saved.stat().st_size < 100_000
    monkeypatch.setattr(archives.np.lib.format, "read_magic", lambda *_: pytest.fail("unpacked"))
    with pytest.raises(DataError, match="tiny.npz: it would unpack to 1 MB"):
        digest.read(saved)


def test_a_record_of_brackets_inside_brackets(saved):
    deep = np.frombuffer(b"[" * 100_000, dtype=np.uint8)
    saved.write_bytes(archive(members(saved.read_bytes()) | {"info": deep}))
    with pytest.raises(DataError, match="tiny.npz: not a Whichbird digest"):
        digest.read(saved)


def info_record(**entries):
    info = {k: v for k, v in (digest.make(pool()).info | entries).items() if v is not None}
    return np.frombuffer(json.dumps(info).encode(), dtype=np.uint8)


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"info": info_record(format=99)}, "the digest has format 99; this version reads formats 1 and 2: rebuild it"),
        ({"info": info_record(permutations=None)}, "the digest's 'info' has no 'permutations'"),
        ({"info": np.frombuffer(b"[1]", dtype=np.uint8)}, "it has no readable 'info' record"),
        ({"info": np.frombuffer(b"{", dtype=np.uint8)}, "it has no readable 'info' record"),
        ({"total": np.zeros(2)}, r"the digest's 'total' has shape \(2,\) where \(3,\) is expected"),
        ({"means": np.zeros((3, 3))}, r"the digest's 'means' has shape \(3, 3\) where \(2, 3\) is expected"),
    ],
)
def test_wrong_content(saved, change, sentence):
    saved.write_bytes(archive(members(saved.read_bytes()) | change))
    with pytest.raises(DataError, match=f"tiny.npz: .*{sentence}"):
        digest.read(saved)


def test_a_missing_member(saved):
    arrays = members(saved.read_bytes())
    for m in arrays.keys() - {"info"}:
        saved.write_bytes(archive({k: v for k, v in arrays.items() if k != m}))
        with pytest.raises(DataError, match=f"tiny.npz: the digest of tiny has no '{m}'"):
            digest.read(saved)
    with pytest.raises(DataError, match="the digest of tiny has no 'p_beauty'"):
        digest.make(pool()).counts("beauty")


def test_a_pickle_is_never_opened(saved):
    arrays = members(saved.read_bytes())
    saved.write_bytes(archive(arrays | {"total": np.array([1, None, "x"], dtype=object)}))
    with pytest.raises(DataError, match="damaged at 'total'"):
        digest.read(saved)


# What ships


def test_every_dataset_ships():
    assert wb.datasets() == list(DATASETS)


def in_order(source):
    """The scorers of a source by the first of all names that each has."""
    names = {s: [s, *(a for a, shown in source.aliases.items() if shown == s)] for s in source.scorers}
    return sorted(names, key=lambda s: min(names[s]))


@pytest.mark.parametrize("name", wb.datasets())
def test_shipped_digests_are_whole(name):
    d = wb.load(name)
    k, m = len(d.systems), len(d.scorers)
    pairs = k * (k - 1) // 2
    source = DATASETS[name]
    assert d.name == name and (d.reference, d.info["standard"]) == (source.reference, source.standard)
    assert d.info["format"] == 2
    # a family added since is in no shipped digest until `make data` puts it there
    assert {*(PAPER_FAMILIES if source.ratings else ["adherence"])} <= set(d.families) <= set(FAMILIES)
    assert list(d.systems) == sorted(d.systems) and list(d.scorers) == in_order(d)
    assert d.human_p.shape == (pairs,) and d.scorer_p.shape == d.standard_p.shape == (m, pairs)
    assert ("p_standard" in d) == (source.standard != source.reference)
    assert d.counts("scorers").min() >= 0 and d.counts("scorers").max() <= 1000
    assert len(d.lines) == len(set(d.lines.tolist())) and 0 <= d.lines.min() and d.lines.max() < d.source_lines
    assert (d.rated <= len(d.lines)).all() and (d.total <= 0).all()
    if not source.ratings:
        assert all(x is None for x in (d.adequacy, d.fluency, d.offsets, d.adequacy_p, d.fluency_p))
        assert d.covariance.shape == (k, k) and len(wb.load_errors(name)) == 0
    else:
        assert (d.adequacy <= 0).all() and (d.fluency <= 0).all() and d.offsets.shape == (m, k)
        assert d.adequacy_p.shape == d.fluency_p.shape == (pairs,) and d.covariance.shape == (3 * k, 3 * k)
        assert set(wb.load_errors(name)["system"]) == set(d.systems)


def test_unknown_names_suggest_near_ones():
    with pytest.raises(DataError, match=r"'ende25'.*'ende2\d'.*'ende2\d'.*'ende2\d'"):
        wb.load("ende25")
    with pytest.raises(DataError, match="unknown dataset 'ted'; did you mean .*ted_ende"):
        wb.load_errors("ted")
    with pytest.raises(DataError, match="unknown dataset 'qqq'; there are ende20, .*, jazh24"):
        wb.load("qqq")
    with pytest.raises(DataError, match="unknown dataset 24"):
        wb.load(24)


def test_another_folder_of_data(tmp_path, monkeypatch):
    monkeypatch.setenv("WHICHBIRD_DATA", "")
    shipped = digest.folder()
    monkeypatch.setenv("WHICHBIRD_DATA", str(tmp_path))
    assert digest.folder() == tmp_path and wb.datasets() == []
    with pytest.raises(DataError, match=f"{tmp_path}: no dataset is there; run 'make data'"):
        wb.load("ende24")
    with pytest.raises(DataError, match="errors.csv: no such file; there is no table at all"):
        wb.load_errors()
    digest.make(pool(name="ende24")).save(tmp_path / "ende24.npz")
    assert wb.datasets() == ["ende24"] and wb.load("ende24").systems == ("a", "b", "ü")
    monkeypatch.setenv("WHICHBIRD_DATA", "")
    assert digest.folder() == shipped


def test_tables_are_read_to_the_last_bit():
    """Against `float` on the very texts; older pandas drops digits unless it is asked not to."""
    with (digest.folder() / "sweep.csv").open(encoding="utf-8", newline="") as file:
        betas = [float(row["beta"]) for row in csv.DictReader(file)]
    assert digest.read_table("sweep.csv")["beta"].tolist() == betas and len(set(betas)) > 1000


# Names in place of datasets. Every public function with a parameter that takes a dataset is here, or the first test fails.

GIVEN = {"source", "d", "dataset", "sources", "pools"}  # what such a parameter is called
BY_NAME = {
    "aspect_agreement": lambda d: raters.aspect_agreement(d).table,
    "by_beta": lambda d: choices.by_beta(d if isinstance(d, str) else wb.load(d.name)),
    "by_domain": lambda d: wb.by_domain([d]),
    "by_reference": lambda d: choices.by_reference(d if isinstance(d, str) else wb.load("ende24")),
    "by_seed": lambda d: choices.by_seed(d, [1]),
    "by_taxonomy": lambda d: choices.by_taxonomy(
        d, *([] if isinstance(d, str) else [wb.load("ende24")]), names=["terminology"]
    ),
    "by_total": lambda d: choices.by_total(d, *([] if isinstance(d, str) else [wb.load("ende24")])),
    "calibrate": lambda d: wb.calibrate(PAIRS, d if isinstance(d, str) else wb.load("ende24"), resamples=2).beta,
    "carriers": lambda d: wb.carriers(d, [0.7, 0.8]).spa,
    "common_balance": lambda d: wb.common_balance([d, d]),
    "components": lambda d: wb.components(d).low,
    "contest": lambda d: wb.contest(d).p,
    "contributions": lambda d: wb.contributions(d),
    "domain_agreement": lambda d: wb.domain_agreement(d, shuffles=5)["tau"],
    "domain_lean": lambda d: wb.domain_lean(d, shuffles=5),
    "generalise": lambda d: facets.generalise(d).beta,
    "human_ceiling": lambda d: wb.human_ceiling(d, resamples=20).table,
    "in_domain": lambda d: wb.in_domain(d, "news").total,
    "intervals": lambda d: wb.intervals(d, resamples=2).spa,
    "natural_turns": lambda d: wb.natural_turns(d, resamples=2).spa,
    "overview": lambda d: wb.overview([d]).drop(columns=["beta0_low", "beta0_high", "reliable_min", "reliable_max"]),
    "placebo": lambda d: wb.placebo(d if isinstance(d, str) else wb.load("ende24"), draws=2),
    "profile": lambda d: wb.profile(d, "XCOMET", "BLEU").parts,
    "rank": lambda d: wb.rank(d, 0.9).table,
    "rank_sweep": lambda d: wb.rank_sweep(d, [0.9]),
    "rater_balances": raters.rater_balances,
    "rater_habits": raters.rater_habits,
    "rater_plan": lambda d: facets.rater_plan(d),
    "read_mtme": None,  # needs a tree; tests/test_mtme.py
    "read_scorers": lambda d: wb.read_scorers({"mine": SYSTEMS}, d)["mine"],
    "regroup": lambda d: np.array(wb.regroup(d if isinstance(d, str) else wb.load("ende24"), "terminology")),
    "significance": lambda d: wb.significance(d, resamples=2).spa,
}
PAIRS = pd.DataFrame(
    [(n, "first", s, n % k, 1) for n in range(6) for k, s in enumerate(wb.load("ende24").scorers[:4], 2)],
    columns=["pair", "preferred", "scorer", "first", "second"],
)
SYSTEMS = {s: np.arange(487.0) * k for k, s in enumerate(wb.load("ende24").systems)}


def test_no_function_that_takes_a_dataset_is_left_out():
    here = ((n, getattr(wb, n)) for n in wb.__all__)
    moved = ((n, getattr(importlib.import_module(m), n)) for n, m in wb._MOVED.items())
    public = {n: f for n, f in (*here, *moved) if inspect.isfunction(f)}
    assert {n for n, f in public.items() if GIVEN & inspect.signature(f).parameters.keys()} - {"load_taxonomy"} == set(
        BY_NAME
    )


@pytest.mark.parametrize("name", [name for name, call in BY_NAME.items() if call])
def test_a_name_stands_for_a_dataset(name):
    """Here that of mt-metrics-eval, which takes the same way as ours and one step more."""
    call, raters = (
        BY_NAME[name],
        name in ("aspect_agreement", "rater_balances", "rater_habits", "rater_plan", "generalise"),
    )
    ours = (
        "ende22" if raters else "ende23" if name == "human_ceiling" else "ende24"
    )  # with what it needs: raters, several
    want, got = call(wb.load_pool(ours)), call(f"{DATASETS[ours].set}/{DATASETS[ours].pair}")
    assert got.equals(want) if isinstance(want, pd.DataFrame | pd.Series) else np.array_equal(got, want)
    with pytest.raises(ValueError, match="unknown dataset 'ende77'"):
        call("ende77")


def test_names_of_mt_metrics_eval():
    for name, source in DATASETS.items():
        assert wb.load(f"{source.set}/{source.pair}").name == name
    assert wb.load_pool("wmt24/en-de").name == wb.load_significance("wmt24/en-de").name == "ende24"
    assert wb.load_errors("wmt24/en-de").equals(wb.load_errors("ende24"))
    with pytest.raises(DataError, match="'wmt24/en-dee'; did you mean 'wmt24/en-de'"):
        wb.load("wmt24/en-dee")
    for nothing in (None, 5, ["ende24"]):
        with pytest.raises(ValueError, match="is no dataset; a name"):
            wb.rank(nothing)
