"""A workflow document as far as it can be made out: its states, and which leads to which."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from perdure.dialects.drift import words
from perdure.dialects.drift.details import detail
from perdure.dialects.drift.node_definitions import attribute_in, version_of
from perdure.model.problems import pointed

_COMPLETED = re.compile(r"\s*(?:return\s*)?['\"]?COMPLETED['\"]?\s*;?\s*")


class Way(NamedTuple):
    """One reference from a state to another."""

    pointer: str
    target: Any
    kind: str
    """next, choice or default."""


class State:
    """An entry of `states`."""

    __slots__ = ("definition", "key", "linked", "place", "pointer", "raw", "type")

    def __init__(self, key: str, raw: dict[str, Any]) -> None:
        self.key = key
        self.raw = raw
        self.pointer = pointed("/states", key)
        given = raw.get("nodeDefinition")
        self.definition: dict[str, Any] | None = given if isinstance(given, dict) else None
        self.linked: str | None = raw.get(words.LINKED) if self.definition is not None else None
        self.place = pointed(self.pointer, "resourceId" if self.linked else "nodeDefinition")
        """Where problems of the definition are told."""
        kind = self.definition.get("type") if self.definition is not None else None
        self.type: str | None = kind if isinstance(kind, str) and kind in words.FIELDS_BY_TYPE else None

    @property
    def is_workflow(self) -> bool:
        return self.raw.get("type") == words.SUBWORKFLOW

    @property
    def name(self) -> str:
        """Under which its output is kept."""
        for field in ("contextOverrideKey", "instanceName"):
            if isinstance(self.raw.get(field), str) and self.raw[field]:
                return str(self.raw[field])
        return self.key

    @property
    def is_end(self) -> bool:
        """It says so, or is one by its type; or it is an INSTRUCTION that says that the run has completed with it."""
        if self.raw.get("end") is True or self.type in (words.SUCCESS, words.FAILURE):
            return True
        return self.type == words.INSTRUCTION and _COMPLETED.fullmatch(self._status()) is not None

    def _status(self) -> str:
        value, place = attribute_in(self.definition or {}, "workflowStatus", "")
        found = detail(value, place)
        return found.script if found.script is not None else str(found.value)

    @property
    def next(self) -> str | None:
        """The state behind it; None at an end."""
        following = self.raw.get("nextNode")
        if self.is_end:
            return None
        return following if isinstance(following, str) and following else None

    @property
    def parameters(self) -> dict[str, Any]:
        given = self.raw.get("parameters")
        return given if isinstance(given, dict) else {}

    def inside(self, *steps: str | int) -> str:
        """A place in its definition."""
        return self.place if self.linked else pointed(self.place, *steps)

    def ways(self) -> Iterator[Way]:
        """Every state that it names, whether that exists or not."""
        following = self.raw.get("nextNode")
        if following is not None and following != "":
            yield Way(pointed(self.pointer, "nextNode"), following, "next")
        if self.type != words.BRANCH or self.definition is None:
            return
        choices = self.definition.get("choices")
        for number, choice in enumerate(choices if isinstance(choices, list) else ()):
            if isinstance(choice, dict) and choice.get("nextNode"):
                yield Way(self.inside("choices", number, "nextNode"), choice["nextNode"], "choice")
        if self.definition.get("defaultNode"):
            yield Way(self.inside("defaultNode"), self.definition["defaultNode"], "default")

    @property
    def chooses_freely(self) -> bool:
        """Whether its code names the state that follows."""
        if self.definition is None:
            return False
        return self.type == words.PROCESSOR or (self.type == words.BRANCH and "choices" not in self.definition)

    @property
    def asks_somebody(self) -> bool:
        """Whether somebody outside has to do something before it goes on."""
        if self.type == words.WAIT and self.definition is not None:
            config = self.definition.get("config")
            return isinstance(config, dict) and config.get("waitType") == words.ON_EVENT
        return self.type == words.INSTRUCTION


class Sheet:
    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        states = document.get("states")
        self.states: dict[str, State] = {
            key: State(key, raw)
            for key, raw in (states if isinstance(states, dict) else {}).items()
            if isinstance(key, str) and isinstance(raw, dict)
        }
        self.start = self._named("startNode")
        self.on_failure = self._named("defaultFailureNode")
        after = document.get("postWorkflowCompletionNodes")
        self.after = [key for key in (after if isinstance(after, list) else ()) if self.find(key) is not None]
        self.is_doubtful = any(state.type is None and not state.is_workflow for state in self.states.values())
        """Some definition is not here, or is none: there is no telling where its state leads."""
        self.reached = self._reached()
        self.pointed_to = {
            way.target for state in self.states.values() for way in state.ways() if isinstance(way.target, str)
        }

    def find(self, key: Any) -> State | None:
        return self.states.get(key) if isinstance(key, str) else None

    def _named(self, field: str) -> State | None:
        return self.find(self.document.get(field))

    def followers(self, state: State) -> list[State]:
        """Where the token may go from here. A state that is an end leads nowhere; a BRANCH only where it says."""
        if state.is_end:
            return []
        if state.chooses_freely:
            return list(self.states.values())
        ways = list(state.ways())
        if state.type == words.BRANCH:
            ways = [way for way in ways if way.kind != "next"]
        return [found for way in ways if (found := self.find(way.target)) is not None]

    def _reached(self) -> set[str]:
        """What a token can come to, from the start or from a failure."""
        todo = [state for state in (self.start, self.on_failure) if state is not None]
        found = {state.key for state in todo}
        while todo:
            for following in self.followers(todo.pop()):
                if following.key not in found:
                    found.add(following.key)
                    todo.append(following)
        return found

    def is_on_demand(self, state: State) -> bool:
        """A state that nothing leads to: executed when somebody asks for it."""
        return state.key not in self.reached and state.key not in self.pointed_to and state.key not in self.after

    def leading_to_an_end(self) -> set[str]:
        """States from which some way ends the run, or passes somebody outside who can end it."""
        ends = [state for state in self.states.values() if not self.followers(state)]
        ends += [state for state in self.states.values() if state.chooses_freely]
        before: dict[str, list[State]] = {}
        for state in self.states.values():
            for following in self.followers(state):
                before.setdefault(following.key, []).append(state)
        found = {state.key for state in ends}
        while ends:
            for state in before.get(ends.pop().key, ()):
                if state.key not in found:
                    found.add(state.key)
                    ends.append(state)
        return found


def resource_version(state: State) -> int | str | None:
    """Which version of its resource a state asks for; None: none that there can be."""
    given = state.raw.get("resourceVersion")
    return "LATEST" if given in (None, "") else version_of(given)
