"""Runs translated scripts: in plain Python, and in the sandbox they are made for, on the same fixed clock."""

from __future__ import annotations

import ast
import builtins
import copy
import datetime as calendar
import types
from dataclasses import dataclass
from typing import Any

from perdure.dialects.groovy import Translation

NOW = calendar.datetime(2023, 11, 21, 10, 0, 0, 123_000, tzinfo=calendar.UTC)


@dataclass(frozen=True)
class Failed:
    """The script raised this, at this line of the Groovy."""

    message: str
    line: int | None


class _Clock(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, calendar.datetime)


class _StoppedClock(calendar.datetime, metaclass=_Clock):
    @classmethod
    def now(cls, tz: calendar.tzinfo | None = None) -> Any:
        return NOW.astimezone(tz)


_CALENDAR = types.ModuleType("datetime")
_CALENDAR.__dict__.update(datetime=_StoppedClock, timedelta=calendar.timedelta, timezone=calendar.timezone)


def _import(name: str, *rest: Any) -> Any:
    return _CALENDAR if name == "datetime" else builtins.__import__(name, *rest)


def run_in_python(translation: Translation, bindings: dict[str, Any]) -> Any:
    """The value of the last line, or `Failed`. Only what the translation says it reads is given to it."""
    tree = ast.parse(translation.python)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    known: dict[str, Any] = {"__builtins__": {**vars(builtins), "__import__": _import, "print": lambda *_: None}}
    known |= {name: copy.deepcopy(bindings[name]) for name in translation.names}
    try:
        exec(compile(tree, "<groovy>", "exec"), known)  # noqa: S102
        return eval(compile(ast.Expression(last.value), "<groovy>", "eval"), known)  # noqa: S307
    except Exception as fault:
        lines = []
        trace = fault.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == "<groovy>":
                lines.append(trace.tb_lineno)
            trace = trace.tb_next
        return Failed(str(fault), translation.groovy_line(lines))


def run_in_sandbox(monty: Any, pool: Any, translation: Translation, bindings: dict[str, Any]) -> Any:
    with pool.checkout(limits={"max_feed_duration_secs": 5.0}, os_policy={"datetime": NOW}) as session:
        try:
            return session.feed_run(
                translation.python,
                inputs={name: bindings[name] for name in translation.names},
                print_callback=monty.CollectString(),
            )
        except monty.MontyRuntimeError as fault:
            return Failed(str(fault.exception()), translation.groovy_line([each.line for each in fault.traceback()]))


def same(found: Any, wanted: Any) -> bool:
    """Equal as JSON: 1 is neither true nor 1.0, and keys have an order."""
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(found, dict) and isinstance(wanted, dict):
        return list(found) == list(wanted) and all(same(found[key], wanted[key]) for key in wanted)
    return type(found) is type(wanted) and bool(found == wanted)
