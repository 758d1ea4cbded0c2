"""conditional: a question with the answers true and false, each with its own edges."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from pydantic import AliasChoices, Field, model_validator

from perdure.expressions import Expression, MissingPolicy, Template, compile_expression
from perdure.model.failures import Failure
from perdure.nodes.config import ExpressionText, NodeConfig, TemplateValue, template
from perdure.programs.flow.graph import bare
from perdure.programs.flow.nodetypes import Directive, Done, NodeType, Plan, Refuse

Operator = Literal["eq", "neq", "gt", "lt", "gte", "lte", "contains", "exists"]

SIGNS: dict[str, str] = {
    "eq": "a == b", "neq": "a != b", "gt": "a > b", "lt": "a < b", "gte": "a >= b", "lte": "a <= b",
    "contains": "b in a",
}  # fmt: skip
_COMPARE = {name: compile_expression(source) for name, source in SIGNS.items()}


class Row(NodeConfig):
    left: ExpressionText = Field(title="Left", description="An expression.", examples=["data.age"])
    operator: Operator = Field("eq", title="Operator", description="How the two are compared.")
    right: TemplateValue = Field(
        None,
        title="Right",
        description="A value, or a placeholder. Text that reads as a number or a truth value is compared as such.",
        examples=[18, "${vars.limit}"],
    )


class ConditionalConfig(NodeConfig):
    condition: ExpressionText | None = Field(
        None, title="Condition", description="An expression that is true or false.", examples=["data.age >= 18"]
    )
    conditions: list[Row] = Field(
        default_factory=list,
        title="Conditions",
        description="Comparisons, in the place of `condition`.",
        max_length=100,
    )
    logical_operator: Literal["AND", "OR"] = Field(
        "AND",
        validation_alias=AliasChoices("logicalOperator", "logical_operator"),
        title="Joined by",
        description="Whether all must hold, or one.",
    )
    language: Literal["perdure", "gval"] = Field(
        "perdure",
        title="Rules",
        description="`gval`: expressions follow the rules of that Go library; a path that leads nowhere is null.",
    )
    text: str | None = Field(
        None, title="Text", description="What the output gives as `condition`. Without it, the condition as written."
    )
    output: Literal["result", "input"] = Field(
        "result",
        title="Output",
        description="The result (`data`, `result`, `condition`, `input`), or simply what the node was given.",
    )

    @model_validator(mode="after")
    def _specified(self) -> ConditionalConfig:
        if (self.condition is None) == (not self.conditions):
            raise ValueError("give either `condition` or `conditions`")
        return self


class Comparison(msgspec.Struct, frozen=True):
    left: Expression
    operator: str
    right: Template


class Prepared(msgspec.Struct, frozen=True):
    condition: Expression | None
    rows: list[Comparison]
    all_of: bool
    text: str
    passes_input: bool


def prepare(config: ConditionalConfig) -> Prepared:
    missing: MissingPolicy = "gval" if config.language == "gval" else "error"
    rows = [
        Comparison(compile_expression(bare(row.left), missing="null"), row.operator, template(row.right))
        if row.operator == "exists" and missing == "error"
        else Comparison(compile_expression(bare(row.left), missing=missing), row.operator, template(row.right))
        for row in config.conditions
    ]
    joint = f" {config.logical_operator} "
    text = config.text or config.condition or joint.join(_written(row) for row in config.conditions)
    condition = compile_expression(bare(config.condition), missing=missing) if config.condition is not None else None
    return Prepared(condition, rows, config.logical_operator == "AND", text, config.output == "input")


def _written(row: Row) -> str:
    return f"{row.left} exists" if row.operator == "exists" else f"{row.left} {row.operator} {row.right}"


def holds(row: Comparison, moment: Plan) -> bool:
    left = moment.evaluate(row.left)
    if row.operator == "exists":
        return left is not None
    right = alike(moment.resolve(row.right), left)
    if row.operator == "contains" and right in (None, ""):
        return bool(left)
    return bool(moment.apply(_COMPARE[row.operator], {"a": left, "b": right}))


def alike(right: Any, left: Any) -> Any:
    """What a form gives is text: beside a number or a truth value, text that reads as one is one."""
    if not isinstance(right, str) or isinstance(left, str):
        return right
    text = right.strip()
    if isinstance(left, bool):
        return {"true": True, "false": False}.get(text.lower(), right)
    if isinstance(left, int | float):
        try:
            return int(text) if text.lstrip("+-").isdecimal() else float(text)
        except ValueError:
            return right
    return right


def plan(prepared: Prepared, moment: Plan) -> Directive:
    answer: Any
    if prepared.condition is not None:
        answer = moment.evaluate(prepared.condition)
        if not isinstance(answer, bool):
            told = f"the condition is neither true nor false but {answer!r}"[:200]
            return Refuse(Failure("CONDITION_NOT_BOOLEAN", told))
    else:
        answer = (all if prepared.all_of else any)(holds(row, moment) for row in prepared.rows)
    outcome = "true" if answer else "false"
    if prepared.passes_input:
        return Done(outcome=outcome)
    output = {"data": answer, "result": answer, "condition": prepared.text, "input": entered(moment.input)}
    return Done(output, outcome=outcome)


def entered(input: Any) -> Any:
    """What came into the first of several conditionals in a row; they would wrap it once more at each."""
    if isinstance(input, dict) and input.keys() == {"data", "result", "condition", "input"}:
        return input["input"]
    return input


TYPE = NodeType(
    name="conditional",
    title="Condition",
    description="Asks a question. Edges with the outcome `true` or `false` are taken by the answer.",
    config=ConditionalConfig,
    prepare=prepare,
    plan=plan,
    outcomes=lambda config: ("true", "false"),
    group="Flow",
    icon="git-branch",
    examples=(
        {"condition": "data.total > 100"},
        {
            "conditions": [
                {"left": "data.country", "operator": "eq", "right": "DE"},
                {"left": "data.total", "operator": "gte", "right": 50},
            ],
            "logicalOperator": "AND",
        },
    ),
)
