"""Definitions become kernels once, and which version is active is never trusted blindly."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure.engine import Library
from perdure.errors import NotFound, NotInstalled
from perdure.kernel.kernel import Kernel
from perdure.ports.definitions import Version
from perdure.stores.memory import MemoryStore
from perdure.testing.simloop import SimClock, simulated
from tests.engine.script import compile_script

NAMESPACE = "tests"


class Counting:
    def __init__(self) -> None:
        self.compiled: list[int] = []

    def __call__(self, version: Version) -> Kernel:
        self.compiled.append(version.version)
        return compile_script(version)


async def store_with(*names: str) -> Any:
    store = MemoryStore(SimClock())
    for name in names:
        await store.definitions.publish(NAMESPACE, name, "script", {"steps": []}, f"hash of {name}", None)
        await store.definitions.activate(NAMESPACE, name, 1)
    return store


@simulated()
async def test_a_version_is_compiled_once_however_many_ask_for_it_at_the_same_time() -> None:
    store, compiler = await store_with("d"), Counting()
    library = Library(store.definitions, {"script": compiler})
    asked = [library.get(NAMESPACE, "d") for _ in range(5)] + [library.get(NAMESPACE, "d", 1) for _ in range(5)]
    editions = await asyncio.gather(*asked)
    assert len({id(edition.kernel) for edition in editions}) <= 2
    await library.get(NAMESPACE, "d")
    await library.get(NAMESPACE, "d", 1)
    assert len(compiler.compiled) <= 2
    assert library.find(NAMESPACE, "d") is not None


@simulated()
async def test_an_active_version_carries_the_revision_it_was_read_at() -> None:
    store = await store_with("d")
    library = Library(store.definitions, {"script": compile_script})
    assert (await library.get(NAMESPACE, "d")).revision == 1
    assert (await library.get(NAMESPACE, "d", 1)).revision is None
    await store.definitions.publish(NAMESPACE, "d", "script", {"steps": [1]}, "other", None)
    await store.definitions.activate(NAMESPACE, "d", 2)
    assert (await library.get(NAMESPACE, "d")).version == 1
    library.forget(NAMESPACE, "d")
    assert (await library.get(NAMESPACE, "d")).version == 2


@simulated()
async def test_the_shelf_is_bounded_and_what_is_used_stays() -> None:
    names = [f"d{n}" for n in range(10)]
    store, compiler = await store_with(*names), Counting()
    library = Library(store.definitions, {"script": compiler}, capacity=4)
    for name in names:
        await library.get(NAMESPACE, name, 1)
        await library.get(NAMESPACE, "d0", 1)
    assert library.find(NAMESPACE, "d0", 1) is not None
    assert sum(library.find(NAMESPACE, name, 1) is not None for name in names) == 4


@simulated()
async def test_what_does_not_exist_and_what_cannot_be_run_here_are_told_apart() -> None:
    store = await store_with("d")
    library = Library(store.definitions, {})
    for name, version in (("d", 9), ("e", None)):
        with pytest.raises(NotFound):
            await library.get(NAMESPACE, name, version)
    for number in (None, 1):
        with pytest.raises(NotInstalled, match="kind 'script'"):
            await library.get(NAMESPACE, "d", number)


@simulated()
async def test_a_definition_that_does_not_compile_can_be_asked_for_again() -> None:
    store = await store_with("d")
    attempts: list[int] = []

    def broken(version: Version) -> Kernel:
        attempts.append(1)
        raise ValueError("no")

    library = Library(store.definitions, {"script": broken})
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            await library.get(NAMESPACE, "d")
    assert len(attempts) == 2
