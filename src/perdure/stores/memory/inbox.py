"""Commands from outside, in memory."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.ports.inbox import Received, Sent, Waiting
from perdure.stores.memory.tables import Tables


class MemoryInbox:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def send(self, namespace: str, run: str, command: bytes, request_id: str) -> Sent:
        return self._tables.send(namespace, run, command, request_id)

    async def receive(self, worker: str, runs: Sequence[str] | None = None) -> Received:
        known = self._tables.runs
        waiting = [
            Waiting(number, command.run, command.request_id, command.data)
            for number, command in self._tables.inbox.items()
            if (known[command.run].owner == worker if runs is None else command.run in runs)
        ]
        asked = [command.run for command in waiting] if runs is None else [run for run in runs if run in known]
        return Received(waiting, {run: known[run].inbox_seq for run in asked})
