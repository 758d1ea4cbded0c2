"""python: a step written in Python, registered by the program that embeds Perdure.

The node names the step; its `arguments` are given by name. How functions are registered and called:
`perdure.authoring.steps`.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from pydantic import AfterValidator, Field, WithJsonSchema

from perdure.expressions import Template
from perdure.model.failures import Failure
from perdure.nodes.config import NodeConfig, has_placeholder, template
from perdure.programs.flow.fields import TEMPLATE
from perdure.programs.flow.nodetypes import ANY_OUTCOME, Directive, Execute, NodeKind, NodeType, Plan, Refuse


def _by_name(value: Any) -> Any:
    if value is not None and not isinstance(value, dict) and not has_placeholder(value):
        raise ValueError("the arguments of a step are an object, by name")
    return value


Arguments = Annotated[
    Any,
    AfterValidator(_by_name),
    TEMPLATE,
    WithJsonSchema({"anyOf": [{"type": "object"}, {"type": "string"}, {"type": "null"}], "x-perdure": "template"}),
]


class PythonConfig(NodeConfig):
    step: str = Field(
        title="Step", min_length=1, max_length=256, description="The name of the registered step.", examples=["charge"]
    )
    arguments: Arguments = Field(
        None,
        title="Arguments",
        description="Given to the step by name. The node's input is `ctx.input` in any case.",
        examples=[{"amount": "${data.total}", "currency": "EUR"}],
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
    looks_at=lambda prepared: None,
    group="Code",
    icon="code",
    examples=({"step": "charge", "arguments": {"amount": "${data.total}"}},),
)
