"""What the workflow cannot do itself: run a node's handler, read a definition."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import TypeAlias

from temporalio import activity

from perdure.errors import CallerError, NotFound
from perdure.model.commands import Complete, Fail
from perdure.model.failures import Failure, failure_from
from perdure.ports.definitions import Definitions, Linking, Version, as_it_is
from perdure.temporal.failures import as_error
from perdure.temporal.payloads import EXECUTE_NODE, FIND_DEFINITION, Found, NodeCall

Handler: TypeAlias = Callable[[NodeCall], Awaitable[Complete | Fail]]
"""Runs one attempt and says what became of it. It raises nothing but CancelledError."""


class FlowActivities:
    def __init__(
        self,
        handlers: Mapping[str, Handler],
        definitions: Definitions,
        namespace: str,
        heartbeat: timedelta,
        links: Linking | None = None,
    ) -> None:
        self._handlers = handlers
        self._definitions = definitions
        self._links = links
        self._namespace = namespace
        self._heartbeat = heartbeat.total_seconds()

    @activity.defn(name=EXECUTE_NODE)
    async def execute_node(self, call: NodeCall) -> Complete:
        handler = self._handlers.get(call.type)
        if handler is None:
            message = f"no handler for nodes of type {call.type!r} is installed here"
            raise as_error("FAILED", Failure("NODE_UNKNOWN", message))
        beating = asyncio.create_task(self._beat())
        try:
            async with asyncio.timeout(call.timeout / 1_000_000 if call.timeout is not None else None):
                report = await handler(call)
        except TimeoutError as late:
            slow = Failure("TIMEOUT", "the attempt took longer than it may", retryable=True)
            raise as_error("FAILED", slow) from late
        finally:
            beating.cancel()
        if isinstance(report, Fail):
            raise as_error("FAILED", report.failure, report.output)
        return report

    async def _beat(self) -> None:
        """The server answers a heartbeat with the wish to stop, if there is one; Temporal then cancels the handler."""
        while True:
            activity.heartbeat()
            await asyncio.sleep(self._heartbeat)

    @activity.defn(name=FIND_DEFINITION)
    async def find_definition(self, definition: str, version: int | str | None) -> Found:
        """That version; without a number the one that is active now."""
        try:
            if version is None or version == "ACTIVE":
                found = await self._active(definition)
            else:
                found = await self._version(definition, version)
            linked = as_it_is(found) if self._links is None else await self._links.link_now(found)
        except CallerError as problem:
            raise as_error("FAILED", failure_from(problem)) from problem
        lookups = dict(linked.lookups) if linked.lookups is not None else None
        return Found(linked.id, linked.version, linked.hash, linked.document, linked.kind, linked.pins, lookups)

    async def _active(self, definition: str) -> Version:
        active = await self._definitions.active(self._namespace, definition)
        if active is None:
            raise NotFound(
                f"no active version of the definition {definition!r}",
                remedy="publish and activate one",
                namespace=self._namespace,
            )
        return active.version

    async def _version(self, definition: str, version: int | str) -> Version:
        number = version if isinstance(version, int) else None
        found = await self._definitions.version(self._namespace, definition, number)
        if found is None or (number is None and version != "LATEST"):
            raise NotFound(f"the definition {definition!r} has no version {version} here", namespace=self._namespace)
        return found
