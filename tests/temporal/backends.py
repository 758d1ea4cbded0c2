"""The two backends behind one small face: the native engine on a memory store, and a Temporal server with a worker."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, Protocol

import msgspec
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle, WorkflowHistory
from temporalio.common import WorkflowIDReusePolicy
from temporalio.worker import Worker

from perdure.engine.engine import Engine
from perdure.engine.handlers import HandlerSpec
from perdure.engine.library import Library
from perdure.engine.reports import completed, failed
from perdure.engine.settings import EngineSettings
from perdure.kernel.kernel import Kernel
from perdure.model.commands import Cancel, Complete, Fail, Signal, Start
from perdure.model.documents import FlowDocument
from perdure.model.events import AnyEvent, Recorded, RunStarted
from perdure.model.policies import DEFAULT_LIMITS, Limits
from perdure.model.values import Json, content_hash
from perdure.nodes.catalogue import builtin_types
from perdure.ports.definitions import Version
from perdure.ports.store import Store
from perdure.programs.flow.graph import compile_flow
from perdure.programs.flow.program import FlowProgram
from perdure.service.histories import read_history
from perdure.stores.memory import MemoryStore
from perdure.temporal.payloads import FLOW, FlowStart, NodeCall
from perdure.temporal.worker import flow_worker
from tests.temporal.stage import Stage

NAMESPACE = "default"
QUEUE = "flows"


class Playing(Protocol):
    """A run on one of the backends, as a script sees it."""

    id: str
    stage: Stage

    async def status(self) -> str: ...
    async def signal(self, name: str, payload: Json) -> None: ...
    async def cancel(self, reason: str) -> None: ...
    async def ended(self, run: str | None = None) -> str:
        """The final status of this run, or of another one (a child)."""
        ...

    async def events(self, run: str | None = None) -> list[Recorded]: ...


async def publish(store: Store, documents: Mapping[str, Json]) -> None:
    for name, document in documents.items():
        version = await store.definitions.publish(NAMESPACE, name, "flow", document, content_hash(document), None)
        await store.definitions.activate(NAMESPACE, name, version.version)


# -- the engine ----------------------------------------------------------------------------------


class NativeRun:
    def __init__(self, native: "Native", id: str) -> None:
        self._native = native
        self.stage = native.stage
        self.id = id

    async def status(self) -> str:
        await asyncio.sleep(0)
        head = await self._native.store.journal.head(self.id)
        assert head is not None
        return head.status

    async def signal(self, name: str, payload: Json) -> None:
        await self._native.engine.send(NAMESPACE, self.id, Signal(name, payload))

    async def cancel(self, reason: str) -> None:
        await self._native.engine.send(NAMESPACE, self.id, Cancel(reason))

    async def ended(self, run: str | None = None) -> str:
        return (await self._native.engine.result(NAMESPACE, run or self.id)).status

    async def events(self, run: str | None = None) -> list[Recorded]:
        await asyncio.sleep(0)
        return list(await read_history(self._native.store, NAMESPACE, run or self.id, limit=100_000))


class Native:
    def __init__(self, store: Store) -> None:
        self.store = store
        self.stage = Stage()
        self.engine = Engine(
            store,
            Library(store.definitions, {"flow": _compiled}),
            {"python": HandlerSpec(self._perform)},
            settings=EngineSettings(sweep=0.02),
        )

    async def _perform(self, context: Any) -> Any:
        return await self.stage.call(context)

    async def start(self, definition: str, input: Json, limits: Limits = DEFAULT_LIMITS) -> NativeRun:
        self.stage = Stage()
        return NativeRun(self, await self.engine.start(NAMESPACE, definition, input, limits=limits))


def _compiled(version: Version) -> Kernel:
    return Kernel(FlowProgram(compile_flow(FlowDocument.model_validate(version.document), builtin_types())))


@asynccontextmanager
async def open_native() -> AsyncIterator[Native]:
    native = Native(MemoryStore())
    await native.store.open()
    await native.engine.open()
    try:
        yield native
    finally:
        await native.engine.close()
        await native.store.close()


# -- Temporal ------------------------------------------------------------------------------------

FINAL = {
    WorkflowExecutionStatus.COMPLETED: {"COMPLETED"},
    WorkflowExecutionStatus.FAILED: {"FAILED", "TIMED_OUT"},
    WorkflowExecutionStatus.CANCELED: {"CANCELLED"},
}


class HostedRun:
    def __init__(self, hosted: "Hosted", id: str) -> None:
        self._hosted = hosted
        self.stage = hosted.stage
        self.id = id

    def handle(self, run: str | None = None) -> WorkflowHandle[Any, Any]:
        return self._hosted.client.get_workflow_handle(run or self.id)

    async def status(self) -> str:
        status: str = await self.handle().query("status")
        return status

    async def signal(self, name: str, payload: Json) -> None:
        await self.handle().signal(name, payload)

    async def cancel(self, reason: str) -> None:
        await self.handle().cancel(reason=reason)

    async def ended(self, run: str | None = None) -> str:
        handle = self.handle(run)
        with suppress(WorkflowFailureError):
            await handle.result()
        status: str = await handle.query("status")
        shown = (await handle.describe()).status
        assert shown is not None
        assert status in FINAL[shown], f"the run is {status}, its workflow {shown.name}"
        return status

    async def events(self, run: str | None = None) -> list[Recorded]:
        raw: list[dict[str, Any]] = await self.handle(run).query("events")
        return [Recorded(each["seq"], each["at"], msgspec.convert(each["event"], AnyEvent)) for each in raw]

    async def history(self, run: str | None = None) -> WorkflowHistory:
        return await self.handle(run).fetch_history()


class Hosted:
    def __init__(self, client: Client, store: Store) -> None:
        self.client = client
        self.store = store
        self.stage = Stage()

    def worker(self, queue: str = QUEUE, **options: Any) -> Worker:
        return flow_worker(
            self.client,
            queue,
            handlers={"python": self._perform},
            definitions=self.store.definitions,
            heartbeat=timedelta(milliseconds=50),
            workflow_failure_exception_types=[Exception],  # a bug ends the test, not only the workflow's task
            **{"catalogue": builtin_types} | options,
        )

    async def _perform(self, call: NodeCall) -> Complete | Fail:
        try:
            return completed(call.activation_id, call.attempt, await self.stage.call(call))
        except Exception as problem:
            return failed(call.activation_id, call.attempt, problem)

    async def start(self, id: str, begun: RunStarted, document: Json, queue: str = QUEUE) -> HostedRun:
        """Starts what the engine has started, under the same id."""
        self.stage = Stage()
        command = Start(
            begun.definition,
            begun.version,
            begun.hash,
            begun.program,
            begun.input,
            begun.seed,
            begun.trigger,
            begun.key,
            begun.parent,
            begun.thread,
            begun.lookups,
            begun.limits,
        )
        await self.client.start_workflow(
            FLOW,
            FlowStart(id, document, command),
            id=id,
            task_queue=queue,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
        )
        return HostedRun(self, id)


def attempts_by_temporal(history: WorkflowHistory) -> list[int]:
    """How often Temporal itself tried each activity."""
    started = EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED
    return [
        event.activity_task_started_event_attributes.attempt for event in history.events if event.event_type == started
    ]
