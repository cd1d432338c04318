"""Pages take their outputs from the runs that `book/execute.py` keeps, and are read again when the library, the data or a package changed.

Sphinx reads a page again when its source changed; it knows nothing of the code behind it. So what `execute.world` says of that code is
made part of the configuration: another value, and every page is read anew. A chapter that nobody has run yet is run here.
"""

import sys
from pathlib import Path

import myst_nb.sphinx_
from myst_nb.core.execute import NotebookClientBase

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import execute


class Executed(NotebookClientBase):
    """Gives a page the outputs of its kept run."""

    def start_client(self):
        done = execute.executed(self.path)
        cells = execute.code_cells(self.notebook)
        if execute.sources(self.notebook) != execute.sources(done):
            raise RuntimeError(f"{self.path}: Sphinx reads other cells than were run")
        for cell, ran in zip(cells, execute.code_cells(done), strict=True):
            cell.outputs, cell.execution_count = ran.outputs, ran.execution_count
        self.notebook.metadata["language_info"] = done.metadata["language_info"]
        self.exec_metadata = {
            "mtime": 0.0,  # the time of a run is shown nowhere, and would make two builds differ
            "runtime": done.metadata["run_seconds"],
            "method": "executed",
            "succeeded": True,
            "error": None,
            "traceback": None,
        }


def client(notebook, source, nb_config, logger, read_fmt=None):
    kind = Executed if execute.code_cells(notebook) else NotebookClientBase
    return kind(notebook, Path(source), nb_config, logger)


def setup(app):
    myst_nb.sphinx_.create_client = client
    app.add_config_value("executed_world", "", "env", [str])
    app.connect("config-inited", lambda _, config: setattr(config, "executed_world", execute.world()))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
