"""What the sandbox says, as failures of a run.

SCRIPT_SYNTAX    no program                                       SCRIPT_NAME    a variable that nobody has set
SCRIPT_RUNTIME   an error while it ran                            SCRIPT_LIMIT   too much time, memory, output, depth
SCRIPT_CRASHED   its worker died under it; worth another attempt
"""

from __future__ import annotations

from typing import Any

import pydantic_monty as monty

from perdure.engine.handlers import ActivationError
from perdure.nodes.scripts.limits import ScriptLimits
from perdure.nodes.scripts.script import Script

_NAMES = frozenset({"NameError", "UnboundLocalError"})
_MESSAGE = 1_000
_UNSUPPORTED = "The monty syntax parser does not yet support "


def failure_of(fault: monty.MontyError, script: Script, limits: ScriptLimits) -> ActivationError:
    if isinstance(fault, monty.MontyCrashedError):
        if fault.timed_out:
            return too_much("time", limits)
        return ActivationError("SCRIPT_CRASHED", "the worker of the script died", retryable=True)
    if isinstance(fault, monty.MontySyntaxError | monty.MontyRuntimeError):
        inner = fault.exception()
        kind, said = type(inner).__name__, fault.display("msg")
        frames = fault.traceback()
        line = script.line([frame.line for frame in frames])
        if kind == "TimeoutError" and not frames:
            return too_much("time", limits)
        if kind == "MemoryError" and "memory limit" in said:
            return too_much("memory", limits, line)
        if kind == "RecursionError":
            return too_much("depth", limits, line)
        if isinstance(fault, monty.MontySyntaxError) or said.startswith(_UNSUPPORTED):
            told = f"scripts cannot use {said.removeprefix(_UNSUPPORTED)}" if said.startswith(_UNSUPPORTED) else said
            return ActivationError("SCRIPT_SYNTAX", **_placed(line, told))
        if kind in _NAMES:
            return ActivationError("SCRIPT_NAME", **_placed(line, said))
        if kind in ("Exception", "RuntimeError") and script.language == "groovy" and ": " in said:
            kind, _, said = said.partition(": ")  # the names of Java's exceptions stand in the text
        told = f"{kind}: {said}" if said else kind
        return ActivationError("SCRIPT_RUNTIME", **_placed(line, told, exception=kind))
    return ActivationError("SCRIPT_CRASHED", "the sandbox could not run the script", retryable=True)


def too_much(limit: str, limits: ScriptLimits, line: int | None = None, found: int | None = None) -> ActivationError:
    match limit:
        case "time":
            told = f"the script ran for longer than {limits.seconds:g} s"
        case "memory":
            told = f"the script used more than {limits.memory:,} bytes of memory"
        case "output":
            told = f"the value of the script has {found:,} characters as JSON; {limits.output:,} are allowed"
        case _:
            told = "the script calls itself, or nests its values, too deeply"
    return ActivationError("SCRIPT_LIMIT", **_placed(line, told, limit=limit))


def _placed(line: int | None, told: str, **details: Any) -> dict[str, Any]:
    """Message and details, with the line where it is known."""
    if line is not None:
        told, details = f"line {line}: {told}", {"line": line, **details}
    return {"message": told[:_MESSAGE], "details": details or None}
