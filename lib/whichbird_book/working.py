"""What a working copy of a chapter does in the kernel: checks become questions, and sentences are said again with the reader's numbers.

The first cell of a copy calls `begin` with the chapter's parameters as the book has them. While they are the book's, `assert` is `assert`. While one differs,
a check that fails is listed under its cell, and the cell goes on. What a check does is decided when it runs, not when it is read: a function that was defined
while checks were soft is strict again with the book's parameters, and a cell that changes a parameter asks its own checks softly. A cell whose first line is
`THEOREM` checks what holds for every dataset: there a failure always stops.

What a cell glues is compared with what the book printed. A sentence in which a number changed is shown under the cell, the old number struck out, the new one bold.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from whichbird._version import __version__
from whichbird.core.balance import reachable
from whichbird.data.digest import datasets, load
from whichbird.study.contest import need_aspects

from . import kit

THEOREM = "# What is checked here holds for every dataset: a failure stops the chapter, whatever you change."
FOUND = "application/vnd.whichbird.checks+json"  # what was found, as data for `make vary`
SELF = "_whichbird_copy"  # the name of the copy in the kernel
BALANCES = ("BETA", "LOW", "HIGH")
LONGEST = 160  # characters of a check that are shown
KEY = re.compile(r"⟦([^⟧]+)⟧")  # a glued number in a sentence


class ParameterError(ValueError):
    """A parameter that no chapter can use. A notebook shows the sentence alone."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def wrong(values: Mapping[str, Any]) -> str:
    """One sentence on a parameter that cannot be used, or nothing.

    >>> wrong({"DATASET": "zhen23", "LOW": 0.5}), wrong({"DATASET": "ende24", "BETA": 2})
    ('', 'BETA = 2 cannot be reached in ende24: a balance there is above 0.007 and below 1.000.')
    >>> print(wrong({"DATASET": "heen23"}))
    DATASET = 'heen23' has no scores for adequacy and fluency, and so no balance; take one of ...
    >>> print(wrong({"DATASET": "ende24", "SCORER": "BLEURT-99"}))
    SCORER = 'BLEURT-99' is no scorer of ende24; it has ...
    """
    usable, every = datasets(aspects=True), datasets()
    for name, value in values.items():
        if name.startswith("DATASET"):
            for one in value if isinstance(value, tuple | list) else [value]:
                if one not in usable:
                    why = (
                        "has no scores for adequacy and fluency, and so no balance" if one in every else "is no dataset"
                    )
                    return f"{name} = {one!r} {why}; take one of {kit.listed(usable)}."
    if "DATASET" in values:
        d = load(values["DATASET"])
        low, high = reachable(*need_aspects(d))
        for name, value in values.items():
            if name in BALANCES and not (isinstance(value, int | float) and low < value < high):
                return f"{name} = {value!r} cannot be reached in {d.name}: a balance there is above {low:.3f} and below {high:.3f}."
            if name.startswith("SCORER") and value not in d.scorers:
                return f"{name} = {value!r} is no scorer of {d.name}; it has {kit.listed(d.scorers)}."
    return ""


@dataclass
class Check:
    """An assert statement, and what came of it since the cell began that runs now."""

    text: str
    hard: bool
    held: int = 0
    failed: int = 0
    error: str = ""

    def line(self) -> str:
        """What is shown of a check that failed.

        >>> Check("a < b", False, held=2, failed=1).line()
        '`a < b` (1 of 3 times)'
        """
        text = self.text if len(self.text) <= LONGEST else f"{self.text[:LONGEST]} …"
        often = f" ({self.failed} of {self.held + self.failed} times)" if self.held + self.failed > 1 else ""
        return f"`{text.replace('`', '′')}`{often}" + (f", which cannot be asked: {self.error}" if self.error else "")


@dataclass(eq=False, repr=False)
class Copy(ast.NodeTransformer):
    """A chapter at work: its parameters and its numbers as the book has them, and the names of the kernel."""

    parameters: dict[str, Any]
    said: dict[str, str] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)
    hard: bool = False  # whether the cell that runs now checks a theorem
    checks: list[Check] = field(default_factory=list)
    heard: dict[str, str] = field(default_factory=dict)  # what was glued so far
    fresh: set[str] = field(default_factory=set)  # what the cell that runs now glued

    def changed(self) -> dict[str, Any]:
        """Parameters that differ from the book's, with their values.

        >>> Copy({"DATASET": "ende24", "LOW": 0.5}, names={"DATASET": "zhen23", "LOW": 0.5}).changed()
        {'DATASET': 'zhen23'}
        """
        now = {name: self.names.get(name, value) for name, value in self.parameters.items()}
        return {name: value for name, value in now.items() if value != self.parameters[name]}

    # Code

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        """`assert test` becomes `assert copy.asked(number, lambda: test)`; a name that the test binds needs it where it is."""
        self.checks.append(Check(ast.unparse(node.test), self.hard))
        test: ast.expr = node.test
        if not any(isinstance(part, ast.NamedExpr | ast.Await) for part in ast.walk(test)):
            empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
            test = ast.Lambda(args=empty, body=test)
        asked = ast.Attribute(ast.Name(SELF, ast.Load()), "asked", ast.Load())
        call = ast.Call(asked, [ast.Constant(len(self.checks) - 1), test], [])
        new = ast.copy_location(ast.Assert(call, node.msg), node)
        return ast.fix_missing_locations(new)

    def visit_Module(self, node: ast.Module) -> ast.Module:
        """A cell that sets a parameter looks at all of them when it is done; a value that it ends with is still shown."""
        self.generic_visit(node)
        names = (
            n for top in node.body if isinstance(top, ast.Assign) for n in ast.walk(top) if isinstance(n, ast.Name)
        )
        if {n.id for n in names if isinstance(n.ctx, ast.Store)} & set(self.parameters):
            shown = isinstance(node.body[-1], ast.Expr)
            node.body.insert(len(node.body) - shown, ast.parse(f"{SELF}.look()").body[0])
        return node

    def look(self) -> None:
        now, changed = {name: self.names.get(name, value) for name, value in self.parameters.items()}, self.changed()
        # a scorer of the book's that another dataset lacks is replaced; one that the reader names must be there
        sentence = wrong({n: value for n, value in now.items() if n in changed or not n.startswith("SCORER")})
        if sentence:
            raise ParameterError(sentence)

    def asked(self, number: int, test: Any) -> bool:
        """Whether an assert may go on."""
        check = self.checks[number]
        soft = not check.hard and bool(self.changed())
        try:
            holds = bool(test() if isinstance(test, type(lambda: 0)) else test)
        except Exception as error:
            if not soft:
                raise
            holds, check.error = False, f"{type(error).__name__}: {error}"
        check.held += holds
        check.failed += not holds
        return holds or soft

    # Words

    def hear(self, key: str, text: str) -> None:
        self.heard[key] = text
        self.fresh.add(key)

    def retold(self) -> list[str]:
        """Sentences whose last number the cell gave, if one of their numbers changed; as Markdown.

        >>> copy = Copy({}, {"n": "3", "b": "0.72"}, ["Of ⟦n⟧ systems, β₀ is ⟦b⟧."])
        >>> copy.hear("n", "3"); copy.retold()
        []
        >>> copy.hear("b", "0.65"); copy.retold()
        ['Of 3 systems, β₀ is ~~0.72~~ **0.65**.']
        """
        out = []
        for sentence in self.sentences:
            keys = set(KEY.findall(sentence))
            if keys & self.fresh and keys <= set(self.heard) and any(self.heard[k] != self.said.get(k) for k in keys):
                out.append(KEY.sub(self._number, sentence))
        return out

    def _number(self, match: re.Match[str]) -> str:
        old, new = self.said.get(match[1], "?"), self.heard[match[1]]
        return new if old == new else f"~~{old}~~ **{new}**"

    # Cells

    def before(self, info: Any) -> None:
        self.hard = info.raw_cell.lstrip().startswith(THEOREM)
        self.fresh.clear()
        for check in self.checks:
            check.held, check.failed, check.error = 0, 0, ""

    def after(self, _result: Any) -> None:
        if shown := self.report():
            from IPython.display import display

            display(shown, raw=True)

    def report(self) -> dict[str, Any]:
        """What is shown under a cell: nothing while parameters are the book's."""
        if not (changed := self.changed()):
            return {}
        asked = [c for c in self.checks if c.held + c.failed]
        failed = [c for c in asked if c.failed]
        told, values = self.retold(), kit.listed(f"{name} = {value!r}" for name, value in changed.items())
        lines = []
        if told:
            lines += [f"*With {values} the book's words would read:*", *(f"> {sentence}" for sentence in told)]
        if failed:
            many = f"{len(failed)} of {len(asked)} checks do" if len(asked) > 1 else "The one check does"
            false = ", so what is said above may be false" if told else ""
            lines += [f"**{many} not hold with {values}**{false}:", "\n".join(f"- {c.line()}" for c in failed)]
        if not asked and not told:
            return {}
        data: dict[str, Any] = {FOUND: [[c.text, not c.failed] for c in asked]}
        if lines:
            data["text/markdown"] = data["text/plain"] = "\n\n".join(lines)
        return data


def begin(
    version: str, parameters: dict[str, Any], said: dict[str, str] | None = None, sentences: Iterable[str] = ()
) -> None:
    """Make the notebook that runs now a working copy of a chapter."""
    from IPython.core.getipython import get_ipython

    if version != __version__:
        print(f"This copy was made for Whichbird {version}; {__version__} is installed, so numbers may differ.")
    shell = get_ipython()
    if shell is None or not parameters:
        return
    old = shell.user_ns.get(SELF)  # this cell may run twice
    if old is not None:
        shell.ast_transformers.remove(old)
        shell.events.unregister("pre_run_cell", old.before)
        shell.events.unregister("post_run_cell", old.after)
    copy = Copy(parameters, said or {}, list(sentences), shell.user_ns)
    shell.user_ns[SELF] = shell.user_ns_hidden[SELF] = copy
    shell.ast_transformers.append(copy)
    shell.events.register("pre_run_cell", copy.before)
    shell.events.register("post_run_cell", copy.after)
    kit.LISTENERS[:] = [copy.hear]
