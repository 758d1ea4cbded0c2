"""Flows that send one mail, run by a real engine against a real mail server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from perdure import Perdure, Run
from perdure.errors import RunEnded
from perdure.settings import Settings
from tests.fixtures.mailserver import PASSWORD, MailServer

SENDER = "Perdure <robot@example.com>"
MAIL = {"to": "ada@example.com", "subject": "Hello", "body": "Good morning"}


@asynccontextmanager
async def office(
    server: MailServer | None, url: str = "memory://", clock: Any = None, **more: Any
) -> AsyncIterator[Perdure]:
    given = {"mail_from": SENDER, **({"smtp_url": server.url} if server is not None else {}), **more}
    settings = Settings(**given)
    async with Perdure.open(url, settings=settings, clock=clock, secrets={"smtp-password": PASSWORD}) as app:
        yield app


def document(config: dict[str, Any], id: str = "letter", **node: Any) -> dict[str, Any]:
    return {
        "id": id,
        "nodes": [{"id": "start", "type": "start"}, {"id": "mail", "type": "email", "config": config, **node}],
        "edges": [{"source": "start", "target": "mail"}],
    }


async def begin(app: Perdure, config: dict[str, Any], input: Any = None, **node: Any) -> Run:
    await app.deploy(document(config, **node))
    return await app.start("letter", input)


async def send(app: Perdure, config: dict[str, Any], input: Any = None, **node: Any) -> Any:
    return await (await begin(app, {**MAIL, **config}, input, **node)).result()


async def failing(app: Perdure, config: dict[str, Any], input: Any = None, **node: Any) -> dict[str, Any]:
    """The failure of the run, which must fail."""
    with pytest.raises(RunEnded) as caught:
        await send(app, config, input, **node)
    assert caught.value.failure is not None
    return caught.value.failure
