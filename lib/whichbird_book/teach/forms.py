"""Answers in a canonical form, and hashes of them that a right answer meets and an eye cannot read.

A form is what kind of thing an answer is, and its *leaves*: path to plain value. A dictionary, a series and a table have labels as
paths, a list, a tuple and an array have positions, a set has neither. A leaf is a truth value, an integer, a number or a word.

How exactly a number is wanted is its *grain*: a whole number is significant digits, a number below one the largest difference that passes.
Of `d` digits the number `v` becomes an exponent and an integer, `round(v / step)` with `step = 10**(exponent - d + 1)`, and the hash of the two is kept.
A student's number is accepted if an integer within one step of it has this hash. Integers and words are hashed as they are.

Hashes keep an answer from the eye. They are stretched (scrypt), so trying all numbers of four digits costs minutes a number; a small whole number, a truth
value or one of twenty names is still found by trying, as it would be by asking `check` again and again.
"""

from __future__ import annotations

import functools
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
COST = 2**10  # of scrypt: some milliseconds and a megabyte a hash; a key made at another cost fits nothing
PARTS = 4  # steps to the largest difference that passes, where a grain is one
NOISE = 8  # powers of ten below the largest number of a container where numbers end and rounding begins
MOST = 2000  # leaves of an answer
MOST_TRIED = 500  # numbers that are tried to tell rounding from error
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
    """Ten hexadecimal digits, quickly: for labels and positions, which are no secret."""
    return hashlib.sha256("\x1f".join([salt, *map(str, parts)]).encode()).hexdigest()[:10]


@functools.lru_cache(maxsize=100_000)
def stretched(salt: str, *parts: object) -> str:
    """Ten hexadecimal digits, slowly: for values."""
    word = "\x1f".join(map(str, parts)).encode()
    return hashlib.scrypt(word, salt=salt.encode(), n=COST, r=8, p=1, dklen=5).hex()


def exponent(value: float) -> int:
    """
    >>> [exponent(v) for v in (0.02, 1.0, -999.0)]
    [-2, 0, 2]
    """
    return math.floor(math.log10(abs(value)))


def _scale(leaves: dict[str, Leaf]) -> float:
    sizes = [abs(v) for v in leaves.values() if not isinstance(v, bool | str) and math.isfinite(v)]
    return max(sizes, default=0.0)


def kept(salt: str, value: Leaf, grain: float, scale: float = 0.0) -> str:
    """The hash that is kept of the leaf of a right answer.

    `scale` is the largest number of its container: what is `NOISE` powers of ten smaller counts as nothing.
    """
    if isinstance(value, bool):
        return stretched(salt, "truth", value)
    if isinstance(value, int):
        return stretched(salt, "integer", value)
    if isinstance(value, str):
        return stretched(salt, "word", value)
    if not math.isfinite(value):
        return stretched(salt, "number", value)
    if grain < 1:
        return stretched(salt, "about", grain, round(value * PARTS / grain))
    if abs(value) <= scale * 10.0**-NOISE or value == 0:
        return stretched(salt, "nothing")
    e = exponent(value)
    return stretched(salt, "number", grain, e, round(value / 10.0 ** (e - grain + 1)))


def meets(salt: str, value: Leaf, grain: float, scale: float = 0.0) -> Iterator[str]:
    """Hashes of right leaves that would accept this one, the likely ones first.

    >>> [kept("s", 0.12344, 4) in meets("s", x, 4) for x in (0.12344, 0.1234, 0.12349, 0.1235, 0.123, -0.12344)]
    [True, True, True, False, False, False]
    >>> kept("s", 7, 4) in meets("s", 7.0, 4), kept("s", 7, 4) in meets("s", 7.01, 4), kept("s", 7.0, 4) in meets("s", 7, 4)
    (True, False, True)
    >>> [kept("s", 0.8, 0.05) in meets("s", x, 0.05) for x in (0.84, 0.76, 0.87)]
    [True, True, False]
    """
    if isinstance(value, bool):
        yield stretched(salt, "truth", value)
        return
    if isinstance(value, str):
        yield stretched(salt, "word", value)
        return
    if math.isnan(value):
        return
    if math.isinf(value):
        yield stretched(salt, "number", value)
        return
    if abs(value - round(value)) < 1e-9:
        yield stretched(salt, "integer", round(value))
    if isinstance(value, int) and abs(value) > 2**53:
        return
    if grain < 1:
        at = round(value * PARTS / grain)
        yield from (stretched(salt, "about", grain, n) for n in range(at - PARTS, at + PARTS + 1))
        return
    if value:
        for e in sorted(range(exponent(value) - 1, exponent(value) + 2), key=lambda e: abs(e - exponent(value))):
            at = value / 10.0 ** (e - grain + 1)
            for n in {math.floor(at), math.ceil(at)}:
                if 10 ** (grain - 1) <= abs(n) <= 10**grain:  # others are kept of no number
                    yield stretched(salt, "number", grain, e, n)
    if abs(value) <= max(
        scale * 10.0 ** (1 - NOISE), 1e-12
    ):  # ten times the noise, so that noise itself is never refused
        yield stretched(salt, "nothing")


def rounded(value: Leaf, grain: float) -> list[float]:
    """The numbers of the wanted digits that a number with too few may have been; none if it has enough, or far too few.

    >>> rounded(0.78, 3)[:3], len(rounded(0.78, 4)), rounded(0.7812, 4), rounded(0.7, 4)
    ([0.775, 0.776, 0.777], 101, [], [])
    """
    if isinstance(value, bool | str) or not math.isfinite(value) or not value or grain < 1:
        return []
    written = f"{abs(value):.12g}".partition("e")[0].replace(".", "").strip("0")
    missing = int(grain) - len(written)
    if not 1 <= missing <= 2:
        return []
    step = 10.0 ** (exponent(value) - grain + 1)
    at, half = round(value / step), 10**missing // 2
    return [float(f"{n * step:.12g}") for n in range(at - half, at + half + 1)]


@dataclass(frozen=True)
class Kept:
    """What the key holds of a right answer: its kind, and by the hash of a path the hash of its leaf."""

    kind: str
    items: dict[str, str]

    @classmethod
    def of(cls, salt: str, right: Form, grain: float) -> Kept:
        scale, items = _scale(right.leaves), {}
        for path, value in right.leaves.items():
            leaf = kept(salt, value, grain, scale)
            items[digest(salt, "member", leaf) if right.kind == "set" else digest(salt, "path", path)] = leaf
        return cls(right.kind, dict(sorted(items.items())))

    def right(self, salt: str, given: Form, grain: float) -> dict[str, bool]:
        """For each leaf of an answer, by its path, whether it is right. A path that the key does not have is wrong."""
        return dict(self._each(salt, given, grain))

    def _each(self, salt: str, given: Form, grain: float) -> Iterator[tuple[str, bool]]:
        scale, every = _scale(given.leaves), set(self.items.values())
        for path, value in given.leaves.items():
            leaf = self.items.get(digest(salt, "path", path))
            fine = every if self.kind == "set" else set() if leaf is None else {leaf}
            yield path, bool(fine) and any(found in fine for found in meets(salt, value, grain, scale))

    def accepts(self, salt: str, given: Form, grain: float) -> bool:
        """Whether an answer is right: all its leaves, and none is missing.

        >>> key = Kept.of("s", form({"a": 0.123456, "b": 2}), 4)
        >>> key.accepts("s", form({"b": 2, "a": 0.12346}), 4), key.accepts("s", form({"a": 0.123456}), 4)
        (True, False)
        """
        if not fits(self.kind, given.kind) or len(given.leaves) != len(self.items):
            return False
        return all(right for _, right in self._each(salt, given, grain))  # the first wrong one ends it

    def nearly(self, salt: str, given: Form, grain: float) -> bool:
        """Whether an answer would be right if numbers with too few digits had been given in full.

        >>> key = Kept.of("s", form([0.78123, 2.0]), 4)
        >>> key.nearly("s", form([0.78, 2.0]), 4), key.nearly("s", form([0.7834, 2.0]), 4)
        (True, False)
        """
        if self.kind == "set" or not fits(self.kind, given.kind) or len(given.leaves) != len(self.items):
            return False
        more: dict[str, list[float]] = {
            path: rounded(given.leaves[path], grain) for path, good in self._each(salt, given, grain) if not good
        }
        if not more or not all(more.values()) or sum(map(len, more.values())) > MOST_TRIED:
            return False
        return all(
            any(kept(salt, v, grain) == self.items.get(digest(salt, "path", path)) for v in values)
            for path, values in more.items()
        )


def fits(wanted: str, given: str) -> bool:
    """Whether an answer of this kind can be right where that kind is wanted."""
    return wanted == given or {wanted, given} <= {"integer", "number"}
