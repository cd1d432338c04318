"""An MQM error: what it costs, and which aspect it belongs to.

Both answers are tables. `WEIGHTS` says what an error of a category and severity costs; `TAXONOMY` says whether the category
speaks of adequacy, of fluency, or of neither. A reader who disagrees passes another table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

ASPECTS = ("adequacy", "fluency", "neither")


def plain(label: str) -> str:
    """A category or severity as the tables spell it: lower case, spaces for underscores.

    >>> plain("Locale_Convention/Currency ")
    'locale convention/currency'
    """
    return label.strip().lower().replace("_", " ")


@dataclass(frozen=True)
class Taxonomy:
    """Which aspect a category belongs to: by its whole name first, else by the longest prefix that fits."""

    names: Mapping[str, str]
    prefixes: Mapping[str, str]

    def __post_init__(self) -> None:
        for table in ("names", "prefixes"):  # spelt as the categories are compared, or an entry would never be found
            object.__setattr__(self, table, {plain(label): aspect for label, aspect in getattr(self, table).items()})
        for label, aspect in [*self.names.items(), *self.prefixes.items()]:
            if aspect not in ASPECTS:
                raise ValueError(f"{label!r} is given the aspect {aspect!r}; one of {', '.join(ASPECTS)} is expected")

    def aspect(self, category: str) -> str | None:
        """'adequacy', 'fluency', 'neither', or None for a category the taxonomy does not know.

        >>> TAXONOMY.aspect("Accuracy/Omission"), TAXONOMY.aspect("word_order"), TAXONOMY.aspect("Other")
        ('adequacy', 'fluency', 'neither')
        >>> TAXONOMY.aspect("gremlins") is None
        True
        """
        category = plain(category)
        if category in self.names:
            return self.names[category]
        fits = [p for p in self.prefixes if category.startswith(p)]
        return self.prefixes[max(fits, key=len)] if fits else None

    def moved(self, **aspects: list[str]) -> Taxonomy:
        """A copy in which the listed categories belong to another aspect.

        >>> TAXONOMY.moved(adequacy=["terminology/inconsistent"]).aspect("terminology/inconsistent")
        'adequacy'
        """
        return Taxonomy({**self.names, **{plain(c): a for a, cs in aspects.items() for c in cs}}, self.prefixes)


@dataclass(frozen=True)
class Weights:
    """What an error costs: a fixed price for some categories, a price for a category at a severity, else the severity's."""

    severities: Mapping[str, float]
    categories: Mapping[str, float] = field(default_factory=dict)
    pairs: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "severities", {plain(s): cost for s, cost in self.severities.items()})
        object.__setattr__(self, "categories", {plain(c): cost for c, cost in self.categories.items()})
        object.__setattr__(self, "pairs", {(plain(c), plain(s)): cost for (c, s), cost in self.pairs.items()})
        for label, cost in [*self.severities.items(), *self.categories.items(), *self.pairs.items()]:
            if not 0 <= cost < inf:
                raise ValueError(f"{label!r} is given the cost {cost}; a finite number of at least 0 is expected")

    def penalty(self, category: str, severity: str) -> float | None:
        """The cost in MQM points (0 or more), or None for a severity the table does not know.

        >>> WEIGHTS.penalty("Fluency/Punctuation", "Minor"), WEIGHTS.penalty("Accuracy/Omission", "Major")
        (0.1, 5.0)
        >>> WEIGHTS.penalty("Accuracy/Omission", "dreadful") is None
        True
        """
        category, severity = plain(category), plain(severity)
        if severity not in self.severities:
            return None
        by_pair = self.pairs.get((category, severity), self.severities[severity])
        return float(self.categories.get(category, by_pair))


WEIGHTS = Weights(
    severities={"critical": 5, "major": 5, "minor": 1, "neutral": 0, "no-error": 0},
    categories={
        "non-translation!": 25,
        "non-translation": 25,
        "non translation": 25,  # non_translation, in 2022
        "source error": 0,
        "source issue": 0,
        "accuracy/creative reinterpretation": 0,
        "no-error": 0,
    },
    pairs={("fluency/punctuation", "minor"): 0.1, ("punctuation", "minor"): 0.1},
)


def _table(**aspects: str) -> dict[str, str]:
    return {name.strip(): aspect for aspect, names in aspects.items() for name in names.split(",")}


# Hierarchical names (2020-2023, and most of 2024) go by prefix. The flat names come from the error typology of enru22, enes24.
# Mind the seam between the two: a wrong term is adequacy there, while 'terminology/...' is fluency everywhere else.
TAXONOMY = Taxonomy(
    names=_table(
        adequacy="non-translation!, non-translation, non translation, addition, agreement, do not translate, mistranslation, "
        "mt hallucination, omission, untranslated, wrong named entity, wrong term, term not applied",
        fluency="capitalization, date time format, inconsistency, lacks creativity, grammar, measurement format, number format, "
        "punctuation, register, spelling, unnatural flow, whitespace, word order, wrong language variety, markup tag, "
        "culture-specific reference, currency format",
        neither="other, source issue, source error, no-error, unknown",
    ),
    prefixes=_table(
        adequacy="accuracy/",
        fluency="fluency/, style/, locale convention/, terminology/inappropriate, terminology/inconsistent",
    ),
)


class Tally:
    """Asks the two tables about errors, and remembers every label that neither knew."""

    def __init__(self, taxonomy: Taxonomy = TAXONOMY, weights: Weights = WEIGHTS):
        self.taxonomy, self.weights = taxonomy, weights
        self.unknown: Counter[str] = Counter()
        self._aspects: dict[str, str | None] = {}

    def aspect(self, category: str, times: int = 1) -> str:
        """The aspect of a category found so many `times`; an unknown one counts as neither, and is remembered."""
        if category not in self._aspects:
            self._aspects[category] = self.taxonomy.aspect(category)
        aspect = self._aspects[category]
        if aspect is None:
            self.unknown[f"category {category!r}"] += times
            return "neither"
        return aspect

    def penalty(self, category: str, severity: str, times: int = 1) -> float:
        """The cost of an error found so many `times`; one of unknown severity costs nothing, and is remembered."""
        cost = self.weights.penalty(category, severity)
        if cost is None:
            self.unknown[f"severity {severity!r}"] += times
            return 0.0
        return cost

    def report(self) -> str:
        """One sentence naming what no table knew, or an empty string.

        >>> t = Tally()
        >>> t.aspect("gremlins"), t.penalty("gremlins", "dreadful")
        ('neither', 0.0)
        >>> t.report()
        "not in the tables: 1 × category 'gremlins' (in no aspect), 1 × severity 'dreadful' (at its file's cost, else 0)"
        """
        if not self.unknown:
            return ""
        treated = {"category": "in no aspect", "severity": "at its file's cost, else 0"}
        found = ", ".join(f"{n} × {label} ({treated[label.split()[0]]})" for label, n in sorted(self.unknown.items()))
        return f"not in the tables: {found}"


def aspect_means(
    errors: pd.DataFrame, rated: ArrayLike, systems: Sequence[str], taxonomy: Taxonomy = TAXONOMY
) -> pd.DataFrame:
    """System means of adequacy and fluency under any taxonomy, from an error table.

    `errors` has columns system, category, penalty (the sum over that row's errors); `rated` (K,) is the number of rated
    segments of each of `systems`. Returns K rows with columns adequacy, fluency, neither: MQM points per segment, ≤ 0.

    >>> errors = pd.DataFrame({"system": ["x", "x"], "category": ["accuracy/omission", "style/awkward"], "penalty": [5.0, 1.0]})
    >>> aspect_means(errors, [2, 2], ["x", "y"])
       adequacy  fluency  neither
    x      -2.5     -0.5      0.0
    y       0.0      0.0      0.0
    """
    aspects = errors["category"].map(lambda c: taxonomy.aspect(c) or "neither")
    sums = errors.groupby([errors["system"], aspects])["penalty"].sum().unstack().fillna(0.0)
    sums = sums.reindex(index=list(systems), columns=list(ASPECTS), fill_value=0.0)
    out = 0.0 - sums.div(pd.Series(np.asarray(rated), index=list(systems)), axis=0)
    out.index.name = out.columns.name = None
    return out
