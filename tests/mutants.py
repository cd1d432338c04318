"""Changes a module in one place at a time and sees whether its tests notice.

    python tests/mutants.py lib/whichbird/core/balance.py [--number 20] [--seed 1]
    python tests/mutants.py book/appendix/a1-quadratic.md

A change turns < into <= or >=, == into !=, + into −, * into /, `and` into `or`, drops a `not`, moves a number by one, swaps True and False,
swaps min and max, or returns None. `--number` of all possible ones are drawn with `--seed`. Each is tried in a copy of the repository, with the tests that
`tests/check.py` finds for the module and a time limit; one that makes a test fail, or run for ever, is killed. The survivors are
printed: a place that no test minds, or a change that changes nothing, which only a reader can tell apart. In a chapter signs, powers and
coefficients in cells with assertions are changed; what kills a change there is any cell that fails, in a copy of the process that has run the cells before.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import check

ROOT = check.ROOT
COMPARE = {
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}
OPERATE = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
SWAP = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}
SWAP |= {"argmin": "argmax", "argmax": "argmin", "floor": "ceil", "ceil": "floor"}


def changes(node: ast.AST) -> list[ast.AST]:
    """Every way in which one node is changed, as nodes to stand in its place."""
    out: list[ast.AST] = []

    def other(**fields):
        new = copy.deepcopy(node)
        for name, value in fields.items():
            setattr(new, name, value)
        out.append(new)

    match node:
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                for kind in COMPARE.get(type(op), []):
                    other(ops=[*ops[:at], kind(), *ops[at + 1 :]])
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in OPERATE:
            other(op=OPERATE[type(op)]())
        case ast.BoolOp(op=op):
            other(op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            out.append(operand)
        case ast.Constant(value=bool() as value):
            other(value=not value)
        case ast.Constant(value=int() | float() as value):
            other(value=value + 1)
            other(value=value - 1)
        case ast.Name(id=name, ctx=ast.Load()) if name in SWAP:
            other(id=SWAP[name])
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in SWAP:
            other(attr=SWAP[name])
        case ast.Return(value=value) if value is not None and not (
            isinstance(value, ast.Constant) and value.value is None
        ):
            other(value=ast.Constant(None))
    return out


def mutants(
    source: str, wanted: Callable = lambda parent, node: True, leave: tuple[str, ...] = ()
) -> list[tuple[int, str, str, str]]:
    """(line, before, after, source) of every change of a module, in nodes that are wanted. Annotations and fields to `leave` stay as they are."""
    tree = ast.parse(source)
    skipped = set()
    for node in ast.walk(tree):
        for name in ("annotation", "returns", *leave):
            part = getattr(node, name, None)
            for one in part if isinstance(part, list) else [part] if part is not None else []:
                skipped |= {id(n) for n in ast.walk(one)}
    out = []
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            places = enumerate(value) if isinstance(value, list) else [(None, value)]
            for at, node in list(places):
                if not isinstance(node, ast.AST) or id(node) in skipped or not wanted(parent, node):
                    continue
                for new in changes(node):
                    ast.copy_location(new, node)
                    _put(parent, field, at, new)
                    text = ast.unparse(ast.fix_missing_locations(tree))
                    _put(parent, field, at, node)
                    out.append((node.lineno, ast.unparse(node), ast.unparse(new), text))
    return sorted(out, key=lambda m: m[:3])


def _put(parent, field, at, node):
    if at is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[at] = node


def noticed(tree: Path, module: Path, text: str, limit: float) -> bool:
    """Whether the tests fail, or run into the limit, with this source in place of the module's in a copy of the repository."""
    (tree / module).write_text(text, "utf-8")
    # named before those that only import it, the module last: unparsed code has lost the comments, not the examples
    tests = [tree / p.relative_to(ROOT) for p in check.files(ROOT / module, wide=True)]
    command = check.command([*tests[1:], tests[0]], "-x", "-p", "no:cacheprovider", "-p", "no:xdist")
    environment = os.environ | {"PYTHONPATH": str(tree / "lib"), "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(
        command, cwd=tree, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            return process.wait(limit) != 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return True


def cell_mutants(source: str) -> list[tuple[int, str, str, str]]:
    """Changes of signs, powers and coefficients in a cell, up to its last assertion; none in a cell without one, or that draws.

    Places in a list, options of a function and numbers below a hundredth, which are tolerances, stay as they are.

    >>> [m[1:3] for m in cell_mutants("x = -a + 2 * b ** n[3]; assert abs(x) < 1e-9")]
    [('-a', 'a'), ('-a + 2 * b ** n[3]', '-a - 2 * b ** n[3]'), ('2', '1'), ('2', '3'), ('2 * b ** n[3]', '2 / b ** n[3]'), ('b ** n[3]', 'b * n[3]')]
    """
    lines = [node.end_lineno or 0 for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assert)]
    if not lines or "plt." in source:
        return []

    formula = (ast.BinOp, ast.UnaryOp)

    def wanted(parent: ast.AST, node: ast.AST) -> bool:
        number = isinstance(node, ast.Constant) and not (isinstance(node.value, float) and abs(node.value) < 0.01)
        return isinstance(node, formula) or (number and isinstance(parent, formula))

    return [m for m in mutants(source, wanted, ("slice", "keywords")) if m[0] <= max(lines)]


def survives(cells: list[str], names: dict, limit: float) -> bool:
    """Whether cells run to their end, in a copy of this process, so that nothing here changes; too long counts as a failure."""
    child = os.fork()
    if not child:
        signal.alarm(int(limit))
        try:
            for cell in cells:
                exec(compile(cell, "cell", "exec"), names)
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def chapter(path: Path, number: int, seed: int) -> int:
    """Change the cells of a chapter with assertions in one place at a time."""
    sys.path.insert(0, str(ROOT / "book"))
    os.environ["MPLBACKEND"] = "agg"
    import execute

    cells = execute.sources(execute.read(path))
    every = [(at, *m) for at, cell in enumerate(cells) for m in cell_mutants(cell)]
    chosen = every if not 0 < number < len(every) else sorted(random.Random(seed).sample(every, number))
    names: dict = {"__name__": "__main__"}
    print(f"{path.relative_to(ROOT)}: {len(chosen)} of {len(every)} changes", flush=True)
    killed = 0
    for at, cell in enumerate(cells):
        for _, _, before, after, text in (m for m in chosen if m[0] == at):
            with _silence():
                alive = survives([text, *cells[at + 1 :]], names, 120)
            killed += not alive
            if alive:
                print(f"survived  Cell {at}  {_short(before)}  →  {_short(after)}", flush=True)
        with _silence():
            exec(compile(cell, "cell", "exec"), names)
    print(f"{killed} of {len(chosen)} killed ({killed / max(1, len(chosen)):.0%})")
    return 0


@contextlib.contextmanager
def _silence():
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        yield


def copy_tree(target: Path) -> None:
    """The repository without what is made from it; data is linked, not copied."""
    leave = shutil.ignore_patterns(".*", "_build", "__pycache__", "*.egg-info", "data")
    for name in ("lib", "tests", "book", "conftest.py", "pyproject.toml", "requirements.txt"):
        source = ROOT / name
        shutil.copytree(source, target / name, ignore=leave) if source.is_dir() else shutil.copy(source, target / name)
    shutil.copytree(ROOT / "lib/whichbird/data", target / "lib/whichbird/data", ignore=leave)
    (target / "data").symlink_to(ROOT / "data")


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Change a module in one place at a time and see whether its tests notice."
    )
    parser.add_argument("module", type=Path)
    parser.add_argument("--number", type=int, default=20, help="how many changes are tried (0: all)")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    path = arguments.module.resolve()
    if path.suffix == ".md" and path.is_file() and path.is_relative_to(ROOT / "book"):
        return chapter(path, arguments.number, arguments.seed)
    if not (path.is_file() and path.is_relative_to(check.LIB)):
        parser.error(f"{arguments.module}: no module of the library; name one as lib/whichbird/core/balance.py")
    module, source = path.relative_to(ROOT), path.read_text("utf-8")
    every = mutants(source)
    chosen = every
    if 0 < arguments.number < len(every):
        chosen = sorted(random.Random(arguments.seed).sample(every, arguments.number), key=lambda m: m[:3])
    with tempfile.TemporaryDirectory() as folder:
        trees = [Path(folder, str(n)) for n in range(2)]
        for tree in trees:
            tree.mkdir()
            copy_tree(tree)
        start = time.monotonic()
        if noticed(trees[0], module, ast.unparse(ast.parse(source)), 3600):
            print(f"{module}: its tests fail without any change; mend that first", file=sys.stderr)
            return 1
        limit = 10 + 5 * (time.monotonic() - start)
        print(f"{module}: {len(chosen)} of {len(every)} changes, at most {limit:.0f} s each", flush=True)
        free = list(trees)

        def attempt(mutant):
            line, before, after, text = mutant
            tree = free.pop()
            try:
                killed = noticed(tree, module, text, limit)
            finally:
                free.append(tree)
            if not killed:
                print(f"survived  {module}:{line}  {_short(before)}  →  {_short(after)}", flush=True)
            return killed

        with ThreadPoolExecutor(len(trees)) as pool:
            killed = sum(pool.map(attempt, chosen))
    print(f"{killed} of {len(chosen)} killed ({killed / max(1, len(chosen)):.0%})")
    return 0


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 70 else text[:67] + "..."


if __name__ == "__main__":
    sys.exit(main())
