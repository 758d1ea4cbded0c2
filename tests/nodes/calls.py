"""Runs of one `http` node against real servers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import pytest

from perdure import Perdure
from perdure.engine import EngineSettings
from perdure.errors import RunEnded
from perdure.nodes.outgoing.policy import AuthClient, OutgoingSettings, map_hosts, parse_allow
from perdure.stores.memory import MemoryStore

START = {"id": "start", "type": "start"}


@asynccontextmanager
async def application(
    *, secrets: dict[str, str] | None = None, hosts: dict[str, str] | None = None,
    clients: dict[str, AuthClient] | None = None, allow: str = "127.0.0.1", store: Any = None,
    **more: Any,
) -> AsyncIterator[Perdure]:  # fmt: skip
    outgoing = OutgoingSettings(
        allow=parse_allow(allow), hosts=map_hosts((hosts or {}).items()), clients=clients or {}, **more
    )
    app = Perdure(store or MemoryStore(), engine_settings=EngineSettings(), secrets=secrets, outgoing=outgoing)
    async with app:
        yield app


def flow(config: dict[str, Any], *after: dict[str, Any], id: str = "flow", **node: Any) -> dict[str, Any]:
    """start, then the call, then the nodes after it."""
    nodes = [START, {"id": "call", "type": "http", "config": config, **node}, *after]
    edges = [{"source": a["id"], "target": b["id"]} for a, b in pairwise(nodes)]
    return {"id": id, "nodes": nodes, "edges": edges}


async def called(app: Perdure, config: dict[str, Any], *after: dict[str, Any], input: Any = None, **node: Any) -> Any:
    """The output of the run, which must complete."""
    thread = node.pop("thread", None)
    await app.deploy(flow(config, *after, **node))
    return await (await app.start("flow", input, thread=thread)).result()


async def refused(app: Perdure, config: dict[str, Any], input: Any = None, **node: Any) -> dict[str, Any]:
    """The failure of the run, which must fail."""
    with pytest.raises(RunEnded) as ended:
        await called(app, config, input=input, **node)
    assert ended.value.failure is not None
    return ended.value.failure


SOON = {"attempts": 3, "initial": "1ms"}
"""Retries that do not make a test wait."""
