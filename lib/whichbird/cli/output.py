"""How a command's result leaves the program: aligned tables, CSV, JSON, figures, files."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from .._version import __version__
from ..core.check import DataError
from ..data.files import check_output, write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = (".svg", ".png", ".pdf")
DECIMALS = {
    "adequacy": 4,
    "fluency": 4,
    "weight": 4,
    "spa": 4,
    "spa_natural": 4,
    "ess": 2,
    "agreement": 3,
    "spa_first": 4,
    "spa_second": 4,
    "lead": 4,
    "lead_low": 4,
    "lead_high": 4,
}  # in tables on a terminal


class Result(NamedTuple):
    """What a command found. JSON holds facts and all tables, CSV the first table, a terminal the facts and `shown`."""

    facts: dict[str, object]
    tables: dict[str, pd.DataFrame]
    shown: tuple[pd.DataFrame, ...] | None = None  # if not all tables as they are
    figure: Callable[[], Figure] | None = None  # draws what --plot writes
    notes: tuple[str, ...] = ()
    proof: object = None  # what --proof writes, as JSON


def check_outputs(args: argparse.Namespace) -> None:
    """Refuse what cannot be written before the work starts."""
    plot = getattr(args, "plot", None)
    if plot and Path(plot).suffix.lower() not in FIGURES:
        raise DataError(f"--plot {plot}: a name that ends in {', '.join(FIGURES)} is expected")
    asked = {"--plot": plot, "--proof": getattr(args, "proof", None), "--out": args.out}
    seen: dict[Path, str] = {}
    for option, path in asked.items():
        if path and (first := seen.setdefault(check_output(path, args.force), option)) != option:
            raise DataError(f"{first} and {option} both name {asked[first]}; two names are needed")


def deliver(args: argparse.Namespace, result: Result) -> None:
    """Write the files that were asked for, then print."""
    if getattr(args, "plot", None) and result.figure is not None:
        write_whole(args.plot, _drawn(result.figure, Path(args.plot).suffix.lower()[1:]), args.force)
    if getattr(args, "proof", None):
        write_whole(args.proof, (json.dumps(result.proof, allow_nan=False) + "\n").encode(), args.force)
    first = next(iter(result.tables.values()))
    if args.out:
        as_json = Path(args.out).suffix.lower() == ".json"
        write_whole(args.out, (_json(args.command, result) if as_json else _csv(first)).encode(), args.force)
    if args.json:
        print(_json(args.command, result), end="")
        return
    facts = dict(result.facts)
    ending = "".join(f"{one_line(str(facts.pop(name)))}\n" for name in ("verdict", "signature") if name in facts)
    about = "".join(f"{name.replace('_', ' '):19} {cell(value)}\n" for name, value in facts.items())
    if args.csv:
        say(about + ending)
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(encoding="utf-8")  # names as they are, whatever the terminal shows
        print(_csv(first), end="")
        return
    shown = result.tables.values() if result.shown is None else result.shown
    print("\n".join(filter(None, [about, *map(_aligned, shown), ending])), end="")


def say(text: str) -> None:
    """To standard error, unless nobody listens there: that changes neither result nor exit code."""
    with contextlib.suppress(OSError):
        print(text, end="", file=sys.stderr or io.StringIO(), flush=True)


def _drawn(figure: Callable[[], Figure], form: str) -> bytes:
    import matplotlib as mpl

    from ..show import figures

    out = io.BytesIO()
    with (
        mpl.rc_context({"svg.hashsalt": "whichbird"}),
        warnings.catch_warnings(),
    ):  # no date either: same data, same file
        warnings.filterwarnings("ignore", message="Glyph")  # a letter that the font lacks is drawn as a box
        figures.use()
        figure().savefig(out, format=form, metadata={"Date": None} if form == "svg" else None)
    return out.getvalue()


def _json(command: str, result: Result) -> str:
    content: dict[str, object] = {"command": command, "version": __version__}
    content |= {name: _plain(value) for name, value in result.facts.items()}
    for name, table in result.tables.items():
        content[name] = [{column: _plain(value) for column, value in row.items()} for row in table.to_dict("records")]
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _csv(table: pd.DataFrame) -> str:
    return table.to_csv(index=False, lineterminator="\n")


def cell(value: object, decimals: int | None = None) -> str:
    if isinstance(value, tuple):
        return (" to " if all(isinstance(v, float) for v in value) else "; ").join(map(cell, value))
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return one_line(str(value))
    return f"{value:z.6g}" if decimals is None else f"{value:z.{decimals}f}"  # z: no −0


def _aligned(table: pd.DataFrame) -> str:
    """Columns two spaces apart, numbers to the right."""
    columns = [
        [one_line(str(name)), *(cell(value, _decimals(str(name), table.iloc[:, n])) for value in table.iloc[:, n])]
        for n, name in enumerate(table)
    ]
    right = [2 * sum(c[:1].isdigit() or c[:1] == "-" for c in column[1:]) > len(column) - 1 for column in columns]
    width = [max(map(len, column)) for column in columns]
    padded = [
        [c.rjust(w) if r else c.ljust(w) for c in column] for column, w, r in zip(columns, width, right, strict=True)
    ]
    return "".join("  ".join(row).rstrip() + "\n" for row in zip(*padded, strict=True))


def _decimals(name: str, column: pd.Series) -> int | None:
    """The decimals of a column of numbers of ordinary size; None, significant digits, for others."""
    ordinary = name in DECIMALS and column.dtype.kind == "f" and 0.01 <= column.abs().max() < 1e7
    return DECIMALS[name] if ordinary else None


def one_line(text: str) -> str:
    """One line, whatever names and paths are in it."""
    return "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
