"""Formats: every case in every one of them, the same figures; names that would break a table; JSON against its schema."""

import copy
import csv
import functools
import io
import json
import re
import tracemalloc

import jsonschema
import numpy as np
import pandas as pd
import pytest
import tinytree
from goldens import CASES, write_files
from hypothesis import given, strategies as st
from owndata import run

import whichbird as wb
from whichbird.cli import formats
from whichbird.cli.formats import SCHEMA, Result, schema
from whichbird.cli.program import COMMANDS
from whichbird.data.sheet import guarded, unguarded

AWKWARD = r"a_b & 100% $x$ #1 {y} ~z ^w \cmd <t> | `q` [l] *e* β₀ ≥ −1"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    return tmp_path


def closed(given):
    """The schema with nothing allowed that it does not name: what we ship must be all there."""
    out = copy.deepcopy(given)
    out["additionalProperties"] = False
    for field in out["properties"].values():
        if "properties" in field.get("items", {}):
            field["items"]["additionalProperties"] = False
    return out


@functools.cache
def shown(case, *words):
    """What a case prints, run once for all tests: it reads files of its folder, the same in every test, and writes none."""
    return run(*CASES[case], *words)


OURS = jsonschema.Draft202012Validator(closed(schema()))
THEIRS = jsonschema.Draft202012Validator(schema())


def test_the_schema_is_one_and_names_every_command():
    for validator in (OURS, THEIRS):
        validator.check_schema(validator.schema)
    assert schema()["properties"]["command"]["enum"] == list(COMMANDS)
    assert [rule["if"]["properties"]["command"]["const"] for rule in schema()["allOf"]] == list(COMMANDS)
    assert schema()["properties"]["schema"] == {
        "description": schema()["properties"]["schema"]["description"], "const": formats.SCHEMA
    }  # fmt: skip
    used = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema())))
    assert used == set(schema()["$defs"])
    described = [*schema()["properties"].values(), *schema()["$defs"].values()]
    assert all(field["description"] for field in described)
    code, out, err = run("--schema")
    assert (code, err) == (0, "") and json.loads(out) == schema()


@pytest.mark.parametrize("case", CASES)
def test_json_follows_its_schema(here, case):
    found = json.loads(shown(case, "--format", "json")[1])
    OURS.validate(found)
    for broken in (
        {"beta0": "half"},
        {"schema": SCHEMA + 1},
        {"command": "rnak"},
        {"version": None},
        {"unheard_of": 1},
    ):
        with pytest.raises(jsonschema.ValidationError):
            OURS.validate(found | broken)
    for field in next(r["then"]["required"] for r in schema()["allOf"] if found["command"] in str(r["if"])):
        with pytest.raises(jsonschema.ValidationError, match="required"):
            THEIRS.validate({k: v for k, v in found.items() if k != field})


def kinds(rows):
    """One row of each kind: names and types of its cells."""
    return list({str([(k, type(v)) for k, v in row.items()]): row for row in rows}.values())


@pytest.mark.parametrize("words", [[], ["--cells"]], ids=["ratings", "cells"])
@pytest.mark.parametrize(
    "name", ["heen23", "enru22", "ende20"]
)  # totals only; cells with errors and no total; several raters
def test_json_of_segments_follows_its_schema(name, words):
    found = json.loads(run("segments", name, *words, "--json")[1])
    rows = kinds(found["ratings"])
    assert ("adequacy" in rows[0]) == ("adequacy" in wb.load(name))
    OURS.validate(found | {"ratings": rows})
    with pytest.raises(jsonschema.ValidationError, match="required"):
        THEIRS.validate(found | {"ratings": [{k: v for k, v in rows[0].items() if k != "total"}]})


@pytest.mark.parametrize("words", [[], ["--bare"]], ids=["tested", "bare"])
def test_json_where_only_totals_are_known_follows_its_schema(tmp_path, words):
    tinytree.write(tmp_path, ratings=None)
    code, out, err = run("evaluate", "--mtme", tmp_path, "--set", "tiny", "--pair", "xx-yy", "--json", *words)
    found = json.loads(out)
    assert code == 0 and "beta0" not in found
    OURS.validate(found)
    with pytest.raises(jsonschema.ValidationError):  # no balance, and no word on why
        THEIRS.validate({k: v for k, v in found.items() if k != "note"})


def test_no_cell_of_csv_is_a_formula_and_each_is_read_as_it_was(tmp_path):
    """Names that a spreadsheet would run, in cells and in the header; numbers stay as they are."""
    systems = ["=1+1", "+x", "-x", "@sum", "'=y", "''-z", "-5", "+.5e3", "'tis", "plain"]
    scorers = ["=cmd|' /C calc'!A0", "@score", "-1"]
    ratings = "".join(f"{guarded(s)},{n},{-n * k},{k - n}\n" for k, s in enumerate(systems) for n in (1, 2, 3))
    (tmp_path / "human.csv").write_text("system,segment,adequacy,fluency\n" + ratings)
    scores = "".join(
        f"{guarded(s)},{n},{k},{n - k},{n * n * k - 9}\n" for k, s in enumerate(systems) for n in (1, 2, 3)
    )
    (tmp_path / "scores.csv").write_text(f"system,segment,{','.join(map(guarded, scorers))}\n{scores}")
    pool = wb.read_human(tmp_path / "human.csv")
    assert sorted(pool.systems) == sorted(systems) and list(wb.read_scorers(tmp_path / "scores.csv", pool)) == scorers
    given = ["--human", tmp_path / "human.csv", "--scores", tmp_path / "scores.csv", "--bare", "--csv"]
    for words in (
        ["segments", tmp_path / "human.csv", "--csv"],
        ["evaluate", *given],
        ["evaluate", *given, "--sweep", "--step", "0.5"],
    ):
        code, out, _ = run(*words)
        rows = list(csv.reader(io.StringIO(out)))
        odd = [
            c
            for row in rows
            for c in row
            if c[:1] in ("=", "+", "-", "@") and not re.fullmatch(r"[+-][\d.]+(e[+-]?\d+)?", c)
        ]
        assert code == 0 and odd == [] and len(rows) > 3
    (tmp_path / "again.csv").write_text(run("segments", tmp_path / "human.csv", "--csv")[1])
    again = wb.read_human(tmp_path / "again.csv")
    assert again.systems == pool.systems and np.array_equal(again.adequacy, pool.adequacy)


@given(st.text("'=+-@5.e x", max_size=6))
def test_guarding_is_undone(text):
    assert unguarded(guarded(text)) == text
    assert guarded(text)[:1] not in ("=", "@") and (guarded(text) == text or guarded(text) == f"'{text}")


def test_new_fields_are_no_breach():
    jsonschema.validate(
        {"command": "reweight", "version": "9", "schema": SCHEMA, "beta0": 0.5, "reachable": [0, 1], "new": 1}
        | {"reliable_interval": [0.4, 0.6], "weights": []},
        schema(),
    )


@pytest.mark.parametrize("case", CASES)
def test_short_forms_are_formats(here, case):
    for form in ("json", "csv"):
        assert shown(case, "--format", form) == shown(case, f"--{form}")
    assert shown(case, "--format", "text") == shown(case)


def cells_of_markdown(text):
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("| ")]
    return [[re.sub(r"\\(.)", r"\1", cell.strip()) for cell in row] for row in rows]


def cells_of_latex(text):
    body = re.findall(r"\\midrule\n(.*?)\\bottomrule", text, re.S)
    return [re.split(r"(?<!\\) & ", line.removesuffix(r" \\")) for part in body for line in part.splitlines()]


@pytest.mark.parametrize("case", CASES)
def test_papers_get_the_cells_of_the_terminal(here, case):
    plain = shown(case)[1]
    code, out, err = run(*CASES[case], "--format", "markdown")
    assert (code, err) == (0, "")
    rows = [r for r in cells_of_markdown(out) if set("".join(r)) - set("-: ")]
    code, tex, err = run(*CASES[case], "--format", "latex")
    assert (code, err) == (0, "")
    tables = tex.count(r"\begin{tabular}")
    assert tables == tex.count(r"\caption{") == tex.count(r"\end{table}") == tex.count(r"\label{") >= 1
    assert len(set(re.findall(r"\\label\{(.+?)\}", tex))) == tables
    body = cells_of_latex(tex)
    assert len(body) == len(rows) - tables and all(len(r) in {len(x) for x in rows} for r in body)
    printed = plain.split()
    for row in body:
        for cell in row:
            words = cell.replace("$-$", "-").replace("\\_", "_").replace(r"\%", "%").split()
            assert all(word in printed for word in words if not set(word) & set("\\${}"))
    signature = re.search(r"^\S+\|sys:\S.*$", plain, re.M)
    if signature:
        assert f"`{signature[0]}`" in out
        assert signature[0].translate(formats.LATEX).replace("{}", r"{}\allowbreak ") in tex


def test_awkward_names_break_nothing():
    result = Result(
        {"data": AWKWARD, "verdict": AWKWARD}, {"t": pd.DataFrame({AWKWARD: [AWKWARD, "x"], "n": [-1.5, 2.0]})}
    )
    rows = cells_of_markdown(formats.markdown("rank", result))
    assert [len(row) for row in rows] == [2, 2, 2, 2] and rows[2] == [AWKWARD, "-1.5"]
    tex = formats.latex("rank", result)
    assert re.search(
        r"a\\_b \\& 100\\% \\\$x\\\$ \\#1 \\\{y\\\} \\textasciitilde\{\}z \\textasciicircum\{\}w \\textbackslash\{\}cmd",
        tex,
    )
    rest = re.sub(r"\\[&%$#_{}\\]|\\[a-zA-Z]+(\{\})?|\{\}", "", tex)  # without commands and what is escaped
    assert rest.count("{") == rest.count("}") and rest.count("$") % 2 == 0
    assert (
        not set(rest) & set("#^~|<>β₀≥−") and rest.count("&") == 3 and rest.count("%") == 1
    )  # the first line is a comment
    assert r"$-$1.5 \\" in tex and "100%" in formats.text("rank", result)


def test_files_are_written_as_they_are_named(here):
    argv = CASES["reweight"]
    for name, form in {"t.tex": "latex", "t.md": "markdown", "t.json": "json", "t.csv": "csv", "t.dat": "csv"}.items():
        assert run(*argv, "--out", name)[0] == 0
        assert (here / name).read_text("utf-8") == run(*argv, "--format", form)[1]
    assert run(*argv, "--out", "-", "--format", "latex")[1] == run(*argv, "--format", "latex")[1]


def test_json_is_the_same_piece_by_piece(monkeypatch):
    """Facts and tables of all kinds, with more rows than one piece holds, with none, and with what is no number."""
    frame = pd.DataFrame({"system": ["x", "y\n", "z"], "spa": [0.5, np.nan, 1.0]})
    tables = {
        "ranking": frame,
        "none": frame[:0],
        "columns": {"n": [1, 2, 3], "pair": [(1, 2.5), None, ()]},
        "bare": {},
    }
    result = Result({"beta0": 0.5, "reachable": (0.0, np.inf), "ranking": "a table has the last word"}, tables)
    rows = {
        "ranking": [{"system": "x", "spa": 0.5}, {"system": "y\n", "spa": None}, {"system": "z", "spa": 1.0}],
        "none": [],
        "columns": [{"n": 1, "pair": [1, 2.5]}, {"n": 2, "pair": None}, {"n": 3, "pair": []}],
        "bare": [],
    }
    want = {"command": "made", "version": formats.__version__, "schema": formats.SCHEMA, "beta0": 0.5}
    want |= {"reachable": [0.0, None]} | rows
    for size in (1, 2, 3, 10):
        monkeypatch.setattr(formats, "JSON_ROWS", size)
        assert formats.as_json("made", result) == json.dumps(want, indent=2) + "\n"


def test_json_of_a_long_table_is_never_whole():
    result = Result({}, {"ratings": pd.DataFrame({"system": "x", "total": np.arange(100_000.0)})})
    tracemalloc.start()
    try:
        length = sum(map(len, formats.json_pieces("segments", result)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < length  # it was ten times the text


def test_two_formats_at_once_are_refused(here):
    code, out, err = run(*CASES["reweight"], "--json", "--format", "latex")
    assert (code, out) == (2, "") and "not allowed with argument" in err
    code, out, err = run(*CASES["reweight"], "--format", "word")
    assert (code, out) == (2, "") and "invalid choice: 'word'" in err
