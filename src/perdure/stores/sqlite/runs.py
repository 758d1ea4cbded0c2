"""Looking runs up on SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from perdure.model.statuses import OPEN, Status
from perdure.model.values import decode_json, encode_json
from perdure.ports.journal import Head
from perdure.ports.runs import Counts, RunFilter
from perdure.stores.sqlite.attributes import attribute_text, index_rows
from perdure.stores.sqlite.heads import heads_of
from perdure.stores.sqlite.queries import queries
from perdure.stores.sqlite.reader import Reader
from perdure.stores.sqlite.writer import Writer

_Q = queries("runs")
_TROUBLED = {Status.SUSPENDED, Status.FAILED, Status.CANCELLED, Status.TIMED_OUT}


class SqliteRuns:
    def __init__(self, writer: Writer, reader: Reader) -> None:
        self._writer = writer
        self._reader = reader

    async def find(self, filter: RunFilter, before: str | None = None, limit: int = 100) -> Sequence[Head]:
        query, values = _search(filter, before, limit)
        return heads_of(await self._reader.long(lambda connection: connection.execute(query, values).get))

    async def walk(self, after: str = "", limit: int = 500) -> Sequence[Head]:
        text = await self._reader.long(lambda connection: connection.execute(_Q["walk"], (after, limit)).get)
        return heads_of(text)

    async def counts(self) -> Counts:
        text = await self._reader.long(lambda connection: connection.execute(_Q["orphans"]).get)
        return Counts(decode_json(text))

    async def repair(self, head: Head) -> None:
        def work(connection: apsw.Connection) -> None:
            old = connection.execute(_Q["attributes"], (head.run, head.seq)).fetchone()
            if old is None:
                return
            connection.execute(
                _Q["repair"],
                (
                    head.status,
                    head.wake_at,
                    encode_json(head.attributes).decode() if head.attributes else None,
                    head.result,
                    head.closed_at,
                    head.run,
                ),
            )
            connection.execute(_Q["forget attributes"], (head.run,))
            rows = index_rows(head.namespace, head.run, head.attributes)
            connection.execute(_Q["index attributes"], (encode_json(rows).decode(),))

        await self._writer.call(work)


def _search(filter: RunFilter, before: str | None, limit: int) -> tuple[str, dict[str, Any]]:
    conditions: list[str] = []
    values: dict[str, Any] = {"limit": limit}
    for condition, name, value in (
        ("before", "before", before),
        ("of namespace", "namespace", filter.namespace),
        ("of definition", "definition", filter.definition),
        ("of parent", "parent", filter.parent),
    ):
        if value is not None:
            conditions.append(_Q[condition])
            values[name] = value
    if filter.statuses:
        # By their names, not as parameters, so that the partial indexes can be used.
        names = ", ".join(f"'{status.value}'" for status in dict.fromkeys(filter.statuses))
        conditions.append(_Q["of status"].replace("/* names */", names))
        if OPEN.issuperset(filter.statuses):
            conditions.append(_Q["open"])
        if _TROUBLED.issuperset(filter.statuses):
            conditions.append(_Q["troubled"])
    shape = _Q["with attribute anywhere" if filter.namespace is None else "with attribute"]
    for number, (name, value) in enumerate(filter.attributes.items()):
        conditions.append(shape.replace(":name ", f":name{number} ").replace(":value", f":value{number}"))
        values |= {f"name{number}": name, f"value{number}": attribute_text(value)}
    return _Q["find"].replace("/* conditions */", "".join(f" AND {each}" for each in conditions)), values
