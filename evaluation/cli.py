"""The command line: arguments in, console output and an exit status out; nothing else."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from . import __version__
from .configs import DATASET_EVALUATORS_FOLDER, ConfigSet, default_config_root, load_config_set
from .errors import EvaluationFatalError, quoted
from .reports import console, summary_json
from .reports.output import check_output, write_atomically
from .reports.text import ConsoleStyle
from .runner import Progress
from .scoring import GOLD_FILE
from .submissions import PREDICTION_FILE, open_submission
from .suite import MAX_JOBS, find_dataset_evaluators, find_plugins, score_suite
from .summary import EVALUATOR, Summary
from .tables import DEFAULT_LIMITS, TableLimits

# What only some runs need is imported where they need it: starting is most of a small run's time.
if TYPE_CHECKING:
    from fractions import Fraction

    from .bars import Bars

EXIT_SCORED = 0
EXIT_BELOW_BAR = 1
EXIT_NOT_SCORED = 2
EXIT_INTERRUPTED = 130

_SUMMARY_FILE = "evaluation_summary.json"
_STANDARD_OUTPUT = "-"
# As much as every platform can count to in a length.
_MAX_LIMIT = 2**31 - 1
_PROGRESS_AFTER_SECONDS = 1.0


def main(argv: Sequence[str] | None = None, prog: str | None = None) -> int:
    """Run the command line on `argv` (default: the process's) and return the exit status.

    0: scored, whatever the score. 1: scored, and below a bar of `--fail-under` or `--fail-under-metric`. 2: scored, the
    summary written, and a summary evaluator or a bar's metric at fault. 130: interrupted. When nothing could be scored
    (usage, root, config, gold, plugin, output), prints the usage line and one sentence and raises SystemExit(2).
    """
    try:
        stdout_is_closed = sys.stdout is None
        _prepare_streams()
        parser = _parser(prog)
        arguments = parser.parse_args(argv)
        if arguments.output == _STANDARD_OUTPUT:
            if arguments.json:
                parser.error("--json and --output - both claim standard output; choose one")
            if stdout_is_closed:
                parser.error("--output - needs standard output, which is closed")
        try:
            return _run(arguments)
        except EvaluationFatalError as error:
            parser.error(error.redacted if arguments.redact_gold else str(error))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED


def _parser(prog: str | None) -> argparse.ArgumentParser:
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
    add = parser.add_argument
    add(
        "--fail-under",
        type=_bar,
        metavar="X",
        help="exit with status 1 when accuracy is lower than X, a fraction from 0 to 1 such as 0.8 or 4/5",
    )
    add(
        "--fail-under-metric",
        type=_metric_bar,
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
        type=_path,
        metavar="PATH",
        help="a folder or a zip archive that holds task_N/prediction.csv",
    )
    add("--gold-root", required=True, type=_path, metavar="DIR", help="holds task_N/gold.csv")
    add(
        "--config-root",
        type=_path,
        metavar="DIR",
        help="holds task_N.json, the task list (default: GOLD_ROOT/../evaluation/configs where it exists, "
        "else the bundled example's)",
    )
    add(
        "--dataset-evaluators",
        type=_path,
        metavar="PATH",
        help="a dataset evaluator's JSON file or a folder of them (default: the config root's "
        f"{DATASET_EVALUATORS_FOLDER} where it exists)",
    )
    add(
        "--plugin",
        type=_path,
        action="append",
        default=[],
        metavar="FILE.py",
        help="a Python file of summary evaluators, run with your rights; may be given several times",
    )
    add(
        "--jobs",
        type=_jobs,
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
            option, dest=name, type=_limit, default=default, metavar="N", help=f"{what} (default: {default})"
        )


def _add_output(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--output",
        type=_path,
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


def _path(text: str) -> str:
    if not text:
        # Most likely a variable that is not set; the current directory is not what was meant.
        raise argparse.ArgumentTypeError("expected a path, got nothing")
    return text


def _limit(text: str) -> int:
    return _whole_number(text, _MAX_LIMIT, f"expected a number from 1 to {_MAX_LIMIT}")


def _jobs(text: str) -> int:
    if text == "auto":
        from .workers import processor_count

        return processor_count()
    return _whole_number(text, MAX_JOBS, f"expected a number from 1 to {MAX_JOBS}, or auto")


def _whole_number(text: str, most: int, expected: str) -> int:
    # No more digits than `most` has: a long text is not worth reading, and Python reads none beyond 4,300 digits.
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most)) and 1 <= int(text) <= most):
        raise argparse.ArgumentTypeError(f"{expected}, got {text!r}")
    return int(text)


def _bar(text: str) -> Fraction:
    from .bars import read_accuracy_bar

    try:
        return read_accuracy_bar(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _metric_bar(text: str) -> tuple[str, Fraction]:
    from .bars import read_metric_bar

    try:
        return read_metric_bar(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _run(arguments: argparse.Namespace) -> int:
    submission = open_submission(arguments.prediction_root)
    config_root = default_config_root(arguments.gold_root) if arguments.config_root is None else arguments.config_root
    output = _output_path(arguments, Path(config_root))
    config_set = load_config_set(config_root)
    evaluators = find_dataset_evaluators(config_set, arguments.dataset_evaluators)
    plugins = find_plugins(arguments.plugin, muted=arguments.redact_gold)
    bars = _bars(arguments)
    if bars is not None:
        bars.check(evaluators, plugins)
    with _ProgressLine(sys.stderr) as progress:
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
        )
    if output is not None:
        write_atomically(output, summary_json.render(summary))
    _print_result(arguments, config_set, summary, output)
    faults = [*_evaluator_faults(summary), *(bars.faults(summary) if bars else ())]
    shortfalls = bars.shortfalls(summary) if bars else []
    with _writing(sys.stderr) as stream:
        stream.writelines(f"{sentence}\n" for sentence in faults + shortfalls)
    if faults:
        return EXIT_NOT_SCORED
    return EXIT_BELOW_BAR if shortfalls else EXIT_SCORED


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
        output = _default_output(Path(arguments.prediction_root))
    else:
        output = Path(arguments.output)
        if os.path.islink(output):
            raise EvaluationFatalError(f"cannot write {quoted(str(output))}: it is a symbolic link, name its target")
        if _is_input(output, arguments, config_root):
            raise EvaluationFatalError(f"cannot write {quoted(str(output))}: it is an input of the run")
    check_output(output)
    return output


def _default_output(prediction_root: Path) -> Path:
    if os.path.isfile(prediction_root):
        return prediction_root.with_name(f"{prediction_root.stem}.{_SUMMARY_FILE}")
    return prediction_root / _SUMMARY_FILE


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


def _print_result(arguments: argparse.Namespace, config_set: ConfigSet, summary: Summary, output: Path | None) -> None:
    if arguments.json or output is None:
        _print_json(summary_json.render(summary, with_tasks=not arguments.json))
    if arguments.json:
        return
    stream = sys.stderr if output is None else sys.stdout
    style = ConsoleStyle(failed_tasks=not arguments.quiet, passed_tasks=arguments.verbose, colour=_wants_colour(stream))
    with _writing(stream):
        stream.write(console.render(summary, style, str(config_set.root), None if output is None else str(output)))


def _print_json(text: str) -> None:
    """Print `text` as UTF-8 whatever the terminal's encoding: an escape that is not JSON's would spoil it."""
    with _writing(sys.stdout) as stream:
        buffer = getattr(stream, "buffer", None)
        if buffer is None:
            stream.write(text)
        else:
            buffer.write(text.encode("utf-8"))


def _prepare_streams() -> None:
    """Make the standard streams take any character; what goes to a closed one is lost."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


@contextlib.contextmanager
def _writing(stream: TextIO) -> Iterator[TextIO]:
    """Write to a standard stream and flush it; EvaluationFatalError when standard output fails.

    A reader that has left early is no failure: it has seen what it wanted. Nor is standard error, where no result goes.
    """
    try:
        yield stream
        stream.flush()
    except OSError as error:
        # What is left in the buffer would fail again, and loudly, when the interpreter exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if stream is sys.stdout and not isinstance(error, BrokenPipeError):
            raise EvaluationFatalError(f"cannot write to standard output: {error.strerror}") from None


def _wants_colour(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class _ProgressLine:
    """A line "12/50 tasks" that overwrites itself, on a terminal only and only once a second has passed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shows_from = time.monotonic() + _PROGRESS_AFTER_SECONDS
        self._shown = False

    def __enter__(self) -> Progress | None:
        return self._show if self._stream.isatty() else None

    def _show(self, done: int, total: int) -> None:
        if time.monotonic() >= self._shows_from:
            self._stream.write(f"\r{done}/{total} tasks")
            self._stream.flush()
            self._shown = True

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
