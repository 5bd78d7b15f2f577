"""The formats of reports, what a report is asked for as, and where it goes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ..errors import EvaluationFatalError, quoted
from ..files import is_same_file
from ..summary import Summary
from .output import append, check_named_output, write_atomically

STANDARD_OUTPUT = "-"
LEAST_SIZE = 1_000
DEFAULT_BYTES = 900 * 1024
DEFAULT_CHARACTERS = 32_000


@dataclass(frozen=True)
class ReportOptions:
    """What reports hold at most, and what they leave out.

    `max_bytes`, at least LEAST_SIZE, bounds Markdown, and `max_characters` the triage text. What one of `patterns`
    matches is replaced in every format, as are secrets.
    """

    max_bytes: int = DEFAULT_BYTES
    max_characters: int = DEFAULT_CHARACTERS
    with_passed: bool = False
    patterns: Sequence[re.Pattern[str]] = ()


def _markdown(summary: Summary, options: ReportOptions) -> str:
    from .markdown import render

    return render(summary, options.max_bytes)


def _triage(summary: Summary, options: ReportOptions) -> str:
    from .triage import render

    return render(summary, options.max_characters, with_passed=options.with_passed)


def _html(summary: Summary, options: ReportOptions) -> str:
    from .html_page import render

    return render(summary)


def _junit(summary: Summary, options: ReportOptions) -> str:
    from .junit import render

    return render(summary)


def _csv(summary: Summary, options: ReportOptions) -> str:
    from .records import render_csv

    return render_csv(summary)


def _jsonl(summary: Summary, options: ReportOptions) -> str:
    from .records import render_jsonl

    return render_jsonl(summary)


# By suffix, the longer before the shorter.
FORMATS: dict[str, Callable[[Summary, ReportOptions], str]] = {
    "triage.md": _triage,
    "junit.xml": _junit,
    "html": _html,
    "jsonl": _jsonl,
    "csv": _csv,
    "md": _markdown,
}
# Of these, one after the other is still a file of the format.
_APPENDABLE = ("md", "triage.md", "jsonl")


class Report(NamedTuple):
    """A report that was asked for: its format, and the path of its file, `-` for standard output."""

    format: str
    path: str
    appends: bool = False


def read_report(text: str, formats: Collection[str] = FORMATS.keys()) -> Report:
    """Return what `FILE`, `FORMAT=FILE` or `FORMAT+=FILE` asks for; a FILE alone tells its format by its suffix.

    Of `formats` a longer one stands before a shorter that it ends with. Raises ValueError, whose text is for a person,
    when it is none of these.
    """
    names = "|".join(map(re.escape, formats))
    explicit = re.fullmatch(rf"({names})(\+?)=(.+)", text, re.DOTALL)
    if explicit:
        report = Report(explicit[1], explicit[3], bool(explicit[2]))
        if report.appends and report.path == STANDARD_OUTPUT:
            raise ValueError(f"standard output cannot be appended to, use {report.format}=-")
        if report.appends and report.format not in _APPENDABLE:
            appendable = ", ".join(name for name in _APPENDABLE if name in formats)
            raise ValueError(f"{report.format} cannot be appended to a file, only {appendable} can")
        return report
    name = Path(text).name
    for suffix in formats:
        if name.endswith(f".{suffix}"):
            return Report(suffix, text)
    if re.fullmatch(rf"({names})\+?=", text):
        raise ValueError(f"{text} needs the name of a file")
    names = ", ".join(sorted(formats))
    raise ValueError(f"expected FILE.FORMAT or FORMAT=FILE with one of the formats {names}, got {quoted(text)}")


def check_reports(reports: Sequence[Report], taken: Sequence[str | os.PathLike[str]]) -> None:
    """Raise EvaluationFatalError when a report could not be written, or would be written over what is in `taken`.

    A link is refused, whatever it leads to, as is the path of another report.
    """
    paths = list(taken)
    for report in reports:
        if report.path == STANDARD_OUTPUT:
            continue
        check_named_output(Path(report.path))
        if any(is_same_file(report.path, path) for path in paths):
            raise EvaluationFatalError(f"cannot write {quoted(report.path)}: it is read or written already")
        paths.append(report.path)


def write_reports(reports: Sequence[Report], summary: Summary, options: ReportOptions) -> str | None:
    """Write reports to their files, and return the text of the one for standard output, None where there is none.

    What looks like a secret is redacted in all of them. Raises EvaluationFatalError when a file cannot be written.
    """
    from .redaction import Redactor

    redacted = Redactor(options.patterns).summary(summary)

    def render(name: str, max_bytes: int) -> str:
        return FORMATS[name](redacted, replace(options, max_bytes=max_bytes))

    return write_rendered(reports, render, options.max_bytes)


def write_rendered(
    reports: Sequence[Report], render: Callable[[str, int], str], max_bytes: int = DEFAULT_BYTES
) -> str | None:
    """Write what `render` returns for a format and a number of bytes, as `write_reports` does.

    A file that is appended to counts what it already holds as part of `max_bytes`, of which at least LEAST_SIZE are
    left.
    """
    printed = None
    for report in reports:
        path = Path(report.path)
        held = path.stat().st_size if report.appends and path.is_file() else 0
        # One byte is for the end of a line that has none.
        text = render(report.format, max(LEAST_SIZE, max_bytes - held - bool(held)))
        if report.path == STANDARD_OUTPUT:
            printed = text
        elif report.appends:
            append(Path(report.path), text)
        else:
            write_atomically(Path(report.path), text)
    return printed
