"""end: a way through the flow ends here, and its result is the run's (inside a loop: the iteration's)."""

from __future__ import annotations

from typing import Any

import msgspec
from pydantic import Field

from perdure.expressions import Template
from perdure.nodes.config import NodeConfig, TemplateValue, template
from perdure.programs.flow.nodetypes import Directive, Done, NodeType, Plan


class EndConfig(NodeConfig):
    output: TemplateValue = Field(
        None,
        title="Output",
        description="The result. Without it, what the node was given is the result.",
        examples=["${nodes.total.output}", {"paid": "${vars.paid}"}],
    )
    terminate: bool = Field(
        False, title="End the run", description="End the run here and now; what else still runs is withdrawn."
    )


class Prepared(msgspec.Struct, frozen=True):
    output: Template | None
    terminate: bool


def prepare(config: EndConfig) -> Prepared:
    given = "output" in config.model_fields_set
    return Prepared(template(config.output) if given else None, config.terminate)


def plan(prepared: Prepared, moment: Plan) -> Directive:
    if prepared.output is None:
        return Done(terminate=prepared.terminate)
    output: Any = moment.resolve(prepared.output)
    return Done(output, terminate=prepared.terminate)


TYPE = NodeType(
    name="end",
    title="End",
    description="A way through the flow ends here. The run completes when all ways have ended.",
    config=EndConfig,
    prepare=prepare,
    plan=plan,
    is_end=True,
    group="Flow",
    icon="flag",
    examples=(
        {},
        {"output": "${nodes.total.output}"},
    ),
)
