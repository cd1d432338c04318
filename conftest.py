"""Chapters are tests: every page of book/ with code cells, one test a cell. A chapter that was run already is not run again."""

import contextlib
import itertools
import os
import sys
from pathlib import Path

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
]


class Chapter(pytest.File):
    """A page of the book. It runs when its first cell is asked for, unless `book/execute.py` has kept a run of the same code."""

    stopped = None  # the failure that ended the run
    ran = False

    def collect(self):
        for number, source in enumerate(execute.sources(execute.read(self.path))):
            yield Cell.from_parent(self, name=f"Cell {number}", number=number, source=source)

    def execute(self):
        if not self.ran:
            self.ran = True
            try:
                execute.executed(self.path)
            except execute.CellFailed as failure:
                self.stopped = failure


class Cell(pytest.Item):
    def __init__(self, *, number, source, **rest):
        super().__init__(**rest)
        self.number, self.source = number, source

    def runtest(self):
        self.parent.execute()
        stopped = self.parent.stopped
        if stopped and stopped.cell < self.number:
            pytest.skip(f"the chapter stopped at Cell {stopped.cell}")
        if stopped and stopped.cell == self.number:
            raise stopped

    def repr_failure(self, excinfo, style=None):
        if excinfo.errisinstance(execute.CellFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, None, self.name


def pytest_configure(config):
    """The strict pass hands the kept runs to nbval. Its kernels talk over sockets, which never collide; it compares pictures too."""
    if not config.getoption("nbval", False):
        return
    import nbval.kernel
    from nbval.plugin import IPyNbFile

    manager, sockets = nbval.kernel.KernelManager, contextlib.ExitStack()
    folder = sockets.enter_context(execute.sockets_folder())
    config.add_cleanup(sockets.close)

    def over_sockets(**rest):
        place = f"{folder}/{next(numbers)}"
        return manager(transport="ipc", ip=place, connection_file=f"{place}.json", **rest)

    nbval.kernel.KernelManager, numbers = over_sockets, itertools.count()
    begin = IPyNbFile.setup

    def setup(self):
        self.skip_compare = tuple(kind for kind in self.skip_compare if kind != "image/png")
        begin(self)

    IPyNbFile.setup = setup


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
