"""Drift's use cases, with the bodies that its clients send and get: start, resume, terminate, state. No word of HTTP.

A `workflowId` that the client gives is the key of the start: the same request again is the same run, and another
request under the id of a run that there is is refused (Drift ends the run that is there and loses its work). It is also
a search attribute, like `incidentId` and `issueId`, by which runs are found again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from perdure.dialects.drift.context import Names, context_of
from perdure.engine import Engine
from perdure.errors import InvalidInput, KeyReused, NotFound, TooSlow
from perdure.kernel.state import Activation, RunState
from perdure.model import events as e
from perdure.model.statuses import Phase, Status
from perdure.model.values import Json, check_json, check_name
from perdure.ports.runs import RunFilter
from perdure.ports.store import Store
from perdure.service.on_demand import NodeResult
from perdure.service.runs import RunService, RunView
from perdure.service.selection import Chosen, SelectionService
from perdure.service.tasks import TaskService

PATIENCE = 5.0
"""Seconds for which a caller waits until a run waits, or has ended."""
ASYNC_COMPLETE = "ASYNC_COMPLETE"
_WORDS = {
    Status.QUEUED: "CREATED",
    Status.RUNNING: "RUNNING",
    Status.SLEEPING: "SCHEDULER_WAITING",
    Status.WAITING: "WAITING",
    Status.SUSPENDED: "WAITING",
    Status.COMPLETED: "COMPLETED",
    Status.FAILED: "FAILED",
    Status.TIMED_OUT: "FAILED",
    Status.CANCELLED: "TERMINATED",
}
_OBJECTS = ("issueDetail", "customer", "threadContext", "params", "config")
_CARRIED = ("incidentId", "parentWorkflowId", "issueDetail", "customer", "orderDetails", "config", "queueDetail")
_LAST_EVENTS = 50


class DriftService:
    def __init__(
        self,
        engine: Engine,
        store: Store,
        runs: RunService,
        tasks: TaskService,
        selection: SelectionService,
    ) -> None:
        self._engine = engine
        self._store = store
        self._runs = runs
        self._tasks = tasks
        self._selection = selection
        self._chance = random.SystemRandom()

    # -- what clients ask ------------------------------------------------------------------------------

    async def start(
        self,
        namespace: str,
        request: Json,
        headers: Mapping[str, str] | None = None,
        *,
        wait: float | None = PATIENCE,
    ) -> dict[str, Any]:
        """WorkflowStartRequest → WorkflowResponse. Without `wait` it comes back at once. Raises TooSlow when the run
        has come to nothing that long; it goes on."""
        given = _checked(request)
        thread = thread_of(given.get("threadContext") or {}, headers)
        params = given.get("params") or {}
        issue = (given.get("issueDetail") or {}).get("issueId")
        chosen = await self._selection.select(namespace, issue, params, given.get("customer"))
        input = {name: given[name] for name in _CARRIED if given.get(name) is not None}
        input |= {"params": params, "threadContext": thread}
        run = await self._begun(namespace, chosen, given.get("workflowId"), input, thread)
        if wait is not None:
            await self._settled(namespace, run, wait)
        return _response(await self._told(namespace, run))

    async def resume(
        self, namespace: str, workflow: str, request: Json, *, wait: float | None = PATIENCE
    ) -> dict[str, Any]:
        """WorkflowResumeRequest → WorkflowResponse. What does not fit the view is refused, and the run waits on."""
        if not isinstance(request, dict) or not isinstance(request.get("viewResponse"), dict):
            raise InvalidInput(
                "a resume needs what was selected",
                pointer="/viewResponse",
                expected='{"viewResponse": {"selectedOptions": {…}}}',
            )
        run = await self.find(namespace, workflow)
        _, state = await self._runs.state(namespace, run)
        event = next((each.signal for each in state.activations.values() if each.phase is Phase.SIGNAL), None)
        if event is not None and not state.asking:
            await self._runs.signal(namespace, run, event, request["viewResponse"])
        else:
            await self._tasks.resume(namespace, run, request["viewResponse"])
        if wait is not None:
            await self._settled(namespace, run, wait)
        return _response(await self._told(namespace, run))

    async def terminate(self, namespace: str, workflow: str, reason: str | None = None) -> None:
        await self._runs.cancel(namespace, await self.find(namespace, workflow), reason)

    async def state(self, namespace: str, workflow: str) -> dict[str, Any]:
        """→ WorkflowState."""
        told = await self._told(namespace, await self.find(namespace, workflow))
        return {name: value for name, value in told.items() if value is not None}

    async def context(self, namespace: str, workflow: str) -> dict[str, Any]:
        """The whole context, as scripts read it."""
        run = await self.find(namespace, workflow)
        kernel, state = await self._runs.state(namespace, run)
        return {"id": workflow, "context": context_of(kernel.program, state)}

    async def execute_node(self, namespace: str, workflow: str, request: Json) -> dict[str, Any]:
        """WorkflowUtilityRequest → WorkflowUtilityResponse: a state that nothing leads to, executed now."""
        if not isinstance(request, dict) or not isinstance(request.get("node"), str):
            raise InvalidInput("which node?", pointer="/node", expected="the name of a state")
        run = await self.find(namespace, workflow)
        kernel, _ = await self._runs.state(namespace, run)
        names = getattr(kernel.program, "graph").naming  # noqa: B009 — only flows have one
        node = names.id_of(request["node"]) if isinstance(names, Names) else request["node"]
        done: NodeResult = await self._runs.execute_node(namespace, run, node, request.get("parameters"))
        worked = done.status == "COMPLETED"
        answer: dict[str, Any] = {"workflowId": workflow, "node": request["node"]}
        answer["status"] = "SUCCESS" if worked else "FAILURE"
        answer["response"] = done.output if worked else {"error": done.failure.message if done.failure else done.status}
        return answer

    async def find(self, namespace: str, workflow: str) -> str:
        """The run that goes by this workflow id, the newest if there are several. Raises NotFound."""
        check_name(workflow, "/workflowId")
        filter = RunFilter(namespace=namespace, attributes={"workflowId": workflow})
        found = await self._store.runs.find(filter, None, 1)
        if found:
            return found[0].run
        head = await self._store.journal.head(workflow)
        if head is None or head.namespace != namespace:
            raise NotFound(f"there is no workflow {workflow!r}", namespace=namespace)
        return head.run

    async def _begun(
        self, namespace: str, chosen: Chosen, workflow: str | None, input: dict[str, Any], thread: dict[str, Any]
    ) -> str:
        """An id that is made here is tried again where there happens to be one like it."""
        version: Any = None if chosen.version == "ACTIVE" else chosen.version
        while True:
            id = workflow or await self._new_id()
            try:
                started = await self._engine.begin(
                    namespace,
                    check_name(chosen.definition, "/params/workflowId"),
                    {"workflowId": id, **input},
                    key=f"drift/{id}",
                    version=version,
                    thread=thread,
                    trigger="drift",
                    attributes=chosen.attributes(),
                )
            except KeyReused:
                if workflow is not None:
                    raise
            else:
                if workflow is not None or not started.existed:
                    return started.run

    # -- what they are told ----------------------------------------------------------------------------

    async def _settled(self, namespace: str, run: str, patience: float) -> None:
        """Until the run waits for somebody, or has ended."""
        try:
            async with asyncio.timeout(patience):
                while True:
                    watch = self._engine.watch(run)
                    try:
                        view = await self._runs.get(namespace, run)
                        if view.status.is_final:
                            return
                        if view.status in (Status.WAITING, Status.SUSPENDED):
                            _, state = await self._runs.state(namespace, run)
                            if not _waits_for_children_only(state):
                                return
                        await watch.wait()
                    finally:
                        watch.close()
        except TimeoutError:
            raise TooSlow(f"the workflow goes on; it has not come to a stop in {patience:g} s", run=run) from None

    async def _told(self, namespace: str, run: str) -> dict[str, Any]:
        view = await self._runs.get(namespace, run)
        kernel, state = await self._runs.state(namespace, run)
        given = state.input if isinstance(state.input, dict) else {}
        status, shown, said = _WORDS[view.status], None, {}
        task = next((state.activations[id] for of_node in state.asking.values() for id in of_node), None)
        if task is not None and task.task is not None:
            shown, said = task.task.view, task.task.details or {}
            status = said.get("workflowStatus") or status
        elif view.status is Status.WAITING and _waits_for_children_only(state):
            status = "RUNNING"
        elif view.status is Status.COMPLETED and isinstance(view.output, dict):
            shown, said = view.output.get("view"), view.output
            status = _final(view.output) or status
        return {
            "workflowId": given.get("workflowId", run),
            "incidentId": given.get("incidentId"),
            "status": status,
            "disposition": said.get("disposition"),
            "errorMessage": view.failure["message"] if view.failure else None,
            "view": shown,
            "currentNodeRef": await self._current(namespace, view, kernel, state),
            "issueDetail": given.get("issueDetail"),
        }

    async def _current(self, namespace: str, view: RunView, kernel: Any, state: RunState) -> str | None:
        """The state that the run is at, or was at last."""
        live: list[Activation] = [each for each in state.activations.values() if not each.detached]
        node = live[-1].node if live else (view.failure or {}).get("node")
        if node is None:
            rows = await self._runs.history(namespace, view.id, max(0, view.events - _LAST_EVENTS), _LAST_EVENTS)
            begun = (e.ActivationScheduled, e.NodeEvaluated)
            node = next((row.event.node for row in reversed(rows) if isinstance(row.event, begun)), None)
        names = kernel.program.graph.naming
        return names.keys_of.get(node, node) if isinstance(names, Names) and node is not None else node

    async def _new_id(self) -> str:
        now = datetime.fromtimestamp(await self._store.ownership.now() / 1_000_000, UTC)
        return f"WF-{now:%y%m%d%H%M%S}{now.microsecond // 1000:03d}{self._chance.randrange(100_000):05d}"


def _response(told: dict[str, Any]) -> dict[str, Any]:
    found = {name: told[name] for name in ("incidentId", "workflowId")}
    found["workflowStatus"] = told["status"]
    found |= {name: told[name] for name in ("disposition", "errorMessage", "view")}
    return {name: value for name, value in found.items() if value is not None}


def _final(output: dict[str, Any]) -> str | None:
    """What an instruction at the end, or a SUCCESS, says that the run is."""
    said = output.get("workflowStatus") or output.get("status")
    return said if isinstance(said, str) and said in ("COMPLETED", ASYNC_COMPLETE) else None


def _waits_for_children_only(state: RunState) -> bool:
    waiting = [each.phase for each in state.activations.values()]
    return bool(waiting) and all(phase is Phase.CHILD for phase in waiting)


def _checked(request: Json) -> dict[str, Any]:
    check_json(request)
    if not isinstance(request, dict):
        raise InvalidInput("a start is an object", expected="issueDetail, customer, orderDetails, params …")
    for name in _OBJECTS:
        if request.get(name) is not None and not isinstance(request[name], dict):
            raise InvalidInput(f"`{name}` is an object", pointer=f"/{name}", expected="an object")
    for name in ("incidentId", "workflowId", "parentWorkflowId"):
        if request.get(name) is not None:
            check_name(request[name], f"/{name}")
    issue = (request.get("issueDetail") or {}).get("issueId")
    params = request.get("params") or {}
    if issue is None and not {"workflowId", "version"} <= params.keys():
        raise InvalidInput("which issue is it?", pointer="/issueDetail/issueId", expected="text")
    if issue is not None and not isinstance(issue, str):
        raise InvalidInput("the id of an issue is text", pointer="/issueDetail/issueId", expected="text")
    return request


def thread_of(context: Mapping[str, Any], headers: Mapping[str, str] | None) -> dict[str, Any]:
    """Tenant, client, user and the mark of a performance test. Without headers, as the request itself says."""
    thread: dict[str, Any] = dict(context)
    if headers is None:
        return thread
    given = {name.lower().replace("-", "_"): value for name, value in headers.items()}
    for header, name in (("x_tenant_id", "tenant"), ("x_client_id", "clientId")):
        if not given.get(header):
            raise InvalidInput(f"the header {header.upper()} is missing", pointer=f"/headers/{header.upper()}")
        thread[name] = given[header]
    thread["client"] = thread["clientId"]
    thread["userName"] = given.get("x_username_id") or thread["clientId"]
    thread["perfFlag"] = "true" if given.get("x_perf_test", "").strip().lower() == "true" else "false"
    return thread
