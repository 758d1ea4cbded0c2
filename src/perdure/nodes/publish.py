"""publish: sends a message to the outside world, exactly once into the outbox."""

from __future__ import annotations

import msgspec
from pydantic import Field

from perdure.expressions import Template
from perdure.model.failures import Failure
from perdure.model.values import text_of
from perdure.nodes.config import NodeConfig, TemplateText, TemplateValue, input_or, template
from perdure.programs.flow.nodetypes import Directive, Done, Message, NodeType, Plan, Refuse


class PublishConfig(NodeConfig):
    type: TemplateText = Field(
        max_length=256, title="Type", description="By which consumers choose.", examples=["order.paid"]
    )
    payload: TemplateValue = Field(
        None, title="Payload", description="Without it, what the node was given.", examples=[{"order": "${data.id}"}]
    )
    key: TemplateText | None = Field(
        None, title="Key", description="Messages with the same key keep their order.", examples=["{{data.customer}}"]
    )


class Prepared(msgspec.Struct, frozen=True):
    type: Template
    payload: Template | None
    key: Template | None


def prepare(config: PublishConfig) -> Prepared:
    payload = template(config.payload) if "payload" in config.model_fields_set else None
    return Prepared(template(config.type), payload, template(config.key) if config.key is not None else None)


def plan(prepared: Prepared, moment: Plan) -> Directive:
    type = text_of(moment.resolve(prepared.type))
    if not isinstance(type, str) or not type:
        return Refuse(Failure("MESSAGE_INVALID", "the type of a message is text"))
    key = text_of(moment.resolve(prepared.key)) if prepared.key is not None else None
    if key is not None and not isinstance(key, str):
        key = str(key)
    if "\0" in type or "\0" in (key or ""):
        return Refuse(Failure("MESSAGE_INVALID", "a NUL character in the type or the key of a message"))
    return Done(message=Message(type, input_or(prepared.payload, moment), key))


TYPE = NodeType(
    name="publish",
    title="Publish",
    description="Puts a message into the outbox, in the transaction that records the step. Hands on its input.",
    config=PublishConfig,
    prepare=prepare,
    plan=plan,
    group="Messages",
    icon="megaphone",
    examples=({"type": "order.paid", "payload": {"order": "${data.id}"}},),
)
