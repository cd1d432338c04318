"""Mistakes that a check can name without knowing the right answer.

Each undoes one typical mistake: if the undone answer meets the key, this was the mistake. So nothing about them is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from .forms import Form, Leaf

Undo = Callable[[float], float]
ONE_BY_ONE: tuple[tuple[str, Undo], ...] = (
    ("The sign is turned round: what is subtracted from what?", lambda x: -x),
    ("This is the rest: one minus it is wanted.", lambda x: 1 - x),
    ("This is twice as much. Is each pair counted twice?", lambda x: x / 2),
    ("This is half of it. Does each pair count in both orders, or is there a ½ too many?", lambda x: 2 * x),
    ("This is in per cent; a share of one is wanted.", lambda x: x / 100),
    ("This is a share of one; per cent are wanted.", lambda x: 100 * x),
    ("This is upside down: one divided by it is wanted.", lambda x: 1 / x),
    ("This is its square. Variance for standard deviation?", lambda x: math.sqrt(x)),
    ("This is its square root. Standard deviation for variance?", lambda x: x * x),
)
MANY_DIGITS = 4  # fewer cannot tell K from K − 1


def _sample(size: int) -> tuple[tuple[str, Undo], ...]:
    more, root = size / (size - 1), math.sqrt(size / (size - 1))
    return (
        (f"It is too large by {size}/{size - 1}: this is the sample variance, divided by K − 1; divide by K.", lambda x: x / more),
        (f"It is too small by {size - 1}/{size}: divide by K − 1 here.", lambda x: x * more),
        (f"It is too large by √({size}/{size - 1}): this is the sample standard deviation, with K − 1; take K.", lambda x: x / root),
        (f"It is too small by √({size - 1}/{size}): take K − 1 here.", lambda x: x * root),
    )  # fmt: skip


def undone(given: Form, sizes: list[int], digits: float) -> Iterator[tuple[str, Form]]:
    """What the answer would be without each mistake, and what to say if this is the right one.

    `sizes` are numbers of systems by which a sample's variance may differ from a population's.

    >>> from .forms import form
    >>> [f.leaves for _, f in undone(form([1.0, 3.0]), [], 4)][-2:]
    [{'0': 3.0, '1': 1.0}, {'0': 0.25, '1': 0.75}]
    """
    if not given.leaves or not given.numbers:
        if given.kind == "list":
            yield from _order(given)
        return
    rules = [*ONE_BY_ONE, *(rule for n in sizes if digits >= MANY_DIGITS for rule in _sample(n))]
    for say, undo in rules:
        try:
            leaves: dict[str, Leaf] = {path: undo(float(v)) for path, v in given.leaves.items()}
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
        yield say, Form(given.kind, leaves)
    if given.kind == "integer":
        (n,) = given.leaves.values()
        yield "This is one too many. Does a count begin at 0, or include an end?", Form("integer", {"": int(n) - 1})
        yield "This is one too few. Does a count begin at 0, or leave out an end?", Form("integer", {"": int(n) + 1})
    if given.kind == "list":
        yield from _order(given)
    total = sum(float(v) for v in given.leaves.values())
    if len(given.leaves) > 1 and total and math.isfinite(total):
        shares: dict[str, Leaf] = {path: float(v) / total for path, v in given.leaves.items()}
        yield "They are not divided by their sum.", Form(given.kind, shares)


def _order(given: Form) -> Iterator[tuple[str, Form]]:
    values = list(given.leaves.values())
    if len(values) < 2:
        return
    for say, other in (
        ("The values are right, but they run the other way round.", values[::-1]),
        ("The values are right, their order is not: sorted upwards they would be.", sorted(values, key=_rank)),
        ("The values are right, their order is not: sorted downwards they would be.", sorted(values, key=_rank)[::-1]),
    ):
        yield say, Form("list", dict(zip(given.leaves, other, strict=True)))


def _rank(value: Leaf) -> tuple[bool, float, str]:
    word = isinstance(value, str)
    return word, 0.0 if word else float(value), str(value)
