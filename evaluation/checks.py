"""Evaluators for answers that are not tables: checks, each a function chain and a comparison, with four outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .answers import Value, shown
from .chain_functions import FUNCTIONS, Context, Function
from .chains import Chain, Place, StepStopError, run_chain
from .check_comparisons import COMPARISONS, Comparison, run_comparison
from .check_results import ERROR, FAILED, PASSED, SKIPPED, CheckResult
from .errors import EvaluationFatalError, StepError
from .shapes import DATE, dated, shape_of
from .text_forms import form_fault

# In `op_args` of any comparison, once the chain has foreach.
ALLOW_EMPTY = "allow_empty"


class CheckFunctions(NamedTuple):
    """The functions of plugins that checks may use, by name: steps of chains, and comparisons.

    No name is that of a built-in.
    """

    steps: Mapping[str, Function] = {}
    comparisons: Mapping[str, Comparison] = {}

    def comparison(self, op: str) -> Comparison:
        """Return the comparison of this name, which there is."""
        return COMPARISONS.get(op) or self.comparisons[op]

    def missing(self, check: Check) -> str | None:
        """Return the name of a function that a check needs and that is not built in, nor here; None without one."""
        if check.op not in COMPARISONS and check.op not in self.comparisons:
            return check.op
        steps = (name for name in check.step_names if name not in FUNCTIONS and name not in self.steps)
        return next(steps, None)


NO_FUNCTIONS = CheckFunctions()


@dataclass(frozen=True)
class Check:
    """What must hold for an answer: that the result of a chain compares so with a value.

    The value is given, or comes out of `gold_chain` run on the gold file. `options` are those of the comparison.
    `allow_empty` lets `foreach` pass over an empty list. Where a check `is_required` and does not pass, those after it
    are skipped.
    """

    chain: Chain
    op: str
    value: Value = None
    gold_chain: Chain | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    allow_empty: bool = False
    desc: str | None = None
    is_required: bool = False

    @property
    def described(self) -> dict[str, str | None]:
        """What its result says of it."""
        return {"func": self.chain.text, "op": self.op, "desc": self.desc}

    def custom_names(self, functions: CheckFunctions) -> set[str]:
        """Return the names of the plugins' functions that it uses."""
        return functions.steps.keys() & self.step_names | functions.comparisons.keys() & {self.op}

    @property
    def step_names(self) -> list[str]:
        """The names of the functions of its chains."""
        return [step.name for chain in (self.chain, self.gold_chain) if chain is not None for step in chain.steps]


class Evaluator(NamedTuple):
    """What the checks of a task are run with; `redact` keeps all values, and what the config says, out of results."""

    functions: CheckFunctions
    context: Context
    redact: bool = False


def gold_values(checks: Sequence[Check], gold: bytes, called: str, evaluator: Evaluator) -> list[Value]:
    """Return the expected value of each check, from the gold file where it is said to come from there.

    Raises EvaluationFatalError, calling the file as `called`, when a chain does not come to an end on it, or gives what
    its comparison does not take.
    """
    return [
        check.value if check.gold_chain is None else _gold_value(check, check.gold_chain, gold, where, evaluator)
        for check, where in ((check, f"{called}, for checks[{place}]") for place, check in enumerate(checks))
    ]


def _gold_value(check: Check, chain: Chain, gold: bytes, where: str, evaluator: Evaluator) -> Value:
    functions, context, _ = evaluator
    try:
        ((_, value),) = run_chain(chain, gold, functions.steps, context)
    except StepStopError as stop:
        raise EvaluationFatalError(f"{where}: {stop}", f"{where}: step {stop.number} cannot be run") from None
    comparison = functions.comparison(check.op)
    fault = comparison.fault(value)
    shape = dated(shape_of(value)) if chain.shape.kinds == {DATE} else shape_of(value)
    if fault is None and not comparison.fits(check.chain.shape, shape):
        fault = f"has nothing to compare: func gives {check.chain.shape}, and gold {shown(value)}"
    form = form_fault(check.chain, check.op, value) if fault is None else None
    if form is not None:
        fault = f"takes {form}, and gold gives {shown(value)}"
    if fault is not None:
        raise EvaluationFatalError(f"{where}: {check.op} {fault}", f"{where}: not what its comparison takes")
    return value


def run_checks(
    checks: Sequence[Check], expected: Sequence[Value], answer: bytes, evaluator: Evaluator
) -> tuple[CheckResult, ...]:
    """Return the result of every check, in their order, on the content of an answer's file."""
    results: list[CheckResult] = []
    decisive = None
    for number, (check, value) in enumerate(zip(checks, expected, strict=True), start=1):
        if decisive is not None:
            results.append(skipped(check, f"check {decisive} is required and did not pass", evaluator.redact))
            continue
        results.append(_run(check, value, answer, evaluator))
        if check.is_required and results[-1].outcome != PASSED:
            decisive = number
    return tuple(results)


def skipped(check: Check, reason: str, redact: bool) -> CheckResult:
    """Return the result of a check that was not run."""
    return _result(check, SKIPPED, reason, redact)


def _result(check: Check, outcome: str, reason: str | None, redact: bool) -> CheckResult:
    return CheckResult(outcome, reason=reason, **({} if redact else check.described))


def _run(check: Check, expected: Value, answer: bytes, evaluator: Evaluator) -> CheckResult:
    """Run one check until it is decided: by the first element, where there are several, that it does not hold for."""
    functions, context, redact = evaluator
    try:
        for place, actual in run_chain(check.chain, answer, functions.steps, context, check.allow_empty):
            result = _compare(check, place, actual, expected, evaluator)
            if result is not None:
                return result
    except StepStopError as stop:
        reason = f"{stop}, expected {check.op} {shown(expected)}" if stop.is_absent else str(stop)
        if redact:
            reason = f"step {stop.number} {'finds nothing' if stop.is_absent else 'cannot be run'}"
        return _result(check, FAILED if stop.is_absent else ERROR, _at(stop.place, reason), redact)
    return _result(check, PASSED, None, redact)


def _compare(check: Check, place: Place, actual: Value, expected: Value, evaluator: Evaluator) -> CheckResult | None:
    """Return the result of a check that does not hold for a value, None where it does."""
    functions, context, redact = evaluator
    try:
        verdict = run_comparison(functions.comparison(check.op), actual, expected, check.options, context)
    except StepError as error:
        reason = "the comparison cannot be run" if redact else f"{check.op} {error}"
        return _result(check, ERROR, _at(place, reason), redact)
    if verdict.holds:
        return None
    remark = verdict.remark or ("they only look alike" if check.op == "=" and shown(actual) == shown(expected) else "")
    reason = f"expected {check.op} {shown(expected)}, got {shown(actual)}" + (f" ({remark})" if remark else "")
    return _result(check, FAILED, _at(place, "the comparison does not hold" if redact else reason), redact)


def _at(place: Place, reason: str) -> str:
    """Return a reason with the element that it is about, numbered from 1 in every list that leads to it."""
    return f"element {'.'.join(map(str, place))}: {reason}" if place else reason
