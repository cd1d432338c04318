"""Results of the command line that are kept in tests/golden. `make golden` shows how they would change, and renews them.

Each is what a command prints with --json, in a folder with the files of `write_files`. A release changes no result, so the version
is left out.
"""

import difflib
import os
import sys
import tempfile
from pathlib import Path

from owndata import human, pairs, run, wide

import whichbird as wb

GOLDEN = Path(__file__).parent / "golden"
FIXTURE = "system,adequacy,fluency\na,.5574,.4012\nb,.9883,.5353\nc,1.4687,1.4986\nd,3.0894,1.2467\n"
CASES = {
    "datasets": ["datasets"],
    "beta": ["beta", "ende24"],
    "beta-own": ["beta", "human.csv"],
    "datasets-domains": ["datasets", "ende24", "--domains"],
    "reweight": ["reweight", "systems.csv", "--beta", "0.9095"],
    "reweight-sweep": ["reweight", "systems.csv", "--sweep", "--step", "0.25"],
    "rank": ["rank", "ende24", "--beta", "0.6"],
    "rank-domain": ["rank", "ende24", "--domain", "literary"],
    "compare": ["compare", "jazh24", "XCOMET-QE", "bright-qe"],
    "all": ["all", "--datasets", "ende24", "jazh24"],
    "all-campaign": ["all", "--campaign", "wmt24"],
    "segments": ["segments", "human.csv"],
    "evaluate": ["evaluate", "--human", "human.csv", "--scores", "scores.csv", "--beta", "0.5"],
    "evaluate-meta": [
        "evaluate",
        "--human",
        "human.csv",
        "--scores",
        "scores.csv",
        "--beta",
        "0.5",
        "--meta",
        "spa,pa,pearson,acc_eq,pdp",
    ],
    "evaluate-sweep": ["evaluate", "--human", "human.csv", "--scores", "scores.csv", "--sweep", "--step", "0.25"],
    "calibrate": ["calibrate", "pairs.csv", "--dataset", "ende24", "--step", "0.25", "--resamples", "200"],
}


def write_files(folder: Path) -> None:
    """A reader's files."""
    files = {"human.csv": human(), "scores.csv": wide(), "systems.csv": FIXTURE, "pairs.csv": pairs()}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def unversioned(text: str) -> str:
    """A result or a signature with an ellipsis in place of the version."""
    version = wb.__version__
    return text.replace(f'"version": "{version}"', '"version": "…"').replace(f"whichbird:{version}", "whichbird:…")


def main() -> int:
    new = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_files(Path(folder))
        for case, words in CASES.items():
            code, out, err = run(*words, "--json")
            if code or err:
                print(f"whichbird {' '.join(words)} ended with {code}: {err}", file=sys.stderr)
                return 1
            new[GOLDEN / f"{case}.json"] = unversioned(out)
        os.chdir(GOLDEN)
    changed = 0
    for path, text in new.items():
        old = path.read_text("utf-8") if path.exists() else ""
        if old != text:
            changed += 1
            lines = (t.splitlines(keepends=True) for t in (old, text))
            sys.stdout.writelines(difflib.unified_diff(*lines, f"tests/golden/{path.name}", "renewed", n=1))
            path.write_text(text, "utf-8")
    left = [p for p in GOLDEN.glob("*.json") if p not in new]
    for path in left:
        print(f"tests/golden/{path.name} belongs to no case of tests/goldens.py; delete it")
    print(f"{changed} of {len(new)} results renewed." if changed else "Nothing has changed.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
