"""json-array: puts a list into the flow, and vouches for the shape of its items."""

from __future__ import annotations

from typing import Any

import msgspec
from pydantic import AliasChoices, Field, model_validator

from perdure.errors import InvalidInput
from perdure.expressions import Template
from perdure.model.failures import Failure
from perdure.model.problems import pointed
from perdure.model.schemas import Schema
from perdure.nodes.config import NodeConfig, template
from perdure.nodes.json_value import JsonData, read
from perdure.programs.flow.nodetypes import Directive, Done, NodeType, Plan, Refuse

KINDS = {type(None): "null", bool: "boolean", int: "number", float: "number", str: "string", list: "array"}


class JsonArrayConfig(NodeConfig):
    items: JsonData = Field(
        validation_alias=AliasChoices("items", "jsonArray"),
        title="Items",
        description="A list, the same as JSON text, or a placeholder that gives one.",
        examples=[[{"name": "Ada"}, {"name": "Bob"}], "${nodes.load.output.users}"],
    )
    item_schema: dict[str, Any] | None = Field(
        None,
        validation_alias="schema",
        title="Schema",
        description="A JSON Schema for each item.",
        examples=[{"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}],
    )
    same_keys: bool = Field(
        True,
        validation_alias=AliasChoices("same_keys", "validateSchema"),
        title="Same keys",
        description="Without a schema: every item must be an object with the keys of the first.",
    )
    allow_empty: bool = Field(False, title="Allow an empty list", description="Otherwise an empty list is a failure.")

    @model_validator(mode="after")
    def _fits(self) -> JsonArrayConfig:
        prepared = prepare(self)
        if prepared.items.is_static:
            misfit = check(prepared, prepared.items.resolve({}))
            if misfit is not None:
                raise ValueError(misfit.message)
        return self


class Prepared(msgspec.Struct, frozen=True):
    items: Template
    schema: Schema | None
    same_keys: bool
    allow_empty: bool


def prepare(config: JsonArrayConfig) -> Prepared:
    try:
        schema = Schema(config.item_schema) if config.item_schema is not None else None
    except InvalidInput as problem:
        raise ValueError(problem.message) from None
    return Prepared(template(read(config.items)), schema, config.same_keys, config.allow_empty)


def check(prepared: Prepared, items: Any) -> Failure | None:
    """What is wrong with the first bad item: its index, and the JSON path to the place inside it."""
    if not isinstance(items, list):
        return Failure("ARRAY_INVALID", f"not a list: {kind(items)}")
    if not items and not prepared.allow_empty:
        return Failure("ARRAY_INVALID", "the list is empty")
    for index, item in enumerate(items):
        if prepared.schema is not None:
            misfit = prepared.schema.first_misfit(item)
            if misfit is not None:
                return _bad(index, misfit.path, misfit.message)
        elif prepared.same_keys:
            if not isinstance(item, dict):
                return _bad(index, "", f"an object is expected, this is {kind(item)}")
            if item.keys() != items[0].keys():
                return _other_keys(index, items[0], item)
    return None


def _other_keys(index: int, first: dict[str, Any], item: dict[str, Any]) -> Failure:
    missing = [key for key in first if key not in item]
    if missing:
        return _bad(index, pointed("", missing[0]), f"the key {missing[0]!r} of the first item is missing")
    extra = next(key for key in item if key not in first)
    return _bad(index, pointed("", extra), f"the key {extra!r} is not in the first item")


def _bad(index: int, path: str, message: str) -> Failure:
    place = pointed("", index) + path
    return Failure("ARRAY_INVALID", f"item {index} at {place}: {message}", details={"index": index, "path": place})


def kind(value: Any) -> str:
    return KINDS.get(type(value), "object")


def plan(prepared: Prepared, moment: Plan) -> Directive:
    items = moment.resolve(prepared.items)
    misfit = check(prepared, items)
    if misfit is not None:
        return Refuse(misfit)
    first = items[0] if items and isinstance(items[0], dict) else {}
    shape = {name: kind(value) for name, value in first.items()}
    return Done({"data": items, "array": items, "count": len(items), "schema": shape})


TYPE = NodeType(
    name="json-array",
    title="JSON list",
    description="Puts a list into the flow and checks its items. Output: `data` (also as `array`), `count`, `schema`.",
    config=JsonArrayConfig,
    prepare=prepare,
    plan=plan,
    group="Data",
    icon="brackets",
    examples=({"items": [{"name": "Ada"}, {"name": "Bob"}]},),
)
