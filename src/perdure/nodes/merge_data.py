"""merge-data: merges an object into shared data, whatever fields it has."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from pydantic import AfterValidator, Field

from perdure.errors import PerdureError
from perdure.expressions import MISSING, Path, Template
from perdure.model.failures import Failure
from perdure.nodes.config import NodeConfig, TemplateValue, input_or, template
from perdure.nodes.set_vars import SHARED, merged, parse_name
from perdure.programs.flow.fields import PATH
from perdure.programs.flow.nodetypes import Directive, Done, NodeType, Plan, Refuse


def _name(text: str) -> str:
    parse_name(text)
    return text


class MergeDataConfig(NodeConfig):
    data: TemplateValue = Field(
        None,
        title="Data",
        description="The object to merge. Without it, what the node was given.",
        examples=["${nodes.load.output.data}", {"order": {"state": "paid"}}],
    )
    into: Annotated[str, AfterValidator(_name), PATH] | None = Field(
        None, title="Into", description="A variable, or a dotted path into one. Without it, all of `vars`."
    )
    mode: Literal["shallow", "deep"] = Field("shallow", title="How", description="Merge at the first level, or at all.")


class Prepared(msgspec.Struct, frozen=True):
    data: Template | None
    into: Path | None
    mode: Literal["shallow", "deep"]


def prepare(config: MergeDataConfig) -> Prepared:
    data = template(config.data) if "data" in config.model_fields_set else None
    return Prepared(data, parse_name(config.into) if config.into is not None else None, config.mode)


def plan(prepared: Prepared, moment: Plan) -> Directive:
    data = input_or(prepared.data, moment)
    if not isinstance(data, dict):
        return Refuse(Failure("MERGE_INVALID", "only an object can be merged into shared data"))
    old = moment.evaluate(SHARED)
    if prepared.into is None:
        both = merged(old, data, prepared.mode)
        return Done(vars={key: both[key] for key in data})
    before = prepared.into.find(old)
    try:
        new = prepared.into.set(old, data if before is MISSING else merged(before, data, prepared.mode))
    except PerdureError as problem:
        return Refuse(Failure("MERGE_INVALID", problem.message))
    name = str(prepared.into.steps[0])
    return Done(vars={name: new[name]})


TYPE = NodeType(
    name="merge-data",
    title="Merge data",
    description="Merges an object into shared data (`vars`). Hands on its input.",
    config=MergeDataConfig,
    prepare=prepare,
    plan=plan,
    group="Data",
    icon="combine",
    examples=({"data": "${nodes.load.output.data}", "into": "order"},),
)
