"""Flows that ask people, and waiting until they do."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from perdure import Perdure
from perdure.model.statuses import Status
from perdure.service.handles import Run

SHOW = {
    "id": "show_status",
    "type": "instruction",
    "config": {
        "layoutId": "status",
        "inputOptions": [
            {"id": "text", "description": "Order #${input.orderId}", "tags": {"values": ["ui.static_text"]}},
            {
                "id": "reason",
                "description": "What is wrong with {{orderId}}?",
                "tags": {"values": ["ui.dropdown", "ui.required"]},
                "possibleValues": [
                    {"displayValue": "Late", "value": "late"},
                    {"displayValue": "Lost", "value": "lost"},
                ],
            },
        ],
        "assignees": ["ada"],
    },
}
READ = {
    "id": "read",
    "type": "end",
    "config": {
        "output": {
            "path": "${_global['show_status:viewResponse'].selectedOptions.reason}",
            "merged": "${_global.reason}",
            "output": "${nodes.show_status.output.selectedOptions.reason}",
        }
    },
}


def flow(*nodes: dict[str, Any], id: str = "ask", edges: list[str] | None = None) -> dict[str, Any]:
    names = ["start", *(node["id"] for node in nodes if not node.get("on_demand"))]
    pairs = [edge.split() for edge in edges] if edges else [list(pair) for pair in pairwise(names)]
    return {
        "id": id,
        "nodes": [{"id": "start", "type": "start"}, *nodes],
        "edges": [{"source": p[0], "target": p[1], **({"outcome": p[2]} if p[2:] else {})} for p in pairs],
    }


async def asked(app: Perdure, document: dict[str, Any], input: Any = None) -> Run:
    """A run that waits for a person."""
    await app.deploy(document)
    run = await app.start(document["id"], input if input is not None else {"orderId": 123})
    await until(app, run, Status.WAITING)
    return run


async def until(app: Perdure, run: Run, status: Status) -> None:
    while True:
        watch = app.engine.watch(run.id)
        try:
            if await run.status() is status:
                return
            await watch.wait()
        finally:
            watch.close()
