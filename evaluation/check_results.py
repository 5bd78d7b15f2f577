"""What was found for one check of an answer that is not a table, with its JSON form and its inverse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PASSED, FAILED, ERROR, SKIPPED = OUTCOMES = ("passed", "failed", "error", "skipped")


@dataclass(frozen=True)
class CheckResult:
    """A check with its outcome, one of OUTCOMES, and unless it passed the reason, a sentence part.

    It failed where the answer is not as expected, or has not what is asked for; it is an error where a step or the
    comparison could not be run, and skipped where an earlier one was required and did not pass, or there is no answer.
    `func`, `op` and `desc` are the config's, and None where gold is redacted; a check may have no `desc`.
    """

    outcome: str
    func: str | None = None
    op: str | None = None
    desc: str | None = None
    reason: str | None = None

    @property
    def is_consistent(self) -> bool:
        """Whether it is what the class promises; what was read from a file may be anything."""
        return self.outcome in OUTCOMES and (self.reason is None) == (self.outcome == PASSED)

    @property
    def is_redacted(self) -> bool:
        """Whether it shows nothing of its config."""
        return self.func is None and self.op is None and self.desc is None

    @property
    def name(self) -> str:
        """What to call the check by, "" where gold is redacted: what it is for, or else what it does."""
        return self.desc or " ".join(part for part in (self.func, self.op) if part)

    def to_dict(self) -> dict[str, Any]:
        """Return the check as it stands in the summary."""
        return dict(vars(self))

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> CheckResult:
        """Return the result that `to_dict` wrote. Raises TypeError for anything else."""
        return cls(**document)


def error_code_of(checks: Sequence[CheckResult]) -> str | None:
    """Return the error code of a task with these results; None where none failed, and none is an error."""
    outcomes = {check.outcome for check in checks}
    return "check_error" if ERROR in outcomes else "check_failed" if FAILED in outcomes else None


def outcome_counts(checks: Sequence[CheckResult]) -> dict[str, int]:
    """Return how many checks have each outcome, in the order of OUTCOMES, without those that none has."""
    counts = Counter(check.outcome for check in checks)
    return {outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome]}
