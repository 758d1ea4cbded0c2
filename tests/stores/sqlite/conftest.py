"""One store on a file, opened for the test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import apsw
import pytest

from perdure.stores.sqlite import SqliteStore
from perdure.testing.contracts.subject import ManualClock, Subject


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "perdure.db")


@pytest.fixture
async def subject(path: str) -> AsyncIterator[Subject]:
    """Overrides the fixture of all stores."""
    clock = ManualClock()
    store = SqliteStore(path, clock=clock)
    await store.open()
    yield Subject(store, clock)
    await store.close()


@pytest.fixture
def writing(subject: Subject) -> apsw.Connection:
    """The writer's own connection; use it only while nothing is queued."""
    return writing_connection(subject.store)


def writing_connection(store: object) -> apsw.Connection:
    connection = store._writer._connection  # type: ignore[attr-defined]
    assert isinstance(connection, apsw.Connection)
    return connection
