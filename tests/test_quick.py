"""The fast reader against the careful one: never another result, and never an answer where the careful one refuses."""

import warnings
from collections import Counter, defaultdict
from math import fsum, inf

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from owndata import SCORERS, field, human, long, wide
from test_userfiles import BAD_SCORES

from whichbird import read_mqm_tsv
from whichbird.core.check import DataError
from whichbird.data import quick, userfiles
from whichbird.data.files import read_text
from whichbird.data.mqm import TAXONOMY, WEIGHTS, plain
from whichbird.data.ratings import mean, natural

FUZZ = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def outcome(read):
    """What a reader gives, with its warnings, or the sentence of its refusal."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = read()
        except DataError as error:
            return str(error)
    return found, [str(w.message) for w in caught]


def careful(monkeypatch, read):
    with monkeypatch.context() as patch:
        patch.setattr(quick, "_plain", lambda *_: None)
        return outcome(read)


def same(one, two):
    if isinstance(one, str) or isinstance(two, str):
        return one == two
    (a, said), (b, said_too) = one, two
    if isinstance(a, dict):
        return said == said_too and list(a) == list(b) and all(np.array_equal(a[k], b[k]) for k in a)
    for name in ("name", "systems", "segments", "notes", "documents", "domains", "rater_names", "source_lines"):
        assert getattr(a, name) == getattr(b, name), name
    for one, two in zip((a, *a.ratings), (b, *b.ratings), strict=True):
        for name in ("total", "adequacy", "fluency", "raters"):
            x, y = getattr(one, name), getattr(two, name)
            assert (x is None and y is None) or (
                x.dtype == y.dtype and np.array_equal(x, y, equal_nan=x.dtype.kind == "f")
            ), name
    return said == said_too


@pytest.fixture
def pool(tmp_path):
    (tmp_path / "human.csv").write_text(human(), encoding="utf-8")
    return userfiles.read_human(tmp_path / "human.csv")


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("flaw", BAD_SCORES)
def test_bad_score_files_get_the_same_sentence(tmp_path, monkeypatch, pool, flaw):
    name, text, _ = BAD_SCORES[flaw]
    path = write(tmp_path, name, text)
    found = outcome(lambda: userfiles.read_scorers(path, pool))
    assert isinstance(found, str) and found == careful(monkeypatch, lambda: userfiles.read_scorers(path, pool))


EXTRA = "refA,u,0,0\n"
RATED = {
    "plain": human(),
    "reference": human(EXTRA),
    "reference without numbers": human("refA,u,x,y\n"),
    "total": human().replace("fluency\n", "fluency,total\n").replace("\n", ",1\n").replace("total,1", "total"),
    "spaces": human().replace(",", " , "),
    "semicolons": human().replace(",", ";"),
    "tabs": human().replace(",", "\t"),
    "blank line": human("\n\n"),
    "blank line inside": human().replace("\n", "\n\n", 3),
    "quotes": human('"a b",u,-1,-1\n'),
    "not rated": human("eel,u,-1,-1\n"),
    "names that differ in blanks": human("ant ,q,-1,-1\n"),
    "rater": "system,segment,adequacy,fluency,rater\nx,1,0,1,r10\ny,1,1,0,r2\nx,2,1,1,r2\n",
    "two raters": "system,segment,adequacy,fluency,rater\nx,1,0,1,r10\nx,1,1,0,r2\ny,1,1,1,r2\n",
    "two raters and totals": "rater,system,segment,total,adequacy,fluency\nr2,x,1,9,.1,.7\nr10,x,1,8,.2,.1\nr9,x,1,7,.3,.2\nr2,y,2,6,1,1\n",
    "raters of one number": "system,segment,adequacy,fluency,rater\nx,1,0,1,r1\nx,1,1,0,r01\ny,1,1,1,r001\n",
    "two raters, a reference": "system,segment,adequacy,fluency,rater\nx,1,0,1,r1\nx,1,1,0,r2\ny,1,1,1,r1\nrefA,1,a,b,r3\n",
    "a rater twice": "system,segment,adequacy,fluency,rater\nx,1,0,1,r1\nx,1,1,0,r1\ny,1,1,1,r2\n",
    "no rater": "system,segment,adequacy,fluency,rater\nx,1,0,1,\nx,1,1,0,r1\ny,1,1,1,r2\n",
    "documents": "system,segment,adequacy,fluency,document,domain\nx,1,0,1,d,n\ny,1,1,0,d,n\nx,2,0,0,e,n\ny,2,1,1,e,n\n",
    "other documents": "system,segment,adequacy,fluency,document\nx,1,0,1,d\ny,1,1,0,e\n",
    "underscore": human("ant,q,1_0,0\n"),
    "twice": human("ant,u,0,0\n"),
    "infinite": human("ant,q,inf,0\n"),
    "nan": human("ant,q,nan,0\n"),
    "huge": human("ant,q,1e101,0\n"),
    "no name": human(",q,0,0\n"),
    "too many": human("ant,q,0,0,0\n"),
    "too few and too many": human("ant,q,0\nbee,q,0,0,0\n"),
    "no-break space": human("ant\u00a0,q,0,0\n"),
    "other digits": human("ant,q,٣,0\n"),
    "hexadecimal": human("ant,q,0x1,0\n"),
    "numbers as names": "system,segment,adequacy,fluency\n1,01,0,1\n1,1,1,0\n1.0,01,2,2\n1.0,1.0,0,0\n01,1e3,0,0\n",
    "one system": "system,segment,adequacy,fluency\nx,1,0,1\n",
    "header alone": "system,segment,adequacy,fluency\n",
    "header twice": "system,system,segment,adequacy,fluency\nx,x,1,0,1\n",
    "carriage return": human("ant,q\r,0,0\n"),
}


@pytest.mark.parametrize("case", RATED)
def test_ratings_are_read_alike(tmp_path, monkeypatch, case):
    path = write(tmp_path, "h.csv", RATED[case])
    assert same(outcome(lambda: userfiles.read_human(path)), careful(monkeypatch, lambda: userfiles.read_human(path)))


def test_the_fast_way_is_taken(tmp_path, monkeypatch, pool):
    """On ordinary files no row is looked at by itself, so a test above compares two readers and not one with itself."""
    monkeypatch.setattr(quick, "read_sheet", lambda *_: pytest.fail("the careful way was taken"))
    for case in (
        "plain",
        "reference",
        "total",
        "spaces",
        "semicolons",
        "tabs",
        "rater",
        "two raters",
        "documents",
        "blank line",
    ):
        userfiles.read_human(write(tmp_path, "h.csv", RATED[case]))
    for name, text in {"w.csv": wide(), "l.csv": long(), "f.seg.score": field(SCORERS["near"])}.items():
        found = userfiles.read_scorers(write(tmp_path, name, text), pool)
        x = found["f" if name.startswith("f") else "near"]
        assert np.array_equal(x, SCORERS["near"])


CELLS = [
    "ant",
    "bee",
    "u",
    "v",
    "1",
    "-2.5",
    "",
    " 3 ",
    "None",
    "nan",
    "inf",
    "1e400",
    "1_0",
    '"',
    "x,y",
    "\t",
    "refA",
    "score",
    "٣",
    "\u2003",
]


# every cell by two or three raters, in tenths, so that the order of a sum matters
RATERS = "system,segment,rater,adequacy,fluency\n" + "".join(
    f"{s},{n},rater{r},{-((7 * i + 3 * j + r) % 50) / 10},{-((5 * i + j * r) % 30) / 10}\n"
    for i, s in enumerate(("ant", "bee", "cow"))
    for j, n in enumerate("uvw")
    for r in ((10, 2) if (i + j) % 2 else (3, 10, 2))
)


@FUZZ
@given(st.data(), st.sampled_from(["human", "raters", "wide", "long", "field"]))
def test_damaged_files_are_read_alike(tmp_path, monkeypatch, pool, data, kind):
    text = {"human": human(), "raters": RATERS, "wide": wide(), "long": long(), "field": field(SCORERS["near"])}[kind]
    sep = "\t" if kind == "field" else ","
    rows = [row.split(sep) for row in text.splitlines()]
    damage(rows, data, CELLS)
    path = write(
        tmp_path,
        "x.seg.score" if kind == "field" else "x.csv",
        "\n".join(map(sep.join, rows)) + data.draw(st.sampled_from(["", "\n", "\n\n"])),
    )
    extra = data.draw(st.booleans())

    def read():
        return (
            userfiles.read_human(path)
            if kind in ("human", "raters")
            else userfiles.read_scorers(path, pool, ignore_extra=extra)
        )

    assert same(outcome(read), careful(monkeypatch, read))


def damage(rows, data, cells):
    """A few rows and cells changed, dropped, repeated, cut, extended, exchanged."""
    for _ in range(data.draw(st.integers(0, 3))):
        n = data.draw(st.integers(0, len(rows) - 1))
        what = data.draw(st.sampled_from(["cell", "drop", "again", "cut", "longer", "swap"]))
        if what == "cell" and rows[n]:
            rows[n][data.draw(st.integers(0, len(rows[n]) - 1))] = data.draw(st.sampled_from(cells))
        elif what == "drop" and len(rows) > 2:
            del rows[n]
        elif what == "again":
            rows.insert(n, list(rows[data.draw(st.integers(0, len(rows) - 1))]))
        elif what == "cut":
            rows[n] = rows[n][:-1]
        elif what == "longer":
            rows[n] = [*rows[n], data.draw(st.sampled_from(cells))]
        elif what == "swap":
            m = data.draw(st.integers(0, len(rows) - 1))
            rows[n], rows[m] = rows[m], rows[n]


@FUZZ
@given(st.text(alphabet="ant,u1.\n\t;\"'_-e \r", max_size=80))
def test_any_text_is_read_alike(tmp_path, monkeypatch, pool, text):
    path = write(tmp_path, "t.csv", "system,segment,score\n" + text)
    assert same(
        outcome(lambda: userfiles.read_scorers(path, pool)),
        careful(monkeypatch, lambda: userfiles.read_scorers(path, pool)),
    )


def test_blanks_are_those_that_strip_takes():
    assert all(not f"{blank}x{blank}".strip() == f"{blank}x{blank}" for blank in quick.BLANKS)
    assert not [chr(n) for n in range(0x3001, 0x110000) if chr(n).isspace()]
    assert quick._plain(read_text(__file__), ("system",), (), list) is None


@FUZZ
@given(
    st.lists(
        st.floats(-1e99, 1e99).map(repr) | st.from_regex(r"\A-?[0-9]{1,25}(\.[0-9]{0,40})?(e-?[0-9]{1,2})?\Z"),
        min_size=1,
    )
)
def test_numbers_are_those_that_python_reads(texts):
    """To the last bit, whatever version of pandas reads them."""
    _, found, _ = quick._plain("score\n" + "\n".join(texts), (), ("score",), list)
    assert found["score"].dtype == np.float64
    assert found["score"].tolist() == [float(text) for text in texts]


@FUZZ
@given(st.lists(st.tuples(st.integers(0, 5), st.floats(-1e9, 1e9) | st.sampled_from([0.1, 0.2, 0.3, 1e16, -1e16]))))
def test_sums_are_rounded_once(rows):
    group, values = (
        np.array(x, dtype=kind)
        for x, kind in zip(zip(*rows, strict=True) if rows else ((), ()), (int, float), strict=True)
    )
    parts = [[v for g, v in rows if g == n] for n in range(6)]
    assert quick.sums(values, group, 6).tolist() == [fsum(part) for part in parts]
    assert np.array_equal(quick.means(values, group, 6), [mean(part) for part in parts], equal_nan=True)


def test_groups_of_many_columns_do_not_overflow():
    far = np.array([0, 2**40, 0, 2**40])
    for columns in ([far, far], [far, far, np.array([0, 1, 0, 2])]):
        assert quick.distinct(*columns)[0].tolist() == ([0, 1, 0, 1] if len(columns) == 2 else [0, 1, 0, 2])
        assert quick.repeats(*columns)


def by_lines(path):
    """Errors of a raw table read line by line, with dictionaries: systems, segments, three grids, each rating, raters, errors, probes."""
    first, *rows = path.read_bytes().decode().replace("\r\n", "\n").split("\n")
    header = [plain(h).replace(" ", "_") for h in first.split("\t")]
    at = []
    for names in (
        ("system", "system_id"), ("doc", "document_id"), ("doc_id", "docsegid", "doc_segment_id"),
        ("seg_id", "globalsegid", "doc_segment_id"), ("rater", "rater_id"), ("category",), ("severity",),
    ):  # fmt: skip
        at.append(next((header.index(name) for name in names if name in header), None))
        if at[-1] is None:
            return f"line 1 has no column {names[0]!r}"
    width = len(header) - (len(header) - 1 not in at)
    cells, probes = defaultdict(lambda: defaultdict(list)), 0
    for n, row in enumerate(rows, start=2):
        if not row:
            continue
        fields = row.split("\t")
        if len(fields) < width:
            return f"line {n} has {len(fields)} columns where the header has {len(header)}"
        system, doc, doc_id, seg_id, rater, category, severity = (fields[i] for i in at)
        category, severity = plain(category), plain(severity)
        probes += severity == "hotw-test"
        if severity != "hotw-test" and (rater or category or severity) and system != "refA":
            errors = cells[system, (doc, doc_id, seg_id)][rater]
            if category != "no-error":
                errors.append((category, severity))
    if not cells:
        return "no rating of a system below the header"
    systems, segments = sorted({s for s, _ in cells}), list(dict.fromkeys(n for _, n in cells))
    raters = sorted({r for some in cells.values() for r in some} - {""}, key=natural)
    rated = [
        [[(r, some[r]) for r in sorted(some, key=natural)] for n in segments for some in [cells.get((s, n), {})]]
        for s in systems
    ]
    most = max(len(some) for row in rated for some in row)

    def points(errors, aspects):
        return 0.0 - fsum(WEIGHTS.penalty(*e) or 0.0 for e in errors if (TAXONOMY.aspect(e[0]) or "neither") in aspects)

    def grid(pick, aspects):
        out = [[[points(errors, aspects) for _, errors in some[pick]] for some in row] for row in rated]
        several = any(len(some) > 1 for row in out for some in row)
        return [[mean(some) if several else some[0] if some else np.nan for some in row] for row in out]

    picks = [slice(None), *(slice(n, n + 1) for n in range(most) if most > 1)]
    grids = [
        [grid(pick, aspects) for aspects in (("adequacy",), ("fluency",), ("adequacy", "fluency", "neither"))]
        for pick in picks
    ]
    who = [
        [
            [raters.index(some[pick][0][0]) if len(some[pick]) == 1 and some[pick][0][0] else -1 for some in row]
            for row in rated
        ]
        for pick in picks
    ]
    costs, unknown = defaultdict(list), Counter()
    for s, row in zip(systems, rated, strict=True):
        for some in row:
            for c, v in (error for _, errors in some for error in errors):
                costs[s, c, v].append((WEIGHTS.penalty(c, v) or 0.0) / len(some))
                unknown[f"category {c!r}"] += TAXONOMY.aspect(c) is None
                unknown[f"severity {v!r}"] += WEIGHTS.penalty(c, v) is None
    errors = [(*key, len(found), fsum(found)) for key, found in sorted(costs.items())]
    return systems, segments, raters, grids, who, errors, probes, +unknown


MQM = "system doc doc_id seg_id rater source target category severity".split()
KINDS = [
    "Accuracy/Omission",
    "accuracy/omission",
    "Style/Awkward",
    "Fluency/Punctuation",
    "no-error",
    "No-Error",
    "Other",
    "gremlins",
    "",
]
GRADES = ["Major", "minor", "Minor ", "no-error", "dreadful", "HOTW-test", ""]
ROWS = [
    [f"sys{s}", f"d{n // 2}", str(n % 2), str(n), f"rater{r}", "Ein Satz.", 'A "sentence', KINDS[(s + n * r) % 7], GRADES[(s * r + n) % 3]]
    for n in range(4) for s in range(3) for r in ((10, 2) if (s + n) % 2 else (3,)) for _ in range(1 + (s * n) % 4)
]  # fmt: skip
ODD = [
    "",
    " ",
    "refA",
    "sys0",
    "sys9",
    "d0",
    "0",
    "1",
    "rater2",
    "rater02",
    '"',
    "\r",
    "\x0b",
    "\u2028",
    "#",
    "NA",
    "None",
    "1e5",
    "é\u00a0",
    *KINDS,
    *GRADES,
]


@FUZZ
@given(st.data())
def test_damaged_tables_of_errors_are_read_as_line_by_line(tmp_path, data):
    rows = [list(MQM), *map(list, ROWS)]
    damage(rows, data, ODD)
    if data.draw(st.booleans()):  # a header may have a column more, a comment
        rows[0] = [*rows[0], "comment"]
    text = "\n".join(map("\t".join, rows)) + data.draw(st.sampled_from(["", "\n", "\n\n"]))
    if data.draw(st.booleans()):
        text = text.replace("\n", "\n\n", 3)
    path = write(tmp_path, "mqm.tsv", text)
    compare_errors(path)


def compare_errors(path):
    expected = by_lines(path)
    found = outcome(lambda: read_mqm_tsv(path, allow_uncounted=True))
    if isinstance(expected, str) or isinstance(found, str):
        assert isinstance(expected, str) and isinstance(found, str) and expected in found
        return
    pool, said = found
    systems, segments, raters, grids, who, errors, probes, unknown = expected
    assert list(pool.systems) == systems and list(pool.rater_names) == raters
    assert list(pool.documents) == [doc for doc, _, _ in segments]
    short = [seg_id for _, _, seg_id in segments]
    assert list(pool.segments) == (short if len(set(short)) == len(short) else [":".join(key) for key in segments])
    assert len(pool.ratings) == len(grids) - 1
    for one, three, where in zip((pool, *pool.ratings), grids, who, strict=True):
        for x, y in zip((one.adequacy, one.fluency, one.total), three, strict=True):
            assert np.array_equal(x, y, equal_nan=True)
        assert where == (one.raters.tolist() if one.raters is not None else np.full_like(where, -1).tolist())
    table = pd.DataFrame(errors, columns=["system", "category", "severity", "count", "penalty"])
    pd.testing.assert_frame_equal(pool.errors, table.astype({"count": int, "penalty": float}), check_exact=True)
    assert any("HOTW-test" in note for note in pool.notes) == (probes > 0)
    assert len(said) == (1 if unknown else 0) and all(f"{n} × {label}" in said[0] for label, n in unknown.items())


def test_the_line_by_line_reader_has_something_to_compare(tmp_path):
    """The undamaged table has several raters of one cell, both aspects, and neither; an infinite sum would hide a difference."""
    path = write(tmp_path, "mqm.tsv", "\n".join(map("\t".join, [MQM, *ROWS])))
    compare_errors(path)
    pool = read_mqm_tsv(path)
    assert len(pool.ratings) == 2 and (pool.adequacy < 0).any() and (pool.fluency < 0).any()
    assert (pool.total < pool.adequacy + pool.fluency - 0.5).any() and (
        np.abs(pool.total[~np.isnan(pool.total)]) < inf
    ).all()
