"""Other groupings of errors, as data: a small TOML file says what differs from the paper's tables, all else is inherited.

    title = "Terminology to adequacy"
    why = "a wrong term is a wrong meaning"
    [aspects]                      # categories by aspect; a star at the end stands for whatever follows
    adequacy = ["terminology/*"]
    [severities]                   # what an error costs by its severity
    major = 10
    [categories]                   # a price whatever the severity; "severity": no price of its own
    "source error" = "severity"
    [pairs."fluency/punctuation"]  # the price of a category at a severity
    minor = 1

A category is priced by its whole name, without a star. A severity that the paper does not know is added to its own.

Such files ship in data/taxonomies. Adequacy and fluency of systems follow from the error counts (`regroup`); those of
segments need the ratings themselves: `read_mqm_tsv` and `read_mtme` take the two tables of a `Grouping`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.check import DataError, near
from .digest import Digest, dataset_of, load_errors
from .files import read_text
from .manifest import folder, shipped_text
from .mqm import ASPECTS, TAXONOMY, WEIGHTS, Taxonomy, Weights, aspect_means, plain, spellings
from .pool import Pool

if TYPE_CHECKING:
    import pandas as pd

ENDING = ".toml"
PAPER = "paper"
KEYS = ("title", "why", "aspects", "severities", "categories", "pairs")
BY_SEVERITY = "severity"  # a category without a price of its own
SAME_PRICE = 1e-6  # shares of a price this close are one; the table of errors prints ten digits


@dataclass(frozen=True)
class Grouping:
    """A grouping of errors: which aspect a category belongs to, and what an error costs.

    `said` holds the categories that its file puts in an aspect, with a star at the end of those that begin others;
    `priced` those it gives a price.

    >>> g = load_taxonomy("terminology")
    >>> g.said, g.taxonomy.aspect("Terminology/Inconsistent")
    (frozenset({'terminology/*'}), 'adequacy')
    """

    name: str
    title: str
    why: str
    taxonomy: Taxonomy
    weights: Weights
    said: frozenset[str] = frozenset()
    priced: frozenset[str] = frozenset()

    def notes(self, categories: Iterable[str]) -> list[str]:
        """Sentences on what the file says nothing about, and on what it says in vain, in data with these categories.

        What no taxonomy knows is not among them: who reads the data says so.

        >>> load_taxonomy("terminology").notes(["Terminology/Inconsistent", "Accuracy/Omission", "gremlins"])
        ["terminology does not mention 'accuracy/omission': as in the paper's taxonomy"]
        """
        seen = {plain(c): spellings(c) for c in sorted(categories)}
        rest = [c for c, names in sorted(seen.items()) if not any(_fits(s, n) for s in self.said for n in names)]
        known = [c for c in rest if self.taxonomy.aspect(c) is not None]
        there = {n for names in seen.values() for n in names}
        vain = [s for s in sorted(self.said | self.priced) if not any(_fits(s, n) for n in there)]
        out = []
        if known and self.said:
            out.append(f"{self.name} does not mention {_listed(known)}: as in the paper's taxonomy")
        if vain:
            out.append(f"{self.name} mentions {_listed(vain)}, which the data do not have")
        return out

    def check(self, pool: Pool) -> Pool:
        """The pool, or a refusal where this grouping, by which it was read, leaves one of its aspects empty."""
        if pool.aspects is None:
            raise DataError(f"{pool.name} has no ratings of errors to group")
        _filled(self, pool.name, *pool.aspects)
        return pool


def taxonomies() -> list[str]:
    """The names of the groupings that ship, the paper's first.

    >>> taxonomies()[0], "terminology" in taxonomies()
    ('paper', True)
    """
    names = {path.stem for path in (folder() / "taxonomies").glob(f"*{ENDING}")}
    return sorted(names, key=lambda name: (name != PAPER, name))


def load_taxonomy(source: str | Path) -> Grouping:
    """A grouping that ships, by its name, or that of a file of your own, by its path (which ends in .toml).

    >>> g = load_taxonomy("terminology")
    >>> g.title, g.taxonomy.aspect("Terminology/Inconsistent"), g.taxonomy.aspect("Style/Awkward")
    ('Terminology to adequacy', 'adequacy', 'fluency')
    """
    if not isinstance(source, str | Path):
        raise ValueError(f"{source!r} is no taxonomy; a name, one of {', '.join(taxonomies())}, or a path is expected")
    path = Path(source)
    text = taxonomy_text(source)
    path = path if path.suffix == ENDING else folder() / "taxonomies" / f"{source}{ENDING}"
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path}: not TOML: {error}") from None
    except RecursionError:
        raise DataError(f"{path}: brackets inside brackets, too deep to be read") from None
    try:
        return _grouping(path.stem, table)
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None


def taxonomy_text(source: str | Path) -> str:
    """The file of a grouping, as `load_taxonomy` reads it.

    >>> taxonomy_text("terminology").splitlines()[0]
    'title = "Terminology to adequacy"'
    """
    if Path(source).suffix == ENDING:
        return read_text(Path(source))
    known = taxonomies()
    if str(source) not in known:
        there = f"; there are {', '.join(known)}" if known else ""
        raise DataError(
            f"unknown taxonomy {str(source)!r}{near(str(source), known) or there}; "
            f"one of your own is a file that ends in {ENDING}"
        )
    return shipped_text(Path("taxonomies", f"{source}{ENDING}"))


def _errors_of(d: Digest) -> pd.DataFrame:
    """The error counts that ship for the systems of a digest."""
    errors = load_errors(d.info.get("of", d.name))
    return errors[errors["system"].isin(d.systems)].reset_index(drop=True)


def regroup(source: Digest | Pool | str, grouping: Grouping | str | Path) -> tuple[np.ndarray, np.ndarray]:
    """System means of adequacy and fluency, (K,) each, under another grouping: MQM points per segment, ≤ 0.

    They follow from the counts of errors that a digest or a pool at the paper's prices has; a pool whose errors cost more
    than there, or less than the number of its ratings explains, is refused. An error that the paper
    prices at 0 (a neutral one, one of the source) can be given a price where every cell has as many ratings as any
    other; else the counts do not tell its share of a mean over raters, and the grouping is refused.

    >>> from whichbird import balance
    >>> [round(balance(*regroup("ende21", g)), 3) for g in ("paper", "terminology")]
    [0.227, 0.289]
    """
    source = dataset_of(source)
    g = grouping if isinstance(grouping, Grouping) else load_taxonomy(grouping)
    errors = source.errors if isinstance(source, Pool) else _errors_of(source)
    if errors is None or source.aspects is None:
        raise DataError(f"{source.name} has no ratings of errors to group")
    labels = list(zip(errors["category"], errors["severity"], strict=True))
    old, new = (
        np.array([w.penalty(*label) for label in labels], dtype=np.float64)  # NaN where a severity is unknown
        for w in (WEIGHTS, g.weights)
    )
    penalty, count = errors["penalty"].to_numpy(np.float64), errors["count"].to_numpy(np.float64)
    priced = old > 0
    share = penalty[priced] / (count * old)[priced]  # of its price that an error costs, in a mean over raters
    least = 1 / max(1, len(source.ratings)) if isinstance(source, Pool) else 0  # of as many ratings as any cell has
    if (share > 1 + SAME_PRICE).any() or (share < least - SAME_PRICE).any() or (penalty[old == 0] > 0).any():
        raise DataError(f"{source.name} was not read at the paper's prices; read its ratings again with this grouping")
    made = penalty.copy()
    made[priced] *= new[priced] / old[priced]
    free = ~priced & (new > 0)
    if free.any():
        if not share.size or np.ptp(share) > SAME_PRICE:
            category, severity = labels[int(free.argmax())]
            raise DataError(
                f"{source.name}: {g.name} puts a price on {category!r} of severity {severity!r}, which cost nothing; raters "
                "of a cell were not equally many, so its share is not known: read the ratings again with this grouping"
            )
        made[free] = (count * new)[free] * share.mean()
    means = aspect_means(errors.assign(penalty=made), source.rated, source.systems, g.taxonomy)
    a, f = means["adequacy"].to_numpy(), means["fluency"].to_numpy()
    _filled(g, source.name, a, f)
    return a, f


def _filled(g: Grouping, name: str, a: np.ndarray, f: np.ndarray) -> None:
    for aspect, x in (("adequacy", a), ("fluency", f)):
        if not x.any():
            raise DataError(f"{name}: {g.name} leaves {aspect} empty: no error of the data costs a point there")


def _grouping(name: str, table: Mapping[str, Any]) -> Grouping:
    _only(table, KEYS, "key")
    for key in ("title", "why"):
        if not isinstance(table.get(key, ""), str):
            raise ValueError(f"{key} is {table[key]!r}; text is expected")
    aspects = _table(table, "aspects")
    _only(aspects, ASPECTS, "aspect")
    said: dict[str, str] = {}
    for aspect, labels in aspects.items():
        if not isinstance(labels, list) or not all(isinstance(label, str) and label.strip() for label in labels):
            raise ValueError(f"{aspect} is {labels!r}; a list of categories is expected")
        for label in map(plain, labels):
            if "*" in label[:-1]:
                raise ValueError(f"{label!r} has a star inside; it can only stand at the end")
            if said.setdefault(label, aspect) != aspect:
                raise ValueError(f"{label!r} is given to {said[label]} and to {aspect}; one aspect is expected")
    weights, priced = _weights(table)
    g = Grouping(
        name, table.get("title", name), table.get("why", ""), _taxonomy(said), weights, frozenset(said), priced
    )
    labels = [*g.taxonomy.names, *g.taxonomy.prefixes]
    for aspect in ("adequacy", "fluency"):
        mine = [label for label in labels if g.taxonomy.aspect(label) == aspect]
        if not any(g.weights.penalty(label, severity) for label in mine for severity in g.weights.severities):
            raise ValueError(f"it leaves {aspect} empty; some category that costs points must belong there")
    return g


def _taxonomy(said: Mapping[str, str]) -> Taxonomy:
    """The paper's table under what a file says: a label with a star also replaces all that begin with it."""
    begins = {label[:-1]: aspect for label, aspect in said.items() if label.endswith("*")}
    names = {label: aspect for label, aspect in said.items() if not label.endswith("*")}
    old = tuple(begins)
    return Taxonomy(
        {label: aspect for label, aspect in TAXONOMY.names.items() if not label.startswith(old)} | names,
        {label: aspect for label, aspect in TAXONOMY.prefixes.items() if not label.startswith(old)} | begins,
    )


def _weights(table: Mapping[str, Any]) -> tuple[Weights, frozenset[str]]:
    """The paper's prices under what a file says, and the categories that it names."""
    severities = dict(WEIGHTS.severities) | {s: _cost(s, cost) for s, cost in _labelled(table, "severities").items()}
    categories, pairs = dict(WEIGHTS.categories), dict(WEIGHTS.pairs)
    fixed, split = _labelled(table, "categories"), _labelled(table, "pairs")
    for label, cost in fixed.items():
        if cost == BY_SEVERITY:
            categories.pop(label, None)
        else:
            categories[label] = _cost(label, cost)
    for label, costs in split.items():
        if not isinstance(costs, dict):
            raise ValueError(f"pairs.{label} is {costs!r}; a table of severities and costs is expected")
        if label in categories:
            raise ValueError(
                f"{label!r} costs {categories[label]:g} at every severity, so no pair can price it; "
                f'put it in [categories] as "{BY_SEVERITY}" first'
            )
        for severity, cost in _labelled(split, label).items():
            _only({severity: cost}, tuple(severities), "severity")
            pairs[label, severity] = _cost(f"{label}, {severity}", cost)
    return Weights(severities, categories, pairs), frozenset([*fixed, *split])


def _labelled(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A table of a file, its labels spelt as the data's are; each must be there once, and whole."""
    out: dict[str, Any] = {}
    for label, value in _table(table, key).items():
        if "*" in label:
            raise ValueError(f"{label!r} in {key} has a star; prices go by whole names")
        if plain(label) in out:
            raise ValueError(f"{plain(label)!r} is twice in {key}; one price is expected")
        out[plain(label)] = value
    return out


def _cost(label: str, cost: object) -> float:
    if isinstance(cost, bool) or not isinstance(cost, int | float):
        raise ValueError(f"{label!r} is given the cost {cost!r}; a number of at least 0 is expected")
    try:
        return float(cost)
    except OverflowError:
        raise ValueError(f"{label!r} is given a cost too large for a number; at most 1e308 is expected") from None


def _table(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = table.get(key, {})
    if not isinstance(found, dict):
        raise ValueError(f"{key} is {found!r}; a table [{key}] is expected")
    return found


def _only(table: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    for key in table:
        if key not in known:
            raise ValueError(f"unknown {what} {key!r}{near(key, known) or '; there are ' + ', '.join(known)}")


def _fits(label: str, category: str) -> bool:
    return category.startswith(label[:-1]) if label.endswith("*") else category == label


def _listed(labels: list[str]) -> str:
    shown = ", ".join(map(repr, labels[:4]))
    return shown + (f" and {len(labels) - 4} more" if len(labels) > 4 else "")
