"""wait-for-event: waits until an event of a type comes from outside, for this key, that passes the filter.

An event reaches the run as a signal whose name is made from its type and its key: `perdure.model.event_signals`. Events
that came before count too. One that does not pass the filter is left for other nodes.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from pydantic import AliasChoices, Field

from perdure.errors import ExpressionError
from perdure.expressions import Expression, Template, compile_expression
from perdure.model.event_signals import event_signal
from perdure.model.failures import Failure
from perdure.model.values import Json, text_of
from perdure.nodes.config import DynamicDuration, NodeConfig, TemplateText, micros_of, template
from perdure.programs.flow.fields import Kind, Written
from perdure.programs.flow.graph import bare
from perdure.programs.flow.nodetypes import AwaitSignal, Directive, NodeType, Plan, Refuse, Waits

LONGEST = 256
EVENT = "event"


class WaitForEventConfig(NodeConfig):
    event: TemplateText = Field(
        validation_alias=AliasChoices("event", "type"),
        max_length=LONGEST,
        title="Event",
        description="The type of the event.",
        examples=["payment.received"],
    )
    key: TemplateText | None = Field(
        None,
        max_length=1024,
        title="Key",
        description="Whom the event concerns. Without it, an event without a key.",
        examples=["{{data.order}}", "${input.customer.id}"],
    )
    filter: Annotated[str, Written(Kind.EXPRESSION, names=lambda raw: [EVENT])] | None = Field(
        None,
        min_length=1,
        title="Only if",
        description="An expression about `event`, its payload; one of which it is not true is passed over.",
        examples=["event.amount >= 100"],
    )
    timeout: DynamicDuration | None = Field(
        None,
        title="Wait at most",
        description="After that it fails with SIGNAL_TIMEOUT; an edge with the outcome `timeout` takes care of it.",
        examples=["2d", "${vars.patience}"],
    )


class Prepared(msgspec.Struct, frozen=True):
    event: Template
    key: Template | None
    filter: Expression | None
    timeout: Template | None


def prepare(config: WaitForEventConfig) -> Prepared:
    # What an event lacks is no mistake: it is not the one that is waited for.
    chosen = compile_expression(bare(config.filter), missing="null") if config.filter is not None else None
    key, timeout = (template(each) if each is not None else None for each in (config.key, config.timeout))
    return Prepared(template(config.event), key, chosen, timeout)


def plan(prepared: Prepared, moment: Plan) -> Directive:
    event: Any = text_of(moment.resolve(prepared.event))
    key: Any = text_of(moment.resolve(prepared.key)) if prepared.key is not None else None
    if not isinstance(event, str) or not 0 < len(event) <= LONGEST:
        return Refuse(Failure("EVENT_INVALID", f"the type of an event is text of 1 to {LONGEST} characters"))
    if prepared.key is not None and (not isinstance(key, str) or not key):
        return Refuse(Failure("EVENT_INVALID", "the key of an event is text, and not empty"))
    name = event_signal(event, key)
    if prepared.timeout is None:
        return AwaitSignal(name)
    try:
        return AwaitSignal(name, moment.now + micros_of(moment.resolve(prepared.timeout)))
    except ValueError as problem:
        return Refuse(Failure("DURATION_INVALID", str(problem)))


def accepts(prepared: Prepared, moment: Plan, payload: Json) -> bool:
    if prepared.filter is None:
        return True
    try:
        return moment.evaluate(prepared.filter, {EVENT: payload}) is True
    except ExpressionError:
        return False


def waits(prepared: Prepared) -> Waits:
    if not prepared.event.is_static or (prepared.key is not None and not prepared.key.is_static):
        return Waits(None)
    key = None if prepared.key is None else str(prepared.key.resolve({}))
    return Waits(event_signal(str(prepared.event.resolve({})), key))


TYPE = NodeType(
    name="wait-for-event",
    title="Wait for an event",
    description="Waits for an event from outside. Output: its payload. Outcomes: `signal`, `timeout`.",
    config=WaitForEventConfig,
    prepare=prepare,
    plan=plan,
    outcomes=lambda config: ("signal",),
    waits=waits,
    accepts=accepts,
    beside=False,
    group="Messages",
    icon="radio",
    examples=(
        {"event": "payment.received", "key": "{{data.order}}", "filter": "event.amount >= 100", "timeout": "2d"},
    ),
)
