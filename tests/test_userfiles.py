"""Files of readers: every form says the same, every flaw is refused with its place, and no bytes whatever end in a traceback."""

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from owndata import ADEQUACY, FLUENCY, SCORERS, SEGMENTS, SYSTEMS, field, human, long, pairs, refused, run, wide

import whichbird as wb
from whichbird import DataError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Good files, once for all tests that only read them."""
    out = tmp_path_factory.mktemp("files")
    for name, text in {
        "human.csv": human(),
        "wide.csv": wide(),
        "long.csv": long(),
        "near.seg.score": field(SCORERS["near"]),
    }.items():
        (out / name).write_text(text, encoding="utf-8")
    return out


@pytest.fixture(scope="module")
def pool(folder):
    return wb.read_human(folder / "human.csv")


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_human_tables(tmp_path, pool):
    assert pool.systems == SYSTEMS and pool.segments == SEGMENTS and pool.name == "human.csv"
    assert np.array_equal(pool.adequacy, ADEQUACY) and np.array_equal(pool.fluency, FLUENCY)
    assert np.array_equal(pool.total, ADEQUACY + FLUENCY)
    rows = human().splitlines()
    total = "\n".join([rows[0] + ",Total", *(f"{row},{-n}" for n, row in enumerate(rows[1:]))])
    assert np.array_equal(wb.read_human(write(tmp_path, "total.csv", total)).total, -np.arange(24.0).reshape(4, 6))
    gap = wb.read_human(write(tmp_path, "gap.csv", "\n".join(rows[:-1] + ["refA,z,0,0"])))
    assert gap.notes == ("refA: left out, since it is no machine system", "1 of 24 cells are not rated")
    assert np.isnan(gap.adequacy[3, 5]) and np.isnan(gap.total).sum() == 1 and gap.systems == SYSTEMS


def test_mqm_rows_are_told_by_their_columns(tmp_path):
    rows = ["system\tdoc\tdoc_id\tseg_id\trater\tcategory\tseverity"]
    rows += [
        f"{s}\td\t1\t{seg}\tr\t{c}\t{v}"
        for s, seg, c, v in (
            ("a", "s7", "Accuracy/Omission", "Major"),
            ("a", "s8", "no-error", "no-error"),
            ("b", "s7", "Fluency/Grammar", "Minor"),
            ("b", "s8", "Style/Awkward", "Minor"),
        )
    ]
    pool = wb.read_human(write(tmp_path, "mqm.tsv", "\r\n".join(rows)))
    assert (
        pool.segments == ("s7", "s8")
        and pool.adequacy.tolist() == [[-5, 0], [0, 0]]
        and pool.fluency.tolist() == [[0, 0], [-1, -1]]
    )
    doubled = write(tmp_path, "two.tsv", "\n".join(rows + [row.replace("\td\t1\t", "\te\t2\t") for row in rows[1:]]))
    assert wb.read_human(doubled).segments == ("d:1:s7", "d:1:s8", "e:2:s7", "e:2:s8")


def test_every_form_of_scores_says_the_same(tmp_path, folder, pool):
    for name in ("wide.csv", "long.csv"):
        found = wb.read_scorers(folder / name, pool)
        assert list(found) == list(SCORERS) and all(np.array_equal(found[s], x) for s, x in SCORERS.items())
    assert np.array_equal(wb.read_scorers(folder / "near.seg.score", pool)["near"], SCORERS["near"])
    one = "\n".join("\t".join(row.split(",")[:3]) for row in wide().replace("near", "Score").splitlines())
    assert np.array_equal(wb.read_scorers(write(tmp_path, "mine.tsv", one), pool)["mine"], SCORERS["near"])
    assert list(wb.read_scorers(folder / "near.seg.score", pool, name="other")) == ["other"]


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: b"\xef\xbb\xbf" + raw,
        lambda raw: raw.replace(b"\n", b"\r\n"),
        lambda raw: raw.rstrip(b"\n"),
        lambda raw: raw + b"\n\n  \n\t\n",
        lambda raw: b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n"),
    ],
    ids=["bom", "crlf", "no last line end", "blank lines after", "bom and crlf"],
)
@pytest.mark.parametrize("name", ["human.csv", "wide.csv", "near.seg.score"])
def test_harmless_differences_of_files(tmp_path, folder, pool, change, name):
    path = write(tmp_path, name, change((folder / name).read_bytes()))
    if name == "human.csv":
        assert np.array_equal(wb.read_human(path).adequacy, ADEQUACY)
    else:
        assert np.array_equal(wb.read_scorers(path, pool)["near"], SCORERS["near"])


def test_field_files_of_a_dataset_cover_all_lines_or_the_rated_ones(tmp_path):
    d = wb.load("ende24")
    x = np.random.default_rng(0).normal(size=(len(d.systems), d.source_lines)).round(3)
    every = write(tmp_path, "every.seg.score", field(x[::-1], d.systems[::-1]))  # systems in any order
    rated = write(tmp_path, "rated.seg.score", field(x[:, d.lines], d.systems) + "refA\t1\n" * 5)
    unrated = int(np.setdiff1d(np.arange(d.source_lines), d.lines)[0])
    lines = field(x, d.systems).splitlines()
    lines[unrated] = f"{d.systems[0]}\tNone"
    table = "system,segment,score\n" + "".join(
        f"{s},{n + 1},{x[k, n]}\n" for k, s in enumerate(d.systems) for n in d.lines
    )
    for path in (
        every,
        rated,
        write(tmp_path, "none.seg.score", "\n".join(lines)),
        write(tmp_path, "table.csv", table),
    ):
        assert np.array_equal(*wb.read_scorers(path, d).values(), x[:, d.lines])


FIELD, WIDE = field(SCORERS["near"]), wide()
BAD_SCORES = {  # what is wrong: (file name, content, the sentence after the file's name)
    "missing system": (
        "x.seg.score",
        FIELD.replace("cow", "refA"),
        "system 'cow' is missing; all 4 rated systems of human.csv are needed",
    ),
    "misspelt system": (
        "x.seg.score",
        FIELD.replace("cow", "cows"),
        "system 'cow' is missing; all 4 rated systems of human.csv are needed; is it called 'cows'?",
    ),
    "too few lines": (
        "x.seg.score",
        FIELD[: FIELD.rindex("doe")],
        "line 23: system 'doe' ends after 5 lines; 6 are expected",
    ),
    "too many lines": ("x.seg.score", FIELD + "doe\t1\n", "line 25: system 'doe' ends after 7 lines; 6 are expected"),
    "no number": ("x.seg.score", FIELD.replace("\t", "\tx", 1), "line 1, column 2 has 'x"),
    "not a number": (
        "x.seg.score",
        "ant\tNaN\n" + FIELD.split("\n", 1)[1],
        "line 1, column 2 has 'NaN'; a finite number is expected",
    ),
    "infinity": (
        "x.seg.score",
        "ant\t-inf\n" + FIELD.split("\n", 1)[1],
        "line 1, column 2 has '-inf'; a finite number is expected",
    ),
    "too large": (
        "x.seg.score",
        "ant\t1e200\n" + FIELD.split("\n", 1)[1],
        "line 1, column 2 has '1e200'; a score between",
    ),
    "underscore": (
        "x.seg.score",
        "ant\t1_0\n" + FIELD.split("\n", 1)[1],
        "line 1, column 2 has '1_0'; a finite number is expected",
    ),
    "no score": (
        "x.seg.score",
        "ant\tNone\n" + FIELD.split("\n", 1)[1],
        "line 1, column 2: 'ant' has no score on a rated segment",
    ),
    "three columns": ("x.seg.score", FIELD + "doe\t1\t2\n", "line 25 has 3 columns; system, tab, score is expected"),
    "one column": ("x.seg.score", "ant 1\n" + FIELD, "line 1 has 1 column; system, tab, score is expected"),
    "empty": ("x.seg.score", "", "the file is empty"),
    "only blank": ("x.csv", "\r\n \n", "the file is empty"),
    "encoding": ("x.seg.score", FIELD.encode() + b"caf\xe9\t1\n", f"line 25: byte {len(FIELD) + 3} is not UTF-8 text"),
    "utf-16 without a mark": ("x.csv", WIDE.encode("utf-16-le"), "line 1 has a zero byte, so it is not UTF-8 text"),
    "blank line between": (
        "x.seg.score",
        FIELD.replace("\n", "\n\n", 1),
        "line 2 has 1 column; system, tab, score is expected",
    ),
    "utf-16": ("x.csv", WIDE.encode("utf-16"), "line 1: byte 0 is not UTF-8 text"),
    "constant": (
        "x.seg.score",
        "".join(f"{s}\t{v}\n" for s in SYSTEMS for v in range(6)),
        "scorer 'x' is constant: every system has the mean score 2.5",
    ),
    "table: constant": (
        "x.csv",
        "system,segment,flat\n" + "".join(f"{s},{n},0.1\n" for s in SYSTEMS for n in SEGMENTS),
        "scorer 'flat' is constant",
    ),
    "table: no system": (
        "x.csv",
        WIDE.replace("system", "who"),
        "line 1 has no column 'system'; the header must name system, segment",
    ),
    "table: no header": ("x.csv", "ant,u,1\n", "line 1 has no column 'system'"),
    "table: no scores": ("x.csv", "system,segment\nant,u\n", "line 1 has no column of scores"),
    "table: no score beside scorer": ("x.csv", "system,segment,scorer\nant,u,a\n", "line 1 has no column of scores"),
    "table: column twice": ("x.csv", WIDE.replace("Far-2", "near"), "line 1, column 3: the name 'near' is there twice"),
    "table: column without name": ("x.csv", WIDE.replace("Far-2", ""), "line 1, column 4 has no name"),
    "table: no rows": ("x.csv", WIDE.split("\n")[0], "no row follows the header"),
    "table: short row": ("x.csv", WIDE + "u,ant,1\n", "line 26 has 3 columns where the header has 4"),
    "table: no number": (
        "x.csv",
        WIDE.replace(str(SCORERS["Far-2"][0, 0]), "high", 1),
        "line 2, column 4 (Far-2) has 'high'; a finite number",
    ),
    "table: empty cell": (
        "x.csv",
        WIDE.replace(f",{SCORERS['Far-2'][0, 0]}\n", ",\n", 1),
        "line 2, column 4 (Far-2) has ''; a finite number",
    ),
    "table: empty name": ("x.csv", WIDE.replace("u,ant", "u,", 1), "line 2, column 2 (system) is empty"),
    "table: twice": (
        "x.csv",
        WIDE + "u,ant,1,1\n",
        "line 26 repeats the score of 'near' for 'ant' on segment 'u', which line 2 has already",
    ),
    "table: unknown segment": (
        "x.csv",
        WIDE + "q,ant,1,1\n",
        "line 26, column 1 (segment) has 'q'; a segment that is rated is expected",
    ),
    "table: missing cell": ("x.csv", WIDE[: WIDE.rindex("z,doe")], "'near' has no score for 'doe' on segment 'z'"),
    "table: row of two lines": (
        "x.csv",
        WIDE + '"u\nv",ant,1,x\n',
        "line 26, column 1 (segment) has 'u\\nv'; a segment",
    ),
    "table: open quote": ("x.csv", WIDE + '"u,ant,1,1\nu,bee,1,1\n', "line 26 is no row of a table"),
    "table: blank lines first": ("x.csv", "\n\n" + WIDE.replace("system", "who"), "line 3 has no column 'system'"),
    "table: bad quotes": ("x.csv", WIDE + '"u"x,ant,1,1\n', "line 26 is no row of a table"),
}


@pytest.mark.parametrize("flaw", BAD_SCORES)
def test_bad_score_files(tmp_path, folder, flaw):
    name, text, sentence = BAD_SCORES[flaw]
    path = write(tmp_path, name, text)
    said = refused(*run("evaluate", "--human", folder / "human.csv", "--scores", path))
    assert said.startswith(f"whichbird evaluate: {path}: {sentence}")


def test_systems_that_nobody_rated_are_left_out_and_said(tmp_path, pool):
    more = {"near.seg.score": FIELD + "yak\t1\nrefA\t1\n", "near.csv": WIDE + "u,yak,1,1\n"}
    for name, text in more.items():
        with pytest.warns(UserWarning, match="left out, as nobody rated it: 'yak'$"):
            found = wb.read_scorers(write(tmp_path, name, text), pool)
        assert np.array_equal(found["near"], SCORERS["near"])
    many = write(tmp_path, "near.seg.score", FIELD + "".join(f"yak{n}\t1\n" for n in range(5)))
    with pytest.warns(UserWarning, match="nobody rated them: 'yak0', 'yak1', 'yak2', …$"):
        wb.read_scorers(many, pool)
    with pytest.raises(DataError, match="'cow'.*4.*human.csv.*'cows'"):
        wb.read_scorers(write(tmp_path, "x.seg.score", FIELD.replace("cow", "cows")), pool)


def test_segments_that_are_not_known_can_be_left_out(tmp_path, pool):
    found = wb.read_scorers(write(tmp_path, "near.csv", WIDE + "q,ant,1,1\n"), pool, ignore_extra=True)
    assert np.array_equal(found["near"], SCORERS["near"])


def test_left_out_systems_are_a_note_on_the_command_line(tmp_path, folder):
    path = write(tmp_path, "near.seg.score", FIELD + "yak\t1\n")
    code, _, said = run("evaluate", "--human", folder / "human.csv", "--scores", path)
    assert code == 0 and f"note: {path}: left out, as nobody rated it: 'yak'\n" in said


def test_segments_of_a_dataset_are_source_lines_from_one(tmp_path):
    d = wb.load("ende24")
    for segment in ("0", "999", "1.0", "u"):
        rows = "".join(f"{s},{segment},1\n" for s in d.systems)
        with pytest.raises(DataError, match=rf"line 2.*column 2.*'{segment}'.*1.*998"):
            wb.read_scorers(write(tmp_path, "x.csv", "system,segment,score\n" + rows), d)
    unrated = int(np.setdiff1d(np.arange(d.source_lines), d.lines)[0])
    rows = "".join(f"{s},{unrated + 1},1\n" for s in d.systems)
    with pytest.raises(DataError, match="no rated segment is there"):
        wb.read_scorers(write(tmp_path, "x.csv", "system,segment,score\n" + rows), d)
    few = write(tmp_path, "few.seg.score", field(np.ones((16, 486)), d.systems))
    with pytest.raises(DataError, match="line 486.*'Aya23'.*ends after 486.*998.*487"):
        wb.read_scorers(few, d)


@pytest.mark.parametrize(
    "text, sentence",
    {
        "system,adequacy,fluency\na,1,2\nb,2,x\n": "line 3, column 3 (fluency) has 'x'; a finite number is expected",
        "system,adequacy,fluency\na,1,2\na,2,3\n": "line 3 repeats system 'a', which line 2 has already",
        "system,adequacy\na,1\n": "line 1 has no column 'fluency'; the header must name system, adequacy, fluency",
        "system,adequacy,fluency\na,1,2\n": "the pool has 1 system; a balance needs at least two",
        "system,adequacy,fluency\na,1,2\nb,1,2\n": "all 2 systems have the same adequacy and fluency",
        "system,adequacy,fluency\na,1,2\nb,nan,2\n": "line 3, column 2 (adequacy) has 'nan'",
        "system,adequacy,fluency\na,1,2\nb,2,2\nc,3,9\n": "beta = 0.01 cannot be reached; this pool reaches 0.019999",
    }.items(),
)
def test_bad_tables_of_systems(tmp_path, text, sentence):
    path = write(tmp_path, "systems.csv", text)
    assert refused(*run("reweight", path, "--beta", "0.01")).startswith(f"whichbird reweight: {path}: {sentence}")


@pytest.mark.parametrize(
    "text, sentence",
    {
        human("ant,u,1,1\n"): "line 26 repeats system 'ant' on segment 'u', which line 2 has already",
        human("ant,new,1,\n"): "line 26, column 4 (fluency) has ''; a finite number is expected",
        human().replace("fluency", "flow"): "line 1 has no column 'fluency'",
        "system,segment,adequacy,fluency\nant,u,1,1\nrefA,u,1,1\n": "1 of its systems are machines; at least two are needed",
        "system\tcategory\tseverity\nx\ty\tz\n": "line 1 has no column 'doc'",
        "system,doc,doc_id,seg_id,rater,category,severity\nx,d,1,1,r,y,z\n": "line 1 has no tabs; rows of MQM errors must be separated by tabs",
    }.items(),
)
def test_bad_human_ratings(tmp_path, folder, text, sentence):
    path = write(tmp_path, "human.csv", text)
    said = refused(*run("evaluate", "--human", path, "--scores", folder / "wide.csv"))
    assert said.startswith(f"whichbird evaluate: {path}: {sentence}")


def test_unreadable_places(tmp_path, folder):
    for path, sentence in ((tmp_path, "cannot be read (Is a directory)"), (tmp_path / "none.csv", "no such file")):
        for argv in (
            ["reweight", path, "--beta", 0.5],
            ["calibrate", path, "--dataset", "ende24"],
            ["rank", "ende24", "--scores", path],
            ["evaluate", "--human", path, "--scores", "x"],
        ):
            assert refused(*run(*argv)).endswith(f": {path}: {sentence}")


COMMANDS = {  # each parser behind the command that uses it; {} is the file under attack
    "systems": ["reweight", "{}", "--beta", "0.5"],
    "human": ["evaluate", "--human", "{}", "--scores", "near.seg.score", "--beta", "0.4"],
    "scores": ["evaluate", "--human", "human.csv", "--scores", "{}", "--ignore-extra"],
    "shipped": ["rank", "ende24", "--scores", "{}"],
    "pairs": ["calibrate", "{}", "--dataset", "jazh24", "--step", "1", "--resamples", "9"],
}
GOOD = {
    "systems": "system,adequacy,fluency\n"
    + "".join(f"{s},{a},{f}\n" for s, a, f in zip(SYSTEMS, ADEQUACY[:, 0], FLUENCY[:, 0], strict=True)),
    "human": human(),
    "scores": wide(),
    "shipped": FIELD,
    "pairs": pairs(),
}


def survives(folder, which, raw, suffix):
    """Any bytes are read or refused: exit code 0 or 2, and one sentence in the second case.

    Exit code 1 is for the one failure that the solver documents: systems that all but coincide beside one far away.
    """
    (folder / f"attack{suffix}").write_bytes(raw)
    argv = [
        a.replace("{}", f"attack{suffix}") if a != "human.csv" and a != "near.seg.score" else a for a in COMMANDS[which]
    ]
    argv = [str(folder / a) if (folder / a).is_file() else a for a in argv]
    code, out, err = run(*argv)
    errors = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert code in (0, 2) or code == 1 and "no proven answer" in err, err
    assert (len(errors), bool(out)) == ((0, True) if code == 0 else (1, False)), err
    return code


FUZZ = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@FUZZ
@given(st.sampled_from(sorted(COMMANDS)), st.binary(max_size=300), st.sampled_from([".csv", ".tsv", ".seg.score"]))
@example("systems", b"", ".csv")
@example("human", b"\x00", ".csv")
@example("human", b"system\tcategory\tseverity\tdoc\tdoc_id\tseg_id\trater\nx", ".tsv")
def test_arbitrary_bytes_never_end_in_a_traceback(folder, which, raw, suffix):
    assert survives(folder, which, raw, suffix) == 2  # nothing that short and random is a whole file


CELL = st.one_of(
    st.sampled_from(
        [
            "",
            "0",
            "-0.0",
            "1e99",
            "-1e99",
            "1e-320",
            "nan",
            "1e400",
            "system",
            "ant",
            "u",
            "refA",
            '"',
            "\t",
            "\r",
            "\0",
        ]
    ),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.text(max_size=5),
)


@FUZZ
@given(st.sampled_from(sorted(COMMANDS)), st.data())
def test_damaged_files_never_end_in_a_traceback(folder, which, data):
    """Valid files with some cells and rows changed, dropped or doubled; numbers of any size stay numbers."""
    separator = "\t" if which == "shipped" else ","
    rows = [row.split(separator) for row in GOOD[which].splitlines()]
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(rows) - 1))
        what = data.draw(st.sampled_from(["change", "change", "change", "drop", "double", "cut"]))
        if what == "change" and rows[at]:
            rows[at][data.draw(st.integers(0, len(rows[at]) - 1))] = data.draw(CELL)
        elif what == "drop" and len(rows) > 1:
            del rows[at]
        elif what == "double":
            rows.append(list(rows[at]))
        elif what == "cut":
            rows[at] = rows[at][:-1]
    text = "\n".join(separator.join(row) for row in rows)
    survives(folder, which, text.encode("utf-8", errors="replace"), ".seg.score" if which == "shipped" else ".csv")


@settings(FUZZ, max_examples=40)
@given(st.lists(st.tuples(st.floats(-1e100, 1e100), st.floats(-1e100, 1e100)), min_size=2, max_size=6), st.floats(0, 1))
@example([(5e-324, 0.0), (0.0, 5e-324), (0.0, 0.0)], 0.5)
@example([(1e100, -1e100), (-1e100, 1e100), (0.0, 1e-300)], 0.5)
def test_any_table_of_numbers_is_weighted_or_refused(folder, pool, beta):
    text = pd.DataFrame(pool, columns=["adequacy", "fluency"]).rename_axis("system").to_csv()
    (folder / "numbers.csv").write_text(text)
    code, out, err = run("reweight", folder / "numbers.csv", "--beta", beta, "--csv")
    if code == 0:  # what is printed holds what it says
        w = pd.read_csv(io.StringIO(out))["weight"]
        assert w.min() >= 0 and w.sum() == pytest.approx(1, abs=1e-12)
    assert code in (0, 2) or code == 1 and "no proven answer" in err, err
