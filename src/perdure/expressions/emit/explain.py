"""What went wrong, said precisely.

Compiled expressions run without looking back. When one raises, the traceback tells the spot; a bare subscript that
failed is walked again, slowly, to find the step that led nowhere and the key that was probably meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, NamedTuple, NoReturn

from perdure.errors import ExpressionError, ExpressionFailed, ExpressionLimit, ValueMissing
from perdure.expressions.emit.emitter import Spot
from perdure.expressions.emit.pieces import FILENAME
from perdure.expressions.operators import index, member
from perdure.expressions.places import nearest, placed, shown
from perdure.expressions.values import MISSING, Env, Json

#: What evaluating can raise. Anything else is a bug, or comes from the caller's own mapping, and passes through.
FAULTS: Final = (ExpressionError, LookupError, TypeError, ValueError, ArithmeticError, RecursionError, MemoryError)


class Site(NamedTuple):
    """The text of an expression and the places in it that can fail."""

    source: str
    spots: tuple[Spot, ...]


def explain(site: Site, env: Env, fault: Exception) -> NoReturn:
    """Raise the error that the author should see."""
    spot, variables = _spot(site, fault.__traceback__)
    text = shown(site.source, spot.start, spot.end)
    found = _as_error(fault, spot, env, variables, text)
    if found.line is None:
        found.message = _sentence(found, text)
        found.args = (found.message,)
    raise placed(found, site.source, spot.at, spot.end) from None


def _as_error(fault: Exception, spot: Spot, env: Env, variables: Mapping[str, Any], text: str) -> ExpressionError:
    if isinstance(fault, ExpressionError):
        return fault
    if isinstance(fault, RecursionError | MemoryError):
        return ExpressionLimit("the values are nested too deeply or are too large")
    if isinstance(fault, ZeroDivisionError):
        return ExpressionFailed("division by zero")
    if isinstance(fault, ArithmeticError):
        return ExpressionFailed("the result is not a number that can be represented")
    if spot.root is not None and spot.root not in env:
        meant = nearest(spot.root, env)
        return ValueMissing(f"`{spot.root}` is missing{_hint(meant)}", path=spot.root)
    if spot.root is not None or spot.local is not None:
        start = variables.get(spot.local, MISSING) if spot.local is not None else env[spot.root or ""]
        return _walked(start, spot, fault, text)
    return ExpressionFailed(f"{type(fault).__name__}: {fault}")


def _walked(value: Any, spot: Spot, fault: Exception, text: str) -> ExpressionError:
    """Walk a path again, from its start, to the step that fails."""
    if value is not MISSING:
        try:
            for step in spot.steps:
                value = index(value, step) if isinstance(step, int) else member(value, step)
        except ExpressionError as found:
            return found
    # Newer Pythons have put the variables of a comprehension away by now. The key is known all the same.
    key = spot.steps[-1] if spot.steps else ""
    if isinstance(fault, KeyError):
        return ValueMissing(f"the object has no key {key!r}")
    if isinstance(fault, LookupError):
        return ValueMissing(f"there is no item {key}")
    if "NoneType" in str(fault):
        return ValueMissing(f"null has no key {key!r}")
    return ExpressionFailed(f"the value has no keys, so no {key!r}")


def _sentence(fault: ExpressionError, text: str) -> str:
    if isinstance(fault, ValueMissing):
        fault.details.setdefault("path", text)
        return fault.message if fault.message.startswith("`") else f"`{text}` is missing: {fault.message}"
    return f"{fault.message}: `{text}`"


def _hint(meant: str | None) -> str:
    return f"; did you mean `{meant}`?" if meant else ""


def _spot(site: Site, trace: TracebackType | None) -> tuple[Spot, Mapping[str, Json]]:
    """The innermost place in the compiled expression, and the variables there."""
    line, variables = 0, {}
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILENAME:
            line, variables = trace.tb_lineno, trace.tb_frame.f_locals
        trace = trace.tb_next
    if not 0 < line <= len(site.spots):
        return Spot(0, 0, len(site.source)), variables
    return site.spots[line - 1], variables
