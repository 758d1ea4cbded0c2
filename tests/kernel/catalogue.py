"""A small catalogue of node types for tests of the kernel: one type per directive, nothing else in the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict

from perdure.expressions import compile_expression
from perdure.model.documents import FlowDocument
from perdure.model.events import Chunk
from perdure.model.failures import Failure
from perdure.model.waits import Reminders
from perdure.programs.flow.nodetypes import (
    Ask,
    AwaitSignal,
    Call,
    ContinueAsNew,
    Directive,
    Done,
    Execute,
    Iterate,
    LoopOptions,
    Message,
    NodeKind,
    NodeType,
    Plan,
    Refuse,
    Sleep,
    Waits,
)

Config = dict[str, Any]


class Anything(BaseModel):
    model_config = ConfigDict(extra="allow")


def _config(config: Any) -> Config:
    return dict(config.model_extra or {})


def _type(name: str, plan: Callable[[Config, Plan], Directive], **rest: Any) -> NodeType:
    rest.setdefault("prepare", _config)
    return NodeType(name=name, title=name, description=name, config=Anything, plan=plan, **rest)


def _iterate(config: Config, plan: Plan) -> Directive:
    numbers = (0, 1, config["count"]) if "count" in config else None
    chunks = [Chunk(*each) for each in config["chunks"]] if "chunks" in config else None
    items = plan.evaluate(compile_expression(config["of"])) if "of" in config else config.get("items")
    return Iterate(items, numbers, chunks, config.get("concurrency", 1), config.get("need"))


def _loop_options(config: Any) -> LoopOptions:
    given = _config(config)
    return LoopOptions(
        item=given.get("item", "item"),
        index=given.get("index", "index"),
        on_item_failure=given.get("on", "fail"),
        accumulate=given.get("accumulate", "all"),
        accumulator=given.get("gather"),
        add_signal=given.get("add"),
        close_signal=given.get("close"),
        cancel_rest=given.get("cancel_rest", True),
        pause=given.get("pause", 0),
    )


def _await(config: Config, plan: Plan) -> Directive:
    until = plan.now + config["us"] if "us" in config else None
    return AwaitSignal(config["name"], until, config.get("mode", "persistent"))


VIEW = {
    "inputOptions": [
        {"id": "intro", "description": "Is order 7 right?", "tags": {"values": ["ui.static_text"]}},
        {
            "id": "decision",
            "tags": {"values": ["ui.dropdown", "ui.required"]},
            "possibleValues": [{"value": "yes"}, {"value": "no"}],
        },
        {"id": "remark", "tags": {"values": ["ui.free_text"]}},
    ]
}
"""What an `ask` node shows."""


def asks(config: Config, now: int) -> Ask:
    """`us`: the deadline; `remind` (first, every, count), `escalate`; `decides`: the decision is the outcome."""
    return Ask(
        VIEW,
        now + config["us"] if "us" in config else None,
        Reminders(*config["remind"]) if "remind" in config else None,
        config.get("escalate"),
        config.get("details"),
        "decision" if config.get("decides") else None,
        {"yes": "yes", "no": "no"} if config.get("decides") else None,
    )


def _call(config: Config, plan: Plan) -> Directive:
    return Call(
        config.get("definition", "sub"), None, plan.input, config.get("wait", True), config.get("close", "cancel")
    )


def _expression(config: Any) -> Config:
    given = _config(config)
    return given | {"code": compile_expression(given["expr"])}


def _say(config: Config, plan: Plan) -> Directive:
    return Done(message=Message(config["kind"], plan.input))


def _refuse(config: Config, plan: Plan) -> Directive:
    return Refuse(Failure(config.get("code", "REFUSED"), "it will not", config.get("retryable", False)))


def _any_outcome(config: Any) -> tuple[str, ...]:
    return ("a", "b", "yes", "no", "more", "done", "stop", "failure", "never", "reminder", "escalation")


CATALOGUE: dict[str, NodeType] = {
    each.name: each
    for each in (
        _type("start", lambda config, plan: Done(), is_start=True),
        _type("end", lambda config, plan: Done(terminate=config.get("terminate", False)), is_end=True),
        _type("pass", lambda config, plan: Done()),
        _type("step", lambda config, plan: Execute(), kind=NodeKind.EFFECT, outcomes=_any_outcome),
        _type("json", lambda config, plan: Done(config.get("data"))),
        _type("expr", lambda config, plan: Done(plan.evaluate(config["code"])), prepare=_expression),
        _type("set", lambda config, plan: Done(vars=config)),
        _type("choose", lambda config, plan: Done(outcome=config["outcome"]), outcomes=_any_outcome),
        _type("say", _say),
        _type("refuse", _refuse),
        _type("sleep", lambda config, plan: Sleep(plan.now + config["us"], {"slept": config["us"]})),
        _type("signal", _await, waits=lambda config: Waits(config["name"], config.get("mode", "persistent"))),
        _type("ask", lambda config, plan: asks(config, plan.now), outcomes=_any_outcome),
        _type("call", _call),
        _type("loop", _iterate, loop=_loop_options),
        _type("again", lambda config, plan: ContinueAsNew(config.get("input", plan.input))),
    )
}

_OF_THE_NODE = {
    "parent",
    "join",
    "condition",
    "retry",
    "timeout",
    "compensate",
    "compensate_on_cancel",
    "at_most_once",
    "mutex",
    "race",
    "cancels",
    "milestone",
    "queue",
    "on_demand",
}


def flow(nodes: dict[str, str | dict[str, Any]], edges: str = "", **settings: Any) -> FlowDocument:
    """`flow({"a": "step", "b": {"type": "sleep", "us": 5}}, "a>b b>c:error")`. What is no field of a node is its
    configuration. `whens` gives conditions to edges: {"a>b": "data.x > 1"}."""
    whens = settings.pop("whens", {})
    return FlowDocument.model_validate(
        {
            "nodes": [_node(id, given) for id, given in nodes.items()],
            "edges": [_edge(text, whens) for text in edges.split()],
            "settings": settings,
        }
    )


def _node(id: str, given: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(given, str):
        return {"id": id, "type": given}
    own = {name: value for name, value in given.items() if name in _OF_THE_NODE}
    config = {name: value for name, value in given.items() if name not in _OF_THE_NODE and name != "type"}
    return {"id": id, "type": given["type"], "config": config, **own}


def _edge(text: str, whens: dict[str, str]) -> dict[str, Any]:
    path, _, outcome = text.partition(":")
    source, _, target = path.partition(">")
    return {"source": source, "target": target, "outcome": outcome or None, "when": whens.get(path)}
