"""One turn: the commands that are handled together, the events they lead to, the effects these ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from perdure.errors import IllegalCommand
from perdure.kernel.legality import COMMANDS, Answer, Condition
from perdure.kernel.state import RunState
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.effects import AnyEffect, Execute, StartChild

if TYPE_CHECKING:
    from perdure.kernel.program import Program

Apply = Callable[[RunState, e.Event, int], None]

CONTINUED = "CONTINUED"
"""Not a final status: the run is wound up, to go on as a new generation with new input."""

TURN_ACTIVATIONS = 256
"""A turn schedules at most so many activations; the rest is left ready for the next one."""

TURN_WORK = 1_000_000
"""Units of work, as expressions count them, that a turn may spend before it leaves the rest to the next one: about a
twentieth of a second, so that others get their turns and the lease is renewed. The last node may cost more."""


class Turn:
    __slots__ = (
        "apply", "at", "begun", "blobs", "budget", "effects", "events", "must_snapshot", "program", "sends", "state",
        "work",
    )  # fmt: skip

    def __init__(self, program: Program, apply: Apply, state: RunState, now: int) -> None:
        self.program = program
        self.apply = apply
        self.state = state
        self.at = max(now, state.at)  # the log's time never goes back
        self.events: list[e.Event] = []
        self.effects: list[AnyEffect] = []
        self.begun: set[int] = set()
        """Activations whose handler or child this turn asks for: until it is durable, they have not begun."""
        self.sends: list[tuple[str, c.Command]] = []
        """Commands for other runs, to be put into their inboxes by the same transaction."""
        self.blobs: dict[str, bytes] = {}
        """Content that the events of this turn refer to by hash, to be stored by the same transaction."""
        self.budget = TURN_ACTIVATIONS
        self.work = TURN_WORK
        self.must_snapshot = False

    @property
    def is_tired(self) -> bool:
        """It has computed enough: whatever can wait is left to the next turn."""
        return self.work < 0

    def pay(self, work: int) -> None:
        self.work -= work
        if self.work < 0:
            self.budget = 0

    def emit(self, event: e.Event) -> None:
        self.events.append(event)
        self.apply(self.state, event, self.at)

    def execute(self, activation: int) -> None:
        self.begun.add(activation)
        self.effects.append(Execute(activation))

    def start_child(self, effect: StartChild) -> None:
        self.begun.add(effect.activation)
        self.effects.append(effect)

    def take_back(self, activation: int) -> bool:
        """Takes back what this very turn has asked for on behalf of the activation; whether there was something."""
        if activation not in self.begun:
            return False
        self.begun.remove(activation)
        self.effects = [
            effect
            for effect in self.effects
            if not (isinstance(effect, Execute | StartChild) and effect.activation == activation)
        ]
        return True


def condition(state: RunState) -> Condition:
    if state.final is not None:
        return Condition(state.final)
    if state.seq == 0:
        return Condition.NEW
    if state.closing is not None and state.closing.status != CONTINUED:
        return Condition.CLOSING
    return Condition.OPEN if state.suspended is None else Condition.SUSPENDED


def refusal(state: RunState, command: c.Command) -> IllegalCommand:
    where = condition(state).value
    name = type(command).__name__
    allowed = [place.value for place, answer in COMMANDS[type(command)].items() if answer is Answer.ACCEPT]
    return IllegalCommand(
        f"{name} is not possible: the run is {where}",
        expected=f"a run that is {' or '.join(allowed)}",
        run=state.run,
    )
