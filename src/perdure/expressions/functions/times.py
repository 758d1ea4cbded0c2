"""Times, without a clock: text in ISO 8601 to seconds since 1970 and back. UTC unless the text says otherwise.

The moment *now* is data of the run, never a function: an expression gives the same answer whenever it is evaluated.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from perdure.errors import ExpressionFailed
from perdure.expressions.functions.numbers import as_number
from perdure.expressions.functions.table import Functions
from perdure.expressions.functions.texts import as_text
from perdure.expressions.limits import Meter, spend, spend_text

FUNCTIONS = Functions()

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DURATION: Final = re.compile(
    r"(-)?P(?:(\d{1,9}(?:\.\d{1,9})?)W)?(?:(\d{1,9}(?:\.\d{1,9})?)D)?"
    r"(?:T(?:(\d{1,9}(?:\.\d{1,9})?)H)?(?:(\d{1,9}(?:\.\d{1,9})?)M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?",
    re.ASCII,
)
_SHORT: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?(ms|s|m|h|d|w)", re.ASCII)
_UNITS: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


_PRICE: Final = 30  # units of work: calendars are slow


def _moment(meter: Meter, time: Any) -> datetime:
    """A moment from ISO 8601 text or from seconds since 1970."""
    spend(meter, _PRICE)
    try:
        if not isinstance(time, str):
            return _EPOCH + timedelta(seconds=as_number(time))
        spend_text(meter, len(time))
        text = time.strip()
        if len(text) > 40 or not text.isascii():
            raise ValueError
        found = datetime.fromisoformat(text)
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise ExpressionFailed("this is not a time in ISO 8601, such as 2026-03-08T09:30:00Z") from None


def _plain(seconds: float) -> float:
    return int(seconds) if seconds == int(seconds) else seconds


@FUNCTIONS.add(
    "timestamp",
    "Seconds since 1970 of a time in ISO 8601; such numbers can be compared and subtracted. Without a zone it is UTC.",
    ("timestamp('2026-03-08T09:30:00Z')", "1772962200"),
    ("timestamp('2026-03-08') < timestamp('2026-03-08 10:00:00+01:00')", "true"),
)
def timestamp(meter: Meter, time: Any) -> float:
    distance = _moment(meter, time) - _EPOCH
    if distance.microseconds:
        return distance.total_seconds()
    return distance.days * 86_400 + distance.seconds


@FUNCTIONS.add(
    "iso",
    "The time in ISO 8601, in UTC, of seconds since 1970 (or of such text in another zone).",
    ("iso(1772962200)", '"2026-03-08T09:30:00Z"'),
    ("iso(timestamp('2026-03-08T09:30:00Z') + duration('P1DT30M'))", '"2026-03-09T10:00:00Z"'),
)
def iso(meter: Meter, time: Any) -> str:
    return _moment(meter, time).isoformat().replace("+00:00", "Z")


@FUNCTIONS.add(
    "duration",
    "The seconds of a duration in ISO 8601 (weeks to seconds), or of a short one: ms, s, m, h, d, w.",
    ("duration('P1DT2H')", "93600"),
    ("duration('1.5h')", "5400"),
)
def duration(meter: Meter, text: Any) -> float:
    spend(meter, _PRICE)
    spend_text(meter, len(as_text(text)))
    plain = as_text(text).strip()
    if short := _SHORT.fullmatch(plain):
        return _plain(round(float(short[1]) * _UNITS[short[2]], 9))
    found = _DURATION.fullmatch(plain)
    if found is None or plain[-1] in "PT":
        raise ExpressionFailed("this is not a duration, such as P1DT2H30M or 90m")
    parts = [float(each or 0) for each in found.groups()[1:]]
    seconds = sum(part * unit for part, unit in zip(parts, (604_800, 86_400, 3_600, 60, 1), strict=True))
    return _plain(-seconds if found[1] else seconds)


@FUNCTIONS.add(
    "format_time",
    "The time written after a pattern of %Y %y %m %d %H %I %M %S %p %j %A %a %B %b %%; English names, UTC.",
    ("format_time('2026-03-08T09:30:00Z', '%d %B %Y, %H:%M')", '"08 March 2026, 09:30"'),
    ("format_time(0, '%a %I %p')", '"Thu 12 AM"'),
)
def format_time(meter: Meter, time: Any, pattern: Any) -> str:
    moment = _moment(meter, time)
    pieces = as_text(pattern).split("%")
    if len(pattern) > 200:
        raise ExpressionFailed("a time pattern has at most 200 characters")
    spend(meter, len(pieces) * 2 * _PRICE)
    written = [pieces[0]]
    rest = iter(pieces[1:])
    for piece in rest:
        if piece == "":  # «%%» leaves an empty piece behind
            written.append("%" + next(rest, ""))
            continue
        written.append(_directive(moment, piece[0]) + piece[1:])
    return "".join(written)


def _directive(moment: datetime, letter: str) -> str:
    month, day = _MONTHS[moment.month - 1], _DAYS[moment.weekday()]
    written = {
        "Y": f"{moment.year:04d}",
        "y": f"{moment.year % 100:02d}",
        "m": f"{moment.month:02d}",
        "d": f"{moment.day:02d}",
        "H": f"{moment.hour:02d}",
        "I": f"{(moment.hour - 1) % 12 + 1:02d}",
        "M": f"{moment.minute:02d}",
        "S": f"{moment.second:02d}",
        "p": "AM" if moment.hour < 12 else "PM",
        "j": f"{moment.timetuple().tm_yday:03d}",
        "A": day,
        "a": day[:3],
        "B": month,
        "b": month[:3],
    }.get(letter)
    if written is None:
        raise ExpressionFailed(f"%{letter} is not part of a time pattern")
    return written
