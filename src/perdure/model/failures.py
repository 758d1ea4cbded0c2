"""A failure inside a run is data: it is recorded, routed along edges, shown to people. It is not an exception.

Codes that Perdure itself gives (a node may give its own):

    NODE_FAILED          the handler raised                  TIMEOUT              an attempt took longer than allowed
    OUTPUT_INVALID       the handler returned no JSON        OUTCOME_UNKNOWN      an at-most-once node whose worker died
    WORKER_DIED          the worker died too often on it     CANCELLED            withdrawn before it ended
    CHILD_FAILED         a child run did not complete        SIGNAL_TIMEOUT       the awaited signal did not come in
    time
    EXPRESSION_…         see `perdure.errors`                NODE_UNKNOWN         no handler of that type is installed
    here
    TOO_MANY_ERRORS      more handled errors in a row than `max_errors`
    LIMIT_ACTIVATIONS, LIMIT_ITERATIONS, LIMIT_DEPTH, LIMIT_CHILD_DEPTH, LIMIT_DATA, LIMIT_ACCUMULATOR,
    LIMIT_ACTIVE_TIME, LIMIT_SIGNALS
"""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.errors import PerdureError

UNKNOWN_OUTCOMES = frozenset({"OUTCOME_UNKNOWN", "TIMEOUT", "WORKER_DIED"})
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

    def as_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


def failure_from(error: PerdureError, node: str | None = None) -> Failure:
    """What a run records when one of our own errors ends an activation."""
    details = {name: value for name, value in error.as_dict().items() if name not in ("code", "message")}
    return Failure(error.code, error.message, error.retryable, node, details=details or None)
