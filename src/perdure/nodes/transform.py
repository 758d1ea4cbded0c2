"""transform: takes data apart and puts it together again, in steps.

    map        fields under other names              extract    one part of it
    parse      JSON text to a value                  stringify  a value to JSON text
    concat     several fields to one text

Paths are dotted (`items.0.name`), and looked up in the input, then in its `data`. A list is mapped item by item.

Where `extract` is given a path that begins with `$` it is a JSONPath (RFC 9535): `$.orders[?@.total > 100].id`. A query
that can find one value at most (`$.orders[0].id`) gives that value, and fails or gives the default where there is none;
any other gives the list of all that it finds, which may be empty. `take` says otherwise: `first`, the first value as if
there could be no other, or `all`, always a list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
from pydantic import AfterValidator, AliasChoices, Field

from perdure.expressions import MISSING, Path, Template
from perdure.expressions.queries import compile_query
from perdure.model.failures import Failure
from perdure.nodes import transformations as operations
from perdure.nodes.config import NodeConfig, TemplateValue, input_or, template
from perdure.nodes.transformations import parse_path
from perdure.programs.flow.fields import PATH, QUERY
from perdure.programs.flow.nodetypes import Directive, Done, NodeType, Plan, Refuse


def _checked(text: str) -> str:
    parse_path(text)
    return text


PathText = Annotated[str, AfterValidator(_checked), PATH]


class Mapping(NodeConfig):
    source: PathText = Field(
        validation_alias=AliasChoices("from", "source"),
        title="From",
        description="The path of the source.",
        examples=["user.name"],
    )
    target: PathText = Field(
        validation_alias=AliasChoices("to", "target"),
        min_length=1,
        title="To",
        description="The path of the target.",
        examples=["name"],
    )
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
        description="Fields that no mapping names are kept as they are.",
    )
    each: bool = Field(
        True, title="Item by item", description="A list is mapped item by item; otherwise the object that it is in."
    )


class ExtractConfig(NodeConfig):
    path: Annotated[str, QUERY] = Field(
        validation_alias=AliasChoices("jsonPath", "path"),
        max_length=8192,
        title="Path",
        description="A dotted path, or a JSONPath, which begins with `$`.",
        examples=["items.0.name", "$.items[?@.price < 10].name"],
    )
    take: Literal["auto", "first", "all"] = Field(
        "auto",
        title="Take",
        description="Of what a JSONPath finds: the first, all as a list, or what suits the query: one value or many.",
        examples=["first"],
    )
    output_key: str | None = Field(
        None,
        validation_alias=AliasChoices("outputKey", "output_key"),
        title="Put under",
        description="Without it, the part itself is the result.",
    )
    default: Any = Field(None, title="Default", description="The result if the path leads nowhere; else that fails.")


class KeysConfig(NodeConfig):
    input_key: PathText = Field(
        validation_alias=AliasChoices("inputKey", "input_key"), title="Read from", description="The path of the value."
    )
    output_key: str | None = Field(
        None,
        validation_alias=AliasChoices("outputKey", "output_key"),
        title="Put under",
        description="Without it, in the place of the old.",
    )


class ConcatConfig(NodeConfig):
    inputs: str | list[PathText] = Field(title="Inputs", description="Paths, or a comma list.", examples=["first,last"])
    separator: str = Field("", title="Separator", description="What stands between them.", examples=[" "])
    output_key: str = Field(
        "result",
        validation_alias=AliasChoices("outputKey", "output_key"),
        min_length=1,
        title="Put under",
        description="The field that gets the text.",
    )


class Map(NodeConfig):
    type: Literal["map"]
    config: MapConfig = Field(title="Settings", description="What the operation needs to know.")


class Extract(NodeConfig):
    type: Literal["extract"]
    config: ExtractConfig = Field(title="Settings", description="What the operation needs to know.")


class Parse(NodeConfig):
    type: Literal["parse"]
    config: KeysConfig = Field(title="Settings", description="What the operation needs to know.")


class Stringify(NodeConfig):
    type: Literal["stringify"]
    config: KeysConfig = Field(title="Settings", description="What the operation needs to know.")


class Concat(NodeConfig):
    type: Literal["concat"]
    config: ConcatConfig = Field(title="Settings", description="What the operation needs to know.")


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
    also: TemplateValue = Field(
        None,
        title="Also",
        description="An object in which paths are looked for that lead nowhere in the input. Its nulls are absent.",
        examples=[{"order": "${vars.order}"}],
    )


class Prepared(msgspec.Struct, frozen=True):
    operations: list[operations.Operation]
    source: Template | None
    also: Template | None


def prepare(config: TransformConfig) -> Prepared:
    source = template(config.source) if "source" in config.model_fields_set else None
    also = template(config.also) if config.also is not None else None
    return Prepared([PREPARERS[each.type](each.config) for each in config.operations], source, also)


def _map(config: MapConfig) -> operations.Operation:
    given = config.mappings
    if isinstance(given, dict):
        pairs = [(parse_path(source), parse_path(target), False) for source, target in given.items()]
    else:
        pairs = [(parse_path(each.source), parse_path(each.target), each.remove_source) for each in given]
    return operations.Map(pairs, config.include_unmapped, config.each)


def _extract(config: ExtractConfig) -> operations.Operation:
    default = config.default if "default" in config.model_fields_set else MISSING
    query = compile_query(config.path)
    if isinstance(query, Path):
        return operations.Extract(query, config.output_key, default, every=config.take == "all")
    one = config.take == "first" or (config.take == "auto" and query.is_singular)
    return operations.Select(query, one, config.output_key, default)


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
    also = moment.resolve(prepared.also) if prepared.also is not None else None
    for number, operation in enumerate(prepared.operations):
        try:
            value = operation.apply(value, moment, also)
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
    group="Data",
    icon="shuffle",
    examples=(
        {"operations": [{"type": "extract", "config": {"jsonPath": "$.orders[?@.total > 100].id"}}]},
        {"operations": [{"type": "map", "config": {"mappings": {"user.name": "name"}}}]},
    ),
)
