"""The command line: parse, call the library, print. `light`, `commands`, `several` and `preferences` hold the commands; each is loaded when it is asked for."""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from .._version import __version__
from ..data.files import tidy_end
from ..solve.result import NotProven
from .formats import FORMATS, Result, first_rows, one_line, schema
from .output import check_outputs, deliver, say, settle

# What a system says of a name or a place, which is input; a full or a broken disk is a failure.
NO_PLACE = {
    errno.EACCES, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOENT, errno.ENOTDIR, errno.EPERM, errno.EROFS,
}  # fmt: skip
DATASET = "a name that 'whichbird datasets' lists, or mt-metrics-eval's, as wmt24/en-de"
BETA = "balance from 0 (all fluency) to 1 (all adequacy)"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        say(one_line(f"{self.prog}: {message}; '{self.prog} --help' shows how") + "\n")
        self.exit(2)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Help, version and schema; argparse itself is silent about what it could not write."""
        out = sys.stdout if file is None else file
        if out is None:
            raise OSError("standard output is closed")
        print(message, end="", file=out, flush=True)


class _Schema(argparse.Action):
    """Print the schema and stop, as --version does."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        parser._print_message(json.dumps(schema(), indent=2, ensure_ascii=False) + "\n")
        parser.exit()


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None


def _target(text: str) -> float | str:
    from ..study.average import ENDS

    return text if text in ENDS else _number(text)


def _numbers(text: str) -> list[float]:
    return [_number(part) for part in text.split(",")]


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None


def _most(text: str) -> int:
    most = _whole(text)
    if most < 1:
        raise argparse.ArgumentTypeError(f"{text} is no whole number of at least 1")
    return most


def _step(text: str) -> float:
    step = _number(text)
    if not 1e-4 <= step <= 1:
        raise argparse.ArgumentTypeError(f"{text} is no number from 0.0001 to 1")
    return step


def _margin(text: str) -> float:
    margin = _number(text)
    if not 0 < margin < 0.5:
        raise argparse.ArgumentTypeError(f"{text} is no number between 0 and 0.5")
    return margin


def _meta(text: str) -> str:
    from ..study.meta import metametrics

    try:
        return ",".join(m.name for m in metametrics(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _file(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("'' is no file name")
    return text


def _datasets_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="a dataset, to see who takes part in it")
    parser.add_argument("--domains", action="store_true", help="a line for each kind of text instead")


def _source_arguments(
    parser: argparse.ArgumentParser, given: str | None = "source", scores: bool = True, mtme: bool = True, pairs: bool = False
) -> None:  # fmt: skip
    """The options that name data, the same wherever a command takes any; `given` is the place that comes without an option."""
    one = parser.add_argument_group("data", "a dataset that ships, ratings of yours, or a tree; and what to take of it")
    if given == "source":
        one.add_argument("source", nargs="?", metavar="dataset", type=_file, help=DATASET + "; or a file, as --human")
    elif given is not None:
        one.add_argument(f"--{given}", dest="source", metavar="NAME", help=DATASET)
    one.add_argument("--human", metavar="FILE", type=_file, help="human ratings: a table, or rows of MQM errors")
    if mtme:
        one.add_argument("--mtme", metavar="DIR", type=_file, help="an unpacked mt-metrics-eval-v2 tree")
        one.add_argument("--set", help="with --mtme: the set, as wmt24")
        one.add_argument("--pair", nargs="+" if pairs else None, help="with --mtme: the language pair, as en-de")
    if scores:
        _scores_arguments(one)
    one.add_argument(
        "--aspects",
        metavar="A,B",
        help="the two aspects, by their columns; beta is A's share (A+C adds columns up, --aspects=-A,B negates one; "
        "default: adequacy,fluency)",
    )
    one.add_argument(
        "--without", metavar="SYSTEM,...", type=_names, action="extend", help="leave out systems, separated by commas"
    )
    one.add_argument(
        "--taxonomy",
        metavar="NAME|FILE",
        type=_file,
        help="another grouping of MQM errors; 'whichbird taxonomies' lists some",
    )
    one.add_argument(
        "--reference", help="what the scorers compare with: refA, say, or standard, the one WMT used (default: refA)"
    )
    one.add_argument("--domain", help="one kind of text alone, as 'whichbird datasets --domains' lists them")
    one.add_argument(
        "--raters",
        metavar="mean|each|NAME",
        default="mean",
        help="what several ratings of a cell become (default: mean)",
    )
    one.add_argument(
        "--allow-uncounted", action="store_true", help="take MQM errors of which no table knows more than a fifth"
    )
    parser.set_defaults(place=given)
    absent = {"source": None, "mtme": None, "set": None, "pair": None, "scores": None, "ignore_extra": False}
    known = {action.dest for action in parser._actions}
    parser.set_defaults(**{name: value for name, value in absent.items() if name not in known})


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} has an empty name; names separated by commas are expected")
    return names


def _natural_arguments(parser: argparse.ArgumentParser) -> None:
    _source_arguments(parser, scores=False)
    parser.add_argument(
        "--margin", type=_margin, default=0.02, help="how closely beta0 should be known (default: %(default)s)"
    )


def _reweight_arguments(parser: argparse.ArgumentParser) -> None:
    _source_arguments(parser, scores=False)
    _beta_arguments(parser, required=True).add_argument(
        "--shares", type=_numbers, metavar="S,...", help="shares of --aspects, two or more, as .3,.4,.3, instead"
    )
    _plot_argument(parser)
    parser.add_argument("--proof", metavar="FILE", type=_file, help="write the proof, JSON that 'verify' checks")


def _verify_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="proof.json", type=_file, help="what 'reweight --proof' wrote")
    parser.add_argument("--gap", type=_number, default=1e-9, help="the largest gap to accept (default: %(default)s)")


def _rank_arguments(parser: argparse.ArgumentParser) -> None:
    _source_arguments(parser)
    parser.add_argument("--beta", type=_number, help=BETA + "; without it, the natural one")
    _meta_argument(parser)
    _bare_argument(parser)
    parser.set_defaults(show=None)


def _sweep_arguments(parser: argparse.ArgumentParser) -> None:
    _source_arguments(parser)
    _step_argument(parser)
    _meta_argument(parser)
    _bare_argument(parser)
    _show_argument(parser)
    _plot_argument(parser)


def _compare_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="name", help="a dataset, unless --human or --mtme names data; then two scorers"
    )
    _source_arguments(parser, given=None)
    parser.add_argument("--step", type=_step, help="distance of balances in the table (default: at most a dozen)")
    _plot_argument(parser)


def _evaluate_arguments(parser: argparse.ArgumentParser) -> None:
    _source_arguments(parser, given=None)
    _beta_arguments(parser)
    _meta_argument(parser)
    _bare_argument(parser)
    _show_argument(parser)
    _plot_argument(parser)


def _all_arguments(parser: argparse.ArgumentParser) -> None:
    _many_arguments(parser)
    _meta_argument(parser)
    parser.add_argument("--campaign", metavar="SET", help="WMT's official average instead: wmt24, wmt23 or wmt23-as-24")
    parser.add_argument(
        "--beta", type=_target, metavar="BETA|low|high", help=BETA + ", or an end of the reliable interval"
    )


def _many_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--datasets", nargs="+", action="extend", metavar="NAME", help="these alone, of those 'datasets' lists"
    )
    _scores_arguments(parser)
    parser.add_argument("--without", metavar="SYSTEM,...", type=_names, action="extend", help="leave out systems")
    parser.add_argument("--reference", help="refA, say, or standard, the one WMT used (default: refA)")
    parser.add_argument("--domain", help="one kind of text alone; datasets that do not have it are left out")


def _report_arguments(parser: argparse.ArgumentParser) -> None:
    from ..study.significance import RESAMPLES

    parser.add_argument("--html", metavar="FILE", type=_file, help="write the report, one page")
    parser.add_argument("--card", metavar="FILE", type=_file, help="write the ranks of your first scorer: .svg or .pdf")
    parser.add_argument("--pdf", metavar="FILE", type=_file, help="print the report, where there is a browser")
    parser.add_argument("--numbers", metavar="FILE", type=_file, help="write the figures of the page, as compact JSON")
    parser.add_argument(
        "--datasets", nargs="+", action="extend", metavar="NAME", help="these alone, of those that ship"
    )
    _source_arguments(parser, given=None, pairs=True)
    parser.add_argument("--beta", type=_number, help=BETA + ", besides the three of each dataset")
    _meta_argument(parser)
    parser.add_argument("--show", nargs="+", metavar="SCORER", help="with --human or --mtme: scorers to report on")
    parser.add_argument("--resamples", type=_whole, default=RESAMPLES, help="of each test (default: %(default)s)")


def _template_arguments(parser: argparse.ArgumentParser) -> None:
    _source_arguments(parser, scores=False)


def _dataset_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", help=DATASET)


def _inputs_arguments(parser: argparse.ArgumentParser) -> None:
    _dataset_argument(parser)
    parser.add_argument("--mtme", metavar="DIR", type=_file, required=True, help="an unpacked mt-metrics-eval-v2 tree")
    parser.add_argument("--to", metavar="DIR", type=_file, required=True, help="a new folder for the texts")
    parser.add_argument("--reference", help="the reference to write (default: refA, or the one there is)")


def _export_arguments(parser: argparse.ArgumentParser) -> None:
    _dataset_argument(parser)
    parser.add_argument("to", metavar="DIR", type=_file, help="a new folder for the tables")


def _segments_arguments(parser: argparse.ArgumentParser) -> None:
    _source_arguments(parser, scores=False)
    parser.add_argument("--cells", action="store_true", help="one row for each system and segment")
    parser.add_argument("--scorers", action="store_true", help="a column for the scores of each scorer, too")


def _taxonomies_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="one of them, to be printed as a file")


def _example_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("to", metavar="DIR", type=_file, help="a new folder for the files")
    parser.add_argument("--dataset", default="ende24", help="whose numbers they hold (default: %(default)s)")


def _calibrate_arguments(parser: argparse.ArgumentParser) -> None:
    from ..solve.reweight import RELIABLE
    from ..study.calibrate import MATCHES

    parser.add_argument(
        "pairs", metavar="pairs.csv", type=_file, help="table with columns pair, preferred, scorer, first, second"
    )
    _source_arguments(parser, given="dataset")
    parser.add_argument(
        "--by",
        choices=list(MATCHES),
        default="correlation",
        help="what to maximise over scorers (default: %(default)s)",
    )
    parser.add_argument(
        "--ess",
        type=_number,
        default=RELIABLE,
        metavar="SHARE",
        help="share of the systems that a reliable balance keeps, as ESS / K (default: %(default)s)",
    )
    parser.add_argument("--resamples", type=_whole, default=1000, help="resamples of the pairs (default: %(default)s)")
    parser.add_argument("--seed", type=_whole, default=8, help="seed of the resampling (default: %(default)s)")
    _step_argument(parser, 0.01)
    _plot_argument(parser)


def _beta_arguments(parser: argparse.ArgumentParser, required: bool = False) -> argparse._MutuallyExclusiveGroup:
    one = parser.add_mutually_exclusive_group(required=required)
    one.add_argument("--beta", type=_number, help=BETA + ("" if required else "; without it, the natural one"))
    one.add_argument("--sweep", action="store_true", help="all balances that can be reached instead of one")
    _step_argument(parser)
    return one


def _step_argument(parser: argparse.ArgumentParser, default: float = 0.02) -> None:
    parser.add_argument(
        "--step", type=_step, default=default, help="distance of balances in a sweep (default: %(default)s)"
    )


def _scores_arguments(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--scores",
        nargs="+",
        action="extend",
        metavar="[NAME=]FILE",
        type=_file,
        help="segment scores of your scorers, called NAME or after the file",
    )
    parser.add_argument(
        "--ignore-extra", action="store_true", help="leave out segments of your tables that the dataset does not know"
    )


def _meta_argument(parser: argparse.ArgumentParser) -> None:
    from ..study.meta import METAMETRICS, SPA

    parser.add_argument(
        "--meta",
        type=_meta,
        default=SPA.name,
        metavar="NAME,...",
        help=f"meta-metrics beside SPA, the first orders the rows: {', '.join(METAMETRICS)} (default: %(default)s)",
    )


def _bare_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bare", action="store_true", help="no tests: leave out clusters and rank intervals")


def _show_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--show", nargs="+", action="extend", metavar="SCORER", help="scorers to point out in a sweep")


def _plot_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plot", metavar="FILE", type=_file, help="draw a figure: .svg, .png or .pdf")


class Command(NamedTuple):
    """Where a command is, and what adds its arguments. The docstring of what runs is its help."""

    module: str
    function: str
    arguments: Callable[[argparse.ArgumentParser], None]

    def load(self) -> Callable[[argparse.Namespace], Result]:
        found: Callable[[argparse.Namespace], Result] = getattr(
            import_module(f".{self.module}", __package__), self.function
        )
        return found


COMMANDS = {
    "datasets": Command("light", "datasets", _datasets_arguments),
    "beta": Command("commands", "beta", _natural_arguments),
    "reweight": Command("light", "reweight", _reweight_arguments),
    "verify": Command("light", "verify_", _verify_arguments),
    "rank": Command("commands", "rank_", _rank_arguments),
    "sweep": Command("commands", "sweep", _sweep_arguments),
    "compare": Command("commands", "compare", _compare_arguments),
    "all": Command("several", "all_", _all_arguments),
    "evaluate": Command("commands", "evaluate", _evaluate_arguments),
    "template": Command("light", "template_", _template_arguments),
    "inputs": Command("light", "inputs", _inputs_arguments),
    "segments": Command("commands", "segments", _segments_arguments),
    "export": Command("light", "export", _export_arguments),
    "taxonomies": Command("light", "taxonomies_", _taxonomies_arguments),
    "example": Command("light", "example", _example_arguments),
    "report": Command("several", "report", _report_arguments),
    "calibrate": Command("preferences", "calibrate_", _calibrate_arguments),
}


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands; with `only`, one that knows the others by name alone, and loads nothing for them."""
    top = _Parser(
        prog="whichbird",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Steer the adequacy-fluency balance of machine-translation meta-evaluation.",
        epilog="examples:\n  whichbird datasets\n  whichbird rank ende24 --beta 0.6 --scores my.seg.score\n"
        "  whichbird rank --help\n\nexit codes: 0 done, 2 bad input, 1 failure, 130 interrupted",
    )
    top.add_argument("--version", action="version", version=f"whichbird {__version__}")
    top.add_argument("--schema", action=_Schema, nargs=0, help="show the JSON Schema of what --json prints, and exit")
    commands = top.add_subparsers(dest="command", metavar="command", required=True, parser_class=_Parser)
    for name, command in COMMANDS.items():
        if only not in (None, name):
            commands.add_parser(name)
            continue
        run = command.load()
        lines = (run.__doc__ or "").split("\n")
        text = "\n".join([lines[0], *(line.removeprefix("    ") for line in lines[1:])]).strip()
        sub = commands.add_parser(
            name,
            help=lines[0],
            description=text,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.set_defaults(run=run)
        command.arguments(sub)
        form = sub.add_mutually_exclusive_group()
        form.add_argument(
            "--format",
            metavar="FORM",
            choices=list(FORMATS),
            help=f"print as {', '.join(list(FORMATS)[:-1])} or {list(FORMATS)[-1]} (default: text)",
        )
        form.add_argument("--json", action="store_true", help="print JSON: all figures in full precision")
        form.add_argument("--csv", action="store_true", help="print CSV: one table; the rest goes to standard error")
        sub.add_argument(
            "--out",
            metavar="FILE",
            type=_file,
            help="write the result to a file too: .json, .md and .tex as named, else CSV; - is standard output",
        )
        sub.add_argument(
            "--top", metavar="N", type=_most, help="the first N rows of tables for people: text, Markdown, LaTeX"
        )
        sub.add_argument("--caption", help="with LaTeX: what the caption begins with")
        sub.add_argument("--label", help="with LaTeX: the label of the table (default: tab:whichbird-COMMAND)")
        sub.add_argument("--force", action="store_true", help="replace files that are there already")
    return top


@tidy_end()
def run(argv: list[str]) -> int:
    """Run one command; return its exit code: 0 done, 2 bad input, 1 failure, 130 interrupted. An error is one sentence."""
    who = "whichbird"
    try:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # a letter the terminal lacks is no reason to fail
        top = parser(argv[0] if argv and argv[0] in COMMANDS else None)
        args, more = top.parse_known_args(argv)
        if hasattr(args, "names") and not any(word.startswith("-") for word in more):
            args.names += more  # scorers after options
        elif more:
            top.error(f"unrecognized arguments: {' '.join(more)}")
        if args.out == "-":  # standard output gets what the file would
            args.out, args.csv = None, not (args.json or args.format)
        who = f"whichbird {args.command}"
        check_outputs(args)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = args.run(args)._replace(caption=args.caption, label=args.label)
        if args.top is not None:
            result = result._replace(shown=tuple(first_rows(table, args.top) for table in result.printed))
        notes = dict.fromkeys([*(str(w.message) for w in caught if w.category is UserWarning), *result.notes])
        for note in notes:
            say(f"note: {one_line(note)}\n")
        if sys.stdout is None:
            raise OSError("standard output is closed")
        deliver(args, result)
        sys.stdout.flush()
        return 0
    except SystemExit as stop:  # argparse has said what it had to say
        return int(stop.code or 0)
    except KeyboardInterrupt:
        return _fail(130, who, "interrupted")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads: say nothing, even when closing
        return 1
    except ValueError as error:
        return _fail(2, who, str(error))
    except NotProven as error:
        return _fail(1, who, f"no proven answer: {error}")
    except OSError as error:
        settle(sys.stdout)
        return _fail(
            2 if error.errno in NO_PLACE else 1, who, f"{error.filename or 'output'}: {error.strerror or error}"
        )
    except Exception as error:
        return _fail(1, who, f"failed: {str(error) or type(error).__name__}")


def _fail(code: int, who: str, sentence: str) -> int:
    say(f"{who}: {one_line(sentence)}\n")
    return code
