"""What a node type is to the flow program: how its configuration is prepared, and what it asks for when its turn comes.

A type's `plan` is pure. It returns a directive, a value that says what should happen; the program carries it out with
events. A type that acts on the world plans `Execute` and brings a handler, which the engine runs outside. So
sleeping, waiting, looping or calling another flow is open to every node type and none of them is a special case.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType
from pydantic import BaseModel

from perdure.expressions import Expression
from perdure.expressions.gotemplate import GoTemplate
from perdure.expressions.jsonpath import JsonPath
from perdure.model import waits
from perdure.model.events import Chunk
from perdure.model.failures import Failure
from perdure.model.policies import Retry
from perdure.model.problems import Problem
from perdure.model.references import Word
from perdure.model.values import Json

# -- directives -----------------------------------------------------------------------------------


class Message(msgspec.Struct, frozen=True):
    type: str
    payload: Json = None
    key: str | None = None


class Done(msgspec.Struct, frozen=True):
    """The node is finished at once. Unset output: the input is passed on."""

    output: Json | UnsetType = UNSET
    outcome: str | None = None
    vars: dict[str, Any] | None = None
    message: Message | None = None
    terminate: bool = False
    """End the run here, whatever else lives."""


class Execute(msgspec.Struct, frozen=True):
    """Run the type's handler, with this resolved configuration if it differs from the document's."""

    config: Json = None


Sleep = waits.Sleep
AwaitSignal = waits.AwaitSignal
Ask = waits.Ask

TRANSIENT = "transient"


class Call(msgspec.Struct, frozen=True):
    """Start another flow as a child."""

    definition: str
    version: int | Word | None = None
    input: Json = None
    wait: bool = True
    on_parent_close: str = "cancel"


class Iterate(msgspec.Struct, frozen=True):
    """Run the node's body once per item."""

    items: list[Any] | None = None
    numbers: tuple[int, int, int] | None = None
    """First, step, count."""
    chunks: list[Chunk] | None = None
    concurrency: int = 1
    need: int | None = None


class Refuse(msgspec.Struct, frozen=True):
    failure: Failure
    terminate: bool = False
    """End the run here: no edge, loop or failure node takes care of it."""


class ContinueAsNew(msgspec.Struct, frozen=True):
    input: Json = None


Directive: TypeAlias = Done | Execute | Sleep | AwaitSignal | Ask | Call | Iterate | Refuse | ContinueAsNew


# -- types ---------------------------------------------------------------------------------------


ANY_OUTCOME = "*"


class NodeKind(StrEnum):
    INLINE = "inline"
    """Pure: decided inside the turn."""
    ISOLATED = "isolated"
    """A handler without outside effect."""
    EFFECT = "effect"
    """A handler that the world can see: begins only after all that it depends on is durable."""


class LoopOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The fixed part of a loop's configuration."""

    item: str = "item"
    index: str = "index"
    on_item_failure: str = "fail"
    accumulate: str = "all"
    """`all` results, the `last` one, or `none`."""
    accumulator: str | None = None
    """Name under which the body reads the results so far."""
    results: str = "results"
    count: str = "count"
    add_signal: str | None = None
    """Items can be added while the loop runs, by signals of this name; an end signal closes the list."""
    close_signal: str | None = None
    """A signal that completes the loop with the results it has."""
    enough: Expression | None = None
    """Asked after each iteration; when it is true the loop has the results that it needs."""
    cancel_rest: bool = True
    """Once the loop has the results that it needs, what still runs is withdrawn; otherwise it goes on unheeded."""
    pause: int = 0
    """Microseconds to rest before another iteration is begun."""
    unwrap: bool = False
    """Of a result that is an object with a field `data`, only that is kept."""
    skip_null: bool = False
    """Results that are null are left out."""
    only_ends: bool = False
    """The result of an iteration is what reaches an end; one that reaches none has none."""
    carries: bool = False
    """The results so far are part of each iteration's input, too."""
    yantra: bool = False
    """The output has the fields that Yantra's loops give, and the results stay in it however large they are."""
    once: bool = False
    """No loop but a group: its body runs once, on the input of the node, and its result is that of the body."""


class Waits(msgspec.Struct, frozen=True):
    """What can be said before a run about the signal that a node will wait for."""

    name: str | None
    """None: it is computed."""
    mode: str = "persistent"


class Plan(Protocol):
    """What `plan` may look at."""

    @property
    def now(self) -> int: ...
    @property
    def input(self) -> Json: ...
    @property
    def ways(self) -> Collection[str]:
        """The outcomes that the node's edges name."""
        ...

    @property
    def sources(self) -> Sequence[str]:
        """The ids of the nodes whose edges lead here."""
        ...

    def evaluate(self, expression: Any, more: Mapping[str, Any] | None = None) -> Json:
        """With `more`: these names too."""
        ...

    def resolve(self, template: Any, more: Mapping[str, Any] | None = None) -> Json:
        """`more`: further names, which come before those that there are."""
        ...

    def apply(self, expression: Any, env: Mapping[str, Any]) -> Json: ...
    def gather(self, reads: Collection[tuple[str | int, ...]]) -> dict[str, Any]:
        """The values of these names, each with the constant keys that follow it, as far as there are any."""
        ...

    def render(self, template: GoTemplate, data: Json) -> str: ...
    def query(self, path: JsonPath, value: Json) -> list[Json]: ...
    def spend(self, units: int) -> None:
        """To be called before work that grows with the data: a unit stands for a twentieth of a microsecond. Raises
        ExpressionLimit where a node may not do so much inside the turn."""
        ...


Planner = Callable[[Any, Plan], Directive]


class NodeType(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    title: str
    description: str
    config: type[BaseModel]
    kind: NodeKind = NodeKind.INLINE
    prepare: Callable[[Any], Any]
    """Validated configuration -> what `plan` gets. Compiles expressions, once per published version."""
    plan: Planner
    outcomes: Callable[[Any], tuple[str, ...]] | None = None
    """Configuration -> the outcomes that edges may name, besides `error` and `timeout`. None: it has none of its own.
    ANY_OUTCOME among them: whatever its handler says."""
    examine: Callable[[dict[str, Any]], Iterable[Problem]] | None = None
    """A valid configuration as it stands in the document -> what is wrong with it all the same, with pointers into it.
    Only asked at save: documents that were saved before go on."""
    loop: Callable[[Any], LoopOptions] | None = None
    """For types with a body."""
    waits: Callable[[Any], Waits] | None = None
    """Prepared configuration -> the signal. Every type that plans `AwaitSignal` says it: a signal that no node can
    ever take is not kept."""
    accepts: Callable[[Any, Plan, Json], bool] | None = None
    """For types that plan `AwaitSignal` and do not take every signal of the name: whether this payload is the one. What
    one node does not accept is left for others."""
    reads: Callable[[Any], Collection[tuple[str | int, ...]]] | None = None
    """Prepared configuration -> the names, each with the constant keys that follow it, whose values its handler needs
    (`ctx.bindings`). They are looked up when an attempt begins, and not recorded: all that they are made of is."""
    aside: frozenset[str] = frozenset()
    """Fields of its resolved configuration that differ from time to time although the same is asked (`cache`)."""
    looks_at: Callable[[Any], Collection[str] | None] | None = None
    """Prepared configuration -> the names of the thread context that its handler reads by itself (`ctx.thread`); None
    for any. An answer that is kept is given only to those in whose thread context these have the same values."""
    is_start: bool = False
    is_end: bool = False
    asks: bool = False
    """It opens tasks for people; edges with the outcomes `reminder` and `escalation` are taken while one is open."""
    ends_run: bool = False
    """Nothing need follow: it fails, or begins the run anew."""
    beside: bool = True
    """Whether it can run beside the graph, as compensation or completion node: it completes, sleeps or executes."""
    default_retry_attempts: int = 1
    needs: str | None = None
    """What this release lacks for it: a flow that uses the type is refused."""
    examples: tuple[dict[str, Any], ...] = ()
    """Whole configurations, each of them valid: for the reference, and for an editor to begin with."""
    group: str = "Other"
    """Under which heading an editor offers it."""
    icon: str = "square"
    """What an editor may draw: the name of an icon."""
    retry: Callable[[Any], Retry] | None = None
    """Configuration -> how often and when it is tried again, where the node itself does not say."""


Catalogue = Mapping[str, NodeType]
