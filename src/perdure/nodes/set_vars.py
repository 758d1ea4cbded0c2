"""set: writes shared data, which every later node reads as `vars`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from pydantic import AfterValidator, AliasChoices, Field

from perdure.errors import PerdureError
from perdure.expressions import MISSING, Path, Template, compile_expression
from perdure.model.failures import Failure
from perdure.nodes.config import NodeConfig, template
from perdure.nodes.transformations import parse_path
from perdure.programs.flow.fields import TEMPLATE
from perdure.programs.flow.nodetypes import Directive, Done, NodeType, Plan, Refuse

SHARED = compile_expression("vars")
Mode = Literal["replace", "shallow", "deep"]


def parse_name(text: str) -> Path:
    """The name of a variable, or a dotted path into one. Raises ValueError."""
    path = parse_path(text)
    if not path.steps or not isinstance(path.steps[0], str):
        raise ValueError(f"{text[:64]!r} does not begin with the name of a variable")
    return path


def _names(values: dict[str, Any]) -> dict[str, Any]:
    for name in values:
        parse_name(name)
    return values


class SetConfig(NodeConfig):
    vars: Annotated[dict[str, Any], AfterValidator(_names), TEMPLATE] = Field(
        validation_alias=AliasChoices("vars", "values", "variables"),
        min_length=1,
        max_length=1000,
        title="Variables",
        description="What to write, by name. A dotted name writes inside an object. All read the old values.",
        examples=[{"total": "${data.price * 2}", "customer.name": "{{input.name}}"}],
    )
    merge: Mode = Field(
        "replace",
        title="Where there is an object already",
        description="Put the new value in its place, or merge the two, at the first level or at all.",
    )


class Prepared(msgspec.Struct, frozen=True):
    names: list[Path]
    values: Template
    merge: Mode


def prepare(config: SetConfig) -> Prepared:
    return Prepared([parse_name(name) for name in config.vars], template(list(config.vars.values())), config.merge)


def plan(prepared: Prepared, moment: Plan) -> Directive:
    old = moment.evaluate(SHARED)
    new = old
    for name, value in zip(prepared.names, moment.resolve(prepared.values), strict=True):
        before = name.find(new)
        try:
            new = name.set(new, value if before is MISSING else merged(before, value, prepared.merge))
        except PerdureError as problem:
            return Refuse(Failure("SET_INVALID", f"`{name}`: {problem.message}"))
    changed = {str(name.steps[0]) for name in prepared.names}
    return Done(vars={name: new[name] for name in sorted(changed)})


def merged(old: Any, new: Any, mode: Mode) -> Any:
    """The two as one, the new one having its way. Neither is changed."""
    if mode == "replace" or not isinstance(old, dict) or not isinstance(new, dict):
        return new
    if mode == "shallow":
        return {**old, **new}
    return {**old, **{key: merged(old[key], value, mode) if key in old else value for key, value in new.items()}}


TYPE = NodeType(
    name="set",
    title="Set variables",
    description="Writes shared data, which every later node reads as `vars`. Hands on its input.",
    config=SetConfig,
    prepare=prepare,
    plan=plan,
    group="Data",
    icon="variable",
    examples=({"vars": {"total": "${data.price * data.amount}"}},),
)
