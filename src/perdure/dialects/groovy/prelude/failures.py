"""Errors, told as Groovy tells them: "NullPointerException: Cannot get property 'x' on null object"."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

CLASSES = (
    (str, "String"), (int, "Integer"), (float, "Double"), (Decimal, "BigDecimal"), (list, "List"), (dict, "Map"),
    (tuple, "Map.Entry"), (Exception, "Exception"),
)  # fmt: skip


def failure(kind: str, message: str | None) -> RuntimeError:
    return RuntimeError(kind if message is None else kind + ": " + message)


def kind_of(error: Exception) -> str:
    """The class of a caught error, as Groovy would name it."""
    if isinstance(error, RecursionError):
        return "StackOverflowError"
    if isinstance(error, RuntimeError):
        return str(error).split(":", 1)[0]
    if isinstance(error, NameError):
        return "MissingPropertyException"
    if isinstance(error, ArithmeticError):
        return "ArithmeticException"
    return "RuntimeException"


def message_of(error: Exception) -> str | None:
    if isinstance(error, RuntimeError) and not isinstance(error, RecursionError):
        parts = str(error).split(": ", 1)
        return parts[1] if len(parts) > 1 else None
    return str(error)


def thrown(value: Any) -> Exception:
    """What `throw` throws."""
    if isinstance(value, Exception):
        return value
    return failure("GroovyCastException", "only an exception can be thrown, not a " + class_name(value))


def class_name(value: Any) -> str:
    if isinstance(value, datetime):
        return "Date"
    if isinstance(value, bool):
        return "Boolean"
    for kind, name in CLASSES:
        if isinstance(value, kind):
            return name
    return "null"


def no_method(value: Any, name: str) -> RuntimeError:
    if value is None:
        return failure("NullPointerException", "Cannot invoke method " + name + "() on null object")
    return failure("MissingMethodException", "No such method: " + name + "() for class: " + class_name(value))


def bad_argument(value: Any, name: str, argument: Any) -> RuntimeError:
    if argument is None:
        return failure("NullPointerException", "the argument of " + name + "() is null")
    told = "No such method: " + name + "(" + class_name(argument) + ") for class: " + class_name(value)
    return failure("MissingMethodException", told)


def whole(value: Any, name: str, argument: Any) -> int:
    """An argument that must be an integer."""
    if not isinstance(argument, int) or isinstance(argument, bool):
        raise bad_argument(value, name, argument)
    return argument


def no_property(value: Any, name: str) -> RuntimeError:
    return failure("MissingPropertyException", "No such property: " + name + " for class: " + class_name(value))
