"""The command that scores a benchmark: arguments in, console output, files and an exit status out."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from . import __version__, exit_status
from .arguments import add_report_options, bar, jobs, limit, metric_bar, path, report_options, task_id
from .configs import DATASET_EVALUATORS_FOLDER, ConfigSet, default_config_root, load_config_set
from .errors import EvaluationFatalError, quoted
from .reports import console, summary_json
from .reports.output import check_output, write_atomically
from .reports.text import ConsoleStyle
from .scoring import GOLD_FILE
from .streams import ProgressLine, print_text, wants_colour, writing
from .submissions import PREDICTION_FILE, open_submission
from .suite import find_dataset_evaluators, find_plugins, score_suite
from .summary import EVALUATOR, Summary
from .tables import DEFAULT_LIMITS, TableLimits

# What only some runs need is imported where they need it: starting is most of a small run's time.
if TYPE_CHECKING:
    from .bars import Bars

_SUMMARY_FILE = "evaluation_summary.json"
_PARTIAL_SUMMARY_FILE = "evaluation_summary.partial.json"
_STANDARD_OUTPUT = "-"


def make_parser(prog: str | None) -> argparse.ArgumentParser:
    """Return the parser of the command's arguments."""
    parser = argparse.ArgumentParser(
        prog=prog,
        usage="%(prog)s --prediction-root PATH --gold-root DIR [--config-root DIR] [options]",
        description="Score a benchmark: per task, one predicted CSV against the gold table.",
        epilog="Exit status: 0 scored, 1 scored and below a bar, 2 could not score, 130 interrupted.",
        allow_abbrev=False,
    )
    _add_inputs(parser)
    _add_limits(parser)
    _add_output(parser)
    add_report_options(parser)
    add = parser.add_argument
    add(
        "--fail-under",
        type=bar,
        metavar="X",
        help="exit with status 1 when accuracy is lower than X, a fraction from 0 to 1 such as 0.8 or 4/5",
    )
    add(
        "--fail-under-metric",
        type=metric_bar,
        action="append",
        default=[],
        metavar="ID=X",
        help="exit with status 1 when the score of this dataset evaluator or summary evaluator is lower than X",
    )
    add("--version", action="version", version=f"{EVALUATOR} {__version__}")
    return parser


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--prediction-root",
        required=True,
        type=path,
        metavar="PATH",
        help="a folder or a zip archive that holds task_N/prediction.csv",
    )
    add("--gold-root", required=True, type=path, metavar="DIR", help="holds task_N/gold.csv")
    add(
        "--config-root",
        type=path,
        metavar="DIR",
        help="holds task_N.json, the task list (default: GOLD_ROOT/../evaluation/configs where it exists, "
        "else the bundled example's)",
    )
    add(
        "--dataset-evaluators",
        type=path,
        metavar="PATH",
        help="a dataset evaluator's JSON file or a folder of them (default: the config root's "
        f"{DATASET_EVALUATORS_FOLDER} where it exists)",
    )
    add(
        "--plugin",
        type=path,
        action="append",
        default=[],
        metavar="FILE.py",
        help="a Python file of summary evaluators, run with your rights; may be given several times",
    )
    add(
        "--task",
        type=task_id,
        action="append",
        default=[],
        metavar="TASK",
        help="score and explain this task only, such as task_11; may be given several times; the summary is partial, "
        f"and by default in {_PARTIAL_SUMMARY_FILE}",
    )
    add(
        "--jobs",
        type=jobs,
        default=1,
        metavar="N",
        help="score in up to N processes where that pays, auto for one per processor (default: 1)",
    )


def _add_limits(parser: argparse.ArgumentParser) -> None:
    limits = parser.add_argument_group("limits", "What a CSV file, gold or prediction, may hold at most.")
    for name, what in (
        ("csv_bytes", "bytes"),
        ("rows", "data rows"),
        ("columns", "columns"),
        ("cell_characters", "characters in one cell"),
    ):
        default = getattr(DEFAULT_LIMITS, name)
        option = f"--max-{name.replace('_', '-')}"
        limits.add_argument(
            option, dest=name, type=limit, default=default, metavar="N", help=f"{what} (default: {default})"
        )


def _add_output(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--output",
        type=path,
        metavar="FILE",
        help=f"where to write the summary, - for standard output (default: PREDICTION_ROOT/{_SUMMARY_FILE}, "
        f"and NAME.{_SUMMARY_FILE} beside an archive NAME.zip)",
    )
    add(
        "--redact-gold",
        action="store_true",
        help="show nothing of what gold's cells and headers hold, for output that participants see",
    )
    add("--no-diagnosis", action="store_true", help="do not look for what would make a failed task pass")
    add("--json", action="store_true", help="print the summary without its tasks as JSON instead of text")
    lines = parser.add_mutually_exclusive_group()
    lines.add_argument("--quiet", action="store_true", help="print no line per failed task")
    lines.add_argument("--verbose", action="store_true", help="print a line per passed task too")


def check(arguments: argparse.Namespace, *, stdout_is_open: bool) -> None:
    """Raise ValueError, whose text is for a person, when options contradict each other or what the process has."""
    claims = [*(["--json"] if arguments.json else []), *(["--output -"] if arguments.output == "-" else [])]
    claims += [f"--report {report.format}=-" for report in arguments.report if report.path == "-"]
    if len(claims) > 1:
        raise ValueError(f"{claims[0]} and {claims[1]} both claim standard output; choose one")
    if claims and not stdout_is_open and claims != ["--json"]:
        raise ValueError(f"{claims[0]} needs standard output, which is closed")
    if arguments.task:
        for option in ("fail_under", "fail_under_metric", "dataset_evaluators", "plugin"):
            if getattr(arguments, option) not in (None, []):
                raise ValueError(f"--{option.replace('_', '-')} needs all tasks, so it cannot go with --task")


def run(arguments: argparse.Namespace) -> int:
    """Score, write the summary and the reports, print the result, and return the exit status.

    Raises EvaluationFatalError when nothing can be scored or a result cannot be written.
    """
    submission = open_submission(arguments.prediction_root)
    config_root = default_config_root(arguments.gold_root) if arguments.config_root is None else arguments.config_root
    output = _output_path(arguments, Path(config_root))
    _check_reports(arguments, Path(config_root), output)
    config_set = load_config_set(config_root)
    evaluators = None if arguments.task else find_dataset_evaluators(config_set, arguments.dataset_evaluators)
    plugins = find_plugins(arguments.plugin, muted=arguments.redact_gold)
    bars = _bars(arguments)
    if bars is not None:
        bars.check(evaluators, plugins)
    with ProgressLine(sys.stderr) as progress:
        summary = score_suite(
            config_set,
            submission,
            arguments.gold_root,
            evaluators,
            plugins,
            progress=progress,
            jobs=arguments.jobs,
            limits=TableLimits(*(getattr(arguments, name) for name in TableLimits._fields)),
            redact_gold=arguments.redact_gold,
            diagnose=not arguments.no_diagnosis,
            tasks=arguments.task,
        )
    if output is not None:
        write_atomically(output, summary_json.render(summary))
    printed = None
    if arguments.report:
        from .reports.formats import write_reports

        printed = write_reports(arguments.report, summary, report_options(arguments))
    _print_result(arguments, config_set, summary, output, printed)
    faults = [*_evaluator_faults(summary), *(bars.faults(summary) if bars else ())]
    shortfalls = bars.shortfalls(summary) if bars else []
    with writing(sys.stderr) as stream:
        stream.writelines(f"{sentence}\n" for sentence in faults + shortfalls)
    if faults:
        return exit_status.NOT_SCORED
    return exit_status.BELOW_BAR if shortfalls else exit_status.SCORED


def _bars(arguments: argparse.Namespace) -> Bars | None:
    if arguments.fail_under is None and not arguments.fail_under_metric:
        return None
    from .bars import Bars

    return Bars(arguments.fail_under, tuple(arguments.fail_under_metric))


def _evaluator_faults(summary: Summary) -> Iterator[str]:
    for evaluation in summary.summary_evaluations:
        if evaluation.error is not None:
            yield f"summary evaluator {quoted(evaluation.name)} {evaluation.error}"


def _output_path(arguments: argparse.Namespace, config_root: Path) -> Path | None:
    """Return where to write the summary, None for standard output; refuse what cannot or must not be written to."""
    if arguments.output == _STANDARD_OUTPUT:
        return None
    if arguments.output is None:
        # This path lies in the participant's tree: a link planted there is replaced, not followed.
        output = _default_output(Path(arguments.prediction_root), is_partial=bool(arguments.task))
        check_output(output)
    else:
        output = Path(arguments.output)
        _check_named_output(output, arguments, config_root)
    return output


def _default_output(prediction_root: Path, *, is_partial: bool) -> Path:
    # What some tasks only were scored for must not take the place of a score.
    name = _PARTIAL_SUMMARY_FILE if is_partial else _SUMMARY_FILE
    if os.path.isfile(prediction_root):
        return prediction_root.with_name(f"{prediction_root.stem}.{name}")
    return prediction_root / name


def _check_named_output(output: Path, arguments: argparse.Namespace, config_root: Path) -> None:
    if os.path.islink(output):
        raise EvaluationFatalError(f"cannot write {quoted(str(output))}: it is a symbolic link, name its target")
    if _is_input(output, arguments, config_root):
        raise EvaluationFatalError(f"cannot write {quoted(str(output))}: it is an input of the run")
    check_output(output)


def _check_reports(arguments: argparse.Namespace, config_root: Path, output: Path | None) -> None:
    if not arguments.report:
        return
    from .reports.formats import check_reports

    for report in arguments.report:
        if report.path != _STANDARD_OUTPUT and _is_input(Path(report.path), arguments, config_root):
            raise EvaluationFatalError(f"cannot write {quoted(report.path)}: it is an input of the run")
    check_reports(arguments.report, [] if output is None else [output])


def _is_input(path: Path, arguments: argparse.Namespace, config_root: Path) -> bool:
    folder, name = os.path.realpath(path.parent), path.name
    evaluators = os.path.realpath(arguments.dataset_evaluators or config_root / DATASET_EVALUATORS_FOLDER)
    if folder == evaluators or (folder == os.path.realpath(config_root) and name.startswith("task_")):
        return path.suffix == ".json"
    if os.path.join(folder, name) in map(os.path.realpath, (evaluators, arguments.prediction_root, *arguments.plugin)):
        return True
    task_root = os.path.dirname(folder)
    return (task_root == os.path.realpath(arguments.gold_root) and name == GOLD_FILE) or (
        task_root == os.path.realpath(arguments.prediction_root) and name == PREDICTION_FILE
    )


def _print_result(
    arguments: argparse.Namespace, config_set: ConfigSet, summary: Summary, output: Path | None, printed: str | None
) -> None:
    if arguments.json or output is None:
        printed = summary_json.render(summary, with_tasks=not arguments.json)
    if printed is not None:
        print_text(printed)
    if arguments.json:
        return
    stream = sys.stdout if printed is None else sys.stderr
    style = ConsoleStyle(
        failed_tasks=not arguments.quiet,
        passed_tasks=arguments.verbose,
        colour=wants_colour(stream),
        findings=bool(arguments.task),
    )
    with writing(stream):
        stream.write(console.render(summary, style, str(config_set.root), None if output is None else str(output)))
