"""The run's context as Drift's scripts, paths and templates read it.

`_global` is what the run was started with (incidentId, workflowId, issueDetail, customer, orderDetails, threadContext,
params), `global_params`, the outputs by name, `<name>:viewResponse` and `<name>:httpResponse`, and `nodeParameters`,
which are worked out anew for every node. In templates its members can also be read without `_global.` before them.
A run that was started with an input that has no `params` has that input for its params.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import UNSET

from perdure.dialects.drift import paths
from perdure.kernel.state import ROOT, RunState
from perdure.model.times import iso
from perdure.model.values import Json
from perdure.programs.flow.environment import Sight, selected

GLOBAL, THREAD, METADATA = "_global", "_thread", "_metadata"
PARAMETERS = "nodeParameters"
START = ""
"""The name under which the output of the start is kept: none that a document can have."""
EVERYTHING = ((GLOBAL,),)
RESPONSE = ":httpResponse"
ATTACHED = (":viewResponse", RESPONSE)
"""Ends of the names under which something is kept beside the output of a node."""

Reader = Callable[[Sight], Json]


class Names(Mapping[str, Reader]):
    """The names of one workflow. Any name may be a member of the context."""

    def __init__(
        self, keys: Mapping[str, str], names: Mapping[str, str], parameters: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self.keys_of = keys
        """The state of each node, by its id."""
        self._renamed = {name: id for id, name in names.items() if name != id}
        """Nodes that are not called like what they leave in the context."""
        self._parameters = parameters
        """Of each node that has any."""
        self._own: dict[str, Reader] = {GLOBAL: self._global, THREAD: _thread, METADATA: self._metadata}

    def __getitem__(self, name: str) -> Reader:
        if name in self._own:
            return self._own[name]
        if name.startswith("_"):
            raise KeyError(name)
        return lambda sight: self._context(sight, frozenset({name})).get(name, UNSET)

    def __iter__(self) -> Iterator[str]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)

    def id_of(self, key: str) -> str:
        """The node of a state."""
        return next((id for id, state in self.keys_of.items() if state == key), key)

    def whole(self, sight: Sight) -> dict[str, Any]:
        return self._context(sight, None)

    def _global(self, sight: Sight) -> Json:
        reads = [read for read in sight.reads if read[0] == GLOBAL]
        return self._context(sight, None if any(len(read) == 1 for read in reads) else _keys(reads))

    def _context(self, sight: Sight, keys: frozenset[str] | None) -> dict[str, Any]:
        """As much of the context as is asked for; None: all of it."""
        found = {**selected(sight.state.body, sight.scope), **_begun_with(sight)}
        if keys is None or "error" in keys:
            found = {**_error(sight), **found}
        reads = EVERYTHING if keys is None else [(GLOBAL, self._kept_as(key)) for key in keys]
        found |= sight._replace(reads=reads).outputs(GLOBAL)
        found.pop(START, None)
        for name, id in self._renamed.items():
            for end in ATTACHED:
                if f"{id}{end}" in found:
                    found[f"{name}{end}"] = found.pop(f"{id}{end}")
        for key in [key for key in found if key.endswith(RESPONSE)]:
            found[key] = _as_response(found[key])
        if keys is None or PARAMETERS in keys:
            found[PARAMETERS] = self._of_node(sight)
        return found

    def _kept_as(self, key: str) -> str:
        name, colon, end = key.partition(":")
        return f"{self._renamed.get(name, name)}{colon}{end}" if colon else key

    def _of_node(self, sight: Sight) -> dict[str, Any]:
        given = self._parameters.get(sight.node.id, {}) if sight.node is not None else {}
        return {name: self._at(value, sight) if paths.is_path(value) else value for name, value in given.items()}

    def _at(self, path: str, sight: Sight) -> Json:
        names = paths.names_in(path)
        wanted = None if names is None else names - {PARAMETERS}
        return paths.value_at(path, self._context(sight._replace(node=None), wanted))

    def _metadata(self, sight: Sight) -> Json:
        state, trace = sight.state, [self.keys_of[id] for id in sight.state.body.trace if id in self.keys_of]
        here = self.keys_of.get(sight.node.id) if sight.node is not None else None
        return {
            "createdAt": iso(state.started_at),
            "lastUpdatedAt": iso(state.at),
            "currentNode": here or (trace[-1] if trace else None),
            "executedNodes": trace,
        }


def _as_response(value: Json) -> Json:
    """With the seed's names."""
    if not isinstance(value, dict) or "status_code" not in value:
        return value
    return {"statusCode": value["status_code"], "body": value.get("data"), **value}


def _keys(reads: list[tuple[str | int, ...]]) -> frozenset[str]:
    return frozenset(str(read[1]) for read in reads)


def _begun_with(sight: Sight) -> dict[str, Any]:
    state = sight.state
    given = state.input if isinstance(state.input, dict) else {}
    params = given.get("params", state.input)
    thread = _thread(sight)
    return {
        "workflowId": state.run,
        **given,
        "params": params,
        "threadContext": thread,
        "global_params": {"threadContext": thread, "params": params},
    }


def _thread(sight: Sight) -> Json:
    """Given beside the input, or in it."""
    given = sight.state.input
    inside = given.get("threadContext") if isinstance(given, dict) else None
    return {**(inside if isinstance(inside, dict) else {}), **(sight.state.thread or {})}


def _error(sight: Sight) -> dict[str, Any]:
    """What the failure node is told."""
    told = sight.data
    if (
        isinstance(told, dict)
        and told.keys() == {"error", "node", "input", "output"}
        and isinstance(told["error"], dict)
    ):
        return {"error": told["error"]}
    return {}


def context_of(program: Any, state: RunState) -> dict[str, Any]:
    """All of a run's context, as a script would read it now."""
    names = program.graph.naming
    assert isinstance(names, Names)
    return names.whole(Sight(state, state.body.scopes[ROOT], None, EVERYTHING, None))


def attributes(input: Json) -> dict[str, Any]:
    """What runs are found by."""
    if not isinstance(input, dict):
        return {}
    issue = input.get("issueDetail")
    named = {
        "workflowId": input.get("workflowId"),
        "incidentId": input.get("incidentId"),
        "issueId": issue.get("issueId") if isinstance(issue, dict) else None,
    }
    return {name: value for name, value in named.items() if isinstance(value, str) and 0 < len(value) <= 256}
