"""A published flow, indexed for execution. Built once per version; read by every run of it, changed by none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from perdure.errors import InvalidInput, NotInstalled
from perdure.expressions import Expression, MissingPolicy, compile_expression
from perdure.kernel.program import Work
from perdure.model.documents import EdgeDoc, FlowDocument, JoinDoc, MilestoneDoc, NodeDoc
from perdure.model.policies import NO_RETRY, Join, JoinRule, Limits, Retry
from perdure.model.schemas import Schema
from perdure.model.times import parse_duration
from perdure.model.values import Json
from perdure.programs.flow.components import layers, only_through, reachable, strong_components
from perdure.programs.flow.keeping import cache_of
from perdure.programs.flow.names import Names
from perdure.programs.flow.nodetypes import ANY_OUTCOME, Catalogue, LoopOptions, NodeKind, NodeType
from perdure.programs.flow.triggers import Triggers

RESERVED_OUTCOMES = ("error", "timeout")
_NONE: frozenset[str] = frozenset()
"""One for all nodes: an empty set of its own would take each a quarter of its memory."""


class Edge:
    __slots__ = ("index", "leaves_cycle", "outcome", "place_in", "place_out", "source", "target", "tokens", "when")

    def __init__(self, index: int, doc: EdgeDoc, source: Node, target: Node, language: MissingPolicy) -> None:
        self.index = index
        self.source = source
        self.target = target
        self.outcome = doc.outcome
        self.when: Expression | None = (
            compile_expression(bare(doc.when), missing=language) if doc.when is not None else None
        )
        self.tokens = doc.tokens
        self.place_out = len(source.outs)
        self.place_in = len(target.ins)
        self.leaves_cycle = False


class Node:
    """One vertex. `index` is its place in the document, which is also the order in which equals are treated."""

    __slots__ = (
        "at_most_once", "body", "cache", "cancels", "compensate", "compensate_on_cancel", "component", "condition",
        "config", "declared", "followers", "has_when", "id", "index", "ins", "is_end", "join", "layer", "loop",
        "milestone", "missing", "mutex", "on_demand", "only_edge", "outcomes", "outs", "parent", "plain_join",
        "prepared", "queue", "race", "rest", "retry", "stored_as", "timeout", "type", "work",
    )  # fmt: skip

    def __init__(self, index: int, doc: NodeDoc, type: NodeType) -> None:
        self.index = index
        self.id = doc.id
        self.stored_as = doc.id
        """The name under which its output is kept. A dialect may let several nodes write one: the last one counts."""
        self.type = type
        self.config = doc.config
        config = type.config.model_validate(doc.config)
        self.prepared: Any = type.prepare(config)
        self.loop: LoopOptions | None = type.loop(config) if type.loop is not None else None
        self.is_end = type.is_end
        self.parent = doc.parent
        self.join = join_of(doc.join)
        self.condition: Expression | None = (
            compile_expression(bare(doc.condition)) if doc.condition is not None else None
        )
        self.retry = retry_of(doc, type, config)
        self.timeout = parse_duration(doc.timeout) if doc.timeout is not None else None
        self.compensate = doc.compensate
        self.compensate_on_cancel = doc.compensate_on_cancel
        self.at_most_once = doc.at_most_once
        self.on_demand = doc.on_demand
        self.mutex = doc.mutex
        self.race = doc.race
        self.queue = doc.queue
        self.work = Work(type=type.name, config=doc.config, timeout=self.timeout, queue=doc.queue)
        """What its handler gets, unless a plan has made a configuration for it."""
        self.missing = doc.missing
        self.cache = cache_of(doc.cache, type.aside) if type.kind is not NodeKind.INLINE else None
        declared = type.outcomes(config) if type.outcomes is not None else ()
        self.declared = None if ANY_OUTCOME in declared else frozenset(declared)
        """Outcomes that its handler may choose; None: any."""
        self.cancels = frozenset(doc.cancels) if doc.cancels else _NONE
        self.milestone: Milestone | None = None
        self.ins: list[Edge] = []
        self.outs: list[Edge] = []
        self.outcomes = _NONE
        self.has_when = False
        self.only_edge: Edge | None = None
        self.plain_join = False
        self.component: Component
        self.body: Body | None = None
        self.rest = _NONE
        self.followers: list[Node] = []
        """Nodes whose milestone this one opens or ends."""
        self.layer = -1
        """Its layer, if the flow goes on layer by layer and the node is neither on a cycle nor behind a failure."""

    def declares(self, outcome: str) -> bool:
        """Whether a handler of this node may choose the outcome."""
        return self.declared is None or outcome in self.declared or outcome in self.outcomes

    def index_edges(self) -> None:
        """What the hot path asks: is there just one plain edge, and can an arrival pass the join without counting?"""
        self.outcomes = frozenset(edge.outcome for edge in self.outs if edge.outcome is not None) or _NONE
        self.has_when = any(edge.when is not None for edge in self.outs)
        if len(self.outs) == 1 and not self.outcomes and not self.has_when and self.outs[0].tokens == 1:
            self.only_edge = self.outs[0]
        self.plain_join = len(self.ins) <= 1 and self.join.rule is not JoinRule.ANY


class Milestone:
    """The node may begin between the completion of `after` and the beginning of `before`, which stand `up` scopes
    higher."""

    __slots__ = ("after", "before", "up")

    def __init__(self, after: Node, before: Node | None, up: int) -> None:
        self.after, self.before, self.up = after, before, up


class Component:
    """Nodes that open and close together: a cycle, or a chain without forks. See `tokens.py`."""

    __slots__ = ("cyclic", "entering", "index", "leaving", "nodes")

    def __init__(self, index: int) -> None:
        self.index = index
        self.nodes: list[Node] = []
        self.cyclic = False
        self.entering = 0
        self.leaving: list[Edge] = []


class Body:
    """The nodes that live in one kind of scope: the root, or the body of one loop."""

    __slots__ = ("components", "entries", "idle", "layer_sizes", "loop", "nodes", "waits_for_failure")

    def __init__(self, loop: Node | None, nodes: list[Node]) -> None:
        self.loop = loop
        self.nodes = nodes
        self.entries: list[Node] = []
        self.components: list[Component] = []
        self.idle: list[Component] = []
        """Components that no token will ever reach."""
        self.layer_sizes: list[int] = []
        self.waits_for_failure: Component | None = None
        """The component of the `on_failure` node: it stays open as long as others could still fail."""


class Graph:
    def __init__(self, document: FlowDocument, catalogue: Catalogue, names: Names | None = None) -> None:
        settings = document.settings
        self.names = names
        """What bare names mean, where that is not what `environment.py` says."""
        language: MissingPolicy = names.language if names is not None else "error"
        self.nodes = [Node(index, doc, catalogue[doc.type]) for index, doc in enumerate(document.nodes)]
        self.by_id = {node.id: node for node in self.nodes}
        self.edges: list[Edge] = []
        for doc in document.edges:
            edge = Edge(len(self.edges), doc, self.by_id[doc.source], self.by_id[doc.target], language)
            self.edges.append(edge)
            edge.source.outs.append(edge)
            edge.target.ins.append(edge)
        self.lookups: Mapping[str, Any] = {}
        """`_enum_store`, unless whoever started a run gave it."""
        self.max_parallel = settings.max_parallel
        self.barrier = settings.barrier == "layer"
        self.on_failure = self.by_id[settings.on_failure] if settings.on_failure else None
        self.after = [self.by_id[id] for id in settings.after]
        self.compensation = settings.compensation
        self.mode = settings.missing
        self.limits: dict[str, int] = {
            name: parse_duration(value) if name == "active_time" else int(value)
            for name, value in settings.limits.items()
        }
        self.input_schema = Schema(document.input_schema) if document.input_schema is not None else None
        for node in self.nodes:
            node.index_edges()
        for node, part in zip(self.nodes, document.nodes, strict=True):
            if part.milestone is not None:
                node.milestone = self._milestone(node, part.milestone)
        self.after_failure: frozenset[str] = frozenset()
        if self.on_failure is not None:
            successors = [[edge.target.index for edge in node.outs] for node in self.nodes]
            self.after_failure = frozenset(self.nodes[i].id for i in reachable([self.on_failure.index], successors))
        self.on_demand = [node for node in self.nodes if node.on_demand]
        self.detached = {id for node in self.nodes if (id := node.compensate)}
        self.detached |= {node.id for node in [*self.after, *self.on_demand]}
        self.races: dict[tuple[str | None, str], list[int]] = {}
        for node in self.nodes:
            if node.race is not None:
                self.races.setdefault((node.parent, node.race), []).append(node.index)
        self.root = self._body(None)
        for node in self.nodes:
            if node.loop is not None:
                node.body = self._body(node)
        self.triggers = Triggers(self.nodes)
        self.uses_trace = "_metadata" in document.model_dump_json(exclude_defaults=True)
        self.naming: Mapping[str, Callable[..., Json]] = {}
        """Names that the document's dialect reads in its own way: each with what makes its value of a `Sight`, or
        gives UNSET where it means what it means everywhere."""
        self.attributes: Callable[[Json], dict[str, Any]] | None = None
        """What the document's dialect makes searchable of a run's input."""

    def catch_everywhere(self) -> None:
        """Failures behind the failure node lead to it as well, as often as the limit of errors in a row allows. For
        graphs in which one token walks: nothing there waits to learn that no failure can come any more."""
        self.after_failure = frozenset()
        self.root.waits_for_failure = None

    def limited(self, limits: Limits) -> Limits:
        """A flow may ask for less than it is allowed, not for more."""
        lower = {name: min(value, getattr(limits, name)) for name, value in self.limits.items()}
        return msgspec.structs.replace(limits, **lower) if lower else limits

    def check_input(self, input: Json) -> None:
        misfit = self.input_schema.first_misfit(input) if self.input_schema is not None else None
        if misfit is not None:
            raise InvalidInput(misfit.message, pointer=f"/input{misfit.path}", expected="what the flow's schema allows")

    def _milestone(self, node: Node, doc: MilestoneDoc) -> Milestone:
        after = self.by_id[doc.after]
        before = self.by_id[doc.before] if doc.before is not None else None
        up, around = 0, node
        while around.parent != after.parent and around.parent is not None:
            up, around = up + 1, self.by_id[around.parent]
        after.followers.append(node)
        if before is not None and before is not after:
            before.followers.append(node)
        return Milestone(after, before, up)

    def _body(self, loop: Node | None) -> Body:
        parent = loop.id if loop is not None else None
        nodes = [node for node in self.nodes if node.parent == parent and node.id not in self._beside(node)]
        body = Body(loop, nodes)
        place = {node.index: number for number, node in enumerate(nodes)}
        inner = [edge for node in nodes for edge in node.outs if edge.target.index in place]
        successors: list[list[int]] = [[] for _ in nodes]
        predecessors: list[list[int]] = [[] for _ in nodes]
        for edge in inner:
            successors[place[edge.source.index]].append(place[edge.target.index])
            predecessors[place[edge.target.index]].append(place[edge.source.index])
        starts = [node for node in nodes if node.type.is_start]
        body.entries = starts or [node for node in nodes if not node.ins and node is not self.on_failure]
        body.components = components_of(nodes, inner, place, successors)
        busy = {node.component.index for node in body.entries}
        body.idle = [part for part in body.components if not part.entering and part.index not in busy]
        if loop is None and self.on_failure is not None:
            body.waits_for_failure = self.on_failure.component
        for node in nodes:
            if node.join.cancel_rest:
                node.rest = frozenset(
                    nodes[i].id for i in only_through(place[node.index], successors, predecessors, len(nodes))
                )
        if self.barrier:
            pairs = [(place[edge.source.index], place[edge.target.index]) for edge in inner]
            for number, layer in enumerate(layers(len(nodes), pairs, [node.index for node in nodes])):
                regular = [nodes[i] for i in layer if nodes[i].id not in self.after_failure]
                body.layer_sizes.append(len(regular))
                for node in regular:
                    node.layer = number
        return body

    def _beside(self, node: Node) -> set[str]:
        """Nodes for compensation, for completion and on demand stand beside the graph, unless an edge leads to them."""
        return {node.id} if node.id in self.detached and not node.ins else set()


def components_of(
    nodes: list[Node], inner: Sequence[Edge], place: dict[int, int], successors: list[list[int]]
) -> list[Component]:
    numbers = strong_components(len(nodes), successors)
    sizes: dict[int, int] = {}
    for number in numbers:
        sizes[number] = sizes.get(number, 0) + 1
    selfish = {place[edge.source.index] for edge in inner if edge.source is edge.target}
    cyclic = [sizes[number] > 1 or i in selfish for i, number in enumerate(numbers)]
    # A chain without forks and joins moves as one thing; joining it into one component makes long sequences cheap.
    head = list(range(len(nodes)))

    def find(i: int) -> int:
        while head[i] != i:
            head[i] = head[head[i]]
            i = head[i]
        return i

    first_of: dict[int, int] = {}
    for i, number in enumerate(numbers):
        head[i] = first_of.setdefault(number, i)
    for edge in inner:
        a, b = place[edge.source.index], place[edge.target.index]
        alone = len(edge.source.outs) == 1 and len(edge.target.ins) == 1 and edge.tokens == 1
        # A join that collects tokens is a part of its own: it is settled as soon as nothing more can arrive, whatever
        # still goes on behind it.
        if alone and edge.source.plain_join and edge.target.plain_join and not cyclic[a] and not cyclic[b]:
            head[find(b)] = find(a)
    found: dict[int, Component] = {}
    for i, node in enumerate(nodes):
        root = find(i)
        if root not in found:
            found[root] = Component(len(found))
            found[root].cyclic = cyclic[i]
        node.component = found[root]
        found[root].nodes.append(node)
    for edge in inner:
        if edge.source.component is not edge.target.component:
            edge.target.component.entering += 1
            edge.source.component.leaving.append(edge)
            edge.leaves_cycle = edge.source.component.cyclic
    return list(found.values())


def join_of(doc: JoinDoc | str) -> Join:
    if isinstance(doc, str):
        return Join(JoinRule(doc))
    n = doc.n if doc.rule == "n_of_m" else 1
    return Join(JoinRule(doc.rule), n, doc.cancel_rest, doc.blocking, doc.threads)


def retry_of(doc: NodeDoc, type: NodeType, config: Any) -> Retry:
    if doc.retry is None and type.retry is not None:
        return type.retry(config)
    if doc.retry is None:
        return Retry(type.default_retry_attempts) if type.default_retry_attempts > 1 else NO_RETRY
    r = doc.retry
    return Retry(r.attempts, parse_duration(r.initial), r.multiplier, parse_duration(r.maximum), r.jitter)


def bare(source: str) -> str:
    """`${a > b}` and `a > b` are the same condition."""
    text = source.strip()
    return text[2:-1] if text.startswith("${") and text.endswith("}") and "${" not in text[2:] else text


def compile_flow(document: FlowDocument, catalogue: Catalogue, names: Names | None = None) -> Graph:
    """The document must have been validated (`validate.py`). Raises NotInstalled for a node type that is not here."""
    missing = sorted({node.type for node in document.nodes} - set(catalogue))
    if missing:
        raise NotInstalled(
            f"the node type {missing[0]!r} is not installed here",
            kind="node type",
            name=missing[0],
            remedy="install the package that brings it, or update this worker",
            types=missing,
        )
    return Graph(document, catalogue, names)


__all__ = ["Body", "Component", "Edge", "Graph", "Node", "NodeKind", "compile_flow"]
