"""How the end of a child is told to the node that called it."""

from __future__ import annotations

from typing import Any

from perdure.kernel.state import Activation
from perdure.model.commands import ChildEnded
from perdure.model.failures import Failure
from perdure.model.values import Json

_WAYS = {"FAILED": "failed", "TIMED_OUT": "timed out", "CANCELLED": "was cancelled"}
_MOST_LINKS = 6


def failure_of(activation: Activation, ended: ChildEnded, semantics: int) -> Failure:
    """Says where in the child it went wrong and why, through all generations down to the cause. The details keep every
    failure in between as it was."""
    cause = ended.failure.as_dict() if ended.failure else None
    details: dict[str, Any] = {"run": ended.run, "status": ended.status, "failure": cause}
    if semantics < 2:
        message = f"the child run {ended.run} ended as {ended.status}"
    else:
        details["definition"] = activation.child_of[0] if activation.child_of is not None else None
        message = _told(details)
    return Failure("CHILD_FAILED", message, retryable=ended.status != "CANCELLED", details=details)


def _told(details: Json) -> str:
    links: list[str] = []
    cause: Json = None
    while isinstance(details, dict) and "run" in details:
        cause = details.get("failure")
        links.append(_link(details, cause))
        details = cause.get("details") if isinstance(cause, dict) and cause.get("code") == "CHILD_FAILED" else None
    if len(links) > _MOST_LINKS:
        links[1 : 1 - _MOST_LINKS] = ["…"]  # what is nearest to the cause says most
    if isinstance(cause, dict):
        links.append(f"{cause.get('code')}: {cause.get('message')}")
    return ": ".join(links)


def _link(details: dict[str, Any], cause: Json) -> str:
    status = details.get("status")
    name = f"flow {details['definition']!r} (run {details['run']})" if "definition" in details else details["run"]
    node = f" at node {cause['node']!r}" if isinstance(cause, dict) and cause.get("node") is not None else ""
    return f"child {name} {_WAYS.get(str(status), status)}{node}"
