"""A Temporal worker that hosts flows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from temporalio.client import Client
from temporalio.worker import Interceptor, Worker, WorkflowInboundInterceptor, WorkflowInterceptorClassInput
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from perdure.ports.definitions import Definitions, Linking
from perdure.programs.flow.nodetypes import Catalogue
from perdure.temporal.activities import FlowActivities, Handler
from perdure.temporal.hosting import CATALOGUE, FlowHost

# The sandbox would load every module anew for each run, to keep the runs apart and to catch what is not deterministic.
# Ours need neither: the import contracts keep clocks, chance and I/O out of the pure packages, they hold no state that
# a run could leave to another, and a test runs them once without this line. What a run calls stays restricted.
SANDBOX = SandboxedWorkflowRunner(
    restrictions=SandboxRestrictions.default.with_passthrough_modules("perdure", "msgspec")
)


class NodeTypes(Interceptor):
    """Hands the node types into the workflows. They stand above this package, so it cannot import them."""

    def __init__(self, catalogue: Callable[[], Catalogue]) -> None:
        self._catalogue = catalogue

    def workflow_interceptor_class(
        self, input: WorkflowInterceptorClassInput
    ) -> type[WorkflowInboundInterceptor] | None:
        input.unsafe_extern_functions[CATALOGUE] = self._catalogue
        return None


def flow_worker(
    client: Client,
    task_queue: str,
    *,
    catalogue: Callable[[], Catalogue],
    handlers: Mapping[str, Handler],
    definitions: Definitions,
    namespace: str = "default",
    heartbeat: timedelta = timedelta(seconds=1),
    links: Linking | None = None,
    **options: Any,
) -> Worker:
    """`links` brings the stored parts that children use (an engine's `Library.links`); without it they may use none.

    The client must have been made with our `DATA_CONVERTER`. A cancelled handler hears of it within `heartbeat`."""
    activities = FlowActivities(handlers, definitions, namespace, heartbeat, links)
    options.setdefault("workflow_runner", SANDBOX)
    return Worker(
        client,
        task_queue=task_queue,
        workflows=[FlowHost],
        activities=[activities.execute_node, activities.find_definition],
        interceptors=[NodeTypes(catalogue)],
        max_heartbeat_throttle_interval=heartbeat,
        **options,
    )
