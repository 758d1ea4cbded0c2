"""Drift's contract for node code: a request in, a response out.

    @activity
    async def eligibility(request: ActivityRequest) -> ActivityResponse:
        order = request.context["get_order"]
        return ActivityResponse(node_response={"eligible": order["total"] > 100})

    app.register(eligibility)

An activity is a step like any other, so `python` nodes call it too; a PROCESSOR gives it the whole context.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from perdure.model.values import Json

RUNNING, FAILED = "RUNNING", "FAILED"


class ActivityRequest(msgspec.Struct, frozen=True, kw_only=True):
    definition: dict[str, Any]
    """The configuration of the node."""
    context: dict[str, Any]
    """`_global`."""
    thread_context: dict[str, Any]
    """Tenant, client, flags."""
    node_instance_id: str
    """Unique for each execution of a node and the same for its every attempt: give it to the outside world."""
    params: Any = None


class ActivityResponse(msgspec.Struct, frozen=True, kw_only=True):
    status: str = RUNNING
    """RUNNING: go on; FAILED: fail with `error_message`."""
    node_response: Json = None
    next_node: str | None = None
    """The state to go to, where that is not the next one."""
    error_message: str | None = None


Activity = Callable[[ActivityRequest], ActivityResponse | Awaitable[ActivityResponse]]


def activity(function: Activity) -> Callable[..., Any]:
    """Makes a step of it. What it returns is told to the engine by whoever calls steps (`as_result`)."""

    @functools.wraps(function)
    async def step(ctx: Any, **params: Any) -> ActivityResponse:
        found = function(request_of(ctx, params))
        return await found if inspect.isawaitable(found) else found

    step.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            inspect.Parameter("params", inspect.Parameter.VAR_KEYWORD),
        ]
    )
    return step


def request_of(ctx: Any, params: Any = None) -> ActivityRequest:
    return ActivityRequest(
        definition=ctx.config,
        context=ctx.bindings.get("_global", {}),
        thread_context=ctx.thread or {},
        node_instance_id=ctx.key,
        params=params,
    )
