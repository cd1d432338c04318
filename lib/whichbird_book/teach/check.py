"""`book.check`, `book.hint`, `book.points`, `book.student`: what a student notebook asks.

The key holds no answer, only hashes (`forms`). What was checked and which hints were read is remembered until Python ends.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .forms import DIGITS, KINDS, Form, Kept, NoForm, digest, empty, fits, form
from .mistakes import undone

if TYPE_CHECKING:
    import pandas as pd

KEY = Path(__file__).with_name("key.json")
KNOWN = {
    "np": "numpy",
    "wb": "whichbird",
    "pd": "pandas",
    "sp": "sympy",
    "raters": "whichbird_book.raters",
}  # what calls and tests may use
FEW = 3  # labels that a message lists


@dataclass(frozen=True)
class Outcome:
    """What a check found: points, of how many, a sentence for each answer, and the names of those that are right. True if all are."""

    exercise: str
    points: int
    most: int
    messages: tuple[str, ...]
    right: frozenset[str] = frozenset()

    @property
    def full(self) -> bool:
        return self.points == self.most

    def __bool__(self) -> bool:
        return self.full

    def __repr__(self) -> str:
        return f"{self.points} of {self.most} points"


@dataclass
class _Memory:
    """What one session of Python remembers: points by exercise and answer, hints read, the student's number."""

    points: dict[str, dict[str, int]] = field(default_factory=dict)
    hints: dict[str, int] = field(default_factory=dict)
    number: int | None = None


_memory = _Memory()


@functools.cache
def _key() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(KEY.read_text("utf-8"))
    return loaded


def _find(exercise: str) -> tuple[str, dict[str, Any]]:
    """The number and the key of an exercise, by its number in the book or by its label."""
    exercises = _key()["exercises"]
    word = re.sub(r"^exercise\s+", "", str(exercise).strip().lower())
    for number, entry in exercises.items():
        if word in (number.lower(), entry["label"]):
            return number, entry
    some = [n for n in exercises if n.lower().startswith(word.rpartition(".")[0] or word[:1])] or list(exercises)
    raise ValueError(f"the book has no exercise {exercise!r}; there are, for example, {', '.join(some[:FEW])}")


# --- checking ---------------------------------------------------------------------------------------------------------


def check(exercise: str, *answer: Any, **answers: Any) -> Outcome:
    """Check the answers of an exercise, say in a sentence what is seen of each, and count the points.

    An exercise with one answer takes it without a name. Of several, those that are given are checked. An empty answer, `...` say, costs nothing and never passes.
    What is counted here is for the student alone; `mark` counts for teachers, where no student's code runs.

    >>> import whichbird_book as book
    >>> book.check("3.1.1", ...).points
    3.1.1: nothing yet. price is a dictionary...
    0
    """
    number, entry = _find(exercise)
    wanted = entry["answers"]
    if answer:
        first = next(iter(wanted))
        if len(answer) > 1 or len(wanted) > 1 or first in answers:
            raise ValueError(f"{number} asks for {_listed(wanted)}: give each by its name, {first}=…")
        answers[first] = answer[0]
    unknown = [n for n in answers if n not in wanted]
    if unknown:
        raise ValueError(f"{number} asks for {_listed(wanted)}, not for {_listed(unknown)}")
    given = {name: answers[name] for name in wanted if name in answers} or dict.fromkeys(wanted, ...)
    space = {**given, **({"yours": dataset} if (dataset := _dataset(entry, _memory.number)) else {})}
    outcome = judge(number, {name: _read(wanted[name], name, space) for name in given}, _memory.number)
    memory = _memory.points.setdefault(number, {})
    for name in outcome.right:
        memory[name] = wanted[name]["points"]
    print("\n".join(outcome.messages))
    return outcome


@dataclass(frozen=True)
class Problem:
    """Instead of an answer: why there is none."""

    said: str


def judge(number: str, given: Mapping[str, Any], student: int | None) -> Outcome:
    """What the answers of an exercise are worth, and a sentence for each; of a function, `given` has what its calls gave. Nothing is printed or remembered."""
    entry = _key()["exercises"][number]
    wanted = entry["answers"]
    most = sum(wanted[name]["points"] for name in given)
    if all(empty(v) for v in given.values()):
        return Outcome(number, 0, most, (f"{number}: nothing yet. {entry['say'].rstrip('.')}.",))
    dataset, messages, right = _dataset(entry, student), [], set()
    space = {**given, **({"yours": dataset} if dataset else {})}
    wrong: list[str] = []
    for name in wanted:
        if name not in given:
            continue
        before = [n for n in wrong if n in wanted[name].get("after", [])]
        good, sentence = _judge(entry, name, given[name], space, dataset)
        if good:
            right.add(name)
        else:
            wrong.append(name)
            if before and not empty(given[name]) and not isinstance(given[name], Problem):
                sentence = f"not yet. It builds on {_listed(before)}, so mend that first, and work this out again."
        messages.append(f"{number} {name}: {sentence}")
    return Outcome(number, sum(wanted[n]["points"] for n in right), most, tuple(messages), frozenset(right))


def older(entry: Mapping[str, Any]) -> bool:
    """Whether an exercise's key has the form of an earlier library, which nobody can be judged by."""
    rights = (right for answer in entry["answers"].values() for right in answer.get("right", {}).values())
    return any(isinstance(h, list) for right in rights for h in right["items"].values())


def _judge(
    entry: dict[str, Any], name: str, value: Any, space: Mapping[str, Any], dataset: str | None
) -> tuple[bool, str]:
    """Whether one answer is right, and what to say."""
    answer, salt = entry["answers"][name], _key()["salt"] + entry["label"] + name
    if older(entry):
        raise ValueError(f"the key of {entry['label']} is older than this library; make key makes a new one")
    if isinstance(value, Problem):
        return False, value.said
    if empty(value):
        return False, "nothing yet."
    if "test" in answer:
        try:
            if _evaluate(answer["test"], space):
                return True, "right."
        except Exception as error:  # whatever a student's object may do
            return False, f"it cannot be tried ({type(error).__name__}: {error}). {entry['say']}"
    try:
        given = form(value)
    except NoForm as error:
        return False, f"{error}; {KINDS[answer['kind']]} is wanted." if "kind" in answer else "not yet."
    keys = {d: Kept(**k) for d, k in answer["right"].items()}
    grain, right = answer.get("grain", DIGITS), keys.get(dataset or "")
    given = _bent(given, value, right)
    if right is not None and right.accepts(salt, given, grain):
        return True, "right."
    if any(Kept(**other[dataset or ""]).accepts(salt, given, grain) for other in answer.get("also", [])):
        return True, "right."
    for slip in answer.get("slips", []):
        if Kept(**slip["is"][dataset or ""]).accepts(salt, given, grain):
            return False, slip["say"]
    if right is None:
        return False, "not yet."
    for other, key in keys.items():
        if key.accepts(salt, given, grain):
            return False, f"this is right for {other}, but your dataset is {dataset}."
    return False, _mistake(salt, given, right, entry, grain)


def _mistake(salt: str, given: Form, right: Kept, entry: dict[str, Any], grain: float) -> str:
    """What is wrong, as far as it can be told."""
    if not fits(right.kind, given.kind):
        return f"{KINDS[right.kind]} is wanted, and this is {KINDS[given.kind]}."
    if right.kind == "truth":
        return "no; there are only two possible answers, so say why."
    for say, other in undone(given, entry.get("sizes", []), grain):
        if right.accepts(salt, other, grain):
            return say
    leaves, wanted = right.right(salt, given, grain), len(right.items)
    good = sum(leaves.values())
    if right.kind == "set":
        return f"{good} of your {len(leaves)} belong there, and {wanted} are wanted."
    if right.kind == "table":
        unknown = [path for path in leaves if digest(salt, "path", path) not in right.items]
        missing = wanted - (len(leaves) - len(unknown))
        if unknown or missing:
            names = f" ({_few(unknown)})" if unknown else ""
            return f"the labels do not fit: {len(unknown)} are unknown{names}, and {missing} are missing."
    if len(leaves) != wanted:
        return f"{wanted} values are wanted, and these are {len(leaves)}."
    if right.nearly(salt, given, grain):
        return f"the first digits are right, and {grain} are wanted: do not round."
    if wanted > 1:
        return f"{good} of {wanted} are right; not yet: {_few([path for path, ok in leaves.items() if not ok])}."
    return "not yet."


def _bent(given: Form, value: Any, right: Kept | None) -> Form:
    """Convert an answer to the expected container type (list, set, table) where the values fit."""
    if right is None or right.kind == given.kind:
        return given
    if right.kind == "set" and given.kind == "list":
        return form(frozenset(v for v in value if not isinstance(v, list | dict | set)))
    if right.kind == "list" and given.kind == "table" and len(given.leaves) == len(right.items):
        return Form("list", {str(n): v for n, v in enumerate(given.leaves.values())})
    return given


def _read(answer: dict[str, Any], name: str, space: Mapping[str, Any]) -> Any:
    """An answer's value; of a function, what its calls give, or why they give nothing."""
    if "calls" not in answer or empty(space[name]):
        return space[name]
    results = []
    for code in answer["calls"]:
        try:
            results.append(_evaluate(code, space))
        except Exception as error:
            return Problem(f"{code} stops ({type(error).__name__}: {error}).")
        if empty(results[-1]):
            return Problem(f"nothing yet: {code} gives {results[-1]!r}. Does {name} return something?")
    return results


def _evaluate(code: str, space: Mapping[str, Any]) -> Any:
    more = {k: importlib.import_module(m) for k, m in KNOWN.items() if k not in space and re.search(rf"\b{k}\b", code)}
    with warnings.catch_warnings(
        action="ignore"
    ):  # of a student's function; a grader takes what is written to stderr for a failure
        return eval(compile(code, "<check>", "eval"), {**space, **more})


def _listed(names: Any) -> str:
    names = list(names)
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _few(names: list[str]) -> str:
    return ", ".join(names[:FEW]) + (", …" if len(names) > FEW else "")


# --- hints, points, datasets ------------------------------------------------------------------------------------------


def hint(exercise: str) -> None:
    """Print the next hint: two in all, the second says more. How many were read is counted.

    >>> import whichbird_book as book
    >>> book.hint("3.1.1")
    3.1.1, hint 1 of 2: ...
    """
    number, entry = _find(exercise)
    read = min(_memory.hints.get(number, 0) + 1, len(entry["hints"]))
    _memory.hints[number] = read
    print(f"{number}, hint {read} of {len(entry['hints'])}: {entry['hints'][read - 1]}")


def points() -> pd.DataFrame:
    """Points so far, of the exercises of all chapters in which something was checked, with the hints that were read.

    >>> import whichbird_book as book
    >>> list(book.points().columns)
    ['title', 'points', 'of', 'hints']
    """
    import pandas as pd

    exercises = _key()["exercises"]
    met = {number.rpartition(".")[0] for number in [*_memory.points, *_memory.hints]}
    rows: dict[str, dict[str, Any]] = {
        number: {
            "title": entry["title"],
            "points": sum(_memory.points.get(number, {}).values()),
            "of": entry["points"],
            "hints": _memory.hints.get(number, 0),
        }
        for number, entry in exercises.items()
        if number.rpartition(".")[0] in met
    }
    totals = {k: sum(int(row[k]) for row in rows.values()) for k in ("points", "of", "hints")}
    rows["all"] = {"title": "", **totals}
    return pd.DataFrame.from_dict(rows, orient="index")


class Student(Mapping[str, str]):
    """The datasets of a student, by exercise."""

    def __init__(self, number: int | None):
        self.number = number

    def __getitem__(self, exercise: str) -> str:
        number, entry = _find(exercise)
        dataset = _dataset(entry, self.number)
        if dataset is None:
            raise KeyError(f"exercise {number} has the same dataset for everybody")
        return dataset

    def __iter__(self) -> Any:
        return (number for number, entry in _key()["exercises"].items() if "yours" in entry)

    def __len__(self) -> int:
        return sum("yours" in entry for entry in _key()["exercises"].values())

    def __repr__(self) -> str:
        return "the book's datasets" if self.number is None else f"the datasets of student {self.number}"


def student(number: Any = None) -> Student:
    """Say which student works here: some exercises then have a dataset of the student's own. Neighbouring numbers have different ones.

    Without a number, or with `...`, every dataset is the book's. Letters are allowed.

    >>> import whichbird_book as book
    >>> book.student(17)
    the datasets of student 17
    >>> book.student(...)
    the book's datasets
    """
    if number is None or number is ...:
        _memory.number = None
        return Student(None)
    word = str(number).strip()
    if isinstance(number, bool | float) or not word or word.startswith("-"):
        raise ValueError(f"a student's number is a whole number or a word, not {number!r}")
    _memory.number = int(word) if word.isdecimal() else _number_of(word)
    return Student(_memory.number)


def _number_of(word: str) -> int:
    return int(hashlib.sha256(word.encode()).hexdigest()[:8], 16)


def _dataset(entry: dict[str, Any], number: int | None) -> str | None:
    """The dataset of a student in an exercise; None if it is the same for all."""
    yours = entry.get("yours")
    if yours is None:
        return None
    if number is None:
        return str(yours["dataset"])
    among = yours["among"]
    return str(among[(number + _number_of(entry["label"])) % len(among)])
