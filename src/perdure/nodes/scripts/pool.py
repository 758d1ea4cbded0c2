"""The workers that run scripts: processes of their own, started with the first script and ended with the application.

A worker serves one script at a time and forgets it afterwards. What a script does to its worker, or what happens to the
worker, costs nobody else anything: it is replaced.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from perdure.engine.handlers import ActivationError
from perdure.errors import InvalidInput
from perdure.model.values import Json, decode_json, encode_json
from perdure.nodes.scripts.bindings import pruned
from perdure.nodes.scripts.limits import MEBIBYTE, ScriptLimits
from perdure.nodes.scripts.program import finished
from perdure.nodes.scripts.script import Script
from perdure.settings import Settings

if TYPE_CHECKING:
    from perdure.nodes.scripts.sandbox import Sandbox

Tell = Callable[[str], None]


class ScriptSettings(msgspec.Struct, frozen=True, kw_only=True):
    workers: int = 0
    """Processes; 0: one for each processor."""
    limits: ScriptLimits = ScriptLimits()
    """Of a script that names none of its own."""
    most: ScriptLimits = ScriptLimits(seconds=30.0, memory=512 * MEBIBYTE)
    """What a script may ask for."""
    uses: int = 1_000
    """Scripts after which a worker is replaced."""


def script_settings(settings: Settings) -> ScriptSettings:
    """From those of the process."""
    usual = ScriptLimits(
        seconds=settings.script_seconds,
        memory=settings.script_memory * MEBIBYTE,
        output=settings.script_output_bytes,
    )
    most = ScriptLimits(
        seconds=max(settings.script_seconds, settings.script_longest_seconds),
        memory=max(settings.script_memory, settings.script_most_memory) * MEBIBYTE,
        output=settings.script_output_bytes,
    )
    return ScriptSettings(workers=settings.script_workers, limits=usual, most=most)


class Scripts:
    def __init__(self, settings: ScriptSettings | None = None) -> None:
        self.settings = settings or ScriptSettings()
        self._sandbox: Sandbox | None = None
        self._opening = asyncio.Lock()

    def limits(self, seconds: float | None = None, memory: int | None = None) -> ScriptLimits:
        """The usual ones, with these in their place."""
        usual = self.settings.limits
        return ScriptLimits(
            seconds=usual.seconds if seconds is None else seconds,
            memory=usual.memory if memory is None else memory,
            output=usual.output,
        )

    async def run(
        self,
        script: Script,
        bindings: Mapping[str, Any],
        *,
        now: int,
        seed: int,
        limits: ScriptLimits | None = None,
        tell: Tell | None = None,
    ) -> Json:
        """The value of the script. `now`, in microseconds since 1970, is the time it sees; `tell` hears what it
        prints. Raises ActivationError: SCRIPT_SYNTAX, SCRIPT_NAME, SCRIPT_RUNTIME, SCRIPT_LIMIT, SCRIPT_CRASHED."""
        allowed = (limits or self.settings.limits).within(self.settings.most)
        given = pruned(script.reads, bindings)
        _check_names(script, given)
        program = finished(script.program, script.call, script.parameters, given, allowed.output)
        sandbox = self._sandbox or await self._open()
        found, printed = await sandbox.feed(script, program, encode_json(given).decode(), now, seed, allowed)
        if tell is not None and printed:
            tell(printed)
        try:
            return decode_json(found)
        except InvalidInput as problem:
            told = f"the value of the script cannot be kept: {problem.message}"
            raise ActivationError("SCRIPT_RUNTIME", told) from None

    async def _open(self) -> Sandbox:
        from perdure.nodes.scripts.sandbox import sandbox

        async with self._opening:
            if self._sandbox is None:
                settings = self.settings
                made = sandbox(settings.workers or os.cpu_count() or 1, settings.most.seconds, settings.uses)
                await made.open()
                self._sandbox = made
            return self._sandbox

    async def close(self) -> None:
        sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            await sandbox.close()


def _check_names(script: Script, given: Mapping[str, Any]) -> None:
    """Groovy's are parameters, and must be there. Python itself finds a name missing, if it comes to that."""
    for name, (line, _) in script.names.items() if script.call else ():
        if name not in given:
            told = f"line {line}: name {name!r} is not defined"
            raise ActivationError("SCRIPT_NAME", told, details={"line": line})
