"""Runs the property tests with random seeds, round after round, until its time is over.

    python tests/fuzz.py [--minutes 20] [--seed 123456]

`make test` tries the same examples every time (the profile "fixed" of `conftest.py`). Here a round runs every `@given` test once with one seed; the next
round takes the next seed. Printed are each round's seed, what failed in it, and in the end how many examples each test was tried on. A failure
comes back with `--seed` of its round. Exit code 1 if anything failed, nothing was tried, or a round was stopped from outside: then what the rounds before it found is
printed all the same. pytest loads this file as a plugin, too: its hooks are below.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
UNTIL = "WHICHBIRD_FUZZ_UNTIL"  # the time, in seconds of the epoch, from which on no test starts
COUNT = "examples"


class Stopped(Exception):
    """A round that did not come to its end."""


def pytest_runtest_setup(item):
    if time.time() > float(os.environ[UNTIL]):
        pytest.skip("the time is over")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if call.when == "teardown":
        passing = re.findall(r"(\d+) passing", getattr(item, "hypothesis_statistics", ""))
        report.user_properties.append((COUNT, sum(map(int, passing))))


def pytest_terminal_summary(terminalreporter):
    """One line a test for `main`: its name and its number of examples."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, number in getattr(report, "user_properties", []):
                if name == COUNT:
                    terminalreporter.write_line(f"{COUNT} {number} {report.nodeid}")


def once(seed: int, paths: list[str]) -> tuple[Counter, list[str], str]:
    """Run every `@given` test of `paths` with a seed: examples that passed by test, the tests that failed, and pytest's words."""
    options = "-q -n 2 --dist worksteal -m hypothesis --ignore=tests/pages -p no:cacheprovider -p fuzz -rfE"
    command = [sys.executable, "-m", "pytest", "-o", f"addopts={options}", "--hypothesis-profile=random"]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT / "tests"), os.environ.get("PYTHONPATH")]))
    }
    try:
        said = subprocess.run(
            [*command, f"--hypothesis-seed={seed}", *paths], cwd=ROOT, env=environment, capture_output=True, text=True
        )
    except KeyboardInterrupt:
        raise Stopped(f"the round of seed {seed} was stopped") from None
    if said.returncode < 0:
        raise Stopped(f"the round of seed {seed} was ended by {signal.Signals(-said.returncode).name}")
    tried = Counter({name: int(number) for number, name in re.findall(rf"^{COUNT} (\d+) (.+)$", said.stdout, re.M)})
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", said.stdout, re.M)
    if said.returncode not in (0, 1) or (said.returncode and not failed):
        raise Stopped(f"pytest stopped in the round of seed {seed}:\n{said.stdout}{said.stderr}")
    return tried, failed, said.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the property tests with random seeds until the time is over.")
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, help="of the first round (drawn, if none is given)")
    parser.add_argument("paths", nargs="*", default=["tests"], help="files of tests (all, if none is named)")
    arguments = parser.parse_args()
    if not 0 < arguments.minutes < float("inf"):
        parser.error(f"{arguments.minutes} minutes: give a number above 0")
    first = random.SystemRandom().randrange(10**6) if arguments.seed is None else arguments.seed
    until = time.time() + 60 * arguments.minutes
    os.environ[UNTIL] = str(until)
    tried: Counter = Counter()
    found, seed, stopped = [], first, ""
    while time.time() < until:
        print(f"seed {seed} ...", flush=True)
        try:
            counts, failed, said = once(seed, arguments.paths)
        except Stopped as end:
            stopped = f"fuzz.py: {end}"
            break
        tried.update(counts)
        found += [f"seed {seed}  {name}" for name in failed]
        if failed:
            print(said, flush=True)
        seed += 1
    for name, number in sorted(tried.items()):
        print(f"{number:8d}  {name}")
    print(
        f"{tried.total()} examples of {len(tried)} tests, {seed - first} rounds from seed {first} on; {len(found)} failures"
    )
    print("\n".join(found), end="\n" if found else "")
    if stopped:
        print(stopped, file=sys.stderr)
    return 1 if found or stopped or not tried.total() else 0


if __name__ == "__main__":
    sys.exit(main())
