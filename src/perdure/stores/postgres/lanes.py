"""Group commit: what comes while a group is under way is the next group.

Nobody waits for a timer to fill a group. Under little load a group is one item and leaves at once; under much load the
groups grow by themselves, and with them the work done per flush of the disk.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeAlias, TypeVar

from perdure.errors import PerdureError, StoreUnavailable

T = TypeVar("T")
R = TypeVar("R")
Write: TypeAlias = Callable[[Sequence[T], float], Awaitable[Sequence[R | BaseException]]]
LEAST_SECONDS = 1.0
"""What a group gets even if one of its items has waited for long."""

_Entry: TypeAlias = tuple[T, asyncio.Future[R], float]


class Lanes(Generic[T, R]):
    """At most `width` groups at a time, each of at most `limit` items and about `max_weight`.

    Of items with the same `name` one at a time is under way, in the order in which they came. `write` answers each item
    of a group with a result or an error, in order, and is told by what time of the loop's clock. `deadline` is the time
    an item has from its submission.
    """

    def __init__(
        self,
        write: Write[T, R],
        *,
        width: int,
        limit: int,
        deadline: float,
        name: Callable[[T], str] | None = None,
        weight: Callable[[T], int] | None = None,
        max_weight: int = 4 << 20,
    ) -> None:
        self._write = write
        self._width = width
        self._limit = limit
        self._deadline = deadline
        self._name = name
        self._weight = weight
        self._max_weight = max_weight
        self._queue: deque[_Entry[T, R]] = deque()
        self._names: set[str] = set()
        self._busy: set[asyncio.Task[None]] = set()
        self._running = 0
        self._scheduled = False
        self._closed = False

    def submit(self, item: T) -> asyncio.Future[R]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[R] = loop.create_future()
        if self._closed:
            future.set_exception(StoreUnavailable("the store is closed"))
            return future
        self._queue.append((item, future, loop.time() + self._deadline))
        if not self._scheduled and self._running < self._width:
            # Not now but when everybody who is awake has had a chance to join.
            self._scheduled = True
            loop.call_soon(self._start)
        return future

    async def close(self) -> None:
        """Finishes what is queued; refuses what comes."""
        self._closed = True
        while self._busy or self._queue:
            self._start()
            await asyncio.wait(self._busy)

    def _start(self) -> None:
        self._scheduled = False
        if self._queue and self._running < self._width:
            self._running += 1
            lane = asyncio.ensure_future(self._run())
            self._busy.add(lane)
            lane.add_done_callback(self._busy.discard)

    async def _run(self) -> None:
        try:
            await self._write_groups()
        finally:
            self._running -= 1  # in the step that found the queue empty: whoever comes next starts a lane again

    async def _write_groups(self) -> None:
        now = asyncio.get_running_loop().time
        while group := self._take(now()):
            results: Sequence[R | BaseException]
            try:
                ends = max(min(ends for _, _, ends in group), now() + LEAST_SECONDS)
                results = await self._write([item for item, _, _ in group], ends)
            except Exception as problem:
                results = [problem] * len(group)
            if self._name is not None:
                self._names.difference_update([self._name(item) for item, _, _ in group])
            for (_, future, _), result in zip(group, results, strict=True):
                _answer(future, result)
            await asyncio.sleep(0)  # let those who were answered queue their next

    def _take(self, now: float) -> list[_Entry[T, R]]:
        queue, names = self._queue, self._names
        group: list[_Entry[T, R]] = []
        later: list[_Entry[T, R]] = []
        weight = 0
        while queue and len(group) < self._limit and weight < self._max_weight:
            entry = queue.popleft()
            if entry[2] <= now:
                _answer(entry[1], StoreUnavailable("the database did not answer in time", remedy="try again"))
                continue
            if self._name is not None:
                name = self._name(entry[0])
                if name in names:
                    later.append(entry)
                    continue
                names.add(name)
            group.append(entry)
            if self._weight is not None:
                weight += self._weight(entry[0])
        queue.extendleft(reversed(later))
        return group


def _answer(future: asyncio.Future[R], result: R | BaseException) -> None:
    if future.done():
        return  # its caller was cancelled
    if isinstance(result, BaseException):
        future.set_exception(anew(result))
    else:
        future.set_result(result)


def anew(problem: BaseException) -> BaseException:
    """The same error as another object: one raised in many tasks would collect all their tracebacks."""
    if not isinstance(problem, PerdureError):
        return problem
    copy = type(problem)(problem.message, remedy=problem.remedy, **problem.details)
    copy.__cause__ = problem.__cause__
    return copy
