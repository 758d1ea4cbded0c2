"""loop: runs its body once per item."""

from __future__ import annotations

from perdure.nodes import loops
from perdure.programs.flow.nodetypes import NodeType

TYPE = NodeType(
    name="loop",
    title="Loop",
    description="Runs the nodes of its body once per item of a list. Output: `count` and `results`.",
    config=loops.LoopConfig,
    prepare=loops.prepare,
    plan=loops.plan,
    loop=loops.options,
    beside=False,
    group="Flow",
    icon="repeat",
    examples=(
        {"items": "data.users", "item": "user"},
        {"range": {"stop": 10}, "concurrency": 3},
    ),
)
