"""Answers on their way from a student's process to the one that marks: as plain values, in JSON, and back. No code and no object of the student's makes the way.

`show` is what a marker runs in the student's notebook after each exercise. Whatever a student does to it, it can only say values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Set as AbstractSet
from typing import TYPE_CHECKING, Any

import numpy as np

from .check import Problem, _dataset, _find, _number_of, _read
from .forms import NoForm, _leaf

if TYPE_CHECKING:
    from collections.abc import Iterable

MIME = "application/vnd.whichbird.answers+json"
MOST = 200_000  # values of an answer; a table of segment scores has some ten thousand
DEEP = 20


def pack(value: Any) -> Any:
    """An answer as JSON can hold it.

    >>> pack({"a": np.array([1, 2.5]), (0, 1): {"BLEU"}, "c": ...})
    {'table': [['a', {'array': [1.0, 2.5]}], [{'list': [0, 1]}, {'set': ['BLEU']}], ['c', None]]}
    >>> pack(len)
    Traceback (most recent call last):
        ...
    whichbird_book.teach.forms.NoForm: a builtin_function_or_method cannot be checked by its value
    """
    return _packed(value, [MOST], DEEP)


def _packed(value: Any, left: list[int], deep: int) -> Any:
    left[0] -= 1
    if left[0] < 0 or deep < 0:
        raise NoForm("too many values to check")

    def each(values: Iterable[Any]) -> list[Any]:
        return [_packed(v, left, deep - 1) for v in values]

    if value is None or value is ...:
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray) and value.ndim:
        return {"array": _rows(value, left)}
    if isinstance(value, Mapping):
        return {"table": [each(pair) for pair in value.items()]}
    if hasattr(value, "columns") and hasattr(value, "iloc"):
        return {
            "frame": [each(value.columns), each(value.index), [each(value.iloc[:, n]) for n in range(value.shape[1])]]
        }
    if hasattr(value, "index") and hasattr(value, "iloc"):
        return {"series": [each(value.index), each(value.tolist())]}
    if isinstance(value, AbstractSet):
        return {"set": each(value)}
    if isinstance(value, list | tuple | range) or type(value).__name__.endswith(("dict_values", "dict_keys", "Index")):
        return {"list": each(value)}
    plain = _leaf(value)
    if isinstance(plain, float) and not math.isfinite(plain):
        return {"float": repr(plain)}
    return plain


def _rows(value: np.ndarray[Any, Any], left: list[int]) -> list[Any]:
    """The rows of an array as JSON can hold them; counted before they are made."""
    left[0] -= value.size
    if left[0] < 0:
        raise NoForm("too many values to check")

    def plain(part: Any) -> Any:
        return [plain(p) for p in part] if isinstance(part, list) else _packed(part, [1], 0)

    return [plain(part) for part in value.tolist()]


def unpack(data: Any) -> Any:
    """The answer again, made of Python's, numpy's and pandas' own types alone.

    >>> unpack(pack({"a": [1, 2.5], (0, 1): frozenset({"BLEU"}), "x": float("inf")}))
    {'a': [1, 2.5], (0, 1): {'BLEU'}, 'x': inf}
    >>> unpack(pack(np.eye(2)))
    array([[1., 0.],
           [0., 1.]])
    """
    if isinstance(data, list):
        return [unpack(part) for part in data]
    if not isinstance(data, dict):
        return data
    ((kind, inside),) = data.items()
    if kind == "float":
        return float(inside)
    if kind == "array":
        return np.array(unpack(inside))
    if kind == "list":
        return unpack(inside)
    if kind == "set":
        return {_hashable(v) for v in unpack(inside)}
    if kind == "table":
        return {_hashable(unpack(k)): unpack(v) for k, v in inside}
    import pandas as pd

    if kind == "series":
        labels, values = unpack(inside)
        ordered = labels == list(range(len(labels)))
        return pd.Series(values, index=pd.RangeIndex(len(labels)) if ordered else _labels(labels))
    if kind == "frame":
        names, labels, columns = unpack(inside)
        return pd.DataFrame(dict(enumerate(columns)), index=_labels(labels)).set_axis(_labels(names), axis=1)
    raise ValueError(f"an answer of the kind {kind!r}; there are array, list, set, table, series and frame")


def _labels(labels: list[Any]) -> Any:
    import pandas as pd

    return pd.Index([_hashable(v) for v in labels], tupleize_cols=False)


def _hashable(value: Any) -> Any:
    return tuple(_hashable(v) for v in value) if isinstance(value, list) else value


def answers(exercise: str, space: Mapping[str, Any]) -> dict[str, Any]:
    """The answers of an exercise among the names of a notebook, packed; a function is called here, and says what it gives.

    >>> answers("3.1.1", {"price": {"ende21": 0.5}, "student": 17})
    {'exercise': '3.1.1', 'student': 17, 'answers': {'price': {'value': {'table': [['ende21', 0.5]]}}}}
    """
    number, entry = _find(exercise)
    student = space.get("student")
    student = student if isinstance(student, int | str) and not isinstance(student, bool) else None
    dataset = _dataset(entry, as_number(student))
    known = {**space, **({"yours": dataset} if dataset else {})}
    out: dict[str, Any] = {}
    for name, answer in entry["answers"].items():
        try:
            value = _read(answer, name, {**known, name: known.get(name)})
            out[name] = {"problem": value.said} if isinstance(value, Problem) else {"value": pack(value)}
        except Exception as error:  # whatever a student's object may do
            out[name] = {"problem": f"{error}."}
    return {"exercise": number, "student": student, "answers": out}


def as_number(student: Any) -> int | None:
    """The number that a student's number or word stands for; None for what is neither."""
    word = str(student).strip()
    if student is None or isinstance(student, bool | float) or not word or word.startswith("-"):
        return None
    return int(word) if word.isdecimal() else _number_of(word)


def show(exercise: str, space: Mapping[str, Any]) -> None:
    """Display the answers of an exercise, for the marker to read; without a front end nothing is seen."""
    from IPython.display import display

    display({MIME: answers(exercise, space), "text/plain": ""}, raw=True)
