"""The fast reader against the careful one: never another result, and never an answer where the careful one refuses."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from owndata import SCORERS, field, human, long, wide
from test_userfiles import BAD_SCORES

from whichbird.core.check import DataError
from whichbird.data import quick, userfiles
from whichbird.data.files import read_text

FUZZ = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


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
        for way in ("_quick_human", "_quick_table", "_quick_field"):
            patch.setattr(userfiles, way, lambda *_: None)
        return outcome(read)


def same(one, two):
    if isinstance(one, str) or isinstance(two, str):
        return one == two
    (a, said), (b, said_too) = one, two
    if isinstance(a, dict):
        return said == said_too and list(a) == list(b) and all(np.array_equal(a[k], b[k]) for k in a)
    for name in ("name", "systems", "segments", "notes", "documents", "domains", "rater_names", "source_lines"):
        assert getattr(a, name) == getattr(b, name), name
    for name in ("total", "adequacy", "fluency", "raters"):
        x, y = getattr(a, name), getattr(b, name)
        assert (x is None and y is None) or (
            x.dtype == y.dtype and np.array_equal(x, y, equal_nan=x.dtype.kind == "f")
        ), name
    return said == said_too and len(a.ratings) == len(b.ratings)


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
    """On ordinary files the careful way is not needed, so a test above compares two readers and not one with itself."""
    for name in ("_careful_human", "_table_scorers", "_field_scorer"):
        monkeypatch.setattr(userfiles, name, lambda *_: pytest.fail("the careful way was taken"))
    for case in ("plain", "reference", "total", "spaces", "semicolons", "tabs", "rater", "documents", "blank line"):
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


@FUZZ
@given(st.data(), st.sampled_from(["human", "wide", "long", "field"]))
def test_damaged_files_are_read_alike(tmp_path, monkeypatch, pool, data, kind):
    text = {"human": human(), "wide": wide(), "long": long(), "field": field(SCORERS["near"])}[kind]
    sep = "\t" if kind == "field" else ","
    rows = [row.split(sep) for row in text.splitlines()]
    for _ in range(data.draw(st.integers(0, 3))):
        n = data.draw(st.integers(0, len(rows) - 1))
        what = data.draw(st.sampled_from(["cell", "drop", "again", "cut", "longer", "swap"]))
        if what == "cell" and rows[n]:
            rows[n][data.draw(st.integers(0, len(rows[n]) - 1))] = data.draw(st.sampled_from(CELLS))
        elif what == "drop" and len(rows) > 2:
            del rows[n]
        elif what == "again":
            rows.insert(n, list(rows[data.draw(st.integers(0, len(rows) - 1))]))
        elif what == "cut":
            rows[n] = rows[n][:-1]
        elif what == "longer":
            rows[n] = [*rows[n], data.draw(st.sampled_from(CELLS))]
        elif what == "swap":
            m = data.draw(st.integers(0, len(rows) - 1))
            rows[n], rows[m] = rows[m], rows[n]
    path = write(
        tmp_path,
        "x.seg.score" if kind == "field" else "x.csv",
        "\n".join(map(sep.join, rows)) + data.draw(st.sampled_from(["", "\n", "\n\n"])),
    )
    extra = data.draw(st.booleans())

    def read():
        return userfiles.read_human(path) if kind == "human" else userfiles.read_scorers(path, pool, ignore_extra=extra)

    assert same(outcome(read), careful(monkeypatch, read))


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
    assert quick.table(read_text(__file__), ("system",)) is None
