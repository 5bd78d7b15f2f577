"""ISO 8601 dates and times, read alike on every Python.

`datetime.fromisoformat` accepts different texts on different versions. This reader accepts, on all of them, exactly
what it accepts on CPython 3.11, corners included: any one character may stand between date and time, a fraction may
follow any field and is cut after six digits, offset minutes may exceed 59, and stray characters in front of an offset
are in a few places passed over.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta, timezone, tzinfo

_CALENDAR_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})|([0-9]{4})([0-9]{2})([0-9]{2})")
# With a hyphen and two digits behind the week, the hyphen is the separator and the digits are the hour.
_EXTENDED_WEEK_DATE = re.compile(r"([0-9]{4})-W([0-9]{2})(?:-([0-9])(?![0-9]))?")
_BASIC_WEEK_DATE = re.compile(r"([0-9]{4})W([0-9]{2})([0-9]*)")
_CLOCK_FIELDS = re.compile(r"([0-9]{2})(?:(:?)([0-9]{2})(?:\2([0-9]{2}))?)?")
_OFFSET_SIGN = re.compile(r"[+-]")
_FRACTION = re.compile(r"([0-9]{1,6})[0-9]*")


def parse(text: str) -> datetime:
    """Return the date-time that `text` spells: aware when it has an offset, midnight when it is a bare date.

    An upper-case `Z` means `+00:00` wherever it stands. Raises ValueError when `text` is not such a date-time, names a
    day, time or offset that does not exist, or has 24 as its hour.
    """
    text = text.replace("Z", "+00:00")
    day, rest = _split_date(text)
    if not rest:
        return datetime.combine(day, time())
    clock = rest[1:]
    sign = _OFFSET_SIGN.search(clock)
    if sign is None:
        return datetime.combine(day, time(*_read_clock(clock)))
    fields = _read_clock(clock[: sign.start()], before_offset=True)
    offset = _read_offset(sign.group(), clock[sign.end() :])
    return datetime.combine(day, time(*fields, tzinfo=offset))


def _split_date(text: str) -> tuple[date, str]:
    if match := _CALENDAR_DATE.match(text):
        year, month, day = (int(field) for field in match.groups() if field is not None)
        return date(year, month, day), text[match.end() :]
    if match := _EXTENDED_WEEK_DATE.match(text):
        return _week_date(match[1], match[2], match[3]), text[match.end() :]
    if match := _BASIC_WEEK_DATE.match(text):
        # Clock fields come in pairs, so the parity of the digits says whether the first of them is the day of the week.
        digits = len(match[3])
        has_day = digits == 1 or (digits > 1 and digits % 2 == 0)
        return _week_date(match[1], match[2], match[3][:1] if has_day else None), text[7 + has_day :]
    raise ValueError("no date in front")


def _week_date(year: str, week: str, day: str | None) -> date:
    return date.fromisocalendar(int(year), int(week), int(day or 1))


def _read_clock(text: str, before_offset: bool = False) -> tuple[int, int, int, int]:
    """Return hour, minute, second and microsecond of a whole clock text; ranges are left to the caller."""
    match = _CLOCK_FIELDS.match(text)
    if match is None:
        raise ValueError("no hour")
    hour, colon, minute, second = match.groups()
    microsecond = _read_fraction(text[match.end() :], colon, second is not None, before_offset)
    return int(hour), int(minute or 0), int(second or 0), microsecond


def _read_fraction(rest: str, colon: str | None, has_second: bool, before_offset: bool) -> int:
    """Return the microseconds in what stands behind the last two-digit field of a clock text."""
    if not rest:
        return 0
    if len(rest) == 1:
        if before_offset and rest.isascii():
            return 0
        raise ValueError("one character too many")
    if rest[0] in ".," or (rest[0] == ":" and colon == ":" and has_second):
        digits, start = rest, 1
    elif colon == "" and has_second:
        digits, start = rest, 0
    else:
        raise ValueError("malformed clock")
    match = _FRACTION.match(digits, start)
    if match is None:
        raise ValueError("malformed fraction")
    passed_over = before_offset and len(match[1]) == 6
    if match.end() != len(digits) and not passed_over:
        raise ValueError("malformed fraction")
    return int(match[1].ljust(6, "0"))


def _read_offset(sign: str, text: str) -> tzinfo:
    hours, minutes, seconds, microseconds = _read_clock(text)
    whole = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if not whole:
        return timezone.utc
    offset = whole + timedelta(microseconds=microseconds)
    return timezone(-offset if sign == "-" else offset)
