"""Hints between processes, and the link that carries them."""

from __future__ import annotations

import asyncio

import pytest

from perdure.model.statuses import Status
from perdure.ports.hints import Hint
from perdure.stores.postgres import PostgresStore
from perdure.testing.faultproxy import FaultProxy, Mode
from tests.fixtures.moments import moment, until
from tests.stores.postgres.conftest import OpenStore
from tests.stores.postgres.making import committed, server, sleeper, start, turn


@pytest.fixture
def postgres_url(migrated_url: str) -> str:
    """One that other tests use after us."""
    return migrated_url


Heard = list[tuple[Hint, str]]


def listen(store: PostgresStore) -> Heard:
    heard: Heard = []
    store.hints.listen(lambda hint, subject: heard.append((hint, subject)))
    return heard


@pytest.fixture
async def pair(open_store: OpenStore) -> tuple[PostgresStore, PostgresStore]:
    stores = await open_store(), await open_store()
    await moment(0.05)  # the hints of the first connection
    return stores


async def test_hints_reach_this_process_at_once_and_others_soon(pair: tuple[PostgresStore, PostgresStore]) -> None:
    here, there = listen(pair[0]), listen(pair[1])
    await committed(pair[0], start("run-1"), sleeper("run-2", 1))
    await committed(pair[0], turn("run-1", 1, status=Status.COMPLETED))
    await pair[0].inbox.send("default", "run-2", b"{}", "a")
    await asyncio.sleep(0)
    assert here == [(Hint.DUE, ""), (Hint.CLOSED, "run-1"), (Hint.DUE, "")]
    await until(lambda: len(there) >= 2)
    assert set(there) == {(Hint.DUE, ""), (Hint.CLOSED, "run-1")}
    await moment(0.1)
    assert len(here) == 3  # nothing comes back


async def test_a_command_is_told_to_the_owner(pair: tuple[PostgresStore, PostgresStore]) -> None:
    there = listen(pair[1])
    await committed(pair[0], start("run-1", owner="worker-b"))
    await pair[0].inbox.send("default", "run-1", b"{}", "a")
    await until(lambda: (Hint.INBOX, "worker-b") in there)


async def test_many_hints_are_gathered(pair: tuple[PostgresStore, PostgresStore], postgres_url: str) -> None:
    there = listen(pair[1])
    payloads: list[str] = []
    async with server(postgres_url) as other:
        await other.add_listener("perdure.perdure", lambda *heard: payloads.append(heard[3]))
        for burst in range(10):
            for number in range(500):
                pair[0].hints.give(Hint.CLOSED, f"run-{burst:02}-{number:03}-{'x' * 20}")
            await moment(0.01)
        await until(lambda: len(there) >= 5000)
        await moment(0.05)
    assert len(payloads) < 50
    assert max(len(payload.encode()) for payload in payloads) < 8000


async def test_too_many_hints_become_a_general_one(pair: tuple[PostgresStore, PostgresStore]) -> None:
    there = listen(pair[1])
    for number in range(20_000):
        pair[0].hints.give(Hint.CLOSED, f"run-{number:030}")
    pair[0].hints.give(Hint.INBOX, "w" * 9000)
    await until(lambda: (Hint.CLOSED, "") in there)
    assert len(there) < 20_000


async def test_strange_subjects_arrive(pair: tuple[PostgresStore, PostgresStore]) -> None:
    there = listen(pair[1])
    pair[0].hints.give(Hint.CLOSED, "a run with spaces 'and' quotes é")
    await until(lambda: there == [(Hint.CLOSED, "a run with spaces 'and' quotes é")])


async def test_who_stops_listening_hears_nothing(store: PostgresStore) -> None:
    heard: Heard = []
    stop = store.hints.listen(lambda hint, subject: heard.append((hint, subject)))
    store.hints.give(Hint.DUE)
    stop()
    stop()
    await asyncio.sleep(0)
    assert heard == []


@pytest.mark.parametrize("fault", ["half-open", "reset"])
async def test_a_lost_link_is_replaced_and_everybody_told_to_look(
    open_store: OpenStore, proxied_url: str, proxy: FaultProxy, fault: str
) -> None:
    other = await open_store()
    store = await open_store(proxied_url, deadline=0.5, check_hints_every=0.2)
    heard = listen(store)
    await moment(0.05)
    heard.clear()
    if fault == "reset":
        proxy.reset()
    else:
        proxy.both(Mode.HALF_OPEN)
        await moment(0.3)
        other.hints.give(Hint.CLOSED, "missed")
        await moment(0.3)
        proxy.both(Mode.PASS)
    await until(lambda: store.hints.links_made == 2)
    await until(lambda: {hint for hint, subject in heard if subject == ""} == set(Hint))
    other.hints.give(Hint.CLOSED, "heard again")
    await until(lambda: (Hint.CLOSED, "heard again") in heard)
