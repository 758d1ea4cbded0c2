"""The façade: a kernel is the rules of one program, joined with the rules that all programs share.

    state = kernel.new(run_id)
    turn = kernel.turn(state, now)
    kernel.handle(turn, command)          # decide: events are in turn.events, the state has moved along
    kernel.finish(turn)                   # effects are in turn.effects
    kernel.replay(state, events, at)      # evolve: the same state again, from the log

Cost: O(1) per event, amortised, in the length of the history and in the size of the definition.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from perdure.errors import HistoryUnreadable
from perdure.kernel import decide
from perdure.kernel.evolve import APPLIERS
from perdure.kernel.packing import Unpacker, pack
from perdure.kernel.program import Program
from perdure.kernel.state import RunState
from perdure.kernel.turn import Turn
from perdure.model import commands as c
from perdure.model import events as e

_unpack_parts: Unpacker[tuple[int, msgspec.Raw, bytes]] = Unpacker(tuple[int, msgspec.Raw, bytes])
_unpack_state = Unpacker(RunState)

SNAPSHOT_FORMAT = 1


class Kernel:
    __slots__ = ("_appliers", "program")

    def __init__(self, program: Program) -> None:
        self.program = program
        kinds = set(APPLIERS) | set(program.appliers)
        self._appliers = {kind: (APPLIERS.get(kind), program.appliers.get(kind)) for kind in kinds}

    def new(self, run: str) -> RunState:
        return RunState(run)

    def apply(self, state: RunState, event: e.Event, at: int) -> None:
        """Evolve by one event."""
        pair = self._appliers.get(type(event))
        if pair is not None:
            generic, special = pair
            subject = generic(state, event, at) if generic is not None else None
            if special is not None:
                special(state, event, at, subject)
        state.seq += 1
        state.at = at

    def replay(self, state: RunState, events: Iterable[e.Event], at: int) -> None:
        for event in events:
            self.apply(state, event, at)

    def turn(self, state: RunState, now: int) -> Turn:
        return Turn(self.program, self.apply, state, now)

    def handle(self, turn: Turn, command: c.Command) -> bool:
        return decide.handle(turn, command)

    def finish(self, turn: Turn) -> None:
        decide.finish(turn)

    def snapshot(self, state: RunState) -> bytes:
        body, state.body = state.body, None
        try:
            return pack((SNAPSHOT_FORMAT, state, self.program.encode(body) if body is not None else b""))
        finally:
            state.body = body

    def restore(self, data: bytes) -> RunState:
        """Raises HistoryUnreadable; the caller then replays the log instead."""
        try:
            number, kernel_part, program_part = _unpack_parts(data)
            if number != SNAPSHOT_FORMAT:
                raise HistoryUnreadable(f"a snapshot of format {number}")
            state = _unpack_state(kernel_part)
            state.body = self.program.decode(program_part) if program_part else None
        except msgspec.DecodeError as problem:
            raise HistoryUnreadable(f"a snapshot cannot be read: {problem}") from problem
        return state

    def copy(self, state: RunState) -> RunState:
        return self.restore(self.snapshot(state))
