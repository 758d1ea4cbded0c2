"""What the engine needs to know about the code that executes nodes, and what that code may say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import msgspec

from perdure.kernel.program import Work
from perdure.model.values import Json

if TYPE_CHECKING:
    from perdure.engine.context import ActivationContext

Handler: TypeAlias = "Callable[[ActivationContext], Awaitable[Any] | Any]"


class Lack(msgspec.Struct, frozen=True):
    """Something that a run needs and that is not here."""

    kind: str
    """step, node type …"""
    name: str

    def __str__(self) -> str:
        return f"the {self.kind} {self.name!r}"


class HandlerSpec(msgspec.Struct, frozen=True):
    call: Handler
    blocking: bool | Callable[[Json], bool] = False
    """It may block (with this configuration), so it runs in a thread, off the loop. It cannot be cancelled, only left
    alone."""
    kind: str = "effect"
    lacks: Callable[[Json], Lack | None] | None = None
    """Given the configuration of a node: what it would need further, and is not here."""

    def blocks(self, config: Json) -> bool:
        return self.blocking if isinstance(self.blocking, bool) else self.blocking(config)


class NodeHandlers(Protocol):
    """A dict will do."""

    def get(self, type: str, /) -> HandlerSpec | None: ...


def lacking(handlers: NodeHandlers, work: Work) -> Lack | None:
    """What is not here of what this needs."""
    spec = handlers.get(work.type)
    if spec is None:
        return Lack("node type", work.type)
    return spec.lacks(work.config) if spec.lacks is not None else None


class Result(msgspec.Struct, frozen=True):
    """What a handler may return instead of a bare value."""

    output: Json = None
    outcome: str | None = None
    """Which outgoing edges are taken, where the node has several."""
    vars: dict[str, Any] | None = None
    """Changes to the run's shared data."""
    beside: dict[str, Any] | None = None
    """What there is to show besides the output, by name. `_global["<node>:<name>"]` reads it."""


class ActivationError(Exception):
    """Raised by a handler to say exactly how it failed. Any other exception counts as NODE_FAILED, retryable."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        output: Json = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.retry_after = retry_after
        """Seconds that the other side asked us to wait."""
        self.output = output
        """What there was before it failed."""
        self.details = details
