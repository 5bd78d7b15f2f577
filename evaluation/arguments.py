"""What the commands' arguments mean: the options that several commands have, and the types of all.

A type takes the text of an argument and raises ArgumentTypeError, in one sentence, for what it does not accept.
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from .configs import is_task_id
from .errors import quoted
from .reports.formats import (
    DEFAULT_BYTES,
    DEFAULT_CHARACTERS,
    FORMATS,
    LEAST_SIZE,
    STANDARD_OUTPUT,
    Report,
    ReportOptions,
    read_report,
)
from .suite import MAX_JOBS

# What only some runs need is imported where they need it: starting is most of a small run's time.
if TYPE_CHECKING:
    from fractions import Fraction

# As much as every platform can count to in a length.
MAX_LIMIT = 2**31 - 1
_MOST_SHARDS = 100_000


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which reports are written, and what they hold."""
    add = parser.add_argument_group("reports", "Why tasks failed, for people and for programs.").add_argument
    add(
        "--report",
        type=report,
        action="append",
        default=[],
        metavar="FILE",
        help="a report, in the format that its suffix names: .md, .triage.md, .html, .junit.xml, .csv or .jsonl; "
        "or FORMAT=FILE, FORMAT being such a suffix without its first dot, FORMAT=- for standard output (what is else "
        "printed there then goes to standard error), or FORMAT+=FILE to append md, triage.md or jsonl; may be given "
        "several times",
    )
    add(
        "--report-max-bytes",
        type=report_size,
        default=DEFAULT_BYTES,
        metavar="N",
        help=f"how long a .md report may be (default: {DEFAULT_BYTES})",
    )
    add(
        "--report-max-characters",
        type=report_size,
        default=DEFAULT_CHARACTERS,
        metavar="N",
        help=f"how long a .triage.md report may be (default: {DEFAULT_CHARACTERS})",
    )
    add("--include-passing", action="store_true", help="list passed tasks in a .triage.md report")
    add_redact_pattern(add)


def add_redact_pattern(add: Callable[..., object]) -> None:
    """Add, by a parser's or a group's `add_argument`, the option that says what reports must not show."""
    add(
        "--redact-pattern",
        type=pattern,
        action="append",
        default=[],
        metavar="REGEX",
        help="replace what this regular expression matches in every text of a report, besides keys and passwords; "
        "may be given several times",
    )


def report_options(arguments: argparse.Namespace) -> ReportOptions:
    """Return what the options of `add_report_options` ask for."""
    return ReportOptions(
        arguments.report_max_bytes,
        arguments.report_max_characters,
        arguments.include_passing,
        tuple(arguments.redact_pattern),
    )


def check_standard_output(
    arguments: argparse.Namespace, *, stdout_is_open: bool, other: Sequence[str] = (), prints_json: bool = False
) -> None:
    """Raise ValueError, whose text is for a person, when several outputs claim standard output, or it is closed.

    The reports may, `other` are options that do, and `prints_json` says that JSON takes the place of the text for
    people, which goes nowhere where standard output is closed.
    """
    claims = [*other, *(f"--report {report.format}=-" for report in arguments.report if report.path == STANDARD_OUTPUT)]
    if claims and not stdout_is_open:
        raise ValueError(f"{claims[0]} needs standard output, which is closed")
    claims = ["--json", *claims] if prints_json else claims
    if len(claims) > 1:
        raise ValueError(f"{claims[0]} and {claims[1]} both claim standard output; choose one")


def report(text: str, formats: Collection[str] = FORMATS.keys()) -> Report:
    """Return the report that a text asks for."""
    try:
        return read_report(text, formats)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def report_size(text: str) -> int:
    """Return the size of a report, from 1,000."""
    return _whole_number(text, LEAST_SIZE, MAX_LIMIT, f"expected a number from {LEAST_SIZE} to {MAX_LIMIT}")


def pattern(text: str) -> re.Pattern[str]:
    """Return a regular expression."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"{quoted(text)} is no regular expression: {error}") from None


def path(text: str) -> str:
    """Return a path that is not empty."""
    if not text:
        # Most likely a variable that is not set; the current directory is not what was meant.
        raise argparse.ArgumentTypeError("expected a path, got nothing")
    return text


def task_id(text: str) -> str:
    """Return a task id."""
    if not is_task_id(text):
        raise argparse.ArgumentTypeError(f"expected a task id such as task_11, got {text!r}")
    return text


def shard(text: str) -> tuple[int, int]:
    """Return the number of a part, from 1, and how many parts there are."""
    number, _, count = text.partition("/")
    expected = f"expected I/N with 1 <= I <= N <= {_MOST_SHARDS}, such as 1/4"
    if not _is_whole(count, 1, _MOST_SHARDS) or not _is_whole(number, 1, int(count)):
        raise argparse.ArgumentTypeError(f"{expected}, got {text!r}")
    return int(number), int(count)


def threshold(text: str) -> Fraction:
    """Return a pass rate, above 0 and at most 1."""
    from .exact import read_threshold

    try:
        return read_threshold(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def limit(text: str) -> int:
    """Return a limit of tables, from 1."""
    return _whole_number(text, 1, MAX_LIMIT, f"expected a number from 1 to {MAX_LIMIT}")


def jobs(text: str) -> int:
    """Return a number of processes, for `auto` one per processor."""
    if text == "auto":
        from .workers import processor_count

        return processor_count()
    return _whole_number(text, 1, MAX_JOBS, f"expected a number from 1 to {MAX_JOBS}, or auto")


def _whole_number(text: str, least: int, most: int, expected: str) -> int:
    if not _is_whole(text, least, most):
        raise argparse.ArgumentTypeError(f"{expected}, got {text!r}")
    return int(text)


def _is_whole(text: str, least: int, most: int) -> bool:
    # No more digits than `most` has: a long text is not worth reading, and Python reads none beyond 4,300 digits.
    return text.isascii() and text.isdigit() and len(text) <= len(str(most)) and least <= int(text) <= most


def bar(text: str) -> Fraction:
    """Return a bar for the accuracy, from 0 to 1."""
    from .bars import read_accuracy_bar

    try:
        return read_accuracy_bar(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def metric_bar(text: str) -> tuple[str, Fraction]:
    """Return the id of an evaluator and the bar for its score."""
    from .bars import read_metric_bar

    try:
        return read_metric_bar(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
