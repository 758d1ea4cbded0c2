"""What the database itself can do: the least that any engine on it must pay."""

from __future__ import annotations

import time
from pathlib import Path

import apsw
import asyncpg

BODY = "x" * 200


def sqlite_floor(path: Path, seconds: float = 1.5) -> dict[str, float]:
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "full")
    connection.execute("create table log(run text, seq integer, data text, primary key (run, seq))")

    def commits(rows: int, offset: int) -> float:
        done, end = 0, time.perf_counter() + seconds
        begun = time.perf_counter()
        while time.perf_counter() < end:
            connection.execute("begin immediate")
            connection.executemany(
                "insert into log values (?, ?, ?)", [(f"run{offset + row}", done, BODY) for row in range(rows)]
            )
            connection.execute("commit")
            done += 1
        return done / (time.perf_counter() - begun)

    single, grouped = commits(1, 0), commits(100, 1000)
    connection.close()
    return {"commit_ms": 1000 / single, "commits_per_s": single, "grouped_rows_per_s": grouped * 100}


async def postgres_floor(url: str, seconds: float = 1.5) -> dict[str, float]:
    connection = await asyncpg.connect(url)
    await connection.execute("create table log(run text, seq bigint, data text, primary key (run, seq))")
    insert = await connection.prepare("insert into log select * from unnest($1::text[], $2::bigint[], $3::text[])")

    async def commits(rows: int, offset: int) -> float:
        done, begun = 0, time.perf_counter()
        while time.perf_counter() < begun + seconds:
            await insert.fetch([f"run{offset + row}" for row in range(rows)], [done] * rows, [BODY] * rows)
            done += 1
        return done / (time.perf_counter() - begun)

    single, grouped = await commits(1, 0), await commits(100, 1000)
    await connection.close()
    return {"commit_ms": 1000 / single, "commits_per_s": single, "grouped_rows_per_s": grouped * 100}
