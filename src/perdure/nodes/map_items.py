"""map: runs its body once per item, several at a time.

The body is the nodes whose `parent` is the map; each iteration sees its item and its number, and what its last node
gives is its result. Results come in the order of the items, whatever ends first. The same as a loop but for how many
run at once.
"""

from __future__ import annotations

from pydantic import Field

from perdure.nodes import loops
from perdure.programs.flow.nodetypes import NodeType

AT_ONCE = 10


class MapConfig(loops.LoopConfig):
    concurrency: int = Field(
        AT_ONCE,
        ge=1,
        le=loops.WIDEST,
        title="At a time",
        description="How many iterations may run at once.",
        examples=[50],
    )


TYPE = NodeType(
    name="map",
    title="Map",
    description="Runs the nodes of its body for many items at once. Output: `count` and `results`, in order.",
    config=MapConfig,
    prepare=loops.prepare,
    plan=loops.plan,
    loop=loops.options,
    beside=False,
    group="Flow",
    icon="layers",
    examples=({"items": "data.users", "concurrency": 20, "on_item_failure": "skip"},),
)
