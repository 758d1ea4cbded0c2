"""python: a step written in Python, registered by the program that embeds Perdure.

    steps = Steps()

    @steps.register("charge")
    async def charge(ctx, amount: int) -> dict: ...

The node names the step; its `arguments` are given by name. An `async` step runs on the event loop; an ordinary function
may block, so it runs in a thread, unless it is registered with `blocking=False`.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar, overload

import msgspec
from pydantic import Field

from perdure.errors import NotFound, SettingsInvalid
from perdure.expressions import Template
from perdure.model.failures import Failure
from perdure.nodes.config import NodeConfig, TemplateValue, template
from perdure.programs.flow.nodetypes import Directive, Execute, NodeKind, NodeType, Plan, Refuse

ANY_OUTCOME = "*"


class StepContext(Protocol):
    """The part of the engine's context that dispatching needs."""

    @property
    def config(self) -> Any: ...


Step = Callable[..., Any]
S = TypeVar("S", bound=Step)


class PythonConfig(NodeConfig):
    step: str = Field(
        title="Step", min_length=1, max_length=256, description="The name of the registered step.", examples=["charge"]
    )
    arguments: TemplateValue = Field(
        None,
        title="Arguments",
        description="Given to the step by name. The node's input is `ctx.input` in any case.",
        examples=[{"amount": "${data.total}", "currency": "EUR"}],
        json_schema_extra={"type": "object"},
    )
    outcomes: list[str] = Field(
        default_factory=list,
        title="Outcomes",
        max_length=256,
        description="The outcomes that the step may choose and its edges may name. Without a list any may be named.",
        examples=[["approved", "rejected"]],
    )


class Prepared(msgspec.Struct, frozen=True):
    step: str
    arguments: Template | None


def prepare(config: PythonConfig) -> Prepared:
    dynamic = template(config.arguments)
    return Prepared(config.step, None if dynamic.is_static else dynamic)


def plan(prepared: Prepared, moment: Plan) -> Directive:
    if prepared.arguments is None:
        return Execute()
    arguments = moment.resolve(prepared.arguments)
    if not isinstance(arguments, dict):
        return Refuse(Failure("ARGUMENTS_INVALID", "the arguments of a step are an object, by name"))
    return Execute({"step": prepared.step, "arguments": arguments})


TYPE = NodeType(
    name="python",
    title="Python step",
    description="Calls a step of the embedding program, once per activation as far as its result is concerned.",
    config=PythonConfig,
    kind=NodeKind.EFFECT,
    prepare=prepare,
    plan=plan,
    outcomes=lambda config: tuple(config.outcomes) or (ANY_OUTCOME,),
)


# -- the other side --------------------------------------------------------------------------------


class _Entry(msgspec.Struct, frozen=True):
    function: Step
    blocking: bool


class Steps:
    """The registered steps. `call` is the handler of the `python` type."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}

    @overload
    def register(self, name: str, function: S, *, blocking: bool | None = None) -> S: ...
    @overload
    def register(self, name: str, function: None = None, *, blocking: bool | None = None) -> Callable[[S], S]: ...

    def register(self, name: str, function: Step | None = None, *, blocking: bool | None = None) -> Any:
        """Enters a step under a name; as a decorator where no function is given."""
        if function is None:
            return lambda given: self.register(name, given, blocking=blocking)
        if name in self._entries and self._entries[name].function is not function:
            raise SettingsInvalid(f"two steps are called {name!r}", remedy="give one of them another name")
        if blocking is None:
            blocking = not inspect.iscoroutinefunction(inspect.unwrap(function))
        self._entries[name] = _Entry(function, blocking)
        return function

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def call(self, context: StepContext) -> Any:
        """Dispatches by `config.step`. Raises NotFound where this program has no such step."""
        config = context.config
        entry = self._entries.get(config["step"])
        if entry is None:
            raise NotFound(f"no step is called {config['step']!r} here", remedy="register it, or update this worker")
        arguments = config.get("arguments") or {}
        if entry.blocking:
            return asyncio.to_thread(entry.function, context, **arguments)
        return entry.function(context, **arguments)
