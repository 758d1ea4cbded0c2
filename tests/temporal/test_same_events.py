"""The same flow leads to the same kernel events inside a workflow of a Temporal server as in the native engine.

This is the proof that the kernel and the flow program are pure: nothing of either runtime is in them. It also shows
that hosting them is deterministic: every history is replayed, and once more by another process with other hashes.
"""

import json
import sys
from collections.abc import AsyncIterator
from types import ModuleType
from typing import Any

import msgspec
import pytest
import pytest_asyncio
from temporalio import workflow
from temporalio.client import Client
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions
from temporalio.workflow import SandboxImportNotificationPolicy

from perdure.model.events import ChildRequested, Recorded, RunStarted
from perdure.temporal.payloads import DATA_CONVERTER
from tests.temporal.backends import (
    Hosted,
    HostedRun,
    Native,
    Playing,
    attempts_by_temporal,
    open_native,
    publish,
)
from tests.temporal.comparing import told, unordered
from tests.temporal.replaying import Recordings, replay
from tests.temporal.scenarios import SCENARIOS, Scenario

pytestmark = [
    pytest.mark.temporal,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("temporal"),
]

MAIN = "main"
PURE = {"model", "kernel", "expressions", "programs"}


class Played(msgspec.Struct):
    run: str
    status: str
    logs: dict[str, list[Recorded]]
    """The events of the run and of its children, by run."""
    calls: list[tuple[str, int]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def native() -> AsyncIterator[Native]:
    async with open_native() as native:
        yield native


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hosted(native: Native, temporal_address: str) -> AsyncIterator[Hosted]:
    client = await Client.connect(temporal_address, data_converter=DATA_CONVERTER)
    hosted = Hosted(client, native.store)
    async with hosted.worker():
        yield hosted


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    """The histories of this module."""
    return Recordings(tmp_path_factory.mktemp("histories"))


async def play(scenario: Scenario, run: Playing) -> Played:
    await scenario.script(run)
    status = await run.ended()
    logs = {run.id: await run.events()}
    for recorded in logs[run.id]:
        if isinstance(recorded.event, ChildRequested) and scenario.children:
            child = recorded.event.run
            await run.ended(child)
            logs[child] = await run.events(child)
    return Played(run.id, status, logs, run.stage.calls)


async def play_both(
    scenario: Scenario, native: Native, hosted: Hosted, **where: Any
) -> tuple[Played, Played, HostedRun]:
    await publish(native.store, {MAIN: scenario.document, **scenario.children})
    expected = await play(scenario, await native.start(MAIN, scenario.input, scenario.limits))
    begun = expected.logs[expected.run][0].event
    assert isinstance(begun, RunStarted)
    run = await hosted.start(expected.run, begun, scenario.document, **where)
    return expected, await play(scenario, run), run


def compare(scenario: Scenario, expected: Played, found: Played) -> None:
    assert [expected.status, found.status] == [scenario.ends, scenario.ends]
    assert found.logs.keys() == expected.logs.keys()
    for run, log in expected.logs.items():
        if scenario.racing:
            assert unordered(found.logs[run]) == unordered(log)
        else:
            assert told(found.logs[run]) == told(log)
    assert sorted(found.calls) == sorted(expected.calls)


@pytest.mark.parametrize("name", SCENARIOS)
async def test_the_events_are_the_same(name: str, native: Native, hosted: Hosted, recordings: Recordings) -> None:
    scenario = SCENARIOS[name]
    expected, found, run = await play_both(scenario, native, hosted)
    compare(scenario, expected, found)
    for id in found.logs:
        history = await run.history(id)
        assert set(attempts_by_temporal(history)) <= {1}, "retries are the kernel's business"
        await replay(history)
        recordings.keep(history)


async def test_another_process_replays_the_histories(native: Native, hosted: Hosted, recordings: Recordings) -> None:
    """With other hashes: an order that comes from a set would show here."""
    _, _, run = await play_both(SCENARIOS["loops, racing"], native, hosted)
    recordings.keep(await run.history())
    assert await recordings.replayed_with(hash_seed=12345) == recordings.names


async def test_a_history_of_another_flow_is_refused(native: Native, hosted: Hosted) -> None:
    """So that the replays above prove something."""
    _, _, run = await play_both(SCENARIOS["sequence"], native, hosted)
    history = await run.history()
    [payload] = history.events[0].workflow_execution_started_event_attributes.input.payloads
    begin = json.loads(payload.data)
    begin["document"]["edges"].pop(0)
    payload.data = json.dumps(begin).encode()
    with pytest.raises(workflow.NondeterminismError):
        await replay(history)


async def test_the_sandbox_needs_no_exception_for_us(native: Native, hosted: Hosted) -> None:
    """Every module of ours is loaded and run under Temporal's restrictions: no clock, no chance, no I/O."""
    loaded: dict[str, ModuleType] = {}

    def catalogue() -> Any:
        # Called inside the sandbox, where modules are the sandbox's own.
        from perdure.nodes.catalogue import builtin_types

        loaded.update({name: sys.modules[name] for name in list(sys.modules) if name.startswith("perdure.")})
        return builtin_types()

    strict = SandboxRestrictions.default.with_import_notification_policy(SandboxImportNotificationPolicy.SILENT)
    queue = "strict"
    worker = hosted.worker(queue, catalogue=catalogue, workflow_runner=SandboxedWorkflowRunner(restrictions=strict))
    assert worker._workflow_worker is not None
    worker._workflow_worker._deadlock_timeout_seconds = 60  # it loads every module of ours anew
    async with worker:
        for name in ("sequence", "loops, one at a time"):
            scenario = SCENARIOS[name]
            expected, found, _ = await play_both(scenario, native, hosted, queue=queue)
            compare(scenario, expected, found)
    assert {name.split(".")[1] for name in loaded} >= PURE
    assert [name for name, module in loaded.items() if module is sys.modules[name]] == []
