"""group: several nodes as one. Its body runs once, in a scope of its own.

What is said of the group holds for all of it: a `mutex` makes it a critical section, a race or `cancels` withdraws it
as a whole, an `error` edge catches whatever fails inside.
"""

from __future__ import annotations

from perdure.nodes.config import NodeConfig
from perdure.programs.flow.nodetypes import Directive, Iterate, LoopOptions, NodeType, Plan


class GroupConfig(NodeConfig):
    """Nothing to configure. The body is the nodes whose `parent` is the group."""


def plan(_: GroupConfig, moment: Plan) -> Directive:
    return Iterate(items=[moment.input])


TYPE = NodeType(
    name="group",
    title="Group",
    description="Runs the nodes of its body once, as one node. Input and output are those of the body.",
    config=GroupConfig,
    prepare=lambda config: config,
    plan=plan,
    loop=lambda config: LoopOptions(item="", index="", accumulate="last", once=True),
    beside=False,
    group="Flow",
    icon="box-select",
)
