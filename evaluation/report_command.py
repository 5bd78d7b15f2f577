"""The command that renders reports from a summary, without gold and predictions."""

from __future__ import annotations

import argparse

from . import exit_status
from .arguments import add_report_options, check_standard_output, path, report_options
from .reports.formats import check_reports, write_reports
from .streams import print_text
from .summary_files import read_summary


def make_parser(prog: str | None) -> argparse.ArgumentParser:
    """Return the parser of the command's arguments."""
    parser = argparse.ArgumentParser(
        prog=prog,
        usage="%(prog)s SUMMARY.json --report FILE [--report FILE ...] [options]",
        description="Render reports from a summary: the same bytes as when it was scored.",
        epilog="Exit status: 0 written, 2 not, 130 interrupted.",
        allow_abbrev=False,
    )
    parser.add_argument("summary", type=path, metavar="SUMMARY.json", help="a summary that this program wrote")
    add_report_options(parser)
    return parser


def check(arguments: argparse.Namespace, *, stdout_is_open: bool) -> None:
    """Raise ValueError, whose text is for a person, when options contradict each other or what the process has."""
    if not arguments.report:
        raise ValueError("expected at least one --report")
    check_standard_output(arguments, stdout_is_open=stdout_is_open)


def run(arguments: argparse.Namespace) -> int:
    """Write the reports and return the exit status.

    Raises EvaluationFatalError when the file is no summary, or a report cannot be written.
    """
    check_reports(arguments.report, [arguments.summary])
    printed = write_reports(arguments.report, read_summary(arguments.summary), report_options(arguments))
    if printed is not None:
        print_text(printed)
    return exit_status.SCORED
