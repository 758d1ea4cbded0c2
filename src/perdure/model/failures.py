"""A failure inside a run is data: it is recorded, routed along edges, shown to people. It is not an exception.

A node may give codes of its own. Those that Perdure gives, each with its meaning and remedy, stand in
`docs/reference/errors.md`, which is made from the places that give them:

    NODE_FAILED, OUTPUT_INVALID, TIMEOUT, OUTCOME_UNKNOWN, WORKER_DIED …    of handlers
    CHILD_FAILED, SIGNAL_TIMEOUT, TOO_MANY_ERRORS, LIMIT_…                  of runs
    EXPRESSION_…, VALUE_MISSING, NOT_FOUND …                                see `perdure.errors`
"""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.errors import PerdureError

UNKNOWN_OUTCOMES = frozenset({"OUTCOME_UNKNOWN", "TIMEOUT", "WORKER_DIED", "HTTP_DROPPED"})
"""Failures whose effect may have happened all the same: such an activation is compensated like a completed one."""


class Failure(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    code: str
    message: str
    retryable: bool = False
    node: str | None = None
    retry_after: int | None = None
    """Microseconds that the other side asked us to wait (HTTP Retry-After and the like)."""
    details: dict[str, Any] | None = None

    def at_node(self, node: str) -> Failure:
        return self if self.node is not None else msgspec.structs.replace(self, node=node)

    def brief(self) -> Failure:
        """Code and message only: what is worth keeping of one that is over."""
        return Failure(self.code, self.message)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def as_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


def failure_from(error: PerdureError, node: str | None = None) -> Failure:
    """What a run records when one of our own errors ends an activation."""
    details = {name: value for name, value in error.as_dict().items() if name not in ("code", "message")}
    return Failure(error.code, error.message, error.retryable, node, details=details or None)
