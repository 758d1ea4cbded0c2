"""Declared types, casts, `as`, and the methods that convert."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from perdure.dialects.groovy.prelude.failures import class_name, failure, no_method
from perdure.dialects.groovy.prelude.numbers import is_number
from perdure.dialects.groovy.prelude.text import text


def bad_cast(value: Any, wanted: str) -> RuntimeError:
    told = "Cannot cast object '" + text(value) + "' with class '" + class_name(value) + "' to class '" + wanted + "'"
    return failure("GroovyCastException", told)


def cast_text(value: Any) -> str | None:
    return None if value is None else text(value)


def cast_int(value: Any) -> int:
    """Into a primitive: null does not fit."""
    if not is_number(value):
        raise bad_cast(value, "int")
    return int(value)


def cast_integer(value: Any) -> int | None:
    return None if value is None else cast_int(value)


def cast_double(value: Any) -> float:
    if not is_number(value):
        raise bad_cast(value, "double")
    return float(value)


def cast_float(value: Any) -> float | None:
    return None if value is None else cast_double(value)


def cast_decimal(value: Any) -> Decimal | None:
    if value is None or isinstance(value, Decimal):
        return value
    if not is_number(value):
        raise bad_cast(value, "BigDecimal")
    return Decimal(repr(value))


def cast_number(value: Any) -> Any:
    if value is not None and not is_number(value):
        raise bad_cast(value, "Number")
    return value


def cast_boolean(value: Any) -> bool | None:
    return None if value is None else bool(value)


def cast_list(value: Any) -> Any:
    if value is not None and not isinstance(value, list):
        raise bad_cast(value, "List")
    return value


def cast_map(value: Any) -> Any:
    if value is not None and not isinstance(value, dict):
        raise bad_cast(value, "Map")
    return value


def as_int(value: Any) -> int:
    return read_integer(value) if isinstance(value, str) else cast_int(value)


def as_integer(value: Any) -> int | None:
    return None if value is None else as_int(value)


def as_double(value: Any) -> float:
    return float(read_decimal(value)) if isinstance(value, str) else cast_double(value)


def as_float(value: Any) -> float | None:
    return None if value is None else as_double(value)


def as_decimal(value: Any) -> Decimal | None:
    return read_decimal(value) if isinstance(value, str) else cast_decimal(value)


def as_list(value: Any) -> Any:
    return list(value) if isinstance(value, str) else cast_list(value)


def read_integer(source: str) -> int:
    digits = source.strip()
    unsigned = digits[1:] if digits[:1] in ("-", "+") else digits
    if not unsigned.isdigit() or not unsigned.isascii():
        raise failure("NumberFormatException", 'For input string: "' + source + '"')
    return int(digits)


def read_decimal(source: str) -> Decimal:
    number = source.strip()
    if not number or any([character not in "0123456789+-.eE" for character in number]):  # noqa: C419
        raise failure("NumberFormatException", 'For input string: "' + source + '"')
    try:
        return Decimal(number)
    except ArithmeticError:
        raise failure("NumberFormatException", 'For input string: "' + source + '"') from None


def to_integer(value: Any) -> int:
    """`toInteger()`, `toLong()`, `intValue()`"""
    if value is None or not (is_number(value) or isinstance(value, str)):
        raise no_method(value, "toInteger")
    return as_int(value)


def to_float(value: Any) -> float:
    if value is None or not (is_number(value) or isinstance(value, str)):
        raise no_method(value, "toDouble")
    return as_double(value)


def to_decimal(value: Any) -> Any:
    if value is None or not (is_number(value) or isinstance(value, str)):
        raise no_method(value, "toBigDecimal")
    return as_decimal(value)


def new_decimal(value: Any) -> Any:
    """`new BigDecimal(…)`"""
    if value is None or isinstance(value, bool):
        raise bad_cast(value, "BigDecimal")
    return as_decimal(value)


def to_boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if not isinstance(value, str):
        raise no_method(value, "toBoolean")
    return value.strip().lower() in ("true", "y", "1")


def parsed_boolean(value: Any) -> bool:
    """Boolean.parseBoolean, Boolean.valueOf"""
    return value is True or (isinstance(value, str) and value.lower() == "true")


def is_integer_text(value: Any) -> bool:
    if not isinstance(value, str):
        raise no_method(value, "isInteger")
    try:
        read_integer(value)
    except RuntimeError:
        return False
    return True


def is_number_text(value: Any) -> bool:
    if not isinstance(value, str):
        raise no_method(value, "isNumber")
    try:
        read_decimal(value)
    except RuntimeError:
        return False
    return True


def instance_of(value: Any, kind: str) -> bool:
    """JSON does not say which of Java's integers one is; the smallest that holds it, as Jackson does."""
    if "integer" in kind:
        if not isinstance(value, int) or isinstance(value, bool):
            return False
        size = abs(value + (value < 0))
        return kind == ("small integer" if size < 2**31 else "large integer" if size < 2**63 else "huge integer")
    if kind == "number":
        return is_number(value)
    if kind == "object":
        return value is not None
    if isinstance(value, datetime):
        return kind == "date"
    kinds = {
        "text": str, "boolean": bool, "float": float, "decimal": Decimal, "list": list, "map": dict, "entry": tuple,
    }  # fmt: skip
    return kind in kinds and isinstance(value, kinds[kind])
