"""Recorded histories: how they are written once, read for ever, and what of a replayed state must never change.

A file holds the document, the log as it was stored, and a summary of the state that it led to. The summary is made of
what people and programs can see (keys, phases, outputs, timers, signals, results), not of how the state is built, so
that the state may be rebuilt without touching a recording.
"""

from __future__ import annotations

import base64
import zlib
from pathlib import Path
from typing import Any

import msgspec

from perdure.kernel.kernel import Kernel
from perdure.kernel.outlook import next_wake, outstanding, status_of
from perdure.kernel.program import SEMANTICS
from perdure.kernel.state import RunState
from perdure.model.codec import CODEC, Ref, decode_events, encode_events
from perdure.model.documents import FlowDocument
from perdure.model.values import digest
from perdure.programs.flow.graph import compile_flow
from perdure.programs.flow.program import FlowProgram
from tests.kernel.catalogue import CATALOGUE
from tests.kernel.rig import Rig

FOLDER = Path(__file__).parent
RELEASE = "0.1"

_pretty = msgspec.json.Encoder(order="sorted").encode


class StoredTurn(msgspec.Struct):
    at: int
    data: str
    refs: list[Ref] = []


class Recording(msgspec.Struct):
    name: str
    release: str
    codec: int
    semantics: int
    run: str
    document: dict[str, Any]
    turns: list[StoredTurn]
    blobs: dict[str, str]
    """By name: compressed, in base64."""
    summary: dict[str, Any]
    digest: str


def recordings() -> list[Path]:
    return sorted(FOLDER.glob("*/*.json"))


def read(path: Path) -> Recording:
    return msgspec.json.decode(path.read_bytes(), type=Recording)


def kernel_of(recording: Recording) -> Kernel:
    return Kernel(FlowProgram(compile_flow(FlowDocument.model_validate(recording.document), CATALOGUE)))


def replay(recording: Recording, kernel: Kernel) -> RunState:
    blobs = {name: zlib.decompress(base64.b64decode(text)) for name, text in recording.blobs.items()}
    state = kernel.new(recording.run)
    for turn in recording.turns:
        kernel.replay(state, decode_events(turn.data, recording.codec, turn.refs, blobs), turn.at)
    return state


def record(name: str, rig: Rig, document: FlowDocument) -> Recording:
    turns, blobs = [], {}
    for at, events in rig.log:
        stored = encode_events(events)
        turns.append(StoredTurn(at, stored.data.decode(), stored.refs))
        blobs |= {blob: base64.b64encode(zlib.compress(content, 9)).decode() for blob, content in stored.blobs.items()}
    summary = summary_of(rig.kernel, rig.state)
    shape = document.model_dump(mode="json", exclude_defaults=True)
    return Recording(name, RELEASE, CODEC, SEMANTICS, "r", shape, turns, blobs, summary, digest_of(summary))


def digest_of(summary: dict[str, Any]) -> str:
    return digest(_pretty(summary))


def summary_of(kernel: Kernel, state: RunState) -> dict[str, Any]:
    """What can be seen of a state from outside."""
    flow = state.body
    closing = state.closing
    seen = _pretty(
        {
            "status": status_of(kernel.program, state),
            "result": closing.output if closing else None,
            "failure": closing.failure if closing else None,
            "seq": state.seq,
            "at": state.at,
            "generation": state.generation,
            "input": state.input,
            "activeTime": state.active_total,
            "wake": next_wake(state),
            "outstanding": [f"{type(each).__name__} {each}" for each in outstanding(kernel.program, state)],
            "activations": [
                {
                    "key": state.activation_key(each),
                    "phase": each.phase,
                    "attempt": each.attempt,
                    "input": each.input,
                    "due": each.due,
                    "signal": each.signal,
                    "child": each.child,
                }
                for each in state.activations.values()
            ],
            "signals": [(each.name, each.payload) for each in state.signals.values()],
            "undo": [(entry.key, entry.handler) for scope in state.scopes.values() for entry in scope.undo],
            "attributes": state.attributes,
            "sideEffects": state.side_effects,
            "vars": flow.vars,
            "outputs": {state.scopes[scope.id].path: scope.outputs for scope in flow.scopes.values()},
            "data": state.data_bytes,
        }
    )
    return msgspec.json.decode(seen)
