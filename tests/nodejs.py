"""Runs a page's scripts in Node, for tests that compare them with the library; without Node they are skipped with a sentence."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

ASSETS = Path(__file__).parents[1] / "book" / "assets"


def node(code: str, data: object = None) -> object:
    """What JavaScript returns: `code` is the body of a function of (load, data); load("wb-random", …) gives Whichbird with these scripts in it."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("node is not installed: the page's scripts are not compared with the library")
    script = (
        f"const load = (...names) => {{ for (const n of names) require({json.dumps(str(ASSETS))} + '/' + n + '.js'); return globalThis.Whichbird; }};"
        "const data = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
        f"const out = ((load, data) => {{ {code} }})(load, data);"
        "process.stdout.write(JSON.stringify(out));"
    )
    done = subprocess.run([program, "-e", script], input=json.dumps(data), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
