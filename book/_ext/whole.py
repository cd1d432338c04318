"""A folder of pages is written by one build at a time, and a build that did not finish is not continued.

Sphinx continues from what it finds: pages of a build that was killed, half an index of the search, a folder `_static` that is a file. So a mark
stands beside the pages from a build's first step to its last, and a build that finds one starts anew. Any build does so, plain
`jupyter-book build .` included, and one whose last run ended with warnings that are errors. A lock, which ends with its process, makes a second build wait for the first.
"""

import fcntl
import shutil
import sys
from pathlib import Path


def mark(pages):
    """The file that says of a folder of pages that they are not whole."""
    return Path(pages).with_name(f".{Path(pages).name}-unfinished")


def begin(app, _):
    pages, trees = Path(app.outdir), Path(app.doctreedir)
    app.whole_lock = pages.with_name(".lock").open("a")
    try:
        fcntl.flock(app.whole_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"Another build writes into {pages.parent}; this one goes on when it has ended ...", file=sys.stderr)
        fcntl.flock(app.whole_lock, fcntl.LOCK_EX)
    if mark(pages).exists() or (pages / "_static").is_file():
        print("The last build did not finish: all pages are built anew.", file=sys.stderr)
        for folder in (pages, trees):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True, exist_ok=True)
    mark(pages).touch()


def end(app, error):
    if error is None and not (
        app.keep_going and app._warncount
    ):  # warnings that are errors: a page that is not read again would not repeat its own
        mark(app.outdir).unlink(missing_ok=True)
    app.whole_lock.close()


def setup(app):
    app.connect("config-inited", begin, priority=0)  # before anyone writes
    app.connect("build-finished", end, priority=10_000)  # after everyone has written
    return {"parallel_read_safe": True, "parallel_write_safe": True}
