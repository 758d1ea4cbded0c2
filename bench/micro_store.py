"""Turns per second of one store, with the raw commit rate of the same rows beside it.

    python bench/micro_store.py [--seconds 3] [--waiters 1,16,64,256] [--store sqlite|memory] [--dir DIR] [--busy US]

Each waiter walks runs of seven turns, every turn durable before the next: a start with an idempotency key, five
appends and a closing turn, about 300 bytes of events each. `floor` writes rows of the same size with `executemany`, one
transaction per group of as many turns, unchecked, in the same process and on the same disk. `--busy` keeps the loop
occupied for that many microseconds per turn, as an engine would.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from typing import Any

import apsw
import uvloop

from perdure.model.statuses import Status
from perdure.ports.journal import NewRun, TurnWrite, Verdict
from perdure.stores.memory import MemoryStore
from perdure.stores.sqlite import SqliteStore

DATA = (
    b'[{"event":"ActivationCompleted","id":3,"output":{"value":"' + b"x" * 170 + b'"}},'
    b'{"event":"ActivationScheduled","id":4,"node":"step-four"}]'
)
HASH = "a" * 64
WORKER = "worker-01HZX3"
APPENDS = 5


def turns_of_run(number: int) -> list[TurnWrite]:
    now = time.time_ns() // 1000
    run = f"01{now:014x}{number:08x}"
    common: dict[str, Any] = {"run": run, "epoch": 1, "at": now, "data": DATA, "codec": 1}
    new = NewRun(
        namespace="default",
        definition="order-flow",
        version=1,
        hash=HASH,
        program="flow",
        created_at=now,
        key="order-" + os.urandom(6).hex(),
        request_digest=HASH,
    )
    last = APPENDS + 1
    return [
        TurnWrite(
            turn_id=f"{run}-{place}",
            expected=2 * place,
            seq=2 * place + 2,
            status=Status.COMPLETED if place == last else Status.RUNNING,
            owner=None if place == last else WORKER,
            new=new if place == 0 else None,
            result=b'{"output":{"ok":true}}' if place == last else None,
            **common,
        )
        for place in range(APPENDS + 2)
    ]


def spin(microseconds: int) -> None:
    end = time.perf_counter_ns() + microseconds * 1000
    while time.perf_counter_ns() < end:
        pass


async def measure(store: Any, waiters: int, seconds: float, busy: int) -> dict[str, float]:
    latencies: list[float] = []
    count = 0
    end = time.perf_counter() + seconds

    async def walk() -> None:
        nonlocal count
        while time.perf_counter() < end:
            count += 1
            for turn in turns_of_run(count):
                if busy:
                    spin(busy)
                begin = time.perf_counter()
                outcome = await store.journal.commit(turn)
                latencies.append(time.perf_counter() - begin)
                assert outcome.verdict is Verdict.COMMITTED, outcome

    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(walk() for _ in range(waiters)))
    elapsed, cpu = time.perf_counter() - began, time.process_time() - cpu
    latencies.sort()
    return {
        "turns_per_s": len(latencies) / elapsed,
        "p50_ms": latencies[len(latencies) // 2] * 1000,
        "p99_ms": latencies[int(len(latencies) * 0.99)] * 1000,
        "max_ms": latencies[-1] * 1000,
        "cpu_us": cpu / len(latencies) * 1e6,
    }


def floor(path: str, group: int, seconds: float) -> dict[str, float]:
    """The same rows without any check, `executemany` in one transaction per group."""
    connection = apsw.Connection(path)
    for setting in ("journal_mode = WAL", "synchronous = FULL", "cache_size = -32768", "wal_autocheckpoint = 4000"):
        connection.execute(f"PRAGMA {setting}").fetchall()
    connection.execute(
        "CREATE TABLE IF NOT EXISTS r (id TEXT PRIMARY KEY, seq INTEGER, turn TEXT, rest BLOB) WITHOUT ROWID;"
        "CREATE TABLE IF NOT EXISTS l (id INTEGER PRIMARY KEY, run TEXT, seq INTEGER, turn TEXT, data BLOB);"
        "CREATE UNIQUE INDEX IF NOT EXISTS li ON l (run, seq)"
    ).fetchall()
    rest = b"x" * 250
    latencies: list[float] = []
    number = written = 0
    active = [turns_of_run(number := number + 1) for _ in range(group)]
    for place, turns in enumerate(active):
        del turns[: 0 if group == 1 else place % len(turns)]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        taken = []
        for place in range(group):
            if not active[place]:
                active[place] = turns_of_run(number := number + 1)
            taken.append(active[place].pop(0))
        begin = time.perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(
            "INSERT OR REPLACE INTO r VALUES (?, ?, ?, ?)", [(t.run, t.seq, t.turn_id, rest) for t in taken]
        )
        connection.executemany(
            "INSERT INTO l (run, seq, turn, data) VALUES (?, ?, ?, ?)",
            [(t.run, t.seq, t.turn_id, t.data) for t in taken],
        )
        connection.execute("COMMIT")
        latencies.append(time.perf_counter() - begin)
        written += group
    connection.close()
    total = sum(latencies)
    latencies.sort()
    return {"turns_per_s": written / total, "p50_ms": latencies[len(latencies) // 2] * 1000}


async def run(arguments: argparse.Namespace) -> None:
    folder = tempfile.mkdtemp(dir=arguments.dir)
    make: Callable[[int], Any] = lambda waiters: (  # noqa: E731
        MemoryStore() if arguments.store == "memory" else SqliteStore(os.path.join(folder, f"s{waiters}.db"))
    )
    try:
        for waiters in map(int, arguments.waiters.split(",")):
            store = make(waiters)
            await store.open()
            await store.ownership.renew(WORKER, 3600_000_000)
            await measure(store, waiters, 0.3, arguments.busy)
            result = await measure(store, waiters, arguments.seconds, arguments.busy)
            await store.close()
            line = "  ".join(f"{name} {value:,.2f}" for name, value in result.items())
            raw = floor(os.path.join(folder, f"f{waiters}.db"), waiters, min(arguments.seconds, 2))
            ratio = result["turns_per_s"] / raw["turns_per_s"]
            print(
                f"{waiters:4d} waiters  {line}  | floor {raw['turns_per_s']:,.0f}/s p50 {raw['p50_ms']:.2f} ms,"
                f" ratio {ratio:.2f}"
            )
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--waiters", default="1,16,64,256")
    parser.add_argument("--store", choices=("sqlite", "memory"), default="sqlite")
    parser.add_argument("--dir")
    parser.add_argument("--busy", type=int, default=0)
    uvloop.run(run(parser.parse_args()))
