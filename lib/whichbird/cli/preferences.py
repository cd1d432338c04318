"""The command that finds a balance from preferences.

A command is one function from parsed arguments to a `Result`, and its docstring is its help; `program.COMMANDS` lists them.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..core.balance import ess
from ..data.pairs import read_pairs
from ..study.calibrate import calibrate
from ..study.contest import contest, need_aspects
from ..study.ranking import rank
from .commands import facts_of
from .formats import Result
from .sources import open_source

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def calibrate_(args: argparse.Namespace) -> Result:
    """Find the balance whose ranking favours the scorers that agree with you.

    You prefer one translation in each of some pairs; scorers score both. The answer
    is the balance, within the reliable interval of a dataset, at which the scorers
    that side with you do best. Resampling your pairs shows how sharp it is. The
    verdict says what may be concluded, also if that is nothing.

    pairs.csv has a header with the columns pair, preferred, scorer, first, second
    (in any order; others, such as the texts, are ignored) and one row for each pair
    and scorer. preferred is first or second; the columns of these names hold the
    scores, higher is better. Scorers are named as in the dataset. For any other
    give its segment scores of the dataset too (--scores), read as 'whichbird rank
    --help' says.

    examples:
      whichbird calibrate pairs.csv --dataset ende24
      whichbird calibrate pairs.csv --dataset ende24 --by concordance --plot m.svg
      whichbird calibrate pairs.csv --dataset zhen23 --scores mine=m.seg.score
    """
    opened = open_source(args)
    d, scores = opened.data, opened.scores
    need_aspects(d)
    pairs = read_pairs(args.pairs, [*d.scorers, *scores], d.aliases)
    field = contest(opened.base, scores, opened.reference)
    own = {s: p for s, p, mine in zip(field.scorers, field.p, field.own, strict=True) if mine}
    found = calibrate(pairs, d, own, by=args.by, ess=args.ess, step=args.step, resamples=args.resamples, seed=args.seed)
    ranks = rank(field, found.beta)
    table = found.agreement.rename("agreement").reset_index().merge(ranks.table, on="scorer")
    table = table.sort_values(["agreement", "rank", "scorer"], ascending=[False, True, True], ignore_index=True)
    facts = facts_of(opened, args.domain) | {
        "reliable_interval": found.reliable,
        "pairs": found.pairs,
        "scorers": len(found.agreement),
        "by": found.by,
        "beta": found.beta,
        "ess": ess(ranks.weights["weight"]),
        "match": found.match,
        "match_natural": found.match - found.gain,
        "resampled_interval": found.interval,
        "share_above_beta0": found.above,
        "best_anywhere": found.anywhere,
        "verdict": found.verdict,
        "signature": f"{d.signature}|pairs:{found.pairs}|by:{found.by}|ess:{args.ess:g}|step:{args.step:g}"
        f"|resamples:{args.resamples}|resampling seed:{args.seed}|beta:{found.beta:.12g}",
    }
    shown = table[["scorer", "agreement", "rank", "rank_natural"]]

    def figure() -> Figure:
        from ..show import figures

        return figures.match_over_beta(found)

    named = set(pairs["scorer"])
    notes = tuple(
        f"{args.pairs} has no pair scored by {s!r}, so that scorer's file is not used" for s in own if s not in named
    )
    return Result(facts, {"agreement": table, "sweep": found.table}, (shown,), figure, notes)
