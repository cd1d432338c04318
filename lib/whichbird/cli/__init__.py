"""The command line. May import from every room; nothing imports it.

`main` is the program. It loads the library only for a command that needs it, so that `--version` answers at once.
"""

from __future__ import annotations

import contextlib
import sys

from .._version import __version__


def main(argv: list[str] | None = None) -> int:
    """Run one command; return its exit code: 0 done, 2 bad input, 1 failure, 130 interrupted. An error is one sentence."""
    words = sys.argv[1:] if argv is None else argv
    try:
        if words == ["--version"] and sys.stdout is not None:
            with contextlib.suppress(OSError):
                print(f"whichbird {__version__}", flush=True)
                return 0  # where it cannot be written, `run` says so
        from .program import run  # numpy and what comes with it: an interruption while they load is one too
    except KeyboardInterrupt:
        print("whichbird: interrupted", file=sys.stderr)
        return 130
    return run(words)
