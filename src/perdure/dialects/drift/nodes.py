"""Each type of Drift's nodes as one of ours, with the places where its parts stand."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from perdure.dialects.drift import words
from perdure.dialects.drift.details import Detail, detail, language_of
from perdure.dialects.drift.node_definitions import (
    attribute_in,
    processor_in,
    rule_in,
    transformer_in,
    version_of,
)
from perdure.dialects.drift.sheet import State, resource_version
from perdure.model.problems import pointed

INHERITED = ("incidentId", "issueDetail", "customer", "orderDetails", "threadContext")
"""What a child workflow gets of its parent's context."""
PERF = "(_thread?.perfFlag ?? '') in ['true', true]"


class Made(msgspec.Struct):
    type: str
    config: dict[str, Any]
    places: dict[str, str] = {}
    """Pointers into the configuration → pointers into the workflow."""
    outcome: str | None = None
    """With which its edge is taken, where it has others too."""

    def put(self, field: str, found: Detail) -> None:
        self.config[field] = found.written()
        self.places[f"/{field}/script" if found.is_script else f"/{field}"] = found.pointer


def made_of(state: State, ids: Mapping[str, str]) -> Made | None:
    """None: there is no telling yet, its definition is not here."""
    if state.is_workflow:
        return _workflow(state)
    if state.definition is None or state.type is None:
        return None
    return _MAKERS[state.type](state, state.definition, ids)


def _http(state: State, definition: dict[str, Any], ids: Mapping[str, str]) -> Made:
    parts, place = definition.get("httpComponents"), state.inside("httpComponents")
    parts = parts if isinstance(parts, dict) else {}
    config: dict[str, Any] = {"method": parts.get("method") or "GET", "output": "body", "emptyBody": {}}
    made = Made("http", config, {"/method": pointed(place, "method")})
    for field, ours in (("contentType", "contentType"), ("targetClientId", "auth")):
        if isinstance(parts.get(field), str) and parts[field]:
            config[ours] = parts[field]
            made.places[f"/{ours}"] = pointed(place, field)
    for field, ours in (("url", "url"), ("headers", "headers"), ("queryParams", "query"), ("body", "body")):
        found = detail(parts.get(field), pointed(place, field), structured=field != "body")
        if found.is_script or found.value not in (None, ""):
            made.put(ours, found)
    _transform(made, state, definition)
    return made


def _transform(made: Made, state: State, definition: dict[str, Any]) -> None:
    found = _script_in(state, definition)
    if found is not None:
        made.put("transformer", found)


def _script_in(state: State, definition: dict[str, Any]) -> Detail | None:
    found = transformer_in(definition, state.inside())
    if found is not None:
        return detail(*found)
    if isinstance(definition.get("script"), str):
        return Detail(state.inside("script"), script=definition["script"], language=language_of(definition))
    return None


def _script(state: State, definition: dict[str, Any], ids: Mapping[str, str]) -> Made:
    found = _script_in(state, definition) or Detail(state.inside(), script="")
    return Made("script", {"script": found.script or "", "language": found.language}, {"/script": found.pointer})


def _branch(state: State, definition: dict[str, Any], ids: Mapping[str, str]) -> Made:
    made = Made("branch", {})
    choices = definition.get("choices")
    if not isinstance(choices, list):
        found = _script_in(state, definition)
        if found is not None:
            made.config |= {"script": found.script, "language": found.language}
            made.places["/script"] = found.pointer
        made.config["ways"] = list(ids.values())
    else:
        made.config["choices"] = []
        for number, choice in enumerate(choices):
            if isinstance(choice, dict) and _is_state(choice.get("nextNode"), ids):
                _choice(made, state, choice, number, ids)
    if _is_state(definition.get("defaultNode"), ids):
        made.config["default"] = ids[definition["defaultNode"]]
    return made


def _is_state(key: Any, ids: Mapping[str, str]) -> bool:
    return isinstance(key, str) and key in ids


def _choice(made: Made, state: State, choice: dict[str, Any], number: int, ids: Mapping[str, str]) -> None:
    rule = rule_in(choice, state.inside("choices", number))
    if rule is None:
        return
    value, place = rule
    if isinstance(value, str) and "expression" not in choice:
        found = Detail(place, script=value, language=language_of(choice))
    else:
        found = detail(value, place)
    at = f"/choices/{len(made.config['choices'])}"
    rule_of = found.written() if found.is_script else {"when": found.value}
    made.config["choices"].append({**rule_of, "next": ids[choice["nextNode"]]})
    made.places[f"{at}/script" if found.is_script else f"{at}/when"] = found.pointer


def _instruction(state: State, definition: dict[str, Any], ids: Mapping[str, str]) -> Made:
    options = definition.get("inputOptions")
    made = Made("instruction", {})
    if isinstance(options, list):
        made.config["inputOptions"] = [
            {"id": f"{state.key}-{number}", **option} if isinstance(option, dict) else option
            for number, option in enumerate(options)
        ]
        made.places["/inputOptions"] = state.inside("inputOptions")
    else:
        made.config["inputOptions"] = shown(definition.get("instruction"), state.key)
        made.places["/inputOptions"] = state.inside("instruction")
    for field in ("disposition", "workflowStatus", "layoutId"):
        if definition.get(field) is not None:
            made.put(field, detail(*attribute_in(definition, field, state.inside())))
    if state.is_end:
        made.config["wait"] = False
    return made


def shown(instruction: Any, key: str) -> Any:
    """The seed's `instruction`: a text, one option or several."""
    if isinstance(instruction, str):
        return [{"id": key, "description": instruction, "tags": {"values": ["ui.static_text"]}}]
    if isinstance(instruction, dict):
        inside = instruction.get("inputOptions")
        return inside if isinstance(inside, list) else [{"id": key, **instruction}]
    return instruction


def _processor(state: State, definition: dict[str, Any], ids: Mapping[str, str]) -> Made:
    made = Made("processor", {"ways": list(ids.values())}, outcome="next")
    parts, place = definition.get("processorComponents"), state.inside("processorComponents")
    if isinstance(parts, dict) and processor_in(parts) is not None:
        made.config["processor"] = processor_in(parts)
        if parts.get("params") is not None:
            made.put("params", detail(parts["params"], pointed(place, "params"), structured=True))
        given = made.config.get("params", {})
        if state.parameters and isinstance(given, dict) and "script" not in given:
            of_state = {name: f"${{_global.nodeParameters[{json.dumps(name)}]}}" for name in state.parameters}
            made.config["params"] = {**of_state, **given}
    else:
        made.config["instruction"] = definition.get("instructionNodeRef")
        made.places["/instruction"] = state.inside("instructionNodeRef")
    _transform(made, state, definition)
    return made


def _success(state: State, definition: dict[str, Any], ids: Mapping[str, str]) -> Made:
    output: dict[str, Any] = {}
    made = Made("end", {"output": output, "terminate": True})
    for field in ("comment", "message", "status"):
        if definition.get(field) is not None:
            output[field] = definition[field]
            made.places[f"/output/{field}"] = state.inside(field)
    if definition.get("executionMode") not in (None, words.SYNC):
        output.setdefault("status", "ASYNC_COMPLETE")
    return made


def _failure(state: State, definition: dict[str, Any], ids: Mapping[str, str]) -> Made:
    text = next((definition[field] for field in ("error", "message") if definition.get(field)), None)
    code = definition.get("errorCode") or "FAILURE_NODE"
    message = text if text is not None else f"the workflow failed at {state.key}"
    details = {"error": message}
    field = next((field for field in ("error", "message") if definition.get(field)), "errorCode")
    config = {"code": code, "message": message, "details": details, "terminate": True}
    return Made("fail", config, {"/message": state.inside(field), "/code": state.inside("errorCode")})


def _wait(state: State, definition: dict[str, Any], ids: Mapping[str, str]) -> Made:
    config, place = definition.get("config"), state.inside("config")
    config = config if isinstance(config, dict) else {}
    match config.get("waitType"):
        case words.ABSOLUTE_WAIT:
            return Made("sleep", {"until": config.get("timestamp")}, {"/until": pointed(place, "timestamp")})
        case words.ON_EVENT:
            name = config.get("eventName") or config.get("event") or state.key
            return Made("wait-for-signal", {"name": name}, {"/name": pointed(place, "eventName")})
        case _:
            duration = f"${{{PERF} ? 0 : {config.get('duration')}}}"
            return Made("sleep", {"duration": duration}, {"/duration": pointed(place, "duration")})


def _child(state: State, definition: dict[str, Any], ids: Mapping[str, str]) -> Made:
    version = definition.get("childWorkflowVersion")
    waits = definition.get("executionMode") == words.SYNC
    made = _call(definition.get("childWorkflowId"), None if version is None else version_of(version), waits)
    made.places = {"/definition": state.inside("childWorkflowId"), "/version": state.inside("childWorkflowVersion")}
    return made


def _workflow(state: State) -> Made:
    version = resource_version(state) if state.raw.get("resourceVersion") else None
    made = _call(state.raw.get("resourceId"), version, True)
    made.places = {
        "/definition": pointed(state.pointer, "resourceId"),
        "/version": pointed(state.pointer, "resourceVersion"),
    }
    return made


def _call(definition: Any, version: int | str | None, waits: bool) -> Made:
    params = {"workflowId": definition, "version": "ACTIVE" if version is None else str(version)}
    input: dict[str, Any] = {name: f"${{_global?.{name} ?? null}}" for name in INHERITED}
    input["workflowId"] = "CH-${_global.workflowId}"
    input["parentWorkflowId"] = "${_global.workflowId}"
    input["params"] = f"${{merge(_global.nodeParameters, {json.dumps(params)})}}"
    config: dict[str, Any] = {"definition": definition, "input": input, "wait": waits, "on_parent_close": "abandon"}
    if version not in (None, "ACTIVE"):
        config["version"] = version
    if waits:
        config["on_parent_close"] = "cancel"
    return Made("sub-flow", config)


def _delegate(state: State, definition: dict[str, Any], ids: Mapping[str, str]) -> Made:
    return Made("json", {"data": {"status": "DELEGATED"}})


_MAKERS: dict[str, Callable[[State, dict[str, Any], Mapping[str, str]], Made]] = {
    words.HTTP: _http,
    words.GROOVY: _script,
    words.BRANCH: _branch,
    words.INSTRUCTION: _instruction,
    words.PROCESSOR: _processor,
    words.SUCCESS: _success,
    words.FAILURE: _failure,
    words.WAIT: _wait,
    words.CHILD: _child,
    words.CONTEXT_OVERRIDE: _script,
    words.DELEGATE: _delegate,
}
