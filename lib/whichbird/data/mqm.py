"""An MQM error: what it costs, and which aspect it belongs to.

Both answers are tables. `WEIGHTS` says what an error of a category and severity costs; `TAXONOMY` says whether the category
speaks of adequacy, of fluency, or of neither. A reader who disagrees passes another table.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    import pandas as pd  # loaded where a frame is made

ASPECTS = ("adequacy", "fluency", "neither")
UNCOUNTED = (
    0.2  # the largest share of errors, or of penalties, that the tables may not know: beyond, no balance is told
)


def plain(label: str) -> str:
    """A category or severity as the tables spell it: lower case, spaces for underscores.

    >>> plain("Locale_Convention/Currency ")
    'locale convention/currency'
    """
    return label.strip().lower().replace("_", " ")


# What MQM-Core calls an error, and what the raters of WMT call it. Its other names are theirs already, or begin as theirs do.
# "Terminology" alone is not here: a wrong term is adequacy and an inconsistent one fluency, so it does not say which.
CORE = {
    "accuracy": "accuracy/unspecified",
    "address format": "locale convention/address format",
    "audience appropriateness": "style/unspecified",
    "audience appropriateness/": "style/",
    "audience appropriateness/culture-specific reference": "culture-specific reference",
    "awkward style": "style/awkward",
    "character encoding": "fluency/character encoding",
    "date format": "date time format",
    "design and markup": "markup tag",
    "design and markup/": "markup tag",
    "fluency": "fluency/unspecified",
    "inconsistent style": "style/inconsistent",
    "language register": "register",
    "linguistic conventions": "fluency/unspecified",
    "linguistic conventions/": "fluency/",
    "locale convention": "locale convention/unspecified",
    "locale conventions": "locale convention/unspecified",
    "locale conventions/": "locale convention/",
    "organizational style": "style/organizational",
    "over-translation": "mistranslation",
    "shortcut key": "locale convention/shortcut key",
    "style": "style/unspecified",
    "telephone format": "locale convention/telephone format",
    "terminology/wrong term": "wrong term",
    "textual conventions": "fluency/unspecified",
    "third-party style": "style/third-party",
    "time format": "date time format",
    "under-translation": "mistranslation",
    "unidiomatic style": "style/unidiomatic",
    "unintelligible": "fluency/unintelligible",
}


def spellings(category: str) -> tuple[str, ...]:
    """A category as it is spelt, and as the raters of WMT would call it if MQM-Core has another name for it.

    >>> spellings("Linguistic conventions/Grammar"), spellings("Terminology/Wrong term"), spellings("Style/Awkward")
    (('linguistic conventions/grammar', 'fluency/grammar'), ('terminology/wrong term', 'wrong term'), ('style/awkward',))
    """
    name = plain(category)
    top, slash, rest = name.partition("/")
    if name in CORE:
        return name, CORE[name]
    new = CORE.get(top + slash) if slash else None
    return (name,) if new is None else (name, new + rest if new.endswith("/") else new)


@dataclass(frozen=True)
class Taxonomy:
    """Which aspect a category belongs to: by its whole name first, else by the longest prefix that fits.

    A category of MQM-Core that is found neither way is looked up as the raters of WMT call it.
    """

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
        >>> TAXONOMY.aspect("Linguistic conventions/Unintelligible"), TAXONOMY.aspect("gremlins") is None
        ('fluency', True)
        """
        for name in spellings(category):
            if name in self.names:
                return self.names[name]
            fits = [p for p in self.prefixes if name.startswith(p)]
            if fits:
                return self.prefixes[max(fits, key=len)]
        return None

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
        severity = plain(severity)
        if severity not in self.severities:
            return None
        for name in spellings(category):
            if name in self.categories:
                return float(self.categories[name])
            if (name, severity) in self.pairs:
                return float(self.pairs[name, severity])
        return float(self.severities[severity])


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
        self.points: defaultdict[str, float] = defaultdict(float)  # what those errors cost
        self._aspects: dict[str, str | None] = {}

    def aspect(self, category: str, times: int = 1, points: float = 0.0) -> str:
        """The aspect of a category found so many `times`, at so many `points`; an unknown one is neither, and remembered."""
        if category not in self._aspects:
            self._aspects[category] = self.taxonomy.aspect(category)
        aspect = self._aspects[category]
        if aspect is None:
            self.unknown[f"category {category!r}"] += times
            self.points[f"category {category!r}"] += points
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
        """One sentence naming what no table knew, the heaviest first, or an empty string.

        >>> t = Tally()
        >>> t.aspect("gremlins"), t.penalty("gremlins", "dreadful")
        ('neither', 0.0)
        >>> t.report()
        "not in the tables: 1 × category 'gremlins' (in no aspect), 1 × severity 'dreadful' (at its file's cost, else 0)"
        """
        if not self.unknown:
            return ""
        treated = {"category": "in no aspect", "severity": "at its file's cost, else 0"}
        order = sorted(self.unknown.items(), key=lambda one: (-self.points[one[0]], -one[1], one[0]))
        found = ", ".join(f"{n} × {label} ({treated[label.split()[0]]})" for label, n in order)
        return f"not in the tables: {found}"


class Coverage(NamedTuple):
    """How much of a table of errors counts, as shares (0 to 1) of the errors and of their penalties.

    `errors` and `penalties` are in one of the two aspects; the rest is in neither. `unknown_errors` and `unknown_penalties` are
    there only because no table knows their category, or what their severity costs.
    """

    errors: float
    penalties: float
    unknown_errors: float
    unknown_penalties: float

    @property
    def enough(self) -> bool:
        """Whether so little is unknown that a balance may be taken from the rest."""
        return max(self.unknown_errors, self.unknown_penalties) <= UNCOUNTED


def coverage(errors: pd.DataFrame, taxonomy: Taxonomy = TAXONOMY, weights: Weights = WEIGHTS) -> Coverage:
    """The shares of an error table, as `Pool.errors` holds it, that two tables count.

    >>> rows = [("x", "accuracy/omission", "minor", 2, 2.0), ("x", "other", "minor", 1, 1.0), ("y", "gremlins", "minor", 1, 1.0)]
    >>> import pandas as pd
    >>> coverage(pd.DataFrame(rows, columns=["system", "category", "severity", "count", "penalty"]))
    Coverage(errors=0.5, penalties=0.5, unknown_errors=0.25, unknown_penalties=0.25)
    """
    labels = zip(errors["category"], errors["severity"], errors["penalty"], strict=True)
    found = [  # a severity that only its file knows has a cost there
        None if cost == 0 and weights.penalty(category, severity) is None else taxonomy.aspect(category)
        for category, severity, cost in labels
    ]
    unknown = np.array([aspect is None for aspect in found], dtype=bool)
    counted = np.array([aspect in ("adequacy", "fluency") for aspect in found], dtype=bool)
    sizes = [errors[column].to_numpy(np.float64) for column in ("count", "penalty")]
    shares = [
        float(x[part].sum() / x.sum()) if x.sum() > 0 else float(part is counted)
        for part in (counted, unknown)
        for x in sizes
    ]
    return Coverage(*shares)


def aspect_means(
    errors: pd.DataFrame, rated: ArrayLike, systems: Sequence[str], taxonomy: Taxonomy = TAXONOMY
) -> pd.DataFrame:
    """System means of adequacy and fluency under any taxonomy, from an error table.

    `errors` has columns system, category, penalty (the sum over that row's errors); `rated` (K,) is the number of rated
    segments of each of `systems`. Returns K rows with columns adequacy, fluency, neither: MQM points per segment, ≤ 0.

    >>> import pandas as pd
    >>> errors = pd.DataFrame({"system": ["x", "x"], "category": ["accuracy/omission", "style/awkward"], "penalty": [5.0, 1.0]})
    >>> aspect_means(errors, [2, 2], ["x", "y"])
       adequacy  fluency  neither
    x      -2.5     -0.5      0.0
    y       0.0      0.0      0.0
    """
    aspects = errors["category"].map(lambda c: taxonomy.aspect(c) or "neither")
    sums = errors.groupby([errors["system"], aspects])["penalty"].sum().unstack().fillna(0.0)
    sums = sums.reindex(index=list(systems), columns=list(ASPECTS), fill_value=0.0)
    out = 0.0 - sums.div(np.asarray(rated), axis=0)
    out.index.name = out.columns.name = None
    return out
