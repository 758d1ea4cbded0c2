"""What bare names mean in Yantra's documents. The first of these that has the name:

input       what the node was given; a field that it lacks is looked for in its `data`
data        the `data` of that, or all of it where it has none (on an edge: all that the node before has given)
workflow    startTime, triggerType, id, executionId, version, and the run's shared data
            then fields of the input's `data`, fields of the input, both again of what a conditional was given,
            variables of the loops around, from the inside out (the results so far also as `accumulated`),
            outputs of nodes by their ids, the run's shared data, and fields of what the run was started with

Each look-up costs about the same, however much data there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from perdure.dialects.yantra.conditions import OUTPUTS
from perdure.expressions import MISSING, MissingPolicy
from perdure.kernel.state import RunState
from perdure.model.times import iso
from perdure.model.values import Json
from perdure.programs.flow.graph import Graph
from perdure.programs.flow.names import Reads
from perdure.programs.flow.state import FlowScope, FlowState

ACCUMULATED = "accumulated"
_OF_A_CONDITIONAL = frozenset({"data", "result", "condition", "input"})


class YantraNames:
    language: MissingPolicy = "gval"

    def __init__(self, ids: Mapping[str, str]) -> None:
        self._ids = ids
        """Ids of the document's nodes, with those of the flow's."""

    def environment(self, graph: Graph, state: RunState, scope: FlowScope, data: Json, reads: Reads) -> dict[str, Any]:
        inner = data["data"] if isinstance(data, dict) and "data" in data else data
        return self._gather(graph, state, scope, data, reads, {"input": data, "data": inner}, {})

    def on_edge(
        self, graph: Graph, state: RunState, scope: FlowScope, node: str, output: Json, reads: Reads
    ) -> dict[str, Any]:
        return self._gather(graph, state, scope, output, reads, {"data": output}, {node: output})

    def _gather(
        self,
        graph: Graph,
        state: RunState,
        scope: FlowScope,
        given: Json,
        reads: Reads,
        fixed: dict[str, Any],
        fresh: dict[str, Any],
    ) -> dict[str, Any]:
        """`fresh`: outputs that are not kept yet."""
        flow: FlowState = state.body
        found: dict[str, Any] = {}
        for name in {str(read[0]) for read in reads}:
            value = fixed.get(name, MISSING)
            if name == OUTPUTS:
                value = {
                    id: opened(output, [each[1:] for each in reads if each[:2] == (name, id)])
                    for id in {str(read[1]) for read in reads if read[0] == name and len(read) > 1}
                    if (output := self._output(id, flow, scope, fresh)) is not MISSING
                }
            elif value is MISSING:
                value = _around(name, graph, state, scope, given)
            if value is MISSING:
                value = self._output(name, flow, scope, fresh)
            if value is MISSING:
                value = flow.vars.get(name, MISSING)
            if value is MISSING and isinstance(state.input, dict):
                value = state.input.get(name, MISSING)
            if value is not MISSING:
                found[name] = opened(value, [read for read in reads if read[0] == name])
        return found

    def _output(self, name: str, flow: FlowState, scope: FlowScope, fresh: dict[str, Any]) -> Any:
        """The output of the node that the document calls so."""
        id = self._ids.get(name)
        if id is None:
            return MISSING
        if id in fresh:
            return fresh[id]
        at: FlowScope | None = scope
        while at is not None:
            if id in at.outputs:
                return at.outputs[id]
            at = flow.scopes[at.parent] if at.parent is not None else None
        return MISSING


def _around(name: str, graph: Graph, state: RunState, scope: FlowScope, given: Json) -> Any:
    """In what the node was given, or in the loops around it."""
    if name == "workflow":
        return _workflow(state, state.body)
    for place in _fields(given):
        if name in place:
            return place[name]
    return _loop_variable(name, graph, state.body, scope)


def opened(value: Any, reads: list[tuple[str | int, ...]]) -> Any:
    """The value, such that a field that it lacks and its `data` has is found. Only the fields that are read are put
    together, so it costs no more than they are."""
    if not isinstance(value, dict) or not isinstance(value.get("data"), dict):
        return value
    inner: dict[str, Any] = value["data"]
    keys = [str(read[1]) for read in reads if len(read) > 1]
    if len(keys) < len(reads) or all(key in value or key not in inner for key in keys):
        return value
    return {key: value[key] if key in value else inner[key] for key in keys if key in value or key in inner}


def _fields(given: Json) -> Iterator[dict[str, Any]]:
    while isinstance(given, dict):
        if isinstance(given.get("data"), dict):
            yield given["data"]
        yield given
        if given.keys() != _OF_A_CONDITIONAL:
            return
        given = given["input"]


def _loop_variable(name: str, graph: Graph, flow: FlowState, scope: FlowScope) -> Any:
    at: FlowScope | None = scope
    while at is not None and at.node is not None:
        options = graph.nodes[at.node].loop
        assert options is not None
        if name == options.item:
            return at.item
        if name == options.index:
            return at.index
        if options.accumulator is not None and name in (options.accumulator, ACCUMULATED) and at.loop in flow.loops:
            loop = flow.loops[at.loop]
            return list(loop.results) if options.accumulate == "all" else loop.last
        at = flow.scopes[at.parent] if at.parent is not None else None
    return MISSING


def _workflow(state: RunState, flow: FlowState) -> dict[str, Any]:
    return {
        **flow.vars,
        "startTime": iso(state.started_at),
        "triggerType": state.trigger,
        "id": state.definition,
        "executionId": state.run,
        "version": state.version,
        "input": state.input,
    }
