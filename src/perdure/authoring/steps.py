"""Python functions as steps of flows.

A step is a function, `async` or not. What it is given follows from its parameters: one named `ctx` gets the activation's context
(input, key, attempt, heartbeat, blobs …); with `arguments` configured in the flow the others get these by name; otherwise the only
other one gets the node's input. A plain (not `async`) function runs in a thread, so that it may block.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from perdure.errors import InvalidInput

StepFunction = Callable[..., Any]


class Step:
    __slots__ = ("blocking", "call", "name", "others", "takes_context")

    def __init__(self, name: str, call: StepFunction) -> None:
        self.name = name
        self.call = call
        self.blocking = not inspect.iscoroutinefunction(call)
        parameters = [
            parameter
            for parameter in inspect.signature(call).parameters.values()
            if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        ]
        self.takes_context = any(parameter.name == "ctx" for parameter in parameters)
        self.others = [parameter.name for parameter in parameters if parameter.name != "ctx"]

    def arguments(self, ctx: Any, given: Mapping[str, Any] | None) -> dict[str, Any]:
        found: dict[str, Any] = {"ctx": ctx} if self.takes_context else {}
        if given is not None:
            return found | dict(given)
        if self.others:
            found[self.others[0]] = ctx.input
        return found


class Steps:
    """The functions that an application has registered, by name."""

    def __init__(self) -> None:
        self._steps: dict[str, Step] = {}

    def add(self, call: StepFunction, name: str | None = None) -> Step:
        step = Step(name or call.__name__, call)
        known = self._steps.get(step.name)
        if known is not None and known.call is not call:
            raise InvalidInput(
                f"there is a step {step.name!r} already", remedy="register it under another name: register(f, name=…)"
            )
        self._steps[step.name] = step
        return step

    def get(self, name: str) -> Step | None:
        return self._steps.get(name)

    def names(self) -> list[str]:
        return sorted(self._steps)
