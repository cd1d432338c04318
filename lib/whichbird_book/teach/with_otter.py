"""Otter's autograder, marked by `mark`: a plug-in that runs the submission itself, hands Otter an empty notebook, and sets the scores.

Otter runs its tests in the student's own process, and reads their results from a file that this process writes; so nothing of a student's may run there.
"""

from __future__ import annotations

from typing import Any

from nbformat.v4 import new_notebook
from otter.plugins import AbstractOtterPlugin

from . import mark


class Marks(AbstractOtterPlugin):  # type: ignore[misc]
    """Its configuration names the exercise of each of Otter's questions: {"q3-1-1": "3.1.1"}."""

    def before_execution(self, submission: Any) -> Any:
        try:
            _, self._marks = mark.mark(submission)
        except ValueError as error:
            self._marks, self._said = {}, f"Nothing could be marked: {error}."
        return new_notebook(metadata=submission.metadata)

    def after_grading(self, results: Any) -> None:
        said = [self._said] if not self._marks else []
        for question, number in self.plugin_config.items():
            found = self._marks.get(number, {"points": 0, "messages": []})
            results.update_score(question, found["points"])
            said += found["messages"]
        results.set_output("\n".join(said))
