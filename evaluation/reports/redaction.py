"""Secrets that must not travel with a report: every text of a summary, with what looks like one replaced."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..check_results import CheckResult
from ..classification import DatasetEvaluation
from ..errors import REDACTED
from ..findings import ColumnFinding, Diagnosis, RowDifference
from ..metadata import Metadata
from ..results import LabelPair, TaskEvaluationResult
from ..runs import Repetition
from ..summary import Summary
from ..summary_evaluations import SummaryEvaluation

# A text may begin anywhere but inside a word; what a message escapes, such as \\x0a, is no part of a word.
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\x[0-9a-f]{2})|(?<=\\u[0-9a-f]{4})|(?<=\\U[0-9a-f]{8})|(?<=\\[nrt]))"
_SPACE = r"(?:\s|\\x[0-9a-f]{2}|\\u[0-9a-f]{4})"
_VALUE = r"""\\?(?:"[^"\r\n]*|'[^'\r\n]*|[^\s"]+)"""


class _Secret(NamedTuple):
    """A pattern, and small letters of which every match has one run; without them it need not be searched."""

    signs: tuple[str, ...]
    pattern: re.Pattern[str]


def _token(start: str, characters: str, least: int, *signs: str) -> _Secret:
    """Return a token with a known beginning; of one that a message has cut off, less is enough."""
    pattern = rf"{_START}{start}(?:[{characters}]{{{least},}}|[{characters}]*…)"
    return _Secret(signs or (start.lower(),), re.compile(pattern))


def _named(names: str, *signs: str) -> _Secret:
    """Return a secret that stands behind its name, as in headers, settings and JSON."""
    pattern = rf"(?i)(?:{names})\\?[\"']?{_SPACE}*(?:=>|:=|[:=]){_SPACE}*{_VALUE}"
    return _Secret(signs, re.compile(pattern))


# The forms in which issuers document their keys, and what HTTP calls credentials (RFC 9110, 11.6.2; RFC 3986, 3.2.1).
_SECRETS = (
    # A long run of letters and digits tells a key from a name with hyphens.
    _Secret(
        ("sk-", "pk-", "rk-", "sk_", "pk_", "rk_"),
        re.compile(rf"{_START}[spr]k[-_](?:[\w-]{{0,40}}?[A-Za-z0-9]{{16}}[\w-]*|[\w-]{{0,200}}…)"),
    ),
    _token("gh[oprsu]_", r"\w", 20, "gho_", "ghp_", "ghr_", "ghs_", "ghu_"),
    _token("github_pat_", r"\w", 20),
    _token("glpat-", r"\w-", 16),
    _token("xox[a-z]-", r"\w-", 10, "xox"),
    _token("xapp-", r"\w-", 10),
    _token("A[KS]IA", "0-9A-Z", 12, "akia", "asia"),
    _token("AIza", r"\w-", 30),
    _token("GOCSPX-", r"\w-", 16),
    _token("hf_", r"\w", 20),
    _token("npm_", r"\w", 20),
    _token("whsec_", r"\w", 16),
    _token("ya29[.]", r"\w-", 20, "ya29."),
    _token("eyJ", r"\w.-", 20),
    # Of a header's value any part may be the secret one.
    _Secret(("authorization",), re.compile(rf"(?i)authorization\\?[\"']?{_SPACE}*[:=][\s\S]+")),
    _Secret(
        ("bearer",),
        re.compile(
            rf"(?i){_START}bearer{_SPACE}+(?:(?=[^\s\d]{{0,200}}\d)[\w.~+/=-]{{8,}}|[\w.~+/=-]{{20,}}|[\w.~+/=-]*…)"
        ),
    ),
    _named("(?:api|access|auth|secret|private)[-_ ]?(?:key|token)", "key", "token"),
    _named(r"passw(?:or)?ds?(?:_\w{1,20})?|passphrase|client[-_]?secret", "passw", "passphrase", "secret"),
    _named("_(?:pass|pwd|secret|token)", "_pass", "_pwd", "_secret", "_token"),
    _Secret(("://",), re.compile(r"://[^\s/:@]{0,100}:[^\s/]+@")),
    _Secret(("private key",), re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY[\s\S]*")),
)


class Redactor:
    """Replaces what looks like a secret, and whatever one of some other patterns matches."""

    def __init__(self, patterns: Sequence[re.Pattern[str]] = ()) -> None:
        self._patterns = patterns
        self._known: dict[str, str] = {}

    def summary(self, summary: Summary) -> Summary:
        """Return the summary with every text that came from a file or a plugin redacted.

        Counts and scores stay as they are: classes, and names in an archive, that have become alike are numbered.
        """
        members = summary.refused_members
        return replace(
            summary,
            tasks=tuple(map(self._task, summary.tasks)),
            refused_members=dict(zip(self._distinct(members), map(self._text, members.values()), strict=True)),
            dataset_evaluations=tuple(map(self._dataset_evaluation, summary.dataset_evaluations)),
            summary_evaluations=tuple(map(self._summary_evaluation, summary.summary_evaluations)),
            repetition=None if summary.repetition is None else self._repetition(summary.repetition),
            metadata=None if summary.metadata is None else self._metadata(summary.metadata),
        )

    def _repetition(self, repetition: Repetition) -> Repetition:
        names = self._distinct(run.name for run in repetition.runs)
        runs = (
            replace(
                run,
                name=name,
                tasks=tuple(map(self._task, run.tasks)),
                refused_members={},
                dataset_evaluations=tuple(map(self._dataset_evaluation, run.dataset_evaluations)),
                summary_evaluations=tuple(map(self._summary_evaluation, run.summary_evaluations)),
            )
            for run, name in zip(repetition.runs, names, strict=True)
        )
        return replace(repetition, runs=tuple(runs))

    def _metadata(self, metadata: Metadata) -> Metadata:
        """Return the metadata with names, texts and tags redacted; those that have become alike are numbered."""
        kept = sorted({name for task in metadata.tasks.values() for name in task.attributes})
        names = dict(zip(kept, self._distinct(kept), strict=True))
        texts = sorted(
            {
                text
                for task in metadata.tasks.values()
                for text in (*task.tags, *task.attributes.values())
                if isinstance(text, str)
            }
        )
        shown = dict(zip(texts, self._distinct(texts), strict=True))
        tasks = {
            task_id: replace(
                task,
                attributes={
                    names[name]: shown[value] if isinstance(value, str) else value
                    for name, value in task.attributes.items()
                },
                tags=tuple(shown[tag] for tag in task.tags),
            )
            for task_id, task in metadata.tasks.items()
        }
        return Metadata(tasks, dict(zip(self._distinct(metadata.left_out), metadata.left_out.values(), strict=True)))

    def _text(self, text: str) -> str:
        if text not in self._known:
            self._known[text] = self._redacted(text)
        return self._known[text]

    def _redacted(self, text: str) -> str:
        lowered = text.lower()
        patterns = [secret.pattern for secret in _SECRETS if any(sign in lowered for sign in secret.signs)]
        for pattern in (*patterns, *self._patterns):
            # A pattern may match nothing at all, anywhere; that is no secret.
            text = pattern.sub(lambda match: REDACTED if match.group() else "", text)
        return text

    def _distinct(self, texts: Iterable[str]) -> list[str]:
        found: dict[str, None] = {}
        numbers: Counter[str] = Counter()
        for text in texts:
            redacted = alone = self._text(text)
            while redacted in found:
                numbers[alone] += 1
                redacted = f"{numbers[alone] + 1}: {alone}"
            found[redacted] = None
        return list(found)

    def _maybe(self, text: str | None) -> str | None:
        return None if text is None else self._text(text)

    def _task(self, task: TaskEvaluationResult) -> TaskEvaluationResult:
        return replace(
            task,
            error=self._maybe(task.error),
            labels=tuple(map(self._label_pair, task.labels)),
            diagnosis=None if task.diagnosis is None else self._diagnosis(task.diagnosis),
            checks=tuple(map(self._check, task.checks)),
        )

    def _check(self, check: CheckResult) -> CheckResult:
        func, op, desc, reason = map(self._maybe, (check.func, check.op, check.desc, check.reason))
        return CheckResult(check.outcome, func, op, desc, reason)

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
        names = dict(zip(evaluation.classes, self._distinct(evaluation.classes), strict=True))
        positive = evaluator.positive_class
        return replace(
            evaluation,
            evaluator=replace(
                evaluator,
                id=self._text(evaluator.id),
                source=self._text(evaluator.source),
                classes=tuple(names.values()),
                positive_class=None if positive is None else names.get(positive, self._text(positive)),
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
