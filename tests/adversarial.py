"""Pools made to break `reweight`, and what must hold on all of them: no exception, every proof verified exactly, and no
weighting better than the one returned found by anybody else.

`python tests/adversarial.py 10000` runs so many pools and prints the counts; the tests run a sample. Each pool is made from
its number alone, so one that fails can be made again: `python tests/adversarial.py 1 --first 4711`.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np
from oracle_reweight import brute_force
from scipy.optimize import minimize
from tqdm import tqdm

import whichbird as wb
from whichbird.core.balance import Standard, constraint, constraint_gradient
from whichbird.solve.verify import _collision, _on_target, _read, _whole, verify

GAP = 1e-9  # what a proof may leave open, and what another solver may be better by
KINDS = [
    "random", "rounded", "copies", "near-copies", "collinear", "nearly collinear", "clusters", "grid", "outliers",
    "scaled", "aspect", "mirrored", "lines",
]  # fmt: skip
TARGETS = ["inside", "low end", "high end", "near low", "near high", "near natural", "pair", "near pair"]


def make(number: int) -> tuple[str, str, np.ndarray, float]:
    """The pool (2, K) of that number and a target, and what kind each is of."""
    rng = np.random.default_rng(number)
    kind, where = KINDS[number % len(KINDS)], TARGETS[rng.integers(len(TARGETS))]
    size = int(rng.choice([2, 3, 4, 5, 6, 8, 12, 16, 30, 50, 200], p=[1 / 20, *[1 / 10] * 8, 1 / 10, 1 / 20]))
    tiny = 10 ** rng.uniform(-12, -3)
    x = rng.normal(size=(2, size))
    if kind == "rounded":
        x = x.round(int(rng.integers(0, 4)))
    elif kind == "copies":
        x = x[:, rng.integers(0, max(2, size // 2), size)]
    elif kind == "near-copies":
        some = rng.integers(0, size, size)
        x = np.where(rng.random(size) < 0.5, x[:, some] + tiny * rng.normal(size=(2, size)), x)
    elif kind == "collinear":
        x[1] = np.where(rng.random(size) < 0.7, 2 * x[0] + 1, x[1])
    elif kind == "nearly collinear":
        x[1] = rng.uniform(-3, 3) * x[0] + tiny * x[1]
    elif kind == "clusters":
        x = rng.normal(size=(2, 3))[:, rng.integers(0, 3, size)] + tiny * x
    elif kind == "grid":
        x = rng.integers(0, 5, size=(2, size)).astype(float)
    elif kind == "outliers":
        x[:, 0] *= 10 ** rng.uniform(1, 8)
        x[:, -1] *= 10 ** rng.uniform(0, 8)
    elif kind == "scaled":
        x = x * 10 ** rng.uniform(-12, 12) + rng.choice([0, 0, 1])
    elif kind == "aspect":
        x[1] *= 10 ** rng.uniform(-12, 12)
    elif kind == "mirrored":
        half = size // 2
        x[:, half : 2 * half] = x[:, :half] * rng.choice([-1, 1], size=(2, 1))
        x[:, 2 * half :] = 0
    elif kind == "lines":  # whole numbers on a line of a simple slope, and others
        on = rng.random(size) < 0.6
        x = rng.integers(0, 10, size=(2, size)).astype(float)
        x[1, on] = x[0, on] * rng.choice([0.5, 1, 2])
    if np.ptp(x[0]) == 0 and np.ptp(x[1]) == 0 or _same(x):
        x[:, 0] += 1
    low, high = wb.reachable(*x)
    natural, pairs = wb.balance(*x), wb.pair_balances(*x)
    near = 10 ** rng.uniform(-15, -3)
    pair = rng.choice(pairs[np.isfinite(pairs)])
    target = {
        "inside": low + (high - low) * rng.random(),
        "low end": low,
        "high end": high,
        "near low": low + (high - low) * near,
        "near high": high - (high - low) * near,
        "near natural": natural + near * rng.choice([-1, 1]),
        "pair": pair,
        "near pair": pair + near * rng.choice([-1, 1]),
    }[where]
    return kind, where, x, float(np.clip(target, low, high))


def _same(x: np.ndarray) -> bool:
    try:
        wb.balance(*x)
    except ValueError:
        return True
    return False


def exact_collision(x: np.ndarray, beta: float | str, w: np.ndarray) -> float:
    """Σw² of a weighting moved exactly onto the target, by a thousandth of it at most; infinity if it cannot be."""
    pool = Standard.of(*x)
    proof = {"adequacy": pool.given_a.tolist(), "fluency": pool.given_f.tolist(), "beta": beta, "weights": w.tolist()}
    try:
        read = _read(proof)
        return float(_collision(_on_target(_whole(read.scores, read.cover).pool, read.w)[0]))
    except ValueError:
        return np.inf


def rivals(x: np.ndarray, beta: float, exact: float | str, seed: int) -> float:
    """The least Σw² that enumeration (up to five systems) or SLSQP from a few starts finds, exactly on the target.

    `exact` is the target of the proof: at an end of the range, and on a line, a fraction that rounds to about beta.
    """
    best, size = np.inf, x.shape[1]
    if size <= 5:
        with np.errstate(all="ignore"):
            w = brute_force(*x, beta)[1]
        if w is not None:
            best = exact_collision(x, exact, np.maximum(w, 0))
    if size <= 16:
        p, rng = Standard.of(*x), np.random.default_rng(seed)
        rules = [
            {"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like},
            {
                "type": "eq",
                "fun": lambda w: constraint(np.abs(w) + 1e-300, p.a, p.f, beta) * size,
                "jac": lambda w: constraint_gradient(np.abs(w) + 1e-300, p.a, p.f, beta) * size,
            },
        ]
        for start in (np.full(size, 1 / size), *rng.dirichlet(np.ones(size), 2)):
            with np.errstate(all="ignore"):
                r = minimize(
                    lambda w: (0.5 * w @ w, w), start, jac=True, bounds=[(0, 1)] * size, constraints=rules,
                    method="SLSQP", options={"maxiter": 200, "ftol": 1e-14},
                )  # fmt: skip
            if np.isfinite(r.x).all() and r.x.max() > 0:
                best = min(best, exact_collision(x, exact, np.maximum(r.x, 0)))
    return best


def judge(number: int, against: bool = True) -> tuple[str, str]:
    """What happened on one pool: "proven", or what is wrong; and the details."""
    kind, where, x, beta = make(number)
    about = f"{number}: {kind}, {where}, K = {x.shape[1]}, beta = {beta!r}"
    try:
        r = wb.reweight(*x, beta)
    except wb.NotProven:
        return "not proven", about
    except Exception as error:
        return f"{type(error).__name__}", f"{about}: {error}"
    about += f", {r.certificate}, ESS {r.ess:.6g}"
    w = r.weights
    if not (w.min() >= 0 and abs(w.sum() - 1) <= 1e-12):
        return "no weighting", about
    if r.proof is None or not r.gap <= GAP or verify(r.proof) != r.gap:
        return "not verified", f"{about}, gap {r.gap}"
    if not abs(wb.balance(*x, w) - beta) <= 2e-12:
        return "off the target", f"{about}: {wb.balance(*x, w) - beta}"
    if against and (best := rivals(x, beta, r.proof["beta"], number)) < (w @ w) * (1 - GAP):
        return "beaten", f"{about}: Σw² {w @ w!r} against {best!r}"
    return "proven", about


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pools", type=int, nargs="?", default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--alone", action="store_true", help="no other solver beside")
    args = parser.parse_args()
    counts, slowest = Counter(), []
    for number in tqdm(range(args.first, args.first + args.pools), "pools", disable=None):
        start = time.perf_counter()
        outcome, about = judge(number, not args.alone)
        slowest = sorted([*slowest, (time.perf_counter() - start, about)])[-5:]
        counts[outcome] += 1
        if sum(counts.values()) % 500 == 0:
            tqdm.write(f"{sum(counts.values())} pools: {dict(counts)}")
        if outcome != "proven":
            tqdm.write(f"{outcome}: {about}")
    print(dict(counts))
    for seconds, about in slowest:
        print(f"{seconds:.2f} s  {about}")


if __name__ == "__main__":
    main()
