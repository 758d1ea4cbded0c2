"""The umpire stands between the workers and the store, sees every call with its true time, and knows the rules.

What it checks does not depend on the store's own checks, so a store that forgets one is found out:

- of two owners of a run, only the later one's turns stand in the log after it took over (fencing)
- a run is taken from its owner only if that owner parked it, handed it over, or let its lease run out
- what was answered as committed stands in the log, once, and nothing else does
- a timer fires when it is due by the store's clock, whatever the worker's clock says, and once
- nothing acts on the world, and nobody is answered, before the turn that it rests on is durable
- one start key is one run
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec

from perdure.model import events as e
from perdure.model.codec import decode_events
from perdure.model.waits import ESCALATION, REMINDER
from perdure.ports.clock import Clock
from perdure.ports.journal import Head, Loaded, Outcome, Row, TurnWrite, Verdict
from perdure.ports.ownership import Claimed, VersionKey
from perdure.ports.store import Store


class Told(msgspec.Struct):
    """A turn, as it was first handed in."""

    write: TurnWrite
    at: int
    """The store's time then."""
    parks: bool
    """Whether it was ever handed in as one that leaves nobody the owner."""
    is_durable: bool = False
    is_answered: bool = False
    """The store has said so to whoever handed it in."""


class Umpire:
    """A store to the workers. `wrong` is what it has seen so far; `inspect` reads the log at the end."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.wrong: list[str] = []
        self._turns: dict[str, Told] = {}
        self._holders: dict[str, dict[int, str]] = defaultdict(dict)
        """Per run: who was given which epoch."""
        self._given: dict[str, list[tuple[int, int]]] = defaultdict(list)
        """Per run: the epoch of each claim and the seq at which the run was then."""
        self._leases: dict[str, int] = {}
        self._left: set[str] = set()
        self._released: set[tuple[str, int]] = set()
        """Run and epoch."""
        self._durable: set[tuple[str, int, int]] = set()
        """Run, activation, attempt: what the log has asked for."""
        self._received: set[tuple[str, str | None]] = set()
        """Runs, and the ids of the signals that they have recorded; None: that it has begun."""
        self.journal: Any = _Journal(self, store.journal)
        self.ownership: Any = _Ownership(self, store.ownership)
        self.inbox = store.inbox
        self.definitions = store.definitions
        self.blobs = store.blobs
        self.cells = store.cells
        self.outbox = store.outbox
        self.runs = store.runs
        self.hints = store.hints

    async def open(self) -> None:
        await self._store.open()

    async def close(self) -> None:
        await self._store.close()

    def _blame(self, text: str) -> None:
        self.wrong.append(text)

    # -- as it happens -----------------------------------------------------------------------------

    def handed_in(self, write: TurnWrite) -> None:
        told = self._turns.get(write.turn_id)
        if told is None:
            self._turns[write.turn_id] = Told(write, self._clock.now(), write.owner is None)
        else:
            told.parks = told.parks or write.owner is None

    def committed(self, write: TurnWrite) -> None:
        told = self._turns[write.turn_id]
        if told.is_answered and write.seq > write.expected:  # to park a run twice is to park it once
            self._blame(f"turn {write.turn_id} of {write.run} was committed twice")
        told.is_answered = True
        self.seen(write.turn_id)

    def seen(self, turn_id: str) -> None:
        """Somebody has found the turn in the store."""
        told = self._turns.get(turn_id)
        if told is None or told.is_durable:
            return
        told.is_durable = True
        write = told.write
        if write.new is not None and write.owner is not None:
            self._holders[write.run][write.epoch] = write.owner
        for event in _events(write):
            match event:
                case e.ActivationScheduled(id=id):
                    self._durable.add((write.run, id, 1))
                case e.ActivationRetrying(id=id, attempt=attempt):
                    self._durable.add((write.run, id, attempt))
                case e.SignalReceived(id=signal) if signal is not None:
                    self._received.add((write.run, signal))
                case e.RunStarted():
                    self._received.add((write.run, None))
                case _:
                    pass

    def acts(self, run: str, activation: int, attempt: int) -> None:
        """A handler begins to act on the world."""
        if (run, activation, attempt) not in self._durable:
            self._blame(f"activation {activation} of {run} acted before the turn that asks for it was durable")

    def answered(self, run: str, signal: str | None = None) -> None:
        """A client was told that its run has begun, or that it has decided its signal."""
        if (run, signal) not in self._received:
            what = "its start" if signal is None else f"the signal {signal}"
            self._blame(f"{run}: {what} was acknowledged before it was durable")

    def renewed(self, worker: str, lease: int) -> None:
        self._leases[worker] = self._clock.now() + lease

    def left(self, worker: str) -> None:
        self._left.add(worker)

    def released(self, worker: str, runs: Sequence[str]) -> None:
        for run in runs:
            self._released.update((run, epoch) for epoch, holder in self._holders[run].items() if holder == worker)

    def given_back(self, claimed: Sequence[Claimed]) -> None:
        self._released.update((one.head.run, one.head.epoch) for one in claimed)

    def claimed(self, worker: str, claimed: Claimed) -> None:
        head, now = claimed.head, self._clock.now()
        self.seen(head.turn_id)
        holders = self._holders[head.run]
        if head.epoch in holders:
            self._blame(f"epoch {head.epoch} of {head.run} was given to two workers")
        before = max((epoch for epoch in holders if epoch < head.epoch), default=None)
        if before is not None and not self._is_free(holders[before], before, head, now):
            self._blame(f"{head.run} was taken from a living worker")
        holders[head.epoch] = worker
        self._given[head.run].append((head.epoch, head.seq))

    def _is_free(self, holder: str, epoch: int, head: Head, now: int) -> bool:
        if holder in self._left or (head.run, epoch) in self._released or self._leases.get(holder, 0) <= now:
            return True
        last = self._turns.get(head.turn_id)
        return last is not None and last.write.epoch == epoch and last.parks

    # -- at the end --------------------------------------------------------------------------------

    async def inspect(self) -> list[str]:
        keys: Counter[tuple[str, str]] = Counter()
        found: set[str] = set()
        after = ""
        while heads := await self._store.runs.walk(after, 500):
            for head in heads:
                rows = await self._store.journal.history(head.run, 0, 100_000)
                found.update(row.turn_id for row in rows)
                self._inspect_owners(head.run, rows)
                self._inspect_timers(head.run, rows)
                if head.key is not None:
                    keys[head.namespace, head.key] += 1
            after = heads[-1].run
        for told in self._turns.values():
            if told.is_answered and told.write.seq > told.write.expected and told.write.turn_id not in found:
                self._blame(f"the committed turn {told.write.turn_id} of {told.write.run} is not in the log")
        self.wrong += [f"{times} runs have the key {key}" for (_, key), times in keys.items() if times > 1]
        return self.wrong

    def _inspect_owners(self, run: str, rows: Sequence[Row]) -> None:
        for row in rows:
            told = self._turns.get(row.turn_id)
            if told is None:
                self._blame(f"{run}: nobody has handed in turn {row.turn_id}")
                continue
            for epoch, seq in self._given[run]:
                if row.seq > seq and told.write.epoch < epoch:
                    self._blame(
                        f"{run}: event {row.seq} was written under epoch {told.write.epoch}, "
                        f"though epoch {epoch} had been given at event {seq}"
                    )

    def _inspect_timers(self, run: str, rows: Sequence[Row]) -> None:
        due: dict[str, int] = {}
        for row in rows:
            told = self._turns.get(row.turn_id)
            for event in _events(told.write) if told is not None else ():
                match event:
                    case e.TimerArmed(id=id, due=when):
                        due[id] = when
                    case e.ActivationRetrying(id=activation, due=when):
                        due[f"a{activation}"] = when
                    case e.TaskOpened():
                        due |= _timers_of(event, row.at)
                    case e.TimerFired(id=id):
                        when = due.pop(id, 0)
                        if not when:
                            self._blame(f"{run}: the timer {id} fired twice, or was never set")
                        elif told is not None and told.at < when:
                            self._blame(f"{run}: the timer {id} fired {when - told.at} µs early by the store's clock")
                    case _:
                        pass


def _timers_of(task: e.TaskOpened, at: int) -> dict[str, int]:
    """Those that are armed with a task; each of the simulated ones has one reminder at most."""
    name = f"a{task.activation}"
    found = {name: task.due} if task.due is not None else {}
    if task.reminders is not None:
        found[f"{name}/{REMINDER}"] = at + task.reminders.after
    if task.escalate_after is not None:
        found[f"{name}/{ESCALATION}"] = at + task.escalate_after
    return found


def _events(write: TurnWrite) -> list[e.Event]:
    return decode_events(write.data, write.codec, write.refs, write.blobs)


class _Port:
    def __init__(self, umpire: Umpire, port: Any) -> None:
        self._umpire = umpire
        self._port = port

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)


class _Journal(_Port):
    def commit(self, turn: TurnWrite) -> asyncio.Future[Outcome]:
        """Passed on at once; whoever waits hears of it after the umpire."""
        self._umpire.handed_in(turn)
        beneath = asyncio.ensure_future(self._port.commit(turn))
        heard: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

        def tell(done: asyncio.Future[Outcome]) -> None:
            problem = done.exception()
            if problem is None and done.result().verdict is Verdict.COMMITTED:
                self._umpire.committed(turn)
            if heard.done():
                return
            if problem is not None:
                heard.set_exception(problem)
            else:
                heard.set_result(done.result())

        beneath.add_done_callback(tell)
        return heard

    async def head(self, run: str) -> Head | None:
        found: Head | None = await self._port.head(run)
        if found is not None:
            self._umpire.seen(found.turn_id)
        return found

    async def load(self, run: str) -> Loaded | None:
        found: Loaded | None = await self._port.load(run)
        if found is not None:
            self._umpire.seen(found.head.turn_id)
        return found


class _Ownership(_Port):
    async def renew(self, worker: str, lease: int) -> bool:
        renewed = bool(await self._port.renew(worker, lease))
        if renewed:
            self._umpire.renewed(worker, lease)
        return renewed

    async def claim(self, worker: str, limit: int, declined: Sequence[VersionKey] = ()) -> Sequence[Claimed]:
        found: Sequence[Claimed] = await self._port.claim(worker, limit, declined)
        for one in found:
            self._umpire.claimed(worker, one)
        return found

    async def acquire(self, worker: str, run: str) -> Claimed | None:
        found: Claimed | None = await self._port.acquire(worker, run)
        if found is not None:
            self._umpire.claimed(worker, found)
        return found

    async def release(self, worker: str, runs: Sequence[str]) -> None:
        self._umpire.released(worker, runs)
        await self._port.release(worker, runs)

    async def give_back(self, worker: str, claimed: Sequence[Claimed]) -> None:
        self._umpire.given_back(claimed)
        await self._port.give_back(worker, claimed)

    async def leave(self, worker: str) -> None:
        self._umpire.left(worker)
        await self._port.leave(worker)
