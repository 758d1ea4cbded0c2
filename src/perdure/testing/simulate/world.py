"""What the runs act upon, and what it remembers: every effect with its key, every failure, every message."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

from perdure.engine import ActivationError
from perdure.engine.relay import Delivered
from perdure.kernel.backoff import fraction
from perdure.testing.simulate.misfortune import Misfortune, Site
from perdure.testing.simulate.umpire import Umpire


class World:
    def __init__(self, seed: int, misfortune: Misfortune, umpire: Umpire) -> None:
        self._seed = seed
        self._misfortune = misfortune
        self._umpire = umpire
        self.effects: Counter[str] = Counter()
        self.failed: set[tuple[str, int, int]] = set()
        """Run, activation and attempt of what really failed."""
        self.completed: set[tuple[str, int]] = set()
        self.heard: dict[str, int] = {}
        """Messages that were taken, by id, in the order in which they first were."""

    def steps(self) -> dict[str, Callable[..., Any]]:
        return {step.__name__: step for step in (self.add, self.slow, self.flaky, self.picky, self.undo)}

    async def _act(self, ctx: Any, span: float) -> None:
        self._umpire.acts(ctx.run_id, ctx.activation_id, ctx.attempt)
        self.effects[ctx.key] += 1
        await asyncio.sleep(span * fraction(self._seed, self.effects[ctx.key], ctx.activation_id))

    def _done(self, ctx: Any, n: int) -> int:
        self.completed.add((ctx.run_id, ctx.activation_id))
        return n + 1

    async def add(self, ctx: Any, n: int) -> int:
        await self._act(ctx, 0.8)
        return self._done(ctx, n)

    async def slow(self, ctx: Any, n: int) -> int:
        await self._act(ctx, 15)
        return self._done(ctx, n)

    async def flaky(self, ctx: Any, n: int) -> int:
        await self._act(ctx, 1.5)
        site = Site.HANDLER_FAILS
        if site in self._misfortune.active and fraction(self._seed, ctx.activation_id, ctx.attempt) < 0.5:
            self._misfortune.met[site] += 1
            self.failed.add((ctx.run_id, ctx.activation_id, ctx.attempt))
            raise ConnectionError("bad luck")
        return self._done(ctx, n)

    async def picky(self, ctx: Any, n: int) -> int:
        await self._act(ctx, 0.5)
        if n % 2:
            self.failed.add((ctx.run_id, ctx.activation_id, ctx.attempt))
            raise ActivationError("ODD", "odd numbers are not welcome")
        return self._done(ctx, n)

    async def undo(self, ctx: Any, n: int) -> None:
        await self._act(ctx, 0.5)

    async def hear(self, message: Delivered) -> None:
        await asyncio.sleep(0.2)
        if self._misfortune.strikes(Site.SUBSCRIBER_FAILS, 0.3):
            raise ConnectionError("nobody home")
        self.heard[message.id] = self.heard.get(message.id, 0) + 1
