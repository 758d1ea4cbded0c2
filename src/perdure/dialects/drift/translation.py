"""A workflow as a flow: one token walks from state to state.

Every state becomes one node, every join is `any`, so circles are legal. Which place of the workflow each part of the
flow comes from is kept, so that problems point there.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

from perdure.dialects.drift import words
from perdure.dialects.drift.nodes import Made, made_of
from perdure.dialects.drift.sheet import Sheet, State
from perdure.model.documents import ID_PATTERN
from perdure.model.problems import pointed

_ID = re.compile(ID_PATTERN)
NEXT = "next"
"""The outcome of a node whose code may name another state, where it names none."""

CAUSE = {name: f"${{_global?.error?.{name} ?? null}}" for name in ("code", "message", "node")}
"""What led to the failure node, kept with the failure that the run ends with."""


class Translated:
    """The flow document, and where its parts come from."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.ids = node_ids(sheet)
        self.keys = {id: key for key, id in self.ids.items()}
        self.start = self._free("start")
        self.places: dict[str, str] = {}
        """Pointers into the flow → pointers into the workflow."""
        self.nodes: list[dict[str, Any]] = [{"id": self.start, "type": "start"}]
        self.edges: list[dict[str, Any]] = []
        self._has_child = False
        """The first state that starts a child gives it the id that Drift does; each further one an id of its own."""
        for state in sheet.states.values():
            self._add(state)
        if sheet.start is not None:
            self.edges.insert(0, {"source": self.start, "target": self.ids[sheet.start.key]})

    def document(self) -> dict[str, Any]:
        sheet = self.sheet
        settings: dict[str, Any] = {"missing": "lenient", "after": [self.ids[key] for key in sheet.after]}
        if sheet.on_failure is not None:
            settings["on_failure"] = self.ids[sheet.on_failure.key]
        return {"nodes": self.nodes, "edges": self.edges, "settings": settings}

    def origin(self, pointer: str) -> str | None:
        """Where in the workflow the part of the flow at the pointer comes from."""
        rest = ""
        at = pointer
        while at:
            if at in self.places:
                return self.places[at] + ("" if rest.startswith("/config") else rest)
            at, _, last = at.rpartition("/")
            rest = f"/{last}{rest}"
        return None

    def _add(self, state: State) -> None:
        made = made_of(state, self.ids)
        if made is None:
            return
        if "instruction" in made.config:
            made.config |= asked_at(self.sheet, made.config["instruction"])
        if made.type == "sub-flow":
            if self._has_child:
                made.config["input"]["workflowId"] += f"-{self.ids[state.key]}"
            self._has_child = True
        if made.type == "fail" and state is self.sheet.on_failure:
            made.config["details"]["cause"] = CAUSE
        place = pointed("/nodes", len(self.nodes))
        node: dict[str, Any] = {"id": self.ids[state.key], "type": made.type, "config": made.config, "join": "any"}
        if self.sheet.is_on_demand(state) and not self.sheet.is_doubtful:
            node["on_demand"] = True
        self.nodes.append(node)
        self.places[place] = state.pointer
        for inside, origin in made.places.items():
            self.places[f"{place}/config{inside}"] = origin
        if state.key in self.sheet.reached:
            self._lead_on(state, made)

    def _lead_on(self, state: State, made: Made) -> None:
        source, sheet = self.ids[state.key], self.sheet
        following = sheet.find(state.next)
        if state.type == words.BRANCH:
            for target in dict.fromkeys(each.key for each in sheet.followers(state)):
                self._edge(source, target, self.ids[target])
            return
        if state.chooses_freely and following is not None:
            for key in sheet.states:
                self._edge(source, key, self.ids[key])
            self._edge(source, following.key, NEXT)
        elif following is not None:
            self._edge(source, following.key, made.outcome)

    def _edge(self, source: str, target: str, outcome: str | None) -> None:
        edge = {"source": source, "target": self.ids[target]}
        self.edges.append({**edge, "outcome": outcome} if outcome is not None else edge)

    def _free(self, name: str) -> str:
        """A name that no state has."""
        taken = {id.lower() for id in self.ids.values()}
        while name.lower() in taken:
            name += "-"
        return name


def node_ids(sheet: Sheet) -> dict[str, str]:
    """A node is called like its state where that can be; names that differ in case only are told apart by a hash."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for key in sheet.states:
        id = key
        if not _ID.match(key) or key.lower() in taken:
            cleaned = re.sub(r"[^A-Za-z0-9._-]", "_", key)[:100].lstrip("._-")
            mark = hashlib.blake2b(key.encode(errors="surrogatepass"), digest_size=5).hexdigest()
            id = f"{cleaned or 'state'}-{mark}"
        taken.add(id.lower())
        found[key] = id
    return found


def asked_at(sheet: Sheet, reference: Any) -> dict[str, Any]:
    """The state that an `instructionNodeRef` means, and how many widgets it shows: a number, or where their list is."""
    for state in sheet.states.values():
        named = (state.key, state.raw.get("instanceName"), (state.definition or {}).get("id"))
        if state.type == words.INSTRUCTION and reference in named:
            options = (state.definition or {}).get("inputOptions")
            options = options if isinstance(options, list) else [None]
            first = options[0] if options else None
            path = first.get("possibleDynamicValues") if isinstance(first, dict) else None
            shown = f"${{_global?.{path} ?? []}}" if isinstance(path, str) and path else len(options)
            return {"instruction": state.raw.get("instanceName") or state.key, "shown": shown}
    return {}
