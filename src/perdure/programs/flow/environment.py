"""The names that expressions can read, gathered only as far as an expression asks for them.

input          the run's input                       data            what the node itself was given
nodes.X.output the output of node X                  vars            shared data
item, index    loop variables, as the loops name them
_global.X      output of X (Drift's spelling)        _enum_store     look-ups as of the run's start
               where there is none, input.X, and where there is none, what people selected at the widget X;
               also "X:viewResponse", what they answered at node X
_metadata      times and trace                       _thread         tenant, client, flags
run            id, definition, version, startedAt
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from msgspec import UNSET

from perdure.kernel.state import RunState
from perdure.model.times import iso
from perdure.model.values import Json
from perdure.programs.flow.graph import Graph, Node
from perdure.programs.flow.names import Reads
from perdure.programs.flow.state import FlowScope, FlowState

RESPONSE = ":httpResponse"


class Sight(NamedTuple):
    """From where a dialect's own names are read."""

    state: RunState
    scope: FlowScope
    data: Json
    reads: Reads
    node: Node | None

    def outputs(self, name: str) -> dict[str, Any]:
        """The outputs that are read under this name."""
        return _outputs(self.state.body, self.scope, self.reads, name)


def environment(
    graph: Graph, state: RunState, scope: FlowScope, data: Json, reads: Reads, node: Node | None = None
) -> dict[str, Any]:
    """Plain values, as many as are read: nothing in them looks further, so a result may be kept."""
    if graph.names is not None:
        return graph.names.environment(graph, state, scope, data, reads)
    flow: FlowState = state.body
    found: dict[str, Any] = {}
    names = {str(read[0]) for read in reads}
    for name in names:
        reader = graph.naming.get(name)
        if reader is not None and (value := reader(Sight(state, scope, data, reads, node))) is not UNSET:
            found[name] = value
            continue
        match name:
            case "input":
                found[name] = state.input
            case "data":
                found[name] = data
            case "vars":
                found[name] = flow.vars
            case "nodes":
                outputs = _outputs(flow, scope, reads, name)
                found[name] = {id: {"output": output} for id, output in outputs.items()}
            case "_global":
                outputs = _outputs(flow, scope, reads, name)
                found[name] = {**selected(flow, scope), **_params(state), **outputs}
            case "_enum_store":
                found[name] = state.lookups if state.lookups is not None else graph.lookups
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


def _outputs(flow: FlowState, scope: FlowScope, reads: Reads, name: str) -> dict[str, Any]:
    """The outputs that are read, of the scope and, where it has none, of those around it. Only who reads them as a
    whole, or by a key that is computed, gets all."""
    around = [scope.outputs]
    while scope.parent is not None:
        scope = flow.scopes[scope.parent]
        around.append(scope.outputs)
    of_name = [read for read in reads if read[0] == name]
    if any(len(read) == 1 for read in of_name):
        return {id: output for outputs in reversed(around) for id, output in outputs.items()}
    found: dict[str, Any] = {}
    for read in of_name:
        id = str(read[1])
        for outputs in around:
            if id in outputs:
                found[id] = outputs[id]
                break
        else:
            # Drift's name for what a call has given, whether or not that is the node's output itself.
            whole = id.removesuffix(RESPONSE)
            nearest = next((outputs for outputs in around if whole in outputs), {})
            if whole in nearest:
                found[id] = nearest[whole]
    return found


def selected(flow: FlowState, scope: FlowScope) -> dict[str, Any]:
    """What people have selected in the scope and in those around it; the nearest counts."""
    around = flow.scopes[scope.parent] if scope.parent is not None else None
    return {**selected(flow, around), **scope.selected} if around is not None else scope.selected


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
            found[gathered] = list(flow.loops[at.loop].results)  # the loop goes on gathering in its own
        at = flow.scopes[at.parent] if at.parent is not None else None
