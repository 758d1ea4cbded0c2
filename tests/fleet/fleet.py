"""Engine processes and how to treat them badly; and the client, who is answered or asks another one."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import signal
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fixtures.moments import moment, until
from tests.fleet.ledger import EffectsFile

ROOT = Path(__file__).resolve().parents[2]
START_PATIENCE = 60.0


class Gone(Exception):
    """The process that was asked has died, or does not answer."""


@dataclass
class Member:
    process: asyncio.subprocess.Process
    events: list[dict[str, Any]] = field(default_factory=list)
    answers: dict[int, asyncio.Future[dict[str, Any]]] = field(default_factory=dict)
    is_stopped: bool = False
    reading: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def is_alive(self) -> bool:
        return self.process.returncode is None

    def has_said(self, event: str) -> int:
        return sum(said.get("event") == event for said in self.events)

    async def read(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            said = json.loads(line)
            if "answer" not in said:
                self.events.append(said)
            elif (waiting := self.answers.pop(said["answer"], None)) is not None and not waiting.done():
                waiting.set_result(said)
        for waiting in self.answers.values():
            if not waiting.done():
                waiting.set_exception(Gone())

    async def ask(self, number: int, patience: float, **request: Any) -> Any:
        """What it says. Raises Gone, or Refused with the code of the error."""
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.answers[number] = answer
        try:
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps({"id": number, **request}).encode() + b"\n")
            await self.process.stdin.drain()
            said = await asyncio.wait_for(answer, patience)
        except (TimeoutError, ConnectionError):
            raise Gone from None
        finally:
            self.answers.pop(number, None)
        if "error" in said:
            if said["again"]:
                raise Gone
            raise AssertionError(said)
        return said["said"]

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)
        self.is_stopped = number == signal.SIGSTOP


class Fleet:
    def __init__(self, url: str, effects: Path) -> None:
        self.url = url
        self.effects_path = effects
        self.effects = EffectsFile(effects)
        self.members: list[Member] = []
        self.chance = random.Random(7)
        self._numbers = itertools.count(1)

    async def enlist(self, *, unaware: bool = False, without: Sequence[str] = ()) -> Member:
        command = [sys.executable, "-m", "tests.fleet.worker", self.url, str(self.effects_path)]
        process = await asyncio.create_subprocess_exec(
            *command,
            *(["--unaware"] if unaware else []),
            *(["--without", *without] if without else []),
            cwd=ROOT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        member = Member(process)
        member.reading = asyncio.ensure_future(member.read())
        self.members.append(member)
        await until(lambda: member.has_said("ready") > 0 or not member.is_alive, START_PATIENCE)
        assert member.is_alive
        return member

    @property
    def awake(self) -> list[Member]:
        return [member for member in self.members if member.is_alive and not member.is_stopped]

    async def kill(self, member: Member) -> float:
        """The moment of its death."""
        member.signal(signal.SIGKILL)
        died = time.monotonic()
        await member.process.wait()
        return died

    async def insist(self, patience: float = 5.0, **request: Any) -> Any:
        """Asks one after the other, until one of them acknowledges."""
        while True:
            awake = self.awake
            if awake:
                try:
                    return await self.chance.choice(awake).ask(next(self._numbers), patience, **request)
                except Gone:
                    pass
            await moment(0.05)

    async def disband(self) -> None:
        for member in self.members:
            if member.is_alive:
                member.signal(signal.SIGKILL)
            await member.process.wait()
            if member.reading is not None:
                await member.reading


@asynccontextmanager
async def fleet(url: str, effects: Path, size: int) -> AsyncIterator[Fleet]:
    made = Fleet(url, effects)
    try:
        if size:
            await made.enlist()  # the first one migrates
        await asyncio.gather(*(made.enlist() for _ in range(size - 1)))
        yield made
    finally:
        await made.disband()
