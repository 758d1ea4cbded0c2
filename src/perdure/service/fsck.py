"""`perdure fsck`: the invariants of a sound database, checked from the log up. Reads only.

1 the events of a run are 1 … n, without gap or repeat          7 a timer fires once and never before it is due
2 replaying them gives the head and every snapshot               8 every message in the outbox stands in the log
3 an ended run holds nothing: no timer, task, command, owner     9 a signal is consumed once
4 an open run has something that will wake it                   10 deliveries count upwards and stay within their limit
5 every row belongs to a run that exists                        11 everything of a run is in the run's namespace
6 an activation ends once                                       12 no secret stands in the log in plain text
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import msgspec

from perdure.engine.library import Library
from perdure.errors import HistoryUnreadable, PerdureError
from perdure.kernel.kernel import Kernel
from perdure.kernel.outlook import next_wake, search_attributes, status_of
from perdure.kernel.signal_ids import says_content
from perdure.kernel.state import RunState
from perdure.model import events as e
from perdure.ports.journal import Head
from perdure.ports.store import Store
from perdure.service.histories import decode_row

PAGE = 200


class Finding(msgspec.Struct, frozen=True):
    invariant: int
    run: str | None
    text: str


class Report(msgspec.Struct):
    runs: int = 0
    events: int = 0
    findings: list[Finding] = []

    @property
    def is_clean(self) -> bool:
        return not self.findings


class Checker:
    def __init__(self, store: Store, library: Library, secrets: Sequence[bytes] = ()) -> None:
        self._store = store
        self._library = library
        self._secrets = secrets
        self.report = Report()

    async def check_all(self, progress: Callable[[int], None] | None = None) -> Report:
        async for head in self._heads():
            await self.check_run(head)
            if progress is not None:
                progress(self.report.runs)
        for table, count in (await self._store.runs.counts()).orphans.items():
            if count:
                invariant = 8 if table == "outbox" else 5
                self._find(invariant, None, f"{count} rows of {table} belong to no run")
        return self.report

    async def _heads(self) -> AsyncIterator[Head]:
        after = ""
        while heads := await self._store.runs.walk(after, PAGE):
            for head in heads:
                yield head
            after = heads[-1].run

    def _find(self, invariant: int, run: str | None, text: str) -> None:
        self.report.findings.append(Finding(invariant, run, text))

    async def check_run(self, head: Head) -> None:
        self.report.runs += 1
        try:
            edition = await self._library.pinned(head.namespace, head.definition, head.version, head.pins)
        except PerdureError as problem:
            self._find(2, head.run, f"its definition cannot be loaded: {problem.message}")
            return
        try:
            state = await self._replay(head, edition.kernel)
        except PerdureError as problem:
            self._find(1, head.run, problem.message)
            return
        except Exception as problem:  # whatever an event that does not fit makes of it
            self._find(2, head.run, f"its log cannot be replayed: {problem!r}")
            return
        self._check_head(head, edition.kernel, state)
        await self._check_snapshot(head, edition.kernel, state)
        waiting = (await self._store.inbox.receive("", [head.run])).waiting
        if state.is_final:
            self._check_ended(head, state, len(waiting))
        else:
            self._check_wakes(head, state, len(waiting))

    async def _replay(self, head: Head, kernel: Kernel) -> RunState:
        """Replays the log event by event, watching what each one may do only once."""
        state = kernel.new(head.run)
        watch = Watch(self, head.run)
        at = 0
        while rows := await self._store.journal.history(head.run, at, PAGE):
            for row in rows:
                if row.first != state.seq + 1:
                    raise HistoryUnreadable(
                        f"event {state.seq + 1} is missing or repeated (a row begins at {row.first})"
                    )
                for secret in self._secrets:
                    if secret in row.data:
                        self._find(12, head.run, f"a secret stands in plain text near event {row.first}")
                for event in await decode_row(self._store, head.namespace, row):
                    watch.see(state, event, row.at)
                    kernel.apply(state, event, row.at)
                if row.seq != state.seq:
                    raise HistoryUnreadable(f"a row says that it ends at {row.seq} and ends at {state.seq}")
            at = rows[-1].seq
        self.report.events += state.seq
        return state

    def _check_head(self, head: Head, kernel: Kernel, state: RunState) -> None:
        if state.seq != head.seq:
            self._find(1, head.run, f"the head says {head.seq} events, the log has {state.seq}")
        status = status_of(kernel.program, state)
        if status != head.status:
            self._find(2, head.run, f"the head says {head.status}, the log says {status}")
        if search_attributes(state) != head.attributes:
            self._find(2, head.run, "the search attributes differ from the log")
        if (state.definition, state.version) != (head.definition, head.version):
            self._find(2, head.run, "the head names another definition than the log")
        if (state.pins or None) != (head.pins or None):
            self._find(2, head.run, "the head names other versions of stored parts than the log")
        if state.parent is not None and head.parent != state.parent.run:
            self._find(2, head.run, "the head names another parent than the log")

    async def _check_snapshot(self, head: Head, kernel: Kernel, state: RunState) -> None:
        loaded = await self._store.journal.load(head.run)
        if loaded is None or loaded.snapshot is None:
            return
        try:
            short = kernel.restore(loaded.snapshot)
            for row in loaded.rows:
                kernel.replay(short, await decode_row(self._store, head.namespace, row), row.at)
        except Exception as problem:
            self._find(2, head.run, f"its snapshot cannot be used: {problem}")
            return
        for id, mark in short.signal_ids.items():
            if not says_content(mark) and id in state.signal_ids:  # of release 0.1, which did not keep it
                short.signal_ids[id] = state.signal_ids[id]
        if _in_full(short) != _in_full(state):
            self._find(2, head.run, f"the snapshot at {loaded.snapshot_seq} leads to another state than the log")

    def _check_ended(self, head: Head, state: RunState, waiting: int) -> None:
        if state.activations:
            self._find(3, head.run, f"it has ended with {len(state.activations)} live activations")
        if state.timers:
            self._find(3, head.run, f"it has ended with {len(state.timers)} timers")
        if head.owner is not None or head.wake_at is not None:
            self._find(3, head.run, "it has ended and is still owned or due")
        if waiting:
            self._find(3, head.run, f"it has ended with {waiting} commands in its inbox")
        if head.result is None:
            self._find(2, head.run, "it has ended without a result in its head")

    def _check_wakes(self, head: Head, state: RunState, waiting: int) -> None:
        wake = next_wake(state)
        if head.owner is None:
            if wake is not None and (head.wake_at is None or head.wake_at > wake):
                self._find(4, head.run, "its next timer is due before the head says so")
            if waiting and head.wake_at is None:
                self._find(4, head.run, "a command waits in its inbox and nothing will wake it")
            listens = (
                state.waiting
                or state.suspended is not None
                or any(activation.phase == "looping" for activation in state.activations.values())
            )
            if head.wake_at is None and not listens:
                self._find(4, head.run, "nothing will ever wake it")


class Watch:
    """What may happen once only, seen while the log goes by."""

    def __init__(self, checker: Checker, run: str) -> None:
        self._checker = checker
        self._run = run
        self._ended: set[int] = set()
        self._consumed: set[int] = set()

    def see(self, state: RunState, event: e.Event, at: int) -> None:
        if at < state.at:
            self._checker._find(1, self._run, "the log goes back in time")
        match event:
            case e.ActivationCompleted(id=id) | e.NodeEvaluated(id=id) | e.ActivationCancelled(id=id):
                self._end(id)
            case e.ActivationFailed(id=id, final=True):
                self._end(id)
            case e.RunRetried(activations=again):
                self._ended -= set(again)
            case e.TimerFired(id=timer):
                armed = state.timers.get(timer)
                if armed is None:
                    self._checker._find(7, self._run, f"the timer {timer} fired without being armed")
                elif at < armed.due:
                    self._checker._find(7, self._run, f"the timer {timer} fired {armed.due - at} µs early")
            case e.SignalConsumed(payload_seq=number):
                if number in self._consumed:
                    self._checker._find(9, self._run, f"signal {number} was consumed twice")
                self._consumed.add(number)
            case e.ActivationsRedelivered(ids=ids):
                for id in ids:
                    if id not in state.activations or state.activations[id].deliveries > state.limits.deliveries + 1:
                        self._checker._find(10, self._run, f"activation {id} was delivered too often")
            case e.ChildRequested(run=child) if child == self._run:
                self._checker._find(11, self._run, "it is its own child")
            case _:
                pass

    def _end(self, id: int) -> None:
        if id in self._ended:
            self._checker._find(6, self._run, f"activation {id} ended twice")
        self._ended.add(id)


def _in_full(state: RunState) -> Any:
    """Every field, of the program's part too, as plain values: what a snapshot leaves out shows as a difference."""
    return msgspec.to_builtins([state, state.body], builtin_types=(bytes,))


async def fsck(
    store: Store,
    library: Library,
    secrets: Sequence[bytes] = (),
    progress: Callable[[int], None] | None = None,
) -> Report:
    return await Checker(store, library, secrets).check_all(progress)
