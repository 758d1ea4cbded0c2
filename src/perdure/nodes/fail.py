"""fail: fails on purpose, with a code that edges, callers and people can tell from others."""

from __future__ import annotations

import msgspec
from pydantic import Field

from perdure.expressions import Template
from perdure.model.failures import Failure
from perdure.model.values import text_of
from perdure.nodes.config import NodeConfig, TemplateText, TemplateValue, template
from perdure.programs.flow.nodetypes import Directive, NodeType, Plan, Refuse

LONGEST_MESSAGE = 4000


class FailConfig(NodeConfig):
    code: TemplateText = Field(
        "FAILED",
        max_length=128,
        title="Code",
        description="By which others tell it apart.",
        examples=["ORDER_REJECTED"],
    )
    message: TemplateText = Field(
        "the flow failed on purpose",
        title="Message",
        description="What people read.",
        examples=["the order {{data.id}} was rejected"],
    )
    details: TemplateValue = Field(None, title="Details", description="Any value; kept with the failure.")
    terminate: bool = Field(
        False,
        title="End the run",
        description="The run fails here and now; its code becomes the search attribute `errorCode`.",
    )


class Prepared(msgspec.Struct, frozen=True):
    code: Template
    message: Template
    details: Template
    terminate: bool


def prepare(config: FailConfig) -> Prepared:
    return Prepared(template(config.code), template(config.message), template(config.details), config.terminate)


def plan(prepared: Prepared, moment: Plan) -> Directive:
    code, message = (text_of(moment.resolve(each)) for each in (prepared.code, prepared.message))
    details = moment.resolve(prepared.details)
    if details is not None and not isinstance(details, dict):
        details = {"value": details}
    return Refuse(Failure(str(code), str(message)[:LONGEST_MESSAGE], details=details), prepared.terminate)


TYPE = NodeType(
    name="fail",
    title="Fail",
    description="Fails on purpose. Edges, loops or the failure node may take care of it, unless it ends the run.",
    config=FailConfig,
    prepare=prepare,
    plan=plan,
    ends_run=True,
    group="Flow",
    icon="octagon-x",
    examples=({"code": "ORDER_REJECTED", "message": "the order {{data.id}} was rejected"},),
)
