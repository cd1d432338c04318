"""Whichbird: see, steer and certify the adequacy–fluency balance of machine-translation meta-evaluation."""

from ._check import DataError
from ._version import __version__
from .balance import balance, ess, pair_balances, reachable
from .calibrate import Calibration, calibrate
from .certificate import certificate
from .digest import Digest, datasets, load, load_errors
from .metametrics import pairwise_accuracy, pearson, spa, spa_from_p
from .mtme import find_source, read_mqm_tsv, read_mtme
from .pairs import read_pairs
from .permutation import p_curves, p_values
from .pool import Pool
from .rank import Contest, Ranking, contest, overview, rank, rank_sweep, weight_sweep
from .result import Counts, Reweighting
from .reweight import NotProven, beta_interval, reliable_interval, reweight, reweight_sweep
from .search import ablation, search, search_sweep
from .stationary import stationary_points
from .userfiles import read_human, read_scorers, read_systems

__all__ = [
    "Calibration", "Contest", "Counts", "DataError", "Digest", "NotProven", "Pool", "Ranking", "Reweighting",
    "__version__", "ablation", "balance", "beta_interval", "calibrate", "certificate", "contest", "datasets", "ess",
    "find_source", "load", "load_errors", "overview", "p_curves", "p_values", "pair_balances", "pairwise_accuracy",
    "pearson", "rank", "rank_sweep", "reachable", "read_human", "read_mqm_tsv", "read_mtme", "read_pairs",
    "read_scorers", "read_systems", "reliable_interval", "reweight", "reweight_sweep", "search", "search_sweep",
    "spa", "spa_from_p", "stationary_points", "weight_sweep",
]
