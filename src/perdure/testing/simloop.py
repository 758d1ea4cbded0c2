"""An event loop on which time is a number: when nothing is ready, it jumps to the next timer.

    @simulated()
    async def test_a_sleeper_wakes(): ...
        await pass_time(86_400)              # takes no time at all

    run(main(), seed=7)                      # whatever is ready at the same moment runs in an order chosen by the seed

Nothing outside is waited for. Functions for threads run at once, on the loop. A loop on which nothing is ready and no
timer is set would wait for ever, so it raises `Stalled` instead, and the test says what it was waiting for. So does a
loop that turns and turns at the same moment.
"""

from __future__ import annotations

import asyncio
import collections
import functools
import math
import random
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

BEGIN = 1_767_225_600 * 1_000_000
"""2026-01-01T00:00:00Z, in microseconds."""


MOST_TURNS = 100_000
"""Turns of the loop at one moment, after which it is taken for endless."""


LAST_ROUNDS = 100


class Stalled(RuntimeError):
    """Nothing can ever happen again, and somebody is still waiting; or something goes round in circles."""


class _JumpingSelector(selectors.SelectSelector):
    def __init__(self) -> None:
        super().__init__()
        self.loop: SimLoop
        self._turns = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise Stalled(f"nothing is ready, no timer is set, and these wait: {self._waiting()}")
            self._turns = 0 if timeout else self._turns + 1
            if self._turns > MOST_TURNS:
                self._turns = 0
                raise Stalled(f"time stands still although the loop turns; these are alive: {self._waiting()}")
            self.loop.jump(timeout)
        return ready

    def _waiting(self) -> list[str]:
        return [str(task.get_coro()) for task in asyncio.all_tasks(self.loop)]


class _Shuffled(collections.deque[Any]):
    """Ready callbacks, taken in any order."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self._chance = chance

    def popleft(self) -> Any:
        place = self._chance.randrange(len(self)) if len(self) > 1 else 0
        self.rotate(-place)
        taken = super().popleft()
        self.rotate(place)
        return taken


class SimLoop(asyncio.SelectorEventLoop):
    waits_for_others = False
    """Of processes outside only the answer counts, and it is there at once."""

    def __init__(self, seed: int | None = None) -> None:
        selector = _JumpingSelector()
        super().__init__(selector)
        selector.loop = self
        self._elapsed = 0.0
        if seed is not None:
            self._ready: collections.deque[Any] = _Shuffled(random.Random(seed))

    def time(self) -> float:
        return self._elapsed

    def jump(self, seconds: float) -> None:
        """To the next timer. Decades on, the loop's own allowance for rounding is below the last digit of the time: a
        timer that is due then needs one digit more to be seen."""
        self._elapsed += seconds
        if not seconds and not self._ready:
            self._elapsed = math.nextafter(self._elapsed, math.inf)

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:  # type: ignore[override]
        """At once, here: a thread's timing would not follow from the seed."""
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as problem:
            future.set_exception(problem)
        return future


class SimClock:
    """The wall clock of a simulated world, or of one machine in it whose clock is wrong by `skew` seconds. It can be
    set, and it can be stopped; the loop's own clock cannot."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None, skew: float = 0.0) -> None:
        self._loop = loop or asyncio.get_running_loop()
        self._stopped_at: float | None = None
        self.skew = skew

    def now(self) -> int:
        at = self._loop.time() if self._stopped_at is None else self._stopped_at
        return BEGIN + round((at + self.skew) * 1_000_000)

    def jump(self, seconds: float) -> None:
        self.skew += seconds

    def leap_to(self, moment: int) -> None:
        """To that many microseconds since 1970."""
        self.skew += (moment - self.now()) / 1_000_000

    def stop(self) -> None:
        self._stopped_at = self._loop.time()

    def go_on(self) -> None:
        """As if it had been set right: the time that it stood still is made up for."""
        self._stopped_at = None


async def pass_time(seconds: float) -> None:
    """Lets virtual time pass. On any other loop it refuses: a test that really waits is slow and proves nothing."""
    if not isinstance(asyncio.get_running_loop(), SimLoop):
        raise RuntimeError("time passes only on a SimLoop")
    await asyncio.sleep(seconds)


def run(main: Coroutine[Any, Any, T], seed: int | None = None) -> T:
    """Runs it to its end, then cancels what it left behind."""
    loop = SimLoop(seed)
    try:
        return loop.run_until_complete(main)
    finally:
        for _ in range(LAST_ROUNDS):  # ending some may begin others, and an engine that nobody closed never tires of it
            if not (left := asyncio.all_tasks(loop)):
                break
            for task in left:
                task.cancel()
            loop.run_until_complete(asyncio.wait(left))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def simulated(
    seed: int | None = None,
) -> Callable[[Callable[P, Coroutine[Any, Any, T]]], Callable[P, T]]:
    """Makes an ordinary function of a coroutine function, for pytest and others."""

    def decorate(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
        @functools.wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
            return run(function(*args, **kwargs), seed)

        return wrapper

    return decorate
