"""sub-flow: runs another flow as a child, and waits for its result or not."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from pydantic import Field

from perdure.expressions import Template
from perdure.model.failures import Failure
from perdure.model.references import Word
from perdure.model.values import text_of
from perdure.nodes.config import NodeConfig, TemplateText, TemplateValue, input_or, template
from perdure.programs.flow.nodetypes import Call, Directive, NodeType, Plan, Refuse


class SubFlowConfig(NodeConfig):
    definition: TemplateText = Field(max_length=256, title="Flow", description="The id of its definition.")
    version: Annotated[int, Field(ge=1)] | Word | None = Field(
        None,
        title="Version",
        description="A number, or `LATEST`. Without it, the version that is active when the child starts.",
        examples=[3, "LATEST"],
    )
    input: TemplateValue = Field(
        None,
        title="Input",
        description="What the child is started with. Without it, what this node was given.",
        examples=[{"order": "${data.id}"}],
    )
    wait: bool = Field(
        True,
        title="Wait for it",
        description="Otherwise the node completes as soon as the child exists; output: `run`.",
    )
    on_parent_close: Literal["cancel", "abandon"] = Field(
        "cancel", title="If this run ends first", description="The child is cancelled, or goes on alone."
    )


class Prepared(msgspec.Struct, frozen=True):
    definition: Template
    version: int | Word | None
    input: Template | None
    wait: bool
    on_parent_close: str


def prepare(config: SubFlowConfig) -> Prepared:
    given = template(config.input) if "input" in config.model_fields_set else None
    return Prepared(template(config.definition), config.version, given, config.wait, config.on_parent_close)


def plan(prepared: Prepared, moment: Plan) -> Directive:
    definition = text_of(moment.resolve(prepared.definition))
    if not isinstance(definition, str) or not definition:
        return Refuse(Failure("DEFINITION_INVALID", "the id of a definition is text"))
    input = input_or(prepared.input, moment)
    return Call(definition, prepared.version, input, prepared.wait, prepared.on_parent_close)


TYPE = NodeType(
    name="sub-flow",
    title="Sub-flow",
    description="Runs another flow as a child. Output: the child's result.",
    config=SubFlowConfig,
    prepare=prepare,
    plan=plan,
    beside=False,
    group="Flow",
    icon="workflow",
    examples=({"definition": "refund", "input": {"order": "${data.id}"}},),
)
