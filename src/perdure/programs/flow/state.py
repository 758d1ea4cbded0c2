"""The flow program's part of a run's state: tokens, joins, scopes, loops, shared data. A tree, like the rest of it."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.model.events import Chunk
from perdure.model.failures import Failure
from perdure.model.values import Json


class Ready(msgspec.Struct, omit_defaults=True, gc=False):
    """A node whose join is satisfied and that no turn has taken up yet."""

    node: int
    scope: int = 0
    live: bool = True
    input: Json = None
    reason: str = "dead"
    """Why it will be skipped, if it is not live."""


class Generation(msgspec.Struct, omit_defaults=True, gc=False):
    """One round of arrivals at a join: at most one token per edge."""

    arrived: int = 0
    live: int = 0
    values: dict[int, Json] = {}
    """By place of the edge among the node's incoming ones."""
    fired: bool = False


class JoinState(msgspec.Struct, omit_defaults=True, gc=False):
    first: int = 0
    """Number of the oldest open generation."""
    counts: dict[int, int] = {}
    """Arrivals so far, by place of the edge."""
    open: list[Generation] = []
    alive: bool = False
    """`any`: has it ever been activated?"""
    dead: bool = False
    """`any`: has a dead token come?"""


class FlowScope(msgspec.Struct, omit_defaults=True, gc=False):
    id: int
    loop: int | None = None
    """Activation of the loop that this is an iteration of."""
    node: int | None = None
    """The loop's node; None is the root."""
    parent: int | None = None
    index: int = 0
    item: Json = None
    outputs: dict[str, Json] = {}
    selected: dict[str, Json] = {}
    """What people have selected here, by widget; `_global` reads it."""
    visits: dict[int, int] = {}
    joins: dict[int, JoinState] = {}
    moving: dict[int, int] = {}
    """By component: how many of its nodes are ready or active and will still send tokens."""
    total: int = 0
    """How many nodes are ready or alive. Those that were taken back and have not ended count here, not in `moving`."""
    entering: dict[int, int] = {}
    """By component: edges into it that may still bring a token; absent means all of them."""
    closed: dict[int, bool] = {}
    used: dict[int, bool] = {}
    """Edges out of cycles that have carried a token."""
    unfinished: int = 0
    """Components outside the failure node's reach that are still open."""
    begun: dict[int, int] = {}
    """How often a node that ends a milestone has begun …"""
    reached: dict[int, int] = {}
    """… and one that opens it has completed."""
    won: dict[str, list[int]] = {}
    """Races that have been decided: which visits, as far as a rival may still come."""
    layer_left: list[int] = []
    """How many nodes of each layer have not ended, where the flow goes on layer by layer …"""
    layer_done: dict[int, bool] = {}
    """… and those that have."""
    active: dict[int, bool] = {}
    """Activations that live here."""
    loops: dict[int, bool] = {}
    """Those of them that are loops; also those that have ended while something below them has not."""
    result: Json = None
    has_end: bool = False


class LoopState(msgspec.Struct, omit_defaults=True, gc=False):
    activation: int
    node: int
    scope: int
    total: int | None = None
    items: list[Any] | None = None
    numbers: tuple[int, int] | None = None
    chunks: list[Chunk] | None = None
    chunk: int = 0
    """How many chunks have been loaded."""
    concurrency: int = 1
    need: int | None = None
    buffer: list[Any] = []
    """The items of the chunk that was loaded last …"""
    buffer_first: int = 0
    """… and the index of the first of them."""
    next: int = 0
    running: dict[int, int] = {}
    """Scope -> index of the iterations under way."""
    finished: dict[int, tuple[bool, Json]] = {}
    """Results that came before an earlier one, and whether they count."""
    appended: int = 0
    """Iterations whose result has been dealt with, in order."""
    results: list[Any] = []
    result_bytes: int = 0
    spilled: list[Chunk] = []
    spilled_bytes: int = 0
    count: int = 0
    failed: int = 0
    last: Json = None
    open_ended: bool = False
    """More items may be added."""
    satisfied: bool = False
    """Its result has been handed on; what still runs counts no more."""
    handed_on: Json = None
    resting: bool = False
    """A pause is being made before the next iteration …"""
    rested: int = 0
    """… and this is the last one before which it has been made."""
    closing: bool = False
    closing_failure: Failure | None = None
    cancelled: bool = False
    undrained: int = 0
    """While it is given up: iterations in which something lives."""

    def buffered(self) -> bool:
        return self.next < self.buffer_first + len(self.buffer)

    def is_loading(self) -> bool:
        """Whether items have yet to be read."""
        return self.chunks is not None and self.chunk < len(self.chunks) and not self.satisfied

    def has_next(self) -> bool:
        """Whether an item is at hand that has not been begun and shall be."""
        if self.satisfied:
            return False
        if self.chunks is not None:
            return self.buffered()
        return self.total is not None and self.next < self.total

    def is_over(self) -> bool:
        return not (self.running or self.open_ended or self.closing or self.has_next() or self.is_loading())

    def is_idle(self) -> bool:
        return self.open_ended and not (self.running or self.closing or self.has_next())

    def is_hungry(self) -> bool:
        if self.closing:
            return False
        enough = self.need is not None and self.count >= self.need
        return (
            (enough and not self.satisfied)
            or self.is_over()
            or (len(self.running) < self.concurrency and self.has_next() and not self.resting)
        )


class FlowState(msgspec.Struct, omit_defaults=True, gc=False):
    scopes: dict[int, FlowScope] = {}
    ready: list[Ready] = []
    held: dict[str, list[Ready]] = {}
    """What waits for a mutex, a milestone or a layer."""
    mutexes: dict[str, bool] = {}
    vars: dict[str, Any] = {}
    loops: dict[int, LoopState] = {}
    hungry: dict[int, bool] = {}
    """Loops that may start iterations or be finished."""
    idle: dict[int, bool] = {}
    """Loops that have nothing to do until items are added."""
    given_up: dict[int, bool] = {}
    """Loops that are being given up …"""
    drained: dict[int, bool] = {}
    """… those of them in which nothing lives any more …"""
    drained_scopes: dict[int, bool] = {}
    """… and such iterations that have failed, of loops that go on."""
    quiet: dict[int, bool] = {}
    """Scopes in which nothing moves any more."""
    trace: list[str] = []
    """Ids of the nodes that have completed, where a flow asks for `_metadata`."""
