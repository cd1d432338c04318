"""Three shares at once: what a certified target costs, against Gurobi on the same targets in the same run.

Targets are drawn near the natural shares and far out: shares of a random weighting, so that all can be reached. Times are
processor time, the faster of two runs. Gurobi solves the non-convex quadratic programme to the same gap, on one thread, and
gives up on a target after `LIMIT` seconds; such a target counts with that time.
"""

from __future__ import annotations

import time

import numpy as np
from tqdm import tqdm

import whichbird as wb
from whichbird.data.criteria import criterion_means

GAP, LIMIT, TARGETS = 1e-6, 20, 8
SIZES = (10, 16, 50, 190, 200)
FREE = 194  # systems that Gurobi's free licence takes, at 200 variables


def main() -> None:
    gurobi = _gurobi()
    if gurobi is None:
        print("Gurobi is skipped: gurobipy is not installed, or found no licence.\n")
    rng = np.random.default_rng(37)
    pools = {f"normal, K = {K}": rng.normal(size=(3, K)) for K in SIZES}
    pools["hanna"] = criterion_means("hanna", ["relevance", "coherence", "surprise"])[1]
    pools["ende24"] = criterion_means("ende24", ["accuracy", "fluency", "style"])[1]
    print(
        f"{'':16}{'targets':8}{'ms a target':>12}{'worst':>8}{'Gurobi':>10}{'faster':>9}{'worst excess':>14}{'open':>6}"
    )
    for name, x in pools.items():
        for where, power in (("near", 8.0), ("far", 0.5)):
            targets = [wb.shares(x, rng.dirichlet(np.full(x.shape[1], power))) for _ in range(TARGETS)]
            ours, theirs, excess, left = [], [], [], 0
            for target in tqdm(targets, name, disable=None, leave=False):
                seconds, r = _fastest(lambda: wb.reweight_shares(x, target, GAP))
                ours.append(seconds)
                left += r is None
                if gurobi and x.shape[1] <= FREE:
                    seconds, least = _fastest(lambda: gurobi(x, target), 1)
                    theirs.append(seconds)
                    if r is not None and least is not None:
                        excess.append(r.weights @ r.weights / least - 1)
            mean = 1e3 * np.mean(theirs) if theirs else np.nan
            print(
                f"{name:16}{where:8}{1e3 * np.mean(ours):12.2f}{1e3 * max(ours):8.1f}{mean:10.1f}"
                f"{mean / (1e3 * np.mean(ours)):9.1f}{max(excess, default=np.nan):14.1e}{left:6}"
            )
    print("goal: at least 5 times faster than Gurobi")


def _fastest(run, repeats=2):
    """Seconds of the faster run, and what it returned; None where it was not decided."""
    best, out = np.inf, None
    for _ in range(repeats):
        began = time.process_time()
        try:
            out = run()
        except wb.NotProven:
            out = None
        best = min(best, time.process_time() - began)
    return best, out


def _gurobi():
    """A function (x, shares) → least Σw², or None where time ran out; None without Gurobi."""
    try:
        import gurobipy as gp

        env = gp.Env(params={"OutputFlag": 0})
    except Exception:
        return None

    def solve(x, target):
        x = (x - x.mean(axis=1, keepdims=True)) / np.ptp(x, axis=1).max()
        A, K = x.shape
        with gp.Model(env=env) as m:
            m.Params.NonConvex, m.Params.MIPGap, m.Params.Threads, m.Params.TimeLimit = 2, GAP, 1, LIMIT
            m.Params.FeasibilityTol = 1e-9
            w, mean, spread = m.addMVar(K, ub=1.0), m.addMVar(A, lb=-1.0), m.addMVar(A)
            m.addConstr(w.sum() == 1)
            m.addConstr(x @ w == mean)
            for i in range(A):
                m.addConstr(x[i] ** 2 @ w - mean[i] * mean[i] == spread[i])
            for i in range(A - 1):
                m.addConstr(spread[i] == target[i] * spread.sum())
            m.addConstr(spread.sum() >= 1e-6)  # not a point, which has no shares
            m.setObjective(w @ w)
            m.optimize()
            return m.ObjVal if m.Status == gp.GRB.OPTIMAL else None

    return solve


if __name__ == "__main__":
    main()
