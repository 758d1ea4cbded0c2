"""How many turns a second the PostgreSQL store commits, beside what the same server does with the bare rows.

    python bench/micro_store_pg.py [--url postgresql://…] [--seconds 3] [--waiters 1,16,64,256] [--json FILE]

Without a URL it starts a private cluster with PostgreSQL's own durability settings. Each waiter takes one run after the
other through six turns, each durable before the next: a start with an idempotency key, four appends, a closing one.
The floor writes the same rows without any protocol: one update and one insert over unnest per batch of as many rows as
there are waiters, on as many connections as the store commits with; and one row per transaction on one connection.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
import uuid
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import asyncpg
import uvloop

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from perdure.model.statuses import Status
from perdure.ports.journal import COMMITTED, NewRun, TurnWrite
from perdure.stores.postgres import PostgresStore
from tests.fixtures.postgres import start_cluster

TURNS = 6
DATA = b'[{"event":"ActivationCompleted","activation":7,"output":{"ok":true,"text":"' + b"x" * 220 + b'"}}]'
RESULT = b'{"output":{"ok":true}}'
WORKER = "worker-" + uuid.uuid4().hex
NEW_RUN: dict[str, Any] = {
    "namespace": "default",
    "definition": "bench",
    "version": 1,
    "hash": "h" * 64,
    "program": "flow",
    "request_digest": "d" * 64,
}

FLOOR = """
CREATE TABLE IF NOT EXISTS floor_heads (id text COLLATE "C" PRIMARY KEY, seq bigint, turn_id text, status text)
    WITH (fillfactor = 50);
CREATE TABLE IF NOT EXISTS floor_events (run text COLLATE "C", seq bigint, data bytea, PRIMARY KEY (run, seq));
"""
FLOOR_NEW = "INSERT INTO floor_heads SELECT id, 0, '', 'RUNNING' FROM unnest($1::text[]) AS id"
FLOOR_TURNS = """
WITH moved AS (
    UPDATE floor_heads h SET seq = u.seq, turn_id = u.turn_id
    FROM unnest($1::text[], $2::bigint[], $3::text[]) AS u (id, seq, turn_id) WHERE h.id = u.id
)
INSERT INTO floor_events SELECT * FROM unnest($1::text[], $2::bigint[], $4::bytea[])
"""


def new_id() -> str:
    return f"{time.time_ns() // 1_000_000:012x}{uuid.uuid4().hex[:20]}"


def turns_of_a_run() -> list[TurnWrite]:
    run = new_id()
    now = time.time_ns() // 1000
    new = NewRun(created_at=now, key=f"key-{run}", **NEW_RUN)
    turns = []
    for number in range(TURNS):
        last = number == TURNS - 1
        turns.append(
            TurnWrite(
                run=run,
                turn_id=f"{run}-{number:08x}",
                epoch=1,
                expected=2 * number,
                seq=2 * number + 2,
                at=now,
                data=DATA,
                codec=1,
                status=Status.COMPLETED if last else Status.RUNNING,
                owner=None if last else WORKER,
                result=RESULT if last else None,
                new=new if number == 0 else None,
            )
        )
    return turns


async def measure_store(store: PostgresStore, waiters: int, seconds: float) -> dict[str, float]:
    latencies: list[float] = []
    clock = time.perf_counter

    async def waiter() -> None:
        while clock() < ends:
            for turn in turns_of_a_run():
                began = clock()
                outcome = await store.journal.commit(turn)
                latencies.append(clock() - began)
                assert outcome is COMMITTED, outcome

    ends = clock() + min(seconds, 0.5)
    await asyncio.gather(*(waiter() for _ in range(waiters)))
    latencies.clear()
    start, cpu = clock(), time.process_time()
    ends = start + seconds
    await asyncio.gather(*(waiter() for _ in range(waiters)))
    took = clock() - start
    cpu = time.process_time() - cpu
    return {**figures(latencies, len(latencies), took), "client_us_per_turn": round(1e6 * cpu / len(latencies), 1)}


async def measure_floor(url: str, batch: int, connections: int, seconds: float) -> dict[str, float]:
    settings = {"plan_cache_mode": "force_generic_plan"}
    links = [await asyncpg.connect(url, server_settings=settings) for _ in range(connections)]
    await links[0].execute(FLOOR)
    latencies: list[float] = []
    clock = time.perf_counter
    size = max(batch // connections, 1)

    async def lane(link: Any) -> None:
        while clock() < ends:
            ids = sorted(new_id() for _ in range(size))
            await link.fetch(FLOOR_NEW, ids)
            for number in range(TURNS):
                began = clock()
                await link.fetch(FLOOR_TURNS, ids, [number] * size, ["t" * 40] * size, [DATA] * size)
                latencies.append(clock() - began)

    start = clock()
    ends = start + seconds
    await asyncio.gather(*map(lane, links))
    took = clock() - start
    for link in links:
        await link.close()
    return figures(latencies, len(latencies) * size, took)


def figures(latencies: list[float], turns: int, took: float) -> dict[str, float]:
    latencies.sort()
    return {
        "turns_per_s": round(turns / took),
        "p50_ms": round(1000 * latencies[len(latencies) // 2], 3),
        "p99_ms": round(1000 * latencies[int(len(latencies) * 0.99)], 3),
    }


async def measure(url: str, waiters: list[int], seconds: float, committers: int) -> dict[str, Any]:
    store = PostgresStore(url, committers=committers)
    await store.open()
    await store.ownership.renew(WORKER, 3_600_000_000)
    found: dict[str, Any] = {"store": {}, "floor": {}, "warnings": store.durability_warnings}
    for number in waiters:
        found["store"][number] = await measure_store(store, number, seconds)
        links = min(committers, number)
        found["floor"][number] = await measure_floor(url, number, links, seconds)
        show(number, found["store"][number], found["floor"][number])
    rows = await store._pool.fetch(
        "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'runs' AND schemaname = 'perdure'"
    )
    found["hot_updates"] = round(rows[0]["n_tup_hot_upd"] / max(rows[0]["n_tup_upd"], 1), 3)
    print(f"HOT updates of heads: {found['hot_updates']:.1%} (at most {(TURNS - 2) / (TURNS - 1):.0%}: closing is not)")
    await store.close()
    return found


def show(waiters: int, store: dict[str, float], floor: dict[str, float]) -> None:
    print(
        f"{waiters:4} waiters: {store['turns_per_s']:7,.0f} turns/s  p50 {store['p50_ms']:7.3f} ms  "
        f"p99 {store['p99_ms']:7.3f} ms  client {store['client_us_per_turn']:5.1f} µs/turn   |   "
        f"floor {floor['turns_per_s']:7,.0f} turns/s  p50 {floor['p50_ms']:7.3f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--waiters", default="1,16,64,256")
    parser.add_argument("--committers", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    waiters = [int(each) for each in options.waiters.split(",")]
    with nullcontext() if options.url else start_cluster() as cluster:
        url = options.url or cluster.create_database()
        print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        found = uvloop.run(measure(url, waiters, options.seconds, options.committers))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
