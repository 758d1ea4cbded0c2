"""A store whose answers can be lost, late or refused, for tests of what stands on it.

    store = FaultyStore(MemoryStore(clock))
    store.next_commit(Fault.LOST_AFTER)                    # it is committed, and nobody hears of it
    store.next_commit(Fault.LOST_BEFORE, when=is_closing)  # the first such turn is not, and nobody knows
    with store.down(): ...                                 # nothing can be reached
    with store.full(): ...                                 # nothing can be written, for want of room
    with store.held() as gate: ...                         # commits wait until gate.set()
    with store.stalled() as gate: ...                      # so does everything else

With `chances` the faults of commits are drawn from a seeded source instead; so are the other troubles of `Troubles`.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any

from perdure.errors import CommitUnknown, StoreFull, StoreUnavailable
from perdure.ports.hints import Hint, Listener
from perdure.ports.journal import Outcome, TurnWrite
from perdure.ports.store import Store


class Fault(Enum):
    LOST_AFTER = "committed, and the answer is lost"
    LOST_BEFORE = "not committed, and the answer is lost"
    LATE = "the answer is lost, and it is committed only afterwards"
    UNAVAILABLE = "not committed, and it is said so"
    FULL = "not committed, for want of room"


@dataclass
class Troubles:
    """Shares of calls (0 to 1) that meet them."""

    slow: float = 0.0
    """A call comes late, or its answer does."""
    slowest: float = 4.0
    """Seconds."""
    lost_hints: float = 0.0
    lost_sends: float = 0.0
    """A command reaches the inbox, and its sender is told that the store cannot be reached."""


Condition = Callable[[TurnWrite], bool]


def always(turn: TurnWrite) -> bool:
    return True


class FaultyStore:
    """Passes everything on to the store beneath, unless told otherwise."""

    def __init__(
        self,
        store: Store,
        chances: Mapping[Fault, float] | None = None,
        chance: random.Random | None = None,
        late: float = 0.5,
        troubles: Troubles | None = None,
    ) -> None:
        self.beneath = store
        self.chances = dict(chances or {})
        self.troubles = troubles or Troubles()
        self.late = late
        self.commits: list[TurnWrite] = []
        """Every turn that was handed in, as often as it was."""
        self.struck: list[tuple[Fault, TurnWrite]] = []
        self.met: Counter[str] = Counter()
        """How often each of the troubles was met, by the name of its field."""
        self._chance = chance or random.Random(0)
        self._planned: list[tuple[Fault, Condition]] = []
        self._is_down = False
        self._is_cut = False
        self._is_full = False
        self._gate: asyncio.Event | None = None
        self._holds_all = False
        self.journal: Any = _FaultyJournal(self)
        self.ownership: Any = _Port(self, store.ownership)
        self.inbox: Any = _Port(self, store.inbox)
        self.runs: Any = _Port(self, store.runs)
        self.definitions = store.definitions
        self.cells: Any = _Port(self, store.cells)
        self.blobs = store.blobs
        self.outbox: Any = _Port(self, store.outbox)
        self.hints: Any = _FaultyHints(self)

    async def open(self) -> None:
        await self.beneath.open()

    async def close(self) -> None:
        await self.beneath.close()

    def next_commit(self, fault: Fault, when: Condition = always) -> None:
        self._planned.append((fault, when))

    @contextmanager
    def down(self) -> Iterator[None]:
        self._is_down = True
        try:
            yield
        finally:
            self._is_down = False

    @contextmanager
    def full(self) -> Iterator[None]:
        self._is_full = True
        try:
            yield
        finally:
            self._is_full = False

    @contextmanager
    def held(self) -> Iterator[asyncio.Event]:
        self._gate = gate = asyncio.Event()
        try:
            yield gate
        finally:
            gate.set()
            self._gate = None

    @contextmanager
    def stalled(self) -> Iterator[asyncio.Event]:
        with self.held() as gate:
            self._holds_all = True
            try:
                yield gate
            finally:
                self._holds_all = False

    def cut(self) -> None:
        """Its process has died: what has not reached the store yet never will."""
        self._is_cut = True

    def calm(self) -> None:
        """No more faults of chance."""
        self.chances.clear()
        self.troubles = Troubles()

    def check(self) -> None:
        if self._is_down or self._is_cut:
            raise StoreUnavailable("the store cannot be reached")

    def check_room(self) -> None:
        if self._is_full:
            raise StoreFull("the disk is full")

    def draw(self, turn: TurnWrite) -> Fault | None:
        for place, (fault, when) in enumerate(self._planned):
            if when(turn):
                del self._planned[place]
                return fault
        for fault, share in self.chances.items():
            if self._chance.random() < share:
                return fault
        return None

    def strikes(self, trouble: str) -> bool:
        share: float = getattr(self.troubles, trouble)
        if share and self._chance.random() < share:
            self.met[trouble] += 1
            return True
        return False

    async def dawdle(self) -> None:
        if self.strikes("slow"):
            await asyncio.sleep(self._chance.uniform(0, self.troubles.slowest))

    async def wait_at_gate(self, *, to_commit: bool = False) -> None:
        if self._gate is not None and (to_commit or self._holds_all):
            await self._gate.wait()


_READING = frozenset({"head", "load", "history", "next_wake", "now", "receive", "find", "walk", "counts"})


class _Port:
    """One port, reachable only while the store is."""

    def __init__(self, faulty: FaultyStore, port: Any) -> None:
        self._faulty = faulty
        self._port = port

    def __getattr__(self, name: str) -> Any:
        faulty, method = self._faulty, getattr(self._port, name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            await faulty.wait_at_gate()
            await faulty.dawdle()
            faulty.check()
            if name not in _READING:
                faulty.check_room()
            answer = await method(*args, **kwargs)
            if name == "send" and faulty.strikes("lost_sends"):
                raise StoreUnavailable("the answer was lost")
            await faulty.dawdle()
            return answer

        return call


class _FaultyHints:
    """Hints that its own worker does not hear; others do."""

    def __init__(self, faulty: FaultyStore) -> None:
        self._faulty = faulty

    def give(self, hint: Hint, subject: str = "") -> None:
        self._faulty.beneath.hints.give(hint, subject)

    def listen(self, listener: Listener) -> Callable[[], None]:
        def hear(hint: Hint, subject: str) -> None:
            if not self._faulty.strikes("lost_hints"):
                listener(hint, subject)

        return self._faulty.beneath.hints.listen(hear)


class _FaultyJournal(_Port):
    def __init__(self, faulty: FaultyStore) -> None:
        super().__init__(faulty, faulty.beneath.journal)

    def commit(self, turn: TurnWrite) -> Awaitable[Outcome]:
        self._faulty.commits.append(turn)
        return self._commit(turn)

    async def _commit(self, turn: TurnWrite) -> Outcome:
        faulty, journal = self._faulty, self._faulty.beneath.journal
        await faulty.wait_at_gate(to_commit=True)
        await faulty.dawdle()
        faulty.check()
        faulty.check_room()
        fault = faulty.draw(turn)
        if fault is None:
            outcome = await journal.commit(turn)
            await faulty.dawdle()
            return outcome
        faulty.struck.append((fault, turn))
        match fault:
            case Fault.LOST_AFTER:
                await journal.commit(turn)
            case Fault.LATE:
                asyncio.get_running_loop().call_later(faulty.late, journal.commit, turn)
            case Fault.UNAVAILABLE:
                raise StoreUnavailable("the store cannot be reached")
            case Fault.FULL:
                raise StoreFull("the disk is full")
            case Fault.LOST_BEFORE:
                pass
        raise CommitUnknown("the answer to the commit was lost")
