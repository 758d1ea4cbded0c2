"""merge: brings together what several branches gave.

    append     the items of all, one list after the other
    position   the first item of each as one object, the second of each …
    key        items of two branches that have the same key as one object: an inner, left, right or outer join
    object     an object with the output of each branch under the id of its node
    fields     the fields of all, as one object
    choose     the output of one branch: the first of `inputs` that there is
    first      whatever arrived: with the join rule `first`, the branch that was fastest

Which branches have to arrive is said by the node's join rule. A branch that was skipped has no items. The items of a
branch are its output if that is a list, else the list in its `data` or `items`, else the output as the only item.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from pydantic import AfterValidator, Field, model_validator

from perdure.expressions import Expression, Path, compile_expression
from perdure.model.failures import Failure
from perdure.model.values import Json
from perdure.nodes.config import NodeConfig
from perdure.nodes.joining import JOINS, by_key, by_position, fields_of
from perdure.nodes.transformations import parse_path
from perdure.programs.flow.fields import PATH, Kind, Written
from perdure.programs.flow.nodetypes import Directive, Done, NodeType, Plan, Refuse

COST_OF_AN_ITEM = 20


def _written(ids: Any) -> Any:
    """What naming a node stands for: reading its output."""
    return [f"${{{_output(id)}}}" if isinstance(id, str) else id for id in ids] if isinstance(ids, list) else ids


def _output(id: str) -> str:
    quoted = id.replace("\\", "\\\\").replace('"', '\\"')
    return f'nodes["{quoted}"].output'


def _path(text: str) -> str:
    parse_path(text)
    return text


NodeIds = Annotated[list[str], Written(Kind.TEMPLATE, _written), Field(max_length=256)]
KeyPath = Annotated[str, AfterValidator(_path), PATH]


class MergeConfig(NodeConfig):
    mode: Literal["append", "position", "key", "object", "fields", "choose", "first"] = Field(
        "append", title="Mode", description="How the branches are brought together.", examples=["key"]
    )
    inputs: NodeIds = Field(
        default_factory=list,
        title="Branches",
        description="Ids of nodes, in this order. Without it, the nodes whose edges lead here.",
        examples=[["orders", "customers"]],
    )
    key: KeyPath | list[KeyPath] | None = Field(
        None,
        title="Key",
        description="With mode `key`: the path of the field by which items belong together, or several.",
        examples=["id", "customer.id", ["country", "zip"]],
    )
    right_key: KeyPath | list[KeyPath] | None = Field(
        None, title="Key of the second", description="Where its items name the key otherwise.", examples=["order_id"]
    )
    join: Literal["inner", "left", "right", "outer", "unmatched"] = Field(
        "inner",
        title="Join",
        description="Which items are kept: those with a partner; all of the first, of the second, of both; or those "
        "without a partner.",
        examples=["left"],
    )
    prefer: Literal["last", "first"] = Field(
        "last", title="Same field in both", description="Whose value counts.", examples=["first"]
    )

    @model_validator(mode="after")
    def _consistent(self) -> MergeConfig:
        if (self.mode == "key") != (self.key is not None):
            raise ValueError("`key` is needed with mode `key`, and only there")
        if self.mode == "key" and self.inputs and len(self.inputs) != 2:
            raise ValueError("mode `key` brings two branches together")
        if self.right_key is not None and len(_listed(self.right_key)) != len(_listed(self.key)):
            raise ValueError("`right_key` has as many fields as `key`")
        return self


def _listed(key: str | list[str] | None) -> list[str]:
    return key if isinstance(key, list) else [] if key is None else [key]


class Prepared(msgspec.Struct, frozen=True):
    mode: str
    inputs: tuple[str, ...]
    left: list[Path]
    right: list[Path]
    join: str
    prefer_first: bool


def prepare(config: MergeConfig) -> Prepared:
    left = [parse_path(each) for each in _listed(config.key)]
    right = [parse_path(each) for each in _listed(config.right_key)] or left
    return Prepared(config.mode, tuple(config.inputs), left, right, config.join, config.prefer == "first")


def _reading(id: str) -> Expression:
    return compile_expression(f"[{_output(id)}] if exists({_output(id).removesuffix('.output')}) else []")


def plan(prepared: Prepared, moment: Plan) -> Directive:
    if prepared.mode == "first":
        return Done()
    branches = _branches(prepared, moment)
    try:
        return _merged(prepared, branches, moment)
    except ValueError as problem:
        return Refuse(Failure("MERGE_INVALID", str(problem)))


def _branches(prepared: Prepared, moment: Plan) -> dict[str, Json]:
    """What the branches gave that have come this far, in their order."""
    found: dict[str, Json] = {}
    for id in prepared.inputs or moment.sources:
        given: Any = moment.evaluate(_reading(id))
        if given:
            found[id] = given[0]
    return found


def _merged(prepared: Prepared, branches: dict[str, Json], moment: Plan) -> Directive:
    if prepared.mode == "choose":
        if not branches:
            raise ValueError("none of the branches has an output")
        return Done(next(iter(branches.values())))
    if prepared.mode == "object":
        return Done({"data": branches, "count": len(branches)})
    if prepared.mode == "fields":
        return Done({"data": fields_of(list(branches.values()), prepared.prefer_first), "count": len(branches)})
    lists = [items_of(branches[id]) if id in branches else [] for id in (prepared.inputs or moment.sources)]
    moment.spend(sum(len(each) for each in lists) * COST_OF_AN_ITEM)
    if prepared.mode == "append":
        result = [item for items in lists for item in items]
    elif prepared.mode == "position":
        result = by_position(lists, prepared.prefer_first)
    else:
        if len(lists) != 2:
            raise ValueError(f"mode `key` brings two branches together, and {len(lists)} lead here")
        result = by_key(
            lists[0], lists[1], prepared.left, prepared.right, JOINS[prepared.join], prepared.prefer_first,
            lambda more: moment.spend(more * COST_OF_AN_ITEM),
        )  # fmt: skip
    return Done({"data": result, "count": len(result)})


def items_of(output: Json) -> list[Any]:
    if isinstance(output, list):
        return output
    if isinstance(output, dict):
        for key in ("data", "items", "results"):
            if isinstance(output.get(key), list):
                found: list[Any] = output[key]
                return found
        if isinstance(output.get("data"), dict):
            return [output["data"]]
    return [output]


TYPE = NodeType(
    name="merge",
    title="Merge",
    description="Brings together what several branches gave. Output: `data` and `count`; or a branch as it is.",
    config=MergeConfig,
    prepare=prepare,
    plan=plan,
    beside=False,
    group="Flow",
    icon="git-merge",
    examples=(
        {"mode": "append"},
        {"mode": "key", "key": "id", "join": "left", "inputs": ["orders", "customers"]},
    ),
)
