"""Kept answers (`cache` of a node): found, a node is not executed; given, an answer is kept for the next.

Of several executions in this process that ask the same, one asks and the others wait for it, once: if it fails, or is
not done when their own time for an attempt is over, they all ask, side by side and with their whole time. In other
processes each asks for itself. Only answers are kept, no failures. A store in trouble means that nothing is found and
nothing kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import msgspec

from perdure.errors import PerdureError
from perdure.kernel.program import Kept
from perdure.model.commands import Command, Complete
from perdure.model.values import decode_json, encode_json
from perdure.ports.cells import LARGEST, Cells

if TYPE_CHECKING:
    from perdure.engine.execution import Execution

Trouble = Callable[[str, BaseException], None]
Attempt = Callable[[], Awaitable[Command]]


class OutputCache:
    def __init__(self, cells: Cells, trouble: Trouble) -> None:
        self._cells = cells
        self._trouble = trouble
        self._asked: dict[tuple[str, str], asyncio.Future[Complete | None]] = {}

    async def around(self, execution: Execution, kept: Kept, attempt: Attempt) -> Command:
        """The report of an attempt, or one of the same content from before."""
        place = (execution.owned.namespace, kept.key)
        asked = self._asked.get(place)
        if asked is not None:
            answer = await _wait(execution, asked)
            if answer is not None:
                return _again(execution, answer)
            if place in self._asked:  # somebody who comes later waits for one of us; we have waited enough
                return (await self._ask(execution, place, kept.ttl, attempt))[0]
        asking = self._asked[place] = asyncio.get_running_loop().create_future()
        answer = None
        try:
            report, answer = await self._ask(execution, place, kept.ttl, attempt)
            return report
        finally:
            del self._asked[place]
            asking.set_result(answer)

    async def _ask(
        self, execution: Execution, place: tuple[str, str], ttl: int, attempt: Attempt
    ) -> tuple[Command, Complete | None]:
        """The report, and what is in it for others."""
        found = await self._find(place)
        if found is not None:
            return _again(execution, found), found
        report = await attempt()
        if execution.concealed is not None:
            report = execution.concealed.report(report)
        if not isinstance(report, Complete) or report.then is not None:
            return report, None
        await self._keep(place, report, ttl)
        return report, report

    async def _find(self, place: tuple[str, str]) -> Complete | None:
        try:
            cell = await self._cells.get(*place)
            return None if cell is None else _read(cell.value)
        except (PerdureError, ValueError) as problem:
            self._trouble("looking for a kept answer", problem)
            return None

    async def _keep(self, place: tuple[str, str], answer: Complete, ttl: int) -> None:
        value = encode_json([answer.output, answer.outcome, answer.vars, answer.size, answer.beside])
        if len(value) > LARGEST:
            return
        try:
            await self._cells.put(*place, value, ttl=ttl)
        except PerdureError as problem:
            self._trouble("keeping an answer", problem)


async def _wait(execution: Execution, asked: asyncio.Future[Complete | None]) -> Complete | None:
    """The answer of the one that asks. Waiting takes nothing of the time for an attempt, but it has an end, too:
    whoever asks may have more time than we, or no limit at all."""
    if execution.timer is not None:
        execution.timer.cancel()
    await asyncio.wait([asked], timeout=execution.timeout)  # if we are cancelled, whoever asks is not
    execution.runner.set_timer(execution)
    return asked.result() if asked.done() else None


def _read(value: bytes) -> Complete:
    output, outcome, variables, size, beside = decode_json(value)
    return Complete(0, 0, output, outcome, variables, size, beside)


def _again(execution: Execution, answer: Complete) -> Complete:
    return msgspec.structs.replace(answer, activation=execution.id, attempt=execution.attempt, cached=True)
