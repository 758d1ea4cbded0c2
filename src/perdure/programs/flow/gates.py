"""What keeps back a node whose join is satisfied: the barrier of its layer, its milestone, its mutex, in this order.

A node that is kept back is held under the name of what it waits for, and comes to `ready` when that lets go. A
milestone that cannot be reached any more lets go too: those who wait for it are too late and are skipped.

Everything here applies; nothing decides. It runs the same on replay.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.kernel.state import RunState
from perdure.model.values import Json
from perdure.programs.flow.graph import Graph, Milestone, Node
from perdure.programs.flow.state import FlowScope, FlowState, Ready

MUTEX, MILESTONE, LAYER = "mutex:", "milestone:", "layer:"

TOO_LATE = "milestone"
"""Why a node is skipped whose milestone has passed or will not come."""


def make_ready(flow: FlowState, scope: FlowScope, node: Node, live: bool, value: Json) -> None:
    component = node.component.index
    scope.moving[component] = scope.moving.get(component, 0) + 1
    scope.total += 1
    entry = Ready(node.index, scope.id, live, value)
    if live and (node.milestone is not None or node.mutex is not None or scope.layer_left):
        hold(flow, scope, node, entry)
    else:
        let_through(flow, node, entry)


def let_through(flow: FlowState, node: Node, entry: Ready) -> None:
    """To the end of the line; but what will withdraw others goes before them, or they would begin for nothing."""
    if node.join.cancel_rest and entry.live:
        place = 0
        while place < len(flow.ready) and flow.ready[place].node == entry.node:
            place += 1
        flow.ready.insert(place, entry)
    else:
        flow.ready.append(entry)


def hold(flow: FlowState, scope: FlowScope, node: Node, entry: Ready) -> None:
    """Keeps the node back, or lets it through."""
    if scope.layer_left and node.layer > 0 and any(scope.layer_left[: node.layer]):
        flow.held.setdefault(f"{LAYER}{scope.id}", []).append(entry)
        return
    if node.milestone is not None:
        home = home_of(flow, scope, node.milestone)
        reached = stands(home, node.milestone)
        if reached is None:
            flow.held.setdefault(f"{MILESTONE}{home.id}:{node.id}", []).append(entry)
            return
        if not reached:
            entry.live, entry.reason = False, TOO_LATE
            flow.ready.append(entry)
            return
    if node.mutex is not None:
        if node.mutex in flow.mutexes:
            flow.held.setdefault(MUTEX + node.mutex, []).append(entry)
            return
        flow.mutexes[node.mutex] = True
    let_through(flow, node, entry)


def home_of(flow: FlowState, scope: FlowScope, milestone: Milestone) -> FlowScope:
    """The scope in which the nodes of the milestone stand: the node's own, or one around it."""
    for _ in range(milestone.up):
        assert scope.parent is not None
        scope = flow.scopes[scope.parent]
    return scope


def stands(home: FlowScope, milestone: Milestone) -> bool | None:
    """Whether the milestone is reached and not yet passed. None: neither. In a cycle each round opens it anew."""
    after, before = milestone.after, milestone.before
    opened = home.reached.get(after.index, 0)
    ended = home.begun.get(before.index, 0) if before is not None else 0
    if opened > ended:
        return True
    return False if ended or home.closed.get(after.component.index) else None


def passes(graph: Graph, flow: FlowState, scope: FlowScope, node: Node, *, completed: bool) -> None:
    """A node on which milestones hang has begun or completed."""
    counts = scope.reached if completed else scope.begun
    counts[node.index] = counts.get(node.index, 0) + 1
    release_milestones(graph, flow, scope, node)


def release_milestones(graph: Graph, flow: FlowState, scope: FlowScope, node: Node) -> None:
    """Looks again at those who wait for the node: some may go, others are too late."""
    for follower in node.followers:
        for entry in flow.held.pop(f"{MILESTONE}{scope.id}:{follower.id}", []):
            hold(flow, flow.scopes[entry.scope], follower, entry)


def release_mutex(flow: FlowState, name: str) -> None:
    waiting = flow.held.get(MUTEX + name)
    if waiting:
        flow.ready.append(waiting.pop(0))
        if not waiting:
            del flow.held[MUTEX + name]
    else:
        flow.mutexes.pop(name, None)


def release_layer(graph: Graph, flow: FlowState, scope: FlowScope, node: Node) -> None:
    """The node has ended, or will never begin."""
    left = scope.layer_left
    if node.layer >= 0 and node.index not in scope.layer_done:
        scope.layer_done[node.index] = True
        left[node.layer] -= 1
        if left[node.layer] == 0:
            for entry in flow.held.pop(f"{LAYER}{scope.id}", []):
                hold(flow, scope, graph.nodes[entry.node], entry)


def kept_back(graph: Graph, state: RunState) -> Iterator[tuple[str, str, str | None]]:
    """For people: which nodes could go on but for something inside the run, and what that is."""
    flow: FlowState = state.body
    for id in flow.idle:
        node = graph.nodes[flow.loops[id].node]
        yield "items", node.id, node.loop.add_signal if node.loop is not None else None
    for key, entries in flow.held.items():
        kind, _, subject = key.partition(":")
        for entry in entries:
            node = graph.nodes[entry.node]
            if kind == "milestone" and node.milestone is not None:
                yield kind, node.id, node.milestone.after.id
            else:
                yield kind, node.id, subject if kind == "mutex" else None
    is_full = graph.max_parallel is not None and state.executing >= graph.max_parallel
    for entry in flow.ready:
        yield "slot" if is_full else "ready", graph.nodes[entry.node].id, None


# -- taking entries out ---------------------------------------------------------------------------


def take(flow: FlowState, node: Node, scope: int) -> Ready:
    """The entry of a node that begins or is skipped: the first one."""
    ready = flow.ready
    for place, entry in enumerate(ready):
        if entry.node == node.index and entry.scope == scope:
            del ready[place]
            return entry
    raise KeyError(f"{node.id} is not ready in scope {scope}")


def take_ready(flow: FlowState, node: Node, scope: int, live: bool) -> bool:
    """Removes the first entry of the node that is live, or dead; whether there was one."""
    for place, entry in enumerate(flow.ready):
        if entry.live is live and entry.node == node.index and entry.scope == scope:
            del flow.ready[place]
            return True
    return False


def take_held(flow: FlowState, node: Node, scope: int) -> bool:
    """Removes the first entry of the node that is held back; whether there was one."""
    for key, entries in flow.held.items():
        for place, entry in enumerate(entries):
            if entry.node == node.index and entry.scope == scope:
                del entries[place]
                if not entries:
                    del flow.held[key]
                return True
    return False
