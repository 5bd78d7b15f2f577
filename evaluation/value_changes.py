"""Changes to the cells of one column that undo a common mistake.

Each is tried on a column of gold and the column of the prediction that stands for it; whoever tries it compares the
columns again. A change that would alter nothing is not offered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal, InvalidOperation
from functools import partial
from typing import NamedTuple

from .cells import BooleanRule, DateRule, DatetimeRule, NumberRule, Rule, TextRule
from .errors import CellError

Texts = Sequence[str]
_Change = Callable[[str], str]
_Apply = Callable[[str, str, _Change], "Iterator[ValueChange]"]

_NULL_WORDS = frozenset(
    {
        "n/a",
        "na",
        "#n/a",
        "-",
        "--",
        "—",
        "null",
        "none",
        "nil",
        "nan",
        "<null>",
        "(null)",
        "\\n",
        "undefined",
        "missing",
    }
)
_AFFIXES = re.compile(r"^[^\d.,+-]+(?=[\d.,+-])|(?<=[\d.,])[^\d.,]+$")
_DECIMAL_COMMA = re.compile(r"[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?")
_PLAIN = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)")
_OFFSET = re.compile(r"(?<=\d)(?:[Zz]|[+-]\d\d:?\d\d)$")
_ISO_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_DAY_FORMATS = (
    *("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y年%m月%d日"),
    *("%B %d, %Y", "%b %d, %Y", "%B %d %Y", "%b %d %Y", "%d %B %Y", "%d %b %Y", "%d-%b-%Y"),
)
_TIME_FORMATS = ("", " %H:%M", " %H:%M:%S", ", %H:%M", "T%H:%M:%S", " %I:%M %p")
_DIRECTIVES = (
    *(("%d", "DD"), ("%m", "MM"), ("%Y", "YYYY"), ("%B", "Month"), ("%b", "Mon")),
    *(("%H", "hh"), ("%I", "hh"), ("%M", "mm"), ("%S", "ss"), ("%p", "AM")),
)
# More digits than any cell that a person would compare by eye.
_MOST_DIGITS = 60
# No number, date or Boolean that a person would write is longer.
_MOST_CHARACTERS = 1_000
_CONTEXT = Context(prec=2 * _MOST_DIGITS)


class ValueChange(NamedTuple):
    """Both columns after a change, the rule that then reads them, and what the change says of the prediction.

    `message` follows the name of the column.
    """

    code: str
    message: str
    gold: Texts
    prediction: Texts
    rule: Rule


def value_changes(
    rule: Rule, gold: Texts, prediction: Texts, wanted: Collection[str] | None = None
) -> Iterator[ValueChange]:
    """Yield the changes that may make the two columns equal under the rule, the likeliest first.

    With `wanted`, messages that were yielded for some of the cells, others are not tried where that takes long.
    """
    if not isinstance(rule, TextRule) and max(map(len, prediction), default=0) > _MOST_CHARACTERS:
        return
    apply = partial(_of_prediction, rule, gold, prediction, wanted)
    word = next((text.strip() for text in prediction if text.strip().casefold() in _NULL_WORDS), "")
    yield from apply("null_spelling", f"spells null as {word!r}", _without_null_word)
    if isinstance(rule, NumberRule):
        yield from _number_changes(rule, apply)
        if rule.mode != "integer":
            yield from _rounding_changes(gold, prediction)
    elif isinstance(rule, (DateRule, DatetimeRule)):
        yield from _moment_changes(prediction, apply)
        if isinstance(rule, DatetimeRule):
            yield from _shifted(rule, gold, prediction, apply)
    elif isinstance(rule, TextRule):
        for code, message, change in (
            ("letter_case", "differs in letter case only", str.casefold),
            ("inner_whitespace", "differs in white space inside the cells only", _with_single_spaces),
            ("leading_zeros", "differs in leading zeros only", _without_leading_zeros),
            ("number_format", "differs in a decimal point only, as in 7.0 for 7", _without_decimal_point),
        ):
            yield ValueChange(code, message, list(map(change, gold)), list(map(change, prediction)), rule)
    else:
        assert isinstance(rule, BooleanRule), "there are no other rules"


def _of_prediction(
    rule: Rule,
    gold: Texts,
    prediction: Texts,
    wanted: Collection[str] | None,
    code: str,
    message: str,
    change: _Change,
) -> Iterator[ValueChange]:
    """Yield the change of the prediction alone, unless it alters nothing or cannot be made."""
    if wanted is not None and message not in wanted:
        return
    try:
        changed = list(map(change, prediction))
    except (ValueError, InvalidOperation, OverflowError):
        return
    if changed != list(prediction):
        yield ValueChange(code, message, gold, changed, rule)


def _without_null_word(text: str) -> str:
    return "" if text.strip().casefold() in _NULL_WORDS else text


def _with_single_spaces(text: str) -> str:
    return " ".join(text.split())


def _without_leading_zeros(text: str) -> str:
    stripped = text.strip()
    return stripped.lstrip("0") or "0" if stripped.isdigit() else text


def _without_decimal_point(text: str) -> str:
    stripped = text.strip()
    whole = stripped.removesuffix(".0")
    return whole if whole.isdigit() else text


def _number_changes(rule: NumberRule, apply: _Apply) -> Iterator[ValueChange]:
    yield from apply("number_format", "is written with percent signs", _without_percent_sign)
    yield from apply("scale", "is written in percent, with percent signs, not as a fraction", _of_percent)
    written = "is written with a currency, a unit or another separator"
    yield from apply("number_format", written, _bare_number)
    yield from apply("number_format", "has decimal commas", lambda text: _with_decimal_point(_bare_number(text)))
    yield from apply("scale", "is 100 times too large", lambda text: _scaled(text, -2))
    yield from apply("scale", "is 100 times too small", lambda text: _scaled(text, 2))
    if rule.mode == "integer":
        yield from apply("rounding", "has digits after the point, and is right once rounded", _rounded_to_integer)


def _rounded_to_integer(text: str) -> str:
    plain = text.strip().replace(",", "")
    return format(_decimal(plain).quantize(Decimal(1), ROUND_HALF_UP, _CONTEXT), "f") if plain else text


def _without_percent_sign(text: str) -> str:
    """Return what is before a percent sign; a null stays, a number without one raises ValueError."""
    stripped = text.strip()
    if stripped and not stripped.endswith("%"):
        raise ValueError("no percent sign")
    return stripped.removesuffix("%").rstrip()


def _of_percent(text: str) -> str:
    return _scaled(_without_percent_sign(text), -2)


def _bare_number(text: str) -> str:
    """Return a number without what stands before and behind it, and without spaces and quotes between its digits."""
    compact = "".join(
        character for character in text if not character.isspace() and character not in "'’_" and character != "\u202f"
    )
    return _AFFIXES.sub("", _AFFIXES.sub("", compact)) if any(map(str.isdigit, compact)) else text


def _with_decimal_point(text: str) -> str:
    return text.replace(".", "").replace(",", ".") if _DECIMAL_COMMA.fullmatch(text) else text


def _scaled(text: str, places: int) -> str:
    """Return a plain number times a power of ten; a null stays, whatever else raises ValueError."""
    plain = text.strip().removesuffix("%").strip().replace(",", "")
    if not plain:
        return text
    return format(_decimal(plain).scaleb(places, _CONTEXT), "f")


def _decimal(text: str) -> Decimal:
    if len(text) > _MOST_DIGITS or not _PLAIN.fullmatch(text):
        raise ValueError("no plain number")
    return Decimal(text)


def _rounding_changes(gold: Texts, prediction: Texts) -> Iterator[ValueChange]:
    """Yield what makes gold as short as the prediction is: rounding, and cutting digits off."""
    plain = [text.strip().replace(",", "") for text in prediction]
    if not all(not text or _PLAIN.fullmatch(text) for text in plain):
        return
    digits = _digits_after_point(plain)
    if digits >= _digits_after_point(gold):
        return
    # A single digit agrees with too much to mean anything.
    if digits > 30 or max((len(text.replace(".", "").strip("+-0")) for text in plain), default=0) < 2:
        return
    rule = NumberRule("decimal_places", digits)
    shown = f"{digits} digits" if digits != 1 else "1 digit"
    only = f"has only {shown} after the point" if digits else "has no digits after the point"
    yield ValueChange("rounding", f"{only}, and agrees with gold as far as it goes", gold, prediction, rule)
    try:
        cut = [_truncated(text, digits) for text in gold]
    except (ValueError, InvalidOperation):
        return
    yield ValueChange(
        "rounding", f"is cut off after {shown if digits else 'the point'}, not rounded", cut, prediction, rule
    )


def _digits_after_point(texts: Texts) -> int:
    return max((len(text.partition(".")[2]) for text in texts), default=0)


def _truncated(text: str, digits: int) -> str:
    plain = text.strip().replace(",", "")
    if not plain:
        return text
    return format(_decimal(plain).quantize(Decimal(1).scaleb(-digits), ROUND_DOWN, _CONTEXT), "f")


def _moment_changes(prediction: Texts, apply: _Apply) -> Iterator[ValueChange]:
    yield from apply("date_format", "has day and month swapped", _with_day_and_month_swapped)
    for day in _DAY_FORMATS:
        if not all(_may_be(day, text) for text in prediction[:1] if not _ISO_DAY.match(text.strip())):
            continue
        for time in _TIME_FORMATS:
            message = f"is written as {_spelled(day + time)}, not as an ISO 8601 date"
            yield from apply("date_format", message, partial(_from_format, format=day + time))
    yield from apply("time_zone", "has a UTC offset where gold has none", lambda text: _OFFSET.sub("", text.strip()))
    yield from apply("time_zone", "has no UTC offset where gold is in UTC", _in_utc)


def _spelled(format: str) -> str:
    """Return a format as a person would write it, such as MM/DD/YYYY."""
    for directive, letters in _DIRECTIVES:
        format = format.replace(directive, letters)
    return format


def _may_be(day: str, text: str) -> bool:
    """Return whether the text has the separators of a format."""
    separators = {character for character in day if not character.isalnum() and character not in "% "}
    return not text.strip() or all(separator in text for separator in separators)


def _from_format(text: str, format: str) -> str:
    # Some of the cells may be right.
    if not text.strip() or _ISO_DAY.match(text.strip()):
        return text
    return datetime.strptime(text.strip(), format).isoformat()


def _with_day_and_month_swapped(text: str) -> str:
    return _ISO_DAY.sub(r"\1-\3-\2", text, count=1)


def _in_utc(text: str) -> str:
    stripped = text.strip()
    return f"{stripped}Z" if stripped and not _OFFSET.search(stripped) else text


def _shifted(rule: Rule, gold: Texts, prediction: Texts, apply: _Apply) -> Iterator[ValueChange]:
    """Yield the prediction moved by the difference of the earliest moments, where that is a time zone's."""
    try:
        ours, theirs = ([rule.canonical(text) for text in texts] for texts in (gold, prediction))
    except CellError:
        return
    starts = [min((value for value in side if value is not None), default=None) for side in (ours, theirs)]
    if None in starts or len({str(start).endswith("Z") for start in starts}) != 1:
        return
    first, other = (datetime.fromisoformat(str(start).removesuffix("Z")) for start in starts)
    offset = first - other
    if not timedelta() < abs(offset) <= timedelta(hours=14) or offset % timedelta(minutes=15):
        return
    hours = -offset / timedelta(hours=1)
    message = f"is {abs(hours):g} hours {'ahead of' if hours > 0 else 'behind'} gold, as in another time zone"

    def moved(text: str) -> str:
        value = rule.canonical(text)
        if value is None:
            return text
        zone = "Z" if value.endswith("Z") else ""
        return (datetime.fromisoformat(value.removesuffix("Z")) + offset).isoformat() + zone

    yield from apply("time_zone", message, moved)


def is_index(texts: tuple[str, ...]) -> bool:
    """Return whether a column counts its rows, from 0 or from 1."""
    return texts[:1] in (("0",), ("1",)) and all(
        text == str(number) for number, text in enumerate(texts, start=int(texts[0]))
    )
