"""wait-for-signal: waits until somebody sends the run a signal of this name; its payload is the output."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from pydantic import AliasChoices, Field

from perdure.expressions import Template
from perdure.model.failures import Failure
from perdure.model.values import text_of
from perdure.nodes.config import DynamicDuration, NodeConfig, TemplateText, micros_of, template
from perdure.programs.flow.nodetypes import AwaitSignal, Directive, NodeType, Plan, Refuse, Waits

LONGEST_NAME = 256


class WaitForSignalConfig(NodeConfig):
    name: TemplateText = Field(
        validation_alias=AliasChoices("name", "signal"),
        max_length=LONGEST_NAME,
        title="Signal",
        description="The name of the signal.",
        examples=["approved", "paid-{{data.order}}"],
    )
    timeout: DynamicDuration | None = Field(
        None,
        title="Wait at most",
        description="After that it fails with SIGNAL_TIMEOUT; an edge with the outcome `timeout` takes care of it.",
        examples=["2d", "${vars.patience}"],
    )
    mode: Literal["persistent", "transient"] = Field(
        "persistent",
        title="Mode",
        description="`persistent`: signals that came before count too; `transient`: only later ones.",
    )


class Prepared(msgspec.Struct, frozen=True):
    name: Template
    timeout: Template | None
    mode: str


def prepare(config: WaitForSignalConfig) -> Prepared:
    timeout = template(config.timeout) if config.timeout is not None else None
    return Prepared(template(config.name), timeout, config.mode)


def plan(prepared: Prepared, moment: Plan) -> Directive:
    name: Any = text_of(moment.resolve(prepared.name))
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
        return Refuse(Failure("SIGNAL_NAME_INVALID", f"a signal's name is text of 1 to {LONGEST_NAME} characters"))
    if prepared.timeout is None:
        return AwaitSignal(name, None, prepared.mode)
    try:
        return AwaitSignal(name, moment.now + micros_of(moment.resolve(prepared.timeout)), prepared.mode)
    except ValueError as problem:
        return Refuse(Failure("DURATION_INVALID", str(problem)))


def waits(prepared: Prepared) -> Waits:
    return Waits(str(prepared.name.resolve({})) if prepared.name.is_static else None, prepared.mode)


TYPE = NodeType(
    name="wait-for-signal",
    title="Wait for a signal",
    description="Waits until the run gets a signal of this name. Output: its payload. Outcomes: `signal`, `timeout`.",
    config=WaitForSignalConfig,
    prepare=prepare,
    plan=plan,
    outcomes=lambda config: ("signal",),
    waits=waits,
    beside=False,
    group="Messages",
    icon="bell",
    examples=({"name": "paid-{{data.order}}", "timeout": "2d"},),
)
