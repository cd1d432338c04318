"""Carries the figures of ../data in the package, so that an installed whichbird needs no repository beside it."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

DATA = Path(__file__).resolve().parent.parent / "data"


class WithData(build_py):
    def run(self):
        super().run()
        if self.editable_mode:  # an editable install reads ../data itself
            return
        if not any(DATA.glob("*.npz")):
            raise SystemExit(f"{DATA}: no dataset is there; whichbird is built from its repository, which has them")
        inside = Path(self.build_lib, "whichbird", "shipped")
        shutil.rmtree(inside, ignore_errors=True)  # what an earlier build left
        for pattern in ("*.npz", "*.csv", "published/*.csv"):
            for file in DATA.glob(pattern):
                target = inside / file.relative_to(DATA)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)


setup(cmdclass={"build_py": WithData})
