"""The page reads score files, draws signs and tests pairs as the library does: the same numbers, the same sentences."""

import base64
import random
import warnings

import numpy as np
import pytest
from nodejs import node

import whichbird as wb
from whichbird import DataError
from whichbird.core.check import near
from whichbird.core.permutation import p_counts
from whichbird.data.pool import Pool
from whichbird.data.sheet import number, short
from whichbird.data.userfiles import read_scorers

SYSTEMS, LINES, SOURCE = ("Ann-MT", "Bob", "Ümit"), [0, 2, 3], 5
POOL = Pool(
    "tiny", SYSTEMS, np.array(LINES), SOURCE, total=np.zeros((3, 3)), scorers={"BLEU": np.arange(9.0).reshape(3, 3)}
)
RATED = "".join(f"{s}\t{n * n - k}\n" for k, s in enumerate(SYSTEMS) for n in range(3))
EVERY = "".join(f"{s}\t{0.1 * n - k}\n" for k, s in enumerate(SYSTEMS) for n in range(SOURCE))
WIDE = "system,segment,mine,other\n" + "".join(
    f"{s},{n + 1},{n * k},{n - k}\n" for k, s in enumerate(SYSTEMS) for n in range(SOURCE)
)
LONG = "scorer;System;segment;score\n" + "".join(
    f"mine;{s};{n + 1};{n * k}\n" for k, s in enumerate(SYSTEMS) for n in LINES
)
FILES = {
    "mine.seg.score": [
        RATED, EVERY, EVERY.replace("0.1", "None", 3), RATED.replace("\n", "\r\n"), "\ufeff" + RATED, RATED + "\n \n",
        RATED + "refA\t1\n", RATED + "extra\t1\n", RATED + "x\t1\ny\t1\nz\t1\nw\t1\n", RATED.replace("Bob", "bob"),
        RATED.replace("Ann-MT", "Ann-MT2"), RATED.replace("Bob", "it's"), RATED.replace("Bob", "a\"b'c\x07\u200b"),
        RATED[:-5], RATED.replace("\t0\n", "\tNone\n"), RATED.replace("\t1\n", "\tnan\n"), RATED.replace("\t1\n", "\t1e101\n"),
        RATED.replace("\t1\n", "\t1_0\n"), RATED.replace("\t1\n", "\t 1 \n"), RATED.replace("\t1\n", "\t1,5\n"),
        RATED.replace("\t", " "), RATED.replace("\t1\n", "\t1\t2\n"), "", " \n\t\n", RATED.replace("A", "\0"),
        "".join(f"{s}\t3.14159265\n" for s in SYSTEMS for _ in range(3)), "\n" + RATED,
        RATED.replace("\t1\n", "\t" + "9" * 60 + "x\n"), RATED.replace("\t1\n", "\t+.5e-3\n"), RATED.replace("\t1\n", "\t1.\n"),
    ],
    "table.csv": [
        WIDE, LONG, WIDE.replace(",", ";"), WIDE.replace(",", "\t"), WIDE.replace("system", "SYSTEM"), RATED,
        WIDE.replace("system", "name"), WIDE.replace("mine", ""), WIDE.replace("other", "mine"), WIDE.replace("mine", "score"),
        WIDE + "Bob,1,2,3\n", WIDE + "Bob,6,2,3\n", WIDE + "Bob,01,2,3\n", WIDE + "new,99,x,y\n", WIDE + "refB,1,2,3\n",
        WIDE + "Bob,1,2\n", WIDE + ",1,2,3\n", WIDE + "Bob,,2,3\n", WIDE + "\n , , , \n", WIDE.replace("Bob,3", "Bob,x"),
        WIDE.replace("Bob,1,0", "Bob,1,zero"), WIDE.replace("Bob,1,0", "Bob,1,inf"), WIDE.replace("Bob,4,3,2\n", ""),
        WIDE.replace("Bob", '"Bob"'), WIDE.replace("Bob,1", '"Bob"x,1'), WIDE + '"Bob', WIDE + '"Bo\nb",1,2,3\n', WIDE.replace("\n", "\r"),
        WIDE.replace("Bob", 'B"ob'), "system,segment\nBob,1\n", "system,segment,mine\n", "scorer,system,segment\nm,Bob,1\n",
        LONG.replace("mine", ""), LONG.replace("mine", "BLEU"), WIDE.replace("mine", "BLEU"), LONG + "mine;Bob;1;4\n",
        WIDE.replace("mine", "'=mine"), WIDE.replace("mine", "''@mine"), WIDE.replace("Bob", "'-Bob"), WIDE.replace("Bob,1,0", "Bob,1,'-1"),
        LONG.replace("mine", "'+1+1"), LONG.replace("Bob", "'Bob"), WIDE.replace("mine", "'+.5e3"), WIDE.replace("mine", "' =x"),
        'a"b,' + WIDE, WIDE.replace("Ümit", "Umit"), WIDE.replace("1,0,0", '1,"0",0'), WIDE + 'Bob,"1""2",2,3\n',
    ],
    "odd.txt": [RATED, WIDE, LONG],
}  # fmt: skip
BYTES = [
    RATED.encode("utf-16"),
    RATED.encode("latin-1"),
    b"\xef\xbb\xbfab\n\xc3\x28",
    b"a\t1\n\xed\xa0\x80",
    b"\xf5",
    b"ok\xe2\x82",
    b"\xf0\x8f\xbf\xbf",
]


def cases():
    out = [(name, text.encode()) for name, texts in FILES.items() for text in texts] + [
        ("b.seg.score", raw) for raw in BYTES
    ]
    rng = random.Random(1)
    seeds = [("mine.seg.score", RATED), ("all.seg.score", EVERY), ("t.csv", WIDE), ("l.csv", LONG)]
    for n in range(
        800
    ):  # good files with a few letters changed, dropped or doubled; every second one in the digits only
        name, text = rng.choice(seeds)
        if n % 2:
            out.append(
                (
                    name,
                    "".join(
                        rng.choice("0123456789") if c.isdigit() and text[at - 1] in "\t." else c
                        for at, c in enumerate(text)
                    ).encode(),
                )
            )
            continue
        letters = list(text)
        for _ in range(rng.choice([1, 1, 2, 5])):
            at = rng.randrange(len(letters))
            letters[at] = rng.choice(["", letters[at] * 2, rng.choice("0123456789.,;\t\n\"'eE-+ NonexXÄ_\r")])
        out.append((name, "".join(letters).encode()))
    return out


def python(folder, name, raw):
    (folder / name).write_bytes(raw)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = read_scorers(folder / name, POOL)
            for scorer in found:
                if scorer in POOL.scorers:
                    raise DataError(f"tiny has a scorer {scorer!r} already; give yours another name")
        except DataError as error:
            return {"refused": str(error).replace(f"{folder}/", "")}
    notes = [str(w.message).replace(f"{folder}/", "") for w in caught]
    return {"scorers": {s: x.tolist() for s, x in found.items()}, "notes": notes}


def test_files_are_read_and_refused_as_at_the_command_line(tmp_path):
    every = cases()
    source = {"name": "tiny", "systems": SYSTEMS, "lines": LINES, "source_lines": SOURCE, "scorers": ["BLEU"]}
    theirs = node(
        """const file = load("wb-python", "wb-scorefile").scorefile;
        return data.files.map(([name, raw]) => {
          try { return file.read(name, Uint8Array.from(Buffer.from(raw, "base64")), data.source); }
          catch (error) { if (error instanceof file.Refusal) return {refused: error.message}; throw error; }
        });""",
        {"source": source, "files": [(name, base64.b64encode(raw).decode()) for name, raw in every]},
    )
    ours = [python(tmp_path, name, raw) for name, raw in every]
    for (name, raw), mine, page in zip(every, ours, theirs, strict=True):
        assert page == mine, (name, raw)
    refused = sum("refused" in mine for mine in ours)
    assert refused > 150 and len(ours) - refused > 150  # both sides are compared


@pytest.mark.parametrize("seed", [4, 7, 2026])
def test_signs_are_those_of_numpy(seed):
    state = np.random.default_rng(seed).bit_generator.state["state"]
    bits = node(
        "const r = load('wb-random').random(data.state, data.inc); return Array.from({length: data.n}, () => r.bit()).join('');",
        {"state": f"{state['state']:x}", "inc": f"{state['inc']:x}", "n": 30 * 77},
    )
    assert bits == "".join(map(str, np.random.default_rng(seed).integers(0, 2, size=(30, 77)).ravel()))


def test_draws_have_their_moments():
    """Uniform and normal numbers are of their laws: within five standard errors at 20 000 draws."""
    u, z = node(
        "const r = load('wb-random').random('1234567', '89abcdef1'); const make = (f) => Array.from({length: 20000}, f); return [make(r.uniform), make(r.normal)];"
    )
    n = len(u)
    assert 0 <= min(u) and max(u) < 1 and abs(np.mean(u) - 0.5) < 5 / np.sqrt(12 * n)
    assert abs(np.mean(z)) < 5 / np.sqrt(n) and abs(np.var(z) - 1) < 5 * np.sqrt(2 / n)


@pytest.mark.parametrize("name", ["ende24", "zhen20", "jazh24"])
def test_counts_are_those_of_the_library(name):
    pool = wb.load_pool(name)
    tied = np.round(
        np.random.default_rng(1).normal(size=(5, 60)), 1
    )  # multiples of .1: sums tie in decimal, not in binary
    sets = [*list(pool.scorers.values())[::9], tied]
    state = np.random.default_rng(4).bit_generator.state["state"]
    page = node(
        "const {random, permutation} = load('wb-random', 'wb-permutation'); return data.sets.map((x) => [...permutation.counts(x, 1000, random(data.state, data.inc))]);",
        {"state": f"{state['state']:x}", "inc": f"{state['inc']:x}", "sets": [x.tolist() for x in sets]},
    )
    for x, counts in zip(sets, page, strict=True):
        assert np.array_equal(counts, p_counts(x, exact=False))


def test_sentences_are_quoted_and_guessed_as_python_does():
    names = [
        "Online-A",
        "online-a.1",
        "ONLINE-W",
        "Bob",
        "bobby",
        "M2M100_1.2B-B4",
        "x" * 250,
        "ab" * 120,
        "Ümit",
        "ümit2",
        "",
    ]
    texts = [
        "plain",
        "it's",
        'it\'s "so"',
        "tab\tnew\nline",
        "\x07\x7f\x85",
        "\u200b\u2028é\U0001f426",
        "y" * 60,
        "back\\slash",
    ]
    numbers = [
        "1",
        " 1 ",
        "+.5e-3",
        "1.",
        "1e5",
        "1e400",
        "-1e100",
        "1_0",
        "nan",
        "",
        "0x10",
        "1e",
        "١",
        "1 2",
        "\u00a01",
    ]
    values = [
        0.0,
        1.0,
        -2.5,
        1e-5,
        123456.5,
        -123457.5,
        999999.5,
        0.5,
        2.5e-7,
        1234567.0,
        0.1 + 0.2,
        3.14159265358979,
        1e100,
        99999.95,
        0.00012345,
    ]
    page = node(
        """const py = load("wb-python").python;
        return {near: data.names.map((n) => py.near(n, data.names.filter((o) => o !== n))), short: data.texts.map(py.short),
                numbers: data.numbers.map((t) => { const x = py.float(t); return Number.isFinite(x) ? x : null; }),
                general: data.values.map((x) => py.general(x))};""",
        {"names": names, "texts": texts, "numbers": numbers, "values": values},
    )
    assert page["near"] == [near(n, [o for o in names if o != n]) for n in names]
    assert page["short"] == [short(t) for t in texts]
    assert page["general"] == [f"{x:.6g}" for x in values]
    for text, value in zip(numbers, page["numbers"], strict=True):
        try:
            expected = float(text) if "_" not in text and np.isfinite(float(text)) else None
        except ValueError:
            expected = None
        if text != "١":  # digits of other scripts: Python reads them, the page refuses them
            assert value == expected, text
    assert number("1", str) == 1.0
