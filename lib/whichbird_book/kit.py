"""What chapters share: which datasets they show, how numbers go into their sentences, and steps that several of them take.

>>> from whichbird_book import kit
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from whichbird.core.augment import PAPER_FAMILIES
from whichbird.core.balance import from_std_balance, reachable, std_balance
from whichbird.core.check import Array
from whichbird.data.digest import Digest, datasets, load, read_table
from whichbird.data.registry import display as reading
from whichbird.solve.reweight import reweight_sweep
from whichbird.study.contest import need_aspects
from whichbird.study.preference import steps

from .report import published

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The families of augmented scorers that the paper measures by: one of taste, the others of soundness
FAMILIES = PAPER_FAMILIES
TASTE, SOUND = FAMILIES[0], FAMILIES[1:]
WORDS = (
    "no one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
ROUNDED = 1e-9  # an ESS of exactly a share of K may come out this much smaller, relative to it


def pools(paper: bool | None = None, also: str | None = None) -> dict[str, Digest]:
    """The datasets that have a balance, by name, oldest first; the paper's alone, in the order of its tables, or the others. `also` is one more, if it is not there.

    >>> list(pools(paper=True))[:3], "ende23" in pools(paper=False), "heen23" in pools()
    (['ende24', 'enes24', 'jazh24'], True, False)
    """
    names = datasets(paper, aspects=True)
    if paper:
        names.sort(key=list(published("core").index).index)
    return {name: load(name) for name in dict.fromkeys([*names, *([also] if also else [])])}


def shipped(table: str, names: Iterable[str]) -> pd.DataFrame:
    """The rows of a shipped table that belong to these datasets, in their order.

    >>> shipped("stability.csv", ["zhen23", "ende24"])["dataset"].unique().tolist()
    ['zhen23', 'ende24']
    """
    whole = read_table(table)
    return pd.concat([whole[whole["dataset"] == name] for name in names], ignore_index=True)


def holds(chapter: str, check: str) -> str:
    """In how many datasets a check of a chapter holds, as prose has it: from the table that `make vary` makes of chapters run on every dataset.

    The book's own counts, since there the check is an assert. A check that was not asked anywhere gives a dash: the table is older than the check.

    >>> holds("paper/3-3-weighted-spa", "no such check")
    '—'
    """
    table = read_table("vary.csv", keep_default_na=False)
    row = table[(table["chapter"] == chapter) & (table["check"] == check)]
    if row.empty:
        return "—"
    held, failed, unasked = (len(row.iloc[0][column].split()) for column in ("holds", "fails", "unasked"))
    return f"{held + 1} of {held + failed + unasked + 1}"


def terminal(
    program: Callable[[list[str]], int], folder: str | os.PathLike[str]
) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """A function that runs `program` on the words of a command line, in a folder: what a terminal would show, and the exit code.

    No process is started: loading the library anew for every command would take longer than most commands do.

    >>> terminal(lambda words: print(*words) or 0, ".")("whichbird rank 'my set'").stdout
    'rank my set\\n'
    """

    def run(command: str) -> subprocess.CompletedProcess[str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = program(shlex.split(command)[1:])
        return subprocess.CompletedProcess(command, code, out.getvalue(), err.getvalue())

    return run


# Whoever wants to know what is glued: a working copy compares it with what the book printed
LISTENERS: list[Callable[[str, str], None]] = []
GLUE = "application/papermill.record/"  # what the types of glued outputs begin with; no page and no notebook shows them


def glue(name: str, value: object, **more: object) -> None:
    """Give a value to the sentences of a chapter, as myst-nb's function of this name does, which only the book has."""
    from IPython.display import display

    for listener in LISTENERS:
        listener(name, str(value))
    data = {f"{GLUE}text/plain": repr(value), **{f"{GLUE}{kind}": each for kind, each in more.items()}}
    display(data, raw=True, metadata={"scrapbook": {"name": name, "mime_prefix": GLUE}})


def speaker(prefix: str) -> Callable[..., None]:
    """A function `say(name=value, …)` that glues values under `prefix_name`, for the sentences of one chapter; a scorer as people read it."""

    def say(**values: object) -> None:
        for name, value in values.items():
            glue("_".join(filter(None, [prefix, name])), reading(value) if isinstance(value, str) else value)

    return say


# The type under which a value that a chapter recorded lies among the outputs of its cell; no page shows it
RECORD = "application/vnd.whichbird.record+json"


def record(name: str, value: object, shown: str | None = None, beside: tuple[str, str] | None = None) -> None:
    """Record what a chapter finds about a claim of the paper, for the page that sets all claims beside our values.

    The value is glued under its name, so that a sentence can show it, and stays among the outputs of the cell: it lives and
    dies with the kept run. It is a number, a truth value, the counts (equal, different, not available) of a `Comparison`, or
    None where we cannot know. Floats keep twelve digits: further ones differ from machine to machine. `shown` is how
    the page writes it, and `beside` a second figure that an accident of arithmetic or choice gives: what it is, and the figure.

    >>> record_of("tau", 0.87970000000000001, beside=("exact", "0.8797"))
    {'name': 'tau', 'value': 0.8797, 'shown': None, 'beside': ['exact', '0.8797']}
    """
    kept = record_of(name, value, shown, beside)
    glue(name, shown if shown is not None else str(kept["value"]), **{RECORD: kept})


def record_of(
    name: str, value: object, shown: str | None = None, beside: tuple[str, str] | None = None
) -> dict[str, object]:
    """A record as JSON can hold it; refuses what `record` would not accept.

    >>> record_of("table", (87, 0, 12))["value"], record_of("rises", np.True_)["value"], record_of("heen23", None)["value"]
    ([87, 0, 12], True, None)
    """
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise ValueError(
            f"{name!r} cannot name a record: small letters, digits and single hyphens between them, please"
        )
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, tuple) and len(plain) == 3 and all(isinstance(n, int | np.integer) and n >= 0 for n in plain):
        plain = [int(n) for n in plain]
    elif isinstance(plain, float) and np.isfinite(plain):
        plain = float(f"{plain:.12g}")
    elif not (plain is None or isinstance(plain, bool | int)):
        raise ValueError(
            f"record {name!r} is {value!r}; it must be a finite number, a truth value, three counts or None"
        )
    return {"name": name, "value": plain, "shown": shown, "beside": list(beside) if beside else None}


def word(count: int) -> str:
    """A count as prose has it: in words up to twenty.

    >>> word(10), word(24)
    ('ten', '24')
    """
    return WORDS[count] if 0 <= count < len(WORDS) else number(count)


def number(x: float, digits: int = 0) -> str:
    """A number as prose has it: thousands apart, a true minus sign.

    >>> number(-1234.5, 1), number(-0.04, 1)
    ('−1\u202f234.5', '0.0')
    """
    return f"{x:z,.{digits}f}".replace(",", "\u202f").replace("-", "−")


def percent(x: float, digits: int = 0) -> str:
    """A share as prose has it.

    >>> percent(0.128), percent(0.128, 1)
    ('13\xa0%', '12.8\xa0%')
    """
    return number(100 * x, digits) + "\u00a0%"


def listed(names: Iterable[str]) -> str:
    """Names as prose lists them, scorers as people read them.

    >>> listed(["a", "b", "c"]), listed(["a", "b"]), listed([])
    ('a, b and c', 'a and b', 'none')
    """
    *most, last = map(reading, list(names) or ["none"])
    return f"{', '.join(most)} and {last}" if most else last


def had(wanted: Iterable[str], names: Iterable[str]) -> list[str]:
    """The wanted names that there are, each once: a chapter that runs on another dataset leaves out the labels of what is not there.

    >>> had(["BLEU", "chrF", "BLEU"], ["BLEU", "COMET"])
    ['BLEU']
    """
    there = set(names)
    return [name for name in dict.fromkeys(wanted) if name in there]


def like(wanted: str, names: Iterable[str]) -> str:
    """The wanted name if it is there, else the one that is written most like it: chapters name scorers and systems, and another dataset has others.

    >>> like("CometKiwi", ["BLEU", "CometKiwi"]), like("COMET-22", ["BLEU", "COMET-20", "YiSi"])
    ('CometKiwi', 'COMET-20')
    """
    names = list(names)
    return max(names, key=lambda name: (name == wanted, SequenceMatcher(None, name.lower(), wanted.lower()).ratio()))


def weights(d: Digest, betas: Iterable[float]) -> Array:
    """The most even weightings of a dataset at many balances: shape (T, K).

    >>> weights(load("ende24"), [0.6, 0.7]).shape
    (2, 16)
    """
    return reweight_sweep(*need_aspects(d), list(betas)).insist().weights


def targets(d: Digest, count: int = 150) -> Array:
    """Targets from end to end of what a pool can reach, equally spaced on standard deviations: on β they would crowd near one.

    >>> targets(load("ende24"), 3).round(3)
    array([0.007, 0.578, 1.   ])
    """
    low, high = reachable(*need_aspects(d))
    spaced = [from_std_balance(s) for s in np.linspace(std_balance(low), std_balance(high), count)]
    out: Array = np.clip(spaced, low, high)
    return out


def steps_of(d: Digest, family: str = TASTE) -> np.ndarray:
    """What a measure needs to know of a dataset, for `preference`: shape (M, dials − 1, P).

    >>> steps_of(load("ende24")).shape
    (30, 50, 120)
    """
    return steps(d.counts("total"), d.curve_counts(family))


def hanging(y: Iterable[float]) -> np.ndarray:
    """How far each value lies below the largest before it.

    >>> hanging([1, 3, 2, 4])
    array([0, 0, 1, 0])
    """
    values = np.asarray(y)
    below: np.ndarray = np.maximum.accumulate(values) - values
    return below


def within(table: pd.DataFrame, share: float) -> pd.DataFrame:
    """The part of a sweep with an ESS of at least this share of K, the ESS at β₀.

    >>> within(pd.DataFrame({"beta": [0.1, 0.5, 0.9], "ess": [3.0, 16.0, 14.4]}), 0.9)["beta"].tolist()
    [0.5, 0.9]
    """
    inner: pd.DataFrame = table[table["ess"] >= share * table["ess"].max() * (1 - ROUNDED)]
    return inner


def rank_correlation(x: Iterable[float], y: Iterable[float]) -> float:
    """Spearman's correlation: that of the ranks.

    >>> round(rank_correlation([1, 2, 3], [1, 4, 100]), 9)
    1.0
    """
    first, second = (pd.Series(np.asarray(v)).rank().to_numpy() for v in (x, y))
    return float(np.corrcoef(first, second)[0, 1])


def neighbours(table: pd.DataFrame, along: str) -> pd.DataFrame:
    """Each cell of (ESS, β) beside the next one along "ess" or "beta": columns with and without `_next`.

    >>> cells = pd.DataFrame({"dataset": "x", "ess": 0, "beta": [0, 1, 3], "mean": [0.1, 0.2, 0.5]})
    >>> neighbours(cells, "beta")[["mean", "mean_next"]].to_numpy().tolist()
    [[0.1, 0.2]]
    """
    following = table.assign(**{along: table[along] - 1})
    return table.merge(following, on=["dataset", "ess", "beta"], suffixes=("", "_next"))


def changes(s: Array) -> Array:
    """The reversed leads, one for each pair of scorers that changes order over β; s (targets, scorers) holds their SPA.

    A pair's reversed lead is the smaller of the largest leads that each of them has over the other.

    >>> changes(np.array([[0.9, 0.8, 0.1], [0.7, 0.8, 0.1]])).round(3)
    array([0.1])
    """
    m, n = np.triu_indices(s.shape[1], 1)
    gap = s[:, m] - s[:, n]
    lead = np.minimum(gap.max(axis=0), -gap.min(axis=0))  # negative where the order never changes
    reversed_: Array = lead[lead > ROUNDED]
    return reversed_


def popular(d: Digest) -> list[int]:
    """The places of the MetricX and xCOMET variants among a dataset's scorers.

    >>> len(popular(load("ende24")))
    6
    """
    return [m for m, name in enumerate(d.scorers) if "metricx" in name.lower() or "xcomet" in name.lower()]


def beta_panels(names: Iterable[str], cell: tuple[float, float] = (2.7, 2.3)) -> tuple[Figure, list[Axes]]:
    """Small panels over β, one a dataset in two columns, each with its name and shared axes: the figure and its axes."""
    from whichbird.show import figures

    names = list(names)
    fig, axes = figures.grid(len(names), columns=2, cell=cell, sharex=True, sharey=True)
    for ax, name in zip(axes, names, strict=True):
        ax.set_title(name)
        ax.set_xticks([0, 0.5, 1], ["0", "½", "1"])
        ax.set_yticks([0, 0.5, 1], ["0", "½", "1"])
    fig.supxlabel("balance β", fontsize=11)
    fig.supylabel("share of steps won", fontsize=11)
    return fig, axes


def arguments(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """The arguments of a command, from its parser; argparse has no public way to ask."""
    return parser._actions


def commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands of a program, by name, from its parser.

    >>> parser = argparse.ArgumentParser()
    >>> _ = parser.add_subparsers().add_parser("rank", help="put scorers in order").add_argument("--beta")
    >>> [a.dest for a in arguments(commands(parser)["rank"])]
    ['help', 'beta']
    """
    (group,) = (a for a in arguments(parser) if isinstance(a, argparse._SubParsersAction))
    return dict(group.choices)
