"""The command that makes a leaderboard of summaries."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from itertools import combinations

from . import exit_status
from .arguments import check_standard_output, path, report
from .errors import EvaluationFatalError, quoted
from .files import is_same_file
from .leaderboard import Entry, Leaderboard, check_one_benchmark, entry_names, make_leaderboard
from .reports import leaderboard_records, leaderboard_text
from .reports.formats import check_reports, write_rendered
from .reports.leaderboard_formats import FORMATS
from .streams import print_text, writing
from .summary_files import read_summary


def make_parser(prog: str | None) -> argparse.ArgumentParser:
    """Return the parser of the command's arguments."""
    parser = argparse.ArgumentParser(
        prog=prog,
        usage="%(prog)s SUMMARY.json [SUMMARY.json ...] [--json] [--report FILE ...]",
        description="Rank systems by accuracy, with intervals, and say which of them differ significantly.",
        epilog="Exit status: 0 made, 2 not, 130 interrupted.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("summary", type=path, nargs="+", metavar="SUMMARY.json", help="a summary of all tasks; one per system")
    add("--json", action="store_true", help="print the leaderboard as JSON instead of text")
    add(
        "--report",
        type=partial(report, formats=tuple(FORMATS)),
        action="append",
        default=[],
        metavar="FILE",
        help="the leaderboard in the format that the suffix names: .md, .csv or .html; or FORMAT=FILE, FORMAT=- for "
        "standard output (the text for people then goes to standard error), or md+=FILE to append; may be given "
        "several times",
    )
    return parser


def check(arguments: argparse.Namespace, *, stdout_is_open: bool) -> None:
    """Raise ValueError, whose text is for a person, when options contradict each other or what the process has."""
    check_standard_output(arguments, stdout_is_open=stdout_is_open, prints_json=arguments.json)


def run(arguments: argparse.Namespace) -> int:
    """Make the leaderboard, write the reports, print the table, and return the exit status.

    Raises EvaluationFatalError when a file is no summary, the summaries are not of one benchmark, or a report cannot be
    written.
    """
    check_reports(arguments.report, arguments.summary)
    board = _read(arguments.summary)
    printed = write_rendered(arguments.report, lambda name, _: FORMATS[name](board))
    if arguments.json:
        printed = leaderboard_records.render_json(board)
    if printed is not None:
        print_text(printed)
    if not arguments.json:
        with writing(sys.stdout if printed is None else sys.stderr) as stream:
            stream.write(leaderboard_text.render(board))
    return exit_status.SCORED


def _read(paths: Sequence[str]) -> Leaderboard:
    for one, other in combinations(paths, 2):
        if is_same_file(one, other):
            raise EvaluationFatalError(
                f"summaries {quoted(one)} and {quoted(other)} are the same file, expected others"
            )
    summaries = [read_summary(path) for path in paths]
    check_one_benchmark(list(zip(paths, summaries, strict=True)))
    # The folder is made real, so that no two files have one path; the name of the file is the one given.
    real = [os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)) for path in paths]
    return make_leaderboard([Entry(*pair) for pair in zip(entry_names(real), summaries, strict=True)])
