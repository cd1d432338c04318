"""Exercises of the book: where they stand in a chapter, what a statement of their code changes, and their text as plain Markdown.

`book/course` makes notebooks and checks of them.
"""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import execute
import numbering

BOOK = Path(__file__).parent
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


def lines(code, node):
    """Whole source lines of a statement, so that the comments on them stay."""
    return "\n".join(code.splitlines()[_first(node) - 1 : node.end_lineno])


def _first(node):
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])


def has_asserts(node):
    return any(isinstance(n, ast.Assert) for n in ast.walk(node))


def _inside(node):
    """All statements in a compound statement, at any depth."""
    for name in ("body", "orelse", "finalbody"):
        for child in getattr(node, name, []):
            yield child
            yield from _inside(child)
    for handler in getattr(node, "handlers", []):
        yield from _inside(handler)


def without_asserts(node) -> str | None:
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


def shape(node) -> dict[str, str]:
    """How a blank shows a function that is to be written."""
    if isinstance(node, ast.FunctionDef):
        return {node.name: f"def {node.name}({ast.unparse(node.args)}):\n    ..."}
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda) and isinstance(node.targets[0], ast.Name):
        return {node.targets[0].id: f"{node.targets[0].id} = lambda {ast.unparse(node.value.args)}: ..."}
    return {}


@functools.cache
def _marks(text: str) -> tuple[dict, dict, str, list, list, list]:
    """What a page can be asked for: bodies of theorems and the like, equations, its title, theorems, figures, sections. Every notebook asks every page."""
    bodies = re.findall(r"^(`{3,}|:{3,})\{prf:\w+\}[^\n]*\n:label: (\S+)\n(.*?)^\1$", text, re.M | re.S)
    return (
        {label: body.strip() for _, label, body in bodies},
        {
            label: " ".join(tex.split())
            for tex, label in re.findall(r"\$\$((?:(?!\$\$).)+)\$\$ \(([\w-]+)\)", text, re.S)
        },
        re.search(r"^# (.+)$", text, re.M)[1],
        re.findall(r"^`{3,}\{prf:(\w+)\}(.*)\n:label: (\S+)", text, re.M),
        re.findall(r"^    name: (\S+)$", text, re.M),
        re.findall(r"^\(([\w-]+)\)=\n+#+ (.+)$", text, re.M),
    )


class Names:
    """Turns MyST that Jupyter does not know into plain Markdown, with readable words for references."""

    KIND = re.compile(r"\{prf:(\w+)\}\s*(.*)")

    def __init__(self, path: Path):
        self.path = path
        self.titles, self.labels, self.bodies, self.equations, self.kinds = {}, {}, {}, {}, {}
        numbers = numbering.chapters()
        for page in execute.pages():
            if page.is_relative_to(execute.BOOK / "course"):
                continue  # slides and handouts are no pages of the book
            text = page.read_text("utf-8")
            number = numbers.get(page.relative_to(execute.ROOT).with_suffix("").as_posix())
            bodies, equations, heading, statements, figures, sections = _marks(text)
            self.bodies |= bodies
            self.equations |= equations
            title = " ".join(filter(None, [number, heading]))
            self.titles[page] = title
            at = "" if page == path else f" of “{title}”"
            for kind, words, label in statements:
                self.labels[label] = f"the {kind} “{words.strip()}”{at}" if words.strip() else f"a {kind}{at}"
                self.kinds[label] = f"**{kind.capitalize()}{f' ({words.strip()})' if words.strip() else ''}.**"
            for n, label in enumerate(figures, 1):
                self.labels[label] = f"figure {n} of the page “{title}”"
            exercises = numbering.exercises(text, number)
            self.labels |= {label: f"exercise {n}" for label, n in exercises.items()}
            if page == path:
                self.exercises = exercises
            for label, words in sections:
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
        text = re.sub(r"(\$\$) \([\w-]+\)$", r"\1", text, flags=re.M)
        text = re.sub(r"\{([\w:-]+)\}`([^`]+)`", self._role, text)
        return re.sub(r"\n{3,}", "\n\n", text).strip()

    def statements(self, text: str) -> list[str]:
        """The theorems, definitions and algorithms that a text refers to, in full, as quotations: where it is read the page is not at hand."""
        found = dict.fromkeys(re.findall(r"\{prf:ref\}`(?:[^`<]*<)?([\w-]+)>?`", text))
        quoted = []
        for label in found:
            body = self.plain(f"{self.kinds[label]} {self.bodies[label]}")
            quoted.append("\n".join(f"> {line}".rstrip() for line in body.splitlines()))
        return quoted

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
        if role == "eq":
            return f"${self.equations[target].rstrip(' .,')}$"
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
    return [p for p in execute.pages() if SOLUTION.search(p.read_text("utf-8"))]
