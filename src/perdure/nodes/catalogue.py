"""The node types that come with Perdure, by name."""

from __future__ import annotations

from types import MappingProxyType

from perdure.nodes import (
    approval,
    branch,
    conditional,
    continue_as_new,
    delay,
    email,
    end,
    fail,
    group,
    http,
    instruction,
    json_array,
    json_to_csv,
    json_value,
    lifecycle_trigger,
    loop,
    loop_accumulator,
    map_items,
    merge,
    merge_data,
    processor,
    publish,
    python,
    rate_limit,
    script,
    set_vars,
    slack,
    sleep,
    start,
    sub_flow,
    switch,
    transform,
    wait_for_event,
    wait_for_signal,
    webhook_response,
)
from perdure.programs.flow.nodetypes import Catalogue, NodeType

_TYPES: tuple[NodeType, ...] = (
    start.TYPE,
    end.TYPE,
    conditional.TYPE,
    switch.TYPE,
    branch.TYPE,
    merge.TYPE,
    loop.TYPE,
    loop_accumulator.TYPE,
    map_items.TYPE,
    group.TYPE,
    sub_flow.TYPE,
    delay.TYPE,
    sleep.TYPE,
    wait_for_signal.TYPE,
    instruction.TYPE,
    approval.TYPE,
    wait_for_event.TYPE,
    rate_limit.TYPE,
    json_value.TYPE,
    json_array.TYPE,
    transform.TYPE,
    json_to_csv.TYPE,
    set_vars.TYPE,
    merge_data.TYPE,
    http.TYPE,
    python.TYPE,
    processor.TYPE,
    script.TYPE,
    publish.TYPE,
    webhook_response.TYPE,
    lifecycle_trigger.TYPE,
    email.TYPE,
    slack.TYPE,
    fail.TYPE,
    continue_as_new.TYPE,
)

CATALOGUE: Catalogue = MappingProxyType({each.name: each for each in _TYPES})
"""In the order in which an editor offers them."""


def builtin_types() -> dict[str, NodeType]:
    """A fresh dict, to which an embedding program may add types of its own."""
    return dict(CATALOGUE)
