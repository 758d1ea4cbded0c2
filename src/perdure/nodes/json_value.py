"""json: puts data into the flow, fixed or computed."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from perdure.errors import PerdureError
from perdure.expressions import Template
from perdure.model.values import decode_json
from perdure.nodes.config import NodeConfig, has_placeholder, template
from perdure.programs.flow.fields import Kind, Written
from perdure.programs.flow.nodetypes import Directive, Done, NodeType, Plan


def is_one_placeholder(text: str) -> bool:
    """`${…}` or `{{…}}` and nothing else: the value of it, whatever type that has."""
    text = text.strip()
    one = (text.startswith("${") and text.endswith("}")) or (text.startswith("{{") and text.endswith("}}"))
    return one and has_placeholder(text)


def read(data: Any) -> Any:
    """The value that `data` stands for: text is JSON that was written as text. Never raises."""
    if isinstance(data, str) and not is_one_placeholder(data):
        try:
            return decode_json(data)
        except PerdureError:
            return data
    return data


def _readable(data: Any) -> Any:
    if isinstance(data, str) and not is_one_placeholder(data):
        try:
            decode_json(data)
        except PerdureError as problem:
            hint = ' (text itself is written as "\\"text\\"", a placeholder inside JSON as "${…}")'
            raise ValueError(f"text here is read as JSON, and this is {problem.message}{hint}") from None
    return data


JsonData = Annotated[Any, AfterValidator(_readable), Written(Kind.TEMPLATE, read)]
"""A JSON value with placeholders in its strings, or the same written as text."""


class JsonConfig(NodeConfig):
    data: JsonData = Field(
        title="Data",
        description="Any JSON value, or JSON as text. A string that is one placeholder keeps the type of its value.",
        examples=[{"name": "Ada", "total": "${data.price * data.amount}"}, [1, 2, 3], "${nodes.load.output.users}"],
    )


def prepare(config: JsonConfig) -> Template:
    return template(read(config.data))


def plan(data: Template, moment: Plan) -> Directive:
    return Done({"data": moment.resolve(data)})


TYPE = NodeType(
    name="json",
    title="JSON",
    description="Puts data into the flow, fixed or computed from what there is. Output: `data`.",
    config=JsonConfig,
    prepare=prepare,
    plan=plan,
    group="Data",
    icon="braces",
    examples=({"data": {"name": "Ada", "total": "${data.price * data.amount}"}},),
)
