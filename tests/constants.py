"""Numerical constants of the library, and the table of those that its mathematics rests on, lib/CONSTANTS.md.

python tests/constants.py       writes values and modules into the table (for `make map`); kind and consequence are written by hand
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIB = ROOT / "lib" / "whichbird"
PAGE = ROOT / "lib" / "CONSTANTS.md"
ROW = re.compile(r"^\| `([A-Z_]+)` \| `([^`]*)` \| ([^|]*) \| (guarantee|cost) \| ([^|]+) \|$", re.M)
SIGNS = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.operator, ast.unaryop, ast.Load)


def constants():
    """Module, name, source of the value and value of every number, or tuple of numbers, that a module binds at its top to a name in capitals."""
    for path in sorted(LIB.rglob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if not isinstance(node, ast.Assign):
                continue
            (left,), right = node.targets, node.value
            both = isinstance(left, ast.Tuple) and isinstance(right, ast.Tuple)
            for name, value in zip(left.elts, right.elts, strict=True) if both else [(left, right)]:
                plain = all(isinstance(part, SIGNS) for part in ast.walk(value))
                if plain and isinstance(name, ast.Name) and name.id.isupper():
                    found = eval(compile(ast.Expression(value), "", "eval"))
                    if all(type(x) in (int, float) for x in (found if isinstance(found, tuple) else [found])):
                        yield path.relative_to(LIB).as_posix(), name.id, ast.unparse(value), found


def mathematical():
    """Value and modules of each public constant of core and solve, by its name."""
    out = {}
    for module, name, source, _ in constants():
        if module.startswith(("core/", "solve/")) and not name.startswith("_"):
            out[name] = (source, [*out.get(name, ("", []))[1], module.removesuffix(".py")])
    return {name: (source, ", ".join(modules)) for name, (source, modules) in out.items()}


def rows(page):
    return {name: rest for name, *rest in ROW.findall(page)}


def written(page):
    """The page with today's values and modules, in the order of the code; a name without a row gets one to be filled in."""
    known, head = rows(page), page.partition("|---")[0]
    lines = []
    for name, (source, modules) in mathematical().items():
        _, _, kind, breaks = known.get(name, ("", "", "cost", "to be said"))
        lines.append(f"| `{name}` | `{source}` | {modules} | {kind} | {breaks} |")
    return "\n".join([f"{head}|---|---|---|---|---|", *lines, ""])


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
