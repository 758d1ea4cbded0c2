"""Which runs this worker holds, which it remembers, and which it cannot go on with."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import msgspec

from perdure.engine.answers import OwnershipLost, give
from perdure.engine.parking import is_for_others
from perdure.engine.writing import SnapshotGauge
from perdure.kernel.kernel import Kernel
from perdure.kernel.state import RunState
from perdure.ports.journal import TurnWrite
from perdure.ports.ownership import VersionKey

if TYPE_CHECKING:
    from perdure.engine.owned import OwnedRun
    from perdure.engine.runtime import Runtime

_LEAST_SIZE = 4096
"""What the state of the smallest run takes in memory, about."""


class Parked(msgspec.Struct, gc=False):
    """A run that was let go, as it was at its last turn."""

    kernel: Kernel
    namespace: str
    state: RunState
    epoch: int
    inbox_seen: int
    """As the parking write had it: up to there everything was consumed. What was received later, while that write was
    under way, was not."""
    children: set[str]
    gauge: SnapshotGauge
    size: int
    is_at_rest: bool
    """Nothing was to be done at once. Otherwise whoever takes it up must be told all that is outstanding."""


class ParkedRuns:
    """States of parked runs, so that waking one needs no load. Bounded; the least recently parked goes first.

    A state belongs to exactly one place in the log, so it serves whoever claims the run at that seq, whatever
    happened meanwhile.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._runs: OrderedDict[str, Parked] = OrderedDict()

    def __len__(self) -> int:
        return len(self._runs)

    def put(self, parked: Parked) -> None:
        self.pop(parked.state.run)
        self._runs[parked.state.run] = parked
        self._bytes += parked.size
        while self._runs and (len(self._runs) > self._most or self._bytes > self._most_bytes):
            self._bytes -= self._runs.popitem(last=False)[1].size

    def pop(self, run: str, seq: int | None = None) -> Parked | None:
        """None also if the run has moved on since."""
        parked = self._runs.pop(run, None)
        if parked is None:
            return None
        self._bytes -= parked.size
        return parked if seq is None or parked.state.seq == seq else None

    def is_at_rest(self, run: str) -> bool:
        """False also if it is not remembered."""
        return run in self._runs and self._runs[run].is_at_rest

    def version_of(self, run: str) -> VersionKey | None:
        parked = self._runs.get(run)
        return (parked.namespace, parked.state.definition, parked.state.version) if parked is not None else None


class Roster:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        settings = runtime.settings
        self.owned: dict[str, OwnedRun] = {}
        self.parked = ParkedRuns(settings.parked_runs, settings.parked_bytes)
        self.aside: dict[str, BaseException] = {}
        self.count = 0
        """How many have been taken in so far."""

    def add(self, owned: OwnedRun) -> None:
        self.count += 1
        owned.number = self.count
        before = self.owned.get(owned.run)
        if before is not None:
            before.drop(OwnershipLost(), hears_the_commit=True)
        self.owned[owned.run] = owned

    def forget(self, owned: OwnedRun) -> None:
        if self.owned.get(owned.run) is owned:
            del self.owned[owned.run]

    def retire(self, owned: OwnedRun, write: TurnWrite) -> None:
        """The run has been parked or closed: the store has it, and nobody owns it."""
        runtime = self._runtime
        owned.dropped = True
        self.forget(owned)
        state = owned.state
        if write.result is not None:
            runtime.results.closed(owned, write)
        else:
            size = _LEAST_SIZE + owned.size
            self.parked.put(
                Parked(
                    owned.kernel,
                    owned.namespace,
                    state,
                    owned.epoch,
                    write.inbox_seen,
                    owned.children,
                    owned.gauge,
                    size,
                    not is_for_others(owned),
                )
            )
            if owned.lack is not None:
                if runtime.observer is not None:
                    runtime.observer.handed_back(owned.run, str(owned.lack))
            elif write.wake_at is not None:
                runtime.claimer.expect(write.wake_at)
        for _, answer, _ in owned.mailbox:
            if answer is not None:
                give(answer, OwnershipLost())
        owned.mailbox = []
        runtime.claimer.has_room()

    def set_aside(self, owned: OwnedRun, problem: BaseException) -> None:
        """It stays owned, so nobody else meets the same problem at once, until this worker leaves."""
        owned.drop(problem if isinstance(problem, Exception) else RuntimeError(str(problem)))
        self.put_aside(owned.run, problem)

    def put_aside(self, run: str, problem: BaseException) -> None:
        self.aside[run] = problem
        self._runtime.trouble(f"run {run} is set aside", problem)
        if self._runtime.observer is not None:
            self._runtime.observer.run_set_aside(run, problem)

    def drop_all(self) -> int:
        dropped = list(self.owned.values())
        for owned in dropped:
            owned.drop(OwnershipLost())
        self.aside.clear()
        return len(dropped)
