"""Whichbird: see, steer and certify the adequacy–fluency balance of machine-translation meta-evaluation."""

from ._check import DataError
from ._version import __version__
from .balance import balance, ess, pair_balances, reachable
from .digest import Digest, datasets, load, load_errors
from .metametrics import pairwise_accuracy, pearson, spa, spa_from_p
from .mtme import read_mqm_tsv, read_mtme
from .permutation import p_curves, p_values
from .pool import Pool
from .result import Reweighting

__all__ = [
    "DataError", "Digest", "Pool", "Reweighting", "__version__", "balance", "datasets", "ess", "load", "load_errors",
    "p_curves", "p_values", "pair_balances", "pairwise_accuracy", "pearson", "reachable", "read_mqm_tsv", "read_mtme", "spa",
    "spa_from_p",
]
