"""nbgrader's autograding, marked by `mark`: put `Mark` in the place of nbgrader's own `Execute`, as the kit's `nbgrader_config.py` does."""

from __future__ import annotations

from typing import Any

from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Integer

from . import mark


class Mark(NbGraderPreprocessor):  # type: ignore[misc]
    """Run a submission, and write into each cell with points what the judge found: its sentences, and the points as the cell's value."""

    timeout = Integer(mark.TIMEOUT, help="seconds that a cell may take").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        done, marks = mark.mark(nb, self.timeout, resources.get("metadata", {}).get("path") or ".")
        for cell in done.cells:
            found = mark.ASKS.search(cell.source) if cell.metadata.get("nbgrader", {}).get("grade") else None
            if found:
                one = marks[found[1]]
                said = new_output("stream", name="stdout", text="\n".join(one["messages"]) + "\n")
                cell.outputs = [
                    said,
                    new_output("execute_result", {"text/plain": str(one["points"])}, execution_count=1),
                ]
        nb.cells = done.cells
        return nb, resources
