"""Student notebooks: the chapters with their solutions cut out and their checks left in.

    python book/exercises.py [--check]        writes _build/exercises/<part>/<chapter>.ipynb

A solution's code is divided into *work* and *checks*, by these rules.

1. An `assert` at the top level is a check. So is a `for` or `if` with asserts inside, cut down to the asserts and to the plain
   assignments they need. If they need more than that (a nested loop, say), they are part of the work.
2. Everything else is work, and the student does not see it, except imports, which are given.
3. Work comes before checks. Where later work would change a name that an earlier check reads, a new stage begins, so that each
   check still runs between the same statements.
4. The student's cell lists, as `name = ...`, the names that the checks read and the cut-out work defines.

Nothing is written for students alone: what a notebook checks is what the book asserts, so the two cannot drift apart. `--check` runs
every notebook: each check must fail on the unfilled cell, if it lists a name, and pass once the work is put back.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import builtins
import re
from dataclasses import dataclass, field
from pathlib import Path

import execute
import jupytext
import nbformat
import numbering

BOOK = Path(__file__).parent
OUT = BOOK.parent / "_build/exercises"
FENCE = r"^(?P<fence>`{3,}|:{3,})"
SOLUTION = re.compile(
    FENCE + r"\{solution-start\}[^\n]*\n.*?^(?P=fence)\n(?P<body>.*?)^(?P=fence)\{solution-end\}\n(?P=fence)$",
    re.M | re.S,
)
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(?:---\n.*?^---\n|(?::\w+:[^\n]*\n)*)(?P<code>.*?)^```$", re.M | re.S)
MUTATORS = {
    "add",
    "append",
    "clear",
    "discard",
    "extend",
    "insert",
    "pop",
    "remove",
    "reverse",
    "setdefault",
    "sort",
    "update",
}
HOW_TO = """\
> **Student notebook.** Run the cells from the top. At the end are the exercises: replace each `...` by your answer, then run the cell below it. It
> checks you and says nothing if all is well; do not change it, but read it: it shows what it expects of each name. Sentences with a word in `code` where you would expect a number
> mean the value that a cell computes. Needs the `whichbird` package: run `make lab` once, then open this file with `.venv/bin/jupyter lab`.
> Solutions are in the book, folded away below each exercise."""


@dataclass
class Stage:
    """A blank to fill and the checks that follow it, as lists of source texts."""

    work: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)  # imports
    checks: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # what the checks expect the student to define
    shapes: dict[str, str] = field(default_factory=dict)

    def blank(self) -> str:
        lines = [self.shapes.get(n, f"{n} = ...") for n in self.names]
        return "\n".join([*self.given, "# Your answer" + (": replace each ..." if lines else ""), *lines])


def stages(code: str, elsewhere: set[str] = frozenset()) -> list[Stage]:
    """Divide a solution. `elsewhere` are names whose values come from the work of an earlier solution, which did not list them.

    >>> [s] = stages("x = 3\\nassert x > 2\\nx")
    >>> s.blank()
    '# Your answer: replace each ...\\nx = ...'
    >>> s.work, s.checks
    (['x = 3', 'x'], ['assert x > 2'])
    """
    out, pending = [Stage()], set()
    bound = dict.fromkeys(sorted(elsewhere))  # names that are work's, in the order of definition
    for node in ast.parse(code).body:
        source = _lines(code, node)
        check = _check(code, node)
        rest = None if isinstance(node, ast.Assert) else source if check is None else _without_asserts(node)
        if rest is not None and changes(node) & pending:
            out, pending = [*out, Stage()], set()
        here = out[-1]
        if isinstance(node, ast.Import | ast.ImportFrom):
            here.given.append(source)
        elif rest is not None:
            here.work.append(rest)
            bound |= dict.fromkeys(sorted(changes(node), key=source.find))
            here.shapes.update(_shape(node))
        if check is not None:
            here.checks.append(check)
            pending |= set(reads(check))
            new = {n for p in _parse(here.work) for n in changes(p)} | bound.keys() - {
                n for s in out[:-1] for n in s.names
            }
            here.names = [n for n in bound if n in pending & new]
    return out


def _parse(texts):
    return [node for text in texts for node in ast.parse(text).body]


def _lines(code, node):
    """Whole source lines of a statement, so that the comments on them stay."""
    return "\n".join(code.splitlines()[_first(node) - 1 : node.end_lineno])


def _first(node):
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])


def _check(code, node) -> str | None:
    """The part of a top-level statement that checks, or None."""
    if isinstance(node, ast.Assert):
        return _lines(code, node)
    if not (isinstance(node, ast.For | ast.If) and any(isinstance(n, ast.Assert) for n in ast.walk(node))):
        return None
    own = {t for n in ast.walk(node) if isinstance(n, ast.For) for t in _targets(n.target)}
    needed = {n for a in ast.walk(node) if isinstance(a, ast.Assert) for n in reads(a)} | {
        n for h in _headers(node) for n in reads(h)
    }
    plain, other = {}, set()
    for n in _inside(node):
        names = changes(n)
        if isinstance(n, ast.Assign) and all(isinstance(t, ast.Name | ast.Tuple) for t in n.targets):
            for name in names:
                plain.setdefault(name, []).append(n)
        elif not isinstance(n, ast.Assert | ast.For | ast.If):
            other |= names
    keep = set()
    while True:
        new = {id(n): n for name in needed & plain.keys() for n in plain[name] if id(n) not in keep}
        if not new:
            break
        keep |= new.keys()
        needed |= {name for n in new.values() for name in reads(n.value)}
    shared = needed & other & plain.keys()
    nested = {t for n in _inside(node) if isinstance(n, ast.For) and not _asserts(n) for t in changes(n)}
    if (
        shared
        or nested & needed - own
        or any(isinstance(n, ast.Try | ast.While | ast.With) and _asserts(n) for n in _inside(node))
    ):
        return None
    dropped = [
        n
        for n in _inside(node)
        if not isinstance(n, ast.Assert) and id(n) not in keep and not (isinstance(n, ast.For | ast.If) and _asserts(n))
    ]
    gone = {line for n in dropped for line in range(n.lineno, n.end_lineno + 1)}
    kept = [
        text
        for line, text in enumerate(code.splitlines(), 1)
        if node.lineno <= line <= node.end_lineno and line not in gone and not text.lstrip().startswith("#")
    ]
    return "\n".join(kept)


def _asserts(node):
    return any(isinstance(n, ast.Assert) for n in ast.walk(node))


def _headers(node):
    for n in [node, *_inside(node)]:
        if isinstance(n, ast.For) and _asserts(n):
            yield n.iter
        elif isinstance(n, ast.If) and _asserts(n):
            yield n.test


def _inside(node):
    """All statements in a compound statement, at any depth."""
    for name in ("body", "orelse", "finalbody"):
        for child in getattr(node, name, []):
            yield child
            yield from _inside(child)
    for handler in getattr(node, "handlers", []):
        yield from _inside(handler)


def _without_asserts(node) -> str | None:
    class Strip(ast.NodeTransformer):
        def visit_Assert(self, node):
            return None

        def generic_visit(self, node):
            super().generic_visit(node)
            if isinstance(node, ast.For | ast.If) and not node.body:
                return None
            return node

    stripped = Strip().visit(ast.parse(ast.unparse(node)))
    return ast.unparse(stripped) or None


def _targets(target):
    return {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}


def changes(node) -> set[str]:
    """Names that a statement binds at the top level, or whose object it changes: x = …, x[i] = …, x.append(…)."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(a.asname or a.name).split(".")[0] for a in node.names}
    found = set()
    for n in [node, *_inside(node)]:
        if isinstance(n, ast.FunctionDef | ast.ClassDef):
            found.add(n.name)
        targets = (
            n.targets
            if isinstance(n, ast.Assign)
            else [n.target]
            if isinstance(n, ast.AugAssign | ast.AnnAssign | ast.For)
            else []
        )
        if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) and isinstance(n.value.func, ast.Attribute):
            targets = [n.value.func] if n.value.func.attr in MUTATORS else []
        for t in targets:
            for part in t.elts if isinstance(t, ast.Tuple | ast.List) else [t]:
                while isinstance(part, ast.Subscript | ast.Attribute | ast.Starred):
                    part = part.value
                found |= _targets(part) if isinstance(part, ast.Name | ast.Tuple | ast.List) else set()
    return found


def reads(code) -> list[str]:
    """Names that code reads from outside itself, in order of appearance."""
    tree = ast.parse(code) if isinstance(code, str) else code
    nodes = list(ast.walk(tree))
    own = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} | {
        n.arg for n in nodes if isinstance(n, ast.arg)
    }
    names = [n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id not in own]
    names.sort(key=lambda n: (n.lineno, n.col_offset))
    return list(dict.fromkeys(n.id for n in names if not hasattr(builtins, n.id)))


def _shape(node) -> dict[str, str]:
    """How a blank shows a function that is to be written."""
    if isinstance(node, ast.FunctionDef):
        return {node.name: f"def {node.name}({ast.unparse(node.args)}):\n    ..."}
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda) and isinstance(node.targets[0], ast.Name):
        return {node.targets[0].id: f"{node.targets[0].id} = lambda {ast.unparse(node.value.args)}: ..."}
    return {}


def solutions(text: str) -> list[list[Stage]]:
    """The divided solutions of a chapter, in order."""
    elsewhere, out, at = set(), [], 0
    for match in SOLUTION.finditer(text):
        elsewhere -= {
            n for c in CELL.finditer(text[at : match.start()]) for node in _parse([c["code"]]) for n in changes(node)
        }
        at = match.end()
        out.append(stages("\n".join(c["code"] for c in CELL.finditer(match["body"])), elsewhere))
        listed = {n for s in out[-1] for n in s.names}
        worked = {n for s in out[-1] for node in _parse(s.work) for n in changes(node)}
        elsewhere = (elsewhere | worked) - listed
    return out


def student(path: Path):
    """The student notebook of a chapter. Cells with the tag `blank` or `check` carry the number of their exercise and stage."""
    text = path.read_text("utf-8")
    divided = solutions(text)
    numbers = iter(range(len(divided)))

    def cut(_):
        n = next(numbers)
        cells = []
        for k, s in enumerate(divided[n]):
            for kind, code in (("blank", s.blank()), ("check", "\n".join(s.checks))):
                if code:
                    cells.append(f"```{{code-cell}} ipython3\n:tags: [{kind}, stage-{n}-{k}]\n{code}\n```")
        return "\n\n".join(cells)

    notebook = jupytext.reads(SOLUTION.sub(cut, text), fmt="md:myst")
    names = Names(path)
    cells, figure = [], 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = names.plain(cell.source)
            cells += [cell] if cell.source else []
            continue
        tags = [t for t in cell.metadata.get("tags", []) if t != "lesson" and not t.startswith(("hide-", "remove-"))]
        caption = cell.metadata.get("mystnb", {}).get("figure", {}).get("caption")
        cell.metadata = {"tags": tags} if tags else {}
        cells.append(cell)
        if caption:
            figure += 1
            cells.append(nbformat.v4.new_markdown_cell(names.plain(f"**Figure {figure}.** {caption}")))
    _, _, rest = cells[0].source.partition("\n")
    cells[0].source = f"# {names.titles[path]}\n\n{HOW_TO}\n{rest}".rstrip()
    notebook.cells = cells
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"]}
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # the same source gives the same file
    return notebook


class Names:
    """Turns MyST that Jupyter does not know into plain Markdown, with readable words for references."""

    KIND = re.compile(r"\{prf:(\w+)\}\s*(.*)")

    def __init__(self, path: Path):
        self.path = path
        self.titles, self.labels = {}, {}
        numbers = numbering.chapters()
        for page in sorted(BOOK.rglob("*.md")):
            text = page.read_text("utf-8")
            number = numbers.get(page.relative_to(BOOK.parent).with_suffix("").as_posix())
            title = " ".join(filter(None, [number, re.search(r"^# (.+)$", text, re.M)[1]]))
            self.titles[page] = title
            at = "" if page == path else f" of “{title}”"
            for kind, words, label in re.findall(r"^`{3,}\{prf:(\w+)\}(.*)\n:label: (\S+)", text, re.M):
                self.labels[label] = f"the {kind} “{words.strip()}”{at}" if words.strip() else f"a {kind}{at}"
            for n, label in enumerate(re.findall(r"^    name: (\S+)$", text, re.M), 1):
                self.labels[label] = f"figure {n}{at}"
            exercises = numbering.exercises(text, number)
            self.labels |= {label: f"exercise {n}" for label, n in exercises.items()}
            if page == path:
                self.exercises = exercises
            for label, words in re.findall(r"^\(([\w-]+)\)=\n+#+ (.+)$", text, re.M):
                self.labels[label] = f"“{words}”{at}"

    def plain(self, text: str) -> str:
        text = re.sub(
            FENCE + r"\{exercise-start\}[^\n]*\n:label: (\S+)\n.*?^(?P=fence)$",
            lambda m: f"**Exercise {self.exercises[m[2]]}**\n",
            text,
            flags=re.M | re.S,
        )
        text = re.sub(FENCE + r"\{(?:exercise|solution)-end\}\n(?P=fence)$", "", text, flags=re.M)
        text = re.sub(FENCE + r"\{([\w:-]+)\}[ ]*([^\n]*)\n((?::[\w-]+:[^\n]*\n)*)", self._open, text, flags=re.M)
        text = re.sub(r"^(`{4,}|:{3,})$", "", text, flags=re.M)
        text = re.sub(r"^\([\w-]+\)=$", "", text, flags=re.M)
        text = re.sub(r"\{([\w:-]+)\}`([^`]+)`", self._role, text)
        return re.sub(r"\n{3,}", "\n\n", text).strip()

    @staticmethod
    def _open(match):
        kind, words = match[2], match[3].strip()
        if kind.startswith("prf:"):
            name = kind[4:].capitalize()
            return f"**{name}{f' ({words})' if words else ''}.**\n"
        return "" if kind == "div" else f"**{words}**\n" if words else ""

    def _role(self, match):
        role, body = match[1], " ".join(match[2].split())
        shown = re.fullmatch(r"(.+?)\s*<([^<>]+)>", body)
        words, target = shown.groups() if shown else (None, body)
        if role == "math":
            return f"${body}$"
        if role.startswith("glue"):
            return f"`{target}`"
        if role.startswith("cite"):
            return ", ".join(_cited(key.strip(), role) for key in target.split(","))
        if role == "nb-download":
            return ""
        if role == "doc":
            return words or f"“{self.titles.get((self.path.parent / f'{target}.md').resolve(), target)}”"
        return words or self.labels.get(target, target)


def _cited(key, role):
    if not _cited.bibliography:
        from pybtex.database import parse_file

        _cited.bibliography = parse_file(str(BOOK / "references.bib")).entries
    entry = _cited.bibliography[key]
    people = [" ".join(p.prelast_names + p.last_names) for p in entry.persons.get("author", [])]
    who = (
        people[0] + (" et al." if len(people) > 2 else f" and {people[1]}" if len(people) == 2 else "")
        if people
        else key
    )
    year = entry.fields.get("year", "")
    return (
        f"{who} ({year})" if role.endswith(":t") else f"{who}, {year}" if role.endswith("alp") else f"({who}, {year})"
    )


_cited.bibliography = {}


def chapters() -> list[Path]:
    """Pages with an exercise."""
    return [p for p in sorted(BOOK.rglob("*.md")) if SOLUTION.search(p.read_text("utf-8"))]


def trial(path: Path):
    """A notebook that tries a student notebook out: every blank first left empty, then filled with the work that was cut out.

    Where the blank lists a name, the check below it must fail on the empty one; the tag `raises-exception` says so.
    """
    divided, notebook = solutions(path.read_text("utf-8")), student(path)
    code, cells = nbformat.v4.new_code_cell, []
    stage = None
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if "blank" in tags:
            n, k = map(int, tags[1].split("-")[1:])
            stage = divided[n][k]
            empty = code(cell.source)
            if stage.names:
                cells += [code("__before = dict(globals())"), empty]
            else:
                cells.append(empty)
            if not stage.checks:
                cells.append(code("\n".join(stage.work)))
        elif "check" in tags:
            if stage.names:
                cells += [
                    code(cell.source, metadata={"tags": ["raises-exception"]}),
                    code("globals().update(__before)"),
                ]
            cells += [code("\n".join([*stage.given, *stage.work])), cell]
        elif cell.cell_type == "code":
            cells.append(cell)
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    notebook.cells = cells
    return notebook


def run(path: Path) -> None:
    """Execute a trial. Raises if a cell fails that should not, or passes that should not."""
    notebook = trial(path)
    asyncio.run(execute.run_notebook(notebook, path.parent))
    for cell in notebook.cells:
        if "raises-exception" in cell.metadata.get("tags", []) and not any(
            o.output_type == "error" for o in cell.outputs
        ):
            raise AssertionError(f"{path.name}: a check passes although nothing was filled in:\n{cell.source}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Make student notebooks from the chapters.")
    parser.add_argument(
        "--check", action="store_true", help="also run every notebook, empty and filled in (some minutes)"
    )
    check = parser.parse_args().check
    for path in chapters():
        target = OUT / path.relative_to(BOOK).with_suffix(".ipynb")
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(student(path), target)
    if check:
        from tqdm import tqdm

        for path in tqdm(chapters(), unit="notebook", disable=None):
            run(path)
        print("Every check fails on an empty answer and passes with the book's.")
    print(
        f"{len(chapters())} student notebooks are in {OUT.relative_to(BOOK.parent)}; open them with .venv/bin/jupyter lab _build/exercises"
    )


if __name__ == "__main__":
    main()
