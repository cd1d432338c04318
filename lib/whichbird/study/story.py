"""Two scorers over all reliable balances: who leads, how surely, and whether a change between balances is more than noise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..core.check import DataError
from ..data.protocol import scorer_named
from .significance import LEVEL
from .verdict import Verdict


@dataclass(frozen=True, eq=False)
class Story:
    """Scorers `first` and `second` of a dataset at every stop of its reliable interval, the natural balance among them.

    `table`, one row a balance, ascending (one row, NaN, where no balance is known): beta, spa_first, spa_second, lead (first −
    second), lead_low, lead_high, p_first, p_second (PERM-BOTH that the one is better), better ("first", "second" or "": who
    is significantly better, p ≤ .05), change (of the lead since the natural balance), change_low, change_high, real (the
    order is another than at the natural balance, for real). `between` is True where the order changes for real from one
    end to the other. `crossings` are the neighbouring balances between which the order changes.
    """

    first: str
    second: str
    table: pd.DataFrame
    between: bool
    crossings: tuple[tuple[float, float], ...]

    @property
    def sentence(self) -> str:
        """What may be said, in two or three sentences."""
        return " ".join([self._order(), self._surely(), *self._change()])

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
        return f"{self.first} and {self.second} change order between reliable balances: {places}{more}."

    def _surely(self) -> str:
        t, parts = self.table, []
        for who, name in (("first", self.first), ("second", self.second)):
            sure = t[t["better"] == who]["beta"]
            if len(sure) == len(t):
                return f"{name} is significantly better {'at all of them' if len(t) > 1 else 'there'} (p ≤ {LEVEL})."
            if len(sure):
                span = f"from {sure.iloc[0]:.3f} to {sure.iloc[-1]:.3f}" if len(sure) > 1 else f"at {sure.iloc[0]:.3f}"
                parts.append(
                    f"{name} is significantly better at {len(sure)} of {len(t)} balances, {span} (p ≤ {LEVEL})"
                )
        return "; ".join(parts) + "." if parts else "Neither is significantly better at any of them."

    def _change(self) -> list[str]:
        if not self.crossings:
            return []
        if self.between:
            return ["From one end to the other that change is more than noise."]
        if self.table["real"].any():
            return ["Between the natural balance and some others that change is more than noise."]
        return ["No such change is more than noise."]


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
    p_first, p_second = v.p[order, i, j], v.p[order, j, i]
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
            "better": np.where(p_first <= LEVEL, "first", np.where(p_second <= LEVEL, "second", "")),
            "change": lead - base,
            "change_low": lead - base - v.t * change_se,
            "change_high": lead - base + v.t * change_se,
            "real": [b > 0 and bool(v.changes(int(b)).real[i, j]) for b in order],
        }
    )
    sign = np.sign(lead)
    held = np.flatnonzero(sign)  # a tie is no order: the change is between the two that have one
    turns = [(held[n], held[n + 1]) for n in range(held.size - 1) if sign[held[n]] != sign[held[n + 1]]]
    crossings = tuple((float(betas[x]), float(betas[y])) for x, y in turns)
    return Story(first, second, table, bool(v.betas.size > 1 and v.ends().real[i, j]), crossings)


class Crossing(NamedTuple):
    """Where the lines of two scorers cross, and whether their change of order from one end to the other is more than noise."""

    beta: float
    spa: float
    real: bool


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
            out.append(Crossing(float(x + share * (y - x)), float(spa), found.between))
    return tuple(out)
