"""The command line: which command it is, and what every command has in common; nothing else."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Protocol

from . import exit_status
from .errors import EvaluationFatalError
from .streams import prepare_streams


class Command(Protocol):
    """What the module of a command has."""

    def make_parser(self, prog: str | None, /) -> argparse.ArgumentParser: ...
    def check(self, arguments: argparse.Namespace, /, *, stdout_is_open: bool) -> None: ...
    def run(self, arguments: argparse.Namespace, /) -> int: ...


def _compare() -> Command:
    from . import compare_command

    return compare_command


def _merge() -> Command:
    from . import merge_command

    return merge_command


def _leaderboard() -> Command:
    from . import leaderboard_command

    return leaderboard_command


def _report() -> Command:
    from . import report_command

    return report_command


# Only the command that is asked for is imported: starting is most of a small run's time.
COMMANDS: dict[str, Callable[[], Command]] = {
    "compare": _compare,
    "leaderboard": _leaderboard,
    "merge": _merge,
    "report": _report,
}


def main(argv: Sequence[str] | None = None, prog: str | None = None) -> int:
    """Run the command line on `argv` (default: the process's) and return the exit status.

    Its first word may be one of COMMANDS; without one, a benchmark is scored.

    0: done, whatever the score. 1: scored, and below a bar of `--fail-under` or `--fail-under-metric`, or compared, and
    a task lost with `--fail-on-regression`. 2: scored, the summary written, and a summary evaluator or a bar's metric
    at fault. 130: interrupted. When nothing could be done (usage, root, config, gold, plugin, summary, output), prints
    the usage line and one sentence and raises SystemExit(2).
    """
    try:
        stdout_is_open = prepare_streams()
        words = list(sys.argv[1:] if argv is None else argv)
        if words and words[0] in COMMANDS:
            name = os.path.basename(sys.argv[0]) if prog is None else prog
            return _run(COMMANDS[words[0]](), f"{name} {words[0]}", words[1:], stdout_is_open)
        from . import score_command

        return _run(score_command, prog, words, stdout_is_open)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return exit_status.INTERRUPTED


def _run(command: Command, prog: str | None, words: Sequence[str], stdout_is_open: bool) -> int:
    parser = command.make_parser(prog)
    arguments = parser.parse_args(words)
    try:
        command.check(arguments, stdout_is_open=stdout_is_open)
    except ValueError as error:
        parser.error(str(error))
    try:
        return command.run(arguments)
    except EvaluationFatalError as error:
        parser.error(error.redacted if getattr(arguments, "redact_gold", False) else str(error))
