"""How a command's result leaves the program: printed in a format, written to files, drawn."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..core.check import DataError
from ..data.files import check_output, write_whole
from .formats import ENDINGS, FORMATS, Result, ending, facts, json_pieces

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = (".svg", ".png", ".pdf")


def check_outputs(args: argparse.Namespace) -> None:
    """Refuse what cannot be written before the work starts."""
    plot = getattr(args, "plot", None)
    if plot and Path(plot).suffix.lower() not in FIGURES:
        raise DataError(f"--plot {plot}: a name that ends in {', '.join(FIGURES)} is expected")
    asked = {
        f"--{name}": getattr(args, name, None) for name in ("plot", "proof", "html", "card", "pdf", "numbers", "out")
    }
    seen: dict[Path, str] = {}
    for option, path in asked.items():
        if path and (first := seen.setdefault(check_output(path, args.force), option)) != option:
            raise DataError(f"{first} and {option} both name {asked[first]}; two names are needed")


def chosen_format(args: argparse.Namespace) -> str:
    """The name of the format that goes to standard output: --format, or its short forms --json and --csv."""
    return args.format or ("json" if args.json else "csv" if args.csv else "text")


def deliver(args: argparse.Namespace, result: Result) -> None:
    """Write the files that were asked for, then print."""
    if getattr(args, "plot", None) and result.figure is not None:
        write_whole(args.plot, drawn(result.figure, Path(args.plot).suffix.lower()[1:]), args.force)
    if getattr(args, "proof", None):
        write_whole(args.proof, (json.dumps(result.proof, allow_nan=False) + "\n").encode(), args.force)
    for option, content in (result.files or {}).items():
        if getattr(args, option):
            write_whole(getattr(args, option), content(), args.force)
    if args.out:
        form = ENDINGS.get(Path(args.out).suffix.lower(), "csv" if result.plain is None else "text")
        write_whole(args.out, FORMATS[form](args.command, result).encode(), args.force)
    form = chosen_format(args)
    if form == "csv":
        say(facts(result) + ending(result))
    if form in ("csv", "markdown", "latex") and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")  # names as they are, whatever the terminal shows
    for piece in json_pieces(args.command, result) if form == "json" else [FORMATS[form](args.command, result)]:
        print(piece, end="")


def find_browser() -> str:
    """The command that prints pages: Chromium or Chrome."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"):
        if found := shutil.which(name):
            return found
    raise DataError("--pdf needs Chromium or Chrome, and neither was found; print the page of --html from your browser")


def print_pdf(browser: str, html: bytes) -> bytes:
    """A page as PDF."""
    with tempfile.TemporaryDirectory() as folder:
        page, out = Path(folder, "page.html"), Path(folder, "page.pdf")
        page.write_bytes(html)
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-pdf-header-footer",
            f"--user-data-dir={folder}/profile",
        ]
        subprocess.run(
            [browser, *options, f"--print-to-pdf={out}", page.as_uri()], capture_output=True, timeout=300, check=False
        )
        if not out.exists():
            raise OSError(f"{browser} did not print the page")
        return out.read_bytes()


def say(text: str) -> None:
    """To standard error, unless nobody listens there: that changes neither result nor exit code."""
    with contextlib.suppress(OSError):
        print(text, end="", file=sys.stderr or io.StringIO())
    settle(sys.stderr)


def settle(stream: TextIO | None) -> None:
    """Write out what waits in a stream. What cannot be written is dropped: Python would try again when it ends, and change the exit code."""
    if stream is None:
        return
    try:
        stream.flush()
    except OSError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def drawn(figure: Callable[[], Figure], form: str) -> bytes:
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
