"""Nodes that somebody asks for: executed beside the graph of an open run, and their result told to whoever asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import msgspec

from perdure.engine import Engine
from perdure.engine.answers import Reply
from perdure.errors import Busy, IllegalCommand, TooSlow
from perdure.kernel.state import RunState
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.failures import Failure
from perdure.model.values import Json
from perdure.ports.store import Store
from perdure.service.histories import read_history

PATIENCE = 30.0
"""Seconds that another worker gets to take up the request."""
_PAGE = 1000

StateOf: TypeAlias = Callable[[str], Awaitable[RunState]]


class NodeResult(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    node: str
    status: str
    """COMPLETED, FAILED or CANCELLED."""
    output: Json = None
    failure: Failure | None = None


async def ask_for_node(
    engine: Engine,
    store: Store,
    state_of: StateOf,
    namespace: str,
    run: str,
    command: c.RunNode,
    patience: float | None,
) -> NodeResult:
    """Raises what stands against it, and TooSlow if there is no result after `patience` seconds: the node goes on, and
    the same request again waits for it."""
    assert command.id is not None
    try:
        async with asyncio.timeout(patience):
            reply = await engine.send(namespace, run, command)
            state = await _until_begun(engine, state_of, run, command.id, reply)
            _, activation, seq = state.demands[command.id]
            while activation in state.activations:
                watch = engine.watch(run)
                try:
                    state = await state_of(run)
                    if activation in state.activations:
                        await watch.wait()
                finally:
                    watch.close()
            return await _result(store, namespace, run, command.node, activation, seq)
    except TimeoutError:
        raise TooSlow(
            f"{command.node} has no result after {patience} seconds", remedy="ask again with the same id", run=run
        ) from None


async def _until_begun(engine: Engine, state_of: StateOf, run: str, id: str, reply: Reply) -> RunState:
    """At once, unless another worker has the run."""
    async with asyncio.timeout(PATIENCE) as limit:
        while True:
            watch = engine.watch(run)
            try:
                state = await state_of(run)
                if id in state.demands:
                    return state
                if state.is_final or reply is not Reply.ACCEPTED:
                    raise IllegalCommand("the run has ended, or does not know the request any more", run=run)
                await watch.wait()
            except TimeoutError:
                if limit.expired():
                    raise Busy(f"the worker that has the run {run} has not taken up the request") from None
                raise
            finally:
                watch.close()


async def _result(store: Store, namespace: str, run: str, node: str, activation: int, after: int) -> NodeResult:
    while rows := await read_history(store, namespace, run, after, _PAGE):
        for row in rows:
            match row.event:
                case e.ActivationCompleted(id=id, output=output) if id == activation:
                    return NodeResult(run=run, node=node, status="COMPLETED", output=output)
                case e.ActivationFailed(id=id, failure=failure, final=True) if id == activation:
                    return NodeResult(run=run, node=node, status="FAILED", failure=failure)
                case e.ActivationCancelled(id=id) if id == activation:
                    return NodeResult(run=run, node=node, status="CANCELLED")
                case _:
                    continue
        after = rows[-1].seq
    raise IllegalCommand(f"the run {run} ended before {node} had a result", run=run)
