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
    names = [name.strip() for name in (args.aspects or "").split(",")]
    if args.shares is None or len(args.shares) != len(names) or args.plot:
        raise ValueError(
            "--aspects A,B,C and --shares with as many numbers, as .3,.4,.3, go together; there is no --plot"
        )
    given = _given(args)
    systems, x = criterion_means(given, names)
    with naming(given):
        natural = shares(x)
        r = reweight_shares(x, args.shares)
    facts: dict[str, object] = {"shares_of": ", ".join(names), "natural_shares": natural.tolist()}
    facts |= {"asked": r.asked.tolist(), "ess": r.ess, "reliable": is_reliable(r)}
    facts |= {"certificate": r.certificate, "gap": r.gap}
    columns = {"system": systems, **dict(zip(names, x, strict=True)), "weight": r.weights}
    return Result(facts, {"weights": columns}, proof=r.proof)


def verify(args: argparse.Namespace, proof: dict[str, Any]) -> Result:
    """Check a proof that `reweight --shares --proof` wrote."""
    with naming(args.file):
        gap = verify_shares(proof)
        if gap > args.gap:
            raise ValueError(f"not a proof of a gap of {args.gap:g} or less (--gap), but of {gap:.3g}")
        if "weights" not in proof:
            raise ValueError("a proof that no weighting has these shares; it holds, and there is nothing to show")
    w = np.array([float(v) for v in proof["weights"]])
    w = w / w.sum()
    facts: dict[str, object] = {"asked": [float(v) for v in proof["shares"]], "ess": float(1 / (w @ w)), "gap": gap}
    return Result(facts, {"weights": {"system": [f"system {k}" for k in range(1, w.size + 1)], "weight": w}})


def beta(args: argparse.Namespace) -> Result:
    """The natural shares of the aspects `args.aspects`, and those of the pool without each system."""
    given, names = _given(args), [name.strip() for name in args.aspects.split(",")]
    systems, x = criterion_means(given, names)
    with naming(given):
        own = shares(x)
        without = np.array([shares(np.delete(x, k, axis=1)) for k in range(len(systems))]).T
    carriers = [systems[k] for k in np.abs(without - own[:, None]).argmax(axis=1)]
    table = {
        "aspect": names,
        "share": own,
        "lowest_without": without.min(axis=1),
        "highest_without": without.max(axis=1),
    }
    return Result({"data": given, "systems": len(systems)}, {"shares": {**table, "carried_by": carriers}})


def _given(args: argparse.Namespace) -> str:
    """The dataset or table of system means; nothing else is taken with shares."""
    given = args.source if args.source is not None else args.human
    others = ("mtme", "without", "taxonomy", "reference", "domain")
    if given is None or any(getattr(args, name, None) for name in others) or getattr(args, "raters", "mean") != "mean":
        raise ValueError("shares of several aspects take a dataset that ships or a table of system means, whole")
    return str(given)
