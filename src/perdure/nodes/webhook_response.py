"""webhook-response: answers whoever started the run and waits for an answer, before the run has ended.

The answer is recorded with the step (a message of the type `perdure.reply`), so it is given once however often workers
die. A run answers once: a second answer is a failure, or ignored.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import msgspec
from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field

from perdure.expressions import Template, compile_expression
from perdure.model.failures import Failure
from perdure.model.replies import REPLIED, REPLY, Reply
from perdure.nodes.config import NodeConfig, TemplateValue, has_placeholder, input_or, template
from perdure.programs.flow.fields import TEMPLATE
from perdure.programs.flow.nodetypes import Directive, Done, Message, NodeType, Plan, Refuse

_REPLIED = compile_expression(f"vars.{REPLIED}", missing="null")
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}")
_HELD_BY_US = ("connection", "content-length", "transfer-encoding")
MOST_HEADERS = 64


def _status(value: Any) -> Any:
    if not has_placeholder(value):
        check_status(value)
    return value


def check_status(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 200 <= value <= 599:
        raise ValueError(f"{value!r} is no status from 200 to 599")
    return value


def _headers(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        check_header(name, value)
    return headers


def check_header(name: str, value: Any) -> None:
    if not _NAME.fullmatch(name) or name.lower() in _HELD_BY_US:
        raise ValueError(f"{name[:64]!r} cannot be a header of an answer")
    if not isinstance(value, str) or len(value) > 8192 or any(ord(sign) < 32 or ord(sign) == 127 for sign in value):
        raise ValueError(f"the header {name!r} is text of one line")


class WebhookResponseConfig(NodeConfig):
    status: Annotated[int | str, BeforeValidator(_status), TEMPLATE] = Field(
        200,
        validation_alias=AliasChoices("status", "statusCode"),
        title="Status",
        description="The status of the answer.",
        examples=[202, "${vars.status}"],
    )
    headers: Annotated[dict[str, str], AfterValidator(_headers), TEMPLATE] = Field(
        default_factory=dict,
        max_length=MOST_HEADERS,
        title="Headers",
        description="Headers of the answer.",
        examples=[{"Location": "/orders/{{data.id}}"}],
    )
    body: TemplateValue = Field(
        None,
        title="Body",
        description="JSON, or text. Without it, what the node was given.",
        examples=[{"order": "${data.id}"}, "Thank you, {{data.name}}."],
    )
    again: Literal["fail", "ignore"] = Field(
        "fail", title="If it has answered before", description="A second answer is a failure, or ignored."
    )


class Prepared(msgspec.Struct, frozen=True):
    status: Template
    headers: Template
    body: Template | None
    again: str


def prepare(config: WebhookResponseConfig) -> Prepared:
    body = template(config.body) if "body" in config.model_fields_set else None
    return Prepared(template(config.status), template(config.headers), body, config.again)


def plan(prepared: Prepared, moment: Plan) -> Directive:
    if moment.evaluate(_REPLIED):
        if prepared.again == "ignore":
            return Done()
        return Refuse(Failure("REPLY_TWICE", "the run has answered already"))
    try:
        status = check_status(moment.resolve(prepared.status))
        headers: dict[str, Any] = {str(name): value for name, value in dict(moment.resolve(prepared.headers)).items()}
        headers = {name: str(value) if isinstance(value, int | float) else value for name, value in headers.items()}
        _headers(headers)
    except ValueError as problem:
        return Refuse(Failure("REPLY_INVALID", str(problem)))
    reply = Reply(status, headers, input_or(prepared.body, moment))
    return Done(message=Message(REPLY, msgspec.to_builtins(reply)), vars={REPLIED: True})


TYPE = NodeType(
    name="webhook-response",
    title="Webhook response",
    description="Answers whoever started the run and waits for it. Hands on its input.",
    config=WebhookResponseConfig,
    prepare=prepare,
    plan=plan,
    group="Messages",
    icon="reply",
    examples=({"status": 202, "body": {"order": "${data.id}"}, "headers": {"Location": "/orders/{{data.id}}"}},),
)
