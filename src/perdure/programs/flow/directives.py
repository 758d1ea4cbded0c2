"""What becomes of a directive: the events by which an activation executes, sleeps, waits, calls or ends."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from msgspec import UNSET

from perdure.kernel.decide import fail_attempt
from perdure.kernel.signals import deliver_signals
from perdure.kernel.sizes import measured
from perdure.kernel.state import ROOT, Activation, RunState
from perdure.kernel.turn import CONTINUED, Turn
from perdure.kernel.winding import close_run, fail_run
from perdure.model import effects
from perdure.model import events as e
from perdure.model.failures import Failure
from perdure.programs.flow import loops
from perdure.programs.flow.graph import Node
from perdure.programs.flow.nodetypes import (
    Ask,
    AwaitSignal,
    Call,
    ContinueAsNew,
    Directive,
    Done,
    Execute,
    Iterate,
    Refuse,
    Sleep,
)

if TYPE_CHECKING:
    from perdure.programs.flow.program import FlowProgram


def carry_out(program: FlowProgram, turn: Turn, node: Node, activation: Activation, directive: Directive) -> None:
    state = turn.state
    match directive:
        case Execute():
            turn.execute(activation.id)
        case Sleep(until=until, output=output):
            turn.emit(e.TimerArmed(f"a{activation.id}", until, "sleep", activation.id, output))
        case AwaitSignal(name=name, until=until, mode=mode):
            turn.emit(e.SignalAwaited(activation.id, name, mode))
            if until is not None:
                turn.emit(e.TimerArmed(f"a{activation.id}", until, "signal", activation.id))
            deliver_signals(turn, name)
        case Ask():
            turn.emit(
                e.TaskOpened(
                    activation.id,
                    directive.view,
                    directive.until,
                    directive.reminders,
                    directive.escalate_after,
                    directive.details,
                    directive.decided_by,
                    directive.outcomes,
                )
            )
        case Call() if state.depth >= state.limits.child_depth:
            deepest = state.limits.child_depth
            too_deep = Failure("LIMIT_CHILD_DEPTH", f"children are nested deeper than {deepest}")
            fail_attempt(turn, activation, too_deep)
        case Call():
            run = child_run_id(state, activation)
            child = directive
            turn.emit(
                e.ChildRequested(
                    activation.id,
                    run,
                    child.definition,
                    child.version,
                    child.input,
                    child.wait,
                    child.on_parent_close,
                )
            )
            turn.start_child(effects.StartChild(activation.id, run, child.definition, child.version, child.input))
        case Iterate():
            loops.begin(program, turn, node, activation, directive)
        case Refuse(failure=failure, terminate=True) if not activation.detached:
            failure = failure.at_node(node.id)
            turn.emit(e.AttributesSet({"errorCode": failure.code}))
            turn.emit(e.ActivationFailed(activation.id, activation.attempt, failure))
            fail_run(turn, failure, activation.id)
        case Refuse(failure=failure):
            fail_attempt(turn, activation, failure)
        case ContinueAsNew(input=input):
            program.completed(turn, activation, None, None, None, 0)
            close_run(turn, CONTINUED, output=input)
        case Done():
            output = activation.input if directive.output is UNSET else directive.output
            size = 0 if directive.output is UNSET else measured(output)
            program.completed(turn, activation, output, directive.outcome, directive.vars, size)
            if directive.message is not None:
                message = directive.message
                turn.emit(e.MessagePublished(message.type, message.payload, message.key))
            if directive.terminate and activation.scope == ROOT and not activation.detached:
                close_run(turn, "COMPLETED", output=output)


def child_run_id(state: RunState, activation: Activation) -> str:
    """Follows from the parent activation's key, so that starting the child twice starts it once."""
    return "c" + hashlib.blake2b(state.activation_key(activation).encode(), digest_size=13).hexdigest()[:25]
