"""What the handlers of node types share: made with the application, opened when first needed, closed with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from perdure.ports.secrets import Secrets


class Toolbox:
    def __init__(self, secrets: Secrets) -> None:
        self.secrets = secrets
        self._closers: list[Callable[[], Awaitable[None]]] = []

    def on_close(self, closer: Callable[[], Awaitable[None]]) -> None:
        """To be called when the application ends, in the reverse order."""
        self._closers.append(closer)

    async def close(self) -> None:
        while self._closers:
            await self._closers.pop()()
