"""What an exercise needs of its chapter, and no more: statements found by the names they read and bind.

A chapter is a sequence of statements. Those an exercise needs are found backwards from its solution: the last statement that bound a
name which the solution reads, the statements that changed what it refers to since, whatever these read, and so on. A figure that
nobody reads is thus left out. A function's free names are needed where it is called, so they are looked for from there.

Three rules keep numbers as they are in the book:
- a random generator is changed by every statement that mentions it;
- `x[i] = …`, `x += …`, `x.append(…)` change `x`, and bindings in a branch or a loop may leave an earlier value in place, so that one is
  needed too;
- imports are cut down to the names that are used.
"""

from __future__ import annotations

import ast
import builtins
import functools
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import exercises as ex

BOOKKEEPING = {"say", "glue", "record", "kit.record", "kit.glue"}  # statements that only tell the book a number
WRITES = re.compile(r"write|to_csv$")  # how the names of functions begin that write a file


@dataclass(eq=False)
class Statement:
    """One statement at the top level of a chapter's code."""

    source: str
    node: ast.stmt
    cell: int  # which code cell of the chapter, from 0
    exercise: int | None  # the exercise whose solution it is in, from 0, or None
    needs: set[str] = field(default_factory=set)
    binds: set[str] = field(default_factory=set)  # surely bound by it
    changes: set[str] = field(default_factory=set)  # perhaps bound by it, or its object changed

    def __post_init__(self):
        flow = Flow()
        flow.run([self.node])
        written, read = files(self.node)
        self.needs, self.binds = flow.free | read, flow.bound | written
        self.changes = ex.changes(self.node) | flow.bound | flow.maybe | written


def files(node: ast.AST) -> tuple[set[str], set[str]]:
    """Files `folder / "name"` that a statement writes, and those that it reads, as if they were names.

    >>> files(ast.parse('t.to_csv(folder / "a.csv"); read(folder / "b.csv")'))
    ({'folder/a.csv'}, {'folder/b.csv'})
    """
    found = {id(n): f"{n.left.id}/{n.right.value}" for n in ast.walk(node) if _is_file(n)}
    calls = [
        n for n in ast.walk(node) if isinstance(n, ast.Call) and WRITES.match(ast.unparse(n.func).rpartition(".")[2])
    ]
    written = {id(part) for call in calls for part in ast.walk(call)}
    return {n for k, n in found.items() if k in written}, {n for k, n in found.items() if k not in written}


def _is_file(n: ast.AST) -> bool:
    whole = isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div) and isinstance(n.left, ast.Name)
    return whole and isinstance(n.right, ast.Constant) and isinstance(n.right.value, str)


class Flow:
    """Names that statements read from outside, surely bind and perhaps bind, in the order in which they run."""

    def __init__(self, bound: set[str] = frozenset()):
        self.bound, self.maybe, self.free = set(bound), set(), set()

    def run(self, body: list[ast.stmt]) -> Flow:
        for node in body:
            self.statement(node)
        return self

    def read(self, node: ast.AST | None) -> None:
        """An expression: reads first, then what `:=` binds."""
        if node is None:
            return
        self.free |= names(node) - self.bound
        self.bound |= {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}

    def bind(self, target: ast.AST) -> None:
        if isinstance(target, ast.Name):
            self.bound.add(target.id)
        elif isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self.bind(part)
        elif isinstance(target, ast.Starred):
            self.bind(target.value)
        else:  # x[i], x.y: the object must be there
            self.read(target)

    def branch(self, *bodies: list[ast.stmt], all_of_them: bool) -> None:
        """Bodies of which one runs (`all_of_them`: surely one of these), or perhaps none."""
        ends = []
        for body in bodies:
            inside = Flow(self.bound).run(body)
            self.free |= inside.free
            self.maybe |= inside.maybe | inside.bound - self.bound
            ends.append(inside.bound)
        if all_of_them:
            self.bound |= set.intersection(*ends)

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            for part in [
                *node.decorator_list,
                *(node.args.defaults if isinstance(node, ast.FunctionDef) else node.bases),
            ]:
                self.read(part)
            self.free |= names(node) - self.bound
            self.bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self.bound |= ex.changes(node)
        elif isinstance(node, ast.Assign):
            self.read(node.value)
            for target in node.targets:
                self.bind(target)
        elif isinstance(node, ast.AnnAssign):
            self.read(node.value)
            if node.value:
                self.bind(node.target)
        elif isinstance(node, ast.AugAssign):
            self.read(node.value)
            self.read(ast.parse(ast.unparse(node.target), mode="eval"))
            self.maybe |= ex.changes(node)
        elif isinstance(node, ast.For):
            self.read(node.iter)
            inside = Flow(self.bound)
            inside.bind(node.target)
            inside.run(node.body)
            self.free |= inside.free
            self.maybe |= inside.maybe | inside.bound - self.bound
            self.branch(node.orelse, all_of_them=True)
        elif isinstance(node, ast.While):
            self.read(node.test)
            self.branch(node.body, node.orelse, all_of_them=False)
        elif isinstance(node, ast.If):
            self.read(node.test)
            self.branch(node.body, node.orelse, all_of_them=True)
        elif isinstance(node, ast.With):
            for item in node.items:
                self.read(item.context_expr)
                if item.optional_vars:
                    self.bind(item.optional_vars)
            self.run(node.body)
        elif isinstance(node, ast.Try):
            self.branch(node.body, node.orelse, all_of_them=False)
            for handler in node.handlers:
                self.read(handler.type)
                inside = Flow(self.bound | ({handler.name} if handler.name else set())).run(handler.body)
                self.free |= inside.free
                self.maybe |= inside.maybe | inside.bound - self.bound - {handler.name}
            self.run(node.finalbody)
        else:
            for child in ast.iter_child_nodes(node):
                self.read(child)


def names(node: ast.AST) -> set[str]:
    """Names that an expression or a definition reads from outside itself; those of its own scopes are left out.

    >>> sorted(names(ast.parse("[x + y for x in z if (lambda t: t + u)(x)]", mode="eval")))
    ['u', 'y', 'z']
    """
    if isinstance(node, ast.FunctionDef | ast.Lambda | ast.AsyncFunctionDef):
        arguments = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        body = node.body if isinstance(node.body, list) else [ast.Expr(node.body)]
        inside = Flow(arguments).run(body)
        defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        return inside.free - _locals(body) | {n for d in defaults for n in names(d)}
    if isinstance(node, ast.ClassDef):
        return Flow().run(node.body).free
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        own, free = {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}, set()
        for g in node.generators:
            free |= names(g.iter) - own
            own |= {n.id for n in ast.walk(g.target) if isinstance(n, ast.Name)}
            for condition in g.ifs:
                free |= names(condition) - own
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return free | {n for part in parts for n in names(part)} - own
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Store) or hasattr(builtins, node.id) else {node.id}
    return {n for child in ast.iter_child_nodes(node) for n in names(child)}


def _locals(body: list[ast.stmt]) -> set[str]:
    """Names that a function binds and so has of its own."""
    flow = Flow().run(body)
    return flow.bound | flow.maybe


@dataclass
class Exercise:
    """An exercise of a chapter: its text, the code of its solution, the words of its solution."""

    label: str
    number: str
    text: str
    code: str
    words: str
    statements: list[Statement]


class Chapter:
    """The statements and exercises of a page."""

    def __init__(self, path: Path):
        self.path, self.text = path, path.read_text("utf-8")
        number = ex.numbering.chapters().get(path.relative_to(ex.BOOK.parent).with_suffix("").as_posix())
        numbers = ex.numbering.exercises(self.text, number or path.stem)  # two pages have no number
        self.statements: list[Statement] = []
        self.exercises: list[Exercise] = []
        starts = list(
            re.finditer(
                ex.FENCE + r"\{exercise-start\}[^\n]*\n:label: (?P<label>\S+)\n.*?^(?P=fence)$", self.text, re.M | re.S
            )
        )
        solutions = list(ex.SOLUTION.finditer(self.text))
        if len(starts) != len(solutions):
            raise ValueError(f"{path.name}: {len(starts)} exercises and {len(solutions)} solutions")
        for start, found in zip(starts, solutions, strict=True):
            asked = self.text[start.end() : found.start()]
            asked = re.split(ex.FENCE + r"\{exercise-end\}", asked, flags=re.M)[0]
            code = "\n".join(c["code"].rstrip("\n") + "\n" for c in ex.CELL.finditer(found["body"]))
            words = ex.CELL.sub("", found["body"]).strip()
            self.exercises.append(Exercise(start["label"], numbers[start["label"]], asked.strip(), code, words, []))
        inside = [(m.start(), m.end()) for m in solutions]
        for n, cell in enumerate(ex.CELL.finditer(self.text)):
            of = next((k for k, (a, b) in enumerate(inside) if a <= cell.start() < b), None)
            for node in ast.parse(cell["code"]).body:
                s = Statement(ex.lines(cell["code"], node), node, n, of)
                self.statements.append(s)
                if of is not None:
                    self.exercises[of].statements.append(s)
        self._generators()

    def _generators(self) -> None:
        """A random generator is changed by whatever mentions it, functions that mention it included."""
        made = {
            n
            for s in self.statements
            if isinstance(s.node, ast.Assign)
            and "default_rng(" in s.source
            and "default_rng(" in ast.unparse(s.node.value)
            for n in s.binds
            if re.fullmatch(r".*\.default_rng\([^()]*\)", ast.unparse(s.node.value))
        }
        for s in self.statements:
            if not isinstance(s.node, ast.FunctionDef):
                s.changes |= made & self.closure(s.needs)

    @functools.cached_property
    def _functions(self) -> dict[str, set[str]]:
        """What functions of the chapter read from outside when they are called."""
        found: dict[str, set[str]] = {}
        for s in self.statements:
            lambdas = isinstance(s.node, ast.Assign) and any(isinstance(n, ast.Lambda) for n in ast.walk(s.node))
            if isinstance(s.node, ast.FunctionDef | ast.ClassDef) or lambdas:
                for name in s.binds:
                    found.setdefault(name, set()).update(s.needs)
        return found

    def closure(self, needed: set[str]) -> set[str]:
        """Names with all that their functions read."""
        out, todo = set(), set(needed)
        while todo:
            name = todo.pop()
            out.add(name)
            todo |= self._functions.get(name, set()) - out
        return out

    def mentioned(self, exercise: Exercise) -> set[str]:
        """Functions of the chapter that the text of an exercise names; other words in code may be labels of tables."""
        kinds = ast.Import | ast.ImportFrom | ast.FunctionDef
        bound = {n for s in self.statements if s.exercise is None and isinstance(s.node, kinds) for n in s.binds}
        code = re.findall(r"(?<![}`])`([^`\n]+)`", re.sub(r"\{[\w:-]+\}`[^`]*`", "", exercise.text))
        return {n for piece in code for n in re.findall(r"[^\W\d]\w*", piece)} & bound

    def slice(self, exercise: int, names: set[str]) -> list[Statement]:
        """Statements before the solution of an exercise that make these names, in order; some may be of earlier solutions."""
        own = self.exercises[exercise].statements
        return self._back(self.statements[: self.statements.index(own[0])], names)

    def core(self, exercise: int, names: set[str]) -> list[Statement]:
        """Statements of the solution of an exercise that make these names."""
        return self._back(self.exercises[exercise].statements, names)

    def _back(self, statements: list[Statement], names: set[str]) -> list[Statement]:
        needed, out = self.closure(names), []
        for s in reversed(statements):
            if bookkeeping(s) or isinstance(s.node, ast.Assert) or not s.changes & needed:
                continue
            out.append(s)
            needed -= s.binds - s.needs
            needed |= self.closure(s.needs)
        return out[::-1]


def reads(statements: list[Statement]) -> set[str]:
    """Names that statements, run in order, need from before; what only tells the book a number is left out."""
    needed: set[str] = set()
    for s in reversed([s for s in statements if not bookkeeping(s)]):
        needed = needed - s.binds | s.needs
    return needed


def bookkeeping(s: Statement) -> bool:
    """Whether a statement only records a number for the book's text, or shows a figure."""
    call = s.node.value if isinstance(s.node, ast.Expr) else None
    return isinstance(call, ast.Call) and (ast.unparse(call.func) in BOOKKEEPING or ast.unparse(call) == "plt.show()")


def used(s: Statement, needed: set[str]) -> str:
    """The source of a statement; of an import, only the names that are needed.

    >>> used(Statement("from a import b, c as d", ast.parse("from a import b, c as d").body[0], 0, None), {"d"})
    'from a import c as d'
    """
    if not isinstance(s.node, ast.Import | ast.ImportFrom):
        return s.source
    kept = [a for a in s.node.names if (a.asname or a.name).split(".")[0] in needed]
    node = ast.Import(kept) if isinstance(s.node, ast.Import) else ast.ImportFrom(s.node.module, kept, s.node.level)
    return ast.unparse(node)


@functools.cache
def chapter(path: Path) -> Chapter:
    return Chapter(path)
