"""Whichbird: see, steer and certify the adequacy–fluency balance of machine-translation meta-evaluation."""

from ._version import __version__
from .balance import balance, ess, pair_balances, reachable
from .certificate import certificate
from .result import Counts, Reweighting
from .search import ablation, search, search_sweep
from .stationary import stationary_points

__all__ = ["Counts", "Reweighting", "__version__", "ablation", "balance", "certificate", "ess", "pair_balances",
           "reachable", "search", "search_sweep", "stationary_points"]
