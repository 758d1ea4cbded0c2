"""Short ways to write Drift documents."""

from __future__ import annotations

import copy
from typing import Any

Doc = dict[str, Any]


def script(text: str, **more: Any) -> Doc:
    return {"type": "SCRIPT", "value": {"type": "STRING", "data": text, **more}}


def static(value: Any, kind: str = "STRING") -> Doc:
    return {"type": "STATIC", "value": {"type": kind, "data": value}}


def definition(type: str, id: str = "n", **fields: Any) -> Doc:
    return {"id": id, "name": id.title(), "type": type, "version": "1", **fields}


def state(node: Doc | None, then: str | None = None, **fields: Any) -> Doc:
    """A state with its node definition inside; an end, unless it names the next."""
    found: Doc = {"type": "NODE", **fields}
    if node is not None:
        found["nodeDefinition"] = node
    if then is not None:
        found["nextNode"] = then
    elif "nextNode" not in fields:
        found["end"] = True
    return found


def workflow(states: dict[str, Doc], **fields: Any) -> Doc:
    """Begins at the first state."""
    named = {key: {"instanceName": key, **raw} for key, raw in states.items()}
    start = {"startNode": next(iter(states))} if states else {}
    return copy.deepcopy({"id": "wf", **start, "states": named, **fields})


GOOD: dict[str, Doc] = {
    "HTTP": {"httpComponents": {"url": static("http://api.test/x"), "method": "GET"}},
    "GROOVY": {"transformer": script("return 1")},
    "BRANCH": {"choices": [{"rule": script("return true"), "nextNode": "done"}]},
    "INSTRUCTION": {"inputOptions": [{"id": "why", "tags": {"values": ["ui.free_text"]}}]},
    "PROCESSOR": {"processorComponents": {"processor": "check"}},
    "SUCCESS": {"comment": "done"},
    "FAILURE": {"error": "no"},
    "WAIT": {"config": {"waitType": "SCHEDULER_WAIT", "duration": 15}},
    "CHILD": {"childWorkflowId": "other", "executionMode": "ASYNC", "childWorkflowVersion": "LATEST"},
    "CONTEXT_OVERRIDE": {"transformerComponents": {"transformer": script("return 1")}},
    "DELEGATE": {},
}
"""The least that each type takes."""


def good(type: str, **more: Any) -> Doc:
    return definition(type, **{**copy.deepcopy(GOOD[type]), **more})


SUCCESS = good("SUCCESS")
FAILURE = good("FAILURE")
