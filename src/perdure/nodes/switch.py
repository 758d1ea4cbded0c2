"""switch: one of several ways.

    cases with `when`              the first case whose condition is true
    `value` and cases with `equals` the first case that equals it
    `route`                        an expression that gives the name of the outcome itself

Where no case holds, or the computed name is none of the ways, the `default` is taken; without one the node fails with
SWITCH_NO_ROUTE, which an `error` edge may take care of. The ways of a computed route are `routes`, or else those that
the node's edges name.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from pydantic import Field, model_validator

from perdure.expressions import Expression, Template, compile_expression
from perdure.model.failures import Failure
from perdure.nodes.config import ExpressionText, NodeConfig, TemplateValue, expression, template
from perdure.programs.flow.nodetypes import ANY_OUTCOME, Directive, Done, NodeType, Plan, Refuse

_SAME = compile_expression("a == b")
Outcome = Annotated[str, Field(min_length=1, max_length=128)]


class Case(NodeConfig):
    when: ExpressionText | None = Field(
        None, title="When", description="An expression that is true or false.", examples=["data.total > 100"]
    )
    equals: TemplateValue = Field(
        None,
        title="Equals",
        description="What the value of the switch is compared with; a list has one that it equals.",
        examples=["gold", ["DE", "AT", "CH"], "${vars.limit}"],
    )
    outcome: Outcome = Field(title="Outcome", description="The edges with this outcome are taken.", examples=["large"])


class SwitchConfig(NodeConfig):
    cases: list[Case] = Field(
        default_factory=list,
        max_length=256,
        title="Cases",
        description="Asked in this order; the first that holds decides.",
        examples=[[{"when": "data.total > 100", "outcome": "large"}, {"when": "data.total > 10", "outcome": "medium"}]],
    )
    value: ExpressionText | None = Field(
        None, title="Value", description="An expression; the cases say what it `equals`.", examples=["data.country"]
    )
    route: ExpressionText | None = Field(
        None,
        title="Route",
        description="An expression that gives the name of the outcome, in the place of cases.",
        examples=["data.department", "'large' if data.total > 100 else 'small'"],
    )
    routes: list[Outcome] = Field(
        default_factory=list,
        max_length=256,
        title="Routes",
        description="The outcomes that `route` may give. Without a list, those that the edges name.",
        examples=[["sales", "support"]],
    )
    default: Outcome | None = Field(
        None,
        title="Otherwise",
        description="The outcome where nothing else holds. Without it, the node fails.",
        examples=["other"],
    )

    @model_validator(mode="after")
    def _one_way(self) -> SwitchConfig:
        if (self.route is None) == (not self.cases):
            raise ValueError("give either `cases` or `route`")
        if self.route is not None and self.value is not None:
            raise ValueError("`value` is for cases; `route` gives the outcome itself")
        if self.routes and self.route is None:
            raise ValueError("`routes` are the outcomes of a `route`")
        for number, case in enumerate(self.cases):
            has_value = "equals" in case.model_fields_set
            if self.value is not None and (case.when is not None or not has_value):
                raise ValueError(f"case {number} needs `equals`, as the switch has a value")
            if self.value is None and (case.when is None or has_value):
                raise ValueError(f"case {number} needs `when`, as the switch has no value")
        return self


class Choice(msgspec.Struct, frozen=True):
    when: Expression | None
    equals: Template | None
    outcome: str


class Prepared(msgspec.Struct, frozen=True):
    choices: list[Choice]
    value: Expression | None
    route: Expression | None
    routes: frozenset[str]
    default: str | None


def prepare(config: SwitchConfig) -> Prepared:
    choices = [
        Choice(
            expression(case.when) if case.when is not None else None,
            template(case.equals) if case.when is None else None,
            case.outcome,
        )
        for case in config.cases
    ]
    value, route = (expression(each) if each is not None else None for each in (config.value, config.route))
    return Prepared(choices, value, route, frozenset(config.routes), config.default)


def plan(prepared: Prepared, moment: Plan) -> Directive:
    if prepared.route is not None:
        return _routed(prepared, prepared.route, moment)
    value = moment.evaluate(prepared.value) if prepared.value is not None else None
    for number, choice in enumerate(prepared.choices):
        if choice.when is None:
            holds: Any = _equals(value, moment.resolve(choice.equals), moment)
        else:
            holds = moment.evaluate(choice.when)
            if not isinstance(holds, bool):
                told = f"the condition of case {number} is neither true nor false but {holds!r}"[:200]
                return Refuse(Failure("CONDITION_NOT_BOOLEAN", told))
        if holds:
            return Done(outcome=choice.outcome)
    return _otherwise(prepared, f"no case holds for {value!r}"[:200] if prepared.value is not None else "no case holds")


def _equals(value: Any, wanted: Any, moment: Plan) -> bool:
    if isinstance(wanted, list) and not isinstance(value, list):
        return any(_equals(value, each, moment) for each in wanted)
    return bool(moment.apply(_SAME, {"a": value, "b": wanted}))


def _routed(prepared: Prepared, route: Expression, moment: Plan) -> Directive:
    name = moment.evaluate(route)
    if isinstance(name, bool | int):
        name = str(name).lower()
    if isinstance(name, str) and name in (prepared.routes or moment.ways):
        return Done(outcome=name)
    return _otherwise(prepared, f"there is no way {name!r}"[:200])


def _otherwise(prepared: Prepared, why: str) -> Directive:
    if prepared.default is not None:
        return Done(outcome=prepared.default)
    return Refuse(Failure("SWITCH_NO_ROUTE", why))


def outcomes(config: SwitchConfig) -> tuple[str, ...]:
    own = [*(case.outcome for case in config.cases), *config.routes]
    if config.route is not None and not config.routes:
        own.append(ANY_OUTCOME)
    if config.default is not None:
        own.append(config.default)
    return tuple(dict.fromkeys(own))


TYPE = NodeType(
    name="switch",
    title="Switch",
    description="Takes one of several ways, by cases or by a computed name. Hands on its input.",
    config=SwitchConfig,
    prepare=prepare,
    plan=plan,
    outcomes=outcomes,
    group="Flow",
    icon="git-fork",
    examples=(
        {"cases": [{"when": "data.total > 100", "outcome": "large"}], "default": "small"},
        {"route": "data.department", "routes": ["sales", "support"]},
    ),
)
