"""pydantic-monty, a Python that can only compute, in worker processes. Imported with the first script that runs."""

from __future__ import annotations

import asyncio
import atexit
import time
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, Protocol

import pydantic_monty as monty

from perdure.nodes.scripts.failures import failure_of, too_much
from perdure.nodes.scripts.limits import ScriptLimits
from perdure.nodes.scripts.program import GIVEN, made_plain
from perdure.nodes.scripts.script import Script

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_PRINTED: Final = 4_096
"""Characters of what a script prints that are kept."""
_GRACE: Final = 0.5
"""Seconds after which a worker that does not notice its script's time limit is killed."""
_SETTLING: Final = 0.2

atexit.register(time.sleep, _SETTLING)
"""The pool's own threads let go of Python objects a moment after they have answered. One that does so while the
interpreter is being taken down aborts the process, after all was well."""


class Sandbox(Protocol):
    async def open(self) -> None: ...
    async def close(self) -> None: ...
    async def feed(
        self, script: Script, program: str, given: str, now: int, seed: int, allowed: ScriptLimits
    ) -> tuple[str, str]:
        """What the program gives, as JSON, and what it printed. Raises ActivationError."""
        ...


def sandbox(processes: int, longest: float, uses: int) -> Sandbox:
    options: dict[str, Any] = {
        "min_processes": 1,
        "max_processes": processes,
        "request_timeout": longest + 1.0,
        "max_checkouts_per_worker": uses,
        "feed_duration_limit_grace": _GRACE,
    }
    waits = getattr(asyncio.get_running_loop(), "waits_for_others", True)
    return _Pool(options) if waits else _PoolOnTheSpot(options)


class _Pool:
    def __init__(self, options: dict[str, Any]) -> None:
        self._pool = monty.AsyncMonty(**options)

    async def open(self) -> None:
        await self._pool.__aenter__()

    async def close(self) -> None:
        await self._pool.__aexit__(None, None, None)

    async def feed(
        self, script: Script, program: str, given: str, now: int, seed: int, allowed: ScriptLimits
    ) -> tuple[str, str]:
        printed = _Printed()
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with self._pool.checkout(**_terms(now, seed, allowed)) as session:
                try:
                    found = await session.feed_run(program, inputs={GIVEN: given}, print_callback=printed)
                except monty.MontyRuntimeError as fault:
                    if not _is_result_unwritable(fault, program):
                        raise
                    left = max(_GRACE, allowed.seconds - (loop.time() - began))
                    async with asyncio.timeout(left):
                        found = await session.feed_run(made_plain(allowed.output), print_callback=printed)
        except monty.MontyError as fault:
            raise failure_of(fault, script, allowed) from None
        except TimeoutError:
            raise too_much("time", allowed) from None
        return _checked(found, allowed), printed.text


class _PoolOnTheSpot:
    """For loops on which nothing outside is waited for: those of tests, where time is a number."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._pool = monty.Monty(**options)

    async def open(self) -> None:
        self._pool.__enter__()

    async def close(self) -> None:
        self._pool.__exit__(None, None, None)

    async def feed(
        self, script: Script, program: str, given: str, now: int, seed: int, allowed: ScriptLimits
    ) -> tuple[str, str]:
        printed = _Printed()
        try:
            with self._pool.checkout(**_terms(now, seed, allowed)) as session:
                try:
                    found = session.feed_run(program, inputs={GIVEN: given}, print_callback=printed)
                except monty.MontyRuntimeError as fault:
                    if not _is_result_unwritable(fault, program):
                        raise
                    found = session.feed_run(made_plain(allowed.output), print_callback=printed)
        except monty.MontyError as fault:
            raise failure_of(fault, script, allowed) from None
        return _checked(found, allowed), printed.text


def _terms(now: int, seed: int, allowed: ScriptLimits) -> dict[str, Any]:
    """Of one stay in a worker: what may be used up, a clock that stands, and chance that can be repeated."""
    limits: monty.ResourceLimits = {"max_feed_duration_secs": allowed.seconds, "max_memory": allowed.memory}
    policy: monty.OSPolicy = {
        "datetime": _EPOCH + timedelta(microseconds=now),
        "random_start": {"seed": seed},
        "sleep": "zero",
    }
    return {"limits": limits, "os_policy": policy}


def _is_result_unwritable(fault: monty.MontyRuntimeError, program: str) -> bool:
    """Whether the script itself has ended, and only its value is not JSON yet."""
    frames = fault.traceback()
    is_last = len(frames) == 1 and frames[0].line == program.count("\n")
    return is_last and isinstance(fault.exception(), TypeError)


def _checked(found: str | int, allowed: ScriptLimits) -> str:
    if not isinstance(found, str):
        raise too_much("output", allowed, found=found)
    return found


class _Printed:
    """The beginning of what is printed. The rest is heard and forgotten."""

    def __init__(self) -> None:
        self.text = ""

    def __call__(self, stream: Literal["stdout", "stderr"], text: str) -> None:
        if len(self.text) < _PRINTED:
            self.text += text[: _PRINTED - len(self.text)]
