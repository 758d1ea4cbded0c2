"""Python functions as steps of flows.

A step is a function, `async` or not. What it is given follows from its parameters: one named `ctx` gets the
activation's context (input, key, attempt, heartbeat, blobs …); with `arguments` configured in the flow the others get
these by name; without, the first other one gets the node's input. A plain (not `async`) function runs in a thread, so
that it may block.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeVar, overload

from perdure.errors import NotInstalled, SettingsInvalid

StepFunction = Callable[..., Any]
F = TypeVar("F", bound=StepFunction)

CONTEXT_NAMES = ("ctx", "context")


class StepContext(Protocol):
    """The part of the engine's context that calling a step needs."""

    @property
    def config(self) -> Any: ...

    @property
    def input(self) -> Any: ...


class Step:
    """One registered function, and how to call it."""

    __slots__ = ("_context", "_only_context", "_other", "blocking", "function")

    def __init__(self, function: StepFunction, blocking: bool | None = None) -> None:
        self.function = function
        self.blocking = not _is_async(function) if blocking is None else blocking
        names = [
            parameter.name
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        ]
        self._context = next((name for name in names if name in CONTEXT_NAMES), None)
        self._other = next((name for name in names if name not in CONTEXT_NAMES), None)
        self._only_context = self._other is None and len(names) == 1

    def call(self, context: StepContext, given: Mapping[str, Any] | None) -> Any:
        if self._only_context and not given:
            return self.function(context)
        arguments: dict[str, Any] = {} if self._context is None else {self._context: context}
        if given is not None:
            arguments.update(given)
        elif self._other is not None:
            arguments[self._other] = context.input
        return self.function(**arguments)


def _is_async(function: StepFunction) -> bool:
    """A coroutine function, or an object that is called like one."""
    bare = inspect.unwrap(function)
    return inspect.iscoroutinefunction(bare) or inspect.iscoroutinefunction(type(bare).__call__)


class Steps:
    """The functions that an application has registered, by name."""

    def __init__(self) -> None:
        self._steps: dict[str, Step] = {}
        self.on_change: Callable[[], None] | None = None
        """Called when there is another one."""

    @overload
    def register(self, name: str, function: F, *, blocking: bool | None = None) -> F: ...
    @overload
    def register(self, name: str, function: None = None, *, blocking: bool | None = None) -> Callable[[F], F]: ...

    def register(self, name: str, function: StepFunction | None = None, *, blocking: bool | None = None) -> Any:
        """Enters a step under a name; as a decorator where no function is given."""
        if function is None:
            return lambda given: self.register(name, given, blocking=blocking)
        if name in self._steps and self._steps[name].function is not function:
            raise SettingsInvalid(f"two steps are called {name!r}", remedy="give one of them another name")
        self._steps[name] = Step(function, blocking)
        if self.on_change is not None:
            self.on_change()
        return function

    def __contains__(self, name: object) -> bool:
        return name in self._steps

    def __iter__(self) -> Iterator[str]:
        return iter(self._steps)

    def call(self, context: StepContext) -> Any:
        """The handler of the `python` node type. Raises NotInstalled where this program has no such step."""
        config = context.config
        step = self._steps.get(config["step"])
        if step is None:
            raise NotInstalled(
                f"no step is called {config['step']!r} here",
                kind="step",
                name=config["step"],
                remedy="register it, or update this worker",
            )
        try:
            return step.call(context, config.get("arguments"))
        except StopIteration as problem:
            # It cannot pass through a future; as what it is, a mistake of the step, it can.
            raise RuntimeError(f"StopIteration: {problem}") from problem

    def is_blocking(self, config: Any) -> bool:
        """Whether the step that the configuration of a node names must be called in a thread."""
        step = self._steps.get(config["step"])
        return step is not None and step.blocking
