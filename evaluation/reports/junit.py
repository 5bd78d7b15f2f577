"""The tasks as JUnit test cases, for whatever shows test results in CI."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable

from ..errors import escape, quoted
from ..results import TaskEvaluationResult
from ..summary import METRIC, Summary
from .explanation import check_sentences, compared_rows, finding_sentences, row_lines, short_reason
from .text import cut, headline

# Of these no answer was compared with gold to its end: there is no wrong answer to report.
_ERROR_CODES = (
    *("missing_prediction", "invalid_prediction_csv", "invalid_prediction"),
    *("mapping_search_exhausted", "check_error", "worker_died"),
)
_SHOWN_SENTENCE = 1_000
_SHOWN_COLUMNS = 8


def render(summary: Summary) -> str:
    """Return an XML document with a test case per task, in number order.

    A wrong answer is a failure. A prediction that is missing or unreadable, or that could not be judged, is an error.
    Of passed tasks, too, the outcome of every check is told. Nothing is skipped, and no times are given, as none are
    measured. Characters that XML does not allow are escaped as in messages.
    """
    errors = sum(task.error_code in _ERROR_CODES for task in summary.tasks)
    counts = {
        "tests": str(len(summary.tasks)),
        "failures": str(sum(not task.passed for task in summary.tasks) - errors),
        "errors": str(errors),
        "skipped": "0",
    }
    root = ElementTree.Element("testsuites", {"name": headline(summary), **counts})
    name = f"{METRIC} (partial)" if summary.is_partial else METRIC
    suite = ElementTree.SubElement(root, "testsuite", {"name": name, **counts})
    properties = ElementTree.SubElement(suite, "properties")
    for name in ("signature", "config_set_sha256", "gold_set_sha256", "prediction_set_sha256"):
        value = getattr(summary, name)
        if value is not None:
            ElementTree.SubElement(properties, "property", {"name": name, "value": escape(value)})
    for task in summary.tasks:
        case = ElementTree.SubElement(suite, "testcase", {"classname": METRIC, "name": escape(task.task_id)})
        if not task.passed:
            _add_outcome(case, task)
        elif task.checks:
            ElementTree.SubElement(case, "system-out").text = _lines(check_sentences(task))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _add_outcome(case: ElementTree.Element, task: TaskEvaluationResult) -> None:
    kind = "error" if task.error_code in _ERROR_CODES else "failure"
    changes = task.diagnosis.changes if task.diagnosis else []
    attributes = {"type": escape(task.error_code or ""), "message": escape(cut(short_reason(task), _SHOWN_SENTENCE))}
    outcome = ElementTree.SubElement(case, kind, attributes)
    sentences = [task.error or "", *changes, *finding_sentences(task)]
    shown = compared_rows(task.diagnosis, _SHOWN_COLUMNS) if task.diagnosis else None
    for row in shown.rows if shown else ():
        sentences += row_lines(row, quoted)
    outcome.text = _lines(sentences)


def _lines(sentences: Iterable[str]) -> str:
    return "\n".join(escape(cut(sentence, _SHOWN_SENTENCE)) for sentence in sentences)
