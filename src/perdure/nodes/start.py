"""start: where a run begins. Its output is what the run was started with."""

from __future__ import annotations

from perdure.nodes.config import NodeConfig
from perdure.programs.flow.nodetypes import Directive, Done, NodeType, Plan


class StartConfig(NodeConfig):
    """Nothing to configure. When a flow is started is said by its `schedule`, its web hooks and its callers."""


def plan(_: StartConfig, moment: Plan) -> Directive:
    return Done()


TYPE = NodeType(
    name="start",
    title="Start",
    description="Where a run begins. Its output is the run's input. A flow has exactly one.",
    config=StartConfig,
    prepare=lambda config: config,
    plan=plan,
    is_start=True,
    group="Flow",
    icon="play",
)
