"""Runs: start, look at, talk to, wait for. No word of HTTP here; REST, CLI and the Python API are thin over this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from perdure.engine import Engine
from perdure.engine.library import MAX_VERSION, Library
from perdure.errors import HistoryUnreadable, IllegalCommand, InvalidInput, NotFound, NotInstalled, RunEnded
from perdure.kernel.kernel import Kernel
from perdure.kernel.outlook import TASKS, WAITS_FOR, Reason
from perdure.kernel.people import addressed, as_answer
from perdure.kernel.signal_ids import is_known
from perdure.kernel.state import RunState
from perdure.model import commands as c
from perdure.model.answers import is_response
from perdure.model.events import Recorded
from perdure.model.policies import Limits
from perdure.model.references import WORDS, Word
from perdure.model.replies import Reply
from perdure.model.statuses import Status
from perdure.model.times import iso
from perdure.model.values import Json, check_json, check_name, decode_json
from perdure.ports.journal import Head
from perdure.ports.runs import RunFilter
from perdure.ports.store import Store
from perdure.service.histories import read_history, rebuild
from perdure.service.on_demand import NodeResult, ask_for_node
from perdure.service.reasons import Reasons
from perdure.service.replies import wait_for_reply

MOST = 2**63 - 1


class RunView(msgspec.Struct, frozen=True, kw_only=True):
    """What people see of a run."""

    id: str
    namespace: str
    definition: str
    version: int
    hash: str
    status: Status
    trigger: str
    key: str | None
    parent: str | None
    created_at: str
    updated_at: str
    closed_at: str | None
    attributes: dict[str, Any]
    output: Json = None
    failure: dict[str, Any] | None = None
    events: int = 0
    pins: dict[str, int] | None = None
    """Versions of stored parts that the run keeps; `lookups:all@LATEST` is 0 where there were none."""


class RunService:
    def __init__(self, engine: Engine, store: Store, library: Library) -> None:
        self._engine = engine
        self._store = store
        self._library = library
        self._reasons = Reasons(engine, store, library)

    async def start(
        self,
        namespace: str,
        definition: str,
        input: Json = None,
        *,
        key: str | None = None,
        version: int | Word | None = None,
        trigger: str = "api",
        thread: dict[str, Any] | None = None,
        limits: Limits | None = None,
        attributes: dict[str, Any] | None = None,
    ) -> str:
        check_name(definition, "/definition")
        if key is not None:
            check_name(key, "/key")
        check_json(input, "/input")
        if version is not None and version not in WORDS:
            check_version(version)
        if limits is not None:
            _check_limits(limits)
        return await self._engine.start(
            namespace,
            definition,
            input,
            key=key,
            version=version,
            trigger=trigger,
            thread=thread,
            limits=limits,
            attributes=attributes,
        )

    async def get(self, namespace: str, run: str) -> RunView:
        return view(await self._head(namespace, run))

    async def list(self, filter: RunFilter, before: str | None = None, limit: int = 100) -> Sequence[RunView]:
        for name, value in (("definition", filter.definition), ("parent", filter.parent), ("before", before)):
            if value is not None:
                check_name(value, f"/{name}")
        return [view(head) for head in await self._store.runs.find(filter, before, limit)]

    async def result(self, namespace: str, run: str) -> Json:
        """Waits for the end. Raises RunEnded if that is not COMPLETED."""
        head = await self._engine.result(namespace, check_name(run, "/id"))
        result = _result(head)
        if head.status is Status.COMPLETED:
            return result.get("output")
        failure = result.get("failure")
        cause = f": {failure['message']}" if failure else ""
        raise RunEnded(
            f"the run {run} ended as {head.status}{cause}", run=run, status_name=head.status, failure=failure
        )

    async def reply(self, namespace: str, run: str) -> Reply | None:
        """Waits for what the run answers before it ends; None if it ends without an answer."""
        return await wait_for_reply(self._engine, self._store, namespace, check_name(run, "/id"))

    async def signal(self, namespace: str, run: str, name: str, payload: Json = None, id: str | None = None) -> None:
        check_name(name, "/name")
        if id is not None:
            check_name(id, "/id")
        check_json(payload, "/payload")
        signal = c.Signal(name, payload, id)
        if is_response(payload) and await self._is_answered(namespace, run, signal):
            return
        try:
            await self._send(namespace, run, signal)
        except IllegalCommand:
            # Perhaps it came through before the run ended, and what was said to it was lost.
            if is_response(payload) and await self._is_answered(namespace, run, signal):
                return
            if id is None or not is_known((await self.state(namespace, run))[1], signal):
                raise

    async def _is_answered(self, namespace: str, run: str, signal: c.Signal) -> bool:
        """A signal may be the answer to a task. Where another worker has the run, only here a bad one can be refused
        to whoever sent it."""
        _, state = await self.state(namespace, run)
        meant = as_answer(state, signal)
        return meant is not None and addressed(state, meant) is None

    async def execute_node(
        self,
        namespace: str,
        run: str,
        node: str,
        parameters: Json = None,
        *,
        id: str | None = None,
        patience: float | None = None,
    ) -> NodeResult:
        """Executes a node that is there to be asked for (`on_demand`), beside the graph of an open run, and gives its
        result. The same id again gives the same result."""
        check_name(run, "/id")
        command = c.RunNode(check_name(node, "/node"), parameters, id or self._engine.runtime.ids.token())

        async def state_of(run: str) -> RunState:
            return (await self.state(namespace, run))[1]

        return await ask_for_node(self._engine, self._store, state_of, namespace, run, command, patience)

    async def cancel(self, namespace: str, run: str, reason: str | None = None) -> None:
        await self._send(namespace, run, c.Cancel(_reason(reason)))

    async def suspend(self, namespace: str, run: str, reason: str | None = None) -> None:
        await self._send(namespace, run, c.Suspend(_reason(reason)))

    async def resume(self, namespace: str, run: str) -> None:
        await self._send(namespace, run, c.Resume())

    async def retry(self, namespace: str, run: str, new_key: bool = False) -> None:
        await self._send(namespace, run, c.RetryRun(new_key))

    async def history(self, namespace: str, run: str, after: int = 0, limit: int = 1000) -> Sequence[Recorded]:
        await self._head(namespace, run)
        if not 0 <= after <= MOST:
            raise InvalidInput(f"there is no event number {after}", pointer="/after", expected=f"0 to {MOST}")
        return await read_history(self._store, namespace, run, after, limit)

    async def state(self, namespace: str, run: str, as_of: int | None = None) -> tuple[Kernel, RunState]:
        """The state from the log, as it is or as it was after event number `as_of`."""
        head = await self._head(namespace, run)
        edition = await self._library.pinned(namespace, head.definition, head.version, head.pins)
        state = await rebuild(self._store, edition.kernel, namespace, run, as_of)
        if as_of is None and state.seq < head.seq:
            raise HistoryUnreadable(f"the log of {run} ends at {state.seq}, its head says {head.seq}", run=run)
        return edition.kernel, state

    async def explain(self, namespace: str, run: str) -> Sequence[Reason]:
        """Also of a run that was set aside, whose log perhaps cannot be read at all."""
        head = await self._head(namespace, run)
        aside = self._engine.set_aside.get(run)
        try:
            kernel, state = await self.state(namespace, run)
        except HistoryUnreadable as problem:
            return [_why_aside(aside or problem)]
        except NotInstalled as missing:
            return await self._reasons.without_state(head, missing)
        reasons = await self._reasons.of(head, kernel, state)
        return reasons if aside is None else [_why_aside(aside), *reasons]

    async def _send(self, namespace: str, run: str, command: c.Command) -> None:
        await self._engine.send(namespace, check_name(run, "/id"), command)

    async def _head(self, namespace: str, run: str) -> Head:
        head = await self._store.journal.head(check_name(run, "/id"))
        if head is None or head.namespace != namespace:
            raise NotFound(f"no run {run!r}", namespace=namespace)
        return head


def check_version(version: Any) -> int:
    """Refuses what one store would look for and another not."""
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= MAX_VERSION:
        raise InvalidInput(
            "a version is a whole number from 1, or LATEST, ACTIVE or SNAPSHOT",
            pointer="/version",
            expected=f"a whole number from 1 to {MAX_VERSION}",
        )
    return version


def _check_limits(limits: Any) -> None:
    if not isinstance(limits, Limits):
        raise InvalidInput(
            f"{type(limits).__name__} is no Limits",
            pointer="/limits",
            expected="perdure.model.policies.Limits, such as Limits(iterations=50_000)",
        )
    for name in Limits.__struct_fields__:
        value = getattr(limits, name)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST:
            raise InvalidInput(f"{value!r} is no limit", pointer=f"/limits/{name}", expected=f"0 to {MOST}")


def _result(head: Head) -> dict[str, Any]:
    return decode_json(head.result) if head.result is not None else {}


def view(head: Head) -> RunView:
    result = _result(head)
    return RunView(
        id=head.run,
        namespace=head.namespace,
        definition=head.definition,
        version=head.version,
        hash=head.hash,
        status=head.status,
        trigger=head.trigger,
        key=head.key,
        parent=head.parent,
        created_at=iso(head.created_at),
        updated_at=iso(head.updated_at),
        closed_at=iso(head.closed_at) if head.closed_at is not None else None,
        attributes={name: value for name, value in head.attributes.items() if name not in (WAITS_FOR, TASKS)},
        output=result.get("output"),
        failure=result.get("failure"),
        events=head.seq,
        pins=head.pins,
    )


def _reason(text: str | None) -> str | None:
    if text is not None and not isinstance(text, str):
        raise InvalidInput("a reason is a text", pointer="/reason")
    return text


def _why_aside(problem: BaseException) -> Reason:
    return Reason("set aside", f"set aside, because it cannot go on: {problem}")
