"""Places where the book could run and that we cannot try here: their files are well formed, and what they call is there."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOW = ROOT / ".github/workflows/pages.yml"


def pins(text):
    return {
        n.lower().replace("_", "-").replace(".", "-"): v for n, v in re.findall(r"^([\w.-]+)==([^\s\\]+)", text, re.M)
    }


@pytest.mark.parametrize("kind", ["", "-lint", "-lab"])
def test_a_lock_pins_what_requirements_pin_and_each_with_hashes(kind):
    lock = (ROOT / f"requirements{kind}.lock").read_text("utf-8")
    wanted = pins((ROOT / f"requirements{kind}.txt").read_text("utf-8"))
    if kind:  # with all that they bring, in the versions that the book uses
        common = pins((ROOT / "requirements.txt").read_text("utf-8"))
        wanted |= {name: common.get(name, version) for name, version in pins(lock).items()} | wanted
    assert pins(lock) == wanted
    entries = re.split(r"\n(?=\w)", re.sub(r"^#.*\n", "", lock, flags=re.M).strip())
    assert len(entries) == len(pins(lock)) and all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in lock and "--index" not in lock


def test_the_workflow_calls_what_is_there():
    flow = yaml.safe_load(WORKFLOW.read_text("utf-8"))
    assert flow["jobs"]["deploy"]["needs"] == "test" and set(flow["jobs"]) == {"test", "deploy"}
    steps = flow["jobs"]["test"]["steps"]
    assert any(step.get("run") == ".ci/run" for step in steps) and (ROOT / ".ci/run").stat().st_mode & 0o111
    (upload,) = (step for step in steps if "upload-pages-artifact" in step.get("uses", ""))
    assert f"{upload['with']['path']}/index.html" in (ROOT / "Makefile").read_text("utf-8")
    assert flow["permissions"] == {"contents": "read"}, "only the deployment may write"


def test_scripts_are_shell():
    for script in (".binder/postBuild", ".ci/run"):
        subprocess.run(["bash", "-n", ROOT / script], check=True)
    assert (ROOT / ".binder/postBuild").stat().st_mode & 0o111
    for file in re.findall(r"-r (\S+)|--editable (\S+)", (ROOT / ".binder/postBuild").read_text("utf-8")):
        assert (ROOT / "".join(file)).exists()
    assert re.fullmatch(r"python-3\.\d+\n", (ROOT / ".binder/runtime.txt").read_text("utf-8"))


def test_the_container_makes_what_the_makefile_makes():
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text("utf-8"))
    make, *wanted = container["postCreateCommand"].split()
    assert make == "make" and wanted
    assert subprocess.run(["make", "-n", *wanted], cwd=ROOT, capture_output=True).returncode == 0


def test_what_never_ran_says_so():
    for file in (WORKFLOW, ROOT / ".binder/postBuild"):
        assert "Never run there" in file.read_text("utf-8")
    contributing = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert all(name in contributing for name in ("pages.yml", ".binder", ".devcontainer", "never run"))
