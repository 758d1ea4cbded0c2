"""python: a step written in Python, registered by the program that embeds Perdure.

The node names the step; its `arguments` are given by name. How functions are registered and called:
`perdure.authoring.steps`.
"""

from __future__ import annotations

import msgspec
from pydantic import Field

from perdure.expressions import Template
from perdure.model.failures import Failure
from perdure.nodes.config import NodeConfig, TemplateValue, template
from perdure.programs.flow.nodetypes import ANY_OUTCOME, Directive, Execute, NodeKind, NodeType, Plan, Refuse


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
