"""Which tests were skipped for want of what: `conftest.py` notes it where SKIPS names a file, and .ci/run prints the sum in one line at its end.

python tests/skips.py <file>
"""

import re
import sys
from collections import Counter
from pathlib import Path

SKIPS = "WHICHBIRD_SKIPS"
WANTING = {
    "browser": r"Chromium",
    "Coq": r"\bCoq\b",
    "raw data": r"MTME_ROOT|\btree\b| in .* or beside it",
    "Node.js": r"[Nn]ode",
}


def wanting(reason: str) -> str:
    """The group of a skip, from its reason.

    >>> wanting("Coq is not installed here"), wanting("ende24 has no aspects")
    ('Coq', 'other reasons')
    """
    return next((name for name, words in WANTING.items() if re.search(words, reason)), "other reasons")


def line(groups: list[str]) -> str:
    """One line from the groups of all tests, "" for one that ran.

    >>> line(["", "", "Coq"])
    '2 tests ran; skipped: 0 (browser), 1 (Coq), 0 (raw data), 0 (Node.js), 0 (other reasons)'
    """
    count = Counter(groups)
    return f"{count['']} tests ran; skipped: " + ", ".join(f"{count[g]} ({g})" for g in [*WANTING, "other reasons"])


def note(file: str, stats: dict) -> None:
    """Add the tests of one session, as pytest's terminal reporter has them, to a file: a line a test."""
    ran = [""] * sum(len(stats.get(kind, [])) for kind in ("passed", "failed", "error"))
    skipped = [wanting(str(report.longrepr[2])) for report in stats.get("skipped", [])]
    with open(file, "a", encoding="utf-8") as out:
        out.writelines(f"{group}\n" for group in [*ran, *skipped])


if __name__ == "__main__":
    print(line(Path(sys.argv[1]).read_text("utf-8").splitlines()))
