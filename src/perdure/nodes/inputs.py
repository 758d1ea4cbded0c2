"""How the nodes that came from Yantra look at their input.

There every output is an object with a field `data`, and a path means a field of the input or of its `data`. So a path
is looked up in the input first and in its `data` next, and `input.` before it is allowed.
"""

from __future__ import annotations

from typing import Any

from perdure.expressions import MISSING, Path
from perdure.model.values import Json

PREFIX = "input"


def find(path: Path, input: Json, also: Json = None) -> Any:
    """What the path leads to, or MISSING. `also` is looked at last; a null in it is not there."""
    found = path.find(input)
    if found is not MISSING:
        return found
    if path.steps and path.steps[0] == PREFIX:
        return find(Path(path.steps[1:]), input)
    if isinstance(input, dict) and isinstance(input.get("data"), dict | list):
        found = path.find(input["data"])
    if found is MISSING and also is not None:
        found = path.find(also)
        return MISSING if found is None else found
    return found


def carried(input: Json) -> dict[str, Any]:
    """The fields that a pausing node hands on: those of the input, and before them those of its `data`."""
    if not isinstance(input, dict):
        return {"data": input} if input is not None else {"data": True}
    inner = input.get("data")
    lifted = inner if isinstance(inner, dict) else {}
    return {**lifted, "data": True, **input}


def subject(input: Json) -> Json:
    """What a transformation works on: the input's `data` where it has one, else the input."""
    if isinstance(input, dict) and "data" in input:
        return input["data"]
    return input
