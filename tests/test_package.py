"""The package as others get it: an sdist that holds the data, a wheel built from it alone, and an empty place that loads a pool."""

import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
import yaml

import whichbird as wb
from whichbird.data import digest

ROOT = Path(__file__).resolve().parents[1]
NEEDED = 77  # of setuptools, in lib/pyproject.toml


def run(*command, cwd, **environment):
    done = subprocess.run(
        [sys.executable, *map(str, command)], cwd=cwd, capture_output=True, text=True, env=os.environ | environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """An sdist made in a copy of the repository, and a wheel made from nothing but the sdist."""
    try:
        found = version("setuptools")
    except PackageNotFoundError:
        found = "0"
    if int(found.partition(".")[0]) < NEEDED:
        pytest.skip(f"setuptools is {found}: building the package without the network needs {NEEDED} or newer here")
    place = tmp_path_factory.mktemp("package")
    copy = place / "copy"
    shutil.copytree(ROOT / "lib", copy / "lib", ignore=shutil.ignore_patterns("*.egg-info", "build", "__pycache__"))
    shutil.copytree(digest.folder(), copy / "data", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, copy)
    make = "import setuptools.build_meta as b, sys; print(b.build_sdist(sys.argv[1]))"
    run("-c", make, place, cwd=copy / "lib")
    shutil.rmtree(copy)  # nothing beside the sdist
    (archive,) = place.glob("whichbird-*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(place / "unpacked", filter="data")
    (source,) = (place / "unpacked").iterdir()
    run(
        "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", place, source, cwd=place
    )
    (wheel,) = place.glob("whichbird-*.whl")
    return archive, wheel


def test_both_hold_what_ships(built):
    archive, wheel = built
    with tarfile.open(archive) as tar:
        inside = {name.partition("/")[2] for name in tar.getnames()}
    with zipfile.ZipFile(wheel) as z:
        names = set(z.namelist())
    assert "setup.py" in inside and "pyproject.toml" in inside
    for files in (inside, names):
        for name in wb.datasets():
            assert {f"whichbird/shipped/{name}.npz", f"whichbird/shipped/segments/{name}.seg"} <= files
        assert {
            f"whichbird/shipped/{n}"
            for n in ("manifest.json", "errors.csv", "published/core.csv", "taxonomies/paper.toml", "LICENSE", "NOTICE")
        } <= files
    assert not any(name.endswith(("build.py", ".part")) for name in names)


def test_the_metadata_is_complete(built):
    """What an index shows, read from the wheel: the description is lib/README.md, licence and notice lie beside it, no address is made up."""
    with zipfile.ZipFile(built[1]) as z:
        (place,) = {name.partition("/")[0] for name in z.namelist() if ".dist-info/" in name}
        said = email.message_from_bytes(z.read(f"{place}/METADATA"))
        for name in ("LICENSE", "NOTICE"):
            assert z.read(f"{place}/licenses/{name}") == (ROOT / name).read_bytes()
        assert "whichbird/py.typed" in z.namelist()
        assert b"whichbird = whichbird.cli:main" in z.read(f"{place}/entry_points.txt")
    assert said["Name"] == "whichbird" and said["Version"] == wb.__version__
    assert said["License-Expression"] == "Apache-2.0" and said.get_all("License-File") == ["LICENSE", "NOTICE"]
    assert said["Author"] == yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["authors"][0]["name"]
    assert said["Keywords"] and "Typing :: Typed" in said.get_all("Classifier")
    assert said["Description-Content-Type"] == "text/markdown"
    assert said.get_payload(decode=True).decode("utf-8").strip() == (ROOT / "lib/README.md").read_text("utf-8").strip()
    assert said.get_all("Project-URL") is None and said["Home-page"] is None


def test_the_example_of_the_readme_runs(capsys):
    (code,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "lib/README.md").read_text("utf-8"), re.M | re.S)
    exec(code, {})
    assert str(wb.balance(*wb.load("enes24").aspects)) in capsys.readouterr().out


def test_it_promises_the_pythons_that_it_takes():
    """Each Python that the classifiers name is allowed by requires-python, and the oldest allowed one is named."""
    project = tomllib.loads((ROOT / "lib/pyproject.toml").read_text("utf-8"))["project"]
    named = [int(c.rpartition(".")[2]) for c in project["classifiers"] if re.search(r":: Python :: 3\.\d+$", c)]
    assert project["requires-python"] == f">=3.{min(named)}" and named == list(range(min(named), max(named) + 1))


def test_the_wheel_stays_below_40_megabytes(built):
    assert built[1].stat().st_size < 40e6


def test_an_installed_package_loads_a_pool_with_no_repository_beside_it(built, tmp_path):
    target, empty = tmp_path / "target", tmp_path / "empty"
    empty.mkdir()
    run("-m", "pip", "install", "--no-deps", "--no-index", "--target", target, built[1], cwd=empty)
    code = (
        "import whichbird as wb; from whichbird.data.digest import folder; pool = wb.load_pool('ende24'); "
        "from whichbird.data.manifest import differences; "
        "print(wb.__file__, folder(), len(wb.datasets()), pool.total.shape, differences(), sep='\\n')"
    )
    where, folder, datasets, shape, other = run(
        "-c", code, cwd=empty, PYTHONPATH=str(target), WHICHBIRD_DATA=""
    ).splitlines()
    assert Path(where).is_relative_to(target) and Path(folder) == target / "whichbird" / "shipped"
    assert other == "[]"  # the manifest in the wheel is that of its files
    broken = Path(folder) / "ende24.npz"
    broken.write_bytes((Path(folder) / "ende23.npz").read_bytes())
    code = "from whichbird.cli import main; print(main(['rank', 'ende24']))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=empty, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(target), "WHICHBIRD_DATA": ""},
    )  # fmt: skip
    assert done.stdout == "2\n" and str(broken) in done.stderr and "install whichbird again" in done.stderr
    assert int(datasets) == len(wb.datasets()) and shape == str(wb.load_pool("ende24").total.shape)
