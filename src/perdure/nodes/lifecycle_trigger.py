"""lifecycle-trigger: fires a trigger of a business object that lives through a lifecycle.

Lifecycles come with a later release. Until then a flow with such a node is refused when it is saved, with
LIFECYCLE_UNAVAILABLE; its configuration is checked all the same.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from perdure.model.failures import Failure
from perdure.nodes.config import NodeConfig, TemplateText, TemplateValue
from perdure.programs.flow.nodetypes import Directive, NodeType, Plan, Refuse


class LifecycleTriggerConfig(NodeConfig):
    definition: TemplateText = Field(
        max_length=256, title="Lifecycle", description="The id of its definition.", examples=["order"]
    )
    instance: TemplateText = Field(
        max_length=256, title="Instance", description="Which business object.", examples=["{{data.order}}"]
    )
    trigger: TemplateText = Field(
        max_length=256, title="Trigger", description="The name of the trigger.", examples=["pay"]
    )
    payload: TemplateValue = Field(
        None, title="Payload", description="Handed to the transition.", examples=[{"amount": "${data.amount}"}]
    )


def prepare(config: LifecycleTriggerConfig) -> Any:
    return None


def plan(prepared: Any, moment: Plan) -> Directive:
    return Refuse(Failure("LIFECYCLE_UNAVAILABLE", "this release has no lifecycles"))


TYPE = NodeType(
    name="lifecycle-trigger",
    title="Lifecycle trigger",
    description="Fires a trigger of a business object. Lifecycles come with a later release.",
    config=LifecycleTriggerConfig,
    prepare=prepare,
    plan=plan,
    needs="lifecycles",
    group="Messages",
    icon="rocket",
    examples=({"definition": "order", "instance": "{{data.order}}", "trigger": "pay"},),
)
