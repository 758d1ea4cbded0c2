"""loop-accumulator: a loop whose body reads the results so far."""

from __future__ import annotations

from perdure.nodes import loops
from perdure.programs.flow.nodetypes import NodeType

TYPE = NodeType(
    name="loop-accumulator",
    title="Loop with accumulator",
    description="A loop whose body reads the results so far as `accumulated`. Output: `count` and `results`.",
    config=loops.AccumulatorConfig,
    prepare=loops.prepare,
    plan=loops.plan,
    loop=loops.options,
    beside=False,
    group="Flow",
    icon="list-plus",
    examples=({"items": "data.users", "accumulator": "sums"},),
)
