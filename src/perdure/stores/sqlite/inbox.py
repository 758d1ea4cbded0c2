"""Commands from outside on SQLite. Sending is part of the writer's group commit (`committer.py`)."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from perdure.model.values import decode_json, encode_json
from perdure.ports.inbox import Received, Sent, Waiting
from perdure.stores.sqlite.committer import Letter
from perdure.stores.sqlite.connection import snapshot
from perdure.stores.sqlite.queries import queries
from perdure.stores.sqlite.reader import Reader
from perdure.stores.sqlite.writer import Writer

_Q = queries("inbox")


class SqliteInbox:
    def __init__(self, writer: Writer, reader: Reader) -> None:
        self._writer = writer
        self._reader = reader

    async def send(self, namespace: str, run: str, command: bytes, request_id: str) -> Sent:
        return await self._writer.send(Letter(namespace, run, request_id, command))

    async def receive(self, worker: str, runs: Sequence[str] | None = None) -> Received:
        def read(connection: apsw.Connection) -> Received:
            with snapshot(connection):
                if runs is None:
                    rows = connection.execute(_Q["for worker"], (worker,))
                else:
                    rows = connection.execute(_Q["for runs"], (encode_json(list(runs)).decode(),))
                waiting = [Waiting(*row) for row in rows]
                asked = list(runs) if runs is not None else list(dict.fromkeys(command.run for command in waiting))
                seqs = connection.execute(_Q["seqs"], (encode_json(asked).decode(),)).get
            return Received(waiting, decode_json(seqs))

        return await self._reader.short(read)
