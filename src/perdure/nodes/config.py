"""What the configurations of all node types have in common: one base class, and the field types they are made of."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, WithJsonSchema

from perdure.errors import PerdureError
from perdure.expressions import Expression, Path, Template, compile_expression, compile_template
from perdure.model.times import parse_duration
from perdure.model.values import text_of
from perdure.programs.flow.fields import EXPRESSION, PATH, TEMPLATE
from perdure.programs.flow.graph import bare
from perdure.programs.flow.names import ENVIRONMENT_NAMES
from perdure.programs.flow.nodetypes import Plan


class NodeConfig(BaseModel):
    """Unknown fields are mistakes; `3` is a number and `"3"` is not."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)


def has_placeholder(value: Any) -> bool:
    return isinstance(value, str) and ("${" in value or "{{" in value)


def expression(source: str) -> Expression:
    """With or without `${ }` around it."""
    return compile_expression(bare(source))


def template(value: Any) -> Template:
    """Placeholders with mistakes in them are kept as text here: a strict document that has any was refused at save."""
    return compile_template(value, mode="lenient")


def _path(text: str) -> str:
    try:
        Path.parse(text)
    except PerdureError as problem:
        raise ValueError(problem.message) from None
    return text


def _variable(name: str) -> str:
    if name in ENVIRONMENT_NAMES:
        raise ValueError(f"{name!r} is the name of something else; choose another")
    return name


COMPUTED = "computed"
"""The context of validating a configuration in which values stand in the place of templates."""


def _computed_text(value: Any, info: ValidationInfo) -> Any:
    return text_of(value) if info.context == COMPUTED else value


ExpressionText = Annotated[str, EXPRESSION, Field(min_length=1, max_length=8192)]
TemplateValue = Annotated[Any, TEMPLATE]
TemplateText = Annotated[str, BeforeValidator(_computed_text), TEMPLATE, Field(min_length=1)]
PathText = Annotated[str, AfterValidator(_path), PATH]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64), AfterValidator(_variable)]


# -- durations that may be computed --------------------------------------------------------------------------------


def _duration(value: Any) -> Any:
    if not has_placeholder(value):
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError("a duration is a number of seconds or a text like '30s'")
        parse_duration(value)
    return value


DynamicDuration = Annotated[
    str | int | float,
    BeforeValidator(_duration),
    TEMPLATE,
    WithJsonSchema(
        {
            "anyOf": [{"type": "string", "examples": ["30s", "5m", "2d", "PT1H"]}, {"type": "number", "minimum": 0}],
            "x-perdure": "template",
        }
    ),
]


def micros_of(value: Any) -> int:
    """What a duration that was computed comes to, in microseconds. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{value!r} is no duration")
    return parse_duration(value)


def input_or(given: Template | None, moment: Plan) -> Any:
    """What the template gives, or the node's own input where there is none."""
    return moment.input if given is None else moment.resolve(given)
