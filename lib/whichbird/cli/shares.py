"""Several aspects at once: the shares of a table's columns, or of a dataset's aspects, and weights that give them others."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from ..data.criteria import criterion_means
from ..solve.shares import reweight_shares, shares
from ..solve.verify_shares import verify_shares
from ..study.targets import is_reliable
from .formats import Result
from .light import naming


def reweight(args: argparse.Namespace) -> Result:
    """Weights for the shares `args.shares` of the aspects `args.aspects`."""
    names = (args.aspects or "").split(",")
    if args.aspects is None or args.shares is None or len(args.shares) != len(names) or args.plot:
        raise ValueError(
            "--aspects A,B,C and --shares with as many numbers, as .3,.4,.3, go together; there is no --plot"
        )
    systems, x = criterion_means(_given(args), names)
    with naming(_given(args)):
        natural = shares(x)
        r = reweight_shares(x, args.shares)
    facts: dict[str, object] = {"aspects": ", ".join(names), "natural_shares": natural.tolist()}
    facts |= {"asked": r.asked.tolist(), "ess": r.ess, "reliable": is_reliable(r)}
    facts |= {"certificate": r.certificate, "gap": r.gap}
    columns = {"system": systems, **dict(zip(names, x, strict=True)), "weight": r.weights}
    return Result(facts, {"weights": columns}, proof=r.proof)


def verify(args: argparse.Namespace, proof: dict[str, Any]) -> Result:
    """Check a proof that `reweight --shares --proof` wrote; without weights it shows that there are none."""
    with naming(args.file):
        gap = verify_shares(proof)
        if gap > args.gap:
            raise ValueError(f"not a proof of a gap of {args.gap:g} or less (--gap), but of {gap:.3g}")
    w = np.array(proof["weights"], dtype=float)
    w = w / w.sum()
    facts: dict[str, object] = {"asked": list(map(float, proof["shares"])), "ess": float(1 / (w @ w)), "gap": gap}
    return Result(facts, {"weights": {"system": [f"system {k}" for k in range(1, w.size + 1)], "weight": w}})


def beta(args: argparse.Namespace) -> Result:
    """The natural shares of the aspects `args.aspects`, and those of the pool without each system."""
    names, given = args.aspects.split(","), _given(args)
    systems, x = criterion_means(given, names)
    with naming(given):
        own = shares(x)
        without = np.array([shares(np.delete(x, k, axis=1)) for k in range(len(systems))]).T
    table = {
        "aspect": names,
        "share": own,
        "lowest_without": without.min(axis=1),
        "highest_without": without.max(axis=1),
    }
    carried = [systems[k] for k in np.abs(without - own[:, None]).argmax(axis=1)]
    return Result({"data": given, "systems": len(systems)}, {"shares": {**table, "carried_by": carried}})


def _given(args: argparse.Namespace) -> str:
    """The table or dataset that is named: for several aspects its means are enough."""
    given = args.source if args.human is None else args.human
    if given is None or args.mtme is not None or args.without or args.domain or args.taxonomy or args.raters != "mean":
        raise ValueError(
            "shares of several --aspects are those of a dataset or a table, whole; no other option selects data"
        )
    return str(given)
