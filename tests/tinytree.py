"""A tree to check by hand: three systems and a reference, four source lines, the last of them hardly rated."""

import json

import whichbird as wb
from whichbird.data.mtme import TREE, Source
from whichbird.data.registry import DATASETS

SOURCE = Source("tiny", "xx-yy", standard="refB")
NAMES = ("alpha", "beta", "gamma", "refA")

MAJOR, MINOR = ("accuracy/omission", "major", 5), ("accuracy/addition", "minor", 1)
COMMA, STYLE, OTHER = ("fluency/punctuation", "minor", 0.1), ("style/awkward", "major", 5), ("other", "minor", 1)

RATINGS = {  # per source line: the errors found, or None where nobody looked
    "gamma": [[], [OTHER], [MAJOR, MINOR], None],
    "alpha": [[MAJOR], [], [COMMA], None],
    "beta": [[MINOR, COMMA], [STYLE], [], None],
    "refA": [[], [], [], []],
}
ADEQUACY = [[-5, 0, 0], [-1, 0, 0], [0, 0, -6]]  # alpha, beta, gamma on lines 0 to 2
FLUENCY = [[0, 0, -0.1], [-0.1, -5, 0], [0, 0, 0]]
TOTALS = {"alpha": [-5, 0, -0.1, None], "beta": [-1.1, -5, 0, None], "gamma": [0, -1, -6, None], "refA": [0, 0, 0, 0]}

GOOD = {"alpha": [1, 2, 3, 4], "beta": [2, 3, 5, 7], "gamma": [0, 0, 1, 1], "refA": [9, 9, 9, 9]}
SCORERS = {  # what becomes of each with reference refA
    "good-refA": GOOD,  # kept
    "good-refB": {s: [-v for v in row] for s, row in GOOD.items()},
    "good-src": {s: [2 * v for v in row] for s, row in GOOD.items()},
    "qe-src": {s: [v + 0.5 for v in row] for s, row in GOOD.items()},  # kept: it has no refA variant
    "twin-refA": GOOD | {"refA": [0, 0, 0, 0]},  # the same as good, but for the reference
    "cousin-refA": GOOD | {"alpha": [1, 2, 3, 99]},  # kept: unlike good on the line that is not rated
    "late-refA": GOOD | {"beta": [2, 3, 5, None]},  # kept: nothing missing on the rated lines
    "flat-refA": {s: [1, 2, 3, 4] for s in NAMES},  # the same mean everywhere
    "gappy-refA": GOOD | {"beta": [2, None, 5, 7]},  # a rated segment is missing
    "partial-refA": {s: GOOD[s] for s in NAMES if s != "gamma"},  # a system is missing
    "foreign-refB": GOOD,  # no refA and no src variant
}
KEPT = ("cousin", "good", "late", "qe")


def rating(errors) -> str:
    """The errors of a cell as a rating file spells them."""
    if errors is None:
        return "None"
    return json.dumps({"errors": [dict(zip(("category", "severity", "score"), e, strict=True)) for e in errors]})


def lines(rows, spell=str) -> str:
    """Rows {system: [cell, …]} as the lines of a file."""
    return "".join(f"{system}\t{spell(cell)}\n" for system, cells in rows.items() for cell in cells)


def rating_lines(rows, rater="rater1") -> str:
    """Rows {system: [errors or None, …]} as the lines of a rating file."""
    return lines(rows, lambda cell: f"{rating(cell)}\t{rater}")


def write(root, source=SOURCE, ratings=RATINGS, totals=TOTALS, scorers=SCORERS):
    """Write a tree below `root` and return its path; `ratings` None leaves the rating file out."""
    tree = root / TREE
    human, metric = tree / source.set / "human-scores", tree / source.set / "metric-scores" / source.pair
    for folder in (human, metric):
        folder.mkdir(parents=True, exist_ok=True)
    (human / f"{source.pair}.mqm.seg.score").write_text(lines(totals), encoding="utf-8")
    if ratings is not None:
        (human / f"{source.pair}.mqm.merged.seg.rating").write_text(rating_lines(ratings), encoding="utf-8")
    for name, rows in scorers.items():
        (metric / f"{name}.seg.score").write_text(lines(rows), encoding="utf-8")
    return tree


def numbered(who, n):
    """Line n of a file says whose it is and n, so that whoever reads it knows."""
    return f"{who} {n}"


WORDS = "the a small grey bird sings over one quiet river when rain has stopped and nobody asks why it came".split()


def sentence(who, n):
    """A sentence of some words; systems leave words out, exchange them or cut them, each in its own way, and refA does not."""
    words = [WORDS[(n * k + k * k) % len(WORDS)] for k in range(3 + n % 6)]
    if who != "refA":
        way = sum(map(ord, who)) + n
        words[way % len(words)] = ["", "birds", words[0][::-1], WORDS[way % len(WORDS)]][way % 4]
    return " ".join(words).capitalize() + "."


def write_texts(root, name, line=numbered):
    """Texts of a dataset that ships, made: `line` says what stands on line n of each file."""
    d, source = wb.load(name), DATASETS[name]
    tree = root / TREE / source.set
    files = {tree / "sources" / f"{source.pair}.txt": "source", tree / "references" / f"{source.pair}.refA.txt": "refA"}
    files |= {tree / "system-outputs" / source.pair / f"{s}.txt": s for s in d.systems}
    for path, who in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line(who, n)}\n" for n in range(1, d.source_lines + 1)), encoding="utf-8")
    return root / TREE
