"""Pools of many systems, and scores of any size: `reweight` answers with a proof, in memory that grows with K, or refuses.

Expected values: the same scores in another unit.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from pools import ENDE24

import whichbird as wb

GAP = 1e-9

LARGE = """
import resource
import numpy as np
import whichbird as wb
a, f = np.random.default_rng(0).normal(size=(2, 12_000))
a[:20], f[:20] = a[0], f[0]  # copies
a[20], f[20] = a[0] + 1e-7, f[0]  # and a system that is nearly one
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))  # one array of all pairs takes 1.15 GB
low, high = wb.reachable(a, f)
natural = wb.balance(a, f)
for beta in (low, natural + 0.01, 0.9, high):
    r = wb.reweight(a, f, beta)
    print(r.gap <= 1e-9, abs(r.beta - beta) <= 1e-12, r.certificate)
"""


def test_many_systems_need_no_array_of_all_pairs():
    """Twelve thousand, two of them so close that proofs are verified first, in a process with one gigabyte."""
    done = subprocess.run(
        [sys.executable, "-c", LARGE],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 4 and all(line.startswith("True True") for line in lines), done.stdout + done.stderr[-500:]


SOLVED = [  # what needs the square of the scores' unit
    lambda a, f: wb.reweight(a, f, 0.6),
    lambda a, f: wb.reweight(a, f, 0.9),
    lambda a, f: wb.reweight(a, f, 0.6, "kl"),
    lambda a, f: wb.reweight_sweep(a, f, [0.2, 0.6])[0],
    lambda a, f: wb.reweight_many([a], [f], 0.6),
    wb.path,
    lambda a, f: wb.search(a[:6], f[:6], 0.6),
    lambda a, f: wb.certificate(a, f, 0.6, np.ones(a.size)),
    lambda a, f: wb.stationary_points(a[:4], f[:4], 0.6),
    lambda a, f: wb.beta_interval(a, f, 3),
    wb.reliable_interval,
]


@pytest.mark.parametrize("solve", SOLVED)
@pytest.mark.parametrize("sizes", [(1e155, 1e155), (1e-300, 1e-300), (1e-310, 1e-310), (1e300, 1e300), (1, 1e-70)])
def test_sizes_without_a_square_are_refused(solve, sizes):
    a, f = (np.array(x) * size for x, size in zip(ENDE24, sizes, strict=True))
    with pytest.raises(ValueError, match="expected"):
        solve(a, f)


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1e-98, 1e98, 1e200])
def test_balances_do_not_depend_on_the_unit(size):
    """Nor do results, as far as a proof goes; a denormal number has few digits."""
    a, f = (np.array(x) for x in ENDE24)
    rel = 1e-9 if size > 1e-300 else 1e-1
    for of in (wb.balance, wb.reachable, wb.pair_balances):
        assert of(size * a, size * f) == pytest.approx(of(a, f), rel=rel)
    if 1e-100 < size < 1e100:
        for beta in (0.2, 0.6, 0.95):
            r, same = wb.reweight(size * a, size * f, beta), wb.reweight(a, f, beta)
            assert r.certificate == same.certificate and r.gap <= GAP and np.isfinite(r.eta) and r.eta != 0
            assert r.weights == pytest.approx(same.weights, abs=1e-9)
        assert wb.path(size * a, size * f).hidden < 0.03
