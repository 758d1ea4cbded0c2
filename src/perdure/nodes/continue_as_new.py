"""continue-as-new: the same run begins anew with new input and an empty state; for runs without an end.

It stays one run, and the [limits](../settings.md#limits) of a run count for all of it: what its nodes have executed
(`activations`) and the time that they took (`active_time`) is counted on. Only its data and its errors in a row are
counted anew. A run that is to go on for ever would come to LIMIT_ACTIVATIONS or LIMIT_ACTIVE_TIME some day: raise these
limits when it is started, or let its last step start a new run instead.
"""

from __future__ import annotations

from pydantic import Field

from perdure.expressions import Template
from perdure.nodes.config import NodeConfig, TemplateValue, input_or, template
from perdure.programs.flow.nodetypes import ContinueAsNew, Directive, NodeType, Plan


class ContinueAsNewConfig(NodeConfig):
    input: TemplateValue = Field(
        None,
        title="Input",
        description="What the run goes on with. Without it, what the node was given.",
        examples=[{"page": "${input.page + 1}"}],
    )


def prepare(config: ContinueAsNewConfig) -> Template | None:
    return template(config.input) if "input" in config.model_fields_set else None


def plan(input: Template | None, moment: Plan) -> Directive:
    return ContinueAsNew(input_or(input, moment))


TYPE = NodeType(
    name="continue-as-new",
    title="Continue as new",
    description="Begins the run anew with new input. Signals not yet consumed are kept; what else runs is withdrawn.",
    config=ContinueAsNewConfig,
    prepare=prepare,
    plan=plan,
    ends_run=True,
    beside=False,
    group="Flow",
    icon="refresh-cw",
    examples=({"input": {"page": "${input.page + 1}"}},),
)
