"""Chapters are tests: every MyST notebook below book/ is handed to nbval, cell by cell."""

import nbformat
import pytest

try:
    import jupytext
    from nbval.plugin import IPyNbFile
except ImportError:  # the library's own tests run without the book's tools
    IPyNbFile = None


if IPyNbFile is not None:

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
        if (option.nbval or option.nbval_lax) and file_path.suffix == ".md" and "{code-cell}" in file_path.read_text("utf-8"):
            return Chapter.from_parent(parent, path=file_path)


@pytest.fixture(scope="session")
def mtme_root():
    """The unpacked mt-metrics-eval-v2 tree, or a skip that says how to get one."""
    import os

    root = os.environ.get("MTME_ROOT")
    if not root:
        pytest.skip("MTME_ROOT is not set: it must name an unpacked mt-metrics-eval-v2 tree for the tests on raw data")
    return root
