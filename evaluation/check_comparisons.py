"""The comparisons of checks: what each takes on either side, known before anything is run, and when it holds.

A new comparison is one entry in `COMPARISONS`.
"""

from __future__ import annotations

import difflib
import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple

from .answers import LIST, NUMBER, TEXT, Value, is_close, kind_of, shown
from .chain_functions import Context, key, keys
from .errors import StepError, quoted
from .patterns import PatternError, Work, compiled
from .shapes import DATE, EVERY_KIND, ORDERED, Shape

# Of two texts to be found similar; an index of one of them is made.
MOST_SIMILAR_CHARACTERS = 100_000

Options = Mapping[str, Any]


class Verdict(NamedTuple):
    """Whether a comparison holds, and what it says of that beside the two values, "" for nothing."""

    holds: bool
    remark: str = ""


@dataclass(frozen=True)
class Comparison:
    """A comparison of an actual with an expected value.

    `actual` and `expected` are the kinds that it takes, and `fits` tells of two shapes of such kinds whether it depends
    on the values if it holds. `misuse` is what is wrong with an expected value, and `misused_options` with `op_args`,
    as predicates. `compare` raises StepError when two values cannot be compared.
    """

    actual: frozenset[str]
    expected: frozenset[str]
    fits: Callable[[Shape, Shape], bool]
    compare: Callable[[Value, Value, Options, Context], Verdict]
    misused_options: Callable[[Options], str | None]
    misuse: Callable[[Value], str | None] = lambda value: None

    def fault(self, expected: Value) -> str | None:
        """Return what is wrong with an expected value, as a predicate; None where nothing is."""
        if kind_of(expected) not in self.expected:
            return _unexpected(expected, self.expected, " as expected value")
        return self.misuse(expected)


def run_comparison(
    comparison: Comparison, actual: Value, expected: Value, options: Options, context: Context
) -> Verdict:
    """Return whether a comparison holds. Raises StepError, whose text is a sentence part, when it cannot be told."""
    if kind_of(actual) not in comparison.actual:
        raise StepError(_unexpected(actual, comparison.actual))
    context.work.spend(1)
    if isinstance(actual, str):
        context.work.pass_over(len(actual))
    return comparison.compare(actual, expected, options, context)


def _unexpected(value: Value, kinds: frozenset[str], side: str = "") -> str:
    return f"takes {Shape(kinds - {DATE})}{side}, got {Shape.of(kind_of(value))}"


def _may_be_in(actual: Shape, expected: Shape) -> bool:
    return (LIST in expected.kinds and actual.may_equal(expected.part)) or (
        TEXT in expected.kinds and TEXT in actual.kinds
    )


def _may_contain(actual: Shape, expected: Shape) -> bool:
    return (TEXT in actual.kinds and TEXT in expected.kinds) or (
        LIST in actual.kinds and actual.part.may_equal(expected)
    )


def _only_options(options: Options, *names: str) -> str | None:
    """Return what is wrong with options that are to have no other names than these, if any."""
    for name in options:
        if name not in names:
            return f"has no option {quoted(name)}" + (f", only {' and '.join(names)}" if names else "")
    return None


def _equal(actual: Value, expected: Value, _: Options, context: Context) -> bool:
    return key(actual, context.work) == context.once(key, expected)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Value, Value, Options, Context], bool]:
    def holds(actual: Value, expected: Value, *_: object) -> bool:
        if kind_of(actual) != kind_of(expected):
            got, wanted = (Shape.of(kind_of(value)) for value in (actual, expected))
            raise StepError(f"cannot put {got} and {wanted} in order")
        return compare(actual, expected)

    return holds


def _in(actual: Value, expected: Value, _: Options, context: Context) -> bool:
    if isinstance(expected, list):
        return key(actual, context.work) in context.once(_key_set, expected)
    return _is_part(actual, expected)


def _contain(actual: Value, expected: Value, _: Options, context: Context) -> bool:
    if isinstance(actual, list):
        return context.once(key, expected) in keys(actual, context.work)
    return _is_part(expected, actual)


def _is_part(part: Value, whole: str) -> bool:
    if not isinstance(part, str):
        raise StepError(f"looks for texts in a text, got {Shape.of(kind_of(part))}")
    if not part:
        raise StepError("looks for an empty text, which is in every text")
    return part in whole


def _key_set(values: list[Value], work: Work) -> frozenset[str]:
    return frozenset(keys(values, work))


def _not(holds: Callable[[Value, Value, Options, Context], bool]) -> Callable[[Value, Value, Options, Context], bool]:
    return lambda *values: not holds(*values)


def _matches(actual: str, expected: str, _: Options, context: Context) -> bool:
    return compiled(expected).matches_whole(actual, context.work)


def _same_set(actual: list[Value], expected: list[Value], _: Options, context: Context) -> bool:
    return _key_set(actual, context.work) == context.once(_key_set, expected)


def _approx(actual: Value, expected: Value, options: Options, _: Context) -> Verdict:
    absolute, relative = (Decimal(options.get(name, 0)) for name in ("absolute", "relative"))
    allowed = " or ".join(f"{name} {shown(value)}" for name, value in options.items())
    return Verdict(is_close(actual, expected, absolute, relative), f"more than {allowed} apart")


def _misused_tolerances(options: Options) -> str | None:
    fault = _only_options(options, "absolute", "relative")
    for name, value in options.items():
        if fault is None and not (_is_number(value) and value >= 0):
            fault = f"takes a number from 0 as {name}, got {shown(value)}"
    return fault if options else "needs absolute or relative"


def _similar(actual: str, expected: str, options: Options, context: Context) -> Verdict:
    if max(len(actual), len(expected)) > MOST_SIMILAR_CHARACTERS:
        raise StepError(f"takes texts of at most {MOST_SIMILAR_CHARACTERS} characters")
    ratio = similarity(actual, expected, context.work)
    threshold = options["threshold"]
    return Verdict(ratio >= Fraction(threshold), f"the ratio is {float(ratio):.4f}, not {shown(threshold)}")


def _too_long(value: str) -> str | None:
    return f"takes at most {MOST_SIMILAR_CHARACTERS} characters" if len(value) > MOST_SIMILAR_CHARACTERS else None


def _misused_threshold(options: Options) -> str | None:
    fault = _only_options(options, "threshold")
    if fault is not None or "threshold" not in options:
        return fault or "needs a threshold"
    value = options["threshold"]
    if _is_number(value) and 0 < value <= 1:
        return None
    return f"takes a number above 0 and at most 1 as threshold, got {shown(value)}"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)


def similarity(actual: str, expected: str, work: Work) -> Fraction:
    """Return `difflib`'s ratio of two texts, 2 M / T, exactly, with every character taken for what it is.

    Raises StepError as `work` does.
    """
    matcher = _BoundedMatcher(actual, expected, work)
    matches = sum(block.size for block in matcher.get_matching_blocks())
    length = len(actual) + len(expected)
    return Fraction(2 * matches, length) if length else Fraction(1)


class _BoundedMatcher(difflib.SequenceMatcher[str]):
    """Counts what each search for the longest match looks at, as two texts can make it look at very much."""

    def __init__(self, actual: str, expected: str, work: Work) -> None:
        super().__init__(None, actual, expected, autojunk=False)
        self._work = work
        places = Counter(expected)
        self._sums = list(accumulate((1 + places[character] for character in actual), initial=0))

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> difflib.Match:
        end = len(self._sums) - 1 if ahi is None else ahi
        self._work.spend(self._sums[end] - self._sums[alo])
        return super().find_longest_match(alo, ahi, blo, bhi)


def _bad_pattern(value: Value) -> str | None:
    try:
        compiled(value)
    except PatternError as error:
        return f"takes a pattern, and this one {error} (at its character {error.position + 1})"
    return None


def _nothing(value: Value) -> str | None:
    return None if value else "takes no empty list and no empty text, which decide nothing"


def _of(
    actual: Sequence[str] | frozenset[str],
    expected: Sequence[str] | frozenset[str],
    holds: Callable[[Any, Any, Options, Context], bool],
    fits: Callable[[Shape, Shape], bool] = Shape.may_equal,
    misuse: Callable[[Value], str | None] = lambda value: None,
    misused_options: Callable[[Options], str | None] = _only_options,
) -> Comparison:
    """Return a comparison that says nothing beside whether it holds."""
    return Comparison(
        frozenset(actual),
        frozenset(expected),
        fits,
        lambda *values: Verdict(holds(*values)),
        misused_options,
        misuse,
    )


_IN = (LIST, TEXT)

COMPARISONS: dict[str, Comparison] = {
    "=": _of(EVERY_KIND, EVERY_KIND, _equal),
    "!=": _of(EVERY_KIND, EVERY_KIND, _not(_equal)),
    "<": _of(ORDERED, ORDERED, _ordered(operator.lt)),
    "<=": _of(ORDERED, ORDERED, _ordered(operator.le)),
    ">": _of(ORDERED, ORDERED, _ordered(operator.gt)),
    ">=": _of(ORDERED, ORDERED, _ordered(operator.ge)),
    "in": _of(EVERY_KIND, _IN, _in, _may_be_in, _nothing),
    "not_in": _of(EVERY_KIND, _IN, _not(_in), _may_be_in, _nothing),
    "contain": _of(_IN, EVERY_KIND, _contain, _may_contain),
    "not_contain": _of(_IN, EVERY_KIND, _not(_contain), _may_contain),
    "matches": _of((TEXT,), (TEXT,), _matches, misuse=_bad_pattern),
    "set_equal": _of((LIST,), (LIST,), _same_set),
    "sequence_equal": _of((LIST,), (LIST,), _equal),
    "approx": Comparison(frozenset({NUMBER}), frozenset({NUMBER}), Shape.may_equal, _approx, _misused_tolerances),
    "similar": Comparison(
        frozenset({TEXT}), frozenset({TEXT}), Shape.may_equal, _similar, _misused_threshold, _too_long
    ),
}
