"""Making claimed runs this worker's own: state from memory or from the store, the inbox, then the first turn.

The first turn says what happened to the owner before (TakeOver), fires what is due and decides what waits in the inbox.
Only when that is durable does anything execute again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from perdure.engine.alarms import FIRE
from perdure.engine.answers import HandedBack, Letter, OwnershipLost, give
from perdure.engine.declining import lack_in
from perdure.engine.handlers import Lack
from perdure.engine.library import Edition
from perdure.engine.owned import OwnedRun
from perdure.engine.trials import Trials, has_last_chance
from perdure.errors import Busy, NotFound, NotInstalled, StoreError
from perdure.kernel.outlook import next_wake
from perdure.model.commands import TakeOver
from perdure.ports.journal import Head
from perdure.ports.ownership import Claimed

if TYPE_CHECKING:
    from perdure.engine.runtime import Runtime

_FIRE: Letter = (FIRE, None, 0)
_MEANS = "means to run the definition"


class Adoption:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._coming: dict[str, tuple[list[Letter], asyncio.Task[bool]]] = {}
        """Runs being acquired, with the commands for whose sake they are."""
        self._returning: dict[str, list[Claimed]] = {}
        """By the name under which they were claimed."""
        self._loading = asyncio.Semaphore(runtime.settings.loads)
        self._trials = Trials(runtime)

    def take_up(self, worker: str, claimed: Sequence[Claimed]) -> None:
        """Runs that came with a claim."""
        runtime = self._runtime
        if runtime.observer is not None:
            runtime.observer.claimed(len(claimed), sum(one.died for one in claimed))
        if runtime.worker != worker:
            runtime.spawn(self._give_back(worker, claimed))
            return
        for one in claimed:
            if not one.died and one.head.wake_at is not None:
                runtime.time.reached(one.head.wake_at)
            owned = self._from_memory(one)
            if owned is None:
                runtime.spawn(self._take(worker, one))
            elif owned.inbox_seen == one.head.inbox_seq:
                self._begin(owned, one, ())
            else:
                runtime.spawn(self._begin_with_inbox(owned, one))

    async def take_one(self, run: str, letter: Letter) -> bool:
        """One run that nobody owns, for the sake of a command. False: somebody does own it.

        In a task of its own, because it must be finished even if whoever sent the command goes away: a run that was
        acquired and then forgotten would belong to us and be stuck.
        """
        runtime = self._runtime
        if run not in self._coming:
            letters: list[Letter] = []
            task = runtime.task(self._acquire(run, letters))
            self._coming[run] = letters, task
            task.add_done_callback(lambda done: self._came(run, done))
        letters, task = self._coming[run]
        if len(letters) >= runtime.settings.mailbox:
            raise Busy(f"{len(letters)} commands wait for the run already", retry_after=runtime.settings.poll)
        letters.append(letter)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if task.cancelled() and (caller is None or not caller.cancelling()):
                raise Busy("this worker is closing", retry_after=runtime.settings.poll) from None
            raise

    def _came(self, run: str, done: asyncio.Task[bool]) -> None:
        if run in self._coming and self._coming[run][1] is done:
            del self._coming[run]
        if not done.cancelled():
            done.exception()  # whoever waits has it

    async def _acquire(self, run: str, letters: list[Letter]) -> bool:
        runtime = self._runtime
        worker = runtime.worker
        claimed = await runtime.ownership.acquire(worker, run)
        if claimed is None:
            return False
        if runtime.worker != worker:
            await self._give_back(worker, [claimed])
            return False
        owned = self._from_memory(claimed)
        if owned is None:
            await self._take(worker, claimed, letters)
        elif owned.inbox_seen == claimed.head.inbox_seq:
            self._begin(owned, claimed, letters)
        else:
            await self._begin_with_inbox(owned, claimed, letters)
        return True

    def _from_memory(self, claimed: Claimed) -> OwnedRun | None:
        head = claimed.head
        parked = self._runtime.roster.parked.pop(head.run, head.seq)
        if parked is None:
            return None
        owned = OwnedRun(
            self._runtime,
            parked.kernel,
            parked.namespace,
            parked.state,
            head.epoch,
            gauge=parked.gauge,
            size=parked.size,
        )
        owned.inbox_seen = parked.inbox_seen
        owned.children = parked.children
        return self._hold(owned)

    async def _take(self, worker: str, claimed: Claimed, letters: Sequence[Letter] = ()) -> None:
        runtime, run = self._runtime, claimed.head.run
        problem: Exception
        for pause in runtime.pauses():
            if runtime.worker != worker:
                problem = OwnershipLost()
                await self._give_back(worker, [claimed])
                break
            try:
                owned = await self._from_store(claimed)
            except OwnershipLost as lost:
                problem = lost
                break
            except NotInstalled as missing:
                problem = HandedBack(missing)
                self._leave_to_others(claimed, lack_in(missing))
                break
            except Exception as trouble:
                problem = trouble
                if not (isinstance(problem, StoreError) and problem.retryable):
                    runtime.roster.put_aside(run, problem)
                    break
                runtime.trouble(f"loading {run}", problem)
                await asyncio.sleep(pause)
            else:
                if claimed.head.inbox_seq == 0:  # nobody has ever sent it anything
                    self._begin(owned, claimed, letters)
                else:
                    await self._begin_with_inbox(owned, claimed, letters)
                return
        self._refuse(run, letters, problem)

    def _refuse(self, run: str, letters: Sequence[Letter], why: Exception) -> None:
        self._coming.pop(run, None)  # who comes from now on, and be it one of these, must ask anew
        for _, answer, _ in letters:
            if answer is not None:
                give(answer, why)

    def _leave_to_others(self, claimed: Claimed, lack: Lack) -> None:
        runtime, head = self._runtime, claimed.head
        runtime.declined.add((head.namespace, head.definition, head.version), lack)
        if runtime.observer is not None:
            runtime.observer.handed_back(head.run, str(lack))
        assert head.owner is not None
        if head.owner not in self._returning:  # those that come with the same claim go back together
            self._returning[head.owner] = []
            runtime.spawn(self._return(head.owner))
        self._returning[head.owner].append(claimed)

    async def _return(self, worker: str) -> None:
        await self._give_back(worker, self._returning.pop(worker))

    async def _give_back(self, worker: str, claimed: Sequence[Claimed]) -> None:
        """Nothing of them was begun. Until the store answers: as long as the lease is kept, nobody else could get
        them."""
        runtime = self._runtime
        for pause in runtime.pauses():
            try:
                await runtime.ownership.give_back(worker, claimed)
            except StoreError as problem:
                runtime.trouble("giving runs back", problem)
                if runtime.worker != worker:
                    break  # others will take them when the lease has run out
                await asyncio.sleep(pause)
            else:
                break

    async def _from_store(self, claimed: Claimed) -> OwnedRun:
        runtime, head = self._runtime, claimed.head
        worker = runtime.worker
        edition = await self._edition(head)
        async with self._loading:
            loaded = await runtime.journal.load(head.run)
            if loaded is None or loaded.head.epoch != head.epoch:
                raise OwnershipLost
            rebuilt = await runtime.loader.rebuild(edition.kernel, loaded)
        if runtime.worker != worker:
            raise OwnershipLost
        owned = OwnedRun(
            runtime,
            edition.kernel,
            head.namespace,
            rebuilt.state,
            head.epoch,
            gauge=rebuilt.gauge,
            size=rebuilt.size,
        )
        return self._hold(owned)

    async def _edition(self, head: Head) -> Edition:
        try:
            return await self._runtime.library.pinned(head.namespace, head.definition, head.version, head.pins)
        except (NotFound, NotInstalled, StoreError):
            raise
        except Exception as problem:  # a newer worker perhaps can
            name = f"{head.definition} {head.version}"
            raise NotInstalled(f"it cannot be compiled: {problem}", kind=_MEANS, name=name) from problem

    def _hold(self, owned: OwnedRun) -> OwnedRun:
        owned.fresh = True
        owned.busy = True
        self._runtime.roster.add(owned)
        return owned

    async def _begin_with_inbox(self, owned: OwnedRun, claimed: Claimed, letters: Sequence[Letter] = ()) -> None:
        async with self._loading:
            received = await self._runtime.post.receive_patiently(owned)
        self._begin(owned, claimed, [*received, *letters])

    def _begin(self, owned: OwnedRun, claimed: Claimed, letters: Sequence[Letter]) -> None:
        if owned.dropped:
            self._refuse(owned.run, letters, OwnershipLost())
            return
        self._coming.pop(owned.run, None)  # who comes from now on finds the run here
        owned.mailbox[:0] = letters
        if self._has_nothing_to_decide(owned) and (lack := self._runtime.runner.lack_of(owned)) is not None:
            owned.drop(OwnershipLost())
            self._leave_to_others(claimed, lack)
        elif claimed.died and has_last_chance(owned.kernel.program, owned.state):
            self._runtime.spawn(self._trials.hold(owned, partial(self._take_first_turn, owned, claimed)))
        else:
            self._take_first_turn(owned, claimed)

    def _has_nothing_to_decide(self, owned: OwnedRun) -> bool:
        wake = next_wake(owned.state)
        return not owned.mailbox and (wake is None or wake > self._runtime.time.now())

    def _take_first_turn(self, owned: OwnedRun, claimed: Claimed) -> None:
        if owned.dropped:
            return
        wake = next_wake(owned.state)
        first: list[Letter] = []
        if claimed.died or owned.state.executing:
            # Its last turn is a sign of life too.
            alive_until = max(claimed.alive_until or 0, claimed.head.updated_at)
            first.append((TakeOver(died=claimed.died, alive_until=alive_until), None, 0))
        if wake is not None and wake <= self._runtime.time.now():
            first.append(_FIRE)
        owned.mailbox[:0] = first
        owned.take_turn()
