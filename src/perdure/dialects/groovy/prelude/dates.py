"""Dates. The clock is the run's, the zone is UTC."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from perdure.dialects.groovy.prelude.failures import bad_argument, failure, no_method

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def now() -> datetime:
    moment = datetime.now(timezone.utc)  # noqa: UP017  (the sandbox has no datetime.UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def millis(date: datetime) -> int:
    return (date - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1)  # noqa: UP017


def date_of(value: Any) -> datetime:
    if not isinstance(value, int) or isinstance(value, bool):
        raise bad_argument("Date", "new Date", value)
    try:
        return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=value)  # noqa: UP017
    except OverflowError:
        raise failure("IllegalArgumentException", "there is no date with the time " + str(value)) from None


def time_of(value: Any) -> int:
    if not isinstance(value, datetime):
        raise no_method(value, "getTime")
    return millis(value)


def days_later(date: datetime, days: Any) -> datetime:
    return date_of(millis(date) + days * 86400000)


def date_text(date: datetime) -> str:
    return format_date(date, "EEE MMM dd HH:mm:ss z yyyy")


def is_before(date: Any, other: Any) -> bool:
    if not isinstance(date, datetime):
        raise no_method(date, "before")
    if not isinstance(other, datetime):
        raise bad_argument(date, "before", other)
    return date < other


def is_after(date: Any, other: Any) -> bool:
    if not isinstance(date, datetime):
        raise no_method(date, "after")
    if not isinstance(other, datetime):
        raise bad_argument(date, "after", other)
    return date > other


def format_date(date: Any, pattern: Any) -> str:
    """With a pattern of SimpleDateFormat: yyyy-MM-dd'T'HH:mm:ss.SSSZ"""
    if not isinstance(date, datetime):
        raise no_method(date, "format")
    if not isinstance(pattern, str):
        raise bad_argument(date, "format", pattern)
    pieces = []
    at = 0
    while at < len(pattern):
        letter = pattern[at]
        end = at + 1
        if letter == "'":
            end = (pattern.find("'", end) + 1) or len(pattern) + 1
            pieces.append(pattern[at + 1 : end - 1] or "'")
        elif ("a" <= letter <= "z") or ("A" <= letter <= "Z"):
            while end < len(pattern) and pattern[end] == letter:
                end += 1
            pieces.append(date_field(date, letter, end - at))
        else:
            pieces.append(letter)
        at = end
    return "".join(pieces)


def date_field(date: datetime, letter: str, width: int) -> str:
    numbers = {
        "d": date.day, "H": date.hour, "h": date.hour % 12 or 12, "m": date.minute, "s": date.second,
        "S": date.microsecond // 1000, "u": date.weekday() + 1,
    }  # fmt: skip
    if letter in numbers:
        return str(numbers[letter]).zfill(width)
    if letter == "y":
        return str(date.year % 100).zfill(2) if width == 2 else str(date.year).zfill(width)
    if letter == "M":
        name = MONTHS[date.month - 1]
        return (name if width > 3 else name[:3]) if width > 2 else str(date.month).zfill(width)
    if letter == "E":
        name = WEEKDAYS[date.weekday()]
        return name if width > 3 else name[:3]
    if letter == "a":
        return "AM" if date.hour < 12 else "PM"
    if letter in "zZX":
        return {"z": "UTC", "Z": "+0000", "X": "Z"}[letter]
    raise failure("IllegalArgumentException", "Illegal pattern character '" + letter + "'")
