"""What is known of each exercise besides its text and solution: book/course/exercises/*.yml, read and held to its format.

    python book/course/entries.py                        check the format of all entries
    python book/course/entries.py --try 3-1-balance …    also run these chapters' solutions on the lean cells, and try answers, slips,
                                                         calls and tests, for every dataset that an exercise may get

An exercise's entry has the keys of `KEYS`; `answers` names what its solution binds. See the entries for examples.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import io
import math
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import exercises as ex
import slices

from whichbird_book.teach.forms import DIGITS, KINDS, Form, Kept, NoForm, empty, form

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "exercises"
KEYS = {
    "title": str,
    "difficulty": str,
    "minutes": int,
    "points": int,
    "objective": str,
    "answers": dict,
    "say": str,
    "hints": list,
    "slips": list,
    "marking": str,
    "yours": dict,
    "here": str,
}
OPTIONAL = {
    "yours",
    "here",
}  # here: what the exercise takes from a figure or a table of its page, for the notebook, which has neither
POINTS = {"easy": (2, 3), "medium": (4, 5), "hard": (6, 8)}
OBJECTIVES = (
    "meta-evaluation chance balance response weighting solver augmentation ranking sureness choice data".split()
)
ALWAYS = {
    "np": "numpy",
    "wb": "whichbird",
    "pd": "pandas",
    "sp": "sympy",
    "raters": "whichbird_book.raters",
}  # what calls and tests may use besides
SALT = "trial"


class Doubled(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """A loader that refuses a key that stands twice."""


def _mapping(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    keys = [loader.construct_object(k) for k, _ in node.value]
    twice = {k for k in keys if keys.count(k) > 1}
    if twice:
        raise ValueError(f"line {node.start_mark.line + 1}: {', '.join(map(str, twice))} stands twice")
    loader.flatten_mapping(node)
    return {loader.construct_object(k): loader.construct_object(v, deep=True) for k, v in node.value}


Doubled.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


@functools.cache
def load(folder: Path = FOLDER) -> dict[str, dict[str, Any]]:
    """All entries by label; read once, so nobody may change them."""
    out: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.yml")):
        for label, entry in (yaml.load(path.read_text("utf-8"), Doubled) or {}).items():
            if label in out:
                raise ValueError(f"{path.name}: {label} is in another file, too")
            out[label] = entry
    return out


def wrong(label: str, entry: Any) -> Iterator[str]:
    """What the format of an entry breaks, one sentence each."""
    if not isinstance(entry, dict):
        yield "the entry is no mapping"
        return
    yield from (f"{k} is missing" for k in KEYS if k not in entry and k not in OPTIONAL)
    yield from (f"{k} is no key of an entry" for k in entry if k not in KEYS)
    for k, kind in KEYS.items():
        if k in entry and not isinstance(entry[k], kind):
            yield f"{k} should be a {kind.__name__}"
            return
    if missing := [k for k in KEYS if k not in entry and k not in OPTIONAL]:
        del missing
        return
    if len(entry["title"].split()) > 8:
        yield "the title has more than eight words"
    if entry["objective"] not in OBJECTIVES:
        yield f"objective {entry['objective']!r} is none of {', '.join(OBJECTIVES)}"
    if entry["difficulty"] not in POINTS:
        yield "difficulty is easy, medium or hard"
    else:
        low, high = POINTS[entry["difficulty"]]
        if not low <= entry["points"] <= high:
            yield f"an exercise that is {entry['difficulty']} has {low} to {high} points, not {entry['points']}"
    if not 1 <= entry["minutes"] <= 90:
        yield "minutes should be between 1 and 90"
    if len(entry["hints"]) != 2 or not all(isinstance(h, str) and h.strip() for h in entry["hints"]):
        yield "exactly two hints are wanted"
    yield from _wrong_answers(entry)
    if not entry["slips"]:
        yield "at least one slip is wanted"
    for n, slip in enumerate(entry["slips"], 1):
        yield from (f"slip {n}: {what}" for what in _wrong_slip(entry, slip))
    if "yours" in entry:
        yours = entry["yours"]
        if set(yours) != {"dataset", "among"} or not isinstance(yours["among"], list) or not yours["among"]:
            yield "yours is {dataset: …, among: […]}"
        elif yours["dataset"] in yours["among"]:
            yield "yours: the book's own dataset should not be among the others"
        elif len(set(yours["among"])) < 2:
            yield "yours: neighbours can have different datasets only among two or more"


def _wrong_answers(entry: dict[str, Any]) -> Iterator[str]:
    if not 1 <= len(entry["answers"]) <= 4:
        yield "one to four answers are wanted"
    for name, a in entry["answers"].items():
        if not str(name).isidentifier():
            yield f"answers: {name!r} is no name"
        if not isinstance(a, dict) or not isinstance(a.get("points"), int) or a["points"] < 1:
            yield f"answers: {name} needs points"
            continue
        if more := set(a) - {"points", "digits", "within", "calls", "test", "also"}:
            yield f"answers: {name} has {', '.join(sorted(more))}, which is no key of an answer"
        if not 0 < a.get("within", 0.5) < 1 or "within" in a and "digits" in a:
            yield f"answers: within is a number between 0 and 1, in the place of digits, not {a['within']}"
        if "calls" in a and "test" in a:
            yield f"answers: {name} has calls and a test; one is enough"
        for code in [*a.get("calls", []), *([a["test"]] if "test" in a else [])]:
            try:
                found = slices.names(ast.parse(code, mode="eval"))
            except SyntaxError as error:
                yield f"answers: {name}: {code!r} is no expression ({error.msg})"
                continue
            if name not in found:
                yield f"answers: {name}: {code!r} does not ask {name}"
            if strange := found - set(entry["answers"]) - set(ALWAYS) - {"yours"}:
                yield f"answers: {name}: {code!r} reads {', '.join(sorted(strange))}, which a student may have bound anew"
    if all(isinstance(a, dict) for a in entry["answers"].values()):
        total = sum(a.get("points", 0) for a in entry["answers"].values())
        if total != entry["points"]:
            yield f"the answers' points sum to {total}, not to {entry['points']}"


def _wrong_slip(entry: dict[str, Any], slip: Any) -> Iterator[str]:
    if not isinstance(slip, dict) or set(slip) - {"of"} != {"is", "say"}:
        yield "it has the keys of, is, say"
        return
    if (
        slip.get("of", next(iter(entry["answers"]), None)) not in entry["answers"]
        or "of" not in slip
        and len(entry["answers"]) > 1
    ):
        yield "`of` should name one of the answers"
    try:
        ast.parse(str(slip["is"]), mode="eval")
    except SyntaxError as error:
        yield f"{slip['is']!r} is no expression ({error.msg})"
    if not str(slip["say"]).strip():
        yield "it says nothing"


def facts(entry: dict[str, Any]) -> str:
    """Difficulty, time and points in a line.

    >>> facts({"difficulty": "easy", "minutes": 10, "points": 3})
    'easy · 10 minutes · 3 points'
    """
    return f"{entry['difficulty']} · {entry['minutes']} minutes · {entry['points']} points"


def grain(answer: dict[str, Any]) -> float:
    """How exactly a number is wanted: significant digits, or below one the largest difference that passes."""
    return answer.get("within", answer.get("digits", DIGITS))


def after(chapter: slices.Chapter, n: int, entry: dict[str, Any]) -> dict[str, list[str]]:
    """For each answer the other answers that its making in the solution reads: who has one of them wrong cannot get it right."""
    out: dict[str, list[str]] = {}
    for name in entry["answers"]:
        read: set[str] = set()
        needed = {name}
        for s in reversed(chapter.core(n, {name})):
            if s.changes & needed:
                read |= chapter.closure(s.needs)
                needed |= s.needs
        if found := [other for other in entry["answers"] if other in read - {name}]:
            out[name] = found
    return out


# --- running ----------------------------------------------------------------------------------------------------------


def replaced(source: str, dataset: str) -> str:
    """Code with the name of a dataset replaced by the variable `yours`.

    >>> replaced('d = wb.load("ende24")  # ende24', "ende24")
    'd = wb.load(yours)  # ende24'
    """
    lines = [line.encode() for line in source.split("\n")]
    quoted = {f'"{dataset}"'.encode(), f"'{dataset}'".encode()}
    found = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Constant) and n.value == dataset]
    for n in sorted(found, key=lambda n: (n.lineno, n.col_offset), reverse=True):
        line = lines[n.lineno - 1]
        if line[n.col_offset : n.end_col_offset] in quoted:
            lines[n.lineno - 1] = line[: n.col_offset] + b"yours" + line[n.end_col_offset :]
    return b"\n".join(lines).decode()


@dataclass
class Work:
    """The code of an exercise, apart: what is given, what the solution takes from earlier solutions, and the solution."""

    given: list[slices.Statement]
    carried: list[slices.Statement]
    own: list[slices.Statement]

    def source(self, dataset: str | None = None, checks: bool = True) -> str:
        """All as one program. With a `dataset`, its name is replaced by `yours`."""
        code = "\n".join([*(s.source for s in [*self.given, *self.carried]), *self.solution(checks)])
        return replaced(code, dataset) if dataset else code

    def solution(self, checks: bool = True) -> list[str]:
        """The solution without what it tells the book, and without its own checks if those are not wanted."""
        sources = []
        for s in self.own:
            if slices.bookkeeping(s):
                continue
            if checks or not ex.has_asserts(s.node) or isinstance(s.node, ast.FunctionDef):
                sources.append(s.source)
            elif rest := ex.without_asserts(s.node):
                sources.append(rest)
        return sources

    def divided(self, chapter: slices.Chapter, dataset: str) -> tuple[list[slices.Statement], list[slices.Statement]]:
        """What is given, as statements that do not depend on the dataset and can run once for all of them, and the others.

        A statement is one of the others if it names the dataset, reads or binds what one of these makes, makes what one of these changes in place, or binds anew what
        an earlier one of these reads.
        """
        before = [*self.given, *self.carried]
        inputs = {id(s): chapter.closure(s.needs) | (s.changes - s.binds) for s in [*before, *self.own]}
        others = {id(s) for s in before if replaced(s.source, dataset) != s.source}
        while True:
            late = [s for s in before if id(s) in others]
            made = {n for s in late for n in s.changes}
            changed = {n for s in [*late, *self.own] for n in s.changes - s.binds}
            read: set[str] = set()
            more = set()
            for s in before:
                if id(s) in others:
                    read |= inputs[id(s)]
                elif inputs[id(s)] & made or s.changes & (made | changed | read):
                    more.add(id(s))
            if not more:
                return [s for s in before if id(s) not in others], late
            others |= more


def work(chapter: slices.Chapter, n: int, entry: dict[str, Any], whole: bool = True, slips: bool = False) -> Work:
    """The whole solution of an exercise and what it needs; or only that part of it which makes the answers, or answers and slips."""
    wanted = set(entry["answers"])
    if slips:
        wanted |= {m for slip in entry["slips"] for m in slices.names(ast.parse(str(slip["is"]), mode="eval"))}
    own = chapter.exercises[n].statements if whole else chapter.core(n, wanted)
    before = slices.reads(own) | wanted | chapter.mentioned(chapter.exercises[n])
    found = chapter.slice(n, before - {m for s in own for m in s.binds} | slices.reads(own))
    return Work([s for s in found if s.exercise is None], [s for s in found if s.exercise is not None], own)


def run(source: str, names: dict[str, Any] | None = None) -> dict[str, Any]:
    """Execute a program by itself, in silence, with these names, and return all names."""
    import matplotlib as mpl

    mpl.use("agg")
    space: dict[str, Any] = {"__name__": "__main__", "display": lambda *_: None, **(names or {})}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(source, "<solution>", "exec"), space)
    return space


def value_of(answer: dict[str, Any], name: str, space: dict[str, Any]) -> Any:
    """What is checked of an answer: its value, or what its calls give."""
    if "calls" in answer:
        return [evaluate(code, space) for code in answer["calls"]]
    return space[name]


def evaluate(code: str, space: dict[str, Any]) -> Any:
    import importlib

    more = {k: importlib.import_module(m) for k, m in ALWAYS.items() if k not in space and re.search(rf"\b{k}\b", code)}
    with contextlib.redirect_stdout(io.StringIO()):
        return eval(compile(code, "<entry>", "eval"), {**space, **more})


@dataclass
class Tried:
    """An exercise with one dataset: forms of the right answers and of the slips, and what is wrong."""

    dataset: str | None
    right: dict[str, Form] = field(default_factory=dict)
    also: dict[str, list[Form]] = field(default_factory=dict)  # other right answers
    slips: list[Form | None] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0
    sizes: list[int] = field(default_factory=list)  # how many systems there are in the pools at hand


def attempts(chapter: slices.Chapter, n: int, entry: dict[str, Any]) -> Iterator[Tried]:
    """Run an exercise with the book's work, on the book's dataset (None) and on each other that a student may get, and try answers, slips, calls and tests.

    Of the work only what these need runs; all of it, with its asserts, runs whenever the book is built.
    """
    yours, start = entry.get("yours"), time.perf_counter()
    code = work(chapter, n, entry, whole=False, slips=True)
    fixed, late = code.divided(chapter, yours["dataset"]) if yours else ([*code.given, *code.carried], [])
    try:
        base = run("\n".join(s.source for s in fixed))
    except Exception as error:
        yield Tried(None, problems=[f"the solution stops on its lean cells: {type(error).__name__}: {error}"])
        return
    for dataset in [None, *(yours["among"] if yours else [])]:
        source = "\n".join([*(s.source for s in late), *code.solution(checks=False)])
        out = Tried(dataset)
        if yours:
            source = replaced(source, yours["dataset"])
            if "yours" not in slices.names(ast.parse(source)):
                out.problems.append(f"yours: the code does not name {yours['dataset']}")
        _try(out, source, base, entry, start)
        yield out
        start = time.perf_counter()


def attempt(chapter: slices.Chapter, n: int, entry: dict[str, Any]) -> Tried:
    """The first of these: the exercise as it is in the book."""
    return next(attempts(chapter, n, entry))


def _try(out: Tried, source: str, base: dict[str, Any], entry: dict[str, Any], start: float) -> None:
    yours = entry.get("yours")
    try:
        space = run(source, {**base, **({"yours": out.dataset or yours["dataset"]} if yours else {})})
    except Exception as error:
        out.problems.append(f"the solution stops on its lean cells: {type(error).__name__}: {error}")
        return
    out.seconds = time.perf_counter() - start
    out.sizes = _sizes(space)
    for name, a in entry["answers"].items():
        out.problems += [f"{name}: {what}" for what in _try_answer(out, name, a, space)]
    for k, slip in enumerate(entry["slips"], 1):
        out.problems += [f"slip {k}: {what}" for what in _try_slip(out, entry, slip, space)]


def _sizes(space: dict[str, Any], most: int = 3) -> list[int]:
    """Numbers of systems by which a sample's variance may differ from a population's here."""
    pools = {len(v.systems) for v in space.values() if isinstance(getattr(v, "systems", None), tuple | list)}
    rows = {v.size for v in space.values() if isinstance(v, np.ndarray) and v.ndim == 1 and 2 <= v.size <= 40}
    return sorted(pools or rows)[:most]


def _try_answer(out: Tried, name: str, a: dict[str, Any], space: dict[str, Any]) -> Iterator[str]:
    if name not in space:
        yield "the solution does not bind it"
        return
    try:
        right = value_of(a, name, space)
    except Exception as error:
        yield f"a call stops: {type(error).__name__}: {error}"
        return
    if "test" in a:
        try:
            if not bool(evaluate(a["test"], space)):
                yield "the book's own answer does not pass the test"
        except Exception as error:
            yield f"the test stops on the book's answer: {type(error).__name__}: {error}"
        for nothing in (..., None, math.nan, [], {}):
            try:
                passed = bool(evaluate(a["test"], {**space, name: nothing}))
            except Exception:
                passed = False
            if passed:
                yield f"{nothing!r} passes the test"
        return
    if callable(right) and "calls" not in a:
        yield "it is a function; say with `calls` what to ask it"
        return
    if empty(right):
        yield "the book's own answer is empty"
        return
    try:
        out.right[name] = form(right)
    except NoForm as error:
        yield f"{error}; choose another name, or give `calls` or a `test`"
        return
    if any(isinstance(v, float) and math.isnan(v) for v in out.right[name].leaves.values()):
        yield "the book's own answer has NaN in it"
    try:
        out.also[name] = [form(evaluate(code, space)) for code in a.get("also", [])]
    except Exception as error:
        yield f"another right answer stops: {type(error).__name__}: {error}"
    if out.right[name].kind == "truth" and a["points"] > 1:
        yield "a truth value is worth one point, it can be guessed"


def _try_slip(out: Tried, entry: dict[str, Any], slip: dict[str, Any], space: dict[str, Any]) -> Iterator[str]:
    name = slip.get("of", next(iter(entry["answers"])))
    a = entry["answers"][name]
    digits = grain(a)
    out.slips.append(None)
    try:
        value = evaluate(str(slip["is"]), space)
        if "calls" in a:
            value = value_of(a, name, {**space, name: value})
        given = form(value)
    except NoForm as error:
        yield str(error)
        return
    except Exception as error:
        yield f"it stops: {type(error).__name__}: {error}"
        return
    out.slips[-1] = given
    if empty(value):
        yield "it is an empty answer"
    elif "test" in a:
        try:
            passed = bool(evaluate(a["test"], {**space, name: value}))
        except Exception:
            passed = False
        if passed:
            yield "it passes the test"
    elif name in out.right and Kept.of(SALT, out.right[name], digits).accepts(SALT, given, digits):
        yield f"to {digits} digits it is the right answer"
    for k, (other, its) in enumerate(zip(entry["slips"], out.slips[:-1], strict=False), 1):
        same = other.get("of", name) == name and its is not None
        if same and Kept.of(SALT, its, digits).accepts(SALT, given, digits):
            yield f"to {digits} digits it is the same as slip {k}"


def shown(found: Form | None, most: int = 4) -> str:
    """A form in one line, for the author."""
    if found is None:
        return "?"
    values = [
        f"{k + ': ' if found.kind == 'table' else ''}{v:.6g}" if isinstance(v, float) else f"{v}"
        for k, v in found.leaves.items()
    ]
    more = f" … ({len(values)})" if len(values) > most else ""
    return f"{KINDS[found.kind]}: {', '.join(values[:most])}{more}"


def chapters(names: list[str]) -> list[Path]:
    """Pages by the names of their files (or a part of them)."""
    pages = ex.chapters()
    if not names:
        return pages
    found = [p for p in pages if p.stem in names] or [p for p in pages if any(n in p.as_posix() for n in names)]
    if not found:
        raise SystemExit(f"No chapter with exercises is called {' or '.join(names)}.")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Check the entries of the exercises.")
    parser.add_argument(
        "--try",
        dest="tried",
        nargs="*",
        metavar="chapter",
        help="run these chapters' exercises, too (all if none is named)",
    )
    options = parser.parse_args()
    try:
        entries = load()
    except (ValueError, yaml.YAMLError) as error:
        print(error)
        return 1
    labels = {e.label: e.number for p in ex.chapters() for e in slices.chapter(p).exercises}
    bad = 0
    for label, entry in entries.items():
        problems = [*wrong(label, entry)] + ([] if label in labels else ["no exercise of the book has this label"])
        bad += len(problems)
        for what in problems:
            print(f"{label}: {what}")
    print(f"{len(entries)} entries for {len(labels)} exercises; {bad} problems of format.")
    if options.tried is None or bad and not options.tried:
        return int(bad > 0)
    for path in chapters(options.tried):
        chapter = slices.chapter(path)
        for n, e in enumerate(chapter.exercises):
            entry = entries.get(e.label)
            if entry is None or any(wrong(e.label, entry)):
                print(f"\n{e.number} {e.label}: no entry that could be tried")
                continue
            print(f"\n{e.number} {e.label}: {entry['title']}")
            for tried in attempts(chapter, n, entry):
                bad += len(tried.problems)
                print(f"  {tried.dataset or 'as in the book'} ({tried.seconds:.1f} s)")
                for name, right in tried.right.items():
                    print(f"    {name} = {shown(right)}")
                for k, slip in enumerate(tried.slips, 1):
                    print(f"      slip {k}: {shown(slip)}")
                for what in tried.problems:
                    print(f"    PROBLEM {what}")
    print(f"\n{bad} problems." if bad else "\nNo problem.")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
