"""Node types that others write: how one is written, and how those that are installed are found.

    from perdure.nodes.plugins import Field, NodeConfig, Result, TemplateText, node

    class SmsConfig(NodeConfig):
        to: TemplateText = Field(title="To", description="A phone number.", examples=["+49 …", "${data.phone}"])
        text: TemplateText = Field(title="Text", description="What to send.", examples=["Hello {{data.name}}"])

    @node("acme.sms", config=SmsConfig, title="SMS", description="Sends a text message.", outcomes=["sent", "refused"])
    async def sms(ctx, config: SmsConfig) -> Result:
        answer = await gateway.send(config.to, config.text, idempotency_key=ctx.key)
        return Result({"id": answer.id}, outcome="sent" if answer.ok else "refused")

A distribution names it in its metadata, and every program that has it installed knows the type:

    [project.entry-points."perdure.nodes"]
    sms = "acme_perdure:sms"

What a handler is asked is in `ctx` and `config`; it may answer with JSON, a `Result` or a wait (`Sleep`, `AwaitSignal`)
and raise an `ActivationError`. It is called again with the same `ctx.key` if nobody knows whether it got through.
"""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, Literal, ParamSpec, TypeVar

import msgspec
from pydantic import BaseModel, Field, ValidationError

from perdure.engine.context import ActivationContext
from perdure.engine.handlers import ActivationError, HandlerSpec, Result
from perdure.errors import SettingsInvalid
from perdure.expressions import Expression, Template
from perdure.nodes.catalogue import CATALOGUE
from perdure.nodes.config import (
    COMPUTED,
    DynamicDuration,
    ExpressionText,
    NodeConfig,
    PathText,
    TemplateText,
    TemplateValue,
    expression,
    template,
)
from perdure.programs.flow.checks.shape import problems_of
from perdure.programs.flow.fields import Kind, texts
from perdure.programs.flow.nodetypes import AwaitSignal, Directive, Execute, NodeKind, NodeType, Plan, Sleep

__all__ = [
    "ActivationContext",
    "ActivationError",
    "AwaitSignal",
    "DynamicDuration",
    "ExpressionText",
    "Field",
    "NodeConfig",
    "NodePlugin",
    "PathText",
    "Result",
    "Sleep",
    "TemplateText",
    "TemplateValue",
    "installed",
    "node",
]

GROUP = "perdure.nodes"
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*(\.[a-z][a-z0-9]*([-_][a-z0-9]+)*)+")
LONGEST_NAME = 64

P = ParamSpec("P")
R = TypeVar("R")
_LOGGER = logging.getLogger("perdure.nodes.plugins")


class NodePlugin(Generic[P, R]):
    """A node type and its handler. Calling it calls the function that it was made from."""

    def __init__(self, type: NodeType, handler: HandlerSpec, function: Callable[P, R]) -> None:
        self.type = type
        self.handler = handler
        self.function = function
        self.__doc__ = function.__doc__

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<node type {self.type.name}>"


# -- writing one -------------------------------------------------------------------------------------------------------


def node(  # noqa: PLR0913 — each is a word about the type
    name: str,
    *,
    config: type[NodeConfig],
    title: str,
    description: str,
    outcomes: Sequence[str] | Callable[[Any], Sequence[str]] = (),
    kind: Literal["effect", "isolated"] = "effect",
    retry_attempts: int = 1,
    examples: Sequence[Mapping[str, Any]] = (),
    group: str = "Plug-ins",
    icon: str = "puzzle",
) -> Callable[[Callable[P, R]], NodePlugin[P, R]]:
    """Makes a function `(ctx, config)` the handler of a new node type. A plain function runs in a thread.

    `kind`: `isolated` for what has no effect outside (it computes), `effect` for everything else. When the function is
    called, templates and expressions in fields that are marked as such (`TemplateText`, `TemplateValue`,
    `ExpressionText` …) have been replaced by their values, and the configuration was checked once more.
    """
    check_name(name)
    if not (isinstance(config, type) and issubclass(config, NodeConfig)):
        raise SettingsInvalid(f"the configuration of {name} is no NodeConfig", expected="a class that derives from it")
    declared = outcomes if callable(outcomes) else lambda _, fixed=tuple(outcomes): fixed

    def make(function: Callable[P, R]) -> NodePlugin[P, R]:
        made = NodeType(
            name=name,
            title=title,
            description=description,
            config=config,
            kind=NodeKind(kind),
            prepare=prepare,
            plan=plan,
            outcomes=lambda given: tuple(declared(given)),
            looks_at=lambda prepared: None,
            default_retry_attempts=retry_attempts,
            examples=tuple(dict(each) for each in examples),
            group=group,
            icon=icon,
        )
        is_async = inspect.iscoroutinefunction(inspect.unwrap(function))
        handler = HandlerSpec(_called(name, config, function), blocking=not is_async, kind=kind)
        return NodePlugin(made, handler, function)

    return make


def check_name(name: str) -> None:
    """A type of somebody else's says whose: `acme.sms`."""
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise SettingsInvalid(
            f"{name!r} cannot be the name of a node type",
            expected="vendor.type: small letters, digits, hyphens, and a dot between the two",
        )


def _called(name: str, model: type[NodeConfig], function: Callable[..., Any]) -> Callable[[ActivationContext], Any]:
    def call(ctx: ActivationContext) -> Any:
        try:
            config = _validated(model, ctx.config)
        except ValidationError as fault:
            first = next(problems_of(fault, ctx.config, model, prefix="CONFIG"))
            told = f"what the templates of a node of type {name} give does not suit it at {first.pointer}: "
            raise ActivationError(
                "CONFIG_UNSUITABLE", told + first.message, details={"pointer": first.pointer}
            ) from None
        return function(ctx, config)

    return call


def _validated(model: type[NodeConfig], raw: Any) -> NodeConfig:
    """In the place of an expression stands its value by now, which may be of any type."""
    values = [(_steps(text.pointer, raw), text.value) for text in texts(model, raw) if text.kind is Kind.EXPRESSION]
    checked = raw
    for place, _ in values:
        checked = _put(checked, place, "null")
    config: Any = model.model_validate(checked, context=COMPUTED)
    for place, value in values:
        config = _put(config, place, value)
    return config  # type: ignore[no-any-return]


class Prepared(msgspec.Struct, frozen=True):
    raw: dict[str, Any]
    texts: list[tuple[tuple[str | int, ...], Template | Expression]]
    """Where in `raw` they stand."""


def prepare(config: NodeConfig) -> Prepared:
    raw = _with_computed_defaults(config)
    found: list[tuple[tuple[str | int, ...], Template | Expression]] = []
    for text in texts(type(config), raw):
        place = _steps(text.pointer, raw)
        if text.kind is Kind.EXPRESSION and isinstance(text.value, str):
            found.append((place, expression(text.value)))
        elif text.kind is Kind.TEMPLATE:
            compiled = template(text.value)
            if not compiled.is_static:
                found.append((place, compiled))
    return Prepared(raw, found)


def _with_computed_defaults(config: NodeConfig) -> dict[str, Any]:
    """What was given, and of the rest the defaults that are templates or expressions: they are computed like others."""
    raw: Any = config.model_dump(mode="json", exclude_unset=True)
    full = config.model_dump(mode="json")
    for text in texts(type(config), full):
        is_computed = text.kind is Kind.EXPRESSION and isinstance(text.value, str)
        if is_computed or (text.kind is Kind.TEMPLATE and not template(text.value).is_static):
            raw = _filled(raw, full, _steps(text.pointer, full))
    return raw  # type: ignore[no-any-return]


def _filled(raw: Any, full: Any, steps: tuple[str | int, ...]) -> Any:
    """What was given, with the default where nothing was on the way to the place."""
    if not steps:
        return raw
    step = steps[0]
    if isinstance(raw, dict) and step not in raw:
        return {**raw, step: full[step]}
    copy = raw.copy()
    copy[step] = _filled(raw[step], full[step], steps[1:])
    return copy


def plan(prepared: Prepared, moment: Plan) -> Directive:
    if not prepared.texts:
        return Execute()
    config: Any = prepared.raw
    for place, text in prepared.texts:
        value = moment.evaluate(text) if isinstance(text, Expression) else moment.resolve(text)
        config = _put(config, place, value)
    return Execute(config)


def _steps(pointer: str, raw: Any) -> tuple[str | int, ...]:
    steps: list[str | int] = []
    for part in pointer.split("/")[1:]:
        step: str | int = part.replace("~1", "/").replace("~0", "~")
        step = int(step) if isinstance(raw, list) else step
        steps.append(step)
        raw = raw[step]
    return tuple(steps)


def _put(value: Any, steps: tuple[str | int, ...], new: Any) -> Any:
    """A copy with another value at the place."""
    if not steps:
        return new
    if isinstance(value, BaseModel):
        name = str(steps[0])
        return value.model_copy(update={name: _put(getattr(value, name), steps[1:], new)})
    copy = value.copy()
    copy[steps[0]] = _put(value[steps[0]], steps[1:], new)
    return copy


# -- finding them ------------------------------------------------------------------------------------------------------


class Trouble(msgspec.Struct, frozen=True):
    """An entry that brings no node type, and why not."""

    entry: str
    reason: str

    def __str__(self) -> str:
        return f"the plug-in {self.entry} is left out: {self.reason}"


def installed(
    disabled: Iterable[str] = (), entries: Iterable[EntryPoint] | None = None
) -> tuple[list[NodePlugin[..., Any]], list[Trouble]]:
    """The node types of the distributions that are installed, and what could not be had. `disabled`: names of types, of
    entries or of distributions. One that is broken does not keep the others away."""
    found: dict[str, NodePlugin[..., Any]] = {}
    troubles: list[Trouble] = []
    off = {name.strip() for name in disabled if name.strip()}
    known = sorted(entries if entries is not None else entry_points(group=GROUP), key=_described)
    for entry in known:
        if off & {entry.name, _distribution(entry)}:
            continue
        try:
            brought = list(_brought(entry.load()))
        except Exception as problem:
            troubles.append(Trouble(_described(entry), f"{type(problem).__name__}: {problem}"))
            continue
        for plugin in brought:
            name = plugin.type.name
            if name in off or found.get(name) is plugin:
                continue
            if name in CATALOGUE or name in found:
                troubles.append(Trouble(_described(entry), f"there is a node type {name!r} already"))
            else:
                found[name] = plugin
    for trouble in troubles:
        _LOGGER.error("%s", trouble)
    return list(found.values()), troubles


def _brought(given: Any) -> Iterator[NodePlugin[..., Any]]:
    """An entry names one node type, or several."""
    for each in given if isinstance(given, list | tuple) else (given,):
        if not isinstance(each, NodePlugin):
            raise TypeError(f"{each!r} is no node type; make it one with @perdure.nodes.plugins.node")
        yield each


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else ""


def _described(entry: EntryPoint) -> str:
    return f"{entry.name} = {entry.value} ({_distribution(entry) or 'unknown distribution'})"
