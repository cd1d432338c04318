"""Reweighting against synthesised pools: the differences at the same balance and at the same preference, and what they amount to."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from whichbird.core.balance import reachable
from whichbird.core.check import Array
from whichbird.data.digest import Digest
from whichbird.study.contest import need_aspects
from whichbird.study.sweep import sweep

from .kit import FAMILIES, SOUND, TASTE

COLLAPSE = 0.1  # a loss of explainability, against the real pool, that counts as a collapse
SAME = "same β", "same preference"


def at_preference(table: pd.DataFrame, height: float) -> dict[str, float] | None:
    """The measures where a sweep passes this preference; where it does so several times, those with the largest ESS. None if it never does.

    >>> t = pd.DataFrame({"ess": [2.0, 4.0], FAMILIES[0]: [0.2, 0.6], FAMILIES[1]: [1.0, 1.0], FAMILIES[2]: [0.5, 0.9]})
    >>> {name: round(x, 3) for name, x in at_preference(t, 0.3).items()}["explainability"], at_preference(t, 0.7)
    (0.6, None)
    """
    t: Array = table[["ess", *FAMILIES]].to_numpy(dtype=float)
    y: Array = t[:, 1]
    found: list[Array] = []
    for k in np.flatnonzero((np.minimum(y[:-1], y[1:]) <= height) & (height <= np.maximum(y[:-1], y[1:]))):
        share = 0.5 if y[k] == y[k + 1] else (height - y[k]) / (y[k + 1] - y[k])
        found.append((1 - share) * t[k] + share * t[k + 1])
    return dict(zip(["ess", *FAMILIES], max(found, key=lambda v: float(v[0])).tolist(), strict=True)) if found else None


def compared(digests: Mapping[str, Digest], sweeps: Mapping[str, pd.DataFrame], pools: pd.DataFrame) -> pd.DataFrame:
    """Reweighting minus each synthesised pool, in both measures of soundness: a row a pool and way of comparing.

    At the same β we solve for the pool's own; at the same preference we interpolate between targets of the sweep. Pools that reweighting cannot
    reach have `reached` False and no differences.
    """
    rows: list[dict[str, object]] = []
    for name, chosen in pools.groupby("dataset", sort=False):
        d = digests[str(name)]
        low, high = reachable(*need_aspects(d))
        targets = np.unique(chosen["beta"][chosen["beta"].between(low, high)])
        exact = sweep(d, targets, families=FAMILIES).set_index("beta")
        for _, pool in chosen.iterrows():
            ours = {
                SAME[0]: exact.loc[pool["beta"]] if pool["beta"] in exact.index else None,
                SAME[1]: at_preference(sweeps[str(name)], pool[TASTE]),
            }
            for how, found in ours.items():
                row = {"dataset": name, "construction": pool["construction"], "pool": pool["pool"], "how": how,
                       "real": "real" in pool["pool"], "reached": found is not None}  # fmt: skip
                if found is not None:
                    row |= {"ess/K": found["ess"] / len(d.systems), **{f: found[f] - pool[f] for f in SOUND}}
                rows.append(row)
    return pd.DataFrame(rows)


def judged(
    digests: Mapping[str, Digest], sweeps: Mapping[str, pd.DataFrame], pools: pd.DataFrame
) -> tuple[pd.DataFrame, dict[str, int]]:
    """In how many datasets each claim about synthesised pools holds, as published and with a fair dial; and in how many the pools collapse, by construction."""
    duel, count = compared(digests, sweeps, pools), pools["dataset"].nunique()
    home = {n: t["explainability"].iloc[int(t["ess"].argmax())] for n, t in sweeps.items()}
    gap = pools.assign(gap=pools["explainability"] - pools["dataset"].map(home))[~pools["pool"].str.contains("real")]
    deep = gap.groupby(["construction", "dataset"])["gap"].mean() < -COLLAPSE
    collapses = {str(c): int(part.sum()) for c, part in deep.groupby(level=0)}

    def everywhere(construction: str, how: str, both: bool) -> int:
        q = duel[(duel["construction"] == construction) & (duel["how"] == how) & duel["reached"]]
        won = (q[list(SOUND)] > 0).all(axis=1) if both else (q[list(SOUND)] > 0).any(axis=1)
        return int(won.groupby(q["dataset"]).all().sum())

    rules = {
        "same β: better on one of two": (SAME[0], False),
        "same preference: better on one of two": (SAME[1], False),
        "same preference: better on both": (SAME[1], True),
    }
    last = f"made-up systems only: explainability falls by > {COLLAPSE}"
    counts = {c: {text: everywhere(c, *rule) for text, rule in rules.items()} | {last: n} for c, n in collapses.items()}
    table = pd.DataFrame(counts)[["published", "fair"]]
    shown = table.map(lambda n: f"{n} of {count}" if n else "none")
    return shown.rename(columns={"published": "as published", "fair": "fair dial"}), collapses
