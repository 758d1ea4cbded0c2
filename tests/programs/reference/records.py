"""What the reference interpreter keeps: activations, scopes, what can be undone. Plain records, no behaviour."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

Json = Any


@dataclass(eq=False)
class Scope:
    """The flow itself, or one iteration of a loop."""

    path: tuple[str, ...] = ()
    parent: Scope | None = None
    loop: Act | None = None
    index: int = 0
    tokens: dict[int, list[tuple[bool, Json]]] = field(default_factory=dict)
    """By number of the edge: all tokens that ever came over it."""
    fired: dict[str, set[int]] = field(default_factory=dict)
    """Rounds of a join that have been decided."""
    merges: dict[str, set[bool]] = field(default_factory=dict)
    """Joins that take any token: whether live and dead ones have come."""
    visits: Counter[str] = field(default_factory=Counter)
    outputs: dict[str, Json] = field(default_factory=dict)
    closed: set[frozenset[str]] = field(default_factory=set)
    result: Json = None
    has_end: bool = False
    failure: dict[str, Any] | None = None
    """It is being given up for this."""

    def chain(self) -> list[Scope]:
        return [self] + (self.parent.chain() if self.parent is not None else [])


@dataclass(eq=False)
class Act:
    """A live activation."""

    node: str
    scope: Scope
    visit: int
    input: Json
    turn: int
    phase: str = "executing"
    attempt: int = 1
    due: int | None = None
    armed: int = 0
    output: Json = None
    signal: str | None = None
    generation: int = 0
    withdrawn: bool = False
    undoes: Undo | None = None
    is_beside: bool = False
    loop: Loop | None = None

    def key(self) -> str:
        if self.undoes is not None:
            return f"{self.undoes.key}/undo"
        key = "/".join(["r", self.node, *self.scope.path, str(self.visit)])
        return f"{key}~{self.generation}" if self.generation else key


@dataclass(eq=False)
class Loop:
    items: list[Json]
    concurrency: int
    on: str
    need: int | None
    begun: int = 0
    running: list[Scope] = field(default_factory=list)
    results: dict[int, tuple[bool, Json]] = field(default_factory=dict)
    count: int = 0
    failed: int = 0
    ending: str | None = None
    """`failure`, `taken back` or `enough`, once it is being given up."""
    failure: dict[str, Any] | None = None


@dataclass(eq=False)
class Undo:
    key: str
    handler: str
    scope: Scope
    on_cancel: bool


@dataclass(eq=False)
class Entry:
    """A node whose join is satisfied (or dead), waiting for its turn."""

    node: str
    scope: Scope
    live: bool
    value: Json = None
