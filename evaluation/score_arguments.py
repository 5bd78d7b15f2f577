"""The arguments of the command that scores a benchmark."""

from __future__ import annotations

import argparse

from . import __version__
from .arguments import add_report_options, bar, jobs, limit, metric_bar, path, shard, task_id, threshold
from .configs import DATASET_EVALUATORS_FOLDER, METADATA_FOLDER
from .summary import EVALUATOR
from .tables import DEFAULT_LIMITS

SUMMARY_FILE = "evaluation_summary.json"
RUNS_SUMMARY_FILE = "evaluation_summary.runs.json"
PARTIAL_SUMMARY_FILE = "evaluation_summary.partial.json"
SHARD_SUMMARY_FILE = "evaluation_summary.shard-{}-of-{}.json"


def make_parser(prog: str | None) -> argparse.ArgumentParser:
    """Return the parser of the command's arguments."""
    parser = argparse.ArgumentParser(
        prog=prog,
        usage="%(prog)s {--prediction-root PATH ... | --runs-root DIR} --gold-root DIR [--config-root DIR] [options]",
        description="Score a benchmark: per task, one predicted CSV against the gold table.",
        epilog="Exit status: 0 scored, 1 scored and below a bar, 2 could not score, 130 interrupted.",
        allow_abbrev=False,
    )
    _add_inputs(parser)
    _add_runs(parser)
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
        type=path,
        action="append",
        default=[],
        metavar="PATH",
        help="a folder or a zip archive that holds task_N/prediction.csv or the like; several are repeated runs",
    )
    add("--runs-root", type=path, metavar="DIR", help="holds a folder or a zip archive per run, in place of the former")
    add("--gold-root", required=True, type=path, metavar="DIR", help="holds task_N/gold.csv or gold.json")
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
        help="a Python file of summary evaluators or functions for checks, run with your rights; may be repeated",
    )


def _add_runs(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--metadata",
        type=path,
        metavar="PATH",
        help="what tasks are like, to break the score down by: a folder of task_N/task.json or task_N.json, a JSON "
        f"object by task id, or a CSV file with a column task_id (default: GOLD_ROOT/../{METADATA_FOLDER} where it "
        "holds such files)",
    )
    add(
        "--threshold",
        type=threshold,
        metavar="X",
        help="the share of its runs in which a task must pass, such as 0.5 or 2/3 (default: 1)",
    )
    add(
        "--task",
        type=task_id,
        action="append",
        default=[],
        metavar="TASK",
        help="score and explain this task only, such as task_11; may be given several times; the summary is partial, "
        f"and by default in {PARTIAL_SUMMARY_FILE}",
    )
    add(
        "--shard",
        type=shard,
        metavar="I/N",
        help="score the tasks of part I of N only, for merge to join; the summary is partial",
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
        help=f"where to write the summary, - for standard output (default: {SUMMARY_FILE} in the prediction or runs "
        f"root, or, with NAME. before it, beside an archive NAME.zip; of several prediction roots "
        f"{RUNS_SUMMARY_FILE}, of --task {PARTIAL_SUMMARY_FILE}, of --shard {SHARD_SUMMARY_FILE.format('I', 'N')})",
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
