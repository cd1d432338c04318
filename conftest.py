"""Chapters are tests: every MyST notebook below book/ is handed to nbval, cell by cell."""

import fcntl
import os
import tempfile
from pathlib import Path

import jupytext
import nbformat
import pytest
from nbval.plugin import IPyNbFile

_start_kernel = IPyNbFile.setup


def _one_kernel_at_a_time(self):
    """Kernels pick free ports and bind them later; two workers starting at once can pick the same ones and wait for ever."""
    # The book keeps glued values beside the notebook, not in it, so there is nothing to compare them with.
    self.skip_compare += tuple(
        f"application/papermill.record/{kind}" for kind in ("text/plain", "text/html", "image/png")
    )
    with open(Path(tempfile.gettempdir(), f"whichbird-kernel-{os.getuid()}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _start_kernel(self)


IPyNbFile.setup = _one_kernel_at_a_time


class Chapter(IPyNbFile):
    """nbval reads .ipynb only; give it the notebook that jupytext reads from the MyST source."""

    def collect(self):
        read, nbformat.read = nbformat.read, lambda path, as_version: jupytext.read(path, as_version=as_version)
        try:
            yield from super().collect()
        finally:
            nbformat.read = read


def pytest_collect_file(file_path, parent):
    option = parent.config.option
    if (
        (option.nbval or option.nbval_lax)
        and file_path.suffix == ".md"
        and "{code-cell}" in file_path.read_text("utf-8")
    ):
        return Chapter.from_parent(parent, path=file_path)


@pytest.fixture(scope="session")
def mtme_root():
    """The unpacked mt-metrics-eval-v2 tree, or a skip that says how to get one."""
    root = os.environ.get("MTME_ROOT")
    if not root:
        pytest.skip("MTME_ROOT is not set: it must name an unpacked mt-metrics-eval-v2 tree for the tests on raw data")
    return root
