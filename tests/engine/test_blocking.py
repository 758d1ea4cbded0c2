"""Handlers that block: in threads, off the loop. These tests use real threads, so they run on a real loop."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from perdure.engine import ActivationContext, Engine, EngineSettings, HandlerSpec, Library, Result
from perdure.model.commands import Cancel
from perdure.model.values import content_hash, decode_json
from perdure.stores.memory import MemoryStore
from tests.engine.script import compile_script
from tests.engine.world import NAMESPACE, step


async def engine_with(call: Any, *script: Any, **settings: Any) -> tuple[Engine, MemoryStore]:
    store = MemoryStore()
    document = {"steps": list(script)}
    version = await store.definitions.publish(NAMESPACE, "d", "script", document, content_hash(document), None)
    await store.definitions.activate(NAMESPACE, "d", version.version)
    engine = Engine(
        store,
        Library(store.definitions, {"script": compile_script}),
        {"block": HandlerSpec(call, blocking=True)},
        settings=EngineSettings(**settings),
    )
    await engine.open()
    return engine, store


async def test_a_blocking_handler_does_not_stall_the_loop() -> None:
    entered, leave = threading.Event(), threading.Event()

    def block(context: ActivationContext) -> Any:
        entered.set()
        assert leave.wait(10)
        context.heartbeat("from a thread")
        return Result(threading.current_thread().name)

    engine, _ = await engine_with(block, step("block"))
    run = await engine.start(NAMESPACE, "d")
    while not entered.is_set():  # noqa: ASYNC110 — the loop turns while the handler blocks
        await asyncio.sleep(0)
    leave.set()
    head = await engine.result(NAMESPACE, run)
    assert decode_json(head.result or b"")["output"].startswith("perdure-handler")
    await engine.close()


async def test_only_so_many_block_at_once_and_the_others_wait_their_turn() -> None:
    lock, running, most = threading.Lock(), 0, 0
    both = threading.Barrier(2)

    def block(context: ActivationContext) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        both.wait(10)
        with lock:
            running -= 1

    engine, _ = await engine_with(block, {"do": "together", "types": ["block"] * 6}, threads=2)
    run = await engine.start(NAMESPACE, "d")
    head = await engine.result(NAMESPACE, run)
    assert head.status == "COMPLETED"
    assert most == 2
    await engine.close()


async def test_a_blocking_handler_that_fails_fails_its_step() -> None:
    def block(context: ActivationContext) -> Any:
        raise OSError("disk on fire")

    engine, _ = await engine_with(block, step("block"))
    head = await engine.result(NAMESPACE, await engine.start(NAMESPACE, "d"))
    assert decode_json(head.result or b"")["failure"]["message"] == "disk on fire"
    await engine.close()


async def test_a_blocking_handler_that_takes_too_long_times_out_and_its_late_result_is_not_heard() -> None:
    leave, left = threading.Event(), threading.Event()

    def block(context: ActivationContext) -> Any:
        assert leave.wait(10)
        left.set()
        return "late"

    engine, store = await engine_with(block, step("block", timeout=0.02), stop_grace=0.03)
    run = await engine.start(NAMESPACE, "d")
    head = await engine.result(NAMESPACE, run)
    assert decode_json(head.result or b"")["failure"]["code"] == "TIMEOUT"
    leave.set()
    await asyncio.to_thread(left.wait, 10)
    await engine.close()
    after = await store.journal.head(run)
    assert after is not None
    assert after.seq == head.seq


async def test_the_next_attempt_does_not_begin_while_the_last_one_still_blocks() -> None:
    lock, running, most = threading.Lock(), 0, 0

    def block(context: ActivationContext) -> Any:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        while context.attempt == 1 and not context.is_cancelled:
            pass  # it cannot be interrupted, but it can look
        with lock:
            running -= 1
        return context.attempt

    engine, _ = await engine_with(block, step("block", timeout=0.02, attempts=2), stop_grace=60)
    head = await engine.result(NAMESPACE, await engine.start(NAMESPACE, "d"))
    assert decode_json(head.result or b"")["output"] == 2
    assert most == 1
    await engine.close()


async def test_who_waits_for_a_thread_has_not_begun_and_its_time_is_not_running() -> None:
    leave = threading.Event()
    engine, _ = await engine_with(lambda context: leave.wait(10), step("block", timeout=60), threads=1)
    first = await engine.start(NAMESPACE, "d")
    runner = engine.runtime.runner
    second = await engine.start(NAMESPACE, "d")
    assert [owned.run for owned, _ in runner._thread_queue] == [second]
    assert not engine.runtime.roster.owned[second].running
    leave.set()
    for run in (first, second):
        assert (await engine.result(NAMESPACE, run)).status == "COMPLETED"
    await engine.close()


async def test_cancelling_waits_for_a_blocking_handler_only_so_long() -> None:
    begun, leave, told = threading.Event(), threading.Event(), threading.Event()

    def block(context: ActivationContext) -> Any:
        begun.set()
        while not context.is_cancelled:
            if leave.wait(0.001):
                return None
        told.set()
        leave.wait(10)
        return "late"

    engine, _ = await engine_with(block, step("block"), stop_grace=0.03)
    run = await engine.start(NAMESPACE, "d")
    await asyncio.to_thread(begun.wait, 10)
    await engine.send(NAMESPACE, run, Cancel())
    assert (await engine.result(NAMESPACE, run)).status == "CANCELLED"
    assert told.is_set(), "it could have seen that it is not wanted any more"
    leave.set()
    await engine.close()


async def test_an_engine_can_be_closed_while_a_handler_blocks() -> None:
    leave = threading.Event()
    engine, store = await engine_with(lambda context: leave.wait(10), step("block"), grace=0.02)
    run = await engine.start(NAMESPACE, "d")
    await engine.close()
    head = await store.journal.head(run)
    assert head is not None
    assert head.owner is None
    leave.set()
