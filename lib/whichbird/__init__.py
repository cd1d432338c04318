"""Whichbird: see, steer and certify the adequacy–fluency balance of machine-translation meta-evaluation."""

from ._version import __version__
from .balance import balance, ess, pair_balances, reachable
from .result import Reweighting

__all__ = ["Reweighting", "__version__", "balance", "ess", "pair_balances", "reachable"]
