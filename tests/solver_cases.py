"""What the page's solver must answer as Python does: pools and targets, with Python's proven optima."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from pools import KINDS, make

import whichbird as wb
from whichbird.solve.reweight import reliable_interval, reliable_intervals
from whichbird.study.targets import beta_stops


def case(name: str, a: np.ndarray, f: np.ndarray, targets: np.ndarray) -> dict[str, Any]:
    """One pool with its targets, its range, and for each target the least Σw²; None where Python has no proof."""
    solved = wb.reweight_sweep(a, f, targets)
    return facts(name, a, f, targets, reliable_interval(a, f)) | {
        "collision": [None if r.certificate == "unproven" else float(r.weights @ r.weights) for r in solved]
    }


def facts(name: str, a: np.ndarray, f: np.ndarray, targets: np.ndarray, reliable: Any) -> dict[str, Any]:
    return {
        "name": name,
        "a": a.tolist(),
        "f": f.tolist(),
        "targets": np.asarray(targets).tolist(),
        "natural": float(wb.balance(a, f)),
        "range": list(wb.reachable(a, f)),
        "reliable": list(reliable),
    }


@functools.cache
def shipped() -> list[dict[str, Any]]:
    """All shipped pools at all stops of the slider, and close to the ends of their range."""
    out = []
    for name in wb.datasets(aspects=True):
        d = wb.load(name)
        a, f = d.adequacy, d.fluency
        low, high = wb.reachable(a, f)
        next_to = [low + (high - low) * x for x in (1e-3, 1e-5, 1 - 1e-5, 1 - 1e-3)]
        out.append(case(name, a, f, np.concatenate([beta_stops(a, f), next_to])))
    return out


@functools.cache
def parts(each: int = 10, targets: int = 4, seed: int = 20) -> list[dict[str, Any]]:
    """Random parts of the shipped pools: two sizes a pool, `each` parts a size; both ends, β₀ and `targets` between."""
    rng = np.random.default_rng(seed)
    out = []
    for name in wb.datasets(aspects=True):
        d = wb.load(name)
        size = len(d.systems)
        for k in rng.choice(np.arange(3, size), 2, replace=False):
            chosen = np.array([np.sort(rng.choice(size, k, replace=False)) for _ in range(each)])
            a, f = d.adequacy[chosen], d.fluency[chosen]
            ends = np.array([wb.reachable(*pool) for pool in zip(a, f, strict=True)])
            natural = [[wb.balance(*pool)] for pool in zip(a, f, strict=True)]
            inner = ends[:, :1] + np.ptp(ends, axis=1)[:, None] * rng.uniform(0.001, 0.999, (each, targets))
            betas = np.concatenate([ends, natural, inner], axis=1)
            solved, reliable = wb.reweight_many(a, f, betas), reliable_intervals(a, f)
            for r in range(each):
                best = [
                    float(w @ w) if yes else None for w, yes in zip(solved.weights[r], solved.proven[r], strict=True)
                ]
                label = f"{name} {chosen[r].tolist()}"
                out.append(facts(label, a[r], f[r], betas[r], reliable[r]) | {"collision": best})
    return out


@functools.cache
def hard(seed: int = 21) -> list[dict[str, Any]]:
    """Made-up pools: ties, copies, lines, symmetry; and plain ones of up to forty systems."""
    rng = np.random.default_rng(seed)
    out = []
    for kind, size in [
        *((kind, int(rng.integers(4, 12))) for kind in KINDS for _ in range(2)),
        ("plain", 2),
        ("plain", 40),
    ]:
        a, f = make(kind, size, rng)
        low, high = wb.reachable(a, f)
        inner = low + (high - low) * rng.uniform(0.01, 0.99, 3)
        out.append(case(f"{kind}, {size} systems", a, f, np.array([low, wb.balance(a, f), high, *inner])))
    return out


def compare(cases: list[dict[str, Any]], answers: list[dict[str, Any]], tolerance: float = 1e-9) -> dict[str, int]:
    """Assert that the page's `answers` are right; how many were compared, proven there, and only found."""
    count = {"pools": 0, "targets": 0, "proven": 0, "found": 0}
    for asked, got in zip(cases, answers, strict=True):
        name = asked["name"]
        assert got["natural"] == _near(asked["natural"], tolerance), name
        assert got["range"] == _near(asked["range"], tolerance), name
        assert got["reliable"] == _near(asked["reliable"], tolerance), name
        count["pools"] += 1
        for beta, best, r in zip(asked["targets"], asked["collision"], got["results"], strict=True):
            where, w = f"{name} at {beta!r}: {r['certificate']}", np.array(r["weights"])
            assert w.min() >= 0 and abs(w.sum() - 1) < 1e-12, where
            assert wb.balance(asked["a"], asked["f"], w) == _near(beta, tolerance), where
            assert r["ess"] == _near(1 / (w @ w), tolerance), where
            found = r["certificate"] == "best found"
            if best is not None:
                excess = (w @ w) / best - 1
                # a proven optimum is the optimum; what was only found may be worse, and nothing is better
                assert -tolerance <= excess and (found or excess <= tolerance), f"{where}, {excess:.2g}"
            count["targets"] += 1
            count["found" if found else "proven"] += 1
    return count


def _near(value: Any, tolerance: float) -> Any:
    import pytest

    return pytest.approx(value, rel=0, abs=tolerance)
