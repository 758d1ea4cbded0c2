"""Nodes that run beside the graph: those that undo, those that run when everything else has ended, and those that
somebody asks for by name. Their end moves no token, and they may act or sleep, but not wait, loop or call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.errors import NotFound, PerdureError
from perdure.kernel.state import ROOT, Activation, Undo
from perdure.kernel.turn import Turn
from perdure.model import events as e
from perdure.model.failures import Failure, failure_from
from perdure.model.values import Json
from perdure.programs.flow.choosing import Moment
from perdure.programs.flow.graph import Node
from perdure.programs.flow.nodetypes import Directive, Done, Execute, Refuse, Sleep
from perdure.programs.flow.state import FlowState

if TYPE_CHECKING:
    from perdure.programs.flow.program import FlowProgram


def undo(program: FlowProgram, turn: Turn, entry: Undo, scope: int) -> None:
    told = {"input": entry.input, "output": entry.output, "key": entry.key, "node": entry.node}
    _start(program, turn, program.graph.by_id[entry.handler], scope, told, entry.activation)


def complete(program: FlowProgram, turn: Turn, number: int) -> bool:
    """Starts completion node `number`; False if there is no such."""
    closing = turn.state.closing
    assert closing is not None
    if number >= len(program.graph.after):
        return False
    told = {
        "status": closing.status,
        "output": closing.output,
        "error": closing.failure.as_dict() if closing.failure else None,
    }
    _start(program, turn, program.graph.after[number], ROOT, told, None)
    return True


def demand(program: FlowProgram, turn: Turn, name: str, parameters: Json, request: str | None, content: int) -> None:
    """Executes a node that stands beside the graph to be asked for. Its parameters are its input."""
    node = program.graph.by_id.get(name)
    if node is None or not node.on_demand:
        known = [each.id for each in program.graph.on_demand]
        raise NotFound(
            f"the flow has no node {name!r} that can be asked for",
            pointer="/node",
            expected=f"one of {', '.join(known)}" if known else "a node with `on_demand`; the flow has none",
        )
    turn.emit(e.NodeRequested(name, turn.state.next_activation, parameters, request, content))
    _start(program, turn, node, ROOT, parameters, None)


def refuse(turn: Turn, node: Node, activation: Activation) -> None:
    wrong = Failure("NOT_HERE", f"{node.type.name} cannot wait beside the graph", node=node.id)
    turn.emit(e.ActivationFailed(activation.id, activation.attempt, wrong))


def _start(program: FlowProgram, turn: Turn, node: Node, scope: int, input: Json, undoes: int | None) -> None:
    state = turn.state
    flow: FlowState = state.body
    visit = flow.scopes[scope].visits.get(node.index, 0) + 1
    id = state.next_activation
    directive: Directive
    try:
        directive = node.type.plan(node.prepared, Moment(program.graph, turn, flow.scopes[scope], input, turn.at, node))
    except PerdureError as problem:
        directive = Refuse(failure_from(problem, node.id))
    config = directive.config if type(directive) is Execute else None
    turn.emit(e.ActivationScheduled(id, node.id, scope, visit, config, undoes, True, input))
    if isinstance(directive, Execute | Sleep | Done | Refuse):
        program.carry_out(turn, node, state.activations[id], directive)
    else:
        wrong = Failure("NOT_HERE", f"{node.type.name} cannot run beside the graph", node=node.id)
        turn.emit(e.ActivationFailed(id, 1, wrong))
