"""The built-in functions of chains: what each takes and gives, known before anything is run, and what it does.

A new function is one entry in `FUNCTIONS`. It gets a value of a kind that it accepts, and arguments that were checked
when the chain was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from .answers import (
    LIST,
    NUMBER,
    OBJECT,
    TEXT,
    Value,
    canonical,
    canonical_pieces,
    kind_of,
    read_answer,
    read_number,
    total,
)
from .cells import DateRule, NumberRule, Rule, TextRule
from .chain_syntax import Argument
from .errors import AbsentError, CellError, StepError, quoted
from .patterns import PatternError, Work, compiled
from .shapes import ANYTHING, DATE, FILE, ORDERED, Shape, shape_of
from .tables import DEFAULT_LIMITS, TableLimits, parse_table

_Found = TypeVar("_Found")

# So many elements of lists, places in patterns and the like may be looked at for one task. Of what has to be read again
# a step is for ten characters, and some are for each reading.
MOST_WORK = 4_000_000
_READ_CHARACTERS_PER_STEP = 10
_READ_STEPS = 20


class Context:
    """What the chains that are run on one file share.

    What work is left, the limits of tables, and by the name of the function that read the file what it was `read` as,
    and why it was `unreadable`.
    """

    def __init__(self, limits: TableLimits = DEFAULT_LIMITS, work: int = MOST_WORK) -> None:
        self.work = Work(work)
        self.limits = limits
        self.read: dict[str, Value] = {}
        self.unreadable: dict[str, str] = {}
        self._found: tuple[Value, object, object] | None = None

    def once(self, find: Callable[[Value, Work], _Found], value: Value) -> _Found:
        """Return what a function finds of a value; asked for the same again, without finding it again."""
        if self._found is None or self._found[0] is not value or self._found[1] is not find:
            self._found = value, find, find(value, self.work)
        return self._found[2]  # type: ignore[return-value]


class Misuse(NamedTuple):
    """Why a function cannot be used so, and the place of the argument that is at fault; None where its input is."""

    reason: str
    argument: int | None = None


_Arguments = Sequence[Argument]


@dataclass(frozen=True)
class Function:
    """A function of chains.

    `accepts` are the kinds that it takes, `gives` the shape that it makes of one, `misuse` what is wrong with its
    arguments, `least` to `most` of them. `run` raises StepError or InputError when it cannot be run on a value, and
    AbsentError when what it looks for is not there.
    """

    accepts: frozenset[str]
    gives: Callable[[Shape, _Arguments], Shape]
    run: Callable[[Value, _Arguments, Context], Value]
    least: int = 0
    most: int = 0
    misuse: Callable[[Shape, _Arguments], Misuse | None] | None = None


def _decoded(value: bytes | str) -> str:
    """Return the text of a file; a text stays one."""
    if isinstance(value, str):
        return value
    try:
        return value.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StepError(f"is not UTF-8 (byte {error.start})") from None


def _raw(value: bytes, *_: object) -> str:
    return _decoded(value)


def _text(value: bytes | str, _: _Arguments, context: Context) -> str:
    text = _decoded(value)
    if len(text) > context.limits.cell_characters:
        raise StepError(f"has more than {context.limits.cell_characters} characters")
    if isinstance(value, str):
        # To compose some characters takes a microsecond for each.
        (context.work.pass_over if text.isascii() else context.work.spend)(len(text))
    return TextRule().canonical(text) or ""


def _json(value: bytes | str, _: _Arguments, context: Context) -> Value:
    if isinstance(value, str):
        context.work.spend(_READ_STEPS + len(value) // _READ_CHARACTERS_PER_STEP)
    return read_answer(_decoded(value))


def _csv(value: bytes | str, _: _Arguments, context: Context) -> list[Value]:
    if isinstance(value, str):
        context.work.spend(_READ_STEPS + len(value) // _READ_CHARACTERS_PER_STEP)
        value = value.encode("utf-8", "surrogatepass")
    table = parse_table(value, context.limits)
    if len(set(table.header)) < table.column_count:
        twice = next(name for name in table.header if table.header.count(name) > 1)
        raise StepError(f"has the column {quoted(twice)} twice")
    context.work.spend(table.row_count * table.column_count)
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


def _get(value: Value, arguments: _Arguments, _: Context) -> Value:
    key = arguments[0]
    if isinstance(value, dict):
        if key.text in value:
            return value[key.text]
        missing = f"finds no key {quoted(key.text)}"
    elif key.whole_number is None:
        raise StepError(f"takes an element of a list by a whole number, not by {quoted(key.text)}")
    elif -len(value) <= key.whole_number < len(value):
        return value[key.whole_number]
    else:
        missing = f"finds no element {key.whole_number} in a list of {len(value)}"
    if len(arguments) == 1:
        raise AbsentError(missing)
    return arguments[1].value


def _get_shape(shape: Shape, arguments: _Arguments) -> Shape:
    return shape.part if len(arguments) == 1 else shape.part | shape_of(arguments[1].value)


def _get_misuse(shape: Shape, arguments: _Arguments) -> Misuse | None:
    key = arguments[0]
    if key.whole_number is None and not isinstance(key.value, str):
        return Misuse("expected a key or a whole number; quote what is to be a key all the same", 0)
    if OBJECT not in shape.kinds and key.whole_number is None:
        return Misuse("expected a whole number, as this is taken from a list", 0)
    return None


def _len(value: Value, *_: object) -> int:
    return len(value)


def _itself(value: Value, *_: object) -> Value:
    return value


def _number(value: Value, _: _Arguments, context: Context) -> Value:
    if not isinstance(value, str):
        return value
    _read_by(NumberRule("decimal_places", 0), value, "number", context)
    return read_number(value.strip().replace(",", ""))


def _date(value: str, _: _Arguments, context: Context) -> str:
    return _read_by(DateRule(), value, "date", context)


def _read_by(rule: Rule, text: str, noun: str, context: Context) -> str:
    """Return the canonical value of a text under a column's rule; null is no evidence."""
    context.work.pass_over(len(text))
    try:
        value = rule.canonical(text)
    except CellError as error:
        raise StepError(f"{quoted(text)} {error}") from None
    if value is None:
        raise StepError(f"{quoted(text)} is null, not a {noun}")
    return value


def _lower(value: str, _: _Arguments, context: Context) -> str:
    context.work.pass_over(len(value))
    return value.lower()


def _sort(value: list[Value], _: _Arguments, context: Context) -> list[Value]:
    return sorted(_of_one_kind(value, context))


def _unique(value: list[Value], _: _Arguments, context: Context) -> list[Value]:
    found: dict[str, Value] = {}
    for element in value:
        found.setdefault(key(element, context.work), element)
    return list(found.values())


def _first(value: list[Value], *_: object) -> Value:
    return _some(value)[0]


def _last(value: list[Value], *_: object) -> Value:
    return _some(value)[-1]


def _sum(value: list[Value], _: _Arguments, context: Context) -> Value:
    context.work.spend(len(value))
    if set(map(kind_of, _some(value))) != {NUMBER}:
        raise StepError("expected a list of numbers")
    return total(value)


def _min(value: list[Value], _: _Arguments, context: Context) -> Value:
    return min(_of_one_kind(_some(value), context))


def _max(value: list[Value], _: _Arguments, context: Context) -> Value:
    return max(_of_one_kind(_some(value), context))


def _count(value: list[Value], arguments: _Arguments, context: Context) -> int:
    return keys(value, context.work).count(canonical(arguments[0].value))


def _some(value: list[Value]) -> list[Value]:
    """Return a list that is not empty: of nothing there is no first element, and no sum that were evidence."""
    if not value:
        raise AbsentError("finds an empty list")
    return value


def _of_one_kind(value: list[Value], context: Context) -> list[Value]:
    """Return a list of numbers alone or of texts alone, which can be put in order."""
    context.work.spend(len(value))
    kinds = set(map(kind_of, value))
    if len(kinds) > 1 or not kinds <= {NUMBER, TEXT}:
        raise StepError(f"expected a list of numbers or of texts, got one with {' and '.join(sorted(kinds))}")
    return value


def key(value: Value, work: Work) -> str:
    """Return the canonical text of a value: two are equal where the values are."""
    return "".join(_counted(canonical_pieces(value), work))


def keys(values: Sequence[Value], work: Work) -> list[str]:
    """Return the canonical texts of values."""
    return [key(value, work) for value in values]


def _counted(pieces: Iterator[str], work: Work) -> Iterator[str]:
    for piece in pieces:
        work.spend(1)
        work.pass_over(len(piece))
        yield piece


def _regex(value: str, arguments: _Arguments, context: Context) -> str:
    pattern = compiled(arguments[0].text)
    found = pattern.search(value, context.work)
    if found is None:
        raise AbsentError("finds no match")
    if not pattern.has_group:
        return value[found.start : found.end]
    if found.group is None:
        raise AbsentError("finds a match in which the group takes no part")
    return value[slice(*found.group)]


def _regex_misuse(_: Shape, arguments: _Arguments) -> Misuse | None:
    if not isinstance(arguments[0].value, str):
        return Misuse("expected a pattern, so quote it", 0)
    try:
        compiled(arguments[0].text)
    except PatternError as error:
        return Misuse(f"the pattern {error} (at its character {error.position + 1})", 0)
    if compiled(arguments[0].text).is_nullable:
        return Misuse("the pattern may match an empty text, which tells nothing", 0)
    return None


def _gives(shape: Shape) -> Callable[[Shape, _Arguments], Shape]:
    return lambda *_: shape


def _same(shape: Shape, _: _Arguments) -> Shape:
    return shape


def _element(shape: Shape, _: _Arguments) -> Shape:
    return shape.part


def _ordered_element(shape: Shape, _: _Arguments) -> Shape:
    return Shape(shape.part.kinds & ORDERED)


def _ordered_list(shape: Shape, arguments: _Arguments) -> Shape:
    return Shape.of(LIST, element=_ordered_element(shape, arguments))


def _needs(kinds: frozenset[str], nouns: str) -> Callable[[Shape, _Arguments], Misuse | None]:
    """Return what refuses a list whose elements can be of none of these kinds."""
    return lambda shape, _: None if shape.part.kinds & kinds else Misuse(f"expected a list of {nouns}, got {shape}")


_A_LIST = frozenset({LIST})
_A_TEXT = frozenset({TEXT})
_SOURCES = frozenset({FILE, TEXT})
_RECORDS = Shape.of(LIST, element=Shape.of(OBJECT, element=Shape.of(TEXT)))
_NEEDS_ORDERED = _needs(ORDERED, "numbers or texts")

FUNCTIONS: dict[str, Function] = {
    "raw": Function(frozenset({FILE}), _gives(Shape.of(TEXT)), _raw),
    "text": Function(_SOURCES, _gives(Shape.of(TEXT)), _text),
    "json": Function(_SOURCES, _gives(ANYTHING), _json),
    "csv": Function(_SOURCES, _gives(_RECORDS), _csv),
    "get": Function(frozenset({LIST, OBJECT}), _get_shape, _get, 1, 2, _get_misuse),
    "len": Function(frozenset({TEXT, LIST, OBJECT}), _gives(Shape.of(NUMBER)), _len),
    # Whoever runs the chain goes on with each element by itself.
    "foreach": Function(_A_LIST, _element, _itself),
    "number": Function(frozenset({TEXT, NUMBER}), _gives(Shape.of(NUMBER)), _number),
    "date": Function(_A_TEXT, _gives(Shape.of(DATE)), _date),
    "lower": Function(_A_TEXT, _gives(Shape.of(TEXT)), _lower),
    "sort": Function(_A_LIST, _ordered_list, _sort, misuse=_NEEDS_ORDERED),
    "unique": Function(_A_LIST, _same, _unique),
    "first": Function(_A_LIST, _element, _first),
    "last": Function(_A_LIST, _element, _last),
    "sum": Function(_A_LIST, _gives(Shape.of(NUMBER)), _sum, misuse=_needs(frozenset({NUMBER}), "numbers")),
    "min": Function(_A_LIST, _ordered_element, _min, misuse=_NEEDS_ORDERED),
    "max": Function(_A_LIST, _ordered_element, _max, misuse=_NEEDS_ORDERED),
    "count": Function(_A_LIST, _gives(Shape.of(NUMBER)), _count, 1, 1),
    "regex": Function(_A_TEXT, _gives(Shape.of(TEXT)), _regex, 1, 1, _regex_misuse),
}
