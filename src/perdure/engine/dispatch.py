"""Getting a command to its run: held here, held by nobody, or held elsewhere."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from msgspec.structs import replace

from perdure.engine.answers import Answer as Waiting
from perdure.engine.answers import HandedBack, OwnershipLost, Reply
from perdure.engine.outputs import purified, purified_object
from perdure.engine.unparking import take_back
from perdure.errors import Busy, NotFound, StoreUnavailable
from perdure.kernel.legality import COMMANDS, Condition
from perdure.kernel.legality import Answer as Legality
from perdure.kernel.state import RunState
from perdure.kernel.turn import refusal
from perdure.model.codec import encode_command
from perdure.model.commands import (
    Answer,
    Cancel,
    Command,
    RecordSideEffect,
    RetryRun,
    RunNode,
    SetAttributes,
    Signal,
    Suspend,
)
from perdure.model.values import check_name, check_text
from perdure.ports.inbox import Sent
from perdure.ports.journal import Head

if TYPE_CHECKING:
    from perdure.engine.owned import OwnedRun
    from perdure.engine.runtime import Runtime

_TRIES = 16
_POSTED = 10_000
"""Runs of which it is remembered that something was put into their inbox here."""


class Dispatch:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._posted: OrderedDict[str, None] = OrderedDict()

    async def send(self, namespace: str, run: str, command: Command, request_id: str | None) -> Reply:
        """Raises the run's refusal, NotFound, Busy; CommitUnknown if the worker lost its lease in the middle of it."""
        command = _purified(command, request_id)
        for _ in range(_TRIES):
            owned = self._runtime.roster.owned.get(run)
            try:
                if owned is not None:
                    if run in self._posted:
                        await self._catch_up(owned)
                    changed = await self._ask(owned, namespace, command)
                else:
                    reply = await self._reach(namespace, run, command, request_id)
                    if isinstance(reply, Reply):
                        return reply
                    changed = await reply
            except OwnershipLost:
                continue
            except HandedBack as handed:
                if isinstance(command, RetryRun):
                    raise handed.why from None
                return await self._post(namespace, run, command, request_id)
            return Reply.DECIDED if changed else Reply.UNCHANGED
        raise StoreUnavailable(f"the run {run} changes its owner too often")

    def _ask(self, owned: OwnedRun, namespace: str, command: Command) -> Waiting:
        if owned.namespace != namespace or owned.new is not None:
            raise _no_such(owned.run)
        if len(owned.mailbox) >= self._runtime.settings.mailbox:
            raise Busy(
                f"{len(owned.mailbox)} commands wait for the run already", retry_after=self._runtime.settings.poll
            )
        answer: Waiting = self._runtime.loop.create_future()
        owned.deliver(command, answer)
        return answer

    async def _catch_up(self, owned: OwnedRun) -> None:
        """What was put into its inbox here before the run came here is decided before what is told it now."""
        owned.deliver_all(await self._runtime.post.receive_patiently(owned))
        self._posted.pop(owned.run, None)

    async def _reach(self, namespace: str, run: str, command: Command, request_id: str | None) -> Reply | Waiting:
        runtime = self._runtime
        if run in runtime.roster.aside:
            raise runtime.roster.aside[run]
        version = runtime.roster.parked.version_of(run)
        if version is None:
            head = await runtime.journal.head(run)
            if head is None:
                raise _no_such(run)
            version = (head.namespace, head.definition, head.version)
            if head.namespace == namespace:
                if head.status.is_final and not isinstance(command, RetryRun):
                    return _too_late(head, command)
                if head.owner is not None:
                    return await self._post(namespace, run, command, request_id)
        if version[0] != namespace:
            raise _no_such(run)
        is_for_others = runtime.declined.is_for_others(version, command)
        if runtime.lease.is_held and runtime.starts.is_open and not is_for_others:
            answer: Waiting = runtime.loop.create_future()
            letter = (command, answer, 0)
            if take_back(runtime, run, letter) or await runtime.adoption.take_one(run, letter):
                return answer
        return await self._post(namespace, run, command, request_id)

    async def _post(self, namespace: str, run: str, command: Command, request_id: str | None) -> Reply:
        runtime = self._runtime
        if request_id is None:
            request_id = (command.id if isinstance(command, Signal | Answer | RunNode) else None) or runtime.ids.token()
        sent = await runtime.inbox.send(namespace, run, encode_command(command), request_id)
        match sent:
            case Sent.UNKNOWN:
                raise _no_such(run)
            case Sent.CLOSED:
                head = await runtime.journal.head(run)
                if head is None:
                    raise _no_such(run)
                return _too_late(head, command)
            case Sent.DUPLICATE:
                return Reply.UNCHANGED
            case Sent.ACCEPTED:
                self._posted[run] = None
                self._posted.move_to_end(run)
                if len(self._posted) > _POSTED:
                    self._posted.popitem(last=False)
                return Reply.ACCEPTED


def _no_such(run: str) -> NotFound:
    return NotFound(f"there is no run {run}")


def _too_late(head: Head, command: Command) -> Reply:
    if COMMANDS[type(command)][Condition(head.status.value)] is Legality.IGNORE:
        return Reply.UNCHANGED
    raise refusal(RunState(head.run, final=head.status.value), command)


def _purified(command: Command, request_id: str | None) -> Command:
    """Its values as a replay would have them, and nothing that the caller could still change. A signal without an id
    gets that of its request: the inbox forgets requests when they are answered, a run never forgets a signal's id."""
    match command:
        case Signal():
            check_name(command.name, "/name")
            if command.id is not None:
                check_name(command.id, "/id")
            payload, _ = purified(command.payload, "/payload")
            return replace(command, payload=payload, id=command.id if command.id is not None else request_id)
        case Answer():
            for name, value in (("node", command.node), ("id", command.id), ("by", command.by)):
                if value is not None:
                    check_name(value, f"/{name}")
            response, _ = purified(command.response)
            return replace(command, response=response, id=command.id if command.id is not None else request_id)
        case RunNode():
            check_name(command.node, "/node")
            if command.id is not None:
                check_name(command.id, "/id")
            return replace(command, parameters=purified(command.parameters, "/parameters")[0])
        case SetAttributes():
            for name in command.values:
                check_name(name, "/values")
            return SetAttributes(purified_object(command.values, "/values")[0])
        case RecordSideEffect():
            return RecordSideEffect(check_name(command.key, "/key"), purified(command.value, "/value")[0])
        case Cancel() | Suspend() if command.reason is not None:
            check_text(command.reason, "/reason")
        case _:
            pass
    return command
