"""Durations as people write them, and moments as the engine counts them: whole microseconds, UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

SECOND = 1_000_000
LONGEST = 100 * 366 * 24 * 3600 * SECOND
"""A hundred years: longer durations are taken for mistakes."""

_LONGEST_TEXT = 64
_UNITS = {"ms": 1_000, "s": SECOND, "m": 60 * SECOND, "h": 3600 * SECOND, "d": 86_400 * SECOND, "w": 604_800 * SECOND}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)\s*", re.ASCII)
_ISO = re.compile(r"P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.ASCII)


def parse_duration(value: str | int | float) -> int:
    """Microseconds of "90s", "1h30m", "PT5M" or a number of seconds. Raises ValueError."""
    if isinstance(value, bool):
        raise ValueError("a duration is a number of seconds or a text like '30s', '5m', '2d' or 'PT1H'")
    if isinstance(value, int | float):
        if isinstance(value, float) and not isfinite(value):
            raise ValueError("a duration must be finite")
        found = round(value * SECOND) if abs(value) < LONGEST else LONGEST + 1 if value > 0 else -1
    else:
        found = _parse_text(value.strip())
    if found < 0:
        raise ValueError("a duration cannot be negative")
    if found > LONGEST:
        raise ValueError("a duration of more than 100 years")
    return found


def _parse_text(text: str) -> int:
    if len(text) > _LONGEST_TEXT:
        raise ValueError(f"a duration written in more than {_LONGEST_TEXT} characters")
    if iso := _ISO.fullmatch(text):
        if any(iso.groups()) and not text.endswith("T"):
            sizes = (_UNITS["w"], _UNITS["d"], _UNITS["h"], _UNITS["m"], SECOND)
            return round(sum(float(part) * size for part, size in zip(iso.groups(), sizes, strict=True) if part))
    elif text and _PART.sub("", text) == "":
        return round(sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text)))
    elif re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII):
        return round(float(text) * SECOND)
    raise ValueError(f"{text!r} is no duration; write '30s', '5m', '1h30m', '2d', '1w' or 'PT1H30M'")


def _check(value: object) -> object:
    if isinstance(value, str | int | float):
        parse_duration(value)
        return value
    raise ValueError("a duration is a number of seconds or a text like '30s'")


Duration = Annotated[
    str | int | float,
    BeforeValidator(_check),
    Field(description="Seconds, or text like 30s, 5m, 1h30m, 2d, PT1H."),
    WithJsonSchema(
        {
            "anyOf": [{"type": "string", "examples": ["30s", "5m", "2d"]}, {"type": "number", "minimum": 0}],
            "x-perdure": "duration",
        }
    ),
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_moment(moment: datetime) -> int:
    """Microseconds since 1970 of an aware datetime."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def from_moment(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


def iso(micros: int) -> str:
    """2025-12-25T15:00:00Z, with a fraction only where there is one."""
    text = from_moment(micros).isoformat()
    return text.replace("+00:00", "Z")
