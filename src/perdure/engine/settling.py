"""When a commit gives no answer, or the state must go back to what is durable. Rare, so these are coroutines.

Law of this file: after a lost answer nothing is decided before it is known whether the turn is durable. The store is
asked until it answers; the same turn id means that it is. If it is not, the *same* write is handed in again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING

from perdure.engine.answers import Letter, OwnershipLost, give
from perdure.engine.deciding import Bug
from perdure.errors import CommitUnknown, InvariantBroken, StoreError, StoreFull, StoreUnavailable
from perdure.model.commands import ChildEnded, Complete, Fail, TakeOver
from perdure.model.failures import Failure
from perdure.ports.journal import FENCED, Journal, TurnWrite, Verdict

if TYPE_CHECKING:
    from perdure.engine.owned import OwnedRun
    from perdure.engine.runtime import Runtime

_STRANGE_ERRORS = 20
"""So often a commit may fail with an error that no store should raise before the run is set aside."""


class Fate(Enum):
    WRITTEN = "written"
    ABSENT = "absent"
    """Not written, and it could still be."""
    SUPERSEDED = "superseded"
    """Written, but somebody else owns the run now."""
    LOST = "lost"
    """Not written, and somebody else owns the run now."""


async def fate_of(journal: Journal, write: TurnWrite) -> Fate:
    head = await journal.head(write.run)
    if head is None:
        return Fate.ABSENT
    if head.turn_id == write.turn_id:
        return Fate.WRITTEN if head.epoch == write.epoch else Fate.SUPERSEDED
    if write.new is None and head.seq == write.expected and head.epoch == write.epoch:
        return Fate.ABSENT
    if write.seq > write.expected:
        rows = await journal.history(write.run, after=write.expected, limit=1)
        if rows and rows[0].turn_id == write.turn_id:
            return Fate.SUPERSEDED
    return Fate.LOST


def pauses(runtime: Runtime) -> Iterator[float]:
    pause = runtime.settings.retry_first
    while True:
        yield runtime.ids.jitter(pause)
        pause = min(pause * 2, runtime.settings.retry_most)


async def settle(owned: OwnedRun, problem: BaseException) -> None:
    """The commit in flight failed. Ends with it committed or refused; or with the run dropped, when the lease ran
    out."""
    runtime = owned.runtime
    strange = 0
    for pause in pauses(runtime):
        if not isinstance(problem, StoreUnavailable | StoreFull):
            owned.unsure = True  # anything else may have happened after the commit
        if not isinstance(problem, StoreError):
            strange += 1
            if strange > _STRANGE_ERRORS and not owned.dropped:
                runtime.roster.set_aside(owned, problem)
        runtime.trouble(f"committing a turn of {owned.run}", problem)
        if isinstance(problem, StoreFull) and await _told_at_once(owned, problem):
            return
        await asyncio.sleep(pause)
        if owned.dropped:
            return
        try:
            if await _settled(owned):
                return
        except Exception as again:
            problem = again


async def _told_at_once(owned: OwnedRun, full: StoreFull) -> bool:
    """There is no room, and there may be none for hours. Whoever waits for an answer is told so instead of waiting
    along, and what they asked for is taken back; what nobody can repeat (results, timers) is kept and tried again.
    True: the turn in flight is no more."""
    for _, answer, _ in owned.mailbox:
        if answer is not None:
            give(answer, full)
    owned.mailbox = [letter for letter in owned.mailbox if letter[1] is None]
    write = owned.in_flight
    assert write is not None
    if owned.unsure:
        return False  # an earlier attempt may have got through
    if write.new is not None or owned.unparks:
        owned.drop(full, was_refused=True)  # the store does not know the run, or has it as it was parked
        return True
    if not owned.answers:
        return False
    for answer, _ in owned.answers:
        give(answer, full)
    undecide(owned, [letter for letter in owned.letters if letter[1] is None])
    await reload(owned)
    return True


async def _settled(owned: OwnedRun) -> bool:
    journal, write = owned.runtime.journal, owned.in_flight
    assert write is not None
    if owned.unsure and _concluded(owned, await fate_of(journal, write)):
        return True
    outcome = await journal.commit(write)
    if owned.dropped:
        return True
    if outcome.verdict is Verdict.COMMITTED:
        owned.committed()
    elif not owned.unsure:
        owned.refused(outcome)
    elif not _concluded(owned, await fate_of(journal, write)):
        # It had not been refused because of its own earlier self.
        owned.refused(outcome)
    return True


def _concluded(owned: OwnedRun, fate: Fate) -> bool:
    if not owned.dropped:
        match fate:
            case Fate.WRITTEN:
                owned.committed()
            case Fate.SUPERSEDED:
                owned.superseded()
            case Fate.LOST:
                owned.refused(FENCED)
            case Fate.ABSENT:
                return False
    return True


def go_back(owned: OwnedRun, bug: Bug, letters: list[Letter]) -> None:
    """To what is durable, without the command that led into the bug. If it cannot be left out, the run is set aside."""
    broken = InvariantBroken(f"a bug in Perdure, met in run {owned.run}: {bug.problem!r}")
    broken.__cause__ = bug.problem
    rows = {row for _, _, row in letters}
    owned.consumed = [row for row in owned.consumed if row not in rows]
    offenders = letters if bug.offender is None else [bug.offender]
    kept = [] if bug.offender is None else [letter for letter in letters if letter is not bug.offender]
    hopeless = not offenders
    for command, answer, row in offenders:
        if answer is not None:
            give(answer, broken)
        elif isinstance(command, Complete):
            failure = Failure("INVARIANT_BROKEN", broken.message)
            kept.append((Fail(command.activation, command.attempt, failure), None, row))
        elif row and not isinstance(command, ChildEnded):
            owned.consumed.append(row)
        else:
            hopeless = True
    owned.mailbox[:0] = kept
    if owned.new is not None:
        owned.drop(broken)
    elif hopeless:
        owned.runtime.roster.set_aside(owned, broken)
    else:
        owned.runtime.trouble(f"run {owned.run}", broken)
        owned.runtime.spawn(reload(owned))


def undecide(owned: OwnedRun, letters: list[Letter]) -> None:
    """Nothing of the turn in flight was written. These of its commands are decided again, once the state has been
    reloaded."""
    assert owned.in_flight is not None
    decided_now = {row for _, _, row in owned.letters}
    owned.consumed = [row for row in owned.in_flight.consumed if row not in decided_now]
    owned.mailbox[:0] = letters
    owned.clear_flight()


async def reload(owned: OwnedRun) -> None:
    """Puts the durable state in place of one that has moved too far, and fetches the inbox. Running handlers are not
    touched."""
    runtime = owned.runtime
    for pause in pauses(runtime):
        if owned.dropped:
            return
        try:
            loaded = await runtime.journal.load(owned.run)
            if loaded is None or loaded.head.epoch != owned.epoch or loaded.head.seq != owned.durable:
                owned.drop(OwnershipLost())
                return
            rebuilt = await runtime.loader.rebuild(owned.kernel, loaded)
            letters = await runtime.post.receive_for(owned)
        except (StoreUnavailable, StoreFull, CommitUnknown) as problem:
            runtime.trouble(f"reloading {owned.run}", problem)
            await asyncio.sleep(pause)
        except Exception as problem:
            runtime.roster.set_aside(owned, problem)
            return
        else:
            break
    if not owned.dropped:
        owned.state, owned.gauge, owned.size = rebuilt.state, rebuilt.gauge, rebuilt.size
        owned.mailbox = sorted([*owned.mailbox, *letters], key=_precedence)
        owned.take_turn()


def _precedence(letter: Letter) -> int:
    """What came through the inbox came before the close that it prevented; so it is decided before what led to that."""
    command, _, row = letter
    return 0 if isinstance(command, TakeOver) else 1 if row else 2
