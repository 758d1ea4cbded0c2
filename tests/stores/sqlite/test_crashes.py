"""What was acknowledged survives SIGKILL."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys

import apsw
import pytest

from perdure.stores.sqlite import SqliteStore

COMMITTING = """
import asyncio, sys
from perdure.stores.sqlite import SqliteStore
from perdure.ports.journal import Message, Verdict
from perdure.testing.contracts.subject import start, step, ended

async def main():
    store = SqliteStore(sys.argv[1])
    await store.open()
    async def walk(lane):
        for number in range(10_000):
            run = f"{lane:02}-{number:05}"
            speaking = step(run, 1, messages=[Message(run, "m", None)], snapshot=b"s" * 9000)
            for turn in (start(run), speaking, ended(run, 2)):
                outcome = await store.journal.commit(turn)
                assert outcome.verdict is Verdict.COMMITTED
                print(run, turn.seq, turn.turn_id, flush=True)
    await asyncio.gather(*(walk(lane) for lane in range(16)))
asyncio.run(main())
"""


def run_and_kill(path: str, after: int) -> list[bytes]:
    """Everything that the child said, which is killed when it has said so many lines."""
    with subprocess.Popen([sys.executable, "-c", COMMITTING, path], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(after)]
        child.send_signal(signal.SIGKILL)
        return lines + child.stdout.readlines()


@pytest.mark.crash
@pytest.mark.parametrize("kill_after", [1, 7, 40, 150, 400])
async def test_every_acknowledged_turn_survives_the_death_of_the_process(path: str, kill_after: int) -> None:
    lines = await asyncio.to_thread(run_and_kill, path, kill_after)
    acknowledged = [line.decode().split() for line in lines if line.endswith(b"\n")]
    assert len(acknowledged) >= kill_after

    store = SqliteStore(path)
    await store.open()
    for run, seq, turn_id in acknowledged:
        rows = await store.journal.history(run)
        assert turn_id in [row.turn_id for row in rows if row.seq == int(seq)]
    heads = await store.runs.walk(limit=100_000)
    for head in heads:
        rows = await store.journal.history(head.run)
        assert [row.seq for row in rows] == list(range(1, head.seq + 1))
        assert rows[-1].turn_id == head.turn_id
    published = {each.run for each in await store.outbox.take("w", 100_000, 1)}
    assert published == {head.run for head in heads if head.seq >= 2}
    assert set((await store.runs.counts()).orphans.values()) == {0}
    await store.close()

    connection = apsw.Connection(path)
    assert connection.pragma("integrity_check") == "ok"
    connection.close()
