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

import msgspec

from perdure.dialects.drift.context import Names, context_of
from perdure.engine import Engine
from perdure.engine.changes import Watch, first_of
from perdure.errors import InvalidInput, KeyReused, NotFound, TooSlow
from perdure.kernel.outlook import WAITS_FOR
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
ID, CHILD = "workflowId", "CH-"
_ASKING: dict[str, Any] = {"attributes": {WAITS_FOR: "person"}}
_OPEN: dict[str, Any] = {"statuses": [status for status in Status if not status.is_final]}
_MOST_CHILDREN, _MOST_PARENTS = 100, 10


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
        """WorkflowStartRequest → WorkflowResponse. It is answered when the run waits for somebody (a child that it
        waits for counts too) or has ended; after `wait` seconds TooSlow is raised, with the `workflowId` and the
        `status` in its details, and the run goes on. With `wait=None` it is answered at once."""
        given = _checked(request)
        thread = thread_of(given.get("threadContext") or {}, headers)
        params = given.get("params") or {}
        issue = (given.get("issueDetail") or {}).get("issueId")
        chosen = await self._selection.select(namespace, issue, params, given.get("customer"))
        chosen = await self._selection.resolved(namespace, chosen)
        input = {name: given[name] for name in _CARRIED if given.get(name) is not None}
        input |= {"params": params, "threadContext": thread}
        asked = [given, thread.get("tenant")]  # not what rules, which change, have made of it
        run = await self._begun(namespace, chosen, given.get("workflowId"), input, thread, asked)
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
        asking, state = await self._asking(namespace, run, (await self._runs.state(namespace, run))[1])
        event = next((each.signal for each in state.activations.values() if each.phase is Phase.SIGNAL), None)
        if event is not None and not state.asking:
            await self._runs.signal(namespace, asking, event, request["viewResponse"])
        else:
            await self._tasks.resume(namespace, asking, request["viewResponse"])
        if wait is not None:
            await self._settled(namespace, run, wait)
        return _response(await self._told(namespace, run))

    async def terminate(self, namespace: str, workflow: str, reason: str | None = None) -> None:
        await self._runs.cancel(namespace, await self.find(namespace, workflow), reason)

    async def state(self, namespace: str, workflow: str) -> dict[str, Any]:
        """→ WorkflowState, with the ids of the children that there are."""
        run = await self.find(namespace, workflow)
        told = await self._told(namespace, run)
        children = await self._store.runs.find(RunFilter(namespace=namespace, parent=run), None, _MOST_CHILDREN)
        told["childWorkflowIds"] = sorted(str(head.attributes.get(ID, head.run)) for head in children) or None
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
        """The run that goes by this workflow id. Of several: one that asks a person, else one that is open, else the
        newest. `CH-<parent>` stands for every child of the parent. Raises NotFound."""
        check_name(workflow, "/workflowId")
        filter = RunFilter(namespace=namespace, attributes={ID: workflow})
        named = await self._store.runs.find(filter, None, 2)
        filters = [filter] if named else []
        if workflow.startswith(CHILD):
            above = RunFilter(namespace=namespace, attributes={ID: workflow.removeprefix(CHILD)})
            filters += [
                RunFilter(namespace=namespace, parent=head.run)
                for head in await self._store.runs.find(above, None, _MOST_PARENTS)
            ]
        elif len(named) == 1:
            return named[0].run
        for narrowed in _ASKING, _OPEN, {}:
            for each in filters:
                attributes = {**each.attributes, **narrowed.get("attributes", {})}
                wanted = msgspec.structs.replace(each, **{**narrowed, "attributes": attributes})
                if found := await self._store.runs.find(wanted, None, 1):
                    return found[0].run
        head = await self._store.journal.head(workflow)
        if head is None or head.namespace != namespace:
            raise NotFound(f"there is no workflow {workflow!r}", namespace=namespace)
        return head.run

    async def _begun(
        self,
        namespace: str,
        chosen: Chosen,
        workflow: str | None,
        input: dict[str, Any],
        thread: dict[str, Any],
        asked: Json,
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
                    request=asked,
                )
            except KeyReused as reused:
                if workflow is not None:
                    raise KeyReused(
                        f"there is a workflow {workflow!r} already, and it was started with another request",
                        pointer="/workflowId",
                        remedy="leave `workflowId` out, or give one of its own; the request that was sent before is "
                        "answered with that workflow, and `state` tells what has become of it",
                        **{ID: workflow, "run": reused.details.get("run")},
                    ) from None
            else:
                if workflow is not None or not started.existed:
                    return started.run

    # -- what they are told ----------------------------------------------------------------------------

    async def _settled(self, namespace: str, run: str, patience: float) -> None:
        """Until the run waits for somebody, or has ended."""
        try:
            async with asyncio.timeout(patience):
                while True:
                    watches: list[Watch] = []
                    try:
                        if await self._has_stopped(namespace, run, watches):
                            return
                        await first_of(watches)
                    finally:
                        for watch in watches:
                            watch.close()
        except TimeoutError:
            told = await self._told(namespace, run)
            raise TooSlow(
                f"the workflow {told[ID]!r} goes on ({told['status']}); it has not come to a stop in {patience:g} s",
                remedy="ask for its state by its workflowId; do not start it again",
                **{ID: told[ID], "status": told["status"], "run": run},
            ) from None

    async def _has_stopped(self, namespace: str, run: str, watches: list[Watch]) -> bool:
        """Whether it has ended, or somebody outside has to do something first. All that was looked at is watched."""
        watches.append(self._engine.watch(run))
        status = (await self._runs.get(namespace, run)).status
        if status.is_final:
            return True
        if status not in (Status.WAITING, Status.SUSPENDED):
            return False
        _, state = await self._runs.state(namespace, run)
        if not _waits_for_children_only(state):
            return True
        for child in _children(state):
            try:
                if await self._has_stopped(namespace, child, watches):
                    return not (await self._runs.get(namespace, child)).status.is_final
            except NotFound:
                continue  # it is about to be started
        return False

    async def _asking(self, namespace: str, run: str, state: RunState) -> tuple[str, RunState]:
        """The run; or the child that it waits for, where that asks somebody."""
        if _waits_for_children_only(state):
            for child in _children(state):
                try:
                    _, inner = await self._runs.state(namespace, child)
                except NotFound:
                    continue
                found = await self._asking(namespace, child, inner)
                if found[1].asking or any(each.phase is Phase.SIGNAL for each in found[1].activations.values()):
                    return found
        return run, state

    async def _told(self, namespace: str, run: str) -> dict[str, Any]:
        view = await self._runs.get(namespace, run)
        kernel, state = await self._runs.state(namespace, run)
        given = state.input if isinstance(state.input, dict) else {}
        status, shown, said = _WORDS[view.status], None, {}
        asking, asked = await self._asking(namespace, run, state)
        task = next((asked.activations[id] for of_node in asked.asking.values() for id in of_node), None)
        if task is not None and task.task is not None:
            shown, said = task.task.view, task.task.details or {}
            status = said.get("workflowStatus") or "WAITING"
        elif asking == run and view.status is Status.WAITING and _waits_for_children_only(state):
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


def _children(state: RunState) -> list[str]:
    """That are waited for."""
    return [each.child for each in state.activations.values() if each.child is not None and each.child_wait]


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
