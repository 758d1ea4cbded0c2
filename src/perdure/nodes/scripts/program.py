"""What is written around a script, so that one text goes to the worker and one text comes back.

The bindings arrive as JSON and the result leaves as JSON. To convert large values piece by piece costs twice as much;
and a small value that holds another many times over is written out there, under its limits, and not here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

GIVEN: Final = "_perdure_given"
PREFIX: Final = "_perdure"

_HEAD: Final = """\
from json import dumps as _perdure_dumps, loads as _perdure_loads
_perdure_format, _perdure_repr, _perdure_str = format, repr, str
def _perdure_text(*parts):
    return "".join(parts)
def _perdure_plain(value):
    if isinstance(value, dict):
        return {key: _perdure_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_perdure_plain(item) for item in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (set, frozenset)):
        return [_perdure_plain(item) for item in value]
    from decimal import Decimal
    from datetime import date, datetime, time, timedelta
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    raise TypeError("the value of a script is JSON, but there is a " + type(value).__name__ + " in it")
def _perdure_finish(value, most):
    try:
        text = _perdure_dumps(value, ensure_ascii=False, allow_nan=False)
    except TypeError:
        text = _perdure_dumps(_perdure_plain(value), ensure_ascii=False, allow_nan=False)
    return text if len(text) <= most else len(text)
"""
HEAD_LINES: Final = _HEAD.count("\n")


def finished(program: str, call: str, parameters: Iterable[str], given: Iterable[str], most: int) -> str:
    """The whole program: its last line is an expression, the result as JSON text or, if it is too long, its length."""
    given = sorted(given)
    lines = [f"{GIVEN} = _perdure_loads({GIVEN})"]
    lines += [f"{name} = {GIVEN}[{name!r}]" for name in given]
    arguments = ", ".join(f"{name}={name}" for name in parameters if name in given)
    lines.append(f"_perdure_finish({call or f'_perdure_script({arguments})'}, {most})")
    return f"{_HEAD}{program}\n" + "\n".join(lines) + "\n"
