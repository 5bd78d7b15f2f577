"""The checks of a task config: read, and refused where they can never hold, never fail, or never be run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .answers import TEXT, Value, from_plain
from .cells import DateRule
from .chain_syntax import ChainFaultError
from .chains import Chain, read_chain
from .check_comparisons import COMPARISONS, Comparison
from .checks import ALLOW_EMPTY, Check, CheckFunctions
from .errors import CellError, EvaluationFatalError, InputError
from .shapes import DATE, Shape, dated, shape_of
from .strict_json import JsonFile
from .text_forms import form_fault

MOST_CHECKS = 100
MOST_DESC_CHARACTERS = 1_000
CHECK_KEYS = ("func", "op", "value", "value_from", "value_func", "op_args", "desc", "required")
# The gold file as a whole.
_DEFAULT_GOLD_CHAIN = "json"

# A comparison and its name.
_Compared = tuple[str, Comparison]


def read_checks(file: JsonFile, value: object, functions: CheckFunctions) -> tuple[Check, ...]:
    """Return the checks that the value of `checks` in a config spells, at least one.

    Raises EvaluationFatalError, naming the place, when they are not valid: with the chain drawn where that is at fault.
    """
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_CHECKS:
        file.refuse("checks", f"a list of 1 to {MOST_CHECKS} checks", value)
    return tuple(_read_check(file, f"checks[{place}]", check, functions) for place, check in enumerate(value))


def _read_check(file: JsonFile, where: str, value: object, functions: CheckFunctions) -> Check:
    check = file.object_with(where, value, required=("func", "op"), optional=CHECK_KEYS[2:])
    chain = _read_chain(file, f"{where}.func", check["func"], functions)
    op = file.string(f"{where}.op", check["op"])
    known = {**COMPARISONS, **functions.comparisons}
    comparison = known[file.one_of(f"{where}.op", op, tuple(known))]
    options = dict(file.object_with_any(f"{where}.op_args", check.get("op_args", {})))
    allow_empty = _read_allow_empty(file, f"{where}.op_args", options, chain)
    options = {name: _read_value(file, f"{where}.op_args.{name}", option) for name, option in options.items()}
    fault = comparison.misused_options(options)
    if fault is not None:
        file.refuse_because(f"{where}.op_args", f"{op} {fault}")
    expected, gold_chain = _read_expected(file, where, check, chain, (op, comparison), functions)
    desc = file.text(f"{where}.desc", check["desc"]) if "desc" in check else None
    if desc is not None and len(desc) > MOST_DESC_CHARACTERS:
        file.refuse(f"{where}.desc", f"at most {MOST_DESC_CHARACTERS} characters", desc)
    required = file.boolean(f"{where}.required", check.get("required", False))
    return Check(chain, op, expected, gold_chain, options, allow_empty, desc, required)


def _read_chain(file: JsonFile, where: str, value: object, functions: CheckFunctions) -> Chain:
    text = file.text(where, value)
    try:
        return read_chain(text, functions.steps)
    except ChainFaultError as error:
        drawn = "".join(f"\n    {line}" for line in error.drawn(text).split("\n"))
        place = f"{file}, {where}"
        raise EvaluationFatalError(f"{place}: {error}{drawn}", f"{place}: this chain cannot be used") from None


def _read_allow_empty(file: JsonFile, where: str, options: dict[str, Any], chain: Chain) -> bool:
    if ALLOW_EMPTY not in options:
        return False
    if not chain.is_plural:
        file.refuse_because(where, f"{ALLOW_EMPTY} says something only where the chain has foreach")
    return file.boolean(f"{where}.{ALLOW_EMPTY}", options.pop(ALLOW_EMPTY))


def _read_value(file: JsonFile, where: str, value: object) -> Value:
    try:
        return from_plain(value)
    except InputError as error:
        return file.refuse_because(where, f"the value {error}")


def _read_expected(
    file: JsonFile, where: str, check: Mapping[str, Any], chain: Chain, compared: _Compared, functions: CheckFunctions
) -> tuple[Value, Chain | None]:
    """Return the expected value, or the chain that it comes out of."""
    op, comparison = compared
    if chain.shape.kinds.isdisjoint(comparison.actual):
        file.refuse_because(f"{where}.op", f"{op} takes {Shape(comparison.actual)}, and func gives {chain.shape}")
    if "value_from" in check:
        file.one_of(f"{where}.value_from", check["value_from"], ("gold",))
        if "value" in check:
            file.refuse(f"{where}.value", "no value beside value_from", check["value"])
        given = check.get("value_func", _DEFAULT_GOLD_CHAIN)
        gold_chain = _read_chain(file, f"{where}.value_func", given, functions)
        if gold_chain.is_plural:
            file.refuse_because(f"{where}.value_func", "a value is one, so there can be no foreach")
        _check_fit(file, f"{where}.value_func", compared, chain.shape, gold_chain.shape)
        return None, gold_chain
    if "value_func" in check:
        file.refuse(f"{where}.value_func", 'no such key without "value_from": "gold"', check["value_func"])
    if "value" not in check:
        file.refuse(f"{where}.value", "a value, the key is required")
    return _read_literal(file, f"{where}.value", check["value"], chain, compared), None


def _read_literal(file: JsonFile, where: str, given: object, chain: Chain, compared: _Compared) -> Value:
    op, comparison = compared
    value = _read_value(file, where, given)
    shape = shape_of(value)
    if chain.shape.kinds == {DATE} and op in COMPARISONS:
        value, shape = _dated(file, where, value), dated(shape)
    fault = comparison.fault(value)
    if fault is not None:
        file.refuse_because(where, f"{op} {fault}")
    _check_fit(file, where, compared, chain.shape, shape)
    form = form_fault(chain, op, value)
    if form is not None:
        file.refuse(where, form, given)
    return value


def _dated(file: JsonFile, where: str, value: Value) -> Value:
    """Return a value that is to be compared with dates, its texts read as these are."""
    if isinstance(value, list):
        return [_dated(file, f"{where}[{place}]", part) for place, part in enumerate(value)]
    if not isinstance(value, str):
        return value
    try:
        found = DateRule().canonical(value)
    except CellError:
        found = None
    if found is None:
        file.refuse(where, "a date, as func gives one", value)
    return found


def _check_fit(file: JsonFile, where: str, compared: _Compared, actual: Shape, expected: Shape) -> None:
    """Refuse a comparison that cannot depend on the answer, whatever it is."""
    op, comparison = compared
    if expected.kinds.isdisjoint(comparison.expected):
        file.refuse_because(where, f"{op} takes {Shape(comparison.expected)} as expected value, got {expected}")
    if not comparison.fits(actual, expected):
        hint = "; end it with -> date" if actual.kinds == {DATE} and TEXT in expected.kinds else ""
        file.refuse_because(where, f"{op} says nothing of {actual} beside {expected}, whatever the answer is{hint}")
