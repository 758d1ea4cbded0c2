"""How often the database is asked: at most three times per node (S07), and in fact about once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

from bench.documents import chain, fan
from perdure import Perdure
from perdure.stores.postgres import links
from perdure.stores.sqlite import connection, reader, store

NODES = 200


async def noop(ctx: Any) -> None:
    return None


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that goes to either database, in order."""
    seen: list[str] = []

    def traced(path: str, **how: Any) -> apsw.Connection:
        opened = connection.connect(path, **how)
        opened.trace_v2(
            apsw.SQLITE_TRACE_STMT,
            lambda event: None if event["trigger"] else seen.append(event["sql"]),
        )
        return opened

    async def fetch_by(link: links.Link, ends: float, query: str, *args: object) -> links.Rows:
        seen.append(query)
        return await ask(link, ends, query, *args)

    ask = links.Link.fetch_by
    monkeypatch.setattr(store, "connect", traced)
    monkeypatch.setattr(reader, "connect", traced)
    monkeypatch.setattr(links.Link, "fetch_by", fetch_by)
    return seen


async def asked_for(url: str, document: dict[str, Any], statements: list[str], runs: int = 1) -> float:
    """Per run."""
    async with Perdure.open(url) as app:
        app.register(noop)
        await app.deploy(document)
        await app.library.get(app.namespace, document["id"])
        before = len(statements)
        for number in range(runs):
            await (await app.start(document["id"], key=f"k{number}")).result()
        return (len(statements) - before) / runs


async def test_a_chain_asks_about_once_per_node(url: str, statements: list[str]) -> None:
    """A turn that takes a snapshot along is a few statements on SQLite, which cost no trip anywhere."""
    assert NODES < await asked_for(url, chain(NODES), statements) < 1.7 * NODES


async def test_nodes_side_by_side_share_their_trips(url: str, statements: list[str]) -> None:
    assert await asked_for(url, fan(NODES), statements) < NODES / 2


async def test_a_run_of_one_step_is_two_trips(url: str, statements: list[str]) -> None:
    """Start, then the step's result and with it the end; nothing is read, not even for the result. (Beside them, now
    and then, what the engine asks by itself.)"""
    assert await asked_for(url, chain(1), statements, 50) < 2.5


async def test_a_definition_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many runs it has (compare B14, which counts expressions)."""
    compiled = []
    really = Perdure._compile

    def counted(app: Perdure, version: Any) -> Any:
        compiled.append(version)
        return really(app, version)

    monkeypatch.setattr(Perdure, "_compile", counted)
    async with Perdure.open(f"sqlite:///{tmp_path / 'x.db'}") as app:
        app.register(noop)
        await app.deploy(chain(2))
        for _ in range(100):
            await (await app.start("chain-2")).result()
    assert len(compiled) == 1
