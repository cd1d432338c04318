"""Whichbird: see, steer and certify the adequacy–fluency balance of machine-translation meta-evaluation."""

from ._version import __version__
from .balance import balance, ess, pair_balances, reachable
from .result import Reweighting
from .reweight import NotProven, beta_interval, reweight, reweight_sweep

__all__ = [
    "NotProven",
    "Reweighting",
    "__version__",
    "balance",
    "beta_interval",
    "ess",
    "pair_balances",
    "reachable",
    "reweight",
    "reweight_sweep",
]
