"""The names that expressions can read, gathered only as far as an expression asks for them.

input          the run's input                       data            what the node itself was given
nodes.X.output the output of node X                  vars            shared data
item, index    loop variables, as the loops name them
_global.X      output of X (Drift's spelling)        _enum_store     look-ups as of the run's start
_metadata      times and trace                       _thread         tenant, client, flags
run            id, definition, version, startedAt
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from perdure.kernel.state import RunState
from perdure.model.times import iso
from perdure.model.values import Json
from perdure.programs.flow.graph import Graph
from perdure.programs.flow.state import FlowScope, FlowState


class Outputs(dict[str, Any]):
    """Outputs by node id, of a scope and, where it has none, of the scopes around it. Reads through; copies nothing."""

    __slots__ = ("around",)

    def __init__(self, around: list[dict[str, Any]]) -> None:
        super().__init__()
        self.around = around

    def __missing__(self, id: str) -> Any:
        for outputs in self.around:
            if id in outputs:
                return outputs[id]
        raise KeyError(id)


class Nodes(Outputs):
    """The same, as `nodes.X.output`."""

    __slots__ = ()

    def __missing__(self, id: str) -> Any:
        return {"output": super().__missing__(id)}


def environment(graph: Graph, state: RunState, scope: FlowScope, data: Json, names: Collection[str]) -> dict[str, Any]:
    flow: FlowState = state.body
    found: dict[str, Any] = {}
    for name in names:
        match name:
            case "input":
                found[name] = state.input
            case "data":
                found[name] = data
            case "vars":
                found[name] = flow.vars
            case "nodes":
                found[name] = Nodes(_around(flow, scope)) if scope.id else _rooted(scope)
            case "_global":
                found[name] = {**_params(state), **_flat(flow, scope)}
            case "_enum_store":
                found[name] = state.lookups or {}
            case "_thread":
                found[name] = state.thread or {}
            case "_metadata":
                found[name] = _metadata(state, flow)
            case "run":
                found[name] = {
                    "id": state.run,
                    "definition": state.definition,
                    "version": state.version,
                    "startedAt": iso(state.started_at),
                }
            case _:
                pass  # a loop variable, or unknown: the expression will say so
    _loop_variables(graph, flow, scope, found, names)
    return found


def _around(flow: FlowState, scope: FlowScope) -> list[dict[str, Any]]:
    found = [scope.outputs]
    while scope.parent is not None:
        scope = flow.scopes[scope.parent]
        found.append(scope.outputs)
    return found


def _rooted(scope: FlowScope) -> Nodes:
    return Nodes([scope.outputs])


def _flat(flow: FlowState, scope: FlowScope) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for outputs in reversed(_around(flow, scope)):
        found.update(outputs)
    return found


def _params(state: RunState) -> dict[str, Any]:
    return dict(state.input) if isinstance(state.input, dict) else {}


def _metadata(state: RunState, flow: FlowState) -> dict[str, Any]:
    return {
        "createdAt": iso(state.started_at),
        "lastUpdatedAt": iso(state.at),
        "currentNode": flow.trace[-1] if flow.trace else None,
        "executedNodes": list(flow.trace),
    }


def _loop_variables(
    graph: Graph, flow: FlowState, scope: FlowScope, found: dict[str, Any], names: Collection[str]
) -> None:
    at: FlowScope | None = scope
    while at is not None and at.node is not None:
        options = graph.nodes[at.node].loop
        assert options is not None
        if options.item in names and options.item not in found:
            found[options.item] = at.item
        if options.index in names and options.index not in found:
            found[options.index] = at.index
        gathered = options.accumulator
        if gathered is not None and gathered in names and gathered not in found and at.loop in flow.loops:
            found[gathered] = flow.loops[at.loop].results
        at = flow.scopes[at.parent] if at.parent is not None else None
