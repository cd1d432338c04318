"""Synthesised pools, the 2025 way of moving the balance: regroup the same translations, sorted by one aspect.

On every segment the K systems are sorted by adequacy; the k-th synthetic adequacy system takes, with everything scored
on it, whatever stands k-th. Sorting by fluency gives K more. Real, adequacy and fluency systems combine into six pools.
No translation is changed, so each segment keeps its scores, and variance can only move from within systems to between them
or back (`variances`). By the aspect that sorts it moves to between. By the scores of scorers it mostly moves the other way:
sorted systems are patchworks of all real ones, so within they vary as much or a little more, and between less (except in the
pools sorted by adequacy of three datasets that the paper does not have: ende20, zhen20, enzh22).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from ..core.augment import DIALS, PAPER_FAMILIES, direction, offsets
from ..core.balance import balance
from ..core.check import DataError
from ..core.permutation import p_counts, p_curve_counts, p_line_counts
from ..data.pool import Pool, pick, system_means
from ..data.protocol import HIDDEN
from .preference import preference, steps

POOLS_SEED = 25
PARTS = ("real", "adequacy", "fluency")
POOLS = ("real+adequacy+fluency", "real+adequacy", "real+fluency", "adequacy+fluency", "fluency", "adequacy")
SYNTHETIC = ("adequacy+fluency", "fluency", "adequacy")  # without any real system
CONSTRUCTIONS = ("published", "fair")
CONTROLS = ("dealt", "quiet", "noise", "random", "stretched", "noisy", "shrunk", "fair")
KEPT = (0.0, 0.5, 1.0, 2.0)  # shares of each segment's difficulty that scorers keep


def orders(adequacy: np.ndarray, fluency: np.ndarray, seed: int = POOLS_SEED) -> dict[str, np.ndarray]:
    """Who stands where: for each part a (K, N) array of system indices, best first; ties are broken at random.

    >>> orders(np.array([[0.0, -5.0], [-1.0, 0.0]]), np.array([[-2.0, -2.0], [-1.0, -3.0]]))["adequacy"]
    array([[0, 1],
           [1, 0]])
    """
    rng = np.random.default_rng(seed)
    real = np.broadcast_to(np.arange(len(adequacy))[:, None], adequacy.shape)
    by_adequacy, by_fluency = (np.lexsort((rng.random(x.shape), -x), axis=0) for x in (adequacy, fluency))
    return {"real": real, "adequacy": by_adequacy, "fluency": by_fluency}


def synthesise(pool: Pool, seed: int = POOLS_SEED) -> Pool:
    """The union pool of 3K systems: the real ones, then those sorted by adequacy, then those sorted by fluency.

    A segment on which some system has no rating cannot be sorted, and is left out; so is one without totals.
    """
    a, f = _aspects(pool)
    whole = ~np.isnan(a).any(axis=0) & pool.official
    order = orders(a[:, whole], f[:, whole], seed)
    names = [*pool.systems, *(f"{part} {k + 1}" for part in PARTS[1:] for k in range(len(pool.systems)))]
    return Pool(
        name=pool.name,
        systems=tuple(names),
        lines=pool.lines[whole],
        source_lines=pool.source_lines,
        total=regroup(pool.total[:, whole], order),
        adequacy=regroup(a[:, whole], order),
        fluency=regroup(f[:, whole], order),
        scorers={s: regroup(x[:, whole], order) for s, x in pool.scorers.items()},
        reference=pool.reference,
        notes=pool.notes,
        exact=pool.exact,
    )


def regroup(x: np.ndarray, order: dict[str, np.ndarray]) -> np.ndarray:
    """Deal the scores x (K, N) out to the systems of every part: (3K, N)."""
    return np.concatenate([np.take_along_axis(x, order[part], axis=0) for part in PARTS])


def members(name: str, systems: int) -> np.ndarray:
    """The rows of the union pool that make up one of the six pools, for K real systems.

    >>> members("adequacy+fluency", 2)
    array([2, 3, 4, 5])
    """
    if name not in POOLS:
        raise ValueError(f"unknown pool {name!r}; one of {', '.join(POOLS)} is expected")
    return np.concatenate([np.arange(systems) + systems * PARTS.index(part) for part in name.split("+")])


def evaluate(pool: Pool, seed: int = POOLS_SEED) -> pd.DataFrame:
    """The three measures, unweighted, of all six pools under both constructions of the augmented scorers: twelve rows.

    "published": the dial moves the real systems, and its shifts are dealt out with their translations. "fair": the dial
    moves the systems of the pool itself. `beta` is the pool's own balance; `reach` is how far one unit of the
    explainability dial moves the pool's systems apart, relative to the real ones (median over scorers).
    """
    union = synthesise(pool, seed)
    size = len(pool.systems)
    a, f = _aspects(union)
    order = orders(a[:size], f[:size], seed)
    pool = pick(pool, pool.official & pool.annotated)
    moves = {s: _directions(pool, x) for s, x in pool.scorers.items()}

    def dealt(v: np.ndarray) -> np.ndarray:
        return regroup(np.broadcast_to(v[:, None], (size, len(union.lines))), order)

    grids = {family: DIALS[family] for family in PAPER_FAMILIES}
    # What was dealt out does not depend on the pool, so the union's pairs serve all six.
    carried = {
        family: np.array([p_line_counts(x, dealt(moves[s][family]), dials) for s, x in union.scorers.items()])
        for family, dials in grids.items()
    }
    human = p_counts(union.total, exact=pool.exact)
    rows = []
    for name in POOLS:
        who = members(name, size)
        pairs = _pairs(who, len(union.systems))
        sub = _subset(union, who)
        own = {s: _directions(sub, x) for s, x in sub.scorers.items()}
        curves = {
            "published": {family: counts[:, :, pairs] for family, counts in carried.items()},
            "fair": {
                f: np.array([p_curve_counts(x, np.outer(dials, own[s][f])) for s, x in sub.scorers.items()])
                for f, dials in grids.items()
            },
        }
        spread = {
            "published": [dealt(moves[s]["explainability"])[who].mean(axis=1).std() for s in sub.scorers],
            "fair": [own[s]["explainability"].std() for s in sub.scorers],
        }
        real = np.array([moves[s]["explainability"].std() for s in sub.scorers])
        rows += [
            {
                "dataset": pool.name,
                "construction": construction,
                "pool": name,
                "systems": who.size,
                "beta": balance(*(system_means(x) for x in _aspects(sub))),
                **{family: preference(steps(human[pairs], c)) for family, c in curves[construction].items()},
                "reach": float(np.median(spread[construction] / real)),
            }
            for construction in CONSTRUCTIONS
        ]
    return pd.DataFrame(rows)


def controls(pool: Pool, seed: int = POOLS_SEED) -> pd.DataFrame:
    """Explainability of the three fully synthetic pools under dials that differ in one thing at a time: 24 rows.

    Dealing out the shifts of the real systems makes a dial that is short, adds noise within systems, and points somewhere
    else than a dial made for the pool. By `dial`, each over the offsets of every scorer:

    - "dealt", as published; "quiet", its mean on each system, so the same direction and reach without noise; "noise", what
      it adds beside that mean, so noise alone; "stretched", the quiet one with the reach of the fair one;
    - "fair", made from the pool's own systems; "shrunk", the fair one with the reach of the quiet one; "noisy", the shrunk
      one with the noise of the dealt one;
    - "random", a normal direction with the reach of the quiet one, another for every scorer.

    `reach` is the spread of the systems' means at one unit, relative to that of the real ones, and `alignment` the
    correlation over systems with the fair direction (NaN where no mean moves); medians over scorers.
    """
    union = synthesise(pool, seed)
    size, family = len(pool.systems), "explainability"
    a, f = _aspects(union)
    order = orders(a[:size], f[:size], seed)
    pool = pick(pool, pool.official & pool.annotated)
    grid, human = DIALS[family], p_counts(union.total, exact=pool.exact)
    rng = np.random.default_rng(seed)
    both = members("adequacy+fluency", size)
    subs = {name: _subset(union, members(name, size)) for name in SYNTHETIC}
    curves: dict[tuple[str, str], list[np.ndarray]] = {(name, dial): [] for name in SYNTHETIC for dial in CONTROLS}
    reach: dict[tuple[str, str], list[float]] = {key: [] for key in curves}
    alignment: dict[tuple[str, str], list[float]] = {key: [] for key in curves}
    for s in pool.scorers:
        real = _directions(pool, pool.scorers[s])[family]
        dealt = regroup(np.broadcast_to(real[:, None], (size, len(union.lines))), order)[both]
        noise = dealt - dealt.mean(axis=1, keepdims=True)
        # What was dealt out does not depend on the pool, so the pairs of all sorted systems serve all three.
        carried = {
            dial: p_line_counts(union.scorers[s][both], v, grid) for dial, v in (("dealt", dealt), ("noise", noise))
        }
        for name, sub in subs.items():
            who = members(name, size) - size  # among the sorted systems
            x, own, random = sub.scorers[s], _directions(sub, sub.scorers[s])[family], rng.normal(size=who.size)
            quiet = dealt[who].mean(axis=1)
            shrunk = own * (quiet.std() / own.std())
            constants = {
                "quiet": quiet,
                "random": random * (quiet.std() / random.std()),
                "stretched": quiet * (own.std() / quiet.std()),
                "shrunk": shrunk,
                "fair": own,
            }
            shifts = np.concatenate([np.outer(grid, v) for v in constants.values()])  # one permutation test for all
            parts = np.split(p_curve_counts(x, shifts), len(constants))
            counts = dict(zip(constants, parts, strict=True))
            counts |= {dial: c[:, _pairs(who, both.size)] for dial, c in carried.items()}
            counts["noisy"] = p_line_counts(x, shrunk[:, None] + noise[who], grid)
            for dial in CONTROLS:
                v = constants.get({"dealt": "quiet", "noisy": "shrunk"}.get(dial, dial), np.zeros(who.size))
                curves[name, dial].append(counts[dial])
                reach[name, dial].append(v.std() / real.std())
                alignment[name, dial].append(np.corrcoef(v, own)[0, 1] if dial != "noise" else np.nan)
    return pd.DataFrame(
        [
            {
                "seed": seed,
                "pool": name,
                "dial": dial,
                "explainability": preference(
                    steps(human[_pairs(members(name, size), len(union.systems))], np.array(curves[name, dial]))
                ),
                "reach": float(np.median(reach[name, dial])),
                "alignment": float(np.median(alignment[name, dial])),
            }
            for name, dial in curves
        ]
    )


def difficulty(pool: Pool, kept: Iterable[float] = KEPT, seed: int = POOLS_SEED) -> pd.DataFrame:
    """Explainability of the three fully synthetic pools where scorers keep a share of each segment's difficulty.

    A scorer's difficulty of a segment is its mean score over the systems there. `kept` 1 leaves the scores as they are, 0
    takes all of it out, 2 doubles it. No difference of two systems on a segment changes, so no p-value does: only offsets,
    which compare segments, follow. One row per pool, dial ("dealt", "fair", as in `controls`) and share: `explainability`,
    and `quality`, the correlation over the pool's systems of what the dial takes off them with people's total (median over
    scorers). A dial with a positive one pulls good systems down.
    """
    union = synthesise(pool, seed)
    size, family = len(pool.systems), "explainability"
    a, f = _aspects(union)
    order = orders(a[:size], f[:size], seed)
    pool = pick(pool, pool.official & pool.annotated)
    grid, human, good = DIALS[family], p_counts(union.total, exact=pool.exact), system_means(union.total)
    both, shares = members("adequacy+fluency", size), [float(k) for k in kept]
    keys = [(name, dial, k) for name in SYNTHETIC for dial in ("dealt", "fair") for k in shares]
    curves: dict[tuple[str, str, float], list[np.ndarray]] = {key: [] for key in keys}
    quality: dict[tuple[str, str, float], list[float]] = {key: [] for key in keys}
    for s, x in pool.scorers.items():
        for k in shares:
            level = replace(pool, scorers={s: x - (1 - k) * x.mean(axis=0)})
            moved = synthesise(level, seed)
            real = _directions(pool, level.scorers[s])[family]
            dealt = regroup(np.broadcast_to(real[:, None], (size, len(union.lines))), order)
            carried = p_line_counts(union.scorers[s][both], dealt[both], grid)
            for name in SYNTHETIC:
                who = members(name, size)
                sub = _subset(moved, who)
                own = _directions(sub, sub.scorers[s])[family]
                curves[name, "dealt", k].append(carried[:, _pairs(who - size, both.size)])
                curves[name, "fair", k].append(p_curve_counts(union.scorers[s][who], np.outer(grid, own)))
                for dial, v in (("dealt", dealt[who].mean(axis=1)), ("fair", own)):
                    quality[name, dial, k].append(float(np.corrcoef(-v, good[who])[0, 1]))
    return pd.DataFrame(
        [
            {
                "pool": name,
                "dial": dial,
                "kept": k,
                "explainability": preference(
                    steps(human[_pairs(members(name, size), len(union.systems))], np.array(curves[name, dial, k]))
                ),
                "quality": float(np.median(quality[name, dial, k])),
            }
            for name, dial, k in keys
        ]
    )


def variances(pool: Pool, seed: int = POOLS_SEED) -> pd.DataFrame:
    """Variance of scores within and between systems, each pool over the real one (median over scorers): six rows.

    `scorers_within` and `scorers_between`, and the same of people's total, adequacy and fluency. A pool whose parts hold
    every translation once per segment has the real pool's total variance, so what one side loses the other gains.
    """
    union = synthesise(pool, seed)
    size = len(pool.systems)
    a, f = _aspects(union)
    scores = {"scorers": list(union.scorers.values()), "total": [union.total], "adequacy": [a], "fluency": [f]}
    rows = []
    for name in POOLS:
        who = members(name, size)
        row: dict[str, str | float] = {"pool": name}
        for what, all_of_them in scores.items():
            for side, spread in (("within", _within), ("between", _between)):
                row[f"{what}_{side}"] = float(np.median([spread(x[who]) / spread(x[:size]) for x in all_of_them]))
        rows.append(row)
    return pd.DataFrame(rows)


def _within(x: np.ndarray) -> float:
    return float(np.nanvar(x, axis=1).mean())


def _between(x: np.ndarray) -> float:
    return float(system_means(x).var())


def _directions(pool: Pool, x: np.ndarray) -> dict[str, np.ndarray]:
    a, f = _aspects(pool)
    total, adequacy, fluency = (system_means(h) for h in (pool.total, a, f))
    offset = offsets(x, a, f)
    return {family: direction(family, system_means(x), total, adequacy, fluency, offset) for family in PAPER_FAMILIES}


def _aspects(pool: Pool) -> tuple[np.ndarray, np.ndarray]:
    if pool.adequacy is None or pool.fluency is None:
        raise DataError(f"{pool.name} cannot be synthesised: that needs adequacy and fluency, and {HIDDEN}")
    return pool.adequacy, pool.fluency


def _subset(pool: Pool, rows: np.ndarray) -> Pool:
    a, f = _aspects(pool)
    return replace(
        pool,
        systems=tuple(pool.systems[k] for k in rows),
        total=pool.total[rows],
        errors=None,
        adequacy=a[rows],
        fluency=f[rows],
        scorers={s: x[rows] for s, x in pool.scorers.items()},
    )


def _pairs(rows: np.ndarray, systems: int) -> np.ndarray:
    """Where the pairs among `rows` (increasing) stand in the pair order of all systems."""
    at = np.full((systems, systems), -1)
    at[np.triu_indices(systems, 1)] = np.arange(systems * (systems - 1) // 2)
    i, j = np.triu_indices(rows.size, 1)
    found: np.ndarray = at[rows[i], rows[j]]
    return found
