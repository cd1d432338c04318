"""Whichbird: see, steer and certify the adequacy–fluency balance of machine-translation meta-evaluation.

The names below are the public ones; each is loaded from its room when it is first asked for, so that importing the
package costs next to nothing. Rooms, in the order data meets them: `core`, `solve`, `data`, `study`, `show`, `cli`.
What only the book needs is the package `whichbird_book` beside this one, which imports this one and never the other way
round.
"""

from importlib import import_module

from ._version import __version__

TYPE_CHECKING = False  # true for type checkers; `typing` itself would take longer to load than all of this
if TYPE_CHECKING:  # what a type checker and an editor see; tests/test_rooms.py holds it to the table below
    from .core.balance import balance as balance, ess as ess, pair_balances as pair_balances, reachable as reachable
    from .core.check import DataError as DataError
    from .core.contributions import contributions_from_p as contributions_from_p
    from .core.leverage import Leverage as Leverage, leverage as leverage
    from .core.metametrics import (
        pairwise_accuracy as pairwise_accuracy,
        pearson as pearson,
        spa as spa,
        spa_from_p as spa_from_p,
    )
    from .core.permutation import p_curves as p_curves, p_values as p_values
    from .core.segmental import acc_eq as acc_eq, pdp as pdp
    from .data.digest import Digest as Digest, datasets as datasets, load as load, load_errors as load_errors
    from .data.domains import in_domain as in_domain
    from .data.mtme import find_source as find_source, read_mqm_tsv as read_mqm_tsv, read_mtme as read_mtme
    from .data.pairs import read_pairs as read_pairs
    from .data.pool import Pool as Pool
    from .data.segments import load_pool as load_pool
    from .data.source import source as source
    from .data.taxonomies import (
        Grouping as Grouping,
        load_taxonomy as load_taxonomy,
        regroup as regroup,
        taxonomies as taxonomies,
    )
    from .data.userfiles import read_human as read_human, read_scorers as read_scorers, read_systems as read_systems
    from .solve.certificate import certificate as certificate
    from .solve.distortion import Distortion as Distortion
    from .solve.path import Path as Path, path as path
    from .solve.result import (
        Counts as Counts,
        NotProven as NotProven,
        Reweighting as Reweighting,
        Reweightings as Reweightings,
        Sweep as Sweep,
    )
    from .solve.reweight import (
        beta_interval as beta_interval,
        reliable_interval as reliable_interval,
        reliable_intervals as reliable_intervals,
        reweight as reweight,
        reweight_many as reweight_many,
        reweight_sweep as reweight_sweep,
    )
    from .solve.search import ablation as ablation, search as search, search_sweep as search_sweep
    from .solve.shares import (
        NotReachable as NotReachable,
        Shared as Shared,
        reweight_shares as reweight_shares,
        reweight_shares_sweep as reweight_shares_sweep,
        share_grid as share_grid,
        shares as shares,
    )
    from .solve.stationary import stationary_points as stationary_points
    from .solve.verify import verify as verify
    from .solve.verify_shares import verify_shares as verify_shares
    from .study.calibrate import Calibration as Calibration, calibrate as calibrate
    from .study.carriers import (
        Carriers as Carriers,
        NaturalTurns as NaturalTurns,
        carriers as carriers,
        natural_turns as natural_turns,
    )
    from .study.ceiling import Ceiling as Ceiling, human_ceiling as human_ceiling
    from .study.components import Components as Components, components as components
    from .study.contest import Contest as Contest, contest as contest
    from .study.domains import (
        Common as Common,
        by_domain as by_domain,
        common_balance as common_balance,
        domain_agreement as domain_agreement,
        domain_lean as domain_lean,
    )
    from .study.intervals import Intervals as Intervals, intervals as intervals
    from .study.overview import overview as overview
    from .study.placebo import permuted as permuted, placebo as placebo
    from .study.profiles import Profile as Profile, contributions as contributions, profile as profile
    from .study.ranking import (
        RankChange as RankChange,
        Ranking as Ranking,
        rank as rank,
        rank_change as rank_change,
        rank_sweep as rank_sweep,
    )
    from .study.significance import (
        Significance as Significance,
        clusters as clusters,
        holm as holm,
        significance as significance,
    )
    from .study.targets import weight_sweep as weight_sweep
    from .study.verdict import Verdict as Verdict, load_significance as load_significance

_ROOM = {
    "core.balance": ("balance", "ess", "pair_balances", "reachable"),
    "core.check": ("DataError",),
    "core.contributions": ("contributions_from_p",),
    "core.leverage": ("Leverage", "leverage"),
    "core.metametrics": ("pairwise_accuracy", "pearson", "spa", "spa_from_p"),
    "core.permutation": ("p_curves", "p_values"),
    "core.segmental": ("acc_eq", "pdp"),
    "data.digest": ("Digest", "datasets", "load", "load_errors"),
    "data.domains": ("in_domain",),
    "data.mtme": ("find_source", "read_mqm_tsv", "read_mtme"),
    "data.pairs": ("read_pairs",),
    "data.pool": ("Pool",),
    "data.segments": ("load_pool",),
    "data.source": ("source",),
    "data.taxonomies": ("Grouping", "load_taxonomy", "regroup", "taxonomies"),
    "data.userfiles": ("read_human", "read_scorers", "read_systems"),
    "solve.certificate": ("certificate",),
    "solve.distortion": ("Distortion",),
    "solve.path": ("Path", "path"),
    "solve.result": ("Counts", "NotProven", "Reweighting", "Reweightings", "Sweep"),
    "solve.reweight": (
        "beta_interval",
        "reliable_interval",
        "reliable_intervals",
        "reweight",
        "reweight_many",
        "reweight_sweep",
    ),
    "solve.search": ("ablation", "search", "search_sweep"),
    "solve.shares": ("NotReachable", "Shared", "reweight_shares", "reweight_shares_sweep", "share_grid", "shares"),
    "solve.stationary": ("stationary_points",),
    "solve.verify": ("verify",),
    "solve.verify_shares": ("verify_shares",),
    "study.calibrate": ("Calibration", "calibrate"),
    "study.carriers": ("Carriers", "NaturalTurns", "carriers", "natural_turns"),
    "study.components": ("Components", "components"),
    "study.ceiling": ("Ceiling", "human_ceiling"),
    "study.contest": ("Contest", "contest"),
    "study.domains": ("Common", "by_domain", "common_balance", "domain_agreement", "domain_lean"),
    "study.intervals": ("Intervals", "intervals"),
    "study.overview": ("overview",),
    "study.placebo": ("permuted", "placebo"),
    "study.profiles": ("Profile", "contributions", "profile"),
    "study.ranking": ("RankChange", "Ranking", "rank", "rank_change", "rank_sweep"),
    "study.significance": ("Significance", "clusters", "holm", "significance"),
    "study.targets": ("weight_sweep",),
    "study.verdict": ("Verdict", "load_significance"),
}
_HOME = {name: module for module, names in _ROOM.items() for name in names}
_MOVED = {  # public names of version 0.2, now of the book's package
    **dict.fromkeys(("check", "hint", "points", "student"), "whichbird_book"),
    **dict.fromkeys(("by_beta", "by_reference", "by_seed", "by_taxonomy", "by_total"), "whichbird_book.choices"),
    **dict.fromkeys(("generalise", "rater_plan"), "whichbird_book.facets"),
    **dict.fromkeys(("aspect_agreement", "rater_balances", "rater_habits"), "whichbird_book.raters"),
}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> object:
    if name in _MOVED:
        raise AttributeError(f"{name} is in another package now: from {_MOVED[name]} import {name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value  # asked for once
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
