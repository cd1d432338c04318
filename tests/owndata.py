"""Small data of a reader, made here: four systems, six segments, two scorers; and the command line as a function."""

import contextlib
import io

import numpy as np

from whichbird.cli import main

SYSTEMS, SEGMENTS = ("ant", "bee", "cow", "doe"), tuple("uvwxyz")
_rng = np.random.default_rng(9)
# eighths, so that sums are exact in binary and ties are ties whatever the order
ADEQUACY = -_rng.integers(0, 30, (4, 6)) / 8 - np.array([[0], [1], [2], [4]])
FLUENCY = -_rng.integers(0, 20, (4, 6)) / 8 - np.array([[1], [0], [2], [1]])
SCORERS = {"near": ADEQUACY + FLUENCY + _rng.integers(-9, 9, (4, 6)) / 8, "Far-2": _rng.integers(0, 99, (4, 6)) / 8}


def human(extra: str = "") -> str:
    """The ratings as a table."""
    return (
        "system,segment,adequacy,fluency\n"
        + "".join(
            f"{s},{n},{ADEQUACY[i, j]},{FLUENCY[i, j]}\n" for i, s in enumerate(SYSTEMS) for j, n in enumerate(SEGMENTS)
        )
        + extra
    )


def wide() -> str:
    """Both scorers as a wide table, its rows in another order."""
    return f"segment,system,{','.join(SCORERS)}\n" + "".join(
        f"{n},{s},{','.join(str(x[i, j]) for x in SCORERS.values())}\n"
        for j, n in enumerate(SEGMENTS)
        for i, s in enumerate(SYSTEMS)
    )


def long() -> str:
    """Both scorers as a long table."""
    return "scorer,system,segment,score\n" + "".join(
        f"{name},{s},{n},{x[i, j]}\n"
        for name, x in SCORERS.items()
        for i, s in enumerate(SYSTEMS)
        for j, n in enumerate(SEGMENTS)
    )


def pairs(scorers=("BLEU", "chrF", "COMET-22")) -> str:
    """Five pairs with the preferred side and scores, in quarters with some ties."""
    rng = np.random.default_rng(5)
    return "pair,preferred,scorer,first,second\n" + "".join(
        f"p{n},{side},{s},{rng.integers(0, 4) / 4},{rng.integers(0, 4) / 4}\n"
        for n, side in enumerate(["first", "first", "second", "first", "second"], start=1)
        for s in scorers
    )


def field(x, systems=SYSTEMS) -> str:
    """Scores (K, N) in the field's form."""
    return "".join(f"{s}\t{float(v)!r}\n" for s, row in zip(systems, x, strict=True) for v in row)


def run(*argv) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(a) for a in argv])
    return code, out.getvalue(), err.getvalue()


def refused(code: int, out: str, err: str) -> str:
    """The sentence of a refusal: exit code 2, nothing printed, one line."""
    assert (code, out) == (2, ""), err
    assert err.startswith("whichbird") and err.endswith("\n") and err.count("\n") == 1 and "Traceback" not in err
    return err.rstrip("\n")
