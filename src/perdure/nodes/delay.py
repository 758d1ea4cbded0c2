"""delay: a short pause. It is a timer like any other, so it survives restarts."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field, WithJsonSchema

from perdure.expressions import Template
from perdure.model.failures import Failure
from perdure.model.times import parse_duration
from perdure.nodes.config import NodeConfig, has_placeholder, template
from perdure.nodes.inputs import carried
from perdure.programs.flow.fields import TEMPLATE
from perdure.programs.flow.nodetypes import Directive, NodeType, Plan, Refuse, Sleep


def micros(value: Any) -> int:
    """A bare number counts milliseconds; text may name its unit. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("a delay is a number of milliseconds or a text like '250ms' or '2s'")
    if isinstance(value, str):
        text = value.strip()
        if not text.replace(".", "", 1).isdecimal():
            return parse_duration(text)
        value = float(text)
    return parse_duration(value / 1000)


def _check(value: Any) -> Any:
    if not has_placeholder(value):
        micros(value)
    return value


Milliseconds = Annotated[
    str | int | float,
    BeforeValidator(_check),
    TEMPLATE,
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}], "x-perdure": "template"}),
]


class DelayConfig(NodeConfig):
    milliseconds: Milliseconds = Field(
        1000,
        validation_alias=AliasChoices("milliseconds", "duration"),
        title="Milliseconds",
        description="How long to pause: milliseconds, or text with a unit.",
        examples=[250, "2s", "${vars.pause}"],
    )


def prepare(config: DelayConfig) -> Template:
    return template(config.milliseconds)


def plan(milliseconds: Template, moment: Plan) -> Directive:
    try:
        pause = micros(moment.resolve(milliseconds))
    except ValueError as problem:
        return Refuse(Failure("DURATION_INVALID", str(problem)))
    shown = pause // 1000 if pause % 1000 == 0 else pause / 1000
    return Sleep(moment.now + pause, {**carried(moment.input), "delayed_ms": shown})


TYPE = NodeType(
    name="delay",
    title="Delay",
    description="Pauses for milliseconds or seconds. Hands on the fields of its input, and `delayed_ms`.",
    config=DelayConfig,
    prepare=prepare,
    plan=plan,
    group="Time",
    icon="timer",
    examples=({"milliseconds": 250},),
)
