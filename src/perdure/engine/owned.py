"""A run that this worker owns: its state, its mailbox, and the turn that is being made durable.

There is no coroutine per run. A command is put into the mailbox; if the run is not busy, a turn is taken at once:
every command in the mailbox is decided, the state moves, and the events go to the store. Only when they are durable
are the commands answered and the effects carried out (the effect barrier); what arrived meanwhile makes the next
turn.

    idle --deliver--> deciding --events--> committing --durable--> effects --> idle, or the next turn
                         ^                     |                     |
                         |                     +-- no answer: `settling` finds out, never decides again first
                         +---------------------+-- refused: fenced = dropped; inbox moved = see `_refused`

`busy` holds from deciding to the end of the effects. Starting children counts as part of the effects, so that a
parent never takes another turn (in which it might close) while it is uncertain whether its children exist.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from perdure.engine.answers import Answer, Letter, OwnershipLost, StartRefused, give
from perdure.engine.deciding import Bug, decide
from perdure.engine.parking import is_for_others, may_park
from perdure.engine.settling import go_back, reload, settle, undecide
from perdure.engine.writing import SnapshotGauge, write_of
from perdure.errors import CommitUnknown
from perdure.kernel.kernel import Kernel
from perdure.kernel.outlook import outstanding
from perdure.kernel.state import RunState
from perdure.kernel.turn import Turn
from perdure.model.commands import Command, Proceed
from perdure.model.effects import AnyEffect, Execute, LoadItems, StartChild, StopHandler
from perdure.ports.journal import NewRun, Outcome, TurnWrite, Verdict

if TYPE_CHECKING:
    from perdure.engine.execution import Execution
    from perdure.engine.handlers import Lack
    from perdure.engine.runtime import Runtime

_PROCEED: Letter = (Proceed(), None, 0)
_NOTHING: Sequence[AnyEffect] = ()


class OwnedRun:
    __slots__ = (
        "alarm",
        "answers",
        "busy",
        "children",
        "committing",
        "consumed",
        "dropped",
        "durable",
        "effects",
        "epoch",
        "fresh",
        "gauge",
        "in_flight",
        "inbox_seen",
        "kernel",
        "lack",
        "letters",
        "mailbox",
        "namespace",
        "new",
        "number",
        "pending",
        "queued",
        "received",
        "run",
        "running",
        "runtime",
        "size",
        "starting",
        "state",
        "unparks",
        "unsure",
    )

    def __init__(
        self,
        runtime: Runtime,
        kernel: Kernel,
        namespace: str,
        state: RunState,
        epoch: int,
        *,
        gauge: SnapshotGauge | None = None,
        size: int = 0,
    ) -> None:
        self.runtime = runtime
        self.kernel = kernel
        self.namespace = namespace
        self.run = state.run
        self.state = state
        self.epoch = epoch
        self.durable = state.seq
        """The seq up to which the store has it."""
        self.mailbox: list[Letter] = []
        self.busy = False
        self.fresh = False
        """Just taken over: all outstanding effects are to be issued again, not only those of the next turn."""
        self.dropped = False
        self.new: NewRun | None = None
        self.queued = False
        """A new run that is only stored; whoever has room will claim it."""
        self.unparks = False
        """It was parked here, and the first write takes it up again. Until that is durable nobody knows whether the run
        has not moved on elsewhere, so every first turn is written, also one that changes nothing."""
        self.lack: Lack | None = None
        """What the run needs and is not here: it is handed back when what executes here has ended."""

        self.in_flight: TurnWrite | None = None
        self.committing: asyncio.Future[Outcome] | None = None
        self.letters: list[Letter] = []
        self.answers: list[tuple[Answer, Any]] = []
        self.effects: Sequence[AnyEffect] = _NOTHING
        self.unsure = False
        """Whether the turn in flight is durable already cannot be known yet."""

        self.inbox_seen = 0
        self.received = 0
        """The newest inbox row that has come here. Older ones have too: a run's rows are numbered as they become
        visible."""
        self.consumed: list[int] = []
        """Inbox rows that the next write deletes."""
        self.number = 0
        """Given by the roster: those that it took in later have greater ones."""

        self.running: dict[int, Execution] = {}
        self.starting = 0
        """Children being started."""
        self.pending = 0
        """Things being read for the run; it stays here until they are there."""
        self.children: set[str] = set()
        """Children known to exist."""
        self.alarm: int | None = None
        self.gauge = gauge or SnapshotGauge()
        self.size = size

    # -- the mailbox -------------------------------------------------------------------------------

    def deliver(self, command: Command, answer: Answer | None = None, row: int = 0) -> None:
        if self.dropped:
            if answer is not None:
                give(answer, OwnershipLost())
            return
        self.mailbox.append((command, answer, row))
        if not self.busy:
            self.take_turn()

    def deliver_all(self, letters: Sequence[Letter]) -> None:
        """So that they are decided in one turn."""
        if not self.dropped:
            self.mailbox.extend(letters)
            if letters and not self.busy:
                self.take_turn()

    def take_turn(self) -> None:
        """Decides what is in the mailbox until a commit is under way or nothing is left."""
        self.busy = True
        runtime = self.runtime
        while True:
            letters = self._open_mail()
            turn = self.kernel.turn(self.state, runtime.time.now())
            try:
                answers = decide(self, turn, letters)
                effects = self._reissued() if self.fresh else turn.effects
                park = may_park(self, effects, turn.at)
                if turn.events or park or self.unparks:
                    self._submit(turn, letters, answers, effects, park)
                    return
            except Bug as bug:
                go_back(self, bug, letters)
                return
            # Nothing changed, so nothing has to become durable first.
            self.fresh = False
            for answer, said in answers:
                give(answer, said)
            self._carry_out(effects)
            if self.starting:
                return
            if not self.mailbox and not (self.lack is not None and may_park(self, _NOTHING, turn.at)):
                self._rest()
                return

    def _open_mail(self) -> list[Letter]:
        letters = self.mailbox
        most = self.runtime.settings.turn_commands
        if len(letters) <= most:
            self.mailbox = []
            return letters
        self.mailbox = letters[most:]
        return letters[:most]

    def _reissued(self) -> list[AnyEffect]:
        found = outstanding(self.kernel.program, self.state)
        known = self.children
        return [effect for effect in found if not isinstance(effect, StartChild) or effect.run not in known]

    # -- committing --------------------------------------------------------------------------------

    def _submit(
        self,
        turn: Turn,
        letters: list[Letter],
        answers: list[tuple[Answer, Any]],
        effects: Sequence[AnyEffect],
        park: bool,
    ) -> None:
        runtime = self.runtime
        try:
            write = write_of(
                self,
                turn,
                turn_id=runtime.turn_id(),
                owner=None if park else runtime.worker,
                wake_at=turn.at if park and is_for_others(self) else None,
                new=self.new,
            )
        except Exception as problem:
            raise Bug(problem, None) from problem
        if self.consumed:
            self.consumed = []
        self.in_flight = write
        self.letters = letters
        self.answers = answers
        self.effects = effects
        self.commit(write)

    def commit(self, write: TurnWrite) -> None:
        self.committing = asyncio.ensure_future(self.runtime.journal.commit(write))
        self.committing.add_done_callback(self._answered, context=self.runtime.context)

    def _answered(self, future: asyncio.Future[Outcome]) -> None:
        self.committing = None
        problem = CommitUnknown("the commit was given up") if future.cancelled() else future.exception()
        if self.dropped:
            if self.in_flight is not None:
                self._answer_late(problem, None if problem is not None else future.result())
        elif problem is not None:
            self.runtime.spawn(settle(self, problem))
        elif (outcome := future.result()).verdict is Verdict.COMMITTED:
            self.committed()
        else:
            self.refused(outcome)

    def _answer_late(self, problem: BaseException | None, outcome: Outcome | None) -> None:
        """The run was lost while the commit was under way; now it is known what became of that."""
        for answer, said in self.answers:
            if outcome is None:
                give(answer, CommitUnknown(f"whether it was recorded is not known: {problem}"))
            elif outcome.verdict is Verdict.COMMITTED:
                give(answer, said)
            else:
                give(answer, self._refusal(outcome))
        self.clear_flight()

    def _refusal(self, outcome: Outcome) -> Exception:
        assert self.in_flight is not None
        return OwnershipLost() if self.in_flight.new is None else StartRefused(outcome)

    def committed(self) -> None:
        write = self.in_flight
        assert write is not None
        answers, effects = self.answers, self.effects
        observer = self.runtime.observer
        if observer is not None:
            observer.turn_committed(self.run, write.seq - write.expected, len(self.letters))
        self.clear_flight()
        self.durable = write.seq
        self.size += len(write.data)
        self.runtime.changes.moved(self.run)
        self.new = None
        self.fresh = False
        # Parked, and more has come meanwhile: that takes it up again at once.
        self.unparks = write.owner is None and write.result is None and bool(self.mailbox)
        stays = write.owner is not None or self.unparks
        if not stays:
            self.runtime.roster.retire(self, write)
        for answer, said in answers:
            give(answer, said)
        if stays:
            self._carry_out(effects)
            if not self.starting:
                self.go_on()

    def clear_flight(self) -> None:
        self.in_flight = None
        self.letters = []
        self.answers = []
        self.effects = _NOTHING
        self.unsure = False

    def refused(self, outcome: Outcome) -> None:
        """Nothing of the turn in flight was written."""
        write = self.in_flight
        assert write is not None
        self.unsure = False
        if self.unparks:
            self.drop(OwnershipLost(), was_refused=True)  # those who wait ask anew, and find out who has it now
        elif outcome.verdict is not Verdict.INBOX_MOVED:
            if write.new is None and self.runtime.observer is not None:
                self.runtime.observer.fenced(self.run)
            self.drop(self._refusal(outcome), was_refused=True)
        elif write.result is None:
            # It was to be parked, and a command came in between. What was decided stays right; the run just stays here.
            self.in_flight = msgspec.structs.replace(write, owner=self.runtime.worker)
            self.runtime.post.fetch(self)
            self.commit(self.in_flight)
        else:
            # It was to be closed. The command came before the close, so it is decided before it, from the state
            # as it was.
            undecide(self, self.letters)
            self.runtime.spawn(reload(self))

    def superseded(self) -> None:
        """The turn in flight is durable, but somebody else owns the run now."""
        for answer, said in self.answers:
            give(answer, said)
        self.clear_flight()
        self.drop(OwnershipLost())

    # -- after it is durable --------------------------------------------------------------------------------

    def _carry_out(self, effects: Sequence[AnyEffect]) -> None:
        runtime = self.runtime
        is_leaving = self.lack is not None
        for effect in effects:
            if isinstance(effect, Execute):
                if not is_leaving:  # else it stays outstanding; the next owner executes it
                    runtime.runner.execute(self, effect.activation)
            elif isinstance(effect, StopHandler):
                runtime.runner.stop(self, effect.activation)
            elif isinstance(effect, StartChild):
                self.starting += 1
                runtime.spawn(runtime.children.start(self, effect))
            elif isinstance(effect, LoadItems):
                self.pending += 1
                runtime.spawn(runtime.children.load_items(self, effect))
            else:
                self.mailbox.append(_PROCEED)

    def settled(self, letter: Letter | None) -> None:
        """A child has been started, or will never be."""
        self.starting -= 1
        if letter is not None:
            self.mailbox.append(letter)
        if not self.starting and not self.dropped:
            self.go_on()

    def fetched(self, letters: Sequence[Letter]) -> None:
        """Something that was being read is there."""
        self.pending -= 1
        if not self.dropped:
            self.mailbox.extend(letters)
            if not self.busy:
                self.go_on()

    def go_on(self) -> None:
        if self.mailbox or may_park(self, _NOTHING, self.runtime.time.now()):
            self.take_turn()
        else:
            self._rest()

    def _rest(self) -> None:
        self.busy = False
        if self.state.timer_heap:
            self.runtime.alarms.watch(self)

    # -- the end -----------------------------------------------------------------------------------

    def drop(self, why: Exception, *, was_refused: bool = False, hears_the_commit: bool = False) -> None:
        """This worker has nothing to do with the run any more. Whoever waits is told; handlers are told to stop.
        `hears_the_commit`: the store is answering, so those in the turn under way are told what became of it."""
        if self.dropped:
            return
        self.dropped = True
        self.runtime.roster.forget(self)
        self.runtime.runner.abandon(self)
        for _, waiting, _ in self.mailbox:
            if waiting is not None:
                give(waiting, why)
        self.mailbox = []
        if self.committing is None or not hears_the_commit:
            about_flight = why if was_refused else CommitUnknown("whether it was recorded is not known")
            for answer, _ in self.answers:
                give(answer, about_flight)
            self.clear_flight()
