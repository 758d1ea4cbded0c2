"""What is written around a script, so that one text goes to the worker and one text comes back.

The bindings arrive as JSON and the result leaves as JSON. To convert large values piece by piece costs twice as much;
and a small value that holds another many times over is written out there, under its limits, and not here.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

PREFIX: Final = "_perdure"
GIVEN: Final = "_perdure_given"
PARAMETERS: Final = "_perdure_parameters"
"""Where the names stand that a script both reads and sets, as far as they are given."""

_HEAD: Final = "from json import dumps as _perdure_dumps, loads as _perdure_loads\n"
HEAD_LINES: Final = _HEAD.count("\n")

_PLAIN: Final = """\
from decimal import Decimal as _perdure_decimal
from datetime import date as _perdure_date, time as _perdure_time, timedelta as _perdure_span
def _perdure_plain(value):
    if isinstance(value, dict):
        return {key: _perdure_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_perdure_plain(item) for item in value]
    if isinstance(value, _perdure_decimal):
        return int(value) if value == int(value) else float(value)
    if isinstance(value, (_perdure_date, _perdure_time)):
        return value.isoformat()
    if isinstance(value, _perdure_span):
        return value.total_seconds()
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise TypeError("the value of a script is JSON, but there is a " + type(value).__name__ + " in it")
_perdure_value = _perdure_plain(_perdure_value)
"""


def finished(program: str, call: str, parameters: Collection[str], given: Collection[str], most: int) -> str:
    """The whole program. Its last line is an expression: the result as JSON text or, if it is too long, its length."""
    arguments = ", ".join(name for name in parameters if name in given)
    lines = [program.replace(PARAMETERS, arguments, 1)]
    if given:
        lines.append(f"{GIVEN} = _perdure_loads({GIVEN})")
    lines += [f"{name} = {GIVEN}[{name!r}]" for name in sorted(given)]
    lines.append(f"_perdure_value = {call or f'_perdure_script({arguments})'}")
    return _HEAD + "\n".join(lines) + _result(most)


def made_plain(most: int) -> str:
    """What makes JSON of dates, decimals, tuples and sets, for the few scripts that give such: fed after `finished`."""
    return _PLAIN + _result(most)


def _result(most: int) -> str:
    written = "_perdure_dumps(_perdure_value, ensure_ascii=False, allow_nan=False)"
    return f"\n_perdure_json if len(_perdure_json := {written}) <= {most} else len(_perdure_json)\n"
