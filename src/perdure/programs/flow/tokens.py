"""Tokens, joins and closing: how arrivals become activations.

When an activation ends, every outgoing edge gets a token, live or dead. A join collects tokens by generation: the
k-th token of an edge belongs to generation k. What a generation needs is the node's rule:

    all      every edge has arrived; runs if one was live, is skipped otherwise
    first    the first live one; n_of_m: the n-th live one; skipped when that cannot happen any more
    any      every live one, on its own (or `threads` of them together); dead ones are absorbed

**Components** tell when nothing more can arrive. A component (a cycle, or a chain) is closed when none of its nodes
is ready or active and all edges that lead into it come from closed components. Then what is left half-arrived at its
joins is settled as if the missing edges were dead, and the closing goes on downstream. Edges that leave a cycle carry
only live tokens; the dead one, if none was taken, is sent by the closing. So every join is settled at some time, no
run hangs on a token that cannot come, and each edge and component is looked at a bounded number of times: the cost is
O(edges resolved).

Everything here applies; nothing decides. It runs the same on replay.
"""

from __future__ import annotations

from perdure.model.policies import JoinRule
from perdure.model.values import Json
from perdure.programs.flow.gates import make_ready, release_layer, release_milestones
from perdure.programs.flow.graph import Body, Component, Edge, Graph, Node
from perdure.programs.flow.state import FlowScope, FlowState, Generation, JoinState


def open_scope(graph: Graph, flow: FlowState, scope: FlowScope, body: Body, input: Json) -> None:
    """Puts a token on every entry of the scope."""
    flow.scopes[scope.id] = scope
    if body.waits_for_failure is not None:
        beyond = body.waits_for_failure
        scope.entering[beyond.index] = beyond.entering + 1
        scope.unfinished = sum(1 for c in body.components if not any(n.id in graph.after_failure for n in c.nodes))
    scope.layer_left = list(body.layer_sizes)
    for node in body.entries:
        make_ready(flow, scope, node, True, input)
    settle(graph, flow, scope, body.idle)


def body_of(graph: Graph, scope: FlowScope) -> Body:
    if scope.node is None:
        return graph.root
    body = graph.nodes[scope.node].body
    assert body is not None
    return body


# -- arrivals ------------------------------------------------------------------------------------


def send(flow: FlowState, scope: FlowScope, edge: Edge, live: bool, value: Json) -> None:
    """Puts one token on an edge."""
    if edge.leaves_cycle:
        if not live:
            return
        scope.used[edge.index] = True
    node = edge.target
    if node.plain_join:
        make_ready(flow, scope, node, live, value)
    elif node.join.rule is JoinRule.ANY:
        arrive_any(flow, scope, node, edge, live, value)
    else:
        arrive(flow, scope, node, edge, live, value)


def arrive_any(flow: FlowState, scope: FlowScope, node: Node, edge: Edge, live: bool, value: Json) -> None:
    join = scope.joins.get(node.index)
    if join is None:
        join = scope.joins[node.index] = JoinState()
    if not live:
        join.dead = True
        return
    join.alive = True
    if node.join.threads == 1:
        make_ready(flow, scope, node, True, value)
        return
    if not join.open:
        join.open.append(Generation())
    gathered = join.open[0]
    gathered.values[gathered.arrived] = value
    gathered.arrived += 1
    if gathered.arrived == node.join.threads:
        join.open = []
        make_ready(flow, scope, node, True, list(gathered.values.values()))


def arrive(flow: FlowState, scope: FlowScope, node: Node, edge: Edge, live: bool, value: Json) -> None:
    join = scope.joins.get(node.index)
    if join is None:
        join = scope.joins[node.index] = JoinState()
    place = edge.place_in
    number = join.counts.get(place, 0)
    join.counts[place] = number + 1
    while len(join.open) <= number - join.first:
        join.open.append(Generation())
    generation = join.open[number - join.first]
    generation.arrived += 1
    if live:
        generation.live += 1
        if not generation.fired:
            generation.values[place] = value
    check(flow, scope, node, join, number)


def check(flow: FlowState, scope: FlowScope, node: Node, join: JoinState, number: int) -> None:
    """Fires a generation that has what it needs, and retires those that are complete."""
    generation = join.open[number - join.first]
    edges, rule = len(node.ins), node.join
    if not generation.fired and not (rule.blocking and number != join.first):
        if rule.rule is JoinRule.ALL:
            if generation.arrived == edges:
                fire(flow, scope, node, generation, generation.live > 0)
        elif generation.live >= rule.n:
            fire(flow, scope, node, generation, True)
        elif generation.arrived - generation.live > edges - rule.n:
            fire(flow, scope, node, generation, False)
    while join.open and join.open[0].arrived == edges and join.open[0].fired:
        join.open.pop(0)
        join.first += 1
        if join.open and rule.blocking:
            check(flow, scope, node, join, join.first)
            return


def fire(flow: FlowState, scope: FlowScope, node: Node, generation: Generation, live: bool) -> None:
    generation.fired = True
    values, generation.values = generation.values, {}
    make_ready(flow, scope, node, live, gather(node, values) if live else None)


def is_half_arrived(scope: FlowScope, node: Node) -> bool:
    """Whether live tokens wait at the join for others."""
    join = scope.joins.get(node.index)
    return join is not None and any(not g.fired and (g.live or node.join.rule is JoinRule.ANY) for g in join.open)


def break_off(flow: FlowState, scope: FlowScope, node: Node) -> None:
    """What has half arrived is taken back: the round goes on as if it had come to nothing."""
    join = scope.joins[node.index]
    if node.join.rule is JoinRule.ANY:
        join.open = []
        make_ready(flow, scope, node, False, None)
        return
    number, generation = next((n, g) for n, g in enumerate(join.open, join.first) if not g.fired and g.live)
    fire(flow, scope, node, generation, False)
    check(flow, scope, node, join, number)


def gather(node: Node, values: dict[int, Json]) -> Json:
    """The input of a node: what its only taken predecessor gave, or a map by node id of what several gave."""
    if len(values) == 1:
        return next(iter(values.values()))
    return {node.ins[place].source.id: values[place] for place in sorted(values)}


# -- closing -------------------------------------------------------------------------------------


def leave(graph: Graph, flow: FlowState, scope: FlowScope, node: Node) -> None:
    """A node that was ready or active is so no more; its tokens have been sent."""
    scope.total -= 1
    if scope.layer_left:
        release_layer(graph, flow, scope, node)
    come_to_rest(graph, flow, scope, node)


def come_to_rest(graph: Graph, flow: FlowState, scope: FlowScope, node: Node) -> None:
    """All tokens of a node have been sent, though it may live on: taken back and not ended, or a loop with a rest."""
    component = node.component
    left = scope.moving[component.index] - 1
    scope.moving[component.index] = left
    if left == 0:
        settle(graph, flow, scope, [component])


def vanish(graph: Graph, flow: FlowState, scope: FlowScope, node: Node) -> None:
    """A node that had come to rest has ended."""
    scope.total -= 1
    if scope.layer_left:
        release_layer(graph, flow, scope, node)
    if scope.total == 0:
        flow.quiet[scope.id] = True


def settle(graph: Graph, flow: FlowState, scope: FlowScope, suspects: list[Component]) -> None:
    """Closes what can be closed, starting from components that may have come to rest."""
    todo = list(reversed(suspects))
    while todo:
        component = todo.pop()
        number = component.index
        if number in scope.closed or scope.moving.get(number) or scope.entering.get(number, component.entering):
            continue
        if settle_joins(flow, scope, component):
            continue
        scope.closed[number] = True
        for node in component.nodes:
            if node.followers:
                release_milestones(graph, flow, scope, node)
            if scope.layer_left:
                release_layer(graph, flow, scope, node)
        for edge in component.leaving:
            if component.cyclic and edge.index not in scope.used:
                scope.used[edge.index] = True
                edge_dies(flow, scope, edge)
            following = edge.target.component
            scope.entering[following.index] = scope.entering.get(following.index, following.entering) - 1
            todo.append(following)
        if scope.unfinished and not any(node.id in graph.after_failure for node in component.nodes):
            scope.unfinished -= 1
            beyond = graph.root.waits_for_failure
            if scope.unfinished == 0 and beyond is not None:
                scope.entering[beyond.index] -= 1
                todo.append(beyond)
    if scope.total == 0:
        flow.quiet[scope.id] = True


def edge_dies(flow: FlowState, scope: FlowScope, edge: Edge) -> None:
    node = edge.target
    if node.plain_join:
        make_ready(flow, scope, node, False, None)
    elif node.join.rule is JoinRule.ANY:
        arrive_any(flow, scope, node, edge, False, None)
    else:
        arrive(flow, scope, node, edge, False, None)


def settle_joins(flow: FlowState, scope: FlowScope, component: Component) -> bool:
    """Nothing more can arrive here: settles the first half-arrived join as if its missing edges were dead. True if
    one was."""
    for node in component.nodes:
        join = scope.joins.get(node.index)
        if join is None:
            continue
        if node.join.rule is JoinRule.ANY:
            if join.open or (join.dead and not join.alive and not component.cyclic):
                join.open, join.dead = [], False
                make_ready(flow, scope, node, False, None)
                return True
            continue
        while join.open:
            generation = join.open.pop(0)
            join.first += 1
            for place in range(
                len(node.ins)
            ):  # inside a cycle a later round may still come: it must not be taken for this one
                join.counts[place] = max(join.counts.get(place, 0), join.first)
            if not generation.fired:  # with enough live ones if an earlier round had blocked it
                fire(flow, scope, node, generation, generation.live >= node.join.n)
                return True
    return False
