"""The command that joins the summaries of parts of a config set into that of the whole."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from . import exit_status
from .arguments import add_report_options, bar, check_standard_output, path, report_options
from .assembly import merge_parts
from .bars import Bars
from .configs import DATASET_EVALUATORS_FOLDER, load_config_set
from .dataset_configs import DatasetEvaluatorSet
from .errors import EvaluationFatalError, quoted
from .files import is_same_file
from .reports import console, summary_json
from .reports.formats import STANDARD_OUTPUT, check_reports, write_reports
from .reports.output import check_named_output, write_atomically
from .reports.text import ConsoleStyle
from .streams import print_text, wants_colour, writing
from .suite import find_dataset_evaluators
from .summary import Summary
from .summary_files import read_summary, short_names

if TYPE_CHECKING:
    from .checks import CheckFunctions


def make_parser(prog: str | None) -> argparse.ArgumentParser:
    """Return the parser of the command's arguments."""
    parser = argparse.ArgumentParser(
        prog=prog,
        usage="%(prog)s PART.json [PART.json ...] --output FILE [--config-root DIR] [options]",
        description="Join the summaries of disjoint --task or --shard runs of one config set: the same bytes as of a "
        "run over all tasks.",
        epilog="Exit status: 0 written, 1 written and below a bar, 2 not written, 130 interrupted.",
        allow_abbrev=False,
    )
    parser.add_argument("parts", nargs="+", type=path, metavar="PART.json", help="a partial summary")
    parser.add_argument(
        "--output", required=True, type=path, metavar="FILE", help="where to write the summary, - for standard output"
    )
    parser.add_argument(
        "--config-root",
        type=path,
        metavar="DIR",
        help="the configs, needed where the parts were scored for dataset evaluators only",
    )
    parser.add_argument(
        "--dataset-evaluators",
        type=path,
        metavar="PATH",
        help=f"these, a JSON file or a folder of them (default: the config root's {DATASET_EVALUATORS_FOLDER})",
    )
    parser.add_argument(
        "--fail-under",
        type=bar,
        metavar="X",
        help="exit with status 1 when accuracy is lower than X, a fraction from 0 to 1 such as 0.8 or 4/5",
    )
    add_report_options(parser)
    return parser


def check(arguments: argparse.Namespace, *, stdout_is_open: bool) -> None:
    """Raise ValueError, whose text is for a person, when options contradict each other or what the process has."""
    other = ["--output -"] if arguments.output == STANDARD_OUTPUT else []
    check_standard_output(arguments, stdout_is_open=stdout_is_open, other=other)
    if arguments.dataset_evaluators is not None and arguments.config_root is None:
        raise ValueError("--dataset-evaluators needs --config-root, to know the columns that labels come from")


def run(arguments: argparse.Namespace) -> int:
    """Write the summary of the whole, say what it is, and return the exit status.

    Raises EvaluationFatalError when a part cannot be read, the parts cannot be joined, or the output not be written.
    """
    output = None if arguments.output == STANDARD_OUTPUT else Path(arguments.output)
    inputs = [*arguments.parts, *_config_files(arguments)]
    if output is not None:
        _check_output(output, inputs)
    check_reports(arguments.report, [*inputs, *([] if output is None else [output])])
    names = _names(arguments.parts)
    parts = {quoted(name): read_summary(part) for name, part in zip(names, arguments.parts, strict=True)}
    merged = merge_parts(parts, _evaluators(arguments, next(iter(parts.values()))))
    printed = summary_json.render(merged)
    if output is not None:
        write_atomically(output, printed)
    report = write_reports(arguments.report, merged, report_options(arguments))
    if output is None or report is not None:
        print_text(report or printed)
    else:
        style = ConsoleStyle(failed_tasks=False, colour=wants_colour(sys.stdout))
        print_text(console.render(merged, style, arguments.config_root or "that of the parts", arguments.output))
    shortfalls = Bars(arguments.fail_under).shortfalls(merged)
    with writing(sys.stderr) as stream:
        stream.writelines(f"{sentence}\n" for sentence in shortfalls)
    return exit_status.BELOW_BAR if shortfalls else exit_status.SCORED


def _names(parts: Sequence[str]) -> list[str]:
    """Return what to call the parts, no two of them alike."""
    for part, other in combinations(parts, 2):
        if is_same_file(part, other):
            raise EvaluationFatalError(f"the part {quoted(other)} is given twice")
    names = short_names(parts)
    return names if len(set(names)) == len(names) else list(parts)


def _config_files(arguments: argparse.Namespace) -> list[Path]:
    """Return the files that are read beside the parts, and what else lies where they do."""
    folders = [Path(root) for root in (arguments.config_root, arguments.dataset_evaluators) if root is not None]
    if arguments.config_root is not None:
        folders.append(Path(arguments.config_root, DATASET_EVALUATORS_FOLDER))
    return [file for folder in folders for file in ([folder] if folder.is_file() else sorted(folder.glob("*.json")))]


def _declared(names: Sequence[str]) -> CheckFunctions | None:
    """Return the functions of plugins that the configs name; no check is run here, and few summaries have any."""
    if not names:
        return None
    from .check_plugins import declared_functions

    return declared_functions(names)


def _check_output(output: Path, inputs: Sequence[str | Path]) -> None:
    check_named_output(output)
    if any(is_same_file(output, one) for one in inputs):
        raise EvaluationFatalError(f"cannot write {quoted(str(output))}: it is an input of the merge")


def _evaluators(arguments: argparse.Namespace, part: Summary) -> DatasetEvaluatorSet | None:
    if arguments.config_root is None:
        if part.dataset_config_sha256 is not None and not part.gold_redacted:
            raise EvaluationFatalError("the parts were scored for dataset evaluators: name their --config-root")
        return None
    config_set = load_config_set(arguments.config_root, _declared(part.check_functions))
    if config_set.sha256 != part.config_set_sha256:
        raise EvaluationFatalError(
            f"the config root {quoted(arguments.config_root)} is another set than the parts are of: "
            f"expected SHA-256 {part.config_set_sha256}, got {config_set.sha256}"
        )
    return find_dataset_evaluators(config_set, arguments.dataset_evaluators)
