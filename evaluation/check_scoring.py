"""One task whose answer is no table, one prediction: one result."""

from __future__ import annotations

from .chain_functions import Context
from .check_results import ERROR, FAILED, PASSED, CheckResult, error_code_of
from .checks import NO_FUNCTIONS, CheckFunctions, Evaluator, gold_values, run_checks, skipped
from .errors import EvaluationFatalError, counted, quoted
from .results import TaskEvaluationResult
from .task_files import DEFAULT_OPTIONS, AnswerFiles, ScoringOptions, fault_of


def score_answer(
    files: AnswerFiles,
    gold_name: str,
    name: str,
    options: ScoringOptions = DEFAULT_OPTIONS,
    functions: CheckFunctions | None = None,
) -> TaskEvaluationResult:
    """Return the result of a prediction, called `name` in messages, and of every check of it.

    Raises EvaluationFatalError when the gold file, called `gold_name`, has not what the checks compare with,
    or a function of a plugin that they need is not given.
    """
    functions = NO_FUNCTIONS if functions is None else functions
    checks = files.config.checks
    for missing in filter(None, map(functions.missing, checks)):
        raise EvaluationFatalError(f"task {quoted(files.config.task_id)} needs the function {missing} of a plugin")
    evaluator = Evaluator(functions, Context(options.limits), options.redact_gold)
    gold = b"" if files.gold is None else files.gold.data
    expected = gold_values(checks, gold, f"gold file {gold_name}", evaluator)
    fault = fault_of(files, name)
    if fault is not None:
        results = tuple(skipped(check, "there is no answer", options.redact_gold) for check in checks)
        return _result(files, results, *fault)
    assert files.prediction is not None, "else it is missing"
    results = run_checks(checks, expected, files.prediction.data, evaluator._replace(context=Context(options.limits)))
    failure = error_code_of(results)
    return _result(files, results, failure, None if failure is None else _sentence(results))


def _result(
    files: AnswerFiles, checks: tuple[CheckResult, ...], code: str | None = None, error: str | None = None
) -> TaskEvaluationResult:
    """Return the result of a task that has no table."""
    return TaskEvaluationResult(files.config.task_id, False, 0, 0, 0, 0, None, code, error, checks=checks)


def _sentence(results: tuple[CheckResult, ...]) -> str:
    """Return how many checks did not pass, and why the first error, or else the first failure, did not."""
    outcomes = [result.outcome for result in results]
    decisive = outcomes.index(ERROR if ERROR in outcomes else FAILED)
    result = results[decisive]
    called = f"check {decisive + 1}" + (f" {quoted(result.name)}" if result.name else "")
    how = "failed" if result.outcome == FAILED else "could not be run"
    others = len(results) - outcomes.count(PASSED)
    return f"{others} of {counted(len(results), 'check')} did not pass: {called} {how}: {result.reason}"
