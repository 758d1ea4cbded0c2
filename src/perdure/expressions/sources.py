"""What every text must be before anything reads it."""

from __future__ import annotations

from typing import Any

from perdure.errors import ExpressionLimit, ExpressionSyntax
from perdure.expressions.limits import Limits
from perdure.expressions.places import placed


def readable(source: Any, what: str, limits: Limits) -> None:
    """Text, and not too much of it. `what` is its name: «expression», «query»."""
    if not isinstance(source, str):
        article = "an" if what[0] in "aeiou" else "a"
        raise ExpressionSyntax(f"{article} {what} is text, not {type(source).__name__}", line=1, column=1)
    if len(source) > limits.source:
        fault = ExpressionLimit(f"the {what} is longer than {limits.source:,} characters")
        raise placed(fault, source[: limits.source], 0, 1)


def legible(source: str) -> None:
    """Every character can leave the process as UTF-8 and be stored, be it in an error."""
    at = next((at for at, each in enumerate(source) if each == "\0" or "\ud800" <= each <= "\udfff"), None)
    if at is not None:
        raise placed(ExpressionSyntax(f"U+{ord(source[at]):04X} is not text"), source[:at] + "\ufffd", at, at + 1)
