"""Bugs of the engine and the kernel: order of things, time, and what is remembered."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import msgspec

from perdure.engine import Engine, EngineSettings, owned, settling
from perdure.engine.answers import give
from perdure.engine.dispatch import Dispatch
from perdure.engine.ids import Ids
from perdure.engine.owned import OwnedRun
from perdure.engine.runtime import Runtime
from perdure.kernel import decide
from perdure.kernel.kernel import Kernel
from perdure.kernel.state import Activation, RunState
from perdure.kernel.turn import Turn
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.statuses import Phase
from perdure.ports.clock import Clock
from perdure.ports.journal import TurnWrite
from perdure.stores.memory.ownership import MemoryOwnership
from perdure.stores.sqlite.ownership import SqliteOwnership
from perdure.testing.simloop import pass_time
from tests.planted.store_bugs import both
from tests.planted.swapping import swapped, swapped_item

Planting = AbstractContextManager[None]


def ack_before_commit() -> Planting:
    """Whoever sent a command is answered before the turn is durable."""
    commit = OwnedRun.commit

    def hasty(self: OwnedRun, write: TurnWrite) -> None:
        for answer, said in self.answers if write.new is None else ():
            give(answer, said)
        commit(self, write)

    return swapped(OwnedRun, "commit", hasty)


def effects_before_commit() -> Planting:
    """Handlers begin before the turn that asks for them is durable."""
    commit = OwnedRun.commit

    def hasty(self: OwnedRun, write: TurnWrite) -> None:
        effects, self.effects = self.effects, ()
        if write.owner is not None:
            self._carry_out(effects)
        commit(self, write)

    return swapped(OwnedRun, "commit", hasty)


def decide_again() -> Planting:
    """After a commit whose answer was lost, everything is decided anew, as if it had not happened."""

    async def settle(run: OwnedRun, problem: BaseException) -> None:
        await pass_time(0.1)
        if not run.dropped:
            run.mailbox[:0] = run.letters
            run.clear_flight()
            await settling.reload(run)

    return swapped(owned, "settle", settle)


def notify_only() -> Planting:
    """Nobody looks by himself; everybody waits for a hint."""
    init = Engine.__init__

    def trusting(self: Engine, *args: Any, settings: Any = None, **kwargs: Any) -> None:
        init(self, *args, settings=msgspec.structs.replace(settings or EngineSettings(), poll=1e9), **kwargs)

    return swapped(Engine, "__init__", trusting)


def leases_by_own_clock() -> Planting:
    """Whether another worker's lease has run out is judged by the claimer's own clock."""
    clocks: dict[str, Clock] = {}
    name, memory, sqlite = Ids.worker, MemoryOwnership.claim, SqliteOwnership.claim

    def named(self: Ids) -> str:
        given = name(self)
        clocks[given] = self._clock
        return given

    async def claim_in_memory(self: MemoryOwnership, worker: str, *rest: Any) -> Any:
        with swapped(self._tables, "clock", clocks[worker]):
            return await memory(self, worker, *rest)

    async def claim_on_sqlite(self: SqliteOwnership, worker: str, *rest: Any) -> Any:
        wrong = SqliteOwnership(self._writer, self._reader, self._hints, clocks[worker])
        return await sqlite(wrong, worker, *rest)

    return both(
        swapped(Ids, "worker", named),
        swapped(MemoryOwnership, "claim", claim_in_memory),
        swapped(SqliteOwnership, "claim", claim_on_sqlite),
    )


class _WallTime:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offset = 0

    def now(self) -> int:
        return self._clock.now() + self._offset

    async def measure(self, ownership: Any) -> None:
        self._offset = await ownership.now() - self._clock.now()


def timers_by_wall_clock() -> Planting:
    """Between two looks at the store's clock, the worker's wall clock is trusted."""
    init = Runtime.__init__

    def trusting(self: Runtime, *args: Any) -> None:
        init(self, *args)
        self.time = self.runner.time = _WallTime(self.ids._clock)  # type: ignore[assignment]

    return swapped(Runtime, "__init__", trusting)


def timer_early() -> Planting:
    """A timer that is due within the next two seconds is fired right away."""

    def fired(turn: Turn, command: c.FireTimers) -> None:
        state = turn.state
        while state.timer_heap and state.timer_heap[0][0] <= turn.at + 2_000_000 and state.final is None:
            id = state.timer_heap[0][2]
            timer = state.timers[id]
            turn.emit(e.TimerFired(id))
            activation = state.activations.get(timer.activation) if timer.activation is not None else None
            if activation is not None and activation.phase is Phase.EXECUTING:
                turn.program.launch(turn, activation)
            elif activation is not None:
                turn.program.timed_out(turn, activation)

    return both(swapped_item(decide.DECIDERS, c.FireTimers, fired), _alarms_early())


def _alarms_early() -> Planting:
    from perdure.engine import adoption, alarms
    from perdure.kernel.outlook import next_wake

    def early(state: RunState) -> int | None:
        due = next_wake(state)
        return None if due is None else due - 2_000_000

    return both(swapped(alarms, "next_wake", early), swapped(adoption, "next_wake", early))


def replay_skips_signals() -> Planting:
    """Events of one type are left out when a run is loaded."""

    def replay(self: Kernel, state: RunState, events: Any, at: int) -> None:
        for event in events:
            if isinstance(event, e.SignalReceived):
                state.seq += 1
            else:
                self.apply(state, event, at)

    return swapped(Kernel, "replay", replay)


def snapshot_forgets() -> Planting:
    """A snapshot has everything but the ids of the signals that have been received."""
    snapshot = Kernel.snapshot

    def forgetful(self: Kernel, state: RunState) -> bytes:
        kept, state.signal_ids = state.signal_ids, {}
        try:
            return snapshot(self, state)
        finally:
            state.signal_ids = kept

    return swapped(Kernel, "snapshot", forgetful)


def signal_dropped() -> Planting:
    """A signal for which nobody waits yet is acknowledged and forgotten."""

    def signal(turn: Turn, command: c.Signal) -> None:
        if command.name in turn.state.waiters:
            decide.signal(turn, command)

    return swapped_item(decide.DECIDERS, c.Signal, signal)


def retry_with_new_key() -> Planting:
    """Each attempt shows the world another idempotency key."""
    key = RunState.activation_key

    def fresh(self: RunState, activation: Activation) -> str:
        return f"{key(self, activation)}#{activation.attempt}" if activation.attempt > 1 else key(self, activation)

    return swapped(RunState, "activation_key", fresh)


def takeover_with_new_key() -> Planting:
    """Each worker shows the world another idempotency key."""
    key = RunState.activation_key

    def fresh(self: RunState, activation: Activation) -> str:
        return (
            f"{key(self, activation)}#{activation.deliveries}" if activation.deliveries > 1 else key(self, activation)
        )

    return swapped(RunState, "activation_key", fresh)


def stale_attempt_counts() -> Planting:
    """What a handler reports counts, whichever attempt it was about."""

    def current(turn: Turn, id: int, attempt: int) -> Activation | None:
        return turn.state.activations.get(id)

    return swapped(decide, "_current", current)


def strangers_heard() -> Planting:
    """A command for a run that is held here is taken from any namespace."""
    ask = Dispatch._ask

    def anybody(self: Dispatch, run: OwnedRun, namespace: str, command: c.Command) -> Any:
        return ask(self, run, run.namespace, command)

    return swapped(Dispatch, "_ask", anybody)


def deaths_not_counted() -> Planting:
    """A step that kills its worker is tried again and again."""

    def take_over(turn: Turn, command: c.TakeOver) -> None: ...

    return swapped_item(decide.DECIDERS, c.TakeOver, take_over)


def lacking_is_failing() -> Planting:
    """A worker that does not have a step fails it, instead of leaving it to those who have it."""
    from perdure.engine import execution
    from perdure.engine.handlers import Lack
    from perdure.model.failures import Failure

    def fail(run: OwnedRun, lack: Lack) -> None:
        for activation in list(run.state.activations.values()):
            if activation.phase is Phase.EXECUTING:
                run.deliver(c.Fail(activation.id, activation.attempt, Failure("NODE_UNKNOWN", f"no {lack} here")))

    return swapped(execution, "leave_to_others", fail)
