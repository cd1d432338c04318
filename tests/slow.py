"""Definitions written out in exact arithmetic, for the tests to compare with."""

from fractions import Fraction
from itertools import combinations, pairwise


def preference(human, curves, w) -> float:
    """A measure from counts (P,) and (M, D, P) under weights (K,): SPA at every dial, neighbours compared, ties one half.

    Weights may be floats: they are taken as the fractions they are.
    """
    pairs = list(combinations([Fraction(v) for v in w], 2))
    total = sum(a * b for a, b in pairs)
    answers = []
    for scorer in curves.tolist():
        spa = [
            1 - sum(a * b * abs(h - p) for (a, b), h, p in zip(pairs, human.tolist(), dial, strict=True)) / total
            for dial in scorer
        ]
        answers.append([Fraction(y > x) + Fraction(y == x, 2) for x, y in pairwise(spa)])
    by_scorer = [sum(a) / len(a) for a in answers]
    return float(sum(by_scorer) / len(by_scorer))
