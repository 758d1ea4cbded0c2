"""What travels between Temporal and us: plain JSON, readable in Temporal's own tools.

Temporal's default converter sorts the keys of objects. A flow can see their order, so ours keeps it.
"""

from __future__ import annotations

from typing import Any

import msgspec
from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    BinaryNullPayloadConverter,
    CompositePayloadConverter,
    DataConverter,
    EncodingPayloadConverter,
)

from perdure.kernel.state import RunState
from perdure.model.commands import Start
from perdure.model.values import Json, decode_json, encode_json
from perdure.programs.flow.program import FlowProgram

FLOW = "perdure.flow"
EXECUTE_NODE = "perdure.execute_node"
FIND_DEFINITION = "perdure.find_definition"


class FlowStart(msgspec.Struct, frozen=True):
    """The argument of the workflow."""

    run: str
    """The run's id, which is also the workflow's."""
    document: Json
    """With all stored parts in it."""
    command: Start
    kind: str = "flow"
    """Of which dialect the document is."""
    lookups: dict[str, Any] | None = None


class NodeCall(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One attempt of one activation, for its handler. The names are those of the engine's context."""

    type: str
    """Which handler."""
    run_id: str
    definition: str
    node_id: str
    activation_id: int
    attempt: int
    key: str
    """Give it to the outside world: the same for every attempt."""
    config: Json = None
    input: Json = None
    bindings: dict[str, Any] | None = None
    vars: dict[str, Any] = {}
    thread: dict[str, Any] | None = None
    timeout: int | None = None
    """Microseconds."""


def call_of(program: FlowProgram, state: RunState, id: int) -> NodeCall:
    activation = state.activations[id]
    work = program.work(state, activation)
    return NodeCall(
        type=work.type,
        run_id=state.run,
        definition=state.definition,
        node_id=activation.node,
        activation_id=id,
        attempt=activation.attempt,
        key=state.activation_key(activation),
        config=work.config,
        input=activation.input,
        bindings=work.bindings,
        vars=program.shared_data(state),
        thread=state.thread,
        timeout=work.timeout,
    )


class Found(msgspec.Struct, frozen=True):
    """A published version of a definition."""

    definition: str
    version: int
    hash: str
    document: Json
    kind: str = "flow"
    pins: dict[str, int] | None = None
    lookups: dict[str, Any] | None = None


class JsonPayloads(EncodingPayloadConverter):
    @property
    def encoding(self) -> str:
        return "json/plain"

    def to_payload(self, value: Any) -> Payload:
        return Payload(metadata={"encoding": self.encoding.encode()}, data=encode_json(value))

    def from_payload(self, payload: Payload, type_hint: Any = None) -> Any:
        return decode_json(payload.data) if type_hint is None else msgspec.json.decode(payload.data, type=type_hint)


class PerdurePayloads(CompositePayloadConverter):
    def __init__(self) -> None:
        super().__init__(BinaryNullPayloadConverter(), JsonPayloads())


DATA_CONVERTER = DataConverter(payload_converter_class=PerdurePayloads)
"""Clients, workers and replayers must all be made with it."""
