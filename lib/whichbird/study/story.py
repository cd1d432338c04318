"""Two scorers over all reliable balances: who leads, how surely, and whether lead and order change between balances."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..core.check import DataError
from ..data.protocol import scorer_named
from ..data.registry import display
from .significance import FEWEST, LEVEL
from .verdict import Verdict


class Between(NamedTuple):
    """What may be said of two scorers between two balances; see `verdict`. None where documents are too few to judge by."""

    places: bool
    moves: bool | None
    turns: bool | None
    turns_swaps: bool


@dataclass(frozen=True, eq=False)
class Story:
    """Scorers `first` and `second` of a dataset at every stop of its reliable interval, the natural balance among them.

    `table`, one row a balance, ascending (one row, NaN, where no balance is known): beta, spa_first, spa_second, lead (first −
    second), lead_low, lead_high, p_first, p_second (PERM-BOTH that the one is better; whole documents swapped where there are
    enough), p_first_segments, p_second_segments (segments swapped, WMT's rule), better ("first", "second" or "": who is
    significantly better, p ≤ .05), change (of the lead since the natural balance), change_low, change_high, and since the
    natural balance: places, moves, turns. `ends` says the same from one end to the other. `crossings` are the neighbouring
    balances between which the two change places. `documents` are the documents judged by.
    """

    first: str
    second: str
    table: pd.DataFrame
    ends: Between
    crossings: tuple[tuple[float, float], ...]
    documents: int

    def __repr__(self) -> str:
        return f"<Story {self.first} and {self.second} at {len(self.table)} balances>"

    @property
    def sentence(self) -> str:
        """What may be said, in two or three sentences."""
        read = replace(self, first=display(self.first), second=display(self.second))
        return " ".join([read._order(), read._surely(), *read._change()])

    def _order(self) -> str:
        t = self.table
        low, high = f"{t['beta'].iloc[0]:.3f}", f"{t['beta'].iloc[-1]:.3f}"
        where = f"at all {len(t)} reliable balances tried, {low} to {high}" if len(t) > 1 else "at the natural balance"
        if not self.crossings:
            ahead = t["lead"].iloc[t["lead"].abs().argmax()]
            if ahead == 0:
                return f"{self.first} and {self.second} have equal SPA {where}."
            one, other = (self.first, self.second) if ahead > 0 else (self.second, self.first)
            never = "" if (t["lead"] != 0).all() else ", or the same,"
            return f"{one} has a larger SPA than {other}{never} {where}."
        places = ", ".join(f"between {' and '.join(_apart(x, y))}" for x, y in self.crossings[:3])
        more = f" and {len(self.crossings) - 3} times more" if len(self.crossings) > 3 else ""
        return f"{self.first} and {self.second} change places between reliable balances: {places}{more}."

    @property
    def judged(self) -> bool:
        """Whether there are documents enough to judge by."""
        return self.documents >= FEWEST

    def _surely(self) -> str:
        t, parts = self.table, []
        how = f"(PERM-BOTH by {'documents' if self.judged else 'segments'}, p ≤ {LEVEL})"
        for who, name in (("first", self.first), ("second", self.second)):
            sure = t[t["better"] == who]["beta"]
            if len(sure) == len(t):
                return f"{name} is significantly better {'at all of them' if len(t) > 1 else 'there'} {how}."
            if len(sure):
                span = f"from {sure.iloc[0]:.3f} to {sure.iloc[-1]:.3f}" if len(sure) > 1 else f"at {sure.iloc[0]:.3f}"
                parts.append(f"{name} is significantly better at {len(sure)} of {len(t)} balances, {span} {how}")
        return "; ".join(parts) + "." if parts else f"Neither is significantly better at any of them {how}."

    def _change(self) -> list[str]:
        """What may be said from one end to the other, and of orders that turn in between."""
        if len(self.table) < 2:
            return []
        if not self.judged:
            return [
                f"Whether lead or order change is not judged: {self.documents} documents are too few, {FEWEST} needed."
            ]
        e = self.ends
        if e.turns:
            told = "the two change places, and the order turns: each order is significant by documents"
        elif e.places:
            told = f"the two change places; the lead {'moves' if e.moves else 'does not move significantly'}; the order does not turn"
        else:
            told = f"the lead {'moves' if e.moves else 'does not move significantly'}; the two keep their places"
        out = [f"From one end to the other {told}."]
        since = int(self.table["turns"].sum())
        if since and not e.turns:
            out.append(f"From the natural balance to {since} of {len(self.table)} others the order turns.")
        return out


def _apart(x: float, y: float) -> tuple[str, str]:
    """Two balances with three decimals, or with as many more as tell them apart: in jazh24 some lie closer than .001."""
    digits = next((n for n in range(3, 12) if f"{x:.{n}f}" != f"{y:.{n}f}"), 3)
    return f"{x:.{digits}f}", f"{y:.{digits}f}"


def story(v: Verdict, first: str, second: str) -> Story:
    """The story of two scorers of a verdict.

    >>> from whichbird import load_significance
    >>> found = story(load_significance("ende24"), "XCOMET", "BLEU")
    >>> found.crossings, found.table["better"].unique().tolist()
    ((), ['first'])
    """
    first, second = (scorer_named(v, name) for name in (first, second))
    if first == second:
        raise DataError(f"{first!r} is compared with itself; two scorers are needed")
    i, j = v.scorers.index(first), v.scorers.index(second)
    order = np.arange(1, v.betas.size) if v.betas.size > 1 else np.array([0])
    betas = v.betas[order]
    lead = v.spa[order, i] - v.spa[order, j]
    base = v.spa[0, i] - v.spa[0, j]
    se, change_se = v.lead_se[order, i, j], v.change_se[order, i, j]
    better = np.array([v.better(int(b)) for b in order])
    p_first, p_second = better[:, i, j], better[:, j, i]
    since = [v.changes(int(b)) for b in order]
    table = pd.DataFrame(
        {
            "beta": betas,
            "spa_first": v.spa[order, i],
            "spa_second": v.spa[order, j],
            "lead": lead,
            "lead_low": lead - v.t * se,
            "lead_high": lead + v.t * se,
            "p_first": p_first,
            "p_second": p_second,
            "p_first_segments": v.p[order, i, j],
            "p_second_segments": v.p[order, j, i],
            "better": np.where(p_first <= LEVEL, "first", np.where(p_second <= LEVEL, "second", "")),
            "change": lead - base,
            "change_low": lead - base - v.t * change_se,
            "change_high": lead - base + v.t * change_se,
            "places": [bool(c.places[i, j]) for c in since],
            "moves": [bool(c.moves[i, j]) if v.judged else None for c in since],
            "turns": [bool(c.turns[i, j]) if v.judged else None for c in since],
        }
    )
    sign = np.sign(lead)
    held = np.flatnonzero(sign)  # a tie is no order: the change is between the two that have one
    turns = [(held[n], held[n + 1]) for n in range(held.size - 1) if sign[held[n]] != sign[held[n + 1]]]
    crossings = tuple((float(betas[x]), float(betas[y])) for x, y in turns)
    between = v.ends() if v.betas.size > 1 else since[0]
    moves, turned = (bool(x[i, j]) if v.judged else None for x in (between.moves, between.turns))
    ends = Between(bool(between.places[i, j]), moves, turned, bool(between.turns_swaps[i, j]))
    return Story(first, second, table, ends, crossings, v.documents)


class Crossing(NamedTuple):
    """Where the lines of two scorers cross, and whether their order turns from one end to the other."""

    beta: float
    spa: float
    turns: bool


def crossings(v: Verdict, scorers: Iterable[str]) -> tuple[Crossing, ...]:
    """All crossings of the lines of some scorers inside the stops of a verdict, on straight lines between stops.

    >>> from whichbird import load_significance
    >>> crossings(load_significance("ende24"), ["XCOMET", "BLEU"])
    ()
    """
    out = []
    for first, second in combinations(dict.fromkeys(scorers), 2):
        found = story(v, first, second)
        t = found.table.set_index("beta")[["lead", "spa_first"]]
        for x, y in found.crossings:
            (lead, spa), (lead_after, spa_after) = t.loc[[x, y]].to_numpy()
            share = lead / (lead - lead_after)
            spa += share * (spa_after - spa)
            out.append(Crossing(float(x + share * (y - x)), float(spa), bool(found.ends.turns)))
    return tuple(out)
