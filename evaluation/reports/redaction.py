"""Secrets that must not travel with a report: every text of a summary, with what looks like one replaced."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..classification import DatasetEvaluation
from ..errors import REDACTED
from ..findings import ColumnFinding, Diagnosis, RowDifference
from ..results import LabelPair, TaskEvaluationResult
from ..summary import Summary
from ..summary_evaluations import SummaryEvaluation


def _token(start: str, characters: str, least: int) -> str:
    """Return the pattern of a token with a known beginning; of one that a message has cut off, less is enough."""
    return rf"\b{start}(?:[{characters}]{{{least},}}|[{characters}]*…)"


# The forms in which the issuers document their keys, and what HTTP calls credentials (RFC 9110, 11.6.2).
DEFAULT_PATTERNS = (
    _token("[spr]k[-_]", r"\w-", 16),
    _token("gh[oprsu]_", r"\w", 20),
    _token("github_pat_", r"\w", 20),
    _token("glpat-", r"\w-", 16),
    _token("xox[a-z]-", r"\w-", 10),
    _token("A[KS]IA", "0-9A-Z", 12),
    _token("AIza", r"\w-", 30),
    _token("hf_", r"\w", 20),
    _token("ya29[.]", r"\w-", 20),
    _token("eyJ", r"\w.-", 20),
    r"(?i)\b(?:proxy-)?authorization\b[\"']?[ ]?[:=][ ]?[\"']?(?:[a-z]{1,20}[ ])?[^\s\"',;]+",
    r"(?i)\b(?:bearer|basic)[ ](?:[\w.~+/=-]{8,}|[\w.~+/=-]*…)",
    r"(?i)(?:api|access|auth|secret|private)[-_ ]?(?:key|token)\b[\"']?[ ]?[:=][ ]?[\"']?[^\s\"',;]+",
    r"(?i)\bpassword\b[\"']?[ ]?[:=][ ]?[\"']?[^\s\"',;]+",
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*",
)


class Redactor:
    """Replaces whatever one of some patterns matches."""

    def __init__(self, patterns: Sequence[re.Pattern[str]]) -> None:
        self._patterns = patterns

    def summary(self, summary: Summary) -> Summary:
        """Return the summary with every text that came from a file or a plugin redacted; counts stay as they are."""
        return replace(
            summary,
            tasks=tuple(map(self._task, summary.tasks)),
            refused_members={self._text(name): self._text(reason) for name, reason in summary.refused_members.items()},
            dataset_evaluations=tuple(map(self._dataset_evaluation, summary.dataset_evaluations)),
            summary_evaluations=tuple(map(self._summary_evaluation, summary.summary_evaluations)),
        )

    def _text(self, text: str) -> str:
        for pattern in self._patterns:
            # A pattern may match nothing at all, anywhere; that is no secret.
            text = pattern.sub(lambda match: REDACTED if match.group() else "", text)
        return text

    def _maybe(self, text: str | None) -> str | None:
        return None if text is None else self._text(text)

    def _task(self, task: TaskEvaluationResult) -> TaskEvaluationResult:
        return replace(
            task,
            error=self._maybe(task.error),
            labels=tuple(map(self._label_pair, task.labels)),
            diagnosis=None if task.diagnosis is None else self._diagnosis(task.diagnosis),
        )

    def _label_pair(self, pair: LabelPair) -> LabelPair:
        return replace(
            pair,
            source=self._text(pair.source),
            expected=self._maybe(pair.expected),
            predicted=self._maybe(pair.predicted),
        )

    def _diagnosis(self, diagnosis: Diagnosis) -> Diagnosis:
        rows = diagnosis.rows
        return replace(
            diagnosis,
            columns=tuple(map(self._column, diagnosis.columns)),
            rows=None if rows is None else replace(rows, sample=tuple(map(self._row, rows.sample))),
            near_misses=tuple(replace(miss, message=self._text(miss.message)) for miss in diagnosis.near_misses),
        )

    def _column(self, column: ColumnFinding) -> ColumnFinding:
        return replace(
            column,
            gold_name=self._text(column.gold_name),
            prediction_name=self._maybe(column.prediction_name),
            unreadable=tuple(
                replace(cell, text=self._text(cell.text), reason=self._text(cell.reason)) for cell in column.unreadable
            ),
        )

    def _row(self, row: RowDifference) -> RowDifference:
        gold, prediction = row.gold_cells, row.prediction_cells
        return replace(
            row,
            gold_cells=None if gold is None else tuple(map(self._text, gold)),
            prediction_cells=None if prediction is None else tuple(map(self._maybe, prediction)),
        )

    def _dataset_evaluation(self, evaluation: DatasetEvaluation) -> DatasetEvaluation:
        evaluator = evaluation.evaluator
        return replace(
            evaluation,
            evaluator=replace(
                evaluator,
                id=self._text(evaluator.id),
                source=self._text(evaluator.source),
                classes=None if evaluator.classes is None else tuple(map(self._text, evaluator.classes)),
                positive_class=self._maybe(evaluator.positive_class),
            ),
        )

    def _summary_evaluation(self, evaluation: SummaryEvaluation) -> SummaryEvaluation:
        value = evaluation.value
        return replace(
            evaluation,
            name=self._text(evaluation.name),
            value=self._text(value) if isinstance(value, str) else value,
            comment=self._maybe(evaluation.comment),
            error=self._maybe(evaluation.error),
        )
