"""Answers in a canonical form, and hashes of them that a right answer meets and an eye cannot read.

A form is what kind of thing an answer is, and its *leaves*: path to plain value. A dictionary, a series and a table have labels as
paths, a list, a tuple and an array have positions, a set has neither. A leaf is a truth value, an integer, a number or a word.

A number `v` that is wanted to `d` significant digits becomes an exponent and an integer, `round(v / step)` with
`step = 10**(exponent - d + 1)`. Their hash is kept. A student's number is accepted if an integer within one step of it has this hash.
Integers and words are hashed as they are. Hashes keep an answer from the eye; whoever tries all integers finds it.
"""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Iterator, Mapping, Set as AbstractSet
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

Leaf = bool | int | float | str
DIGITS = 4  # significant digits wanted of a number, if an exercise does not say
NOISE = 8  # powers of ten below the largest number of a container where numbers end and rounding begins
MOST = 2000  # leaves of an answer
KINDS = {
    "truth": "True or False",
    "integer": "a whole number",
    "number": "a number",
    "word": "a word or a name",
    "list": "a list or an array",
    "table": "a dictionary, a series or a table",
    "set": "a set",
}


class NoForm(ValueError):
    """An object that cannot be checked by its value."""


@dataclass(frozen=True)
class Form:
    """What an answer is: its kind, and its leaves by path."""

    kind: str
    leaves: dict[str, Leaf]

    @property
    def numbers(self) -> bool:
        """Whether every leaf is a number.

        >>> form([1, 2.5]).numbers, form("BLEU").numbers
        (True, False)
        """
        return all(isinstance(v, int | float) and not isinstance(v, bool) for v in self.leaves.values())


def empty(value: Any) -> bool:
    """Whether nothing was answered: `...`, None, NaN, an empty container, or a container of such.

    >>> [empty(v) for v in (..., None, float("nan"), [], {}, "", {"a": ...}, [None, 1])]
    [True, True, True, True, True, True, True, False]
    """
    if value is None or value is ...:
        return True
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    parts = _parts(value)
    return parts is not None and all(empty(part) for _, part in parts[1])


def form(value: Any) -> Form:
    """The form of an answer.

    >>> form({"ende24": 0.25, "ende21": 3})
    Form(kind='table', leaves={'ende24': 0.25, 'ende21': 3})
    >>> form(np.array([[1, 2]])).leaves
    {'0/0': 1, '0/1': 2}
    >>> sorted(form({"BLEU", "COMET"}).leaves.values())
    ['bleu', 'comet']
    >>> form(len)
    Traceback (most recent call last):
        ...
    whichbird_book.teach.forms.NoForm: a builtin_function_or_method cannot be checked by its value
    """
    leaves = dict(_leaves(value, ""))
    if len(leaves) > MOST:
        raise NoForm(f"{len(leaves)} values are too many to check")
    parts = _parts(value)
    if parts is not None:
        return Form(parts[0], leaves)
    (only,) = leaves.values()
    kind = {bool: "truth", int: "integer", float: "number", str: "word"}[type(only)]
    return Form(kind, leaves)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Leaf]]:
    parts = _parts(value)
    if parts is None:
        yield path, _leaf(value)
        return
    for label, part in parts[1]:
        yield from _leaves(part, f"{path}/{label}" if path else label)


def _parts(value: Any) -> tuple[str, list[tuple[str, Any]]] | None:
    """The kind of a container and its parts by label; None for what is not one."""
    if isinstance(value, np.ndarray):
        return None if value.ndim == 0 else ("list", [(str(n), part) for n, part in enumerate(value)])
    if isinstance(value, Mapping):
        return "table", [(label(k), part) for k, part in value.items()]
    if hasattr(value, "columns") and hasattr(value, "iloc"):  # a table of pandas, which is not loaded for this
        return "table", [(label(c), value[c]) for c in value.columns]
    if hasattr(value, "index") and hasattr(value, "iloc"):  # a series
        plain = type(value.index).__name__ == "RangeIndex"
        labels = range(len(value)) if plain else value.index
        return "list" if plain else "table", [(label(k), part) for k, part in zip(labels, value.tolist(), strict=True)]
    if isinstance(value, AbstractSet):
        return "set", sorted((_word_of(part), part) for part in value)
    if isinstance(value, list | tuple | range) or type(value).__name__.endswith(("dict_values", "dict_keys", "Index")):
        return "list", [(str(n), part) for n, part in enumerate(value)]
    return None


def _word_of(part: Any) -> str:
    """A name of a member of a set, the same for equal members; not used as a path when sets are compared."""
    return repr(form(part).leaves)


def label(key: Any) -> str:
    """A label as text: 1, 1.0 and np.int64(1) are the same, and so are words in other cases.

    >>> label(1), label(np.float64(1)), label((0.5, "COMET ")), label(True)
    ('1', '1', '0.5,comet', 'true')
    """
    if isinstance(key, tuple):
        return ",".join(map(label, key))
    if isinstance(key, bool | np.bool_):
        return str(bool(key)).lower()
    if isinstance(key, Real):
        return format(float(key), ".10g")
    return _word(str(key))


def _word(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _leaf(value: Any) -> Leaf:
    if isinstance(value, np.ndarray | np.generic):
        value = value.item()
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _word(value)
    if isinstance(value, Integral) or getattr(value, "is_Integer", False):
        return int(value)
    if isinstance(value, Real) or getattr(value, "is_real", False) and getattr(value, "is_number", False):
        return float(value)
    if type(value).__name__ in ("BooleanTrue", "BooleanFalse"):  # of sympy
        return bool(value)
    if isinstance(value, complex) and not value.imag:
        return value.real
    if value is None or value is ...:
        return math.nan
    raise NoForm(f"a {type(value).__name__} cannot be checked by its value")


# --- hashes -----------------------------------------------------------------------------------------------------------


def digest(salt: str, *parts: object) -> str:
    """Ten hexadecimal digits."""
    return hashlib.sha256("\x1f".join([salt, *map(str, parts)]).encode()).hexdigest()[:10]


def coarse(digits: int) -> int:
    """Digits by which a number that was rounded too early is recognised.

    >>> [coarse(d) for d in (2, 3, 4, 6)]
    [1, 2, 2, 4]
    """
    return max(digits - 2, 2) if digits > 2 else 1


def exponent(value: float) -> int:
    """
    >>> [exponent(v) for v in (0.02, 1.0, -999.0)]
    [-2, 0, 2]
    """
    return math.floor(math.log10(abs(value)))


def _scale(leaves: dict[str, Leaf]) -> float:
    sizes = [abs(v) for v in leaves.values() if not isinstance(v, bool | str) and math.isfinite(v)]
    return max(sizes, default=0.0)


def kept(salt: str, value: Leaf, digits: int, scale: float = 0.0) -> str:
    """The hash that is kept of the leaf of a right answer.

    `scale` is the largest number of its container: what is `NOISE` powers of ten smaller counts as nothing.
    """
    if isinstance(value, bool):
        return digest(salt, "truth", value)
    if isinstance(value, int):
        return digest(salt, "integer", value)
    if isinstance(value, str):
        return digest(salt, "word", value)
    if not math.isfinite(value):
        return digest(salt, "number", value)
    if abs(value) <= scale * 10.0**-NOISE or value == 0:
        return digest(salt, "nothing")
    e = exponent(value)
    return digest(salt, "number", digits, e, round(value / 10.0 ** (e - digits + 1)))


def meets(salt: str, value: Leaf, digits: int, scale: float = 0.0) -> set[str]:
    """Hashes of right leaves that would accept this one.

    >>> [kept("s", 0.12344, 4) in meets("s", x, 4) for x in (0.12344, 0.1234, 0.12349, 0.1235, 0.123, -0.12344)]
    [True, True, True, False, False, False]
    >>> kept("s", 7, 4) in meets("s", 7.0, 4), kept("s", 7, 4) in meets("s", 7.01, 4), kept("s", 7.0, 4) in meets("s", 7, 4)
    (True, False, True)
    """
    if isinstance(value, bool):
        return {digest(salt, "truth", value)}
    if isinstance(value, str):
        return {digest(salt, "word", value)}
    found: set[str] = set()
    if math.isnan(value):
        return found
    if math.isinf(value):
        return {digest(salt, "number", value)}
    if abs(value - round(value)) < 1e-9:
        found.add(digest(salt, "integer", round(value)))
    if isinstance(value, int) and abs(value) > 2**53:
        return found | {digest(salt, "integer", value)}
    if abs(value) <= max(
        scale * 10.0 ** (1 - NOISE), 1e-12
    ):  # ten times the noise, so that noise itself is never refused
        found.add(digest(salt, "nothing"))
    if value:
        for e in range(exponent(value) - 1, exponent(value) + 2):
            at = value / 10.0 ** (e - digits + 1)
            found |= {digest(salt, "number", digits, e, n) for n in {math.floor(at), math.ceil(at)}}
    return found


@dataclass(frozen=True)
class Kept:
    """What the key holds of a right answer: its kind, and by the hash of a path the hashes of its leaf, fine and coarse."""

    kind: str
    items: dict[str, list[str]]

    @classmethod
    def of(cls, salt: str, right: Form, digits: int) -> Kept:
        scale, items = _scale(right.leaves), {}
        for path, value in right.leaves.items():
            fine, rough = (kept(salt, value, d, scale) for d in (digits, coarse(digits)))
            name = digest(salt, "member", fine) if right.kind == "set" else digest(salt, "path", path)
            items[name] = [fine, rough] if isinstance(value, float) else [fine]
        return cls(right.kind, dict(sorted(items.items())))

    def right(self, salt: str, given: Form, digits: int) -> dict[str, bool]:
        """For each leaf of an answer, by its path, whether it is right. A path that the key does not have is wrong."""
        scale = _scale(given.leaves)
        if self.kind == "set":
            fine = {item[0] for item in self.items.values()}
            return {p: bool(meets(salt, v, digits, scale) & fine) for p, v in given.leaves.items()}
        names = {path: self.items.get(digest(salt, "path", path)) for path in given.leaves}
        return {
            path: item is not None and item[0] in meets(salt, given.leaves[path], digits, scale)
            for path, item in names.items()
        }

    def accepts(self, salt: str, given: Form, digits: int) -> bool:
        """Whether an answer is right: all its leaves, and none is missing.

        >>> key = Kept.of("s", form({"a": 0.123456, "b": 2}), 4)
        >>> key.accepts("s", form({"b": 2, "a": 0.12346}), 4), key.accepts("s", form({"a": 0.123456}), 4)
        (True, False)
        """
        leaves = self.right(salt, given, digits)
        return fits(self.kind, given.kind) and len(leaves) == len(self.items) and all(leaves.values())

    def nearly(self, salt: str, given: Form, digits: int) -> bool:
        """Whether an answer is right in its first digits only."""
        scale, few = _scale(given.leaves), coarse(digits)
        if self.kind == "set" or not fits(self.kind, given.kind) or len(given.leaves) != len(self.items):
            return False
        for path, value in given.leaves.items():
            item = self.items.get(digest(salt, "path", path))
            near = item is not None and (
                item[0] in meets(salt, value, digits, scale)
                or len(item) > 1
                and item[1] in meets(salt, value, few, scale)
            )
            if not near:
                return False
        return True


def fits(wanted: str, given: str) -> bool:
    """Whether an answer of this kind can be right where that kind is wanted."""
    return wanted == given or {wanted, given} <= {"integer", "number"}
