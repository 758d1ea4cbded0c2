"""transform: takes data apart and puts it together again, in steps.

    map        fields under other names              extract    one part of it
    parse      JSON text to a value                  stringify  a value to JSON text
    concat     several fields to one text

Paths are dotted (`items.0.name`), and looked up in the input, then in its `data`. A list is mapped item by item.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
from pydantic import AfterValidator, AliasChoices, Field

from perdure.expressions import MISSING, Path, Template
from perdure.model.failures import Failure
from perdure.nodes import transformations as operations
from perdure.nodes.config import NodeConfig, TemplateValue, input_or, template
from perdure.nodes.transformations import parse_path
from perdure.programs.flow.fields import PATH
from perdure.programs.flow.nodetypes import Directive, Done, NodeType, Plan, Refuse


def _checked(text: str) -> str:
    parse_path(text)
    return text


PathText = Annotated[str, AfterValidator(_checked), PATH]


class Mapping(NodeConfig):
    source: PathText = Field(validation_alias=AliasChoices("from", "source"), title="From", examples=["user.name"])
    target: PathText = Field(validation_alias=AliasChoices("to", "target"), min_length=1, title="To", examples=["name"])
    remove_source: bool = Field(
        False,
        validation_alias=AliasChoices("removeSource", "remove_source"),
        title="Remove the source",
        description="With `includeUnmapped`: the source itself is not kept.",
    )


class MapConfig(NodeConfig):
    mappings: list[Mapping] | dict[PathText, PathText] = Field(
        title="Mappings",
        description="A list of {from, to}, or an object from → to. A source that is not there is left out.",
        examples=[[{"from": "user.name", "to": "name"}], {"firstName": "first_name"}],
    )
    include_unmapped: bool = Field(
        False,
        validation_alias=AliasChoices("includeUnmapped", "include_unmapped"),
        title="Keep the other fields",
    )


class ExtractConfig(NodeConfig):
    path: PathText = Field(validation_alias=AliasChoices("jsonPath", "path"), title="Path", examples=["items.0.name"])
    output_key: str | None = Field(
        None,
        validation_alias=AliasChoices("outputKey", "output_key"),
        title="Put under",
        description="Without it, the part itself is the result.",
    )
    default: Any = Field(None, title="Default", description="The result if the path leads nowhere; else that fails.")


class KeysConfig(NodeConfig):
    input_key: PathText = Field(validation_alias=AliasChoices("inputKey", "input_key"), title="Read from")
    output_key: str | None = Field(
        None,
        validation_alias=AliasChoices("outputKey", "output_key"),
        title="Put under",
        description="Without it, in the place of the old.",
    )


class ConcatConfig(NodeConfig):
    inputs: str | list[PathText] = Field(title="Inputs", description="Paths, or a comma list.", examples=["first,last"])
    separator: str = Field("", title="Separator", examples=[" "])
    output_key: str = Field(
        "result", validation_alias=AliasChoices("outputKey", "output_key"), min_length=1, title="Put under"
    )


class Map(NodeConfig):
    type: Literal["map"]
    config: MapConfig


class Extract(NodeConfig):
    type: Literal["extract"]
    config: ExtractConfig


class Parse(NodeConfig):
    type: Literal["parse"]
    config: KeysConfig


class Stringify(NodeConfig):
    type: Literal["stringify"]
    config: KeysConfig


class Concat(NodeConfig):
    type: Literal["concat"]
    config: ConcatConfig


Operation = Annotated[Map | Extract | Parse | Stringify | Concat, Field(discriminator="type")]


class TransformConfig(NodeConfig):
    operations: list[Operation] = Field(
        default_factory=list,
        max_length=100,
        title="Operations",
        description="Done one after the other, each on the result of the one before.",
        examples=[[{"type": "extract", "config": {"jsonPath": "items.0.name"}}]],
    )
    source: TemplateValue = Field(
        None, title="Source", description="What to transform. Without it, the node's input.", examples=["${vars.order}"]
    )


class Prepared(msgspec.Struct, frozen=True):
    operations: list[operations.Operation]
    source: Template | None


def prepare(config: TransformConfig) -> Prepared:
    source = template(config.source) if "source" in config.model_fields_set else None
    return Prepared([PREPARERS[each.type](each.config) for each in config.operations], source)


def _map(config: MapConfig) -> operations.Operation:
    given = config.mappings
    if isinstance(given, dict):
        pairs = [(parse_path(source), parse_path(target), False) for source, target in given.items()]
    else:
        pairs = [(parse_path(each.source), parse_path(each.target), each.remove_source) for each in given]
    return operations.Map(pairs, config.include_unmapped)


def _extract(config: ExtractConfig) -> operations.Operation:
    default = config.default if "default" in config.model_fields_set else MISSING
    return operations.Extract(parse_path(config.path), config.output_key, default)


def _target(config: KeysConfig) -> Path:
    return Path((config.output_key,)) if config.output_key is not None else parse_path(config.input_key)


def _concat(config: ConcatConfig) -> operations.Operation:
    given = config.inputs if isinstance(config.inputs, list) else config.inputs.split(",")
    return operations.Concat([parse_path(each) for each in given], config.separator, config.output_key)


PREPARERS: dict[str, Callable[[Any], operations.Operation]] = {
    "map": _map,
    "extract": _extract,
    "parse": lambda config: operations.Parse(parse_path(config.input_key), _target(config)),
    "stringify": lambda config: operations.Stringify(parse_path(config.input_key), _target(config)),
    "concat": _concat,
}


def plan(prepared: Prepared, moment: Plan) -> Directive:
    value = input_or(prepared.source, moment)
    for number, operation in enumerate(prepared.operations):
        try:
            value = operation.apply(value)
        except ValueError as problem:
            where = f"operation {number + 1} ({operation.name}): {problem}"
            return Refuse(Failure("TRANSFORM_INVALID", where, details={"operation": number}))
    return Done({"data": value})


TYPE = NodeType(
    name="transform",
    title="Transform",
    description="Takes data apart and puts it together again: map, extract, parse, stringify, concat. Output: `data`.",
    config=TransformConfig,
    prepare=prepare,
    plan=plan,
)
