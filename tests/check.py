"""Runs the tests of one module: its docstring examples, and the files of tests/ that are about it. For `make check` and `make mutants`.

python tests/check.py lib/whichbird/core/balance.py      or a file of tests/, or a chapter
"""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIB = ROOT / "lib"


def imports(path: Path) -> set[Path]:
    """Modules of the library that a file imports, by the name of the module."""
    known = {p.with_suffix("").relative_to(LIB).as_posix().replace("/", "."): p for p in LIB.rglob("*.py")}
    package = path.relative_to(LIB).parent.as_posix().split("/") if path.is_relative_to(LIB) else []
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            found |= {known.get(module), *(known.get(f"{module}.{name.name}") for name in node.names)}
        elif isinstance(node, ast.Import):
            found |= {known.get(name.name) for name in node.names}
    return found - {None}


def files(path: Path, wide: bool = False) -> list[Path]:
    """What tests a file: for a module its own examples and the tests named after it; if there are none, or if `wide`, those that import it.

    A module that no test imports is tested through the modules that import it.
    """
    if not path.is_relative_to(LIB):
        return [path]
    tests, targets, seen = sorted((ROOT / "tests").glob("test_*.py")), {path}, set()
    while targets - seen:
        stems = tuple(f"test_{p.stem.removeprefix('_')}" for p in targets)
        named = [t for t in tests if t.stem.startswith(stems)]
        others = [t for t in tests if t not in named and imports(t) & targets]
        if named or others:
            return [path, *named, *(others if wide or not named else [])]
        seen |= targets
        targets = {p for p in LIB.rglob("*.py") if p.name != "__init__.py" and imports(p) & targets} | targets
    return [path]


def command(paths: list[Path], *extra: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "pytest",
        "-o",
        "addopts=--doctest-modules --nbval-current-env -q",
        *extra,
        *map(str, paths),
    ]


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_file():
        sys.exit(f"{' '.join(sys.argv[1:]) or 'nothing'}: no file; name a module, a file of tests or a chapter")
    sys.exit(subprocess.call(command(files(Path(sys.argv[1]).resolve())), cwd=ROOT))
