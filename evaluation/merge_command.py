"""The command that joins the summaries of parts of a config set into that of the whole."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from . import exit_status
from .arguments import path
from .assembly import merge_parts
from .configs import DATASET_EVALUATORS_FOLDER, load_config_set
from .dataset_configs import DatasetEvaluatorSet
from .errors import EvaluationFatalError, escape, quoted
from .reports import summary_json
from .reports.output import check_output, write_atomically
from .reports.text import headline
from .streams import print_text
from .suite import find_dataset_evaluators
from .summary import Summary
from .summary_files import read_summary, short_names

_STANDARD_OUTPUT = "-"


def make_parser(prog: str | None) -> argparse.ArgumentParser:
    """Return the parser of the command's arguments."""
    parser = argparse.ArgumentParser(
        prog=prog,
        usage="%(prog)s PART.json [PART.json ...] --output FILE [--config-root DIR [--dataset-evaluators PATH]]",
        description="Join the summaries of disjoint --task or --shard runs of one config set: the same bytes as of a "
        "run over all tasks.",
        epilog="Exit status: 0 written, 2 not, 130 interrupted.",
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
    return parser


def check(arguments: argparse.Namespace, *, stdout_is_open: bool) -> None:
    """Raise ValueError, whose text is for a person, when options contradict each other or what the process has."""
    if arguments.output == _STANDARD_OUTPUT and not stdout_is_open:
        raise ValueError("--output - needs standard output, which is closed")
    if arguments.dataset_evaluators is not None and arguments.config_root is None:
        raise ValueError("--dataset-evaluators needs --config-root, to know the columns that labels come from")


def run(arguments: argparse.Namespace) -> int:
    """Write the summary of the whole, say what it is, and return the exit status.

    Raises EvaluationFatalError when a part cannot be read, the parts cannot be joined, or the output not be written.
    """
    output = None if arguments.output == _STANDARD_OUTPUT else Path(arguments.output)
    if output is not None:
        _check_output(output, arguments.parts)
    names = short_names(arguments.parts)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise EvaluationFatalError(f"the part {quoted(twice)} is given twice")
    parts = {quoted(name): read_summary(part) for name, part in zip(names, arguments.parts, strict=True)}
    merged = merge_parts(parts, _evaluators(arguments, next(iter(parts.values()))))
    text = summary_json.render(merged)
    if output is None:
        print_text(text)
        return exit_status.SCORED
    write_atomically(output, text)
    print_text(f"{headline(merged)}\nSignature: {merged.signature}\nSummary written to {escape(arguments.output)}\n")
    return exit_status.SCORED


def _check_output(output: Path, parts: Sequence[str]) -> None:
    if os.path.islink(output):
        raise EvaluationFatalError(f"cannot write {quoted(str(output))}: it is a symbolic link, name its target")
    if os.path.realpath(output) in map(os.path.realpath, parts):
        raise EvaluationFatalError(f"cannot write {quoted(str(output))}: it is one of the parts")
    check_output(output)


def _evaluators(arguments: argparse.Namespace, part: Summary) -> DatasetEvaluatorSet | None:
    if arguments.config_root is None:
        if part.dataset_config_sha256 is not None and not part.gold_redacted:
            raise EvaluationFatalError("the parts were scored for dataset evaluators: name their --config-root")
        return None
    config_set = load_config_set(arguments.config_root)
    if config_set.sha256 != part.config_set_sha256:
        raise EvaluationFatalError(
            f"the config root {quoted(arguments.config_root)} is another set than the parts are of: "
            f"expected SHA-256 {part.config_set_sha256}, got {config_set.sha256}"
        )
    return find_dataset_evaluators(config_set, arguments.dataset_evaluators)
