"""Carries the figures of ../data in the package, so that an installed whichbird needs no repository beside it.

A wheel holds them below whichbird/shipped, and so does an sdist, which therefore builds anywhere.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "data"
PACKED = HERE / "whichbird" / "shipped"  # in an sdist
PATTERNS = (  # those of whichbird.data.manifest, and the manifest
    "manifest.json",
    "*.npz",
    "*.csv",
    "segments/*.seg",
    "fields/*.seg",
    "fields/*.npz",
    "significance/*.npz",
    "guests/*.npz",
    "guests/*.json",
    "humans/*.npz",
    "published/*.csv",
    "taxonomies/*.toml",
)
NOTICES = ("LICENSE", "NOTICE")


def shipped() -> dict[str, Path]:
    """What ships, by its path below whichbird/shipped: from the repository, or from the sdist that this is."""
    here = PACKED if PACKED.is_dir() else DATA
    if not any(here.glob("*.npz")):
        raise SystemExit(
            f"{here}: no dataset is there; whichbird is built from its repository, which has them, or its sdist"
        )
    files = {str(file.relative_to(here)): file for pattern in PATTERNS for file in sorted(here.glob(pattern))}
    notices = PACKED if here == PACKED else HERE.parent
    return files | {name: notices / name for name in NOTICES}


def carry(folder: Path) -> None:
    """Copy what ships into the package below `folder`, in place of what an earlier build left there."""
    inside = folder / "whichbird" / "shipped"
    shutil.rmtree(inside, ignore_errors=True)
    for name, file in shipped().items():
        target = inside / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)


class WithData(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:  # an editable install reads ../data itself
            carry(Path(self.build_lib))


class SourceWithData(sdist):
    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        carry(Path(base_dir))


def beside(name: str) -> None:
    """A copy of the repository's file beside this one, where pyproject.toml can name it; an sdist has it already."""
    original, copy = HERE.parent / name, HERE / name
    if (HERE.parent / "lib").is_dir() and original.is_file():  # in the repository
        copy.write_bytes(original.read_bytes())


for notice in NOTICES:
    beside(notice)
setup(cmdclass={"build_py": WithData, "sdist": SourceWithData})
