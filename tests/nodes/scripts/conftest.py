"""One pool of workers for all tests of a file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio

from perdure.nodes.scripts import Scripts, compile_script
from perdure.nodes.scripts.pool import ScriptSettings

NOW = 1_700_560_800_123_000
"""2023-11-21T10:00:00.123Z"""

Run = Callable[..., Awaitable[Any]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scripts() -> AsyncIterator[Scripts]:
    pool = Scripts(ScriptSettings(workers=1))
    yield pool
    await pool.close()


@pytest.fixture(scope="module")
def run(scripts: Scripts) -> Run:
    """The value of a script with these bindings."""

    async def run(source: str, language: str = "python", **bindings: Any) -> Any:
        return await scripts.run(compile_script(source, language), bindings, now=NOW, seed=7)

    return run
