"""The command that compares summaries with a baseline: what changed, and whether chance alone could explain it."""

from __future__ import annotations

import argparse
import functools
import sys

from . import exit_status
from .arguments import add_redact_pattern, check_standard_output, path, report
from .errors import counted, escape
from .reports import comparison_csv, comparison_html, comparison_markdown, comparison_text
from .reports.formats import check_reports, write_rendered
from .reports.redaction import Redactor
from .reports.summary_json import inert, spelled
from .reports.text import ConsoleStyle
from .streams import print_text, wants_colour, writing
from .summary_comparison import Comparison, NamedSummary, compare_summaries
from .summary_files import read_summary, short_names

_FORMATS = ("html", "csv", "md")


def make_parser(prog: str | None) -> argparse.ArgumentParser:
    """Return the parser of the command's arguments."""
    parser = argparse.ArgumentParser(
        prog=prog,
        usage="%(prog)s BASELINE.json OTHER.json [OTHER.json ...] [options]",
        description="Compare summaries with a baseline, task by task: is the difference more than chance?",
        epilog="Exit status: 0 compared, 1 compared and a task lost with --fail-on-regression, 2 could not compare, "
        "130 interrupted.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("baseline", type=path, metavar="BASELINE.json", help="the summary that every other is compared with")
    add("others", type=path, nargs="+", metavar="OTHER.json", help="a summary of the same configs and the same gold")
    add(
        "--force",
        action="store_true",
        help="compare the tasks that both have even where configs or gold differ, or only some tasks were scored",
    )
    add(
        "--fail-on-regression",
        action="store_true",
        help="exit with status 1 when a task that passed in the baseline failed in another summary",
    )
    add("--json", action="store_true", help="print the comparison as JSON instead of text")
    add(
        "--report",
        type=functools.partial(report, formats=_FORMATS),
        action="append",
        default=[],
        metavar="FILE",
        help="a report, in the format that its suffix names: .md, .html or .csv; or FORMAT=FILE, FORMAT=- for standard "
        "output (what is else printed there then goes to standard error), or md+=FILE to append; may be given several "
        "times",
    )
    add_redact_pattern(add)
    return parser


def check(arguments: argparse.Namespace, *, stdout_is_open: bool) -> None:
    """Raise ValueError, whose text is for a person, when options contradict each other or what the process has."""
    check_standard_output(arguments, stdout_is_open=stdout_is_open, prints_json=arguments.json)


def run(arguments: argparse.Namespace) -> int:
    """Compare, write the reports, print the result, and return the exit status.

    Raises EvaluationFatalError when a file is no summary, the summaries cannot be compared, or a report cannot be
    written.
    """
    paths = [arguments.baseline, *arguments.others]
    check_reports(arguments.report, paths)
    redactor = Redactor(arguments.redact_pattern)
    baseline, *others = (
        NamedSummary(name, redactor.summary(read_summary(path)))
        for name, path in zip(short_names(paths), paths, strict=True)
    )
    comparison = compare_summaries(baseline, others, forced=arguments.force)

    def render(name: str, max_bytes: int) -> str:
        return render_comparison(comparison, name, max_bytes)

    printed = write_rendered(arguments.report, render)
    if arguments.json:
        printed = inert(spelled(comparison.to_dict()))
    if printed is not None:
        print_text(printed)
    if not arguments.json:
        with writing(sys.stdout if printed is None else sys.stderr) as stream:
            stream.write(comparison_text.render(comparison, ConsoleStyle(colour=wants_colour(stream))))
    return _status(comparison) if arguments.fail_on_regression else exit_status.SCORED


def render_comparison(comparison: Comparison, name: str, max_bytes: int) -> str:
    """Return the comparison in one of the formats html, csv and md; Markdown is at most so many bytes."""
    if name == "md":
        return comparison_markdown.render(comparison, max_bytes)
    return comparison_html.render(comparison) if name == "html" else comparison_csv.render(comparison)


def _status(comparison: Comparison) -> int:
    """Tell the tasks that were lost on standard error, and return the exit status."""
    worse = [pair for pair in comparison.pairs if pair.lost]
    with writing(sys.stderr) as stream:
        for pair in worse:
            tasks = ", ".join(task.task_id for task in pair.lost)
            stream.write(
                f"{escape(pair.name)}: {counted(len(pair.lost), 'task')} passed in the baseline and failed: {tasks}\n"
            )
    return exit_status.BELOW_BAR if worse else exit_status.SCORED
