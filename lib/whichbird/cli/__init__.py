"""The command line. May import from every room; nothing imports it.

`main` is the program. It loads the library only for a command that needs it, so that `--version` answers at once.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from .._version import __version__


def main(argv: list[str] | None = None) -> int:
    """Run one command; return its exit code: 0 done, 2 bad input, 1 failure, 130 interrupted. An error is one sentence."""
    words = sys.argv[1:] if argv is None else argv
    try:
        if words == ["--version"] and sys.stdout is not None:
            with contextlib.suppress(OSError):
                print(f"whichbird {__version__}", flush=True)
                return 0  # where it cannot be written, `run` says so
        # many small products of matrices: threads of their own would wait for one another longer than they work
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        with _at_once():
            from .program import COMMANDS, run  # numpy and what comes with it

            if words and words[0] in COMMANDS:
                COMMANDS[words[0]].load()
    except KeyboardInterrupt:
        print("whichbird: interrupted", file=sys.stderr)
        return 130
    return run(words)


@contextlib.contextmanager
def _at_once() -> Iterator[None]:
    """Inside it Ctrl-C ends the program at once: raised while a library loads, it can come out as an error of that library.

    Nothing is half done by then. Where somebody handles the signal, or in another thread than the first, nothing changes.
    """
    import signal

    def end(*_: object) -> None:
        with contextlib.suppress(OSError):
            os.write(2, b"whichbird: interrupted\n")
        os._exit(130)

    mine = False
    with contextlib.suppress(ValueError):  # another thread
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, end)
            mine = True
    try:
        yield
    finally:
        if mine:
            signal.signal(signal.SIGINT, signal.default_int_handler)
