"""What an interpreter must supply. Flow, code and lifecycle are three of them; the kernel knows none by name.

The kernel owns what is the same for all: the run's life, activations and their attempts, timers, signals, children,
compensation, limits. The program owns what follows from what: it is asked at the points below and answers by emitting
events on the turn. `appliers` are its part of evolve, called after the kernel's with the activation that the event is
about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from perdure.kernel.state import Activation, RunState, Undo
from perdure.model import commands as c
from perdure.model import events as e
from perdure.model.failures import Failure
from perdure.model.policies import Limits, Retry
from perdure.model.values import Json
from perdure.model.waits import AnyWait

if TYPE_CHECKING:
    from perdure.kernel.turn import Turn

SEMANTICS = 3
"""Raised with every change of the rules, the kernel's or a program's; a run keeps the number that it began with.

1  release 0.1
2  the failure of a child says where in the child, and why; a signal that nobody waits for and that nobody can take
   later is not kept; the failure of a run says what was undone and what could not be
3  an attempt of an `at_most_once` node that ends with an unknown outcome is its last one
"""

ProgramApplier = Callable[[RunState, Any, int, Activation | None], None]


class Kept(msgspec.Struct, frozen=True):
    """Where the answer to the same question is kept, and for how many microseconds."""

    key: str
    ttl: int


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What a handler needs to know about the activation that it executes."""

    type: str
    """Which handler: the node's type."""
    config: Json = None
    timeout: int | None = None
    """Microseconds that one attempt may take."""
    queue: str | None = None
    written: Json = None
    """The configuration as the document has it, where a plan has made another one of it."""
    bindings: dict[str, Any] | None = None
    """Names that the node's code reads, with their values at this moment, where its type asks for any."""
    kept: Kept | None = None
    """It need not be executed if there is an answer from before."""


class Program(Protocol):
    name: str
    semantics: int
    appliers: Mapping[type[e.Event], ProgramApplier]

    def advance(self, turn: Turn) -> None:
        """Called after each command of an open run. Schedule what is ready until nothing is, or the turn's budget is
        used up; finish scopes in which nothing lives any more; complete the run when nothing is alive and nothing is
        awaited."""
        ...

    def launch(self, turn: Turn, activation: Activation) -> None:
        """Begin a (new attempt of an) activation in phase EXECUTING: ask for its handler, or plan it again."""
        ...

    def completed(
        self,
        turn: Turn,
        activation: Activation,
        output: Json,
        outcome: str | None,
        variables: dict[str, Any] | None,
        size: int,
        beside: dict[str, Any] | None = None,
        cached: bool = False,
    ) -> None:
        """An activation has its result: record it and what it leads to. `size`: what counts of the output, in
        bytes. `beside`: what it has to show besides, by name. `cached`: it was not executed for this."""
        ...

    def failed(self, turn: Turn, activation: Activation, failure: Failure, output: Json) -> None:
        """An activation has failed for good: route the failure, or let it bubble up."""
        ...

    def timed_out(self, turn: Turn, activation: Activation) -> None:
        """The timer of a sleeping or waiting activation has fired."""
        ...

    def wait(self, turn: Turn, activation: Activation, wait: AnyWait) -> None:
        """Its handler has answered with a wait instead of a result: begin it."""
        ...

    def has_acted(self, state: RunState, activation: Activation) -> bool:
        """Whether a waiting activation has had an effect on the world before it began to wait."""
        ...

    def reminded(self, turn: Turn, activation: Activation, kind: str) -> None:
        """Its task is open, and the time for a `reminder` or for the `escalation` has come."""
        ...

    def demanded(self, turn: Turn, node: str, parameters: Json, request: str | None, content: int) -> None:
        """Record the request and start this node beside the graph. Raises what stands against it."""
        ...

    def check_input(self, input: Json) -> None:
        """Raises InvalidInput for an input that the definition does not allow."""
        ...

    def limited(self, limits: Limits) -> Limits:
        """The limits of a run, where the definition asks for lower ones."""
        ...

    def attributes(self, input: Json) -> dict[str, Any]:
        """Search attributes that a run of this input begins with."""
        ...

    def work(self, state: RunState, activation: Activation) -> Work: ...

    def retry_policy(self, state: RunState, activation: Activation) -> Retry: ...

    def is_at_most_once(self, state: RunState, activation: Activation) -> bool: ...

    def compensation(self, state: RunState) -> str:
        """The policy for undoing: `strict`, `best_effort` or `skip`."""
        ...

    def undo(self, turn: Turn, entry: Undo, scope: int) -> None:
        """Start the detached activation that undoes this entry."""
        ...

    def start_completion_node(self, turn: Turn, number: int) -> bool:
        """Start completion node `number` (0, 1 …); False if there is no such."""
        ...

    def loses_signal(self, state: RunState, name: str) -> bool:
        """Whether nobody will ever take a signal of this name who does not wait for it when it comes. If so it is
        recorded and not kept."""
        ...

    def choice(self, turn: Turn, activation: Activation) -> Callable[[Json], bool] | None:
        """For a waiting activation that does not take every signal of the name: whether it takes this payload."""
        ...

    def signalled(self, turn: Turn) -> None:
        """A signal is pending that no activation was waiting for."""
        ...

    def items_loaded(self, turn: Turn, activation: Activation, command: c.ItemsLoaded) -> None: ...

    def has_ready(self, state: RunState) -> bool:
        """Whether work is ready that no turn has scheduled yet."""
        ...

    def is_waiting(self, state: RunState) -> bool:
        """Whether something waits for the outside that no activation's phase shows (a loop for further items)."""
        ...

    def kept_back(self, state: RunState) -> Iterable[tuple[str, str, str | None]]:
        """What could go on but for something inside the run, for people: kind, node, and what it waits for."""
        ...

    def wanted(self, state: RunState, activation: Activation) -> tuple[str, int, int] | None:
        """For a loop that reads its items from a blob and has none left: blob, offset, how many. Else None."""
        ...

    def encode(self, body: Any) -> bytes: ...

    def decode(self, data: bytes) -> Any: ...
