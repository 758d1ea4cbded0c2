"""A handle on one run, as the embedding program holds it."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.model.events import Recorded
from perdure.model.replies import Reply
from perdure.model.statuses import Status
from perdure.model.values import Json
from perdure.service.on_demand import NodeResult
from perdure.service.runs import RunService, RunView
from perdure.service.tasks import Accepted, TaskService, TaskView


class Run:
    """A handle on one run."""

    def __init__(self, runs: RunService, tasks: TaskService, namespace: str, id: str) -> None:
        self._runs = runs
        self._tasks = tasks
        self._namespace = namespace
        self.id = id

    async def result(self) -> Json:
        """Waits for the run to end and gives its output. Raises RunEnded if it failed, was cancelled or timed out."""
        return await self._runs.result(self._namespace, self.id)

    async def reply(self) -> Reply | None:
        """Waits for what the run answers before it ends (`webhook-response`); None if it ends without."""
        return await self._runs.reply(self._namespace, self.id)

    async def view(self) -> RunView:
        return await self._runs.get(self._namespace, self.id)

    async def status(self) -> Status:
        return (await self.view()).status

    async def signal(self, name: str, payload: Json = None, *, id: str | None = None) -> None:
        await self._runs.signal(self._namespace, self.id, name, payload, id)

    async def tasks(self) -> Sequence[TaskView]:
        """What people are asked at the moment, with the views."""
        return await self._tasks.of_run(self._namespace, self.id)

    async def answer(
        self, response: Json, *, node: str | None = None, id: str | None = None, by: str | None = None
    ) -> Accepted:
        """Answers the open task of the run, or of this node. With an `id`, the same call again counts once."""
        return await self._tasks.resume(self._namespace, self.id, response, node=node, request=id, by=by)

    async def execute_node(
        self, node: str, parameters: Json = None, *, id: str | None = None, patience: float | None = None
    ) -> NodeResult:
        """Executes a node that is there to be asked for (`on_demand`), and waits for its result."""
        return await self._runs.execute_node(self._namespace, self.id, node, parameters, id=id, patience=patience)

    async def cancel(self, reason: str | None = None) -> None:
        await self._runs.cancel(self._namespace, self.id, reason)

    async def suspend(self, reason: str | None = None) -> None:
        await self._runs.suspend(self._namespace, self.id, reason)

    async def resume(self) -> None:
        await self._runs.resume(self._namespace, self.id)

    async def retry(self, *, new_key: bool = False) -> None:
        """Takes a failed run up again where it failed."""
        await self._runs.retry(self._namespace, self.id, new_key)

    async def history(self, after: int = 0, limit: int = 1000) -> Sequence[Recorded]:
        return await self._runs.history(self._namespace, self.id, after, limit)

    async def why(self) -> list[str]:
        """Why the run is not further on, in sentences."""
        return [reason.text for reason in await self._runs.explain(self._namespace, self.id)]

    def __repr__(self) -> str:
        return f"<Run {self.id}>"
