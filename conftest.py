"""Chapters are tests: nbval runs every page of book/ with code cells, one test a cell."""

import contextlib
import functools
import importlib.util
import os
import sys
import time
from pathlib import Path
from unittest import mock

import nbval.kernel
import nbval.plugin
import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent / "book"))
sys.path.insert(0, str(Path(__file__).parent / "tests"))
import execute
import skips

# `make test` tries the same examples every time, `make fuzz` others in every round. How long an example takes decides nothing.
settings.register_profile(
    "random", derandomize=False, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("fixed", settings.get_profile("random"), derandomize=True)
settings.load_profile("fixed")

# Graders are in an environment of their own (requirements-course.txt), where tests/test_course_marks.py runs these modules: without them there is nothing to import
GRADERS = {"with_nbgrader": "nbgrader", "with_otter": "otter"}
collect_ignore = [
    f"lib/whichbird_book/teach/{module}.py"
    for module, grader in GRADERS.items()
    if importlib.util.find_spec(grader) is None
]

# Files that take ten seconds or more, the longest first; test_house knows whether they are there
LONG = [
    "test_build",
    "test_formal",
    "test_cli",
    "test_carriers",
    "test_trials",
    "test_reweight",
    "test_mtme",
    "test_search",
    "test_segments",
    "test_careful",
    "test_execute",
    "test_vary",
]


class Chapter(nbval.plugin.IPyNbFile):
    """A chapter in nbval's hands: the notebook that jupytext reads from its source.

    Where `book/execute.py` has kept a run of the same code, nbval compares with its outputs, pictures too. Where there is none, the chapter must run, and the run
    that nbval made is kept for the book.
    """

    stopped = None  # the cell that failed

    def collect(self):
        kept = execute.find(self.path)
        self.compare_outputs, self.notebook = kept is not None, kept or execute.read(self.path)
        self.skip_compare = tuple(kind for kind in self.skip_compare if kind != "image/png")
        with mock.patch.object(nbval.plugin.nbformat, "read", lambda *_, **__: self.notebook):
            found = list(super().collect())
        parts = ("name", "cell_num", "cell", "options")
        self.cells = [Cell.from_parent(self, **{part: getattr(item, part) for part in parts}) for item in found]
        return self.cells

    def setup(self):
        """Kernels talk over sockets, which never collide."""
        execute.find_fonts()
        self.sockets, self.start = contextlib.ExitStack(), time.perf_counter()
        folder = self.sockets.enter_context(execute.sockets_folder())
        place = {"transport": "ipc", "ip": f"{folder}/k", "connection_file": f"{folder}/k.json"}
        manager = functools.partial(nbval.kernel.KernelManager, **place)
        with mock.patch.object(nbval.kernel, "KernelManager", manager):
            super().setup()

    def teardown(self):
        if not self.compare_outputs and self.stopped is None and all(c.test_outputs is not None for c in self.cells):
            self.notebook.metadata["run_seconds"] = time.perf_counter() - self.start
            about = self.kernel.kc.kernel_info(reply=True, timeout=60)["content"]
            self.notebook.metadata["language_info"] = about["language_info"]
            for count, item in enumerate(self.cells, 1):
                item.cell.update(outputs=item.test_outputs, execution_count=count)
            execute.keep(self.path, self.notebook)
        super().teardown()
        self.sockets.close()


class Cell(nbval.plugin.IPyNbCell):
    def runtest(self):
        if self.parent.stopped is not None:
            pytest.skip(f"the chapter stopped at Cell {self.parent.stopped}")
        try:
            super().runtest()
            if any(o.output_type == "stream" and o.name == "stderr" for o in self.test_outputs):
                said = "".join(o.text for o in self.test_outputs if o.get("name") == "stderr")
                self.raise_cell_error(f"wrote to standard error:\n{said}")
        except nbval.plugin.NbCellError:
            self.parent.stopped = self.cell_num
            raise


def pytest_terminal_summary(terminalreporter):
    if skips.SKIPS in os.environ and not hasattr(terminalreporter.config, "workerinput"):  # workers report to it
        skips.note(os.environ[skips.SKIPS], terminalreporter.stats)


def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".md" and file_path.is_relative_to(execute.BOOK) and file_path in execute.chapters():
        return Chapter.from_parent(parent, path=file_path)


def pytest_collection_modifyitems(items):
    """Long files first, then chapters, then the rest: a worker takes a file at a time, and at the end neither waits long for the other."""
    turn = {name: n for n, name in enumerate(LONG)}
    items.sort(key=lambda item: len(LONG) if isinstance(item, Cell) else turn.get(item.path.stem, len(LONG) + 1))


@pytest.fixture(scope="session")
def mtme_root():
    """The unpacked mt-metrics-eval-v2 tree, or a skip that says how to get one."""
    root = os.environ.get("MTME_ROOT")
    if not root:
        pytest.skip("MTME_ROOT is not set: it must name an unpacked mt-metrics-eval-v2 tree for the tests on raw data")
    return root


@pytest.fixture
def each_file_once(monkeypatch):
    """No file of the tree is parsed twice in one test: most of the time of a test that reads a dataset in several ways."""
    from whichbird.data import mtme, ratings
    from whichbird.data.mqm import TAXONOMY

    scores, layers, read_scores, read_layer = {}, {}, mtme.read_scores, ratings._read_layer

    def scores_once(path):
        if path not in scores:
            scores[path] = read_scores(path)
            scores[path].values.flags.writeable = False  # it is shared
        return scores[path]

    def layer_once(path, pricing, rater=None):
        assert pricing.official and pricing.tally.taxonomy is TAXONOMY  # else the cells are others
        if (path, rater) not in layers:
            layers[path, rater] = read_layer(path, pricing, rater)
        return layers[path, rater]

    monkeypatch.setattr(mtme, "read_scores", scores_once)
    monkeypatch.setattr(ratings, "_read_layer", layer_once)
