"""approval: asks a person to decide, and goes on by the decision.

Each option leads to an outcome of its own, `approved` and `rejected` where nothing is said. The output is
`{"selectedOptions": {"decision": …, "comment": …}}`. What holds for every answer is told at
[instruction](instruction.md).
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from pydantic import Field, model_validator

from perdure.errors import InvalidInput
from perdure.expressions import Template
from perdure.model.values import text_of
from perdure.model.views import built_view
from perdure.nodes.asking import Asking, AskingConfig, ask, asking, outcomes_of
from perdure.nodes.config import NodeConfig, TemplateText, template
from perdure.nodes.instruction import invalid
from perdure.programs.flow.nodetypes import Directive, NodeType, Plan, Refuse

DECISION, COMMENT = "decision", "comment"
REJECTED = "rejected"


class Choice(NodeConfig):
    """One way to decide."""

    value: str = Field(min_length=1, max_length=128, title="Value", description="What the answer holds.")
    label: TemplateText | None = Field(None, title="Text", description="What the person reads; else the value.")
    outcome: str | None = Field(
        None, min_length=1, max_length=128, title="Outcome", description="Which edges are taken; else the value."
    )


_DEFAULT = [
    Choice(value="approve", label="Approve", outcome="approved"),
    Choice(value="reject", label="Reject", outcome=REJECTED),
]


class ApprovalConfig(AskingConfig):
    title: TemplateText = Field(
        title="Title", description="What is to be decided, in one line.", examples=["Refund of order {{data.order}}"]
    )
    message: TemplateText | None = Field(None, title="Message", description="What there is to know about it.")
    options: list[Choice] = Field(
        default_factory=lambda: list(_DEFAULT),
        min_length=1,
        max_length=50,
        title="Options",
        description="The ways to decide. Without them: approve, with the outcome `approved`, and reject, `rejected`.",
        examples=[[{"value": "approve", "outcome": "approved"}, {"value": "later"}]],
    )
    comment: Literal["none", "optional", "required", "on_rejection"] = Field(
        "optional",
        title="Comment",
        description="Whether the person can, or must, say something; `on_rejection`: must, to reject.",
    )

    @model_validator(mode="after")
    def _differ(self) -> ApprovalConfig:
        values = [each.value for each in self.options]
        if len(set(values)) < len(values):
            raise ValueError("two options have the same value")
        return self


class Prepared(msgspec.Struct, frozen=True):
    title: Template
    message: Template | None
    labels: list[Template]
    outcomes: dict[str, str]
    comment: str
    asking: Asking


def prepare(config: ApprovalConfig) -> Prepared:
    return Prepared(
        template(config.title),
        template(config.message) if config.message is not None else None,
        [template(each.label or each.value) for each in config.options],
        {each.value: each.outcome or each.value for each in config.options},
        config.comment,
        asking(config),
    )


def plan(prepared: Prepared, moment: Plan) -> Directive:
    title = _text(moment.resolve(prepared.title))
    message = _text(moment.resolve(prepared.message)) if prepared.message is not None else None
    labels = [_text(moment.resolve(each)) for each in prepared.labels]
    values = [{"displayValue": label, "value": value} for label, value in zip(labels, prepared.outcomes, strict=True)]
    options: list[dict[str, Any]] = [
        {"id": "title", "description": title, "tags": {"values": ["ui.static_text"]}},
        *([{"id": "message", "description": message, "tags": {"values": ["ui.static_text"]}}] if message else []),
        {"id": DECISION, "tags": {"values": ["ui.button", "ui.required"]}, "possibleValues": values},
        *_comment(prepared),
    ]
    try:
        view = built_view(options, "approval", lambda path: None)
        return ask(
            prepared.asking,
            moment,
            view,
            {"title": title, "message": message},
            decided_by=DECISION,
            outcomes=prepared.outcomes,
        )
    except InvalidInput as problem:
        return Refuse(invalid(problem))


def _comment(prepared: Prepared) -> list[dict[str, Any]]:
    if prepared.comment == "none":
        return []
    free, needed = {"values": ["ui.free_text"]}, {"values": ["ui.free_text", "ui.required"]}
    widget = {"id": COMMENT, "description": "Comment", "tags": needed if prepared.comment == "required" else free}
    if prepared.comment == "on_rejection":
        widget["parentId"] = DECISION
        widget["possibleDependentValues"] = {
            value: {"tags": needed if outcome == REJECTED else free} for value, outcome in prepared.outcomes.items()
        }
    return [widget]


def _text(value: Any) -> str:
    return str(text_of(value))


def outcomes(config: ApprovalConfig) -> tuple[str, ...]:
    options = getattr(config, "options", None) or _DEFAULT
    return outcomes_of(config, tuple(dict.fromkeys(each.outcome or each.value for each in options)))


TYPE = NodeType(
    name="approval",
    title="Approval",
    description="Asks a person to decide and waits, holding nothing; the decision says which edges are taken.",
    config=ApprovalConfig,
    prepare=prepare,
    plan=plan,
    outcomes=outcomes,
    asks=True,
    beside=False,
    group="People",
    icon="stamp",
    examples=({"title": "Refund {{data.amount}} €?", "assignees": ["ada"], "deadline": "2d"},),
)
