"""Whoever asked may go away: what was asked for goes on without them (G13)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from perdure import Perdure
from perdure.api.app import create_api
from perdure.model.commands import Signal
from perdure.testing.simloop import pass_time, simulated
from tests.engine.world import NAMESPACE, output_of, signal, step, world
from tests.fixtures.moments import moment, until

STEPS = 12
"""Iterations of the loop that any of these calls needs at most."""


@simulated()
async def test_a_caller_who_stops_waiting_for_the_result_stops_nothing_else() -> None:
    async with world() as w:
        await w.define("one", step("slow"))

        async def slow(context: Any) -> int:
            await pass_time(10)
            return 7

        w.handlers.add("slow", slow)
        engine = await w.engine()
        run = await w.start(engine, "one")
        waiting = [asyncio.ensure_future(engine.result(NAMESPACE, run)) for _ in range(3)]
        await pass_time(1)
        waiting[0].cancel()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(waiting[1], 1)
        assert output_of(await waiting[2]) == 7
        assert w.handlers.count("slow") == 1


@pytest.mark.parametrize("steps", range(STEPS))
def test_a_start_whose_caller_goes_away_at_any_moment_has_happened_or_not_and_never_half(steps: int) -> None:
    @simulated()
    async def check() -> None:
        async with world() as w:
            await w.define("one", step())
            engine = await w.engine()
            starting = asyncio.ensure_future(w.start(engine, "one", 7, key="k"))
            for _ in range(steps):
                await asyncio.sleep(0)
            starting.cancel()
            await asyncio.wait([starting])
            await pass_time(5)
            before = await w.beneath.runs.walk()
            assert all(head.status == "COMPLETED" for head in before), "what was begun is finished"
            again = await w.start(engine, "one", 7, key="k")
            assert [head.run for head in before] in ([], [again])
            assert output_of(await w.ended(engine, again)) == 7

    check()


@pytest.mark.parametrize("steps", range(STEPS))
def test_a_signal_whose_sender_goes_away_at_any_moment_leaves_the_run_sound(steps: int) -> None:
    @simulated()
    async def check() -> None:
        async with world() as w:
            await w.define("one", signal("go"), step())
            engine = await w.engine()
            run = await w.start(engine, "one")
            await pass_time(1)
            sending = asyncio.ensure_future(engine.send(NAMESPACE, run, Signal("go", 7, "id")))
            for _ in range(steps):
                await asyncio.sleep(0)
            sending.cancel()
            await asyncio.wait([sending])
            await pass_time(5)
            if (await w.head(run)).status != "COMPLETED":
                await engine.send(NAMESPACE, run, Signal("go", 7, "id"))
            assert output_of(await w.ended(engine, run)) == 7

    check()


SLOW = {
    "id": "slow",
    "nodes": [{"id": "start", "type": "start"}, {"id": "a", "type": "python", "config": {"step": "slow"}}],
    "edges": [{"source": "start", "target": "a"}],
}


async def test_a_client_that_disconnects_does_not_stop_the_run_that_it_started(tmp_path: Path) -> None:
    go_on = asyncio.Event()
    begun: list[str] = []

    async def slow(ctx: Any) -> int:
        begun.append(ctx.run_id)
        await go_on.wait()
        return 7

    async with Perdure.open(f"sqlite:///{tmp_path / 'perdure.db'}") as app:
        app.register(slow)
        await app.deploy(SLOW)
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            config = uvicorn.Config(create_api(app), log_level="error", lifespan="off")
            server = uvicorn.Server(config)
            serving = asyncio.ensure_future(server.serve(sockets=[listening]))
            await until(lambda: server.started)
            body = json.dumps({"definition": "slow"})
            head = "POST /api/v1/runs HTTP/1.1", "Host: localhost", "Content-Type: application/json"
            request = "\r\n".join([*head, f"Content-Length: {len(body)}", "", body])
            _, writer = await asyncio.open_connection(*listening.getsockname())
            writer.write(request.encode())
            await until(lambda: bool(begun))
            writer.transport.abort()  # without having read the answer
            await moment(0.05)
            go_on.set()
            assert await app.run(begun[0]).result() == 7
            server.should_exit = True
            with contextlib.suppress(asyncio.CancelledError):
                await serving
