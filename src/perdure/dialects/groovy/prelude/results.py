"""What leaves the script: JSON."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from typing import Any

from perdure.dialects.groovy.prelude.dates import format_date, millis
from perdure.dialects.groovy.prelude.failures import bad_argument, failure
from perdure.dialects.groovy.prelude.text import text


def as_json(value: Any, depth: int = 0) -> Any:
    """A decimal as a number, a date as its milliseconds, an entry as a map, every key as text."""
    if depth > 100:
        raise failure("StackOverflowError", "the result holds itself, or is more than 100 levels deep")
    if isinstance(value, list):
        return [as_json(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {text(key): as_json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, Decimal):
        return json_number(value)
    if isinstance(value, tuple):
        return {text(value[0]): as_json(value[1], depth + 1)}
    if isinstance(value, datetime):
        return millis(value)
    if isinstance(value, Exception):
        return text(value)
    if isinstance(value, float) and value - value != 0:
        raise failure("ArithmeticException", text(value) + " is no number of JSON")
    return value


def json_number(value: Decimal) -> Any:
    return int(value) if value.as_tuple().exponent == 0 else float(value)


def to_json(value: Any) -> str:
    """JsonOutput.toJson"""
    return json.dumps(json_ready(value), separators=(",", ":"))


def json_ready(value: Any, depth: int = 0) -> Any:
    """As JsonOutput has it: a date is text."""
    if isinstance(value, datetime):
        return format_date(value, "yyyy-MM-dd'T'HH:mm:ssZ")
    if isinstance(value, list) and depth <= 100:
        return [json_ready(item, depth + 1) for item in value]
    if isinstance(value, dict) and depth <= 100:
        return {text(key): json_ready(item, depth + 1) for key, item in value.items()}
    return as_json(value, depth)


def parse_json(source: Any) -> Any:
    """JsonSlurper.parseText"""
    if not isinstance(source, str):
        raise bad_argument("JsonSlurper", "parseText", source)
    if not source.strip():
        raise failure("IllegalArgumentException", "Text must not be null or empty")
    try:
        return json.loads(source)
    except ValueError as error:
        raise failure("JsonException", str(error)) from None
