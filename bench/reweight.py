"""What a certified target costs, against every other way to get one, as ratios measured in one run.

Targets run evenly over the whole reachable range, ends left out. One at a time is a call with the scores and a target:
nothing is kept from the call before. Times are processor time. Gurobi (`pip install gurobipy`; its free licence is
enough here) solves the same problem as a non-convex quadratic programme to a gap of 1e-9, on one thread; SLSQP, started
twenty times, proves nothing. A method's excess is its Σw² over ours: below zero only where it misses the target, which
the next column shows.
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize
from tqdm import tqdm

import whichbird as wb
from whichbird.core.balance import Standard, constraint, constraint_gradient
from whichbird.show import figures

REPEATS, STARTS, SIZES = 3, 20, (16, 32, 64, 125, 250, 500, 1000)
FIGURE = Path(__file__).resolve().parents[1] / "_build" / "bench" / "reweight-growth.svg"


def main() -> None:
    gurobi = _gurobi()
    if gurobi is None:
        print("Gurobi is skipped: gurobipy is not installed, or found no licence.\n")
    rng = np.random.default_rng(1)
    d = wb.load("ende24")
    _compare("ende24", d.adequacy, d.fluency, 50, gurobi)
    if gurobi:
        _everywhere(gurobi)
    for size in (50, 100):
        _compare(f"random, K = {size}", *rng.normal(size=(2, size)), 12, gurobi)
    _growth(rng)
    _many(rng)


def _compare(name, a, f, count, gurobi) -> None:
    betas = np.linspace(*wb.reachable(a, f), count + 2)[1:-1]
    some = betas[:: max(1, count // 6)]  # SLSQP is slow and proves nothing: a few targets will do
    rows = {}  # method: seconds a target, targets, weights

    def race(jobs, targets, repeats=REPEATS):
        for method, seconds, weights in zip(jobs, *_timed(list(jobs.values()), targets, name, repeats), strict=True):
            rows[method] = np.mean(seconds), targets, weights

    (seconds,), ((best,),) = _timed([lambda _: wb.reweight_sweep(a, f, betas)], [None], name, 3 * REPEATS)
    ours = dict(zip(betas, best, strict=True))
    rows[f"reweight_sweep, {count} targets"] = seconds[0] / count, betas, [r.weights for r in best]
    one = {"reweight": lambda beta: wb.reweight(a, f, beta).weights}
    race(one | {"Gurobi": lambda beta: gurobi(a, f, beta)} if gurobi else one, betas)
    if a.size <= 16:
        race({"search (Algorithm 1)": lambda beta: wb.search(a, f, beta).weights}, betas, 1)
    race({f"SLSQP, {STARTS} starts": lambda beta: _slsqp(a, f, beta)}, some, 1)

    against = "Gurobi" if gurobi else "reweight"
    print(f"{name}: range {betas[0]:.4f} to {betas[-1]:.4f}, best of {REPEATS}")
    print(f"{'':28}{'ms a target':>13}{'× ' + against:>12}{'proven':>8}{'worst excess':>14}{'worst |β − target|':>20}")
    for method, (seconds, targets, weights) in rows.items():
        excess = max(w @ w * ours[beta].ess - 1 for beta, w in zip(targets, weights, strict=True))
        off = max(abs(wb.balance(a, f, w) - beta) for beta, w in zip(targets, weights, strict=True))
        proven = "no" if method.startswith("SLSQP") else "yes"
        print(f"{method:28}{1e3 * seconds:13.2f}{seconds / rows[against][0]:12.3f}{proven:>8}{excess:14.1e}{off:20.1e}")
    if gurobi:
        for what, method, goal in (("one at a time", "reweight", 8), ("in a sweep", next(iter(rows)), 50)):
            note = f"   goal on ende24: at least {goal}" if name == "ende24" else ""
            print(f"{what}: {rows['Gurobi'][0] / rows[method][0]:.1f} times faster than Gurobi{note}")
    print()


def _everywhere(gurobi) -> None:
    """How many times faster than Gurobi on every dataset: one at a time, and in a sweep of fifty targets."""
    print("times faster than Gurobi, ten targets of fifty; goals: at least 5 one at a time, 25 in a sweep")
    for name in wb.datasets():
        d = wb.load(name)
        if d.adequacy is None:
            continue
        a, f = d.adequacy, d.fluency
        betas = np.linspace(*wb.reachable(a, f), 52)[1:-1]
        (sweep,), _ = _timed([lambda _: wb.reweight_sweep(a, f, betas)], [None], name)
        jobs = [lambda beta: wb.reweight(a, f, beta), lambda beta: gurobi(a, f, beta)]
        (one, other), _ = _timed(jobs, betas[::5], name)
        print(f"{name:10}{np.mean(other) / np.mean(one):8.1f}{np.mean(other) * betas.size / sweep[0]:8.1f}")
    print()


def _growth(rng) -> None:
    mean, worst = [], []
    for size in SIZES:
        a, f = rng.normal(size=(2, size))
        betas = np.linspace(*wb.reachable(a, f), 12)[1:-1]
        seconds = _timed([lambda beta: wb.reweight(a, f, beta)], betas, f"K = {size}")[0][0]
        mean.append(1e3 * np.mean(seconds))
        worst.append(1e3 * max(seconds))
    print("growth, one target at a time, ms (mean and worst of ten targets)")
    print("".join(f"{'K = ' + str(size):>11}" for size in SIZES))
    for row in (mean, worst):
        print("".join(f"{ms:11.1f}" for ms in row))
    slope = np.polyfit(np.log(SIZES[3:]), np.log(mean[3:]), 1)[0]
    print(f"from K = {SIZES[3]} on, time grows as K^{slope:.2f}; goals: close to linear, K = 1000 under 50 ms")

    figures.use()
    fig, ax = plt.subplots()
    ax.loglog(SIZES, mean, "o-", label="mean of ten targets")
    ax.loglog(SIZES, worst, "o:", label="worst")
    ax.loglog(SIZES[-2:], mean[-1] / SIZES[-1] * np.array(SIZES[-2:]), color=figures.FAINT, lw=1, label="linear growth")
    ax.set(xlabel="systems", ylabel="milliseconds a certified target", title="Time of reweight")
    ax.set_xticks(SIZES, SIZES)
    ax.minorticks_off()
    ax.legend()
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(FIGURE)
    plt.close(fig)
    print(f"drawn in {FIGURE.relative_to(FIGURE.parents[2])}")


def _many(rng) -> None:
    """Many pools at once against the same pool by pool: scores of ende24 with noise, targets in its reliable interval."""
    d, pools, some = wb.load("ende24"), 1000, 100
    a, f = (x + 0.1 * x.std() * rng.normal(size=(pools, x.size)) for x in (d.adequacy, d.fluency))
    low, high = wb.reliable_interval(d.adequacy, d.fluency)
    print(f"\n{pools} pools of {a.shape[1]} systems at once; pool by pool extrapolated from {some} of them")
    for count in (3, 41):
        betas = np.linspace(low, high, count)
        jobs = [
            lambda _: wb.reweight_many(a, f, betas[None]),
            lambda _: [wb.reweight_sweep(x, y, betas) for x, y in zip(a[:some], f[:some], strict=True)],
        ]
        ((at_once,), (by_pool,)), ((many,), (singles,)) = _timed(jobs, [None], "many pools")
        ess = np.array([sweep.ess for sweep in singles])
        off = np.abs(many.ess[:some] / ess - 1).max()
        ratio = by_pool * pools / some / at_once
        print(
            f"{count:3} targets each: {at_once:.2f} s, {ratio:.1f} times faster, ESS equal to {off:.0e}; "
            f"{(many.certificate == 'dual').mean():.1%} proven by one saddle   goal: at least 5 times faster"
        )


def _timed(jobs, targets, label, repeats=REPEATS) -> tuple[list, list]:
    """For each job the seconds of its fastest run at every target, and what it returned there.

    Seconds of the processor, all threads of this process together; Gurobi runs in it, on one. Jobs take turns target by
    target, so that other load on the machine hits all alike; the repeats of one follow each other, so that the fastest
    finds its code and data in the cache.
    """
    seconds, out = [[] for _ in jobs], [[] for _ in jobs]
    for beta in tqdm(targets, label, disable=None, leave=False):
        for job, times, results in zip(jobs, seconds, out, strict=True):
            runs = []
            for _ in range(repeats):
                start = time.process_time()
                result = job(beta)
                runs.append(time.process_time() - start)
            times.append(min(runs))
            results.append(result)
    return seconds, out


def _slsqp(a, f, beta) -> np.ndarray:
    """The best of the local optima a general optimiser reaches from uniform and from random weightings."""
    p = Standard.of(a, f)
    rng, best = np.random.default_rng(0), None
    rules = [
        {"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like},
        {
            "type": "eq",
            "fun": lambda w: constraint(np.abs(w), p.a, p.f, beta) * w.size,
            "jac": lambda w: constraint_gradient(np.abs(w), p.a, p.f, beta) * w.size,
        },
    ]
    for start in [np.full(p.a.size, 1 / p.a.size), *rng.dirichlet(np.ones(p.a.size), STARTS - 1)]:
        r = minimize(
            lambda w: (0.5 * w @ w, w),
            start,
            jac=True,
            bounds=[(0, 1)] * p.a.size,
            constraints=rules,
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-14},
        )
        w = np.maximum(r.x, 0) / np.maximum(r.x, 0).sum()
        if r.success and (best is None or w @ w < best @ best) and abs(wb.balance(a, f, w) - beta) < 1e-6:
            best = w
    return np.full(p.a.size, np.nan) if best is None else best


def _gurobi():
    """A function (a, f, beta) → weights, or None."""
    try:
        import gurobipy as gp

        env = gp.Env(params={"OutputFlag": 0})
    except Exception:
        return None

    def solve(a, f, beta):
        p = Standard.of(a, f)
        with gp.Model(env=env) as m:
            m.Params.NonConvex, m.Params.MIPGap, m.Params.Threads, m.Params.FeasibilityTol = 2, 1e-9, 1, 1e-9
            w = m.addMVar(p.a.size, ub=1.0)
            mean_a, mean_f = m.addVar(lb=-1), m.addVar(lb=-1)
            m.addConstr(w.sum() == 1)
            m.addConstr(p.a @ w == mean_a)
            m.addConstr(p.f @ w == mean_f)
            b = (1 - beta) * (p.a**2 @ w - mean_a * mean_a) - beta * (p.f**2 @ w - mean_f * mean_f)
            m.addConstr(b >= 0 if beta > wb.balance(a, f) else b <= 0)
            m.setObjective(w @ w)
            m.optimize()
            return np.maximum(w.X, 0) / np.maximum(w.X, 0).sum()

    return solve


if __name__ == "__main__":
    main()
