"""The command that scores a benchmark: arguments in, console output, files and an exit status out."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from . import exit_status
from .arguments import check_standard_output, report_options
from .configs import (
    ANSWER_FILES,
    DATASET_EVALUATORS_FOLDER,
    GOLD_ANSWER_FILE,
    GOLD_FILE,
    METADATA_FOLDER,
    ConfigSet,
    default_config_root,
    load_config_set,
)
from .errors import EvaluationFatalError, quoted
from .files import is_same_file
from .reports import console, summary_json
from .reports.formats import STANDARD_OUTPUT
from .reports.output import check_named_output, check_output, write_atomically
from .reports.text import ConsoleStyle
from .runner import Progress
from .score_arguments import (
    PARTIAL_SUMMARY_FILE,
    RUNS_SUMMARY_FILE,
    SHARD_SUMMARY_FILE,
    SUMMARY_FILE,
    make_parser,
)
from .streams import ProgressLine, print_text, wants_colour, writing
from .submissions import Submission, find_runs, open_runs
from .suite import find_dataset_evaluators, find_plugins, find_task_metadata, score_runs, score_suite
from .summary import Summary
from .tables import TableLimits

# What only some runs need is imported where they need it: starting is most of a small run's time.
if TYPE_CHECKING:
    from .bars import Bars
    from .dataset_configs import DatasetEvaluatorSet
    from .plugins import PluginSet

__all__ = ["check", "make_parser", "run"]


def check(arguments: argparse.Namespace, *, stdout_is_open: bool) -> None:
    """Raise ValueError, whose text is for a person, when options contradict each other or what the process has."""
    if bool(arguments.prediction_root) == (arguments.runs_root is not None):
        raise ValueError("expected either --prediction-root, once or several times, or --runs-root")
    other = ["--output -"] if arguments.output == STANDARD_OUTPUT else []
    check_standard_output(arguments, stdout_is_open=stdout_is_open, other=other, prints_json=arguments.json)
    if arguments.task and arguments.shard:
        raise ValueError("--task and --shard both say which tasks are scored; choose one")
    if arguments.task or arguments.shard:
        given = "--task" if arguments.task else "--shard"
        for option in ("fail_under", "fail_under_metric"):
            if getattr(arguments, option) not in (None, []):
                raise ValueError(f"--{option.replace('_', '-')} needs all tasks, so it cannot go with {given}")


def run(arguments: argparse.Namespace) -> int:
    """Score, write the summary and the reports, print the result, and return the exit status.

    Raises EvaluationFatalError when nothing can be scored or a result cannot be written.
    """
    if arguments.runs_root is not None:
        arguments.prediction_root = find_runs(arguments.runs_root)
    config_root = default_config_root(arguments.gold_root) if arguments.config_root is None else arguments.config_root
    plugins = find_plugins(arguments.plugin, muted=arguments.redact_gold)
    if plugins is not None and plugins.evaluators and (arguments.task or arguments.shard):
        raise EvaluationFatalError("--plugin has summary evaluators, which need all tasks: not with --task and --shard")
    config_set = load_config_set(config_root, None if plugins is None else plugins.functions)
    runs = open_runs(arguments.prediction_root, config_set.prediction_files)
    output = _output_path(arguments, Path(config_root))
    _check_reports(arguments, Path(config_root), output)
    evaluators = find_dataset_evaluators(config_set, arguments.dataset_evaluators)
    bars = _bars(arguments)
    if bars is not None:
        bars.check(evaluators, plugins)
    summary = _scored(arguments, config_set, runs, evaluators, plugins)
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


def _scored(
    arguments: argparse.Namespace,
    config_set: ConfigSet,
    runs: Mapping[str, Submission],
    evaluators: DatasetEvaluatorSet | None,
    plugins: PluginSet | None,
) -> Summary:
    gold_root, redact_gold = arguments.gold_root, arguments.redact_gold
    tasks = _named_tasks(arguments, config_set)
    if evaluators is not None and redact_gold and arguments.shard:
        raise EvaluationFatalError("--shard with --redact-gold leaves no labels for dataset evaluators to compare")
    metadata = find_task_metadata(
        config_set, gold_root, arguments.metadata, redact_gold=redact_gold, warn=_warn if len(runs) == 1 else None
    )
    limits = TableLimits(*(getattr(arguments, name) for name in TableLimits._fields))
    options = (arguments.jobs, limits, redact_gold, not arguments.no_diagnosis, tasks, metadata)

    def score(submission: Submission, progress: Progress | None) -> Summary:
        return score_suite(config_set, submission, gold_root, evaluators, plugins, progress, *options)

    with ProgressLine(sys.stderr) as progress:
        return score_runs(runs, arguments.threshold, score, progress)


def _warn(sentence: str) -> None:
    with writing(sys.stderr) as stream:
        stream.write(f"{sentence}\n")


def _named_tasks(arguments: argparse.Namespace, config_set: ConfigSet) -> list[str]:
    """Return the tasks that are to be scored, none for all."""
    if arguments.shard is None:
        return list(arguments.task)
    number, count = arguments.shard
    tasks = config_set.task_ids[number - 1 :: count]
    if not tasks:
        raise EvaluationFatalError(f"--shard {number}/{count} has no task, as there are {len(config_set.task_ids)}")
    return tasks


def _bars(arguments: argparse.Namespace) -> Bars | None:
    if arguments.fail_under is None and not arguments.fail_under_metric:
        return None
    from .bars import Bars

    return Bars(arguments.fail_under, tuple(arguments.fail_under_metric))


def _evaluator_faults(summary: Summary) -> Iterator[str]:
    results = [("", summary.summary_evaluations)]
    if summary.repetition is not None:
        results = [(f" (run {quoted(run.name)})", run.summary_evaluations) for run in summary.repetition.runs]
    for run, evaluations in results:
        for evaluation in evaluations:
            if evaluation.error is not None:
                yield f"summary evaluator {quoted(evaluation.name)}{run} {evaluation.error}"


def _output_path(arguments: argparse.Namespace, config_root: Path) -> Path | None:
    """Return where to write the summary, None for standard output; refuse what cannot or must not be written to."""
    if arguments.output == STANDARD_OUTPUT:
        return None
    if arguments.output is None:
        # This path lies in the participant's tree: a link planted there is replaced, not followed.
        output = _default_output(arguments)
        check_output(output)
    else:
        output = Path(arguments.output)
        _check_named_output(output, arguments, config_root)
    return output


def _default_output(arguments: argparse.Namespace) -> Path:
    root, *others = map(Path, arguments.prediction_root)
    # What some tasks only, or several runs, were scored for must not take the place of a score.
    name = RUNS_SUMMARY_FILE if others and arguments.runs_root is None else SUMMARY_FILE
    if arguments.task:
        name = PARTIAL_SUMMARY_FILE
    elif arguments.shard is not None:
        number, count = arguments.shard
        name = SHARD_SUMMARY_FILE.format(number, count)
    if arguments.runs_root is not None:
        return Path(arguments.runs_root) / name
    if os.path.isfile(root):
        return root.with_name(f"{root.stem}.{name}")
    return root / name


def _check_named_output(output: Path, arguments: argparse.Namespace, config_root: Path) -> None:
    check_named_output(output)
    if _is_input(output, arguments, config_root):
        raise EvaluationFatalError(f"cannot write {quoted(str(output))}: it is an input of the run")


def _check_reports(arguments: argparse.Namespace, config_root: Path, output: Path | None) -> None:
    if not arguments.report:
        return
    from .reports.formats import check_reports

    for report in arguments.report:
        if report.path != STANDARD_OUTPUT and _is_input(Path(report.path), arguments, config_root):
            raise EvaluationFatalError(f"cannot write {quoted(report.path)}: it is an input of the run")
    check_reports(arguments.report, [] if output is None else [output])


def _is_input(path: Path, arguments: argparse.Namespace, config_root: Path) -> bool:
    folder, name = os.path.realpath(path.parent), path.name
    evaluators = os.path.realpath(arguments.dataset_evaluators or config_root / DATASET_EVALUATORS_FOLDER)
    if folder == evaluators or (folder == os.path.realpath(config_root) and name.startswith("task_")):
        return path.suffix == ".json"
    roots = list(map(os.path.realpath, arguments.prediction_root))
    if os.path.join(folder, name) in (*roots, *map(os.path.realpath, (evaluators, *arguments.plugin))):
        return True
    if _is_metadata(os.path.join(folder, name), arguments):
        return True
    task_root = os.path.dirname(folder)
    return (task_root == os.path.realpath(arguments.gold_root) and name in (GOLD_FILE, GOLD_ANSWER_FILE)) or (
        task_root in roots and name in ANSWER_FILES
    )


def _is_metadata(path: str, arguments: argparse.Namespace) -> bool:
    """Return whether a path is of what `--metadata` names, or may be of what is found by itself."""
    beside_gold = os.path.join(arguments.gold_root, os.pardir, METADATA_FOLDER)
    root = os.path.realpath(arguments.metadata or beside_gold)
    if arguments.metadata is not None and os.path.isfile(root) and is_same_file(path, root):
        return True
    return path == root or (path.startswith(os.path.join(root, "")) and path.endswith(".json"))


def _print_result(
    arguments: argparse.Namespace, config_set: ConfigSet, summary: Summary, output: Path | None, printed: str | None
) -> None:
    if arguments.json or output is None:
        printed = summary_json.render(summary, with_tasks=not arguments.json)
        if arguments.json:
            # It may be a terminal that reads it.
            printed = summary_json.inert(printed)
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
